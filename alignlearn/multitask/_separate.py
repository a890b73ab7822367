"""Kernel weights of one task under a penalty of the trace, and of all tasks under a constraint.

The first problem is ``min_{x >= 0} S(x) + sum_k c_k x_k`` with S the machine's objective as a
function of its kernel weights and ``c_k = beta tr K_k > 0``. With ``u_k = c_k x_k`` the solution
has ``sum_k u_k <= U`` for every upper bound U of ``S(0)``. It is therefore a problem over the
simplex ``u >= 0, u_slack >= 0, sum = U`` with the objective ``S(u / c) + U - u_slack``, which
Newton's method and the cutting planes of the one-stage rules solve.

Its certificate needs only dual coefficients b: ``y'b - epsilon |b|_1``, times the largest s <= 1
with ``s^2 b'K_k b / 2 <= c_k`` for all k, is a lower bound of the minimum, since s b is feasible
for the dual problem. Where b is not unique (at x = 0, for instance) one b need not close the gap;
cutting planes combine several.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.weights.one_stage.cuts import Cuts, minimize_with_cuts
from alignlearn.weights.one_stage.simplex import minimize_on_simplex
from alignlearn.weights.one_stage.svm import Settings, SVMPoint

from ._tasks import each

_LEAST_SHARE = 1e-6  # cost of all kernels at the start, in units of the objective at 0
_UPDATES = 10  # steps of the closed form before Newton's method


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights of the scaled kernels of one task or several, and their certificate.

    Attributes
    ----------
    weights : ndarray of shape (T, p)
    coefs : list of T arrays (n_problems, n)
        Signed dual coefficients of the machines.
    value, lower : float
        The objective reached and a lower bound of its minimum.
    n_iter : int
    shared : ndarray of shape (p,), optional
    """

    weights: np.ndarray
    coefs: list
    value: float
    lower: float
    n_iter: int
    shared: np.ndarray | None = None


def free_objective(duals):
    """An upper bound of S(0), the objective of a machine without a kernel.

    It is exact for labels: the objective is twice the bounds of the smaller class of every problem.
    """
    if duals.epsilon == 0.0 and not np.any((duals.lower < 0.0) & (duals.upper > 0.0)):
        sides = np.minimum(duals.upper.sum(axis=1), -duals.lower.sum(axis=1))
        return float(2.0 * sides.sum())
    offsets = np.median(duals.targets, axis=1, keepdims=True)
    excess = np.maximum(np.abs(duals.targets - offsets) - duals.epsilon, 0.0)
    return float(np.sum(excess * duals.upper))


def largest_share(v, c):
    """The largest s <= 1 with ``s^2 v / 2 <= c`` in every entry."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(v > 0.0, 2.0 * c / v, np.inf)
    return float(np.sqrt(min(1.0, ratio.min(initial=1.0))))


def dual_linear(point):
    """``y'b - epsilon |b|_1`` of the coefficients of an `SVMPoint`, summed over its problems."""
    return point.dual_value + 0.5 * float(point.x @ point.v)


def hessian(point, index):
    """That of an `SVMPoint`; 0 where its kernel is 0 and the Hessian is not finite."""
    if not point.gram.any():
        return np.zeros((index.size, index.size))
    return point.hessian(index)


class _SlackPoint:
    """The penalized objective on the simplex; `SVMPoint` of the first p coordinates inside."""

    def __init__(self, total, inner, x):
        self.total, self.inner, self.x = total, inner, x
        rest = total - x[-1]
        self.value, self.dual_value = inner.value + rest, inner.dual_value + rest
        self.v = np.append(inner.v, 2.0)
        self.gradient = -0.5 * self.v
        # In units of the costs every c is 1.
        self.lower = largest_share(inner.v, 1.0) * max(dual_linear(inner), 0.0)

    def sharper(self):
        return _SlackPoint(self.total, self.inner.sharper(), self.x)

    def hessian(self, index):
        H = np.zeros((index.size, index.size))
        inside = np.flatnonzero(index < self.inner.v.size)
        H[np.ix_(inside, inside)] = hessian(self.inner, index[inside])
        return H


def penalized(family, duals, cost, scale, *, tol, max_iter, start=None):
    """Minimize ``S(x) + cost'x`` over ``x >= 0`` for one task.

    Parameters
    ----------
    family : GramFamily
    duals : Duals
    cost : ndarray of shape (p,)
        Of the scaled kernels; 0 only where a kernel is 0 on the task.
    scale : ndarray of shape (p,)
        The kernels are ``scale_k K_k``.
    tol : float
        Largest gap relative to the objective.
    max_iter : int
    start : ndarray of shape (p,), optional
        Weights to start from.

    Returns
    -------
    Solution
    """
    p, total = cost.size, free_objective(duals)
    used = (cost > 0.0) & (scale > 0.0)
    if total <= 0.0 or not used.any():
        zero = np.zeros(duals.targets.shape)
        return Solution(np.zeros((1, p)), [zero], total, total, 0)
    unit = np.divide(1.0, cost, out=np.zeros(p), where=used)
    settings = Settings(tol=tol, scale=scale * unit)

    def oracle(x, near=None):
        inner = SVMPoint(family, duals, settings, x[:-1], None if near is None else near.inner)
        return _SlackPoint(total, inner, x)

    if start is not None and (cost @ start) > 0.0:
        spent = cost * start
    else:
        rough = Settings(tol=1e-2, scale=settings.scale)
        spent = np.where(used, 0.25 * total / used.sum(), 0.0)
        spent = _approach(spent, lambda x, near: SVMPoint(family, duals, rough, x, near))
    # Inside the simplex, because a weight of 0 has no slope and would stay 0.
    spent = np.maximum(spent, used * (_LEAST_SHARE * total / used.sum()))
    spent *= min(1.0, 0.9 * total / spent.sum())
    x = np.append(spent, total - spent.sum())
    point, lower, n_iter = _on_simplex(Cuts(oracle), x, total, tol, max_iter)
    weights = point.x[:-1] * unit
    return Solution(weights[None], [point.inner.coef], point.value, lower, n_iter)


def _approach(x, evaluate):
    """Weights of about the right size, by the closed-form update ``x_k sqrt(v_k / (2 c_k))``.

    Every step decreases the objective, and far from the minimum faster than Newton's method.
    """
    point = None
    for _ in range(_UPDATES):
        point = evaluate(x, point)
        new = x * np.sqrt(0.5 * point.v)
        if not new.any():
            break
        change, x = abs(np.log(new.sum() / x.sum())), new
        if change < 0.2:
            break
    return x


def _on_simplex(cuts, x, total, tol, max_iter):
    """Newton steps, then cutting planes if these stall; returns (point, lower bound, steps)."""
    point, gap, n_iter, converged = minimize_on_simplex(cuts, cuts(x), total, tol, max_iter)
    if not converged and n_iter < max_iter:
        closer = minimize_with_cuts(cuts, point, total, tol, max_iter - n_iter)
        point, gap, n_iter = closer[0], min(gap, closer[1]), n_iter + closer[2]
    return point, point.value - gap * abs(point.value), n_iter


class _SharedPoint:
    """The machines of all tasks at the same weights, summed."""

    def __init__(self, tasks, settings, x, near=None, inner=None):
        self.tasks, self.settings, self.x = tasks, settings, x
        if inner is None:
            before = [None] * len(tasks) if near is None else near.inner
            jobs = zip(tasks, settings, before)
            inner = each(lambda job: SVMPoint(job[0].family, job[0].duals, job[1], x, job[2]), jobs)
        self.inner = inner
        self.value = sum(point.value for point in inner)
        self.dual_value = sum(point.dual_value for point in inner)
        self.v = sum(point.v for point in inner)
        self.gradient = -0.5 * self.v
        self.lower = self.bound(x.sum() * self.v.max())

    def bound(self, largest):
        """Lower bound of the minimum given ``largest`` = max x'v over the feasible weights."""
        return self.dual_value + 0.5 * (self.x @ self.v - largest)

    def sharper(self):
        inner = each(lambda point: point.sharper(), self.inner)
        return _SharedPoint(self.tasks, self.settings, self.x, inner=inner)

    def hessian(self, index):
        return sum(each(lambda point: hessian(point, index), self.inner))


def common(tasks, norm, *, tol, max_iter):
    """Minimize the sum of the machines' objectives over weights common to all tasks.

    Subject to ``x >= 0, sum_k x_k^norm <= 1``. For norm 1 by Newton's method, otherwise by the
    closed-form update ``x_k`` proportional to ``|w_k|^(2 / (norm + 1))`` (Kloft et al. 2011).

    Returns
    -------
    Solution
    """
    used = tasks[0].scale > 0.0
    settings = [Settings(tol=tol, scale=task.scale) for task in tasks]

    def oracle(x, near=None):
        return _SharedPoint(tasks, settings, x, near)

    x = used / used.sum() ** (1.0 / norm)
    if norm == 1.0:
        point, lower, n_iter = _on_simplex(Cuts(oracle), x, 1.0, tol, max_iter)
    else:
        point, lower, n_iter = _closed_form(oracle, x, norm, tol, max_iter)
    weights = np.tile(point.x, (len(tasks), 1))
    coefs = [inner.coef for inner in point.inner]
    return Solution(weights, coefs, point.value, lower, n_iter, point.x)


def _closed_form(oracle, x, norm, tol, max_iter):
    point, lower, n_iter = None, -np.inf, 0
    while n_iter < max_iter:
        n_iter += 1
        point = oracle(x, point)
        lower = max(lower, point.bound(np.linalg.norm(point.v, norm / (norm - 1.0))))
        if point.value - lower <= tol * abs(point.value) or not point.v.any():
            break
        x = (np.square(x) * point.v) ** (1.0 / (norm + 1.0))
        x = x / np.linalg.norm(x, norm)
    return point, lower, n_iter
