"""Position of a value in a confidence interval for the alignment, in units of its reach.

The reach of an end is its distance from the estimate in the interval. An end that is 0 or 1 is
uninformative and cannot be wrong, so only the other ends count.
"""

from __future__ import annotations

import numpy as np


def reach(low, high):
    """1, the unit of `position`; infinity for the uninformative interval [0, 1].

    Parameters
    ----------
    low, high : float arrays (trials,)
        Ends; nan where there is no interval.
    """
    return np.where((low > 0) | (high < 1), 1.0, np.inf)


def position(low, high, estimate, rho):
    """Distance of rho from the estimate, over that of the end on the same side.

    Above 1 for intervals that do not contain rho; 0 where the end on the side of rho is 0 or 1.

    Parameters
    ----------
    low, high, estimate : float arrays (trials,)
        An estimate outside the interval is replaced by the nearer end.
    rho : float or array (trials,)

    Returns
    -------
    float array (trials,)
        nan where there is no interval.
    """
    middle = np.clip(estimate, low, high)
    tiny = np.finfo(float).tiny
    above = np.where(high < 1, (rho - middle) / np.maximum(high - middle, tiny), 0.0)
    below = np.where(low > 0, (middle - rho) / np.maximum(middle - low, tiny), 0.0)
    return np.where(np.isnan(low), np.nan, np.maximum(np.maximum(above, below), 0.0))
