"""Centering, alignment, HSIC and CKA of Gram matrices.

Notation: ``H = I - 11'/m``, ``Kc = H K H``, ``<A, B>_F = sum_ij A_ij B_ij``.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, overload

import numpy as np

from alignlearn._threads import in_phases
from alignlearn.validation import (
    DegenerateKernelWarning,
    check_choice,
    check_flag,
    check_gram,
    check_test_gram,
    optional_weights,
    warn,
)

from .gradients import differentiable, requires_gradient
from .jax_gradients import is_traced, traced_alignment
from .summary import unbiased_from_centered
from .targets import plain_columns, target_columns

_ROWS = 64  # held at a time
# Entries of a band of rows that is centered at once, and of a matrix whose bands threads share.
_BAND, _SHARED = 2**17, 2**21
_SELF_ROUNDING = 32 * np.finfo(np.float64).eps


def center_kernel(K, K_train=None, *, sample_weight=None) -> np.ndarray:
    """Center a Gram matrix in feature space.

    Parameters
    ----------
    K : array-like of shape (m, m), or (n, m) with ``K_train``
    K_train : array-like of shape (m, m), optional
        The training Gram matrix whose mean feature is subtracted; rows of K are then new samples.
    sample_weight : array-like of shape (m,), optional
        Of the training samples, not negative: means are weighted.

    Returns
    -------
    ndarray, float64, of K's shape
        ``K_ij - (row mean) - (column mean) + (grand mean)``, means over the training samples.

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2012), section 2.1 and Lemma 1.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Linear, center_kernel
    >>> X = np.array([[1.0], [2.0], [6.0]])
    >>> center_kernel(Linear()(X))  # inner products of -2, -1 and 3
    array([[ 4.,  2., -6.],
           [ 2.,  1., -3.],
           [-6., -3.,  9.]])
    >>> center_kernel(Linear()([[3.0]], X), Linear()(X))  # 0 by -2, -1 and 3
    array([[0., 0., 0.]])
    """
    train = _gram("K", K) if K_train is None else _gram("K_train", K_train)
    weight = optional_weights(sample_weight, len(train))
    share = None if weight is None else weight / weight.sum()
    if K_train is None:
        return center_gram(train.copy(), share=share)
    K = np.array(check_test_gram("K", K, len(train)), dtype=np.float64)
    return center_gram(K, np.average(train, axis=0, weights=share), share)


def _gram(name, K):
    return check_gram(name, K, dtype=np.float64)


@overload
def alignment(
    K: list[Any] | tuple[Any, ...], L: Any, *, kind: str = ..., unbiased: bool = ...,
    sample_weight: Any = ...,
) -> np.ndarray: ...  # fmt: skip
@overload
def alignment(
    K: Any, L: Any, *, kind: str = ..., unbiased: bool = ..., sample_weight: Any = ...
) -> float: ...
def alignment(
    K: Any, L: Any, *, kind: str = "centered", unbiased: bool = False, sample_weight: Any = None
) -> Any:
    """Alignment of two Gram matrices, or of a Gram matrix with a target.

    Parameters
    ----------
    K : array-like of shape (m, m), or a list of p such matrices
        A PyTorch tensor that requires a gradient gives a tensor, see Notes.
    L : array-like of shape (m, m), (m,) or (m, c)
        A second Gram matrix, or a target y: real values, or class labels (two classes count as
        -1 and +1, more as one-hot columns). A matrix is a Gram matrix if it is square.
    kind : {"centered", "uncentered", "unnormalized"}
        ``<Kc, Lc>_F / (|Kc|_F |Lc|_F)``, Definition 4 of the reference; the same without centering,
        of Cristianini et al. (2001); or ``<Kc, Lc>_F / m^2``, Definition 5.
    unbiased : bool, default False
        Whether to use U-statistics, which leave out the pairs of a sample with itself, as `cka`
        does; for "centered", without ``sample_weight``.
    sample_weight : array-like of shape (m,), optional
        Not negative. Weights count repetitions: means and sums are weighted, and m is their sum.

    Returns
    -------
    float, ndarray of shape (p,) for a list, or tensor
        In [0, 1] for positive semi-definite matrices when normalized. If one of them is constant
        after centering (or zero), the alignment is 0, with a DegenerateKernelWarning.

    Notes
    -----
    For tensors that require a gradient the result is a tensor whose ``backward()`` uses the closed
    form of `alignment_gradient`, by blocks of rows: no centered matrix is held. JAX arrays may be
    traced, by ``jax.grad``, ``jax.jit`` or ``jax.vmap``; their gradient is computed by a callback
    on the processor.

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2012), section 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, Linear, alignment
    >>> X = np.random.default_rng(0).normal(size=(40, 1))
    >>> y = np.sin(3 * X[:, 0])
    >>> alignment(Gaussian(1.0)(X), y) > alignment(Linear()(X), y)  # a kernel with a target
    True
    >>> round(alignment(np.outer(y, y), y), 6)  # the target's own kernel
    1.0
    >>> alignment([Gaussian(1.0)(X), Linear()(X)], y, unbiased=True).shape  # of several kernels
    (2,)
    """
    given = {"kind": kind, "unbiased": unbiased, "sample_weight": sample_weight}
    if requires_gradient(K, L) or is_traced(K, L):
        return _differentiable(K, L, **given)
    if isinstance(K, (list, tuple)) and len(K) > 0 and np.ndim(K[0]) == 2:
        return np.array([alignment(one, L, **given) for one in K])
    if unbiased:
        if kind != "centered":
            raise ValueError(f"unbiased=True is for kind='centered', got kind={kind!r:.40}.")
        return cka(K, L, unbiased=unbiased, sample_weight=sample_weight)
    check_choice("kind", kind, ("centered", "uncentered", "unnormalized"))
    t = _terms(K, L, sample_weight, center=kind != "uncentered")
    if kind == "unnormalized":
        return t.inner * t.units / t.m**2
    return _ratio_or_zero(t.inner, np.sqrt(t.squares[0] * t.squares[1]), "alignment")


def _differentiable(K, L, kind="centered", unbiased=False, sample_weight=None):
    """The alignment of tensors as a tensor."""
    if sample_weight is not None:
        raise ValueError(
            "sample_weight does not go with tensors that require a gradient; accepted: one of them."
        )
    found = traced_alignment if is_traced(K, L) else differentiable
    return found(K, L, kind, unbiased)


class _Matrix:
    """A Gram matrix by rows, divided by its largest entry, which normalized measures ignore."""

    def __init__(self, K, center, weight):
        self.share = None
        if weight is not None:
            used = np.flatnonzero(weight)
            K = K if used.size == weight.size else K[np.ix_(used, used)]
            self.share = weight[used] / weight.sum()
        self.K, self.m = K, len(K)
        self.unit = max(float(np.max(np.abs(self.K[rows]))) for rows in self.row_blocks()) or 1.0
        # Centering has rounding errors of a few units in the last place of the largest entry.
        self.rounding = 8.0 * np.finfo(self.K.dtype).eps if center else 0.0
        self.means = np.zeros(self.m)
        if center:
            self.means = self._means() / self.unit

    def _means(self):
        if self.share is None:
            return self.K.mean(axis=0, dtype=np.float64)
        return sum(self.share[rows] @ self.K[rows] for rows in self.row_blocks())

    def row_blocks(self):
        """Slices of rows, so that no matrix of K's size is held besides K."""
        return [slice(i, i + _ROWS) for i in range(0, self.m, _ROWS)]

    def block(self, rows):
        """Some rows, centered."""
        block = np.array(self.K[rows], dtype=np.float64) / self.unit
        return center_gram(block, self.means, self.share) if self.means.any() else block


class _Target:
    """The kernel ``Y Y'`` of target columns, by rows."""

    unit, rounding = 1.0, 0.0

    def __init__(self, Y):
        self.Y, self.m = Y, len(Y)

    def block(self, rows):
        """Some rows."""
        return self.Y[rows] @ self.Y.T


class _Terms(NamedTuple):
    """Sums over the entries of two (centered) matrices, each over its unit; mean weight 1."""

    inner: float
    squares: tuple[float, float]
    diagonal_products: tuple[float, float, float]  # sums of K with L, and of each with itself
    traces: tuple[float, float]
    units: float
    m: int


def _terms(K, L, sample_weight, center=True):
    """One pass over both matrices; sums of a matrix that is only rounding are exactly 0."""
    K = check_gram("K", K)
    weight = optional_weights(sample_weight, len(K))
    L = _gram_or_target("L", L, len(K), center, weight)
    K = _Matrix(K, center, weight)
    root = None if K.share is None else np.sqrt(K.m * K.share)
    sums, largest, diagonals = np.zeros(3), np.zeros(2), []
    for rows in K.row_blocks():
        k, el = K.block(rows), L.block(rows)
        largest = np.maximum(largest, [np.max(np.abs(k)), np.max(np.abs(el))])
        if root is not None:
            pairs = np.outer(root[rows], root)
            k, el = k * pairs, el * pairs
        sums += np.vdot(k, el), np.vdot(k, k), np.vdot(el, el)
        diagonals.append((np.diagonal(k, rows.start).copy(), np.diagonal(el, rows.start).copy()))
    d, e = (np.concatenate(parts) for parts in zip(*diagonals))
    if largest[0] <= K.rounding:
        sums[:2], d = 0.0, np.zeros(K.m)
    if largest[1] <= L.rounding:
        sums[[0, 2]], e = 0.0, np.zeros(K.m)
    products = float(d @ e), float(d @ d), float(e @ e)
    traces = float(d.sum()), float(e.sum())
    squares = float(sums[1]), float(sums[2])
    return _Terms(float(sums[0]), squares, products, traces, K.unit * L.unit, K.m)


def _gram_or_target(name, L, m, center, weight):
    # A list of labels of mixed type stays a list, because an array would hide the types.
    shape = L.shape if hasattr(L, "shape") else np.asarray(L, dtype=object).shape
    if len(shape) == 2 and shape[0] == shape[1]:
        L, columns = check_gram(name, L), None
    else:
        columns = target_columns if center else plain_columns
        same = weight if shape[:1] == (m,) else None  # an error is raised below
        L = columns(L, name=name, weight=same)
    if shape[0] != m:
        raise ValueError(f"{name} has {shape[0]} samples, but K has {m}.")
    return _Matrix(L, center, weight) if columns is None else _Target(L)


def _ratio_or_zero(numerator, denominator, what):
    if denominator > 0:
        # Rounding must not move the result out of the interval of all alignments.
        return float(np.clip(numerator / denominator, -1.0, 1.0))
    warn(
        f"The {what} is 0 by definition: a kernel has no variance on this sample (constant after "
        "centering), or none off its diagonal if unbiased.",
        DegenerateKernelWarning,
    )
    return 0.0


def hsic(K, L, *, unbiased=False, sample_weight=None) -> float:
    """Hilbert-Schmidt independence criterion of two Gram matrices.

    Parameters
    ----------
    K : array-like of shape (m, m)
    L : array-like of shape (m, m), (m,) or (m, c)
        A Gram matrix or a target, as in :func:`alignment`.
    unbiased : bool, default False
        False: ``<Kc, Lc>_F / m^2`` (>= 0 for kernels, biased upwards or downwards by O(1/m)).
        True: the U-statistic, of expectation exactly ``E[Kc Lc]``; needs m >= 4, may be negative.
    sample_weight : array-like of shape (m,), optional
        Numbers of repetitions of the samples, not negative. Not with ``unbiased=True``.

    Returns
    -------
    float

    References
    ----------
    Song, Smola, Gretton, Bedo and Borgwardt (2012), Feature selection via dependence maximization,
    for the U-statistic.

    Examples
    --------
    A variable and its square are uncorrelated, and depend on each other:

    >>> import numpy as np
    >>> from alignlearn import Gaussian, hsic
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(60, 1)), rng.normal(size=(60, 1))
    >>> kernel = Gaussian(0.5)
    >>> hsic(kernel(x), kernel(x**2)) > 3 * hsic(kernel(x), kernel(noise))
    True
    """
    refuse_weights(check_flag("unbiased", unbiased), sample_weight)
    t = _terms(K, L, sample_weight)
    if not unbiased:
        return t.inner * t.units / t.m**2
    return _unbiased(t.inner, t.diagonal_products[0], *t.traces, t.m) * t.units


def refuse_weights(unbiased, sample_weight):
    """Raise an error for a U-statistic with sample weights."""
    if unbiased and sample_weight is not None:
        raise ValueError(
            "unbiased=True takes no sample_weight: a U-statistic sums over different samples, and "
            "whether a repetition is one depends on what the weights mean; accepted: repeated "
            "samples, or unbiased=False."
        )


def _unbiased(inner, diagonal_product, trace, other_trace, m):
    if m < 4:
        raise ValueError(f"unbiased=True needs at least 4 samples, got {m}.")
    return unbiased_from_centered(inner / m**2, diagonal_product, trace, other_trace, m)


def cka(K, L, *, unbiased=False, sample_weight=None) -> float:
    """Centered kernel alignment as a similarity index of representations.

    ``hsic(K, L) / sqrt(hsic(K, K) hsic(L, L))``. With ``unbiased=False`` this is
    :func:`alignment`; with ``unbiased=True`` each term is the U-statistic, which removes the
    upward bias that makes wide representations of few samples look alike.

    Parameters
    ----------
    K : array-like of shape (m, m)
    L : array-like of shape (m, m), (m,) or (m, c)
        A Gram matrix or a target.
    unbiased : bool, default False
        Whether to use U-statistics; needs m >= 4.
    sample_weight : array-like of shape (m,), optional
        Numbers of repetitions of the samples, not negative. Not with ``unbiased=True``.

    Returns
    -------
    float, or tensor where K or L is a PyTorch tensor that requires a gradient
        In [0, 1] for kernels if biased, in [-1, 1] if not. 0 with a DegenerateKernelWarning where a
        self term is 0: no variance, or (unbiased) a matrix ``f_i + f_j`` off its diagonal.

    Examples
    --------
    Of few samples of many features the biased index is far from 0 for independent ones:

    >>> import numpy as np
    >>> from alignlearn import Linear, cka
    >>> rng = np.random.default_rng(0)
    >>> K, L = (Linear()(rng.normal(size=(20, 100))) for _ in range(2))
    >>> round(cka(K, L), 1), abs(cka(K, L, unbiased=True)) < 0.1
    (0.8, True)
    >>> round(cka(K, 5 * K), 6)
    1.0
    """
    refuse_weights(check_flag("unbiased", unbiased), sample_weight)
    if requires_gradient(K, L) or is_traced(K, L):
        return _differentiable(K, L, unbiased=unbiased, sample_weight=sample_weight)
    t = _terms(K, L, sample_weight)
    if not unbiased:
        return _ratio_or_zero(t.inner, np.sqrt(t.squares[0] * t.squares[1]), "CKA")
    both = _unbiased(t.inner, t.diagonal_products[0], *t.traces, t.m)
    own = []
    for square, product, trace in zip(t.squares, t.diagonal_products[1:], t.traces):
        value = _unbiased(square, product, trace, trace, t.m)
        # The U-statistic of a diagonal matrix with itself is only rounding.
        own.append(value if value > _SELF_ROUNDING * square / t.m**2 else 0.0)
    return _ratio_or_zero(both, np.sqrt(own[0] * own[1]), "CKA")


def center_gram(K, means=None, share=None):
    """Center a Gram matrix in feature space, in place.

    A system of ridge regression, which also needs a constant on all entries, is centered in the
    same pass over the matrix.

    Parameters
    ----------
    K : ndarray of shape (m, m), or (n, m) with ``means``
        Training kernel, or new samples against training samples.
    means : ndarray of shape (m,), optional
        Column means of the training matrix; default K's own.
    share : ndarray of shape (m,), optional
        Weights of the training samples that sum to 1. Default: equal weights. Zeros leave K
        unchanged.

    Returns
    -------
    ndarray
        K, with entries ``K_ij - (row mean)_i - means_j + mean(means)``.
    """
    if share is None:
        means = K.mean(axis=0, dtype=np.float64) if means is None else means
        total = means.mean()
    else:
        means = share @ K if means is None else means
        total = share @ means
    # Bands of rows stay in the cache, and are shared among threads.
    step = max(1, _BAND // max(1, K.shape[1]))
    given = means - total, share
    bands = [partial(_center_rows, K[i : i + step], *given) for i in range(0, len(K), step)]
    in_phases([bands] if K.size >= _SHARED else [[band] for band in bands])
    return K


def _center_rows(K, means, share):
    """Subtract from some rows their means, and ``means``, in place."""
    # Rows first, because in a matrix of new samples they contain the constants.
    K -= K.mean(axis=1, keepdims=True, dtype=np.float64) if share is None else (K @ share)[:, None]
    K -= means
