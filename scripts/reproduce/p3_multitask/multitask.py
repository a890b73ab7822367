#!/usr/bin/env python3
"""Table 1 and figure 1 of Yousefi et al., Multi-task learning using neighborhood kernels.

Two of the five data sets: landmine detection (29 tasks), and hourly load of 20 zones, of which only
the nine withheld weeks of GEFCom2012 are registered. As in the paper, 20% of the samples of every
task are for training, and the rest is split at random into halves for validation and testing. The
kernels are one linear, one quadratic and eight Gaussian ones exp(-d^2 / s), s = 2, ..., 256,
normalized to unit diagonal, not centered. Load is predicted one hour ahead from eight lagged loads
of the zone, hour and month (as points on circles) and weekend; features and targets are
standardized on the training samples.

As in the paper, landmine has 20 runs; load has 6. They took a quarter of an hour on one core.

Methods: the seven of the paper and, since its own model does not share anything between tasks, that
model with the two couplings. mt-onmkl is the consistent model; only beta / C^2 matters to it, so C
is 1 and beta is chosen. One or two parameters of each method are chosen on the validation samples
by the mean over tasks, of AUC for landmine and of the squared error for load. (6% of the landmine
labels are positive, so accuracy hardly distinguishes methods from a constant. The paper's
accuracies near 60% cannot come from these data without changes.)

Ranks are those of the mean per data set, as in Table 1. The tests count every task as a data set:
two data sets are too few for tests, and so are the five of the paper for its conclusions.

usage: scripts/reproduce/p3_multitask/multitask.py [--quick] [--repeats N] [--out FOLDER]
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

import alignlearn as al
from alignlearn import datasets
from alignlearn.kernels import Gaussian, Linear, Polynomial
from alignlearn.significance import critical_difference_diagram, friedman_test, holm, nemenyi

COSTS = 2.0 ** np.arange(-3, 10, 3)
BETAS = 10.0 ** np.arange(-5.0, 0.0)
LAGS = 8
PAPER = shared.published(__file__)  # of table 1: accuracy in per cent, squared error
SEVEN = tuple(PAPER["load"])
METHODS = (*SEVEN, "onmkl ridge", "onmkl group")


def base_kernels():
    """One linear, one quadratic and eight Gaussian kernels of unit diagonal."""
    gaussians = [Gaussian(1.0 / 2.0**k) for k in range(1, 9)]
    quadratic = Polynomial(gamma=1.0, coef0=1.0, degree=2)
    return [Linear().normalized(), quadratic.normalized(), *gaussians]


def candidates(X, quick):
    """Parameters to choose from, a list for every method."""
    costs, betas = (COSTS[1:3], BETAS[2:4]) if quick else (COSTS, BETAS)
    by_cost = [{"C": float(C)} for C in costs]
    by_price = [{"beta": float(beta)} for beta in betas]
    # The proxy of "rpkl": a Gaussian of spread 4^(k - 1) times the mean squared distance.
    spread = 2.0 * float(X.var(axis=0).sum())
    proxies = [Gaussian(1.0 / (4.0 ** (k - 1) * spread)) for k in (1, 2, 3)]
    found = {m: [{"method": m, **c} for c in by_cost] for m in ("independent", "uniform", "mkl")}
    found["rpkl"] = [
        {"method": "rpkl", "kernels": [proxy], "C": float(C)}
        for proxy in proxies
        for C in costs[::2]
    ]
    found["onjkl"] = [{"method": "onjkl", **c} for c in by_price]
    found["kta"] = [
        {"method": "kta", "eta": eta, "C": float(C)} for eta in (1e-4, 1e-2) for C in costs[1:]
    ]
    found["onmkl"] = by_price
    ridges = (0.1, 10.0)
    found["onmkl ridge"] = [
        {"coupling": "ridge", "ridge": r, **c} for r in ridges for c in by_price[:-1:2]
    ]
    found["onmkl group"] = [{"coupling": "group", **c} for c in by_price]
    return found


@dataclass(frozen=True)
class Tasks:
    """Samples of all tasks, and how methods are compared on them."""

    name: str
    X: np.ndarray
    y: np.ndarray
    task: np.ndarray
    estimator: object
    greater_is_better: bool


def landmine(quick):
    """29 tasks, of which --quick takes three."""
    data = datasets.load("landmine")
    keep = data.extra["task"] < (3 if quick else 29)
    make = al.MultiTaskMKLClassifier
    return Tasks("landmine", data.X[keep], data.y[keep], data.extra["task"][keep], make, True)


def load(quick):
    """20 zones of hourly load, of which --quick takes two."""
    data = datasets.load("gefcom2012_weeks")
    year, month, day, hour = data.X[:, :4].astype(int).T
    days = np.array([f"{y:04d}-{m:02d}-{d:02d}" for y, m, d in zip(year, month, day)], "M8[D]")
    hours = days.astype("M8[h]").astype(int) + hour
    # A sample needs the LAGS hours before it; weeks are apart.
    ends = np.flatnonzero(hours[LAGS:] - hours[:-LAGS] == LAGS) + LAGS
    angles = 2.0 * np.pi * np.column_stack([hour / 24.0, month / 12.0])[ends]
    weekend = (days[ends].astype(int) + 3) % 7 >= 5  # 1970-01-01 was a Thursday
    calendar = np.column_stack([np.sin(angles), np.cos(angles), weekend])
    zones = range(2 if quick else 20)
    lagged = [np.column_stack([data.y[ends - k, z] for k in range(1, LAGS + 1)]) for z in zones]
    X = np.concatenate([np.hstack([own, calendar]) for own in lagged])
    y = np.concatenate([data.y[ends, z] for z in zones])
    task = np.repeat(np.array(zones), ends.size)
    return Tasks("load", X, y, task, al.MultiTaskMKLRegressor, False)


def split(tasks, seed):
    """Random parts of every task: 20% to train, the rest halved, with a share of both classes."""
    rng = np.random.default_rng(seed)
    part = np.empty(tasks.task.size, dtype=int)
    strata = np.column_stack([tasks.task, tasks.y]) if tasks.greater_is_better else tasks.task
    codes = np.unique(strata, axis=0, return_inverse=True)[1].reshape(-1)
    for code in range(codes.max() + 1):
        rows = rng.permutation(np.flatnonzero(codes == code))
        part[rows] = np.digitize(np.arange(rows.size) / rows.size, [0.2, 0.6])
    return [np.flatnonzero(part == k) for k in range(3)]


def standardized(tasks, train):
    """X, and for regression y, on the mean and deviation of every task's training samples."""
    X, y = np.empty_like(tasks.X), tasks.y.astype(float)
    for t in np.unique(tasks.task):
        rows = tasks.task == t
        own = rows.copy()
        own[np.setdiff1d(np.arange(own.size), train)] = False
        scale = tasks.X[own].std(axis=0)
        X[rows] = (tasks.X[rows] - tasks.X[own].mean(axis=0)) / np.where(scale > 0.0, scale, 1.0)
        if not tasks.greater_is_better:
            y[rows] = (tasks.y[rows] - tasks.y[own].mean()) / tasks.y[own].std()
    return X, y if not tasks.greater_is_better else tasks.y


def scores(tasks, y, rows, values):
    """The criterion and the accuracy (NaN for load) of every task, (2, T)."""
    found = []
    for t in np.unique(tasks.task):
        own = tasks.task[rows] == t
        target, value = y[rows][own], values[own]
        if tasks.greater_is_better:
            found.append(
                (roc_auc_score(target, value), np.mean(np.where(value > 0.0, 1, -1) == target))
            )
        else:
            found.append((np.mean((target - value) ** 2), np.nan))
    return np.array(found).T


def trial(tasks, seed, quick):
    """Test scores (methods, 2, T) of one split, and the chosen models."""
    train, validate, test = split(tasks, seed)
    X, y = standardized(tasks, train)
    sign = 1.0 if tasks.greater_is_better else -1.0
    results, models = [], {}
    grid = candidates(X[train], quick)
    for method in METHODS:
        best = -np.inf
        for parameters in grid[method]:
            options = {"kernels": base_kernels(), "center": False, "normalize": None, "tol": 1e-3}
            if not tasks.greater_is_better:
                options["epsilon"] = 0.05
            model = tasks.estimator(**{**options, **parameters})
            model.fit(X[train], y[train], tasks.task[train])
            predict = model.decision_function if tasks.greater_is_better else model.predict
            validation = scores(tasks, y, validate, predict(X[validate], tasks.task[validate]))
            if sign * validation[0].mean() > best:
                best, models[method] = sign * validation[0].mean(), model
                chosen = predict
        results.append(scores(tasks, y, test, chosen(X[test], tasks.task[test])))
    return np.array(results), models


def report(out, tasks, results):
    """The table of one data set; returns the criterion's means over runs, (methods, T)."""
    criterion, accuracy = results[:, :, 0], results[:, :, 1]
    by_run = criterion.mean(axis=2)
    means, sign = by_run.mean(axis=0), -1.0 if tasks.greater_is_better else 1.0
    seven = len(SEVEN)
    rank = np.argsort(np.argsort(sign * means[:seven])) + 1
    paper = np.array([PAPER[tasks.name][m] for m in SEVEN])
    theirs = np.argsort(np.argsort(sign * paper)) + 1
    what = "AUC" if tasks.greater_is_better else "squared error"
    out.say(f"{tasks.name}: {len(results)} runs, mean over tasks; +- is over the runs")
    rows = []
    for k, method in enumerate(METHODS):
        row = [method, shared.spread(means[k], by_run[:, k].std(), 4)]
        row.append(f"{accuracy[:, k].mean():.4f}" if tasks.greater_is_better else "")
        row += [rank[k], theirs[k], paper[k]] if k < seven else ["", "", ""]
        rows.append(row)
    second = "accuracy" if tasks.greater_is_better else ""
    out.table(("", what, second, "rank of 7", "paper's rank", "paper"), rows)
    orderings(out, by_run[:, :seven] * sign, paper * sign)
    out.say("")
    return criterion.mean(axis=0)


def orderings(out, losses, paper):
    """Which of the paper's orderings of pairs hold, in the mean and in most runs."""
    holds, fails = [], []
    for i, better in enumerate(SEVEN):
        for j, worse in enumerate(SEVEN):
            if paper[i] < paper[j]:
                runs = int(np.sum(losses[:, i] < losses[:, j]))
                kept = losses[:, i].mean() < losses[:, j].mean()
                (holds if kept else fails).append(f"{better} < {worse} ({runs}/{len(losses)})")
    out.say(f"  The paper's orderings (better < worse; in how many runs): {len(holds)} hold,")
    out.say(f"  {len(fails)} do not.")
    for title, pairs in (("hold", holds), ("do not", fails)):
        for first in range(0, len(pairs), 3):
            start = f"  {title + ':' if first == 0 else '':<8}"
            out.say(start + "   ".join(f"{pair:<29}" for pair in pairs[first : first + 3]))


def tests(out, losses):
    """Friedman, Holm and Nemenyi over all tasks (T, methods); Nemenyi's result."""
    names = [m.replace("onmkl ", "onmkl\n") for m in METHODS]
    found = friedman_test(losses, [n.replace("\n", " ") for n in names])
    out.say(
        f"Over {len(losses)} tasks, each a data set: Friedman chi2 {found.chi2:.1f} (p "
        f"{found.chi2_p_value:.2g}), F {found.f_statistic:.2f} (p {found.p_value:.2g})"
    )
    against = holm(found, control="onmkl")
    p = dict(zip([pair[1] for pair in against.pairs], against.adjusted))
    every = nemenyi(found)
    rows = [
        (m, f"{r:.2f}", f"{p[m]:.3f}" if m in p else "")
        for m, r in sorted(zip(METHODS, found.average_ranks), key=lambda pair: pair[1])
    ]
    out.table(("", "average rank", "p against onmkl (Holm)"), rows)
    better = [m for m in p if found.average_ranks[METHODS.index(m)] > found.average_ranks[6]]
    beaten = [m for m in better if p[m] < 0.05]
    out.say(
        f"  Nemenyi: ranks differ significantly from {every.critical_difference:.2f} on (level "
        "0.05).",
        f"  onmkl beats at level 0.05 (Holm): {', '.join(beaten) or 'none of the others'}. The "
        "paper: all.",
    )
    return every


def draw(every, matrices):
    """The rank diagram and the alignments of figure 1."""
    from matplotlib.figure import Figure

    # A matrix of equal values, like that of landmine, needs no picture.
    shown = {name: A for name, A in matrices.items() if np.ptp(A) > 0.05}
    figure = Figure(figsize=(8.0, 3.4 + 4.2 * len(shown)))
    figure.set_layout_engine("constrained")
    ratios = (3.4, *(4.2 for _ in shown))
    top, *panels = np.ravel(figure.subfigures(1 + len(shown), 1, height_ratios=ratios))
    title = "Average ranks over the tasks of both data sets (1 is best)"
    critical_difference_diagram(every, title=title, ax=top.subplots())
    for panel, (name, A) in zip(panels, shown.items()):
        ax = panel.subplots()
        image = ax.imshow(A, vmin=0.0, vmax=1.0, cmap="viridis", aspect="auto")
        ax.set_title(f"{name}: alignment of each task's kernel with each neighborhood kernel")
        ax.set_xlabel("task of the neighborhood kernel")
        ax.set_ylabel("task of the kernel")
        for axis in (ax.xaxis, ax.yaxis):
            axis.get_major_locator().set_params(integer=True)
        panel.colorbar(image, ax=ax, label="alignment")
    return figure


def main(argv=None):
    """Run the trials; the means over runs (tasks, methods) of every data set."""
    args = shared.arguments(__doc__, argv, 20)  # splits of landmine; a third of them for load
    out = shared.Output("multitask", args, __file__)
    start, losses, models, means = time.perf_counter(), [], {}, {}
    for make, share in ((landmine, 1), (load, 3)):
        tasks = make(args.quick)
        repeats = max(1, args.repeats // share)
        results = []
        for seed in range(repeats):
            with warnings.catch_warnings():
                # Of 20% of a task all may be of one class, which is then predicted.
                warnings.simplefilter("ignore", al.DegenerateKernelWarning)
                found, chosen = trial(tasks, seed, args.quick)
            results.append(found)
            models.setdefault(tasks.name, chosen["onmkl"])
            print(f"{tasks.name} {seed}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
        mean = report(out, tasks, np.array(results)).T
        means[tasks.name] = mean
        losses.append(-mean if tasks.greater_is_better else mean)
    every = tests(out, np.concatenate(losses))
    for name, model in models.items():
        A = model.alignment_matrix_
        own, others = np.diag(A).mean(), A[~np.eye(len(A), dtype=bool)]
        out.say(
            f"{name}: alignment of the kernels of onmkl with their own neighborhood {own:.3f}, "
            f"with others' {others.mean():.3f} ({others.min():.3f} to {others.max():.3f})."
        )
    out.text("alignments")
    out.write(draw(every, {name: model.alignment_matrix_ for name, model in models.items()}))
    return means


if __name__ == "__main__":
    shared.run(main)
