"""Kernel SGD against a plain loop over an explicit expansion, and the effect of truncation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from strategies import generators

import alignlearn as al
from alignlearn.online import KernelSGDClassifier, KernelSGDRegressor

SLOPES = {
    "hinge": lambda f, y: -y * (y * f < 1.0),
    "logistic": lambda f, y: -y / (1.0 + np.exp(y * f)),
    "squared": lambda f, y: f - y,
    "epsilon-insensitive": lambda f, y: np.sign(f - y) * (abs(f - y) > 0.1),
}


def plain_loop(K, y, loss, alpha, lengths, order, intercept=True, budget=None):
    """Kivinen, Smola and Williamson's update, every coefficient multiplied at every step."""
    coef, b, used, dropped = np.zeros(len(y)), 0.0, {}, 0.0
    for t, i in enumerate(order):
        eta = lengths(t)
        slope = SLOPES[loss](K[i] @ coef + b, y[i])
        coef *= 1.0 - eta * alpha
        dropped *= 1.0 - eta * alpha
        if slope != 0.0:
            coef[i] -= eta * slope
            b -= intercept * eta * slope
            used[i] = t
            if budget is not None and len(used) > budget:
                oldest = min(used, key=used.get)
                dropped += abs(coef[oldest]) * np.sqrt(K[oldest, oldest])
                coef[oldest] = 0.0
                del used[oldest]
    return coef, b, dropped


def estimator(loss, **options):
    kind = KernelSGDClassifier if loss in ("hinge", "logistic") else KernelSGDRegressor
    return kind(loss=loss, **options)


def spread(machine, m):
    coef = np.zeros(m)
    coef[machine.support_] = machine.dual_coef_[:, 0]
    return coef


LENGTHS = {
    "optimal": lambda eta0, alpha: lambda t: eta0 / (1.0 + alpha * eta0 * t),
    "invscaling": lambda eta0, alpha: lambda t: eta0 / np.sqrt(1.0 + t),
    "constant": lambda eta0, alpha: lambda t: eta0,
}


@given(
    generators(),
    st.sampled_from(sorted(SLOPES)),
    st.sampled_from(sorted(LENGTHS)),
    st.sampled_from([1e-3, 0.3, 1.9]),
    st.sampled_from([None, 1, 5]),
    st.booleans(),
)
def test_equals_the_plain_loop(rng, loss, schedule, alpha, budget, intercept):
    m = int(rng.choice([2, 30, 300]))
    X = rng.normal(size=(m, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=m) > 0.0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    kernel, eta0 = 2.0 * al.Gaussian(0.5), 0.5  # of norm sqrt(2), not 1
    options = {"kernel": kernel, "alpha": alpha, "eta0": eta0, "learning_rate": schedule}
    options |= {"budget": budget, "n_passes": 2, "fit_intercept": intercept, "shuffle": False}
    machine = estimator(loss, **options).fit(X, y)
    lengths = LENGTHS[schedule](eta0, alpha)
    order = np.tile(np.arange(m), 2)
    coef, b, dropped = plain_loop(kernel(X), y, loss, alpha, lengths, order, intercept, budget)
    np.testing.assert_allclose(spread(machine, m), coef, rtol=1e-7, atol=1e-9)
    assert machine.intercept_[0] == pytest.approx(b, rel=1e-7, abs=1e-9)
    assert machine.truncation_error_[0] == pytest.approx(dropped, rel=1e-7, abs=1e-12)
    assert len(machine.support_) <= (m if budget is None else budget)
    assert machine.n_steps_ == 2 * m
    values = kernel(X) @ coef + b
    found = machine.decision_function(X) if loss in ("hinge", "logistic") else machine.predict(X)
    np.testing.assert_allclose(found, values, rtol=1e-6, atol=1e-8)


def test_the_scale_is_renewed_before_it_underflows():
    """A factor of 0.1 per step is 1e-100 after a hundred steps: coefficients stay accurate."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(700, 1)), rng.normal(size=700)
    kernel = al.Gaussian(1.0)
    options = {"alpha": 0.9, "eta0": 1.0, "learning_rate": "constant", "shuffle": False}
    machine = KernelSGDRegressor(kernel, n_passes=1, fit_intercept=False, **options).fit(X, y)
    coef, _, _ = plain_loop(kernel(X), y, "squared", 0.9, lambda t: 1.0, range(700), False)
    np.testing.assert_allclose(spread(machine, 700)[-50:], coef[-50:], rtol=1e-9)


def test_pieces_of_a_stream_are_the_stream():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = np.argmax(X + 0.3 * rng.normal(size=(300, 3)), axis=1)
    for budget in (None, 40):
        options = {"budget": budget, "eta0": 0.4, "shuffle": False, "n_passes": 1}
        whole = KernelSGDClassifier(al.Gaussian(0.3), **options).fit(X, y)
        parts = KernelSGDClassifier(al.Gaussian(0.3), **options)
        for rows in np.split(np.arange(300), [1, 2, 130, 131]):
            parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        np.testing.assert_array_equal(parts.support_, whole.support_)
        np.testing.assert_allclose(parts.dual_coef_, whole.dual_coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(parts.truncation_error_, whole.truncation_error_, rtol=1e-9)
        np.testing.assert_allclose(
            parts.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-12
        )
        assert parts.n_steps_ == whole.n_steps_ == 300


def test_one_against_the_rest_is_a_problem_for_each_class():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 3))
    y = np.array(["a", "b", "c"])[np.argmax(X, axis=1)]
    options = {"n_passes": 2, "random_state": 5}
    together = KernelSGDClassifier(**options).fit(X, y)
    for j, label in enumerate("abc"):
        alone = KernelSGDClassifier(**options).fit(X, y == label)
        np.testing.assert_allclose(
            together.decision_function(X)[:, j], alone.decision_function(X), atol=1e-10
        )
    assert together.score(X, y) > 0.9
    columns = np.column_stack([X[:, 0], X[:, 1] ** 2])
    together = KernelSGDRegressor(**options).fit(X, columns)
    alone = KernelSGDRegressor(**options).fit(X, columns[:, 1])
    np.testing.assert_allclose(together.predict(X)[:, 1], alone.predict(X), atol=1e-10)


@pytest.mark.parametrize("learning_rate", ["optimal", "constant"])
def test_truncation_stays_within_its_bound(learning_rate):
    """With the squared loss every sample enters the expansion; without a budget f is f_all."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 1))
    kernel, alpha = al.Gaussian(1.0), 0.5
    # Targets out of reach make all slopes -1, for any f: both have the same coefficients.
    y = np.full(200, 100.0)
    options = {"loss": "epsilon-insensitive", "alpha": alpha, "eta0": 1.0, "n_passes": 1}
    options |= {"learning_rate": learning_rate, "shuffle": False, "fit_intercept": False}
    whole = KernelSGDRegressor(kernel, **options).fit(X, y)
    Z = rng.normal(size=(50, 1))
    for budget in (1, 5, 20):
        part = KernelSGDRegressor(kernel, budget=budget, **options).fit(X, y)
        assert len(part.support_) == budget
        difference = np.abs(part.predict(Z) - whole.predict(Z))
        assert np.all(difference <= part.truncation_error_[0] + 1e-12)
        # Close to it: all dropped kernels have one sign.
        assert difference.max() >= 0.3 * part.truncation_error_[0]
        if learning_rate == "constant":
            # Kivinen et al., proposition 1: at most C sqrt(k) (1 - eta lambda)^budget / lambda.
            assert part.truncation_error_[0] <= (1.0 - alpha) ** budget / alpha


def test_steps_keep_their_length_where_samples_are_dropped():
    """Shrinking steps cannot rebuild the dropped part: f would vanish."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(2000, 2))
    y = X[:, 0] * X[:, 1] > 0.0

    def largest(budget=10, **options):
        options |= {"alpha": 0.01, "budget": budget, "fit_intercept": False}
        machine = KernelSGDClassifier(al.Gaussian(1.0), **options).fit(X, y)
        return np.abs(machine.decision_function(X)).max()

    assert largest() == largest(learning_rate="constant") > 0.5
    # Ten coefficients of 1 / (alpha t) each, for t near 10,000.
    assert largest(learning_rate="optimal") < 0.11
    assert largest(None) == largest(None, learning_rate="optimal") > 0.5


def test_sparse_and_single_precision_samples_are_those_of_the_dense():
    rng = np.random.default_rng(4)
    X = np.maximum(rng.normal(size=(120, 4)), 0.0)
    y = X[:, 0] > X[:, 1]
    learned = al.MKLClassifier([al.Gaussian(1.0), "linear", "poly"]).fit(X, y)
    options = {"n_passes": 20, "alpha": 1e-2, "shuffle": False}

    def decisions(make):
        whole = KernelSGDClassifier(learned.kernel_, **options).fit(make(X), y)
        parts = KernelSGDClassifier(learned.kernel_, **options)
        for rows in (slice(60), slice(60, None)):
            parts.partial_fit(make(X[rows]), y[rows], classes=[False, True])
        return [model.decision_function(make(X)) for model in (whole, parts)]

    expected = decisions(np.asarray)
    for make, error in ((csr_array, 1e-6), (np.float32, 1e-3)):
        np.testing.assert_allclose(decisions(make), expected, atol=error)


def test_a_smaller_budget_holds_from_the_next_step_on():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    machine = KernelSGDRegressor(al.Gaussian(0.5), budget=30).fit(X[:50], X[:50, 0])
    assert len(machine.support_) == 30
    machine.set_params(budget=7).partial_fit(X[50:51], X[50:51, 0])
    assert len(machine.support_) == 7
    assert machine.support_[-1] == 50


@pytest.mark.parametrize(("intercept", "inverse"), [(True, 26.5), (False, 25.5)])
def test_the_default_length_of_the_first_step(intercept, inverse):
    """1 / (max k(x, x) + alpha), plus 1 in the denominator with an intercept: 9 + 16 + 0.5."""
    machine = KernelSGDRegressor("linear", alpha=0.5, fit_intercept=intercept)
    machine.fit([[3.0, 4.0], [1.0, 0.0]], [1.0, 2.0])
    assert machine.eta0_ == pytest.approx(1.0 / inverse, rel=1e-9)

    # 1 / (0 + alpha) is the limit for eta0, which must be below 1 / alpha.
    machine = KernelSGDRegressor("linear", alpha=0.5, fit_intercept=False)
    machine.fit(np.zeros((3, 2)), [1.0, 2.0, 3.0])
    assert machine.eta0_ < 2.0
    assert machine.eta0_ == pytest.approx(2.0, rel=1e-9)
    np.testing.assert_array_equal(machine.predict([[3.0, 4.0]]), [0.0])


def test_objects_of_a_stream_come_in_lists_and_arrays():
    """A list of tuples, then an array of one: the steps are those of the plain loop."""
    samples, y = [("a", "b"), ("b",), ("a", "c", "d")], np.array([1.0, 2.0, 4.0])
    array = np.empty(1, dtype=object)
    array[0] = samples[2]
    kernel = al.FromFunction(lambda s, t: len(set(s) & set(t)) / 3)
    parts = KernelSGDRegressor(kernel, eta0=0.5, alpha=0.1, fit_intercept=False)
    for part, own in ((samples[:2], y[:2]), (array, y[2:])):
        parts.partial_fit(part, own)
    lengths = LENGTHS["optimal"](0.5, 0.1)
    coef, _, _ = plain_loop(kernel(samples), y, "squared", 0.1, lengths, range(3), False)
    np.testing.assert_allclose(parts.dual_coef_[:, 0], coef, rtol=1e-12)


def test_steps_stay_stable_where_later_samples_are_longer():
    """The first sample of a stream is not representative of k(x, x)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[0] *= 1e-3
    y = X @ [1.0, -2.0, 0.5]
    machine = KernelSGDRegressor("linear", alpha=1e-6)
    for i in range(300):
        machine.partial_fit(X[i : i + 1], y[i : i + 1])
    assert machine.score(X, y) > 0.9
    assert machine.eta0_ <= 1.0 / np.square(X).sum(axis=1).max()
