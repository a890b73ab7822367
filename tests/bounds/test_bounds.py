"""The bounds as functions: published numbers, limits, properties, and rejected arguments."""

import ast
from fractions import Fraction
from pathlib import Path

import alignlearn.theory.bounds
import numpy as np
import pytest
from alignlearn.theory.bounds import concentration, generalization, intervals, stability
from alignlearn.theory.reference.problems import (
    GaussianMixture,
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
