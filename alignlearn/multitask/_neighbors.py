"""Solvers of one task for the models in which the neighborhood kernel depends on the labels.

"kta": Khat = YY' is fixed, and ``eta/2 ||K_x - YY'||_F^2`` is added to the machine's objective.

"rpkl", "onjkl" (Liu et al. 2009 and 2013): ``min_Khat S(Khat) + eta/2 ||Khat - K||_F^2`` has the
solution ``Khat = K + bb' / (2 eta)`` with b the signed dual coefficients, and the dual function
``y'b - b'Kb / 2 - (b'b)^2 / (8 eta)``. Since ``-(b'b)^2 / (8 eta)`` is the minimum over
``kappa >= 0`` of ``-kappa b'b / 2 + eta kappa^2 / 2``, the model is that of the kernel ``K + kappa
I`` with a penalty on kappa: a convex function of one more variable, whose slope ``eta kappa - b'b /
2`` increases. K is fixed for "rpkl", and is ``sum_k x_k K_k`` with the penalty ``c'x`` for "onjkl".
"""

from __future__ import annotations

import numpy as np

from alignlearn.solvers.nnqp import nonnegative_qp
from alignlearn.weights.one_stage.simplex import descend
from alignlearn.weights.one_stage.svm import Settings, SVMPoint

from ._separate import Solution, dual_linear, hessian, largest_share, penalized

_LEAST_DAMPING = 1e-6
_ROOT_STEPS = 60


class _AlignedPoint:
    """The machine's objective and ``eta/2 x'Gx - eta a'x``, minus the minimum of the latter."""

    def __init__(self, problem, x, near=None, inner=None):
        self.problem, self.x = problem, x
        if inner is None:
            before = None if near is None else near.inner
            task = problem.task
            inner = SVMPoint(task.family, task.duals, problem.settings, x, before)
        self.inner = inner
        Gx = problem.form @ x
        price = float(0.5 * x @ Gx - problem.linear @ x) - problem.least
        self.value = inner.value + price
        self.gradient = inner.gradient + Gx - problem.linear
        # The machine's dual is linear in x, so the rest is a quadratic problem in x.
        slope = 0.5 * inner.v + problem.linear
        self.lower = dual_linear(inner) - problem.least + _least(problem.form, slope)

    def sharper(self):
        return _AlignedPoint(self.problem, self.x, inner=self.inner.sharper())


class _AlignedProblem:
    def __init__(self, task, eta, tol):
        self.task, self.form, self.linear = task, eta * task.inner, eta * task.products
        self.settings = Settings(tol=tol, scale=task.scale)
        self.least = _least(self.form, self.linear)

    def __call__(self, x, near=None):
        return _AlignedPoint(self, x, near)

    def target(self, point, gap, damping):
        damping = max(damping, min(gap, 1.0) * 0.01, _LEAST_DAMPING)
        x, v = point.x, point.inner.v
        A = hessian(point.inner, np.arange(x.size)) + self.form
        A.flat[:: x.size + 1] += damping * v / np.maximum(x, 0.1 * x.mean() + 1e-300)
        A.flat[:: x.size + 1] += 1e-12 * np.trace(A) / x.size + 1e-300
        return nonnegative_qp(A, A @ x - point.gradient, tol=1e-9, check_psd=False).v


def _least(form, linear):
    """Lower bound, tight up to rounding, of ``x'Qx / 2 - linear'x`` over ``x >= 0``."""
    # Kernels that are 0 have no weight; rounding must not make the problem unbounded.
    used = np.diagonal(form) > 0.0
    if not used.any():
        return 0.0
    found = nonnegative_qp(form[np.ix_(used, used)], linear[used], tol=1e-9, check_psd=False)
    reward = float(found.v @ linear[used])
    return -0.5 * reward * (1.0 + found.duality_gap)


def aligned(task, eta, *, tol, max_iter):
    """Minimize ``S(x) + eta/2 ||K_x - YY'||_F^2`` over ``x >= 0`` for one task.

    Returns
    -------
    Solution
        Its objective omits the constant part of the penalty.
    """
    problem = _AlignedProblem(task, eta, tol)
    used = np.diagonal(task.inner) > 0.0
    x = np.zeros(used.size)
    if used.any():
        inside = np.ix_(used, used)
        x[used] = nonnegative_qp(task.inner[inside], task.products[used], check_psd=False).v
    point, gap, n_iter, _ = descend(problem, problem(x), problem.target, tol, max_iter)
    lower = point.value - gap * abs(point.value)
    return Solution(point.x[None], [point.inner.coef], point.value, lower, n_iter)


class _WithIdentity:
    """A family whose combinations have kappa I added."""

    def __init__(self, family, kappa):
        self.family, self.kappa = family, kappa
        self.forms, self.cross, self.columns = family.forms, family.cross, family.columns

    def gram(self, mu):
        K = self.family.gram(mu)
        K.flat[:: len(K) + 1] += self.kappa
        return K


class _FixedKernel:
    """ "rpkl": the machine at given weights, with kappa I added."""

    def __init__(self, task, x, tol):
        self.task, self.x, self.point = task, x, None
        self.settings = Settings(tol=0.1 * tol, scale=task.scale)

    def __call__(self, kappa):
        """(value, dual coefficients, steps) at kappa."""
        family = _WithIdentity(self.task.family, kappa)
        near = None if self.point is None else _Start(self.point.coef)
        self.point = SVMPoint(family, self.task.duals, self.settings, self.x, near)
        self.weights = self.x
        return self.point.value, self.point.coef, 1

    def lower(self, linear, v, square, eta):
        """Lower bound of the minimum from ``y'b``, ``v_k = b'K_k b`` and ``b'b``."""
        return linear - 0.5 * float(self.x @ v) - square**2 / (8.0 * eta)


class _LearnedKernel:
    """ "onjkl": the weights of minimum objective and penalty, with kappa I added."""

    def __init__(self, task, cost, tol, max_iter):
        self.task, self.cost, self.tol, self.max_iter = task, cost, 0.1 * tol, max_iter
        self.weights = None

    def __call__(self, kappa):
        family = _WithIdentity(self.task.family, kappa)
        found = penalized(
            family,
            self.task.duals,
            self.cost,
            self.task.scale,
            tol=self.tol,
            max_iter=self.max_iter,
            start=self.weights,
        )
        self.weights = found.weights[0]
        return found.value, found.coefs[0], found.n_iter

    def lower(self, linear, v, square, eta):
        s = largest_share(v, self.cost)
        return s * linear - s**4 * square**2 / (8.0 * eta)


class _Start:
    """Coefficients to start a machine from."""

    def __init__(self, coef):
        self.coef, self.x = coef, None


def proxy(task, eta, *, x=None, cost=None, tol, max_iter):
    """The model of the proxy kernel K and ``Khat = K + bb' / (2 eta)`` for one task.

    Parameters
    ----------
    task : Task
    eta : float
        > 0; the papers' ``Khat = K + bb'`` is 1/2.
    x : ndarray of shape (p,), optional
        Given weights of K ("rpkl").
    cost : ndarray of shape (p,), optional
        Otherwise the cost of learned weights ("onjkl").
    tol, max_iter
        As in `alignlearn.multitask._separate.penalized`.

    Returns
    -------
    (Solution, kappa)
    """
    solve = _FixedKernel(task, x, tol)
    if x is None:
        solve = _LearnedKernel(task, cost, tol, max_iter)
    # For a machine without a kernel and without bounds, b = y / kappa.
    kappa = float(np.cbrt(np.square(task.duals.targets).sum() / (2.0 * eta)))
    low, high, n_iter = None, None, 0
    value, lower, best = np.inf, -np.inf, None
    for _ in range(_ROOT_STEPS):
        own, coef, steps = solve(kappa)
        n_iter += steps
        square = float(np.square(coef).sum())
        v = task.scale * task.family.quadratic(coef)
        linear = float(np.sum(task.duals.targets * coef) - task.duals.epsilon * np.abs(coef).sum())
        lower = max(lower, solve.lower(linear, v, square, eta))
        if own + 0.5 * eta * kappa**2 < value:
            value, best = own + 0.5 * eta * kappa**2, (solve.weights.copy(), coef, kappa)
        if value - lower <= tol * abs(value) or kappa == 0.0:
            break
        if square == 0.0:
            kappa = 0.0
            continue
        # In logarithms, because kappa may be of any size, and b'b decreases like its powers 0 to
        # -2.
        place = np.log(kappa), np.log(square / (2.0 * eta * kappa))
        low, high = (place, high) if place[1] > 0.0 else (low, place)
        kappa = float(np.exp(_next(place, low, high)))
    weights, coef, kappa = best
    return Solution(weights[None], [coef], value, lower, n_iter), kappa


def _next(place, low, high):
    """Estimate of the zero of a decreasing function, from (argument, value) on either side."""
    if low is None or high is None:
        return place[0] + 0.5 * place[1]
    share = min(max(low[1] / (low[1] - high[1]), 0.1), 0.9)
    return low[0] + share * (high[0] - low[0])
