"""The curves of the bounds: where they are informative, what they draw, and rejected input."""

import numpy as np
import pytest
from alignlearn.theory import CLAIMS, check
from alignlearn.theory.bounds import neighborhood
from alignlearn.theory.figures.curves import CURVES, find_curve
from alignlearn.theory.figures.drawing import draw_curve
from refusals import raises

from alignlearn.bounds import rademacher


def test_theorem_12_becomes_useful_where_the_ledger_says():
    curve = find_curve("p1-theorem-12-refined")
    assert curve is CURVES["p1-theorem-12"]
    starts = curve.smallest(0.05, level=1.0)
    expected = {"printed": 1.2e7, "form (ii)": 2.66e4, "form (iii)": 3.1e3, "interval": 5.8e2}
    assert starts == pytest.approx(expected, rel=0.03)


def test_an_interval_is_informative_where_its_length_is_one_half():
    """An interval of length 0.99 is not vacuous, but not informative."""
    for name in ("p1-theorem-12", "p1-interval"):
        curve = CURVES[name]
        assert (curve.level(), curve.start()) == (1.0, 0.5)
        start = curve.smallest(0.05)["interval"]
        before, at = curve.values([start - 1, start], 0.05)["interval"]
        assert at < 0.5 <= before
    texts = [t.get_text() for t in draw_curve(curve, [10, 10**4]).axes[0].texts]
    assert "dots: from here on below 0.5" in texts


def test_theorem_17_becomes_useful_where_the_ledger_says():
    curve = CURVES["p1-theorem-17"]
    kept = "printed, M1^2/4 for M1 M2/4"
    for lam0, printed, corrected in ((1.0, 2000, 650), (0.1, 7.1e5, 4.5e5)):
        starts = curve.smallest(0.05, {"lam0": lam0})
        assert starts[kept] == pytest.approx(printed, rel=0.05)
        assert starts["corrected"] == pytest.approx(corrected, rel=0.05)


@pytest.mark.parametrize("name", CURVES)
def test_curves_fall_and_stop_being_vacuous_where_they_say(name):
    curve = CURVES[name]
    assert CLAIMS[name].name == name
    m = [max(curve.least, 10), 1000, 10**5, 10**7]
    level, starts = curve.start(), curve.smallest(0.1)
    for form, bound in curve.values(m, 0.1).items():
        assert np.isfinite(bound).all()
        assert (np.diff(bound) <= 1e-12).all()
        start = starts[form]
        if start is None:
            assert (bound >= level).all()
        else:
            assert curve.values([start], 0.1)[form][0] < level
            if start > curve.least:
                assert curve.values([start - 1], 0.1)[form][0] >= level


def test_printed_curves_agree_with_the_claims():
    """The same bound from a case of the claim and from the curve."""
    case = CLAIMS["p1-theorem-16"].counterexample()
    verdict = check(CLAIMS["p1-theorem-16"], case)
    changes = {"label_bound": 1.0, "kappa": 1.0, "lam0": case["lam0"], "weight_rate": 0.0}
    plain = CURVES["p1-theorem-16"].values([3], 0.05, changes)["printed"][0]
    # The claim adds the term of the changed weights.
    assert plain < verdict.bound < 2 * plain


def test_the_multitask_curve_is_the_bound_of_matrices():
    """Kernels of three samples whose entries beside the diagonal are +-0.4, of cosine 1/3."""
    signs = np.array([[1, 1, 1], [1, 1, -1]])
    K = np.tile(np.eye(3), (2, 1, 1))
    for (i, j), s in zip(((0, 1), (0, 2), (1, 2)), signs.T):
        K[:, i, j] = K[:, j, i] = 0.4 * s
    target, tasks = K.mean(axis=0), 4
    changes = {"tasks": tasks, "radius": 2.5, "kernels": 2, "square": 0.16, "cosine": 1 / 3}
    rho = 0.3 * tasks * float((target**2).sum())
    expected = neighborhood.neighborhood_bounds(tasks * [K], tasks * [target], 2.5, rho)
    curve = find_curve("p3-theorem-1")
    found = curve.values([3], 0.05, changes | {"room": 0.3})
    shown = {"printed": "printed", "corrected": "arithmetic", "sharpened": "variance"}
    for form, name in shown.items():
        assert found[form][0] == pytest.approx(getattr(expected, name), rel=1e-12)
    level = curve.level(changes | {"room": 0.3})
    exact = neighborhood.neighborhood_complexity(tasks * [K], tasks * [target], 2.5, rho, 200, 0)
    assert exact.value < found["sharpened"][0] < level


def test_the_curves_of_complexities_are_their_bounds():
    m, shares = 500, np.arange(1.0, 4001.0) ** -3.0
    found = find_curve("p1-local-complexity").values([m], 0.05, {"decay": 3.0})
    assert found["whole unit ball"][0] == pytest.approx(m**-0.5)
    expected = rademacher.local_radius(m * shares / shares.sum(), m)
    assert found["fixed point of the local one"][0] == pytest.approx(expected, rel=1e-6)
    curve = find_curve("p4-pair-complexity")
    found = curve.values([10, 11], 0.05, {"second_moment": 4.0, "radius": 3.0})
    assert found["from disjoint pairs"] == pytest.approx([6 / 5**0.5] * 2)


def test_bad_input_of_curves():
    for words, name, *given in (
        ("lam0", "p1-theorem-17", [10], 0.05, {"ridge": 1.0}),
        ("delta", "p1-theorem-17", [10], 1.0),
        ("m >= 4", "p1-u-statistic", [3]),
        ("lam0 must be positive", "p1-theorem-16", [10], 0.05, {"lam0": -1.0}),
    ):
        raises(ValueError, words, CURVES[name].values, *given)
    raises(
        ValueError, r"p1-lemma-1 has no bound for each m.*p1-theorem-12", find_curve, "p1-lemma-1"
    )
    raises(ValueError, r"is not a claim.*p1-theorem-12", find_curve, "lemma")


def test_a_curve_is_drawn_with_its_level_and_its_forms():
    figure = draw_curve(CURVES["p1-prop-11"], [10, 100, 1000, 10000])
    (ax,) = figure.axes
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["as printed (true)", "sharpened", "sharpened, for a target kernel"]
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert "1,099" in [text.get_text() for text in ax.texts]
