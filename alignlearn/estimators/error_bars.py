"""Error bars of ridge regression with a learned kernel: standard deviations and intervals."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np

from alignlearn._lapack import lower_solve, product
from alignlearn.bounds import conformal
from alignlearn.folds import fold_numbers
from alignlearn.machines.feature_space import WeightedFeatures, fits_in_features
from alignlearn.machines.gram_rows import matrix_fits
from alignlearn.machines.nystrom import NystromFeatures
from alignlearn.machines.smoothers import FeatureSmoother, PairSmoother
from alignlearn.sources import open_source
from alignlearn.sources.source import row_blocks
from alignlearn.validation import (
    a_part,
    check_count,
    check_flag,
    check_memory,
    check_weights,
    doubt,
    is_sparse,
)
from alignlearn.validation.memory import check_gram_memory

from .inputs import real_targets
from .kernel_table import training_source

_MATRICES = 3  # (m, m), while the root of the inverse becomes the inverse
_BLOCKS = 4  # (n, m), of shares and what is made of them
_APART = 1e-3  # of the range of y, between predictions of the model and those on given samples


class PredictionInterval(NamedTuple):
    """Intervals for the targets of new samples.

    Attributes
    ----------
    low, high : ndarray of the shape of the predictions

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, MKLRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 1))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=60)
    >>> low, high = MKLRegressor([Gaussian(1.0)], alpha=0.1).fit(X, y).predict_interval(X)
    >>> low.shape, bool((low < high).all())
    ((60,), True)
    """

    low: np.ndarray
    high: np.ndarray


class ErrorBars:
    """Mixin of regressors on a learned kernel: ``predict``, also with its error bars."""

    if TYPE_CHECKING:

        @overload
        def predict(
            self, X, return_std: Literal[False] = ..., *, noise: bool = ..., fit: Any = ...
        ) -> np.ndarray: ...

        @overload
        def predict(
            self, X, return_std: Literal[True], *, noise: bool = ..., fit: Any = ...
        ) -> tuple[np.ndarray, np.ndarray]: ...

    def predict(self, X, return_std=False, *, noise=False, fit=None):
        """Predictions for n samples, and their standard deviation as a Gaussian process.

        Parameters
        ----------
        X : as in ``fit``, n samples
        return_std : bool, default False
            Return the standard deviation, too. For ridge regression; see Notes.
        noise : bool, default False
            The standard deviation of a new observation rather than of the mean it is drawn around.
        fit : tuple (X, y) or (X, y, sample_weight), optional
            The training samples, which the model does not hold for kernels that are linear in the
            features, "nystrom" and fits with sample weights. Needed once: what is made of them is
            kept, but for copies and pickles.

        Returns
        -------
        ndarray of shape (n,), or (n, c) if y had columns
            With ``return_std`` a pair of such arrays.

        Raises
        ------
        ValueError
            ``return_std`` for "svr", ``per_target`` or given matrices, whose k(x, x) of new samples
            is not known; ``fit`` is needed or holds other samples.

        Notes
        -----
        The model is ``y_i = b + f(x_i) + e_i``: f a Gaussian process of covariance ``s^2 K`` with
        the learned kernel K, noise of variance ``s^2 alpha / w_i``, and any constant b alike (a
        flat prior). Its mean given y is the prediction. ``s^2`` is that of the largest restricted
        likelihood for each target, ``y'a / (m - 1)`` with the dual coefficients a; K and ``alpha``
        are taken as if they had been known. They were chosen with the same y, which makes the
        deviations too small where there are many kernels and few samples. An average of machines
        is taken as the mixture of their posteriors in equal parts: its variance is the mean of
        theirs and the variance between their predictions. "nystrom": with the exact prior variance
        of a new sample, of which the centres only explain a part.

        The first call costs a factorisation, O(m^3), each sample O(m^2).
        """
        if not check_flag("return_std", return_std):
            if check_flag("noise", noise) or fit is not None:
                raise ValueError("noise and fit go with return_std=True.")
            return self._shaped(self._decisions(X))
        return deviations(self, X, check_flag("noise", noise), fit)

    def predict_interval(
        self, X, coverage=0.9, *, folds=None, fit=None, refit=False
    ) -> PredictionInterval:
        """Intervals that hold the targets of n new samples, by conformal prediction.

        The jackknife+: every training sample is left out, in closed form, and an interval is made
        of the predictions without each and of how far they were from it.

        Parameters
        ----------
        X : as in ``fit``, n samples
        coverage : float in (0, 1), default 0.9
            Share of the targets that is to lie in their intervals, for each column of y by itself.
        folds : int, optional
            Leave out one of so many random folds at a time (CV+) rather than one sample: much
            faster, one to four times ``predict``, with intervals that are slightly wider.
        fit : tuple (X, y), optional
            The training samples, which the model does not hold for given matrices, kernels that are
            linear in the features and "nystrom". Needed once, as in ``predict``.
        refit : bool, default False
            Fit the whole model again without each part, m or ``folds`` times: kernel, ``alpha`` and
            machine. Takes ``fit``, and every machine, but not given matrices. The fits are kept
            like what else ``fit`` is needed for.

        Returns
        -------
        PredictionInterval
            ``low, high``, each of the shape of the predictions.

        Raises
        ------
        ValueError
            For "svr" and ``per_target`` without ``refit``, and fits with sample weights; ``fit`` is
            needed or holds other samples; an argument out of range.

        Warns
        -----
        DoubtfulResultWarning
            The training samples are too few, ``m < coverage / (1 - coverage)``: the intervals are
            infinite. Or a strategy of `MKLRegressorCV` has learned scales of the features on all
            samples, without ``refit``: intervals may be too short.

        Notes
        -----
        What is guaranteed. If samples are exchangeable, a new target lies in its interval with
        probability at least ``2 coverage - 1`` whatever the law (with ``folds``, less a term of at
        most ``1 / folds``), and usually with ``coverage``, where the whole fit is made again
        without each part. So with ``refit``, but for ``gamma="scale"`` of kernels that are given,
        which reads no targets. Without it the weights of the kernels, and with `MKLRegressorCV`
        also ``alpha``, stay those learned on all samples, and nothing is proved. What that costs
        was measured for an aim of .9 and m = 50: .896 to .898 on three laws where equal weights
        give .902 to .904 (standard error .0016). With m = 500 no difference was seen. Where more is
        learned it costs more: with scales of a hundred features, .79 was measured. See
        docs/guide/error-bars.md, which has ten laws.

        The first call costs a factorisation and an inverse, O(m^3); then each sample costs O(m^2),
        with ``folds`` O(m).

        References
        ----------
        Barber, Candes, Ramdas and Tibshirani (2021), Predictive inference with the jackknife+.
        """
        coverage = conformal.check_coverage(coverage)
        folds = check_count("folds", folds)
        return interval(self, X, coverage, folds, fit, check_flag("refit", refit))

    def _shaped(self, values):
        """Columns (n, c) in the shape of predictions."""
        return values[:, 0] if np.ndim(self.intercept_) == 0 else values

    def __getstate__(self):
        # What is made for error bars has the size of a Gram matrix, and can be made again.
        state = super().__getstate__()
        state.pop("_smoothers", None)
        return state


class _Part(NamedTuple):
    """A machine of an estimator: what its predictions are multiplied by, and its error bars."""

    share: float
    of: Any
    opened: Any


class _Opened:
    """A ridge machine on its training samples.

    Attributes
    ----------
    smoother : PairSmoother or FeatureSmoother
    """

    def __init__(self, model, fit, exact):
        self.model, self.predictor, self.exact = model, model._predictor, exact
        self._without = {}  # by the number of folds, which says what they are
        self.fit, machine = fit, model.machine_
        source, Y, weight = _training(model, fit)
        self.combination = learned = source.combine(model.weights_ * model.scale_)
        if model.chosen_machine_ == "nystrom":
            self._features = NystromFeatures(learned, machine.support_)
            self.rows, Z = self._nystrom_rows, self._features.rows(slice(None))
            self.smoother = FeatureSmoother(np.array(Z), Y, machine.alpha, weight)
        elif machine.alpha > 0.0 and fits_in_features(learned):
            self._features = WeightedFeatures(learned)
            self.rows, Z = self._feature_rows, self._features.dense()
            self.smoother = FeatureSmoother(np.array(Z), Y, machine.alpha, weight)
        else:
            self.rows, self._features = self._pair_rows, None
            _check_room(model, source)
            coef = machine.dual_coef_.reshape(len(machine.dual_coef_), -1)
            coef = coef if fit is None else coef[_used(fit, len(coef))]
            K = np.array(learned.gram(exact), dtype=np.float64, order="C")
            self.smoother = PairSmoother(K, coef, machine.alpha, weight)
        if fit is not None:
            self._check_samples(source, Y)

    def _check_samples(self, source, Y):
        """Raise where predictions on these samples are not those of the fit."""
        decisions = self.predictor.decisions(source.as_new(np.arange(len(Y))), source.engine)
        if np.abs(Y - self.smoother.left - decisions).max() > _APART * np.ptp(Y):
            raise ValueError("fit holds other samples than those that the model was fitted to.")

    def _pair_rows(self, X):
        """Kernel values with the training samples, (n, m)."""
        return np.array(self.combination.cross_gram(X, self.exact), dtype=np.float64)

    def _feature_rows(self, X):
        """Weighted features (n, q)."""
        active, root = self._features.active, self._features.root
        source = self.combination.source
        Z = X.tocsc()[:, active].toarray() if is_sparse(X) else np.asarray(X[:, active], np.float64)
        return (Z - source.mean[active]) * root

    def _nystrom_rows(self, X):
        """Nystrom features (n, r)."""
        centers = self.combination.source.samples(self._features.centers)
        K = self.combination.products(X, centers, exact=True).matrix(slice(None))
        return lower_solve(self._features.factor, K.T.astype(np.float64)).T

    def variance(self, X):
        """Variance of the mean for each target, (n, c), of checked samples."""
        rows = self.rows(X)
        if self._features is None:
            found = self.smoother.variance(rows, self.combination.diagonal(X))
        elif self.model.chosen_machine_ == "nystrom":
            lost = self.combination.diagonal(X) - np.einsum("ij,ij->i", rows, rows)
            found = self.smoother.variance(rows, lost)
        else:
            found = self.smoother.variance(rows)
        return found[:, None] * self.smoother.scale

    def shares(self, X):
        """L, how much each training sample counts in the predictions of checked samples, (n, m)."""
        rows = self.smoother.centered(self.rows(X))
        return product(rows, self.smoother.basis) + 1.0 / self.smoother.total

    def without_folds(self, number):
        """Residuals (m, c) of fits without the fold of each, and how these fits are found.

        That is by coordinates (w, K c) and constants (K c,) of their predictions less those of all.
        """
        n_folds = int(number.max()) + 1
        if n_folds not in self._without:
            smoother = self.smoother
            residuals, columns = np.empty_like(smoother.residuals), []
            for fold in range(n_folds):
                some = np.flatnonzero(number == fold)
                r = residuals[some] = smoother.without(some)
                coordinates = smoother.basis[:, some] @ r
                constant = r.sum(axis=0) / smoother.total - smoother.mean @ coordinates
                columns.append((coordinates, constant))
            found = tuple(np.concatenate(part, axis=-1) for part in zip(*columns))
            self._without[n_folds] = residuals, *found
        return self._without[n_folds]

    def fold_decisions(self, X, number, engine):
        """Decisions (n, c), and by how much they exceed those without each fold, (n, K c)."""
        _, coordinates, constants = self.without_folds(number)
        if self._features is None and not self.exact and self.combination.source.is_paired:
            both = self.predictor.beside(coordinates, constants).decisions(X, engine)
            q = both.shape[1] - len(constants)
            return both[:, :q], both[:, q:]
        shifts = self.rows(X) @ coordinates + constants
        return self.predictor.decisions(X, engine), shifts


def _training(model, fit):
    """The source of the training samples, y (m, c) and the weights; y is None for no ``fit``."""
    if fit is not None:
        _check_tuple(fit, (2, 3))
        if model._ranges.weighted != (len(fit) == 3 and fit[2] is not None):
            raise ValueError(
                "fit must hold the training samples as they were fitted: sample_weight "
                f"{'is missing' if model._ranges.weighted else 'was not given then'}."
            )
        if model._ranges.weighted and model.chosen_machine_ == "nystrom":
            raise ValueError(
                "error bars of machine='nystrom' are for fits without sample_weight; accepted: "
                "machine='krr'."
            )
        source, y = training_source(model, "fit", *fit)
        return source, y.reshape(len(y), -1), source.weight
    source = None
    if not model._ranges.weighted and model.chosen_machine_ != "nystrom":
        source = model._predictor.source(model._engine())
    if source is None:
        why = "given matrices"
        if model._ranges.weighted:
            why = "sample weights"
        elif model._predictor.is_linear:
            why = "kernels linear in the features"
        elif model.chosen_machine_ == "nystrom":
            why = "machine='nystrom'"
        what = "(X, y, sample_weight)" if model._ranges.weighted else "(X, y)"
        raise ValueError(
            f"fit={what} is needed: with {why} the model does not hold the training samples, which "
            "error bars are made of."
        )
    return source, None, None


def _check_tuple(fit, lengths):
    if not isinstance(fit, (tuple, list)) or len(fit) not in lengths:
        weighted = " or (X, y, sample_weight)" if 3 in lengths else ""
        raise TypeError(f"fit must be a tuple (X, y){weighted} of training samples.")


def _used(fit, m):
    return check_weights(fit[2] if len(fit) == 3 else None, m) > 0.0


def _check_room(model, source):
    m = source.n_samples
    if not matrix_fits(source, check_memory("memory", getattr(model, "memory", None))):
        raise ValueError(
            f"error bars need matrices of {m} x {m}, which the parameter memory does not allow; "
            "accepted: more memory, fewer samples, or machine='nystrom'."
        )
    check_gram_memory(m, _MATRICES)


def _refuse(estimator, what, refit=False):
    """Raise an error for machines that are no ridge regression with one kernel."""
    if estimator._own_weights:
        raise ValueError(
            f"{what} is for one kernel; with per_target=True every target has its own. Accepted: "
            "a fit of one target with per_target=False."
        )
    if estimator.chosen_machine_ == "svr" and not refit:
        raise ValueError(
            f"{what} is for ridge regression, which is linear in y; machine='svr' is not. "
            "Accepted: machine='krr', 'nystrom', or predict_interval with refit=True."
        )


def _parts(estimator, fit, exact):
    """The machines of an estimator, opened on their training samples."""
    if "members_" not in vars(estimator):
        return [_Part(1.0, lambda X: X, _opened(estimator, fit, exact))]
    found = []
    for member in estimator.members_:
        given = fit
        if fit is not None and member.factors is not None:
            given = (member.of(estimator._check_test(fit[0])), *fit[1:])
        found.append(_Part(member.share, member.of, _opened(member.model, given, exact, fit)))
    return found


def _opened(model, fit, exact, given=None):
    """The `_Opened` of a fitted model; ``given`` is what stands for ``fit`` to the user."""
    given = fit if given is None else given
    return _kept(model, exact, (fit, given), lambda some: _Opened(model, some, exact))


def _kept(model, key, fits, make):
    """What ``make(fit)`` gave for a fitted model, made once for the same samples.

    ``fits`` are the samples as they are to be used and as they were given, or None; where others
    were given before, for another key, these are used for None.
    """
    kept = vars(model).get("_smoothers")
    if kept is None or kept[0] is not model._predictor:
        kept = vars(model)["_smoothers"] = model._predictor, {}
    used, given = fits
    found = kept[1].get(key)
    if found is not None and (given is None or _same(found[0][1], given)):
        return found[1]
    if given is None:
        earlier = (fits for fits, _ in kept[1].values() if fits[1] is not None)
        used, given = next(earlier, (None, None))
    made = make(used)
    kept[1][key] = (used, given), made
    return made


def _same(kept, given):
    """Whether these are the very same objects."""
    return kept is not None and len(kept) == len(given) and all(map(operator.is_, kept, given))


class _Refits:
    """Fits of an estimator without each part of its samples.

    Attributes
    ----------
    number : ndarray of int of shape (m,)
        The part of each sample.
    residuals : ndarray of shape (m, c)
    """

    def __init__(self, estimator, fit, folds):
        if fit is None or estimator._predictor.is_given:
            raise ValueError(
                "refit=True needs fit=(X, y), the training samples, and kernels that are no given "
                "matrices."
            )
        _check_tuple(fit, (2,))
        X, y = fit
        source = open_source(X, estimator.kernels, engine=estimator._engine())
        if estimator._ranges.rows is not None:
            _check_seen(estimator, source.X)
        m, kernels = source.n_samples, estimator.kernels
        y = real_targets(estimator, y, m).reshape(m, *np.shape(estimator.intercept_))
        self.number = np.arange(m) if folds is None else _numbers(folds, m)
        params = {**estimator.get_params(deep=False), "verbose": False}
        # Names of tables and columns are gone; the default ones stay the default.
        params["kernels"] = None if kernels is None else source.fitted_kernels
        self.models, self.residuals = [], np.empty((m, np.size(estimator.intercept_)))
        for part in range(self.number.max() + 1):
            some, rest = (np.flatnonzero(self.number == part), np.flatnonzero(self.number != part))
            with a_part():
                model = type(estimator)(**params).fit(source.samples(rest), y[rest])
            self.models.append(model)
            left = y[some].reshape(len(some), -1) - model._decisions(source.samples(some))
            self.residuals[some] = left

    def decisions(self, X, center):
        """By how much decisions (n, c) exceed those without each part, (n, K c)."""
        return np.hstack([center - model._decisions(X) for model in self.models])


def _check_seen(estimator, X):
    if estimator._ranges.rows.count(X) < X.shape[0]:
        raise ValueError("fit holds other samples than those that the model was fitted to.")


def deviations(estimator, X, noise, fit):
    """`MKLRegressor.predict` with ``return_std``."""
    X = estimator._check_test(X)
    _refuse(estimator, "return_std")
    if estimator._predictor.is_given:
        raise ValueError(
            "return_std needs k(x, x) of the new samples, which rows of given matrices do not "
            "hold; accepted: kernels that are functions, or predict_interval."
        )
    parts, engine = _parts(estimator, fit, True), estimator._engine()
    mean = estimator._predictor.decisions(X, engine)
    variance = np.zeros_like(mean)
    for share, of, machine in parts:
        own, smoother = of(X), machine.smoother
        for rows in row_blocks(len(mean), _BLOCKS * _width(machine)):
            variance[rows] += share * machine.variance(machine.predictor.take(own, _index(rows)))
        variance += share * smoother.alpha * smoother.scale if noise else 0.0
        if len(parts) > 1:
            variance += share * np.square(machine.predictor.decisions(own, engine) - mean)
    return estimator._shaped(mean), estimator._shaped(np.sqrt(variance))


def interval(estimator, X, coverage, folds, fit, refit):
    """`MKLRegressor.predict_interval`."""
    X = estimator._check_test(X)
    _refuse(estimator, "predict_interval", refit)
    first = estimator.members_[0].model if "members_" in vars(estimator) else estimator
    if first._ranges.weighted:
        raise ValueError(
            "predict_interval rests on samples that are exchangeable, which samples of different "
            "weights are not; accepted: a fit without sample_weight, or predict with "
            "return_std=True."
        )
    if refit:
        found = _kept(
            estimator, ("refit", folds), (fit, fit), lambda some: _Refits(estimator, some, folds)
        )
        _doubt_few(coverage, len(found.number))
        center = estimator._predictor.decisions(X, estimator._engine())
        shifts, residuals = found.decisions(X, center), found.residuals
        low, high = _ends(center, shifts, residuals, coverage, found.number)
        return PredictionInterval(estimator._shaped(low), estimator._shaped(high))
    _doubt_scales(estimator)
    parts = _parts(estimator, fit, False)
    m = len(parts[0].opened.smoother.residuals)
    _doubt_few(coverage, m)
    if folds is None:
        low, high = _leave_one_out(estimator, parts, X, coverage)
    else:
        low, high = _leave_folds_out(estimator, parts, X, coverage, _numbers(folds, m))
    return PredictionInterval(estimator._shaped(low), estimator._shaped(high))


def _doubt_scales(estimator):
    """Warn where so much was learned on all samples that leaving one out says too little."""
    members = vars(estimator).get("members_", ())
    if any(member.factors is not None for member in members):
        doubt(
            "The scales of the features were learned on all samples, also on those that are left "
            "out here: intervals may be too short. With fit=(X, y), refit=True and folds=10 they "
            "are learned again; weighting='alignf' learns none."
        )


def _doubt_few(coverage, m):
    if conformal.rank(coverage, m) > m:
        doubt(
            f"{m} training samples are too few for intervals of coverage {coverage:g}, which are "
            f"infinite then: it takes {conformal.least_samples(coverage)}."
        )


def _numbers(folds, m):
    """The fold of each of m samples."""
    if not 2 <= folds <= m:
        raise ValueError(f"folds={folds}; accepted: 2 to {m}, the number of training samples.")
    return fold_numbers(np.empty(m), folds, False)


def _leave_one_out(estimator, parts, X, coverage):
    """Ends (n, c) of the intervals of the jackknife+."""
    center = estimator._predictor.decisions(X, estimator._engine())
    residuals = sum(part.share * part.opened.smoother.residuals for part in parts)
    own, ends = [part.of(X) for part in parts], np.empty((2, *center.shape))
    for rows in row_blocks(len(center), _BLOCKS * len(parts) * len(residuals)):
        index = _index(rows)
        taken = [part.opened.predictor.take(A, index) for part, A in zip(parts, own)]
        shares = [part.share * part.opened.shares(A) for part, A in zip(parts, taken)]
        for j, radii in enumerate(np.abs(residuals.T)):
            shifts = sum(L * p.opened.smoother.residuals[:, j] for p, L in zip(parts, shares))
            ends[:, rows, j] = conformal.plus_interval(center[rows, j], shifts, radii, coverage)
    return ends


def _leave_folds_out(estimator, parts, X, coverage, number):
    """Ends (n, c) of the intervals of CV+."""
    engine = estimator._engine()
    found = [part.opened.fold_decisions(part.of(X), number, engine) for part in parts]
    center, shifts = (sum(p.share * A for p, A in zip(parts, some)) for some in zip(*found))
    residuals = sum(p.share * p.opened.without_folds(number)[0] for p in parts)
    return _ends(center, shifts, residuals, coverage, number)


def _ends(center, shifts, residuals, coverage, number):
    """Ends (2, n, c) from shifts (n, K c) and the residuals (m, c) and parts of the samples."""
    ends, q = np.empty((2, *center.shape)), center.shape[1]
    for j, radii in enumerate(np.abs(residuals.T)):
        given = center[:, j], shifts[:, j::q], radii, coverage, number
        ends[:, :, j] = conformal.plus_interval(*given)
    return ends


def _width(machine):
    return len(machine.smoother.residuals)


def _index(rows):
    return np.arange(rows.start, rows.stop)
