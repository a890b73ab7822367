"""Streamed statistics against the definition on whole matrices in extended precision."""

from functools import partial

import numpy as np
import oracle
import pytest
from scipy import sparse
from usage import peak_of

import alignlearn as al
from alignlearn.kernels import (
    TL1,
    Columns,
    ExponentialDot,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    RankOneKernels,
    gaussian_kernels,
)
from alignlearn.sources import alignment_statistics

LD = oracle.LD


def data(m, d=5, seed=0):
    """Unit normal samples with duplicated points, and a target that depends on them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    X[: m // 5] = X[m // 2 : m // 2 + m // 5]
    return X, X[:, 0] + np.sin(X[:, -1]) + 0.3 * rng.normal(size=m)


def gaussian(gamma, columns=slice(None)):
    """The Gaussian kernel minus 1, which centering ignores and extended precision resolves."""
    return lambda X: np.expm1(-LD(gamma) * oracle.pair_primitives(X[:, columns], X[:, columns])[0])


def polynomial(gamma, coef0, degree):
    return lambda X: (LD(gamma) * oracle.pair_primitives(X, X)[1] + coef0) ** degree


def truncated(tau, columns):
    L1 = lambda X: oracle.pair_primitives(X[:, columns], X[:, columns])[2]  # noqa: E731
    return lambda X: np.maximum(tau - L1(X), 0)


FAMILIES = {
    "ladder": [(g, gaussian(g.gamma)) for g in gaussian_kernels(2.0 ** np.arange(-4, 4))],
    "unrelated gammas": [(g, gaussian(g.gamma)) for g in gaussian_kernels([0.03, 0.1, 0.7, 1.1])],
    "from constant to identity": [
        (g, gaussian(g.gamma)) for g in gaussian_kernels(10.0 ** np.arange(-6, 7, 2))
    ],
    "duplicated": [
        *[(Gaussian(0.2), gaussian(0.2))] * 5,
        (2 * Gaussian(0.2), lambda X: 2 * gaussian(0.2)(X)),
    ],
    "mixed": [
        (Columns(Gaussian(0.5), [0, 1]), gaussian(0.5, [0, 1])),
        (Gaussian(1e-6), gaussian(1e-6)),
        (Polynomial(0.2, 1.0, 3), polynomial(0.2, 1, 3)),
        (Linear(), polynomial(1, 0, 1)),
        (Columns(TL1(1.0), [2, 3]), truncated(1, [2, 3])),
        (Columns(Linear(), 4), lambda X: np.outer(X[:, 4], X[:, 4]).astype(LD)),
        (Columns(Gaussian(1.0), [0, 1]), gaussian(1.0, [0, 1])),
    ],
    "linear": [
        (Linear(), polynomial(1, 0, 1)),
        (3 * Columns(Linear(), [4, 1]), lambda X: 3 * (X[:, [4, 1]] @ X[:, [4, 1]].T).astype(LD)),
    ],
}


def errors(s, kernels_of, X, Y):
    """Largest error relative to |K_k| |K_l|, |K_k| |T| and the trace's absolute terms."""
    grams = [f(X) for f in kernels_of]
    a, M, trace, target = oracle.statistics(grams, Y)
    norm = np.sqrt(np.maximum(np.diagonal(M), 0))
    # For a kernel without variance only rounding remains.
    norm = np.where(norm > 1e-16 * np.array([np.sqrt(np.sum(K**2)) for K in grams]), norm, 1)
    return (
        float(np.max(np.abs(s.M - M) / np.outer(norm, norm))),
        float(np.max(np.abs(s.a - a) / (norm * target))) if target > 0 else 0.0,
        float(np.max(np.abs(s.trace - trace) / np.maximum(np.abs(trace), 1e-300))),
        float(abs(s.target_norm - target) / target) if target > 0 else 0.0,
    )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("unbiased", [False, True])
def test_statistics_equal_the_definition(family, unbiased):
    kernels, formulas = zip(*FAMILIES[family])
    X, y = data(70)
    s = alignment_statistics(X, y, kernels, unbiased=unbiased)
    if not unbiased:
        assert max(errors(s, formulas, X, y)) < 1e-10
        return
    m = len(X)
    grams = [f(X) for f in formulas]
    target = np.outer(y - y.mean(), y - y.mean())
    scale = [np.linalg.norm(oracle.center(K).astype(float)) for K in [*grams, target]]
    for k, K in enumerate(grams):
        for other, L in enumerate(grams):
            expected = m**2 * oracle.unbiased_hsic(K, L)
            assert abs(s.M[k, other] - expected) <= 1e-10 * scale[k] * scale[other]
        expected = m**2 * oracle.unbiased_hsic(K, target)
        assert abs(s.a[k] - expected) <= 1e-10 * scale[k] * scale[-1]
    expected = m * np.sqrt(oracle.unbiased_hsic(target, target))
    assert s.target_norm == pytest.approx(float(expected), rel=1e-10)


@pytest.mark.parametrize("m", [1, 2, 3, 7, 63, 65, 127, 128, 129, 257])
def test_sizes_around_the_borders_of_blocks(m):
    kernels, formulas = zip(*FAMILIES["mixed"])
    X, y = data(m)
    s = alignment_statistics(X, y, kernels)
    assert s.n_samples == m
    if m == 1:
        for value in (s.a, s.M, s.trace, s.target_norm):
            np.testing.assert_array_equal(value, 0)
    else:
        assert max(errors(s, formulas, X, y)) < 1e-10


@pytest.mark.parametrize("p", [1, 2, 3, 4, 5, 6, 9, 11, 21])
def test_numbers_of_kernels_around_the_borders_of_product_blocks(p):
    gammas = np.geomspace(0.01, 3.0, p)
    X, y = data(140, d=7)
    s = alignment_statistics(X, y, gaussian_kernels(gammas))
    assert max(errors(s, [gaussian(g) for g in gammas], X, y)) < 1e-10
    np.testing.assert_array_equal(s.M, s.M.T)


TARGETS = {
    "three classes": (lambda y: np.digitize(y, [-0.5, 0.5]), lambda y: np.eye(3)[y]),
    "strings": (
        lambda y: np.where(y > 0, "yes", "no").tolist(),
        lambda y: np.where(np.array(y) == "yes", 1.0, -1.0),
    ),
    "booleans": (lambda y: y > 0.3, lambda y: np.where(y, 1.0, -1.0)),
    "matrix": (lambda y: np.column_stack([y, y**2, np.ones_like(y)]), lambda y: y),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_targets(kind):
    make, columns = TARGETS[kind]
    X, y = data(133)
    y = make(y)
    kernels, formulas = zip(*FAMILIES["mixed"])
    s = alignment_statistics(X, y, kernels)
    assert max(errors(s, formulas, X, columns(y))) < 1e-10
    accurate = alignment_statistics(X, y, kernels, unbiased=True)
    assert not np.allclose(accurate.M, s.M, rtol=1e-4)


def test_large_constant_parts_of_any_kernel_cost_few_digits():
    X, y = data(90)
    # The constant is in the values here; the pilot's mean removes it before they are squared.
    hidden = Polynomial(1.0, 1e5, 2)
    s = alignment_statistics(X, y, [hidden, Gaussian(1.0)])
    assert max(errors(s, [polynomial(1, 10**5, 2), gaussian(1.0)], X, y)) < 1e-10
    for kernel in (Polynomial(0.1, 1.0, 2), Linear(), TL1(3.0), 0.5 * Gaussian(0.1) + Linear()):
        plain = alignment_statistics(X, y, [kernel, Laplacian(1.0)])
        shifted = alignment_statistics(X, y, [kernel + 1e6, Laplacian(1.0)])
        np.testing.assert_allclose(shifted.M, plain.M, rtol=1e-8)
        np.testing.assert_allclose(shifted.a, plain.a, rtol=1e-8)


@pytest.mark.parametrize("m", [3, 7, 300])
def test_kernels_without_variance_are_exactly_zero(m):
    y = np.arange(float(m))
    X = np.full((m, 3), 0.1)
    kernels = ["rbf", "linear", "poly", "sigmoid", "cosine", "tl1", "log", "exponential-dot"]
    others = [Polynomial(0.3).normalized(), ExponentialDot(0.7), Gaussian(0.1) + ExponentialDot()]
    s = alignment_statistics(X, y, [*kernels, *others])
    for value in (s.a, s.M, s.trace, s.alignments):
        np.testing.assert_array_equal(value, 0)
    X = np.column_stack([np.full(m, 0.1), y])
    s = alignment_statistics(X, y, RankOneKernels())
    np.testing.assert_allclose(s.alignments, [0, 1], rtol=1e-12)
    assert s.M[0, 0] == s.a[0] == 0
    s = alignment_statistics(X, y, [Columns(Linear(), 0), Linear()])
    np.testing.assert_allclose(s.alignments, [0, 1], rtol=1e-12)
    s = alignment_statistics(X, np.full(m, 0.1), ["rbf"])
    assert s.target_norm == s.a[0] == s.alignments[0] == 0


def test_narrow_kernels_have_unbiased_statistics_exactly_zero():
    """Diagonal on the sample: for U-statistics only rounding remains."""
    X, y = np.arange(37.0)[:, None], np.sin(np.arange(37.0))
    s = alignment_statistics(X, y, [Gaussian(800.0), Gaussian(1.0)], unbiased=True)
    for value in (s.M[0], s.a[:1], s.alignments[:1]):
        np.testing.assert_array_equal(value, 0)
    assert s.M[1, 1] > 0


SPARSE = {
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "csr matrix": sparse.csr_matrix,
    "lil": sparse.lil_array,
    "dense": np.asarray,
}


@pytest.mark.parametrize("form", SPARSE)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_rank_one_kernels(form, dtype):
    rng = np.random.default_rng(0)
    X = (rng.integers(-4, 5, size=(60, 8)) * (rng.random((60, 8)) < 0.3)).astype(dtype)
    X[:, 3] = 0
    X[:, 4] = 2  # constant columns
    y = rng.normal(size=60)
    s = alignment_statistics(SPARSE[form](X), y, RankOneKernels())
    formulas = [lambda X, k=k: np.outer(X[:, k], X[:, k]).astype(LD) for k in range(8)]
    assert max(errors(s, formulas, X.astype(float), y)[:2]) < 1e-12
    np.testing.assert_array_equal(s.M[[3, 4]], 0)
    exact = oracle.statistics([f(X.astype(float)) for f in formulas], y)[2]
    np.testing.assert_allclose(s.trace, exact, rtol=1e-10, atol=1e-9)
    assert s.names[2] == "column 2"


def test_default_kernels_are_a_ladder_around_the_variance_of_the_data():
    X, y = data(40)
    s = alignment_statistics(100 * X, y)
    np.testing.assert_allclose(s.M, alignment_statistics(X, y).M, rtol=1e-9)
    assert s.n_kernels == len(s.names) == 9


def test_measures_hold_no_second_matrix():
    """An eighth of the matrix at m = 2000; less for more samples."""
    K, y = np.eye(2000) + 1.0, np.arange(2000.0)
    for measure in (al.alignment, al.hsic, al.cka):
        assert peak_of(partial(measure, K, y)) < 0.3 * K.nbytes
