"""Kernels of what two samples have in common, as a share of what they have together.

With N a primitive of a pair and n(x) = N(x, x) they are ``N / (n(x) + n(x') - N)``: of the inner
product the Tanimoto kernel, of the sum of minima the min-max kernel. As ``2 |N| <= n(x) + n(x')``
they are power series in ``N / (n(x) + n(x'))`` with non-negative coefficients, hence positive
semi-definite where N is; the denominator is ``n(x) + n(x')`` in half at least, so that no digits
are lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.engine import formulas
from alignlearn.engine import opcodes as ops
from alignlearn.engine.sparse import entry_sums, squared_norms
from alignlearn.validation import is_sparse

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
        """Refuse samples whose sizes overflow, or vanish where the samples do not."""
        info = np.finfo(X.dtype if X.dtype.kind == "f" else np.float64)
        if not np.max(size, initial=0.0) <= info.max / 4:
            raise ValueError(
                f"{self}: the sizes of samples, squares of theirs or sums, reach {np.max(size):.3g}"
                f", which {info.dtype} does not hold; scale X."
            )
        small = np.flatnonzero(size < info.tiny)
        if small.size and _has_entries(X[small]):
            raise ValueError(
                f"{self}: samples that are not 0 are too small for {info.dtype}; scale X."
            )


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

    Of sets as columns of 0 and 1, such as the fingerprints of molecules, it is the share of the
    elements of either set that both have (Jaccard). Counts and real numbers will do, negative ones
    too: it is positive semi-definite on all samples, with values from -1/3 to 1. It is 1 for two
    samples that are 0, and 0 for one of them and any other.

    Bytes (uint8) above 1 are refused, since they may be bits of ``np.packbits``:
    ``np.unpackbits(X, axis=1)`` unpacks these, and counts are accepted in any other type.

    Notes
    -----
    Where all of X is 0 and 1, values are counts of bits, of 52 columns at once. Of counts, some
    mean another extension by Tanimoto's name: `MinMax`.

    References
    ----------
    Ralaivola, Swamidass, Saigo and Baldi (2005), "Graph kernels for chemical informatics".

    Examples
    --------
    >>> from alignlearn import Tanimoto
    >>> Tanimoto()([[1, 1, 0, 1]], [[0, 1, 1, 1], [0, 0, 0, 0]])
    array([[0.5, 0. ]])
    """

    _primitive = ops.INNER_PRODUCT
    _size = staticmethod(squared_norms)

    def __str__(self):
        return "tanimoto"

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
    """``N / D^2`` for N the inner product, or ``|x - x'|^2 / D^2``; D is Tanimoto's denominator.

    The gradient of ``N / D`` in x is ``(|x - x'|^2 x' - 2 N (x - x')) / D^2``, taken to be 0 where
    both samples are.
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

    For counts and amounts: the share of them that two samples have in common. On columns of 0 and 1
    it is `Tanimoto`. It is 1 for two samples that are 0. Samples with a negative number raise a
    ValueError.

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
                f"{self}: samples must not be negative, the least number in X is {least:.4g}; "
                "accepted: numbers >= 0, such as counts. Tanimoto takes any."
            )
        with np.errstate(over="ignore"):
            self._check_sizes(X, entry_sums(X))
