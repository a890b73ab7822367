"""Support vector classification and ridge regression on Nystrom features.

Source: Rudi, Carratino and Rosasco (2017), "FALKON: an optimal large scale kernel method"
(conjugate gradients, preconditioned by the same problem on a sample).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from alignlearn._lapack import cholesky, cholesky_solve
from alignlearn._params import ParamsMixin
from alignlearn._progress import Progress
from alignlearn._threads import on_threads, thread_count
from alignlearn.solvers import conjugate_gradient as cg
from alignlearn.solvers.hinge import HingeResult
from alignlearn.solvers.hinge_dual import hinge_dual
from alignlearn.solvers.low_rank import low_rank_hinge
from alignlearn.solvers.multiclass import class_confidences, two_class_problems
from alignlearn.solvers.panels import weighted_gram
from alignlearn.sources.source import row_blocks
from alignlearn.validation import (
    check_choice,
    check_count,
    check_number,
    check_weights,
)

from .nystrom import ComputedFeatures, StoredFeatures, held_rows

_PASSES = 1000  # maximum number of steps by default
# Samples per center, and operations of a step, below which an interior point method is used. With
# few samples it continues if coordinate descent did not converge, as for very large C.
_FEW, _CHEAP = 20, 4e9
_ROUNDING = 1e-8  # relative gap of the interior point method
_SINGLE = 1e-4  # smallest tol for which features are stored in float32: 1e-6 of the objective
_SAMPLED, _LEAST_SAMPLED = 4, 1000  # samples per feature from which the preconditioner is computed


@dataclass(eq=False, repr=False)
class NystromHinge(ParamsMixin):
    """C-SVC on Nystrom features, to a duality gap.

    Parameters
    ----------
    C : float
        > 0 and finite.
    multiclass : {"ovo", "ovr"}
        One-vs-one (c (c - 1) / 2 problems; votes, and the decisions where they tie) or one-vs-rest
        (c problems).
    class_weight : None, "balanced" or dict
        Weight of each class; "balanced" makes the total weights of all classes equal (m / (c m_k)
        without sample weights); classes that are not in the dict have weight 1.
    tol : float
        Largest duality gap, relative to the objective.
    max_iter : int, optional
        Maximum number of passes over the samples, or of interior point steps. Default: 1000.

    Attributes
    ----------
    classes_ : (c,) sorted labels
    support_ : (r,) intp
        Numbers of the centers.
    dual_coef_ : (r, n_problems) float64
        Of the centers; the problems are those of `SupportVectorClassifier`.
    intercept_, objective_, duality_gap_ : (n_problems,)
        The minimum of the primal function is between ``objective_ - duality_gap_`` and
        ``objective_``.
    n_iter_ : int
        Passes or steps.

    Notes
    -----
    The problem is solved by coordinate descent on its dual, `alignlearn.solvers.hinge_dual`. If the
    features fit the memory and it is cheap, an interior point method solves it instead. It is also
    used if there are fewer than 20 samples per center and coordinate descent did not converge.
    """

    C: float = 1.0
    _: KW_ONLY
    multiclass: str = "ovo"
    class_weight: Any = None
    tol: float = 1e-2
    max_iter: int | None = None

    def check(self):
        """Raise an error for a parameter that is out of range."""
        check_number("C", self.C, low=1e-250, high=1e250)
        check_choice("multiclass", self.multiclass, ("ovo", "ovr"))
        check_number("tol", self.tol, low=0.0, high=1e250, strict=True)
        check_count("max_iter", self.max_iter)

    def fit(self, features, y, sample_weight=None, *, memory, rng, verbose=False):
        """Fit the model.

        Parameters
        ----------
        features : NystromFeatures
        y : (m,)
        sample_weight : (m,), optional
        memory : int
            Bytes. If the features of all samples fit, they are stored and not recomputed.
        rng : numpy.random.Generator
            Draws the order in which samples are visited.
        verbose : bool or callable
            Progress callback of the passes, see `Progress`.

        Raises
        ------
        ValueError
            The memory is too small for one block of rows, or a parameter is out of range.

        Warns
        -----
        ConvergenceWarning
            The gap stayed above ``tol``.
        """
        self.check()
        weights = {"sample_weight": sample_weight, "class_weight": self.class_weight}
        self.classes_, signs, weight = two_class_problems(y, self.multiclass, **weights)
        cost = float(self.C) * weight
        passes = self.max_iter or _PASSES
        options = {"tol": float(self.tol), "rng": rng, "max_passes": passes}
        with Progress("support vectors on Nystrom features", passes, verbose) as progress:
            options["watch"] = partial(_report, progress)
            result = self._solve(features, (signs, cost), memory, options)
        result.warn_unconverged(self.tol)
        self.support_ = features.centers
        self.dual_coef_ = features.coefficients(result.coordinates)
        self.intercept_, self.n_iter_ = result.intercepts, result.n_passes
        self.objective_, self.duality_gap_ = result.objective, result.duality_gap
        return self

    def _solve(self, features, problem, memory, options):
        m, r = features.n_samples, features.rank
        dtype = np.float32 if self.tol >= _SINGLE else np.float64
        if m * r**2 < _CHEAP and held_rows(features, memory, np.float64) == m:
            return _interior_points(features, *problem, self.tol, options["max_passes"])
        block = held_rows(features, memory, dtype)
        if block == m:
            data = StoredFeatures(features, dtype)
        else:
            data = ComputedFeatures(features, dtype, block)
        result = hinge_dual(data, *problem, **options, spread=_spread)
        few = m < _FEW * r and held_rows(features, memory, np.float64) == m
        if few and not result.converged:
            data = None
            return _interior_points(features, *problem, self.tol, options["max_passes"])
        return result

    def confidences(self, raw):
        """Confidence of each class from the decisions (n_test, n_problems) of the problems."""
        return class_confidences(raw, self.classes_, self.multiclass)


def _interior_points(features, signs, cost, tol, max_iter):
    """The problems one by one, as a `HingeResult`."""
    Z = StoredFeatures(features, np.float64).held
    w, found = [], []
    for sign, c in zip(signs, np.broadcast_to(cost, signs.shape)):
        found.append(low_rank_hinge(Z, sign, c, tol=0.1 * tol, max_iter=max_iter))
        w.append(Z.T @ found[-1].coef)
    gap = np.array([max(f.duality_gap, 0.0) for f in found])
    primal = gap - np.array([f.objective for f in found])
    return HingeResult(
        np.stack(w, axis=1),
        -np.array([f.multiplier for f in found]),
        primal,
        gap,
        max(f.n_iter for f in found),
        bool(np.all(gap <= max(tol, _ROUNDING) * primal)),
    )


def _spread(function, count):
    on_threads(function, count=min(count, thread_count()), stoppable=True)


def _report(progress, done, gap):
    progress(done, f"{done} passes, duality gap {gap:.2g} of the objective")


class RidgeSolution(NamedTuple):
    """Minimizer of ``sum_i w_i |y_i - Phi_i W - b|^2 + alpha |W|^2`` and its certificate.

    Attributes
    ----------
    coordinates : ndarray of shape (r, c)
        W.
    intercept : ndarray of shape (c,)
        b.
    certificate : CGResult
        Its residual is that of the normal equations, relative to their right-hand side.
    """

    coordinates: np.ndarray
    intercept: np.ndarray
    certificate: cg.CGResult


class RidgeProblem:
    """Ridge regression on Nystrom features for any alpha.

    Parameters
    ----------
    features : NystromFeatures
    y : ndarray of shape (m, c)
    weight : ndarray of shape (m,)
        Of the samples, not negative.
    fit_intercept : bool
    rng : numpy.random.Generator
        Draws the sample for the preconditioner.
    verbose : bool or callable
        Progress callback of the steps, see `Progress`.
    """

    def __init__(self, features, y, weight, *, fit_intercept=True, rng, verbose=False):
        self.features, self._weight = features, weight
        share = weight / weight.sum() if fit_intercept else np.zeros_like(weight)
        self._target = share @ y
        columns = np.column_stack([weight[:, None] * (y - self._target), share])
        products = features.transposed_times(columns)
        self._right, self._mean = products[:, :-1], products[:, -1]
        self._second = self._sampled(rng)
        self._verbose = verbose

    def _sampled(self, rng):
        """An estimate of the centered ``Phi' diag(w) Phi`` from a sample."""
        features, weight = self.features, self._weight
        used = np.flatnonzero(weight)
        size = min(used.size, max(_SAMPLED * features.rank, _LEAST_SAMPLED))
        some = np.sort(rng.choice(used, size, replace=False))
        second = np.zeros((features.rank, features.rank))
        for part in row_blocks(size, features.rank):
            rows = np.ascontiguousarray(features.rows(some[part]))
            second += weighted_gram(rows, weight[some[part]] * (used.size / size), self._mean)
        return second

    def solve(self, alpha, *, tol, max_iter, start=None):
        """The `RidgeSolution` for one alpha > 0, by at most ``max_iter`` steps to ``tol``."""
        near = np.array(self._second)
        # Cholesky factors need a diagonal above rounding, which does not change the solution.
        rounding = len(near) * np.finfo(np.float64).eps * near.trace()
        near.flat[:: len(near) + 1] += max(alpha, rounding)
        if not cholesky(near):
            raise ValueError(
                f"alpha={alpha:g} is below the rounding error; accepted: larger values."
            )
        steps = count(1)

        def apply(V):
            done = next(steps)
            progress(done, f"{done} steps")
            shift = self._mean @ V
            return self.features.normal_times(V, shift=shift, weight=self._weight) + alpha * V

        options = {"tol": tol, "max_iter": max_iter, "start": start}
        options["precondition"] = partial(cholesky_solve, near)
        with Progress("conjugate gradients", max_iter, self._verbose) as progress:
            found = cg.conjugate_gradient(apply, self._right, **options)
        intercept = self._target - self._mean @ found.solution
        return RidgeSolution(found.solution, intercept, found)


@dataclass(eq=False, repr=False)
class NystromKernelRidge(ParamsMixin):
    """Kernel ridge regression with an intercept on Nystrom features.

    Parameters
    ----------
    alpha : float > 0
    tol, max_iter
        Of conjugate gradients.

    Attributes
    ----------
    support_ : (r,) intp
        Numbers of the centers.
    dual_coef_ : (r,) or (r, c) float64
        Of the centers.
    intercept_ : float or (c,) float64
    residual_, n_iter_ : float, int
        Of the normal equations.
    """

    alpha: float = 1.0
    _: KW_ONLY
    tol: float = 1e-6
    max_iter: int = 200

    def fit(self, features, y, sample_weight=None, *, rng, verbose=False):
        """Fit the machine.

        Parameters
        ----------
        features : NystromFeatures
        y : (m,) or (m, c)
            Real and finite.
        sample_weight : (m,), optional
        rng : numpy.random.Generator
            Draws the samples of the preconditioner.
        verbose : bool or callable
            Progress callback of the passes, see `Progress`.

        Raises
        ------
        ValueError
            A parameter is out of range.

        Warns
        -----
        ConvergenceWarning
            The residual stayed above ``tol``.
        """
        alpha = check_number("alpha", self.alpha, low=0.0, strict=True)
        weight = check_weights(sample_weight, len(y))
        columns = y.reshape(len(y), -1)
        problem = RidgeProblem(features, columns, weight, rng=rng, verbose=verbose)
        found = problem.solve(alpha, tol=self.tol, max_iter=self.max_iter)
        found.certificate.warn_unconverged(self.tol)
        self.support_ = features.centers
        coef = features.coefficients(found.coordinates)
        self.dual_coef_ = coef.reshape(features.rank, *y.shape[1:])
        self.intercept_ = found.intercept if y.ndim > 1 else float(found.intercept[0])
        self.residual_, self.n_iter_ = found.certificate.residual, found.certificate.n_iter
        return self
