"""Input that the models reject, the words of the errors, and arrays that stay unchanged."""

import warnings

import numpy as np
import pytest
from cases import each
from refusals import raises
from sklearn.metrics.pairwise import rbf_kernel

from alignlearn.machines import (
    KernelRidge,
    KreinRidge,
    KreinSVC,
    LeastSquaresClassifier,
    SupportVectorClassifier,
    SupportVectorRegressor,
    ridge_loo_path,
)

EYE = np.eye(4)
LABELS = np.array([0, 1, 0, 1])
SVM, REG, RIDGE = SupportVectorClassifier, SupportVectorRegressor, KernelRidge
RLS = LeastSquaresClassifier


@each(
    ("machine", "error", "message"),
    [
        (SVM(tol=0.0), ValueError, "tol=0.0 is out of range"),
        (SVM(class_weight=[1, 2]), TypeError, "class_weight must be None, 'balanced' or a dict"),
        (SVM(class_weight={1: -1.0}), ValueError, "class_weight=-1.0 is out of range"),
        (SVM(class_weight={1: 0.0}), ValueError, "class_weight must be > 0"),
        (REG(C=np.inf), ValueError, "C=inf is out of range"),
    ],
)
def test_bad_parameters_are_named(machine, error, message):
    raises(error, message, machine.fit, EYE, LABELS)


def test_bad_starts_and_weights_of_a_class_are_named():
    for machine in (SVM(), KreinSVC()):
        raises(ValueError, "zero for all samples of class", machine.fit, EYE, LABELS, [1, 0, 1, 0])
        for start in (np.zeros(3), np.ones((4, 2))):
            words = r"alpha0 must be a finite array of shape \(4, 1\)"
            raises(ValueError, words, machine.fit, EYE, LABELS, alpha0=start)
    for machine in (SVM(), REG(), RIDGE(), KreinSVC(), KreinRidge()):
        predict = machine.fit(EYE, LABELS).predict
        raises(ValueError, r"K_test must have shape \(n, 4\), one column per", predict, EYE[:, :3])
    raises(ValueError, "at least two", ridge_loo_path, EYE[:1, :1], LABELS[:1], [1.0])


@each("machine", [SVM(), SVM(C=np.inf), RLS(), REG(), RIDGE(), KreinSVC(C=np.inf), KreinRidge()])
def test_labels_that_do_not_fit_the_matrix_are_named_before_the_weights(machine):
    words = "K has 4 rows but y has 3 values; they must agree"
    raises(ValueError, words, machine.fit, EYE, LABELS[:3], np.ones(4))
    raises(ValueError, r"sample_weight must have shape \(4,\)", machine.fit, EYE, LABELS, [1, 1, 1])
    if machine.__class__ in (SVM, RLS):
        many = np.eye(3, 2, dtype=int)
        raises(ValueError, words, machine.fit, EYE, many, np.ones(4))


@each("machine", [SVM(C=5.0), SVM(C=np.inf), REG(C=5.0), RIDGE()])
@each("order", ["C", "F"])
def test_input_is_not_modified(machine, order):
    X = np.random.default_rng(10).standard_normal((40, 2))
    K, y = np.array(rbf_kernel(X, gamma=0.5), order=order), (X[:, 0] > 0).astype(int)
    K[0, 1] += 1e-12
    before, labels, weight = K.copy(), y.copy(), np.linspace(0.5, 1.0, 40)
    machine.fit(K, y, weight)
    np.testing.assert_array_equal(K, before)
    np.testing.assert_array_equal(y, labels)
    np.testing.assert_array_equal(weight, np.linspace(0.5, 1.0, 40))


def test_integer_grams_and_read_only_arrays_are_accepted():
    K = np.array([[4, 2, 0], [2, 4, 1], [0, 1, 4]])
    expected = SVM(tol=1e-9).fit(K.astype(float), [0, 1, 0]).dual_coef_
    K.setflags(write=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(SVM(tol=1e-9).fit(K, [0, 1, 0]).dual_coef_, expected)


@pytest.mark.parametrize(("of_K", "of_y"), [(1e200, 1.0), (1e-200, 1.0), (1.0, 1e-200)])
def test_leave_one_out_in_any_units(of_K, of_y):
    """Residuals are y times a function of alpha over K."""
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(12, 12)), rng.normal(size=12)
    K, alphas = A @ A.T, np.array([0.1, 10.0])
    expected = ridge_loo_path(K, y, alphas).predictions
    found = ridge_loo_path(of_K * K, of_y * y, of_K * alphas).predictions
    np.testing.assert_allclose(found / of_y, expected, rtol=1e-9)


def test_leave_one_out_at_the_largest_alpha():
    """The mean of the others; otherwise an error that states the accepted values."""
    y = np.array([1.0, 2.0, 6.0]) * 1e-150
    found = ridge_loo_path(np.eye(3), y, [1e250]).predictions[0]
    np.testing.assert_allclose(found, [4e-150, 3.5e-150, 1.5e-150])
    with pytest.raises(ValueError, match=r"alphas=1e\+308 is out of range; accepted: .*1e\+250"):
        ridge_loo_path(np.eye(3), y, [1e308])


@each("intercept", [True, False])
@each("machine", [KernelRidge, KreinRidge])
def test_ridge_gives_numbers_or_refuses(machine, intercept):
    """Coefficients of y / alpha that overflow, however small K and alpha are."""
    X, y, refused = np.random.default_rng(0).normal(size=(8, 2)), np.arange(8.0), []
    indefinite = np.tanh(X @ X.T - 0.5)
    for K in (np.zeros((8, 8)), 1e-308 * indefinite, 1e-308 * (X @ X.T), np.outer(y, -y)):
        for alpha in (0.0, 1e-320, 1e-308, 1e-300):
            for unit in (1.0, 1e300):
                fit = machine(alpha, fit_intercept=intercept)
                try:
                    fit.fit(K, unit * y)
                except ValueError as error:
                    refused.append(str(error))
                else:
                    assert np.isfinite(fit.predict(K)).all()
    assert 0 < len(refused) < 32
    assert all("raise alpha" in message for message in refused)


@each("unit", [2.0**-1000, 2.0**1000])
@each("machine", [KernelRidge, KreinRidge])
def test_ridge_has_the_same_bits_in_every_unit(machine, unit):
    X, y = np.random.default_rng(1).normal(size=(20, 2)), np.arange(20.0)
    K = X @ X.T if machine is KernelRidge else np.tanh(X @ X.T - 0.5)
    plain, scaled = machine(0.1).fit(K, y), machine(0.1 * unit).fit(unit * K, y)
    np.testing.assert_array_equal(scaled.dual_coef_ * unit, plain.dual_coef_)
