"""Many labels: y of shape (m, c) of 0 and 1 in the classifiers."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from refusals import not_refused, raises
from scipy.sparse import csr_matrix
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

import alignlearn as al

RNG = np.random.default_rng(3)
m, n = 90, 40
X = RNG.normal(size=(m + n, 4))
LATENT = np.c_[X[:, 0], np.abs(X[:, 1]) - 0.7, X[:, 0] + X[:, 2], np.sin(2 * X[:, 3])]
ALL = (LATENT + 0.2 * RNG.normal(size=LATENT.shape) > [0.0, 0.0, 0.8, -0.2]).astype(int)
NEW, Y_NEW = X[m:], ALL[m:]
X, Y = X[:m], ALL[:m]
KERNELS = [al.Gaussian(0.05), al.Gaussian(0.5), al.Linear(), al.Columns("rbf", [1])]


def test_one_kernel_is_aligned_with_the_centered_labels():
    model = al.MKLClassifier(KERNELS, tol=1e-6).fit(X, Y)
    grams = [k(X) for k in KERNELS]
    H = np.eye(m) - 1.0 / m
    centered = [H @ K @ H for K in grams]
    centered = [K * m / np.trace(K) for K in centered]
    T = H @ Y @ Y.T @ H

    def cosine(A):
        return np.sum(A * T) / np.linalg.norm(A) / np.linalg.norm(T)

    assert model.kernel_alignments_ == pytest.approx([cosine(K) for K in centered], abs=1e-9)
    own = cosine(sum(w * K for w, K in zip(model.weights_, centered)))
    assert model.alignment_ == pytest.approx(own, abs=1e-9)
    for w in RNG.dirichlet(np.ones(len(KERNELS)), 200):  # no other kernels are better aligned
        assert cosine(sum(v * K for v, K in zip(w, centered))) <= own + 1e-9
    one = al.MKLClassifier(KERNELS).fit(X, Y[:, 0])
    assert np.abs(one.weights_ - model.weights_).max() > 0.05


def test_weights_per_label_are_those_of_each_label_alone():
    model = al.MKLClassifier(KERNELS, per_label=True).fit(X, Y)
    for j in range(4):
        one = al.MKLClassifier(KERNELS).fit(X, Y[:, j])
        assert np.array_equal(model.weights_[:, j], one.weights_)
        assert np.array_equal(model.decision_function(NEW)[:, j], one.decision_function(NEW))
    # The kernel of column 1 alone is for the label of column 1.
    assert model.weights_[3].argmax() == 1
    # Another fit leaves nothing of the one before.
    model.set_params(per_label=False).fit(X, Y[:, 0])
    assert not hasattr(model, "models_")
    assert np.array_equal(
        model.predict(NEW), al.MKLClassifier(KERNELS).fit(X, Y[:, 0]).predict(NEW)
    )
    model.set_params(per_label=True).fit(X, Y)
    assert not hasattr(model, "machine_")
    assert model.predict(NEW).shape == (n, 4)


def test_search_is_a_grid_search_by_subset_accuracy():
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    options = {"weighting": "alignf", "Cs": [0.1, 10.0], "tol": 1e-9}
    model = al.MKLClassifierCV(KERNELS, cv=folds, **options).fit(X, Y)
    scores = [
        [
            al.MKLClassifier(KERNELS, C=C, tol=1e-9).fit(X[a], Y[a]).score(X[b], Y[b])
            for a, b in folds
        ]
        for C in (0.1, 10.0)
    ]
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], np.mean(scores, axis=1))
    assert model.C_ == 10.0


RARE = np.c_[Y, np.zeros(m, int), np.ones(m, int), np.arange(m) == 5]


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (al.MKLClassifier, {}),
        (al.MKLClassifier, {"probability": "temperature"}),
        (al.MKLClassifier, {"per_label": True}),
        (al.MKLClassifierCV, {"Cs": [1.0], "probability": "isotonic"}),
        (al.MKLClassifierCV, {"kernels": None, "Cs": [1.0, 10.0, 100.0], "cv": 3}),
        (al.MKLClassifierCV, {"Cs": [1.0, 10.0], "per_label": True}),
        (al.MKLClassifierCV, {"cv": 3, "per_label": True, "class_weight": "balanced"}),
        (al.MKLClassifierCV, {"cv": 3, "machine": "krr", "class_weight": "balanced"}),
        (al.MKLClassifierCV, {"cv": 3, "class_weight": "balanced"}),
    ],
)
@pytest.mark.filterwarnings("ignore:.*one sample of their rarer")
def test_rare_and_constant_labels(model, options):
    model = model(**{"kernels": KERNELS, **options}).fit(X, RARE)
    found = [(model.decision_function(NEW), 0.0, (-1.0, 1.0))]
    if model.probability is not None:
        found.append((model.predict_proba(NEW), 0.5, (0.0, 1.0)))
    for values, middle, ends in found:
        assert values.shape == (n, 7)
        assert (values[:, [4, 5]] == ends).all()
        assert (values[:, 6] < middle).mean() > 0.8
        assert np.mean((values > middle)[:, :4] == Y_NEW) > 0.7
    assert np.array_equal(model.predict(NEW), found[0][0] > 0.0)
    if model.probability is not None:
        assert 0.0 <= found[1][0].min() <= found[1][0].max() <= 1.0
    assert "alignment" in model.summary() or "method" in model.summary()


def test_probabilities_are_calibrated():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 2))
    P = 1.0 / (1.0 + np.exp(-2.0 * X @ [[1.0, 0.5], [0.0, -1.0]]))
    Y = (rng.random(P.shape) < P).astype(int)
    for model in (
        al.MKLClassifierCV(["linear"], Cs=[0.1, 1.0]),
        al.MKLClassifier(["linear"], probability="sigmoid"),
        al.MKLClassifierCV(["linear"], Cs=[0.1, 1.0], per_label=True),
    ):
        found = model.fit(X[:800], Y[:800]).predict_proba(X[800:])
        assert np.abs(found - P[800:]).mean() < 0.06  # 0.3 for a constant


@pytest.mark.parametrize("per_label", [False, True])
def test_integer_weights_are_repetitions(per_label):
    weight = RNG.integers(0, 3, m)
    rows = np.repeat(np.arange(m), weight)
    model = al.MKLClassifier(KERNELS, per_label=per_label, tol=1e-6).fit(X, Y, weight)
    copies = al.MKLClassifier(KERNELS, per_label=per_label, tol=1e-6).fit(X[rows], Y[rows])
    assert model.weights_ == pytest.approx(copies.weights_, abs=1e-7)
    assert model.decision_function(NEW) == pytest.approx(copies.decision_function(NEW), abs=1e-3)
    right = (model.predict(NEW) == Y_NEW).all(axis=1)
    w = np.arange(n) % 3
    assert model.score(NEW, Y_NEW, w) == pytest.approx(w @ right / w.sum())
    assert model.score(NEW, Y_NEW) == np.mean(right)


def value_of(name, *given):
    """The score of a scorer, or NaN if it does not accept many labels or has no score."""
    try:
        return get_scorer(name)(*given)
    except Exception:
        return np.nan


@pytest.mark.filterwarnings("ignore")  # of scores that are undefined for a label
def test_all_scorers_for_many_labels_are_taken_by_name():
    other = OneVsRestClassifier(SVC()).fit(X, Y)
    names = [name for name in get_scorer_names() if get_scorer(name)._sign == 1]
    names = [name for name in names if np.isfinite(value_of(name, other, NEW, Y_NEW))]
    assert {"accuracy", "f1_macro", "f1_micro", "roc_auc", "jaccard_samples"} <= set(names)
    part = al.MKLClassifier(KERNELS, tol=1e-9).fit(X[:60], Y[:60])
    options = {"weighting": "alignf", "Cs": [1.0], "probability": None, "tol": 1e-9}
    search = al.MKLClassifierCV(KERNELS, cv=[(np.arange(60), np.arange(60, m))], **options)
    for name in names:
        found = search.set_params(scoring=name).fit(X, Y).best_score_
        assert found == pytest.approx(get_scorer(name)(part, X[60:], Y[60:]), abs=1e-6), name
    search.set_params(scoring="balanced_accuracy")
    raises(ValueError, "is for one label", search.fit, X, Y)
    # Two labels are not two classes.
    two = al.MKLClassifierCV(KERNELS, Cs=[1.0], cv=3).fit(X, Y[:, :2])
    single = [al.MKLClassifier(KERNELS).fit(X, Y[:, j]) for j in range(2)]
    values = [get_scorer("roc_auc")(one, NEW, Y_NEW[:, j]) for j, one in enumerate(single)]
    found = get_scorer("roc_auc")(two, NEW, Y_NEW[:, :2])
    assert found == pytest.approx(np.mean(values), abs=0.1)
    assert not np.allclose(two.predict_proba(NEW).sum(axis=1), 1.0)


def test_containers():
    model = al.MKLClassifier(KERNELS)
    expected = model.fit(X, Y).decision_function(NEW)
    for other in (Y.tolist(), Y.astype(bool), Y.astype(np.float32), csr_matrix(Y), pd.DataFrame(Y)):
        assert np.array_equal(model.fit(X, other).decision_function(NEW), expected)
    own = al.MKLClassifier(KERNELS, per_label=True)
    expected = own.fit(X, Y).decision_function(NEW)
    assert np.array_equal(own.fit(X, csr_matrix(Y)).decision_function(NEW), expected)
    index = [f"s{i}" for i in range(m)]
    frame, order = pd.DataFrame(Y, index=index), RNG.permutation(m)
    tables = {"a": pd.DataFrame(X[:, :2], index=index), "b": pd.DataFrame(X[:, 2:], index=index)}
    straight = al.MKLClassifier(["rbf"]).fit(tables, frame)
    shuffled = al.MKLClassifier(["rbf"]).fit(tables, frame.iloc[order])
    assert np.array_equal(straight.predict(tables), shuffled.predict(tables))


def test_bad_labels_and_class_weights():
    no_labels = "not multilabel targets"
    labels = (
        *((wrong, no_labels) for wrong in (np.where(Y == 1, 2, 0), np.where(Y == 1, np.nan, 0.0))),
        *((wrong, no_labels) for wrong in (Y.astype(str), np.where(Y == 1, "yes", "no"), Y + 0.5)),
        (Y[:-1], "89"),
        (np.zeros_like(Y), "all of them constant"),
        ([[0, 1]] * (m - 1) + [[0, 1, 1]], "different lengths"),
        (Y[:, :, None], "1-d array of labels|several labels"),
    )
    weights = (
        (["balanced"], "1 entries for 4 labels"),
        ({2: 1.0}, "that are not in y"),
        ({1: 0.0}, "> 0"),
        ("equal", "balanced"),
        (3.0, "class_weight must be"),
        ([3.0] * 4, "class_weight must be"),
    )
    cases = []
    for make, own in product((al.MKLClassifier, al.MKLClassifierCV), (False, True)):
        make = partial(make, KERNELS, per_label=own)
        cases += [(f"{y}", partial(make().fit, X, y), words) for y, words in labels]
        for weight, words in weights:
            cases.append((f"{weight}", partial(make(class_weight=weight).fit, X, Y), words))
    assert not_refused(cases) == []


def test_what_is_for_one_label_says_so():
    shared = al.MKLClassifierCV(KERNELS, Cs=[1.0]).fit(X, Y)
    own = al.MKLClassifierCV(KERNELS, Cs=[1.0], per_label=True).fit(X, Y)
    for model in (shared, own):
        for name in ("bound", "alignment_interval", "contributions"):
            raises(ValueError, rf"{name} is for one label", getattr(model, name), NEW, Y_NEW)
        raises(ValueError, "predict_set is for one label", model.predict_set, NEW)
        raises(ValueError, "alignment_interval_ is", getattr, model, "alignment_interval_")
        raises(ValueError, "y has shape", model.score, NEW, Y_NEW[:, :2])
    assert own.models_[1].contributions(NEW, Y_NEW[:, 1]).values.shape == (4, 1)
    assert shared.kernel_table(X, Y)["spread"].shape == (4,)
    raises(ValueError, "kernel_table is for one label", own.kernel_table)
    one = al.MKLClassifier(KERNELS, per_label=True)
    raises(ValueError, r"per_label=True is for y of several labels.*\(90,\)", one.fit, X, Y[:, 0])
    with pytest.warns(al.DoubtfulResultWarning, match="1 labels of y .6. have one sample"):
        own.fit(X, RARE)
    assert own.models_[6] is None
    np.testing.assert_array_equal(own.C_[:6], [1.0] * 4 + [np.nan] * 2)


CLASS_WEIGHTS = [None, "balanced", {1: 4.0}, [None, "balanced", {0: 0.5, 1: 3.0}, {1: 2.0}]]


@pytest.mark.parametrize(
    ("class_weight", "weighted"), [*zip(CLASS_WEIGHTS, (True, True, False, True))]
)
def test_machines_and_class_weights_of_labels_with_one_kernel(class_weight, weighted):
    """The models of scikit-learn with the weights of each label, and the kernel without them."""
    weight = RNG.uniform(0.5, 2.0, m) if weighted else np.ones(m)
    options = {"C": 2.0, "tol": 1e-7}
    model = al.MKLClassifier(KERNELS, class_weight=class_weight, **options).fit(X, Y, weight)
    plain = al.MKLClassifier(KERNELS, **options).fit(X, Y, weight)
    assert np.array_equal(model.weights_, plain.weights_)
    K, K_new, D = model.kernel_(X), model.kernel_(NEW, X), model.decision_function(NEW)
    own = class_weight if isinstance(class_weight, list) else [class_weight] * 4
    for j in range(4):
        if own[j] == "balanced":  # by the weights of the samples, not by their number
            given = {k: weight.sum() / (2.0 * weight[Y[:, j] == k].sum()) for k in (0, 1)}
        else:
            given = own[j] or {}
        w = weight * np.where(Y[:, j] == 1, given.get(1, 1.0), given.get(0, 1.0))
        other = SVC(C=2.0, kernel="precomputed", tol=1e-6).fit(K, Y[:, j], sample_weight=w)
        assert D[:, j] == pytest.approx(other.decision_function(K_new), abs=1e-3)
    assert np.array_equal(model.predict(NEW), (D > 0.0).astype(int))
    assert model.classes_.tolist() == [[0, 1]] * 4
    assert class_weight is None or np.abs(D - plain.decision_function(NEW)).max() > 0.1


@pytest.mark.parametrize("machine", ["svm", "nystrom", "dual-cd", "krr"])
def test_class_weights_of_labels_in_every_machine(machine):
    options = {"machine": machine, "n_centers": 60, "normalize": None, "weighting": "uniform"}
    own, atol = [None, "balanced", {1: 5.0}, {0: 2.0}], 0.05 if machine == "nystrom" else 1e-3
    for kernels in ([al.Linear()], [al.Linear(), al.Gaussian(0.5)])[: 1 + (machine != "dual-cd")]:
        make = partial(al.MKLClassifier, kernels, tol=1e-6, **options)
        many = make(class_weight=own).fit(X, Y).decision_function(NEW)
        for j in range(4):
            one = make(class_weight=own[j]).fit(X, Y[:, j])
            assert many[:, j] == pytest.approx(one.decision_function(NEW), abs=atol)


def test_rules_sum_over_the_labels():
    for rule in ("easymkl", "l1-svm", "lkrr", "aligned-krr", "align-lq", "consensus"):
        model = al.MKLClassifier(KERNELS, weighting=rule).fit(X, Y)
        assert model.weights_.min() >= 0.0
        assert np.mean(model.predict(NEW) == Y_NEW) > 0.7
    order = al.MKLClassifier(KERNELS, weighting="easymkl").fit(X, Y[:, ::-1])
    model = al.MKLClassifier(KERNELS, weighting="easymkl").fit(X, Y)
    assert order.weights_ == pytest.approx(model.weights_, abs=1e-3)


def test_frames_and_many_samples():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=200), "b": rng.choice(["x", "y", "z"], 200)})
    labels = np.c_[frame["a"] > 0, frame["b"] == "x", np.arange(200) % 50 == 0].astype(int)
    for per_label in (False, True):
        model = al.MKLClassifierCV(Cs=[1.0, 10.0], cv=2, per_label=per_label).fit(frame, labels)
        assert np.mean(model.predict(frame)[:, :2] == labels[:, :2]) > 0.9
    many = rng.normal(size=(1300, 3))
    labels = np.c_[many[:, 0] > 0, many[:, 1] > 1.0, many[:, 0] + many[:, 2] > 2.5].astype(int)
    model = al.MKLClassifierCV(Cs=[1.0, 10.0]).fit(many[:1100], labels[:1100])
    assert model.score(many[1100:], labels[1100:]) > 0.85


def test_many_labels_are_ranked_by_least_squares_too():
    # Two labels that are nearly noise: support vector machines alone rank samples badly.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    Y = (X[:, :2] + 4.0 * rng.normal(size=(900, 2)) > 3.0).astype(int)
    model = al.MKLClassifierCV(random_state=0).fit(X[:300], Y[:300])
    squares = [m for m in model.members_ if m.name.endswith("-krr")]
    assert squares
    assert all(m.model.machine == "krr" for m in squares)
    new = X[300:]
    expected = sum(m.factor * m.model.decision_function(m.of(new)) for m in model.members_)
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-10)
    calibrated = al.MKLClassifierCV(random_state=0, probability="sigmoid").fit(X[:300], Y[:300])
    assert np.abs(calibrated.predict_proba(new).mean(axis=0) - Y.mean(axis=0)).max() < 0.1
