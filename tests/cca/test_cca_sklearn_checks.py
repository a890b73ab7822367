"""scikit-learn's own checks of KernelCCA, and its tools."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn_checks import assert_checks, each_estimator

from alignlearn.cca import KernelCCA


@each_estimator([KernelCCA(), KernelCCA(solver="low-rank", regularization="gram", kappa=1.0)])
def test_scikit_learn_checks(estimator, chosen):
    assert_checks(estimator, chosen)


def data(N=60):
    rng = np.random.default_rng(0)
    t = rng.uniform(-1.0, 1.0, N)
    return np.column_stack([t, rng.normal(size=N)]), np.sin(3.0 * t)


def test_pipelines_searches_and_frames():
    X, y = data()
    model = make_pipeline(StandardScaler(), KernelCCA())
    assert model.fit_transform(X, y).shape == (60, 1)
    search = GridSearchCV(KernelCCA(), {"kappa": [1e-4, 1e-2, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
    frame = pd.DataFrame(X, columns=["a", "b"], index=range(5, 65))
    framed = KernelCCA(2).set_output(transform="pandas").fit(frame, y)
    assert list(framed.feature_names_in_) == ["a", "b"]
    found = framed.transform(frame)
    assert list(found.columns) == ["kernelcca0", "kernelcca1"]
    assert list(found.index) == list(frame.index)
    np.testing.assert_array_equal(found, KernelCCA(2).fit(X, y).transform(X))
    with pytest.raises(ValueError, match="feature names should match"):
        framed.transform(frame[["b", "a"]])
