"""The table of a fitted model's kernels: weights, and their variation with the samples."""

from __future__ import annotations

import numpy as np

from alignlearn._text import largest, table
from alignlearn.folds import make_folds
from alignlearn.sources import open_source
from alignlearn.validation import check_choice
from alignlearn.weights.base import shares

from . import inputs
from .candidates import fold_results
from .kernel_groups import kernel_groups
from .schedule import used_part


def kernel_table(model, X=None, y=None, *, groups, sample_weight, folds, random_state, frame):
    """`MKLClassifier.kernel_table` and that of the other models."""
    model._check_is_fitted()
    if frame is not None:
        check_choice("frame", frame, ("pandas",))
    if (X is None) != (y is None):
        raise ValueError("kernel_table: X and y must be given together.")
    if model._own_weights:
        if X is not None:
            raise ValueError(
                "kernel_table: with per_target=True the table summarizes the weights over "
                "the targets; accepted: no X and y."
            )
        columns = _over_targets(model, groups)
    elif len(model._members) > 1:
        if X is not None:
            refuse_several(model, "kernel_table with samples")
        columns = _of_members(model, groups)
    else:
        columns = _of_one_kernel(model, groups)
        if X is not None:
            W = jackknife_weights(model, X, y, sample_weight, folds, random_state)
            W = _sums(W, kernel_groups(model, groups)[1])
            columns["spread"] = jackknife_spread(W)
            columns["zero"] = np.mean(W == 0.0, axis=0)
    if frame is None:
        return columns
    from pandas import DataFrame

    return DataFrame(columns)


def refuse_several(model, what):
    """Raise an error if decisions are an average of several models."""
    n = len(model._members)
    if n > 1:
        raise ValueError(
            f"{what} is for one model, but decisions are an average of {n} models; "
            "accepted: a fit with ensemble=False, or members_[i].model."
        )


def _names(model, groups):
    """Title and names of the rows of a table: kernels, or groups of them."""
    if groups is None:
        return {"kernel": np.array(model._kernel_names(), dtype=object)}
    return {"kernel": np.array(kernel_groups(model, groups)[0], dtype=object)}


def _sums(values, members):
    """Sums of values (..., p) over groups of kernels."""
    return np.stack([values[..., index].sum(axis=-1) for index in members], axis=-1)


def _of_one_kernel(model, groups):
    unidentified = np.zeros(model.weights_.size, dtype=bool)
    unidentified[list(model.result_.unidentified)] = True
    members = kernel_groups(model, groups)[1]
    alignments = model.kernel_alignments_.copy()
    if groups is not None:
        alignments = np.array([_alignment(model, index) for index in members])
    return {
        **_names(model, groups),
        "alignment": alignments,
        "weight": _sums(model.weights_, members),
        "share": _sums(shares(model.statistics_, model.weights_), members),
        "unidentified": np.array([unidentified[index].any() for index in members]),
    }


def _of_members(model, groups):
    """The tables of the averaged models, concatenated."""
    tables = [_of_one_kernel(m.model, groups) for m in model._members]
    methods = [np.repeat(m.name, len(t["kernel"])) for m, t in zip(model._members, tables)]
    columns = {name: np.concatenate([t[name] for t in tables]) for name in tables[0]}
    return {"kernel": columns.pop("kernel"), "method": np.concatenate(methods), **columns}


def _alignment(model, index):
    """The alignment of a group's part of the combination; of equal weights if all are 0."""
    weights = np.zeros(model.weights_.size)
    weights[index] = model.weights_[index] if model.weights_[index].any() else 1.0
    return model.statistics_.alignment(weights)


def _over_targets(model, groups):
    W = _sums(model.weights_.T, kernel_groups(model, groups)[1]).T
    return {
        **_names(model, groups),
        "weight": W.mean(axis=1),
        "spread": W.std(axis=1),
        "largest": W.max(axis=1),
        "zero": np.mean(W == 0.0, axis=1),
    }


def jackknife_weights(model, X, y, sample_weight=None, folds=10, random_state=None):
    """Weights learned on all samples except those of each fold in turn, (n_folds, p)."""
    source, y = training_source(model, "X", X, y, sample_weight)
    classes = model._estimator_type == "classifier"
    splits = make_folds(folds, y, classes and y.ndim == 1, random_state)
    found = fold_results(model._as_plain(), source, y, splits)
    return np.array([one.weights for one in found])


def training_source(model, name, X, y, sample_weight=None):
    """The fitted kernels on the training samples of positive weight, and y as checked.

    Another number of samples raises an error, in which they are called ``name``.
    """
    model._check_names(model._as_fitted(X))
    gaps = model._takes_gaps()
    X = model._as_fitted(X) if gaps else model._joined(X)
    how = {"engine": model._engine(), "progress": model.verbose}
    source = open_source(X, model.kernels_, gaps=gaps, sample_weight=sample_weight, **how)
    classes = model._estimator_type == "classifier"
    given = model, y, source.n_samples, source.weight
    y = inputs.class_labels(*given, many=True) if classes else inputs.real_targets(*given)
    source, y, _ = used_part(source, y, None)
    n, d = source.n_samples, source.n_features
    known = n if model._own_weights else model.statistics_.n_samples
    width, q = getattr(model, "n_features_in_", d), np.size(model.intercept_)
    if hasattr(model, "preparation_"):
        width = int(model.preparation_.widths.sum())
    if (n, d) != (known, width):
        raise ValueError(
            f"{name} has {n} samples of {d} features; accepted: the training samples "
            f"of the model, {known} of {width} features."
        )
    if not classes and y.reshape(n, -1).shape[1] != q:
        raise ValueError(f"y of {name} has shape {y.shape}; accepted: {q} targets, as in fit.")
    return source, y


def jackknife_spread(W):
    """``sqrt((g - 1) / g * sum_t (w_t - mean)^2)`` over the rows of W (g, p)."""
    return np.sqrt((len(W) - 1) * W.var(axis=0))


def table_text(columns, max_rows=30) -> str:
    """A dict of columns as a text table; with many rows, only those of the largest weights."""
    shown = largest(np.abs(columns["weight"]), max_rows)
    rows = [tuple(_text(name, values[k]) for name, values in columns.items()) for k in shown]
    options = {"total": len(columns["weight"]), "most": max_rows, "more": ", of smaller weight"}
    return table(rows, tuple(columns), **options)


def _text(name, value):
    if name in ("kernel", "method"):
        return str(value)
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    return f"{value:.0%}" if name in ("share", "zero") else f"{value:.4f}"
