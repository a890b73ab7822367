"""Containers and names of what `KernelCombiner` returns, against scikit-learn's transformers."""

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn
from refusals import raises
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

import alignlearn as al

KERNELS = [al.Gaussian(0.1), al.Linear()]
CHECKS = [
    "check_get_feature_names_out_error",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_global_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_set_output_transform_polars",
]


@pytest.fixture(scope="module")
def wine():
    """A data frame with an index and names, and labels."""
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)[::3, :4]
    index = [f"bottle {i}" for i in range(len(X))]
    return pd.DataFrame(X, index=index, columns=["alcohol", "acid", "ash", "lime"]), y[::3]


@pytest.mark.parametrize("combiner", [al.KernelCombiner(), al.KernelCombiner(["linear"])], ids=str)
@pytest.mark.parametrize("check", CHECKS)
# The checks themselves fit to data frames and transform arrays, and vice versa.
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
def test_scikit_learn_check_of_containers(check, combiner):
    """Checks that are not run for every estimator; the last two need polars."""
    getattr(estimator_checks, check)("KernelCombiner", combiner)


def test_an_own_choice_stands_above_the_global_one(wine):
    X, y = wine
    own = al.KernelCombiner(KERNELS).set_output(transform="default")
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(al.KernelCombiner(KERNELS).fit_transform(X, y), pd.DataFrame)
        assert isinstance(own.fit_transform(X, y), np.ndarray)
    # It outlives clone and pickle.
    model = al.KernelCombiner(KERNELS).set_output(transform="pandas")
    for copy in (clone(model), pickle.loads(pickle.dumps(model))):
        assert isinstance(copy.fit(X, y).transform(X), pd.DataFrame)
        copy.set_output(transform="default")
    assert isinstance(model.fit_transform(X, y), pd.DataFrame)


def test_given_matrices_have_no_index_to_pass_on(wine):
    X, y = wine
    grams = [kernel(X.to_numpy()) for kernel in KERNELS]
    model = al.KernelCombiner("precomputed").set_output(transform="pandas")
    K = model.fit_transform([pd.DataFrame(K, X.index, X.index) for K in grams], y)
    expected = al.KernelCombiner("precomputed").fit_transform(grams, y)
    np.testing.assert_allclose(K, expected, atol=1e-12)
    assert K.index.tolist() == list(range(len(X)))
    assert K.columns[-1] == f"kernelcombiner{len(X) - 1}"


def test_wrong_containers_and_names_are_refused(wine, monkeypatch):
    X, y = wine
    model, plain = al.KernelCombiner(KERNELS).fit(X, y), al.KernelCombiner(KERNELS)
    words = "transform='numpy' is not known; accepted: 'default', 'p"
    raises(ValueError, words, model.set_output, transform="numpy")
    names = ["alcohol", "acid", "ash", "lemon"]
    words = "input_features is not equal to feature_names_in_"
    raises(ValueError, words, model.get_feature_names_out, names)
    plain.fit(X.to_numpy(), y)
    words = r"length equal to number of features \(4\), got 2"
    raises(ValueError, words, plain.get_feature_names_out, names[:2])
    assert model.get_feature_names_out(list(X.columns)).tolist()[0] == "kernelcombiner0"
    monkeypatch.setitem(sys.modules, "polars", None)
    model.set_output(transform="polars")
    raises(ImportError, "'polars' needs polars, which is not installed", model.fit_transform, X, y)
