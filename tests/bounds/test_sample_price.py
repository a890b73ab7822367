"""The price of weights from a sample: the parts by hand, and refusals.

The claim p1-sample-price checks the coverage.
"""

import itertools

import numpy as np
import pytest
from alignlearn.theory.bounds.u_statistics import quadruple_kernel
from refusals import raises

from alignlearn.bounds import sample_price
from alignlearn.bounds.checks import HypothesisNotMet
from alignlearn.bounds.held_out import empirical_bernstein_upper
from alignlearn.bounds.sample_price import quadratic_weights

P = 10


def columns(m, seed):
    """Ten binary columns with a kernel each, of which three matter."""
    X = np.random.default_rng(seed).choice([-1.0, 1.0], (m, P))
    return X, np.where(X[:, :3] @ [1.0, 0.7, 0.5] > 0, 1.0, -1.0)


def values_of(X, y):
    """1 where a column is equal and e^-2 where it is not; the labels' products."""
    return lambda i, j: np.vstack([np.exp(-0.5 * (X[i] - X[j]) ** 2).T, (y[i] * y[j])[None]])


WIDTHS = np.append(np.full(P, 1.0 - np.exp(-2.0)), 2.0)


def test_pair_sums_are_those_of_the_kernel_of_the_statistic():
    X, y = columns(40, 0)
    values = values_of(X, y)
    grams = values(*np.indices((40, 40)).reshape(2, -1)).reshape(P + 1, 40, 40)
    rows = np.random.default_rng(1).permutation(40).reshape(10, 4)
    sums = sample_price.pair_sums(values, rows)
    assert sums.shape == (10, 3, P + 1)
    blocks = [K[rows[:, :, None], rows[:, None, :]] for K in grams]
    for k, j in itertools.product(range(P + 1), repeat=2):
        h = (sums[:, :, k] * sums[:, :, j]).sum(axis=1) / 4
        np.testing.assert_allclose(h, quadruple_kernel(blocks[k], blocks[j]), atol=1e-12)


def parts(seed=0, sizes=(60, 400), p=2):
    """Pair sums of two kernels and a target that is nearly their sum."""
    rng = np.random.default_rng(seed)
    found = []
    for n in sizes:
        X = rng.random((n, 4, p))
        t = X.sum(axis=2) + 0.3 * rng.random((n, 4))
        F = np.concatenate([X, t[..., None] / (p + 0.3)], axis=2)
        K = np.einsum("nik,njk->nkij", F, F)
        s = [K[..., 0, 1] + K[..., 2, 3], K[..., 0, 2] + K[..., 1, 3], K[..., 0, 3] + K[..., 1, 2]]
        s = np.stack(s, axis=1)
        found.append(s - s.mean(axis=1, keepdims=True))
    return found


UNITS = np.array([1.3, 0.7, 1.6])


@pytest.mark.parametrize(
    ("eps", "n", "near", "unit", "order"),
    [
        (0.0, 40_000, False, 1.0, [0, 1, 2]),
        (0.05, 40_000, True, UNITS, [0, 1, 2]),
        (0.02, 40_000, True, UNITS[::-1], [1, 0, 2]),
        (0.0, 8, False, UNITS, [0, 1, 2]),
    ],
)
def test_the_bound_by_hand(eps, n, near, unit, order):
    """By inverses in place of roots, quadruple by quadruple."""
    first, second = (unit * part[..., order] for part in parts(sizes=(500, n)))
    v, w, delta = np.array([0.3, 0.8]), unit * np.ones(3), 0.1
    if near:  # v has a small gradient, so that the bound is below 1
        M = np.einsum("njk,njl->kl", second, second) / (4 * n)
        v = quadratic_weights(M[:2, :2], M[:2, 2]) * [1.02, 0.99]
    H1, H2 = (np.mean([s.T @ s / 4 for s in part], axis=0) for part in (first, second))
    M1, M2, a2 = H1[:2, :2], H2[:2, :2], H2[:2, 2]
    D = np.diag(np.diag(M1))
    W = M1 + eps * D
    inverse = np.linalg.inv(W)
    v1 = quadratic_weights(M1, H1[:2, 2])
    top = w[:2] @ np.abs(inverse) @ w[:2], w[:2] @ w[:2] / np.linalg.eigvalsh(W)[0]
    top = 2 / 3 * min(top)
    each = second.swapaxes(1, 2) @ second / 4
    xi = each[:, :2, :2] @ v1 - each[:, :2, 2]
    E = (each[:, :2, :2] - M1) @ inverse
    xi2, far2 = np.einsum("ni,ij,nj->n", xi, inverse, xi), np.trace(E @ E, axis1=1, axis2=2)
    n, level = len(second), np.log(12 / delta)

    def deviation(second_moment, largest):
        t = largest * level / (3 * n)
        return t + np.sqrt(t * t + 2 * second_moment * level / n)

    largest = np.sqrt(2 / 3 * top) * (w[:2] @ v1 + w[2])
    moment = min(empirical_bernstein_upper(np.array(xi2), largest**2, delta / 6), largest**2)
    x = deviation(moment, largest + min(largest, np.sqrt(moment)))
    whole = np.trace(M1 @ inverse @ M1 @ inverse)
    of_M = empirical_bernstein_upper(np.array(far2), top**2 + whole, delta / 6)
    eta = deviation(of_M, np.sqrt(top**2 + min(np.sqrt(whole) + np.sqrt(of_M), top) ** 2))

    def ends(k, share):
        most = 2 / 3 * w[k] ** 2
        values = np.clip((second[:, :, k] ** 2).sum(axis=1) / 4, 0, most)
        low = most - empirical_bernstein_upper(most - values, most, share)
        return low, empirical_bernstein_upper(values, most, share)

    share = min(ends(k, delta / 12)[0] / D[k, k] for k in range(2))
    low, high = ends(2, delta / 12)
    r, d = M2 @ v - a2, v - v1
    r = np.sqrt(r @ inverse @ r)  # no weight is 0
    root = np.linalg.cholesky(inverse)
    least = np.linalg.eigvalsh(root.T @ (M2 + eps * D) @ root)[0] - eta
    X = x + eta * np.sqrt(d @ W @ d) + r
    found = sample_price.price_from_sums(first, second, v, w, delta, eps)
    assert found.gradient == pytest.approx(x)
    assert found.matrix == pytest.approx(eta)
    assert found.residual == pytest.approx(r)
    assert found.least == pytest.approx(least)
    if n < 1000:  # the second moment is bounded by the range alone
        assert found.value == 1.0
        assert moment == pytest.approx(largest**2)
        return
    far = np.sqrt(v @ D @ v) + np.sqrt(high / share)
    expected = (X**2 / least + (eps * far**2 if eps else 0.0)) / low
    assert expected > 0
    assert (expected < 0.9) == near
    assert found.value == pytest.approx(min(expected, 1.0))
    best = quadratic_weights(M2, a2)
    assert sample_price.price_from_sums(first, second, best, w, delta, eps).value < 1.0


def test_targets_that_may_be_constant_have_no_bound():
    """If the lower bound of V is not positive there is no bound, and no negative price."""
    first, second = parts(sizes=(500, 20_000))
    M = np.einsum("njk,njl->kl", second, second) / (4 * len(second))
    v = quadratic_weights(M[:2, :2], M[:2, 2])
    found = sample_price.price_from_sums(first, second, v, [1.0, 1.0, 100.0], 0.1, 0.05)
    assert found.least > 0
    assert found.value == 1.0


def test_weights_of_zero_need_no_vanishing_gradient():
    """r has no positive entries where a weight is 0, and negative ones stay."""
    first, second = parts()
    w = np.ones(3)
    means = np.array([[1.0, 0.0, -1.0], [0.0, 1.0, 1.0], [-1.0, 1.0, 4.0]])
    good = sample_price.price_from_sums(first, second, [0.0, 1.0], w, 0.1, 0.1, means)
    assert good.residual == 0.0
    bad = sample_price.price_from_sums(first, second, [0.0, 0.0], w, 0.1, 0.1, means)
    H1 = np.einsum("njk,njl->kl", first, first) / (4 * len(first))
    W = H1[:2, :2] + 0.1 * np.diag(np.diag(H1)[:2])
    assert bad.residual == pytest.approx(np.sqrt(np.linalg.inv(W)[1, 1]))


def test_the_parts_of_a_sample_are_those_that_are_documented():
    """15% in the first part, in whole quadruples, and means over the orders of the second."""
    X, y = columns(4003, 3)
    of_pairs, weights = values_of(X, y), np.linspace(0.1, 1.0, P)
    rng = np.random.default_rng(5)
    order = rng.permutation(4003)
    first = sample_price.pair_sums(of_pairs, order[:600].reshape(150, 4))
    rest = order[600:]
    again = [rng.permutation(rest)[:3400].reshape(-1, 4) for _ in range(2)]
    second = sample_price.pair_sums(of_pairs, rest[:3400].reshape(-1, 4))
    parts = [second, *(sample_price.pair_sums(of_pairs, rows) for rows in again)]
    means = np.mean([np.einsum("njk,njl->kl", s, s) / (4 * len(s)) for s in parts], axis=0)
    eps = sample_price.choose_eps(first, 850, WIDTHS, 0.2)
    expected = sample_price.price_from_sums(first, second, weights, WIDTHS, 0.2, eps, means)
    given = {"widths": WIDTHS, "orders": 3, "random_state": 5}
    found = sample_price.price_of_sample(of_pairs, 4003, weights, 0.2, **given)
    assert found == pytest.approx(expected)
    assert found.value == 1.0 or found.least > 0
    # The widths of labels +-1 and of kernels in [0, 1] by default.
    plain = sample_price.price_of_sample(of_pairs, 4003, weights, 0.2, random_state=5)
    wide = {"widths": np.append(np.ones(P), 2.0), "share": 0.15, "orders": 10, "random_state": 5}
    assert plain == sample_price.price_of_sample(of_pairs, 4003, weights, 0.2, **wide)


def test_each_part_has_two_quadruples_at_least():
    """Of 16 samples each part has 8, so 15 samples are rejected."""
    X = np.random.default_rng(4).normal(size=(40, 3))

    def two(i, j):
        return np.exp(-((X[i] - X[j]) ** 2)).T

    for m in (16, 17, 31):
        found = sample_price.price_of_sample(two, m, [1.0, 1.0], 0.1)
        assert found.value == 1.0
        assert np.isfinite(found).all()
    for share in (0.01, 0.9, 0.99):
        assert sample_price.price_of_sample(two, 40, [1.0, 1.0], 0.1, share=share).value == 1.0
    raises(ValueError, r"\bm\b", sample_price.price_of_sample, two, 15, [1.0, 1.0], 0.1)


@pytest.mark.parametrize(
    ("twins", "n"), [(False, 400), (False, 40_000), (True, 40_000), (False, 30)]
)
def test_eps_is_that_of_the_least_forecast(twins, n):
    """On copies of the first part, by the theorem itself."""
    first = parts(7, sizes=(400,))[0]
    if twins:
        first = first[..., [0, 1, 1, 2]] + 1e-3 * parts(8, sizes=(400,))[0][..., [0, 1, 0, 2]]
    widths = np.full(first.shape[2], 1.2)
    M = np.einsum("njk,njl->kl", first, first) / (4 * len(first))
    v = quadratic_weights(M[:-1, :-1], M[:-1, -1])
    copies = np.concatenate([first] * max(n // len(first), 1))[: max(n, 2)]
    forecasts = []
    for eps in sample_price.EPS:
        found = sample_price.price_from_sums(first, copies, v, widths, 0.1, eps, M)
        forecasts.append(found.value - min(found.least, 0.0))
    eps = sample_price.choose_eps(first, n, widths, 0.1)
    best = min(forecasts)
    assert forecasts[sample_price.EPS.index(eps)] <= best * (1 + 1e-2)


def test_the_largest_by_entries_and_by_the_norm():
    """The largest eigenvalue is smaller if many entries of both signs exist."""
    hadamard = np.array([[1.0, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
    values, vectors = np.linalg.eigh(np.eye(4) + 0.9 * hadamard)
    root = (vectors * np.sqrt(values)) @ vectors.T
    widths = np.array([1.0, 1.1, 0.9, 1.2])
    assert sample_price._largest(root, widths) == pytest.approx(2 / 3 * 1.9 * widths @ widths)
    root = np.diag([1.0, 2.0, 3.0, 0.5])
    expected = 2 / 3 * np.square(widths * np.diag(root)).sum()
    assert sample_price._largest(root, widths) == pytest.approx(expected)


def test_widths_that_the_values_show_to_be_too_small():
    """K_12 = K_34 = 1 and 0 otherwise is maximal for kernels in [0, 1]; errors name the kernel."""
    one = np.array([[4.0, -2.0, -2.0]]).T[None] / 3
    assert np.square(one).sum() == pytest.approx(8 / 3)
    sums = np.concatenate([one * [1.0, 0.5, 0.5], one[:, ::-1] * [0.5, 1.0, 0.5]] * 2)
    given = sums, sums, np.ones(2)
    sample_price.price_from_sums(*given, np.ones(3), 0.1, 0.1)
    for k in range(3):
        short = np.where(np.arange(3) == k, 0.99, 1.0) * [1.0, 1.0, 0.5]
        words = rf"values of kernel {k} differ by more than widths"
        raises(HypothesisNotMet, words, sample_price.price_from_sums, *given, short, 0.1, 0.1)
    small = sums * [0.09, 1.0, 0.1]
    given = small, small, np.ones(2), [0.1, 0.95, 1.0], 0.1, 0.1
    raises(HypothesisNotMet, "kernel 1 differ", sample_price.price_from_sums, *given)


def test_what_is_refused():
    call, (first, second) = sample_price.price_from_sums, parts()
    given = np.ones(2), np.ones(3), 0.1
    raises(HypothesisNotMet, "at least 8 samples", call, first[:1], second, *given)
    holes = np.where(second == second.max(), np.nan, second)
    raises(ValueError, "must be finite", call, first, holes, *given)
    raises(ValueError, "need pair sums of shape", call, first[..., 1:], second, *given)
    twice = (first[..., [0, 0, 2]], second[..., [0, 0, 2]], *given)
    raises(HypothesisNotMet, "take eps > 0", call, *twice)
    assert call(*twice, eps=0.1).value <= 1.0
    constant = first * [0.0, 1.0, 1.0]
    raises(HypothesisNotMet, "kernel 0 is constant", call, constant, second, *given, eps=0.1)
