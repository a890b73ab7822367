"""Ensembles of models, one per kernel: a reference for learning one kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from alignlearn.folds import fold_numbers
from alignlearn.machines._ridge import ridge_leave_one_out
from alignlearn.solvers.multiclass import predicted_labels, two_class_problems
from alignlearn.solvers.smo import smo

_RIDGE = 1e-3  # ridge of the combination, relative to the mean variance of the models' predictions
_FOLDS = 5  # folds for out-of-sample decisions of support vector machines
# Tolerance of these models; smaller than for a single model, because errors propagate.
_TOL = 1e-6


@dataclass
class Ensemble:
    """One model per kernel, and a linear combination of the models.

    The hypotheses ``h = sum_k mu_k h_k`` with ``h_k(x) = sum_i a_ik K_k(x_i, x) + b_k`` of section
    3.3 of Cortes, Mohri and Rostamizadeh (2012): a richer space than that of one learned kernel,
    since every kernel has its own dual coefficients and ``mu_k`` may be negative. The combination
    is fitted by ridge regression to out-of-sample predictions of each model, because its fit to the
    training samples does not measure its quality.

    Parameters
    ----------
    machine : {"krr", "svc"}
        Kernel ridge regression of real targets (leave-one-out predictions in closed form), or
        C-SVC of labels (out-of-fold decisions; more than two classes one against the rest).
    value : float
        Ridge parameter alpha, or cost C.
    random_state : int
        Seed of the folds of "svc".

    Attributes
    ----------
    weights_ : ndarray of shape (p, c)
        Weights of the models, for each target column or class.
    dual_coef_ : ndarray of shape (p, m, c)
        Of the machines.
    intercept_ : ndarray of shape (c,)
        Of the combination, with the machines' own.
    """

    machine: str
    value: float
    random_state: int = 0

    def fit(self, grams, y):
        """Train the machines on p matrices (m, m) and targets or labels (m,); combine them."""
        if self.machine == "krr":
            single, T = self._ridge, np.asarray(y, dtype=np.float64)[None]
        else:
            self.classes_, T, _ = two_class_problems(y)
            folds = fold_numbers(y, _FOLDS, True, self.random_state)
            single = partial(self._svc, folds)
        parts = [single(np.asarray(K, dtype=np.float64), T) for K in grams]
        coef, offsets, held_out = (np.array(part) for part in zip(*parts))
        self.dual_coef_ = coef.transpose(0, 2, 1)
        columns = [_combination(held_out[:, c], T[c]) for c in range(len(T))]
        self.weights_ = np.column_stack([mu for mu, _ in columns])
        self.intercept_ = np.array([b for _, b in columns]) + (self.weights_ * offsets).sum(axis=0)
        return self

    def predict(self, grams_test):
        """Predictions, or labels for "svc", (n,), for p matrices (n, m)."""
        out = self.intercept_
        for K, coef, weights in zip(grams_test, self.dual_coef_, self.weights_):
            out = out + (K @ coef) * weights
        out = out[:, 0] if out.shape[1] == 1 else out
        return out if self.machine == "krr" else predicted_labels(out, self.classes_)

    def _ridge(self, K, T):
        """Coefficients (c, m), intercepts (c,), leave-one-out predictions (c, m)."""
        coef, residuals = ridge_leave_one_out(K.copy(), T.T, self.value)
        return coef.T, (T - (K @ coef).T).mean(axis=1), T - residuals.T

    def _svc(self, folds, K, T):
        """The same with out-of-fold decisions."""
        coef, offsets, held_out = np.empty(T.shape), np.empty(len(T)), np.empty(T.shape)
        for c, sign in enumerate(T):
            full = self._one_svc(K, sign)
            coef[c], offsets[c] = full.coef, -full.multiplier
            for f in range(_FOLDS):
                found = self._one_svc(K, np.where(folds == f, 0.0, sign), full.coef)
                test = np.flatnonzero(folds == f)
                held_out[c, test] = K[test] @ found.coef - found.multiplier
        return coef, offsets, held_out

    def _one_svc(self, K, sign, start=None):
        reach = float(self.value) * sign
        bounds = np.minimum(reach, 0.0), np.maximum(reach, 0.0)
        return smo(K, -sign, bounds, start=start, tol=_TOL)


def _combination(H, target):
    """Weights (p,) and intercept of the ridge regression of the target on the rows of H."""
    mean, level = H.mean(axis=1), target.mean()
    centered = H - mean[:, None]
    # In units of the mean variance, like the ridge.
    unit = np.mean(np.square(centered).sum(axis=1)) or 1.0
    A, b = centered @ centered.T / unit, centered @ (target - level) / unit
    A.flat[:: len(A) + 1] += _RIDGE
    mu = np.linalg.solve(A, b)
    return mu, level - mean @ mu
