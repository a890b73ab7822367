"""The kernels that the candidates of a strategy make from the training samples of a fold."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from functools import partial
from itertools import combinations

import numpy as np

from alignlearn._threads import waiting
from alignlearn.engine.grams import submatrix
from alignlearn.kernels import Columns, Gaussian, Laplacian, Linear, kernel_list
from alignlearn.kernels.gradients import Gradients
from alignlearn.kernels.scales import resolve_each
from alignlearn.machines.choice import MOST_IN_BLOCKS
from alignlearn.machines.width_and_ridge import leave_one_out_width_and_ridge
from alignlearn.sources import open_source
from alignlearn.sources.pairs import PairSource
from alignlearn.statistics.targets import fewer_columns, target_columns
from alignlearn.validation import check_finite, is_sparse, varying
from alignlearn.weights import AlignF, Problem, stage_one

from .candidates import FoldSources
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
    transformed,
)
from .plans import ROUGH_WAYS, reserves
from .schedule import FINER, LEVELS, WHOLE
from .search import Candidate, Made, Shared

_SEARCHED, _SEARCHED_OF_MANY = 200, 500  # samples to choose a width on, below and from WHOLE on
_SCALED = 2000  # samples to learn scales on
_ITERATED = 1000  # samples from which on scales are iterated until they converge
_ITERATIONS, _SETTLED = 6, 0.05  # maximum number, and the change at which they end
_NEARLY = 1.025  # factor of the minimum leave-one-out error up to which widths are as good
_REVEALED = 0.9  # share of the error, by scaled features, from which scales are learned again
_MOST_FULL = 100  # features up to which a matrix is learned
_MOST_COLUMNS = 10_000  # columns up to which kernels of columns are tried
_SCREENED = 100  # columns that have a kernel: those best aligned with the target
_HEAVY = 12  # columns that keep a kernel in addition to pairs
_PAIRED = 6  # columns whose pairs have kernels
# The largest C of least squares, so that few iterations solve their systems, and of support vector
# machines on columns, where a larger C is slowest and seldom better.
MOST_C = 10.0
# Multiple of the error of always predicting the largest class from which two classes, or more,
# overlap.
_OVERLAP, _OVERLAP_OF_MANY = 0.18, 0.5
_UNEXPLAINED = 0.9  # share of the variance of the labels of two classes: strong overlap
_GAMMA = 0.5  # for a column of variance 1
_OF_COLUMNS = Gaussian(_GAMMA)
_MANY = 64  # features times targets above which gradients dominate the time
_LEAST = 1e-12  # smallest magnitude whose products float32 represents


class Known(dict):
    """Learned values by key, with one lock per key, so that a thread waits for its key only."""

    def __init__(self, *values):
        super().__init__(*values)
        self._lock, self._locks = threading.Lock(), {}

    @contextmanager
    def lock(self, key):
        """A context in which the value is read, or computed if it is missing."""
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        if lock.locked():  # another thread computes it
            with waiting(), lock:
                pass
        with lock:
            yield

    def __reduce__(self):
        return type(self), (dict(self),)


class WayKernels:
    """Samples and targets of one search, and the kernels that candidates make from them.

    Parameters
    ----------
    source : Source
        The ladder as opened from ``kernels``, on the samples of positive weight.
    kernels : as given to the estimator; None is the default ladder
    y : ndarray of shape (m,) or (m, q)
        As checked.
    task : {"classification", "regression"}
    rng : numpy.random.Generator
    like : WayKernels, optional
        On more samples; its single kernel and penalty are used.
    preparation : Preparation, optional
        Preparation of the data frame; features of one column share a scale.
    """

    def __init__(self, source, kernels, y, task, rng, like=None, preparation=None):
        self.groups = None if preparation is None else preparation.parts
        self._labels = None if preparation is None else preparation.labels
        self._known = Known()
        self.source, self.y, self.task = source, y, task
        # Rules for gamma also apply to scaled features.
        self.kernels = None if kernels is None else source.fitted_kernels
        Y = target_columns(y, source.n_samples, task, weight=source.weight)
        if task == "regression":
            Y = in_units(Y, source.weight)
        # The indicators of all classes sum to 0 after centering. A rotation has one column less and
        # the same sums of squares.
        self._order = Y @ np.arange(1.0, Y.shape[1] + 1.0)[:, None]
        classes = task == "classification" and np.ndim(y) == 1
        self.Y = Y @ _turn(Y.shape[1]) if classes and Y.shape[1] > 1 else fewer_columns(Y)
        if like is None:
            found = self._single(rng) if source.is_paired else (None, None, 0.0)
            self.single, self.first, self.unexplained = found
        else:
            self.single, self.first, self.unexplained = like.single, like.first, like.unexplained
        self.everything = np.arange(source.n_samples)
        vectors = source.n_features is not None and self.groups is None
        # The number of the column of each feature.
        self._column = np.arange(source.n_features) if vectors else self.groups
        # The source of the single kernel on the original samples.
        self._of_single = _reopened(source, source.X, [self.single]) if source.is_paired else None

    def ways(self, plan, n_samples=0, least_squares=False):
        """Return the `Plan` with the candidates that apply to these kernels and so many samples.

        With ``least_squares`` each candidate has a partner with the same kernel, for averages.
        Candidates on columns have none: the folds seldom choose one, and a partner takes 5% of a
        fit.
        """
        if n_samples > WHOLE and self.kernels is None:
            ways = (*plan.ways, *ROUGH_WAYS)
            narrower = (way.narrower() for way in ways if way.rule is None)
            ways = (*ways, *narrower)
            if self.task == "regression" and n_samples > LEVELS[1]:
                ways = (*ways, *reserves(ways, FINER))
            plan = plan._replace(ways=ways)
        paired = self.source.is_paired
        dense = isinstance(self.source.X, np.ndarray)
        vectors = paired and getattr(self.source.X, "ndim", 0) == 2 and has_gradient(self.single)
        # Kernels of columns are tried only for few enough columns and samples.
        by_columns = dense and self.kernels is None and n_samples <= LEVELS[1]
        by_columns = by_columns and 2 <= len(np.unique(self._column)) <= _MOST_COLUMNS
        some = [
            way
            for way in plan.ways
            if (way.rule is not None or paired)
            and (not way.scaled or vectors)
            and (not way.full or (dense and self.source.n_features <= _MOST_FULL))
            and (not way.rough or dense)
            and (not way.columns or by_columns)
        ]
        if len(self.source.names) == 1:  # all weights are equal
            some = [way for way in some if way.rule == "uniform"]
        few = n_samples <= MOST_IN_BLOCKS
        if least_squares and plan.averaged > 1 and few and self._is_psd():
            some += [way.by_least_squares() for way in some if not way.columns]
        return plan._replace(ways=tuple(some))

    def overlap(self, n_samples):
        """Return whether two classes overlap so much that only least squares are fitted.

        If one class is more likely almost everywhere, support vector machines always predict it,
        and their scores do not distinguish kernels.
        """
        if self.task != "classification" or np.ndim(self.y) > 1 or self.Y.shape[1] > 1:
            return False
        few = n_samples <= MOST_IN_BLOCKS
        return few and self._is_psd() and self.unexplained > _UNEXPLAINED

    def _is_psd(self):
        """Whether the kernels are known to be positive semi-definite."""
        source = self.source
        return source.is_paired and all(k.is_psd for k in source.fitted_kernels)

    def _unit_root(self, train=None):
        """Factors that give each column variance 1 on a training set; 0 for constant columns."""
        rows = self.everything if train is None else train
        blocks = Blocks.of(self._column, self.source.X[rows], self.source.weight_of(rows))
        total = np.bincount(blocks.groups, blocks.variances)
        vary = varying(self.source.X[rows])
        root = np.divide(1.0, np.sqrt(total), out=np.zeros_like(total), where=total > 0.0)
        return np.where(vary, root[blocks.groups], 0.0)

    def column_statistics(self, source, train=None, fold=None):
        """Statistics of the kernels of single columns in ``source``, on a training set."""
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
        return Columns(_OF_COLUMNS, features, name)

    def _single(self, rng):
        """The kernel with the smallest leave-one-out error on some samples, and a start of scales.

        Scales start from a kernel and a penalty. On many samples the kernel is the narrowest one
        whose error is near the minimum: a wide kernel misses features that are informative only
        together.
        The third value is the smallest error divided by the variance of the target.
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
        spread = np.average(np.square(Y - np.average(Y, 0, weight)), 0, weight).mean()
        unexplained = float(errors.min() / spread) if spread > 0.0 else 1.0
        return found.kernel, (found.kernels[k], float(found.alphas[k, a])), unexplained

    def _widths(self, X, weight):
        """The candidate kernels for the single kernel, on these features."""
        if self.kernels is not None:
            return self.source.fitted_kernels
        return resolve_each(Gaussian().widths(WIDTHS), X, weight)

    def kernels_of(self, way, root=None, train=None, fold=None):
        """Kernels of a method, learned on a training set; None for the default ladder.

        Default: on all samples. ``root``: as `root` returns it.
        """
        if way.rough:
            return [Laplacian(multiple=way.multiple)]
        if not way.columns and way.rule is not None:
            return self.kernels
        if not way.columns:
            same = way.multiple == 1.0
            return [self.single if same else Gaussian(way.multiple * self.single.gamma)]
        if way.columns == "linear":
            return [Linear()]
        members = {}
        for feature in np.flatnonzero(root).tolist():
            members.setdefault(int(self._column[feature]), []).append(feature)
        columns = self._screened(members, root, train)
        each = [self._on(members, (c,)) for c in columns]
        if way.columns == "each":
            return each
        key = "weights", None if train is None else fold
        with self._known.lock(key):
            if key not in self._known:
                source = _reopened(self.source, transformed(self.source.X, root), each)
                found = self.column_statistics(source, train, fold)
                problem = Problem(source, self.y, self.task, rows=train, statistics=found)
                self._known[key] = AlignF().learn(problem.check()).weights
        weights = self._known[key]
        order = [k for k in np.argsort(-weights, kind="stable").tolist() if weights[k] > 0.0]
        heavy = [columns[k] for k in order[:_PAIRED]]
        pairs = [self._on(members, sorted(pair)) for pair in combinations(heavy, 2)]
        return [each[k] for k in sorted(order[:_HEAVY])] + pairs

    def root(self, way, train=None, fold=None, matrix=None):
        """Factor of the features of a method, learned on a training set; None if there is none.

        The square roots of the feature scales, or of their matrix. Default: all samples. With
        ``matrix``, gradients are computed for a matrix and also give the scales. Default: only if a
        matrix is learned.
        """
        if way.columns or not way.scaled:
            return self._unit_root(train) if way.columns else None
        full = way.full
        rows, fold = (self.everything, None) if train is None else (train, fold)
        with self._known.lock(("root", fold, full)):
            if ("root", fold, full) in self._known:
                return self._known["root", fold, full]
            source, some, matrix = self.source, rows, full or bool(matrix)
            if len(rows) > _SCALED:
                some = rows[draw(self._order[rows], _SCALED, np.random.default_rng(0))]
            X, Y, weight = rows_of(some, source.X, self.Y, source.weight)
            asked = X, Y, *self.first
            options = {"weight": weight, "engine": source.engine}
            many = len(X) >= _ITERATED
            how = {**options, "dtype": self._of_gradients(), "rough": many}
            key = "squares", fold, matrix
            with self._known.lock(key):
                if key not in self._known:
                    gram = None if many else self._gram(some)
                    K, coef, _ = ridge_on(*asked, gram=gram, rough=many, **options)
                    of = {"gram": K, "engine": source.engine, "dtype": how["dtype"]}
                    found = Gradients(self.first[0], X, coef, **of)
                    self._known[key] = found.squares(weight, matrix)
            start = np.diagonal(self._known[key]) if matrix and not full else self._known[key]
            how["blocks"] = Blocks.of(self.groups, X, weight)
            how |= {"n_iterations": _ITERATIONS, "tol": _SETTLED} if many else {}
            path = learned_scales(*asked, choose=False, start=start, full=full, **how)
            found = path.matrix if full else path.scales
            if many and not full:
                few = draw(self._order[some], _SEARCHED_OF_MANY, np.random.default_rng(0))
                found = self._learned_further(found, X, Y, few, how)
            self._known["root", fold, full] = root_of(found)
            return self._known["root", fold, full]

    def keep_root(self, full, found):
        """Store what `root` has learned on all samples elsewhere."""
        self._known["root", None, full] = found

    def _learned_further(self, scales, X, Y, few, how):
        """Learn scales again, with a new width and penalty, if these reduced the error much.

        The first width was chosen for distances that include irrelevant features, and the gradients
        of a poor model are noisy. ``few``: positions of the samples on which leave-one-out errors
        are compared.
        """
        scaled, weight, options = transformed(X, root_of(scales)), how["weight"], dict(how)
        search = {"ridges": RIDGES, "engine": how["engine"]}

        def found(X, kernels, climb=False):
            given, target, w = rows_of(few, X, Y, weight)
            how = {**search, "weight": w, "climb": climb}
            return leave_one_out_width_and_ridge(given, target, kernels, **how)

        better = found(scaled, self._widths(scaled, weight), self.kernels is None)
        if better.errors.min() > _REVEALED * found(X, [self.first[0]]).errors.min():
            return scales
        options["blocks"] = Blocks.of(self.groups, scaled, weight)
        path = learned_scales(scaled, Y, better.kernel, better.alpha, choose=False, **options)
        new, blocks = scales * path.scales, how["blocks"]
        mass = np.ones(len(scales)) if blocks is None else blocks.variances
        return new * ((scales @ mass) / (new @ mass))

    def learn(self, ways):
        """Learn what some methods need from all samples; matrix and scales share gradients."""
        new = [way for way in ways if way.scaled and ("root", None, way.full) not in self._known]
        for way in sorted(new, key=lambda way: not way.full):
            self.root(way, matrix=any(way.full for way in new))

    def _gram(self, some):
        """The Gram matrix of the first kernel on some samples, if it is already available."""
        single = self.first[0]
        known = single == self.single and single.is_exponential and single.has_unit_diagonal
        if not known:
            return None
        with self._known.lock("whole"):  # computed once for all threads
            whole = self._of_single.whole()
        if whole is None:
            return None
        K = submatrix(whole, some, some)
        K += 1.0 - K[0, 0]  # add the constant that it may omit, because the gradient needs it
        return K

    def _of_gradients(self):
        """Return float32 if it is faster and its range is sufficient; it is precise enough."""
        if self.Y.shape[1] * self.source.n_features < _MANY:
            return np.float64
        X = self.source.X.data if is_sparse(self.source.X) else self.source.X
        size = max(X.max(initial=0.0), -X.min(initial=0.0))
        bounded = self.single.largest_value is not None and _LEAST < size < 1.0 / _LEAST
        return np.float32 if bounded else np.float64

    def opened(self, way, kernels, root, source=None):
        """Open kernels of a method on samples times a factor, see `kernels_of` and `root`.

        ``source``: the source of the samples. Default: all samples of this object.
        """
        plain = not (way.columns or way.scaled or way.rough) and way.multiple == 1.0
        if plain and source is None and way.rule is None:
            with self._known.lock("whole"):
                self._of_single.whole()
            return self._of_single
        source = self.source if source is None else source
        if plain and way.rule is not None:
            return source
        X = source.X if root is None else transformed(source.X, root)
        # Ridge regression on few features needs no matrix.
        pairs = way.columns != "linear" or self.task != "regression"
        return _reopened(source, X, kernels, pairs)


def _reopened(source, X, kernels, pairs=True):
    """Open other kernels on the checked samples of a source, or on transformed samples."""
    how = {"engine": source.engine, "progress": source.progress}
    if not pairs:
        return open_source(X, kernels, sample_weight=source.weight, **how)
    if X is not source.X and not is_sparse(X):
        check_finite("X", X)  # the factors of features may overflow
    return PairSource(X, kernel_list(kernels), source.weight, **how)


def _turn(n):
    """Orthonormal columns (n, n - 1) that sum to 0."""
    return np.linalg.qr(np.eye(n) - 1.0 / n)[0][:, : n - 1]


def has_gradient(kernel):
    """Whether the gradient of a kernel is known."""
    try:
        return bool(kernel.gradient())
    except TypeError:
        return False


class FoldWays:
    """Kernels that the methods of a plan make from the training samples of a fold.

    Parameters
    ----------
    kernels : list of WayKernels
        On the samples of the level, or of the first two levels. They learn on the training set of
        each fold; the third level uses results of the second.
    levels : list of Level
    sources : list of Source
        On the samples of each level.
    ys : list of ndarray
        Their targets.
    statistics : list of sequences of AlignmentStatistics
        Statistics of the ladder on the training sets of these folds, for each level.
    learners : dict
        An unfitted estimator for each rule of the methods.
    of_folds : list of list of WayKernels, optional
        Those of each fold of the first two levels, if samples are prepared on each training set.
    least_squares : callable, optional
        The path of methods by least squares.
    """

    def __init__(
        self,
        kernels,
        levels,
        sources,
        ys,
        statistics,
        learners,
        of_folds=None,
        least_squares=None,
    ):
        self.least_squares = least_squares
        self.of_folds = None if of_folds is None else [one for level in of_folds for one in level]
        self.kernels, self.sources, self.ys, self.full = kernels, sources, ys, frozenset()
        self.learners = learners
        self.folds = [(k, fold) for k, level in enumerate(levels) for fold in level.folds]
        self.statistics = [(one, t) for one in statistics for t in range(len(one))]
        self._known = Known()

    def make(self, way, fold, value, beside=()):
        """Make the kernel of a method, learned on the training set of a fold or on the first level.

        Kernels do not depend on the ``value`` of the machine's parameter. ``beside``: names of the
        methods that are tried on the fold together with this one.
        """
        level, split = self.folds[fold]
        kernels, train, matrix = self.kernels[-1], None, None
        if level < len(self.kernels):
            train, matrix = split[0], not self.full.isdisjoint(beside)
            kernels = self.kernels[level] if self.of_folds is None else self.of_folds[fold]
        root = kernels.root(way, train, fold, matrix)
        learned = kernels.kernels_of(way, root, train, fold), root
        source = own = kernels.opened(way, *learned)
        if train is None:
            source = kernels.opened(way, *learned, source=self.sources[level])
        # A least-squares partner has the weights of its method.
        key = way.parent if way.least_squares else way.name, fold
        with self._known.lock(key):
            if key not in self._known:
                learner = self.learners[way.rule]
                if way.rule is None:
                    found = stage_one.scale_one(own, normalize=learner.normalize, rows=train)
                else:
                    known = None
                    if train is not None and own is kernels.source:
                        of, t = self.statistics[fold]
                        known = of[t]
                    elif way.columns == "each" and not learner.unbiased:
                        known = kernels.column_statistics(own, train, fold)
                    how = {"rows": train, "statistics": known}
                    problem = learner._problem(own, kernels.y, kernels.task, **how)
                    found = stage_one.learn(problem, way.rule)
                self._known[key] = found.unscaled
        return Made(source.combine(self._known[key]), self.ys[level], split)

    def candidates(self, ways, limit=np.inf):
        """Return a `Candidate` for each method, tried with values up to ``limit``.

        Methods with scales form one job, because gradients for a matrix also give scales, and so do
        methods of a single kernel.
        """
        number = {way.name: k for k, way in enumerate(ways)}
        late = {way.name for way in ways if way.parent is not None}  # enter on the last level
        most = self.kernels[-1]
        classes = most.task == "classification"
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
                most=MOST_C if way.least_squares or (way.columns and classes) else limit,
                until=self._until(way.parent in late) if way.least_squares else np.inf,
                divisible=way.scaled,
                shared=Shared(way.full, partial(most.root, way), partial(most.keep_root, way.full))
                if way.scaled
                else None,
                finer=getattr(way.finer(), "name", None),
                reserve=way.reserve,
            )
            for way in ways
        ]

    def _until(self, late):
        """Accuracy up to which least squares are tried; above `LEVELS[1]` they double the time.

        If classes overlap, decisions of support vector machines rank samples poorly and take
        longer. ``late``: for a kernel that is itself tried on the last level only.
        """
        y = self.ys[-1]
        if len(y) <= LEVELS[1] or self.least_squares is None:
            return np.inf
        sizes = np.unique(y, return_counts=True, axis=0)[1]  # many labels: of their sets
        overlap = _OVERLAP_OF_MANY if late or len(sizes) > 2 else _OVERLAP
        return 1.0 - overlap * (1.0 - sizes.max() / len(y))


def fold_kernels(frame, kernels, levels, *given):
    """Return the `WayKernels` of each level and fold, prepared on the training sets, or None."""
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
