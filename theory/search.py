"""An adversary: hill climbing on a claim's inputs toward a violation.

The inputs of a claim are a function of the numbers that its ``cases`` draws. `VectorDraw` takes
them from a vector; `adversary` changes a few entries at a time and keeps changes that come closer
to a violation.
"""

from __future__ import annotations

import math

import numpy as np

from .claim import Claim, Verdict, check
from .draws import Draw


class VectorDraw(Draw):
    """Draws that read the entries of a vector in [0, 1) in order, and again from the start.

    Parameters
    ----------
    values : float array (n,)
    """

    def __init__(self, values):
        self._values, self._next = values, 0

    def _take(self, n):
        index = (self._next + np.arange(n)) % len(self._values)
        self._next += n
        return self._values[index]

    def integer(self, low: int, high: int) -> int:
        """Return the integer from low to high that the next coordinate selects."""
        return min(high, low + int(self._take(1)[0] * (high - low + 1)))

    def octets(self, n: int) -> bytes:
        """Return the n bytes that the next coordinates select."""
        return bytes((self._take(n) * 256).astype(np.uint8))

    def array(self, shape) -> np.ndarray:
        """Draw an array that is standard normal in distribution and continuous in the vector."""
        from scipy.special import ndtri

        values = np.clip(self._take(int(np.prod(shape))), 1e-6, 1 - 1e-6)
        return ndtri(values).reshape(shape)


def adversary(claim: Claim, evaluations=1000, restarts=4, random_state=None) -> Verdict:
    """Return the verdict of smallest margin that hill climbing finds.

    Parameters
    ----------
    claim : Claim
    evaluations : int
        Number of cases tried, over all restarts.
    restarts : int
    random_state : int, Generator or None

    Returns
    -------
    Verdict
    """
    rng = np.random.default_rng(random_state)
    best = None
    for _ in range(restarts):
        here, verdict = rng.random(120), None
        for _ in range(evaluations // restarts):
            step = rng.random(120) < rng.choice((0.02, 0.1, 0.5))
            size = rng.choice((1e-3, 0.03, 1.0))
            moved = np.where(step, here + size * rng.standard_normal(120), here) % 1.0
            found = check(claim, claim.cases(VectorDraw(moved)))
            if _score(found) >= _score(verdict):
                here, verdict = moved, found
            if found.outcome == "violated":
                return found
        best = verdict if _score(verdict) >= _score(best) else best
    return best


def _score(verdict) -> float:
    """Minus the margin; the tightness where the bound is 0, which has no share to shrink."""
    if verdict is None or verdict.trials == 0:
        return -math.inf
    score = -verdict.margin if not math.isnan(verdict.margin) else verdict.tightness
    return -math.inf if math.isnan(score) else score
