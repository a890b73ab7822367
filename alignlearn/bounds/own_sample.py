"""A model with an error bound from its own training sample, a part of which defines the prior.

A randomly drawn part of the sample, the first part, determines the kernel (it may be learned
there), the features and a ridge regression h_1. The features z in R^(q+1) are the leading principal
components of the kernel on the first part, and a constant. The model h is the ridge regression on z
of all samples. Let Q be the Gaussian distribution N(c h/|h|, I) of linear predictors, and P = N(a
h_1/|h_1|, I), which does not depend on the n other samples. Under Q, the loss 1[y <g, z> < t |z|]
has the mean Phi(t - c y <h, z>/(|h| |z|)), which is at least Phi(t) if h errs. The divergence is
KL(Q, P) = (c^2 + a^2 - 2 a c cos)/2 with the cosine of h and h_1. By Maurer (2004), with
probability 1 - delta over the n other samples, for all c and h, and all a and t of two lists,

    risk of sign h <= p/Phi(t),  kl(mean loss of the n, p) <= (KL + log(2 n^(1/2) J/delta))/n,

where J is the number of pairs (a, t). Ambroladze, Parrado-Hernandez and Shawe-Taylor (2007)
introduced priors from a part of the sample. The bound is tighter if |z| is small relative to
<h, z>, as with few features: with all features of the kernel it is below 1/2 half as often
(table in ``docs/guide/guarantees.md``; proof: ``p1_alignment/proofs.md``, section 26).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn.validation import check_numbers, check_seed

from .checks import HypothesisNotMet, check_delta, check_size
from .guarantee import SAMPLE
from .learned import LearnedBound, better_of_levels

SHIFTS = (4.0, 8.0, 16.0)  # a
LEVELS = (1.0, 1.5)  # t
_SCALES = np.geomspace(0.5, 256.0, 37)  # c, any of which is allowed
_COMPONENTS = 6
_WHITENED = 0.5  # 0: unscaled components, 1: components of equal size
_CONSTANT = 0.2  # squared, over the mean squared length of the components
_RIDGE = 0.5 / 6  # times the size of the first part
_PART = 0.4  # of the samples, the first part
_HYPOTHESES = (
    SAMPLE,
    "the first part was drawn at random; kernel, features and the prior come from it alone",
)
_IN_ORDER = (
    "the first part is that of the first samples in their order, which may be sorted: draw it by "
    "random_part"
)


class OwnSample(NamedTuple):
    """A model, and a bound on its error probability from its training samples.

    Attributes
    ----------
    coef : array (first,)
    intercept : float
        The decision for x is sum_j coef_j K(x, x_j) + intercept, over the first part.
    bound : LearnedBound
        ``ratio`` is c; with ``hypotheses`` and those ``not_met``.
    first : array of int (first,)
        Numbers of the samples of the first part.
    """

    coef: np.ndarray
    intercept: float
    bound: LearnedBound
    first: np.ndarray

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """Hypotheses of the bound."""
        return self.bound.hypotheses

    @property
    def not_met(self) -> tuple[str, ...]:
        """Hypotheses that are known not to be met."""
        return self.bound.not_met


def random_part(m, random_state=0) -> np.ndarray:
    """Two fifths of the numbers of m samples, drawn at random: the first part.

    Parameters
    ----------
    m : int
    random_state : int, Generator or None
    """
    return check_seed("random_state", random_state).permutation(m)[: max(2, int(_PART * m))]


def own_sample_machine(K, y, delta=0.05, *, first=None, random_state=0) -> OwnSample:
    """Ridge classifier for two classes, with a bound on its error from its training samples.

    Parameters
    ----------
    K : array (m, m), or (m, f) with ``first``
        Kernel values between all samples, or between all samples and the first part. The kernel is
        chosen without these samples, or learned on the first part.
    y : array (m,)
        +1 and -1.
    delta : float in (0, 1)
        The bound fails with probability at most ``delta``, over the other samples.
    first : array of int (f,), optional
        The samples of the first part, drawn at random as by `random_part`. Default: drawn here.
        If they are the first f samples in order, the bound is marked as not meeting its hypotheses:
        for a sample sorted by class it would be smaller than the error.
    random_state : int, Generator or None, default 0
        Seed of the first part if ``first`` is not given, which must be chosen without looking at
        the result.

    Raises
    ------
    ValueError
        If delta is not in (0, 1), a label is not +-1, shapes do not fit, or K of the first part is
        constant.
    HypothesisNotMet
        A ValueError: for fewer than 8 samples beside the first part.
    """
    delta, K, y = check_delta(delta), check_numbers("K", K, 3, 2), check_numbers("y", y, 3)
    if len(y) != len(K):
        raise ValueError(f"K has shape {K.shape} and y {y.shape}; accepted: (m, m) and (m,).")
    if not (np.abs(y) == 1).all():
        raise ValueError("y must hold +1 and -1 only.")
    K, first = _of_first_part(K, first, random_state)
    m, f = K.shape
    check_size(m - f, 8, "m beside the first part")
    rest = np.setdiff1d(np.arange(m), first)
    directions, means, constant = _components(K[first])
    Z = np.column_stack([(K - means) @ directions, np.full(m, constant)])
    h, h_1 = (_ridge(Z[n], y[n], _RIDGE * f) for n in (slice(None), first))
    lengths = np.linalg.norm(Z[rest], axis=1)
    cosines = y[rest] * (Z[rest] @ h) / (np.linalg.norm(h) * lengths)
    agreement = h @ h_1 / (np.linalg.norm(h) * np.linalg.norm(h_1))
    coef = directions @ h[:-1]
    bound = prior_bound(cosines, float(agreement), delta)
    if np.array_equal(first, np.arange(f)):
        bound = bound._replace(not_met=(_IN_ORDER,))
    return OwnSample(coef, float(h[-1] * constant - means @ coef), bound, first)


def _of_first_part(K, first, random_state):
    """The columns (m, f) of the first part, and its samples (f,)."""
    m = len(K)
    if first is None:
        if K.shape[1] != m:
            raise ValueError(
                f"K has shape {K.shape}; accepted: ({m}, {m}), or ({m}, f) if "
                "first has the numbers of the f samples of its columns, drawn at random."
            )
        first = random_part(m, random_state)
        return K[:, first], first
    first = np.asarray(first)
    fits = first.ndim == 1 and first.dtype.kind in "iu" and len(np.unique(first)) == len(first)
    if not fits or not len(first) or first.min() < 0 or first.max() >= m:
        raise ValueError(f"first must contain different sample numbers, 0 to {m - 1}.")
    if K.shape[1] == m:
        K = K[:, first]
    if K.shape[1] != len(first):
        raise ValueError(
            f"K has {K.shape[1]} columns; accepted: {len(first)}, one for each sample in first."
        )
    return K, first


def prior_bound(cosines, agreement, delta) -> LearnedBound:
    """Bound on the error probability of sign <h, z>, with a prior at an independent h_1.

    Parameters
    ----------
    cosines : array (n,)
        y <h, z>/(|h| |z|) of samples on which h may depend, but not h_1 and the features.
    agreement : float in [-1, 1]
        The cosine of h and h_1.
    delta : float in (0, 1)

    Returns
    -------
    LearnedBound
        At most 1.
    """

    delta, cosines = check_delta(delta), check_numbers("cosines", cosines, 1)
    n = int(check_size(cosines.size, 8, "n"))
    if not (np.abs(cosines) <= 1 + 1e-9).all() or not abs(agreement) <= 1 + 1e-9:
        raise HypothesisNotMet("cosines and agreement must lie in [-1, 1].")
    cost = np.log(2 * np.sqrt(n) * len(SHIFTS) * len(LEVELS) / delta)
    best = LearnedBound(1.0, 1.0, 0.0, 0.0, _HYPOTHESES)
    for c in _SCALES:
        for a in SHIFTS:
            divergence = (c**2 + a**2 - 2 * a * c * agreement) / 2
            right = (divergence + cost) / n
            best = better_of_levels(best, c * cosines, right, LEVELS, c)
    return best


def _components(K):
    """Maps a row k of K to features: (k - means) @ directions, and a constant one.

    Centered components of K, whitened in part, of mean squared length 1 with the constant.
    """
    means = K.mean(axis=1)
    centered = K - means - means[:, None] + means.mean()
    values, vectors = np.linalg.eigh((centered + centered.T) / 2)
    values, vectors = values[::-1][:_COMPONENTS], vectors[:, ::-1][:, :_COMPONENTS]
    used = values > 1e-10 * max(values[0], np.abs(K).max())
    if not used.any():
        raise ValueError(
            "K is constant on the first part of the samples; accepted: a kernel that varies on it."
        )
    values, vectors = values[used], vectors[:, used]
    shrink = (values / values[0]) ** (-_WHITENED / 2)
    squared = (values * shrink**2).sum() / len(K)
    scale = 1 / np.sqrt(squared * (1 + _CONSTANT))
    # Columns of `vectors` sum to 0, so the mean of k need not be subtracted.
    return scale * vectors * (shrink / np.sqrt(values)), means, scale * np.sqrt(_CONSTANT * squared)


def _ridge(Z, y, ridge):
    return np.linalg.solve(Z.T @ Z + ridge * np.eye(Z.shape[1]), Z.T @ y)
