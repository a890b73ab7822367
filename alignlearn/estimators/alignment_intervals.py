"""Confidence intervals for the alignment: one kernel on samples, or what a classifier learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from alignlearn._text import listed
from alignlearn.bounds import class_betting, class_intervals
from alignlearn.bounds.asymptotic import asymptotic_interval
from alignlearn.bounds.checks import check_delta
from alignlearn.bounds.fitted import learned_alignment_interval
from alignlearn.bounds.guarantee import AlignmentInterval
from alignlearn.bounds.ratio_betting import ratio_interval
from alignlearn.kernels import column_names, kernel_list
from alignlearn.sources import open_source
from alignlearn.validation import (
    check_choice,
    check_flag,
    check_labels,
    check_numbers,
    check_targets,
    plain,
)

from . import guarantees
from .held_out import UNSEEN
from .seen_rows import doubt_repeats, seen_rows

_FIXED = "kernel chosen without these samples"
_UNBIASED = "statistics of all pairs of samples; the fit has unbiased=True"


# -- one kernel ------------------------------------------------------------------------


def alignment_interval(
    X, y, kernel, delta=0.05, *, radius2=None, label_range=None, method="betting", random_state=0
):
    """Confidence interval for the population's centered alignment of one kernel with the labels.

    Parameters
    ----------
    X : array-like of shape (m, d), list of objects, sparse matrix, or Gram matrix (m, m)
    y : array-like of shape (m,)
        Labels of two classes; with ``label_range`` real targets.
    kernel : Kernel, str or "precomputed"
        Positive semi-definite, chosen without these samples. "precomputed": X is its Gram matrix.
    delta : float in (0, 1), default 0.05
        The interval fails with probability at most ``delta``.
    radius2 : float, optional
        R^2 >= K(x, x) over the whole distribution, in units of the kernel. Needed unless it is
        known, as for kernels of distances, normalized kernels, and sums and multiples of them.
    label_range : (low, high), optional
        Contains all targets of the distribution, in units of y. Setting it makes y a real target.
    method : {"betting", "ratio", "closed", "asymptotic"}, default "betting"
        "betting": by products along random orders of the sample. "closed": in closed form, which
        gives longer intervals. "ratio": by betting on the alignment itself, which gives shorter
        intervals from about 300 samples and takes seconds. These three are valid for every number
        of samples and every distribution. "asymptotic": by the delta method and the jackknife, two
        to five times shorter, but with only approximate coverage
        (see the simulations in docs/guide/alignment-intervals.md); needs no ``radius2``.
    random_state : int, Generator or None, default 0
        Seed of the random orders. Choose it without looking at the result.

    Returns
    -------
    AlignmentInterval

    Raises
    ------
    ValueError
        If delta or a radius is out of range, the kernel is indefinite, y has not two values and no
        ``label_range`` is given.
    HypothesisNotMet
        A ValueError: where the sample shows that ``radius2`` or ``label_range`` is wrong.

    Notes
    -----
    One Gram matrix (m, m) is held. Proofs: ``theory/p1_alignment/proofs.md``, the sections on two
    classes, betting and real targets. For the kernel that a classifier learned on the same samples
    see `MKLClassifier.alignment_interval`.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, alignment_interval
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> X = rng.normal(size=(200, 2)) + 2 * y[:, None]
    >>> found = alignment_interval(X, y, Gaussian(0.2), delta=0.05)
    >>> 0 < found.low < found.high <= 1
    True
    """
    delta = check_delta(delta)
    check_choice("method", method, tuple(_NAMES))
    K, kernel, not_met = _open_one(X, kernel)
    features, radius = _feature_range(kernel, radius2)
    labels, kind = _labels(y, len(K), label_range)
    hypotheses = (guarantees.SAMPLE, _FIXED, kind, *radius)
    if method == "asymptotic":
        hypotheses = (guarantees.SAMPLE, _FIXED, kind, _APPROXIMATE)
    result = _says_nothing(delta, hypotheses, not_met)
    if features is None and method != "asymptotic":
        return replace(result, not_met=(*not_met, guarantees.UNBOUNDED))
    found = _one_interval(K, labels, delta, features, label_range, method, random_state)
    low, high, vacuous = found
    return replace(result, low=low, high=high, vacuous=vacuous, method=_NAMES[method])


def _says_nothing(delta, hypotheses, not_met):
    return AlignmentInterval(
        low=0.0,
        high=1.0,
        delta=delta,
        vacuous=True,
        hypotheses=tuple(hypotheses),
        not_met=tuple(not_met),
    )


_NAMES = {
    "betting": "betting, one kernel",
    "ratio": "betting on the ratio, one kernel",
    "closed": "closed form, one kernel",
    "asymptotic": "asymptotic, one kernel",
}
_APPROXIMATE = "so many samples that the estimate is normal: the probability is approximate"


def _one_interval(K, y, delta, features, label_range, method, random_state):
    if method == "asymptotic":
        return _asymptotic(K, y, delta, label_range)
    if method == "ratio":
        if label_range is None:
            y, label_range = np.where(class_intervals.positive_class(y), 1.0, -1.0), (-1.0, 1.0)
        return ratio_interval(K, y, label_range, delta, features, random_state)
    if label_range is None and method == "betting":
        return class_betting.class_betting_interval(K, y, delta, features, random_state)
    if method == "betting":
        return class_betting.target_betting_interval(
            K, y, label_range, delta, features, random_state
        )
    class_intervals.check_gram_range(K, features)
    if label_range is None:
        m_plus, m_minus, distance, norm = class_intervals.class_statistics(K, y)
        return class_intervals.class_interval_from(m_plus, m_minus, delta, distance, norm, features)
    length2 = class_intervals.check_label_range(y, label_range)
    numbers = class_intervals.target_statistics(K, y)
    return class_intervals.target_interval_from(len(K), delta, *numbers, features, length2)


def _asymptotic(K, y, delta, label_range):
    if label_range is None:
        values = np.where(class_intervals.positive_class(y), 1.0, -1.0)
    else:
        class_intervals.check_label_range(y, label_range)
        values = np.asarray(y, dtype=float)
        values = values - values.mean()
    return asymptotic_interval(K, np.outer(values, values), delta)


def _open_one(X, kernel):
    """The Gram matrix, the kernel (None if precomputed), and the hypotheses that are not met."""
    if isinstance(kernel, str) and kernel == "precomputed":
        source = open_source([X], "precomputed")
        if not source.kernels[0].is_psd:
            raise ValueError(
                "X is marked as indefinite; accepted: a positive semi-definite matrix."
            )
        K = source.single(0).gram()
        doubt_repeats(seen_rows(K))
        return K, None, ()
    kernels = kernel_list(kernel)
    if len(kernels) != 1:
        raise ValueError(f"kernel has {len(kernels)} kernels; accepted: one.")
    source = open_source(X, kernels, pairs=True)
    if len(source.kernels) != 1:
        raise ValueError("X consists of several tables; accepted: one matrix.")
    (used,) = source.kernels
    if not used.is_psd:
        raise ValueError(f"kernel={used} is indefinite; accepted: a positive semi-definite kernel.")
    K = np.asarray(source.single(0).gram(exact=True), dtype=np.float64)
    doubt_repeats(seen_rows(source.X))
    given = kernels[0].resolve_names(column_names(X))
    return K, used, () if given == used else (guarantees.FROM_SAMPLE,)


def _labels(y, m, label_range):
    """The checked labels, and their description."""
    if label_range is not None:
        ends = check_numbers("label_range", label_range, 2).tolist()
        return check_targets(y, m, columns=False), f"targets in {ends}"
    labels = np.asarray(plain("y", y))
    if labels.ndim != 1 or len(labels) != m:
        raise ValueError(f"y has shape {labels.shape}; accepted: ({m},), a label for each sample.")
    if len(np.unique(labels)) != 2:
        raise ValueError(
            f"y has {len(np.unique(labels))} different values; accepted: two classes, or real "
            "targets with label_range=(low, high), an interval that holds all of them."
        )
    return labels, "labels of two classes"


# -- what is known of a kernel ---------------------------------------------------------


def _feature_range(kernel, radius2):
    """(`FeatureRange` or None, its hypotheses)."""
    known = guarantees.diagonal_bound(kernel, radius2)
    words = () if radius2 is None else (f"K(x, x) <= {radius2:g}",)
    if known is None:
        return None, words
    # If all values are 0, any bound is correct.
    known = max(known, np.finfo(float).tiny)
    return class_intervals.FeatureRange(known, kernel is not None and kernel.is_non_negative), words


# -- a fitted classifier ---------------------------------------------------------------


def learned_interval(estimator, delta=0.05, radius2=None) -> AlignmentInterval:
    """Interval for the alignment of a learned kernel, from the fitted attributes.

    It holds for all non-negative weights simultaneously, so the weights may come from the same
    sample. For two classes the closed form of `alignlearn.bounds.class_intervals` with a union over
    the kernels; for more the norms of covariance operators.

    Parameters
    ----------
    estimator : fitted MKLClassifier
    delta : float in (0, 1)
    radius2 : float, optional
        Upper bound of K_k(x, x) over the distribution, for every kernel. Default: its maximum,
        where known (1 for the Gaussian and other kernels of distances, Hamming and normalized
        kernels). Without a known maximum the interval is [0, 1], with the reason in ``not_met``:
        the maximum over a sample is not a bound.

    Raises
    ------
    ValueError
        If delta or radius2 is out of range, or radius2 exceeded by a training sample.
    """
    delta = check_delta(delta)
    result, features = _prepared(estimator, delta, radius2)
    if features is None:
        return result
    statistics, w = estimator.statistics_, estimator.weights_
    m, p = statistics.n_samples, w.size
    used = np.flatnonzero(w)
    if estimator.classes_.size > 2:
        low, high, vacuous = _many_classes(estimator, delta, features, used)
        method = f"norms of covariance operators, union over {p} kernels"
    else:
        m_plus, m_minus = _class_sizes(statistics)
        unit = 2.0 * m_plus * m_minus / m
        distances = np.sqrt(np.maximum(statistics.a[used], 0.0)) / unit
        numbers = distances, statistics.norms[used] / m, w[used], [features[k] for k in used]
        low, high, vacuous = class_intervals.learned_class_interval(
            m_plus, m_minus, delta, *numbers, p
        )
        method = f"closed form, union over {p} kernel{'s' if p > 1 else ''}"
    return replace(result, low=low, high=high, vacuous=vacuous, method=method)


def _class_sizes(statistics):
    """Sizes of the two classes in either order, from |y - mean|^2 = 4 m_+ m_- / m."""
    m = statistics.n_samples
    product = statistics.target_norm * m / 4
    small = round((m - np.sqrt(max(m * m - 4 * product, 0.0))) / 2)
    return small, m - small


def _many_classes(estimator, delta, features, used):
    statistics, w = estimator.statistics_, estimator.weights_
    m = statistics.n_samples
    return learned_alignment_interval(
        m,
        delta,
        float(w @ statistics.a) / m**2,
        float(w @ statistics.M @ w) / m**2,
        (statistics.target_norm / m) ** 2,
        float(sum(w[k] * features[k].radius2 for k in used)),
        # The squared radius of a ball that holds any number of one-hot columns: the distribution
        # may have classes that the sample does not show.
        1.0,
        w.size,
    )


def sample_interval(estimator, X, y, delta, held_out, radius2, random_state):
    """`MKLClassifier.alignment_interval`."""
    delta, held_out = check_delta(delta), check_flag("held_out", held_out)
    if estimator.classes_.size != 2:
        raise ValueError(f"alignment_interval: for two classes, got {estimator.classes_.size}.")
    result, features = _prepared(estimator, delta, radius2, not held_out)
    gaps = estimator._takes_gaps()
    X = estimator._as_fitted(X) if gaps else estimator._joined(X)
    source = open_source(X, estimator.kernels_, gaps=gaps)
    if source.has_gaps:
        not_met = dict.fromkeys((*result.not_met, guarantees.GAPS))
        return replace(result, low=-1.0, not_met=tuple(not_met))
    labels = check_labels(y, source.n_samples)
    if not np.isin(labels, estimator.classes_).all() or len(np.unique(labels)) != 2:
        raise ValueError(
            f"y must contain both classes of fit, {listed(estimator.classes_.tolist())}."
        )
    if features is None:
        return result
    factors = guarantees._factors(estimator)
    used = np.flatnonzero(estimator.weights_)
    plain = [replace(features[k], radius2=features[k].radius2 / estimator.scale_[k]) for k in used]
    p, sign = factors.size, np.where(labels == estimator.classes_[1], 1.0, -1.0)
    if held_out:
        # Matrices of new samples with each other have no rows in common with those of the fit.
        if not source.is_given or source.n_samples == estimator.statistics_.n_samples:
            guarantees.refuse_seen_samples(estimator, X, labels)
        grams = [sum(factors[k] * _gram(source, k) for k in used)]
        radius = sum(factors[k] * f.radius2 for k, f in zip(used, plain))
        together = replace(
            plain[0], radius2=radius, non_negative=all(f.non_negative for f in plain)
        )
        found = class_betting.learned_betting_interval(
            grams, [1.0], [together], sign, delta, 1, random_state
        )
        method = "betting, held-out samples"
    else:
        _check_same(estimator, source, sign, used)
        doubt_repeats(estimator._ranges.rows)
        grams = (_gram(source, k) for k in used)
        weights = factors[used]
        found = class_betting.learned_betting_interval(
            grams, weights, plain, sign, delta, p, random_state
        )
        method = f"betting, union over {p} kernels and their {p * (p + 1) // 2} pairs"
    hypotheses = (*result.hypotheses, UNSEEN) if held_out else result.hypotheses
    low, high, vacuous = found
    return replace(
        result, low=low, high=high, vacuous=vacuous, method=method, hypotheses=hypotheses
    )


def _gram(source, k):
    return np.asarray(source.single(k).gram(exact=True), dtype=np.float64)


def _check_same(estimator, source, sign, used):
    """Raise an error for other samples than those of the fit, by the first alignment."""
    statistics, k = estimator.statistics_, used[0]
    same = source.n_samples == statistics.n_samples
    if same:
        centered = sign - sign.mean()
        found = estimator.scale_[k] * float(centered @ _gram(source, k) @ centered)
        scale = statistics.norms[k] * statistics.target_norm
        same = abs(found - statistics.a[k]) <= 1e-5 * scale
    if not same:
        raise ValueError(
            "X, y must be the samples that the estimator was fitted on; for other "
            "samples, set held_out=True."
        )


def _prepared(estimator, delta, radius2, from_fit=True):
    """The trivial interval [0, 1], and the `FeatureRange` of each normalized kernel or None."""
    kernels = guarantees._kernels(estimator)
    _, hypotheses, not_met, essential = guarantees.common(estimator, radius2)
    result = _says_nothing(delta, hypotheses, not_met)
    if essential:
        return replace(result, low=-1.0), None
    if from_fit and estimator.unbiased:
        return replace(result, not_met=(*not_met, _UNBIASED)), None
    p = estimator.weights_.size
    found = [_feature_range(None if kernels is None else kernels[k], radius2)[0] for k in range(p)]
    used = np.flatnonzero(estimator.weights_)
    if any(found[k] is None for k in used):
        return replace(result, not_met=(*not_met, guarantees.UNBOUNDED)), None
    guarantees.check_radii(estimator, [f and f.radius2 for f in found], used)
    scaled = [
        None if f is None else replace(f, radius2=f.radius2 * s)
        for f, s in zip(found, np.where(estimator.scale_ > 0, estimator.scale_, 1.0))
    ]
    return result, scaled
