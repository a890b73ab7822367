"""The dual of a support vector classifier by an interior point method, for a kernel of low rank.

With ``K = ZZ'`` and Z of shape (m, q) every Newton system is ``D + ZZ'`` with D diagonal, solved
through the (q, q) matrix ``I + Z'D^-1 Z``: O(m q^2) an iteration and no (m, m) matrix. A few dozen
iterations are needed whatever C is, where the steps of SMO grow with it.

Sources: Fine and Scheinberg (2001), "Efficient SVM training using low-rank kernel
representations"; Mehrotra (1992) for predictor and corrector.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from .smo import SMOResult, _certificate

_SHORTEN = 0.995  # of the longest step inside the bounds


def low_rank_svm(Z, linear, bounds, *, tol=1e-3, max_iter=100) -> SMOResult:
    """Minimise ``b'ZZ'b / 2 + linear'b`` with sum(b) = 0 and lower <= b <= upper.

    Parameters
    ----------
    Z : (m, q) float64
        Not modified. Centred columns condition the problem best; since sum(b) = 0 they change
        ``multiplier`` only.
    linear : (m,) float64
    bounds : pair of (m,) float64
        ``(lower, upper)`` with lower <= 0 <= upper, finite; equal ones fix a coefficient at 0.
    tol : float
        Bound on the KKT violation, as in `alignlearn.solvers.smo.smo`.
    max_iter : int
        Newton steps.

    Returns
    -------
    SMOResult
        Coefficients within rounding of a bound are at the bound. ``converged`` is false if the
        violation stays above ``tol``; nothing is raised.
    """
    lower, upper = bounds
    movable = np.flatnonzero(lower < upper)
    state = _State(Z[movable], linear[movable], lower[movable], upper[movable])
    best = _result(Z, np.zeros(len(linear)), linear, bounds, 0, tol)
    for n_iter in range(1, max_iter + 1):
        if best.converged or not state.advance():
            break
        for unit in state.units if state.gap() <= 0.1 * tol else ():
            coef = np.zeros(len(linear))
            rounded = state.rounded(unit)
            if rounded is None:
                continue
            coef[movable] = rounded
            found = _result(Z, coef, linear, bounds, n_iter, tol)
            if best.n_iter == 0 or found.kkt_violation < best.kkt_violation:
                best = found
    return best


def _result(Z, coef, linear, bounds, n_iter, tol):
    gradient = Z @ (Z.T @ coef) + linear
    problem = SimpleNamespace(
        coef=coef, gradient=gradient, linear=linear, lower=bounds[0], upper=bounds[1], epsilon=0.0
    )
    return _certificate(problem, n_iter, tol)


class _State:
    """The iterate: x = b - lower and room = upper - b, their multipliers s and t, nu of the sum."""

    def __init__(self, Z, linear, lower, upper):
        self.Z, self.linear, self.lower = Z, linear, lower
        self.width = upper - lower
        square = np.einsum("ij,ij->i", Z, Z)
        # Coefficients that count as large as a multiplier of 1: the bound, or less where the kernel
        # makes the solution much smaller.
        self.units = self.width, 1.0 / np.maximum(square, 1.0 / self.width)
        # Kept apart, since upper - b has no digits left where b is close to upper.
        self.x, self.room = 0.5 * self.width, 0.5 * self.width
        size = max(float(np.abs(self._gradient()).max()), 1.0)
        self.s, self.t = np.full(len(linear), size), np.full(len(linear), size)
        self.nu = 0.0

    def _gradient(self):
        return self.Z @ (self.Z.T @ (self.x + self.lower)) + self.linear

    def gap(self):
        """Mean complementarity in units of the margin."""
        inner = self.x @ self.s + self.room @ self.t
        return float(inner / self.width.sum())

    def advance(self):
        """One predictor-corrector step; False if the system has no factor any more."""
        from scipy.linalg import LinAlgError, cho_factor

        x, room, s, t = self.x, self.room, self.s, self.t
        inverse = 1.0 / (s / x + t / room)
        scaled = self.Z * np.sqrt(inverse)[:, None]
        small = scaled.T @ scaled
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
        """``(D + ZZ')^-1 v``."""
        from scipy.linalg import cho_solve

        g = inverse * v
        return g - inverse * (self.Z @ cho_solve(factor, self.Z.T @ g, check_finite=False))

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
        """Coefficients with those near a bound put on it and the others moved to sum 0, or None.

        Free coefficients solve their equations exactly where they are few: the last digits, which
        the update formula loses as D^-1 grows, come from here.
        """
        low, high = self.x < unit * self.s, self.room < unit * self.t
        b = np.where(low, 0.0, np.where(high, self.width, self.x)) + self.lower
        free = np.flatnonzero(~(low | high))
        room, excess = np.minimum(self.x, self.room)[free], b.sum()
        if abs(excess) > room.sum() and abs(excess) > 1e-12 * np.abs(b).sum():
            return None
        if not free.size:
            return b
        b[free] -= excess * room / room.sum()
        if free.size > 2 * self.Z.shape[1] + 10:
            return b
        part = self.Z[free]
        system = np.ones((free.size + 1, free.size + 1))
        system[1:, 1:] = part @ part.T
        system[0, 0] = 0.0
        slope = part @ (self.Z.T @ b) + self.linear[free]
        # The least correction, where repeated points leave it open.
        step = np.linalg.lstsq(system, -np.append(b.sum(), slope - self.nu), rcond=None)[0][1:]
        moved = b[free] + step
        inside = (moved >= self.lower[free]) & (moved <= (self.lower + self.width)[free])
        if inside.all():
            b[free] = moved
        return b


def _longest(*pairs):
    """Longest step, at most 1, that keeps every v + step dv >= 0."""
    step = 1.0
    for v, dv in pairs:
        ratio = np.divide(v, -dv, where=dv < 0.0, out=np.full(len(v), np.inf))
        step = min(step, float(ratio.min(initial=np.inf)))
    return step


def low_rank_svr(Z, linear, bounds, *, epsilon, tol=1e-3, max_iter=100):
    """Temporary."""
    Z2 = np.concatenate([Z, Z])
    lower, upper = bounds
    zero = np.zeros(len(lower))
    b = np.concatenate([zero, lower]), np.concatenate([upper, zero])
    r = low_rank_svm(
        Z2, np.concatenate([linear + epsilon, linear - epsilon]), b, tol=tol, max_iter=max_iter
    )
    from dataclasses import replace

    n = len(lower)
    return replace(r, coef=r.coef[:n] + r.coef[n:])
