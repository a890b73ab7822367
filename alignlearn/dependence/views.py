"""Several views of the same samples, each with its own kernel."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager

import numpy as np

from alignlearn.kernels import Kernel, as_kernel
from alignlearn.sources import Opener, open_source
from alignlearn.statistics import center_gram
from alignlearn.validation import as_array, is_sparse, plain

# Rounding error of kernel values and of their centering, in units in the last place.
_ROUNDING = 32.0


@contextmanager
def naming(what):
    """Context manager that adds the name of a view to error messages; None if there is only X."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if what is None:
            raise
        raise type(error)(f"{what}: {error}") from None


def view_kernels(kernels, n_views, names=None):
    """A kernel or "precomputed" for each view.

    Parameters
    ----------
    kernels : None, Kernel, Opener, str, or a sequence or dict of these
        None means a Gaussian with ``gamma="scale"``; a single kernel is for every view.
    n_views : int
    names : sequence of str, optional
        Of the views, which are the keys of a dict.

    Raises
    ------
    ValueError, TypeError
        There is not one kernel for each view, or a kernel is unknown.
    """
    if isinstance(kernels, Mapping):
        if names is None or set(kernels) != set(names):
            views = "views without names" if names is None else f"the views {list(names)}"
            raise ValueError(
                f"kernels has the names {list(kernels)!r:.200} for {views}; accepted: "
                "for a dict of views, a dict of kernels with the same names."
            )
        kernels = [kernels[name] for name in names]
    if kernels is None or isinstance(kernels, (Kernel, Opener, str)):
        kernels = [kernels] * n_views
    try:
        kernels = list(kernels)
    except TypeError:
        raise TypeError(
            f"kernels must be a kernel for all views, or a sequence of one for each; got "
            f"{kernels!r:.80}."
        ) from None
    if len(kernels) != n_views:
        raise ValueError(
            f"kernels has {len(kernels)} items for {n_views} views; accepted: one for each view, "
            "or a single kernel for all."
        )
    return [_view_kernel("rbf" if kernel is None else kernel) for kernel in kernels]


def _view_kernel(kernel):
    opens_itself = isinstance(kernel, Opener) or (
        isinstance(kernel, str) and kernel == "precomputed"
    )
    return kernel if opens_itself else as_kernel(kernel)


def open_views(views, kernels, names=None):
    """Combinations of all views: checked samples, one kernel each, and equal numbers of samples.

    Parameters
    ----------
    views : sequence of samples
        Arrays (m, d), or (m,) for a single variable; other samples that the kernel accepts; for
        "precomputed", Gram matrices (m, m).
    kernels : as in `view_kernels`
    names : sequence of str, optional
        Of the views.

    Returns
    -------
    list of Combination
    """
    opened = []
    labels = [f"view {name!r}" for name in (names or range(len(views)))]
    for i, (X, kernel) in enumerate(zip(views, view_kernels(kernels, len(views), names))):
        with naming(labels[i]):
            opened.append(single_view(X, kernel))
        if opened[i].n_samples != opened[0].n_samples:
            raise ValueError(
                f"{labels[i]} has {opened[i].n_samples} samples, but {labels[0]} has "
                f"{opened[0].n_samples}; accepted: views of the same samples, a row for each."
            )
    return opened


def single_view(X, kernel):
    """The `Combination` of one kernel of `view_kernels` on samples."""
    if isinstance(kernel, str):
        source = open_source([X], kernel)
    elif isinstance(kernel, Opener):
        source = open_source(X, kernel)
    else:
        source = open_source(as_column(X, kernel), [kernel], pairs=True)
    if len(source.names) != 1:
        raise ValueError("X consists of several tables; accepted: one matrix.")
    return source.single(0)


def as_column(X, kernel, name="X"):
    """A numeric vector as a matrix of one column, if the kernel accepts matrices."""
    if isinstance(kernel, (Opener, str)) or not kernel.needs_vectors or is_sparse(X):
        return X
    X = plain(name, X)
    # An array of mixed lists would raise another error before the informative one.
    if isinstance(X, (list, tuple)):
        vector = all(isinstance(x, (int, float, np.number)) for x in X)
    else:
        X = X if hasattr(X, "ndim") or not hasattr(X, "__array__") else as_array(name, X)
        vector = getattr(X, "ndim", 2) == 1
    return as_array(name, X)[:, None] if vector else X


def centered_gram(view, name):
    """The centered Gram matrix (m, m) of a view, float64, and the rounding of its entries.

    Raises
    ------
    ValueError
        The kernel does not vary on these samples.
    """
    with naming(name):
        given = view.gram()
    K = np.array(given, dtype=np.float64)
    rounding = float(np.finfo(given.dtype).eps * largest(K))
    center_gram(K)
    if not largest(K) > _ROUNDING * rounding:
        raise constant_view(name, view)
    return K, rounding


def largest(K):
    """Largest absolute value, without a second matrix."""
    return float(max(K.max(), -K.min()))


def constant_view(name, view):
    """The error for a view without variation."""
    return ValueError(
        f"{name} is constant under its kernel, {view.source.names[0]}: all centered kernel values "
        "are 0, so that it depends on nothing; accepted: samples on which the kernel varies."
    )
