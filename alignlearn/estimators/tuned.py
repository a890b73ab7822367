"""Kernel models that choose their regularization, and how their kernel is made, by validation.

What a grid search computes again for every candidate is computed once: the alignment statistics of
all training sets in one pass over the pairs, one Gram matrix per fold, one solution path per
Gram matrix.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from alignlearn._progress import Progress
from alignlearn._text import table
from alignlearn.engine.threads import one_blas_thread
from alignlearn.machines import SupportVectorRegressor, paths
from alignlearn.machines.choice import (
    MOST_IN_BLOCKS,
    MOST_OF_BLOCK,
    MOST_PAIRED,
    WORTH_BLOCKS,
    Sizes,
    choose,
    matrix_fits,
)
from alignlearn.solvers.multiclass import (
    check_class_weight,
    class_logits,
    confidences,
    label_decisions,
    of_present_classes,
    present_classes,
)
from alignlearn.validation import (
    a_part,
    check_choice,
    check_flag,
    check_memory,
    check_seed,
    one_convergence_warning,
    take,
)
from alignlearn.weights import get_weighting

from . import inputs, per_label, per_target, search, search_folds
from ._calibrated import (
    AUTO,
    calibrate,
    calibrate_on_folds,
    check_classes,
    check_probability,
    lacking_class,
)
from ._machines import held_matrices
from .average import Average, Member
from .base import OF_COLUMNS, parameters, shared
from .calls import each
from .candidates import FoldSources, RuleKernels, check_weightings, fold_statistics
from .classifier import MACHINES, KernelClassifier, MKLClassifier
from .kernel_table import refuse_several
from .model import KernelModel
from .prepared_columns import PreparedMatrix, check_varies, prepare
from .regressor import KernelRegressor, MKLRegressor
from .results_table import doubt_edges, first_best
from .scoring import FoldDecisions, FoldPredictions, class_score, read_scoring
from .ways import (
    BYTES,
    LEVELS,
    MOST_C,
    PLANS,
    FoldWays,
    WayKernels,
    levels_of,
    schedule_of,
)

if TYPE_CHECKING:
    from typing_extensions import Self

_BLOCKS = 10  # of the test samples, over which the gain of an average varies
_NOISE = 0.5  # standard errors that it has to be, at least, where a fit takes long
_CLEAR = 2.0  # standard errors by which other members have to be better than the usual average
SEARCH_TOL = 1e-2  # tolerance of machines that are only compared
_CS = np.logspace(-2, 3, 6).tolist()
_ALPHAS = np.logspace(-4, 2, 13).tolist()
_EACH = ("alignf", "uniform")  # rules that a search of several given kernels tries by default
_WEIGHTS_ALONE = ("uniform", "alignf")  # methods that only learn weights of the given kernels
_OF_MODEL = ("_predictor", "_ranges", "_fold_predictors")  # of ``model_``, beside its attributes


class Tuned(KernelModel):
    """Base of the estimators that tune themselves: a search, and the model that it ends with.

    ``model_`` is a fitted plain estimator or an `Average` of them. Predictions, bounds, tables and
    fitted attributes are those of it.
    """

    strategy: str | None
    ensemble: bool
    cv: Any
    scoring: Any
    refit: str | None
    machine: str
    n_centers: int | None
    memory: int | str | None
    random_state: Any

    _plain = None  # the class of estimators with nothing to choose
    _paired = None  # the machine on all pairs of samples

    # What is known of a fit

    def __getattr__(self, name):
        # Called for what the object does not have itself.
        model = vars(self).get("model_")
        fitted = name.endswith("_") and not name.startswith("_")
        if model is None or not (fitted or name in _OF_MODEL):
            return super().__getattribute__(name)  # raises again, with the reason
        return getattr(model, name)

    @property
    def _members(self):
        return self.model_._members if "model_" in vars(self) else ()

    def _kernel_model(self):
        return self.model_._kernel_model() if "model_" in vars(self) else self

    def _as_plain(self):
        return self._kernel_model()._as_plain()

    def _forget_fit(self):
        """Drop what earlier fits left, so that one that fails leaves none that is fitted."""
        # scikit-learn's tools set others
        private = {*_OF_MODEL, "_names", "_smoothers", "_uncalibrated", "_n_kernels"}
        for name in list(vars(self)):
            if name in private or (name.endswith("_") and not name.startswith("_")):
                del self.__dict__[name]

    def _check_guarantee(self, what, held_out=False):
        """Raise where it does not hold: with ``per_target``, and after most strategies."""
        self._check_one_label(what)
        if self._own_weights:
            raise ValueError(
                f"{what} is for one kernel; with per_target=True every target has its own. "
                "Accepted: a fit of one target with per_target=False."
            )
        if not held_out or what != "bound":
            refuse_several(self, what)
        if not held_out and self._members and self._members[0].name not in _WEIGHTS_ALONE:
            raise ValueError(
                f"{what} allows for weights learned on these samples; the kernel of the method "
                f"{self._members[0].name!r} has more that was. Accepted: samples that played no "
                "part in fit, with held_out=True, or weighting='alignf'."
            )

    def _kernel_names(self):
        if len(self._members) < 2:
            return super()._kernel_names()
        return tuple(f"{m.name}: {name}" for m in self._members for name in m.model._kernel_names())

    def _term_weights(self):
        if len(self._members) < 2:
            return super()._term_weights()
        return np.concatenate([m.model._term_weights() for m in self._members])

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
            each of its models. Where several weightings were tried a line for each.
        """
        self._check_is_fitted()
        parts = [_method_table(self)] if self._members else []
        if "param_weighting" in vars(self).get("cv_results_", ()):
            parts = [_weighting_table(self)]
        if len(self._members) < 2:
            return "\n\n".join([*parts, super().summary(max_rows)])
        for m in self._members:
            parts.append(f"{m.name}, times {m.factor:.3g}:\n{m.model.summary(max_rows)}")
        return "\n\n".join(parts)

    # What is searched

    def get_metadata_routing(self):
        """As for any estimator; ``groups`` are requested where the splitter ``cv`` requests them.

        ``set_fit_request(groups=True)`` requests them for every ``cv``.
        """
        return search_folds.request_groups(super().get_metadata_routing(), self.cv)

    def _rule(self):
        """``weighting``, or what stands for None: a strategy, or `_EACH` of several kernels."""
        if self.weighting is not None:
            return self.weighting
        loo = isinstance(self.cv, str) and self.cv == "loo"
        # Its methods use single features, which may be missing then.
        gaps = self.missing == "tables"
        asked = self.strategy is not None or (self.kernels is None and not loo and not gaps)
        if asked:
            return "auto"
        # One kernel has one weight, and leave-one-out leaves no sample out of the weights.
        alone = vars(self).get("_n_kernels") == 1 or loo or self._leaves_one_out_by_default()
        return "alignf" if alone else list(_EACH)

    def _leaves_one_out_by_default(self):
        """Whether a search of one weighting leaves one sample out, or targets have own weights."""
        return False

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

    def _leave_one_out(self, n_samples):
        return False

    def _splits(self, y, groups):
        """The folds, or None for leave-one-out."""
        classes = self._estimator_type == "classifier" and y.ndim == 1
        options = {"stratify": classes, "random_state": self.random_state}
        return search_folds.splits(
            self.cv, y, groups, leave_one_out=self._leave_one_out(len(y)), **options
        )

    def _levels(self, y, folds):
        """The levels of a strategy's search, of the targets of positive weight and their folds."""
        rng = check_seed("random_state", self.random_state)
        memory = check_memory("memory", self.memory)
        classes = self._task == "classification" and y.ndim == 1
        return levels_of(y, folds, classes, rng, memory)

    def _matrices(self, source):
        return held_matrices(self.machine, self._paired, source, self.memory)

    def _untuned(self, rule):
        """The estimator of these parameters and one rule, with nothing to choose."""
        names = set(self._plain._parameters()) & set(self._parameters())
        return self._plain(**{**{n: getattr(self, n) for n in names}, "weighting": rule})

    def _prepare(self, X, sample_weight):
        self._forget_fit()
        return super()._prepare(X, sample_weight)

    def _open(self, X, sample_weight):
        if self.normalize is not None:
            check_choice("normalize", self.normalize, ("trace",))
        source = super()._open(X, sample_weight)
        self._n_kernels = len(source.names)
        return source

    # The search

    def _fit_by_rules(self, X, y, source, splits, problem):
        """Choose a value and a rule by folds, and fit them on everything; the `SearchResult`.

        Parameters
        ----------
        X, y : as given to ``fit``, and as checked
        source : Source
            Opened on X, with sample weights if there are any.
        splits : list of (train, test), or None for leave-one-out
        problem : Search
        """
        given, rules, several = check_weightings(self._rule())
        inputs.check_room(source, rules, self._matrices(source))
        used, y_used, splits = search_folds.used_part(source, y, splits)
        everything = np.arange(used.n_samples)
        folds = [(everything, everything)] if splits is None else splits
        options = {"unbiased": self.unbiased, "client": self.client}
        frame = None if splits is None else _used_frame(X, source)
        own = None if frame is None else FoldSources(frame, used, self.kernels, folds)
        of_folds = used if own is None else own
        statistics = fold_statistics(of_folds, y_used, self._task, rules, splits, options)
        learners = [self._untuned(rule) for rule in given]
        how = problem.parameter, len(problem.values), own
        kernels = RuleKernels(used, y_used, folds, statistics, learners, *how)
        candidates = kernels.candidates()
        found = search.search(
            candidates,
            problem.values,
            search.grid(len(folds), len(problem.values)),
            problem.score,
            search.Fits(candidates, problem.path),
            parameter=problem.parameter,
            names={"weighting": given} if several else {},
            others=self._other_scores(),
            keep=problem.keep,
            most_threads=self._at_once(used.n_samples),
            client=self.client,
            verbose=source.progress,
        )
        model = self._untuned(given[0]).set_params(**found.params).fit(X, y, source.weight)
        self._store(model, found, used.n_samples if splits is None else len(splits))
        self.weighting_ = model.weighting
        return found

    def _fit_by_strategy(self, X, y, source, problem):
        """Choose methods and values by folds, and average their fits on everything.

        Parameters and result as of `_fit_by_rules`; the folds are those of the problem's levels.
        """
        plan, levels = self._plan(), problem.levels
        inputs.check_room(source, [], self._matrices(source))
        inputs.doubt_scales(X, source.X, source.kernels)
        frame = _used_frame(X, source)
        if frame is not None and len(levels) > 1:
            X = _prepared_without(levels[-1], X, frame, source)
            source = self._open(X, source.weight)
        used, y_used, _ = search_folds.used_part(source, y, None)
        sources = [used if level.rows is None else used.part(level.rows) for level in levels]
        ys = [y_used if level.rows is None else y_used[level.rows] for level in levels]
        rng = check_seed("random_state", self.random_state)
        learned = min(2, len(levels)) - 1  # the level on which what is used further is learned
        given = self.kernels, self._task, rng
        preparation = None if frame is None else X.preparation
        kernels = _way_kernels(sources[: learned + 1], ys, *given, preparation)
        by_squares = problem.least_squares
        plan = kernels[-1].ways(plan, used.n_samples, by_squares is not None)
        options = {"unbiased": self.unbiased, "client": self.client}
        rules = [get_weighting(way.rule) for way in plan.ways if way.rule is not None]
        of_folds = _fold_kernels(frame, kernels, levels, *given)
        statistics = [
            found
            for k, (own, level) in enumerate(zip(kernels, levels))
            for found in fold_statistics(
                own.source if of_folds is None else [one.source for one in of_folds[k]],
                own.y,
                self._task,
                rules,
                level.folds,
                options,
            )
        ]
        learners = {way.rule: self._untuned(way.rule or "uniform") for way in plan.ways}
        how = statistics, learners, problem.parameter, of_folds, by_squares
        candidates = FoldWays(kernels, levels, sources, ys, *how).candidates(plan.ways)
        found, values = self._searched(problem, plan, candidates, ys, source.progress)
        ways, kernels = [plan.ways[w] for w, _ in found.chosen], kernels[-1]
        kernels.learn(ways)
        machine, blocks = self._parts(candidates, found, values, source.n_samples)
        members = [
            self._member(
                way, 1.0 / len(ways) / len(blocks), unit, {problem.parameter: values[k]}, kernels
            )
            for way, unit, (_, k) in zip(ways, self._units(found), found.chosen)
            for _ in blocks
        ]
        for member in members:
            if member.model.machine == self.machine:
                member.model.set_params(machine=machine)
        self._fit_members(members, X, y, source, levels[learned].rows, blocks)
        self._store_columns(X, source.n_features)
        columns = {name: vars(self)[name] for name in OF_COLUMNS if name in vars(self)}
        self._store(Average.of(members, y, source, columns), found, len(problem.folds))
        self.weighting_ = members[0].model.weighting
        return found

    def _searched(self, problem, plan, candidates, ys, progress):
        """The `SearchResult` of the members to average, and the values that were tried.

        ``ys``: the targets of each level.
        """
        levels = problem.levels
        values, at = search.refined(problem.values, fine=problem.fine and len(levels) > 1)
        by_columns = any(way.columns for way in plan.ways)
        one_by_one = problem.parameter == "C"  # all values of alpha cost as much as one
        targets = [one[test] for one, level in zip(ys, levels) for _, test in level.folds]

        def parts(fold):
            return self._blocks(targets[fold])

        found = search.search(
            candidates,
            values,
            schedule_of(levels, plan.kept, at, len(values), one_by_one, by_columns),
            problem.score,
            search.Fits(candidates, problem.path),
            parameter=problem.parameter,
            names={"method": [way.name for way in plan.ways]},
            others=self._other_scores(),
            members=len(plan.ways),
            keep=True,
            sizes=[len(one) for one in ys],
            parts=parts,
            most_threads=self._at_once(max(map(len, ys))),
            client=self.client,
            verbose=progress,
        )
        if len(levels) > 1 and plan.averaged > 1:
            cheap = self._task == "classification" and max(map(len, ys)) <= LEVELS[1]
            least = -_CLEAR if cheap else _NOISE
            blocks = parts(found.folds[0])
            return self._with_partner(found, plan, problem.score, blocks, least), values
        return self._members_of(found, plan, problem.score), values

    def _other_scores(self):
        """Names of all scores, where several are given."""
        return read_scoring(self.scoring, self._estimator_type, self.refit).names

    def _at_once(self, n_samples):
        """How many matrices of all pairs of so many samples the memory holds, at least 1."""
        return max(1, int(check_memory("memory", self.memory) // (BYTES * n_samples**2)))

    def _parts(self, candidates, found, values, n_samples):
        """The machine for all samples, and index arrays of those that each member is fitted to."""
        return self.machine, [None]

    def _fit_members(self, members, X, y, source, rows, blocks):
        """Fit the members, whose weights are learned on some rows of positive weight."""
        if rows is not None and source.weight is not None:
            rows = np.flatnonzero(source.weight)[rows]

        def fit(member, block):
            # Kernels of the original samples are opened again, as they may refer to columns.
            with a_part():
                as_given = block is None and not isinstance(X, PreparedMatrix)
                opened = member.name in _WEIGHTS_ALONE and as_given
                given = X if opened else member.of(source.X), y, source.weight
                member.model._learned_on = rows
                if block is not None:
                    given = [None if one is None else take(one, block) for one in given]
                    member.model._learned_on = np.arange(len(rows))  # their order is random
                member.model.fit(*given)

        asked = [(member, blocks[k % len(blocks)]) for k, member in enumerate(members)]
        few = source.n_samples <= LEVELS[-1]
        most = self._at_once(source.n_samples) if few else 1
        what = f"final fit on {source.n_samples} samples"
        with Progress(what, len(asked), source.progress) as progress:
            each(None, fit, asked, lambda k, _: progress(k + 1), most, progress.report)

    def _units(self, found):
        """The size of the decisions of each member."""
        if self._estimator_type == "regressor" or len(found.chosen) == 1:
            return [1.0] * len(found.chosen)
        return [np.mean([np.abs(f).mean() for f in folds]) or 1.0 for folds in found.kept]

    def _members_of(self, found, plan, score):
        """The best ways, as many as are averaged, or what is clearly better on the folds.

        Averages have less variance than what the folds choose among, and ways on columns serve few
        data: other members have to be better by more than noise.
        """
        ways = [plan.ways[w] for w, _ in found.chosen]
        own = [k for k, way in enumerate(ways) if not way.least_squares]
        whole = [k for k in own if not ways[k].columns][: plan.averaged]
        first = [k for k in own if ways[k].columns][:1]
        options = [whole, whole[:1], first, whole[:1] + first, whole + first]
        options = [one for one in options if len(one) == 1 or plan.averaged > 1]
        options = [one for k, one in enumerate(options) if one and one not in options[:k]]
        options = [_both_machines(one, ways) for one in options]
        units = self._units(found)

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

    def _with_partner(self, found, plan, score, blocks, least):
        """The best candidate, and the one whose average with it is better by ``least``.

        ``least``: in standard errors over ``blocks``, parts of the first fold's test samples. Of
        few samples the average is taken unless it is clearly worse, as of fewer still. Greedy
        selection of an ensemble: Caruana, Niculescu-Mizil, Crew and Ksikes (2004).
        """
        t, units = found.folds[0], self._units(found)
        ways = [plan.ways[w] for w, _ in found.chosen]
        own = [k for k, way in enumerate(ways) if not way.least_squares]
        if least > 0.0 and len(own) < len(ways):  # some have both machines
            own = self._better_machines(found, ways, score)
        sized = [found.kept[k][0] / units[k] for k in own]

        def scores(predicted):
            return np.array([score(t, predicted, rows)[0] for rows in blocks])

        averages = [0.5 * (sized[0] + other) for other in sized[1:]]
        if not averages or len(blocks) < 2:
            return found.of(_both_machines(own[:1], ways))
        best = first_best(np.array([score(t, average)[0] for average in averages]))
        gains = scores(averages[best]) - scores(sized[0])
        error = gains.std(ddof=1) / np.sqrt(len(blocks))
        chosen = [own[0], own[best + 1]] if gains.mean() > least * error else own[:1]
        return found.of(_both_machines(chosen, ways))

    def _better_machines(self, found, ways, score):
        """Of each kernel the machine of the higher score on the fold; the best kernels first.

        Support vector machines are accompanied by least squares then only where they are better.
        """
        scores = [score(found.folds[0], kept[0])[0] for kept in found.kept]
        partners = {way.parent: k for k, way in enumerate(ways) if way.least_squares}
        better = [
            max(k, partners.get(way.name, k), key=scores.__getitem__)
            for k, way in enumerate(ways)
            if not way.least_squares
        ]
        return sorted(better, key=lambda k: -scores[k])

    def _blocks(self, tested):
        """Parts of the test samples, for the noise of a score.

        For scores other than the default each part has every class: most are not defined else.
        """
        if self._task == "regression" or tested.ndim > 1:
            return np.array_split(np.arange(len(tested)), _BLOCKS)
        n = _BLOCKS
        if self.scoring is not None:
            n = min(n, int(np.unique(tested, return_counts=True)[1].min()))
        order = np.argsort(tested, kind="stable")
        return [np.sort(order[k::n]) for k in range(n)]

    def _member(self, way, share, unit, chosen, kernels):
        """The `Member` of a way, with a model that is not fitted."""
        model = self._untuned(way.rule or "uniform").set_params(**chosen)
        root = kernels.root_of_way(way)
        if way.name not in _WEIGHTS_ALONE:
            model.set_params(kernels=kernels.kernels_of(way))
        if way.least_squares:
            model.set_params(machine="krr")
        return Member(way.name, share, unit, root, model)

    def _store(self, model, found, n_splits):
        """Keep the model, the table, and the best parameters, each as an attribute, too."""
        self.model_, self.n_splits_ = model, n_splits
        for name, value in found.params.items():
            setattr(self, f"{name}_", value)
        self.cv_results_, self.best_index_ = found.table, found.best
        self.best_params_ = found.params
        self.best_score_ = float(found.table["mean_test_score"][found.best])
        doubt_edges(found.table, found.best)

    @property
    def _task(self):
        return "classification" if self._estimator_type == "classifier" else "regression"


def _both_machines(chosen, ways):
    """Some of the ways, by number, and behind them their partners by least squares."""
    partners = {way.parent: k for k, way in enumerate(ways) if way.least_squares}
    names = [ways[k].name for k in chosen]
    return chosen + [partners[name] for name in names if name in partners]


def _way_kernels(sources, ys, kernels, task, rng, preparation):
    """The `WayKernels` on the samples of each level on which something is learned."""
    most = WayKernels(
        sources[-1], kernels, ys[len(sources) - 1], task, rng, preparation=preparation
    )
    fewer = [
        WayKernels(s, kernels, y, task, rng, most, preparation) for s, y in zip(sources[:-1], ys)
    ]
    return [*fewer, most]


def _used_frame(X, source):
    """The `FrameColumns` of the samples of positive weight, for folds; None for other samples."""
    frame = getattr(X, "frame", None) if isinstance(X, PreparedMatrix) else None
    if frame is None or source.weight is None or source.weight.all():
        return frame
    return frame[np.flatnonzero(source.weight)]


def _prepared_without(level, X, frame, source):
    """The samples prepared on those that the folds of a level do not test."""
    tests = np.concatenate([test for _, test in level.of_all()])
    rest = np.setdiff1d(np.arange(len(frame)), tests)
    weight = source.weight if source.weight is None else source.weight[source.weight > 0.0][rest]
    preparation = prepare(frame[rest], weight)
    check_varies(preparation)
    return PreparedMatrix.of(preparation, X.frame, again=True)


def _fold_kernels(frame, kernels, levels, *given):
    """For each level the `WayKernels` of each fold, prepared on its training set; None for none."""
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


class Search(NamedTuple):
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


class _Shaped(NamedTuple):
    """Decisions (n, q) in the shape of the targets."""

    one: bool

    def __call__(self, machine, raw):
        return raw[:, 0] if self.one else raw


def _weighting_table(estimator):
    """The table of the weightings: the best value of each, its score, and whether it is used."""
    results = estimator.cv_results_
    rules, score = results["param_weighting"], results["mean_test_score"]
    parameter = next(n[6:] for n in results if n.startswith("param_") and n != "param_weighting")
    rows, numbers = [], range(len(rules))
    for rule in {id(rule): rule for rule in rules}.values():
        index = np.array([k for k in numbers if rules[k] is rule])
        used = estimator.best_index_ in index
        best = estimator.best_index_ if used else index[first_best(score[index])]
        error = results["std_test_score"][best] / np.sqrt(max(results["n_splits"][best] - 1, 1))
        value = f"{results[f'param_{parameter}'][best]:.3g}"
        rows.append((str(rule), value, f"{score[best]:.4f}", f"{error:.4f}", "yes" if used else ""))
    return table(rows, ("weighting", parameter, "score", "s.e.", "used"))


def _method_table(estimator):
    """The table of the methods: the best candidate of each, its score, and whether it is used."""
    results = estimator.cv_results_
    names = list(dict.fromkeys(results["param_method"]))
    parameter = next(k[6:] for k in results if k.startswith("param_") and k != "param_method")
    rows, taken = [], [m.name for m in estimator._members]
    shown, score = results["mean_test_shown"], results["mean_test_score"]
    sizes = results.get("n_samples")
    by_loss = not np.allclose(shown, score, equal_nan=True)
    for name in names:
        index = np.flatnonzero(results["param_method"] == name)
        if not index.size:
            continue
        if sizes is not None:
            index = index[sizes[index] == sizes[index].max()]
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
                *([] if sizes is None else [f"{sizes[best]}"]),
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
        *([] if sizes is None else ["samples"]),
        "used",
    )
    note = "\nscore: accuracy less 0.3 times the log loss, both on the folds left out"
    levels = "" if sizes is None else "\n" + _level_lines(results)
    return table(rows, header) + (note if by_loss else "") + levels


def _level_lines(results):
    """A line for each level of a search: its samples, folds and methods."""
    lines, sizes = [], results["n_samples"]
    for n in dict.fromkeys(sizes.tolist()):
        rows = sizes == n
        methods = len(set(results["param_method"][rows]))
        folds = int(results["n_splits"][rows].max())
        lines.append(f"{methods} methods on {folds} fold{'s' * (folds > 1)} of {n} samples")
    return "\n".join(lines)


def _used(rows, weight):
    """Those of some samples that have a positive weight."""
    return rows if weight is None else rows[weight[rows] > 0.0]


def _of_used(y, weight, splits):
    """Targets, weights and splits of the samples of positive weight."""
    if weight is None:
        return y, None, splits
    return y[weight > 0.0], weight[weight > 0.0], search_folds.used_splits(splits, weight)


@parameters
class MKLClassifierCV(Tuned, KernelClassifier):
    """`MKLClassifier` that chooses ``C`` and how its kernel is made, by cross-validation.

    Without ``kernels`` several ways to learn a kernel are tried on the folds and the machines of
    the best two are averaged. A data frame may then have categories and missing values, see
    `MKLClassifier`; each training set prepares its columns by itself. With ``kernels`` the search
    is equal to a grid search over the same folds, with much less work: one pass over the pairs of
    samples gives the alignment statistics of every training set, each fold forms its Gram matrix
    once, and machines are solved from the smallest C up, each
    started from the last.

    Parameters
    ----------
    kernels : sequence of Kernel and str, dict, RankOneKernels or "precomputed", optional
        Default: nine Gaussians around ``gamma="scale"``. With "precomputed", X is a sequence of p
        Gram matrices (m, m) in ``fit`` and (n, m) later, arrays or data frames (read by position).
        In ``fit``, pass an indefinite matrix as ``Precomputed(K, fix="clip")``, which also
        transforms the rows of new samples, or as ``Precomputed(K, is_psd=False)``. For complex
        Hermitian matrices the real part is used. All kernels except functions and precomputed
        matrices also accept SciPy sparse X, which stays sparse. A dict has a kernel, a sequence of
        them or columns for each name; columns (an integer, a slice, a sequence of integers or of
        column names) mean a linear kernel on them. See the notes of `MKLClassifier` on several
        tables.
    weighting : str, object, or list of them, optional
        A rule as in `MKLClassifier`; several are compared, such as
        ``[AlignLq(q) for q in (1.5, 2, 4)]``. "auto" chooses by ``strategy``. Default: "auto"
        where ``kernels`` is None or a ``strategy`` is given, else ``["alignf", "uniform"]``,
        learned weights beside equal ones, and "alignf" for one kernel.
    Cs : sequence of float, optional
        Values of C; default 1e-2, 1e-1, ..., 1e3.
    machine : {"auto", "svm", "krr", "dual-cd", "nystrom"}, default "auto"
        The model on the folds and on all samples. "svm": on all pairs of samples. "krr":
        regularized least-squares classification, which is kernel ridge regression on labels of -1
        and 1 with alpha = 1 / (2 C); it often ranks samples better where classes are unbalanced or
        overlap. "nystrom": the problem of "svm" in the span of the kernel at few samples, solved to
        a duality gap of 1% as in `NystromSVC`; of precomputed kernels, also in a file, it reads
        only the rows of these samples. "dual-cd": for kernels linear in the features, without an
        intercept, by dual coordinate descent on these (less their means if dense) as in
        `LinearSVM`. "auto": "svm" up to 20,000 samples, and above them where two small pilots
        predict few enough support vectors for the time and ``memory``. ``chosen_machine_`` and
        ``summary()`` name the choice.
    n_centers : int, optional
        "nystrom": number of these samples; default 1000.
    memory : int, str or None, default None
        Bytes for kernel values, or a string such as "2GB". Default: half of the free memory. "svm":
        where the Gram matrix does not fit, or few samples become support vectors, its rows are
        computed when the solver needs them, to the same ``tol``; a hard margin needs the matrix.
    cv : int, sequence of m labels, iterable of (train, test), or object with ``split(X, y)``, \
default 5
        A number of folds: shuffled, with classes in equal shares, at most as many as samples of
        the largest class. Labels: each sample is tested with those of its label.
    scoring : str, callable, or dict or list of them, optional
        Names of scikit-learn's scorers, such as "roc_auc" or "neg_log_loss", scorers of
        ``make_scorer``, and functions ``scoring(estimator, X, y)`` or
        ``scoring(y_true, y_predicted)``; larger is better. Probabilities of a part of a fold
        are calibrated by its other parts. Default "accuracy", for a strategy the accuracy less 0.3
        times the log loss after temperature scaling.
    refit : str, optional
        Of several scores the name of the one to choose by; ``cv_results_`` has all, as
        ``mean_test_name``.
    multiclass : {"ovo", "ovr"}, default "ovo"
    class_weight : None, "balanced", dict or list, default None
        Of the machine alone; stage 1 does not see it. Of many labels one for all, with the keys 0
        and 1 where it is a dict, or a list of one for each.
    per_label : bool, default False
        Of many labels: weights of the kernels, and all else, for each label by itself, with a
        search for each, in place of one kernel for all.
    probability : {"auto", "sigmoid", "isotonic", "temperature"} or None, default "auto"
        "auto": temperature scaling ("sigmoid" with ``class_weight``), fitted to the decisions on
        the folds of the search, at almost no cost; no ``predict_proba`` if a class is missing from
        a training set. Others as in `MKLClassifier`, on the folds of ``cv``; they keep models of
        folds for ``predict_set``. None: no ``predict_proba``.
    normalize : {"trace"} or None, default "trace"
        Scale every centered kernel to trace m before stage 1.
    tol : float, default 1e-3
        Maximum KKT violation of "svm" and "dual-cd"; not used by "nystrom".
    max_iter : int, optional
        Maximum number of steps of "svm" for each pair of classes, or of passes of "dual-cd" and
        "nystrom".
    client : dask.distributed.Client, optional
        Its workers evaluate the pairs, and take the folds. Copies share it; pickles are without.
    random_state : int or numpy.random.Generator, optional
        Of the shuffle; None shuffles with a fixed seed, so results repeat.

    Attributes
    ----------
    C_ : float
        The chosen value; the first of ``Cs`` among equals.
    weighting_ : str or object
        The chosen rule.
    best_score_ : float
        Mean score over folds of the chosen candidate.
    best_params_ : dict
    best_index_ : int
        Its position in ``cv_results_``.
    cv_results_ : dict of ndarray
        ``params`` (list of dict), ``param_C``, ``param_weighting`` (if several were given),
        ``split0_test_score``, ..., ``mean_test_score``, ``std_test_score``, ``rank_test_score``, in
        the order of scikit-learn's grid search over the same values. Also ``n_splits``, on how many
        folds each was tried, and ``rung``: -1 if that is all of them, else the rung at which a
        strategy dropped it. Only scores of those that were dropped can be NaN.
    n_splits_ : int
    model_ : MKLClassifier or Average
        The model fitted to all samples; after a strategy the average of one or more. Predictions,
        bounds, tables and the attributes below are those of it.
    members_ : tuple of Member
        After a strategy: the models whose decisions are averaged, each with ``name``, ``share`` (of
        sum 1), ``unit`` (the size by which its decisions are divided), ``kernel`` and ``model``.
        Attributes of one kernel, such as ``weights_`` and ``kernel_``, are those of the one model;
        of several each has its own, and here they do not exist.
    scales_ : ndarray of shape (d,)
        After a strategy that took one machine on scaled features.
    method_ : str
        After a strategy: the best way.
    weights_ : ndarray of shape (p,)
        For the normalized kernels.
    scale_ : ndarray of shape (p,)
        Normalization factors; ``kernel_`` is ``sum_k weights_k scale_k K_k``.
    kernel_ : Kernel
        The learned kernel: ``kernel_(X, Y)`` is a Gram matrix, usable as ``SVC(kernel=...)``. A
        FeatureWeighted for RankOneKernels and linear kernels; a function of p matrices for
        "precomputed".
    alignment_, uniform_alignment_ : float
        Centered alignment of the learned and of the uniform combination with the labels.
    kernel_alignments_ : ndarray of shape (p,)
    kernels_ : list of Kernel
        With numbers for ``gamma="scale"``.
    statistics_ : AlignmentStatistics
        For the normalized kernels.
    result_ : WeightResult
        Result of stage 1 with its certificate and diagnostics.
    classes_ : ndarray of shape (c,)
        Of many labels (c, 2): 0 and 1, or twice the value of a label that is constant.
    models_ : tuple of MKLClassifierCV or None
        With ``per_label`` the model of each label, None where it is constant. ``weights_`` are
        (p, c) then, of columns 0 there, ``alignment_`` and ``uniform_alignment_`` (c,), and other
        attributes are those of the models.
    support_ : ndarray of shape (n_support,)
    dual_coef_ : ndarray of shape (n_support, n_problems)
    intercept_ : ndarray of shape (n_problems,)
    coef_ : ndarray of shape (n_features, n_problems)
        Where the kernel is a FeatureWeighted.
    n_iter_ : ndarray of shape (n_problems,)
    machine_ : SupportVectorClassifier, LeastSquaresClassifier, LinearSVM or NystromHinge of \
`alignlearn.machines`
    calibration_ : Calibration or None
        The calibration of the decisions in ``predict_proba``.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X was a data frame with string column names, or several tables: "table__column".

    Notes
    -----
    Weights are learned on each training set alone. Only ``gamma="scale"``, which reads no labels,
    is fixed on all samples. If a class is missing from a training set (by groups, or a class of one
    sample), its model decides between the classes that it has, and test samples of the other
    class count as errors.

    Names of classes and their order change neither folds nor choices. Decisions for other names are
    the same up to rounding, and those of two swapped classes have the same digits. Only a decision
    of exactly 0, or an exact tie of classes, goes to a class by the order of the names.

    With ``weighting="auto"`` a *way* makes a kernel of each training set: equal weights of the
    kernels ("uniform"), learned ones ("alignf"), and the one kernel of the smallest leave-one-out
    error of ridge regression on 200 samples ("single"; of the default kernels one of seven widths).
    On features with scales learned from the training set (`FeatureScales`) there are
    "scaled-single", "scaled-uniform" and, for "thorough", "scaled-alignf"; "rotated-single" takes a
    learned matrix, for at most 100 features. With the default kernels and at most 2000 samples
    "columns" has a Gaussian for each of up to 300 columns, weighted by "alignf", "pairs" one for
    each of the 12 heaviest columns and for the pairs of the heaviest 6, and "linear" a linear
    kernel, all on columns of variance 1. Scales need kernels whose gradient is known, and "single"
    kernels of pairs of samples. Up to 2000 samples each kernel on all columns that reaches the last
    folds gets a second model by regularized least squares (``machine="krr"``, in the table
    "single-krr" and so on), and averages have both models of their kernels: decisions of support
    vector machines alone rank samples badly where classes are unbalanced or overlap. C is tried
    without the ends of its grid on the first fold, on the others with the neighbors of what is best
    so far, and with the ends after two folds. ``cv_results_`` then has ``param_method``, and in
    ``mean_test_shown`` the accuracy. Averaged decisions are over their mean absolute value on the
    folds. ``bound`` and ``alignment_interval`` take held-out samples alone where more than weights
    was learned.

    Where scikit-learn routes metadata, ``groups`` are requested if the splitter ``cv`` requests
    them, as `sklearn.model_selection.GroupKFold` does, or by ``set_fit_request(groups=True)``.

    Above 1000 samples the ways are compared on 500 samples with two folds, the best four of them on
    2000 with one fold, and the best two, with half their widths and the neighbors of C, on one
    fold of at most 8000 (fewer within ``memory``). Only the final model is fitted to all samples.
    The samples of a level are drawn from those that the next one does not test. There "laplacian"
    kernels are compared, too, as a group of their own. ``cv_results_`` has the scores of each
    level, and ``summary()`` its samples and candidates. Two scores of one level are averaged where
    the average is better than the best way by more than noise.

    Many labels, y of shape (m, c) of 0 and 1 as in `MKLClassifier`, have one kernel and one C; the
    folds are then shuffled without regard to the labels. "accuracy" is the subset accuracy,
    scores of scikit-learn for many labels are taken by their names, and the score of a strategy is
    the mean over the labels. With ``per_label`` each has a search, and ``C_`` and ``best_score_``
    are (c,).

    Candidates, folds and pairs of classes are computed on all threads of Numba, while BLAS keeps to
    one thread; no result depends on the number of threads.

    A one-stage rule given by name takes the candidate's own C, so it is solved for every candidate.

    Machines of a strategy that are only compared are solved to a tolerance of 0.01, or to ``tol``
    where that is larger; the model that is kept is solved to ``tol``.

    Peaks of memory of a search by rules, in (m, m) matrices of float64: 0.9 at m = 5000 and 9000
    for each thread; fewer folds are tried at once where ``memory`` requires it. Training sets of
    more than 10,000 samples take the rows of the support vectors where a pilot finds these few, and
    the whole matrix elsewhere: 0.25 at m = 18,000 (ijcnn1, 5 folds, 4 values of C).
    Measured against a grid search over the same folds (1000 samples, 9 Gaussians, 5 folds, one
    thread): 0.23 s and 0.81 s for 11 values of C, 0.33 s and 2.2 s for ridge and 13 values of
    alpha.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, MKLClassifierCV
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.linalg.norm(X, axis=1) < 1.1
    >>> model = MKLClassifierCV([Gaussian(0.1), Gaussian(1.0)], Cs=[0.1, 1.0, 10.0], cv=3).fit(X, y)
    >>> model.C_ in (0.1, 1.0, 10.0), model.cv_results_["mean_test_score"].shape
    (True, (6,))
    >>> print(model.summary().splitlines()[0].split())  # learned weights beside equal ones
    ['weighting', 'C', 'score', 's.e.', 'used']
    >>> model.best_score_ > 0.8
    True

    Probabilities come from the folds of the search, and scores have scikit-learn's names:

    >>> model.predict_proba(X[:3]).shape
    (3, 2)
    >>> scoring = {"auc": "roc_auc", "loss": "neg_log_loss"}
    >>> both = MKLClassifierCV([Gaussian(1.0)], Cs=[1.0], cv=3, scoring=scoring, refit="auc")
    >>> results = both.fit(X, y).cv_results_
    >>> bool(both.best_score_ == results["mean_test_auc"][0]), results["mean_test_loss"].shape
    (True, (1,))
    """

    _plain, _paired = MKLClassifier, "svm"

    kernels: Any = field(default=None, kw_only=False)
    weighting: Any = None
    strategy: str | None = shared("strategy")
    ensemble: bool = shared("ensemble")
    Cs: Any = None
    machine: str = "auto"
    n_centers: int | None = None
    memory: int | str | None = None
    cv: Any = 5
    scoring: Any = None
    refit: str | None = None
    multiclass: str = "ovo"
    class_weight: Any = None
    per_label: bool = False
    probability: str | None = "auto"
    normalize: str | None = "trace"
    unbiased: bool = shared("unbiased")
    missing: str | None = shared("missing")
    tol: float = 1e-3
    max_iter: int | None = None
    verbose: Any = shared("verbose")
    device: str = shared("device")
    client: Any = shared("client")
    random_state: Any = shared("random_state")

    @one_convergence_warning
    def fit(self, X, y, sample_weight=None, *, groups=None) -> Self:
        """Choose C (and the weighting), then learn the kernel and train on everything.

        Parameters, errors and warnings as in `MKLClassifier.fit`; also a ValueError if folds
        cannot be made or a training set has one class only. ``groups`` (m,) go to ``cv.split``; a
        UserWarning is raised if ``cv`` is no splitter. Scores are weighted by ``sample_weight``,
        and a callable ``scoring`` gets it as a keyword of that name.

        Returns
        -------
        self
        """
        probability = check_probability(self.probability, (AUTO,))
        check_choice("machine", self.machine, MACHINES)
        read_scoring(self.scoring, "classifier", self.refit)
        if check_flag("per_label", self.per_label):
            return per_label.fit_labels(self, X, y, sample_weight, groups=groups)
        given, X = X, self._prepare(X, sample_weight)
        source = self._open(X, sample_weight)
        labels = inputs.class_labels(self, y, source.n_samples, weight=source.weight, many=True)
        values = search.check_grid("Cs", self.Cs, _CS)
        splits = self._splits(labels, groups)
        check_class_weight(self.class_weight, labels)
        search_folds.check_training_classes(labels, splits, source.weight)
        check_classes(None if probability == AUTO else probability, labels, splits, source.weight)
        if self._by_strategy():
            return self._fit_classes(X, labels, source, splits, values, given)
        keep = probability is not None
        path = self._path(source, self._untuned(None))
        score = self._score(given, labels, source.weight, splits)
        problem = Search("C", values, path, score, keep)
        found = self._fit_by_rules(X, labels, source, splits, problem)
        if keep:
            self._calibrate(source, labels, splits, found.kept[0])
            # Sets of classes are for samples that are exchangeable.
            if source.weight is None and probability != AUTO and labels.ndim == 1:
                # They take the machines of folds, which the search has not kept.
                model, memory = self.model_, check_memory("memory", self.memory)
                how = model, source, labels, memory, model.calibration_
                model.calibration_, model._fold_predictors = calibrate_on_folds(*how)
        return self

    def _score(self, X, labels, weight, splits):
        """The score of the decisions of problems of two classes on a fold."""
        measure = read_scoring(self.scoring, "classifier", self.refit)
        rows = np.arange(len(labels)) if weight is None else np.flatnonzero(weight)
        labels, weight, folds = _of_used(labels, weight, splits)
        trained = [present_classes(labels[train]) for train, _ in folds]

        def score(t, raw, some=None):
            test = folds[t][1] if some is None else folds[t][1][some]
            raw = raw if some is None else raw[some]
            new = measure.samples(X, rows[test], self.kernels)
            model = FoldDecisions(self, new, raw, trained[t], labels[test])
            return measure(model, new, labels[test], None if weight is None else weight[test])

        return score

    def _path(self, source, model, n_samples=None):
        """The path of a model, to the decisions of its problems of two classes.

        ``n_samples``: the most that a candidate is tried on; by default all of the source.
        """
        n_samples = source.n_samples if n_samples is None else n_samples
        many = source.is_paired and n_samples > MOST_PAIRED
        sizes = Sizes.of_source(source)._replace(n_samples=n_samples)
        if self.machine == "krr" and matrix_fits(sizes, check_memory("memory", self.memory)):
            return partial(paths.least_squares_predictions, model._machine)
        if self.machine == "svm" or (self.machine == "auto" and not many):
            options = {"decisions": "raw", "memory": self.memory}
            return partial(paths.classifier_predictions, model._machine, **options)
        return ModelPath(model, "C")

    def _calibrate(self, source, labels, splits, raw):
        """Calibrate decisions (n, n_problems) on the test sets of splits, all samples counted."""
        method, tests = self.probability, [test for _, test in splits]
        if method == AUTO:
            method = "temperature" if self.class_weight is None else "sigmoid"
            lacking = lacking_class(labels, splits, source.weight)
            if lacking is not None:
                self.model_.calibration_ = None
                self._uncalibrated = f"a training set of the search lacks class {lacking!r}"
                return
        if labels.ndim == 2:
            trained = [present_classes(labels[_used(train, source.weight)]) for train, _ in splits]
            decisions = [label_decisions(*given) for given in zip(raw, trained)]
        else:
            n_classes = np.unique(labels).size
            of = class_logits if method == "temperature" else confidences
            decisions = [of(found, n_classes, self.multiclass) for found in raw]
        found = calibrate(method, labels, tests, decisions, source.weight)
        if self.probability == AUTO and labels.ndim == 1:  # scores are for sets of classes
            found = replace(found, scores=(), codes=())
        self.model_.calibration_ = found
        if not self._members:
            self.model_.set_params(probability=method)

    def _fit_classes(self, X, labels, source, splits, values, given):
        """The fit by a strategy; ``given`` is X before it was prepared."""
        codes = labels if labels.ndim == 2 else np.unique(labels, return_inverse=True)[1]
        codes, weight, folds = _of_used(codes, source.weight, splits)
        levels = self._levels(codes, folds)
        folds = [fold for level in levels for fold in level.of_all()]
        trained = [present_classes(codes[train]) for train, _ in folds]
        used = np.arange(len(labels)) if weight is None else np.flatnonzero(source.weight)

        def score(t, raw, rows=None):
            test = folds[t][1]
            if rows is not None:
                test, raw = test[rows], raw[rows]
            of_fold = None if weight is None else weight[test]
            return class_score(raw, codes[test], trained[t], self.multiclass, of_fold)

        if self.scoring is not None:
            whole = [(used[train], used[test]) for train, test in folds]
            score = self._score(given, labels, source.weight, whole)
        rough = self._untuned("uniform").set_params(tol=max(self.tol, SEARCH_TOL))
        most = max(len(train) for train, _ in folds)
        path, fine = self._path(source, rough, most), self.Cs is None
        by_squares = self._least_squares_path(source, values)
        problem = Search("C", values, path, score, True, fine, levels, folds, by_squares)
        with one_blas_thread():
            found = self._fit_by_strategy(X, labels, source, problem)
        if self.probability is not None:
            factors = [member.factor for member in self._members]
            averages = [sum(map(np.multiply, factors, raw)) for raw in zip(*found.kept)]
            tested = [(used[folds[t][0]], used[folds[t][1]]) for t in found.folds]
            self._calibrate(source, labels, tested, averages)
        return self

    def _least_squares_path(self, source, values):
        """The path of regularized least squares; None where it is not tried."""
        held = matrix_fits(Sizes.of_source(source), check_memory("memory", self.memory))
        if self.machine not in ("auto", "svm") or min(values) > MOST_C or not held:
            return None
        make = self._untuned("uniform").set_params(machine="krr")._machine
        return partial(paths.least_squares_predictions, make)

    def _untuned(self, rule):
        # Calibrated on the folds of the search.
        return super()._untuned(rule).set_params(probability=None)


@parameters
class MKLRegressorCV(Tuned, KernelRegressor):
    """`MKLRegressor` that chooses ``alpha`` or ``C`` and how its kernel is made, by validation.

    Without ``kernels`` by a strategy, whose predictions are averaged without scaling. With
    ``kernels`` equal to a grid search over the same folds, with much less work; see
    `MKLClassifierCV`. For kernel ridge all values of alpha come from one matrix reduction per fold,
    and leave-one-out predictions are exact and need no refits.

    Parameters
    ----------
    kernels : sequence of Kernel and str, dict, RankOneKernels or "precomputed", optional
        Default: nine Gaussians around ``gamma="scale"``. With "precomputed", X is a sequence of p
        Gram matrices (m, m) in ``fit`` and (n, m) later, arrays or data frames (read by position).
        In ``fit``, pass an indefinite matrix as ``Precomputed(K, fix="clip")``, which also
        transforms the rows of new samples, or as ``Precomputed(K, is_psd=False)``. For complex
        Hermitian matrices the real part is used. All kernels except functions and precomputed
        matrices also accept SciPy sparse X, which stays sparse. A dict has a kernel, a sequence of
        them or columns for each name; columns (an integer, a slice, a sequence of integers or of
        column names) mean a linear kernel on them. See the notes of `MKLClassifier` on several
        tables.
    weighting : str, object, or list of them, optional
        A rule as in `MKLRegressor`; several are compared, such as ``[AlignLq(q) for q in (1.5, 2,
        4)]``. "auto" chooses by ``strategy``. Default: "auto" where ``kernels`` is None or a
        ``strategy`` is given, else ``["alignf", "uniform"]``; "alignf" for one kernel, with
        ``per_target`` and for leave-one-out, as the default ``cv`` of "krr" and ``cv="loo"``.
        Leave-one-out compares values of alpha alone: the weights of the kernels are learned from
        all samples, those left out as well, which favors learned weights over equal ones. Give
        ``cv=5``, or the list itself, to compare both on folds that the weights have not seen.
    alphas : sequence of float, optional
        "krr": values of alpha, default 13 from 1e-4 to 1e2 in equal ratios; with ``per_target`` 33
        from 1e-4 to 1e4. Positive for leave-one-out and strategies, otherwise >= 0.
    Cs : sequence of float, optional
        "svr": values of C; default 1e-2, 1e-1, ..., 1e3.
    epsilon : float, default 0.1
        "svr": half-width of the tube without loss, in units of y.
    machine : {"auto", "krr", "svr", "nystrom"}, default "auto"
        The model on the folds and on all samples. "krr": kernel ridge on all pairs of samples;
        "svr": support vectors. "nystrom": ridge in the span of the kernel at few samples, as
        `NystromRidge`, also of precomputed kernels. "auto": "krr" up to 20,000 samples, else
        "nystrom"; ``chosen_machine_`` and ``summary()`` name it.
    n_centers : int, optional
        "nystrom": number of these samples; default 1000.
    memory : int, str or None, default None
        Bytes for kernel values, or a string such as "2GB". Default: half of the free memory.
        Leave-one-out needs the Gram matrix. Where the Gram matrix does not fit, "krr" is solved by
        conjugate gradients to a relative residual of 1e-8, and "svr" from rows that are computed
        when they are needed.
    per_target : bool, default False
        Weights and alpha for every target, for "krr" and ``weighting="alignf"``; with "uniform"
        an alpha for each. See the notes.
    cv : "loo", int, sequence of m labels, iterable of (train, test), or object with \
``split(X, y)``, optional
        Default: "loo" (leave-one-out) for "krr" with one weighting, else 5 shuffled folds.
    scoring : str, callable, or dict or list of them, optional
        Names of scikit-learn's scorers, "correlation" (Pearson's, mean over targets), and what
        `MKLClassifierCV` takes; with ``per_target`` "r2" (default) or "correlation", of every
        target; otherwise the default is "neg_root_mean_squared_error". With leave-one-out it is
        called once, on the predictions of all samples.
    refit : str, optional
        Of several scores the name of the one to choose by; ``cv_results_`` has all, as
        ``mean_test_name``.
    normalize : {"trace"} or None, default "trace"
        Scale every centered kernel to trace m before stage 1.
    missing : {"tables", "drop-per-target"}, optional
        "tables": samples may have missing tables, as in `MKLRegressor`; not with ``per_target``.
        "drop-per-target": with ``per_target``, NaN in y is a missing value. Targets with NaN in the
        same samples are fitted together, on the samples that they have, exactly as without the
        others (kernels stay scaled to the trace on all samples); each such group takes
        decompositions of its own.
        None, the default: NaN raises an error.
    tol : float, default 1e-3
        "svr": largest KKT violation, in units of y.
    max_iter : int, optional
        Maximum number of steps of "svr" and "nystrom".
    random_state : int or numpy.random.Generator, optional
        Of the shuffle; None shuffles with a fixed seed, so results repeat.

    Attributes
    ----------
    alpha_ : float
        "krr": the chosen value.
    C_ : float
        "svr": the chosen value.
    weighting_ : str or object
        The chosen rule.
    best_score_ : float
        Mean score over folds of the chosen candidate.
    best_params_ : dict
    best_index_ : int
        Its position in ``cv_results_``.
    cv_results_ : dict of ndarray
        ``params`` (list of dict), ``param_alpha`` or ``param_C``, ``param_weighting`` (if several
        were given), ``split0_test_score``, ..., ``mean_test_score``, ``std_test_score``,
        ``rank_test_score``, in the order of scikit-learn's grid search over the same values. Also
        ``n_splits``, on how many folds each was tried, and ``rung``: -1 if that is all of them,
        else the rung at which a strategy dropped it. Only scores of those that were dropped can be
        NaN. For leave-one-out ``split0_test_score`` is the only score.
    n_splits_ : int
    model_ : MKLRegressor or Average
        The model fitted to all samples; after a strategy the average of one or more. Predictions,
        bounds, tables and the attributes below are those of it.
    members_ : tuple of Member
        After a strategy: the models whose predictions are averaged, each with ``name``, ``share``
        (of sum 1), ``unit`` (1: predictions are not scaled), ``kernel`` and ``model``. Attributes
        of one kernel, such as ``weights_`` and ``kernel_``, are those of the one model; of several
        each has its own, and here they do not exist.
    scales_ : ndarray of shape (d,)
        After a strategy that took one machine on scaled features.
    method_ : str
        After a strategy: the best way.
    uniform_score_ : ndarray of shape (q,)
        With ``per_target``: R^2 or correlation by cross-validation of equal weights at the best
        alpha. ``best_score_`` is the same score of the choice then, (q,), as is ``alpha_``;
        ``weights_`` are (p, q) of sum 1.
    candidates_, candidate_ : ndarray of shape (n, p) and (q,)
        With ``per_target``: the weights that were tried, and the number of each target's.
    weights_ : ndarray of shape (p,)
        For the normalized kernels.
    scale_ : ndarray of shape (p,)
        Normalization factors; ``kernel_`` is ``sum_k weights_k scale_k K_k``.
    kernel_ : Kernel
        The learned kernel: ``kernel_(X, Y)`` is a Gram matrix, usable as ``SVR(kernel=...)``. A
        FeatureWeighted for RankOneKernels and linear kernels; a function of p matrices for
        "precomputed".
    alignment_, uniform_alignment_ : float
        Centered alignment of the learned and of the uniform combination with the targets.
    kernel_alignments_ : ndarray of shape (p,)
    kernels_ : list of Kernel
        With numbers for ``gamma="scale"``.
    statistics_ : AlignmentStatistics
        For the normalized kernels.
    result_ : WeightResult
        Result of stage 1 with its certificate and diagnostics.
    coef_ : ndarray of shape (n_features, c)
        Where the kernel is a FeatureWeighted.
    support_ : ndarray of shape (n_support,)
        For "krr" all training samples; for "svr" those that are support vectors of some column.
    dual_coef_ : ndarray of shape (n_support,) or (n_support, c)
    intercept_ : float or ndarray of shape (c,)
    n_iter_ : int
        Steps of the machine; 1 for "krr".
    machine_ : KernelRidge, SupportVectorRegressor or NystromKernelRidge
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X was a data frame with string column names, or several tables: "table__column".

    Notes
    -----
    Above 3000 samples ridge regression on a matrix is solved by conjugate gradients with a Nystrom
    preconditioner, to a relative residual of 1e-6 in the final fit. Above 8000 samples of a
    strategy a pilot compares 1000 and more centers with all pairs. Where their error is at most 2 %
    larger, or there are more than 120,000 samples, the final fit is "nystrom"; else all pairs, of
    more than 20,000 samples as the mean of models on parts of at most 20,000 (divide and conquer:
    Zhang, Duchi and Wainwright 2015).

    Leave-one-out is that of the machine: the kernel was learned with the sample that is left out.
    That serves to choose alpha, not to judge the kernel; to compare weightings, or for a score to
    report, use folds, where weights are learned on each training set alone.

    With ``per_target`` targets share some 60 weight vectors: equal weights, single kernels, the
    centers of clusters of the targets' own weights, found by alignment that is corrected for noise,
    and random ones. Every target takes the best of these near its own, and the best alpha, by exact
    leave-one-out or folds; the candidates themselves are found on all samples. From 1500 samples
    on, a search on 1000 of them comes first, and each target is tried on the best random one only,
    where this was better than all others. (In searches on half of 400 and of 700 samples R^2 was
    0.001 less on average than without, where own weights gained 0.03.) Training sets must be all
    samples that are not tested. Weights are not contributions: how much of a target a kernel
    explains depends on the others too. ``device`` and ``client`` evaluate the kernels, in ``fit``
    and on new samples; decompositions and products with targets, which are nearly all of the work,
    stay in this process, where BLAS takes the threads: a candidate is tried on as few penalties as
    those before it leave open, so that candidates follow one another.

    Peaks of memory at m = 5000, in (m, m) matrices: 1.1 for leave-one-out, 1.2 for ridge with
    folds, 1.3 for "svr", whose solver keeps up to 0.3 of a matrix of rows close together. With
    ``per_target`` the p centered kernels are held, and at most five more matrices, one
    decomposition at a time: 6.0 in all for three kernels and 13.2 for nine at m = 1000, where 16 MB
    of rows are two of them. The first search needs as many of 1000 samples, beside the p kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, MKLRegressorCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 1))
    >>> y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=60)
    >>> model = MKLRegressorCV([Gaussian(0.1), Gaussian(1.0)], alphas=[1e-4, 0.1, 100.0]).fit(X, y)
    >>> model.alpha_  # of the least leave-one-out error
    0.1
    >>> model.score(X, y) > 0.8
    True

    Banded ridge regression: weights and a penalty for every target, and the part of each space in
    the predictions.

    >>> X = rng.normal(size=(60, 5))
    >>> Y = np.c_[X[:, 0], X[:, 3], X[:, 0] + X[:, 3]] + 0.1 * rng.normal(size=(60, 3))
    >>> banded = MKLRegressorCV({"first": [0, 1], "rest": [2, 3, 4]}, per_target=True).fit(X, Y)
    >>> banded.weights_.shape, bool(banded.weights_[0, 0] > 0.9)
    ((2, 3), True)
    >>> parts = banded.predict(X, split=True)
    >>> list(parts), np.allclose(sum(parts.values()), banded.predict(X))
    (['first', 'rest', 'intercept'], True)
    """

    _plain, _paired = MKLRegressor, "krr"

    kernels: Any = field(default=None, kw_only=False)
    weighting: Any = None
    strategy: str | None = shared("strategy")
    ensemble: bool = shared("ensemble")
    alphas: Any = None
    Cs: Any = None
    epsilon: float = 0.1
    machine: str = "auto"
    n_centers: int | None = None
    memory: int | str | None = None
    per_target: bool = False
    cv: Any = None
    scoring: Any = None
    refit: str | None = None
    normalize: str | None = "trace"
    unbiased: bool = shared("unbiased")
    missing: str | None = shared("missing")
    tol: float = 1e-3
    max_iter: int | None = None
    verbose: Any = shared("verbose")
    device: str = shared("device")
    client: Any = shared("client")
    random_state: Any = shared("random_state")

    @property
    def _own_weights(self):
        return "candidates_" in vars(self)

    def _check_missing(self):
        return self.missing  # by `per_target.check_missing`

    def _leaves_one_out_by_default(self):
        return self.per_target or (self.cv is None and self.machine in ("auto", "krr"))

    def _leave_one_out(self, n_samples):
        few = self.machine == "auto" and n_samples <= MOST_PAIRED
        exact = self.machine == "krr" or few
        if self.cv is None:
            rule = self._rule()
            single = not isinstance(rule, (list, tuple)) or len(rule) == 1
            return exact and single and (self.per_target or rule != "auto")
        loo = isinstance(self.cv, str) and self.cv == "loo"
        if loo and not (exact or self.machine == "auto"):
            raise ValueError(
                f"cv='loo' is for machine='krr', where it has a closed form; got machine="
                f"{self.machine!r}. Give a number of folds."
            )
        if loo and self._by_strategy() and not self.per_target:
            raise ValueError(
                "cv='loo' does not go with weighting='auto', as scales are learned from all "
                "targets; give a number of folds, or weighting='alignf'."
            )
        return loo

    @one_convergence_warning
    def fit(self, X, y, sample_weight=None, *, groups=None) -> Self:
        """Choose alpha or C (and the weighting), then learn the kernel and train on everything.

        Parameters, errors and warnings as in `MKLRegressor.fit`; also a ValueError if folds cannot
        be made. ``groups`` (m,) and ``sample_weight`` (m,) as in `MKLClassifierCV.fit`; a sample
        is left out with its whole weight.

        Returns
        -------
        self
        """
        check_choice("machine", self.machine, ("auto", "krr", "svr", "nystrom"))
        per_target.check_missing(self.missing, self.per_target)
        given, X = X, self._prepare(X, sample_weight)
        source = self._open(X, sample_weight)
        if check_flag("per_target", self.per_target):
            return self._fit_per_target(X, y, source, groups)
        y = inputs.real_targets(self, y, source.n_samples, source.weight)
        if self.machine == "svr":
            parameter, values = "C", search.check_grid("Cs", self.Cs, _CS)
        else:
            parameter = "alpha"
            loo = self._leave_one_out(len(y))
            strict = loo or self._by_strategy() or self.machine == "nystrom"
            values = search.check_grid("alphas", self.alphas, _ALPHAS, strict=strict)
        splits = self._splits(y, groups)
        measure = read_scoring(self.scoring, "regressor", self.refit)
        rows = np.arange(len(y)) if source.weight is None else np.flatnonzero(source.weight)
        used, weight, folds = _of_used(y, source.weight, splits)
        levels = self._levels(used, folds) if self._by_strategy() else ()
        folds = [fold for level in levels for fold in level.of_all()] or folds

        def score(t, predicted, some=None):
            test = np.arange(len(used)) if folds is None else folds[t][1]
            if some is not None:
                test, predicted = test[some], predicted[some]
            new = measure.samples(given, rows[test], self.kernels)
            model = FoldPredictions(self, new, predicted)
            return measure(model, new, used[test], None if weight is None else weight[test])

        most = len(used) if folds is None else max(len(train) for train, _ in folds)
        path = self._path(source, y, parameter, splits, most)
        problem = Search(parameter, values, path, score, levels=levels, folds=folds)
        if levels:
            with one_blas_thread():
                self._fit_by_strategy(X, y, source, problem)
        else:
            self._fit_by_rules(X, y, source, splits, problem)
        return self

    def _parts(self, candidates, found, values, n_samples):
        """Few centers where they serve as well; else all pairs, of parts of many samples.

        Divide and conquer kernel ridge regression: Zhang, Duchi and Wainwright (2015).
        """
        if self.machine != "auto" or n_samples <= LEVELS[-1] or len(found.folds) > 1:
            return self.machine, [None]
        (w, k), exact = found.chosen[0], found.kept[0][0]
        made = candidates[w].make(found.folds[0], values[k])
        model = self._untuned("uniform").set_params(machine="nystrom")
        path = ModelPath(model, "alpha", _Shaped(made.y.ndim == 1))
        near, target = path(*made, [values[k]])[0], made.y[made.split[1]]
        errors = [np.square(target - predicted).mean() for predicted in (near, exact)]
        if errors[0] <= (1.0 + WORTH_BLOCKS) * errors[1] or n_samples > MOST_IN_BLOCKS:
            return "nystrom", [None]
        order = np.random.default_rng(0).permutation(n_samples)
        n_blocks = -(-n_samples // MOST_OF_BLOCK)
        return "krr", [None] if n_blocks == 1 else np.array_split(order, n_blocks)

    def _fit_per_target(self, X, y, source, groups):
        rule = per_target.checked_rule(self)
        if self.unbiased:
            raise ValueError("unbiased=True is not for per_target=True; accepted: one of them.")
        gaps = self.missing == "drop-per-target"
        given = inputs.real_targets(self, y, source.n_samples, source.weight, gaps=gaps)
        alphas = search.check_grid("alphas", self.alphas, per_target.ALPHAS)
        splits = self._splits(given, groups)
        source, Y, splits = search_folds.used_part(source, given.reshape(len(given), -1), splits)
        (per_target.check_gaps if gaps else per_target.check_varies)(Y)
        inputs.check_room(source, [], len(source.names) + 5)
        first = per_target.first_statistics(source, Y)
        problem = self._problem(source, Y, "regression", statistics=first).check()
        scale = np.where(problem.statistics.norms > 0.0, problem.scale, 0.0)
        tests = per_target.test_sets(splits, len(Y))
        rng = check_seed("random_state", self.random_state)
        choice = {"alphas": alphas, "uniform": rule == "uniform", "verbose": source.progress}
        pick = partial(per_target.choose, **choice)
        how = source, Y, scale, tests, pick, rng, self.scoring == "correlation"
        found, predictor, coef = per_target.fit_targets(*how)
        self._store_targets(X, source, given, scale, found)
        self.n_splits_ = len(Y) if splits is None else len(splits)
        if coef is not None:
            self.dual_coef_ = coef
        one = given.ndim == 1
        self.intercept_ = float(predictor.intercept[0]) if one else predictor.intercept
        self._predictor = predictor
        return self

    def _store_targets(self, X, source, y, scale, found):
        """Keep what was found for every target; there is no one model."""
        self._store_columns(X, source.n_features)
        self.kernels_, self.scale_, self._names = source.fitted_kernels, scale, source.names
        self.weights_, self.alpha_ = found.weights, found.alpha
        self.best_score_, self.uniform_score_ = found.score, found.uniform_score
        self.candidates_, self.candidate_ = found.candidates, found.chosen

    def summary(self, max_rows=30) -> str:
        """The learned combination as a text table; with ``per_target`` the weights of all targets.

        Parameters and result as of `MKLClassifierCV.summary`; with ``per_target`` a line per
        kernel: mean and largest weight over the targets, and of how many it has more than half.
        """
        if not self._own_weights:
            return super().summary(max_rows)
        return per_target.summary(self, max_rows)

    def _kernel_names(self):
        return self._names if self._own_weights else super()._kernel_names()

    def _kernel_weights(self):
        if not self._own_weights:
            return super()._kernel_weights()
        return self.weights_.mean(axis=1), f", means over {len(self.alpha_)} targets"

    def _path(self, source, y, parameter, splits, n_samples):
        memory, model = check_memory("memory", self.memory), self._untuned(None)
        sizes = Sizes.of_source(source)._replace(n_samples=n_samples)
        chosen = choose("krr", sizes, memory, asked=self.machine).machine
        fits = source.is_linear or matrix_fits(sizes, memory)
        if splits is None:
            if not fits and self.memory is not None:
                raise ValueError(
                    f"memory={self.memory!r} does not hold the Gram matrix of {source.n_samples} "
                    "samples, which leave-one-out needs; accepted: more memory, or a number of "
                    "folds as cv."
                )
            return _leave_one_out
        if chosen == "svr":
            options = {"epsilon": self.epsilon, "tol": self.tol, "max_iter": self.max_iter}
            machine = partial(SupportVectorRegressor, **options)
            return partial(_support_vector_path, machine, self.memory)
        if chosen == "krr" and fits:
            return paths.regressor_predictions
        return ModelPath(model, parameter, _Shaped(y.ndim == 1))


def _support_vector_path(machine, memory, learned, y, split, values):
    """Test predictions of support vector regression for each C."""
    given = learned, y, split, values
    return paths.support_vector_predictions(machine, *given, memory=memory)


def _leave_one_out(learned, y, split, values):
    """Predictions of kernel ridge at each sample without it, for each alpha."""
    return paths.leave_one_out_predictions(learned, y, values)
