"""What a tuned estimator searches, and the path of a plain estimator along its values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from alignlearn.solvers.multiclass import of_present_classes
from alignlearn.validation import check_memory


class SearchProblem(NamedTuple):
    """What a search is of.

    Attributes
    ----------
    parameter : {"C", "alpha"}
    values : list of float
    path : callable
        ``path(combination, y, split, values)``: test predictions, one array per value. It goes to
        the workers of a client, so it must not hold the tuned estimator, whose ``cv`` may not be
        sent.
    score : callable
        ``score(fold, predictions)`` as of `search.search`, on the samples of positive weight.
    keep : bool
        Whether to keep the predictions of the chosen.
    fine : bool
        Whether later levels may try values between those of the grid.
    levels : list of Level
        For a strategy.
    folds : list of (train, test)
        Of all levels, as positions among the samples of positive weight; for a strategy.
    least_squares : callable or None
        The path of `LeastSquaresClassifier`, for a strategy of classes.
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


class ModelPath(NamedTuple):
    """Test predictions of a plain estimator's machine for each value, whichever machine it takes.

    Attributes
    ----------
    model : MKLClassifier or MKLRegressor
        Not fitted.
    parameter : {"C", "alpha"}
    read : callable, optional
        ``read(machine, decisions)``, what to return of each value; default: the decisions.
    """

    model: Any
    parameter: str
    read: Any = None

    def __call__(self, combination, y, split, values):
        """A list of what ``read`` returns."""
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
            choice = model._choose(part, y[train], memory)
            machine, predictor = model._train(part, y[train], memory, choice)
            raw = predictor.decisions(X, combination.source.engine)
            found.append(raw if self.read is None else self.read(machine, raw))
        return found


class Shaped(NamedTuple):
    """Decisions (n, q) in the shape of the targets."""

    one: bool

    def __call__(self, machine, raw):
        return raw[:, 0] if self.one else raw
