"""Kernels on vectors against extended precision and scikit-learn; parameters; definiteness."""

import pickle

import numpy as np
import oracle
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from refusals import raises
from sklearn.metrics import pairwise
from strategies import samples

import alignlearn as al
from alignlearn.kernels import as_kernel, kernel_list

LD = np.longdouble


def _matern(nu, distance):
    u = np.sqrt(LD(2 * nu)) * distance
    return (1 + u + (u**2 / 3 if nu == 2.5 else 0)) * np.exp(-u)


# kernel, its formula on (squared distance, inner product, L1 distance) in extended precision
FORMULAS = [
    (al.Gaussian(0.3), lambda D, G, L: np.exp(-LD(0.3) * D)),
    (al.Gaussian(0.1, multiple=4.0), lambda D, G, L: np.exp(-LD(0.4) * D)),
    (al.Laplacian(0.3), lambda D, G, L: np.exp(-LD(0.3) * L)),
    (al.Exponential(0.3), lambda D, G, L: np.exp(-LD(0.3) * np.sqrt(D))),
    (al.ExponentialDot(0.3), lambda D, G, L: np.exp(LD(0.3) * G)),
    (al.Linear(), lambda D, G, L: G),
    (al.Polynomial(0.5, 1.0, 3), lambda D, G, L: (LD(0.5) * G + 1) ** 3),
    (al.Polynomial(0.5, 0.0, 1), lambda D, G, L: LD(0.5) * G),
    (al.Polynomial(0.5, 2.0, 0), lambda D, G, L: np.ones_like(G)),
    (al.Polynomial(0.01, 2.0, 2.5), lambda D, G, L: (LD(0.01) * G + 2) ** LD(2.5)),
    (al.Binomial(0.01, 1.7), lambda D, G, L: (1 - LD(0.01) * G) ** LD(-1.7)),
    (al.Sigmoid(0.3, 0.5), lambda D, G, L: np.tanh(LD(0.3) * G + LD(0.5))),
    (al.TL1(2.0), lambda D, G, L: np.maximum(2 - L, 0)),
    (al.Log(1.5), lambda D, G, L: -np.log1p(np.sqrt(D) / LD(1.5))),
    (al.Matern(0.5, gamma=0.3), lambda D, G, L: np.exp(-LD(0.3) * np.sqrt(D))),
    (al.Matern(1.5, gamma=0.3), lambda D, G, L: _matern(1.5, LD(0.3) * np.sqrt(D))),
    (al.Matern(2.5, length_scale=4.0), lambda D, G, L: _matern(2.5, np.sqrt(D) / 4)),
    (al.Tanimoto(), lambda D, G, L: G / (D + G)),
    (al.RationalQuadratic(0.7, gamma=0.3), lambda D, G, L: (1 + LD(0.3) / LD(0.7) * D) ** -LD(0.7)),
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
    assert_allclose(kernel.diag(X), expected.astype(float), rtol=relative, atol=1e-14)


def test_gamma_scale_is_that_of_scikit_learn_and_is_fixed_on_the_first_argument():
    from sklearn.svm import SVC

    X, Z = 3.0 * _points(30, 4) + 2.0, _points(7, 4, seed=3)
    gamma = SVC().fit(X, np.arange(30) % 2)._gamma
    assert al.Gaussian().resolve(X).gamma == pytest.approx(gamma, rel=1e-14)
    assert al.Gaussian(multiple=2.0**-3).resolve(X).gamma == pytest.approx(gamma / 8, rel=1e-14)
    assert_allclose(al.Gaussian()(X, Z), pairwise.rbf_kernel(X, Z, gamma=gamma), rtol=1e-12)
    # No variance: like scikit-learn, and not the inverse of a rounding error.
    for m in range(1, 12):
        assert al.Gaussian("scale").resolve(np.full((m, 3), 0.1)).gamma == 1.0
    for shift in (0.0, 1e6):  # more than one block of rows
        A = shift + np.random.default_rng(0).normal(size=(2**18, 2)).astype(np.float32)
        expected = 1 / (2 * A.var(dtype=np.longdouble))
        assert al.Gaussian().resolve(A).gamma == pytest.approx(float(expected), rel=1e-12)
    assert al.TL1().resolve(X) == al.TL1(0.7 * 4)


@given(
    samples(max_samples=10, scales=(1e-4, 0.3)),
    st.sampled_from(
        [k for k, _ in FORMULAS if k.is_psd]
        + [
            al.Cosine(),
            al.Gaussian(),
            al.Hamming(),
            al.Periodic(0.7, 1.3),
            al.Gower(),
            al.Polynomial(0.5, 0.0, 2),
        ]
        + [al.Gower([0]) * al.Tanimoto() + al.Periodic(), 2.0 * al.Gaussian(1.0) * al.Linear() + 3]
        + [(al.Linear() + al.Gaussian(1.0)).exp().normalized()]
    ),
)
def test_kernels_marked_psd_are(X, kernel):
    assert kernel.is_psd
    w = np.linalg.eigvalsh(kernel(X))
    assert w[0] >= -1e-13 * max(w[-1], 1.0) * len(X)


def test_which_formulas_are_marked_indefinite():
    indefinite = [kernel for kernel, _ in FORMULAS if not kernel.is_psd]
    assert indefinite == [
        al.Polynomial(0.01, 2.0, 2.5),
        al.Sigmoid(0.3, 0.5),
        al.TL1(2.0),
        al.Log(1.5),
    ]


@each(
    ("kernel", "X"),
    [
        # The octahedron's corners are orthogonal in value, and its center near all six of them.
        (al.TL1(2.0), np.vstack([np.zeros((1, 3)), np.eye(3), -np.eye(3)])),
        (al.Log(1.0), [[0.0], [1.0]]),  # zero trace, not zero
        (al.Sigmoid(1.0, -1.0), [[0.1], [0.0]]),  # tanh(-1) on the diagonal
        (al.Polynomial(1.0, -1.0, 1), [[0.0], [0.5]]),
    ],
)
def test_kernels_marked_indefinite_have_a_negative_eigenvalue(kernel, X):
    assert not kernel.is_psd
    assert np.linalg.eigvalsh(kernel(np.array(X)))[0] < -1e-3


@each(
    ("make", "name"),
    [
        (lambda: al.Periodic(1e-200), "length scales >= 1e-150"),
        (lambda: al.Periodic(period=1e-320), "accepted: periods"),
        (lambda: al.Gaussian(1.0, multiple=0.0), "multiple"),
        (lambda: al.Matern(2.0), "nu=2: accepted: 0.5, 1.5 and 2.5"),
        (lambda: al.Matern("scale"), "nu"),
        (lambda: al.Matern(length_scale=0.0), "length_scale"),
        (lambda: al.Matern(length_scale=1.0, gamma=1.0), "set one of them"),
        (lambda: al.RationalQuadratic(0.0), "alpha"),
        (lambda: al.RationalQuadratic(length_scale=-1.0), "length_scale"),
        (lambda: al.RationalQuadratic(length_scale=1.0, gamma="auto"), "set one of them"),
        (lambda: al.gaussian_kernels([[1.0, 2.0]]), "gammas"),
        (lambda: kernel_list([np.eye(2)]), "Precomputed"),
        (lambda: as_kernel(len), "FromFunction"),
    ],
)
def test_bad_parameters_are_refused_by_name(make, name):
    raises((ValueError, TypeError), name, make)


@each("kernel", ["rbf", "gaussian", "laplacian", "exponential", "linear", "poly", "polynomial",
                 "sigmoid", "cosine", "tl1", "log", "exponential-dot", "matern", "tanimoto",
                 "rational-quadratic", "hamming", "periodic"])  # fmt: skip
def test_strings_name_kernels_with_default_parameters(kernel):
    made = as_kernel(kernel)
    X = _points(6) / 4
    np.testing.assert_array_equal(made(X), type(made)()(X))
    assert type(made).__name__.lower()[:3] in (kernel[:3], "gau", "exp")


def test_any_real_dtype_layout_and_byte_order_gives_the_same_gram():
    X = np.random.default_rng(0).integers(-3, 4, size=(9, 3))
    expected = al.Gaussian(0.1)(X.astype(np.float64))
    strided = np.repeat(X.astype(np.float64), 2, axis=0)[::2]
    types = [X.astype(kind) for kind in (np.int8, np.float16, object, ">f8")]
    for variant in (X, X.tolist(), np.asfortranarray(X, np.float64), strided, *types):
        np.testing.assert_array_equal(al.Gaussian(0.1)(variant), expected)


def test_families():
    assert kernel_list(None) == [al.Gaussian("scale", multiple=2.0**k) for k in range(-4, 5)]
    assert al.gaussian_kernels(0.5) == [al.Gaussian(0.5)]
    assert kernel_list("linear") == [al.Linear()]
    assert kernel_list(("rbf", al.Log())) == [al.Gaussian(), al.Log()]


def test_kernels_are_values_hashable_picklable_and_say_what_they_are():
    kernel = al.Columns(al.Gaussian(0.5), [0, 1])
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert hash(kernel) == hash(al.Columns(al.Gaussian(0.5), (0, 1)))
    assert str(kernel) == "gaussian(gamma=0.5) on 0:2"
    assert str(al.Gaussian(multiple=4.0)) == "gaussian(gamma=scale * 4)"
