"""Units and origin of y: every rule and model is equivariant."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import not_refused

import alignlearn as al
from alignlearn.estimators import ways

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * RNG.standard_normal(40)
KERNELS = [al.Gaussian(0.3), al.Gaussian(2.0), "linear"]
RULES = ["uniform", "align", "alignf", "alignf-linear", "align-lq", "lkrr", "l1-svm", "aligned-krr"]


def fitted(rule, scale, shift, machine):
    # C, epsilon and tol of the machines for errors have the units of y, or their inverse.
    units = {"C": 3.0 * scale, "epsilon": 0.05 * scale, "tol": 1e-5 * scale}
    # Weights of mixed signs make an indefinite kernel, which needs a larger ridge.
    alpha = 10.0 if rule == "alignf-linear" else 0.1
    model = al.MKLRegressor(KERNELS, weighting=rule, machine=machine, alpha=alpha, **units)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", al.DegenerateKernelWarning)
        return model.fit(X, scale * Y + shift * scale)


@pytest.mark.parametrize(("rule", "machine"), [*zip(RULES, ["krr"] * 8), ("alignf", "svr")])
@given(st.floats(-8.0, 8.0), st.floats(-3.0, 3.0))
@settings(max_examples=6)
def test_predictions_move_with_the_units_and_the_origin(machine, rule, exponent, shift):
    scale = 10.0**exponent
    plain, moved = fitted(rule, 1.0, 0.0, machine), fitted(rule, scale, shift, machine)
    # Rules with a gap stop at a share of it; closed forms only have rounding errors.
    tolerance = 2e-2 if rule == "l1-svm" or machine == "svr" else 1e-5
    found = (moved.predict(X) - shift * scale) / scale
    np.testing.assert_allclose(found, plain.predict(X), atol=tolerance)


def test_no_support_vector_is_a_constant():
    model = al.MKLRegressor(KERNELS, machine="svr", epsilon=10.0).fit(X, Y)
    assert model.support_.size == model.dual_coef_.size == 0
    np.testing.assert_array_equal(model.predict(X), np.full(40, model.intercept_))
    assert abs(model.intercept_ - Y.mean()) < 10.0


def test_alignf_linear_in_single_precision():
    model = al.MKLRegressor(al.gaussian_kernels(2.0 ** np.arange(-12.0, 4.0)))
    model.set_params(weighting="alignf-linear")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", al.DegenerateKernelWarning)
        model.fit(X.astype(np.float32), Y)
    assert np.all(np.isfinite(model.weights_))
    assert abs(model.alignment_) <= 1.0


def test_integers_read_as_classes_are_said_to_be():
    amounts = np.arange(40) * 3
    for read in (
        lambda: al.alignment(al.Gaussian(1.0)(X), amounts),
        lambda: al.alignment_statistics(X, amounts, KERNELS),
        lambda: al.KernelCombiner(KERNELS).fit(X, amounts),
    ):
        with pytest.warns(UserWarning, match=r"40 different integers.*task=\"regression\""):
            read()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        al.KernelCombiner(KERNELS, task="regression").fit(X, amounts)
        al.alignment_statistics(X, amounts.astype(float), KERNELS)
        al.alignment_statistics(X, amounts % 3, KERNELS)


def test_lists_of_sequences_are_samples_of_object_kernels():
    def shared(a, b):
        return float(len(set(a) & set(b)))

    words = [["red", "wine"], ["white"], ["red"], ["wine", "white", "dry"], ["dry"], ["red", "dry"]]
    kernel = al.FromFunction(shared)
    model = al.MKLClassifier([kernel]).fit(words, [1, 0, 1, 0, 0, 1])
    assert model.predict([["red"], ["white", "wine"]]).shape == (2,)
    strings = ["ab", "abb", "abbb", "ba", "baa", "baaa", "abab", "baba"]
    kernel = al.FromFunction(lambda s, t: float(len(set(s[:1]) & set(t[:1])) + (s == t)))
    tuned = al.MKLClassifierCV([kernel], Cs=[1.0], cv=2).fit(strings, [s[0] for s in strings])
    assert tuned.score(strings, [s[0] for s in strings]) == 1.0


def test_what_vanishes_in_squares_is_not_called_constant():
    words = r"y varies by at most .* underflow; accepted: at least"
    models = [al.MKLRegressor(KERNELS), al.MKLRegressorCV(KERNELS), al.FeatureScales()]
    units = 2.0**-1030, 2.0**-700, 2.0**-300
    cases = [(f"{m} {u}", partial(m.fit, X, u * Y), words) for m in models for u in units]
    words = r"gamma='scale' is 1 / .* cannot represent, .* Scale X"
    for model in (al.MKLRegressor(), al.MKLRegressorCV(), al.MKLClassifierCV(), al.FeatureScales()):
        y = Y > 0 if isinstance(model, al.MKLClassifierCV) else Y
        for small in (1e-300 * X, (1e-30 * X).astype(np.float32)):
            cases.append((f"{model} {small.dtype}", partial(model.fit, small, y), words))
    continuous = partial(al.machines.SupportVectorClassifier().fit, al.Gaussian(1.0)(X), Y)
    cases.append(("continuous labels", continuous, "y holds continuous values"))
    one = partial(al.MKLClassifier(KERNELS).fit, X, np.full(40, -1, dtype=np.int8))
    assert not_refused([*cases, ("as in Python", one, r"y has 1 class, -1;")]) == []
    with pytest.warns(al.DoubtfulResultWarning, match="Every derivative .* is 0"):
        scales = al.FeatureScales(al.Gaussian(1.0), alpha=1.0).fit(2.0**-1030 * X, Y).scales_
    np.testing.assert_array_equal(scales, 1.0)


def test_many_targets_of_few_samples_may_have_fewer_columns(monkeypatch):
    """The search learns from as many columns as samples, in place of all targets."""
    rng = np.random.default_rng(5)
    X, Z = rng.normal(size=(40, 3)), rng.normal(size=(9, 3))
    Y = np.sin(X @ rng.normal(size=(3, 100))) + 0.1 * rng.normal(size=(40, 100))
    fewer = al.MKLRegressorCV(cv=3).fit(X, Y)
    monkeypatch.setattr(ways, "fewer_columns", lambda columns: columns)
    all_columns = al.MKLRegressorCV(cv=3).fit(X, Y)
    assert fewer.best_score_ == pytest.approx(all_columns.best_score_, rel=1e-6)
    np.testing.assert_allclose(fewer.predict(Z), all_columns.predict(Z), rtol=1e-5, atol=1e-5)
