"""Columns of integers that are codes of categories, found by means of the target.

Occupations, stores and regions are numbered in many tables. From one number to the next the mean of
the target then jumps, whereas it is a smooth function of an age or an amount. Jumps are measured by
second differences of the means y_k of the samples with the k-th value,

    d_k = y_k - a y_{k-1} - b y_{k+1},

where a + b = 1 and d_k is 0 for a linear function of the value. If the mean is smooth, the expected
square is ``s^2 (1/n_k + a^2/n_{k-1} + b^2/n_{k+1})``, where n_k counts the samples and s^2 is the
variance of the target among samples with the same value. Gasser, Sroka and Jennen-Steinmetz (1986)
estimate s^2 from such differences, here s^2 is known and the mean is tested.
"""

from __future__ import annotations

import numpy as np

from alignlearn.validation.frames import coded

from .column_maps import MIN_COUNT

_LEAST_VALUES = 10  # of fewer, a kernel separates each from the others
_LEAST_SAMPLES = 10  # per value, on average, if there are more values than the next constant
_FEW_VALUES = 100
_LEAST_SHARE = 0.5  # of the samples whose value is not rare: rare levels cannot be learned
_SIGNIFICANT = 6.0  # standard deviations of the sum of squared differences
_MOST_CLASSES = 100
_EXPLAINED = 0.03  # share of the variance of the target that the jumps explain
# Neighboring differences share means: the variance of a sum of squares is that of independent ones
# times 1 + 2 (4/9 + 1/36).
_CORRELATED = 1.95


def with_codes(frame, y, task, weight=None):
    """`FrameColumns` with the levels of integers that are codes as further categories.

    Parameters
    ----------
    frame : FrameColumns
    y : array-like of shape (m,) or (m, q)
        Not yet checked. Where `fit` will refuse it no column has codes.
    task : {"classification", "regression"}
    weight : ndarray of shape (m,), optional
        Samples of weight 0 are ignored.
    """
    Y = _columns_of(y, len(frame), task)
    if Y is None:
        return frame
    rows = slice(None) if weight is None else weight > 0.0
    found = {
        c: coded(x)
        for c, x in zip(frame.at, frame.numbers.T)
        if c not in frame.dates and _are_codes(x[rows], Y[rows])
    }
    return frame.with_levels(found) if found else frame


def _columns_of(y, n_samples, task):
    """Targets in units of their deviation, or indicators of classes; None if they are neither."""
    y = np.asarray(y)
    if y.ndim not in (1, 2) or len(y) != n_samples or not y.size:
        return None
    if task == "classification" and y.ndim == 1:
        classes, place = np.unique(y.astype(str), return_inverse=True)
        few = len(classes) <= _MOST_CLASSES
        return (place[:, None] == np.arange(len(classes))).astype(np.float64) if few else None
    if y.dtype.kind == "c":
        return None
    try:
        Y = y.reshape(n_samples, -1).astype(np.float64)
    except (TypeError, ValueError):
        return None
    if not np.isfinite(Y).all():
        return None
    size = np.abs(Y).max(axis=0)  # first, so that squares neither overflow nor underflow
    Y /= np.where(size > 0.0, size, 1.0)
    spread = Y.std(axis=0)
    return (Y - Y.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)


def _are_codes(x, Y):
    """Whether the means of targets jump between the integers of a column."""
    seen = ~np.isnan(x)
    x = x[seen]
    if not np.array_equal(x, np.floor(x)):
        return False
    values, place, count = np.unique(x, return_inverse=True, return_counts=True)
    most = max(_FEW_VALUES, len(x) / _LEAST_SAMPLES)
    if not _LEAST_VALUES <= len(values) <= most:
        return False
    if count[count >= MIN_COUNT].sum() < _LEAST_SHARE * len(x):
        return False
    significance, explained = jumps(values, place, count, Y[seen])
    return significance > _SIGNIFICANT and explained > _EXPLAINED


def jumps(values, place, count, Y):
    """How far the means of targets are from smooth in the order of the values of a column.

    Parameters
    ----------
    values : ndarray of shape (k,)
        Different values, in increasing order.
    place : ndarray of int of shape (m,)
        Of each sample its value's position.
    count : ndarray of int of shape (k,)
        Samples with each value; values of fewer than five are skipped.
    Y : ndarray of shape (m, q)

    Returns
    -------
    significance : float
        Standard deviations by which the sum of squared differences exceeds that of noise.
    explained : float
        Share of the variance of the targets that the jumps explain.
    """
    means = np.stack([np.bincount(place, column) for column in Y.T], axis=1) / count[:, None]
    squares = np.square(Y - means[place]).sum(axis=1)
    noise = squares.sum() / max(len(Y) - len(values), 1)
    kept = count >= MIN_COUNT
    n, x, mean = count[kept], values[kept], means[kept]
    if len(n) < _LEAST_VALUES or not noise > 0.0:
        return 0.0, 0.0
    a = (x[2:] - x[1:-1]) / (x[2:] - x[:-2])
    b = 1.0 - a
    difference = mean[1:-1] - a[:, None] * mean[:-2] - b[:, None] * mean[2:]
    found = np.square(difference).sum(axis=1)
    expected = noise * (1.0 / n[1:-1] + a**2 / n[:-2] + b**2 / n[2:])
    # Means of few samples with long tails, such as rare classes, have longer tails than normal.
    tails = max(np.mean(squares**2) / np.mean(squares) ** 2 - 3.0, 0.0)
    variance = _CORRELATED * np.sum(2.0 + tails / n[1:-1])
    significance = np.sum(found / expected - 1.0) / np.sqrt(variance)
    between = np.average((found - expected) / (1.0 + a**2 + b**2), weights=n[1:-1])
    return float(significance), float(between / Y.var(axis=0).sum())
