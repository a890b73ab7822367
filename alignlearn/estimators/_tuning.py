"""What tuning a machine on a learned kernel needs: folds, stage 1 of every fold, scores."""

from __future__ import annotations

import numpy as np

from alignlearn.estimators._sources import FeatureSource
from alignlearn.estimators.cross_validation import GramViews, _folds
from alignlearn.streaming import alignment_statistics
from alignlearn.validation import check_choice, check_number, take
from alignlearn.weights import get_weighting


def check_grid(name, values, default, strict=True):
    """Candidate values of a machine's parameter as a list of float."""
    values = default if values is None else np.atleast_1d(np.asarray(values, dtype=object)).tolist()
    if len(values) == 0:
        raise ValueError(f"{name} is empty; give at least one value.")
    return [check_number(name, v, low=0.0, strict=strict, finite=name != "Cs") for v in values]


def check_weightings(weighting):
    """The candidates as given, the rules they name, and whether several were given."""
    several = isinstance(weighting, (list, tuple))
    given = list(weighting) if several else [weighting]
    if not given:
        raise ValueError("weighting is an empty list; give at least one rule.")
    return given, [get_weighting(rule) for rule in given], several


def split_samples(cv, y, stratify, random_state):
    """A list of (train, test) index arrays.

    ``cv`` is a number of folds (lowered to the number of samples, or to the size of the largest
    class, where there are fewer), a fold label for each sample, an iterable of (train, test) or an
    object with ``split(X, y)``.
    """
    m = len(y)
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool) and cv > 1:
        most = np.unique(y, return_counts=True)[1].max() if stratify else m
        cv = int(min(cv, max(most, 2)))
    elif (labels := _fold_labels(cv, m)) is not None:
        cv = [(np.flatnonzero(labels != f), np.flatnonzero(labels == f)) for f in np.unique(labels)]
        if len(cv) < 2:
            raise ValueError("cv gives all samples the same fold label; at least 2 are needed.")
    splits = _folds(cv, y, stratify, random_state)
    for number, split in enumerate(splits):
        _check_split(number, split, y, stratify)
    return splits


def _fold_labels(cv, m):
    if hasattr(cv, "split") or not hasattr(cv, "__len__") or len(cv) != m:
        return None
    if any(np.ndim(label) for label in cv):
        return None
    return np.asarray(cv)


def _check_split(number, split, y, stratify):
    for name, rows in zip(("training", "test"), split):
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.size == 0:
            raise ValueError(f"cv: the {name} set of fold {number} must hold sample numbers.")
        if rows.min() < 0 or rows.max() >= len(y):
            raise ValueError(
                f"cv: the {name} set of fold {number} goes from {rows.min()} to {rows.max()}; "
                f"accepted: 0 to {len(y) - 1}."
            )
    labels = y[split[0]]
    if stratify and np.all(labels == labels[0]):
        raise ValueError(
            f"cv: the training set of fold {number} holds 1 class only, {labels[0]!r}; give fewer "
            "or other folds."
        )


def training_statistics(source, y, task, splits):
    """Yield the statistics of every training set.

    Where the test sets are disjoint and each training set is all the rest, they come from one pass
    over the pairs. Features need no pairs: there each training set is taken by itself, which also
    keeps one (p, p) matrix at a time.
    """
    X = source.numbers if hasattr(source, "numbers") else source.X
    if not isinstance(source, FeatureSource) and _partition(splits, source.n_samples):
        labels = np.empty(source.n_samples, dtype=np.intp)
        for number, (_, test) in enumerate(splits):
            labels[test] = number
        yield from alignment_statistics(X, y, source.kernels, task=task, folds=labels)
        return
    X = X.tocsr() if hasattr(X, "tocsr") else X
    for train, _ in splits:
        yield alignment_statistics(take(X, train), y[train], source.kernels, task=task)


def _partition(splits, m):
    tested = np.zeros(m, dtype=np.intp)
    for train, test in splits:
        tested[test] += 1
        rest = np.ones(m, dtype=bool)
        rest[test] = False
        if train.size + test.size != m or not np.array_equal(np.sort(train), np.flatnonzero(rest)):
            return False
    return len(splits) > 1 and bool(np.all(tested == 1))


def from_statistics(rule):
    """Whether a rule finds its weights from the alignment statistics alone."""
    return not callable(getattr(rule, "solve_grams", None))


def shared_weights(given, rule, parameter, n_values):
    """Lists of positions of the values that have the same weights.

    All of them, except for a one-stage rule given by name: it takes the machine's own parameter.
    """
    everything = list(range(n_values))
    named = isinstance(given, str) and not from_statistics(rule)
    if named and parameter in rule.get_params(deep=False):
        return [[k] for k in everything]
    return [everything]


def fold_weights(learner, source, X, y, rule, *, train, statistics):
    """Weights of the kernels as they are, learned on one training set.

    Parameters
    ----------
    learner : MKLClassifier or MKLRegressor
        With the candidate's parameters, not fitted.
    source : opened on all samples
    X : as given to ``fit``
    y : of all samples
    rule : object with ``solve`` or ``solve_grams``
    train : ndarray of int
    statistics : AlignmentStatistics
        Of the training set; only read where the rule needs no more.
    """
    if from_statistics(rule):
        scale = 1.0
        if learner.normalize == "trace":
            statistics, scale = statistics.trace_normalized()
        return rule.solve(statistics).weights * scale
    given = hasattr(source, "grams")
    if not given:
        learner.set_params(kernels=source.kernels)
    learner.fit(GramViews(X, train, train) if given else take(source.X, train), y[train])
    return learner.weights_ * learner.scale_


def _mean_root_squares(y, predicted):
    return float(np.mean(np.sqrt(np.mean(np.square(y - predicted), axis=0))))


def _r2(y, predicted):
    total = np.sum(np.square(y - y.mean(axis=0)), axis=0)
    residual = np.sum(np.square(y - predicted), axis=0)
    flat = np.where(residual == 0.0, 1.0, 0.0)
    return float(np.mean(np.where(total > 0.0, 1.0 - residual / np.where(total, total, 1), flat)))


def _balanced_accuracy(y, predicted):
    return float(np.mean([np.mean(predicted[y == label] == label) for label in np.unique(y)]))


SCORES = {
    "classifier": {
        "accuracy": lambda y, predicted: float(np.mean(y == predicted)),
        "balanced_accuracy": _balanced_accuracy,
    },
    "regressor": {
        "neg_root_mean_squared_error": lambda y, p: -_mean_root_squares(y, p),
        "neg_mean_squared_error": lambda y, p: -float(np.mean(np.square(y - p))),
        "neg_mean_absolute_error": lambda y, p: -float(np.mean(np.abs(y - p))),
        "r2": _r2,
    },
}


def get_score(scoring, kind):
    """The function ``score(y_true, y_predicted)``, larger being better, that ``scoring`` names."""
    known = SCORES[kind]
    if scoring is None:
        return next(iter(known.values()))
    if callable(scoring):
        return lambda y, predicted: float(scoring(y, predicted))
    return known[check_choice("scoring", scoring, tuple(known))]


def search_results(parameter, values, weightings, several, scores):
    """``cv_results_``, and the index of the best candidate, the first one on a tie.

    Parameters
    ----------
    parameter : str
    values : list of float
    weightings : list
        As given.
    several : bool
        Whether the rule is a parameter of the search.
    scores : ndarray of shape (n_splits, n_weightings, n_values)
    """
    # As scikit-learn orders a grid: names sorted, the last one varies fastest.
    grid = [(v, w) for v in values for w in weightings]
    by_split = np.swapaxes(scores, 1, 2).reshape(len(scores), len(grid))
    if not np.all(np.isfinite(by_split)):
        raise ValueError("scoring gave NaN or infinite scores; all must be finite.")
    mean = by_split.mean(axis=0)
    results = {f"split{t}_test_score": row for t, row in enumerate(by_split)}
    results["mean_test_score"] = mean
    results["std_test_score"] = by_split.std(axis=0)
    results["rank_test_score"] = 1 + np.array([np.sum(mean > s) for s in mean])
    results[f"param_{parameter}"] = np.array([v for v, _ in grid])
    results["params"] = [{parameter: v} for v, _ in grid]
    if several:
        rules = np.empty(len(grid), dtype=object)
        rules[:] = [w for _, w in grid]
        results["param_weighting"] = rules
        for params, rule in zip(results["params"], rules):
            params["weighting"] = rule
    return results, int(mean.argmax())
