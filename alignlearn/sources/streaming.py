"""Alignment statistics of p kernels, streamed from samples without any Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from alignlearn._text import short
from alignlearn._versions import Versioned
from alignlearn.engine.engines import open_engine
from alignlearn.kernels import are_per_column, kernel_list, kernel_samples
from alignlearn.statistics import AlignmentStatistics, refuse_weights
from alignlearn.validation import (
    aligns_rows,
    check_flag,
    check_progress,
    check_same_type,
    is_sparse,
)

from .opening import open_source
from .tables import open_tables
from .training_sets import fold_labels


@aligns_rows
def alignment_statistics(
    X: Any,
    y: Any,
    kernels: Any = None,
    *,
    task: str = "auto",
    unbiased: bool = False,
    folds: Any = None,
    sample_weight: Any = None,
    device: str = "auto",
    client: Any = None,
    verbose: Any = False,
) -> Any:
    """Compute the statistics for stage 1 in one pass over the pairs of samples.

    Parameters
    ----------
    X : array-like of shape (m, d)
        float64 or float32 (computed in that precision, summed in float64), also a memmap: only
        blocks of rows are read. A SciPy sparse matrix stays sparse, unless a kernel is a function
        or precomputed. A list of objects if all kernels are functions. With
        ``kernels="precomputed"``, a sequence of p Gram matrices or `Precomputed`, or an array
        (p, m, m). Several tables with the same rows, or named matrices, as a dict.
    y : array-like of shape (m,) or (m, c)
        Real targets or class labels; see ``task``.
    kernels : sequence of Kernel and str, dict, "precomputed" or RankOneKernels, optional
        Default: nine Gaussian kernels around ``gamma="scale"``. A dict has the kernels of each
        table.
    task : {"auto", "classification", "regression"}
        Type of y; "auto" treats floating-point values as regression.
    unbiased : bool, default False
        Return ``m^2`` times U-statistics (m >= 4) instead of ``<K_kc, K_lc>_F``. M stays positive
        semi-definite (a Gram matrix of U-centered matrices), ``a`` may be negative.
    folds : array-like of shape (m,), optional
        Fold labels. The result is then a list with the statistics of every *training set*, all
        samples outside one fold, in the order of the sorted labels and still from one pass.
        ``gamma="scale"`` is then fixed on all samples.
    sample_weight : array-like of shape (m,), optional
        Nonnegative. An integer counts repetitions of a sample, 0 leaves it out; all means and
        sums are weighted, including those of ``gamma="scale"`` and "median". Not available with
        ``unbiased=True``, because a U-statistic of repeated samples differs from that of weighted
        samples.
    device : {"auto", "cpu", "cuda"}, default "auto"
        Where pairs of samples are evaluated; "auto" uses a CUDA device, if there is one, for
        large problems.
    client : dask.distributed.Client, optional
        The client's workers evaluate the pairs.
    verbose : bool or callable, default False
        True prints progress on stderr after two seconds. A function is
        called as ``verbose(done, total, what)``, see `MKLClassifier`.

    Returns
    -------
    AlignmentStatistics, or a list of them with ``folds``

    Notes
    -----
    Memory is O(m p + p^2) in addition to the input, times the number of folds.

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2012), section 3.2. Szekely and Rizzo (2014), Partial distance
    correlation with methods for dissimilarities, section 3, for U-centering.

    Examples
    --------
    One pass over pairs of samples gives what every rule for weights needs:

    >>> import numpy as np
    >>> from alignlearn import AlignF, Gaussian, Linear, alignment_statistics
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> statistics = alignment_statistics(X, X[:, 0], [Gaussian(10.0), Linear()])
    >>> statistics.a.shape, statistics.M.shape
    ((2,), (2, 2))
    >>> AlignF().solve(statistics).weights.round(1).tolist()
    [0.1, 0.9]
    """
    refuse_weights(check_flag("unbiased", unbiased), sample_weight)
    how = {"engine": open_engine(device, client), "progress": check_progress("verbose", verbose)}
    pairs = unbiased and is_sparse(X)
    source = open_source(X, kernels, pairs=pairs, sample_weight=sample_weight, **how)
    if folds is None:
        return source.statistics(y, task, unbiased=unbiased)
    sets = fold_labels(folds, source.n_samples)
    return list(source.training_statistics(y, task, sets, unbiased=unbiased))


class AlignmentAccumulator(Versioned):
    """Alignment statistics averaged over mini-batches.

    Every batch gives unbiased (U-statistic) estimates of ``E[K_kc K_lc]`` and ``E[K_kc T]``. Their
    averages are unbiased at any batch size from 4 up; averages of the biased statistics are not.
    Partial results can be merged, so batches may be spread over processes.

    Parameters
    ----------
    kernels : as in :func:`alignment_statistics`
        Data-dependent parameters (``gamma="scale"``) are fixed by the first batch.
    task : {"auto", "classification", "regression"}

    Notes
    -----
    With more than two classes each batch must contain the same classes. If a batch may not, pass
    one-hot columns as a matrix y with ``task="regression"``.

    References
    ----------
    Nguyen, Raghu and Kornblith (2021), Do wide and deep networks learn the same things?, for the
    mini-batch CKA.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import AlignF, AlignmentAccumulator, Gaussian, Linear
    >>> rng = np.random.default_rng(0)
    >>> batches = AlignmentAccumulator([Gaussian(10.0), Linear()])
    >>> for _ in range(5):  # of 20 samples each, one in memory at a time
    ...     X = rng.normal(size=(20, 2))
    ...     _ = batches.update(X, X[:, 0])
    ...
    >>> AlignF().solve(batches.statistics()).weights.round(1).tolist()
    [0.0, 1.0]
    """

    def __init__(self, kernels=None, *, task="auto"):
        self.kernels = kernels
        self.task = task
        self.n_batches = 0
        self._resolved = None
        self._n_features = None
        self._sum = None

    def __repr__(self):
        return f"AlignmentAccumulator(kernels={short(self.kernels)}, n_batches={self.n_batches})"

    def __str__(self):
        if self._sum is None:
            return "alignment of no batch yet"
        return f"mean of {self.n_batches} batch(es), unbiased\n{self.statistics()}"

    def update(self, X, y):
        """Add a batch: X of shape (b, d), y of shape (b,) or (b, c), b >= 4. Returns self."""
        kernels = self.kernels if self._resolved is None else self._resolved
        resolved = self._resolved
        if not (isinstance(kernels, str) and kernels == "precomputed"):
            X, kernels = open_tables(X, kernels)
        if not (isinstance(kernels, str) or are_per_column(kernels)):
            kernels = kernel_list(kernels)
            X = kernel_samples("X", X, kernels)
            kernels = resolved = [k.resolve(X) for k in kernels]
        n_features = X.shape[1] if getattr(X, "ndim", 0) == 2 else None
        if self.n_batches and n_features != self._n_features:
            raise ValueError(
                f"X has {n_features} columns, but earlier batches had {self._n_features}."
            )
        s = alignment_statistics(X, y, kernels, task=self.task, unbiased=True)
        m2 = float(s.n_samples) ** 2
        parts = [s.a / m2, s.M / m2, s.trace / s.n_samples, s.target_norm**2 / m2, s.n_samples]
        self._add(parts, 1, s.names)
        self._resolved, self._n_features = resolved, n_features
        return self

    def merge(self, other):
        """Add the batches of another accumulator of the same kernels; return self.

        Raises
        ------
        TypeError
            ``other`` is not an AlignmentAccumulator.
        ValueError
            The kernels differ, for example because each accumulator took ``gamma="scale"`` from
            its own first batch. Use numbers, or resolve the kernels on one sample first.
        """
        check_same_type(self, other)
        if not other.n_batches:
            return self
        if self.n_batches and (self._resolved, self._names) != (other._resolved, other._names):
            pairs = zip(self._names, other._names)
            mine, theirs = next((a, b) for a, b in [*pairs, (self._names, other._names)] if a != b)
            raise ValueError(
                f"other has different kernels: {theirs} instead of {mine}; accepted: "
                'the same kernels with the same parameters (gamma="scale" differs from '
                "batch to batch)."
            )
        self._add(other._sum, other.n_batches, other._names)
        self._resolved, self._n_features = other._resolved, other._n_features
        return self

    def _add(self, parts, n_batches, names):
        if self._sum is None:
            self._sum = list(parts)
        elif len(parts[0]) != len(self._sum[0]):
            raise ValueError(
                f"the batch has {len(parts[0])} kernels, the accumulator has {len(self._sum[0])}."
            )
        else:
            self._sum = [old + new for old, new in zip(self._sum, parts)]
        self._names = names
        self.n_batches += n_batches

    def statistics(self) -> AlignmentStatistics:
        """Averages over the batches: unbiased estimates of the expectations over pairs.

        Unlike sums, ``a`` and ``M`` then do not grow with the number of samples; ``trace`` is a
        mean per sample. M is positive semi-definite, because that of every batch is.
        """
        if self._sum is None:
            raise ValueError("no batch has been added; call update(X, y) first.")
        a, M, trace, target, _ = (np.asarray(part) / self.n_batches for part in self._sum)
        target_norm = float(np.sqrt(max(float(target), 0.0)))
        return AlignmentStatistics(a, M, trace, target_norm, int(self._sum[4]), self._names)
