"""Primitives of sparse samples against extended precision; digits, threads and memory."""

import numpy as np
import oracle
from cases import each
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from strategies import generators
from usage import peak_of

import alignlearn as al
from alignlearn.engine import external
from alignlearn.engine import opcodes as ops
from alignlearn.engine.sparse import SparsePrimitive, squared_norms
from alignlearn.validation import check_sparse

EPS = np.finfo(float).eps
KINDS = {
    "squared": ops.SQUARED_DISTANCE,
    "distance": ops.DISTANCE,
    "L1": ops.L1_DISTANCE,
    "inner": ops.INNER_PRODUCT,
    "matches": ops.MATCHES,
    "minima": ops.MINIMA,
}


def thin(rng, m, d, density=0.3):
    return rng.normal(size=(m, d)) * (rng.random((m, d)) < density)


def rows(A):
    return check_sparse("X", sparse.csr_array(A))


def exact(kind, A, B):
    """A primitive of all pairs, in long double."""
    squared, inner, l1 = oracle.pair_primitives(A, B)
    matches = (A[:, None] == B[None]).sum(-1)
    found = {"squared": squared, "distance": np.sqrt(squared), "L1": l1, "inner": inner}
    found["minima"] = np.minimum(A[:, None], B[None]).sum(-1, dtype=oracle.LD)
    return found.get(kind, matches)


def filled(kind, X, Z):
    out = np.full((len(X), len(Z)), np.nan)
    SparsePrimitive(KINDS[kind]).fill(X, Z, out)
    return out


@given(generators(), st.sampled_from(list(KINDS)), st.sampled_from([np.float64, np.float32]))
def test_primitives_of_two_sets_of_samples(rng, kind, dtype):
    d = int(rng.integers(1, 12))
    A, B = (thin(rng, rng.integers(1, 9), d).astype(dtype) for _ in range(2))
    if rng.random() < 0.5:
        B[0] = A[-1]
    A[0, rng.integers(d)] = B[-1, rng.integers(d)] = 0.5
    if kind == "minima":  # real-valued
        A, B = np.abs(A), np.abs(B)
    expected = exact(kind, A, B)
    # At least 1/32 of the sizes of the samples remains of a distance, or it is exact.
    rounding = (32 + d) * EPS
    if kind == "inner":
        size = np.abs(A).astype(float) @ np.abs(B).astype(float).T
        assert np.all(np.abs(filled(kind, rows(A), rows(B)) - expected) <= d * EPS * size)
    else:
        assert_allclose(filled(kind, rows(A), rows(B)), expected, rtol=rounding, atol=0)


@each("kind", KINDS)
def test_own_values_are_the_diagonal(kind):
    A = np.abs(thin(np.random.default_rng(0), 7, 9))
    own = SparsePrimitive(KINDS[kind]).own_values(rows(A))
    assert_allclose(own, np.diagonal(exact(kind, A, A)).astype(float), rtol=1e-15)
    assert_allclose(squared_norms(rows(A)), squared_norms(A), rtol=1e-15)


@each("kind", ["squared", "distance", "L1"])
@each("gap", [1e-3, 1e-6, 1e-9])
def test_close_samples_keep_their_digits(kind, gap):
    rng = np.random.default_rng(1)
    A = thin(rng, 20, 50)
    B = np.where(A != 0, A * (1.0 + gap * rng.normal(size=A.shape)), 0.0)
    found, expected = filled(kind, rows(A), rows(B)), exact(kind, A, B)
    assert_allclose(found, expected, rtol=64 * EPS, atol=0)
    # The formula without the merge does not have these digits.
    plain = (A**2).sum(1)[:, None] + (B**2).sum(1) - 2.0 * A @ B.T
    wrong = np.abs(np.diagonal(plain - exact("squared", A, B)) / np.diagonal(expected))
    assert wrong.max() > 64 * EPS
    np.testing.assert_array_equal(np.diagonal(filled(kind, rows(A), rows(A))), 0.0)


def test_values_that_overflow_are_those_of_dense_samples():
    A = np.array([[1e200, 0.0, 1.0], [0.0, 1e200, 1.0], [1e200, 0.0, 1.0], [0.0, 0.0, 0.0]])
    with np.errstate(over="ignore"):
        expected = ((A[:, None] - A[None]) ** 2).sum(-1)
    np.testing.assert_array_equal(filled("squared", rows(A), rows(A)), expected)
    np.testing.assert_array_equal(al.Gaussian(1.0)(sparse.csr_array(A)), al.Gaussian(1.0)(A))


@settings(max_examples=10)
@given(generators(), st.sampled_from([2**31, 10**12]))
def test_columns_without_entries_cost_nothing(rng, width):
    A = thin(rng, 8, 6)
    columns = np.sort(rng.choice(2**31 - 2, size=6, replace=False))
    columns[-1] = width - 1
    i, j = np.nonzero(A)
    wide = sparse.coo_array((A[i, j], (i, columns[j])), shape=(8, width))
    y = rng.normal(size=8)
    kernels = [al.Gaussian(0.3), al.Laplacian(0.2), al.Polynomial(0.1)]
    found, expected = (al.alignment_statistics(X, y, kernels) for X in (wide, A))
    assert_allclose(found.M, expected.M, rtol=1e-10, atol=1e-12)
    assert_allclose(kernels[0](wide, wide.tocsr()[:3]), kernels[0](A, A[:3]), rtol=1e-13)
    on_last = al.Columns(al.Gaussian(1.0), [width - 1, int(columns[2])])
    assert_allclose(on_last(wide), al.Gaussian(1.0)(A[:, [5, 2]]), rtol=1e-13)


def test_blocks_and_boxes_of_pairs(monkeypatch):
    rng = np.random.default_rng(0)
    A, y = thin(rng, 300, 40), rng.normal(size=300)
    X = sparse.csr_array(A)
    kernels = [al.Gaussian(0.05), al.Laplacian(0.1), "linear", "hamming", "cosine"]
    expected = al.alignment_statistics(A, y, kernels)
    for limit in (1, 8 * 130**2, 8 * 3 * 260**2, 10**8):
        monkeypatch.setattr(external, "_BYTES", limit)
        found = al.alignment_statistics(X, y, kernels)
        assert_allclose(found.M, expected.M, rtol=1e-10)
        assert_allclose(found.a, expected.a, rtol=1e-9, atol=1e-9 * abs(expected.a).max())
        K = kernels[0](X)
        assert_allclose(K, kernels[0](A), rtol=1e-13)
        np.testing.assert_array_equal(K, K.T)
        assert_allclose(kernels[0](X[:7], X), K[:7], rtol=1e-15)
        assert_allclose(kernels[0](X, X[:7]), K[:, :7], rtol=1e-15)


def test_memory_of_text_is_that_of_its_entries():
    m, d = 500, 60_000
    rng = np.random.default_rng(0)
    X = sparse.random_array((m, d), density=60 / d, format="csr", rng=rng)
    y = X[:, [0]].toarray()[:, 0] + rng.normal(size=m)
    kernels = ["rbf", al.Gaussian("median"), "cosine", al.Columns("laplacian", range(d // 2))]
    al.alignment_statistics(X[:50], y[:50], kernels)
    # Blocks of values, 64 MB; X has 0.4 MB, and would have 240 MB as an array.
    assert peak_of(lambda: al.alignment_statistics(X, y, kernels)) < 100e6
    model = al.MKLRegressor(kernels, alpha=1.0).fit(X[:250], y[:250])
    assert peak_of(lambda: model.predict(X)) < 100e6
    # The Gram matrix twice, blocks of values, X by columns.
    assert peak_of(lambda: al.MKLRegressor(kernels).fit(X, y)) < 100e6


def test_columns_with_a_large_mean_keep_their_digits():
    rng = np.random.default_rng(0)
    A, y = thin(rng, 60, 12), rng.normal(size=60)
    A[:, :3] += 4.0  # without zeros
    far = A.copy()
    far[:, :3] += 2.0**26  # whose entries are rounded to 2^-26
    A[:, :3] = far[:, :3] - 2.0**26
    kernels = ["linear", al.Gaussian(0.1), al.Laplacian(0.1)]
    near = al.alignment_statistics(sparse.csr_array(A), y, kernels)
    shifted = al.alignment_statistics(sparse.csr_array(far), y, kernels)
    assert_allclose(shifted.M, near.M, rtol=1e-12)
    assert_allclose(shifted.a, near.a, rtol=1e-10)
