"""A bound with the numbers of a sample, beside its resamples."""

import numpy as np
import pytest
from alignlearn.theory.figures import observed
from refusals import raises

import alignlearn as al
from alignlearn import theory


def sample(m=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 2))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=m) > 0, "yes", "no")


def test_names_of_the_package():
    assert set(theory.claims()) == set(theory.CLAIMS)
    assert len(theory.curves()) >= 25
    assert theory.find_curve("p1-theorem-12-sharpened").claim == "p1-theorem-12"
    assert theory.draw_curve("p1-interval", [10, 1000]).axes
    assert callable(theory.verify)


def test_the_combination_is_that_of_alignf_and_the_setting_that_of_the_sample():
    X, y = sample()
    kernels = [al.Gaussian(0.1), al.Gaussian(2.0)]
    grams = [k(X) for k in kernels]
    K, T = observed.combined(grams, y)
    codes = (y == "yes").astype(int)
    model = al.AlignF().solve(al.alignment_statistics(X, codes, kernels))
    expected = sum(w * G for w, G in zip(model.weights, grams))
    np.testing.assert_allclose(K, expected / np.diagonal(expected).max(), rtol=1e-6)
    setting = observed.setting_of(theory.find_curve("p1-theorem-12"), K, T)
    assert setting["rho"] == pytest.approx(al.cka(K, T, unbiased=True), rel=1e-9)
    assert set(setting) == {"a", "a_prime", "rho"}


def test_resamples_are_within_the_bound_and_fall_with_their_size():
    X, y = sample(240)
    K, T = observed.combined(al.Gaussian(0.5)(X), y)
    for name in ("p1-theorem-12", "p1-u-statistic"):
        curve = theory.find_curve(name)
        sizes, seen = observed.resampled(K, T, name, 0.05)
        assert sizes.tolist() == [15, 30, 60, 120, 240]
        assert seen[-1] < 0.6 * seen[0]
        setting = observed.setting_of(curve, K, T)
        for values in curve.values(sizes.tolist(), 0.05, setting).values():
            assert (seen <= values).all()


def test_the_figure_shows_the_sample_and_its_size():
    X, y = sample()
    (ax,) = theory.curve_for([al.Gaussian(0.1)(X), al.Gaussian(1.0)(X)], y, "p1-interval").axes
    assert ax.get_legend_handles_labels()[1][-1] == "bootstrap of the sample"
    assert any(list(line.get_xdata()) == [80, 80] for line in ax.lines)
    assert theory.curve_for(al.Gaussian(0.1)(X), X[:, 0], "p1-prop-11").axes


def test_what_is_refused():
    X, y = sample(40)
    K = al.Gaussian(1.0)(X)
    for words, *given in (
        ("accepted: p1-theorem-12, p1-interval", K, y, "p1-theorem-17"),
        ("is not a claim", K, y, "p1-nothing"),
        ("two, or real targets", K, np.array(["a", "b", "c", "d"] * 10)),
        ("other sizes", [K[:30, :30]], y),
    ):
        raises(ValueError, words, theory.curve_for, *given)
