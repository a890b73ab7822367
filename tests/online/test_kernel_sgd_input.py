"""Kernel SGD: errors name bad input, and leave the model unchanged."""

import copy
from functools import partial

import numpy as np
import pytest
from cases import each
from refusals import raises

import alignlearn as al
from alignlearn.online import KernelSGDClassifier, KernelSGDRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = X[:, 0] > 0.0


@each(
    ("changes", "message"),
    [
        ({"alpha": 0.5, "eta0": 2.0}, "eta0=2 and alpha=0.5.*accepted: eta0 < 2, or None"),
        ({"alpha": 1e3, "eta0": 1.0}, "1 - eta0 \\* alpha = -999"),
        ({"kernel": "sigmoid"}, "sigmoid.* is indefinite"),
    ],
)
def test_bad_parameters(changes, message):
    raises(ValueError, message, KernelSGDClassifier(**changes).fit, X, Y)


def test_classes_of_a_stream():
    for classes in (None, [True]):
        with pytest.raises(ValueError, match="classes must list at least two labels"):
            KernelSGDClassifier().partial_fit(X, Y, classes=classes)
    machine = KernelSGDClassifier().partial_fit(X[:5], np.ones(5), classes=[0, 1])
    coef = machine.dual_coef_.copy()
    raises(ValueError, "labels that are not among the classes: 2", machine.partial_fit, X[:1], [2])
    with pytest.raises(ValueError, match="differ from those of the first call, \\[0, 1\\]"):
        machine.partial_fit(X[:1], [1], classes=[0, 1, 2])
    np.testing.assert_array_equal(machine.dual_coef_, coef)
    assert machine.n_steps_ == 5


def test_a_failed_fit_is_no_fit_and_a_failed_step_changes_nothing():
    machine = KernelSGDRegressor().fit(X, X[:, 0])
    before = machine.predict(X)
    raises(ValueError, "NaN or infinity", machine.partial_fit, X, np.full(40, np.nan))
    with pytest.raises(ValueError, match="X has 1 features, but KernelSGDRegressor is expecting 2"):
        machine.partial_fit(X[:, :1], X[:, 0])
    raises(ValueError, "y has shape \\(40, 2\\), but in the first call", machine.partial_fit, X, X)
    np.testing.assert_array_equal(machine.predict(X), before)


def test_steps_that_overflow_are_an_error():
    machine = KernelSGDRegressor("linear", eta0=10.0, n_passes=20, alpha=1e-6)
    raises(ValueError, "eta0=10 is too large", machine.fit, 10.0 * X, X[:, 0])
    assert not hasattr(machine, "dual_coef_")


def test_samples_are_not_kept():
    samples = X.copy()
    machine = KernelSGDClassifier().fit(samples, Y)
    before = machine.decision_function(X)
    samples[:] = 0.0
    np.testing.assert_array_equal(machine.decision_function(X), before)


def test_orders_follow_the_seed():
    default, zero, one = (
        KernelSGDClassifier(**seed).fit(X, Y).dual_coef_
        for seed in ({}, {"random_state": 0}, {"random_state": 1})
    )
    np.testing.assert_array_equal(default, zero)
    assert not np.array_equal(default, one)


@each("by_parts", [False, True])
@each("eta0", [1.0, 100.0])
@each("kind", [KernelSGDClassifier, KernelSGDRegressor])
def test_steps_that_diverge_are_named(kind, eta0, by_parts):
    """Steps with the squared loss and eta0 k(x, x) > 2 grow; half of that does not."""
    X = 3.0 * np.random.default_rng(2).normal(size=(60, 4))
    y = X[:, 0] if kind is KernelSGDRegressor else X[:, 0] > 0.0
    model = kind("linear", eta0=eta0, loss="squared", n_passes=2)
    fit = model.partial_fit if by_parts else model.fit
    if by_parts and kind is KernelSGDClassifier:
        fit = partial(model.partial_fit, classes=[False, True])
    with pytest.warns(al.ConvergenceWarning, match=f"steps diverge.*eta0={eta0:g} is too large"):
        fit(X, y)
    largest = np.square(X).sum(axis=1).max()
    kind("linear", eta0=1.0 / (largest + 1.0), loss="squared").fit(X, y)  # a warning is an error


def test_noise_and_outliers_are_no_divergence():
    """One sample per call: with a target that is noise, and larger than those before."""
    model, rng = KernelSGDRegressor(), np.random.default_rng(1)
    for x, y in zip(rng.normal(size=(60, 2)), rng.standard_cauchy(60)):
        model.partial_fit(x[None], [y])
    KernelSGDClassifier(loss="squared").fit(X, rng.permutation(Y))


@each("budget", [None, 5])
@each("kind", [KernelSGDClassifier, KernelSGDRegressor])
def test_a_copy_goes_its_own_way(kind, budget):
    """Training a copy leaves the original unchanged to the last bit, and vice versa."""
    y = Y if kind is KernelSGDClassifier else X[:, 0]
    original = kind(budget=budget).fit(X[:30], y[:30])
    before, curve = original.predict(X), list(original.loss_curve_)
    coef = original.dual_coef_.copy()
    other = copy.copy(original)
    other.partial_fit(X[30:], y[30:])
    assert (original.n_steps_, other.n_steps_) == (150, 160)
    np.testing.assert_array_equal(original.predict(X), before)
    np.testing.assert_array_equal(original.dual_coef_, coef)
    assert original.loss_curve_ == curve
    alone = kind(budget=budget).fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    original.partial_fit(X[30:], y[30:])
    for model in (original, other):
        np.testing.assert_array_equal(model.dual_coef_, alone.dual_coef_)
