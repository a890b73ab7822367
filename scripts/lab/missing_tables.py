#!/usr/bin/env python3
"""Accuracy with missing tables: imputed tables against means and dropped samples.

The columns of a data set are split into six tables. Two random tables are missing for 30% of the
samples ("rows"), or each of two tables is missing for 30% of the samples ("tables"). All methods
have the same folds, kernels, rule for the weights and cost.

score   ``missing="tables"``
means   the columns' means over the training samples replace missing values
drop    training samples with gaps are left out; means in new samples
pairs   the same weights; a pair of samples has the weighted mean of its available kernels,
        negative eigenvalues clipped; "clipped" is the relative change of the matrix

A row has the mean score, and for each other method the mean gain of "score" over it and its
standard error over paired folds: ``--draws`` draws of the gaps and five folds each. Constants of
the library were chosen on the data sets "develop" (of digits the first half of a random order) and
confirmed on the others. ALIGNLEARN_DATA is the folder of the data sets.
"""

import os
from pathlib import Path

import numpy as np
from _studies import folds_of, read, study, write
from sklearn.datasets import load_diabetes, load_digits
from sklearn.preprocessing import StandardScaler

import alignlearn as al

# Name of a data set: its name on pages, and its half.
SETS = {
    "digits 1": ("digits, six blocks", "develop"),
    "ionosphere": ("ionosphere", "develop"),
    "sonar": ("sonar", "develop"),
    "kin8nm": ("kin8nm, R^2", "develop"),
    "digits 2": ("digits, other images", "confirm"),
    "australian": ("australian", "confirm"),
    "heart_statlog": ("heart_statlog", "confirm"),
    "german_numeric": ("german_numeric", "confirm"),
    "diabetes": ("diabetes, R^2", "confirm"),
}
MODES = "rows", "tables"
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
    if mode == "rows":
        for i in rng.choice(m, int(0.3 * m), replace=False):
            present[i, rng.choice(6, 2, replace=False)] = False
    else:
        for t in rng.choice(6, 2, replace=False):
            present[rng.choice(m, int(0.3 * m), replace=False), t] = False
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


def by_pairs(model, tables, present, y, fold):
    """Score of "pairs", with the model's weights, and the clipped share."""
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
    fix, machine = al.machines.SpectrumFix("clip"), al.machines.SupportVectorClassifier(C)
    if y.dtype.kind == "f":
        machine = al.machines.KernelRidge(ALPHA)
    inside = mean[np.ix_(train, train)]
    clipped = fix.fit_transform(inside)
    machine.fit(clipped, y[train], check=False)
    change = np.linalg.norm(clipped - inside) / np.linalg.norm(inside)
    return machine.score(fix.transform(mean[np.ix_(test, train)]), y[test]), change


def model_of(y, kernels, **options):
    if y.dtype.kind == "f":
        return al.MKLRegressor(kernels, alpha=ALPHA, **options)
    return al.MKLClassifier(kernels, C=C, **options)


def scores(tables, present, y, fold):
    """{method: score} of one fold."""
    train, test = fold
    kernels = kernels_of([t[train] for t in tables], present[train])
    X = named([np.where(have[:, None], t, np.nan) for t, have in zip(tables, present.T)])
    model = model_of(y, kernels, missing="tables").fit(X[train], y[train])
    found = {"score": model.score(X[test], y[test])}
    found["pairs"], found["clipped"] = by_pairs(model, tables, present, y, fold)
    X = filled(tables, present, train)
    found["means"] = model_of(y, kernels).fit(X[train], y[train]).score(X[test], y[test])
    whole = train[present[train].all(axis=1)]
    if len(whole) > 20 and (y.dtype.kind == "f" or len(np.unique(y[whole])) == len(np.unique(y))):
        found["drop"] = model_of(y, kernels).fit(X[whole], y[whole]).score(X[test], y[test])
    return found


def row(name, mode, draws):
    """Mean score, and the gain over each other method with its standard error."""
    tables, y = tables_of(name)
    found = []
    for draw in range(draws):
        present = draw_gaps(len(y), mode, np.random.default_rng(draw))
        for fold in folds_of(y.dtype.kind != "f", draw).split(y, y):
            found.append(scores(tables, present, y, fold))
    ours = np.array([one["score"] for one in found])
    gains = {
        way: ours - [one.get(way, np.nan) for one in found] for way in ("means", "drop", "pairs")
    }
    clipped = np.mean([one["clipped"] for one in found])
    record = {"half": SETS[name][1], "score": round(float(ours.mean()), 3)}
    for way, gain in gains.items():
        if np.isfinite(gain).all():  # too few samples may be complete
            error = gain.std(ddof=1) / np.sqrt(len(gain))
            record[way] = [round(float(gain.mean()), 3), round(float(error), 3)]
    return {**record, "clipped": round(float(clipped), 3)}


if __name__ == "__main__":
    args = study(__doc__, SETS, draws=(4, 1))
    content = read("missing-tables")
    for name in args.rows:
        for mode in MODES:
            found = row(name, mode, args.draws)
            content.setdefault(mode, {})[SETS[name][0]] = found
            print(mode, SETS[name][0], found, flush=True)
    if args.write:
        write("missing-tables", content)
