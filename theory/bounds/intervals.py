"""Wider confidence intervals for the alignment, and those from Gram matrices.

Notation, hypotheses and units are those of `concentration`.
"""

from __future__ import annotations

import numpy as np

from alignlearn.bounds.checks import (
    check_delta,
    check_positive,
    check_radii,
    check_size,
    check_variances,
)
from alignlearn.bounds.intervals import (
    Interval,
    alignment_interval_from,
    bias_bound,
    check_entries,
)

from .concentration import exchange_constant


def alignment_interval_of_grams(K, L, delta=0.05, radius2=1.0, radius2_prime=1.0) -> Interval:
    """Confidence interval for the population alignment of two kernels from their Gram matrices.

    Parameters
    ----------
    K, L : float arrays (m, m)
        Symmetric; ``np.outer(y, y)`` for a target.
    delta : float in (0, 1)
    radius2, radius2_prime : float
        Upper bounds of the diagonals over the whole distribution: 1 for a Gaussian kernel or
        labels of +-1. The maximum over a sample is not an upper bound.

    Returns
    -------
    Interval

    Raises
    ------
    ValueError
        As `alignment_interval_from`; also if a diagonal entry exceeds its radius.
    """
    K, L = np.asarray(K, dtype=float), np.asarray(L, dtype=float)
    r, s = check_diagonal(K, radius2), check_diagonal(L, radius2_prime, "radius2_prime")
    Kc, Lc, m = center(K), center(L), len(K)
    values = [(Kc * Lc).sum(), (Kc * Kc).sum(), (Lc * Lc).sum()]
    # A constant kernel leaves rounding errors after centering, not variance.
    floor = [0.0, (1e-14 * m * np.abs(K).max()) ** 2, (1e-14 * m * np.abs(L).max()) ** 2]
    values = [v if v > f else 0.0 for v, f in zip(values, floor)]
    return alignment_interval_from(m, delta, *(v / m**2 for v in values), r, s)


def alignment_interval_by_numerator(
    m, delta, numerator, a, a_prime, radius2=1.0, radius2_prime=1.0, scalar_target=False
):
    """The wider alternative to `alignment_interval_from`, by the numerator and the variances.

    It applies McDiarmid's inequality to each: f +- (bias + c s) R^2 R'^2 and a +- (bias + 27/8 s)
    R^4 with s = (log(6/delta)/2m)^(1/2) and c =
    5.379, or 128/27 with ``scalar_target`` (K' = yy' with real labels y).
    To intersect the two intervals, compute each at delta / 2.

    Raises
    ------
    ValueError
        As `alignment_interval_from`.
    """
    m, delta = check_size(m), check_delta(delta)
    r, s = check_radii(radius2, radius2_prime)
    a, a_prime = check_variances(a, a_prime, r, s)
    a, a_prime, b = a / r**2, a_prime / s**2, numerator / (r * s)
    spread = np.sqrt(np.log(6 / delta) / (2 * m))
    db = bias_bound(m) + exchange_constant(scalar_target) * spread
    da = bias_bound(m) + 27 / 8 * spread
    low = max(b - db, 0.0) / np.sqrt((a + da) * (a_prime + da))
    high = 1.0
    if da < min(a, a_prime):
        high = min(1.0, (b + db) / np.sqrt((a - da) * (a_prime - da)))
    return Interval(float(low), float(high), bool(low <= 0 and high >= 1))


def center(K):
    """Center a Gram matrix: subtract the means of its rows and columns, add the overall mean."""
    m = len(K)
    return K - K.sum(0)[None, :] / m - K.sum(1)[:, None] / m + K.sum() / m**2


def check_diagonal(K, radius2, name="radius2") -> float:
    """Return R^2 after checks that it is positive, no entry exceeds it, and K is semi-definite."""
    radius2 = check_positive(name, radius2, "K(x, x) <= R^2 needs a positive finite R^2.")
    check_entries(K, radius2, f": give {name}, an upper bound on K(x, x) over the distribution")
    return radius2
