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
    model, new = classifier[0], rings(seed=3)[0]
    assert len(model.members_) > 1
    expected = sum(m.share / m.unit * m.model.decision_function(m.of(new)) for m in model.members_)
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-12)
    np.testing.assert_array_equal(model.predict(new), (expected > 0.0).astype(int))
    X, t = (a[:120] for a in load_diabetes(return_X_y=True))
    model = al.MKLRegressorCV().fit(X, t)  # predictions of targets are averaged unchanged
    expected = np.mean([m.model.predict(m.of(X)) for m in model.members_], axis=0)
    np.testing.assert_allclose(model.predict(X), expected)


def names_of(model):
    return [m.name for m in model.members_]


def test_members_are_machines_on_their_kernels(classifier):
    """Each is scikit-learn's model on the Gram matrix of its kernel of the given features."""
    model, X, y = classifier
    for m in model.members_:
        K = m.kernel(X)
        if m.model.machine == "krr":  # of the kernel without its means, and labels of -1 and 1
            centered, signs = KernelCenterer().fit_transform(K), 2.0 * y - 1.0
            machine = KernelRidge(0.5 / m.model.C, kernel="precomputed")
            expected = signs.mean() + machine.fit(centered, signs - signs.mean()).predict(centered)
        else:
            machine = SVC(kernel="precomputed", C=m.model.C, tol=1e-6).fit(K, y)
            expected = machine.decision_function(K)
        np.testing.assert_allclose(m.model.decision_function(m.of(X)), expected, atol=5e-3)
    own = [name for name in names_of(model) if not name.endswith("-krr")]
    columns = {way.name for way in plans.COLUMN_WAYS}
    assert names_of(model) == own + [f"{name}-krr" for name in own if name not in columns]


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


# The candidates


def test_ways_are_what_their_names_say(regressor):
    """Scores of every candidate on a fold are those of explicit kernels."""
    model, X, t = regressor
    train, test = al.folds.make_folds(5, t, False, None)[0]
    table = model.cv_results_
    single, alpha = search_by_hand(X, t)
    for name in ("uniform", "alignf", "scaled-single", "rotated-single"):
        Z, kernels, rule = X, model_kernels(X), name
        if name.endswith("single"):
            Y = (t[train] - t.mean())[:, None] / t.std()
            path = learned_scales(X[train], Y, single, alpha, choose=False, full="rot" in name)
            root = root_of(path.scales if path.matrix is None else path.matrix)
            Z, kernels, rule = X * root if root.ndim == 1 else X @ root, [single], "uniform"
        for a in (0.1, 1.0):
            machine = al.MKLRegressor(kernels, weighting=rule, alpha=a).fit(Z[train], t[train])
            error = np.sqrt(np.mean((t[test] - machine.predict(Z[test])) ** 2))
            k = (table["param_method"] == name) & np.isclose(table["param_alpha"], a)
            assert table["split0_test_score"][k][0] == pytest.approx(-error, rel=1e-6)


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


def test_folds_try_what_was_best_on_the_folds_before(classifier):
    model, results = classifier[0], classifier[0].cv_results_
    names, n = results["param_method"], results["n_splits"]
    steps = np.log10(results["param_C"])
    first, second = (results[f"split{t}_test_score"] for t in (0, 1))
    two = (first + second) / 2.0
    of_columns = {way.name for way in plans.COLUMN_WAYS}
    others = {way.name for way in plans.WAYS} - of_columns
    squares = {name for name in names if name.endswith("-krr")}
    assert set(names) - squares == of_columns | others

    def best(name, scores):
        return np.nanmax(scores[names == name])

    # The second fold tries values near the best of the first, the later ones final choices.
    tried = {name for name in of_columns | others if np.isfinite(second[names == name]).any()}
    for name in tried:
        way = names == name
        top = steps[way][np.nanargmax(first[way])]
        near = way & (np.abs(steps - top) < 1.5) & np.isfinite(first)
        assert np.isfinite(second[near]).all()
        assert (n[way & ~near & np.isfinite(second)] == 5).all()
    assert len(tried & of_columns) == 1
    assert len(tried & others) == 3
    least = min(best(name, first) for name in tried & others)
    assert least >= max(best(name, first) for name in others - tried)
    # Later folds try the best two, and one on columns if it is among the best two of all.
    late = set(names[n == 5]) - squares
    assert len(late & others) == 2
    least = min(best(name, two) for name in late & others)
    assert least >= max(best(name, two) for name in (tried - late) & others)
    assert squares == {f"{name}-krr" for name in late & others}
    assert set(names_of(model)) <= late | squares
    assert names[model.best_index_] == model.members_[0].name


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
    assert isinstance(model.kernel_, Rescaled)
    expected = model.kernel_(X)[:, model.support_] @ model.dual_coef_[:, 0] + model.intercept_
    np.testing.assert_allclose(expected, model.decision_function(X), atol=1e-8)
    assert model.contributions(X, y).values.shape == (len(model.kernels_), 1)
    for method in (model.bound, model.alignment_interval):  # more than the weights was learned
        raises(ValueError, "also learned other parameters", method, X, y)


def test_an_average_says_that_it_has_no_kernel(classifier):
    model, X, y = classifier
    for name in ("kernel_", "weights_", "statistics_", "dual_coef_"):
        raises(AttributeError, rf"no {name}: decisions are an average of \d", getattr, model, name)
    raises(AttributeError, "has no attribute 'nothing'", getattr, model, "nothing")
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
        assert {name.split(":")[0] for name in found.names} == set(names_of(model))


def test_texts_show_every_way_and_member(classifier):
    model, results = classifier[0], classifier[0].cv_results_
    text = model.summary()
    assert all(f"\n{way.name} " in text for way in plans.WAYS)
    header, *lines = (line.split() for line in text.split("\n\n")[0].splitlines())
    scores = zip(results["mean_test_score"], results["mean_test_shown"])
    shown = {f"{score:.4f}": f"{accuracy:.4f}" for score, accuracy in scores}
    at = header.index("score"), header.index("accuracy")
    for line in lines[: [line[0] for line in lines].index("score:")]:  # notes follow
        assert line[at[1]] == shown[line[at[0]]]
    for k, m in enumerate(model.members_, 1):
        head = f"Model {k} of {len(model.members_)} in the average"
        assert f"\n{head}: {m.name}, factor {m.share / m.unit:.3g}\n" in text
        assert m.name in model._repr_html_()
    table = model.kernel_table()
    assert set(table["method"]) == set(names_of(model))
    assert len({len(column) for column in table.values()}) == 1


def test_samples_of_weight_zero_are_not_there():
    kernels = [al.Gaussian(gamma=g) for g in (0.05, 0.2, 0.8)]
    X, y = rings(m=60)
    weight = np.random.default_rng(2).integers(0, 2, 60).astype(float)
    cv, left = np.arange(60) % 4, weight > 0.0
    model = al.MKLClassifierCV(kernels, weighting="auto", cv=cv, tol=1e-9).fit(X, y, weight)
    halved = al.MKLClassifierCV(kernels, weighting="auto", cv=cv[left], tol=1e-9)
    halved.fit(X[left], y[left])
    assert names_of(model) == names_of(halved)
    # Members agree to rounding, shares up to the tolerance of 0.01 of the models on folds.
    for one, other in zip(model.members_, halved.members_):
        found = one.model.decision_function(one.of(X))
        np.testing.assert_allclose(found, other.model.decision_function(other.of(X)), atol=1e-6)
        assert one.unit == pytest.approx(other.unit, rel=0.01)


def test_kernels_of_ones_own():
    X, y = rings()
    kernels = [al.Gaussian(), al.Columns("linear", [0, 1]), al.Laplacian()]
    grams = [k.resolve(X)(X) for k in kernels]

    def tried(kernels, X, **options):
        model = al.MKLClassifierCV(kernels, **options).fit(X, y)
        return set(model.cv_results_["param_method"])

    own = {"uniform", "scaled-uniform"}
    assert {"uniform", "alignf", "single"} <= tried(kernels, X, weighting="auto")
    assert tried("precomputed", grams, weighting="auto") == {"uniform", "alignf"}
    expected = own | {f"{name}-krr" for name in own}
    assert tried([al.Gaussian()], X, weighting="auto") == expected
    assert "single" in tried(kernels, X, strategy="best")


def test_sparse_samples_give_what_dense_ones_do():
    X, y = rings()
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    kernels = [al.Gaussian(0.5), al.Gaussian(4.0)]  # with the default, X becomes an array
    options = {"strategy": "best", "Cs": [1.0, 10.0], "tol": 1e-6}
    dense = al.MKLClassifierCV(kernels, **options).fit(X, y).cv_results_
    found = al.MKLClassifierCV(kernels, **options).fit(sparse.csr_array(X), y).cv_results_
    assert set(dense["param_method"]) - set(found["param_method"]) == {"rotated-single"}
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
    table, used = model.cv_results_, set(names_of(model))
    tried = {name.endswith("-krr") for name in table["param_method"]}
    assert tried == ({True, False} if overlap else {False})
    # A support vector machine is left out where least squares beat it.
    last = table["n_samples"] == table["n_samples"].max()
    names, scores = table["param_method"][last], table["mean_test_score"][last]
    best = {name: np.nanmax(scores[names == name]) for name in set(names)}
    for name in {name.removesuffix("-krr") for name in used if overlap}:
        assert f"{name}-krr" in used
        assert (name in used) == (best[name] >= best[f"{name}-krr"])
