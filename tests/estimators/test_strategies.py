"""The choice among candidate kernels: against models that are fitted by hand, and invariances."""

from functools import partial

import numpy as np
import pytest
from refusals import not_refused, raises
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import KernelCenterer
from sklearn.svm import SVC

import alignlearn as al
from alignlearn.estimators import plans, scoring, ways
from alignlearn.estimators.feature_scales import learned_scales, root_of
from alignlearn.kernels import Rescaled
from alignlearn.machines.width_and_ridge import leave_one_out_width_and_ridge
from alignlearn.solvers.multiclass import class_logits, decided_labels
from alignlearn.sources import open_source
from alignlearn.statistics.targets import target_columns


def rings(m=90, d=5, seed=0):
    """Two classes by the distance from 0 in two of the features; the others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    return X, (np.hypot(X[:, 0], X[:, 1]) > 1.15).astype(int)


def ways_of(model):
    return [m.name for m in model.members_]


@pytest.fixture(scope="module")
def classifier():
    X, y = rings(seed=2)  # of which two kernels are averaged, with two models each
    return al.MKLClassifierCV().fit(X, y), X, y


@pytest.fixture(scope="module")
def regressor():
    X, _y = rings()
    t = np.sin(2.0 * X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=len(X))
    return al.MKLRegressorCV(strategy="best").fit(X, t), X, t


# The averaged models


def test_decisions_are_the_sum_of_those_of_the_members(classifier):
    model, _X, _ = classifier
    assert len(model.members_) > 1
    new = rings(seed=3)[0]
    expected = sum(m.share / m.unit * m.model.decision_function(m.of(new)) for m in model.members_)
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-12)
    np.testing.assert_array_equal(model.predict(new), (expected > 0.0).astype(int))


def test_members_are_machines_on_their_kernels(classifier):
    """Each is scikit-learn's model on the Gram matrix of its kernel of the given features."""
    model, X, y = classifier
    for m in model.members_:
        K = m.kernel(X)
        found = m.model.decision_function(m.of(X))
        if m.model.machine == "krr":  # of the kernel without its means, and labels of -1 and 1
            centered = KernelCenterer().fit_transform(K)
            signs = 2.0 * y - 1.0
            machine = KernelRidge(0.5 / m.model.C, kernel="precomputed")
            expected = signs.mean() + machine.fit(centered, signs - signs.mean()).predict(centered)
        else:
            machine = SVC(kernel="precomputed", C=m.model.C, tol=1e-6).fit(K, y)
            expected = machine.decision_function(K)
        np.testing.assert_allclose(found, expected, atol=5e-3)
    names = ways_of(model)
    columns = {way.name for way in plans.COLUMN_WAYS}
    own = [name for name in names if not name.endswith("-krr")]
    assert names == own + [f"{name}-krr" for name in own if name not in columns]


def test_units_are_mean_decisions_of_the_folds():
    X, y = rings()
    folds = list(StratifiedKFold(5, shuffle=True, random_state=1).split(X, y))
    model = al.MKLClassifierCV(cv=folds, weighting="auto").fit(X, y)
    for m in model.members_:
        name = m.name.removesuffix("-krr")
        if m.factors is not None or name == "single":
            continue
        sizes = []
        for train, test in folds:
            how = {"weighting": name, "machine": m.model.machine}
            again = al.MKLClassifier(C=m.model.C, kernels=model_kernels(X), **how)
            found = again.fit(X[train], y[train]).decision_function(X[test])
            sizes.append(np.abs(found).mean())
        assert m.share == 0.25
        assert m.unit == pytest.approx(np.mean(sizes), rel=0.05)


def model_kernels(X):
    """The default ladder with gammas of all samples."""
    return al.MKLClassifier().fit(X, X[:, 0] > 0.0).kernels_


def test_predictions_of_regressors_are_averaged_as_they_are():
    X, t = load_diabetes(return_X_y=True)
    X, t = X[:120], t[:120]
    model = al.MKLRegressorCV().fit(X, t)
    expected = np.mean([m.model.predict(m.of(X)) for m in model.members_], axis=0)
    np.testing.assert_allclose(model.predict(X), expected)


# The candidates


def test_ways_are_what_their_names_say(regressor):
    """Scores of every candidate on a fold are those of explicit kernels."""
    model, X, t = regressor
    folds = al.folds.make_folds(5, t, False, None)
    train, test = folds[0]
    source_kernels = model_kernels(X)
    names = model.cv_results_["param_method"]
    for name in ("uniform", "alignf", "scaled-single", "rotated-single"):
        single, alpha = search_by_hand(X, t)
        Z, kernels, rule = X, source_kernels, name
        if name.endswith("single"):
            Y = t[train] - t.mean()
            path = learned_scales(
                X[train], (Y / t.std())[:, None], single, alpha, choose=False, full="rot" in name
            )
            root = root_of(path.scales if path.matrix is None else path.matrix)
            Z = X * root if root.ndim == 1 else X @ root
            kernels, rule = [single], "uniform"
        for a in (0.1, 1.0):
            machine = al.MKLRegressor(kernels, weighting=rule, alpha=a).fit(Z[train], t[train])
            error = np.sqrt(np.mean((t[test] - machine.predict(Z[test])) ** 2))
            k = np.flatnonzero((names == name) & np.isclose(model.cv_results_["param_alpha"], a))
            assert model.cv_results_["split0_test_score"][k[0]] == pytest.approx(-error, rel=1e-6)


def search_by_hand(X, t):
    kernels = [k.resolve(X) for k in al.Gaussian().widths(2.0 ** np.arange(-5, 2))]
    Y = ((t - t.mean()) / t.std())[:, None]
    found = leave_one_out_width_and_ridge(X, Y, kernels, 4.0 ** np.arange(-9, 2))
    return found.kernel, found.alpha


@pytest.mark.parametrize("classes", [[0, 1], [0, 3], [1, 2, 4]])
def test_score_counts_labels_that_were_not_trained_on_as_errors_alone(classes):
    """Against the sums of exponentials of the definition, for two classes and for more."""
    rng, classes = np.random.default_rng(0), np.array(classes)
    codes = np.concatenate([classes, rng.integers(0, 6, 60)])
    raw = 3.0 * rng.normal(size=(len(codes), len(classes) * (len(classes) - 1) // 2))
    found, accuracy = scoring.class_score(raw, codes, classes, "ovo")
    logits = class_logits(raw, len(classes), "ovo")
    known = np.flatnonzero([code in classes for code in codes])
    own = [classes.tolist().index(code) for code in codes[known]]
    scales = 2.0 ** np.arange(-5.0, 5.5, 0.5) / np.abs(logits).mean()
    shares = [np.exp(s * logits[known] - (s * logits[known]).max(axis=1)[:, None]) for s in scales]
    losses = [np.log(E.sum(axis=1) / E[np.arange(len(own)), own]).sum() for E in shares]
    right = decided_labels(raw, classes, "ovo") == codes
    assert accuracy == pytest.approx(right.mean(), rel=1e-12)
    assert found == pytest.approx(accuracy - 0.3 * min(losses) / len(codes), rel=1e-12)


@pytest.mark.parametrize(
    ("Cs", "columns", "others"),
    [([0.1, 1.0, 10.0, 100.0], {0.1, 1.0, 10.0}, {0.1, 1.0, 10.0, 100.0}),
     ([100.0, 1000.0], {100.0}, {100.0, 1000.0})],
)  # fmt: skip
def test_classifiers_on_columns_are_tried_up_to_a_moderate_cost(Cs, columns, others):
    X, y = rings(m=60)
    results = al.MKLClassifierCV(Cs=Cs, cv=2, strategy="best").fit(X, y).cv_results_
    tried = results["n_splits"] > 0
    for names, expected in ((("columns", "pairs", "linear"), columns), (("uniform",), others)):
        for name in names:
            found = results["param_C"][tried & (results["param_method"] == name)]
            assert set(found.tolist()) == expected
    # Of regression the unit of C is that of the target.
    model = al.MKLRegressorCV(machine="svr", Cs=[100.0, 1000.0], cv=2, strategy="best")
    results = model.fit(X, X[:, 0]).cv_results_
    found = results["param_C"][(results["n_splits"] > 0) & (results["param_method"] == "linear")]
    assert set(found.tolist()) == {100.0, 1000.0}


def test_columns_of_classes_are_turned_to_one_less_with_the_same_gradients():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(60, 3)), rng.integers(0, 4, 60)
    Y = target_columns(codes, task="classification")
    turned = Y @ ways._turn(4)
    assert turned.shape == (60, 3)
    np.testing.assert_allclose(turned @ turned.T, Y @ Y.T, atol=1e-12)
    found = [learned_scales(X, T, al.Gaussian(0.3), 0.1, full=True) for T in (Y, turned)]
    np.testing.assert_allclose(found[0].matrix, found[1].matrix, rtol=1e-9, atol=1e-12)


def test_parts_of_the_whole_matrix_are_those_of_the_folds():
    X = rings()[0]
    source = open_source(X, [al.Gaussian(0.3)])
    fold = np.arange(5, 90), np.arange(5)
    expected = source.combine([0.7]).split(fold)
    assert source.whole().shape == (90, 90)
    for found, K in zip(source.combine([0.7]).split(fold), expected):
        np.testing.assert_allclose(found, K, atol=1e-14)
        assert found.flags.c_contiguous
    assert open_source(X, [al.Gaussian(0.3), al.Gaussian(0.1)]).whole() is None


def test_the_start_for_scales_is_from_the_values_of_the_kernel():
    """Also for exponentials that are not 1 at distance 0, whose matrix may omit the constant."""
    X, y = rings(m=40)
    kernels = al.Gaussian(0.3), al.ExponentialDot(0.3), 2.0 * al.Gaussian(0.3)
    train = np.arange(5, 40)
    for kernel, known in zip(kernels, (True, False, False)):
        source, rng = open_source(X, [kernel]), np.random.default_rng(0)
        K = ways.WayKernels(source, [kernel], y, "classification", rng)._gram(train)
        assert (K is not None) == known
        if known:
            np.testing.assert_allclose(K, kernel(X[train]), atol=1e-13)


# Halving


def test_the_second_fold_tries_what_is_near_the_best_of_the_first(classifier):
    """The final or possible choices, on all folds."""
    results = classifier[0].cv_results_
    first, second = (results[f"split{t}_test_score"] for t in (0, 1))
    steps, names = np.log10(results["param_C"]), results["param_method"]
    dropped = set()
    for name in set(names) - {one for one in names if one.endswith("-krr")}:
        way = names == name
        if not np.isfinite(second[way]).any():  # of those on columns one remains
            dropped.add(name)
            continue
        best = steps[way][np.nanargmax(first[way])]
        near = way & (np.abs(steps - best) < 1.5) & np.isfinite(first)
        assert np.isfinite(second[near]).all()
        assert (results["n_splits"][way & ~near & np.isfinite(second)] == 5).all()
    columns = {one.name for one in plans.COLUMN_WAYS}
    others = {one.name for one in plans.WAYS} - columns
    best = {name: np.nanmax(first[names == name]) for name in others}
    assert len(columns - dropped) == 1
    assert len(others - dropped) == 3  # those that are best on the first fold
    assert min(best[k] for k in others - dropped) >= max(best[k] for k in others & dropped)


def test_later_folds_try_the_best_two_alone(classifier):
    model, _, _ = classifier
    results = model.cv_results_
    least_squares = np.array([m.endswith("-krr") for m in results["param_method"]])
    partners = set(results["param_method"][least_squares])
    results = {k: np.array(v)[~least_squares] for k, v in results.items()}
    names, n = results["param_method"], results["n_splits"]
    late = set(names[n == 5])
    assert partners == {f"{way.name}-krr" for way in plans.WAYS if not way.columns} & {
        f"{name}-krr" for name in late
    }
    assert set(names) == {way.name for way in plans.WAYS}
    columns = {way.name for way in plans.COLUMN_WAYS}
    assert len(late - columns) == 2
    assert len(late & columns) <= 1  # if it is among the best two of all
    assert set(ways_of(model)) <= late | partners
    names = np.where(np.isin(names, [way.name for way in plans.COLUMN_WAYS]), "", names)
    late, n = late & set(names), np.where(names == "", 0, n)
    some = set(names[n >= 2])  # others are dropped after the first fold
    firsts = {k: results["mean_test_score"][(names == k) & (n >= 2)].max() for k in some}
    worse = [firsts[k] for k in some - late]
    two = np.mean([results[f"split{t}_test_score"] for t in (0, 1)], axis=0)
    best = {k: np.nanmax(two[names == k]) for k in some}
    assert min(best[k] for k in late) >= max(best[k] for k in some - late)
    assert model.cv_results_["param_method"][model.best_index_] == model.members_[0].name
    assert worse


def test_the_ends_of_the_grid_are_reached():
    """C is tried without its ends at first, and with them where their neighbor is best."""
    X, y = rings(m=60)
    with pytest.warns(al.DoubtfulResultWarning, match="extend Cs"):
        model = al.MKLClassifierCV(Cs=[1e-4, 1e-3, 1e-2, 0.1, 1.0], ensemble=False).fit(X, y)
    assert model.C_ == 1.0
    results = model.cv_results_
    assert results["n_splits"][model.best_index_] == 5


@pytest.mark.parametrize(("strategy", "members"), [("auto", 4), ("best", 1), ("thorough", 6)])
def test_strategies(strategy, members):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = al.MKLClassifierCV(strategy=strategy, probability="sigmoid").fit(X[::2], y[::2])
    assert len(model.members_) == members
    assert model.score(X[1::2], y[1::2]) > 0.9
    P = model.predict_proba(X[1::2])
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert log_loss(y[1::2], P) < 0.4
    single = clone(model).set_params(ensemble=False).fit(X[::2], y[::2])
    assert len(single.members_) == 1
    assert single.members_[0].name == model.members_[0].name


# Features that still work


def test_one_machine_has_one_kernel():
    X, y = rings()
    model = al.MKLClassifierCV(ensemble=False).fit(X, y)
    K = model.kernel_(X)
    assert isinstance(model.kernel_, Rescaled)
    np.testing.assert_allclose(
        K[:, model.support_] @ model.dual_coef_[:, 0] + model.intercept_,
        model.decision_function(X), atol=1e-8
    )  # fmt: skip
    assert model.weights_.shape == (len(model.kernels_),)
    parts = model.contributions(X, y).values
    assert parts.shape == (len(model.kernels_), 1)
    for method in (model.bound, model.alignment_interval):  # more than the weights was learned
        raises(ValueError, "also learned other parameters", method, X, y)


def test_an_average_says_that_it_has_no_kernel(classifier):
    model, X, y = classifier
    for name in ("kernel_", "weights_", "statistics_", "dual_coef_"):
        raises(AttributeError, rf"no {name}: decisions are an average of \d", getattr, model, name)
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        model.nothing  # noqa: B018
    for method in (model.bound, model.alignment_interval):
        raises(ValueError, "ensemble=False", method, X, y)
    assert 0.0 < model.bound(*rings(seed=5), held_out=True).value < 1.0
    raises(ValueError, r"average of \d", model.contributions, X, y, method="refit", fit=(X, y))
    raises(ValueError, r"average of \d", model.kernel_table, X, y)


def test_contributions_of_an_average_add_up(regressor):
    X, t = regressor[1:]
    model = al.MKLRegressorCV().fit(X, t)
    new = rings(seed=4)[0]
    truth = np.sin(2.0 * new[:, 0])
    found = model.contributions(new, truth)
    assert found.values.sum() + found.offset[0] == pytest.approx(found.total[0])
    assert found.total[0] == pytest.approx(model.score(new, truth))
    if len(model.members_) > 1:
        assert {name.split(":")[0] for name in found.names} == set(ways_of(model))


def test_texts_show_every_way_and_member(classifier):
    model, _, _ = classifier
    text = model.summary()
    for way in plans.WAYS:
        assert f"\n{way.name} " in text
    header, *lines = (line.split() for line in text.split("\n\n")[0].splitlines())
    shown, score = model.cv_results_["mean_test_shown"], model.cv_results_["mean_test_score"]
    beside = {f"{a:.4f}": f"{b:.4f}" for a, b in zip(score, shown)}
    at = header.index("score"), header.index("accuracy")
    rows = lines[: [line[0] for line in lines].index("score:")]  # notes follow
    assert all(line[at[1]] == beside[line[at[0]]] for line in rows)
    averaged = "The average adds the decisions of the models, each multiplied by its factor."
    assert (averaged in text) == (len(model.members_) > 1)
    for k, m in enumerate(model.members_, 1):
        head = f"Model {k} of {len(model.members_)} in the average"
        assert f"\n{head}: {m.name}, factor {m.share / m.unit:.3g}\n" in text
        assert m.name in model._repr_html_()
    table = model.kernel_table()
    assert set(table["method"]) == set(ways_of(model))
    assert len({len(column) for column in table.values()}) == 1


def test_samples_of_weight_zero_are_not_there():
    kernels = [al.Gaussian(gamma=g) for g in (0.05, 0.2, 0.8)]
    X, y = rings(m=60)
    weight = np.random.default_rng(2).integers(0, 2, 60).astype(float)
    cv, left = np.arange(60) % 4, weight > 0.0
    model = al.MKLClassifierCV(kernels, weighting="auto", cv=cv, tol=1e-9).fit(X, y, weight)
    halved = al.MKLClassifierCV(kernels, weighting="auto", cv=cv[left], tol=1e-9)
    halved.fit(X[left], y[left])
    assert ways_of(model) == ways_of(halved)
    # Members agree to rounding, shares up to the tolerance of 0.01 of the models on folds.
    for one, other in zip(model.members_, halved.members_):
        found = one.model.decision_function(one.of(X))
        np.testing.assert_allclose(found, other.model.decision_function(other.of(X)), atol=1e-6)
        assert one.unit == pytest.approx(other.unit, rel=0.01)


def test_kernels_of_ones_own():
    X, y = rings()
    kernels = [al.Gaussian(), al.Columns("linear", [0, 1]), al.Laplacian()]
    model = al.MKLClassifierCV(kernels, weighting="auto").fit(X, y)
    assert {"uniform", "alignf", "single"} <= set(model.cv_results_["param_method"])
    grams = [k.resolve(X)(X) for k in kernels]
    given = al.MKLClassifierCV("precomputed", weighting="auto").fit(grams, y)
    assert set(given.cv_results_["param_method"]) == {"uniform", "alignf"}
    assert given.predict([K[:7] for K in grams]).shape == (7,)
    one = al.MKLClassifierCV([al.Gaussian()], weighting="auto").fit(X, y)
    own = {"uniform", "scaled-uniform"}
    assert set(one.cv_results_["param_method"]) == own | {f"{name}-krr" for name in own}
    assert al.MKLClassifierCV(kernels, weighting="alignf").fit(X, y).weights_.size == 3
    asked = al.MKLClassifierCV(kernels, strategy="best").fit(X, y)
    assert "single" in asked.cv_results_["param_method"]


def test_sparse_samples_give_what_dense_ones_do():
    X, y = rings()
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    options = {"strategy": "best", "Cs": [1.0, 10.0], "tol": 1e-6}
    dense = al.MKLClassifierCV(**options).fit(X, y).cv_results_
    found = al.MKLClassifierCV(**options).fit(sparse.csr_array(X), y).cv_results_
    assert set(dense["param_method"]) - set(found["param_method"]) == {
        "rotated-single",
        *(way.name for way in plans.COLUMN_WAYS),
    }
    both = np.isin(dense["param_method"], found["param_method"])
    np.testing.assert_allclose(found["mean_test_score"], dense["mean_test_score"][both], atol=1e-3)


def test_a_client_changes_nothing(dask_client):
    X, y = rings(m=60)
    here = al.MKLClassifierCV(cv=3).fit(X, y)
    there = al.MKLClassifierCV(cv=3, client=dask_client).fit(X, y)
    np.testing.assert_array_equal(there.predict(X), here.predict(X))


def test_bad_parameters():
    X, y = rings(m=40)
    cases = (
        (al.MKLClassifierCV(strategy="quick"), "strategy='quick'"),
        (al.MKLClassifierCV(ensemble="yes"), "ensemble"),
        (al.MKLClassifierCV(weighting=["auto", "alignf"]), "weighting"),
        (al.MKLClassifierCV(weighting="alignf", strategy="best"), "requires weighting='auto'"),
        (al.MKLRegressorCV(cv="loo", weighting="auto"), "weighting='auto'"),
    )
    assert not_refused((words, partial(model.fit, X, y), words) for model, words in cases) == []
    assert al.MKLRegressorCV(cv="loo").fit(X, X[:, 0]).n_splits_ == 40


@pytest.mark.parametrize("overlap", [True, False])
def test_many_samples_have_least_squares_where_classes_overlap(overlap):
    # Decisions of support vector machines rank samples of overlapping classes badly.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2100, 2))
    height = X[:, 0] - 1.2 + (2.0 * rng.normal(size=2100) if overlap else 0.0)
    model = al.MKLClassifierCV(machine="svm", random_state=0).fit(X, height > 0.0)
    tried = {name.endswith("-krr") for name in model.cv_results_["param_method"]}
    assert tried == ({True, False} if overlap else {False})
    if not overlap:
        return
    # A support vector machine is left out where least squares beat it.
    table = model.cv_results_
    last = table["n_samples"] == table["n_samples"].max()
    names, scores = table["param_method"][last], table["mean_test_score"][last]
    best = {name: np.nanmax(scores[names == name]) for name in set(names)}
    used = {m.name for m in model.members_}
    for name in {name.removesuffix("-krr") for name in used}:
        assert f"{name}-krr" in used
        assert (name in used) == (best[name] >= best[f"{name}-krr"])
    assert model.predict(X[:5]).dtype == bool
    assert model.decision_function(X[:5]).shape == (5,)
