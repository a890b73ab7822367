"""Exponentials in ratio 2^n share one exponential, in both forms, without loss of accuracy."""

import numpy as np
import oracle
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st

from alignlearn.engine import opcodes as ops
from alignlearn.engine.grams import weighted_gram
from alignlearn.engine.program import Mode, program_of
from alignlearn.kernels import (
    Columns,
    Exponential,
    ExponentialDot,
    FromFunction,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    gaussian_kernels,
    ladder,
)
from alignlearn.sources import alignment_statistics
from alignlearn.statistics import center_kernel

X = np.random.default_rng(0).normal(size=(37, 3))
X[:5] = X[5:10] + 1e-5
EXPONENTIALS = (ops.EXP, ops.EXPM1)


def count_exponentials(kernels, **options):
    code = program_of(kernels, X, X, **options).code
    return int(np.isin(code[:, 0], EXPONENTIALS).sum())


@pytest.mark.parametrize("options", [{}, {"mode": Mode.SHIFTED}], ids=str)
def test_a_ladder_needs_one_exponential(options):
    rng = np.random.default_rng(0)
    for gammas in (2.0 ** np.arange(-6, 4), 4.0 ** np.arange(-3, 3), [3.0, 1.5, 12.0]):
        assert count_exponentials(gaussian_kernels(rng.permutation(gammas)), **options) == 1
    assert count_exponentials(gaussian_kernels([1.0, 3.0, 9.0]), **options) == 3
    # Another primitive, or the same on other columns, is another ladder.
    kernels = [Gaussian(1.0), Laplacian(2.0), Columns(Gaussian(2.0), [0]), Exponential(4.0)]
    assert count_exponentials(kernels, **options) == 4


@each(
    "gammas",
    [
        *[[0.1, 0.1 * 2**k] for k in range(1, 6)],
        [3.2, 0.1, 0.8, 0.1, 0.3, 3.2, 0.2],
        list(2.0 ** np.arange(-30, 31)),
    ],
)
@each("kind", [Gaussian, Laplacian, Exponential])
def test_ladder_equals_one_by_one(kind, gammas):
    kernels = [kind(g) for g in gammas]
    for k, kernel in enumerate(kernels):
        pick = np.eye(len(kernels))[k]
        # At 1e-150, where values become 0, rounding decides.
        K = weighted_gram(kernels, pick, X)
        np.testing.assert_allclose(K, kernel(X), rtol=1e-11, atol=2e-150)


MIXED = [Gaussian(1.0), Linear() + 1, Laplacian(0.5), Columns(Gaussian("scale"), [0, 2]), Linear()]


class Nearness:
    """A function that cannot be hashed."""

    __hash__ = None

    def __call__(self, x, z):
        return 1.0 / (1.0 + abs(x[0] - z[0]))


@each("dtype", [np.float64, np.float32])
@each("options", [{}, {"unbiased": True}, {"folds": np.arange(37) % 3}])
@each(
    "kernels",
    [
        gaussian_kernels(2.0 ** np.arange(-3, 4)),
        MIXED,
        [FromFunction(Nearness()), Gaussian(2.0)],
        [Columns(Linear(), [0]), Columns(Linear(), [1, 2]), 3.0 * Linear()],
    ],
)
def test_duplicates_are_bitwise_equal(kernels, options, dtype):
    p = len(kernels)
    index = np.random.default_rng(p).permutation([*range(p), *range(p), 0])
    A = X.astype(dtype)
    once = alignment_statistics(A, A[:, 0], kernels, **options)
    found = alignment_statistics(A, A[:, 0], [kernels[k] for k in index], **options)
    together = [(found, once)] if "folds" not in options else zip(found, once, strict=True)
    for s, expected in together:
        for value in (s.a, s.trace, np.diagonal(s.M), *s.M):
            for k in range(p):
                assert len(set(value[index == k])) == 1
        assert s.names == tuple(expected.names[k] for k in index)
        np.testing.assert_allclose(s.a, expected.a[index], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(s.M, expected.M[np.ix_(index, index)], rtol=1e-5, atol=1e-4)


def test_a_kernel_equal_after_resolving_is_a_duplicate():
    scale = float(1.0 / (X.shape[1] * X.var()))
    kernels = [Gaussian("scale"), Gaussian(0.7), Gaussian("scale").resolve(X)]
    assert kernels[2].gamma == pytest.approx(scale)
    s = alignment_statistics(X, X[:, 0], kernels)
    assert s.a[0] == s.a[2]
    np.testing.assert_array_equal(s.M[0], s.M[2])


@pytest.mark.parametrize("kind", [Gaussian, ExponentialDot])
def test_long_ladder_keeps_its_accuracy(kind):
    """Sixty squarings in a row would turn a rounding into 1e-8."""
    gammas = 2.0 ** np.arange(-25, 36 if kind is Gaussian else 4)
    y = X[:, 1] ** 2
    s = alignment_statistics(X, y, [kind(g) for g in gammas])
    D, G, _ = oracle.pair_primitives(X, X)
    t = -D if kind is Gaussian else G
    a, M, _, target = oracle.statistics([np.expm1(np.longdouble(g) * t) for g in gammas], y)
    norm = np.sqrt(np.diagonal(M))
    assert np.max(np.abs(s.M - M) / np.outer(norm, norm)) < 1e-11
    assert np.max(np.abs(s.a - a) / (norm * target)) < 1e-11


ANY = [
    *gaussian_kernels(2.0 ** np.arange(-8, 6)),
    *[kind(gamma) for kind in (Laplacian, ExponentialDot) for gamma in (0.1, 0.2)],
    *[Columns(Gaussian(gamma), [0, 2]) for gamma in (0.5, 1.0)],
    *[Linear(), Polynomial(0.5), Gaussian(0.5) + Linear(), 2 * Gaussian(0.25)],
    Gaussian(0.5) * Laplacian(2.0) + 0.7,
]


@given(st.lists(st.sampled_from(ANY), min_size=1, max_size=9))
def test_any_mix_equals_one_by_one_and_up_to_what_centering_removes_in_centered_mode(kernels):
    weights = np.arange(1.0, len(kernels) + 1)
    expected = sum(w * k(X) for w, k in zip(weights, kernels))
    np.testing.assert_allclose(weighted_gram(kernels, weights, X), expected, rtol=1e-12, atol=1e-13)
    difference = weighted_gram(kernels, weights, X, exact=False) - expected
    assert np.abs(center_kernel(difference)).max() <= 1e-13 * np.abs(expected).max()


# Families of one class


def test_a_ladder_of_gaussians_is_that_of_gaussian_kernels():
    gammas = [0.3, 2.0, 1.0 / 3.0]
    assert ladder(Gaussian, gammas, gamma=1.0) == gaussian_kernels(gammas)
    assert ladder(Gaussian, 2.0 ** np.arange(-4, 5)) == gaussian_kernels()
    # A kernel relative to "scale" equals the one whose gamma is that number.
    scale = Gaussian().resolve(X).gamma
    relative = [kernel.resolve(X) for kernel in ladder(Gaussian, gammas)]
    assert [k.gamma for k in relative] == pytest.approx([scale * g for g in gammas])


def test_ladders_of_other_kernels():
    multiples, L1 = np.array([0.5, 1.0, 2.0]), oracle.pair_primitives(X, X)[2].astype(float)
    for kernel, m in zip(ladder(Laplacian, multiples, gamma="median"), multiples):
        assert kernel == Laplacian("median", multiple=m)
        expected = np.exp(-m * Laplacian("median").resolve(X).gamma * L1)
        np.testing.assert_allclose(kernel.resolve(X)(X), expected, atol=1e-12)
    assert count_exponentials([k.resolve(X) for k in ladder(Laplacian, multiples)]) == 1
    assert ladder(Matern, [3], nu=2.5) == [Matern(2.5, multiple=3.0)]
    assert ladder(Matern, [3], length_scale=2.0) == [Matern(length_scale=2.0, multiple=3.0)]
    assert ladder(Polynomial, [4], gamma=0.5, degree=2) == [Polynomial(2.0, degree=2)]


@each(
    ("given", "parameters", "error", "match"),
    [
        ((Linear, [1.0]), {}, TypeError, "Linear has no parameter gamma"),
        (("rbf", [1.0]), {}, TypeError, "kernel_class must be a class of kernels"),
        ((Gaussian, []), {}, ValueError, "multiples has shape|multiples must be an array"),
        ((Gaussian, 2.0), {}, ValueError, "multiples has shape"),
        ((Gaussian, [1.0, 0.0]), {}, ValueError, "finite 0 < multiples"),
        ((Gaussian, [1.0]), {"gamma": None}, TypeError, "gamma"),
        ((Gaussian, [1.0]), {"gamma": "wide"}, ValueError, "gamma='wide'"),
        ((Gaussian, [1.0]), {"multiple": 2.0}, TypeError, "'multiple' is not a parameter"),
        ((Gaussian, [1.0]), {"nu": 0.5}, TypeError, "'nu' is not a parameter"),
        ((Matern, [1.0]), {"nu": 3.0}, ValueError, "nu=3"),
        ((Polynomial, [1.0]), {}, ValueError, "Polynomial cannot multiply"),
    ],
)
def test_bad_arguments_of_a_ladder(given, parameters, error, match):
    with pytest.raises(error, match=match):
        ladder(*given, **parameters)
