"""The bounds as functions: published numbers, limits, properties, and rejected arguments."""

import ast
from fractions import Fraction
from pathlib import Path

import alignlearn.theory.bounds
import numpy as np
import pytest
from alignlearn.theory.bounds import concentration, generalization, intervals, stability
from alignlearn.theory.bounds import u_statistics as unbiased
from alignlearn.theory.reference.problems import (
    FiniteDistribution,
    GaussianMixture,
    gaussian_kernel,
)
from cases import each
from refusals import raises

import alignlearn.bounds

MIXTURE = GaussianMixture([[-1.0, 0.0], [1.0, 0.0]], [-1.0, 1.0])


def smallest(bound):
    return concentration.smallest_sample_size(bound)


@pytest.mark.parametrize(
    ("bandwidth", "printed", "sharp", "refined", "width"),
    [
        (0.5, 48_439_573, 53_197, 4_502, 1_445),
        (1.0, 12_113_323, 26_601, 3_157, 582),
        (2.0, 22_552_038, 36_297, 4_209, 499),
    ],
)
def test_smallest_sample_size_that_says_something(bandwidth, printed, sharp, refined, width):
    """Two normals at distance 2 in the plane, Gaussian kernel, delta = 0.05."""
    exact = MIXTURE.gaussian_moments(bandwidth)
    a, b, rho = exact.kernel_norm, exact.numerator, exact.alignment

    def length(m):
        low, high, _ = intervals.alignment_interval_from(m, 0.05, b, a, 1.0)
        return high - low

    assert smallest(lambda m: concentration.alignment_deviation_printed(m, 0.05, a, 1.0)) == printed
    assert smallest(lambda m: concentration.alignment_deviation(m, 0.05, a, 1.0)) == sharp
    form = concentration.alignment_deviation_refined
    assert smallest(lambda m: float(form(m, 0.05, a, 1.0, rho))) == refined
    assert smallest(length) == width


def test_the_constant_is_the_maximum_of_its_upper_bound():
    """The function of the proof, maximized from random starts, gives 25 sqrt(15)/18."""
    from scipy.optimize import minimize

    def negative(z):
        a, b, x, y = np.abs(z[0]), np.abs(z[1]), z[2], z[3]
        if max(a, b) > 1:
            return 0.0
        angle = np.sin(x + y) + b * np.cos(x) + a * np.cos(y)
        return -4 * np.sqrt((1 - a * a) * (1 - b * b)) * angle

    rng = np.random.default_rng(0)
    values = [
        minimize(negative, rng.uniform(0, 1, 4), method="Nelder-Mead", options={"xatol": 1e-9}).fun
        for _ in range(10)
    ]
    assert -min(values) == pytest.approx(concentration.SHARP_CONSTANT, rel=1e-7)


def test_u_statistic_is_unbiased_by_enumeration():
    p = np.array([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    u = np.array([Fraction(1), Fraction(1, 2), Fraction(-1)])
    w = np.array([Fraction(1), Fraction(-1), Fraction(1, 3)])
    law = FiniteDistribution(p)
    K = np.multiply.outer(u, u) + np.eye(3, dtype=int) * Fraction(1, 2)
    L = np.multiply.outer(w, w)
    assert law.moments(K, L).theta == Fraction(136, 729)
    for m in (4, 5):
        total = Fraction(0)
        for counts, weight in law.all_samples(m):
            i = np.repeat(np.arange(3), counts)
            total += weight * unbiased.u_statistic(K[np.ix_(i, i)], L[np.ix_(i, i)])
        assert total == Fraction(136, 729)


def test_coverage_over_two_thousand_samples():
    """m = 1000, the mixture through its quadrature atoms; the bound is far from tight."""
    mixture = GaussianMixture([[-1.0], [1.0]], [-1.0, 1.0])
    law, points = mixture.quadrature(24)
    K, L = gaussian_kernel(points, 1.0), law.target()
    from alignlearn.theory.reference.problems import numerators

    counts = law.counts(1000, 2000, random_state=0)
    f, a, c = (numerators(counts, *pair) for pair in ((K, L), (K, K), (L, L)))
    rho, inside = law.alignment(K, L), 0
    for values in zip(f, a, c):
        low, high, vacuous = intervals.alignment_interval_from(1000, 0.05, *values)
        assert not vacuous
        inside += low <= rho <= high
    assert inside == 2000


@pytest.mark.parametrize(("ridge", "printed", "corrected"), [(1.0, 2000, 650), (0.1, 7.1e5, 4.5e5)])
def test_when_the_two_stage_bound_says_something(ridge, printed, corrected):
    """Complexity term below 1 for one kernel and L1 = R = M = 1; the printed form with M1^2/4."""

    def ours(m):
        change = stability.krr_stability(m, 1.0, ridge, stability.residual_bound(1.0, 1.0, ridge))
        return generalization.two_stage_bound(0.0, m, 0.05, 1.0, 1.0, ridge, change)

    def theirs(m):
        return generalization.two_stage_bound_loss_repaired(0.0, m, 0.05, 1.0, 1.0, ridge)

    assert smallest(theirs) == pytest.approx(printed, rel=0.1)
    assert smallest(ours) == pytest.approx(corrected, rel=0.1)


def test_arguments_of_bounds_are_named():
    for bad, error in ((None, TypeError), ("1", TypeError), (10**400, ValueError), (1j, TypeError)):
        raises(error, "radius2", concentration.numerator_deviation, 100, 0.05, bad)
    with pytest.raises(ValueError, match="m=0 is out of range"):
        concentration.expected_numerator(0, 1.0, 1.0, 1.0, 1.0)
    exact = concentration.expected_numerator(3, *map(Fraction, (1, 2, 3, 4)))
    assert isinstance(exact, Fraction)
    # A value that overflows is infinite, or reported as beyond the range.
    assert stability.hypothesis_bound(1e308, 1e308, 1e-300) == np.inf
    raises(ValueError, r"bias_bound\(m=1e\+308.*beyond the range", concentration.bias_bound, 1e308)
    # Errors name the function that the user called, not a bound that it calls.
    with pytest.raises(ValueError, match=r"by_weights\(m=50.*l1=1e\+308.*beyond the range"):
        stability.two_stage_stability_by_weights(50, 1.0, 1.0, 0.0, 1e308, 0.1)


FILES = sorted(
    file
    for package in (alignlearn.bounds, alignlearn.theory.bounds)
    for file in Path(package.__path__[0]).glob("*.py")
)


@each("file", FILES)
def test_bounds_know_neither_the_claims_nor_the_library(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level <= 1, ast.unparse(node)
            names = [] if node.level else [node.module]
        for name in names:
            # Checks of arguments, and compiled loops.
            accepted = ("alignlearn.validation", "alignlearn._jit", "alignlearn.bounds.")
            assert not name.startswith("alignlearn") or name.startswith(accepted), name
