"""Hyper-kernels and the problems in their spaces, in naive NumPy.

A hyper-kernel is a function ``k(S, T, U, V)`` of points: rows of S (n, d) and T (n, d) are the
pairs on one side, those of U and V (l, d) on the other; the result is (n, l). Normalizers are left
out. All m^2 ordered pairs of m points are used, in the row-major order of the papers. Nothing
checks its input.
"""

from __future__ import annotations

from functools import partial

import numpy as np

# -- hyper-kernels ---------------------------------------------------------------------


def squared_distances(A, B):
    """(n, l) from (n, d) and (l, d)."""
    return ((A[:, None, :] - B[None, :, :]) ** 2).sum(2)


def variances(sigma2, sigma_h2, convention="liu"):
    """(v1, v2): the variances of the difference and of the midpoint."""
    return (sigma2 if convention == "liu" else 2 * sigma2), sigma2 + sigma_h2


def gaussian(S, T, U, V, sigma2, sigma_h2, convention="liu"):
    """The Gaussian hyper-kernel; "liu" as printed in P4, "kondor-jebara" the integral."""
    v1, v2 = variances(sigma2, sigma_h2, convention)
    left = np.exp(-((S - T) ** 2).sum(1) / (2 * v1))
    right = np.exp(-((U - V) ** 2).sum(1) / (2 * v1))
    return left[:, None] * right * np.exp(-squared_distances((S + T) / 2, (U + V) / 2) / (2 * v2))


def wishart(S, T, U, V, C, r):
    """|C|^((r+3)/2) |C + scatter of the four points|^(-(r+3)/2), 1 where all four are equal."""
    points = np.stack(np.broadcast_arrays(S[:, None], T[:, None], U[None], V[None]))
    apart = points - points.mean(0)
    scatter = np.einsum("qnli,qnlj->nlij", apart, apart)
    change = np.linalg.slogdet(C + scatter)[1] - np.linalg.slogdet(C)[1]
    return np.exp(-(r + 3) / 2 * change)


def product(S, T, U, V, function):
    """f(s, t) f(u, v), a hyper-kernel of rank one by definition 2.1 for every symmetric f."""
    return np.outer(function(S, T), function(U, V))


def drawn(draw, dimension):
    """Draw a Gaussian or Wishart hyper-kernel with random parameters."""
    if draw.choice((True, True, False)):
        return drawn_gaussian(draw)
    f = draw.array((dimension, dimension))
    C = 0.3 * np.eye(dimension) + f @ f.T / dimension
    return partial(wishart, C=C, r=dimension - 1 + draw.log_real(0.1, 10.0))


def drawn_gaussian(draw):
    """Draw a Gaussian hyper-kernel of either convention."""
    parameters = {"sigma2": draw.log_real(0.2, 5.0), "sigma_h2": draw.log_real(0.05, 5.0)}
    convention = draw.choice(("liu", "kondor-jebara"))
    return partial(gaussian, **parameters, convention=convention)


# -- matrices --------------------------------------------------------------------------


def ordered_pairs(X):
    """(S, T), each (m^2, d): the pairs (i, j) with j running first."""
    return np.repeat(X, len(X), axis=0), np.tile(X, (len(X), 1))


def hyper_matrix(X, kernel):
    """The m^2 x m^2 matrix of (2.5)."""
    S, T = ordered_pairs(X)
    return kernel(S, T, S, T)


def unordered_pairs(m):
    """Index arrays (i, j) of the pairs i <= j and their weights, 1 or 2."""
    i, j = np.triu_indices(m)
    return i, j, np.where(i == j, 1.0, 2.0)


def learned(X, beta, S, T, kernel):
    """k*(s, t) of (2.3) at the pairs (S, T), for beta of length m^2."""
    return kernel(S, T, *ordered_pairs(X)) @ beta


def learned_gram(X, beta, Z, kernel):
    """k* at all pairs of the rows of Z, (l, l)."""
    return learned(X, beta, *ordered_pairs(Z), kernel).reshape(len(Z), len(Z))


# -- support vector regression ---------------------------------------------------------


def svr(K, y, limit, eps, *, bias=True):
    """The dual (2.8): coefficients of k*, the bias, and the dual value.

    Maximizes b'y - eps |b|_1 - b'K b/2 over |b_p| <= limit_p, with sum b = 0 if there is a bias.

    Parameters
    ----------
    K : float array (P, P)
    y : float array (P,)
    limit : float or array (P,)
    eps : float
    bias : bool

    Returns
    -------
    (beta, b, value)
    """
    P = len(y)
    Q = np.block([[K, -K], [-K, K]])
    cost = np.r_[eps - y, eps + y]
    signs = np.r_[np.ones(P), -np.ones(P)][None, : 2 * P] if bias else np.zeros((0, 2 * P))
    x, multiplier = box_qp(Q, cost, np.tile(np.broadcast_to(limit, P), 2), signs)
    beta = x[:P] - x[P:]
    value = beta @ y - eps * np.abs(beta).sum() - beta @ K @ beta / 2
    return beta, float(multiplier[0]) if bias else 0.0, float(value)


def svr_objective(K, y, beta, b, limit, eps):
    """The primal (2.7) at k* = sum beta k and the bias b."""
    excess = np.maximum(np.abs(K @ beta + b - y) - eps, 0.0)
    return float(beta @ K @ beta / 2 + (limit * excess).sum())


def box_qp(Q, cost, upper, A, steps=80):
    """min x'Q x/2 + cost'x over 0 <= x <= upper, A x = 0, by an interior point method.

    Returns x and the multipliers y of the Lagrangian that has + y'A x.
    """
    n, rows = len(cost), len(A)
    x = upper / 2
    z = w = np.full(n, max(1.0, np.abs(cost).max()))
    y = np.zeros(rows)
    size = 1.0 + np.abs(cost).max() * upper.max()
    for _ in range(steps):
        s = upper - x
        gap = (x @ z + s @ w) / (2 * n)
        dual = Q @ x + cost + A.T @ y - z + w
        primal = A @ x
        if gap < 1e-12 * size:
            break
        target = 0.1 * gap
        H = Q + np.diag(z / x + w / s)
        # dz = (target - z dx)/x - z and dw = (target + w dx)/s - w are eliminated.
        right = -dual + target / x - z - target / s + w
        system = np.block([[H, A.T], [A, np.zeros((rows, rows))]])
        step = np.linalg.solve(system, np.r_[right, -primal])
        dx, dy = step[:n], step[n:]
        dz, dw = (target - z * dx) / x - z, (target + w * dx) / s - w
        length = 1.0
        for value, change in ((x, dx), (s, -dx), (z, dz), (w, dw)):
            falling = change < 0
            if falling.any():
                length = min(length, 0.99 * (-value[falling] / change[falling]).min())
        x, y, z, w = x + length * dx, y + length * dy, z + length * dz, w + length * dw
    return x, y
