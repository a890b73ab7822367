#!/usr/bin/env python
"""Coverage and time of prediction intervals and sets, on ten distributions each.

regression      MKLRegressor with refit=False, jackknife+ and CV+ of ten folds, aim 0.9: share of
                new targets in their intervals, and that of 1.645 standard deviations of the
                Gaussian process, with noise
classification  MKLClassifier(probability="sigmoid"), and MKLClassifierCV: share of new labels in
                their sets, that of the class where it is least and the mean number of classes, and
                the same with per_class
time            seconds of predict, and of intervals as multiples of it, m = n = 2000, one target,
                after the first call

Every fit has samples of its own, m = 50 or 500 (a quarter of the fits), and 200 new ones.
"""

from __future__ import annotations

import warnings

import numpy as np
from _studies import best_of, publish, study

import alignlearn as al

NEW, AIM = 200, 0.9
SIZES = (50, 500)


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


REGRESSION = {
    linear: "line, normal noise",
    sine: "sine and product",
    friedman: "Friedman's first",
    heteroscedastic: "noise grows with a feature",
    heavy: "Cauchy noise",
    skewed: "log-normal noise",
    step: "jumps without noise",
    noise: "noise alone",
    wide: "100 features, one informative",
    rounded: "few values",
}


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


CLASSIFICATION = {
    logistic: "line (2)",
    rare: "one in eight (2)",
    coin: "coin (2)",
    blobs: "three blobs (3)",
    five: "sizes 16 to 2 (5)",
    checker: "sign of a product (2)",
    ring: "disc and ring (2)",
    flipped: "20% wrong labels (2)",
    long: "100 features (2)",
    counts: "few values (3)",
}


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
    given = {"fit": (X, y)}  # which models of linear kernels do not store
    found = model.predict_interval(new, AIM, refit=False, **given)
    mean, std = model.predict(new, return_std=True, noise=True, **given)
    folds = model.predict_interval(new, AIM, folds=10, refit=False, **given)
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


def means(row, model, law, m, fits):
    """Means of a row over fits, and the standard error of the first cell."""
    values = np.array([row(model, law, m, seed) for seed in range(fits)])
    return values.mean(axis=0), values[:, 0].std(ddof=1) / np.sqrt(fits)


def sizes(args):
    """(m, number of fits)."""
    return zip(SIZES, (args.fits, max(args.fits // 4, 2)))


def span(values, digits=3):
    """Least and largest of values."""
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def regression(args):
    """Intervals without refits."""
    errors, losses = [], []

    def cells(law):
        for m, fits in sizes(args):
            mean, error = means(interval_row, al.MKLRegressor(), law, m, fits)
            errors.append(error)
            losses.append((AIM - mean[0]) * (m == SIZES[0]))
            yield from (f"{share:.3f}" for share in mean[:3])

    rows = ([label, *cells(law)] for law, label in REGRESSION.items())
    publish(args, "coverage-no-refit", rows)
    found = {"no-refit-se": span(errors), "no-refit-loss": f"{max(losses):.3f}"}
    publish(args, "error-bars", found)


def classification(args):
    """Prediction sets."""
    model = al.MKLClassifier(probability="sigmoid")

    def cells(law):
        for m, fits in sizes(args):
            mean, _ = means(set_row, model, law, m, fits)
            yield from (f"{v:.{digits}f}" for v, digits in zip(mean, (3, 2, 1) * 2))

    rows = ([label, *cells(law)] for law, label in CLASSIFICATION.items())
    publish(args, "prediction-sets", rows)
    kernels = al.gaussian_kernels([0.01, 0.1, 1.0])
    search, found = al.MKLClassifierCV(kernels, probability="sigmoid"), {}
    for law in (coin, blobs):
        mean, error = means(set_row, search, law, SIZES[0], args.fits)
        found[f"search-{law.__name__}"] = f"{mean[0]:.3f}"
    publish(args, "error-bars", {**found, "search-se": f"{error:.3f}"})


def seconds(args):
    """Time."""

    def row(d):
        rng = np.random.default_rng(0)
        X, new = rng.normal(size=(2, args.m, d))
        model = al.MKLRegressor().fit(X, np.sin(2.0 * X[:, 0]) + rng.normal(size=args.m))
        calls = (
            lambda: model.predict(new),
            lambda: model.predict_interval(new, folds=10, refit=False),
            lambda: model.predict_interval(new, folds=50, refit=False),
            lambda: model.predict_interval(new, refit=False),
            lambda: model.predict(new, return_std=True),
        )
        for call in calls:
            call()
        first, *others = best_of(5, *calls)
        return f"{d}", f"{first:.3f} s", *(f"{s / first:.2g}" for s in others)

    publish(args, "interval-time", map(row, (5, 20, 100, 800)))


PARTS = {"regression": regression, "classification": classification, "time": seconds}


if __name__ == "__main__":
    args = study(__doc__, PARTS, fits=(200, 2), m=(2000, 200))
    warnings.simplefilter("ignore")  # repeated rows, grids whose end is best
    for name in args.rows:
        PARTS[name](args)
