"""``alignlearn bounds``: statements about data, or a bound against the sample size."""

from __future__ import annotations

import argparse
import math
import re

from .compare import (
    add_data_options,
    add_figure_options,
    add_kernel_options,
    choose_kernels,
    index_or_name,
    read_data,
    subset,
)
from .output import Output, add_output_options, add_parser, figure_path
from .statement import run_on_data

_MOST_M = 10**15
_DEFAULT_M = 10, 10**6

_HELP = """\
With DATA: guarantees for a kernel and a model on this data. A random half of the samples trains
scales, widths, weights and model; groups of rows stay together (--groups). The other half evaluates
them. Prints a confidence interval for the alignment with the target, the number of samples that
would halve it, the share of variance that some function of the kernel explains, and a bound on the
risk of the model. If a statement is impossible, the output gives the reason. Two numbers cannot be
estimated from a sample and are options: the range of all real-valued targets, and a bound on
K(x, x) for kernels without a known maximum.

With --claim: from which sample size on is a published bound informative? Prints the bound of one
claim for several sample sizes m, as printed in the paper and in its correct form, marks where each
is vacuous (weaker than a trivial bound), gives the m from which it is not, and draws the bound
against m. Without DATA and --claim, lists the claims that have a bound for each m.
"""
_EXAMPLES = """\
examples:
  alignlearn bounds breast_cancer
  alignlearn bounds table.csv --target price --label-range 0:1000 --delta 0.01 --out price.svg
  alignlearn bounds visits.csv --target outcome --groups patient
  alignlearn bounds table.csv --kernels rbf --gammas -3:-3 --scale minmax
  alignlearn bounds --data table.csv --target y --curve p1-theorem-12
  alignlearn bounds
  alignlearn bounds --claim p1-theorem-12 --m 10:1e8 --delta 0.05 --out theorem-12.svg
  alignlearn bounds --claim p1-theorem-17 --set lam0=0.1

exit codes: 0 done, also if no statement is possible; 2 the command or the data cannot be used.
"""


def add_command(commands):
    """Add the command to the subparsers of ``alignlearn``."""
    parser = add_parser(
        commands,
        "bounds",
        "guarantees for your data, or a published bound against the sample size",
        _HELP,
        _EXAMPLES,
    )
    add_data_options(parser, optional=True)
    add_kernel_options(parser, "training half", "halves and subset")
    add = parser.add_argument
    add(
        "--label-range",
        metavar="LOW:HIGH",
        type=_interval,
        help="with DATA: an interval that contains all possible real-valued targets",
    )
    add(
        "--radius2",
        metavar="R2",
        type=float,
        help="with DATA: upper bound on K(x, x), in the units of the scaled columns; needed for "
        "linear, poly and other kernels without a known maximum",
    )
    add(
        "--groups",
        metavar="COLUMN",
        type=index_or_name,
        help="with DATA: rows with the same value of this column, such as those of one patient, "
        "stay in the same half, and one row of each group is used. Default: equal rows form a "
        "group, unless all columns have at most 10 values; no groups: --groups none",
    )
    add(
        "--curve",
        metavar="NAME",
        help="with DATA: only draw this bound, such as p1-theorem-12, with constants estimated "
        "from the data, beside deviations observed on resamples",
    )
    add("--data", dest="data_file", metavar="DATA", help="the same as DATA")
    add("--claim", metavar="NAME", help="a claim such as p1-theorem-12. Default: list the names")
    add(
        "--m",
        metavar="LOW:HIGH",
        type=_range,
        help="with --claim: sample sizes, default 10:1e6",
    )
    add("--delta", type=float, default=0.05, help="allowed probability of failure (default 0.05)")
    add(
        "--set",
        metavar="NAME=VALUE",
        type=_assignment,
        action="append",
        default=[],
        help="with --claim: change a number of the setting, which the table states; may be "
        "repeated",
    )
    add_figure_options(parser, "bounds")
    add_output_options(parser, "the whole traceback of an error")
    parser.set_defaults(run=run_bounds)


def _range(text):
    low, colon, high = text.partition(":")
    try:
        low, high = float(low), float(high)
    except ValueError:
        colon = ""
    if not (colon and 1 <= low < high <= _MOST_M) or low != int(low) or high != int(high):
        raise argparse.ArgumentTypeError(
            f"{text!r}; accepted: LOW:HIGH, whole numbers with 1 <= LOW < HIGH <= 1e15"
        )
    return int(low), int(high)


def _interval(text):
    low, _, high = text.partition(":")
    try:
        low, high = float(low), float(high)
    except ValueError:
        low, high = 1.0, 0.0
    if not -math.inf < low < high < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r}; accepted: LOW:HIGH, numbers with LOW < HIGH")
    return low, high


def _assignment(text):
    name, _, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r}; accepted: NAME=VALUE with a number, such as lam0=0.1"
        ) from None


def run_bounds(args) -> int:
    """``alignlearn bounds``: print the table, write the figure, return the exit code."""
    if args.data_file is not None and args.data is not None:
        raise ValueError("DATA is given twice, as an argument and by --data; give it once.")
    args.data = args.data if args.data_file is None else args.data_file
    _check_mode(args)
    if args.curve is not None:
        return _curve_of_data(args)
    if args.data is not None:
        return run_on_data(args)
    from alignlearn.theory.figures.curves import find_curve
    from alignlearn.theory.figures.drawing import draw_curve
    from alignlearn.theory.figures.style import log_grid, save

    output = Output(args)
    if args.claim is None:
        _list_curves(output)
        return 0
    curve = find_curve(args.claim)
    low, high = args.m or _DEFAULT_M
    low = max(low, curve.least)
    if not low < high:
        raise ValueError(f"--m: {curve.claim} needs m >= {curve.least}, got at most {high}.")
    figure = None if args.no_figure else figure_path(args.out, f"bounds-{curve.claim}")
    changes = dict(args.set)
    output.print(bounds_table(curve, low, high, args.delta, changes))
    if figure is not None:
        save(draw_curve(curve, log_grid(low, high), args.delta, changes), figure)
        output.print(f"\nfigure: {figure}")
    output.json({**_bounds(curve, _round_sizes(low, high), args.delta, changes), "figure": figure})
    return 0


def _curve_of_data(args):
    """Draw a bound with the numbers of the data, beside the values of resamples."""
    from alignlearn.comparison.trial import scale_columns
    from alignlearn.sources import open_source
    from alignlearn.theory import curve_for, find_curve
    from alignlearn.theory.figures.observed import combined, resampled, setting_of
    from alignlearn.theory.figures.style import save

    output = Output(args)
    data = read_data(args)
    X, y, notes = subset(data, args.max_samples, args.random_state)
    X, kernels, more = choose_kernels(X, args.kernels, args.gammas)
    if not isinstance(kernels, list):
        raise ValueError("--curve needs kernels that are matrices, such as --kernels rbf.")
    (X,) = scale_columns((X,), args.scale)
    source = open_source(X, kernels)
    grams = [source.single(k).gram(exact=True) for k in range(len(source.kernels))]
    for note in (*data.notes, *notes, *more):
        output.note(note)
    stem = f"bounds-{data.name.partition('.')[0] or 'data'}-{args.curve}"
    figure = None if args.no_figure else figure_path(args.out, stem)
    drawn = curve_for(grams, y, args.curve, args.delta, args.random_state)
    curve = find_curve(args.curve)
    K, T = combined(grams, y)
    setting = setting_of(curve, K, T)
    sizes, seen = resampled(K, T, curve.claim, args.delta, args.random_state)
    bounds = curve.values(sizes.tolist(), args.delta, setting)
    output.print(f"{curve.claim} with the numbers of {data.name}, {len(y)} samples:")
    output.print(", ".join(f"{k} = {v:.4g}" for k, v in curve.numbers(setting).items()) + "\n")
    output.print(f"{'m':>8}  {'observed':>10}  " + "  ".join(f"{n:>12}" for n in bounds))
    for i, m in enumerate(sizes):
        cells = "  ".join(f"{b[i]:12.4g}" for b in bounds.values())
        output.print(f"{m:>8}  {seen[i]:10.4g}  {cells}")
    if figure is not None:
        save(drawn, figure)
        output.print(f"\nfigure: {figure}")
    found = {"claim": curve.claim, "setting": curve.numbers(setting), "m": sizes.tolist()}
    output.json({**found, "observed": seen.tolist(), "bounds": bounds, "figure": figure})
    return 0


def _check_mode(args):
    """Raise an error if options of DATA and of --claim, two separate commands, are combined."""
    claim = {"--claim": args.claim, "--m": args.m, "--set": args.set}
    data = {"--target": args.target, "--task": args.task, "--missing": args.missing}
    data |= {"--drop": args.drop, "--groups": args.groups, "--curve": args.curve}
    data |= {"--kernels": args.kernels, "--gammas": args.gammas}
    data |= {"--label-range": args.label_range, "--radius2": args.radius2}
    wrong, place = (data, "needs DATA") if args.data is None else (claim, "does not go with DATA")
    for name, value in wrong.items():
        if value is not None and value != []:
            raise ValueError(f"{name} {place}.")


def _bounds(curve, sizes, delta, changes):
    """The numbers of the table as a dict."""
    from alignlearn.theory import CLAIMS
    from alignlearn.theory.figures.drawing import place

    claim = CLAIMS[curve.claim]
    return {
        "claim": claim.name,
        "source": place(claim),
        "status": claim.status.value,
        "bounded": _plain(curve.quantity),
        "delta": None if claim.confidence is None else delta,
        "setting": curve.numbers(changes),
        "vacuous_from": curve.level(changes),
        "m": sizes,
        "bounds": curve.values(sizes, delta, changes),
        "smallest_m_not_vacuous": curve.smallest(delta, changes, level=curve.level(changes)),
        "informative_below": curve.start(changes),
        "smallest_m_informative": curve.smallest(delta, changes),
    }


def _list_curves(output):
    from alignlearn.theory import CLAIMS
    from alignlearn.theory.figures.curves import CURVES
    from alignlearn.theory.figures.drawing import place

    output.print("claims with a bound for each m (--claim NAME):\n")
    width = max(map(len, CURVES))
    for name in CURVES:
        output.print(f"  {name:<{width}}  {CLAIMS[name].status.value:<19}  {place(CLAIMS[name])}")
    known = {
        name: {"status": CLAIMS[name].status.value, "source": place(CLAIMS[name])}
        for name in CURVES
    }
    output.json({"claims": known})


def bounds_table(curve, low, high, delta=0.05, changes=None) -> str:
    """Bound by sample size as text: m, each form, which are vacuous, and the smallest useful m.

    Parameters
    ----------
    curve : alignlearn.theory.figures.drawing.Curve
    low, high : int
        Sample sizes; rows are 1, 2 and 5 times powers of ten between them, and both ends.
    delta : float in (0, 1)
    changes : dict, optional
        Numbers of the setting to replace.
    """
    from alignlearn.theory import CLAIMS
    from alignlearn.theory.figures.drawing import place

    changes = changes or {}
    rows = _round_sizes(low, high)
    values, level = curve.values(rows, delta, changes), curve.level(changes)
    claim = CLAIMS[curve.claim]
    numbers = ", ".join(f"{k} = {v:.4g}" for k, v in curve.numbers(changes).items())
    chance = f"with probability {1 - delta:g}; " if claim.confidence is not None else ""
    lines = [
        f"{claim.name}: {place(claim)}. Status as printed: {claim.status.value}.",
        f"bounded: {_plain(curve.quantity)}; {chance}vacuous from {level:g} on: {curve.why}.",
    ]
    fails = not claim.status.holds
    values = {_column(name, fails): bound for name, bound in values.items()}
    if numbers:
        lines.append(f"setting: {numbers} ({curve.meaning}).")
    width = max(12, *(len(name) for name in values))
    lines += ["", f"{'m':>16}  " + "  ".join(f"{n:>{width}}" for n in values) + "  vacuous"]
    for i, m in enumerate(rows):
        cells = "  ".join(f"{bound[i]:{width}.4g}" for bound in values.values())
        empty = [name for name, bound in values.items() if not bound[i] < level]
        all_of_them = len(empty) == len(values) and len(values) > 1
        word = "all" if all_of_them else ", ".join(empty) or "-"
        lines.append(f"{m:>16,}  {cells}  {word}")
    lines.append("")
    for below in dict.fromkeys((level, curve.start(changes))):
        says = "not vacuous" if below == level else f"below {below:g}"
        for name, m in curve.smallest(delta, changes, level=below).items():
            where = "never" if m is None else f"from m = {m:,} on"
            lines.append(f"{says}: {_column(name, fails)}: {where}")
    return "\n".join(lines)


def _column(name, fails):
    """A printed bound that fails is not a bound, and its label must not suggest that it is one."""
    return f"{name} (false)" if fails and name == "printed" else name


def _round_sizes(low, high):
    rows, power = {low, high}, 1
    while power <= high:
        rows |= {k * power for k in (1, 2, 5) if low <= k * power <= high}
        power *= 10
    return sorted(rows)


def _plain(label):
    """A LaTeX label as text."""
    text = label.replace("$", "").replace(r"\,", "")
    text = re.sub(r"\\(?:hat)\\?(\w+)", r"\1_S", text)
    text = re.sub(r"\\mathrm\{(\w+)\}", r"\1", text)
    text = text.replace(r"\frac{1}{m}", "1/m ").replace(r"\langle", "<").replace(r"\rangle", ">")
    text = text.replace(r"\hat R", "R_S").replace(r"\|", "||").replace("{S'}", "S'")
    return re.sub(r" +", " ", text.replace("\\", "")).strip()
