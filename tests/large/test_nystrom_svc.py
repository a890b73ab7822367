"""Support vectors on few centers: with all samples those of the Gram matrix."""

import numpy as np
import pytest
from cases import each
from refusals import raises
from scipy.sparse import csr_array

import alignlearn as al
from alignlearn.engine.engines import open_engine
from alignlearn.machines import SupportVectorClassifier, nystrom_machines
from alignlearn.machines.nystrom import NystromFeatures
from alignlearn.solvers.low_rank import low_rank_svm
from alignlearn.sources import open_kernel

KERNEL = al.Gaussian(0.3)


@pytest.fixture
def stepwise(monkeypatch):
    """The requested method, even where an interior point method is cheap."""
    monkeypatch.setattr(nystrom_machines, "_CHEAP", 0.0)


def data(m=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 3))
    f = np.sin(2 * X[:, 0]) + X[:, 1] + 0.4 * rng.standard_normal(m)
    return X, np.array(["a", "b", "c"])[np.digitize(f, [-0.5, 0.7])]


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_all_samples_as_centers_is_the_machine_on_the_gram_matrix(multiclass, class_weight):
    X, y = data()
    weight = np.random.default_rng(1).uniform(0.1, 2.0, len(X))
    options = {"multiclass": multiclass, "class_weight": class_weight}
    model = al.NystromSVC(KERNEL, 2.0, tol=1e-6, **options).fit(X, y, weight)
    K = KERNEL(X)
    machine = SupportVectorClassifier(2.0, tol=1e-6, **options).fit(K, y, weight)
    np.testing.assert_allclose(model.decision_function(X), machine.decision_function(K), atol=2e-3)
    np.testing.assert_allclose(model.objective_, machine.objective_, rtol=1e-5)
    assert np.all(model.duality_gap_ <= 1e-6 * model.objective_)
    assert np.mean(model.predict(X) == machine.predict(K)) > 0.99


@pytest.mark.parametrize("memory", [None, "1MB"])
def test_few_centers_reach_the_optimum_of_their_features(stepwise, memory):
    X, y = data(3000)
    options = {"n_centers": 30, "memory": memory}
    model = al.NystromSVC(KERNEL, 1.0, **options).fit(X, y == "a")
    K, Kc = KERNEL(X, model.centers_), KERNEL(model.centers_)
    Phi = np.linalg.solve(np.linalg.cholesky(Kc), K.T).T
    sign = np.where(y == "a", 1.0, -1.0)
    bounds = np.minimum(sign, 0.0), np.maximum(sign, 0.0)
    best = -low_rank_svm(Phi, -sign, bounds, tol=1e-6).objective
    assert best * (1 - 1e-6) <= model.objective_[0] <= best + model.duality_gap_[0]
    assert model.duality_gap_[0] <= 1e-2 * model.objective_[0]
    # The objective belongs to the coefficients.
    values = K @ model.coef_[:, 0] + model.intercept_[0]
    own = 0.5 * model.coef_[:, 0] @ Kc @ model.coef_[:, 0] + np.maximum(0, 1 - sign * values).sum()
    np.testing.assert_allclose(own, model.objective_[0], rtol=1e-6)
    np.testing.assert_allclose(model.decision_function(X), values, atol=1e-10)


def test_features_that_do_not_fit_are_computed_in_blocks(stepwise):
    X, y = data(10_000)
    options = {"n_centers": 30, "max_iter": 200}
    stored, computed = (
        al.NystromSVC(KERNEL, memory=memory, **options).fit(X, y) for memory in ("9MB", "1MB")
    )
    for one, other in ((stored, computed), (computed, stored)):
        assert np.all(one.duality_gap_ <= 1e-2 * one.objective_)
        assert np.all(one.objective_ - one.duality_gap_ <= other.objective_ * (1 + 1e-6))


def test_the_data_of_a_seed_and_weights_as_repetitions(stepwise):
    X, y = data(600)
    options = {"n_centers": 40, "tol": 1e-4}
    one, two = (al.NystromSVC(KERNEL, **options).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    centers = np.random.default_rng(0).choice(600, 40, replace=False)
    times = np.where(np.isin(np.arange(600), centers), 1, 2)
    index = np.repeat(np.arange(600), times)
    machine = nystrom_machines.NystromHinge(tol=1e-4)
    found = []
    for rows, weight in ((np.arange(600), times.astype(float)), (index, None)):
        source = open_kernel(X[rows], KERNEL, None)
        source.engine = open_engine("cpu", None)
        features = NystromFeatures(source, np.searchsorted(rows, np.sort(centers)))
        rng = np.random.default_rng(0)
        machine.fit(features, y[rows], weight, memory=10**9, rng=rng)
        found.append(machine.objective_)
    np.testing.assert_allclose(*found, rtol=2e-4)


def test_sparse_samples_and_single_precision():
    X, y = data(2000)
    X[np.abs(X) < 0.5] = 0.0
    options = {"n_centers": 40, "centers": "leverage"}
    dense = al.NystromSVC(KERNEL, **options).fit(X, y)
    sparse = al.NystromSVC(KERNEL, **options).fit(csr_array(X), y)
    assert np.mean(dense.predict(X) == sparse.predict(csr_array(X))) > 0.99
    single = al.NystromSVC(KERNEL, **options).fit(X.astype(np.float32), y)
    assert np.mean(dense.predict(X) == single.predict(X)) > 0.97


@each(
    ("options", "message"),
    [
        ({"memory": 100}, "memory=100 bytes are too few for one block.*accepted"),
        ({"n_centers": 301}, "n_centers=301 is more than the 300 samples"),
        ({"kernel": al.Log()}, "indefinite"),
    ],
)
def test_bad_parameters(options, message):
    raises(ValueError, message, al.NystromSVC(**options).fit, *data())


def test_cheap_problems_are_solved_by_interior_points():
    X, y = data(2000)
    options = {"n_centers": 30, "random_state": 1}
    exact = al.NystromSVC(KERNEL, 100.0, **options, tol=1e-6).fit(X, y)
    assert np.all(exact.duality_gap_ <= 1e-6 * exact.objective_)
    assert np.all(exact.objective_ > 0.0)


def test_bad_data(stepwise):
    X, y = data()
    fit, weight = al.NystromSVC().fit, (y != "a") * 1.0
    raises(ValueError, "y has 1 class", fit, X, np.ones(300))
    raises(ValueError, "sample_weight is zero for all samples of class 'a'", fit, X, y, weight)
    with pytest.warns(al.ConvergenceWarning, match="stopped after 1 passes"):
        al.NystromSVC(KERNEL, 1e4, n_centers=10, max_iter=1).fit(X, y)
