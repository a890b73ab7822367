"""Tuned estimators against grid search, refits without one sample, and scikit-learn's checks."""

import weakref
from functools import partial

import numpy as np
import pytest
import scipy.sparse
from refusals import not_refused
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import alignlearn as al
from alignlearn.engine.cpu import Cpu
from alignlearn.engine.threads import thread_count
from alignlearn.machines import KernelRidge, paths

KERNELS = al.gaussian_kernels(2.0 ** np.arange(-6, 0))
CS = [1.0, 0.1, 100.0, 10.0]
ALPHAS = [1e-2, 1e2, 1.0]


def two_classes(m=120, seed=0):
    X, y = make_classification(m, 6, n_informative=4, n_redundant=0, flip_y=0.15, random_state=seed)
    return StandardScaler().fit_transform(X), y


def smooth(m=90, seed=0, columns=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    y = np.stack([np.sin(X[:, c]) + 0.2 * rng.normal(size=m) for c in range(columns)], axis=1)
    return X, y[:, 0] if columns == 1 else y


def assert_same_search(tuned, grid, rtol=1e-8):
    """The same candidates in the same order, scores, ranks and choice as a GridSearchCV."""
    ours, theirs = tuned.cv_results_, grid.cv_results_
    for key in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(ours[key], theirs[key], rtol=rtol, atol=1e-12)
    for t in range(grid.n_splits_):
        key = f"split{t}_test_score"
        np.testing.assert_allclose(ours[key], theirs[key], rtol=rtol)
    # scikit-learn ranks scores that differ by rounding differently.
    scores = theirs["mean_test_score"]
    ranks = [1 + np.sum(scores > score + 1e-12 * np.abs(scores).max()) for score in scores]
    np.testing.assert_array_equal(ours["rank_test_score"], ranks)
    assert ours["params"] == theirs["params"]
    assert tuned.best_index_ == np.argmin(ranks)
    assert tuned.best_params_ == grid.cv_results_["params"][tuned.best_index_]
    np.testing.assert_allclose(tuned.best_score_, grid.best_score_, rtol=rtol)
    assert tuned.n_splits_ == grid.n_splits_


@pytest.mark.parametrize(
    ("weighting", "normalize"), [("alignf", "trace"), ("align-lq", None), ("uniform", "trace")]
)
def test_classifier_equals_grid_search(weighting, normalize):
    X, y = two_classes()
    cv = list(StratifiedKFold(4, shuffle=True, random_state=1).split(X, y))
    options = {"weighting": weighting, "normalize": normalize, "tol": 1e-8}
    tuned = al.MKLClassifierCV(KERNELS, Cs=CS, cv=cv, **options).fit(X, y)
    grid = GridSearchCV(al.MKLClassifier(KERNELS, **options), {"C": CS}, cv=cv).fit(X, y)
    assert_same_search(tuned, grid)
    # Means that are equal except rounding are a tie here, and may not be one in the grid search.
    best = clone(grid.estimator).set_params(C=tuned.C_).fit(X, y)
    np.testing.assert_allclose(
        tuned.decision_function(X), best.decision_function(X), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_array_equal(tuned.weights_, best.weights_)
    assert tuned.score(X, y) == best.score(X, y)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_more_classes_with_class_weights_and_overlapping_test_sets(multiclass):
    """Shuffle splits are no partition: each training set then gets its own statistics."""
    X, y = load_iris(return_X_y=True)
    X = X[:, :2] + 0.5 * np.random.default_rng(0).normal(size=(150, 2))
    cv = list(ShuffleSplit(3, test_size=0.4, random_state=0).split(X))
    options = {"multiclass": multiclass, "class_weight": "balanced", "tol": 1e-8}
    options["weighting"] = "align"
    tuned = al.MKLClassifierCV(KERNELS, Cs=CS, cv=cv, **options).fit(X, y)
    grid = GridSearchCV(al.MKLClassifier(KERNELS, **options), {"C": CS}, cv=cv).fit(X, y)
    assert_same_search(tuned, grid)
    np.testing.assert_array_equal(tuned.predict(X), grid.predict(X))


@pytest.mark.parametrize("columns", [1, 2])
def test_ridge_equals_grid_search(columns):
    X, y = smooth(columns=columns)
    cv = list(KFold(5, shuffle=True, random_state=0).split(X))
    tuned = al.MKLRegressorCV(KERNELS, weighting="alignf", alphas=ALPHAS, cv=cv).fit(X, y)
    grid = GridSearchCV(
        al.MKLRegressor(KERNELS), {"alpha": ALPHAS}, cv=cv, scoring="neg_root_mean_squared_error"
    ).fit(X, y)
    assert_same_search(tuned, grid)
    assert tuned.alpha_ == grid.best_params_["alpha"]
    assert not hasattr(tuned, "C_")
    np.testing.assert_allclose(tuned.predict(X), grid.predict(X), rtol=1e-12)


@pytest.mark.parametrize("columns", [1, 2])
def test_support_vector_regression_equals_grid_search(columns):
    X, y = smooth(columns=columns)
    cv = list(KFold(3).split(X))
    options = {"machine": "svr", "epsilon": 0.05, "tol": 1e-9}
    tuned = al.MKLRegressorCV(KERNELS, weighting="alignf", Cs=CS, cv=cv, **options).fit(X, y)
    grid = GridSearchCV(
        al.MKLRegressor(KERNELS, **options),
        {"C": CS},
        cv=cv,
        scoring="neg_root_mean_squared_error",
    ).fit(X, y)
    assert_same_search(tuned, grid, rtol=1e-6)
    assert grid.best_params_["C"] == tuned.C_
    assert not hasattr(tuned, "alpha_")
    np.testing.assert_allclose(tuned.predict(X), grid.predict(X), rtol=1e-12)
    assert tuned.predict(X).shape == y.shape


def test_a_list_of_weightings_is_searched_too():
    X, y = two_classes()
    cv = list(StratifiedKFold(3).split(X, y))
    rules = ["uniform", al.AlignLq(q=1.2), al.AlignLq(q=4.0)]
    tuned = al.MKLClassifierCV(KERNELS, weighting=rules, Cs=CS, cv=cv, tol=1e-8).fit(X, y)
    base = al.MKLClassifier(KERNELS, tol=1e-8)
    grid = GridSearchCV(base, {"C": CS, "weighting": rules}, cv=cv).fit(X, y)
    assert_same_search(tuned, grid)
    assert tuned.weighting_ is grid.best_params_["weighting"]
    assert list(tuned.cv_results_["param_weighting"]) == 4 * rules


@pytest.mark.parametrize("weighting", ["lkrr", al.LKRR(), ["align", "lkrr"]])
def test_one_stage_rules_equal_grid_search(weighting):
    """By name they take the machine's alpha, so their weights differ between candidates."""
    X, y = smooth(m=45)
    cv = list(KFold(3).split(X))
    tuned = al.MKLRegressorCV(KERNELS[:3], weighting=weighting, alphas=ALPHAS, cv=cv).fit(X, y)
    several = isinstance(weighting, list)
    base = al.MKLRegressor(KERNELS[:3], weighting="align" if several else weighting)
    grid = {"alpha": ALPHAS, **({"weighting": weighting} if several else {})}
    scoring = "neg_root_mean_squared_error"
    expected = GridSearchCV(base, grid, cv=cv, scoring=scoring).fit(X, y)
    assert_same_search(tuned, expected)
    np.testing.assert_array_equal(tuned.weights_, expected.best_estimator_.weights_)


@pytest.mark.parametrize("columns", [1, 2])
def test_leave_one_out_equals_refits(columns):
    """The kernel is that of all samples; the machine is refitted without each sample."""
    X, y = smooth(m=25, columns=columns)
    tuned = al.MKLRegressorCV(KERNELS, alphas=ALPHAS).fit(X, y)
    K = tuned.kernel_(X)
    for alpha, score in zip(ALPHAS, tuned.cv_results_["mean_test_score"]):
        errors = np.empty((25, columns))
        for i in range(25):
            rest = np.flatnonzero(np.arange(25) != i)
            machine = KernelRidge(alpha).fit(K[np.ix_(rest, rest)], y[rest])
            errors[i] = y[i] - machine.predict(K[[i]][:, rest])[0]
        expected = -np.sqrt(np.mean(errors**2, axis=0)).mean()
        assert score == pytest.approx(expected, rel=1e-9)
    assert tuned.n_splits_ == 25
    assert tuned.best_score_ == tuned.cv_results_["split0_test_score"].max()


def test_default_is_leave_one_out_for_one_weighting_only():
    X, y = smooth()
    alphas = [0.1, 1.0]
    one = al.MKLRegressorCV(KERNELS, alphas=alphas).fit(X, y)
    explicit = al.MKLRegressorCV(KERNELS, alphas=alphas, cv="loo").fit(X, y)
    assert one.best_score_ == explicit.best_score_
    assert one.n_splits_ == 90
    several = al.MKLRegressorCV(KERNELS, alphas=alphas, weighting=["align", "alignf"]).fit(X, y)
    assert several.n_splits_ == 5
    assert (
        al.MKLRegressorCV(KERNELS, weighting="alignf", machine="svr", Cs=[1.0]).fit(X, y).n_splits_
        == 5
    )


def test_given_grams_equal_kernels():
    X, y = two_classes(60)
    grams = [k(X) for k in KERNELS]
    cv = np.arange(60) % 4
    options = {"Cs": CS, "cv": cv, "tol": 1e-8}
    tuned = al.MKLClassifierCV("precomputed", **options).fit(grams, y)
    expected = al.MKLClassifierCV(KERNELS, **options).fit(X, y)
    np.testing.assert_allclose(
        tuned.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )
    np.testing.assert_allclose(
        tuned.decision_function([k(X[:5], X) for k in KERNELS]),
        expected.decision_function(X[:5]),
        rtol=1e-6,
    )


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csc_array])
def test_rank_one_kernels_equal_grid_search(form):
    rng = np.random.default_rng(3)
    X = np.where(rng.random((80, 12)) < 0.4, rng.poisson(3.0, (80, 12)), 0.0)
    y = np.where(X[:, 0] - X[:, 1] + rng.normal(size=80) > 0, "up", "down")
    cv = list(StratifiedKFold(3).split(X, y))
    base = al.MKLClassifier(al.RankOneKernels(), tol=1e-8)
    grid = GridSearchCV(base, {"C": CS}, cv=cv).fit(X, y)
    tuned = al.MKLClassifierCV(al.RankOneKernels(), weighting="alignf", Cs=CS, cv=cv, tol=1e-8).fit(
        form(X), y
    )
    assert_same_search(tuned, grid)
    np.testing.assert_allclose(tuned.coef_, grid.best_estimator_.coef_, rtol=1e-6, atol=1e-9)


def test_list_of_strings_with_a_function_kernel():
    words = ["ab", "abb", "abbb", "ba", "baa", "baaa", "abab", "baba"]
    kernel = al.FromFunction(lambda s, t: float(len(set(s[:1]) & set(t[:1])) + (s == t)))
    y = [w[0] for w in words]
    tuned = al.MKLClassifierCV([kernel], Cs=[1.0], cv=2).fit(words, y)
    assert tuned.score(words, y) == 1.0


# The largest error is the best score here, so it is at an end of the grid, as expected.
@pytest.mark.filterwarnings("ignore::alignlearn.DoubtfulResultWarning")
def test_functions_as_scores():
    X, y = smooth()
    for function, name in ((r2_score, "r2"), (mean_absolute_error, None)):
        tuned = al.MKLRegressorCV(KERNELS, alphas=ALPHAS, scoring=function).fit(X, y)
        if name:
            named = clone(tuned).set_params(scoring=name).fit(X, y)
            assert tuned.best_score_ == pytest.approx(named.best_score_, rel=1e-12)
    assert tuned.best_score_ == tuned.cv_results_["mean_test_score"].max() > 0.0


def test_first_candidate_wins_a_tie():
    X = np.array([[-1.0], [-1.1], [-0.9], [1.0], [1.1], [0.9]])
    y = [0, 0, 0, 1, 1, 1]
    tuned = al.MKLClassifierCV(["linear"], Cs=[10.0, 1.0, 100.0], cv=3).fit(X, y)
    np.testing.assert_array_equal(tuned.cv_results_["mean_test_score"], 1.0)
    assert tuned.C_ == 10.0


def test_labels_and_shuffles_repeat():
    X, y = two_classes(70)
    labels = [f"group {i % 3}" for i in range(70)]
    pairs = [(np.flatnonzero(np.arange(70) % 3 != f), np.arange(f, 70, 3)) for f in range(3)]
    found = [
        al.MKLClassifierCV(KERNELS, weighting="alignf", Cs=CS, cv=cv)
        .fit(X, y)
        .cv_results_["mean_test_score"]
        for cv in (labels, iter(pairs))
    ]
    np.testing.assert_array_equal(*found)
    seeds = [
        al.MKLClassifierCV(KERNELS, weighting="alignf", Cs=[0.5], random_state=s)
        .fit(X, y)
        .best_score_
        for s in (None, None, 1, 2)
    ]
    assert seeds[0] == seeds[1]
    assert len(set(seeds)) > 1


def test_statistics_of_training_sets_come_from_one_pass(monkeypatch):
    """One pass over the pairs gives all of them, unless the training sets share too little."""
    passes = []
    real = Cpu.run_boxes
    monkeypatch.setattr(Cpu, "run_boxes", lambda self, *a: passes.append(a[0]) or real(self, *a))
    X, y = two_classes(60)
    al.MKLClassifierCV(KERNELS, Cs=CS, weighting=["align", "alignf"], cv=6).fit(X, y)
    # The last pass is that of the fit on all samples.
    assert passes.count("pair_sums") == 2
    passes.clear()
    al.MKLClassifierCV(
        KERNELS, weighting="alignf", Cs=CS, cv=list(ShuffleSplit(3, random_state=0).split(X))
    ).fit(X, y)
    assert passes.count("pair_sums") == 2
    passes.clear()
    halves = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    al.MKLClassifierCV(KERNELS, weighting="alignf", Cs=CS, cv=halves).fit(X, y)
    assert passes.count("pair_sums") == 3


def test_machines_start_from_the_last_solution():
    X, y = two_classes(200)
    K = al.MKLClassifier(KERNELS).fit(X, y).kernel_(X)
    given, values, fitted = K[:160, :160].copy(), [10.0, 0.1, 20.0, 1.0], []

    class Machine(al.machines.SupportVectorClassifier):
        def predict(self, K_test):
            fitted.append(self)
            return super().predict(K_test)

    found = paths.svm_path(Machine, given, y[:160], K[160:, :160], values)
    assert [machine.C for machine in fitted] == [0.1, 1.0, 10.0, 20.0]
    cold = [al.machines.SupportVectorClassifier(C).fit(given, y[:160]) for C in values]
    assert fitted[3].n_iter_.sum() < cold[2].n_iter_.sum()
    for predicted, machine in zip(found, cold):
        assert np.mean(predicted != machine.predict(K[160:, :160])) <= 0.05


def test_ridge_path_at_the_ends():
    """alpha = 0 interpolates, or raises an error for a singular matrix; and two samples alone."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 30))
    K, y = A @ A.T, rng.normal(size=30)
    train = K[:20, :20]
    predicted = paths.ridge_path(train, y[:20], train, [0.0, 1e9])
    np.testing.assert_allclose(predicted[0], y[:20], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(predicted[1], y[:20].mean(), atol=1e-5)
    singular = (A[:, :5] @ A[:, :5].T)[:20, :20]
    with pytest.raises(ValueError, match=r"not positive definite.*alpha=0"):
        paths.ridge_path(singular, y[:20], singular, [1.0, 0.0])
    with pytest.raises(ValueError, match=r"not positive definite.*alpha=1e-20"):
        paths.ridge_path(singular, y[:20], singular, [1e-20])
    expected = KernelRidge(0.5).fit(K[:2, :2], y[:2]).predict(K[2:4, :2])
    found = paths.ridge_path(K[:2, :2], y[:2], K[2:4, :2], [0.5])[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_in_a_pipeline_and_after_a_second_fit():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:100], y[:100]
    model = make_pipeline(StandardScaler(), al.MKLRegressorCV(alphas=[1.0, 10.0]))
    assert 0.2 < model.fit(X, y).score(X, y) < 1.0
    tuned = model[-1]
    tuned.set_params(machine="svr", Cs=[1.0], cv=2).fit(X, y)
    assert not hasattr(tuned, "alpha_")
    assert "C_" in vars(tuned)
    assert "gaussian" in tuned.summary().lower()


CLASSIFIER, REGRESSOR = al.MKLClassifierCV, al.MKLRegressorCV
BAD = [
    (CLASSIFIER, {"Cs": []}, "Cs is empty"),
    (CLASSIFIER, {"Cs": [1.0, 0.0]}, "Cs"),
    (CLASSIFIER, {"cv": 1}, "cv"),
    (CLASSIFIER, {"cv": "loo"}, "cv"),
    (CLASSIFIER, {"cv": [0] * 20}, "same fold label"),
    (CLASSIFIER, {"cv": [([0, 1, 2], [3])]}, "training set of fold 0 holds 1 class"),
    (CLASSIFIER, {"cv": [([0, 19], [20])]}, "goes from 20 to 20"),
    (CLASSIFIER, {"cv": [([0, 19], [])]}, "test set of fold 0"),
    (CLASSIFIER, {"cv": []}, "no folds"),
    (CLASSIFIER, {"scoring": "roc"}, "scoring"),
    (CLASSIFIER, {"scoring": lambda y, p: np.nan}, "NaN"),
    (CLASSIFIER, {"weighting": []}, "empty list"),
    (CLASSIFIER, {"weighting": ["nonsense"]}, "nonsense"),
    (CLASSIFIER, {"normalize": "nonsense"}, "normalize"),
    (REGRESSOR, {"alphas": []}, "alphas is empty"),
    (REGRESSOR, {"alphas": [0.0]}, "alphas"),
    (REGRESSOR, {"alphas": [-1.0], "cv": 3}, "alphas"),
    (REGRESSOR, {"alphas": [np.inf], "cv": 3}, "alphas"),
    (REGRESSOR, {"machine": "svr", "cv": "loo"}, "closed form"),
    (REGRESSOR, {"machine": "nonsense"}, "machine"),
    (REGRESSOR, {"scoring": "accuracy"}, "scoring"),
]


def test_bad_input():
    X = np.random.default_rng(0).normal(size=(20, 2))
    targets = {CLASSIFIER: np.repeat([0, 1], 10), REGRESSOR: X[:, 0]}
    models = [make(**params) for make, params, _ in BAD]
    cases = [
        (f"{params}", partial(model.fit, X, targets[make]), message)
        for model, (make, params, message) in zip(models, BAD)
    ]
    assert not_refused(cases) == []
    assert not any(hasattr(model, "weights_") for model in models)


def test_groups_are_handed_to_the_splitter():
    X, y = two_classes(60)
    groups = np.arange(60) // 6
    found = al.MKLClassifierCV(KERNELS, weighting="alignf", Cs=CS, cv=GroupKFold(3)).fit(
        X, y, groups=groups
    )
    cv = list(GroupKFold(3).split(X, y, groups))
    expected = al.MKLClassifierCV(KERNELS, weighting="alignf", Cs=CS, cv=cv).fit(X, y)
    np.testing.assert_array_equal(
        found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )
    targets = X[:, 0] + y
    ridge = al.MKLRegressorCV(KERNELS, weighting="alignf", alphas=[1.0], cv=GroupKFold(3))
    ridge.fit(X, targets, groups=groups)
    assert ridge.n_splits_ == 3


def test_a_training_set_without_variation_is_named():
    X, y = np.array([[1.0]] * 8 + [[-1.0]] * 4), np.arange(12) % 2
    with pytest.raises(ValueError, match="cv: every kernel is constant on a training set"):
        al.MKLClassifierCV(["cosine"], cv=np.repeat([0, 1], [8, 4])).fit(X, y)


class Recorder(al.AlignF):
    """A rule that counts the existing statistics when it receives some."""

    def __init__(self):
        super().__init__()
        self.seen, self.alive = [], []

    def solve(self, statistics):
        self.alive.append(sum(found() is not None for found in self.seen))
        self.seen.append(weakref.ref(statistics))
        return super().solve(statistics)


def test_statistics_of_one_training_set_are_held_at_a_time():
    """Those of 4000 rank-one kernels are 128 MB each."""
    X, y = two_classes(60)
    rule = Recorder()
    options = {"weighting": rule, "cv": 6, "normalize": None}
    al.MKLClassifierCV(al.RankOneKernels(), Cs=[1.0], **options).fit(X, y)
    assert len(rule.alive) == 7
    assert max(rule.alive) <= thread_count()  # one for each thread


def test_learned_weights_beside_equal_ones_by_default():
    """Both rules are in the table, each on its own folds; the better one is fitted."""
    X, y = two_classes(80)
    folds = list(KFold(4).split(X))
    given = al.MKLClassifierCV(KERNELS, Cs=CS, cv=folds, tol=1e-8)
    model = clone(given).fit(X, y)
    assert set(model.cv_results_["param_weighting"]) == {"alignf", "uniform"}
    scores = {}
    for rule in ("alignf", "uniform"):
        one = clone(given).set_params(weighting=rule).fit(X, y)
        mine = model.cv_results_["param_weighting"] == rule
        found = model.cv_results_["mean_test_score"][mine]
        np.testing.assert_allclose(found, one.cv_results_["mean_test_score"], atol=1e-12)
        scores[rule] = one.best_score_
        assert f"{one.best_score_:.4f}" in model.summary().split("\n\n")[0]
    assert model.best_score_ == pytest.approx(max(scores.values()))
    assert scores[model.weighting_] == pytest.approx(model.best_score_)
    # One kernel has one weight; leave-one-out and targets with own weights compare no rules.
    assert "param_weighting" not in al.MKLClassifierCV(KERNELS[:1], Cs=CS).fit(X, y).cv_results_
    alone = al.MKLRegressorCV(KERNELS, alphas=[0.1, 1.0])
    assert "param_weighting" not in alone.fit(X, X[:, 0]).cv_results_
    assert "param_weighting" in clone(alone).set_params(cv=3).fit(X, X[:, 0]).cv_results_
    assert not hasattr(clone(alone).set_params(per_target=True).fit(X, X[:, :2]), "cv_results_")
