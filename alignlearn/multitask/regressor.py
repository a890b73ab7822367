"""Multi-task regression: a support vector machine on its own kernel for each task."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn.estimators.base import parameters, shared
from alignlearn.estimators.inputs import real_targets
from alignlearn.machines import SupportVectorRegressor
from alignlearn.machines.scores import r2
from alignlearn.validation import check_number, check_targets, check_weights
from alignlearn.weights.one_stage.svm import Duals

from ._base import MultiTaskLearner, stacked

if TYPE_CHECKING:
    from typing_extensions import Self

_LARGEST = 1e100  # target
_TOL = 1e-3  # tolerance of the final machines, in units of the spread of y


@parameters
class MultiTaskMKLRegressor(MultiTaskLearner):
    """Support vector regression for each task, with jointly learned kernels.

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
        Cost of a deviation beyond ``epsilon``, > 0 and finite.
    epsilon : float, default 0.1
        Half-width of the tube without loss, in units of y, the same for all tasks: targets of
        different units should be standardized.
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
    result_ : MultiTaskResult
        With the certificate of the weights.
    n_iter_ : int
        Steps taken, at least 1.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    See `MultiTaskMKLClassifier` for sharing and the certificate. A task with a constant target (or
    one sample) predicts it and gives a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, Linear, MultiTaskMKLRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, task = rng.normal(size=(60, 2)), np.repeat([0, 1], 30)
    >>> y = np.where(task == 0, X[:, 0], np.sin(2 * X[:, 1]))
    >>> model = MultiTaskMKLRegressor([Gaussian(0.5), Linear()]).fit(X, y, task=task)
    >>> bool(model.weights_[0, 1] > model.weights_[1, 1])  # only the first task is a linear one
    True
    """

    _estimator_type = "regressor"

    kernels: Any = field(default=None, kw_only=False)
    method: str = "onmkl"
    C: float = 1.0
    epsilon: float = 0.1
    beta: float = 0.1
    eta: float | None = None
    coupling: str = "none"
    ridge: float = 1.0
    discount: float | None = None
    norm: float = 1.0
    center: bool = True
    normalize: str | None = "trace"
    task_column: int | str | None = None
    tol: float = 1e-5
    max_iter: int | None = None
    verbose: Any = shared("verbose")

    def fit(self, X, y, task=None) -> Self:
        """Learn the kernels and train the regressions of all tasks.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Samples of all tasks; or a list of objects, a sparse matrix or p Gram matrices, as
            ``kernels`` allows.
        y : array-like of shape (m,), or (m, T)
            A matrix holds T tasks on the same samples, a column each; ``task`` is then not passed.
        task : array-like of shape (m,), optional
            The task of each sample.

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
            The target of a task is constant.
        ConvergenceWarning
            The weights or an SVM stopped above the tolerance.
        """
        self._learn(X, y, task)
        return self

    def _loss(self):
        epsilon = check_number("epsilon", self.epsilon, low=0.0)
        return {"loss": "epsilon-insensitive", "epsilon": epsilon}

    def _targets(self, y, task, n_samples):
        y = real_targets(self, y, n_samples)
        if np.abs(y).max() > _LARGEST:
            raise ValueError(
                f"y has absolute values up to {np.abs(y).max():.3g}; accepted: at most "
                f"{_LARGEST:g}, because products of targets are summed. Scale y down."
            )
        self._same_samples = y.ndim == 2
        if not self._same_samples:
            tasks, groups = stacked(task, n_samples)
            values = [y[rows] for rows in groups]
        elif task is None:
            rows = np.arange(n_samples)
            tasks, groups, values = np.arange(y.shape[1]), [rows] * y.shape[1], list(y.T)
        else:
            raise ValueError(
                f"y has shape {y.shape} and task is given; accepted: a column of y for every task, "
                "or y of shape (m,) with task or task_column."
            )
        if all(np.all(own == own[0]) for own in values):
            raise ValueError(
                "y is constant within every task; accepted: a task with two different values."
            )
        return tasks, groups, values

    def _problem(self, values):
        return Duals.tube(values[None], float(self.C), float(self.epsilon)), values[:, None]

    def _machine(self, values):
        largest = float(np.abs(values).max())  # so that no square is 0
        tol = _TOL * largest * float((values / largest).std())
        return SupportVectorRegressor(self.C, self.epsilon, tol=tol)

    def predict(self, X, task=None) -> np.ndarray:
        """Predictions for n samples.

        Parameters
        ----------
        X, task : as in ``fit``, n samples
            Where y had a column for each task, ``task`` may be left out.

        Returns
        -------
        ndarray of shape (n,), or (n, T) for all tasks on the same samples
        """
        X, n, parts = self._by_task(X, task)
        if parts is None:
            every = np.arange(n)
            return np.column_stack([self._values(X, t, every) for t in range(len(self.tasks_))])
        out = np.empty(n)
        for number, rows in parts:
            out[rows] = self._values(X, number, rows)
        return out

    def _values(self, X, number, rows):
        if number in self._constants:
            return np.full(rows.size, self._constants[number])
        return self._raw(X, number, rows)[:, 0]

    def score(self, X, y, task=None, sample_weight=None) -> float:
        """Coefficient of determination, mean over the tasks that have samples.

        Parameters
        ----------
        X, y, task : as in ``fit``, n samples
        sample_weight : array-like of shape (n,), optional
        """
        predicted = self.predict(X, task)
        y = check_targets(y, len(predicted))
        if y.size != predicted.size:
            raise ValueError(f"y has shape {y.shape}; accepted: {predicted.shape}.")
        y = y.reshape(predicted.shape)
        if predicted.ndim == 2:
            return r2(y, predicted, sample_weight)
        weight = check_weights(sample_weight, len(y))
        parts = self._by_task(X, task)[2]
        used = [rows for _, rows in parts if weight[rows].any()]
        return float(np.mean([r2(y[rows], predicted[rows], weight[rows]) for rows in used]))
