#!/usr/bin/env python
"""Weights and alpha for every target against random search, on simulated and real targets.

Designs (evaluated on 300 new samples; seeds 0 to 2 fixed the constants of the search, and the
default seeds are others):

few      three spaces of 30, 100, 300 columns, m = 600; weights of the targets Dirichlet(0.3),
         explained variance 0.05 to 0.6
many     twelve spaces of 20 columns, m = 600, explained variance 0.02 to 0.25
corr     as few, with spaces that share 20 latent variables, m = 300
gefcom   loads of 21 zones from temperatures and the calendar, a Gaussian each (ALIGNLEARN_DATA),
         m = 600 of 1,512 weeks
large    few with 10,000 targets: seconds
primal   three spaces of 50, 100, 200 columns, 20 targets, m = 5000: seconds in primal and dual

A row has ``MKLRegressorCV`` with ``per_target=True``, its equal weights with an alpha for each
target, and himalaya's ``MultipleKernelRidgeCV`` by random search over 100 candidates (Dupre la Tour
et al. 2022). himalaya gets the same matrices, precomputed, and the same range of alphas at half the
density, since the full density would double its time. Columns are the mean R^2 on new samples, and
processor seconds on one thread.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from _studies import cpu_clock, publish, quiet, study, threads
from sklearn.metrics import r2_score

import alignlearn as al
from alignlearn import datasets

SIZES = {"few": (30, 100, 300), "many": (20,) * 12, "corr": (30, 100, 300)}
SAMPLES = {"few": 600, "many": 600, "corr": 300, "gefcom": 600}
EXPLAINED = {"few": (0.05, 0.6), "many": (0.02, 0.25), "corr": (0.05, 0.6)}
LABELS = {
    "few": "three spaces of 30, 100, 300 columns, m = 600",
    "many": "twelve spaces of 20 columns, weak signal, m = 600",
    "corr": "three spaces with shared latent variables, m = 300",
    "gefcom": "loads of 21 zones, Gaussians, m = 600",
}
NEW = 300
ALPHAS = np.logspace(-4, 4, 17)  # of himalaya


def simulated(design, q, seed):
    """(spaces, Y, spaces of new samples, Y of these)."""
    rng = np.random.default_rng(seed)
    m, sizes = SAMPLES[design] + NEW, SIZES[design]
    if design == "corr":
        latent = rng.normal(size=(m, 20))
        mixed = [latent @ rng.normal(size=(20, d)) / np.sqrt(20) for d in sizes]
        spaces = [A + 0.7 * rng.normal(size=A.shape) for A in mixed]
    else:
        spaces = [rng.normal(size=(m, d)) for d in sizes]
    share = rng.dirichlet(np.full(len(sizes), 0.3), size=q)
    explained = rng.uniform(*EXPLAINED[design], q)
    signal = np.zeros((m, q))
    for X, weight in zip(spaces, share.T):
        part = X @ rng.normal(size=(X.shape[1], q))
        signal += np.sqrt(weight) * part / part.std(axis=0)
    signal /= signal.std(axis=0)
    Y = np.sqrt(explained) * signal + np.sqrt(1.0 - explained) * rng.normal(size=(m, q))
    n = SAMPLES[design]
    return [X[:n] for X in spaces], Y[:n], [X[n:] for X in spaces], Y[n:]


def gefcom(seed):
    """The same for the loads of 21 zones."""
    data = datasets.load("gefcom2012_weeks")
    order = np.random.default_rng(seed).permutation(data.n_samples)
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    names = np.array(data.feature_names)
    warm = np.char.startswith(names.astype(str), "temp")
    train, new = order[: SAMPLES["gefcom"]], order[SAMPLES["gefcom"] :]
    spaces = [X[:, warm], X[:, ~warm], X]
    return [A[train] for A in spaces], data.y[train], [A[new] for A in spaces], data.y[new]


def ours(kernel, data, **options):
    """(mean R^2 on new samples, seconds of fit)."""
    spaces, Y, new, Y_new = data
    ends = np.cumsum([0, *(X.shape[1] for X in spaces)])
    kernels = [al.Columns(kernel, slice(a, b)) for a, b in pairwise(ends)]
    X = np.hstack(spaces)
    seconds, model = cpu_clock(lambda: al.MKLRegressorCV(kernels, **options).fit(X, Y))
    return r2_score(Y_new, model.predict(np.hstack(new))), seconds


def himalaya(kernel, data, n_candidates):
    """Random search, on matrices of mean diagonal 1, whose computation is not timed."""
    from himalaya.kernel_ridge import MultipleKernelRidgeCV

    spaces, Y, new, Y_new = data
    train, test = [], []
    for X, Z in zip(spaces, new):
        fitted = kernel.resolve(X)
        K, against = fitted(X), fitted(Z, X)
        if isinstance(kernel, al.Linear):
            mean = X.mean(axis=0)
            K, against = (X - mean) @ (X - mean).T, (Z - mean) @ (X - mean).T
        size = np.trace(K) / len(K)
        train.append(K / size)
        test.append(against / size)
    batches = {"n_targets_batch": 1000, "n_targets_batch_refit": 1000, "n_alphas_batch": 5}
    search = {"n_iter": n_candidates, "alphas": ALPHAS, "progress_bar": False, **batches}
    model = MultipleKernelRidgeCV(
        kernels="precomputed", solver="random_search", solver_params=search, cv=5,
        random_state=0, fit_intercept=True,
    )  # fmt: skip
    with quiet():
        seconds, model = cpu_clock(lambda: model.fit(np.stack(train), Y))
    return r2_score(Y_new, model.predict(np.stack(test))), seconds


def measured(design, q, seed):
    """(mean R^2, seconds) of himalaya, of weights per target and of equal ones."""
    kernel = al.Gaussian() if design == "gefcom" else al.Linear()
    data = gefcom(seed) if design == "gefcom" else simulated(design, q, seed)
    return (
        himalaya(kernel, data, 100),
        ours(kernel, data, per_target=True),
        ours(kernel, data, per_target=True, weighting="uniform"),
    )


def rows(args):
    """The row of each design."""
    for design in (name for name in args.rows if name in LABELS):
        means = np.mean([measured(design, args.targets, s) for s in args.seeds], axis=0)
        yield LABELS[design], *(f"{score:.3f} ({seconds:.2g})" for score, seconds in means)


def main():
    """Print the table, and the seconds for many targets."""
    designs = (*LABELS, "large", "primal")
    sizes = {"large": (10_000, 300), "samples": (5000, 400)}
    args = study(__doc__, designs, targets=(200, 10), seeds=((10, 11), (10,)), **sizes)
    with threads(1):
        for kernel in (al.Linear(), al.Gaussian()):
            ours(kernel, simulated("corr", 3, 0), per_target=True)  # compiles
        if set(args.rows) & LABELS.keys():
            publish(args, "targets", rows(args))
        if "large" in args.rows:
            (_, other), (_, seconds), _ = measured("few", args.large, args.seeds[0])
            found = {"10000-targets": seconds, "10000-targets-random-search": other}
            publish(args, "many-targets", {key: f"{value:.2g}" for key, value in found.items()})
        if "primal" in args.rows:
            publish(args, "many-targets", primal(args))


def primal(args):
    """Seconds of the two decompositions of linear kernels: equal weights, and all candidates.

    A polynomial of degree 1 is a linear kernel that the fit decomposes by samples.
    """
    SIZES["primal"], SAMPLES["primal"] = (50, 100, 200), args.samples
    EXPLAINED["primal"] = EXPLAINED["few"]
    data, equal = simulated("primal", 20, 0), {"per_target": True, "weighting": "uniform"}
    dual = al.Polynomial(degree=1, gamma=1.0, coef0=0.0)
    found = {"primal": ours(al.Linear(), data, **equal), "dual": ours(dual, data, **equal)}
    found["primal-search"] = ours(al.Linear(), data, per_target=True)
    print(f"R^2 {found['primal'][0]:.12f} in the primal, {found['dual'][0]:.12f} in the dual")
    return {name: f"{seconds:.2g}" for name, (_, seconds) in found.items()}


if __name__ == "__main__":
    main()
