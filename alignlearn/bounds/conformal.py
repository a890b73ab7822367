"""Intervals and sets of conformal prediction, from scores of samples that were left out.

With residuals ``r_i = |y_i - f_-i(x_i)|`` of fits without sample i (alone or with its fold), the
interval of a new sample x is from the ``ceil(q (m + 1))``-th largest of
``f_-i(x) - r_i`` to the equally ranked smallest of ``f_-i(x) + r_i``, with q the coverage. If the
samples are exchangeable, and the fit does not depend on their order, the interval contains y with
probability at least 2q - 1 (leaving out one), or slightly less (folds), for every distribution and
every fit. The coverage is usually q, and is q if leaving out a sample changes predictions little.

Sources: Barber, Candes, Ramdas and Tibshirani (2021), "Predictive inference with the jackknife+",
theorems 1 and 4; Romano, Sesia and Candes (2020), "Classification with valid and adaptive
coverage", theorem 2, for classes.
"""

from __future__ import annotations

import numpy as np

from alignlearn.validation import check_number

_ROUNDING = 1e-9  # of a rank
_ROWS = 128  # that are processed together


def check_coverage(coverage) -> float:
    """A coverage in (0, 1), checked."""
    return check_number("coverage", coverage, low=0.0, high=1.0, strict=True)


def rank(coverage, m) -> int:
    """``ceil(coverage (m + 1))``; above m if m samples are too few for the coverage."""
    return int(np.ceil(coverage * (m + 1) - _ROUNDING))


def least_samples(coverage) -> int:
    """The smallest number of samples that has a finite interval."""
    return int(np.ceil(coverage / (1.0 - coverage) - _ROUNDING))


def kth_smallest(radii, shifts, k, columns=None):
    """The k-th smallest of ``radii + shifts[j]``, from 1, for each row j.

    If shifts differ less than radii do, few values are candidates: only these are read, in groups
    of rows with similar shifts.

    Parameters
    ----------
    radii : ndarray of shape (m,)
    shifts : ndarray of shape (n, c)
    k : int
        From 1 to m.
    columns : ndarray of int of shape (m,), optional
        Column of ``shifts`` of every radius; default: each has its own.

    Returns
    -------
    ndarray of shape (n,)
    """
    low, high = shifts.min(axis=1), shifts.max(axis=1)
    found, order = 0.5 * (low + high), np.argsort(high - low)
    for start in range(0, len(order), _ROWS):
        rows = order[start : start + _ROWS]
        found[rows] += _kth_of_alike(radii, shifts[rows] - found[rows, None], k, columns)
    return found


def _kth_of_alike(radii, shifts, k, columns):
    """`kth_smallest` by the values that can be it in some row."""
    spread = slice(None) if columns is None else columns
    low, high = radii + shifts.min(axis=0)[spread], radii + shifts.max(axis=0)[spread]
    first, last = np.partition(low, k - 1)[k - 1], np.partition(high, k - 1)[k - 1]
    below = high < first
    among = np.flatnonzero(~below & (low <= last))
    k -= np.count_nonzero(below)
    of_these = among if columns is None else columns[among]
    values = shifts[:, of_these] + radii[among]
    return np.partition(values, k - 1, axis=1)[:, k - 1]


def plus_interval(center, shifts, radii, coverage, columns=None):
    """Ends of the intervals of n new samples.

    Parameters
    ----------
    center : ndarray of shape (n,)
        Predictions of the fit on all samples.
    shifts : ndarray of shape (n, c)
        The predictions minus those of fits without some samples.
    radii : ndarray of shape (m,)
        Absolute residuals of samples, from fits without them.
    coverage : float in (0, 1)
    columns : ndarray of int of shape (m,), optional
        The fit without each sample. Default: c = m, and fit i omits sample i.

    Returns
    -------
    low, high : ndarray of shape (n,)
        Infinite if there are too few samples for the coverage.
    """
    k = rank(coverage, len(radii))
    if k > len(radii):
        return np.full(len(center), -np.inf), np.full(len(center), np.inf)
    low = center - kth_smallest(radii, shifts, k, columns)
    return low, center + kth_smallest(radii, -shifts, k, columns)


def plus_set(scores, new, coverage, codes=None):
    """Prediction sets: the classes that cannot be excluded for n new samples.

    A class is excluded if too many training samples have a smaller score, by a fit without them,
    than the new sample would have with that class.

    Parameters
    ----------
    scores : list of ndarray of shape (m_t,)
        Nonconformity score of each sample with its class, by the fit without its fold t.
    new : list of ndarray of shape (n, c)
        Nonconformity scores of the new samples with every class, by the same fits.
    coverage : float in (0, 1)
    codes : list of ndarray of int of shape (m_t,), optional
        Classes of the samples. A class is then compared only with its own samples.

    Returns
    -------
    ndarray of bool of shape (n, c)
    """
    if codes is None:
        smaller = sum(np.searchsorted(np.sort(s), v, side="left") for s, v in zip(scores, new))
        return smaller < rank(coverage, sum(map(len, scores)))
    columns = [
        plus_set([s[c == j] for s, c in zip(scores, codes)], [v[:, [j]] for v in new], coverage)
        for j in range(new[0].shape[1])
    ]
    return np.hstack(columns)
