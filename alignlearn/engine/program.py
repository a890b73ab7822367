"""Kernels lowered to a short list of array operations that an engine executes on a tile of pairs.

A *program* evaluates p kernels on a tile. Its registers are the rows of one buffer: rows 0 to p - 1
for the kernel values, then the primitives (squared distance, inner product, ...), then temporaries.
One compiled interpreter runs every program, so a new combination of kernels compiles nothing, and
its cost is spread over the hundreds of pairs of a tile.

A kernel lowers itself by ``lower(builder, dst, mode)``, which emits the operations that fill
register ``dst`` and returns the kernel's value minus the register's; `Mode` defines which terms the
register may omit. This module does not depend on kernel classes.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np

from alignlearn.validation import is_sparse

from . import opcodes as ops
from .sparse import SparsePrimitive

# Up to this many squarings, a ladder step is faster than an exponential.
_MAX_SQUARINGS = 4
# Squaring K doubles its relative error, so a new ladder starts with an exponential after this many
# squarings (2^12 roundings are 5e-13). Squaring K - 1 for K <= 1 does not.
_MAX_DOUBLINGS = 12
_LEAST_ROWS = 8  # with fewer, looking at the columns costs as much as it saves


class Mode(Enum):
    """The required content of a register.

    Centering removes a constant, so exponentials near 1 may be stored as ``exp(t) - 1``: a kernel
    such as ``exp(-1e-6 |x - x'|^2)`` then loses no precision.
    """

    # Number; whether an exponential is kept as K rather than K - 1; whether ladders may use it.
    VALUE = 0, True, False  # the kernel's value
    SHIFTED = 1, False, False  # its value up to a constant
    CENTERED = 2, False, False  # its value up to a constant and terms f(x) + f(x')
    STEP_VALUE = 3, True, True  # the value of an exponential, in an output row
    STEP_SHIFTED = 4, False, True  # the same minus 1
    SIDES = 5, False, False  # as CENTERED, where the mean over all samples is not known

    def __init__(self, number, full, is_step):
        self.number, self.full, self.is_step = number, full, is_step


@dataclass(frozen=True)
class Program:
    """The input of an engine for the evaluation of p kernels; see the module docstring.

    Attributes
    ----------
    code : ndarray of int64, shape (n_ops, 4)
        Opcode, destination row, source row and integer of each operation.
    parameters : ndarray of float64, shape (n_ops, 3)
        Its numbers.
    primitives : ndarray of int64, shape (n_primitives, 4)
        Kind, first and last+1 bound feature, register row.
    features : ndarray of int64
        Columns of the data to bind, in order; a column may occur several times.
    centered : ndarray of bool
        Bound features from which the mean over all samples is subtracted.
    factors : tuple of (callable, columns)
        ``f(X[:, columns]) -> (m,)`` for FACTOR.
    external : tuple of (kernel, columns)
        Evaluated block by block through ``kernel.block(X[:, columns], Y[:, columns])``, or a
        primitive that the engine evaluates by itself.
    domains : tuple of (callable, columns)
        Each raises an error if data are outside a kernel's domain.
    n_rows, n_kernels : int
    offsets : ndarray of float64, shape (p,)
        Kernel value minus register value; all 0 in exact mode.
    lacks_sides : bool
        Whether terms f(x) + f(x') are missing, too.
    """

    code: np.ndarray
    parameters: np.ndarray
    primitives: np.ndarray
    features: np.ndarray
    centered: np.ndarray
    factors: tuple
    external: tuple
    domains: tuple
    n_rows: int
    n_kernels: int
    offsets: np.ndarray
    lacks_sides: bool = False

    @cached_property
    def is_common(self):
        """Whether it has only common primitives and operations, whose code compiles faster."""
        kinds, operations = self.primitives[:, 0].tolist(), self.code[:, 0].tolist()
        return ops.COMMON_PRIMITIVES.issuperset(kinds) and ops.COMMON.issuperset(operations)


def padded(n):
    """n rounded up to a multiple of 5, the block of ``engine.loops.add_products``."""
    return -(-n // 5) * 5


class Builder:
    """Collects the operations of a list of kernels; kernels call it from ``lower``."""

    def __init__(self, n_features, n_kernels, outside=None):
        self.n_features = n_features
        self._outside = outside
        self._code, self._parameters = [], []
        self._groups = {}  # columns -> first bound feature
        self._features, self._centered = [], []
        self._primitives = {}  # (kind, columns, centered) -> register
        self._evaluated = {}  # the same for external primitives
        self._factors, self._external, self._domains = [], [], []
        # The other registers follow the outputs, which are padded to whole blocks.
        self._rows = padded(n_kernels)
        self._free = []
        self._ladder = {}  # (primitive register, coefficient) -> (row, is K form, doublings)
        self._columns = None  # the selection in force: a tuple of column numbers, or None for all
        self._lacks_sides = False

    @contextmanager
    def columns(self, columns):
        """Restrict kernels that are lowered inside the ``with`` block to these columns."""
        outer = self._columns
        self._columns = columns if outer is None else tuple(outer[c] for c in columns)
        yield
        self._columns = outer

    def primitive(self, kind, *, centered=False, bound=False) -> int:
        """The register row of a primitive on the columns in force (minus their means).

        With ``bound``, it is never evaluated externally.
        """
        key = (kind, self._columns, centered)
        known = self._primitives if self._outside is None or bound else self._evaluated
        if key in known:
            return known[key]
        row = known[key] = self._rows
        self._rows += 1
        if known is self._evaluated:
            self.emit(ops.EXTERNAL, row, integer=self.external(self._outside(kind, centered)))
        elif key[1:] not in self._groups:
            self._groups[key[1:]] = len(self._features)
            features = range(self.n_features) if self._columns is None else self._columns
            self._features.extend(features)
            self._centered.extend([centered] * len(features))
        return row

    def inner_product(self, mode, dst):
        """Emit <x, x'>, up to f(x) + f(x') if the mode allows that."""
        if mode is Mode.SIDES and self._outside is None:
            self.emit(ops.AFFINE, dst, self.primitive(ops.SQUARED_DISTANCE), f0=-0.5)
            self._lacks_sides = True
        else:
            centered = mode is Mode.CENTERED
            self.emit(ops.AFFINE, dst, self.primitive(ops.INNER_PRODUCT, centered=centered), f0=1.0)

    @property
    def n_columns(self) -> int:
        """Number of columns in force."""
        return self.n_features if self._columns is None else len(self._columns)

    def temporary(self) -> int:
        """A scratch row; return it with ``release``."""
        if self._free:
            return self._free.pop()
        self._rows += 1
        return self._rows - 1

    def release(self, row):
        """Return a scratch row."""
        self._free.append(row)

    def emit(self, op, dst, src=0, integer=0, *, f0=0.0, f1=0.0, f2=0.0):
        """Append one operation."""
        self._code.append((op, dst, src, integer))
        self._parameters.append((f0, f1, f2))

    def formula(self, dst, function, src, *numbers):
        """Append ``d = function(s, *numbers)``, one of `alignlearn.engine.formulas`."""
        self.emit(ops.FORMULAS[function], dst, src, **{f"f{n}": x for n, x in enumerate(numbers)})

    def factor(self, function) -> int:
        """Register ``f(X) -> (m,)`` on the columns in force and return its index."""
        self._factors.append((function, self._columns))
        return len(self._factors) - 1

    def external(self, kernel) -> int:
        """Register an external kernel and return its index."""
        self._external.append((kernel, self._columns))
        return len(self._external) - 1

    def domain(self, check):
        """Register ``check(X)``, which raises an error if X is outside the kernel's domain."""
        self._domains.append((check, self._columns))

    def exponential(self, dst, src, coefficient, mode) -> float:
        """Emit exp(coefficient * src) by a ladder step or an exponential; return the offset."""
        full, step, doublings = mode.full, (ops.EXP if mode.full else ops.EXPM1, dst, src, 0), 0
        # A ladder step starts at an exponential of this coefficient divided by a power of two.
        for n in range(1, _MAX_SQUARINGS + 1 if mode.is_step else 1):
            row, was_full, count = self._ladder.get((src, coefficient / 2.0**n), (0, True, np.inf))
            op = ops.SQUARE if was_full else ops.SQUARE_UNSHIFT if full else ops.SQUARE_SHIFTED
            count += n if op != ops.SQUARE_SHIFTED or coefficient > 0 else 0
            if (full or not was_full) and count <= _MAX_DOUBLINGS:
                step, doublings = (op, dst, row, n), count
                break
        self._code.append(step)
        self._parameters.append((0.0 if step[3] else coefficient, 0.0, 0.0))
        if mode.is_step:
            self._ladder[src, coefficient] = (dst, full, doublings)
        return 0.0 if full else 1.0

    def exact_value(self, kernel, dst):
        """Lower ``kernel`` into ``dst`` to be used as a factor or an argument: its exact value."""
        self.add_constant(dst, kernel.lower(self, dst, Mode.VALUE))

    def targets(self, n_targets):
        """The first register after the outputs: inner product of columns beyond the features."""
        row, self._rows = self._rows, self._rows + 1
        first = self.n_features if self._outside is None else 0
        with self.columns(tuple(range(first, first + n_targets))):
            self.emit(ops.AFFINE, row, self.primitive(ops.INNER_PRODUCT, bound=True), f0=1.0)

    def add_constant(self, dst, offset):
        """Turn a register with an offset into the exact value."""
        if offset != 0.0:
            self.emit(ops.AFFINE_IN_PLACE, dst, f0=1.0, f1=offset)

    def finish(self, offsets) -> Program:
        """The program."""
        primitives = []
        for (kind, columns, centered), row in self._primitives.items():
            start = self._groups[columns, centered]
            width = self.n_features if columns is None else len(columns)
            primitives.append((kind, start, start + width, row))
        return Program(
            np.array(self._code, dtype=np.int64).reshape(-1, 4),
            np.array(self._parameters, dtype=np.float64).reshape(-1, 3),
            np.array(primitives, dtype=np.int64).reshape(-1, 4),
            np.array(self._features, dtype=np.int64),
            np.array(self._centered, dtype=bool),
            tuple(self._factors),
            tuple(self._external),
            tuple(self._domains),
            self._rows,
            len(offsets),
            np.asarray(offsets, dtype=np.float64),
            self._lacks_sides,
        )


def program_of(
    kernels, X, V, *, mode=Mode.VALUE, full=None, shift=None, terms=(), n_targets=0
) -> Program:
    """Lower resolved kernels to a :class:`Program`.

    Parameters
    ----------
    kernels : sequence of Kernel
        With numeric parameters (see ``Kernel.resolve``).
    X : samples
        Primitives of sparse samples are evaluated externally; only target columns are then bound.
    V : ndarray of shape (m, d)
        What the loops read of X.
    mode : Mode
        VALUE, SHIFTED, CENTERED or SIDES: the required content of the outputs.
    full : sequence of bool of length p, optional
        Not for VALUE: which exponentials to keep as K instead of K - 1.
    shift : sequence of float of length p, optional
        Not for VALUE: a constant added to each kernel that is not a plain exponential.
    terms : sequence of int
        Kernels to which f(x) + f(x') is added, with auxiliary vectors after those of the factors.
    n_targets : int
        Number of target columns, bound after the features. The sum of their products is left in
        row ``padded(p)``, the first register after the outputs.
    """
    p = len(kernels)
    n_features, outside = (X.shape[1], SparsePrimitive) if is_sparse(X) else (V.shape[1], None)
    builder = Builder(n_features, p, outside)
    offsets = np.zeros(p)
    if n_targets:
        builder.targets(n_targets)
    # Ladder steps need the exponential of the smaller coefficient first.
    order = sorted(range(p), key=lambda k: (not kernels[k].is_exponential, kernels[k].rate, k))
    for k in order:
        as_value = mode is Mode.VALUE or (full is not None and bool(full[k]))
        step = Mode.STEP_VALUE if as_value else Mode.STEP_SHIFTED
        exponential = kernels[k].is_exponential
        offset = kernels[k].lower(builder, k, step if exponential else mode)
        if mode is Mode.VALUE:
            builder.add_constant(k, offset)
            offset = 0.0
        elif shift is not None and shift[k] != 0.0 and not exponential:
            builder.add_constant(k, float(shift[k]))
            offset -= shift[k]
        offsets[k] = offset
    for row, k in enumerate(terms, start=len(builder._factors)):
        builder.emit(ops.TERMS, k, integer=row)
    return builder.finish(offsets)


def wide_primitives(program, sides, kinds, least):
    """Yield (kind, start, stop) of primitives of these kinds on ``least`` columns or more.

    Those of centered columns and of targets are left out, and all if a side has few samples.
    """
    if min(map(len, sides)) < _LEAST_ROWS:
        return
    for kind, start, stop, _ in program.primitives.tolist():
        wide = kind in kinds and stop - start >= least
        own = wide and program.features[start:stop].max() < sides[0].shape[1]  # no targets
        if own and not program.centered[start:stop].any():
            yield kind, start, stop


class Layout:
    """Samples written anew for a program: new sides, and what it binds of them.

    Parameters
    ----------
    program : Program
    sides : sequence of ndarrays of shape (n, d)
        Samples that are bound to it, each once.
    """

    def __init__(self, program, sides):
        self._program, self._sides = program, sides
        self._width, self._blocks, self._ranges = 0, [], {}
        self._features, self._centered = [], []

    def bind(self, key, blocks, centered=False):
        """The range of bound features of new columns ``blocks``, a block per side."""
        if key not in self._ranges:
            new = range(self._width, self._width + blocks[0].shape[1])
            self._blocks.append(blocks)
            self._width = new.stop
            self._extend(key, new, centered)
        return self._ranges[key]

    def keep(self, start, stop):
        """The new range of features that are bound as before."""
        columns, d = self._program.features[start:stop], self._sides[0].shape[1]
        if columns.max(initial=0) < d:
            blocks = [V[:, columns] for V in self._sides]
            return self.bind((start, stop), blocks, self._program.centered[start:stop].any())
        if (start, stop) not in self._ranges:  # targets, which come after all columns
            self._extend((start, stop), (d - 1 - columns).tolist(), False)
        return self._ranges[start, stop]

    def _extend(self, key, new, centered):
        self._ranges[key] = len(self._features), len(self._features) + len(new)
        self._features.extend(new)
        self._centered.extend([centered] * len(new))

    def finish(self, **changed):
        """The changed program and its sides."""
        features = np.array(self._features, dtype=np.int64)
        features[features < 0] = self._width - 1 - features[features < 0]
        centered = np.array(self._centered, bool)
        program = replace(self._program, features=features, centered=centered, **changed)
        return program, tuple(np.hstack(blocks) for blocks in zip(*self._blocks))
