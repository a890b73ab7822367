"""Small problems in one compiled call: against `smo`, one by one, and their certificates.

Machines on rows solve problems one by one: test_gram_rows.py compares both routes.
"""

import numpy as np
import pytest
from cases import each

import alignlearn as al
from alignlearn.machines import SupportVectorClassifier
from alignlearn.solvers.smo import smo, smo_listed


def problems(m=40, seed=0, dtype=np.float64):
    """A matrix and three problems, the last on some of the samples."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    K = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2)).astype(dtype)
    signs = np.sign(rng.normal(size=(3, m)))
    cost = rng.uniform(0.5, 3.0, size=(3, m))
    cost[2, ::3] = 0.0
    return K, -signs, cost * signs


def solved(K, linear, reach, start=None, **options):
    """Coefficients (m, n_problems) and certificates; samples of reach 0 are left out."""
    problem, sample = np.nonzero(reach)
    starts = np.searchsorted(problem, np.arange(len(reach) + 1))
    start = None if start is None else start[sample, problem]
    given = sample, starts, linear[problem, sample], reach[problem, sample]
    beta, found = smo_listed(K, *given, start=start, **options)
    coef = np.zeros(reach.T.shape)
    coef[sample, problem] = beta
    return coef, found


@each("dtype", [np.float64, np.float32])
@each("started", [False, True])
def test_each_is_the_problem_alone(dtype, started):
    K, linear, reach = problems(dtype=dtype)
    start = np.random.default_rng(1).normal(size=reach.T.shape) if started else None
    coef, found = solved(K, linear, reach, start=start, tol=1e-9)
    for p, (multiplier, violation, objective, gap, steps) in enumerate(found):
        bounds = np.minimum(reach[p], 0.0), np.maximum(reach[p], 0.0)
        alone = smo(K, linear[p], bounds, tol=1e-9)
        np.testing.assert_allclose(coef[:, p], alone.coef, atol=1e-5)
        assert coef[:, p].sum() == pytest.approx(0.0, abs=1e-12)
        assert np.all((bounds[0] <= coef[:, p]) & (coef[:, p] <= bounds[1]))
        assert objective == pytest.approx(alone.objective, rel=1e-8)
        used = reach[p] != 0.0
        gradient = (K.astype(float) @ coef[:, p] + linear[p])[used]
        up = np.where(coef[used, p] < bounds[1][used], gradient, np.inf).min()
        down = np.where(coef[used, p] > bounds[0][used], gradient, -np.inf).max()
        assert violation == pytest.approx(max(down - up, 0.0), abs=1e-12)
        assert violation <= 1e-9
        assert up - 1e-9 <= multiplier <= down + 1e-9 or violation == 0.0
        assert 0.0 <= gap <= 1e-6
        assert steps > 0


def test_a_limit_of_steps_is_kept_and_told():
    K, linear, reach = problems()
    _, found = solved(K, linear, reach, tol=1e-12, max_iter=3)
    assert np.all(found[:, 4] == 3)
    assert np.all(found[:, 1] > 1e-12)
    y = np.arange(40) % 3
    with pytest.warns(al.ConvergenceWarning, match="after 3 steps"):
        SupportVectorClassifier(10.0, max_iter=3).fit(K, y)


def test_matrices_of_zeros_and_of_ones():
    for K in (np.zeros((6, 6)), np.ones((6, 6))):
        sign = np.array([1.0, -1.0] * 3)
        coef, found = solved(K, -sign[None], sign[None])
        np.testing.assert_allclose(coef[:, 0], sign)  # the largest margins lose nothing
        assert found[0, 2] == pytest.approx(-6.0)
