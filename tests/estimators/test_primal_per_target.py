"""Banded ridge regression in the primal: equal to the dual on the same kernels, per target."""

import numpy as np
import pytest

import alignlearn as al

RNG = np.random.default_rng(5)
m, n, q = 140, 20, 6
SPACES = {"a": RNG.normal(size=(m + n, 5)), "b": RNG.normal(size=(m + n, 10)) * 3.0}
SPACES["c"] = RNG.normal(size=(m + n, 20)) * [0.1] * 20 + SPACES["a"][:, :1]
Y = sum(Z @ RNG.normal(size=(Z.shape[1], q)) * RNG.random(q) / Z.std() for Z in SPACES.values())
Y = (Y + 3.0 * RNG.normal(size=Y.shape)) * np.logspace(-3, 3, q)
NEW = {name: Z[m:] for name, Z in SPACES.items()}
X = {name: Z[:m] for name, Z in SPACES.items()}
Y = Y[:m]
KERNELS = dict.fromkeys(SPACES, "linear")
WEIGHT = RNG.integers(1, 4, m).astype(float)


@pytest.mark.parametrize(
    ("options", "weight"),
    [
        ({}, WEIGHT),
        ({"cv": np.arange(m) % 7}, WEIGHT),
        ({"scoring": "correlation"}, None),
        ({"weighting": "uniform"}, None),
        ({"normalize": None}, WEIGHT),
    ],
)
def test_primal_is_the_dual(options, weight):
    options = {"per_target": True, "alphas": np.logspace(-2, 3, 6), "random_state": 0, **options}
    primal = al.MKLRegressorCV(KERNELS, **options).fit(X, Y, weight)
    grams = [Z @ Z.T for Z in X.values()]
    dual = al.MKLRegressorCV("precomputed", **options).fit(grams, Y, weight)
    assert primal.coef_.shape == (35, q)  # it stores coefficients of features, not of samples
    assert not hasattr(primal, "dual_coef_")
    assert dual.dual_coef_.shape == (m, q)
    assert primal.weights_ == pytest.approx(dual.weights_, abs=1e-6)
    assert np.array_equal(primal.alpha_, dual.alpha_)
    assert primal.best_score_ == pytest.approx(dual.best_score_, abs=1e-6)
    found, expected = primal.predict(NEW), dual.predict([NEW[k] @ X[k].T for k in X])
    scale = Y.std(axis=0)
    assert np.abs(found - expected).max(axis=0) / scale == pytest.approx(0.0, abs=1e-6)
    # The check can fail: different targets use different penalties.
    assert len(np.unique(primal.alpha_)) > 1
    other = al.MKLRegressor(KERNELS, alpha=1.0).fit(X, Y, weight).predict(NEW)
    assert np.abs(found - other).max() / scale.max() > 1e-3
