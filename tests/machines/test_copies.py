"""Training on one of equal samples gives the model of all samples."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone

import alignlearn as al
from alignlearn._pairs import PairCoefficients, stored_coefficients
from alignlearn.machines import SupportVectorClassifier, choice, copies, iterative_ridge, paths
from alignlearn.machines.copies import find_copies
from alignlearn.sources import open_source
from alignlearn.validation.row_hashes import first_copies


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def at_any_size(monkeypatch):
    """Few samples are trained on one of each, too."""

    def turn(on):
        monkeypatch.setattr(copies, "_LEAST", 1 if on else 10**9)

    turn(True)
    return turn


def table(rng, m=120, n=40):
    """Samples of which n are different, and targets that differ among equal ones."""
    X = rng.normal(size=(n, 3))[rng.integers(n, size=m)]
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=m)


def both(at_any_size, run):
    """The result on all samples, and on one of each."""
    at_any_size(False)
    every = run()
    at_any_size(True)
    return every, run()


@given(
    arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(1, 3)), elements=st.integers(0, 2))
)
def test_the_first_copies_are_those_of_a_loop(X):
    expected = [min(j for j in range(len(X)) if (X[j] == X[i]).all()) for i in range(len(X))]
    assert first_copies(X.astype(float)).tolist() == expected


def test_rows_that_are_not_equal_are_different(rng):
    X = rng.normal(size=(50, 40))
    near = X.copy()
    near[:, -1] = np.nextafter(near[:, -1], np.inf)
    assert first_copies(np.vstack([X, near])).tolist() == list(range(100))
    assert first_copies(np.vstack([X, X])).tolist() == [*range(50), *range(50)]
    assert first_copies(np.vstack([X, X]).astype(np.float32)).tolist() == [*range(50), *range(50)]
    assert first_copies(np.vstack([X, near]), most=0.9) is None
    assert first_copies(np.full((4, 2), np.nan)) is None
    zeros = np.array([[0.0], [-0.0], [1.0]])
    assert first_copies(zeros).tolist() == [0, 0, 2]


def test_groups_have_the_weights_and_means_of_their_samples(rng, at_any_size):
    X, y = table(rng)
    weight = rng.integers(0, 3, size=len(X)).astype(float)
    found = find_copies(open_source(X, al.Gaussian(0.5)), None, weight)
    for g, i in enumerate(found.first):
        same = (X[i] == X).all(axis=1)
        assert i == np.flatnonzero(same)[0]
        np.testing.assert_array_equal(found.group == g, same)
        np.testing.assert_allclose(found.weight[g], weight[same].sum())
        if weight[same].any():
            mean = np.average(y[same], weights=weight[same])
            np.testing.assert_allclose(found.means(y)[g], mean)
    assert np.all(np.diff(found.first) > 0)
    several = found.means(np.c_[y, -2.0 * y])
    np.testing.assert_allclose(several, np.c_[found.means(y), -2.0 * found.means(y)])


def test_few_copies_and_few_samples_are_left_as_they_are(rng, at_any_size):
    X = rng.normal(size=(100, 2))
    X[:9] = X[9]
    assert find_copies(open_source(X, al.Gaussian(0.5))) is None  # 91 of 100 are different
    X[:11] = X[11]
    assert len(find_copies(open_source(X, al.Gaussian(0.5))).first) == 89
    assert find_copies(open_source(X, al.Gaussian(0.5)), np.arange(30, 100)) is None
    at_any_size(False)
    assert find_copies(open_source(X, al.Gaussian(0.5))) is None


def compared(rng, at_any_size, model, X, y, weight, tol):
    """Fits on all samples and on one of each, whose values of new samples agree."""

    def fitted():
        return clone(model).fit(X, y, sample_weight=weight)

    every, one = both(at_any_size, fitted)
    new = rng.normal(size=(20, 3))
    found, expected = (getattr(m, "decision_function", m.predict)(new) for m in (one, every))
    np.testing.assert_allclose(found, expected, rtol=tol, atol=tol)
    return every, one


def weights_of(rng, weighted):
    return rng.integers(0, 4, size=120) + 0.5 if weighted else None


weighted_or_not = pytest.mark.parametrize("weighted", [False, True])


@weighted_or_not
@pytest.mark.parametrize("n_targets", [None, 2])
@pytest.mark.parametrize("factored", [True, False])
def test_ridge_regression_is_that_of_all_samples(
    rng, at_any_size, monkeypatch, weighted, n_targets, factored
):
    if not factored:
        monkeypatch.setattr(choice, "MOST_FACTORED", 1)
        monkeypatch.setattr(iterative_ridge, "_LEAST_STEPS", (1, 1))
        monkeypatch.setattr(iterative_ridge, "_FIT_STEPS", 1.0)
    X, y = table(rng)
    y = y if n_targets is None else np.c_[y, rng.normal(size=len(y))]
    weight = weights_of(rng, weighted)
    model = al.MKLRegressor([al.Gaussian(0.5), al.Linear()], alpha=0.3)
    tol = 1e-8 if factored else 1e-4  # of float32
    every, one = compared(rng, at_any_size, model, X, y, weight, tol)
    np.testing.assert_allclose(one.dual_coef_, every.dual_coef_, rtol=10 * tol, atol=10 * tol)
    np.testing.assert_array_equal(one.support_, every.support_)


def classes_of(rng, y, n_classes):
    """Labels that differ among some equal samples."""
    return np.array(list("abc"))[np.digitize(y, [0.0] if n_classes == 2 else [-0.7, 0.7])]


@weighted_or_not
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "how",
    [{}, {"class_weight": "balanced"}, {"machine": "krr"}, {"multiclass": "ovr", "memory": 30_000}],
)
def test_classifiers_are_those_of_all_samples(rng, at_any_size, weighted, n_classes, how):
    X, y = table(rng)
    labels = classes_of(rng, y, n_classes)
    weight = weights_of(rng, weighted)
    model = al.MKLClassifier([al.Gaussian(0.5), al.Linear()], C=3.0, tol=1e-8, **how)
    every, one = compared(rng, at_any_size, model, X, labels, weight, 1e-5)
    for known in (one, every):
        np.testing.assert_allclose(known.dual_coef_.sum(axis=0), 0.0, atol=1e-6)
        if "machine" not in how:
            assert known.machine_.duality_gap_.max() < 1e-5
    if not how:  # no sample has more than its own share of the penalty
        reach = 3.0 * (np.ones(120) if weight is None else weight)
        assert (np.abs(one.dual_coef_) <= reach[one.support_, None] * (1.0 + 1e-9)).all()


@weighted_or_not
def test_support_vector_regression_and_paths_of_ridge_are_those_of_all_samples(
    rng, at_any_size, weighted
):
    X, y = table(rng)
    weight = weights_of(rng, weighted)
    model = al.MKLRegressor([al.Gaussian(0.5)], machine="svr", C=2.0, tol=1e-8)
    compared(rng, at_any_size, model, X, y.round(), weight, 1e-5)
    combination = open_source(X, al.Gaussian(0.5), sample_weight=weight).combine([1.0])
    split = rng.permutation(120)[:90], np.arange(90, 120)
    how = combination, y, split, [0.1, 1.0, 10.0]
    every, one = both(at_any_size, lambda: paths.regressor_predictions(*how))
    np.testing.assert_allclose(one, every, rtol=1e-9, atol=1e-10)


@weighted_or_not
@pytest.mark.parametrize("memory", [None, 30_000])
@pytest.mark.parametrize("decisions", [False, True, "raw"])
def test_paths_of_classifiers_are_those_of_all_samples(
    rng, at_any_size, weighted, memory, decisions
):
    X, y = table(rng)
    combination = open_source(X, al.Gaussian(0.5), sample_weight=weights_of(rng, weighted))
    split = rng.permutation(120)[:90], np.arange(90, 120)
    make, labels = partial(SupportVectorClassifier, tol=1e-8), classes_of(rng, y, 3)
    given = make, combination.combine([1.0]), labels, split, [0.3, 3.0], decisions, memory
    every, one = both(at_any_size, lambda: paths.classifier_predictions(*given))
    for found, expected in zip(one, every):
        if decisions:
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(found, expected)


def test_many_equal_rows_do_not_make_a_table_large(rng):
    X = rng.integers(0, 4, size=(25_000, 3)).astype(float)
    y = X @ [1.0, -1.0, 0.5] + rng.normal(size=len(X))
    model = al.MKLRegressor([al.Gaussian(0.5)], weighting="uniform", normalize=None).fit(X, y)
    assert model.chosen_machine_ == "krr"
    grid, group = np.unique(X, axis=0, return_inverse=True)
    counts = np.bincount(group.reshape(-1))
    means = np.bincount(group.reshape(-1), y) / counts
    K = al.Gaussian(0.5)(grid)
    system = np.block([[K + np.diag(1.0 / counts), np.ones((64, 1))], [np.ones((1, 64)), 0.0]])
    coef = np.linalg.solve(system, [*means, 0.0])
    np.testing.assert_allclose(model.predict(grid), K @ coef[:-1] + coef[-1], rtol=1e-7)


def test_pairs_of_many_classes_stay_few_numbers(rng, at_any_size):
    X = rng.normal(size=(160, 3))[rng.integers(160, size=400)]
    labels = rng.permutation(np.arange(400) % 32)
    weight = rng.integers(0, 3, size=400) + (np.arange(400) < 300) * 0.5
    model = al.MKLClassifier([al.Gaussian(0.5)], C=3.0, tol=1e-8)
    every, one = compared(rng, at_any_size, model, X, labels, weight, 1e-5)
    new = rng.normal(size=(20, 3))
    stored = stored_coefficients(one.machine_)
    assert isinstance(stored, PairCoefficients)
    assert (stored.values != 0.0).all()
    K = al.Gaussian(0.5)(new, X[one.support_]) * one.scale_
    decisions = K @ one.dual_coef_ + one.intercept_
    raw = every.machine_.problem_decisions(al.Gaussian(0.5)(new, X) * every.scale_)
    np.testing.assert_allclose(decisions, raw, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(one.dual_coef_.sum(axis=0), 0.0, atol=1e-6)
