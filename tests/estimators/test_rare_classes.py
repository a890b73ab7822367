"""Training sets of searches with a missing class: against scikit-learn on the same folds."""

import numpy as np
import pytest
from refusals import raises
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import alignlearn as al
from alignlearn.solvers.multiclass import class_confidences, summed_decisions


def lines(sizes, seed=0):
    """Classes of these sizes, far apart on a line."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = np.c_[6.0 * y, np.zeros(len(y))]
    return X + 0.3 * np.random.default_rng(seed).normal(size=X.shape), y


def with_and_without_strategy(kernels, **options):
    options = {"Cs": [1.0], **options}
    auto = al.MKLClassifierCV(kernels, strategy="best", **options)
    return auto, al.MKLClassifierCV(kernels, weighting="uniform", **options)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("sizes", [(49, 50, 1), (30, 30, 30, 1), (1, 30, 30, 30, 1)])
def test_accuracy_of_folds_without_a_class(sizes, multiclass):
    X, y = lines(sizes)
    labels = 5 * y + 3
    cv = np.arange(len(y)) % 5
    folds = [(np.flatnonzero(cv != t), np.flatnonzero(cv == t)) for t in range(5)]
    expected = cross_val_score(SVC(kernel="rbf", gamma=0.1), X, labels, cv=folds)
    assert expected.min() < 1.0  # a class of one sample is an error
    for model in with_and_without_strategy([al.Gaussian(0.1)], multiclass=multiclass, cv=folds):
        model.fit(X, labels)
        results = model.cv_results_
        shown = results.get("mean_test_shown", results["mean_test_score"])
        assert shown[0] == pytest.approx(expected.mean())
        assert model.predict(X).tolist() == labels.tolist()


def test_scores_of_a_default_search():
    X, y = lines((49, 50, 1))
    model = al.MKLClassifierCV().fit(X, y)
    assert model.cv_results_["mean_test_shown"][model.best_index_] >= 0.99
    assert al.MKLClassifierCV(scoring="accuracy").fit(X, y).best_score_ == pytest.approx(0.99)
    words = r"fewer than two classes with two samples.*'a'"
    alone = np.arange(10.0)[:, None], ["a"] * 9 + ["b"]
    raises(ValueError, words, al.MKLClassifierCV(cv=2).fit, *alone)


def test_weights_that_empty_a_class():
    X, y = lines((20, 20, 20))
    weight = np.ones(60)
    weight[40:-1] = 0.0
    for model in with_and_without_strategy(["rbf"], scoring="accuracy"):
        model.fit(X, y, weight)
        scores = [model.cv_results_[f"split{t}_test_score"][0] for t in range(5)]
        assert sorted(scores)[1:] == [1.0] * 4
        assert min(scores) < 1.0
        with pytest.raises(ValueError, match="a training set holds 1 class only"):
            model.fit(X[20:], y[20:], weight[20:])


@pytest.mark.parametrize("weighting", ["uniform", "l1-svm", "auto"])
def test_weights_of_a_class_that_a_training_set_lacks(weighting):
    X, y = lines((20, 20, 20, 1))
    model = al.MKLClassifierCV(["rbf", "linear"], weighting=weighting, Cs=[1.0, 10.0], cv=3)
    model.set_params(class_weight={3: 2.0}).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    model.set_params(class_weight={4: 2.0})
    raises(ValueError, "class_weight has labels that are not in y", model.fit, X, y)


def test_class_weights_of_other_searches():
    X, y = lines((8, 8, 8, 1))
    hyper = al.HyperKernelClassifierCV(class_weight={3: 2.0}, cv=3, Cs=[1.0], alphas=[1.0])
    found = hyper.set_params(multiples=[1.0]).fit(X, y).best_score_
    assert found <= 1.0 - 1.0 / len(y) / 3
    grams = [X @ X.T, np.exp(-X @ X.T / 99)]
    model = al.MKLClassifier("precomputed", class_weight={3: 2.0})
    assert al.cross_validate_kernels(model, grams, y, cv=3)["test_score"].shape == (3,)
    model.class_weight = {4: 2.0}
    words = "class_weight has labels that are not in y"
    raises(ValueError, words, al.cross_validate_kernels, model, grams, y, cv=3)


def test_decisions_of_other_problems_are_refused():
    columns = np.ones((5, 3))
    raises(ValueError, r"\(5, 1\); accepted: \(n, 3\)", summed_decisions, columns[:, :1], 3)
    raises(ValueError, "of 4 classes", class_confidences, columns, np.arange(4), "ovr")
    raises(ValueError, r"accepted: \(n, 1\)", class_confidences, columns, np.arange(2), "ovo")
