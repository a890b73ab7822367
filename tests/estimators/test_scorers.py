"""scikit-learn's scorers in the searches, against its own grid search over the same folds."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from refusals import not_refused
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import (
    accuracy_score,
    fbeta_score,
    get_scorer,
    get_scorer_names,
    log_loss,
    make_scorer,
    max_error,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV

import alignlearn as al
from alignlearn.estimators.scoring import correlation_by_target
from alignlearn.folds import make_folds

KERNELS = [al.Gaussian(0.02), al.Linear()]
CS, ALPHAS = [0.1, 10.0], [1e-3, 0.1]
rng = np.random.default_rng(0)


def _some(load, m=120):
    X, y = load(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:m]
    return (X[rows] - X.mean(axis=0)) / X.std(axis=0), y[rows]


TWO, THREE = _some(load_breast_cancer), _some(load_iris)
REAL = rng.normal(size=(80, 3))
POSITIVE = 9.0 + np.sin(2 * REAL[:, 0]) + 0.1 * rng.normal(size=80)
NAMES = sorted(get_scorer_names())
# Scores of probabilities calibrate the decisions of a fold, which a plain classifier does not.
PROBABILITIES = {n for n in NAMES if "proba" in str(getattr(get_scorer(n), "_response_method", ""))}


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.filterwarnings("ignore:.* ill-defined:UserWarning")  # the same in scikit-learn 1.5
@pytest.mark.filterwarnings("ignore:.*test scores are non-finite:UserWarning")  # of the grid search
@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")  # of names for other labels
@pytest.mark.parametrize(
    ("n_classes", "least", "probability"), [(2, 20, None), (3, 10, None), (3, 2, "sigmoid")]
)
def test_every_scorer_of_classes_by_name(n_classes, least, probability):
    """The scores of scikit-learn's grid search, wherever they exist."""
    X, y = TWO if n_classes == 2 else THREE
    folds = make_folds(3, y, True)
    plain = al.MKLClassifier(KERNELS, tol=1e-9, probability=probability)
    names = [n for n in NAMES if (n in PROBABILITIES) == (probability is not None)]
    grid = GridSearchCV(plain, {"C": CS}, cv=folds, scoring=names, refit=False).fit(X, y)
    expected = {name: grid.cv_results_[f"mean_test_{name}"] for name in names}
    names = [name for name in names if np.isfinite(expected[name]).all()]
    assert len(names) >= least
    model = al.MKLClassifierCV(KERNELS, weighting="alignf", Cs=CS, cv=folds, tol=1e-9)
    model.set_params(scoring=names, refit=names[0]).fit(X, y)
    for name in names:
        found = model.cv_results_[f"mean_test_{name}"]
        if probability:
            assert np.isfinite(found).all()
        else:
            np.testing.assert_allclose(found, expected[name], atol=1e-6, err_msg=name)


REGRESSION = [
    "r2", "max_error", "explained_variance", "neg_median_absolute_error", "neg_max_error",
    "neg_mean_absolute_error", "neg_mean_squared_error", "neg_root_mean_squared_error",
    "neg_mean_squared_log_error", "neg_root_mean_squared_log_error", "neg_mean_poisson_deviance",
    "neg_mean_gamma_deviance", "neg_mean_absolute_percentage_error", "d2_absolute_error_score",
]  # fmt: skip


def _is_of_targets(name):
    """Whether a scorer accepts targets and rejects labels."""
    scorer, accepted = get_scorer(name), []
    for y in (np.arange(12) % 2, np.arange(12.0) / 7 + 0.5):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scorer._score_func(y, y, **scorer._kwargs)
        except (ValueError, TypeError, IndexError):
            accepted.append(False)
        else:
            accepted.append(True)
    return accepted == [False, True]


def test_every_scorer_of_targets_by_name():
    assert {n for n in NAMES if _is_of_targets(n)} <= set(REGRESSION)  # none is forgotten
    folds = make_folds(3, POSITIVE, False)
    names = [n for n in REGRESSION if n in [*NAMES, "r2"]]
    search = al.MKLRegressorCV(KERNELS, alphas=ALPHAS, weighting="alignf")
    model = clone(search).set_params(cv=folds, scoring=names, refit="r2").fit(REAL, POSITIVE)
    grid = {"cv": folds, "scoring": names, "refit": False}
    grid = GridSearchCV(al.MKLRegressor(KERNELS), {"alpha": ALPHAS}, **grid).fit(REAL, POSITIVE)
    for name in names:
        found, expected = (r.cv_results_[f"mean_test_{name}"] for r in (model, grid))
        np.testing.assert_allclose(found, expected, atol=1e-7, err_msg=name)
        one = clone(search).set_params(cv="loo", scoring=name).fit(REAL, POSITIVE)
        assert np.isfinite(one.best_score_), name
    negative = make_scorer(max_error, greater_is_better=False)
    assert (
        clone(search).set_params(cv="loo", scoring=negative).fit(REAL, POSITIVE).best_score_ < 0.0
    )


def _f2(y, predicted):
    return fbeta_score(y, predicted, beta=2)


def _of_model(estimator, X, y):
    found = estimator.predict(X)
    return roc_auc_score(y, estimator.decision_function(X)) + accuracy_score(y, found)


@pytest.mark.parametrize("strategy", [None, "auto"])
def test_scorers_functions_and_several_by_name(strategy):
    X, y = TWO
    folds = make_folds(3, y, True)
    model = al.MKLClassifierCV(KERNELS, strategy=strategy, Cs=CS, cv=folds, tol=1e-9)
    model.set_params(weighting=None if strategy else "alignf")
    scorers = {"f2": make_scorer(fbeta_score, beta=2), "auc": "roc_auc", "both": _of_model}
    several = clone(model).set_params(scoring=scorers, refit="both").fit(X, y)
    table = several.cv_results_
    np.testing.assert_array_equal(table["mean_test_both"], table["mean_test_score"])
    one = clone(model).set_params(scoring=_of_model).fit(X, y)
    assert several.best_params_ == one.best_params_
    assert several.best_score_ == one.best_score_
    if strategy:
        return
    for name, scorer in (scorers | {"f2": _f2}).items():
        own = clone(model).set_params(scoring=scorer).fit(X, y).cv_results_["mean_test_score"]
        np.testing.assert_array_equal(table[f"mean_test_{name}"], own)
    names = ["accuracy", "roc_auc"]
    listed = clone(model).set_params(scoring=names, refit="roc_auc").fit(X, y)
    plain = al.MKLClassifier(KERNELS, tol=1e-9)
    grid = GridSearchCV(plain, {"C": CS}, cv=folds, scoring=names, refit="roc_auc").fit(X, y)
    for key in ("mean_test_accuracy", "std_test_roc_auc", "split2_test_roc_auc"):
        np.testing.assert_allclose(listed.cv_results_[key], grid.cv_results_[key], atol=1e-7)
    assert listed.best_params_ == grid.best_params_


def test_a_scorer_may_call_the_score_of_the_model():
    for model, (X, y), name in (
        (al.MKLClassifierCV(KERNELS, Cs=CS, cv=3, random_state=0), TWO, "accuracy"),
        (al.MKLRegressorCV(KERNELS, alphas=ALPHAS, cv=3, random_state=0), (REAL, POSITIVE), "r2"),
    ):
        own = clone(model).set_params(scoring=lambda m, X, y: m.score(X, y)).fit(X, y)
        assert own.best_score_ == clone(model).set_params(scoring=name).fit(X, y).best_score_


def test_scorers_see_the_samples_of_the_fold_only():
    X, y = TWO
    seen, folds = [], make_folds(3, y, True)

    def of_samples(estimator, X, y):
        seen.append(X.copy())
        return accuracy_score(y, estimator.predict(X))

    def of_others(estimator, X, y):
        return accuracy_score(y[:3], estimator.predict(X[:3]))

    model = al.MKLClassifierCV(KERNELS, weighting="alignf", Cs=[1.0], cv=folds, scoring=of_samples)
    model.fit(X, y)
    for found, (_, test) in zip(seen, folds):
        np.testing.assert_array_equal(found, X[test])
    with pytest.raises(ValueError, match="available for the samples of the fold only"):
        model.set_params(scoring=of_others).fit(X, y)


def test_weights_go_to_scorers_that_take_them():
    X, y = TWO
    weight = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    folds = make_folds(3, y, True)
    model = al.MKLClassifierCV(KERNELS, weighting="alignf", Cs=[1.0], cv=folds, tol=1e-9)
    model.set_params(scoring="roc_auc").fit(X, y, sample_weight=weight)
    train, test = folds[0]
    plain = al.MKLClassifier(KERNELS, C=1.0, tol=1e-9).fit(X[train], y[train], weight[train])
    want = roc_auc_score(y[test], plain.decision_function(X[test]), sample_weight=weight[test])
    np.testing.assert_allclose(model.cv_results_["split0_test_score"], want, atol=1e-9)
    regressor = al.MKLRegressorCV(KERNELS, weighting="alignf", cv=3, scoring="max_error")
    with pytest.raises(ValueError, match="max_error' takes no sample_weight"):
        regressor.fit(REAL, POSITIVE, sample_weight=np.arange(1.0, 81.0))


def test_errors():
    cases = (
        ({"scoring": "roc"}, "'roc' is not known; accepted: 'accuracy'.*get_scorer_names"),
        ({"scoring": {}, "refit": "a"}, "at least one"),
        ({"scoring": ["accuracy", "roc_auc"]}, "refit=None; accepted with several scores in scor"),
        ({"scoring": ["accuracy"], "refit": "roc_auc"}, "refit='roc_auc'"),
        ({"scoring": "accuracy", "refit": "accuracy"}, "refit='accuracy' names one of several"),
        ({"scoring": "r2_samples"}, "not known"),
        ({"scoring": "f1_samples"}, "scoring='f1_samples': "),
    )
    make = partial(al.MKLClassifierCV, KERNELS, Cs=[1.0], cv=3)
    calls = [(words, partial(make(**given).fit, *TWO), words) for given, words in cases]
    assert not_refused(calls) == []


def test_probabilities_of_a_fold_are_calibrated_by_other_samples():
    """Random labels: the log loss of a fold is not better than that of the class shares."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 20)), rng.integers(0, 2, 200)
    model = al.MKLClassifierCV([al.Gaussian(0.05)], Cs=[0.1, 1.0, 10.0], scoring="neg_log_loss")
    scores = model.fit(X, y).cv_results_["mean_test_score"]
    assert (scores < -np.log(2.0) + 0.02).all()
    X, y = TWO
    assert model.fit(X, y).best_score_ > -0.5 * log_loss(y, np.full(len(y), y.mean()))


def test_correlation_of_every_target():
    rng = np.random.default_rng(1)
    Y, P = rng.normal(size=(2, 30, 4))
    P[:, 3] = 1.0
    expected = [*(np.corrcoef(Y[:, k], P[:, k])[0, 1] for k in range(3)), 0.0]
    np.testing.assert_allclose(correlation_by_target(1e200 * Y, P), expected, atol=1e-12)
    weight = rng.integers(0, 3, 30)
    rows = np.repeat(np.arange(30), weight)
    found = correlation_by_target(Y, P, weight.astype(float))
    np.testing.assert_allclose(found, correlation_by_target(Y[rows], P[rows]), atol=1e-12)


@pytest.mark.parametrize(("cv", "weighted"), [("loo", True), (4, False)])
def test_per_target_by_correlation(cv, weighted):
    """Each target's score is the correlation with its predictions by the chosen penalty."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2, 1e3 * X[:, 2]])
    Y += 0.3 * Y.std(axis=0) * rng.normal(size=Y.shape)
    weight = rng.uniform(0.5, 2.0, 60) if weighted else np.ones(60)
    search = al.MKLRegressorCV([al.Gaussian(0.3)], scoring="correlation", alphas=ALPHAS, cv=cv)
    model = clone(search).set_params(per_target=True).fit(X, Y, sample_weight=weight)
    folds = [(np.delete(np.arange(60), k), [k]) for k in range(60)]
    folds = folds if cv == "loo" else make_folds(4, Y, False)
    every = []
    for alpha in ALPHAS:
        P = np.empty(Y.shape)
        one = al.MKLRegressor(model.kernels_, alpha=alpha / model.scale_[0], normalize=None)
        for train, test in folds:
            P[test] = one.fit(X[train], Y[train], weight[train]).predict(X[test])
        every.append(correlation_by_target(Y, P, weight))
    np.testing.assert_allclose(model.best_score_, np.max(every, axis=0), atol=1e-6)
    assert model.alpha_.tolist() == [ALPHAS[k] for k in np.argmax(every, axis=0)]
    assert "mean correlation by cross-validation" in model.summary()
    assert 0.5 < search.set_params(cv=4).fit(X, Y).best_score_ < 1.0  # the mean over targets


def test_scorers_see_a_data_frame_as_given():
    frame = pd.DataFrame({"size": REAL[:, 0], "kind": np.where(REAL[:, 1] > 0, "a", "b")})
    frame.loc[3, "size"] = np.nan
    high = np.nan_to_num(frame["size"]) + (frame["kind"] == "a") > 0.5
    seen = []

    def of_samples(estimator, X, y):
        seen.append(list(X.columns))
        return -np.abs(1.0 * y - estimator.predict(X)).mean()

    for make, y in ((al.MKLClassifierCV, high), (al.MKLRegressorCV, REAL[:, 0])):
        seen.clear()
        make(cv=2, scoring=of_samples).fit(frame, y)
        assert seen
        assert all(columns == ["size", "kind"] for columns in seen)
