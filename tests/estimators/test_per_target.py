"""Weights and alpha for every target: against refits, invariances, and the simulated truth."""

import pickle
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from refusals import not_refused
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


@KINDS
@WEIGHTED
def test_predictions_are_those_of_a_machine_for_each_target(kernels, weighted):
    X, Y, new, _ = design()
    weight = sample_weight(len(X), weighted)
    model = al.MKLRegressorCV(kernels, per_target=True, alphas=ALPHAS).fit(X, Y, weight)
    found = model.predict(new)
    assert found.shape == (len(new), Y.shape[1])
    assert (model.weights_.shape, model.alpha_.shape) == ((len(kernels), 5), (5,))
    np.testing.assert_allclose(model.weights_.sum(axis=0), 1.0)
    for j in range(Y.shape[1]):
        alone = refit(model, j, X, Y[:, j], weight)
        np.testing.assert_allclose(found[:, j], alone.predict(new), atol=1e-8)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(new), found)


@KINDS
@pytest.mark.parametrize(("cv", "weighted"), [("loo", True), (3, False), ("runs", True)])
def test_scores_are_those_of_refits(kernels, weighted, cv):
    """R^2 of predictions of each fold by a model that is fitted to the others."""
    X, Y, _, _ = design(q=3)
    weight, runs = sample_weight(len(X), weighted), np.arange(len(X)) // 9
    folds = {"loo": range(len(X)), 3: None, "runs": runs}[cv]
    model = al.MKLRegressorCV(
        kernels, per_target=True, alphas=ALPHAS, cv=runs if cv == "runs" else cv
    )
    model.fit(X, Y, weight)
    if folds is None:
        splits = model._splits(Y, None, weight)
    else:
        splits = [(np.flatnonzero(folds != np.array(k)), np.flatnonzero(folds == np.array(k)))
                  for k in np.unique(folds)]  # fmt: skip
    w = np.ones(len(X)) if weight is None else weight
    assert model.n_splits_ == len(splits)
    for j in range(Y.shape[1]):
        predicted = np.empty(len(X))
        for train, test in splits:
            machine = refit(model, j, X[train], Y[train, j], None if weight is None else w[train])
            predicted[test] = machine.predict(X[test])
        y = Y[:, j]
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
    model = al.MKLRegressorCV(LINEAR, per_target=True).fit(X, Y)
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
    how = {"per_target": True, "cv": "loo", "scoring": "correlation", "alphas": ALPHAS}
    model = al.MKLRegressorCV(LINEAR, **how).fit(X, Y)
    assert np.all(model.weights_.argmax(axis=0) == np.arange(6) % 3)
    alone = [al.MKLRegressorCV([LINEAR[j % 3]], **how).fit(X, Y[:, [j]]) for j in range(6)]
    own = np.concatenate([one.best_score_ for one in alone])
    assert np.all(model.best_score_ >= own - 1e-9)


def search_of(X, Y, few=None):
    source = open_source(X, [k.resolve(X) for k in GAUSSIAN])
    targets = per_target.open_targets(source, Y, np.ones(3))
    rows = np.arange(0, len(X), 2)

    def some(rng):
        return per_target.open_targets(source.part(rows), Y[rows], np.ones(3))

    rng = np.random.default_rng(0)
    return target_search.choose(targets, ALPHAS, rng, few=some if few else None)


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


def test_a_target_that_is_constant_on_some_samples_is_searched_on_all():
    X, Y, _, _ = design(m=60, q=3)
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
    model = al.MKLRegressorCV(LINEAR, per_target=True, weighting="uniform", alphas=ALPHAS)
    model.fit(X, Y)
    np.testing.assert_array_equal(model.weights_, np.full((3, 5), 1 / 3))
    np.testing.assert_array_equal(model.best_score_, model.uniform_score_)
    for j in range(5):
        alone = al.MKLRegressorCV(LINEAR, weighting="uniform", alphas=ALPHAS).fit(X, Y[:, j])
        assert model.alpha_[j] == alone.alpha_


@pytest.mark.parametrize("seed", range(2))
def test_the_penalty_is_the_best_of_all_that_are_given(seed):
    """Also if leave-one-out decreases slowly from the penalty of generalized cross-validation."""
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(30, 80)), int(rng.integers(3, 120))
    X, alphas = rng.normal(size=(m, d)), np.logspace(-3, 4, 15)
    Y = X[:, :3] @ rng.normal(size=(3, 20)) * rng.exponential(size=20) + rng.normal(size=(m, 20))
    kernel = al.Gaussian(1 / d) if seed % 2 else "linear"
    options = {"per_target": True, "normalize": None}
    found = al.MKLRegressorCV(kernel, alphas=alphas, **options).fit(X, Y)
    single = [al.MKLRegressorCV(kernel, alphas=[a], **options).fit(X, Y) for a in alphas]
    scores = np.array([one.best_score_ for one in single])
    assert found.best_score_ == pytest.approx(scores.max(axis=0), abs=1e-9)


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
    model = al.MKLRegressorCV(LINEAR, per_target=True, alphas=ALPHAS).fit(X, Y[:, 0])
    found = model.predict(new)
    assert (found.shape, model.weights_.shape, model.alpha_.shape) == ((40,), (3, 1), (1,))
    given = al.MKLRegressorCV("precomputed", per_target=True, alphas=ALPHAS).fit(grams, Y[:, 0])
    np.testing.assert_allclose(given.predict(against), found, atol=1e-8)


def test_splitters_with_groups():
    X, Y, _, _ = design()
    groups = np.arange(len(X)) // 6
    model = al.MKLRegressorCV(LINEAR, per_target=True, cv=GroupKFold(3)).fit(X, Y, groups=groups)
    assert model.n_splits_ == 3
    cut = ShuffleSplit(3, train_size=10, test_size=5, random_state=0)
    with pytest.raises(ValueError, match="training set must be all samples that are not tested"):
        al.MKLRegressorCV(LINEAR, per_target=True, cv=cut).fit(X, Y)


def test_what_does_not_go_together_and_what_cannot_be_learned():
    X, Y, _, _ = design()
    constant, missing = Y.copy(), Y.copy()
    constant[:, 1], missing[0, 1] = 3.0, np.nan
    cases = (
        ({"weighting": "align"}, Y, "weighting='align' is not available for per_target"),
        ({"machine": "svr"}, Y, "machine='svr': per_target=True accepts only"),
        ({"scoring": "neg_mean_absolute_error"}, Y, "scoring='neg_mean_absolute_error' is not"),
        ({"per_target": "yes"}, Y, "per_target must be True or False"),
        ({"alphas": [0.0, 1.0]}, Y, "alphas=0.0 is out of range"),
        ({}, constant, r"y is constant in 1 of 5 columns \(1\)"),
        ({}, missing, r"y contains NaN or infinity in 1 of 5 columns \(1\)"),
    )
    calls = []
    for options, targets, words in cases:
        model = al.MKLRegressorCV(LINEAR, **{"per_target": True, **options})
        calls.append((words, partial(model.fit, X, targets), words))
    assert not_refused(calls) == []


def test_constant_kernels_have_no_weight():
    X, Y, _, _ = design()
    X[:, PARTS[1]] = 2.0
    model = al.MKLRegressorCV(LINEAR, per_target=True).fit(X, Y)
    assert not model.weights_[1].any()
    np.testing.assert_allclose(model.weights_.sum(axis=0), 1.0)


def test_another_fit_leaves_nothing_of_the_first():
    X, Y, _, _ = design()
    model = al.MKLRegressorCV(LINEAR, per_target=True).fit(X, Y)
    assert "5 targets: mean R^2" in model.summary()
    assert "Weights are not contributions" in model.summary()
    assert "means over 5 targets" in model._repr_html_()
    with pytest.raises(ValueError, match="every target has its own"):
        model.bound()
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


@pytest.mark.parametrize("kernels", [LINEAR, NARROW], ids=["dual", "primal"])
def test_tiny_units_change_nothing(kernels):
    """Squares of the kernels' factors are beyond float64, those of their values are not."""
    X, Y, new, _ = design()
    model = al.MKLRegressorCV(kernels, per_target=True, alphas=ALPHAS)
    expected, unit = model.fit(X, Y).predict(new), 2.0**-258
    np.testing.assert_allclose(model.fit(unit * X, Y).predict(unit * new), expected, atol=1e-8)
    with pytest.raises(ValueError, match="every kernel is constant"):
        model.fit(2.0**-300 * X, Y)


@pytest.mark.parametrize("given", [False, True], ids=["samples", "matrices"])
def test_single_precision_is_rounded_and_not_refused(given):
    """Eigenvalues made negative by rounding to float32 do not mean an indefinite kernel."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(90, 3)).astype(np.float32)
        Y = X @ rng.normal(size=(3, 2)) + 0.3 * rng.normal(size=(90, 2))
        single, double = X, X.astype(float)
        if given:
            single = [al.Gaussian(g)(X).astype(np.float32) for g in (0.03, 0.3)]
            double = [al.Gaussian(g)(X.astype(float)) for g in (0.03, 0.3)]
        kernels = "precomputed" if given else [al.Gaussian(0.03), al.Gaussian(0.3)]
        options = {"per_target": True, "weighting": "uniform", "alphas": ALPHAS}
        model = al.MKLRegressorCV(kernels, **options)
        expected = model.fit(double, Y).best_score_
        np.testing.assert_allclose(model.fit(single, Y).best_score_, expected, atol=1e-3)


@pytest.mark.parametrize(("kernels", "exponent"), [(LINEAR, -1000), (NARROW, 1000)])
def test_units_of_targets_whose_squares_float64_does_not_hold(kernels, exponent):
    X, Y, new, _ = design()
    model = al.MKLRegressorCV(kernels, per_target=True, alphas=ALPHAS)
    expected = model.fit(X, Y).predict(new)
    scores, unit = model.best_score_, 2.0**exponent
    found = model.fit(X, unit * Y).predict(new)
    np.testing.assert_allclose(found / unit, expected, atol=1e-12)
    np.testing.assert_array_equal(model.best_score_, scores)


def test_an_indefinite_matrix_is_refused():
    X, Y, _, _ = design()
    K = X @ X.T
    K -= 0.3 * np.trace(K) / len(K) * np.eye(len(K))
    kernel = al.Precomputed(K, is_psd=False)
    with pytest.raises(ValueError, match="the centered combination has an eigenvalue of -"):
        al.MKLRegressorCV([kernel], per_target=True).fit(np.arange(len(K))[:, None], Y)


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
