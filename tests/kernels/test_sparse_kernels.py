"""Every kernel on the rows of a sparse matrix is the kernel on those of the array."""

import pickle

import numpy as np
import pytest
from cases import each
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from strategies import generators

import alignlearn as al
from alignlearn.kernels import (
    TL1,
    Binomial,
    Columns,
    Cosine,
    Exponential,
    ExponentialDot,
    FeatureWeighted,
    FourierFeatures,
    FromFunction,
    Gaussian,
    Gower,
    Hamming,
    Kernel,
    Laplacian,
    Linear,
    Log,
    Matern,
    MinMax,
    Named,
    Periodic,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Rescaled,
    Sigmoid,
    StringSpectrum,
    Tanimoto,
    weighted_sum,
)

D = 8
PLAIN = [
    Gaussian(0.2), Gaussian("median"), Gaussian("scale", 3.0), Laplacian(0.3), Laplacian("scale"),
    Exponential(0.4), Exponential("median"), ExponentialDot(0.1), ExponentialDot("scale"),
    Linear(), Polynomial("scale"), Polynomial("median", 0.5, 2), Polynomial(0.01, 2.0, 1.5),
    Binomial(1e-3), Sigmoid(0.1), TL1(), TL1(3.0), Log(2.0), Cosine(), Matern(0.5), Matern(1.5),
    Matern(2.5, gamma="median"), RationalQuadratic(2.0), Hamming(), Tanimoto(),
    Periodic(1.5, 2.0),
    FeatureWeighted(np.arange(1.0, D + 1.0)),
    FourierFeatures(np.sin(np.arange(3.0 * D)).reshape(3, D), np.ones(3)),
]  # fmt: skip
MADE = [
    Gaussian(0.2) * Laplacian(0.1), Gaussian("scale") + 2.0 * Linear() + 1.0, Polynomial(0.1) ** 2,
    Linear().normalized(), Polynomial(0.1).normalized(), (0.1 * Linear()).exp(),
    (Linear() + Polynomial(0.1, 1.0, 2)).exp().normalized(), ExponentialDot("scale").normalized(),
    Gaussian(0.3).exp(), weighted_sum([Gaussian(0.1), Linear()], np.array([0.7, -0.2])),
    Columns("rbf", [5, 1, 1, 2]), Columns(Linear(), range(3)) + Columns(Hamming(), [0, 7]),
    Columns(Columns(Laplacian("scale"), [2, 0]), [4, 3, 6]), Columns(Cosine(), 2),
]  # fmt: skip


def test_every_kernel_class_is_here():
    def classes(kernel):
        yield from (c for c in kernel.__subclasses__() for c in (c, *classes(c)))

    listed = {type(k) for k in PLAIN}
    public = {c for c in classes(Kernel) if c.__name__ in al.kernels.__all__}
    # MinMax has samples of its own, in test_overlap_kernels.py.
    refused = {FromFunction, Gower, MinMax, Precomputed, Rescaled, StringSpectrum}
    assert public - refused == (listed | {Columns, Named, al.kernels.Scaled}) & public


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
    assert Gaussian("scale").resolve(sparse.csr_array(same)) == Gaussian("scale").resolve(same)
    assert Gaussian("median").resolve(sparse.csr_array((4, 3))).gamma == 1.0


def test_single_precision_stays():
    A = thin(np.random.default_rng(3), m=20).astype(np.float32)
    X = sparse.csr_array(A)
    for kernel in (Gaussian(0.2), Laplacian(0.2), Polynomial(0.1), Cosine(), Linear()):
        found, expected = kernel(X), kernel(A)
        assert found.dtype == expected.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)
        assert kernel(X, A.astype(np.float64)).dtype == np.float64
        assert kernel(X, A).dtype == np.float32


@given(generators(), st.booleans())
def test_statistics_are_those_of_dense_samples(rng, unbiased):
    A = thin(rng, m=12)
    y = rng.normal(size=12)
    kernels = [Gaussian(0.1), Gaussian(0.2), "laplacian", "linear", "poly", Matern(1.5), "hamming"]
    X = sparse.csc_array(A)
    found, expected = (al.alignment_statistics(S, y, kernels, unbiased=unbiased) for S in (X, A))
    # U-statistics are differences of terms of this size, and are rounded in its units.
    norms = al.alignment_statistics(A, y, kernels).norms
    size = np.outer(norms, norms) + 1e-300
    assert np.all(np.abs(found.M - expected.M) <= 1e-12 * size)
    np.testing.assert_allclose(found.trace, expected.trace, rtol=1e-11, atol=1e-11)
    centered = np.linalg.norm(y - y.mean()) ** 2
    assert np.all(np.abs(found.a - expected.a) <= 1e-12 * norms * centered)
    assert found.names == expected.names
    folds = np.arange(12) % 3
    for one, other in zip(*(al.alignment_statistics(S, y, kernels, folds=folds) for S in (X, A))):
        np.testing.assert_allclose(one.M, other.M, rtol=1e-9, atol=1e-10 * size.max())


def test_mini_batches_of_linear_and_other_kernels():
    rng = np.random.default_rng(0)
    A, y = rng.poisson(0.5, size=(40, 6)).astype(float), rng.normal(size=40)
    for kernels in (["linear"], ["linear", "rbf", Columns("poly", [1, 2])]):
        sums = []
        for samples in (A, sparse.csr_array(A)):
            accumulator = al.AlignmentAccumulator(kernels)
            for i in range(0, 40, 10):
                accumulator.update(samples[i : i + 10], y[i : i + 10])
            sums.append(accumulator.statistics())
        np.testing.assert_allclose(sums[1].M, sums[0].M, rtol=1e-10)
        np.testing.assert_allclose(sums[1].a, sums[0].a, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="X has 5 columns, but earlier batches had 6"):
        accumulator.update(sparse.csr_array(A[:10, :5]), y[:10])


REFUSED = {
    "a function": FromFunction(max),
    "a matrix": Precomputed(np.eye(4), name="the matrix"),
    "a factor": Gaussian(1.0).weighted(np.ravel),
    "a part": Gaussian(1.0) + Columns(FromFunction(max), 0),
}


@each("which", REFUSED)
def test_kernels_that_read_other_samples_are_named(which):
    kernel, A = REFUSED[which], np.eye(4)
    for call in (kernel, kernel.diag):
        with pytest.raises(TypeError) as error:
            call(sparse.csr_array(A))
        assert f"X is a sparse matrix, which {kernel} does not accept" in str(error.value)
        assert "X.toarray()" in str(error.value)


def test_widths_must_agree():
    with pytest.raises(ValueError, match="X has 8 columns but Y has 7"):
        Gaussian(1.0)(sparse.eye_array(4, 8), np.eye(4, 7))


def test_a_kernel_pickles_small_after_use():
    kernel = Gaussian("scale").resolve(sparse.random_array((500, 300), density=0.1))
    kernel(sparse.random_array((500, 300), density=0.1))
    assert len(pickle.dumps(kernel)) < 1000
