"""More than 30 classes: models store the coefficients of each pair for its own samples."""

import copy
import io
import pickle

import numpy as np
import pytest
from cases import each
from sklearn.base import clone
from usage import peak_of

import alignlearn as al
from alignlearn import _pairs
from alignlearn.machines import LeastSquaresClassifier, SupportVectorClassifier
from alignlearn.solvers import multiclass
from alignlearn.solvers.smo import SMALL

N_CLASSES = 32
N_PAIRS = N_CLASSES * (N_CLASSES - 1) // 2
RNG = np.random.default_rng(0)
CENTERS = RNG.normal(size=(N_CLASSES, 8))
Y = np.repeat(np.arange(N_CLASSES), 5)[RNG.permutation(5 * N_CLASSES)]
X = CENTERS[Y] + 0.7 * RNG.normal(size=(len(Y), 8))
Y_NEW = RNG.integers(0, N_CLASSES, 50)
NEW = CENTERS[Y_NEW] + 0.7 * RNG.normal(size=(50, 8))
KERNEL = al.Gaussian(0.05)
K, K_NEW = KERNEL(X), KERNEL(NEW, X)
WEIGHT = RNG.uniform(0.5, 2.0, len(Y)) * (np.arange(len(Y)) % 11 > 0)
FIRST, SECOND = np.triu_indices(N_CLASSES, 1)


def machines():
    return [
        SupportVectorClassifier(3.0).fit(K, Y),
        SupportVectorClassifier(3.0, class_weight="balanced").fit(K, Y, WEIGHT),
        LeastSquaresClassifier(3.0).fit(K, Y),
    ]


def samples_of(p):
    """Samples of the two classes of a pair."""
    return np.flatnonzero(np.isin(Y, [FIRST[p], SECOND[p]]))


@each("weight", [None, WEIGHT])
@each("started", [False, True])
def test_each_pair_is_a_problem_of_its_own_samples(weight, started):
    start = RNG.normal(size=(len(Y), N_PAIRS)) if started else None
    model = SupportVectorClassifier(3.0, tol=1e-9).fit(K, Y, weight, alpha0=start)
    coef = model.full_dual_coef()
    assert coef.shape == (len(Y), N_PAIRS)
    assert model.dual_coef_.shape == (len(model.support_), N_PAIRS)
    for p in range(0, N_PAIRS, 45):
        own = samples_of(p)
        some = None if weight is None else weight[own]
        alone = SupportVectorClassifier(3.0, tol=1e-9).fit(K[np.ix_(own, own)], Y[own], some)
        np.testing.assert_allclose(coef[own, p], alone.full_dual_coef()[:, 0], atol=1e-6)
        assert np.count_nonzero(coef[:, p]) == np.count_nonzero(coef[own, p])
        assert model.objective_[p] == pytest.approx(alone.objective_[0], rel=1e-9)
        assert model.intercept_[p] == pytest.approx(alone.intercept_[0], abs=1e-6)
        assert model.kkt_violation_[p] <= 1e-9
    assert model.problem_sizes(Y) == [10] * N_PAIRS


def test_large_pairs_and_the_ends_of_C():
    n = SMALL // 2 + 1
    labels = np.r_[np.repeat([0, 1], n), np.repeat(np.arange(2, N_CLASSES), 2)]
    samples = CENTERS[labels] + RNG.normal(size=(len(labels), 8))
    gram = KERNEL(samples)
    first, model = SupportVectorClassifier(tol=1e-9).fit_each(gram, labels, [0.3, 1.0])
    alone = SupportVectorClassifier(tol=1e-9).fit(gram[: 2 * n, : 2 * n], labels[: 2 * n])
    coef = model.full_dual_coef()
    np.testing.assert_allclose(coef[: 2 * n, :1], alone.full_dual_coef(), atol=1e-6)
    assert not coef[2 * n :, 0].any()
    assert np.abs(first.dual_coef_).max() <= first.C == 0.3
    with pytest.warns(al.ConvergenceWarning, match="after 3 steps"):
        SupportVectorClassifier(max_iter=3).fit(gram, labels)
    # Hard margins separate each pair.
    hard = SupportVectorClassifier(np.inf).fit(K, Y)
    for p in range(0, N_PAIRS, 45):
        own = samples_of(p)
        margins = np.where(Y[own] == SECOND[p], 1.0, -1.0) * hard.problem_decisions(K)[own, p]
        assert margins.min() == pytest.approx(1.0, abs=2e-3)


def test_decisions_are_those_of_the_matrix_of_coefficients():
    for machine in machines():
        stored = vars(machine)["dual_coef_"]
        raw = K_NEW[:, machine.support_] @ machine.dual_coef_ + machine.intercept_
        np.testing.assert_allclose(machine.problem_decisions(K_NEW), raw, atol=1e-12)
        # The rules of decision for a matrix, which few classes use.
        found = machine.decision_function(K_NEW)
        expected = multiclass.class_confidences(raw, machine.classes_, "ovo")
        np.testing.assert_allclose(found, expected, atol=1e-12)
        np.testing.assert_array_equal(machine.predict(K_NEW), expected.argmax(axis=1))
        assert len(pickle.dumps(stored)) < 0.25 * machine.dual_coef_.nbytes


def test_a_model_with_the_matrix_predicts_the_same():
    """As of a file or pickle that was written before."""
    for model in (
        al.MKLClassifier([KERNEL], probability="temperature").fit(X, Y),
        al.MKLClassifier([KERNEL, al.Linear()], machine="krr").fit(X, Y, WEIGHT),
    ):
        old = copy.deepcopy(model)
        for part in (old, old.machine_):
            part.dual_coef_ = part.dual_coef_
            assert isinstance(vars(part)["dual_coef_"], np.ndarray)
        old._predictor.coef = old.dual_coef_
        for one in (old, pickle.loads(pickle.dumps(old))):
            found, expected = one.decision_function(NEW), model.decision_function(NEW)
            np.testing.assert_allclose(found, expected, atol=1e-10)
            np.testing.assert_array_equal(one.predict(NEW), model.predict(NEW))


@each("options", [{}, {"machine": "krr"}, {"kernels": [KERNEL, al.Linear()], "cv": 2}])
def test_a_search_scores_and_averages_the_decisions_of_pairs(options, monkeypatch):
    search = al.MKLClassifierCV(**{"Cs": [1.0, 10.0], "cv": 2, **options})
    model = clone(search).fit(X, Y)
    with monkeypatch.context() as patch:
        patch.setattr(_pairs, "MOST_DENSE", N_PAIRS)
        dense = clone(search).fit(X, Y)
    assert dense.best_params_ == model.best_params_
    for name in ("mean_test_score", "split0_test_score", "rank_test_score"):
        np.testing.assert_allclose(model.cv_results_[name], dense.cv_results_[name], atol=1e-12)
    np.testing.assert_allclose(model.decision_function(NEW), dense.decision_function(NEW), 1e-9)
    np.testing.assert_allclose(model.predict_proba(NEW), dense.predict_proba(NEW), atol=1e-12)
    np.testing.assert_array_equal(model.predict(NEW), dense.predict(NEW))
    file = io.BytesIO()
    al.save(model, file)
    file.seek(0)
    found = al.load(file).decision_function(NEW)
    np.testing.assert_array_equal(found, model.decision_function(NEW))


def test_sets_and_contributions_of_classes(monkeypatch):
    def results():
        model = al.MKLClassifier([KERNEL, al.Linear()], probability="temperature").fit(X, Y)
        found = model.contributions(NEW, Y_NEW, groups="features")
        return model.predict_set(NEW), found.values

    sets, shares = results()
    monkeypatch.setattr(_pairs, "MOST_DENSE", N_PAIRS)
    dense_sets, dense_shares = results()
    np.testing.assert_array_equal(sets, dense_sets)
    np.testing.assert_allclose(shares, dense_shares, atol=1e-12)


def test_decisions_of_pairs_are_a_matrix_that_is_not_stored():
    first = SupportVectorClassifier(3.0).fit(K, Y).raw_decisions(K_NEW)
    columns = RNG.normal(size=(50, N_CLASSES))
    second = LeastSquaresClassifier().fit(K, Y).problems(columns, _pairs.PairDecisions.of_columns)
    A, B = np.asarray(first), np.asarray(second)
    rows = np.array([3, 1, 40])
    for found, expected in (
        (sum([first / 2.0, 0.3 * second]), A / 2.0 + 0.3 * B),
        ((first + second)[rows] / np.float64(3.0), (A + B)[rows] / 3.0),
        (np.float64(2.0) * first[Y_NEW > 9], 2.0 * A[Y_NEW > 9]),
        (first[5:9][:2], A[5:7]),
    ):
        assert isinstance(found, _pairs.PairDecisions)
        assert found.shape == expected.shape
        np.testing.assert_allclose(np.asarray(found), expected, atol=1e-13)
        assert _pairs.mean_size(found) == pytest.approx(np.abs(expected).mean())
    for found, expected in ((first - B, A - B), (np.abs(first), np.abs(A)), (first[1, 2], A[1, 2])):
        np.testing.assert_allclose(found, expected, atol=1e-13)
    np.testing.assert_array_equal(np.asarray(pickle.loads(pickle.dumps(first))), A)


def test_memory_of_a_search_and_size_of_its_model():
    """In units of a matrix of samples and pairs, of which a search held 75, and its model 4."""
    rng, c, m = np.random.default_rng(1), 61, 370
    y = np.arange(m) % c
    centers = rng.normal(size=(c, 5))
    samples = centers[y] + 0.3 * rng.normal(size=(m, 5))
    matrix = 8 * m * c * (c - 1) // 2
    model = al.MKLClassifierCV(cv=2).fit(X, Y)  # compiles
    assert peak_of(lambda: model.fit(samples, y)) < 15 * matrix
    assert len(pickle.dumps(model)) < 0.25 * matrix
