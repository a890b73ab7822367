#!/usr/bin/env python
"""One learned kernel machine against what a user would do instead: a search over kernels.

    scripts/bench/bench_tuning.py                    # every data set, about half an hour
    scripts/bench/bench_tuning.py sonar kin8nm       # some
    scripts/bench/bench_tuning.py --threads 2 --splits 1

Each data set is split into 70 % for training and 30 % for testing, several times; features are
standardized by the training part. On the same five folds of the training part, and with the same
nine widths of a Gaussian and five values of C or alpha:

grid       GridSearchCV of SVC(cache_size=1000), or of KernelRidge, over the 45 candidates
halving    HalvingGridSearchCV over the same, which drops two thirds of them at a time
ours       MKLClassifierCV or MKLRegressorCV, which learns one combination of the nine Gaussians
uniform    the same with equal weights: what learning the weights adds
either     the same with learned or equal weights, as the folds choose

The scores are on the test parts: share of labels predicted, or R^2. Times are of the whole search
and of the fit that follows it, summed over the splits; compilation is done before. All sides run on
the same number of threads. Where scores differ by less than the standard error of the paired
differences, which is printed, neither side is better. The last lines are the table of the README.
"""

from __future__ import annotations

import warnings

import numpy as np
from _bench import clock, options, threads
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    StratifiedKFold,
    train_test_split,
)
from sklearn.svm import SVC

import alignlearn as al
from alignlearn import datasets

RATIOS = 2.0 ** np.arange(-4, 5)  # of the widths to 1 / d
COSTS = [0.1, 1.0, 10.0, 100.0, 1000.0]
ALPHAS = [1e-3, 1e-2, 1e-1, 1.0, 10.0]
# Data sets, with the number of samples to draw where all are too many for the baseline.
DATA = {
    "breast_cancer": None,
    "australian": None,
    "german_numeric": None,
    "heart_statlog": None,
    "ionosphere": None,
    "sonar": None,
    "digits": None,
    "ijcnn1_train": 5000,
    "diabetes": None,
    "kin8nm": 3000,
}
WEIGHTINGS = {"ours": "alignf", "uniform": "uniform", "either": ["alignf", "uniform"]}
MODELS = ("grid", "halving", *WEIGHTINGS)


def samples(name, seed):
    """Training and test parts (X, y, X_test, y_test), standardized, and whether y is classes."""
    data, size = datasets.load(name), DATA[name]
    classes = data.task == "classification"
    X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y)
    if size is not None:
        X, _, y, _ = train_test_split(
            X, y, train_size=size, random_state=0, stratify=y if classes else None
        )
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=0.3, random_state=seed, stratify=y if classes else None
    )
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0.0] = 1.0
    return (X - mean) / scale, y, (X_test - mean) / scale, y_test, classes


class CenteredRidge(KernelRidge):
    """KernelRidge of the targets less their mean: it has no intercept of its own."""

    def fit(self, X, y):
        self.mean_ = y.mean()
        return super().fit(X, y - self.mean_)

    def predict(self, X):
        return super().predict(X) + self.mean_


def model(kind, gammas, classes, folds, jobs):
    """An unfitted model of one kind."""
    if kind in WEIGHTINGS:
        options = {
            "kernels": al.gaussian_kernels(gammas),
            "weighting": WEIGHTINGS[kind],
            "cv": folds,
        }
        if classes:
            return al.MKLClassifierCV(Cs=COSTS, **options)
        return al.MKLRegressorCV(alphas=ALPHAS, **options)
    if classes:
        machine, grid = SVC(cache_size=1000), {"gamma": gammas.tolist(), "C": COSTS}
    else:
        machine = CenteredRidge(kernel="rbf")
        grid = {"gamma": gammas.tolist(), "alpha": ALPHAS}
    if kind == "grid":
        return GridSearchCV(machine, grid, cv=folds, n_jobs=jobs)
    folds = type(folds)(folds.n_splits, shuffle=True, random_state=0)
    return HalvingGridSearchCV(machine, grid, cv=folds, n_jobs=jobs, random_state=0)


def measure(name, splits, jobs):
    """Seconds and scores of each model, {kind: (splits, 2)}."""
    found = {kind: [] for kind in MODELS}
    for seed in range(splits):
        X, y, X_test, y_test, classes = samples(name, seed)
        maker = StratifiedKFold if classes else KFold
        folds = maker(5, shuffle=True, random_state=seed)
        for kind in MODELS:
            fitted = model(kind, RATIOS / X.shape[1], classes, folds, jobs)
            with warnings.catch_warnings():
                # Small rounds of the halving search may miss a class, and say so.
                warnings.simplefilter("ignore")
                seconds, _ = clock(lambda model=fitted, X=X, y=y: model.fit(X, y))
            found[kind].append((seconds, fitted.score(X_test, y_test)))
    return len(X), {kind: np.array(rows) for kind, rows in found.items()}


def report(name, splits, jobs):
    """Print the measurements of a data set; return its row of the table."""
    m, found = measure(name, splits, jobs)
    seconds = {kind: rows[:, 0].sum() for kind, rows in found.items()}
    score = {kind: rows[:, 1].mean() for kind, rows in found.items()}
    for kind in MODELS:
        gained = found["ours"][:, 1] - found[kind][:, 1]
        error = gained.std(ddof=1) / np.sqrt(splits) if splits > 1 else np.nan
        line = f"{name:<16} {kind:<8} {seconds[kind]:9.2f} {score[kind]:8.4f}"
        print(f"{line} {gained.mean():+8.4f} +- {error:.4f}", flush=True)
    return (
        f"| {name}, {m} x {splits} | {seconds['grid']:.1f} | {seconds['halving']:.1f} | "
        f"{seconds['ours']:.2f} | {seconds['grid'] / seconds['ours']:.0f} | "
        f"{seconds['halving'] / seconds['ours']:.0f} | {score['grid']:.3f} | "
        f"{score['halving']:.3f} | {score['ours']:.3f} | {score['either']:.3f} |"
    )


def compile_all():
    """Compile, or load from the cache, what the measured fits use."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    for classes, y in ((True, np.sign(X[:, 0])), (True, np.arange(300) % 3), (False, X[:, 0])):
        maker = StratifiedKFold if classes else KFold
        for kind in WEIGHTINGS:
            model(kind, RATIOS, classes, maker(5), 1).fit(X, y)


def main(argv=None):
    """Print the measurements and the table."""

    def extend(parser):
        parser.add_argument("--threads", type=int, default=1)
        parser.add_argument("--splits", type=int, default=5)

    args = options(__doc__, DATA, argv, extend=extend)
    with threads(args.threads):
        compile_all()
        print(f"{'data':<16} {'model':<8} {'seconds':>9} {'score':>8} {'ours less it':>18}")
        rows = [report(name, args.splits, args.threads) for name in args.rows]
    print(
        "\n| data, training samples x splits | grid, s | halving, s | ours, s | faster | than "
        "halving | score of the grid | halving | ours | either |"
    )
    print("|---" * 10 + "|", *rows, sep="\n")


if __name__ == "__main__":
    main()
