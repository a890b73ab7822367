"""Centring: of a Gram matrix, and of sums over pairs, which become alignment statistics."""

from __future__ import annotations

import numpy as np

from alignlearn.engine.pair_sums import sum_of_rows
from alignlearn.validation import DegenerateKernelWarning, warn

from .summary import AlignmentStatistics
from .targets import target_norm

# Centred products below this share of the plain ones are rounding: the kernel has no variance.
_ROUNDING = 4 * np.finfo(np.float64).eps


def centre_gram(K, means=None, share=None):
    """Centre a Gram matrix in feature space, in place: the one place where it is done.

    Parameters
    ----------
    K : ndarray of shape (m, m), or (n, m) with ``means``
        Training kernel, or new samples against training samples.
    means : ndarray of shape (m,), optional
        Column means of the training matrix; default K's own.
    share : ndarray of shape (m,), optional
        Weights of the training samples that sum to 1; default equal ones. Zeros centre nothing.

    Returns
    -------
    ndarray
        K, with entries ``K_ij - (row mean)_i - means_j + mean(means)``.
    """
    if share is None:
        means = K.mean(axis=0, dtype=np.float64) if means is None else means
        total = means.mean()
        # Rows first: in a matrix against new samples they carry the constants.
        K -= K.mean(axis=1, keepdims=True, dtype=np.float64)
    else:
        means = share @ K if means is None else means
        total = share @ means
        K -= (K @ share)[:, None]
    K -= means - total
    return K


def unbiased_from_centred(f, diagonal_product, trace, other_trace, m):
    """The U-statistic from ``f = <Kc, Lc>/m^2``, ``sum_i Kc_ii Lc_ii`` and the two traces.

    Equivalent to the usual form on matrices with zeroed diagonals, but a function of centred
    quantities only, so it streams. Works elementwise on arrays.
    """
    return (
        m / (m - 3) * f
        - diagonal_product / ((m - 2) * (m - 3))
        + trace / (m * (m - 1.0)) * (other_trace / ((m - 2.0) * (m - 3)))
    )


def finish_sums(sums, Y, names, unbiased=False, weight=None):
    """Statistics from sums over all pairs: ``M_kl = S_kl - (2/m) r_k' r_l + s_k s_l / m^2``.

    With sample weights w the sums are weighted, and m is the sum of the weights.

    Parameters
    ----------
    sums : alignlearn.engine.pair_sums.Sums
    Y : ndarray of shape (m, c)
        Centred target columns.
    names : tuple of str
    unbiased : bool
        U-statistics times m^2; not with weights.
    weight : ndarray of shape (m,), optional
        Positive.

    Warns
    -----
    DegenerateKernelWarning
        A kernel is constant up to the rounding of its values; it is treated as zero.
    """
    S, a, row_sums, diagonal, noise = sums
    m = n_samples = row_sums.shape[1]
    if weight is not None:
        m = float(weight.sum())
    check_sums(S, names, diagonal)
    norm = target_norm(Y, weight=weight)
    total = sum_of_rows(row_sums, weight)
    M = S - (2.0 / m) * (row_sums @ row_sums.T) + np.outer(total / m, total / m)
    M = 0.5 * (M + M.T)
    zero = np.diagonal(M) <= _ROUNDING * np.diagonal(S)
    # By roots: the square of a noise may overflow where that of the values does not.
    flat = ~zero & (np.sqrt(np.maximum(np.diagonal(M), 0.0)) <= noise * m)
    if flat.any():
        _warn_flat([names[k] for k in np.flatnonzero(flat)])
    zero |= flat
    trace = diagonal.sum(axis=1) - total / m
    if unbiased:
        if m < 4:
            raise ValueError(f"unbiased=True needs at least 4 samples, got {m}.")
        centred = diagonal - (2.0 / m) * row_sums + total[:, None] / m**2
        length = np.square(Y).sum(axis=1)
        columns = trace[:, None]
        biased = np.maximum(np.diagonal(M), 0.0)
        M = unbiased_from_centred(M, m**2 * (centred @ centred.T), m * columns, m * trace, m)
        a = unbiased_from_centred(a, m**2 * (centred @ length), m * trace, m * length.sum(), m)
        # A diagonal kernel (the limit of narrow ones) has no U-statistic but rounding.
        zero |= np.diagonal(M) <= 8 * _ROUNDING * biased + noise * m * np.sqrt(biased)
        square = m * length.sum()
        both = unbiased_from_centred(norm**2, m**2 * (length @ length), square, square, m)
        # Nor has a target that one sample alone departs from.
        norm = float(np.sqrt(both)) if both > 8 * _ROUNDING * norm**2 else 0.0
    M[zero], M[:, zero], a[zero], trace[zero] = 0.0, 0.0, 0.0, 0.0
    return AlignmentStatistics(a, M, trace, norm, n_samples, names, float(m))


def _warn_flat(names):
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    warn(
        f"kernels: {shown} is constant on these samples up to the rounding of its values, and is "
        "treated as zero.",
        DegenerateKernelWarning,
    )


def check_sums(S, names, diagonal=None):
    """Raise where a kernel's values are not finite, or too large to be squared and summed."""
    bad = np.flatnonzero(~np.isfinite(np.diagonal(S)))
    if len(bad):
        # Infinite values stay so when they are divided by the diagonal.
        finite = diagonal is not None and np.isfinite(diagonal[bad[0]]).all()
        remedy = ", lower gamma, or normalise the kernel: kernel.normalized()"
        raise ValueError(
            f"kernels: {names[bad[0]]} has values that are not finite, or whose squares overflow, "
            "on these samples; accepted are finite values up to about 1e150. Scale X"
            f"{remedy if finite else ' or lower gamma'}."
        )
