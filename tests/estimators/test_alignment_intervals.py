"""`alignlearn.alignment_interval` and `MKLClassifier.alignment_interval`."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse
from alignlearn.theory import HypothesisNotMet
from refusals import not_refused

import alignlearn as al
from alignlearn.bounds import class_betting
from alignlearn.bounds.class_intervals import FeatureRange
from alignlearn.bounds.ratio_betting import ratio_interval
from alignlearn.kernels import weighted_sum

UNIT = FeatureRange(1.0, non_negative=True)
LADDER = al.gaussian_kernels([0.1, 0.5, 2.0])


def normals(m, seed=0):
    """Two normal distributions at distance 2; the alignment of Gaussian(0.5) is 0.3205."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, m)
    X = rng.standard_normal((m, 2))
    X[:, 0] += 2.0 * y - 1.0
    return X, y


# -- one kernel ------------------------------------------------------------------------


def test_one_line_gives_the_interval_of_the_theory():
    X, y = normals(150)
    found = al.alignment_interval(X, y, al.Gaussian(0.5))
    expected = class_betting.class_betting_interval(al.Gaussian(0.5)(X), y, 0.05, UNIT, 0)
    assert (found.low, found.high) == pytest.approx(expected[:2], abs=1e-7)
    assert found.low > 0.02
    assert found.low < 0.3205 < found.high
    assert found.not_met == ()
    assert "betting, one kernel" in str(found)
    closed = al.alignment_interval(X, y, al.Gaussian(0.5), method="closed")
    assert closed.low < found.low
    assert closed.method == "closed form, one kernel"


@pytest.mark.filterwarnings("ignore:.* rows .* equal another one")
def test_samples_of_every_kind():
    X, y = normals(80)
    X = np.abs(np.round(X))
    expected = al.alignment_interval(X, y, "cosine", method="closed")
    ends = expected.low, expected.high
    names = np.array(["no", "yes"])[y]
    for samples, labels, kernel in (
        (X.tolist(), y.tolist(), "cosine"),
        (scipy.sparse.csr_matrix(X), y, al.Cosine()),
        (X, names, "cosine"),
        (X, 2.0 * y - 1, "cosine"),
    ):
        found = al.alignment_interval(samples, labels, kernel, method="closed")
        assert (found.low, found.high) == pytest.approx(ends)
    K = al.Gaussian(0.5)(X)
    given = al.alignment_interval(K, y, "precomputed", radius2=1.0)
    assert 0 <= given.low <= given.high <= 1


def test_real_targets_need_their_range():
    X, _ = normals(400)
    y = np.clip(X[:, 0], -1, 1)
    found = al.alignment_interval(X, y, al.Gaussian(0.5), label_range=(-1, 1))
    assert found.low > 0.1
    assert "targets in [-1.0, 1.0]" in found.hypotheses
    wide = al.alignment_interval(X, y, al.Gaussian(0.5), label_range=(-5, 5))
    assert wide.low < found.low
    closed = al.alignment_interval(X, y, al.Gaussian(0.5), label_range=(-1, 1), method="closed")
    assert closed.low <= found.low


def test_a_kernel_without_a_known_bound_has_no_interval():
    X, y = normals(500)
    given = al.alignment_interval(X, y, "linear", radius2=20.0)
    assert given.low > 0
    assert "K(x, x) <= 20" in given.hypotheses
    with pytest.raises(HypothesisNotMet, match="exceeds R"):
        al.alignment_interval(X, y, "linear", radius2=1.0)
    scaled = al.alignment_interval(X, y, al.Gaussian("scale"))
    assert any("gamma='scale'" in text for text in scaled.not_met)


def test_bounds_of_sums_and_multiples_are_known():
    G = al.Gaussian(0.5)
    assert G.largest_diagonal() == 1.0
    assert (2 * G + 3 * al.Laplacian(1.0) + 0.5).largest_diagonal() == pytest.approx(5.5)
    assert (G + al.Linear()).largest_diagonal() is None
    assert (2 * al.Linear()).largest_diagonal() is None
    assert weighted_sum([G, al.Laplacian(1.0)], [1.0, -1.0]).largest_diagonal() is None
    X, y = normals(100)
    found = [al.alignment_interval(X, y, k, method="closed") for k in (G, 4 * G)]
    assert found[0].low == pytest.approx(found[1].low)


def test_betting_on_the_ratio_is_one_word_away():
    X, y = normals(60)
    K, sign = al.Gaussian(0.5)(X), np.where(y == np.unique(y)[1], 1.0, -1.0)
    found = al.alignment_interval(X, y, al.Gaussian(0.5), method="ratio")
    expected = ratio_interval(K, sign, (-1.0, 1.0), 0.05, UNIT, 0)
    assert (found.low, found.high) == pytest.approx(expected[:2], abs=1e-7)
    assert "ratio" in found.method
    given = X, 3 * sign + 1, al.Gaussian(0.5)
    real = al.alignment_interval(*given, method="ratio", label_range=(-2.0, 4.0))
    assert (real.low, real.high) == pytest.approx(expected[:2], abs=1e-7)


def test_bad_input_is_refused():
    X, y = normals(40)
    good = {"X": X, "y": y, "kernel": al.Gaussian(0.5)}
    cases = (
        ({"y": np.zeros(40)}, "1 different values"),
        ({"y": np.arange(40)}, "label_range"),
        ({"y": np.arange(39) % 2}, r"accepted: \(40,\)"),
        ({"y": np.arange(40.0), "label_range": (0, 5)}, "does not contain the labels"),
        ({"label_range": (1, 0)}, "low < high"),
        ({"y": np.full(40, np.nan), "label_range": (0, 1)}, "NaN"),
        ({"kernel": LADDER}, "3 kernels"),
        ({"X": np.full((40, 2), np.nan)}, "NaN"),
    )
    calls = [(words, partial(al.alignment_interval, **good | bad), words) for bad, words in cases]
    clf, three = (al.MKLClassifier(LADDER).fit(X, t) for t in (y, np.arange(40) % 3))
    for model, given, options, words in (
        (clf, (X[:30], y[:30]), {}, "held_out=True"),
        (clf, normals(40, 1), {}, "held_out=True"),
        (clf, (X, 1 - y[::-1]), {}, "held_out=True"),
        (clf, (X, y * 0), {"held_out": True}, "both classes"),
        (three, (X, np.arange(40) % 3), {}, "two classes, got 3"),
    ):
        calls.append((words, partial(model.alignment_interval, *given, **options), words))
    assert not_refused(calls) == []
    assert three.alignment_interval_.method.startswith("norms of covariance operators")


# -- what a classifier learned ---------------------------------------------------------


def test_the_sample_of_a_rare_far_atom_is_not_believed():
    """The largest K(x, x) of a sample is no bound: 29 of 40 intervals missed, [0.54, 1]."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    x = rng.standard_normal(2000) + 2.0 * y - 1
    # An atom of mass 1/6000 at 1000, which is not in this sample, makes the alignment 0.004.
    clf = al.MKLClassifier(["linear"]).fit(x[:, None], y)
    found = clf.alignment_interval_
    assert (found.low, found.high, found.vacuous) == (0.0, 1.0, True)
    assert "give radius2" in found.not_met[0]
    told = al.estimators.alignment_intervals.learned_interval(clf, radius2=1e6)
    assert told.low <= 0.004 <= told.high


def test_the_union_is_over_all_kernels_and_not_over_those_that_vary():
    X, y = normals(400)
    kernels = [al.Gaussian(0.5), *[al.Gaussian(1e-300) * c for c in (1.0, 2.0, 3.0)]]
    many = al.MKLClassifier(kernels).fit(X, y).alignment_interval_
    one = al.MKLClassifier(kernels[:1]).fit(X, y).alignment_interval_
    assert "union over 4 kernels" in many.method
    assert many.low < one.low


def test_learned_weights_have_an_interval_by_betting():
    X, y = normals(300)
    clf = al.MKLClassifier(LADDER).fit(X, y)
    found = clf.alignment_interval(X, y)
    assert found.low > clf.alignment_interval_.low
    assert found.low < clf.alignment_ < found.high
    assert found.method == "betting, union over 3 kernels and their 6 pairs"
    held_out = clf.alignment_interval(*normals(300, 1), held_out=True)
    assert held_out.method == "betting, held-out samples"
    assert any("not used by the fit" in text for text in held_out.hypotheses)
    single = al.MKLClassifier(LADDER[1:2]).fit(X, y).alignment_interval(X, y)
    expected = al.alignment_interval(X, y, LADDER[1])
    assert (single.low, single.high) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_learned_intervals_of_other_sources():
    X, y = normals(120)
    grams = [k(X) for k in LADDER]
    clf = al.MKLClassifier("precomputed").fit(grams, y)
    assert clf.alignment_interval(grams, y).vacuous
    given = clf.alignment_interval(grams, y, radius2=1.0)
    assert given.method.startswith("betting, union over 3")
    ranked = al.MKLClassifier(al.RankOneKernels()).fit(X, y)
    top = float((X**2).max())
    for samples in (X, scipy.sparse.csr_matrix(X)):
        found = ranked.alignment_interval(samples, y, radius2=top)
        assert 0 <= found.low <= ranked.alignment_ <= found.high
