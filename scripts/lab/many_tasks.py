#!/usr/bin/env python
"""Learning the kernels of many tasks against a search for each task: time and accuracy.

Two data sets, of tasks with 150 samples in 9 dimensions and 10% of the labels flipped. Tasks differ
slightly from each other. There are 10 kernels:

views    three views of three features, each with an influence of its own; a linear and two Gaussian
         kernels on each view, and a Gaussian on all features. Learned kernels can help here.
ladder   a linear, a quadratic and eight Gaussian kernels on all features: a width has to be chosen,
         and a combination does not help.

The baseline is what a user would write: scikit-learn's GridSearchCV of SVC for each task, over the
same kernels and four values of C, with five folds. alignlearn is fitted with its defaults. Both
have one thread; repeat the run on a busy machine.
"""

from __future__ import annotations

import numpy as np
from _studies import clock, publish_times, quiet, study, threads
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import alignlearn as al

COSTS = [0.125, 1.0, 8.0, 64.0]
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


def searches(train, test, kind):
    """Mean accuracy of a grid search for each task."""
    (X, y, task), (X_test, y_test, task_test) = train, test
    grid, right = {"kernel": kernels(kind), "C": COSTS}, []
    for t in np.unique(task):
        # A quadratic kernel at a large C may take millions of steps.
        search = GridSearchCV(SVC(max_iter=100_000), grid, cv=5)
        with quiet():
            search.fit(X[task == t], y[task == t])
        rows = task_test == t
        right.append(search.score(X_test[rows], y_test[rows]))
    return float(np.mean(right))


def compare(kind, args):
    """Publish times and accuracies on one kind of data."""
    train, test = tasks_of(args.tasks, args.samples, kind)
    model = al.MultiTaskMKLClassifier(kernels(kind))
    seconds, _ = clock(lambda: model.fit(*train), args.repeats)
    baseline, theirs = clock(lambda: searches(train, test, kind))
    scores = [round(float(score), 3) for score in (model.score(*test), theirs)]
    publish_times(args, f"tasks-{kind}", baseline, seconds, scores=scores)


if __name__ == "__main__":
    args = study(__doc__, ("views", "ladder"), tasks=(29, 3), samples=(150, 40), repeats=(3, 1))
    with threads(1):
        al.MultiTaskMKLClassifier(kernels()).fit(*tasks_of(2, 40)[0])  # compiles
        for kind in args.rows:
            compare(kind, args)
