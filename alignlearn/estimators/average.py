"""The average of models that a strategy fits: which candidates it takes, and the fitted models."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from alignlearn._pairs import mean_size
from alignlearn._text import Described
from alignlearn._versions import Versioned
from alignlearn.engine.cpu import CPU
from alignlearn.kernels import Rescaled
from alignlearn.solvers.multiclass import predicted_labels
from alignlearn.sources import Predictor

from .base import OF_COLUMNS, Estimator, parameters
from .feature_scales import transformed
from .guarantees import seen_samples
from .results_table import first_best

_OF_EACH = (
    *("kernel_", "kernels_", "weights_", "scale_", "scales_", "alignment_", "uniform_alignment_"),
    *("kernel_alignments_", "statistics_", "result_", "support_", "dual_coef_", "coef_"),
)
_OF_FEATURES = ("kernel_", "kernels_", "scales_")  # for the original features
_BLOCKS = 10  # parts of the test samples for the standard error of a gain
_NOISE = 0.5  # minimum gain in standard errors for an average, if a fit takes long
_CLEAR = 2.0  # standard errors by which other members must beat the usual average


@dataclass(frozen=True, eq=False, repr=False)
class Member(Described, Versioned):
    """One of the models whose decisions are averaged.

    Attributes
    ----------
    name : str
        The method by which its kernel was made.
    share : float
        Its weight in the average; shares sum to 1.
    unit : float
        Its decisions are divided by this size before they are averaged: their mean absolute value
        on the folds for a classifier, 1 for a regressor.
    factors : ndarray of shape (d,) or (d, d), or None
        Factors of the features.
    model : MKLClassifier or MKLRegressor
        Fitted to these features.
    """

    name: str
    share: float
    unit: float
    factors: Any
    model: Any

    @property
    def factor(self):
        """The factor of its decisions: ``share / unit``."""
        return self.share / self.unit

    @property
    def kernels(self):
        """Its kernels, for the original features."""
        kernels = self.model.kernels_
        return kernels if self.factors is None else [Rescaled(k, self.factors) for k in kernels]

    @property
    def kernel(self):
        """Its learned kernel, for the original features."""
        kernel = self.model.kernel_
        return kernel if self.factors is None else Rescaled(kernel, self.factors)

    @property
    def scales(self):
        """Factors of squared differences of the features, (d,); None if features are not scaled.

        For a matrix, its diagonal.
        """
        F = self.factors
        return F if F is None else np.square(F) if F.ndim == 1 else np.diagonal(F @ F)

    def of(self, X):
        """Checked samples as its model takes them."""
        return X if self.factors is None else transformed(X, self.factors)


class AveragePredictor(Predictor):
    """The sum of the decisions of members, each times its factor.

    Parameters
    ----------
    members : sequence of Member
    """

    def __init__(self, members):
        self.parts = [
            (m.factor, m.factors, m.model._predictor, m.model.weights_.size) for m in members
        ]
        intercept = sum(factor * p.intercept for factor, _, p, _ in self.parts)
        super().__init__(np.empty((0, np.size(intercept))), intercept)
        first = members[0].model._predictor
        self.is_given, self.n_features = first.is_given, first.n_features

    def check(self, X):
        """New samples, validated except for their number of features."""
        return self.parts[0][2].check(X)

    def count(self, X):
        """How many checked samples there are."""
        return self.parts[0][2].count(X)

    def take(self, X, rows):
        """Some of the checked samples."""
        return self.parts[0][2].take(X, rows)

    def decisions(self, X, engine=CPU):
        """The sum of the decisions, (n, q)."""
        return sum(
            factor * part.decisions(X if factors is None else transformed(X, factors), engine)
            for factor, factors, part, _ in self.parts
        )

    def reweighted(self, weights):
        """The same with other weights of the kernels, concatenated over all members."""
        again, done = copy.copy(self), 0
        again.parts = []
        for factor, factors, part, n in self.parts:
            if part.is_linear:
                raise ValueError(
                    "contributions of kernels are not available for an average of models that are "
                    "linear in the features; accepted: groups='features', or a fit with "
                    "ensemble=False."
                )
            again.parts.append((factor, factors, part.reweighted(weights[done : done + n]), n))
            done += n
        again.intercept = 0.0
        return again


@parameters
class Average(Estimator):
    """The average of fitted models, the ``model_`` of a tuned estimator after a strategy.

    It is made by `Average.of`, and has no ``fit``. With one member it has the fitted attributes of
    its model; of several members each has its own.

    Parameters
    ----------
    members : sequence of Member

    Attributes
    ----------
    members_ : tuple of Member
    intercept_ : float or ndarray
        Of the averaged decisions.
    n_iter_ : int or ndarray
        Steps of the members.
    classes_ : ndarray of shape (c,)
    machine_, chosen_machine_
        Of the first member.
    calibration_ : Calibration or None
        The calibration of the decisions in ``predict_proba``.
    """

    members: Any = field(default=(), kw_only=False)

    @classmethod
    def of(cls, members, y, source, columns):
        """The average of members that were fitted to the samples of a source.

        Parameters
        ----------
        members : list of Member
        y : ndarray
            The target, as checked.
        source : Source
            The kernels as given to ``fit``, on all samples.
        columns : dict
            Attributes on the columns of X, ``n_features_in_`` and the like.
        """
        found, model = cls(tuple(members)), members[0].model
        vars(found).update(columns)
        rows, pairs = seen_samples(source, y, model.weights_)
        seen = {"rows": rows, "pairs": pairs, "is_part": False}
        found._ranges = replace(model._ranges, **seen)
        for member in members:
            if member.factors is None and (member is members[0] or not source.is_given):
                member.model._ranges = replace(member.model._ranges, **seen)
        found._predictor = AveragePredictor(members)
        if len(members) == 1:
            found._predictor = model._predictor if members[0].factors is None else found._predictor
            return found
        found.n_iter_ = np.concatenate([np.ravel(m.model.n_iter_) for m in members])
        intercept = found._predictor.intercept
        one = np.ndim(model.intercept_) == 0
        found.intercept_ = float(np.ravel(intercept)[0]) if one else intercept
        return found

    @property
    def _estimator_type(self):
        return self.members[0].model._estimator_type

    @property
    def members_(self):
        """The members, as the tuned estimator names them."""
        return self.members

    @property
    def _members(self):
        return self.members

    def _kernel_model(self):
        return self.members[0].model

    def decision_function(self, X) -> np.ndarray:
        """Confidence of each class, or of the second of two; for classifiers."""
        return self.machine_.confidences(self._decisions(X))

    def predict(self, X) -> np.ndarray:
        """Predict the labels or targets of n samples."""
        if self._estimator_type == "classifier":
            return predicted_labels(self.decision_function(X), self.classes_)
        found = self._decisions(X)
        return found[:, 0] if np.ndim(self.intercept_) == 0 else found

    def _decisions(self, X):
        X = self._check_columns(X, self._predictor.check)
        return self._predictor.decisions(X, self._kernel_model()._engine())

    def __getattr__(self, name):
        # Called for attributes that the object does not have.
        members = vars(self).get("members", ())
        fitted = name.endswith("_") and not name.startswith("_") and name not in OF_COLUMNS
        if not members or not fitted:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if len(members) > 1 and name in _OF_EACH:
            raise AttributeError(
                f"there is no {name}: decisions are an average of {len(members)} "
                "models, each with its own attribute in members_[i].model. Set "
                "ensemble=False to fit a single model."
            )
        first = members[0]
        found = getattr(first, name[:-1]) if name in _OF_FEATURES else getattr(first.model, name)
        if found is None and name in _OF_FEATURES:
            raise AttributeError(f"there is no {name}: features were not scaled.")
        return found


def units_of(found, task):
    """Return the mean absolute decision of each chosen candidate."""
    if task == "regression" or len(found.chosen) == 1:
        return [1.0] * len(found.chosen)
    return [np.mean([mean_size(f) for f in folds]) or 1.0 for folds in found.kept]


def members_of(found, plan, score, task):
    """Return the best candidates to average, or others that are clearly better on the folds.

    Averages have less variance than single candidates, and candidates on columns seldom help:
    other members must be better by more than the noise.
    """
    ways = [plan.ways[w] for w, _ in found.chosen]
    own = [k for k, way in enumerate(ways) if not way.least_squares]
    whole = [k for k in own if not ways[k].columns][: plan.averaged]
    first = [k for k in own if ways[k].columns][:1]
    options = []
    for one in (whole, whole[:1], first, whole[:1] + first, whole + first):
        if one and one not in options and (len(one) == 1 or plan.averaged > 1):
            options.append(one)
    options = [_both_machines(one, ways) for one in options]
    units = units_of(found, task)

    def scores(members):
        averages = (
            sum(found.kept[k][t] / units[k] for k in members) / len(members)
            for t in range(len(found.folds))
        )
        return np.array([score(t, one)[0] for t, one in zip(found.folds, averages)])

    usual = scores(options[0])
    gains = np.array([scores(one) - usual for one in options])
    error = gains.std(axis=1, ddof=min(1, len(usual) - 1)) / np.sqrt(len(usual))
    gains = np.where(gains.mean(axis=1) > _CLEAR * error, gains.mean(axis=1), 0.0)
    return found.of(options[first_best(gains)])


def with_partner(found, plan, score, task, blocks, few):
    """Return the best candidate and, if better by more than noise, a partner to average with.

    The noise is estimated over ``blocks``, parts of the test samples of the first fold. With
    ``few`` samples the average is used unless it is clearly worse. This is the greedy ensemble
    selection of Caruana, Niculescu-Mizil, Crew and Ksikes (2004).
    """
    t, units = found.folds[0], units_of(found, task)
    ways = [plan.ways[w] for w, _ in found.chosen]
    own = [k for k, way in enumerate(ways) if not way.least_squares]

    def scores(predicted):
        return np.array([score(t, predicted, rows)[0] for rows in blocks])

    if not few and len(own) < len(ways):  # some candidates have both machines
        own = _better_machines(found, ways, score, scores)
    sized = [found.kept[k][0] / units[k] for k in own]
    averages = [0.5 * (sized[0] + other) for other in sized[1:]]
    if not averages or len(blocks) < 2:
        return found.of(_both_machines(own[:1], ways) if few else own[:1])
    best = first_best(np.array([score(t, average)[0] for average in averages]))
    gains = scores(averages[best]) - scores(sized[0])
    better = _exceeds(gains, -_CLEAR if few else _NOISE)
    chosen = [own[0], own[best + 1]] if better else own[:1]
    return found.of(_both_machines(chosen, ways) if few else chosen)


def _better_machines(found, ways, score, scores):
    """Return for each kernel the better machine, best kernels first.

    Least squares replace support vector machines only if they are better by more than noise,
    because predictions then need all samples. ``scores`` are those on parts of the test samples.
    """
    predicted = [kept[0] for kept in found.kept]
    partners = _partners(ways)
    better = []
    for k, way in enumerate(ways):
        other = partners.get(way.name)
        if other is not None:
            gains = scores(predicted[other]) - scores(predicted[k])
            better.append(other if _exceeds(gains, _NOISE) else k)
        elif not way.least_squares:
            better.append(k)
    return sorted(better, key=lambda k: -score(found.folds[0], predicted[k])[0])


def _exceeds(gains, n_errors):
    """Whether the mean of gains on parts of the samples is more than some standard errors."""
    return gains.mean() > n_errors * gains.std(ddof=min(1, len(gains) - 1)) / np.sqrt(len(gains))


def _partners(ways):
    """Numbers of the least-squares partners, by the names of the candidates beside them."""
    return {way.parent: k for k, way in enumerate(ways) if way.least_squares}


def member_partners(members, ways):
    """The least-squares partners among some members, by the names of those beside them."""
    known, partners = {member.name: member for member in members}, _partners(ways)
    names = {name: ways[k].name for name, k in partners.items() if name in known}
    return {name: known[own] for name, own in names.items() if own in known}


def _both_machines(chosen, ways):
    """Return some candidates, by number, followed by their least-squares partners."""
    partners = _partners(ways)
    names = [ways[k].name for k in chosen]
    return chosen + [partners[name] for name in names if name in partners]


def noise_blocks(tested, by_class, every_class):
    """Return parts of the test samples, by their targets, for the noise of a score.

    ``by_class``: parts are stratified by class. ``every_class``: the number of parts is reduced so
    that each has all classes, without which most scores are undefined.
    """
    if not by_class:
        return np.array_split(np.arange(len(tested)), _BLOCKS)
    n = _BLOCKS
    if every_class:
        n = min(n, int(np.unique(tested, return_counts=True)[1].min()))
    order = np.argsort(tested, kind="stable")
    return [np.sort(order[k::n]) for k in range(n)]
