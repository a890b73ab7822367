"""Cross-validation on the workers of a Dask cluster: the results of one process."""

import gc
import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import alignlearn as al
from alignlearn.engine import cluster
from alignlearn.estimators import cross_validate_kernels, tuned
from alignlearn.validation import ConvergenceWarning

M = 90
RNG = np.random.default_rng(0)
X = RNG.normal(size=(M, 3))
LABELS = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=M) > 0.0, "a", "b")
TARGETS = X[:, 0] * X[:, 1] + 0.1 * RNG.normal(size=M)
WEIGHT = np.linspace(0.0, 2.0, M)
LADDER = al.gaussian_kernels([0.1, 0.5, 2.0])

CASES = {
    "classes": (al.MKLClassifierCV(LADDER, weighting=["alignf", "uniform"], cv=3), LABELS),
    "one-stage": (al.MKLClassifierCV(LADDER, weighting="l1-svm", Cs=[0.1, 1.0], cv=2), LABELS),
    "probability": (
        al.MKLClassifierCV(LADDER, weighting="alignf", Cs=[0.1, 1.0], cv=3, probability="sigmoid"),
        LABELS,
    ),
    "ridge": (al.MKLRegressorCV(LADDER, weighting="alignf", cv=4), TARGETS),
    "leave-one-out": (al.MKLRegressorCV(LADDER), TARGETS),
    "svr": (
        al.MKLRegressorCV(LADDER, weighting="alignf", machine="svr", Cs=[0.1, 1.0], cv=3),
        TARGETS,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_one_process(dask_client, name):
    """To rounding: matrix products depend on the number of BLAS threads, in a worker one."""
    (model, y), weight = CASES[name], WEIGHT if len(name) % 2 else None
    here = pickle.loads(pickle.dumps(model)).fit(X, y, sample_weight=weight)
    there = pickle.loads(pickle.dumps(model)).set_params(client=dask_client)
    there.fit(X, y, sample_weight=weight)
    assert there.best_params_ == here.best_params_
    assert there.cv_results_.keys() == here.cv_results_.keys()
    for key in ("mean_test_score", "split0_test_score", "std_test_score"):
        np.testing.assert_allclose(there.cv_results_[key], here.cv_results_[key], rtol=1e-9)
    np.testing.assert_allclose(there.weights_, here.weights_, rtol=1e-9)
    np.testing.assert_array_equal(there.predict(X[:9]), here.predict(X[:9]))
    alone = pickle.loads(pickle.dumps(there))
    assert alone.client is None
    np.testing.assert_array_equal(alone.predict(X[:9]), here.predict(X[:9]))


def test_kernels_of_tables_for_every_target(dask_client):
    """Workers evaluate the kernels; the client finds the penalties, from the same numbers."""
    tables, y = {"a": X[:, :1], "b": X[:, 1:]}, np.column_stack([TARGETS, X[:, 2]])
    model = al.MKLRegressorCV({"a": LADDER, "b": "rbf"}, per_target=True, alphas=[0.1, 1.0])
    here = clone(model).fit(tables, y)
    there = clone(model).set_params(client=dask_client).fit(tables, y)
    np.testing.assert_array_equal(there.weights_, here.weights_)
    np.testing.assert_array_equal(there.predict(al.Tables(tables)[:9]), here.predict(tables)[:9])


class Screen(list):
    """A progress callback, called in the main thread, that cannot be sent to a worker."""

    def __call__(self, done, total, what):
        assert threading.current_thread() is threading.main_thread()
        self.append((done, total, what))

    def __reduce_ex__(self, protocol):
        raise TypeError("cannot pickle a screen")


@pytest.mark.parametrize("name", ["one-stage", "ridge"])
def test_progress_is_told_here_and_never_on_a_worker(dask_client, name, capfd):
    model, y = CASES[name]
    told, n_folds = Screen(), model.cv
    model = clone(model).set_params(client=dask_client, verbose=told).fit(X, y)
    of_folds = [done for done, _, what in told if what == f"{n_folds} folds"]
    total = next(total for _, total, what in told if what == f"{n_folds} folds")
    assert of_folds == sorted(of_folds)
    assert of_folds[-1] == total
    assert told[-1][0] == told[-1][1]
    assert capfd.readouterr() == ("", "")

    def stop(done, total, what):
        if "folds" in what:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        model.set_params(verbose=stop).fit(X, y)
    assert not model.__sklearn_is_fitted__()


class Elsewhere(al.AlignF):
    """Rejects the statistics of a training set in the process with all samples."""

    def __init__(self, here=0):
        super().__init__()
        self.here = here

    def solve(self, statistics):
        assert statistics.n_samples == M or os.getpid() != self.here
        return super().solve(statistics)


def test_folds_are_fitted_by_workers(dask_client):
    """From splits that cannot be copied, as a generator gives them."""
    rows = np.arange(M)
    folds = [(rows[rows % 3 != t], rows[rows % 3 == t]) for t in range(3)]
    options = {"weighting": Elsewhere(os.getpid()), "Cs": [0.1, 1.0]}
    with pytest.raises(AssertionError):
        al.MKLClassifierCV(LADDER, cv=folds, **options).fit(X, LABELS)
    model = al.MKLClassifierCV(LADDER, cv=(fold for fold in folds), client=dask_client, **options)
    expected = al.MKLClassifierCV(LADDER, weighting="alignf", Cs=[0.1, 1.0], cv=folds).fit(
        X, LABELS
    )
    np.testing.assert_allclose(
        model.fit(X, LABELS).cv_results_["mean_test_score"],
        expected.cv_results_["mean_test_score"],
    )


def test_warnings_of_workers_are_given_here(dask_client):
    model = al.MKLClassifierCV(
        LADDER, weighting="alignf", Cs=[1e3], cv=2, max_iter=1, client=dask_client
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, LABELS)
    (found,) = [w for w in caught if w.category is ConvergenceWarning]
    assert str(found.message).startswith("3 solves in this fit")  # two folds, and all
    assert found.message.excess > 1.0


def test_given_matrices_with_a_client(dask_client):
    """Estimators are copied for every fold, and their client cannot be."""
    grams = [kernel.resolve(X)(X) for kernel in LADDER]
    model = al.MKLClassifier("precomputed", client=dask_client)
    found = cross_validate_kernels(model, grams, LABELS, cv=2)
    expected = cross_validate_kernels(al.MKLClassifier("precomputed"), grams, LABELS, cv=2)
    np.testing.assert_array_equal(found["test_score"], expected["test_score"])


@pytest.mark.parametrize("lost", [False, True])
def test_a_strategy_on_levels_gives_the_bits_of_one_process(
    dask_client, survivors, lost, monkeypatch
):
    """Also if a worker dies when one begins a final fit during the search."""
    rng, begun, tasks, begin = np.random.default_rng(0), [], [], tuned.begin
    Z = rng.uniform(size=(2100, 6))
    y = np.sin(5.0 * Z[:, 0] * Z[:, 1]) + Z[:, 2] + 0.1 * rng.normal(size=2100)

    def beginning(workers, function, model, *given):
        begun.append(type(model))
        result = begin(workers, function, model, *given)
        if lost and len(begun) == 1:
            os.kill(min(dask_client.run(os.getpid).values()), signal.SIGKILL)
        return result

    submit = dask_client.submit
    monkeypatch.setattr(tuned, "begin", beginning)
    monkeypatch.setattr(dask_client, "submit", lambda *a, **k: tasks.append(k) or submit(*a, **k))
    here = al.MKLRegressorCV(random_state=0).fit(Z, y)
    there = al.MKLRegressorCV(random_state=0, client=dask_client).fit(Z, y)
    sent = tuple(tasks)  # without those of predictions
    np.testing.assert_array_equal(there.predict(Z[:50]), here.predict(Z[:50]))
    np.testing.assert_array_equal(
        there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(there.statistics_.M, here.statistics_.M)
    assert there.best_params_ == here.best_params_
    assert there.members_[0].model.client is dask_client
    assert begun
    if lost:
        survivors(1)
    else:  # candidates on two folds of 500 samples are two tasks, and no sums are sent
        assert all(k["key"].startswith("alignlearn_call-") for k in sent)
        assert len(sent) < 20


def test_a_fit_with_a_client_keeps_no_data(dask_client, monkeypatch):
    """In no reference cycle: by final fits during the search, and by waiting long for a task."""
    rng, begun, begin = np.random.default_rng(0), [], tuned.begin
    Z = rng.uniform(size=(2100, 6))
    y = np.sin(5.0 * Z[:, 0] * Z[:, 1]) + Z[:, 2] + 0.1 * rng.normal(size=2100)
    monkeypatch.setattr(tuned, "begin", lambda *given: begun.append(1) or begin(*given))
    monkeypatch.setattr(cluster, "_LOOK", 0.02)
    gc.collect()
    gc.disable()
    before = set(dask_client.futures)
    try:
        al.MKLRegressorCV(random_state=0, client=dask_client).fit(Z, y)
        end = time.monotonic() + 60.0
        while kept := set(dask_client.futures) - before:
            assert time.monotonic() < end, kept
            time.sleep(0.01)
    finally:
        gc.enable()
    assert begun
