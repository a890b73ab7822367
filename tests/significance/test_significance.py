"""Significance tests, against scipy, brute force and Demsar's worked example."""

import itertools
import math

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scipy import integrate, stats

from alignlearn.significance import (
    corrected_resampled_t_test,
    critical_difference_diagram,
    friedman_test,
    holm,
    holm_adjusted,
    nemenyi,
    paired_t_test,
    pairwise_t_tests,
)

# Demsar (2006), table 6: AUC on 14 data sets. The last digit decides a tie: on "wine", the last
# row but one, the printed values of C4.5+cf and C4.5+m+cf are both 0.975 and their ranks 2 and 3.
NAMES = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
# A row for each method, in thousandths.
AUC = np.array(
    [
        [763, 599, 954, 628, 882, 936, 661, 583, 775, 1000, 940, 619, 972, 957],
        [768, 591, 971, 661, 888, 931, 668, 583, 838, 1000, 962, 666, 981, 978],
        [771, 590, 968, 654, 886, 916, 609, 563, 866, 1000, 965, 614, 975.1, 946],
        [798, 569, 967, 657, 898, 931, 685, 625, 875, 1000, 962, 669, 975, 970],
    ]
)
AUC = AUC.T / 1000
ALTERNATIVES = ("less", "greater", "two-sided")


def demsar(**options):
    return friedman_test(AUC, NAMES, greater_is_better=True, **options)


# A few values, so that ties are common.
VALUES = st.sampled_from([0.1, 0.2, 0.25, 0.4, 0.7])
tables = st.tuples(st.integers(2, 9), st.integers(3, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=VALUES)
)


@each("alternative", ALTERNATIVES)
@each("n", [2, 40])
@each("unit", [1.0, 1e-200, 1e200])
def test_paired_t_test_is_scipys_in_any_unit(alternative, n, unit):
    a, b = np.random.default_rng(n).random((2, n))
    ours = paired_t_test(unit * a, unit * b, alternative)
    theirs = stats.ttest_rel(a, b, alternative=alternative)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-10)
    assert ours.df == theirs.df
    assert ours.mean_difference == pytest.approx(unit * np.mean(a - b), rel=1e-12)
    assert ours.mean_difference / ours.standard_error == pytest.approx(ours.statistic, rel=1e-12)


def test_equal_errors_give_p_1_and_equal_differences_the_limit():
    a, b = np.array([0.1, 0.2, 0.3]), np.array([0.1, 0.2, 0.1 + 0.2])  # equal up to rounding
    for alternative in ALTERNATIVES:
        plain = paired_t_test(a, b, alternative)
        assert (plain.statistic, plain.p_value, plain.mean_difference) == (0.0, 1.0, 0.0)
        assert plain.df == 2
        assert corrected_resampled_t_test(a, b, 80, 20, alternative) == plain
    a = np.array([0.1, 0.2, 0.3, 1.7])
    b = a + 0.1
    assert len(set(b - a)) > 1  # by rounding
    result = paired_t_test(a, b)
    assert (result.statistic, result.p_value, result.standard_error) == (-np.inf, 0.0, 0.0)
    assert result.mean_difference == pytest.approx(-0.1)
    assert paired_t_test(b, a).p_value == 1.0
    assert paired_t_test(b, a, "two-sided").p_value == 0.0


def test_corrected_t_test_is_a_plain_one_with_a_larger_variance():
    a, b = np.random.default_rng(4).random((2, 10))
    result = corrected_resampled_t_test(a, b, n_train=90, n_test=10)
    # (1/n + n_test/n_train) in place of 1/n
    statistic = stats.ttest_rel(a, b).statistic / math.sqrt(1.0 + 10 * 10 / 90)
    assert result.statistic == pytest.approx(statistic, rel=1e-12)
    assert result.p_value == pytest.approx(stats.t.cdf(statistic, 9), rel=1e-10)


def test_pairwise_entries_say_whether_the_column_beats_the_row():
    table = np.random.default_rng(6).normal(size=(5, 3)) * 0.01 + [0.3, 0.2, 0.1]
    p = pairwise_t_tests(table)
    np.testing.assert_array_equal(p < 0.1, [[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(np.diag(p), 1.0)
    theirs = stats.ttest_rel(table[:, 1], table[:, 0], alternative="less")
    assert p[0, 1] == pytest.approx(theirs.pvalue, rel=1e-10)
    corrected = pairwise_t_tests(table, n_train=600, n_test=200)
    assert corrected[0, 1] == corrected_resampled_t_test(table[:, 1], table[:, 0], 600, 200).p_value


def test_friedman_gives_the_published_example():
    result = demsar(tie_correction=False)
    np.testing.assert_allclose(result.average_ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert result.chi2 == pytest.approx(9.28, abs=5e-3)
    assert result.f_statistic == pytest.approx(3.69, abs=5e-3)
    assert result.df == (3, 39)
    # The published critical value of F(3, 39) at 0.05 is 2.85, so that p < 0.05.
    assert result.p_value == pytest.approx(stats.f.sf(result.f_statistic, 3, 39), rel=1e-10)
    assert result.p_value < 0.05
    np.testing.assert_array_equal(result.ranks[[1, 5]], [[1, 2, 3, 4], [1, 2.5, 4, 2.5]])


@given(tables)
def test_friedman_is_scipys_and_an_analysis_of_variance_of_the_ranks(table):
    result = friedman_test(table)
    n, k = table.shape
    ranks = stats.rankdata(table, axis=1)
    np.testing.assert_array_equal(result.ranks, ranks)
    if np.ptp(table, axis=1).max() == 0.0:
        assert (result.chi2, result.f_statistic) == (0.0, 0.0)
        assert (result.p_value, result.chi2_p_value) == (1.0, 1.0)
        return
    theirs = stats.friedmanchisquare(*table.T)
    assert result.chi2 == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-9)
    assert result.chi2_p_value == pytest.approx(theirs.pvalue, rel=1e-8)
    between = n * np.sum((ranks.mean(axis=0) - ranks.mean()) ** 2)
    within = np.sum((ranks - ranks.mean(axis=0)) ** 2)
    if within == 0.0:
        assert result.f_statistic == np.inf
        assert 0.0 < result.p_value <= 0.5 ** (n - 1)
    else:
        f = (between / (k - 1)) / (within / ((k - 1) * (n - 1)))
        assert result.f_statistic == pytest.approx(f, rel=1e-9, abs=1e-9)
        assert result.p_value == pytest.approx(stats.f.sf(f, k - 1, (k - 1) * (n - 1)), rel=1e-7)


@given(tables, st.integers(0, 2**32 - 1))
def test_friedman_does_not_depend_on_the_order_or_on_increasing_maps(table, seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(table.shape[0]), rng.permutation(table.shape[1])
    result, other = friedman_test(table), friedman_test(np.exp(table[rows][:, columns]))
    np.testing.assert_allclose(other.average_ranks, result.average_ranks[columns], rtol=1e-14)
    assert other.p_value == pytest.approx(result.p_value, rel=1e-7)
    negated = friedman_test(-table, greater_is_better=True)
    np.testing.assert_array_equal(negated.average_ranks, result.average_ranks)


@pytest.mark.parametrize("row", [[1, 2, 3], [1, 1, 3], [1, 1, 2, 2]])
def test_p_value_of_full_agreement_is_exact(row):
    n, orders = 3, set(itertools.permutations(row))
    agree = [len(set(draw)) == 1 for draw in itertools.product(orders, repeat=n)]
    result = friedman_test([row] * n)
    assert result.f_statistic == np.inf
    assert result.p_value == pytest.approx(np.mean(agree), rel=1e-12)


def test_holm_gives_the_published_example():
    # Demsar (2006), section 3.2.2: C4.5 against the others; two of three are rejected at 0.05.
    result = holm(demsar(), control="C4.5")
    assert result.pairs == tuple(("C4.5", name) for name in NAMES[1:])
    np.testing.assert_allclose(result.z, [2.342, 0.512, 2.416], atol=1e-3)
    np.testing.assert_allclose(result.p_value, [0.019, 0.607, 0.016], atol=2e-3)
    np.testing.assert_array_equal(result.adjusted < 0.05, [True, False, True])
    published = holm([3.143, 2.000, 2.893, 1.964], 14, control=0, names=NAMES)
    np.testing.assert_allclose(published.adjusted, result.adjusted, atol=1e-3)
    result = holm(demsar())
    assert result.pairs == tuple(itertools.combinations(NAMES, 2))
    np.testing.assert_allclose(result.p_value, 2 * stats.norm.sf(np.abs(result.z)), rtol=1e-12)
    np.testing.assert_array_equal(result.adjusted, holm_adjusted(result.p_value))
    assert result.adjusted.min() == pytest.approx(6 * result.p_value.min())


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8), st.floats(0.001, 0.999))
def test_holm_adjusted_decides_as_the_procedure_does(p, level):
    p = np.array(p)
    before, adjusted = p.copy(), holm_adjusted(p)
    rejected = np.zeros(p.size, dtype=bool)
    for step, i in enumerate(np.argsort(p, kind="stable")):
        if (p.size - step) * p[i] > level:
            break
        rejected[i] = True
    np.testing.assert_array_equal(adjusted <= level, rejected)
    assert np.all((p <= adjusted) & (adjusted <= 1.0))
    np.testing.assert_array_equal(p, before)


def test_nemenyi_gives_the_published_example():
    # At 0.05 not even the best and the worst differ; at 0.1 C4.5 loses to two (figure 1a).
    strict, loose = nemenyi(demsar()), nemenyi(demsar(), level=0.1)
    assert strict.critical_difference == pytest.approx(1.25, abs=5e-3)
    assert not strict.significant.any()
    assert strict.groups == ((3, 1, 2, 0),)
    assert loose.critical_difference == pytest.approx(1.12, abs=5e-3)
    assert loose.groups == ((3, 1, 2), (2, 0))
    np.testing.assert_array_equal(loose.significant[0], [False, True, False, True])
    assert loose.significant.sum() == 4
    apart = nemenyi([1.2, 1.3, 4.0, 3.5], n_datasets=1000)  # a method that differs from all others
    assert apart.groups == ((0, 1),)


# Demsar (2006), table 5a, given to three digits.
@pytest.mark.parametrize(
    ("level", "values"),
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_critical_values_are_the_published_ones(level, values):
    ours = [nemenyi(np.full(k, 0.5 * (k + 1)), 10, level=level).q for k in range(2, 11)]
    np.testing.assert_allclose(ours, values, atol=1.1e-3)


def test_nemenyi_p_values_are_tails_of_the_range_of_normals():
    result = nemenyi(demsar())
    k, error = 4, math.sqrt(4 * 5 / (6 * 14))
    width = math.sqrt(2.0) * abs(result.average_ranks[0] - result.average_ranks[3]) / error

    def density(z):
        inside = stats.norm.cdf(z) - stats.norm.cdf(z - width)
        return k * stats.norm.pdf(z) * inside ** (k - 1)

    tail = 1.0 - integrate.quad(density, -8.0, 8.0 + width)[0]
    assert result.p_value[0, 3] == pytest.approx(tail, rel=1e-6)
    np.testing.assert_array_equal(np.diag(result.p_value), 1.0)
    np.testing.assert_array_equal(result.p_value, result.p_value.T)


@given(tables, st.sampled_from([0.01, 0.05, 0.1, 0.5]))
def test_nemenyi_is_consistent_and_its_groups_are_the_largest(table, level):
    result = nemenyi(friedman_test(table), level=level)
    k = table.shape[1]
    clear = np.abs(result.p_value - level) > 1e-6
    np.testing.assert_array_equal(result.significant[clear], (result.p_value < level)[clear])
    sets = [
        set(members)
        for size in range(2, k + 1)
        for members in itertools.combinations(range(k), size)
        if not any(result.significant[i, j] for i, j in itertools.combinations(members, 2))
    ]
    largest = [s for s in sets if not any(s < other for other in sets)]
    assert sorted(map(sorted, result.groups)) == sorted(map(sorted, largest))


@each(
    ("call", "message"),
    [
        (lambda: paired_t_test([0.1], [0.2]), r"errors_a has shape \(1,\); accepted: 1-dim"),
        (lambda: paired_t_test([0.1, 0.2], [0.2, 0.3, 0.4]), "errors_a has 2 values, errors_b 3"),
        (lambda: pairwise_t_tests(np.ones((5, 1))), r"errors has shape \(5, 1\); .* \(2, 2\)"),
        (lambda: pairwise_t_tests(np.ones((5, 2)), n_test=3), "both or neither"),
        (lambda: friedman_test(np.ones((1, 5))), r"results has shape \(1, 5\)"),
        (lambda: friedman_test(AUC, ["a", "b", "c", "a"]), "names=.*4 different names"),
        (lambda: holm_adjusted([0.1, 1.2]), r"p_values=.*all in \[0, 1\]"),
        (lambda: holm(demsar(), control=4), "control=4; accepted: 0 to 3"),
        (lambda: holm(demsar(), 14), "n_datasets and names are part of the FriedmanResult"),
        (lambda: holm([1.0, 2.0]), "n_datasets=None"),
        (lambda: holm([0.1, 0.2, 0.3], 5), "ranks=.*average ranks of 3 methods"),
        (lambda: critical_difference_diagram(nemenyi(demsar()), 14), "part of the NemenyiResult"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def check_texts(figure, axes):
    """Labels are inside the figure and do not overlap, and names are beside the lines."""
    FigureCanvasAgg(figure).draw()
    texts = [text for ax in axes for text in (*ax.texts, ax.title, ax.xaxis.label)]
    texts += [label for ax in axes for label in ax.get_xticklabels()]
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    for box in boxes:
        assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 <= box.y1 <= figure.bbox.y1
    for ax in axes:
        for name in ax.texts[1:]:
            box = name.get_window_extent()
            assert box.x1 < ax.bbox.x0 or box.x0 > ax.bbox.x1
    for one, two in itertools.combinations(boxes, 2):
        # Boxes have room for descenders, so neighboring lines may share two pixels.
        shared = min(one.y1, two.y1) - max(one.y0, two.y0)
        assert shared < 2.0 or min(one.x1, two.x1) <= max(one.x0, two.x0)


def drawn_ranks():
    yield demsar()
    yield nemenyi([2.0, 2.0, 2.0], 5)
    yield nemenyi([1.0, 2.0, 3.0], 2, names=["$2^{-3}$", "x" * 90, "a_b\nin two lines"])
    for n, k in ((5, 2), (40, 24), (300, 60)):
        table = np.random.default_rng(0).normal(size=(n, k)) + np.linspace(0.0, 3.0, k)
        yield friedman_test(table, [f"kernel {j} " + "and more " * (j % 5) for j in range(k)])


def test_texts_of_the_diagram_are_inside_and_apart():
    for ranks in drawn_ranks():
        axes = critical_difference_diagram(ranks, title="A title")
        check_texts(axes.figure, [axes])


def test_diagram_shows_names_ranks_and_the_groups():
    figure = Figure((11.0, 2.5), layout="constrained")
    both = figure.subplots(1, 2)
    for axes in both:
        assert critical_difference_diagram(demsar(), title="A title", ax=axes) is axes
    check_texts(figure, both)
    axes = critical_difference_diagram(nemenyi(demsar(), level=0.1))
    texts = [text.get_text() for text in axes.texts]
    shown = {f"{name}  {rank}" for name, rank in zip(NAMES, ["3.14", "2.00", "2.89", "1.96"])}
    assert shown | {"critical difference 1.12 (level 0.1)"} <= set(texts)
    stems = sorted(line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 3)
    np.testing.assert_allclose(stems, [1.964, 2.000, 2.893, 3.143], atol=5e-4)
    # Groups are the first three methods and the last two, whose bars must not touch.
    bars = [line for line in axes.lines if line.get_linewidth() > 2.0]
    spans = [tuple(bar.get_xdata()) for bar in bars]
    np.testing.assert_allclose(spans, [(stems[0], stems[2]), (stems[2], stems[3])], atol=0.05)
    assert spans[0][1] > spans[1][0]
    assert bars[0].get_ydata()[0] != bars[1].get_ydata()[0]
