#!/usr/bin/env python3
"""Accuracy where samples lack tables: completed, against filling in means and dropping samples.

The columns of a data set are cut into six tables. 30 % of the samples lack two of them at random
("samples"), or each of two tables is lacking for 30 % of the samples ("two tables"), or every table
is lacking for 40 % ("many"). All ways have the same folds, kernels, rule for the weights and cost.

completed      ``missing="tables"``
of pairs       the same weights, a pair of samples has the weighted mean of the kernels that it has,
               negative eigenvalues clipped (relative change of the matrix below the table)
zero           the same weights, kernels 0 where a sample lacks the table: the mean feature vector
means          the columns' means over the training samples stand for what is lacking
dropped        training samples with gaps are left out; means in new samples

A line gives the mean score, and for each way the difference of "completed" to it over paired folds
with its standard error, over ``--draws`` draws of the gaps and five folds each. Constants of the
library were chosen on the data sets of ``--half develop`` (of digits the first half of a random
order) and confirmed on those of ``--half confirm``. ALIGNLEARN_DATA is the folder of the data sets.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes, load_digits
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import alignlearn as al

HALVES = {
    "develop": ("digits 1", "ionosphere", "sonar", "kin8nm"),
    "confirm": ("digits 2", "german_numeric", "australian", "heart_statlog", "diabetes"),
}
MODES = "samples", "two tables", "many"
C, ALPHA, SCALES = 10.0, 0.1, (0.3, 1.0, 3.0)
MOST = 900  # samples of a data set


def tables_of(name):
    """(tables, y) of a data set."""
    if name.startswith("digits"):
        X, y = load_digits(return_X_y=True)
        order = np.random.default_rng(0).permutation(len(X))
        half = np.array_split(order, 2)[int(name[-1]) - 1]
        image, y = X[half].reshape(-1, 8, 8) / 16, y[half]
        blocks = [(r, c) for r in ((0, 4), (4, 8)) for c in ((0, 3), (3, 5), (5, 8))]
        return [image[:, slice(*r), slice(*c)].reshape(len(y), -1) for r, c in blocks], y
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
    else:
        data = np.load(Path(os.environ["ALIGNLEARN_DATA"], f"{name}.npz"))
        X, y = data["X"].astype(float), data["y"]
    rows = np.random.default_rng(0).permutation(len(X))[:MOST]
    X, y = X[rows][:, X[rows].std(axis=0) > 0.0], y[rows]
    X = StandardScaler().fit_transform(X)
    return np.array_split(X, 6, axis=1), y


def draw_gaps(m, mode, rng):
    """Which samples have which of six tables."""
    present = np.ones((m, 6), bool)
    if mode == "samples":
        for i in rng.choice(m, int(0.3 * m), replace=False):
            present[i, rng.choice(6, 2, replace=False)] = False
    elif mode == "two tables":
        for t in rng.choice(6, 2, replace=False):
            present[rng.choice(m, int(0.3 * m), replace=False), t] = False
    else:
        present = rng.random((m, 6)) > 0.4
        present[~present.any(axis=1), 0] = True
    return present


def kernels_of(tables, present):
    """Three Gaussians for each table, around the width of its samples."""
    found = {}
    for k, table in enumerate(tables):
        gamma = 1.0 / (table.shape[1] * table[present[:, k]].var())
        found[f"t{k}"] = [al.Gaussian(s * gamma) for s in SCALES]
    return found


def named(tables):
    return al.Tables({f"t{k}": table for k, table in enumerate(tables)})


def filled(tables, present, train):
    """Tables with the means of the training samples in the gaps."""
    out = []
    for table, have in zip(tables, present.T):
        table = table.copy()
        table[~have] = table[train[have[train]]].mean(axis=0)
        out.append(table)
    return named(out)


def by_matrix(model, tables, present, fold):
    """Scores of "of pairs" and "zero" by the model's weights, and the share that was clipped."""
    train, test = fold
    X = np.hstack(tables)
    number = np.array([int(kernel.name[1:]) for kernel in model.kernels_])
    total, weight = np.zeros((2, len(X), len(X)))
    factors = model.weights_ * model.scale_
    for kernel, w, share, t in zip(model.kernels_, factors, model.weights_, number):
        if w:
            rows = train[present[train, t]]
            K = kernel(X)
            means = K[rows].mean(axis=0)
            K = K - means - means[:, None] + means[rows].mean()
            both = np.outer(present[:, t], present[:, t])
            total += w * K * both
            weight += share * both
    mean = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0.0)
    fix = al.machines.SpectrumFix("clip")
    inside = mean[np.ix_(train, train)]
    clipped = fix.fit_transform(inside)
    change = np.linalg.norm(clipped - inside) / np.linalg.norm(inside)
    grams = (clipped, fix.transform(mean[np.ix_(test, train)]))
    plain = total[np.ix_(train, train)], total[np.ix_(test, train)]
    return grams, plain, change


def machine_score(grams, y, fold):
    train, test = fold
    if y.dtype.kind == "f":
        machine = al.machines.KernelRidge(ALPHA)
    else:
        machine = al.machines.SupportVectorClassifier(C)
    return machine.fit(grams[0], y[train], check=False).score(grams[1], y[test])


def model_of(y, kernels, **options):
    if y.dtype.kind == "f":
        return al.MKLRegressor(kernels, alpha=ALPHA, **options)
    return al.MKLClassifier(kernels, C=C, **options)


def scores(tables, present, y, fold):
    train, test = fold
    kernels = kernels_of([t[train] for t in tables], present[train])
    gapped = [np.where(have[:, None], t, np.nan) for t, have in zip(tables, present.T)]
    X, found = named(gapped), {}
    model = model_of(y, kernels, missing="tables").fit(X[train], y[train])
    found["completed"] = model.score(X[test], y[test])
    pairs, zero, change = by_matrix(model, tables, present, fold)
    found["of pairs"], found["zero"] = (machine_score(g, y, fold) for g in (pairs, zero))
    X = filled(tables, present, train)
    found["means"] = model_of(y, kernels).fit(X[train], y[train]).score(X[test], y[test])
    whole = train[present[train].all(axis=1)]
    if len(whole) > 20 and (y.dtype.kind == "f" or len(np.unique(y[whole])) == len(np.unique(y))):
        found["dropped"] = model_of(y, kernels).fit(X[whole], y[whole]).score(X[test], y[test])
    return found, change


def row(name, mode, draws):
    tables, y = tables_of(name)
    kind = KFold if y.dtype.kind == "f" else StratifiedKFold
    found, changes = [], []
    for draw in range(draws):
        present = draw_gaps(len(y), mode, np.random.default_rng(draw))
        for fold in kind(5, shuffle=True, random_state=draw).split(y, y):
            one, change = scores(tables, present, y, fold)
            found.append(one)
            changes.append(change)
    print(f"\n{name}, {mode}: {len(y)} samples, {len(found)} folds")
    ours = np.array([one["completed"] for one in found])
    for way in found[0]:
        values = np.array([one.get(way, np.nan) for one in found])
        less = ours - values
        error = less.std(ddof=1) / np.sqrt(len(less))
        more = f"  clipped {np.mean(changes):.3f}" if way == "of pairs" else ""
        beside = "" if way == "completed" else f"  completed {less.mean():+.4f} +- {error:.4f}"
        print(f"  {way:10s} {values.mean():.4f}{beside}{more}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--half", choices=tuple(HALVES), default="develop")
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("names", nargs="*", help="data sets; default all of the half")
    asked = parser.parse_args()
    start = time.perf_counter()
    for name in asked.names or HALVES[asked.half]:
        for mode in asked.modes:
            row(name, mode, asked.draws)
    print(f"\n{time.perf_counter() - start:.0f} s")
