"""Bounds of the risk that hold although the weights of the kernels were learned on the sample.

What is proved is in `alignlearn.theory.bounds.learned`; here the numbers it needs are computed from
a fitted estimator and its training samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from alignlearn.validation import check_count, check_labels, check_seed, check_targets

from . import guarantees
from .complexity import open_psd, sign_forms


@dataclass(frozen=True)
class ErrorBound:
    """Upper bound of the probability that a fitted classifier errs.

    Attributes
    ----------
    value : float
        The probability of error is at most this, with probability 1 - delta; the smaller of the
        next two, each of which holds with probability 1 - delta/2.
    by_margin : float
        From the margins on the sample and the Rademacher complexity of the class.
    by_random_predictors : float
        PAC-Bayes: from the margins and the norm of the predictor.
    empirical_risk : float
        Share of errors on the training samples.
    size : float
        sum_k R_k ||f_k|| + |b| of the predictor.
    complexity : float
        Of the predictors of size 1, with what random signs may hide.
    delta : float
    vacuous : bool
        True if it is no less than 1/2 or the share of the smaller class in the sample.
    hypotheses, not_met : tuple of str
        As in `AlignmentInterval`.
    """

    value: float
    by_margin: float
    by_random_predictors: float
    empirical_risk: float
    size: float
    complexity: float
    delta: float
    vacuous: bool
    hypotheses: tuple[str, ...]
    not_met: tuple[str, ...] = ()

    def __str__(self):
        head = (
            f"probability of error at most {self.value:.4g} with probability {1 - self.delta:g} "
            f"(training: {self.empirical_risk:.4g}; from margins {self.by_margin:.4g}, PAC-Bayes "
            f"{self.by_random_predictors:.4g})"
        )
        return "\n".join([head, *guarantees._notes(self)])

    __repr__ = __str__


class _Parts(NamedTuple):
    """The predictor on the training samples, and the class that it is of."""

    predictions: np.ndarray  # (m,)
    sizes: np.ndarray  # R_k ||f_k||, (p,)
    intercept: float
    complexity: float
    variances: object  # of shares (p + 1,): sum_k share_k K_k(x_i, x_i)/R_k^2 + share_0


def error_bound(estimator, X, y, delta, radius2, draws, random_state) -> ErrorBound:
    """`MKLClassifier.bound`."""
    from alignlearn.theory.bounds import learned
    from alignlearn.theory.bounds.checks import check_delta

    delta = check_delta(delta)
    if estimator.classes_.size != 2:
        raise ValueError(
            f"bound: only for two classes, got {estimator.classes_.size}, or held-out samples."
        )
    radii, hypotheses, not_met = guarantees.for_risk(estimator, radius2)
    sign, coef = _signs(estimator, y), estimator.dual_coef_[:, 0]
    parts = _parts(estimator, X, coef, radii, delta / 100, draws, random_state)
    margins = sign * parts.predictions
    sizes = np.append(parts.sizes, abs(parts.intercept))
    size = float(sizes.sum())
    by_margin = learned.margin_bound(margins, size, parts.complexity, 0.49 * delta).value
    by_random = 1.0
    if 0 < np.count_nonzero(sizes) <= learned.SHARES and len(margins) >= 8:
        shares = learned.rounded_shares(sizes)
        by_random = learned.random_predictor_bound(
            margins, sizes, shares, parts.variances(shares), delta / 2
        ).value
    value = min(by_margin, by_random, 1.0)
    smaller = min(np.mean(sign > 0), np.mean(sign < 0))
    hypotheses.append(
        "kernels chosen without these samples; weights, C and the rest may come from them"
    )
    return ErrorBound(
        value,
        by_margin,
        by_random,
        float(np.mean(margins <= 0)),
        size,
        parts.complexity,
        delta,
        bool(value >= smaller),
        tuple(hypotheses),
        tuple(not_met),
    )


def _signs(estimator, y):
    """-1 and +1 for the two classes; an error unless the coefficients have these signs."""
    labels = check_labels(y, estimator.statistics_.n_samples)
    sign = np.where(labels == estimator.classes_[1], 1.0, -1.0)
    known = np.isin(labels, estimator.classes_).all()
    if not known or not np.all(estimator.dual_coef_[:, 0] * sign[estimator.support_] >= 0):
        raise ValueError(
            "y must be the labels that the estimator was fitted on; for others held_out=True."
        )
    return sign


def clipped_risk_bound(estimator, sample, limits, radii, delta, draws, random_state):
    """Bound of the squared error of the predictions clipped to ``limits``; a `LearnedBound`."""
    from alignlearn.theory.bounds import learned

    X, y = sample
    y = check_targets(y, estimator.statistics_.n_samples)
    coef = np.zeros(len(y))
    coef[estimator.support_] = estimator.dual_coef_
    parts = _parts(estimator, X, coef[estimator.support_], radii, delta / 100, draws, random_state)
    gap = y.reshape(len(y)) - parts.predictions - estimator.machine_.alpha * coef
    if np.abs(gap).max() > 1e-6 * (np.abs(y).max() + np.abs(parts.predictions).max()):
        raise ValueError(
            "y must be the targets that the estimator was fitted on; for others held_out=True."
        )
    low, high = limits
    size = float(parts.sizes.sum() + abs(parts.intercept - (low + high) / 2))
    residuals = np.clip(parts.predictions, low, high) - y.reshape(len(y))
    return learned.clipped_bound(residuals, size, high - low, parts.complexity, 0.99 * delta)


def _parts(estimator, X, coef, radii, delta, draws, random_state):
    """Everything that is computed from the training samples, in two passes over their pairs."""
    from alignlearn.theory.bounds.learned import sampled_complexity

    draws = check_count("draws", draws, low=1, optional=False)
    rng = check_seed("random_state", random_state)
    source = open_psd(estimator.kernels_, X)
    m = source.n_samples
    if m != estimator.statistics_.n_samples:
        raise ValueError(
            f"X has {m} samples; accepted: the {estimator.statistics_.n_samples} that the "
            "estimator was fitted on; for others held_out=True."
        )
    factors = guarantees._factors(estimator)
    dual = np.zeros(m)
    dual[estimator.support_] = coef
    predictions = np.ravel(_decisions(estimator, X))
    without = predictions - source.combine(factors).times(dual)
    scale = np.abs(predictions).max() + np.abs(without).max()
    if np.ptp(without) > 1e-5 * scale:
        raise ValueError(
            "X must be the samples that the estimator was fitted on; for others held_out=True."
        )
    signs = rng.choice([-1.0, 1.0], (draws, m))
    forms, _ = sign_forms(source, np.vstack([signs, dual]))
    inverse = np.divide(1.0, radii, out=np.zeros(len(radii)), where=radii > 0)
    largest = np.maximum((forms[:-1] * inverse).max(1), signs.sum(1) ** 2)
    sizes = factors * np.sqrt(radii * np.maximum(forms[-1], 0.0))
    complexity = sampled_complexity(np.sqrt(largest).mean() / m, m, draws, delta)

    def variances(shares):
        return source.combine(shares[:-1] * inverse).diagonal() + shares[-1]

    return _Parts(predictions, sizes, float(without.mean()), complexity, variances)


def _decisions(estimator, X):
    decide = getattr(estimator, "decision_function", estimator.predict)
    return decide(X)
