"""Ridge regression on few centers: kernel ridge with all samples, or dense normal equations."""

import numpy as np
import pytest
from cases import each
from numpy.testing import assert_allclose
from refusals import raises
from scipy.sparse import csr_array
from sklearn.base import clone

import alignlearn as al
from alignlearn.machines import KernelRidge
from alignlearn.machines.nystrom import choose_centers, leverage_scores
from alignlearn.sources import open_kernel

KERNEL = al.Gaussian(0.2) + 0.5 * al.Gaussian(0.05)


def data(m=300, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(m)


def dense(model, X, y, alpha, weight=None, fit_intercept=True):
    """Predictions on X from the normal equations at the centers, without preconditioning."""
    weight = np.ones(len(X)) if weight is None else weight
    K, Kc = model.kernel_(X, model.centers_), model.kernel_(model.centers_)
    ones = np.ones((len(X), 1 if fit_intercept else 0))
    root = np.sqrt(weight)[:, None]
    values, vectors = np.linalg.eigh(Kc)
    penalty = np.sqrt(alpha * np.maximum(values, 0.0))[:, None] * vectors.T
    rows = np.vstack([root * np.hstack([K, ones]), np.hstack([penalty, 0.0 * ones[: len(Kc)]])])
    right = np.concatenate([root[:, 0] * y, np.zeros(len(Kc))])
    coef = np.linalg.lstsq(rows, right, rcond=1e-13)[0]
    return np.hstack([K, ones]) @ coef


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
def test_all_samples_as_centers_is_kernel_ridge(alpha):
    X, y = data()
    weight = np.random.default_rng(1).uniform(0.0, 2.0, len(X))
    Y, K = np.column_stack([y, y**2]), KERNEL(X)
    model = al.NystromRidge(KERNEL, alpha, n_centers=len(X), tol=1e-10).fit(X, Y, weight)
    assert_allclose(model.predict(X), KernelRidge(alpha).fit(K, Y, weight).predict(K), atol=1e-7)
    assert model.residual_ <= 1e-10


@each("centers", ["uniform", "leverage", "k-means++"])
@each("intercept", [True, False])
def test_few_centers_solve_the_normal_equations(centers, intercept):
    X, y = data(400)
    weight = np.random.default_rng(1).uniform(0.0, 2.0, len(X))
    options = {"n_centers": 40, "centers": centers, "fit_intercept": intercept, "tol": 1e-10}
    model = al.NystromRidge(KERNEL, 0.05, **options).fit(X, y, weight)
    assert len(np.unique(model.center_indices_)) == 40
    np.testing.assert_array_equal(model.centers_, X[model.center_indices_])
    assert_allclose(model.predict(X), dense(model, X, y, 0.05, weight, intercept), atol=1e-6)
    by_hand = model.kernel_(X, model.centers_) @ model.coef_ + model.intercept_
    assert_allclose(model.predict(X), by_hand, atol=1e-9)


def test_single_precision_and_memory_map(tmp_path):
    X, y = data(500)
    expected = al.NystromRidge(KERNEL, n_centers=50).fit(X, y)
    single = al.NystromRidge(KERNEL, n_centers=50).fit(X.astype(np.float32), y)
    assert_allclose(single.predict(X), expected.predict(X), atol=2e-3)
    mapped = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    found = al.NystromRidge(KERNEL, n_centers=50).fit(mapped, y)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))


def test_sparse_samples_and_a_learned_kernel():
    X, y = data(200)
    X[np.abs(X) < 0.7] = 0.0
    learned = al.MKLRegressor([al.Gaussian(0.1), al.Gaussian(0.5)]).fit(X, y).kernel_
    options = {"n_centers": 60, "tol": 1e-10}
    expected = al.NystromRidge(learned, **options).fit(X, y)
    found = al.NystromRidge(learned, **options).fit(csr_array(X), y)
    assert_allclose(found.predict(csr_array(X)), expected.predict(X), atol=1e-6)
    assert_allclose(expected.predict(X), dense(expected, X, y, 1.0), atol=1e-6)


def test_path_is_that_of_single_fits():
    X, y = data(400)
    alphas = [1.0, 1e-3, 30.0]
    model = al.NystromRidge(KERNEL, n_centers=80, tol=1e-9)
    models = model.path(X, y, alphas)
    assert [m.alpha for m in models] == alphas
    assert not hasattr(model, "coef_")
    for one in models:
        alone = clone(model).set_params(alpha=one.alpha).fit(X, y)
        assert_allclose(one.predict(X), alone.predict(X), atol=1e-6)
        assert one.residual_ <= 1e-9
    # A path starts from the solution before.
    X, y = data(2000)
    model.set_params(n_centers=50, tol=1e-8, alpha=0.1)
    assert model.path(X, y, [0.1, 0.1001])[0].n_iter_ < model.fit(X, y).n_iter_


def test_classes_are_one_against_the_rest():
    X, y = data(400)
    labels = np.array(["low", "mid", "top"])[np.digitize(y, [-0.7, 0.7])]
    model = al.NystromRidgeClassifier(KERNEL, 0.1, n_centers=60, tol=1e-9).fit(X, labels)
    targets = np.where(labels[:, None] == model.classes_, 1.0, -1.0)
    values = al.NystromRidge(KERNEL, 0.1, n_centers=60, tol=1e-9).fit(X, targets).predict(X)
    assert_allclose(model.decision_function(X), values, atol=1e-7)
    assert np.all(model.predict(X) == model.classes_[values.argmax(axis=1)])
    assert model.score(X, labels) > 0.8
    two = al.NystromRidgeClassifier(KERNEL, n_centers=60).fit(X, y > 0)
    assert two.decision_function(X).shape == (400,)
    assert np.all(two.predict(X) == (two.decision_function(X) > 0))


def test_leverage_scores_by_the_definition():
    X, _ = data(120)
    source = open_kernel(X, KERNEL)
    K = KERNEL(X)
    exact = np.diagonal(np.linalg.solve(K + 0.3 * np.eye(120), K))
    # All samples are in the pilot.
    found = leverage_scores(source, 0.3, np.random.default_rng(0))
    assert_allclose(found, exact, rtol=1e-8)


def test_leverage_scores_find_what_is_rare():
    rng = np.random.default_rng(0)
    X = np.vstack([0.01 * rng.standard_normal((2000, 2)), [[50.0, 0.0]] * 2, [[0.0, 50.0]] * 2])
    source, rngs = open_kernel(X, al.Gaussian(1.0)), map(np.random.default_rng, range(5))
    drawn = [choose_centers(source, 20, "leverage", 1.0, one) for one in rngs]
    assert np.mean([np.sum(index >= 2000) for index in drawn]) > 3.0
    assert choose_centers(source, 3, "k-means++", 1.0, rng).size == 3


def test_equal_samples_leave_fewer_centers():
    X, y = (np.concatenate([A] * 4) for A in data(30))
    model = al.NystromRidge(KERNEL, 0.1, n_centers=120, tol=1e-10).fit(X, y)
    assert len(model.center_indices_) <= 30
    expected = KernelRidge(0.1).fit(KERNEL(X), y).predict(KERNEL(X))
    assert_allclose(model.predict(X), expected, atol=1e-6)


@pytest.mark.filterwarnings("ignore:Conjugate gradients stopped")
def test_unconverged_says_so():
    X, y = data(2000)
    with pytest.warns(al.ConvergenceWarning, match="Conjugate gradients stopped after 1 steps"):
        model = al.NystromRidge(KERNEL, 1e-3, n_centers=200, max_iter=1, tol=1e-12).fit(X, y)
    assert model.residual_ > 1e-12


@each(
    ("options", "error", "message"),
    [
        ({"n_centers": 31}, ValueError, "n_centers=31 is more than the 30 samples.*accepted"),
        ({"fit_intercept": 1}, TypeError, "fit_intercept must be True or False"),
        ({"kernel": al.Sigmoid(1.0)}, ValueError, "sigmoid.* is indefinite"),
    ],
)
def test_bad_parameters(options, error, message):
    X, y = data(30)
    raises(error, message, al.NystromRidge(**options).fit, 10 * X, y)


def test_bad_data():
    X, y = data(30)
    model, classifier = al.NystromRidge(), al.NystromRidgeClassifier()
    raises(ValueError, "y is constant", model.fit, X, np.ones(30))
    message = "sample_weight is zero for all samples of class"
    raises(ValueError, message, classifier.fit, X, y > 0, (y > 0) * 1.0)
    raises(ValueError, "alphas", model.path, X, y, [1.0, 0.0])
    spread = al.NystromRidge(KERNEL, n_centers=5, centers="k-means++")
    message = r"centers='k-means\+\+' takes samples that are the rows"
    raises(TypeError, message, spread.fit, csr_array(X), y)
    raises(ValueError, "expecting 4 features", model.fit(X, y).predict, X[:, :3])
    message = r"y has shape \(30,\); accepted: \(30, 2\), the targets"
    raises(ValueError, message, model.fit(X, X[:, :2]).score, X, X[:, 0])


@each("centers", ["uniform", "leverage", "k-means++"])
@each("machine", [al.NystromRidge, al.NystromSVC])
def test_samples_of_weight_0_are_left_out(machine, centers):
    """The width of the kernel and that of the centers, too."""
    rng, model = np.random.default_rng(0), machine(n_centers=10, centers=centers)
    X = rng.normal(size=(60, 2)) * np.where(np.arange(60) < 40, 1.0, 5.0)[:, None]
    y, weight = np.where(X[:, 0] * X[:, 1] > 0.0, 1, -1), (np.arange(60) < 40) * 2.0
    all_of_them = clone(model).fit(X, y, sample_weight=weight)
    some = model.fit(X[:40], y[:40], sample_weight=weight[:40])
    assert all_of_them.kernel_ == some.kernel_
    np.testing.assert_array_equal(all_of_them.center_indices_, some.center_indices_)
    assert_allclose(all_of_them.coef_, some.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("dtype", "offset"), [(np.float32, 300.0), (np.float64, 1e6)])
def test_a_kernel_far_above_its_variation_is_warned_of(dtype, offset):
    """The certificate cannot detect it: it concerns the remaining functions."""
    X = np.random.default_rng(0).normal(size=(50, 2)).astype(dtype)
    machine = al.NystromRidge(0.5 * al.Linear() + al.Gaussian(0.5), tol=1.0)
    machine.fit(X, X[:, 0])
    with pytest.warns(al.DegenerateKernelWarning, match="Subtract the mean of each column from X"):
        machine.fit(X + dtype(offset), X[:, 0])
