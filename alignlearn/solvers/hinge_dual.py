"""Support vector machines with an intercept on features, by dual coordinate descent.

Minimizes ``|w|^2 / 2 + sum_i c_i max(0, 1 - s_i (w.phi_i + b))`` through its dual: signed variables
a_i between 0 and s_i c_i with ``w = Phi'a``, which sum to 0 because b has no penalty. Under this
constraint no single variable can move. A constant feature therefore relaxes it, which is the method
of multipliers: ``b = b_0 + B sum(a)`` in a pass, after which b_0 is set to b. The sum converges to
0 together with the steps. B is the mean square of the features, so that the constant feature is of
their size. Variables that stay at a bound are set aside, and checked again for each certificate.

The certificate is the gap between the primal function at w with the best b, and the dual function
at variables near a that sum to 0.

Sources: Hsieh, Chang, Lin, Keerthi and Sundararajan (2008), "A dual coordinate descent method for
large-scale linear SVM"; Yu, Hsieh, Chang and Lin (2010), "Large linear classification when data
cannot fit in memory" (several passes over a block while it is held).
"""

from __future__ import annotations

import numpy as np

from .dual_coordinate_descent import Problem, dense_rows, squares, sweep, visits
from .hinge import HingeResult, best_intercept, dual_values

_FIRST = 4  # passes before the first certificate, and at least between two
_GROWTH = 0.25  # share of the passes done, between two certificates
_HELD_PASSES = 4  # passes over a block, if not all features are stored
_SAMPLED = 1000  # samples from which the size of the constant feature is computed


def hinge_dual(features, signs, cost, *, tol=1e-2, max_passes=1000, rng, watch=None, spread=None):
    """Train support vector machines with intercepts on the same features.

    Parameters
    ----------
    features : object
        With ``n_samples``, ``rank``; ``held``, the features Phi as a C-contiguous array or None;
        ``rows(index)``, some of them; ``block``, the number of samples whose features fit into
        memory at once;
        ``times(W)``, ``Phi W``; ``transposed_times(U)``, ``Phi' U``.
    signs : ndarray of shape (q, m)
        1, -1, or 0 if a sample is not part of the problem; both signs occur in each problem.
    cost : ndarray of shape (m,) or (q, m)
        c, not negative.
    tol : float
        Bound of the duality gap, relative to the objective.
    max_passes : int
        Maximum number of passes over the active samples.
    rng : numpy.random.Generator
        Of the orders of the samples; each problem draws its own.
    watch : callable, optional
        Called with the number of passes done and the largest relative gap after every certificate.
    spread : callable, optional
        Called with a function of ``(number, count)`` and of an array with a flag, and with the
        maximum useful number of threads. It calls the function for each number below a count of its
        choice, and sets the flag to end early. By default all work is done in this thread.

    Returns
    -------
    HingeResult
    """
    solver = _Solver(features, signs, cost, rng, spread or _alone)
    done = 0
    while done < max_passes and solver.active.any():
        done += solver.passes(min(max(_FIRST, int(_GROWTH * done)), max_passes - done))
        solver.certify(tol)
        if watch is not None:
            watch(done, solver.relative_gaps().max())
    return solver.result(done, tol)


def _alone(function, count):
    function((0, 1), np.zeros(1, dtype=np.bool_))


class _Solver:
    """Dual variables ``alpha`` = |a| of shape (q, m), their sums, and the best points so far."""

    def __init__(self, features, signs, cost, rng, spread):
        self.features, self.signs, self.rng, self.spread = features, signs, rng, spread
        self.upper = np.abs(signs) * cost
        q, m = signs.shape
        self.alpha, self.active = np.zeros((q, m)), self.upper > 0.0
        self.w, self.intercept = np.zeros((q, features.rank)), np.zeros((q, 3))
        used = np.flatnonzero(self.upper.any(axis=0))
        some = np.sort(rng.choice(used, min(used.size, _SAMPLED), replace=False))
        self.intercept[:, 1] = np.square(features.rows(some)).sum() / some.size or 1.0
        self.limits = [(np.inf, -np.inf)] * q
        self.rngs = [np.random.default_rng(seed) for seed in rng.integers(2**63, size=q)]
        self.best, self.best_b = np.zeros((features.rank, q)), np.zeros(q)
        self.primal, self.dual = self.upper.sum(axis=1), np.zeros(q)
        self.rows = None
        if features.held is not None:
            self.rows = dense_rows(features.held)
            self.square = squares(self.rows)

    def passes(self, n):
        """At most n passes over the active samples; return their number."""
        if self.rows is not None:
            self._descend(slice(None), self.rows, self.square, n)
            return n
        active = self.rng.permutation(np.flatnonzero(self.active.any(axis=0)))
        count = -(-active.size // self.features.block)
        n = n if count == 1 else min(n, _HELD_PASSES)
        for part in np.array_split(active, count):
            part.sort()
            rows = dense_rows(self.features.rows(part))
            self._descend(part, rows, squares(rows), n)
        return n

    def _descend(self, part, rows, square, n):
        """Passes over the samples ``part``; the problems run on several threads."""

        def descend(thread, stop):
            for k in range(thread[0], len(self.alpha), thread[1]):
                self._descend_one(k, part, rows, square, n, stop)

        self.spread(descend, len(self.alpha))

    def _descend_one(self, k, part, rows, square, n, stop):
        alpha, active, intercept = self.alpha[k][part], self.active[k][part], self.intercept[k]
        curvature = square + intercept[1]
        problem = Problem(
            self.signs[k][part], self.upper[k][part], np.zeros(len(square)), curvature
        )
        state, size = (alpha, self.w[k], intercept), visits(self.features.rank)
        for _ in range(0 if stop[0] else n):
            order = self.rngs[k].permutation(np.flatnonzero(active))
            high, low = 0.0, 0.0
            for i in range(0, order.size, size):
                if stop[0]:
                    return
                some = order[i : i + size]
                kept, above, below = sweep(rows, problem, state, some, self.limits[k])
                active[some[kept:]] = False
                high, low = max(high, above), min(low, below)
            self.limits[k] = high if high > 0.0 else np.inf, low if low < 0.0 else -np.inf
            intercept[0] += intercept[1] * intercept[2]
        self.alpha[k][part], self.active[k][part] = alpha, active

    def certify(self, tol):
        """Update the best points; samples that violate a condition become active again."""
        todo = np.flatnonzero(self.relative_gaps() > tol)
        coef = self.signs[todo] * self.alpha[todo]
        sums, dual = dual_values(self.features, coef)
        values = self.features.times(sums).T
        # Sums over all variables, without the accumulated rounding of the steps.
        self.w[todo], self.intercept[todo, 2] = sums.T, coef.sum(axis=1)
        self.dual[todo] = np.maximum(self.dual[todo], dual)
        for k, w, value in zip(todo, sums.T, values, strict=True):
            self._primal(k, w, value)
        gaps = self.relative_gaps()
        for k, value in zip(todo, values, strict=True):
            start, scale, total = self.intercept[k]
            slope = self.signs[k] * (value + start + scale * total) - 1.0
            wrong = (slope < 0.0) & (self.alpha[k] < self.upper[k])
            wrong |= (slope > 0.0) & (self.alpha[k] > 0.0)
            self.active[k] = (self.active[k] | wrong) & (gaps[k] > tol)

    def _primal(self, k, w, value):
        b = best_intercept(value, self.signs[k], self.upper[k])
        loss = self.upper[k] @ np.maximum(1.0 - self.signs[k] * (value + b), 0.0)
        primal = 0.5 * w @ w + loss
        if primal < self.primal[k]:
            self.primal[k], self.best[:, k], self.best_b[k] = primal, w, b

    def relative_gaps(self):
        return (self.primal - self.dual) / self.primal

    def result(self, done, tol):
        gap = np.maximum(self.primal - self.dual, 0.0)
        converged = bool(np.all(self.relative_gaps() <= tol))
        return HingeResult(self.best, self.best_b, self.primal, gap, done, converged)
