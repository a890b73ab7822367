"""Programs compiled for a CUDA device: straight-line functions of one pair, for all operations.

`pair_functions` writes a program as Python source, one statement for each operation, and compiles
it for the device. The compiled code depends only on the structure of the program (operations,
registers, integers, which primitives read the same features). Numbers such as gammas are arguments,
so that a family with other widths compiles nothing. Functions are kept for the life of the process,
and compiled kernels in the cache on disk, because a compilation takes seconds.

The alternative is an interpreter, as on the CPU, with registers in shared memory. The following
counts are from the machine code for compute capability 9.0. As source, the 11 operations of ten
Gaussians and a target are about 45 of the 320 instructions of pair sums with d = 20 (27 for 9
squares with their flush, about 14 for the exponential), numbers are operands in constant memory,
and 146 registers hold everything, none spilled. An interpreter takes 118 instructions to decode an
operation, shared by the pairs of a thread, and 25 to 30 for each pair besides its arithmetic (loads
and stores of shared memory, branches). With four pairs per thread this is 55 for each operation,
and 600 for the program.

How a kernel uses it, in a module that imports `numba.cuda` at its top (the simulator replaces that
name) and is itself imported inside functions::

    pair = pair_functions(program, np.float32)          # the same object for the same structure
    numbers, ranges = pair.arguments(program)           # to be passed on to the kernel

    @cuda_kernel                                        # of alignlearn._jit
    def kernel(X, Z, FX, FZ, external, numbers, ranges, weights, out):
        i, j = cuda.grid(2)
        if i < X.shape[1] and j < Z.shape[1]:
            q = pair.primitives(X, i, Z, j, ranges)
            v = pair.values(q, i, j, FX, FZ, external, numbers)
            out[i, j] = pair.weighted(v, weights)

with

X, Z : arrays of shape (n_bound, n) and (n_bound, m), of the dtype
    Bound features minus their means, one row per feature.
FX, FZ : arrays of float64, shape (n_factors, n) and (n_factors, m)
    Values f(x); without factors, one row of arbitrary values.
external : array of float64, shape (n_external, n, m)
    External values of the pairs (i, j), likewise.
weights : tuple or array of length n_values, of the dtype

``pair.values`` is a tuple of n_values numbers of the dtype. A kernel should only take it apart with
constant indices (``v[2]``) or pass it on: an index that is a variable puts the tuple into memory.
If there are too many values for registers, ``pair.store(q, i, j, FX, FZ, external, numbers, scale,
out, r, c)`` writes them to ``out[:, r, c]``, times ``scale`` (not the target).

Kernels that compute several pairs at once load every feature once for a block
of them by ``pair_functions(program, dtype, rows=2, columns=2)``: ``primitives(X, (i0, i1), Z, (j0,
j1), ranges)`` then returns a tuple of 4 results for ``values``, those of (i0, j0), (i0, j1),
(i1, j0) and (i1, j1). Indices must lie inside.

Numba compiles no ``max`` or ``min`` for CUDA (0.68), and a signed index costs a check for negative
values at every use. Indices in loops should therefore be np.uint64, incremented explicitly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from alignlearn._jit import cuda_device

from .. import opcodes as ops
from .. import vectormath
from ..program import padded

# More numbers than these are passed in an array: arguments of a kernel are limited to 4 kB.
_MOST_NUMBERS, _MOST_ENDS = 256, 128


class PairFunctions(NamedTuple):
    """Functions of a program for CUDA kernels; see the module docstring.

    Attributes
    ----------
    primitives, values, weighted : callable
        Device functions.
    n_values : int
        Length of the result of ``values``: p, or p + 1 with the target.
    dtype : numpy.dtype
        Of the values.
    source : str
        The compiled source.
    """

    primitives: Callable
    values: Callable
    store: Callable
    weighted: Callable
    n_values: int
    dtype: np.dtype
    source: str

    def arguments(self, program):
        """(numbers, ranges of bound features) of a program of this structure.

        Both are tuples, which a kernel reads from the constant memory of its arguments. If they are
        too long, they are arrays, which must be copied to the device.
        """
        numbers = program.parameters[_used(program.code)].astype(self.dtype)
        numbers = numbers if numbers.size else np.zeros(1, self.dtype)
        if numbers.size <= _MOST_NUMBERS:
            numbers = tuple(numbers)
        ends = tuple(end for group in _groups(program.primitives) for end in group) or (0,)
        return numbers, ends if len(ends) <= _MOST_ENDS else np.array(ends, dtype=np.int64)


def pair_functions(program, dtype, *, target=False, rows=1, columns=1):
    """The device functions of a program.

    Parameters
    ----------
    program : Program
    dtype : float32 or float64
        Of bound features and values; factors and values from outside are float64.
    target : bool, default False
        Whether the register after the outputs, the product of targets, is the last of the values.
    rows, columns : int, default 1
        Pairs whose primitives are computed at once.

    Returns
    -------
    PairFunctions
    """
    groups = _groups(program.primitives)
    primitives = tuple(
        (int(kind), groups.index((int(start), int(stop))), int(row))
        for kind, start, stop, row in program.primitives
    )
    code = tuple(map(tuple, program.code.tolist()))
    return _compiled(code, primitives, program.n_kernels, target, np.dtype(dtype), rows, columns)


def _groups(primitives):
    """Distinct ranges of bound features that primitives read."""
    return list(dict.fromkeys((int(start), int(stop)) for _, start, stop, _ in primitives))


def _used(code):
    """Which of its three numbers each operation uses, bool (n_ops, 3)."""
    used = np.zeros((len(code), 3), dtype=bool)
    for row, op in zip(used, code[:, 0]):
        row[:] = [f"{{{n}}}" in ops.OPERATIONS[op].statement for n in range(3)]
    return used


@lru_cache(maxsize=64)
def _compiled(code, primitives, p, target, dtype, rows, columns):
    outputs = (*range(p), padded(p)) if target else tuple(range(p))
    sources = {
        "primitives": _primitives_source(primitives, rows, columns),
        "values": _values_source(code, primitives, outputs),
        "store": _store_source(code, primitives, outputs, p),
        "weighted": _weighted_source(len(outputs)),
    }
    functions = {name: device_function(name, s, names_of(dtype)) for name, s in sources.items()}
    return PairFunctions(
        **functions, n_values=len(outputs), dtype=dtype, source="\n\n".join(sources.values())
    )


def device_function(name, source, names):
    """The device function ``name`` of generated source, which refers to ``names``."""
    scope = dict(names)
    exec(compile(source, f"<generated {name}>", "exec"), scope)
    return cuda_device(scope[name])


def _statements(code, primitives, outputs, finish):
    """One statement per operation, and ``finish(row)`` after an output has its value."""
    lines = [f"r{row} = q[{n}]" for n, (_, _, row) in enumerate(primitives)]
    known, count = {row for _, _, row in primitives}, 0
    used = _used(np.array(code, dtype=np.int64).reshape(-1, 4)).sum(axis=1)
    last = {d: n for n, (_, d, _, _) in enumerate(code)}
    for n, (op, d, s, k) in enumerate(code):
        numbers = [f"numbers[{c}]" for c in range(count, count + used[n])]
        count += used[n]
        first, repeated = ops.OPERATIONS[op].statement, ops.OPERATIONS[op].repeated
        steps = [first] + [repeated] * (k - 1 if repeated else 0)
        # Registers start at 0.
        lines += [f"r{row} = zero" for row in _reads(first, d, s) if row not in known]
        lines += [step.format(*numbers, d=f"r{d}", s=f"r{s}", k=k) for step in steps]
        known |= {d, *_reads(first, d, s)}
        if d in outputs and last[d] == n:
            lines += finish(d)
    for row in outputs:
        if row not in last:
            lines += [f"r{row} = zero", *finish(row)]
    return lines


def _values_source(code, primitives, outputs):
    """Source of ``values(q, i, j, FX, FZ, external, numbers)``."""
    lines = _statements(code, primitives, outputs, lambda row: [])
    lines.append(f"return ({', '.join(f'r{row}' for row in outputs)},)")
    return "def values(q, i, j, FX, FZ, external, numbers):\n" + indented(lines)


def _store_source(code, primitives, outputs, p):
    """Source of ``store``: outputs leave the registers one by one."""

    def finish(row):
        scaled = f"r{row} * scale" if row < p else f"r{row}"
        return [f"out[{outputs.index(row)}, r, c] = {scaled}"]

    lines = _statements(code, primitives, outputs, finish)
    head = "def store(q, i, j, FX, FZ, external, numbers, scale, out, r, c):\n"
    return head + indented(lines)


def _reads(statement, d, s):
    """Registers that a statement reads."""
    right = statement.partition(" = ")[2]
    return dict.fromkeys([row for row, name in ((s, "{s}"), (d, "{d}")) if name in right])


def _primitives_source(primitives, rows, columns):
    """Source of ``primitives(X, i, Z, j, ranges)``: a loop for each range of bound features.

    Indices are unsigned, because signed ones are checked for negative values at every load.
    """
    lines = [f"i{r} = U(i[{r}])" for r in range(rows)]
    lines += [f"j{c} = U(j[{c}])" for c in range(columns)]
    if rows == columns == 1:
        lines = ["i0 = U(i)", "j0 = U(j)"]
    pairs = [(r, c) for r in range(rows) for c in range(columns)]
    for n, _ in enumerate(primitives):
        lines += [f"q{n}_{r}_{c} = zero" for r, c in pairs]
    for group in dict.fromkeys(group for _, group, _ in primitives):
        # Incremented explicitly, because range() gives signed integers: half as many instructions.
        lines.append(f"f, end = U(ranges[{2 * group}]), U(ranges[{2 * group + 1}])")
        lines.append("while f < end:")
        lines += [f"    x{r} = X[f, i{r}]" for r in range(rows)]
        lines += [f"    z{c} = Z[f, j{c}]" for c in range(columns)]
        for n, (kind, of, _) in enumerate(primitives):
            if of == group:
                terms = [ops.PRIMITIVES[kind].term.format(x=f"x{r}", z=f"z{c}") for r, c in pairs]
                names = [f"q{n}_{r}_{c}" for r, c in pairs]
                lines += [f"    {q} = {q} + {term}" for q, term in zip(names, terms)]
        lines.append("    f = f + U(1)")
    for n, (kind, _, _) in enumerate(primitives):
        if ops.PRIMITIVES[kind].root:
            lines += [f"q{n}_{r}_{c} = T(math.sqrt(q{n}_{r}_{c}))" for r, c in pairs]
    found = [[f"q{n}_{r}_{c}" for n, _ in enumerate(primitives)] or ["zero"] for r, c in pairs]
    tuples = [f"({', '.join(q)},)" for q in found]
    lines.append("return " + (tuples[0] if len(pairs) == 1 else f"({', '.join(tuples)},)"))
    return "def primitives(X, i, Z, j, ranges):\n" + indented(lines)


def _weighted_source(n):
    """Source of ``weighted(values, weights)``."""
    lines = ["total = weights[0] * values[0]"]
    lines += [f"total = total + weights[{k}] * values[{k}]" for k in range(1, n)]
    return "def weighted(values, weights):\n" + indented([*lines, "return total"])


def indented(lines):
    """Lines of source, one level deeper."""
    return "".join(f"    {line}\n" for line in lines)


@lru_cache
def names_of(dtype):
    """The names in generated source: constants and functions of a number.

    ``T`` rounds to the dtype; literals of floats would promote float32 to float64.
    """
    from .bits import bit_counts

    T = dtype.type
    constants = {"zero": T(0), "one": T(1), "two": T(2), "third": T(1 / 3), "eps": np.finfo(T).eps}
    functions = {f.__name__: f for f in (*_in_range(T), *_others(T))}
    functions |= bit_counts(T)
    formulas = {f.__name__: cuda_device(f) for f in ops.FORMULAS}
    return {"math": math, "T": T, "U": np.uint64, **constants, **functions, **formulas}


@lru_cache
def _in_range(T):
    """exp, expm1 and flush with the ranges of `vectormath`, on which sums of products rely.

    All targets return 0 and infinity for the same arguments.
    """
    single = T is np.float32
    zero, inf = T(0), T(np.inf)
    largest = vectormath.LARGEST_F if single else T(vectormath.LARGEST)
    smallest = vectormath.SMALLEST_F if single else T(vectormath.SMALLEST)
    negligible = np.exp(smallest)

    @cuda_device
    def exp(x):
        return inf if x > largest else (zero if x < smallest else T(math.exp(x)))

    @cuda_device
    def expm1(x):
        return inf if x > largest else T(math.expm1(x))

    @cuda_device
    def flush(x):
        return zero if abs(x) < negligible else x

    return exp, expm1, flush


def _others(T):
    """clear, power, matern and ratio."""
    zero, one, exp = T(0), T(1), _in_range(T)[0]
    end = T(1000)  # exp(-1000) is 0, and inf * 0 must not become NaN

    @cuda_device
    def clear(x, unit):
        return zero if abs(x) <= unit else x

    @cuda_device
    def power(base, exponent):
        d = one
        for _ in range(exponent):
            d = d * base
        return d

    @cuda_device
    def matern(u, curvature):
        u = end if u > end else u
        return (one + u + curvature * u * u) * exp(-u)

    @cuda_device
    def ratio(part, whole):
        return part / whole if part < whole else one

    return clear, power, matern, ratio
