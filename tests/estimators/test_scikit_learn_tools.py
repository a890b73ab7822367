"""The estimators inside scikit-learn's tools, and without scikit-learn."""

import pickle
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from refusals import not_refused
from sklearn import exceptions
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import alignlearn as al
from alignlearn.estimators import cross_validate_kernels

KERNELS = [al.Gaussian(0.1), al.Gaussian(0.5), al.Linear()]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], np.array(["low", "mid", "high"])[y[order]]


def test_pipeline_and_cross_validation(wine):
    pipeline = make_pipeline(StandardScaler(), al.MKLClassifier())
    assert cross_val_score(pipeline, *wine, cv=3).min() > 0.9
    diabetes = load_diabetes(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), al.MKLRegressor(alpha=3.0))
    assert cross_val_score(pipeline, *diabetes, cv=3).min() > 0.3


def test_grid_search_over_nested_parameters_and_kernel_lists(wine):
    grid = {
        "kernels": [KERNELS, ["rbf", "linear"]],
        "weighting": [al.AlignLq()],
        "weighting__q": [1.0, 2.0],
        "C": [0.1, 10.0],
    }
    search = GridSearchCV(al.MKLClassifier(), grid, cv=2, error_score="raise")
    search.fit(StandardScaler().fit_transform(wine[0]), wine[1])
    assert len(search.cv_results_["params"]) == 8
    best = search.best_estimator_
    assert best.weighting.q == search.best_params_["weighting__q"]
    assert best.kernels == search.best_params_["kernels"]
    # q = 1 puts all weight on one kernel, q = 2 spreads it.
    for q, most in ((1.0, 1), (2.0, 3)):
        model = clone(best).set_params(kernels=KERNELS, weighting__q=q)
        model.fit(StandardScaler().fit_transform(wine[0]), wine[1])
        assert np.count_nonzero(model.weights_) == most


def test_string_labels_come_back(wine):
    X = StandardScaler().fit_transform(wine[0])
    model = al.MKLClassifier().fit(X, wine[1])
    assert model.classes_.tolist() == ["high", "low", "mid"]
    assert set(model.predict(X)) == {"high", "low", "mid"}
    as_list = al.MKLClassifier().fit(X, wine[1].tolist())
    np.testing.assert_array_equal(as_list.predict(X), model.predict(X))
    assert model.score(X, wine[1]) == np.mean(model.predict(X) == wine[1])


def test_regression_score_is_the_coefficient_of_determination():
    X, y = load_diabetes(return_X_y=True)
    model = al.MKLRegressor().fit(X[:200], y[:200])
    weight = np.random.default_rng(0).random(len(y))
    expected = r2_score(y, model.predict(X), sample_weight=weight)
    assert model.score(X, y, weight) == pytest.approx(expected, rel=1e-12)
    Y = np.column_stack([y, X[:, 0]])
    model = al.MKLRegressor().fit(X[:200], Y[:200])
    assert model.score(X, Y) == pytest.approx(r2_score(Y, model.predict(X)), rel=1e-12)
    with pytest.raises(ValueError, match=r"y has shape \(442,\); accepted: \(442, 2\)"):
        model.score(X, y)


class Frame:
    """The part of a data frame's interface that concerns names."""

    def __init__(self, values, columns):
        self.values, self.columns = values, columns

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


def test_column_names_are_kept_and_compared():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:40, :3], y[:40]
    model = al.MKLRegressor().fit(Frame(X, ["age", "bmi", "s1"]), y)
    assert model.feature_names_in_.tolist() == ["age", "bmi", "s1"]
    expected = model.predict(Frame(X, ["age", "bmi", "s1"]))
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- s2.*now missing:\n- s1"):
        model.predict(Frame(X, ["age", "bmi", "s2"]))
    with pytest.raises(ValueError, match="same order"):
        model.predict(Frame(X, ["bmi", "age", "s1"]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(model.predict(X), expected)
    unnamed = al.MKLRegressor().fit(Frame(X, [0, 1, 2]), y)
    assert not hasattr(unnamed, "feature_names_in_")
    assert unnamed.n_features_in_ == 3
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        unnamed.predict(Frame(X, ["age", "bmi", "s1"]))
    again = model.fit(X, y)
    assert not hasattr(again, "feature_names_in_")


WITHOUT = """
import sys
sys.modules["sklearn"] = None
import numpy as np
import alignlearn as al
from alignlearn import NotFittedError
X = np.random.default_rng(0).normal(size=(40, 3))
y = np.where(X[:, 0] > 0, "b", "a")
model = al.MKLClassifier()
try:
    model.predict(X)
except NotFittedError as error:
    assert "MKLClassifier" in str(error)
else:
    raise AssertionError
assert model.fit(X, y).score(X, y) > 0.9
assert al.MKLRegressor(machine="svr").fit(X, X[:, 0]).score(X, X[:, 0]) > 0.5
assert al.KernelCombiner().fit_transform(X, y).shape == (40, 40)
assert "alignlearn-bar" in model._repr_html_()
import pandas as pd
frame = pd.DataFrame(X, columns=["a", "b", "c"])
combiner = al.KernelCombiner(["rbf"])
assert isinstance(combiner.fit_transform(frame, X[:, 0]), np.ndarray)
K = combiner.set_output(transform="pandas").transform(frame)
assert isinstance(K, pd.DataFrame) and K.columns[3] == "kernelcombiner3"
class HalfAndHalf:
    def split(self, X, y, groups):
        yield np.flatnonzero(groups == 0), np.flatnonzero(groups == 1)
search = al.MKLRegressorCV(["rbf"], alphas=[1.0], cv=HalfAndHalf())
assert search.fit(X, X[:, 0], groups=np.arange(40) % 2).n_splits_ == 1
try:
    search.set_fit_request(groups=True)
except ImportError as error:
    assert "sklearn" in str(error)
else:
    raise AssertionError
assert not [name for name in sys.modules if name.startswith("sklearn.")]
"""


def test_everything_works_without_scikit_learn():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_errors_are_those_of_both_libraries():
    """Either class catches the error, also after pickling between processes."""
    with pytest.raises(al.NotFittedError) as caught:
        al.MKLClassifier().predict([[1.0]])
    error = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(caught.value, exceptions.NotFittedError)
    assert isinstance(error, (al.NotFittedError, exceptions.NotFittedError))
    assert type(error) is type(caught.value)
    assert error.args == caught.value.args
    X, y = load_diabetes(return_X_y=True)
    for warning in (al.DataConversionWarning, exceptions.DataConversionWarning):
        with pytest.warns(warning, match="column-vector"):
            al.MKLClassifier(["linear"]).fit(X[:20], (y[:20, None] > y[:20].mean()).astype(int))


# Cross-validation on Gram matrices


def _wine_kernels(wine):
    X = StandardScaler().fit_transform(wine[0])
    return X, wine[1], [k(X) for k in KERNELS]


def test_folds_of_matrices_are_folds_of_samples(wine):
    X, y, grams = _wine_kernels(wine)
    cv = StratifiedKFold(4, shuffle=True, random_state=1)
    expected = cross_validate(al.MKLClassifier(KERNELS), X, y, cv=cv, return_estimator=True)
    found = cross_validate_kernels(al.MKLClassifier("precomputed"), grams, y, cv=cv)
    np.testing.assert_allclose(found["test_score"], expected["test_score"])
    weights = [model.weights_ for model in expected["estimator"]]
    np.testing.assert_allclose(found["weights"], weights, atol=1e-9)
    assert found["fit_time"].shape == found["score_time"].shape == (4,)
    assert found["alignment"].min() > 0.5


def test_own_folds_cover_every_sample_once_and_keep_the_classes_shares(wine):
    _, y, grams = _wine_kernels(wine)
    run = cross_validate_kernels(
        al.MKLClassifier("precomputed"), grams, y, cv=7, random_state=5, return_estimator=True
    )
    tests = [test for _, test in run["indices"]]
    np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(len(y)))
    for train, test in run["indices"]:
        assert not set(train) & set(test)
        assert len(train) + len(test) == len(y)
        for label in set(y):
            assert abs(np.sum(y[test] == label) - np.sum(y == label) / 7) <= 1
    assert len(run["estimator"]) == 7
    again = cross_validate_kernels(al.MKLClassifier("precomputed"), grams, y, cv=7, random_state=5)
    other = cross_validate_kernels(al.MKLClassifier("precomputed"), grams, y, cv=7, random_state=6)
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(run["indices"], again["indices"]))
    assert not all(np.array_equal(a[1], b[1]) for a, b in zip(run["indices"], other["indices"]))


def test_scoring_folds_as_masks_and_regression():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:90], y[:90]
    grams = [al.Gaussian(10.0)(X), al.Linear()(X)]
    half = np.arange(90) < 45

    def largest_error(model, K, y):
        assert K[0].shape == (45, 45)
        return np.abs(model.predict(K) - y).max()

    run = cross_validate_kernels(
        al.MKLRegressor("precomputed"), grams, y, cv=[(half, ~half)], scoring=largest_error
    )
    model = al.MKLRegressor([al.Gaussian(10.0), al.Linear()]).fit(X[half], y[half])
    expected = np.abs(model.predict(X[~half]) - y[~half]).max()
    np.testing.assert_allclose(run["test_score"], [expected], rtol=1e-7)


def test_bad_arguments_of_cross_validation():
    X = np.random.default_rng(0).normal(size=(10, 2))
    accepted = {
        "estimator": al.MKLClassifier("precomputed"),
        "grams": [X @ X.T],
        "y": np.arange(10) % 2,
        "cv": 2,
    }
    cross_validate_kernels(**accepted)
    cases = (
        ({"estimator": al.MKLClassifier()}, "kernels='precomputed'"),
        ({"estimator": SVC(kernel="precomputed")}, "kernels='precomputed'"),
        ({"grams": []}, "grams is empty"),
        ({"y": np.arange(9) % 2}, "y has 9 values, but the matrices have 10 rows"),
        ({"cv": 1}, "cv=1 is out of range"),
        ({"cv": []}, "no folds"),
        ({"cv": "5"}, "cv must be a number of folds"),
        ({"cv": True}, "cv must be a number of folds"),
    )
    assert (
        not_refused(
            (words, partial(cross_validate_kernels, **{**accepted, **given}), words)
            for given, words in cases
        )
        == []
    )
