"""Kernel weights that tasks share in part: ``theta_t = mu + lambda_t`` with a penalty on each part.

The problem is ``min_{mu, lambda >= 0} sum_t S_t(mu + lambda_t) + c_0'mu + sum_t c_t'lambda_t +
epsilon (|mu|^2 + sum_t |lambda_t|^2)``: convex, smooth where the machines' dual solutions are
unique, with bounds as the only constraints. Newton steps minimize the second-order model over the
bounds by an interior point method. The Hessian is an arrow matrix, because tasks are coupled only
through mu, so a step needs the solution of T systems of p equations.

Certificate. With dual coefficients b_t, ``l = sum_t (y't b_t - epsilon |b_t|_1)`` and the slopes
``h_0 = sum_t v_t / 2 - c_0, h_t = v_t / 2 - c_t`` a lower bound of the minimum is
``l - |max(h, 0)|^2 / (4 epsilon)``, or l if no h is positive. Multiples s b_t with 0 <= s <= 1 are
also feasible, and the best of several is used.

If a dual solution is not unique (for instance at theta_t = 0), most solutions give a poor bound. A
logarithmic barrier ``-tau sum(log z)`` therefore keeps the weights inside the bounds, where dual
solutions are unique, and at its minimum ``h = -tau / z`` is negative. The gap is then n tau for n
variables, which is set to a share of the tolerance.
"""

from __future__ import annotations

import numpy as np

from alignlearn.weights.one_stage.simplex import descend
from alignlearn.weights.one_stage.svm import Settings, SVMPoint

from ._separate import Solution, dual_linear, hessian, largest_share
from ._tasks import each

_SHARES = 1.0 - np.geomspace(1e-8, 0.5, 40)  # multiples of the dual coefficients that are evaluated
_LEAST_DAMPING = 1e-6
_SHARE = 0.1  # share of the tolerance for the barrier
_NEGLIGIBLE = 20.0  # costs, in units of tau, of weights that may be set to 0
_CENTERED = 0.5  # accepted relative difference of products from tau
_INTERIOR_STEPS = 60


class _CoupledPoint:
    """Objective, gradient and lower bound at ``x = (mu, lambda_1, ..., lambda_T)``, flat."""

    def __init__(self, problem, x, near=None, inner=None):
        self.problem, self.x = problem, x
        tasks, ridge, cost = problem.tasks, problem.ridge, problem.cost
        parts = x.reshape(cost.shape)
        if inner is None:
            theta = parts[0] + parts[1:]
            before = [None] * len(tasks) if near is None else near.inner
            inner = each(
                lambda job: SVMPoint(job[0].family, job[0].duals, *job[1:]),
                zip(tasks, problem.settings, theta, before),
            )
        self.inner = inner
        v = np.array([point.v for point in inner])
        half = 0.5 * np.vstack([v.sum(axis=0), v])
        penalty = float(np.sum(cost * parts) + ridge * np.sum(np.square(parts)))
        self.value = sum(point.value for point in inner) + penalty
        self.slopes = (cost - half + 2.0 * ridge * parts).ravel()
        self.lower = self._lower(v, np.maximum([dual_linear(point) for point in inner], 0.0))

    @property
    def gradient(self):
        """The gradient of the function with the barrier, which the line search uses."""
        return self.slopes - self.problem.tau / self.x

    def _lower(self, v, linear):
        cost, ridge = self.problem.cost, self.problem.ridge
        own = np.array([largest_share(*pair) for pair in zip(v, cost[1:])])
        v_own = np.square(own)[:, None] * v
        feasible = largest_share(v_own.sum(axis=0), cost[0]) * float(own @ linear)
        if ridge == 0.0:
            return feasible
        slopes = 0.5 * np.vstack([v.sum(axis=0), v]).ravel()
        excess = np.square(_SHARES)[:, None] * slopes - cost.ravel()
        price = np.square(np.maximum(excess, 0.0)).sum(axis=1) / (4.0 * ridge)
        whole = np.square(np.maximum(slopes - cost.ravel(), 0.0)).sum() / (4.0 * ridge)
        bounds = np.append(_SHARES * linear.sum() - price, linear.sum() - whole)
        return max(feasible, float(bounds.max()))

    def sharper(self):
        inner = each(lambda point: point.sharper(), self.inner)
        return _CoupledPoint(self.problem, self.x, inner=inner)

    def hessians(self, damping):
        """Hessians of all machines, damped by a share of the closed-form update's curvature."""
        everything = np.arange(self.problem.cost.shape[1])
        H = np.array(each(lambda point: hessian(point, everything), self.inner))
        theta = np.array([point.x for point in self.inner])
        v = np.array([point.v for point in self.inner])
        floor = 0.1 * theta.mean(axis=1, keepdims=True) + 1e-300
        H[:, everything, everything] += damping * v / np.maximum(theta, floor)
        return H


class _CoupledProblem:
    """Tasks, costs (1 + T, p) of mu and every lambda_t, and the ridge; the oracle of `descend`."""

    def __init__(self, tasks, cost, ridge, tol):
        self.tasks, self.cost, self.ridge, self.tau = tasks, cost, ridge, np.inf
        self.tol = tol
        self.settings = [Settings(tol=tol, scale=task.scale) for task in tasks]

    def __call__(self, x, near=None):
        return _CoupledPoint(self, x, near)

    def target(self, point, gap, damping):
        """Minimizer of the second-order model at a point, with the barrier."""
        damping = max(damping, min(gap, 1.0) * 0.01, _LEAST_DAMPING)
        self.tau = min(self.tau, _SHARE * self.tol * point.value / point.x.size)
        arrow = Arrow(point.hessians(damping), 2.0 * self.ridge)
        shape = self.cost.shape
        now = point.x.reshape(shape)
        linear = point.slopes.reshape(shape) - arrow.times(now)
        start = np.maximum(now, 1e-3 * now.mean() + 1e-12)
        return arrow.minimize(linear, start, self.tau).ravel()


class Arrow:
    """Quadratic form of ``z = (mu, lambda_1, ..., lambda_T)`` that reads ``mu + lambda_t`` only.

    Parameters
    ----------
    H : ndarray of shape (T, p, p)
        Positive semi-definite forms of ``mu + lambda_t``.
    ridge : float
        Added to the diagonal of the whole form.
    """

    def __init__(self, H, ridge):
        self.H, self.ridge = H, ridge

    def times(self, z):
        """The product with z of shape (1 + T, p)."""
        inside = np.einsum("tij,tj->ti", self.H, z[0] + z[1:])
        return np.vstack([inside.sum(axis=0), inside]) + self.ridge * z

    def solve(self, diagonal, r):
        """Solve with the form plus a positive diagonal, (1 + T, p)."""
        D = diagonal + self.ridge
        A = self.H.copy()
        index = np.arange(A.shape[1])
        A[:, index, index] += D[1:]
        right = np.concatenate([r[1:, :, None], D[1:, :, None] * np.eye(index.size)], axis=2)
        found = np.linalg.solve(A, right)
        # H (H + D)^-1 D is the Schur complement, without a difference in which digits cancel.
        schur = np.einsum("tij,tjk->ik", self.H, found[:, :, 1:])
        schur[index, index] += D[0]
        mu = np.linalg.solve(schur, r[0] - np.einsum("tij,tj->i", self.H, found[:, :, 0]))
        # A^-1 (r - H mu) = A^-1 r - mu + A^-1 D mu.
        rest = found[:, :, 0] - mu + np.einsum("tij,j->ti", found[:, :, 1:], mu)
        return np.vstack([mu, rest])

    def minimize(self, linear, start, tau):
        """Minimize ``z'Az / 2 + linear'z - tau sum(log z)``: Mehrotra's predictor and corrector.

        Parameters
        ----------
        linear : ndarray of shape (1 + T, p)
        start : ndarray of the same shape
            Positive; about the size of the solution.
        tau : float
            > 0.
        """
        z = start
        s = self.times(z) + linear
        s = s + max(-1.5 * float(s.min()), 0.0)
        # The distance from the bounds that makes all products equal (Mehrotra 1992).
        products = float(np.sum(z * s)) + 1e-300
        z, s = z + 0.5 * products / (s.sum() + 1e-300), s + 0.5 * products / z.sum()
        for _ in range(_INTERIOR_STEPS):
            rest = self.times(z) + linear - s
            near = np.abs(rest).max() <= 1e-9 * np.abs(linear).max()
            if near and np.abs(z * s - tau).max() <= _CENTERED * tau:
                break
            mean = float(np.mean(z * s))
            dz = self.solve(s / z, -rest - s)
            ds = -s - s / z * dz
            reach = _reach(z, dz), _reach(s, ds)
            after = float(np.mean((z + reach[0] * dz) * (s + reach[1] * ds)))
            center = max(mean * min(after / mean, 1.0) ** 3, tau)
            correction = (center - dz * ds) / z if center > tau else tau / z
            dz = self.solve(s / z, -rest - s + correction)
            ds = -s - s / z * dz + correction
            step = 0.995 * min(_reach(z, dz), _reach(s, ds))
            z, s = z + step * dz, s + step * ds
        return z


def _reach(z, dz):
    """The longest step up to 1 that keeps z nonnegative."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(min(1.0, np.where(dz < 0.0, -z / dz, np.inf).min()))


def coupled(tasks, cost, ridge, *, start, tol, max_iter):
    """Minimize the coupled objective.

    Parameters
    ----------
    tasks : list of T Task
    cost : ndarray of shape (1 + T, p)
        Of mu and of every lambda_t; positive where a kernel is not 0.
    ridge : float
        epsilon, >= 0.
    start : ndarray of shape (T, p)
        Weights to start from.
    tol : float
        Largest gap relative to the objective.
    max_iter : int

    Returns
    -------
    Solution
        ``weights`` (T, p) and ``shared`` (p,), mu.
    """
    problem = _CoupledProblem(tasks, cost, ridge, tol)
    start = start * _size(start, cost, ridge)
    shared = 0.5 * start.min(axis=0)
    x = np.vstack([shared, start - shared])
    x = np.maximum(x, 1e-3 * x.mean() + 1e-12).ravel()
    point, gap, n_iter, _ = descend(problem, problem(x), problem.target, tol, max_iter)
    lower = point.value - gap * abs(point.value)
    # Weights close to 0 are set to 0, unless the objective increases by more than the tolerance.
    parts = point.x.reshape(cost.shape)
    tau = problem.tau if n_iter else 0.0
    rounded = np.where(cost * parts <= _NEGLIGIBLE * tau, 0.0, parts)
    end = problem(rounded.ravel(), point)
    if end.value <= point.value + 0.5 * tol * abs(point.value):
        point, parts = end, rounded
    coefs = [inner.coef for inner in point.inner]
    return Solution(parts[0] + parts[1:], coefs, point.value, lower, n_iter, parts[0])


def _size(theta, cost, ridge):
    """A factor for weights that are optimal without the ridge.

    At the optimum, the objectives of the machines are about as large as the cost of the weights.
    With s times the weights they are 1 / s times as large.
    """
    price = float(np.sum(cost[1:] * theta))
    s = np.geomspace(1e-6, 1.0, 61)
    return s[np.argmin(price / s + price * s + ridge * float(np.sum(theta**2)) * s**2)]
