"""The linear support vector machine without an intercept, by dual coordinate descent."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from alignlearn._params import ParamsMixin
from alignlearn.solvers.dual_coordinate_descent import LOSSES, dual_coordinate_descent
from alignlearn.solvers.multiclass import (
    class_confidences,
    predicted_labels,
    two_class_problems,
)
from alignlearn.validation import (
    check_choice,
    check_count,
    check_features,
    check_fitted,
    check_label_matrix,
    check_labels,
    check_number,
    check_seed,
    is_label_matrix,
    is_sparse,
)

from .scores import LabelScore

_LARGEST = 1e150  # feature


@dataclass(eq=False, repr=False)
class LinearSVM(ParamsMixin, LabelScore):
    """Linear C-SVC without an intercept, by dual coordinate descent.

    Minimizes |w|^2 / 2 + sum_i C_i loss(1 - y_i w'z_i) with C_i = C times the sample's weight times
    its class's weight. On ``Z = X * np.sqrt(kernel.weights)`` this is the SVM on a
    `FeatureWeighted` kernel, the combination of rank-one or linear kernels. A pass costs O(m d), or
    O(entries) for sparse Z, for any C; the number of passes grows with C and with the scale of
    Z.

    Parameters
    ----------
    C : float
        > 0 and finite.
    loss : {"hinge", "squared-hinge"}
    multiclass : {"ovr", "ovo"}
        One-vs-rest (c problems) or one-vs-one (c (c - 1) / 2 problems).
    class_weight : None, "balanced" or dict
        Weight of each class; "balanced" makes the total weights of all classes equal (m / (c m_k)
        without sample weights); classes that are not in the dict have weight 1.
    tol : float
        Maximum projected gradient of the dual, in units of the margin.
    max_iter : int
        Passes over the samples for each problem.
    random_state : int or numpy.random.Generator, optional
        Seed of the order of the samples. None means the seed 0, so results are reproducible.

    Attributes
    ----------
    classes_ : (c,) sorted labels
    coef_ : (d, n_problems) float64
        Decisions are ``Z @ coef_``; problems as in `SupportVectorClassifier`.
    support_ : (n_support,) intp
        Samples with a coefficient that is not 0 in some problem.
    dual_coef_ : (n_support, n_problems) float64
        Signed: ``coef_`` is ``Z[support_].T @ dual_coef_``.
    intercept_ : (n_problems,)
        Zeros.
    n_iter_, kkt_violation_, duality_gap_, objective_ : (n_problems,)
        ``objective_`` is the dual function reached; it lies at most ``duality_gap_`` below the
        minimum of the primal function.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi and Sundararajan (2008), A dual coordinate descent method for
    large-scale linear SVM.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.machines import LinearSVM
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> model = LinearSVM(C=1.0).fit(X, X[:, 0] - X[:, 1] > 0)
    >>> model.coef_.shape, model.score(X, X[:, 0] - X[:, 1] > 0) > 0.9
    ((3, 1), True)
    """

    C: float = 1.0
    _: KW_ONLY
    loss: str = "hinge"
    multiclass: str = "ovr"
    class_weight: Any = None
    tol: float = 1e-3
    max_iter: int = 10_000
    random_state: Any = None

    def fit(self, Z, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        Z : array-like or SciPy sparse matrix of shape (m, d)
            Converted to float64.
        y : (m,)
            Labels of one sortable type, at least two different ones.
        sample_weight : (m,), optional
            Not negative; weight 0 leaves the sample out.

        Raises
        ------
        ValueError, TypeError
            On bad input; the message names the argument and what is accepted.

        Warns
        -----
        ConvergenceWarning
            If a problem stops above ``tol``; the message gives the violation reached.
        """
        C = check_number("C", self.C, low=0.0, high=1e250, strict=True)
        options = {
            "loss": check_choice("loss", self.loss, LOSSES),
            "tol": check_number("tol", self.tol, low=0.0, strict=True),
            "max_iter": check_count("max_iter", self.max_iter, optional=False),
            "rng": check_seed("random_state", self.random_state),
        }
        Z = _rows(Z)
        labels = check_label_matrix(y) if is_label_matrix(y) else check_labels(y)
        if len(labels) != Z.shape[0]:
            raise ValueError(f"y has {len(labels)} labels, but Z has {Z.shape[0]} samples.")
        weights = {"sample_weight": sample_weight, "class_weight": self.class_weight}
        self.classes_, signs, weight = two_class_problems(labels, self.multiclass, **weights)
        costs = C * weight * np.abs(signs)
        results = [dual_coordinate_descent(Z, s, c, **options) for s, c in zip(signs, costs)]
        for result in results:
            result.warn_unconverged(options["tol"])
        self._store(results)
        return self

    def _store(self, results):
        coef = np.column_stack([r.coef for r in results])
        self.support_ = np.flatnonzero(coef.any(axis=1))
        self.dual_coef_ = coef[self.support_]
        self.coef_ = np.column_stack([r.w for r in results])
        self.intercept_ = np.zeros(len(results))
        self.n_iter_ = np.array([r.n_iter for r in results])
        self.kkt_violation_ = np.array([r.kkt_violation for r in results])
        self.duality_gap_ = np.array([r.duality_gap for r in results])
        self.objective_ = np.array([-r.objective for r in results])

    def decision_function(self, Z):
        """Confidence of each class: (n,) for two classes, positive for ``classes_[1]``.

        (n, c) otherwise; see `alignlearn.solvers.multiclass.class_confidences`.
        """
        check_fitted(self, "coef_")
        Z = _rows(Z)
        if Z.shape[1] != len(self.coef_):
            raise ValueError(f"Z has {Z.shape[1]} columns, but in fit it had {len(self.coef_)}.")
        return self.confidences(np.asarray(Z @ self.coef_))

    def confidences(self, raw):
        """Confidences from the decisions (n, n_problems) of the problems."""
        check_fitted(self, "coef_")
        return class_confidences(raw, self.classes_, self.multiclass)

    def predict(self, Z):
        """Labels (n,) of largest confidence."""
        return predicted_labels(self.decision_function(Z), self.classes_)


def _rows(Z):
    Z = check_features(Z)
    Z = Z.tocsr() if is_sparse(Z) else np.ascontiguousarray(Z)
    Z = Z.astype(np.float64, copy=False)
    values = Z.data if is_sparse(Z) else Z
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    if largest > _LARGEST:
        raise ValueError(
            f"Z has absolute values up to {largest:.3g}; accepted: at most "
            f"{_LARGEST:g}, because products of features are summed. Scale the features "
            "down."
        )
    return Z
