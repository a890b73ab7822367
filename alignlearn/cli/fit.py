"""``alignlearn fit TABLE`` and ``alignlearn predict MODEL TABLE``."""

from __future__ import annotations

import os
import sys
import time
from typing import NamedTuple

from alignlearn._text import table

from .compare import index_or_name
from .output import Output, add_output_options, add_parser
from .raw_tables import add_dates_option, add_decimal_option, read_sample

_TESTED = 0.2  # share of the rows that are held out
_MOST_COLUMNS = 10  # columns in the table of contributions
_MOST_TESTED = 1000  # held-out rows for contributions

_FIT_HELP = """\
Fits a model to a table with numbers, categories, dates and missing values, and writes it to a file.
One fifth of the rows is held out first. The command prints the score of a model that is fitted to
the others, the score of gradient boosting if scikit-learn is installed, and the contribution of
each column. The model in the file is fitted to all rows.
"""
_FIT_EXAMPLES = """\
examples:
  alignlearn fit table.csv --target price --out price.alignlearn
  alignlearn fit table.csv --target churn --drop customer_id --out churn.alignlearn
  alignlearn fit table.csv --target price --report report.html

exit codes: 0 done, 2 the command or the data cannot be used, 130 interrupted.
"""
_PREDICT_HELP = """\
Predicts the target of new rows with a model of `alignlearn fit`. Columns are found by name, in any
order, and other columns are ignored. Writes a csv file with one line per row: the prediction and,
for classification, the probability of each class.
"""
_PREDICT_EXAMPLES = """\
examples:
  alignlearn predict price.alignlearn new.csv --out predictions.csv
  alignlearn predict churn.alignlearn new.csv

exit codes: 0 done, 2 the command or the data cannot be used, 130 interrupted.
"""


def add_fit(commands):
    """Add ``fit`` to the subparsers of ``alignlearn``."""
    parser = add_parser(commands, "fit", "fit a model to a table", _FIT_HELP, _FIT_EXAMPLES)
    add = parser.add_argument
    add("data", metavar="TABLE", help="a file of delimited text, such as csv; also compressed")
    add("--target", type=index_or_name, help="the column to predict, by name or number (-1)")
    add("--task", choices=("classification", "regression"), help="default: from the target")
    add(
        "--drop",
        metavar="COL",
        type=index_or_name,
        action="append",
        default=[],
        help="a column to leave out, such as an identifier; may be repeated",
    )
    add_dates_option(add)
    add_decimal_option(add)
    add("--out", metavar="FILE", help="write the model to this file")
    add("--report", metavar="FILE", help="write a page (HTML, one file) with scores and figures")
    add(
        "--random-state",
        metavar="SEED",
        type=int,
        default=0,
        help="seed of the held-out rows (default 0)",
    )
    add_output_options(parser, "progress of the search on stderr")
    parser.set_defaults(run=run_fit)


def add_predict(commands):
    """Add ``predict`` to the subparsers of ``alignlearn``."""
    parser = add_parser(
        commands, "predict", "predict new rows by a fitted model", _PREDICT_HELP, _PREDICT_EXAMPLES
    )
    add = parser.add_argument
    add("model", metavar="MODEL", help="a file written by `alignlearn fit --out`")
    add("data", metavar="TABLE", help="a file of delimited text with the columns of the model")
    add_dates_option(add)
    add_decimal_option(add)
    add("--out", metavar="FILE", help="a csv file; default: stdout")
    parser.set_defaults(run=run_predict, verbose=False, quiet=False)


class Score(NamedTuple):
    """The score of a method on the held-out rows, and the seconds of its fit."""

    method: str
    score: float
    seconds: float


def run_fit(args) -> int:
    """``alignlearn fit``: return the exit code."""
    import alignlearn as al

    output = Output(args)
    _check_folder("--out", args.out)
    _check_folder("--report", args.report)
    if args.random_state < 0:
        raise ValueError(f"--random-state {args.random_state}: accepted: 0 and positive integers.")
    how = {"dates": args.dates, "decimal": args.decimal}
    sample = read_sample(args.data, args.target, args.task, args.drop, **how)
    m, d = sample.frame.shape
    columns = "1 column" if d == 1 else f"{d} columns"
    output.print(f"{args.data}: {m} rows, {columns}; target {sample.target!r} ({sample.task})")
    for note in sample.notes:
        output.note(note)
    verbose = output.step if output._lines is not None else False
    train, test = held_out(sample, args.random_state)
    scores, tried = compare_held_out(sample, train, test, verbose)
    name = "accuracy" if sample.task == "classification" else "R^2"
    rows = [(s.method, f"{s.score:.4f}", f"{s.seconds:.1f}") for s in scores]
    output.print(f"\n{name} on {len(test)} held-out rows:")
    output.print(table(rows, ("method", name, "seconds")))
    some = test[:_MOST_TESTED]
    parts = tried.contributions(sample.frame[some], sample.y[some], groups="features", n_repeats=5)
    output.print(f"\n{parts.table(_MOST_COLUMNS)}")
    model = None
    if args.out is not None:
        model = estimator(sample.task, sample.y, verbose).fit(sample.frame, sample.y)
        model.decimal_ = sample.decimal  # for new files that do not show what their commas mean
        al.save(model, args.out)
        output.print(f"\nmodel, fitted to all {m} rows: {args.out}")
    if args.report is not None:
        from .report import write_report

        write_report(args.report, args.data, sample, (scores, name, test), tried, parts)
        output.print(f"report: {args.report}")
    results = {s.method: {name: s.score, "seconds": s.seconds} for s in scores}
    columns = dict(zip(parts.names, parts.values[:, 0]))
    output.json(
        {
            "data": args.data,
            "target": sample.target,
            "task": sample.task,
            "held_out": len(test),
            "methods": results,
            "columns": columns,
            "model": args.out,
        }
    )
    return 0


def estimator(task, y, verbose=False):
    """The default model of a task; classes with probabilities."""
    import numpy as np

    import alignlearn as al

    if task == "classification":
        every_fold = np.unique(y, return_counts=True)[1].min() > 1  # which sigmoids need
        return al.MKLClassifierCV(probability="sigmoid" if every_fold else "auto", verbose=verbose)
    return al.MKLRegressorCV(verbose=verbose)


def held_out(sample, seed):
    """Positions of the rows to fit and of those that are held out, classes in equal shares."""
    import numpy as np

    from alignlearn.folds import make_folds

    m = len(sample.y)
    if m < 10:
        raise ValueError(f"the table has {m} rows with a target; accepted: at least 10.")
    classes, rng = sample.task == "classification", np.random.default_rng(seed)
    if classes:
        _check_classes(sample)
    y = np.unique(sample.y, return_inverse=True)[1] if classes else sample.y
    train, test = make_folds(round(1 / _TESTED), y, classes, rng)[0]
    return np.sort(train), np.sort(test)


def _check_classes(sample):
    import numpy as np

    names, counts = np.unique(sample.y, return_counts=True)
    target = f"the target {sample.target!r}"
    if len(names) == 1:
        raise ValueError(f"{target} is {names[0].item()!r} in all rows; accepted: two values.")
    if np.sum(counts >= 3) < 2:  # one in the held-out rows, and two in the folds of the others
        raise ValueError(
            f"{target} has {len(names)} classes in {len(sample.y)} rows, of which fewer than two "
            "have three rows; accepted: at least two such classes. Name another --target, or set "
            "--task regression if it holds numbers."
        )


def compare_held_out(sample, train, test, verbose):
    """A list of `Score`, of the default model first, and this model."""
    import numpy as np

    X, y = sample.frame, sample.y
    start = time.perf_counter()
    model = estimator(sample.task, y[train], verbose).fit(X[train], y[train])
    seconds = time.perf_counter() - start
    scores = [Score("alignlearn", model.score(X[test], y[test]), seconds)]
    boosted = _boosting(sample, train, test)
    if boosted is not None:
        scores.append(boosted)
    if sample.task == "classification":
        names, counts = np.unique(y[train], return_counts=True)
        always = np.mean(y[test] == names[counts.argmax()])
        return [*scores, Score(f"always {names[counts.argmax()]}", float(always), 0.0)], model
    return [*scores, Score("always the mean", 0.0, 0.0)], model


def _boosting(sample, train, test):
    """The `Score` of HistGradientBoosting; None where scikit-learn is not installed."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    except ImportError:
        return None
    import numpy as np

    frame, few = sample.frame, 255
    A = np.full(frame.shape, np.nan)
    A[:, frame.at] = frame.numbers
    for c, values in frame.categories.items():
        A[:, c] = np.where(values.codes < 0, np.nan, values.codes)
    empty = np.isnan(A[train]).all(axis=0)  # which scikit-learn cannot divide into bins
    A[:, empty] = 0.0
    native = [c for c, values in frame.categories.items() if len(values.levels) < few]
    classes = sample.task == "classification"
    model = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    start = time.perf_counter()
    model = model(categorical_features=native or None, random_state=0).fit(
        A[train], sample.y[train]
    )
    seconds = time.perf_counter() - start
    score = model.score(A[test], sample.y[test])
    return Score("gradient boosting (scikit-learn's defaults)", score, seconds)


def _check_folder(option, path):
    folder = os.path.dirname(os.path.expanduser(path or "")) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{option} {path}: the folder {folder} does not exist.")
    if path is not None and os.path.isdir(os.path.expanduser(path)):
        raise IsADirectoryError(f"{option} {path} is a folder; accepted: the name of a file.")


def run_predict(args) -> int:
    """``alignlearn predict``: return the exit code."""
    import csv

    import alignlearn as al
    from alignlearn.datasets._raw import read_raw

    _check_folder("--out", args.out)
    model = al.load(args.model)
    if not hasattr(model, "preparation_") or not hasattr(model, "predict"):
        raise ValueError(
            f"{args.model} does not contain a model of a table; accepted: a file written "
            "by `alignlearn fit --out`."
        )
    of_fit = model.preparation_
    others = {*of_fit.categories, *of_fit.dates}
    numbers = {label for c, label in enumerate(of_fit.columns) if c not in others}
    words = {label for c, label in enumerate(of_fit.columns) if c in of_fit.categories}
    how = {"least": 1, "decimal": args.decimal, "usual": getattr(model, "decimal_", None)}
    raw = read_raw(args.data, numbers, words, args.dates, **how)
    for note in raw.notes[1:]:
        print(f"note: {note}", file=sys.stderr)
    columns = {"prediction": model.predict(raw.frame).tolist()}
    if getattr(model, "calibration_", None) is not None:
        P = model.predict_proba(raw.frame)
        columns.update({f"probability of {c}": P[:, k] for k, c in enumerate(model.classes_)})
    lines = [list(columns), *zip(*columns.values())]
    if args.out is None:
        csv.writer(sys.stdout, lineterminator="\n").writerows(lines)
        return 0
    with open(os.path.expanduser(args.out), "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    print(f"{len(lines) - 1} predictions: {args.out}")
    return 0
