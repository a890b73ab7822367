"""Models on indefinite kernels against dense formulas and scikit-learn, and rejected input."""

import numpy as np
import pytest
from cases import each
from refusals import raises
from test_spectrum import absolute

from alignlearn.machines import (
    KernelRidge,
    KreinRidge,
    KreinSVC,
    SpectrumFix,
    SupportVectorClassifier,
    krein_spectrum,
)
from alignlearn.machines.paths import svm_path
from alignlearn.validation import ConvergenceWarning


def similarity(A, B):
    """A difference of Gaussian kernels: eigenvalues of both signs, none small."""
    squares = ((A[:, None] - B) ** 2).sum(axis=-1)
    return np.exp(-squares) - 0.8 * np.exp(-0.3 * squares)


def problem(m=60, n=25, seed=0, n_classes=2):
    """Training matrix, labels, and kernel of new samples."""
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((m, 2)), rng.standard_normal((n, 2))
    y = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(m), [-0.5, 0.5][: n_classes - 1])
    y[:n_classes] = np.arange(n_classes)
    return similarity(X, X), y, similarity(Z, X)


# The classifier


@pytest.mark.parametrize(("n_classes", "multiclass"), [(2, "ovo"), (3, "ovo"), (3, "ovr")])
def test_it_is_the_machine_on_the_majorant(n_classes, multiclass):
    K, y, K_test = problem(seed=1, n_classes=n_classes)
    options = {"C": 3.0, "multiclass": multiclass, "class_weight": "balanced"}
    ours = KreinSVC(**options).fit(K, y)
    plain = SupportVectorClassifier(**options).fit(krein_spectrum(K).majorant, y)
    for name in ("intercept_", "n_iter_", "kkt_violation_", "duality_gap_", "objective_"):
        assert np.array_equal(getattr(ours, name), getattr(plain, name)), name
    w, U = np.linalg.eigh(K)
    mapped = (U * np.sign(w)) @ (U.T @ plain.full_dual_coef())
    np.testing.assert_allclose(ours.full_dual_coef(), mapped, atol=1e-8)
    assert ours.n_negative_ == np.count_nonzero(w < 0.0) > 0
    np.testing.assert_allclose(ours.eigenvalue_range_, [w[0], w[-1]], atol=1e-12)
    assert ours.decision_error_.max() < 1e-11
    assert ours.support_.size == 60
    scores = ours.decision_function(K_test)
    expected = (scores > 0) if n_classes == 2 else scores.argmax(axis=1)
    np.testing.assert_array_equal(ours.predict(K_test), expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_semi_definite_kernels_give_the_plain_machines(dtype):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((50, 3))
    K, y = (X @ X.T).astype(dtype), (X[:, 0] > 0.2).astype(int)
    ours, plain = KreinSVC().fit(K, y), SupportVectorClassifier().fit(K, y)
    assert np.array_equal(ours.dual_coef_, plain.dual_coef_)
    assert np.array_equal(ours.support_, plain.support_)
    assert ours.n_negative_ == 0
    assert ours.decision_error_.max() == 0.0
    ridge, plain = KreinRidge(alpha=0.3).fit(K, y), KernelRidge(alpha=0.3).fit(K, y)
    assert np.array_equal(ridge.dual_coef_, plain.dual_coef_)
    assert ridge.intercept_ == plain.intercept_
    for method in ("clip", "flip", "shift"):
        fix = SpectrumFix(method)
        assert np.array_equal(fix.fit_transform(K), K)
        assert np.array_equal(fix.transform(K[:4]), K[:4])


def test_single_precision_changes_decisions_by_its_rounding():
    K, y, K_test = problem(seed=4)
    exact = KreinSVC(tol=1e-6).fit(K, y).decision_function(K_test)
    single = KreinSVC(tol=1e-6).fit(K.astype(np.float32), y)
    # The original kernel is smooth: values below the rounding of float32 are dropped.
    np.testing.assert_allclose(single.decision_function(K_test), exact, atol=5e-3)
    assert single.decision_error_.max() < 1e-5


def test_hard_margin_separates_in_the_space_of_the_majorant():
    K, y, K_test = problem(m=30, seed=5)
    machine = KreinSVC(C=np.inf, tol=1e-6)
    machine.fit(K, y, np.r_[np.full(29, 3.0), 0.0])
    margins = (2 * y - 1) * machine.decision_function(K)
    assert margins[:-1].min() > 1.0 - 1e-5
    found = machine.decision_function(K_test)
    rest = machine.fit(K[:29, :29], y[:29]).decision_function(K_test[:, :29])
    np.testing.assert_allclose(found, rest, atol=1e-3)
    K = np.kron(np.diag([1.0, -1.0]), np.ones((2, 2)))
    raises(ValueError, "not separable", machine.fit, K, LABELS)


@pytest.mark.parametrize("machine", [KreinSVC(C=0.7, tol=1e-9), KreinRidge(alpha=0.2)])
def test_integer_weights_are_repeated_samples(machine):
    K, y, K_test = problem(m=40, seed=6, n_classes=3)
    y = y if isinstance(machine, KreinSVC) else y + np.sin(np.arange(40))
    weight = np.random.default_rng(6).integers(0, 4, 40)
    i = np.repeat(np.arange(40), weight)
    values = getattr(machine, "decision_function", machine.predict)
    machine.fit(K, y, weight)
    weighted = values(K_test)
    # Kernel values of left-out samples are not read.
    np.testing.assert_array_equal(values(np.where(weight > 0, K_test, 1e300)), weighted)
    machine.fit(K[np.ix_(i, i)], y[i])
    np.testing.assert_allclose(values(K_test[:, i]), weighted, atol=1e-6)
    machine.fit(K, y)
    assert np.abs(values(K_test) - weighted).max() > 0.05


def test_one_decomposition_serves_a_path():
    K, y, K_test = problem(seed=7)
    values = [4.0, 0.1, 1.0]
    spectrum = krein_spectrum(K)
    path = svm_path(lambda C: KreinSVC(C, tol=1e-7), spectrum, y, K_test, values)
    for C, labels in zip(values, path):
        assert np.array_equal(labels, KreinSVC(C, tol=1e-7).fit(K, y).predict(K_test))
    cold = KreinSVC(4.0).fit(spectrum, y)
    warm = KreinSVC(4.0).fit(spectrum, y, alpha0=cold.full_dual_coef()[:, 0])
    assert warm.n_iter_[0] < 0.5 * cold.n_iter_[0]
    for alpha in (0.1, 1.0):
        shared, own = KreinRidge(alpha).fit(spectrum, y), KreinRidge(alpha).fit(K, y)
        np.testing.assert_allclose(shared.dual_coef_, own.dual_coef_, atol=1e-12)


# Ridge regression


@each("intercept", [True, False])
@each("columns", [None, 2])
def test_ridge_solves_its_normal_equations(intercept, columns):
    """Oracle: the dense problem in (beta, b), whose optimum is unique up to the null space of K."""
    K, _, _ = problem(m=40, seed=9)
    rng = np.random.default_rng(9)
    y = rng.standard_normal(40 if columns is None else (40, columns)) + 2.0
    design = np.c_[K, np.ones(40)] if intercept else K
    penalty = np.zeros((design.shape[1],) * 2)
    penalty[:40, :40] = 0.3 * absolute(K)
    solution = np.linalg.pinv(design.T @ design + penalty, rcond=1e-14) @ design.T @ y
    ours = KreinRidge(alpha=0.3, fit_intercept=intercept).fit(K, y)
    np.testing.assert_allclose(ours.predict(K), design @ solution, atol=1e-7)
    if intercept:
        np.testing.assert_allclose(ours.intercept_, solution[-1], atol=1e-7)


def test_ridge_without_regularization_interpolates_or_says_that_it_cannot():
    K, _, _ = problem(m=12, seed=11)
    y, ridge = np.arange(12.0), KreinRidge(alpha=0.0)
    np.testing.assert_allclose(ridge.fit(K, y).predict(K), y, atol=1e-6)
    singular = np.kron(np.diag([1.0, -1.0]), np.ones((2, 2)))
    message = r"\|K\| \+ alpha I is singular .* at alpha=0; raise"
    raises(ValueError, message, ridge.fit, singular, np.arange(4.0))


# Bad input

EYE, LABELS = np.diag([1.0, 1.0, -1.0, -1.0]), np.array([0, 1, 0, 1])


@pytest.mark.parametrize("value", [0.0, -2.0, 3.0])
def test_one_sample(value):
    K = np.array([[value]])
    assert krein_spectrum(K).majorant == pytest.approx(abs(value))
    ridge = KreinRidge(alpha=1.0, fit_intercept=False).fit(K, [6.0])
    assert ridge.predict(K)[0] == pytest.approx(6.0 * abs(value) / (abs(value) + 1.0))
    assert KreinRidge(alpha=1.0).fit(K, [6.0]).predict(K)[0] == pytest.approx(6.0)
    fixed = {"clip": max(value, 0.0), "flip": abs(value), "shift": max(value, 0.0)}
    for method, expected in fixed.items():
        assert SpectrumFix(method).fit_transform(K)[0, 0] == expected


def test_zero_matrix_is_a_constant_machine():
    K = np.zeros((4, 4))
    assert np.ptp(KreinSVC().fit(K, LABELS).decision_function(np.zeros((3, 4)))) == 0.0
    ridge = KreinRidge().fit(K, [1.0, 2.0, 3.0, 6.0])
    np.testing.assert_allclose(ridge.predict(np.zeros((2, 4))), 3.0)
    for method in ("clip", "flip", "shift"):
        assert not SpectrumFix(method).fit_transform(K).any()


def test_what_is_stopped_short_is_warned_of():
    K, y, _ = problem(seed=15)
    with pytest.warns(ConvergenceWarning, match="KKT violation"):
        KreinSVC(C=100.0, max_iter=3).fit(K, y)
    # From the largest feasible coefficients and a kernel of large numbers, whose sums are rounded.
    with (
        pytest.warns(ConvergenceWarning, match="KKT violation"),
        pytest.warns(ConvergenceWarning, match="the coefficients in K reproduce"),
    ):
        KreinSVC(C=1.0, max_iter=2).fit(1e15 * K, y, alpha0=2.0 * y - 1.0)


@each("machine", [KreinSVC(), KreinRidge()])
def test_spectra_that_do_not_fit_are_named(machine):
    """Matrices, targets and weights: test_machines_input.py."""
    spectrum = krein_spectrum(EYE)
    for given, y, weight, message in (
        (spectrum, LABELS[:3], None, "spectrum of 4 samples but y has 3"),
        (spectrum, LABELS, np.ones(4), "sample_weight is part of a KreinSpectrum"),
        (krein_spectrum(EYE, vectors=False), LABELS, None, "without vectors"),
        (np.full((4, 4), -1.5e308), LABELS, None, "eigenvalues overflow; scale K"),
    ):
        raises(ValueError, message, machine.fit, given, y, weight)
