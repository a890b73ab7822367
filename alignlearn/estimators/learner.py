"""Stage 1 of all estimators: statistics, weights, the combined kernel, the summary."""

from __future__ import annotations

from typing import Any

import numpy as np

from alignlearn._text import listed
from alignlearn.engine.engines import open_engine
from alignlearn.kernels import are_per_column
from alignlearn.sources import GappedPredictor, as_tables, complete, open_source
from alignlearn.statistics.measures import refuse_weights
from alignlearn.validation import check_choice, check_flag, is_part, is_sparse, optional_weights
from alignlearn.validation.frames import is_frame, read_to_fit
from alignlearn.weights import Problem, get_weighting, stage_one, without_target
from alignlearn.weights.base import combination_table, toward_itself

from . import inputs
from .base import Estimator
from .guarantees import sample_ranges
from .integer_codes import with_codes
from .prepared_columns import prepared_to_fit

# Parameters that the machine shares with one-stage rules.
_OF_MACHINE = ("alpha", "C", "epsilon", "multiclass")

FROM_STATISTICS = (
    "result_",
    "statistics_",
    "alignment_",
    "uniform_alignment_",
    "kernel_alignments_",
)


class _FromStatistics:
    """A fitted attribute that is computed at first access, if ``fit`` deferred it."""

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, estimator, owner):
        if estimator is None:
            return self
        fitted = vars(estimator)
        if "_postponed" not in fitted:
            name = type(estimator).__name__
            raise AttributeError(f"{name!r} object has no attribute {self._name!r}")
        estimator._store_result(fitted["_postponed"].result())
        fitted.pop("_postponed", None)
        return fitted[self._name]


class KernelLearner(Estimator):
    """Base of the estimators: learns the combination of ``self.kernels``."""

    kernels: Any
    weighting: Any
    normalize: str | None
    unbiased: bool
    missing: str | None
    verbose: Any
    device: str
    client: Any

    chosen_machine_: str  # for estimators with several machines
    _predictor: Any
    _learned_on = None  # rows to learn weights on; None for all
    _own_weights = False  # whether every target has its own weights
    _had_target = True  # whether the fit had a y

    # Attributes of an instance take precedence over these.
    result_ = _FromStatistics()
    statistics_ = _FromStatistics()
    alignment_ = _FromStatistics()
    uniform_alignment_ = _FromStatistics()
    kernel_alignments_ = _FromStatistics()

    def _engine(self):
        """The engine that evaluates pairs of samples."""
        return open_engine(self.device, self.client)

    def _engine_of_fit(self):
        """The engine of a fit."""
        return self._engine()

    def _accepts_sparse(self):
        return are_per_column(self.kernels) or super()._accepts_sparse()

    def _opened(self, X, sample_weight=None):
        """Start a fit: check the parameters of stage 1; return X prepared, and its source."""
        # A failed fit leaves an unfitted estimator, not a mixture of two fits.
        self._forget("_postponed", "completion_")
        if self.normalize is not None:
            check_choice("normalize", self.normalize, ("trace",))
        get_weighting(self.weighting)
        X = self._prepared(X, sample_weight)
        return X, self._open(X, sample_weight)

    def _learn(self, X, source, y, task):
        """Fit stage 1 to what `_opened` returned and a checked y, or None; the `Combination`."""
        weighting = get_weighting(self.weighting)
        self.__dict__.pop("_had_target", None)
        if y is None:  # statistics treat it as constant
            self._check_needs_none(weighting)
            self._had_target = False
            y, task = np.zeros(source.n_samples), "regression"
        inputs.doubt_scales(X, source.filled, source.kernels)
        inputs.doubt_offsets(source.filled, self.kernels)
        if not source.is_given:
            inputs.doubt_gram_matrix(X)
        inputs.check_room(source, [weighting], self._matrices(source))
        problem = self._problem(source, y, task, rows=self._learned_on)
        found = stage_one.learn(problem, self.weighting, later=self.client is None)
        for name in FROM_STATISTICS:
            self.__dict__.pop(name, None)
        if found.later is not None:
            self._postponed = found.later
        else:
            self._store_result(found.result)
        self._store_columns(X, source.n_features)
        self.scale_, self.weights_ = found.scale, found.weights
        self.kernels_ = source.fitted_kernels
        learned = source.combine(found.weights * found.scale)
        self.kernel_ = learned.kernel
        self._ranges = sample_ranges(source, y, found.weights, is_part=is_part())
        if self.missing == "tables":
            self.completion_ = learned.report() if source.has_gaps else None
        return learned

    def _store_result(self, result):
        """Store the fitted attributes of a `WeightResult`."""
        found = result if self._had_target else toward_itself(result)
        self.result_, self.statistics_, self.alignment_ = found, found.statistics, found.alignment
        self.uniform_alignment_ = found.uniform_alignment
        self.kernel_alignments_ = found.kernel_alignments

    def _prepared(self, X, sample_weight, y=None, task=None):
        """Return the features of a data frame if kernels are the default, otherwise X.

        With a task, integers that are codes by the target are levels, too.
        """
        if self.kernels is not None or self.missing == "tables" or not is_frame(X):
            return X
        frame = read_to_fit("X", X)
        if frame.is_matrix:
            return X
        inputs.check_sample_count(len(frame))
        weight = optional_weights(sample_weight, len(frame))
        frame = frame if task is None else with_codes(frame, y, task, weight)
        return prepared_to_fit(frame, weight)

    def _open(self, X, sample_weight):
        """Open the source on at least two samples, with the estimator's engine."""
        how = {"engine": self._engine_of_fit(), "progress": self.verbose}
        refuse_weights(check_flag("unbiased", self.unbiased), sample_weight)
        how["pairs"] = self.unbiased and is_sparse(X)
        how["gaps"] = self._check_missing() == "tables"
        source = open_source(X, self.kernels, sample_weight=sample_weight, **how)
        inputs.check_sample_count(source.n_samples)
        return source

    def _check_missing(self):
        """The parameter ``missing``, checked; a search has another value for gaps of targets."""
        return None if self.missing is None else check_choice("missing", self.missing, ("tables",))

    def _for_gaps(self, X, learned):
        """The `GappedCombination` of a fit to X without gaps; None if not requested."""
        if self.missing != "tables" or learned.source.has_gaps:
            return None
        return complete(learned, as_tables(X, self.kernels))

    def _taking_gaps(self, predictor, X, learned):
        """Return a predictor that accepts missing tables if the fit does."""
        combination = self._for_gaps(X, learned)
        if combination is None:
            return predictor
        return GappedPredictor(predictor, combination.completion)

    def _takes_gaps(self):
        return getattr(self._predictor, "takes_gaps", False)

    def _problem(self, source, y, task, **known):
        """The `Problem` of stage 1 with these parameters; ``known`` are its further arguments."""
        shared = {name: getattr(self, name) for name in _OF_MACHINE if name in self._parameters()}
        how = {"normalize": self.normalize, "unbiased": self.unbiased, "machine": shared}
        return Problem(source, y, task, **how, **known)

    def _check_needs_none(self, weighting):
        """Raise an error for a rule that needs y, if there is none."""
        if not without_target(weighting):
            raise ValueError(
                f"weighting={self.weighting!r} of {type(self).__name__} requires y to be passed, "
                "but the target y is None; accepted without one: 'uniform', 'consensus', "
                "'max-entropy', 'structure', or a rule whose attribute needs_target is False."
            )

    def _as_plain(self):
        """Return an unfitted estimator with the parameters of this fit and nothing to tune."""
        plain = type(self)(**self.get_params(deep=False))
        plain.chosen_machine_ = self.chosen_machine_
        return plain

    def _check_guarantee(self, what, held_out=False):
        """Raise an error if the guarantee named ``what`` does not hold for this fit."""

    def _matrices(self, source):
        """Number of Gram matrices that the machine holds."""
        return source.n_matrices

    def _machine_note(self):
        """Lines of ``summary`` about the machine."""
        return ()

    def __getstate__(self):
        # A pickle holds support samples only.
        if "_postponed" in vars(self):
            self.statistics_  # noqa: B018
        return super().__getstate__()

    def _check_test(self, X):
        self._check_is_fitted()
        return self._check_columns(X, self._predictor.check)

    def _decisions(self, X):
        """Decisions of the machine on new samples, with the intercept, (n, q)."""
        X = self._check_test(X)
        return self._predictor.decisions(X, self._engine())

    def summary(self, max_rows=30) -> str:
        """The learned combination as a text table.

        Parameters
        ----------
        max_rows : int, default 30
            Maximum number of kernels in the table; those with the largest shares are shown.

        Returns
        -------
        str
            A line per kernel: its own alignment with the target, its weight, and its share
            ``w_k a_k / sum_l w_l a_l`` of the combined kernel's inner product with the target
            (shares sum to 1). Then the alignment of the combination and of equal weights.
        """
        self._check_is_fitted()
        found = self.statistics_, self.weights_, self.kernel_alignments_
        return "\n".join([combination_table(*found, max_rows), *self._verdict()])

    def _kernel_names(self):
        """Names of the kernels, of all machines."""
        return self.statistics_.names

    def _term_weights(self):
        """Weights of the original kernels, (p,), or (p, q) with weights for every target."""
        return (self.weights_.T * self.scale_).T

    def _verdict(self):
        learned, uniform = self.alignment_, self.uniform_alignment_
        if not self._had_target:
            yield "Without a target, alignments are those with the combination itself."
            if self.weights_.max() > self.weights_.min():
                yield f"alignment of equal weights with the combination {uniform:.4f}"
            yield from self._notes()
            return
        equal = self.weights_.max() == self.weights_.min()
        if equal and self.weights_.size > 1:
            yield f"alignment of equal weights {uniform:.4f}"
        elif not equal:
            yield f"alignment of the combination {learned:.4f}, of equal weights {uniform:.4f}"
            if uniform >= learned:
                yield "Equal weights are at least as well aligned: learned weights do not help."
        if getattr(self, "completion_", None) is not None:
            yield from self.completion_.lines()
        if self.result_.fallback:
            yield "The weighting could not be applied; equal weights were used."
        yield from self._notes()

    def _notes(self):
        unidentified = self.result_.unidentified
        if unidentified:
            names = listed([self.statistics_.names[k] for k in unidentified], 10, show=str)
            yield f"Weights the data does not determine: {names}"
        yield from self._machine_note()
        if not self.kernel_.is_psd:
            yield "The learned kernel is not guaranteed to be positive semi-definite."


def linear_coefficients(model):
    """Coefficients of the features, (n_features, q), if the learned kernel is linear."""
    model._check_is_fitted()
    if not model._predictor.is_linear:
        raise AttributeError("coef_ exists only where the learned kernel is linear.")
    return model._predictor.coef
