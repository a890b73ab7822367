"""Kernels evaluated on the CPU: Gram matrices and products, streamed alignment statistics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn.validation import is_sparse, take

from . import external, loops
from .binding import (
    check_domains,
    compiled,
    factor_values,
    frozen,
    program_of,
    run,
    tile_shape,
    vectors,
)
from .grams import GramProducts, gram_diagonals, gram_times, weighted_gram
from .program import Mode, padded
from .threads import Progress, on_threads, thread_count

__all__ = [
    "FoldSums",
    "GramProducts",
    "Sums",
    "centred_sums",
    "gram_diagonals",
    "gram_times",
    "weighted_gram",
]

_PILOT_SIDE = 24
# Kernel values carry this many units of rounding: formulas of a few operations, sums over columns.
_NOISE = 32
# Mean squares below which some of the squares are not normal numbers of float32 (1e-38 and up).
_TINY = 1e-28


def _eps(dtype):
    """Unit of rounding; that of float64 for types that hold numbers exactly."""
    return float(np.finfo(dtype if np.dtype(dtype).kind == "f" else np.float64).eps)


def _means(program, V):
    """Means of the bound features to be centred, 0 for the others."""
    means = np.zeros(len(program.features))
    if program.centred.any():
        columns = program.features[program.centred]
        means[program.centred] = V.mean(axis=0, dtype=np.float64)[columns]
    return means


def _choose_forms(kernels, X, V):
    """Pilot: which exponentials to keep as K (mean below 1/2), and constants near the means.

    The pairs are a fixed pseudo-random grid, so that the choice depends on nothing else.
    """
    program = program_of(kernels, X, V, mode=Mode.CENTRED)
    i, j = np.random.default_rng(0).integers(0, V.shape[0], (2, _PILOT_SIDE))
    i, j = np.sort(i), np.sort(j)
    grid = np.repeat(i, len(j)), np.tile(j, len(i))
    sides = take(X, i), take(X, j)
    near = external.block(program, *sides, external.buffer(program, len(grid[0])))
    near = near.reshape(-1, 1, len(grid[0]))
    FI, FJ = (factor_values(program, side) for side in sides)
    F = np.repeat(FI, len(j), axis=1), np.tile(FJ, len(i))
    pairs = [frozen(V[g]) for g in grid]
    values = loops.paired_values(compiled(program, _means(program, V)), *pairs, *F, near)
    with np.errstate(over="ignore", invalid="ignore"):
        mean, spread = values.mean(axis=1), values.std(axis=1)
    # A shift pays once the mean hides a digit of the variation.
    shift = np.where(np.abs(mean) > 3.0 * spread, -mean, 0.0)
    return mean + program.offsets < 0.5, np.where(np.isfinite(shift), shift, 0.0)


class Sums(NamedTuple):
    """Sums over all pairs of m samples, of kernels up to terms f(x) + f(x') that centring removes.

    Attributes
    ----------
    S : ndarray of shape (p, p)
        ``<K_k, K_l>_F``.
    a : ndarray of shape (p,)
        ``<K_k, Y Y'>_F``, already that of the centred kernels where Y is centred.
    row_sums, diagonal : ndarray of shape (p, m)
        ``sum_j K_k(x_i, x_j)`` and ``K_k(x_i, x_i)``.
    noise : ndarray of shape (p,)
        Root mean square that rounding of the kernels' own values may leave after centring.

    With sample weights w all this is of ``sqrt(w_i w_j) K_ij`` and of ``sqrt(w_i) Y_i``, and the
    row sums are ``sum_j w_j sqrt(w_i) K_ij``.
    """

    S: np.ndarray
    a: np.ndarray
    row_sums: np.ndarray
    diagonal: np.ndarray
    noise: np.ndarray


def centred_sums(X, Y, kernels, verbose=False, weight=None):
    """One pass over the pairs: everything stage 1 needs, before centring.

    Where centring would cancel nearly all of a kernel's sum of squares (``f(x) + f(x')`` and a
    little more), a second pass subtracts the means of the rows from every value first.

    Parameters
    ----------
    X : ndarray or SparseRows of shape (m, d), or list of m objects
        Validated samples.
    Y : ndarray of shape (m, c)
        Centred target columns.
    kernels : list of Kernel
        Resolved.
    verbose : bool, default False
        Whether to report on stderr how many of the pairs are done.
    weight : ndarray of shape (m,), optional
        Sample weights, positive; Y is centred at its weighted mean.

    Returns
    -------
    Sums
    """
    m, total = len(X), len(X) if weight is None else weight.sum()
    pairs = _PairSums(X, Y, kernels, verbose=verbose, weight=weight)
    S, a, row_sums = pairs.add((0, m, 0, m))
    if pairs.underflowed(np.diagonal(S) / total**2):
        return centred_sums(X.astype(np.float64), Y, kernels, verbose, weight)
    noise = pairs.noise(np.diagonal(S) / total**2)
    lost = np.flatnonzero(pairs.cancelled(np.diagonal(S), row_sums, weight))
    if lost.size:
        share = None if weight is None else weight / total
        means = row_sums[lost] / (total if weight is None else np.sqrt(weight) * total)
        terms = lost, 0.5 * np.average(means, axis=1, weights=share)[:, None] - means
        pairs = _PairSums(X, Y, kernels, terms, verbose, weight)
        S, a, row_sums = pairs.add((0, m, 0, m))
    return Sums(S, a, row_sums, pairs.diagonal, noise)


def sum_of_rows(row_sums, weight=None):
    """``sum_ij w_i w_j K_k(x_i, x_j)`` (p,) from the row sums of `Sums` and the weights."""
    return row_sums.sum(axis=1) if weight is None else row_sums @ np.sqrt(weight)


class FoldSums:
    """Sums over every pair of folds, from one pass; a union of folds is a sum of them.

    Parameters
    ----------
    X, Y, kernels, verbose, weight
        As in :func:`centred_sums`, samples ordered by fold; Y need not be centred.
    starts : sequence of int, length n_folds + 1
        Fold t holds samples ``starts[t]`` to ``starts[t + 1]``.
    """

    def __init__(self, X, Y, kernels, starts, verbose=False, weight=None):
        n, p, m = len(starts) - 1, len(kernels), len(X)
        self._pairs = pairs = _PairSums(X, Y, kernels, verbose=verbose, weight=weight)
        self._starts, self._weight = starts, weight
        self.S, self.a = np.zeros((n, n, p, p)), np.zeros((n, n, p))
        self.row_sums = np.zeros((n, p, m))
        boxes = [(g, h) for g in range(n) for h in range(g, n)]
        if pairs.program.external or len(boxes) < 4 * thread_count():
            for g, h in boxes:
                self._add(g, h)
        else:
            on_threads(self._add_some, boxes, stoppable=True, watch=pairs.report)

    def _add_some(self, thread, boxes, stop):
        """Every box is one thread's: threads that share one would wait for each other."""
        for g, h in boxes[thread[0] :: thread[1]]:
            self._add(g, h, stop)
            if stop[0]:
                return

    def _add(self, g, h, stop=None):
        rows, columns = (slice(self._starts[f], self._starts[f + 1]) for f in (g, h))
        box = rows.start, rows.stop, columns.start, columns.stop
        total, inner, by_row = self._pairs.add(box, stop)
        # Off the diagonal both orders of each pair were counted.
        share = 1.0 if g == h else 0.5
        self.S[g, h] = self.S[h, g] = share * total
        self.a[g, h] = self.a[h, g] = share * inner
        self.row_sums[h][:, rows] = by_row[:, rows]
        self.row_sums[g][:, columns] = by_row[:, columns]

    def union(self, folds):
        """The `Sums` of some folds, and whether centring them would cancel a kernel's digits."""
        pairs = np.ix_(folds, folds)
        keep = np.concatenate([np.arange(self._starts[f], self._starts[f + 1]) for f in folds])
        with np.errstate(over="ignore", invalid="ignore"):
            S, a = self.S[pairs].sum(axis=(0, 1)), self.a[pairs].sum(axis=(0, 1))
            row_sums = sum(self.row_sums[f] for f in folds)[:, keep]
        weight = None if self._weight is None else self._weight[keep]
        mean_square = np.diagonal(S) / (keep.size if weight is None else weight.sum()) ** 2
        noise = self._pairs.noise(mean_square)
        cancelled = self._pairs.cancelled(np.diagonal(S), row_sums, weight)
        cancelled |= self._pairs.underflowed(mean_square)
        diagonal = self._pairs.diagonal[:, keep]
        sums = Sums(S, a, row_sums, diagonal, noise)
        return sums, bool(cancelled.any())


class _PairSums:
    """One pass over the pairs of X: compiled kernels, bound data, and sums over a box of pairs.

    ``terms`` is (kernels, their f(x) of shape (n, m)): ``f(x) + f(x')`` is added to these.
    """

    def __init__(self, X, Y, kernels, terms=None, verbose=False, weight=None):
        m = len(X)
        self._done, self._pairs = [], 0.5 * m * (m + 1)
        self._progress = Progress(f"pairs of {m} samples") if verbose else None
        X = X.without_offsets() if is_sparse(X) else X
        self.X, self.V = X, vectors(kernels, X)
        self._parts = {}
        # Squares of weights and targets must not overflow or vanish in the samples' precision.
        self._weight_unit, self.root = 0, frozen(np.empty(0, self.V.dtype))
        if weight is not None:
            self._weight_unit = 2 * (int(np.frexp(weight.mean())[1]) // 2)
            root = np.sqrt(np.ldexp(weight, -self._weight_unit))
            self.root, Y = frozen(root.astype(self.V.dtype)), root[:, None] * Y
        self._unit = np.frexp(np.abs(Y).max(initial=0.0))[1]
        self.Y = frozen(np.ldexp(Y, -self._unit).astype(self.V.dtype))
        which, values = ((), np.empty((0, len(X)))) if terms is None else terms
        full, shift = _choose_forms(kernels, X, self.V)
        forms = {"full": full, "shift": shift, "terms": which, "n_targets": self.Y.shape[1]}
        self.program = program_of(kernels, X, self.V, mode=Mode.CENTRED, **forms)
        self.ops = compiled(self.program, _means(self.program, self.V))
        check_domains(self.program, X)
        self.F = np.concatenate([factor_values(self.program, X), values])
        self._scaled_diagonal = np.zeros((len(kernels), len(X)))
        given = [self.V.dtype if k._given_dtype is None else k._given_dtype for k in kernels]
        self._eps = np.array([max(_eps(d), _eps(self.V.dtype)) for d in given])
        exponential = [k._is_exponential for k in kernels]
        self._shift = np.where(exponential, 0.0, np.abs(shift))

    def noise(self, mean_square):
        """What rounding leaves of values of this mean square (p,), less the shifts; see `Sums`."""
        return _NOISE * self._eps * (np.sqrt(mean_square) + self._shift)

    def underflowed(self, mean_square):
        """Whether squares of values of this mean square (p,) have lost digits in float32."""
        return self.V.dtype == np.float32 and bool(np.any(mean_square < _TINY))

    def cancelled(self, squares, row_sums, weight=None):
        """Kernels (p,) of which centring leaves so little that the sums have lost digits of it."""
        m = row_sums.shape[1] if weight is None else weight.sum()
        # Sums that overflow are refused where they are finished.
        with np.errstate(over="ignore", invalid="ignore"):
            means = sum_of_rows(row_sums, weight) / m
            left = squares - (2.0 / m) * np.square(row_sums).sum(axis=1) + np.square(means)
        return left < np.where(self._eps > _eps(np.float64), 1e-3, 1e-4) * squares

    def report(self):
        """Say how many of all pairs are done, where that is asked for."""
        if self._progress is not None:
            self._progress(min(sum(done.sum() for done in self._done) / self._pairs, 1.0))

    def add(self, box, stop=None):
        """S (p, p), a (p,) and row sums (p, m) over a box, a square on the diagonal or disjoint.

        Both orders of every pair count. With the flag ``stop`` of `on_threads`: in this thread.
        """
        p, threads = self.program.n_kernels, thread_count() if stop is None else 1
        S = np.zeros((threads, 2, padded(p), padded(p)))
        a = np.zeros((threads, 2, padded(p)))
        row_sums, done = np.zeros((threads, p, len(self.X))), np.zeros(threads)
        self._done.append(done)
        shape = tile_shape(self.program, self.V.itemsize, box[3] - box[2])
        for part, values in external.boxes(self.program, self.X, box, self._parts):
            data = self.V, self.Y, self.F, values, self.root
            work = self.ops, data, part, shape, (S, a, row_sums, self._scaled_diagonal, done)
            if stop is None:
                n_pairs = (part[1] - part[0]) * (part[3] - part[2])
                run(loops.add_statistics, work, n_pairs, self.report)
            else:
                loops.add_statistics((0, 1), *work, stop)
        S, a = (total[:, 0].sum(axis=0) + 2.0 * total[:, 1].sum(axis=0) for total in (S, a))
        S, unit = np.triu(S[:p, :p]), self._weight_unit
        S, a = np.ldexp(S + np.triu(S, 1).T, 2 * unit), np.ldexp(a[:p], 2 * (self._unit + unit))
        return S, a, np.ldexp(row_sums.sum(axis=0), 3 * unit // 2)

    @property
    def diagonal(self):
        """``K_k(x_i, x_i)``, times the weights, of the boxes so far, (p, m)."""
        return np.ldexp(self._scaled_diagonal, self._weight_unit)
