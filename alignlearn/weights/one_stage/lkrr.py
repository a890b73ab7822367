"""Kernel ridge regression with learned, norm-regularized kernel weights."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from alignlearn.validation import (
    DegenerateKernelWarning,
    check_choice,
    check_count,
    check_number,
    warn,
    warn_unconverged,
)

from . import ridge, simplex
from .base import (
    REMEDY,
    OneStageWeighting,
    check_base_weights,
    check_scale,
    real_rows,
)

SOLVERS = ("subspace", "interpolated")


@dataclass(eq=False, repr=False)
class LKRR(OneStageWeighting):
    """L2-regularized kernel learning with ridge regression (Cortes, Mohri, Rostamizadeh 2009).

    Solves problem (3): the minimum over ``mu >= 0, |mu - mu0|_norm <= Lambda`` of the maximum over
    dual coefficients of ``-alpha |a|^2 - a'K_mu a + 2 a'y``. With the 2-norm the solution is
    ``mu = mu0 + Lambda v/|v|``, ``v_k = a'K_k a`` (Theorem 1); with the 1-norm it is the L1
    regularized ridge regression of Cortes, Mohri and Rostamizadeh (2008), usually sparse.

    Parameters
    ----------
    Lambda : float, default 1.0
        Radius, >= 0.
    mu0 : float or array-like of shape (p,), default 1.0
        Base weights, >= 0; with 0 all weights are learned.
    alpha : float, default 1.0
        Ridge parameter, > 0, on the diagonal of the kernel matrix (lambda of the paper).
    norm : {2, 1}, default 2
    solver : {"subspace", "interpolated"}, default "subspace"
        For ``norm=2``. "interpolated" is Algorithm 1 with a safeguard: a step that does not raise
        the objective enough is halved, which makes it converge globally for every ``eta``.
        "subspace" minimizes the same convex objective over the span of such steps and needs fewer,
        cheaper ones. If rounding prevents the tolerance, "interpolated" continues, and ``method``
        of the result names it.
    eta : float, default 0.5
        Interpolation parameter of "interpolated", 0 <= eta < 1. Without the safeguard it converges
        locally for eta > 1/3; below, it can cycle. 1/2 is the best choice.
    tol : float, default 1e-8
        ``norm=2``: largest relative fixed-point residual, ``|(K_mu + alpha)^-1 y - a| / |a|`` or
        the like for mu, which is ``kkt_residual`` of the result (rounding of ill-conditioned
        problems is allowed for).
        ``norm=1``: largest relative duality gap.
    max_iter : int, optional
        Maximum number of iterations of a method. Default: 1000.

    Notes
    -----
    ``duality_gap`` of the result bounds the distance of ``objective`` (a lower bound) from the
    optimal value of (3), relative to it. If ``K_k y = 0`` for all k, every ``mu`` is optimal: mu0
    is returned, or equal weights if it is 0, with a warning.

    Columns of y (m, c) share one kernel: the objective is summed over them.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, LKRR, Linear, MKLRegressor
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> rule = LKRR(Lambda=2.0, mu0=0.0)
    >>> model = MKLRegressor([Gaussian(10.0), Linear()], weighting=rule).fit(X, X[:, 0])
    >>> float(np.linalg.norm(model.weights_).round(6))  # the length is Lambda
    2.0
    """

    Lambda: float = 1.0
    mu0: Any = 1.0
    alpha: float = 1.0
    _: KW_ONLY
    norm: int = 2
    solver: str = "subspace"
    eta: float = 0.5
    tol: float = 1e-8
    max_iter: int | None = None

    sample_weights = "matrices"

    def _check_parameters(self):
        check_scale("Lambda", self.Lambda, low=0.0)
        check_scale("alpha", self.alpha)
        check_number("eta", self.eta, low=0.0)
        check_number("eta", self.eta, high=1.0, strict=True)
        check_number("tol", self.tol, low=0.0, strict=True)
        check_count("max_iter", self.max_iter)
        check_choice("solver", self.solver, SOLVERS)
        if isinstance(self.norm, bool) or self.norm not in (1, 2):
            raise ValueError(f"norm={self.norm!r} is not known; accepted: 1, 2.")

    def _solve(self, family, y, statistics):
        Y, shaped = real_rows(y, family.n_samples)
        mu0 = check_base_weights(self.mu0, family.n_kernels)
        if not self.Lambda > 0.0 and not mu0.any():
            raise ValueError("Lambda=0 with mu0=0 allows no kernel at all; raise either.")
        problem = ridge.RidgeProblem(family, Y, float(self.alpha), mu0, float(self.Lambda))
        v = family.quadratic(Y)
        if not np.isfinite(v).all():
            raise ValueError("grams contains NaN or infinity; all values must be finite.")
        if (v < -1e-8 * np.abs(family.traces()).max() * np.vdot(Y, Y)).any():
            raise ValueError(
                f"grams[{int(np.argmin(v))}] is not positive semi-definite: y'K_k y = "
                f"{v.min():.3g}; accepted are positive semi-definite matrices."
            )
        if not v.max() > 1e-14 * np.abs(family.traces()).max() * np.vdot(Y, Y):
            return self._degenerate(problem, shaped)
        state, method = self._minimize(problem)
        if not state.converged:
            reached = state.step if self.norm == 2 else state.gap
            what = "a fixed-point residual of" if self.norm == 2 else "a duality gap of"
            what = f"a relative duality gap of {state.gap:.3g} and {what}"
            count = f"{state.n_iter} iterations"
            warn_unconverged(type(self).__name__, count, what, reached, self.tol, REMEDY)
        return state.mu, {
            "dual_coef": shaped(state.alpha),
            "objective": state.value,
            "duality_gap": state.gap,
            "kkt_residual": state.step,
            "n_iter": state.n_iter,
            "converged": state.converged,
            "method": method,
        }

    def _minimize(self, problem):
        max_iter = self.max_iter or 1000
        if self.norm == 1 and self.Lambda > 0.0:
            return simplex.ridge_on_simplex(problem, self.tol, max_iter), "simplex-newton"
        start = None
        if self.solver == "subspace":
            state = ridge.subspace(problem, self.tol, max_iter)
            if state.converged:
                return state, self.solver
            start = state.alpha
        state = ridge.interpolated(problem, self.eta, self.tol, max_iter, start)
        return state, "interpolated"

    def _degenerate(self, problem, shaped):
        warn(
            f"{type(self).__name__}: no kernel acts on the target (K_k y = 0), so every weight "
            "vector is optimal; mu0 is returned, or equal weights where it is 0.",
            DegenerateKernelWarning,
        )
        mu = problem.mu0
        if not mu.any():
            mu = np.full(mu.size, self.Lambda / mu.size ** (1.0 / self.norm))
        return mu, {
            "dual_coef": shaped(problem.Y / problem.lam),
            "objective": float(np.vdot(problem.Y, problem.Y)) / problem.lam,
            "fallback": True,
            "method": "closed form",
        }
