"""SMO against LIBSVM and the optimality conditions written in NumPy."""

import numpy as np
import pytest
from cases import each
from sklearn.svm import SVC

from alignlearn.machines import SupportVectorRegressor
from alignlearn.solvers import smo as smo_module
from alignlearn.solvers import smo_kernels
from alignlearn.solvers.smo import smo
from alignlearn.solvers.smo_rows import RowCache, least_memory

TIGHT = 1e-9


def gaussian_gram(X, gamma=0.5):
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(-1))


def problem(m, seed, C=1.0, d=2, gamma=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    sign = np.where(X[:, 0] + 0.7 * rng.standard_normal(m) > 0.0, 1.0, -1.0)
    sign[:2] = 1.0, -1.0
    return gaussian_gram(X, gamma), sign, box(C * sign)


def box(reach):
    """Bounds of coefficients between 0 and ``reach``."""
    return np.minimum(reach, 0.0), np.maximum(reach, 0.0)


def kkt_violation(K, linear, lower, upper, epsilon, b):
    """Largest difference of one-sided slopes over pairs that may move, by a plain loop."""
    g = K.astype(float) @ b + linear
    up = [g[k] + (epsilon if b[k] >= 0 else -epsilon) for k in range(len(b)) if b[k] < upper[k]]
    down = [g[k] + (epsilon if b[k] > 0 else -epsilon) for k in range(len(b)) if b[k] > lower[k]]
    return max(max(down, default=-np.inf) - min(up, default=np.inf), 0.0)


def value(K, linear, epsilon, b):
    return 0.5 * b @ K @ b + linear @ b + epsilon * np.abs(b).sum()


def rows_of(K, room=30):
    """Rows that are computed on demand, within multiples of the minimal memory."""

    def rows(columns):
        return lambda index: K[index] if columns is None else K[np.ix_(index, columns)]

    return RowCache(rows, len(K), room * least_memory(len(K)))


FORMS = pytest.mark.parametrize("form", [np.asarray, rows_of])


@each("seed", range(4))
@each("epsilon", [0.0, 0.2])
def test_small_problems_meet_the_optimality_conditions(seed, epsilon):
    rng, m = np.random.default_rng(seed), 12
    K = gaussian_gram(rng.standard_normal((m, 2)))
    linear = rng.standard_normal(m)
    lower, upper = -rng.uniform(0.0, 2.0, m), rng.uniform(0.0, 2.0, m)
    lower[:3] = 0.0
    upper[2:4] = 0.0
    result = smo(K, linear, (lower, upper), epsilon=epsilon, tol=TIGHT)
    assert result.objective == pytest.approx(value(K, linear, epsilon, result.coef), abs=1e-12)
    assert kkt_violation(K, linear, lower, upper, epsilon, result.coef) <= 2 * TIGHT
    assert abs(result.coef.sum()) < 1e-12
    assert ((lower <= result.coef) & (result.coef <= upper)).all()
    assert 0.0 <= result.duality_gap < 1e-7


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_classification_reaches_libsvm_objective(C, dtype):
    K, sign, bounds = problem(250, seed=1, C=C)
    K = K.astype(dtype)
    oracle = SVC(C=C, kernel="precomputed", tol=1e-7).fit(K.astype(float), sign)
    b = np.zeros(250)
    b[oracle.support_] = oracle.dual_coef_[0]
    for shrinking in (True, False):
        result = smo(K, -sign, bounds, tol=1e-7, shrinking=shrinking)
        assert result.objective == pytest.approx(value(K.astype(float), -sign, 0.0, b), rel=1e-6)
        assert result.kkt_violation <= 1e-7
        assert kkt_violation(K, -sign, *bounds, 0.0, result.coef) <= 1.1e-7
        assert -result.multiplier == pytest.approx(oracle.intercept_[0], abs=1e-4)


def test_shrinking_sets_variables_aside_and_keeps_the_solution(monkeypatch):
    sizes, keep = [], smo_module._Problem.keep

    def spy(self, kept):
        keep(self, kept)
        sizes.append(self.gram.index.size)

    monkeypatch.setattr(smo_module._Problem, "keep", spy)
    K, sign, bounds = problem(500, seed=3, C=5.0)
    shrunk = smo(K, -sign, bounds, tol=1e-8)
    assert min(sizes) < 250
    assert len(sizes) >= 2
    whole = smo(K, -sign, bounds, tol=1e-8, shrinking=False)
    assert shrunk.objective == pytest.approx(whole.objective, rel=1e-12)
    np.testing.assert_allclose(shrunk.gradient, K @ shrunk.coef - sign, atol=1e-11)


def test_every_step_descends_also_across_the_kink_of_the_penalty():
    rng = np.random.default_rng(11)
    K, y = gaussian_gram(rng.standard_normal((40, 2)), 0.1), rng.standard_normal(40)
    reach, start = np.full(40, 3.0), rng.uniform(-3.0, 3.0, 40)
    given = {"epsilon": 0.5, "start": start, "tol": 1e-9}
    steps = [smo(K, -y, (-reach, reach), **given, max_iter=n) for n in range(1, 150)]
    assert (np.diff([result.objective for result in steps]) <= 1e-12).all()


@each(("m", "seed", "d", "gamma", "share"), [(400, 12, 10, 0.1, 1.1), (400, 13, 2, 0.5, 0.8)])
def test_selection_needs_as_few_steps_as_libsvm_and_conjugate_directions_fewer(
    m, seed, d, gamma, share
):
    """Ten-dimensional points have a well conditioned K, two-dimensional ones do not."""
    K, sign, bounds = problem(m, seed, 100.0, d, gamma)
    oracle = SVC(C=100.0, kernel="precomputed", tol=1e-3).fit(K, sign)
    assert smo(K, -sign, bounds).n_iter < share * oracle.n_iter_[0]


@FORMS
def test_bounds_that_allow_no_step_take_none(form, monkeypatch):
    """Loops over no active variable read memory outside of their arrays."""
    iterate = smo_kernels.iterate

    def checked(active, state, *rest):
        assert state.shape[1] > 0
        return iterate(active, state, *rest)

    monkeypatch.setattr(smo_kernels, "iterate", checked)
    rng = np.random.default_rng(0)
    K, y = gaussian_gram(rng.normal(size=(40, 2))), rng.normal(size=40)
    for lower, upper in ((0.0, 0.0), (-1.0, 0.0), (0.0, 1.0)):
        found = smo(form(K), -y, (np.full(40, lower), np.full(40, upper)), epsilon=0.1)
        assert (found.n_iter, found.converged, found.coef.any()) == (0, True, False)
    svr = SupportVectorRegressor(C=1e-300).fit(K, 1e100 * y)
    assert not svr.dual_coef_.any()


def test_duality_gap_is_primal_minus_dual():
    K, sign, bounds = problem(100, seed=6, C=2.0)
    result = smo(K, -sign, bounds, tol=1e-2)
    decision = K @ result.coef - result.multiplier
    primal = 0.5 * result.coef @ K @ result.coef + 2.0 * np.maximum(1 - sign * decision, 0).sum()
    assert result.duality_gap == pytest.approx(primal + result.objective, rel=1e-10)


def test_warm_start_at_the_solution_takes_no_step_and_elsewhere_the_same_end():
    K, sign, bounds = problem(300, seed=7)
    cold = smo(K, -sign, bounds, tol=1e-6)
    assert cold.n_iter > 100
    assert smo(K, -sign, bounds, tol=1e-6, start=cold.coef).n_iter <= 1
    wider = tuple(4.0 * bound for bound in bounds)
    warm, again = smo(K, -sign, wider, tol=1e-8, start=cold.coef), smo(K, -sign, wider, tol=1e-8)
    assert warm.objective == pytest.approx(again.objective, rel=1e-10)
    wild = smo(K, -sign, bounds, tol=1e-8, start=np.full(300, 7.0))
    assert abs(wild.coef.sum()) < 1e-10


@FORMS
def test_iteration_limit_is_exact_and_reported(form):
    K, sign, bounds = problem(300, seed=8)
    result = smo(form(K), -sign, bounds, tol=1e-8, max_iter=17)
    assert result.n_iter == 17
    assert not result.converged
    assert result.kkt_violation == pytest.approx(kkt_violation(K, -sign, *bounds, 0.0, result.coef))


@pytest.mark.parametrize(("room", "C"), [(None, 1e3), (2, 10.0), (30, 1e3)])
def test_tolerance_below_rounding_ends(room, C):
    K, sign, bounds = problem(60, seed=9, C=C)
    given = rows_of(K, room) if room else K
    result = smo(given, -sign, bounds, tol=1e-300, max_iter=10**6)
    assert result.n_iter < 10**6
    assert result.kkt_violation < 1e-9


@each("seed", range(0, 60, 4))
def test_tolerance_below_rounding_ends_where_shrinking_undone_leaves_no_step(seed):
    rng = np.random.default_rng(seed)
    K, y = gaussian_gram(rng.standard_normal((60, 2)), 1.0), np.sign(rng.standard_normal(60))
    result = smo(K, -y, box(1e-3 * y), tol=1e-16, max_iter=9999)
    assert result.kkt_violation <= 1e-14


@each(
    "K",
    [
        np.ones((6, 6)),
        np.zeros((6, 6)),
        np.outer([1.0, 1, 2, 2, 3, 3], [1.0, 1, 2, 2, 3, 3]),
        np.kron(np.ones((2, 2)), np.eye(3)),
        np.eye(6) - 0.3 * np.ones((6, 6)),
    ],
)
@each("epsilon", [0.0, 0.1])
@FORMS
def test_degenerate_kernels_end_at_a_kkt_point(K, epsilon, form):
    sign = np.array([1.0, -1, 1, -1, -1, 1])
    bounds = (np.full(6, -2.0), np.full(6, 2.0)) if epsilon else box(2.0 * sign)
    result = smo(form(K), -sign, bounds, epsilon=epsilon, tol=1e-8)
    assert result.converged
    assert kkt_violation(K, -sign, *bounds, epsilon, result.coef) <= 1e-8


@pytest.mark.parametrize("seed", range(10))
def test_the_multiplier_does_not_depend_on_rounding_where_no_coefficient_is_free(seed):
    """Few dimensions and a smooth kernel: often every coefficient is at a bound or 0."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((30, 1))
    sign = np.where(x[:, 0] + 0.3 * rng.standard_normal(30) > 0.3, 1.0, -1.0)
    K = gaussian_gram(x, 0.01)

    def solve(fold, start):
        reach = 0.5 * np.where(np.arange(30) % 5 == fold, 0.0, sign)
        return smo(K, -np.sign(reach), box(reach), start=start, tol=1e-8)

    whole, n_cases = solve(None, None).coef, 0
    for fold in range(5):
        cold = solve(fold, None)
        if np.isin(np.abs(cold.coef), (0.0, 0.5)).all():
            # A start from other coefficients is moved and scaled, so each is off by rounding.
            warm, n_cases = solve(fold, whole), n_cases + 1
            np.testing.assert_array_equal(warm.coef, cold.coef)
            assert warm.multiplier == pytest.approx(cold.multiplier, abs=1e-12)
    assert n_cases >= 3


def test_read_only_input_is_used_in_place(tmp_path):
    K, sign, bounds = problem(50, seed=10)
    expected = smo(K, -sign, bounds)
    compiled = len(smo_kernels.iterate.signatures)
    K.setflags(write=False)
    np.testing.assert_array_equal(smo(K, -sign, bounds).coef, expected.coef)
    on_disk = np.memmap(tmp_path / "K", K.dtype, "w+", shape=K.shape)
    on_disk[:] = K
    np.testing.assert_array_equal(smo(on_disk, -sign, bounds).coef, expected.coef)
    # One solver serves all: each costs seconds to compile.
    assert len(smo_kernels.iterate.signatures) == compiled


@pytest.mark.parametrize("seed", range(30))
def test_an_exact_solution_of_the_shrunk_problem_does_not_end_the_solve(seed):
    """Rank one and repeated points: the active part is often solved to the last bit."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal(42).round(1), rng.standard_normal(42)
    reach = 4.0 * rng.uniform(0.0, 2.0, 42)
    K = np.outer(x, x)
    result = smo(K, -y, (-reach, reach), tol=1e-8)
    assert result.converged
    assert kkt_violation(K, -y, -reach, reach, 0.0, result.coef) <= 1e-7


def units_problem(epsilon, shifted):
    """60 points with repetitions; with ``shifted`` a kernel without its constant: diagonal 0."""
    K, sign, bounds = problem(60, seed=3, C=20.0)
    K = np.kron(K[:30, :30], np.ones((2, 2))) - float(shifted)
    if epsilon == 0.0:
        return K, -sign, bounds
    return K, -np.random.default_rng(5).standard_normal(60), (np.full(60, -20.0), np.full(60, 20.0))


@pytest.mark.parametrize("exponent", [-990, -500, -60, 60, 500, 990])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("shifted", [False, True])
@FORMS
def test_the_unit_of_the_kernel_changes_no_bit(exponent, epsilon, shifted, form):
    K, linear, bounds = units_problem(epsilon, shifted)
    s = 2.0**exponent
    base = smo(form(K), linear, bounds, epsilon=epsilon)
    found = smo(form(s * K), linear, (bounds[0] / s, bounds[1] / s), epsilon=epsilon)
    assert base.converged
    assert found.converged
    if form is rows_of and abs(exponent) > 60:  # float32 has no such values: rows are float64
        assert found.n_iter < 2000
        assert found.objective * s == pytest.approx(base.objective, rel=1e-4)
        return
    assert found.n_iter == base.n_iter < 2000
    np.testing.assert_array_equal(found.coef * s, base.coef)
    assert found.objective * s == base.objective
    assert (found.multiplier, found.kkt_violation) == (base.multiplier, base.kkt_violation)


@each("exponent", [-990, -500, 500, 990])
@each("epsilon", [0.0, 0.1])
def test_the_unit_of_the_targets_changes_no_bit(exponent, epsilon):
    K, linear, bounds = units_problem(epsilon, shifted=False)
    v = 2.0**exponent
    base = smo(K, linear, bounds, epsilon=epsilon)
    bounds = v * bounds[0], v * bounds[1]
    found = smo(K, v * linear, bounds, epsilon=v * epsilon, tol=1e-3 * v)
    assert found.n_iter == base.n_iter
    np.testing.assert_array_equal(found.coef / v, base.coef)
    assert found.kkt_violation == v * base.kkt_violation


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_targets_in_any_unit_end(unit):
    """Bounds and tolerance stay: every coefficient is at a bound, or all are 0."""
    K, linear, bounds = units_problem(0.1, shifted=False)
    found = smo(K, unit * linear, bounds, epsilon=0.1)
    assert found.n_iter < 2000
    assert set(np.unique(np.abs(found.coef))) <= ({20.0, 0.0} if unit > 1.0 else {0.0})
