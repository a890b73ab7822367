"""Epsilon-insensitive support vector regression on a Gram matrix."""

from __future__ import annotations

from alignlearn.solvers.smo import smo, warn_unconverged
from alignlearn.validation import (
    check_gram,
    check_number,
    check_targets,
    check_test_gram,
    check_weights,
)

from ._svm import check_options, check_start, spread, store_results


class SupportVectorRegressor:
    """Epsilon-SVR on a precomputed Gram matrix, solved by SMO to a KKT violation of ``tol``.

    Minimises |w|^2 / 2 + sum_i C_i max(0, |y_i - w.phi_i - b| - epsilon), C_i = C times the
    sample's weight. The dual is solved in m signed coefficients alpha - alpha*.

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
    dual_coef_ : (n_support, 1) float64
        Predictions are ``K_test[:, support_] @ dual_coef_ + intercept_``.
    intercept_, n_iter_, kkt_violation_, duality_gap_, objective_ : (1,)
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

        ``y`` is (m,), real and finite.
        """
        options = check_options(self)
        C = check_number("C", self.C, low=0.0, strict=True)
        epsilon = check_number("epsilon", self.epsilon, low=0.0)
        y = check_targets(y, columns=False)
        K = check_gram("K", K, y.size) if check else K
        reach = C * check_weights(sample_weight, y.size)
        start = check_start(alpha0, y.size, 1)
        result = smo(
            K,
            -y,
            (-reach, reach),
            epsilon=epsilon,
            start=None if start is None else start[:, 0],
            **options,
        )
        warn_unconverged(result, options["tol"])
        store_results(self, [result])
        return self

    def predict(self, K_test):
        """Predictions (n_test,) from the kernel (n_test, m) against the training samples."""
        K_test = check_test_gram("K_test", K_test, self.n_train_)
        return (K_test[:, self.support_] @ self.dual_coef_ + self.intercept_)[:, 0]

    def full_dual_coef(self):
        """Dual coefficients of all training samples, (m, 1)."""
        return spread(self)
