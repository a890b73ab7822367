"""The support vector machine as a function of the kernel weights: value, gradient, Hessian.

With the signed dual coefficients b of `alignlearn.solvers.smo`,

    S(x) = max_b  y'b - epsilon |b|_1 - b'K_x b / 2,    dS/dx_k = -v_k / 2,  v_k = b'K_k b.

The coefficients strictly inside their bounds move with x so that their slopes stay equal: with B
the vectors K_k b at these samples, the Hessian is B'NB, N the inverse of their block of K_x on the
vectors that sum to 0 (Chapelle and Rakotomamonjy 2008).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from alignlearn._lapack import cholesky_solve
from alignlearn.solvers.dense import factor_damped
from alignlearn.solvers.smo import smo


@dataclass(frozen=True)
class Duals:
    """Dual problems of support vector machines that share one kernel.

    ``signs`` (n_problems, m) are the targets of each: -1, 1, or 0 for samples left out, or real
    values in regression, where ``reach`` is C for all.
    """

    targets: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    epsilon: float

    @classmethod
    def hinge(cls, signs, C):
        """One problem in each row of signs (-1, 0 or 1), at cost C: one, or one a sample."""
        reach = C * signs
        return cls(signs, np.minimum(reach, 0.0), np.maximum(reach, 0.0), 0.0)

    @classmethod
    def tube(cls, Y, C, epsilon):
        """Epsilon-insensitive regression of every row of Y, at cost C, likewise."""
        reach = np.broadcast_to(C, Y.shape)
        return cls(Y, -reach, reach, epsilon)


@dataclass
class Settings:
    """How exactly the machines are solved, and what was spent."""

    tol: float  # of the whole problem, relative
    kkt: float = 1e-2
    n_solves: int = 0
    n_updates: int = 0
    scale: np.ndarray = field(default=None)


class SVMPoint:
    """The machines solved at weights x of the kernels ``scale_k K_k``."""

    def __init__(self, family, duals, settings, x, near=None):
        self.family, self.duals, self.settings = family, duals, settings
        self.x = x
        again = near is not None and near.x is x
        self.gram = near.gram if again else family.gram(x * settings.scale)
        self.coef = np.zeros(duals.targets.shape) if near is None else near.coef
        self._solve()
        self.forms = [family.forms(np.ascontiguousarray(b[None])) for b in self.coef]
        self.v = settings.scale * sum(
            family.cross(b[None], F, b[None], F) for b, F in zip(self.coef, self.forms)
        )
        self.v = np.maximum(self.v, 0.0)
        self.gradient = -0.5 * self.v

    def _solve(self):
        """Solve until the machines' own duality gap is a tenth of what is asked for."""
        while True:
            results = [self._one(i) for i in range(len(self.coef))]
            self.coef = np.array([r.coef for r in results])
            self.multiplier = np.array([r.multiplier for r in results])
            self.dual_value = -sum(r.objective for r in results)
            own_gap = sum(r.duality_gap for r in results)
            # An upper bound of S(x), for any accuracy of the models.
            self.value = self.dual_value + own_gap
            exact = own_gap <= 0.1 * self.settings.tol * abs(self.dual_value)
            if exact or self.settings.kkt < 1e-10 or not all(r.converged for r in results):
                return
            self.settings.kkt *= 0.2

    def _one(self, i):
        duals, settings = self.duals, self.settings
        settings.n_solves += 1
        return smo(
            self.gram,
            -duals.targets[i],
            (duals.lower[i], duals.upper[i]),
            epsilon=duals.epsilon,
            start=self.coef[i],
            tol=settings.kkt * max(np.abs(duals.targets[i]).max(), 1e-300),
        )

    def lower(self, largest):
        """Lower bound of min S given ``largest`` = max x'v over the feasible weights."""
        return self.dual_value + 0.5 * (self.x @ self.v - largest)

    def sharper(self):
        """The same weights with the machines solved ten times as exactly."""
        self.settings.kkt = max(0.1 * self.settings.kkt, 1e-10)
        return type(self)(self.family, self.duals, self.settings, self.x, self)

    def hessian(self, index):
        """Hessian of S for the kernels ``index``, (len(index), len(index))."""
        H = np.zeros((index.size, index.size))
        for i, b in enumerate(self.coef):
            inside = (b > self.duals.lower[i]) & (b < self.duals.upper[i]) & (b != 0.0)
            free = np.flatnonzero(inside)
            if free.size < 2:
                continue
            factor = factor_damped(self.gram[np.ix_(free, free)])
            B = self.family.columns(self.forms[i], free)[:, index] * self.settings.scale[index]
            ones = cholesky_solve(factor, np.ones(free.size))
            NB = cholesky_solve(factor, B)
            NB -= np.outer(ones, ones @ B) / ones.sum()
            H += B.T @ NB
        return 0.5 * (H + H.T)
