"""Algorithm 1: the inequality for two points, its sharp ends, and non-monotone quantities."""

import numpy as np
import pytest
from alignlearn.theory import CLAIMS, check
from alignlearn.theory.draws import RandomDraw
from alignlearn.theory.reference.learners import interpolated_iteration

HESSIAN = CLAIMS.module("p2-algorithm-1-hessian")
LYAPUNOV = CLAIMS.module("p2-algorithm-1-lyapunov")


@pytest.mark.parametrize(("radius", "ratio"), [(1e2, 2.9450), (1e4, 2.9994)])
def test_both_ends_of_the_inequality_are_reached(radius, ratio):
    across = HESSIAN._control_case(radius)
    assert HESSIAN.measure(across)[0] == pytest.approx(ratio, abs=5e-4)
    along = across | {"beta": 1.5 * across["alpha"]}
    assert HESSIAN.measure(along)[0] == pytest.approx(1.0, abs=1e-9)


def test_the_inequality_for_near_points_is_that_of_the_hessian():
    """Second differences of P itself."""
    case = HESSIAN.cases(RandomDraw(3))
    x = case["alpha"]
    d = 1e-4 * np.ones(len(x))
    P = [LYAPUNOV.values(case, point)[0] for point in (x - d, x, x + d)]
    curvature = -(P[0] - 2 * P[1] + P[2]) / 2
    M = HESSIAN._matrix(case, x)
    assert 1 - 1e-4 <= curvature / (d @ M @ d) <= 3
    near = case | {"alpha": x - d / 2, "beta": x + d / 2}
    assert curvature / (d @ M @ d) == pytest.approx(HESSIAN.measure(near)[0], rel=1e-3)


def test_no_2_cycle_above_one_third_by_the_inequality():
    """A 2-cycle needs the ratio 2/(1 - eta), 3 at eta = 1/3; the claim's ratio is below 3."""
    iteration = CLAIMS.module("p2-algorithm-1")
    case = iteration.counterexample(0.2, 100.0)
    kernels, y, lam, radius = (case[key] for key in ("kernels", "y", "lam", "radius"))
    given = kernels, y, lam, np.ones(2), radius, 0.2
    first, second = (interpolated_iteration(*given, steps)[0] for steps in (2000, 2001))
    found = HESSIAN.measure(case | {"alpha": first, "beta": second})[0]
    assert found == pytest.approx(2 / 0.8, rel=1e-6)


def test_each_of_the_three_functions_fails():
    case = LYAPUNOV.falling()
    objective, gap, quotient = LYAPUNOV.changes(case)
    assert (objective, gap) == pytest.approx((-5.8634, -5.9148), abs=1e-4)
    assert quotient == pytest.approx(-0.00111, abs=1e-5)
    assert check(LYAPUNOV.CLAIM, case).outcome == "holds"
    assert LYAPUNOV.objective_change(case, safeguard=False) == pytest.approx(objective)
