"""Multi-task classification: a support vector machine on its own kernel for each task."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn.estimators.base import parameters, shared
from alignlearn.estimators.inputs import class_labels
from alignlearn.machines import SupportVectorClassifier
from alignlearn.solvers.multiclass import predicted_labels, two_class_problems
from alignlearn.statistics.targets import plain_columns
from alignlearn.validation import check_choice, check_labels, check_weights
from alignlearn.weights.one_stage.svm import Duals

from ._base import MultiTaskLearner, stacked

if TYPE_CHECKING:
    from typing_extensions import Self

_TOL = 1e-3  # tolerance of the final machines, in units of the margin; they start at their solution


@parameters
class MultiTaskMKLClassifier(MultiTaskLearner):
    """A support vector classifier for each task, with jointly learned kernels.

    Parameters
    ----------
    kernels : sequence of Kernel and str, dict, or "precomputed", optional
        Default: nine Gaussians around ``gamma="scale"``, of all samples. With "precomputed", X is a
        sequence of p Gram matrices (m, m) in ``fit`` and (n, m) later, m samples of all tasks. A
        dict has kernels or columns for each name, and X may be a dict of tables with these names.
    method : str, default "onmkl"
        The method that learns the kernel ``sum_k theta_tk K_k`` of each task t. S_t is the
        objective of the task's SVM as a function of its kernel.

        - "onmkl": neighborhood kernels, ``sum_t S_t(theta_t) + beta sum_tk theta_tk tr K_tk``;
        - "independent": each task separately, ``min S_t`` with ``sum_k theta_tk^norm <= 1`` for
          kernels of unit mean diagonal;
        - "mkl": the same weights in every task, ``min sum_t S_t`` with ``sum_k theta_k^norm <= 1``;
        - "uniform": all weights 1 / p;
        - "kta": ``sum_t S_t(theta_t) + eta/2 sum_t ||K_t - Y_t Y_t'||_F^2``;
        - "rpkl", "onjkl": the SVM is trained on ``Khat = K + bb' / (2 eta)``, with its signed dual
          coefficients b, and predicts with K. K is the mean of the kernels for "rpkl", and has
          learned weights with the penalty of "onmkl" for "onjkl".
    C : float, default 1.0
        Cost of margin violations, > 0 and finite.
    beta : float, default 0.1
        Penalty on the trace, > 0 ("onmkl", "onjkl"). Without ridge, the solution of "onmkl" depends
        only on ``beta / C^2`` up to scaling: S at C is C times S at 1 and C times the weights.
    eta : float, optional
        Weight of ``||K - Khat||_F^2 / 2``. "onmkl": at least ``2 beta``, default ``4 beta``; it
        changes ``neighborhood_kernels_`` and not the predictions. Others: default 1/2.
    coupling : {"none", "ridge", "group"}, default "none"
        The coupling of the tasks of "onmkl"; see the notes.
    ridge : float, default 1.0
        Penalty of coupling "ridge", > 0.
    discount : float, optional
        For coupling "group": from 1 to the number T of tasks. Default: ``sqrt(T)``.
    norm : float, default 1.0
        For "mkl" and "independent", >= 1.
    center : bool, default True
        Center every kernel at the mean of its task for learning the weights. The SVMs do not depend
        on centering; traces and alignments do. False is the paper's model.
    normalize : {"trace"} or None, default "trace"
        Scale every kernel to a mean diagonal of 1 over all tasks.
    task_column : int or str, optional
        The column of X that holds the task, instead of the argument ``task``. For pipelines and
        searches.
    multiclass : {"ovo", "ovr"}, default "ovo"
        Reduction of tasks with more than two classes.
    tol : float, default 1e-5
        Largest duality gap relative to the objective.
    max_iter : int, optional
        Maximum number of steps of a task. Default: 500.

    Attributes
    ----------
    tasks_ : ndarray of shape (T,)
        Labels of the tasks, sorted.
    weights_ : ndarray of shape (T, p)
        theta, of the scaled kernels; 0 for a task that has one class only.
    shared_weights_ : ndarray of shape (p,)
        The part mu of the weights that all tasks share.
    neighborhood_kernels_ : ndarray of shape (T, p)
        Coefficients of the neighborhood kernels, some of which may be negative. "onmkl": ``Khat_t =
        K_t - (beta / eta) P_t(I)``. For "kta", "rpkl" and "onjkl", the part that depends on labels
        is omitted, since it does not extend to new samples; what remains are the kernels of the
        tasks.
    alignment_matrix_ : ndarray of shape (T, T)
        Entry (t, s): alignment of the kernel of task t with the neighborhood kernel of task s, on
        the samples of task t (centered if ``center``).
    scale_ : ndarray of shape (p,)
        Factors of the kernels.
    task_kernels_ : list of T Kernel
        The learned kernels, as functions; None for a task without one.
    kernels_ : list of Kernel
        The kernels, with numbers in place of ``gamma="scale"``.
    classes_ : ndarray of shape (c,)
        Classes of all tasks together.
    result_ : MultiTaskResult
        With the certificate of the weights.
    n_iter_ : int
        Steps taken, at least 1.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    Sharing. Without coupling, each task is a problem of its own: the model printed in the paper,
    ``theta_t = mu + lambda_t`` with ``mu, lambda_t >= 0`` and the penalty ``sum_t d_t'(mu +
    lambda_t)``, depends only on the sums. Its minimum is therefore the sum of the minima of T
    single-task problems, and mu is redundant. The neighborhood kernel does not change the weights
    either: after its elimination, ``beta tr K_t`` remains, the penalty of L1-norm multiple kernel
    learning. Two couplings make tasks share weights:

    - "ridge" adds ``ridge (|mu|^2 + sum_t |lambda_t|^2)``; then ``mu_k = min(sum_t theta_tk / (T +
      1), min_t theta_tk)``;
    - "group" makes a shared weight cheaper: ``beta (discount dbar'mu + sum_t d_t'lambda_t)``, dbar
      the mean of the d_t. With discount T it is the printed model, and near 1 all weights are
      shared.

    Certificate. Dual coefficients that are feasible for the dual problem give a lower bound of the
    minimum; ``result_.duality_gap`` is the distance to it. The coefficients of a solver need not
    satisfy ``b'K_k b / 2 <= beta tr K_k`` if they are not unique; some optimal coefficients do.

    A task with one class (or one sample) always predicts that class, gives a warning, and does not
    affect the weights.

    Memory at ``fit`` is p matrices of the samples of each task.

    References
    ----------
    Yousefi, Li, Mollaghasemi, Anagnostopoulos and Georgiopoulos, Multi-task learning using
    neighborhood kernels. Liu et al. (2009), Learning the optimal neighborhood kernel for
    classification ("rpkl"); Liu et al. (2013), An adaptive approach to learning optimal
    neighborhood kernels ("onjkl").

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, Linear, MultiTaskMKLClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, task = rng.normal(size=(60, 2)), np.repeat(["day", "night"], 30)
    >>> y = np.where(task == "day", X[:, 0], np.linalg.norm(X, axis=1) - 1.1) > 0
    >>> model = MultiTaskMKLClassifier([Gaussian(0.5), Linear()]).fit(X, y, task=task)
    >>> model.tasks_.tolist(), model.weights_.shape, bool(model.result_.duality_gap < 1e-4)
    (['day', 'night'], (2, 2), True)
    >>> model.predict([[2.0, 0.0], [0.0, 0.0]], task=["day", "night"]).tolist()
    [True, False]
    """

    _estimator_type = "classifier"

    kernels: Any = field(default=None, kw_only=False)
    method: str = "onmkl"
    C: float = 1.0
    beta: float = 0.1
    eta: float | None = None
    coupling: str = "none"
    ridge: float = 1.0
    discount: float | None = None
    norm: float = 1.0
    center: bool = True
    normalize: str | None = "trace"
    task_column: int | str | None = None
    multiclass: str = "ovo"
    tol: float = 1e-5
    max_iter: int | None = None
    verbose: Any = shared("verbose")

    def fit(self, X, y, task=None) -> Self:
        """Learn the kernels and train the classifiers of all tasks.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Samples of all tasks; or a list of objects, a sparse matrix or p Gram matrices, as
            ``kernels`` allows.
        y : array-like of shape (m,)
            Class labels of one type; tasks may have different classes.
        task : array-like of shape (m,), optional
            The task of each sample, numbers or strings. Without it (and without ``task_column``)
            all samples are of one task.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError, MemoryError
            Bad input; the message names the argument and what is accepted.

        Warns
        -----
        DegenerateKernelWarning
            A task has one class.
        ConvergenceWarning
            The weights or an SVM stopped above the tolerance.
        """
        self._learn(X, y, task)
        return self

    def _loss(self):
        multiclass = check_choice("multiclass", self.multiclass, ("ovo", "ovr"))
        return {"loss": "hinge", "multiclass": multiclass}

    def _targets(self, y, task, n_samples):
        labels = class_labels(self, y, n_samples)
        self.classes_ = np.unique(labels)
        tasks, groups = stacked(task, n_samples)
        values = [labels[rows] for rows in groups]
        if all(len(np.unique(own)) < 2 for own in values):
            raise ValueError(
                "y has one class within every task; accepted: a task of at least two classes."
            )
        return tasks, groups, values

    def _problem(self, labels):
        signs = two_class_problems(labels, self.multiclass).signs
        return Duals.hinge(signs, float(self.C)), plain_columns(labels, task="classification")

    def _machine(self, labels):
        return SupportVectorClassifier(self.C, multiclass=self.multiclass, tol=_TOL)

    def decision_function(self, X, task=None) -> np.ndarray:
        """Confidence of each class.

        Parameters
        ----------
        X, task : as in ``fit``, n samples

        Returns
        -------
        ndarray of shape (n,) or (n, c)
            For two classes positive for ``classes_[1]``, and -1 or 1 in a task of one class.
            Otherwise a column for each class, -inf where a task does not have it.
        """
        X, n, parts = self._by_task(X, task)
        scores = np.full((n, len(self.classes_)), -np.inf)
        for number, rows in parts:
            own, found = self._confidences(X, number, rows)
            columns = np.searchsorted(self.classes_, own)
            scores[np.ix_(rows, columns)] = found
        if len(self.classes_) > 2:
            return scores
        # One column: both are finite, except for a task of one class.
        with np.errstate(invalid="ignore"):
            difference = 0.5 * (scores[:, 1] - scores[:, 0])
        return np.where(np.isfinite(difference), difference, np.sign(difference))

    def _confidences(self, X, number, rows):
        """Classes of a task, and the confidence of each for some samples."""
        if number in self._constants:
            return np.array([self._constants[number]]), np.zeros((rows.size, 1))
        machine = self._parts[number][1]
        found = machine.confidences(self._raw(X, number, rows))
        if found.ndim == 1:
            found = np.column_stack([-found, found])
        return machine.classes_, found

    def predict(self, X, task=None) -> np.ndarray:
        """Label of the largest confidence for each of n samples, shape (n,)."""
        return predicted_labels(self.decision_function(X, task), self.classes_)

    def score(self, X, y, task=None, sample_weight=None) -> float:
        """Accuracy, weighted by ``sample_weight`` (n,)."""
        predicted = self.predict(X, task)
        right = predicted == check_labels(y, len(predicted))
        weight = check_weights(sample_weight, len(right))
        return float(weight @ right / weight.sum())
