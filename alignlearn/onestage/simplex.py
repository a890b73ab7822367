"""Newton's method over weights on a simplex, for kernel learning under a trace constraint.

The function to be minimised, J(x) = max over dual coefficients at the kernel ``sum_k x_k K_k``, is
convex, decreasing and has the gradient ``-v(x)`` (up to a factor) and a Hessian that the machine's
own linear system gives (Chapelle and Rakotomamonjy 2008, second order optimization of kernel
parameters). A step minimises the second-order model over the simplex, a problem of the form that
sequential minimal optimisation solves, and is then searched along.
"""

from __future__ import annotations

import numpy as np

from alignlearn.onestage.ridge import RidgeState, _Evaluation, _norm
from alignlearn.solvers.smo import smo

_EXTRA = 200  # kernels of zero weight that a step may bring in


def minimise_on_simplex(oracle, start, total, tol, max_iter):
    """Minimise over ``x >= 0, sum(x) = total``.

    Parameters
    ----------
    oracle : callable
        ``oracle(x)`` gives an object with ``value`` J(x), ``gradient`` (p,), ``lower`` (a lower
        bound of min J) and ``hessian(index)``.
    start : (p,) feasible
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
    point = oracle(start)
    lower, n_iter = point.lower, 0
    while True:
        gap = (point.value - lower) / abs(point.value) if point.value else 0.0
        if gap <= tol or n_iter >= max_iter:
            break
        n_iter += 1
        found = _search(oracle, point, _newton_target(point, total, gap))
        if found is None:
            break
        point = found
        lower = max(lower, point.lower)
    return point, max(gap, 0.0), n_iter, gap <= tol


def _newton_target(point, total, gap):
    """Minimiser over the simplex of the second-order model at the point."""
    x, g = point.x, point.gradient
    idle = np.flatnonzero(x <= 0.0)
    if idle.size > _EXTRA:
        idle = idle[np.argsort(g[idle], kind="stable")[:_EXTRA]]
    index = np.union1d(np.flatnonzero(x > 0.0), idle)
    H = point.hessian(index)
    # Units in which the step and the slopes are of order one.
    slope = np.abs(g[index]).max()
    H = H * (total / slope)
    H.flat[:: len(H) + 1] += 1e-12 * max(np.trace(H) / len(H), 1e-300)
    now = x[index] / total
    start = np.zeros(index.size)
    accuracy = min(1e-3, 0.01 * gap)
    found = smo(
        H,
        g[index] / slope,
        (-now, np.full(index.size, 1.0)),
        start=start,
        tol=max(accuracy, 1e-13),
        max_iter=20000 + 200 * index.size,
        shrinking=False,
    )
    target = np.zeros_like(x)
    target[index] = np.maximum(now + found.coef, 0.0)
    # A bound is met exactly; what rounding leaves is no support.
    target[target < 1e-14] = 0.0
    return target * (total / target.sum())


def _search(oracle, point, target):
    """A point of lower value on the way to the target, or None."""
    direction = target - point.x
    slope = point.gradient @ direction
    if not slope < 0.0:
        return None
    t = 1.0
    for _ in range(30):
        x = target if t == 1.0 else point.x + t * direction
        trial = oracle(x, near=point)
        if trial.value <= point.value + 1e-4 * t * slope:
            return trial
        curvature = 2.0 * (trial.value - point.value - t * slope) / t**2
        t = min(max(-slope / curvature, 0.1 * t), 0.5 * t)
    return None


class _RidgeOracle(_Evaluation):
    """J(x) = Y'(K_x + lam)^-1 Y for weights mu0 + x/t, t the traces over m."""

    def __init__(self, problem, unit, x):
        super().__init__(problem, problem.mu0 + x * unit)
        self.x, self.unit = x, unit
        self.gradient = -self.v * unit
        self.lower = self.value - x @ self.gradient + problem.radius * self.gradient.min()

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
    point, gap, n_iter, converged = minimise_on_simplex(
        oracle, start, problem.radius, tol, max_iter
    )
    residual = gap if _norm(point.alpha) else 0.0
    return RidgeState(point.alpha, point.mu, point.value, gap, residual, n_iter, converged)
