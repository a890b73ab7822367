"""Base class of the online classifier and regressor: checks, steps, fitted attributes.

Source: Kivinen, Smola and Williamson (2004), "Online learning with kernels".
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from alignlearn.engine import grams
from alignlearn.estimators.base import Estimator
from alignlearn.estimators.inputs import doubt_scales
from alignlearn.kernels import KernelRuleError, as_kernel, column_names, kernel_samples
from alignlearn.validation import (
    ConvergenceWarning,
    as_array,
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_seed,
    is_sparse,
    warn,
)

from ._expansion import Expansion
from ._steps import LOSSES, NEVER, SCHEDULES, SQUARED, Rule

_DIVERGED = 100.0  # times the loss of f = 0; outliers and noise alone cost less


class KernelSGD(Estimator):
    """Base class of the classifier and the regressor."""

    kernel: Any
    alpha: float
    eta0: float | None
    learning_rate: str
    budget: int | None
    n_passes: int
    fit_intercept: bool
    shuffle: bool
    loss: str
    random_state: Any

    _losses = ()
    _epsilon = 0.0

    _fitted_marker = "_expansion"

    def _restart(self):
        self._forget("classes_")

    def _samples(self, X):
        """Checked samples, and the kernel with its parameters and columns as numbers."""
        if self.__sklearn_is_fitted__():
            return self._check_test(X), self.kernel_
        kernel = as_kernel(self.kernel).resolve_names(column_names(X))
        if not kernel.is_psd:
            raise KernelRuleError(
                f"kernel={kernel} is indefinite, so the functions that it spans have no "
                "norm to regularize; accepted: positive semi-definite kernels."
            )
        samples = kernel_samples("X", X, [kernel])
        return samples, kernel.resolve(samples)

    def _check_test(self, X):
        return self._check_columns(X, self._checked)

    def _checked(self, X):
        if hasattr(self, "n_features_in_") and not is_sparse(X):
            X = as_array("X", X)
        return kernel_samples("X", X, [self.kernel_])

    def _rule(self, X, kernel):
        """The checked parameters as numbers; if ``eta0`` is None, it depends on the samples."""
        alpha = check_number("alpha", self.alpha, low=0.0, strict=True)
        intercept = float(check_flag("fit_intercept", self.fit_intercept))
        loss = check_choice("loss", self.loss, self._losses)
        budget = check_count("budget", self.budget)
        schedule = check_choice("learning_rate", self.learning_rate, ("auto", *SCHEDULES))
        if schedule == "auto":
            schedule = "optimal" if budget is None else "constant"
        epsilon = check_number("epsilon", self._epsilon, low=0.0)
        if self.eta0 is None:
            largest = float(np.max(grams.gram_diagonals([kernel], X)[0], initial=0.0))
            eta0 = 1.0 / (largest + intercept + alpha) * (1.0 - 1e-12)
        else:
            eta0 = check_number("eta0", self.eta0, low=0.0, strict=True)
        if not eta0 * alpha < 1.0:
            raise ValueError(
                f"eta0={eta0:g} and alpha={alpha:g}: a step multiplies all earlier coefficients by "
                f"1 - eta0 * alpha = {1.0 - eta0 * alpha:g}, which must be > 0; accepted: eta0 < "
                f"{1.0 / alpha:g}, or None."
            )
        codes = LOSSES.index(loss), SCHEDULES.index(schedule)
        return Rule(
            codes[0], epsilon, alpha, eta0, codes[1], NEVER if budget is None else budget, intercept
        )

    def _train(self, opened, names, targets, orders):
        """Take steps on checked samples; either all fitted attributes are set, or none."""
        samples, kernel = opened
        rule = self._rule(samples, kernel)
        if self.__sklearn_is_fitted__():
            # Steps change an expansion in place, which a copy of this estimator shares.
            expansion = copy(self._expansion)
            if self.eta0 is None:
                # With samples of larger norm than before, the old step length would diverge.
                rule = rule._replace(eta0=min(rule.eta0, expansion.rule.eta0))
            expansion.rule = rule
            curve = expansion.train(samples, targets, orders)
        else:
            doubt_scales(None, samples, [kernel], names)
            expansion = Expansion(kernel, rule, targets.shape[1])
            curve = expansion.train(samples, targets, orders)
            self.kernel_, self.loss_curve_ = kernel, []
            if len(getattr(samples, "shape", ())) == 2:
                self.n_features_in_ = samples.shape[1]
                if names is not None:
                    self.feature_names_in_ = names
        self._expansion = expansion
        self.loss_curve_ = [*self.loss_curve_, *(float(np.sum(losses)) for losses in curve)]
        self.support_, self.dual_coef_ = expansion.number, expansion.coef
        self.intercept_, self.truncation_error_ = expansion.intercept, expansion.error
        self.eta0_, self.n_steps_ = rule.eta0, expansion.n_steps
        self._warn_diverged(expansion)
        return self

    def _warn_diverged(self, expansion):
        """Warn if f is far worse than 0, which only losses with unbounded slopes can cause."""
        lost, zero = self.loss_curve_[-1], expansion.loss_of_zero
        if expansion.rule.loss == SQUARED and not lost <= _DIVERGED * zero:
            warn(
                (
                    f"The steps diverge: the mean loss of the last pass was {lost:.3g}, and "
                    f"that of f = 0 is {zero:.3g}. eta0={self.eta0_:g} is too large for "
                    "these samples; accepted: about 1 / max k(x, x), or None."
                ),
                ConvergenceWarning,
            )

    def _passes(self, m):
        """The orders of the passes of ``fit``."""
        n_passes = check_count("n_passes", self.n_passes, optional=False)
        rng = check_seed("random_state", self.random_state)
        shuffle = check_flag("shuffle", self.shuffle)
        return [rng.permutation(m) if shuffle else np.arange(m) for _ in range(n_passes)]

    def _risk(self, X, targets):
        risk = self._expansion.regularized_risk(X, targets)
        return float(risk[0]) if risk.size == 1 else risk
