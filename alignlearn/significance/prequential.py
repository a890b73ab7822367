"""A valid test for the difference of two predictors that learn sequentially.

The samples z_1, ..., z_m are independent and identically distributed, n_0 < n_1 < ... < n_B = m,
and in block b both predictors are any functions of the first n_(b-1) samples. D_i in [-1, 1] is the
loss of b minus that of a at z_i, Delta_i its mean given the past, N = m - n_0. Proofs: section 23
of ``theory/p1_alignment/proofs.md``; the claims `p1-prequential` and `p1-prequential-betting`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from alignlearn._text import Result
from alignlearn.validation import check_count, check_number, check_numbers, plain

BETS = (0.1, 0.25, 0.5, 0.75)
_LEAST_TRIALS = 5  # minimum trials of the sign test: with fewer, no outcome is significant at 5%
# Share of the expected differences: missing ones count as losses, and excess ones are ignored.
_SHARES = (0.65, 0.85)
_COARSE = 1000  # number of trials beyond which the significance level is always attained closely


@dataclass(frozen=True)
class PrequentialResult(Result):
    """Test result: whether method a has the lower expected loss on later samples.

    Attributes
    ----------
    p_value : float
        By signs if ``n_star`` is not None, otherwise by betting: at most ``level`` with probability
        at most ``level`` if Delta_i <= 0 for all i.
    lower_bound : float
        Lower confidence bound for the mean of Delta_i, the advantage of a, with probability 1 -
        level and without a hypothesis on Delta_i. In units of the losses.
    mean_difference : float
        Mean of D_i: loss of b minus that of a.
    betting_p_value : float
        1 over the largest average, over the bets, of the products of 1 + lambda D_i.
    n_star : int or None
        Number of signs that the test uses.
    wins : int or None
        Number of positive values among the first ``n_star`` nonzero differences.
    n_samples : int
        N.
    level : float

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.significance import prequential_test
    >>> same = np.tile([0.0, 1.0], 50)
    >>> result = prequential_test(same, same)
    >>> result.p_value, result.lower_bound < 0, result.n_samples
    (1.0, True, 100)
    """

    p_value: float
    lower_bound: float
    mean_difference: float
    betting_p_value: float
    n_star: int | None
    wins: int | None
    n_samples: int
    level: float


def prequential_test(
    losses_a, losses_b, n_star=None, *, pilot=None, level=0.05, bets=BETS
) -> PrequentialResult:
    """Test whether a has the lower expected loss, if both learn from the previous samples.

    Valid for any method of learning, selection and tuning on the past. A small p-value means that a
    is better somewhere: not all Delta_i <= 0. ``lower_bound`` needs no hypothesis at all.

    Parameters
    ----------
    losses_a, losses_b : array-like of shape (N,) or (R, N), in [0, 1]
        Losses of the two methods on the samples n_0 + 1, ..., m, in order. Divide losses in [0, W]
        by W. R rows mean the same samples in R random orders, chosen without looking at them; then
        everything is by betting.
    n_star : int, optional
        For losses 0 and 1: the number of nonzero differences that the sign test uses, a function of
        only the first n_0 samples. Differences that do not occur count as losses.
    pilot : (losses_a, losses_b), optional
        Alternative: 0-1 losses on some of the first n_0 samples, of predictors that were not
        trained on them. `trials_from_pilot` computes n_star from them.
    level : float in (0, 1), default 0.05
        Significance level of ``lower_bound`` and for the choice of n_star.
    bets : sequence of float in (0, 1)
        The values of lambda, chosen without these samples.

    Returns
    -------
    PrequentialResult

    Raises
    ------
    ValueError
        For losses outside [0, 1], losses other than 0 and 1 with ``n_star`` or ``pilot``, n_star <
        1, an empty block, or rows of losses that differ in shape.

    Notes
    -----
    Sign test: p = P(Bin(n_star, 1/2) >= wins). The number of trials has to be fixed in advance.
    With the observed number, a method that stops differing once it leads would be significant too
    often: at a significance level of 5%, in 10% of the cases for 20 samples and in 20% for 100.

    Betting: prod (1 + lambda D_i) exp(-lambda Delta_i) is a supermartingale that starts from 1, so
    mean Delta_i >= [sum log(1 + lambda D_i) - log(len(bets)/level)]/(lambda N) for all bets at
    once. With random orders, both sides are means over the orders.

    Examples
    --------
    Losses 0 and 1 of two methods on 200 samples, each predicted from those before it:

    >>> import numpy as np
    >>> from alignlearn.significance import prequential_test
    >>> rng = np.random.default_rng(0)
    >>> new, old = rng.random(200) < 0.1, rng.random(200) < 0.3
    >>> result = prequential_test(new.astype(float), old.astype(float))
    >>> result.p_value < 0.05, round(result.mean_difference, 2), result.lower_bound > 0
    (True, 0.15, True)
    """
    a, b = _losses("losses_a", losses_a), _losses("losses_b", losses_b)
    _same_shape(a, b, "losses_a", "losses_b")
    level = check_number("level", level, low=0.0, high=1.0, strict=True)
    bets = _bets(bets)
    D = np.atleast_2d(b - a)
    n_star = _trials(n_star, pilot, a, b, level)
    p, lower = _by_betting(D, bets, level)
    p_value, wins = p, None
    if n_star is not None:
        signs = D[0][D[0] != 0.0][:n_star]
        wins = int(np.count_nonzero(signs > 0.0))
        p_value = binomial_tail(n_star, wins)
    mean = float(D.mean())
    return PrequentialResult(p_value, lower, mean, p, n_star, wins, D.shape[1], level)


def trials_from_pilot(losses_a, losses_b, n_samples, level=0.05) -> int:
    """n_star of `prequential_test`: 65 to 85% of the expected differences, at least 5.

    Among these numbers, the number of tosses of a fair coin whose tail probability is largest but
    not above the significance level.

    Parameters
    ----------
    losses_a, losses_b : array-like of shape (n,)
        0-1 losses on samples that the test does not use.
    n_samples : int
        N, the number of samples of the test.
    level : float in (0, 1), default 0.05

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.significance import trials_from_pilot
    >>> new, old = np.repeat([0.0, 1.0], [45, 5]), np.repeat([0.0, 1.0], [35, 15])
    >>> trials_from_pilot(new, old, n_samples=200)  # 10 of 50 differ, so some 40 of 200
    30
    """
    a, b = _zero_one("losses_a", losses_a), _zero_one("losses_b", losses_b)
    _same_shape(a, b, "losses_a", "losses_b")
    n_samples = check_count("n_samples", n_samples, optional=False)
    level = check_number("level", level, low=0.0, high=1.0, strict=True)
    expected = n_samples * float(np.mean(a != b))
    low, high = (max(_LEAST_TRIALS, math.floor(share * expected)) for share in _SHARES)
    if high > _COARSE:
        return high
    return max(range(low, high + 1), key=lambda n: (_attained(n, level), n))


def _attained(trials, level):
    """The largest P(Bin(trials, 1/2) >= wins) that is at most the level."""
    from scipy.special import betainc

    wins = np.arange(1, trials + 1)
    tails = betainc(wins, trials - wins + 1, 0.5)
    return round(float(tails[tails <= level].max(initial=0.0)), 12)


def binomial_tail(trials, wins) -> float:
    """P(Bin(trials, 1/2) >= wins), exactly."""
    from scipy.special import betainc  # scipy.stats takes seconds to import

    return 1.0 if wins <= 0 else float(betainc(wins, trials - wins + 1, 0.5))


def _by_betting(D, bets, level):
    """(p-value, lower bound of the mean of Delta) of differences (R, N)."""
    logs = np.stack([np.log1p(bet * D) for bet in bets])  # (bets, R, N)
    if len(D) == 1:
        # The average over the bets is a supermartingale, so its maximum is used (Ville's
        # inequality).
        wealth = np.logaddexp.reduce(np.cumsum(logs[:, 0], axis=1), axis=0).max()
    else:
        wealth = np.logaddexp.reduce(logs.sum(2), axis=None) - math.log(len(D))
    p = math.exp(min(math.log(len(bets)) - float(wealth), 0.0))
    # Geometric means over the orders, which are at most the arithmetic ones.
    gained = logs.sum(2).mean(1) - math.log(len(bets) / level)
    return p, float(np.max(gained / (np.array(bets) * D.shape[1])))


def _trials(n_star, pilot, a, b, level):
    """n_star as passed, or from the pilot, or None for betting only."""
    if n_star is None and pilot is None:
        return None
    if n_star is not None and pilot is not None:
        raise ValueError("n_star and pilot are both given; accepted: only one of them.")
    if a.ndim == 2:
        raise ValueError("n_star and pilot are for one order of the samples, losses of shape (N,).")
    _zero_one("losses_a", a), _zero_one("losses_b", b)
    if n_star is not None:
        return check_count("n_star", n_star)
    try:
        pilot_a, pilot_b = pilot
    except (TypeError, ValueError):
        raise ValueError("pilot must be a pair (losses_a, losses_b).") from None
    return trials_from_pilot(pilot_a, pilot_b, a.size, level)


def _losses(name, values):
    try:
        array = np.asarray(plain(name, values))
    except ValueError:  # rows of several lengths
        return check_numbers(name, values, 1)
    # Whether a prediction is wrong is a loss of 0 or 1.
    array = array.astype(float) if array.dtype.kind == "b" else array
    values = check_numbers(name, array, *(1,) * (2 if array.ndim == 2 else 1))
    if values.min() < 0.0 or values.max() > 1.0:
        raise ValueError(
            f"{name} lie in [{values.min():.6g}, {values.max():.6g}]; accepted: losses in [0, 1] "
            "(divide losses in [0, W] by W)."
        )
    return values


def _zero_one(name, values):
    values = _losses(name, values)
    if values.ndim != 1 or np.any((values != 0.0) & (values != 1.0)):
        raise ValueError(f"{name} must be a vector of losses 0 and 1 for the sign test.")
    return values


def _same_shape(a, b, *names):
    if a.shape != b.shape:
        raise ValueError(
            f"{names[0]} has shape {a.shape}, {names[1]} {b.shape}; accepted: the same shape."
        )


def _bets(bets):
    bets = check_numbers("bets", bets, 1)
    if not (bets.min() > 0.0 and bets.max() < 1.0):
        raise ValueError(f"bets={bets.tolist()}; accepted: numbers in (0, 1).")
    return tuple(np.unique(bets).tolist())
