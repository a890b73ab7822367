"""Several tables as X: equal to groups of columns of one matrix, found by name, split by sample."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from refusals import not_refused, raises
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import alignlearn as al

RNG = np.random.default_rng(0)
M = 40
GENES, LIPIDS = RNG.normal(size=(M, 4)), RNG.normal(size=(M, 3))
JOINED = np.hstack([GENES, LIPIDS])
TARGET = GENES[:, 0] + np.sin(2.0 * LIPIDS[:, 1]) + 0.1 * RNG.normal(size=M)
LABELS = np.where(TARGET > 0.0, "up", "down")
TASK = np.arange(M) % 2
FRAME = pd.DataFrame(LIPIDS, columns=["a", "b", "c"])
X = {"genes": GENES, "lipids": FRAME}
SWAPPED = {"lipids": FRAME, "genes": GENES}
NEW = {"lipids": FRAME[:5], "genes": GENES[:5]}
KERNELS = {"lipids": [al.Gaussian(), al.Columns("linear", ["a", "c"])], "genes": "linear"}
# The same by hand: in the order of the tables.
BY_HAND = [
    al.Columns(al.Linear(), range(4), "genes"),
    al.Columns(al.Gaussian(), range(4, 7), "lipids"),
    al.Columns(al.Linear(), [4, 6]),
]
NAMES = [*(f"genes__{k}" for k in range(4)), "lipids__a", "lipids__b", "lipids__c"]
FOLDS = KFold(3, shuffle=True, random_state=0)

MODELS = {
    "classifier": (al.MKLClassifier(), LABELS),
    "nystrom": (al.MKLClassifier(machine="nystrom", n_centers=15), LABELS),
    "l1-svm": (al.MKLClassifier(weighting="l1-svm"), LABELS),
    "probability": (al.MKLClassifierCV(Cs=[1.0], cv=2, probability="sigmoid"), LABELS),
    "regressor": (al.MKLRegressor(), TARGET),
    "regressor search": (al.MKLRegressorCV(alphas=[0.1, 1.0]), TARGET),
    "per target": (al.MKLRegressorCV(per_target=True), np.c_[TARGET, LIPIDS[:, 1]]),
    "bayesian": (al.BayesianMKLClassifier(), LABELS),
    "combiner": (al.KernelCombiner(), LABELS),
}


def outputs(model, new):
    names = ("predict", "decision_function", "predict_proba", "transform")
    return [getattr(model, name)(new) for name in names if hasattr(model, name)]


@pytest.mark.parametrize("name", MODELS)
def test_tables_are_groups_of_columns(name):
    model, y = MODELS[name]
    expected = clone(model).set_params(kernels=BY_HAND).fit(JOINED, y)
    expected = outputs(expected, JOINED[:5])
    of_list = dict(reversed(KERNELS.items()))  # names a list of tables in this order
    for given, kernels in ((X, KERNELS), ([GENES, FRAME], of_list), (al.Tables(X), KERNELS)):
        found = clone(model).set_params(kernels=kernels).fit(given, y)
        assert found.table_names_in_ == ("genes", "lipids")
        assert list(found.feature_names_in_) == NAMES
        frame = pd.DataFrame(JOINED[:5], columns=NAMES)
        for new in (NEW, al.Tables(NEW), al.Tables(X)[:5], frame):
            for one, other in zip(outputs(found, new), expected, strict=True):
                np.testing.assert_array_equal(one, other)


def test_the_order_of_tables_is_that_of_fit():
    found = al.MKLRegressor(KERNELS).fit(SWAPPED, TARGET)
    columns = [al.Columns("rbf", range(3)), al.Columns("linear", [0, 2])]
    by_hand = al.MKLRegressor([*columns, al.Columns("linear", range(3, 7))])
    by_hand.fit(np.hstack([LIPIDS, GENES]), TARGET)
    for new in (X, SWAPPED, al.Tables(X), [FRAME, GENES]):
        expected = by_hand.predict(np.hstack([LIPIDS, GENES]))
        np.testing.assert_array_equal(found.predict(new), expected)


def test_tasks_statistics_and_batches_take_tables():
    model = al.MultiTaskMKLClassifier(KERNELS).fit(X, LABELS, task=TASK)
    expected = al.MultiTaskMKLClassifier(BY_HAND).fit(JOINED, LABELS, task=TASK)
    found = model.predict(NEW, task=TASK[:5])
    np.testing.assert_array_equal(found, expected.predict(JOINED[:5], task=TASK[:5]))
    with pytest.raises(ValueError, match="task_column with several tables"):
        al.MultiTaskMKLClassifier(KERNELS, task_column=0).fit(X, LABELS)
    of_tables = al.alignment_statistics(X, TARGET, KERNELS)
    np.testing.assert_array_equal(of_tables.M, al.alignment_statistics(JOINED, TARGET, BY_HAND).M)
    assert of_tables.names[0] == "linear on genes"
    batches = al.AlignmentAccumulator(KERNELS)
    for rows in (slice(0, 20), slice(20, 40)):
        batches.update(al.Tables(X)[rows], TARGET[rows])
    expected = al.AlignmentAccumulator(BY_HAND)
    for rows in (slice(0, 20), slice(20, 40)):
        expected.update(JOINED[rows], TARGET[rows])
    np.testing.assert_array_equal(batches.statistics().M, expected.statistics().M)


def test_kernels_of_every_table():
    """One kernel, or a list, is on each table; one on selected columns uses those of all tables."""
    ladder = al.gaussian_kernels([0.1, 0.2])
    found = al.MKLRegressor([*ladder, al.Columns("linear", ["lipids__b"])]).fit(X, TARGET)
    expected = [al.Columns(k, s, n) for n, s in (("genes", range(4)), ("lipids", range(4, 7)))
                for k in ladder]  # fmt: skip
    assert found.kernels_ == [*expected, al.Columns("linear", 5)]
    assert len(al.MKLRegressor().fit(X, TARGET).weights_) == 18
    columns = al.MKLRegressor(al.RankOneKernels()).fit(X, TARGET)
    assert list(columns.statistics_.names) == NAMES


def test_sparse_tables():
    thin = csr_array(np.where(GENES > 0.0, GENES, 0.0))
    model = al.MKLClassifier(KERNELS).fit({"genes": thin, "lipids": FRAME}, LABELS)
    dense = al.MKLClassifier(KERNELS).fit({"genes": thin.toarray(), "lipids": FRAME}, LABELS)
    new = al.Tables({"genes": thin, "lipids": FRAME})[[3, 1]]
    expected = dense.decision_function(
        {"genes": thin.toarray()[[3, 1]], "lipids": FRAME[:4:1].iloc[[3, 1]]}
    )
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-2)
    raises(TypeError, "a table is sparse", np.asarray, new)


def test_folds_of_scikit_learn():
    model, tables = al.MKLRegressor(KERNELS), al.Tables(X)
    expected = cross_val_score(al.MKLRegressor(BY_HAND), JOINED, TARGET, cv=FOLDS)
    np.testing.assert_array_equal(cross_val_score(model, tables, TARGET, cv=FOLDS), expected)
    search = GridSearchCV(model, {"alpha": [0.1, 1.0], "kernels": [KERNELS, None]}, cv=FOLDS)
    search.fit(tables, TARGET)
    assert search.predict(NEW).shape == (5,)
    mask = np.arange(M) % 3 == 0
    np.testing.assert_array_equal(np.asarray(tables[mask]), JOINED[mask])
    np.testing.assert_array_equal(np.asarray(tables.take([4, 2])), JOINED[[4, 2]])
    assert (len(tables), tables[7].shape, tables.shape) == (M, (1, 7), (M, 7))


# Preprocessing


def test_transformers_of_tables_see_training_samples_alone():
    steps = {"genes": make_pipeline(StandardScaler(), PCA(2)), "lipids": StandardScaler()}
    kernels = {"genes": "linear", "lipids": "rbf"}
    model = make_pipeline(al.TableTransformer(steps), al.MKLRegressor(kernels))
    found = cross_val_predict(model, al.Tables(X), TARGET, cv=FOLDS)
    for train, test in FOLDS.split(JOINED):
        genes = make_pipeline(StandardScaler(), PCA(2)).fit(GENES[train])
        lipids = StandardScaler().fit(LIPIDS[train])
        Z = np.hstack([genes.transform(GENES), lipids.transform(LIPIDS)])
        one = al.MKLRegressor([al.Columns("linear", [0, 1]), al.Columns("rbf", [2, 3, 4])])
        expected = one.fit(Z[train], TARGET[train]).predict(Z[test])
        np.testing.assert_allclose(found[test], expected, rtol=1e-10)
    grid = {"tabletransformer__genes__pca__n_components": [1, 2]}
    search = GridSearchCV(model, grid, cv=FOLDS).fit(al.Tables(X), TARGET)
    assert model.get_params()["tabletransformer__genes__pca__n_components"] == 2
    best = search.best_params_["tabletransformer__genes__pca__n_components"]
    assert search.best_estimator_[0].transform(NEW).shape == (5, best + 3)
    assert not hasattr(steps["lipids"], "mean_")


def test_one_transformer_for_all_tables_and_none():
    both = al.TableTransformer(StandardScaler()).fit_transform(X)
    np.testing.assert_allclose(np.asarray(both).std(axis=0), 1.0)
    assert al.TableTransformer().fit(X).transform(NEW).tables["lipids"].equals(FRAME[:5])
    set_params = partial(al.TableTransformer({"a": "passthrough"}).set_params, a__b=3)
    cases = [
        (words, partial(al.TableTransformer(transformers).fit, X), words)
        for transformers, words in (
            ({"genes": StandardScaler()}, "for the tables 'genes', X has 'genes', 'lip"),
            ({"genes": "drop", "lipids": "passthrough"}, "'genes'.* is 'drop'; accepted"),
            ({"genes": max, "lipids": "passthrough"}, "'genes'.*accepted: an object with"),
        )
    ]
    cases += [
        ("set_params", set_params, r"\['a'\] is 'passthrough', which has no parameter 'b'"),
        ("matrix", partial(al.TableTransformer().fit, JOINED), "list of tables, or Tables, got nd"),
    ]
    assert not_refused(cases) == []


# Names


@pytest.fixture(scope="module")
def fitted():
    odd = {"<b>genes</b>": "linear", "$lipids^$": ["rbf", "linear"]}
    return al.MKLRegressor(odd).fit(dict(zip(odd, (GENES, LIPIDS))), TARGET)


def test_sums_of_weights_by_table(fitted):
    table, sums = fitted.kernel_table(), fitted.kernel_table(groups="columns")
    assert list(sums["kernel"]) == ["<b>genes</b>", "$lipids^$"]
    expected = [table["weight"][0], table["weight"][1:].sum()]
    np.testing.assert_allclose(sums["weight"], expected)
    np.testing.assert_allclose(sums["share"].sum(), 1.0)
    assert sums["alignment"][0] == pytest.approx(table["alignment"][0])
    part = fitted.weights_ * [0.0, 1.0, 1.0]
    assert sums["alignment"][1] == pytest.approx(fitted.statistics_.alignment(part))
    assert f"Sums of weights: <b>genes</b> {expected[0]:.4f} (share" in fitted.summary()
    swapped = {"$lipids^$": LIPIDS, "<b>genes</b>": GENES}
    spread = fitted.kernel_table(swapped, TARGET, groups="columns", folds=4)["spread"]
    again = fitted.kernel_table([GENES, LIPIDS], TARGET, groups="columns", folds=4)["spread"]
    np.testing.assert_array_equal(spread, again)
    found = fitted.contributions(swapped, TARGET, groups="columns")
    assert found.names == ("<b>genes</b>", "$lipids^$")
    np.testing.assert_allclose(found.values.sum() + found.offset, found.total)


def test_names_in_notebooks_and_pictures(fitted):
    html = fitted._repr_html_()
    assert "<b>genes</b>" not in html
    assert "&lt;b&gt;genes&lt;/b&gt;" in html
    display = al.KernelWeightsDisplay.from_estimator(fitted, groups="columns")
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == ["<b>genes</b>", r"\$lipids^\$"]
    display.figure_.canvas.draw()  # a name is no formula
    picture = al.CKADisplay.from_representations({"one": GENES, "two": LIPIDS})
    assert [label.get_text() for label in picture.ax_.get_yticklabels()] == ["one", "two"]


def test_groups_of_columns_of_one_matrix():
    """Banded ridge: linear kernels on named groups of columns, weights for every target."""
    bands = {"genes": range(4), "lipids": slice(4, 7)}
    Y = np.c_[GENES @ [1, 2, 3, 4], LIPIDS.sum(axis=1)]
    model = al.MKLRegressorCV(bands, per_target=True).fit(JOINED, Y)
    lists = [al.Columns("linear", columns) for columns in bands.values()]
    expected = al.MKLRegressorCV(lists, per_target=True).fit(JOINED, Y)
    np.testing.assert_array_equal(model.predict(JOINED), expected.predict(JOINED))
    assert list(model.kernel_table()["kernel"]) == ["linear on genes", "linear on lipids"]
    assert np.all(np.diag(model.weights_) > 0.9)


def test_guarantees_of_kernels_of_tables():
    for own, met in ((al.Gaussian(0.1), True), ("rbf", False)):
        model = al.MKLClassifier({"genes": [own], "lipids": al.Gaussian(0.2)})
        model.fit({"genes": GENES, "lipids": LIPIDS}, LABELS)
        by_hand = [al.Columns(own, range(4)), al.Columns(al.Gaussian(0.2), range(4, 7))]
        expected = al.MKLClassifier(by_hand).fit(JOINED, LABELS)
        assert model.alignment_interval_.not_met == expected.alignment_interval_.not_met
        assert bool(model.alignment_interval_.not_met) != met
        swapped = {"lipids": LIPIDS, "genes": GENES}
        found = model.bound(swapped, LABELS, draws=20)
        assert found.value == expected.bound(JOINED, LABELS, draws=20).value
        found = model.alignment_interval(swapped, LABELS)
        assert found.low == expected.alignment_interval(JOINED, LABELS).low
    names = al.MKLClassifier({"genes": "rbf", "lipids": al.Columns("linear", ["b"])})
    assert names.fit(X, LABELS).alignment_interval_.not_met


def test_one_kernel_is_on_all_tables_or_on_none():
    learned = al.MKLRegressor(KERNELS).fit(X, TARGET).kernel_
    for kernel in (learned, al.Gaussian(0.1)):
        found = al.NystromRidge(kernel, n_centers=9).fit(X, TARGET).predict(NEW)
        expected = al.NystromRidge(kernel, n_centers=9).fit(JOINED, TARGET).predict(JOINED[:5])
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(learned(al.Tables(X)), learned(JOINED))
    for call in (
        partial(al.hsic_test, X, LIPIDS),
        partial(al.hsic_test, [GENES, LIPIDS], LIPIDS),
        partial(al.alignment_interval, X, LABELS, al.Gaussian(0.1)),
    ):
        raises(ValueError, "X consists of several tables; accepted: one matrix", call)
    with pytest.warns(al.DoubtfulResultWarning, match="Columns 'genes__1' and 'genes__0' of X"):
        al.MKLRegressor().fit({"genes": GENES * [1.0, 1e5, 1.0, 1.0]}, TARGET)


# Rejected input

BAD_TABLES = (
    ({}, "tables is empty"),
    ({"a": GENES, "b": GENES[:, :0]}, r"table 'b' has shape \(40, 0\)"),
    ({"a": GENES, "b": FRAME["a"]}, r"table 'b' has shape \(40,\); .*reshape"),
    ({"a": GENES, "b": FRAME[:7]}, "numbers of rows: 'a' has 40, 'b' has 7"),
    ({"a": GENES, "b": FRAME.astype(str) + "x"}, "table 'b' must hold real numbers"),
    ({"a": GENES, "b": FRAME.where(FRAME < 1)}, "table 'b' contains NaN.* 'a'"),
    ({"a": GENES, 7: LIPIDS}, "a name must be a str, got 7"),
    ({"a": GENES, "b": None}, "table 'b' has shape"),
)
BAD_KERNELS = (
    ({"genes": "rbf"}, "table 'lipids' without kernels; accepted: kernels for each of 'genes'"),
    ({"genes": "rbf", "lipid": "rbf"}, "X has no table 'lipid' and table 'lipids' without"),
    ({"genes": [5], "lipids": "rbf"}, r"kernels\['genes'\]: .* column 5, but the table has 4"),
    ({"genes": "rbf", "lipids": ["x"]}, "selects 'x', which is not a column of X; X has 'a'"),
)


def test_bad_tables_and_kernels_of_other_tables_are_named():
    cases = [(words, partial(al.MKLRegressor().fit, X, TARGET), words) for X, words in BAD_TABLES]
    for kernels, words in BAD_KERNELS:
        cases.append((words, partial(al.MKLRegressor(kernels).fit, X, TARGET), words))
    fit, words = al.MKLRegressor({"genes": "rbf"}).fit, "X has 2 tables, but kernels has 1 names"
    assert not_refused([*cases, (words, partial(fit, [GENES, LIPIDS], TARGET), words)]) == []


def test_other_tables_in_predict_are_refused():
    model = al.MKLRegressor().fit({"a": GENES, "b": LIPIDS}, TARGET)
    cases = [
        (words, partial(model.predict, new), words)
        for new, words in (
            ({"a": GENES}, "X lacks 'b'; accepted: a table for each name of fit, 'a', 'b'"),
            ({"a": GENES, "B": LIPIDS}, "X has 'B' and lacks 'b'"),
            ({"a": GENES, "b": LIPIDS, "c": LIPIDS}, "X has 'c'; accepted"),
            ({"a": LIPIDS, "b": GENES}, "unseen at fit time:\n- b__3"),
            ([GENES], "X has 1 tables; accepted: 2, 'a', 'b' in this order"),
            (al.GramStack([GENES]), "X is a GramStack, but fit had tables"),
        )
    ]
    plain = al.MKLRegressor().fit(JOINED, TARGET)
    cases.append(("plain", partial(plain.predict, X), "X is a dict, but fit had no tables"))
    assert not_refused(cases) == []
    for index in ((slice(None), 0), "a"):
        with pytest.raises((TypeError, IndexError)):
            al.Tables(X)[index]


# Precomputed kernels


def grams():
    genes, lipids = al.Linear()(GENES), al.Gaussian(0.2)(LIPIDS)
    return {"genes": genes, "lipids": lipids, "odd": al.Precomputed(genes - lipids, fix="clip")}


def test_folds_of_given_matrices():
    """Those of the list of matrices, with all parameters computed on the training samples."""
    given, model = grams(), al.MKLRegressor("precomputed")
    folds = list(FOLDS.split(JOINED))
    expected = al.cross_validate_kernels(model, list(given.values()), TARGET, cv=folds)
    stack = al.GramStack(given)
    found = cross_validate(model, stack, TARGET, cv=folds, return_estimator=True)
    np.testing.assert_array_equal(found["test_score"], expected["test_score"])
    own = al.cross_validate_kernels(model, given, TARGET, cv=folds)
    np.testing.assert_array_equal(own["weights"], expected["weights"])
    one, (train, test) = found["estimator"][0], folds[0]
    np.testing.assert_array_equal(one.sample_numbers_in_, train)
    plain = {name: getattr(K, "gram", K) for name, K in given.items()}
    rows = {name: K[np.ix_(test, train)] for name, K in reversed(plain.items())}
    np.testing.assert_array_equal(one.predict(rows), one.predict(stack[test]))
    new = al.GramStack({name: K[test] for name, K in plain.items()})  # against all of the stack
    np.testing.assert_array_equal(one.predict(new), one.predict(stack[test]))
    assert one.statistics_.names == ("genes", "lipids", "odd")


def test_searches_on_given_matrices():
    given = grams()
    del given["odd"]
    stack = al.GramStack(given)
    search = GridSearchCV(al.MKLClassifier("precomputed"), {"C": [0.1, 1.0]}, cv=3)
    model = search.fit(stack, LABELS).best_estimator_
    again = al.MKLClassifier("precomputed", C=model.C).fit(list(given.values()), LABELS)
    expected = again.predict([K[:9] for K in given.values()])
    np.testing.assert_array_equal(model.predict(stack[:9]), expected)
    tuned = al.MKLRegressorCV("precomputed", weighting="alignf", cv=3).fit(stack[:30], TARGET[:30])
    assert tuned.table_names_in_ == ("genes", "lipids")
    assert tuned.predict(stack[30:]).shape == (10,)
    assert tuned.kernel_table(stack[:30], TARGET[:30], folds=3)["spread"].shape == (2,)


def test_bad_stacks_are_refused():
    K = al.Linear()(GENES)
    cases = [
        (words, partial(al.GramStack, given), words)
        for given, words in (
            ({}, "grams is empty"),
            ({"a": K, "b": K[:5]}, r"'a' has \(40, 40\), 'b' has \(5, 40\)"),
            ({"a": K[0]}, r"'a' has \(40,\)"),
            ({3: K}, "a name must be a str, got 3"),
            (3, "dict or sequence of matrices"),
        )
    ]
    model = al.MKLRegressor("precomputed").fit({"a": K, "b": K + np.eye(M)}, TARGET)
    fit = al.MKLRegressor("precomputed").fit
    for call, given, words in (
        (fit, ({"a": K[:5]}, TARGET[:5]), r"'a' has shape \(5, 40\); accepted in fit: a square"),
        (al.MKLRegressor().fit, (al.GramStack({"a": K}), TARGET), 'with it: kernels="precomputed"'),
        (fit, (al.Tables({"a": K}), TARGET), r"X is Tables, but .* GramStack"),
        (model.predict, ({"a": K[:3]},), "X lacks 'b'; accepted: a matrix for each name of fit"),
        (model.predict, (al.GramStack({"a": K[:3, :9], "b": K[:3, :9]}),), "matrices of 9 columns"),
        (model.predict, (al.GramStack({"a": K[:3], "c": K[:3]}),), "X has 'c' and lacks 'b'"),
    ):
        cases.append((words, partial(call, *given), words))
    assert not_refused(cases) == []


# Views


def test_views_by_name():
    views, given = {"genes": GENES, "lipids": LIPIDS}, [GENES, LIPIDS]
    kernels, of_list = (
        {"lipids": al.Linear(), "genes": al.Gaussian(0.1)},
        [al.Gaussian(0.1), al.Linear()],
    )
    found = al.KernelCCA(kernels=kernels).fit(views)
    expected = al.KernelCCA(kernels=of_list).fit(given)
    np.testing.assert_array_equal(found.correlations_, expected.correlations_)
    nothing, values = found.transform({"lipids": LIPIDS[:5]})
    assert nothing is None
    np.testing.assert_array_equal(values, expected.transform([None, LIPIDS[:5]])[1])
    assert found.score(dict(reversed(views.items()))) == expected.score(given)
    matrix = al.cka_matrix(views, kernels=kernels)
    np.testing.assert_array_equal(matrix, al.cka_matrix(given, kernels=of_list))
    text, short = {"genes": GENES, "text": LIPIDS}, {"genes": GENES, "lipids": LIPIDS[:3]}
    raises(ValueError, "X has views 'text', which were not in fit", found.transform, text)
    raises(ValueError, "for a dict of views, a dict of kernels", found.fit, text)
    raises(ValueError, r"features\['lipids'\] has 3 rows, but feat", al.cka_matrix, short)
