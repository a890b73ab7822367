"""Products of many kernels on tiles of any width, and statistics of hundreds of kernels."""

import numba
import numpy as np
import oracle
import pytest
from cases import each
from usage import threads

import alignlearn as al
from alignlearn.engine import binding, external, loops
from alignlearn.engine.loops import _by_fives, _by_pairs, add_products
from alignlearn.engine.program import padded
from alignlearn.sources import alignment_statistics

DTYPES = ["float32", "float64"]


def tile(p, n, dtype, seed=0):
    """Registers of p values and a target, as the loops have them; the last one is scratch."""
    rng = np.random.default_rng(seed)
    W = np.zeros((padded(p) + 2, n + 3), dtype)
    W[:p, :n] = rng.normal(size=(p, n))
    W[padded(p), :n] = rng.normal(size=n)
    W[:, n:] = np.nan  # beyond the tile; never read
    return W


def products(W, p, n, S=None, a=None, add=add_products):
    size = padded(p)
    S, a = np.zeros((size, size)) if S is None else S, np.zeros(size) if a is None else a
    add(W, size, n, W.dtype.type(0), S, a)
    return np.triu(S[:p, :p]), a[:p]


# A processor runs one of the two; both give the products everywhere.
BLOCKS = pytest.mark.parametrize("add", [_by_fives, _by_pairs])


@BLOCKS
@each("dtype", DTYPES)
@each("n", [1, 7, 40, 256, 515])
@each("p", [1, 4, 5, 6, 64, 200])
def test_products_are_those_of_numpy(p, n, dtype, add):
    W = tile(p, n, dtype)
    S, a = products(W, p, n, add=add)
    V, t = W[:p, :n].astype(np.float64), W[padded(p), :n].astype(np.float64)
    size = np.abs(V) @ np.abs(V.T), np.abs(V) @ np.abs(t)
    bound = (n + 1) * np.finfo(dtype).eps
    assert np.all(np.abs(S - np.triu(V @ V.T)) <= bound * size[0])
    assert np.all(np.abs(a - V @ t) <= bound * size[1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_totals_over_tiles_are_float64(dtype):
    p, n = 6, 16
    W = np.zeros((padded(p) + 2, n), dtype)
    W[:p], W[padded(p)] = 2.0**14, 2.0**14
    S, a = np.zeros((10, 10)), np.zeros(10)
    products(W, p, n, S, a)
    W[:p], W[padded(p)] = 1.0, 1.0
    for _ in range(3):
        once = products(W, p, n, S, a)
    total = 16 * 2.0**28 + 48  # float32 has steps of 512 there
    np.testing.assert_array_equal(once[0], np.triu(np.full((p, p), total)))
    np.testing.assert_array_equal(once[1], np.full(p, total))


@BLOCKS
@each("dtype", DTYPES)
@each("value", [np.nan, np.inf])
@each("k", [0, 4, 6])
def test_products_show_nan_and_infinity_of_their_kernel_alone(k, value, dtype, add):
    p, n = 7, 40
    W = np.abs(tile(p, n, dtype))
    W[k, 33] = value
    S, a = products(W, p, n, add=add)
    its = np.zeros((p, p), bool)
    its[k], its[:, k] = True, True
    its = np.triu(its)
    np.testing.assert_array_equal(S[its], np.full(its.sum(), value))
    assert np.isfinite(S[~its]).all()
    np.testing.assert_array_equal(a[k], value)
    assert np.isfinite(np.delete(a, k)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_are_repeated_to_the_last_bit_wherever_the_tile_lies(dtype):
    p, n = 64, 67
    W = tile(p, n, dtype)
    first = products(W, p, n)
    memory = np.empty(W.size + 5, dtype)
    for shift in range(5):
        moved = memory[shift : shift + W.size].reshape(W.shape)
        moved[:] = W
        for found, wanted in zip(products(moved, p, n), first):
            np.testing.assert_array_equal(found, wanted)


@each("itemsize", [4, 8])
@each("n_rows", [3, 13, 66, 205, 605, 5005])
def test_tiles_are_wide_enough_for_the_products_and_within_a_block(n_rows, itemsize):
    class Program:
        pass

    Program.n_rows = n_rows
    for side in (1, 7, 130, 256, 8192):
        block, rows = binding.tile_shape(Program, itemsize, side)
        assert rows >= 1
        assert 8 <= block <= external.BLOCK
        if side >= 256:
            assert block * rows * itemsize >= 2048


def problem(m, p, dtype):
    rng = np.random.default_rng(m)
    X = rng.normal(size=(m, 5)).astype(dtype)
    return X, X[:, 0] + rng.normal(size=m), np.geomspace(0.01, 1.0, p)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("m", "p"), [(2, 200), (24, 200), (260, 6)])
def test_statistics_of_many_kernels_are_those_of_the_definition(m, p, dtype):
    X, y, gammas = problem(m, p, dtype)
    found = alignment_statistics(X, y, al.gaussian_kernels(gammas))
    squared = oracle.pair_primitives(X, X)[0]
    a, M, trace, size = oracle.statistics([np.exp(-g * squared) for g in gammas], y)
    norm = np.sqrt(np.diagonal(M))
    # Centering cancels digits of the sums over pairs: 56 units were seen, of 1000 allowed.
    rounding = 1e3 * np.finfo(dtype).eps
    assert np.all(np.abs(found.M - M) <= rounding * np.outer(norm, norm))
    assert np.all(np.abs(found.a - a) <= rounding * norm * size)
    assert np.all(np.abs(found.trace - trace) <= rounding * np.abs(trace))


@pytest.mark.parametrize("dtype", DTYPES)
def test_statistics_of_many_kernels_are_repeated_to_the_last_bit(dtype):
    X, y, gammas = problem(300, 200, dtype)
    kernels, found = al.gaussian_kernels(gammas), []
    for count in (1, numba.config.NUMBA_NUM_THREADS, 1):
        with threads(count):
            found.append(alignment_statistics(X, y, kernels))
    for again in found[1:]:
        for name in ("a", "M", "trace"):
            np.testing.assert_array_equal(getattr(again, name), getattr(found[0], name))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("nc", [1, 9, 32, 120])
def test_sums_by_row_and_column_of_ragged_tiles(nc, dtype):
    nr, p = 11, 3
    W = tile(p, nr * nc, dtype)
    rows, columns = np.zeros((p, nr + 2)), np.zeros((p, nc + 1), dtype)
    loops._add_sums(W, p, 1, nr, nc, W.dtype.type(0), rows, columns)
    values = W[:p, : nr * nc].astype(np.float64).reshape(p, nr, nc)
    bound = (nr + nc) * np.finfo(dtype).eps
    assert np.all(np.abs(rows[:, 1:-1] - values.sum(2)) <= bound * np.abs(values).sum(2))
    assert np.all(np.abs(columns[:, :-1] - values.sum(1)) <= bound * np.abs(values).sum(1))
    assert not rows[:, [0, -1]].any()
    assert not columns[:, -1].any()
