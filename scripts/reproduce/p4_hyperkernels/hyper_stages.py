"""What the tables of hyper-kernels share: data, regressions of stage 1, machines of stage 2."""

from __future__ import annotations

import warnings
from contextlib import contextmanager

import numpy as np

from alignlearn import datasets
from alignlearn.folds import fold_numbers
from alignlearn.hyper import GaussianHyperKernel, HyperKRR, HyperNNLS, HyperSVR, hyper_kernels
from alignlearn.kernels import Gaussian
from alignlearn.machines import KreinSVC, krein_spectrum
from alignlearn.machines.paths import svm_path
from alignlearn.validation import ConvergenceWarning

REGRESSIONS = {"nnls": HyperNNLS, "krr": HyperKRR, "svr": HyperSVR}
COSTS = 2.0 ** np.arange(-5, 8, 2)  # of the machine
SIGMAS = 2.0 ** np.arange(-5, 6)  # of the Gaussian kernel of SVM-CV
SIGMA_COSTS = 2.0 ** np.arange(-5, 6, 2)  # its C: every second value of the paper's grid
_NAMES = {"heart": "heart_statlog"}


def load(name):
    """X with features in [0, 1], and y."""
    X, y = datasets.load(_NAMES.get(name, name), return_X_y=True)
    X = np.asarray(X, dtype=np.float64)
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1.0), y


def parts(y, shares, seed):
    """Index arrays of parts of these shares (in fifths, halves, ...), class by class."""
    number = fold_numbers(y, sum(shares), True, seed)
    ends = np.cumsum(shares)
    return [np.flatnonzero((number >= e - s) & (number < e)) for e, s in zip(ends, shares)]


def accept_ranks():
    """Ignore that so many landmark pairs leave some of the trace: the tables say how many."""
    warnings.filterwarnings("ignore", r"\w+: max_rank=", ConvergenceWarning)


@contextmanager
def unconverged(counts):
    """Count the warnings of solvers that stop short in counts["warnings"]; others go on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        accept_ranks()
        yield
    short = [w for w in caught if issubclass(w.category, ConvergenceWarning)]
    counts["warnings"] = counts.get("warnings", 0) + len(short)
    for w in caught:
        if not issubclass(w.category, ConvergenceWarning):
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)


def regressor(name, hyper_kernel, strength, epsilon=None, *, pairs, rank, seed=0):
    """A regression of stage 1 in the span of landmark pairs; strength is its alpha or C."""
    own = {"C": strength, "epsilon": epsilon} if name == "svr" else {"alpha": strength}
    return REGRESSIONS[name](
        hyper_kernel, **own, solver="pivoted", max_pairs=pairs, max_rank=rank, random_state=seed
    )


def gaussian_hyper(multiple):
    """sigma2 of the scale of the data, sigma_h2 this many times it; for None the default ladder."""
    return hyper_kernels() if multiple is None else GaussianHyperKernel(multiple=multiple)


def symmetric(K):
    """K without the rounding in which its halves differ."""
    return 0.5 * (K + K.T)


def machine_predictions(K, y, K_new, costs=COSTS):
    """Predictions of `KreinSVC` on K for each C, one array a C."""
    return svm_path(KreinSVC, krein_spectrum(symmetric(K)), y, K_new, costs)


def fold_accuracy(K, y, n_folds, seed, costs=COSTS):
    """Accuracy for each C by cross-validation on a Gram matrix; folds without two classes skip."""
    number, scores = fold_numbers(y, n_folds, True, seed), []
    for t in range(n_folds):
        inside, out = np.flatnonzero(number != t), np.flatnonzero(number == t)
        if np.unique(y[inside]).size > 1 and out.size:
            found = machine_predictions(
                K[np.ix_(inside, inside)], y[inside], K[np.ix_(out, inside)], costs
            )
            scores.append([np.mean(p == y[out]) for p in found])
    return np.mean(scores, axis=0)


def chosen_predictions(K, y, K_new, seed):
    """Predictions of the machine whose C five folds choose."""
    best = int(np.argmax(fold_accuracy(K, y, 5, seed)))
    return machine_predictions(K, y, K_new, COSTS[best : best + 1])[0]


def svm_cv(X, y, seed):
    """Gaussian kernel and C that five folds choose on the paper's grid of widths."""
    best, chosen = -1.0, None
    for sigma in SIGMAS:
        kernel = Gaussian(0.5 / sigma**2)
        scores = fold_accuracy(kernel(X), y, 5, seed, SIGMA_COSTS)
        if scores.max() > best:
            best, chosen = scores.max(), (kernel, float(SIGMA_COSTS[scores.argmax()]))
    return chosen
