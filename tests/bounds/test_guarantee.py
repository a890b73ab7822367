"""The fields that all guarantees of a fit have, and their printed form."""

from cases import each

from alignlearn.bounds import guarantee

COMMON = {"delta": 0.05, "vacuous": False, "hypotheses": ("one", "two"), "method": "betting"}
BOUND = {"value": 0.25, "empirical_risk": 0.125}
FOUND = [
    guarantee.AlignmentInterval(low=0.25, high=0.5, **COMMON),
    guarantee.RiskBound(value_if_fixed=0.2, **BOUND, **COMMON),
    guarantee.ErrorBound(
        by_margin=0.3, by_random_predictors=0.25, size=2.0, complexity=0.1, **BOUND, **COMMON
    ),
    guarantee.HeldOutBound(by_bernstein=0.3, n_samples=20, loss="a loss", **BOUND, **COMMON),
]


@each("found", FOUND)
def test_every_one_says_how_sure_it_is_what_it_rests_on_and_what_is_not_met(found):
    assert isinstance(found, guarantee.Guarantee)
    first, *rest = repr(found).splitlines()
    assert "with probability 0.95" in first
    assert "0.25" in first
    assert rest == ["assumes: one; two"]
    vacuous = type(found)(**{**vars(found), "vacuous": True, "not_met": ("two",)})
    lines = ["vacuous: this holds without the sample", *rest, "NOT met: two"]
    assert str(vacuous).splitlines()[1:] == lines
