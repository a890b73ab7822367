#!/usr/bin/env python
"""Weights and alpha for every target against random search, on simulated and real targets.

    scripts/lab/many_targets.py                       # all designs, 200 targets, about 8 minutes
    scripts/lab/many_targets.py few --targets 10000   # one of them
    scripts/lab/many_targets.py few --no-peer         # without himalaya

Designs (300 new samples judge; seeds 0 to 2 fixed the constants of the search, the
default ones are others):

few      three spaces of 30, 100, 300 columns, m = 600; weights of the targets Dirichlet(.3),
         explained variance .05 to .6
many     twelve spaces of 20 columns, m = 600, explained variance .02 to .25
corr     as few, with spaces that share 20 latent variables, m = 300
gefcom   loads of 21 zones from temperatures and the calendar, a Gaussian each (ALIGNLEARN_DATA),
         m = 600 of 1,512 weeks

Rows: ``MKLRegressorCV`` with ``per_target=True``, its equal weights with an alpha for each target,
the best single space for each target (with ``weighting="uniform"`` on it alone, chosen by
leave-one-out), one alpha and one set of weights for all, and himalaya's ``MultipleKernelRidgeCV``
by random search over 20 and 100 candidates (Dupre la Tour et al. 2022), where it is installed, on
the same matrices, which it does not have to form, and the same range of alphas at half the
density (as many would double its time). Mean R^2 on new samples, and seconds of the processor on
one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import pairwise

import numpy as np
from _studies import threads

import alignlearn as al
from alignlearn import datasets

SIZES = {"few": (30, 100, 300), "many": (20,) * 12, "corr": (30, 100, 300)}
SAMPLES = {"few": 600, "many": 600, "corr": 300, "gefcom": 600}
EXPLAINED = {"few": (0.05, 0.6), "many": (0.02, 0.25), "corr": (0.05, 0.6)}
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
    """The same of the loads of 21 zones."""
    data = datasets.load("gefcom2012_weeks")
    order = np.random.default_rng(seed).permutation(data.n_samples)
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    names = np.array(data.feature_names)
    warm = np.char.startswith(names.astype(str), "temp")
    train, new = order[: SAMPLES["gefcom"]], order[SAMPLES["gefcom"] :]
    spaces = [X[:, warm], X[:, ~warm], X]
    return [A[train] for A in spaces], data.y[train], [A[new] for A in spaces], data.y[new]


def r2(Y, predicted):
    """Mean R^2 over the targets."""
    left = np.square(Y - predicted).sum(axis=0) / np.square(Y - Y.mean(axis=0)).sum(axis=0)
    return float(1.0 - left.mean())


def ours(kernel, data, **options):
    """(mean R^2 on new samples, seconds of fit, model)."""
    spaces, Y, new, Y_new = data
    ends = np.cumsum([0, *(X.shape[1] for X in spaces)])
    kernels = [al.Columns(kernel, slice(a, b)) for a, b in pairwise(ends)]
    X = np.hstack(spaces)
    start = time.process_time()
    model = al.MKLRegressorCV(kernels, **options).fit(X, Y)
    seconds = time.process_time() - start
    return r2(Y_new, model.predict(np.hstack(new))), seconds, model


def singles(kernel, data):
    """Each target on the one space that leave-one-out prefers."""
    spaces, Y, new, Y_new = data
    found, seconds = [], 0.0
    for X, Z in zip(spaces, new):
        start = time.process_time()
        model = al.MKLRegressorCV([kernel], per_target=True).fit(X, Y)
        seconds += time.process_time() - start
        found.append((model.best_score_, model.predict(Z)))
    best = np.argmax([score for score, _ in found], axis=0)
    predicted = np.choose(best, [values for _, values in found])
    return r2(Y_new, predicted), seconds


def himalaya(kernel, data, n_candidates):
    """Random search, on matrices of mean diagonal 1, which are formed outside of the time."""
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
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MultipleKernelRidgeCV(
            kernels="precomputed", solver="random_search", solver_params=search, cv=5,
            random_state=0, fit_intercept=True,
        ).fit(np.stack(train), Y)  # fmt: skip
    seconds = time.process_time() - start
    return r2(Y_new, model.predict(np.stack(test))), seconds


def rows(design, q, seed, peer):
    """(name, mean R^2, seconds) of every row."""
    kernel = al.Gaussian() if design == "gefcom" else al.Linear()
    data = gefcom(seed) if design == "gefcom" else simulated(design, q, seed)
    yield "per target", *ours(kernel, data, per_target=True)[:2]
    yield "equal weights", *ours(kernel, data, per_target=True, weighting="uniform")[:2]
    yield "best single space", *singles(kernel, data)
    yield "one kernel for all", *ours(kernel, data)[:2]
    for n in (20, 100) if peer else ():
        yield f"himalaya, {n} candidates", *himalaya(kernel, data, n)


def has_peer():
    """Whether himalaya is installed."""
    try:
        import himalaya  # noqa: F401
    except ImportError:
        return False
    return True


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("designs", nargs="*", default=list(SAMPLES), metavar="DESIGN")
    parser.add_argument("--targets", type=int, default=200)
    parser.add_argument("--seeds", type=int, nargs="*", default=[10, 11])
    parser.add_argument("--no-peer", action="store_true")
    args = parser.parse_args()
    unknown = set(args.designs) - set(SAMPLES)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}; accepted: {', '.join(SAMPLES)}")
    peer = has_peer() and not args.no_peer
    if not peer:
        print("himalaya takes no part (pip install himalaya)")
    with threads(1):
        ours(al.Linear(), simulated("corr", 3, 0), per_target=True)  # compiles
        ours(al.Gaussian(), simulated("corr", 3, 0), per_target=True)
        ours(al.Linear(), simulated("corr", 3, 0))
        for design in args.designs:
            found = {}
            for seed in args.seeds:
                for name, score, seconds in rows(design, args.targets, seed, peer):
                    found.setdefault(name, []).append((score, seconds))
            q = 21 if design == "gefcom" else args.targets
            print(f"\n{design}, m = {SAMPLES[design]}, {q} targets, seeds {args.seeds}")
            print(f"{'':24} {'R^2':>8} {'seconds':>9}")
            for name, values in found.items():
                score, seconds = np.mean(values, axis=0)
                print(f"{name:24} {score:8.4f} {seconds:9.2f}", flush=True)


if __name__ == "__main__":
    main()
