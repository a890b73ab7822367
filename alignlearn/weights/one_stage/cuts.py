"""Cutting planes over weights on a simplex, where one set of dual coefficients certifies nothing.

J(x) = max_b L(b, x) is linear in x for each b. Where the maximizer b is not unique (few distinct
samples, kernels of low rank) J has a kink, Newton's method stalls on it, and no single b gives a
lower bound equal to min J: it takes a convex combination. The linear program
``min_x max_j L(b_j, x)`` over all coefficients seen finds that combination (semi-infinite linear
programming, Sonnenburg et al. 2006). Its solution swings, so the next point is half-way between it
and the best one (in-out separation: Ben-Ameur and Neto 2007).
"""

from __future__ import annotations

import numpy as np


class Cuts:
    """Lower bounds ``constant_j - slope_j' x`` of J collected from an oracle's points."""

    def __init__(self, oracle):
        self._oracle = oracle
        self.constants, self.slopes = [], []

    def __call__(self, x, near=None):
        point = self._oracle(x, near)
        # dual_value + v'(x - z)/2 with the sign of the gradient at x.
        self.constants.append(point.dual_value - point.gradient @ x)
        self.slopes.append(-point.gradient)
        return point

    def lowest(self, total, unit):
        """Minimizer over the simplex of the largest cut, and its value; in units of ``unit``."""
        from scipy.optimize import linprog

        slopes = np.array(self.slopes) * (total / unit)
        n, p = slopes.shape
        found = linprog(
            np.append(np.zeros(p), 1.0),
            A_ub=np.hstack([-slopes, -np.ones((n, 1))]),
            b_ub=-np.array(self.constants) / unit,
            A_eq=np.append(np.ones(p), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0.0, None)] * p + [(None, None)],
            method="highs",
        )
        if found.status != 0:
            return None, -np.inf
        x = np.maximum(found.x[:-1], 0.0)
        # The value of the bound itself, not the solver's: rounding may not make it too high.
        multipliers = np.maximum(-found.ineqlin.marginals, 0.0)
        multipliers /= multipliers.sum()
        value = multipliers @ np.array(self.constants) - unit * (multipliers @ slopes).max()
        return x * (total / x.sum()), value


def minimize_with_cuts(oracle, best, total, tol, max_iter):
    """Close the gap of a point; ``oracle`` is a `Cuts` that has seen the points before.

    Returns
    -------
    (point, gap, n_iter, converged)
        As `alignlearn.weights.one_stage.simplex.minimize_on_simplex`.
    """
    lower, n_iter, gap = -np.inf, 0, np.inf
    while True:
        target, value = oracle.lowest(total, abs(best.value))
        lower = max(lower, value)
        gap = (best.value - lower) / abs(best.value)
        if gap <= tol or n_iter >= max_iter or target is None:
            return best, max(gap, 0.0), n_iter, gap <= tol
        n_iter += 1
        x = 0.5 * (best.x + target)
        x[x < 1e-14 * total] = 0.0
        point = oracle(x * (total / x.sum()), near=best)
        best = point if point.value < best.value else best
