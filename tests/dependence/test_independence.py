"""Tests of independence: type I errors, power, definitions, and Gram matrices that are not real."""

import itertools

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from permuted_orders import drawn_orders
from scipy.stats import gamma
from strategies import generators

import alignlearn as al
from alignlearn.dependence import DependenceTest, alignment_test, hsic_test, real_gram
from alignlearn.dependence.permutations import permutation_p_value, permuted_products
from alignlearn.statistics import alignment, center_kernel, hsic
from alignlearn.validation import DoubtfulResultWarning


def circle(rng, m, noise=0.1):
    """Uncorrelated and dependent."""
    angle = rng.uniform(0.0, 2.0 * np.pi, m)
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    return (points + noise * rng.normal(size=(m, 2))).T


def random_gram(rng, m):
    A = rng.normal(size=(m, m + 2))
    return A @ A.T


# HSIC


@given(generators(), st.integers(4, 9), st.booleans())
def test_statistic_and_null_are_hsic_of_permuted_matrices(rng, m, unbiased):
    K, L = random_gram(rng, m), random_gram(rng, m)
    found = hsic_test(K, L, "precomputed", unbiased=unbiased, n_permutations=5, random_state=7)
    assert isinstance(found, DependenceTest)
    unit = np.abs(K).max() * np.abs(L).max()
    assert found.statistic == pytest.approx(hsic(K, L, unbiased=unbiased), abs=1e-12 * unit)
    null = [hsic(K, L[np.ix_(p, p)], unbiased=unbiased) for p in drawn_orders(7, m, 5)]
    np.testing.assert_allclose(found.null, null, atol=1e-12 * unit)
    # A negative statistic, too, equals that of an order drawn twice.
    least = found.statistic - 1e-11 * np.abs(found.null).max()
    assert found.p_value == (1 + np.sum(found.null >= least)) / 6


def test_all_orders_of_five_samples_are_equally_likely():
    """The null distribution is that of all 120 orders, ties with the observed one included."""
    rng = np.random.default_rng(0)
    K, L = random_gram(rng, 5), random_gram(rng, 5)
    Kc, Lc = center_kernel(K), center_kernel(L)
    exact = np.sort([np.sum(Kc * Lc[np.ix_(p, p)]) for p in itertools.permutations(range(5))])
    values, _ = permuted_products(Kc, Lc, np.random.default_rng(1), 40_000)
    assert values[0] == pytest.approx(np.sum(Kc * Lc))
    found = np.sort(values[1:])
    at = np.searchsorted(exact, found - 1e-9 * np.abs(exact).max())
    np.testing.assert_allclose(exact[at], found, rtol=1e-9)
    counts = np.bincount(at, minlength=120)
    # Chi-square of 119 degrees of freedom: 200 is 5 standard deviations above its mean.
    assert np.sum((counts - 40_000 / 120) ** 2) / (40_000 / 120) < 200


def test_ties_are_counted_where_one_sample_exceeds_all_others():
    """Whole numbers: statistics that are equal count as equal, by exact arithmetic."""
    m, n, too_small = 200, 19, 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x, y = rng.integers(2, size=(2, m))
        x[0] = y[1] = 10**5

        def exact(order, x=x, y=y):
            return (m * int(x @ y[order]) - int(x.sum()) * int(y.sum())) ** 2

        null = [exact(order) for order in drawn_orders(seed, m, n)]
        p_value = (1 + np.sum(np.array(null) >= exact(np.arange(m)))) / (n + 1)
        found = hsic_test(1.0 * x, 1.0 * y, "linear", n_permutations=n, random_state=seed)
        assert found.p_value == p_value
        too_small += permutation_p_value(found.statistic, found.null) < p_value
    assert too_small  # without the bound of rounding


def test_level_is_kept_and_dependence_without_correlation_is_found():
    rng = np.random.default_rng(0)
    rejected = {"permutation": 0, "gamma": 0}
    for _ in range(200):
        x, y = rng.normal(size=(2, 25))
        for method in rejected:
            p = hsic_test(x, y, method=method, n_permutations=99, random_state=rng).p_value
            assert 0.0 < p <= 1.0
            rejected[method] += p <= 0.1
    assert 8 <= rejected["permutation"] <= 33  # 20 expected, three standard deviations
    assert 5 <= rejected["gamma"] <= 36  # an approximation
    x, y = circle(rng, 100)
    for options in ({}, {"unbiased": True}, {"method": "gamma"}):
        assert hsic_test(x, y, **options).p_value < 0.01
    # A linear kernel sees correlation only.
    assert hsic_test(x, y, "linear").p_value > 0.05


@each("law", ["heavy", "rare"])
def test_gamma_warns_of_data_for_which_its_level_is_wrong(law):
    """At 5% it rejects 13%, and 7 to 12% of such samples; see the docstring."""
    rng = np.random.default_rng(0)
    x = rng.standard_cauchy(100) if law == "heavy" else (rng.random(100) < 0.05) * 1.0
    y = rng.normal(size=100)
    for views, which in (((x, y), "X"), ((y, x), "Y")):
        with pytest.warns(DoubtfulResultWarning, match=f"in view {which!r}, about .* of 100"):
            found = hsic_test(*views, method="gamma")
        assert 0.0 < found.p_value <= 1.0
        hsic_test(*views, n_permutations=9)  # without a warning
    heavy_but_fine = rng.standard_t(3, 100)
    assert hsic_test(heavy_but_fine, y, method="gamma").p_value > 0.01


def test_gamma_law_follows_the_paper_and_agrees_with_permutations():
    """Gretton et al. (2008): the moments of equations 9 and 10 with a unit diagonal."""
    rng = np.random.default_rng(2)
    m = 40
    x = rng.normal(size=m)
    y = 0.25 * x + rng.normal(size=m)
    K, L = (al.Gaussian(0.5)(v[:, None]) for v in (x, y))
    Kc, Lc = center_kernel(K), center_kernel(L)
    off = ~np.eye(m, dtype=bool)
    mu_x, mu_y = K[off].mean(), L[off].mean()
    mean = (1.0 + mu_x * mu_y - mu_x - mu_y) / m
    squares = np.mean((Kc * Lc / 6.0)[off] ** 2)
    variance = 72.0 * (m - 4) * (m - 5) / (m * (m - 1) * (m - 2) * (m - 3)) * squares
    statistic = np.sum(Kc * Lc) / m
    expected = gamma(mean**2 / variance, scale=m * variance / mean).sf(statistic)
    found = hsic_test(x, y, al.Gaussian(0.5), method="gamma")
    assert found.p_value == pytest.approx(expected, rel=1e-9)
    assert found.statistic == pytest.approx(statistic / m, rel=1e-12)
    assert found.null is None
    by_permutation = hsic_test(x, y, al.Gaussian(0.5), n_permutations=4000).p_value
    assert 0.01 < found.p_value < 0.5
    assert found.p_value == pytest.approx(by_permutation, abs=0.05)


@pytest.mark.parametrize("options", [{}, {"unbiased": True}, {"method": "gamma"}])
def test_units_change_no_p_value(options):
    rng = np.random.default_rng(10)
    x = rng.normal(size=(20, 1))
    y = 0.4 * x + rng.normal(size=(20, 1))
    expected = hsic_test(x, y, "linear", **options)
    for unit in (1e-70, 1e70):
        found = hsic_test(unit * x, y, "linear", **options)
        assert found.p_value == pytest.approx(expected.p_value, rel=1e-9)
        assert found.statistic / unit**2 == pytest.approx(expected.statistic, rel=1e-9)
    K = x @ x.T
    assert alignment_test(1e300 * K, 1e70 * y).p_value == alignment_test(K, y).p_value


# Target alignment


@given(generators(), st.integers(2, 4), st.booleans())
def test_alignment_test_is_alignment_under_permuted_targets(rng, n_columns, as_gram):
    m = 9
    K = random_gram(rng, m)
    Y = rng.normal(size=(m, n_columns))
    found = alignment_test(K, Y @ Y.T if as_gram else Y, n_permutations=4, random_state=3)
    assert found.statistic == pytest.approx(alignment(K, Y), rel=1e-9)
    null = [alignment(K, Y[p]) for p in drawn_orders(3, m, 4)]
    np.testing.assert_allclose(found.null, null, atol=1e-12)


@pytest.mark.parametrize("m", [9, 10])
def test_blocks_of_diagonals_and_factors_make_no_difference(monkeypatch, m):
    rng = np.random.default_rng(6)
    K, A = random_gram(rng, m), rng.normal(size=(m, 2))
    B = A * [1.0, -0.5]
    whole, rounding = permuted_products(K, A @ B.T, np.random.default_rng(0), 40)
    assert rounding < 1e-11 * np.abs(whole).max()
    monkeypatch.setattr("alignlearn.dependence.permutations._DIAGONALS", 2 * m)
    for L in (A @ B.T, (A, B)):
        found, again = permuted_products(K, L, np.random.default_rng(0), 40)
        np.testing.assert_allclose(found, whole, rtol=0.0, atol=rounding)
        assert again == pytest.approx(rounding)


def test_real_part_of_a_complex_gram_matrix_is_the_kernel_of_real_features():
    rng = np.random.default_rng(8)
    t = rng.uniform(-1.0, 1.0, 30)
    psi = np.exp(1j * np.outer(t, rng.normal(size=8))) * rng.uniform(0.5, 1.0, 8)
    psi /= np.linalg.norm(psi, axis=1, keepdims=True)
    K = psi @ psi.conj().T
    features = np.hstack([psi.real, psi.imag])
    np.testing.assert_allclose(real_gram(K), features @ features.T, atol=1e-14)
    y = np.where(t > 0.0, 1.0, -1.0)
    assert y @ real_gram(K) @ y == pytest.approx((y @ K @ y).real)
    assert np.abs(K.imag).max() > 0.1  # the case is not trivial
    found = alignment_test(K, y, n_permutations=99)
    assert found.statistic == alignment_test(K.real, y, n_permutations=99).statistic
    assert found.p_value == 0.01
    np.testing.assert_array_equal(real_gram(K[:4], test=True), K[:4].real)
    assert real_gram(K.astype(np.complex64)).dtype == np.float32
    fidelity = np.abs(K) ** 2
    assert np.array_equal(real_gram(fidelity), fidelity)
