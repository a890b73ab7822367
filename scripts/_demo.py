"""The measurements of scripts/demo: a grid search and the default, and where learned weights help.

    scripts/_demo.py [FOLDER]     # needs scikit-learn and matplotlib; writes a figure

Both sides get the same training samples, folds, widths and values of C, and all cores. All printed
numbers are measured in this run; compilation is timed separately.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LassoCV
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import alignlearn as al

RATIOS = 2.0 ** np.arange(-4, 5)  # of the nine widths to 1 / columns
COSTS = [0.1, 1.0, 10.0, 100.0, 1000.0]
ALPHAS = [1e-3, 1e-2, 1e-1, 1.0, 10.0]
COLUMNS, USEFUL, TRAINING, TEST = 200, 5, 300, 2000  # of part 2


say = partial(print, flush=True)


def timed(model, X, y):
    """The fitted model, and the seconds that took."""
    start = time.perf_counter()
    model.fit(X, y)
    return model, time.perf_counter() - start


def searches(n_columns, folds):
    """GridSearchCV over widths and C; MKLClassifierCV on the same values of C and folds."""
    gammas = RATIOS / n_columns
    grid = {"gamma": gammas.tolist(), "C": COSTS}
    return (
        GridSearchCV(SVC(), grid, cv=folds, n_jobs=-1),
        al.MKLClassifierCV(Cs=COSTS, cv=folds),
    )


def column_kernels(n_columns):
    """A Gaussian on each column by itself."""
    return [al.Columns(al.Gaussian(5.0), [j]) for j in range(n_columns)]


def warm_up():
    """Compile, and start the processes of GridSearchCV, so that neither counts below."""
    say("Compiling (once for this machine, later runs load it) ...")
    start = time.perf_counter()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 4))
    for y in (X[:, 0] > 0.0, np.arange(150) % 3):
        for search in searches(4, StratifiedKFold(3)):
            search.fit(X, y)
    noisy = X[:, 0] + rng.standard_normal(len(X))
    al.MKLRegressorCV(column_kernels(4), alphas=ALPHAS, cv=3).fit(X, noisy)
    say(f"... {time.perf_counter() - start:.0f} s")


def part_1():
    """Grid search and default search on two data sets."""
    say(f"""
1. The default search instead of a grid search

Nine widths of a Gaussian kernel, five values of C, the same five folds, {os.cpu_count()} cores for
each side: GridSearchCV(SVC(), n_jobs=-1) tries the 45 pairs; MKLClassifierCV tries nine candidate
kernels, each with the values of C, and averages the best two models. Accuracy is measured on half
of the samples, which neither side uses.
""")
    say(f"{'':15}{'samples':>15}   {'GridSearchCV(SVC)':^19}   {'MKLClassifierCV':^19}")
    say(
        f"{'data':15}{'train':>9}{'test':>6}"
        + f"   {'seconds':>9}{'accuracy':>10}" * 2
        + "   faster"
    )
    for name, load in (("breast_cancer", load_breast_cancer), ("digits", load_digits)):
        X, y = load(return_X_y=True)
        parts = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
        X, X_test, y, y_test = parts
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
        line, seconds = f"{name:15}{len(X):9}{len(X_test):6}", []
        for search in searches(X.shape[1], StratifiedKFold(5, shuffle=True, random_state=0)):
            search, spent = timed(search, X, y)
            seconds.append(spent)
            line += f"   {spent:9.2f}{search.score(X_test, y_test):10.3f}"
        say(f"{line}   {seconds[0] / seconds[1]:5.0f} x")
    say("\nOn so few test samples, accuracies that differ by less than about 0.01 count as equal.")


def rivals(folds):
    """Models of scikit-learn that are robust to irrelevant columns; boosting and Lasso tuned."""
    grid = {"max_leaf_nodes": [3, 7], "max_iter": [100, 300]}
    boosting = HistGradientBoostingRegressor(random_state=0)
    return {
        "gradient boosting, tuned": GridSearchCV(boosting, grid, cv=folds),
        "Lasso, tuned": LassoCV(cv=folds),
        "random forest": RandomForestRegressor(500, max_features=0.33, random_state=0, n_jobs=-1),
    }


def part_2(folder):
    """One kernel per column, few of them informative: weights, rivals, a figure of the weights."""
    X, y = make_friedman1(TRAINING + TEST, COLUMNS, noise=1.0, random_state=0)
    X, X_test, y, y_test = X[:TRAINING], X[TRAINING:], y[:TRAINING], y[TRAINING:]
    say(f"""
2. Where learned weights help

Generated data, make_friedman1 of scikit-learn: the target depends on the first {USEFUL} of
{COLUMNS} columns, which the models do not know. {TRAINING} training and {TEST} test samples. The
first three models use one Gaussian kernel per column and ridge regression. The same five folds
select the parameters of all models except the random forest.
""")
    kernels, folds = column_kernels(COLUMNS), KFold(5, shuffle=True, random_state=0)
    options = {"alphas": ALPHAS, "cv": folds}
    statistics = al.alignment_statistics(X, y, kernels)
    best = int(np.argmax(statistics.a / np.sqrt(np.diag(statistics.M))))
    gammas = (RATIOS / COLUMNS / X.var()).tolist()
    ridge = GridSearchCV(
        KernelRidge("rbf"), {"gamma": gammas, "alpha": ALPHAS}, cv=folds, n_jobs=-1
    )
    models = {
        "learned weights (alignf)": al.MKLRegressorCV(kernels, **options),
        "equal weights": al.MKLRegressorCV(kernels, weighting="uniform", **options),
        f"best column alone ({best})": al.MKLRegressorCV([kernels[best]], **options),
        "one Gaussian on all columns": ridge,
        "default, MKLRegressorCV()": al.MKLRegressorCV(cv=folds, random_state=0),
        **rivals(folds),
    }
    say(f"{'':30}{'R^2 on test':>12}{'seconds':>10}")
    for name, model in models.items():
        # scikit-learn's ridge regression has no intercept of its own.
        shift = y.mean() if model is ridge else 0.0
        model, seconds = timed(model, X, y - shift)
        say(f"{name:30}{model.score(X_test, y_test - shift):12.3f}{seconds:10.2f}")
    learned = models["learned weights (alignf)"]
    weights = learned.weights_
    largest = ", ".join(map(str, np.argsort(-weights)[:USEFUL]))
    share = weights[:USEFUL].sum() / weights.sum()
    say(f"(the noise in the target allows {1.0 - 1.0 / y_test.var():.2f})")
    say(f"""
The largest of the {COLUMNS} learned weights are those of columns {largest}.
The informative columns 0 to {USEFUL - 1} have {share:.0%} of the total weight. A search over widths
cannot find them: a Gaussian on all columns depends on the {COLUMNS - USEFUL} others, too.""")
    path = Path(folder) / "alignlearn-demo-columns.png"
    al.KernelWeightsDisplay.from_estimator(learned, max_kernels=20).figure_.savefig(path, dpi=150)
    say(f"figure: {path}")


def main(argv=None):
    """Run all parts."""
    folder = ((sys.argv[1:] if argv is None else argv) or ["."])[0]
    say("alignlearn in two minutes: measurements made now on this machine.\n")
    warm_up()
    part_1()
    part_2(folder)


if __name__ == "__main__":
    main()
