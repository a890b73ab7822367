#!/usr/bin/env python
"""Bounds of a learned machine's error from its own training sample, with a prior from half of it.

The machine is kernel ridge regression on labels +-1 with the kernel that alignf weighs on the first
half of the m training points. It is trained on all of them: h, with the ridge of a list whose bound
is best. The prior is a Gaussian process with that kernel K, shifted by a times the machine h_1 of
the first half; the posterior is the process shifted by c h. With v(x) = K(x, x), for all c, all
ridges, a and t of lists, with probability 1 - delta over the second half of n points,

    risk of sign h <= P/Phi(t),  kl(mean of Phi(t - c y h/v^(1/2)), P)
        <= (|c h - a h_1|^2/2 + log(2 n^(1/2) (number of ridges, a and t)/delta))/n,

as in `alignlearn.bounds.learned`, where the prior is not shifted; P at t = 0 bounds the risk of a
machine that is drawn from the posterior. Beside them: the errors of h on points that it has not
seen, and the bound of Clopper and Pearson of a machine trained on two thirds, from its errors on
the third that is held out.

    python scripts/lab/own_sample_bound.py --samples 200
"""

import argparse

import numpy as np
from scipy.special import ndtr

import alignlearn as al
from alignlearn import datasets
from alignlearn.bounds.binomial import clopper_pearson
from alignlearn.bounds.learned import kl_inverse

SETS = (
    "australian", "breast_cancer", "breast_cancer_wisconsin", "digits", "german_numeric",
    "heart_statlog", "ijcnn1_train", "ionosphere", "iris", "landmine", "sonar", "wine",
)  # fmt: skip
RIDGES = 10.0 ** np.arange(-1, 4)
LEVELS = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
SHIFTS = np.geomspace(0.25, 256.0, 21)


def binary(name):
    """Inputs and labels +-1: every second class against the others."""
    data = datasets.load(name)
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    _, index = np.unique(y, return_inverse=True)
    return X, np.where(index.ravel() % 2, 1.0, -1.0)


def weights(X, y, kernels):
    """alignf's, of sum 1; uniform ones where no kernel is aligned."""
    mu = al.AlignF().solve(al.alignment_statistics(X, y, kernels)).weights
    return mu / mu.sum() if mu.sum() > 0 else np.full(len(kernels), 1 / len(kernels))


def gram(kernels, mu, X):
    """The learned kernel and a constant for the intercept, of diagonal 2."""
    return 1.0 + sum(w * k(X) for w, k in zip(mu, kernels))


def fit(K, y, ridge):
    """Dual coefficients, and the share of errors when each sample is left out."""
    inverse = np.linalg.inv(K + ridge * np.eye(len(y)))
    alpha = inverse @ y
    left_out = y - alpha / np.diag(inverse)
    return alpha, float(np.mean(y * left_out <= 0))


def learn(X, y, rows, kernels):
    """The matrix of all points, and the ridge, both from the given rows."""
    K = gram(kernels, weights(X[rows], y[rows], kernels), X)
    inside = K[np.ix_(rows, rows)]
    return K, RIDGES[np.argmin([fit(inside, y[rows], ridge)[1] for ridge in RIDGES])]


def own_bound(K, y, first, second, ridge, delta):
    """The bound of the machine of all points, and its dual coefficients."""
    rows, n = np.r_[first, second], len(second)
    alpha, _ = fit(K[np.ix_(rows, rows)], y[rows], ridge)
    alpha_1 = np.r_[fit(K[np.ix_(first, first)], y[first], ridge)[0], np.zeros(n)]
    inside = K[np.ix_(rows, rows)]
    squares = alpha @ inside @ alpha, alpha_1 @ inside @ alpha_1, alpha @ inside @ alpha_1
    cosines = y[second] * (K[np.ix_(second, rows)] @ alpha) / np.sqrt(np.diag(K)[second])
    cost = np.log(2 * np.sqrt(n) * len(RIDGES) * len(LEVELS) * (len(SHIFTS) + 1) / delta)
    best, drawn = 1.0, 1.0
    for c in np.geomspace(0.25, 256.0, 41):
        for a in np.r_[0.0, SHIFTS]:
            divergence = (c**2 * squares[0] + a**2 * squares[1] - 2 * a * c * squares[2]) / 2
            right = (max(divergence, 0.0) + cost) / n
            for level in LEVELS:
                empirical = float(ndtr(level - c * cosines).mean())
                if empirical < max(best * ndtr(level), drawn * (level == 0)):
                    expected = kl_inverse(empirical, right)
                    best = min(best, expected / ndtr(level))
                    drawn = min(drawn, expected) if level == 0 else drawn
    return best, drawn, alpha


def row(name, m, delta, seed):
    """Own bound, held-out error of the same machine, Clopper-Pearson with a third held out."""
    X, y = binary(name)
    order = np.random.default_rng(seed).permutation(len(y))[: m + 1000]
    X, y, m = X[order], y[order], min(m, 3 * len(order) // 4)
    half = X[: m // 2]
    X = (X - half.mean(0)) / np.where(half.std(0) > 0, half.std(0), 1.0)
    kernels = al.gaussian_kernels(2.0 ** np.arange(-6, 1) / X.shape[1])
    first, second, rest = np.arange(m // 2), np.arange(m // 2, m), np.arange(m, len(y))
    K, _ = learn(X, y, first, kernels)
    found = [own_bound(K, y, first, second, ridge, delta) for ridge in RIDGES]
    value, _, alpha = min(found, key=lambda bound: bound[0])
    drawn = min(bound[1] for bound in found)
    error = float(np.mean(y[rest] * (K[np.ix_(rest, np.arange(m))] @ alpha) <= 0))
    train, held = np.arange(2 * m // 3), np.arange(2 * m // 3, m)
    K, ridge = learn(X, y, train, kernels)
    alpha, _ = fit(K[np.ix_(train, train)], y[train], ridge)
    share = min(np.mean(y < 0), np.mean(y > 0))
    wrong = int(np.sum(y[held] * (K[np.ix_(held, train)] @ alpha) <= 0))
    return m, value, drawn, error, clopper_pearson(wrong, len(held), 0.0, delta)[1], share


def main():
    """Print a row for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--delta", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    names = "m", "bound", "drawn", "error", "a third", "rarer"
    print(f"{'data':<24}" + "".join(f"{name:>9}" for name in names))
    below = half = 0
    for name in SETS:
        m, *numbers = row(name, options.samples, options.delta, options.seed)
        print(f"{name:<24}{m:>9}" + "".join(f"{number:>9.3f}" for number in numbers))
        below, half = below + (numbers[0] < 1), half + (numbers[1] < 0.5)
    print(f"Of {len(SETS)}: bound below 1 on {below}, drawn below 1/2 on {half}.")


if __name__ == "__main__":
    main()
