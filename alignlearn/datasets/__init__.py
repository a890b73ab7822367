"""Data sets: a user's own files, scikit-learn's bundled sets, and registered sets by download.

>>> from alignlearn import datasets
>>> data = datasets.load("wine")
>>> data.X.shape, data.task
((178, 13), 'classification')
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable

from alignlearn._text import listed
from alignlearn.validation import check_choice, check_number

from ._data import (
    Dataset,
    DatasetError,
    Fingerprint,
    apply_missing,
    drop_columns,
    fingerprint,
    select_target,
    settle_task,
    unpack,
)
from ._download import cache_dir, obtain
from ._files import check_decimal, read_file
from ._registry import ALIASES, REGISTRY

__all__ = ["Dataset", "DatasetError", "Fingerprint", "cache_dir", "fingerprint", "load", "names"]

_BUNDLED = {
    "breast_cancer": "classification",
    "diabetes": "regression",
    "digits": "classification",
    "iris": "classification",
    "wine": "classification",
}


def names() -> tuple[str, ...]:
    """Names of the data sets that `load` accepts, in alphabetical order.

    breast_cancer, diabetes, digits, iris and wine come with scikit-learn; the others are read from
    the cache folder or downloaded from their original address.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from alignlearn import datasets
    >>> "iris" in datasets.names(), "sonar" in datasets.names()
    (True, True)
    """
    return tuple(sorted([*_BUNDLED, *REGISTRY]))


def load(
    name_or_path,
    *,
    target=None,
    task=None,
    missing=None,
    drop=None,
    decimal=None,
    data_home=None,
    download=True,
    timeout=30.0,
    return_X_y=False,
):
    """Load a data set from a file, from scikit-learn, from the cache or from its original source.

    Parameters
    ----------
    name_or_path : str or path-like
        A name of :func:`names` (``"ijcnn1"`` is short for ``"ijcnn1_train"``), or the path of a
        file: delimited text, npz, or svmlight / libsvm text, by its ending (.csv .tsv .npz .svm
        .svmlight .libsvm) or else by its content; text may be compressed by gzip, bzip2 or xz. A
        file that is called like a known set is reached by its path, such as ``"./wine"``.
    target : str or int, optional
        The target. In delimited text, a column by name or number. Default: the last column. In an
        npz file or a registered set, one of the other arrays (``"sign"`` of the reviews), or one
        column of a target with several (``"load_zone_21"``).
    task : {"classification", "regression"}, optional
        Default: strings are labels. Numbers are labels if all are integers with at most 20 distinct
        values and at least two rows per value on average. Known data sets have a fixed task.
    missing : {"error", "drop", "impute", "keep"}, optional
        Rows with missing values: an error (default for files), dropped (default for registered
        sets; ``extra["complete"]`` marks the rows that stay), imputed by the median of the column
        or its most frequent string, or kept with NaN in X. Imputation uses all rows, before any
        split. A missing target is never imputed: its row is dropped.
    drop : str, int or sequence of these, optional
        Columns to leave out, by name or number: of delimited text as it stands in the file, before
        words become columns of 0 and 1 (the target counts, and by default is the last column that
        stays); of other data the columns of X.
    decimal : {"comma", "point"}, optional
        The decimal sign of delimited text. Default: a comma in files with semicolons, otherwise
        from the numbers.
    data_home : str or path-like, optional
        Cache folder; see :func:`cache_dir`. It is only written when something is downloaded.
    download : bool
        Whether a set that is not in the cache may be downloaded.
    timeout : float
        Timeout of the server, in seconds.
    return_X_y : bool
        Whether to return ``(X, y)`` instead of the :class:`Dataset`.

    Returns
    -------
    Dataset
        X is neither scaled nor centered; strings in a table become columns of 0 and 1, named
        ``color=red``, and fields such as "$1,234.50" numbers. Registered two-class sets have y = -1
        or +1. ``notes`` describes how the data were read.

    Raises
    ------
    ValueError
        An unknown name, or a file whose content is not a usable table: ragged lines, words among
        the numbers of a column, missing values, several candidates for the target; a file that
        expands to more than 1 GiB of text or to more than 1000 times its size, or needs more than
        4 GiB of memory.
    FileNotFoundError
        A path without a file.
    DatasetError
        A set that is neither cached nor could be downloaded, or whose numbers are not the
        registered ones: shape, class counts and SHA-256 of the parsed arrays are compared after
        every download and every time the cache is read. No damaged file is left in the cache.
    ImportError
        A bundled set without scikit-learn.

    Notes
    -----
    The cached form is ``<name>.npz`` in the cache folder; such files, or the original files of the
    source, can also be put there by hand.

    Examples
    --------
    >>> from alignlearn import datasets
    >>> data = datasets.load("wine")  # comes with scikit-learn
    >>> data.X.shape, data.task
    ((178, 13), 'classification')
    >>> X, y = datasets.load("wine", return_X_y=True)
    """
    if task is not None:
        check_choice("task", task, ("classification", "regression"))
    if missing is not None:
        check_choice("missing", missing, ("error", "drop", "impute", "keep"))
    if decimal is not None:
        check_choice("decimal", decimal, ("comma", "point"))
    timeout = check_number("timeout", timeout, low=0, strict=True)
    single = isinstance(drop, str) or not isinstance(drop, Iterable)
    drop = () if drop is None else (drop,) if single else tuple(drop)
    name = ALIASES.get(name_or_path, name_or_path) if isinstance(name_or_path, str) else None
    if name in REGISTRY or name in _BUNDLED:
        check_decimal(decimal, name)
    if name in REGISTRY:
        arrays, where = obtain(REGISTRY[name], data_home, download=download, timeout=timeout)
        data = _registered(REGISTRY[name], arrays, where, None if target is not None else task)
        missing = missing or "drop"
    elif name in _BUNDLED:
        data = _bundled(name, None if target is not None else task)
    else:
        missing = missing or "error"
        path = _existing_path(name_or_path)
        how = {"target": target, "task": task, "missing": missing, "drop": drop}
        data = read_file(path, decimal=decimal, **how)
        target, drop = None, ()
    if target is not None:
        data = select_target(data, target, task)
    if drop:
        data = drop_columns(data, drop)
    data = apply_missing(data, missing or "error")
    return (data.X, data.y) if return_X_y else data


def _registered(entry, arrays, where, task) -> Dataset:
    X, y, feature_names, target_names, extra = unpack(arrays, where)
    y, task = settle_task(y, task or entry.task, entry.name)
    columns = entry.feature_names or feature_names
    targets = (entry.target_names or target_names) if task == entry.task else ()
    return Dataset(X, y, entry.name, task, columns, targets, where, extra, entry.citation)


def _bundled(name, task) -> Dataset:
    try:
        from sklearn import __version__, datasets
    except ImportError as exc:
        raise ImportError(
            f"{name!r} comes with scikit-learn, which is not installed: pip install scikit-learn, "
            "or give the path of a file."
        ) from exc
    bunch = getattr(datasets, f"load_{name}")()
    arrays = {"X": bunch.data, "y": bunch.target}
    X, y, *_ = unpack(arrays, name)
    y, task = settle_task(y, task or _BUNDLED[name], name)
    classes = tuple(map(str, getattr(bunch, "target_names", ()))) if task != "regression" else ()
    source = f"scikit-learn {__version__}"
    return Dataset(X, y, name, task, tuple(map(str, bunch.feature_names)), classes, source)


def _existing_path(name_or_path) -> str:
    if not isinstance(name_or_path, (str, os.PathLike)):
        raise TypeError(f"name_or_path must be a string or a path, got {name_or_path!r}.")
    path = os.path.expanduser(os.fspath(name_or_path))
    if os.path.isfile(path):
        return path
    is_path = isinstance(name_or_path, os.PathLike) or os.path.dirname(path)
    if is_path or os.path.splitext(path)[1] or os.path.exists(path):
        reason = "it is not a file" if os.path.exists(path) else "there is no such file"
        raise FileNotFoundError(f"name_or_path={path!r}: {reason}.")
    close = difflib.get_close_matches(path.lower().replace("-", "_"), names(), 3, 0.5)
    hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
    known = listed(names(), show=str)
    raise ValueError(
        f"name_or_path={path!r} is neither a file nor a known set; known: {known}.{hint}"
    )
