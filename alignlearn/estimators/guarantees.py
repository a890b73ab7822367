"""What every guarantee of a fit needs: bounds of the kernels, ranges of the labels, hypotheses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.bounds.checks import HypothesisNotMet
from alignlearn.kernels import Named, algebra, kernel_list
from alignlearn.validation import check_number, check_numbers

from .seen_rows import SeenRows, doubt_repeats, seen_rows

SAMPLE = "samples independent and from one law"
FROM_SAMPLE = (
    "gamma='scale', or the fix of a matrix, takes the kernels from the sample; give numbers for "
    "gamma, and matrices that need no fix"
)
UNBOUNDED = (
    "K(x, x) has no bound that is known without the sample, and its largest value on the sample "
    "bounds nothing: give radius2"
)


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
    rows : SeenRows or None
        The rows of positive weight: of X, or of one given matrix.
    """

    radii: np.ndarray
    labels: tuple[float, float] | None
    weighted: bool
    rows: SeenRows | None = None


def sample_ranges(source, y, weights=()):
    """The `SampleRanges` of an opened source, its checked target and the weights of the kernels."""
    y = np.asarray(y)
    real = y.ndim == 1 and y.dtype.kind == "f"
    labels = (float(y.min()), float(y.max())) if real else None
    radii, used = source.largest_diagonals(), source.used()
    rows = seen_rows(used.grams[_matrix(weights)] if source.is_given else used.X)
    return SampleRanges(radii, labels, source.weight is not None, rows)


def _matrix(weights):
    """Number of the given matrix whose rows stand for the samples: the first that is used."""
    return int(np.argmax(np.asarray(weights) != 0.0)) if len(weights) else 0


_COPIES = 0.02  # of held-out rows that may equal rows of the fit


def refuse_seen_samples(estimator, X, n_samples):
    """An error where samples of the fit are among those that are said to be held out.

    Where rows of the fit equal each other, as with columns of few values, new samples may equal
    some by chance; then only more than that are refused, and elsewhere more than 2 %, since parts
    of real samples often share a copy. Warns where many rows of X are equal.
    """
    rows, predictor = estimator._ranges.rows, estimator._predictor
    if rows is None:
        return
    X = estimator._check_test(X)
    if predictor.is_given:
        model = estimator.members_[0].model if estimator._several else estimator
        X = X[_matrix(model.weights_)]
    seen = rows.count(X)
    if seen > max(rows.most_by_chance(n_samples), _COPIES * n_samples):
        raise ValueError(
            f"held_out=True: {seen} of the {n_samples} rows of X were seen by fit; accepted: "
            "samples that took no part in the fit."
        )
    doubt_repeats(seen_rows(X))


def doubt_own_repeats(estimator):
    """Warn where many training rows are equal."""
    doubt_repeats(estimator._ranges.rows)


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
    if _given(estimator, kernels) != kernels or getattr(estimator.kernel_, "is_changed", False):
        not_met.append(FROM_SAMPLE)
    weighted = "samples must have equal weights, but fit was given sample_weight"
    essential = [weighted] if estimator._ranges.weighted else []
    if vars(estimator).get("completion_") is not None:
        essential.append("kernels must be known on all pairs of samples, but some lack a table")
    if (_factors(estimator) < 0).any():
        essential.append("weights must not be negative")
    # Negative weights are one reason by themselves.
    psd = kernels is not None or (_factors(estimator) < 0).any() or estimator.kernel_.is_psd
    if not (psd and all(k.is_psd for k in kernels or ())):
        essential.append("kernels must be positive semi-definite")
    return radii, hypotheses, not_met + essential, essential


def _given(estimator, kernels):
    """The kernels as they were given, as far as they are the fitted ones."""
    if kernels is None:
        return None
    if hasattr(estimator, "table_names_in_"):
        # On the columns of a table it is still the kernel that was given.
        known = [k.kernel if isinstance(k, Named) else k for k in kernel_list(estimator.kernels)]
        return [k if k in known or k.kernel in known else None for k in kernels]
    names = list(getattr(estimator, "feature_names_in_", ())) or None
    return [k.resolve_names(names) for k in kernel_list(estimator.kernels)]


def check_radii(estimator, radii, used):
    """Refuse an upper bound of a diagonal that a training sample exceeds."""
    seen = estimator._ranges.radii
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
    radii, hypotheses, not_met, essential = common(estimator, radius2)
    if essential:
        raise HypothesisNotMet("bound: " + "; ".join(essential) + ".")
    if None in radii:
        raise HypothesisNotMet(f"bound: {UNBOUNDED}, or held-out samples, which need none.")
    check_radii(estimator, radii, range(len(radii)))
    return np.array(radii, dtype=float), hypotheses, not_met


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
    seen = estimator._ranges.labels
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
