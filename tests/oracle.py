"""Naive NumPy in extended precision, independent of the library."""

import numpy as np

LD = np.longdouble


def pair_primitives(X, Z):
    """Squared distance, inner product, L1 distance of all pairs, in long double."""
    X, Z = np.asarray(X, LD), np.asarray(Z, LD)
    difference = X[:, None, :] - Z[None, :, :]
    return (
        (difference**2).sum(-1),
        (X[:, None, :] * Z[None, :, :]).sum(-1),
        np.abs(difference).sum(-1),
    )


def center(K):
    """H K H with H = I - 11'/m."""
    m = K.shape[0]
    H = np.eye(m, dtype=LD) - np.full((m, m), LD(1) / m)
    return H @ np.asarray(K, LD) @ H


def statistics(grams, Y):
    """a, M, traces and |Yc Yc'|_F by the definition."""
    centered = [center(K) for K in grams]
    Y = np.asarray(Y, LD).reshape(len(grams[0]), -1)
    Y = Y - Y.mean(axis=0)
    target = Y @ Y.T
    a = np.array([np.sum(K * target) for K in centered])
    M = np.array([[np.sum(K * L) for L in centered] for K in centered])
    return a, M, np.array([np.trace(K) for K in centered]), np.sqrt(np.sum(target**2))


def unbiased_hsic(K, L):
    """The U-statistic in its zeroed-diagonal form (Song et al. 2012, equation 5)."""
    K, L = np.array(K, LD), np.array(L, LD)
    m = len(K)
    np.fill_diagonal(K, 0)
    np.fill_diagonal(L, 0)
    one = np.ones(m, LD)
    trace = np.sum(K * L)
    sums = (one @ K @ one) * (one @ L @ one) / ((m - 1) * (m - 2))
    cross = 2 * (one @ K @ L @ one) / (m - 2)
    return (trace + sums - cross) / (m * (m - 3))
