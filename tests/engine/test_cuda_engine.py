"""Gram matrices, products and hyper-kernels on a CUDA device, against extended precision.

Bounds are in units of rounding of the samples' type, relative to the sizes of the terms: 32 for a
kernel value, 40 for a product, whose sums are in float64 except four values.
"""

from functools import partial

import numpy as np
import pytest
from cuda_cases import SIMULATED, needs_cuda
from numpy.testing import assert_array_equal
from oracle import LD, pair_primitives
from refusals import raises
from scipy.sparse import csr_array

from alignlearn.engine import engines, grams, hyper_values
from alignlearn.engine.binding import BoundPairs
from alignlearn.engine.cpu import CPU
from alignlearn.engine.cuda import Cuda, memory
from alignlearn.engine.cuda.device import CudaOutOfMemory
from alignlearn.engine.hyper_values import DETERMINANT, PRODUCT, Form, Pairs
from alignlearn.engine.pair_sums import centered_sums
from alignlearn.kernels import (
    Columns,
    FromFunction,
    Gaussian,
    Laplacian,
    Matern,
    MinMax,
    Polynomial,
    Tanimoto,
)
from alignlearn.validation import check_sparse

pytestmark = needs_cuda

DTYPES = [np.float64, np.float32]
# More than one tile of pairs in each direction, and parts of tiles.
N, M = (18, 21) if SIMULATED else (301, 517)
PLAIN = [Gaussian(0.3), Polynomial(0.2, degree=2), Columns(Laplacian(0.4), [1, 2])]
WEIGHTS = [0.7, 0.1, 1.3]


def factor(A):
    """A positive factor."""
    return 1.0 + np.abs(A[:, 0])


def least(A, B):
    """A kernel that has no formula on the device."""
    return np.minimum.outer(np.abs(A[:, 0]), np.abs(B[:, 0]))


OUTSIDE = [
    FromFunction(least, vectorized=True),
    Gaussian(0.5).weighted(factor),
    Matern(nu=1.5, gamma=0.3),
]


def plain(X, Z):
    """The weighted sum of PLAIN, and that of the sizes of its terms, in extended precision."""
    square, inner, _ = pair_primitives(X, Z)
    city = pair_primitives(X[:, 1:3], Z[:, 1:3])[2]
    size = pair_primitives(np.abs(X), np.abs(Z))[1]
    first, last = LD(0.7) * np.exp(-LD(0.3) * square), LD(1.3) * np.exp(-LD(0.4) * city)
    found, sizes = (LD(0.1) * (LD(0.2) * t + 1) ** 2 for t in (inner, size))
    return first + found + last, first + sizes + last


def outside(X, Z):
    """The same of OUTSIDE."""
    square = pair_primitives(X, Z)[0]
    u = LD(0.3) * np.sqrt(LD(3) * square)
    factors = factor(X).astype(LD)[:, None] * factor(Z).astype(LD)
    first, last = LD(0.7) * least(X, Z), LD(1.3) * (1 + u) * np.exp(-u)
    total = first + LD(0.1) * factors * np.exp(-LD(0.5) * square) + last
    return total, total


def one(X, Z):
    """A single Gaussian."""
    K = 2 * np.exp(-LD(0.2) * pair_primitives(X, Z)[0])
    return K, K


def of_bits(X, Z):
    """Of the kernels on samples of 0 and 1."""
    both, size = X.astype(LD) @ Z.T.astype(LD), X.sum(1)[:, None] + Z.sum(1)
    K = both / (size - both) * (2 + np.exp(-LD(0.1) * (size - 2 * both)))
    return K, K


CASES = {
    "formulas": (PLAIN, WEIGHTS, plain),
    "outside and factors": (OUTSIDE, WEIGHTS, outside),
    "one kernel": ([Gaussian(0.2)], [2.0], one),
    "bits": ([MinMax(), Tanimoto() * Laplacian(0.1)], [2.0, 1.0], of_bits),
}


def samples(dtype, n=N, m=M, d=4):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)).astype(dtype), rng.standard_normal((m, d)).astype(dtype), rng


def close(found, expected, size, dtype, units):
    return np.all(np.abs(found - expected) <= units * np.finfo(dtype).eps * size)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES)
def test_gram_matrices(case, dtype):
    kernels, weights, oracle = CASES[case]
    X, Z, rng = samples(dtype)
    if case == "bits":
        X, Z = ((rng.random((n, 70)) < 0.5).astype(dtype) for n in (N, M))
    found = grams.weighted_gram(kernels, weights, X, Z, engine=Cuda())
    assert found.dtype == dtype
    assert close(found, *oracle(X, Z), dtype, 32)
    own = grams.weighted_gram(kernels, weights, X, engine=Cuda())
    np.testing.assert_array_equal(own, own.T)


@pytest.mark.parametrize(
    ("case", "c", "dtype"),
    [
        ("formulas", 3, np.float32),
        ("outside and factors", 1, np.float32),
        ("outside and factors", 2, np.float64),
        ("one kernel", 7, np.float64),  # more than are summed at once
    ],
)
def test_products(case, c, dtype):
    kernels, weights, oracle = CASES[case]
    X, Z, rng = samples(dtype)
    V, shift, weight = rng.standard_normal((M, c)), rng.standard_normal(c), rng.uniform(0, 2, N)
    V[:, -1] *= 1e-60  # float32 does not have such numbers
    K, size = oracle(X, Z)
    products = grams.GramProducts(kernels, weights, X, Z, engine=Cuda())
    found = products.times(V)
    assert found.dtype == np.float64
    assert close(found, K @ V, size @ np.abs(V), dtype, 40)
    shift[-1] *= 1e-60
    found = products.normal_times(V, shift=shift, weight=weight)
    inner = weight[:, None] * (K @ V - shift)
    sizes = size.T @ (weight[:, None] * (size @ np.abs(V) + np.abs(shift)))
    assert close(found, K.T @ inner, sizes, dtype, 80)


@pytest.mark.parametrize("n_kernels", [30, 110])
def test_long_programs(n_kernels):
    """Threads take fewer pairs each, and weights are passed in an array."""
    kernels = [Gaussian(0.01 * 1.07**k) for k in range(n_kernels)]
    X, Z, rng = samples(np.float64, 5, 9, 2)
    weights, V = rng.uniform(size=n_kernels), rng.standard_normal(9)
    square = pair_primitives(X, Z)[0]
    K = sum(w * np.exp(-LD(k.gamma) * square) for w, k in zip(weights, kernels))
    products = grams.GramProducts(kernels, weights, X, Z, engine=Cuda())
    assert close(products.times(V), K @ V, K @ np.abs(V), np.float64, 40)


def test_many_features_are_not_staged_in_shared_memory():
    X, Z, _ = samples(np.float64, 3, 5, 160)
    found = grams.weighted_gram([Gaussian(0.002)], [2.0], X, Z, engine=Cuda())
    expected = 2 * np.exp(-LD(0.002) * pair_primitives(X, Z)[0])
    assert close(found, expected, expected, np.float64, 32)


def test_sparse_samples():
    X, Z, _ = samples(np.float64)
    X[np.abs(X) < 0.7] = Z[np.abs(Z) < 0.7] = 0.0
    A, B = check_sparse("X", csr_array(X)), check_sparse("Z", csr_array(Z))
    found = grams.weighted_gram(PLAIN, WEIGHTS, A, B, engine=Cuda())
    assert close(found, *plain(X, Z), np.float64, 64)


def pairs(rng, n, squares, n_rungs=1):
    first, second = rng.integers(0, len(squares), (2, n))
    return Pairs(first, second, rng.standard_normal((n_rungs, n)), squares[first, second])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("kind", "squarings"), [(PRODUCT, [0, 0, 2]), (DETERMINANT, [0])])
def test_hyper_kernels_are_those_of_the_cpu_in_float64(kind, squarings, dtype):
    rng = np.random.default_rng(1)
    X = 0.5 * rng.standard_normal((7, 3))
    squares = np.square(X[:, None] - X[None]).sum(axis=2).astype(dtype)
    sides = [pairs(rng, n, squares, len(squarings)) for n in (N, 4 * M)]
    table = np.exp(-squares) if kind == PRODUCT else squares
    form, coef = Form(kind, 2.5, np.array(squarings)), rng.standard_normal(4 * M)

    def values(sides):
        return hyper_values.pair_gram(form, table.astype(float), *map(double, sides), CPU)

    expected = values(sides)
    size = expected
    if kind == PRODUCT:
        size = values([side._replace(own=np.abs(side.own)) for side in sides])
    found = hyper_values.pair_gram(form, table, *sides, Cuda())
    assert close(found, expected, size, dtype, 64)
    found = hyper_values.pair_times(form, table, *sides, coef, Cuda())
    assert found.shape == (N,)
    assert close(found, expected @ coef, size @ np.abs(coef), dtype, 64)


def double(side):
    return side._replace(size=side.size.astype(float))


def operations(dtype):
    """Operation, data and boxes of each (``times`` is a part of ``normal_times``)."""
    X, Z, rng = samples(dtype)
    bound = BoundPairs([Gaussian(0.05), Laplacian(0.02)], [1.0, 0.5], X, Z, True)
    given = {"columns": rng.standard_normal((1, M)), "row_weight": rng.uniform(0, 1, N)}
    third = -(-N // 3)
    rows = [(i, min(i + third, N)) for i in range(0, N, third)]
    data = bound.data()
    yield "gram", data, rows
    yield "normal_times", data._replace(**given, shift=np.ones(1)), rows
    squares = np.square(X[:, None] - X[None]).sum(axis=2)
    sides = pairs(rng, N, squares), pairs(rng, M, squares)
    data = hyper_values.PairTimes(Form(PRODUCT), squares, *sides, rng.standard_normal(M))
    yield "pair_gram", data, rows
    yield "pair_times", data, rows
    yield "pair_sums", *statistics_work(X, rng)


def statistics_work(X, rng):
    """Data and boxes of alignment statistics, taken from a run of them."""
    seen = []

    class Recorder(Cuda):
        def run_boxes(self, operation, data, boxes, take, watch=None):
            seen.append(data)
            super().run_boxes(operation, data, boxes, take, watch)

    Y = rng.standard_normal((N, 1))
    centered_sums(X, Y - Y.mean(axis=0), [Gaussian(0.05), Laplacian(0.02)], engine=Recorder())
    half = N // 2
    return seen[0], [(0, half, 0, half), (0, half, half, N), (half, N, half, N)]


def results(engine, operation, data, boxes):
    """All arrays of all boxes."""
    found = []
    engine.run_boxes(operation, data, boxes, lambda k, result: found.append((k, result)))
    assert [k for k, _ in found] == list(range(len(boxes)))
    results = [r if isinstance(r, tuple) else (r,) for _, r in found]
    return [array for result in results for array in result]


def test_bits_do_not_depend_on_the_run_or_on_what_fits_the_device():
    for operation, data, boxes in operations(np.float32):
        with pytest.raises(CudaOutOfMemory) as caught:
            results(Cuda(0), operation, data, boxes)
        needed = caught.value.needed
        expected = results(Cuda(), operation, data, boxes)
        # Samples copied for each box, two boxes at a time or one (all are slow in the simulator).
        for fits in (2 * needed, needed) if operation == "gram" else (2 * needed,):
            engine = Cuda(fits)
            for found, same in zip(results(engine, operation, data, boxes), expected, strict=True):
                assert_array_equal(found, same, err_msg=operation)


def test_too_little_memory_says_what_would_fit():
    operation, data, boxes = next(operations(np.float64))
    with pytest.raises(CudaOutOfMemory) as caught:
        results(Cuda(0), operation, data, boxes)
    assert "not one pair would fit" in str(caught.value)
    needed, largest = caught.value.needed, max(stop - start for start, stop in boxes)
    with pytest.raises(CudaOutOfMemory, match=rf"{largest} rows and {M} columns needs") as caught:
        results(Cuda(needed - 1), operation, data, boxes)
    rows = largest - 1
    assert f"{rows} rows of it would fit" in str(caught.value)
    results(Cuda(needed - 1), operation, data, [(0, rows)])
    smaller = r"; \d+ rows (and \d+ columns|of it) would fit"
    raises(CudaOutOfMemory, smaller, results, Cuda(0.2 * needed), operation, data, boxes)


def test_auto_runs_on_the_cpu_what_does_not_fit(monkeypatch):
    for name, fake in (("pays", lambda n: True), ("available", lambda: True)):
        monkeypatch.setattr(engines, name, fake)
    _, data, boxes = list(operations(np.float64))[1]
    expected = results(CPU, "times", data, boxes)
    monkeypatch.setattr(engines, "_cuda", lambda: Cuda(0))
    for found, same in zip(results(engines.AUTO, "times", data, boxes), expected, strict=True):
        assert_array_equal(found, same)


def test_memory_that_others_took_meanwhile():
    """The driver rejects an allocation that fitted when the work began."""
    from numba.cuda.cudadrv.driver import CudaAPIError

    operation, data, boxes = next(operations(np.float64))
    refused = CudaAPIError(2, "CUDA_ERROR_OUT_OF_MEMORY")
    refused.code = 2  # which the simulator's class does not store

    def take(k, result):
        raise refused

    raises(CudaOutOfMemory, "MB of device memory", Cuda().run_boxes, operation, data, boxes, take)
    refused.code = 700  # an illegal address does not mean too little memory
    with pytest.raises(CudaAPIError):
        Cuda().run_boxes(operation, data, boxes, take)


def test_arrays_on_the_device_are_used_where_they_lie():
    from numba import cuda

    operation, data, boxes = next(operations(np.float64))
    expected = results(Cuda(), operation, data, boxes)
    there = data._replace(VX=cuda.to_device(data.VX), VZ=cuda.to_device(data.VZ))
    if not SIMULATED:  # which has no arrays of other libraries

        class Foreign:
            shape, dtype, __len__ = data.VX.shape, data.VX.dtype, lambda self: len(data.VX)
            owner, __cuda_array_interface__ = there.VX, there.VX.__cuda_array_interface__

        there = there._replace(VX=Foreign())
    for found, same in zip(results(Cuda(), operation, there, boxes), expected, strict=True):
        assert_array_equal(found, same)
    # They take no memory.
    with pytest.raises(CudaOutOfMemory) as caught:
        results(Cuda(0), operation, data, boxes)
    results(Cuda(caught.value.needed - data.VZ.nbytes), operation, there, boxes)


def counted(monkeypatch):
    """Names of functions that allocate or copy to the device, noted when they are called."""
    from numba import cuda

    called = []

    def noting(real, *args, **options):
        called.append(real.__name__)
        return real(*args, **options)

    for name in ("to_device", "device_array", "pinned_array"):
        monkeypatch.setattr(cuda, name, partial(noting, getattr(cuda, name)))
    return called


def test_a_repeated_product_allocates_nothing_and_sends_what_has_changed(monkeypatch):
    X, Z, rng = samples(np.float32)
    X, Z = (np.ascontiguousarray(A) for A in (X, Z))
    V, W = rng.standard_normal((2, M))
    expected = grams.gram_times([Gaussian(0.2)], [2.0], X, Z, W, engine=Cuda())
    called = counted(monkeypatch)
    products = grams.GramProducts([Gaussian(0.2)], [2.0], X, Z, engine=Cuda())
    products.times(V)
    assert called
    called.clear()
    assert_array_equal(products.times(W), expected)
    assert not called
    # Another engine object, such as `Auto` creates for every run, reuses the data.
    products._engine = Cuda()
    products.times(V)
    assert not called
    # Nothing is held for samples that no longer exist.
    assert memory._kept
    del products
    assert not memory._kept


def test_what_may_change_is_sent_again():
    operation, data, boxes = list(operations(np.float64))[3]
    assert operation == "pair_times"
    results(Cuda(), operation, data, boxes)
    assert memory._kept
    data.coef[...] = data.coef[::-1].copy()
    data.table[...] *= 0.5
    fresh = data._replace(table=data.table.copy(), coef=data.coef.copy())
    found = results(Cuda(), operation, data, boxes)
    memory._kept.clear()
    for a, b in zip(found, results(Cuda(), operation, fresh, boxes), strict=True):
        assert_array_equal(a, b)


def test_other_work_frees_what_was_kept():
    work = list(operations(np.float64))
    operation, data, boxes = work[1]
    results(Cuda(), operation, data, boxes)
    assert memory._kept
    kinds = [lying.kind for lying in memory._kept]
    results(Cuda(), operation, data._replace(columns=np.ones((2, M)), shift=np.ones(2)), boxes)
    assert kinds != [lying.kind for lying in memory._kept]
    results(Cuda(), *work[0])
    assert not memory._kept


@pytest.mark.parametrize(("weighted", "dtype"), [(False, np.float64), (True, np.float32)])
def test_centering(weighted, dtype):
    from numba import cuda

    from alignlearn.engine.cuda.centering import center_gram as on_device

    rng, m = np.random.default_rng(2), M // 2
    K, new = rng.standard_normal((m, m)).astype(dtype), rng.standard_normal((3, m)).astype(dtype)
    share = np.full(m, LD(1) / m)
    if weighted:
        share = rng.uniform(size=m).astype(LD)
        share /= share.sum()
    means = share @ K.astype(LD)
    given = {"share": share.astype(float)} if weighted else {}
    for A, extra in ((K, {}), (new, {"means": means.astype(float)})):
        found = on_device(cuda.to_device(A), **extra, **given).copy_to_host()
        assert found.dtype == dtype
        expected = A.astype(LD) - (A.astype(LD) @ share)[:, None] - means + means @ share
        assert close(found, expected, np.abs(A).max(), dtype, 8)
        assert_array_equal(on_device(cuda.to_device(A), **extra, **given).copy_to_host(), found)


def test_what_take_raises_ends_the_run():
    operation, data, boxes = next(operations(np.float64))

    def take(k, result):
        raise KeyboardInterrupt(k)

    raises(KeyboardInterrupt, "0", Cuda().run_boxes, operation, data, boxes, take)
    Cuda().run_boxes(operation, data, [], take)


def test_arrays_of_one_column_are_not_taken_for_strided():
    """Numba copies ranges of strided arrays by element: products were fifty times slower."""
    turned = np.zeros((1, 5)).T
    assert turned.flags.c_contiguous
    assert turned.strides != (8, 8)
    assert memory.plain(turned).strides == (8, 8)
    assert memory.plain(np.zeros((0, 3))).shape == (0, 3)
