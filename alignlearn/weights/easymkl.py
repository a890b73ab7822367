"""EasyMKL: weights by the margin that each kernel gives to one maximum margin solution.

Source: Aiolli and Donini (2015), "EasyMKL: a scalable multiple kernel learning algorithm",
Neurocomputing 169, 215-224.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.solvers.multiclass import two_class_problems
from alignlearn.solvers.smo import smo
from alignlearn.validation import DegenerateKernelWarning, check_number, warn, warn_unconverged

from .base import Weighting


@dataclass(eq=False, repr=False)
class EasyMKL(Weighting):
    """Weights by the margin of each kernel (EasyMKL; Aiolli and Donini 2015, section 3).

    With the sum K of the kernels and ``Y = diag(y)``, ``gamma`` minimizes

        (1 - lam) g'YKYg + lam |g|^2   over g >= 0 whose sum is 1 on each of the two classes,

    and the weight of kernel k is proportional to ``gamma' Y K_k Y gamma``, its part of the squared
    distance between the two convex combinations. No weight is negative or, in practice, 0.

    Parameters
    ----------
    lam : float in (0, 1], default 0.1
        0 would be a hard margin; for 1 gamma is constant on each class, so that the distance is
        that between the means of the classes.
    normalize : {"l1", "l2"} or None, default "l1"
        Norm of the weights to set to 1.
    tol : float, default 1e-6
        Maximum KKT violation of the dual problem, whose margin is 1.

    Notes
    -----
    The dual is that of a hard-margin support vector machine on ``K + lam / (1 - lam) I``. One
    matrix, that of the sum, is held; each kernel is multiplied by one vector, by blocks of rows.
    As the coefficients sum to 0, centered kernels give the same weights.

    More than two classes: the sum of the weights of each class against the rest, each of sum 1.
    Sample weights count repetitions.

    ``objective`` of the result is the sum over the problems of ``gamma'YKYgamma``, and
    ``kkt_residual`` the largest violation.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import EasyMKL, MKLClassifier
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> model = MKLClassifier([("linear"), "rbf"], weighting="easymkl").fit(X, X[:, 0] > 0)
    >>> bool((model.weights_ > 0).all()), EasyMKL(lam=0.5).get_params()["lam"]
    (True, 0.5)
    """

    needs = "source"

    lam: float = 0.1
    normalize: str | None = "l1"
    tol: float = 1e-6

    def learn(self, problem):
        """Learn the weights of the scaled kernels of a problem; errors as in `Weighting.solve`.

        Parameters
        ----------
        problem : alignlearn.weights.Problem
            A classification problem.

        Returns
        -------
        WeightResult
        """
        lam = check_number("lam", self.lam, low=0.0, strict=True)
        if lam > 1.0:
            raise ValueError(f"lam={lam:g} is out of range; accepted: 0 < lam <= 1.")
        tol = check_number("tol", self.tol, low=0.0, high=1.0, strict=True)
        if problem.is_regression:
            raise ValueError("weighting='easymkl' is for classes, got a regression; accepted: y of "
                             "class labels, or another rule.")  # fmt: skip
        used = problem.used()
        nonzero, _ = self._checked(problem.statistics)  # usable in every case
        return self._result(problem.statistics, nonzero, _solve(used, lam, tol, nonzero))

    def _unusable(self, statistics):
        return None

    def _solve(self, statistics, nonzero):
        raise TypeError(
            "EasyMKL needs the samples, because statistics do not contain their margins; "
            "accepted: weighting='easymkl' of MKLClassifier, MKLClassifierCV or "
            "KernelCombiner."
        )


def _solve(problem, lam, tol, nonzero):
    """Weights, and what the result reports; None if no kernel has a margin."""
    source, scale = problem.source, np.where(nonzero, problem.scale, 0.0)
    signs = two_class_problems(problem.y, "ovr").signs
    B, violation, n_iter = _coefficients(source, scale, signs, lam, tol)
    used = np.flatnonzero(nonzero)
    margins = np.zeros((nonzero.size, len(B)))
    for k in used:
        margins[k] = scale[k] * np.einsum("im,mi->i", B, source.single(k).times(B.T))
    margins = np.maximum(margins, 0.0)  # of indefinite kernels
    if not margins.any():
        reason = "no kernel has a margin between the classes"
        warn(f"EasyMKL: {reason}; equal weights are used.", DegenerateKernelWarning)
        return None
    totals = margins.sum(axis=0)
    weights = (margins / np.where(totals > 0.0, totals, 1.0)).sum(axis=1)
    details = {"objective": float(totals.sum()), "kkt_residual": violation, "n_iter": n_iter}
    return weights, {**details, "converged": violation <= tol}


def _coefficients(source, scale, signs, lam, tol):
    """Signed coefficients (n_problems, m), of sum 1 on each class; the violation and the steps."""
    weight = np.ones(signs.shape[1]) if source.weight is None else source.weight
    if lam == 1.0:
        B = [
            s * weight / np.where(s > 0.0, weight[s > 0].sum(), weight[s < 0].sum()) for s in signs
        ]
        return np.array(B), 0.0, 0
    K = np.array(source.combine(scale).gram(), dtype=np.float64)
    K.flat[:: len(K) + 1] += lam / ((1.0 - lam) * weight)
    found, worst, n_iter = [], 0.0, 0
    for s in signs:
        bounds = np.where(s > 0.0, 0.0, -np.inf), np.where(s > 0.0, np.inf, 0.0)
        result = smo(K, -s, bounds, tol=tol)
        if not result.converged:
            warn_unconverged(
                "EasyMKL", f"{result.n_iter} steps", "a KKT violation of", result.kkt_violation,
                tol, "raise tol",
            )  # fmt: skip
        worst, n_iter = max(worst, float(result.kkt_violation)), n_iter + int(result.n_iter)
        found.append(result.coef / result.coef[s > 0.0].sum())
    return np.array(found), worst, n_iter
