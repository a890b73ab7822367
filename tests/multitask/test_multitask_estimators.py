"""The estimators: tasks as labels, as a column, as columns of y; searches; fallbacks."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.svm import SVC
from usage import threads

import alignlearn as al

METHODS = ("onmkl", "independent", "uniform", "mkl", "kta", "rpkl", "onjkl")
KERNELS = ["linear", al.Gaussian(0.5), al.Polynomial(degree=2).normalized()]


def data(seed=0, sizes=(30, 41, 26)):
    rng = np.random.default_rng(seed)
    task = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(task.size, 4))
    signal = np.sin(2.0 * X[:, 0]) + X[:, 1] * (task - 1.0)
    return X, signal, np.where(signal > 0.0, 1, -1), task


@pytest.mark.parametrize("method", METHODS)
def test_every_method_classifies_and_regresses(method):
    X, signal, y, task = data()
    options = {"method": method, "C": 3.0, "beta": 0.01}
    classifier = al.MultiTaskMKLClassifier(KERNELS, **options).fit(X, y, task)
    regressor = al.MultiTaskMKLRegressor(KERNELS, **options).fit(X, signal, task)
    assert classifier.score(X, y, task) > 0.8
    assert regressor.score(X, signal, task) > 0.6
    for model in (classifier, regressor):
        assert model.weights_.min() >= 0.0
        assert np.all(model.shared_weights_ <= model.weights_.min(axis=0) + 1e-12)
        assert model.result_.duality_gap <= 1e-5


def test_decisions_are_those_of_a_machine_on_the_learned_kernel():
    X, _, y, task = data(1)
    model = al.MultiTaskMKLClassifier(KERNELS, coupling="ridge", C=2.0).fit(X, y, task)
    new = data(2)[0][:20]
    for t in range(3):
        rows = task == t
        kernel = model.task_kernels_[t]
        svc = SVC(kernel="precomputed", C=2.0, tol=1e-8).fit(kernel(X[rows]), y[rows])
        expected = svc.decision_function(kernel(new, X[rows]))
        found = model.decision_function(new, np.full(20, t))
        np.testing.assert_allclose(found, expected, atol=5e-3)
        np.testing.assert_array_equal(model.predict(new, [t] * 20), np.where(found > 0, 1, -1))


def test_the_order_of_samples_and_the_labels_of_tasks_do_not_matter():
    X, signal, _, task = data(3)
    one = al.MultiTaskMKLRegressor(KERNELS, coupling="group").fit(X, signal, task)
    order = np.random.default_rng(0).permutation(len(X))
    names = np.array(["a", "b", "c"])[task]
    other = al.MultiTaskMKLRegressor(KERNELS, coupling="group")
    other.fit(X[order], signal[order], names[order])
    assert other.tasks_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(one.weights_, other.weights_, rtol=1e-2, atol=1e-3)
    np.testing.assert_allclose(one.predict(X, task), other.predict(X, names), atol=1e-2)


def test_threads_do_not_change_the_result():
    X, _, y, task = data(4)
    many = al.MultiTaskMKLClassifier(KERNELS).fit(X, y, task)
    with threads(1):
        one = al.MultiTaskMKLClassifier(KERNELS).fit(X, y, task)
    np.testing.assert_array_equal(many.weights_, one.weights_)


@pytest.mark.parametrize("column", [2, -3, "field"])
def test_a_column_of_tasks_is_the_argument(column):
    X, _, y, task = data(5)
    passed = al.MultiTaskMKLClassifier(KERNELS).fit(X, y, task)
    table = pd.DataFrame(X, columns=list("abcd"))
    table.insert(2, "field", task.astype(float))
    given = table if column == "field" else table.to_numpy()
    model = al.MultiTaskMKLClassifier(KERNELS, task_column=column).fit(given, y)
    assert model.n_features_in_ == 5
    np.testing.assert_array_equal(model.weights_, passed.weights_)
    np.testing.assert_array_equal(model.predict(given), passed.predict(X, task))
    assert model.score(given, y) == passed.score(X, y, task)


def test_a_column_of_names_and_kernels_that_select_by_name():
    X, signal, _, task = data(6)
    table = pd.DataFrame(X, columns=list("abcd"))
    table["field"] = np.array(["x", "y", "z"])[task]
    kernels = [al.Columns("linear", ["d", "a"]), al.Columns(al.Gaussian(0.3), "b")]
    model = al.MultiTaskMKLRegressor(kernels, task_column="field").fit(table, signal)
    moved = table[["field", "a", "b", "c", "d"]]
    other = al.MultiTaskMKLRegressor(kernels, task_column="field").fit(moved, signal)
    np.testing.assert_allclose(model.predict(table), other.predict(moved), atol=1e-8)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(moved)


def test_columns_of_y_are_tasks_on_the_same_samples():
    X, signal, _, _ = data(8)
    Y = np.column_stack([signal, X[:, 2] ** 2, X[:, 0]])
    wide = al.MultiTaskMKLRegressor(KERNELS).fit(X, Y)
    m = len(X)
    rows, targets, tasks = np.tile(X, (3, 1)), Y.T.ravel(), np.repeat(np.arange(3), m)
    long = al.MultiTaskMKLRegressor(KERNELS).fit(rows, targets, tasks)
    np.testing.assert_allclose(wide.weights_, long.weights_, atol=1e-9)
    np.testing.assert_allclose(wide.predict(X)[:, 1], wide.predict(X, np.ones(m, dtype=int)))
    np.testing.assert_allclose(wide.predict(X).T.ravel(), long.predict(rows, tasks))
    assert wide.score(X, Y) == pytest.approx(long.score(rows, targets, tasks))


def test_given_matrices_and_sparse_samples_are_the_kernels_on_samples():
    X, _, y, task = data(9)
    new = data(10)[0][:10]
    kernels = [al.Gaussian(0.3), al.Gaussian(1.0)]
    model = al.MultiTaskMKLClassifier(kernels).fit(X, y, task)
    given = al.MultiTaskMKLClassifier("precomputed").fit([k(X) for k in kernels], y, task)
    thin = al.MultiTaskMKLClassifier(kernels).fit(sparse.csr_matrix(X), y, task)
    where = task[:10]
    expected = model.decision_function(new, where)
    for other, rows in ((given, [k(new, X) for k in kernels]), (thin, sparse.csr_matrix(new))):
        np.testing.assert_allclose(other.decision_function(rows, where), expected, atol=1e-4)
    column = al.MultiTaskMKLClassifier(kernels, task_column=4)
    stacked = sparse.csr_matrix(np.column_stack([X, task]))
    np.testing.assert_allclose(column.fit(stacked, y).weights_, thin.weights_, atol=1e-9)


def test_tasks_of_different_classes():
    X, signal, _, task = data(12)
    y = np.where(signal > 0, "up", "down").astype(object)
    y[task == 1] = np.where(signal[task == 1] > 0.7, "high", y[task == 1])
    model = al.MultiTaskMKLClassifier(KERNELS, C=15.0).fit(X, list(y), task)
    assert model.classes_.tolist() == ["down", "high", "up"]
    scores = model.decision_function(X, task)
    assert scores.shape == (len(X), 3)
    assert np.all(scores[task != 1, 1] == -np.inf)
    assert np.all(np.isfinite(scores[task == 1]))
    assert model.score(X, list(y), task) > 0.8


def test_a_task_of_one_class_predicts_it_with_a_warning():
    X, signal, y, task = data(13)
    alone = al.MultiTaskMKLClassifier(KERNELS).fit(X[task > 0], y[task > 0], task[task > 0])
    y[task == 0], signal[task == 0] = 1, 2.5
    with pytest.warns(al.DegenerateKernelWarning, match=r"within 1 task.*0"):
        model = al.MultiTaskMKLClassifier(KERNELS).fit(X, y, task)
    assert np.all(model.predict(X, np.zeros(len(X), dtype=int)) == 1)
    assert np.all(model.decision_function(X, np.zeros(len(X), dtype=int)) == 1.0)
    assert not model.weights_[0].any()
    np.testing.assert_allclose(model.weights_[1:], alone.weights_, rtol=0.2, atol=0.05)
    with pytest.warns(al.DegenerateKernelWarning):
        regressor = al.MultiTaskMKLRegressor(KERNELS, coupling="ridge").fit(X, signal, task)
    assert np.all(regressor.predict(X, np.zeros(len(X), dtype=int)) == 2.5)


def test_a_task_of_one_sample():
    X, signal, y, task = data(14)
    task[0] = 7
    for kind, target in ((al.MultiTaskMKLClassifier, y), (al.MultiTaskMKLRegressor, signal)):
        with pytest.warns(al.DegenerateKernelWarning, match="7"):
            model = kind(KERNELS).fit(X, target, task)
        assert model.predict(X[:3], [7, 7, 7]).tolist() == [target[0]] * 3


def test_a_task_whose_samples_are_all_the_same():
    X, _, y, task = data(15)
    X[task == 2] = 1.0
    y[task == 2] = np.where(np.arange(np.sum(task == 2)) < 20, 1, -1)
    for parameters in ({}, {"coupling": "ridge"}, {"coupling": "group"}, {"method": "onjkl"}):
        model = al.MultiTaskMKLClassifier(KERNELS, **parameters).fit(X, y, task)
        assert np.all(model.predict(X[task == 2], task[task == 2]) == 1)
    model = al.MultiTaskMKLClassifier(KERNELS, method="independent").fit(X, y, task)
    assert not model.weights_[2].any()
