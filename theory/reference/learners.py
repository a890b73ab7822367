"""Reference solvers of the learning problems in the claims, deliberately small and slow.

Ridge parameters: ``lam`` = lambda_0 m multiplies the identity.
"""

from __future__ import annotations

import numpy as np

from .matrices import alignf_minimizer, combine, krr


def quadratic_forms(kernels, alpha):
    """v_k = alpha'K_k alpha for kernels (p, m, m)."""
    return np.einsum("i,kij,j->k", alpha, kernels, alpha)


def lkrr_weights(kernels, alpha, mu0, radius):
    """mu0 + L v/||v||; mu0 where v = 0 (every feasible mu is then optimal)."""
    v = quadratic_forms(kernels, alpha)
    # Divided by the largest entry first: the squares of tiny forms underflow.
    top = v.max()
    return mu0 + radius * (v / top) / np.linalg.norm(v / top) if top > 0 else np.array(mu0, float)


def interpolated_iteration(kernels, y, lam, mu0, radius, eta=0.5, steps=500, tol=0.0):
    """Algorithm 1 of Cortes, Mohri and Rostamizadeh (2009).

    Returns
    -------
    (alpha, relative_step, iterations) : last iterate, last relative step, number of steps made.
    """
    alpha = krr(combine(mu0, kernels), y, lam)
    relative, made = np.inf, 0
    while made < steps and not relative <= tol:
        made += 1
        K = combine(lkrr_weights(kernels, alpha, mu0, radius), kernels)
        new = eta * alpha + (1 - eta) * krr(K, y, lam)
        relative = np.linalg.norm(new - alpha) / max(np.linalg.norm(alpha), 1e-300)
        alpha = new
    return alpha, relative, made


def lkrr(kernels, y, lam, mu0, radius):
    """Solution (alpha, mu) of L2-regularized kernel learning with ridge regression."""
    alpha, _, _ = interpolated_iteration(kernels, y, lam, mu0, radius, steps=2000, tol=1e-15)
    return alpha, lkrr_weights(kernels, alpha, mu0, radius)


def kernel_quadratic(linear, Q):
    """argmin over mu >= 0 of mu'Q mu - mu'linear for positive definite Q."""
    return alignf_minimizer(linear / 2, Q)


def aligned_objective(mu, kernels, y, lam, linear, Q):
    """y'(K_mu + lam)^-1 y - mu'linear + mu'Q mu, and its gradient."""
    alpha = krr(combine(mu, kernels), y, lam)
    value = y @ alpha - mu @ linear + mu @ Q @ mu
    return value, -quadratic_forms(kernels, alpha) - linear + 2 * Q @ mu


def aligned_krr(kernels, y, lam, linear, Q):
    """argmin over mu >= 0 of `aligned_objective`, convex, by L-BFGS-B from two starts."""
    from scipy.optimize import minimize

    best = None
    for start in (0.0, 1.0):
        found = minimize(
            aligned_objective,
            np.full(len(kernels), start),
            args=(kernels, y, lam, linear, Q),
            jac=True,
            bounds=[(0, None)] * len(kernels),
            options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 5000, "maxcor": 20},
        )
        best = found if best is None or found.fun < best.fun else best
    return best.x


def aligned_iteration(kernels, y, linear, Q, steps=500, alpha=None):
    """alpha <- (alpha + (K_mu(alpha) + I)^-1 y)/2 for `aligned_objective` at lam = 1.

    alpha = y at first unless given.

    Returns
    -------
    (alpha, steps) : last iterate, relative lengths of all steps.
    """
    alpha, lengths = y if alpha is None else alpha, []
    for _ in range(steps):
        mu = kernel_quadratic(linear + quadratic_forms(kernels, alpha), Q)
        new = (alpha + krr(combine(mu, kernels), y, 1.0)) / 2
        lengths.append(np.linalg.norm(new - alpha) / np.linalg.norm(alpha))
        alpha = new
    return alpha, np.array(lengths)
