"""Weights of many tasks against SciPy and scikit-learn, the ledger's numbers and the theorems."""

import numpy as np
import pytest
from cases import each
from hypothesis import example, given
from hypothesis import strategies as st
from multitask_oracle import Problem, machine, proxy_dual

import alignlearn as al
from alignlearn.multitask import (
    alignment_matrix,
    neighborhood_coefficients,
    projected_identity,
    ridge_shared,
)

SETTINGS = {"kernels": "precomputed", "center": False, "normalize": None, "tol": 1e-8}


def grams(rng, n):
    """A linear, a Gaussian and a polynomial kernel of unit mean diagonal on random samples."""
    X = rng.normal(size=(n, 3))
    square = np.square(X[:, None] - X).sum(axis=2)
    found = [X @ X.T, np.exp(-0.3 * square), (1.0 + X @ X.T) ** 2]
    return X, np.array([K * n / np.trace(K) for K in found])


def problem(seed, sizes, epsilon=None):
    """(oracle, stacked block-diagonal matrices, y, task) of a random problem."""
    rng = np.random.default_rng(seed)
    tasks = []
    for n in sizes:
        X, Ks = grams(rng, n)
        f = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)
        y = np.where(f > np.median(f), 1.0, -1.0) if epsilon is None else f
        tasks.append((Ks, y))
    ends = np.concatenate([[0], np.cumsum(sizes)])
    stacked = np.zeros((3, ends[-1], ends[-1]))
    for t, (Ks, _) in enumerate(tasks):
        stacked[:, ends[t] : ends[t + 1], ends[t] : ends[t + 1]] = Ks
    y = np.concatenate([y for _, y in tasks])
    return Problem(tasks, epsilon=epsilon), stacked, y, np.repeat(np.arange(len(sizes)), sizes)


def fit(stacked, y, task, epsilon=None, **parameters):
    if epsilon is None:
        estimator = al.MultiTaskMKLClassifier(**{**SETTINGS, **parameters})
        return estimator.fit(stacked, y.astype(int), task)
    estimator = al.MultiTaskMKLRegressor(**{**SETTINGS, "epsilon": epsilon, **parameters})
    return estimator.fit(stacked, y, task)


def objective(oracle, model, beta):
    """J at the fitted weights, by the oracle's models."""
    return oracle.machines(model.weights_)[0] + beta * np.sum(oracle.traces * model.weights_)


def check_minimum(total, theta, error):
    """Of a convex function: no step of one coordinate lowers it by more than a relative error."""
    best = total(theta)
    for k in range(theta.size):
        for step in (0.01, -0.01, 0.1, -0.1):
            other = theta.copy()
            other[k] = max(other[k] + step * theta.max(), 0.0)
            assert total(other) >= best * (1.0 - error)


@pytest.mark.parametrize("epsilon", [None, 0.1])
@pytest.mark.parametrize("beta", [0.005, 0.05, 0.3])
def test_onmkl_minimizes_the_traces_and_the_machines(epsilon, beta):
    oracle, stacked, y, task = problem(3, (14, 20, 17), epsilon)
    model = fit(stacked, y, task, epsilon, beta=beta)
    best, weights = oracle.separate(beta)
    assert model.result_.objective == pytest.approx(best, rel=1e-6)
    assert objective(oracle, model, beta) == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(model.weights_, weights, atol=2e-3 * weights.max())
    assert model.result_.duality_gap <= 1e-8
    assert model.result_.converged


def test_without_coupling_the_tasks_decouple():
    oracle, stacked, y, task = problem(7, (15, 19, 22))
    together = fit(stacked, y, task, beta=0.02)
    total = 0.0
    for t in range(3):
        rows = np.flatnonzero(task == t)
        alone = fit(stacked[:, rows][:, :, rows], y[rows], task[rows], beta=0.02)
        total += alone.result_.objective
        np.testing.assert_array_equal(alone.weights_[0], together.weights_[t])
    assert together.result_.objective == pytest.approx(total, rel=1e-12)
    # The printed model with its redundant mu, by the oracle: the same minimum.
    traces = oracle.traces
    stacked_best, _ = oracle.coupled(0.02 * np.vstack([traces.sum(axis=0), traces]), 0.0)
    assert stacked_best == pytest.approx(total, rel=1e-5)


def test_eta_changes_the_neighborhood_and_no_weight():
    _, stacked, y, task = problem(11, (16, 16))
    low, high = (fit(stacked, y, task, beta=0.1, eta=eta) for eta in (0.2, 20.0))
    np.testing.assert_array_equal(low.weights_, high.weights_)
    np.testing.assert_array_equal(low.predict(stacked, task), high.predict(stacked, task))
    far = np.abs(low.neighborhood_kernels_ - low.weights_)
    near = np.abs(high.neighborhood_kernels_ - high.weights_)
    np.testing.assert_allclose(far, 100.0 * near, rtol=1e-9)


def test_neighborhood_of_one_kernel_as_in_the_ledger():
    K = np.array([[2.0, 1.0], [1.0, 2.0]])
    inner, traces = np.array([[np.sum(K * K)]]), np.array([4.0])
    assert projected_identity(inner, traces) == pytest.approx(0.4)
    assert neighborhood_coefficients(np.ones(1), inner, traces, 1.0, 8.0) == pytest.approx(0.95)


def test_duplicated_kernels_have_a_neighborhood_too():
    rng = np.random.default_rng(4)
    _, Ks = grams(rng, 5)
    inner = np.einsum("kij,lij->kl", Ks, Ks)
    twice = np.ix_([0, 1, 2, 2], [0, 1, 2, 2])
    c = projected_identity(inner[twice], np.full(4, 5.0))
    np.testing.assert_allclose(
        np.tensordot(c, Ks[[0, 1, 2, 2]], 1),
        np.tensordot(projected_identity(inner, np.full(3, 5.0)), Ks, 1),
        atol=1e-8,
    )


def test_weights_of_zero_are_certified_although_the_machine_is_not_unique():
    # theta = 0 is optimal; a solver's coefficients (0, 1, -1) have q = 1/2 > beta tr K = 1/5.
    K = np.outer([1.0, -1.0, 0.0], [1.0, -1.0, 0.0])
    model = fit(K[None], np.array([1.0, 1.0, -1.0]), None, beta=0.1)
    assert model.result_.objective == pytest.approx(2.0, rel=1e-6)
    assert model.result_.duality_gap <= 1e-8
    assert model.weights_[0, 0] < 1e-6


@pytest.mark.parametrize("epsilon", [None, 0.1])
@pytest.mark.parametrize("ridge", [0.02, 0.5, 5.0])
def test_ridge_coupling(epsilon, ridge):
    beta = 0.02
    oracle, stacked, y, task = problem(19, (15, 18, 21), epsilon)
    model = fit(stacked, y, task, epsilon, beta=beta, coupling="ridge", ridge=ridge)
    traces = oracle.traces
    best, z = oracle.coupled(beta * np.vstack([traces.sum(axis=0), traces]), ridge)
    assert model.result_.objective == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(model.weights_, z[0] + z[1:], atol=2e-3 * z.max())
    np.testing.assert_allclose(model.shared_weights_, z[0], atol=2e-3 * z.max())
    np.testing.assert_allclose(model.shared_weights_, ridge_shared(model.weights_))
    assert model.result_.duality_gap <= 1e-8


def test_the_objective_of_ridge_coupling_is_that_of_its_weights():
    beta, ridge = 0.02, 0.5
    oracle, stacked, y, task = problem(19, (8, 9))
    model = fit(stacked, y, task, beta=beta, coupling="ridge", ridge=ridge, tol=1e-5)
    shared, traces = model.shared_weights_, oracle.traces
    parts = np.vstack([shared, model.weights_ - shared])
    costs = beta * np.vstack([traces.sum(axis=0), traces])
    expected = np.sum(costs * parts) + ridge * np.sum(np.square(parts))
    expected += oracle.machines(model.weights_)[0]
    assert model.result_.objective == pytest.approx(expected, rel=1e-4)
    assert ridge * np.sum(np.square(parts)) > 1e-2 * expected


def test_group_coupling_at_its_ends_and_between():
    beta = 0.02
    oracle, stacked, y, task = problem(29, (16, 19, 17))
    apart = fit(stacked, y, task, beta=beta)
    traces, T = oracle.traces, 3
    values = []
    for discount in (3.0, 2.0, 1.5, 1.0):
        model = fit(stacked, y, task, beta=beta, coupling="group", discount=discount)
        cost = beta * np.vstack([discount * traces.mean(axis=0), traces])
        best, _ = oracle.coupled(cost, 0.0)
        values.append(model.result_.objective)
        assert values[-1] == pytest.approx(best, rel=1e-5)
        # Eliminated: sum_t d theta_t - (T - discount) dbar min_t theta_t.
        price = np.sum(traces * model.weights_)
        price -= (T - discount) * traces.mean(axis=0) @ model.weights_.min(axis=0)
        direct = oracle.machines(model.weights_)[0] + beta * price
        assert direct == pytest.approx(values[-1], rel=1e-6)
    assert values[0] == pytest.approx(apart.result_.objective, rel=1e-6)
    assert values[0] > values[1] > values[2] > values[3]
    np.testing.assert_allclose(model.weights_, np.tile(model.shared_weights_, (3, 1)), rtol=1e-6)


@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_common_weights(norm):
    oracle, stacked, y, task = problem(31, (15, 20))
    model = fit(stacked, y, task, method="mkl", norm=norm, tol=1e-7)
    theta = model.shared_weights_
    np.testing.assert_array_equal(model.weights_, [theta, theta])
    assert np.linalg.norm(theta, norm) == pytest.approx(1.0)

    def total(theta):
        return oracle.machines(np.tile(theta, (2, 1)))[0]

    best = total(theta)
    assert model.result_.objective == pytest.approx(best, rel=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(25):  # of a convex function: no feasible neighbor is lower
        other = np.maximum(theta + 0.1 * rng.normal(size=3), 0.0)
        other /= max(np.linalg.norm(other, norm), 1e-9)
        assert total(other) >= best * (1.0 - 1e-6)


def test_independent_is_the_single_task_rule():
    _, stacked, y, task = problem(37, (22, 19))
    model = fit(stacked, y, task, method="independent", norm=1.0)
    for t in range(2):
        rows = np.flatnonzero(task == t)
        Ks = [K[np.ix_(rows, rows)] for K in stacked]
        alone = al.L1SVM(C=1.0, tol=1e-8).solve_grams(Ks, y[rows].astype(int))
        np.testing.assert_allclose(model.weights_[t], alone.weights, atol=1e-6)


@pytest.mark.parametrize("eta", [1e-4, 1e-2, 1.0])
def test_kta_adds_the_distance_to_the_target_kernel(eta):
    oracle, stacked, y, task = problem(41, (17,))
    model = fit(stacked, y, task, method="kta", eta=eta)
    Ks, target = oracle.tasks[0]
    T = np.outer(target, target)

    def total(theta):
        K = np.tensordot(theta, Ks, 1)
        return machine(K, target)[0] + 0.5 * eta * np.sum((K - T) ** 2)

    check_minimum(total, model.weights_[0], 1e-7)
    assert model.result_.duality_gap <= 1e-8


@each("eta", [1e-3, 0.05, 0.5, 20.0])
def test_rpkl_against_the_quartic_dual(eta):
    oracle, stacked, y, task = problem(43, (16,))
    Ks, target = oracle.tasks[0]
    model = fit(stacked, y, task, method="rpkl", eta=eta)
    best, b = proxy_dual(Ks.mean(axis=0), target, 1.0, eta)
    assert model.result_.objective == pytest.approx(best, rel=1e-5)
    assert model.result_.identity[0] == pytest.approx(b @ b / (2.0 * eta), rel=1e-2)
    # Training uses Khat b = (K + kappa I) b; prediction uses K.
    own = model.decision_function(stacked, task) - Ks.mean(axis=0) @ b
    np.testing.assert_allclose(own, own[0], atol=2e-2)


def test_onjkl_is_the_best_of_the_proxies():
    beta, eta = 0.02, 0.5
    oracle, stacked, y, task = problem(47, (16,))
    Ks, target = oracle.tasks[0]
    model = fit(stacked, y, task, method="onjkl", beta=beta, eta=eta)

    def total(theta):
        K = np.tensordot(theta, Ks, 1)
        return proxy_dual(K, target, 1.0, eta)[0] + beta * oracle.traces[0] @ theta

    assert model.result_.objective == pytest.approx(total(model.weights_[0]), rel=1e-5)
    check_minimum(total, model.weights_[0], 1e-5)


def test_alignments_of_pairs_of_tasks():
    _, stacked, y, task = problem(59, (12, 15))
    model = fit(stacked, y, task, beta=0.05, eta=0.1)
    for t in range(2):
        rows = np.flatnonzero(task == t)
        Ks = np.array([K[np.ix_(rows, rows)] for K in stacked])
        K = np.tensordot(model.weights_[t], Ks, 1)
        for s in range(2):
            other = np.tensordot(model.neighborhood_kernels_[s], Ks, 1)
            expected = np.sum(K * other) / np.linalg.norm(K) / np.linalg.norm(other)
            assert model.alignment_matrix_[t, s] == pytest.approx(expected, abs=1e-9)
    assert alignment_matrix(np.zeros((1, 2)), np.ones((1, 2)), np.eye(2)[None]) == 0.0


@given(
    st.integers(0, 2**32 - 1),
    st.floats(1e-4, 3.0),
    st.sampled_from(["none", "ridge", "group"]),
    st.booleans(),
)
@example(288, 0.90625, "none", True)  # steps that change no coefficients
@example(29693, 0.8073623488828869, "none", True)
def test_the_certificate_holds(seed, beta, coupling, regression):
    oracle, stacked, y, task = problem(seed, (8, 11), 0.05 if regression else None)
    model = fit(stacked, y, task, oracle.epsilon, beta=beta, coupling=coupling, tol=1e-4, ridge=0.1)
    result = model.result_
    assert result.converged
    assert np.all(model.weights_ >= 0.0)
    if coupling == "none":
        value = objective(oracle, model, beta)
        assert value <= result.objective * (1.0 + 1e-7) + 1e-9
        best, _ = oracle.separate(beta)
        assert value <= best * (1.0 + 2e-4) + 1e-9
