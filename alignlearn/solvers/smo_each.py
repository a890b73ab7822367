"""Small problems of SMO, such as those of all pairs of classes, in one compiled call."""

from __future__ import annotations

import numpy as np

from . import smo_kernels as kernels
from .smo import LEAST_TAU, TAU

SMALL = 600
"""Samples of a problem above which setting some of them aside is faster."""
_STEPS = 100  # steps of a problem per sample; `smo` solves problems that need more


def smo_each(K, linear, reach, *, start=None, tol=1e-3, max_iter=None):
    """Minimize b'Kb/2 + linear'b with sum(b) = 0 and b between 0 and ``reach``, for each problem.

    The method is that of `alignlearn.solvers.smo.smo`, without shrinking.

    Parameters
    ----------
    K : (m, m) C-contiguous float64 or float32
    linear : (n_problems, m) float64
    reach : (n_problems, m) float64
        The finite bound other than 0; samples of reach 0 take part in no step. At most `SMALL`
        others.
    start : (m, n_problems) float64, optional
    tol : float
    max_iter : int, optional
        Steps of a problem; at most 100 for each of its samples.

    Returns
    -------
    coef : (m, n_problems) float64
    found : (n_problems, 5) float64
        Multiplier, KKT violation, objective, duality gap and steps.
    """
    problem, sample = np.nonzero(reach)
    sizes = np.bincount(problem, minlength=len(reach))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    bound = reach[problem, sample]
    start = None if start is None else start[sample, problem]
    given = sample, starts, linear[problem, sample], bound
    beta, found = smo_listed(K, *given, start=start, tol=tol, max_iter=max_iter)
    coef = np.zeros(reach.shape[::-1])
    coef[sample, problem] = beta
    return coef, found


def smo_listed(K, sample, starts, linear, bound, *, start=None, tol=1e-3, max_iter=None):
    """As `smo_each`, from the samples of each problem alone, problem by problem.

    Parameters
    ----------
    sample : (n,) int
        In increasing order for each problem.
    starts : (n_problems + 1,) int
        Where each problem starts.
    linear, bound, start : (n,) float64
        ``bound`` is not 0.

    Returns
    -------
    beta : (n,) float64
    found : (n_problems, 5) float64
    """
    sizes = np.diff(starts)
    beta = np.zeros(bound.size) if start is None else start.astype(np.float64)
    lower, upper = np.minimum(bound, 0.0), np.maximum(bound, 0.0)
    problems = sample, starts, linear, lower, upper, beta
    n = int(sizes.max(initial=0))
    buffer = np.zeros((n, -(-n // 8) * 8), dtype=K.dtype)
    last = kernels.no_direction(n)
    integers = np.zeros(n, np.int64), np.zeros(n + 1, np.int64)
    work = buffer, np.empty(7 * n), last.product, *integers, last.place, last.amount
    limits, found = np.array([tol, TAU, LEAST_TAU, 0.0]), np.empty((len(sizes), 5))
    most = _STEPS * n if max_iter is None else min(max_iter, _STEPS * n)
    kernels.solve_each(
        kernels.read_only(K), kernels.read_only(buffer), problems, work, limits, most, found
    )
    return beta, found
