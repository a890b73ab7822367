#!/usr/bin/env python
"""The bound `price_of_sample` for the weights of alignf, by the number of samples.

Ten columns, binary, normal, uniform or correlated normal, with one Gaussian of gamma 1/2 each;
labels are the sign of a combination of the first three columns with noise. "ladder of 4" has four
Gaussians of gamma 1/8, 1/2, 2 and 8 on the first three of ten normal columns. Each number is the
mean over three samples.
"""

import numpy as np
from _studies import publish, study

from alignlearn.bounds.sample_price import pair_sums, price_of_sample, quadratic_weights

SIZES = (8000, 10_000, 16_000, 20_000, 50_000, 100_000, 300_000)
DESIGNS = ("binary", "normal", "uniform", "correlated", "ladder of 4")
P, SAMPLES, DELTA = 10, 3, 0.05


def draw(design, m, rng):
    """Columns (m, 10) and labels of a design."""
    if design == "binary":
        X = rng.choice([-1.0, 1.0], (m, P))
    elif design == "uniform":
        X = rng.uniform(-(3**0.5), 3**0.5, (m, P))
    else:
        X = rng.normal(size=(m, P))
        if design == "correlated":
            X = (X + 0.5 * rng.normal(size=(m, 1))) / 1.25**0.5
    signal = X[:, :3] @ [1.0, 0.7, 0.5] + 0.3 * rng.normal(size=m)
    return X, np.where(signal > 0, 1.0, -1.0)


def values_of(design, X, y):
    """Values of the kernels and of the target kernel on pairs of samples."""

    def values(i, j):
        far = (X[i] - X[j]) ** 2
        if design == "ladder of 4":
            exponents = np.array([0.125, 0.5, 2.0, 8.0])[:, None] * far[:, :3].sum(axis=1)
        else:
            exponents = 0.5 * far.T
        return np.vstack([np.exp(-exponents), y[i] * y[j]])

    return values


def price(design, m, seed):
    """The bound for the weights of alignf, learned from the same sample."""
    values = values_of(design, *draw(design, m, np.random.default_rng(seed)))
    sums = pair_sums(values, np.arange(m // 4 * 4).reshape(-1, 4))
    H = np.einsum("njk,njl->kl", sums, sums) / (4 * len(sums))
    weights = quadratic_weights(H[:-1, :-1], H[:-1, -1])
    return price_of_sample(values, m, weights, DELTA, random_state=seed).value


def rows(args):
    """The row of each number of samples."""
    for m in args.sizes:
        means = [np.mean([price(d, m, seed) for seed in range(SAMPLES)]) for d in DESIGNS]
        yield f"{m:,}", *(f"{value:.2g}" for value in means)


if __name__ == "__main__":
    args = study(__doc__, sizes=(SIZES, (2000, 4000)))
    publish(args, "price-of-sample", rows(args))
