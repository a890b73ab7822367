"""The exact interval of a binomial probability (Clopper and Pearson, 1934)."""

from __future__ import annotations

from functools import lru_cache

from .checks import HypothesisNotMet, check_size


# Samples have the same few counts repeatedly, and a quantile takes SciPy 0.1 ms.
@lru_cache(maxsize=4096)
def clopper_pearson(count: int, trials: int, below: float, above: float) -> tuple[float, float]:
    """Bounds on the probability of an event that occurred `count` times in independent trials.

    Parameters
    ----------
    count, trials : int
        0 <= count <= trials, trials >= 1.
    below, above : float in [0, 1)
        Probability with which the lower and the upper bound may fail; 0 gives the trivial bound.

    Returns
    -------
    (low, high) : tuple of float

    Raises
    ------
    ValueError
        If the counts or a probability are out of range.
    """
    from scipy.stats import beta

    trials = int(check_size(trials, 1, "trials"))
    if not 0 <= count <= trials or count != int(count):
        raise HypothesisNotMet(f"{count!r} must be a whole number from 0 to {trials}.")
    if not (0 <= below < 1 and 0 <= above < 1):
        raise ValueError(f"below={below!r}, above={above!r}; accepted: 0 <= probability < 1.")
    low = float(beta.ppf(below, count, trials - count + 1)) if count else 0.0
    high = float(beta.isf(above, count + 1, trials - count)) if count < trials else 1.0
    return low, high
