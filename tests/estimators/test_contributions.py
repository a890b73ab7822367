"""Contributions of kernels: terms from dual coefficients, refits, identities and scikit-learn."""

import pickle
from functools import partial

import numpy as np
import pytest
from refusals import not_refused, raises
from scipy.sparse import csr_array
from sklearn.metrics import log_loss, r2_score

import alignlearn as al

PAIRS = [
    al.Columns(al.Gaussian(0.1), slice(0, 4)),
    al.Columns(al.Gaussian(0.3), slice(4, 8)),
    al.Columns(al.Linear(), slice(0, 8)),
]
LINEAR = [al.Columns(al.Linear(), slice(a, b)) for a, b in ((0, 4), (2, 6), (6, 8))]  # overlap
M = 60


def design(q=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(M + 30, 8))
    B = rng.normal(size=(8, q or 1)) * np.array([2, 2, 1, 1, 1, 0, 0.5, 0.5])[:, None]
    Y = X @ B + np.sin(3.0 * X[:, :1]) + 0.5 * rng.normal(size=(M + 30, q or 1)) + 0.3
    Y = Y[:, 0] if q is None else Y
    return X[:M], Y[:M], X[M:], Y[M:]


def classes(c, seed=0):
    X, y, new, y_new = design(seed=seed)
    edges = np.quantile(y, np.linspace(0.0, 1.0, c + 1)[1:-1])
    return X, np.searchsorted(edges, y), new, np.searchsorted(edges, y_new)


def naive_terms(model, X, new):
    """f_k = w_k s_k K_k(new, support) coef, (p, n, q), less its mean."""
    weights = (model.weights_.T * model.scale_).T
    coef = model.dual_coef_.reshape(len(model.dual_coef_), -1)
    support = getattr(model, "support_", np.arange(len(X)))
    terms = [w * (K(new, X[support]) @ coef) for w, K in zip(weights, model.kernels_)]
    return np.array([T - T.mean(axis=0) for T in terms])


ZERO = al.Columns(al.Gaussian(1.0), 8)  # of a constant column


@pytest.mark.parametrize(
    "model",
    [
        al.MKLRegressor([*PAIRS, ZERO], alpha=0.5),
        al.MKLRegressor(PAIRS, machine="svr", C=3.0),
        al.MKLRegressor(PAIRS, machine="nystrom", n_centers=20, alpha=0.5),
        al.MKLRegressorCV(PAIRS, weighting=["align", "uniform"], cv=3),
        al.MKLRegressor(PAIRS, weighting="lkrr", alpha=0.5),
        al.MKLRegressor(LINEAR, weighting="uniform"),
    ],
    ids=["krr", "svr", "nystrom", "cv", "lkrr", "overlapping columns"],
)
def test_measures_are_those_of_the_terms(model):
    X, y, new, y_new = design()
    X, new = np.column_stack([X, np.ones(M)]), np.column_stack([new, np.ones(30)])
    model.fit(X, y)
    zero = model.weights_ == 0.0
    assert zero[3:].all()
    found = model.contributions(new, y_new)
    assert not found.values[zero].any()
    T, f = naive_terms(model, X, new)[:, :, 0], model.predict(new)
    u, size = y_new - y_new.mean(), np.square(y_new - y_new.mean()).sum()
    expected = T @ (2.0 * u - (f - f.mean())) / size
    assert found.names == tuple(map(str, model.kernels_))
    np.testing.assert_allclose(found.values[:, 0], expected, atol=1e-8)
    assert found.total[0] == pytest.approx(r2_score(y_new, f))
    np.testing.assert_allclose(found.values.sum(axis=0) + found.offset, found.total, atol=1e-10)
    assert found.offset[0] == pytest.approx(-len(f) * np.square(y_new.mean() - f.mean()) / size)
    assert np.abs(found.values).max() > 0.1
    left_out = model.contributions(new, y_new, method="leave-out")
    expected = [r2_score(y_new, f) - r2_score(y_new, f - t) for t in T]
    np.testing.assert_allclose(left_out.values[:, 0], expected, atol=1e-8)
    permuted = model.contributions(new, y_new, method="permutation", n_repeats=3, random_state=5)
    rng = np.random.default_rng(5)
    orders = [rng.permutation(len(new)) for _ in range(3)]
    losses = [[r2_score(y_new, f) - r2_score(y_new, f - t + t[o]) for o in orders] for t in T]
    np.testing.assert_allclose(permuted.values[:, 0], np.mean(losses, axis=1), atol=1e-8)
    np.testing.assert_allclose(permuted.spread[:, 0], np.std(losses, axis=1, ddof=1), atol=1e-8)


def of_sum(w, model, j):
    """Ridge regression on one weighted sum of the kernels, with the alpha of a target."""
    kernel = sum(v * k for v, k in zip(w, model.kernels_) if v)
    return al.MKLRegressor([kernel], weighting="uniform", normalize=None, alpha=model.alpha_[j])


@pytest.mark.parametrize("kernels", [PAIRS, LINEAR], ids=["pairs", "linear"])
def test_many_targets_have_weights_of_their_own(kernels):
    X, Y, new, Y_new = design(q=4)
    model = al.MKLRegressorCV(kernels, per_target=True, alphas=[0.1, 10.0]).fit(X, Y)
    found = model.contributions(new, Y_new)
    assert found.values.shape == (3, 4)
    sums = found.values.sum(axis=0) + found.offset
    np.testing.assert_allclose(sums, r2_score(Y_new, model.predict(new), multioutput="raw_values"))
    assert not found.values[model.weights_ == 0.0].any()
    for j in range(4):
        w = model.weights_[:, j] * model.scale_
        one = of_sum(w, model, j).fit(X, Y[:, j])
        terms = [v * (k(new, X) @ one.dual_coef_) for v, k in zip(w, model.kernels_)]
        u, f = Y_new[:, j] - Y_new[:, j].mean(), sum(terms)
        expected = [(t - t.mean()) @ (2 * u - (f - f.mean())) / (u @ u) for t in terms]
        np.testing.assert_allclose(found.values[:, j], expected, atol=1e-7)


@pytest.mark.parametrize("weighting", ["alignf", "align", "uniform", "lkrr"])
@pytest.mark.parametrize("kernels", [PAIRS, LINEAR], ids=["pairs", "linear"])
def test_refit_is_a_fit_of_the_other_kernels(weighting, kernels):
    X, y, new, y_new = design()
    model = al.MKLRegressor(kernels, weighting=weighting, alpha=0.5).fit(X, y)
    groups = {"first": [0], "last two": [1, str(kernels[2])]}
    found = model.contributions(new, y_new, method="refit", fit=(X, y), groups=groups)
    assert found.names == ("first", "last two")
    for g, left in enumerate([[1, 2], [0]]):
        rest = al.MKLRegressor([kernels[k] for k in left], weighting=weighting, alpha=0.5)
        loss = model.score(new, y_new) - rest.fit(X, y).score(new, y_new)
        assert found.values[g, 0] == pytest.approx(loss, abs=1e-7)


@pytest.mark.parametrize("weighting", ["alignf", "l1-svm"])
def test_refit_of_a_search_keeps_its_C(weighting):
    X, y, new, y_new = classes(3)
    model = al.MKLClassifierCV(PAIRS, weighting=weighting, Cs=[1.0, 10.0], cv=3).fit(X, y)
    weight = np.ones(M)
    found = model.contributions(new, y_new, method="refit", fit=(X, y, weight))
    for g in range(3):
        rest = [k for i, k in enumerate(PAIRS) if i != g]
        alone = al.MKLClassifier(rest, weighting=weighting, C=model.C_).fit(X, y)
        loss = model.score(new, y_new) - alone.score(new, y_new)
        assert found.values[g, 0] == pytest.approx(loss, abs=1e-12)


def test_refit_with_weights_of_each_target_keeps_their_ratios():
    X, Y, new, Y_new = design(q=3)
    weight = np.random.default_rng(0).integers(0, 3, M).astype(float)
    model = al.MKLRegressorCV(PAIRS, per_target=True, alphas=[0.1, 10.0]).fit(X, Y, weight)
    found = model.contributions(new, Y_new, method="refit", fit=(X, Y, weight))
    for g in range(3):
        for j in range(3):
            w = np.where(np.arange(3) == g, 0.0, model.weights_[:, j])
            w = (w / w.sum() if w.any() else (np.arange(3) != g) / 2.0) * model.scale_
            alone = of_sum(w, model, j).fit(X, Y[:, j], weight)
            loss = found.total[j] - alone.score(new, Y_new[:, j])
            assert found.values[g, j] == pytest.approx(loss, abs=1e-7)


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_classifiers_lose_accuracy_and_likelihood(c, multiclass):
    X, y, new, y_new = classes(c)
    y, y_new = np.array(list("abc"))[y], np.array(list("abc"))[y_new]
    model = al.MKLClassifier(PAIRS, multiclass=multiclass, probability="sigmoid").fit(X, y)
    raw = model._decisions(new)
    assert model.contributions(new, y_new).method == "leave-out"
    for scoring in ("accuracy", "neg_log_loss"):
        found = model.contributions(new, y_new, scoring=scoring)
        for g, term in enumerate(naive_terms(model, X, new)):
            confidence = model.machine_.confidences(raw - term)
            if scoring == "accuracy":
                best = confidence > 0.0 if c == 2 else confidence.argmax(axis=1)
                expected = np.mean(model.classes_[np.asarray(best, int)] == y_new)
            else:
                expected = -log_loss(y_new, model.calibration_.probabilities(confidence))
            assert found.total[0] - found.values[g, 0] == pytest.approx(expected)
    assert np.abs(found.values).max() > 0.01


def test_given_matrices_and_sparse_columns():
    X, y, new, y_new = design()
    Ks, test = [k(X) for k in PAIRS], [k(new, X) for k in PAIRS]
    given = al.MKLRegressor("precomputed", alpha=0.5).fit(Ks, y)
    plain = al.MKLRegressor(PAIRS, alpha=0.5).fit(X, y)
    for method, of_given, of_plain in (
        ("product", None, None),
        ("leave-out", None, None),
        ("refit", (Ks, y), (X, y)),
    ):
        found = given.contributions(test, y_new, method=method, fit=of_given)
        expected = plain.contributions(new, y_new, method=method, fit=of_plain)
        np.testing.assert_allclose(found.values, expected.values, atol=1e-8)
    words = "columns' is for kernels of the columns of X"
    raises(ValueError, words, given.contributions, test, y_new, groups="columns")

    rank_one = al.MKLRegressor(al.RankOneKernels()).fit(X, y)
    sparse = al.MKLRegressor(al.RankOneKernels()).fit(csr_array(X), y)
    dense = rank_one.contributions(new, y_new)
    np.testing.assert_allclose(dense.values.sum() + dense.offset, dense.total)
    found = sparse.contributions(csr_array(new), y_new).values
    np.testing.assert_allclose(found, dense.values, atol=1e-8)


def test_sample_weights_are_repetitions():
    X, y, new, y_new = design()
    model = al.MKLRegressor(PAIRS).fit(X, y)
    counts = np.random.default_rng(0).integers(0, 3, len(new))
    rows = np.repeat(np.arange(len(new)), counts)
    for method in ("product", "leave-out"):
        found = model.contributions(new, y_new, method=method, sample_weight=counts)
        repeated = model.contributions(new[rows], y_new[rows], method=method)
        np.testing.assert_allclose(found.values, repeated.values, atol=1e-12)
        np.testing.assert_allclose(found.offset, repeated.offset, atol=1e-12)
    X, y, new, y_new = classes(3)
    clf = al.MKLClassifier(PAIRS, probability="sigmoid").fit(X, y)
    for scoring in ("accuracy", "neg_log_loss", "balanced_accuracy"):
        found = clf.contributions(new, y_new, scoring=scoring, sample_weight=counts)
        repeated = clf.contributions(new[rows], y_new[rows], scoring=scoring)
        np.testing.assert_allclose(found.values, repeated.values, atol=1e-12)


def test_groups():
    X, y, new, y_new = design()
    kernels = [*PAIRS, al.Columns(al.Gaussian(0.1), slice(0, 4)), al.Linear()]
    model = al.MKLRegressor(kernels).fit(X, y)
    alone = model.contributions(new, y_new)
    assert alone.names[0] == "gaussian(gamma=0.1) on 0:4 (0)"  # the name of two kernels
    by_columns = model.contributions(new, y_new, groups="columns")
    assert by_columns.names == ("columns 0:4", "columns 4:8", "columns 0:8", "all columns")
    named = model.contributions(new, y_new, groups={"a": [0, 3], "b": "linear"})
    assert named.names == ("a", "b", "other kernels")
    np.testing.assert_allclose(named.values[0], alone.values[[0, 3]].sum(axis=0))
    np.testing.assert_allclose(named.values[0], by_columns.values[0])
    np.testing.assert_allclose(named.values.sum() + named.offset, named.total)


def test_an_average_of_linear_models_names_the_groups_it_accepts():
    rng = np.random.default_rng(0)
    rng.normal(size=240)
    X = rng.normal(size=(60, 3))
    y = X @ [1, 2, -1] + 0.3 * rng.normal(size=60)
    model = al.MKLRegressorCV(random_state=0).fit(X, y)
    assert "linear" in [member.name for member in model.members_]
    with pytest.raises(ValueError, match="groups='features'"):
        model.contributions(X, y)
    assert model.contributions(X, y, groups="features").values[1, 0] > 0.5


def test_bad_input():
    X, y, new, y_new = design()
    model, twice = (al.MKLRegressor(k).fit(X, y) for k in (PAIRS, [*PAIRS[:1] * 2, PAIRS[1]]))
    clf, labels = al.MKLClassifier(PAIRS).fit(X, y > 0.0), y_new > 0.0
    refit = {"method": "refit", "fit": (X, y)}
    options = (
        ({"groups": {"a": [0], "b": [0]}}, "kernel 0, .* is in 'a' and 'b'"),
        ({"groups": {"a": [1, 1]}}, "is in 'a' twice"),
        ({"groups": {"a": [3]}}, "has kernel 3, which the model does not have; accepted: 0 to 2"),
        ({"groups": {"a": ["rbf"]}}, "'rbf', which is no kernel of the model"),
        ({"groups": {"a": [True]}}, "holds True"),
        ({"groups": {"a": None}}, "holds None"),
        ({"groups": {"a": []}}, "'a' is empty"),
        ({"groups": {1: [0]}}, "a name must be a str"),
        ({"groups": "rows"}, "groups must be a dict"),
        ({"groups": {"other kernels": [0]}}, "is reserved for kernels in no group"),
        ({"method": "shapley"}, "method='shapley' is not known; accepted: 'product'"),
        ({"method": "refit"}, "requires fit="),
        ({"fit": (X, y)}, "requires fit="),
        ({"method": "refit", "fit": X}, "fit must be a tuple"),
        ({"method": "refit", "fit": (new, y_new)}, "fit has 30 samples of 8 features"),
        ({"method": "refit", "fit": (X, np.c_[y, y])}, "accepted: 1 targets"),
        ({**refit, "groups": {"all": [0, 1, 2]}}, "no kernel is left to fit"),
        ({"scoring": "accuracy"}, "scoring='accuracy' is not known"),
        ({"n_repeats": 0}, "n_repeats"),
        ({"sample_weight": np.eye(30)[0]}, "1 sample of positive weight"),
    )
    cases = [(w, partial(model.contributions, new, y_new, **o), w) for o, w in options]
    samples = (
        ((new[:1], y_new[:1]), "X has 1 sample"),
        ((new, np.column_stack([y_new, y_new])), "y has 2 columns; accepted: 1"),
        ((new, np.ones(30)), r"constant in 1 of 1 columns \(0\), of which R\^2 does not exist"),
        ((new, 1e-200 * y_new), "beyond the range of float64"),
        ((new, y_new[:-1]), "y has 29 targets"),
    )
    cases += [(words, partial(model.contributions, *bad), words) for bad, words in samples]
    for other, target, given, words in (
        (twice, y_new, {"groups": {"a": [str(PAIRS[0])]}}, r"is the name of kernels \[0, 1\]"),
        (clf, labels, {"method": "product"}, "'product' is for regres"),
        (clf, labels, {"scoring": "neg_log_loss"}, "needs probabiliti"),
    ):
        cases.append((words, partial(other.contributions, new, target, **given), words))
    assert not_refused(cases) == []
    one_class = clf.contributions(new, np.ones(30, dtype=bool))
    assert one_class.total[0] == np.mean(clf.predict(new))


def test_text_and_pickle():
    X, Y, new, Y_new = design(q=8)
    found = al.MKLRegressor(PAIRS).fit(X, Y).contributions(new, Y_new)
    assert "of 8 targets: mean" in str(found)
    assert len(found.table(max_rows=1).splitlines()) == 6
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).values, found.values)
    few = al.MKLRegressor(PAIRS).fit(X, Y[:, :2]).contributions(new, Y_new[:, :2])
    assert "target 1" in str(few)
    text = str(al.MKLClassifier(PAIRS).fit(X, Y[:, 0] > 0).contributions(new, Y_new[:, 0] > 0))
    assert text.splitlines()[-1].startswith("accuracy of the model")


@pytest.mark.parametrize("machine", ["dual-cd", "nystrom"])
def test_terms_of_every_machine_for_classes(machine):
    X, y, new, y_new = classes(3)
    kernels = LINEAR if machine == "dual-cd" else PAIRS
    options = {"n_centers": 30} if machine == "nystrom" else {}
    model = al.MKLClassifier(kernels, machine=machine, **options).fit(X, y)
    found = model.contributions(new, y_new)
    mean = X.mean(axis=0) * (machine == "dual-cd")  # which centers features, without an intercept
    T = naive_terms(model, X - mean, new - mean)
    raw = model._decisions(new)
    np.testing.assert_allclose((raw - T.sum(axis=0)).std(axis=0), 0.0, atol=1e-7)
    left = [model.machine_.confidences(raw - t).argmax(axis=1) for t in T]
    expected = [found.total[0] - np.mean(model.classes_[best] == y_new) for best in left]
    np.testing.assert_allclose(found.values[:, 0], expected, atol=1e-12)


def test_data_frames_and_names_of_columns():
    pandas = pytest.importorskip("pandas")
    X, y, new, y_new = design()
    names = [f"c{k}" for k in range(8)]
    kernels = [al.Columns(al.Linear(), ["c0", "c1"]), al.Columns(al.Gaussian(0.1), names[2:])]
    frame, frame_new = pandas.DataFrame(X, columns=names), pandas.DataFrame(new, columns=names)
    model = al.MKLRegressor(kernels).fit(frame, y)
    found = model.contributions(frame_new, y_new, groups="columns")
    assert found.names == ("c0, c1", "columns 2:8")
    refit = model.contributions(frame_new, y_new, method="refit", fit=(frame, y))
    assert refit.values.all()
    assert model.kernel_table(frame, y)["spread"].all()
    raises(ValueError, "feature names should match", model.kernel_table, frame[names[::-1]], y)


SPLIT = {
    "given kernels": lambda: al.MKLRegressor([al.Gaussian(0.2), al.Linear()]),
    "linear": lambda: al.MKLRegressor([al.Columns("linear", [0]), al.Columns("linear", [1, 2])]),
    "own weights": lambda: al.MKLRegressorCV([al.Gaussian(0.2), al.Gaussian(2.0)], per_target=True),
    "own linear weights": lambda: al.MKLRegressorCV({"a": [0], "b": [1, 2]}, per_target=True),
    "support vectors": lambda: al.MKLRegressor([al.Gaussian(0.2), al.Linear()], machine="svr"),
}


@pytest.mark.parametrize("name", SPLIT)
def test_split_predictions_add_up_and_do_not_depend_on_the_batch(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = np.column_stack([np.sin(X[:, 0]), X[:, 1]]) + 5.0
    y = y[:, 0] if name == "support vectors" else y
    model = SPLIT[name]().fit(X[:40], y[:40])
    whole, parts = model.predict(X[40:]), model.predict(X[40:], split=True)
    assert len(parts) == 3
    assert list(parts)[-1] == "intercept"
    np.testing.assert_allclose(sum(parts.values()), whole, atol=1e-9)
    few = model.predict(X[40:43], split=True)
    for part, values in few.items():
        np.testing.assert_allclose(values, parts[part][:3], atol=1e-9)
    raises(ValueError, "split=True cannot be combined", model.predict, X, True, split=True)
    raises(TypeError, "split", model.predict, X, split="yes")


def test_split_predictions_of_tables_and_frames_of_contributions():
    rng = np.random.default_rng(1)
    X = {"genes": rng.normal(size=(40, 3)), "lipids": rng.normal(size=(40, 2))}
    y = X["genes"][:, 0] + X["lipids"][:, 0]
    model = al.MKLRegressor({"genes": ["rbf", "linear"], "lipids": "rbf"}).fit(X, y)
    assert list(model.predict(X, split=True)) == ["genes", "lipids", "intercept"]
    parts = model.contributions(X, y, groups="columns")
    frame = parts.to_frame()
    assert frame.index.tolist() == ["genes", "lipids"]
    np.testing.assert_array_equal(frame["value"], parts.values[:, 0])
    raises(ValueError, "real_gram", al.alignment, al.Linear()(X["genes"]) * (1 + 1j), y)
    named = al.weights.get_weighting("simplemkl")
    assert type(named) is al.L1SVM
