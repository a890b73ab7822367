"""Every bound and interval of estimators raises an error that names the violated hypothesis."""

from functools import cache, partial

import numpy as np
import pytest
from refusals import not_refused, raises

import alignlearn as al
from alignlearn.bounds.checks import HypothesisNotMet
from alignlearn.estimators.alignment_intervals import learned_interval

_RNG = np.random.default_rng(0)
X, Z = _RNG.standard_normal((40, 2)), _RNG.standard_normal((40, 2))
Y, R = np.where(X[:, 0] > 0, 1, -1), np.tanh(X[:, 0])
NEW, NEW_REAL = (Z, np.where(Z[:, 0] > 0, 1, -1)), (Z, np.tanh(Z[:, 0]))
RANGE, HELD_OUT = {"label_range": (-1.0, 1.0)}, {"held_out": True}


@cache
def classifier(kernel):
    return al.MKLClassifier([kernel]).fit(X, Y)


@cache
def regressor(kernel):
    return al.MKLRegressor([kernel], alpha=4.0).fit(X, R)


CALLS = {  # with a kernel and the tested value
    "interval": lambda k, **g: al.alignment_interval(X, Y, k, **g),
    "interval of a real target": lambda k, **g: al.alignment_interval(X, R, k, **RANGE | g),
    "learned interval": lambda k, **g: learned_interval(classifier(k), **g),
    "learned interval by betting": lambda k, **g: classifier(k).alignment_interval(X, Y, **g),
    "held-out interval": lambda k, **g: classifier(k).alignment_interval(*NEW, **HELD_OUT | g),
    "error": lambda k, **g: classifier(k).bound(X, Y, **{"draws": 10} | g),
    "held-out error": lambda k, **g: classifier(k).bound(*NEW, **HELD_OUT | g),
    "risk": lambda k, **g: regressor(k).bound(X, R, **{"draws": 10} | RANGE | g),
    "risk of a fixed kernel": lambda k, **g: regressor(k).bound(**{"fixed": True} | RANGE | g),
    "held-out risk": lambda k, **g: regressor(k).bound(*NEW_REAL, **HELD_OUT | RANGE | g),
}
PARAMETERS = {
    "interval": "delta radius2 method",
    "interval of a real target": "delta radius2 label_range",
    "learned interval": "delta radius2",
    "learned interval by betting": "delta radius2 held_out",
    "held-out interval": "delta radius2",
    "error": "delta radius2 held_out draws",
    "held-out error": "delta",
    "risk": "delta radius2 label_range held_out draws fixed",
    "risk of a fixed kernel": "delta radius2 label_range fixed",
    "held-out risk": "delta label_range",
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
    cases = []
    for parameter in PARAMETERS[name].split():
        for value in BAD[parameter]:
            call = partial(CALLS[name], al.Gaussian(0.5), **{parameter: value})
            cases.append((f"{parameter}={value!r}", call, WORDS.get(parameter, parameter)))
    assert not_refused(cases) == []


@pytest.mark.parametrize("name", CALLS)
def test_a_kernel_whose_diagonal_has_no_known_bound(name):
    """The caller must give R^2; without it an interval is trivial, and a bound is rejected."""
    call = CALLS[name]
    if "radius2" not in PARAMETERS[name]:
        assert np.isfinite(call(al.Linear()).value)
    elif "interval" in name:
        found = call(al.Linear())
        assert (found.low, found.high, found.vacuous) == (0.0, 1.0, True)
        assert any("give radius2" in text for text in found.not_met)
    else:
        raises(HypothesisNotMet, r"K\(x, x\) has no bound .* give radius2", call, al.Linear())
    if "radius2" in PARAMETERS[name]:
        assert not any("give radius2" in text for text in call(al.Linear(), radius2=50.0).not_met)


@pytest.mark.parametrize("name", [n for n, p in PARAMETERS.items() if "radius2" in p])
def test_an_indefinite_kernel_is_named(name):
    """Raised, or stated in the result of an estimator that was fitted with the value."""
    if name in ("learned interval", "learned interval by betting", "held-out interval"):
        found = CALLS[name](al.TL1(2.0))
        assert found.vacuous
        assert "positive semi-definite" in " ".join(found.not_met)
    else:
        raises(ValueError, "positive semi-definite", CALLS[name], al.TL1(2.0))
