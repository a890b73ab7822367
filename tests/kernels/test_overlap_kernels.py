"""Tanimoto and min-max kernels against their formulas; samples of 0 and 1 as bits."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from cases import each
from numpy.testing import assert_allclose, assert_array_equal
from refusals import raises
from scipy import sparse
from scipy.spatial.distance import cdist
from usage import peak_of

import alignlearn as al
from alignlearn.engine import bits, grams
from alignlearn.engine import opcodes as ops
from alignlearn.engine.binding import BoundPairs
from alignlearn.engine.program import program_of
from alignlearn.kernels import Columns, Gaussian, Laplacian, MinMax, Tanimoto

LD = np.longdouble


def naive(N, n, other):
    """N / (n + n' - N) in long double, 1 where that is 0 / 0."""
    whole = n[:, None] + other - N
    return np.where(whole > 0, N / np.where(whole > 0, whole, 1), 1)


def tanimoto(X, Z):
    X, Z = X.astype(LD), Z.astype(LD)
    return naive(X @ Z.T, (X * X).sum(1), (Z * Z).sum(1))


def minmax(X, Z):
    X, Z = X.astype(LD), Z.astype(LD)
    return naive(np.minimum(X[:, None], Z).sum(-1), X.sum(1), Z.sum(1))


def fingerprints(m, d, seed=0, share=0.2):
    """Rows of 0 and 1, the third of them 0."""
    X = (np.random.default_rng(seed).random((m, d)) < share).astype(float)
    X[2] = 0.0
    return X


def counts(m, d, seed=0):
    X = np.random.default_rng(seed).poisson(1.0, (m, d)).astype(float)
    X[2] = 0.0
    return X


def amounts(m, d, seed=0):
    X = counts(m, d, seed) * np.random.default_rng(seed + 1).uniform(0.5, 2.0, (m, d))
    X[1] = X[0]
    return X


KINDS = {"bits": fingerprints, "counts": counts, "amounts": amounts}


@each("kind", KINDS)
@each(("kernel", "oracle"), [(Tanimoto(), tanimoto), (MinMax(), minmax)])
@each("dtype", [np.float64, np.float32])
def test_values_are_those_of_the_formula(kernel, oracle, kind, dtype):
    X, Z = (KINDS[kind](m, 120, seed).astype(dtype) for m, seed in ((19, 0), (11, 5)))
    relative = 1e-14 if dtype == np.float64 else 1e-5
    for A, B, K in ((X, Z, kernel(X, Z)), (X, X, kernel(X))):
        assert K.dtype == dtype
        assert_allclose(K, oracle(A, B).astype(float), rtol=relative, atol=0)
    S, T = sparse.csr_array(X), sparse.csc_array(Z)
    assert_allclose(kernel(S, T), oracle(X, Z).astype(float), rtol=relative, atol=0)
    assert_allclose(kernel(S, Z), oracle(X, Z).astype(float), rtol=relative, atol=0)
    assert_allclose(kernel.diag(X), 1.0, rtol=relative)
    assert_allclose(kernel.diag(S), 1.0, rtol=relative)
    assert kernel(X).max() <= 1.0


def test_signed_samples_and_known_values():
    X = np.random.default_rng(0).normal(size=(9, 4))
    assert_allclose(Tanimoto()(X), tanimoto(X, X).astype(float), rtol=1e-13)
    assert Tanimoto()([[1.0]], [[-1.0]])[0, 0] == -1 / 3  # its minimum
    assert not Tanimoto().is_non_negative
    zero, B = np.zeros((2, 3)), fingerprints(12, 30)
    with np.errstate(invalid="ignore"):
        expected = 1.0 - cdist(B > 0, B > 0, "jaccard")
    for kernel in (Tanimoto(), MinMax()):
        assert_array_equal(kernel(zero, np.eye(3)[:2]), 0.0)
        assert_array_equal(kernel(zero), 1.0)
        assert_array_equal(kernel(sparse.csr_array(zero)), 1.0)
        assert_allclose(kernel(B), expected, rtol=1e-14)


def bound(kernels, X, Z=None, exact=True):
    """The kinds of primitives of a program, and the width of its bound data."""
    pairs = BoundPairs(kernels, [1.0] * len(kernels), X, Z, exact)
    return set(pairs.program.primitives[:, 0].tolist()), pairs.data().VX.shape[1]


def test_bits_take_the_place_of_zeros_and_ones_and_of_nothing_else():
    X, Z = fingerprints(20, 105), fingerprints(9, 105, 1)
    packed, unpacked = ({ops.COMMON_BITS}, 3), ({ops.INNER_PRODUCT}, 105)
    assert bound([Tanimoto()], X) == bound([Tanimoto()], X, Z) == packed
    assert bound([Tanimoto()], X.astype(np.float32)) == ({ops.COMMON_BITS}, 5)
    several = [Tanimoto(), MinMax(), Gaussian(0.1), Laplacian(0.1)]
    assert bound(several, X) == ({ops.COMMON_BITS, ops.DIFFERENT_BITS}, 3)
    late = X.copy()
    late[-1, -1] = 7.0
    for other in (2.0 * X, X - 1.0, np.where(X > 0, 0.5, 0.0), late):
        assert bound([Tanimoto()], other) == unpacked
    assert bound([Tanimoto()], X, late) == unpacked
    # Too small to be worth it, and kernels of the small interpreter.
    assert bound([Tanimoto()], X[:, :40]) == ({ops.INNER_PRODUCT}, 40)
    assert bound([Tanimoto()], X, Z[:3]) == unpacked
    assert ops.DIFFERENT_BITS not in bound([Gaussian(0.1)], X)[0]


MIXED = [
    Tanimoto(), Gaussian(0.02), Laplacian(0.03), 0.5 * Columns(Tanimoto(), range(65)),
    Columns(MinMax(), range(40, 110)) * Gaussian(0.01), al.Hamming(), al.Matern(gamma=0.1),
    Columns(Gaussian(0.1), [110]), al.Linear(),
]  # fmt: skip


def mixed_samples(m, seed, dtype=float):
    """110 columns of 0 and 1, and one of numbers."""
    numbers = np.random.default_rng(seed).normal(size=(m, 1))
    return np.hstack([fingerprints(m, 110, seed), numbers]).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_with_bits_are_those_without(dtype, monkeypatch):
    kernels = [Columns(k, range(110)) if type(k) is not Columns else k for k in MIXED]
    X, Z = mixed_samples(25, 0, dtype), mixed_samples(14, 1, dtype)
    y, weights, V = np.cos(np.arange(25.0)), np.arange(1.0, 10.0), np.eye(14)[:, :2]

    def everything():
        s = al.alignment_statistics(X, y, kernels, folds=np.arange(25) % 3)
        gram = grams.weighted_gram(kernels, weights, X, Z)
        times = grams.gram_times(kernels, weights, X, Z, V, exact=False)
        one = np.hstack([k(X) for k in kernels])
        return [gram, times, one, *(v for part in s for v in (part.a, part.M, part.trace))]

    program = program_of(kernels, X, X)
    assert bits.counted(program, X)[0] is not program
    found = everything()
    monkeypatch.setattr("alignlearn.engine.program._LEAST_ROWS", 100)
    assert bits.counted(program, X)[0] is program
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    for one, other in zip(found, everything()):
        assert_allclose(one, other, rtol=tolerance, atol=tolerance * np.abs(other).max())


def test_no_second_matrix_is_made():
    X = fingerprints(1500, 64)
    Tanimoto()(X[:100])
    out = np.empty((1500, 1500))
    peak = peak_of(lambda: grams.weighted_gram([Tanimoto()], [1.0], X, out=out))
    assert peak < out.nbytes / 4


@each("form", [np.asarray, sparse.csr_array])
def test_samples_outside_the_domain_are_refused(form):
    X = np.array([[1.0, 2.0], [0.0, -0.25]])
    raises(ValueError, r"minmax: samples must be nonnegative.*-0.25.*accepted", MinMax(), form(X))
    raises(ValueError, "minmax: samples must be nonnegative", MinMax(), form(np.abs(X)), form(X))
    fit = al.MKLRegressor(["minmax"]).fit
    raises(ValueError, "minmax: samples must be nonnegative", fit, form(X), [0.0, 1.0])
    for kernel, large, small in ((Tanimoto(), 1e160, 1e-170), (MinMax(), 1e308, 1e-315)):
        for size, problem in ((large, "overflows float64"), (small, "are too small for float64")):
            A = form(np.array([[size, size], [min(size, 1.0), 0.0]]))
            raises(ValueError, rf"samples.* {problem}; scale X", kernel, A)


def test_overflow_of_float32():
    X = np.full((2, 2), 1e25, np.float32)
    raises(ValueError, r"overflows float32|too small for float32", Tanimoto(), X)


# --- bytes of packed bits ---------------------------------------------------------------------

BITS = (np.random.default_rng(0).random((30, 64)) < 0.3).astype(np.uint8)
PACKED = np.packbits(BITS, axis=1)
LABELS = np.arange(30) % 2
TWO = {"a": PACKED, "b": np.random.default_rng(1).normal(size=(30, 2))}
GAPS = {**TWO, "b": np.where(np.arange(30)[:, None] < 3, np.nan, TWO["b"])}
TABLE_KERNELS = {"a": "tanimoto", "b": "rbf"}
ON_BYTES = {
    "a matrix": lambda: Tanimoto()(PACKED),
    "new samples": lambda: Tanimoto()(PACKED[:3].astype(float), PACKED),
    "two samples": lambda: Tanimoto()(PACKED[0], PACKED[1]),
    "a diagonal": lambda: Tanimoto().diag(PACKED),
    "a list": lambda: Tanimoto()(list(PACKED)),
    "sparse": lambda: Tanimoto()(sparse.csr_array(PACKED)),
    "a product": lambda: (Tanimoto().normalized() * Gaussian(0.1))(PACKED),
    "a frame": lambda: Columns("tanimoto", 0)(pd.DataFrame(PACKED).assign(z=0.5)),
    "polars": lambda: Tanimoto()(pl.DataFrame(PACKED)),
    "fit": lambda: al.MKLClassifier(["tanimoto", "rbf"]).fit(PACKED, LABELS),
    "predict": lambda: (
        al.MKLRegressor(["tanimoto"]).fit(PACKED.astype(float), LABELS).predict(PACKED)
    ),
    "tables": lambda: al.MKLClassifier(TABLE_KERNELS).fit(TWO, LABELS),
    "missing tables": lambda: al.MKLClassifier(TABLE_KERNELS, missing="tables").fit(GAPS, LABELS),
    "a test": lambda: al.hsic_test(PACKED, TWO["b"], kernels=("tanimoto", "rbf")),
    "views": lambda: al.KernelCCA(kernels="tanimoto").fit([PACKED, PACKED]),
}


@each("what", ON_BYTES)
def test_packed_bits_are_refused(what):
    raises(ValueError, r"holds bytes \(uint8\) up to \d+ .*np\.unpackbits\(", ON_BYTES[what])


def test_bits_as_bytes_and_counts_of_other_types_are_accepted():
    expected = tanimoto(BITS, BITS)
    for bits_ in (BITS, BITS.astype(bool), np.unpackbits(PACKED, axis=1), pd.DataFrame(BITS)):
        assert_allclose(Tanimoto()(bits_), expected.astype(float), rtol=1e-12)
    for kind in (np.uint16, np.int8, np.int64, np.float32):
        low = PACKED % 8
        assert_allclose(Tanimoto()(low.astype(kind)), tanimoto(low, low), rtol=1e-5)
    # Other kernels read bytes as numbers, also beside columns that are read as sets.
    mixed = np.hstack([BITS[:, :5], PACKED])
    kernel = Columns(Tanimoto(), range(5)) + Columns(Gaussian(1e-4), range(5, 13))
    sets, rest = tanimoto(BITS[:, :5], BITS[:, :5]), Gaussian(1e-4)(PACKED.astype(float))
    assert_allclose(kernel(mixed), (sets + rest).astype(float), rtol=1e-12)
    MinMax()(PACKED)


def test_strings_of_bits_are_columns():
    X = np.random.default_rng(0).integers(0, 2, (30, 70))
    y, texts = X[:, 0] + 0.1 * X[:, 1], ["".join(map(str, row)) for row in X]
    model = al.MKLRegressor([al.Tanimoto()])
    expected = model.fit(X[:20].astype(float), y[:20]).predict(X[20:].astype(float))
    for given in (texts, np.array(texts), tuple(texts)):
        found = model.fit(given[:20], y[:20]).predict(given[20:])
        np.testing.assert_array_equal(found, expected)
    kinds = ValueError, TypeError
    raises(ValueError, "strings of 69 to 70 bits", al.Tanimoto(), [texts[0], texts[1][1:]])
    raises(kinds, None, al.Tanimoto(), ["01", "0a"])
    raises(kinds, None, al.Gaussian(0.5), texts)


@each("d", [64, 61])
def test_packed_bits_are_an_argument(d):
    bits = BITS[:, :d]
    packed, kernel = np.packbits(bits, axis=1), Tanimoto(packed=True)
    expected = tanimoto(bits, bits).astype(float)
    assert_allclose(kernel(list(packed)), expected, rtol=1e-12)
    assert_allclose(kernel(packed[:4], packed), expected[:4], rtol=1e-12)
    assert_allclose((0.5 * kernel + kernel)(packed), 1.5 * expected, rtol=1e-12)
    assert_allclose(kernel.diag(packed), 1.0)
    y = bits[:, 0] ^ bits[:, 1]
    model = al.MKLClassifier([kernel, Gaussian(0.1)]).fit(packed[:20], y[:20])
    assert model.n_features_in_ == 64
    straight = al.MKLClassifier([Tanimoto(), Gaussian(0.1)]).fit(bits[:20].astype(float), y[:20])
    found = model.decision_function(packed[20:])
    assert_allclose(found, straight.decision_function(bits[20:].astype(float)), atol=1e-9)
    again = pickle.loads(pickle.dumps(model))
    assert_allclose(again.decision_function(packed[20:]), found)


def test_what_packed_does_not_go_with():
    kernel, frame = Tanimoto(packed=True), pd.DataFrame(PACKED)
    fit = al.MKLClassifier([kernel]).fit
    raises(TypeError, r"data frame.*X.to_numpy\(\)", fit, frame, LABELS)
    raises(ValueError, "cannot be used on columns or tables", Columns(kernel, [0, 1]), PACKED)
    fit = al.MKLClassifier({"a": kernel, "b": "rbf"}).fit
    raises(ValueError, r"accepted: np.unpackbits\(table 'a', axis=1\)", fit, TWO, LABELS)
    raises((TypeError, ValueError), "packed", Tanimoto, packed="yes")
