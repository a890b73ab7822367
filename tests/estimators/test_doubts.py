"""Warnings of results that are probably unintended: when they appear, and how often."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import alignlearn as al
from alignlearn.kernels import Columns, Gaussian


def doubts(run):
    """Messages of the warnings of a call; any other kind of warning is an error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    assert {w.category for w in caught} <= {al.DoubtfulResultWarning}
    assert all(w.filename == __file__ for w in caught)
    texts = [str(w.message) for w in caught]
    assert all("\n" not in text and len(text) < 400 for text in texts)
    return texts


def _two_scales(m=60, apart=1e4):
    X = np.random.default_rng(0).normal(size=(m, 3)) * [1.0, apart, 3.0]
    return X, np.where(X[:, 0] + 0.3 * X[:, 2] > 0.0, 1, 0)


# Scales


LKRR = {"kernels": ["rbf", "poly"], "weighting": "lkrr"}
FITS = {
    "classifier": lambda X, y: al.MKLClassifier().fit(X, y),
    "one kernel": lambda X, y: al.MKLClassifier("linear").fit(X, y),
    "regressor": lambda X, y: al.MKLRegressor(["rbf", "laplacian"]).fit(X, y + 0.1 * X[:, 0]),
    "search": lambda X, y: al.MKLClassifierCV(Cs=[1.0, 2.0], cv=3).fit(X, y),
    "one stage": lambda X, y: al.MKLClassifierCV(Cs=[0.1, 0.2], cv=3, **LKRR).fit(X, y),
    "calibrated": lambda X, y: al.MKLClassifier(probability="sigmoid", **LKRR).fit(X, y),
    "combiner": lambda X, y: al.KernelCombiner().fit(X, y),
    "bayesian": lambda X, y: al.BayesianMKLClassifier().fit(X, y),
    "nystrom": lambda X, y: al.NystromSVC(n_centers=9).fit(X, y),
    "stream": lambda X, y: al.KernelSGDClassifier(Gaussian(1e-9)).fit(X, y),
    "scales": lambda X, y: al.FeatureScales().fit(X, y),
    "features": lambda X, y: al.AlignedRandomFeatures(n_features=30).fit(X, y),
    "views": lambda X, y: al.KernelCCA(kappa=0.1).fit([X, X[:, [0]]]),
    "tasks": lambda X, y: al.MultiTaskMKLClassifier().fit(X, y, task=np.arange(len(y)) % 2),
}


@pytest.mark.parametrize("name", FITS)
def test_scales_a_thousand_apart_are_told_once_per_fit(name):
    X, y = _two_scales()
    (text,) = doubts(lambda: FITS[name](X, y))
    assert text.startswith("Columns 1 and 0 of X have scales that differ by more than a factor of")
    assert not doubts(lambda: FITS[name](X / X.std(axis=0), y))


@pytest.mark.parametrize("name", ["classifier", "regressor", "combiner"])
def test_columns_of_other_means_are_told_once_per_fit(name):
    X, y = _two_scales(apart=1.0)
    moved = X + np.array([0.0, 100.0, 0.0])
    (text,) = doubts(lambda: FITS[name](moved, y))
    assert text.startswith("The means of the columns of X differ by much more")
    assert "StandardScaler" in text
    narrowest = 16.0 * al.Gaussian("scale").resolve(moved).gamma
    # All kernels of the ladder are nearly constant.
    assert al.Gaussian(narrowest)(moved).mean() > 0.95
    for features in (X + 1e4, X + np.array([0.0, 3.0, 0.0])):
        assert not doubts(lambda features=features: FITS[name](features, y))
    for given in ("linear", [Gaussian(0.5)], al.ladder(Gaussian, [0.5, 1.0], gamma="median")):
        assert not doubts(lambda given=given: al.MKLClassifier(given).fit(moved, y))
    # The search also learns scales of the features and finds a good model.
    search = al.MKLClassifierCV(random_state=0)
    assert not doubts(lambda: search.fit(moved, y))


@pytest.mark.parametrize("name", ["classifier", "one kernel", "search", "combiner"])
def test_a_gram_matrix_as_features_is_told_once_per_fit(name):
    X, y = _two_scales(apart=1.0)
    K = Gaussian(0.5)(X)
    (text,) = doubts(lambda: FITS[name](K, y))
    assert text.startswith("X is a symmetric matrix of shape (60, 60)")
    assert "kernels='precomputed'" in text
    for features in (K + np.triu(1e-3 * K), np.diag(X[:, 0]), K[:, :59]):
        assert not doubts(lambda features=features: FITS[name](features, y))
    assert not doubts(lambda: al.MKLClassifier("precomputed").fit([K, X @ X.T], y))
    for tables in ([X @ X.T, K], {"first": X, "second": X @ X.T}):
        (text,) = doubts(lambda tables=tables: al.MKLClassifier().fit(tables, y))
        assert text.startswith("X is a symmetric matrix of shape (60, 60)")


def test_kernels_that_do_not_add_these_columns_say_nothing():
    X, y = _two_scales()
    apart = [Columns("rbf", [k]) for k in range(3)] + [Columns("rbf", [0, 2])]
    for kernels in (apart, al.RankOneKernels(), "hamming", [Columns("linear", k) for k in (0, 1)]):
        assert not doubts(lambda kernels=kernels: al.MKLClassifier(kernels).fit(X, y))
    # A constant column, indicators of rare categories, and sparse samples.
    rare = np.zeros((2000, 3))
    rare[:, 0] = np.random.default_rng(0).normal(size=2000) * 500.0
    rare[7, 1] = 1.0
    assert not doubts(lambda: al.MKLClassifier("linear").fit(rare, rare[:, 0] > 0.0))
    near = [Columns("linear", [0, 1]) + 2.0 * Columns("rbf", [1, 2]).normalized()]
    (text,) = doubts(lambda: al.MKLClassifier(near).fit(X, y))
    assert text.startswith("Columns 1 and ")


@pytest.mark.parametrize("load", [datasets.load_iris, datasets.load_digits, datasets.load_diabetes])
def test_data_that_need_no_scaling_say_nothing(load):
    X, y = load(return_X_y=True)
    model = al.MKLRegressor if load is datasets.load_diabetes else al.MKLClassifier
    assert not doubts(lambda: model("rbf").fit(X[::5], y[::5]))


# Edges of a grid


def _needs_large_C(m=100):
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(m, 1))
    return X, (np.sin(12.0 * X[:, 0]) > 0.0).astype(int)


def test_the_best_value_at_the_end_of_its_grid_is_told():
    X, y = _needs_large_C()
    search = al.MKLClassifierCV([Gaussian(10.0)], Cs=[0.01, 0.1, 1.0])
    (text,) = doubts(lambda: search.fit(X, y))
    assert text.startswith("The best C=1 is the largest of its grid, and scores still rise there")
    assert text.endswith("extend Cs.")
    # The advice is good: further out, a value has a better score and is not at an end.
    wider = al.MKLClassifierCV([Gaussian(10.0)], Cs=[0.01, 0.1, 1.0, 10.0, 100.0])
    assert not doubts(lambda: wider.fit(X, y))
    assert wider.best_score_ > search.best_score_ + 0.05
    # Two values are no grid, and one is none.
    for few in ([0.1, 1.0], [1.0]):
        model = al.MKLClassifierCV([Gaussian(10.0)], Cs=few)
        assert not doubts(lambda model=model: model.fit(X, y))


def test_ends_of_alphas():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.sin(X[:, 0])
    model = al.MKLRegressorCV([Gaussian(0.5)], alphas=[1.0, 10.0, 100.0])
    (text,) = doubts(lambda: model.fit(X, y))
    assert text.startswith("The best alpha=1 is the smallest of its grid")
    assert text.endswith("extend alphas.")
    noise = np.random.default_rng(1).normal(size=60)
    model = al.MKLRegressorCV([Gaussian(0.5)], alphas=[0.001, 0.1, 10.0, 1e3, 1e5, 1e7])
    assert not doubts(lambda: model.fit(X, y + noise))


def test_a_flat_score_is_no_end_of_a_grid():
    X, y = datasets.load_iris(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    for cv in (5, 3):
        model = al.MKLClassifierCV(Cs=[100.0, 1000.0, 10_000.0], cv=cv)
        assert not doubts(lambda model=model: model.fit(X, y))


# Targets


def test_whole_numbers_of_floating_point_may_be_classes():
    X, y = datasets.load_iris(return_X_y=True)
    features = al.AlignedRandomFeatures(n_features=20)
    for run in (al.KernelCombiner().fit, al.alignment_statistics, features.fit):
        (text,) = doubts(lambda run=run: run(X, y.astype(float)))
        assert text.startswith("y holds 3 different whole numbers of floating point")
        for good in (y, np.minimum(y, 1).astype(float), y + 0.5, np.arange(150.0)):
            assert not doubts(lambda run=run, good=good: run(X, good))
    assert not doubts(lambda: al.KernelCombiner(task="regression").fit(X, y.astype(float)))
    assert not doubts(lambda: al.MKLRegressor().fit(X, y.astype(float)))


def test_classes_of_one_sample_may_be_amounts():
    X = np.random.default_rng(0).normal(size=(150, 2))
    amounts = np.argsort(X[:, 0])
    with pytest.warns(al.DoubtfulResultWarning, match="y has 150 classes, 150 of them with one"):
        al.KernelSGDClassifier(n_passes=1).fit(X, amounts)
    assert not doubts(lambda: al.KernelSGDClassifier(n_passes=1).fit(X, amounts // 2))


# All of them


def test_a_filter_silences_all_and_errors_leave_nothing_fitted():
    X, y = _two_scales()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", al.DoubtfulResultWarning)
        al.MKLClassifier().fit(X, y)
    model = al.MKLClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(al.DoubtfulResultWarning, match="Columns 1 and 0") as caught:
            model.fit(X, y)
    with pytest.raises(al.NotFittedError):
        model.predict(X)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_search_of_scikit_learn_says_the_same_line_each_time():
    # Python prints a line once, so its text must not change between folds.
    X, y = _two_scales()
    X = pd.DataFrame(X, columns=["age", "income", "height"])
    search = GridSearchCV(al.MKLClassifier("rbf"), {"C": [1.0, 10.0]}, cv=3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clone(search).fit(X, y)
    (text,) = {str(w.message) for w in caught}
    assert text.startswith("Columns 'income' and 'age' of X have scales that differ by more than")
