"""Products of pairs of pairs, against formulas on the points themselves."""

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from test_vectormath import each_number
from usage import threads

from alignlearn.engine import vectormath
from alignlearn.engine.cpu import CPU
from alignlearn.engine.hyper_values import (
    DETERMINANT,
    PRODUCT,
    Form,
    Pairs,
    pair_gram,
    pair_times,
    product_sums,
)

_log = each_number(vectormath.log)


@pytest.mark.parametrize(("low", "high"), [(-300.0, 300.0), (0.0, 1.0), (-1e-9, 1e-9)])
def test_log_is_that_of_the_library(low, high):
    x = np.exp(np.random.default_rng(0).uniform(low, high, 2000))
    np.testing.assert_allclose(_log(x), np.log(x), rtol=1e-15, atol=0.0)


def points(seed, n, d, spread):
    return np.random.default_rng(seed).normal(size=(n, d)) * spread


def squared(X, Y):
    return np.square(X[:, None] - Y[None]).sum(axis=2)


def pairs_of(X, first, second, own):
    size = np.square(X[first] - X[second]).sum(axis=1)
    return Pairs(first, second, np.atleast_2d(own), size)


def determinants(left, right):
    """det(I + B'B) of every pair of pairs; each side is (points, points)."""
    out = np.empty((len(left[0]), len(right[0])))
    for p, (u, v) in enumerate(zip(*left)):
        for q, (w, z) in enumerate(zip(*right)):
            B = np.array([(u - v) / 2**0.5, (w - z) / 2**0.5, (u + v) / 2 - (w + z) / 2])
            out[p, q] = np.linalg.det(np.eye(3) + B @ B.T)
    return out


@given(st.integers(0, 999), st.integers(1, 6), st.sampled_from([1e-4, 0.3, 1.0, 30.0]))
def test_determinants(seed, d, spread):
    X, Y = points(seed, 5, d, spread), points(seed + 1, 4, d, spread)
    a, b = np.triu_indices(5), np.triu_indices(4)
    left, right = pairs_of(X, *a, np.zeros(15)), pairs_of(Y, *b, np.zeros(10))
    found = pair_gram(Form(DETERMINANT, 1.5), squared(X, Y), left, right, CPU)
    expected = determinants((X[a[0]], X[a[1]]), (Y[b[0]], Y[b[1]])) ** -1.5
    # Squared distances carry rounding of the size of the largest.
    np.testing.assert_allclose(found, expected, rtol=1e-12 * (1.0 + spread**2))


@given(st.integers(0, 999), st.sampled_from([PRODUCT, DETERMINANT]))
def test_block_symmetric_block_and_product_agree(seed, kind):
    rng = np.random.default_rng(seed)
    X = points(seed, 9, 3, 0.5)
    first, second = rng.integers(0, 9, (2, 40))
    pairs = pairs_of(X, first, second, rng.normal(size=40))
    form, table = Form(kind, 2.5), squared(X, X)
    K = pair_gram(form, table, pairs, pairs, CPU)
    symmetric = pair_gram(form, table, pairs, None, CPU)
    np.testing.assert_array_equal(symmetric, symmetric.T)
    np.testing.assert_allclose(symmetric, K, rtol=1e-12, atol=1e-14)
    coef = rng.normal(size=40)
    found = pair_times(form, table, pairs, pairs, coef, CPU)
    np.testing.assert_allclose(found, K @ coef, rtol=1e-10, atol=1e-11 * np.abs(K).max())


@each("power", [0.5, 1.3, 6.0, 8.5, 40.0])
def test_products_of_determinants_by_powers_and_by_logarithms(power):
    """Against the determinants themselves; more pairs than are taken at once, and large factors."""
    X, Y, coef = points(1, 17, 3, 0.4), points(2, 4, 3, 0.4), np.arange(-4.0, 6.0)
    a, b = np.triu_indices(17), np.triu_indices(4)
    logs = np.log(determinants((X[a[0]], X[a[1]]), (Y[b[0]], Y[b[1]])))
    for own in (0.1, 400.0):  # of the second the exponential is out of range
        left, right = pairs_of(X, *a, np.full(153, own)), pairs_of(Y, *b, np.full(10, -own))
        found = pair_times(Form(DETERMINANT, power), squared(X, Y), left, right, coef, CPU)
        expected = np.exp(-power * logs)
        error = 1e-12 * (expected @ np.abs(coef)).max()
        np.testing.assert_allclose(found, expected @ coef, rtol=0.0, atol=error)


def test_values_of_the_product_form():
    table = np.array([[2.0, 3.0], [5.0, 7.0]])
    left = Pairs(*np.array([[0], [1]]), np.array([[0.5]]), np.zeros(1))
    right = Pairs(*np.array([[0], [0]]), np.array([[4.0]]), np.zeros(1))
    assert pair_gram(Form(PRODUCT), table, left, right, CPU) == 0.5 * 4.0 * 2 * 2 * 5 * 5


@given(st.integers(0, 999), st.sampled_from([[0, 0], [0, 1, 3], [0, 0, 2, 2]]))
def test_rungs_are_added_with_powers_of_the_table(seed, squarings):
    rng, r = np.random.default_rng(seed), len(squarings)
    T = np.exp(-squared(points(seed, 6, 2, 0.7), points(seed + 1, 5, 2, 0.7)))
    (a, b), (c, d) = rng.integers(0, 6, (2, 7)), rng.integers(0, 5, (2, 600))
    left = Pairs(a, b, rng.normal(size=(r, 7)), np.zeros(7))
    right = Pairs(c, d, rng.normal(size=(r, 600)), np.zeros(600))
    t = T[a][:, c] * T[a][:, d] * T[b][:, c] * T[b][:, d]
    expected = sum(np.outer(*owns) * t**2**s for *owns, s in zip(left.own, right.own, squarings))
    form, coef = Form(PRODUCT, 0.0, np.array(squarings)), rng.normal(size=600)
    np.testing.assert_allclose(pair_gram(form, T, left, right, CPU), expected, atol=1e-12)
    found = pair_times(form, T, left, right, coef, CPU)
    np.testing.assert_allclose(found, expected @ coef, atol=1e-10)
    np.testing.assert_array_equal(left.take([2, 0]).own, left.own[:, [2, 0]])


def test_sums_over_a_grid():
    rng = np.random.default_rng(3)
    A, M = np.exp(-squared(X := points(3, 11, 2, 1.0), X)), rng.normal(size=(11, 11))
    M += M.T
    expected = np.einsum("rs,ir,is,jr,js->ij", M, A, A, A, A)
    np.testing.assert_allclose(product_sums(A, M, CPU), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [PRODUCT, DETERMINANT])
def test_results_do_not_depend_on_the_number_of_threads(kind):
    import numba

    X = points(0, 40, 3, 0.4)
    first, second = np.triu_indices(40)
    pairs = pairs_of(X, first, second, np.zeros(first.size) + 0.5)
    table, coef = squared(X, X), np.linspace(-1.0, 1.0, first.size)
    found = set()
    for count in (1, numba.get_num_threads()):
        with threads(count):
            K = pair_gram(Form(kind, 2.0), table, pairs, None, CPU)
            times = pair_times(Form(kind, 2.0), table, pairs, pairs, coef, CPU)
            found.add((K.tobytes(), times.tobytes()))
    assert len(found) == 1
