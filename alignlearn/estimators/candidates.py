"""What a search chooses among: rules for the weights, or the ways of a strategy to make a kernel.

A *way* makes a kernel from the training samples of a fold: one width chosen by leave-one-out
errors, or weights of a ladder by a rule, both also on features whose scales are learned.
"""

from __future__ import annotations

import copy
from functools import partial
from typing import NamedTuple

import numpy as np

from alignlearn.kernels import Gaussian
from alignlearn.machines.width_and_ridge import leave_one_out_width_and_ridge
from alignlearn.sources import open_source
from alignlearn.statistics.targets import target_columns
from alignlearn.validation import is_sparse
from alignlearn.weights import get_weighting, stage_one, uses_samples

from .feature_scales import (
    RIDGES,
    WIDTHS,
    draw,
    in_units,
    learned_scales,
    ridge_on,
    root_of,
    rows_of,
    squares_of,
    transformed,
)
from .search import Candidate

_SEARCHED = 200  # samples that a width is chosen on
_SCALED = 2000  # samples that scales are learned on
_MOST_FULL = 100  # features of which a matrix is learned
_MANY = 64  # features times targets whose gradients take longer than what is done before
_LEAST = 1e-12  # numbers whose products float32 holds


# Rules


def check_weightings(weighting):
    """The candidates as given, the rules they name, and whether several were given."""
    several = isinstance(weighting, (list, tuple))
    given = list(weighting) if several else [weighting]
    if not given:
        raise ValueError("weighting is an empty list; give at least one rule.")
    return given, [get_weighting(rule) for rule in given], several


def from_statistics(rule):
    """Whether a rule finds its weights from the alignment statistics alone."""
    return not uses_samples(rule)


def fold_weights(learner, source, y, *, train, statistics=None):
    """Weights of the unscaled kernels, learned on one training set: see `fold_result`."""
    found = fold_result(learner, source, y, train=train, statistics=statistics)
    return found.weights * found.scale


def fold_result(learner, source, y, *, train, statistics=None):
    """What stage 1 learns on one training set: a `alignlearn.weights.stage_one.Learned`.

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
        Of the training set, where they are known.
    """
    task = "classification" if learner._estimator_type == "classifier" else "regression"
    problem = learner._problem(source, y, task, rows=train, statistics=statistics)
    return stage_one.learn(problem, learner.weighting)


class RuleKernels:
    """Kernels of one source whose weights rules learn from the training samples of a fold.

    Parameters
    ----------
    source : Source
        Of all samples, each of positive weight.
    y : ndarray of shape (m,) or (m, q)
    folds : list of (train, test)
    statistics : sequence of AlignmentStatistics
        Of every training set, by number; read only for rules that need no more.
    learners : list of MKLClassifier or MKLRegressor
        With the rules as ``weighting``, not fitted.
    parameter : {"C", "alpha"}
    """

    def __init__(self, source, y, folds, statistics, learners, parameter):
        self.source, self.y, self.folds = source, y, folds
        self.statistics, self.learners, self.parameter = statistics, learners, parameter
        self.rules = [get_weighting(learner.weighting) for learner in learners]

    def make(self, number, fold, value):
        """The `Combination` by the rule of a number, learned on a training set."""
        learner = copy.copy(self.learners[number]).set_params(**{self.parameter: value})
        of_fold = {"train": self.folds[fold][0], "statistics": self.statistics[fold]}
        weights = fold_weights(learner, self.source, self.y, **of_fold)
        return self.source.combine(weights)

    def candidates(self):
        """A `Candidate` for each rule."""
        return [
            Candidate(
                learner.weighting,
                partial(self.make, number),
                by_value=takes_parameter(learner.weighting, self.rules[number], self.parameter),
                job=number,
            )
            for number, learner in enumerate(self.learners)
        ]


def takes_parameter(given, rule, parameter):
    """Whether the weights depend on the machine's parameter.

    That is so for a one-stage rule given by name: it takes the machine's own parameter.
    """
    named = isinstance(given, str) and not from_statistics(rule)
    return named and parameter in rule.get_params(deep=False)


def fold_statistics(source, y, task, rules, folds, options):
    """Statistics of every training set by number, of all samples where ``folds`` is None.

    Those of one training set are held at a time, but for a client.

    Parameters
    ----------
    options : dict
        ``unbiased`` and ``client``.
    """
    unbiased = {"unbiased": options["unbiased"]}
    if not any(from_statistics(rule) for rule in rules):
        return [None] * (1 if folds is None else len(folds))
    if folds is None:
        return [source.statistics(y, task, **unbiased)]
    found = source.training_statistics(y, task, [train for train, _ in folds], **unbiased)
    return InTurn(found) if options["client"] is None else list(found)


class InTurn:
    """Items of a generator by number, none before the last one asked for: one is held at a time."""

    def __init__(self, items):
        self._items, self._number, self._item = iter(items), -1, None

    def __getitem__(self, number):
        while self._number < number:
            self._item, self._number = None, self._number + 1
            self._item = next(self._items)
        return self._item


# Ways


class Way(NamedTuple):
    """How a kernel is made of a training set.

    Attributes
    ----------
    name : str
    rule : str or None
        Of the weights of the ladder; None is the one kernel of the smallest leave-one-out error.
    scaled : bool
        On features with learned scales.
    full : bool
        On features times the root of a learned matrix.
    """

    name: str
    rule: str | None
    scaled: bool
    full: bool = False


WAYS = (
    Way("uniform", "uniform", False),
    Way("alignf", "alignf", False),
    Way("single", None, False),
    Way("scaled-single", None, True),
    Way("scaled-uniform", "uniform", True),
    Way("rotated-single", None, True, True),
)
MORE_WAYS = (*WAYS, Way("scaled-alignf", "alignf", True))


class Plan(NamedTuple):
    """What a strategy tries.

    Attributes
    ----------
    ways : tuple of Way
    kept : tuple of int
        How many go on after the first fold, the second, and so on; where it ends, all that are left
        go on.
    averaged : int
    """

    ways: tuple
    kept: tuple
    averaged: int


PLANS = {
    "auto": Plan(WAYS, (len(WAYS), 2), 2),
    "best": Plan(WAYS, (), 1),
    "thorough": Plan(MORE_WAYS, (), 3),
}


class WayKernels:
    """Samples and targets of one search, and the kernels that ways make of them.

    Parameters
    ----------
    source : Source
        Of the ladder, as opened from ``kernels``; of samples of positive weight.
    kernels : as given to the estimator; None is the default ladder
    y : ndarray of shape (m,) or (m, q)
        As checked.
    task : {"classification", "regression"}
    rng : numpy.random.Generator
    """

    def __init__(self, source, kernels, y, task, rng):
        self.source, self.y, self.task = source, y, task
        # Rules for gamma are for the features with their scales, too.
        self.kernels = None if kernels is None else source.fitted_kernels
        Y = target_columns(y, source.n_samples, task, weight=source.weight)
        if task == "regression":
            Y = in_units(Y, source.weight)
        # Of all classes beside one another one column is minus the sum of the others: turned, the
        # columns have one less, and the same sums of squares.
        self._order = Y @ np.arange(1.0, Y.shape[1] + 1.0)[:, None]
        self.Y = Y @ _turn(Y.shape[1]) if task == "classification" and Y.shape[1] > 1 else Y
        self.single, self.alpha = self._single(rng) if source.is_paired else (None, None)
        self._roots, self.everything = (None, {}), np.arange(source.n_samples)
        self._of_single = None

    def ways(self, plan):
        """The ways of a plan that these kernels have, the `Plan` with these."""
        paired = self.source.is_paired
        dense = isinstance(self.source.X, np.ndarray)
        vectors = paired and getattr(self.source.X, "ndim", 0) == 2 and has_gradient(self.single)
        some = [
            way
            for way in plan.ways
            if (way.rule is not None or paired)
            and (not way.scaled or vectors)
            and (not way.full or (dense and self.source.n_features <= _MOST_FULL))
        ]
        if len(self.source.names) == 1:  # equal weights, learned ones and the best are the same
            some = [way for way in some if way.rule == "uniform"]
        return plan._replace(ways=tuple(some))

    def _single(self, rng):
        """The kernel and the penalty of the smallest leave-one-out error on some samples."""
        source, kernels = self.source, self.source.fitted_kernels
        if self.kernels is None:
            kernels = [k.resolve(source.X, source.weight) for k in Gaussian().widths(WIDTHS)]
        X, Y, weight = rows_of(draw(self._order, _SEARCHED, rng), source.X, self.Y, source.weight)
        found = leave_one_out_width_and_ridge(X, Y, kernels, RIDGES, weight, engine=source.engine)
        return found.kernel, found.alpha

    def root(self, train, full=False):
        """Roots of the scales of the features, or of their matrix, learned on a training set."""
        roots = self._roots
        if roots[0] is not train:
            roots = self._roots = train, {}
        found = roots[1]
        if full not in found:
            source, some = self.source, train
            if len(train) > _SCALED:
                some = train[draw(self._order[train], _SCALED, np.random.default_rng(0))]
            X, Y, weight = rows_of(some, source.X, self.Y, source.weight)
            asked = X, Y, self.single, self.alpha
            how = {"weight": weight, "engine": source.engine}
            if "fit" not in found:
                found["fit"] = ridge_on(*asked, gram=self._gram(some), **how)
            how["dtype"] = self._of_gradients()
            start = found.get("squares")  # of both, where those of the matrix come first
            if start is None or full:
                start = found["squares"] = squares_of(X, self.single, found["fit"], full, **how)
            start = np.diagonal(start) if start.ndim > 1 and not full else start
            path = learned_scales(*asked, choose=False, start=start, full=full, **how)
            found[full] = root_of(path.matrix if full else path.scales)
        return found[full]

    def learn(self, ways):
        """Learn what some ways need of all samples; gradients for a matrix are those for scales."""
        for way in sorted(ways, key=lambda way: not way.full):
            if way.scaled:
                self.root(self.everything, way.full)

    def _gram(self, some):
        """The matrix of the one kernel on some samples, where it is part of what there is."""
        single = self.single
        known = single.is_exponential and single.has_unit_diagonal
        whole = self.of_single().whole() if known else None
        if whole is None:
            return None
        K = whole.take(some, axis=0).take(some, axis=1)
        K += 1.0 - K[0, 0]  # the constant that it may be without; the gradient's matrix has it
        return K

    def _of_gradients(self):
        """float32, which is precise enough, where it pays and holds what they are products of."""
        if self.Y.shape[1] * self.source.n_features < _MANY:
            return np.float64
        X = self.source.X.data if is_sparse(self.source.X) else self.source.X
        size = max(X.max(initial=0.0), -X.min(initial=0.0))
        bounded = self.single.largest_value is not None and _LEAST < size < 1.0 / _LEAST
        return np.float32 if bounded else np.float64

    def opened(self, way, train):
        """The source of a way on all samples, with scales learned on a training set."""
        if not way.scaled:
            return self.source if way.rule is not None else self.of_single()
        X = transformed(self.source.X, self.root(train, way.full))
        return self._opened(X, self.kernels if way.rule is not None else [self.single])

    def of_single(self):
        """The source of the one kernel on the samples as they are."""
        if self._of_single is None:
            self._of_single = self._opened(self.source.X, [self.single])
        return self._of_single

    def _opened(self, X, kernels):
        how = {"engine": self.source.engine, "progress": self.source.progress}
        return open_source(X, kernels, sample_weight=self.source.weight, **how)


def _turn(n):
    """Orthonormal columns (n, n - 1), which sum to 0."""
    return np.linalg.qr(np.eye(n) - 1.0 / n)[0][:, : n - 1]


def has_gradient(kernel):
    """Whether the gradient of a kernel is known."""
    try:
        return bool(kernel.gradient())
    except TypeError:
        return False


class FoldWays:
    """Kernels that ways make from the training samples of a fold.

    Parameters
    ----------
    kernels : WayKernels
    folds : list of (train, test)
    statistics : sequence of AlignmentStatistics
        Of the ladder on every training set, by number.
    learners : dict
        An estimator that is not fitted for each rule of the ways.
    parameter : {"C", "alpha"}
    """

    def __init__(self, kernels, folds, statistics, learners, parameter):
        self.kernels, self.folds, self.statistics = kernels, folds, statistics
        self.learners, self.parameter = learners, parameter
        # A fold is tried again after later ones, when its statistics are gone.
        self._of_ladder = {}

    def make(self, way, fold, value):
        """The `Combination` of a way, learned on a training set."""
        source = self.kernels.opened(way, self.folds[fold][0])
        return source.combine(self._weights(way, source, fold, value))

    def candidates(self, ways):
        """A `Candidate` for each way; the gradients for a matrix are those for scales, too."""
        return [
            Candidate(way.name, partial(self.make, way), turn=0 if way.full else 1) for way in ways
        ]

    def _weights(self, way, source, fold, value):
        train, learner = self.folds[fold][0], self.learners[way.rule]
        if way.rule is None:
            found = stage_one.scale_one(source, normalize=learner.normalize, rows=train)
            return found.weights * found.scale
        learner = copy.copy(learner).set_params(**{self.parameter: value})
        asked = learner, source, self.kernels.y
        if source is not self.kernels.source:
            return fold_weights(*asked, train=train)
        if (fold, way.rule) not in self._of_ladder:
            found = fold_weights(*asked, train=train, statistics=self.statistics[fold])
            self._of_ladder[fold, way.rule] = found
        return self._of_ladder[fold, way.rule]
