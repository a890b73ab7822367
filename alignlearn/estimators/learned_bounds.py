"""Bounds on the risk from the training samples, on which the weights of the kernels were learned.

The bounds are proved in `alignlearn.bounds.learned`, and for a kernel fixed in advance in
`alignlearn.bounds.fitted`. This module computes their inputs from a fitted estimator.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn.bounds import learned
from alignlearn.bounds.checks import check_delta
from alignlearn.bounds.fitted import intercept_bound, intercept_residual_bound
from alignlearn.bounds.guarantee import ErrorBound, RiskBound
from alignlearn.machines import KernelRidge
from alignlearn.validation import (
    check_count,
    check_flag,
    check_labels,
    check_seed,
    check_targets,
)
from alignlearn.weights import get_weighting

from . import guarantees
from .complexity import open_psd, sign_forms
from .refits import is_search
from .seen_rows import doubt_repeats

_FIXED = "kernel, weights and alpha chosen without these samples"
_SEARCHED = (
    "alpha was chosen on these samples by a search: give X, y for a bound that allows for it, or "
    "held-out samples"
)
_UNFIXED = "kernels chosen without these samples; weights, C and the rest may come from them"

_LEARNED = (
    "the kernel was learned (or scaled) on these samples, and learned weights can change "
    "abruptly when one sample does: stability leaves the largest possible loss (give the training "
    "samples as X, y for a bound that allows for it, or held-out ones)"
)


class _Parts(NamedTuple):
    """The predictor on the training samples, and its function class."""

    predictions: np.ndarray  # (m,)
    sizes: np.ndarray  # R_k ||f_k||, (p,)
    intercept: float
    complexity: float
    variances: object  # of shares (p + 1,): sum_k share_k K_k(x_i, x_i)/R_k^2 + share_0


def error_bound(estimator, X, y, delta, radius2, draws, random_state) -> ErrorBound:
    """`MKLClassifier.bound`."""
    delta = check_delta(delta)
    if estimator.classes_.size != 2:
        raise ValueError(
            f"bound is available only for two classes, got {estimator.classes_.size}, or "
            "for held-out samples (held_out=True)."
        )
    radii, hypotheses, not_met = guarantees.for_risk(estimator, radius2)
    doubt_repeats(estimator._ranges.rows)
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
    return ErrorBound(
        value=value,
        by_margin=by_margin,
        by_random_predictors=by_random,
        empirical_risk=float(np.mean(margins <= 0)),
        size=size,
        complexity=parts.complexity,
        delta=delta,
        vacuous=bool(value >= smaller),
        hypotheses=(*hypotheses, _UNFIXED),
        not_met=tuple(not_met),
        method="margins" if by_margin <= by_random else "PAC-Bayes",
    )


def _signs(estimator, y):
    """Return -1 and +1 for the two classes; raise an error if coefficients have other signs."""
    labels = check_labels(y, estimator.statistics_.n_samples)
    sign = np.where(labels == estimator.classes_[1], 1.0, -1.0)
    known = np.isin(labels, estimator.classes_).all()
    if not known or not np.all(estimator.dual_coef_[:, 0] * sign[estimator.support_] >= 0):
        raise ValueError(
            "y must be the labels that the estimator was fitted on; for other samples, "
            "set held_out=True."
        )
    return sign


def risk_bound(
    estimator,
    sample=None,
    delta=0.05,
    label_range=None,
    radius2=None,
    fixed=None,
    seed=(2000, None),
) -> RiskBound:
    """`MKLRegressor.bound` without held-out samples: from the training samples.

    It follows from stability if the kernel was fixed in advance, and from the complexity of the
    function class if the samples are given.

    Parameters
    ----------
    estimator : fitted MKLRegressor, machine "krr", one target
    sample : (X, y), optional
        The training samples.
    delta, label_range, radius2, fixed
        As in `MKLRegressor.bound`.
    seed : (draws, random_state)
        Of the random signs that estimate the complexity.

    Raises
    ------
    ValueError
        For another machine, several targets, alpha = 0, or an argument out of range.
    HypothesisNotMet
        A ValueError: for negative weights, indefinite kernels, a diagonal without a known bound, or
        without a range of the labels.
    """
    delta = check_delta(delta)
    if not isinstance(estimator.machine_, KernelRidge) or estimator.dual_coef_.ndim > 1:
        raise ValueError(
            "bound is available only for machine='krr' and one target, or for held-out "
            "samples (held_out=True)."
        )
    radii, hypotheses, not_met = guarantees.for_risk(estimator, radius2)
    doubt_repeats(estimator._ranges.rows)
    low, high = limits = guarantees.label_limits(estimator, label_range)
    if fixed is not None:
        check_flag("fixed", fixed)
    else:
        fixed = not not_met and _is_fixed(estimator)
    half, both = (high - low) / 2, fixed and sample is not None
    level = delta / 2 if both else delta
    risk, largest_loss, value_if_fixed = _by_stability(estimator, level, half, radii)
    in_range, clipped_in = guarantees.range_hypotheses(low, high)
    hypotheses.append(in_range)
    value, method, clipped = largest_loss, "largest possible loss", np.inf
    if fixed:
        hypotheses.append(_FIXED)
        value, method = value_if_fixed, "stability"
        not_met = [_SEARCHED] if is_search(estimator) else []
    elif sample is None:
        hypotheses.append(_FIXED)
        not_met.append(_LEARNED)
    else:
        hypotheses.append("kernels chosen without these samples; weights may come from them")
    if sample is not None:
        clipped = clipped_risk_bound(estimator, sample, limits, radii, level, *seed).value
    if clipped < value:
        value, method = clipped, "complexity of the class of all combinations"
        hypotheses = [text for text in hypotheses if text != _FIXED] + [clipped_in]
        not_met = [text for text in not_met if text != _SEARCHED]
    return RiskBound(
        value=value,
        value_if_fixed=value_if_fixed,
        empirical_risk=risk,
        delta=delta,
        vacuous=bool(value >= half**2),
        hypotheses=tuple(hypotheses),
        not_met=tuple(not_met),
        method=method,
    )


def _by_stability(estimator, delta, half, radii):
    """Return the training risk, the largest possible loss, and the bound for a fixed kernel."""
    kernels, factors = guarantees._kernels(estimator), guarantees._factors(estimator)
    # |phi(x) - phi(x')|^2 = K(x, x) + K(x', x') - 2 K(x, x'), R_k^2 times at most this.
    signs = [False] * factors.size if kernels is None else [k.is_non_negative for k in kernels]
    wide = np.where(signs, 2.0, 4.0)
    diameter = float(np.sqrt(factors @ (wide * radii)))
    m = estimator.statistics_.n_samples
    alpha = estimator.machine_.alpha
    # y - h is alpha times the dual coefficients.
    risk = float(np.mean((alpha * estimator.dual_coef_) ** 2))
    numbers = half, diameter, alpha / m
    largest_loss = intercept_residual_bound(*numbers) ** 2
    value_if_fixed = min(intercept_bound(risk, m, delta, *numbers), largest_loss)
    return risk, largest_loss, value_if_fixed


def _is_fixed(estimator):
    if hasattr(estimator, "cv_results_"):
        return False
    fixed = get_weighting(estimator.weighting).needs == "nothing"
    return estimator.normalize is None and (fixed or estimator.weights_.size == 1)


def clipped_risk_bound(estimator, sample, limits, radii, delta, draws, random_state):
    """Return a `LearnedBound` of the squared error of predictions clipped to ``limits``."""
    X, y = sample
    y = check_targets(y, estimator.statistics_.n_samples)
    coef = np.zeros(len(y))
    coef[estimator.support_] = estimator.dual_coef_
    parts = _parts(estimator, X, coef[estimator.support_], radii, delta / 100, draws, random_state)
    gap = y.reshape(len(y)) - parts.predictions - estimator.machine_.alpha * coef
    if np.abs(gap).max() > 1e-6 * (np.abs(y).max() + np.abs(parts.predictions).max()):
        raise ValueError(
            "y must be the targets that the estimator was fitted on; for other samples, "
            "set held_out=True."
        )
    low, high = limits
    size = float(parts.sizes.sum() + abs(parts.intercept - (low + high) / 2))
    residuals = np.clip(parts.predictions, low, high) - y.reshape(len(y))
    return learned.clipped_bound(residuals, size, high - low, parts.complexity, 0.99 * delta)


def _parts(estimator, X, coef, radii, delta, draws, random_state):
    """Compute everything that depends on the training samples, in two passes over their pairs."""
    draws = check_count("draws", draws, low=1, optional=False)
    rng = check_seed("random_state", random_state)
    source = open_psd(estimator.kernels_, estimator._joined(X))
    m = source.n_samples
    if m != estimator.statistics_.n_samples:
        raise ValueError(
            f"X has {m} samples; accepted: the {estimator.statistics_.n_samples} "
            "samples that the estimator was fitted on; for other samples, set "
            "held_out=True."
        )
    factors = guarantees._factors(estimator)
    dual = np.zeros(m)
    dual[estimator.support_] = coef
    predictions = np.ravel(_decisions(estimator, X))
    without = predictions - source.combine(factors).times(dual)
    scale = np.abs(predictions).max() + np.abs(without).max()
    if np.ptp(without) > 1e-5 * scale:
        raise ValueError(
            "X must be the samples that the estimator was fitted on; for other samples, "
            "set held_out=True."
        )
    signs = rng.choice([-1.0, 1.0], (draws, m))
    forms, _ = sign_forms(source, np.vstack([signs, dual]))
    inverse = np.divide(1.0, radii, out=np.zeros(len(radii)), where=radii > 0)
    largest = np.maximum((forms[:-1] * inverse).max(1), signs.sum(1) ** 2)
    sizes = factors * np.sqrt(radii * np.maximum(forms[-1], 0.0))
    complexity = learned.sampled_complexity(np.sqrt(largest).mean() / m, m, draws, delta)

    def variances(shares):
        return source.combine(shares[:-1] * inverse).diagonal() + shares[-1]

    return _Parts(predictions, sizes, float(without.mean()), complexity, variances)


def _decisions(estimator, X):
    decide = getattr(estimator, "decision_function", estimator.predict)
    return decide(X)
