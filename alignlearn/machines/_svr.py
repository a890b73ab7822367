"""Support vector regression on a Gram matrix."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from alignlearn._params import ParamsMixin
from alignlearn.validation import (
    check_fitted,
    check_number,
    check_targets,
    check_test_gram,
    check_weights,
)

from ._svm import (
    AlongC,
    check_matrix,
    check_options,
    check_start,
    costs_of,
    solve,
    spread,
    store_results,
)
from .scores import TargetScore


@dataclass(eq=False, repr=False)
class SupportVectorRegressor(AlongC, ParamsMixin, TargetScore):
    """Epsilon-SVR on a precomputed Gram matrix, solved by SMO to a KKT violation of ``tol``.

    Minimizes |w|^2 / 2 + sum_i C_i max(0, |y_i - w.phi_i - b| - epsilon), C_i = C times the
    sample's weight. The dual is solved in m signed coefficients alpha - alpha*. Targets of several
    columns give one problem per column.

    Parameters
    ----------
    C : float
        > 0 and finite.
    epsilon : float
        Half-width of the tube without loss, >= 0, in units of y.
    tol : float
        Maximum KKT violation, in units of y.
    max_iter : int, optional
        Limit of two-variable steps for each problem; default ``max(10**7, 100 m)``.

    Attributes
    ----------
    support_ : (n_support,) intp
        Samples with a nonzero coefficient for some column of y.
    dual_coef_ : (n_support, c) float64
        Predictions are ``K_test[:, support_] @ dual_coef_ + intercept_``; c is 1 for (m,).
    intercept_, n_iter_, kkt_violation_, duality_gap_, objective_ : (c,)
        ``objective_`` is the dual function reached; it lies at most ``duality_gap_`` below the
        minimum of the primal function if K is positive semi-definite.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian
    >>> from alignlearn.machines import SupportVectorRegressor
    >>> X = np.random.default_rng(0).normal(size=(40, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> K = Gaussian(1.0)(X)
    >>> model = SupportVectorRegressor(C=100.0, epsilon=0.1).fit(K, y)
    >>> bool(np.abs(model.predict(K) - y).max() < 0.11), len(model.support_) < 20
    (True, True)
    """

    C: float = 1.0
    epsilon: float = 0.1
    _: KW_ONLY
    tol: float = 1e-3
    max_iter: int | None = None

    def fit(self, K, y, sample_weight=None, *, alpha0=None, check=True):
        """Fit the regressor.

        Parameters
        ----------
        K : (m, m) float64 or float32, or RowCache
            Symmetric Gram matrix; used in place and not modified. If it does not fit into memory,
            its rows: see `alignlearn.machines.gram_rows.row_cache`.
        y : (m,) or (m, c)
            Targets, real and finite.
        sample_weight : (m,), optional
            Not negative; weight 0 omits the sample.
        alpha0 : (m,) or (m, c), optional
            Signed dual coefficients to start from; they are made feasible first.
        check : bool, default True
            False skips the check that K is finite, symmetric and in C order.

        Raises
        ------
        ValueError
            Invalid input.

        Warns
        -----
        ConvergenceWarning
            A problem stopped above ``tol``; the message has the violation.
        """
        options = check_options(self)
        C = check_number("C", self.C, low=0.0, strict=True)
        epsilon = check_number("epsilon", self.epsilon, low=0.0)
        y = check_targets(y)
        K = check_matrix(K, len(y), check)
        reach = costs_of(C, check_weights(sample_weight, len(y)))
        targets = y.reshape(len(y), -1).T
        starts = check_start(alpha0, len(y), len(targets))
        starts = [None] * len(targets) if starts is None else starts.T
        results = []
        for target, start in zip(targets, starts):
            bounds = -reach, reach
            result = solve(K, -target, bounds, epsilon=epsilon, start=start, **options)
            result.warn_unconverged(options["tol"])
            results.append(result)
        store_results(self, results)
        self._flat = y.ndim == 1
        return self

    def predict(self, K_test):
        """Predictions (n_test,) or (n_test, c) from the kernel (n_test, m) against the training."""
        check_fitted(self, "n_train_")
        K_test = check_test_gram("K_test", K_test, self.n_train_)
        return self.predictions(K_test[:, self.support_] @ self.dual_coef_ + self.intercept_)

    def predictions(self, raw):
        """Predict targets from the values (n_test, c) of the problems."""
        check_fitted(self, "n_train_")
        return raw[:, 0] if self._flat else raw

    def full_dual_coef(self):
        """Dual coefficients of all training samples, (m, c)."""
        return spread(self)

    def problem_sizes(self, y):
        """Number of samples in each problem, (c,)."""
        return [len(y)] * (1 if y.ndim == 1 else y.shape[1])
