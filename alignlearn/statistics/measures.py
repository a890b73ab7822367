"""Centring, alignment, HSIC and CKA of Gram matrices.

Notation: ``H = I - 11'/m``, ``Kc = H K H``, ``<A, B>_F = sum_ij A_ij B_ij``.
"""

from __future__ import annotations

import warnings

import numpy as np

from alignlearn.validation import (
    DegenerateKernelWarning,
    check_choice,
    check_gram,
    check_test_gram,
)

from .centring import centre_gram, unbiased_from_centred
from .targets import plain_columns, target_columns


def center_kernel(K, K_train=None):
    """Centre a Gram matrix in feature space.

    Parameters
    ----------
    K : array-like of shape (m, m), or (n, m) with ``K_train``
    K_train : array-like of shape (m, m), optional
        The training Gram matrix whose mean feature is subtracted; rows of K are then new samples.

    Returns
    -------
    ndarray, float64, of K's shape
        ``K_ij - (row mean) - (column mean) + (grand mean)``, means over the training samples.

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2012), section 2.1 and Lemma 1.
    """
    if K_train is None:
        return centre_gram(_gram("K", K).copy())
    K_train = _gram("K_train", K_train)
    K = np.array(check_test_gram("K", K, len(K_train)), dtype=np.float64)
    return centre_gram(K, K_train.mean(axis=0))


def _gram(name, K):
    return check_gram(name, K, dtype=np.float64)


def alignment(K, L, *, kind="centered"):
    """Alignment of two Gram matrices, or of a Gram matrix with a target.

    Parameters
    ----------
    K : array-like of shape (m, m)
    L : array-like of shape (m, m), (m,) or (m, c)
        A second Gram matrix, or a target y: real values, or class labels (two classes count as
        -1 and +1, more as one-hot columns). A matrix is a Gram matrix if it is square.
    kind : {"centered", "uncentered", "unnormalized"}
        ``<Kc, Lc>_F / (|Kc|_F |Lc|_F)``, Definition 4 of the reference; the same without centring,
        of Cristianini et al. (2001); or ``<Kc, Lc>_F / m^2``, Definition 5.

    Returns
    -------
    float
        In [0, 1] for positive semi-definite matrices when normalised. If one of them is constant
        after centring (or zero), the alignment is 0 and a DegenerateKernelWarning says so.

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2012), section 2.2.
    """
    check_choice("kind", kind, ("centered", "uncentered", "unnormalized"))
    K = _gram("K", K)
    L = _gram_or_target("L", L, K.shape[0], center=kind != "uncentered")
    if kind == "unnormalized":
        return _hsic(_center_or_zero(K), _center_or_zero(L), False)
    K, L = _unit(K), _unit(L)
    if kind == "centered":
        K, L = _center_or_zero(K), _center_or_zero(L)
    inner = float(np.vdot(K, L))
    return _ratio_or_zero(inner, np.linalg.norm(K) * np.linalg.norm(L), "alignment")


def _gram_or_target(name, L, m, *, center=True):
    # A list of labels of mixed type has to stay one: an array would hide it.
    shape = L.shape if hasattr(L, "shape") else np.asarray(L, dtype=object).shape
    if len(shape) == 2 and shape[0] == shape[1]:
        L = _gram(name, L)
    else:
        columns = target_columns if center else plain_columns
        Y = columns(L, name=name)
        L = Y @ Y.T
    if L.shape[0] != m:
        raise ValueError(f"{name} has {L.shape[0]} samples, but K has {m}.")
    return L


def _unit(K):
    """K over its largest entry, which a normalised measure cannot see, and products bear."""
    largest = np.max(np.abs(K))
    return K / largest if largest > 0 else K


# Centring rounds by a few units in the last place of the largest entry.
_ROUNDING = 8 * np.finfo(np.float64).eps


def _center_or_zero(K):
    """Centred, and exactly zero where centring leaves rounding only."""
    largest = np.max(np.abs(K))
    K = centre_gram(K.copy())
    return K if np.max(np.abs(K)) > _ROUNDING * largest else np.zeros_like(K)


def _ratio_or_zero(numerator, denominator, what):
    if denominator > 0:
        return numerator / denominator
    warnings.warn(
        f"The {what} is 0 by definition: a kernel has no variance on this sample (constant after "
        "centring), or none off its diagonal if unbiased.",
        DegenerateKernelWarning,
        stacklevel=3,
    )
    return 0.0


def hsic(K, L, *, unbiased=False):
    """Hilbert-Schmidt independence criterion of two Gram matrices.

    Parameters
    ----------
    K : array-like of shape (m, m)
    L : array-like of shape (m, m), (m,) or (m, c)
        A Gram matrix or a target, as in :func:`alignment`.
    unbiased : bool, default False
        False: ``<Kc, Lc>_F / m^2`` (>= 0 for kernels, biased upwards or downwards by O(1/m)).
        True: the U-statistic, of expectation exactly ``E[Kc Lc]``; needs m >= 4, may be negative.

    Returns
    -------
    float

    References
    ----------
    Song, Smola, Gretton, Bedo and Borgwardt (2012), Feature selection via dependence maximization,
    for the U-statistic.
    """
    K = _gram("K", K)
    L = _gram_or_target("L", L, K.shape[0])
    return _hsic(_center_or_zero(K), _center_or_zero(L), unbiased)


def _hsic(K, L, unbiased):
    """Of centred matrices."""
    m = K.shape[0]
    f = float(np.vdot(K, L)) / m**2
    if not unbiased:
        return f
    if m < 4:
        raise ValueError(f"unbiased=True needs at least 4 samples, got {m}.")
    k, el = np.diagonal(K), np.diagonal(L)
    return unbiased_from_centred(f, float(k @ el), float(k.sum()), float(el.sum()), m)


def cka(K, L, *, unbiased=False):
    """Centred kernel alignment as a similarity index of representations.

    ``hsic(K, L) / sqrt(hsic(K, K) hsic(L, L))``. With ``unbiased=False`` this is
    :func:`alignment`; with ``unbiased=True`` each term is the U-statistic, which removes the
    upward bias that makes wide representations of few samples look alike.

    Parameters
    ----------
    K, L, unbiased
        As in :func:`hsic`.

    Returns
    -------
    float
        In [0, 1] for kernels if biased, in [-1, 1] if not. 0 with a DegenerateKernelWarning where a
        self term is 0: no variance, or (unbiased) a matrix ``f_i + f_j`` off its diagonal.
    """
    K = _gram("K", K)
    L = _gram_or_target("L", L, K.shape[0])
    K, L = _center_or_zero(_unit(K)), _center_or_zero(_unit(L))
    denominator = np.sqrt(_self_term(K, unbiased) * _self_term(L, unbiased))
    return _ratio_or_zero(_hsic(K, L, unbiased), float(denominator), "CKA")


def _self_term(K, unbiased):
    """HSIC of a centred matrix with itself, exactly zero where only rounding is left."""
    value = _hsic(K, K, unbiased)
    return value if value > 4 * _ROUNDING * _hsic(K, K, False) else 0.0
