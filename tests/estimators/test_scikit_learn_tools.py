"""The estimators inside scikit-learn's tools, and without scikit-learn."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn import exceptions
from sklearn.datasets import load_diabetes, load_wine
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.preprocessing import StandardScaler

import alignlearn as al
from alignlearn.estimators import cross_validate_kernels

KERNELS = [al.Gaussian(0.1), al.Gaussian(0.5), al.Linear()]


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
    assert isinstance(error, exceptions.NotFittedError)
    assert type(error) is type(caught.value)
    assert error.args == caught.value.args
    X, y = load_diabetes(return_X_y=True)
    for warning in (al.DataConversionWarning, exceptions.DataConversionWarning):
        with pytest.warns(warning, match="column-vector"):
            al.MKLClassifier(["linear"]).fit(X[:20], (y[:20, None] > y[:20].mean()).astype(int))


# Cross-validation on Gram matrices


def test_folds_of_matrices_are_folds_of_samples():
    X, y = load_wine(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), np.array(["low", "mid", "high"])[y]
    cv = StratifiedKFold(4, shuffle=True, random_state=1)
    expected = cross_validate(al.MKLClassifier(KERNELS), X, y, cv=cv, return_estimator=True)
    grams = [kernel(X) for kernel in KERNELS]
    found = cross_validate_kernels(al.MKLClassifier("precomputed"), grams, y, cv=cv)
    np.testing.assert_allclose(found["test_score"], expected["test_score"])
    weights = [model.weights_ for model in expected["estimator"]]
    np.testing.assert_allclose(found["weights"], weights, atol=1e-9)
    assert found["fit_time"].shape == found["score_time"].shape == (4,)
    assert found["alignment"].min() > 0.5


def test_scoring_folds_as_masks_and_regression():
    X, y = (a[:90] for a in load_diabetes(return_X_y=True))
    kernels, half = [al.Gaussian(10.0), al.Linear()], np.arange(90) < 45

    def largest_error(model, K, y):
        assert K[0].shape == (45, 45)
        return np.abs(model.predict(K) - y).max()

    model, grams = al.MKLRegressor("precomputed"), [kernel(X) for kernel in kernels]
    run = cross_validate_kernels(model, grams, y, cv=[(half, ~half)], scoring=largest_error)
    model = al.MKLRegressor(kernels).fit(X[half], y[half])
    expected = np.abs(model.predict(X[~half]) - y[~half]).max()
    np.testing.assert_allclose(run["test_score"], [expected], rtol=1e-7)
