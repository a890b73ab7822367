"""Products with Gram matrices that are not stored, against extended precision."""

import numba
import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from oracle import LD, pair_primitives
from refusals import raises
from scipy.sparse import csr_array
from strategies import generators
from usage import peak_of, threads

from alignlearn.engine import external, grams
from alignlearn.kernels import (
    Columns,
    FromFunction,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
)
from alignlearn.validation import check_sparse

KERNELS = [Gaussian(0.3), Polynomial(0.2, degree=2), Columns(Laplacian(0.4), [1, 2])]
WEIGHTS = np.array([0.7, 0.1, 1.3])


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def factor(A):
    """A positive factor."""
    return 1.0 + np.abs(A[:, 0])


def oracle(X, Z):
    """The weighted sum of KERNELS by their definitions, in extended precision."""
    square, inner, _ = pair_primitives(X, Z)
    city = pair_primitives(X[:, [1, 2]], Z[:, [1, 2]])[2]
    terms = np.exp(-LD(0.3) * square), (LD(0.2) * inner + 1) ** 2, np.exp(-LD(0.4) * city)
    return sum(LD(w) * term for w, term in zip(WEIGHTS, terms))


def data(rng, n, m, c, dtype=np.float64):
    X, Z = (rng.standard_normal((k, 4)).astype(dtype) for k in (n, m))
    return X, Z, rng.standard_normal((m, c))


@given(generators(), st.integers(1, 40), st.integers(1, 300), st.integers(1, 6))
def test_equals_the_definition(rng, n, m, c):
    X, Z, V = data(rng, n, m, c)
    K = oracle(X, Z)
    found = grams.gram_times(KERNELS, WEIGHTS, X, Z, V)
    assert found.shape == (n, c)
    assert np.all(np.abs(found - K @ V) <= 1e-14 * (np.abs(K) @ np.abs(V)) + 1e-300)
    products = grams.GramProducts(KERNELS, WEIGHTS, X, Z)
    shift, weight = rng.standard_normal(c), rng.uniform(0.0, 2.0, n)
    inner = weight[:, None] * (K @ V - shift)
    found = products.normal_times(V, shift=shift, weight=weight)
    size = np.abs(K).T @ (weight[:, None] * (np.abs(K) @ np.abs(V) + np.abs(shift)))
    assert np.all(np.abs(found - K.T @ inner) <= 1e-14 * size)


def test_several_blocks_of_rows_and_columns(rng):
    X, Z, V = data(rng, 700, 391, 5)
    K = grams.weighted_gram(KERNELS, WEIGHTS, X, Z)
    products = grams.GramProducts(KERNELS, WEIGHTS, X, Z)
    np.testing.assert_allclose(products.times(V), K @ V, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(products.normal_times(V), K.T @ (K @ V), rtol=1e-12, atol=1e-10)
    one = products.times(V[:, 2])
    assert one.shape == (700,)
    np.testing.assert_array_equal(one, products.times(V[:, [2]])[:, 0])
    assert products.normal_times(V[:, 2]).shape == (391,)


def test_rows_of_the_matrix(rng):
    X, Z, _ = data(rng, 30, 20, 1)
    K = grams.weighted_gram(KERNELS, WEIGHTS, X, Z)
    products = grams.GramProducts(KERNELS, WEIGHTS, X, Z)
    np.testing.assert_allclose(products.matrix(slice(5, 9)), K[5:9], rtol=1e-14)
    np.testing.assert_allclose(products.matrix(np.array([7, 2])), K[[7, 2]], rtol=1e-14)
    words = ["ab", "b", "abc"]
    shared = FromFunction(lambda a, b: float(len(set(a) & set(b))))
    found = grams.GramProducts([shared], [2.0], words).matrix(np.array([2, 0]))
    np.testing.assert_array_equal(found, [[4.0, 2.0, 6.0], [4.0, 2.0, 4.0]])


def test_single_precision_sums_in_double(rng):
    """Rounding of the values does not add up: with sums in float32 the error is 50 times larger."""
    X, Z, _ = data(rng, 5, 20_000, 1, np.float32)
    found = grams.gram_times([Gaussian(0.01)], [1.0], X, Z, np.ones(20_000))
    exact = np.exp(-LD(0.01) * pair_primitives(X, Z)[0]).sum(axis=1)
    assert found.dtype == np.float64
    assert np.all(np.abs(found - exact) < 1e-7 * exact)


@pytest.mark.parametrize("sparse", ["X", "Z", "both"])
def test_sparse_samples(rng, sparse):
    X, Z, V = data(rng, 60, 50, 3)
    X[rng.random(X.shape) < 0.6] = Z[rng.random(Z.shape) < 0.6] = 0.0
    expected = grams.weighted_gram(KERNELS, WEIGHTS, X, Z) @ V
    A = check_sparse("X", csr_array(X)) if sparse != "Z" else X
    B = check_sparse("Z", csr_array(Z)) if sparse != "X" else Z
    products = grams.GramProducts(KERNELS, WEIGHTS, A, B)
    np.testing.assert_allclose(products.times(V), expected, rtol=1e-12, atol=1e-12)
    K = grams.weighted_gram(KERNELS, WEIGHTS, X, Z)
    np.testing.assert_allclose(products.normal_times(V), K.T @ expected, rtol=1e-12, atol=1e-10)


def test_values_from_outside_and_factors_in_several_strips(rng, monkeypatch):
    X, Z, V = data(rng, 90, 70, 2)
    outside = FromFunction(lambda A, B: np.minimum.outer(A.sum(1), B.sum(1)), vectorized=True)
    kernels = [outside, Gaussian(0.5).weighted(factor), Matern(nu=1.5, gamma=0.3)]
    expected = grams.weighted_gram(kernels, [1.0, 0.5, 2.0], X, Z)
    monkeypatch.setattr(external, "_BYTES", 8 * 70 * 17)  # seventeen rows
    products = grams.GramProducts(kernels, [1.0, 0.5, 2.0], X, Z)
    np.testing.assert_allclose(products.times(V), expected @ V, rtol=1e-12, atol=1e-12)
    weight = rng.random(90)
    found = products.normal_times(V, weight=weight)
    reference = expected.T @ (weight[:, None] * (expected @ V))
    np.testing.assert_allclose(found, reference, rtol=1e-12, atol=1e-10)


def test_kernels_near_one_keep_their_digits_for_columns_that_sum_to_zero(rng):
    X, Z, V = data(rng, 10, 200, 1)
    V -= V.mean(axis=0)
    rate = 1e-12
    found = grams.gram_times([Gaussian(rate)], [1.0], X, Z, V, exact=False)
    exact = np.expm1(-LD(rate) * pair_primitives(X, Z)[0]) @ V
    np.testing.assert_allclose(found, exact.astype(float), rtol=1e-10)


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="numba may use one thread only")
def test_results_repeat_and_rows_do_not_depend_on_the_threads(rng):
    X, Z, V = data(rng, 900, 300, 2)
    found = {}
    for count in (1, 2):
        with threads(count):
            runs = [grams.GramProducts(KERNELS, WEIGHTS, X, Z) for _ in range(2)]
            found[count], second = ((p.times(V), p.normal_times(V)) for p in runs)
        np.testing.assert_array_equal(found[count][0], second[0])
        np.testing.assert_array_equal(found[count][1], second[1])
    np.testing.assert_array_equal(found[1][0], found[2][0])
    np.testing.assert_allclose(found[1][1], found[2][1], rtol=1e-12)


def test_no_gram_matrix_is_held(rng):
    X, Z, V = data(rng, 6000, 1000, 1)
    products = grams.GramProducts([Gaussian(0.3)], [1.0], X, Z)

    def both():
        products.times(V)
        products.normal_times(V)

    both()  # compiled
    assert peak_of(both) < 0.05 * 8 * 6000 * 1000  # includes threads of other tests


@each(
    ("V", "message"),
    [
        (np.ones(4), r"V has shape \(4,\).*accepted: .*\(5,\) or \(5, c\)"),
        (np.ones((5, 1, 1)), "V has shape"),
        (np.ones(5) + 1j, "dtype complex128"),
        (["a"] * 5, "dtype <U1"),
        (np.array([1.0, np.nan, 0.0, 0.0, 0.0]), "V contains NaN or infinity"),
    ],
)
def test_bad_columns(rng, V, message):
    X, Z, _ = data(rng, 3, 5, 1)
    with pytest.raises(ValueError, match=message):
        grams.gram_times([Gaussian(1.0)], [1.0], X, Z, V)


def test_other_bad_input(rng):
    X, Z, V = data(rng, 3, 5, 1)
    times, message = grams.gram_times, r"weights has shape \(2,\), expected \(1,\)"
    raises(ValueError, message, times, [Linear()], [1.0, 2.0], X, Z, V)
    message = "product with the Gram matrix of linear"
    raises(ValueError, message, times, [Linear()], [1.0], 1e200 * X, 1e200 * Z, V)
