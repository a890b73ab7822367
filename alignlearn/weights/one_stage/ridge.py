"""L2-regularized kernel learning with ridge regression: two solvers of one convex problem.

With v_k(alpha) = alpha'K_k alpha the problem of Cortes, Mohri and Rostamizadeh (2009), eq. (5), is

    minimize  lam |alpha|^2 - 2 y'alpha + mu0'v + L |v|_2,

convex in alpha, and its minimizer solves (K_mu + lam) alpha = y at mu = mu0 + L v/|v|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.solvers.dense import solve_or_least_squares

_SUBSPACE_LIMIT = 30
_SLOW = 0.4  # a preconditioner that gains less than this in a step is out of date
_NEWTON_STEPS = 60
_STALLED = 12
_CYCLING = 48
# Of the promised gain a step must bring this share: so little that near the solution every step
# with eta > 1/3 is taken whole.
_ARMIJO = 1e-4
_SHORTEST = 1e-6


@dataclass(frozen=True)
class RidgeProblem:
    """A family of kernels, targets Y (c, m), lam > 0, mu0 (p,) >= 0 and the radius L >= 0."""

    family: object
    Y: np.ndarray
    lam: float
    mu0: np.ndarray
    radius: float

    def weights(self, v):
        """mu0 + L v/|v|, the maximizer of mu'v; any direction is optimal where v = 0."""
        top = v.max()
        if not top > 0.0:
            return self.mu0.copy()
        v = np.maximum(v, 0.0) / top
        return self.mu0 + self.radius * v / np.linalg.norm(v)

    def rounding(self, mu):
        """What rounding alone leaves of the fixed-point residual, at most 1e-6."""
        size = mu @ np.maximum(self.family.traces(), 0.0)
        return min(np.finfo(np.float64).eps * size / self.lam, 1e-6)

    def lower_value(self, alpha, v):
        """Value of the max-min problem (4) at alpha: a lower bound of the optimum."""
        norm = np.linalg.norm(np.maximum(v, 0.0))
        linear = 2.0 * np.vdot(alpha, self.Y) - self.lam * np.vdot(alpha, alpha)
        return float(linear - self.mu0 @ v - self.radius * norm)


@dataclass
class RidgeState:
    """The state of a solver.

    ``step`` is the fixed-point residual: the larger relative length of (K_mu + lam)^-1 y - alpha
    and of the change of mu that it brings (mu is the more sensitive where alpha lies mostly where
    the kernels vanish). ``gap`` is the duality gap of the min-max problem (3) at mu = mu(alpha) and
    alpha, relative to its value: r'(K_mu + lam)^-1 r, r = y - (K_mu + lam) alpha.
    """

    alpha: np.ndarray
    mu: np.ndarray
    value: float
    gap: float
    step: float
    n_iter: int
    converged: bool


def _state(problem, alpha, mu, v, step, gap, n_iter, tol):
    value = problem.lower_value(alpha, v)
    converged = step <= max(tol, problem.rounding(mu))
    gap = max(float(gap), 0.0) / value if value > 0.0 else np.inf
    return RidgeState(alpha, mu, value, gap, step, n_iter, converged)


def interpolated(problem, eta, tol, max_iter, alpha=None, safeguard=True):
    """Algorithm 1: alpha <- eta alpha + (1 - eta) (K_mu(alpha) + lam)^-1 y.

    A step goes up the gradient of the concave value of problem (4), multiplied by (1 - eta)/2 times
    the inverse of K_mu(alpha) + lam. With the safeguard it is halved until the value rises by a
    share of what the gradient promises, which makes the iteration converge for every eta and from
    every start; without it this is the algorithm as published. Stops early where the step has not
    become shorter in many iterations, as in a cycle, and the value does not rise.
    """
    family, Y, lam = problem.family, problem.Y, problem.lam
    if alpha is None:
        alpha = family.factor(problem.mu0, lam)(Y) if problem.mu0.any() else Y / lam
    best, since, n_iter, mu, taken = np.inf, 0, 0, problem.mu0, 1.0 - eta
    v, value = family.quadratic(alpha), -np.inf
    while True:
        before, mu = mu, problem.weights(v)
        change = family.factor(mu, lam)(Y) - alpha
        step = max(_ratio(change, alpha), _ratio(mu - before, mu) / taken)
        n_iter += 1
        last, value = value, problem.lower_value(alpha, v)
        # From a far start the relative step grows for long, while the value rises.
        rises = safeguard and value - last > 1e-6 * abs(value)
        since = 0 if step < 0.999 * best or rises else since + 1
        best = min(best, step)
        if step <= tol or n_iter >= max_iter or since > _CYCLING:
            break
        if safeguard:
            # Near the solution 1/2 is always right; what was too long once is not tried again.
            longest = min(1.0 - eta, max(taken, 0.5))
            taken = _rising(problem, alpha, v, change, longest)
        alpha = alpha + taken * change
        v = family.quadratic(alpha)
    gap = np.vdot(Y, alpha + change) - problem.lower_value(alpha, v)
    return _state(problem, alpha, mu, v, step, gap, n_iter, tol)


def _rising(problem, alpha, v, change, t):
    """The step t, halved until the value at alpha + t change has risen enough.

    The slope of the value along the change is twice the duality gap.
    """
    value, linear = problem.lower_value(alpha, v), np.vdot(alpha, problem.Y)
    gap = np.vdot(problem.Y, alpha + change) - value
    # The forms alpha'K_k alpha are rounded relative to |K_k||alpha|^2.
    size = problem.weights(v) @ np.maximum(problem.family.traces(), 0.0) * np.vdot(alpha, alpha)
    rounding = 4.0 * np.finfo(np.float64).eps * (abs(value) + 2.0 * abs(linear) + size)
    if gap <= rounding:
        return min(t, 0.5)
    shorter = t
    while shorter > _SHORTEST * t:
        trial = alpha + shorter * change
        reached = problem.lower_value(trial, problem.family.quadratic(trial))
        if reached >= value + 2.0 * _ARMIJO * shorter * gap - rounding:
            return shorter
        shorter *= 0.5
    return min(t, 0.5)  # rounding of the forms hides the value


def subspace(problem, tol, max_iter):
    """Minimize over growing subspaces, each spanned by preconditioned residuals.

    The residual y - (K_mu(alpha) + lam) alpha is minus half the gradient. Algorithm 1 steps along
    (K_mu + lam)^-1 times it; here that direction joins a basis, over which the convex objective is
    minimized exactly (a problem of the basis' size), so that nothing learned is thrown away. The
    factor may be that of an earlier mu: it only has to be close, and is renewed when progress
    slows. An iteration so costs one pass over the kernels instead of two and a factorization, and
    there are fewer of them.
    """
    family, Y, lam = problem.family, problem.Y, problem.lam
    reference = problem.weights(family.quadratic(Y))
    solve = family.factor(reference, lam)
    basis = _Basis(problem)
    change, step, best, since, n_iter, renewed = solve(Y), np.inf, np.inf, 0, 0, 0
    while True:
        n_iter += 1
        basis.extend(change)
        alpha, forms, mu, v = basis.minimize()
        residual = Y - lam * alpha - family.apply(mu, forms)
        change = solve(residual)
        shift = problem.weights(v + 2.0 * family.against(forms, change)) - mu
        before, step = step, max(_ratio(change, alpha), _ratio(shift, mu))
        since = 0 if step < 0.9 * best else since + 1
        best = min(best, step)
        if step <= tol or n_iter >= max_iter or since > _STALLED:
            break
        if step > _SLOW * before and n_iter - renewed > 2:
            solve, renewed, reference = family.factor(mu, lam), n_iter, mu
            change = solve(residual)
    # K_mu + lam is at least share times the matrix that was factorized, so its inverse at most
    # 1/share times that inverse.
    used = reference > 0.0
    share = np.min(mu[used] / reference[used], initial=1.0)
    gap = np.vdot(residual, change) / share if share > 0.0 else np.vdot(residual, residual) / lam
    return _state(problem, alpha, mu, v, step, gap, n_iter, tol)


class _Basis:
    """Orthonormal directions with their forms, and the problem restricted to their span."""

    def __init__(self, problem):
        self.problem = problem
        c, m = problem.Y.shape
        self.Z = np.empty((0, c, m))
        self.F = []
        self.T = np.empty((problem.family.n_kernels, 0, 0))
        self.coef = np.empty(0)

    def extend(self, direction):
        """Add a direction; a full basis is first replaced by the current point."""
        if len(self.Z) >= _SUBSPACE_LIMIT:
            self._collapse()
        largest = np.abs(direction).max()
        if largest == 0.0:
            return
        new = direction / largest  # whose squares vanish neither
        new /= _norm(new)
        for _ in range(2):  # twice is enough (Kahan)
            flat = self.Z.reshape(len(self.Z), new.size)
            new = new - (flat.T @ (flat @ new.ravel())).reshape(new.shape)
            size = _norm(new)
            if size < 1e-14:
                return
            new /= size
        family, j = self.problem.family, len(self.Z)
        forms = family.forms(new)
        self.Z = np.concatenate([self.Z, new[None]])
        self.F.append(forms)
        T = np.zeros((family.n_kernels, j + 1, j + 1))
        T[:, :j, :j] = self.T
        for i in range(j + 1):
            T[:, i, j] = T[:, j, i] = family.cross(new, forms, self.Z[i], self.F[i])
        # The first direction is a solution for fixed weights: a start where v is not 0.
        self.T, self.coef = T, np.append(self.coef, 0.0 if j else _norm(direction))

    def _collapse(self):
        alpha, forms, _, _ = self.point()
        size = _norm(alpha)
        self.Z, self.F = alpha[None] / size, [forms / size]
        self.T = (self.T @ self.coef @ self.coef / size**2)[:, None, None]
        self.coef = np.array([size])

    def point(self):
        """alpha, its forms, mu(alpha) and v(alpha)."""
        alpha = np.tensordot(self.coef, self.Z, 1)
        forms = sum(c * F for c, F in zip(self.coef, self.F))
        v = self.T @ self.coef @ self.coef
        return alpha, forms, self.problem.weights(v), v

    def minimize(self):
        """Newton's method with backtracking in the coordinates of the basis."""
        problem, j = self.problem, len(self.coef)
        linear = self.Z.reshape(j, -1) @ problem.Y.ravel()
        coef = self.coef
        value, B = self._value(coef, linear)
        for _ in range(_NEWTON_STEPS):
            gradient, H = self._derivatives(coef, B, linear)
            step = -solve_or_least_squares(H, gradient)
            slope = gradient @ step
            if -slope <= 1e-30 * abs(value):
                break
            t, decrease = 1.0, 0.0
            while t > 1e-8:
                trial = coef + t * step
                new, B_new = self._value(trial, linear)
                decrease = value - new
                if decrease >= -1e-4 * t * slope:
                    break
                t *= 0.5
            if t <= 1e-8:
                # At rounding of the value a full Newton step still improves the gradient.
                trial = coef + step
                new, B_new = self._value(trial, linear)
                if (
                    np.abs(self._derivatives(trial, B_new, linear)[0]).max()
                    >= 0.5 * np.abs(gradient).max()
                ):
                    break
            coef, value, B = trial, new, B_new
        self.coef = coef
        return self.point()

    def _value(self, coef, linear):
        problem = self.problem
        B = self.T @ coef
        v = np.maximum(B @ coef, 0.0)
        value = problem.lam * (coef @ coef) - 2.0 * linear @ coef + problem.mu0 @ v
        return value + problem.radius * np.linalg.norm(v), B

    def _derivatives(self, coef, B, linear):
        """Half the gradient and half the Hessian of the restricted problem."""
        problem = self.problem
        v = B @ coef
        norm = np.linalg.norm(v)
        A = np.tensordot(problem.weights(v), self.T, 1)
        A.flat[:: len(A) + 1] += problem.lam
        gradient = A @ coef - linear
        if norm > 0.0 and problem.radius > 0.0:
            along = B.T @ (v / norm)
            A += (2.0 * problem.radius / norm) * (B.T @ B - np.outer(along, along))
        return gradient, A


class _Evaluation:
    """J(mu) = Y'(K_mu + lam)^-1 Y with what its derivatives need."""

    def __init__(self, problem, mu):
        self.mu, self.problem = mu, problem
        self.solve = problem.family.factor(mu, problem.lam)
        self.alpha = self.solve(problem.Y)
        self.forms = problem.family.forms(self.alpha)
        self.v = problem.family.cross(self.alpha, self.forms, self.alpha, self.forms)
        self.value = float(np.vdot(problem.Y, self.alpha))


def _norm(A):
    return float(np.linalg.norm(A.ravel()))


def _ratio(change, size):
    """Relative length of a change; 0 where there is none, infinite where the size is 0."""
    length = _norm(change)
    return length / _norm(size) if length > 0.0 and size.any() else (np.inf if length else 0.0)
