"""Estimators on unprocessed data frames: prepared with the training samples only."""

import io
import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from refusals import not_refused, raises

import alignlearn as al
from alignlearn.comparison import explain
from alignlearn.estimators import column_screening, plans
from alignlearn.estimators.column_screening import column_alignments
from alignlearn.estimators.ways import WayKernels
from alignlearn.kernels import kernel_list
from alignlearn.sources import open_source

RNG = np.random.default_rng(0)
M = 120


def _table(m):
    frame = pd.DataFrame(
        {
            "size": RNG.normal(size=m),
            "price": np.exp(2.0 * RNG.normal(size=m)),
            "city": RNG.choice(["a", "b", "c", None], m),
            "new": RNG.random(m) < 0.3,
            "age": np.where(RNG.random(m) < 0.2, np.nan, RNG.normal(size=m)),
        }
    )
    height = frame["size"] + np.log(frame["price"]) * frame["new"] + 2.0 * (frame["city"] == "a")
    return frame, (height + 0.3 * RNG.normal(size=m)).to_numpy()


FRAME, REAL = _table(M)
NEW, NEW_REAL = _table(200)
LABELS = np.where(np.median(REAL) < REAL, "high", "low")
FOLDS = [(np.setdiff1d(np.arange(M), np.arange(k, M, 3)), np.arange(k, M, 3)) for k in range(3)]
MODELS = {
    "MKLClassifier": (al.MKLClassifier(), LABELS),
    "MKLRegressor": (al.MKLRegressor(), REAL),
    "MKLClassifierCV": (al.MKLClassifierCV(cv=3), LABELS),
    "MKLRegressorCV": (al.MKLRegressorCV(cv=3), REAL),
    "MKLRegressorCV, alignf": (al.MKLRegressorCV(weighting="alignf"), REAL),
    "per target": (al.MKLRegressorCV(per_target=True), np.column_stack([REAL, REAL**2])),
    "OneClassMKL": (al.OneClassMKL(weighting="consensus"), None),
}


@pytest.mark.parametrize("name", MODELS)
def test_columns_are_found_by_name_and_kept_in_files(name):
    model, y = MODELS[name]
    expected = model.fit(FRAME, y).predict(NEW)
    assert model.feature_names_in_.tolist() == list(FRAME.columns)
    file = io.BytesIO()
    al.save(model, file)
    turned = NEW[NEW.columns[::-1]].assign(other="text")
    polars = pl.DataFrame({n: [None if pd.isna(v) else v for v in NEW[n].tolist()] for n in NEW})
    copied = pickle.loads(pickle.dumps(model))
    for found, X in ((model, turned), (model, polars), (al.load(file), NEW), (copied, NEW)):
        assert np.array_equal(found.predict(X), expected)
    lacking = NEW.drop(columns="city")
    raises(ValueError, "X has no column 'city': 1 of the 5", model.predict, lacking)


@pytest.mark.parametrize("name", ["MKLClassifier", "MKLRegressor"])
def test_a_plain_fit_is_one_to_the_prepared_features(name):
    model, y = MODELS[name]
    prepared = al.TablePreparer().fit(FRAME)
    found = model.fit(FRAME, y).predict(NEW)
    same = model.fit(prepared.transform(FRAME), y).predict(prepared.transform(NEW))
    assert np.array_equal(found, same)


def test_the_columns_of_a_fold_are_prepared_on_its_training_samples():
    model = al.MKLClassifierCV(weighting="alignf", Cs=[0.1, 10.0], cv=FOLDS).fit(FRAME, LABELS)
    for t, (train, test) in enumerate(FOLDS):
        Z = al.TablePreparer().fit(FRAME.iloc[train]).transform(FRAME)
        kernels = [kernel.resolve(Z) for kernel in kernel_list(None)]
        for k, C in enumerate([0.1, 10.0]):
            alone = al.MKLClassifier(kernels, C=C).fit(Z[train], LABELS[train])
            expected = alone.score(Z[test], LABELS[test])
            assert model.cv_results_[f"split{t}_test_score"][k] == pytest.approx(expected)


def test_so_are_those_of_a_strategy():
    """The strategy "columns" equals a fit with a Gaussian on each column."""
    model = al.MKLRegressorCV(strategy="best", alphas=[0.1], cv=FOLDS).fit(FRAME, REAL)
    names = model.cv_results_["param_method"].tolist()
    for t, (train, test) in enumerate(FOLDS):
        preparer = al.TablePreparer().fit(FRAME.iloc[train])
        Z = preparer.transform(FRAME)
        groups = [index for index in preparer.groups_.values() if index.size]
        scaled = Z.copy()
        for index in groups:
            scaled[:, index] /= np.sqrt(Z[train][:, index].var(axis=0).sum())
        columns = [al.Columns(al.Gaussian(0.5), index.tolist()) for index in groups]
        ladder = [kernel.resolve(Z) for kernel in kernel_list(None)]
        tried = [("uniform", ladder, "uniform", Z), ("columns", columns, "alignf", scaled)]
        for name, kernels, rule, Z in tried[: 2 if t == 0 else 1]:
            alone = al.MKLRegressor(kernels, weighting=rule, alpha=0.1).fit(Z[train], REAL[train])
            error = np.sqrt(np.mean((alone.predict(Z[test]) - REAL[test]) ** 2))
            found = model.cv_results_[f"split{t}_test_score"][names.index(name)]
            assert found == pytest.approx(-error, rel=1e-6)


def test_rows_of_weight_0_and_repeated_rows():
    w = RNG.integers(0, 3, M).astype(float)
    weighted = al.MKLRegressor(tol=1e-10).fit(FRAME, REAL, sample_weight=w)
    again = np.repeat(np.arange(M), w.astype(int))
    repeated = al.MKLRegressor(tol=1e-10).fit(FRAME.iloc[again], REAL[again])
    np.testing.assert_allclose(weighted.predict(NEW), repeated.predict(NEW), rtol=1e-5)
    assert al.MKLRegressorCV(cv=FOLDS).fit(FRAME, REAL, w).score(NEW, NEW_REAL) > 0.7
    # Weights that empty a level.
    model = al.MKLClassifierCV(cv=3).fit(FRAME, LABELS, np.where(FRAME["city"] == "b", 0.0, 1.0))
    assert "b" not in model.preparation_.categories[2].levels
    assert model.predict(NEW).shape == (200,)


def test_many_samples():
    frame, y = _table(1300)
    for model, target in (
        (al.MKLRegressorCV(), y),
        (al.MKLClassifierCV(), np.where(y > np.median(y), "high", "low")),
    ):
        assert model.fit(frame[:1100], target[:1100]).score(frame[1100:], target[1100:]) > 0.85


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("model", [al.MKLRegressor([al.Gaussian(0.5)]), al.MKLRegressorCV(cv=3)])
def test_frames_with_kernels_of_ones_own_and_without_names_are_matrices(model):
    frame, new = FRAME[["size", "price"]], NEW[["size", "price"]]
    if model.kernels is None:  # finite numbers
        frame, new = frame.set_axis([0, 1], axis=1), new.set_axis([0, 1], axis=1)
    found = model.fit(frame, REAL).predict(new)
    assert np.array_equal(found, model.fit(frame.to_numpy(), REAL).predict(new.to_numpy()))
    # A matrix in place of a frame of numbers.
    own = al.MKLRegressor().fit(FRAME[["size", "age"]], REAL)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        found = own.predict(FRAME[["size", "age"]].to_numpy())
    assert np.array_equal(found, own.predict(FRAME[["size", "age"]]))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_tables_in_other_forms_say_what_to_pass():
    rows, values = M // 2, FRAME.to_numpy(dtype=object)
    missing = np.tile(LABELS.astype(object), (3, 1))
    missing[:, [3, 7]] = [[None], [np.nan], [pd.NA]]
    classes, real = al.MKLClassifier(), al.MKLRegressor()
    fitted = al.MKLRegressor().fit(FRAME, REAL)
    unnamed = al.MKLRegressor().fit(FRAME[["size", "age"]].set_axis([0, 1], axis=1), REAL)
    of_polars = pl.DataFrame({n: c.tolist() for n, c in FRAME.items()}, strict=False)["size"]
    one_row = "X is a Series, which is one row or one column"
    cases = [
        (classes.fit, (pl.DataFrame({"x": [1.0, 2.0] * rows}).lazy(), LABELS), r"X\.collect\(\)"),
        (classes.fit, ([["a", 1.0], ["b", 2.0]] * rows, LABELS), "data frame"),
        (classes.fit, (FRAME[["size", "new"]].to_records(index=False), LABELS), "data frame"),
        (classes.fit, (values, LABELS), "as a data frame"),
        *((classes.fit, (FRAME, y), "in 2 rows, the first of them 3") for y in missing),
        (real.fit, (values, REAL), "as a data frame"),
        (al.MKLRegressor(["rbf"]).fit, (FRAME, REAL), r"must hold real numbers.*TablePreparer"),
        (fitted.predict, (FRAME.iloc[0],), one_row),
        (fitted.predict, (of_polars,), one_row),
        (unnamed.predict, (np.ones((3, 3)),), "expecting 2 features"),
    ]
    calls = [(f"{words} {k}", partial(call, *given), words)
             for k, (call, given, words) in enumerate(cases)]  # fmt: skip
    assert not_refused(calls) == []
    as_dict = FRAME.to_dict("list")
    raises(TypeError, r"keys 'size'.*pandas\.DataFrame\(X\)", fitted.predict, as_dict)
    assert fitted.predict(FRAME.iloc[[0]]).shape == (1,)


def test_bounds_intervals_and_tables_take_frames():
    model = al.MKLRegressorCV(cv=3, ensemble=False).fit(FRAME, REAL)
    assert model.bound(NEW, NEW_REAL, held_out=True, label_range=(-9.0, 9.0)).value > 0.0
    low, high = model.predict_interval(NEW, fit=(FRAME, REAL))
    assert np.shape(low) == np.shape(high)
    plain = al.MKLRegressor().fit(FRAME, REAL)
    assert "weight" in plain.kernel_table(FRAME, REAL)
    refit = plain.contributions(NEW, NEW_REAL, method="refit", fit=(FRAME, REAL))
    assert refit.total.shape == (1,)


@pytest.mark.parametrize("name", ["MKLClassifier", "MKLClassifierCV", "MKLRegressorCV"])
def test_contributions_of_the_columns_of_a_frame(name):
    model, y = MODELS[name]
    new = NEW_REAL if y is REAL else np.where(np.median(REAL) < NEW_REAL, "high", "low")
    model.fit(FRAME, y)
    found = model.contributions(NEW, new, groups="features", n_repeats=3)
    assert (found.names, found.method) == (tuple(FRAME.columns), "permutation")
    values = dict(zip(found.names, found.values[:, 0]))
    assert min(values["size"], values["price"], values["city"]) > values["age"]
    city = NEW["city"].to_numpy()[np.random.default_rng(0).permutation(len(NEW))]
    expected = model.score(NEW, new) - model.score(NEW.assign(city=city), new)
    one = model.contributions(NEW, new, groups="features", n_repeats=1, random_state=0)
    assert one.values[2, 0] == pytest.approx(expected, abs=1e-9)
    how = {"groups": "features", "method": "leave-out"}
    raises(ValueError, "requires method='permutation'", model.contributions, NEW, new, **how)


def test_interactions_are_those_of_the_function():
    # For a sum of functions of single columns, the loss in R^2 of two columns is the sum of both
    # losses.
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(500, 4)), columns=list("abcd"))
    y = frame["a"] * frame["b"] + frame["c"] + 0.05 * rng.normal(size=500)
    model = al.MKLRegressorCV(random_state=0).fit(frame[:250], y[:250])
    given = frame[250:], y[250:]
    found = model.contributions(*given, groups="pairs", n_repeats=20)
    values = dict(zip(found.names, found.values[:, 0]))
    assert (len(values), found.method) == (6, "interaction")
    assert values["a and b"] > 4.0 * max(abs(v) for k, v in values.items() if k != "a and b")
    # By hand: the same orders of the samples for all columns.
    alone = model.contributions(*given, groups="features", n_repeats=20)
    losses = dict(zip(alone.names, alone.values[:, 0]))
    order, both = np.random.default_rng(0), []
    for _ in range(20):
        permuted = given[0].copy()
        permuted[["a", "b"]] = permuted[["a", "b"]].to_numpy()[order.permutation(250)]
        both.append(found.total[0] - model.score(permuted, given[1]))
    assert np.isclose(values["a and b"], losses["a"] + losses["b"] - np.mean(both))
    display = al.ContributionsDisplay.from_estimator(model, *given, groups="pairs", n_repeats=2)
    assert display.ax_.get_xlabel() == "loss in $R^2$, interaction"
    one = al.MKLRegressor().fit(frame[["c"]], y)
    raises(ValueError, "two columns; X has 1", one.contributions, frame[["c"]], y, groups="pairs")
    of_matrix = al.MKLRegressor().fit(frame.to_numpy(), frame["a"])
    assert of_matrix.contributions(frame.to_numpy(), frame["a"], groups="features").names[0] == "x0"


def test_features_of_one_column_share_a_scale():
    for options in ({}, {"strategy": "best", "ensemble": False}):
        model = al.MKLRegressorCV(cv=3, **options).fit(FRAME, REAL)
        for member in model.members_:
            if member.factors is not None and member.factors.ndim == 1:
                for c in range(5):
                    assert np.ptp(member.scales[model.preparation_.groups == c]) < 1e-12


def test_a_category_has_the_scale_of_a_number_with_the_same_effect():
    """Levels with an effect on the target are coded as one number of the same variance."""
    rng = np.random.default_rng(1)
    level = rng.integers(0, 6, 300)
    number = rng.normal(size=300)
    effect = np.array([-1.5, -0.9, -0.3, 0.3, 0.9, 1.5])[level]
    frame = pd.DataFrame({"level": level.astype(str), "number": number, "noise": number[::-1]})
    prepared = al.TablePreparer().fit(frame)
    given = open_source(prepared.transform(frame), None), None, effect / effect.std() + number
    kernels = WayKernels(*given, "regression", rng, None, prepared.preparation_)
    squares = np.square(kernels.root(plans.Way("scaled", None, scaled=True)))
    sums = [squares[kernels.groups == c][0] for c in range(3)]
    assert 0.4 < sums[0] / sums[1] < 2.5
    assert sums[2] < 0.2 * sums[1]


def _friedman(m, d):
    rng = np.random.default_rng(0)
    X = rng.random((m, d))
    y = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2
    return X, y + 10.0 * X[:, 3] + 5.0 * X[:, 4] + rng.normal(size=m)


@pytest.mark.parametrize("framed", [True, False])
def test_columns_of_noise_cost_little(framed):
    X, y = _friedman(700, 50)
    X = pd.DataFrame(X).add_prefix("x") if framed else X
    model = al.MKLRegressorCV().fit(X[:300], y[:300])
    assert model.members_[0].name == "pairs"
    assert model.score(X[300:], y[300:]) > 0.93
    names = model.members_[0].model.statistics_.names
    assert any("x0 and x1" in name or "[0, 1]" in name or "0:2" in name for name in names)


@pytest.mark.parametrize("weighted", [False, True])
def test_columns_are_screened_by_the_alignment_of_their_kernels(weighted, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 12)) * np.linspace(0.5, 1.2, 12)
    Y = np.column_stack([X[:, 3] ** 2 + X[:, 4], np.sin(X[:, 5])])
    weight = rng.integers(1, 4, 150).astype(float) if weighted else None
    members = [[c] for c in range(10)] + [[10, 11]]
    few = column_alignments(X, Y, members, 0.5, weight)
    monkeypatch.setattr(column_screening, "_TERMS", 60)
    found = column_alignments(X, Y, members, 0.5, weight)
    copies = np.repeat(np.arange(150), 1 if weight is None else weight.astype(int))
    X, Y = X[copies], Y[copies] - Y[copies].mean(axis=0)

    def exact(K):
        K = al.center_kernel(K)
        return np.sum((K @ Y) * Y) / np.linalg.norm(K) / len(Y)

    expected = [exact(al.Gaussian(0.5)(X[:, [c]])) for c in range(10)]
    np.testing.assert_allclose(found[:10], expected, rtol=1e-6)
    np.testing.assert_allclose(few, found, rtol=0.2)
    assert np.isclose(found[10], exact(X[:, 10:] @ X[:, 10:].T))
    assert column_alignments(np.ones((5, 2)), Y[:5], [[0], [1]], 0.5).max() < 1e-9


def test_many_columns_of_noise():
    frame, y = _friedman(500, 600)
    model = al.MKLRegressorCV(random_state=0).fit(frame[:250], y[:250])
    assert model.score(frame[250:], y[250:]) > 0.85
    assert len(model.members_[0].model.weights_) <= 12 + 15


def test_a_linear_target_is_found_by_the_linear_kernel():
    X = np.random.default_rng(0).normal(size=(150, 8))
    y = X @ np.arange(8.0) + np.random.default_rng(1).normal(size=150)
    model = al.MKLRegressorCV().fit(X, y)
    table = model.cv_results_
    full = table["n_splits"] == 5
    best = table["mean_test_score"][full].argmax()
    assert table["param_method"][full][best] == "linear"
    assert model.members_[0].name == "linear" or len(model.members_) > 1


def test_comparisons_prepare_the_training_folds():
    """Nearly normal columns are standardized, like those of a matrix."""
    rng = np.random.default_rng(3)
    X = np.clip(rng.normal(size=(60, 3)), -2.0, 2.0)
    y = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=60)
    of_array, of_frame = (
        al.compare(given, y, methods=["uniform", "alignf"])
        for given in (X, pd.DataFrame(X).add_prefix("x"))
    )
    np.testing.assert_allclose(of_frame.error, of_array.error, rtol=1e-6)
    found = al.compare(FRAME, LABELS, methods=["uniform", "alignf", "auto"])
    assert found.error.mean(axis=1).max() < 0.3
    method, table, _ = explain(found, FRAME, LABELS, None)
    assert method in found.methods
    assert table is None or len(table["weight"]) == len(found.kernel_names)
    raises(ValueError, "real numbers", al.compare, FRAME, LABELS, ["rbf"])
