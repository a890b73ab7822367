"""Classification by stochastic gradient descent on the regularized risk, over functions."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn._text import listed
from alignlearn.estimators import inputs
from alignlearn.estimators.base import Classifier, parameters, shared
from alignlearn.solvers.multiclass import problem_signs
from alignlearn.validation import check_labels

from ._base import KernelSGD

if TYPE_CHECKING:
    from typing_extensions import Self


@parameters
class KernelSGDClassifier(Classifier, KernelSGD):
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
        Penalty parameter, > 0; lambda in the reference. It corresponds to C = 1 / (alpha m) in a
        support vector machine on m samples.
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
    classes_ : ndarray of shape (c,)
    kernel_ : Kernel
        With a number for ``gamma="scale"``, computed from the samples of the first call.
    support_ : ndarray of int of shape (n_support,)
        Samples of the expansion, counted from 0 over all calls.
    dual_coef_ : ndarray of shape (n_support, n_problems)
        ``f = sum_i dual_coef_i k(x_i, .) + intercept_``; one problem for two classes, else c.
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

    Notes
    -----
    Coefficients are multiplied by ``1 - eta alpha`` through a common scale, so a step costs one row
    of kernel values, made in blocks, and with a budget O(budget). There is no stopping rule;
    ``regularized_risk`` evaluates the objective. After t steps of the rule "optimal" it is O(log(t)
    / (alpha t)) above its minimum in expectation.

    References
    ----------
    Kivinen, Smola and Williamson (2004), Online learning with kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, KernelSGDClassifier
    >>> rng = np.random.default_rng(0)
    >>> model = KernelSGDClassifier(Gaussian(0.5), alpha=0.01)
    >>> for _ in range(10):  # a stream: every batch is seen once
    ...     X = rng.normal(size=(20, 2))
    ...     _ = model.partial_fit(X, np.linalg.norm(X, axis=1) < 1.1, classes=[False, True])
    ...
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]]).tolist(), model.n_steps_
    ([True, False], 200)
    """

    _losses = ("hinge", "logistic", "squared")

    kernel: Any = field(default="rbf", kw_only=False)
    loss: str = "hinge"
    alpha: float = 1e-3
    eta0: float | None = None
    learning_rate: str = "auto"
    budget: int | None = None
    n_passes: int = 5
    fit_intercept: bool = True
    shuffle: bool = True
    random_state: Any = shared("random_state")

    def fit(self, X, y) -> Self:
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

        Warns
        -----
        ConvergenceWarning
            The squared loss has grown far above that of f = 0: ``eta0`` is too large.
        """
        self._restart()
        names, opened = inputs.feature_names(X), self._samples(X)
        labels = inputs.class_labels(self, y, len(opened[0]))
        classes = np.unique(labels)
        self._train(opened, names, _signs(labels, classes), self._passes(len(labels)))
        self.classes_ = classes
        return self

    def partial_fit(self, X, y, classes=None) -> Self:
        """Learn from more samples, each once, in the given order.

        Parameters
        ----------
        X : array-like or SciPy sparse matrix of shape (m, d), or list of m objects
            Samples of the type that the kernel takes.
        y : array-like of shape (m,)
            Labels; here all may be of one class.
        classes : array-like of shape (c,), optional
            All labels of the stream; required in the first call, which fixes them.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            Bad input; the message names the argument and what is accepted.
        """
        names, opened = inputs.feature_names(X), self._samples(X)
        inputs.require_y(self, y)
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
                f"classes=[{listed(given.tolist())}] differ from those of the first call, "
                f"[{listed(self.classes_.tolist())}]."
            )
        return self.classes_

    def decision_function(self, X) -> np.ndarray:
        """Confidence of each class for n samples, (n,) for two classes, else (n, c)."""
        X = self._check_test(X)
        values = self._expansion.decisions(X)
        return values[:, 0] if self.classes_.size == 2 else values

    def regularized_risk(self, X, y):
        """Mean loss plus ``alpha / 2 |f|^2``, which the steps minimize on average.

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


def _signs(labels, classes):
    """Targets -1 and +1, (m, 1) for two classes, else (m, c)."""
    unknown = np.setdiff1d(labels, classes)
    if unknown.size:
        raise ValueError(
            f"y has labels that are not among the classes: {listed(unknown.tolist())}."
        )
    codes = np.searchsorted(classes, labels)
    return problem_signs(codes, classes.size, "ovr").T
