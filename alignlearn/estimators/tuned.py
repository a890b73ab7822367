"""Base of kernel models that select their regularization and their kernel by validation.

Results that a grid search computes for every candidate are computed once: the alignment statistics
of all training sets in one pass over the pairs, one Gram matrix per fold, and one solution path per
Gram matrix.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import numpy as np

from alignlearn._progress import Progress
from alignlearn.machines.choice import MOST_IN_BLOCKS
from alignlearn.validation import (
    a_part,
    check_choice,
    check_flag,
    check_memory,
    check_seed,
    optional_weights,
    take,
)
from alignlearn.weights import get_weighting

from . import inputs, search
from .average import (
    Average,
    Member,
    member_partners,
    members_of,
    noise_blocks,
    units_of,
    with_partner,
)
from .base import OF_COLUMNS
from .calls import begin, each, workers_of
from .candidates import (
    FoldSources,
    RuleKernels,
    check_weightings,
    fold_statistics,
    prepared_without,
    used_frame,
)
from .kernel_table import refuse_several
from .model import KernelModel
from .plans import PLANS
from .prepared_columns import PreparedMatrix
from .results_table import doubt_edges, method_table, weighting_table
from .schedule import (
    BYTES,
    LEVELS,
    WHOLE,
    grid,
    levels_of,
    refined,
    request_groups,
    schedule_of,
    splits_of,
    used_part,
)
from .scoring import read_scoring
from .search_problem import Planned
from .ways import FoldWays, WayKernels, fold_kernels

CS = np.logspace(-2, 3, 6).tolist()
_THREADED = 300  # samples from which on threads save time (two on 200 samples take 8% more)
_EACH = ("alignf", "uniform")  # default rules for a search with several given kernels
_WEIGHTS_ALONE = ("uniform", "alignf")  # methods that only learn weights of the given kernels
_OF_MODEL = ("_predictor", "_ranges", "_fold_predictors")  # private attributes of ``model_``


class Tuned(KernelModel):
    """Base of the tuned estimators: a search, and the final model.

    ``model_`` is a fitted plain estimator or an `Average` of them. Predictions, bounds, tables and
    fitted attributes are those of this model.
    """

    strategy: str | None
    ensemble: bool
    cv: Any
    scoring: Any
    refit: str | None
    n_centers: int | None
    random_state: Any
    classes_: np.ndarray  # of classifiers

    _plain = None  # the class of the plain estimator
    _task: str  # "classification" or "regression"

    # Attributes of a fit

    def __getattr__(self, name):
        # Called for attributes that the object does not have.
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

    def _check_guarantee(self, what, held_out=False):
        """Raise an error if it does not hold: with ``per_target``, and after most strategies."""
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
                f"{what} accounts for learned weights only, but the method "
                f"{self._members[0].name!r} also learned other parameters of its kernel "
                "from these samples. Accepted: samples that fit did not use, with "
                "held_out=True, or weighting='alignf'."
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
        """Return the learned combination as a text table; after a strategy also its candidates.

        Parameters
        ----------
        max_rows : int, default 30
            With more kernels than this, those of the largest shares are shown.

        Returns
        -------
        str
            The text of `MKLClassifier.summary`. After a strategy it starts with a line for each
            candidate: its best value, the score with its standard error over folds (with one fold
            "-"), for classes also the accuracy, the number of folds on which it was tried, and
            whether it is used. For an average the combination of each model follows, with the
            factor of its predictions or decisions. If several weightings were tried, it has a line
            for each.
        """
        self._check_is_fitted()
        parts, taken = [], [m.name for m in self._members]
        if taken:
            parts = [method_table(self.cv_results_, taken, self._score_words())]
        if "param_weighting" in vars(self).get("cv_results_", ()):
            parts = [weighting_table(self.cv_results_, self.best_index_)]
        if len(self._members) < 2:
            return "\n\n".join([*parts, super().summary(max_rows)])
        what = "decisions" if self._estimator_type == "classifier" else "predictions"
        parts[0] += f"\nThe average adds the {what} of the models, each multiplied by its factor."
        for k, m in enumerate(self._members, 1):
            head = f"Model {k} of {len(taken)} in the average: {m.name}, factor {m.factor:.3g}"
            parts.append(f"{head}\n{m.model.summary(max_rows)}")
        return "\n\n".join(parts)

    def _score_words(self):
        """Name of the score of a strategy, for tables."""
        if self.scoring is not None:
            return read_scoring(self.scoring, self._estimator_type, self.refit).chosen.name
        if self._estimator_type == "classifier":
            words = "accuracy minus 0.3 times the log loss"
            many = np.ndim(self.classes_) == 2  # the column "accuracy" is the subset accuracy
            return f"{words}, mean over the labels" if many else words
        return "minus the root mean squared error"

    # The search space

    def get_metadata_routing(self):
        """Return the metadata routing; ``groups`` are requested if the splitter ``cv`` does so.

        ``set_fit_request(groups=True)`` requests them for every ``cv``.
        """
        return request_groups(super().get_metadata_routing(), self.cv)

    def _rule(self):
        """Return ``weighting`` or its default: a strategy, or `_EACH` for several kernels."""
        if self.weighting is not None:
            return self.weighting
        loo = isinstance(self.cv, str) and self.cv == "loo"
        # A strategy uses single features, which may be missing.
        gaps = self.missing == "tables"
        asked = self.strategy is not None or (self.kernels is None and not loo and not gaps)
        if asked:
            return "auto"
        # A single kernel has one weight, and leave-one-out uses weights from all samples.
        alone = vars(self).get("_n_kernels") == 1 or loo or self._leaves_one_out_by_default()
        return "alignf" if alone else list(_EACH)

    def _leaves_one_out_by_default(self):
        """Whether a search over one weighting uses leave-one-out by default, or per target."""
        return False

    def _by_strategy(self):
        found = isinstance(self._rule(), str) and self._rule() == "auto"
        if self.strategy is not None and not found:
            raise ValueError(
                f"strategy={self.strategy!r:.40} requires weighting='auto', got "
                f"weighting={self.weighting!r:.80}; accepted: only one of the two."
            )
        if found and self.missing == "tables":
            raise ValueError(
                "weighting='auto' cannot be combined with missing='tables', because its "
                "candidates use single features; accepted: a rule such as 'alignf', or a "
                "list of them."
            )
        return found

    def _leave_one_out(self, n_samples):
        return False

    def _given_values(self):
        """Return the parameter with the values to try, None by default."""
        raise NotImplementedError

    def _splits(self, y, groups, weight):
        """The folds, or None for leave-one-out."""
        classes = self._estimator_type == "classifier" and y.ndim == 1
        options = {"stratify": classes, "random_state": self.random_state, "weight": weight}
        return splits_of(self.cv, y, groups, leave_one_out=self._leave_one_out(len(y)), **options)

    def _levels(self, y, folds, n_different, final=False):
        """Return the levels of a strategy's search for targets of positive weight.

        ``final``: whether one of them may have as many samples as the final models.
        """
        rng = check_seed("random_state", self.random_state)
        memory = check_memory("memory", self.memory)
        classes = self._task == "classification" and y.ndim == 1
        return levels_of(y, folds, classes, rng, memory, final, n_different)

    def _worth_all(self, candidates, fold, number, value, predicted):
        """Whether this level is tried after a fold of the previous one; see `Rung`."""
        return True

    def _untuned(self, rule, **changes):
        """Return the plain estimator with these parameters, one rule, and changes."""
        names = set(self._plain._parameters()) & set(self._parameters())
        own = {name: getattr(self, name) for name in names}
        return self._plain(**{**own, "weighting": rule, **changes})

    def _prepare(self, X, y, sample_weight):
        """Start a fit: return X prepared; a failed fit leaves an unfitted estimator."""
        # scikit-learn's tools set other parameters
        private = {*_OF_MODEL, "_names", "_smoothers", "_uncalibrated", "_n_kernels"}
        for name in list(vars(self)):
            if name in private or (name.endswith("_") and not name.startswith("_")):
                del self.__dict__[name]
        X = self._prepared(X, sample_weight, y, self._task)
        if self.kernels is None and self._by_strategy():
            X = inputs.dense_if_small(X, check_memory("memory", self.memory))
        return X

    def _sends_calls(self):
        """Whether workers get whole calls of a strategy, and this process has its own engine.

        Its share of the work then takes less time here than to be sent. Where the devices are, only
        the workers know.
        """
        apart = self.client is not None and self.device != "cuda"
        return apart and not getattr(self, "per_target", False) and self._by_strategy()

    def _engine_of_fit(self):
        engine = self._engine()
        return engine.inner if self._sends_calls() else engine

    def _open(self, X, sample_weight):
        if self.normalize is not None:
            check_choice("normalize", self.normalize, ("trace",))
        if self._given_values() is None and sample_weight is not None:
            # The default values assume weights near 1, but survey weights count thousands.
            weight = optional_weights(sample_weight, np.size(sample_weight))
            sample_weight = weight / weight[weight > 0.0].mean()
        source = super()._open(X, sample_weight)
        self._n_kernels = len(source.names)
        return source

    # The search

    def _fit_by_rules(self, X, y, source, splits, problem):
        """Select a value and a rule on folds and fit them to all samples; return `SearchResult`.

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
        used, y_used, splits = used_part(source, y, splits)
        everything = np.arange(used.n_samples)
        folds = [(everything, everything)] if splits is None else splits
        options = {"unbiased": self.unbiased, "client": self.client}
        frame = None if splits is None else used_frame(X, source)
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
            grid(len(folds), len(problem.values)),
            problem.score,
            search.Fits(candidates, problem.path),
            parameter=problem.parameter,
            names={"weighting": given} if several else {},
            others=read_scoring(self.scoring, self._estimator_type, self.refit).names,
            keep=problem.keep,
            most_threads=self._at_once(used.n_samples),
            client=self.client,
            verbose=source.progress,
        )
        params = {"weighting": given[0], **found.params}
        model = self._untuned(params.pop("weighting"), **params).fit(X, y, source.weight)
        self._store(model, found, used.n_samples if splits is None else len(splits))
        self.weighting_ = model.weighting
        return found

    def _plan(self, X, y, source, problem):
        """Return the `Planned` search of a strategy over methods and values.

        Parameters are as in `_fit_by_rules`; folds are those of the problem's levels.
        """
        levels = problem.levels
        inputs.check_room(source, [], self._matrices(source))
        inputs.doubt_scales(X, source.X, source.kernels)
        if not source.is_given:
            inputs.doubt_gram_matrix(X)
        frame = used_frame(X, source)
        if frame is not None and len(levels) > 1:
            X = prepared_without(levels[-1], X, frame, source)
            source = self._open(X, source.weight)
        used, y_used, _ = used_part(source, y, None)
        sources = [used if level.rows is None else used.part(level.rows) for level in levels]
        ys = [y_used if level.rows is None else y_used[level.rows] for level in levels]
        preparation = None if frame is None else X.preparation
        given = sources, ys, used.n_samples, problem, frame, preparation
        plan, kernels, candidates, problem = self._ways(*given)
        given, options = self._asked(plan, candidates, ys, problem)
        options["verbose"] = source.progress
        return Planned(X, y, source, y_used, plan, kernels, problem, given, options, {})

    def _fit_members(self, planned, found):
        """Average the fits of the best methods to all samples; return their `SearchResult`."""
        X, y, source, problem = planned.X, planned.y, planned.source, planned.problem
        found, asked = self._asked_members(planned, found)
        left = []
        for key, member, block in asked:
            model = planned.fitted[key]() if key in planned.fitted else None
            if model is None:
                left.append((member, block))
            else:
                _keep_fitted(member.model, model)
        most = self._at_once(source.n_samples) if source.n_samples <= LEVELS[-1] else 1
        sent = self._sends_calls() and source.n_samples <= MOST_IN_BLOCKS
        what, n_done = f"final fit on {source.n_samples} samples", len(asked) - len(left)
        with a_part(), Progress(what, len(asked), source.progress) as progress:

            def fitted(k, model, result):
                _keep_fitted(model, result)
                progress(k)

            calls = (
                (partial(fitted, k, call[1]), *call)
                for k, call in enumerate(self._fits_of(left, planned, sent), n_done + 1)
            )
            each(workers_of(self.client) if sent else None, calls, most, progress)
        members = [member for _, member, _ in asked]
        self._store_columns(X, source.n_features)
        columns = {name: vars(self)[name] for name in OF_COLUMNS if name in vars(self)}
        # With least squares, a small C only shrinks decisions, so the default grid ends low enough.
        doubt = problem.machine is None or not problem.fine
        self._store(Average.of(members, y, source, columns), found, len(problem.folds), doubt)
        self.weighting_ = members[0].model.weighting
        return found

    def _early(self, planned):
        """Return `_fit_early` of a search whose calls workers get; otherwise None.

        It is no part of ``planned``: a cycle would hold the samples and the data on the workers
        after the fit.
        """
        return partial(self._fit_early, planned) if self._sends_calls() else None

    def _fit_early(self, planned, found, n_threads):
        """Let idle threads of workers fit the models of this result, if there are enough."""
        source, problem, fitted = planned.source, planned.problem, planned.fitted
        if source.n_samples > (MOST_IN_BLOCKS if problem.levels[-1].final else LEVELS[-1]):
            return  # the machine is not known yet
        _, asked = self._asked_members(planned, found)
        keys = [key for key, *_ in asked]
        if len(keys) > n_threads or all(key in fitted for key in keys):
            return
        fitted.clear()
        workers = workers_of(self.client)
        for key, call in zip(keys, self._fits_of([one[1:] for one in asked], planned)):
            fitted[key] = begin(workers, *call)

    def _asked_members(self, planned, found):
        """Return the `SearchResult` of the best methods, and (key, unfitted `Member`, block)."""
        plan, kernels, problem = planned.plan, planned.kernels, planned.problem
        candidates, values, *_ = planned.given
        if len(problem.levels) == 1 or plan.averaged == 1:
            found = members_of(found, plan, problem.score, self._task)
        else:
            # Parts of the test samples, which show the noise.
            parts, sizes = planned.options["parts"](found.folds[0]), planned.options["sizes"]
            few = self._task == "classification"
            few = few and (problem.machine or max(sizes) <= LEVELS[1])
            found = with_partner(found, plan, problem.score, self._task, parts, few)
        ways = [plan.ways[w] for w, _ in found.chosen]
        kernels.learn(ways)
        machine, blocks = self._final(problem, candidates, found, values, planned.y_used, ways)
        chosen = [{problem.parameter: values[k]} for _, k in found.chosen]
        asked = self._members_with(ways, chosen, found, kernels, machine, blocks)
        keys = [
            (way.name, machine, *one.items(), number)
            for way, one, own in zip(ways, chosen, blocks)
            for number in range(len(own))
        ]
        return found, [(key, *one) for key, one in zip(keys, asked)]

    def _asked(self, plan, candidates, ys, problem):
        """Arguments of the `search` for the candidates of a strategy, on levels with targets ys."""
        levels, classes = problem.levels, self._task == "classification"
        values, at = refined(problem.values, fine=problem.fine and len(levels) > 1)
        by_columns = any(way.columns for way in plan.ways)
        # All values of alpha cost as much as one.
        one_by_one = problem.parameter == "C" and problem.machine != "krr"
        worth = partial(self._worth_all, candidates, len(problem.folds) - 2)
        targets = [one[test] for one, level in zip(ys, levels) for _, test in level.folds]

        def parts(fold):
            by_class = classes and targets[fold].ndim == 1
            return noise_blocks(targets[fold], by_class, self.scoring is not None)

        schedule = schedule_of(levels, plan.kept, at, len(values), one_by_one, by_columns, worth)
        fits = search.Fits(candidates, problem.path)
        return (candidates, values, schedule, problem.score, fits), {
            "parameter": problem.parameter,
            "names": {"method": [way.name for way in plan.ways]},
            "others": read_scoring(self.scoring, self._estimator_type, self.refit).names,
            "members": len(plan.ways),
            "keep": True,
            "sizes": [len(one) for one in ys],
            "parts": parts,
            # On the final level there is one candidate.
            "client": self.client,
            "most_threads": self._at_once(
                max(len(y) for y, own in zip(ys, levels) if not own.final)
            ),
        }

    def _ways(self, sources, ys, n_samples, problem, frame, preparation):
        """Return the `Plan` for these kernels, the last `WayKernels`, candidates, problem.

        ``sources`` and ``ys`` belong to each level; ``n_samples`` is the total number.
        The problem is changed to least squares if two classes overlap.
        """
        levels = problem.levels
        given = self.kernels, self._task, check_seed("random_state", self.random_state)
        last = _learned_level(levels)
        most = WayKernels(sources[last], given[0], ys[last], *given[1:], preparation=preparation)
        fewer = [
            WayKernels(source, given[0], y, *given[1:], most, preparation)
            for source, y in zip(sources[:last], ys)
        ]
        kernels = [*fewer, most]
        strategy = "auto" if self.strategy is None else self.strategy
        plan = PLANS[check_choice("strategy", strategy, tuple(PLANS))]
        if not check_flag("ensemble", self.ensemble):
            plan = plan._replace(averaged=1)
        if problem.overlapping and plan.averaged > 1 and kernels[-1].overlap(n_samples):
            problem = problem._replace(**problem.overlapping)
        by_squares = problem.least_squares
        plan = kernels[-1].ways(plan, n_samples, by_squares is not None)
        options = {"unbiased": self.unbiased, "client": self.client}
        rules = [get_weighting(way.rule) for way in plan.ways if way.rule is not None]
        of_folds = fold_kernels(frame, kernels, levels, *given)
        statistics = []
        for k, (own, level) in enumerate(zip(kernels, levels)):
            opened = own.source if of_folds is None else [one.source for one in of_folds[k]]
            how = self._task, rules, level.folds, options
            found = fold_statistics(opened, own.y, *how)
            # Statistics of one source need one pass over its pairs; others are read one by one.
            statistics.append(list(found) if of_folds is None else found)
        learners = {way.rule: self._untuned(way.rule or "uniform") for way in plan.ways}
        how = statistics, learners, of_folds, by_squares
        most = problem.most
        candidates = FoldWays(kernels, levels, sources, ys, *how).candidates(plan.ways, most)
        return plan, kernels[-1], candidates, problem

    def _at_once(self, n_samples):
        """Return how many Gram matrices of so many samples fit into memory, at least 1.

        It is 1 for few samples, where threads cost more than they save.
        """
        if n_samples < _THREADED:
            return 1
        return max(1, int(check_memory("memory", self.memory) // (BYTES * n_samples**2)))

    def _final(self, problem, candidates, found, values, y, ways):
        """Return the machine for all samples, and for each method the blocks of its members."""
        return problem.machine or self.machine, [[None] for _ in ways]

    def _fits_of(self, asked, planned, sent=True):
        """Yield calls that fit each member to its block, with weights learned on some rows.

        Rows and blocks are positions among the samples of positive weight. Samples are scaled when
        their call is yielded, so that one thread holds those of one member at a time. ``sent``: to
        workers, where a call enters `a_part` itself.
        """
        X, y, source, levels = planned.X, planned.y, planned.source, planned.problem.levels
        used, rows = source.used_rows(), levels[_learned_level(levels)].rows
        rows = None if rows is None else used[rows]
        # A few samples take longer to learn a kernel than to train a machine.
        alone = sent or source.n_samples > WHOLE
        members = () if alone else [member for member, _ in asked]
        together = member_partners(members, planned.plan.ways)
        partners = [partner.model for partner in together.values()]
        for member, block in asked:
            if any(member.model is partner for partner in partners):
                continue
            # Kernels may refer to columns, so they are opened on the original samples again.
            as_given = block is None and not isinstance(X, PreparedMatrix)
            opened = member.name in _WEIGHTS_ALONE and as_given
            given = X if opened else member.of(source.X), y, source.weight
            member.model._learned_on = rows
            if block is not None:
                given = [None if one is None else take(one, used[block]) for one in given]
                member.model._learned_on = np.arange(len(rows))  # their order is random
            # Rows were aligned by their labels when the search began.
            fit = _fitted if sent else inspect.unwrap(type(member.model).fit)
            if member.name in together:
                fit, given = type(member.model)._fit_with, [together[member.name].model, *given]
            yield fit, member.model, *given

    def _members_with(self, ways, chosen, found, kernels, machine, blocks):
        """Return the unfitted `Member` of each method and block, with the block."""
        asked, units = [], units_of(found, self._task)
        for way, unit, values, own in zip(ways, units, chosen, blocks):
            root = kernels.root(way)
            for block in own:
                changes = {**values, "machine": "krr" if way.least_squares else machine}
                if way.name not in _WEIGHTS_ALONE:
                    changes["kernels"] = kernels.kernels_of(way, root)
                model = self._untuned(way.rule or "uniform", **changes)
                share = 1.0 / len(ways) / len(own)
                asked.append((Member(way.name, share, unit, root, model), block))
        return asked

    def _store(self, model, found, n_splits, doubt=True):
        """Store the model, the table, and the best parameters, also as single attributes."""
        self.model_, self.n_splits_ = model, n_splits
        for name, value in found.params.items():
            setattr(self, f"{name}_", value)
        self.cv_results_, self.best_index_ = found.table, found.best
        self.best_params_ = found.params
        self.best_score_ = float(found.table["mean_test_score"][found.best])
        if doubt:
            doubt_edges(found.table, found.best)


def _fitted(model, *given):
    """Fit a part of an average on a worker, and return it."""
    with a_part():
        return inspect.unwrap(type(model).fit)(model, *given)


def _keep_fitted(model, result):
    """Copy what a worker has fitted; the parameters of this process stay."""
    if result is not model:
        own = model._parameters()
        vars(model).update((name, value) for name, value in vars(result).items() if name not in own)


def _learned_level(levels):
    """Return the number of the level whose learned results are used later."""
    return min(2, len(levels)) - 1
