"""LKRR against the plain iteration, brute force over the weights, and Theorem 1 itself."""

import warnings

import numpy as np
import pytest
from alignlearn.theory.reference.learners import lkrr as plain_lkrr
from cases import each
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from scipy import sparse
from scipy.optimize import minimize
from strategies import generators
from usage import peak_of

from alignlearn.sources import FeatureFamily, GramFamily
from alignlearn.validation import ConvergenceWarning, DegenerateKernelWarning
from alignlearn.weights.one_stage import LKRR
from alignlearn.weights.one_stage.ridge import RidgeProblem, interpolated

SOLVERS = ("subspace", "interpolated")
# Two orthogonal samples: for a large radius the iteration with eta < 1/3 has a 2-cycle.
CYCLE = np.array([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])]), np.array([1.0, 1.1])


def random_kernels(rng, m, p, rank=None):
    factors = rng.normal(size=(p, m, rank or m))
    return factors @ factors.transpose(0, 2, 1) / (rank or m)


def value(mu, K, y, lam):
    """The maximum over alpha in problem (3), by a plain solve."""
    return y @ np.linalg.solve(np.tensordot(mu, K, 1) + lam * np.eye(len(y)), y)


@given(
    generators(),
    st.integers(2, 9),
    st.integers(1, 5),
    st.sampled_from([0.01, 1.0, 100.0]),
    st.sampled_from([0.1, 1.0]),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from(SOLVERS),
)
def test_equals_the_plain_iteration(rng, m, p, radius, lam, mu0, solver):
    K, y = random_kernels(rng, m, p, rng.integers(1, m + 1)), rng.normal(size=m)
    alpha, mu = plain_lkrr(K, y, lam, np.full(p, mu0), radius)
    # If y is outside the range of K, alpha is |K| / lam times as large as within, and only the part
    # within decides the weights: rounding errors of a solve enter them with the square of that
    # ratio.
    ratio = np.linalg.norm(np.tensordot(mu, K, 1), 2) / lam
    tol = max(1e-9, np.finfo(np.float64).eps * ratio**2)
    found = LKRR(radius, mu0, lam, solver=solver, tol=tol).solve_grams(K, y)
    assert found.converged
    np.testing.assert_allclose(found.weights, mu, rtol=1e-6, atol=1e-7 * mu.max())
    np.testing.assert_allclose(found.dual_coef, alpha, rtol=1e-6, atol=1e-7 * np.abs(alpha).max())


def test_norm_1_equals_a_general_solver_and_is_sparse():
    rng = np.random.default_rng(2)
    K, y = random_kernels(rng, 30, 8, rank=2), rng.normal(size=30)
    found = LKRR(1.0, 0.0, 0.1, norm=1, tol=1e-10).solve_grams(K, y)

    def objective(mu):
        alpha = np.linalg.solve(np.tensordot(mu, K, 1) + 0.1 * np.eye(30), y)
        return y @ alpha, -np.einsum("i,kij,j->k", alpha, K, alpha)

    other = minimize(
        objective, np.full(8, 1 / 8), jac=True, bounds=[(0, 1)] * 8, method="SLSQP",
        constraints={"type": "eq", "fun": lambda mu: mu.sum() - 1}, options={"ftol": 1e-14},
    )  # fmt: skip
    assert found.objective <= other.fun * (1 + 1e-9)
    np.testing.assert_allclose(found.weights, other.x, atol=1e-4)
    assert found.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(("radius", "eta"), [(100.0, 0.2), (100.0, 0.01), (1e6, 0.3)])
def test_the_iteration_cycles_below_one_third_and_the_safeguard_ends_it(radius, eta):
    K, y = CYCLE
    problem = RidgeProblem(GramFamily(K), y[None], 1.0, np.ones(2), radius)
    alone = interpolated(problem, eta, 1e-9, 3000, safeguard=False)
    assert not alone.converged
    assert alone.step > 1e-3
    found = LKRR(radius, eta=eta, solver="interpolated").solve_grams(K, y)
    best = LKRR(radius).solve_grams(K, y)
    assert found.converged
    assert found.method == "interpolated"
    assert found.n_iter < 60
    np.testing.assert_allclose(found.weights, best.weights, rtol=1e-6)


@settings(max_examples=10)
@given(generators(), st.sampled_from([0.0, 0.2, 0.5, 0.8]), st.sampled_from([1.0, 1e4]))
def test_the_safeguard_converges_from_any_start_and_never_falls(rng, eta, radius):
    K, y = random_kernels(rng, 6, 3, rank=2), rng.normal(size=(1, 6))
    problem = RidgeProblem(GramFamily(K), y, 0.5, np.full(3, 0.1), radius)
    start = rng.normal(size=(1, 6)) * 10.0 ** rng.integers(-4, 5)
    found = interpolated(problem, eta, 1e-7, 3000, start)
    assert found.step <= 1e-7
    alpha, values = start, []
    for _ in range(8):
        values.append(problem.lower_value(alpha, problem.family.quadratic(alpha)))
        alpha = interpolated(problem, eta, 1e-12, 2, alpha).alpha
    values = np.array(values)
    assert (np.diff(values) >= -1e-12 * np.abs(values[:-1]) - 1e-12).all()


def test_the_safeguard_leaves_a_run_with_one_half_as_it_is():
    """The step 1/2 is rarely too long, so the published iterates are unchanged."""
    rng = np.random.default_rng(11)
    K, y = random_kernels(rng, 10, 4), rng.normal(size=(1, 10))
    problem = RidgeProblem(GramFamily(K), y, 0.1, np.ones(4), 10.0)
    with_it, without = (interpolated(problem, 0.5, 1e-9, 500, safeguard=s) for s in (True, False))
    assert with_it.n_iter == without.n_iter
    np.testing.assert_array_equal(with_it.alpha, without.alpha)


@given(generators(), st.sampled_from(SOLVERS), st.integers(1, 3))
def test_the_gap_bounds_the_distance_from_the_optimum(rng, solver, max_iter):
    K, y = random_kernels(rng, 8, 3), rng.normal(size=8)
    exact = LKRR(50.0, 0.1, 0.05, tol=1e-12).solve_grams(K, y).objective
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        rule = LKRR(50.0, 0.1, 0.05, solver=solver, tol=1e-12, max_iter=max_iter)
        early = rule.solve_grams(K, y)
    above = value(early.weights, K, y, 0.05)
    slack = 1e-10 * exact
    assert early.objective <= exact + slack
    assert above >= exact - slack
    # Relative to a lower bound that is not positive the gap is infinite, which promises nothing.
    assert np.isinf(early.duality_gap) == (early.objective <= 0.0)
    if early.objective > 0.0:
        assert above - early.objective <= early.duality_gap * early.objective + slack


def test_units_cancel():
    rng = np.random.default_rng(3)
    K, y = random_kernels(rng, 10, 3), rng.normal(size=10)
    one = LKRR(1.0, 0.5, 0.1, tol=1e-11).solve_grams(K, y)
    other = LKRR(7.0, 3.5, 0.7, tol=1e-11).solve_grams(K, 2.0 * y)
    np.testing.assert_allclose(other.weights, 7.0 * one.weights, rtol=1e-9)
    np.testing.assert_allclose(other.dual_coef, 2.0 / 7.0 * one.dual_coef, rtol=1e-8)


@each("norm", [1, 2])
@each("p", [6, 40])
@each("layout", ["dense", "sparse"])
def test_rank_one_features_equal_matrices(layout, p, norm):
    rng = np.random.default_rng(4)
    m = 25
    X = rng.poisson(0.4, size=(m, p)) * 1.0
    y = X @ rng.normal(size=p) + rng.normal(size=m)
    y -= y.mean()
    Xc = X - X.mean(axis=0)
    K = np.einsum("ik,jk->kij", Xc, Xc)
    family = FeatureFamily(sparse.csr_matrix(X) if layout == "sparse" else X)
    rule = LKRR(2.0, 0.0, 0.5, norm=norm, tol=1e-12)
    dense, features = rule.solve_grams(K, y), rule.solve_grams(family, y)
    np.testing.assert_allclose(features.weights, dense.weights, atol=1e-9 * dense.weights.max())
    if norm == 2:
        np.testing.assert_allclose(features.dual_coef, dense.dual_coef, atol=1e-9)


def test_few_features_need_no_matrix_of_pairs():
    rng = np.random.default_rng(5)
    m, p = 4000, 6
    X, y = rng.normal(size=(m, p)), rng.normal(size=m)
    rule = LKRR(1.0, 0.0, 1.0)
    rule.solve_grams(FeatureFamily(X[:50]), y[:50])  # compiles
    for solver in SOLVERS:
        rule.set_params(solver=solver)
        assert peak_of(lambda: rule.solve_grams(FeatureFamily(X), y)) < 8 * m * m / 10


def test_columns_of_y_share_one_kernel():
    rng = np.random.default_rng(6)
    K, Y = random_kernels(rng, 9, 3), rng.normal(size=(9, 2))
    found = LKRR(5.0, 0.2, 0.3, tol=1e-12).solve_grams(K, Y)
    A = np.tensordot(found.weights, K, 1) + 0.3 * np.eye(9)
    np.testing.assert_allclose(found.dual_coef, np.linalg.solve(A, Y), atol=1e-9)
    v = np.einsum("ic,kij,jc->k", found.dual_coef, K, found.dual_coef)
    np.testing.assert_allclose(found.weights, 0.2 + 5.0 * v / np.linalg.norm(v), rtol=1e-9)


@pytest.mark.parametrize("norm", [1, 2])
def test_a_target_that_no_kernel_sees(norm):
    K, y = np.array([[[1.0, -1.0], [-1.0, 1.0]]]), np.ones(2)
    with pytest.warns(DegenerateKernelWarning, match="K_k y = 0"):
        found = LKRR(2.0, 0.5, 4.0, norm=norm).solve_grams(K, y)
    assert found.fallback
    np.testing.assert_array_equal(found.weights, 0.5)
    np.testing.assert_array_equal(found.dual_coef, 0.25)
    with pytest.warns(DegenerateKernelWarning):
        np.testing.assert_allclose(LKRR(2.0, 0.0, norm=norm).solve_grams(K, y).weights, 2.0)


def test_zero_and_duplicated_kernels():
    rng = np.random.default_rng(7)
    K, y = random_kernels(rng, 8, 2), rng.normal(size=8)
    K = np.array([K[0], np.zeros((8, 8)), K[1], K[0]])
    found = LKRR(1.0, 0.0, tol=1e-10).solve_grams(K, y)
    assert found.weights[1] == 0.0
    assert found.weights[0] == pytest.approx(found.weights[3], rel=1e-12)


def test_storage_in_single_precision_fortran_order_and_lists():
    rng = np.random.default_rng(8)
    K, y = random_kernels(rng, 11, 3), rng.normal(size=11)
    K = 0.5 * (K + K.transpose(0, 2, 1))
    before = K.copy()
    K.flags.writeable = y.flags.writeable = False
    exact = LKRR().solve_grams(K, y).weights
    np.testing.assert_array_equal(K, before)
    single = LKRR().solve_grams(K.astype(np.float32), y).weights
    np.testing.assert_allclose(single, exact, rtol=1e-5)
    mixed = [np.asfortranarray(K[0]), K[1].copy(), np.ascontiguousarray(K[2][::-1])[::-1]]
    np.testing.assert_allclose(LKRR().solve_grams(mixed, y).weights, exact, rtol=1e-12)


def test_a_run_cut_short_says_how_far_it_came():
    rng = np.random.default_rng(9)
    K, y = random_kernels(rng, 20, 5), rng.normal(size=20)
    with pytest.warns(ConvergenceWarning, match="gap of .* fixed-point residual of"):
        found = LKRR(1e3, 0.0, 1e-2, max_iter=1).solve_grams(K, y)
    assert not found.converged
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        LKRR(1e3, 0.0, 1e-2, norm=1, max_iter=1).solve_grams(K, y)


Y3 = np.array([1.0, -1.0, 2.0])


@each(
    ("grams", "y", "match"),
    [
        ([np.eye(3), np.eye(2)], Y3, r"grams\[1\]"),
        ([-np.eye(3)], Y3, "positive semi-definite"),
        ([np.diag([1.0, 1.0, -9.0])], Y3, "positive"),
    ],
)
def test_bad_input(grams, y, match):
    raises(ValueError, match, LKRR(5.0).solve_grams, grams, y)


def test_nan_away_from_the_rows_that_are_compared():
    K = np.tile(np.eye(40), (2, 1, 1))
    K[1, 7, 9] = K[1, 9, 7] = np.nan
    raises(ValueError, "NaN", LKRR().solve_grams, K, np.arange(40.0))
