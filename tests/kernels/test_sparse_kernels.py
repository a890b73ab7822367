"""Every kernel on the rows of a sparse matrix is the kernel on those of the array."""

import re

import numpy as np
import pytest
from cases import each
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from scipy import sparse
from strategies import generators

import alignlearn as al
from alignlearn.kernels import FeatureWeighted, Named, Rescaled, weighted_sum

D = 8
PLAIN = [
    al.Gaussian(0.2), al.Gaussian("median"), al.Gaussian("scale", 3.0), al.Laplacian(0.3),
    al.Laplacian("scale"), al.Exponential(0.4), al.Exponential("median"), al.ExponentialDot(0.1),
    al.ExponentialDot("scale"), al.Linear(), al.Polynomial("scale"),
    al.Polynomial("median", 0.5, 2), al.Polynomial(0.01, 2.0, 1.5), al.Binomial(1e-3),
    al.Sigmoid(0.1), al.TL1(), al.TL1(3.0), al.Log(2.0), al.Cosine(), al.Matern(0.5),
    al.Matern(1.5), al.Matern(2.5, gamma="median"), al.RationalQuadratic(2.0), al.Hamming(),
    al.Tanimoto(), al.Periodic(1.5, 2.0), FeatureWeighted(np.arange(1.0, D + 1.0)),
    al.FourierFeatures(np.sin(np.arange(3.0 * D)).reshape(3, D), np.ones(3)),

]  # fmt: skip
MADE = [
    al.Gaussian(0.2) * al.Laplacian(0.1), al.Gaussian("scale") + 2.0 * al.Linear() + 1.0,
    al.Polynomial(0.1) ** 2, al.Linear().normalized(), al.Polynomial(0.1).normalized(),
    (0.1 * al.Linear()).exp(), (al.Linear() + al.Polynomial(0.1, 1.0, 2)).exp().normalized(),
    al.ExponentialDot("scale").normalized(), al.Gaussian(0.3).exp(),
    weighted_sum([al.Gaussian(0.1), al.Linear()], np.array([0.7, -0.2])),
    al.Columns("rbf", [5, 1, 1, 2]),
    al.Columns(al.Linear(), range(3)) + al.Columns(al.Hamming(), [0, 7]),
    al.Columns(al.Columns(al.Laplacian("scale"), [2, 0]), [4, 3, 6]), al.Columns(al.Cosine(), 2),

]  # fmt: skip


def test_every_kernel_class_is_here():
    def classes(kernel):
        yield from (c for c in kernel.__subclasses__() for c in (c, *classes(c)))

    listed = {type(k) for k in PLAIN}
    public = {c for c in classes(al.Kernel) if c.__name__ in al.kernels.__all__}
    # MinMax has samples of its own, in test_overlap_kernels.py.
    refused = {al.FromFunction, al.Gower, al.MinMax, al.Precomputed, Rescaled, al.StringSpectrum}
    assert public - refused == (listed | {al.Columns, Named, al.kernels.Scaled}) & public


def thin(rng, m=None):
    m = int(rng.integers(2, 10)) if m is None else m
    A = rng.normal(size=(m, D)) * (rng.random((m, D)) < rng.choice([0.1, 0.4, 1.0]))
    kind = rng.integers(4)
    if kind == 0:
        A = A[rng.integers(0, m, size=m)]
    elif kind == 1:
        A[rng.integers(m)] = 0.0
    elif kind == 2:
        A = np.round(3 * A)
    return A


@pytest.mark.parametrize("kernel", [*PLAIN, *MADE], ids=str)
@settings(max_examples=8)
@given(rng=generators(), form=st.sampled_from(["csr", "csc", "coo"]), old=st.booleans())
def test_values_are_those_of_dense_samples(kernel, rng, form, old):
    make = sparse.coo_matrix if old else sparse.coo_array
    A, B = thin(rng), thin(rng)
    X, Z = make(A).asformat(form), make(B).asformat(form)
    # Scales of both, for which no exponent overflows.
    kernel = kernel.resolve(np.concatenate([A, B]))
    K, against = kernel(A), kernel(A, B)
    # Primitives are rounded to 32 units at most, and exponents are moderate on these samples.
    close = {"rtol": 1e-12, "atol": 1e-12 * np.abs(K).max()}
    np.testing.assert_allclose(kernel(X), K, **close)
    np.testing.assert_allclose(kernel(X, X), K, **close)
    close["atol"] = 1e-12 * max(np.abs(against).max(), np.abs(K).max())
    for pair in ((X, Z), (X, B), (A, Z)):
        found = kernel(*pair)
        assert (type(found), found.dtype) == (np.ndarray, np.float64)
        np.testing.assert_allclose(found, against, **close)
    np.testing.assert_allclose(kernel.diag(X), kernel.diag(A), **close)


@each("kernel", PLAIN)
def test_parameters_from_the_data_are_those_of_dense_samples(kernel):
    for seed in range(5):
        A = thin(np.random.default_rng(seed), m=30)
        for offset in (0.0, 1e6):
            A = A + offset
            found, expected = kernel.resolve(sparse.csr_array(A)), kernel.resolve(A)
            if hasattr(kernel, "gamma"):
                assert found.gamma == pytest.approx(expected.gamma, rel=1e-12)
            else:
                assert found == expected
    same = np.full((4, 3), 0.1)
    assert al.Gaussian("scale").resolve(sparse.csr_array(same)) == al.Gaussian("scale").resolve(
        same
    )
    assert al.Gaussian("median").resolve(sparse.csr_array((4, 3))).gamma == 1.0


def test_single_precision_stays():
    A = thin(np.random.default_rng(3), m=20).astype(np.float32)
    X = sparse.csr_array(A)
    for kernel in (
        al.Gaussian(0.2),
        al.Laplacian(0.2),
        al.Polynomial(0.1),
        al.Cosine(),
        al.Linear(),
    ):
        found, expected = kernel(X), kernel(A)
        assert found.dtype == expected.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)
        assert kernel(X, A.astype(np.float64)).dtype == np.float64
        assert kernel(X, A).dtype == np.float32


@each(
    "kernel",
    [
        al.FromFunction(max),
        al.Precomputed(np.eye(4), name="the matrix"),
        al.Gaussian(1.0).weighted(np.ravel),
        al.Gaussian(1.0) + al.Columns(al.FromFunction(max), 0),
    ],
)
def test_kernels_that_read_other_samples_are_named(kernel):
    message = (
        re.escape(f"X is a sparse matrix, which {kernel} does not accept") + r".*X\.toarray\(\)"
    )
    for call in (kernel, kernel.diag):
        raises(TypeError, message, call, sparse.csr_array(np.eye(4)))


def test_widths_must_agree():
    A, B = sparse.eye_array(4, 8), np.eye(4, 7)
    raises(ValueError, "X has 8 columns but Y has 7", al.Gaussian(1.0), A, B)
