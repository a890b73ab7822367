"""Epsilon-insensitive support vector regression on a Gram matrix."""

from __future__ import annotations

from alignlearn.solvers.smo import warn_unconverged
from alignlearn.validation import (
    check_number,
    check_targets,
    check_test_gram,
    check_weights,
)

from ._svm import check_matrix, check_options, check_start, solve, spread, store_results


class SupportVectorRegressor:
    """Epsilon-SVR on a precomputed Gram matrix, solved by SMO to a KKT violation of ``tol``.

    Minimises |w|^2 / 2 + sum_i C_i max(0, |y_i - w.phi_i - b| - epsilon), C_i = C times the
    sample's weight. The dual is solved in m signed coefficients alpha - alpha*. Targets of several
    columns give one problem per column.

    Parameters
    ----------
    C : float
        > 0 and finite.
    epsilon : float
        Half-width of the tube without loss, >= 0, in units of y.
    tol, max_iter, shrinking
        As in `SupportVectorClassifier`; ``tol`` is in units of y.

    Attributes
    ----------
    support_ : (n_support,) intp
        Samples with a coefficient that is not 0 for some column of y.
    dual_coef_ : (n_support, c) float64
        Predictions are ``K_test[:, support_] @ dual_coef_ + intercept_``; c is 1 for (m,).
    intercept_, n_iter_, kkt_violation_, duality_gap_, objective_ : (c,)
        As in `SupportVectorClassifier`.
    """

    def __init__(self, C=1.0, epsilon=0.1, *, tol=1e-3, max_iter=None, shrinking=True):
        self.C = C
        self.epsilon = epsilon
        self.tol = tol
        self.max_iter = max_iter
        self.shrinking = shrinking

    def fit(self, K, y, sample_weight=None, *, alpha0=None, check=True):
        """Fit the machine; arguments, errors and warnings as in `SupportVectorClassifier.fit`.

        ``y`` is (m,) or (m, c), real and finite; ``alpha0`` has a column per column of y.
        """
        options = check_options(self)
        C = check_number("C", self.C, low=0.0, strict=True)
        epsilon = check_number("epsilon", self.epsilon, low=0.0)
        y = check_targets(y)
        K = check_matrix(K, len(y), check)
        reach = C * check_weights(sample_weight, len(y))
        targets = y.reshape(len(y), -1).T
        starts = check_start(alpha0, len(y), len(targets))
        starts = [None] * len(targets) if starts is None else starts.T
        results = []
        for target, start in zip(targets, starts):
            bounds = -reach, reach
            result = solve(K, -target, bounds, epsilon=epsilon, start=start, **options)
            warn_unconverged(result, options["tol"])
            results.append(result)
        store_results(self, results)
        self._flat = y.ndim == 1
        return self

    def predict(self, K_test):
        """Predictions (n_test,) or (n_test, c) from the kernel (n_test, m) against the training."""
        K_test = check_test_gram("K_test", K_test, self.n_train_)
        return self.predictions(K_test[:, self.support_] @ self.dual_coef_ + self.intercept_)

    def predictions(self, raw):
        """The same from the values (n_test, c) of the problems."""
        return raw[:, 0] if self._flat else raw

    def full_dual_coef(self):
        """Dual coefficients of all training samples, (m, c)."""
        return spread(self)

    def problem_sizes(self, y):
        """Number of samples in each problem, (c,)."""
        return [len(y)] * (1 if y.ndim == 1 else y.shape[1])
