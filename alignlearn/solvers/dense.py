"""Small dense systems that may be singular to working precision."""

from __future__ import annotations

import numpy as np


def solve_or_least_squares(A, b):
    """Solve ``A x = b``, or where A is singular take the least-squares solution of least norm."""
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(A, b, rcond=None)[0]


def factor_damped(A, share=1e-8):
    """Cholesky factor, for ``scipy.linalg.lapack.dpotrs``, of A plus a share of its mean diagonal.

    The share grows by hundreds where A is not definite by more than that (indefinite kernels, or
    rounding of ill-conditioned ones). A is symmetric, in C order, and not modified.
    """
    from scipy.linalg import lapack

    unit = max(abs(float(np.trace(A))) / len(A), float(np.abs(A).max()) * 1e-8, 1e-300)
    while True:
        damped = A.copy()
        damped.flat[:: len(A) + 1] += share * unit
        factor, info = lapack.dpotrf(damped.T, lower=1, overwrite_a=1, clean=0)
        if not info or share * unit > 1e300:
            return factor
        share *= 100.0
