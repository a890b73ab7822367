"""The numbers behind the figures on the theory, and every figure can be drawn and saved."""

from pathlib import Path

import numpy as np
import pytest
from alignlearn.theory import CLAIMS, check, figures
from alignlearn.theory.bounds import neighborhood
from alignlearn.theory.figures import algorithm, alignment, data, predictors, risk, stability, style
from alignlearn.theory.figures.curves import CURVES, find_curve, mixture
from alignlearn.theory.figures.drawing import draw_curve
from alignlearn.theory.reference.problems import gaussian_kernel
from cases import each

from alignlearn.bounds import rademacher
from alignlearn.bounds.generalization import exchange_bound, lkrr_bound_printed
from alignlearn.bounds.intervals import alignment_interval_from

ROOT = Path(__file__).resolve().parents[3]

# -- curves ----------------------------------------------------------------------------


def test_theorem_12_becomes_useful_where_the_ledger_says():
    curve = CURVES["p1-theorem-12"]
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


def test_the_picture_of_theorem_16_states_how_fast_weights_change():
    axes = draw_curve(CURVES["p1-theorem-16"], [10, 1000]).axes[0]
    assert "weight_rate = 1" in axes.get_title(loc="left")
    assert any("those of alignf need not" in t.get_text() for t in axes.texts)


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


def test_curves_are_found_by_any_of_their_names():
    assert find_curve("p1-theorem-12-refined") is CURVES["p1-theorem-12"]
    with pytest.raises(ValueError, match=r"p1-lemma-1 has no bound for each m.*p1-theorem-12"):
        find_curve("p1-lemma-1")
    with pytest.raises(ValueError, match=r"is not a claim.*p1-theorem-12"):
        find_curve("lemma")


def test_bad_input_of_curves():
    curve = CURVES["p1-theorem-17"]
    with pytest.raises(ValueError, match="lam0"):
        curve.values([10], 0.05, {"ridge": 1.0})
    with pytest.raises(ValueError, match="delta"):
        curve.values([10], 1.0)
    with pytest.raises(ValueError, match="m >= 4"):
        CURVES["p1-u-statistic"].values([3])
    with pytest.raises(ValueError, match="lam0 must be positive"):
        CURVES["p1-theorem-16"].values([10], 0.05, {"lam0": -1.0})


def test_a_curve_is_drawn_with_its_level_and_its_forms():
    figure = draw_curve(CURVES["p1-prop-11"], [10, 100, 1000, 10000])
    (ax,) = figure.axes
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["as printed (true)", "sharpened", "sharpened, for a target kernel"]
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert "1,099" in [text.get_text() for text in ax.texts]


# -- the numbers in the figures --------------------------------------------------------


def test_the_finite_distribution_stands_for_the_mixture():
    distribution, K = alignment.mixture_distribution()
    exact = mixture().gaussian_moments(1.0)
    assert distribution.moments(K, K).theta == pytest.approx(exact.kernel_norm, rel=1e-4)
    assert distribution.alignment(K, distribution.target()) == pytest.approx(
        exact.alignment, rel=1e-4
    )


def test_concentration_of_the_finite_distribution_is_that_of_the_mixture():
    found = alignment.sample_concentration([150], 300)
    rng = np.random.default_rng(1)
    direct = []
    for _ in range(300):
        X, y = mixture().sample(150, rng)
        direct.append(data.alignments(gaussian_kernel(X, 1.0), y)[0])
    # Quantiles of 300 samples have a standard error of about 0.006.
    assert found.alignment[0] == pytest.approx(np.quantile(direct, (0.025, 0.5, 0.975)), abs=0.025)
    assert found.covered[0] == 1.0
    assert found.interval[0, 0] <= found.alignment[0, 1] <= found.interval[0, 1]


def test_the_bias_of_the_coin_is_the_bound():
    distribution, K, L = next(iter(alignment.bias_examples().values()))
    found = distribution.moments(K, L)
    value = alignment.bounds.expected_numerator(3, *found) - found.theta
    assert abs(value) == pytest.approx(11 / 27)


def test_the_marks_of_the_concentration_figure_are_at_one_half():
    starts = alignment.half_starts()
    assert starts["printed"] == pytest.approx(4 * 12_113_323, rel=1e-3)
    a, rho = mixture().gaussian_moments(1.0).kernel_norm, mixture().gaussian_moments(1.0).alignment
    for m, below in ((starts["interval"] - 1, False), (starts["interval"], True)):
        found = alignment_interval_from(m, 0.05, rho * np.sqrt(a), a, 1.0)
        assert (found.high - found.low < 0.5) == below
    assert starts["unbiased"] < 1000 < starts["form (iii)"] < starts["form (ii)"]


def test_figure_1():
    assert alignment.two_point_alignments(0.5) == pytest.approx((2**-0.5, 1.0))
    assert alignment.two_point_alignments(0.1) == pytest.approx((0.82**0.5, 1.0))
    assert np.isnan(alignment.two_point_alignments(0.0)[1])


def test_the_gap_of_the_coin_stays_and_that_of_the_squared_loss_falls():
    gaps = predictors.coin_gaps([1001, 100001], 40)
    assert np.median(gaps.classification, axis=1) == pytest.approx(0.25, abs=1e-9)
    assert np.median(gaps.regression[1]) < np.median(gaps.regression[0]) / 3


def test_sample_predictors_tend_to_the_population_predictor():
    distribution, K = predictors.line_distribution()
    found = predictors.sample_risks(distribution, K, [10**6], 3)
    h = predictors.predictors.h_star(distribution, K)
    assert found.regression[0] == pytest.approx(
        predictors.predictors.regression_risk(distribution, h), abs=2e-3
    )


def test_alignf_is_not_stable_and_the_corrected_bound_knows():
    found = stability.flipped_label_change([3, 10, 100])
    assert found.observed == pytest.approx(2 / 11)
    # 1/25 with the uncentered kernel in the bound.
    assert found.printed[1] == pytest.approx(1 / 25, rel=0.02)
    assert (found.observed > found.printed).all()
    assert (found.observed <= found.corrected).all()


def test_residuals_can_exceed_the_label_bound_from_97_points_on():
    found = stability.one_kernel_change([96, 97])
    assert (found.observed > found.printed).tolist() == [False, True]


def test_one_stage_stability_against_the_claim():
    counterexample = stability.scaled_family_change([2])
    assert counterexample.observed[0] == pytest.approx(3.9992e-4, rel=1e-4)
    assert counterexample.printed[0] == pytest.approx(3.0353e-4, rel=1e-4)
    assert counterexample.corrected[0] == pytest.approx(6.24e-4, rel=1e-2)
    sharp = stability.sharp_family_change([50])
    assert sharp.observed[0] / sharp.corrected[0] == pytest.approx(0.99889, abs=1e-4)


def test_the_coin_breaks_theorem_3():
    m = np.array([10, 1000])
    found = risk.coin_quantile(m)
    printed = [lkrr_bound_printed(0.0, s, 0.05, 10.0, 0.0) for s in m]
    right = [exchange_bound(0.0, s, 0.05, 0.0, 100.0) for s in m]
    assert (found > printed).all()
    assert (found <= right).all()


def test_a_constant_kernel_breaks_theorem_17():
    """Against samples of the coin; the printed bound is below for every m, the corrected above."""
    m, lam0 = np.array([20, 200, 20_000]), 100.0
    found = risk.constant_kernel_quantile(m, lam0)
    share = np.random.default_rng(0).binomial(200, 0.5, 20_000) / 200
    h = share / (1 + lam0)
    training = share * (1 - h) ** 2 + (1 - share) * h**2
    gap = ((1 - h) ** 2 + h**2) / 2 - training
    assert found[1] == pytest.approx(np.quantile(gap, 0.95), abs=0.006)
    curve = CURVES["p1-theorem-17"].values(m, 0.05, {"lam0": lam0})
    assert (found > 10 * curve["printed"]).all()
    assert (found <= curve["corrected"]).all()


def test_algorithm_1_converges_where_the_ledger_says():
    made = algorithm.iteration_counts([0.2, 0.01, 0.5], 100.0)
    assert made[:2].tolist() == [0, 0]
    assert 0 < made[2] < 60
    made = algorithm.iteration_counts([0.30, 0.34, 0.5], 1e6, 1500)
    assert (made > 0).tolist() == [False, True, True]
    assert made[1] > 5 * made[2]
    assert (algorithm.random_counts([0.5], 60) > 0).all()


def test_alignments_against_the_library():
    import alignlearn as al

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    K = gaussian_kernel(X, 1.0)
    assert data.alignments(K, y) == pytest.approx(
        (al.alignment(K, np.outer(y, y)), al.alignment(K, np.outer(y, y), kind="uncentered"))
    )


# -- files -----------------------------------------------------------------------------


def test_starts_are_written_as_a_reader_expects():
    assert style.count(3157) == "3,157"
    assert style.count(12_113_323) == r"$1.2\times10^{7}$"


def test_the_same_figure_gives_the_same_file(tmp_path):
    first = figures.write("figure-1", tmp_path, quick=True)
    before = [path.read_bytes() for path in first]
    second = figures.write("figure-1", tmp_path, quick=True)
    assert [path.read_bytes() for path in second] == before
    with pytest.raises(ValueError, match="concentration"):
        figures.draw("table-1")


@each("name", figures.FIGURES)
def test_committed_figures_are_there_and_small(name):
    assert 5_000 < (ROOT / "figures" / f"{name}.png").stat().st_size < 150_000
    svg = ROOT / "figures" / f"{name}.svg"
    assert svg.stat().st_size < 300_000
    assert "not available" not in svg.read_text()


@pytest.mark.parametrize("name", ["bias", "algorithm-1"])
def test_figures_are_drawn_with_titles_labels_and_legends(name):
    figure = figures.draw(name, quick=True)
    panels = [ax for ax in figure.axes if ax.get_title(loc="left")]
    assert len(panels) == 2
    assert all(ax.get_xlabel() and ax.get_ylabel() for ax in panels)
    assert panels[-1].get_legend() is not None
