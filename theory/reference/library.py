"""Wrappers of the library's solvers that the claims test.

The plain versions in `learners` and `matrices` are the oracles; they call nothing that is used
here. Ridge parameters: ``lam`` = lambda_0 m multiplies the identity.
"""

from __future__ import annotations

import warnings

import numpy as np

from alignlearn.kernels import Precomputed
from alignlearn.machines import KernelRidge
from alignlearn.online import KernelSGDClassifier, KernelSGDRegressor
from alignlearn.solvers.dual_coordinate_descent import dual_coordinate_descent
from alignlearn.solvers.nnqp import nonnegative_qp
from alignlearn.solvers.smo import smo
from alignlearn.sources import GramFamily
from alignlearn.statistics import AlignmentStatistics
from alignlearn.validation import ConvergenceWarning, DegenerateKernelWarning
from alignlearn.weights.one_stage import LKRR, AlignedKRR
from alignlearn.weights.one_stage.ridge import RidgeProblem, interpolated


def statistics(a, M):
    """`AlignmentStatistics` of given products; targets of norm 1, traces are not used."""
    return AlignmentStatistics(
        a=a, M=M, trace=np.zeros(len(a)), target_norm=1.0, n_samples=len(a) + 1
    )


def two_stage_weights(rule, a, M):
    """Weights (p,) that a two-stage rule gives for a and M."""
    return rule.solve(statistics(a, M)).weights


def alignf_minimizer(a, M):
    """argmin over v >= 0 of v'Mv - 2 v'a by `nonnegative_qp`."""
    return nonnegative_qp(M, a).v


def ridge(K, y, lam, K_test):
    """Predictions at the rows of K_test (n, m) by `KernelRidge` without intercept."""
    return KernelRidge(lam, fit_intercept=False).fit(K, y).predict(K_test)


def ridge_with_intercept(K, y, lam, K_test, weight):
    """`ridge` with an intercept and samples that occur ``weight`` (m,) times each."""
    return KernelRidge(lam).fit(K, y, weight).predict(K_test)


def lkrr(kernels, y, lam, mu0, radius):
    """Solution (alpha, mu) of L2-regularized kernel learning by `LKRR`.

    Where v is almost 0, the required precision is beyond rounding, and it warns; the claims judge
    the solution instead.
    """
    rule = LKRR(radius, mu0, lam, tol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # All K_k y = 0: mu0 is returned, as optimal as any other.
        warnings.simplefilter("ignore", DegenerateKernelWarning)
        found = rule.solve_grams(kernels, y)
    return found.dual_coef, found.weights


def lkrr_iteration(kernels, y, lam, mu0, radius, eta, steps, tol=1e-9, safeguard=False, start=None):
    """Last iterate of Algorithm 1, without the solver that takes over from it in `LKRR`.

    The published iteration, or the one with the safeguard that `LKRR` uses; from the algorithm's
    start, or from ``start`` (m,).
    """
    problem = RidgeProblem(GramFamily(kernels), np.array([y]), lam, mu0, radius)
    start = None if start is None else np.array([start])
    return interpolated(problem, eta, tol, steps, start, safeguard).alpha[0]


def aligned_krr(kernels, y, lam, gamma, a, M):
    """Solution (alpha, mu) of (8) of the 2012 paper by `AlignedKRR`.

    ``gamma`` holds gamma, gamma', gamma''; a and M are of the centered kernels.
    """
    rule = AlignedKRR(*gamma, lam, tol=1e-10)
    found = rule.solve_grams(kernels, y, statistics=statistics(a, M))
    return found.dual_coef, found.weights


def support_vectors(K, y, C):
    """Dual solution alpha (n,) of the C-SVC with labels y = +-1, by `smo`."""
    upper, lower = np.where(y > 0, C, 0.0), np.where(y > 0, 0.0, -C)
    K = np.ascontiguousarray(K, dtype=float)
    return smo(K, -y.astype(float), (lower, upper), tol=1e-10).coef * y


def support_vectors_without_intercept(K, y, C):
    """Dual solution alpha (n,) of the C-SVC without intercept, by dual coordinate descent."""
    values, vectors = np.linalg.eigh(K)
    Z = np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))
    found = dual_coordinate_descent(Z, y.astype(float), np.full(len(y), float(C)), tol=1e-9)
    return found.coef * y


def stream(K, y, rule, lam, eta, loss):
    """Coefficients (n,) after one pass of the library's kernel SGD, and its values there (n,).

    ``rule`` is its ``learning_rate``; targets -1 and +1 for the hinge and the logistic loss.
    """
    kind = KernelSGDClassifier if loss in ("hinge", "logistic") else KernelSGDRegressor
    options = {"n_passes": 1, "fit_intercept": False, "shuffle": False, "learning_rate": rule}
    machine = kind(Precomputed(K), loss=loss, alpha=lam, eta0=eta, **options)
    X = np.arange(len(y))[:, None]
    if kind is KernelSGDRegressor:
        values = machine.fit(X, y).predict(X)
    else:
        values = machine.partial_fit(X, y, classes=[-1.0, 1.0]).decision_function(X)
    coef = np.zeros(len(y))
    coef[machine.support_] = machine.dual_coef_[:, 0]
    return coef, values


def support_vector_regression(K, y, C, epsilon):
    """Dual solution gamma (n,) of epsilon-SVR, by `smo`."""
    K, box = np.ascontiguousarray(K, dtype=float), np.full(len(y), float(C))
    return smo(K, -y, (-box, box), epsilon=epsilon, tol=1e-10).coef
