"""Plain NumPy linear algebra for the claims, written naively so that it can serve as their oracle.

All functions also take object arrays of `fractions.Fraction` unless they solve a linear system,
and none checks its input.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np


def center(K):
    """Subtract row means, column means, add the grand mean; any square (m, m)."""
    m = K.shape[0]
    return K - K.sum(0)[None, :] / m - K.sum(1)[:, None] / m + K.sum() / m**2


def frobenius(A, B):
    """Sum of the entrywise product."""
    return (A * B).sum()


def center_product(K, L):
    """<K_c, L_c>_F from the centered matrices."""
    return frobenius(center(K), center(L))


def alignment(K, L) -> float:
    """Centered alignment of two (m, m) matrices; nan where one of them centers to zero."""
    Kc, Lc = center(K), center(L)
    size = np.linalg.norm(Kc) * np.linalg.norm(Lc)
    return float(frobenius(Kc, Lc) / size) if size > 0 else float("nan")


def alignf_terms(kernels, y):
    """a_k = <K_kc, yy'>_F and M_kl = <K_kc, K_lc>_F for kernels (p, m, m) and labels (m,).

    A kernel whose centering leaves only rounding counts as constant, with exact zeros.
    """
    centered = np.array([center(K) for K in kernels])
    size = np.abs(centered).max((1, 2))
    centered[size <= 1e-14 * len(y) * np.abs(kernels).max((1, 2))] = 0.0
    a = np.array([y @ Kc @ y for Kc in centered])
    M = np.einsum("kij,lij->kl", centered, centered)
    return a, M


def alignf_minimizer(a, M):
    """argmin over v >= 0 of v'Mv - 2 v'a for a in range(M); M may be singular, p <= 12.

    By trying every support. `scipy.optimize.nnls` is not used: where an unconstrained solution
    lies on the boundary it can stop at a point that does not meet its optimality conditions.
    """
    p = len(a)
    if p > 12:
        raise ValueError(f"p={p} kernels are too many to try every support; accepted: p <= 12.")
    d = np.sqrt(np.diag(M))
    d = np.where(d > 0, d, 1.0)
    return _best_support(M / np.outer(d, d), a / d) / d


def _best_support(M, a):
    p = len(a)
    best, best_value = np.zeros(p), 0.0
    for size in range(p, 0, -1):
        for support in combinations(range(p), size):
            s = list(support)
            z = np.linalg.lstsq(M[np.ix_(s, s)], a[s], rcond=1e-12)[0]
            if not (z >= 0).all():
                continue
            value = 2 * z @ a[s] - z @ M[np.ix_(s, s)] @ z
            if value > best_value:
                best, best_value = np.zeros(p), value
                best[s] = z
            if size == p:
                # Feasible without the constraint, hence optimal.
                return best
    return best


def krr(K, y, lam):
    """Dual coefficients (K + lam I)^{-1} y."""
    return np.linalg.solve(K + lam * np.eye(len(y)), y)


def combine(mu, kernels):
    """sum_k mu_k K_k for kernels (p, ...)."""
    return np.tensordot(mu, kernels, axes=1)
