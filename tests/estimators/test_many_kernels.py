"""A kernel per feature, thousands of them: ridge regression on the features, and its cost."""

import json
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from strategies import generators

import alignlearn as al
from alignlearn.machines import (
    KernelRidge,
    SupportVectorClassifier,
    feature_space,
    ridge_loo_path,
)

FORMS = [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csc_array]


def counts(m, p, seed=0, columns=1):
    """Word counts and a target on a few of them."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((m, p)) < 0.3, rng.poisson(2.0, (m, p)), 0).astype(float)
    y = X[:, :3] @ rng.normal(size=(min(p, 3), columns)) + rng.normal(size=(m, columns))
    return X, y[:, 0] if columns == 1 else y


def as_given(X):
    """The Gram matrices of the kernels per feature, which no estimator computes."""
    return [np.outer(x, x) for x in X.T]


@pytest.mark.parametrize(
    ("form", "columns", "weighting"),
    [*zip(FORMS, (1, 2, 1), ("alignf", "align", "uniform")), (np.asarray, 2, "align")],
)
def test_ridge_in_features_equals_ridge_on_the_gram(form, columns, weighting):
    X, y = counts(60, 15, columns=columns)
    model = al.MKLRegressor(al.RankOneKernels(), weighting=weighting, alpha=0.7)
    model.fit(form(X), y)
    machine = KernelRidge(0.7).fit(model.kernel_(X), y)
    # The model by itself: on the Gram matrix of centered features if they are dense.
    seen = X - X.mean(axis=0) if form is np.asarray else X
    inner = KernelRidge(0.7).fit(model.kernel_(seen), y)
    coef = X.T @ machine.dual_coef_.reshape(60, -1) * model.kernel_.weights[:, None]
    for found, wanted in (
        (model.predict(form(X[:7])), machine.predict(model.kernel_(X[:7], X))),
        (model.coef_, coef),
        (model.dual_coef_, machine.dual_coef_),
        (model.intercept_, machine.intercept_),
        (model.machine_.dual_coef_, inner.dual_coef_),
        (model.machine_.intercept_, inner.intercept_),
    ):
        assert np.shape(found) == np.shape(wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-10)
    assert type(machine.intercept_) is type(model.machine_.intercept_)


@given(generators(), st.sampled_from([1e-6, 1.0, 1e4]), st.booleans())
def test_ridge_in_features_is_scikit_learns_ridge(rng, alpha, sparse):
    """On the features times the square roots of their weights."""
    m, p = int(rng.integers(8, 30)), int(rng.integers(1, 8))
    X = rng.normal(size=(m, p)) * 10.0 ** rng.integers(-2, 3, size=p) + 1.0
    y = rng.normal(size=m) + X[:, 0]
    kernels = al.RankOneKernels()
    model = al.MKLRegressor(kernels, weighting="align", alpha=alpha)
    model.fit(scipy.sparse.csr_array(X) if sparse else X, y)
    root = np.sqrt(model.kernel_.weights)
    expected = Ridge(alpha).fit(X * root, y)
    np.testing.assert_allclose(model.coef_[:, 0], expected.coef_ * root, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(model.predict(X), expected.predict(X * root), rtol=1e-6, atol=1e-6)


def test_the_gram_matrix_serves_where_it_is_smaller_or_needed(monkeypatch):
    """More features than samples, alpha = 0, or a negative weight."""
    calls, real = [], feature_space.fit_ridge
    name = "alignlearn.estimators._machines.fit_ridge"
    monkeypatch.setattr(name, lambda *a: calls.append(1) or real(*a))
    X, y = counts(30, 40)
    make = partial(al.MKLRegressor, al.RankOneKernels())
    make(weighting="uniform").fit(X, y)
    assert not calls
    make(weighting="alignf").fit(X, y)  # fewer than 30 in use
    assert len(calls) == 1
    with pytest.raises(ValueError, match="not positive definite"):
        make(alpha=0.0).fit(X[:, :5], y)
    signed = make(weighting="alignf-linear", alpha=30.0).fit(X[:, :5], y)
    assert signed.weights_.min() < 0.0
    make(machine="svr").fit(X[:, :5], y)
    assert len(calls) == 1


@pytest.mark.parametrize(("form", "columns"), list(zip(FORMS, (1, 2, 1))))
def test_paths_in_features_equal_those_on_the_gram(form, columns):
    X, y = counts(70, 12, columns=columns)
    options = {"weighting": "alignf", "alphas": [1e-3, 1.0, 1e3]}
    for cv in (list(KFold(3).split(X)), None):
        model = al.MKLRegressorCV(al.RankOneKernels(), cv=cv, **options).fit(form(X), y)
        of_grams = al.MKLRegressorCV("precomputed", cv=cv, **options).fit(as_given(X), y)
        found, expected = (one.cv_results_["mean_test_score"] for one in (model, of_grams))
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    path = ridge_loo_path(model.kernel_(X), y, options["alphas"])
    expected = [-np.sqrt(np.mean((p - y) ** 2, axis=0)).mean() for p in path.predictions]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


_END_TO_END = """
import json, resource, time
import numpy as np, scipy.sparse
import alignlearn as al

def peak():
    try:  # the maximum of getrusage starts at the parent's
        status = open("/proc/self/status").read()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024.0
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0

rng = np.random.default_rng(0)
X = scipy.sparse.random(1000, 5000, density=0.022, format="csr", random_state=0,
                        data_rvs=lambda n: rng.poisson(1.0, n) + 1.0)
y = np.asarray(X[:, :40] @ rng.normal(size=40)).ravel() + rng.normal(size=1000)
kernels, found = al.RankOneKernels(), []
for make, weighting, target in (
    (al.MKLRegressor, "alignf", y),
    (al.MKLClassifier, "alignf", y > y.mean()),
    (al.MKLRegressor, al.AlignF(max_kernels=100), y),
):
    make(kernels, weighting=weighting).fit(X[::9, :60], target[::9])  # compiles
    start = time.process_time()
    model = make(kernels, weighting=weighting).fit(X, target)
    seconds = time.process_time() - start
    found.append([seconds, int(np.count_nonzero(model.weights_)), model.alignment_])
    del model
print(json.dumps([peak(), found]))
"""


def test_five_thousand_kernels_in_seconds_and_below_a_gigabyte():
    done = subprocess.run([sys.executable, "-c", _END_TO_END], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    peak, found = json.loads(done.stdout)
    assert peak < 1000.0
    seconds, used, alignment = zip(*found)
    assert max(seconds) < 20.0
    assert used[2] <= 100
    assert 0.0 < alignment[2] <= alignment[0] < 1.0


def classes(m, p, n_classes, seed=0):
    X, y = counts(m, p, seed)
    X *= np.random.default_rng(seed).normal(1.0, 0.1, size=X.shape)  # no equal points
    edges = np.quantile(y, np.arange(1, n_classes) / n_classes)
    return X, np.array(["low", "middle", "high"])[np.digitize(y, edges)]


@pytest.mark.parametrize(
    ("form", "n_classes", "multiclass"),
    [(np.asarray, 2, "ovo"), (scipy.sparse.csr_matrix, 3, "ovo"), (np.asarray, 3, "ovr")],
)
def test_classifier_in_features_equals_smo(form, n_classes, multiclass):
    X, y = classes(2000, 8, n_classes)
    options = {"C": 2.0, "multiclass": multiclass, "class_weight": "balanced", "tol": 1e-8}
    model = al.MKLClassifier(al.RankOneKernels(), weighting="align", **options).fit(form(X), y)
    assert model.n_iter_.size == (1 if n_classes == 2 else 3)
    assert model.n_iter_.max() <= 100  # steps of an interior point method
    assert np.all(model.machine_.kkt_violation_ <= 1e-8)
    # The model by itself: on the Gram matrix of centered features if they are dense.
    K = model.kernel_(X - X.mean(axis=0)) if form is np.asarray else model.kernel_(X)
    found = model.decision_function(form(X))
    np.testing.assert_allclose(model.machine_.decision_function(K), found, rtol=1e-6, atol=1e-8)
    smo = SupportVectorClassifier(**options).fit(K, y)
    coef = X[smo.support_].T @ smo.dual_coef_ * model.kernel_.weights[:, None]
    np.testing.assert_allclose(found, smo.decision_function(K), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-5, atol=1e-6)


def test_classifiers_in_features_at_the_ends():
    X, y = classes(2100, 4, 3)
    options = {"Cs": [0.1, 0.01], "cv": 2, "tol": 1e-6}
    model = al.MKLClassifierCV(al.RankOneKernels(), **options).fit(scipy.sparse.csr_array(X), y)
    given = al.MKLClassifierCV("precomputed", **options).fit(as_given(X), y)
    found, expected = (m.cv_results_["mean_test_score"] for m in (model, given))
    np.testing.assert_allclose(found, expected)
    # A hard margin needs the Gram matrix.
    separable, labels = np.repeat([[0.0], [3.0]], 1000, axis=0), np.repeat([0, 1], 1000)
    hard = al.MKLClassifier(al.RankOneKernels(), C=np.inf).fit(separable, labels)
    np.testing.assert_allclose(hard.decision_function([[0.0], [1.5], [3.0]]), [-1, 0, 1], atol=1e-2)
    with pytest.warns(al.ConvergenceWarning, match="KKT violation"):
        al.MKLClassifier(al.RankOneKernels(), max_iter=2).fit(X, y)
