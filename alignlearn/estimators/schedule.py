"""Schedules of a search: rungs with folds, values, and the number of candidates to keep.

A grid search is one rung that keeps all candidates. `halving` drops candidates after the first
folds (successive halving: Jamieson and Talwalkar 2016).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

_TRIMMED = 5  # number of values from which on both ends of a grid are skipped at first


class Rung(NamedTuple):
    """A stage of a schedule, as in successive halving.

    Attributes
    ----------
    folds : sequence of int
    keep : int, dict or None
        Number of candidates to keep, by mean scores on all folds so far: an equal share of each
        group, or {group: number}, where groups without an entry are kept entirely. A pair (n, r) in
        place of a number keeps n of those that are among the best r overall. None keeps all.
    values : sequence of int
        Positions of the values that may be tried.
    reach : (int, int) or None
        Only values within this many positions below and above the candidate's best value so far are
        tried.
    level : int
        Number of the level to which the folds belong. Means are over the folds of one level.
    widened : bool
        Whether candidates whose parents were kept are tried, too.
    apart : bool
        Whether each candidate is evaluated by a separate call.
    behind : float or None
        Only candidates are kept whose mean score is at most this many standard errors (over parts
        of the test samples of the last fold) below the best one.
    worth : callable, optional
        The search ends before this rung if ``worth(number, value, predictions)`` is false for the
        best candidate so far, its value and its predictions on the last fold.
    finer : bool
        Whether the only new candidate is the ``finer`` one of the best. The search ends before this
        rung if there is none, or if the previous rung changed neither the best candidate nor its
        value.
    """

    folds: Any
    keep: int | dict | None
    values: Any
    reach: tuple | None = None
    level: int = 0
    widened: bool = False
    apart: bool = False
    behind: float | None = None
    worth: Callable | None = None
    finer: bool = False


def grid(n_folds, n_values):
    """Schedule that tries every candidate and value on every fold."""
    return (Rung(range(n_folds), None, range(n_values), widened=True),)


def halving(kept, n_folds, n_values, one_by_one):
    """Schedule that drops candidates after each of the first folds.

    Parameters
    ----------
    kept : tuple of (int or dict)
        Number of candidates to keep after the first fold, the second, and so on. No candidate is
        dropped if there are no more folds than numbers.
    n_folds, n_values : int
    one_by_one : bool
        Whether each value costs as much as the first. In that case both ends of the grid are
        skipped on the first folds, since the largest C takes longest, and later folds try the
        neighbors of the best value.
    """
    first = len(kept) if len(kept) < n_folds else 0
    one_by_one = one_by_one and first > 0
    everything = inner = range(n_values)
    if one_by_one and n_values >= _TRIMMED:
        inner = everything[1:-1]
    reach = (1, 1) if one_by_one else None
    rungs = [Rung((t,), keep, inner, reach) for t, keep in enumerate(kept[:first])]
    return (*rungs, Rung(range(first, n_folds), None, everything, reach, widened=True))
