#!/usr/bin/env python
"""The four estimators of himalaya against the calls of docs/coming-from.md: predictions and times.

    scripts/bench/bench_himalaya.py [--write]

Ridge and kernel ridge regression with one kernel are the same problem in both libraries, with an
intercept and leave-one-out for alpha. For several kernels both libraries search weights in
different ways. So the solutions for the weights that himalaya found are compared, and the scores
and times of the searches.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "lab"))
from _studies import publish, study
from sklearn.metrics import r2_score

import alignlearn as al

ALPHAS = np.logspace(-1, 4, 11)
COMPARED = {
    "RidgeCV": "predictions, leave-one-out over 11 alphas, with an intercept",
    "KernelRidgeCV": "predictions with a Gaussian kernel, leave-one-out over 11 alphas",
    "GroupRidgeCV": "predictions for the weights that himalaya found",
    "MultipleKernelRidgeCV": "predictions for the weights that himalaya found",
}
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

    The times of himalaya are for leave-one-out, and for five folds, its default.
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
        scores = r2_score(truth, found), r2_score(truth, mine.predict(new))
        yield name, worst / np.abs(found).max(), scores, seconds, own


def rows(args):
    """The rows of the table."""
    X, Y, new, truth = samples(targets=args.targets)
    for name, far, agree, (seconds, folds), own in one_kernel(X, Y, new):
        targets = "all" if agree == 1.0 else f"{agree:.0%} of the"
        theirs = f"{seconds:.2g} s; {folds:.2g} s with five folds"
        same = f"{far:.0e}, the same alpha for {targets} targets"
        yield f"`{name}`", COMPARED[name], same, theirs, f"{own:.2g} s"
    for name, far, scores, seconds, own in several_kernels(X, Y, new, truth, args.candidates):
        same = "{:.0e}; R² of the searches {:.3f} and {:.3f}".format(far, *scores)
        theirs = f"{seconds:.2g} s, {args.candidates} candidates"
        yield f"`{name}`", COMPARED[name], same, theirs, f"{own:.2g} s"


if __name__ == "__main__":
    args = study(__doc__, targets=(30, 4), candidates=(50, 5))
    warnings.simplefilter("ignore")
    publish(args, "himalaya", rows(args))
