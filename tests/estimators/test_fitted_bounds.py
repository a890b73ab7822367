"""`MKLClassifier.alignment_interval_` and `MKLRegressor.bound`."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse
from refusals import not_refused

import alignlearn as al
from alignlearn.bounds import class_intervals
from alignlearn.bounds.fitted import intercept_bound, learned_alignment_interval
from alignlearn.estimators.alignment_intervals import learned_interval
from alignlearn.estimators.guarantees import sample_ranges
from alignlearn.sources import open_source

GAMMAS = [0.1, 1.0]


def classes(m, seed=0, c=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, c, m)
    return rng.standard_normal((m, 2)) + 2.5 * np.eye(max(c, 2))[y][:, :2], y


def regression(m, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (m, 2))
    return X, np.clip(np.sin(X[:, 0]) + 0.1 * rng.standard_normal(m), -1, 1)


# -- the interval ----------------------------------------------------------------------


def test_the_interval_of_one_kernel_is_that_of_the_theory():
    X, y = classes(300)
    kernel = al.Gaussian(0.5)
    clf = al.MKLClassifier([kernel]).fit(X, y)
    features = class_intervals.FeatureRange(1.0, non_negative=True)
    m_plus, m_minus, distance, norm = class_intervals.class_statistics(kernel(X), y)
    expected = class_intervals.class_interval_from(m_plus, m_minus, 0.05, distance, norm, features)
    found = clf.alignment_interval_
    assert (found.low, found.high) == pytest.approx(expected[:2])
    assert found.vacuous is expected.vacuous
    assert found.method == "closed form, union over 1 kernel"
    assert found.not_met == ()
    assert found.low <= clf.alignment_ <= found.high


def test_what_is_assumed_is_said():
    X, y = classes(200, c=3)
    clf = al.MKLClassifier(["linear", al.Gaussian("scale")]).fit(X, y)
    found = clf.alignment_interval_
    assert (found.low, found.high, found.vacuous) == (0.0, 1.0, True)
    assert any("give radius2" in text for text in found.not_met)
    assert any("gamma='scale'" in text for text in found.not_met)
    assert "NOT met: gamma='scale'" in str(found)
    given = learned_interval(clf, 0.1, radius2=100.0)
    assert "K_k(x, x) <= 100 for every kernel" in given.hypotheses
    assert given.delta == 0.1
    assert "union over 2 kernels" in given.method
    with pytest.raises(ValueError, match=r"radius2=0\.1 is below"):
        learned_interval(clf, radius2=0.1)


# -- the bound on the risk -------------------------------------------------------------


def test_the_bound_of_a_fixed_kernel_is_that_of_the_theory():
    X, y = regression(2000)
    m, alpha = len(y), 2000.0
    reg = al.MKLRegressor([al.Gaussian(0.5)], normalize=None, alpha=alpha).fit(X, y)
    risk = np.mean((reg.predict(X) - y) ** 2)
    found = reg.bound(delta=0.1, label_range=(-1, 1))
    # Gaussian features are unit vectors with inner products >= 0, at most 2^(1/2) apart.
    expected = intercept_bound(risk, m, 0.1, 1.0, np.sqrt(2), alpha / m)
    assert found.value == found.value_if_fixed == pytest.approx(expected)
    assert found.empirical_risk == pytest.approx(risk)
    assert found.not_met == ()
    assert "expected squared error at most" in repr(found)


DIAGONAL_ONE = {
    "rational quadratic": (al.RationalQuadratic(2.0, gamma=0.5), True),
    "hamming": (al.Hamming(), True),
    "product": (al.Gaussian(0.5) * al.Matern(0.5, gamma=0.1), True),
    "on columns": (al.Columns(al.Gaussian(0.5), [1]), True),
    "normalized, of one sign": (al.ExponentialDot(0.5).normalized(), True),
    "even power of one of two signs": (al.Cosine() ** 2, True),
    "cosine": (al.Cosine(), False),
    "normalized, of two signs": (al.Polynomial(0.5, 1.0, 3).normalized(), False),
}


@pytest.mark.filterwarnings("ignore:.* rows .* equal another one")
@pytest.mark.parametrize("name", DIAGONAL_ONE)
def test_kernels_whose_largest_value_is_known_are_not_bounded_by_the_sample(name):
    """Features of length 1, at most 2^(1/2) apart where no two have a negative inner product."""
    kernel, one_sign = DIAGONAL_ONE[name]
    X, y = regression(200)
    X = np.round(X)
    reg = al.MKLRegressor([kernel], normalize=None, alpha=2e5).fit(X, y)
    risk = np.mean((reg.predict(X) - y) ** 2)
    found = reg.bound(delta=0.1, label_range=(-1, 1))
    assert found.not_met == ()
    expected = intercept_bound(risk, 200, 0.1, 1.0, np.sqrt(2.0) if one_sign else 2.0, 1e3)
    assert found.value_if_fixed == pytest.approx(expected)


def test_the_bound_of_linear_kernels_uses_their_features():
    X, y = regression(400)
    reg = al.MKLRegressor(["linear"], normalize=None, alpha=400000.0).fit(X, y)
    risk = np.mean((reg.predict(X) - y) ** 2)
    radius2 = (X**2).sum(1).max()
    expected = intercept_bound(risk, 400, 0.05, 1.0, 2 * np.sqrt(radius2), 1000.0)
    found = reg.bound(label_range=(-1, 1), radius2=radius2)
    assert found.value_if_fixed == pytest.approx(expected)


def test_learned_weights_leave_a_vacuous_bound_unless_they_came_from_elsewhere():
    X, y = regression(300)
    reg = al.MKLRegressor(al.gaussian_kernels(GAMMAS), alpha=300.0).fit(X, y)
    found = reg.bound(label_range=(-1, 1))
    assert found.vacuous
    assert "learned" in found.not_met[0]
    # Only the largest possible loss remains: (2 + D/(2 lam0^(1/2)))^2 times Y^2.
    diameter2 = 2 * reg.weights_ @ reg.scale_
    assert found.value == pytest.approx((2 + np.sqrt(diameter2) / 2) ** 2)
    told = reg.bound(fixed=True, label_range=(-1, 1))
    assert told.not_met == ()
    assert told.value == found.value_if_fixed


def test_the_bound_refuses():
    """Wrong options are in test_bounds_refuse.py."""
    X, y = regression(30)
    kernel, limits = [al.Gaussian(0.5)], {"label_range": (-1, 1)}
    svr, reg = al.MKLRegressor(kernel, machine="svr").fit(X, y), al.MKLRegressor(kernel).fit(X, y)
    two = al.MKLRegressor(kernel).fit(X, np.c_[y, -y])
    plain = al.MKLRegressor([al.Gaussian(5.0)], alpha=0.0).fit(X, y)
    cases = (
        (svr, {}, "machine='krr'"),
        (reg, {}, "set label_range"),
        (reg, {"X": 0.1}, "given together"),
        (two, {}, "one target"),
        (plain, limits, "ridge lam0 must be positive"),
        (al.MKLRegressor(), {}, "not fitted"),
    )
    assert not_refused((text, partial(m.bound, **given), text) for m, given, text in cases) == []


# -- stored data of the samples --------------------------------------------------------


def test_diagonals_of_every_kind_of_source():
    X, y = regression(25)
    kernels = [al.Gaussian(1.0), al.Polynomial(degree=2), al.Linear()]
    expected = [k(X).diagonal().max() for k in kernels]
    assert sample_ranges(open_source(X, kernels), y).radii == pytest.approx(expected, rel=1e-9)
    grams = [X @ X.T, 2 * X @ X.T]
    found = sample_ranges(open_source(grams, "precomputed"), y)
    assert found.radii == pytest.approx([expected[2], 2 * expected[2]])
    features = (X**2).max(0)
    for given in (X, scipy.sparse.csr_matrix(X)):
        found = sample_ranges(open_source(given, al.RankOneKernels()), y)
        assert found.radii == pytest.approx(features)
    assert found.labels == (y.min(), y.max())


def test_an_alpha_that_was_searched_for_is_no_hypothesis_met():
    """Stability needs an alpha chosen without the samples; the bound for all alphas does not."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 2))
    y = np.clip(X[:, 0], -1, 1)
    options = {"weighting": "uniform", "normalize": None}
    plain = al.MKLRegressor([al.Gaussian(1.0)], alpha=50.0, **options).fit(X, y)
    search = al.MKLRegressorCV([al.Gaussian(1.0)], alphas=[50.0], cv=3, **options).fit(X, y)
    known, found = (m.bound(label_range=(-1, 1), fixed=True) for m in (plain, search))
    assert found.value == pytest.approx(known.value)
    assert known.method == found.method == "stability"
    assert known.not_met == ()
    assert any("alpha chosen without these samples" in text for text in known.hypotheses)
    assert "alpha was chosen on these samples" in found.not_met[0]
    assert search.bound(label_range=(-1, 1)).not_met  # also by default
    assert plain.bound(label_range=(-1, 1)) == known


def test_the_interval_of_several_classes_allows_for_classes_that_were_not_seen():
    """The radius is that of one-hot columns of any number of classes, not of the three seen."""
    rng = np.random.default_rng(1)
    y = np.arange(2000) % 3
    X = 4.0 * np.eye(3)[y] + 0.2 * rng.normal(size=(2000, 3))
    clf = al.MKLClassifier([al.Gaussian(0.5)], normalize=None).fit(X, y)
    found, statistics = clf.alignment_interval_, clf.statistics_
    m, w = 2000, clf.weights_
    given = [w @ statistics.a / m**2, w @ statistics.M @ w / m**2]
    given += [(statistics.target_norm / m) ** 2, w.sum()]
    want, short = (learned_alignment_interval(m, 0.05, *given, r, 1) for r in (1.0, 2 / 3))
    assert (found.low, found.high) == pytest.approx(want[:2])
    assert short.low > want.low > 0
