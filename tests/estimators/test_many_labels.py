"""Many labels: y of shape (m, c) of 0 and 1 in the classifiers."""

import pickle
import warnings
from functools import partial

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


def decisions_of_svc(K, K_new, y, weight=None, C=1.0):
    model = SVC(C=C, kernel="precomputed", tol=1e-6).fit(K, y, sample_weight=weight)
    return model.decision_function(K_new)


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


@pytest.mark.parametrize("weighted", [False, True])
def test_machines_are_those_of_scikit_learn_on_the_kernel(weighted):
    weight = RNG.integers(1, 4, m).astype(float) if weighted else None
    model = al.MKLClassifier(KERNELS, C=2.0, tol=1e-6).fit(X, Y, sample_weight=weight)
    K, K_new = model.kernel_(X), model.kernel_(NEW, X)
    D = model.decision_function(NEW)
    assert D.shape == (n, 4)
    for j in range(4):
        expected = decisions_of_svc(K, K_new, Y[:, j], weight, C=2.0)
        assert D[:, j] == pytest.approx(expected, abs=1e-3)
    assert np.array_equal(model.predict(NEW), (D > 0.0).astype(int))
    assert model.score(NEW, Y_NEW) == np.mean((model.predict(NEW) == Y_NEW).all(axis=1))
    assert model.classes_.tolist() == [[0, 1]] * 4


def test_weights_per_label_are_those_of_each_label_alone():
    model = al.MKLClassifier(KERNELS, per_label=True).fit(X, Y)
    assert model.weights_.shape == (4, 4)
    for j in range(4):
        one = al.MKLClassifier(KERNELS).fit(X, Y[:, j])
        assert np.array_equal(model.weights_[:, j], one.weights_)
        assert np.array_equal(model.decision_function(NEW)[:, j], one.decision_function(NEW))
    # The kernel of column 1 alone is for the label of column 1.
    assert model.weights_[3].argmax() == 1
    assert model.score(NEW, Y_NEW) == np.mean((model.predict(NEW) == Y_NEW).all(axis=1))


def test_search_is_a_grid_search_by_subset_accuracy():
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    options = {"weighting": "alignf", "Cs": [0.1, 10.0], "tol": 1e-9}
    model = al.MKLClassifierCV(KERNELS, cv=folds, **options).fit(X, Y)
    for k, C in enumerate([0.1, 10.0]):
        scores = []
        for train, test in folds:
            learned = al.MKLClassifier(KERNELS, C=C, tol=1e-9).fit(X[train], Y[train])
            scores.append(learned.score(X[test], Y[test]))
        assert model.cv_results_["mean_test_score"][k] == pytest.approx(np.mean(scores))
    assert model.C_ == 10.0
    assert model.best_score_ == model.cv_results_["mean_test_score"].max()


RARE = np.c_[Y, np.zeros(m, int), np.ones(m, int), np.arange(m) == 5]


@pytest.mark.parametrize(
    "model",
    [
        al.MKLClassifier(KERNELS),
        al.MKLClassifier(KERNELS, probability="temperature"),
        al.MKLClassifierCV(KERNELS, Cs=[1.0, 10.0]),
        al.MKLClassifierCV(KERNELS, Cs=[1.0], probability="isotonic"),
        al.MKLClassifierCV(Cs=[1.0, 10.0, 100.0], cv=3),
        al.MKLClassifierCV(KERNELS, Cs=[1.0, 10.0], per_label=True),
        al.MKLClassifier(KERNELS, per_label=True),
    ],
)
@pytest.mark.filterwarnings("ignore:.*one sample of their rarer")
def test_rare_and_constant_labels(model):
    model.fit(X, RARE)
    D, predicted = model.decision_function(NEW), model.predict(NEW)
    assert D.shape == predicted.shape == (n, 7)
    assert (predicted[:, 4] == 0).all()
    assert (predicted[:, 5] == 1).all()
    assert (D[:, 4] == -1.0).all()
    assert (D[:, 5] == 1.0).all()
    assert np.array_equal(predicted, D > 0.0)
    assert (predicted[:, 6] == 0).mean() > 0.8
    assert np.mean(predicted[:, :4] == Y_NEW) > 0.7
    if model.probability is not None:
        P = model.predict_proba(NEW)
        assert P.shape == (n, 7)
        assert P.min() >= 0.0
        assert P.max() <= 1.0
        assert (P[:, 4] == 0.0).all()
        assert (P[:, 5] == 1.0).all()
        assert (P[:, 6] < 0.5).mean() > 0.8
        assert np.mean((P > 0.5)[:, :4] == Y_NEW) > 0.7
    assert "alignment" in model.summary() or "method" in model.summary()
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(NEW), D)


def test_a_label_of_one_sample_is_doubted_where_folds_are_needed():
    with pytest.warns(al.DoubtfulResultWarning, match="1 labels of y .6. have one sample"):
        model = al.MKLClassifierCV(KERNELS, Cs=[1.0], per_label=True).fit(X, RARE)
    assert model.models_[6] is None
    assert model.models_[0] is not None
    assert np.isnan(model.C_[[4, 5, 6]]).all()
    assert (model.C_[:4] == 1.0).all()


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


def test_integer_weights_are_repetitions():
    weight = RNG.integers(0, 3, m)
    rows = np.repeat(np.arange(m), weight)
    for per_label in (False, True):
        options = {"per_label": per_label, "tol": 1e-6}
        model = al.MKLClassifier(KERNELS, **options).fit(X, Y, sample_weight=weight)
        copies = al.MKLClassifier(KERNELS, **options).fit(X[rows], Y[rows])
        assert model.weights_ == pytest.approx(copies.weights_, abs=1e-7)
        assert model.decision_function(NEW) == pytest.approx(
            copies.decision_function(NEW), abs=1e-3
        )
    right = (model.predict(NEW) == Y_NEW).all(axis=1)
    w = np.arange(n) % 3
    assert model.score(NEW, Y_NEW, w) == pytest.approx(w @ right / w.sum())


def names_for_many_labels():
    """scikit-learn's scorers that accept many labels, decisions or probabilities."""
    model = OneVsRestClassifier(SVC()).fit(X, Y)
    names = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in get_scorer_names():
            try:
                value = get_scorer(name)(model, NEW, Y_NEW)
            except Exception:
                continue
            if np.isfinite(value) and get_scorer(name)._sign == 1:
                names.append(name)
    return names


def test_all_scorers_for_many_labels_are_taken_by_name():
    names = names_for_many_labels()
    assert {"accuracy", "f1_macro", "f1_micro", "roc_auc", "jaccard_samples"} <= set(names)
    folds = [(np.arange(60), np.arange(60, m))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scores that are undefined for a label
        for name in names:
            options = {"weighting": "alignf", "Cs": [1.0], "cv": folds, "probability": None}
            options["tol"] = 1e-9
            model = al.MKLClassifierCV(KERNELS, scoring=name, **options).fit(X, Y)
            part = al.MKLClassifier(KERNELS, tol=1e-9).fit(X[:60], Y[:60])
            expected = get_scorer(name)(part, X[60:], Y[60:])
            assert model.best_score_ == pytest.approx(expected, abs=1e-6), name
    with pytest.raises(ValueError, match="is for one label"):
        al.MKLClassifierCV(KERNELS, scoring="balanced_accuracy").fit(X, Y)


def test_scorers_of_two_labels_do_not_take_them_for_two_classes():
    model = al.MKLClassifierCV(KERNELS, Cs=[1.0], cv=3).fit(X, Y[:, :2])
    value = get_scorer("roc_auc")(model, NEW, Y_NEW[:, :2])
    single = [
        get_scorer("roc_auc")(al.MKLClassifier(KERNELS).fit(X, Y[:, j]), NEW, Y_NEW[:, j])
        for j in range(2)
    ]
    assert value == pytest.approx(np.mean(single), abs=0.1)
    assert model.predict_proba(NEW).shape == (n, 2)
    assert not np.allclose(model.predict_proba(NEW).sum(axis=1), 1.0)


def test_containers():
    model = al.MKLClassifier(KERNELS).fit(X, Y)
    expected = model.decision_function(NEW)
    for other in (Y.tolist(), Y.astype(bool), Y.astype(np.float32), csr_matrix(Y), pd.DataFrame(Y)):
        assert np.array_equal(
            al.MKLClassifier(KERNELS).fit(X, other).decision_function(NEW), expected
        )
        own = al.MKLClassifier(KERNELS, per_label=True).fit(X, other)
        assert own.predict(NEW).shape == (n, 4)
    index = [f"s{i}" for i in range(m)]
    frame, order = pd.DataFrame(Y, index=index), RNG.permutation(m)
    tables = {"a": pd.DataFrame(X[:, :2], index=index), "b": pd.DataFrame(X[:, 2:], index=index)}
    straight = al.MKLClassifier(["rbf"]).fit(tables, frame)
    shuffled = al.MKLClassifier(["rbf"]).fit(tables, frame.iloc[order])
    new = {"a": NEW[:, :2], "b": NEW[:, 2:]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.array_equal(straight.predict(new), shuffled.predict(new))


def test_bad_labels_and_class_weights():
    no_labels = "not multilabel targets"
    labels = {
        "two": (np.where(Y == 1, 2, 0), no_labels),
        "gaps": (np.where(Y == 1, np.nan, 0.0), no_labels),
        "digits": (Y.astype(str), no_labels),
        "words": (np.where(Y == 1, "yes", "no"), no_labels),
        "halves": (Y + 0.5, no_labels),
        "short": (Y[:-1], "89"),
        "constant": (np.zeros_like(Y), "all of them constant"),
        "ragged": ([[0, 1]] * (m - 1) + [[0, 1, 1]], "different lengths"),
        "three axes": (Y[:, :, None], "1-d array of labels|several labels"),
    }
    weights = (
        (["balanced"], "1 entries for 4 labels"),
        ({2: 1.0}, "that are not in y"),
        ({1: 0.0}, "> 0"),
        ("equal", "balanced"),
        (3.0, "class_weight must be"),
        ([3.0] * 4, "class_weight must be"),
    )
    cases = []
    for make in (al.MKLClassifier, al.MKLClassifierCV):
        for per_label in (False, True):
            model = make(KERNELS, per_label=per_label)
            cases += [(f"{model} {n}", partial(model.fit, X, y), w) for n, (y, w) in labels.items()]
            for weight, words in weights:
                model = make(KERNELS, per_label=per_label, class_weight=weight)
                cases.append((f"{model}", partial(model.fit, X, Y), words))
    assert not_refused(cases) == []


def test_what_is_for_one_label_says_so():
    shared = al.MKLClassifierCV(KERNELS, Cs=[1.0]).fit(X, Y)
    own = al.MKLClassifierCV(KERNELS, Cs=[1.0], per_label=True).fit(X, Y)
    for model in (shared, own):
        for name, arguments in {
            "bound": (X, Y),
            "alignment_interval": (X, Y),
            "predict_set": (NEW,),
            "contributions": (NEW, Y_NEW),
        }.items():
            raises(ValueError, rf"{name} is for one label", getattr(model, name), *arguments)
        with pytest.raises(ValueError, match="alignment_interval_ is for one label"):
            model.alignment_interval_  # noqa: B018
        raises(ValueError, "y has shape", model.score, NEW, Y_NEW[:, :2])
    assert own.models_[1].contributions(NEW, Y_NEW[:, 1]).values.shape == (4, 1)
    assert shared.kernel_table(X, Y)["spread"].shape == (4,)
    raises(ValueError, "kernel_table is for one label", own.kernel_table)
    with pytest.raises(ValueError, match=r"per_label=True is for y of several labels.*\(90,\)"):
        al.MKLClassifier(KERNELS, per_label=True).fit(X, Y[:, 0])


CLASS_WEIGHTS = ["balanced", {1: 4.0}, [None, "balanced", {0: 0.5, 1: 3.0}, {1: 2.0}]]


@pytest.mark.parametrize(
    ("class_weight", "weighted"), list(zip(CLASS_WEIGHTS, (True, False, True)))
)
def test_class_weights_of_labels_with_one_kernel(class_weight, weighted):
    """The models of scikit-learn with the weights of each label, and the kernel without them."""
    weight = RNG.uniform(0.5, 2.0, m) if weighted else None
    options = {"C": 2.0, "tol": 1e-7}
    plain = al.MKLClassifier(KERNELS, **options).fit(X, Y, sample_weight=weight)
    model = al.MKLClassifier(KERNELS, class_weight=class_weight, **options)
    model.fit(X, Y, sample_weight=weight)
    assert np.array_equal(model.weights_, plain.weights_)
    K, K_new = model.kernel_(X), model.kernel_(NEW, X)
    own = class_weight if isinstance(class_weight, list) else [class_weight] * 4
    for j in range(4):
        w = np.ones(m) if weight is None else weight
        if own[j] == "balanced":  # by the weights of the samples, not by their number
            given = {k: w.sum() / (2.0 * w[Y[:, j] == k].sum()) for k in (0, 1)}
        else:
            given = own[j] or {}
        w = w * np.where(Y[:, j] == 1, given.get(1, 1.0), given.get(0, 1.0))
        expected = decisions_of_svc(K, K_new, Y[:, j], w, C=2.0)
        assert model.decision_function(NEW)[:, j] == pytest.approx(expected, abs=1e-3)
    assert np.abs(model.decision_function(NEW) - plain.decision_function(NEW)).max() > 0.1


@pytest.mark.parametrize("machine", ["svm", "nystrom", "dual-cd", "krr"])
def test_class_weights_of_labels_in_every_machine(machine):
    options = {"machine": machine, "n_centers": 60, "normalize": None, "weighting": "uniform"}
    options |= {"tol": 1e-6}
    own = [None, "balanced", {1: 5.0}, {0: 2.0}]
    for kernels in ([al.Linear()], [al.Linear(), al.Gaussian(0.5)]):
        if machine == "dual-cd" and len(kernels) > 1:
            continue
        many = al.MKLClassifier(kernels, class_weight=own, **options).fit(X, Y)
        for j in range(4):
            one = al.MKLClassifier(kernels, class_weight=own[j], **options).fit(X, Y[:, j])
            expected = one.decision_function(NEW)
            atol = 0.05 if machine == "nystrom" else 1e-3
            assert many.decision_function(NEW)[:, j] == pytest.approx(expected, abs=atol)


@pytest.mark.filterwarnings("ignore:.*one sample of their rarer")
@pytest.mark.parametrize(("machine", "per_label"), [("svm", True), ("krr", False), ("auto", False)])
def test_class_weights_in_a_search_with_rare_and_constant_labels(per_label, machine):
    options = {"Cs": [1.0, 10.0], "cv": 3, "per_label": per_label, "machine": machine}
    model = al.MKLClassifierCV(KERNELS, class_weight="balanced", **options).fit(X, RARE)
    assert np.mean(model.predict(NEW)[:, :4] == Y_NEW) > 0.7
    assert model.predict_proba(NEW).shape == (n, 7)
    if machine != "krr":  # a strategy does not read it: as with "auto"
        options = {"Cs": [1.0, 10.0], "cv": 2, "per_label": per_label}
        default = al.MKLClassifierCV(class_weight={1: 3.0}, **options).fit(X, Y)
        assert np.mean(default.predict(NEW) == Y_NEW) > 0.7


def test_a_fit_of_one_label_leaves_nothing_of_many():
    model = al.MKLClassifier(KERNELS, per_label=True).fit(X, Y)
    model.set_params(per_label=False).fit(X, Y[:, 0])
    assert not hasattr(model, "models_")
    assert model.predict(NEW).shape == (n,)
    model.set_params(per_label=True).fit(X, Y)
    assert not hasattr(model, "machine_")
    assert model.predict(NEW).shape == (n, 4)


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
    model = al.MKLClassifierCV(Cs=[1.0, 10.0], cv=2).fit(frame, labels)
    assert np.mean(model.predict(frame)[:, :2] == labels[:, :2]) > 0.9
    own = al.MKLClassifierCV(Cs=[1.0, 10.0], cv=2, per_label=True).fit(frame, labels)
    assert np.mean(own.predict(frame)[:, :2] == labels[:, :2]) > 0.9
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
    names = [m.name for m in model.members_]
    squares = [name for name in names if name.endswith("-krr")]
    assert {f"{name}-krr" for name in names if f"{name}-krr" in squares} == set(squares)
    assert squares
    assert all(m.model.machine == "krr" for m in model.members_ if m.name in squares)
    decisions = model.decision_function(X[300:])
    expected = sum(
        m.factor * m.model.decision_function(X[300:] if m.factors is None else m.of(X[300:]))
        for m in model.members_
    )
    np.testing.assert_allclose(decisions, expected, atol=1e-10)
    assert np.array_equal(model.predict(X[300:]), decisions > 0.0)
    calibrated = al.MKLClassifierCV(random_state=0, probability="sigmoid").fit(X[:300], Y[:300])
    assert np.abs(calibrated.predict_proba(X[300:]).mean(axis=0) - Y.mean(axis=0)).max() < 0.1
