"""The model that an estimator chooses by size, and how it reports the choice."""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from refusals import not_refused, raises

import alignlearn as al
from alignlearn.engine import grams
from alignlearn.estimators import _machines
from alignlearn.machines import choice, nystrom_machines

KERNELS = [al.Gaussian(0.1), al.Gaussian(0.5)]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(300)


@pytest.mark.parametrize(("make", "paired"), [(al.MKLClassifier, "svm"), (al.MKLRegressor, "krr")])
def test_auto_is_the_exact_machine_for_few_samples(data, make, paired):
    X, y = data
    y = y > 0 if paired == "svm" else y
    small, large = make(KERNELS).fit(X, y), make(KERNELS, machine="nystrom").fit(X, y)
    assert (small.chosen_machine_, large.chosen_machine_) == (paired, "nystrom")
    assert f"({paired}) on all pairs of samples" in small.summary()
    note = f"model: Nystrom approximation with {len(large.support_)} samples as centers"
    assert note in large.summary()
    np.testing.assert_array_equal(large.weights_, small.weights_)


def test_auto_on_many_samples_is_exact_where_that_is_affordable(monkeypatch):
    """As `machines.choice.choose` decides; ``tests/machines/test_choice.py`` covers its domain."""
    monkeypatch.setattr(choice, "MOST_PAIRED", 2000)  # 20,001 samples take seconds
    m = 2001
    X = np.random.default_rng(0).standard_normal((m, 2))
    options = {"weighting": "uniform", "n_centers": 20, "memory": "2MB"}
    ridge = al.MKLRegressor([al.Gaussian(0.5)], **options).fit(X, X[:, 0])
    assert ridge.chosen_machine_ == "nystrom"
    apart = al.MKLClassifier([al.Gaussian(0.5)], **options)
    far = X + 20.0 * (X[:, :1] > 0.0)
    assert apart.fit(far, X[:, 0] > 0.0).chosen_machine_ == "svm"
    # Random labels make every sample a support vector, whose rows do not fit into memory.
    noise = np.random.default_rng(1).random(m) > 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", al.DoubtfulResultWarning)
        assert apart.fit(X, noise).chosen_machine_ == "nystrom"


GIVEN = {
    "linear": (["linear", al.Columns("linear", [0])], lambda X, Z: X),
    "given": ("precomputed", lambda X, Z: [k(X, Z) for k in KERNELS]),
    "stack": ("precomputed", lambda X, Z: al.GramStack({str(k): k(X, Z) for k in KERNELS})),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_nystrom_on_all_samples_is_the_machine_on_the_matrix(data, kind):
    X, y = data
    (kernels, of), train = GIVEN[kind], X[:200]
    samples, new = of(train, train), of(X[200:], train)
    weight = np.random.default_rng(2).uniform(0.0, 2.0, 200) + (np.arange(200) % 9 > 0)
    exact = al.MKLRegressor(kernels, alpha=0.5).fit(samples, y[:200], weight).predict(new)
    for memory in (None, 2_000_000):
        few = {"machine": "nystrom", "max_iter": 500, "memory": memory}
        found = al.MKLRegressor(kernels, alpha=0.5, **few).fit(samples, y[:200], weight)
        np.testing.assert_allclose(found.predict(new), exact, atol=1e-5)
    found, exact = (
        al.MKLClassifier(kernels, machine=machine).fit(samples, y[:200] > 0).decision_function(new)
        for machine in ("nystrom", "auto")
    )
    np.testing.assert_allclose(found, exact, atol=0.1)  # "nystrom" has a gap of 1%


def test_few_columns_of_given_matrices_are_those_of_the_kernels(data):
    X, y = data
    train, new, options = X[:200], X[200:], {"machine": "nystrom", "n_centers": 30}
    grams, rows = ([k(A, train) for k in KERNELS] for A in (train, new))
    for cls, target in ((al.MKLRegressor, y), (al.MKLClassifier, np.digitize(y, [-1.0, 1.0]))):
        of_kernels = cls(KERNELS, **options).fit(train, target[:200])
        given = cls("precomputed", **options).fit(grams, target[:200])
        np.testing.assert_array_equal(given.support_, of_kernels.support_)
        said = given._decisions(rows), of_kernels._decisions(new)
        np.testing.assert_allclose(*said, rtol=1e-6, atol=1e-6)
    assert of_kernels.dual_coef_.shape == (30, 3)
    K = of_kernels.kernel_(new, train[of_kernels.support_])
    values = of_kernels.machine_.confidences(K @ of_kernels.dual_coef_ + of_kernels.intercept_)
    np.testing.assert_allclose(of_kernels.decision_function(new), values, atol=1e-9)
    indefinite = grams[0] - 2.0 * np.eye(200)
    ridge = al.MKLRegressor("precomputed", normalize=None, **options)
    words = "the combination at the centers is not positive semi"
    raises(ValueError, words, ridge.fit, [indefinite], y[:200])
    marked = al.Precomputed(indefinite, is_psd=False)
    raises(ValueError, "is indefinite, so it has no feature map", ridge.fit, [marked], y[:200])
    fixed = al.MKLRegressor("precomputed", **options)
    fixed.fit([al.Precomputed(indefinite, fix="shift")], y[:200])
    assert fixed.score([rows[0]], y[200:]) > 0.5


def test_bad_input(data):
    X, y = data
    few = {"machine": "nystrom"}
    of_classes, of_reals = partial(al.MKLClassifier, KERNELS), partial(al.MKLRegressor, KERNELS)
    fitted, up = of_classes(**few).fit(X, y > 0), y > 0
    cases = (
        (of_classes(machine="svr").fit, up, "machine='svr' is not known; accepted: 'auto', 'svm'"),
        (of_classes(machine="linear").fit, up, "'auto', 'svm', 'krr', 'dual-cd', 'nystrom'"),
        (of_reals(machine="svm").fit, y, "machine='svm' is not known; accepted: 'auto', 'krr'"),
        (of_reals(**few, alpha=0.0).fit, y, r"alpha=0\.0 is out of range"),
        (of_reals(**few, n_centers=301).fit, y, "n_centers=301 is more than"),
        (of_classes(**few, C=np.inf).fit, up, "C=inf is out of range"),
        (fitted.bound, up, "bound is available only for machine='svm' or for held-out samples"),
    )
    assert not_refused((words, partial(call, X, t), words) for call, t, words in cases) == []
    short = of_classes(**few, max_iter=1)
    with pytest.warns(al.ConvergenceWarning, match="raise max_iter"):
        short.fit(X[:60], y[:60] > 0.0)


@pytest.mark.parametrize("kind", [al.MKLClassifier, al.MKLRegressor])
def test_the_samples_that_nystrom_draws_follow_the_random_state(data, kind):
    model = kind(KERNELS, machine="nystrom", n_centers=20)
    y = data[1] > 0 if kind is al.MKLClassifier else data[1]
    drawn = [
        model.set_params(random_state=seed).fit(data[0], y).support_.tolist()
        for seed in (1, 1, 2, None, 0)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[3] == drawn[4]


class Fixed:
    """A rule with the weights it is given."""

    def __init__(self, weights):
        self.weights = weights

    def solve(self, statistics):
        return replace(al.Uniform().solve(statistics), weights=np.array(self.weights))


@pytest.mark.parametrize(("second", "accepted"), [(-0.5, True), (-2.0, False)])
def test_weights_of_features_decide_whether_dual_coordinate_descent_applies(data, second, accepted):
    X, y = data
    kernels = [al.Linear(), al.Columns(al.Linear(), [0])]  # the first feature has both weights
    options = {"machine": "dual-cd", "normalize": None}
    model = al.MKLClassifier(kernels, weighting=Fixed([1.0, second]), **options)
    if accepted:
        assert model.fit(X, y > 0).kernel_.weights[0] == 0.5
    else:
        with pytest.raises(ValueError, match="with weights >= 0"):
            model.fit(X, y > 0)


def test_kernel_values_with_few_centers_are_computed_once_where_they_fit(monkeypatch):
    X = np.random.default_rng(0).normal(size=(8001, 3))
    y, passes = np.sin(X[:, 0]) + X[:, 1], []
    products = grams.GramProducts.normal_times

    def counted(self, *args, **options):
        passes.append(self.shape)
        return products(self, *args, **options)

    def fitted(m, memory=None):
        passes.clear()
        options = {"machine": "nystrom", "n_centers": 20, "weighting": "uniform", "alpha": 0.1}
        model = al.MKLRegressor([al.Laplacian(0.3)], **options, memory=memory)
        return model.fit(X[:m], y[:m]).predict(X[:50])

    monkeypatch.setattr(grams.GramProducts, "normal_times", counted)
    held = fitted(300, 8 * 300 * 20)
    assert not passes
    again = fitted(300, 8 * 300 * 20 - 1)
    assert passes
    np.testing.assert_allclose(held, again, rtol=1e-8)
    fitted(8000)
    assert not passes
    fitted(8001)
    assert passes


@pytest.mark.parametrize("memory", [None, "1GB"])
def test_by_default_few_features_of_centers_are_stored(monkeypatch, memory):
    """With a ``memory`` all are, if they fit; the model is the same to the solver's tolerance."""
    stored = []

    class Stored(nystrom_machines.StoredFeatures):
        def __init__(self, features, dtype):
            stored.append(features.n_samples)
            super().__init__(features, dtype)

    monkeypatch.setattr(_machines, "_STORED", 2e6)
    monkeypatch.setattr(_machines, "_LEAST_STORED", 4e4)
    monkeypatch.setattr(nystrom_machines, "_CHEAP", 0.0)
    monkeypatch.setattr(nystrom_machines, "StoredFeatures", Stored)
    X = np.random.default_rng(0).normal(size=(12_000, 3))
    y = np.square(X).sum(axis=1) > 2.4
    model = al.MKLClassifier(al.Gaussian(0.3), machine="nystrom", n_centers=60, memory=memory)
    assert model.fit(X, y).score(X, y) > 0.97
    assert stored == ([] if memory is None else [12_000])
