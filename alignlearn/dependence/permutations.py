"""Sums under permutations of the samples, and the p-value computed from them."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from alignlearn._threads import on_threads, thread_count
from alignlearn.engine.gram_loops import permuted_diagonals
from alignlearn.engine.gram_loops import shifted_products as _shifted_products

_ENTRIES = 2**22  # entries of permutations in memory at once
_DIAGONALS = 2**20  # entries of diagonals in memory at once, so that they stay in the cache
# One of this many cyclic shifts of an order of the samples is used. Values of one order are not
# independent: if all shifts were used, a p-value of 0.05 would vary between seeds with up to twice
# the variance of independent permutations (estimate for rank-one kernels).
_SHIFTS = 4
# For several matrices: shifts of one set of orders, at most one per this number of samples.
_MOST_SHIFTS, _APART = 64, 16
# Statistics that differ by less count as equal, because the order of a sum changes its rounding.
_TIE = 1e-12
_ROUNDING = 4.0  # units in the last place of a sum by Fourier transforms, or of m^2 products


def permuted_products(K, L, rng, n_permutations):
    """``<K, PLP'>_F`` for the identity, and then for random permutations P.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Symmetric.
    L : ndarray of shape (m, m), or a pair (A, B) of shape (m, c)
        Symmetric, or ``A B'``, which is never formed.
    rng : numpy.random.Generator
    n_permutations : int

    Returns
    -------
    values : ndarray of shape (1 + n_permutations,)
    rounding : float
        Bound on the rounding errors of the values.

    Notes
    -----
    P pairs sample ``q[i]`` of K with sample ``p[i + s]`` of L, the indices modulo m, for random
    orders q and p and a shift s. Several orders p are drawn. The first order p is q, so its shift 0
    is the identity. Of all other pairs (p, s), ``n_permutations`` are drawn without replacement.

    The p-value is exactly valid. If the samples of L are exchangeable, L may be replaced by L with
    its samples in a uniformly random order. That replaces every p by an independent uniform order,
    the first one included, and a shift of a uniform order is uniform. The joint distribution of the
    values is therefore the same whichever pair (p, s) is called the identity, and so is the
    probability of drawing the other pairs (Hemerik and Goeman, 2018, "Exact testing with random
    permutations", for subsets of a group).

    The values of all shifts of one p are cyclic correlations of the diagonals of both matrices. By
    Fourier transforms they cost ``m^2 log m`` together, while one permutation alone costs
    ``m^2 / 2``.
    """
    m = len(K)
    orders, shifts = _orders_and_shifts(rng, m, n_permutations)
    twice = np.concatenate([orders, orders], axis=1)
    other = _factor_diagonals(*L) if isinstance(L, tuple) else _gram_diagonals(L)
    spectra = np.zeros((len(orders), m // 2 + 1), dtype=np.complex128)
    step = max(1, _DIAGONALS // m)
    for first in range(0, m // 2 + 1, step):
        shape = min(step, m // 2 + 1 - first), m
        given = np.fft.rfft(_gram_diagonals(K)(twice[:1], first, np.empty((1, *shape)))[0]).conj()
        # A diagonal also represents its mirror image, a different one except for these two.
        alone = (np.arange(first, first + shape[0]) * 2) % m == 0
        given *= np.where(alone, 1.0, 2.0)[:, None]
        n = max(1, step // shape[0])
        for b in range(0, len(orders), n):
            room = np.empty((min(n, len(orders) - b), *shape))
            found = np.fft.rfft(other(twice[b : b + n], first, room))
            spectra[b : b + n] += np.einsum("df,bdf->bf", given, found)
    values = np.fft.irfft(spectra, m, axis=1).ravel()[shifts]
    rounding = _ROUNDING * np.finfo(np.float64).eps * np.linalg.norm(K) * _norm(L)
    return values, float(rounding)


def _orders_and_shifts(rng, m, n_permutations):
    """Orders (n, m), and the used ones of all their shifts, numbered consecutively, with 0."""
    n = -(-_SHIFTS * (n_permutations + 1) // m)
    orders = rng.permuted(np.tile(np.arange(m), (n, 1)), axis=1)
    taken = rng.choice(n * m - 1, n_permutations, replace=False)
    return orders, np.concatenate([[0], 1 + taken])


def _gram_diagonals(L):
    def diagonals(twice, first, out):
        permuted_diagonals(L, twice, first, out)
        return out

    return diagonals


def _factor_diagonals(A, B):
    def diagonals(twice, first, out):
        n, m = out.shape[1:]
        out[:] = 0.0
        for a, b in zip(A.T, B.T):
            moved = sliding_window_view(b[twice], m, axis=1)[:, first : first + n]
            out += a[twice[:, None, :m]] * moved
        return out

    return diagonals


def _norm(L):
    """Frobenius norm."""
    if isinstance(L, tuple):
        A, B = L
        return np.sqrt(max(float(np.vdot(A.T @ A, B.T @ B)), 0.0))
    return np.linalg.norm(L)


def permuted_joint(grams, rng, n_permutations):
    """Sums of entrywise products of symmetric matrices under permutations of all but the first.

    Parameters
    ----------
    grams : ndarray of shape (d, m, m)
        Entries of at most 1 in absolute value.
    rng : numpy.random.Generator
    n_permutations : int

    Returns
    -------
    sums : ndarray of shape (1 + n_permutations,)
        Of the entries of the products, the first without a permutation.
    means : ndarray of shape (1 + n_permutations,)
        Over the samples, of the product of the means of their rows.
    rounding : float
        Bound on the rounding errors of ``sums / m**2`` and of ``means``.

    Notes
    -----
    A permutation pairs sample ``q[i]`` of the first matrix with sample ``p_k[i + s_k]`` of matrix
    k, the indices modulo m, for random orders q and p_k and a shift s_k of each matrix. Several
    sets of orders are drawn, and as many sets of shifts for each of them. All orders of the first
    set are q, and its first shifts are 0: the identity. Of the others ``n_permutations`` are drawn
    without replacement.

    The p-value is exactly valid by the argument in `permuted_products`. If the samples of each
    matrix are exchangeable, all sets of orders are independent and uniform, also the first one,
    and shifts of uniform orders are uniform. Which pair of orders and shifts is called the identity
    therefore does not change the joint distribution of the values.

    Two shifts of one set of orders may not change the relative order of a pair of matrices. There
    are at most ``m / 16`` shifts of one set, so that few share this with the identity.

    Along the diagonals of matrices in new orders a shift reads memory in sequence, so that it costs
    about ``m^2 / 2`` multiplications of vectors from the cache for each matrix.
    """
    d, m = grams.shape[:2]
    orders, shifts, taken = _joint_orders(rng, m, d - 1, n_permutations)
    base, size = orders[0, 0], m // 2 + 1
    first = _diagonals(grams[:1], base[None, None], np.empty((1, 1, size, m)))[0, 0]
    # A diagonal also represents its mirror image, a different one except for these two.
    first *= np.where((np.arange(size) * 2) % m == 0, 1.0, 2.0)[:, None]
    row_means = grams.mean(axis=2)
    others = np.stack([mean[order] for mean, order in zip(row_means[1:], orders.swapaxes(0, 1))], 1)
    means = _shifted_sums(row_means[:1, base], others[:, :, None], shifts).ravel() / m
    sums, step = np.empty(shifts.shape[:2]), max(1, _DIAGONALS // ((d - 1) * size * m))
    room = np.empty((min(step, len(orders)), d - 1, size, m))
    for b in range(0, len(orders), step):
        some = slice(b, b + step)
        found = _diagonals(grams[1:], orders[some], room)
        sums[some] = _shifted_sums(first, found, shifts[some])
    # Mean absolute values of the products are at most this, because the other entries are at most
    # 1.
    largest = np.prod(sorted(np.linalg.norm(K) / m for K in grams)[:2])
    rounding = _ROUNDING * np.finfo(np.float64).eps * largest
    return sums.ravel()[taken], means[taken], float(rounding)


def _joint_orders(rng, m, n_views, n_permutations):
    """Orders (b, views, m), shifts (b, t, views), and the pairs taken, numbered in turn."""
    n_shifts = min(max(m // _APART, 1), _MOST_SHIFTS)
    n = -(-(n_permutations + 1) // n_shifts)
    orders = rng.permuted(np.tile(np.arange(m), (n, n_views, 1)), axis=2)
    orders[0] = orders[0, 0]
    shifts = rng.integers(m, size=(n, n_shifts, n_views))
    shifts[0, 0] = 0
    taken = rng.choice(n * n_shifts - 1, n_permutations, replace=False)
    return orders, shifts, np.concatenate([[0], 1 + taken])


def _diagonals(grams, orders, room):
    """Diagonals of matrices (views, m, m) in orders (b, views, m): (b, views, m // 2 + 1, m).

    They are written to the first b parts of ``room``.
    """
    n, n_views = orders.shape[:2]
    twice, out = np.concatenate([orders, orders], axis=2), room[:n]

    def gather(thread):
        for job in range(thread[0], n * n_views, thread[1]):
            b, k = divmod(job, n_views)
            permuted_diagonals(grams[k], twice[b, k][None], 0, out[b, k][None])

    on_threads(gather)
    return out


def _shifted_sums(first, others, shifts):
    """Sums over all lines (b, t), see `alignlearn.engine.gram_loops.shifted_products`."""
    n, n_views, n_lines, m = others.shape
    room = np.empty((thread_count(), n_views + 1, 2 * m))
    out = np.empty((n, n_lines, shifts.shape[1]))
    work = first, others, shifts, room, out
    on_threads(_shifted_products, *work, count=len(room), stoppable=True)
    return out.sum(axis=1)


def shifted_products(F, G, n_shifts):
    """``|F'P G|_F^2`` for n cyclic shifts P of the samples by blocks, the first by none, (n,).

    The samples are arranged as a table of ``n_shifts`` rows, and P moves the rows of G; remaining
    samples do not move. All shifts together are convolutions, so by Fourier transforms along the
    table they cost about as much as four single products.

    Parameters
    ----------
    F, G : ndarray of shape (m, r) and (m, s)
        Samples in random order, m >= n_shifts.
    """
    values = np.zeros(n_shifts)
    # The memory for products does not grow with the number of features.
    columns = max(1, 4 * _ENTRIES // (n_shifts * G.shape[1]))
    for i in range(0, F.shape[1], columns):
        products = _shifted(F[:, i : i + columns], G, n_shifts)
        values += np.einsum("tij,tij->t", products, products)
    return values


def _shifted(F, G, n_shifts):
    """``F'P G`` for the shifts P, (n_shifts, r, s)."""
    width = len(F) // n_shifts
    used = width * n_shifts
    A, B = (M[:used].reshape(n_shifts, width, -1) for M in (F, G))
    sums = np.zeros((n_shifts // 2 + 1, A.shape[2], B.shape[2]), dtype=np.complex128)
    step = max(1, _ENTRIES // (n_shifts * max(A.shape[2], B.shape[2])))
    for i in range(0, width, step):
        a, b = (np.fft.rfft(M[:, i : i + step], axis=0) for M in (A, B))
        sums += np.matmul(a.conj().transpose(0, 2, 1), b)
    return np.fft.irfft(sums, n_shifts, axis=0) + F[used:].T @ G[used:]


def permutation_p_value(statistic, null, rounding=0.0):
    """``(1 + k) / (1 + n)`` with k of the n permuted statistics at least as large as this one.

    Statistics that are smaller by at most their ``rounding`` count as equal.
    """
    unit = max(abs(statistic), float(np.abs(null).max()))
    count = np.count_nonzero(null >= statistic - max(_TIE * unit, rounding))
    return float((1 + count) / (1 + null.size))
