"""Sequential minimal optimisation for the dual of support vector machines.

One solver serves classification and regression. With signed coefficients b = y alpha (or
alpha - alpha* for regression) both duals are

    minimise  b'Kb / 2 + q'b + epsilon |b|_1   subject to  sum(b) = 0,  lower <= b <= upper,

with lower <= 0 <= upper: q = -y, epsilon = 0 and [0, C] or [-C, 0] for classification; q = -y and
[-C, C] for epsilon-insensitive regression, which so needs m variables and K as it is, not 2 m.
Moving b_i up and b_j down by the same amount keeps the constraint. With g = Kb + q the one-sided
slopes are u_i = g_i +- epsilon (inf at the upper bound) and d_j = g_j +- epsilon (-inf at the
lower one); b is optimal exactly if max d <= min u, and max d - min u is the KKT violation m - M of
LIBSVM.

Sources: Platt (1998); Fan, Chen and Lin (2005), "Working set selection using second order
information" (the pair); Chang and Lin (2011), "LIBSVM" (shrinking and the stopping rule).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from alignlearn.validation import ConvergenceWarning

from . import smo_kernels as kernels

_ROUNDING = 64 * np.finfo(np.float64).eps  # of a coefficient, relative to the largest
_TAU = 1e-12  # least curvature of a pair; LIBSVM's value
_LEAST_STEPS = 100  # between shrinks; else m / 2, which read as much memory as undoing one
_WORTH_COMPACTING = 0.7  # share of the rows below which gathering them pays (measured)
_WORTH_COPYING = 0.54  # the same of all rows: the copy is 0.3 of the matrix


@dataclass(frozen=True)
class SMOResult:
    """Solution and certificate of one problem.

    Attributes
    ----------
    coef : (m,) float64
        Signed dual coefficients b; they sum to 0.
    multiplier : float
        Multiplier nu of sum(b) = 0; minus the intercept of the machine. Mean of the slopes of the
        variables strictly between a bound and 0 and, if there are none, the midpoint of the
        interval [max d, min u] that the optimality conditions allow.
    gradient : (m,) float64
        Kb + q.
    objective : float
        Value of the minimised function.
    duality_gap : float
        Upper bound of ``objective`` minus its minimum if K is positive semi-definite; inf where an
        infinite bound leaves the dual function unbounded at ``multiplier``.
    kkt_violation : float
        max d - min u, at least 0.
    n_iter : int
        Number of two-variable steps.
    converged : bool
        ``kkt_violation <= tol``.
    """

    coef: np.ndarray
    multiplier: float
    gradient: np.ndarray
    objective: float
    duality_gap: float
    kkt_violation: float
    n_iter: int
    converged: bool


def smo(
    K,
    linear,
    bounds,
    *,
    epsilon=0.0,
    start=None,
    tol=1e-3,
    max_iter=None,
    shrinking=True,
) -> SMOResult:
    """Minimise b'Kb/2 + linear'b + epsilon |b|_1 with sum(b) = 0 and lower <= b <= upper.

    Parameters
    ----------
    K : (m, m) C-contiguous float64 or float32
        Symmetric; used in place, neither copied whole nor modified. Need not be positive
        semi-definite: a pair of non-positive curvature moves to a bound.
    linear : (m,) float64
    bounds : pair of (m,) float64
        ``(lower, upper)`` with lower <= 0 <= upper; infinite values are allowed if the problem
        stays bounded, equal ones fix a coefficient at 0.
    epsilon : float
    start : (m,) float64, optional
        Starting point; clipped to the bounds and scaled on one side so that its sum is 0.
    tol : float
        Bound on the KKT violation.
    max_iter : int, optional
        Two-variable steps; default ``max(10**7, 100 m)`` as in LIBSVM.
    shrinking : bool
        Set aside coefficients that stay at a bound. The rows in use are then gathered into a
        buffer of at most 0.3 times the size of K; the result is checked on all coefficients.

    Returns
    -------
    SMOResult
        ``converged`` is false if the violation stays above ``tol``; nothing is raised.
    """
    lower, upper = bounds
    m = len(linear)
    if max_iter is None:
        max_iter = max(10**7, 100 * m)
    coef = np.zeros(m) if start is None else _feasible(start, lower, upper)
    problem = _Problem(_read_only(K), linear, lower, upper, float(epsilon))
    n_iter = problem.minimise(coef, tol, max_iter, shrinking)
    return _certificate(problem, n_iter, tol)


def warn_unconverged(result, tol, stacklevel=3):
    """Warn with the violation reached if the solver stopped above ``tol``."""
    if not result.converged:
        warnings.warn(
            f"SMO stopped after {result.n_iter} steps with a KKT violation of "
            f"{result.kkt_violation:.3g} > tol={tol:g}; scale the kernel, lower C, or raise "
            "max_iter or tol.",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


class _Problem:
    """The problem, the coefficients, and the part of them that is active."""

    def __init__(self, K, linear, lower, upper, epsilon):
        self.K, self.linear, self.epsilon = K, linear, epsilon
        self.diagonal = K.diagonal().astype(np.float64)
        self.lower, self.upper = lower, upper
        movable = np.flatnonzero(lower < upper)
        few = movable.size < _WORTH_COPYING * linear.size
        self.base = movable if few else np.arange(linear.size)
        self.state = None

    def minimise(self, coef, tol, max_iter, shrinking):
        """Run SMO from ``coef``; the number of steps. The result is in ``coef``, ``gradient``."""
        self.coef = coef
        self.activate_all()
        limits = np.array([tol, _TAU])
        n_iter = 0
        while True:
            before = self.state[kernels.BETA].copy()
            chunk = min(max(coef.size // 2, _LEAST_STEPS), max_iter - n_iter)
            steps, violation, _unused = kernels.iterate(
                self.active, self.state, self.epsilon, limits, chunk
            )
            n_iter += steps
            unmoved = np.array_equal(before, self.state[kernels.BETA])
            stuck = unmoved or tol < violation <= self.rounding()
            if self.shrunk and (violation <= tol or stuck):
                shrinking = shrinking and not stuck
                self.activate_all()
                violation, stuck = self.violation(), False
            if violation <= tol or n_iter >= max_iter or stuck:
                break
            if shrinking:
                self.shrink()
        self.store()
        _snap(coef, self.lower, self.upper)
        exact = self.active.index.size == coef.size
        self.gradient = self.state[kernels.GRADIENT].copy() if exact else self.full_gradient()
        return n_iter

    def rounding(self):
        """Size of the rounding errors in a gradient: no smaller violation means anything."""
        coef = np.abs(self.state[kernels.BETA]).sum()
        largest = np.abs(self.linear).max()
        return np.finfo(np.float64).eps * (coef * np.abs(self.diagonal).max() + largest)

    @property
    def shrunk(self):
        return self.active.index.size < self.base.size

    def store(self):
        self.coef[self.active.index] = self.state[kernels.BETA]

    def full_gradient(self):
        gradient = self.linear.copy()
        used = np.flatnonzero(self.coef)
        kernels.add_rows(gradient, self.K, used, self.coef[used])
        return gradient

    def activate_all(self):
        """Make all coefficients active again, with a gradient computed afresh."""
        if self.state is not None:
            self.store()
        full = np.empty((7, self.coef.size))
        full[kernels.GRADIENT] = self.full_gradient()
        full[kernels.DIAGONAL] = self.diagonal
        full[kernels.LOWER], full[kernels.UPPER] = self.lower, self.upper
        full[kernels.BETA] = self.coef
        full[kernels.UP], full[kernels.DOWN] = slopes(
            self.coef, self.lower, self.upper, self.epsilon
        )
        self.state = full
        index, filled = np.arange(self.coef.size), np.ones(self.coef.size, dtype=np.uint8)
        buffer = np.empty((0, 0), dtype=self.K.dtype)
        self.active = kernels.Active(self.K, self.K, buffer, filled, index)
        if self.base.size < self.coef.size:
            self.keep(self.base)

    def violation(self):
        up, down = self.state[0] + self.state[kernels.UP], self.state[0] + self.state[kernels.DOWN]
        return max(down.max(initial=-np.inf) - up.min(initial=np.inf), 0.0)

    def shrink(self):
        """Set aside the coefficients at a bound (or at 0) that no violating pair would move."""
        up, down = self.state[0] + self.state[kernels.UP], self.state[0] + self.state[kernels.DOWN]
        kept = np.flatnonzero((up <= down.max()) | (down >= up.min()))
        worth = _WORTH_COPYING if self.active.rows is self.K else _WORTH_COMPACTING
        if kept.size < worth * self.active.index.size:
            self.keep(kept)

    def keep(self, kept):
        """Reduce the active set to the positions ``kept`` of it."""
        self.store()
        active = self.active
        if active.rows is self.K:
            width = -(-kept.size // 8) * 8
            buffer = np.empty((kept.size, width), dtype=self.K.dtype)
            filled = np.zeros(kept.size, dtype=np.uint8)
            active = active._replace(rows=_read_only(buffer), buffer=buffer, filled=filled)
        else:
            kernels.compact_rows(active.buffer, active.filled, kept)
        self.active = active._replace(index=active.index[kept])
        self.state = np.ascontiguousarray(self.state[:, kept])


def slopes(coef, lower, upper, epsilon):
    """One-sided slopes of epsilon |b| within the bounds; +inf (up), -inf (down) where blocked."""
    up = np.where(coef >= upper, np.inf, np.where(coef < 0.0, -epsilon, epsilon))
    down = np.where(coef <= lower, -np.inf, np.where(coef > 0.0, epsilon, -epsilon))
    return up, down


def _certificate(problem, n_iter, tol):
    coef, gradient, epsilon = problem.coef, problem.gradient, problem.epsilon
    lower, upper = problem.lower, problem.upper
    up, down = slopes(coef, lower, upper, epsilon)
    low, high = (gradient + down).max(initial=-np.inf), (gradient + up).min(initial=np.inf)
    free = up == down
    if free.any():
        multiplier = float(np.mean((gradient + up)[free]))
    else:
        multiplier = float(np.mean([v for v in (low, high) if np.isfinite(v)] or [0.0]))
    penalty = epsilon * np.abs(coef).sum()
    objective = 0.5 * coef @ (gradient + problem.linear) + penalty
    violation = low - high if low > high else 0.0
    return SMOResult(
        coef=coef,
        multiplier=multiplier,
        gradient=gradient,
        objective=float(objective),
        duality_gap=_gap(coef, gradient - multiplier, bounds=(lower, upper), epsilon=epsilon),
        kkt_violation=float(violation),
        n_iter=n_iter,
        converged=bool(violation <= tol),
    )


def _gap(coef, slope, bounds, epsilon):
    """Sum over coefficients of r b + epsilon |b| minus its minimum over the bounds (each >= 0).

    For K positive semi-definite this is the objective minus the Lagrange dual function at nu, with
    r = Kb + q - nu: no cancellation, since every term is non-negative.
    """
    lower, upper = bounds
    least = np.minimum(_least(epsilon - slope, -lower), _least(epsilon + slope, upper))
    return float(np.sum(slope * coef + epsilon * np.abs(coef) - least))


def _least(rate, length):
    """Minimum of rate t over 0 <= t <= length; -inf if the length is infinite and rate < 0."""
    return np.multiply(rate, length, where=rate < 0.0, out=np.zeros_like(rate))


def _snap(coef, lower, upper):
    """Put coefficients within rounding of a bound, or of 0, exactly there, in place.

    Where all of them belong there, one that is off by rounding would count as free and decide the
    multiplier, which the optimality conditions only keep to an interval.
    """
    near = _ROUNDING * np.abs(coef).max(initial=0.0)
    for end in (np.zeros_like(coef), lower, upper):
        close = np.abs(coef - end) <= near
        coef[close] = end[close]


def _feasible(start, lower, upper):
    coef = np.clip(np.asarray(start, dtype=np.float64), lower, upper)
    excess = coef.sum()
    side = coef > 0.0 if excess > 0.0 else coef < 0.0
    total = coef[side].sum()
    if total != 0.0:
        coef[side] *= 1.0 - excess / total
    return coef


def _read_only(K):
    """A read-only view, of the one array type that the loops are compiled for."""
    K = K.view(np.ndarray)
    K.flags.writeable = False
    return K
