"""Error bars of ridge regression with a learned kernel: standard deviations and intervals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from alignlearn._lapack import lower_solve, product
from alignlearn.bounds import conformal
from alignlearn.machines.choice import Sizes, matrix_fits, ridge_in_features
from alignlearn.machines.feature_space import WeightedFeatures
from alignlearn.machines.nystrom import NystromFeatures
from alignlearn.machines.smoothers import FeatureSmoother, PairSmoother
from alignlearn.sources.source import row_blocks
from alignlearn.validation import (
    check_memory,
    check_weights,
    doubt,
    is_sparse,
)
from alignlearn.validation.memory import check_gram_memory

from .guarantees import doubt_coverage, many_weights
from .refits import Refits, fold_of_each, is_search, keep, own_folds, training

_MATRICES = 3  # (m, m) matrices while the inverse is computed from its root
_BLOCKS = 4  # (n, m) matrices, for shares and values computed from them
_APART = 1e-3  # accepted difference of predictions, relative to the range of y
_FEW = 20  # samples up to which one is left out at a time, rather than folds
_ROUNDINGS = 16  # standard deviations of y above which its mean is far from 0


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
    """A machine of an estimator: the factor of its predictions, and its error bars."""

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
        self._without = {}  # by the number of folds, which determines them
        self.fit, machine = fit, model.machine_
        source, Y, weight = training(model, fit)
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
        """Raise an error if predictions on these samples are not those of the fit."""
        decisions = self.predictor.decisions(source.as_new(np.arange(len(Y))), source.engine)
        rounding = _ROUNDINGS * np.finfo(np.float64).eps * np.abs(Y).max()
        if np.abs(Y - self.smoother.left - decisions).max() > _APART * np.ptp(Y) + rounding:
            raise ValueError(
                "fit contains samples on which the model was not fitted; accepted: the "
                "training samples."
            )

    @property
    def _completion(self):
        """The completion of new samples, if the combination of the fit has none."""
        return None if self.combination.takes_gaps else getattr(self.predictor, "completion", None)

    def rows(self, X):
        """The smoother's input for checked samples: kernel values or features, (n, w)."""
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
        """L, the weight of each training sample in the predictions of checked samples, (n, m)."""
        rows = self.smoother.centered(self.rows(X))
        return product(rows, self.smoother.basis) + 1.0 / self.smoother.total

    def without_folds(self, number):
        """Residuals (m, c) of fits without the fold of each sample, and these fits.

        Fits are given by coordinates (w, K c) and constants (K c,) of their predictions minus those
        of all samples.
        """
        n_folds = int(number.max()) + 1
        if n_folds not in self._without:
            smoother = self.smoother
            residuals, columns = np.zeros_like(smoother.residuals), []
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
        """Decisions (n, c), and their excess over those without each fold, (n, K c)."""
        _, coordinates, constants = self.without_folds(number)
        if self._features is None and not self.exact and self.combination.source.is_paired:
            both = self.predictor.beside(coordinates, constants).decisions(X, engine)
            q = both.shape[1] - len(constants)
            return both[:, :q], both[:, q:]
        shifts = self.rows(X) @ coordinates + constants
        return self.predictor.decisions(X, engine), shifts


def _used(fit, m):
    return check_weights(fit[2] if len(fit) == 3 else None, m) > 0.0


def _check_room(model, source):
    m = source.n_samples
    room = check_memory("memory", getattr(model, "memory", None))
    if not matrix_fits(Sizes.of_source(source), room):
        raise ValueError(
            f"error bars need matrices of {m} x {m}, which exceed the parameter "
            "memory; accepted: more memory, fewer samples, or machine='nystrom'."
        )
    check_gram_memory(m, _MATRICES)


def _refuse(estimator, what, refit=False):
    """Raise an error for machines that are not ridge regression with one kernel."""
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
    """The `_Opened` of a fitted model; ``given`` is the name of ``fit`` in messages."""
    given = fit if given is None else given
    return keep(model, exact, (fit, given), lambda some: _Opened(model, some, exact))


def deviations(estimator, X, noise, fit):
    """`MKLRegressor.predict` with ``return_std``."""
    X = estimator._check_test(X)
    _refuse(estimator, "return_std")
    if estimator._predictor.is_given:
        raise ValueError(
            "return_std needs k(x, x) of the new samples, which precomputed kernels do "
            "not contain; accepted: kernel functions, or predict_interval."
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
    _refuse(estimator, "predict_interval", refit is not False)
    if refit is None:
        refit = bool(_learned(estimator)) or estimator.chosen_machine_ == "svr"
        folds = own_folds(estimator) if refit and folds is None else folds
    if estimator._ranges.weighted:
        raise ValueError(
            "predict_interval assumes exchangeable samples, and samples of different weights are "
            "not exchangeable; accepted: a fit without sample_weight, or predict with "
            "return_std=True."
        )
    if refit:
        low, high = _refitted(estimator, X, coverage, folds, fit)
        return PredictionInterval(estimator._shaped(low), estimator._shaped(high))
    doubt_coverage(
        _learned(estimator),
        "With refit=None or refit=True everything is learned again without the samples left out; "
        "weighting='uniform' learns no weights.",
    )
    parts = _parts(estimator, fit, False)
    m = len(parts[0].opened.smoother.residuals)
    if folds is None:
        _doubt_few(coverage, m)
        low, high = _leave_one_out(estimator, parts, X, coverage)
    else:
        number = fold_of_each(folds, m)
        _doubt_few(coverage, np.count_nonzero(number >= 0))
        low, high = _leave_folds_out(estimator, parts, X, coverage, number)
    return PredictionInterval(estimator._shaped(low), estimator._shaped(high))


def _refitted(estimator, X, coverage, folds, fit):
    """Ends (n, c) of the intervals from complete refits."""
    found = keep(
        estimator,
        ("refit", folds),
        (fit, fit),
        lambda some: Refits(estimator, some, folds, lambda model, Z: model._decisions(Z)),
    )
    residuals = np.zeros((len(found.number), np.size(estimator.intercept_)))
    for part, values in enumerate(found.values):
        y = found.y[found.number == part]
        residuals[found.number == part] = y.reshape(values.shape) - values
    _doubt_few(coverage, np.count_nonzero(found.number >= 0))
    center = estimator._predictor.decisions(X, estimator._engine())
    shifts = np.hstack([center - values for values in found.of(X)])
    return _ends(center, shifts, residuals, coverage, found.number)


def _learned(estimator):
    """The parts learned on all samples, whose influence later leave-one-out does not remove."""
    if not is_search(estimator):
        return many_weights(estimator)
    reasons = ["alpha or C was chosen on all samples"]
    if any(member.factors is not None for member in estimator._members):
        reasons.append("the scales of the features were learned on all samples")
    for model in [member.model for member in estimator._members] or [estimator]:
        reasons += many_weights(model)
    return list(dict.fromkeys(reasons))


def _doubt_few(coverage, m):
    if conformal.rank(coverage, m) > m:
        doubt(
            f"{m} training samples are too few for intervals of coverage {coverage:g}, so the "
            f"intervals are infinite; at least {conformal.least_samples(coverage)} are needed."
        )


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
    used = number >= 0
    residuals, number = residuals[used], number[used]
    ends, q = np.empty((2, *center.shape)), center.shape[1]
    for j, radii in enumerate(np.abs(residuals.T)):
        given = center[:, j], shifts[:, j::q], radii, coverage, number
        ends[:, :, j] = conformal.plus_interval(*given)
    return ends


def _width(machine):
    return len(machine.smoother.residuals)


def _index(rows):
    return np.arange(rows.start, rows.stop)
