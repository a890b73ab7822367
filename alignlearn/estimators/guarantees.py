"""What the theory guarantees about a fit: an interval for the alignment, a bound of the risk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.kernels import algebra, kernel_list
from alignlearn.machines import KernelRidge
from alignlearn.validation import check_flag, check_number, check_numbers
from alignlearn.weights import Uniform, get_weighting

SAMPLE = "samples independent and from one law"
FIXED = "kernel and weights chosen without these samples"
UNBOUNDED = (
    "K(x, x) has no bound that is known without the sample, and its largest value on the sample "
    "bounds nothing: give radius2"
)


@dataclass(frozen=True)
class AlignmentInterval:
    """Confidence interval for the population alignment of the learned kernel with the labels.

    Attributes
    ----------
    low, high : float
    delta : float
        The interval fails with probability at most ``delta`` if the hypotheses are met.
    vacuous : bool
        True if it says no more than that an alignment lies in [0, 1].
    hypotheses : tuple of str
        What it rests on.
    not_met : tuple of str
        Those that this fit is known not to meet; then the interval is an indication only.
    method : str
        How it was found; empty where nothing can be said.
    """

    low: float
    high: float
    delta: float
    vacuous: bool
    hypotheses: tuple[str, ...]
    not_met: tuple[str, ...] = ()
    method: str = ""

    def __str__(self):
        head = f"alignment in [{self.low:.4f}, {self.high:.4f}] with probability {1 - self.delta:g}"
        if self.method:
            head += f" ({self.method})"
        return "\n".join([head, *_notes(self)])

    __repr__ = __str__


@dataclass(frozen=True)
class RiskBound:
    """Upper bound of the expected squared error of a fit.

    Attributes
    ----------
    value : float
        The expected squared error is at most this, with probability 1 - delta; units of y^2. Of
        clipped predictions where the hypotheses say so.
    value_if_fixed : float
        What it would be, had the kernel been fixed before the sample was seen.
    empirical_risk : float
        Mean squared error on the training samples.
    delta : float
    vacuous : bool
        True if a constant prediction, the middle of the labels' range, is known to be as good.
    hypotheses, not_met : tuple of str
        As in `AlignmentInterval`.
    method : str
        How it was found.
    """

    value: float
    value_if_fixed: float
    empirical_risk: float
    delta: float
    vacuous: bool
    hypotheses: tuple[str, ...]
    not_met: tuple[str, ...] = ()
    method: str = ""

    def __str__(self):
        head = (
            f"expected squared error at most {self.value:.4g} with probability "
            f"{1 - self.delta:g} ({self.method}; training: {self.empirical_risk:.4g}; "
            f"{self.value_if_fixed:.4g} if the kernel had been fixed before)"
        )
        return "\n".join([head, *_notes(self)])

    __repr__ = __str__


def _notes(result):
    if result.vacuous:
        yield "vacuous: this is known without the sample"
    yield "rests on: " + "; ".join(result.hypotheses)
    if result.not_met:
        yield "NOT met: " + "; ".join(result.not_met)


@dataclass(frozen=True)
class SampleRanges:
    """What the bounds need of the training samples, which a fitted estimator does not keep.

    Attributes
    ----------
    radii : ndarray (p,)
        max_i K_k(x_i, x_i) of each kernel.
    labels : (low, high) or None
        Of one real target.
    weighted : bool
        Whether the samples have weights.
    """

    radii: np.ndarray
    labels: tuple[float, float] | None
    weighted: bool


def sample_ranges(source, y):
    """The `SampleRanges` of an opened source and its checked target."""
    y = np.asarray(y)
    real = y.ndim == 1 and y.dtype.kind == "f"
    labels = (float(y.min()), float(y.max())) if real else None
    return SampleRanges(source.largest_diagonals(), labels, source.weight is not None)


def _factors(estimator):
    """Weights of the kernels as they are given, before any normalisation."""
    return estimator.weights_ * estimator.scale_


def _kernels(estimator):
    kernels = estimator.kernels_
    return kernels if isinstance(kernels, list) else None


def largest_diagonal(kernel):
    """The largest K(x, x) over all x, or None where it is not known."""
    if kernel is None:
        return None
    if isinstance(kernel, algebra.Sum):
        parts = [largest_diagonal(k) for k in kernel.kernels]
        return None if None in parts else sum(parts)
    if isinstance(kernel, algebra.Scaled):
        part = largest_diagonal(kernel.kernel)
        return None if part is None else kernel.scale * part
    if isinstance(kernel, algebra.Shifted):
        part = largest_diagonal(kernel.kernel)
        return None if part is None else kernel.shift + part
    return kernel.largest_value


def diagonal_bound(kernel, radius2):
    """The smaller of what is known of a kernel's diagonal and what was given, or None."""
    known = largest_diagonal(kernel)
    if radius2 is None:
        return known
    # Beyond, the squares in a bound overflow.
    radius2 = check_number("radius2", radius2, low=0.0, high=1e100, strict=True)
    return radius2 if known is None else min(known, radius2)


def common(estimator, radius2):
    """(R_k^2 of each kernel or None, hypotheses, not met, those without which no formula holds)."""
    kernels, p = _kernels(estimator), estimator.weights_.size
    radii = [diagonal_bound(None if kernels is None else kernels[k], radius2) for k in range(p)]
    hypotheses, not_met = [SAMPLE], []
    if radius2 is not None:
        hypotheses.append(f"K_k(x, x) <= {radius2:g} for every kernel")
    names = list(getattr(estimator, "feature_names_in_", ())) or None
    given = kernels and [k.resolve_names(names) for k in kernel_list(estimator.kernels)]
    if given != kernels:
        not_met.append("gamma='scale' takes the kernels from the sample; give numbers for gamma")
    weighted = "samples must have equal weights, but fit was given sample_weight"
    essential = [weighted] if estimator._source.ranges.weighted else []
    if (_factors(estimator) < 0).any():
        essential.append("weights must not be negative")
    if not all(k.is_psd for k in kernels or ()):
        essential.append("kernels must be positive semi-definite")
    return radii, hypotheses, not_met + essential, essential


def check_radii(estimator, radii, used):
    """Refuse an upper bound of a diagonal that a training sample exceeds."""
    from alignlearn.theory.bounds.checks import HypothesisNotMet

    seen = estimator._source.ranges.radii
    for k in used:
        if seen[k] > radii[k] * (1 + 1e-6):
            raise HypothesisNotMet(
                f"radius2={radii[k]:g} is below K(x, x) = {seen[k]:.6g} of a training sample; "
                "accepted: an upper bound for every kernel."
            )


def for_risk(estimator, radius2):
    """(R_k^2 (p,), hypotheses, not met) of a bound of the risk for all weights of the kernels.

    Raises
    ------
    HypothesisNotMet
        If a weight is negative, a kernel indefinite, or K(x, x) of a kernel has no known bound.
    """
    from alignlearn.theory.bounds.checks import HypothesisNotMet

    radii, hypotheses, not_met, essential = common(estimator, radius2)
    if essential:
        raise HypothesisNotMet("bound: " + "; ".join(essential) + ".")
    if None in radii:
        raise HypothesisNotMet(f"bound: {UNBOUNDED}, or held-out samples, which need none.")
    check_radii(estimator, radii, range(len(radii)))
    return np.array(radii, dtype=float), hypotheses, not_met


def alignment_interval(estimator, delta=0.05, radius2=None) -> AlignmentInterval:
    """Confidence interval for the population alignment of the learned kernel.

    It holds for all non-negative weights at once, so the weights may come from the same sample. For
    two classes the closed form of `alignlearn.theory.bounds.class_intervals` with a union over the
    kernels; for more the norms of covariance operators.

    Parameters
    ----------
    estimator : fitted MKLClassifier
    delta : float in (0, 1)
    radius2 : float, optional
        Upper bound of K_k(x, x) over the distribution, for every kernel; default: the largest that
        the kernel has anywhere, where that is known (1 for the Gaussian and other kernels of
        distances, Hamming and normalised kernels). Where it is not, the interval is [0, 1] and says
        so: the largest value on a sample bounds nothing.

    Raises
    ------
    ValueError
        If delta or radius2 is out of range, or radius2 exceeded by a training sample.
    """
    from .alignment_intervals import learned_interval

    return learned_interval(estimator, delta, radius2)


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

    From stability where the kernel was fixed before, and from the complexity of the class where the
    samples are given.

    Parameters
    ----------
    estimator : fitted MKLRegressor, machine "krr", one target
    sample : (X, y), optional
        The training samples.
    delta, label_range, radius2, fixed
        As in `MKLRegressor.bound`.
    seed : (draws, random_state)
        Of the random signs from which the complexity is found.

    Raises
    ------
    ValueError
        For another machine, several targets, alpha = 0, or an argument out of range.
    HypothesisNotMet
        A ValueError: for negative weights, indefinite kernels, a diagonal without a known bound, or
        without a range of the labels.
    """
    from alignlearn.theory.bounds.checks import check_delta

    delta = check_delta(delta)
    if not isinstance(estimator.machine_, KernelRidge) or estimator.dual_coef_.ndim > 1:
        raise ValueError("bound: only for machine='krr' and one target, or held-out samples.")
    radii, hypotheses, not_met = for_risk(estimator, radius2)
    low, high = limits = label_limits(estimator, label_range)
    if fixed is not None:
        check_flag("fixed", fixed)
    else:
        fixed = not not_met and _is_fixed(estimator)
    half, both = (high - low) / 2, fixed and sample is not None
    level = delta / 2 if both else delta
    risk, largest_loss, value_if_fixed = _by_stability(estimator, level, half, radii)
    hypotheses.append(_labels_in(low, high))
    value, method, clipped = largest_loss, "largest possible loss", np.inf
    if fixed:
        hypotheses.append(FIXED)
        value, method, not_met = value_if_fixed, "stability", []
    elif sample is None:
        hypotheses.append(FIXED)
        not_met.append(_LEARNED)
    else:
        hypotheses.append("kernels chosen without these samples; weights may come from them")
    if sample is not None:
        from .learned_bounds import clipped_risk_bound

        clipped = clipped_risk_bound(estimator, sample, limits, radii, level, *seed).value
    if clipped < value:
        value, method = clipped, "complexity of the class of all combinations"
        hypotheses.append(_clipped_to(low, high))
    given = tuple(hypotheses), tuple(not_met), method
    return RiskBound(value, value_if_fixed, risk, delta, bool(value >= half**2), *given)


def _by_stability(estimator, delta, half, radii):
    """The training risk, the largest possible loss, and the bound for a kernel fixed before."""
    from alignlearn.theory.bounds.fitted import intercept_bound, intercept_residual_bound

    kernels, factors = _kernels(estimator), _factors(estimator)
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


_LEARNED = (
    "the kernel was learned (or scaled) on these samples, and learned weights can change "
    "abruptly when one sample does: stability leaves the largest possible loss (give the training "
    "samples as X, y for a bound that allows for it, or held-out ones)"
)


# -- the range of the labels -----------------------------------------------------------


def label_limits(estimator, label_range):
    """The interval that holds all labels of the distribution, checked against the training ones.

    Raises
    ------
    HypothesisNotMet
        Without one: the range of a sample bounds nothing.
    ValueError
        For what is no interval, or does not hold the labels of the sample.
    """
    from alignlearn.theory.bounds.checks import HypothesisNotMet

    seen = estimator._source.ranges.labels
    if label_range is None:
        raise HypothesisNotMet(
            "label_range: the bound needs an interval that holds all labels, and their range on "
            f"the sample, [{seen[0]:.4g}, {seen[1]:.4g}], bounds nothing: give label_range=(low, "
            "high)."
        )
    given = check_numbers("label_range", label_range, 2).tolist()
    if len(given) != 2:
        raise ValueError(f"label_range={label_range!r}; accepted: (low, high).")
    check_in_range(seen, *given)
    return given[0], given[1]


def check_in_range(y, low, high):
    """Refuse a range that does not hold labels that were seen."""
    from alignlearn.theory.bounds.checks import HypothesisNotMet

    if min(y) < low or max(y) > high:
        raise HypothesisNotMet(
            f"label_range=({low:.4g}, {high:.4g}) does not hold the labels of the sample, which "
            f"lie in [{min(y):.4g}, {max(y):.4g}]."
        )


def range_hypotheses(low, high):
    """What a bound of clipped predictions rests on, in words."""
    return _labels_in(low, high), _clipped_to(low, high)


def _labels_in(low, high):
    return f"labels in [{low:.4g}, {high:.4g}]"


def _clipped_to(low, high):
    return f"predictions clipped to [{low:.4g}, {high:.4g}]"


def _is_fixed(estimator):
    if hasattr(estimator, "cv_results_"):
        return False
    uniform = isinstance(get_weighting(estimator.weighting), Uniform)
    return estimator.normalize is None and (uniform or estimator.weights_.size == 1)
