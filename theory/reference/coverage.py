"""Where a number lies in a confidence interval for the alignment, in units of its half-length.

An end that is 0 or 1 says nothing and can not be wrong, so that only the other ends count.
"""

from __future__ import annotations

import numpy as np


def half_length(low, high):
    """1, the unit of `position`; infinity for intervals that are [0, 1] and say nothing.

    Parameters
    ----------
    low, high : float arrays (trials,)
        Ends; nan where there is no interval.
    """
    return np.where((low > 0) | (high < 1), 1.0, np.inf)


def position(low, high, rho):
    """Distance of rho from the middle towards an end that says something, over the half-length.

    Above 1 for intervals that do not hold rho; negative where rho is on the other side.

    Parameters
    ----------
    low, high : float arrays (trials,)
    rho : float or array (trials,)
    """
    offset = rho - (low + high) / 2
    upwards = np.where(high < 1, offset, -np.inf)
    downwards = np.where(low > 0, -offset, -np.inf)
    either = np.maximum(np.maximum(upwards, downwards), -1.0)
    return either / np.maximum((high - low) / 2, 1e-300) + 0 * low
