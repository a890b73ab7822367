"""What tuning a machine on a learned kernel needs: candidates, stage 1 of every fold, scores."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from alignlearn.folds import make_folds
from alignlearn.machines import paths
from alignlearn.machines.scores import r2
from alignlearn.validation import a_part, check_choice, check_number, doubt, warn
from alignlearn.weights import get_weighting, uses_samples

from .base import OF_COLUMNS

_LEAST_GRID = 3  # values of which one is inside
_TRIFLES = 0.02, 0.005  # of what scores differ by along a grid, and of a score


def check_grid(name, values, default, strict=True):
    """Candidate values of a machine's parameter as a list of float."""
    if values is None:
        values = default
    elif isinstance(values, np.ndarray):
        values = np.atleast_1d(values).tolist()
    elif isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        values = [values]  # a number; anything else is refused below
    values = list(values)
    if not values:
        raise ValueError(f"{name} is empty; give at least one value.")
    return [check_number(name, v, low=0.0, strict=strict, finite=name != "Cs") for v in values]


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


def shared_weights(given, rule, parameter, n_values):
    """Lists of positions of the values that have the same weights.

    All of them, except for a one-stage rule given by name: it takes the machine's own parameter.
    """
    everything = list(range(n_values))
    named = isinstance(given, str) and not from_statistics(rule)
    if named and parameter in rule.get_params(deep=False):
        return [[k] for k in everything]
    return [everything]


def fold_weights(learner, source, y, rule, *, train, statistics):
    """Weights of the kernels as they are, learned on one training set: see `fold_result`."""
    weights, scale = fold_result(learner, source, y, rule, train=train, statistics=statistics)
    return weights * scale


def fold_result(learner, source, y, rule, *, train, statistics):
    """Weights of the normalised kernels that one training set gives, and factors of these.

    Parameters
    ----------
    learner : MKLClassifier or MKLRegressor
        With the candidate's parameters, not fitted.
    source : opened on all samples
    y : of all samples
    rule : object with ``solve``, ``solve_grams`` or ``solve_source``
    train : ndarray of int
    statistics : AlignmentStatistics
        Of the training set; only read where the rule needs no more.
    """
    if from_statistics(rule):
        if not statistics.norms.any():
            raise ValueError(
                "cv: every kernel is constant on a training set, X less one fold, so nothing can "
                "be learned there; accepted: folds that leave samples on which a kernel varies."
            )
        scale = 1.0
        if learner.normalize == "trace":
            statistics, scale = statistics.trace_normalized()
        return rule.solve(statistics).weights, scale
    learner.set_params(kernels=source.fitted_kernels)
    weight = {} if source.weight is None else {"sample_weight": source.weight[train]}
    with a_part():
        learner.fit(source.samples(train), y[train], **weight)
    return learner.weights_, learner.scale_


def _accuracy(y, predicted, weight=None):
    return float(np.average(y == predicted, weights=weight))


def _balanced_accuracy(y, predicted, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    classes = [y == label for label in np.unique(y)]
    return float(np.mean([np.average((predicted == y)[c], weights=weight[c]) for c in classes]))


def _minus_mean(loss, outer=None):
    """Minus the (weighted) mean over samples of a loss, and then over targets of ``outer``."""

    def score(y, predicted, weight=None):
        mean = np.average(loss(y - predicted), axis=0, weights=weight)
        return -float(np.mean(mean if outer is None else outer(mean)))

    return score


SCORES = {
    "classifier": {"accuracy": _accuracy, "balanced_accuracy": _balanced_accuracy},
    "regressor": {
        "neg_root_mean_squared_error": _minus_mean(np.square, np.sqrt),
        "neg_mean_squared_error": _minus_mean(np.square),
        "neg_mean_absolute_error": _minus_mean(np.abs),
        "r2": r2,
    },
}


def get_score(scoring, kind):
    """The function ``score(y_true, y_predicted, weight=None)``, larger being better.

    A callable ``scoring`` takes weights as ``sample_weight``, where there are any.
    """
    known = SCORES[kind]
    if scoring is None:
        return next(iter(known.values()))
    if callable(scoring):

        def score(y, predicted, weight=None):
            options = {} if weight is None else {"sample_weight": weight}
            return float(scoring(y, predicted, **options))

        return score
    return known[check_choice("scoring", scoring, tuple(known))]


def search_results(candidates, scores):
    """``cv_results_``, and the index of the best candidate, the first one on a tie.

    Parameters
    ----------
    candidates : dict of list
        Values of each parameter, by name.
    scores : ndarray of shape (n_splits, ...)
        An axis for each parameter, in the order of their sorted names.
    """
    # As scikit-learn orders a grid: names sorted, the last one varies fastest.
    names = sorted(candidates)
    params = [dict(zip(names, v)) for v in product(*(candidates[name] for name in names))]
    by_split = scores.reshape(len(scores), len(params))
    if not np.all(np.isfinite(by_split)):
        raise ValueError("scoring gave NaN or infinite scores; all must be finite.")
    mean = by_split.mean(axis=0)
    results = {f"split{t}_test_score": row for t, row in enumerate(by_split)}
    results["mean_test_score"] = mean
    results["std_test_score"] = by_split.std(axis=0)
    results["rank_test_score"] = 1 + np.array([np.sum(mean > s) for s in mean])
    for name in names:
        values = [p[name] for p in params]
        numbers = all(isinstance(v, float) for v in values)
        results[f"param_{name}"] = column = np.empty(len(params), float if numbers else object)
        column[:] = values
    results["params"] = params
    return results, int(mean.argmax())


def doubt_edges(results, best):
    """Warn where the best value of a parameter ends its grid, and scores still rise there."""
    params = results["params"]
    for name, value in params[best].items():
        others = {k: v for k, v in params[best].items() if k != name}
        line = [i for i, p in enumerate(params) if {k: p[k] for k in others} == others]
        grid = sorted({params[i][name] for i in line if isinstance(params[i][name], float)})
        if len(grid) < _LEAST_GRID or value not in (grid[0], grid[-1]) or value in (0.0, np.inf):
            continue
        inner = grid[1] if value == grid[0] else grid[-2]
        inside = next(i for i in line if params[i][name] == inner)
        if _rises(results, inside, best, line):
            end = "smallest" if value == grid[0] else "largest"
            doubt(
                f"The best {name}={value:g} is the {end} of its grid, and scores still rise there "
                f"({results['mean_test_score'][inside]:.4g} at {inner:g}, "
                f"{results['mean_test_score'][best]:.4g} at {value:g}): better ones may lie "
                f"beyond; extend {name}s."
            )


def _rises(results, inside, best, line):
    """Whether a candidate's score is above another one's by more than chance, and not a trifle."""
    n = sum(key.startswith("split") for key in results)
    scores = np.array([results[f"split{t}_test_score"] for t in range(n)])
    gain = scores[:, best] - scores[:, inside]
    error = gain.std(ddof=1) / np.sqrt(n) if n > 1 else 0.0
    mean = results["mean_test_score"][line]
    trifle = max(_TRIFLES[0] * np.ptp(mean), _TRIFLES[1] * abs(float(scores[:, inside].mean())))
    return gain.mean() > max(2.0 * error, trifle)


def used_part(source, y, splits):
    """The source, the targets and the splits of the samples of positive weight."""
    if source.weight is None or source.weight.all():
        return source, y, splits
    return source.used(), y[source.weight > 0.0], used_splits(splits, source.weight)


def used_splits(splits, weight):
    """Splits as positions among the samples of positive weight; None for None."""
    if splits is None:
        return None
    position = np.cumsum(weight > 0.0) - 1
    found = [tuple(position[rows[weight[rows] > 0.0]] for rows in fold) for fold in splits]
    for which, (train, test) in enumerate(found):
        for name, rows in (("training", train), ("test", test)):
            if not rows.size:
                raise ValueError(
                    f"sample_weight is zero in all of the {name} set of fold {which} of cv; "
                    "accepted: folds with a positive one in both sets."
                )
    return found


class InTurn:
    """Items of a generator by number, none before the last one asked for: one is held at a time."""

    def __init__(self, items):
        self._items, self._number, self._item = iter(items), -1, None

    def __getitem__(self, number):
        while self._number < number:
            self._item, self._number = None, self._number + 1
            self._item = next(self._items)
        return self._item


class Fits(NamedTuple):
    """What machines need on every fold; a call gives the predictions of some."""

    source: object
    y: np.ndarray
    folds: list
    statistics: list | InTurn
    rules: list
    learners: list
    parameter: str
    path: Callable

    def __call__(self, t, r, values):
        """Test predictions on fold t by rule r for each value of the parameter."""
        learner = copy.copy(self.learners[r]).set_params(**{self.parameter: values[0]})
        of_fold = {"train": self.folds[t][0], "statistics": self.statistics[t]}
        weights = fold_weights(learner, self.source, self.y, self.rules[r], **of_fold)
        return list(self.path(self.source.combine(weights), self.y, self.folds[t], values))


def support_vector_path(machine, learned, y, split, values):
    """Test predictions of support vector regression for each C."""
    return paths.support_vector_predictions(machine, learned, y, split, values)


def leave_one_out(learned, y, split, values):
    """Predictions of kernel ridge at each sample without it, for each alpha."""
    return paths.leave_one_out_predictions(learned, y, values)


def each(client, function, arguments, take):
    """Call ``take(k, function(*arguments[k]))`` for k = 0, 1, ...

    With a client its workers call the function, a thread for each call; warnings come from here.

    Parameters
    ----------
    client : dask.distributed.Client or None
    function : callable
    arguments : list of tuple
    take : callable
    """
    if client is None:
        for k, given in enumerate(arguments):
            take(k, function(*given))
        return
    from alignlearn.engine.cluster import Cluster

    def taken(k, found):
        result, caught = found
        for warning in caught:
            warn(warning)
        take(k, result)

    boxes = [(k, k + 1) for k in range(len(arguments))]
    Cluster(client, _CALLS).run_boxes("call", (function, arguments), boxes, taken)


class _Calls:
    """An engine whose data are a function and its arguments, as a worker needs it."""

    in_place = True
    operations = frozenset({"call"})

    def run_boxes(self, operation, data, boxes, take):
        """Pass on the results of the calls and their warnings."""
        function, arguments = data
        for k, (number, _) in enumerate(boxes):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                result = function(*arguments[number])
            take(k, (result, [warning.message for warning in caught]))


_CALLS = _Calls()


@dataclass(eq=False, repr=False, kw_only=True)
class FoldSearch:
    """What estimators that tune themselves by cross-validation share.

    The host has ``random_state`` and ``_estimator_type``.
    """

    cv: Any = 5
    scoring: Any = None

    def get_metadata_routing(self):
        """As for any estimator; ``groups`` are requested where the splitter ``cv`` requests them.

        ``set_fit_request(groups=True)`` requests them for every ``cv``.
        """
        from sklearn.utils.metadata_routing import get_routing_for_object

        routing = super().get_metadata_routing()
        if routing.fit.requests["groups"] is None:
            request = get_routing_for_object(self.cv).split.requests.get("groups")
            routing.fit.add_request(param="groups", alias=request)
        return routing

    def _leave_one_out(self):
        return False

    def _splits(self, y, groups):
        """The folds, or None for leave-one-out."""
        splitter = hasattr(self.cv, "split") and not isinstance(self.cv, str)
        if groups is not None and not splitter:
            warn(
                f"groups are given, but cv={self.cv!r:.40} does not look at them; accepted: a "
                "splitter such as GroupKFold, or cv=groups for one fold per group.",
                UserWarning,
            )
        if self._leave_one_out():
            return None
        cv = 5 if self.cv is None else self.cv
        return make_folds(cv, y, self._estimator_type == "classifier", self.random_state, groups)

    def _adopt(self, fitted, results, best):
        """Take over the attributes of the fit with the best candidate, and the results."""
        params = results["params"][best]
        for name in ("C_", "alpha_", "kernel_C_", *OF_COLUMNS):
            self.__dict__.pop(name, None)
        vars(self).update(fitted)
        for name, value in params.items():
            setattr(self, f"{name}_", value)
        self.cv_results_, self.best_params_, self.best_index_ = results, params, best
        self.best_score_ = float(results["mean_test_score"][best])
        doubt_edges(results, best)
