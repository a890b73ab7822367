"""The machines of the Gram matrix, on Nystrom features: a support vector classifier and ridge."""

from __future__ import annotations

import numpy as np

from alignlearn.engine.threads import Progress
from alignlearn.solvers import conjugate_gradient as cg
from alignlearn.solvers import hinge_subgradient as hinge
from alignlearn.solvers import panels
from alignlearn.solvers.low_rank import low_rank_svm
from alignlearn.solvers.multiclass import confidences, problem_signs
from alignlearn.validation import check_choice, check_count, check_number, check_weights

from ._svm import class_weighted, encode_labels
from .nystrom import RidgeProblem

_BLOCK = 2048  # rows of kernel values that are evaluated at once
# Samples for each centre, and operations of a step, below which an interior point method is used:
# subgradient steps converge with the square root of their number (measured: 60 passes for 3 samples
# a centre, 10 for 60).
_FEW, _CHEAP = 20, 4e9
_ROUNDING = 1e-8  # of the interior point method's relative gap


class StoredFeatures:
    """`NystromFeatures` whose kernel values are kept: one matrix (m, r) of float64."""

    def __init__(self, features):
        self._features, self.rank = features, features.rank
        self.n_samples = features.n_samples
        self._raw = np.empty((self.n_samples, self.rank))
        for i in range(0, self.n_samples, _BLOCK):
            rows = slice(i, min(i + _BLOCK, self.n_samples))
            self._raw[rows] = features.raw(rows)

    def raw(self, rows):
        """Kernel values of some samples with the centres, (n, r)."""
        return self._raw[rows]

    def coefficients(self, W):
        """Coefficients of the centres, (r, c), of functions with coordinates W."""
        return self._features.coefficients(W)

    def dense(self):
        """Phi, (m, r); the kernel values are not kept."""
        for part in panels.panels(self.n_samples):
            self._raw[part] = self._features.coordinates(self._raw[part].T).T
        return self._raw

    def times(self, W):
        """``Phi W``, (m, c)."""
        return panels.times(self._raw, self.coefficients(W))

    def transposed_times(self, U):
        """``Phi' U``, (r, c)."""
        return self._features.coordinates(panels.transposed_times(self._raw, U))


class NystromSVC:
    """C-SVC on Nystrom features, to a duality gap.

    By `alignlearn.solvers.hinge_subgradient`, or by an interior point method where that is cheap or
    samples are less than 20 for a centre, and their kernel values fit the memory.

    Parameters
    ----------
    C, multiclass, class_weight
        As in `SupportVectorClassifier`; C finite.
    tol : float
        Largest duality gap, relative to the objective.
    max_iter : int
        Most passes over the samples, or steps of the interior point method.

    Attributes
    ----------
    classes_ : (c,) sorted labels
    support_ : (r,) intp
        Numbers of the centres.
    dual_coef_ : (r, n_problems) float64
        Of the centres; the problems are those of `SupportVectorClassifier`.
    intercept_, objective_, duality_gap_ : (n_problems,)
        The minimum of the primal function is between ``objective_ - duality_gap_`` and
        ``objective_``.
    n_iter_ : int
        Passes or steps.
    """

    def __init__(self, C=1.0, *, multiclass="ovo", class_weight=None, tol=1e-2, max_iter=60):
        self.C = C
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def check(self):
        """Raise an error for a parameter that is out of range."""
        check_number("C", self.C, low=0.0, strict=True)
        check_choice("multiclass", self.multiclass, ("ovo", "ovr"))
        check_number("tol", self.tol, low=0.0, strict=True)
        check_count("max_iter", self.max_iter, optional=False)

    def fit(self, features, y, sample_weight=None, *, memory, rng, verbose=False, stacklevel=3):
        """Fit the machine.

        Parameters
        ----------
        features : NystromFeatures
        y : (m,)
        sample_weight : (m,), optional
        memory : int
            Bytes: where they hold the kernel values of all samples with the centres, these are kept
            rather than computed again in every pass.
        rng : numpy.random.Generator
            Of the order in which samples are visited.
        verbose : bool

        Raises
        ------
        ValueError
            The memory does not hold one block of rows, or a parameter is out of range.

        Warns
        -----
        ConvergenceWarning
            The gap stayed above ``tol``.
        """
        self.check()
        self.classes_, codes = encode_labels(y)
        weight = check_weights(sample_weight, codes.size)
        cost = self.C * class_weighted(weight, self.class_weight, self.classes_, codes)
        signs = problem_signs(codes, self.classes_.size, self.multiclass)
        data = _in_memory(features, memory)
        m, r = features.n_samples, features.rank
        if data is not features and (m < _FEW * r or m * r**2 < _CHEAP):
            result = _interior_points(data, signs, cost, self.tol, self.max_iter)
        else:
            options = {"max_passes": self.max_iter, "rng": rng, "watch": _watch(verbose)}
            result = hinge.hinge_subgradient(data, signs, cost, tol=self.tol, **options)
        hinge.warn_unconverged(result, self.tol, stacklevel)
        self.support_ = features.centres
        self.dual_coef_ = features.coefficients(result.coordinates)
        self.intercept_, self.n_iter_ = result.intercepts, result.n_passes
        self.objective_, self.duality_gap_ = result.objective, result.duality_gap
        return self

    def confidences(self, raw):
        """Confidence of each class from the decisions (n_test, n_problems) of the problems."""
        return confidences(raw, self.classes_.size, self.multiclass)


def _interior_points(features, signs, cost, tol, max_iter):
    """The problems one by one, as a `HingeResult`."""
    Z = features.dense()
    w, found = [], []
    for sign in signs:
        reach = cost * sign
        bounds = np.minimum(reach, 0.0), np.maximum(reach, 0.0)
        found.append(low_rank_svm(Z, -sign, bounds, tol=0.1 * tol, max_iter=max_iter))
        w.append(Z.T @ found[-1].coef)
    gap = np.array([max(f.duality_gap, 0.0) for f in found])
    primal = gap - np.array([f.objective for f in found])
    return hinge.HingeResult(
        np.stack(w, axis=1),
        -np.array([f.multiplier for f in found]),
        primal,
        gap,
        max(f.n_iter for f in found),
        bool(np.all(gap <= max(tol, _ROUNDING) * primal)),
    )


def _in_memory(features, memory):
    row = 8 * features.rank
    block = min(_BLOCK, features.n_samples)
    if memory < 2 * block * row:
        raise ValueError(
            f"memory={memory} bytes do not hold one block of rows, {block} samples with "
            f"{features.rank} centres; accepted: at least {2 * block * row}, or fewer centres."
        )
    return StoredFeatures(features) if row * features.n_samples <= memory else features


def _watch(verbose):
    if not verbose:
        return None
    progress = Progress("support vectors on Nystrom features")
    return lambda done, gap: progress.say(f"{done} passes, duality gap {gap:.2g} of the objective")


class NystromKernelRidge:
    """Kernel ridge regression with an intercept on Nystrom features.

    Parameters
    ----------
    alpha : float > 0
    tol, max_iter
        Of conjugate gradients.

    Attributes
    ----------
    support_ : (r,) intp
        Numbers of the centres.
    dual_coef_ : (r,) or (r, c) float64
        Of the centres.
    intercept_ : float or (c,) float64
    residual_, n_iter_ : float, int
        Of the normal equations.
    """

    def __init__(self, alpha=1.0, *, tol=1e-6, max_iter=200):
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, features, y, sample_weight=None, *, rng, verbose=False, stacklevel=3):
        """Fit the machine to y (m,) or (m, c); arguments as in `NystromSVC.fit`."""
        alpha = check_number("alpha", self.alpha, low=0.0, strict=True)
        weight = check_weights(sample_weight, len(y))
        columns = y.reshape(len(y), -1)
        problem = RidgeProblem(features, columns, weight, rng=rng, verbose=verbose)
        found = problem.solve(alpha, tol=self.tol, max_iter=self.max_iter)
        cg.warn_unconverged(found.certificate, self.tol, stacklevel)
        self.support_ = features.centres
        coef = features.coefficients(found.coordinates)
        self.dual_coef_ = coef.reshape(features.rank, *y.shape[1:])
        self.intercept_ = found.intercept if y.ndim > 1 else float(found.intercept[0])
        self.residual_, self.n_iter_ = found.certificate.residual, found.certificate.n_iter
        return self
