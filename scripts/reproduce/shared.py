"""Common code of the reproduction scripts: cross-validation trials, tables, files, colors."""

from __future__ import annotations

import json
import re
import sys
from abc import ABC, abstractmethod
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "lab"))
from _studies import study

from alignlearn.comparison import split
from alignlearn.significance import pairwise_t_tests
from alignlearn.sources import FeatureFamily, GramFamily
from alignlearn.statistics import alignment, center_kernel

FIGURES = Path(__file__).resolve().parents[2] / "figures"
LEVEL = 0.1  # of the tests in appendix C of the 2012 paper


# Command line, text and figure files


def arguments(doc, argv, repeats, rows=(), published=False):
    """The command line of `study`, with --repeats (once with --quick) and --out."""
    args = study(doc, rows, argv, published, repeats=(repeats, 1), out=("", ""))
    args.run = {"repeats": args.repeats}
    return args


class Output:
    """Prints, and stores the printed text for ``reproduce_<name>.txt``.

    ``script`` is the path of a script beside which there is a file ``texts.txt``.
    """

    def __init__(self, name, args, script=""):
        self.stem, self.script, self.lines = f"reproduce_{name}", Path(script), []
        # The default is figures/, and no files with --quick.
        folder = args.out or (None if args.quick else FIGURES)
        self.folder = None if folder is None else Path(folder)
        if args.quick:
            self.say("Quick run: only a part of the work, so do not quote these numbers.", "")

    def say(self, *lines):
        for line in lines:
            self.lines.append(line.rstrip())
            print(line.rstrip(), flush=True)

    def text(self, name, **values):
        """Print a section of ``texts.txt``, with values in place of {}."""
        content = self.script.with_name("texts.txt").read_text(encoding="utf-8")
        parts = re.split(r"(?m)^# ([\w-]+)\n", content)
        section = dict(zip(parts[1::2], parts[2::2]))[name].strip("\n")
        self.say(*section.format(**values).split("\n"))

    def table(self, header, rows, indent="  "):
        """Columns of text, the first one to the left."""
        cells = [list(map(str, row)) for row in (header, *rows)]
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines = [
            indent + "   ".join([row[0].ljust(widths[0])] + [c.rjust(w) for c, w in rest])
            for row in cells
            for rest in [list(zip(row[1:], widths[1:]))]
        ]
        rule = indent + "-" * (sum(widths) + 3 * (len(widths) - 1))
        self.say(lines[0], rule, *lines[1:])

    def write(self, figure=None):
        """Write the text and a figure into the folder, if there is one."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        text = "\n".join(self.lines) + "\n"
        (self.folder / f"{self.stem}.txt").write_text(text, encoding="utf-8")
        if figure is not None:
            figure.savefig(self.folder / f"{self.stem}.png", dpi=110)


def published(script):
    """The numbers printed in the paper, from paper.json beside a script."""
    return json.loads(Path(script).with_name("paper.json").read_text(encoding="utf-8"))


def run(main):
    """Call main; an unreadable data set gives a message instead of a traceback."""
    try:
        main()
    except OSError as error:
        sys.exit(f"{Path(sys.argv[0]).stem}: {error}")


# Tables of measured and published numbers


def spread(mean, deviation, digits=3):
    """Mean and deviation as text."""
    return f"{mean:.{digits}f} +- {deviation:.{digits}f}"


def summary(values):
    """Mean over (repeats, folds), and the deviation over the folds of a repeat, averaged."""
    return values.mean(), values.std(axis=1, ddof=1).mean()


def verdict(mean, paper):
    """Whether a mean is within one standard deviation of the paper's (mean, deviation)."""
    distance = (mean - paper[0]) / paper[1]
    return "agrees" if abs(distance) <= 1.0 else f"{distance:+.1f} sd"


def significance(out, errors, methods, paper):
    """Paired one-sided t-tests, and the paper's: whether the columns beat the rows.

    Parameters
    ----------
    errors : ndarray of shape (repeats, n methods, folds)
    methods : sequence of n str
    paper : dict
        {worse: {better: the paper's 0 or 1}}.
    """
    repeats, n, folds = errors.shape
    p = np.array([pairwise_t_tests(e.T) for e in errors])
    # 3 folds train and 1 tests; all trials of all assignments together.
    pooled = pairwise_t_tests(errors.swapaxes(0, 1).reshape(n, -1).T, n_train=3, n_test=1)
    share = (p < LEVEL).mean(axis=0)
    rows, differ = [], []
    for i, worse in enumerate(methods):
        row = [worse]
        for j, better in enumerate(methods):
            theirs = paper.get(worse, {}).get(better)
            count = f"{(p[:, i, j] < LEVEL).sum()}/{repeats}"
            row.append("" if i == j else f"{'-' if theirs is None else theirs} {count:>5}")
            if theirs is not None and (share[i, j] > 0.5) != bool(theirs):
                gain = (errors[:, j] - errors[:, i]).mean(axis=1)
                differ.append(
                    f"  {better} better than {worse}: paper {theirs}, here {count}; difference of "
                    f"errors {gain.min():+.4f} to {gain.max():+.4f}; corrected p {pooled[i, j]:.2g}"
                )
        rows.append(row)
    out.say(
        f"  Paired one-sided t-tests over {folds} folds at level {LEVEL}: is the method of the",
        "  column better than that of the row? The paper's 0 or 1, then in how many assignments.",
    )
    out.table(("better:", *methods), rows)
    if differ:
        out.say(
            "  Not as in the paper, by majority (corrected p: resampled t-test over all trials):"
        )
    out.say(*(differ or ["  Every entry as in the paper, by majority of the assignments."]))


# Trials: three folds train, one validates, one tests


def rotations(y, task, seed, n_folds=5):
    """(train, validate, test) of each trial; the folds are those of `alignlearn.compare`."""
    folds = split(y, n_folds, task, seed)
    for t in range(n_folds):
        train = [folds[(t + k) % n_folds] for k in range(2, n_folds)]
        yield np.sort(np.concatenate(train)), folds[(t + 1) % n_folds], folds[t]


def repeated(measure, y, task, repeats):
    """``measure(parts)`` of all trials of several assignments of folds.

    Returns
    -------
    ndarray of shape (2, repeats, methods, folds)
        Of (error, test alignment) of each method, which ``measure`` returns.
    """
    found = [[measure(p) for p in rotations(y, task, seed)] for seed in range(repeats)]
    return np.array(found, dtype=float).transpose(3, 0, 2, 1)


class Trial(ABC):
    """The targets of a trial, the loss of a model, and the choice of a parameter."""

    family: GramFamily | FeatureFamily

    def __init__(self, y, parts, task):
        self.task = task
        self.y, self.y_validate, self.y_test = (y[part] for part in parts)
        self.offset = self.y.mean() if task == "regression" else 0.0
        self.target = self.y - self.offset if task == "regression" else self.y

    @abstractmethod
    def decisions(self, weights, dual):
        """Of the validation and the test fold, without the intercept."""

    @abstractmethod
    def test_alignment(self, weights):
        """Centered alignment on the test fold."""

    def loss(self, decision, y):
        """Root mean squared error, or the fraction misclassified."""
        if self.task == "regression":
            return float(np.sqrt(np.mean((decision + self.offset - y) ** 2)))
        return float(np.mean(np.where(decision > 0.0, 1, -1) != y))

    def losses(self, weights, dual, intercept):
        """On the validation and on the test fold."""
        folds = zip(self.decisions(weights, dual), (self.y_validate, self.y_test))
        return [self.loss(decision + intercept, y) for decision, y in folds]

    def choose(self, rules):
        """(test error, test alignment) of the rule with the least loss on the validation fold."""
        found = [rule.solve_grams(self.family, self.target) for rule in rules]
        losses = [self.losses(r.weights, r.dual_coef, r.intercept) for r in found]
        best = min(range(len(found)), key=lambda i: losses[i][0])
        return losses[best][1], self.test_alignment(found[best].weights)


class GramTrial(Trial):
    """Gram matrices of a trial, centered and of mean diagonal 1 on the training folds."""

    def __init__(self, X, y, parts, task, *, kernels, scale="none"):
        super().__init__(y, parts, task)
        train, *held_out = (minmax(X[part], X[parts[0]], scale) for part in parts)
        raw = [kernel(train) for kernel in kernels]
        self.grams = np.array([center_kernel(K) for K in raw])
        self.scale = len(train) / np.trace(self.grams, axis1=1, axis2=2)
        self.grams *= self.scale[:, None, None]
        self.family = GramFamily(self.grams)
        self.held_out = [
            np.array(
                [s * center_kernel(k(Z, train), K) for k, K, s in zip(kernels, raw, self.scale)]
            )
            for Z in held_out
        ]
        self.test_grams = np.array([s * k(held_out[1]) for k, s in zip(kernels, self.scale)])

    def decisions(self, weights, dual):
        return [weights @ (K @ dual) for K in self.held_out]

    def test_alignment(self, weights):
        target = self.y_test.astype(float)
        return alignment(np.tensordot(weights, self.test_grams, 1), np.outer(target, target))


class FeatureTrial(Trial):
    """Rank-one kernels of sparse columns, centered and of mean diagonal 1 on the training folds."""

    def __init__(self, X, y, parts, task):
        super().__init__(y, parts, task)
        self.X = [X[part] for part in parts]
        trace = FeatureFamily(self.X[0]).traces()
        # A column that does not vary on the training folds has weight and kernel 0.
        varies = trace > 1e-9 * trace.max()
        self.scale = np.divide(len(parts[0]), trace, out=np.zeros_like(trace), where=varies)
        self.family = FeatureFamily(self.X[0], scale=self.scale)

    def decisions(self, weights, dual):
        mean = np.asarray(self.X[0].mean(axis=0)).ravel()
        w = weights * self.scale * (self.X[0].T @ dual - mean * dual.sum())
        return [Z @ w - mean @ w for Z in self.X[1:]]

    def test_alignment(self, weights):
        target = self.y_test.astype(float)
        K = FeatureFamily(self.X[2], scale=self.scale).gram(weights)
        return alignment(K, np.outer(target, target))


def minmax(Z, train, scale):
    """Z with the columns scaled to [-1, 1] on train, or unchanged."""
    if scale == "none":
        return Z
    low, high = train.min(axis=0), train.max(axis=0)
    return (2.0 * Z - low - high) / np.where(high > low, high - low, 2.0)
