"""Tuned estimators against grid search, refits without one sample, and scikit-learn's checks."""

import weakref
from functools import partial

import numpy as np
import pytest
import scipy.sparse
from refusals import not_refused
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import alignlearn as al
from alignlearn._threads import thread_count
from alignlearn.engine.cpu import Cpu
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


def noisy_iris():
    X, y = load_iris(return_X_y=True)
    return X[:, :2] + 0.5 * np.random.default_rng(0).normal(size=(150, 2)), y


def counts(form=np.asarray):
    rng = np.random.default_rng(3)
    X = np.where(rng.random((80, 12)) < 0.4, rng.poisson(3.0, (80, 12)), 0.0)
    return form(X), np.where(X[:, 0] - X[:, 1] + rng.normal(size=80) > 0, "up", "down")


FOUR, FIVE = (
    StratifiedKFold(4, shuffle=True, random_state=1),
    KFold(5, shuffle=True, random_state=0),
)
# Shuffle splits are no partition: each training set then gets its own statistics.
SHUFFLES = ShuffleSplit(3, test_size=0.4, random_state=0)
LQ = ["uniform", al.AlignLq(q=1.2), al.AlignLq(q=4.0)]
RANK_ONE = {"kernels": al.RankOneKernels()}
SVR = {"machine": "svr", "epsilon": 0.05, "tol": 1e-9}
FEW = {"kernels": KERNELS[:3]}
# Samples, splitter, weighting (a list is searched, too), parameters.
SEARCHES = {
    "svm": (two_classes, FOUR, "alignf", {}),
    "no normalization": (two_classes, FOUR, "align-lq", {"normalize": None}),
    "equal weights": (two_classes, FOUR, "uniform", {}),
    "ovo": (noisy_iris, SHUFFLES, "align", {"class_weight": "balanced"}),
    "ovr": (noisy_iris, SHUFFLES, "align", {"class_weight": "balanced", "multiclass": "ovr"}),
    "rules": (two_classes, StratifiedKFold(3), LQ, {}),
    "columns": (counts, StratifiedKFold(3), "alignf", RANK_ONE),
    "sparse columns": (partial(counts, scipy.sparse.csc_array), FOUR, "alignf", RANK_ONE),
    "ridge": (smooth, FIVE, "alignf", {}),
    "ridge, two targets": (partial(smooth, columns=2), FIVE, "alignf", {}),
    "svr, two targets": (partial(smooth, columns=2), KFold(3), "alignf", SVR),
    # By name they take the machine's alpha, so their weights differ between candidates.
    "lkrr by name": (partial(smooth, 45), KFold(3), "lkrr", FEW),
    "lkrr or align": (partial(smooth, 45), KFold(3), ["align", "lkrr"], FEW),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_is_a_grid_search(name):
    """The same candidates in the same order, scores, ranks, choice and model."""
    data, splitter, weighting, given = SEARCHES[name]
    X, y = data()
    classes, several = y.dtype.kind != "f", isinstance(weighting, list)
    ridge = not classes and "machine" not in given
    options = {"kernels": KERNELS, **({} if ridge else {"tol": 1e-8}), **given}
    values, chosen = (ALPHAS, "alpha") if ridge else (CS, "C")
    cv = list(splitter.split(X, y))
    make = al.MKLClassifierCV if classes else al.MKLRegressorCV
    tuned = make(weighting=weighting, cv=cv, **{f"{chosen}s": values}, **options).fit(X, y)
    plain = (al.MKLClassifier if classes else al.MKLRegressor)(**options)
    plain.set_params(weighting=weighting[0] if several else weighting)
    grid = {chosen: values, **({"weighting": weighting} if several else {})}
    scoring = None if classes else "neg_root_mean_squared_error"
    dense = X.toarray() if scipy.sparse.issparse(X) else X
    grid = GridSearchCV(plain, grid, cv=cv, scoring=scoring).fit(dense, y)
    ours, theirs = tuned.cv_results_, grid.cv_results_
    rtol = 1e-6 if "machine" in given else 1e-8
    assert tuned.n_splits_ == grid.n_splits_
    for key in ("mean_test_score", "std_test_score", *(f"split{t}_test_score" for t in range(3))):
        np.testing.assert_allclose(ours[key], theirs[key], rtol=rtol, atol=1e-12)
    # scikit-learn ranks scores that differ by rounding differently.
    scores = theirs["mean_test_score"]
    ranks = [1 + np.sum(scores > score + 1e-12 * np.abs(scores).max()) for score in scores]
    np.testing.assert_array_equal(ours["rank_test_score"], ranks)
    assert ours["params"] == theirs["params"]
    assert tuned.best_index_ == np.argmin(ranks)
    assert tuned.best_params_ == theirs["params"][tuned.best_index_]
    np.testing.assert_allclose(tuned.best_score_, grid.best_score_, rtol=rtol)
    # Means that are equal except rounding are a tie here, and may not be one in the grid search.
    best = clone(plain).set_params(**tuned.best_params_).fit(dense, y)
    assert getattr(tuned, f"{chosen}_") == getattr(best, chosen)
    assert not hasattr(tuned, "C_" if ridge else "alpha_")
    if several:
        assert tuned.weighting_ is best.weighting
        assert list(ours["param_weighting"]) == len(values) * weighting
    np.testing.assert_allclose(tuned.weights_, best.weights_, rtol=1e-9, atol=1e-15)
    found, expected = (
        model.decision_function(dense) if classes else model.predict(dense)
        for model in (tuned, best)
    )
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    assert tuned.score(X, y) == pytest.approx(best.score(dense, y), rel=1e-9)
    if "kernels" in given and classes:
        np.testing.assert_allclose(tuned.coef_, best.coef_, rtol=1e-6, atol=1e-9)


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

    def fit(**options):
        return al.MKLRegressorCV(KERNELS, **{"alphas": [0.1, 1.0], **options}).fit(X, y)

    one = fit()
    assert one.best_score_ == fit(cv="loo").best_score_
    assert one.n_splits_ == 90
    assert fit(weighting=["align", "alignf"]).n_splits_ == 5
    svr = fit(weighting="alignf", machine="svr", Cs=[1.0])
    assert svr.n_splits_ == 5
    assert not hasattr(one.set_params(machine="svr", Cs=[1.0], cv=2).fit(X, y), "alpha_")
    assert one.C_ == 1.0


def test_labels_shuffles_and_groups():
    X, y = two_classes(70)
    groups = np.arange(70) % 3

    def scores(cv=5, given=None, seed=None):
        options = {"weighting": "alignf", "Cs": CS, "random_state": seed}
        model = al.MKLClassifierCV(KERNELS, cv=cv, **options).fit(X, y, groups=given)
        return model.cv_results_["mean_test_score"].tolist()

    pairs = [(np.flatnonzero(groups != f), np.flatnonzero(groups == f)) for f in range(3)]
    expected = scores(pairs)
    assert scores([f"group {k}" for k in groups]) == scores(iter(pairs)) == expected
    by_groups = list(GroupKFold(3).split(X, y, groups))
    assert scores(GroupKFold(3), groups) == scores(by_groups)
    ridge = al.MKLRegressorCV(KERNELS, weighting="alignf", alphas=[1.0], cv=GroupKFold(3))
    assert ridge.fit(X, X[:, 0], groups=groups).n_splits_ == 3
    seeds = [scores(seed=seed) for seed in (None, None, 1, 2)]
    assert seeds[0] == seeds[1]
    assert len({tuple(found) for found in seeds}) > 1


def test_statistics_of_training_sets_come_from_one_pass(monkeypatch):
    """One pass over the pairs gives all of them, unless the training sets share too little."""
    passes = []
    real = Cpu.run_boxes
    monkeypatch.setattr(Cpu, "run_boxes", lambda self, *a: passes.append(a[0]) or real(self, *a))
    X, y = two_classes(60)
    shuffles = list(ShuffleSplit(3, random_state=0).split(X))
    halves = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    # The last pass is that of the fit on all samples.
    for rule, cv, n in (
        (["align", "alignf"], 6, 2),
        ("alignf", shuffles, 2),
        ("alignf", halves, 3),
    ):
        passes.clear()
        al.MKLClassifierCV(KERNELS, Cs=CS, weighting=rule, cv=cv).fit(X, y)
        assert passes.count("pair_sums") == n


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


CLASSIFIER, REGRESSOR = al.MKLClassifierCV, al.MKLRegressorCV
BAD = [
    (CLASSIFIER, {"cv": "loo"}, "cv"),
    (CLASSIFIER, {"cv": [0] * 20}, "same fold label"),
    (CLASSIFIER, {"cv": [([0, 1, 2], [3])]}, "training set of fold 0 holds 1 class"),
    (CLASSIFIER, {"cv": [([0, 19], [20])]}, "goes from 20 to 20"),
    (CLASSIFIER, {"cv": [([0, 19], [])]}, "test set of fold 0"),
    (CLASSIFIER, {"scoring": lambda y, p: np.nan}, "NaN"),
    (CLASSIFIER, {"weighting": []}, "empty list"),
    (CLASSIFIER, {"weighting": ["nonsense"]}, "nonsense"),
    (REGRESSOR, {"alphas": [0.0]}, "alphas"),
    (REGRESSOR, {"machine": "svr", "cv": "loo"}, "closed form"),
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
    signs, folds = np.repeat([[1.0], [-1.0]], [8, 4], axis=0), np.repeat([0, 1], [8, 4])
    cosine = partial(CLASSIFIER(["cosine"], cv=folds).fit, signs, np.arange(12) % 2)
    cases.append(("cosine", cosine, "cv: every kernel is constant on a training set"))
    assert not_refused(cases) == []
    assert not any(hasattr(model, "weights_") for model in models)


def test_statistics_of_one_training_set_are_held_at_a_time():
    """Those of 4000 rank-one kernels are 128 MB each."""
    seen, alive = [], []

    class Recorder(al.AlignF):
        """A rule that counts the existing statistics when it receives some."""

        def solve(self, statistics):
            alive.append(sum(found() is not None for found in seen))
            seen.append(weakref.ref(statistics))
            return super().solve(statistics)

    options = {"weighting": Recorder(), "cv": 6, "normalize": None}
    al.MKLClassifierCV(al.RankOneKernels(), Cs=[1.0], **options).fit(*two_classes(60))
    assert len(alive) == 7
    assert max(alive) <= thread_count()  # one for each thread


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
