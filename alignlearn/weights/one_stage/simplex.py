"""Newton's method over weights on a simplex, for kernel learning under a trace constraint.

The function to be minimized, J(x) = max over dual coefficients at the kernel ``sum_k x_k K_k``, is
convex, decreasing and has the gradient ``-v(x)`` (up to a factor) and a Hessian that the machine's
own linear system gives (Chapelle and Rakotomamonjy 2008, second order optimization of kernel
parameters). A step minimizes the second-order model over the simplex, a problem of the form that
sequential minimal optimization solves, and is then searched along.
"""

from __future__ import annotations

import numpy as np

from alignlearn.solvers.smo import smo

from .ridge import RidgeState, _Evaluation, _norm

_EXTRA = 200  # kernels of zero weight that a step may bring in
_FLAT = 0.4  # a slope this much smaller than at the start, of either sign, ends a search
_TRIALS = 12
_IDLE = 2  # steps that bring neither bound closer, until machines are solved more exactly
_ROUNDING = 16 * np.finfo(np.float64).eps


def minimize_on_simplex(oracle, start, total, tol, max_iter):
    """Minimize over ``x >= 0, sum(x) = total``.

    Parameters
    ----------
    oracle : callable
        ``oracle(x, near=None)`` gives an object with ``x``, ``value`` J(x), ``gradient`` (p,) <= 0,
        ``lower`` (a lower bound of min J), ``hessian(index)`` and ``sharper()``: the same point
        solved more exactly.
    start : the oracle's object at a feasible point
    total : float
    tol : float
        Largest (J - lower bound) / J.
    max_iter : int
        Most Newton steps.

    Returns
    -------
    (point, gap, n_iter, converged)
        The oracle's object at the best x, the relative gap to the best lower bound.
    """

    def target(point, gap, damping):
        return _newton_target(point, total, gap, damping)

    return descend(oracle, start, target, tol, max_iter)


def descend(oracle, start, target, tol, max_iter):
    """Minimize a convex function by damped Newton steps, each searched along.

    Parameters
    ----------
    oracle, start, tol, max_iter
        As in `minimize_on_simplex`; gradients of any sign.
    target : callable
        ``target(point, gap, damping)`` gives the feasible minimizer of the second-order model, with
        ``damping`` (0 to 1) times an upper bound of the curvature added.

    Returns
    -------
    (point, gap, n_iter, converged)
    """
    point = best = start
    lower, n_iter, damping, idle = point.lower, 0, 0.0, 0
    while True:
        gap = (best.value - lower) / abs(best.value) if best.value else 0.0
        if gap <= tol or n_iter >= max_iter:
            break
        n_iter += 1
        point, full = _search(oracle, point, target(point, gap, damping))
        rounding = _ROUNDING * abs(best.value)
        closer = point.value < best.value - rounding or point.lower > lower + rounding
        idle = 0 if closer else idle + 1
        lower = max(lower, point.lower)
        best = point if point.value <= best.value + rounding else best
        if full == 0.0 and damping == 1.0:
            break
        # Small steps may leave a machine unsolved, as what it starts from is exact enough: their
        # slopes then are those of another point, and lead away from the minimum.
        if full == 0.0 or idle == _IDLE:
            damping, idle, point = 1.0 if full == 0.0 else damping, 0, point.sharper()
            continue
        # As Levenberg and Marquardt do: more damping after a step cut short, less after a full one.
        damping = 0.25 * damping if full == 1.0 else min(max(4.0 * damping, 0.02), 1.0)
        damping = damping if damping > 1e-3 else 0.0
    return best, max(gap, 0.0), n_iter, gap <= tol


def newton_step(oracle, point, total):
    """The point that an undamped step reaches, close to the minimum, and its own relative gap."""
    gap = (point.value - point.lower) / abs(point.value)
    point, _ = _search(oracle, point, _newton_target(point, total, gap, 0.0))
    return point, max(point.value - point.lower, 0.0) / abs(point.value)


def _newton_target(point, total, gap, damping):
    """Minimizer over the simplex of the second-order model at the point.

    Where the machine's free coefficients change along the way, its Hessian promises too much. J
    lies below ``J(x') - sum_k g_k (x'_k^2 / x_k - x'_k)`` (the bound behind the multiplicative
    update ``x_k sqrt(v_k)``), whose second derivatives ``-2 g_k / x_k`` so bound the curvature;
    ``damping`` times them is added.
    """
    x, g = point.x, point.gradient
    idle = np.flatnonzero(x <= 0.0)
    if idle.size > _EXTRA:
        idle = idle[np.argsort(g[idle], kind="stable")[:_EXTRA]]
    index = np.union1d(np.flatnonzero(x > 0.0), idle)
    now, slopes = x[index] / total, g[index] / np.abs(g[index]).max()
    # Units in which the step and the slopes are of order one.
    H = point.hessian(index) * (total / np.abs(g[index]).max())
    H.flat[:: len(H) + 1] += 1e-12 * max(np.trace(H) / len(H), 1e-300)
    H.flat[:: len(H) + 1] -= damping * 2.0 * slopes / np.maximum(now, 0.1 / now.size)
    found = smo(
        H,
        slopes,
        (-now, np.full(index.size, 1.0)),
        tol=max(min(1e-3, 0.01 * gap), 1e-13),
        max_iter=20000 + 200 * index.size,
        shrinking=False,
    )
    target = np.zeros_like(x)
    target[index] = np.maximum(now + found.coef, 0.0)
    # A bound is met exactly; what rounding leaves is no support.
    target[target < 1e-14] = 0.0
    return target * (total / target.sum())


def _search(oracle, point, target):
    """A better point on the way to the target, and the share t of the way; t = 0 if there is none.

    Slopes decide, not values: J is convex along the way, and a machine solved inexactly gives its
    slope more surely than the difference of two of its values.
    """
    direction = target - point.x
    slope = point.gradient @ direction
    if slope > _ROUNDING * abs(point.value):
        return point, 0.0
    t, low, high = 1.0, (0.0, slope), None
    for _ in range(_TRIALS):
        x = target if t == 1.0 else point.x + t * direction
        trial = oracle(x, near=point)
        end = trial.gradient @ direction
        if end <= _FLAT * abs(slope):
            return trial, t
        # Near the optimum slopes are rounding while the bounds still close in.
        if abs(slope) <= _ROUNDING * abs(point.value):
            closer = trial.value - trial.lower < 0.9 * (point.value - point.lower)
            return (trial, t) if closer else (point, 0.0)
        high = t, end
        t = low[0] + (high[0] - low[0]) * -low[1] / (high[1] - low[1])
        t = min(max(t, 0.05 * high[0]), 0.9 * high[0])
    return point, 0.0


class _RidgeOracle(_Evaluation):
    """J(x) = Y'(K_x + lam)^-1 Y for weights mu0 + x/t, t the traces over m."""

    def __init__(self, problem, unit, x):
        super().__init__(problem, problem.mu0 + x * unit)
        self.x, self.unit = x, unit
        self.gradient = -self.v * unit
        self.lower = self.value - x @ self.gradient + problem.radius * self.gradient.min()

    def sharper(self):
        """The same: a linear system is solved as exactly as can be."""
        return self

    def hessian(self, index):
        family, c = self.problem.family, len(self.alpha)
        m = self.alpha.shape[1]
        H = 0.0
        for column in range(c):
            forms = self.forms[:, [column]] if self.forms.ndim == 3 else self.forms[[column]]
            B = family.columns(forms, np.arange(m))[:, index] * self.unit[index]
            H = H + 2.0 * B.T @ self.solve(np.ascontiguousarray(B.T)).T
        return 0.5 * (H + H.T)


def ridge_on_simplex(problem, tol, max_iter):
    """The ridge problem with ``mu >= mu0, sum_k (mu - mu0)_k <= L``; a `RidgeState`."""
    p = problem.family.n_kernels
    unit = np.ones(p)

    def oracle(x, near=None):
        return _RidgeOracle(problem, unit, x)

    start = np.full(p, problem.radius / p)
    point, gap, n_iter, converged = minimize_on_simplex(
        oracle, oracle(start), problem.radius, tol, max_iter
    )
    residual = gap if _norm(point.alpha) else 0.0
    return RidgeState(point.alpha, point.mu, point.value, gap, residual, n_iter, converged)
