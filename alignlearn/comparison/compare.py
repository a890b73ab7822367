"""A comparison of kernel combinations by cross-validation: whether learned weights help.

In each trial one fold is for testing, the next for validation, and the others for training. Weights
are learned from the training folds alone, the regularization of the machine (and, for the best
single kernel, the kernel) is selected on the validation fold, and the test fold is used once.

Source: Cortes, Mohri and Rostamizadeh (2012), Algorithms for learning kernels based on centered
alignment, section 5 (protocol) and appendix C (tests).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from alignlearn._progress import Progress, say
from alignlearn._text import listed
from alignlearn.folds import fold_numbers, prequential_blocks
from alignlearn.kernels import are_per_column, kernel_list, refuse_packed
from alignlearn.sources import open_source, open_tables
from alignlearn.statistics.targets import doubt_real, reads_as_regression
from alignlearn.validation import (
    aligns_rows,
    check_choice,
    check_features,
    check_labels,
    check_number,
    check_progress,
    check_targets,
    is_sparse,
)
from alignlearn.validation.frames import FrameColumns

from .columns import COLUMNS
from .memory import check_comparison
from .methods import DEFAULT_METHODS, METHODS
from .result import TESTS, Comparison, Protocol
from .trial import Trial, frame_columns

SCALES = ("standard", "minmax", "none")
_CAP = 3.0  # squared errors are truncated at the square of this multiple of the pilot's RMSE


@aligns_rows
def compare(
    X: Any,
    y: Any,
    kernels: Any = None,
    *,
    methods: Sequence[str] = DEFAULT_METHODS,
    task: str = "auto",
    protocol: Protocol | None = None,
    verbose: Any = None,
) -> Comparison:
    """Compare ways to combine kernels by cross-validation with a validation fold.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Or a SciPy sparse matrix, whose columns are scaled but not shifted. With the default kernels
        also a data frame with categories and missing values, which is prepared as by
        `TablePreparer` on the training folds, for any ``protocol.scale``.
    y : array-like of shape (m,)
        Real targets or class labels.
    kernels : sequence of Kernel and str, dict, or RankOneKernels, optional
        Default: a ladder of nine Gaussians around ``gamma="scale"``. A dict names the kernels; with
        several tables as X, a dict or sequence of tables with the same rows, it has the kernels of
        each table. They are centered and trace-normalized on the training folds.
    methods : sequence of str
        Names of methods. Two-stage: "best-single", "uniform", "align", "alignf", "alignf-linear",
        "align-lq". Rules that optimize weights and model jointly: "l1-svm" for classification,
        "lkrr" and "aligned-krr" for regression. "ensemble": one model per kernel and a linear
        combination of their predictions, as a reference. Methods with their own kernel or model:
        "auto" (`MKLClassifierCV` or `MKLRegressorCV` without kernels, on folds of the training
        samples), "aligned-rf" (`AlignedRandomFeatures`), and for classification "svm-cv" (a
        Gaussian kernel selected on the validation fold), "hyper-krr", "hyper-svr" and "hyper-nnls"
        (as `HyperKernelClassifier`, tuned on the validation fold) and "bayesian-mkl"
        (`BayesianMKLClassifier`), which holds one Gram matrix per kernel and does not accept
        RankOneKernels. "best-single" costs one Gram matrix per kernel; "ensemble", "l1-svm", "lkrr"
        and "aligned-krr" hold one per kernel for the training folds, except that the last three
        need none for RankOneKernels, for which "best-single" and "ensemble" are not available.
    task : {"auto", "classification", "regression"}
        Classification is by support vector machine (one-vs-one), regression by kernel ridge.
        "auto" takes floating-point y as regression.
    protocol : Protocol, optional
        Folds, scaling of the columns, grid of C or alpha, random state.
    verbose : bool or callable, default None
        True prints every fold on stderr; None does so on a terminal. A function is called as
        ``verbose(done, total, what)`` with the number of completed folds.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        Bad input: NaN or infinity, a single class or constant y, fewer than 3 samples in a class,
        fewer than 2 samples per fold, methods that are unknown or not for this task.
    MemoryError
        The matrices do not fit into free memory; raised before the work.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, Linear, compare
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.linalg.norm(X, axis=1) < 1.1
    >>> found = compare(X, y, [Gaussian(0.5), Linear()], methods=["uniform", "alignf"])
    >>> found.methods, found.error.shape  # methods by folds
    (('uniform', 'alignf'), (2, 5))
    >>> bool(found.error.mean() < 0.5)
    True
    """
    protocol = _check_protocol(Protocol() if protocol is None else protocol)
    verbose = check_progress("verbose", verbose)
    X = frame_columns(X, kernels)
    if not isinstance(X, FrameColumns):
        X, kernels = open_tables(X, kernels)
    kernels = kernels if are_per_column(kernels) else kernel_list(kernels)
    if not are_per_column(kernels):
        refuse_packed("X", X, kernels)
    X, y, task = _check_data(X, y, task)
    methods = _check_methods(methods, kernels, task)
    if len(y) < 2 * protocol.n_folds:
        raise ValueError(
            f"X has {len(y)} samples and n_folds={protocol.n_folds!r:.20}; accepted: "
            "at least 2 samples per fold."
        )
    check_comparison(X, kernels, methods, task, protocol.n_folds)
    prequential = protocol.test == "prequential"
    parts = (_blocks if prequential else _rotations)(y, task, protocol)
    trials = []
    with Progress("folds", len(parts), verbose is not True and verbose) as progress:
        for t, statistics in enumerate(_statistics(X, y, kernels, task, protocol, parts)):
            trial = Trial(X, y, kernels, task, parts[t], protocol, statistics)
            trials.append([trial.outcome(method) for method in methods])
            progress(t + 1)
            if verbose is True:
                _report(t, len(parts), methods, trials[-1])
    losses = _losses(y, task, parts, trials) if prequential else {}
    # The pilot precedes the test and is not part of the reported results.
    trials = trials[-protocol.n_folds :]
    return Comparison(
        methods=methods,
        kernel_names=trial.names,
        task=task,
        columns={c: np.array([[o.numbers[c] for o in row] for row in trials]).T for c in COLUMNS},
        weights=np.array([[o.weights for o in row] for row in trials]).swapaxes(0, 1),
        shape=tuple(X.shape),
        protocol=protocol,
        **losses,
    )


def _statistics(X, y, kernels, task, protocol, parts):
    """Alignment statistics of each trial's training folds, None if the trial computes them.

    If the kernels are the same in every trial, one pass over the pairs gives the statistics of all
    trials.
    """
    if are_per_column(kernels):
        return [None] * len(parts)
    if protocol.scale != "none" or any(k.resolve(X[:1]) != k for k in kernels):
        return [None] * len(parts)
    training_sets = [train for train, _, _ in parts]
    return open_source(X, kernels).training_statistics(y, task, training_sets)


# Folds


def split(y, n_folds, task, random_state=0):
    """Random folds whose sizes differ by at most 1, for classification also within each class.

    Parameters
    ----------
    y : ndarray of shape (m,)
    n_folds : int
    task : {"classification", "regression"}
    random_state : int

    Returns
    -------
    list of ndarray
        Sample numbers, sorted; disjoint, and together all samples.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.comparison import split
    >>> y = np.repeat(["a", "b"], 5)
    >>> [y[fold].tolist() for fold in split(y, 5, "classification")][0]  # every fold has both
    ['a', 'b']
    """
    number = fold_numbers(y, n_folds, task == "classification", random_state)
    return [np.flatnonzero(number == f) for f in range(n_folds)]


def _rotations(y, task, protocol):
    """Rows for training, validation and test in each trial."""
    folds = split(y, protocol.n_folds, task, protocol.random_state)
    rotated = (folds[t:] + folds[:t] for t in range(len(folds)))
    return [(np.sort(np.concatenate(train)), validate, test) for test, validate, *train in rotated]


def _blocks(y, task, protocol):
    """Rows for training, validation and test of the pilot and of each later block.

    Of the samples before a block, one of n_folds - 1 folds is for validation, the others for
    training.
    """
    n = protocol.n_folds
    pairs = prequential_blocks(len(y), n, protocol.random_state)
    parts = []
    for past, block in pairs:
        validates = fold_numbers(y[past], n - 1, task == "classification", protocol.random_state)
        train, validate = past[validates > 0], past[validates == 0]
        if np.unique(y[train]).size < 2 or not validate.size:
            raise ValueError(
                f"test='prequential' first learns from {past.size} samples, and its "
                f"training samples among these have {np.unique(y[train]).size} different "
                "values of y; accepted: at least 2. Use more samples or another "
                "random_state."
            )
        parts.append((np.sort(train), np.sort(validate), block))
    return parts


def _losses(y, task, parts, trials):
    """Losses in [0, 1] by method and sample, as fields of a `Comparison`."""
    predicted = [np.array([o.predictions for o in row]) for row in trials]
    targets = [y[test] for _, _, test in parts]
    if task == "classification":
        pilot, *tests = (p != t for p, t in zip(predicted, targets))
        return {"losses": np.hstack(tests), "pilot_losses": pilot}
    squares = [(p - t) ** 2 for p, t in zip(predicted, targets)]
    # A truncation chosen before the first block makes the loss a fixed function.
    cap = _CAP**2 * squares[0].mean(axis=1).max()
    if not cap > 0.0:
        raise ValueError(
            "test='prequential': no method makes an error on the pilot samples, so there is "
            "no difference to test."
        )
    pilot, *tests = (np.minimum(s / cap, 1.0) for s in squares)
    return {"losses": np.hstack(tests), "pilot_losses": pilot}


# Checks


def _check_protocol(protocol):
    if not isinstance(protocol, Protocol):
        raise TypeError(f"protocol must be a Protocol, got {protocol!r}.")
    check_choice("scale", protocol.scale, SCALES)
    check_choice("test", protocol.test, TESTS)
    n = protocol.n_folds
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 3:
        raise ValueError(f"n_folds={n!r}; accepted: an integer >= 3 (train, validate, test).")
    if protocol.grid is not None:
        if len(protocol.grid) == 0:
            raise ValueError("grid is empty; give at least one value > 0.")
        for value in protocol.grid:
            check_number("grid", value, low=0.0, strict=True)
    return protocol


def _check_methods(methods, kernels, task):
    try:
        methods = (methods,) if isinstance(methods, str) else tuple(methods)
    except TypeError:
        known = listed(list(METHODS), show=str)
        raise TypeError(f"methods must be a sequence of {known}; got {methods!r:.200}.") from None
    if not methods:
        raise ValueError(f"methods is empty; accepted: {listed(list(METHODS), show=str)}.")
    for method in methods:
        check_choice("methods", method, tuple(METHODS))
        _check_method(method, kernels, task)
    if len(set(methods)) < len(methods):
        raise ValueError(f"methods={methods!r:.200} names a method twice.")
    return methods


def _check_method(name, kernels, task):
    method = METHODS[name]
    if method.task not in (None, task):
        fits = [n for n, other in METHODS.items() if other.task in (None, task)]
        hint = "" if task == "regression" else "; +-1 labels can be fitted with task='regression'"
        raise ValueError(
            f"methods: {name!r} is for {method.task}, but the task is {task}; accepted: "
            f"{listed(fits)}{hint}."
        )
    if method.no_columns and are_per_column(kernels):
        raise ValueError(
            f"methods: {name!r} is not available for RankOneKernels, {method.no_columns}."
        )


def _check_data(X, y, task):
    check_choice("task", task, ("auto", "classification", "regression"))
    if not isinstance(X, FrameColumns):
        X = check_features(X.tocsr() if is_sparse(X) else X)
        X = X.astype(np.float64) if X.dtype != np.float64 else X
    read, task = task, "regression" if reads_as_regression(y, task) else "classification"
    check = check_targets if task == "regression" else check_labels
    y = check(y, X.shape[0])
    if read == "auto" and task == "regression":
        doubt_real(y)
    if y.ndim != 1:
        raise ValueError(f"y has shape {y.shape}; accepted: one target, shape (m,).")
    values, counts = np.unique(y, return_counts=True)
    if values.size < 2:
        what = "is constant" if task == "regression" else "holds a single class"
        raise ValueError(f"y {what} ({values[0]}); at least two different values are needed.")
    if task == "classification" and counts.min() < 3:
        raise ValueError(
            f"y: class {values[counts.argmin()]} has {counts.min()} samples; accepted: at least 3, "
            "so that it can be in the training, validation and test folds."
        )
    return X, y, task


def _report(t, n_folds, methods, outcomes):
    for method, outcome in zip(methods, outcomes):
        say(
            "fold {}/{}  {:<14} error {error:.4g}  validation {validation_error:.4g}  alignment "
            "{alignment:.4f}  parameter {parameter:.4g}".format(
                t + 1, n_folds, method, **outcome.numbers
            )
        )
