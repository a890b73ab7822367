"""Memory that a comparison needs, estimated before the work, and options that need less."""

from __future__ import annotations

from alignlearn.kernels import are_per_column
from alignlearn.sources import linear_groups
from alignlearn.validation import is_sparse
from alignlearn.validation.memory import most_rows, require_memory

from .hyper import MAX_PAIRS, MAX_RANK
from .methods import METHODS

_DEFAULT_KERNELS = 9  # instead of kernels on columns
# Names of the options that need less memory: fewer rows, kernels on pairs of dense samples.
_WORDS = ("at most {} samples", "kernels=None on dense X")


def needed_memory(shape, methods, task, *, n_folds, n_kernels, features) -> float:
    """Bytes that a comparison needs in addition to its data, within about 20%.

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
    holds = {what for method in methods for what in METHODS[method].holds}
    # Memory of the machines besides the matrix (measured).
    entries = (1.5 if task == "classification" else 1.2) * train**2 + pairs
    if features:
        entries += (6.0 if "family" in holds else 3.5) * d**2
    else:
        entries += ("family" in holds) * n_kernels * train**2
        entries += ("held-out family" in holds) * n_kernels * pairs
    # One matrix and its held-out part, or one for each kernel and three work matrices.
    entries += ("own matrix" in holds) * (train**2 + pairs)
    if "matrices" in holds:
        entries += (n_kernels + 3.0) * train**2
    if "pairs" in holds:
        entries += 2.0 * train**2 + 1.2 * MAX_RANK * min(0.5 * train * (train + 1.0), MAX_PAIRS)
    return 8.0 * entries


def check_comparison(X, kernels, methods, task, n_folds, *, dense_fits=True, words=_WORDS):
    """Raise an error for a comparison that does not fit into the free memory.

    Parameters
    ----------
    X : array or SciPy sparse matrix of shape (m, d)
    kernels : list of Kernel, or RankOneKernels
    methods, task, n_folds
        As in `compare`.
    dense_fits : bool
        Whether X may be made dense for other kernels.
    words : (str, str)
        Names of the options for a number of rows, and for kernels on pairs of dense samples.

    Raises
    ------
    MemoryError
        With the estimate, the memory that is free, and options that fit.
    """
    (m, d), (fewer, dense) = X.shape, words
    columns = are_per_column(kernels) or linear_groups(kernels) is not None
    n_kernels = _DEFAULT_KERNELS if columns else len(kernels)

    def needs(n, features=columns):
        sizes = {"n_folds": n_folds, "n_kernels": n_kernels, "features": features}
        made_dense = 0 if features or not is_sparse(X) else 8 * n * d
        return made_dense + needed_memory((n, d), methods, task, **sizes)

    def advice(rows, free):
        if rows:
            return fewer.format(rows)
        if columns and dense_fits:
            rows = most_rows(m, lambda n: needs(n, False), free)
            if rows:
                return dense if rows == m else f"{dense} {fewer.format(rows)}"
        return "fewer columns or fewer methods"

    matrices = f"{d} x {d} matrices of the columns" if columns else f"matrices of {m} rows"
    require_memory(m, needs, f"this comparison, with {matrices},", advice)
