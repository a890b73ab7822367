"""Inputs of all guarantees of a fit: bounds of the kernels, ranges of the labels, hypotheses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.bounds.checks import HypothesisNotMet
from alignlearn.bounds.guarantee import SAMPLE
from alignlearn.kernels import Named, kernel_list
from alignlearn.validation import check_number, check_numbers, doubt
from alignlearn.validation.row_hashes import pair_hashes, row_hashes
from alignlearn.weights import get_weighting, without_target

from .seen_rows import SeenRows, doubt_repeats, seen_rows

FROM_SAMPLE = (
    "gamma='scale', or the fix of a matrix, takes the kernels from the sample; give numbers for "
    "gamma, and matrices that need no fix"
)
GAPS = "kernels must be known on all pairs of samples, but some samples have missing tables"
UNBOUNDED = (
    "K(x, x) has no bound that is known without the sample, and its maximum on the sample is not "
    "a bound: give radius2"
)


@dataclass(frozen=True)
class SampleRanges:
    """Properties of the training samples that bounds need; the samples are not stored.

    Attributes
    ----------
    radii : ndarray (p,)
        max_i K_k(x_i, x_i) of each kernel.
    labels : (low, high) or None
        Range of one real target.
    weighted : bool
        Whether the samples have weights.
    rows : SeenRows or None
        The rows of positive weight: of X, or of one precomputed kernel.
    pairs : SeenRows or None
        These rows with their labels or targets.
    is_part : bool
        Whether the fit was a part of another one, which stores the rows.
    """

    radii: np.ndarray
    labels: tuple[float, float] | None
    weighted: bool
    rows: SeenRows | None = None
    pairs: SeenRows | None = None
    is_part: bool = False


def sample_ranges(source, y, weights=(), is_part=False):
    """The `SampleRanges` of an opened source, its checked target and the weights of the kernels.

    For a part of another fit, see `a_part`, there are no rows. Hashing takes m d operations in each
    of two passes, and 16 bytes per sample are stored.
    """
    y = np.asarray(y)
    real = y.ndim == 1 and y.dtype.kind == "f"
    labels = (float(y.min()), float(y.max())) if real else None
    seen = (None, None) if is_part else seen_samples(source, y, weights)
    radii, weighted = source.largest_diagonals(), source.weight is not None
    return SampleRanges(radii, labels, weighted, *seen, is_part)


def seen_samples(source, y, weights=()):
    """The rows of an opened source as `SeenRows`, and with their targets; None for objects."""
    used = source.used()
    X = used.grams[matrix_in_use(weights)] if source.is_given else used.X
    rows, pairs = seen_rows(X), None
    if rows is not None:
        of_used = y if used is source else y[source.weight > 0.0]
        pairs = SeenRows(np.sort(pair_hashes(row_hashes(X, rows.single), of_used)), rows.single)
    return rows, pairs


def matrix_in_use(weights):
    """Number of the precomputed kernel whose rows identify the samples: the first in use."""
    return int(np.argmax(np.asarray(weights) != 0.0)) if len(weights) else 0


def refuse_seen_samples(estimator, X, y):
    """Raise an error if held-out samples contain training samples.

    Rows are compared alone and with their labels. Training rows with their labels raise an error in
    any order; see `SeenRows.refuses`. If training rows repeat, as for columns with few values, new
    samples may equal some by chance. Warns if many rows of X are equal.
    """
    ranges, predictor = estimator._ranges, estimator._predictor
    if ranges.is_part:
        raise ValueError(
            "held_out=True: this model is part of a tuned estimator, which stores the "
            "training samples; accepted: the same call on the tuned estimator."
        )
    if ranges.rows is None:
        return
    X = estimator._check_test(X)
    if predictor.is_given:
        X = X[matrix_in_use(estimator._kernel_model().weights_)]
    rows = row_hashes(X, ranges.rows.single)
    pairs = pair_hashes(rows, y)
    same = np.array_equal(np.sort(pairs), ranges.pairs.hashes)
    if same or ranges.rows.refuses(rows) or ranges.pairs.refuses(pairs, cautious=True):
        raise ValueError(
            f"held_out=True: {ranges.rows.among(rows)} of the {len(rows)} rows of X "
            "are training samples; accepted: samples not used by the fit."
        )
    doubt_repeats(seen_rows(X))


def _factors(estimator):
    """Weights of the original kernels, before any normalization."""
    return estimator.weights_ * estimator.scale_


def _kernels(estimator):
    kernels = estimator.kernels_
    return kernels if isinstance(kernels, list) else None


def diagonal_bound(kernel, radius2):
    """The smaller of the known bound of a kernel's diagonal and the given one, or None."""
    known = None if kernel is None else kernel.largest_diagonal()
    if radius2 is None:
        return known
    # Above this, the squares in a bound overflow.
    radius2 = check_number("radius2", radius2, low=0.0, high=1e100, strict=True)
    return radius2 if known is None else min(known, radius2)


def common(estimator, radius2):
    """(R_k^2 of each kernel or None, hypotheses, those not met, those of every formula)."""
    kernels, p = _kernels(estimator), estimator.weights_.size
    radii = [diagonal_bound(None if kernels is None else kernels[k], radius2) for k in range(p)]
    hypotheses, not_met = [SAMPLE], []
    if radius2 is not None:
        hypotheses.append(f"K_k(x, x) <= {radius2:g} for every kernel")
    if _given(estimator, kernels) != kernels or getattr(estimator.kernel_, "is_changed", False):
        not_met.append(FROM_SAMPLE)
    weighted = "samples must have equal weights, but fit was given sample_weight"
    essential = [weighted] if estimator._ranges.weighted else []
    if getattr(estimator, "completion_", None) is not None:
        essential.append(GAPS)
    if (_factors(estimator) < 0).any():
        essential.append("weights must not be negative")
    # Negative weights alone are one reason.
    psd = kernels is not None or (_factors(estimator) < 0).any() or estimator.kernel_.is_psd
    if not (psd and all(k.is_psd for k in kernels or ())):
        essential.append("kernels must be positive semi-definite")
    return radii, hypotheses, not_met + essential, essential


def _given(estimator, kernels):
    """The kernels that the user passed, if they are the fitted ones."""
    if kernels is None:
        return None
    if hasattr(estimator, "table_names_in_"):
        # On the columns of a table, it is still the kernel of the user.
        known = [k.kernel if isinstance(k, Named) else k for k in kernel_list(estimator.kernels)]
        return [k if k in known or k.kernel in known else None for k in kernels]
    names = list(getattr(estimator, "feature_names_in_", ())) or None
    return [k.resolve_names(names) for k in kernel_list(estimator.kernels)]


def check_radii(estimator, radii, used):
    """Raise an error for an upper bound of a diagonal that a training sample exceeds."""
    seen = estimator._ranges.radii
    for k in used:
        if seen[k] > radii[k] * (1 + 1e-6):
            raise HypothesisNotMet(
                f"radius2={radii[k]:g} is below K(x, x) = {seen[k]:.6g} of a training sample; "
                "accepted: an upper bound for every kernel."
            )


def for_risk(estimator, radius2):
    """(R_k^2 (p,), hypotheses, not met) of a bound on the risk for all weights of the kernels.

    Raises
    ------
    HypothesisNotMet
        If a weight is negative, a kernel indefinite, or K(x, x) of a kernel has no known bound.
    """
    radii, hypotheses, not_met, essential = common(estimator, radius2)
    if essential:
        raise HypothesisNotMet("bound: " + "; ".join(essential) + ".")
    if None in radii:
        raise HypothesisNotMet(
            f"bound: {UNBOUNDED}. Held-out samples (held_out=True) need no such bound."
        )
    check_radii(estimator, radii, range(len(radii)))
    return np.array(radii, dtype=float), hypotheses, not_met


# -- coverage --------------------------------------------------------------------------


_APART = 0.1  # smallest eigenvalue of the matrix of alignments that counts as a separate kernel
_MOST_COMPARED = 1000  # kernels
_SAMPLES_A_WEIGHT = 20


def doubt_coverage(reasons, remedy):
    """Warn once if simulations found less coverage than requested."""
    if reasons:
        doubt(f"The coverage may be lower than requested: {'; '.join(reasons)}. {remedy}")


def many_weights(estimator):
    """The reason for a warning if many weights were learned on few samples, or None.

    The condition is ``p log p > m / 20`` for p different kernels. Their number is that of the
    eigenvalues above 0.1 of the matrix of alignments between kernels: four for Gaussians of 30
    widths. Below the limit, intervals that ignore the learning had the nominal coverage, see
    ``docs/guide/error-bars.md``.
    """
    if without_target(get_weighting(getattr(estimator, "weighting_", estimator.weighting))):
        return []
    statistics = estimator.statistics_
    used = np.flatnonzero(statistics.norms > 0.0)
    used = used[:: -(-used.size // _MOST_COMPARED) or 1]
    norms = statistics.norms[used]
    alignments = statistics.M[np.ix_(used, used)] / np.outer(norms, norms)
    p, m = np.count_nonzero(np.linalg.eigvalsh(alignments) > _APART), statistics.n_samples
    if p * np.log(max(p, 1)) <= m / _SAMPLES_A_WEIGHT:
        return []
    return [f"the weights of {p} different kernels were learned on {m} samples"]


# -- the range of the labels -----------------------------------------------------------


def label_limits(estimator, label_range):
    """The interval that holds all labels of the distribution, checked against the training ones.

    Raises
    ------
    HypothesisNotMet
        There is no interval; the range of a sample is not a bound.
    ValueError
        It is not an interval, or does not contain the labels of the sample.
    """
    seen = estimator._ranges.labels
    if label_range is None:
        raise HypothesisNotMet(
            "label_range: the bound needs an interval that contains all possible labels. "
            f"The range on the sample, [{seen[0]:.4g}, {seen[1]:.4g}], is not enough: "
            "set label_range=(low, high)."
        )
    given = check_numbers("label_range", label_range, 2).tolist()
    if len(given) != 2:
        raise ValueError(f"label_range={label_range!r}; accepted: (low, high).")
    check_in_range(seen, *given)
    return given[0], given[1]


def check_in_range(y, low, high):
    """Raise an error for a range that does not contain the labels of the sample."""
    if min(y) < low or max(y) > high:
        raise HypothesisNotMet(
            f"label_range=({low:.4g}, {high:.4g}) does not contain the labels of the "
            f"sample, which lie in [{min(y):.4g}, {max(y):.4g}]."
        )


def range_hypotheses(low, high):
    """The hypotheses of a bound of clipped predictions."""
    shown = f"[{low:.4g}, {high:.4g}]"
    return f"labels in {shown}", f"predictions clipped to {shown}"
