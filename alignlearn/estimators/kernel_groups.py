"""Groups of a model's kernels, named by the user or by the columns that kernels are on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from alignlearn._text import listed
from alignlearn.kernels import column_group, group_name

OTHERS = "other kernels"
NOT_CONTRIBUTIONS = "Weights are not contributions; contributions(X, y) computes those."


def kernel_groups(model, groups):
    """Return (names, index arrays) of the groups of ``contributions``."""
    names = model._kernel_names()
    if groups is None:
        return _distinct_names(names), [np.array([k]) for k in range(len(names))]
    if isinstance(groups, str) and groups == "columns":
        return _by_columns(model, names)
    if not isinstance(groups, Mapping) or not groups:
        raise TypeError(
            "groups must be a dict {'name': [numbers or names of kernels]}, 'columns' or None, got "
            f"{groups!r:.80}."
        )
    owner, members = {}, []
    for group, kernels in groups.items():
        if not isinstance(group, str):
            raise TypeError(f"groups: a name must be a str, got {group!r:.80}.")
        single = isinstance(kernels, (str, int, np.integer)) or not isinstance(kernels, Iterable)
        members.append([_number(k, group, names) for k in ([kernels] if single else kernels)])
        if not members[-1]:
            raise ValueError(f"groups: {group!r} is empty; accepted: at least one kernel.")
        for k in members[-1]:
            if k in owner:
                where = f"{owner[k]!r} and {group!r}" if owner[k] != group else f"{group!r} twice"
                raise ValueError(
                    f"groups: kernel {k}, {names[k]}, is in {where}; accepted: each "
                    "kernel at most once."
                )
            owner[k] = group
    others = [k for k in range(len(names)) if k not in owner]
    if others and OTHERS in groups:
        raise ValueError(
            f"groups: the name {OTHERS!r} is reserved for kernels in no group, such as "
            f"{names[others[0]]}; accepted: another name."
        )
    found = [*groups, *([OTHERS] if others else [])]
    return tuple(found), [np.array(k) for k in [*members, *([others] if others else [])]]


def feature_groups(model, n_features):
    """Return (names, index arrays) of the columns of X, for a frame the features of each column."""
    preparation = getattr(model, "preparation_", None)
    if preparation is None:
        names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(n_features)])
        return tuple(names), [np.array([j]) for j in range(n_features)]
    of = preparation.groups
    names = [str(label) for label in preparation.columns]
    return tuple(names), [np.flatnonzero(of == c) for c in range(len(names))]


def _number(kernel, group, names):
    """Return the number of a kernel of a group."""
    p = len(names)
    if isinstance(kernel, (int, np.integer)) and not isinstance(kernel, bool):
        if not 0 <= kernel < p:
            raise ValueError(
                f"groups: {group!r} has kernel {kernel}, which the model does not "
                f"have; accepted: 0 to {p - 1}."
            )
        return int(kernel)
    if not isinstance(kernel, str):
        raise TypeError(f"groups: {group!r} holds {kernel!r:.80}; accepted: numbers and names.")
    found = [k for k in range(p) if names[k] == kernel]
    if len(found) != 1:
        what = f"the name of kernels {found}" if found else "no kernel of the model"
        raise ValueError(
            f"groups: {group!r} has {kernel!r:.80}, which is {what}; accepted: numbers 0 to "
            f"{p - 1}, or names that only one kernel has, of {listed(names, show=str)}."
        )
    return found[0]


def _distinct_names(names):
    """Return names, numbered if several kernels share one."""
    count = Counter(names)
    return tuple(f"{name} ({k})" if count[name] > 1 else name for k, name in enumerate(names))


def _by_columns(model, names):
    """Group kernels with the same name, such as those of a table, or on the same columns of X."""
    kernels = model.kernels_
    if isinstance(kernels, str):
        raise ValueError(
            "groups='columns' is for kernels of the columns of X, not for precomputed "
            "kernels; accepted: a dict, or None."
        )
    if not isinstance(kernels, list):  # one kernel per column
        return kernel_groups(model, None)
    found = {}
    for k, kernel in enumerate(kernels):
        found.setdefault(group_name(kernel) or column_group(kernel), []).append(k)
    columns = getattr(model, "feature_names_in_", None)
    labels = [c if isinstance(c, str) else _column_label(c, columns) for c in found]
    return _distinct_names(tuple(labels)), [np.array(index) for index in found.values()]


def named_groups(model):
    """Return the named groups, such as tables, if one has several kernels; otherwise None."""
    kernels = model.kernels_
    if not isinstance(kernels, list) or not any(map(group_name, kernels)):
        return None
    found = _by_columns(model, ())
    return found if max(map(len, found[1])) > 1 else None


def sums_line(names, members, weights, shares=None):
    """Return the line of a summary with the sums of weights of groups of kernels."""
    sums = [
        f"{name} {weights[index].sum():.4f}"
        + ("" if shares is None else f" (share {shares[index].sum():.1%})")
        for name, index in zip(names, members)
    ]
    return f"Sums of weights: {listed(sums, show=str)}"


def _column_label(columns, names):
    if columns is None:
        return "all columns"
    if len(columns) <= 3 and names is not None:
        return ", ".join(names[c] for c in columns)
    run = len(columns) > 1 and columns == tuple(range(columns[0], columns[-1] + 1))
    return f"columns {columns[0]}:{columns[-1] + 1}" if run else f"columns {list(columns)}"
