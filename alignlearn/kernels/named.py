"""Named kernels, and the accepted forms of ``kernels``: lists and dicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np

from alignlearn._text import listed

from .algebra import Unary
from .base import NAMED, Kernel
from .columns import Columns
from .families import as_kernel, gaussian_kernels
from .vector import Linear


@dataclass(frozen=True)
class Named(Unary):
    """A kernel with the name of a group, as created by ``kernels={"name": kernel}``.

    Parameters
    ----------
    kernel : Kernel or str
    name : str
        Name of the group in tables and figures.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import MKLRegressor
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> model = MKLRegressor({"first": [0], "second": [1]}).fit(X, X[:, 0])
    >>> [kernel.name for kernel in model.kernels_]
    ['first', 'second']
    """

    name: str = ""

    is_exponential = property(attrgetter("kernel.is_exponential"))
    rate = property(attrgetter("kernel.rate"))
    largest_value = property(attrgetter("kernel.largest_value"))
    has_unit_diagonal = property(attrgetter("kernel.has_unit_diagonal"))

    def __post_init__(self):
        object.__setattr__(self, "kernel", as_kernel(self.kernel))

    def __str__(self):
        return f"{self.kernel} of {self.name}"

    def lower(self, b, dst, mode):
        return self.kernel.lower(b, dst, mode)

    def lower_distance(self, b, dst):
        self.kernel.lower_distance(b, dst)

    def unit_form(self):
        unit = self.kernel.unit_form()
        return None if unit is None else Named(unit, self.name)

    def gradient(self):
        return self.kernel.gradient()


def group_name(kernel):
    """The group name of a kernel or a multiple of it; None without a group."""
    while isinstance(kernel, Unary):
        if isinstance(kernel, (Columns, Named)):
            return kernel.name
        kernel = kernel.kernel
    return None


def check_group_names(what, names):
    """Check that group names, the keys of ``what``, are strings; return them as a list."""
    names = list(names)
    if not names:
        raise ValueError(f"{what} is empty; give at least one name.")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{what}: a name must be a str, got {name!r:.80}.")
        if not name.strip():
            raise ValueError(f"{what}: a name is empty; accepted: a nonempty string.")
    return names


def kernel_list(kernels) -> list[Kernel]:
    """Convert the user's ``kernels`` to a list of kernels.

    Parameters
    ----------
    kernels : None, Kernel, str, sequence of Kernel and str, or dict of these
        None gives the default ladder. A dict has a kernel, a sequence of kernels, or columns for
        every name; columns mean a linear kernel on them. See `group_kernels`.
    """
    if kernels is None:
        return gaussian_kernels()
    if isinstance(kernels, (Kernel, str)):
        return [as_kernel(kernels)]
    if isinstance(kernels, Mapping):
        names = check_group_names("kernels", kernels)
        return [_named(k, name) for name in names for k in group_kernels(kernels, name)]
    try:
        kernels = list(kernels)
    except TypeError:
        raise TypeError(
            "kernels must be a sequence of kernels and strings, or a dict of them, got "
            f"{kernels!r:.200}."
        ) from None
    if not kernels:
        raise ValueError("kernels is empty; give at least one kernel.")
    return [as_kernel(k) for k in kernels]


def group_kernels(kernels, name):
    """The kernels of one name of a dict.

    Columns (an integer, a slice with a stop, a sequence of integers, or strings that name no
    kernel) mean a linear kernel on them.
    """
    value = kernels[name]
    if isinstance(value, Mapping):
        raise TypeError(f"kernels[{name!r}] is a dict; accepted: kernels, or columns.")
    if len(getattr(value, "shape", ())) > 1 and not isinstance(value, Kernel):
        raise TypeError(
            f"kernels[{name!r}] has shape {tuple(value.shape)}; accepted: kernels or columns. A "
            'Gram matrix K goes into X of kernels="precomputed", or into kernels as Precomputed(K).'
        )
    try:
        if _are_columns(value):
            return [Columns(Linear(), value)]
        return kernel_list(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"kernels[{name!r}]: {error}") from None


def _are_columns(value):
    """Whether an entry of a dict holds columns and not kernels."""
    if isinstance(value, (slice, range, int, np.integer)):
        return True
    if value is None or isinstance(value, (str, Kernel)) or not hasattr(value, "__iter__"):
        return False
    items = list(value)
    # True and False raise an error of `Columns`: a mask is not a sequence of column numbers.
    numbers = bool(items) and all(isinstance(item, (int, np.integer, np.bool_)) for item in items)
    words = bool(items) and all(isinstance(item, str) for item in items)
    return numbers or (words and not any(item in NAMED for item in items))


def _named(kernel, name):
    """Give a kernel the name of its group, unless its columns have a name."""
    if isinstance(kernel, Columns) and kernel.name is None:
        return replace(kernel, name=name)
    return Named(kernel, name)


def columns_by_prefix(names, separator="__"):
    """Group column numbers by the prefix of their names, as in a `ColumnTransformer`.

    ``kernels=columns_by_prefix(...)`` gives a linear kernel on the columns of every block, with the
    name of the block. For other kernels, use ``{name: Columns("rbf", columns) for name, columns in
    found.items()}``.

    Parameters
    ----------
    names : sequence of str, or fitted transformer with ``get_feature_names_out()``
        The names of all columns of X, in the form "block__column".
    separator : str, default "__"

    Returns
    -------
    dict of list of int
        In the order in which the prefixes occur.

    Raises
    ------
    ValueError, TypeError
        A name has no prefix, or there are no names.

    Examples
    --------
    >>> from alignlearn import columns_by_prefix
    >>> columns_by_prefix(["genes__a", "genes__b", "lipids__c"])
    {'genes': [0, 1], 'lipids': [2]}
    """
    if hasattr(names, "get_feature_names_out"):
        names = names.get_feature_names_out()
    if isinstance(names, (str, bytes)) or not hasattr(names, "__iter__"):
        raise TypeError(f"names must be a sequence of the names of columns, got {names!r:.80}.")
    found, without = {}, []
    for k, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(f"names: the name of column {k} must be a str, got {name!r:.80}.")
        prefix, separated, _ = name.partition(separator)
        found.setdefault(prefix, []).append(k)
        without += [name] * (not separated or not prefix)
    if without:
        raise ValueError(
            f"names: {listed(without, 5)} have no prefix before {separator!r}; "
            "accepted: names of a ColumnTransformer with verbose_feature_names_out=True."
        )
    if not found:
        raise ValueError("names is empty; give the name of every column.")
    return found
