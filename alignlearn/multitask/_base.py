"""Base class of the two multi-task estimators: parameters, fit, predictions by task."""

from __future__ import annotations

from typing import Any

import numpy as np

from alignlearn._text import listed
from alignlearn.estimators import inputs
from alignlearn.estimators.base import Estimator
from alignlearn.kernels import are_per_column
from alignlearn.sources import Tables, as_tables, open_source
from alignlearn.statistics import centered_columns
from alignlearn.validation import (
    DegenerateKernelWarning,
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_progress,
    warn,
)

from ._inputs import split_column, task_labels, task_rows, without_name
from ._methods import COUPLINGS, METHODS, PRINTED_ETA, Options, solve
from ._tasks import Problem, each, open_tasks
from .neighborhood import alignment_matrix, check_eta


class _Named:
    """A matrix with column names, as kernels that select columns by name read them."""

    def __init__(self, X, names):
        self.X, self.columns = X, names

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.X, dtype=dtype)


class MultiTaskLearner(Estimator):
    """Base class: kernel weights and a model for each task.

    A subclass defines how targets become problems and models: ``_loss``, ``_targets``,
    ``_problem``, ``_machine``.
    """

    kernels: Any
    method: str
    C: float
    beta: float
    eta: float | None
    coupling: str
    ridge: float
    discount: float | None
    norm: float
    center: bool
    normalize: str | None
    task_column: int | str | None
    tol: float
    max_iter: int | None
    verbose: Any

    _same_samples = False  # whether every task has all samples, and a column of y

    def _loss(self) -> dict:
        """Check the options that define the loss of the problem."""
        raise NotImplementedError

    def _targets(self, y, task, n_samples) -> tuple:
        """The tasks, and for each of them its rows and its targets, checked."""
        raise NotImplementedError

    def _problem(self, values) -> tuple:
        """The dual variables of one task, and the columns of its target."""
        raise NotImplementedError

    def _machine(self, values):
        """The machine of one task, not fitted."""
        raise NotImplementedError

    # Checks

    def _options(self):
        """The checked parameters."""
        method = check_choice("method", self.method, METHODS)
        coupling = check_choice("coupling", self.coupling, COUPLINGS)
        if self.normalize is not None:
            check_choice("normalize", self.normalize, ("trace",))
        if method != "onmkl" and coupling != "none":
            raise ValueError(
                f"coupling={coupling!r} cannot be combined with method={method!r}; "
                "accepted: a coupling with method='onmkl' only."
            )
        beta = check_number("beta", self.beta, low=1e-100, high=1e100)
        eta = self.eta
        if eta is None:
            eta = 4.0 * beta if method == "onmkl" else PRINTED_ETA
        eta = check_number("eta", eta, low=0.0, strict=True)
        if method == "onmkl":
            check_eta(eta, beta)
        discount = self.discount
        if discount is not None:
            discount = check_number("discount", discount, low=1.0)
        return Options(
            method=method,
            C=check_number("C", self.C, low=1e-100, high=1e100),
            beta=beta,
            eta=eta,
            coupling=coupling,
            ridge=check_number("ridge", self.ridge, low=0.0, strict=True),
            discount=discount,
            norm=check_number("norm", self.norm, low=1.0),
            loss=self._loss(),
            tol=check_number("tol", self.tol, low=0.0, strict=True),
            max_iter=check_count("max_iter", self.max_iter),
            verbose=check_progress("verbose", self.verbose),
        )

    def _samples(self, X, task):
        """The samples without their tasks, and the labels of these, or None."""
        if self.task_column is None:
            return X, task
        if task is not None:
            raise ValueError("task and task_column are both given; accepted: only one of them.")
        if isinstance(self.kernels, str) and self.kernels == "precomputed":
            raise ValueError(
                "task_column with kernels='precomputed': X has no columns of features; "
                "pass task instead."
            )
        return split_column(X, self.task_column)

    def _open(self, X, task):
        """The source of all samples, and the labels of their tasks, or None."""
        if are_per_column(self.kernels):
            raise TypeError(
                "kernels=RankOneKernels: the Gram matrix of every kernel is needed here; "
                "accepted: a list of kernels, or 'precomputed'."
            )
        X = as_tables(X, self.kernels)
        if self.task_column is not None and isinstance(X, Tables):
            raise ValueError("task_column with several tables: accepted: task, a label per sample.")
        names = inputs.feature_names(X)
        samples, labels = self._samples(X, task)
        if self.task_column is not None and names is not None:
            samples = _Named(samples, without_name(names, self.task_column))
        return open_source(samples, self.kernels, pairs=True), labels, names

    # Fit

    def _learn(self, X, y, task):
        """Kernels, weights and machines of all tasks."""
        self._forget()
        options = self._options()
        center = check_flag("center", self.center)
        source, labels, names = self._open(X, task)
        inputs.check_sample_count(source.n_samples)
        inputs.doubt_scales(None, source.X, source.kernels, names)
        self.tasks_, groups, values = self._targets(y, labels, source.n_samples)
        if options.discount is not None and options.discount > len(groups):
            raise ValueError(
                f"discount={options.discount:g} with {len(groups)} tasks; accepted: 1 to the "
                "number of tasks."
            )
        problems, self._constants = self._problems(groups, values, center)
        self._warn_constant()
        tasks = open_tasks(
            source,
            problems,
            center=center,
            normalize=self.normalize,
            verbose=options.verbose,
        )
        if not any(task.traces.any() for task in tasks):
            raise ValueError(
                "X: every kernel is constant on the samples of every task, so nothing can be "
                "learned; accepted: samples on which at least one kernel varies."
            )
        result, starts = solve(tasks, options)
        self._parts = [None] * len(groups)
        jobs = zip(tasks, result.weights, result.identity, starts)
        for job, part in zip(tasks, each(lambda job: self._train(*job), jobs)):
            self._parts[job.number] = part
        self._store(X, source, names, tasks, result)

    def _problems(self, groups, values, center):
        """A problem for every task whose target varies; the constants of the others."""
        problems, constants = [], {}
        for number, (rows, own) in enumerate(zip(groups, values)):
            if len(np.unique(own)) < 2:
                constants[number] = own[0]
                continue
            duals, columns = self._problem(own)
            columns = centered_columns(columns) if center else columns
            problems.append(Problem(number, rows, own, columns, duals))
        return problems, constants

    def _warn_constant(self):
        if not self._constants:
            return
        shown = listed([self.tasks_[t].item() for t in self._constants], 5)
        warn(
            f"y does not vary within {len(self._constants)} task(s), {shown}: "
            "its constant value is predicted, and the weights of the task are 0.",
            DegenerateKernelWarning,
        )

    def _train(self, task, weights, kappa, start):
        """The machine of one task on its learned kernel: (kernel, machine, predictor)."""
        learned = task.source.combine(weights * task.scale)
        K = np.zeros((task.n_samples,) * 2)
        if weights.any():
            K = np.array(learned.gram(), dtype=np.float64)
        K.flat[:: len(K) + 1] += kappa
        machine = self._machine(task.labels)
        machine.fit(K, task.labels, alpha0=None if start is None else start.T, check=False)
        support, coef = machine.support_, machine.dual_coef_
        if not weights.any():  # a constant needs no samples
            support, coef = support[:0], coef[:0]
        return learned.kernel, machine, learned.predictor(support, coef, machine.intercept_)

    def _store(self, X, source, names, tasks, result):
        T, p = len(self._parts), result.weights.shape[1]
        learned = [task.number for task in tasks]
        self.result_ = result
        self.n_iter_ = max(result.n_iter, 1)
        self.scale_ = tasks[0].scale
        self.weights_ = np.zeros((T, p))
        self.weights_[learned] = result.weights
        self.neighborhood_kernels_ = np.zeros((T, p))
        self.neighborhood_kernels_[learned] = result.neighbors
        self.shared_weights_ = result.shared
        inner = np.array([task.inner for task in tasks])
        self.alignment_matrix_ = np.eye(T)
        self.alignment_matrix_[np.ix_(learned, learned)] = alignment_matrix(
            result.weights, result.neighbors, inner
        )
        self.kernels_ = source.fitted_kernels
        self.task_kernels_ = [
            part[0] if part is not None and weights.any() else None
            for part, weights in zip(self._parts, self.weights_)
        ]
        n, extra = source.n_features, self.task_column is not None
        self._store_columns(X, None if n is None else n + extra)
        self._predictor = source.combine(np.ones(p)).predictor(np.arange(0), np.zeros((0, 1)))

    def _kernel_weights(self):
        return self.weights_.mean(axis=0), f", means over {len(self.weights_)} tasks"

    # Predictions

    def _by_task(self, X, task):
        """Checked samples, their number, and (number of the task, rows) for their tasks.

        The latter is None if every sample belongs to every task.
        """
        labels = None

        def check(X):
            nonlocal labels
            X, labels = self._samples(X, task)
            return self._predictor.check(X)

        X = self._check_columns(X, check, extra=self.task_column is not None)
        n = self._predictor.count(X)
        if labels is None:
            if self._same_samples:
                return X, n, None
            if len(self.tasks_) > 1:
                raise ValueError(
                    f"task is needed, because fit learned {len(self.tasks_)} tasks; "
                    "accepted: the task label of each sample."
                )
            return X, n, [(0, np.arange(n))]
        return X, n, task_rows(labels, self.tasks_, n)

    def _raw(self, X, number, rows):
        """Decisions (n, n_problems) of the machine of one task on some of the samples."""
        _, _, predictor = self._parts[number]
        return predictor.decisions(predictor.take(X, rows))


def stacked(task, n_samples):
    """Tasks and their rows; without labels all samples belong to one task, 0."""
    if task is None:
        return np.zeros(1, dtype=int), [np.arange(n_samples)]
    return task_labels(task, n_samples)
