#!/usr/bin/env python
"""Coverage and time of prediction intervals and sets, on ten laws each.

    scripts/lab/intervals.py                     # all parts, about 15 minutes on one core
    scripts/lab/intervals.py regression --fits 50
    scripts/lab/intervals.py time

regression      MKLRegressor with refit=False, jackknife+ and CV+ of ten folds, aim .9: share of
                new targets in their intervals, and its standard error over fits; twice the standard
                deviation 1.645 of the Gaussian process, with noise, beside it; mean width over the
                spread of y
tuned           the same of MKLRegressorCV with three Gaussians, which chooses alpha too, and of the
                average of machines that is its default
classification  MKLClassifier(probability="sigmoid"), and MKLClassifierCV: share of new labels in
                their sets, that of the class where it is least with and without per_class, and the
                mean number of classes
refit           m = 50: the jackknife+ with the whole model fitted again without each sample, and
                the first as a difference
time            seconds of predict and of intervals, m = n = 2000, one target, after the first call,
                and of the first call

Every fit has samples of its own, m = 50 or 500, and 200 new ones.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from _studies import best_of, clock

import alignlearn as al

NEW, AIM = 200, 0.9
SIZES = (50, 500)
PARTS = ("regression", "tuned", "classification", "refit", "time")


def _normal(rng, n, d=3):
    return rng.normal(size=(n, d))


def linear(rng, n):
    """A line, normal noise."""
    X = _normal(rng, n)
    return X, X @ [1.0, -0.5, 0.2] + 0.5 * rng.normal(size=n)


def sine(rng, n):
    """A sine and a product, little noise."""
    X = rng.uniform(-2.0, 2.0, size=(n, 3))
    return X, np.sin(3.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


def friedman(rng, n):
    """Friedman's first function, ten features."""
    X = rng.uniform(size=(n, 10))
    f = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2
    return X, f + 10.0 * X[:, 3] + 5.0 * X[:, 4] + rng.normal(size=n)


def heteroscedastic(rng, n):
    """Noise that grows with a feature."""
    X = _normal(rng, n)
    return X, X[:, 0] + np.abs(X[:, 1]) * rng.normal(size=n)


def heavy(rng, n):
    """Cauchy noise, which has no mean."""
    X = _normal(rng, n)
    return X, X[:, 0] + rng.standard_cauchy(size=n)


def skewed(rng, n):
    """Log-normal noise."""
    X = _normal(rng, n)
    return X, np.sin(X[:, 0]) + rng.lognormal(sigma=1.5, size=n)


def step(rng, n):
    """A jump without noise."""
    X = _normal(rng, n)
    return X, (X[:, 0] > 0.0) + 2.0 * (X[:, 1] > 0.5)


def noise(rng, n):
    """Nothing but noise."""
    return _normal(rng, n), rng.normal(size=n)


def wide(rng, n):
    """A hundred features, of which one matters."""
    X = _normal(rng, n, 100)
    return X, X[:, 0] + 0.3 * rng.normal(size=n)


def rounded(rng, n):
    """Features and targets of few values, so that samples and residuals are equal."""
    X = rng.integers(0, 3, size=(n, 3)).astype(float)
    return X, np.round(X[:, 0] + 0.7 * rng.normal(size=n))


REGRESSION = (
    *(linear, sine, friedman, heteroscedastic, heavy),
    *(skewed, step, noise, wide, rounded),
)


def _labels(rng, odds):
    return (rng.uniform(size=len(odds)) < 1.0 / (1.0 + np.exp(-odds))).astype(int)


def logistic(rng, n):
    """Log-odds that are a line."""
    X = _normal(rng, n)
    return X, _labels(rng, 2.0 * X[:, 0] - X[:, 1])


def rare(rng, n):
    """A class of one in eight, shifted."""
    y = (rng.uniform(size=n) < 0.125).astype(int)
    return _normal(rng, n) + 1.5 * y[:, None], y


def coin(rng, n):
    """Nothing to be learned."""
    return _normal(rng, n), rng.integers(0, 2, size=n)


def blobs(rng, n):
    """Three classes that overlap."""
    y = rng.integers(0, 3, size=n)
    return _normal(rng, n, 2) + 1.5 * np.array([[0, 0], [1, 0], [0, 1]])[y], y


def five(rng, n):
    """Five classes of sizes 16, 8, 4, 2, 2 in 32."""
    y = rng.choice(5, p=np.array([16, 8, 4, 2, 2]) / 32, size=n)
    return _normal(rng, n, 4) + 1.5 * np.eye(5, 4)[y], y


def checker(rng, n):
    """The sign of a product."""
    X = rng.uniform(-1.0, 1.0, size=(n, 2))
    return X, _labels(rng, 12.0 * X[:, 0] * X[:, 1])


def ring(rng, n):
    """A disc in a ring, touching."""
    X = _normal(rng, n, 2)
    return X, _labels(rng, 4.0 * (np.square(X).sum(axis=1) - 1.4))


def flipped(rng, n):
    """A clear border, a fifth of the labels wrong."""
    X = _normal(rng, n)
    return X, (X[:, 0] > 0.0) ^ (rng.uniform(size=n) < 0.2)


def long(rng, n):
    """A hundred features, of which two matter."""
    X = _normal(rng, n, 100)
    return X, _labels(rng, 3.0 * (X[:, 0] + X[:, 1]))


def counts(rng, n):
    """Features of few values, three classes."""
    X = rng.integers(0, 3, size=(n, 3)).astype(float)
    return X, ((X[:, 0] + rng.integers(0, 2, size=n)) % 3).astype(int)


CLASSIFICATION = (logistic, rare, coin, blobs, five, checker, ring, flipped, long, counts)


def draw(law, m, seed):
    """(X, y, X of new samples, y of these)."""
    rng = np.random.default_rng([seed, m])
    while True:
        X, y = law(rng, m + NEW)
        counted = np.array([np.sum(y[:m] == label) for label in np.unique(y)])
        if law not in CLASSIFICATION or counted.min() > 1:  # calibration needs two of each
            return X[:m], y[:m], X[m:], y[m:]


def covered(interval, y):
    """Whether targets lie in their intervals."""
    return (interval.low <= y) & (y <= interval.high)


def interval_row(model, law, m, seed):
    """Coverage of the jackknife+, of CV+ and of the Gaussian process, and widths of the first."""
    X, y, new, y_new = draw(law, m, seed)
    model.fit(X, y)
    found = model.predict_interval(new, AIM, refit=False)
    mean, std = model.predict(new, return_std=True, noise=True)
    folds = model.predict_interval(new, AIM, folds=10, refit=False)
    return (
        covered(found, y_new).mean(),
        covered(folds, y_new).mean(),
        (np.abs(y_new - mean) <= 1.645 * std).mean(),
        np.median(found.high - found.low) / np.subtract(*np.quantile(y, [0.95, 0.05])),
    )


def set_row(model, law, m, seed):
    """Coverage, that of the worst class, the same with ``per_class``, sizes of both kinds."""
    X, y, new, y_new = draw(law, m, seed)
    model.fit(X, y)
    at = np.searchsorted(model.classes_, y_new)
    found = []
    for per_class in (False, True):
        sets = model.predict_set(new, AIM, per_class=per_class)
        hit = sets[np.arange(len(new)), at]
        found += [hit.mean(), _worst(hit, at), sets.sum(axis=1).mean()]
    return found


def _worst(hit, codes):
    return min(hit[codes == c].mean() for c in np.unique(codes))


def table(title, heads, laws, fits, row):
    """Print means over fits, and the standard error of the first, for every law and size."""
    print(f"\n{title}; {fits[0]} fits of {SIZES[0]} samples, {fits[1]} of {SIZES[1]}")
    print(f"{'law':16} {'m':>4} " + " ".join(f"{h:>10}" for h in ("coverage", "s.e.", *heads)))
    least = 1.0
    for m, n in zip(SIZES, fits):
        for law in laws:
            values = np.array([row(law, m, seed) for seed in range(n)])
            mean, error = values.mean(axis=0), values[:, 0].std(ddof=1) / np.sqrt(n)
            least = min(least, mean[0])
            shown = " ".join(f"{v:10.3f}" for v in (mean[0], error, *mean[1:]))
            print(f"{law.__name__:16} {m:4} {shown}", flush=True)
    print(f"least coverage {least:.3f}")


def regression(fits):
    """The part of this name."""
    heads = "CV+", "GP", "width"

    def row(law, m, seed):
        return interval_row(al.MKLRegressor(), law, m, seed)

    table("MKLRegressor, aim .9", heads, REGRESSION, fits, row)


def tuned(fits):
    """The part of this name."""
    heads, kernels = ("CV+", "GP", "width"), al.gaussian_kernels([0.01, 0.1, 1.0])
    models = {
        "MKLRegressorCV(three Gaussians)": (al.MKLRegressorCV(kernels), fits),
        "MKLRegressorCV()": (al.MKLRegressorCV(), [max(2, n // 5) for n in fits]),
    }
    for name, (model, n) in models.items():

        def row(law, m, seed, model=model):
            return interval_row(model, law, m, seed)

        table(f"{name}, aim .9", heads, REGRESSION, n, row)


def classification(fits):
    """The part of this name."""
    heads = "worst", "size", "per class", "worst", "size"
    models = {
        "MKLClassifier": al.MKLClassifier(probability="sigmoid"),
        "MKLClassifierCV(three Gaussians)": al.MKLClassifierCV(
            al.gaussian_kernels([0.01, 0.1, 1.0]), probability="sigmoid"
        ),
    }
    for name, model in models.items():

        def row(law, m, seed, model=model):
            return set_row(model, law, m, seed)

        table(f"{name}, aim .9", heads, CLASSIFICATION, fits, row)


def refit(fits):
    """The part of this name."""
    print(f"\nrefit=True, aim .9; {fits[1]} fits of 50 samples")
    print(f"{'law':16} {'coverage':>10} {'s.e.':>10} {'gain':>10} {'s.e.':>10}")
    for law in REGRESSION:
        values = np.array([_refit_row(law, 50, seed) for seed in range(fits[1])])
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(fits[1])
        shown = " ".join(f"{v:10.4f}" for v in (mean[0], error[0], mean[1], error[1]))
        print(f"{law.__name__:16} {shown}", flush=True)


def _refit_row(law, m, seed):
    """Coverage with refits, and how much more that is than without."""
    X, y, new, y_new = draw(law, m, seed)
    model = al.MKLRegressor().fit(X, y)
    again = covered(model.predict_interval(new, AIM, fit=(X, y), refit=True), y_new).mean()
    return again, again - covered(model.predict_interval(new, AIM, refit=False), y_new).mean()


def seconds(m=2000):
    """The part "time"."""
    print(f"\nm = n = {m}, MKLRegressor(), one target: seconds, and times predict")
    for d in (5, 20, 100, 800):
        rng = np.random.default_rng(0)
        X, new = rng.normal(size=(2, m, d))
        model = al.MKLRegressor().fit(X, np.sin(2.0 * X[:, 0]) + rng.normal(size=m))
        calls = {
            "predict": lambda: model.predict(new),  # noqa: B023
            "CV+, 10 folds": lambda: model.predict_interval(new, folds=10, refit=False),  # noqa: B023
            "CV+, 50 folds": lambda: model.predict_interval(new, folds=50, refit=False),  # noqa: B023
            "jackknife+": lambda: model.predict_interval(new, refit=False),  # noqa: B023
            "return_std": lambda: model.predict(new, return_std=True),  # noqa: B023
        }
        firsts = [clock(call)[0] for call in calls.values()]
        times = best_of(5, *calls.values())
        for name, first, least in zip(calls, firsts, times):
            print(
                f"d = {d:4}  {name:14} {least:9.4f} {least / times[0]:7.2f}   first {first:.3f}",
                flush=True,
            )


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--fits", type=int, default=200, help="of m = 50; a quarter of m = 500")
    args = parser.parse_args()
    unknown = set(args.parts) - set(PARTS)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}; accepted: {', '.join(PARTS)}")
    fits = max(args.fits, 8), max(args.fits // 4, 2)
    warnings.simplefilter("ignore")  # of repeated rows, and of grids whose end is best
    start = time.perf_counter()
    run = {"regression": regression, "tuned": tuned, "classification": classification}
    run |= {"refit": refit, "time": lambda _: seconds()}
    for part in args.parts or PARTS:
        run[part](fits)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
