"""Checks of the arguments of ``fit`` as in scikit-learn: column names, labels, targets."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from alignlearn.kernels import Kernel, column_names, kernel_list
from alignlearn.sources import Tables
from alignlearn.validation import (
    check_label_matrix,
    check_labels,
    check_targets,
    doubt,
    is_label_matrix,
    is_sparse,
    own_or_sklearn,
    warn,
)
from alignlearn.validation.memory import check_gram_memory

_APART = 1000.0  # ratio of standard deviations above which the largest column dominates a kernel
_LOOKED_AT = 1000  # samples from which standard deviations are estimated
_OFFSETS = 100.0  # ratio of variances at which all kernels of the default ladder are too wide
_LEAST_GRAM = 10  # rows of a symmetric matrix that is taken for a Gram matrix
_SINGLE = 100  # classes with one sample that suggest real-valued targets
# A sparse matrix is searched as an array if it has at most so many columns, at least this share of
# stored entries, and if the array takes this share of ``memory``. On ten tables with indicators
# (3000 and 4000 rows, 20 to 255 columns, 2% and more of them stored) the search then takes 0.4 to
# 1.0 times as long; with 900 columns, of which 3% are stored, it takes four times as long.
_DENSE_COLUMNS, _DENSE_ENTRIES, _DENSE_SHARE = 500, 0.02, 0.125


class DataConversionWarning(UserWarning):
    """The input was accepted after a change of shape.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from alignlearn import DataConversionWarning, Gaussian, MKLClassifier
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", DataConversionWarning)
    ...     model = MKLClassifier([Gaussian(0.5)]).fit(X, X[:, :1] > 0)  # a column for y
    ...
    >>> model.predict(X).shape
    (40,)
    """


def take_sparse(kernels):
    """Whether all kernels of a list accept rows of SciPy sparse matrices."""
    try:
        return all(kernel.takes_sparse for kernel in kernel_list(kernels))
    except (TypeError, ValueError):
        return False


def dense_if_small(X, memory):
    """Return a sparse matrix of few columns, not too sparse, as an array, and other X unchanged.

    Laplacian kernels and kernels of columns, which the default tries, need an array. ``memory``:
    bytes, of which the array takes a small share. Rows of a fit that kept X sparse, which a refit
    takes, stay sparse.
    """
    of_scipy = is_sparse(X) and hasattr(X, "toarray")
    if not of_scipy or X.ndim != 2 or X.dtype.kind not in "biuf":
        return X
    size = X.shape[0] * X.shape[1]
    small = X.shape[1] <= _DENSE_COLUMNS and 8 * size <= _DENSE_SHARE * memory
    return X.toarray() if small and X.nnz >= _DENSE_ENTRIES * size else X


def feature_names(X):
    """Return the column names of a data frame as an array if all are strings, else None."""
    names = column_names(X)
    return None if names is None else np.asarray(names, dtype=object)


def check_sample_count(n_samples):
    """Raise an error for a single sample, whose centered kernel is 0."""
    if n_samples < 2:
        raise ValueError(f"X has {n_samples} sample; at least 2 are needed to learn a kernel.")


def check_room(source, rules, matrices=1):
    """Raise an error before stage 1 if kernel matrices do not fit into free memory.

    The machine holds ``matrices`` Gram matrices, and one-stage ``rules`` one more for each kernel.
    Kernels that are linear in the features may need none. This depends on the weights, so their
    Gram matrix is checked later.
    """
    if source.is_linear:
        return
    one_stage = any(rule.needs == "grams" for rule in rules)
    matrices += one_stage * len(source.names)
    if matrices:
        check_gram_memory(source.n_samples, matrices, itemsize=source.dtype.itemsize)


def doubt_scales(X, samples, kernels, names=None):
    """Warn if a kernel combines columns whose scales differ by more than a factor of 1000.

    Columns with at most two values, such as indicators of a category, are ignored.

    Parameters
    ----------
    X : as given to ``fit``, for the names of its columns
    samples : the same checked
    kernels : list of Kernel with column numbers, or other kernels of an open source
    names : sequence of str, optional
        Names that replace those of X.
    """
    matrix = isinstance(samples, np.ndarray) and samples.ndim == 2
    if not (matrix and samples.dtype.kind == "f" and isinstance(kernels, (list, tuple))):
        return
    sets = set().union(*(kernel.added_columns(samples.shape[1]) for kernel in kernels))
    if not sets:
        return
    some = np.asarray(samples[:: -(-len(samples) // _LOOKED_AT)], dtype=np.float64)
    some = some / (np.abs(some).max() or 1.0)
    scale = some.std(axis=0)
    low, high = some.min(axis=0), some.max(axis=0)
    scale[((some == low) | (some == high)).all(axis=0)] = np.nan
    X = Tables(X) if isinstance(X, Mapping) and not is_sparse(X) else X
    names = column_names(X) if names is None else names
    for columns in sorted(sets, key=len):
        own = scale[list(columns)]
        if np.isfinite(own).any() and np.nanmax(own) > _APART * np.nanmin(own):
            ends = [columns[k] for k in (np.nanargmax(own), np.nanargmin(own))]
            wide, narrow = (repr(k if names is None else names[k]) for k in ends)
            doubt(
                f"Columns {wide} and {narrow} of X have scales that differ by more than a factor "
                f"of {_APART:g}, so the first dominates a kernel on both; scale X, for instance by "
                "sklearn.preprocessing.StandardScaler."
            )
            return


def doubt_offsets(samples, kernels):
    """Warn if a width ``gamma="scale"`` depends mostly on differences of the means of columns.

    The variance of all entries, which defines "scale" as in scikit-learn, includes these
    differences. If it is much larger than those of the columns, kernels are nearly constant.

    Parameters
    ----------
    samples : checked samples
    kernels : as given to the estimator
    """
    if not (isinstance(samples, np.ndarray) and samples.ndim == 2 and samples.dtype.kind == "f"):
        return
    if isinstance(kernels, Mapping) or not isinstance(
        kernels, (Kernel, str, list, tuple, type(None))
    ):
        return
    if kernels == "precomputed":
        return
    gammas = [getattr(kernel, "gamma", None) for kernel in kernel_list(kernels)]
    if not any(isinstance(gamma, str) and gamma == "scale" for gamma in gammas):
        return
    some = np.asarray(samples[:: -(-len(samples) // _LOOKED_AT)], dtype=np.float64)
    some = some / (np.abs(some).max() or 1.0)
    own, means = some.var(axis=0).mean(), some.mean(axis=0)
    if own > 0.0 and means.var() > _OFFSETS * own:
        doubt(
            "The means of the columns of X differ by much more than their standard deviations, so "
            "gamma='scale' is too small and the kernels are nearly constant; scale X, for instance "
            "by sklearn.preprocessing.StandardScaler."
        )


def doubt_gram_matrix(X):
    """Warn if features are a symmetric matrix, which is probably a Gram matrix.

    Parameters
    ----------
    X : as given to ``fit``, with kernels on features
        Several tables are a dict or a list of matrices.
    """
    tables = [X]
    if isinstance(X, Mapping) and not is_sparse(X):
        tables = X.values()
    elif isinstance(X, (list, tuple)):
        tables = X
    for table in tables:
        if isinstance(table, np.ndarray) and _is_like_gram(table):
            doubt(
                f"X is a symmetric matrix of shape {table.shape}, like a Gram matrix, but its "
                "columns are used as features. A Gram matrix K is passed as X=[K] with "
                "kernels='precomputed'."
            )
            return


def _is_like_gram(X):
    if X.ndim != 2 or X.shape[0] != X.shape[1] or len(X) < _LEAST_GRAM or X.dtype.kind not in "fiu":
        return False
    some = X[:_LOOKED_AT, :_LOOKED_AT]
    return np.array_equal(some, some.T) and np.count_nonzero(some) > 2 * len(some)


def require_y(estimator, y):
    """Raise an error if y is missing."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )


def class_labels(estimator, y, n_samples, weight=None, *, many=False):
    """Return labels of one type with at least two classes, each with positive weight.

    ``many`` also accepts labels (m, c) of 0 and 1 that are not all constant.
    """
    require_y(estimator, y)
    if many and is_label_matrix(y):
        Y = check_label_matrix(y, n_samples)
        refuse_constant(Y if weight is None else Y[weight > 0.0], weight)
        return Y
    if len(getattr(y, "shape", ())) == 2 and y.shape[1] == 1:
        warn(
            "A column-vector y was passed when a 1d array was expected; y.ravel() is used.",
            own_or_sklearn(DataConversionWarning),
        )
    labels = check_labels(y, n_samples)
    if weight is not None:
        found = np.unique(labels[weight > 0.0])
        without = np.setdiff1d(labels, found)
        if without.size:
            raise ValueError(
                f"sample_weight is zero for all samples of class {without[0].item()!r}; "
                "accepted: a positive weight in every class. Remove the class."
            )
    counts = np.unique(labels, return_counts=True)[1]
    single = np.count_nonzero(counts == 1)
    if single >= max(_SINGLE, len(counts) / 2):
        doubt(
            f"y has {len(counts)} classes, {single} of them with one sample, so they cannot be "
            "validated; if y holds real values, use a regressor."
        )
    if np.all(labels == labels[0]):
        raise ValueError(
            f"y has 1 class, {labels[0].item()!r}; a classifier needs at least two classes."
        )
    return labels


def refuse_constant(Y, weight=None):
    """Raise an error if all labels (m, c) are constant on the samples of positive weight."""
    if np.all(Y[0] == Y):
        where = "" if weight is None else " where sample_weight is positive"
        raise ValueError(
            f"y has {Y.shape[1]} labels, all of them constant{where}; a classifier needs at least "
            "one that varies."
        )


def real_targets(estimator, y, n_samples, weight=None, *, gaps=False):
    """Return targets as float64 of shape (m,) or (m, c); ``gaps`` accepts NaN for missing ones."""
    require_y(estimator, y)
    y = check_targets(y, n_samples, gaps=gaps)
    used = y if weight is None else y[weight > 0.0]
    if np.all(used == used[0]):
        where = "" if weight is None else " where sample_weight is positive"
        raise ValueError(
            f"y is constant ({used[0]}){where}; a regression needs at least two values."
        )
    return y
