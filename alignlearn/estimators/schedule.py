"""Folds of a search, and its schedule: rungs with folds, values, and how many candidates go on.

A grid search is one rung that keeps all candidates. `halving` drops candidates after the first
folds (successive halving: Jamieson and Talwalkar 2016).

A strategy compares all candidates on all samples up to `WHOLE` of them. Otherwise it compares them
on *levels* of samples: all on the first of the sizes `LEVELS`, the better half on the second, and
the best two on the third, where they use what they learned on the second. A fourth level tries
smaller penalties of the best one, and the last level of a regression narrower kernels. This is
successive halving over samples, too (for choices on a part of the samples see Petrak 2000).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from alignlearn.folds import make_folds
from alignlearn.machines.choice import block_sizes
from alignlearn.validation import warn

from .feature_scales import draw

_TRIMMED = 5  # number of values from which on both ends of a grid are skipped at first
WHOLE = 1000  # samples up to which candidates are compared on all of them
LEVELS = 500, 2000, 8000  # largest number of samples of each level, above WHOLE
BYTES = 12.0  # per pair of samples of a level, while a candidate is tried
_FOLDS = 2, 1  # number of folds of the first two levels
_GO_ON = 4, 2  # candidates that these keep; with candidates on columns:
_GO_ON_WITH_COLUMNS = {False: 2, True: 2, "columns": (1, 4)}, {False: 1, True: 1, "columns": (1, 2)}
# Only the best candidate of the third level goes on to a fourth, whose models cost as much as the
# final one (measured with the best two: up to 1.6 times the time, for no better scores).
_GO_ON_TO_FINAL = dict.fromkeys((False, True, "columns"), (1, 1))
_LEAST_GROWTH = 1.5  # ratio of the training samples of the fourth level to those of the third
_BEHIND = 4.0  # standard errors behind the best that drop a candidate on the second level
_REACH = 1, 2  # values below and above the best one to try on the third level
# Values below and above the best one to try on the fourth level. Small groups of similar samples,
# of which smaller levels hold one or two, need a smaller penalty (measured: R^2 of flights with
# 24,000 samples rises from 0.39 to 0.48).
_REACH_OF_FINAL = 3, 0
# If a smaller penalty is better there, or the third level is the last one and has another best
# candidate or penalty than the second, a kernel with four times the gamma is tried, and so on, at
# most this many times (measured: R^2 of trade in cars with 20,000 samples rises from 0.75 to 0.94,
# that of inspections of restaurants with 10,000 from 0.48 to 0.58).
# Each is tried with the penalty of the wider kernel and the next larger one, because a narrower
# kernel needs more (with the next smaller one, R^2 of inspections of restaurants is 0.05 lower).
FINER, _REACH_OF_FINER = 3, (0, 1)
_LEAST_OF_CLASS = 5  # samples of each class in each level, if available


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


class Level(NamedTuple):
    """Samples on which candidates are compared.

    Attributes
    ----------
    rows : ndarray of int or None
        Positions among all samples; None for all of them.
    folds : list of (train, test)
        Positions among ``rows``.
    final : bool
        Whether it has nearly as many samples as a final model.
    """

    rows: Any
    folds: list
    final: bool = False

    def of_all(self):
        """The folds as positions among all samples."""
        if self.rows is None:
            return self.folds
        return [(self.rows[train], self.rows[test]) for train, test in self.folds]


def levels_of(y, folds, classes, rng, memory=np.inf, final=False, n_different=None):
    """Return the list of `Level` for samples with targets y and the folds of a search.

    Up to `WHOLE` samples there is one level of all samples. Otherwise the first two levels are
    drawn from the training set of fold 0 and use the other folds. The last level has only fold 0,
    so that its test samples are not used by the second level.

    Parameters
    ----------
    y : ndarray of shape (m,) or (m, q)
        Targets, or codes of classes.
    folds : list of (train, test)
    classes : bool
        Whether y holds codes of classes. If so, each level has some samples of every class.
    rng : numpy.random.Generator
    memory : float
        Bytes into which the matrices of the last level must fit.
    final : bool
        Whether a fourth level has nearly as many samples as a final model, if these are many more
        than those of the third. It has the same test samples.
    n_different : int, optional
        Number of different samples. Default: all of them.
    """
    m = len(y)
    if m <= WHOLE:
        return [Level(None, folds)]
    order, trained = y.reshape(m, -1).astype(np.float64), np.unique(folds[0][0])
    labels = y if classes else None

    def drawn(among, n):
        rows = draw(order[among], n, rng)
        rows = among if rows is None else among[rows]
        return _with_rare(rows, trained, y, rng) if classes else rows

    first, second, most = LEVELS
    second = drawn(trained, second)
    found = []
    for rows, n in zip((drawn(second, first), second), _FOLDS):
        inner = _restricted(folds[1:], rows, labels)
        if len(inner) < n:
            inner = make_folds(min(4, len(rows)), y[rows], classes, rng)
        found.append(Level(rows, inner[:n]))
    most = int(min(most, np.sqrt(memory / BYTES)))
    if most <= LEVELS[1]:
        return found
    last = drawn(np.arange(m), most)
    outer = _restricted(folds[:1], last, labels)
    if not outer:
        return found
    found.append(Level(last, outer))
    (learned, tested), size = outer[0], block_sizes(m, memory, n_different)[1]
    if final and min(size, len(trained)) >= _LEAST_GROWTH * len(learned):
        tested = last[tested]
        train = drawn(trained, size)
        rows = np.union1d(train, tested)
        fold = np.searchsorted(rows, train), np.searchsorted(rows, tested)
        found.append(Level(rows, [fold], final=True))
    return found


def _with_rare(rows, among, y, rng):
    """Add rows from ``among`` to a draw, for each class with fewer than five samples in it."""
    more = [rows]
    for label in np.unique(y[among]):
        own = among[y[among] == label]
        left = np.setdiff1d(own, rows)
        lacking = _LEAST_OF_CLASS - (len(own) - len(left))
        if lacking > 0:
            more.append(rng.permutation(left)[:lacking])
    return np.sort(np.concatenate(more))


def blocks_of(y, classes, memory, n_different=None):
    """Return positions of the samples of each model of an average on many samples, in random order.

    Divide and conquer kernel ridge regression: Zhang, Duchi and Wainwright (2015). There is no
    partition ([None]) up to the size of one block. With ``classes`` each block has some samples of
    every class. y, ``memory`` and ``n_different`` are as of `levels_of`.
    """
    m, rng = len(y), np.random.default_rng(0)
    n_blocks, size = block_sizes(m, memory, n_different)
    if n_blocks == 1:
        return [None]
    order = rng.permutation(m)
    found = [order[start : start + size] for start in np.linspace(0, m - size, n_blocks, dtype=int)]
    if not classes:
        return found
    everything = np.arange(m)
    return [rng.permutation(_with_rare(rows, everything, y, rng)) for rows in found]


def _restricted(folds, rows, labels):
    """Folds as positions among some samples, without folds that lose all samples or classes.

    Folds whose test samples have the most classes come first, because some scores need all.
    """
    m = 1 + max(int(rows.max()), *(int(part.max()) for fold in folds for part in fold), 0)
    position = np.full(m, -1)
    position[rows] = np.arange(len(rows))
    found = []
    for fold in folds:
        train, test = (p[p >= 0] for p in (position[part] for part in fold))
        varies = labels is None or np.ptp(labels[rows[train]]) if train.size else False
        if test.size and varies:
            found.append((train, test))
    if labels is not None:
        found.sort(key=lambda fold: -len(np.unique(labels[rows[fold[1]]])))
    return found


def schedule_of(levels, kept, values, n_values, one_by_one, by_columns=False, worth=None):
    """Return the rungs of a search on these levels; for a single level see `halving`.

    Parameters
    ----------
    levels : list of Level
    kept : tuple of int
        See `Plan`.
    values : sequence of int
        Positions of the values of the grid; the last level also tries values between them.
    n_values : int
        Number of all values.
    one_by_one : bool
        See `halving`.
    by_columns : bool, default False
        Whether candidates on columns take part, with several levels.
    worth : callable, optional
        See `Rung`; for the fourth level.
    """
    if len(levels) == 1:
        return halving(kept, len(levels[0].folds), len(values), one_by_one)
    inner = values[1:-1] if one_by_one and len(values) > 3 else values
    step = values[1] - values[0] if len(values) > 1 else 1
    everything = range(n_values)
    below, above = _REACH_OF_FINAL
    choices = [(inner, None), (inner, (step, step)), (everything, _REACH)]
    choices.append((everything, (below * step, above * step)))
    goes_on = *(_GO_ON_WITH_COLUMNS if by_columns else _GO_ON), _GO_ON_TO_FINAL
    goes_on = *goes_on[: len(levels) - 1], None
    rungs, first = [], 0
    for k, (level, keep, (some, reach)) in enumerate(zip(levels, goes_on, choices)):
        last = first + len(level.folds)
        # Earlier results are shared, so that no candidate waits for another one.
        more = {"widened": k == 2, "apart": k >= 2, "worth": worth if level.final else None}
        more["behind"] = _BEHIND if k == 1 else None
        rungs.append(Rung(range(first, last), keep, some, reach, k, **more))
        first = last
    if len(levels) > 2:
        below, above = _REACH_OF_FINER
        finer = {"reach": (below * step, above * step), "worth": None, "finer": True}
        rungs += [rungs[-1]._replace(**finer)] * FINER
    return tuple(rungs)


def refined(values, fine):
    """Values of a grid in increasing order; with ``fine`` also values between them and one above.

    The second result has the positions of the given values. New values are geometric means.
    """
    values = sorted(values)
    if not fine:
        return values, list(range(len(values)))
    ratio = np.sqrt(values[-1] / values[-2]) if len(values) > 1 else 1.0
    between = [float(np.sqrt(a * b)) for a, b in pairwise(values)]
    found = [v for pair in zip(values, [*between, values[-1] * ratio]) for v in pair]
    return found, list(range(0, len(found), 2))


def splits_of(cv, y, groups=None, *, stratify, random_state, leave_one_out=False, weight=None):
    """Return the folds (train, test) of a search, or None for leave-one-out.

    A number of folds divides only the samples of positive weight.

    Parameters
    ----------
    cv : None (5 folds), int, m labels, iterable of (train, test), or object with ``split(X, y)``
    y : ndarray of shape (m,) or (m, q)
    groups : array-like of shape (m,), optional
        A warning is given if ``cv`` does not use them.
    stratify : bool
    random_state : int, Generator or None
    leave_one_out : bool, default False
    weight : ndarray of shape (m,), optional
    """
    splitter = hasattr(cv, "split") and not isinstance(cv, str)
    if groups is not None and not splitter:
        warn(
            (
                f"groups are given, but cv={cv!r:.40} does not use them; accepted: a "
                "splitter such as GroupKFold, or cv=groups for one fold per group."
            ),
            UserWarning,
        )
    if leave_one_out:
        return None
    cv = 5 if cv is None else cv
    number = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)
    if not number or weight is None or weight.all():
        return make_folds(cv, y, stratify, random_state, groups)
    rows = np.flatnonzero(weight)
    folds = make_folds(cv, y[rows], stratify, random_state)
    return [tuple(rows[part] for part in fold) for fold in folds]


def request_groups(routing, cv):
    """Return a ``MetadataRequest`` whose ``fit`` requests groups if the splitter ``cv`` does.

    ``set_fit_request(groups=True)`` requests them for every ``cv``.
    """
    from sklearn.utils.metadata_routing import get_routing_for_object

    if routing.fit.requests["groups"] is None:
        request = get_routing_for_object(cv).split.requests.get("groups")
        routing.fit.add_request(param="groups", alias=request)
    return routing


def used_part(source, y, folds):
    """Return the source, the targets and the splits of the samples of positive weight."""
    if source.weight is None or source.weight.all():
        return source, y, folds
    return source.used(), y[source.weight > 0.0], used_splits(folds, source.weight)


def used_splits(folds, weight):
    """Return splits as positions among the samples of positive weight; None for None."""
    if folds is None:
        return None
    position = np.cumsum(weight > 0.0) - 1
    found = [tuple(position[rows[weight[rows] > 0.0]] for rows in fold) for fold in folds]
    for which, (train, test) in enumerate(found):
        for name, rows in (("training", train), ("test", test)):
            if not rows.size:
                raise ValueError(
                    f"sample_weight is zero in all of the {name} set of fold {which} of cv; "
                    "accepted: folds with a positive one in both sets."
                )
    return found


def check_training_classes(labels, folds, weight):
    """Raise if zero sample weights leave a training set with one class."""
    if weight is None and labels.ndim == 1:
        return  # already checked by the folds
    weight = np.ones(len(labels)) if weight is None else weight
    for which, (train, _) in enumerate(folds):
        found = np.unique(labels[train][weight[train] > 0.0], axis=0)
        if labels.ndim == 2 and len(found) == 1:
            raise ValueError(
                f"cv: all labels are constant in the training set of fold {which}; accepted: fewer "
                "or other folds."
            )
        if len(found) == 1:
            raise ValueError(
                f"cv: samples of positive sample_weight in the training set of fold {which} are of "
                f"1 class only, {found[0].item()!r}; accepted: fewer or other folds."
            )


def used_targets(y, weight, splits):
    """Return targets, weights and splits of the samples of positive weight."""
    if weight is None:
        return y, None, splits
    return y[weight > 0.0], weight[weight > 0.0], used_splits(splits, weight)
