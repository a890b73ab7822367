#!/usr/bin/env python3
"""Tables 1 to 3 of Liu et al. (2020) by ridge: one hyper-kernel, as theirs, and a ladder of them.

The protocol of ``hyper.py`` (40 % labelled, 40 % unlabelled, 20 % test points; in Table 3 half for
training), but alpha, the reach of the single hyper-kernel (sigma_h2 of 1/4 to 4 sigma2) and the
ladder are chosen by `HyperKRRCV`: pairs of points left out in five folds.

usage: scripts/reproduce/p4_hyperkernels/hyper_ladder.py [--quick] [--repeats N] [--data NAME ...]
[--out FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import hyper_known as known
import shared
from hyper_paper import APPROXIMATION, DATA, IDEAL, KERNELS, KNOWN
from hyper_stages import chosen_predictions, gaussian_hyper, load, machine_predictions, parts

from alignlearn.hyper import HyperKRRCV

SIZES = {"max_pairs": 8_000, "max_rank": 200}
QUICK = {"max_pairs": 1_000, "max_rank": 80}
METHODS = ("single", "ladder")
TARGETS = (*KERNELS, "ideal")
TITLES = {
    "gaussian": "Table 1: the known Gaussian kernel",
    "tl1": "Table 2: the TL1 kernel, tau = 0.7 d",
    "log": "Table 2: the log kernel, sigma = 1",
    "ideal": "Table 3: the ideal kernel (krr gaussian)",
}


def regression(method, seed, sizes):
    """Ridge on pairs, not fitted."""
    given = [gaussian_hyper(m) for m in known.MULTIPLES] if method == "single" else None
    return HyperKRRCV(given, **sizes, random_state=seed)


def limit(kernel, X, v1):
    """Relative RMSE of what one hyper-kernel learns with the best constant function h."""
    K, D = kernel(X), np.square(X[:, None] - X).sum(axis=2)
    values = np.exp(-D / (2.0 * v1))
    return known.rmse(values * ((K * values).sum() / np.square(values).sum()), K)


def known_trial(name, kernel_name, seed, sizes):
    """Relative RMSE on test pairs, and accuracies on test points, of one partition."""
    X, y = load(name)
    labelled, unlabelled, test = parts(y, (2, 2, 1), seed)
    kernel, C = known.known_kernel(kernel_name, X, y, labelled, seed)
    train = np.concatenate([labelled, unlabelled])
    unit = np.abs(kernel(X[train])).max()
    found = {KNOWN: {}}

    def accuracy(k, C=None):
        K, K_new = k(X[labelled], X[labelled]) / unit, k(X[test], X[labelled]) / unit
        if C is None:
            predicted = chosen_predictions(K, y[labelled], K_new, seed)
        else:
            predicted = machine_predictions(K, y[labelled], K_new, [C * unit])[0]
        return 100.0 * float(np.mean(predicted == y[test]))

    found[KNOWN] = {"test": accuracy(kernel, C)}
    for method in METHODS:
        model = regression(method, seed, sizes).fit(X[train], kernel(X[train]) / unit)
        values = unit * model.kernel_(X[test])
        found[method] = {
            "rmse": known.rmse(values, kernel(X[test])),
            "test": accuracy(lambda A, B, k=model.kernel_: unit * k(A, B)),
            "alpha": model.alpha_,
        }
    v1 = gaussian_hyper(1.0).resolve(X[train]).sigma2
    found["limit"] = limit(kernel, X[test], v1)
    return found


def ideal_trial(name, seed, sizes):
    """Accuracies of a machine on the kernel learned from labels; half for training."""
    X, y = load(name)
    train, test = parts(y, (1, 1), seed)
    found = {}
    for method in METHODS:
        kernel = regression(method, seed, sizes).fit(X[train], y[train]).kernel_
        K, K_new = kernel(X[train]), kernel(X[test], X[train])
        predicted = chosen_predictions(K, y[train], K_new, seed)
        found[method] = {"test": 100.0 * float(np.mean(predicted == y[test]))}
    return found


def column(trials, method, what):
    """One figure of a method in all partitions."""
    return np.array([t[method][what] for t in trials])


def known_rows(kernel_name, found):
    """A row for each data set: RMSE of the paper, of one and of the ladder, and accuracies."""
    paper = APPROXIMATION[kernel_name]
    for name, trials in found.items():
        theirs = min(row["rmse"][name] for m, row in paper.items() if m != KNOWN)
        errors = [float(np.median(column(trials, m, "rmse"))) for m in METHODS]
        limited = float(np.median([t["limit"] for t in trials]))
        cells = [f"{theirs:.3f}", f"{limited:.3f}", *(f"{e:.4f}" for e in errors)]
        cells += ["yes" if errors[1] <= theirs else "no"]
        for method in (KNOWN, *METHODS):
            values = column(trials, method, "test")
            cells.append(shared.spread(values.mean(), values.std(), 1))
        yield name, *cells


def ideal_rows(found):
    """A row for each data set: accuracies."""
    for name, trials in found.items():
        cells = [shared.spread(*IDEAL["krr gaussian"][name], 1)]
        for method in METHODS:
            values = column(trials, method, "test")
            cells.append(shared.spread(values.mean(), values.std(), 1))
        yield name, *cells


def draw(found):
    """RMSE of the paper, of one hyper-kernel and of the ladder."""
    figure, axes = shared.new_figure(1, 3, (13.0, 4.2))
    for ax, kernel_name in zip(axes[0], KERNELS):
        names = list(found[kernel_name])
        at, paper = np.arange(len(names)), APPROXIMATION[kernel_name]
        theirs = [min(r["rmse"][n] for m, r in paper.items() if m != KNOWN) for n in names]
        ax.plot(at, theirs, "_", color="#000000", markersize=26, label="paper, best of three")
        for method, colour, marker in zip(METHODS, ("#D55E00", "#0072B2"), "vo"):
            values = [np.median(column(found[kernel_name][n], method, "rmse")) for n in names]
            ax.plot(at, values, marker, color=colour, label=f"ours, {method}", markersize=7)
        ax.set_yscale("log")
        ax.set_xticks(at, names, fontsize=8)
        ax.set_title(TITLES[kernel_name], loc="left", fontsize=10)
    axes[0, 0].set_ylabel("relative RMSE on test pairs")
    axes[0, 1].legend(fontsize=8, loc="lower right")
    return figure


INTRODUCTION = """\
Liu, Shi, Huang, Yang and Suykens (2020), Tables 1 to 3 by ridge regression: one Gaussian
hyper-kernel, as theirs, and a ladder of them (`hyper_kernels`), {repeats} random partitions.
RMSE is relative (1: the mean of K) on pairs of test points, the median; the paper's is the least of
its three methods. 'limit' is the error of the best multiple of exp(-|x - x'|^2 / 2 v1), the only
function of the difference that one hyper-kernel learns: functions of the midpoint must mend it.
At most {max_pairs} pairs, {max_rank} landmark pairs; all parameters by pairs of points left out.
"""


def options(parser):
    """Those that only this script has."""
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA, help="default: all")


def main(argv=None):
    """Print the tables, draw the figure; return what was measured."""
    args = shared.arguments(__doc__, argv, options, default=10, help="partitions (default 10)")
    out = shared.Output("hyper_ladder", args)
    repeats = 1 if args.quick else args.repeats
    names = ("wine",) if args.quick else args.data
    sizes = QUICK if args.quick else SIZES
    out.say(*INTRODUCTION.format(repeats=repeats, **sizes).split("\n"))
    found = {}
    for target in TARGETS:
        trial = ideal_trial if target == "ideal" else known_trial
        found[target] = {}
        for name in names:
            given = (name,) if target == "ideal" else (name, target)
            found[target][name] = [trial(*given, seed, sizes) for seed in range(repeats)]
        out.say(TITLES[target])
        if target == "ideal":
            out.table(("", "paper", *METHODS), list(ideal_rows(found[target])))
        else:
            header = ("", "paper", "limit", *METHODS, "<= paper")
            header += tuple(f"accuracy, {m}" for m in (KNOWN, *METHODS))
            out.table(header, list(known_rows(target, found[target])))
        out.say("")
    out.write(draw(found))
    return found


if __name__ == "__main__":
    shared.run(main)
