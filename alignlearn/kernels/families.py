"""Lists of kernels: ladders, rank-one families, and what users may pass as ``kernels``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.validation import check_numbers

from .base import Kernel
from .stationary import (
    Exponential,
    ExponentialDot,
    Gaussian,
    Hamming,
    Laplacian,
    Matern,
    RationalQuadratic,
)
from .vector import TL1, Cosine, Linear, Log, Polynomial, Sigmoid

_STRINGS = {
    "rbf": Gaussian,
    "gaussian": Gaussian,
    "laplacian": Laplacian,
    "exponential": Exponential,
    "exponential-dot": ExponentialDot,
    "linear": Linear,
    "poly": Polynomial,
    "polynomial": Polynomial,
    "sigmoid": Sigmoid,
    "cosine": Cosine,
    "tl1": TL1,
    "log": Log,
    "matern": Matern,
    "rational-quadratic": RationalQuadratic,
    "hamming": Hamming,
}


def gaussian_kernels(gammas=None) -> list[Gaussian]:
    """A family of Gaussian kernels.

    Parameters
    ----------
    gammas : array-like of shape (p,), optional
        Values of gamma, > 0. Default: nine kernels whose gamma is ``2^-4, ..., 2^4`` times
        ``"scale"``, that is relative to the variance of the training data.

    Returns
    -------
    list of Gaussian
        Gammas in ratio 2 cost one exponential together.
    """
    if gammas is None:
        return [Gaussian("scale", multiple=float(2.0**k)) for k in range(-4, 5)]
    if isinstance(gammas, (int, float, np.number)):
        gammas = [gammas]
    gammas = check_numbers("gammas", gammas, 1)
    return [Gaussian(float(g)) for g in gammas]


@dataclass(frozen=True)
class RankOneKernels:
    """The family ``K_k = v_k v_k'`` of one kernel per column of X, dense or sparse.

    Pass an instance as ``kernels``; p is the number of columns. Nothing of size m x m or p m x m is
    formed: with centred columns, ``a_k = |v_k' Y|^2`` and ``M_kl = (v_k' v_l)^2``.

    Parameters
    ----------
    names : tuple of str, optional
        One label per column.
    """

    names: tuple[str, ...] | None = None


def as_kernel(kernel) -> Kernel:
    """A kernel from a Kernel or a string that names one; anything else is an error."""
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        if kernel not in _STRINGS:
            raise ValueError(
                f"kernel {kernel!r} is not known; accepted: {', '.join(sorted(_STRINGS))}, a "
                "Kernel object, or FromFunction(f)."
            )
        return _STRINGS[kernel]()
    raise TypeError(
        f"a kernel must be a Kernel object or a string, got {kernel!r}; wrap a function as "
        "FromFunction(f), a Gram matrix as Precomputed(K)."
    )


def kernel_list(kernels) -> list[Kernel]:
    """The kernels a user means: None (the default ladder), one kernel, or a sequence of them."""
    if kernels is None:
        return gaussian_kernels()
    if isinstance(kernels, (Kernel, str)):
        return [as_kernel(kernels)]
    try:
        kernels = list(kernels)
    except TypeError:
        raise TypeError(
            f"kernels must be a sequence of kernels and strings, got {kernels!r}."
        ) from None
    if not kernels:
        raise ValueError("kernels is empty; give at least one kernel.")
    return [as_kernel(k) for k in kernels]


def distinct(kernels):
    """Kernels without repeats, in order of appearance, and the place of each given one there.

    Equal kernels so get equal statistics to the last bit: sums differ by rounding with a kernel's
    place among the others, in the loops over pairs as in BLAS products.
    """
    places, index = {}, []
    for kernel in kernels:
        try:
            index.append(places.setdefault(kernel, len(places)))
        except TypeError:  # it holds a callable that cannot be hashed
            index.append(places.setdefault(id(kernel), len(places)))
    first = np.unique(index, return_index=True)[1]
    return [kernels[k] for k in first], np.array(index)
