"""Sums under permutations of the samples, and the p-value that follows."""

from __future__ import annotations

import numpy as np

from alignlearn._lapack import product
from alignlearn.engine.gram_loops import permuted_products as _products
from alignlearn.engine.threads import on_threads

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


def permutation_p_value(statistic, null):
    """``(1 + k) / (1 + n)`` with k of the n permuted statistics at least as large as this one."""
    unit = max(abs(statistic), float(np.abs(null).max()))
    count = np.count_nonzero(null >= statistic - _TIE * unit)
    return float((1 + count) / (1 + null.size))
