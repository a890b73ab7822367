"""Weights and a penalty for every target: `MKLRegressorCV` with ``per_target=True``.

Candidates are few weight vectors that all targets share: equal weights, every kernel alone, the
centres of clusters of each target's own weights, which alignment finds without the bias of noise,
and some drawn at random. Each target is tried on the drawn ones, on equal weights and on those of
the others that are nearest to its own, with every penalty, by errors of cross-validation in closed
form (`TargetRidge`); the best are taken.

Random search (Dupre la Tour, Eickenberg, Nunez-Elizalde and Gallant 2022, "Feature-space selection
with banded ridge regression") tries random weights on every target instead.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

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

ALPHAS = np.logspace(-4.0, 4.0, 33).tolist()
_N_CANDIDATES = 24
_LEAST_CLUSTERS = 8
# Candidates that a target is tried on, beside equal weights: work grows with the targets.
_NEAREST, _NEAREST_OF_MANY, _MANY = 8, 5, 2000
# Any weights, tried on all targets: alignment may prefer others than ridge regression does.
_DRAWN, _DRAWN_OF_MANY = 32, 4
# Share by which squares may be larger before penalties that are so many places away are tried: of
# folds, and of leave-one-out, which begins close to its best penalty.
_PROMISING, _PROMISING_NEAR = {4: 0.3, 2: 0.05, 1: 0.01}, {2: 0.01, 1: 0.005}
_LIKELY = 0.02  # the same of generalised cross-validation, before a candidate is tried at all
_CLUSTERED = 20_000  # targets that the clusters are found from
_ROWS = 2**14  # targets whose distances are held at once
_LEAST_VALUES = 3  # of a target that others are missing of
_SPECTRA = 2**29  # bytes of decompositions that are kept until the last fit


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
    """

    candidates: np.ndarray
    chosen: np.ndarray
    alpha: np.ndarray
    score: np.ndarray
    uniform_score: np.ndarray

    @property
    def weights(self):
        """The weights of every target, (p, q)."""
        return self.candidates[self.chosen].T


class Targets:
    """Kernels, targets and folds of one search.

    Parameters
    ----------
    family : GramFamily or FeatureFamily
        Centred and rooted kernels as they are.
    scale : ndarray of shape (p,)
        Their factors; 0 leaves a kernel out.
    Y : ndarray of shape (m, q)
    sample_weight : ndarray of shape (m,)
        Positive.
    folds : list of ndarray of int, or None for leave-one-out
    """

    def __init__(self, family, scale, Y, sample_weight, folds):
        self.family, self.scale, self.Y = family, scale, Y
        self.root, self.folds = np.sqrt(sample_weight), folds
        self.means = (sample_weight / sample_weight.sum()) @ Y
        self._kept, self._spectra = 0, {}

    def block(self, columns):
        """Some targets, centred and times the roots of the weights, (m, c) float64."""
        return self.root[:, None] * (self.Y[:, columns] - self.means[columns])

    def blocks(self, columns):
        """Parts of some columns that are held at once."""
        return [columns[part] for part in target_blocks(len(self.Y), len(columns))]

    def own_weights(self):
        """Weights of every target by alignment without the bias of noise, (q, p), of sum 1.

        ``y'K y`` holds, of noise of variance s^2 in y, s^2 times the trace of K on average: this
        is taken off as if all of y were noise, which favours kernels of flat spectrum less.
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
        # Their residuals are not asked about: weights only say which candidates a target tries.
        found[:, usable], _ = nonnegative_rows(
            M[np.ix_(usable, usable)], (inner - size[:, None] * noise)[:, usable]
        )
        total = found.sum(axis=1, keepdims=True)
        equal = (self.scale > 0.0) / usable.size
        return np.where(total > 0.0, found / np.where(total > 0.0, total, 1.0), equal)

    def ridge(self, weights, number):
        """The `TargetRidge` of a candidate; some are kept."""
        if number not in self._spectra:
            made = TargetRidge(self.family, weights * self.scale, self.root)
            if self._kept + 2 * made.vectors.nbytes > _SPECTRA:
                return made
            self._kept += 2 * made.vectors.nbytes
            self._spectra[number] = made
        return self._spectra[number]

    def sizes(self):
        """Sums of squares that R^2 is relative to, (q,): of the test sets."""
        found = np.empty(self.Y.shape[1])
        for columns in self.blocks(np.arange(found.size)):
            squares = np.square(self.block(columns))
            parts = [slice(None)] if self.folds is None else self.folds
            found[columns] = sum(squares[rows].sum(axis=0) for rows in parts)
        return found


def choose(targets, alphas, rng, uniform=False, verbose=False) -> TargetSearch:
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
    """
    q, alphas = targets.Y.shape[1], np.unique(alphas)
    equal = (targets.scale > 0.0) / np.count_nonzero(targets.scale)
    candidates, tried = equal[None], np.ones((1, q), dtype=bool)
    if not uniform and np.count_nonzero(targets.scale) > 1:
        candidates, tried = _candidates(targets, equal, rng)
    best, alpha = np.full(q, np.inf), np.zeros(q)
    chosen = np.zeros(q, dtype=np.intp)
    with Progress("combinations of kernels", len(candidates), verbose) as progress:
        for g, weights in enumerate(candidates):
            columns = np.flatnonzero(tried[g])
            ridge = targets.ridge(weights, g) if columns.size else None
            for part in targets.blocks(columns):
                better, squares, found = _best_alpha(targets, ridge, part, alphas, best[part])
                best[part[better]], alpha[part[better]] = squares[better], found[better]
                chosen[part[better]] = g
            if g == 0:
                equal_squares = best.copy()
            progress(g + 1)
    size = targets.sizes()
    return TargetSearch(candidates, chosen, alpha, 1.0 - best / size, 1.0 - equal_squares / size)


def _candidates(targets, equal, rng):
    """Weights (n, p), and which targets each is tried on, (n, q)."""
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
    return np.vstack([equal, candidates, drawn]), np.vstack([tried, everywhere])


def _best_alpha(targets, ridge, columns, alphas, best):
    """(where the candidate is better, sums of squares, penalties) of some targets.

    Generalised cross-validation, which costs next to nothing, says which targets leave-one-out is
    worth its time for, and where to begin; for folds every fourth penalty is tried. Where the
    candidate may then be better, penalties around the best follow, nearer and nearer.
    """
    Y = targets.block(columns)
    projected = ridge.project(Y)
    least, at = np.full(len(columns), np.inf), np.zeros(len(columns), dtype=np.intp)

    def attempt(k, some):
        found = ridge.squares(Y[:, some], projected[:, some], alphas[k], targets.folds)
        less = found < least[some]
        least[some[less]], at[some[less]] = found[less], k

    steps = _PROMISING
    if targets.folds is None:
        steps = _PROMISING_NEAR
        squares = ridge.generalized(Y, projected, alphas)
        first = squares.argmin(axis=0)
        likely = np.flatnonzero(squares.min(axis=0) < (1.0 + _LIKELY) * best)
        for k in np.unique(first[likely]):
            attempt(k, likely[first[likely] == k])
    else:
        for k in np.unique([*range(0, len(alphas), 4), len(alphas) - 1]):
            attempt(k, np.arange(len(columns)))
    for step, share in steps.items():
        promising, middle = least < (1.0 + share) * best, at.copy()
        for k in range(len(alphas)):
            beside = np.flatnonzero(promising & (np.abs(middle - k) == step))
            if beside.size:
                attempt(k, beside)
    return least < best, least, alphas[at]


class TargetPredictor(Predictor):
    """Predictions of ridge regression with weights of its own for every target.

    Parameters
    ----------
    combination : Combination
        Of any weights; its kernels are evaluated one by one.
    coef : ndarray of shape (m, q)
        Dual coefficients, whose columns sum to 0.
    weights : ndarray of shape (p, q)
        Of the kernels as they are.
    intercept : ndarray of shape (q,)
        Of the kernels as they are.
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


def open_targets(source, Y, scale, folds=None):
    """The `Targets` of a source and of targets (m, q) on samples of positive weight."""
    weight = np.ones(len(Y)) if source.weight is None else source.weight
    family = source.family(np.ones(len(scale)), rooted=source.weight is not None)
    return Targets(family, scale, Y, weight, folds)


def fit_targets(source, Y, scale, folds, pick, rng):
    """What every target is fitted with, the predictor and dual coefficients, see `fitted_machine`.

    Targets that lack the same samples, NaN in Y (m, q), are fitted together, on the samples that
    they have: as if the others were not there, but for the ``scale`` of the kernels.

    ``pick(targets, rng=rng)`` chooses; ``folds`` are test sets or None for leave-one-out.
    """
    patterns = _patterns(Y)
    if patterns is None:
        targets = open_targets(source, Y, scale, folds)
        search = pick(targets, rng=rng)
        return search, *fitted_machine(targets, search, source)
    parts, n_before = [], 0
    for rows, columns in patterns:
        part, values = source.part(rows), Y[np.ix_(rows, columns)]
        varies = part.statistics(values[:, 0], "regression").norms > 0.0
        if not (varies & (scale > 0.0)).any():
            raise ValueError(
                "X: every kernel is constant on the samples of the targets "
                f"{listed(columns.tolist())}, so that nothing can be learned of them."
            )
        tests = _test_sets_of(rows, folds, len(Y), columns)
        targets = open_targets(part, values, np.where(varies, scale, 0.0), tests)
        search = pick(targets, rng=copy.deepcopy(rng))
        parts.append((rows, columns, search, *fitted_machine(targets, search, part), n_before))
        n_before += len(search.candidates)
    return _joined(source, Y.shape, scale, parts)


def _patterns(Y):
    """(samples, targets) of every set of targets that lack the same; None where nothing lacks."""
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
    search = TargetSearch(candidates, chosen, *values)
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
    chosen = number.reshape(-1)[estimator.candidate_[columns]]
    scores = estimator.best_score_[columns], estimator.uniform_score_[columns]
    search = TargetSearch(candidates, chosen, estimator.alpha_[columns], *scores)
    return fitted_machine(open_targets(source, Y[:, columns], scale), search, source)[0]


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
    if source.is_linear:
        coef = np.empty((source.n_features, weights.shape[1]))
        for g, columns, C in _coefficients(targets, search):
            per_feature = source.per_feature(search.candidates[g] * targets.scale)
            coef[:, columns] = per_feature[:, None] * (source.X.T @ C)
        share = np.square(targets.root) / np.square(targets.root).sum()
        intercept = targets.means - (source.X.T @ share) @ coef
        learned = source.combine(targets.scale)
        return learned.linear_predictor(coef, intercept, exact=True), None
    coef = np.empty(targets.Y.shape)
    for _, columns, C in _coefficients(targets, search):
        coef[:, columns] = C
    kept = source.combine(targets.scale).kept()
    share = (np.square(targets.root) / np.square(targets.root).sum())[:, None]
    singles = [source.single(k) for k in range(len(weights))]
    means = np.hstack([one.times(share) for one in singles]).T  # of each kernel, (p, m)
    intercept = targets.means - np.einsum("kj,kj->j", weights, means @ coef)
    return TargetPredictor(kept, coef, weights, intercept), coef


def _coefficients(targets, search):
    """Candidates, parts of the targets that have them, and the dual coefficients (m, c)."""
    for g in np.unique(search.chosen):
        ridge = targets.ridge(search.candidates[g], g)
        for columns in targets.blocks(np.flatnonzero(search.chosen == g)):
            projected = ridge.project(targets.block(columns))
            C = ridge.coefficients(projected, search.alpha[columns])
            yield g, columns, targets.root[:, None] * C


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
    """Raise for targets that are constant, by number, and say what they ``lack``."""
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
            f"weighting={rule!r:.80} does not go with per_target=True; accepted: 'alignf', "
            "'uniform'."
        )
    if estimator.machine != "krr":
        raise ValueError(f"machine={estimator.machine!r} does not go with per_target=True: 'krr'.")
    if scoring is not None and scoring != "r2":
        raise ValueError(
            f"scoring={scoring!r:.80} does not go with per_target=True; accepted: None, 'r2'."
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
    better = np.count_nonzero(estimator.best_score_ > estimator.uniform_score_)
    lines.append(
        f"{q} targets: mean R^2 by cross-validation {estimator.best_score_.mean():.4f}, of equal "
        f"weights {estimator.uniform_score_.mean():.4f}; own weights are better for {better}"
    )
    groups = named_groups(estimator)
    if groups is not None:
        lines.append(sums_line(*groups, mean))
    lines.append(NOT_CONTRIBUTIONS)
    return "\n".join(lines)
