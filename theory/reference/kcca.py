"""Kernel canonical correlation on a few samples, by dense generalized eigenproblems.

``G`` is a list of centered Gram matrices, ``kappa`` the regularization of the slides: the
denominators are c'(G + kappa I)^2 c.
"""

from __future__ import annotations

import numpy as np

from .matrices import center


def drawn(draw, views=2, most=6):
    """Draw centered Gram matrices (views, N, N) of a random sample, sometimes with equal views."""
    N = draw.integer(2, most)
    grams = [center(draw.kernel(N, "generic") + 1e-3 * np.eye(N)) for _ in range(views)]
    if draw.choice((False, False, True)):
        grams[1] = grams[0]
    return np.array(grams)


def pencil(G, kappa):
    """The matrices A (off-diagonal products G_i G_j) and B (blocks (G_i + kappa I)^2)."""
    M, N = G.shape[:2]
    A, B = np.zeros((2, M * N, M * N))
    for i in range(M):
        rows = slice(i * N, (i + 1) * N)
        shifted = G[i] + kappa * np.eye(N)
        B[rows, rows] = shifted @ shifted
        for j in range(M):
            if i != j:
                A[rows, j * N : (j + 1) * N] = G[i] @ G[j]
    return A, B


def eigenvalues(A, B):
    """Eigenvalues of A z = value B z, ascending."""
    from scipy.linalg import eigh

    return eigh((A + A.T) / 2, B, eigvals_only=True)


def shrunk(G, kappa):
    """(G + kappa I)^-1 G by the eigenvectors of G."""
    values, vectors = np.linalg.eigh(G)
    values = np.maximum(values, 0.0)
    return (vectors * (values / (values + kappa))) @ vectors.T


def correlation(G, kappa):
    """The largest regularized correlation of two views."""
    return float(np.linalg.norm(shrunk(G[0], kappa) @ shrunk(G[1], kappa), 2))


def penalized(G, penalty):
    """sup of cov(f, g) over the roots of var f + penalty |f|^2 and var g + penalty |g|^2."""
    factors = []
    for K in G:
        values, vectors = np.linalg.eigh(K)
        values = np.maximum(values, 0.0)
        share = values / (values + penalty * len(K))
        factors.append((vectors * np.sqrt(share)) @ vectors.T)
    return float(np.linalg.norm(factors[0] @ factors[1], 2))
