"""Weights of hyper-kernels by alignment: the samples are pairs, and their target is K."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.kernels import Kernel
from alignlearn.sources import alignment_statistics
from alignlearn.validation import check_choice, check_count, check_samples, check_seed
from alignlearn.weights import get_weighting

from ._pairs import open_target
from ._terms import total
from .algebra import HyperKernel, HyperKernelSum, merged

_RULES = ("alignf", "alignf-linear", "align", "align-lq")


@dataclass(frozen=True)
class PairKernel(Kernel):
    """A hyper-kernel as a kernel of samples that are pairs: rows (x, x') of 2 d columns.

    It makes hyper-kernels available wherever kernels are accepted: alignment statistics, weights of
    several hyper-kernels in one or two stages, models on pairs. Values do not depend on the order
    in a pair.

    Parameters
    ----------
    hyper_kernel : HyperKernel

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.hyper import GaussianHyperKernel, PairKernel
    >>> pairs = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
    >>> PairKernel(GaussianHyperKernel(1.0, 1.0))(pairs).round(3)
    array([[0.368, 0.368, 0.001],
           [0.368, 0.368, 0.001],
           [0.001, 0.001, 0.   ]])
    """

    hyper_kernel: HyperKernel

    takes_sparse = False

    def __post_init__(self):
        if not isinstance(self.hyper_kernel, HyperKernel):
            raise TypeError(f"hyper_kernel must be a hyper-kernel, got {self.hyper_kernel!r:.80}.")

    def __str__(self):
        return f"pairs ({self.hyper_kernel!r:.60})"

    @property
    def is_psd(self):
        return True

    def resolve(self, X, weight=None):
        """Replace parameters that depend on the points in the pairs X (n, 2 d) by numbers."""
        return PairKernel(self.hyper_kernel.resolve(np.concatenate(_ends(X))))

    def block(self, X, Y):
        left, right = (_side(np.asarray(Z, dtype=np.float64)) for Z in (X, Y))
        return total(term.values(left, right) for term in merged(self.hyper_kernel._terms()))


def _ends(X):
    """Both points of every pair."""
    if X.shape[1] % 2:
        raise ValueError(
            f"X has {X.shape[1]} columns; a pair (x, x') has an even number, the columns "
            "of x and those of x'."
        )
    return np.split(np.asarray(X), 2, axis=1)


def _side(X):
    first, second = _ends(X)
    return np.concatenate([first, second]), np.arange(len(X)), np.arange(len(X), 2 * len(X))


def align_hyper_kernels(
    hyper_kernel, X, K, *, weighting="alignf", max_pairs=3000, random_state=None
) -> HyperKernelSum:
    """Weight the parts of a sum by their alignment with the known similarities.

    Parameters
    ----------
    hyper_kernel : HyperKernelSum
        Such as the result of `hyper_kernels`.
    X : array-like of shape (m, d)
    K : array-like of shape (m, m) or (m,)
        Symmetric similarities, NaN if unknown (a pair is known if one of its two orders is), or
        labels, which stand for their ideal kernel (`ideal_kernel`).
    weighting : {"alignf", "alignf-linear", "align", "align-lq"}, default "alignf"
        Rule for the weights, from alignment. For one-stage rules, pass the `PairKernel` of each
        part to `MKLRegressor`.
    max_pairs : int, default 3000
        If there are more known pairs, this number is drawn. All pairs of them are summed in blocks.
    random_state : int or numpy.random.Generator, optional
        Seed of this draw. None is a fixed seed.

    Returns
    -------
    HyperKernelSum
        Resolved on X, without the parts of weight 0; the weights sum to those given.

    Raises
    ------
    ValueError, TypeError
        Bad input.

    Notes
    -----
    Every pair has weight 1. With the default ladder, the weights of "align" are about as good as
    equal ones, and those of "alignf", most of which are 0, are worse for known kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, hyper_kernels
    >>> from alignlearn.hyper import align_hyper_kernels
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> parts = hyper_kernels(widths=(0.25, 1.0, 4.0), reach=4.0)
    >>> found = align_hyper_kernels(parts, X, Gaussian(0.5)(X), weighting="align")
    >>> len(found.parts), bool(np.isclose(sum(found.weights), sum(parts.weights)))
    (3, True)
    """
    if not isinstance(hyper_kernel, HyperKernelSum):
        raise TypeError(f"hyper_kernel must be a sum of hyper-kernels, got {hyper_kernel!r:.80}.")
    X = np.asarray(check_samples("X", X), dtype=np.float64)
    check_count("max_pairs", max_pairs, optional=False)
    rng = check_seed("random_state", random_state)
    check_choice("weighting", weighting, _RULES)
    hyper = hyper_kernel.resolve(X)
    known = open_target(K, len(X)).pairs(np.arange(len(X)), max_pairs, rng)
    pairs = np.concatenate([X[known.first], X[known.second]], axis=1)
    kernels = [PairKernel(part) for part in hyper.parts]
    statistics = alignment_statistics(pairs, known.target, kernels)
    weights = get_weighting(weighting).solve(statistics).weights
    if not weights.any():
        raise ValueError("no part of hyper_kernel is aligned with the known similarities.")
    weights = weights * (sum(hyper.weights) / weights.sum())
    kept = [(part, w) for part, w in zip(hyper.parts, weights) if w > 1e-12 * weights.max()]
    return HyperKernelSum(*zip(*kept))
