"""``alignlearn compare DATA``."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace

from alignlearn._text import listed

from .output import Output, add_output_options, add_parser, figure_path
from .raw_tables import Sample, add_dates_option, add_decimal_option, read_sample

_LADDERS = ("rbf", "gaussian", "laplacian", "exponential", "matern", "rational-quadratic")
_LADDER = range(-4, 5)  # gamma = 2^k times "scale", by default
_DENSE_LIMIT = 2**30
_PREPARED = (
    "categories, dates and missing values are prepared on the training folds, as by "
    "alignlearn.TablePreparer (not with --scale none, --missing or --kernels)"
)

_COMPARE_HELP = """\
Do learned weights help on this data? Compares the best single kernel, equal weights (uniform) and
learned weights (align, alignf) by cross-validation. In each trial one fold is for testing, the next
one for validation and the others for training. Weights are learned on the training folds alone. The
validation fold selects C (or alpha) and the best single kernel. The model is a support vector
machine for classification, and kernel ridge regression for regression.

Some methods optimize weights and model jointly: l1-svm for classification, lkrr and aligned-krr for
regression. ensemble is a reference without a learned kernel: one model per kernel, and a linear
combination of their predictions. These four methods are slower, and need memory for one matrix per
kernel of the training rows (except for rank-one kernels, for which there is no ensemble).

Other methods have a kernel or model of their own: auto, the average of the best two of nine
candidates, selected by cross-validation on the training rows; svm-cv, a Gaussian kernel whose width
the validation fold selects; aligned-rf, random Fourier features weighted by alignment;
bayesian-mkl, a Bayesian combination; hyper-krr, hyper-svr and hyper-nnls, a kernel fitted to the
similarity of the labels in the space of a hyper-kernel. All but auto and aligned-rf are for
classification only.

Categories, dates and missing values of a csv file are encoded on the training folds, as by
alignlearn.TablePreparer. Numeric columns are scaled there, too.

Prints a table: error and centered alignment, mean +- standard deviation over the folds, and the
p-value of a one-sided test against equal weights. The default is a t-test corrected for overlapping
training folds. With --test prequential the type I error rate is proved: samples come in random
order, blocks of the second half are for testing, and all samples before a block are for training
and validation. Writes a figure of the learned weights, and of alignment against error.
"""
_COMPARE_EXAMPLES = """\
examples:
  alignlearn compare breast_cancer
  alignlearn compare table.csv --target price --task regression
  alignlearn compare table.csv --target price --drop name --drop 3
  alignlearn compare breast_cancer --explain
  alignlearn compare table.csv --tables __ --explain
  alignlearn compare breast_cancer --test prequential
  alignlearn compare table.csv --kernels rbf,linear,poly --gammas -6:2 --out weights.svg
  alignlearn compare ionosphere --methods uniform,align,alignf,l1-svm,ensemble
  alignlearn compare sonar --methods uniform,alignf,svm-cv,aligned-rf,bayesian-mkl
  alignlearn compare sonar --methods uniform,svm-cv,hyper-krr,hyper-svr
  alignlearn compare reviews.svm --kernels rank-one --methods uniform,align,alignf

exit codes: 0 done, 2 the command or the data cannot be used, 130 interrupted.
"""


def add_command(commands):
    """Add the command to the subparsers of ``alignlearn``."""
    parser = add_parser(
        commands,
        "compare",
        "compare learned weights of kernels with equal weights",
        _COMPARE_HELP,
        _COMPARE_EXAMPLES,
    )
    add_data_options(parser)
    add_dates_option(parser.add_argument)
    _add_protocol(parser)
    parser.add_argument(
        "--explain",
        action="store_true",
        help="also print the kernels of the best method: weights, their variation, and "
        "contributions to predictions",
    )
    add_kernel_options(parser, "training folds", "folds and subset")
    parser.add_argument(
        "--tables",
        metavar="SEPARATOR",
        help="columns whose names have the same prefix before SEPARATOR form a table of this name, "
        "and each table has its own kernels; for example genes__a, genes__b with __",
    )
    add_figure_options(parser, "compare")
    add_output_options(parser, "every method of every fold on stderr")
    parser.set_defaults(run=_compare)


def add_figure_options(parser, command):
    """Add the options for the figure: --out, --no-figure."""
    add = parser.add_argument
    add(
        "--out",
        metavar="FILE",
        help="file of the figure: .png, .svg or .pdf (.png is added to other names), or a folder. "
        f"Default: alignlearn-{command}-NAME.png in the current folder. The command prints the "
        "name of the file, also with --quiet",
    )
    add("--no-figure", action="store_true", help="only the table")


def add_data_options(parser, optional=False):
    """Add the options for the data: DATA, --target, --task, --missing, --drop, --decimal."""
    add = parser.add_argument
    add(
        "data",
        metavar="DATA",
        nargs="?" if optional else None,
        help="a file (csv, npz, svmlight; also compressed) or the name of a known set: "
        "breast_cancer, wine, digits, iris, diabetes, ionosphere, sonar, ...",
    )
    add(
        "--target",
        type=index_or_name,
        help="the target: a column by name or number (from 0; default: -1, the last), or another "
        "array of an npz file",
    )
    add("--task", choices=("classification", "regression"), help="default: from the target")
    add(
        "--missing",
        choices=("error", "drop", "impute"),
        help="rows with missing values: raise an error (default for files, except that `compare` "
        "prepares a csv file), drop the rows, or impute the median or the most frequent word",
    )
    add(
        "--drop",
        metavar="COL",
        type=index_or_name,
        action="append",
        default=[],
        help="a column to leave out, by name or number as --target; may be repeated",
    )
    add_decimal_option(add)


def _add_protocol(parser):
    add = parser.add_argument
    add("--folds", type=int, default=5, help="at least 3 (default 5)")
    add(
        "--test",
        choices=("corrected-t", "prequential"),
        default="corrected-t",
        help="test of an improvement over uniform: over folds (default), or over blocks of samples "
        "that follow the training samples",
    )
    add(
        "--methods",
        metavar="LIST",
        help="comma-separated: best-single, uniform, align, alignf, alignf-linear, align-lq, "
        "ensemble, auto, aligned-rf; for classification also l1-svm, svm-cv, bayesian-mkl, and "
        "kernels fitted to the labels in the space of a hyper-kernel (hyper-krr, hyper-svr, "
        "hyper-nnls); for regression also lkrr, aligned-krr. Default: "
        "best-single,uniform,align,alignf; without best-single for rank-one kernels",
    )


def add_kernel_options(parser, part, random):
    """Add --kernels, --gammas, --scale, --max-samples and --random-state.

    Parameters
    ----------
    parser : argparse.ArgumentParser
    part : str
        The part on which the scale of the columns is fitted.
    random : str
        The effect of the seed.
    """
    add = parser.add_argument
    add(
        "--kernels",
        metavar="LIST",
        help="comma-separated: rbf, laplacian, exponential, matern, rational-quadratic (each a "
        "ladder over gamma), linear, poly, cosine, exponential-dot, tl1, log, sigmoid, hamming, "
        "gower, periodic, tanimoto, minmax (of numbers >= 0: --scale none); or rank-one: a kernel "
        "for each column. Default: rbf, or rank-one for sparse data",
    )
    add(
        "--gammas",
        metavar="A:B",
        type=_ladder,
        help="gamma of the ladders: 2^A, ..., 2^B, in the units of the scaled columns. Default: "
        "2^-4, ..., 2^4 times 1 / (features x variance)",
    )
    add(
        "--scale",
        choices=("standard", "minmax", "none"),
        default="standard",
        help="scale columns to mean 0 and standard deviation 1, to [-1, 1], or not at all; fitted "
        f"on the {part} (default standard; rank-one kernels need none)",
    )
    add(
        "--max-samples",
        metavar="N",
        type=int,
        default=2000,
        help="use a random subset of N rows of larger data, since the models need m x m matrices "
        "(default 2000; 0 for all)",
    )
    add(
        "--random-state",
        metavar="SEED",
        type=_seed,
        default=0,
        help=f"seed of {random} (default 0)",
    )


def index_or_name(text):
    """A column of the command line: its number or its name."""
    try:
        return int(text)
    except ValueError:
        return text


def _seed(text):
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r}; accepted: an integer >= 0")
    return int(text)


def _ladder(text):
    low, _, high = text.partition(":")
    try:
        low, high = int(low), int(high)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r}; accepted: two integers A:B for gamma = 2^A, ..., 2^B"
        ) from None
    if not -300 <= low <= high <= 300:
        raise argparse.ArgumentTypeError(f"{text!r}; accepted: -300 <= A <= B <= 300")
    return low, high


def read_data(args):
    """The data that `add_data_options` names, with one target.

    Raises
    ------
    ValueError, OSError
        The data cannot be read, or have several targets.
    """
    from alignlearn import datasets

    names = ("target", "task", "missing", "drop", "decimal")
    data = datasets.load(args.data, **{name: getattr(args, name) for name in names})
    if data.y.ndim > 1:
        names = listed(data.target_names, show=str) or f"0 to {data.y.shape[1] - 1}"
        raise ValueError(f"{data.name} has several targets; choose one by --target: {names}.")
    return data


def _compare(args):
    from alignlearn.comparison import Protocol, compare, explain, plot_comparison
    from alignlearn.comparison.memory import check_comparison
    from alignlearn.validation import is_sparse

    output = Output(args)
    data = _raw_table(args) or read_data(args)
    raw = isinstance(data, Sample)
    stem = f"compare-{data.name.partition('.')[0] or 'data'}"
    figure = None if args.no_figure else figure_path(args.out, stem)
    X, y, notes = subset(data, args.max_samples, args.random_state)
    if raw:
        kernels, more = _family("rbf", None), [_PREPARED]
    else:
        X, kernels, more = choose_kernels(X, args.kernels, args.gammas)
    if args.tables is not None:
        kernels = _on_tables(kernels, data, args.tables)
    rank_one = not isinstance(kernels, list)
    family = "one kernel per column" if rank_one else f"{len(kernels)} kernels"
    methods = _methods(args.methods, rank_one, data)
    check_comparison(
        X, kernels, methods, data.task, max(args.folds, 3),
        dense_fits=8 * X.shape[0] * X.shape[1] <= _DENSE_LIMIT or not is_sparse(X),
        words=("--max-samples {}", "--kernels rbf"),
    )  # fmt: skip
    protocol = Protocol(
        n_folds=args.folds, scale=args.scale, random_state=args.random_state, test=args.test
    )
    output.print(_head(data, X, y, family, protocol))
    notes = [*data.notes, *notes, *more]
    for note in notes:
        output.note(note)
    output.print()
    kernels = None if raw else kernels  # the same kernels, on the prepared features
    report = (args.verbose and not args.quiet) or output.step
    comparison = compare(
        X, y, kernels, protocol=protocol, methods=methods, task=data.task, verbose=report
    )
    output.print(comparison)
    results = _results(comparison)
    if args.explain:
        method, table, text = explain(comparison, X, y, kernels)
        output.print(f"\n{text}")
        results["explained"] = {"method": method, "kernels": table}
    if figure is not None:
        plot_comparison(comparison, figure, title=f"{data.name}, {family}")
        output.print(f"\nfigure: {figure}")
    output.json({"data": data.name, **results, "notes": notes, "figure": figure})
    return 0


def _raw_table(args):
    """The `Sample` of a text table that has not only numbers; None if options need numbers."""
    from alignlearn.datasets._files import is_named_table
    from alignlearn.datasets._raw import read_raw

    asked = (args.kernels, args.gammas, args.tables, args.missing)
    given = any(option is not None for option in asked) or args.scale != "standard"
    if given or not is_named_table(args.data) or not os.path.isfile(args.data):
        return None
    raw = read_raw(args.data, order=args.dates, decimal=args.decimal)
    if not raw.frame.dates:
        _check_columns(args, raw)
    sample = read_sample(args.data, args.target, args.task, args.drop, raw)
    return None if sample.is_plain else sample


def _check_columns(args, raw):
    """ValueError for, say, a word among the numbers of a column."""
    try:
        read_data(argparse.Namespace(**{**vars(args), "missing": "keep"}))
    except ValueError as error:
        labels = raw.frame.columns
        at = {k: labels[k] for k in range(-len(labels), len(labels))}
        dropped = [at.get(one, one) for one in args.drop]
        undecided = [label for label in raw.undecided if label not in dropped]
        if not undecided:
            raise
        raise ValueError(
            f"{error} If {listed(undecided)} holds dates, set --dates month-first or --dates "
            "day-first."
        ) from None


def _on_tables(kernels, data, separator):
    """The kernels on each table, if tables are given by prefixes of column names."""
    from alignlearn.kernels import Columns, columns_by_prefix

    if not isinstance(kernels, list):
        raise ValueError(
            "--tables cannot be used with --kernels rank-one, whose kernels take one column each."
        )
    if not data.feature_names:
        raise ValueError("--tables needs column names, which these data do not have.")
    if not separator:
        raise ValueError(
            "--tables needs the separator between the names of tables and columns, such as __."
        )
    tables = columns_by_prefix(data.feature_names, separator)
    return [Columns(k, columns, name) for name, columns in tables.items() for k in kernels]


def _results(comparison):
    """A comparison as a dict of plain names, by method."""
    from dataclasses import asdict

    arrays = {**comparison.columns, "weights": comparison.weights}
    methods = {}
    for i, method in enumerate(comparison.methods):
        methods[method] = {name: values[i] for name, values in arrays.items()}
        if "uniform" in comparison.methods and method != "uniform":
            methods[method]["p_value"] = comparison.p_value(method)
            if comparison.losses is not None:
                methods[method]["prequential"] = asdict(comparison.prequential(method))
    return {
        "task": comparison.task,
        "n_samples": comparison.shape[0],
        "n_features": comparison.shape[1],
        "protocol": asdict(comparison.protocol),
        "kernels": comparison.kernel_names,
        "methods": methods,
        "verdict": comparison.verdict(),
    }


def _head(data, X, y, family, protocol):
    import numpy as np

    from alignlearn.comparison.result import wrapped

    if data.task == "classification":
        kind = f"{np.unique(y).size} classes, support vector machine"
    else:
        kind = "real-valued target, kernel ridge regression"
    folds = protocol.n_folds
    turns = f"{folds} folds ({folds - 2} for training, 1 for validation, 1 for testing)"
    if protocol.test == "prequential":
        turns = f"{folds} test blocks in the second half, trained on all samples before a block"
    samples = f"{X.shape[0]} samples, {X.shape[1]} features"
    return wrapped(f"{data.name}: {samples}, {kind}; {family}; {turns}")


def subset(data, max_samples, random_state):
    """(X, y, notes) of at most ``max_samples`` random rows, in their order."""
    if max_samples < 0:
        raise ValueError(f"--max-samples {max_samples}; accepted: a number of rows, or 0 for all.")
    m = data.n_samples
    if max_samples == 0 or m <= max_samples:
        return data.X, data.y, []
    import numpy as np

    rows = np.sort(np.random.default_rng(random_state).choice(m, max_samples, replace=False))
    note = f"a random subset of {max_samples} of {m} rows is used (--max-samples)"
    return data.X[rows], data.y[rows], [note]


def choose_kernels(X, names, gammas):
    """(X, kernels, notes): sparse X becomes dense where the kernels need it."""
    from alignlearn.kernels import RankOneKernels
    from alignlearn.validation import is_sparse

    sparse, notes = is_sparse(X), []
    names = [n.strip() for n in (names or ("rank-one" if sparse else "rbf")).split(",")]
    if "rank-one" in names:
        if len(names) > 1 or gammas is not None:
            raise ValueError(
                "--kernels rank-one cannot be combined with other kernels or with --gammas."
            )
        return X, RankOneKernels(), notes
    if sparse:
        size, rows = 8 * X.shape[0] * X.shape[1], _DENSE_LIMIT // (8 * X.shape[1])
        if size > _DENSE_LIMIT:
            fewer = f"--max-samples {rows}" if rows >= 100 else "fewer columns"
            raise ValueError(
                f"these kernels need dense data of {size / 2**30:.1f} GiB, but the "
                f"limit is {_DENSE_LIMIT / 2**30:.0f} GiB; accepted: {fewer}."
            )
        X = X.toarray()
        notes = ["the sparse data is made dense for these kernels"]
    kernels = [kernel for name in names for kernel in _family(name, gammas)]
    if gammas is not None and not set(names) & set(_LADDERS):
        raise ValueError(f"--gammas needs one of the kernels {', '.join(_LADDERS)}.")
    return X, kernels, notes


def _family(name, gammas):
    from alignlearn.kernels import as_kernel

    kernel = as_kernel(name)
    if name not in _LADDERS:
        return [kernel]
    if gammas is None:
        return [replace(kernel, multiple=2.0**k) for k in _LADDER]
    return [replace(kernel, gamma=2.0**k) for k in range(gammas[0], gammas[1] + 1)]


def _methods(names, rank_one, data):
    from alignlearn.comparison import DEFAULT_METHODS, METHODS
    from alignlearn.validation import check_choice

    if names is None:
        return tuple(m for m in DEFAULT_METHODS if not (rank_one and METHODS[m].no_columns))
    methods = tuple(n.strip() for n in names.split(","))
    for method in methods:
        task = METHODS[check_choice("methods", method, tuple(METHODS))].task
        if task not in (None, data.task):
            numbers = data.task == "classification" and data.y.dtype.kind != "U"
            hint = "; accepted with --task regression" if numbers else ""
            raise ValueError(
                f"--methods {method} is for {task}, but the task is {data.task}{hint}."
            )
    return methods
