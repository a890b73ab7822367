"""SMO on rows that are computed on demand, against SMO on the matrix and the conditions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises

from alignlearn.solvers import smo_rows
from alignlearn.solvers.smo import smo
from alignlearn.solvers.smo_rows import FullRows, RowCache, least_memory
from alignlearn.validation import DoubtfulResultWarning

from test_smo import box, gaussian_gram, kkt_violation, problem, value  # isort: skip


class Rows:
    """Rows of a matrix as a `RowCache` requests them, with a count of computed rows."""

    def __init__(self, K):
        self.K, self.n_rows, self.n_values, self.largest = K, 0, 0, 0

    def __call__(self, columns):
        block = self.K if columns is None else self.K[:, columns]

        def compute(index, out=None):
            self.n_rows += len(index)
            found = block[index]
            self.n_values += found.size
            self.largest = max(self.largest, found.nbytes)
            if out is not None:
                out[:] = found
            return found

        return compute


FULL = 10**9  # memory, in units of two rows, with which whole rows are stored


def cached(K, memory=None):
    rows = Rows(K)
    memory = least_memory(len(K)) if memory is None else memory
    kind = FullRows if memory >= FULL else RowCache
    return kind(rows, len(K), memory), rows


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("room", [1, 2, 100, FULL])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_the_solution_is_that_of_the_matrix(C, room, epsilon):
    K, sign, bounds = problem(200, seed=1, C=C)
    if epsilon:
        bounds = np.full(200, -C), np.full(200, C)
    cache, rows = cached(K, room * least_memory(200))
    result = smo(cache, -sign, bounds, epsilon=epsilon, tol=1e-5)
    whole = smo(K, -sign, bounds, epsilon=epsilon, tol=1e-5)
    assert result.converged
    assert abs(result.objective - whole.objective) <= max(result.duality_gap, whole.duality_gap)
    assert kkt_violation(K, -sign, *bounds, epsilon, result.coef) <= 1.01e-5
    assert result.objective == pytest.approx(value(K, -sign, epsilon, result.coef), rel=1e-9)
    apart = np.abs(result.gradient - K @ result.coef + sign)
    assert apart[result.coef != 0.0].max() <= 1e-9 * max(C, 1.0)
    assert apart.max() <= (1e-5 if room == FULL else 1e-9 * max(C, 1.0))
    assert abs(result.coef.sum()) < 1e-10 * C * 200
    assert (rows.n_rows > 200) if room == 1 else True  # the evicted ones, again


@pytest.mark.parametrize("memory", [500_000, 800_000])
def test_a_large_c_within_little_memory_computes_few_matrices(memory):
    """A working set whose rows do not all fit computed 23 and 26 matrices; 2.4 are enough."""
    K, sign, bounds = problem(600, seed=0, C=1000.0)
    cache, rows = cached(K, memory)
    result = smo(cache, -sign, bounds)
    assert result.converged
    assert kkt_violation(K, -sign, *bounds, 0.0, result.coef) <= 1.01e-3
    assert rows.n_values < 8 * K.size


def test_memory_that_makes_most_of_the_work_is_warned_of(monkeypatch):
    K, sign, bounds = problem(200, seed=1, C=10.0)
    monkeypatch.setattr(smo_rows, "_MANY_VALUES", 10**5)
    monkeypatch.setattr(smo_rows, "_MANY_MATRICES", 4)
    with pytest.warns(DoubtfulResultWarning, match=r"memory=\d+ bytes hold few .* \d+ Gram matri"):
        smo(cached(K)[0], -sign, bounds)
    smo(cached(K, 12 * K.size + least_memory(200))[0], -sign, bounds)  # without a warning


@given(seed=st.integers(0, 10**6), m=st.integers(2, 40), room=st.floats(1.0, 3.0) | st.just(FULL))
def test_any_memory_that_is_accepted_does(seed, m, room):
    K, sign, bounds = problem(m, seed, C=10.0)
    cache, _ = cached(K, int(room * least_memory(m)))
    result = smo(cache, -sign, bounds, tol=1e-10)  # below single precision
    assert result.converged
    assert kkt_violation(K, -sign, *bounds, 0.0, result.coef) <= 1.1e-10


@pytest.mark.parametrize("room", [1, FULL])
def test_memory_may_hold_anything_at_first(room, monkeypatch):
    empty = np.empty

    def not_a_number(*args, **kwargs):
        memory = empty(*args, **kwargs)
        if memory.dtype.kind == "f":
            memory.fill(np.nan)
        return memory

    K, sign, bounds = problem(200, seed=2, C=10.0)
    expected = smo(cached(K, room * least_memory(200))[0], -sign, bounds)
    monkeypatch.setattr(np, "empty", not_a_number)
    result = smo(cached(K, room * least_memory(200))[0], -sign, bounds)
    np.testing.assert_array_equal(result.coef, expected.coef)


@pytest.mark.parametrize("room", [1, 30, FULL])
def test_rows_that_single_precision_cannot_hold_are_refined(room):
    """A constant of 1e8 leaves nothing of the kernel in float32."""
    K, sign, bounds = problem(120, seed=3, C=1.0)
    cache, _ = cached(K + 1e8, room * least_memory(120))
    result = smo(cache, -sign, bounds, tol=1e-3)
    assert cache.finest
    assert result.converged
    expected = smo(K, -sign, bounds, tol=1e-3)
    assert result.objective == pytest.approx(expected.objective, abs=2.0 * expected.duality_gap)


def test_the_gradient_is_exact_where_it_decides():
    """Otherwise it is that of the rows, to float32, and its exact values are not computed."""
    rng = np.random.default_rng(6)
    X = rng.standard_normal((500, 2))
    sign = np.where(X[:, 0] > 0.0, 1.0, -1.0)
    K, wrong = gaussian_gram(X), 1e-7 * rng.standard_normal((500, 500))
    bounds = box(10.0 * sign)
    exact, rough = Rows(K), Rows((K + wrong + wrong.T).astype(np.float32))
    options = {"memory": FULL * least_memory(500), "diagonal": np.ones(500)}
    result = smo(FullRows(exact, 500, single=rough, **options), -sign, bounds, tol=1e-3)
    gradient, used = K @ result.coef - sign, result.coef != 0.0
    assert result.converged
    assert result.kkt_violation == pytest.approx(kkt_violation(K, -sign, *bounds, 0.0, result.coef))
    assert result.objective == pytest.approx(value(K, -sign, 0.0, result.coef), rel=1e-12)
    apart = np.abs(result.gradient - gradient)
    assert apart[used].max() < 1e-10
    assert 1e-8 < apart.max() < 1e-4
    assert exact.n_values < 0.3 * 500 * np.count_nonzero(used)
    # Rows with large rounding at a few entries are not trusted at the others.
    rough = Rows((K + 10000.0 * (wrong + wrong.T)).astype(np.float32))
    result = smo(FullRows(exact, 500, single=rough, **options), -sign, bounds, tol=1e-3)
    np.testing.assert_allclose(result.gradient, K @ result.coef - sign, atol=1e-10)
    assert result.kkt_violation <= 1e-3


def test_many_samples_start_from_some_and_need_a_fraction_of_the_matrix():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((2500, 2))
    sign = np.where(X[:, 0] + 0.3 * rng.standard_normal(2500) > 0.0, 1.0, -1.0)
    K, bounds, memory = gaussian_gram(X), box(sign), 2_000_000
    cache, rows = cached(K, memory)
    result = smo(cache, -sign, bounds, tol=1e-3)
    assert result.converged
    assert kkt_violation(K, -sign, *bounds, 0.0, result.coef) <= 1.01e-3
    whole = smo(K, -sign, bounds, tol=1e-3)
    assert result.objective == pytest.approx(whole.objective, rel=1e-5)
    assert rows.largest <= memory / 8
    again = smo(cached(K, memory)[0], -sign, bounds, tol=1e-3)
    np.testing.assert_array_equal(again.coef, result.coef)


def test_fixed_variables_stay_and_a_start_at_the_solution_takes_no_step():
    K, sign, (lower, upper) = problem(200, seed=5)
    inside = np.arange(200) % 3 == 0
    bounds = np.where(inside, lower, 0.0), np.where(inside, upper, 0.0)
    result = smo(cached(K)[0], -sign, bounds, tol=1e-8)
    assert not result.coef[~inside].any()
    expected = smo(K, -sign, bounds, tol=1e-8)
    np.testing.assert_allclose(result.coef, expected.coef, atol=1e-5)
    np.testing.assert_allclose(result.gradient, K @ result.coef - sign, atol=1e-11)
    again = smo(cached(K)[0], -sign, bounds, tol=1e-7, start=result.coef)
    assert again.n_iter == 0


def test_float32_rows_are_used_as_they_are():
    K, sign, bounds = problem(200, seed=10)
    K = K.astype(np.float32)
    result = smo(cached(K)[0], -sign, bounds, tol=1e-6)
    assert kkt_violation(K, -sign, *bounds, 0.0, result.coef) <= 1.1e-6


def test_too_little_memory_is_refused_with_what_would_do():
    K, least = np.eye(100), least_memory(100)
    raises(ValueError, f"memory={least - 1} bytes .* at least {least}", cached, K, least - 1)
    cached(K, least)


def test_whole_rows_are_computed_once_and_kept_for_the_next_problem():
    K, sign, bounds = problem(2400, seed=4, C=1.0)
    rows = Rows(K)
    cache = FullRows(rows, 2400, 10**9)
    first = smo(cache, -sign, bounds, tol=1e-5)
    assert first.converged
    # Exact products are with the start's samples and, to accept a solution, with its coefficients.
    again = rows.n_rows
    second = smo(cache, -sign, bounds, tol=1e-5, start=first.coef)
    assert second.n_iter <= first.n_iter // 50  # rows of single precision may evaluate a few more
    assert rows.n_rows - again <= 2 * np.count_nonzero(first.coef)
    computed = np.flatnonzero(cache.place >= 0)
    np.testing.assert_allclose(cache.K[cache.place[computed]], K[computed], rtol=1e-6)
    assert len(np.unique(cache.place[computed])) == computed.size < 2400
