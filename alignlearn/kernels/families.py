"""Lists of kernels: ladders, rank-one families, and the accepted forms of ``kernels``."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature

import numpy as np

from alignlearn._text import Described, listed
from alignlearn.validation import check_number, check_numbers

from .base import NAMED, Kernel
from .stationary import Gaussian


def gaussian_kernels(gammas=None) -> list[Gaussian]:
    """A family of Gaussian kernels.

    Parameters
    ----------
    gammas : array-like of shape (p,), optional
        Values of gamma, > 0. Default: nine kernels whose gamma is ``2^-4, ..., 2^4`` times
        ``"scale"``, that is relative to the variance of the training data. A combination of
        Gaussians in ratio 2 approximates every Gaussian between two of them with a relative error
        of at most 0.2% in two dimensions (`alignlearn.theory.bounds.ladder`).

    Returns
    -------
    list of Gaussian
        Gammas in ratio 2 cost one exponential together.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import MKLRegressor, gaussian_kernels
    >>> gaussian_kernels([0.5, 1.0])
    [Gaussian(gamma=0.5, multiple=1.0), Gaussian(gamma=1.0, multiple=1.0)]
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> MKLRegressor(gaussian_kernels()).fit(X, X[:, 0]).weights_.shape
    (9,)
    """
    if gammas is None:
        return ladder(Gaussian, 2.0 ** np.arange(-4, 5))
    if isinstance(gammas, (int, float, np.number)):
        gammas = [gammas]
    return ladder(Gaussian, _check_positive("gammas", gammas), gamma=1.0)


def ladder(kernel_class, multiples, **parameters):
    """A family of kernels of one class whose ``gamma`` is a scale times each of some multiples.

    Parameters
    ----------
    kernel_class : type
        A class of kernels with a parameter ``gamma``, such as Laplacian, Matern or Polynomial.
    multiples : array-like of shape (p,)
        Numbers > 0.
    **parameters
        Parameters of every kernel. ``gamma`` is multiplied by the multiples. It is a number or, if
        the class has a parameter ``multiple``, "scale" (the default), "median" or "auto", computed
        from the samples.

    Returns
    -------
    list of kernel_class
        In the order of the multiples. Exponential kernels in ratios of powers of 2 share one
        exponential.

    Raises
    ------
    TypeError
        ``kernel_class`` is not a kernel class with a gamma, or does not have these parameters.
    ValueError
        There are no multiples, or one is not a number > 0; a parameter is out of range; gamma is a
        string for a class without ``multiple``.

    Examples
    --------
    >>> from alignlearn import Matern, ladder
    >>> [str(kernel) for kernel in ladder(Matern, [0.5, 2.0], nu=2.5)]
    ['matern(gamma=scale * 0.5, nu=2.5)', 'matern(gamma=scale * 2, nu=2.5)']
    """
    if not (isinstance(kernel_class, type) and issubclass(kernel_class, Kernel)):
        raise TypeError(
            f"kernel_class must be a class of kernels such as Gaussian, got {kernel_class!r:.80}."
        )
    known = set(signature(kernel_class).parameters)
    if "gamma" not in known:
        raise TypeError(
            f"kernel_class={kernel_class.__name__} has no parameter gamma; accepted: classes that "
            "have one, such as Gaussian."
        )
    unknown = sorted(set(parameters) - (known - {"multiple"}))
    if unknown:
        raise TypeError(
            f"{unknown[0]!r} is not a parameter of a ladder of {kernel_class.__name__}; accepted: "
            f"{listed(sorted(known - {'multiple'}), show=str)}."
        )
    multiples = _check_positive("multiples", multiples)
    gamma = parameters.get("gamma", "scale")
    if not isinstance(gamma, str):
        gamma = check_number("gamma", gamma, low=0.0, strict=True)
        varied = [{"gamma": gamma * factor} for factor in multiples]
    elif "multiple" in known:
        varied = [{"multiple": factor} for factor in multiples]
    else:
        raise ValueError(
            f"gamma={gamma!r}: {kernel_class.__name__} cannot multiply a gamma that depends on "
            f"the samples; accepted: a number."
        )
    return [kernel_class(**{**parameters, **values}) for values in varied]


def _check_positive(name, values):
    """Check for at least one number > 0; return a list of float."""
    values = check_numbers(name, values, 1)
    check_number(name, values.min(), low=0.0, strict=True)
    return values.tolist()


@dataclass(frozen=True)
class RankOneKernels(Described):
    """The family ``K_k = v_k v_k'`` of one kernel per column of X, dense or sparse.

    Pass an instance as ``kernels``; p is the number of columns. No m x m matrix is formed: with
    centered columns, ``a_k = |v_k' Y|^2`` and ``M_kl = (v_k' v_l)^2``.

    Parameters
    ----------
    names : tuple of str, optional
        One label per column.

    Examples
    --------
    Kernel learning as selection of features: one kernel for each column.

    >>> import numpy as np
    >>> from alignlearn import MKLRegressor, RankOneKernels
    >>> X = np.random.default_rng(0).normal(size=(40, 4))
    >>> model = MKLRegressor(RankOneKernels()).fit(X, X[:, 0] + 2 * X[:, 2])
    >>> model.weights_.round(1).tolist()
    [0.2, 0.0, 0.8, 0.0]
    """

    names: tuple[str, ...] | None = None


def are_per_column(kernels):
    """Whether the user's kernels are `RankOneKernels`, one per column of X."""
    return isinstance(kernels, RankOneKernels)


def as_kernel(kernel) -> Kernel:
    """Return a Kernel unchanged, or the kernel that a string names; raise an error otherwise.

    Examples
    --------
    >>> from alignlearn.kernels import as_kernel
    >>> as_kernel("rbf"), as_kernel("linear")
    (Gaussian(gamma='scale', multiple=1.0), Linear())
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        if kernel not in NAMED:
            raise ValueError(
                f"kernel {kernel!r} is not known; accepted: {listed(sorted(NAMED), show=str)}, a "
                "Kernel object, or FromFunction(f)."
            )
        return NAMED[kernel]()
    raise TypeError(
        f"a kernel must be a Kernel object or a string, got {kernel!r:.200}; wrap a function as "
        "FromFunction(f), a Gram matrix as Precomputed(K)."
    )


def distinct(kernels):
    """Kernels without duplicates, in order of appearance, and the position of each original kernel.

    Equal kernels then get bit-identical statistics. Otherwise sums would differ by rounding with a
    kernel's position, in the loops over pairs and in BLAS products.
    """
    places, index = {}, []
    for kernel in kernels:
        try:
            index.append(places.setdefault(kernel, len(places)))
        except TypeError:  # it contains a callable that cannot be hashed
            index.append(places.setdefault(id(kernel), len(places)))
    first = np.unique(index, return_index=True)[1]
    return [kernels[k] for k in first], np.array(index)
