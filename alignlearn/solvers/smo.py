"""Sequential minimal optimization for the dual of support vector machines.

One solver serves classification and regression. With signed coefficients b = y alpha (or
alpha - alpha* for regression) both duals are

    minimize  b'Kb / 2 + q'b + epsilon |b|_1   subject to  sum(b) = 0,  lower <= b <= upper,

with lower <= 0 <= upper: q = -y, epsilon = 0 and [0, C] or [-C, 0] for classification; q = -y and
[-C, C] for epsilon-insensitive regression, which therefore needs m variables and K itself, not 2 m
variables. Moving b_i up and b_j down by the same amount keeps the constraint. With g = Kb + q the
one-sided slopes are u_i = g_i +- epsilon (inf at the upper bound) and d_j = g_j +- epsilon (-inf at
the lower one); b is optimal exactly if max d <= min u, and max d - min u is the KKT violation m - M
of LIBSVM.

Sources: Platt (1998); Fan, Chen and Lin (2005), "Working set selection using second order
information" (the pair); Chang and Lin (2011), "LIBSVM" (shrinking and the stopping rule).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from alignlearn._text import Result
from alignlearn.validation import warn_unconverged

from . import smo_kernels as kernels
from .smo_rows import MatrixRows

_CUSHION, _FEWEST = 1.25, 1000  # of a working set: times the violating variables, and at least
_NEAR = 0.7  # share of variables with an exact gradient above which all get one
_LARGE = 2000  # samples above which the start is the solution on a subsample, if there is no matrix
# Minimum curvature of a pair, in units of its first diagonal entry, as in LIBSVM for a kernel of
# ones. If that entry is 0, a smaller minimum in units of the whole matrix, because entries may
# differ much.
TAU, LEAST_TAU = 1e-12, 1e-20
SMALL = 600  # samples of a problem above which setting some of them aside is faster
_STEPS = 100  # steps of a small problem per sample; `smo` solves problems that need more


@dataclass(frozen=True)
class SMOResult(Result):
    """Solution and certificate of one problem.

    Attributes
    ----------
    coef : (m,) float64
        Signed dual coefficients b; they sum to 0.
    multiplier : float
        Multiplier nu of sum(b) = 0, the negative intercept of the machine. Mean of the slopes of
        the variables strictly between a bound and 0 and, if there are none, the midpoint of the
        interval [max d, min u] that the optimality conditions allow.
    gradient : (m,) float64
        Kb + q; from rows in float32 if b is 0 and the slack is far above their rounding error.
    objective : float
        Value of the minimized function.
    duality_gap : float
        Upper bound of ``objective`` minus its minimum if K is positive semi-definite; inf if the
        dual function is unbounded at ``multiplier`` because of an infinite bound.
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

    def warn_unconverged(self, tol):
        """Warn with the violation reached if the solver stopped above ``tol``."""
        if not self.converged:
            remedy = "scale the kernel, lower C, or raise max_iter or tol"
            reached = "a KKT violation of", self.kkt_violation
            warn_unconverged("SMO", f"{self.n_iter} steps", *reached, tol, remedy)


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
    """Minimize b'Kb/2 + linear'b + epsilon |b|_1 with sum(b) = 0 and lower <= b <= upper.

    Parameters
    ----------
    K : (m, m) C-contiguous float64 or float32, MatrixRows or RowCache
        Symmetric; used in place, neither copied whole nor modified. Need not be positive
        semi-definite: a pair of non-positive curvature moves to a bound. `MatrixRows` are rows of
        some samples. If the matrix is too expensive, a `RowCache` computes rows. The solver then
        optimizes variables that violate the optimality conditions, or nearly do, as many as fit
        into the cache, until none does. With many samples, it starts from the solution on a quarter
        of them.
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
        Maximum number of two-variable steps. Default: ``max(10**7, 100 m)``, as in LIBSVM.
    shrinking : bool
        Deactivate coefficients that stay at a bound. The rows in use are then gathered into a
        buffer of at most 0.3 times the size of K; the result is checked on all coefficients.

    Returns
    -------
    SMOResult
        ``converged`` is false if the violation stays above ``tol``; nothing is raised.
    """
    unit = unit_of(linear, epsilon)
    if unit != 1.0:
        start = None if start is None else np.asarray(start, dtype=np.float64) / unit
        linear, bounds, epsilon = divided(linear, bounds, epsilon, unit)
    limits = tol / unit, max(10**7, 100 * len(linear)) if max_iter is None else max_iter
    return multiplied(_solved(K, linear, bounds, epsilon, start, limits, shrinking), unit)


def unit_of(values, other=0.0):
    """A power of two close to the largest absolute value: in such units no square overflows."""
    largest = max(float(np.abs(values).max(initial=0.0)), float(other))
    return math.ldexp(1.0, min(max(math.frexp(largest)[1] - 1, -1000), 1000)) if largest else 1.0


def divided(linear, bounds, epsilon, unit):
    """A problem in other units of the slopes, and therefore of the coefficients."""
    with np.errstate(over="ignore"):  # a bound larger than all numbers is no bound
        return linear / unit, (bounds[0] / unit, bounds[1] / unit), epsilon / unit


def multiplied(result, unit):
    """The result of such a problem in the original units."""
    if unit == 1.0:
        return result
    with np.errstate(over="ignore"):
        return replace(
            result,
            coef=result.coef * unit,
            multiplier=result.multiplier * unit,
            gradient=result.gradient * unit,
            objective=result.objective * unit * unit,
            duality_gap=result.duality_gap * unit * unit,
            kkt_violation=result.kkt_violation * unit,
        )


def _solved(K, linear, bounds, epsilon, start, limits, shrinking):
    """The solution in units in which slopes are of order 1; limits are tol and max_iter."""
    gram = MatrixRows(K) if isinstance(K, np.ndarray) else K
    start = None if start is None else _feasible(start, *bounds)
    problem, n_iter = _minimized(gram, linear, bounds, float(epsilon), start, limits, shrinking)
    problem.make_exact()
    if not gram.exact:
        gram.warn_slow()
    return _certificate(problem, n_iter, limits[0])


def _minimized(gram, linear, bounds, epsilon, coef, limits, shrinking=True, exact=True):
    """A solved `_Problem` and its steps; if not ``exact``, to the precision of the stored rows."""
    (tol, max_iter), n_before = limits, 0
    if coef is None:
        coef = np.zeros(len(linear))
        if not gram.exact and len(linear) > _LARGE:
            n_before = _nested_start(coef, gram, linear, bounds, epsilon, limits)
    problem = _Problem(gram, linear, *bounds, epsilon, exact)
    n_iter = problem.minimize(coef, tol, max(max_iter - n_before, 0), shrinking)
    return problem, n_before + n_iter


class _Problem:
    """The problem, the coefficients, and the part of them that is active."""

    def __init__(self, gram, linear, lower, upper, epsilon, exact):
        self.gram, self.linear, self.epsilon, self.exact = gram, linear, epsilon, exact
        self.lower, self.upper = lower, upper
        self.state, self.drift, self.working = None, np.inf, []
        self.least = LEAST_TAU * gram.scale

    def minimize(self, coef, tol, max_iter, shrinking):
        """Run SMO from ``coef``, update ``coef`` and ``gradient``; return the number of steps."""
        self.coef, self.tol = coef, tol
        self.gradient, self.included = self.linear.copy(), np.zeros(coef.size)
        self.rough, n_iter = False, 0
        if coef.any():
            self.update_gradient()
        # Bounds of 0 on one side, such as a tiny C in the units of the targets, leave only 0.
        movable = (self.lower < 0.0).any() and (self.upper > 0.0).any()
        # With a matrix, the first pass shows whether a step is needed at all.
        if movable and (self.gram.exact or self.violation() > tol):
            n_iter = self.descend(max_iter, shrinking)
            self.store()
        _snap(coef, self.lower, self.upper)
        self.update_gradient()
        return n_iter

    def descend(self, max_iter, shrinking):
        """Take steps until the largest violation is within ``tol``; return their number."""
        tol, n_iter = self.tol, 0
        self.activate()
        while True:
            before = self.state[kernels.BETA].copy()
            chunk = min(self.gram.steps_between_shrinks, max_iter - n_iter)
            steps, violation = self.steps(chunk)
            n_iter += steps
            unmoved = np.array_equal(before, self.state[kernels.BETA])
            stuck = unmoved or tol < violation <= self.rounding(self.state[kernels.BETA])
            if (self.shrunk or not self.gram.exact) and (violation <= tol or stuck):
                shrinking = shrinking and not stuck
                violation, stuck = self.check(stuck)
                if violation > tol:
                    self.activate()
            if violation <= tol or n_iter >= max_iter or stuck:
                return n_iter
            if shrinking:
                self.shrink()

    def steps(self, most):
        """Take at most ``most`` steps on active variables; return (their number, violation)."""
        # The rounding error of the rows must not undo a solution of the active part.
        tol = self.tol if self.gram.exact else 0.8 * self.tol
        done, limits = 0, np.array([tol, TAU, self.least, self.epsilon])
        while True:
            n, violation, missing = kernels.iterate(
                self.gram.active, self.state, self.last, limits, most - done
            )
            done += n
            if missing < 0:
                return done, violation
            self.gram.load(missing, self.urgency(tol))

    def urgency(self, tol):
        """The violation of the optimality conditions by each active variable, if more than tol."""
        up, down = self.sided()
        worst = np.maximum(down.max() - up, down - up.min())
        return np.where(worst > tol, worst, 0.0)

    def sided(self):
        gradient, up, down = self.state[[kernels.GRADIENT, kernels.UP, kernels.DOWN]]
        return gradient + up, gradient + down

    def rounding(self, coef):
        """Size of the rounding errors in a gradient; smaller violations are not significant."""
        size = np.abs(coef).sum() * np.abs(self.gram.diagonal).max() + np.abs(self.linear).max()
        return np.finfo(np.float64).eps * size

    @property
    def shrunk(self):
        return self.gram.index.size < self.n_activated

    def store(self):
        self.coef[self.gram.index] = self.state[kernels.BETA]

    def update_gradient(self):
        """Bring the gradient of all variables up to date with the coefficients."""
        if self.state is not None and self.gram.exact and self.gram.index.size == self.coef.size:
            self.gradient = self.state[kernels.GRADIENT].copy()
        else:
            change = self.coef - self.included
            moved = np.flatnonzero(change)
            if moved.size:
                self.gram.add_products(self.gradient, moved, change[moved])
                self.rough = self.gram.keeps_all
        self.included = self.coef.copy()

    def make_exact(self):
        """Recompute the gradient of variables that matter and whose rows were too inaccurate.

        A variable at 0 that is far from a violation does not matter. It keeps the gradient of the
        stored rows if the errors of the others are small enough.
        """
        if not self.rough:
            return
        used, before = np.flatnonzero(self.coef), self.gradient.copy()
        near = (self.coef != 0.0) | (_slack(*self.one_sided()) < self.far())
        parts = [np.flatnonzero(near), np.flatnonzero(~near)]
        if parts[0].size > _NEAR * near.size:
            parts = [np.arange(near.size)]
        for index in parts:
            exact = self.linear[index]
            self.gram.exact_products(exact, used, self.coef[used], index)
            self.gradient[index] = exact
            # An eighth of `far`: the errors of the other rows are at most 1.2 times as large
            # (measured).
            if np.abs(exact - before[index]).max(initial=0.0) <= 0.25 * self.tol:
                break
        self.rough = False

    def far(self):
        """Slack above which rounding of the rows cannot make a variable at 0 violate."""
        size = np.sqrt(np.abs(self.gram.diagonal))
        return 2.0 * self.tol * np.maximum(1.0, size / (size.mean() or 1.0))

    def check(self, stuck):
        """Violation among all variables; whether a stuck part allows no further attempt."""
        self.store()
        idle = not self.shrunk and self.gram.finest and np.array_equal(self.coef, self.included)
        self.update_gradient()
        violation, drift = self.violation(), self.drifted()
        enough = violation > self.tol or not self.exact
        if enough and self.rough and not stuck and drift <= 0.1 * self.tol:
            return violation, False
        self.make_exact()
        drift = self.drifted()
        # Rounding of the rows may prevent a solution of the active part.
        if stuck or drift > max(0.1 * self.tol, 0.25 * self.drift):
            self.gram.refine()
        self.drift, violation = drift, self.violation()
        return violation, stuck and (idle or violation <= self.rounding(self.coef))

    def drifted(self):
        """Distance of the gradient of the active variables from the one that steps updated."""
        return np.abs(self.gradient[self.gram.index] - self.state[kernels.GRADIENT]).max()

    def violation(self):
        """The violation among all variables, by a gradient that is up to date."""
        return _violation(*self.one_sided())

    def one_sided(self):
        """The one-sided slopes of all variables, by a gradient that is up to date."""
        up, down = slopes(self.coef, self.lower, self.upper, self.epsilon)
        return self.gradient + up, self.gradient + down

    def activate(self):
        """Make all coefficients active, or those that are to be optimized next."""
        full = np.empty((7, self.coef.size))
        full[kernels.GRADIENT] = self.gradient
        full[kernels.DIAGONAL] = self.gram.diagonal
        full[kernels.LOWER], full[kernels.UPPER] = self.lower, self.upper
        full[kernels.BETA] = self.coef
        full[kernels.UP], full[kernels.DOWN] = slopes(
            self.coef, self.lower, self.upper, self.epsilon
        )
        self.state = full
        index = self.gram.activate(self.working_set())
        self._take(full, index)
        self.n_activated, self.working = index.size, index

    def working_set(self):
        """The variables that are not fixed or, of many without a matrix, those that may move.

        These are the variables that violate the optimality conditions, some of those closest to a
        violation (because slopes change with every step), the previous ones, and the most violating
        pair.
        """
        movable = np.flatnonzero(self.lower < self.upper)
        if self.gram.exact:
            return movable
        up, down = self.sided()
        slack = _slack(up, down)[movable]
        chosen = np.isin(movable, self.working)  # rows of these are available
        n_new = np.count_nonzero(slack[~chosen] < self.tol)
        size = np.count_nonzero(chosen) + int(_CUSHION * n_new) + 2
        if size <= self.gram.most:
            slack[chosen] = -np.inf
        size = min(max(size, _FEWEST), self.gram.most)
        if size >= movable.size:
            return movable
        slack[np.searchsorted(movable, [up.argmin(), down.argmax()])] = -np.inf
        return movable[np.sort(np.argpartition(slack, size)[:size])]

    def shrink(self):
        """Set aside the coefficients at a bound (or at 0) that no violating pair would move."""
        up, down = self.sided()
        kept = np.flatnonzero((up <= down.max()) | (down >= up.min()))
        if self.gram.worth_keeping(kept.size):
            self.keep(kept)

    def keep(self, kept):
        """Reduce the active set to its positions ``kept``."""
        self.store()
        self.gram.keep(kept)
        self._take(self.state, kept)

    def _take(self, state, index):
        """Continue with some of the variables of a state."""
        everything = self.gram.exact and index.size == state.shape[1]  # a cache has its own order
        self.state = state if everything else state.take(index, axis=1)
        self.last = kernels.no_direction(index.size)


def _violation(up, down):
    # Python floats, whose difference may overflow (to no violation) without a warning.
    return max(float(down.max(initial=-np.inf)) - float(up.min(initial=np.inf)), 0.0)


def _multiplier(up, down):
    """Mean slope of free variables, else the middle of the interval of one-sided slopes."""
    free = up == down
    if free.any():
        return float(np.mean(up[free]))
    ends = down.max(initial=-np.inf), up.min(initial=np.inf)
    return float(np.mean([v for v in ends if np.isfinite(v)] or [0.0]))


def _slack(up, down):
    """How far variables are from violating the optimality conditions."""
    level = _multiplier(up, down)
    return np.minimum(up - level, level - down)


def slopes(coef, lower, upper, epsilon):
    """One-sided slopes of epsilon |b| within the bounds; +inf (up), -inf (down) where blocked."""
    if epsilon == 0.0:
        return np.where(coef >= upper, np.inf, 0.0), np.where(coef <= lower, -np.inf, 0.0)
    up = np.where(coef >= upper, np.inf, np.where(coef < 0.0, -epsilon, epsilon))
    down = np.where(coef <= lower, -np.inf, np.where(coef > 0.0, epsilon, -epsilon))
    return up, down


def _certificate(problem, n_iter, tol):
    coef, gradient, epsilon = problem.coef, problem.gradient, problem.epsilon
    lower, upper = problem.lower, problem.upper
    up, down = (gradient + s for s in slopes(coef, lower, upper, epsilon))
    multiplier = _multiplier(up, down)
    penalty = epsilon * np.abs(coef).sum()
    objective = 0.5 * coef @ (gradient + problem.linear) + penalty
    violation = _violation(up, down)
    return SMOResult(
        coef=coef,
        multiplier=multiplier,
        gradient=gradient,
        objective=float(objective),
        duality_gap=_gap(coef, gradient - multiplier, bounds=(lower, upper), epsilon=epsilon),
        kkt_violation=violation,
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
    """Minimum of rate * t over 0 <= t <= length; -inf if the length is infinite and rate < 0."""
    return np.multiply(rate, length, where=rate < 0.0, out=np.zeros_like(rate))


def _snap(coef, lower, upper):
    """Put coefficients within rounding of a bound, or of 0, exactly there, in place.

    If all coefficients belong at a bound, one that is off by rounding would count as free and
    determine the multiplier, for which the optimality conditions only give an interval.
    """
    near = kernels.ROUNDING * np.abs(coef).max(initial=0.0)
    for end in (np.zeros_like(coef), lower, upper):
        close = np.abs(coef - end) <= near
        coef[close] = end[close]


def _feasible(start, lower, upper):
    coef = np.clip(np.asarray(start, dtype=np.float64), lower, upper)
    excess = coef.sum()
    if abs(excess) <= kernels.ROUNDING * np.abs(coef).sum():
        return coef  # scaling would move coefficients away from their bounds
    side = coef > 0.0 if excess > 0.0 else coef < 0.0
    total = coef[side].sum()
    if total != 0.0:
        coef[side] *= 1.0 - excess / total
    return coef


def _nested_start(coef, gram, linear, bounds, epsilon, limits):
    """Solve the problem on a quarter of the samples into ``coef``; return the steps."""
    m, (tol, max_iter) = len(linear), limits
    index = np.sort(np.random.default_rng(0).permutation(m)[: m // 4])
    bounds, limits = (bounds[0][index], bounds[1][index]), (10.0 * tol, max_iter)
    given = gram.subset(index), linear[index], bounds, epsilon, None, limits
    part, n_iter = _minimized(*given, exact=False)
    coef[index] = part.coef
    return n_iter


def smo_listed(K, sample, starts, linear, bound, *, start=None, tol=1e-3, max_iter=None):
    """Minimize b'Kb/2 + linear'b with sum(b) = 0 and b between 0 and ``bound``, for each problem.

    All in one compiled call, by the method of `smo` without shrinking: for small problems, such as
    those of all pairs of classes.

    Parameters
    ----------
    K : (m, m) C-contiguous float64 or float32
    sample : (n,) int
        Samples of each problem, problem by problem, in increasing order; at most `SMALL` each.
    starts : (n_problems + 1,) int
        Where each problem starts.
    linear : (n,) float64
    bound : (n,) or (n_values, n) float64
        The finite bound other than 0. Problems with several values of it are solved one after the
        other, each started from the solution before.
    start : (n,) float64, optional
    tol : float
    max_iter : int, optional
        Steps of a problem; at most 100 for each of its samples.

    Returns
    -------
    beta : float64, of the shape of ``bound``
    found : (n_problems, 5) or (n_values, n_problems, 5) float64
        Multiplier, KKT violation, objective, duality gap and steps.
    """
    sizes, beta = np.diff(starts), np.zeros(bound.shape)
    if start is not None:
        (beta if beta.ndim == 1 else beta[0])[:] = start
    ends = np.minimum(bound, 0.0).ravel(), np.maximum(bound, 0.0).ravel()
    problems = sample, starts, linear, *ends, beta.ravel()
    n = int(sizes.max(initial=0))
    buffer = np.zeros((n, -(-n // 8) * 8), dtype=K.dtype)
    last = kernels.no_direction(n)
    integers = np.zeros(n, np.int64), np.zeros(n + 1, np.int64)
    work = buffer, np.empty(7 * n), last.product, *integers, last.place, last.amount
    limits = np.array([tol, TAU, LEAST_TAU, 0.0])
    found = np.empty((*bound.shape[:-1], len(sizes), 5))
    most = _STEPS * n if max_iter is None else min(max_iter, _STEPS * n)
    given = kernels.read_only(K), kernels.read_only(buffer), problems, work, limits, most
    kernels.solve_each(*given, found.reshape(-1, 5))
    return beta, found
