"""The numbers of the claims on the slides, to their known digits."""

import numpy as np
import pytest
from alignlearn.theory import CLAIMS, check
from alignlearn.theory.reference import kcca
from alignlearn.theory.reference.matrices import center
from cases import each
from scipy.linalg import eigh
from sklearn.svm import SVC

import alignlearn as al


def at_counterexample(name):
    """(measured, printed) at the counterexample, which must violate the claim."""
    claim = CLAIMS[name]
    case = claim.counterexample()
    assert check(claim, case).outcome == "violated"
    return np.asarray(claim.measure(case)), np.asarray(claim.bound(case))


@each(
    ("name", "measured", "printed"),
    [
        ("p5-centered-gram", [[0.75, -0.75], [-0.75, 0.75]], [[-2.75, -4.25], [-4.25, -2.75]]),
        ("p5-frobenius", 70.0, 8.366600),
        ("p5-hinge-envelope", 1.5, 1.0),
        ("p5-intercept", [0.4, 0.4, -0.08, -0.08], 1.0),
        ("p5-svm-primal", 1.5, 1.25),
        ("p5-separable", 2**0.5, 1.0),
        ("p5-max-correlation", 1.0, 0.0),
    ],
)
def test_numbers_at_the_counterexamples(name, measured, printed):
    found = at_counterexample(name)
    np.testing.assert_allclose(found[0], measured, atol=1e-6)
    np.testing.assert_allclose(found[1], printed, atol=1e-6)


def test_binomial_coefficients():
    measured, printed = at_counterexample("p5-binomial")
    assert measured == pytest.approx(4.7478612058, abs=5e-11)
    assert printed == pytest.approx(1.44, abs=5e-6)
    file = CLAIMS.module("p5-binomial")
    case = file.counterexample()
    assert file.coefficients(case, np.cumprod)[2] == pytest.approx(2.295)
    assert file.coefficients(case, np.cumsum)[2] == pytest.approx(-3.05)
    assert file.coefficients(case, np.cumprod).min() > 0


def test_smallest_eigenvalues_of_universal_kernels():
    """Twelve points are too many for the exponential kernel."""
    file, x = CLAIMS.module("p5-universal"), np.array([0.0, 0.3, 0.7, 1.0])
    kinds = ("gaussian", "exponential", "laplacian", "binomial")
    found = [file.measure({"x": x, "kind": kind, "alpha": 1.0}) for kind in kinds]
    assert found == pytest.approx([3.449167e-3, 6.255760e-4, 0.1936420, 6.468544e-3], rel=1e-6)
    case = {"x": np.linspace(0, 1, 12), "kind": "exponential", "alpha": 1.0}
    assert abs(file.measure(case)) < 1e-14
    values = np.linalg.eigvalsh(file.gram(case | {"kind": "polynomial"}))
    assert np.sum(values > 1e-12 * values[-1]) == 4


def test_blocks_have_maximal_correlation_1():
    file = CLAIMS.module("p5-max-correlation")
    table = file.counterexample()["table"]
    assert file.second_singular_value(table) == pytest.approx(1.0)
    # f = g = 1 on the first block, -1 on the second.
    f = np.array([1.0, 1.0, -1.0, -1.0])
    assert f @ table @ f == pytest.approx(1.0)


def test_every_intercept_of_the_interval_is_optimal():
    file = CLAIMS.module("p5-intercept")
    case = file.counterexample()
    f, alpha, interval = file.solved(case)
    np.testing.assert_allclose(alpha, np.ones(4), atol=1e-8)
    np.testing.assert_allclose(interval, (-1.0, 0.2), atol=1e-8)
    values = [file.objective(case, f, alpha, b) for b in np.linspace(-1.0, 0.2, 7)]
    np.testing.assert_allclose(values, values[0])
    for outside in (0.21, -1.01):
        assert file.objective(case, f, alpha, outside) > values[0] + 1e-3
    machine = SVC(kernel="linear", C=1.0).fit(case["X"], case["y"])
    assert -1.0 - 1e-3 <= machine.intercept_[0] <= 0.2 + 1e-3


def test_ridge_with_a_parameter_that_is_not_scaled():
    """(G + lam I)^-1 y minimizes another objective as soon as n > 1."""
    file = CLAIMS.module("p5-krr")
    rng = np.random.default_rng(0)
    case = {"G": center(rng.normal(size=(6, 6))), "y": rng.normal(size=6), "lam": 0.1}
    case["G"] = case["G"] @ case["G"].T
    right, wrong = file.bound(case)[0], file.bound(case, case["lam"])[0]
    assert right == pytest.approx(file.measure(case)[0])
    assert wrong > 1.05 * right


# KCCA, on one sample: y = x^2 and noise, Gaussian kernels.


def views(n=40, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 1))
    y = x**2 + noise * rng.normal(size=(n, 1))
    return np.array([center(al.Gaussian(0.5)(v)) for v in (x, y)])


def test_kcca_three_ways():
    """The dense problem, the reduction, and the correlation of the functions themselves."""
    G, kappa = views(), 0.5
    A, B = kcca.pencil(G, kappa)
    values, vectors = eigh(A, B)
    rho = kcca.correlation(G, kappa)
    assert values[-1] == pytest.approx(rho, abs=1e-9)
    np.testing.assert_allclose(values, -values[::-1], atol=1e-9)
    assert 0.0 <= rho < 1.0
    c, d = np.split(vectors[:, -1], 2)
    f, g = G[0] @ c, G[1] @ d
    spread = [np.sum(((K + kappa * np.eye(len(K))) @ v) ** 2) for K, v in zip(G, (c, d))]
    assert f @ g / np.sqrt(np.prod(spread)) == pytest.approx(rho, abs=1e-9)


def test_the_same_kappa_means_another_penalty():
    """With 2 kappa/N the penalized correlation is close, with kappa it is far away."""
    G, kappa = views(), 0.1
    rho, N = kcca.correlation(G, kappa), len(G[0])
    assert rho < kcca.penalized(G, 2 * kappa / N) < 1.02 * rho
    assert kcca.penalized(G, kappa) < 0.8 * rho
    K = G[0]
    shifted = K + kappa * np.eye(N)
    expanded = K @ K / N + 2 * kappa / N * K + kappa**2 / N * np.eye(N)
    np.testing.assert_allclose(shifted @ shifted / N, expanded, atol=1e-12)


def test_without_regularization_independent_samples_are_perfectly_correlated():
    rng = np.random.default_rng(1)
    G = np.array([center(al.Gaussian(0.5)(rng.normal(size=(40, 1)))) for _ in range(2)])
    found = [kcca.correlation(G, kappa) for kappa in (1.0, 1e-2, 1e-4, 1e-6)]
    assert 0.0 < found[0] < 0.5
    assert np.all(np.diff(found) > 0.0)
    assert found[-1] > 0.8
    full = np.array([center(K + np.eye(40)) for K in G])
    assert kcca.correlation(full, 1e-9) == pytest.approx(1.0, abs=1e-8)
