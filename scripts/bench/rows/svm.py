"""Support vector machines, against LIBSVM, and linear ones."""

from __future__ import annotations

from functools import partial

import numpy as np
from _bench import threads
from _run import Pair, row

import alignlearn as al
from alignlearn import datasets
from alignlearn.machines import LinearSVM, SupportVectorClassifier


def overlapping_classes(m, d, seed=0):
    """Standardized data, a curved noisy boundary, 10% of the labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    score = X @ rng.standard_normal(d) / np.sqrt(d) + 0.5 * np.sin(2.0 * X[:, 0]) * X[:, 1]
    y = np.where(score + 0.3 * rng.standard_normal(m) > 0.0, 1, -1)
    y[rng.random(m) < 0.1] *= -1
    return (X - X.mean(0)) / X.std(0), y


def ijcnn1():
    """All samples in random order."""
    found = datasets.load("ijcnn1")
    order = np.random.default_rng(0).permutation(len(found.y))
    return np.asarray(found.X, dtype=float)[order], found.y[order]


@row(m=300)
def svc(m=4000):
    """C-SVC on a precomputed Gram matrix at m = 4000, against LIBSVM."""
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.svm import SVC

    X, y = overlapping_classes(m, 20)
    K = rbf_kernel(X, gamma=1.0 / 20)
    SupportVectorClassifier().fit(np.ascontiguousarray(K[:200, :200]), y[:200])

    with threads(1):
        for C in (1.0, 100.0):
            ours = partial(SupportVectorClassifier(C=C).fit, K, y)
            theirs = SVC(C=C, kernel="precomputed", cache_size=2000)
            work = f"SVC m={m} C={C:g}, LIBSVM cache 2 GB"
            yield Pair(work, partial(theirs.fit, K, y), ours, key=f"svc-{C:g}")


def one_gaussian(X, y, C, gamma, regression=False):
    """The whole fit, stage 1 included."""
    make = al.MKLRegressor if regression else al.MKLClassifier
    model = make([al.Gaussian(gamma)], weighting="uniform", normalize=None, C=C)
    return model.set_params(machine="svr" if regression else "svm").fit(X, y)


@row(sizes=(300,), n_digits=200, regression=(300,))
def svm_fit(
    sizes=(2000, 4000, 10_000, 20_000, 50_000), n_digits=1500, regression=(2000, 4000, 8000)
):
    """One Gaussian from samples to a fitted model: digits, ijcnn1 and kin8nm by size."""
    from sklearn.datasets import load_digits
    from sklearn.svm import SVC, SVR

    (X, y), kin = ijcnn1(), datasets.load("kin8nm")
    digits = load_digits(return_X_y=True)
    cases = [("digits", "svm-digits", digits[0][:n_digits] / 16.0, digits[1][:n_digits], 0.05)]
    cases += [(f"ijcnn1 m={m}", f"svm-{len(y[:m])}", X[:m], y[:m], 2.0) for m in sizes]
    cases += [(f"kin8nm m={m}", "svr", kin.X[:m], kin.y[:m], 0.125) for m in regression]
    for m in (500, 3500):
        one_gaussian(X[:m], y[:m], 1.0, 2.0)
    with threads(1):
        for name, key, X, y, gamma in cases:
            repeats, real = 3 if len(y) < 20_000 else 1, key == "svr"
            for C in (1.0, 10.0, 100.0):
                theirs = (SVR if real else SVC)(cache_size=1000, C=C, gamma=gamma)
                ours = partial(one_gaussian, X, y, C, gamma, real)
                work = f"{name} C={C:g}, whole fit, against LIBSVM"
                yield Pair(work, partial(theirs.fit, X, y), ours, repeats, key=key)


@row(m=300)
def linear(m=20_000):
    """Dual coordinate descent, m = 20,000, against LIBLINEAR."""
    from sklearn.svm import LinearSVC

    X, y = stream(m)
    machine = LinearSVM(0.01, tol=1e-3)
    theirs = LinearSVC(C=0.01, loss="hinge", fit_intercept=False, tol=1e-3, max_iter=100_000)
    work = f"linear machine, m = {m:,}, d = 20, against LIBLINEAR"
    theirs.fit(X, y), machine.fit(X, y)
    yield Pair(work, partial(theirs.fit, X, y), partial(machine.fit, X, y), key="linear")


def stream(m=5000, d=20):
    """Standard normal samples, and labels of which a tenth are wrong."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, d))
    y = np.where(np.sin(X[:, 0]) + 0.5 * X[:, 1] > 0.0, 1, -1)
    y[rng.random(m) < 0.1] *= -1
    return X, y
