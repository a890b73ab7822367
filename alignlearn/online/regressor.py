"""Regression by stochastic gradient descent on the regularized risk, over functions."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn.estimators import inputs
from alignlearn.estimators.base import Regressor, parameters, shared
from alignlearn.validation import check_targets

from ._base import KernelSGD

if TYPE_CHECKING:
    from typing_extensions import Self


@parameters
class KernelSGDRegressor(Regressor, KernelSGD):
    """Kernel regression learned from one sample at a time, by stochastic gradient descent.

    Each step with a sample (x, y) and a step length eta is
    ``f <- (1 - eta alpha) f - eta l'(f(x), y) k(x, .)``, a stochastic gradient of the mean loss
    plus ``alpha / 2 |f|^2``. Targets of several columns share the samples, not the coefficients.

    Parameters
    ----------
    kernel : Kernel or str, default "rbf"
        Positive semi-definite, such as the ``kernel_`` of a fitted `MKLRegressor`.
    loss : {"squared", "epsilon-insensitive"}, default "squared"
        ``(f - y)^2 / 2`` or ``max(0, |f - y| - epsilon)``.
    epsilon : float, default 0.1
        Half-width of the tube without loss, >= 0, in units of y.
    alpha : float, default 1e-3
        Penalty parameter, > 0. With the squared loss m alpha is the alpha of kernel ridge
        regression.
    eta0 : float, optional
        First step length, < 1 / alpha. Default: 1 / (max k(x, x) + alpha), plus 1 in the
        denominator with an intercept, over the samples of all calls so far.
    learning_rate : {"auto", "optimal", "invscaling", "constant"}, default "auto"
        Step t = 0, 1, ... has the length eta0 / (1 + alpha eta0 t), eta0 / sqrt(1 + t) or eta0.
        "auto" is "constant" with a budget, else "optimal".
    budget : int, optional
        Maximum number of samples in the expansion. Beyond it, the sample that changed longest ago
        is dropped. With constant steps its coefficient has decayed most, by (1 - alpha eta0)^budget
        or more. With decreasing steps all coefficients have a similar size, and dropping one is a
        larger error.
    n_passes : int, default 5
        Passes over the samples in ``fit``.
    fit_intercept : bool, default True
        Learn a constant, which is not penalized.
    shuffle : bool, default True
        Draw a new random order of the samples in every pass of ``fit``.

    Attributes
    ----------
    kernel_ : Kernel
        With a number for ``gamma="scale"``, computed from the samples of the first call.
    support_ : ndarray of int of shape (n_support,)
        Samples of the expansion, counted from 0 over all calls.
    dual_coef_ : ndarray of shape (n_support, n_problems)
        ``f = sum_i dual_coef_i k(x_i, .) + intercept_``; one problem for each column of y.
    intercept_ : ndarray of shape (n_problems,)
    truncation_error_ : ndarray of shape (n_problems,)
        Upper bound on the norm of the dropped part of f, with its decay: ``|f(x) - f_all(x)| <=
        truncation_error_ sqrt(k(x, x))``, where f_all has the same coefficients and all samples. 0
        without a budget.
    loss_curve_ : list of float
        For each pass or call, the mean loss (summed over problems) of samples before they are
        learned.
    eta0_ : float
    n_steps_ : int
    n_features_in_, feature_names_in_

    References
    ----------
    Kivinen, Smola and Williamson (2004), Online learning with kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, KernelSGDRegressor
    >>> X = np.random.default_rng(0).normal(size=(60, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = KernelSGDRegressor(Gaussian(1.0), n_passes=10).fit(X, y)
    >>> model.score(X, y) > 0.8, len(model.support_), model.n_steps_
    (True, 60, 600)
    """

    _losses = ("squared", "epsilon-insensitive")

    kernel: Any = field(default="rbf", kw_only=False)
    loss: str = "squared"
    epsilon: float = 0.1
    alpha: float = 1e-3
    eta0: float | None = None
    learning_rate: str = "auto"
    budget: int | None = None
    n_passes: int = 5
    fit_intercept: bool = True
    shuffle: bool = True
    random_state: Any = shared("random_state")

    @property
    def _epsilon(self):
        return self.epsilon

    def fit(self, X, y) -> Self:
        """Learn from the samples in ``n_passes`` passes, starting at f = 0.

        Parameters
        ----------
        X : array-like or SciPy sparse matrix of shape (m, d), or list of m objects
            Samples of the type that the kernel takes.
        y : array-like of shape (m,) or (m, c)
            Real and finite.

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
            The squared loss has grown far above that of f = 0: ``eta0`` is too large.
        """
        self._restart()
        return self._learn(X, y, self._passes)

    def partial_fit(self, X, y) -> Self:
        """Learn from more samples, each once, in the given order; return self.

        Arguments and errors as in ``fit``.
        """
        return self._learn(X, y, lambda m: [np.arange(m)])

    def _learn(self, X, y, orders):
        names, opened = inputs.feature_names(X), self._samples(X)
        inputs.require_y(self, y)
        y = check_targets(y, len(opened[0]))
        targets = y.reshape(len(y), -1)
        fitted = self.__sklearn_is_fitted__()
        if fitted and (y.ndim == 1, targets.shape[1]) != (self._flat, self.dual_coef_.shape[1]):
            raise ValueError(
                f"y has shape {y.shape}, but in the first call it had "
                f"{'one dimension' if self._flat else f'{self.dual_coef_.shape[1]} columns'}."
            )
        self._train(opened, names, targets, orders(len(y)))
        self._flat = y.ndim == 1
        return self

    def predict(self, X) -> np.ndarray:
        """Predictions for n samples, shape (n,), or (n, c) if y had columns."""
        X = self._check_test(X)
        values = self._expansion.decisions(X)
        return values[:, 0] if self._flat else values

    def regularized_risk(self, X, y):
        """Mean loss plus ``alpha / 2 |f|^2``, a float, or (c,) if y has columns."""
        X = self._check_test(X)
        y = check_targets(y, len(X)).reshape(len(X), -1)
        if y.shape[1] != self.dual_coef_.shape[1]:
            raise ValueError(
                f"y has {y.shape[1]} columns, but in fit it had {self.dual_coef_.shape[1]}."
            )
        return self._risk(X, y)
