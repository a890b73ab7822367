"""Bad input of the multi-task estimators: each error names the given and the accepted values."""

import numpy as np
import pytest
from cases import each
from refusals import raises

import alignlearn as al

X = np.random.default_rng(0).normal(size=(24, 3))
Y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1, -1)
TASK = np.repeat([0, 1, 2], 8)


@each(
    ("parameters", "error", "message"),
    [
        ({"method": "kta", "coupling": "ridge"}, ValueError, "method='onmkl'"),
        ({"beta": 1.0, "eta": 1.9}, ValueError, "eta >= 2 beta"),
        ({"discount": 4.0}, ValueError, "discount=4 with 3 tasks"),
        ({"verbose": 1}, TypeError, "verbose must be True or False"),
        ({"kernels": al.RankOneKernels()}, TypeError, "RankOneKernels"),
        ({"task_column": 0}, ValueError, "task and task_column are both given"),
    ],
)
@each("kind", ["MultiTaskMKLClassifier", "MultiTaskMKLRegressor"])
def test_parameters(kind, parameters, error, message):
    y = Y if kind.endswith("Classifier") else X[:, 0]
    raises(error, message, getattr(al, kind)(**parameters).fit, X, y, TASK)


@each(
    ("task", "error", "message"),
    [
        ([0, "a"] * 12, TypeError, "task holds labels of mixed type"),
        (np.arange(24), ValueError, "one class within every task"),
    ],
)
def test_task_labels(task, error, message):
    raises(error, message, al.MultiTaskMKLClassifier().fit, X, Y, task)


@each(
    ("column", "error", "message"),
    [
        (3, ValueError, "task_column=3 is out of range"),
        ("field", ValueError, "no column names"),
        (True, TypeError, "task_column must be None"),
    ],
)
def test_task_columns(column, error, message):
    raises(error, message, al.MultiTaskMKLClassifier(task_column=column).fit, X, Y)


def test_a_column_that_leaves_nothing_and_matrices_without_columns():
    by_column, given = al.MultiTaskMKLClassifier(task_column=0), TASK[:, None].astype(float)
    raises(ValueError, "at least one feature", by_column.fit, given, Y)
    by_column.set_params(kernels="precomputed")
    raises(ValueError, "precomputed", by_column.fit, [np.eye(24)], Y)


def test_targets():
    classify, regress = al.MultiTaskMKLClassifier().fit, al.MultiTaskMKLRegressor().fit
    raises(ValueError, "y has 1 class", classify, X, np.ones(24, dtype=int), TASK)
    raises(ValueError, "y has 23 labels", classify, X, Y[:-1], TASK)
    raises(ValueError, "constant within every task", regress, X, TASK.astype(float), TASK)
    raises(ValueError, "task is given", regress, X, np.column_stack([Y, Y]), TASK)
    raises(ValueError, "constant on the samples of every task", classify, np.ones_like(X), Y, TASK)


@each("method", ["onmkl", "uniform", "kta", "rpkl", "onjkl", "independent"])
def test_targets_beyond_products_are_refused(method):
    with pytest.raises(ValueError, match=r"absolute values up to .*e\+200; accepted: at most 1e"):
        al.MultiTaskMKLRegressor(method=method).fit(X, 1e200 * X[:, 0], TASK)


def test_small_targets_are_within_the_tube():
    model = al.MultiTaskMKLRegressor().fit(X, 1e-200 * X[:, 0], TASK)
    np.testing.assert_allclose(model.predict(X, TASK), 0.0, atol=1e-199)


def test_predictions():
    model = al.MultiTaskMKLClassifier()
    model.fit(X, Y, TASK)
    raises(ValueError, "did not occur in fit, 3; accepted: 0, 1", model.predict, X[:2], [0, 3])
    raises(ValueError, "task is needed, because fit learned 3 tasks", model.predict, X)
    raises(ValueError, "task has 2 labels, but X has 3", model.predict, X[:3], [0, 1])
    raises(ValueError, "X has 2 features", model.predict, X[:, :2], TASK)
    raises(ValueError, "y has 23 labels", model.score, X, Y[:-1], TASK)


def test_too_few_steps_are_a_warning_that_states_the_gap():
    with pytest.warns(al.ConvergenceWarning, match="relative duality gap of"):
        al.MultiTaskMKLClassifier(max_iter=1, tol=1e-12).fit(X, Y, TASK)


@pytest.mark.parametrize("coupling", ["none", "ridge"])
def test_targets_inside_the_tube_are_a_constant_each(coupling):
    """Without kernels nothing is lost: the objective is 0, of which no relative gap is reached."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(20, 3)), np.arange(20) % 2])
    y = 0.01 * rng.normal(size=20)
    model = al.MultiTaskMKLRegressor(["rbf", "linear"], coupling=coupling, task_column=-1)
    assert not model.fit(X, y).weights_.any()
    assert model.result_.objective == 0.0
    assert model.result_.converged
    assert len(np.unique(model.predict(X))) <= 2
    assert np.abs(model.predict(X) - y).max() <= 0.1


def test_labels_of_tasks_are_no_classes():
    raises(ValueError, r"^task holds 1\.5", al.MultiTaskMKLRegressor().fit, X, X[:, 0], TASK + 1.5)
    model = al.MultiTaskMKLClassifier(task_column=0)
    raises(ValueError, r"task holds 0\.25", model.fit, np.column_stack([TASK + 0.25, X]), Y)
