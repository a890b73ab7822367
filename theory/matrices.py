"""Plain NumPy linear algebra for the claims, written naively so that it can serve as their oracle.

All functions also take object arrays of `fractions.Fraction` unless they solve a linear system,
and none checks its input.
"""

from __future__ import annotations

import numpy as np


def center(K):
    """Subtract row means, column means, add the grand mean; any square (m, m)."""
    m = K.shape[0]
    return K - K.sum(0)[None, :] / m - K.sum(1)[:, None] / m + K.sum() / m**2


def frobenius(A, B):
    """Sum of the entrywise product."""
    return (A * B).sum()


def center_product(K, L):
    """<K_c, L_c>_F from the centred matrices."""
    return frobenius(center(K), center(L))


def alignment(K, L) -> float:
    """Centred alignment of two (m, m) matrices; nan where one of them centres to zero."""
    Kc, Lc = center(K), center(L)
    size = np.linalg.norm(Kc) * np.linalg.norm(Lc)
    return float(frobenius(Kc, Lc) / size) if size > 0 else float("nan")


def alignf_terms(kernels, y):
    """a_k = <K_kc, yy'>_F and M_kl = <K_kc, K_lc>_F for kernels (p, m, m) and labels (m,)."""
    centred = np.array([center(K) for K in kernels])
    a = np.array([y @ Kc @ y for Kc in centred])
    M = np.einsum("kij,lij->kl", centred, centred)
    return a, M


def alignf_minimiser(a, M):
    """argmin over v >= 0 of v'Mv - 2 v'a for a in range(M); M may be singular."""
    from scipy.optimize import nnls

    d = np.sqrt(np.diag(M))
    d = np.where(d > 0, d, 1.0)
    w, V = np.linalg.eigh(M / np.outer(d, d))
    keep = w > 1e-12 * max(w[-1], 1e-300)
    if not keep.any():
        return np.zeros(len(a))
    root = np.sqrt(w[keep])
    u, _ = nnls(root[:, None] * V[:, keep].T, (V[:, keep].T @ (a / d)) / root, maxiter=100 * len(a))
    return u / d


def krr(K, y, lam):
    """Dual coefficients (K + lam I)^{-1} y."""
    return np.linalg.solve(K + lam * np.eye(len(y)), y)


def combine(mu, kernels):
    """sum_k mu_k K_k for kernels (p, ...)."""
    return np.tensordot(mu, kernels, axes=1)
