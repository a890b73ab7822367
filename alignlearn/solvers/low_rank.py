"""The dual of a support vector machine by an interior point method, for a kernel of low rank.

With ``K = ZZ'`` and Z of shape (m, q) every Newton system is ``D + ZZ'`` with D diagonal, solved
through the (q, q) matrix ``I + Z'D^-1 Z``: O(m q^2) an iteration and no (m, m) matrix. A few dozen
iterations are needed for any C, while the number of SMO steps grows with C.

Regression has a penalty ``epsilon |b|_1``, whose slope jumps at 0. Its coefficients are sums of
two parts, one in [lower, 0] and one in [0, upper], each with a slope of its own. With
``d_k dx_k + (ZZ' db)_i = v_k`` for the part k of row i the sums db have a system of the same form,
where ``1 / D_i`` is the sum of the ``1 / d_k``, so two parts cost hardly more than one.

Sources: Fine and Scheinberg (2001), "Efficient SVM training using low-rank kernel
representations"; Mehrotra (1992) for predictor and corrector.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from alignlearn._lapack import self_product

from . import panels
from .dense import least_squares
from .multiclass import orientations
from .smo import SMOResult, _certificate, divided, multiplied, unit_of

_SHORTEN = 0.995  # of the longest step inside the bounds


def low_rank_svm(Z, linear, bounds, *, epsilon=0.0, tol=1e-3, max_iter=100) -> SMOResult:
    """Minimize ``b'ZZ'b / 2 + linear'b + epsilon |b|_1``, sum(b) = 0 and lower <= b <= upper.

    Parameters
    ----------
    Z : (m, q) float64
        In either order; neither modified nor copied as a whole, unless bounds are equal.
    linear : (m,) float64
    bounds : pair of (m,) float64
        ``(lower, upper)`` with lower <= 0 <= upper, finite; equal ones fix a coefficient at 0.
    epsilon : float
        0 for classification.
    tol : float
        Bound on the KKT violation, as in `alignlearn.solvers.smo.smo`.
    max_iter : int
        Maximum number of Newton steps.

    Returns
    -------
    SMOResult
        Coefficients within rounding of a bound, or of 0 if ``epsilon`` > 0, are moved to it.
        ``converged`` is false if the violation stays above ``tol``; nothing is raised.
    """
    unit = unit_of(linear, epsilon)
    problem = divided(linear, bounds, epsilon, unit)
    return multiplied(_solved(Z, *problem, tol / unit, max_iter), unit)


def low_rank_hinge(Z, sign, cost, **options) -> SMOResult:
    """The machine of two classes: `low_rank_svm` for signs (m,), 0 if omitted, and costs (m,).

    Opposite signs give opposite coefficients, to the last bit.
    """
    side = orientations(sign[None])[0]
    reach = cost * side * sign
    bounds = np.minimum(reach, 0.0), np.maximum(reach, 0.0)
    found = low_rank_svm(Z, -side * sign, bounds, **options)
    turned = {n: side * getattr(found, n) for n in ("coef", "multiplier", "gradient")}
    return replace(found, **turned)


def _solved(Z, linear, bounds, epsilon, tol, max_iter):
    """The solution in units in which slopes are of order 1."""
    best = _result(Z, np.zeros(len(linear)), linear, bounds, epsilon, (0, tol))
    if best.converged:
        return best
    movable = np.flatnonzero(bounds[0] < bounds[1])
    some = slice(None) if movable.size == len(linear) else movable
    state = _State(Z[some], linear[some], tuple(end[some] for end in bounds), epsilon)
    for n_iter in range(1, max_iter + 1):
        if best.converged or not state.advance():
            break
        for unit in state.units if state.gap() <= 0.1 * tol else ():
            rounded = state.rounded(unit)
            if rounded is None:
                continue
            coef = np.zeros(len(linear))
            coef[some] = rounded
            found = _result(Z, coef, linear, bounds, epsilon, (n_iter, tol))
            if best.n_iter == 0 or found.kkt_violation < best.kkt_violation:
                best = found
    return best


def _result(Z, coef, linear, bounds, epsilon, ending):
    gradient = panels.times(Z, panels.transposed_times(Z, coef)) + linear
    lower, upper = bounds
    problem = SimpleNamespace(
        coef=coef, gradient=gradient, linear=linear, lower=lower, upper=upper, epsilon=epsilon
    )
    return _certificate(problem, *ending)


class _State:
    """The iterate: x = part - lower, room = upper - part, multipliers s, t, and nu of the sum.

    Part k belongs to the coefficient ``row[k]``. Columns of Z are treated as centered, which
    conditions the problem best and does not change it, because sum(b) = 0.
    """

    def __init__(self, Z, linear, bounds, epsilon):
        self.Z, self.linear, self.center = Z, linear, Z.mean(axis=0)
        self.row, self.penalty, self.lower, self.upper = _parts(*bounds, epsilon)
        self.width = self.upper - self.lower
        square = np.concatenate(
            [np.square(Z[part] - self.center).sum(axis=1) for part in panels.panels(len(Z))]
        )
        # Size of coefficients that corresponds to a multiplier of 1: the bound, or less if the
        # kernel makes the solution much smaller.
        self.units = self.width, 1.0 / np.maximum(square[self.row], 1.0 / self.width)
        # Stored separately, because upper - b loses all digits if b is close to upper.
        self.x, self.room = 0.5 * self.width, 0.5 * self.width
        size = max(float(np.abs(self._gradient()).max()), 1.0)
        self.s, self.t = np.full(self.row.size, size), np.full(self.row.size, size)
        self.nu = 0.0

    def _sum(self, v):
        """Sums over the parts of each coefficient."""
        return np.bincount(self.row, weights=v, minlength=len(self.linear))

    def _along(self, b):
        return panels.transposed_times(self.Z, b) - b.sum() * self.center

    def _across(self, w):
        return panels.times(self.Z, w) - self.center @ w

    def _gradient(self):
        """By parts."""
        product = self._across(self._along(self._sum(self.x + self.lower)))
        return (product + self.linear)[self.row] + self.penalty

    def gap(self):
        """Mean complementarity in units of the margin."""
        inner = self.x @ self.s + self.room @ self.t
        return float(inner / self.width.sum())

    def advance(self):
        """One predictor-corrector step; False if the system has no factor any more."""
        from scipy.linalg import LinAlgError, cho_factor

        x, room, s, t = self.x, self.room, self.s, self.t
        inverse = 1.0 / (s / x + t / room)
        small = panels.weighted_gram(self.Z, self._sum(inverse), self.center)
        small.flat[:: len(small) + 1] += 1.0
        try:
            factor = cho_factor(small, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return False
        residual = self._gradient() - self.nu - s + t
        ones = self._solve(factor, inverse, np.ones(len(x)))
        system = factor, inverse, ones, residual
        products = -x * s, -room * t
        dx, _, ds, dt = self._direction(system, *products)
        mean = (x @ s + room @ t) / (2 * len(x))
        a, c = _longest((x, dx), (room, -dx)), _longest((s, ds), (t, dt))
        after = (x + a * dx) @ (s + c * ds) + (room - a * dx) @ (t + c * dt)
        target = mean * (after / (2 * len(x) * mean)) ** 3
        products = target + products[0] - dx * ds, target + products[1] + dx * dt
        dx, dnu, ds, dt = self._direction(system, *products)
        # One length for both: with a quadratic term, two would break the dual residual.
        a = _SHORTEN * _longest((x, dx), (room, -dx), (s, ds), (t, dt))
        if not np.isfinite(a):
            return False
        self.x, self.room, self.nu = x + a * dx, room - a * dx, self.nu + a * dnu
        self.s, self.t = s + a * ds, t + a * dt
        return all(v.min() > 0.0 for v in (self.x, self.room, self.s, self.t))

    def _solve(self, factor, inverse, v):
        """Parts of ``(D + ZZ')^-1``, for a right-hand side by parts."""
        from scipy.linalg import cho_solve

        w = cho_solve(factor, self._along(self._sum(inverse * v)), check_finite=False)
        return inverse * (v - self._across(w)[self.row])

    def _direction(self, system, first, second):
        factor, inverse, ones, residual = system
        base = self._solve(factor, inverse, first / self.x - second / self.room - residual)
        imbalance = float((self.x + self.lower).sum())
        dnu = -(imbalance + base.sum()) / ones.sum()
        dx = base + dnu * ones
        ds = (first - self.s * dx) / self.x
        dt = (second + self.t * dx) / self.room
        return dx, dnu, ds, dt

    def rounded(self, unit):
        """Coefficients, with those near a bound moved to it and sum 0, or None.

        If few coefficients are free, they solve their equations exactly. This restores the last
        digits, which the update formula loses as D^-1 grows.
        """
        low, high = self.x < unit * self.s, self.room < unit * self.t
        loose = ~(low | high)
        parts = np.where(low, self.lower, np.where(high, self.upper, self.x + self.lower))
        b, count = self._sum(parts), self._sum(loose)
        free = np.flatnonzero(count)
        room = self._sum(np.where(loose, np.minimum(self.x, self.room), 0.0))[free]
        excess = b.sum()
        if abs(excess) > room.sum() and abs(excess) > 1e-12 * np.abs(b).sum():
            return None
        if not free.size:
            return b
        ends = [self._sum(np.where(loose, end, parts))[free] for end in (self.lower, self.upper)]
        # If a coefficient reaches its bound, rounding must not move it beyond.
        b[free] = np.clip(b[free] - excess * room / room.sum(), *ends)
        if free.size > 2 * self.Z.shape[1] + 10:
            return b
        # If both parts are free, epsilon is too small to matter.
        penalty = (self._sum(np.where(loose, self.penalty, 0.0)) / np.maximum(count, 1.0))[free]
        moved = b[free] + self._correction(b, free, penalty)
        if np.all((moved >= ends[0]) & (moved <= ends[1])):
            b[free] = moved
        return b

    def _correction(self, b, free, penalty):
        """The smallest change of the free coefficients that solves their equations."""
        part = self.Z[free] - self.center
        block = self_product(part)
        # The equation of the sum in units of the others, because the cutoff of singular values is
        # relative to all.
        unit = unit_of(block.diagonal())
        system = np.full((free.size + 1, free.size + 1), unit)
        system[1:, 1:] = block
        system[0, 0] = 0.0
        slope = part @ self._along(b) + self.linear[free] + penalty
        return least_squares(system, -np.append(unit * b.sum(), slope - self.nu))[1:]


def _parts(lower, upper, epsilon):
    """Rows, slopes of the penalty, lower and upper ends of the parts."""
    if epsilon == 0.0:
        return np.arange(len(lower)), np.zeros(len(lower)), lower, upper
    up, down = np.flatnonzero(upper > 0.0), np.flatnonzero(lower < 0.0)
    row = np.concatenate([up, down])
    penalty = np.repeat([epsilon, -epsilon], [up.size, down.size])
    lower = np.concatenate([np.zeros(up.size), lower[down]])
    upper = np.concatenate([upper[up], np.zeros(down.size)])
    return row, penalty, lower, upper


def _longest(*pairs):
    """Longest step, at most 1, that keeps every v + step dv >= 0."""
    step = 1.0
    for v, dv in pairs:
        ratio = np.divide(v, -dv, where=dv < 0.0, out=np.full(len(v), np.inf))
        step = min(step, float(ratio.min(initial=np.inf)))
    return step
