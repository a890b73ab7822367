"""The complexity of the multi-task class, against the paper's matrices and enumeration."""

import numpy as np
import pytest
from alignlearn.theory import CLAIMS
from alignlearn.theory.bounds import neighborhood
from alignlearn.theory.draws import RandomDraw
from alignlearn.theory.reference import multitask
from cases import each
from refusals import raises

from alignlearn.bounds import rademacher


def problem(seed, sizes=(3, 3), p=2, duplicated=False):
    """Kernels, a precomputed matrix and a rho above the minimal distance."""
    rng = np.random.default_rng(seed)
    kernels = []
    for n in sizes:
        F = rng.standard_normal((p, n, rng.integers(1, n + 1)))
        K = F @ F.transpose(0, 2, 1)
        if duplicated:
            K[-1] = K[0]
        kernels.append(K)
    targets = [3 * rng.standard_normal((n, n)) for n in sizes]
    least = neighborhood.distance_to_cone(neighborhood.tasks_of(kernels, targets))
    return kernels, targets, 1.5, least + rng.uniform(0, 5)


@each("seed", range(10))
def test_projections_against_the_matrices_of_the_paper(seed):
    kernels, targets, _, _ = problem(seed, duplicated=seed % 2 == 0)
    found = neighborhood.projections(neighborhood.tasks_of(kernels, targets))
    terms = multitask.paper_terms(kernels, targets)
    P, inner = multitask.projector(terms.V), multitask.inverse(terms.A)
    diagonal = np.concatenate([np.eye(len(K[0])).ravel() for K in kernels]) > 0
    expected = (
        terms.d @ inner @ terms.d,
        terms.d @ inner @ terms.b / 2,
        terms.c - terms.b @ inner @ terms.b / 4,
        terms.b @ inner @ terms.b / 4,
        np.trace(P),
        P.diagonal()[diagonal].sum(),
    )
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@each("seed", range(10))
@each("sizes", [(3,), (2, 3), (2, 2, 2)])
def test_the_largest_form_against_every_support(seed, sizes):
    kernels, targets, _, rho = problem(seed, sizes, duplicated=seed % 3 == 0)
    tasks, terms = neighborhood.tasks_of(kernels, targets), multitask.paper_terms(kernels, targets)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        u = multitask.forms(kernels, rng.choice([-1.0, 1.0], sum(sizes)))
        found = neighborhood.largest_forms(tasks, u.T[None], rho)[0]
        assert found == pytest.approx(multitask.largest_form(terms, u, rho), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("n_tasks", [1, 2])
def test_the_bounds_by_hand(n_tasks):
    """K = diag(2, 1), Khat = diag(1, 3): G = 5, d = 3, <K, Khat> = 5, and 5 of 10 are left."""
    T = n_tasks
    given = [np.diag([2.0, 1.0])[None]] * T, [np.diag([1.0, 3.0])] * T
    found = neighborhood.neighborhood_bounds(*given, 3.0, 5.0 * T + 2)
    lemma, exact, linear, room = (9 / 5 + 2) * T, 9 / 5 * T, 2 * 3 * T, 8.0
    inside = np.sqrt(exact * room), np.sqrt(lemma * room), (lemma + room) / 2
    expected = [np.sqrt(3 / 2 * (linear + x)) / (2 * T) for x in inside]
    assert found == pytest.approx((*expected, np.sqrt(T) * expected[2]))
    tasks = neighborhood.tasks_of(*given)
    assert neighborhood.distance_to_cone(tasks) == pytest.approx(5.0 * T)
    assert neighborhood.check_class(tasks, 5.0 * T + 2) == pytest.approx(2.0)
    least = neighborhood.distance_to_cone(neighborhood.tasks_of(given[0], [-K for K in given[1]]))
    assert least == pytest.approx(10.0 * T)  # theta = 0


def test_the_weights_at_the_edge_of_an_empty_class():
    """rho is the minimal distance: one theta remains."""
    kernels, targets = [np.eye(2)[None]], [2 * np.eye(2)]
    found = neighborhood.neighborhood_complexity(kernels, targets, 1.0, 0.0)
    bounds = neighborhood.neighborhood_bounds(kernels, targets, 1.0, 0.0)
    assert found.value == pytest.approx(np.sqrt(2 * 2) / 2) == bounds.variance


def test_enumeration_against_all_signs_of_all_tasks():
    """Half of the signs are left out for each task, which must not change the mean."""
    kernels, targets, radius, rho = problem(4, (2, 3))
    terms = multitask.paper_terms(kernels, targets)
    values = [
        multitask.largest_form(terms, multitask.forms(kernels, s), rho)
        for s in multitask.all_signs(5)
    ]
    expected = np.sqrt(radius * np.array(values)).mean() / 5
    found = neighborhood.neighborhood_complexity(kernels, targets, radius, rho)
    assert found == pytest.approx((expected, 0.0))


def test_random_signs_are_within_their_error():
    kernels, targets, radius, rho = problem(5, (4, 4))
    exact = neighborhood.neighborhood_complexity(kernels, targets, radius, rho).value
    for seed in range(5):
        given = kernels, targets, radius, rho, 500, seed
        found = neighborhood.neighborhood_complexity(*given)
        assert abs(found.value - exact) < 4 * found.standard_error
        assert 0 < found.standard_error < 0.1 * exact


@each(
    ("call", "message"),
    [
        (lambda k, t: neighborhood.neighborhood_bounds(k, t[:1], 1.0, 1.0), "2 and 1 tasks"),
        (lambda k, t: neighborhood.neighborhood_bounds([], [], 1.0, 1.0), "at least 1"),
        (lambda k, t: neighborhood.neighborhood_bounds(k, [np.eye(4)] * 2, 1.0, 1.0), "shape"),
        (lambda k, t: neighborhood.neighborhood_bounds(k, t, -1.0, 1.0), "radius"),
        (lambda k, t: neighborhood.neighborhood_bounds(k, t, 1.0, -1.0), "rho"),
        (lambda k, t: neighborhood.neighborhood_complexity(k, t, 1.0, 1e9, draws=1), "draws"),
        (lambda k, t: rademacher.sign_vectors(18), "1 <= n <= 17"),
        (lambda k, t: list(neighborhood.all_forms([np.ones((1, 10, 10))] * 3)), "combinations"),
    ],
)
def test_bad_input(call, message):
    kernels, targets, _, _ = problem(0)
    raises(ValueError, message, call, kernels, targets)
    many = [np.array([np.eye(2)] * 13)], [np.eye(2)], 1.0, 9.0
    raises(ValueError, "at most 12", neighborhood.neighborhood_complexity, *many)


@pytest.mark.parametrize("seed", [1810, 2480])
def test_rounding_at_the_root_does_not_throw_the_search_back(seed):
    """Rounding may put Newton's step next to the interval; bisection then used to take over."""
    file = CLAIMS.module("p3-eq-26")
    every_support, found = file.measure(file.cases(RandomDraw(seed)))
    assert found == pytest.approx(every_support, rel=1e-9)
