"""The largest mean of scores over distributions within a chi-square distance of the uniform one.

The maximizer is ``(s - tau)_+`` scaled to sum 1, for one threshold tau. Its divergence increases
with tau. Sorting the scores therefore shows which of them get weight, and the threshold is the root
of a quadratic, without iterations or tolerances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn._text import Result
from alignlearn.validation import check_number, check_numbers


@dataclass(frozen=True, eq=False)
class ChiSquareBall(Result):
    """The distribution found by `chi_square_ball`, with its certificate.

    Attributes
    ----------
    weights : ndarray of shape (n,)
        Not negative, of sum 1.
    objective : float
        ``scores @ weights``.
    multiplier : float
        The threshold tau; scores below it have weight 0.
    divergence : float
        ``n sum(weights^2) - 1``; at most rho, up to rounding.
    duality_gap : float
        ``tau + sqrt((1 + rho) / n) |(scores - tau)_+|`` is an upper bound of the objective for all
        distributions in the ball; the gap is its difference from ``objective``, which is only
        rounding.
    """

    weights: np.ndarray
    objective: float
    multiplier: float
    divergence: float
    duality_gap: float


def chi_square_ball(scores, rho) -> ChiSquareBall:
    """Maximize ``scores @ q`` over distributions q of chi-square divergence at most rho.

    The divergence from the uniform distribution is ``n sum(q^2) - 1``: 0 for the uniform
    distribution, and n - 1 for a point mass.

    Parameters
    ----------
    scores : array-like of shape (n,)
    rho : float
        >= 0. At least ``n / (1 + rho)`` weights are positive; for ``rho >= n - 1`` the largest
        score gets all weight.

    Returns
    -------
    ChiSquareBall
        Equal scores get equal weights: if several distributions are optimal (ties at the top), the
        one of smallest divergence is returned.

    Raises
    ------
    ValueError
        NaN or infinity, no scores, rho < 0.

    References
    ----------
    Sinha and Duchi (2016), Learning kernels with random features, section 2.1 (who search for the
    threshold by bisection).
    """
    scores = check_numbers("scores", scores, 1)
    rho = check_number("rho", rho, low=0.0)
    n, top = scores.size, scores.max()
    # Distances to the top score, in units of the largest, so that no square overflows in any units.
    # The scores are halved, so that the difference of two numbers near the end of the range is
    # finite.
    below = 0.5 * top - 0.5 * scores
    unit = below.max()
    if unit == 0.0 or rho == 0.0:
        weights, tau = np.full(n, 1.0 / n), -np.inf if unit else top
        return _certified(scores, weights, tau, rho)
    below /= unit
    margin = _threshold(np.sort(below), rho)
    weights = np.maximum(margin - below, 0.0)
    if not weights.any():  # the ball contains the uniform distribution on the largest scores
        weights = np.where(below == 0.0, 1.0, 0.0)
    weights /= weights.sum()
    return _certified(scores, weights, top - 2.0 * unit * margin, rho)


def _threshold(below, rho):
    """The distance below the top at which weights become 0; ``below`` is sorted, up to 1.

    Of k scores with mean c and scatter V = sum (below - c)^2 and threshold u + c, the divergence is
    n (V + k u^2) / (k u)^2 - 1, which is rho for u^2 = n V / (k ((1 + rho) k - n)).
    """
    n = below.size
    count = np.arange(1, n + 1)
    mean = np.cumsum(below) / count
    # The first score is 0 and the last of k the largest, so V is not small compared with the
    # squares.
    scatter = np.maximum(np.cumsum(below**2) - count * mean**2, 0.0)
    # Divergence with the threshold at each score, which then has weight 0.
    gap = below - mean
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = n * (scatter + count * gap**2) / np.square(count * gap)
    # It decreases as the threshold passes further scores; ties at the top give 0 / 0.
    kept = int(np.count_nonzero(~(divergence <= 1.0 + rho)))
    excess = (1.0 + rho) * kept - n
    if excess <= 0.0:
        return 0.0
    return mean[kept - 1] + np.sqrt(n * scatter[kept - 1] / (kept * excess))


def _certified(scores, weights, tau, rho):
    n, objective = scores.size, float(scores @ weights)
    divergence = float(n * (weights @ weights) - 1.0)
    if rho == 0.0:
        gap = 0.0  # a single point: the ball contains only the uniform distribution
    else:
        above = np.maximum(scores - tau, 0.0)
        gap = tau + np.sqrt((1.0 + rho) / n) * float(np.linalg.norm(above)) - objective
    return ChiSquareBall(weights, objective, float(tau), divergence, float(gap))
