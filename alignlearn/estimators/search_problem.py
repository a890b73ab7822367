"""The problem that a tuned estimator searches, and the path of a plain estimator."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from alignlearn.solvers.multiclass import of_present_classes
from alignlearn.validation import check_memory


class SearchProblem(NamedTuple):
    """The values, scores and folds of a search.

    Attributes
    ----------
    parameter : {"C", "alpha"}
    values : list of float
    path : callable
        ``path(combination, y, split, values)``: test predictions, one array per value. It is
        sent to the workers of a client, so it must not hold the tuned estimator, whose ``cv`` may
        not be picklable.
    score : callable
        ``score(fold, predictions)``, see `search.search`, on the samples of positive weight.
    keep : bool
        Whether to keep the predictions of the chosen candidates.
    fine : bool
        Whether later levels may try values between those of the grid.
    levels : list of Level
        Levels of a strategy.
    folds : list of (train, test)
        Folds of all levels of a strategy, as positions among the samples of positive weight.
    least_squares : callable or None
        The path of `LeastSquaresClassifier`, for a strategy of a classifier.
    overlapping : dict or None
        The fields to replace if two classes overlap so much that only least squares are fitted.
    machine : str or None
        The machine of the path, if it is not the one named by the estimator.
    most : float
        The largest value to try.
    n_different : int or None
        Number of different samples; for a strategy.
    """

    parameter: str
    values: list
    path: Any
    score: Any
    keep: bool = False
    fine: bool = False
    levels: Any = ()
    folds: Any = ()
    least_squares: Any = None
    overlapping: Any = None
    machine: Any = None
    most: float = np.inf
    n_different: int | None = None


class Planned(NamedTuple):
    """The search of a strategy, and what the final fits need.

    Attributes
    ----------
    X, y, source
        All samples.
    y_used : ndarray
        Targets of the samples of positive weight.
    plan : Plan
    kernels : WayKernels
        On the samples from which methods learn.
    problem : SearchProblem
    given, options : tuple, dict
        Arguments of `search.search`.
    fitted : dict
        Models that workers fit to all samples during the search, as `begin` returns them, by key.
    """

    X: Any
    y: Any
    source: Any
    y_used: Any
    plan: Any
    kernels: Any
    problem: Any
    given: tuple
    options: dict
    fitted: dict


class ModelPath(NamedTuple):
    """Test predictions of the machine of a plain estimator, for each value.

    Attributes
    ----------
    model : MKLClassifier or MKLRegressor
        Not fitted.
    parameter : {"C", "alpha"}
    read : callable, optional
        ``read(machine, decisions)`` returns the result for a value. Default: the decisions.
    """

    model: Any
    parameter: str
    read: Any = None

    def __call__(self, combination, y, split, values):
        """Return the list of results of ``read``."""
        train, test = np.sort(split[0]), split[1]
        part, X = combination.part(train), combination.source.as_new(test)
        memory, found = check_memory("memory", self.model.memory), []
        params = self.model.get_params(deep=False)
        if params["n_centers"] is not None:
            params["n_centers"] = min(params["n_centers"], len(train))
        if "class_weight" in params:
            params["class_weight"] = of_present_classes(params["class_weight"], y[train])
        for value in values:
            model = type(self.model)(**{**params, self.parameter: value})
            choice = model._choice(part, y[train], memory, model.machine)
            machine, predictor = model._train(part, y[train], memory, choice)
            raw = predictor.decisions(X, combination.source.engine)
            found.append(raw if self.read is None else self.read(machine, raw))
        return found


class Shaped(NamedTuple):
    """Return decisions (n, q) in the shape of the targets."""

    one: bool

    def __call__(self, machine, raw):
        return raw[:, 0] if self.one else raw
