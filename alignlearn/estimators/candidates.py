"""Rules for the weights of given kernels as the candidates of a search."""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from functools import partial

import numpy as np

from alignlearn.sources import open_source
from alignlearn.weights import get_weighting, stage_one

from .prepared_columns import PreparedMatrix, check_varies, prepare
from .search import Candidate, Made

_OF_SAMPLES = ("source", "grams")  # what rules need that statistics do not contain


def check_weightings(weighting):
    """Return the candidates as given, their rules, and whether several were given."""
    several = isinstance(weighting, (list, tuple))
    given = list(weighting) if several else [weighting]
    if not given:
        raise ValueError("weighting is an empty list; give at least one rule.")
    return given, [_rule(rule) for rule in given], several


def _rule(weighting):
    """`get_weighting`, with an error that also names "auto"."""
    try:
        return get_weighting(weighting)
    except ValueError as error:
        if not isinstance(weighting, str):
            raise
        words = str(error).replace("; accepted: ", "; accepted: 'auto', ", 1)
        raise ValueError(words) from error


def fold_result(learner, source, y, *, train, statistics=None):
    """Learn stage 1 on one training set; return `alignlearn.weights.stage_one.Learned`.

    Parameters
    ----------
    learner : MKLClassifier or MKLRegressor
        With the candidate's parameters, not fitted.
    source : Source
        Of all samples.
    y : ndarray
        Of all samples.
    train : ndarray of int
    statistics : AlignmentStatistics, optional
        Those of the training set, if known.
    """
    problem = learner._problem(source, y, learner._task, rows=train, statistics=statistics)
    return stage_one.learn(problem, learner.weighting)


def fold_results(learner, source, y, folds):
    """Yield the result of stage 1 on the training set of each fold, see `fold_result`."""
    options = {"unbiased": learner.unbiased, "client": None}
    rules = [get_weighting(learner.weighting)]
    statistics = fold_statistics(source, y, learner._task, rules, folds, options)
    for (train, _), found in zip(folds, statistics):
        yield fold_result(learner, source, y, train=train, statistics=found)


class RuleKernels:
    """Kernels of one source with weights that rules learn from the training samples of a fold.

    Parameters
    ----------
    source : Source
        Of all samples, each of positive weight.
    y : ndarray of shape (m,) or (m, q)
    folds : list of (train, test)
    statistics : list, `OfFolds` or generator of AlignmentStatistics
        Those of every training set; read only for rules that need nothing else.
    learners : list of MKLClassifier or MKLRegressor
        With the rules as ``weighting``, not fitted.
    parameter : {"C", "alpha"}
    n_values : int
        Number of its values to try.
    of_folds : FoldSources, optional
        The source of each fold, if its samples are prepared on its training set.
    """

    def __init__(self, source, y, folds, statistics, learners, parameter, n_values, of_folds=None):
        self.of_folds = of_folds
        self.source, self.y, self.folds = source, y, folds
        self.learners, self.parameter = learners, parameter
        self.rules = [get_weighting(learner.weighting) for learner in learners]
        uses = sum(n_values if self._by_value(k) else 1 for k in range(len(learners)))
        held = isinstance(statistics, Sequence)
        self.statistics = statistics if held else InTurn(statistics, uses)

    def _by_value(self, number):
        """Whether the weights of rule number k depend on the machine's parameter.

        This is the case for a one-stage rule given by name, which uses the machine's parameter.
        """
        rule = self.rules[number]
        named = isinstance(self.learners[number].weighting, str) and rule.needs in _OF_SAMPLES
        return named and self.parameter in rule.get_params(deep=False)

    def make(self, number, fold, value):
        """Return the kernel by rule number k, learned on a training set, as a `Made`."""
        learner = copy.copy(self.learners[number]).set_params(**{self.parameter: value})
        of_fold = {"train": self.folds[fold][0], "statistics": self.statistics[fold]}
        source = self.source if self.of_folds is None else self.of_folds[fold]
        found = fold_result(learner, source, self.y, **of_fold)
        return Made(source.combine(found.unscaled), self.y, self.folds[fold])

    def candidates(self):
        """Return a `Candidate` for each rule."""
        return [
            Candidate(
                learner.weighting,
                partial(self.make, number),
                by_value=self._by_value(number),
                job=number,
            )
            for number, learner in enumerate(self.learners)
        ]


class FoldSources(Sequence):
    """Sources on a data frame that is prepared on the training samples of each fold alone.

    Parameters
    ----------
    frame : FrameColumns
        The data frame of the samples of ``source``.
    source : Source
        All of these samples, each of positive weight, with their weights and options.
    kernels : as given to the estimator
    folds : list of (train, test)

    Attributes
    ----------
    preparations : dict {int: Preparation}
        Preparations of the folds whose sources were opened.
    """

    def __init__(self, frame, source, kernels, folds):
        self.frame, self.source, self.kernels, self.folds = frame, source, kernels, folds
        self._made, self.preparations = {}, {}

    def __len__(self):
        return len(self.folds)

    def __getitem__(self, number):
        if number not in self._made:  # two threads that compute it get the same result
            train, source = self.folds[number][0], self.source
            preparation = prepare(self.frame[train], source.weight_of(train))
            check_varies(preparation)
            how = {"engine": source.engine, "progress": source.progress}
            X = preparation.apply(self.frame)
            found = open_source(X, self.kernels, sample_weight=source.weight, **how)
            self._made[number], self.preparations[number] = found, preparation
        return self._made[number]

    def __getstate__(self):
        return {**vars(self), "_made": {}}


def fold_statistics(source, y, task, rules, folds, options):
    """Return statistics of every training set by number, or of all samples if ``folds`` is None.

    Without a client, the result is a generator or `OfFolds`, so that only the statistics of a few
    training sets are in memory.

    Parameters
    ----------
    source : Source, or a sequence of them for the folds
    options : dict
        ``unbiased`` and ``client``.
    """
    unbiased = {"unbiased": options["unbiased"]}
    if all(rule.needs in _OF_SAMPLES for rule in rules):
        return [None] * (1 if folds is None else len(folds))
    if folds is None:
        return [source.statistics(y, task, **unbiased)]
    if isinstance(source, Sequence):
        found = OfFolds(source, y, task, folds, unbiased)
        return found if options["client"] is None else list(found)
    found = source.training_statistics(y, task, [train for train, _ in folds], **unbiased)
    return found if options["client"] is None else list(found)


class OfFolds(Sequence):
    """Statistics of the training set of each fold on its own source, computed when first read.

    Folds without candidates that read statistics compute none.

    Parameters
    ----------
    sources : sequence of Source
    y : ndarray of shape (m,) or (m, q)
    task : {"classification", "regression"}
    folds : list of (train, test)
    options : dict
        ``unbiased``.
    """

    def __init__(self, sources, y, task, folds, options):
        self._given = sources, y, task, folds, options
        self._made, self._locks = {}, [threading.Lock() for _ in folds]

    def __len__(self):
        return len(self._locks)

    def __getitem__(self, number):
        sources, y, task, folds, options = self._given
        with self._locks[number]:
            if number not in self._made:
                train = folds[number][0]
                found = sources[number].training_statistics(y, task, [train], **options)
                self._made[number] = next(iter(found))
            return self._made[number]


class InTurn:
    """Items of a generator by number, from any thread; each is kept for a given number of reads.

    Parameters
    ----------
    items : iterable
    uses : int
    """

    def __init__(self, items, uses):
        self._items, self._next, self._held = iter(items), 0, {}
        self._lock, self._uses = threading.Lock(), uses

    def __getitem__(self, number):
        with self._lock:
            while self._next <= number:
                self._held[self._next] = next(self._items), self._uses
                self._next += 1
            item, left = self._held.pop(number)
            if left > 1:
                self._held[number] = item, left - 1
            return item


def used_frame(X, source):
    """Return the `FrameColumns` of the samples of positive weight; None if X is no data frame."""
    frame = getattr(X, "frame", None) if isinstance(X, PreparedMatrix) else None
    if frame is None or source.weight is None or source.weight.all():
        return frame
    return frame[np.flatnonzero(source.weight)]


def prepared_without(level, X, frame, source):
    """Prepare the samples on those that no fold of a level tests."""
    tests = np.concatenate([test for _, test in level.of_all()])
    rest = np.setdiff1d(np.arange(len(frame)), tests)
    weight = source.weight if source.weight is None else source.weight[source.weight > 0.0][rest]
    preparation = prepare(frame[rest], weight)
    check_varies(preparation)
    return PreparedMatrix.of(preparation, X.frame, again=True)
