"""Kernel ridge regression and classification on the Nystrom features of a kernel."""

from __future__ import annotations

import copy
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn.estimators import inputs
from alignlearn.estimators.base import Classifier, Regressor, parameters, shared
from alignlearn.machines.nystrom_machines import RidgeProblem
from alignlearn.solvers.multiclass import two_class_problems
from alignlearn.validation import (
    check_count,
    check_flag,
    check_number,
    check_numbers,
    check_progress,
    check_weights,
)

from ._base import NystromLearner

if TYPE_CHECKING:
    from typing_extensions import Self


class RidgeLearner(NystromLearner):
    """Base class of ridge regression and of classification by ridge regression."""

    alpha: float
    fit_intercept: bool
    tol: float
    max_iter: int

    _flat: bool  # whether predictions have no axis of targets

    def fit(self, X, y, sample_weight=None) -> Self:
        """Choose the centers and solve for their coefficients.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Or a list of objects or a SciPy sparse matrix, as the kernel allows.
        y : array-like of shape (m,) or (m, c)
        sample_weight : array-like of shape (m,), optional
            Nonnegative. Weight 0 omits a sample, also from the centers and from ``gamma="scale"``.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            Bad input; the message names the argument and what is accepted.

        Warns
        -----
        ConvergenceWarning
            Conjugate gradients stopped above ``tol``.
        """
        alpha = check_number("alpha", self.alpha, low=0.0, strict=True)
        problem = self._problem(X, y, sample_weight, alpha)
        return self._store(problem, problem.solve(alpha, **self._options()))

    def path(self, X, y, alphas, sample_weight=None):
        """Fitted copies of this estimator for several values of alpha, in their order.

        They share the centers, chosen for the smallest alpha, and are solved from the largest alpha
        down, each started from the solution before. Other arguments, errors and warnings as in
        ``fit``.

        Parameters
        ----------
        alphas : sequence of float > 0

        Returns
        -------
        list of estimators
        """
        alphas = check_numbers("alphas", alphas, 1)
        check_number("alphas", alphas.min(), low=0.0, strict=True)
        base = copy.copy(self)
        problem = base._problem(X, y, sample_weight, alphas.min())
        models, start = [None] * len(alphas), None
        for k in np.argsort(-alphas, kind="stable"):
            solution = problem.solve(alphas[k], start=start, **self._options())
            models[k] = copy.copy(base).set_params(alpha=float(alphas[k]))
            models[k]._store(problem, solution)
            start = solution.coordinates
        return models

    def _options(self):
        return {
            "tol": check_number("tol", self.tol, low=0.0, strict=True),
            "max_iter": check_count("max_iter", self.max_iter, optional=False),
        }

    def _problem(self, X, y, sample_weight, alpha):
        self._options()
        intercept = check_flag("fit_intercept", self.fit_intercept)
        opened = self._open(X, sample_weight)
        weight = check_weights(sample_weight, opened.n_samples)
        y = self._targets(y, weight)
        features = self._features(opened, alpha)
        return RidgeProblem(
            features,
            y.reshape(len(y), -1),
            weight,
            fit_intercept=intercept,
            rng=self._rng,
            verbose=check_progress("verbose", self.verbose),
        )

    def _store(self, problem, solution):
        certificate = solution.certificate
        certificate.warn_unconverged(self.tol)
        coef = problem.features.coefficients(solution.coordinates)
        self.residual_, self.n_iter_ = certificate.residual, certificate.n_iter
        self.coef_, self.intercept_ = coef, solution.intercept
        if self._flat:
            self.coef_, self.intercept_ = coef[:, 0], float(solution.intercept[0])
        self._keep(problem.features, coef)
        return self

    def _targets(self, y, weight) -> np.ndarray:
        """Checked targets, (m,) or (m, c); sets ``_flat``."""
        raise NotImplementedError

    def _values(self, X):
        values = self._decisions(X)
        return (values[:, 0] if self._flat else values) + self.intercept_


@parameters
class NystromRidge(Regressor, RidgeLearner):
    """Kernel ridge regression in the span of few centers, for millions of samples.

    Minimizes ``sum_i w_i (y_i - f(x_i) - b)^2 + alpha |f|^2`` over b and the functions f in the
    span of the kernel at the centers. With all samples as centers, this is kernel ridge regression.

    Parameters
    ----------
    kernel : Kernel or str, default "rbf"
        Positive semi-definite; also the ``kernel_`` that another estimator has learned.
    alpha : float > 0, default 1.0
        Regularization, in units of the kernel: with m samples, ``m lambda`` in the reference.
    n_centers : int, optional
        Default: 1000, or all samples if there are fewer.
    centers : {"uniform", "leverage", "k-means++"}, default "uniform"
        Sampling of the centers: uniform; proportional to approximate ridge leverage scores, which
        need another pass over the samples; or proportional to the squared distance from the
        previous centers, among 20 samples for each center (numeric samples only).
    fit_intercept : bool, default True
    tol : float, default 1e-6
        Largest residual of the normal equations, relative to their right-hand side.
    max_iter : int, default 200
        Maximum number of conjugate gradient steps, each one pass over samples and centers.
    random_state : int or numpy.random.Generator, optional
        Seed of the centers and of the preconditioner. None means the seed 0, so results are
        reproducible.

    Attributes
    ----------
    centers_ : samples as in ``fit``, r of them
        The numerically independent centers.
    center_indices_ : ndarray of shape (r,)
        Their numbers in ``fit``.
    coef_ : ndarray of shape (r,) or (r, c)
        Predictions are ``kernel_(X, centers_) @ coef_ + intercept_``.
    intercept_ : float or ndarray of shape (c,)
    kernel_ : Kernel
        The kernel, with a number in place of ``gamma="scale"``.
    residual_ : float
        Certificate: at most ``tol``, or a warning was given.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X was a data frame with string column names.

    Notes
    -----
    Time is O(m r) kernel values for each step, and O(r^3) once. Memory is three (r, r) matrices
    beside X and y; ``numpy.memmap`` is read in blocks. The preconditioner is the same problem on a
    subsample, so the number of steps does not grow with m. float32 samples are faster: sums are in
    float64, but more centers count as linearly dependent.

    References
    ----------
    Rudi, Carratino and Rosasco (2017), FALKON: an optimal large scale kernel method.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, NystromRidge
    >>> X = np.random.default_rng(0).normal(size=(60, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = NystromRidge(Gaussian(1.0), alpha=0.01, n_centers=15).fit(X, y)
    >>> model.score(X, y) > 0.95, len(model.centers_) <= 15, bool(model.residual_ <= 1e-6)
    (True, True, True)
    """

    kernel: Any = field(default="rbf", kw_only=False)
    alpha: float = field(default=1.0, kw_only=False)
    n_centers: int | None = None
    centers: str = "uniform"
    fit_intercept: bool = True
    tol: float = 1e-6
    max_iter: int = 200
    verbose: Any = shared("verbose")
    device: str = shared("device")
    client: Any = shared("client")
    random_state: Any = shared("random_state")

    def _targets(self, y, weight):
        y = inputs.real_targets(self, y, len(weight), weight)
        self._flat = y.ndim == 1
        return y

    def predict(self, X) -> np.ndarray:
        """Predictions for n samples, (n,), or (n, c) if y had columns."""
        return self._values(X)


@parameters
class NystromRidgeClassifier(Classifier, RidgeLearner):
    """Classification by `NystromRidge` with targets 1 for a class and -1 for the others.

    Parameters
    ----------
    kernel : Kernel or str, default "rbf"
        Positive semi-definite; also the ``kernel_`` that another estimator has learned.
    alpha : float > 0, default 1.0
        Regularization, in units of the kernel.
    n_centers : int, optional
        Default: 1000, or all samples if there are fewer.
    centers : {"uniform", "leverage", "k-means++"}, default "uniform"
        Sampling of the centers: uniform; proportional to approximate ridge leverage scores, which
        need another pass over the samples; or proportional to the squared distance from the
        previous centers, among 20 samples for each center (numeric samples only).
    fit_intercept : bool, default True
    tol : float, default 1e-6
        Largest residual of the normal equations, relative to their right-hand side.
    max_iter : int, default 200
        Maximum number of conjugate gradient steps, each one pass over samples and centers.
    random_state : int or numpy.random.Generator, optional
        Seed of the centers and of the preconditioner. None means the seed 0, so results are
        reproducible.

    Attributes
    ----------
    classes_ : ndarray of shape (c,)
    coef_ : ndarray of shape (r,) or (r, c)
        Decisions are ``kernel_(X, centers_) @ coef_ + intercept_``: one column for two classes,
        else one for each class.
    intercept_ : float or ndarray of shape (c,)
    centers_ : samples as in ``fit``, r of them
        The numerically independent centers.
    center_indices_ : ndarray of shape (r,)
        Their numbers in ``fit``.
    kernel_ : Kernel
        The kernel, with a number in place of ``gamma="scale"``.
    residual_ : float
        Certificate: at most ``tol``, or a warning was given.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X was a data frame with string column names.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, NystromRidgeClassifier
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.where(np.linalg.norm(X, axis=1) < 1.1, "inner", "outer")
    >>> model = NystromRidgeClassifier(Gaussian(0.5), alpha=0.1, n_centers=20).fit(X, y)
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]]).tolist()
    ['inner', 'outer']
    """

    kernel: Any = field(default="rbf", kw_only=False)
    alpha: float = field(default=1.0, kw_only=False)
    n_centers: int | None = None
    centers: str = "uniform"
    fit_intercept: bool = True
    tol: float = 1e-6
    max_iter: int = 200
    verbose: Any = shared("verbose")
    device: str = shared("device")
    client: Any = shared("client")
    random_state: Any = shared("random_state")

    def _targets(self, y, weight):
        labels = inputs.class_labels(self, y, len(weight), weight=weight)
        self.classes_, signs, _ = two_class_problems(labels)
        self._flat = self.classes_.size == 2
        return signs.T

    def decision_function(self, X) -> np.ndarray:
        """Value of each class for n samples: (n,) for two classes, positive for ``classes_[1]``.

        Else (n, c).
        """
        return self._values(X)
