"""A search by cross-validation over candidates and values of C or alpha, with its schedule.

A candidate makes a kernel from the training samples of a fold, and a path gives predictions of the
test samples for many values of C or alpha. For schedules see `schedule`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from alignlearn._progress import Progress
from alignlearn.validation import check_number

from .calls import each, workers_of
from .results_table import first_best, results_table, score_columns, some_rows, stacked

_FEW = 1000  # samples up to which a candidate takes about as long as sending it to a worker


class Shared(NamedTuple):
    """A result that several candidates share, so that one worker can compute it for all.

    Attributes
    ----------
    key : object
        Equal for equal results.
    learn : callable
        ``learn()`` computes the result.
    keep : callable
        ``keep(found)`` stores it where candidates read it.
    """

    key: Any
    learn: Callable
    keep: Callable


class Candidate(NamedTuple):
    """A candidate of a search: it makes a kernel from the training samples of a fold.

    Attributes
    ----------
    name : object
    make : callable
        Called by the function that fits. For `Fits`, ``make(fold, value)`` returns a `Made` whose
        weights were learned on the training samples of that fold.
    by_value : bool
        Whether the result depends on the value of C or alpha.
    job : int
        Candidates with the same number are evaluated by the same call on a fold.
    turn : int
        Order within such a call: smaller numbers come first.
    group : object
        The same number of candidates is kept from each group, so that candidates that need many
        samples are not dropped on few.
    parent : object
        Name of the candidate after which it enters a ``widened`` rung. None: it is tried from the
        first rung on.
    path : callable, optional
        Replaces the path of `Fits`, on the kernel of the parent. In that case all values are tried,
        not only those near the best value of the parent.
    most : float
        Only values up to this one are tried, but at least the smallest value.
    until : float
        It enters a ``widened`` rung only if the second score of its parent, such as the accuracy,
        is at most this.
    divisible : bool
        Whether threads may divide its job. ``make`` then takes the names of all candidates of the
        job as its third argument, and waits for intermediate results that another one computes.
    shared : Shared, optional
        Learned before a rung that has it ``apart``, if calls go to workers.
    finer : object
        Name of the candidate that a ``finer`` rung tries after this one.
    reserve : bool
        Whether it is tried by ``finer`` rungs only.
    """

    name: Any
    make: Callable
    by_value: bool = False
    job: int = 0
    turn: int = 0
    group: Any = None
    parent: Any = None
    path: Callable | None = None
    most: float = np.inf
    until: float = np.inf
    divisible: bool = False
    shared: Shared | None = None
    finer: Any = None
    reserve: bool = False


class Made(NamedTuple):
    """The kernel of a candidate on a fold, in the form that a path takes.

    Attributes
    ----------
    combination : Combination
    y : ndarray
        Targets of the samples of the combination.
    split : (train, test)
        Positions among these samples.
    """

    combination: Any
    y: np.ndarray
    split: Any


class Fits(NamedTuple):
    """Machines on the kernels of candidates; a call returns their predictions on a fold."""

    candidates: list
    path: Callable

    def __call__(self, fold, tries, beside=None):
        """Return a list of test predictions for each (number of the candidate, values).

        Predictions are None for a value that the path omits. ``beside``: numbers of all candidates
        of the job. Default: those of the tries.
        """
        beside = [w for w, _ in tries] if beside is None else beside
        names = [self.candidates[w].name for w in beside if self.candidates[w].divisible]
        own = [self.candidates[w] for w, _ in tries]
        # Names are looked up only for shared kernels, because other names need not be hashable.
        partnered = {candidate.parent for candidate in own if candidate.path}
        found, kernels = [None] * len(tries), {}
        for k in sorted(range(len(tries)), key=lambda k: own[k].turn):
            candidate, values = own[k], tries[k][1]
            of = candidate.parent if candidate.path else candidate.name
            if kernels and of in kernels:
                made = kernels[of]
            else:
                made = candidate.make(fold, values[0], *([names] if candidate.divisible else []))
                if partnered and of in partnered:
                    if not candidate.path:  # the kernel's first use, before that of partners
                        made = made._replace(combination=made.combination.sharing())
                    kernels[of] = made
            path = candidate.path or self.path
            found[k] = list(path(*made, values))
        return found


class SearchResult(NamedTuple):
    """Result of a search.

    Attributes
    ----------
    table : dict
        ``cv_results_``, see `results_table`.
    best : int
        Row of the best candidate and value.
    chosen : list of (int, int)
        Numbers of the best candidate and its value, then of those that are averaged with it.
    kept : list of list of ndarray
        Predictions of each of ``chosen`` on every fold of the last level, if requested.
    folds : list of int
        Numbers of these folds.
    rows : list of int
        Rows of ``chosen``.
    """

    table: dict
    best: int
    chosen: list
    kept: list
    folds: list
    rows: list

    def of(self, places):
        """Return the result with some of the chosen, by position; the first one is the best."""
        some = [k for k in places if k < len(self.chosen)]
        kept = [self.kept[k] for k in some] if self.kept else []
        rows, chosen = ([known[k] for k in some] for known in (self.rows, self.chosen))
        return self._replace(best=rows[0], chosen=chosen, kept=kept, rows=rows)

    @property
    def params(self):
        """The best parameters."""
        return self.table["params"][self.best]


def search(
    candidates,
    values,
    schedule,
    score,
    fits,
    *,
    parameter,
    names=None,
    others=(),
    members=None,
    keep=False,
    sizes=None,
    parts=None,
    most_threads=None,
    client=None,
    early=None,
    verbose=False,
):
    """Evaluate candidates and values according to a schedule.

    Parameters
    ----------
    candidates : list of Candidate
        In the order of the product of ``names``, sorted by name, of which the last varies fastest.
    values : list of float
    schedule : sequence of Rung
    score : callable
        ``score(fold, predictions)`` returns the score to maximize, a second score for display, and
        one for each of the ``others``.
    fits : callable
        ``fits(fold, [(number of the candidate, values), ...])``, such as `Fits`. It is sent to
        the workers of a client.
    parameter : str
        Name of the parameter that has the ``values``.
    names : dict of list, optional
        Further parameters with the values that the candidates represent. Default: none.
    others : sequence of str, optional
        Names of further scores, each with columns in the table.
    members : int, optional
        Number of candidates to choose, each at its best value. Ties go to the first candidate, then
        to the first value. Default: one candidate; ties go to the first row of the table.
    keep : bool, default False
        Whether to keep the predictions of the chosen candidates.
    sizes : list of int, optional
        Number of samples of each level, if there are several levels.
    parts : callable, optional
        ``parts(fold)`` returns parts of the test samples, whose scores give a standard error; for
        rungs with ``behind``. ``score`` then takes the positions of a part, too.
    most_threads : int, optional
        Number of candidates that fit into memory at once.
    client : dask.distributed.Client, optional
    early : callable, optional
        ``early(result, n)`` is called while n threads of workers are idle, before the last calls
        of the search have ended. ``result`` is the `SearchResult` without these.
    verbose : bool or callable

    Returns
    -------
    SearchResult

    Raises
    ------
    ValueError
        A score is not finite.
    """
    trials = _Trials(candidates, values, schedule, score, fits, keep, others, parts)
    n, workers = len({t for rung in schedule for t in rung.folds}), workers_of(client)
    how = parameter, names, members, sizes
    idle = None if early is None else lambda n: early(_result(trials, *how), n)
    with Progress(f"{n} folds", n * trials.parts, verbose) as progress:
        n_threads = 0 if workers is None else workers.n_threads
        for calls in trials.rounds(n_threads, progress, sizes, idle):
            each(workers, calls, most_threads, progress)
    return _result(trials, *how)


def _result(trials, parameter, names, members, sizes):
    """The `SearchResult` of the trials so far; arguments are those of `search`."""
    values = trials.values
    every = {**({} if names is None else names), parameter: values}
    # Numbers of (candidate, value) in the order of scikit-learn's grid, where names are sorted.
    order = sorted(set(every) - {parameter})
    sizes_of = *(len(every[name]) for name in order), len(values)
    rows = np.arange(trials.scores[..., 0].size).reshape(sizes_of)
    rows = np.moveaxis(rows, -1, sorted(every).index(parameter)).ravel()
    tables = [
        trials.table(level, rows, every, members is not None) for level in range(trials.n_levels)
    ]
    if len(tables) == 1:
        # A candidate was not tried if its parent was dropped.
        tried = np.isfinite(trials.scores).any(axis=(1, 2))
        entered = np.flatnonzero(tried[rows // len(values)])
        rows, table = rows[entered], some_rows(tables[0], entered)
    else:
        table = stacked(tables, sizes[: len(tables)])
    if members is None:
        best = first_best(table["mean_test_score"])
        chosen = [divmod(int(rows[best]), len(values))]
    else:
        chosen = _ranked(trials.scores[:, :, trials.folds(trials.n_levels - 1)])[:members]
        at = [np.flatnonzero(rows == w * len(values) + k)[0] for w, k in chosen]
        if len(tables) > 1:
            # Rows of earlier levels come first, without rows that were not tried.
            tried = [np.flatnonzero(one["n_splits"] > 0) for one in tables]
            at = sum(map(len, tried[:-1])) + np.searchsorted(tried[-1], at)
        places = list(map(int, at))
        best = places[0]
    last = trials.folds(trials.n_levels - 1)
    kept = [[trials.kept[w, k, t] for t in last] for w, k in chosen] if trials.keep else []
    return SearchResult(table, best, chosen, kept, last, [best] if members is None else places)


class _Trials:
    """Scores of candidates and values on the folds where they were tried."""

    def __init__(self, candidates, values, schedule, score, fits, keep, others, parts):
        self.parts_of = parts
        self.candidates, self.values, self.schedule = candidates, values, schedule
        self.score, self.fits, self.keep = score, fits, keep
        n_folds = 1 + max(max(rung.folds) for rung in schedule)
        self.n_levels = 1 + max(rung.level for rung in schedule)
        shape = len(candidates), len(values), n_folds
        self.scores, self.shown = np.full((2, *shape), np.nan)
        self.others = {name: np.full(shape, np.nan) for name in others}
        self.last = np.zeros(shape[:2], dtype=int)  # the last rung that tried it
        self.kept, self.learned = {}, set()
        every = enumerate(candidates)
        self.first = [w for w, one in every if one.parent is None and not one.reserve]
        everything = [(w, list(schedule[0].values)) for w in self.first]
        self.parts = len(self._jobs(everything))  # number of candidates of a fold, for progress

    def rounds(self, n_threads, progress, sizes=None, idle=None):
        """Yield the `calls` of each rung, which depend on the results of those before.

        ``n_threads``: number of threads of workers; 0 without a client. ``idle(n)`` is called while
        n of them have no call of the last level.
        """
        going, seen = [(w, None) for w in self.first], []
        best = before = None
        for number, rung in enumerate(self.schedule):
            if not self._worth(rung, best, before, seen):
                self.schedule = self.schedule[:number]
                self.n_levels = 1 + max(one.level for one in self.schedule)
                rung = self.schedule[-1]
                break
            if rung.finer:
                going = [(self._finer(best[0]), best[1])]
            if rung.widened:
                going = self._with_children(going, seen)
            tries = [(w, self._tried(w, rung, best)) for w, best in going]
            for w, at in tries:
                self.last[w, at] = number
            ahead = []
            if n_threads and any(one.apart for one in self.schedule[number + 1 :][:1]):
                ahead = self._unshared(tries)[:n_threads]  # of the best so far
            few = sizes is not None and sizes[rung.level] <= _FEW
            last = rung.apart and rung.level == max(one.level for one in self.schedule)
            given = rung.folds, tries, n_threads, progress, rung.apart, ahead, few
            yield from self._calls(*given, idle if last and n_threads > 1 else None, rung.finer)
            seen = self.folds(rung.level, self.schedule[: number + 1])
            going = self._kept_on(_ranked(self.scores[:, :, seen]), rung.keep)
            going = self._not_behind(going, rung)
            best, before = going[0], best
        if len(seen) > len(rung.folds):
            # The best value of each kept candidate also on the folds of earlier rungs.
            later = self.scores[:, :, list(rung.folds)].mean(axis=2)
            best = [(w, first_best(later[w])) for w, _ in tries]
            for t in seen:
                tries = [(w, [k]) for w, k in best if np.isnan(self.scores[w, k, t])]
                if tries:
                    yield from self._calls([t], tries, n_threads, progress)

    def _worth(self, rung, best, before, seen):
        """Whether a rung is tried, given the best of the last two rungs, (number, value)."""
        if rung.finer:
            return best != before and self._finer(best[0]) is not None
        if rung.worth is None:
            return True
        w, k = best
        return rung.worth(w, self.values[k], self.kept[w, k, seen[-1]])

    def _finer(self, w):
        """Number of the candidate to try after a candidate; None if there is none."""
        name = self.candidates[w].finer
        found = (k for k, one in enumerate(self.candidates) if one.name == name)
        return None if name is None else next(found, None)

    def _tried(self, w, rung, best):
        """Positions of the values that a candidate tries, given the best one so far.

        Those that it may use, at least the smallest.
        """
        at = list(rung.values)
        if best is not None and rung.reach is not None:
            below, above = rung.reach
            at = [k for k in at if best - below <= k <= best + above]
        some = [k for k in at if self.values[k] <= self.candidates[w].most]
        return some or [min(at, key=self.values.__getitem__)]

    def folds(self, level, rungs=None):
        """Numbers of the folds of a level that these rungs try. Default: all rungs."""
        rungs = self.schedule if rungs is None else rungs
        return list(dict.fromkeys(t for rung in rungs if rung.level == level for t in rung.folds))

    def _kept_on(self, ranked, keep):
        """The best of some ranked candidates, equally many from each group."""
        if keep is None:
            return ranked
        groups = {}
        for w, k in ranked:
            groups.setdefault(self.candidates[w].group, []).append((w, k))
        if not isinstance(keep, dict):
            keep = dict.fromkeys(groups, max(1, keep // len(groups)))
        found = []
        for place, one in enumerate(ranked):
            group = self.candidates[one[0]].group
            most = keep.get(group, len(ranked))
            most, among = most if isinstance(most, tuple) else (most, len(ranked))
            if place < among and one in groups[group][:most]:
                found.append(one)
        return found

    def _not_behind(self, going, rung):
        """The best ranked candidate, and those within ``behind`` standard errors of it."""
        if rung.behind is None or self.parts_of is None:
            return going
        t = rung.folds[-1]
        parts = self.parts_of(t)
        if len(parts) < 2:
            return going
        scores = np.array(
            [[self.score(t, self.kept[w, k, t], rows)[0] for rows in parts] for w, k in going]
        )
        gaps = scores[0] - scores
        error = gaps.std(axis=1, ddof=1) / np.sqrt(len(parts))
        return [one for one, near in zip(going, gaps.mean(axis=1) <= rung.behind * error) if near]

    def _with_children(self, going, seen):
        """Kept candidates, (number, best value), and those that enter after them.

        ``seen``: the folds by which the kept candidates were chosen.
        """
        if all(candidate.parent is None for candidate in self.candidates):
            return going  # names need not be hashable
        best = {self.candidates[w].name: k for w, k in going}
        shown = {}
        if seen:
            shown = {self.candidates[w].name: self.shown[w, k, seen].mean() for w, k in going}
        found = list(going)
        for w, candidate in enumerate(self.candidates):
            of = candidate.parent
            if of is not None and of in best and shown.get(of, -np.inf) <= candidate.until:
                found.append((w, best[of] if candidate.path is None else None))
                # For its own children:
                best[candidate.name], shown[candidate.name] = best[of], shown.get(of, -np.inf)
        return found

    def _jobs(self, tries, apart=False):
        """Tries (number, positions of values), grouped by the call that evaluates them."""
        jobs = {}
        for w, at in tries:
            candidate = self.candidates[w]
            for some in [[k] for k in at] if candidate.by_value else [at]:
                job = w if apart else candidate.job
                own = (job, some[0]) if candidate.by_value else job
                jobs.setdefault(own, []).append((w, some))
        return list(jobs.values())

    def _divided(self, jobs):
        """Divide jobs among threads; each part has the numbers of all candidates of its job.

        Candidates that others wait for come first, and those that wait come last.
        """
        first, whole, later = [], [], []
        for job in jobs:
            parts = {}
            for w, at in sorted(job, key=lambda one: self.candidates[one[0]].turn):
                one = self.candidates[w]
                own = (one.parent if one.path else one.name) if one.divisible else None
                parts.setdefault(own, []).append((w, at))
            if len(parts) == 1:
                whole.append((job, None))
            else:
                beside = [w for w, _ in job]
                head, *others = ((part, beside) for part in parts.values())
                first.append(head)
                later += others
        return first + whole + later

    def _unshared(self, tries):
        """Results that some candidates share and that are not computed yet."""
        asked = (self.candidates[w].shared for w, _ in tries)
        return list({s.key: s for s in asked if s and s.key not in self.learned}.values())

    def _calls(
        self,
        folds,
        tries,
        n_threads,
        progress,
        apart=False,
        ahead=(),
        few=False,
        idle=None,
        at_once=False,
    ):
        """Calls that fit and score.

        Workers also learn ``ahead`` what the next rung shares. With ``few`` samples they get one
        call for each thread. ``idle(n)`` is called when n threads have no call, at the first result
        or ``at_once``.
        """

        def learned(shared, found):
            self.learned.add(shared.key)
            shared.keep(found)

        def fitted(t, j, job, found):
            for (w, at), predictions in zip(job, found):
                for k, predicted in zip(at, predictions):
                    if predicted is not None:  # a path may omit values
                        self._take((w, k, t), predicted)
            progress(t * self.parts + j * self.parts // len(per_fold))
            n_idle.append(n_idle[-1] + 1)
            if idle is not None and 0 < n_idle[-1] < n_threads:
                idle(n_idle[-1])

        if apart and n_threads:
            first = [(partial(learned, one), one.learn) for one in self._unshared(tries)]
            if first:
                yield first
        jobs = self._jobs(tries, apart)
        if few and n_threads:
            jobs = _merged(jobs, -(-n_threads // len(folds)))
        per_fold = [(job, None) for job in jobs] if n_threads else self._divided(jobs)
        calls = []
        for t in folds:
            for j, (job, beside) in enumerate(per_fold, start=1):
                asked = [(w, [self.values[k] for k in at]) for w, at in job]
                given = (t, asked, beside) if beside else (t, asked)
                calls.append((partial(fitted, t, j, job), self.fits, *given))
        calls += [(partial(learned, one), one.learn) for one in ahead]
        n_idle = [n_threads - len(calls)]
        if idle is not None and at_once and n_idle[0] > 0:
            idle(n_idle[0])
        yield calls

    def _take(self, at, predicted):
        if self.keep:
            self.kept[at] = predicted
        self.scores[at], self.shown[at], *others = self.score(at[2], predicted)
        for scores, value in zip(self.others.values(), others):
            scores[at] = value
        if not np.isfinite([self.scores[at], *others]).all():
            raise ValueError("scoring gave NaN or infinite scores; all must be finite.")

    def table(self, level, rows, every, with_shown):
        """The `results_table` of a level; ``rows`` is in the order of the grid."""
        folds = self.folds(level)
        scores, shown = self.scores[:, :, folds], self.shown[:, :, folds]
        dropped = np.isnan(scores).any(axis=2) | (level < self.n_levels - 1)
        rungs = np.where(dropped, self.last, -1).ravel()[rows]
        scores, shown = (A.reshape(-1, len(folds))[rows].T for A in (scores, shown))
        found = results_table(every, scores, shown if with_shown else None, rungs)
        for name, other in self.others.items():
            other = other[:, :, folds].reshape(-1, len(folds))[rows].T
            found.update(score_columns(name, np.ascontiguousarray(other)))
        return found


def _merged(jobs, n):
    """At most n jobs with the tries of all, and about equally many in each."""
    merged = [[] for _ in range(min(n, len(jobs)))]
    for job in sorted(jobs, key=len, reverse=True):
        min(merged, key=len).extend(job)
    return merged


def _ranked(scores):
    """(candidate, best value) of the candidates that were tried on all folds.

    The best comes first; ties go to the first candidate, and to the first value.
    """
    mean = np.where(np.isnan(scores).any(axis=2), -np.inf, scores.mean(axis=2))
    best, order = mean.max(axis=1), []
    while (best > -np.inf).any():
        w = first_best(best)
        order.append((w, first_best(mean[w])))
        best[w] = -np.inf
    return order


def check_grid(name, values, default, strict=True):
    """Candidate values of a machine's parameter as a list of float."""
    if values is None:
        values = default
    elif isinstance(values, np.ndarray):
        values = np.atleast_1d(values).tolist()
    elif isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        values = [values]  # a number; anything else raises an error below
    values = list(values)
    if not values:
        raise ValueError(f"{name} is empty; give at least one value.")
    return [check_number(name, v, low=0.0, strict=strict, finite=name != "Cs") for v in values]
