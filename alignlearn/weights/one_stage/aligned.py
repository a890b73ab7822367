"""Kernel ridge regression whose kernel optimizes the ridge objective and the alignment jointly."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from alignlearn.solvers.nnqp import nonnegative_qp
from alignlearn.validation import (
    ConvergenceWarning,
    check_count,
    check_number,
    gathered_warnings,
    warn_unconverged,
)

from .base import REMEDY, OneStageWeighting, check_scale, real_rows
from .ridge import RidgeProblem, _Evaluation

_FLOOR = 1e-9  # residual that the subproblems' own accuracy guarantees in double precision
_ROUNDING = 16 * np.finfo(np.float64).eps


@dataclass(eq=False, repr=False)
class AlignedKRR(OneStageWeighting):
    """The single-stage problem of Cortes, Mohri and Rostamizadeh (2012), section 3.4, eq. (9).

    Minimizes over ``mu >= 0`` the convex function

        y'(K_mu + alpha I)^-1 y - gamma mu'a + mu'(gamma2 M + gamma1 I) mu,

    with ``a_k = <K_k, yy'>`` and ``M_kl = <K_k, K_l>`` of the (centered) matrices.

    Parameters
    ----------
    gamma : float, default 1.0
        Reward for alignment, >= 0.
    gamma1, gamma2 : float, default 1.0
        gamma' and gamma'' of the paper, >= 0 and not both 0: without them there is no minimizer.
    alpha : float, default 1.0
        Ridge parameter, > 0. It is redundant: with ``mu = alpha mu'`` the problem becomes the one
        with alpha 1 and ``alpha^2 gamma, alpha^3 gamma1, alpha^3 gamma2``.
    tol : float, default 1e-8
        Maximum `kkt_residual`; up to 1e-9, or what rounding leaves of ill-conditioned problems (up
        to 1e-6, or any where the duality gap is rounding), is accepted where no step makes it
        smaller.
    max_iter : int, optional
        200 by default.

    Notes
    -----
    The solver is Newton's method with nonnegative quadratic subproblems and a line search. The
    averaged iteration named in the paper can enter a cycle when ``gamma2 > 0``.

    The parameters have units: those of y squared, over powers of the kernels' units. As the
    ``weighting`` of an estimator, the rule gets targets with mean square 1, so that the units of y
    do not matter; the model is then trained on the original y.

    ``kkt_residual`` of the result is the largest of ``|g_k|`` where ``mu_k > 0`` and of ``-g_k``
    where ``mu_k = 0``, relative to the largest entry of the gradient's terms. The result's
    ``duality_gap`` compares the objective with the max-min form of the problem,
    ``max_a -alpha a'a + 2 a'y + min_mu [mu'(gamma2 M + gamma1 I) mu - mu'(gamma a + b)]``, ``b_k =
    a'K_k a``, in which the paper's text has a sign reversed.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import AlignedKRR, Gaussian, Linear, MKLRegressor
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> model = MKLRegressor([Gaussian(10.0), Linear()], weighting=AlignedKRR()).fit(X, X[:, 0])
    >>> bool(model.weights_[1] > model.weights_[0]), model.result_.kkt_residual < 1e-6
    (True, True)
    """

    gamma: float = 1.0
    gamma1: float = 1.0
    gamma2: float = 1.0
    alpha: float = 1.0
    _: KW_ONLY
    tol: float = 1e-8
    max_iter: int | None = None

    unit_target = True
    sample_weights = "matrices"

    def _check_parameters(self):
        for name in ("gamma", "gamma1", "gamma2"):
            check_scale(name, getattr(self, name), low=0.0)
        if not self.gamma1 + self.gamma2 > 0.0:
            raise ValueError(
                "gamma1=0 with gamma2=0 leaves problem (9) without a minimizer; accepted: at "
                "least one of them > 0."
            )
        check_scale("alpha", self.alpha)
        check_number("tol", self.tol, low=0.0, strict=True)
        check_count("max_iter", self.max_iter)

    def _solve(self, family, y, statistics):
        Y, shaped = real_rows(y, family.n_samples)
        problem = _AlignedProblem(family, Y, self, statistics)
        limit = self.max_iter or 200
        point, n_iter, converged = _newton(problem, self.tol, limit)
        gap = problem.duality_gap(point)
        # Without a gap, what remains of the residual is rounding of an ill-conditioned problem.
        converged = converged or gap <= _ROUNDING
        if not converged:
            what = f"a relative duality gap of {gap:.3g} and a KKT residual of"
            count = f"{n_iter} iterations"
            warn_unconverged(type(self).__name__, count, what, point.residual, self.tol, REMEDY)
        return point.mu, {
            "dual_coef": shaped(point.alpha),
            "objective": point.objective,
            "duality_gap": gap,
            "kkt_residual": point.residual,
            "n_iter": n_iter,
            "converged": converged,
            "method": "newton",
        }


class _AlignedProblem:
    """Objective (9): the linear term, the quadratic one, and evaluations at mu."""

    def __init__(self, family, Y, rule, statistics):
        self.family = family
        self.base = RidgeProblem(family, Y, float(rule.alpha), np.zeros(family.n_kernels), 0.0)
        p = family.n_kernels
        M = np.zeros((p, p))
        if statistics is not None:
            a, M = statistics.a, statistics.M
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                a, M = family.products(Y) if rule.gamma2 > 0.0 else (family.quadratic(Y), M)
        if not (np.isfinite(a).all() and np.isfinite(M).all()):
            raise ValueError(
                "grams contains NaN, infinity, or values whose squares overflow; accepted: finite "
                "values up to about 1e150."
            )
        self.linear = float(rule.gamma) * a
        self.Q = float(rule.gamma2) * M
        self.Q.flat[:: p + 1] += rule.gamma1
        # A zero kernel without gamma' has no curvature, and weight 0.
        self.Q.flat[:: p + 1] += np.where(self.Q.diagonal() > 0.0, 0.0, 1.0)

    def inner(self, linear, H=None):
        """argmin over mu >= 0 of ``mu'H mu - mu'linear``; H is Q by default."""
        H = self.Q if H is None else H
        with gathered_warnings(
            ConvergenceWarning
        ):  # the outer certificate decides, not the subproblem's
            return nonnegative_qp(H, 0.5 * linear, check_psd=False).v

    def inner_value(self, b):
        """min over mu >= 0 of ``mu'Q mu - mu'(linear + b)``, at most 0."""
        linear = self.linear + b
        mu = self.inner(linear)
        return float(mu @ self.Q @ mu - mu @ linear)

    def duality_gap(self, point):
        base, alpha = self.base, point.alpha
        dual = 2.0 * np.vdot(base.Y, alpha) - base.lam * np.vdot(alpha, alpha)
        dual += self.inner_value(point.v)
        size = max(abs(point.objective), point.value)
        return max(point.objective - float(dual), 0.0) / size if size else 0.0


class _Point(_Evaluation):
    """Objective, gradient and optimality at mu."""

    def __init__(self, problem, mu):
        super().__init__(problem.base, mu)
        self.full = problem
        quadratic = problem.Q @ mu
        self.objective = self.value - mu @ problem.linear + mu @ quadratic
        self.size = self.value + mu @ np.abs(problem.linear) + mu @ np.abs(quadratic)
        self.gradient = 2.0 * quadratic - self.v - problem.linear
        scale = np.abs(np.concatenate([self.v, problem.linear, 2.0 * quadratic])).max()
        wrong = np.where(mu > 0.0, np.abs(self.gradient), np.maximum(-self.gradient, 0.0))
        # A weight so small that its whole product with the slope is below rounding is at its bound.
        tiny = mu * np.abs(self.gradient) <= 1e-14 * abs(self.objective)
        wrong = np.where(tiny, np.maximum(-self.gradient, 0.0), wrong)
        self.residual = float(wrong.max() / scale) if scale > 0.0 else 0.0

    def hessian(self):
        """Half the Hessian, (p, p)."""
        H = self.full.Q.copy()
        family = self.problem.family
        for c in range(len(self.alpha)):
            forms = self.forms[:, [c]] if self.forms.ndim == 3 else self.forms[[c]]
            B = family.columns(forms, np.arange(family.n_samples))
            H += B.T @ self.solve(np.ascontiguousarray(B.T)).T
        return 0.5 * (H + H.T)


def _newton(problem, tol, max_iter):
    """Projected Newton: the second-order model is minimized over mu >= 0, then searched along."""
    point = _Point(
        problem, problem.inner(problem.linear + problem.family.quadratic(problem.base.Y))
    )
    n_iter = 0
    while point.residual > max(tol, problem.base.rounding(point.mu)) and n_iter < max_iter:
        n_iter += 1
        H = point.hessian()
        target = problem.inner(2.0 * H @ point.mu - point.gradient, H)
        direction = target - point.mu
        slope = point.gradient @ direction
        t, found = 1.0, None
        while t > 1e-6:
            trial = _Point(problem, target if t == 1.0 else point.mu + t * direction)
            decrease = point.objective - trial.objective
            near = _ROUNDING * point.size + abs(slope) * 1e-4 * t
            if decrease >= -1e-4 * t * slope and slope < 0.0:
                found = trial
            elif abs(decrease) <= near and trial.residual < point.residual:
                found = trial  # the values agree to rounding, the gradient still improves
            if found is not None:
                break
            t *= 0.5
        if found is None:
            tol = max(tol, _FLOOR)
            break
        point = found
    return point, n_iter, point.residual <= max(tol, problem.base.rounding(point.mu))
