"""Gram matrices of weighted sums of kernels, and matrix-free products with them."""

from __future__ import annotations

from functools import partial

import numpy as np

from alignlearn._jit import jit
from alignlearn._text import listed
from alignlearn._threads import in_phases, thread_count
from alignlearn.validation import check_finite, take

from . import external, loops
from .binding import (
    BoundPairs,
    check_domains,
    compiled,
    factor_values,
    frozen,
    over_pairs,
    scratch,
    vectors,
)
from .boxes import cells, into_rows
from .cpu import CPU
from .program import program_of
from .tiles import evaluator

_DIAGONAL_ROWS = 4  # of a tile whose diagonal is needed; features are processed in fours, too


def weighted_gram(kernels, weights, X, Y=None, *, exact=True, out=None, engine=CPU):
    """``sum_k weights_k K_k(X, Y)`` without forming the K_k.

    Parameters
    ----------
    kernels : sequence of Kernel
        Resolved.
    weights : array-like of shape (p,)
    X : ndarray or SparseRows of shape (n, d), or list of n objects
        Checked.
    Y : the same for m samples, also sparse if X is not; None for X itself (half the work)
    exact : bool, default True
        With False the result may omit f(x) + f(x'), and is more accurate near constant kernels and
        far from the origin. Use False if the result is centered, or multiplied by coefficients that
        sum to 0.
    out : ndarray of shape (n, m), optional
    engine : Cpu, Cuda or Cluster
        What it runs on.

    Returns
    -------
    ndarray of shape (n, m), of X's dtype
    """
    pairs = BoundPairs(kernels, weights, X, Y, exact)
    program, X, Z = pairs.program, pairs.X, pairs.Z
    out = np.empty((len(X), len(Z)), dtype=pairs.dtype) if out is None else out
    if not engine.in_place:
        boxes = pairs.row_boxes()
        engine.run_boxes("gram", pairs.data(), boxes, into_rows(out, boxes))
        return _finite(out, "the Gram matrix", kernels)

    given = pairs, kernels, scratch(program, pairs.dtype, pairs.shape, thread_count())
    everything = slice(None)
    if not program.external:
        _fill(*given, everything, everything, out, symmetric=Y is None)
    elif Y is None:
        side = min(external.most_side(program), len(X))
        memory = external.buffer(program, side**2)
        for box in cells((0, len(X)), side)[1] if len(X) else ():
            rows, columns = slice(*box[:2]), slice(*box[2:])
            reach = external.BLOCK - 1 if rows == columns else None
            values = external.block(program, X[rows], X[columns], memory, reach)
            whole = values.shape[1:] == out.shape
            part = out if whole else np.empty(values.shape[1:], out.dtype)
            _fill(*given, rows, columns, part, values, symmetric=rows == columns)
            if not whole:
                out[rows, columns] = part
                out[columns, rows] = part.T
    else:
        for rows, values in external.strips(program, X, Z):
            _fill(*given, rows, everything, out[rows], values)
    return out


def submatrix(K, rows, columns, factor=1.0):
    """``factor * K[rows][:, columns]`` of a stored matrix, in one pass."""
    out = np.empty((len(rows), len(columns)), K.dtype)
    _submatrix(frozen(K), rows, columns, K.dtype.type(factor), out)
    return out


@jit
def _submatrix(K, rows, columns, factor, out):
    for i in range(len(rows)):
        row, to = K[rows[i]], out[i]
        for j in range(len(columns)):
            to[j] = factor * row[columns[j]]


def _fill(pairs, kernels, memory, rows, columns, out, external=None, symmetric=False):
    """Put the values of some rows of X and some of Z into ``out``; an error if one is not finite.

    ``external``: those of external kernels; ``memory``: of the loops, for each thread.
    """
    values = np.empty((0, *out.shape)) if external is None else external
    work = (*pairs.of(rows, columns), values), pairs.weights, pairs.shape, memory, symmetric, out
    work = evaluator(pairs.program, pairs.dtype), pairs.ops, *work
    memory[0][:, 0, 0] = 0.0
    over_pairs(loops.weighted_gram, work, out.size, pairs.program, count=len(memory[0]))
    if not np.isfinite(memory[0][:, 0, 0]).all():
        _finite(out, "the Gram matrix", kernels)


class GramRows:
    """Selected rows of ``sum_k weights_k K_k(X, Z)``, computed in this process.

    External kernels are not accepted.

    Parameters
    ----------
    kernels : sequence of Kernel
        Resolved.
    weights : array-like of shape (p,)
    X, Z : ndarray or SparseRows of shape (n, d), or list of n objects
        Checked. Data that do not depend on the rows are prepared once.
    exact : bool, default True
        With False the rows may omit f(x) + f(z).
    """

    def __init__(self, kernels, weights, X, Z, *, exact=True):
        self._pairs, self._kernels = BoundPairs(kernels, weights, X, Z, exact), kernels
        self._memory = self._scratch(thread_count())

    def _scratch(self, count):
        return scratch(self._pairs.program, self._pairs.dtype, self._pairs.shape, count)

    def fill(self, index, out, first=0):
        """Put rows of some of X into ``out`` (len(index), n), of the samples' dtype.

        Columns are the n samples of Z from the number ``first`` on.
        """
        _fill(self._pairs, self._kernels, self._memory, index, slice(first, None), out)
        return out

    def fill_each(self, parts):
        """Put several ranges of rows into arrays of any dtype, on all threads.

        Parameters
        ----------
        parts : list of (slice, ndarray)
            Rows of X, and an array of them against the last samples of Z.
        """
        memory = []  # of threads that are between two parts

        def put(rows, out):
            try:
                given, block = memory.pop()
            except IndexError:
                given, block = self._scratch(1), None
            if out.dtype != self._pairs.dtype:
                block = np.empty(largest, self._pairs.dtype) if block is None else block
            values = out if block is None else block[: out.size].reshape(out.shape)
            columns = slice(len(self._pairs.Z) - out.shape[1], None)
            _fill(self._pairs, self._kernels, given, rows, columns, values)
            if block is not None:
                out[:] = values
            memory.append((given, block))

        largest = max((out.size for _, out in parts), default=0)
        in_phases([[partial(put, *part) for part in parts]])


def gram_times(kernels, weights, X, Z, V, *, exact=True, engine=CPU):
    """``sum_k weights_k K_k(X, Z) V`` without storing a Gram matrix.

    Parameters
    ----------
    kernels, weights, X
        As in `weighted_gram`.
    Z : as X, m samples; None for X itself
    V : array of shape (m,) or (m, c)
        Real and finite.
    exact : bool, default True
        With False, the kernel may omit f(x) + f(z). For columns that sum to 0, the products then
        omit a constant, and stay precise if the kernel is near 1 or much larger than its variation.
    engine : Cpu, Cuda or Cluster
        What it runs on.

    Returns
    -------
    ndarray of shape (n,) or (n, c), float64
        Sums are taken in float64, also of float32 kernel values.

    Raises
    ------
    ValueError
        V has another shape, or V or a result contains NaN or infinity.
    """
    return GramProducts(kernels, weights, X, Z, exact=exact, engine=engine).times(V)


class GramProducts:
    """Products with ``K = sum_k weights_k K_k(X, Z)``, n x m, which is computed again for each.

    Results are the same to the last bit for any number of threads.

    Parameters
    ----------
    kernels : sequence of Kernel
        Resolved.
    weights : array-like of shape (p,)
    X : ndarray or SparseRows of shape (n, d), or list of n objects
        Checked.
    Z : as X, m samples; None for X itself
    exact : bool, default True
        With False, the kernel may omit f(x) + f(z).
    engine : Cpu, Cuda or Cluster
        What it runs on.
    """

    def __init__(self, kernels, weights, X, Z=None, *, exact=True, engine=CPU):
        self._pairs, self._kernels = BoundPairs(kernels, weights, X, Z, exact), kernels
        self.shape, self._engine = (len(self._pairs.X), len(self._pairs.Z)), engine
        # The loops do not multiply a single kernel by its weight.
        self._unit = self._pairs.weights[0] if len(kernels) == 1 else 1.0
        self._data = self._pairs.data()
        self._boxes = self._pairs.row_boxes(few=engine.large_boxes(self.shape[0] * self.shape[1]))

    def times(self, V):
        """``K V``, (n,) or (n, c) as V, float64."""
        columns, flat = self._columns(V)
        data = self._data._replace(columns=self._unit * columns)
        out = np.zeros((self.shape[0], len(columns)))
        self._engine.run_boxes("times", data, self._boxes, into_rows(out, self._boxes))
        return self._finished(out, flat)

    def normal_times(self, V, *, shift=None, weight=None):
        """``K' diag(weight) (K V - 1 shift')``, (m,) or (m, c) as V, float64.

        Every kernel value is computed once for both products.

        Parameters
        ----------
        V : array of shape (m,) or (m, c)
        shift : array of shape (c,), optional
            0 by default.
        weight : array of shape (n,), optional
            1 by default.
        """
        columns, flat = self._columns(V)
        shift = np.zeros(len(columns)) if shift is None else np.array(shift, float).reshape(-1)
        weight = np.ones(self.shape[0]) if weight is None else np.ascontiguousarray(weight, float)
        given = {"columns": self._unit * columns, "shift": shift, "row_weight": weight}
        out = np.zeros(columns.shape)

        def take(k, part):
            np.add(out, part, out=out)

        self._engine.run_boxes("normal_times", self._data._replace(**given), self._boxes, take)
        return self._finished(self._unit * np.ascontiguousarray(out.T), flat)

    def _finished(self, out, flat):
        return _finite(out[:, 0] if flat else out, "a product with the Gram matrix", self._kernels)

    def matrix(self, rows):
        """Some rows of K, a slice or numbers, of the samples' dtype."""
        pairs = self._pairs
        X = pairs.X[rows] if isinstance(rows, slice) else take(pairs.X, rows)
        return weighted_gram(self._kernels, pairs.weights, X, pairs.Z)

    def _columns(self, V):
        """V transposed, (c, m), and whether it is one column."""
        V = np.asarray(V)
        m = self.shape[1]
        if V.ndim not in (1, 2) or len(V) != m or V.dtype.kind not in "iuf":
            raise ValueError(
                f"V has shape {V.shape} and dtype {V.dtype}; accepted: real numbers of shape "
                f"({m},) or ({m}, c), a row for each of the samples Z."
            )
        check_finite("V", V)
        return np.array(V.reshape(m, -1).T, dtype=np.float64, order="C"), V.ndim == 1


def _finite(values, what, kernels):
    """The values, or an error if a formula has left its domain."""
    check_finite(f"{what} of {listed(kernels, 3, show=str, separator=' + ')}", values)
    return values


def gram_diagonals(kernels, X):
    """Diagonals of the Gram matrices of p resolved kernels on checked samples, (p, m) float64."""
    V = vectors(kernels, X)
    program = program_of(kernels, X, V)
    check_domains(program, X)
    if all(kernel.has_unit_diagonal for kernel in kernels):
        return np.ones((len(kernels), len(X)))
    data = V, factor_values(program, X), external.diagonals(program, X)
    near = np.zeros((len(program.external), _DIAGONAL_ROWS, _DIAGONAL_ROWS))
    memory = *scratch(program, V.dtype, (_DIAGONAL_ROWS, _DIAGONAL_ROWS)), near
    values = np.empty((len(kernels), len(X)))
    loops.diagonals(evaluator(program, V.dtype), compiled(program), data, memory, values)
    return _finite(values, "the Gram matrix", kernels)
