"""Memory that a comparison needs, estimated before the work, and what to ask for instead."""

from __future__ import annotations

import os

from alignlearn.comparison.one_stage import METHODS as ONE_STAGE
from alignlearn.comparison.result import ENSEMBLE

_LEAST_ROWS = 100  # fewer are not worth advising


def free_memory() -> float:
    """Bytes that this process may still take; infinity where the system does not say."""
    limits = [float("inf"), _physical()]
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            limits.append(soft)
    except ImportError:  # Windows
        pass
    return min(limits)


def _physical():
    try:
        with open("/proc/meminfo") as lines:
            # Unlike the free pages these count what the system would give back.
            return next(1024 * int(x.split()[1]) for x in lines if x.startswith("MemAvailable"))
    except (OSError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return float("inf")


def needed_memory(shape, methods, task, *, n_folds, n_kernels, features) -> float:
    """Bytes that a comparison takes beside its data, to about 20 per cent.

    Parameters
    ----------
    shape : (m, d)
    methods : sequence of str
    task : {"classification", "regression"}
    n_folds, n_kernels : int
    features : bool
        Whether weights are learned from d x d matrices of the columns, without pairs of samples.
    """
    m, d = map(float, shape)
    train = m * (n_folds - 2) / n_folds
    pairs = train * (m - train)  # held-out rows against training rows
    one_stage = [method for method in methods if method in ONE_STAGE]
    # Measured: copies that the machines take, of the matrix and of its product with held-out rows.
    entries = 1.5 * train**2 + pairs if task == "classification" else 3.0 * train**2 + 2.0 * pairs
    if features:
        entries += (6.0 if one_stage else 3.5) * d**2
    else:
        entries += bool(one_stage) * n_kernels * train**2
        entries += (ENSEMBLE in one_stage) * (n_kernels * pairs + 2.0 * train**2)
    return 8.0 * entries


def check_memory(shape, needs, columns_fit):
    """Refuse a comparison that does not fit into free memory.

    Parameters
    ----------
    shape : (m, d)
    needs : callable (m, features) -> float
        Bytes for m rows, by columns (True) or by pairs of samples (False).
    columns_fit : bool or None
        None for kernels on pairs of samples. For kernels on columns, whether others, which need
        dense data, could be had.

    Raises
    ------
    ValueError
        With the estimate, the memory that is free, and options that fit.
    """
    m, d = shape
    features, free = columns_fit is not None, free_memory()
    size = needs(m, features)
    if size <= free:
        return
    what = f"{d} x {d} matrices of the columns" if features else f"matrices of {m} rows"
    raise ValueError(
        f"this comparison needs about {size / 2**30:.1f} GiB for {what}, "
        f"{free / 2**30:.1f} GiB are free; accepted: {_advice(m, needs, columns_fit, free)}."
    )


def _advice(m, needs, columns_fit, free):
    """Options with which the estimate fits."""
    rows = _most_rows(m, lambda n: needs(n, columns_fit is not None), free)
    if rows >= _LEAST_ROWS:
        return f"--max-samples {rows}"
    if columns_fit:
        rows = _most_rows(m, lambda n: needs(n, False), free)
        if rows == m:
            return "--kernels rbf"
        if rows >= _LEAST_ROWS:
            return f"--kernels rbf --max-samples {rows}"
    return "fewer columns or fewer methods"


def _most_rows(m, need, free):
    """The largest number of rows up to m whose need fits, to two digits; 0 if there is none."""
    if need(m) <= free:
        return m
    low, high = 0, m
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if need(middle) <= free else (low, middle)
    digits = 10 ** max(0, len(str(low)) - 2)
    return low // digits * digits
