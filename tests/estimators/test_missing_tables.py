"""Samples with missing tables: statistics, completed kernels and models against plain NumPy."""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from refusals import not_refused, raises
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import alignlearn as al
from alignlearn.folds import equal_folds
from alignlearn.machines import KernelRidge
from alignlearn.sources import open_source
from alignlearn.sources.completion import donors_of
from alignlearn.validation import DoubtfulResultWarning

RNG = np.random.default_rng(0)
M, N = 48, 12
A, B, C = (RNG.normal(size=(M + N, d)) for d in (3, 2, 2))
B[:, 0] += A[:, 0]
TARGET = (A[:, 0] + np.sin(2.0 * B[:, 1]) + 0.5 * C[:, 0])[:M]
LABELS = np.where(TARGET > 0.0, "up", "down")
THREE = np.digitize(TARGET, [-0.6, 0.6])
PRESENT = np.ones((M + N, 3), bool)
PRESENT[[0, 3, 9, 20, 33, 50], 0] = False
PRESENT[[1, 3, 12, 21, 34, 50, 51], 1] = False
PRESENT[[0, 2, 13, 22, 35, 36, 51, 52], 2] = False
KERNELS = {"a": [al.Gaussian(0.3), "linear"], "b": al.Gaussian(0.2), "c": "linear"}
TABLE = np.array([0, 0, 1, 2])
WEIGHT = RNG.integers(1, 4, M).astype(float)
FOLDS = KFold(3, shuffle=True, random_state=0)


def gapped(tables, present=PRESENT):
    return {
        name: np.where(have[:, None], table, np.nan)
        for name, table, have in zip("abc", tables, present.T)
    }


def some(X, rows):
    return {name: table[rows] for name, table in X.items()}


WHOLE = gapped((A, B, C), np.ones_like(PRESENT))
GAPS = gapped((A, B, C))
X, NEW = some(GAPS, slice(M)), some(GAPS, slice(M, None))
OF_WHOLE = some(WHOLE, slice(M))


def matrices():
    """The four kernels on all samples; entries of samples without the table are not to be read."""

    def gaussian(Z, gamma):
        return np.exp(-gamma * np.square(Z[:, None] - Z[None]).sum(axis=2))

    return [gaussian(A, 0.3), A @ A.T, gaussian(B, 0.2), C @ C.T]


def center(K, rows, share):
    means = share @ K[rows]
    return K - means - (K[:, rows] @ share)[:, None] + means[rows] @ share


def zero_filled(present, weight=None):
    """Kernels of the first samples centered on those that have the table, 0 elsewhere."""
    found = []
    weight = np.ones(len(present)) if weight is None else weight
    for K, t in zip(matrices(), TABLE):
        rows = np.flatnonzero(present[:, t])
        K = center(K[: len(present), : len(present)], rows, weight[rows] / weight[rows].sum())
        found.append(K * np.outer(present[:, t], present[:, t]))
    return found


def mixture(i, t, factors, present, weight, grams=None):
    """Weights of the training samples that impute table t of sample i, one by one."""
    grams = matrices() if grams is None else grams
    donors = [j for j in range(M) if present[j, t] and weight[j] > 0.0]
    w = weight[donors]
    G, g = np.zeros((len(donors), len(donors))), np.zeros(len(donors))
    for K, factor, u in zip(grams, factors, TABLE):
        have = present[donors, u]
        if not present[i, u] or not have.any():
            continue
        rows = np.array(donors)[have]
        K = factor * center(K, rows, w[have] / w[have].sum())
        G += K[np.ix_(donors, donors)] * np.outer(have, have)
        g += K[i, donors] * have
    ridge = 0.3 * (w @ np.diag(G)) / w.sum()
    c = np.linalg.solve(G + np.diag(ridge / w), g)
    shares = np.zeros(M)
    shares[donors] = c + (1.0 - c.sum()) * w / w.sum()
    return shares, (G + np.diag(ridge / w), donors)


def completed(factors, present=PRESENT, weight=None, grams=None):
    """The completed kernel of all samples, (M + N, M + N)."""
    grams = matrices() if grams is None else grams
    weight, total = np.ones(M) if weight is None else weight, 0.0
    for K, factor, t in zip(grams, factors, TABLE):
        E = np.eye(M + N)
        for i in np.flatnonzero(~present[:, t]):
            E[i] = 0.0
            E[i, :M] = mixture(i, t, factors, present, weight, grams)[0]
        total = total + factor * E @ K @ E.T
    return total


def factors_of(model):
    return model.weights_ * model.scale_


# Stage 1


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weights"])
@pytest.mark.parametrize("y", [TARGET, THREE], ids=["real", "classes"])
def test_statistics_are_those_of_kernels_that_are_0_where_a_table_lacks(y, weight):
    source = open_source(X, KERNELS, gaps=True, sample_weight=weight)
    found = source.statistics(y)
    w = np.ones(M) if weight is None else weight
    grams, Y = zero_filled(PRESENT[:M], weight), y[:, None]
    if y is THREE:
        Y = (y[:, None] == np.unique(y)).astype(float)
    Y = Y - (w @ Y) / w.sum()
    pairs, T = np.outer(w, w), Y @ Y.T
    np.testing.assert_allclose(found.a, [(K * T * pairs).sum() for K in grams], rtol=1e-9)
    M_kl = [[(K * L * pairs).sum() for L in grams] for K in grams]
    np.testing.assert_allclose(found.M, M_kl, rtol=1e-9)
    have = PRESENT[:M, TABLE].T * w
    mean = [K.diagonal() @ h / h.sum() for K, h in zip(grams, have)]
    np.testing.assert_allclose(found.trace, w.sum() * np.array(mean), rtol=1e-9)
    np.testing.assert_allclose(found.target_norm, np.sqrt((np.square(T) * pairs).sum()))
    assert (found.n_samples, found.total_weight) == (M, w.sum())


def test_one_stage_rules_take_the_same_kernels():
    options = {"weighting": "lkrr", "normalize": None}
    found = al.MKLRegressor(KERNELS, missing="tables", **options).fit(X, TARGET)
    given = al.MKLRegressor("precomputed", **options).fit(zero_filled(PRESENT[:M]), TARGET)
    np.testing.assert_allclose(found.weights_, given.weights_, rtol=1e-6)


# Stage 2


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weights"])
def test_ridge_regression_on_the_completed_kernel(weight):
    model = al.MKLRegressor(KERNELS, alpha=0.5, missing="tables").fit(X, TARGET, weight)
    K = completed(factors_of(model), weight=weight)
    w = np.ones(M) if weight is None else weight
    inside = center(K[:M, :M], np.arange(M), w / w.sum())
    mean = w @ TARGET / w.sum()
    coef = np.linalg.solve(inside + 0.5 * np.diag(1.0 / w), TARGET - mean)
    expected = center(K, np.arange(M), w / w.sum())[:, :M] @ coef + mean
    np.testing.assert_allclose(model.predict(GAPS), expected, rtol=1e-8, atol=1e-8)
    # One by one, in any order and as one frame: a sample does not depend on other samples.
    order = [3, 0, 7]
    alone = [model.predict(some(NEW, [i]))[0] for i in order]
    np.testing.assert_allclose(alone, expected[M:][order], rtol=1e-8, atol=1e-8)
    names = [*(f"a__{k}" for k in range(3)), "b__0", "b__1", "c__0", "c__1"]
    frame = pd.DataFrame(np.hstack(list(NEW.values())), columns=names)
    swapped = dict(reversed(NEW.items()))
    for again in (frame, swapped, al.Tables(NEW), list(NEW.values())):
        np.testing.assert_array_equal(model.predict(again), model.predict(NEW))


def test_the_classifier_and_its_kernel_matrix():
    model = al.MKLClassifier(KERNELS, C=2.0, missing="tables").fit(X, THREE)
    K = completed(factors_of(model))
    expected = K[:, model.support_] @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model._decisions(GAPS), expected, rtol=1e-7, atol=1e-7)
    plain = al.KernelCombiner(KERNELS, center=False, missing="tables")
    K = completed(factors_of(plain.fit(X, THREE)))
    np.testing.assert_allclose(plain.fit_transform(X, THREE), K[:M, :M], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(plain.transform(GAPS), K[:, :M], rtol=1e-9, atol=1e-12)
    K = plain.fit_transform(X, THREE)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.trace(K)
    centered = al.KernelCombiner(KERNELS, missing="tables").fit(X, THREE)
    expected = center(completed(factors_of(centered)), np.arange(M), np.full(M, 1.0 / M))
    np.testing.assert_allclose(centered.transform(GAPS), expected[:, :M], rtol=1e-8, atol=1e-10)


def test_how_well_tables_are_explained():
    model = al.MKLRegressor(KERNELS, missing="tables").fit(X, TARGET)
    factors, kernels = factors_of(model), matrices()
    for t, (name, n) in enumerate(zip(model.completion_.names, model.completion_.n_lacking)):
        lost, lacking = [], np.flatnonzero(~PRESENT[:M, t])
        assert (name, n) == ("abc"[t], lacking.size)
        for i in lacking:
            system, donors = mixture(i, t, factors, PRESENT, np.ones(M))[1]
            K = sum(f * K for f, K, u in zip(factors, kernels, TABLE) if u == t)
            K = center(K, donors, np.full(len(donors), 1.0 / len(donors)))
            K, errors = K[np.ix_(donors, donors)], []
            for j in range(len(donors)):  # each regression without one of the donors
                others = np.delete(np.arange(len(donors)), j)
                c = np.linalg.solve(system[np.ix_(others, others)], system[others, j])
                errors.append(K[j, j] - 2.0 * K[j, others] @ c + c @ K[np.ix_(others, others)] @ c)
            lost.append(sum(errors) / np.trace(K))
        np.testing.assert_allclose(model.completion_.explained[t], 1.0 - np.mean(lost))
    assert f"table a: missing for 5 of {M} samples, " in model.summary()


def test_nothing_is_explained_of_a_constant_table():
    """Regression predicts the mean, which leaves the whole variance, in every unit."""
    kernels = {"a": "linear", "c": "linear"}
    model = al.MKLRegressor(kernels, missing="tables", weighting="uniform")
    assert model.fit({"a": X["a"], "c": np.ones((M, 1))}, TARGET).completion_.explained[0] == 0.0
    # The only sample with another value is not among the 1000 donors, so their variance is 0.
    a = np.random.default_rng(0).normal(size=(1500, 1))
    c = np.zeros((1500, 1))
    c[2], c[[7, 11]] = 1.0, np.nan
    assert 2 not in donors_of(open_source({"a": a, "c": c}, kernels, gaps=True))
    model.fit({"a": a, "c": c}, a[:, 0])
    assert model.weights_[1] > 0.0
    assert model.completion_.explained[1] == 0.0
    model = al.MKLRegressor(LINEAR, missing="tables", normalize=None)
    expected = model.fit(X, TARGET).completion_.explained
    small = {name: 2.0**-20 * table for name, table in X.items()}
    np.testing.assert_allclose(model.fit(small, TARGET).completion_.explained, expected)


# No table is missing

MODELS = {
    "classifier": (al.MKLClassifier(), LABELS),
    "many classes": (al.MKLClassifier(probability="sigmoid"), THREE),
    "nystrom": (al.MKLClassifier(machine="nystrom", n_centers=15), LABELS),
    "l1-svm": (al.MKLClassifier(weighting="l1-svm"), LABELS),
    "unbiased": (al.MKLRegressor(unbiased=True), TARGET),
    "svr": (al.MKLRegressor(machine="svr"), np.c_[TARGET, TARGET**2]),
    "search": (al.MKLClassifierCV(Cs=[0.1, 1.0], cv=2), LABELS),
    "leave one out": (al.MKLRegressorCV(alphas=[0.1, 1.0]), TARGET),
    "combiner": (al.KernelCombiner(), LABELS),
    "exact combiner": (al.KernelCombiner(center=False), LABELS),
}
LINEAR = {"a": "linear", "b": "linear", "c": "linear"}


def outputs(model, data):
    names = ("predict", "decision_function", "predict_proba", "transform")
    return [getattr(model, name)(data) for name in names if hasattr(model, name)]


@pytest.mark.parametrize("kernels", [KERNELS, LINEAR], ids=["pairs", "features"])
@pytest.mark.parametrize("name", MODELS)
def test_nothing_is_lacking(name, kernels):
    model, y = MODELS[name]
    if name == "nystrom" and kernels is LINEAR:
        return
    expected = clone(model).set_params(kernels=kernels).fit(OF_WHOLE, y)
    found = clone(model).set_params(kernels=kernels, missing="tables").fit(OF_WHOLE, y)
    np.testing.assert_array_equal(found.weights_, expected.weights_)
    for one, other in zip(outputs(found, WHOLE), outputs(expected, WHOLE), strict=True):
        np.testing.assert_array_equal(one, other)
    assert found.summary() == expected.summary()
    assert found.completion_ is None
    # A sample without the last table has the decision of a mixture of it.
    lacking = np.ones_like(PRESENT)
    lacking[M + 4, 2] = False
    shares = mixture(M + 4, 2, factors_of(found), lacking, np.ones(M))[0]
    donors = {"a": np.repeat(A[[M + 4]], M, 0), "b": np.repeat(B[[M + 4]], M, 0), "c": C[:M]}
    if kernels is KERNELS:
        value = raw(found, some(gapped((A, B, C), lacking), slice(M, None)))[4]
        np.testing.assert_allclose(value, shares @ raw(found, donors), rtol=1e-6, atol=1e-8)


def raw(model, data):
    return model.transform(data) if hasattr(model, "transform") else model._decisions(data)


# Folds


@pytest.mark.parametrize("name", ["ridge", "svm"])
def test_searches_are_grid_searches(name):
    given = {"kernels": KERNELS, "missing": "tables"}
    if name == "ridge":
        y, grid, plain = TARGET, {"alpha": [0.01, 1.0]}, al.MKLRegressor(**given)
        found = al.MKLRegressorCV(alphas=[0.01, 1.0], scoring="r2", **given)
    else:
        y, grid, plain = THREE, {"C": [0.1, 10.0]}, al.MKLClassifier(**given)
        found = al.MKLClassifierCV(Cs=[0.1, 10.0], **given)
    tables = al.Tables(X)
    expected = GridSearchCV(plain, grid, cv=FOLDS).fit(tables, y)
    found.set_params(weighting="alignf", cv=FOLDS).fit(tables, y)
    key = "mean_test_score"
    np.testing.assert_allclose(found.cv_results_[key], expected.cv_results_[key], rtol=1e-8)
    np.testing.assert_array_equal(found.predict(NEW), expected.predict(al.Tables(NEW)))


def test_leave_one_out():
    values = [1e-4, 0.01, 1.0, 10.0]
    found = al.MKLRegressorCV(KERNELS, missing="tables", alphas=values).fit(X, TARGET)
    K = completed(factors_of(found))[:M, :M]
    H = np.eye(M) - 1.0 / M
    errors = []
    for alpha in values:
        S = np.linalg.inv(H @ K @ H + alpha * np.eye(M))
        S -= np.outer(S.sum(1), S.sum(0)) / S.sum()
        errors.append(-np.sqrt(np.mean(np.square((S @ TARGET) / S.diagonal()))))
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], errors, rtol=1e-8)


# Printed output of the model


@pytest.fixture(scope="module")
def model():
    return al.MKLRegressor(KERNELS, missing="tables", alpha=0.1).fit(X, TARGET)


def test_contributions(model):
    y = RNG.normal(size=N)
    parts = model.contributions(NEW, y)
    residual = np.square(y - model.predict(NEW)).sum() / np.square(y - y.mean()).sum()
    np.testing.assert_allclose(parts.values.sum() + parts.offset, 1.0 - residual)
    rows = np.flatnonzero(PRESENT[M:, 1:].any(axis=1))
    new, y = some(NEW, rows), y[rows]
    again = model.contributions(new, y, groups="columns", method="refit", fit=(X, TARGET))
    two = al.MKLRegressor({name: KERNELS[name] for name in "bc"}, alpha=0.1, missing="tables")
    two.fit({name: X[name] for name in "bc"}, TARGET)
    more = np.square(y - two.predict({name: new[name] for name in "bc"})).sum()
    more -= np.square(y - model.predict(new)).sum()
    expected = more / np.square(y - y.mean()).sum()
    np.testing.assert_allclose(again.values[0], expected, rtol=1e-6)


def test_copies_and_bounds(model):
    for again in (pickle.loads(pickle.dumps(model)), clone(model).fit(al.Tables(X), TARGET)):
        np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
    options = {"label_range": (-9, 9)}
    raises(al.HypothesisNotMet, "have missing tables", model.bound, X, TARGET, radius2=9, **options)
    plain = al.MKLRegressor(KERNELS).fit(OF_WHOLE, TARGET)
    for one, given in ((model, NEW), (plain, some(WHOLE, slice(M, None)))):
        held = one.bound(given, np.zeros(N), held_out=True, **options)
        np.testing.assert_allclose(held.empirical_risk, np.mean(one.predict(given) ** 2))
    raises(ValueError, "training samples", model.bound, X, TARGET, held_out=True, **options)
    two = TARGET > 0.0
    classes = al.MKLClassifier(KERNELS, missing="tables")
    for found in (
        classes.fit(X, two).alignment_interval(X, two, radius2=20.0),
        classes.fit(OF_WHOLE, two).alignment_interval(NEW, two[:N], held_out=True, radius2=20.0),
    ):
        assert (found.low, found.high, found.vacuous) == (-1.0, 1.0, True)
        assert any("some samples have missing tables" in reason for reason in found.not_met)


def test_donors_are_few():
    values = RNG.normal(size=(2600, 2))
    values[np.arange(2600) % 13 > 0, 1] = np.nan  # 200 have the second table
    source = open_source({"a": values[:, :1], "b": values[:, 1:]}, "rbf", gaps=True)
    donors = donors_of(source)
    assert 1000 <= donors.size <= 1200
    assert source.present[donors, 1].sum() == 200
    few = open_source(some(X, slice(30)), KERNELS, gaps=True, sample_weight=WEIGHT[:30] > 1.0)
    np.testing.assert_array_equal(donors_of(few), np.flatnonzero(WEIGHT[:30] > 1.0))


# Rejected input


def with_gaps(name, row, value=np.nan):
    table = X[name].copy()
    table[row] = value
    return {**X, name: table}


def first_alone(name):
    """Only the first sample has the table."""
    return {**OF_WHOLE, name: np.where(np.arange(M)[:, None] > 0, np.nan, OF_WHOLE[name])}


def without_sample(tables, i):
    return {
        name: np.where(np.arange(len(t))[:, None] == i, np.nan, t) for name, t in tables.items()
    }


BAD = (
    (with_gaps("b", (5, 1)), {}, r"table 'b' contains NaN in some columns of 1"),
    (with_gaps("b", (5, 1), np.inf), {}, r"table 'b' contains .*infinity in column 1"),
    (without_sample(OF_WHOLE, 7), {}, r"X: every table is missing for 1 samples \(7\)"),
    (first_alone("b"), {}, "fewer than two training samples have the table 'b'"),
    (X, {"unbiased": True}, "unbiased=True cannot be used with missing tables"),
    (X, {"machine": "nystrom"}, "machine='nystrom' is not available for missing tables"),
    (X, {"memory": 1000}, "memory=1000: missing tables need 3 matrices"),
    (X, {"kernels": [al.Columns("rbf", ["a__0", "b__0"])]}, "columns of several tables, 'a', 'b'"),
    (X, {"kernels": "sigmoid"}, "may be indefinite, so a missing table cannot"),
    (X, {"missing": "rows"}, "missing='rows'"),
    (np.hstack(list(X.values())), {"kernels": None}, "needs X of several tables"),
    ([A[:M] @ A[:M].T], {"kernels": "precomputed"}, "needs X of several tables"),
    (X, {"kernels": al.RankOneKernels()}, "needs X of several tables"),
    ({"a": csr_array(A[:M]), "b": B[:M]}, {"kernels": "rbf"}, "table 'a' is sparse, and missing"),
    (X, {"missing": None}, r"table 'a' contains NaN in all columns of 5 samples \(0, 3.*missing="),
)


def test_what_is_refused(model):
    cases = []
    for given, options, words in BAD:
        classes = al.MKLClassifier(KERNELS, missing="tables").set_params(**options)
        cases.append((words, partial(classes.fit, given, LABELS), words))
    frames = {name: pd.DataFrame(table) for name, table in X.items()}
    plain = al.MKLRegressor(KERNELS)
    odd, even = np.arange(1, M, 2), np.arange(0, M, 2)
    search = al.MKLRegressorCV(KERNELS, weighting="alignf", missing="tables", cv=[(odd, even)])
    own = al.MKLRegressorCV(KERNELS, missing="tables", per_target=True)
    best = al.MKLClassifierCV(KERNELS, missing="tables", strategy="best")
    narrow = {**NEW, "a": A[M:, :2]}
    cases += [
        (words, partial(call, *given), words)
        for call, given, words in (
            (plain.fit, (frames, TARGET), "table 'a' contains NaN.*missing='tables' of MKL"),
            (clone(plain).fit(OF_WHOLE, TARGET).predict, (NEW,), "missing='tables' of MKL"),
            (model.predict, (without_sample(NEW, 2),), r"every table is missing for 1 samples \(2"),
            (model.predict, (narrow,), "names"),
            (own.fit, (X, TARGET), "cannot be combined with per_target=True"),
            (best.fit, (X, LABELS), "'auto' cannot be combined with missing='tables'"),
            (
                search.fit,
                (with_gaps("b", odd), TARGET),
                "fewer than two training samples",
            ),
        )
    ]
    assert not_refused(cases) == []


def test_a_constant_table_has_no_weight():
    """A sample with only that table gets means of the others."""
    tables = {**X, "c": np.where(np.isnan(X["c"]), np.nan, 1.0)}
    found = al.MKLRegressor(KERNELS, missing="tables").fit(tables, TARGET)
    assert found.weights_[3] == 0.0
    lost = {"a": np.full((1, 3), np.nan), "b": np.full((1, 2), np.nan), "c": np.ones((1, 2))}
    assert abs(found.predict(lost)[0] - TARGET.mean()) < TARGET.std()
    constant = {name: np.where(np.isnan(t), np.nan, 1.0) for name, t in X.items()}
    raises(ValueError, "every kernel is constant", found.fit, constant, TARGET)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_and_types(unit, model):
    scaled = {**KERNELS, "a": [al.Gaussian(0.3 / unit**2), "linear"]}
    tables = {**GAPS, "a": GAPS["a"] * unit}
    single = {name: table.astype(np.float32) for name, table in GAPS.items()}
    for kernels, given, atol in ((scaled, tables, 1e-7), (KERNELS, single, 1e-3)):
        found = al.MKLRegressor(kernels, missing="tables", alpha=0.1)
        found.fit(some(given, slice(M)), TARGET)
        rtol = 1e-6 if given is tables else 1e-7
        np.testing.assert_allclose(found.predict(given), model.predict(GAPS), rtol, atol)


# Error bars, sets and intervals

FITTED = {"gaps": PRESENT, "no gaps in fit": np.vstack([np.ones((M, 3), bool), PRESENT[M:]])}
BARS = {"pairs": KERNELS, "linear": {"a": ["linear", "linear"], "b": "linear", "c": "linear"}}


def completed_by(model, kernels, present, weight=None):
    """The completed kernel of a fit, (M + N, M + N)."""
    given = matrices if kernels == "pairs" else lambda: [A @ A.T, A @ A.T, B @ B.T, C @ C.T]
    return completed(factors_of(model), present, weight, given())


def fit_of(name):
    tables = gapped((A, B, C), FITTED[name])
    return some(tables, slice(M)), some(tables, slice(M, None))


def without(K, index, alpha=0.5):
    """Predictions of ridge regression on all samples, without some of the first M."""
    rest = np.setdiff1d(np.arange(M), index)
    machine = KernelRidge(alpha).fit(K[np.ix_(rest, rest)], TARGET[rest])
    return machine.predict(K[:, rest])


def plus(lefts, parts, coverage=0.8):
    """Intervals of new samples from predictions (M + N,) without every part."""
    low, high = [], []
    for left, index in zip(lefts, parts):
        radii = np.abs(TARGET[index] - left[index])
        low += [left[M:] - r for r in radii]
        high += [left[M:] + r for r in radii]
    k = int(np.ceil(coverage * (M + 1)))
    return np.sort(low, axis=0)[M - k], np.sort(high, axis=0)[k - 1]


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weights"])
@pytest.mark.parametrize(("kernels", "fitted"), [*zip(BARS, FITTED), *zip(BARS, [*FITTED][::-1])])
def test_deviations_are_those_of_the_completed_kernel(kernels, fitted, weight):
    """By the equations of universal kriging."""
    given, new = fit_of(fitted)
    model = al.MKLRegressor(BARS[kernels], alpha=0.5, missing="tables").fit(given, TARGET, weight)
    K = completed_by(model, kernels, FITTED[fitted], weight)
    w, one, k = np.ones(M) if weight is None else weight, np.ones(M), K[M:, :M]
    inverse = np.linalg.inv(K[:M, :M] + np.diag(0.5 / w))
    Q = inverse - np.outer(inverse @ one, inverse @ one) / (one @ inverse @ one)
    own = np.diagonal(K)[M:] - np.einsum("ij,jk,ik->i", k, inverse, k)
    own += np.square(1.0 - k @ inverse @ one) / (one @ inverse @ one)
    fit = (given, TARGET) if weight is None else (given, TARGET, weight)
    mean, std = model.predict(new, return_std=True, fit=fit)
    expected = np.sqrt(own * (TARGET @ Q @ TARGET) / (M - 1))
    np.testing.assert_allclose(std, expected, rtol=1e-6)
    np.testing.assert_array_equal(mean, model.predict(new))


@pytest.mark.parametrize(
    ("kernels", "fitted", "folds"),
    [*zip(BARS, FITTED, (None, 4)), *zip(BARS, [*FITTED][::-1], (4, None))],
)
def test_intervals_are_those_of_the_completed_kernel(kernels, fitted, folds):
    given, new = fit_of(fitted)
    for make in (al.MKLRegressor, al.MKLRegressorCV):
        options = {"alpha": 0.5} if make is al.MKLRegressor else {"alphas": [0.5]}
        model = make(BARS[kernels], missing="tables", **options).fit(given, TARGET)
        K = completed_by(model, kernels, FITTED[fitted])
        number = np.arange(M) if folds is None else equal_folds(M, folds)
        parts = [np.flatnonzero(number == t) for t in range(number.max() + 1)]
        expected = plus([without(K, index) for index in parts], parts)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtfulResultWarning)
            found = model.predict_interval(new, 0.8, folds=folds, fit=(given, TARGET), refit=False)
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(("fitted", "machine"), [*zip(FITTED, ("krr", "svr"))])
def test_intervals_of_refits(fitted, machine):
    given, new = fit_of(fitted)
    model = al.MKLRegressor(KERNELS, alpha=0.5, machine=machine, missing="tables")
    number, lefts = equal_folds(M, 4), []
    parts = [np.flatnonzero(number == t) for t in range(4)]
    for index in parts:
        rest = np.setdiff1d(np.arange(M), index)
        one = clone(model).fit(some(given, rest), TARGET[rest])
        lefts.append(np.concatenate([one.predict(given), one.predict(new)]))
    frames, of_new = (
        {name: pd.DataFrame(table).add_prefix("column ") for name, table in tables.items()}
        for tables in (given, new)
    )
    for X, asked in ((given, new), (frames, of_new)):
        model.fit(X, TARGET)
        found = model.predict_interval(asked, 0.8, folds=4, fit=(X, TARGET), refit=True)
        np.testing.assert_allclose(found, plus(lefts, parts), rtol=1e-7)


def test_training_samples_with_all_tables_are_not_needed_again():
    given, new = fit_of("no gaps in fit")
    model = al.MKLRegressor(KERNELS, alpha=0.5, missing="tables").fit(given, TARGET)
    found = model.predict(new, return_std=True), model.predict_interval(new)
    model = pickle.loads(pickle.dumps(model))
    fit = (given, TARGET)
    again = model.predict(new, return_std=True, fit=fit), model.predict_interval(new, fit=fit)
    np.testing.assert_allclose(again, found, rtol=1e-9)
    with pytest.raises(ValueError, match="with missing tables in the training samples the model"):
        model.fit(X, TARGET).predict(new, return_std=True)
    nystrom = al.MKLRegressor(KERNELS, machine="nystrom", alpha=0.5, missing="tables")
    found = nystrom.fit(given, TARGET).predict(new, return_std=True, fit=fit)
    np.testing.assert_allclose(found, again[0], rtol=1e-4)


@pytest.mark.parametrize("make", [al.MKLClassifier, al.MKLClassifierCV])
@pytest.mark.parametrize("kernels", BARS)
def test_sets_of_classes_where_new_samples_lack_a_table(make, kernels):
    given, new = fit_of("no gaps in fit")
    options = {"probability": "sigmoid", **({"Cs": [1.0]} if make is al.MKLClassifierCV else {})}
    plain = make(BARS[kernels], **options).fit(given, THREE)
    model = make(BARS[kernels], missing="tables", **options).fit(given, THREE)
    whole = PRESENT[M:].all(axis=1)
    found, P = model.predict_set(new, 0.8), model.predict_proba(new)
    np.testing.assert_array_equal(found[whole], plain.predict_set(some(new, whole), 0.8))
    # The set omits a class of a smaller probability unless it has one of a much larger one.
    assert not found.all()
    np.testing.assert_array_equal(found[np.arange(N), P.argmax(axis=1)], True)
    alone = [model.predict_set(some(new, [i]), 0.8)[0] for i in range(N)]
    np.testing.assert_array_equal(alone, found)


# Transformers of tables


@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_an_imputer_fills_values_and_no_tables(frame):
    """Rows that are missing entirely are passed on, and do not change the others."""
    rng = np.random.default_rng(0)
    gaps, other = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    gaps[4, 1] = gaps[9, 0] = np.nan
    gaps[[0, 5, 29]] = np.nan
    steps = make_pipeline(SimpleImputer(), StandardScaler())
    model = al.TableTransformer({"a": steps, "b": "passthrough"})
    found = model.fit_transform({"a": frame(gaps), "b": other})
    has = np.delete(np.arange(30), [0, 5, 29])
    a = np.asarray(found.tables["a"])
    assert np.isnan(a[[0, 5, 29]]).all()
    expected = clone(steps).fit_transform(gaps[has])
    np.testing.assert_allclose(a[has], expected, atol=1e-12)
    again = np.asarray(model.transform({"a": frame(gaps), "b": other}).tables["a"])
    np.testing.assert_array_equal(again, a)
    none = model.transform({"a": frame(gaps[[0, 5]]), "b": other[:2]}).tables["a"]
    assert none.shape == (2, 3)
    assert np.isnan(none).all()
    whole = make_pipeline(model, al.MKLRegressor({"a": "rbf", "b": "rbf"}, missing="tables"))
    whole.fit({"a": frame(gaps), "b": other}, other[:, 0])
    assert whole[-1].completion_ is not None
    empty = {"a": frame(np.full((30, 3), np.nan)), "b": other}
    raises(ValueError, "table 'a' is missing for every sample", model.fit, empty)


def test_transformers_of_frames_with_missing_rows():
    """Names, the index, strings and targets are passed on."""
    kinds, sizes = ["x", None, "y", "x", None], [1.0, np.nan, 3.0, 4.0, 5.0]
    table = pd.DataFrame({"kind": kinds, "size": sizes}, index=list("abcde"))
    other = pd.DataFrame({"z": np.arange(5.0)}, index=list("abcde"))
    coded = ColumnTransformer(
        [("kind", OneHotEncoder(sparse_output=True), ["kind"]), ("size", "passthrough", ["size"])],
        sparse_threshold=1.0,
    )
    model = al.TableTransformer({"a": coded, "b": "passthrough"})
    a = np.asarray(model.fit_transform({"a": table, "b": other}).tables["a"])
    assert np.isnan(a).all(axis=1).tolist() == [False, True, False, False, False]
    assert np.isfinite(a[[0, 2, 3, 4]]).all()
    steps = make_pipeline(SimpleImputer(), SelectKBest(f_regression, k=1))
    steps.set_output(transform="pandas")
    numbers = table[["size"]].assign(noise=[0.0, np.nan, 1.0, 0.0, 1.0])
    y = pd.Series([1.0, 100.0, 3.0, 4.0, 5.0], index=table.index)
    model = al.TableTransformer({"a": steps, "b": "passthrough"})
    a = model.fit_transform({"a": numbers, "b": other}, y).tables["a"]
    assert list(a.index) == list("abcde")
    np.testing.assert_array_equal(a["size"], numbers["size"])


@pytest.mark.parametrize("named", [True, False])
def test_a_table_that_new_samples_lack_is_missing_for_all_of_them(named, tmp_path):
    rng = np.random.default_rng(4)
    tables = {"genes__b": rng.normal(size=(40, 3)), "genes": rng.normal(size=(40, 2))}
    y = sum(table[:, 0] for table in tables.values())
    if named:
        labels = [f"p{k}" for k in range(40)]
        tables = {n: pd.DataFrame(t, labels).add_prefix(n) for n, t in tables.items()}
    model = al.MKLRegressor(dict.fromkeys(tables, "rbf"), missing="tables").fit(tables, y)
    lacking, part = {**tables, "genes__b": tables["genes__b"] * np.nan}, {"genes": tables["genes"]}
    al.save(model, tmp_path / "model")
    for one in (model, al.load(tmp_path / "model")):
        for given in (part, al.Tables(part)):
            np.testing.assert_array_equal(one.predict(given), model.predict(lacking))
    scaled = make_pipeline(al.TableTransformer(StandardScaler()), clone(model)).fit(tables, y)
    np.testing.assert_array_equal(scaled.predict(part), scaled.predict(lacking))
    wrong = {"gene": tables["genes"], "genes__b": tables["genes__b"]}
    raises(ValueError, "has 'gene'.*accepted: a table for each name of fit", model.predict, wrong)
    whole = clone(model).set_params(missing=None).fit(tables, y)
    raises(ValueError, "X lacks 'genes__b'", whole.predict, part)
