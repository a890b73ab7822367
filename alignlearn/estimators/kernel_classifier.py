"""The base of kernel classifiers: predictions, intervals and guarantees of a fit or of a search."""

from __future__ import annotations

from typing import Any

import numpy as np

from alignlearn.machines.scores import LabelScore
from alignlearn.solvers.multiclass import predicted_labels
from alignlearn.validation import (
    check_flag,
)

from . import per_label
from ._calibrated import AUTO, class_sets, probabilities
from ._machines import (
    machine_note,
)
from .learner import linear_coefficients
from .model import KernelModel


class KernelClassifier(LabelScore, KernelModel):
    """Base class of `MKLClassifier` and its search: parameters, predictions and guarantees."""

    _estimator_type, _task = "classifier", "classification"
    _paired = "svm"

    multiclass: str
    class_weight: Any
    tol: float
    max_iter: int | None
    random_state: Any
    probability: str | None
    per_label: bool

    classes_: np.ndarray
    models_: tuple
    support_: np.ndarray
    machine_: Any
    _uncalibrated: str

    coef_ = property(linear_coefficients)

    @property
    def alignment_interval_(self):
        """95% confidence interval for the population alignment of the learned kernel.

        It accounts for weights learned on the same samples by a union bound over the kernels, in
        closed form from the fitted attributes. An `AlignmentInterval` with ``low``, ``high``,
        ``vacuous``, ``method``, its assumptions (``hypotheses``), and the assumptions known to be
        ``not_met``. Other levels: `alignlearn.estimators.alignment_intervals.learned_interval`; a
        shorter interval: ``alignment_interval``, which takes samples.
        """
        from .alignment_intervals import learned_interval

        self._check_is_fitted()
        self._check_guarantee("alignment_interval_")
        return learned_interval(self)

    def alignment_interval(self, X, y, delta=0.05, *, held_out=False, radius2=None, random_state=0):
        """Confidence interval for the population alignment of the learned kernel, by betting.

        Parameters
        ----------
        X, y
            The training samples, as in ``fit``; or, with ``held_out``, samples not used in ``fit``.
        delta : float in (0, 1), default 0.05
        held_out : bool, default False
            False: a union bound over the kernels and their pairs accounts for weights learned on
            these samples. True: no union bound is needed, and the interval is shorter for the same
            number of samples.
        radius2 : float, optional
            Upper bound of ``K_k(x, x)`` over the distribution, for every kernel. Required for
            kernels without a known maximum. (That of a Gaussian is known.)
        random_state : int, Generator or None, default 0
            Seed of the random orders, to be chosen without looking at the result.

        Returns
        -------
        AlignmentInterval

        Raises
        ------
        ValueError
            For more than two classes, other samples than those of ``fit`` without ``held_out``,
            training rows with it (parts of precomputed kernels cannot be recognized), or
            an argument out of range.

        Notes
        -----
        One Gram matrix (m, m) is held at a time.
        """
        from .alignment_intervals import sample_interval

        self._check_is_fitted()
        self._check_guarantee("alignment_interval", held_out)
        return sample_interval(self, X, y, delta, held_out, radius2, random_state)

    def bound(
        self, X, y, delta=0.05, *, held_out=False, radius2=None, draws=2000, random_state=None
    ):
        """Upper bound on the error probability, from training or from held-out samples.

        From training samples it holds although the weights were learned on them, for two classes:
        it is the smaller of a margin bound by Rademacher complexity and a PAC-Bayes bound, each
        simultaneously for all nonnegative kernel weights, all C and all norms. From held-out
        samples it is the exact binomial bound, which is much smaller.

        Parameters
        ----------
        X, y
            The training samples, as in ``fit``; or, with ``held_out``, samples not used in ``fit``.
        delta : float in (0, 1), default 0.05
            The bound fails with probability at most ``delta``.
        held_out : bool, default False
        radius2 : float, optional
            Upper bound of ``K_k(x, x)`` over the distribution, for every kernel. Needed for kernels
            without a known maximum (that of a Gaussian is known); not for held-out samples.
        draws : int, default 2000
            Number of random sign vectors that estimate the complexity.
        random_state : int, Generator or None
            Of these signs.

        Returns
        -------
        ErrorBound or, with ``held_out``, HeldOutBound
            ``value``, ``empirical_risk``, ``vacuous``, ``hypotheses`` and those ``not_met``; the
            first also ``by_margin`` and ``by_random_predictors``, the second ``method``.

        Raises
        ------
        HypothesisNotMet
            A ValueError: without ``held_out``, for negative weights, indefinite kernels, or a
            kernel whose diagonal has no known bound.
        ValueError
            Without ``held_out`` for more than two classes or other samples than those of ``fit``,
            with it for rows that ``fit`` has seen; for an argument out of range.

        Notes
        -----
        Without ``held_out`` it evaluates all kernels on all pairs of samples, and their products
        with the random signs cost ``draws`` times that many multiplications.
        """
        from .held_out import held_out_error
        from .learned_bounds import error_bound

        self._check_is_fitted()
        self._check_guarantee("bound", held_out)
        if check_flag("held_out", held_out):
            return held_out_error(self, X, y, delta)
        if self.chosen_machine_ == "nystrom":
            raise ValueError(
                "bound is available only for machine='svm' or for held-out samples (held_out=True)."
            )
        return error_bound(self, X, y, delta, radius2, draws, random_state)

    def decision_function(self, X) -> np.ndarray:
        """Confidence of each class.

        Parameters
        ----------
        X : as in ``fit``, n samples

        Returns
        -------
        ndarray of shape (n,) or (n, c)
            For two classes positive for ``classes_[1]``; otherwise one column per class, with
            "ovo" its votes plus the summed decisions squeezed into (-1/3, 1/3). Of many labels
            (n, c), positive for 1; -1 or 1 for a label that was constant in ``fit``.
        """
        if "models_" in vars(self):
            return per_label.decisions(self, X)
        raw = self._decisions(X)
        return self.machine_.confidences(raw)

    def __sklearn_is_fitted__(self):
        return "models_" in vars(self) or super().__sklearn_is_fitted__()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _check_one_label(self, what):
        """Raise an error for a fit with many labels."""
        self._check_is_fitted()
        if self.classes_.ndim == 2:
            per_label.refuse(what, "models_" in vars(self))

    def _check_guarantee(self, what, held_out=False):
        self._check_one_label(what)
        super()._check_guarantee(what, held_out)

    def _kernel_weights(self):
        if "models_" not in vars(self):
            return super()._kernel_weights()
        return self.weights_.mean(axis=1), f", means over {len(self.models_)} labels"

    def _check_table(self, X):
        if "models_" in vars(self):
            self._check_one_label("kernel_table")

    def summary(self, max_rows=30) -> str:
        """The learned combination as a text table; with ``per_label`` a line for each label.

        Parameters
        ----------
        max_rows : int, default 30
            With more kernels than this, those of the largest shares are shown; the first labels.

        Returns
        -------
        str
            A line per kernel: its own alignment with the target, its weight, and its share
            ``w_k a_k / sum_l w_l a_l`` of the combined kernel's inner product with the target
            (shares sum to 1). Then the alignment of the combination and of equal weights.
        """
        self._check_is_fitted()
        if "models_" in vars(self):
            return per_label.summary(self, max_rows)
        return super().summary(max_rows)

    def predict(self, X) -> np.ndarray:
        """Label of the largest confidence for each of n samples, shape (n,).

        Of many labels 0 and 1, shape (n, c).
        """
        return predicted_labels(self.decision_function(X), self.classes_)

    @property
    def predict_proba(self):
        """``predict_proba(X)``: probability of each class, in the order of ``classes_``, (n, c).

        Of many labels the probability of 1 for each, (n, c), as of scikit-learn's
        ``OneVsRestClassifier``; else rows sum to 1. Not where ``probability`` was None in ``fit``.
        The largest one need not be
        that of ``predict``, which is the machine's decision; with "temperature" it is.
        """
        if self.probability is None:
            raise AttributeError(
                f"this {type(self).__name__} has no predict_proba, because "
                "probability=None; set probability='sigmoid', 'isotonic' or 'temperature' before "
                "fit."
            )
        if self.probability == AUTO and vars(self).get("_uncalibrated"):
            raise AttributeError(
                f"this {type(self).__name__} has no predict_proba, because "
                f"{self._uncalibrated}; set cv to folds whose training sets contain "
                "every class."
            )
        return self._predict_proba

    def _predict_proba(self, X):
        if "models_" in vars(self):
            return per_label.label_probabilities(self, X)
        return probabilities(self, X)

    _predict_proba.__name__ = "predict_proba"  # scikit-learn's stacking reads it

    def predict_set(self, X, coverage=0.9, *, per_class=False, fit=None, refit=None):
        """Prediction sets of classes for n new samples, by conformal prediction.

        For fits with ``probability``. The decisions on held-out folds determine the sets.

        Parameters
        ----------
        X : as in ``fit``, n samples
        coverage : float in (0, 1), default 0.9
            Nominal share of samples whose class is in its set.
        per_class : bool, default False
            Whether the coverage should hold within every class, also a rare one.
        fit : tuple (X, y), optional
            The training samples, for refits. Needed once: the refits are kept, except copies and
            pickles.
        refit : bool, optional
            Fit the whole model again, calibration included, without each of about ten folds, as in
            `MKLRegressor.predict_interval`. Default: after a strategy.

        Returns
        -------
        ndarray of bool of shape (n, c)
            Columns as ``classes_``. The most probable class is always in the set.

        Raises
        ------
        ValueError
            The fit had no ``probability``, or had sample weights; ``fit`` is needed or holds other
            samples; an argument is out of range.

        Warns
        -----
        DoubtfulResultWarning
            The training samples, or those of a class, are too few: sets hold all classes, or it.
            Or ``refit=False`` where the default refits.

        Notes
        -----
        With refits the guarantee is that of `MKLRegressor.predict_interval`: coverage of at least
        ``2 coverage - 1``, less the term of its folds, for every distribution.

        Without refits the models of the five folds of the fit are used. A class is in the set where
        not too many samples had, by the model that left them out, a larger share of the softmax of
        the decisions at their class than the new sample has at this class by the same model (CV+).
        Models and weights of kernels are learned without the fold. Calibrated probabilities are not
        compared, because the calibration uses the decisions on all folds. `MKLClassifierCV` has
        selected C on all samples. After a strategy there are no models of folds, so decisions on
        folds are compared with the model of all samples, without a guarantee.

        See docs/guide/error-bars.md for the coverage on ten distributions, and
        docs/guide/coverage.md for how often the guarantee fails.

        References
        ----------
        Romano, Sesia and Candes (2020), Classification with valid and adaptive coverage; Vovk
        (2015), Cross-conformal predictors.
        """
        self._check_one_label("predict_set")
        return class_sets(self, X, coverage, per_class, fit, refit)

    def _machine_note(self):
        yield machine_note(self.chosen_machine_, len(self.support_))
