"""Threads, memory, blocks of values from outside, weighted sums of kernels."""

import numba
import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from strategies import generators
from usage import peak_of, threads

import alignlearn as al
from alignlearn.engine import cpu, external, features, grams
from alignlearn.engine.grams import weighted_gram
from alignlearn.kernels import (
    Columns,
    FromFunction,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    gaussian_kernels,
)
from alignlearn.sources import alignment_statistics
from alignlearn.validation import check_samples


def data(m, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    return X, X[:, 0] + rng.normal(size=m)


KERNELS = [*gaussian_kernels([0.1, 0.2, 0.5]), Polynomial(0.2), Columns(Laplacian(0.4), [1, 2])]


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="numba may use one thread only")
@pytest.mark.parametrize("m", [3, 130, 700])
def test_the_number_of_threads_changes_nothing(m):
    X, y = data(m)
    results = []
    for count in (1, 2):
        with threads(count):
            results.append((alignment_statistics(X, y, KERNELS), Gaussian(0.3)(X)))
    (one, gram_one), (two, gram_two) = results
    np.testing.assert_array_equal(one.M, two.M)
    np.testing.assert_array_equal(one.a, two.a)
    np.testing.assert_array_equal(gram_one, gram_two)


@pytest.mark.parametrize(("n_kernels", "short"), [(3, True), (80, False)])
def test_the_main_thread_takes_no_long_box(n_kernels, short, monkeypatch):
    """The sums of a box grow with the square of the number of kernels."""
    X, y = data(700)
    seen, on_threads = [], cpu.on_threads

    def observed(*args, **options):
        seen.append(options["short"])
        on_threads(*args, **options)

    monkeypatch.setattr(cpu, "on_threads", observed)
    alignment_statistics(X, y, gaussian_kernels(np.linspace(0.1, 1.0, n_kernels)))
    assert seen == [short]


def test_memory_stays_far_below_one_gram_matrix():
    X, y = data(3000)
    one_gram = 8 * len(X) ** 2
    alignment_statistics(X[:200], y[:200], KERNELS)  # compiled, and traced without it
    assert peak_of(lambda: alignment_statistics(X, y, KERNELS)) < one_gram / 20
    assert peak_of(lambda: alignment_statistics(X, y, KERNELS, unbiased=True)) < one_gram / 20
    # The measure can fail: a Gram matrix is seen.
    assert peak_of(lambda: Gaussian(0.1)(X)) >= one_gram


def test_weighted_sum_holds_one_matrix_and_writes_where_told():
    X, _ = data(1000)
    out = np.empty((1000, 1000))
    weights = np.arange(1.0, 6.0)
    assert peak_of(lambda: weighted_gram(KERNELS, weights, X, out=out)) < 8 * 1000**2 / 4
    assert weighted_gram(KERNELS, weights, X, out=out) is out
    expected = sum(w * k(X) for w, k in zip(weights, KERNELS))
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


def test_memory_map_is_not_read_whole(tmp_path):
    """tracemalloc sees copies, not pages: there must be none of the map's size."""
    X, _ = data(50_000, d=40)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    size = X.nbytes
    Gaussian().resolve(mapped[:200]), weighted_gram([Gaussian(1.0)], [1.0], X[:5])  # compiled
    assert peak_of(lambda: check_samples("X", mapped)) < size / 4
    assert peak_of(lambda: Gaussian().resolve(mapped)) < size / 3
    assert peak_of(lambda: weighted_gram([Gaussian(1.0)], [1.0], mapped[:5], mapped)) < size / 4
    assert Gaussian().resolve(mapped) == Gaussian().resolve(X)


@each("m", [1, 2, 127, 128, 129, 257])
@each("n", [1, 128, 130])
def test_gram_matrices_around_the_borders_of_blocks(m, n):
    X, Z = data(m)[0], data(n, seed=1)[0]
    expected = np.exp(-0.3 * ((X[:, None] - Z[None]) ** 2).sum(-1))
    np.testing.assert_allclose(Gaussian(0.3)(X, Z), expected, rtol=1e-12)
    np.testing.assert_allclose(Gaussian(0.3)(X), Gaussian(0.3)(X, X), rtol=1e-14)
    np.testing.assert_array_equal(np.diagonal(Gaussian(0.3)(X)), 1)


def test_values_from_outside_in_several_boxes(monkeypatch):
    X, y = data(300)
    inner = FromFunction(lambda A, B: A @ B.T, vectorized=True)
    expected = alignment_statistics(X, y, [Linear(), Gaussian(0.1)])
    for limit in (1, 8 * 130**2, 8 * 260**2):
        monkeypatch.setattr(external, "_BYTES", limit)
        s = alignment_statistics(X, y, [inner, Gaussian(0.1)])
        for name in ("M", "a", "trace"):
            np.testing.assert_allclose(getattr(s, name), getattr(expected, name), rtol=1e-11)
        np.testing.assert_allclose(inner(X), X @ X.T, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(inner(X[:7], X), X[:7] @ X.T, rtol=1e-13, atol=1e-13)


@given(generators(), st.integers(1, 9), st.integers(1, 6), st.booleans())
def test_centered_feature_products(rng, m, p, square):
    from scipy import sparse

    X = rng.normal(size=(m, p)) * (rng.random((m, p)) < 0.6)
    Z = X - X.mean(axis=0)
    expected = (Z.T @ Z) ** (2 if square else 1)
    for form in (X, sparse.csr_array(X), sparse.csc_array(X)):
        value = features.centered_feature_gram(form, square=square)
        np.testing.assert_allclose(value, expected, rtol=1e-10, atol=1e-13)


def test_linear_kernels_on_shifted_columns_lose_nothing():
    X = np.random.default_rng(0).standard_normal((60, 3))
    y = X[:, 0] ** 2
    mixed = 2.0 * al.Columns(al.Linear(), [0, 1]) + al.Gaussian(0.3)
    kernels = [al.Linear(), mixed, al.Gaussian(1.0)]
    # 2^20 added to multiples of 2^-30: the shifted columns are exact.
    grid = np.round(X * 2.0**30) / 2.0**30
    near = al.alignment_statistics(grid, y, kernels)
    far = al.alignment_statistics(grid + 2.0**20, y, kernels)
    np.testing.assert_allclose(far.M, near.M, rtol=1e-9)
    np.testing.assert_allclose(far.a, near.a, rtol=1e-9)


def test_only_sums_may_drop_terms_of_one_sample():
    X = np.random.default_rng(1).standard_normal((50, 3)) + 3.0
    y = X[:, 0]
    for kernel in (al.Linear() * al.Gaussian(0.1), al.Linear() ** 2, al.Linear().normalized()):
        streamed = al.alignment_statistics(X, y, [kernel])
        given = al.alignment_statistics([kernel(X)], y, "precomputed")
        np.testing.assert_allclose(streamed.a, given.a, rtol=1e-10)


def test_functions_on_strings_may_be_normalized_and_lengths_may_differ():
    words, y = ["a", "bb", "ccc", "dddd", "ee"], [0.0, 1.0, 2.0, 1.0, 0.0]
    kernel = al.FromFunction(lambda u, v: float(len(u) * len(v) + (u == v))).normalized()
    stats = al.alignment_statistics(words, y, [kernel])
    given = al.alignment_statistics([kernel(words)], y, "precomputed")
    np.testing.assert_allclose(stats.a, given.a, rtol=1e-10)
    product = al.FromFunction(lambda u, v: float(len(u) * len(v)))
    found = product(np.array(["a", "b"]), np.array(["aaa", "b"]))
    np.testing.assert_array_equal(found, [[3.0, 1.0], [3.0, 1.0]])


def test_values_that_are_not_finite_are_refused():
    X = np.random.default_rng(2).standard_normal((20, 2))
    weighted = al.Gaussian(1.0).weighted(lambda X: X[:, 0] * np.nan)
    raises(ValueError, "with NaN or infinity", weighted, X)
    polynomial = al.Polynomial(1.0, 0.0, 1.5)
    raises(ValueError, r"Gram matrix of polynomial.* contains NaN", polynomial, X)
    kernels, message = [al.Gaussian(1.0)] * 2, r"weights has shape \(1,\), expected \(2,\)"
    raises(ValueError, message, grams.weighted_gram, kernels, [1.0], X)
