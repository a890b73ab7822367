"""Centred kernel alignment of sets of features, such as the layers of networks."""

from __future__ import annotations

import warnings

import numpy as np

from alignlearn.kernels import Columns
from alignlearn.sources import AlignmentAccumulator, open_source
from alignlearn.validation import (
    DegenerateKernelWarning,
    as_array,
    check_flag,
    check_samples,
    is_sequence,
    plain,
)

from .views import naming, view_kernels


def cka_matrix(features, other=None, *, kernels="linear", unbiased=False):
    """Centred kernel alignment of every set of features with every other.

    Parameters
    ----------
    features : sequence of p arrays with m rows, or array of shape (p, m, d)
        Representations of the same m samples, such as the layers of a network; what follows the
        first axis is made one. With "precomputed" Gram matrices (m, m).
    other : sequence of q arrays with m rows, optional
        Those of a second network; default ``features`` again.
    kernels : Kernel, str, or a sequence of these, default "linear"
        One for all, or one for each set (those of ``features``, then those of ``other``);
        "precomputed" for all.
    unbiased : bool, default False
        Whether HSIC is the U-statistic (m >= 4): wide representations of few samples look alike
        otherwise.

    Returns
    -------
    ndarray of shape (p, p) or (p, q)
        ``HSIC(K, L) / sqrt(HSIC(K, K) HSIC(L, L))``; 1 for the same features up to rotation, scale
        and shift. In [0, 1] if biased, [-1, 1] if not.

    Warns
    -----
    DegenerateKernelWarning
        A set of features does not vary; its values are 0.

    Notes
    -----
    Streamed over pairs of samples: no Gram matrix is formed.

    References
    ----------
    Kornblith, Norouzi, Lee and Hinton (2019), Similarity of neural network representations
    revisited, equation 4.
    """
    unbiased = check_flag("unbiased", unbiased)
    X, kernels, shape = _together(features, other, kernels)
    source = open_source(X, kernels, pairs=True)
    nothing = np.zeros(source.n_samples)
    statistics = source.statistics(nothing, "regression", unbiased=unbiased)
    return _ratios(statistics.M, shape)


class CKAAccumulator:
    """`cka_matrix` from mini-batches: averages of unbiased HSIC, one batch in memory at a time.

    Every batch gives U-statistics of all pairs of representations; their averages estimate the same
    expectations without bias, at any batch size from 4 up. One batch of all samples gives
    ``cka_matrix(unbiased=True)``, and so does the average over all subsets of one size.

    Parameters
    ----------
    kernels : as in :func:`cka_matrix`
        ``gamma="scale"`` is fixed by the first batch.

    Attributes
    ----------
    n_batches : int

    References
    ----------
    Nguyen, Raghu and Kornblith (2021), Do wide and deep networks learn the same things?, section 3.
    """

    def __init__(self, kernels="linear"):
        self.kernels = kernels
        self._sums = self._layout = None

    @property
    def n_batches(self):
        """How many batches have been added."""
        return 0 if self._sums is None else self._sums.n_batches

    def update(self, features, other=None):
        """Add a batch, as in :func:`cka_matrix`; b >= 4 samples. Returns self."""
        X, kernels, shape = _together(features, other, self.kernels)
        given = isinstance(kernels, str)
        layout = shape, kernels if given else tuple(k.columns[-1] for k in kernels)
        if self._layout not in (None, layout):
            raise ValueError(
                "features have another number or width than in the batches before; accepted: the "
                "same representations of other samples."
            )
        sums = AlignmentAccumulator(kernels, task="regression") if not self._sums else self._sums
        n_samples = len(X[0]) if given else len(X)
        sums.update(X, np.zeros(n_samples))
        self._sums, self._layout = sums, layout
        return self

    def merge(self, other):
        """Add what another accumulator has seen; return self. The kernels must be the same."""
        if other._sums is None:
            return self
        if self._sums is None:
            self._sums = AlignmentAccumulator(other.kernels, task="regression")
        elif self._layout != other._layout:
            raise ValueError("other has seen representations of another number or width.")
        self._sums.merge(other._sums)
        self._layout = other._layout
        return self

    def matrix(self):
        """The CKA matrix (p, p) or (p, q) of the batches so far.

        Raises
        ------
        ValueError
            No batch has been added.
        """
        if self._sums is None:
            raise ValueError("no batch has been added; call update(features) first.")
        return _ratios(self._sums.statistics().M, self._layout[0])


def _together(features, other, kernels):
    """All representations side by side, a kernel on the columns of each, and (p, q or None)."""
    first = _listed("features", features)
    second = [] if other is None else _listed("other", other)
    shape = len(first), None if other is None else len(second)
    sets = first + second
    if isinstance(kernels, str) and kernels == "precomputed":
        return sets, kernels, shape
    kernels = view_kernels(kernels, len(sets))
    if "precomputed" in [k for k in kernels if isinstance(k, str)]:
        raise ValueError('kernels: "precomputed" is for all sets of features or for none.')
    names = [f"features[{k}]" for k in range(shape[0])] + [
        f"other[{k}]" for k in range(len(second))
    ]
    sets = [_flat(name, A) for name, A in zip(names, sets)]
    for name, A in zip(names, sets):
        if len(A) != len(sets[0]):
            raise ValueError(
                f"{name} has {len(A)} rows, but features[0] has {len(sets[0])}; accepted: "
                "representations of the same samples."
            )
    ends = np.cumsum([A.shape[1] for A in sets])
    kernels = [
        Columns(kernel, slice(int(end) - A.shape[1], int(end)))
        for kernel, A, end in zip(kernels, sets, ends)
    ]
    return np.concatenate(sets, axis=1), kernels, shape


def _listed(name, features):
    features = plain(name, features)
    if not is_sequence(features) or len(features) == 0 or len(np.shape(features[0])) < 2:
        raise ValueError(
            f"{name} must be a non-empty sequence of arrays with a row per sample, got "
            f"{features!r:.80}."
        )
    return list(features)


def _flat(name, A):
    with naming(name):
        A = as_array("X", A)
        return check_samples("X", A.reshape(len(A), -1) if A.ndim > 2 else A)


def _ratios(M, shape):
    norms = np.sqrt(np.maximum(np.diagonal(M), 0.0))
    flat = np.flatnonzero(norms == 0.0)
    if flat.size:
        warnings.warn(
            f"{flat.size} of the {norms.size} sets of features do not vary on these samples, the "
            f"first is number {flat[0]}: their CKA is 0 by definition.",
            DegenerateKernelWarning,
            stacklevel=3,
        )
    inverse = np.divide(1.0, norms, where=norms > 0.0, out=np.zeros_like(norms))
    p, q = shape
    columns = slice(0, p) if q is None else slice(p, p + q)
    # By one norm after the other: their product may overflow.
    values = M[:p, columns] * inverse[:p, None] * inverse[columns]
    return np.clip(values, -1.0, 1.0)
