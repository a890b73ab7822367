"""Sums over all pairs of samples, from which alignment statistics are computed."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import numpy as np

from alignlearn._progress import Progress
from alignlearn.validation import is_sparse, take

from .binding import (
    PairData,
    check_domains,
    compact,
    compiled,
    factor_values,
    frozen,
    vectors,
)
from .boxes import cells, pair_side
from .cpu import CPU, pair_sums
from .external import most_side
from .program import Mode, program_of

_PILOT_SIDE = 24
# Kernel values have an error of this many units of rounding, from a few operations and sums over
# columns.
_NOISE = 32
# Mean squares below which some of the squares are not normal numbers of float32 (1e-38 and up).
_TINY = 1e-28


def _eps(dtype):
    """Unit of rounding; that of float64 for types that hold numbers exactly."""
    return float(np.finfo(dtype if np.dtype(dtype).kind == "f" else np.float64).eps)


def _means(program, V):
    """Means of the bound features to be centered, 0 for the others."""
    means = np.zeros(len(program.features))
    if program.centered.any():
        columns = program.features[program.centered]
        means[program.centered] = V.mean(axis=0, dtype=np.float64)[columns]
    return means


def _choose_forms(plain, X, V):
    """Pilot: which exponentials to keep as K (mean below 1/2), and constants near the means.

    ``plain`` is the program that keeps none as K and adds no constants. The pairs are a fixed
    pseudo-random grid, so that the choice depends on nothing else.
    """
    sides = np.sort(np.random.default_rng(0).integers(0, len(V), (2, _PILOT_SIDE)), axis=1)
    X, ops, V = take(X, sides.ravel()), compiled(plain, _means(plain, V)), V[sides.ravel()]
    target, root = frozen(np.empty((len(V), 0), V.dtype)), frozen(np.empty(0, V.dtype))
    data = PairData(plain, ops, X, frozen(V), target, factor_values(plain, X), root)
    stop = np.zeros(1, dtype=np.bool_)
    with np.errstate(over="ignore", invalid="ignore"):
        # Means of the values, and of their squares, for the first half of samples and the others.
        sums = pair_sums(data, (0, _PILOT_SIDE, _PILOT_SIDE, 2 * _PILOT_SIDE), stop)
        mean = sums.by_row.sum(axis=1) / _PILOT_SIDE**2
        square = np.diagonal(sums.S) / _PILOT_SIDE**2 - np.square(mean)
    # A shift helps if the mean is so large that a digit of the variation is lost.
    shift = np.where(np.abs(mean) > 3.0 * np.sqrt(np.maximum(square, 0.0)), -mean, 0.0)
    large = np.isfinite(mean) & ~np.isfinite(square)
    if large.any():  # after the shift, nothing remains of a constant kernel
        first = pair_sums(data, (0, 1, _PILOT_SIDE, _PILOT_SIDE + 1), stop).by_row[:, 0]
        value = np.where(large, first, 0.0)
        shift = np.where(large & (np.abs(mean - value) <= 1e-8 * np.abs(mean)), -value, shift)
    return mean + plain.offsets < 0.5, np.where(np.isfinite(shift), shift, 0.0)


class Sums(NamedTuple):
    """Sums over all pairs of m samples, of kernels up to terms f(x) + f(x') that centering removes.

    Attributes
    ----------
    S : ndarray of shape (p, p)
        ``<K_k, K_l>_F``.
    a : ndarray of shape (p,)
        ``<K_k, Y Y'>_F``, which equals that of the centered kernels if Y is centered.
    row_sums, diagonal : ndarray of shape (p, m)
        ``sum_j K_k(x_i, x_j)`` and ``K_k(x_i, x_i)``.
    noise : ndarray of shape (p,)
        Root mean square that rounding of the kernels' own values may leave after centering.

    With sample weights w, all attributes are those of ``sqrt(w_i w_j) K_ij`` and ``sqrt(w_i) Y_i``,
    and the row sums are ``sum_j w_j sqrt(w_i) K_ij``.
    """

    S: np.ndarray
    a: np.ndarray
    row_sums: np.ndarray
    diagonal: np.ndarray
    noise: np.ndarray


def centered_sums(X, Y, kernels, verbose=False, weight=None, engine=CPU):
    """The sums for stage 1 from one pass over the pairs, before centering.

    If centering would cancel nearly all of a kernel's sum of squares (a kernel close to ``f(x) +
    f(x')``), a second pass first subtracts the means of the rows from every value.

    Parameters
    ----------
    X : ndarray or SparseRows of shape (m, d), or list of m objects
        Validated samples.
    Y : ndarray of shape (m, c)
        Centered target columns.
    kernels : list of Kernel
        Resolved.
    verbose : bool or callable, default False
        Progress callback, see `Progress`.
    weight : ndarray of shape (m,), optional
        Sample weights, positive; Y is centered at its weighted mean.
    engine : Cpu, Cuda or Cluster
        The engine that runs the boxes of pairs.

    Returns
    -------
    Sums
    """
    options = (0, len(X)), verbose, weight, engine
    sums, lost, underflowed = FoldSums(X, Y, kernels, *options).union([0])
    if underflowed:
        return centered_sums(X.astype(np.float64), Y, kernels, verbose, weight, engine)
    if lost.any():
        total = len(X) if weight is None else weight.sum()
        share = None if weight is None else weight / total
        means = sums.row_sums[lost] / (total if weight is None else np.sqrt(weight) * total)
        rows = 0.5 * np.average(means, axis=1, weights=share)[:, None] - means
        again = FoldSums(X, Y, kernels, *options, terms=(np.flatnonzero(lost), rows))
        sums = again.union([0])[0]._replace(noise=sums.noise)
    return sums


def sum_of_rows(row_sums, weight=None):
    """``sum_ij w_i w_j K_k(x_i, x_j)`` (p,) from the row sums of `Sums` and the weights."""
    return row_sums.sum(axis=1) if weight is None else row_sums @ np.sqrt(weight)


class FoldSums:
    """Sums over every pair of folds, from one pass; a union of folds is a sum of them.

    Parameters
    ----------
    X : ndarray or SparseRows of shape (m, d), or list of m objects
        Validated samples, ordered by fold.
    Y : ndarray of shape (m, c)
        Target columns, which need not be centered.
    kernels : list of Kernel
        Resolved.
    verbose : bool or callable, default False
        Progress callback, see `Progress`.
    weight : ndarray of shape (m,), optional
        Sample weights, positive.
    engine : Cpu, Cuda or Cluster
        The engine that runs the boxes of pairs.
    starts : sequence of int, length n_folds + 1
        Fold t holds samples ``starts[t]`` to ``starts[t + 1]``.
    terms : (indices of n kernels, ndarray of shape (n, m)), optional
        ``f(x) + f(x')`` that is added to these kernels.
    """

    def __init__(self, X, Y, kernels, starts, verbose=False, weight=None, engine=CPU, terms=None):
        self._starts, self._weight = starts, weight
        X = X.without_offsets() if is_sparse(X) else X
        V = vectors(kernels, X)
        plain = program_of(kernels, X, V, mode=Mode.CENTERED)
        full, shift = _choose_forms(plain, X, V)
        which, values = ((), np.empty((0, len(X)))) if terms is None else terms
        forms = {"full": full, "shift": shift, "terms": which, "n_targets": Y.shape[1]}
        program = program_of(kernels, X, V, mode=Mode.CENTERED, **forms)
        self._bind(program, X, V, Y, values)
        given = [V.dtype if k.given_dtype is None else k.given_dtype for k in kernels]
        self._eps = np.array([max(_eps(d), _eps(V.dtype)) for d in given])
        self._shift = np.where([k.is_exponential for k in kernels], 0.0, np.abs(shift))
        n, (p, m) = len(starts) - 1, (len(kernels), len(X))
        self._S, self._a = np.zeros((n, n, p, p)), np.zeros((n, n, p))
        self._row_sums, self._diagonal = np.zeros((n, p, m)), np.zeros((p, m))
        program = self._data.program
        most = {"most": most_side(program)} if program.external else {}
        few = engine.large_boxes(m * m // 2)
        owners, boxes = cells(starts, pair_side(m, **most, few=few))
        done = list(accumulate((i1 - i0) * (j1 - j0) for i0, i1, j0, j1 in boxes))

        def take(k, sums):
            with np.errstate(over="ignore", invalid="ignore"):  # `finish` raises an error
                self._add(*owners[k], boxes[k], sums)
            progress(done[k])

        with Progress(f"pairs of {m} samples", done[-1], verbose) as progress:
            engine.run_boxes("pair_sums", self._data, boxes, take, progress)
        lower = np.tril_indices(p, -1)
        self._S[..., lower[0], lower[1]] = self._S[..., lower[1], lower[0]]
        for g, h in zip(*np.triu_indices(n, 1)):
            self._S[h, g], self._a[h, g] = self._S[g, h], self._a[g, h]

    def _bind(self, program, X, V, Y, values):
        """Bind a program to the samples; choose units for weights and targets."""
        weight = self._weight
        # Squares of weights and targets must not overflow or vanish in the samples' precision.
        self._weight_unit, root = 0, np.empty(0, V.dtype)
        if weight is not None:
            self._weight_unit = 2 * (int(np.frexp(weight.mean())[1]) // 2)
            root = np.sqrt(np.ldexp(weight, -self._weight_unit))
            root, Y = root.astype(V.dtype), root[:, None] * Y
        self._unit = np.frexp(np.abs(Y).max(initial=0.0))[1]
        Y = frozen(np.ldexp(Y, -self._unit).astype(V.dtype))
        check_domains(program, X)
        F = np.concatenate([factor_values(program, X), values])
        program, V = compact(program, V)
        ops = compiled(program, _means(program, V))
        self._data = PairData(program, ops, X if program.external else V, V, Y, F, frozen(root))

    def _add(self, g, h, box, sums):
        rows, columns = slice(*box[:2]), slice(*box[2:])
        square = rows == columns
        # Within a fold, a pair counts in both orders.
        share = 2.0 if g == h and not square else 1.0
        self._S[g, h] += share * sums.S
        self._a[g, h] += share * sums.a
        self._row_sums[h][:, rows] += sums.by_row
        if square:
            self._diagonal[:, rows] = sums.diagonal
        else:
            self._row_sums[g][:, columns] += sums.by_column

    def union(self, folds):
        """Sums over some folds.

        Returns
        -------
        sums : Sums
        canceled : ndarray of bool, shape (p,)
            Kernels whose centered part is so small that the sums have lost its digits.
        underflowed : bool
            Whether squares of kernel values have lost digits in float32.
        """
        pairs, unit, scale = np.ix_(folds, folds), self._weight_unit, self._unit
        keep = np.concatenate([np.arange(self._starts[f], self._starts[f + 1]) for f in folds])
        weight = None if self._weight is None else self._weight[keep]
        total = keep.size if weight is None else weight.sum()
        with np.errstate(over="ignore", invalid="ignore"):  # `finish` raises an error
            S = np.ldexp(self._S[pairs].sum(axis=(0, 1)), 2 * unit)
            a = np.ldexp(self._a[pairs].sum(axis=(0, 1)), 2 * (scale + unit))
            row_sums = sum(self._row_sums[f] for f in folds)[:, keep]
            row_sums = np.ldexp(row_sums, 3 * unit // 2)
            mean_square = np.diagonal(S) / total**2
            means = sum_of_rows(row_sums, weight) / total
            left = np.diagonal(S) - (2.0 / total) * np.square(row_sums).sum(axis=1)
            left += np.square(means)
            canceled = left < np.where(self._eps > _eps(np.float64), 1e-3, 1e-4) * np.diagonal(S)
            noise = _NOISE * self._eps * (np.sqrt(mean_square) + self._shift)
        underflowed = self._data.V.dtype == np.float32 and bool(np.any(mean_square < _TINY))
        diagonal = np.ldexp(self._diagonal[:, keep], unit)
        return Sums(S, a, row_sums, diagonal, noise), canceled, underflowed
