"""Columns that exclude each other are bundled: fewer columns, the same distances."""

import cases
import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

import alignlearn as al
from alignlearn.engine import grams
from alignlearn.engine.binding import BoundPairs
from alignlearn.engine.bundles import bundled
from alignlearn.engine.program import program_of

KERNELS = {
    "Gaussian": (al.Gaussian(gamma=0.2), lambda s, a: np.exp(-0.2 * s)),
    "Exponential": (al.Exponential(gamma=0.5), lambda s, a: np.exp(-0.5 * np.sqrt(s))),
    "Laplacian": (al.Laplacian(gamma=0.05), lambda s, a: np.exp(-0.05 * a)),
    "TL1": (al.TL1(tau=20.0), lambda s, a: np.maximum(20.0 - a, 0.0)),
}
LEVELS, M = (7, 12, 2, 30), 60


def _one_hot(codes, n_levels, scales=1.0):
    """Columns of levels, centered and scaled."""
    H = (np.asarray(codes)[:, None] == np.arange(n_levels)).astype(float)
    return (H - H.mean(axis=0)) * scales


def _table(seed=0, m=M, levels=LEVELS):
    """Three numbers and categories, with scales of their own except the first."""
    rng = np.random.default_rng(seed)
    blocks = [rng.standard_normal((m, 3))]
    for n, count in enumerate(levels):
        scales = 0.5 if n == 0 else rng.uniform(0.2, 2.0, count)
        blocks.append(_one_hot(rng.integers(0, count, m), count, scales))
    return np.hstack(blocks)


def _width(X, *others, kernel=KERNELS["Gaussian"][0]):
    program, sides = bundled(program_of([kernel], X, X), X, *others)
    assert all(len(V) == len(W) for V, W in zip(sides, (X, *others), strict=True))
    return program.features.size


@pytest.mark.parametrize("name", KERNELS)
@cases.each("dtype, rounding", [(np.float64, 1e-14), (np.float32, 1e-5)])
def test_values_are_those_of_the_columns(name, dtype, rounding):
    kernel, formula = KERNELS[name]
    X = _table().astype(dtype)
    assert X.shape[1] == 3 + sum(LEVELS)
    assert _width(X, kernel=kernel) == 3 + len(LEVELS)
    distances, _, absolute = oracle.pair_primitives(X, X)
    expected = formula(distances, absolute)
    for Z in (None, X[10:40]):
        K = grams.weighted_gram([kernel], [1.0], X, Z)
        truth = expected if Z is None else expected[:, 10:40]
        np.testing.assert_allclose(K, truth.astype(float), rtol=rounding, atol=rounding)
    products = grams.gram_times([kernel], [1.0], X, X, np.eye(M))
    np.testing.assert_allclose(products, expected.astype(float), rtol=rounding, atol=rounding)


def test_several_kernels_share_bundles_and_linear_ones_keep_the_columns():
    X, weights = _table(1), [0.5, 2.0, 0.25, 1.0]
    wide, narrow = KERNELS["Gaussian"][0], al.Gaussian(gamma=1.0)
    kernels = [wide, narrow, KERNELS["Exponential"][0], al.Linear()]
    squares, dots, _ = oracle.pair_primitives(X, X)
    values = [np.exp(-0.2 * squares), np.exp(-squares), np.exp(-0.5 * np.sqrt(squares)), dots]
    expected = np.tensordot(np.asarray(weights, oracle.LD), np.stack(values), 1)
    bound = BoundPairs(kernels, weights, X, None, True)
    assert bound.program.features.size == 3 + len(LEVELS) + X.shape[1]
    K = grams.weighted_gram(kernels, weights, X)
    np.testing.assert_allclose(K, expected.astype(float), rtol=1e-13, atol=1e-13)
    y = np.random.default_rng(0).standard_normal(M)
    found = al.alignment_statistics(X, y, kernels)
    a, matrix, *_ = oracle.statistics(values, y)
    np.testing.assert_allclose(found.a, a.astype(float), rtol=1e-10)
    np.testing.assert_allclose(found.M, matrix.astype(float), rtol=1e-10)


@given(st.integers(0, 2**32 - 1))
def test_any_columns_of_two_values(seed):
    """Also constant ones, ones that exclude no other, and equal ones."""
    rng = np.random.default_rng(seed)
    m, d = rng.integers(8, 40), rng.integers(16, 40)
    share = rng.choice([0.0, 0.02, 0.1, 0.5, 1.0], d)
    values = rng.standard_normal((2, d)) * rng.choice([1e-3, 1.0, 1e3])
    X = np.where(rng.random((m, d)) < share, *values)
    X[:, 1] = X[:, 0]
    if rng.random() < 0.5:
        X[:, -1] = rng.standard_normal(m)
    Z = np.where(rng.random((m, d)) < 0.1, *values) if rng.random() < 0.5 else None
    distances = oracle.pair_primitives(X, X if Z is None else Z)[0]
    gamma = 1.0 / max(float(distances.max()), 1e-300)
    K = grams.weighted_gram([al.Gaussian(gamma=gamma)], [1.0], X, Z)
    np.testing.assert_allclose(K, np.exp(-gamma * distances).astype(float), rtol=1e-13)


def test_equal_samples_are_0_apart_and_others_are_not():
    """Levels of equal height stay distinct, also in float32."""
    for dtype in (np.float64, np.float32):
        X = np.repeat(_one_hot(np.arange(40), 40).astype(dtype), 2, axis=0)
        assert _width(X) == 1
        K = grams.weighted_gram([al.Gaussian(gamma=0.3)], [1.0], X)
        same = np.arange(80)[:, None] // 2 == np.arange(80) // 2
        np.testing.assert_array_equal(K[same], 1.0)
        np.testing.assert_allclose(K[~same], np.exp(-0.6), rtol=40 * np.finfo(dtype).eps)


def test_where_nothing_is_saved_columns_stay():
    rng = np.random.default_rng(0)
    numbers, few = rng.standard_normal((M, 40)), _table()[:7]
    wide = np.where(rng.random((M, 40)) < 0.5, 1.0, 0.0)  # of which no two exclude each other
    huge = _table()
    huge[:, 3:] *= 1e160  # squares are infinite
    for X in (numbers, few, wide, huge):
        assert _width(X) == X.shape[1]


def test_rows_that_have_two_levels_are_no_levels():
    """New samples count, too: they may violate the exclusion that holds on the training samples."""
    X = _table(levels=(30,))
    Z = X[:20].copy()
    Z[0, 3:] = X[:, 3:].max(axis=0)  # all levels at once
    assert _width(X) == _width(X, X[:8]) == 4
    assert _width(X, Z) == _width(X, X[:7]) == X.shape[1]  # too few samples to bundle
    expected = np.exp(-0.2 * oracle.pair_primitives(X, Z)[0]).astype(float)
    K = grams.weighted_gram([al.Gaussian(gamma=0.2)], [1.0], X, Z)
    np.testing.assert_allclose(K, expected, rtol=1e-13)


def test_samples_given_as_both_sides_have_the_bundles_of_a_copy():
    X, kernel = _table(), KERNELS["Gaussian"][0]
    program = program_of([kernel], X, X)
    _, sides = bundled(program, X, X[:])
    _, others = bundled(program, X, X.copy())
    assert len(sides) == 2
    for V, W in zip(sides, others, strict=True):
        np.testing.assert_array_equal(V, W)
