"""Kernels bound to samples: the input of the compiled loops, and the threads that run them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from alignlearn._threads import on_threads
from alignlearn.validation import is_sparse

from . import opcodes as ops
from .bits import counted
from .boxes import row_boxes
from .bundles import bundled
from .external import BLOCK, most_rows, select_columns
from .program import Mode, Program, program_of
from .sparse import sparse_rows

# Fastest for 10 kernels (AVX-512, caches of 32 KiB and 1 MiB): tiles of about 1000 pairs, whose
# registers fit the second-level cache. Smaller tiles lose more in the reductions at the end of each
# sum than they save. For 200 and 600 kernels: 256 pairs (float32: 512), the smallest tile whose p x
# p products are faster than those of BLAS, in few columns, because all pairs of a block on the
# diagonal are visited.
_TILE_BYTES, _REGISTER_BYTES = 160_000, 2048
_TILE_ROWS, _LEAST_COLUMNS = 8, 32
# For products with a Gram matrix: wide tiles of few rows, because only dot products are reduced
# (one Gaussian of 20 features: 2.0 ns a pair, and 2.4 in the tiles above).
PRODUCT_ROWS, _PRODUCT_BYTES, PRODUCT_BLOCK = 4, 200_000, 1024
# For a Gram matrix of two sets of samples, likewise (3.0 instead of 4.3 ns, float32 1.7 instead of
# 2.1).
_GRAM_BLOCK = 512
_CACHE_LINE = 64  # bytes; also the widest vector register
FEW_PAIRS = 2**17  # a millisecond for ten kernels; threads begin in 0.07 to 0.17 of one
# Registers and features times pairs: 1 to 2 ms, and 10 to 20 ms.
_FEW, SHORT = 2**24, 2**27


class PairData(NamedTuple):
    """Samples against themselves, for ``pair_sums``.

    Attributes
    ----------
    program : Program
    ops : tuple
        What the loops take of it, see `alignlearn.engine.binding.compiled`.
    X : samples
        The samples in the form that external kernels need.
    V : ndarray of shape (m, d), float32 or float64
        The numeric features that the loops read.
    Y : ndarray of shape (m, c)
        Target columns in V's precision, times ``root``.
    F : ndarray of shape (n_factors, m), float64
        Values f(x) of factors and terms.
    root : ndarray of shape (m,) or (0,)
        Roots of the samples' weights.
    """

    program: Program
    ops: tuple
    X: object
    V: np.ndarray
    Y: np.ndarray
    F: np.ndarray
    root: np.ndarray


class CrossData(NamedTuple):
    """Samples X against Z, for ``gram``, ``times`` and ``normal_times``.

    Attributes
    ----------
    program : Program
    ops : tuple
        What the loops take of it, see `alignlearn.engine.binding.compiled`.
    X, Z : samples, n and m
    VX, VZ : ndarray of shape (n, d) and (m, d)
    FX, FZ : ndarray of shape (n_factors, n) and (n_factors, m)
    weights : ndarray of shape (p,)
        Kernel weights. For one kernel the loops of products do not multiply by its weight.
    columns : ndarray of shape (c, m), optional
        The matrix that K is multiplied by, transposed.
    shift, row_weight : ndarray of shape (c,) and (n,), optional
        ``normal_times`` is ``K' diag(row_weight) (K V - 1 shift')``.
    """

    program: Program
    ops: tuple
    X: object
    Z: object
    VX: np.ndarray
    VZ: np.ndarray
    FX: np.ndarray
    FZ: np.ndarray
    weights: np.ndarray
    columns: np.ndarray = None
    shift: np.ndarray = None
    row_weight: np.ndarray = None

    @property
    def width(self):
        """Number of pairs of a row."""
        return len(self.VZ)


def tile_shape(program, itemsize, side, most=None):
    """(columns per block, rows per tile) for a program on a box of ``side`` columns.

    Blocks have equal widths, because a small remainder would cost almost as much as a whole block.
    ``most``: the maximum number of columns of a block for a Gram matrix or products with one, whose
    tiles are wide and have `PRODUCT_ROWS` rows. Default: a tile for sums.
    """
    if most is None:
        rows, most, least = _TILE_ROWS, BLOCK * 4 // itemsize, _LEAST_COLUMNS
        pairs = max(_TILE_BYTES // program.n_rows, _REGISTER_BYTES) // itemsize
    else:
        rows, least = PRODUCT_ROWS, 8
        pairs = max(_PRODUCT_BYTES // (itemsize * program.n_rows), 32)
    block = min(most, max(pairs // rows // 8 * 8, least))
    width = -(-side // max(1, -(-side // block)))
    block = min(block, max(8, -(-width // 8) * 8))
    return block, min(pairs // block, rows)


def over_pairs(loop, work, n_pairs, program=None, count=None):
    """Run a loop over pairs on all threads, or on ``count``; a small one in this thread alone."""
    if few_pairs(n_pairs, program):
        loop((0, 1), *work, np.zeros(1, dtype=np.bool_))
    else:
        short = few_pairs(n_pairs, program, SHORT)
        on_threads(loop, *work, count=count, stoppable=True, short=short)


def few_pairs(n_pairs, program=None, most=_FEW, extra=0):
    """Whether pairs are too few to start threads; with `SHORT`, whether Ctrl-C may wait for them.

    ``extra``: operations for each pair that the program does not have.
    """
    if program is None or program.external:
        return n_pairs <= FEW_PAIRS
    return n_pairs * (program.n_rows + len(program.features) + extra) <= most


def compiled(program, means=None):
    """The arguments of the loops; ``means`` are subtracted from the bound features."""
    return (
        program.code,
        program.parameters,
        program.primitives,
        program.features,
        np.zeros(len(program.features)) if means is None else means,
        program.n_kernels,
    )


def scratch(program, dtype, shape, *lead):
    """Memory of a loop with tiles of a ``shape`` (columns, rows): registers, columns and rows.

    Numbers in ``lead`` are sizes of leading axes, for example one per thread. Memory is allocated
    here, because compiled code that allocates takes longer to compile.
    """
    block, rows = shape
    W = on_cache_lines((*lead, program.n_rows + 1, rows * block), dtype)
    tile = on_cache_lines((*lead, len(program.features), block), dtype)
    x = on_cache_lines((*lead, len(program.features), rows), dtype)
    return W, tile, x


def on_cache_lines(shape, dtype):
    """An uninitialized array that begins on a cache line, so that vector loads cross no line."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + _CACHE_LINE, np.uint8)
    first = -memory.__array_interface__["data"][0] % _CACHE_LINE
    return memory[first : first + size].view(dtype).reshape(shape)


def frozen(X):
    """A read-only C-ordered view, so that all arrays and memmaps share one compilation."""
    X = np.ascontiguousarray(X).view()
    X.flags.writeable = False
    return X


def vectors(kernels, X):
    """The numeric matrix that the loops read; a placeholder if they read no samples."""
    if is_sparse(X):
        return frozen(np.zeros((len(X), 0), X.dtype))
    if any(k.needs_vectors for k in kernels):
        return frozen(X)
    return frozen(np.zeros((len(X), 1)))


def compact(program, *sides):
    """The program and the sides that it is bound to, with fewer columns for the same values.

    Columns of 0 and 1 are packed as bits, except for programs of the small interpreter without L1
    distances, because the large one takes longer to compile. Columns that exclude each other are
    bundled.
    """
    if not program.is_common or ops.L1_DISTANCE in program.primitives[:, 0]:
        program, sides = counted(program, *sides)
    program, sides = bundled(program, *sides)
    return program, *map(frozen, sides)


def factor_values(program, X):
    """f(x) of the pre/post multiplications, shape (n_factors, len(X))."""
    out = np.empty((len(program.factors), len(X)))
    for row, (f, columns) in zip(out, program.factors):
        values = np.asarray(f(select_columns(X, columns)), dtype=np.float64)
        if values.shape != row.shape or not np.all(np.isfinite(values)):
            raise ValueError(
                f"f={f!r} must return one finite value per sample, shape ({len(X)},); got shape "
                f"{values.shape}{'' if values.shape != row.shape else ' with NaN or infinity'}."
            )
        row[:] = values
    return out


def check_domains(program, X):
    """Raise the error of a kernel if samples are outside its domain."""
    for check, columns in program.domains:
        check(select_columns(X, columns))


class BoundPairs:
    """A weighted sum of kernels on all pairs of samples X and Z.

    Parameters
    ----------
    kernels : sequence of Kernel
        Resolved.
    weights : array-like of shape (p,)
    X : ndarray or SparseRows of shape (n, d), or list of n objects
        Checked.
    exact : bool
        With False values may omit f(x) + f(z).
    Z : the same as X, or None for X itself

    Attributes
    ----------
    program, ops : the Program and its arguments for the loops
    X, Z : samples
    weights : ndarray of shape (p,)
    dtype : of the kernel values
    shape : (columns per block, rows per tile) of the loops
    """

    def __init__(self, kernels, weights, X, Z, exact):
        self._own, Z = Z is None, X if Z is None else Z
        if is_sparse(X) != is_sparse(Z):
            X, Z = sparse_rows(X), sparse_rows(Z)
        self._VX, self._VZ = vectors(kernels, X), vectors(kernels, Z)
        widths = [(X if is_sparse(X) else V).shape[1] for X, V in ((X, self._VX), (Z, self._VZ))]
        if widths[0] != widths[1]:  # the loops would read past the ends
            raise ValueError(
                f"X has {widths[0]} columns, but the samples of the kernel have {widths[1]}."
            )
        if self._VX.dtype != self._VZ.dtype:
            self._VX, self._VZ = (frozen(V.astype(np.float64)) for V in (self._VX, self._VZ))
        self.X, self.Z, self.dtype = X, Z, self._VX.dtype
        mode = Mode.VALUE if exact else Mode.SIDES
        self.program = program_of(kernels, X, self._VX, mode=mode)
        for samples in (X,) if self._own else (X, Z):
            check_domains(self.program, samples)
        self._FX = factor_values(self.program, X)
        self._FZ = self._FX if self._own else factor_values(self.program, Z)
        sides = (self._VX,) if self._own else (self._VX, self._VZ)
        self.program, *sides = compact(self.program, *sides)
        self._VX, self._VZ = sides[0], sides[-1]
        self.ops = compiled(self.program)
        most = None if self._own else _GRAM_BLOCK
        self.shape = tile_shape(self.program, self.dtype.itemsize, len(Z), most)
        self.weights = np.ascontiguousarray(weights, dtype=np.float64)
        if self.weights.shape != (len(kernels),):
            raise ValueError(
                f"weights has shape {self.weights.shape}, expected ({len(kernels)},): one number "
                "per kernel."
            )

    def data(self):
        """What operations on boxes of rows take."""
        outside = bool(self.program.external)
        X, Z = (self.X, self.Z) if outside else (self._VX, self._VZ)
        samples = X, Z, self._VX, self._VZ, self._FX, self._FZ
        return CrossData(self.program, self.ops, *samples, self.weights)

    def row_boxes(self, few=False):
        """Boxes of rows for them, see `alignlearn.engine.boxes.row_boxes`."""
        n, m = len(self.X), len(self.Z)
        most = most_rows(self.program, m) if self.program.external else None
        return row_boxes(n, m, PRODUCT_ROWS, most, few)

    def of(self, rows, columns):
        """Vectors of some of X and some of Z, and their factor values."""
        F = (np.ascontiguousarray(F[:, k]) for F, k in ((self._FX, rows), (self._FZ, columns)))
        return frozen(self._VX[rows]), self._VZ[columns], *F
