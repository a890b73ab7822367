"""Programs for the tests of CUDA code: one of each operation, and families of kernels."""

import numpy as np
import pytest
from numba import config

from alignlearn.engine import program as ops
from alignlearn.engine.program import Program

SIMULATED = bool(config.ENABLE_CUDASIM)


def _device_there():
    from numba import cuda

    return SIMULATED or cuda.is_available()


needs_cuda = pytest.mark.skipif(
    not _device_there(),
    reason="no CUDA device; NUMBA_ENABLE_CUDASIM=1 runs these tests in the simulator",
)

P, D, S = ops.SQUARED_DISTANCE, 1, 2  # the primitive read, and the registers of a small program

# Operations on a squared distance (register 1) into register 0: (opcode, integer, numbers).
SINGLE = {
    "exp": (ops.EXP, 0, (-0.3,)),
    "exp beyond its range": (ops.EXP, 0, (150.0,)),
    "exp below its range": (ops.EXP, 0, (-300.0,)),
    "expm1": (ops.EXPM1, 0, (-1e-3,)),
    "expm1 beyond its range": (ops.EXPM1, 0, (150.0,)),
    "expm1 below its range": (ops.EXPM1, 0, (-300.0,)),
    "square": (ops.SQUARE, 1, ()),
    "square twice": (ops.SQUARE, 2, ()),
    "square shifted": (ops.SQUARE_SHIFTED, 1, ()),
    "square shifted three times": (ops.SQUARE_SHIFTED, 3, ()),
    "square unshift": (ops.SQUARE_UNSHIFT, 1, ()),
    "square unshift twice": (ops.SQUARE_UNSHIFT, 2, ()),
    "affine": (ops.AFFINE, 0, (0.7, -2.0)),
    "polynomial": (ops.POLYNOMIAL, 0, (0.5, 1.0, 2.5)),
    "binomial": (ops.BINOMIAL, 0, (0.05, 1.5)),
    "sigmoid": (ops.SIGMOID, 0, (0.3, -0.5)),
    "tl1": (ops.TL1, 0, (4.0,)),
    "logarithmic": (ops.LOGARITHMIC, 0, (0.8,)),
    "rational quadratic": (ops.RATIONAL_QUADRATIC, 0, (0.4, 1.3, 0.0)),
    "rational quadratic less 1": (ops.RATIONAL_QUADRATIC, 0, (0.4, 1.3, 1.0)),
    "matern 3/2": (ops.MATERN_32, 0, (1.7,)),
    "matern 5/2": (ops.MATERN_52, 0, (1.7,)),
    "matern far": (ops.MATERN_52, 0, (1e30,)),
    "external": (ops.EXTERNAL, 1, ()),
}
# The same after register 0 was set to 0.7 s - 2.
SECOND = {
    "affine in place": (ops.AFFINE_IN_PLACE, 0, (-1.5, 0.25)),
    "power": (ops.POWER_IN_PLACE, 3, ()),
    "power 0": (ops.POWER_IN_PLACE, 0, ()),
    "power 20": (ops.POWER_IN_PLACE, 20, ()),
    "add": (ops.ADD, 0, (0.3,)),
    "multiply": (ops.MULTIPLY, 0, ()),
    "factor": (ops.FACTOR, 1, ()),
    "terms": (ops.TERMS, 0, ()),
    "flush": (ops.FLUSH, 0, ()),
    "clear": (ops.CLEAR, 0, (1e6,)),
}
OPERATIONS = [*SINGLE, *SECOND]


def program(code, parameters, primitives, n_features, n_kernels=1, n_rows=None):
    """A program by hand, of operations and (kind, start, stop, row)."""
    rows = 1 + max([0, *(c[1] for c in code), *(q[3] for q in primitives)])
    return Program(
        np.array(code, np.int64).reshape(-1, 4),
        np.array(parameters, np.float64).reshape(-1, 3),
        np.array(primitives, np.int64).reshape(-1, 4),
        np.arange(n_features),
        np.zeros(n_features, bool),
        (),
        (),
        (),
        rows if n_rows is None else n_rows,
        n_kernels,
        np.zeros(n_kernels),
    )


def of_operation(name, n_features=3):
    """The program of one operation of ``OPERATIONS``."""
    op, integer, numbers = SINGLE.get(name) or SECOND.get(name)
    code, parameters = [(op, 0, 1, integer)], [(*numbers, 0.0, 0.0, 0.0)[:3]]
    if name in SECOND:
        scale = 1e-19 if name == "flush" else 1.0
        code.insert(0, (ops.AFFINE, 0, 1, 0))
        parameters.insert(0, (0.7 * scale, -2.0 * scale, 0.0))
    return program(code, parameters, [(P, 0, n_features, 1)], n_features)
