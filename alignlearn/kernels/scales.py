"""Scales of kernels: the values of ``gamma`` that depend on the training data.

``"scale"``
    One over the size of the kernel's primitive on the data, so that the kernel does not depend on
    the units of X. With d columns and the variance Var of all entries of X: ``1 / (d Var)`` for
    squared distances and inner products (as in scikit-learn), ``1 / sqrt(d Var)`` for the distance,
    ``1 / (d sqrt(Var))`` for the L1 distance.
``"median"``
    One over the median of the distance that the kernel uses (L1, Euclidean or squared; squared for
    inner products, too). The median is over all pairs of samples, or over 2000 pairs drawn with a
    fixed seed if there are more. If the median is 0, pairs at distance 0 are left out.
``"auto"``
    ``1 / d``, as in scikit-learn.

If the data do not vary, "scale" and "median" are 1. With sample weights w, the variance is
weighted, and pairs have weight ``w_i w_j`` in the median.
"""

from __future__ import annotations

from contextvars import ContextVar

import numpy as np

from alignlearn.engine import opcodes as ops
from alignlearn.engine.sparse import SparsePrimitive, sparse_rows
from alignlearn.validation import is_sparse, varying

GAMMA_RULES = ("scale", "median", "auto")
_PAIRS = 2000
_LEAST = 1e-307  # the inverse of a smaller number overflows
_LEAST_SINGLE = 1e-37  # as above, for float32 samples
_BLOCK_ENTRIES = 2**17
_known = ContextVar("known", default=None)  # sizes of samples within `resolve_each`


def resolve_each(kernels, X, weight=None):
    """``[kernel.resolve(X, weight) for kernel in kernels]``; sizes of X are computed once."""
    token = _known.set({})
    try:
        return [kernel.resolve(X, weight) for kernel in kernels]
    finally:
        _known.reset(token)


def resolve_gamma(gamma, X, primitive, weight=None):
    """The value of gamma for a kernel with this primitive on the samples X (m, d)."""
    if not isinstance(gamma, str):
        return gamma
    d = X.shape[1]
    if gamma == "auto":
        return 1.0 / d
    given, known = X, _known.get()
    key = gamma, primitive, id(given), id(weight)
    X = sparse_rows(X) if is_sparse(X) else X
    if known is not None and key in known:
        _, size = known[key]
    else:
        # Overflow raises an error below.
        with np.errstate(over="ignore", invalid="ignore"):
            rule = _median if gamma == "median" else _size
            size = rule(X, primitive, weight)
        if known is not None:
            known[key] = given, size  # kept, so that no other array gets its id
    single = X.dtype == np.float32
    least, most = (_LEAST_SINGLE, 1.0 / _LEAST_SINGLE) if single else (_LEAST, np.inf)
    if not (least < size < most or (size == 0.0 and not _varies(X, weight))):
        dtype, reach = ("float32", "1e-18 to 1e18") if single else ("float64", "1e-150 to 1e150")
        raise ValueError(
            f"X: gamma={gamma!r} is 1 / {size:.3g}, which {dtype} cannot represent, "
            f"or its squares overflow; accepted: values that vary by about {reach}. "
            "Scale X, or set gamma to a number."
        )
    return float(1.0 / size) if size > 0 else 1.0


def _varies(X, weight=None):
    """Whether a column has two values on the samples of positive weight."""
    if weight is not None and not weight.all():
        X = X[np.flatnonzero(weight)]
    return bool(varying(X).any())


def _size(X, primitive, weight):
    """The size of a primitive on the data; see "scale" in the module docstring."""
    d, variance = X.shape[1], (_sparse_variance if is_sparse(X) else _variance)(X, weight)
    if primitive == ops.DISTANCE:
        return np.sqrt(d * variance)
    return d * np.sqrt(variance) if primitive == ops.L1_DISTANCE else d * variance


def _variance(X, weight=None):
    """Variance of all entries, read in blocks of rows; exactly 0 if all are equal."""
    first = 0 if weight is None else int(np.argmax(weight > 0.0))
    origin, step = float(X[first, 0]), max(1, _BLOCK_ENTRIES // X.shape[1])
    total = X.size if weight is None else weight.sum() * X.shape[1]

    center = found = 0.0
    for squared in (False, True):
        center, found = found, 0.0
        for i in range(0, len(X), step):
            # In C order, so that the order of summation does not depend on the memory layout.
            values = X[i : i + step].astype(np.float64, order="C") - origin
            if squared:
                values = np.square(values - center)
            if weight is not None:
                values = weight[i : i + step] @ values
            found += float(np.sum(values))
        found /= total
    return found


def _sparse_variance(X, weight=None):
    """Variance of all entries of `SparseRows`."""
    if weight is not None and not weight.all():
        X, weight = X[np.flatnonzero(weight)], weight[weight > 0.0]
    weight = np.ones(len(X)) if weight is None else weight
    size, values = weight.sum() * X.shape[1], X.data.astype(np.float64)
    count = np.diff(X.indptr)
    of_entry, zeros = np.repeat(weight, count), weight @ (X.shape[1] - count)
    origin = 0.0 if zeros else values[0]
    values = values - origin
    center = float(of_entry @ values) / size
    return (float(of_entry @ np.square(values - center)) + zeros * center**2) / size


def _median(X, primitive, weight=None):
    """Median of a distance over pairs of samples; see the module docstring."""
    if weight is not None and not weight.all():
        X, weight = X[np.flatnonzero(weight)], weight[weight > 0.0]
    i, j = _pairs(len(X))
    if primitive == ops.INNER_PRODUCT:
        primitive = ops.SQUARED_DISTANCE
    sizes = (
        SparsePrimitive(primitive).paired(X, i, j) if is_sparse(X) else _sizes(X, primitive, i, j)
    )
    apart = sizes > 0
    if weight is None:
        middle = np.median(sizes) if len(sizes) else 0.0
        return middle if middle > 0 or not apart.any() else np.median(sizes[apart])
    unit = weight / weight.max()
    count = unit[i] * unit[j]
    middle = _weighted_median(sizes, count) if len(sizes) else 0.0
    apart &= count > 0.0
    return middle if middle > 0 or not apart.any() else _weighted_median(sizes[apart], count[apart])


def _weighted_median(values, weight):
    """The weighted median: at most half of the weight is below, and at most half above."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    half, last = 0.5 * below[-1], len(order) - 1
    ends = np.searchsorted(below, half, "left"), np.searchsorted(below, half, "right")
    low, high = (values[order[min(int(k), last)]] for k in ends)
    return 0.5 * (low + high)


def _sizes(X, primitive, i, j):
    """Distances of the pairs (X[i], X[j]) of dense samples."""
    step = max(1, _BLOCK_ENTRIES // X.shape[1])
    sizes = np.empty(len(i))
    for start in range(0, len(i), step):
        rows = slice(start, start + step)
        difference = X[i[rows]].astype(np.float64) - X[j[rows]]
        if primitive == ops.L1_DISTANCE:
            sizes[rows] = np.abs(difference).sum(axis=1)
        else:
            sizes[rows] = np.einsum("ij,ij->i", difference, difference)
    return np.sqrt(sizes) if primitive == ops.DISTANCE else sizes


def _pairs(m):
    """Two arrays of sample numbers: all pairs of different samples, or a fixed random subset."""
    if m * (m - 1) // 2 <= _PAIRS:
        return np.triu_indices(m, 1)
    rng = np.random.default_rng(0)
    i = rng.integers(0, m, _PAIRS)
    return i, (i + rng.integers(1, m, _PAIRS)) % m
