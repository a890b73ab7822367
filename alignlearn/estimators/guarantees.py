"""What the theory guarantees about a fit: an interval for the alignment, a bound of the risk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.kernels import kernel_list
from alignlearn.machines import KernelRidge
from alignlearn.validation import check_flag, check_number, check_numbers
from alignlearn.weights import Uniform, get_weighting


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
    """

    value: float
    value_if_fixed: float
    empirical_risk: float
    delta: float
    vacuous: bool
    hypotheses: tuple[str, ...]
    not_met: tuple[str, ...] = ()

    def __str__(self):
        head = (
            f"expected squared error at most {self.value:.4g} with probability "
            f"{1 - self.delta:g} (training: {self.empirical_risk:.4g}; {self.value_if_fixed:.4g} "
            "if the kernel had been fixed before)"
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


def _common(estimator, radius2):
    """(R_k^2 of each kernel, hypotheses, not met, those of them without which no formula holds)."""
    kernels, p = _kernels(estimator), estimator.weights_.size
    hypotheses, not_met = ["samples independent and from one law"], []
    if radius2 is not None:
        # Beyond, the squares in a bound overflow.
        radii = np.full(p, check_number("radius2", radius2, low=0.0, high=1e100))
        hypotheses.append(f"K_k(x, x) <= {radius2:g} for every kernel")
    else:
        radii = estimator._source.ranges.radii
        if kernels is None or any(k._largest_value is None for k in kernels):
            hypotheses.append("K_k(x, x) nowhere larger than on the training samples")
    names = getattr(estimator, "feature_names_in_", None)
    names = None if names is None else list(names)
    if (
        kernels is not None
        and [k.resolve_names(names) for k in kernel_list(estimator.kernels)] != kernels
    ):
        not_met.append("gamma='scale' takes the kernels from the sample; give numbers for gamma")
    essential = []
    if estimator._source.ranges.weighted:
        essential.append("samples must have equal weights, but fit was given sample_weight")
    if (_factors(estimator) < 0).any():
        essential.append("weights must not be negative")
    if kernels is not None and not all(k.is_psd for k in kernels):
        essential.append("kernels must be positive semi-definite")
    return radii, hypotheses, not_met + essential, essential


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
    delta=0.05,
    label_range=None,
    radius2=None,
    fixed=None,
    sample=None,
    seed=(2000, None),
) -> RiskBound:
    """Upper bound of the expected squared error of kernel ridge regression.

    From its stability where the kernel was fixed before, else from the complexity of the class.

    Parameters
    ----------
    estimator : fitted MKLRegressor, machine "krr", one target
    delta : float in (0, 1)
    label_range : (low, high), optional
        Interval that holds all labels of the distribution; default: that of the sample.
    radius2 : float, optional
        Upper bound of K_k(x, x) over the distribution, for every kernel; default: as in
        `alignment_interval`.
    fixed : bool, optional
        Whether kernels and weights were chosen without this sample. Default: only for equal
        weights without normalisation and kernels given by numbers.
    sample : (X, y), optional
        The training samples, from which a bound for learned weights is computed.
    seed : (draws, random_state)
        Of the random signs for that.

    Raises
    ------
    ValueError
        For another machine, several targets, alpha = 0, negative weights, indefinite kernels, or
        a delta, radius2 or label_range out of range.
    """
    from alignlearn.theory.bounds.checks import check_delta

    delta = check_delta(delta)
    if not isinstance(estimator.machine_, KernelRidge) or estimator.dual_coef_.ndim > 1:
        raise ValueError("bound: only for machine='krr' and one target.")
    radii, hypotheses, not_met, essential = _common(estimator, radius2)
    if essential:
        raise ValueError("bound: " + "; ".join(essential) + ".")
    half = _half_range(estimator, label_range, hypotheses)
    risk, largest_loss, value_if_fixed = _by_stability(estimator, delta, half, radii)
    if fixed is not None:
        check_flag("fixed", fixed)
    else:
        fixed = not not_met and _is_fixed(estimator)
    value = value_if_fixed if fixed else largest_loss
    if fixed:
        hypotheses.append("kernel and weights chosen without these samples")
        not_met = []
    elif sample is None:
        hypotheses.append("kernel and weights chosen without these samples")
        not_met.append(_LEARNED)
    else:
        from .learned_bounds import clipped_risk_bound

        limits = _limits(estimator, label_range)
        found = clipped_risk_bound(estimator, sample, limits, radii, delta, *seed)
        value = min(value, found.value)
        hypotheses.append("kernels chosen without these samples; weights may come from them")
        hypotheses.append(f"predictions clipped to [{limits[0]:.4g}, {limits[1]:.4g}]")
    vacuous = bool(value >= half**2)
    given = tuple(hypotheses), tuple(not_met)
    return RiskBound(value, value_if_fixed, risk, delta, vacuous, *given)


def _by_stability(estimator, delta, half, radii):
    """The training risk, the largest possible loss, and the bound for a kernel fixed before."""
    from alignlearn.theory.bounds.fitted import intercept_bound, intercept_residual_bound

    kernels, factors = _kernels(estimator), _factors(estimator)
    # |phi(x) - phi(x')|^2 = K(x, x) + K(x', x') - 2 K(x, x'), R_k^2 times at most this.
    signs = [False] * factors.size if kernels is None else [k._non_negative for k in kernels]
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
    "abruptly when one sample does: only the largest possible loss is left (give the training "
    "samples as sample=(X, y) for a bound that allows for it)"
)


def _half_range(estimator, label_range, hypotheses):
    low, high = _limits(estimator, label_range)
    if label_range is None:
        hypotheses.append(f"labels nowhere outside [{low:.4g}, {high:.4g}], as in the sample")
    else:
        hypotheses.append(f"labels in [{low:.4g}, {high:.4g}]")
    return (high - low) / 2


def _limits(estimator, label_range):
    """The interval that holds all labels, as it was given or as in the sample."""
    low, high = estimator._source.ranges.labels
    if label_range is None:
        return low, high
    given = check_numbers("label_range", label_range, 2).tolist()
    if len(given) != 2 or not given[0] <= low <= high <= given[1]:
        raise ValueError(
            f"label_range={label_range!r}; accepted: (low, high) that holds the labels of the "
            f"sample, which lie in [{low:.4g}, {high:.4g}]."
        )
    return given[0], given[1]


def _is_fixed(estimator):
    if hasattr(estimator, "cv_results_"):
        return False
    uniform = isinstance(get_weighting(estimator.weighting), Uniform)
    return estimator.normalize is None and (uniform or estimator.weights_.size == 1)
