"""Error bars of ridge regression with a learned kernel: standard deviations and intervals."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from alignlearn._lapack import lower_solve, product
from alignlearn.bounds import conformal
from alignlearn.folds import fold_numbers
from alignlearn.machines.choice import Sizes, matrix_fits, ridge_in_features
from alignlearn.machines.feature_space import WeightedFeatures
from alignlearn.machines.nystrom import NystromFeatures
from alignlearn.machines.smoothers import FeatureSmoother, PairSmoother
from alignlearn.sources import Tables, open_source
from alignlearn.sources.source import row_blocks
from alignlearn.validation import (
    a_part,
    check_memory,
    check_weights,
    doubt,
    is_sparse,
)
from alignlearn.validation.memory import check_gram_memory

from .guarantees import doubt_coverage, many_weights
from .inputs import real_targets
from .kernel_table import training_source

_MATRICES = 3  # (m, m), while the root of the inverse becomes the inverse
_BLOCKS = 4  # (n, m), of shares and what is made of them
_APART = 1e-3  # of the range of y, between predictions of the model and those on given samples
_ROUNDINGS = 16  # of y, which decide where it is far from 0


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
            self._rows, Z = self._nystrom_rows, self._features.rows(slice(None))
            self.smoother = FeatureSmoother(np.array(Z), Y, machine.alpha, weight)
        elif machine.alpha > 0.0 and ridge_in_features(Sizes.of(learned)):
            self._features = WeightedFeatures(learned)
            self._rows, Z = self._feature_rows, self._features.dense()
            self.smoother = FeatureSmoother(np.array(Z), Y, machine.alpha, weight)
        else:
            self._rows, self._features = self._pair_rows, None
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
        rounding = _ROUNDINGS * np.finfo(np.float64).eps * np.abs(Y).max()
        if np.abs(Y - self.smoother.left - decisions).max() > _APART * np.ptp(Y) + rounding:
            raise ValueError("fit holds other samples than those that the model was fitted to.")

    @property
    def _completion(self):
        """What completes new samples, where the combination of the fit does not."""
        return None if self.combination.takes_gaps else getattr(self.predictor, "completion", None)

    def rows(self, X):
        """What the smoother takes of checked samples: kernel values or features, (n, w)."""
        if self._completion is None:
            return self._rows(X)
        return self._completion.extended(self._rows, X, self.combination.source.engine)

    def diagonal(self, X):
        """``k(x, x)`` of checked samples, (n,)."""
        if self._completion is None:
            return self.combination.diagonal(X)
        return self._completion.diagonal(self.combination, X, self.combination.source.engine)

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
        learned, centers = self.combination, self._features.centers
        if learned.source.is_paired:
            samples = learned.source.samples(centers)
            K = learned.products(X, samples, exact=True).matrix(slice(None))
        else:
            K = learned.cross_gram(X, exact=True)[:, centers]
        return lower_solve(self._features.factor, K.T.astype(np.float64)).T

    def variance(self, X):
        """Variance of the mean for each target, (n, c), of checked samples."""
        rows = self.rows(X)
        if self._features is None:
            found = self.smoother.variance(rows, self.diagonal(X))
        elif self.model.chosen_machine_ == "nystrom":
            lost = self.diagonal(X) - np.einsum("ij,ij->i", rows, rows)
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
        elif model._predictor.takes_gaps:
            why = "training samples that lack a table"
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
    room = check_memory("memory", getattr(model, "memory", None))
    if not matrix_fits(Sizes.of_source(source), room):
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
    if not estimator._members:
        return [_Part(1.0, lambda X: X, _opened(estimator._kernel_model(), fit, exact))]
    found = []
    for member in estimator._members:
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
        X, y = estimator._as_fitted(fit[0]), fit[1]
        gaps, engine = estimator._takes_gaps(), estimator._engine()
        source = open_source(X, estimator.kernels, gaps=gaps, engine=engine)
        self._spans = X.spans() if gaps else None
        samples = _split(X.joined(gaps=True), self._spans).__getitem__ if gaps else source.samples
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
                model = type(estimator)(**params).fit(samples(rest), y[rest])
            self.models.append(model)
            left = y[some].reshape(len(some), -1) - model._decisions(samples(some))
            self.residuals[some] = left

    def decisions(self, X, center):
        """By how much checked decisions (n, c) exceed those without each part, (n, K c)."""
        if self._spans is not None:
            X = _split(X, self._spans)
        return np.hstack([center - model._decisions(X) for model in self.models])


def _split(X, spans):
    """Several tables from the columns (m, d) of all."""
    return Tables({name: X[:, span] for name, span in spans.items()})


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
    if estimator._ranges.weighted:
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
    _doubt_learned(estimator)
    parts = _parts(estimator, fit, False)
    m = len(parts[0].opened.smoother.residuals)
    _doubt_few(coverage, m)
    if folds is None:
        low, high = _leave_one_out(estimator, parts, X, coverage)
    else:
        low, high = _leave_folds_out(estimator, parts, X, coverage, _numbers(folds, m))
    return PredictionInterval(estimator._shaped(low), estimator._shaped(high))


def _doubt_learned(estimator):
    """Warn where so much was learned on all samples that leaving one out says too little."""
    members, reasons = estimator._members, []
    if any(member.factors is not None for member in members):
        reasons.append("the scales of the features were learned on all samples")
    for model in [member.model for member in members] or [estimator]:
        reasons += many_weights(model)
    doubt_coverage(
        list(dict.fromkeys(reasons)),
        "With fit=(X, y), refit=True and folds=10 everything is learned again without the samples "
        "that are left out; weighting='uniform' learns nothing.",
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
