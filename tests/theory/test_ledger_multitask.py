"""The numbers behind the verdicts on the multi-task paper, and details that its claims omit."""

import numpy as np
import pytest
from alignlearn.theory import CLAIMS, check
from alignlearn.theory.bounds import neighborhood
from alignlearn.theory.claim import HypothesisNotMet
from alignlearn.theory.draws import RandomDraw
from alignlearn.theory.p3_multitask import tasks
from alignlearn.theory.reference import multitask
from cases import each
from refusals import raises

ONE = np.array([[2.0, 1.0], [1.0, 2.0]])


def file(name):
    return CLAIMS.module(name)


# -- section 2 and the matrices --------------------------------------------------------


def test_lemma_2_on_matrices_that_are_not_symmetric():
    lemma = file("p3-lemma-2")
    for case, printed in ((lemma.counterexample(), 0), (lemma.transposed_counterexample(), 2)):
        found = lemma.measure(case), lemma.bound(case), lemma.corrected_bound(case)
        assert found == (1, printed, 1)
    rng = np.random.default_rng(0)
    A = rng.integers(-3, 4, (4, 4))
    case = {"A": A + A.T, "B": rng.integers(-3, 4, (4, 4))}
    assert lemma.measure(case) == lemma.bound(case)


def test_the_eigenvalues_of_a():
    case = file("p3-matrix-a").counterexample()
    values = np.linalg.eigvalsh(tasks.terms_of(case).A)
    expected = [0, 0, 0.763932, 2.291796, 5.236068, 15.708204]
    np.testing.assert_allclose(values, expected, atol=5e-7)
    assert file("p3-matrix-a").measure(case) == 4


@each("seed", range(20))
def test_the_terms_of_the_paper_are_products_of_v(seed):
    terms = tasks.terms_of(tasks.random_tasks(RandomDraw(seed)))
    np.testing.assert_allclose(terms.A, terms.V.T @ terms.V, atol=1e-9 * np.abs(terms.A).max())
    np.testing.assert_allclose(terms.b, 2 * terms.V.T @ terms.v, atol=1e-9 + 1e-9 * terms.c)


# -- the model -------------------------------------------------------------------------


def test_khat_of_the_example():
    """0.95 K; 1.266667 K with -4c; 0.844444 K by proposition 1; K/2 of it without regularizer."""
    prop = file("p3-prop-1")
    case = prop.counterexample()
    for values, factor in (
        (prop.closed_form(case), 0.95),
        (prop.corrected_bound(case), 1.9 * 2 / 3),
        (prop.bound(case), 38 / 45),
    ):
        np.testing.assert_allclose(values, factor * ONE.ravel(), rtol=1e-9)
    assert prop.bound(case)[1] == pytest.approx(0.844444, abs=5e-7)
    # At eta = 5 beta proposition 1 and the stationary point of (15) agree by accident.
    same = case | {"eta": 5.0}
    np.testing.assert_allclose(prop.bound(same), prop.corrected_bound(same))
    free = case | {"beta": 0.0}
    np.testing.assert_allclose(prop.bound(free), 0.5 * ONE.ravel())
    np.testing.assert_allclose(prop.measure(free), ONE.ravel())


@each("factor", [2.0, 4.0])
def test_the_stationary_point_by_differences(factor):
    case = tasks.random_model(RandomDraw(3), least_ratio=4.5)
    model = file("p3-model")
    terms, theta = tasks.terms_of(case), tasks.stacked(case)
    v = multitask.best_targets(terms, theta, case["eta"], case["beta"], factor)

    def value(shifted):
        at = model.at(terms, shifted)
        return multitask.alignment_part(at, theta, case["eta"], case["beta"], factor)

    steps = 1e-4 * np.abs(v).max() * np.eye(len(v))
    slopes = np.array([value(v + step) - value(v - step) for step in steps])
    curvature = np.array([value(v + step) + value(v - step) - 2 * value(v) for step in steps])
    assert np.abs(slopes).max() <= 1e-5 * np.abs(curvature).max()


def test_the_printed_model_has_no_minimum():
    model = file("p3-model")
    values = [model.measure(model.counterexample(s)) for s in (10.0, 100.0, 1000.0, 10000.0)]
    # -eta beta/(eta - 2 beta) ||V theta||^2 takes over: 13.3 theta^2.
    np.testing.assert_allclose(np.array(values[2:]) / np.array([1e6, 1e8]), -40 / 3, rtol=2e-3)
    assert (np.diff(values) < 0).all()
    fixed = [model.corrected_measure(model.counterexample(s)) for s in (1e-9, 1.0, 1000.0)]
    assert min(fixed) >= model.bound(model.counterexample())


@each("eta", [3.0, 10.0, 100.0])
def test_eta_does_not_matter(eta):
    """The minimum over Khat is beta sum_t tr K_t and a constant, -beta^2 d'A^+d/(2 eta)."""
    model = file("p3-elimination")
    case = tasks.random_model(RandomDraw(5)) | {"beta": 1.0, "eta": eta}
    constant = model.bound(case | {"mu": 0 * case["mu"], "lam": 0 * case["lam"]})[1]
    trace = sum(np.trace(K) for K in tasks.learned(case))
    assert model.measure(case)[1] - constant == pytest.approx(trace)


def test_convexity_of_the_example():
    """A kernel of one sample spans everything."""
    convexity = file("p3-convexity")
    found = [convexity.smallest_eigenvalue(convexity.example(eta)) for eta in (3.0, 1.5)]
    assert found == pytest.approx([1.0, -0.5])
    case = {"kernels": [np.ones((1, 1, 1))], "targets": [np.ones((1, 1))], "eta": 1.0, "beta": 1.0}
    assert convexity.smallest_eigenvalue(case) > 0


def test_a_round_can_raise_the_objective():
    algorithm = file("p3-algorithm")
    case = algorithm.counterexample()
    assert algorithm.objective(case) == pytest.approx(1002)
    theta = algorithm.one_round(case, algorithm.duals(case))
    # theta - (2 beta - 1/theta^2)/(2 eta).
    assert theta.item() == pytest.approx(1e-3 - (2000 - 1e6) / 8000)
    assert algorithm.measure(case) > 2e5


def test_one_optimal_alpha_is_not_enough():
    stationarity = file("p3-stationarity")
    case = stationarity.example()
    assert stationarity._form(case, case["alpha"]) == pytest.approx(0.5)
    assert stationarity._limit(case) == pytest.approx(0.2)
    assert stationarity.least_form(case) == pytest.approx(0.0)
    # theta = 0 is optimal: J increases from there.
    assert stationarity.slope(case) == pytest.approx(0.2, abs=1e-6)


# -- theorem 1 -------------------------------------------------------------------------


def test_the_radius_of_the_proof():
    claim = CLAIMS["p3-psi-alpha"]
    printed, fixed = (check(form, claim.counterexample()) for form in (claim, claim.corrected))
    found = printed.measured, printed.bound, fixed.measured
    assert found == pytest.approx((2.828427, 1.732051, 1.414214), abs=5e-7)


def test_the_printed_bound_of_an_empty_class():
    empty = file("p3-empty-class")
    case = empty.far_target()
    terms = tasks.terms_of(case)
    inner = multitask.inverse(terms.A)
    room = terms.b @ inner @ terms.b + 4 * (case["rho"] - terms.c)
    assert room == pytest.approx(-2)
    lemma = terms.d @ inner @ terms.d + 2
    printed = np.sqrt(0.5 * (terms.d @ inner @ terms.b + (lemma + room) / 2)) / 2
    assert printed == pytest.approx(0.353553, abs=5e-7)
    for call in (neighborhood.neighborhood_bounds, neighborhood.neighborhood_complexity):
        raises(HypothesisNotMet, "empty", call, *tasks.class_of(case))
    near = empty.near_target()
    given = near["kernels"], near["targets"], 1.0, near["rho"]
    assert near["rho"] == 1
    raises(HypothesisNotMet, "empty", neighborhood.neighborhood_bounds, *given)


def test_the_arithmetic_mean_depends_on_the_unit_of_the_kernels():
    scaling = file("p3-am-gm")
    case = CLAIMS["p3-am-gm"].negative_control.case() | {"scale": 10.0}
    before = neighborhood.neighborhood_bounds(*tasks.class_of(case))
    after = neighborhood.neighborhood_bounds(*tasks.class_of(scaling.rescaled(case)))
    assert after.geometric == pytest.approx(np.sqrt(10) * before.geometric)
    assert after.printed > 1.5 * np.sqrt(10) * before.printed


@each("seed", range(12))
def test_the_chain_and_how_tight_it_is(seed):
    """Complexity over (7) falls with T, complexity over the sharpest bound does not."""
    rng = np.random.default_rng(seed)
    T = 1 + seed % 3
    features = rng.standard_normal((T, 2, 4 if T < 3 else 3, 3))
    kernels = list(features @ features.transpose(0, 1, 3, 2))
    targets = [K.mean(0) for K in kernels]
    case = {"kernels": kernels, "targets": targets, "radius": 1.0, "rho": 5.0 * T}
    chain = file("p3-theorem-1").chain(case)
    assert (np.diff(chain) >= -1e-9).all()
    assert chain[0] / chain[2] > 0.8
    assert chain[0] / chain[-1] < 1.0 / np.sqrt(T) + 1e-9
