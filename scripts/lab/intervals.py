#!/usr/bin/env python
"""Coverage of prediction intervals on ten distributions, and their time.

regression      MKLRegressor with refit=False, jackknife+ and CV+ of ten folds, aim 0.9: share of
                new targets in their intervals, and that of 1.645 standard deviations of the
                Gaussian process, with noise
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


def covered(interval, y):
    """Whether targets lie in their intervals."""
    return (interval.low <= y) & (y <= interval.high)


def interval_row(law, m, seed):
    """Coverage of the jackknife+, of CV+ and of the Gaussian process."""
    X, y = law(np.random.default_rng([seed, m]), m + NEW)
    X, y, new, y_new = X[:m], y[:m], X[m:], y[m:]
    model = al.MKLRegressor().fit(X, y)
    given = {"fit": (X, y)}  # which models of linear kernels do not store
    found = model.predict_interval(new, AIM, refit=False, **given)
    mean, std = model.predict(new, return_std=True, noise=True, **given)
    folds = model.predict_interval(new, AIM, folds=10, refit=False, **given)
    return (
        covered(found, y_new).mean(),
        covered(folds, y_new).mean(),
        (np.abs(y_new - mean) <= 1.645 * std).mean(),
    )


def regression(args):
    """Intervals without refits."""
    errors, losses = [], []

    def cells(law):
        for m, fits in zip(SIZES, (args.fits, max(args.fits // 4, 2))):
            shares = np.array([interval_row(law, m, seed) for seed in range(fits)])
            errors.append(shares[:, 0].std(ddof=1) / np.sqrt(fits))
            losses.append((AIM - shares[:, 0].mean()) * (m == SIZES[0]))
            yield from (f"{share:.3f}" for share in shares.mean(axis=0))

    rows = ([label, *cells(law)] for law, label in REGRESSION.items())
    publish(args, "coverage-no-refit", rows)
    found = {
        "no-refit-se": f"{min(errors):.3f} to {max(errors):.3f}",
        "no-refit-loss": f"{max(losses):.3f}",
    }
    publish(args, "error-bars", found)


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


PARTS = {"regression": regression, "time": seconds}


if __name__ == "__main__":
    args = study(__doc__, PARTS, fits=(200, 2), m=(2000, 200))
    warnings.simplefilter("ignore")  # repeated rows, grids whose end is best
    for name in args.rows:
        PARTS[name](args)
