"""Upper limits for the pair sums of a program, from this machine's measured arithmetic speed."""

from __future__ import annotations

import numpy as np
from _bench import clock

from alignlearn._jit import jit_fma
from alignlearn.engine import opcodes as ops
from alignlearn.engine import vectormath
from alignlearn.engine.pair_sums import _choose_forms
from alignlearn.engine.program import Mode, program_of

_STEPS = 32


@jit_fma
def _eight(x, b, c):
    x = x * b + c
    x = x * b + c
    x = x * b + c
    x = x * b + c
    x = x * b + c
    x = x * b + c
    x = x * b + c
    return x * b + c


@jit_fma
def _multiply_add(row, b, c, repeats):
    """Chains of 32 multiply-adds in registers; chains of several vectors run side by side."""
    for _ in range(repeats):
        for j in range(row.size):
            row[j] = _eight(_eight(_eight(_eight(row[j], b, c), b, c), b, c), b, c)


@jit_fma
def _exponentials(values, out, repeats):
    for _ in range(repeats):
        for j in range(values.size):
            out[j] = vectormath.exp(values[j])


class Peaks:
    """Multiply-adds, and exponentials in cache, per second of one thread; the best of all calls."""

    def __init__(self, dtype):
        self.dtype, self.fma, self.exp = np.dtype(dtype), 0.0, 0.0
        self._values = np.linspace(-3.0, 0.0, 1024, dtype=dtype)
        self._row, self._out = self._values.copy(), np.empty_like(self._values)
        self._numbers = self.dtype.type(0.75), self.dtype.type(0.25)
        _multiply_add(self._row, *self._numbers, 1)
        _exponentials(self._values, self._out, 1)

    def __call__(self):
        """Measure once more."""
        n, repeats = self._values.size, 200
        fma = clock(lambda: _multiply_add(self._row, *self._numbers, repeats), 5)[0]
        exp = clock(lambda: _exponentials(self._values, self._out, repeats), 5)[0]
        self.fma = max(self.fma, n * _STEPS * repeats / fma)
        self.exp = max(self.exp, n * repeats / exp)


def program_of_statistics(X, kernels):
    """The program that the statistics of these kernels run, with one target."""
    kernels = [kernel.resolve(X) for kernel in kernels]
    full, shift = _choose_forms(program_of(kernels, X, X, mode=Mode.CENTERED), X, X)
    return program_of(kernels, X, X, mode=Mode.CENTERED, full=full, shift=shift, n_targets=1)


def operations(program):
    """Multiply-adds, exponentials and other operations of the pair sums, for one pair.

    For Gaussians. A flush to zero is a sign change, a comparison and a selection; every value is
    added to a sum by row and one by column.
    """
    p, flush = program.n_kernels, 3
    fma, exp, other = p * (p + 1) // 2 + p, 0, 2 * p
    for kind, start, stop, _ in program.primitives:
        fma += stop - start
        other += stop - start if kind == ops.SQUARED_DISTANCE else 0
    for op, _, _, times in program.code:
        if op in (ops.EXP, ops.EXPM1):
            exp += 1
        elif op == ops.SQUARE_SHIFTED:
            other += 2 * times
        elif op in (ops.SQUARE, ops.SQUARE_UNSHIFT):
            other += (1 + flush) * times + (op == ops.SQUARE_UNSHIFT)
        elif op == ops.AFFINE:
            fma += 1
        else:
            raise NotImplementedError(f"the operation {op} is not counted.")
    return int(fma), exp, int(other)


def arithmetic_limit(program, n_pairs, peaks):
    """Minimal seconds for these pairs at the peak rates of one thread, and a line to explain them.

    All operations but exponentials are counted at the rate of multiply-adds. A processor that can
    add and multiply at once may be faster.
    """
    fma, exp, other = operations(program)
    text = (
        f"{peaks.dtype}: a pair takes {fma} multiply-adds, {exp} exponentials, {other} other "
        f"operations; peak {peaks.fma / 1e9:.1f}e9 and {peaks.exp / 1e9:.2f}e9 a second"
    )
    return n_pairs * ((fma + other) / peaks.fma + exp / peaks.exp), text
