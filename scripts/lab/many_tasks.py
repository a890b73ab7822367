#!/usr/bin/env python
"""Learning the kernels of many tasks: time, growth with their number, and a search for each task.

    scripts/lab/many_tasks.py              # a few minutes
    scripts/lab/many_tasks.py --threads 1

Two sets of data, tasks of 150 samples in 9 dimensions with 10 % of the labels flipped, each task a
little different from the others, and 10 kernels:

views    three views of three features, each with an influence of its own; a linear and two Gaussian
         kernels on each view, and a Gaussian on all features. What kernels can be learned for.
ladder   a linear, a quadratic and eight Gaussian kernels on all features: there is a width to be
         chosen, and nothing to be combined.

The baseline is what a user would write, a scikit-learn GridSearchCV of SVC for each task, over the
same kernels and four C, by five folds. Ours is fitted once with its defaults, and with beta chosen
by GridSearchCV for all tasks together, out of four values by three folds: only beta / C^2 matters.
On a busy machine repeat the run.
"""

from __future__ import annotations

import warnings

import numpy as np
from _studies import clock, options, threads
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import alignlearn as al

COSTS = [0.125, 1.0, 8.0, 64.0]
BETAS = [0.1, 0.2, 0.4, 0.8]
VIEWS = [range(0, 3), range(3, 6), range(6, 9)]


def tasks_of(T, n, kind="views", seed=0):
    """Samples, labels and tasks: T tasks of n samples for training and as many for testing."""
    rng = np.random.default_rng(seed)
    task = np.repeat(np.arange(T), 2 * n)
    X = rng.normal(size=(task.size, 9))
    tilt = 0.4 * rng.normal(size=(T, 9))[task]
    if kind == "views":
        signal = 1.5 * np.sin(2.0 * X[:, 0]) + np.sum((1.0 + tilt[:, 3:6]) * X[:, 3:6], axis=1)
        signal += tilt[:, 0] * X[:, 1]
    else:
        signal = np.sin(1.5 * X[:, 0]) + 0.7 * X[:, 1] * X[:, 2] + np.sum(tilt * X, axis=1)
    y = np.where(signal > 0.0, 1, -1)
    y[rng.random(task.size) < 0.1] *= -1
    train = np.tile(np.arange(2 * n) < n, T)
    return (X[train], y[train], task[train]), (X[~train], y[~train], task[~train])


def kernels(kind="views"):
    """The ten kernels of a kind of data."""
    if kind == "ladder":
        gaussians = [al.Gaussian(2.0**k) for k in range(-8, 0)]
        return [al.Linear(), al.Polynomial(gamma=1.0, degree=2), *gaussians]
    own = [al.Linear(), al.Gaussian(0.1), al.Gaussian(0.5)]
    return [*(al.Columns(k, tuple(view)) for view in VIEWS for k in own), al.Gaussian(0.05)]


def searches(train, test, kind, jobs):
    """Mean accuracy of a grid search for each task."""
    (X, y, task), (X_test, y_test, task_test) = train, test
    grid, right = {"kernel": kernels(kind), "C": COSTS}, []
    for t in np.unique(task):
        # A quadratic kernel at a large C may take millions of steps.
        search = GridSearchCV(SVC(max_iter=100_000), grid, cv=5, n_jobs=jobs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search.fit(X[task == t], y[task == t])
        rows = task_test == t
        right.append(search.score(X_test[rows], y_test[rows]))
    return float(np.mean(right))


def tuned(train, test, kind):
    """Accuracy with the best beta of a search over all tasks together."""
    (X, y, task), (X_test, y_test, task_test) = train, test
    model = al.MultiTaskMKLClassifier(kernels(kind), task_column=0, tol=1e-3)
    # Folds with a share of every class of every task.
    both = np.unique(np.column_stack([task, y]), axis=0, return_inverse=True)[1].reshape(-1)
    folds = list(StratifiedKFold(3).split(X, both))
    search = GridSearchCV(model, {"beta": BETAS}, cv=folds).fit(np.column_stack([task, X]), y)
    accuracy = search.score(np.column_stack([task_test, X_test]), y_test)
    return accuracy, search.best_params_["beta"]


def report(train, test, kind, repeats):
    """Lines for every kind of model; the time and accuracy of the default."""
    variants = {
        "onmkl": {},
        "onmkl, ridge": {"coupling": "ridge", "ridge": 10.0},
        "onmkl, group": {"coupling": "group"},
        "mkl": {"method": "mkl"},
        "independent": {"method": "independent"},
        "uniform": {"method": "uniform"},
        "kta": {"method": "kta", "eta": 1e-3},
        "onjkl": {"method": "onjkl"},
    }
    print(f"{'model':<16} {'seconds':>8} {'accuracy':>9} {'gap':>9} {'steps':>6}")
    found = {}
    for name, parameters in variants.items():
        model = al.MultiTaskMKLClassifier(kernels(kind), **parameters)
        seconds, _ = clock(lambda model=model: model.fit(*train), repeats)
        accuracy, result = model.score(test[0], test[1], test[2]), model.result_
        line = f"{name:<16} {seconds:8.2f} {accuracy:9.4f} {result.duality_gap:9.1e}"
        print(f"{line} {result.n_iter:6d}", flush=True)
        found[name] = seconds, accuracy
    return found


def growth(repeats):
    """Seconds for 8, 16, 32 and 64 tasks, and the power of T that they grow with."""
    counts = (8, 16, 32, 64)
    for name, parameters in (("onmkl", {}), ("onmkl, ridge", {"coupling": "ridge"})):
        seconds = []
        for T in counts:
            train, _ = tasks_of(T, 150)
            model = al.MultiTaskMKLClassifier(kernels(), **parameters)
            seconds.append(clock(lambda m=model, d=train: m.fit(*d), repeats)[0])
        power = np.polyfit(np.log(counts), np.log(seconds), 1)[0]
        times = ", ".join(f"{s:.2f}" for s in seconds)
        print(f"{name}: {times} s for {counts} tasks: grows like T^{power:.2f}", flush=True)


def main(argv=None):
    """Print the table, the growth and the ratio."""

    def extend(parser):
        parser.add_argument("--repeats", type=int, default=3)
        parser.add_argument("--tasks", type=int, default=29)

    args = options(__doc__, ("views", "ladder"), argv, with_threads=True, extend=extend)
    with threads(args.threads), threadpool_limits(1):
        al.MultiTaskMKLClassifier(kernels()).fit(*tasks_of(2, 40)[0])  # compiles
        growth(args.repeats)
        for kind in args.rows:
            compare(kind, args)
    print("targets: one fit below 5 s; ratio 20 at no lower accuracy than the searches")


def compare(kind, args):
    """The models, then ours against the searches, on one kind of data."""
    print(f"{kind}: {args.tasks} tasks of 150 samples, 10 kernels, {args.threads} thread(s)")
    train, test = tasks_of(args.tasks, 150, kind)
    seconds, accuracy = report(train, test, kind, args.repeats)["onmkl"]
    chosen, (best, beta) = clock(lambda: tuned(train, test, kind))
    baseline, theirs = clock(lambda: searches(train, test, kind, args.threads))
    print(f"GridSearchCV(SVC) for each task: {baseline:.1f} s, accuracy {theirs:.4f}")
    for name, time_, score in (
        ("one fit, defaults", seconds, accuracy),
        (f"beta={beta:g} by a search", chosen, best),
    ):
        ratio = baseline / time_
        print(f"onmkl, {name}: {time_:.2f} s, accuracy {score:.4f}, ratio {ratio:.0f}", flush=True)


if __name__ == "__main__":
    main()
