"""The kernels of the best method of a comparison: weights on all samples, and contributions."""

from __future__ import annotations

import numpy as np

from alignlearn.estimators import MKLClassifier, MKLRegressor
from alignlearn.estimators.kernel_groups import sums_line
from alignlearn.estimators.kernel_table import jackknife_spread, table_text
from alignlearn.kernels import are_per_column, group_name, kernel_list
from alignlearn.sources import open_tables
from alignlearn.validation.frames import FrameColumns

from .compare import split
from .methods import METHODS
from .result import wrapped
from .trial import frame_columns, scale_columns

_OF_FITS = (
    "alignment: of the kernel alone with the target. share: of the combination's inner product "
    "with the target. spread: of the weight, by a jackknife that leaves out one fold at a time; no "
    "confidence interval. zero: how often the weight is 0 then. contribution: {what}, on the fold "
    "left out, mean of {n_folds}."
)
_WHAT = {
    "regression": "part of R^2 (product measure)",
    "classification": "loss in accuracy without the kernel's term",
}


def explain(comparison, X, y, kernels):
    """The kernels of the method of the lowest mean error, as a dict of columns and as text.

    Parameters
    ----------
    comparison : Comparison
    X, y, kernels : as given to `compare`

    Returns
    -------
    method : str
    table : dict of ndarray of shape (p,), or None
        None for a method with its own kernel. For a method that weights kernels without a rule,
        only the weights over the folds.
    text : str

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, Linear, compare
    >>> from alignlearn.comparison import explain
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y, kernels = np.linalg.norm(X, axis=1) < 1.1, [Gaussian(0.5), Linear()]
    >>> method, table, text = explain(compare(X, y, kernels, methods=["alignf"]), X, y, kernels)
    >>> method, table["kernel"].tolist(), table["weight"].round(1).tolist()
    ('alignf', ['gaussian(gamma=0.5)', 'linear'], [1.0, 0.0])
    """
    X = frame_columns(X, kernels)
    if not isinstance(X, FrameColumns):
        X, kernels = open_tables(X, kernels)
    i = int(np.argmin(comparison.error.mean(axis=1)))
    method, W = comparison.methods[i], comparison.weights[i]
    head = f"lowest mean error: {method}"
    if np.isnan(W).any():
        return method, None, f"{head}, which has a kernel of its own and no weights of the list"
    if METHODS[method].rule is None:
        table = {
            "kernel": np.array(comparison.kernel_names, dtype=object),
            "weight": W.mean(axis=0),
            "spread": W.std(axis=0, ddof=1),
            "zero": np.mean(W == 0.0, axis=0),
        }
        legend = "weight, spread: mean and standard deviation over folds. zero: how often it is 0."
    else:
        table = _of_fits(comparison, X, y, kernels, i)
        what = _WHAT[comparison.task]
        legend = _OF_FITS.format(what=what, n_folds=comparison.protocol.n_folds)
    text = f"{head}\n\n{table_text(table)}{_sums(kernels, table)}\n\n{wrapped(legend)}"
    return method, table, text


def _sums(kernels, table):
    """A line with the sums of weights by kernel name, if several kernels share a name."""
    if are_per_column(kernels):
        return ""
    members = {}
    for k, kernel in enumerate(kernel_list(kernels)):
        members.setdefault(group_name(kernel), []).append(k)
    if None in members or len(members) == len(table["weight"]):
        return ""
    names, share = list(members), table.get("share")
    return "\n" + sums_line(names, list(members.values()), table["weight"], share)


def _of_fits(comparison, X, y, kernels, i):
    """The table of a fit on all samples, with weights and contributions without each fold."""
    protocol = comparison.protocol
    scale = "none" if are_per_column(kernels) else protocol.scale
    folds = split(y, protocol.n_folds, comparison.task, protocol.random_state)
    everything = np.arange(len(y))
    weights, contributions = [], []
    chosen = comparison.parameter[i]
    if comparison.losses is not None:  # blocks are not folds
        chosen = np.full(len(folds), np.median(chosen))
    for test, parameter in zip(folds, chosen):
        train = np.setdiff1d(everything, test)
        X_train, X_test = scale_columns((X[train], X[test]), scale)
        model = _model(comparison, kernels, i, parameter).fit(X_train, y[train])
        weights.append(model.weights_)
        contributions.append(model.contributions(X_test, y[test]).values[:, 0])
    (Z,) = scale_columns((X,), scale)
    model = _model(comparison, kernels, i, float(np.median(comparison.parameter[i])))
    W = np.array(weights)
    return {
        **model.fit(Z, y).kernel_table(),
        "kernel": np.array(comparison.kernel_names, dtype=object),
        "spread": jackknife_spread(W),
        "zero": np.mean(W == 0.0, axis=0),
        "contribution": np.mean(contributions, axis=0),
    }


def _model(comparison, kernels, i, parameter):
    rule = METHODS[comparison.methods[i]].rule
    if comparison.task == "regression":
        return MKLRegressor(kernels, weighting=rule, machine="krr", alpha=parameter)
    return MKLClassifier(kernels, weighting=rule, machine="svm", C=parameter)
