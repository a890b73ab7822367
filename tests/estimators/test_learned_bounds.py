"""Bounds of fitted estimators that hold although the weights were learned."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits

import alignlearn as al
from alignlearn.bounds import learned
from alignlearn.bounds.checks import HypothesisNotMet

LADDER = [al.Gaussian(0.1), al.Gaussian(0.5), al.Gaussian(2.0)]


def classes(m, seed=0, flips=0.05):
    """Two normal laws in the plane at distance 5, some labels wrong."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], m)
    X = rng.standard_normal((m, 2)) + 2.5 * np.c_[y, np.zeros(m)]
    return X, np.where(rng.random(m) < flips, -y, y)


def regression(m, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (m, 2))
    return X, np.clip(np.sin(X[:, 0]) + 0.1 * rng.standard_normal(m), -1, 1)


# -- classification --------------------------------------------------------------------


def test_the_parts_of_the_bound_from_the_matrices():
    X, y = classes(120)
    clf = al.MKLClassifier(LADDER, C=0.5).fit(X, y)
    found = clf.bound(X, y, 0.1, draws=300)
    factors = clf.weights_ * clf.scale_
    a = np.zeros(120)
    a[clf.support_] = clf.dual_coef_[:, 0]
    grams = [kernel(X) for kernel in LADDER]
    sizes = [w * np.sqrt(a @ K @ a) for w, K in zip(factors, grams)]
    h = clf.decision_function(X)
    b = np.mean(h - sum(w * K @ a for w, K in zip(factors, grams)))
    assert found.size == pytest.approx(sum(sizes) + abs(b), rel=1e-6)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (300, 120))
    u = [np.einsum("si,ij,sj->s", signs, K, signs) for K in grams] + [signs.sum(1) ** 2]
    mean = np.sqrt(np.max(u, axis=0)).mean() / 120
    complexity = learned.sampled_complexity(mean, 120, 300, 0.001)
    assert found.complexity == pytest.approx(complexity)
    expected = learned.margin_bound(y * h, found.size, complexity, 0.049)
    assert found.by_margin == pytest.approx(expected.value)
    assert found.empirical_risk == np.mean(y != clf.predict(X))
    assert found.value == min(found.by_margin, found.by_random_predictors, 1.0)
    assert found.not_met == ()
    assert "PAC-Bayes" in repr(found)


def test_the_bound_holds_where_the_risk_is_known():
    """Weights, C and kernels chosen to fit labels that are partly noise; fresh samples judge."""
    fresh = classes(4000, seed=99)
    for seed in range(8):
        X, y = classes(150, seed)
        for C in (0.1, 100.0):
            clf = al.MKLClassifier(LADDER, C=C).fit(X, y)
            found = clf.bound(X, y, draws=100, random_state=seed)
            risk = np.mean(clf.predict(fresh[0]) != fresh[1])
            assert min(found.by_margin, found.by_random_predictors) >= risk
            assert found.value < 0.9 or C > 1


def test_pure_noise_has_a_vacuous_bound():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 2)), rng.choice([-1, 1], 200)
    clf = al.MKLClassifier([al.Gaussian(50.0), *LADDER], C=1e3).fit(X, y)
    found = clf.bound(X, y)
    assert found.empirical_risk < 0.1
    assert found.vacuous
    assert found.value > 0.5
    assert "vacuous" in str(found)


def test_more_samples_make_the_bound_useful():
    rows = [classes(m) for m in (60, 240, 960)]
    found = [al.MKLClassifier(LADDER, C=0.1).fit(*row).bound(*row, draws=500) for row in rows]
    assert found[0].vacuous
    assert found[0].value > found[1].value > found[2].value
    assert found[0].by_margin > found[1].by_margin > found[2].by_margin
    assert not found[2].vacuous


def test_it_says_something_about_real_digits():
    """Zeros against ones: 360 images, learned weights."""
    X, y = load_digits(return_X_y=True)
    few = y < 2
    X, y = X[few] / 16, y[few]
    clf = al.MKLClassifier([al.Gaussian(g) for g in (0.01, 0.03, 0.1)], C=0.1).fit(X, y)
    found = clf.bound(X, y)
    assert not found.vacuous
    assert found.value < 0.42
    assert found.not_met == ()


def test_it_says_something_about_breast_cancer():
    """683 samples of nine marks from 1 to 10; the smaller class is 35 %."""
    found = al.datasets.load("breast_cancer_wisconsin") if _has_data() else None
    if found is None:
        pytest.skip("ALIGNLEARN_DATA has no breast_cancer_wisconsin.npz")
    X, y = found.X / 10, found.y
    clf = al.MKLClassifier([al.Gaussian(g) for g in (0.1, 0.3, 1.0, 3.0)], C=0.1).fit(X, y)
    with pytest.warns(al.DoubtfulResultWarning, match="280 of 683 rows"):
        bound = clf.bound(X, y)
    assert not bound.vacuous
    assert bound.value < 0.3


def _has_data():
    try:
        al.datasets.load("breast_cancer_wisconsin")
    except Exception:
        return False
    return True


@pytest.mark.parametrize("form", ["linear", "rank one", "precomputed", "cv", "one-stage"])
def test_every_kind_of_kernels(form):
    X, y = classes(100)
    if form == "precomputed":
        X = [kernel(X) for kernel in LADDER]
    clf = {
        "linear": lambda: al.MKLClassifier(["linear", al.Columns(al.Linear(), [0])]),
        "rank one": lambda: al.MKLClassifier(al.RankOneKernels()),
        "precomputed": lambda: al.MKLClassifier("precomputed"),
        "cv": lambda: al.MKLClassifierCV(LADDER, weighting="alignf", Cs=[0.1, 1.0], cv=3),
        "one-stage": lambda: al.MKLClassifier(LADDER, weighting="l1-svm"),
    }[form]().fit(X, y)
    radius2 = None
    if form in ("linear", "rank one", "precomputed"):
        with pytest.raises(HypothesisNotMet, match="give radius2, or held-out samples"):
            clf.bound(X, y, draws=50)
        radius2 = 100.0
    found = clf.bound(X, y, radius2=radius2, draws=50)
    assert 0.0 < found.value <= 1.0
    assert found.size > 0


def test_the_unit_of_a_kernel_does_not_matter():
    X, y = classes(150)
    found = [
        al.MKLClassifier([s * al.Gaussian(0.5)]).fit(X, y).bound(X, y, draws=50) for s in (1, 100)
    ]
    assert found[0].by_margin == pytest.approx(found[1].by_margin, rel=1e-3)
    assert found[0].by_random_predictors == pytest.approx(found[1].by_random_predictors, rel=1e-3)


def test_a_smaller_delta_and_a_larger_radius_cost_something():
    X, y = classes(150)
    clf = al.MKLClassifier(LADDER).fit(X, y)
    plain = clf.bound(X, y, draws=50)
    assert clf.bound(X, y, 0.001, draws=50).value > plain.value
    assert clf.bound(X, y, radius2=4.0, draws=50).value == plain.value  # 1 is known of a Gaussian
    clf = al.MKLClassifier(["linear"]).fit(X, y)
    near, wide = (clf.bound(X, y, radius2=r, draws=50) for r in (100.0, 400.0))
    assert wide.by_margin > near.by_margin
    assert any("K_k(x, x) <= 400" in text for text in wide.hypotheses)


def test_the_bound_survives_pickling():
    X, y = classes(80)
    clf = al.MKLClassifier(LADDER).fit(X, y)
    other = pickle.loads(pickle.dumps(clf))
    assert clf.bound(X, y, draws=20) == other.bound(X, y, draws=20)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"X": "other"}, ValueError, "X must be the samples"),
        ({"X": "fewer"}, ValueError, "60 samples|m = 60|length|80"),
        ({"y": "flipped"}, ValueError, "y must be the labels"),
        ({"y": "unknown"}, ValueError, "y must be the labels"),
        ({"delta": 0.0}, ValueError, "delta"),
        ({"radius2": -1.0}, ValueError, "radius2"),
        ({"radius2": 0.5}, ValueError, "radius2=0.5 is below"),
        ({"draws": 0}, ValueError, "draws"),
        ({"draws": None}, TypeError, "draws"),
        ({"random_state": "a"}, TypeError, "random_state"),
    ],
)
def test_the_classifier_refuses(change, error, message):
    X, y = classes(80)
    clf = al.MKLClassifier(LADDER).fit(X, y)
    given = {"X": X, "y": y} | change
    if given["X"] is not X:
        given["X"] = X[:60] if given["X"] == "fewer" else classes(80, 5)[0]
    if given["y"] is not y:
        given["y"] = -y if given["y"] == "flipped" else y + 3
    with pytest.raises(error, match=message):
        clf.bound(**given)


def test_the_classifier_refuses_what_has_no_bound():
    X, y = classes(60)
    with pytest.raises(ValueError, match="not fitted"):
        al.MKLClassifier(LADDER).bound(X, y)
    three = np.arange(60) % 3
    fitted = al.MKLClassifier(LADDER).fit(X, three)
    with pytest.raises(ValueError, match="two classes, got 3"):
        fitted.bound(X, three)
    fitted = al.MKLClassifier([al.TL1(2.0)]).fit(X, y)
    with pytest.raises(ValueError, match="positive semi-definite"):
        fitted.bound(X, y)


# -- regression ------------------------------------------------------------------------


def test_the_regression_bound_from_the_matrices():
    X, y = regression(150)
    reg = al.MKLRegressor(LADDER, alpha=30.0).fit(X, y)
    found = reg.bound(X, y, 0.1, label_range=(-1, 1), draws=200)
    factors, a = reg.weights_ * reg.scale_, reg.dual_coef_
    grams = [kernel(X) for kernel in LADDER]
    size = sum(w * np.sqrt(a @ K @ a) for w, K in zip(factors, grams))
    h = reg.predict(X)
    b = np.mean(h - sum(w * K @ a for w, K in zip(factors, grams)))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (200, 150))
    u = [np.einsum("si,ij,sj->s", signs, K, signs) for K in grams] + [signs.sum(1) ** 2]
    mean = np.sqrt(np.max(u, axis=0)).mean() / 150
    complexity = learned.sampled_complexity(mean, 150, 200, 0.001)
    residuals = np.clip(h, -1, 1) - y
    expected = learned.clipped_bound(residuals, size + abs(b), 2.0, complexity, 0.099)
    assert found.value == pytest.approx(expected.value)
    assert found.not_met == ()
    assert "predictions clipped to [-1, 1]" in found.hypotheses


def test_the_regression_bound_is_below_the_largest_loss_and_falls():
    values = []
    for m in (200, 1600):
        X, y = regression(m)
        reg = al.MKLRegressor(LADDER, alpha=m / 10).fit(X, y)
        plain = reg.bound(label_range=(-1, 1))
        found = reg.bound(X, y, label_range=(-1, 1), draws=200)
        assert found.value < plain.value
        assert found.value > plain.empirical_risk
        assert "complexity" in found.method
        values.append(found.value)
    assert values[1] < 0.6 * values[0]


def test_samples_help_where_the_kernel_is_fixed_too():
    """The smaller of stability and complexity, each at half of delta."""
    X, y = regression(400)
    reg = al.MKLRegressor([al.Gaussian(0.5)], normalize=None, alpha=400.0).fit(X, y)
    found = reg.bound(X, y, 0.1, label_range=(-1, 1), draws=200)
    assert "complexity" in found.method
    alone = reg.bound(delta=0.05, label_range=(-1, 1))
    assert alone.method == "stability"
    assert found.value < found.value_if_fixed == alone.value
    learned = reg.bound(X, y, 0.05, label_range=(-1, 1), draws=200, fixed=False)
    assert found.value == learned.value


def test_the_regressor_refuses_other_samples():
    X, y = regression(60)
    reg = al.MKLRegressor(LADDER).fit(X, y)
    for sample, message in (
        ((X, y[::-1]), "y must be the targets"),
        ((X[::-1], y), "X must be the samples"),
        ((X[:50], y[:50]), "50|60"),
    ):
        with pytest.raises(ValueError, match=message):
            reg.bound(*sample, label_range=(-1, 1))
