"""Ensembles of kernel machines: the reference that learning one kernel is compared with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from alignlearn._lapack import cholesky, cholesky_solve, inverse_diagonal
from alignlearn._params import ParamsMixin
from alignlearn.folds import fold_numbers
from alignlearn.solvers.multiclass import encode_labels, predicted_labels, problem_signs
from alignlearn.solvers.nnqp import nonnegative_qp
from alignlearn.solvers.smo import smo
from alignlearn.sources import GramFamily
from alignlearn.statistics import target_norm
from alignlearn.validation import (
    check_choice,
    check_count,
    check_fitted,
    check_labels,
    check_number,
    check_targets,
    check_test_gram,
    is_sequence,
)

from .scores import LabelScore, TargetScore


@dataclass(eq=False, repr=False, kw_only=True)
class Ensemble(ParamsMixin):
    """One machine per kernel, then a linear combination of the machines.

    The hypotheses ``h = sum_k mu_k h_k`` with ``h_k(x) = sum_i a_ik K_k(x_i, x) + b_k`` of section
    3.3 of Cortes, Mohri and Rostamizadeh (2012): a richer space than that of one learned kernel,
    since every kernel has dual coefficients of its own and ``mu_k`` may be negative. The
    combination is fitted by ridge regression to predictions that each machine makes for samples it
    was not trained on, since its fit to the training samples says nothing about its worth.

    Parameters
    ----------
    machine : {"krr", "svc"}, default "krr"
        Kernel ridge regression of real targets (leave-one-out predictions in closed form), or
        C-SVC of labels (out-of-fold decisions; more than two classes one against the rest).
    alpha : float, default 1.0
        "krr": ridge parameter, > 0.
    C : float, default 1.0
        "svc": cost, > 0.
    combination : {"linear", "nonnegative"}, default "linear"
    ridge : float, default 1e-3
        Of the combination, > 0, relative to the mean variance of the machines' predictions.
    n_folds : int, default 5
        "svc": folds of the out-of-sample decisions.
    random_state : int, default 0
        Of the folds.
    tol : float, default 1e-6
        "svc": largest violation of a machine's optimality conditions, in units of its decisions.
        The combination passes errors on, so it is smaller than that of a machine by itself.

    Attributes
    ----------
    weights_ : ndarray of shape (p,) or (p, c)
        Of the machines, for each target column or class.
    dual_coef_ : ndarray of shape (p, m, c)
        Of the machines.
    intercept_ : ndarray of shape (c,)
        Of the combination, with the machines' own.
    classes_ : ndarray
        "svc": sorted labels.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Ensemble, Gaussian, Linear
    >>> X = np.random.default_rng(0).normal(size=(60, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> grams = [Gaussian(1.0)(X), Linear()(X)]
    >>> model = Ensemble("krr", alpha=0.01).fit(grams, y)
    >>> model.predict(grams).shape, model.score(grams, y) > 0.9
    ((60,), True)
    >>> bool(model.weights_.ravel()[0] > 0.9)  # that of the Gaussian's machine
    True
    """

    machine: str = field(default="krr", kw_only=False)
    alpha: float = 1.0
    C: float = 1.0
    combination: str = "linear"
    ridge: float = 1e-3
    n_folds: int = 5
    random_state: Any = 0
    tol: float = 1e-6

    def fit(self, grams, y):
        """Train the machines and combine them.

        Parameters
        ----------
        grams : sequence of p arrays (m, m), or array of shape (p, m, m)
        y : array-like of shape (m,), or (m, c) for "krr"

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            Bad input or parameters.
        """
        self._check_parameters()
        family = grams if isinstance(grams, GramFamily) else GramFamily(grams)
        T = self._targets(y, family.n_samples)
        single = self._ridge if self.machine == "krr" else self._svc
        parts = [single(np.asarray(K, dtype=np.float64), T) for K in family.grams]
        coef, offsets, held_out = (np.array(part) for part in zip(*parts))
        self.dual_coef_ = coef.transpose(0, 2, 1)
        columns = [self._combine(held_out[:, c], T[c]) for c in range(len(T))]
        self.weights_ = np.column_stack([mu for mu, _ in columns])
        self.intercept_ = np.array([b for _, b in columns]) + (self.weights_ * offsets).sum(axis=0)
        if self._flat:
            self.weights_ = self.weights_[:, 0]
        return self

    def decision_function(self, grams_test):
        """``h(x)`` for p matrices (n, m) against the training samples: (n,) or (n, c)."""
        check_fitted(self, "dual_coef_")
        p, m, c = self.dual_coef_.shape
        if not is_sequence(grams_test) or len(grams_test) != p:
            raise ValueError(f"grams_test must be a sequence of {p} matrices, as in fit.")
        weights = self.weights_.reshape(p, c)
        out, n = self.intercept_, None
        for k in range(p):
            K = check_test_gram(f"grams_test[{k}]", grams_test[k], m)
            n = n or len(K)
            if len(K) != n:
                raise ValueError(f"grams_test[{k}] has {len(K)} rows, the first {n}.")
            out = out + (K @ self.dual_coef_[k]) * weights[k]
        return out[:, 0] if self._flat else out

    def predict(self, grams_test):
        """Predictions, or labels for "svc", for p matrices (n, m)."""
        values = self.decision_function(grams_test)
        if self.machine == "krr":
            return values
        return predicted_labels(values, self.classes_)

    def score(self, grams_test, y, sample_weight=None) -> float:
        """R^2 for "krr", accuracy for "svc", weighted by ``sample_weight`` (n,).

        ``grams_test`` as in `predict`.
        """
        scored = TargetScore if self.machine == "krr" else LabelScore
        return scored.score(self, grams_test, y, sample_weight)

    def _check_parameters(self):
        check_choice("machine", self.machine, ("krr", "svc"))
        check_choice("combination", self.combination, ("linear", "nonnegative"))
        for name in ("alpha", "C", "ridge", "tol"):
            check_number(name, getattr(self, name), low=0.0, strict=True)
        check_count("n_folds", self.n_folds, low=2, optional=False)

    def _targets(self, y, m):
        """Target rows (c, m)."""
        if self.machine == "krr":
            y = check_targets(y, m)
            target_norm(y.reshape(m, -1))  # refuses what overflows
            self._flat = y.ndim == 1
            return np.ascontiguousarray(y.reshape(m, -1).T)
        self.classes_, codes = encode_labels(check_labels(y, m))
        self._fold = fold_numbers(codes, int(self.n_folds), True, self.random_state)
        signs = problem_signs(codes, self.classes_.size, "ovr")
        self._flat = len(signs) == 1
        return signs

    def _ridge(self, K, T):
        """Coefficients (c, m), intercepts (c,), leave-one-out predictions (c, m)."""
        system = K.copy()
        system.flat[:: len(K) + 1] += self.alpha
        if not cholesky(system):
            raise ValueError(
                f"a kernel plus alpha I is not positive definite at alpha={self.alpha:g}; accepted "
                "are positive semi-definite kernels, or a larger alpha."
            )
        # With an intercept: the block of the inverse of [[K + alpha I, 1], [1', 0]].
        ones = cholesky_solve(system, np.ones(len(K)))
        total = ones.sum()
        offsets = T @ ones / total
        coef = cholesky_solve(system, T.T).T - np.outer(offsets, ones)
        residual = coef / (inverse_diagonal(system) - ones**2 / total)
        return coef, offsets, T - residual

    def _svc(self, K, T):
        """The same with out-of-fold decisions."""
        coef, offsets, held_out = np.empty(T.shape), np.empty(len(T)), np.empty(T.shape)
        for c, sign in enumerate(T):
            full = self._one_svc(K, sign)
            coef[c], offsets[c] = full.coef, -full.multiplier
            for f in range(int(self.n_folds)):
                found = self._one_svc(K, np.where(self._fold == f, 0.0, sign), full.coef)
                test = np.flatnonzero(self._fold == f)
                held_out[c, test] = K[test] @ found.coef - found.multiplier
        return coef, offsets, held_out

    def _one_svc(self, K, sign, start=None):
        reach = float(self.C) * sign
        bounds = np.minimum(reach, 0.0), np.maximum(reach, 0.0)
        return smo(K, -sign, bounds, start=start, tol=self.tol)

    def _combine(self, H, target):
        """Weights (p,) and intercept of the ridge regression of the target on the rows of H."""
        mean, level = H.mean(axis=1), target.mean()
        centered = H - mean[:, None]
        # In units of the mean variance, in which the ridge is.
        unit = np.mean(np.square(centered).sum(axis=1)) or 1.0
        A, b = centered @ centered.T / unit, centered @ (target - level) / unit
        A.flat[:: len(A) + 1] += self.ridge
        if self.combination == "nonnegative":
            mu = nonnegative_qp(A, b, check_psd=False).v
        else:
            mu = np.linalg.solve(A, b)
        return mu, level - mean @ mu
