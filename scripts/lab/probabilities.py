#!/usr/bin/env python
"""Log loss and calibration error of the default probabilities of MKLClassifierCV, and their cost.

Eight data sets with 300 training samples, or two thirds of them. The baselines are scikit-learn's
``CalibratedClassifierCV(SVC)``, with C and gamma from a preceding grid search, and
``HistGradientBoostingClassifier``. The calibration error is the mean distance between the
confidence of the predicted class and its accuracy over 15 bins of equal counts. The cost is the
processor time of a fit minus that of a fit with ``probability=None``, as a share of it, from the
medians of five fits.
"""

import warnings

import numpy as np
from _studies import boosted, cpu_clock, load, publish, shuffled, standardized, study

import alignlearn as al

SETS = "australian breast_cancer german_numeric heart_statlog ionosphere magic satimage spambase"
SHORT = {"german_numeric": "german", "heart_statlog": "heart"}


def calibrated_svc(X, y):
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    grid = {"C": np.logspace(-1, 3, 5), "gamma": np.logspace(-3, 1, 5) / X.shape[1]}
    best = GridSearchCV(SVC(), grid, cv=5).fit(X, y).best_estimator_
    return CalibratedClassifierCV(best, cv=5).fit(X, y)


def boosting(X, y):
    return boosted("hist", True)(random_state=0).fit(X, y)


def ours(X, y, **options):
    return al.MKLClassifierCV(random_state=0, **options).fit(X, y)


def calibration_error(P, codes, bins=15):
    """Mean distance of confidence and accuracy over bins of equal counts."""
    top, right = P.max(axis=1), P.argmax(axis=1) == codes
    parts = np.array_split(np.argsort(top, kind="stable"), bins)
    sizes = np.array([len(part) for part in parts])
    far = np.array([abs(top[part].mean() - right[part].mean()) for part in parts])
    return float(sizes @ far / sizes.sum())


def measured(fit, split, **options):
    """Log loss, calibration error and seconds of processor time."""
    X, y, new, truth = split
    seconds, model = cpu_clock(lambda: fit(X, y, **options))
    if options:
        return 0.0, 0.0, seconds
    P, codes = model.predict_proba(new), np.searchsorted(model.classes_, truth)
    loss = -np.log(np.clip(P[np.arange(len(codes)), codes], 1e-15, 1.0)).mean()
    return loss, calibration_error(P, codes), seconds


def split_of(name, seed):
    """Standardized samples and labels for training, and at most 2000 others."""
    X, y, _ = load(name)
    train, test = shuffled(len(X), min(300, 2 * len(X) // 3), seed)
    known = np.isin(y[test], y[train])
    Z, new = standardized(X[train], X[test][known])
    return Z, y[train], new, y[test][known]


def rows(args):
    """The row of each set; the cost is printed."""
    ours(*split_of("heart_statlog", 0)[:2])  # compiles
    for name in args.rows:
        drawn, cells = [split_of(name, seed) for seed in range(args.splits)], []
        for fit in (ours, calibrated_svc, boosting):
            loss, error, _ = np.mean([measured(fit, split) for split in drawn], axis=0)
            cells += [f"{loss:.3f}", f"{error:.3f}"]
        how = [{"probability": p} for _ in range(5) for p in ("auto", None)]
        times = np.reshape([measured(ours, drawn[0], **options)[2] for options in how], (5, 2))
        with_it, without = np.median(times, axis=0)
        print(f"cost {1.0 - without / with_it:.1%}", flush=True)
        yield SHORT.get(name, name.replace("_", " ")), *cells


if __name__ == "__main__":
    args = study(__doc__, SETS.split(), splits=(2, 1))
    warnings.simplefilter("ignore")
    publish(args, "probabilities", rows(args))
