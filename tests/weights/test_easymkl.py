"""EasyMKL against a general solver of its quadratic program, and invariances."""

import numpy as np
import pytest
from cases import each
from scipy.optimize import LinearConstraint, minimize

import alignlearn as al
from alignlearn.sources import open_source
from alignlearn.weights import Problem

rng = np.random.default_rng(0)
X = rng.normal(size=(24, 3))
Y = np.where(X[:, 0] + 0.5 * rng.normal(size=24) > 0.0, 1, -1)
KERNELS = [al.Gaussian(0.1), al.Gaussian(1.0), al.Linear()]


def learned(X, y, lam, kernels=KERNELS, **how):
    source = open_source(X, kernels, **how)
    return al.EasyMKL(lam).learn(Problem(source, y, "classification", normalize=None))


def weights(*args, **how):
    return learned(*args, **how).weights


def oracle(grams, y, lam):
    """The margins of the kernels by a general solver, for the problem as in the paper."""
    K = np.outer(y, y) * sum(grams) * (1.0 - lam) + lam * np.eye(len(y))
    sums = np.array([y == 1, y == -1], dtype=float)
    start = sums.T @ (1.0 / sums.sum(axis=1))
    found = minimize(
        lambda g: g @ K @ g, start, jac=lambda g: 2 * K @ g, bounds=[(0, None)] * len(y),
        constraints=LinearConstraint(sums, 1.0, 1.0), method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    ).x  # fmt: skip
    return np.array([(found * y) @ K @ (found * y) for K in grams])


@each("lam", [0.02, 0.1, 0.5, 0.999, 1.0])
def test_weights_are_those_of_the_quadratic_program(lam):
    grams = [kernel(X) for kernel in KERNELS]
    found, margins = learned(X, Y, lam), oracle(grams, Y, lam)
    np.testing.assert_allclose(found.weights, margins / margins.sum(), atol=2e-6)
    assert found.objective == pytest.approx(margins.sum(), rel=1e-4)
    other = oracle(grams, Y, min(1.0, 1.5 * lam + 1e-3))
    assert np.abs(found.weights - other / other.sum()).max() > 2e-6 or lam > 0.9


def test_of_matrices_and_their_centered_ones_and_of_other_names():
    grams = [kernel(X) for kernel in KERNELS]
    expected = weights(X, Y, 0.1)
    for given in (grams, [al.center_kernel(K) for K in grams]):
        np.testing.assert_allclose(weights(given, Y, 0.1, "precomputed"), expected, atol=1e-7)
    np.testing.assert_allclose(weights(X, -Y, 0.1), expected, atol=1e-7)
    np.testing.assert_allclose(weights(X, np.where(Y > 0, "b", "a"), 0.1), expected, atol=1e-7)


def test_sample_weights_count_repetitions():
    counts = np.random.default_rng(1).integers(0, 3, 24)
    rows = np.repeat(np.arange(24), counts)
    for lam in (0.1, 1.0):
        found = weights(X, Y, lam, sample_weight=counts.astype(float))
        np.testing.assert_allclose(found, weights(X[rows], Y[rows], lam), atol=1e-6)


def test_more_classes_are_the_sum_over_each_against_the_rest():
    labels = np.arange(24) % 3
    parts = [learned(X, np.where(labels == k, 1, -1), 0.2) for k in range(3)]
    found = learned(X, labels, 0.2)
    np.testing.assert_allclose(found.weights, np.mean([p.weights for p in parts], 0), atol=1e-9)
    assert found.objective == pytest.approx(sum(p.objective for p in parts))
    assert found.n_iter == sum(p.n_iter for p in parts) > 3
    assert 0.0 < found.kkt_residual == max(p.kkt_residual for p in parts) <= 1e-6
    assert found.converged
    means = learned(X, labels, 1.0)  # nothing to solve
    assert (means.n_iter, means.kkt_residual, means.converged) == (0, 0.0, True)


def test_without_any_margin_weights_are_equal():
    """The means of both classes coincide for each kernel."""
    square = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    y, kernels = np.array([1, 1, -1, -1]), [al.Linear(), 2.0 * al.Linear()]
    with pytest.warns(al.DegenerateKernelWarning, match="no kernel has a margin"):
        found = learned(square, y, 1.0, kernels)
    assert (found.objective, found.fallback) == (0.0, True)
    np.testing.assert_array_equal(found.weights, 0.5)


def test_in_estimators_and_what_is_refused():
    constant = al.MKLClassifier([al.Linear(), 0.0 * al.Linear()], weighting="easymkl").fit(X, Y)
    assert constant.weights_.tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="easymkl' is for classes"):
        al.MKLRegressor(KERNELS, weighting="easymkl").fit(X, X[:, 0])
    with pytest.raises(ValueError, match="lam"):
        al.MKLClassifier(KERNELS, weighting=al.EasyMKL(0.0)).fit(X, Y)
    with pytest.raises(TypeError, match="EasyMKL needs the samples"):
        al.EasyMKL().solve(al.alignment_statistics(X, Y, KERNELS))
