"""The models against scikit-learn, brute force, published counterexamples and invariances."""

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from sklearn import datasets
from sklearn.kernel_ridge import KernelRidge as SklearnRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from alignlearn.machines import (
    KernelRidge,
    SupportVectorClassifier,
    SupportVectorRegressor,
    ridge_loo_path,
)
from alignlearn.machines.paths import svm_path
from alignlearn.validation import ConvergenceWarning


def diabetes():
    """Gram matrices and targets: two thirds to train, one third to test."""
    X, y = datasets.load_diabetes(return_X_y=True)
    K = rbf_kernel(StandardScaler().fit_transform(X), gamma=1.0 / X.shape[1])
    train = np.arange(len(y)) % 3 > 0
    return np.ascontiguousarray(K[np.ix_(train, train)]), y[train], K[np.ix_(~train, train)]


def noisy(m, seed, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 2))
    y = np.digitize(X[:, 0] + 0.5 * rng.standard_normal(m), [-0.5, 0.5][: n_classes - 1])
    y[:n_classes] = np.arange(n_classes)
    return rbf_kernel(X, gamma=0.5), y


# Ridge


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ridge_without_intercept_is_the_known_formula(dtype):
    rng = np.random.default_rng(0)
    K = rbf_kernel(rng.standard_normal((40, 3))).astype(dtype)
    Y = rng.standard_normal((40, 2))
    ours = KernelRidge(alpha=0.3, fit_intercept=False).fit(K, Y)
    oracle = SklearnRidge(alpha=0.3, kernel="precomputed").fit(K.astype(float), Y)
    np.testing.assert_allclose(ours.dual_coef_, oracle.dual_coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(K[:5]), oracle.predict(K[:5].astype(float)), rtol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_intercept_minimizes_the_primal_objective(weighted):
    """Oracle: least squares in explicit features, the intercept an unpenalized column."""
    rng = np.random.default_rng(2)
    features, y = rng.standard_normal((30, 4)) + 5.0, rng.standard_normal(30) + 2.0
    weight = rng.uniform(0.0, 2.0, 30) if weighted else np.ones(30)
    weight[:3] = 0.0 if weighted else 1.0
    design = np.c_[features, np.ones(30)]
    penalty = np.diag([0.7] * 4 + [0.0])
    normal = (design * weight[:, None]).T @ design + penalty
    solution = np.linalg.solve(normal, design.T @ (weight * y))
    machine = KernelRidge(alpha=0.7).fit(features @ features.T, y, weight if weighted else None)
    new = rng.standard_normal((6, 4))
    np.testing.assert_allclose(
        machine.predict(new @ features.T), new @ solution[:-1] + solution[-1], rtol=1e-9
    )
    assert abs(machine.dual_coef_.sum()) < 1e-11


@given(seed=st.integers(0, 10**6), shift=st.floats(0.0, 1e4))
def test_ridge_with_intercept_ignores_a_constant_added_to_the_kernel(seed, shift):
    rng = np.random.default_rng(seed)
    K, y = rbf_kernel(rng.standard_normal((12, 2))), rng.standard_normal(12)
    plain, shifted = KernelRidge(alpha=0.5).fit(K, y), KernelRidge(alpha=0.5).fit(K + shift, y)
    np.testing.assert_allclose(shifted.predict(K + shift), plain.predict(K), atol=1e-8)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("columns", [None, 2])
def test_loo_path_equals_leaving_each_sample_out(intercept, columns):
    rng = np.random.default_rng(3)
    K = rbf_kernel(rng.standard_normal((25, 3)), gamma=0.2) + 3.0
    y = rng.standard_normal(25 if columns is None else (25, columns)) + 1.0
    alphas = [1e-6, 1e-3, 1.0, 100.0]
    path = ridge_loo_path(K, y, alphas, fit_intercept=intercept)
    for alpha, predictions, mse in zip(alphas, path.predictions, path.loo_mse):
        brute = np.empty_like(y)
        for i in range(25):
            rest = np.arange(25) != i
            machine = KernelRidge(alpha=alpha, fit_intercept=intercept)
            machine.fit(K[np.ix_(rest, rest)], y[rest])
            brute[i] = machine.predict(K[i : i + 1, rest])[0]
        np.testing.assert_allclose(predictions, brute, rtol=1e-6, atol=1e-8)
        assert mse == pytest.approx(np.mean((brute - y) ** 2), rel=1e-6)
    assert path.best_alpha == alphas[int(np.argmin(path.loo_mse))]


def test_loo_path_on_a_constant_kernel_predicts_the_mean_of_the_others():
    y = np.array([1.0, 2.0, 6.0])
    path = ridge_loo_path(np.ones((3, 3)), y, [0.1, 1.0])
    np.testing.assert_allclose(path.predictions, [[4.0, 3.5, 1.5]] * 2, rtol=1e-12)
    assert path.best_alpha == 1.0


def test_ridge_names_a_system_that_is_not_positive_definite():
    y, negative = np.arange(3.0), -2.0 * np.eye(3)
    ridge = KernelRidge(alpha=1.0, fit_intercept=False)
    raises(ValueError, "not positive definite", KernelRidge(alpha=0.0).fit, np.ones((3, 3)), y)
    raises(ValueError, "not positive definite", ridge.fit, negative, y)
    raises(ValueError, "not positive definite", ridge_loo_path, negative, y, [1.0])


# Classification


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_all_problems_are_one_matrix_product(multiclass):
    K, y = noisy(90, seed=4, n_classes=3)
    machine = SupportVectorClassifier(multiclass=multiclass, tol=1e-8).fit(K, y)
    raw = K[:, machine.support_] @ machine.dual_coef_ + machine.intercept_
    assert raw.shape == (90, 3)
    signs = [(y == 1) * 1 - (y == 0), (y == 2) * 1 - (y == 0), (y == 2) * 1 - (y == 1)]
    if multiclass == "ovr":
        signs = [np.where(y == k, 1, -1) for k in range(3)]
    reached = machine.duality_gap_, machine.objective_
    for sign, decision, gap, objective in zip(signs, raw.T, *reached):
        used = sign != 0
        binary = SVC(kernel="precomputed", tol=1e-8).fit(K[np.ix_(used, used)], sign[used])
        coef = binary.dual_coef_[0]
        square = coef @ K[np.ix_(used, used)][np.ix_(binary.support_, binary.support_)] @ coef
        hinge = np.maximum(1 - sign[used] * decision[used], 0).sum()
        assert objective == pytest.approx(np.abs(coef).sum() - 0.5 * square, rel=1e-6)
        assert 0.5 * square + hinge - objective == pytest.approx(gap, abs=1e-5)


@given(seed=st.integers(0, 10**6), n_copies=st.integers(1, 4))
def test_a_weight_of_two_is_a_point_twice_and_zero_is_none(seed, n_copies):
    K, y = noisy(16, seed)
    rng = np.random.default_rng(seed)
    repeats = np.ones(16, dtype=int)
    repeats[2:] = rng.integers(0, n_copies + 1, 14)
    index = np.repeat(np.arange(16), repeats)
    for class_weight in (None, "balanced"):
        machine = SupportVectorClassifier(C=0.7, class_weight=class_weight, tol=1e-9)
        weighted = machine.fit(K, y, repeats).objective_[0]
        decisions = machine.decision_function(K) - machine.intercept_
        machine.fit(K[np.ix_(index, index)], y[index])
        assert machine.objective_[0] == pytest.approx(weighted, rel=1e-7)
        copies = machine.decision_function(K[:, index]) - machine.intercept_
        np.testing.assert_allclose(copies, decisions, atol=1e-6)


def test_intercept_without_free_vectors_is_the_middle_of_its_interval():
    """Every alpha is C = 1, so "any i with alpha_i > 0 gives b" would wrongly put a margin at 1.

    With w = 0.8 all margins stay below 1 for b in [-1, 0.2]; the middle is -0.4.
    """
    x, y = np.array([0.0, 1.0, 0.4, 0.6]), np.array([-1, 1, 1, -1])
    machine = SupportVectorClassifier(C=1.0, tol=1e-10).fit(np.outer(x, x), y)
    np.testing.assert_allclose(machine.full_dual_coef()[:, 0], y, atol=1e-12)
    assert machine.intercept_[0] == pytest.approx(-0.4)
    margins = y * machine.decision_function(np.outer(x, x))
    np.testing.assert_allclose(margins, [0.4, 0.4, -0.08, -0.08], atol=1e-12)
    hinge = np.maximum(1 - y * (0.8 * x + np.linspace(-3, 3, 601)[:, None]), 0).sum(axis=1)
    assert np.maximum(1 - margins, 0).sum() <= hinge.min() + 1e-12


def test_hard_margin_of_separable_classes():
    """Points 0, 1 | 3, 4 have the separator at 2 and margin 1, without one of weight 0."""
    x, y = np.array([0.0, 1.0, 3.0, 4.0, -9.0]), np.array(list("aabbb"))
    machine = SupportVectorClassifier(C=np.inf, tol=1e-9)
    raises(ValueError, "not separable", machine.fit, np.outer(x, x), y)
    machine.fit(np.outer(x, x), y, [1, 1, 5, 1, 0])
    assert machine.objective_[0] == pytest.approx(0.5, rel=1e-8)
    assert machine.duality_gap_[0] < 1e-7
    assert machine.support_.tolist() == [1, 2]
    found = machine.decision_function(np.outer([2.0, 3.0, 5.0], x))
    np.testing.assert_allclose(found, [0.0, 1.0, 3.0], atol=1e-7)


@each("seed", range(3))
@each("scale", [1e-6, 1.0, 1e6])
def test_hard_margin_is_the_soft_one_with_a_large_C(seed, scale):
    X = np.random.default_rng(seed).standard_normal((60, 5))
    y = X @ [1.0, -1, 0.5, 0, 0] > 0.1
    K = scale * (X @ X.T + 10.0)
    hard = SupportVectorClassifier(C=np.inf, tol=1e-7).fit(K, y)
    soft = SupportVectorClassifier(C=2.0 * hard.objective_[0], tol=1e-7).fit(K, y)
    assert hard.objective_[0] == pytest.approx(soft.objective_[0], rel=1e-6)
    assert (hard.decision_function(K) * np.where(y, 1, -1)).min() == pytest.approx(1.0, abs=1e-5)
    K, labels = np.kron(np.eye(3), np.ones((2, 2))), list("aabbcc")
    assert SupportVectorClassifier(C=np.inf).fit(K, labels).predict(K).tolist() == labels


@each(
    ("x", "y"),
    [
        ([[0.0], [1.0], [2.0]], [0, 1, 0]),
        ([[0.0], [1.0], [1.0], [3.0]], [0, 0, 1, 1]),
        ([[1.0], [1.0]], [0, 1]),
        ([[0.0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]),
        (np.random.default_rng(0).standard_normal((200, 3)), np.arange(200) % 2),
    ],
)
def test_hard_margin_refuses_inseparable_classes_and_indefinite_kernels(x, y):
    fit = SupportVectorClassifier(C=np.inf).fit
    raises(ValueError, "not separable in the feature space", fit, np.inner(x, x), y)
    K = np.array([[1.0, 3.0, 0.0], [3.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    raises(ValueError, "needs a positive semi-definite K", fit, K, [0, 1, 1])


def test_iteration_limit_warns_with_the_violation_reached():
    K, y = noisy(100, seed=7)
    with pytest.warns(ConvergenceWarning, match=r"after 5 steps with a KKT violation of \d"):
        machine = SupportVectorClassifier(max_iter=5).fit(K, y)
    assert machine.kkt_violation_[0] > 1e-3
    with pytest.warns(ConvergenceWarning, match="after 5 steps"):
        SupportVectorRegressor(max_iter=5).fit(K, y)


def test_warm_start_saves_steps_and_changes_nothing_else():
    K, y = noisy(300, seed=8, n_classes=3)
    first = SupportVectorClassifier(C=1.0, tol=1e-6).fit(K, y)
    cold = SupportVectorClassifier(C=1.1, tol=1e-6).fit(K, y)
    warm = SupportVectorClassifier(C=1.1, tol=1e-6).fit(K, y, alpha0=first.full_dual_coef())
    assert warm.n_iter_.sum() < cold.n_iter_.sum()
    np.testing.assert_allclose(warm.objective_, cold.objective_, rtol=1e-8)


# Regression


@each("C", [1.0, 100.0])
@each("weighted", [False, True])
def test_regression_agrees_with_libsvm(C, weighted):
    K, y, K_test = diabetes()
    weight = np.random.default_rng(1).uniform(0.0, 2.0, len(y)) if weighted else None
    ours = SupportVectorRegressor(C=C, epsilon=5.0, tol=1e-6).fit(K, y, weight)
    oracle = SVR(C=C, epsilon=5.0, kernel="precomputed", tol=1e-6).fit(K, y, weight)
    np.testing.assert_allclose(ours.predict(K_test), oracle.predict(K_test), atol=1e-3)
    coef = oracle.dual_coef_[0]
    support = oracle.support_
    dual = y[support] @ coef - 5.0 * np.abs(coef).sum()
    dual -= 0.5 * coef @ K[np.ix_(support, support)] @ coef
    assert ours.objective_[0] == pytest.approx(dual, rel=1e-6)
    assert ours.duality_gap_[0] < 1e-5 * dual


def test_regression_within_the_tube_is_a_constant():
    y = np.array([1.0, 1.5, 2.0, 1.2])
    machine = SupportVectorRegressor(C=10.0, epsilon=0.6).fit(np.eye(4), y)
    assert machine.support_.size == 0
    np.testing.assert_allclose(machine.predict(np.zeros((2, 4))), 1.5)


def _columns(y):
    """Targets of three sizes, the last of them within the tube."""
    rng = np.random.default_rng(2)
    return np.column_stack([y, 0.1 * y + rng.normal(size=len(y)), 3.0 + 1e-3 * rng.random(len(y))])


@pytest.mark.parametrize("weighted", [False, True])
def test_regression_of_several_targets_is_a_machine_per_column(weighted):
    K, y, K_test = diabetes()
    Y = _columns(y)
    weight = np.random.default_rng(1).uniform(0.0, 2.0, len(y)) if weighted else None
    make = SupportVectorRegressor(C=10.0, epsilon=1.0, tol=1e-6)
    machine = make.fit(K, Y, weight)
    full, predicted = machine.full_dual_coef(), machine.predict(K_test)
    assert predicted.shape == (len(K_test), 3)
    np.testing.assert_array_equal(machine.support_, np.flatnonzero(full.any(axis=1)))
    assert not full[:, 2].any()
    names = ["intercept_", "n_iter_", "kkt_violation_", "duality_gap_", "objective_"]
    fitted = {name: getattr(machine, name) for name in names}
    for c in range(3):
        single = SupportVectorRegressor(C=10.0, epsilon=1.0, tol=1e-6).fit(K, Y[:, c], weight)
        np.testing.assert_array_equal(full[:, [c]], single.full_dual_coef())
        np.testing.assert_allclose(predicted[:, c], single.predict(K_test), rtol=1e-12)
        for name, values in fitted.items():
            assert values.shape == (3,)
            assert values[c] == getattr(single, name)[0]
    one = SupportVectorRegressor(C=10.0, epsilon=1.0, tol=1e-6).fit(K, Y[:, :1], weight)
    assert one.predict(K_test).shape == (len(K_test), 1)
    np.testing.assert_array_equal(one.full_dual_coef(), full[:, :1])


def test_several_targets_start_from_coefficients_of_each():
    K, y, _ = diabetes()
    Y = _columns(y)
    first = SupportVectorRegressor(C=10.0, epsilon=1.0, tol=1e-6).fit(K, Y)
    again = SupportVectorRegressor(C=10.0, epsilon=1.0, tol=1e-5)
    again.fit(K, Y, alpha0=first.full_dual_coef())
    assert (again.n_iter_ == 0).all()
    with pytest.raises(ValueError, match=rf"alpha0 must be .* shape \({len(y)}, 3\)"):
        again.fit(K, Y, alpha0=first.full_dual_coef()[:, :1])


def test_the_path_over_C_takes_several_targets():
    K, y, K_test = diabetes()
    Y, values = _columns(y), [10.0, 0.1, 1.0]

    def make(C):
        return SupportVectorRegressor(C, 1.0, tol=1e-6)

    for C, found in zip(values, svm_path(make, K, Y, K_test, values)):
        for c in range(3):
            expected = make(C).fit(K, Y[:, c]).predict(K_test)
            np.testing.assert_allclose(found[:, c], expected, atol=1e-3)
