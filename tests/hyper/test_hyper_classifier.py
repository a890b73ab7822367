"""Hyper-kernel classifiers against both stages composed by hand, and against grid search."""

import pickle

import numpy as np
import pytest
from cases import each
from refusals import raises
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from alignlearn.comparison import Protocol, compare, hyper, split
from alignlearn.hyper import (
    GaussianHyperKernel,
    HyperKernelClassifier,
    HyperKernelClassifierCV,
    HyperKRR,
    WishartHyperKernel,
    hyper_kernels,
)
from alignlearn.validation import DegenerateKernelWarning


def two_classes(m=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 2))
    return X, (X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=m) > 0).astype(int)


def three_classes(m=45, seed=0):
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(seed).permutation(150)[:m]
    X = X[rows][:, :2] + 0.01 * np.random.default_rng(1).normal(size=(m, 2))
    return X, np.array(["setosa", "versicolor", "virginica"])[y[rows]]


def hand_made_kernel(X, y, alpha, sigma2, sigma_h2):
    """k* of (2.4) over all m^2 ordered pairs, as a function of two sets of points."""
    m = len(X)
    left, right = np.repeat(X, m, axis=0), np.tile(X, (m, 1))

    def hyper(a, b, c, d):
        def g(u, v):
            return np.square(u - v).sum(axis=-1)

        a, b, mid = a[:, None], b[:, None], ((a + b) / 2)[:, None]
        within = (g(a, b) + g(c, d)) / (2 * sigma2)
        return np.exp(-within - g(mid, (c + d) / 2) / (2 * (sigma2 + sigma_h2)))

    target = np.where(y[:, None] == y, 1.0, -1.0 / (np.unique(y).size - 1)).ravel()
    coef = np.linalg.solve(hyper(left, right, left, right) + alpha * np.eye(m * m), target)

    def kernel(A, B):
        values = hyper(np.repeat(A, len(B), axis=0), np.tile(B, (len(A), 1)), left, right) @ coef
        return values.reshape(len(A), len(B))

    return kernel


def by_hand(machine, K, K_test, y, C):
    """Decisions of scikit-learn's SVC on the matrices of the model."""
    w, U = np.linalg.eigh((K + K.T) / 2)
    if machine in ("krein", "flip"):
        K, K_test = (U * abs(w)) @ U.T, K_test @ (U * np.sign(w)) @ U.T
    elif machine == "clip":
        K, K_test = (U * np.maximum(w, 0)) @ U.T, K_test @ (U * (w > 0)) @ U.T
    elif machine == "shift":
        K = K - min(w[0], 0.0) * np.eye(len(K))
    svc = SVC(C=C, kernel="precomputed", tol=1e-9).fit(K, y)
    return svc.decision_function(K_test)


@each("machine", ["krein", "clip", "flip", "shift"])
def test_the_stages_composed_by_hand(machine):
    X, y = two_classes(18)
    A = two_classes(9, seed=1)[0]
    kernel = hand_made_kernel(X, y, 0.5, 1.3, 0.7)
    found = HyperKernelClassifier(
        GaussianHyperKernel(1.3, 0.7), alpha=0.5, machine=machine, C=2.0, tol=1e-9
    ).fit(X, y)
    np.testing.assert_allclose(found.kernel_(A, X), kernel(A, X), atol=1e-9)
    assert found.eigenvalue_range_[0] < -0.1  # so that the models differ
    expected = by_hand(machine, kernel(X, X), kernel(A, X), y, 2.0)
    np.testing.assert_allclose(found.decision_function(A), expected, atol=1e-6)
    wrong = by_hand("clip" if machine != "clip" else "krein", kernel(X, X), kernel(A, X), y, 2.0)
    assert np.abs(wrong - expected).max() > 1e-3


def test_indefinite_kernel_as_it_is():
    """A stationary point: violations of its optimality conditions are below tol."""
    X, y = two_classes(18)
    found = HyperKernelClassifier(alpha=0.5, machine="svm", C=2.0, tol=1e-6).fit(X, y)
    assert found.machine_.kkt_violation_.max() <= 1e-6
    K = found.kernel_(X)
    assert np.linalg.eigvalsh((K + K.T) / 2)[0] < -0.1
    decisions = K[:, found.support_] @ found.dual_coef_[:, 0] + found.intercept_[0]
    np.testing.assert_allclose(found.decision_function(X), decisions, atol=1e-9)
    sign, coef = np.where(y == 1, 1.0, -1.0), np.zeros(len(y))
    coef[found.support_] = found.dual_coef_[:, 0]
    inside = (np.abs(coef) > 1e-8) & (np.abs(coef) < 2.0 - 1e-8)
    np.testing.assert_allclose((sign * decisions)[inside], 1.0, atol=2e-6)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("regression", ["krr", "svr", "nnls"])
def test_three_classes_with_names(regression, multiclass):
    X, y = three_classes()
    found = HyperKernelClassifier(regression=regression, multiclass=multiclass).fit(X, y)
    assert list(found.classes_) == ["setosa", "versicolor", "virginica"]
    assert found.decision_function(X).shape == (45, 3)
    assert found.score(X, y) > 0.5
    target = np.where(y[:, None] == y, 1.0, -0.5)
    kernel = found._regressor().fit(X, target).kernel_
    np.testing.assert_allclose(found.kernel_(X), kernel(X), atol=1e-9)
    K, H = kernel(X), np.eye(45) - 1 / 45
    Kc, Tc = H @ K @ H, H @ target @ H
    aligned = np.sum(Kc * Tc) / np.linalg.norm(Kc) / np.linalg.norm(Tc)
    assert found.alignment_ == pytest.approx(aligned, abs=1e-9)
    np.testing.assert_allclose(
        found.eigenvalue_range_, np.linalg.eigvalsh((K + K.T) / 2)[[0, -1]], atol=1e-9
    )


def test_predictions_in_blocks(monkeypatch):
    X, y = two_classes()
    found = HyperKernelClassifier().fit(X, y)
    A = two_classes(100, seed=2)[0]
    whole = found.decision_function(A)
    monkeypatch.setattr("alignlearn.hyper.classifier._VALUES", 7 * len(found.support_))
    np.testing.assert_allclose(found.decision_function(A), whole, atol=1e-12)


def test_a_ladder_by_name_reaches_further_by_a_multiple():
    X, y = two_classes(30)
    found = HyperKernelClassifier("ladder", multiple=0.5).fit(X, y)
    used = found.kernel_.hyper_kernel.parts
    expected = {(part.width, 0.5 * part.reach) for part in hyper_kernels().parts}
    assert {(part.width, part.reach) for part in used} == expected
    assert {part.multiple for part in used} == {1.0}
    np.testing.assert_array_equal(found.predict(X), y)


def test_pickles_are_small_and_nested_regressions_have_parameters():
    X, y = two_classes(40)
    model = HyperKernelClassifier("wishart", alpha=2.0).fit(X, y)
    # Three numbers for each of the 820 pairs, and the samples twice.
    assert len(pickle.dumps(model)) < 24 * 820 + 8000
    nested = HyperKernelClassifier(regression=HyperKRR(alpha=3.0))
    nested.set_params(regression__alpha=4.0).fit(X, y)
    assert nested.regression.hyper_kernel is None  # the object itself is not changed
    same = HyperKernelClassifier(alpha=4.0).fit(X, y)
    np.testing.assert_allclose(nested.decision_function(X), same.decision_function(X))


def test_small_constant_and_repeated_samples():
    found = HyperKernelClassifier().fit([[0.0], [1.0]], ["a", "b"])
    assert list(found.predict([[-0.1], [1.1]])) == ["a", "b"]
    X, y = two_classes(20)
    wide = np.column_stack([X, np.full(20, 3.0)])
    same = [HyperKernelClassifier(GaussianHyperKernel(1.0)).fit(A, y) for A in (X, wide)]
    np.testing.assert_allclose(
        same[1].decision_function(wide), same[0].decision_function(X), atol=1e-9
    )
    assert np.isfinite(HyperKernelClassifier().fit(wide, y).decision_function(wide)).all()
    twice = HyperKernelClassifier(machine="clip").fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert np.isfinite(twice.decision_function(X)).all()
    # One point with two labels: a kernel of one value.
    with pytest.warns(DegenerateKernelWarning):
        alone = HyperKernelClassifier().fit(np.zeros((4, 2)), [0, 0, 0, 1])
    assert alone.alignment_ == 0.0
    assert list(alone.predict([[0.0, 0.0]])) == [0]

    # A tube that holds the whole target: only the intercept is left.
    with pytest.warns(DegenerateKernelWarning):
        zero = HyperKernelClassifier(regression="svr", epsilon=1.5).fit(X, y)
    assert np.ptp(zero.decision_function(X)) < 1e-9


# Cross-validation

GRID = {"multiple": [0.5, 4.0], "C": [10.0, 0.5]}


@pytest.mark.parametrize(
    ("regression", "name", "values"),
    [
        ("krr", "alpha", [0.5, 20.0]),
        ("svr", "kernel_C", [0.5, 0.05]),
        ("nnls", "alpha", [1.0, 10.0]),
    ],
)
@pytest.mark.parametrize("machine", ["krein", "clip"])
def test_equals_grid_search(regression, name, values, machine):
    X, y = two_classes(40, seed=3)
    cv = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y))
    options = {"regression": regression, "machine": machine, "tol": 1e-8}
    tuned = HyperKernelClassifierCV(
        multiples=GRID["multiple"], Cs=GRID["C"], **{name + "s": values}, cv=cv, **options
    ).fit(X, y)
    grid = GridSearchCV(HyperKernelClassifier(**options), {**GRID, name: values}, cv=cv).fit(X, y)
    for key in ("mean_test_score", "std_test_score", "split2_test_score"):
        np.testing.assert_allclose(tuned.cv_results_[key], grid.cv_results_[key], atol=1e-12)
    assert tuned.cv_results_["params"] == grid.cv_results_["params"]
    assert tuned.best_params_ == grid.best_params_
    assert (tuned.C_, tuned.multiple_) == (tuned.best_params_["C"], tuned.best_params_["multiple"])
    assert getattr(tuned, name + "_") == grid.best_params_[name]
    np.testing.assert_allclose(tuned.decision_function(X), grid.decision_function(X), atol=1e-6)
    assert np.ptp(tuned.cv_results_["mean_test_score"]) > 0  # not one score for all
    again = pickle.loads(pickle.dumps(tuned))
    np.testing.assert_array_equal(again.predict(X), tuned.predict(X))


def test_search_by_name_of_object_and_refit():
    X, y = three_classes()
    model = HyperKernelClassifierCV(
        WishartHyperKernel(), regression=HyperKRR(alpha=5.0), multiples=[1.0], Cs=[1.0, 10.0], cv=3
    ).fit(X, y)
    assert set(model.best_params_) == {"C", "multiple"}
    model.set_params(regression="svr", kernel_Cs=0.1).fit(X, y)
    assert model.kernel_C_ == 0.1
    assert not hasattr(model, "alpha_")
    for name, value in (("regression", "ridge"), ("machine", "ridge"), ("kernel_Cs", [0.0])):
        raises(ValueError, name, clone(model).set_params(**{name: value}).fit, X, y)


@pytest.mark.parametrize("solver", ["pivoted", "nystrom"])
@pytest.mark.parametrize("random_state", [3, "generator"])
def test_strengths_share_their_landmarks(monkeypatch, solver, random_state):
    """The same kernels as from a fit of each, with one factor for all."""
    from alignlearn.hyper import _fit
    from alignlearn.hyper._stages import kernel_path

    X, y = two_classes(24)
    factors = []

    def counting(*args):
        factors.append(args)
        return low_rank(*args)

    low_rank = _fit.low_rank
    monkeypatch.setattr(_fit, "low_rank", counting)

    def make():
        seed = np.random.default_rng(3) if random_state == "generator" else random_state
        return [HyperKRR(None, a, solver=solver, rank_tol=0.01, random_state=seed) for a in (1, 9)]

    shared = list(kernel_path(make(), X, y))
    assert len(factors) == (2 if random_state == "generator" else 1)
    single = [model.fit(X, y).kernel_ for model in make()]
    for one, other in zip(shared, single):
        np.testing.assert_array_equal(one(X), other(X))
    assert np.abs(shared[0](X) - shared[1](X)).max() > 1e-3


# Comparison


def test_compare_chooses_among_learned_kernels(monkeypatch):
    monkeypatch.setattr(hyper, "MULTIPLES", (1.0,))
    monkeypatch.setattr(hyper, "STRENGTHS", {"krr": (10.0, 1.0), "svr": (0.1,), "nnls": (10.0,)})
    X, y = three_classes(60)
    methods = ("uniform", "hyper-krr", "hyper-svr", "hyper-nnls")
    protocol = Protocol(n_folds=3, grid=(1.0, 8.0), random_state=1)
    found = compare(X, y, methods=methods, protocol=protocol)
    assert np.isnan(found.weights[1:]).all()
    assert np.isin(found.parameter[1:], (1.0, 8.0)).all()
    folds = split(y, 3, "classification", 1)
    for t in range(3):
        train, validate, test = folds[(t + 2) % 3], folds[(t + 1) % 3], folds[t]
        Z = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
        outcomes = []
        for alpha in (10.0, 1.0):
            model = HyperKernelClassifier(alpha=alpha).fit(Z[train], y[train])
            w = np.linalg.eigvalsh(model.kernel_(Z[train]))
            for C in (1.0, 8.0):
                model.set_params(C=C / np.abs(w).mean()).fit(Z[train], y[train])
                errors = [np.mean(model.predict(Z[r]) != y[r]) for r in (validate, test)]
                outcomes.append((*errors, model.alignment_))
        best = min(outcomes, key=lambda o: o[0])
        assert found.validation_error[1, t] == pytest.approx(best[0], abs=1e-12)
        assert found.error[1, t] == pytest.approx(best[1], abs=1e-12)
        assert found.alignment[1, t] == pytest.approx(best[2], abs=1e-9)
        np.testing.assert_array_less(0.0, found.test_alignment[1:, t])


def test_compare_refuses_regression_and_sparse_samples():
    from scipy import sparse

    X, y = two_classes(30)
    with pytest.raises(ValueError, match=r"hyper-svr.*classification"):
        compare(X, X[:, 0], methods=("uniform", "hyper-svr"), task="regression")
    with pytest.raises(ValueError, match=r"hyper-krr.*dense"):
        compare(sparse.csr_array(X), y, ["linear"], methods=("hyper-krr",))


def test_a_kernel_is_learned_once_for_all_costs():
    X, y = two_classes(24)
    fits = []

    class Counting(GaussianHyperKernel):
        def resolve(self, X):
            fits.append(len(X))
            return super().resolve(X)

    options = {"multiples": [1.0, 2.0], "Cs": [0.1, 1.0, 10.0], "cv": 2}
    HyperKernelClassifierCV(Counting(), alphas=5.0, **options).fit(X, y)
    assert fits == 4 * [12] + [24]
