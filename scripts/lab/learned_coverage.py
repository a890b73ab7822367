#!/usr/bin/env python
"""Coverage of `predict_interval` and `predict_set` where many weights were learned.

Every kernel is linear in one column, or a Gaussian on one column ("gaussian"), or one of p
Gaussians of different widths on the same three columns ("ladder"). A row of the output holds the
mean share of new targets inside their intervals, or of new classes inside their sets, and its
standard error over the training samples. "set" is of `MKLClassifier`, "search" of `MKLClassifierCV`
with given kernels, "strategy" of one that chooses how its kernel is made.

    python scripts/lab/learned_coverage.py --method interval --samples 50 100 --kernels 5 25 100
"""

import argparse
import itertools
import warnings

import numpy as np

import alignlearn as al
from alignlearn.validation import DoubtfulResultWarning

NEW = 500


def sample(rng, m, p, law):
    """Samples (m, p) and their real target: pure noise, one column of p, or all of them."""
    X, noise = rng.normal(size=(m, p)), rng.normal(size=m)
    signal = {"noise": 0.0, "one": 2.0 * X[:, 0], "all": 2.0 * X.sum(axis=1) / np.sqrt(p)}[law]
    return X, signal + noise


def kernels_of(kind, p):
    """The p kernels of a kind."""
    if kind == "ladder":
        return al.gaussian_kernels(np.geomspace(0.01, 10.0, p))
    one = al.Linear() if kind == "linear" else al.Gaussian(0.5)
    return [al.Columns(one, [k]) for k in range(p)]


def three_classes(y, scale):
    """Classes of nearly equal size."""
    return np.digitize(y, [-0.43 * scale, 0.43 * scale])


def two_classes(y, scale):
    """Classes of nearly equal size."""
    return (y > 0.0).astype(int)


def coverage(options, m, p, law, seed):
    """Share of the new samples that one fit covers."""
    rng = np.random.default_rng([seed, m, p])
    columns = 3 if options.kind == "ladder" else p
    X, y = sample(rng, m, columns, law)
    new, target = sample(rng, NEW, columns, law)
    kernels = kernels_of(options.kind, p)
    if options.method == "interval":
        model = al.MKLRegressor(kernels, weighting=options.weighting).fit(X, y)
        low, high = model.predict_interval(
            new, options.coverage, fit=(X, y), refit={"default": None, "no": False}[options.refit]
        )
        return np.mean((low <= target) & (target <= high))
    scale = 1.0 if law == "noise" else np.sqrt(5.0)
    bins = three_classes if options.classes == 3 else two_classes
    classes, given = bins(y, scale), {"probability": options.probability}
    if options.method == "set":
        model = al.MKLClassifier(kernels, weighting=options.weighting, **given)
    else:
        strategy = "auto" if options.method == "strategy" else None
        weighting = None if strategy else options.weighting
        model = al.MKLClassifierCV(kernels, strategy=strategy, weighting=weighting, **given)
    found = model.fit(X, classes).predict_set(new, options.coverage, fit=(X, classes))
    code = np.searchsorted(model.classes_, bins(target, scale))
    return found[np.arange(NEW), code].mean()


def main():
    """Print a row for each distribution, number of samples and number of kernels."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    methods = ("interval", "set", "search", "strategy")
    parser.add_argument("--method", choices=methods, default="interval")
    parser.add_argument("--kind", choices=("linear", "gaussian", "ladder"), default="linear")
    parser.add_argument("--weighting", default="alignf")
    parser.add_argument("--probability", choices=("sigmoid", "isotonic"), default="isotonic")
    parser.add_argument("--classes", type=int, choices=(2, 3), default=3)
    parser.add_argument("--samples", type=int, nargs="+", default=[50])
    parser.add_argument("--kernels", type=int, nargs="+", default=[1, 5, 25, 100])
    parser.add_argument("--laws", nargs="+", default=["noise", "one", "all"])
    parser.add_argument(
        "--refit", choices=("default", "no"), default="default", help="of intervals"
    )
    parser.add_argument("--coverage", type=float, default=0.9)
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    warnings.simplefilter("ignore", DoubtfulResultWarning)
    print(f"{'distribution':<14}{'m':>6}{'p':>6}{'coverage':>10}{'s.e.':>8}")
    for law, m, p in itertools.product(options.laws, options.samples, options.kernels):
        found = [coverage(options, m, p, law, seed) for seed in range(options.runs)]
        error = np.std(found, ddof=1) / np.sqrt(len(found))
        print(f"{law:<14}{m:>6}{p:>6}{np.mean(found):>10.3f}{error:>8.3f}", flush=True)


if __name__ == "__main__":
    main()
