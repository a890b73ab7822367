"""The table of the primitives and operations of programs, for all targets.

A primitive or an operation is a row of a table, and its code is the number of the row, so that
compiled loops compare integers. The order of the rows has no meaning. The columns have all that a
target needs of an operation.

Statements are Python with places in braces: ``{d}`` and ``{s}`` are the destination and the source
register, ``{k}`` the integer, ``{0}``, ``{1}`` and ``{2}`` the numbers of the operation. CUDA code
is these statements one after another, with the names of `alignlearn.engine.cuda.program.names_of`.
On the CPU `alignlearn.engine.tiles` interprets the codes: its loops are tuned by hand, but those of
the scalar formulas are written out from this table.
"""

from __future__ import annotations

from inspect import signature
from typing import NamedTuple

from .formulas import FORMULAS as _FORMULAS


class Primitive(NamedTuple):
    """A sum over the features of a pair.

    Attributes
    ----------
    term : str
        The term of a feature with the values {x} and {z}.
    root : bool
        Whether the root of the sum is taken.
    of_differences : bool
        Whether it is invariant when the same vector is added to all samples.
    common : bool
        Whether the small interpreter, sufficient for most programs, computes it.
    """

    term: str
    root: bool = False
    of_differences: bool = False
    common: bool = False


class Operation(NamedTuple):
    """An operation on registers.

    Attributes
    ----------
    statement : str
    repeated : str or None
        A statement that follows ``integer - 1`` times.
    common : bool
        Whether the small interpreter, sufficient for most programs, executes it.
    """

    statement: str
    repeated: str | None = None
    common: bool = False


PRIMITIVES, OPERATIONS = [], []


def _primitive(*row, **columns):
    PRIMITIVES.append(Primitive(*row, **columns))
    return len(PRIMITIVES) - 1


def _operation(*row, **columns):
    OPERATIONS.append(Operation(*row, **columns))
    return len(OPERATIONS) - 1


def _formula(function):
    places = ", ".join(f"{{{n}}}" for n in range(len(signature(function).parameters) - 1))
    return _operation(f"{{d}} = T({function.__name__}({{s}}, {places}))")


_SQUARE = "({x} - {z}) * ({x} - {z})"
SQUARED_DISTANCE = _primitive(_SQUARE, of_differences=True, common=True)
INNER_PRODUCT = _primitive("{x} * {z}", common=True)
L1_DISTANCE = _primitive("abs({x} - {z})", of_differences=True, common=True)
DISTANCE = _primitive(_SQUARE, root=True, of_differences=True, common=True)
MATCHES = _primitive("(one if {x} == {z} else zero)")  # features in which samples agree
MINIMA = _primitive("({x} if {x} < {z} else {z})")
# For levels of categories, which `alignlearn.engine.bundles` makes of columns.
HEIGHTS = _primitive("(zero if {x} == {z} else {x} + {z})", common=True)
# For zeros and ones packed as bits by `alignlearn.engine.bits`.
COMMON_BITS = _primitive("common_bits({x}, {z})")
DIFFERENT_BITS = _primitive("different_bits({x}, {z})")

EXP = _operation("{d} = exp({0} * {s})", common=True)
EXPM1 = _operation("{d} = expm1({0} * {s})", common=True)
# Steps of ladders (rates g 2^k), repeated: K <- K^2, the same for e = K - 1, and from e to K.
SQUARE = _operation("{d} = flush({s} * {s})", "{d} = flush({d} * {d})", common=True)
SQUARE_SHIFTED = _operation("{d} = {s} * ({s} + two)", "{d} = {d} * ({d} + two)", common=True)
SQUARE_UNSHIFT = _operation(
    "{d} = flush(({s} + one) * ({s} + one))", "{d} = flush({d} * {d})", common=True
)
AFFINE = _operation("{d} = {0} * {s} + {1}", common=True)
AFFINE_IN_PLACE = _operation("{d} = {0} * {d} + {1}", common=True)
POWER_IN_PLACE = _operation("{d} = power({d}, {k})", common=True)
ADD = _operation("{d} = {d} + {0} * {s}", common=True)
MULTIPLY = _operation("{d} = {d} * {s}", common=True)
ROOT = _operation("{d} = T(math.sqrt({s}))", common=True)
RATIO = _operation("{d} = ratio({s}, {d})")  # s / d if s < d, else 1, also for 0 and 0
FLUSH = _operation("{d} = flush({d})", common=True)
# 0 if |d| is at most {0} units of rounding of the canceled terms of size s.
CLEAR = _operation("{d} = clear({d}, {0} * eps * {s})")
# (1 + u) exp(-u) and (1 + u + u^2 / 3) exp(-u).
MATERN_32 = _operation("{d} = matern({0} * {s}, zero)")
MATERN_52 = _operation("{d} = matern({0} * {s}, third)")
# With auxiliary vector {k}: times f(x) f(x'), and plus f(x) + f(x').
FACTOR = _operation("{d} = T({d} * (FX[{k}, i] * FZ[{k}, j]))")
TERMS = _operation("{d} = T({d} + (FX[{k}, i] + FZ[{k}, j]))")
EXTERNAL = _operation("{d} = T(external[{k}, i, j])")  # block {k} of values computed outside
FORMULAS = {function: _formula(function) for function in _FORMULAS}
# Operations whose loops compile faster, see `alignlearn.engine.tiles.evaluator`.
COMMON_PRIMITIVES = frozenset(kind for kind, row in enumerate(PRIMITIVES) if row.common)
COMMON = frozenset(op for op, row in enumerate(OPERATIONS) if row.common)
