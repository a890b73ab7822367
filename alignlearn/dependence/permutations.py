"""Sums under permutations of the samples, and the p-value that follows."""

from __future__ import annotations

from itertools import chain

import numpy as np

from alignlearn._lapack import product
from alignlearn.engine.gram_loops import permuted_joint as _joint
from alignlearn.engine.gram_loops import permuted_products as _products
from alignlearn.engine.threads import on_threads, thread_count

_ENTRIES = 2**22  # of permutations held at once
# Statistics that differ by less are equal: sums in another order are rounded in another way.
_TIE = 1e-12


def permutations(rng, m, n_permutations, columns=1):
    """Random orders of m samples in blocks, each an array (n, m), ``n_permutations`` in all.

    ``columns`` is how many numbers for each entry the blocks are for.
    """
    step = max(1, _ENTRIES // (m * columns))
    for start in range(0, n_permutations, step):
        n = min(step, n_permutations - start)
        yield rng.permuted(np.tile(np.arange(m), (n, 1)), axis=1)


def permuted_products(K, L, rng, n_permutations):
    """``<K, PLP'>_F`` for random permutations P, (n_permutations,); K and L symmetric (m, m)."""
    parts = []
    for orders in permutations(rng, len(K), n_permutations):
        out = np.empty(len(orders))
        on_threads(_products, K, L, orders, out, stoppable=True)
        parts.append(out)
    return np.concatenate(parts)


def permuted_forms(K, Y, rng, n_permutations):
    """``tr(Y'P'KPY)`` for random permutations P, (n_permutations,); Y of shape (m, c)."""
    m, c = Y.shape
    parts = []
    for orders in permutations(rng, m, n_permutations, c):
        Z = Y[orders].transpose(1, 0, 2).reshape(m, -1)
        parts.append(np.einsum("ij,ij->j", Z, product(K, Z)).reshape(-1, c).sum(axis=1))
    return np.concatenate(parts)


def permuted_joint(K, others, rng, n_permutations):
    """Sums of entrywise products of symmetric matrices under permutations of all but the first.

    Parameters
    ----------
    K : ndarray of shape (m, m)
    others : ndarray of shape (d - 1, m, m)
    rng : numpy.random.Generator
    n_permutations : int

    Returns
    -------
    sums : ndarray of shape (1 + n_permutations,)
        Of ``K * others[0] * ...``, the first without a permutation.
    means : ndarray of the same shape
        Over the samples, of the product of the means of their rows.
    """
    d, m = len(others), len(K)
    drawn = [permutations(rng, m, n_permutations, d) for _ in range(d)]
    blocks = [(np.arange(m)[None],) * d]
    row_means, first = others.mean(axis=2), K.mean(axis=1)
    rows, sums, means = np.empty((thread_count(), m)), [], []
    for parts in chain(blocks, zip(*drawn)):
        orders, out = np.stack(parts, axis=1), np.empty(len(parts[0]))
        on_threads(_joint, K, others, orders, rows, out, stoppable=True)
        sums.append(out)
        product = np.broadcast_to(first, (len(out), m)).copy()
        for k in range(d):
            product *= row_means[k][orders[:, k]]
        means.append(product.mean(axis=1))
    return np.concatenate(sums), np.concatenate(means)


def shifted_products(F, G, n_shifts):
    """``|F'P G|_F^2`` for n cyclic shifts P of the samples by blocks, the first by none, (n,).

    The samples are laid out as a table of ``n_shifts`` rows, and P moves the rows of G on; what
    is left over stays where it is. All shifts together are convolutions, so by Fourier transforms
    along the table they cost about what four single products do.

    Parameters
    ----------
    F, G : ndarray of shape (m, r) and (m, s)
        Samples in random order, m >= n_shifts.
    """
    values = np.zeros(n_shifts)
    # What is held of the products does not grow with the number of features.
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


def permutation_p_value(statistic, null):
    """``(1 + k) / (1 + n)`` with k of the n permuted statistics at least as large as this one."""
    unit = max(abs(statistic), float(np.abs(null).max()))
    count = np.count_nonzero(null >= statistic - _TIE * unit)
    return float((1 + count) / (1 + null.size))
