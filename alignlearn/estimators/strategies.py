"""The choice among ways to make a kernel, by folds, and the average of the best machines.

A *way* makes a kernel of a training set: one width chosen by leave-one-out errors, weights of a
ladder by a rule, either also on features whose scales are learned. Every fold makes it from its own
training set; the first two folds drop all but the best ways (successive halving: Jamieson and
Talwalkar 2016), the others judge these. Decisions of the best ways may be averaged, each in units
of its mean absolute decision.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from alignlearn.kernels import Gaussian
from alignlearn.machines.width_and_ridge import leave_one_out_width_and_ridge
from alignlearn.solvers.multiclass import confidences, summed_decisions
from alignlearn.sources import open_source
from alignlearn.statistics.targets import target_columns
from alignlearn.validation import is_sparse
from alignlearn.weights import get_weighting

from . import tuning
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

_SEARCHED = 200  # samples that a width is chosen on
_SCALED = 2000  # samples that scales are learned on
_TRIMMED = 5  # values of a grid whose ends are left out at first
_MOST_FULL = 100  # features of which a matrix is learned
_MANY = 64  # features times targets whose gradients take longer than what is done before
_LEAST = 1e-12  # numbers whose products float32 holds
_LOSS = 0.3  # of the log loss, in units of accuracy
_TEMPERATURES = 2.0 ** np.arange(-5.0, 5.5, 0.5)


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


class Problem:
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


class Fits(NamedTuple):
    """What machines need on every fold; a call gives the predictions of some ways on one."""

    problem: Problem
    folds: list
    statistics: Any
    learners: dict
    parameter: str
    path: Any

    def __call__(self, t, tries):
        """Test predictions on fold t for each (way, values), a list for each."""
        found = [None] * len(tries)
        # The gradients for a matrix are those for scales, too.
        for k in sorted(range(len(tries)), key=lambda k: not tries[k][0].full):
            found[k] = self._of(t, *tries[k])
        return found

    def _of(self, t, way, values):
        problem, train = self.problem, self.folds[t][0]
        source = problem.opened(way, train)
        learner = copy.copy(self.learners[way.rule]).set_params(**{self.parameter: values[0]})
        if way.rule is None:
            weights = _unit_trace(source, train, learner.normalize)
        else:
            statistics = self.statistics[t] if source is problem.source else None
            if statistics is None:
                unbiased = {"unbiased": learner.unbiased}
                asked = problem.y[train], problem.task
                statistics = source.part(train).statistics(*asked, **unbiased)
            of_fold = {"train": train, "statistics": statistics}
            rule = get_weighting(learner.weighting)
            weights = tuning.fold_weights(learner, source, problem.y, rule, **of_fold)
        return list(self.path(source.combine(weights), problem.y, self.folds[t], values))


def _unit_trace(source, train, normalize):
    """The factor (1,) by which one kernel has mean diagonal 1 when centred, or 1."""
    K = source.whole()  # made here, for what follows
    if normalize is None:
        return np.ones(1)
    share = np.zeros(source.n_samples)
    share[train] = 1.0 if source.weight is None else source.weight[train]
    if K is None:
        source, share = source.part(train), share[train]
        K = source.single(0).gram()
    share /= share.sum()
    trace = float(share @ K.diagonal() - share @ (K @ share))
    return np.array([1.0 / trace if trace > 0.0 else 1.0])


# Scores


def class_score(raw, codes, n_classes, multiclass, weight=None):
    """Accuracy less 0.3 times the log loss at the best temperature, and the accuracy.

    Parameters
    ----------
    raw : ndarray of shape (n, n_problems)
        Decisions.
    codes : ndarray of int of shape (n,)
    """
    found = confidences(raw, n_classes, multiclass)
    labels = (found > 0.0).astype(int) if n_classes == 2 else found.argmax(axis=1)
    accuracy = float(np.average(labels == codes, weights=weight))
    share = np.full(len(codes), 1.0 / len(codes)) if weight is None else weight / weight.sum()
    logits = class_logits(raw, n_classes, multiclass).T
    # Beside the true class, of which the log loss is that of the sum of exponentials.
    beside = logits - logits[codes, np.arange(len(codes))]
    top = beside.max(axis=0)
    scales = (_TEMPERATURES / (np.abs(logits).mean() or 1.0))[:, None]
    losses = np.log(np.exp(scales * (beside - top)[:, None]).sum(axis=0)) + scales * top
    return accuracy - _LOSS * float((losses @ share).min()), accuracy


def class_logits(raw, n_classes, multiclass):
    """Decisions as a column for each class: means over the problems that it is in."""
    if n_classes == 2:
        return np.hstack([-0.5 * raw, 0.5 * raw])
    if multiclass == "ovr":
        return raw
    return summed_decisions(raw, n_classes) / (n_classes - 1)


# The search


class Found(NamedTuple):
    """What the folds say.

    Attributes
    ----------
    scores, shown : ndarray of shape (n_ways, n_values, n_folds)
        NaN where it was not tried.
    order : list of (int, int)
        The best way and value, and those to be averaged with it.
    kept : dict
        Predictions on every fold for each of ``order``.
    """

    scores: np.ndarray
    shown: np.ndarray
    order: list
    kept: dict


class _Trials:
    """Scores of ways and values on folds, as far as they were tried."""

    def __init__(self, fits, plan, values, score, client, progress):
        self.fits, self.plan, self.values = fits, plan, values
        self.score, self.client, self.progress = score, client, progress
        shape = len(plan.ways), len(values), len(fits.folds)
        self.scores, self.shown = np.full((2, *shape), np.nan)
        self.kept = {}

    def run(self, folds, tries):
        """Try pairs (way, values), by their numbers, on some folds."""
        ways, folds = self.plan.ways, list(folds)
        asked = [(ways[w], [self.values[k] for k in at]) for w, at in tries]

        def take(job, found):
            for (w, at), predictions in zip(tries, found):
                for k, predicted in zip(at, predictions):
                    self._keep((w, k, folds[job]), predicted)
            self.progress(folds[job] + 1)

        tuning.each(self.client, self.fits, [(t, asked) for t in folds], take)

    def _keep(self, at, predicted):
        self.kept[at] = predicted
        self.scores[at], self.shown[at] = self.score(at[2], predicted)
        if not np.isfinite(self.scores[at]):
            raise ValueError("scoring gave NaN or infinite scores; all must be finite.")


def search(fits, plan, values, score, client, progress):
    """Try the ways of a plan on the folds.

    Parameters
    ----------
    fits : Fits
    plan : Plan
    values : list of float
        Increasing.
    score : callable
        ``score(t, predictions)``: what is to be large, and what is shown beside it.
    client : dask.distributed.Client or None
    progress : callable
        ``progress(n)`` after fold n - 1.
    """
    trials = _Trials(fits, plan, values, score, client, progress)
    n, everything = len(fits.folds), list(range(len(values)))
    first = len(plan.kept) if len(plan.kept) < n else 0
    one_by_one = first and fits.parameter == "C"  # all values of alpha cost as much as one
    # The largest C takes longest: ends of the grid are tried where their neighbours are best.
    inner = everything[1:-1] if one_by_one and len(values) >= _TRIMMED else everything
    going, reach = [(w, inner) for w in range(len(plan.ways))], 1 if one_by_one else len(values)
    for t, kept in enumerate(plan.kept[:first]):
        trials.run([t], going)
        some = everything if t + 1 == first else inner
        best = _ranked(trials.scores[:, :, : t + 1])[:kept]
        going = [(w, [j for j in some if abs(j - k) <= reach]) for w, k in best]
    trials.run(range(first, n), going)
    later = trials.scores[:, :, first:].mean(axis=2)
    for w, _ in going if first else ():
        k = int(np.nanargmax(later[w]))
        for t in np.flatnonzero(np.isnan(trials.scores[w, k, :first])):
            trials.run([int(t)], [(w, [k])])
    order = _ranked(trials.scores)[: plan.averaged]
    kept = {(w, k): [trials.kept[w, k, t] for t in range(n)] for w, k in order}
    return Found(trials.scores, trials.shown, order, kept)


def _ranked(scores):
    """(way, value) of the ways that were tried on all folds, the best first, at their best value.

    Of equal ways the first, of equal values the smallest.
    """
    mean = np.where(np.isnan(scores).any(axis=2), -np.inf, scores.mean(axis=2))
    best = mean.max(axis=1)
    order = np.argsort(-best, kind="stable")
    return [(int(w), int(mean[w].argmax())) for w in order if best[w] > -np.inf]
