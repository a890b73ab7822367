"""Table 4: ijcnn1_train in halves, a learned kernel and a machine for each of v clusters."""

from __future__ import annotations

from time import process_time

import numpy as np
from hyper_paper import HYPER
from hyper_stages import gaussian_hyper, load, parts, regressor, symmetric, unconverged
from scipy.stats import rankdata

from alignlearn.kernels import Gaussian
from alignlearn.machines import KreinSVC, krein_spectrum
from alignlearn.solvers.k_means import nearest

CLUSTERS = (5, 10, 20)
PAIRS, RANK = 80_000, 150  # pairs of all clusters together, landmark pairs of each
MACHINE = 800  # most training points of a cluster that its machine is trained on
MULTIPLE, EPSILON = 1.0, 0.1
STRENGTHS = {"nnls": 10.0, "krr": 10.0, "svr": 0.1}  # for all pairs; those drawn stand for them
COSTS = (1.0, 10.0, 100.0)
GAUSSIAN = "gaussian"  # in place of the learned kernel
LADDER = ", ladder"  # in place of one hyper-kernel
METHODS = (*HYPER, *(m + LADDER for m in HYPER), GAUSSIAN)


def auc(scores, positive):
    """Area under the curve, ties counting half."""
    n = positive.sum()
    return (rankdata(scores)[positive].sum() - n * (n + 1) / 2) / (n * (positive.size - n))


def decisions(kernel, X, y, rows, X_new, rng):
    """Decisions of the machine of one cluster: trained on some points, C chosen on others.

    Where the points are of one class, that class is what it says.
    """
    order = rng.permutation(rows)
    held, used = np.split(order, [len(order) // 5])
    held, used = held[:MACHINE], used[:MACHINE]
    if np.unique(y[used]).size < 2:
        return np.full(len(X_new), float(y[used[0]]))
    K = symmetric(kernel(X[used]))
    unit = 1.0 / (np.abs(K).max() or 1.0)
    spectrum = krein_spectrum(K * unit)
    K_held, start, best, chosen = kernel(X[held], X[used]) * unit, None, -1.0, None
    for C in COSTS:
        machine = KreinSVC(C).fit(spectrum, y[used], alpha0=start)
        start = machine.full_dual_coef()
        score = np.mean(machine.predict(K_held) == y[held])
        if score > best:
            best, chosen = score, machine
    out = np.empty(len(X_new))
    for i in range(0, len(X_new), MACHINE):
        block = slice(i, i + MACHINE)
        out[block] = chosen.decision_function(kernel(X_new[block], X[used]) * unit)
    return out


def _judged(scores, y):
    """Accuracy, balanced accuracy and AUC, per cent, of decisions on labels -1 and +1."""
    right = (scores > 0.0) == (y > 0.0)
    by_class = [right[y == c].mean() for c in (-1, 1)]
    values = (right.mean(), np.mean(by_class), auc(scores, y > 0.0))
    return dict(zip(("accuracy", "balanced", "auc"), (100.0 * float(v) for v in values)))


def _fit(method, v, X, y, quick):
    """The kernel of stage 1, from the labels; its parts are those of the clusters."""
    short = method.removeprefix("hyper-").removesuffix(LADDER)
    hyper = gaussian_hyper(None if method.endswith(LADDER) else MULTIPLE)
    pairs, rank = (1_000, 30) if quick else (PAIRS // v, RANK)
    model = regressor(short, hyper, STRENGTHS[short], EPSILON, pairs=pairs, rank=rank)
    return model.set_params(decomposition=v).fit(X, y).kernel_


def measure(quick=False):
    """Accuracy, balanced accuracy, AUC and seconds of one processor, by clusters and method.

    Returns
    -------
    dict
        By number of clusters (as text), then method; also "n", "majority" and "counts".
    """
    if not quick:
        measure(quick=True)  # so that compilation is not in the seconds
    X, y = load("ijcnn1_train")
    train, test = parts(y, (1, 1), 0)
    if quick:
        train, test = train[::20], test[::20]
    X, X_test, y, y_test = X[train], X[test], y[train], y[test]
    majority = 100.0 * float(max(np.mean(y_test == -1), np.mean(y_test == 1)))
    counts, found = {}, {"n": [len(X), len(X_test)], "majority": majority, "counts": {}}
    scale = Gaussian().resolve(X)
    with unconverged(counts):
        for v in CLUSTERS[:1] if quick else CLUSTERS:
            found[str(v)], centers = {}, None
            for method in METHODS:
                start = process_time()
                if method == GAUSSIAN:
                    kernels = [scale] * len(centers)
                else:
                    learned = _fit(method, v, X, y, quick)
                    centers, kernels = learned.centers, learned.kernels
                stage_1 = process_time() - start
                own, new = nearest(X, centers)[0], nearest(X_test, centers)[0]
                scores, rng = np.empty(len(X_test)), np.random.default_rng(v)
                for c, kernel in enumerate(kernels):
                    rows, there = np.flatnonzero(own == c), np.flatnonzero(new == c)
                    scores[there] = decisions(kernel, X, y, rows, X_test[there], rng)
                row = _judged(scores, y_test)
                row |= {"stage 1": stage_1, "seconds": process_time() - start}
                found[str(v)][method] = row
    found["counts"] = counts
    return found
