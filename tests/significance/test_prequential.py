"""The prequential test: by hand, by SciPy, its type I error by enumeration, and rejected input."""

import itertools
import math

import numpy as np
import pytest
from cases import each
from scipy import stats

from alignlearn.significance import prequential_test, trials_from_pilot

# Differences, loss of b less that of a: + 0 + - 0 + + - +.
A = np.array([0, 1, 0, 1, 0, 0, 0, 1, 0])
B = np.array([1, 1, 1, 0, 0, 1, 1, 0, 1])


@each(
    ("n_star", "wins"),
    [(1, 1), (2, 2), (3, 2), (5, 4), (6, 4), (7, 5), (8, 5), (12, 5)],
)
def test_sign_test_is_scipys_with_missing_trials_lost(n_star, wins):
    found = prequential_test(A, B, n_star)
    assert found.wins == wins
    expected = stats.binomtest(wins, n_star, alternative="greater").pvalue
    assert found.p_value == pytest.approx(expected, rel=1e-12)
    assert prequential_test(A.astype(bool), B.astype(bool), n_star) == found


def test_no_order_of_signs_and_zeros_is_significant_too_often():
    """All sequences of five: 0 with the worst choice of a probability, otherwise a fair sign.

    The type I error is a maximum over strategies, found by backward induction: at each sample the
    adversary decides from the past whether the predictions differ. With a random number of trials
    the same adversary exceeds the level.
    """

    def worst(significant, past=()):
        if len(past) == 8:
            return float(significant(past.count(1), past.count(-1), np.array(past)))
        follow = [worst(significant, (*past, sign)) for sign in (0, 1, -1)]
        return max(follow[0], (follow[1] + follow[2]) / 2)

    def fixed(wins, losses, D):
        return wins >= 5 and prequential_test(D < 0, D > 0, 5).p_value <= 0.05

    tails = stats.binom.sf(np.arange(-1, 8), np.arange(9)[:, None], 0.5)

    def random(wins, losses, D):
        return tails[wins + losses, wins] <= 0.05

    assert worst(fixed) == pytest.approx(1 / 32)
    assert worst(random) > 0.05


def test_betting_by_hand():
    found = prequential_test([0.0, 0.5, 0.2], [1.0, 0.0, 0.4], level=0.1, bets=(0.5, 0.2))
    D = [1.0, -0.5, 0.2]
    sums = {bet: sum(math.log(1 + bet * d) for d in D) for bet in (0.2, 0.5)}
    bounds = [(total - math.log(2 / 0.1)) / (bet * 3) for bet, total in sums.items()]
    assert found.lower_bound == pytest.approx(max(bounds), rel=1e-12)
    # The average of the two products is largest after the first sample, (1.5 + 1.2)/2.
    assert found.p_value == found.betting_p_value == pytest.approx(1 / 1.35, rel=1e-12)
    assert (found.n_star, found.wins) == (None, None)
    assert found.mean_difference == pytest.approx(0.7 / 3)


def test_betting_over_orders_by_hand():
    a, b = np.array([[0.0, 0.5], [0.5, 0.0]]), np.array([[1.0, 0.0], [0.3, 1.0]])
    D = b - a
    found = prequential_test(a, b, bets=(0.5,))
    products = np.prod(1 + 0.5 * D, axis=1)
    assert found.p_value == pytest.approx(min(1.0, 1 / products.mean()), rel=1e-12)
    means = np.log1p(0.5 * D).sum(1).mean()
    assert found.lower_bound == pytest.approx((means - math.log(20)) / (0.5 * 2), rel=1e-12)


def test_betting_p_value_holds_its_level_for_fair_differences_by_enumeration():
    signs = np.array(list(itertools.product((-1, 1), repeat=10)))
    p = [prequential_test((s < 0) * 1.0, (s > 0) * 1.0, bets=(0.3, 0.9)).p_value for s in signs]
    for level in (0.05, 0.2, 0.5):
        assert np.mean(np.array(p) <= level) <= level
    assert np.mean(np.array(p) <= 0.2) > 0.05  # and it is not for nothing


@each("expected", [0, 9, 24, 60, 400])
def test_trials_use_up_the_level(expected):
    n = 1000
    pilot = np.arange(n) < expected, np.zeros(n)
    found = trials_from_pilot(*pilot, n)
    low, high = max(5, int(0.65 * expected)), max(5, int(0.85 * expected))

    def attained(k):
        tails = stats.binom.sf(np.arange(k), k, 0.5)  # of 1 to k wins
        return tails[tails <= 0.05].max(initial=0.0)

    assert low <= found <= high
    assert attained(found) == pytest.approx(max(map(attained, range(low, high + 1))))
    assert prequential_test(np.zeros(n), np.ones(n), pilot=pilot).n_star == found
    assert trials_from_pilot([0, 1], [1, 0], 10**6) == 850_000


def test_power_is_that_of_the_documentation():
    """Discordance (0.08, 0.03) at 600 samples: 0.66 by signs, 0.41 on one fold of five."""
    rng, signs, fold = np.random.default_rng(0), [], []
    for _ in range(600):
        u = rng.random(600)
        D = (u < 0.08).astype(float) - ((u >= 0.08) & (u < 0.11))
        a, b = np.maximum(-D, 0), np.maximum(D, 0)
        signs.append(prequential_test(a[:300], b[:300], pilot=(a[300:450], b[300:450])).p_value)
        n, wins = np.count_nonzero(D[450:570]), np.count_nonzero(D[450:570] > 0)
        fold.append(stats.binom.sf(wins - 1, n, 0.5))
    assert np.mean(np.array(signs) <= 0.05) == pytest.approx(0.66, abs=0.06)
    assert np.mean(np.array(fold) <= 0.05) == pytest.approx(0.41, abs=0.06)


@each(
    ("call", "message"),
    [
        (lambda: prequential_test([0, 2], [0, 1]), r"losses_a lie in \[0, 2\]; accepted"),
        (lambda: prequential_test([0, 1], [0, -0.1]), r"losses_b lie in \[-0.1, 0\]"),
        (lambda: prequential_test([0, 1], [0, np.nan]), "losses_b contains NaN"),
        (lambda: prequential_test([], []), "losses_a has shape"),
        (lambda: prequential_test([0, 1], [0, 1, 0]), "accepted: the same shape"),
        (lambda: prequential_test(A, B, 0), "n_star=0"),
        (lambda: prequential_test([0, 0.5], [0, 1], 3), "losses 0 and 1 for the sign test"),
        (lambda: prequential_test(A, B, 3, pilot=(A, B)), "n_star and pilot are both given"),
        (lambda: prequential_test([A, A], [B, B], 3), "for one order"),
        (lambda: prequential_test(A, B, pilot=(A, B, A)), "pilot must be a pair"),
        (lambda: prequential_test(A, B, level=1.0), "level"),
        (lambda: prequential_test(A, B, bets=(0.5, 1.0)), r"bets=\[0.5, 1.0\]"),
        (lambda: trials_from_pilot(A, B, 0), "n_samples=0"),
    ],
)
def test_bad_input_is_a_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
