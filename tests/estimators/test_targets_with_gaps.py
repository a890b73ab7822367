"""Targets with missing values: each is fitted on the samples that have it, exactly."""

import pickle
from functools import partial

import numpy as np
import pytest
from refusals import not_refused

import alignlearn as al

RNG = np.random.default_rng(0)
M = 36
X = RNG.normal(size=(M, 9))
FULL = np.c_[X[:, :3] @ [1, 2, 3], X[:, 3:6].sum(axis=1), X[:, 6:] @ [1, 1, -1], X[:, 0]]
FULL += 0.5 * RNG.normal(size=(M, 4))
Y = FULL.copy()
Y[:7, [0, 3]] = np.nan
Y[5:20, 2] = np.nan
Y[M - 1] = np.nan  # a sample without any target
WEIGHT = RNG.integers(0, 3, M).astype(float)
LINEAR = {"a": range(3), "b": range(3, 6), "c": range(6, 9)}
GAUSSIAN = {name: al.Columns(al.Gaussian(0.1), columns) for name, columns in LINEAR.items()}
GRAMS = {name: al.Linear()(X[:, list(columns)]) for name, columns in LINEAR.items()}
OPTIONS = {"per_target": True, "normalize": None, "alphas": np.logspace(-3, 3, 7)}
KINDS = {
    "features": (LINEAR, X, lambda rows: X[rows]),
    "pairs": (GAUSSIAN, X, lambda rows: X[rows]),
    "given": ("precomputed", al.GramStack(GRAMS), lambda rows: al.GramStack(GRAMS)[rows]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_targets_that_lack_the_same_are_fitted_as_if_alone(kind, weight):
    kernels, samples, part = KINDS[kind]
    model = al.MKLRegressorCV(kernels, missing="drop-per-target", **OPTIONS)
    model.fit(samples, Y, weight)
    found = model.predict(samples)
    for columns in ([0, 3], [1], [2]):
        rows = np.flatnonzero(np.isfinite(Y[:, columns[0]]))
        of_part = None if weight is None else weight[rows]
        alone = al.MKLRegressorCV(kernels, **OPTIONS).fit(
            part(rows), Y[np.ix_(rows, columns)], of_part
        )
        np.testing.assert_allclose(model.weights_[:, columns], alone.weights_, atol=1e-12)
        np.testing.assert_array_equal(model.alpha_[columns], alone.alpha_)
        np.testing.assert_allclose(model.best_score_[columns], alone.best_score_, atol=1e-10)
        np.testing.assert_allclose(found[:, columns], alone.predict(samples), atol=1e-8)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(samples), found)
    np.testing.assert_array_equal(model.candidates_[model.candidate_].T, model.weights_)


def test_predictions_and_scores_are_those_of_ridge_regression_on_these_samples():
    """By NumPy alone: ridge regression with an intercept, each fold left out in turn."""
    runs = np.arange(M) % 4
    model = al.MKLRegressorCV(LINEAR, missing="drop-per-target", cv=runs, **OPTIONS).fit(X, Y)
    for j in range(Y.shape[1]):
        Z = X * np.repeat(np.sqrt(model.weights_[:, j] * model.scale_), 3)
        y, rows = Y[:, j], np.flatnonzero(np.isfinite(Y[:, j]))

        def predicted(train, new, Z=Z, y=y, alpha=model.alpha_[j]):
            A, mean = Z[train] - Z[train].mean(axis=0), y[train].mean()
            coef = np.linalg.solve(A.T @ A + alpha * np.eye(9), A.T @ (y[train] - mean))
            return mean + (Z[new] - Z[train].mean(axis=0)) @ coef

        np.testing.assert_allclose(model.predict(X)[:, j], predicted(rows, slice(M)), atol=1e-8)
        parts = [(rows[runs[rows] != run], rows[runs[rows] == run]) for run in range(4)]
        errors = np.concatenate([y[test] - predicted(train, test) for train, test in parts])
        score = 1.0 - np.square(errors).sum() / np.square(y[rows] - y[rows].mean()).sum()
        assert model.best_score_[j] == pytest.approx(score, abs=1e-8)


def test_targets_without_gaps_are_fitted_as_ever():
    found = al.MKLRegressorCV(LINEAR, missing="drop-per-target", **OPTIONS).fit(X, FULL)
    expected = al.MKLRegressorCV(LINEAR, **OPTIONS).fit(X, FULL)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    one = al.MKLRegressorCV(LINEAR, missing="drop-per-target", **OPTIONS).fit(X, Y[:, 0])
    assert one.predict(X).shape == (M,)


def spoiled(rows, column, value=np.nan):
    changed = Y.copy()
    changed[rows, column] = value
    return changed


BAD = (
    (spoiled(slice(2, M), 1), {}, r"fewer than 3 values in 1 of 4 columns \(1\)"),
    (spoiled(slice(M), 1), {}, r"fewer than 3 values in 1 of 4 columns \(1\)"),
    (spoiled(slice(0, M - 1), 1, 2.0), {}, r"y is constant in 1 of 4 columns \(1"),
    (spoiled(0, 1, np.inf), {}, r"y contains infinity in 1 of 4 columns \(1\)"),
    (
        spoiled(slice(18, M), 1),
        {"cv": np.arange(M) // 18},
        "cv: all samples of the targets 1 are in",
    ),
    (Y, {"missing": None}, "y contains NaN or infinity in 4 of 4 columns"),
    (Y, {"missing": "drop"}, "missing='drop' is not known"),
    (Y, {"per_target": False}, "missing='drop-per-target' requires per_tar"),
)


def test_what_cannot_be_fitted_is_refused():
    cases = []
    for targets, options, words in BAD:
        model = al.MKLRegressorCV(LINEAR, **{"missing": "drop-per-target", **OPTIONS, **options})
        cases.append((words, partial(model.fit, X, targets), words))
    assert not_refused(cases) == []
