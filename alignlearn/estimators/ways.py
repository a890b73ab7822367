"""The kernels that the ways of a strategy make of the training samples of a fold."""

from __future__ import annotations

import copy
import threading
from functools import partial
from itertools import combinations

import numpy as np

from alignlearn.kernels import Columns, Gaussian, Laplacian, Linear
from alignlearn.machines.width_and_ridge import leave_one_out_width_and_ridge
from alignlearn.sources import open_source
from alignlearn.statistics.targets import target_columns
from alignlearn.validation import is_sparse, varying
from alignlearn.weights import Problem, stage_one

from .candidates import FoldSources, fold_result
from .column_screening import column_alignments
from .feature_scales import (
    RIDGES,
    WIDTHS,
    Blocks,
    draw,
    in_units,
    learned_scales,
    ridge_on,
    root_of,
    rows_of,
    squares_of,
    transformed,
)
from .levels import LEVELS, WHOLE
from .plans import ROUGH_WAYS
from .search import Candidate, Made

_SEARCHED, _SEARCHED_OF_MANY = 200, 500  # samples that a width is chosen on; of WHOLE and more
_SCALED = 2000  # samples that scales are learned on
_ITERATED = 1000  # samples from which on scales are iterated until they settle
_ITERATIONS, _SETTLED = 6, 0.05  # at most, and the change that ends them
_NEARLY = 1.025  # of the least leave-one-out error: widths that are as good, to noise
_REVEALED = 0.9  # of the leave-one-out error is left on scaled features: scales are learned further
_MOST_FULL = 100  # features of which a matrix is learned
_MOST_COLUMNS = 10_000  # columns up to which some have a kernel each
_SCREENED = 100  # columns with the best aligned kernels, which have one
_HEAVY = 12  # columns that keep a kernel beside pairs
_PAIRED = 6  # columns that are paired
# Least squares that are penalized so much have systems that few iterations solve, and for support
# vector machines on columns a larger C takes longest and seldom gains anything.
MOST_C = 10.0
_MOST_PARTNERED = 10_000  # samples up to which there are partners by least squares
_OVERLAP = 0.5  # of the error of the largest class; more is left where classes overlap
_GAMMA = 0.5  # of a column of variance 1
_MANY = 64  # features times targets whose gradients take longer than what is done before
_LEAST = 1e-12  # numbers whose products float32 holds


class Known(dict):
    """What was learned, by key, with a lock for each key: who asks waits for that one alone."""

    def __init__(self, *values):
        super().__init__(*values)
        self._lock, self._locks = threading.Lock(), {}

    def lock(self, key):
        """The lock to hold while the value is looked up, and made where there is none."""
        with self._lock:
            return self._locks.setdefault(key, threading.Lock())

    def __reduce__(self):
        return type(self), (dict(self),)


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
    like : WayKernels, optional
        On more samples, of which the one kernel and its penalty are taken.
    preparation : Preparation, optional
        Of the data frame that the features come from; those of one column share a scale.
    """

    def __init__(self, source, kernels, y, task, rng, like=None, preparation=None):
        self.groups = None if preparation is None else preparation.groups
        self._labels = None if preparation is None else preparation.columns
        self._known = Known()
        self.source, self.y, self.task = source, y, task
        # Rules for gamma are for the features with their scales, too.
        self.kernels = None if kernels is None else source.fitted_kernels
        Y = target_columns(y, source.n_samples, task, weight=source.weight)
        if task == "regression":
            Y = in_units(Y, source.weight)
        # Of all classes beside one another one column is minus the sum of the others: turned, the
        # columns have one less, and the same sums of squares.
        self._order = Y @ np.arange(1.0, Y.shape[1] + 1.0)[:, None]
        classes = task == "classification" and np.ndim(y) == 1
        self.Y = Y @ _turn(Y.shape[1]) if classes and Y.shape[1] > 1 else Y
        if like is None:
            self.single, self.first = self._single(rng) if source.is_paired else (None, None)
        else:
            self.single, self.first = like.single, like.first
        self.everything = np.arange(source.n_samples)

    def ways(self, plan, n_samples=0, least_squares=False):
        """The ways of a plan that these kernels have for so many samples in all, as a `Plan`.

        With ``least_squares`` each has a partner of the same kernel, for averages. Ways on columns
        have none: the folds seldom choose one, and each partner costs 5% of a fit.
        """
        if n_samples > WHOLE and self.kernels is None:
            ways = (*plan.ways, *ROUGH_WAYS)
            narrower = (way.narrower() for way in ways if way.rule is None)
            plan = plan._replace(ways=(*ways, *narrower))
        paired = self.source.is_paired
        dense = isinstance(self.source.X, np.ndarray)
        vectors = paired and getattr(self.source.X, "ndim", 0) == 2 and has_gradient(self.single)
        some = [
            way
            for way in plan.ways
            if (way.rule is not None or paired)
            and (not way.scaled or vectors)
            and (not way.full or (dense and self.source.n_features <= _MOST_FULL))
            and (not way.rough or dense)
            and (not way.columns or (dense and self._by_columns(n_samples)))
        ]
        if len(self.source.names) == 1:  # equal weights, learned ones and the best are the same
            some = [way for way in some if way.rule == "uniform"]
        few = n_samples <= _MOST_PARTNERED
        if least_squares and plan.averaged > 1 and few and self._is_psd():
            some += [way.by_least_squares() for way in some if not way.columns]
        return plan._replace(ways=tuple(some))

    def _is_psd(self):
        """Whether the kernels are known to be positive semi-definite."""
        source = self.source
        return source.is_paired and all(k.is_psd for k in source.fitted_kernels)

    def _by_columns(self, n_samples):
        """Whether kernels of columns are tried: where columns and samples are few enough."""
        if self.kernels is not None or n_samples > LEVELS[1] or self.source.X.ndim != 2:
            return False
        return 2 <= len(np.unique(self._of_columns())) <= _MOST_COLUMNS

    def _of_columns(self):
        """The number of the column of each feature."""
        return np.arange(self.source.n_features) if self.groups is None else self.groups

    def _unit_root(self, train=None):
        """What makes the variance of each column 1, on a training set; 0 where it is constant."""
        rows = self.everything if train is None else train
        weight = None if self.source.weight is None else self.source.weight[rows]
        blocks = Blocks.of(self._of_columns(), self.source.X[rows], weight)
        total = np.bincount(blocks.groups, blocks.variances)
        vary = varying(self.source.X[rows])
        root = np.divide(1.0, np.sqrt(total), out=np.zeros_like(total), where=total > 0.0)
        return np.where(vary, root[blocks.groups], 0.0)

    def _column_kernels(self, which, root, train=None, fold=None):
        """The kernels of columns with these roots, learned on a training set."""
        if which == "linear":
            return [Linear()]
        of, members = self._of_columns(), {}
        for feature in np.flatnonzero(root).tolist():
            members.setdefault(int(of[feature]), []).append(feature)
        columns = self._screened(members, root, train)
        each = [self._on(members, (c,)) for c in columns]
        if which == "each":
            return each
        key = "weights", None if train is None else fold
        with self._known.lock(key):
            if key not in self._known:
                source = _reopened(self.source, transformed(self.source.X, root), each)
                found = self.column_statistics(source, train, fold)
                problem = Problem(source, self.y, self.task, rows=train, statistics=found)
                self._known[key] = stage_one.learn(problem, "alignf").weights
        weights = self._known[key]
        order = [k for k in np.argsort(-weights, kind="stable").tolist() if weights[k] > 0.0]
        heavy = [columns[k] for k in order[:_PAIRED]]
        pairs = [self._on(members, sorted(pair)) for pair in combinations(heavy, 2)]
        return [each[k] for k in sorted(order[:_HEAVY])] + pairs

    def column_statistics(self, source, train=None, fold=None):
        """Statistics on a training set of the kernels of single columns, which ``source`` has."""
        key = "statistics", None if train is None else fold
        with self._known.lock(key):
            if key not in self._known:
                part, y = source, self.y
                if train is not None:
                    part, y = source.part(train), y[train]
                self._known[key] = part.statistics(y, self.task)
            return self._known[key]

    def _screened(self, members, root, train):
        """The columns whose kernels are best aligned with the target, in the order of X."""
        columns = list(members)
        if len(columns) <= _SCREENED:
            return columns
        rows = self.everything if train is None else train
        X, Y, weight = rows_of(rows, self.source.X, self.Y, self.source.weight)
        given = transformed(X, root), Y, list(members.values()), _GAMMA
        best = np.argsort(-column_alignments(*given, weight), kind="stable")[:_SCREENED]
        return [columns[k] for k in np.sort(best)]

    def _on(self, members, columns):
        """The Gaussian on all features of some columns."""
        features = [feature for c in columns for feature in members[c]]
        name = None
        if self._labels is not None:
            name = " and ".join(str(self._labels[c]) for c in columns)
        return Columns(Gaussian(_GAMMA), features, name)

    def _single(self, rng):
        """The kernel of the smallest leave-one-out error on some samples, and what scales start on.

        Scales start on a kernel and a penalty. On many samples the kernel is the narrowest of
        nearly the smallest error, because a wide one misses features that matter only together.
        """
        source = self.source
        kernels = self._widths(source.X, source.weight)
        n = _SEARCHED if source.n_samples < WHOLE else _SEARCHED_OF_MANY
        X, Y, weight = rows_of(draw(self._order, n, rng), source.X, self.Y, source.weight)
        found = leave_one_out_width_and_ridge(X, Y, kernels, RIDGES, weight, engine=source.engine)
        errors, k = found.errors.min(axis=1), found.best[0]
        if self.kernels is None and n == _SEARCHED_OF_MANY:
            k = int(np.flatnonzero(errors <= _NEARLY * errors.min())[-1])
        a = found.best[1] if k == found.best[0] else found.errors[k].argmin()
        return found.kernel, (found.kernels[k], float(found.alphas[k, a]))

    def _widths(self, X, weight):
        """The kernels among which the one kernel is chosen, on these features."""
        if self.kernels is not None:
            return self.source.fitted_kernels
        return [k.resolve(X, weight) for k in Gaussian().widths(WIDTHS)]

    def kernels_of(self, way):
        """The kernels of a way, learned on all samples; None for the default ladder."""
        if way.columns:
            return self._column_kernels(way.columns, self._unit_root())
        if way.rough:
            return [Laplacian(multiple=way.multiple)]
        if way.rule is not None:
            return self.kernels
        same = way.multiple == 1.0
        return [self.single if same else Gaussian(way.multiple * self.single.gamma)]

    def root_of_way(self, way):
        """What a way multiplies features by, learned on all samples; None for nothing."""
        if way.columns:
            return self._unit_root()
        return self.root(way.full) if way.scaled else None

    def root(self, full=False, train=None, fold=None, matrix=None):
        """Roots of the scales of the features, or of their matrix, learned on a training set.

        Default: on all samples. With ``matrix`` the gradients are those for a matrix, which serve
        the scales, too; default: where it is learned.
        """
        rows, fold = (self.everything, None) if train is None else (train, fold)
        key = "root", fold, full
        with self._known.lock(key):
            if key not in self._known:
                self._known[key] = self._learned_root(full, full or bool(matrix), rows, fold)
            return self._known[key]

    def _learned_root(self, full, matrix, rows, fold):
        source, some = self.source, rows
        if len(rows) > _SCALED:
            some = rows[draw(self._order[rows], _SCALED, np.random.default_rng(0))]
        X, Y, weight = rows_of(some, source.X, self.Y, source.weight)
        asked = X, Y, *self.first
        options = {"weight": weight, "engine": source.engine}
        how = {**options, "dtype": self._of_gradients()}
        key = "squares", fold, matrix
        with self._known.lock(key):
            if key not in self._known:
                fit = ridge_on(*asked, gram=self._gram(some), **options)
                self._known[key] = squares_of(X, self.first[0], fit, matrix, **how)
        start = np.diagonal(self._known[key]) if matrix and not full else self._known[key]
        how["blocks"] = Blocks.of(self.groups, X, weight)
        if len(X) >= _ITERATED:
            how |= {"n_iterations": _ITERATIONS, "tol": _SETTLED}
        path = learned_scales(*asked, choose=False, start=start, full=full, **how)
        if full:
            return root_of(path.matrix)
        if len(X) < _ITERATED:
            return root_of(path.scales)
        few = draw(self._order[some], _SEARCHED_OF_MANY, np.random.default_rng(0))
        return root_of(self._learned_further(path.scales, X, Y, few, how))

    def _learned_further(self, scales, X, Y, few, how):
        """Scales learned again from these with a new width and penalty, where they reveal much.

        The first width is one of distances to which features without influence contribute, and the
        gradients of a machine that learns little are noise. ``few``: positions of the samples on
        which leave-one-out errors are compared.
        """
        scaled, weight, options = transformed(X, root_of(scales)), how["weight"], dict(how)
        search = {"ridges": RIDGES, "engine": how["engine"]}

        def found(X, kernels):
            given, target, w = rows_of(few, X, Y, weight)
            return leave_one_out_width_and_ridge(given, target, kernels, weight=w, **search)

        better = found(scaled, self._widths(scaled, weight))
        if better.errors.min() > _REVEALED * found(X, [self.first[0]]).errors.min():
            return scales
        options["blocks"] = Blocks.of(self.groups, scaled, weight)
        path = learned_scales(scaled, Y, better.kernel, better.alpha, choose=False, **options)
        new, blocks = scales * path.scales, how["blocks"]
        mass = np.ones(len(scales)) if blocks is None else blocks.variances
        return new * ((scales @ mass) / (new @ mass))

    def learn(self, ways):
        """Learn what some ways need of all samples; gradients for a matrix are those for scales."""
        new = [way for way in ways if way.scaled and ("root", None, way.full) not in self._known]
        for way in sorted(new, key=lambda way: not way.full):
            self.root(way.full, matrix=any(way.full for way in new))

    def _gram(self, some):
        """The matrix of the first kernel on some samples, where it is part of what there is."""
        single = self.first[0]
        known = single == self.single and single.is_exponential and single.has_unit_diagonal
        whole = self.of_single().whole() if known else None
        if whole is None:
            return None
        K = whole.take(some, axis=0).take(some, axis=1)
        K += 1.0 - K[0, 0]  # the constant that it may be without; the gradient's matrix has it
        return K

    def _of_gradients(self):
        """float32, which is precise enough, if it is faster and its range is sufficient."""
        if self.Y.shape[1] * self.source.n_features < _MANY:
            return np.float64
        X = self.source.X.data if is_sparse(self.source.X) else self.source.X
        size = max(X.max(initial=0.0), -X.min(initial=0.0))
        bounded = self.single.largest_value is not None and _LEAST < size < 1.0 / _LEAST
        return np.float32 if bounded else np.float64

    def opened(self, way, train=None, fold=None, source=None, matrix=None):
        """The source of a way on the samples of ``source``, with scales learned on a training set.

        Default: all samples of this object. ``matrix`` is as of `root`.
        """
        if way.columns:
            root = self._unit_root(train)
            kernels = self._column_kernels(way.columns, root, train, fold)
            source = self.source if source is None else source
            # Ridge regression on few features needs no matrix.
            pairs = way.columns != "linear" or self.task != "regression"
            return _reopened(source, transformed(source.X, root), kernels, pairs)
        plain = not (way.scaled or way.rough) and way.multiple == 1.0
        if plain and source is None and way.rule is None:
            return self.of_single()
        source = self.source if source is None else source
        if plain and way.rule is not None:
            return source
        X = source.X
        if way.scaled:
            X = transformed(X, self.root(way.full, train, fold, matrix))
        return _reopened(source, X, self.kernels_of(way))

    def of_single(self):
        """The source of the one kernel on the original samples."""
        with self._known.lock("single"):
            if "single" not in self._known:
                source = _reopened(self.source, self.source.X, [self.single])
                source.whole()  # made here, once, for all threads
                self._known["single"] = source
        return self._known["single"]


def _reopened(source, X, kernels, pairs=True):
    """Other kernels on the samples of a source, or what they were transformed to."""
    how = {"engine": source.engine, "progress": source.progress, "pairs": pairs}
    return open_source(X, kernels, sample_weight=source.weight, **how)


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
    kernels : list of WayKernels
        On the samples of the level, or of the first two levels: they learn on the training set of
        each fold, the third level takes what was learned on the second.
    levels : list of Level
    sources : list of Source
        On the samples of each level.
    ys : list of ndarray
        Their targets.
    statistics : list of sequences of AlignmentStatistics
        Of the ladder on the training sets of these folds, for each level.
    learners : dict
        An estimator that is not fitted for each rule of the ways.
    parameter : {"C", "alpha"}
    of_folds : list of list of WayKernels, optional
        Those of each fold of the first two levels, where its samples are prepared on its training
        set.
    least_squares : callable, optional
        The path of ways by least squares.
    """

    def __init__(
        self,
        kernels,
        levels,
        sources,
        ys,
        statistics,
        learners,
        parameter,
        of_folds=None,
        least_squares=None,
    ):
        self.least_squares = least_squares
        self.of_folds = None if of_folds is None else [one for level in of_folds for one in level]
        self.kernels, self.sources, self.ys, self.full = kernels, sources, ys, frozenset()
        self.learners, self.parameter = learners, parameter
        self.folds = [(k, fold) for k, level in enumerate(levels) for fold in level.folds]
        self.statistics = [(one, t) for one in statistics for t in range(len(one))]
        self._known = Known()

    def make(self, way, fold, value, beside=()):
        """The kernel of a way, learned on the training set of a fold or on the first level.

        ``beside`` are names of the ways that are tried on the fold together with this one.
        """
        level, split = self.folds[fold]
        if level < len(self.kernels):
            kernels, train = self.kernels[level], split[0]
            if self.of_folds is not None:
                kernels = self.of_folds[fold]
            matrix = not self.full.isdisjoint(beside)
            source = own = kernels.opened(way, train, fold, matrix=matrix)
        else:
            kernels, train = self.kernels[-1], None
            own, source = kernels.opened(way), kernels.opened(way, source=self.sources[level])
        # A partner by least squares has the weights of its way, too.
        key = way.parent if way.least_squares else way.name, fold
        with self._known.lock(key):
            if key not in self._known:
                self._known[key] = self._weights(way, kernels, own, value, train, fold)
        return Made(source.combine(self._known[key]), self.ys[level], split)

    def _weights(self, way, kernels, source, value, train, fold):
        """Weights that a way learns on a training set; on all samples where that is None."""
        learner = self.learners[way.rule]
        if way.rule is None:
            return stage_one.scale_one(source, normalize=learner.normalize, rows=train).unscaled
        learner, known = copy.copy(learner).set_params(**{self.parameter: value}), None
        if train is not None and source is kernels.source:
            of, t = self.statistics[fold]
            known = of[t]
        elif way.columns == "each" and not learner.unbiased:
            known = kernels.column_statistics(source, train, fold)
        return fold_result(learner, source, kernels.y, train=train, statistics=known).unscaled

    def candidates(self, ways):
        """A `Candidate` for each way.

        Those with scales belong together, as gradients for a matrix are those for scales, too, and
        those of one kernel.
        """
        number, until = {way.name: k for k, way in enumerate(ways)}, self._until()
        classes = self.kernels[-1].task == "classification"
        self.full = {way.name for way in ways if way.full}
        return [
            Candidate(
                way.name,
                partial(self.make, way),
                job=0 if way.scaled else 1 + number[way.parent if way.least_squares else way.name],
                turn=2 if way.least_squares else 0 if way.full else 1,
                group="columns" if way.columns else way.rough,
                parent=way.parent,
                path=self.least_squares if way.least_squares else None,
                most=MOST_C if way.least_squares or (way.columns and classes) else np.inf,
                until=until if way.least_squares else np.inf,
                divisible=way.scaled,
            )
            for way in ways
        ]

    def _until(self):
        """The accuracy up to which least squares serve: above `LEVELS[1]` they double the time.

        Where classes overlap decisions of support vector machines rank samples badly, and take
        longer.
        """
        y = self.ys[-1]
        if len(y) <= LEVELS[1] or self.least_squares is None:
            return np.inf
        largest = np.unique(y, return_counts=True, axis=0)[1].max()  # many labels: of a set
        return 1.0 - _OVERLAP * (1.0 - largest / len(y))


def level_kernels(sources, ys, kernels, task, rng, preparation):
    """The `WayKernels` on the samples of each level on which something is learned."""
    most = WayKernels(
        sources[-1], kernels, ys[len(sources) - 1], task, rng, preparation=preparation
    )
    fewer = [
        WayKernels(s, kernels, y, task, rng, most, preparation) for s, y in zip(sources[:-1], ys)
    ]
    return [*fewer, most]


def fold_kernels(frame, kernels, levels, *given):
    """For each level the `WayKernels` of each fold, prepared on its training set; None for none."""
    if frame is None:
        return None
    found = []
    for own, level in zip(kernels, levels):
        some = frame if level.rows is None else frame[level.rows]
        sources = FoldSources(some, own.source, given[0], level.folds)
        asked = given[0], own.y, *given[1:], kernels[-1]
        found.append(
            [WayKernels(s, *asked, sources.preparations[t]) for t, s in enumerate(sources)]
        )
    return found
