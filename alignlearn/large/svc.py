"""Support vector classification on the Nystrom features of a kernel."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn.estimators import inputs
from alignlearn.estimators.base import Classifier, parameters, shared, svm_options
from alignlearn.machines.nystrom_machines import NystromHinge
from alignlearn.validation import check_memory, check_progress, check_weights

from ._base import NystromLearner

if TYPE_CHECKING:
    from typing_extensions import Self


@parameters
class NystromSVC(Classifier, NystromLearner):
    """Support vector classifier in the span of few centers, for millions of samples.

    Minimizes ``|f|^2 / 2 + sum_i C_i max(0, 1 - y_i (f(x_i) + b))`` over b and the functions f in
    the span of the kernel at the centers, to a duality gap.

    Parameters
    ----------
    kernel : Kernel or str, default "rbf"
        Positive semi-definite; also the ``kernel_`` that another estimator has learned.
    C : float, default 1.0
        Cost of margin violations, > 0 and finite.
    n_centers : int, optional
        Default: 1000, or all samples if there are fewer.
    centers : {"uniform", "leverage", "k-means++"}, default "uniform"
        Sampling of the centers: uniform; proportional to approximate ridge leverage scores for
        ``alpha = 1 / C``, which need another pass over the samples; or proportional to the squared
        distance from the previous centers, among 20 samples for each center (numeric samples only).
    multiclass : {"ovo", "ovr"}, default "ovo"
    class_weight : None, "balanced" or dict, default None
        Weight of each class; "balanced" makes the total weights of all classes equal.
    memory : int, str or None, default None
        A number of bytes, or a string such as "2GB". Default: half of the free memory. If the
        features of all samples fit, ``4 m n_centers`` bytes, they are computed once. Otherwise
        blocks of features are recomputed every four passes or more, until the active samples fit.
    tol : float, default 1e-2
        Maximum duality gap, relative to the objective. The objective is usually above its minimum
        by half of the gap or less.
    max_iter : int, optional
        Maximum number of passes over the active samples. Default: 1000.
    random_state : int or numpy.random.Generator, optional
        Seed of the centers and of the order of the samples. None means the seed 0, so results are
        reproducible.

    Attributes
    ----------
    classes_ : ndarray of shape (c,)
    centers_ : samples as in ``fit``, r of them
        The numerically independent centers.
    center_indices_ : ndarray of shape (r,)
        Their numbers in ``fit``.
    kernel_ : Kernel
        The kernel, with a number in place of ``gamma="scale"``.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X was a data frame with string column names.
    coef_ : ndarray of shape (r, n_problems)
        Decisions are ``kernel_(X, centers_) @ coef_ + intercept_``.
    intercept_ : ndarray of shape (n_problems,)
    objective_, duality_gap_ : ndarray of shape (n_problems,)
        Certificate: the minimum lies between ``objective_ - duality_gap_`` and ``objective_``.
    n_iter_ : int
        Passes over the samples.

    Notes
    -----
    The dual problem is solved by coordinate descent, or by an interior point method if that is
    cheap. An interior point method also solves problems with few samples per center on which
    coordinate descent did not converge. The time is O(m r^2) once and O(m r) for each pass, and the
    memory ``4 m r`` bytes. Features are in single precision, which changes the objective by a
    relative 1e-6, unless ``tol`` is less than 1e-4. The number of passes grows with C.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi and Sundararajan (2008), A dual coordinate descent method for
    large-scale linear SVM.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, NystromSVC
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.where(np.linalg.norm(X, axis=1) < 1.1, "inner", "outer")
    >>> model = NystromSVC(Gaussian(0.5), C=10.0, n_centers=20).fit(X, y)
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]]).tolist()
    ['inner', 'outer']
    >>> bool((model.duality_gap_ <= 0.01 * model.objective_).all())  # the certificate
    True
    """

    kernel: Any = field(default="rbf", kw_only=False)
    C: float = field(default=1.0, kw_only=False)
    n_centers: int | None = None
    centers: str = "uniform"
    multiclass: str = "ovo"
    class_weight: Any = None
    memory: int | str | None = None
    tol: float = 1e-2
    max_iter: int | None = None
    verbose: Any = shared("verbose")
    device: str = shared("device")
    client: Any = shared("client")
    random_state: Any = shared("random_state")

    def fit(self, X, y, sample_weight=None) -> Self:
        """Select the centers and train the classifier.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Or a list of objects or a SciPy sparse matrix, as the kernel allows.
        y : array-like of shape (m,)
            Labels of one type, with at least two classes.
        sample_weight : array-like of shape (m,), optional
            Nonnegative, positive for some sample of every class; 0 as in `NystromRidge.fit`.

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
            The duality gap stayed above ``tol``.
        """
        machine = NystromHinge(self.C, **svm_options(self))
        machine.check()
        memory = check_memory("memory", self.memory)
        opened = self._open(X, sample_weight)
        weight = check_weights(sample_weight, opened.n_samples)
        labels = inputs.class_labels(self, y, opened.n_samples, weight=weight)
        features = self._features(opened, 1.0 / machine.C)
        options = {"rng": self._rng, "verbose": check_progress("verbose", self.verbose)}
        machine.fit(features, labels, weight, memory=memory, **options)
        self._machine, self.classes_ = machine, machine.classes_
        self.coef_, self.intercept_ = machine.dual_coef_, machine.intercept_
        self.objective_, self.duality_gap_ = machine.objective_, machine.duality_gap_
        self.n_iter_ = machine.n_iter_
        self._keep(features, self.coef_)
        return self

    def decision_function(self, X) -> np.ndarray:
        """Confidence of each class for n samples, (n,) or (n, c), as `MKLClassifier` gives it."""
        values = self._decisions(X)
        return self._machine.confidences(values + self.intercept_)
