"""Stochastic gradient descent on the regularised risk, in a space of functions.

Source: Kivinen, Smola and Williamson (2004), "Online learning with kernels".
"""

from __future__ import annotations

import numpy as np

from alignlearn.engine import cpu
from alignlearn.estimators import _inputs
from alignlearn.estimators._sklearn import Estimator
from alignlearn.estimators._tuning import r2
from alignlearn.kernels import KernelRuleError, as_kernel, column_names, kernel_samples
from alignlearn.solvers.multiclass import predicted_labels, problem_signs
from alignlearn.validation import (
    as_array,
    check_choice,
    check_count,
    check_flag,
    check_labels,
    check_number,
    check_seed,
    check_targets,
    is_sparse,
)

from ._expansion import Expansion
from ._steps import LOSSES, NEVER, SCHEDULES, Rule


class _KernelSGD(Estimator):
    """What the classifier and the regressor share: checks, steps, the fitted attributes."""

    _losses = ()
    _epsilon = 0.0

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_expansion")

    def _accepts_sparse(self):
        return _inputs.take_sparse(self.kernel)

    def _restart(self):
        for name in ("_expansion", "classes_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)

    def _samples(self, X):
        """Checked samples, and the kernel with its parameters and columns as numbers."""
        if self.__sklearn_is_fitted__():
            return self._check_test(X), self.kernel_
        kernel = as_kernel(self.kernel).resolve_names(column_names(X))
        if not kernel.is_psd:
            raise KernelRuleError(
                f"kernel={kernel} is indefinite: functions that it spans have no norm to be kept "
                "small; accepted: positive semi-definite kernels."
            )
        samples = kernel_samples("X", X, [kernel])
        return samples, kernel.resolve(samples)

    def _check_test(self, X):
        self._check_is_fitted()
        if not hasattr(self, "n_features_in_"):
            return kernel_samples("X", X, [self.kernel_])
        _inputs.check_test_names(self, X)
        X = kernel_samples("X", X if is_sparse(X) else as_array("X", X), [self.kernel_])
        _inputs.check_test_width(self, X.shape[1])
        return X

    def _rule(self, X, kernel):
        """The parameters as numbers, checked; ``eta0`` from the samples where it is None."""
        alpha = check_number("alpha", self.alpha, low=0.0, strict=True)
        intercept = float(check_flag("fit_intercept", self.fit_intercept))
        loss = check_choice("loss", self.loss, self._losses)
        budget = check_count("budget", self.budget)
        schedule = check_choice("learning_rate", self.learning_rate, ("auto", *SCHEDULES))
        if schedule == "auto":
            schedule = "optimal" if budget is None else "constant"
        epsilon = check_number("epsilon", self._epsilon, low=0.0)
        if self.eta0 is None:
            largest = float(np.max(cpu.gram_diagonals([kernel], X)[0], initial=0.0))
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
        """Steps from checked samples and their kernel; all fitted attributes are set, or none."""
        samples, kernel = opened
        rule = self._rule(samples, kernel)
        if self.__sklearn_is_fitted__():
            expansion = self._expansion
            if self.eta0 is None:
                # Longer samples than before would make the old steps diverge.
                rule = rule._replace(eta0=min(rule.eta0, expansion.rule.eta0))
            expansion.rule = rule
            curve = expansion.train(samples, targets, orders)
        else:
            expansion = Expansion(kernel, rule, targets.shape[1])
            curve = expansion.train(samples, targets, orders)
            self.kernel_, self._expansion, self.loss_curve_ = kernel, expansion, []
            if len(getattr(samples, "shape", ())) == 2:
                self.n_features_in_ = samples.shape[1]
                if names is not None:
                    self.feature_names_in_ = names
        self.loss_curve_ = [*self.loss_curve_, *(float(np.sum(losses)) for losses in curve)]
        self.support_, self.dual_coef_ = expansion.number, expansion.coef
        self.intercept_, self.truncation_error_ = expansion.intercept, expansion.error
        self.eta0_, self.n_steps_ = rule.eta0, expansion.n_steps
        return self

    def _passes(self, m):
        """The orders of the passes of ``fit``."""
        n_passes = check_count("n_passes", self.n_passes, optional=False)
        rng = check_seed("random_state", self.random_state)
        shuffle = check_flag("shuffle", self.shuffle)
        return [rng.permutation(m) if shuffle else np.arange(m) for _ in range(n_passes)]

    def _risk(self, X, targets):
        risk = self._expansion.regularized_risk(X, targets)
        return float(risk[0]) if risk.size == 1 else risk


class KernelSGDClassifier(_KernelSGD):
    """Kernel classifier learned from one sample at a time, by stochastic gradient descent.

    Each step with a sample (x, y), y = -1 or +1, and a step length eta is
    ``f <- (1 - eta alpha) f - eta l'(f(x), y) k(x, .)``, a stochastic gradient of the mean loss
    plus ``alpha / 2 |f|^2``. More than two classes: one against the rest.

    Parameters
    ----------
    kernel : Kernel or str, default "rbf"
        Positive semi-definite, such as the ``kernel_`` of a fitted `MKLClassifier`.
    loss : {"hinge", "logistic", "squared"}, default "hinge"
    alpha : float, default 1e-3
        Of the penalty, > 0; lambda in the reference. As C = 1 / (alpha m) in a support vector
        machine on m samples.
    eta0 : float, optional
        First step length, < 1 / alpha. Default: 1 / (max k(x, x) + alpha), plus 1 in the
        denominator with an intercept, over the samples of all calls so far.
    learning_rate : {"auto", "optimal", "invscaling", "constant"}, default "auto"
        Step t = 0, 1, ... has the length eta0 / (1 + alpha eta0 t), eta0 / sqrt(1 + t) or eta0.
        "auto" is "constant" with a budget, else "optimal".
    budget : int, optional
        Most samples in the expansion. Beyond, the one that changed longest ago is dropped. With
        constant steps it has decayed most by then, by (1 - alpha eta0)^budget or more; where steps
        get shorter all coefficients are of a size, and what is dropped is missed.
    n_passes : int, default 5
        Passes over the samples in ``fit``.
    fit_intercept : bool, default True
        Learn a constant, which is not penalised.
    shuffle : bool, default True
        Take the samples of ``fit`` in random order, a new one in every pass.
    random_state : int or numpy.random.Generator, optional
        None is the seed 0, so results repeat.

    Attributes
    ----------
    classes_ : ndarray of shape (c,)
    kernel_ : Kernel
        With a number for ``gamma="scale"``, that of the samples of the first call.
    support_ : ndarray of int of shape (n_support,)
        Samples of the expansion, counted from 0 over all calls.
    dual_coef_ : ndarray of shape (n_support, n_problems)
        ``f = sum_i dual_coef_i k(x_i, .) + intercept_``; one problem for two classes, else c.
    intercept_ : ndarray of shape (n_problems,)
    truncation_error_ : ndarray of shape (n_problems,)
        Upper bound of the norm of the part of f that was dropped, decayed since:
        ``|f(x) - f_all(x)| <= truncation_error_ sqrt(k(x, x))``, where f_all has the same
        coefficients and all samples. 0 without a budget.
    loss_curve_ : list of float
        For each pass or call the mean loss (summed over problems) of samples about to be learned.
    eta0_ : float
    n_steps_ : int
    n_features_in_, feature_names_in_

    Notes
    -----
    Coefficients are multiplied by ``1 - eta alpha`` through a common scale, so a step costs one row
    of kernel values, made in blocks, and with a budget O(budget). There is no stopping rule:
    ``regularized_risk`` tells where the function is. After t steps of the rule "optimal" it is
    O(log(t) / (alpha t)) above its minimum in expectation.

    References
    ----------
    Kivinen, Smola and Williamson (2004), Online learning with kernels.
    """

    _estimator_type = "classifier"
    _losses = ("hinge", "logistic", "squared")

    def __init__(
        self,
        kernel="rbf",
        *,
        loss="hinge",
        alpha=1e-3,
        eta0=None,
        learning_rate="auto",
        budget=None,
        n_passes=5,
        fit_intercept=True,
        shuffle=True,
        random_state=None,
    ):
        self.kernel = kernel
        self.loss = loss
        self.alpha = alpha
        self.eta0 = eta0
        self.learning_rate = learning_rate
        self.budget = budget
        self.n_passes = n_passes
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X, y):
        """Learn from the samples in ``n_passes`` passes, starting at f = 0.

        Parameters
        ----------
        X : array-like or SciPy sparse matrix of shape (m, d), or list of m objects
            As the kernel takes them.
        y : array-like of shape (m,)
            Labels of one type, at least two different ones.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            Bad input; the message names the argument and what is accepted.
        """
        self._restart()
        names, opened = _inputs.feature_names(X), self._samples(X)
        labels = _inputs.class_labels(self, y, len(opened[0]), stacklevel=4)
        classes = np.unique(labels)
        self._train(opened, names, _signs(labels, classes), self._passes(len(labels)))
        self.classes_ = classes
        return self

    def partial_fit(self, X, y, classes=None):
        """Learn from more samples, each once, in the order in which they are.

        Parameters
        ----------
        X, y
            As in ``fit``; y may have one class.
        classes : array-like of shape (c,), optional
            All labels that will ever come; needed in the first call, and fixed by it.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            Bad input; the message names the argument and what is accepted.
        """
        names, opened = _inputs.feature_names(X), self._samples(X)
        _inputs.require_y(self, y)
        labels = check_labels(y, len(opened[0]))
        known = self._known_classes(classes)
        self._train(opened, names, _signs(labels, known), [np.arange(len(labels))])
        self.classes_ = known
        return self

    def _known_classes(self, classes):
        given = None if classes is None else np.unique(check_labels(classes, name="classes"))
        if not self.__sklearn_is_fitted__():
            if given is None or given.size < 2:
                raise ValueError(
                    "classes must list at least two labels in the first call of partial_fit, got "
                    f"{None if given is None else given.tolist()}."
                )
            return given
        if given is not None and not np.array_equal(given, self.classes_):
            raise ValueError(
                f"classes={given.tolist()} differ from those of the first call, "
                f"{self.classes_.tolist()}."
            )
        return self.classes_

    def decision_function(self, X):
        """Confidence of each class for n samples, (n,) for two classes, else (n, c)."""
        X = self._check_test(X)
        values = self._expansion.decisions(X)
        return values[:, 0] if self.classes_.size == 2 else values

    def predict(self, X):
        """Label of the largest confidence for each of n samples, shape (n,)."""
        return predicted_labels(self.decision_function(X), self.classes_)

    def regularized_risk(self, X, y):
        """Mean loss plus ``alpha / 2 |f|^2``, what the steps minimise on average.

        Parameters
        ----------
        X, y
            Samples and labels.

        Returns
        -------
        float, or ndarray of shape (c,)
            For each problem of more than two classes.
        """
        X = self._check_test(X)
        return self._risk(X, _signs(check_labels(y, len(X)), self.classes_))

    def score(self, X, y, sample_weight=None):
        """Share of samples whose label is predicted, weighted by ``sample_weight`` (n,)."""
        return _inputs.accuracy(self.predict(X), y, sample_weight)


class KernelSGDRegressor(_KernelSGD):
    """Kernel regression learned from one sample at a time, by stochastic gradient descent.

    Each step with a sample (x, y) and a step length eta is
    ``f <- (1 - eta alpha) f - eta l'(f(x), y) k(x, .)``, a stochastic gradient of the mean loss
    plus ``alpha / 2 |f|^2``. Targets of several columns share the samples, not the coefficients.

    Parameters
    ----------
    kernel : Kernel or str, default "rbf"
        As in `KernelSGDClassifier`.
    loss : {"squared", "epsilon-insensitive"}, default "squared"
        ``(f - y)^2 / 2`` or ``max(0, |f - y| - epsilon)``.
    epsilon : float, default 0.1
        Half-width of the tube without loss, >= 0, in units of y.
    alpha : float, default 1e-3
        Of the penalty, > 0. With the squared loss m alpha is the alpha of kernel ridge regression.
    eta0, learning_rate, budget, n_passes, fit_intercept, shuffle, random_state
        As in `KernelSGDClassifier`.

    Attributes
    ----------
    kernel_, support_, dual_coef_, intercept_, truncation_error_, loss_curve_, eta0_, n_steps_, \
n_features_in_, feature_names_in_
        As in `KernelSGDClassifier`, with a problem for each column of y.

    References
    ----------
    Kivinen, Smola and Williamson (2004), Online learning with kernels.
    """

    _estimator_type = "regressor"
    _losses = ("squared", "epsilon-insensitive")

    def __init__(
        self,
        kernel="rbf",
        *,
        loss="squared",
        epsilon=0.1,
        alpha=1e-3,
        eta0=None,
        learning_rate="auto",
        budget=None,
        n_passes=5,
        fit_intercept=True,
        shuffle=True,
        random_state=None,
    ):
        self.kernel = kernel
        self.loss = loss
        self.epsilon = epsilon
        self.alpha = alpha
        self.eta0 = eta0
        self.learning_rate = learning_rate
        self.budget = budget
        self.n_passes = n_passes
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.random_state = random_state

    @property
    def _epsilon(self):
        return self.epsilon

    def fit(self, X, y):
        """Learn from the samples in ``n_passes`` passes, starting at f = 0.

        Parameters
        ----------
        X
            As in `KernelSGDClassifier.fit`.
        y : array-like of shape (m,) or (m, c)
            Real and finite.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            Bad input; the message names the argument and what is accepted.
        """
        self._restart()
        return self._learn(X, y, self._passes)

    def partial_fit(self, X, y):
        """Learn from more samples, each once, in the order in which they are; return self.

        Arguments and errors as in ``fit``.
        """
        return self._learn(X, y, lambda m: [np.arange(m)])

    def _learn(self, X, y, orders):
        names, opened = _inputs.feature_names(X), self._samples(X)
        _inputs.require_y(self, y)
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

    def predict(self, X):
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

    def score(self, X, y, sample_weight=None):
        """Coefficient of determination, as `MKLRegressor.score`."""
        predicted = self.predict(X)
        y = check_targets(y, len(predicted))
        if y.size != predicted.size:
            raise ValueError(
                f"y has shape {y.shape}; accepted: {predicted.shape}, the targets of fit."
            )
        return r2(y.reshape(predicted.shape), predicted, sample_weight)


def _signs(labels, classes):
    """Targets -1 and +1, (m, 1) for two classes, else (m, c)."""
    unknown = np.setdiff1d(labels, classes)
    if unknown.size:
        raise ValueError(f"y has labels that are not among the classes: {unknown.tolist()}.")
    codes = np.searchsorted(classes, labels)
    return problem_signs(codes, classes.size, "ovr").T
