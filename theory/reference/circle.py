"""Ridge regression in a hyper-RKHS on the circle whose r and s are known.

Points are uniform on the circle R/Z and the hyper-kernel is sum_i mu_i cos 2 pi i (x + x' - y -
y'), mu_i = i^(-2/s), so that log N(B_1, eps) is of order eps^-s. The target sum_i a_i mu_i^(1/2)
cos 2 pi i (x + x') with a_i^2 = i^-decay, decay > 1, lies in the space: r = 1. Everything depends
on a pair through t = x + x', uniform as well, for i != j and for i = j.
"""

from __future__ import annotations

import numpy as np


def spectrum(s, decay, size):
    """(mu_i, a_i^2), each (size,). The eigenvalues in L2 are mu_i / 2, each twice."""
    i = np.arange(1.0, size + 1)
    return i ** (-2 / s), i**-decay


def squared_bias(lam, s, decay, size=4000):
    """|k_lam - k_rho|^2 in L2, for the minimizer k_lam of |k - k_rho|^2 + lam |k|_H^2."""
    mu, square = spectrum(s, decay, size)
    return float((square * mu / 2 * (lam / (mu / 2 + lam)) ** 2).sum())


def squared_norm(s, decay, size=4000):
    """|k_rho|_H^2."""
    return float(spectrum(s, decay, size)[1].sum())


def second_moments(x, size):
    """(1/m^2) sum over all pairs of f f', f = (cos 2 pi i t, sin 2 pi i t)_i; (2 size, 2 size)."""
    n = np.arange(2 * size + 1)
    # The mean of exp(2 pi i n (x + x')) over all pairs is a square.
    mean = np.exp(2j * np.pi * np.outer(n, x)).mean(1) ** 2
    i = np.arange(1, size + 1)
    plus, minus = mean[i[:, None] + i], mean[np.abs(i[:, None] - i)]
    sine = np.sign(i[:, None] - i) * minus.imag
    sin_cos = (plus.imag + sine) / 2
    return np.block(
        [[(minus.real + plus.real) / 2, sin_cos.T], [sin_cos, (minus.real - plus.real) / 2]]
    )


def problem(s, decay, size):
    """Root of mu and coefficients of k_rho in orthonormal coordinates of the space, (2 size,)."""
    mu, square = spectrum(s, decay, size)
    return np.sqrt(np.r_[mu, mu]), np.r_[np.sqrt(square), np.zeros(size)]


def fitted_error(x, lam, s, decay, size, noise=0.0, rng=None):
    """|k_z - k_rho| in L2 for the points x, with normal noise on each of the m^2 pairs.

    Given the points, the sum over pairs of noise times f is normal with the second moments of f,
    so the pairs are not formed.
    """
    root, w = problem(s, decay, size)
    G = second_moments(x, size) * np.outer(root, root)
    right = G @ w
    if noise:
        values, vectors = np.linalg.eigh(G)
        scale = noise / len(x) * np.sqrt(np.maximum(values, 0.0))
        right = right + vectors @ (scale * rng.standard_normal(len(scale)))
    change = np.linalg.solve(G + lam * np.eye(len(w)), right) - w
    return float(np.sqrt(((root * change) ** 2).sum() / 2))
