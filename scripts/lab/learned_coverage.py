#!/usr/bin/env python
"""Coverage of `predict_interval` and `predict_set` for many learned weights.

default   the default, which repeats the whole fit if many different kernels were learned, on
          20 designs; unless its name has another one, every kernel is linear in one column
no-refit  without refits, for targets of pure noise
weights   without refits, the minimal coverage of pure noise and two signals, by p and m
known     1.645 standard deviations, which take the weights for known, 100 columns of noise
sets      three classes of noise, 60 samples

The mean share of new targets inside their intervals, or of new classes inside their sets, and its
standard error over the training samples.
"""

import warnings
from itertools import product

import numpy as np
from _studies import publish, study

import alignlearn as al
from alignlearn.validation import DoubtfulResultWarning

AIM, NEW = 0.9, 500
NOISE, CAUCHY = "noise", "Cauchy noise"
ONE, ALL = "one informative column", "all columns informative"


def sample(rng, m, p, law):
    """Samples (m, p) and their real target: pure noise, one column of p, or all of them."""
    X = rng.normal(size=(m, p))
    noise = rng.standard_cauchy(m) if law == CAUCHY else rng.normal(size=m)
    signal = {ONE: 2.0 * X[:, 0], ALL: 2.0 * X.sum(axis=1) / np.sqrt(p)}.get(law, 0.0)
    return X, signal + noise


def columns(kernel):
    """A kernel on each of p columns."""
    return lambda p: [al.Columns(kernel, [k]) for k in range(p)]


def widths(p):
    """Gaussians of p widths."""
    return al.gaussian_kernels(np.geomspace(0.01, 10.0, p))


def model_of(make, kernels, **options):
    """A function of p that gives the model."""
    return lambda p: make(kernels(p), weighting="alignf", **options)


LINEAR = columns(al.Linear())
PLAIN = model_of(al.MKLRegressor, LINEAR)
GAUSSIAN = model_of(al.MKLRegressor, columns(al.Gaussian(0.5)))
LADDER = model_of(al.MKLRegressor, widths)
RANK_ONE = model_of(al.MKLRegressor, lambda p: al.RankOneKernels())
SEARCH = model_of(al.MKLRegressorCV, LINEAR)
THREE = model_of(al.MKLRegressorCV, lambda p: al.gaussian_kernels([0.01, 0.1, 1.0]))
VECTORS = model_of(al.MKLRegressor, LINEAR, machine="svr")
# Start of the name, distribution, m, p, number of fits, model.
DESIGNS = (
    *(("", NOISE, 50, p, 120, PLAIN) for p in (10, 25, 100, 200)),
    ("", ONE, 50, 50, 120, PLAIN),
    ("", ALL, 50, 50, 120, PLAIN),
    ("", CAUCHY, 50, 100, 120, PLAIN),
    ("", NOISE, 50, 1, 120, PLAIN),
    ("Gaussian kernels, ", NOISE, 50, 50, 60, GAUSSIAN),
    ("Gaussian kernels, ", ONE, 50, 100, 60, GAUSSIAN),
    ("Gaussians of p widths, ", ONE, 50, 30, 120, LADDER),
    ("`RankOneKernels`, ", NOISE, 200, 1000, 120, RANK_ONE),
    ("`RankOneKernels`, ", ONE, 50, 250, 120, RANK_ONE),
    ('`MKLRegressorCV(weighting="alignf")`, ', NOISE, 60, 200, 60, SEARCH),
    ('`MKLRegressorCV(weighting="alignf")`, ', ONE, 60, 60, 60, SEARCH),
    ("", NOISE, 100, 8, 120, PLAIN),
    ("", ONE, 250, 10, 120, PLAIN),
    ("", NOISE, 461, 10, 120, PLAIN),
    ("`MKLRegressorCV`, three Gaussians, ", ONE, 50, 3, 60, THREE),
    ("support vectors, ", NOISE, 50, 50, 60, VECTORS),
)


def coverage(model, law, m, p, seed, n=NEW, refit=None):
    """Share of the new samples that one fit covers."""
    rng = np.random.default_rng([seed, m, p])
    d = 3 if model in (LADDER, THREE) else p
    (X, y), (new, target) = sample(rng, m, d, law), sample(rng, n, d, law)
    low, high = model(p).fit(X, y).predict_interval(new, AIM, fit=(X, y), refit=refit)
    return np.mean((low <= target) & (target <= high))


def of_set(seed, m=60, p=5, law=NOISE):
    """Share of the new samples that sets cover."""
    rng = np.random.default_rng([seed, m, p])
    (X, y), (new, target) = sample(rng, m, p, law), sample(rng, NEW, p, law)
    y, target = (np.digitize(t, [-0.43, 0.43]) for t in (y, target))
    model = al.MKLClassifier(LINEAR(p), probability="isotonic").fit(X, y)
    return model.predict_set(new, AIM, fit=(X, y))[np.arange(NEW), target].mean()


def mean(shares):
    """Mean and its standard error."""
    return np.mean(shares, axis=0), np.std(shares, axis=0, ddof=1) / np.sqrt(len(shares))


def default(args):
    """The rows of the 20 designs."""
    for start, law, m, p, fits, model in DESIGNS:
        fits = min(fits, args.fits)
        share, error = mean([coverage(model, law, m, p, seed, 300) for seed in range(fits)])
        yield start + law, str(m), str(p), str(fits), f"{share:.3f}", f"{error:.3f}"


def no_refit(m, p, law, seed):
    """Coverage of one fit without refits."""
    return coverage(PLAIN, law, m, p, seed, refit=False)


def weights(args):
    """The minimal coverage over distributions and its standard error, by p and m."""
    seeds, found = range(max(args.fits // 4, 2)), {}
    for p, m in product((5, 10, 25, 100), args.m):
        shares = ([no_refit(m, p, law, seed) for seed in seeds] for law in (NOISE, ONE, ALL))
        found[p, m] = min(map(mean, shares))
    return found


def known(seed, m=50, p=100):
    """Share of the new samples within 1.645 standard deviations of one fit."""
    rng = np.random.default_rng([seed, m, p])
    (X, y), (new, target) = sample(rng, m, p, NOISE), sample(rng, NEW, p, NOISE)
    center, std = PLAIN(p).fit(X, y).predict(new, return_std=True, noise=True, fit=(X, y))
    return np.mean(np.abs(target - center) <= 1.645 * std)


if __name__ == "__main__":
    parts = ("default", "no-refit", "weights", "known", "sets")
    args = study(__doc__, parts, fits=(120, 2), m=((50, 100, 200, 400), (20, 20, 20, 20)))
    warnings.simplefilter("ignore", DoubtfulResultWarning)
    if "default" in args.rows:
        publish(args, "coverage-refit", default(args), labels=3)
    if "no-refit" in args.rows:
        for m, p in ((50, 10), (50, 25), (50, 100), (50, 200), (200, 1000)):
            share, _ = mean([no_refit(m, p, NOISE, seed) for seed in range(args.fits)])
            publish(args, "learned-weights", {f"noise-{p}": f"{share:.3f}"})
    if "weights" in args.rows:
        found = weights(args)
        rows = [[str(p), *(f"{found[p, m][0]:.2f}" for m in args.m)] for p in (5, 10, 25, 100)]
        publish(args, "coverage-many-weights", rows)
        ends = (f"{end(error for _, error in found.values()):.3f}" for end in (min, max))
        publish(args, "learned-weights", {"many-weights-se": " to ".join(ends)})
    for name, one in (("known", known), ("sets", of_set)):
        if name in args.rows:
            share, error = mean([one(seed) for seed in range(args.fits)])
            publish(args, "learned-weights", {name: f"{share:.3f}", f"{name}-se": f"{error:.3f}"})
