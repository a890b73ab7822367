"""The base of kernel regressors: predictions, intervals and guarantees of a fit or of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from alignlearn.bounds import conformal
from alignlearn.machines.scores import TargetScore
from alignlearn.validation import (
    check_count,
    check_flag,
)

from ._machines import machine_note
from .error_bars import PredictionInterval, deviations, interval
from .learner import linear_coefficients
from .model import KernelModel


class KernelRegressor(TargetScore, KernelModel):
    """Base class of `MKLRegressor` and its search: parameters, predictions and guarantees."""

    _estimator_type, _task = "regressor", "regression"
    _paired = "krr"

    epsilon: float
    tol: float
    max_iter: int | None
    random_state: Any

    support_: np.ndarray
    intercept_: Any

    coef_ = property(linear_coefficients)

    def bound(
        self,
        X=None,
        y=None,
        delta=0.05,
        *,
        held_out=False,
        label_range=None,
        radius2=None,
        fixed=None,
        draws=2000,
        random_state=None,
    ):
        """Upper bound on the expected squared error, from training or from held-out samples.

        Of ridge regression from its stability if the kernel was fixed before, and, given the
        training samples, from the complexity of all combinations of the kernels, for predictions
        clipped to the range of the labels. Of any machine from held-out samples, much smaller: by
        betting on the losses of the clipped predictions.

        Parameters
        ----------
        X, y : optional
            The training samples, as in ``fit``, for a bound that holds although the weights were
            learned on them; or, with ``held_out``, samples that played no part in it.
        delta : float in (0, 1), default 0.05
            The bound fails with probability at most ``delta``.
        held_out : bool, default False
        label_range : (low, high)
            Interval that contains all labels of the distribution; required, because a sample does
            not determine it.
        radius2 : float, optional
            Upper bound of ``K_k(x, x)`` over the distribution, for every kernel. Needed for kernels
            without a known maximum (that of a Gaussian is known); not for held-out samples.
        fixed : bool, optional
            Whether kernels and weights were chosen without the training samples. Default: only for
            equal weights with ``normalize=None`` and kernels given by numbers. Weights learned on
            the same samples have no stability, and without X, y only a vacuous bound is left. The
            bound from stability also needs an ``alpha`` that was chosen without the samples; of a
            search it is listed in ``not_met``.
        draws : int, default 2000
            Random vectors of signs by which the complexity is found.
        random_state : int, Generator or None
            Of these signs, or of the orders in which losses are taken.

        Returns
        -------
        RiskBound or, with ``held_out``, HeldOutBound
            ``value`` in units of y^2, ``method``, ``vacuous``, ``empirical_risk``, ``hypotheses``
            and those ``not_met``; the first also ``value_if_fixed``.

        Raises
        ------
        HypothesisNotMet
            A ValueError: for labels outside ``label_range`` or none given; without ``held_out`` for
            negative weights, indefinite kernels, or a diagonal that has no known bound.
        ValueError
            For several targets, an argument out of range, rows that ``fit`` has seen as held out;
            without ``held_out`` for "svr", ``alpha=0``, or other samples than those of ``fit``.
        """
        from .held_out import held_out_risk
        from .learned_bounds import risk_bound

        self._check_is_fitted()
        self._check_guarantee("bound", held_out)
        if (X is None) != (y is None):
            raise ValueError("bound: X and y must be given together.")
        if check_flag("held_out", held_out):
            if X is None:
                raise ValueError("held_out=True needs X and y, samples that fit did not use.")
            return held_out_risk(self, X, y, delta, label_range, random_state)
        sample, seed = None if X is None else (X, y), (draws, random_state)
        return risk_bound(self, sample, delta, label_range, radius2, fixed, seed)

    if TYPE_CHECKING:

        @overload
        def predict(
            self,
            X,
            return_std: Literal[False] = ...,
            *,
            noise: bool = ...,
            fit: Any = ...,
            split: Literal[False] = ...,
        ) -> np.ndarray: ...

        @overload
        def predict(
            self, X, return_std: Literal[False] = ..., *, split: Literal[True]
        ) -> dict[str, np.ndarray]: ...

        @overload
        def predict(
            self, X, return_std: Literal[True], *, noise: bool = ..., fit: Any = ...
        ) -> tuple[np.ndarray, np.ndarray]: ...

    def predict(self, X, return_std=False, *, noise=False, fit=None, split=False):
        """Predictions for n samples, and their standard deviation as a Gaussian process.

        Parameters
        ----------
        X : as in ``fit``, n samples
        return_std : bool, default False
            Return the standard deviation, too. For ridge regression; see Notes.
        noise : bool, default False
            Return the standard deviation of a new observation of weight 1 instead of that of its
            mean.
        fit : tuple (X, y) or (X, y, sample_weight), optional
            The training samples. They are needed for kernels that are linear in the features, for
            "nystrom" and for fits with sample weights, because the model does not store them. They
            are needed once: results are cached, except in copies and pickles.

        split : bool, default False
            Return the part of each table, or of each kernel if there are no tables or names.

        Returns
        -------
        ndarray of shape (n,), or (n, c) if y had columns
            With ``return_std`` a pair of such arrays, with ``split`` a dict of them by name, whose
            sum is the prediction; its last entry is "intercept".

        Raises
        ------
        ValueError
            ``return_std`` for "svr", ``per_target`` or precomputed kernels, which do not contain
            k(x, x) of new samples; ``fit`` is needed, or has other samples than the training
            samples.

        Notes
        -----
        The model is ``y_i = b + f(x_i) + e_i``: f a Gaussian process of covariance ``s^2 K`` with
        the learned kernel K, noise of variance ``s^2 alpha / w_i``, and any constant b alike (a
        flat prior). Its mean given y is the prediction. ``s^2`` is that of the largest restricted
        likelihood for each target, ``y'a / (m - 1)`` with the dual coefficients a and m samples of
        positive weight. Weights are precisions here and not numbers of repetitions: multiplying
        weights and ``alpha`` by a constant does not change the deviations of the mean. K and
        ``alpha`` are treated as known, although they were chosen with the same y. The deviations
        are therefore too small with many kernels and few samples, and have no guarantee
        (docs/guide/error-bars.md). An average of models is the mixture of their posteriors in equal
        parts: its variance is the mean of their variances plus the variance between their
        predictions. For "nystrom", the prior variance of a new sample is exact, and the centers
        explain only a part of it.

        The first call costs a factorization, O(m^3), each sample O(m^2).
        """
        if check_flag("split", split):
            if return_std or noise or fit is not None:
                raise ValueError("split=True cannot be combined with other options of predict.")
            from .contributions import split_decisions

            return {name: self._shaped(part) for name, part in split_decisions(self, X).items()}
        if not check_flag("return_std", return_std):
            if check_flag("noise", noise) or fit is not None:
                raise ValueError("noise and fit require return_std=True.")
            return self._shaped(self._decisions(X))
        return deviations(self, X, check_flag("noise", noise), fit)

    def predict_interval(
        self, X, coverage=0.9, *, folds=None, fit=None, refit=None
    ) -> PredictionInterval:
        """Return prediction intervals for n new samples, by conformal prediction.

        CV+ or the jackknife+: each training sample is left out, alone or with its fold. The
        interval is computed from the predictions without it and their distances from its target.

        Parameters
        ----------
        X : as in ``fit``, n samples
        coverage : float in (0, 1), default 0.9
            Nominal share of targets in their intervals, for each column of y separately.
        folds : int, optional
            Number of random folds of ``m // folds`` samples that are left out in turn (CV+) instead
            of single samples (jackknife+). The ``m % folds`` remaining samples belong to every
            training set. Default with refits: the number from 8 to 12 with the fewest remaining
            samples, 10 in case of ties; single samples for ``m <= 20``. Default without refits:
            single samples.
        fit : tuple (X, y), optional
            The training samples, which the model does not store for precomputed kernels, kernels
            linear in the features, "svr" and "nystrom", and for refits after a strategy. Needed
            once, as in ``predict``.
        refit : bool, optional
            Fit the whole model again without each part: kernels, weights, ``alpha`` and machine.
            False uses the kernel that was learned on all samples, in closed form. Default: refit if
            learning on all samples could reduce the coverage, which means after a search, for
            "svr", and for learned weights of p different kernels with ``p log p > m / 20``.

        Returns
        -------
        PredictionInterval
            ``low, high``, each of the shape of the predictions.

        Raises
        ------
        ValueError
            For ``per_target``, for "svr" with ``refit=False``, and fits with sample weights;
            ``fit`` is needed or holds other samples; an argument out of range.

        Warns
        -----
        DoubtfulResultWarning
            The training samples are too few, ``m < coverage / (1 - coverage)``: the intervals are
            infinite. Or ``refit=False`` where the default refits.

        Notes
        -----
        If samples are exchangeable, intervals from refits contain a new target with probability at
        least ``2 coverage - 1`` for every distribution and every rule of learning (jackknife+).
        With K folds of s samples the bound is lower by
        ``min(2 (1 - 1/K) / (s + 1), (1 - 1/s) / (K + 1))``. The theorem assumes equal folds, and
        the folds are equal: given the samples that belong to every training set, the others and s
        new samples are exchangeable. The probability is over the training samples and the new one.
        The usual coverage is ``coverage``. Parameters that kernels on named columns or tables
        compute from samples, such as ``gamma="scale"``, are not computed again, because they do not
        use targets.

        With ``refit=False`` there is no guarantee if weights or ``alpha`` were learned: with more
        kernels than samples, intervals are much too short (docs/guide/error-bars.md). Different
        kernels are counted by the eigenvalues above 0.1 of the matrix of alignments between
        kernels; of Gaussians of 30 widths there are four.

        The first call costs the refits, or a factorization and an inverse, O(m^3); then each sample
        costs O(m^2), with ``folds`` O(m) for each fold.

        References
        ----------
        Barber, Candes, Ramdas and Tibshirani (2021), Predictive inference with the jackknife+,
        theorems 1 and 4.
        """
        coverage = conformal.check_coverage(coverage)
        folds = check_count("folds", folds)
        refit = refit if refit is None else check_flag("refit", refit)
        return interval(self, X, coverage, folds, fit, refit)

    def _shaped(self, values):
        """Columns (n, c) in the shape of predictions."""
        return values[:, 0] if np.ndim(self.intercept_) == 0 else values

    def _machine_note(self):
        yield machine_note(self.chosen_machine_, len(self.support_))
