"""Machines whose decisions are added up, and the estimators that choose them by a strategy."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from alignlearn._progress import Progress
from alignlearn._text import Described, table
from alignlearn._versions import Versioned
from alignlearn.engine.cpu import CPU
from alignlearn.kernels import Rescaled
from alignlearn.sources import Predictor
from alignlearn.validation import a_part, check_choice, check_flag, check_seed

from . import inputs, tuning
from .feature_scales import transformed
from .guarantees import sample_ranges
from .strategies import PLANS, Fits, Problem, search

_WEIGHTS_ALONE = ("uniform", "alignf")  # ways that only learn weights of the given kernels
_OF_ALL = ("classes_", "machine_", "chosen_machine_")
_OF_ONE = (
    *("kernel_", "kernels_", "weights_", "scale_", "scales_", "alignment_", "uniform_alignment_"),
    *("kernel_alignments_", "statistics_", "result_", "support_", "dual_coef_"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Member(Described, Versioned):
    """One of the machines whose decisions are added up.

    Attributes
    ----------
    name : str
        The way its kernel was made.
    share : float
        What its decisions are multiplied by.
    factors : ndarray of shape (d,) or (d, d), or None
        What features are multiplied by.
    model : MKLClassifier or MKLRegressor
        Fitted to these features.
    """

    name: str
    share: float
    factors: Any
    model: Any

    @property
    def kernels(self):
        """Its kernels, of the features as they are."""
        kernels = self.model.kernels_
        return kernels if self.factors is None else [Rescaled(k, self.factors) for k in kernels]

    @property
    def kernel(self):
        """Its learned kernel, of the features as they are."""
        kernel = self.model.kernel_
        return kernel if self.factors is None else Rescaled(kernel, self.factors)

    def of(self, X):
        """Checked samples as its model takes them."""
        return X if self.factors is None else transformed(X, self.factors)


class AveragePredictor(Predictor):
    """The sum of the decisions of members, each times its share.

    Parameters
    ----------
    members : sequence of Member
    """

    def __init__(self, members):
        self.parts = [
            (m.share, m.factors, m.model._predictor, m.model.weights_.size) for m in members
        ]
        intercept = sum(share * p.intercept for share, _, p, _ in self.parts)
        super().__init__(np.empty((0, np.size(intercept))), intercept)
        self.is_given, self.n_features = self._first.is_given, self._first.n_features

    @property
    def _first(self):
        return self.parts[0][2]

    def check(self, X):
        """New samples, validated, but for their width."""
        return self._first.check(X)

    def count(self, X):
        """How many checked samples there are."""
        return self._first.count(X)

    def take(self, X, rows):
        """Some of the checked samples."""
        return self._first.take(X, rows)

    def decisions(self, X, engine=CPU):
        """The sum of the decisions, (n, q)."""
        return sum(
            share * part.decisions(X if factors is None else transformed(X, factors), engine)
            for share, factors, part, _ in self.parts
        )

    def reweighted(self, weights):
        """The same with other weights of the kernels, those of all members in a row."""
        again, done = copy.copy(self), 0
        again.parts = []
        for share, factors, part, n in self.parts:
            if part.is_linear:
                raise ValueError(
                    "contributions are not known for an average of machines that are linear in the "
                    "features; accepted: a fit with ensemble=False."
                )
            again.parts.append((share, factors, part.reweighted(weights[done : done + n]), n))
            done += n
        again.intercept = 0.0
        return again


class Strategic:
    """Mixin of the searches: the choice of a strategy, and what is known of its members."""

    def _rule(self):
        """``weighting``, or what stands for None."""
        if self.weighting is not None:
            return self.weighting
        loo = isinstance(self.cv, str) and self.cv == "loo"
        # Its ways look at features, which samples may lack then.
        gaps = self.missing == "tables"
        asked = self.strategy is not None or (self.kernels is None and not loo and not gaps)
        return "auto" if asked else "alignf"

    def _by_strategy(self):
        found = isinstance(self._rule(), str) and self._rule() == "auto"
        if self.strategy is not None and not found:
            raise ValueError(
                f"strategy={self.strategy!r:.40} goes with weighting='auto', got weighting="
                f"{self.weighting!r:.80}; accepted: one of them."
            )
        if found and self.missing == "tables":
            raise ValueError(
                "weighting='auto' does not go with missing='tables', as its ways learn from single "
                "features; accepted: a rule such as 'alignf', or a list of them."
            )
        return found

    def _plan(self):
        strategy = "auto" if self.strategy is None else self.strategy
        plan = PLANS[check_choice("strategy", strategy, tuple(PLANS))]
        return plan if check_flag("ensemble", self.ensemble) else plan._replace(averaged=1)

    def _fit_by_strategy(self, X, y, source, splits, *, parameter, values, path, score):
        """Choose the ways and values by folds, fit them on everything and keep their average.

        Parameters as of `_search`; ``score(fold, predictions)`` as of `strategies.search`, on the
        samples of positive weight.
        """
        plan, values = self._plan(), sorted(values)
        inputs.check_room(source, [])
        inputs.doubt_scales(X, source.X, source.kernels)
        used, y_used, folds = tuning.used_part(source, y, splits)
        task = "classification" if self._estimator_type == "classifier" else "regression"
        rng = check_seed("random_state", self.random_state)
        problem = Problem(used, self.kernels, y_used, task, rng)
        plan = problem.ways(plan)
        statistics = self._fold_statistics(used, y_used, task, folds)
        learners = {way.rule: self._untuned(way.rule or "uniform") for way in plan.ways}
        fits = Fits(problem, folds, statistics, learners, parameter, path)
        total = len(folds)
        with Progress(f"{total} folds", total, source.progress) as progress:
            found = search(fits, plan, values, score, self.client, progress)
        shares, given = self._shares_of(found), (X, y, source)
        problem.learn([plan.ways[w] for w, _ in found.order])
        members = [
            self._member(plan.ways[w], share, {parameter: values[k]}, problem, given)
            for (w, k), share in zip(found.order, shares)
        ]
        self._store_members(given, members, *_results(found, plan, parameter, values))
        self.n_splits_ = len(folds)
        return found, shares

    def _fold_statistics(self, source, y, task, folds):
        trains = [train for train, _ in folds]
        found = source.training_statistics(y, task, trains, unbiased=self.unbiased)
        return tuning.InTurn(found) if self.client is None else list(found)

    def _shares_of(self, found):
        """What each member's decisions are multiplied by."""
        n = len(found.order)
        if self._estimator_type == "regressor" or n == 1:
            return [1.0 / n] * n
        sizes = [np.mean([np.abs(f).mean() for f in found.kept[at]]) for at in found.order]
        return [1.0 / (n * (size or 1.0)) for size in sizes]

    def _member(self, way, share, chosen, problem, given):
        """The `Member` of a way."""
        X, y, source = given
        model = self._untuned(way.rule or "uniform").set_params(**chosen)
        root = problem.root(problem.everything, way.full) if way.scaled else None
        if way.rule is None or way.scaled:
            kernels = [problem.single] if way.rule is None else problem.kernels
            model.set_params(kernels=kernels)
            X = source.X if root is None else transformed(source.X, root)
        with a_part():
            model.fit(X, y, source.weight)
        return Member(way.name, share, root, model)

    def _store_members(self, given, members, results, best):
        """Take over the one member, or what is common to several."""
        X, y, source = given
        model = members[0].model
        self._forget_all()
        fitted = {k: v for k, v in vars(model).items() if k.endswith("_") or k in _OF_ALL}
        if len(members) > 1:
            fitted = {k: fitted[k] for k in _OF_ALL if k in fitted}
        elif "_postponed" in vars(model):
            fitted["_postponed"] = model._postponed
        predictor = AveragePredictor(members)
        if len(members) == 1:
            fitted["kernel_"], fitted["kernels_"] = members[0].kernel, members[0].kernels
            factors = members[0].factors
            predictor = model._predictor if factors is None else predictor
            if factors is not None:
                M = np.square(factors) if factors.ndim == 1 else np.diagonal(factors @ factors)
                fitted["scales_"] = M
        self._adopt(fitted, results, best)
        self._store_columns(X, source.n_features)
        self.members_ = tuple(members)
        rows = sample_ranges(source, y, model.weights_).rows  # as they were given
        self._ranges = replace(model._ranges, rows=rows)
        self.weighting_ = model.weighting
        if len(members) > 1:
            self.n_iter_ = np.concatenate([np.ravel(m.model.n_iter_) for m in members])
            one = np.ndim(model.intercept_) == 0
            self.intercept_ = (
                float(np.ravel(predictor.intercept)[0]) if one else predictor.intercept
            )
        self._predictor = predictor

    @property
    def _several(self):
        """Whether decisions are an average of several machines."""
        return len(vars(self).get("members_", ())) > 1

    def _refuse_several(self, what):
        if self._several:
            raise ValueError(
                f"{what} is for one machine, and decisions are an average of {len(self.members_)}; "
                "accepted: a fit with ensemble=False, or members_[i].model."
            )

    def _refuse_chosen(self, what):
        """Refuse what holds for weights that were learned, but not for kernels that were."""
        self._refuse_several(what)
        if "members_" in vars(self) and self.members_[0].name not in _WEIGHTS_ALONE:
            raise ValueError(
                f"{what} allows for weights learned on these samples; the kernel of the method "
                f"{self.members_[0].name!r} has more that was. Accepted: samples that played no "
                "part in fit, with held_out=True, or weighting='alignf'."
            )

    def _kernel_names(self):
        if not self._several:
            return super()._kernel_names()
        return tuple(f"{m.name}: {name}" for m in self.members_ for name in m.model._kernel_names())

    def _term_weights(self):
        if not self._several:
            return super()._term_weights()
        return np.concatenate([m.model._term_weights() for m in self.members_])

    def summary(self, max_rows=30) -> str:
        """The learned combination as a text table; after a strategy also what it tried.

        Parameters
        ----------
        max_rows : int, default 30
            With more kernels than this, those of the largest shares are shown.

        Returns
        -------
        str
            As of `MKLClassifier.summary`. After a strategy first a line for each method: its best
            value, score and standard error of this over folds, for classes also the accuracy, on
            how many folds it was tried, and whether it is used; for an average the combination of
            each of its machines.
        """
        self._check_is_fitted()
        if "members_" not in vars(self):
            return super().summary(max_rows)
        parts = [candidate_table(self)]
        if not self._several:
            return "\n\n".join([*parts, super().summary(max_rows)])
        for m in self.members_:
            parts.append(f"{m.name}, times {m.share:.3g}:\n{m.model.summary(max_rows)}")
        return "\n\n".join(parts)

    def alignment_interval(self, X, y, delta=0.05, *, held_out=False, **options):
        """As of `MKLClassifier`; for the kernels of a strategy from held-out samples alone."""
        self._check_is_fitted()
        self._refuse_several("alignment_interval")
        if not held_out:
            self._refuse_chosen("alignment_interval")
        return super().alignment_interval(X, y, delta, held_out=held_out, **options)

    @property
    def alignment_interval_(self):
        """As of `MKLClassifier`; a ValueError for the kernels of most strategies."""
        self._check_is_fitted()
        self._refuse_chosen("alignment_interval_")
        return super().alignment_interval_

    def bound(self, *args, held_out=False, **options):
        """As of `MKLClassifier` and `MKLRegressor`; a ValueError where it does not hold.

        That is with ``per_target``, which has no one kernel, and after a strategy that averages
        machines or learns more than weights, but with ``held_out=True``.
        """
        self._check_is_fitted()
        if self._own_weights:
            raise ValueError(
                "bound is for one kernel; with per_target=True every target has its own. Accepted: "
                "a fit of one target with per_target=False."
            )
        if not held_out:
            self._refuse_chosen("bound")
        return super().bound(*args, held_out=held_out, **options)

    def _forget_all(self):
        """Drop what earlier fits left."""
        for name in [n for n in vars(self) if n.endswith("_") and not n.startswith("_")]:
            del self.__dict__[name]
        self._forget("_postponed", "_ranges")

    def __getattr__(self, name):
        if name in _OF_ONE and self._several:
            raise AttributeError(
                f"{type(self).__name__} has no {name}: decisions are an average of "
                f"{len(self.members_)} machines, each with its own in members_[i].model; "
                "ensemble=False fits one."
            )
        return super().__getattribute__(name)  # raises again, and says why


def _results(found, plan, parameter, values):
    """``cv_results_``, and the index of the best candidate."""
    params = [{parameter: value, "method": way.name} for way in plan.ways for value in values]
    n = found.scores.shape[2]
    scores, shown = (A.reshape(len(params), n) for A in (found.scores, found.shown))
    tried = np.isfinite(scores).sum(axis=1)
    results = {f"split{t}_test_score": scores[:, t] for t in range(n)}
    mean = results["mean_test_score"] = _mean(scores)
    results["std_test_score"] = np.sqrt(_mean(np.square(scores - mean[:, None])))
    results["n_splits"] = tried
    # What more folds have tried is ahead: only that can be chosen.
    ahead = (tried[:, None] > tried) | ((tried[:, None] == tried) & (mean[:, None] > mean))
    results["rank_test_score"] = 1 + ahead.sum(axis=0)
    results["mean_test_shown"] = _mean(shown)
    for name in (parameter, "method"):
        column = [p[name] for p in params]
        results[f"param_{name}"] = np.array(column, dtype=float if name == parameter else object)
    results["params"] = params
    w, k = found.order[0]
    return results, w * len(values) + k


def _mean(values):
    """Means of the rows without NaN, NaN where there is nothing else."""
    counts = np.isfinite(values).sum(axis=1)
    total = np.where(counts > 0, np.nansum(values, axis=1), np.nan)
    return total / np.maximum(counts, 1)


def candidate_table(estimator):
    """The ways with the score of their best candidate, its standard error, and who is averaged."""
    results = estimator.cv_results_
    names = list(dict.fromkeys(results["param_method"]))
    parameter = next(k[6:] for k in results if k.startswith("param_") and k != "param_method")
    rows, taken = [], [m.name for m in estimator.members_]
    shown, score = results["mean_test_shown"], results["mean_test_score"]
    by_loss = not np.allclose(shown, score, equal_nan=True)
    for name in names:
        index = np.flatnonzero(results["param_method"] == name)
        full = index[results["n_splits"][index] == results["n_splits"][index].max()]
        best = full[score[full].argmax()]
        n = int(results["n_splits"][best])
        error = results["std_test_score"][best] / np.sqrt(max(n - 1, 1))
        rows.append(
            (
                name,
                f"{results[f'param_{parameter}'][best]:.3g}",
                f"{score[best]:.4f}",
                f"{error:.4f}",
                *([f"{shown[best]:.4f}"] if by_loss else []),
                f"{n}",
                "yes" if name in taken else "",
            )
        )
    header = (
        "method",
        parameter,
        "score",
        "s.e.",
        *(["accuracy"] if by_loss else []),
        "folds",
        "used",
    )
    note = "\nscore: accuracy less 0.3 times the log loss, both on the folds left out"
    return table(rows, header) + (note if by_loss else "")
