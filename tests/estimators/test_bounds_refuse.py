"""Every bound and interval of estimators raises an error that names the violated hypothesis."""

from functools import cache, partial

import numpy as np
import pytest
from refusals import not_refused

import alignlearn as al
from alignlearn.bounds.checks import HypothesisNotMet
from alignlearn.estimators import alignment_intervals

_RNG = np.random.default_rng(0)
X, NEW = _RNG.standard_normal((40, 2)), _RNG.standard_normal((40, 2))
Y, Y_NEW = (np.where(Z[:, 0] > 0, 1, -1) for Z in (X, NEW))
R, R_NEW = (np.tanh(Z[:, 0]) for Z in (X, NEW))
RANGE = {"label_range": (-1.0, 1.0)}


@cache
def classifier(kernel):
    return al.MKLClassifier([kernel]).fit(X, Y)


@cache
def regressor(kernel):
    return al.MKLRegressor([kernel], alpha=4.0).fit(X, R)


# Name -> (call with a kernel and the tested value, its parameters).
CALLS = {
    "interval": (lambda k, **g: al.alignment_interval(X, Y, k, **g), "delta radius2 method"),
    "interval of a real target": (
        lambda k, **g: al.alignment_interval(X, R, k, **RANGE | g),
        "delta radius2 label_range",
    ),
    "learned interval": (
        lambda k, **g: alignment_intervals.learned_interval(classifier(k), **g),
        "delta radius2",
    ),
    "learned interval by betting": (
        lambda k, **g: classifier(k).alignment_interval(X, Y, **g),
        "delta radius2 held_out",
    ),
    "held-out interval": (
        lambda k, **g: classifier(k).alignment_interval(NEW, Y_NEW, held_out=True, **g),
        "delta radius2",
    ),
    "error": (
        lambda k, **g: classifier(k).bound(X, Y, **{"draws": 10} | g),
        "delta radius2 held_out draws",
    ),
    "held-out error": (
        lambda k, **g: classifier(k).bound(NEW, Y_NEW, held_out=True, **g),
        "delta",
    ),
    "risk": (
        lambda k, **g: regressor(k).bound(X, R, **{"draws": 10} | RANGE | g),
        "delta radius2 label_range held_out draws fixed",
    ),
    "risk of a fixed kernel": (
        lambda k, **g: regressor(k).bound(**{"fixed": True} | RANGE | g),
        "delta radius2 label_range fixed",
    ),
    "held-out risk": (
        lambda k, **g: regressor(k).bound(NEW, R_NEW, held_out=True, **RANGE | g),
        "delta label_range",
    ),
}
BAD = {
    "delta": (0.0, 1.0, -0.1, 1.5, np.nan, np.inf, "a", None),
    "radius2": (0.0, -1.0, 0.5, np.nan, np.inf, "a"),
    "label_range": ((1.0, -1.0), (-0.1, 0.1), (0.0,), (0.0, np.inf), "a"),
    "held_out": (None, 1, "yes"),
    "draws": (0, -1, 1.5, "a", None),
    "fixed": (0, "yes"),
    "method": ("bernstein", None),
}
# A diagonal entry is compared with R^2 where the kernel is on the same samples.
WORDS = {"radius2": r"radius2|R\^2"}


@pytest.mark.parametrize("name", CALLS)
def test_what_is_out_of_range_is_refused_by_its_name(name):
    call, parameters = CALLS[name]
    cases = [
        (
            f"{parameter}={value!r}",
            partial(call, al.Gaussian(0.5), **{parameter: value}),
            WORDS.get(parameter, parameter),
        )
        for parameter in parameters.split()
        for value in BAD[parameter]
    ]
    assert not_refused(cases) == []


@pytest.mark.parametrize("name", CALLS)
def test_a_kernel_whose_diagonal_has_no_known_bound(name):
    """The caller must give R^2; without it an interval is trivial, and a bound is rejected."""
    call, parameters = CALLS[name]
    if "radius2" not in parameters:
        assert np.isfinite(call(al.Linear()).value)
    elif "interval" in name:
        found = call(al.Linear())
        assert (found.low, found.high, found.vacuous) == (0.0, 1.0, True)
        assert any("give radius2" in text for text in found.not_met)
    else:
        with pytest.raises(HypothesisNotMet, match=r"K\(x, x\) has no bound .* give radius2"):
            call(al.Linear())
    if "radius2" in parameters:
        assert not any("give radius2" in text for text in call(al.Linear(), radius2=50.0).not_met)


@pytest.mark.parametrize("name", [n for n, (_, p) in CALLS.items() if "radius2" in p])
def test_an_indefinite_kernel_is_named(name):
    """Raised, or stated in the result of an estimator that was fitted with the value."""
    if name in ("learned interval", "learned interval by betting", "held-out interval"):
        found = CALLS[name][0](al.TL1(2.0))
        assert found.vacuous
        assert "positive semi-definite" in " ".join(found.not_met)
    else:
        with pytest.raises(ValueError, match="positive semi-definite"):
            CALLS[name][0](al.TL1(2.0))
