"""Dual coordinate descent for linear support vector machines without an intercept.

With signed coefficients b = y alpha and w = X'b the dual is

    minimize  |w|^2 / 2 - y'b + sum_i d_i b_i^2 / 2   subject to  0 <= y_i b_i <= u_i,

with u_i = C_i and d_i = 0 for the hinge loss, u_i = inf and d_i = 1 / (2 C_i) for its square. One
coefficient at a time moves to its minimum, which costs one product with a row and one addition of
the row to w. No pair of samples is computed.

`alignlearn.solvers.hinge_dual` uses the same passes with an intercept, b_0 + c sum(b_i), which
comes from a constant feature c^(1/2) and a fixed part b_0. Here both are 0.

Source: Hsieh, Chang, Lin, Keerthi and Sundararajan (2008), "A dual coordinate descent method for
large-scale linear SVM", algorithm 3 (random order and shrinking).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from alignlearn._jit import jit, jit_sum
from alignlearn._text import Result
from alignlearn.validation import is_sparse, warn_unconverged

LOSSES = ("hinge", "squared-hinge")
PART = 10**8  # products between two checks for Ctrl-C, a tenth of a second
_VISIT = 50  # cost of a visit besides its product, in products, out of cache


@dataclass(frozen=True)
class DualCDResult(Result):
    """Solution and certificate of one problem.

    Attributes
    ----------
    coef : (m,) float64
        Signed dual coefficients b.
    w : (d,) float64
        X'b, the weights of the features.
    objective : float
        Value of the minimized function, the negative dual function.
    duality_gap : float
        Primal minus dual function at (w, b), an upper bound of the distance of both from the
        optimum.
    kkt_violation : float
        Largest absolute value of the projected gradient.
    n_iter : int
        Passes over the active coefficients.
    converged : bool
        ``kkt_violation <= tol``.
    """

    coef: np.ndarray
    w: np.ndarray
    objective: float
    duality_gap: float
    kkt_violation: float
    n_iter: int
    converged: bool

    def warn_unconverged(self, tol):
        """Warn with the violation reached if the solver stopped above ``tol``."""
        if not self.converged:
            remedy = "scale the features, lower C, or raise max_iter or tol"
            reached = "a projected gradient of", self.kkt_violation
            solver = "Dual coordinate descent"
            warn_unconverged(solver, f"{self.n_iter} passes", *reached, tol, remedy)


class Rows(NamedTuple):
    """Rows of a matrix; without ``indices``, contiguous dense rows."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


class Walk(NamedTuple):
    """The state of the passes between two calls of `_iterate`."""

    order: np.ndarray  # order of the coefficients; active ones come first
    place: np.ndarray  # numbers of active ones, of those visited in this pass, of those kept
    limits: np.ndarray  # extreme projected gradients of the previous pass, and of this one


class Problem(NamedTuple):
    """By sample: label, upper bound of alpha, diagonal added to that of XX', and their sum."""

    sign: np.ndarray
    upper: np.ndarray
    added: np.ndarray
    curvature: np.ndarray


def dual_coordinate_descent(
    X, sign, cost, *, loss="hinge", tol=1e-3, max_iter=10_000, rng=None
) -> DualCDResult:
    """Minimize ``|w|^2 / 2 + sum_i cost_i loss(1 - sign_i w'x_i)`` through its dual.

    Parameters
    ----------
    X : (m, d) float64, C-contiguous, or CSR matrix
        Not modified.
    sign : (m,) float64
        Labels -1 and +1.
    cost : (m,) float64
        Finite and >= 0; samples of cost 0 are omitted.
    loss : {"hinge", "squared-hinge"}
    tol : float
        Bound on the projected gradient, in units of the margin.
    max_iter : int
        Passes.
    rng : numpy.random.Generator, optional
        Of the orders; default the seed 0.

    Returns
    -------
    DualCDResult
        ``converged`` is false if the violation stays above ``tol``; nothing is raised.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    rows = _rows(X)
    problem = _problem(rows, sign, cost, loss)
    alpha, w, intercept = np.zeros(len(sign)), np.zeros(X.shape[1]), np.zeros(3)
    everything = np.flatnonzero(cost > 0.0)
    limits = np.array([np.inf, -np.inf, 0.0, 0.0])
    walk = Walk(everything, np.array([everything.size, 0, 0]), limits)
    n_iter, goal, part = 0, tol, visits(len(rows.data) / len(sign))
    while n_iter < max_iter and everything.size:
        # The work is divided into parts, so that Ctrl-C is handled between them.
        options = goal, part, max_iter - n_iter
        steps, violation = _iterate(rows, problem, (alpha, w, intercept), walk, options, rng)
        n_iter += steps
        if violation > goal:
            continue
        # The passes measured the violation while w changed; the result has that of the final w.
        found = _certificate(X, problem, alpha, n_iter, tol)
        if found.converged or violation == 0.0:
            return found
        goal, w = 0.5 * goal, found.w
    return _certificate(X, problem, alpha, n_iter, tol)


def visits(width):
    """Visited coefficients, with rows of ``width`` entries, between two checks for Ctrl-C."""
    return max(1, int(PART / (width + _VISIT)))


def _rows(X):
    if is_sparse(X):
        return Rows(X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data)
    return dense_rows(X)


def dense_rows(X):
    """The `Rows` of a C-contiguous array, which is not copied."""
    starts = np.arange(X.shape[0] + 1, dtype=np.int64) * X.shape[1]
    data = X.ravel().view()
    data.flags.writeable = False  # one array type, hence one compilation
    return Rows(starts, np.empty(0, dtype=np.int64), data)


def _problem(rows, sign, cost, loss):
    if loss == "hinge":
        upper, added = cost, np.zeros(len(cost))
    else:
        upper = np.where(cost > 0.0, np.inf, 0.0)
        added = np.divide(0.5, cost, where=cost > 0.0, out=np.zeros(len(cost)))
    return Problem(sign, upper, added, squares(rows) + added)


def _certificate(X, problem, alpha, n_iter, tol):
    coef = problem.sign * alpha
    w = np.asarray(X.T @ coef, dtype=np.float64)
    slope = problem.sign * np.asarray(X @ w) - 1.0
    gradient = slope + problem.added * alpha
    downward = np.where(alpha > 0.0, np.maximum(gradient, 0.0), 0.0)
    upward = np.where(alpha < problem.upper, np.minimum(gradient, 0.0), 0.0)
    violation = float(np.max(downward - upward, initial=0.0))
    # For each sample, loss plus conjugate minus their product: a sum of terms >= 0.
    excess, hinge = np.maximum(-slope, 0.0), problem.added == 0.0
    linear = (np.where(hinge, problem.upper, 0.0) - alpha) * excess
    square = np.square(excess - problem.added * alpha)
    square = np.divide(0.5 * square, problem.added, where=~hinge, out=linear.copy())
    gap = alpha * np.maximum(slope, 0.0) + square
    return DualCDResult(
        coef=coef,
        w=w,
        objective=float(0.5 * w @ w - alpha.sum() + 0.5 * (problem.added * alpha) @ alpha),
        duality_gap=float(gap.sum()),
        kkt_violation=violation,
        n_iter=n_iter,
        converged=violation <= tol,
    )


@jit_sum
def _product(rows, i, w):
    """Row i times w."""
    first, last = rows.indptr[i], rows.indptr[i + 1]
    total = 0.0
    if rows.indices.size:
        for k in range(first, last):
            total += rows.data[k] * w[rows.indices[k]]
    else:
        x = rows.data[first:last]
        for k in range(x.size):
            total += x[k] * w[k]
    return total


@jit_sum
def _add_row(rows, i, step, w):
    """w += step times row i."""
    first, last = rows.indptr[i], rows.indptr[i + 1]
    if rows.indices.size:
        for k in range(first, last):
            w[rows.indices[k]] += step * rows.data[k]
    else:
        x = rows.data[first:last]
        for k in range(x.size):
            w[k] += step * x[k]


@jit_sum.owning
def squares(rows):
    """Squared norms of the rows."""
    out = np.zeros(rows.indptr.size - 1)
    for i in range(out.size):
        total = 0.0
        x = rows.data[rows.indptr[i] : rows.indptr[i + 1]]
        for k in range(x.size):
            total += np.float64(x[k]) * np.float64(x[k])
        out[i] = total
    return out


@jit.owning
def _iterate(rows, problem, state, walk, options, rng):
    """Visit coefficients in random orders; return (passes, violation in the last pass or inf).

    ``state`` is as for `sweep`; ``options`` are the goal, the maximum number of visits and of
    passes. The iteration continues from the state, and ends when a pass over all coefficients meets
    the goal.
    """
    goal, n_visits, n_passes = options
    order, place, limits = walk
    passes = 0
    while n_visits > 0 and passes < n_passes:
        active, done, kept = place
        if done == 0:
            for k in range(active - 1, 0, -1):
                other = int(rng.random() * (k + 1))
                order[k], order[other] = order[other], order[k]
        end = min(active, done + n_visits)
        some = order[done:end]
        n, high, low = sweep(rows, problem, state, some, (limits[0], limits[1]))
        for k in range(n):
            order[kept + k], some[k] = some[k], order[kept + k]
        limits[2], limits[3] = max(limits[2], high), min(limits[3], low)
        place[1], place[2] = end, kept + n
        n_visits -= end - done
        if end < active:
            break
        passes += 1
        whole, high, low = active == order.size, limits[2], limits[3]
        met = high - low <= goal
        limits[:] = np.array([np.inf, -np.inf, 0.0, 0.0])
        place[0], place[1], place[2] = kept + n, 0, 0
        if met:
            place[0] = order.size
        else:
            limits[0] = high if high > 0.0 else np.inf
            limits[1] = low if low < 0.0 else -np.inf
        if met and whole:
            return passes, high - low
    return passes, np.inf


@jit
def sweep(rows, problem, state, order, limits):
    """Move each coefficient of ``order`` to its minimum, or deactivate it.

    A coefficient at a bound is deactivated if its gradient is beyond ``limits``, the largest and
    the smallest projected gradient of the previous pass. Active ones then come first in ``order``.
    ``state`` is alpha, w and (b_0, c, sum of the signed coefficients).

    Returns
    -------
    (number of active ones, largest projected gradient or 0, smallest projected gradient or 0)
    """
    alpha, w, intercept = state
    kept, high, low = 0, 0.0, 0.0
    for k in range(order.size):
        i = order[k]
        old, upper, sign = alpha[i], problem.upper[i], problem.sign[i]
        value = _product(rows, i, w) + intercept[0] + intercept[1] * intercept[2]
        gradient = sign * value - 1.0 + problem.added[i] * old
        if (old == 0.0 and gradient > limits[0]) or (old == upper and gradient < limits[1]):
            continue
        order[k], order[kept] = order[kept], i
        kept += 1
        if old == 0.0:
            gradient = min(gradient, 0.0)
        elif old == upper:
            gradient = max(gradient, 0.0)
        high, low = max(high, gradient), min(low, gradient)
        if gradient != 0.0:
            new = min(max(old - gradient / problem.curvature[i], 0.0), upper)
            alpha[i] = new
            _add_row(rows, i, (new - old) * sign, w)
            intercept[2] += (new - old) * sign
    return kept, high, low
