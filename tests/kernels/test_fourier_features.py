"""Kernels of Fourier features: Monte Carlo against closed forms, and as kernels among others."""

import pickle

import numpy as np
import pytest
from cases import each
from refusals import raises
from scipy import sparse

import alignlearn as al
from alignlearn.kernels.random_features import FourierFeatures, draw_frequencies

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(6, 3)), RNG.normal(size=(4, 3))
BASES = [
    al.Gaussian(0.4),
    al.Laplacian(0.3),
    al.Exponential(0.7),
    *[al.Matern(nu, gamma=0.6) for nu in (0.5, 1.5, 2.5)],
    al.RationalQuadratic(0.8, gamma=0.5),
]


def small(offsets=False):
    frequencies = RNG.normal(size=(5, 3))
    return FourierFeatures(
        frequencies, RNG.dirichlet(np.ones(5)), RNG.uniform(0, 6, 5) if offsets else None
    )


@pytest.mark.parametrize("base", BASES, ids=str)
@pytest.mark.parametrize("offsets", [False, True])
def test_many_features_are_the_base_kernel(base, offsets):
    """Every value is a mean of n terms in [-2, 2]: 7 standard errors."""
    n, rng = 40_000, np.random.default_rng(1)
    frequencies = draw_frequencies(base, n, 3, rng)
    shifts = rng.uniform(0.0, 2.0 * np.pi, n) if offsets else None
    found = FourierFeatures(frequencies, np.full(n, 1.0 / n), shifts)
    np.testing.assert_allclose(found(X, Z), base(X, Z), atol=7.0 * np.sqrt(2.0 / n))


@each("offsets", [False, True])
def test_values_are_the_formula(offsets):
    k = small(offsets)
    A, B = X @ k.frequencies.T, Z @ k.frequencies.T
    terms = np.cos(A[:, None] - B)
    if offsets:
        terms = 2 * np.cos(A + k.offsets)[:, None] * np.cos(B + k.offsets)
    expected = terms @ k.weights
    np.testing.assert_allclose(k(X, Z), expected, atol=1e-13)
    np.testing.assert_allclose(k.diag(X), np.diagonal(k(X)), atol=1e-13)
    assert k.features(X).shape == (len(X), k.n_features)
    np.testing.assert_allclose(k.features(X) @ k.features(Z).T, expected, atol=1e-13)
    np.testing.assert_allclose(k(sparse.csr_matrix(X), sparse.csc_matrix(Z)), expected, atol=1e-13)


def test_is_a_kernel_among_others():
    k, y = small(), np.array([0, 1, 0, 1, 1, 0])
    K, L = k(X), al.Gaussian(0.2)(X)
    statistics = al.alignment_statistics(X, y, [k, al.Gaussian(0.2)])
    H = np.eye(6) - 1.0 / 6
    np.testing.assert_allclose(statistics.M[0, 1], np.vdot(H @ K @ H, H @ L @ H), rtol=1e-10)
    np.testing.assert_allclose((2 * k + k * al.Gaussian(0.2))(X), 2 * K + K * L, atol=1e-12)
    np.testing.assert_allclose(al.Columns(k, [2, 0, 1])(X), k(X[:, [2, 0, 1]]), atol=1e-12)
    copied = pickle.loads(pickle.dumps(k))
    assert copied == k != small()
    assert hash(copied) == hash(k)


@each(
    ("arguments", "words"),
    [
        (([1.0], [1.0]), "frequencies"),
        (([[1.0]], [1.0, 2.0]), "weights has 2"),
        (([[1.0]], [-1.0]), "weights"),
        (([[np.nan]], [1.0]), "frequencies"),
        (([[1.0]], [1.0], [0.0, 1.0]), "offsets"),
    ],
)
def test_bad_arguments(arguments, words):
    raises(ValueError, words, FourierFeatures, *arguments)


def test_bad_samples_and_kernels():
    raises(ValueError, "X has 2 columns", small(), X[:, :2])
    raises(ValueError, "NaN", small(), np.full((2, 3), np.nan))
    raises(ValueError, "products with the frequencies", small(), np.full((2, 3), 1e308) * [1, 1, 1])
    raises(ValueError, "no known spectral density", draw_frequencies, al.Linear(), 3, 2, RNG)
