"""Weights and alpha for every target: against refits, invariances, and the simulated truth."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from refusals import not_refused, raises
from scipy.optimize import nnls
from sklearn.metrics import r2_score
from sklearn.model_selection import GroupKFold, ShuffleSplit

import alignlearn as al
from alignlearn.estimators import per_target, target_search
from alignlearn.solvers.nnqp_rows import nonnegative_rows
from alignlearn.sources import open_source

SIZES = (4, 8, 30)
EDGES = np.cumsum([0, *SIZES])
PARTS = [slice(a, b) for a, b in pairwise(EDGES)]
LINEAR = [al.Columns(al.Linear(), part) for part in PARTS]
GAUSSIAN = [al.Columns(al.Gaussian(), part) for part in PARTS]
NARROW = [al.Columns(al.Linear(), PARTS[0]), al.Columns(al.Linear(), PARTS[1])]  # 12 < m columns
KINDS = pytest.mark.parametrize(
    "kernels", [LINEAR, GAUSSIAN, NARROW], ids=["dual", "rbf", "primal"]
)
WEIGHTED = pytest.mark.parametrize("weighted", [False, True])
ALPHAS = [0.01, 1.0, 30.0]


def design(m=36, q=5, seed=0):
    """Targets of one feature space each, in turn, and new samples."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m + 40, EDGES[-1]))
    signal = [X[:, PARTS[j % 3]] @ rng.normal(size=SIZES[j % 3]) for j in range(q)]
    Y = np.column_stack([s / s.std() for s in signal]) + 0.7 * rng.normal(size=(m + 40, q))
    return X[:m], Y[:m], X[m:], Y[m:]


def sample_weight(m, weighted):
    return np.random.default_rng(1).integers(1, 4, m).astype(float) if weighted else None


def combined(model, j):
    """The kernel of one target, with the values of the samples as numbers."""
    terms = zip(model.weights_[:, j] * model.scale_, model.kernels_)
    return sum(w * kernel for w, kernel in terms if w > 0.0)


def refit(model, j, X, y, weight):
    options = {"weighting": "uniform", "normalize": None, "machine": "krr"}
    machine = al.MKLRegressor([combined(model, j)], alpha=model.alpha_[j], **options)
    return machine.fit(X, y, weight)


def fitted(kernels, X, Y, weight=None, **options):
    return al.MKLRegressorCV(kernels, per_target=True, **options).fit(X, Y, weight)


@KINDS
@WEIGHTED
def test_predictions_are_those_of_a_machine_for_each_target(kernels, weighted):
    X, Y, new, _ = design()
    weight = sample_weight(len(X), weighted)
    model = fitted(kernels, X, Y, weight, alphas=ALPHAS)
    np.testing.assert_allclose(model.weights_.sum(axis=0), 1.0)
    found = model.predict(new)
    for j in range(Y.shape[1]):
        alone = refit(model, j, X, Y[:, j], weight)
        np.testing.assert_allclose(found[:, j], alone.predict(new), atol=1e-8)


@KINDS
@pytest.mark.parametrize(("cv", "weighted"), [("loo", True), (3, False), ("runs", True)])
def test_scores_are_those_of_refits(kernels, weighted, cv):
    """R^2 of predictions of each fold by a model that is fitted to the others."""
    X, Y, _, _ = design(q=3)
    weight, runs = sample_weight(len(X), weighted), np.arange(len(X)) // 9
    model = fitted(kernels, X, Y, weight, alphas=ALPHAS, cv=runs if cv == "runs" else cv)
    rows = np.arange(len(X))
    number = rows if cv == "loo" else runs
    splits = [(rows[number != k], rows[number == k]) for k in np.unique(number)]
    splits = model._splits(Y, None, weight) if cv == 3 else splits
    w = np.ones(len(X)) if weight is None else weight
    assert model.n_splits_ == len(splits)
    for j, y in enumerate(Y.T):
        predicted = np.empty(len(X))
        for train, test in splits:
            predicted[test] = refit(model, j, X[train], y[train], w[train]).predict(X[test])
        size = np.average(np.square(y - np.average(y, weights=w)), weights=w)
        expected = 1.0 - np.average(np.square(y - predicted), weights=w) / size
        assert model.best_score_[j] == pytest.approx(expected, abs=1e-8)


def test_small_penalties_are_not_perfect():
    """The direction of the constant, counted among those of the kernel, causes negative values."""
    X, Y, _, _ = design(m=20)
    noise = np.random.default_rng(3).normal(size=Y.shape)
    model = al.MKLRegressorCV(GAUSSIAN, per_target=True, alphas=[1e-8, 1e-6, 1e-3, 1e3])
    assert model.fit(X, noise).best_score_.max() < 0.5
    assert (model.alpha_ == 1e3).mean() > 0.5


def test_every_target_gets_its_own_space():
    """Closer to a machine on the true space of each target than to one set of weights for all."""
    X, Y, new, truth = design(m=200, q=30)
    model = fitted(LINEAR, X, Y)
    assert np.all(model.weights_.argmax(axis=0) == np.arange(30) % 3)
    found = r2_score(truth, model.predict(new))
    together = r2_score(truth, al.MKLRegressorCV(LINEAR).fit(X, Y).predict(new))
    known = [al.MKLRegressorCV([LINEAR[j % 3]]).fit(X, Y[:, j]) for j in range(30)]
    oracle = r2_score(truth, np.column_stack([one.predict(new) for one in known]))
    assert oracle - found < 0.25 * (oracle - together)
    assert np.all(model.best_score_ >= model.uniform_score_)
    assert np.isin(model.alpha_, np.logspace(-4.0, 4.0, 33)).all()  # the default penalties


def test_by_correlation_every_target_gets_its_own_space_too():
    """Each kernel alone is a candidate, so no target scores less than with its own kernel."""
    X, Y, _, _ = design(m=60, q=6)
    how = {"cv": "loo", "scoring": "correlation", "alphas": ALPHAS}
    model = fitted(LINEAR, X, Y, **how)
    assert np.all(model.weights_.argmax(axis=0) == np.arange(6) % 3)
    own = [fitted([LINEAR[j % 3]], X, Y[:, [j]], **how).best_score_[0] for j in range(6)]
    assert np.all(model.best_score_ >= np.array(own) - 1e-9)


def search_of(X, Y, few=None):
    source = open_source(X, [k.resolve(X) for k in GAUSSIAN])
    rows, targets = np.arange(0, len(X), 2), per_target.open_targets
    some = partial(targets, source.part(rows), Y[rows], np.ones(3))
    rng, all_of_them = np.random.default_rng(0), targets(source, Y, np.ones(3))
    return target_search.choose(all_of_them, ALPHAS, rng, few=(lambda rng: some()) if few else None)


def test_a_first_search_on_some_samples_leaves_out_drawn_weights_only():
    X, Y, _, _ = design(m=120, q=12)
    every, few = search_of(X, Y), search_of(X, Y, few=True)
    np.testing.assert_array_equal(few.candidates, every.candidates)
    np.testing.assert_array_equal(few.uniform_score, every.uniform_score)
    assert np.all(few.score <= every.score)
    assert np.mean(every.score - few.score) < 0.005
    drawn = len(every.candidates) - 32
    # Given weights that were not drawn are used after the first search, too.
    same = every.chosen < drawn
    assert 0 < same.sum() < 12
    np.testing.assert_array_equal(few.chosen[same], every.chosen[same])
    # A target that is constant on the samples of the first search is searched on all.
    Y[:, 1] = 0.0
    Y[1::2, 1] = X[1::2, 0]
    found = search_of(X, Y, few=True)
    assert np.isfinite(found.score).all()
    assert found.chosen[1] < len(found.candidates) - 32


def test_many_samples_of_kernels_without_features_are_searched_on_a_thousand_first():
    X, Y, _, _ = design(m=1500, q=2)
    folds, rng = [np.arange(0, 700), np.arange(700, 1500)], np.random.default_rng
    linear = open_source(X, [k.resolve(X) for k in NARROW])
    assert per_target.first_targets(linear, Y, np.ones(2), folds, rng(0)) is None
    source = open_source(X, [GAUSSIAN[0].resolve(X)])
    less = source.part(np.arange(1499))
    assert per_target.first_targets(less, Y[:-1], np.ones(1), None, rng(0)) is None
    found = per_target.first_targets(source, Y, np.ones(1), folds, rng(0))
    assert found.Y.shape == (1000, 2)
    np.testing.assert_array_equal(np.sort(np.concatenate(found.folds)), np.arange(1000))
    assert per_target.first_targets(source, Y, np.ones(1), None, rng(0)).folds is None


def test_equal_weights_have_an_alpha_for_every_target():
    X, Y, _, _ = design()
    model = fitted(LINEAR, X, Y, weighting="uniform", alphas=ALPHAS)
    np.testing.assert_array_equal(model.weights_, np.full((3, 5), 1 / 3))
    np.testing.assert_array_equal(model.best_score_, model.uniform_score_)
    plain = al.MKLRegressorCV(LINEAR, weighting="uniform", alphas=ALPHAS)
    assert model.alpha_.tolist() == [plain.fit(X, y).alpha_ for y in Y.T]


@pytest.mark.parametrize("seed", range(2))
def test_the_penalty_is_the_best_of_all_that_are_given(seed):
    """Also if leave-one-out decreases slowly from the penalty of generalized cross-validation."""
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(30, 80)), int(rng.integers(3, 120))
    X, alphas = rng.normal(size=(m, d)), np.logspace(-3, 4, 15)
    Y = X[:, :3] @ rng.normal(size=(3, 20)) * rng.exponential(size=20) + rng.normal(size=(m, 20))
    kernel = al.Gaussian(1 / d) if seed % 2 else "linear"
    found = fitted(kernel, X, Y, alphas=alphas, normalize=None)
    single = [fitted(kernel, X, Y, alphas=[a], normalize=None).best_score_ for a in alphas]
    assert found.best_score_ == pytest.approx(np.max(single, axis=0), abs=1e-9)


def test_targets_do_not_depend_on_how_many_are_held_at_once(monkeypatch):
    from alignlearn.machines import target_ridge

    X, Y, new, _ = design(q=9)
    for kernels in (LINEAR, GAUSSIAN):
        model = al.MKLRegressorCV(kernels, per_target=True)
        first = model.fit(X, Y).predict(new)
        monkeypatch.setattr(target_ridge, "_BLOCK", 2 * len(X))
        np.testing.assert_allclose(model.fit(X, Y).predict(new), first, atol=1e-10)
        monkeypatch.undo()


@pytest.mark.parametrize("linear", [True, False])
def test_predictions_do_not_depend_on_the_order_of_the_targets(linear):
    rng = np.random.default_rng(0)
    spaces = {name: rng.normal(size=(120, d)) for name, d in (("a", 5), ("b", 8), ("c", 12))}
    shares = rng.dirichlet(np.full(3, 0.5), 40)
    signals = [Z @ rng.normal(size=(Z.shape[1], 40)) / Z.shape[1] ** 0.5 for Z in spaces.values()]
    Y = sum(s * np.sqrt(share) for s, share in zip(signals, shares.T)) + rng.normal(size=(120, 40))
    model = al.MKLRegressorCV(dict.fromkeys(spaces, "linear"), per_target=True, random_state=0)
    if not linear:
        model.set_params(kernels=dict.fromkeys(spaces, "rbf"))
    found = model.fit(spaces, Y).predict(spaces)
    order = rng.permutation(40)
    again = model.fit(spaces, Y[:, order]).predict(spaces)
    np.testing.assert_allclose(again, found[:, order], atol=1e-6)


def test_one_target_and_given_matrices():
    X, Y, new, _ = design()
    grams = [X[:, part] @ X[:, part].T for part in PARTS]
    against = [new[:, part] @ X[:, part].T for part in PARTS]
    model = fitted(LINEAR, X, Y[:, 0], alphas=ALPHAS)
    found = model.predict(new)
    assert (found.shape, model.weights_.shape, model.alpha_.shape) == ((40,), (3, 1), (1,))
    given = fitted("precomputed", grams, Y[:, 0], alphas=ALPHAS)
    np.testing.assert_allclose(given.predict(against), found, atol=1e-8)


def test_what_does_not_go_together_and_what_cannot_be_learned():
    X, Y, _, _ = design()
    constant, missing, K = Y.copy(), Y.copy(), X @ X.T
    constant[:, 1], missing[0, 1] = 3.0, np.nan
    indefinite = al.Precomputed(K - 0.3 * np.trace(K) / len(K) * np.eye(len(K)), is_psd=False)
    cut = ShuffleSplit(3, train_size=10, test_size=5, random_state=0)
    cases = (
        ({"weighting": "align"}, X, Y, "weighting='align' is not available for per_target"),
        ({"machine": "svr"}, X, Y, "machine='svr': per_target=True accepts only"),
        ({"scoring": "neg_mean_absolute_error"}, X, Y, "scoring='neg_mean_absolute_error' is not"),
        ({"per_target": "yes"}, X, Y, "per_target must be True or False"),
        ({"alphas": [0.0, 1.0]}, X, Y, "alphas=0.0 is out of range"),
        ({"cv": cut}, X, Y, "training set must be all samples that are not tested"),
        ({}, X, constant, r"y is constant in 1 of 5 columns \(1\)"),
        ({}, X, missing, r"y contains NaN or infinity in 1 of 5 columns \(1\)"),
        ({}, 2.0**-300 * X, Y, "every kernel is constant"),
        ({"kernels": [indefinite]}, np.arange(len(K))[:, None], Y, "combination has an eigenvalue"),
    )
    calls = []
    for options, samples, targets, words in cases:
        model = al.MKLRegressorCV(**{"kernels": LINEAR, "per_target": True, **options})
        calls.append((words, partial(model.fit, samples, targets), words))
    assert not_refused(calls) == []
    groups = np.arange(len(X)) // 6
    model = al.MKLRegressorCV(LINEAR, per_target=True, cv=GroupKFold(3))
    assert model.fit(X, Y, groups=groups).n_splits_ == 3


def test_another_fit_leaves_nothing_of_the_first():
    X, Y, _, _ = design()
    flat = X.copy()
    flat[:, PARTS[1]] = 2.0  # a constant kernel has no weight
    assert not fitted(LINEAR, flat, Y).weights_[1].any()
    model = fitted(LINEAR, X, Y)
    assert "5 targets: mean R^2" in model.summary()
    assert "means over 5 targets" in model._repr_html_()
    raises(ValueError, "every target has its own", model.bound)
    assert not hasattr(model, "kernel_")
    model.set_params(per_target=False).fit(X, Y)
    assert not hasattr(model, "candidates_")
    assert model.summary().startswith("kernel")
    model.set_params(per_target=True).fit(X, Y)
    assert not hasattr(model, "cv_results_")


def test_many_small_programs_are_solved_like_one_by_one():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(9, 5))
    M, A = factor.T @ factor, rng.normal(size=(40, 5))
    found = nonnegative_rows(M, A, tol=1e-12)
    root = np.linalg.cholesky(M).T
    expected = [nnls(root, np.linalg.solve(root.T, a))[0] for a in A]
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("given", [False, True], ids=["samples", "matrices"])
def test_single_precision_is_rounded_and_not_refused(given):
    """Eigenvalues made negative by rounding to float32 do not mean an indefinite kernel."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(90, 3)).astype(np.float32)
        Y = X @ rng.normal(size=(3, 2)) + 0.3 * rng.normal(size=(90, 2))
        kernels, single, double = [al.Gaussian(0.03), al.Gaussian(0.3)], X, X.astype(float)
        if given:
            single = [kernel(X).astype(np.float32) for kernel in kernels]
            kernels, double = "precomputed", [kernel(X.astype(float)) for kernel in kernels]
        found, expected = (
            fitted(kernels, samples, Y, weighting="uniform", alphas=ALPHAS).best_score_
            for samples in (single, double)
        )
        np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize(("kernels", "exponent"), [(LINEAR, -1000), (NARROW, 1000)])
def test_units_whose_squares_float64_does_not_hold(kernels, exponent):
    """Of targets, and of samples: squares of the kernels' factors are beyond float64."""
    X, Y, new, _ = design()
    model = fitted(kernels, X, Y, alphas=ALPHAS)
    expected, scores, unit = model.predict(new), model.best_score_, 2.0**exponent
    np.testing.assert_allclose(model.fit(X, unit * Y).predict(new) / unit, expected, atol=1e-12)
    np.testing.assert_array_equal(model.best_score_, scores)
    unit = 2.0**-258
    np.testing.assert_allclose(model.fit(unit * X, Y).predict(unit * new), expected, atol=1e-8)


def test_blas_has_one_thread_while_few_targets_are_fitted():
    from threadpoolctl import threadpool_info, threadpool_limits

    X, Y, _, _ = design(q=3)
    seen = []

    def watch(done, total, what):
        seen.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")

    with threadpool_limits(2, user_api="blas"):
        model = al.MKLRegressorCV(["linear", "rbf"], per_target=True, cv=3, verbose=watch)
        model.fit(X, Y)
        after = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    assert seen[-1] == 1
    assert after == [2] * len(after)
