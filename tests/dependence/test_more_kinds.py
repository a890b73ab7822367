"""Conditional and joint independence, two samples, and a hundred thousand samples."""

import itertools
from functools import partial

import numba
import numpy as np
import pytest
from permuted_orders import drawn_joint_orders, drawn_orders
from usage import threads

import alignlearn as al
from alignlearn.dependence.permutations import permuted_joint, shifted_products
from alignlearn.statistics import center_kernel, hsic
from alignlearn.validation import DoubtfulResultWarning


def grams_of(views):
    """Gaussians of ``gamma="scale"`` by their formula."""
    found = []
    for x in views:
        X = x.reshape(len(x), -1)
        squares = np.square(X[:, None] - X[None]).sum(axis=2)
        found.append(np.exp(-squares / (X.shape[1] * X.var())))
    return found


# Joint independence


def dhsic(grams):
    """Definition 2.6 of Pfister et al. (2018), by sums over samples."""
    m = len(grams[0])
    joint = sum(np.prod([K[i, j] for K in grams]) for i in range(m) for j in range(m)) / m**2
    single = np.prod([K.sum() / m**2 for K in grams])
    cross = sum(np.prod([K[i].sum() / m for K in grams]) for i in range(m)) / m
    return joint + single - 2.0 * cross


@pytest.mark.parametrize(("m", "d"), [(8, 3), (9, 2), (9, 4), (35, 3)])
def test_joint_statistic_and_null_follow_the_definition(m, d):
    rng = np.random.default_rng(0)
    views = [rng.normal(size=(m, 1 + k % 2)) for k in range(d)]
    found = al.dhsic_test(*views, n_permutations=6, random_state=3)
    grams = grams_of(views)
    assert found.statistic == pytest.approx(dhsic(grams), rel=1e-10)
    null = [
        dhsic([grams[0], *(K[np.ix_(o, o)] for K, o in zip(grams[1:], orders))])
        for orders in drawn_joint_orders(3, m, d, 6)
    ]
    np.testing.assert_allclose(found.null, null, rtol=1e-10)
    assert found.p_value == (1 + np.sum(found.null >= found.statistic)) / 7
    if d == 2:
        assert found.statistic == pytest.approx(hsic(*grams), rel=1e-10)


def test_all_pairs_of_orders_of_three_samples_are_equally_likely():
    """The null distribution is that of all 36 pairs of orders, ties with the observed one too."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(3, 3, 4))
    grams = A @ A.transpose(0, 2, 1)
    grams /= np.abs(grams).max(axis=(1, 2), keepdims=True)
    orders = [list(o) for o in itertools.permutations(range(3))]
    moved = [[K[np.ix_(o, o)] for o in orders] for K in grams[1:]]
    exact = np.sort([np.sum(grams[0] * L * M) for L, M in itertools.product(*moved)])
    sums, means, rounding = permuted_joint(grams, np.random.default_rng(1), 20_000)
    assert sums[0] == pytest.approx(np.sum(np.prod(grams, axis=0)))
    assert means[0] == pytest.approx(np.prod(grams.mean(axis=2), axis=0).mean())
    assert 0.0 < rounding < 1e-14
    at = np.searchsorted(exact, sums[1:] - 1e-9)
    np.testing.assert_allclose(exact[at], sums[1:], rtol=1e-9)
    counts = np.bincount(at, minlength=36)
    # Chi-square of 35 degrees of freedom: 77 is 5 standard deviations above its mean.
    assert np.sum((counts - 20_000 / 36) ** 2) / (20_000 / 36) < 77


@pytest.mark.parametrize(
    ("test", "views", "m", "draws"),
    [(al.dhsic_test, 3, 64, 200), (partial(al.hsic_test, kernels="linear"), 2, 40, 400)],
)
def test_p_values_of_independent_variables_are_uniform(test, views, m, draws):
    """Ten classes by a chi-square; four shifts of each set of orders."""
    rng = np.random.default_rng(0)
    counts = np.zeros(10)
    for _ in range(draws):
        p = test(*rng.standard_t(2, size=(views, m)), n_permutations=9, random_state=rng).p_value
        counts[round(10 * p) - 1] += 1
    # 27.9 is the 0.999 quantile of nine degrees of freedom.
    assert np.sum((counts - draws / 10) ** 2) / (draws / 10) < 27.9


def test_ties_of_discrete_variables_count_as_equal():
    """Sums in another order are rounded differently; p-values are those of integers."""
    m, n = 48, 19
    for seed in range(12):
        rng = np.random.default_rng(seed)
        views = rng.integers(2, size=(3, m))
        options = {"kernels": "linear", "n_permutations": n, "random_state": seed}
        found = al.dhsic_test(*(1.0 * v for v in views), **options)

        def exact(views):
            """m^6 dHSIC of linear kernels, in whole numbers."""
            joint, single = views.prod(axis=0).sum(), views.sum(axis=1).prod()
            return (m**2 * int(joint) - int(single)) ** 2

        null = [
            exact(np.array([views[0], *(v[o] for v, o in zip(views[1:], orders))]))
            for orders in drawn_joint_orders(seed, m, 3, n)
        ]
        assert found.p_value == (1 + np.sum(np.array(null) >= exact(views))) / (n + 1)


def test_a_joint_null_is_that_of_its_seed_for_any_number_of_threads():
    views = np.random.default_rng(5).normal(size=(3, 90))
    found = al.dhsic_test(*views, n_permutations=50, random_state=1)
    with threads(1 if numba.get_num_threads() > 1 else numba.config.NUMBA_NUM_THREADS):
        again = al.dhsic_test(*views, n_permutations=50, random_state=1)
    np.testing.assert_array_equal(again.null, found.null)
    assert again.statistic == found.statistic


# Two samples


@pytest.mark.parametrize("unbiased", [False, True])
def test_mmd_is_the_distance_of_means_and_its_u_statistic(unbiased):
    """Gretton et al. (2012), equations 3 and 5, by loops over pairs."""
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(5, 2)), 0.5 + rng.normal(size=(7, 2))
    found = al.mmd_test(X, Y, unbiased=unbiased, n_permutations=4, random_state=5)
    (K,) = grams_of([np.vstack([X, Y])])

    def mmd(order):
        def mean(rows, columns):
            pairs = [(i, j) for i in rows for j in columns if not (unbiased and i == j)]
            return sum(K[i, j] for i, j in pairs) / len(pairs)

        first, second = np.flatnonzero(order < 5), np.flatnonzero(order >= 5)
        return mean(first, first) + mean(second, second) - 2.0 * mean(first, second)

    assert found.statistic == pytest.approx(mmd(np.arange(12)), rel=1e-10)
    null = [mmd(o) for o in drawn_orders(5, 12, 4)]
    np.testing.assert_allclose(found.null, null, rtol=1e-9)
    assert found.n_samples == 12


def test_mmd_finds_another_spread_and_keeps_its_level():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=60), 2.5 * rng.normal(size=80)
    assert al.mmd_test(x, y, random_state=0).p_value < 0.01
    assert al.mmd_test(x, y, "linear", random_state=0).p_value > 0.05  # of means only
    draws = ((rng.poisson(1.0, 12), rng.poisson(1.0, 20)) for _ in range(100))
    p = np.array([al.mmd_test(*samples, n_permutations=19).p_value for samples in draws])
    assert 1 <= np.sum(p <= 0.1) <= 19
    words = al.mmd_test(list("aabab"), list("bbab"), al.FromFunction(lambda s, t: 1.0 * (s == t)))
    assert 0.0 < words.p_value <= 1.0
    assert words.statistic == pytest.approx(2.0 * (3 / 5 - 1 / 4) ** 2)


# Conditional independence


def _chain(rng, m, share=0.0):
    """X and Y through Z, and a share of X's own noise in Y."""
    z, e, f = rng.normal(size=(3, m))
    return np.tanh(z) + 0.5 * e, z**3 / 3.0 + 0.5 * (f + share * e), z


@pytest.mark.parametrize("method", ["signs", "gamma"])
def test_what_depends_through_z_only_is_told_from_what_does_not(method):
    rng = np.random.default_rng(4)
    x, y, z = _chain(rng, 120)
    assert al.hsic_test(x, y, n_permutations=99).p_value == 0.01
    options = {"method": method, "random_state": 0}
    assert al.kci_test(x, y, z, **options).p_value > 0.1
    found = al.kci_test(*_chain(rng, 120, 1.0), **options)
    assert found.p_value < 0.01
    assert (found.method, found.n_samples) == (method, 120)
    # A common cause of both that Z does not explain, in opposite directions over Z.
    z, e = rng.normal(size=(2, 120))
    turned = np.sign(z) * e + 0.5 * rng.normal(size=120)
    assert abs(np.corrcoef(e, turned)[0, 1]) < 0.2
    assert al.kci_test(e, turned, z, **options).p_value < 0.01


def test_conditional_statistic_from_its_definition():
    """One kernel for Z: the path's choice of alpha by refitting without each sample."""
    rng = np.random.default_rng(5)
    m = 24
    x, y, z = _chain(rng, m)
    kernel = al.Gaussian(0.5)
    found = al.kci_test(x, y, z, [al.Gaussian(1.0), al.Gaussian(1.0), kernel], random_state=0)
    Kz = kernel(z[:, None])
    alphas = np.logspace(-5.0, 0.5, 12) * np.trace(center_kernel(Kz))
    residuals = []
    for v in (x, y):
        K = center_kernel(al.Gaussian(1.0)(v[:, None]))
        values, vectors = np.linalg.eigh(K * m / np.trace(K))
        F = vectors * np.sqrt(np.maximum(values, 0.0))
        errors = [_left_out(Kz, F, alpha) for alpha in alphas]
        alpha = 0.1 * alphas[int(np.argmin(errors))]
        R = np.linalg.inv(np.eye(m) + center_kernel(Kz) / alpha) - 1.0 / m
        residuals.append(R @ F @ F.T @ R)
    H = residuals[0] * residuals[1] * (Kz + 1.0)
    # The features leave out 1e-4 of a kernel.
    assert found.statistic == pytest.approx(H.sum() / m**2, rel=5e-3)


def _left_out(K, F, alpha):
    total = 0.0
    for i in range(len(K)):
        rest = np.delete(np.arange(len(K)), i)
        mean, own = F[rest].mean(axis=0), K[np.ix_(rest, rest)]
        coef = np.linalg.solve(center_kernel(own) + alpha * np.eye(len(rest)), F[rest] - mean)
        coef -= coef.mean(axis=0)
        fit = (K[i, rest] - own.mean(axis=0)) @ coef + mean
        total += np.square(F[i] - fit).sum()
    return total


def test_conditional_level():
    """A small design; the benchmark has 1000 runs of many designs."""
    rng = np.random.default_rng(6)
    p = [al.kci_test(*_chain(rng, 30), n_draws=49, random_state=rng).p_value for _ in range(60)]
    assert 3 <= np.sum(np.array(p) <= 0.2) <= 22  # 12 expected, three deviations


def test_units_and_offsets_of_z_change_nothing():
    rng = np.random.default_rng(7)
    x, y, z = _chain(rng, 40)
    Z = np.column_stack([z, rng.normal(size=40), np.ones(40)])
    plain = al.kci_test(x, y, Z, random_state=1)
    moved = al.kci_test(1e3 * x, y - 7.0, Z * [1e-6, 1e5, 3.0] + 2.0, random_state=1)
    assert moved.p_value == plain.p_value
    assert moved.statistic == pytest.approx(plain.statistic, rel=1e-6)
    assert al.kci_test(x, y, z, "rbf", random_state=1).p_value > 0.05
    K = al.Gaussian(1.0)(z[:, None])
    given = al.kci_test(x, y, K, [None, None, "precomputed"], random_state=1)
    own = al.kci_test(x, y, z, [None, None, al.Gaussian(1.0)], random_state=1)
    assert given.statistic == pytest.approx(own.statistic, rel=1e-9)
    with pytest.warns(DoubtfulResultWarning, match="Z explains all but a share of .* of X"):
        al.kci_test(3.0 * z, y, z)


@pytest.mark.parametrize("kernels", [None, "precomputed"])
def test_single_precision_has_the_p_value_of_double_precision(kernels):
    # Values that repeat, as after a rectifier: low-rank matrices with errors of float32.
    rng = np.random.default_rng(6)
    for _ in range(6):
        views = [*np.maximum(rng.normal(size=(2, 200)), 0.0), rng.normal(size=200)]
        if kernels is not None:
            views = [al.Gaussian(0.5)(view[:, None]) for view in views]
        double = al.kci_test(*views, kernels, random_state=0)
        single = al.kci_test(*[v.astype(np.float32) for v in views], kernels, random_state=0)
        assert single.p_value == pytest.approx(double.p_value, abs=0.01)
        assert single.statistic == pytest.approx(double.statistic, rel=1e-2)


# Many samples


@pytest.mark.parametrize("entries", [2**22, 4])
def test_shifts_of_blocks_are_permutations_of_the_features(entries, monkeypatch):
    monkeypatch.setattr("alignlearn.dependence.permutations._ENTRIES", entries)
    rng = np.random.default_rng(9)
    F, G = rng.normal(size=(23, 3)), rng.normal(size=(23, 2))
    table = np.arange(20).reshape(5, 4)
    for n in (5, 1):
        found = shifted_products(F, G, n)
        assert found.shape == (n,)
        assert found[0] == pytest.approx(np.square(F.T @ G).sum())
    found = shifted_products(F, G, 5)
    for k in range(5):
        order = np.concatenate([np.roll(table, -k, axis=0).ravel(), [20, 21, 22]])
        assert found[k] == pytest.approx(np.square(F.T @ G[order]).sum(), rel=1e-10)


def test_low_rank_statistic_is_hsic_where_all_samples_are_centers():
    rng = np.random.default_rng(10)
    x = rng.normal(size=60)
    y = 0.5 * x + rng.normal(size=60)
    options = {"n_permutations": 5, "random_state": 0}
    found = al.hsic_test(x, y, method="low-rank", n_centers=60, **options)
    assert found.method == "low-rank"
    assert found.statistic == pytest.approx(al.hsic_test(x, y, **options).statistic, rel=1e-4)
    line = al.hsic_test(x, y, "linear", method="low-rank", n_centers=3, **options)
    exact = al.hsic_test(x, y, "linear", **options)
    assert line.statistic == pytest.approx(exact.statistic, rel=1e-9)


def test_twenty_thousand_samples_by_default_and_levels_with_ties():
    rng = np.random.default_rng(11)
    x = rng.standard_cauchy(20_000)
    y = 0.1 * np.tanh(x) + rng.normal(size=20_000)
    found = al.hsic_test(np.tanh(x), y, n_permutations=99, random_state=0)
    assert (found.method, found.p_value) == ("low-rank", 0.01)
    assert found.null.shape == (99,)
    p = []
    for _ in range(200):
        a, b = rng.poisson(0.3, 200), rng.standard_cauchy(200)
        options = {"n_permutations": 19, "n_centers": 8, "random_state": rng}
        p.append(al.hsic_test(a, b, method="low-rank", **options).p_value)
    assert 8 <= np.sum(np.array(p) <= 0.1) <= 33
