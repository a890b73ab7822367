"""Weights and a penalty for every target: `MKLRegressorCV` with ``per_target=True``.

Candidates are few weight vectors that all targets share: equal weights, every kernel alone, the
centers of clusters of each target's own weights, which alignment finds without the bias of noise,
and some drawn at random. Each target is tried on the drawn ones, on equal weights and on those of
the others that are nearest to its own, with every penalty, by errors of cross-validation in closed
form (`TargetRidge`); the best are taken. Of many samples some are searched first: a drawn candidate
is then tried on all samples only for the targets that it is best for on these.

Random search (Dupre la Tour, Eickenberg, Nunez-Elizalde and Gallant 2022, "Feature-space selection
with banded ridge regression") tries random weights on every target instead.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.spatial.distance import cdist

from alignlearn._progress import Progress
from alignlearn._text import largest, listed, table
from alignlearn.engine.cpu import CPU
from alignlearn.machines.target_ridge import TargetRidge, target_blocks
from alignlearn.solvers.k_means import k_means
from alignlearn.solvers.nnqp_rows import nonnegative_rows
from alignlearn.sources import Predictor
from alignlearn.validation import check_choice

from .kernel_groups import NOT_CONTRIBUTIONS, named_groups, sums_line

SCORINGS = ("r2", "correlation")
ALPHAS = np.logspace(-4.0, 4.0, 33).tolist()
_N_CANDIDATES = 24
_LEAST_CLUSTERS = 8
# Candidates that a target is tried on, beside equal weights: work grows with the targets.
_NEAREST, _NEAREST_OF_MANY, _MANY = 8, 5, 2000
# Any weights, tried on all targets: alignment may prefer others than ridge regression does.
_DRAWN, _DRAWN_OF_MANY = 32, 4
# Samples of the first search, and from how many on there is one: a decomposition of m samples costs
# m^3, so that fewer of them make up for the first search.
_FEW, _SCREENED = 1000, 1500
# Share by which squares may be larger before penalties that are so many places away are tried: of
# folds, and of leave-one-out, which begins close to its best penalty.
_PROMISING, _PROMISING_NEAR = {4: 0.3, 2: 0.05, 1: 0.01}, {2: 0.01, 1: 0.005}
_LIKELY = 0.02  # the same of generalized cross-validation, before a candidate is tried at all
_CLUSTERED = 20_000  # targets that the clusters are found from
_ROWS = 2**14  # targets whose distances are held at once
_LEAST_VALUES = 3  # of a target that others are missing of


@dataclass
class TargetSearch:
    """What every target is fitted with, and how well its candidates did.

    Attributes
    ----------
    candidates : ndarray of shape (n, p)
        Weights that sum to 1; the first are equal.
    chosen : ndarray of int of shape (q,)
    alpha, score, uniform_score : ndarray of shape (q,)
        The scores are R^2 by cross-validation, of the choice and of the best penalty with equal
        weights.
    coef : ndarray of shape (m, q)
        Rooted dual coefficients of the targets in the units of `Targets.block`.
    """

    candidates: np.ndarray
    chosen: np.ndarray
    alpha: np.ndarray
    score: np.ndarray
    uniform_score: np.ndarray
    coef: np.ndarray

    @property
    def weights(self):
        """The weights of every target, (p, q)."""
        return self.candidates[self.chosen].T


def unit_exponents(Y):
    """Exponents of the powers of two that targets (m, q) are divided by, to reach up to 1.

    Squares of targets in any unit then neither overflow nor vanish, and nothing is rounded.
    """
    return np.frexp(0.5 * np.nanmax(Y, axis=0) - 0.5 * np.nanmin(Y, axis=0))[1] + 1


class Targets:
    """Kernels, targets and folds of one search.

    Parameters
    ----------
    family : GramFamily or FeatureFamily
        Centered and rooted kernels, not rescaled.
    scale : ndarray of shape (p,)
        Their factors; 0 leaves a kernel out.
    Y : ndarray of shape (m, q)
    sample_weight : ndarray of shape (m,)
        Positive.
    folds : list of ndarray of int, or None for leave-one-out
    dtype : dtype
        The type that kernel values were rounded to.
    by_correlation : bool, default False
        Whether targets are judged by 1 minus a correlation in place of sums of squares.
    """

    def __init__(self, family, scale, Y, sample_weight, folds, dtype, by_correlation=False):
        self.by_correlation = by_correlation
        self.family, self.scale, self.Y, self.dtype = family, scale, Y, dtype
        self.root, self.folds = np.sqrt(sample_weight), folds
        self.means = (sample_weight / sample_weight.sum()) @ Y
        self.exponent = unit_exponents(Y)

    def block(self, columns):
        """Some targets, centered, in units near 1, times the roots of the weights, (m, c)."""
        centered = self.Y[:, columns] - self.means[columns]
        return self.root[:, None] * np.ldexp(centered, -self.exponent[columns])

    def blocks(self, columns):
        """Parts of some columns that are held at once."""
        return [columns[part] for part in target_blocks(len(self.Y), len(columns))]

    def own_weights(self):
        """Weights of every target by alignment without the bias of noise, (q, p), of sum 1.

        ``y'K y`` holds, of noise of variance s^2 in y, s^2 times the trace of K on average: this
        is taken off as if all of y were noise, which favors kernels of flat spectrum less.
        """
        q, p, w = self.Y.shape[1], len(self.scale), np.square(self.root)
        inner, size = np.empty((q, p)), np.empty(q)
        for columns in self.blocks(np.arange(q)):
            Y = self.block(columns)
            inner[columns] = self.family.quadratics(Y.T) * self.scale
            size[columns] = np.einsum("ij,ij->j", Y, Y)
        left = w.sum() - np.square(w).sum() / w.sum()
        noise = self.scale * self.family.weighted_traces(w) / left
        usable = np.flatnonzero(self.scale)
        M = self.family.products(np.zeros((1, len(w))))[1] * self.scale[:, None] * self.scale
        found = np.zeros((q, p))
        # Their residuals are not needed: weights only determine the candidates of a target.
        found[:, usable], _ = nonnegative_rows(
            M[np.ix_(usable, usable)], (inner - size[:, None] * noise)[:, usable]
        )
        total = found.sum(axis=1, keepdims=True)
        equal = (self.scale > 0.0) / usable.size
        return np.where(total > 0.0, found / np.where(total > 0.0, total, 1.0), equal)

    def ridge(self, weights):
        """The `TargetRidge` of a candidate."""
        return TargetRidge(self.family, weights * self.scale, self.root, self.dtype)

    def losses(self, ridge, Y, projected, alpha):
        """What is to be small, by cross-validation, for some targets of a block, (c,)."""
        loss = ridge.decorrelation if self.by_correlation else ridge.squares
        return loss(Y, projected, alpha, self.folds)

    def sizes(self):
        """What losses are relative to for a score, (q,): sums of squares of the test sets, or 1."""
        if self.by_correlation:
            return np.ones(self.Y.shape[1])
        found = np.empty(self.Y.shape[1])
        for columns in self.blocks(np.arange(found.size)):
            squares = np.square(self.block(columns))
            parts = [slice(None)] if self.folds is None else self.folds
            found[columns] = sum(squares[rows].sum(axis=0) for rows in parts)
        return found


def choose(targets, alphas, rng, uniform=False, verbose=False, few=None) -> TargetSearch:
    """The best candidate and penalty of every target.

    Parameters
    ----------
    targets : Targets
    alphas : list of float
    rng : numpy.random.Generator
    uniform : bool
        Equal weights for all: only the penalties are chosen.
    verbose : bool or callable
        Of a source.
    few : callable, optional
        ``few(rng)``: the `Targets` of some of the samples, or None.
    """
    q, alphas = targets.Y.shape[1], np.unique(alphas)
    equal = (targets.scale > 0.0) / np.count_nonzero(targets.scale)
    if uniform or np.count_nonzero(targets.scale) < 2:
        candidates, tried = equal[None], np.ones((1, q), dtype=bool)
    else:
        candidates, tried, n_drawn = _candidates(targets, equal, rng)
        some = None if few is None or q > _MANY else few(rng)
        if some is not None:
            found = _searched(some, candidates, tried, alphas, verbose)[0]
            drawn = np.arange(len(candidates) - n_drawn, len(candidates))
            tried[drawn] = found == drawn[:, None]
    chosen, alpha, best, equal_squares, coef = _searched(
        targets, candidates, tried, alphas, verbose
    )
    size = targets.sizes()
    scores = 1.0 - best / size, 1.0 - equal_squares / size
    return TargetSearch(candidates, chosen, alpha, *scores, coef)


def _searched(targets, candidates, tried, alphas, verbose):
    """The best of candidates (n, p), each on the targets that are ``tried``, (n, q).

    The first is tried on all.

    Returns
    -------
    chosen, alpha, squares, first_squares : ndarray of shape (q,)
    coef : ndarray of shape (m, q)
    """
    q = targets.Y.shape[1]
    best, alpha = np.full(q, np.inf), np.zeros(q)
    chosen, coef = np.zeros(q, dtype=np.intp), np.empty(targets.Y.shape)
    with Progress("combinations of kernels", len(candidates), verbose) as progress:
        for g, weights in enumerate(candidates):
            columns, ridge = np.flatnonzero(tried[g]), None  # one decomposition at a time
            ridge = targets.ridge(weights) if columns.size else None
            for part in targets.blocks(columns):
                Y = targets.block(part)
                projected = ridge.project(Y)
                squares, found = _best_alpha(targets, ridge, Y, projected, alphas, best[part])
                better = squares < best[part]
                some, projected = part[better], projected[:, better]
                best[some], alpha[some], chosen[some] = squares[better], found[better], g
                coef[:, some] = ridge.coefficients(projected, alpha[some])
            if g == 0:
                equal_squares = best.copy()
            progress(g + 1)
    return chosen, alpha, best, equal_squares, coef


def _candidates(targets, equal, rng):
    """Weights (n, p), which targets each is tried on, (n, q), and how many were drawn, the last."""
    own = targets.own_weights()
    some = own
    if len(own) > _CLUSTERED:
        some = own[np.sort(rng.choice(len(own), _CLUSTERED, replace=False))]
    alone = np.eye(equal.size)[targets.scale > 0.0]
    clusters = max(_LEAST_CLUSTERS, _N_CANDIDATES - 1 - len(alone))
    candidates = np.unique(np.vstack([alone, k_means(some, clusters, rng)[0]]), axis=0)
    tried = np.ones((1 + len(candidates), len(own)), dtype=bool)
    near = _NEAREST if len(own) <= _MANY else _NEAREST_OF_MANY
    if len(candidates) > near:
        for i in range(0, len(own), _ROWS):
            D = cdist(own[i : i + _ROWS], candidates, "sqeuclidean")
            tried[1:, i : i + _ROWS] = (np.partition(D, near - 1, axis=1)[:, [near - 1]] >= D).T
    n_drawn = _DRAWN if len(own) <= _MANY else _DRAWN_OF_MANY
    drawn = np.zeros((n_drawn, equal.size))
    drawn[:, targets.scale > 0.0] = rng.dirichlet(np.ones(len(alone)), n_drawn)
    everywhere = np.ones((n_drawn, len(own)), dtype=bool)
    return np.vstack([equal, candidates, drawn]), np.vstack([tried, everywhere]), n_drawn


def _best_alpha(targets, ridge, Y, projected, alphas, best):
    """Least losses of a candidate, and their penalties, of some targets.

    Generalized cross-validation, which is cheap, selects the targets for which leave-one-out is
    computed, and the first penalty; for folds every fourth penalty is tried. If the candidate may
    then be better, penalties around the best are tried, ever closer, and on from there as long as
    losses fall.
    """
    least, at = np.full(len(best), np.inf), np.zeros(len(best), dtype=np.intp)

    def attempt(k, some):
        found = targets.losses(ridge, Y[:, some], projected[:, some], alphas[k])
        less = found < least[some]
        least[some[less]], at[some[less]] = found[less], k

    steps = _PROMISING
    if targets.folds is None:
        steps = _PROMISING_NEAR
        squares = ridge.generalized(Y, projected, alphas)
        first = squares.argmin(axis=0)
        likely = np.arange(len(best))
        if not targets.by_correlation:  # else they do not compare
            likely = np.flatnonzero(squares.min(axis=0) < (1.0 + _LIKELY) * best)
        for k in np.unique(first[likely]):
            attempt(k, likely[first[likely] == k])
    else:
        for k in np.unique([*range(0, len(alphas), 4), len(alphas) - 1]):
            attempt(k, np.arange(len(best)))

    def beside(step, some):
        middle = at.copy()
        for k in range(len(alphas)):
            near = np.flatnonzero(some & (np.abs(middle - k) == step))
            if near.size:
                attempt(k, near)
        return at != middle

    for step, share in steps.items():
        moved = beside(step, least < (1.0 + share) * best)
    while moved.any():  # on to a least one, as far as losses fall
        moved = beside(1, moved)
    return least, alphas[at]


class TargetPredictor(Predictor):
    """Predictions of ridge regression with weights of its own for every target.

    Parameters
    ----------
    combination : Combination
        Of any weights; its kernels are evaluated one by one.
    coef : ndarray of shape (m, q)
        Dual coefficients, whose columns sum to 0.
    weights : ndarray of shape (p, q)
        For the original kernels.
    intercept : ndarray of shape (q,)
        For the original kernels.
    """

    def __init__(self, combination, coef, weights, intercept):
        super().__init__(coef, intercept)
        source = combination.source
        self._singles = [source.single(k) for k in range(len(weights))]
        self.is_given, self.n_features = source.is_given, source.n_features
        self.weights = weights
        self._part = combination.predictor(None, coef[:, :1], 0.0, exact=True)

    def check(self, X):
        """New samples, validated, but for their width."""
        return self._part.check(X)

    def reweighted(self, weights):
        """These coefficients with other weights (p, q) of the kernels, and no intercept."""
        part = copy.copy(self)
        part.weights, part.intercept = weights, np.zeros(weights.shape[1])
        return part

    def decisions(self, X, engine=CPU):
        """``sum_k sum_i weights_kj coef_ij k(x, x_i)`` and the intercept, (n, q)."""
        found = self.intercept + np.zeros((self._part.count(X), 1))
        for single, weights in zip(self._singles, self.weights):
            used = np.flatnonzero(weights)
            if used.size:
                part = single.predictor(None, self.coef[:, used] * weights[used], 0.0, exact=True)
                found = found + _spread(part.decisions(X, engine), used, weights.size)
        return found


def _spread(values, columns, n_columns):
    """Values of some columns among zeros."""
    if columns.size == n_columns:
        return values
    out = np.zeros((len(values), n_columns))
    out[:, columns] = values
    return out


def open_targets(source, Y, scale, folds=None, by_correlation=False):
    """The `Targets` of a source and of targets (m, q) on samples of positive weight."""
    weight = np.ones(len(Y)) if source.weight is None else source.weight
    family = source.family(np.ones(len(scale)), rooted=source.weight is not None)
    single = source.rounding > np.finfo(np.float64).eps
    dtype = np.float32 if single else np.float64
    return Targets(family, scale, Y, weight, folds, dtype, by_correlation)


def first_statistics(source, Y):
    """Statistics with the first target in a unit of its own, for traces and norms of kernels."""
    first = Y[:, 0] - np.nanmean(Y[:, 0])
    first = np.ldexp(np.nan_to_num(first), -unit_exponents(Y[:, :1])[0])
    return source.statistics(first, "regression")


def fit_targets(source, Y, scale, folds, pick, rng, by_correlation=False):
    """Choose and fit a model for every target; returns the choices and the fit of `fitted_machine`.

    Targets with NaN in the same samples of Y (m, q) are fitted together on the other samples, as if
    the samples with NaN did not exist, except for the ``scale`` of the kernels.

    ``pick(targets, rng=rng, few=few)`` chooses, see `choose`; ``folds`` are test sets or None for
    leave-one-out; ``by_correlation`` as in `Targets`.
    """
    patterns, how = _patterns(Y), {"by_correlation": by_correlation}
    if patterns is None:
        targets = open_targets(source, Y, scale, folds, **how)
        few = partial(first_targets, source, Y, scale, folds, **how)
        search = pick(targets, rng=rng, few=few)
        return search, *fitted_machine(targets, search, source)
    parts, n_before = [], 0
    for rows, columns in patterns:
        part, values = source.part(rows), Y[np.ix_(rows, columns)]
        varies = first_statistics(part, values).norms > 0.0
        if not (varies & (scale > 0.0)).any():
            raise ValueError(
                "X: every kernel is constant on the samples of the targets "
                f"{listed(columns.tolist())}, so that nothing can be learned of them."
            )
        tests = _test_sets_of(rows, folds, len(Y), columns)
        targets = open_targets(part, values, np.where(varies, scale, 0.0), tests, **how)
        few = partial(first_targets, part, values, targets.scale, tests, **how)
        search = pick(targets, rng=copy.deepcopy(rng), few=few)
        parts.append((rows, columns, search, *fitted_machine(targets, search, part), n_before))
        n_before += len(search.candidates)
    return _joined(source, Y.shape, scale, parts)


def first_targets(source, Y, scale, folds, rng, by_correlation=False):
    """The `Targets` of some samples, drawn; None where all samples are few or have few features."""
    if len(Y) < _SCREENED or source.is_linear:
        return None
    rows = np.sort(rng.choice(len(Y), _FEW, replace=False))
    tests = None
    if folds is not None:
        tests = [found for test in folds if (found := np.flatnonzero(np.isin(rows, test))).size]
        tests = tests if len(tests) > 1 else None
    return open_targets(source.part(rows), Y[rows], scale, tests, by_correlation)


def _patterns(Y):
    """(samples, targets) of every set of targets with NaN in equal samples; None without NaN."""
    gaps = np.flatnonzero(np.isnan(Y.sum(axis=0)))
    if not gaps.size:
        return None
    found = {}
    for j in range(Y.shape[1]):
        lacking = np.isnan(Y[:, j]).tobytes() if j in gaps else b""
        found.setdefault(lacking, []).append(j)
    return [(np.flatnonzero(~np.isnan(Y[:, some[0]])), np.array(some)) for some in found.values()]


def _joined(source, shape, scale, parts):
    """Searches, predictors and coefficients of parts of the targets as those of all."""
    candidates = np.vstack([part[2].candidates for part in parts])
    chosen, values = np.empty(shape[1], dtype=np.intp), np.empty((3, shape[1]))
    coef, intercept = np.zeros((source.n_features or 0, shape[1])), np.empty(shape[1])
    dual = None if source.is_linear else np.zeros(shape)
    for rows, columns, search, predictor, of_part, first in parts:
        chosen[columns] = first + search.chosen
        values[:, columns] = search.alpha, search.score, search.uniform_score
        intercept[columns] = predictor.intercept
        if dual is None:
            coef[:, columns] = predictor.coef
        else:
            dual[np.ix_(rows, columns)] = of_part
    # Coefficients of parts are in the predictor.
    search = TargetSearch(candidates, chosen, *values, None)
    learned = source.combine(scale)
    if dual is None:
        return search, learned.linear_predictor(coef, intercept, exact=True), None
    weights = search.weights * scale[:, None]
    return search, TargetPredictor(learned.kept(), dual, weights, intercept), dual


def check_missing(missing, chosen):
    """An error for a parameter ``missing`` that is not known, or not with ``per_target``."""
    if missing is None:
        return
    check_choice("missing", missing, ("tables", "drop-per-target"))
    if missing == "drop-per-target" and not chosen:
        raise ValueError(
            "missing='drop-per-target' goes with per_target=True; accepted: 'tables', None."
        )
    if missing == "tables" and chosen:
        raise ValueError(
            "missing='tables' does not go with per_target=True, whose weights differ by target, "
            "and with them what stands for a table; accepted: one of them."
        )


def check_gaps(Y):
    """Raise for targets that have too few values, or equal ones."""
    few = np.flatnonzero(np.count_nonzero(~np.isnan(Y), axis=0) < _LEAST_VALUES)
    if few.size:
        raise ValueError(
            f"y has fewer than {_LEAST_VALUES} values in {few.size} of {Y.shape[1]} columns "
            f"({listed(few.tolist())}); accepted: at least so many. Leave them out."
        )
    check_varies(Y)


def _test_sets_of(rows, folds, n_samples, columns):
    """Test sets as positions among some samples; those without any are left out."""
    if folds is None:
        return None
    position = np.full(n_samples, -1)
    position[rows] = np.arange(rows.size)
    found = [position[test][position[test] >= 0] for test in folds]
    found = [test for test in found if test.size]
    if len(found) < 2:
        raise ValueError(
            f"cv: all samples of the targets {listed(columns.tolist())} are in one fold; accepted: "
            "folds that leave samples to train on."
        )
    return found


def without(estimator, source, Y, scale, columns):
    """The predictor of some targets with the same penalties, without kernels of ``scale`` 0.

    Other weights of every target keep their ratios; where none is left, they are equal.
    """
    left = estimator.candidates_ * (scale != 0.0)
    total = left.sum(axis=1, keepdims=True)
    equal = (scale != 0.0) / np.count_nonzero(scale)
    left = np.where(total > 0.0, left / np.where(total > 0.0, total, 1.0), equal)
    # Some are equal now, and have one decomposition.
    candidates, number = np.unique(left, axis=0, return_inverse=True)
    chosen, alpha = number.reshape(-1)[estimator.candidate_[columns]], estimator.alpha_[columns]
    targets = open_targets(source, Y[:, columns], scale)
    coef = np.empty(targets.Y.shape)
    for g in np.unique(chosen):
        ridge = targets.ridge(candidates[g])
        for part in targets.blocks(np.flatnonzero(chosen == g)):
            coef[:, part] = ridge.coefficients(ridge.project(targets.block(part)), alpha[part])
    scores = estimator.best_score_[columns], estimator.uniform_score_[columns]
    search = TargetSearch(candidates, chosen, alpha, *scores, coef)
    return fitted_machine(targets, search, source)[0]


def fitted_machine(targets, search, source):
    """The predictor of the chosen candidates, and dual coefficients where the kernels need them.

    Parameters
    ----------
    targets : Targets
    search : TargetSearch
    source : Source

    Returns
    -------
    predictor
    coef : ndarray of shape (m, q), or None for kernels that are linear in the features
    """
    weights = search.weights * targets.scale[:, None]
    share = (np.square(targets.root) / np.square(targets.root).sum())[:, None]
    with np.errstate(over="ignore"):
        dual = np.ldexp(targets.root[:, None] * search.coef, targets.exponent)
    _check_finite(dual, targets.Y)
    if source.is_linear:
        coef = np.empty((source.n_features, weights.shape[1]))
        for g in np.unique(search.chosen):
            columns = np.flatnonzero(search.chosen == g)
            per_feature = source.per_feature(search.candidates[g] * targets.scale)
            coef[:, columns] = per_feature[:, None] * (source.X.T @ dual[:, columns])
        intercept = targets.means - (source.X.T @ share[:, 0]) @ coef
        learned = source.combine(targets.scale)
        return learned.linear_predictor(coef, intercept, exact=True), None
    kept = source.combine(targets.scale).kept()
    singles = [source.single(k) for k in range(len(weights))]
    means = np.hstack([one.times(share) for one in singles]).T  # of each kernel, (p, m)
    intercept = targets.means - np.einsum("kj,kj->j", weights, means @ dual)
    return TargetPredictor(kept, dual, weights, intercept), dual


def _check_finite(coef, Y):
    """Raise for targets so large that coefficients overflow."""
    if not np.isfinite(coef).all():
        raise ValueError(
            f"y holds values up to {np.nanmax(np.abs(Y)):.3g}, so that coefficients overflow at "
            "the chosen alphas; accepted: up to about 1e290. Scale y, or raise alphas."
        )


def test_sets(splits, n_samples):
    """The test sets of folds whose training sets are all other samples; None for None."""
    if splits is None:
        return None
    for which, (train, test) in enumerate(splits):
        left = np.ones(n_samples, dtype=bool)
        left[train] = False
        if not np.array_equal(np.flatnonzero(left), np.sort(test)):
            raise ValueError(
                f"cv: with per_target=True a training set must be all samples that are not tested; "
                f"fold {which} of cv trains on {len(train)} and tests on {len(test)} of "
                f"{n_samples}."
            )
    return [np.asarray(test) for _, test in splits]


def check_varies(y, lack="of which nothing can be learned"):
    """Raise an error with the numbers of constant targets; ``lack`` names the consequence."""
    constant = np.flatnonzero(np.fmin.reduce(y) == np.fmax.reduce(y))  # but for NaN
    if constant.size:
        shown = listed(constant, show=str)
        raise ValueError(
            f"y is constant in {constant.size} of {y.shape[1]} columns ({shown}), {lack}; "
            "accepted: targets that vary. Leave them out."
        )


def checked_rule(estimator):
    """ "alignf" or "uniform"; an error for parameters that ``per_target`` does not go with."""
    rule, scoring = estimator._rule(), estimator.scoring
    rule = "alignf" if rule == "auto" else rule
    if rule not in ("alignf", "uniform"):
        raise ValueError(
            f"weighting={rule!r:.80} is not available for per_target=True; accepted: 'alignf', "
            "'uniform'."
        )
    if estimator.machine not in ("auto", "krr"):
        raise ValueError(f"machine={estimator.machine!r}: per_target=True accepts only 'krr'.")
    if not (scoring is None or (isinstance(scoring, str) and scoring in SCORINGS)):
        raise ValueError(
            f"scoring={scoring!r:.80} is not available for per_target=True; accepted: None, 'r2', "
            "'correlation'."
        )
    return rule


def summary(estimator, max_rows):
    """The weights of all targets as a text table."""
    weights, names = estimator.weights_, estimator._names
    p, q = weights.shape
    mean = weights.mean(axis=1)
    rows = [
        (names[k], f"{mean[k]:.4f}", f"{weights[k].max():.4f}", f"{np.sum(weights[k] > 0.5)}")
        for k in largest(mean, max_rows)
    ]
    header = "kernel", "mean weight", "largest", "above 1/2"
    options = {"total": p, "most": max_rows, "more": " kernels, of smaller mean weight"}
    lines = [table(rows, header, **options)]
    score = "correlation" if estimator.scoring == "correlation" else "R^2"
    better = np.count_nonzero(estimator.best_score_ > estimator.uniform_score_)
    lines.append(
        f"{q} targets: mean {score} by cross-validation {estimator.best_score_.mean():.4f}, of "
        f"equal weights {estimator.uniform_score_.mean():.4f}; own weights are better for {better}"
    )
    groups = named_groups(estimator)
    if groups is not None:
        lines.append(sums_line(*groups, mean))
    lines.append(NOT_CONTRIBUTIONS)
    return "\n".join(lines)
