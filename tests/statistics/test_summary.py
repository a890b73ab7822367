"""The p-sized summary: derived quantities against Gram matrices."""

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from strategies import generators, gram_matrices

from alignlearn.sources import alignment_statistics
from alignlearn.statistics import AlignmentStatistics, alignment


def summary(grams, y):
    a, M, trace, norm = (np.asarray(v, dtype=float) for v in oracle.statistics(grams, y))
    return AlignmentStatistics(a, M, trace, float(norm), len(y), ("k",) * len(a))


@given(generators(), st.integers(3, 8), st.integers(1, 4))
def test_alignments_are_those_of_the_matrices(rng, m, p):
    grams = [(A := rng.normal(size=(m, m))) @ A.T for _ in range(p)]
    y, weights = rng.normal(size=m), rng.uniform(size=p)
    s = summary(grams, y)
    target = np.outer(y, y)
    assert s.n_kernels == p
    np.testing.assert_allclose(s.alignments, [alignment(K, target) for K in grams], rtol=1e-9)
    combined = sum(w * K for w, K in zip(weights, grams))
    assert s.alignment(weights) == pytest.approx(alignment(combined, target), rel=1e-9)
    assert s.alignment(7 * weights) == pytest.approx(s.alignment(weights), rel=1e-12)
    norms = [np.linalg.norm(oracle.center(K).astype(float)) for K in grams]
    np.testing.assert_allclose(s.norms, norms, rtol=1e-12)


@given(st.lists(gram_matrices(n_samples=5), min_size=1, max_size=4), generators())
def test_scaled_kernels_have_the_scaled_statistics(grams, rng):
    y, scale = rng.normal(size=5), rng.uniform(0, 3, size=len(grams))
    scaled = summary(grams, y).scaled(scale)
    expected = summary([oracle.LD(c) * K for c, K in zip(scale, grams)], y)
    for name in ("a", "M", "trace"):
        value, other = getattr(scaled, name), getattr(expected, name)
        np.testing.assert_allclose(value, other, rtol=1e-12, atol=1e-14 * np.abs(other).max())
    assert scaled.names == expected.names


def test_trace_normalization_gives_trace_m_and_drops_what_has_none():
    grams = [np.diag([1.0, 2, 3, 4]), np.ones((4, 4)), -np.eye(4), 1e-8 * np.eye(4)]
    s, scale = summary(grams, np.arange(4.0)).trace_normalized()
    np.testing.assert_allclose(s.trace, [4, 0, 0, 4], rtol=1e-9)
    assert scale[1] == scale[2] == 0
    assert scale[3] == pytest.approx(4 / 3e-8)
    np.testing.assert_array_equal(s.M[1], 0)


def test_zero_kernels_and_negative_self_products_have_alignment_zero():
    """Also a constant target; unbiased estimates of a self-product may be negative."""
    s = AlignmentStatistics(np.array([0.0, 1.0]), np.diag([0.0, 4.0]), np.array([0.0, 2.0]), 1.0, 5)
    np.testing.assert_array_equal(s.alignments, [0, 0.5])
    assert s.alignment([1.0, 0.0]) == 0
    flat = AlignmentStatistics(np.zeros(1), np.eye(1), np.ones(1), 0.0, 5)
    negative = AlignmentStatistics(np.ones(1), -np.eye(1), np.ones(1), 1.0, 5)
    assert flat.alignments == negative.alignments == negative.norms == [0]


def test_alignment_of_weights_of_any_size():
    statistics = alignment_statistics(np.eye(4), [0.0, 1.0, 3.0, 2.0], ["rbf", "poly"])
    plain, weights = statistics.alignment([0.3, 0.7]), np.array([0.3, 0.7])
    for unit in (1e-300, 1e300):
        assert statistics.alignment(unit * weights) == pytest.approx(plain, rel=1e-14)
    for bad in ([np.nan, 1.0], [1j, 1.0], "ab", [1.0], [[1.0, 1.0]], [True, False]):
        raises(ValueError, "weights", statistics.alignment, bad)
