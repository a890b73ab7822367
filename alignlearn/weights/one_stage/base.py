"""Base classes of the one-stage rules: result, and checks of targets and parameters."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from alignlearn._params import ParamsMixin
from alignlearn.sources.families import open_family
from alignlearn.statistics import target_norm
from alignlearn.validation import check_number, check_targets, check_weights
from alignlearn.weights.base import Rule, WeightResult
from alignlearn.weights.matrices import learn_from_grams

REMEDY = "raise max_iter, tol or the regularization"  # where a rule stopped above its tolerance


@dataclass(frozen=True, eq=False)
class OneStageResult(WeightResult):
    """Weights and dual coefficients of a joint problem, with a certificate.

    Attributes
    ----------
    weights : ndarray of shape (p,), float64
        In the scale of the problem: the learned kernel is ``sum_k weights_k K_k``.
    dual_coef : ndarray of shape (m,) or (m, c)
        Coefficients of the learned function, ``f(x) = sum_i dual_coef_i K(x_i, x) + intercept``.
    intercept : float or ndarray of shape (c,)
        0 for ridge problems.
    objective : float
        Value of the min-max problem.
    duality_gap : float
        Upper bound minus lower bound of that value, relative to it.
    kkt_residual : float
        Residual of the optimality conditions, defined in the rule's docstring.
    method : str
        The algorithm that computed the result.
    alignment, uniform_alignment, kernel_alignments
        NaN unless statistics were given.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, LKRR, Linear
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> grams = [Gaussian(0.5)(X), Linear()(X)]
    >>> result = LKRR().solve_grams(grams, X[:, 0])
    >>> K = sum(w * gram for w, gram in zip(result.weights, grams))
    >>> np.allclose(result.dual_coef, np.linalg.solve(K + np.eye(40), X[:, 0]), atol=1e-6)
    True
    """

    dual_coef: np.ndarray = None
    intercept: float | np.ndarray = 0.0
    method: str = ""


class OneStageWeighting(ParamsMixin, Rule):
    """Base of the one-stage rules: ``solve_grams(grams, y) -> OneStageResult``.

    Examples
    --------
    >>> from alignlearn import LKRR, L1SVM
    >>> from alignlearn.weights.one_stage import OneStageWeighting
    >>> isinstance(LKRR(), OneStageWeighting), LKRR().targets, L1SVM().targets
    (True, 'real', 'labels')
    """

    needs = "grams"
    targets = "real"
    unit_target = False  # whether the estimators bring y to mean square 1 first
    # Where sample weights w enter: "matrices" (and y), with square loss multiplied by sqrt(w) on
    # every side before the rule sees them; "costs" of the loss, by `solve_grams`; None: nowhere.
    sample_weights = None

    def learn(self, problem) -> OneStageResult:
        """Learn from the centered and scaled kernels of a problem, and from its sample weights.

        Parameters
        ----------
        problem : alignlearn.weights.Problem

        Returns
        -------
        OneStageResult
            Dual coefficients are 0 for samples of weight 0. Errors and warnings as in
            `solve_grams`; also a ValueError for targets and sample weights that the rule does not
            support.
        """
        return learn_from_grams(problem, self)

    def solve_grams(self, grams, y, *, statistics=None, sample_weight=None):
        """Learn weights and dual coefficients.

        Parameters
        ----------
        grams : sequence of p arrays (m, m), array (p, m, m), GramFamily or FeatureFamily
            Symmetric positive semidefinite matrices, used unchanged: center and scale them first if
            needed. They stay in memory during the call.
        y : array-like of shape (m,) or (m, c)
            Targets, used unchanged (center them if the kernels are centered), or class labels if
            the rule's ``targets`` is "labels".
        statistics : AlignmentStatistics, optional
            Of the same matrices, for the alignments in the result.
        sample_weight : array-like of shape (m,), optional
            Nonnegative factors of the samples' costs and of their shares in the matrices' traces.
            Only if ``sample_weights`` is "costs".

        Returns
        -------
        OneStageResult

        Raises
        ------
        ValueError, TypeError
            Bad input or parameters; the message names the argument and what is accepted.

        Warns
        -----
        ConvergenceWarning
            The certificate is above ``tol``; the message states what was reached.
        DegenerateKernelWarning
            No kernel is related to the target.
        """
        self._check_parameters()
        family = open_family(grams)
        if statistics is not None and statistics.n_kernels != family.n_kernels:
            raise ValueError(
                f"statistics has {statistics.n_kernels} kernels, but grams {family.n_kernels}."
            )
        if sample_weight is None:
            weights, details = self._solve(family, y, statistics)
        elif self.sample_weights == "costs":
            sample_weight = check_weights(sample_weight, family.n_samples)
            weights, details = self._solve(family, y, statistics, sample_weight)
        else:
            raise ValueError(
                f"{type(self).__name__}.solve_grams takes no sample_weight; accepted: matrices "
                "and y whose rows (and columns) are multiplied by its square roots."
            )
        nan = np.full(family.n_kernels, np.nan)
        if statistics is None:
            alignments = {"alignment": np.nan, "uniform_alignment": np.nan}
            alignments["kernel_alignments"] = nan
        else:
            alignments = {
                "alignment": statistics.alignment(weights),
                "uniform_alignment": statistics.alignment(np.ones(family.n_kernels)),
                "kernel_alignments": statistics.alignments,
            }
        return OneStageResult(weights=weights, statistics=statistics, **alignments, **details)

    @abstractmethod
    def _check_parameters(self):
        """Raise an error for parameters out of range."""

    @abstractmethod
    def _solve(self, family, y, statistics):
        """Return the weights and the other fields of the result."""


def check_scale(name, value, low=1e-100):
    """Return a parameter that is squared, and divided by if ``low`` is not 0, in range of both."""
    return check_number(name, value, low=low, high=1e100)


def real_rows(y, n_samples):
    """Targets as rows (c, m), and the function that brings rows back to y's shape."""
    y = check_targets(y, n_samples)
    target_norm(y.reshape(n_samples, -1))  # raises an error for overflow
    rows = np.ascontiguousarray(y.reshape(n_samples, -1).T)
    return rows, lambda R: R[0] if y.ndim == 1 else np.ascontiguousarray(R.T)


def check_base_weights(mu0, p):
    """mu0 as (p,) float64: a number for all kernels or one number each, none negative."""
    array = np.asarray(mu0)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"mu0 must be a number or p numbers, got {mu0!r}.")
    if array.shape not in ((), (p,)):
        raise ValueError(f"mu0 has shape {array.shape}; accepted: a number or shape ({p},).")
    array = np.broadcast_to(array.astype(np.float64), (p,)).copy()
    if not ((array >= 0.0) & (array <= 1e100)).all():
        raise ValueError(f"mu0={mu0!r} is out of range; accepted: 0 <= mu0 <= 1e100.")
    return array
