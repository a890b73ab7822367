#!/usr/bin/env python
"""The four estimators of himalaya against the calls of docs/coming-from.md: predictions and times.

    scripts/bench/bench_himalaya.py

Ridge and kernel ridge regression with one kernel are the same problem in both libraries with an
intercept and leave-one-out for alpha. Of several kernels both search weights in their own ways, so
the solution for the weights that himalaya found is compared, and scores and times of the searches.
"""

import time
import warnings

import numpy as np

import alignlearn as al

ALPHAS = np.logspace(-1, 4, 11)
SPACES = {"few": slice(0, 30), "some": slice(30, 130), "many": slice(130, 430)}


def samples(m=150, n=200, targets=30, seed=0):
    """X, Y of m training and n new samples; a target is of one space or two."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m + n, 430))
    B = np.zeros((430, targets))
    for k in range(targets):
        for name in rng.choice(list(SPACES), rng.integers(1, 3), replace=False):
            part = B[SPACES[name], k]
            part[:] = rng.normal(size=len(part)) / np.sqrt(len(part))
    Y = X @ B + rng.normal(size=(m + n, targets))
    return X[:m], Y[:m], X[m:], Y[m:]


def timed(model, X, Y):
    """The fitted model, and seconds of processor time."""
    model.fit(X, Y)  # compiles
    start = time.process_time()
    model.fit(X, Y)
    return model, time.process_time() - start


def one_kernel(X, Y, new):
    """(name, largest difference relative to the largest prediction, seconds of both).

    The seconds of himalaya are of leave-one-out, and of five folds, its default.
    """
    from himalaya.kernel_ridge import KernelRidgeCV
    from himalaya.ridge import RidgeCV
    from sklearn.model_selection import KFold

    same = {"alphas": ALPHAS, "cv": KFold(len(X)), "fit_intercept": True}
    ours = {"per_target": True, "alphas": ALPHAS, "normalize": None}
    pairs = {
        "RidgeCV": (RidgeCV(**same), al.MKLRegressorCV("linear", **ours)),
        "KernelRidgeCV": (
            KernelRidgeCV(kernel="rbf", kernel_params={"gamma": 0.002}, **same),
            al.MKLRegressorCV(al.Gaussian(0.002), **ours),
        ),
    }
    for name, (theirs, mine) in pairs.items():
        theirs, seconds = timed(theirs, X, Y)
        mine, own = timed(mine, X, Y)
        a, b = theirs.predict(new), mine.predict(new)
        agree = np.mean(np.isclose(theirs.best_alphas_, mine.alpha_))
        folds = timed(theirs.set_params(cv=5), X, Y)[1]
        yield name, np.abs(a - b).max() / np.abs(a).max(), agree, (seconds, folds), own


def several_kernels(X, Y, new, truth, candidates=50):
    """(name, difference for the weights of himalaya, scores and seconds of both searches)."""
    from himalaya.kernel_ridge import ColumnKernelizer, Kernelizer, MultipleKernelRidgeCV
    from himalaya.ridge import GroupRidgeCV

    search = {"n_iter": candidates, "alphas": ALPHAS, "progress_bar": False}
    given = {"solver": "random_search", "solver_params": search, "random_state": 0}
    mine, own = timed(al.MKLRegressorCV(SPACES, per_target=True), X, Y)
    groups = np.concatenate([np.full(s.stop - s.start, k) for k, s in enumerate(SPACES.values())])
    kernels = [(name, Kernelizer("linear"), s) for name, s in SPACES.items()]
    stack = ColumnKernelizer(kernels)
    theirs = {
        "GroupRidgeCV": (GroupRidgeCV(groups=groups, fit_intercept=True, **given), X, new),
        "MultipleKernelRidgeCV": (
            MultipleKernelRidgeCV("precomputed", fit_intercept=True, **given),
            stack.fit_transform(X),
            stack.transform(new),
        ),
    }
    for name, (model, train, test) in theirs.items():
        model, seconds = timed(model, train, Y)
        found = model.predict(test)
        worst = 0.0
        for k in range(Y.shape[1]):
            weights = np.exp(model.deltas_[:, k])
            fixed = sum(
                float(w) * al.Columns("linear", s) for w, s in zip(weights, SPACES.values())
            )
            one = al.MKLRegressor(fixed, alpha=1.0, normalize=None).fit(X, Y[:, k])
            worst = max(worst, np.abs(one.predict(new) - found[:, k]).max())
        scores = r2(truth, found), r2(truth, mine.predict(new))
        yield name, worst / np.abs(found).max(), scores, seconds, own


def r2(y, predicted):
    """Mean over the targets."""
    squares = ((y - predicted) ** 2).sum(axis=0)
    return float(np.mean(1 - squares / ((y - y.mean(axis=0)) ** 2).sum(axis=0)))


def main():
    warnings.simplefilter("ignore")
    X, Y, new, truth = samples()
    for name, far, agree, (seconds, folds), own in one_kernel(X, Y, new):
        text = f"{name:22} difference {far:.1e}, same alpha for {agree:.0%} of the targets"
        times = f"{seconds:.2f} s, with five folds {folds:.3f} s, against {own:.3f} s"
        print(f"{text}, {times}", flush=True)
    for name, far, (theirs, mine), seconds, own in several_kernels(X, Y, new, truth):
        text = f"{name:22} difference for its weights {far:.1e}, R2 {theirs:.3f} and {mine:.3f}"
        print(f"{text}, {seconds:.2f} s against {own:.2f} s", flush=True)


if __name__ == "__main__":
    main()
