"""Programs for the tests of CUDA code: one for each operation, with its formula in NumPy."""

import sys

import numpy as np
import pytest
import simulator
from numba import config

from alignlearn.engine import formulas
from alignlearn.engine import opcodes as ops
from alignlearn.engine.program import Program

LD, F = np.longdouble, ops.FORMULAS
SIMULATED = bool(config.ENABLE_CUDASIM)
if SIMULATED:
    # A waiting thread of the simulator polls with this interval, instead of 5 ms.
    sys.setswitchinterval(5e-4)
    simulator.mend()


def _can_run():
    from numba import cuda

    return SIMULATED or cuda.is_available()


needs_cuda = pytest.mark.skipif(
    not _can_run(),
    reason="no CUDA device; NUMBA_ENABLE_CUDASIM=1 runs these tests in the simulator",
)

# Numba warns about the few blocks of a test on a real device.
FEW_BLOCKS = pytest.mark.filterwarnings("ignore:.*Grid size")


def _repeated(step, times):
    def run(d):
        for _ in range(times):
            d = step(d)
        return d

    return run


def _shifted(e):
    return e * (e + 2)


# Operations on a squared distance s: (opcode, integer, numbers, formula).
SINGLE = {
    "exp": (ops.EXP, 0, (-0.3,), lambda s: np.exp(LD(-0.3) * s)),
    "exp beyond its range": (ops.EXP, 0, (1e4,), lambda s: np.where(s > 0, np.inf, 1)),
    "exp below its range": (ops.EXP, 0, (-1e4,), lambda s: np.where(s > 0, 0, 1)),
    "expm1": (ops.EXPM1, 0, (-1e-3,), lambda s: np.expm1(LD(-1e-3) * s)),
    "expm1 beyond its range": (ops.EXPM1, 0, (1e4,), lambda s: np.where(s > 0, np.inf, 0)),
    "expm1 below its range": (ops.EXPM1, 0, (-1e4,), lambda s: np.where(s > 0, -1, 0)),
    "square": (ops.SQUARE, 1, (), lambda s: s**2),
    "square twice": (ops.SQUARE, 2, (), lambda s: s**4),
    "square shifted": (ops.SQUARE_SHIFTED, 1, (), _shifted),
    "square shifted three times": (ops.SQUARE_SHIFTED, 3, (), _repeated(_shifted, 3)),
    "square unshift": (ops.SQUARE_UNSHIFT, 1, (), lambda s: (s + 1) ** 2),
    "square unshift twice": (ops.SQUARE_UNSHIFT, 2, (), lambda s: (s + 1) ** 4),
    "root": (ops.ROOT, 0, (), np.sqrt),
    "affine": (ops.AFFINE, 0, (0.7, -2.0), lambda s: LD(0.7) * s - 2),
    "polynomial": (F[formulas.polynomial], 0, (0.5, 1.0, 2.5), lambda s: (s / 2 + 1) ** LD(2.5)),
    "binomial": (F[formulas.binomial], 0, (0.01, 1.5), lambda s: (1 - LD(0.01) * s) ** LD(-1.5)),
    "binomial outside": (F[formulas.binomial], 0, (1e3, 1.5), lambda s: np.where(s > 0, np.nan, 1)),
    "sigmoid": (F[formulas.sigmoid], 0, (0.3, -0.5), lambda s: np.tanh(LD(0.3) * s - LD(0.5))),
    "tl1": (F[formulas.tl1], 0, (4.0,), lambda s: np.maximum(4 - s, 0)),
    "logarithmic": (F[formulas.logarithmic], 0, (0.8,), lambda s: -np.log1p(s / LD(0.8))),
    "rational quadratic": (
        *(F[formulas.rational_quadratic], 0, (0.4, 1.3, 0.0)),
        lambda s: (1 + LD(0.4) * s) ** LD(-1.3),
    ),
    "rational quadratic less 1": (
        *(F[formulas.rational_quadratic], 0, (0.4, 1.3, 1.0)),
        lambda s: (1 + LD(0.4) * s) ** LD(-1.3) - 1,
    ),
    "exponential over distance": (
        *(F[formulas.exponential_slope], 0, (0.4,)),
        lambda s: np.where(s > 0, np.exp(-LD(0.4) * s) / np.where(s > 0, s, 1), 0),
    ),
    "inverse square": (
        *(F[formulas.inverse_square], 0, ()),
        lambda s: np.where(s > 0, 1 / np.where(s > 0, s, 1) ** 2, 0),
    ),
    "squared sine": (*(F[formulas.squared_sine], 0, (0.4,)), lambda s: np.sin(LD(0.4) * s) ** 2),
    "sine over distance": (
        *(F[formulas.sine_slope], 0, (0.4,)),
        lambda s: np.where(s > 0, np.sin(LD(0.4) * s) / np.where(s > 0, s, 1), LD(0.4)),
    ),
    "matern 3/2": (ops.MATERN_32, 0, (1.7,), lambda s: (1 + LD(1.7) * s) * np.exp(-LD(1.7) * s)),
    "matern 5/2": (
        *(ops.MATERN_52, 0, (1.7,)),
        lambda s: (1 + LD(1.7) * s + (LD(1.7) * s) ** 2 / 3) * np.exp(-LD(1.7) * s),
    ),
    "matern far": (ops.MATERN_52, 0, (1e30,), lambda s: np.where(s > 0, 0, 1)),
}
# The same on d = 0.7 s - 2, with the source s; f and e stand for factors and values from outside.
SECOND = {
    "affine in place": (ops.AFFINE_IN_PLACE, 0, (-1.5, 0.25), lambda d, s: LD(-1.5) * d + 0.25),
    "power": (ops.POWER_IN_PLACE, 3, (), lambda d, s: d**3),
    "power 0": (ops.POWER_IN_PLACE, 0, (), lambda d, s: d**0),
    "power 20": (ops.POWER_IN_PLACE, 20, (), lambda d, s: d**20),
    "add": (ops.ADD, 0, (0.3,), lambda d, s: d + LD(0.3) * s),
    "multiply": (ops.MULTIPLY, 0, (), lambda d, s: d * s),
    "ratio": (ops.RATIO, 0, (), lambda d, s: np.where(s < d, s / np.where(d == 0, 1, d), 1)),
    "clear": (ops.CLEAR, 0, (1e6,), None),
    "flush": (ops.FLUSH, 0, (), None),
    "factor": (ops.FACTOR, 1, (), None),
    "terms": (ops.TERMS, 0, (), None),
    "external": (ops.EXTERNAL, 1, (), None),
}


def program(code, parameters, primitives, n_features, n_kernels=1):
    """A program by hand, of operations and primitives (kind, start, stop, row)."""
    rows = [c[1] for c in code] + [q[3] for q in primitives]
    return Program(
        np.array(code, np.int64).reshape(-1, 4),
        np.array(parameters, np.float64).reshape(-1, 3),
        np.array(primitives, np.int64).reshape(-1, 4),
        np.arange(n_features),
        np.zeros(n_features, bool),
        factors=(),
        external=(),
        domains=(),
        n_rows=1 + max(rows),
        n_kernels=n_kernels,
        offsets=np.zeros(n_kernels),
    )


def of_operation(name, n_features=3):
    """The program of one operation: the squared distance is register 1, the output register 0."""
    op, integer, numbers, _ = SINGLE.get(name) or SECOND.get(name)
    code, parameters = [(op, 0, 1, integer)], [(*numbers, 0.0, 0.0, 0.0)[:3]]
    if name in SECOND:
        code.insert(0, (ops.AFFINE, 0, 1, 0))
        parameters.insert(0, (0.7, -2.0, 0.0))
    return program(code, parameters, [(ops.SQUARED_DISTANCE, 0, n_features, 1)], n_features)


def expected(name, s, FX, FZ, external, dtype):
    """What the operation gives for squared distances s (n, m), in long double."""
    if name in SINGLE:
        return SINGLE[name][3](s)
    d, s = LD(0.7) * s - 2, np.asarray(s, LD)
    if name == "clear":
        return np.where(np.abs(d) <= 1e6 * np.finfo(dtype).eps * s, 0, d)
    if name == "flush":
        return d
    if name == "factor":
        return d * (FX[1][:, None] * FZ[1])
    if name == "terms":
        return d + (FX[0][:, None] + FZ[0])
    if name == "external":
        return np.asarray(external[1], LD)
    return SECOND[name][3](d, s)
