"""Regularized least-squares classification: kernel ridge regression on labels."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from alignlearn._pairs import (
    ClassCoefficients,
    Coefficients,
    are_many,
    is_compact,
    pair_differences,
    stored_coefficients,
)
from alignlearn._params import ParamsMixin
from alignlearn.solvers.multiclass import two_class_problems
from alignlearn.validation import (
    check_choice,
    check_fitted,
    check_gram,
    check_number,
    check_test_gram,
)

from ._ridge import KernelRidge
from ._svm import ClassDecisions, n_rows


@dataclass(eq=False, repr=False)
class LeastSquaresClassifier(ParamsMixin, ClassDecisions):
    """Regularized least-squares classification on a precomputed Gram matrix.

    Minimizes |w|^2 / 2 + C sum_i c_i (t_i - w.phi_i - b)^2 for each class, where t_i is 1 for the
    samples of the class and -1 for others, and c_i is the sample's weight times its class's weight.
    This is kernel ridge regression with alpha = 1 / (2 C). Its decisions estimate the probability
    of the class, so that they rank samples also where one class is rare.

    Parameters
    ----------
    C : float
        > 0, finite.
    multiclass : {"ovo", "ovr"}
        Decisions of more than two classes: of each class against the rest, or half the difference
        of these for each pair of classes. The decided class is the same.
    class_weight : None, "balanced" or dict
        Weight of each class; "balanced" makes the total weights of all classes equal.

    Attributes
    ----------
    classes_ : (c,) sorted labels
    support_ : (m,) intp
        All samples.
    dual_coef_ : (m, n_problems) float64
        The decisions are ``K_test @ dual_coef_ + intercept_``, with the problems of
        `SupportVectorClassifier`.
    intercept_ : (n_problems,) float64
    n_iter_ : (n_problems,) int

    References
    ----------
    Rifkin, Yeo and Poggio (2003), Regularized least-squares classification; Rifkin and Klautau
    (2004), In defense of one-vs-all classification.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian
    >>> from alignlearn.machines import LeastSquaresClassifier
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> y = np.where(np.linalg.norm(X, axis=1) < 1.1, "inner", "outer")
    >>> model = LeastSquaresClassifier(C=10.0).fit(Gaussian(0.5)(X), y)
    >>> model.predict(Gaussian(0.5)([[0.0, 0.0], [2.0, 2.0]], X)).tolist()
    ['inner', 'outer']
    """

    C: float = 1.0
    _: KW_ONLY
    multiclass: str = "ovo"
    class_weight: Any = None

    dual_coef_ = Coefficients()

    def fit(self, K, y, sample_weight=None, *, check=True):
        """Fit the classifier by one Cholesky factorization.

        Parameters
        ----------
        K : (m, m) float64 or float32
            Symmetric Gram matrix of a positive semi-definite kernel; not modified.
        y : (m,)
            Labels of one sortable type, with at least two classes; or (m, c) of 0 and 1, many
            labels.
        sample_weight : (m,), optional
            Not negative; weight 0 leaves the sample out.
        check : bool, default True
            False skips the check that K is finite and symmetric.

        Raises
        ------
        ValueError
            Invalid input; K + alpha I, centered, is not positive definite.
        """
        targets, weight = self.targets(y, sample_weight, n_rows(K))
        K = check_gram("K", K, len(targets)) if check else K

        def fit(ridge, columns, w):
            ridge.fit(K, columns, w, check=False)

        return self.store(self.fit_columns(fit, targets, weight))

    @property
    def alpha(self):
        """The penalty of ridge regression, 1 / (2 C)."""
        return 0.5 / check_number("C", self.C, low=0.0, strict=True)

    def ridge(self):
        """The `KernelRidge` that is fitted to `targets`."""
        return KernelRidge(self.alpha)

    def fit_columns(self, fit, targets, weight):
        """Return the `KernelRidge` that ``fit(ridge, targets, weight)`` fits to `targets`.

        Columns with weights of their own are fitted one by one.
        """
        ridge = self.ridge()
        if weight.ndim == 1:
            fit(ridge, targets, weight)
            return ridge
        each = [self.ridge() for _ in weight]
        for one, column, w in zip(each, targets.T, weight):
            fit(one, np.ascontiguousarray(column[:, None]), w)
        ridge.dual_coef_ = np.hstack([one.dual_coef_ for one in each])
        ridge.intercept_ = np.concatenate([np.ravel(one.intercept_) for one in each])
        ridge.n_iter_ = max(np.max(getattr(one, "n_iter_", 1)) for one in each)
        return ridge

    def targets(self, y, sample_weight=None, n_rows=None):
        """Targets (m, c), or (m, 1) of two classes, and weights; the labels are kept.

        Weights are (m,), or (c, m) of many labels with weights of classes. ``n_rows`` is the number
        of rows of K, if y has not been compared with it.
        """
        check_choice("multiclass", self.multiclass, ("ovo", "ovr"))
        weights = {"sample_weight": sample_weight, "class_weight": self.class_weight}
        weights["n_rows"] = n_rows
        self.classes_, signs, weight = two_class_problems(y, "ovr", **weights)
        return np.ascontiguousarray(signs.T), weight

    def problems(self, columns, listed=None):
        """Decisions or coefficients (n, n_problems) from those of `targets`, (n, c) or (n, 1).

        ``listed`` makes those of the pairs of many classes, such as `PairDecisions.of_columns`.
        """
        check_fitted(self, "classes_")
        of_one = self.classes_.ndim == 1  # not of many labels
        if not (self.multiclass == "ovo" and of_one and columns.shape[1] > 2):
            return columns
        if listed is not None and are_many(columns.shape[1]):
            return listed(columns)
        return pair_differences(columns)

    def store(self, ridge):
        """Keep the solution of a `KernelRidge` that was fitted to `targets`."""
        check_fitted(self, "classes_")
        columns = ridge.dual_coef_
        self.dual_coef_ = self.problems(columns, ClassCoefficients)
        self.intercept_ = self.problems(ridge.intercept_[None])[0]
        self.support_, self.n_train_ = np.arange(len(columns)), len(columns)
        self.n_iter_ = np.full(self.intercept_.size, int(np.max(getattr(ridge, "n_iter_", 1))))
        return self

    def problem_decisions(self, K_test):
        """Decisions (n_test, n_problems) of the problems of two classes."""
        check_fitted(self, "n_train_")
        K_test, coef = check_test_gram("K_test", K_test, self.n_train_), stored_coefficients(self)
        if is_compact(coef):
            return coef.times(K_test).T + self.intercept_
        return K_test @ coef + self.intercept_
