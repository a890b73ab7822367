#!/usr/bin/env python
"""Learned feature scales: what they gain on new samples, what they cost, and xrfm beside them.

    scripts/bench/bench_scales.py                       # every data set, about five minutes
    scripts/bench/bench_scales.py sonar kin8nm --splits 3
    scripts/bench/bench_scales.py --time                # seconds of a fit by number of samples
    scripts/bench/bench_scales.py --half fixed --widths -5 2 --iterations 2

Standardized features, at most 400 samples for training and 1000 for testing, ten splits. Scores are
shares of labels predicted, or R^2:

ridge      kernel ridge regression of one Gaussian, width and alpha by leave-one-out errors
scales     the same on features times the roots of the scales, width and alpha as chosen before
matrix     the same with a matrix in place of scales
ladder     MKLClassifierCV or MKLRegressorCV with equal weights of nine Gaussians
scaled     the same on features times the roots of the scales
xrfm       recursive feature machines of the package, where it is installed: four bandwidths, the
           diagonal, and a fifth of the samples held out to choose

Times are seconds of the processor on one thread, for all splits. The constants of `FeatureScales`
were chosen by the half of the sets called "fixed"; "confirmed" was run once, after that.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from importlib.util import find_spec

import numpy as np
from _bench import options, threads
from sklearn.model_selection import train_test_split

import alignlearn as al
from alignlearn import datasets
from alignlearn.estimators import feature_scales
from alignlearn.machines import KernelRidge

FIXED = ("breast_cancer", "heart_statlog", "sonar", "ijcnn1_train", "diabetes", "wine")
CONFIRMED = ("australian", "german_numeric", "ionosphere", "digits", "kin8nm", "gefcom2012_weeks")
MOST = 400, 1000  # samples to train on and to test with
COLUMNS = ("ridge", "scales", "matrix", "ladder", "scaled", "xrfm")


def columns_of(y, classes):
    """Targets of ridge regression: one column, or one for each of several classes."""
    return y[:, None] if classes is None else np.equal.outer(y, classes).astype(float)


def score(found, y, classes):
    if classes is not None:
        return float(np.mean(classes[np.argmax(found, axis=1)] == y))
    return 1.0 - float(np.mean((found[:, 0] - y) ** 2) / np.var(y))


def ridge(model, split, classes):
    """Score of kernel ridge regression with a kernel and alpha on given features."""
    kernel, alpha, A, B = model
    _, y, _, y_test = split
    machine = KernelRidge(alpha).fit(kernel(A), columns_of(y, classes))
    return score(machine.predict(kernel(B, A)), y_test, classes)


def plain(split, classes, full=None):
    """`ridge` on the features as they are, or on what `FeatureScales` makes of them."""
    X, y, X_test, _ = split
    model = al.FeatureScales(full=bool(full)).fit(X, y)
    if full is None:
        return ridge((model.kernel_, model.alpha_, X, X_test), split, classes)
    samples = model.transform(X), model.transform(X_test)
    return ridge((model.kernel_, model.alpha_, *samples), split, classes)


def ladder(split, classes, scaled):
    X, y, X_test, y_test = split
    if scaled:
        model = al.FeatureScales().fit(X, y)
        X, X_test = model.transform(X), model.transform(X_test)
    make = al.MKLRegressorCV if classes is None else al.MKLClassifierCV
    return make(weighting="uniform").fit(X, y).score(X_test, y_test)


def xrfm(split, classes):
    import torch
    from xrfm import xRFM

    torch.set_num_threads(1)
    X, y, X_test, y_test = (np.asarray(part, dtype=np.float32) for part in split)
    if classes is not None:
        y, y_test = (np.searchsorted(classes, part) for part in (split[1], split[3]))
    A, B, a, b = train_test_split(
        X, y, test_size=0.2, random_state=0, stratify=None if classes is None else y
    )
    best, of_best = -np.inf, None
    for bandwidth in (2.0, 5.0, 10.0, 20.0):
        params = {
            "model": {
                "kernel": "l2",
                "bandwidth": bandwidth,
                "exponent": 1.0,
                "diag": True,
                "bandwidth_mode": "constant",
            },
            "fit": {"reg": 1e-3, "iters": 3, "verbose": False, "early_stop_rfm": True},
        }
        metric = "mse" if classes is None else "accuracy"
        model = xRFM(params, tuning_metric=metric, verbose=False, random_state=0)
        model.fit(A, a, B, b)
        found = [
            score_of(model.predict(Z), target, classes) for Z, target in ((B, b), (X_test, y_test))
        ]
        if found[0] > best:
            best, of_best = found
    return of_best


def score_of(found, y, classes):
    found = np.asarray(found).reshape(len(y), -1)
    if classes is None:
        return 1.0 - float(np.mean((found[:, 0] - y) ** 2) / np.var(y))
    labels = found[:, 0] if found.shape[1] == 1 else np.argmax(found, axis=1)
    return float(np.mean(labels == y))


METHODS = {
    "ridge": lambda split, classes: plain(split, classes),
    "scales": lambda split, classes: plain(split, classes, full=False),
    "matrix": lambda split, classes: plain(split, classes, full=True),
    "ladder": lambda split, classes: ladder(split, classes, False),
    "scaled": lambda split, classes: ladder(split, classes, True),
    "xrfm": xrfm,
}


def splits_of(name, n):
    """(classes or None, splits into training and test samples with their targets)."""
    data = datasets.load(name)
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    y = y if y.ndim == 1 else y[:, 0]
    classes = None if data.task == "regression" else np.unique(y)
    found = []
    for seed in range(n):
        A, B, a, b = train_test_split(
            X, y, test_size=0.3, random_state=seed, stratify=None if classes is None else y
        )
        A, a, B, b = A[: MOST[0]], a[: MOST[0]], B[: MOST[1]], b[: MOST[1]]
        mean, size = A.mean(axis=0), A.std(axis=0)
        size[size == 0.0] = 1.0
        found.append(((A - mean) / size, a, (B - mean) / size, b))
    return classes, found


def compare(names, n, methods):
    print(f"{'':18s}" + "".join(f"{m:>18s}" for m in methods) + "   (mean, s.e., seconds)")
    for name in names:
        classes, splits = splits_of(name, n)
        scores, seconds = np.zeros((len(methods), n)), np.zeros(len(methods))
        for method in methods:  # imports and compiles
            METHODS[method](splits[0], classes)
        for s, split in enumerate(splits):
            for k, method in enumerate(methods):
                start = time.process_time()
                scores[k, s] = METHODS[method](split, classes)
                seconds[k] += time.process_time() - start
        error = scores.std(axis=1, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(len(methods))
        cells = zip(scores.mean(axis=1), error, seconds)
        print(f"{name:18s}" + "".join(f"{m:6.3f} {e:.3f}{t:6.2f}" for m, e, t in cells), flush=True)


def timings():
    """Milliseconds of `learned_scales`, without and with errors, and of fits, by sample size."""
    rng = np.random.default_rng(0)
    for m in (400, 1000, 2000):
        X = rng.standard_normal((m, 20))
        y = (X[:, 0] + X[:, 1] ** 2 > 1.0).astype(int)
        Y = y[:, None] - y.mean()
        kernel, times = al.Gaussian(0.05), []
        work = (
            partial(feature_scales.learned_scales, X, Y, kernel, 0.1, choose=False),
            partial(feature_scales.learned_scales, X, Y, kernel, 0.1),
            partial(al.FeatureScales(kernel, alpha=0.1).fit, X, y),
            partial(al.FeatureScales().fit, X, y),
        )
        for f in work:
            found = []
            for _ in range(7 if m < 2000 else 3):
                start = time.process_time()
                f()
                found.append(time.process_time() - start)
            times.append(1e3 * min(found))
        text = "".join(f"{t:10.1f}" for t in times)
        print(f"m={m:5d}, d=20: last, chosen, fit of given, with search:{text} ms", flush=True)


def main(argv=None):
    def extend(parser):
        parser.add_argument("--splits", type=int, default=10)
        parser.add_argument("--half", choices=("fixed", "confirmed", "both"), default="both")
        parser.add_argument("--methods", nargs="+", choices=COLUMNS)
        parser.add_argument("--widths", nargs=2, type=int, help="exponents of 2, first and end")
        parser.add_argument("--ridges", nargs=2, type=int, help="exponents of 4, first and end")
        parser.add_argument("--iterations", type=int)
        parser.add_argument("--time", action="store_true")

    chosen = options(__doc__, (*FIXED, *CONFIRMED), argv, with_threads=True, extend=extend)
    if chosen.widths:
        feature_scales.WIDTHS = 2.0 ** np.arange(*chosen.widths)
    if chosen.ridges:
        feature_scales.RIDGES = 4.0 ** np.arange(*chosen.ridges)
    if chosen.iterations:
        al.FeatureScales.__init__.__kwdefaults__["n_iterations"] = chosen.iterations
    half = {"fixed": FIXED, "confirmed": CONFIRMED}.get(chosen.half, (*FIXED, *CONFIRMED))
    methods = chosen.methods or [m for m in COLUMNS if m != "xrfm" or find_spec("xrfm")]
    with threads(chosen.threads), warnings.catch_warnings():
        warnings.simplefilter("ignore", al.DoubtfulResultWarning)
        if chosen.time:
            timings()
        else:
            compare([name for name in chosen.rows if name in half], chosen.splits, methods)


if __name__ == "__main__":
    main()
