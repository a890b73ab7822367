"""Exponentials at the ends of their range: no silent saturation, no subnormal products."""

import re

import numpy as np
import oracle
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from refusals import raises
from sklearn.datasets import load_wine

import alignlearn as al
from alignlearn import MKLClassifier
from alignlearn.engine.grams import weighted_gram
from alignlearn.sources import alignment_statistics

LD = np.longdouble
WINE, CLASSES = load_wine(return_X_y=True)  # raw: one column reaches 1680


def last_columns(A):
    """A factor f(x) that is never 0."""
    return 1.0 + np.abs(A[:, 0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_on_raw_data_the_normalized_exponential_of_inner_products_is_the_gaussian(dtype):
    X = WINE.astype(dtype)
    kernels = [
        al.Gaussian(5e-4),
        al.ExponentialDot(1e-3).normalized(),
        (1e-3 * al.Linear()).exp().normalized(),
        al.Columns(al.ExponentialDot(1e-3), range(13)).normalized(),
        (3.0 * al.ExponentialDot(1e-3)).normalized(),
        (al.ExponentialDot(5e-4) ** 2).normalized(),
        (al.ExponentialDot(4e-4) * al.ExponentialDot(6e-4)).normalized(),
    ]
    for kernel in kernels[1:]:
        assert_allclose(kernel(X), kernels[0](X), rtol=0, atol=np.finfo(dtype).eps * 50)
    s = alignment_statistics(X, CLASSES, kernels)
    alignments = s.a / np.sqrt(np.diagonal(s.M)) / s.target_norm
    assert_allclose(alignments, alignments[0], rtol=1e-4 if dtype == np.float32 else 1e-10)
    assert al.ExponentialDot("scale").normalized()(X) == pytest.approx(
        al.Gaussian("scale", multiple=0.5)(X), abs=1e-5
    )


EXPONENTS = {
    "linear": al.Linear(),
    "gaussian": 3.0 * al.Gaussian(0.3),
    "laplacian": 0.5 * al.Laplacian(0.3),
    "matern": al.Matern(2.5, gamma=1.0),
    "sum": al.Linear() + 2.0 * al.Gaussian(0.1) + 0.1 * al.Polynomial(0.2),
    "shifted": al.Linear() + 1.5,
    "product": al.Gaussian(0.1) * al.Linear(),
    "product of gaussians": al.Gaussian(0.1) * al.Columns(al.Laplacian(0.2), [0]),
    "power": al.Gaussian(0.1) ** 2,
    "polynomial": al.Polynomial(0.3, 1.0, 2),
    "cosine": al.Cosine(),
    "normalized": al.Polynomial(0.3).normalized(),
    "exponential": (0.1 * al.Linear()).exp(),
    "weighted": al.Linear().weighted(last_columns),
    "columns": al.Columns(al.Linear() + al.Gaussian(0.2), [2, 0]),
    "function": al.FromFunction(np.dot),
}


@each("name", EXPONENTS)
def test_normalized_exponential_equals_the_definition_where_nothing_overflows(name):
    kernel = EXPONENTS[name]
    X = np.random.default_rng(1).normal(size=(19, 3))
    X[4] = 0.0
    Z = np.random.default_rng(2).normal(size=(7, 3))
    ours = kernel.exp().normalized()
    for A, B, K in [(X, X, ours(X)), (X, Z, ours(X, Z))]:
        half = kernel(A, B) - (kernel.diag(A)[:, None] + kernel.diag(B)) / 2
        assert_allclose(K, np.exp(half), rtol=1e-12)
    assert_allclose(ours.diag(X), 1.0, rtol=1e-13)
    s, expected = alignment_statistics(X, X[:, 0], [ours]), oracle.statistics([ours(X)], X[:, 0])
    for found, value in zip((s.a, s.M, s.trace), expected):
        assert_allclose(found, value.astype(float), rtol=1e-10)


SATURATED = {
    "exponential of inner products": (al.ExponentialDot(1.0), r"exponentialdot\(gamma=1\)"),
    "scaled": (2.0 * al.ExponentialDot(1.0), "exponentialdot"),
    "exp": (al.Linear().exp(), r"exp\(linear\)"),
    "exp of exp": (((0.01 * al.Linear()).exp()).exp(), r"exp\("),
    "part of a normalized sum": (
        (al.ExponentialDot(1.0) + al.Linear()).normalized(),
        "exponentialdot",
    ),
    "on columns": (al.Columns(al.ExponentialDot(1.0), [0]), "exponentialdot"),
    "of a function": (al.FromFunction(np.dot).exp(), r"exp\(dot\)"),
}


@each("dtype", [np.float64, np.float32])
@each("name", SATURATED)
def test_overflow_is_an_error_that_names_the_kernel_and_the_remedies(name, dtype):
    kernel, shown = SATURATED[name]
    X = np.array([[40.0], [39.0], [1.0], [2.0]], dtype)
    message = rf"{shown}.*exponents up to (709|88).*Scale X, lower gamma, or normalize"
    for call, *arguments in (
        (kernel, X),
        (kernel, X[2:], X[:1]),
        (kernel.diag, X),
        (alignment_statistics, X, [0.0, 1.0, 2.0, 3.0], [al.Linear(), kernel]),
        (MKLClassifier([kernel]).fit, X, [0, 1, 0, 1]),
    ):
        raises(ValueError, message, call, *arguments)


@each(
    ("kernel", "size", "helps"),
    [(al.ExponentialDot(1.0), 24.0, True), (al.Polynomial(1.0, 0.0, 4), 1e30, True),
     (al.Polynomial(1.0, 0.0, 4), 1e50, False)],
)  # fmt: skip
def test_normalization_is_advised_where_it_helps(kernel, size, helps):
    X, y = size * np.array([[1.0, 0.0], [0.5, 0.2], [-0.2, 0.7]]), [0.0, 1.0, 2.0]
    remedy = "or normalize the kernel: kernel.normalized()" if helps else "Scale X or lower gamma."
    raises(ValueError, re.escape(remedy), alignment_statistics, X, y, [kernel])
    if helps:
        assert alignment_statistics(X, y, [kernel.normalized()]).M[0, 0] > 0.0


DECAYING = {
    "gaussians": al.gaussian_kernels(np.geomspace(1.0, 1e4, 60)),
    "ladder": al.gaussian_kernels(2.0 ** np.arange(0, 14)),
    "laplacians": [al.Laplacian(g) for g in np.geomspace(1.0, 1e4, 60)],
    "matern": [
        al.Matern(nu, gamma=g) for g in np.geomspace(1.0, 1e4, 30) for nu in (0.5, 1.5, 2.5)
    ],
    "rational": [al.RationalQuadratic(a, gamma=a) for a in np.geomspace(1.0, 1e4, 30)],
    "products": [
        al.Gaussian(g) * al.Laplacian(g) * al.Gaussian(2 * g) for g in np.geomspace(0.1, 1e3, 60)
    ],
    "powers": [al.Gaussian(g) ** 3 for g in np.geomspace(1.0, 1e3, 60)],
    "normalized": [(al.Linear() * al.Gaussian(g)).normalized() for g in np.geomspace(1.0, 1e4, 60)],
    "exponentials": [al.ExponentialDot(g).normalized() for g in np.geomspace(1.0, 1e4, 60)],
}


@each("dtype", [np.float64, np.float32])
@each("name", DECAYING)
def test_no_product_of_two_values_is_subnormal(name, dtype):
    """A subnormal number makes the loops a hundred times slower."""
    X = np.random.default_rng(0).normal(size=(50, 3)).astype(dtype)
    zeros = 0
    for k in range(len(DECAYING[name])):
        K = weighted_gram(DECAYING[name], np.eye(len(DECAYING[name]))[k], X)
        assert K.dtype == dtype
        zeros += np.sum(K == 0)
        assert np.abs(K[K != 0]).min() ** 2 >= np.finfo(dtype).tiny
    assert zeros > 0  # the case did become subnormal


@given(st.sampled_from(["gaussians", "ladder", "laplacians", "powers"]), st.integers(0, 2**32 - 1))
def test_what_is_flushed_changes_no_sum(name, seed):
    # Sixteenths: distances are exact, so that rounding of exponents hides no loss. A ladder
    # may double its rounding 12 times (engine.program), which is 5e-13.
    rng = np.random.default_rng(seed)
    X = rng.integers(-24, 25, size=(12, 3)) / 16
    X[:6] = X[6:] + rng.integers(-1, 2, size=(6, 3)) / 16
    y = rng.normal(size=12)
    D, _, L = oracle.pair_primitives(X, X)
    if name == "powers":
        grams = [np.exp(-3 * LD(k.kernel.gamma) * D) for k in DECAYING[name]]
    else:
        distance = L if name == "laplacians" else D
        grams = [np.exp(-LD(k.gamma) * distance) for k in DECAYING[name]]
    s = alignment_statistics(X, y, DECAYING[name])
    a, M, _, target = oracle.statistics(grams, y)
    norm = np.sqrt(np.diagonal(M))
    bound = 5e-13 if name == "ladder" else 1e-13
    assert np.max(np.abs(s.M - M) / np.outer(norm, norm)) < bound
    assert np.max(np.abs(s.a - a) / (norm * target)) < bound
