"""The greedy path against exhaustive search, plain matching pursuit and the solver of AlignF."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from scipy.optimize import nnls
from strategies import generators

import alignlearn as al
from alignlearn.statistics import AlignmentStatistics
from alignlearn.weights.path import sparse_path


def statistics_of(V, t, scale=None):
    """Of rank-one "kernels" with centered matrices V[:, k] (as vectors), and a target vector."""
    V = V if scale is None else V * scale
    trace = np.linalg.norm(V, axis=0)
    return AlignmentStatistics(V.T @ t, V.T @ V, trace, float(np.linalg.norm(t)), len(t))


@st.composite
def problems(draw, max_kernels=9):
    """Vectors in general or special position: repeated, parallel, opposed, zero, dependent."""
    rng = draw(generators())
    n, p = draw(st.integers(2, 12)), draw(st.integers(1, max_kernels))
    V = rng.normal(size=(n, p))
    if draw(st.booleans()):
        V[:, rng.integers(p)] = V[:, rng.integers(p)] * draw(st.sampled_from([1.0, 3.0, -1.0]))
    if draw(st.booleans()):
        V[:, rng.integers(p)] = 0.0
    V *= 10.0 ** rng.integers(-3, 4, size=p)
    t = rng.normal(size=n) + draw(st.sampled_from([0.0, 1.0])) * V[:, 0]
    if not (V.T @ t > 0.0).any():
        t = -t
    return V, t


def best_alignment(V, t, columns):
    """Largest cosine of t with a nonnegative combination of some columns, by SciPy's NNLS."""
    columns = [k for k in columns if np.any(V[:, k])]
    if not columns:
        return 0.0
    W = V[:, columns] / np.linalg.norm(V[:, columns], axis=0)
    v, _ = nnls(W, t)
    norm = np.linalg.norm(W @ v)
    return float(W @ v @ t / norm / np.linalg.norm(t)) if norm > 0.0 else 0.0


@given(problems())
def test_points_are_what_they_say(problem):
    """Optimal on their support, at least one kernel alone, increasing, below the best subset.

    Without a limit the last one is the optimum.
    """
    V, t = problem
    if not (V.T @ t > 0.0).any():
        return
    statistics = statistics_of(V, t)
    path = sparse_path(statistics)
    assert path.complete
    # One more kernel of gradient g adds g^2 to the square of this, and is left out below 2e-12.
    reached = path.alignment[-1] / statistics.alignments.max()
    assert path.kkt_residual[-1] <= max(1e-10, 1.5e-6 * reached)
    assert path.alignment[-1] == pytest.approx(best_alignment(V, t, range(V.shape[1])), rel=1e-7)
    assert np.all(np.diff(path.n_kernels) > 0)
    assert np.all(np.diff(path.alignment) > 0)
    assert path.n_kernels[0] == 1
    assert path.alignment[0] == pytest.approx(statistics.alignments.max(), rel=1e-9)
    for size, reached, support in zip(path.n_kernels, path.alignment, path.supports):
        assert len(support) == size
        assert list(support) == sorted(set(support))
        weights = path.weights(size)
        np.testing.assert_array_equal(np.flatnonzero(weights), support)
        assert weights.min() >= 0.0
        assert weights.sum() == pytest.approx(1.0)
        assert statistics.alignment(weights) == pytest.approx(reached, rel=1e-9)
        assert reached == pytest.approx(best_alignment(V, t, support), rel=1e-7)
        every = combinations(range(V.shape[1]), int(size))
        assert reached <= max(best_alignment(V, t, c) for c in every) * (1 + 1e-9)


@given(generators())
def test_equals_matching_pursuit_where_no_weight_turns_negative(rng):
    """Nonnegative data with a positive target: plain OMP by least squares, step by step."""
    V = np.abs(rng.normal(size=(40, 12))) * (rng.random((40, 12)) < 0.3) + 1e-3
    t = V @ rng.uniform(0.5, 2.0, size=12)
    path = sparse_path(statistics_of(V, t))
    unit = V / np.linalg.norm(V, axis=0)
    chosen, residual = [], t
    while len(chosen) < 12:
        inner = unit.T @ residual
        inner[chosen] = -np.inf
        chosen.append(int(inner.argmax()))
        coef = np.linalg.lstsq(unit[:, chosen], t, rcond=None)[0]
        if coef.min() <= 0.0 or inner.max() <= 1e-9 * np.linalg.norm(t):
            break
        residual = t - unit[:, chosen] @ coef
        at = np.searchsorted(path.n_kernels, len(chosen))
        assert path.n_kernels[at] == len(chosen)
        if path.n_steps == path.n_kernels[-1]:  # no kernel has left: each size was met once
            assert sorted(chosen) == list(path.supports[at])


@given(problems(max_kernels=7), st.integers(-3, 3))
def test_units_do_not_matter(problem, power):
    V, t = problem
    if not (V.T @ t > 0.0).any():
        return
    path = sparse_path(statistics_of(V, t))
    scale = 4.0 ** np.arange(V.shape[1])
    other = sparse_path(statistics_of(V, t * 4.0**power, scale))
    np.testing.assert_array_equal(path.n_kernels, other.n_kernels)
    np.testing.assert_allclose(path.alignment, other.alignment, rtol=1e-9)
    for a, b, support in zip(path.coefficients, other.coefficients, path.supports):
        np.testing.assert_allclose(a * 4.0**power, b * scale[support], rtol=1e-5)


def test_a_kernel_leaves_again():
    """The first choice lies between two others that together make it superfluous."""
    V = np.array([[1.0, 0.0, 0.8], [0.0, 1.0, 0.8], [0.0, 0.0, 0.5]])
    t = np.array([1.0, 1.0, -0.3])
    path = sparse_path(statistics_of(V, t))
    assert list(path.supports[0]) == [2]
    assert list(path.n_kernels) == [1, 2]
    assert list(path.supports[-1]) == [0, 1]
    assert path.alignment[-1] == pytest.approx(np.sqrt(2.0 / 2.09))
    assert path.complete
    limited = sparse_path(statistics_of(V, t), 1)
    assert not limited.complete
    assert list(limited.n_kernels) == [1]
    # Memory for two is enough for the third to be tried.
    assert sparse_path(statistics_of(V, t), 2).complete
    # A residual within tol ends the path, here with the first kernel alone.
    early = sparse_path(statistics_of(V, t), tol=0.5)
    assert early.complete
    assert 0.1 < early.kkt_residual[-1] <= 0.5


@pytest.mark.parametrize("limit", [1, 3, 50])
def test_alignf_with_a_limit(limit):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 20))
    y = X[:, :6] @ np.arange(1.0, 7.0) + rng.normal(size=60)
    statistics = al.alignment_statistics(X, y, al.RankOneKernels())
    result = al.AlignF(max_kernels=limit).solve(statistics)
    path = sparse_path(statistics)
    used = np.count_nonzero(result.weights)
    assert used <= limit
    assert used == path.n_kernels[path.n_kernels <= limit].max()
    np.testing.assert_allclose(result.weights, path.weights(limit), rtol=1e-8)
    assert result.converged
    assert result.kkt_residual <= 1e-12
    free = al.AlignF().solve(statistics)
    assert result.alignment <= free.alignment * (1 + 1e-12)
    if limit == 50:
        np.testing.assert_allclose(result.weights, free.weights, rtol=1e-8)
    v = al.AlignF(max_kernels=limit, normalize=None).solve(statistics).weights
    assert np.sqrt(v @ statistics.M @ v) / statistics.target_norm == pytest.approx(result.alignment)


def test_bad_input():
    statistics = statistics_of(np.eye(3), np.ones(3))
    raises(ValueError, "max_kernels", sparse_path, statistics, 0)
    for tol in (0.0, 1.0):  # with 1 no kernel would enter
        raises(ValueError, "tol", sparse_path, statistics, tol=tol)
    raises(TypeError, "AlignmentStatistics", sparse_path, np.eye(3))
    against = statistics_of(np.eye(3), -np.ones(3))
    raises(ValueError, "no kernel is positively aligned", sparse_path, against)
    raises(ValueError, "n_kernels", sparse_path(statistics).weights, 0)
