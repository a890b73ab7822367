"""Tasks opened on data: the kernel matrices of each, their statistics, and its dual problems.

Every task has p matrices of its own samples only. The kernel weights need only arrays of size p:
``<K_k, K_l>``, the traces, and ``<K_k, YY'>``. No kernel is evaluated between samples of different
tasks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from alignlearn._progress import Progress
from alignlearn._threads import on_threads
from alignlearn.sources import GramFamily, Source
from alignlearn.statistics import center_gram, check_sums
from alignlearn.validation.memory import require_memory
from alignlearn.weights.one_stage.svm import Duals


@dataclass(frozen=True, eq=False)
class Task:
    """One task.

    Attributes
    ----------
    number : int
        Its index among all tasks.
    rows : ndarray of int of shape (n,)
        Indices of its samples.
    source : Source
        On these samples.
    family : GramFamily
        The p kernel matrices (n, n), not scaled.
    scale : ndarray of shape (p,)
        Factors of the kernels, the same in every task. The next attributes refer to the scaled
        kernels.
    inner : ndarray of shape (p, p)
        ``<K_k, K_l>_F``.
    traces, products : ndarray of shape (p,)
        ``tr K_k`` and ``<K_k, YY'>_F``.
    labels : ndarray of shape (n,)
        Class labels or real targets.
    duals : Duals
        The dual problems of its machine.
    """

    number: int
    rows: np.ndarray
    source: Source
    family: GramFamily
    scale: np.ndarray
    inner: np.ndarray
    traces: np.ndarray
    products: np.ndarray
    labels: np.ndarray
    duals: Duals

    @property
    def n_samples(self) -> int:
        """Samples of this task."""
        return self.rows.size


@dataclass(frozen=True, eq=False)
class Problem:
    """The part of a `Task` that is known before its kernels are evaluated.

    ``columns`` (n, c) are the Y of ``<K_k, YY'>``.
    """

    number: int
    rows: np.ndarray
    labels: np.ndarray
    columns: np.ndarray
    duals: Duals


def open_tasks(source, problems, *, center, normalize, verbose=False):
    """Evaluate the kernels on every task, in one pass over the tasks.

    Parameters
    ----------
    source : Source
        Of all samples.
    problems : list of Problem
        Tasks with the same array of rows share its kernel matrices.
    center : bool
        Center every kernel matrix at the mean of its task.
    normalize : {"trace"} or None
        Scale every kernel to a mean diagonal of 1 over all tasks.
    verbose : bool or callable, default False

    Returns
    -------
    list of Task

    Raises
    ------
    MemoryError
        The kernel matrices of all tasks together do not fit.
    """
    groups = {id(problem.rows): problem.rows for problem in problems}
    _check_room([rows.size for rows in groups.values()], len(source.names))
    parts = {key: source.part(rows) for key, rows in groups.items()}
    keys = list(groups)
    what = "kernel matrices of the tasks"
    found = each(lambda key: _open(parts[key], center), keys, what, verbose)
    opened = dict(zip(keys, found))
    sizes = np.array([groups[key].size for key in keys], dtype=np.float64)
    scale = np.ones(len(source.names))
    if normalize == "trace":
        total = sum(opened[key][0].traces() for key in keys)
        # Of less than this squares are rounding: the kernel counts as constant.
        usable = total > 3e-154
        scale = np.divide(sizes.sum(), total, out=np.zeros_like(total), where=usable)
    tasks = []
    for problem in problems:
        family, inner = opened[id(problem.rows)]
        columns = np.ascontiguousarray(problem.columns.T)
        tasks.append(
            Task(
                problem.number,
                problem.rows,
                parts[id(problem.rows)],
                family,
                scale,
                inner * scale[:, None] * scale,  # in turn, because a square may overflow
                family.traces() * scale,
                family.quadratic(columns) * scale,
                problem.labels,
                problem.duals,
            )
        )
    return tasks


def each(function, items, what="tasks", verbose=False):
    """``[function(item) for item in items]``, with items dealt to threads one by one.

    If each thread works on its own task, the loops inside a task must not start threads. ``what``
    and ``verbose`` are those of a `Progress` in items.
    """
    items = list(items)
    found, numbers = [None] * len(items), iter(range(len(items)))
    ended = []  # extended in one atomic step

    def work(thread, stop):
        if stop[0]:
            return
        before = numba.get_num_threads()
        numba.set_num_threads(1)
        try:
            for i in numbers:  # taking the next number is atomic
                if stop[0]:
                    return
                found[i] = function(items[i])
                ended.append(i)
                progress(len(ended))
        finally:
            numba.set_num_threads(before)

    with Progress(what, len(items), verbose) as progress:
        on_threads(work, stoppable=True, watch=progress)
    return found


def _open(part, center):
    """The family of one task and ``<K_k, K_l>``."""
    grams = []
    for k in range(len(part.names)):
        K = np.array(part.single(k).gram(exact=not center), dtype=np.float64)
        grams.append(center_gram(K) if center else K)
    family = GramFamily(grams)
    with np.errstate(over="ignore", invalid="ignore"):
        inner = family.products(np.zeros((1, part.n_samples)))[1]
    check_sums(inner, part.names)
    return family, inner


def _check_room(sizes, p):
    """Raise an error if the matrices of all tasks together do not fit into free memory."""
    total = float(np.sum(sizes))
    squares = float(np.sum(np.square(np.array(sizes, dtype=np.float64))))
    require_memory(
        int(total),
        lambda n: 8.0 * p * squares * (n / total) ** 2,
        f"X: {p} kernel matrices of each of {len(sizes)} tasks",
        lambda rows, _: (
            f"{f'at most {rows} samples' if rows else 'fewer samples'}, or fewer kernels"
        ),
    )
