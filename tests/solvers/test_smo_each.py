"""Small problems in one compiled call: against `smo`, one by one, and their certificates."""

import numpy as np
import pytest
from cases import each

import alignlearn as al
from alignlearn.machines import SupportVectorClassifier
from alignlearn.machines.gram_rows import row_cache
from alignlearn.machines.paths import svm_path
from alignlearn.solvers.smo import SMALL, smo, smo_listed
from alignlearn.solvers.smo_rows import least_memory
from alignlearn.sources import open_source


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


def test_machines_do_not_depend_on_the_route():
    """Problems of up to `SMALL` samples of a matrix are solved together, others one by one."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(90, 4)), rng.integers(0, 4, 90)
    source = open_source(X, [al.Gaussian(gamma=0.3)]).combine(np.ones(1))
    rows = row_cache(source, 3 * least_memory(90))
    weight = rng.uniform(0.5, 2.0, 90)
    for multiclass in ("ovo", "ovr"):
        made = SupportVectorClassifier(3.0, multiclass=multiclass, tol=1e-6)
        small = made.fit(source.gram(), y, weight).full_dual_coef()
        np.testing.assert_allclose(made.fit(rows, y, weight).full_dual_coef(), small, atol=1e-4)
    assert SMALL > 90


@each("weighted", [False, True])
@each("dtype", [np.float64, np.float32])
@each("n_classes", [2, 4])
def test_decisions_along_C_are_those_of_machines_one_by_one(n_classes, dtype, weighted):
    rng, (K, *_) = np.random.default_rng(2), problems(m=60, dtype=dtype)
    y, train, test = rng.integers(0, n_classes, 60), np.arange(45), np.arange(45, 60)
    weight = rng.uniform(0.5, 2.0, 45) if weighted else None
    (K, K_test), values = (K[np.ix_(rows, train)] for rows in (train, test)), [10.0, 0.1, 1.0]

    def make(C):
        return SupportVectorClassifier(C, tol=1e-9)

    assert make(1.0).decisions_each(K, y[train], sorted(values), K_test, weight) is not None
    found = svm_path(make, K, y[train], K_test, values, weight, decisions="raw")
    for C, raw in zip(values, found):
        alone = make(C).fit(K, y[train], weight).problem_decisions(K_test)
        np.testing.assert_allclose(raw, alone, atol=1e-6)


def test_decisions_along_C_are_computed_otherwise_if_a_problem_needs_more():
    K, *_ = problems(m=60)
    y, machine = np.arange(60) % 2, SupportVectorClassifier(tol=1e-6)
    assert machine.decisions_each(K, y, [1.0, np.inf], K) is None
    limited = SupportVectorClassifier(tol=1e-6, max_iter=3)
    assert limited.decisions_each(K, y, [1.0], K) is None
    large = np.eye(SMALL + 1)
    assert machine.decisions_each(large, np.arange(SMALL + 1) % 2, [1.0], large) is None
    many = np.eye(120)
    assert machine.decisions_each(many, np.arange(120) % 60, [1.0], many) is None
