"""Centering, alignment, HSIC and CKA of Gram matrices: invariances, definitions, expectations."""

import itertools
from fractions import Fraction
from functools import partial
from math import factorial

import numpy as np
import oracle
import pytest
from cases import each
from hypothesis import assume, given
from hypothesis import strategies as st
from refusals import raises
from strategies import generators, gram_matrices, labels

from alignlearn.statistics import alignment, center_kernel, cka, hsic
from alignlearn.validation import DegenerateKernelWarning


@st.composite
def gram_pairs(draw, min_samples=1):
    K = draw(gram_matrices(min_samples=min_samples))
    return K, draw(gram_matrices(n_samples=len(K)))


def frobenius(A, B):
    return float(np.sum(np.asarray(A, oracle.LD) * B))


@given(gram_matrices())
def test_centered_kernel_is_h_k_h(K):
    centered = center_kernel(K)
    tolerance = 1e-14 * np.abs(K).max()
    np.testing.assert_allclose(centered, oracle.center(K).astype(float), rtol=0, atol=tolerance)
    np.testing.assert_allclose(centered.sum(axis=0), 0, atol=len(K) * tolerance)
    np.testing.assert_allclose(center_kernel(centered), centered, rtol=0, atol=4 * tolerance)


@given(generators(), st.integers(1, 8), st.integers(1, 5))
def test_new_samples_are_centered_with_the_training_mean_feature(rng, m, n):
    features, new = rng.normal(size=(m, 3)), rng.normal(size=(n, 3))
    mean = features.mean(axis=0)
    expected = (new - mean) @ (features - mean).T
    centered = center_kernel(new @ features.T, features @ features.T)
    np.testing.assert_allclose(centered, expected, atol=1e-13)
    K = features @ features.T
    np.testing.assert_allclose(center_kernel(K, K), center_kernel(K), atol=1e-13)


@given(gram_pairs(min_samples=2), st.floats(1e-6, 1e6), st.floats(0, 10))
@pytest.mark.filterwarnings("ignore::alignlearn.DegenerateKernelWarning")
def test_alignment_is_the_cosine_of_centered_matrices(pair, scale, shift):
    K, L = pair
    value = alignment(K, L)
    Kc, Lc = oracle.center(K), oracle.center(L)
    norms = np.sqrt(np.sum(Kc * Kc) * np.sum(Lc * Lc))
    # Near constant matrices (1 + 1e-6 K) the centered part has lost six digits on entry.
    assume(min(np.abs(Kc).max() / np.abs(K).max(), np.abs(Lc).max() / np.abs(L).max()) > 1e-8)
    assert value == pytest.approx(float(np.sum(Kc * Lc) / norms), abs=1e-6)
    assert -1e-12 <= value <= 1 + 1e-12
    assert alignment(L, K) == pytest.approx(value, abs=1e-13)
    assert alignment(scale * K, L) == pytest.approx(value, abs=1e-7)
    assert alignment(K + shift * np.abs(K).max(), L) == pytest.approx(value, abs=1e-6)
    assert alignment(K, K) == pytest.approx(1, abs=1e-12)
    assert cka(K, L) == pytest.approx(value, abs=1e-13)


@given(gram_pairs())
@pytest.mark.filterwarnings("ignore::alignlearn.DegenerateKernelWarning")
def test_other_kinds_follow_their_definitions(pair):
    K, L = pair
    m, norms = len(K), np.linalg.norm(K) * np.linalg.norm(L)
    expected = frobenius(K, L) / norms if norms > 0 else 0.0
    assert alignment(K, L, kind="uncentered") == pytest.approx(expected, rel=1e-12)
    expected = frobenius(oracle.center(K), oracle.center(L)) / m**2
    value = alignment(K, L, kind="unnormalized")
    assert value == pytest.approx(expected, abs=1e-13 * norms)
    assert hsic(K, L) == value
    assert value >= -1e-13 * norms


def one_hot(y):
    return (np.asarray(y)[:, None] == np.unique(y)).astype(float)


@given(st.data(), st.integers(2, 9))
@pytest.mark.filterwarnings("ignore::alignlearn.DegenerateKernelWarning")
def test_labels_stand_for_their_target_kernel(data, m):
    K = data.draw(gram_matrices(n_samples=m))
    y = data.draw(labels(m))
    Y = one_hot(y)
    if Y.shape[1] == 2:
        Y = Y[:, 1:] - Y[:, :1]  # -1 and +1
    for kind in ("centered", "uncentered", "unnormalized"):
        if Y.shape[1] == 1 and kind == "uncentered":
            continue  # one class: the sign of the label is arbitrary, its kernel 11' is not
        expected = alignment(K, Y @ Y.T, kind=kind)
        assert alignment(K, y, kind=kind) == pytest.approx(expected, rel=1e-9, abs=1e-13)
    assert cka(K, y) == pytest.approx(cka(K, Y @ Y.T), rel=1e-9, abs=1e-13)


@given(gram_pairs(min_samples=4))
def test_unbiased_hsic_is_the_zeroed_diagonal_form(pair):
    K, L = pair
    bound = 1e-12 * np.abs(K).max() * np.abs(L).max()
    assert abs(hsic(K, L, unbiased=True) - oracle.unbiased_hsic(K, L)) <= bound


# Three points of probability 1/2, 1/3, 1/6 and two kernels on them, in rationals.
_P = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
_U = [Fraction(1), Fraction(1, 2), Fraction(-1)]
_W = [Fraction(1), Fraction(-1), Fraction(1, 3)]
_K = [[a * b + Fraction(int(i == j), 2) for j, b in enumerate(_U)] for i, a in enumerate(_U)]
_L = [[a * b for b in _W] for a in _W]


def _population_hsic():
    def centered(K):
        rows = [sum(p * v for p, v in zip(_P, row)) for row in K]
        mean = sum(p * r for p, r in zip(_P, rows))
        return [[K[i][j] - rows[i] - rows[j] + mean for j in range(3)] for i in range(3)]

    Kc, Lc = centered(_K), centered(_L)
    pairs = itertools.product(range(3), repeat=2)
    return sum(_P[i] * _P[j] * Kc[i][j] * Lc[i][j] for i, j in pairs)


def _expectation(statistic, m):
    """Over samples of size m: a statistic of the counts, weighted by multinomial probabilities."""
    total = 0.0
    for counts in itertools.product(range(m + 1), repeat=3):
        if sum(counts) != m:
            continue
        probability = Fraction(factorial(m))
        for n, p in zip(counts, _P):
            probability *= p**n / Fraction(factorial(n))
        index = np.repeat(np.arange(3), counts)
        grams = (np.array(A, dtype=float)[np.ix_(index, index)] for A in (_K, _L))
        total += float(probability) * statistic(*grams)
    return total


@pytest.mark.parametrize("m", [4, 5, 6])
def test_unbiased_hsic_has_the_population_value_as_expectation(m):
    assert _population_hsic() == Fraction(136, 729)
    value = _expectation(lambda K, L: hsic(K, L, unbiased=True), m)
    assert value == pytest.approx(136 / 729, rel=1e-12)


@pytest.mark.parametrize(("m", "expected"), [(2, 217 / 1296), (3, 719 / 4374), (4, 2531 / 15552)])
def test_biased_hsic_has_the_known_exact_expectation(m, expected):
    """Values of the corrected Lemma 19 of Cortes, Mohri and Rostamizadeh (2012)."""
    assert _expectation(hsic, m) == pytest.approx(expected, rel=1e-12)


@given(st.integers(1, 12), st.sampled_from([0.0, 0.1, 0.3, 0.7, 1e-9, 3e8]), generators())
def test_a_matrix_without_variance_has_alignment_zero_and_says_so(m, value, rng):
    L, f = np.eye(m), rng.normal(size=m)
    for K in (np.full((m, m), value), value * (f[:, None] + f)):
        for call, *pair in ((alignment, K, L), (alignment, L, K), (alignment, K, K), (cka, K, K)):
            with pytest.warns(DegenerateKernelWarning, match="no variance"):
                assert call(*pair) == 0.0
        assert hsic(K, L) == 0.0
        if m >= 4:
            with pytest.warns(DegenerateKernelWarning):
                assert cka(K, K, unbiased=True) == 0.0


@each("y", [np.full(3, 0.1), [1, 1, 1], ["a", "a", "a"], np.zeros(3)])
def test_constant_target_has_alignment_zero_and_says_so(y):
    with pytest.warns(DegenerateKernelWarning):
        assert alignment(np.diag([1.0, 2, 3]), y) == 0.0
    with pytest.warns(DegenerateKernelWarning):
        assert alignment(np.zeros((3, 3)), np.eye(3), kind="uncentered") == 0.0


@each("m", [4, 5, 7, 9, 10, 33])
def test_unbiased_cka_of_a_diagonal_matrix_is_zero_and_says_so(m):
    """Only its diagonal differs from a constant, and U-statistics leave the diagonal out."""
    f = np.random.default_rng(m).normal(size=m)
    K = np.diag(f**2) + 0.3 + f[:, None] + f
    for L in (K, np.outer(f, f)):
        with pytest.warns(DegenerateKernelWarning, match="off its diagonal"):
            assert cka(K, L, unbiased=True) == 0.0
    assert cka(K, K) == pytest.approx(1)


@given(st.integers(4, 7), st.integers(1, 5), generators())
def test_unbiased_products_form_a_positive_semi_definite_matrix(m, p, rng):
    """They are inner products of U-centered matrices, for indefinite kernels too."""
    grams = [(A := rng.normal(size=(m, m))) + A.T for _ in range(p)]
    M = np.array([[hsic(K, L, unbiased=True) for L in grams] for K in grams])
    w = np.linalg.eigvalsh(M)
    assert w[0] >= -1e-13 * w[-1]
    assert abs(cka(grams[0], grams[-1], unbiased=True)) <= 1 + 1e-12


@each("scale", [1e-200, 1e200])
def test_magnitudes_whose_squares_overflow_or_vanish(scale):
    K, L = np.diag([1.0, 2.0, 3.0]), np.eye(3)
    for measure in (alignment, cka, partial(alignment, kind="uncentered")):
        assert measure(scale * K, L) == pytest.approx(measure(K, L), rel=1e-14)


def test_inputs_are_not_modified():
    K, y = np.diag([1.0, 2, 3, 4]), np.arange(4.0)
    L = K + np.outer(y, y)
    for array in (K, L, y):
        array.flags.writeable = False
    center_kernel(K)
    center_kernel(K[:2], K)
    for kind in ("centered", "uncentered", "unnormalized"):
        alignment(K, L, kind=kind)
    cka(L, L, unbiased=True)
    hsic(K, y, unbiased=True)


def test_bad_options_are_refused_by_name():
    K, message = np.eye(3), "kind='cosine' is not known; accepted: 'centered'"
    raises(ValueError, message, alignment, K, K, kind="cosine")
    for function in (hsic, cka):
        message = "unbiased=True needs at least 4 samples, got 3"
        raises(ValueError, message, function, K, K, unbiased=True)
    for K, K_train, message in (
        (np.ones((2, 3)), np.eye(2), r"K must have shape \(n, 2\), one column per training"),
        ([[np.nan, 1.0]], np.eye(2), "K contains NaN"),
        (np.eye(2), np.array([[1.0, 2.0], [0.0, 1.0]]), "K_train is not symmetric"),
    ):
        raises(ValueError, message, center_kernel, K, K_train)
