"""Overlap kernels: the intersection of two samples divided by their union.

For a primitive N of a pair and n(x) = N(x, x), they are ``N / (n(x) + n(x') - N)``. The inner
product gives the Tanimoto kernel, and the sum of minima the min-max kernel. Since ``2 |N| <= n(x) +
n(x')``, they are power series in ``N / (n(x) + n(x'))`` with nonnegative coefficients, and hence
positive semidefinite if N is. The denominator is at least half of ``n(x) + n(x')``, so no digits
are lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from alignlearn.engine import formulas
from alignlearn.engine import opcodes as ops
from alignlearn.engine.sparse import entry_sums, squared_norms
from alignlearn.validation import check_flag, is_sparse

from .base import Kernel, named
from .gradients import GradientTerm


@dataclass(frozen=True)
class _Overlap(Kernel):
    """``N / (n(x) + n(x') - N)``, and 1 for two samples with n = 0."""

    largest_value = 1.0
    has_unit_diagonal = True
    adds_columns = True

    def lower(self, b, dst, mode):
        both = b.primitive(self._primitive)
        _emit_either(b, dst, both, self._size)
        b.emit(ops.RATIO, dst, both)
        b.domain(self._in_domain)
        return 0.0

    def _check_sizes(self, X, size):
        """Raise an error for samples whose sizes overflow, or vanish for nonzero samples."""
        info = np.finfo(X.dtype if X.dtype.kind == "f" else np.float64)
        if not np.max(size, initial=0.0) <= info.max / 4:
            raise ValueError(
                f"{self}: the squares or sums of samples reach {np.max(size):.3g}"
                f", which overflows {info.dtype}; scale X."
            )
        small = np.flatnonzero(size < info.tiny)
        if small.size and _has_entries(X[small]):
            raise ValueError(f"{self}: nonzero samples are too small for {info.dtype}; scale X.")


def _emit_either(b, dst, both, size):
    """Emit ``n(x) + n(x') - N`` for N in the register ``both``."""
    b.emit(ops.AFFINE, dst, both, f0=-1.0)
    b.emit(ops.TERMS, dst, integer=b.factor(size))


def _has_entries(X):
    return bool(len(X.data)) if is_sparse(X) else bool(np.any(X))


@named("tanimoto")
@dataclass(frozen=True)
class Tanimoto(_Overlap):
    """``<x, x'> / (|x|^2 + |x'|^2 - <x, x'>)``; "tanimoto".

    For sets encoded as columns of 0 and 1, such as molecular fingerprints, it is the size of the
    intersection divided by the size of the union (Jaccard). Counts and real numbers of any sign are
    accepted: the kernel is positive semidefinite on all samples, with values from -1/3 to 1. It is
    1 for two zero samples, and 0 for a zero sample and a nonzero one.

    Strings of bits, such as "0110", are read as columns. Bytes (uint8) above 1 raise an error,
    since they may be bits of ``np.packbits``; counts are accepted in any other dtype.

    Parameters
    ----------
    packed : bool, default False
        Whether bytes (uint8) hold eight columns each, as ``np.packbits(bits, axis=1)`` makes them.
        All of X is unpacked then, also for other kernels on X, and has 8 features for each byte;
        the bits that fill the last byte are 0 and change no value. Samples of other dtypes are not
        packed. For one of several tables, use ``np.unpackbits(table, axis=1)`` instead.

    Notes
    -----
    If all of X is 0 and 1, values are computed by counting bits, 52 columns at once. For counts,
    the name Tanimoto is sometimes used for another kernel, `MinMax`.

    References
    ----------
    Ralaivola, Swamidass, Saigo and Baldi (2005), "Graph kernels for chemical informatics".

    Examples
    --------
    >>> from alignlearn import Tanimoto
    >>> Tanimoto()([[1, 1, 0, 1]], [[0, 1, 1, 1], [0, 0, 0, 0]])
    array([[0.5, 0. ]])
    >>> Tanimoto()(["1101"], ["0111", "0000"])  # strings of bits
    array([[0.5, 0. ]])
    >>> import numpy as np
    >>> Tanimoto(packed=True)(*(np.packbits(b, axis=1) for b in ([[1, 1, 0, 1]], [[0, 1, 1, 1]])))
    array([[0.5]])
    """

    packed: bool = False

    _primitive = ops.INNER_PRODUCT
    _size = staticmethod(squared_norms)

    def __post_init__(self):
        check_flag("packed", self.packed)

    def __str__(self):
        return "tanimoto"

    reads_packed = property(attrgetter("packed"))

    def __repr__(self):
        return f"Tanimoto({'packed=True' if self.packed else ''})"

    def columns_as_sets(self, n):
        return set(range(n))

    def gradient(self):
        both, apart = _TanimotoSlope(False), _TanimotoSlope(True)
        return (GradientTerm(-2.0, both, True), GradientTerm(1.0, apart, False))

    def _in_domain(self, X):
        with np.errstate(over="ignore"):
            self._check_sizes(X, squared_norms(X))


@dataclass(frozen=True)
class _TanimotoSlope(Kernel):
    """``N / D^2`` for the inner product N, or ``|x - x'|^2 / D^2``, with Tanimoto's denominator D.

    The gradient of ``N / D`` in x is ``(|x - x'|^2 x' - 2 N (x - x')) / D^2``, taken to be 0 if
    both samples are 0.
    """

    of_distance: bool

    is_psd = False
    adds_columns = True

    def lower(self, b, dst, mode):
        row = b.temporary()
        _emit_either(b, row, b.primitive(ops.INNER_PRODUCT), squared_norms)
        b.formula(row, formulas.inverse_square, row)
        kind = ops.SQUARED_DISTANCE if self.of_distance else ops.INNER_PRODUCT
        b.emit(ops.AFFINE, dst, b.primitive(kind), f0=1.0)
        b.emit(ops.MULTIPLY, dst, row)
        b.release(row)
        return 0.0


@named("minmax")
@dataclass(frozen=True)
class MinMax(_Overlap):
    """``sum_k min(x_k, x'_k) / sum_k max(x_k, x'_k)`` of samples >= 0; "minmax".

    For counts and other nonnegative values: the common part of two samples divided by their union.
    On columns of 0 and 1 it equals `Tanimoto`. It is 1 for two zero samples. Negative values raise
    a ValueError.

    References
    ----------
    Ralaivola, Swamidass, Saigo and Baldi (2005), "Graph kernels for chemical informatics".

    Examples
    --------
    >>> from alignlearn import MinMax
    >>> MinMax()([[2.0, 0.0, 1.0]], [[1.0, 1.0, 2.0]])
    array([[0.4]])
    """

    is_non_negative = True
    _primitive = ops.MINIMA
    _size = staticmethod(entry_sums)

    def __str__(self):
        return "minmax"

    def _in_domain(self, X):
        least = np.min(X.data if is_sparse(X) else X, initial=0.0)
        if least < 0.0:
            raise ValueError(
                f"{self}: samples must be nonnegative, but the minimum of X is {least:.4g}; "
                f"accepted: numbers >= 0, such as counts. Tanimoto accepts any numbers."
            )
        with np.errstate(over="ignore"):
            self._check_sizes(X, entry_sums(X))
