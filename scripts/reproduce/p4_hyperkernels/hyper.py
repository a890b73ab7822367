#!/usr/bin/env python3
"""Tables 1 to 4 of Liu, Shi, Huang, Yang and Suykens (2020), beside the paper's.

Kernels learned in the space of a hyper-kernel by non-negative least squares, ridge and support
vector regression: from the matrix of a known kernel (Tables 1 and 2), from the ideal kernel of the
labels beside rivals (Table 3), and on ijcnn1 by clusters (Table 4). Data come from
`alignlearn.datasets` (set ALIGNLEARN_DATA to a folder that has them) and scikit-learn.

usage: scripts/reproduce/p4_hyperkernels/hyper.py [--quick] [--repeats N] [--tables N ...]
[--keep FOLDER] [--out FOLDER]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import hyper_ideal as ideal
import hyper_known as known
import hyper_large as large
import shared
from hyper_paper import DATA, KERNELS
from hyper_report import (
    draw,
    report_ideal,
    report_known,
    report_large,
    report_matched,
)
from hyper_stages import load

TABLES = (1, 2, 3, 4)
FEWER = {"australian": 0.5}  # of the repeats of Table 3
QUICK_DATA = ("sonar",)


def obtained(keep, stem, measure):
    """What a measurement gives, or what it gave before if that was kept."""
    path = None if keep is None else Path(keep) / f"{stem}.json"
    if path is not None and path.is_file():
        return json.loads(path.read_text(encoding="utf-8"))
    found = measure()
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found), encoding="utf-8")
    return found


def options(parser):
    """Those that only this script has."""
    parser.add_argument(
        "--tables", type=int, nargs="+", choices=TABLES, default=TABLES, help="default: all"
    )
    parser.add_argument(
        "--keep",
        metavar="FOLDER",
        help="keep the figures of each data set there, and do not measure again what is there",
    )


INTRODUCTION = """\
Liu, Shi, Huang, Yang and Suykens (2020), Regularized regression problem in hyper-RKHS for
learning kernels: Tables 1 to 4. guide1-t and covtype are not at hand and are left out.

Random partitions: {repeats} ({fewer}), classes in equal shares; +- is
the deviation over them. A figure agrees within one standard deviation of the paper's. RMSE is
the median over the partitions; the paper prints it without a deviation, and x is the
measured value divided by the paper's. Features in [0, 1].

Reading of the paper, and what is done otherwise:
- sigma2, the 'variance of data', is d times the variance of the entries: that of the entries
  alone makes the hyper-kernel nearly 0 between most pairs.
- Tables 1 and 2: 40 % labeled, 40 % unlabeled, 20 % test. Stage 1 sees the kernel matrix of
  the labeled and the unlabeled points together, and no labels; the machine (KSVM) is trained
  on the labeled ones, C of 2^-5, 2^-3, ..., 2^7 by 5 folds. RMSE is over pairs of test points,
  which are in no training pair. The known Gaussian is that of SVM-CV on the labeled points.
- sigma_h2, alpha or C, and epsilon (0.1 and 0.01: the paper says 'slack variables', and two
  values) are chosen by the RMSE on pairs of a held-out fifth of the training points, in Table 2
  of the first partition alone. alpha, which is lambda of (2.4), is 1e-5, 1e-3, 0.1, 10 and C is
  0.1, 10, 1000, where the paper takes every power of ten from 1e-5 to 1e5. K is divided by its
  largest absolute value first.
- Stage 1 is in the span of {rank} landmark pairs (SVR {svr_rank}), from at most {pairs}
  pairs (SVR {svr_pairs}) that are drawn at random: australian has 152,628.
- Table 3: half for training. sigma_h2 (1/4, 1, 4 sigma2), alpha (0.1, 10, 1000) or C (0.001,
  0.01, 0.1), epsilon and C of the machine are chosen by the accuracy over 3 folds; {ideal_pairs}
  pairs, {ideal_rank} landmark pairs. Kernels of KTA (alignf), align, uniform and BMKL: Gaussians of
  sigma 2^-3, ..., 2^6 and polynomials of degree 1 to 3. Random features: {features}; their width,
  rho and C by 3 folds. SVM-CV: the printed widths, every second C.
- Table 4: half of ijcnn1_train for training (the paper trains on all of it). {large_pairs} pairs
  in all, {large_rank} landmark pairs a cluster, sigma_h2 = sigma2, alpha = 10, C = 0.1. A kernel
  that is 0 between clusters makes a machine for each, trained on at most {machine} points; its C
  by a fifth that is held out. Seconds are of one processor, without compilation.
"""


CONCLUSIONS = """\
What holds and what does not:
- RMSE: with sigma2 given, every function of the space is exp(-|x - x'|^2 / 2 sigma2) times one of
  the midpoint. The Gaussian of that width is learned (control); others, TL1 and log are so only
  in part, least of all where they hardly decay, and only hyper-SVR has a constant, its intercept.
  Hence hyper-SVR is far ahead on the log kernel on every set, as in the paper, and on TL1 for
  wine and sonar; hyper-KRR and hyper-NNLS can be worse than the mean of K (RMSE above 1).
  For normal points `alignlearn.theory.bounds.hyper_rates.width_error` is the least error of any
  function of the midpoint (p4-ladder-error), above 1 where the known kernel hardly decays. A sum
  over widths is not limited so: hyper_ladder.py has Tables 1 to 3 with it.
- The paper's RMSE of 0.06 to 0.17 on the Gaussian kernel needs a known width near sigma. It does
  not print that width; here SVM-CV often takes a much larger one. 0.001 on fertility with TL1, by
  all three methods, is out of reach here; on TL1 for australian, sonar and heart hyper-SVR is
  better than printed. 0.95 of hyper-KRR on heart in Table 1 may be a misprint of 0.095.
- hyper-NNLS cannot learn the log kernel: holds; no coefficient is above 0 on any set.
- A better approximation is not a better classifier: holds. Where its RMSE is above 1 hyper-KRR is
  within 3 points of the known kernel in accuracy, except for log on sonar (7). The paper's fall
  of hyper-KRR on wine from 97 % on unlabeled to 77 % and 60 % on test points does not occur.
- fertility has 88 % in one class. No mean here is more than 0.2 points above that, those of the
  known kernels included; the paper's figures up to 98 % are not reached.
- sonar: the known kernels are themselves 4 to 11 points above the paper's test accuracies.
- Table 3: that hyper-SVR with the Gaussian hyper-kernel is the best method does not hold; alignf
  has the best mean rank. Methods differ by about their deviation or less. Neither SVR above KRR
  nor Gaussian above Wishart is a rule.
- Table 4: the paper's accuracies are those of predicting the larger class, or less: at most 0.2
  points above it. Those here, from half of the points, are 4.8 to 7.9 points above it and
  mostly grow with v, as each cluster has its own machine; a plain Gaussian in the same machines
  is within 1.1 points of the best. Seconds do not fall with v, since the number of pairs is the
  same. The ladder (`hyper_kernels`, with the same alpha and C, for which it is not chosen) is
  0.4 to 0.7 points better than one hyper-kernel with 20 clusters by all three regressions, and
  as much worse by KRR and SVR with 5, where 150 landmark pairs are too few: KRR with 500 and
  alpha = 0.1 has 97.11 (AUC 98.54) by the ladder and 97.05 (97.96) by one.
"""


def introduce(out, repeats):
    """How the paper was read, and what is done otherwise."""
    kept = {n: max(1, round(repeats * share)) for n, share in FEWER.items()}
    text = INTRODUCTION.format(
        repeats=repeats,
        fewer="in Table 3 " + ", ".join(f"of {n} {k}" for n, k in kept.items()),
        pairs=known.SIZES["krr"][0],
        rank=known.SIZES["krr"][1],
        svr_pairs=known.SIZES["svr"][0],
        svr_rank=known.SIZES["svr"][1],
        ideal_pairs=ideal.FINAL[0],
        ideal_rank=ideal.FINAL[1],
        features=ideal.FEATURES,
        large_pairs=large.PAIRS,
        large_rank=large.RANK,
        machine=large.MACHINE,
    )
    out.say(*text.split("\n"))


def measured_known(args, repeats):
    """{kernel: {data set: figures}} of Tables 1 and 2, as far as they are asked for."""
    kernels = [k for k in KERNELS if (1 if k == "gaussian" else 2) in args.tables]
    return {
        kernel: {
            name: obtained(
                args.keep,
                f"known-{kernel}-{name}",
                lambda kernel=kernel, name=name: known.measure(kernel, name, repeats, args.quick),
            )
            for name in (QUICK_DATA if args.quick else DATA)
        }
        for kernel in kernels
    }


def measured_ideal(args, repeats):
    """{data set: figures} of Table 3."""
    return {
        name: obtained(
            args.keep,
            f"ideal-{name}",
            lambda name=name: ideal.measure(
                name, max(1, round(repeats * FEWER.get(name, 1))), args.quick
            ),
        )
        for name in (QUICK_DATA if args.quick else DATA)
        if 3 in args.tables
    }


def larger_class(name):
    """Its share, in per cent."""
    counts = np.unique(load(name)[1], return_counts=True)[1]
    return 100.0 * counts.max() / counts.sum()


def main(argv=None):
    """Run the tables; return what was measured: known kernels, the ideal kernel, ijcnn1."""
    args = shared.arguments(__doc__, argv, options, default=10, help="partitions (default 10)")
    out = shared.Output("hyper", args)
    repeats = 1 if args.quick else args.repeats
    introduce(out, repeats)
    by_kernel = measured_known(args, repeats)
    tally = []
    for kernel, found in by_kernel.items():
        tally += report_known(out, kernel, found)
    if 1 in args.tables:
        names = QUICK_DATA if args.quick else DATA
        control = obtained(args.keep, "matched", lambda: {n: known.matched(n) for n in names})
        report_matched(out, control)
    by_name = measured_ideal(args, repeats)
    if by_name:
        tally += report_ideal(out, by_name, {n: larger_class(n) for n in by_name})
    clusters = (
        obtained(args.keep, "large", lambda: large.measure(args.quick)) if 4 in args.tables else {}
    )
    if clusters:
        report_large(out, clusters)
    out.say(
        f"Accuracies of Tables 1 to 3 within one standard deviation: {sum(tally)} of {len(tally)}."
    )
    if not args.quick:
        out.say("", *CONCLUSIONS.splitlines())
    out.write(draw(by_kernel, by_name, clusters))
    return by_kernel, by_name, clusters


if __name__ == "__main__":
    shared.run(main)
