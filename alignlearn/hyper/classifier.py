"""Classification with a kernel learned in the space of a hyper-kernel."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn.estimators import inputs
from alignlearn.estimators.base import Classifier, Estimator, parameters, shared, svm_options
from alignlearn.statistics import alignment
from alignlearn.validation import check_choice, check_samples
from alignlearn.validation.memory import check_gram_memory

from ._pairs import ideal_kernel
from ._stages import MACHINES, GramMachine, make_hyper_kernel, make_regressor

if TYPE_CHECKING:
    from typing_extensions import Self

_VALUES = 2**22  # values of the learned kernel at a time in predictions: 32 MB
# The learned matrix, the machine's training input, and eigenvectors or the target.
_MATRICES = 3


class HyperKernelLearner(Classifier, Estimator):
    """Base of the classifier and of its search: shared parameters, samples, predictions."""

    _fitted_marker = "_support_samples"

    hyper_kernel: Any
    regression: Any
    epsilon: float
    solver: str
    machine: str
    multiclass: str
    class_weight: Any
    tol: float
    max_iter: int | None
    random_state: Any

    kernel_: Any
    machine_: Any
    classes_: np.ndarray
    support_: np.ndarray
    dual_coef_: np.ndarray
    intercept_: np.ndarray
    _support_samples: np.ndarray

    def _open(self, X, y):
        """The samples, float64, and the labels, checked."""
        # A failed fit leaves an unfitted estimator and not a mixture of two fits.
        self._forget()
        given, X = X, _checked(X)
        inputs.check_sample_count(len(X))
        labels = inputs.class_labels(self, y, len(X))
        check_choice("machine", self.machine, MACHINES)
        check_gram_memory(len(X), _MATRICES)
        self._store_columns(given, X.shape[1])
        return X, labels

    def decision_function(self, X) -> np.ndarray:
        """Confidence of each class.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,) or (n, c)
            For two classes positive for ``classes_[1]``; otherwise one column per class, with
            "ovo" its votes plus the summed decisions squeezed into (-1/3, 1/3).
        """
        X = self._check_columns(X, _checked)
        decisions = np.tile(self.intercept_, (len(X), 1))
        step = max(1, _VALUES // max(1, self.support_.size))
        if self.support_.size:
            for i in range(0, len(X), step):
                values = self.kernel_(X[i : i + step], self._support_samples)
                decisions[i : i + step] += values @ self.dual_coef_
        return self.machine_.confidences(decisions)


@parameters
class HyperKernelClassifier(HyperKernelLearner):
    """Support vector classifier whose kernel is fitted to the similarity of the labels.

    Stage 1 fits a kernel function in the space of a hyper-kernel to the ideal kernel of the labels,
    1 for pairs of one class and -1 / (c - 1) for others. Stage 2 trains a support vector machine on
    its Gram matrix, which may be indefinite.

    Parameters
    ----------
    hyper_kernel : {"gaussian", "wishart", "ladder"} or HyperKernel, default "gaussian"
        A name means the scale of the data ("scale"); "ladder" is ``hyper_kernels()``.
    regression : {"krr", "svr", "nnls"}, HyperKRR, HyperSVR or HyperNNLS, default "krr"
        Regression of stage 1: ridge, support vectors with a bias, or ridge with coefficients >= 0,
        which gives positive semidefinite kernels (except for ``unit_diagonal``). An object is
        copied and used with its own parameters and with this ``hyper_kernel``.
    alpha : float, default 10.0
        "krr", "nnls": ridge parameter of stage 1.
    kernel_C : float, default 0.1
        "svr": cost of stage 1.
    epsilon : float, default 0.1
        "svr": half the width of the tube around the ideal kernel.
    multiple : float, default 1.0
        Multiplies the reach of the hyper-kernel: sigma_h2 of the Gaussian hyper-kernel is this
        multiple of sigma2; C of the Wishart hyper-kernel and every reach of a ladder are multiplied
        by it.
    solver : str, default "auto"
        Solver of stage 1: "dense", "cg", "pivoted" or "nystrom", see `HyperKRR`.
    C : float, default 10.0
        Cost of margin violations of stage 2, > 0.
    machine : {"krein", "svm", "clip", "flip", "shift"}, default "krein"
        Model of stage 2. "krein": `KreinSVC`, which is a support vector machine if the learned
        matrix is positive semidefinite. "svm": a support vector machine in any case, which stops at
        a stationary point of a possibly nonconvex problem. Others: a support vector machine on a
        matrix made positive semidefinite (`SpectrumFix`), also for new samples.
    multiclass : {"ovo", "ovr"}, default "ovo"
    class_weight : None, "balanced" or dict, default None
        Class weights of stage 2; stage 1 weights all pairs equally.
    tol : float, default 1e-3
        Maximum KKT violation of stage 2, and of "svr" in stage 1.
    max_iter : int, optional
        Maximum number of steps for each pair of classes in stage 2, and of "svr".
    random_state : int or numpy.random.Generator, optional
        Seed of stage 1, if it draws pairs.

    Attributes
    ----------
    kernel_ : Kernel
        The learned kernel: ``kernel_(X, Y)`` is a Gram matrix, also for new samples.
    eigenvalue_range_ : tuple of float
        Smallest and largest eigenvalue of the learned Gram matrix.
    alignment_ : float
        Centered alignment of the learned Gram matrix with the labels.
    regression_report_ : dict
        Report of stage 1: the solver, the number of pairs, certificates of the optimum.
    classes_ : ndarray of shape (c,)
    support_ : ndarray of shape (n_support,)
        Training samples whose kernel values predictions need: nearly all of them if the learned
        matrix is indefinite, except for ``machine="svm"`` and "shift".
    dual_coef_ : ndarray of shape (n_support, n_problems)
        Coefficients in ``kernel_``: decisions are ``kernel_(X, X_train[support_]) @ dual_coef_ +
        intercept_``.
    intercept_ : ndarray of shape (n_problems,)
    n_iter_ : ndarray of shape (n_problems,)
    machine_ : KreinSVC or SupportVectorClassifier
        As trained on the fixed matrix for "clip", "flip" and "shift".
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X was a data frame with string column names.

    Notes
    -----
    Stage 1 has one equation for each of the m (m + 1) / 2 pairs of samples; see `HyperKRR` for the
    cost of its solvers. Stage 2 holds up to three (m, m) matrices.

    Scale the columns of X: the hyper-kernels depend on distances. Accuracy with the defaults on
    columns scaled to [0, 1], trained on one half and tested on the other, mean of ten splits (in
    brackets Table 3 of Liu et al., which tune every parameter): sonar 77.9 (77.7) by "krr", 83.9
    (82.5) by "svr", 71.2 by "nnls"; heart 80.0 (80.9), 77.4 (88.1) and 80.7. The defaults were
    chosen on these two sets.

    References
    ----------
    Liu, Shi, Huang, Yang and Suykens (2020), sections 2.4 and 5.2; Loosli, Canu and Ong (2016),
    Learning SVM in Krein spaces, for stage 2.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import HyperKernelClassifier
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> y = np.where(np.linalg.norm(X, axis=1) < 1.1, "inner", "outer")
    >>> model = HyperKernelClassifier().fit(X, y)
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]]).tolist()
    ['inner', 'outer']
    """

    hyper_kernel: Any = field(default="gaussian", kw_only=False)
    regression: Any = "krr"
    alpha: float = 10.0
    kernel_C: float = 0.1
    epsilon: float = 0.1
    multiple: float = 1.0
    solver: str = "auto"
    C: float = 10.0
    machine: str = "krein"
    multiclass: str = "ovo"
    class_weight: Any = None
    tol: float = 1e-3
    max_iter: int | None = None
    random_state: Any = shared("random_state")

    def fit(self, X, y) -> Self:
        """Learn the kernel and train the classifier.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Finite; m >= 2.
        y : array-like of shape (m,)
            Labels of one type, at least two different ones.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            Bad input; the message names the argument and what is accepted.
        MemoryError
            Pairs or Gram matrices do not fit into the free memory.

        Warns
        -----
        ConvergenceWarning
            A solver stopped above ``tol``.
        DegenerateKernelWarning
            The learned kernel is constant on the training samples.
        """
        X, labels = self._open(X, y)
        regressor = self._regressor()._fit(X, labels)
        self.kernel_ = regressor.kernel_
        self.regression_report_ = _report(regressor)
        K = self.kernel_(X)
        self.alignment_ = alignment(K, ideal_kernel(labels))
        prepared = GramMachine(self.machine, K)
        self.eigenvalue_range_ = prepared.eigenvalue_range
        machine = self._make_machine(prepared, self.C).fit(prepared.given, labels, check=False)
        coef = prepared.in_learned_kernel(machine.full_dual_coef())
        self.machine_ = machine
        self.classes_ = machine.classes_
        self.support_ = np.flatnonzero(coef.any(axis=1))
        self.dual_coef_ = coef[self.support_]
        self.intercept_ = machine.intercept_
        self.n_iter_ = machine.n_iter_
        self._support_samples = X[self.support_]
        return self

    def _regressor(self):
        """The regression of stage 1, not fitted."""
        hyper_kernel = make_hyper_kernel(self.hyper_kernel, self.multiple)
        return make_regressor(self.regression, hyper_kernel, lambda name: getattr(self, name))

    def _make_machine(self, prepared, C):
        return prepared.make(C, **svm_options(self))


def _report(regressor):
    """The fitted numbers and strings of a regression, by name without the underscore."""
    fitted = {n[:-1]: v for n, v in vars(regressor).items() if n.endswith("_")}
    for name in ("kernel", "n_features_in"):
        fitted.pop(name, None)
    return fitted


def _checked(X):
    return np.asarray(check_samples("X", X), dtype=np.float64)
