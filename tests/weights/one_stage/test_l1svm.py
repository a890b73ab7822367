"""L1SVM against scikit-learn's machines on grids of weights, and its optimality conditions."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from scipy.optimize import linprog
from sklearn.svm import SVC, SVR
from strategies import generators

import alignlearn as al
from alignlearn.solvers.multiclass import problem_signs
from alignlearn.sources import FeatureFamily, GramFamily
from alignlearn.validation import ConvergenceWarning
from alignlearn.weights.one_stage import L1SVM
from alignlearn.weights.one_stage.svm import Duals, Settings, SVMPoint


def data(seed, m=40, p=3):
    """Trace-normalized Gaussian kernels (mean diagonal 1) on noisy labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    y = np.where(X[:, 0] + X[:, 1] ** 2 - 0.7 + 0.5 * rng.normal(size=m) > 0, 1, -1)
    squares = np.square(X[:, None] - X[None]).sum(axis=2)
    K = np.array([np.exp(-g * squares) for g in np.geomspace(0.05, 5.0, p)])
    return K, y, X


def sklearn_value(K, y, C, epsilon=None, tol=1e-8):
    """Twice the dual value of the machine: 2 a'1 - a'YKYa, and its signed coefficients."""
    if epsilon is None:
        machine = SVC(C=C, kernel="precomputed", tol=tol).fit(K, y)
    else:
        machine = SVR(C=C, epsilon=epsilon, kernel="precomputed", tol=tol).fit(K, y)
    b = np.zeros(len(y))
    b[machine.support_] = machine.dual_coef_[0]
    linear = np.abs(b).sum() if epsilon is None else y @ b - epsilon * np.abs(b).sum()
    return 2 * linear - b @ K @ b, b


@pytest.mark.parametrize("norm", [1, 2])
def test_regression_against_a_grid(norm):
    K, _, X = data(1, p=2)
    y = np.sin(2 * X[:, 0]) + 0.1 * X[:, 1]
    found = L1SVM(3.0, norm, loss="epsilon-insensitive", epsilon=0.05, tol=1e-6).solve_grams(K, y)
    angles = np.linspace(0.0, np.pi / 2, 101)
    grid = np.column_stack([np.cos(angles), np.sin(angles)])
    grid /= np.linalg.norm(grid, norm, axis=1)[:, None]
    values = [sklearn_value(np.tensordot(g, K, 1), y, 3.0, 0.05)[0] for g in grid]
    assert min(values) * (1 - 2e-3) <= found.objective <= min(values) * (1 + 2e-6)
    decision = np.tensordot(found.weights, K, 1) @ found.dual_coef + found.intercept
    assert np.mean(np.abs(decision - y)) < 0.2


@settings(max_examples=15)
@given(st.integers(0, 1000), st.sampled_from([0.3, 10.0]), st.sampled_from([1, 1.3, 2.0, 5.0]))
def test_optimality_conditions(seed, C, norm):
    """Proportional to v^(1/(q-1)); for q = 1 the largest v_k on the support, smaller off it."""
    K, y, _ = data(seed, p=5)
    found = L1SVM(C, norm, tol=1e-7, max_iter=5000).solve_grams(K, y)
    v = np.einsum("i,kij,j->k", found.dual_coef, K, found.dual_coef)
    if norm == 1:
        assert found.weights @ v >= v.max() * (1 - 1e-6)
    else:
        best = v ** (1 / (norm - 1))
        best /= np.linalg.norm(best, norm)
        np.testing.assert_allclose(found.weights, best, atol=1e-5)
    assert abs(found.dual_coef.sum()) < 1e-9 * C
    assert ((y * found.dual_coef >= 0) & (y * found.dual_coef <= C)).all()


@settings(max_examples=15)
@given(st.integers(0, 1000), st.sampled_from([0.3, 1.0, 10.0]), st.sampled_from([1, 1.3, 2.0, 5.0]))
def test_weights_do_not_depend_on_the_way_to_them(seed, C, norm):
    """Weights depend neither on ``tol`` nor on the order of samples and kernels."""
    K, y, _ = data(seed, p=4)
    order = np.random.default_rng(seed).permutation(len(y))
    one = L1SVM(C, norm).solve_grams(K, y)
    rule = L1SVM(C, norm, tol=1e-5, max_iter=2000)
    other = rule.solve_grams(K[::-1][:, order][:, :, order], y[order])
    np.testing.assert_allclose(other.weights[::-1], one.weights, atol=1e-5)


@settings(max_examples=15)
@given(generators(), st.integers(1, 4), st.sampled_from([1, 2]))
def test_the_gap_is_a_bound_wherever_the_method_stops(rng, max_iter, norm):
    K, y, _ = data(int(rng.integers(1000)), p=6)
    exact = L1SVM(5.0, norm, tol=1e-7, max_iter=5000).solve_grams(K, y).objective
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        early = L1SVM(5.0, norm, tol=1e-7, max_iter=max_iter).solve_grams(K, y)
    at_weights = sklearn_value(np.tensordot(early.weights, K, 1), y, 5.0)[0]
    assert at_weights <= early.objective * (1 + 1e-6)
    assert early.objective * (1 - early.duality_gap) <= exact * (1 + 2e-7)


def test_rank_one_kernels_are_a_linear_program():
    """min strength |w|_1 + hinge losses has the solution of L1SVM at C = |w|_1 / strength."""
    rng, strength = np.random.default_rng(0), 6.0
    X = rng.standard_normal((60, 8))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = np.where(X[:, 0] - 0.5 * X[:, 1] + 0.5 * rng.standard_normal(60) > 0.0, 1.0, -1.0)
    signed = X * y[:, None]
    # The positive and the negative part of w, the slacks, b.
    A = np.hstack([-signed, signed, -np.eye(60), -y[:, None]])
    cost = np.concatenate([np.full(16, strength), np.ones(60), [0.0]])
    bounds = [(0.0, None)] * 76 + [(None, None)]
    found = linprog(cost, A, -np.ones(60), bounds=bounds).x
    w, b = found[:8] - found[8:16], found[-1]
    norm = np.abs(w).sum()
    assert 0 < np.count_nonzero(np.abs(w) > 1e-9) < 8
    result = L1SVM(norm / strength, tol=1e-7).solve_grams(FeatureFamily(X), y.astype(int))
    np.testing.assert_allclose(result.weights, np.abs(w) / norm, atol=1e-3)
    decisions = X @ (result.weights * (X.T @ result.dual_coef)) + result.intercept
    np.testing.assert_allclose(decisions, X @ w + b, atol=1e-2)


def test_units_of_the_kernels_cancel():
    K, y, _ = data(2, p=4)
    scale = np.array([1e-3, 1.0, 7.0, 1e4])
    one = L1SVM(2.0, tol=1e-6).solve_grams(K, y)
    other = L1SVM(2.0, tol=1e-6).solve_grams(K * scale[:, None, None], y)
    np.testing.assert_allclose(other.weights * scale, one.weights, atol=1e-5)
    assert other.objective == pytest.approx(one.objective, rel=2e-6)


def test_more_classes_share_one_kernel():
    K, _, X = data(3, m=60, p=3)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    found = L1SVM(1.0, tol=1e-6).solve_grams(K, y)
    combined = np.tensordot(found.weights, K, 1)
    total = 0.0
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        rows = np.flatnonzero((y == i) | (y == j))
        total += sklearn_value(combined[np.ix_(rows, rows)], y[rows], 1.0)[0]
    assert found.objective == pytest.approx(total, rel=1e-5)
    assert found.dual_coef.shape == (60, 3)
    for other in np.eye(3):
        assert _ovo_value(np.tensordot(other, K, 1), y) >= found.objective * (1 - 2e-6)


def _ovo_value(K, y):
    total = 0.0
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        rows = np.flatnonzero((y == i) | (y == j))
        total += sklearn_value(K[np.ix_(rows, rows)], y[rows], 1.0)[0]
    return total


@pytest.mark.parametrize("regression", [False, True])
def test_hessian_is_the_derivative_of_the_gradient(regression):
    K, y, X = data(4, p=3)
    y = X[:, 0] if regression else y
    duals = Duals.tube(y[None], 1.0, 0.1) if regression else Duals.hinge(1.0 * y[None], 1.0)
    family, x = GramFamily(K), np.array([0.5, 0.3, 0.2])

    def point(x):
        return SVMPoint(family, duals, Settings(tol=1e-12, kkt=1e-11, scale=np.ones(3)), x)

    H = point(x).hessian(np.arange(3))
    size = 1e-6
    difference = [
        (point(x + size * e).gradient - point(x - size * e).gradient) / (2 * size)
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(H, difference, rtol=1e-3, atol=1e-4 * np.abs(H).max())


@pytest.mark.parametrize("C", [0.5, 2.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_kinks_are_closed_by_cutting_planes(seed, C):
    # Few distinct samples and kernels of rank one: the dual coefficients are not unique.
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.6, size=(50, 6)).astype(float)
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=50) > 1.2, 1, -1)
    found = L1SVM(C, tol=1e-4).solve_grams(FeatureFamily(X), y)
    assert found.converged
    Z = X - X.mean(axis=0)
    grams = np.array([np.outer(z, z) for z in Z.T])
    trace = np.trace(grams, axis1=1, axis2=2) / 50
    for t in rng.dirichlet(np.full(6, 0.3), 30):
        value = sklearn_value(np.tensordot(t / trace, grams, 1), y, C, tol=1e-4)[0]
        assert value >= found.objective * (1 - 1e-3)
    at_found = sklearn_value(np.tensordot(found.weights, grams, 1), y, C, tol=1e-4)[0]
    assert found.objective == pytest.approx(at_found, rel=1e-3)


def test_a_zero_kernel_gets_no_weight():
    K, y, _ = data(6, p=2)
    K = np.array([np.zeros_like(K[0]), K[0], K[1]])
    for norm in (1, 2):
        assert L1SVM(norm=norm).solve_grams(K, y).weights[0] == 0.0


def test_signs_of_the_problems():
    codes = np.array([1, 0, 2, 0])
    np.testing.assert_array_equal(
        problem_signs(codes, 3, "ovo"), [[1, -1, 0, -1], [0, -1, 1, -1], [-1, 0, 1, 0]]
    )
    np.testing.assert_array_equal(problem_signs(codes, 3, "ovr")[2], [-1, -1, 1, -1])
    np.testing.assert_array_equal(problem_signs(codes > 0, 2, "ovr"), [[1, -1, 1, -1]])


def test_a_run_cut_short_says_how_far_it_came():
    K, y, _ = data(7, p=6)
    for norm in (1, 1.2):
        with pytest.warns(ConvergenceWarning, match="relative duality gap of .* > tol=1e-06"):
            found = L1SVM(10.0, norm, tol=1e-6, max_iter=1).solve_grams(K, y)
        assert not found.converged
        assert found.duality_gap > 1e-6


def test_bad_input():
    K, y, _ = data(8)
    raises(ValueError, "1 class", L1SVM().solve_grams, K, np.ones(40, dtype=int))
    raises(ValueError, "negative trace", L1SVM().solve_grams, -K, y)
    raises(ValueError, "every matrix is 0", L1SVM().solve_grams, 0 * K, y)
    raises(ValueError, "p = 0", L1SVM().solve_grams, [], y)
    raises(ValueError, "y has 39", L1SVM().solve_grams, K, y[:39])


def test_coefficients_that_become_zero_end_the_refinement():
    """A tiny C: at higher precision no kernel has a slope, and 0/0 was computed."""
    X, y = np.array([[1e-8, 1.0], [1.0, 0.0], [1e-8, 1.0]]), np.array([0, 1, 1])
    kernels = [al.Linear(), al.Polynomial(gamma=1.0, coef0=0.0, degree=2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        model = al.MKLClassifier(kernels, weighting=al.L1SVM(C=1e-10)).fit(X, y)
    assert np.isfinite(model.weights_).all()
