"""The table of the winner of a comparison: against fits by hand, for every kind of method."""

from dataclasses import replace

import numpy as np
import pytest

import alignlearn as al
from alignlearn.comparison import Protocol, compare, explain, split

KERNELS = [al.Gaussian(0.1), al.Linear(), al.Columns(al.Linear(), 0)]


def design():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 5.0, 0.2] + 3.0
    return X, X[:, 0] + 0.1 * X[:, 1] + 0.3 * rng.normal(size=60)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_table_is_that_of_fits_without_each_fold(task):
    X, y = design()
    y = y if task == "regression" else (y > np.median(y)).astype(int)
    protocol = Protocol(n_folds=4, random_state=1)
    found = compare(X, y, KERNELS, methods=("alignf",), task=task, protocol=protocol)
    method, table, text = explain(found, X, y, KERNELS)
    weights, parts = [], []
    for t, test in enumerate(split(y, 4, task, 1)):
        train = np.setdiff1d(np.arange(60), test)
        mean, deviation = X[train].mean(axis=0), X[train].std(axis=0)
        A, B = (X[train] - mean) / deviation, (X[test] - mean) / deviation
        value = found.parameter[0, t]
        if task == "regression":
            model = al.MKLRegressor(KERNELS, alpha=value).fit(A, y[train])
        else:
            model = al.MKLClassifier(KERNELS, C=value).fit(A, y[train])
        weights.append(model.weights_)
        parts.append(model.contributions(B, y[test]).values[:, 0])
    assert method == "alignf"
    np.testing.assert_allclose(table["contribution"], np.mean(parts, axis=0), atol=1e-6)
    spread = np.sqrt(3 / 4 * np.square(weights - np.mean(weights, axis=0)).sum(axis=0))
    np.testing.assert_allclose(table["spread"], spread, atol=1e-6)
    np.testing.assert_array_equal(table["zero"], np.mean(np.array(weights) == 0.0, axis=0))
    whole = (X - X.mean(axis=0)) / X.std(axis=0)
    kind = al.MKLRegressor if task == "regression" else al.MKLClassifier
    np.testing.assert_allclose(table["weight"], kind(KERNELS).fit(whole, y).weights_, atol=1e-6)
    assert text.startswith("lowest mean error: alignf\n\nkernel")
    assert "no confidence interval" in text.replace("\n", " ")


def test_methods_that_are_no_rule():
    X, y = design()
    labels = (y > np.median(y)).astype(int)
    options = {"protocol": Protocol(n_folds=3), "methods": ("best-single", "svm-cv")}
    found = compare(X, labels, KERNELS, **options)
    single, own = (replace(found, columns=dict(found.columns)) for _ in range(2))
    single.columns["error"] = np.array([[0.0] * 3, [1.0] * 3])
    own.columns["error"] = np.array([[1.0] * 3, [0.0] * 3])
    method, table, _ = explain(single, X, labels, KERNELS)
    assert method == "best-single"
    np.testing.assert_allclose(table["weight"], found.weights[0].mean(axis=0))
    np.testing.assert_allclose(table["zero"], np.mean(found.weights[0] == 0.0, axis=0))
    method, table, text = explain(own, X, labels, KERNELS)
    assert (method, table) == ("svm-cv", None)
    assert "a kernel of its own" in text


def test_a_kernel_for_every_column():
    X, y = design()
    found = compare(X, y, al.RankOneKernels(), methods=("uniform",), protocol=Protocol(n_folds=3))
    _, table, _ = explain(found, X, y, al.RankOneKernels())
    assert table["kernel"].tolist() == ["column 0", "column 1", "column 2"]
    np.testing.assert_allclose(table["weight"], 1 / 3)
    assert table["contribution"][0] > 0.3
