"""Support vector machines with kernel weights under a trace constraint."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from alignlearn.solvers.dense import solve_or_least_squares
from alignlearn.solvers.multiclass import two_class_problems
from alignlearn.validation import (
    DegenerateKernelWarning,
    check_choice,
    check_count,
    check_labels,
    check_number,
    is_label_matrix,
    warn,
    warn_unconverged,
)

from .base import REMEDY, OneStageWeighting, check_scale, real_rows
from .cuts import Cuts, minimize_with_cuts
from .simplex import minimize_on_simplex, newton_step
from .svm import Duals, Settings, SVMPoint

LOSSES = ("hinge", "epsilon-insensitive")
_FINE_GAP = 1e-10  # sought after tol is reached, for the sake of the weights
_FINE_STEPS = 10


@dataclass(eq=False, repr=False)
class L1SVM(OneStageWeighting):
    """Kernel weights that minimize the optimal objective of a support vector machine.

    Solves ``min_mu max_a 2 a'1 - a'Y K_mu Y a`` subject to the machine's constraints ``0 <= a <=
    C, a'y = 0`` and to ``mu >= 0`` with a bounded trace (Lanckriet et al. 2004): with t_k the mean
    diagonal entry of K_k, ``sum_k (mu_k t_k)^q <= Lambda^q``. ``q = 1`` gives sparse weights: the
    problem of SimpleMKL (Rakotomamonjy, Bach, Canu and Grandvalet 2008), whose name
    ``weighting="simplemkl"`` is accepted, and of GMKL (Varma and Babu 2009) for sums of kernels.

    Parameters
    ----------
    C : float, default 1.0
        Cost of the machine, > 0 and finite.
    norm : float, default 1
        q, from 1 to infinity (not included).
    Lambda : float, default 1.0
        Size of the constraint, > 0. Only C Lambda matters to the shape of the solution.
    loss : {"hinge", "epsilon-insensitive"}, default "hinge"
        Classification of labels, more than two classes by ``multiclass`` with one kernel for all
        problems (objectives summed); or regression of real targets.
    epsilon : float, default 0.1
        Half-width of the tube without loss, in units of y.
    multiclass : {"ovo", "ovr"}, default "ovo"
    tol : float, default 1e-3
        Maximum duality gap relative to the objective. The weights are usually much more accurate;
        see the notes.
    max_iter : int, optional
        Maximum number of updates of the weights. Default: 500.

    Notes
    -----
    ``q = 1``: Newton steps on the simplex (module ``simplex``), a handful as a rule; where they
    stall at a kink, cutting planes (module ``cuts``).
    ``q > 1``: the closed-form update of Kloft, Brefeld, Sonnenburg and Zien (2011), ``mu_k``
    proportional to ``|w_k|^(2/(q+1))``. Every machine starts from the coefficients of the one
    before. ``duality_gap`` of the result is the machine's primal value at mu, an upper bound,
    minus the value of the max-min problem at its coefficients, a lower bound, relative to the
    former; ``objective`` is the upper bound of the value as written above, ``kkt_residual`` the
    machine's own, and ``n_iter`` the number of machines trained.

    With a gap g, the objective J is at most g J above its minimum. Weights follow from that only
    where J is curved: with c its least second derivative along the constraint (that of q > 1 adds
    to it) they are within ``sqrt(2 g J / c)`` of the optimal ones, 3e-2 Lambda at g = 1e-3 and c =
    2 J / Lambda^2. So once ``tol`` is reached, Newton steps go on while each halves the gap, down
    to 1e-10 (1e-9 at a large C, where rounding limits the machines), which leaves 1e-5 Lambda; this
    takes about as long again. Where J has a kink, whose gap cutting planes close to ``tol`` only,
    or is nearly flat, as between kernels that hardly differ, weights are less exact, down to
    ``sqrt(tol)``, and between equal kernels any share is optimal; two runs then agree in their
    objectives.

    Examples
    --------
    Lanckriet's problem: weights of the kernels and the machine's coefficients in one.

    >>> import numpy as np
    >>> from alignlearn import Gaussian, L1SVM, Linear, MKLClassifier
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> rule = L1SVM(C=1.0)
    >>> model = MKLClassifier([Gaussian(10.0), Linear()], weighting=rule).fit(X, X[:, 0] > 0)
    >>> model.weights_.round(1).tolist(), bool(model.result_.duality_gap < 1e-3)
    ([0.6, 0.4], True)
    """

    C: float = 1.0
    norm: float = 1
    _: KW_ONLY
    Lambda: float = 1.0
    loss: str = "hinge"
    epsilon: float = 0.1
    multiclass: str = "ovo"
    tol: float = 1e-3
    max_iter: int | None = None

    sample_weights = "costs"

    @property
    def targets(self):
        """Type of y: "labels" for the hinge loss, otherwise "real"."""
        return "labels" if self.loss == "hinge" else "real"

    def _check_parameters(self):
        check_scale("C", self.C)
        check_number("norm", self.norm, low=1.0)
        check_scale("Lambda", self.Lambda)
        check_number("epsilon", self.epsilon, low=0.0)
        check_number("tol", self.tol, low=0.0, strict=True)
        check_choice("loss", self.loss, LOSSES)
        check_choice("multiclass", self.multiclass, ("ovo", "ovr"))
        check_count("max_iter", self.max_iter)

    def _solve(self, family, y, statistics, sample_weight=None):
        cost = float(self.C) * (1.0 if sample_weight is None else sample_weight)
        duals, shaped = self._duals(y, family.n_samples, cost)
        scale = _unit_traces(family, sample_weight)
        settings = Settings(tol=self.tol, scale=scale)
        used = scale > 0.0
        x = used * (float(self.Lambda) / used.sum() ** (1.0 / float(self.norm)))
        solve = self._newton if self.norm == 1 else self._closed_form
        point, gap, converged = solve(family, duals, settings, x)
        if not converged:
            what = f"{settings.n_solves} machines trained and a relative duality gap of"
            count = f"{settings.n_updates} iterations"
            warn_unconverged(type(self).__name__, count, what, gap, self.tol, REMEDY)
        if not point.v.any():
            warn(
                f"{type(self).__name__}: no kernel acts on the dual coefficients, so every weight "
                "vector is optimal; equal weights are returned.",
                DegenerateKernelWarning,
            )
        return point.x * scale, {
            "dual_coef": shaped(point.coef),
            "intercept": -point.multiplier if len(point.coef) > 1 else -float(point.multiplier[0]),
            "objective": 2.0 * point.value,
            "duality_gap": gap,
            "kkt_residual": settings.kkt,
            "n_iter": settings.n_solves,
            "converged": converged,
            "fallback": not point.v.any(),
            "method": "simplex-newton" if self.norm == 1 else "closed-form update",
        }

    def _duals(self, y, m, cost):
        if self.loss != "hinge":
            Y, shaped = real_rows(y, m)
            return Duals.tube(Y, cost, float(self.epsilon)), shaped
        y = y if is_label_matrix(y) else check_labels(y, m)
        signs = two_class_problems(y, self.multiclass).signs
        return Duals.hinge(signs, cost), lambda R: R[0] if len(R) == 1 else R.T.copy()

    def _newton(self, family, duals, settings, x):
        def oracle(x, near=None):
            return _SimplexPoint(family, duals, settings, x, near)

        limit, total = self.max_iter or 500, float(self.Lambda)
        cuts = Cuts(oracle)
        point, gap, n, converged = minimize_on_simplex(cuts, cuts(x), total, self.tol, limit)
        settings.n_updates = n
        if not converged and n < limit and point.v.any():
            closer = minimize_with_cuts(cuts, point, total, self.tol, limit - n)
            point, gap, settings.n_updates, converged = *closer[:2], n + closer[2], closer[3]
        elif converged:

            def step(point):
                return newton_step(oracle, point, total)

            point, gap = _refine(step, point, gap, limit)
        return point, gap, converged

    def _closed_form(self, family, duals, settings, x):
        q, total = float(self.norm), float(self.Lambda)
        limit, best, point = self.max_iter or 500, -np.inf, None

        def bound(point):
            return point.lower(total * _norm(point.v, q / (q - 1.0)))

        def step(point):
            point = SVMPoint(family, duals, settings, _newton_weights(point, q, total), point)
            return point, _relative(point.value, bound(point))

        for settings.n_updates in range(1, limit + 1):
            point = SVMPoint(family, duals, settings, x, point)
            best = max(best, bound(point))
            gap = _relative(point.value, best)
            if gap <= self.tol or not point.v.any():
                break
            w = x * np.sqrt(point.v)  # |w_k|
            x = _power(w, 2.0 / (q + 1.0))
            x *= total / _norm(x, q)
        converged = gap <= self.tol
        if converged:
            point, gap = _refine(step, point, gap, limit)
        return point, gap, converged


class _SimplexPoint(SVMPoint):
    """With the lower bound over the simplex."""

    def __init__(self, family, duals, settings, x, near):
        super().__init__(family, duals, settings, x, near)
        self.lower = super().lower(x.sum() * self.v.max())


def _refine(step, point, gap, limit):
    """Newton steps from a point within tol, with exact SVMs, while they improve the gap.

    Parameters
    ----------
    step : callable
        ``step(point) -> (point, gap)``.
    point : SVMPoint
    gap : float
    limit : int
        Of the updates counted in the point's settings.

    Returns
    -------
    (point, gap)
        The best met.
    """
    settings = point.settings
    if not point.v.any():
        return point, gap
    # Below this gaps are mostly the machines' rounding, and the later point is the better one.
    enough = min(settings.tol, 100.0 * _FINE_GAP)
    settings.tol = min(settings.tol, _FINE_GAP)
    best, point, before = point, point.sharper(), np.inf
    for _ in range(min(_FINE_STEPS, limit - settings.n_updates)):
        if not point.v.any():  # more exact coefficients are 0: no kernel has a slope
            break
        point, new = step(point)
        settings.n_updates += 1
        best, gap = (point, new) if new <= max(gap, enough) else (best, gap)
        # The last step starts from the gap sought: the weights gain more than can be certified.
        if before <= _FINE_GAP or new > 0.5 * before:
            break
        before = new
    return best, gap


def _newton_weights(point, q, total):
    """Newton step toward x_k proportional to v_k^(1/(q - 1)), in the logarithms of x."""
    index = np.flatnonzero((point.x > 0.0) & (point.v > 0.0))
    x, v = point.x[index], point.v[index]
    # (q - 1) log x - log v = constant, of slopes q - 1 - x dv/dx / v, with dv/dx = -2 H.
    A = 2.0 * point.hessian(index) * (x / v[:, None])
    A.flat[:: index.size + 1] += q - 1.0
    rest = np.log(v) - (q - 1.0) * np.log(x)
    change, shift = solve_or_least_squares(A, np.column_stack([rest, np.ones(index.size)])).T
    # The constant keeps the norm to first order.
    share = (x / x.max()) ** q
    change -= shift * ((share @ change) / (share @ shift))
    out = np.zeros_like(point.x)
    out[index] = x * np.exp(np.clip(change, -1.0, 1.0))
    return out * (total / _norm(out, q))


def _unit_traces(family, weight=None):
    """Factors that bring every kernel to a (weighted) mean diagonal of 1; 0 for a zero kernel."""
    trace = family.traces() if weight is None else family.weighted_traces(weight)
    total = family.n_samples if weight is None else float(weight.sum())
    if not np.isfinite(trace).all():
        raise ValueError("grams contains NaN or infinity; all values must be finite.")
    if (trace < 0.0).any():
        k = int(np.argmin(trace))
        raise ValueError(
            f"grams[{k}] has the negative trace {trace[k]:.3g}; accepted are positive "
            "semi-definite matrices."
        )
    if not trace.any():
        raise ValueError("grams: every matrix is 0; at least one kernel must vary.")
    zero = np.zeros_like(trace)
    return np.divide(total, trace, out=zero, where=trace > 1e-300)


def _relative(upper, lower):
    return max(upper - lower, 0.0) / abs(upper) if upper else 0.0


def _norm(x, q):
    """The q-norm of a non-negative vector, without overflow."""
    top = x.max()
    return float(top * np.sum((x / top) ** q) ** (1.0 / q)) if top > 0.0 else 0.0


def _power(x, exponent):
    """x**exponent relative to the largest entry."""
    return (x / x.max()) ** exponent
