"""The finish step: sums over pairs of samples become centred alignment statistics."""

from __future__ import annotations

import numpy as np

from alignlearn.alignment import unbiased_from_centred
from alignlearn.statistics import AlignmentStatistics

# Centred products below this share of the plain ones are rounding: the kernel has no variance.
_ROUNDING = 4 * np.finfo(np.float64).eps


def finish_sums(S, a, row_sums, diagonal, Y, names, unbiased=False):
    """Statistics from sums over all pairs: ``M_kl = S_kl - (2/m) r_k' r_l + s_k s_l / m^2``.

    Arguments as returned by ``engine.cpu.centred_sums``; Y is centred.
    """
    m = row_sums.shape[1]
    _check_sums(S, names)
    total = row_sums.sum(axis=1)
    M = S - (2.0 / m) * (row_sums @ row_sums.T) + np.outer(total / m, total / m)
    M = 0.5 * (M + M.T)
    zero = np.diagonal(M) <= _ROUNDING * np.diagonal(S)
    trace = diagonal.sum(axis=1) - total / m
    target2 = float(np.sum(np.square(Y.T @ Y)))
    if unbiased:
        if m < 4:
            raise ValueError(f"unbiased=True needs at least 4 samples, got {m}.")
        centred = diagonal - (2.0 / m) * row_sums + total[:, None] / m**2
        length = np.square(Y).sum(axis=1)
        columns = trace[:, None]
        biased = np.diagonal(M)
        M = unbiased_from_centred(M, m**2 * (centred @ centred.T), m * columns, m * trace, m)
        a = unbiased_from_centred(a, m**2 * (centred @ length), m * trace, m * length.sum(), m)
        # A diagonal kernel (the limit of narrow ones) has no U-statistic but rounding.
        zero |= np.diagonal(M) <= 8 * _ROUNDING * biased
        square = m * length.sum()
        target2 = unbiased_from_centred(target2, m**2 * (length @ length), square, square, m)
    M[zero], M[:, zero], a[zero], trace[zero] = 0.0, 0.0, 0.0, 0.0
    target_norm = float(np.sqrt(max(target2, 0.0)))
    return AlignmentStatistics(a, M, trace, target_norm, m, names)


def _check_sums(S, names):
    """Raise where a kernel's values are not finite, or too large to be squared and summed."""
    bad = np.flatnonzero(~np.isfinite(np.diagonal(S)))
    if len(bad):
        raise ValueError(
            f"kernels: {names[bad[0]]} has values that are not finite, or whose squares overflow, "
            "on these samples; accepted are finite values up to about 1e150. Scale X or lower "
            "gamma."
        )
