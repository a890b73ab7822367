"""Tables 1 and 2: a known kernel learned from its matrix on labeled and unlabeled points."""

from __future__ import annotations

from itertools import product

import numpy as np
from hyper_paper import HYPER, KNOWN
from hyper_stages import (
    chosen_predictions,
    gaussian_hyper,
    load,
    machine_predictions,
    parts,
    regressor,
    svm_cv,
    unconverged,
)

from alignlearn.kernels import TL1, Gaussian, Log

MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0)  # sigma_h2 over sigma2
ALPHAS = (1e-5, 1e-3, 1e-1, 1e1)
COSTS = (1e-1, 1e1, 1e3)
EPSILONS = (0.1, 0.01)
# (pairs, rank) of a fit; of australian, of 152,628 pairs, fewer are drawn as well.
SIZES = {"nnls": (40_000, 300), "krr": (40_000, 300), "svr": (6_000, 200)}
SEARCH = (2_000, 100)


def rmse(found, K):
    """Relative root mean squared error as printed in section 5.1."""
    return float(np.sqrt(np.sum((found - K) ** 2) / np.sum((K - K.mean()) ** 2)))


def candidates(method, quick, multiples=MULTIPLES):
    """(multiple, strength, epsilon) in the order in which ties are decided."""
    if quick:
        some = 1.0 if None not in multiples else None
        return [(some, 1e1, 0.01) if method == "svr" else (some, 1e-1, None)]
    if method == "svr":
        return list(product(multiples, COSTS, EPSILONS))
    return [(*pair, None) for pair in product(multiples, ALPHAS)]


def search(method, X, K, quick, multiples=MULTIPLES):
    """The candidate of least error on pairs of a fifth of the points, learned from the others."""
    grid = candidates(method, quick, multiples)
    if len(grid) == 1:
        return grid[0]
    order = np.random.default_rng(0).permutation(len(X))
    out, inside = np.split(order, [len(X) // 5])
    pairs, rank = SEARCH

    def error(candidate):
        multiple, *strength = candidate
        model = regressor(method, gaussian_hyper(multiple), *strength, pairs=pairs, rank=rank)
        kernel = model.fit(X[inside], K[np.ix_(inside, inside)]).kernel_
        return rmse(kernel(X[out]), K[np.ix_(out, out)])

    return min(grid, key=error)


def known_kernel(name, X, y, labeled, seed):
    """The kernel that gives the matrix, and C of its machine if that is chosen with it."""
    if name == "gaussian":
        return svm_cv(X[labeled], y[labeled], seed)
    return (TL1() if name == "tl1" else Log(1.0)), None


def measure(kernel_name, name, repeats, quick=False):
    """Accuracies and errors of all methods on one data set.

    Returns
    -------
    dict
        By method, then by "unlabeled", "test" (per cent), "rmse", "rmse_train": one value for each
        repeat; of a learned one also "pairs_used", coefficients that are not 0, and what was
        "chosen". "counts": warnings.
    """
    X, y = load(name)
    found = {method: {} for method in (KNOWN, *HYPER)}
    counts, chosen = {}, {}
    with unconverged(counts):
        for seed in range(repeats):
            _repeat(kernel_name, X, y, seed, quick, chosen, found)
    for method, choice in chosen.items():
        found[method]["chosen"] = choice
    return {**found, "counts": counts}


def matched(name):
    """RMSE of hyper-KRR on test pairs for the Gaussian kernel of gamma = 1 / (2 sigma2)."""
    X, y = load(name)
    labeled, unlabeled, test = parts(y, (2, 2, 1), 0)
    train = np.concatenate([labeled, unlabeled])
    hyper = gaussian_hyper(4.0).resolve(X[train])
    kernel, (pairs, rank) = Gaussian(0.5 / hyper.sigma2), SIZES["svr"]
    model = regressor("krr", hyper, 1e-3, pairs=pairs, rank=rank)
    with unconverged({}):
        learned = model.fit(X[train], kernel(X[train])).kernel_
    return rmse(learned(X[test]), kernel(X[test]))


def _repeat(kernel_name, X, y, seed, quick, chosen, found):
    """One random partition; what it gives is appended to ``found``."""
    labeled, unlabeled, test = split = parts(y, (2, 2, 1), seed)
    kernel, C = known_kernel(kernel_name, X, y, labeled, seed)
    train = np.concatenate([labeled, unlabeled])
    K, K_test = kernel(X[train]), kernel(X[test])
    unit = np.abs(K).max()  # so that one grid serves all kernels
    _score(found[KNOWN], lambda A, B: kernel(A, B) / unit, X, y, split, seed, C and C * unit)
    for method in HYPER:
        short = method.removeprefix("hyper-")
        if kernel_name == "gaussian" or method not in chosen:
            chosen[method] = search(short, X[train], K / unit, quick)
        multiple, *strength = chosen[method]
        pairs, rank = SEARCH if quick else SIZES[short]
        hyper = gaussian_hyper(multiple)
        model = regressor(short, hyper, *strength, pairs=pairs, rank=rank, seed=seed)
        learned = model.fit(X[train], K / unit).kernel_
        rows = found[method]
        rows.setdefault("rmse", []).append(rmse(learned(X[test]), K_test / unit))
        rows.setdefault("rmse_train", []).append(rmse(learned(X[train]), K / unit))
        rows.setdefault("pairs_used", []).append(int(learned.coef.size))
        _score(rows, learned, X, y, split, seed)


def _score(rows, kernel, X, y, split, seed, C=None):
    """Accuracy on unlabeled and test points of a machine trained on the labeled ones."""
    labeled, *others = split
    K = kernel(X[labeled], X[labeled])
    new = np.concatenate(others)
    K_new = kernel(X[new], X[labeled])
    if C is None:
        predicted = chosen_predictions(K, y[labeled], K_new, seed)
    else:
        predicted = machine_predictions(K, y[labeled], K_new, [C])[0]
    right = predicted == y[new]
    for what, part in zip(("unlabeled", "test"), np.split(right, [len(others[0])])):
        rows.setdefault(what, []).append(100.0 * float(part.mean()))
