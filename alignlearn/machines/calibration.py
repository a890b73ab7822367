"""Calibrated class probabilities from a classifier's decisions on held-out samples.

One calibrator for each class against the rest, with normalized values; a single calibrator for two
classes, and for "temperature". Sample weights count repetitions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_softmax, softmax

from alignlearn._text import Result
from alignlearn.validation import warn_unconverged

METHODS = ("sigmoid", "isotonic", "temperature")
_TOL = 1e-10  # of the gradient, per sample and unit spread of the decisions
_FEW = 500  # with so few samples, half of them cannot calibrate the others
_STEEPEST = 2.0**40  # slope in units of the mean logit
_MAX_STEPS, _LEAST_STEP = 100, 1e-10
_RIDGE = 1e-12  # ridge on the Hessian, because all decisions may be equal


@dataclass(frozen=True)
class Sigmoid(Result):
    """``1 / (1 + exp(-(slope f + intercept)))`` of a decision f.

    Attributes
    ----------
    slope, intercept : float
    gradient : float
        Largest entry of the gradient that the fit stopped at, per sample and unit spread of f.
    n_iter : int
        Newton steps.
    """

    slope: float
    intercept: float
    gradient: float = 0.0
    n_iter: int = 0

    def __call__(self, decisions):
        return expit(self.slope * decisions + self.intercept)


@dataclass(frozen=True)
class Isotonic(Result):
    """Linear interpolation of nondecreasing points; constant beyond the first and the last.

    Attributes
    ----------
    decisions, probabilities : ndarray of shape (n,)
    """

    decisions: np.ndarray
    probabilities: np.ndarray

    def __call__(self, decisions):
        return np.interp(decisions, self.decisions, self.probabilities)


@dataclass(frozen=True)
class Temperature(Result):
    """Probabilities ``softmax(slope F)`` of class logits F (n, c).

    For two classes it is a sigmoid of the decision without an intercept.

    Attributes
    ----------
    slope : float
        The inverse of the temperature, not negative.
    """

    slope: float

    def __call__(self, logits):
        return softmax(self.slope * logits, axis=1)


def surprise(decisions):
    """``-log softmax`` of the decisions, (n, c): the score of every class for conformal prediction.

    It has no fitted numbers. Calibrated probabilities are fitted to the out-of-fold decisions of
    all samples, so their scores would be too small for these samples.

    Parameters
    ----------
    decisions : ndarray of shape (n,) for two classes, else (n, c)
    """
    if decisions.ndim == 1:
        decisions = np.column_stack([-decisions, decisions])
    return -log_softmax(decisions, axis=1)


@dataclass(frozen=True)
class Calibration(Result):
    """Probabilities of c classes from their decisions.

    Attributes
    ----------
    calibrators : tuple of Sigmoid or Isotonic
        One for each class; for two classes one, of the second.
    scores : tuple of ndarray of shape (n_t,)
        `surprise` of the class of each sample outside a training set, by training set.
    codes : tuple of ndarray of int of shape (n_t,)
        Their classes, 0 to c - 1.
    """

    calibrators: tuple
    scores: tuple = ()
    codes: tuple = ()

    @property
    def of_logits(self):
        """Whether the decisions are class logits (n, c), see `class_logits`."""
        return isinstance(self.calibrators[0], Temperature)

    def probabilities(self, decisions):
        """Probabilities (n, c) from decisions (n,) for two classes, else (n, c).

        Values of the classes are divided by their sum; if all are 0, classes are equally likely.
        """
        if self.of_logits:
            return self.calibrators[0](decisions)
        if len(self.calibrators) == 1:
            second = self.calibrators[0](decisions)
            return np.column_stack([1.0 - second, second])
        columns = zip(self.calibrators, decisions.T)
        values = np.column_stack([calibrator(column) for calibrator, column in columns])
        total = values.sum(axis=1, keepdims=True)
        equal = np.full(values.shape, 1.0 / values.shape[1])
        return np.divide(values, total, out=equal, where=total > 0.0)


@dataclass(frozen=True)
class LabelCalibration(Result):
    """Probabilities of many labels, each from its own decision.

    Attributes
    ----------
    calibrators : tuple of Sigmoid, Isotonic or None
        None for a label that is constant.
    """

    calibrators: tuple

    def probabilities(self, decisions):
        """Probabilities (n, c) of 1, from decisions (n, c); 0 or 1 if a label is constant."""
        columns = [
            np.where(f > 0.0, 1.0, 0.0) if calibrator is None else calibrator(f)
            for calibrator, f in zip(self.calibrators, decisions.T)
        ]
        return np.column_stack(columns)


def fit_label_calibration(method, decisions, Y, weight=None) -> LabelCalibration:
    """Fit a calibrator for each label to decisions on held-out samples.

    Parameters
    ----------
    method : {"sigmoid", "isotonic", "temperature"}
        "temperature" is a sigmoid without an intercept.
    decisions : ndarray of shape (n, c)
    Y : ndarray of int of shape (n, c)
        0 and 1.
    weight : ndarray of shape (n,), optional
        Sample weights, positive.
    """
    found = []
    for f, y in zip(decisions.T, Y.T):
        if y.min() == y.max():
            found.append(None)
        elif method == "temperature":
            one = fit_calibration(method, np.outer(f, [-0.5, 0.5]), y, 2, weight)
            found.append(Sigmoid(one.calibrators[0].slope, 0.0))
        else:
            found.append(fit_calibration(method, f, y, 2, weight).calibrators[0])
    return LabelCalibration(tuple(found))


def fit_calibration(method, decisions, codes, n_classes, weight=None) -> Calibration:
    """Fit calibrators to decisions on held-out samples.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}
    decisions : ndarray of shape (n,) for two classes, else (n, c)
    codes : ndarray of int of shape (n,)
        Classes of the samples, 0 to c - 1.
    n_classes : int
    weight : ndarray of shape (n,), optional
        Sample weights, positive.

    Warns
    -----
    ConvergenceWarning
        A sigmoid stopped above its tolerance.
    """
    weight = np.ones(len(codes)) if weight is None else weight
    if method == "temperature":
        return Calibration((fit_temperature(decisions, codes, weight),))
    fit = fit_sigmoid if method == "sigmoid" else fit_isotonic
    columns = {1: decisions} if n_classes == 2 else dict(enumerate(decisions.T))
    return Calibration(tuple(fit(f, codes == k, weight) for k, f in columns.items()))


def fit_sigmoid(decisions, positive, weight) -> Sigmoid:
    """Fit a sigmoid by maximum likelihood, with Platt's targets instead of 0 and 1.

    Newton's method with a line search, on decisions with mean 0 and standard deviation 1.

    Parameters
    ----------
    decisions : ndarray of shape (n,)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,)

    References
    ----------
    Platt (1999), Probabilistic outputs for support vector machines, section 2.2, for the targets.
    Lin, Lin and Weng (2007), A note on Platt's probabilistic outputs, for Newton's method.
    """
    found = _sigmoid(decisions, positive, weight)
    if found.gradient > _TOL:
        remedy = "its probabilities are the less exact for it"
        certificate = "a gradient per sample of", found.gradient
        warn_unconverged("The sigmoid", f"{found.n_iter} steps", *certificate, _TOL, remedy)
    return found


def _sigmoid(decisions, positive, weight):
    """Return the `Sigmoid` of maximum likelihood, converged or not."""
    above, below = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (above + 1.0) / (above + 2.0), 1.0 / (below + 2.0))
    total, center = above + below, np.average(decisions, weights=weight)
    spread = np.sqrt(np.average(np.square(decisions - center), weights=weight)) or 1.0
    F = np.column_stack([(decisions - center) / spread, np.ones(len(weight))])
    start = np.array([0.0, np.log((above + 1.0) / (below + 1.0))])
    line, reached, n_iter = _most_likely_line(F, target, weight / total, start)
    slope = line[0] / spread
    return Sigmoid(float(slope), float(line[1] - slope * center), reached, n_iter)


def sigmoid_log_loss(decisions, positive, weight=None) -> float:
    """Return the mean log loss of two classes at the best sigmoid of the decisions.

    The sigmoid has an intercept and does not decrease: decisions that rank the classes in reverse
    score like a constant.

    Parameters
    ----------
    decisions : ndarray of shape (n,)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,), optional
        Positive.
    """
    weight = np.ones(len(decisions)) if weight is None else weight * (len(weight) / weight.sum())
    found = _sigmoid(decisions, positive, weight)
    if found.slope < 0.0:
        found = _sigmoid(np.zeros(len(decisions)), positive, weight)
    z = found.slope * decisions + found.intercept
    return float(np.average(np.logaddexp(0.0, np.where(positive, -z, z)), weights=weight))


def fit_temperature(logits, codes, weight) -> Temperature:
    """Fit the slope of maximum likelihood, with smoothed targets instead of 0 and 1.

    The target of a sample's class is ``(n + 1) / (n + 2)`` for n samples of the class, as in
    Platt's method; the rest is shared equally by the other classes.

    Parameters
    ----------
    logits : ndarray of shape (n, c)
    codes : ndarray of int of shape (n,)
    weight : ndarray of shape (n,)

    References
    ----------
    Guo, Pleiss, Sun and Weinberger (2017), On calibration of modern neural networks, section 4.2;
    Platt (1999), section 2.2, for the targets.
    """
    n, c = logits.shape
    unit = np.abs(logits).mean() or 1.0
    F, share = logits / unit, weight / weight.sum()
    sizes = np.bincount(codes, weights=weight, minlength=c)
    T = np.repeat(1.0 / ((sizes[codes] + 2.0) * (c - 1)), c).reshape(n, c)
    T[np.arange(n), codes] = (sizes[codes] + 1.0) / (sizes[codes] + 2.0)

    def gradient(slope):
        return share @ ((softmax(slope * F, axis=1) - T) * F).sum(axis=1)

    high = 1.0
    while gradient(high) < 0.0 and high < _STEEPEST:
        high *= 2.0
    if gradient(0.0) >= 0.0:  # also where all logits are 0
        return Temperature(0.0)
    return Temperature(float(brentq(gradient, 0.0, high, xtol=_TOL) / unit))


def cross_calibrated(logits, codes, known):
    """Probabilities of samples, each by the `Temperature` of the other parts of the samples.

    There are two parts, or five if half of the samples are too few.

    Parameters
    ----------
    logits : ndarray of shape (n, c)
    codes : ndarray of int of shape (n_known,)
        Classes of the samples that are ``known``, 0 to c - 1.
    known : ndarray of bool of shape (n,)
        Samples whose class is known; the others are calibrated by all known ones.

    Returns
    -------
    ndarray of shape (n, c)
    """
    n_parts = 5 if len(codes) < _FEW else 2
    number = np.empty(len(codes), dtype=np.intp)
    number[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % n_parts
    own, found = logits[known], np.empty(logits.shape)
    found[~known] = fit_temperature(own, codes, np.ones(len(codes)))(logits[~known])
    P = np.empty(own.shape)
    for part in np.unique(number):
        inside = number == part
        others = ~inside if (~inside).any() else inside
        P[inside] = fit_temperature(own[others], codes[others], np.ones(others.sum()))(own[inside])
    found[known] = P
    return found


def _most_likely_line(F, target, share, line):
    """Logistic regression of targets in (0, 1) on the two columns of F, by Newton's method.

    Returns the coefficients, the largest entry of the gradient, and the number of steps.
    """

    def loss(line):
        z = F @ line
        return share @ (np.logaddexp(0.0, z) - target * z)

    value = loss(line)
    for n_iter in range(_MAX_STEPS + 1):
        p = expit(F @ line)
        gradient = F.T @ (share * (p - target))
        reached = float(np.abs(gradient).max())
        if reached <= _TOL or n_iter == _MAX_STEPS:
            break
        H = (F.T * (share * p * (1.0 - p))) @ F
        H.flat[::3] += _RIDGE
        direction = np.linalg.solve(H, gradient)
        step, slope = 1.0, gradient @ direction
        # Values that agree to rounding do not stop the iteration: the gradient is the certificate.
        while loss(line - step * direction) > value - 1e-4 * step * slope + 1e-15:
            step *= 0.5
            if step < _LEAST_STEP:
                return line, reached, n_iter
        line = line - step * direction
        value = loss(line)
    return line, reached, n_iter


def fit_isotonic(decisions, positive, weight) -> Isotonic:
    """Fit a nondecreasing function by least squares, by pooling adjacent violators.

    Parameters as in `fit_sigmoid`.

    References
    ----------
    Barlow, Bartholomew, Bremner and Brunk (1972), Statistical inference under order restrictions;
    Zadrozny and Elkan (2002) for calibration.
    """
    x, place = np.unique(decisions, return_inverse=True)
    weight_at = np.bincount(place.ravel(), weights=weight)
    share_at = np.bincount(place.ravel(), weights=weight * positive) / weight_at
    means, weights, last = [], [], []
    for k, (mean, size) in enumerate(zip(share_at.tolist(), weight_at.tolist())):
        while means and means[-1] >= mean:
            other = weights.pop()
            mean = (means.pop() * other + mean * size) / (other + size)
            size += other
            last.pop()
        means.append(mean)
        weights.append(size)
        last.append(k)
    first = np.append(0, np.array(last[:-1], dtype=int) + 1)
    ends = np.unique(np.concatenate([first, last]))
    block = np.searchsorted(last, ends)
    return Isotonic(x[ends], np.array(means)[block])
