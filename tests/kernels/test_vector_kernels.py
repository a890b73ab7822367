"""Kernels on vectors against extended precision and scikit-learn; parameters; definiteness."""

import pickle

import numpy as np
import oracle
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from sklearn.metrics import pairwise
from strategies import samples

from alignlearn.kernels import (
    TL1,
    Binomial,
    Columns,
    Cosine,
    Exponential,
    ExponentialDot,
    Gaussian,
    Gower,
    Hamming,
    Laplacian,
    Linear,
    Log,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    Tanimoto,
    as_kernel,
    gaussian_kernels,
    kernel_list,
)

LD = np.longdouble


def _matern(nu, distance):
    u = np.sqrt(LD(2 * nu)) * distance
    return (1 + u + (u**2 / 3 if nu == 2.5 else 0)) * np.exp(-u)


# kernel, its formula on (squared distance, inner product, L1 distance) in extended precision
FORMULAS = [
    (Gaussian(0.3), lambda D, G, L: np.exp(-LD(0.3) * D)),
    (Gaussian(0.1, multiple=4.0), lambda D, G, L: np.exp(-LD(0.4) * D)),
    (Laplacian(0.3), lambda D, G, L: np.exp(-LD(0.3) * L)),
    (Exponential(0.3), lambda D, G, L: np.exp(-LD(0.3) * np.sqrt(D))),
    (ExponentialDot(0.3), lambda D, G, L: np.exp(LD(0.3) * G)),
    (Linear(), lambda D, G, L: G),
    (Polynomial(0.5, 1.0, 3), lambda D, G, L: (LD(0.5) * G + 1) ** 3),
    (Polynomial(0.5, 0.0, 1), lambda D, G, L: LD(0.5) * G),
    (Polynomial(0.5, 2.0, 0), lambda D, G, L: np.ones_like(G)),
    (Polynomial(0.01, 2.0, 2.5), lambda D, G, L: (LD(0.01) * G + 2) ** LD(2.5)),
    (Binomial(0.01, 1.7), lambda D, G, L: (1 - LD(0.01) * G) ** LD(-1.7)),
    (Sigmoid(0.3, 0.5), lambda D, G, L: np.tanh(LD(0.3) * G + LD(0.5))),
    (TL1(2.0), lambda D, G, L: np.maximum(2 - L, 0)),
    (Log(1.5), lambda D, G, L: -np.log1p(np.sqrt(D) / LD(1.5))),
    (Matern(0.5, gamma=0.3), lambda D, G, L: np.exp(-LD(0.3) * np.sqrt(D))),
    (Matern(1.5, gamma=0.3), lambda D, G, L: _matern(1.5, LD(0.3) * np.sqrt(D))),
    (Matern(2.5, length_scale=4.0), lambda D, G, L: _matern(2.5, np.sqrt(D) / 4)),
    (Tanimoto(), lambda D, G, L: G / (D + G)),
    (RationalQuadratic(0.7, gamma=0.3), lambda D, G, L: (1 + LD(0.3) / LD(0.7) * D) ** -LD(0.7)),
]


def _points(m, d=3, seed=0):
    X = np.random.default_rng(seed).normal(size=(m, d))
    X[m // 2] = X[0]  # a duplicated point
    return X


@each(("kernel", "formula"), FORMULAS)
@each("dtype", [np.float64, np.float32])
def test_gram_and_diagonal_equal_the_formula(kernel, formula, dtype):
    X, Z = _points(23).astype(dtype), _points(9, seed=1).astype(dtype)
    relative = 1e-13 if dtype == np.float64 else 1e-5
    for A, B, K in [(X, Z, kernel(X, Z)), (X, X, kernel(X))]:
        expected = formula(*oracle.pair_primitives(A, B))
        assert K.dtype == dtype
        assert np.max(np.abs(K - expected)) <= relative * np.max(np.abs(expected))
    np.testing.assert_array_equal(kernel(X), kernel(X).T)
    # Primitives of pairs are summed in another order there.
    expected = np.diagonal(formula(*oracle.pair_primitives(X, X)))
    np.testing.assert_allclose(kernel.diag(X), expected.astype(float), rtol=relative, atol=1e-14)


def test_gamma_scale_is_that_of_scikit_learn_and_is_fixed_on_the_first_argument():
    from sklearn.svm import SVC

    X, Z = 3.0 * _points(30, 4) + 2.0, _points(7, 4, seed=3)
    gamma = SVC().fit(X, np.arange(30) % 2)._gamma
    assert Gaussian().resolve(X).gamma == pytest.approx(gamma, rel=1e-14)
    assert Gaussian(multiple=2.0**-3).resolve(X).gamma == pytest.approx(gamma / 8, rel=1e-14)
    np.testing.assert_allclose(Gaussian()(X, Z), pairwise.rbf_kernel(X, Z, gamma=gamma), rtol=1e-12)
    # No variance: like scikit-learn, and not the inverse of a rounding error.
    for m in range(1, 12):
        assert Gaussian("scale").resolve(np.full((m, 3), 0.1)).gamma == 1.0
    for shift in (0.0, 1e6):  # more than one block of rows
        A = shift + np.random.default_rng(0).normal(size=(2**18, 2)).astype(np.float32)
        expected = 1 / (2 * A.var(dtype=np.longdouble))
        assert Gaussian().resolve(A).gamma == pytest.approx(float(expected), rel=1e-12)
    assert TL1().resolve(X) == TL1(0.7 * 4)


@given(
    samples(max_samples=10, scales=(1e-4, 0.3)),
    st.sampled_from(
        [
            Gaussian(2.0),
            Laplacian(2.0),
            Exponential(2.0),
            ExponentialDot(0.2),
            Linear(),
            Polynomial(0.5, 1.0, 3),
            Polynomial(0.5, 0.0, 2),
            Binomial(0.02, 0.5),
            Cosine(),
            Gaussian(),
            Matern(),
            Matern(2.5, length_scale=2.0),
            RationalQuadratic(0.5, gamma=1.0),
            Hamming(),
            Tanimoto(),
            Periodic(0.7, 1.3),
            Gower(),
            Gower([0]) * Tanimoto() + Periodic(),
            2.0 * Gaussian(1.0) * Linear() + 3,
            (Linear() + Gaussian(1.0)).exp().normalized(),
        ]
    ),
)
def test_kernels_marked_psd_are(X, kernel):
    assert kernel.is_psd
    w = np.linalg.eigvalsh(kernel(X))
    assert w[0] >= -1e-13 * max(w[-1], 1.0) * len(X)


@each(
    ("kernel", "X"),
    [
        # The octahedron's corners are orthogonal in value, and its center near all six of them.
        (TL1(2.0), np.vstack([np.zeros((1, 3)), np.eye(3), -np.eye(3)])),
        (Log(1.0), [[0.0], [1.0]]),  # zero trace, not zero
        (Sigmoid(1.0, -1.0), [[0.1], [0.0]]),  # tanh(-1) on the diagonal
        (Polynomial(1.0, -1.0, 1), [[0.0], [0.5]]),
    ],
)
def test_kernels_marked_indefinite_have_a_negative_eigenvalue(kernel, X):
    assert not kernel.is_psd
    assert np.linalg.eigvalsh(kernel(np.array(X)))[0] < -1e-3


def test_polynomial_is_psd_only_for_natural_degree_and_non_negative_coef0():
    assert Polynomial(1.0, 0.0, 2).is_psd
    assert not Polynomial(1.0, -0.1, 2).is_psd
    assert not Polynomial(1.0, 1.0, 2.5).is_psd


@each(
    ("make", "name"),
    [
        (lambda: Periodic(1e-200), "length scales >= 1e-150"),
        (lambda: Periodic(period=1e-320), "accepted: periods"),
        (lambda: Gaussian(1.0, multiple=0.0), "multiple"),
        (lambda: Matern(2.0), "nu=2: accepted: 0.5, 1.5 and 2.5"),
        (lambda: Matern("scale"), "nu"),
        (lambda: Matern(length_scale=0.0), "length_scale"),
        (lambda: Matern(length_scale=1.0, gamma=1.0), "set one of them"),
        (lambda: RationalQuadratic(0.0), "alpha"),
        (lambda: RationalQuadratic(length_scale=-1.0), "length_scale"),
        (lambda: RationalQuadratic(length_scale=1.0, gamma="auto"), "set one of them"),
        (lambda: gaussian_kernels([[1.0, 2.0]]), "gammas"),
        (lambda: kernel_list([np.eye(2)]), "Precomputed"),
        (lambda: as_kernel(len), "FromFunction"),
    ],
)
def test_bad_parameters_are_refused_by_name(make, name):
    raises((ValueError, TypeError), name, make)


@each("kernel", ["rbf", "gaussian", "laplacian", "exponential", "linear", "poly",
                                    "polynomial", "sigmoid", "cosine", "tl1", "log",
                                    "exponential-dot", "matern", "rational-quadratic",
                                    "hamming"])  # fmt: skip
def test_strings_name_kernels_with_default_parameters(kernel):
    made = as_kernel(kernel)
    X = _points(6) / 4
    np.testing.assert_array_equal(made(X), type(made)()(X))
    assert type(made).__name__.lower()[:3] in (kernel[:3], "gau", "exp")


def test_any_real_dtype_layout_and_byte_order_gives_the_same_gram():
    X = np.random.default_rng(0).integers(-3, 4, size=(9, 3))
    expected = Gaussian(0.1)(X.astype(np.float64))
    for variant in (
        X,
        X.tolist(),
        X.astype(np.int8),
        X.astype(np.float16),
        X.astype(object),
        X.astype(">f8"),
        np.asfortranarray(X, dtype=np.float64),
        np.repeat(X.astype(np.float64), 2, axis=0)[::2],
    ):
        np.testing.assert_array_equal(Gaussian(0.1)(variant), expected)


def test_families():
    assert kernel_list(None) == [Gaussian("scale", multiple=2.0**k) for k in range(-4, 5)]
    assert gaussian_kernels(0.5) == [Gaussian(0.5)]
    assert kernel_list("linear") == [Linear()]
    assert kernel_list(("rbf", Log())) == [Gaussian(), Log()]


def test_kernels_are_values_hashable_picklable_and_say_what_they_are():
    kernel = Columns(Gaussian(0.5), [0, 1])
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert hash(kernel) == hash(Columns(Gaussian(0.5), (0, 1)))
    assert str(kernel) == "gaussian(gamma=0.5) on 0:2"
    assert str(Gaussian(0.5, multiple=3.0)) == "gaussian(gamma=1.5)"
    assert str(Gaussian(multiple=4.0)) == "gaussian(gamma=scale * 4)"
    assert len(pickle.dumps(kernel)) < 1000
