"""`MKLRegressorCV` with ``per_target=True``: weights and a penalty for every target.

Checks of parameters, fits on the observed samples of each target, the predictor and its summary.
`target_search` chooses the weights.
"""

from __future__ import annotations

import copy
from functools import partial

import numpy as np

from alignlearn._text import largest, listed, table
from alignlearn.engine.cpu import CPU
from alignlearn.sources import Predictor
from alignlearn.validation import check_choice

from .kernel_groups import NOT_CONTRIBUTIONS, named_groups, sums_line
from .target_search import Targets, TargetSearch, unit_exponents

SCORINGS = ("r2", "correlation")
ALPHAS = np.logspace(-4.0, 4.0, 33).tolist()
# Number of samples of the first search, and number of samples from which there is one: a
# decomposition costs m^3, so saving some of them outweighs the first search.
_FEW, _SCREENED = 1000, 1500
_LEAST_VALUES = 3  # minimum values of a target if others are missing


class TargetPredictor(Predictor):
    """Predictions of ridge regression with separate weights for every target.

    Parameters
    ----------
    combination : Combination
        With any weights; its kernels are evaluated one by one.
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
        """Validate new samples, except for their width."""
        return self._part.check(X)

    def reweighted(self, weights):
        """Return the predictor with other weights (p, q) and without intercept."""
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
    """Insert the values of some columns into zeros."""
    if columns.size == n_columns:
        return values
    out = np.zeros((len(values), n_columns))
    out[:, columns] = values
    return out


def open_targets(source, Y, scale, folds=None, by_correlation=False):
    """Return the `Targets` of a source and targets (m, q) on samples of positive weight."""
    weight = np.ones(len(Y)) if source.weight is None else source.weight
    family = source.family(np.ones(len(scale)), rooted=source.weight is not None)
    single = source.rounding > np.finfo(np.float64).eps
    dtype = np.float32 if single else np.float64
    return Targets(family, scale, Y, weight, folds, dtype, by_correlation)


def first_statistics(source, Y):
    """Return statistics with the first target, rescaled, for traces and norms of kernels."""
    first = Y[:, 0] - np.nanmean(Y[:, 0])
    first = np.ldexp(np.nan_to_num(first), -unit_exponents(Y[:, :1])[0])
    return source.statistics(first, "regression")


def fit_targets(source, Y, scale, folds, pick, rng, by_correlation=False):
    """Choose and fit a model for every target; return the choices and the `fitted_machine`.

    Targets with NaN in the same samples of Y (m, q) are fitted together on the other samples. Only
    the ``scale`` of the kernels depends on the samples with NaN.

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
                f"{listed(columns.tolist())}, so nothing can be learned for these "
                "targets."
            )
        tests = _test_sets_of(rows, folds, len(Y), columns)
        targets = open_targets(part, values, np.where(varies, scale, 0.0), tests, **how)
        few = partial(first_targets, part, values, targets.scale, tests, **how)
        search = pick(targets, rng=copy.deepcopy(rng), few=few)
        parts.append((rows, columns, search, *fitted_machine(targets, search, part), n_before))
        n_before += len(search.candidates)
    return _joined(source, Y.shape, scale, parts)


def first_targets(source, Y, scale, folds, rng, by_correlation=False):
    """Return the `Targets` of drawn samples; None if there are few samples or features."""
    if len(Y) < _SCREENED or source.is_linear:
        return None
    rows = np.sort(rng.choice(len(Y), _FEW, replace=False))
    tests = None
    if folds is not None:
        tests = [found for test in folds if (found := np.flatnonzero(np.isin(rows, test))).size]
        tests = tests if len(tests) > 1 else None
    return open_targets(source.part(rows), Y[rows], scale, tests, by_correlation)


def _patterns(Y):
    """Return (samples, targets) for each set of targets with the same NaN; None without NaN."""
    gaps = np.flatnonzero(np.isnan(Y.sum(axis=0)))
    if not gaps.size:
        return None
    found = {}
    for j in range(Y.shape[1]):
        lacking = np.isnan(Y[:, j]).tobytes() if j in gaps else b""
        found.setdefault(lacking, []).append(j)
    return [(np.flatnonzero(~np.isnan(Y[:, some[0]])), np.array(some)) for some in found.values()]


def _joined(source, shape, scale, parts):
    """Join searches, predictors and coefficients of parts of the targets."""
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
    # The predictor holds the coefficients of parts.
    search = TargetSearch(candidates, chosen, *values, None)
    learned = source.combine(scale)
    if dual is None:
        return search, learned.linear_predictor(coef, intercept, exact=True), None
    weights = search.weights * scale[:, None]
    return search, TargetPredictor(learned.kept(), dual, weights, intercept), dual


def check_missing(missing, chosen):
    """Raise an error for an unknown ``missing``, or one that ``per_target`` does not accept."""
    if missing is None:
        return
    check_choice("missing", missing, ("tables", "drop-per-target"))
    if missing == "drop-per-target" and not chosen:
        raise ValueError(
            "missing='drop-per-target' requires per_target=True; accepted without it: "
            "'tables', None."
        )
    if missing == "tables" and chosen:
        raise ValueError(
            "missing='tables' cannot be combined with per_target=True: a missing table is "
            "completed with the learned weights, which differ by target. Set only one of "
            "them."
        )


def check_gaps(Y):
    """Raise an error for targets with too few or equal values."""
    few = np.flatnonzero(np.count_nonzero(~np.isnan(Y), axis=0) < _LEAST_VALUES)
    if few.size:
        raise ValueError(
            f"y has fewer than {_LEAST_VALUES} values in {few.size} of {Y.shape[1]} "
            f"columns ({listed(few.tolist())}); accepted: columns of at least that many "
            "values. Remove the others."
        )
    check_varies(Y)


def _test_sets_of(rows, folds, n_samples, columns):
    """Return test sets as positions among some samples, without empty ones."""
    if folds is None:
        return None
    position = np.full(n_samples, -1)
    position[rows] = np.arange(rows.size)
    found = [position[test][position[test] >= 0] for test in folds]
    found = [test for test in found if test.size]
    if len(found) < 2:
        raise ValueError(
            f"cv: all samples of the targets {listed(columns.tolist())} are in one fold; "
            "accepted: folds that leave training samples for every target."
        )
    return found


def without(estimator, source, Y, scale, columns):
    """Return the predictor of some targets with the same penalties, without kernels of scale 0.

    The remaining weights of every target keep their ratios; if all are 0, they become equal.
    """
    left = estimator.candidates_ * (scale != 0.0)
    total = left.sum(axis=1, keepdims=True)
    equal = (scale != 0.0) / np.count_nonzero(scale)
    left = np.where(total > 0.0, left / np.where(total > 0.0, total, 1.0), equal)
    # Equal weight vectors share one decomposition.
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
    """Return the predictor of the chosen candidates, and dual coefficients if kernels need them.

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
    """Raise an error for targets so large that coefficients overflow."""
    if not np.isfinite(coef).all():
        raise ValueError(
            f"y holds values up to {np.nanmax(np.abs(Y)):.3g}, so that coefficients overflow at "
            "the chosen alphas; accepted: up to about 1e290. Scale y, or raise alphas."
        )


def test_sets(splits, n_samples):
    """Return the test sets of folds whose training sets are all other samples; None for None."""
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
    constant = np.flatnonzero(np.fmin.reduce(y) == np.fmax.reduce(y))  # except NaN
    if constant.size:
        shown = listed(constant, show=str)
        raise ValueError(
            f"y is constant in {constant.size} of {y.shape[1]} columns ({shown}), "
            f"{lack}; accepted: targets that vary. Remove the constant columns."
        )


def checked_rule(estimator):
    """Return "alignf" or "uniform"; raise an error for parameters that exclude ``per_target``."""
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
    """Return the weights of all targets as a text table."""
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
        f"{q} targets: mean {score} by cross-validation {estimator.best_score_.mean():.4f}, with "
        f"equal weights {estimator.uniform_score_.mean():.4f}; weights per target are better for "
        f"{better}"
    )
    groups = named_groups(estimator)
    if groups is not None:
        lines.append(sums_line(*groups, mean))
    lines.append(NOT_CONTRIBUTIONS)
    return "\n".join(lines)
