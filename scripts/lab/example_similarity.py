#!/usr/bin/env python3
"""Learn a similarity from a few judgments, and use it on new points.

For 5% of the pairs among 600 images of digits (scikit-learn's) it is known whether they show the
same digit; no digit is labeled. A kernel is learned from these judgments in the space of one
Gaussian hyper-kernel, of a ladder of them, and of the ladder with a scale for each column of the
differences, learned from the same judgments. Reach and alpha are fixed: they were chosen on the new
images of the first draw, so only the other draws confirm them. The kernel then compares new images
with the judged ones:

- as a similarity: how often a pair of the same digit is ahead of a pair of different ones (AUC);
- as neighbors: the digit of the most similar of n named images per class;
- in a support vector machine that is trained on those alone (Krein, since the kernel may be
  indefinite).

The baselines are the best Gaussian (its width and C are the best on the test images, which favors
it) and the same after metric scaling alone: coordinates in which the differences of pairs judged as
equal are uncorrelated and of equal size (relevant component analysis, Bar-Hillel et al. 2005), its
ridge chosen on the held-out judgments.

The numbers of the page (`of_page`) are from its own code, with one Gaussian hyper-kernel set by
hand and with `HyperKRRCV`.

usage: scripts/lab/example_similarity.py [--quick] [--write] [--out FOLDER] [--repeats N]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reproduce"))
from _studies import publish
from shared import Output, arguments, new_figure, run, spread

from alignlearn import Gaussian
from alignlearn.hyper import (
    GaussianHyperKernel,
    HyperKRR,
    HyperKRRCV,
    difference_scales,
    hyper_kernels,
)
from alignlearn.machines import KreinSVC

IMAGES, SHARE, HELD_OUT = 600, 0.05, 0.2  # images judged, and as many new ones; shares of pairs
NAMED = (1, 3, 10)  # images per class
REACH, ALPHA = 0.12, 0.01
RIDGES = (0.01, 0.1, 1.0)
CS, GAMMAS = (1.0, 10.0, 100.0), (0.5, 1.0, 2.0, 4.0)
MEASURES = ("AUC", *(f"{kind} {n}" for n in NAMED for kind in ("nearest", "machine")))
METHODS = (
    "best Gaussian",
    "metric scaling + Gaussian",
    "learned, one hyper-kernel",
    "learned, ladder",
    "learned, ladder, column scales",
)
COLORS = ("#555555", "#E69F00", "#56B4E9", "#0072B2", "#009E73")


def auc(scores, same):
    """Probability that a pair of the same kind scores above another pair; ties count half."""
    return roc_auc_score(np.ravel(same), np.ravel(scores))


def judgments(labels, rng):
    """Judged pairs (i, j), i < j, whether each is the same digit, and which are held out."""
    i, j = np.triu_indices(len(labels), 1)
    known = np.flatnonzero(rng.random(i.size) < SHARE)
    i, j = i[known], j[known]
    return i, j, labels[i] == labels[j], rng.random(i.size) < HELD_OUT


def similarity_matrix(n, i, j, same):
    """1 and 0 for the pairs that were judged, NaN for the others, 1 on the diagonal."""
    K = np.full((n, n), np.nan)
    K[i, j] = same
    np.fill_diagonal(K, 1.0)
    return K


def learn(hyper, X, i, j, same):
    """The kernel that ridge regression learns from all judgments."""
    K = similarity_matrix(len(X), i, j, same)
    return HyperKRR(hyper, ALPHA, solver="dense").fit(X, K).kernel_


def hyper_candidates(X, i, j, same):
    """The hyper-kernel of each learned method, scaled to the data."""
    scales = difference_scales(X, similarity_matrix(len(X), i, j, same))
    return (
        GaussianHyperKernel(width=0.5, reach=0.75),
        hyper_kernels(reach=REACH),
        hyper_kernels(reach=REACH, scales=scales),
    )


def rescale(X, i, j, same, held):
    """A linear map from relevant component analysis."""

    def find(ridge, some):
        difference = X[i[some & same]] - X[j[some & same]]
        covariance = difference.T @ difference / len(difference)
        covariance.flat[:: len(covariance) + 1] += ridge * np.trace(covariance) / len(covariance)
        values, vectors = np.linalg.eigh(covariance)
        return vectors / np.sqrt(values)

    def score(ridge):
        Z = X @ find(ridge, ~held)
        return auc(-np.square(Z[i[held]] - Z[j[held]]).sum(axis=1), same[held])

    return find(max(RIDGES, key=score), np.ones(i.size, dtype=bool))


def machine_accuracy(K, K_test, y, y_test, named):
    """Best accuracy over C of a model trained on the labeled images."""
    K, K_test = K[np.ix_(named, named)], K_test[:, named]
    return max(np.mean(KreinSVC(C).fit(K, y[named]).predict(K_test) == y_test) for C in CS)


def evaluate(similarity, grams, y, y_test, draws):
    """The measures: AUC, then neighbors and model for each number of labeled images per class."""
    row = [auc(similarity, y_test[:, None] == y)]
    for number in NAMED:
        neighbors, machines = [], []
        for rng in draws:
            named = np.concatenate(
                [rng.choice(np.flatnonzero(y == c), number, replace=False) for c in np.unique(y)]
            )
            nearest = named[similarity[:, named].argmax(axis=1)]
            neighbors.append(np.mean(y[nearest] == y_test))
            machines.append([machine_accuracy(*K, y, y_test, named) for K in grams])
        row += [np.mean(neighbors), np.mean(machines, axis=0).max()]
    return row


def gaussians(Z, Z_test):
    """Gram matrices of Gaussians of several widths, of the judged images and of the new ones."""
    own, between = cdist(Z, Z, "sqeuclidean"), cdist(Z_test, Z, "sqeuclidean")
    unit = 1.0 / (Z.shape[1] * Z.var())
    return -between, [(np.exp(-g * unit * own), np.exp(-g * unit * between)) for g in GAMMAS]


def trial(X, labels, seed, quick):
    """One draw of images and judgments: measures for each method, and the learned kernels."""
    rng = np.random.default_rng(seed)
    n = IMAGES // 2 if quick else IMAGES
    judged, new = rng.permutation(len(X))[: 2 * n].reshape(2, n)
    Z, Z_test, y, y_test = X[judged], X[new], labels[judged], labels[new]
    pairs = judgments(y, rng)
    scaled = rescale(Z, *pairs)
    inputs, ranges = [gaussians(Z, Z_test), gaussians(Z @ scaled, Z_test @ scaled)], []
    for hyper in hyper_candidates(Z, *pairs[:3]):
        kernel = learn(hyper, Z, *pairs[:3])
        between = kernel(Z_test, Z)
        inputs.append((between, [(kernel(Z), between)]))
        ranges.append(kernel.eigenvalue_range(Z))
    rows = [
        evaluate(*given, y, y_test, [np.random.default_rng((seed, t)) for t in range(3)])
        for given in inputs
    ]
    return rows, ranges, n, pairs[0].size


def draw(values):
    """Mean and standard deviation of each measure, a group for each, a color for each method."""
    return draw_means(100 * values.mean(axis=2), 100 * values.std(axis=2))


def draw_means(means, deviations):
    """The figure of means and standard deviations (methods, measures), in percent."""
    figure, axes = new_figure(1, 1, (8.5, 4.2))
    ax, places = axes[0, 0], np.arange(len(MEASURES))
    for k, (method, color) in enumerate(zip(METHODS, COLORS)):
        options = {"color": color, "label": method, "fmt": "oDs^v"[k], "ms": 5, "capsize": 2}
        ax.errorbar(places + 0.15 * (k - 2), means[k], deviations[k], **options)
    words = {"nearest": "1-NN", "machine": "SVM"}
    split = [name.partition(" ") for name in MEASURES[1:]]
    ticks = ["AUC", *(f"{words[kind]}\n{n} per class" for kind, _, n in split)]
    ax.set_xticks(places, ticks, fontsize=9)
    ax.grid(axis="y", alpha=0.3)
    ax.set_xlabel("AUC of pairs, and accuracy by the number of labeled images")
    ax.set_ylabel("AUC or accuracy (%)")
    ax.set_title("Similarity of digits learned from 5% of the pairs, new images", loc="left")
    ax.legend(loc="lower right", frameon=False, fontsize=9)
    return figure


def main(argv=None):
    """Print the table and draw the figure."""
    args = arguments(__doc__, argv, 5, published=True)  # draws of images and judgments
    out = Output("similarity", args, kind="example")
    digits = load_digits()
    X, labels = digits.data / 16.0, digits.target
    repeats = args.repeats
    trials = [trial(X, labels, seed, args.quick) for seed in range(repeats)]
    values = np.array([found[0] for found in trials]).transpose(1, 2, 0)
    out.say(
        f"{trials[0][3]} judgments of {trials[0][2]} images ({SHARE:.0%} of the pairs), as many "
        f"new images, {repeats} draws.",
        "Percent, mean and standard deviation over the draws; n labeled images per class.",
        "",
    )
    rows = [
        (method, *(spread(100 * v.mean(), 100 * v.std(), 1) for v in row))
        for method, row in zip(METHODS, values)
    ]
    out.table(("", *MEASURES), rows)
    out.say("")
    for seed, (_, ranges, *_) in enumerate(trials):
        shown = ", ".join(f"{low:.1f} to {high:.1f}" for low, high in ranges)
        out.say(f"draw {seed}: eigenvalues of the learned matrices {shown}")
    out.write(draw(values))
    found = {"auc-ladder": values[3, 0].mean()} | (of_page() if args.write else {})
    nearest = {"nearest-ladder": values[3, 1].mean(), "nearest-gaussian": values[0, 1].mean()}
    shares = {name: f"{value:.0%}" for name, value in nearest.items()}
    publish(args, "similarity", {name: f"{value:.3f}" for name, value in found.items()} | shares)
    return values.mean(axis=2)


def of_page():
    """AUC of the code of docs/guide/similarity.md on new images."""
    X, labels = load_digits(return_X_y=True)
    found = {}
    for n in (300, 600):
        X_judged, new, y, y_new = X[:n] / 16, X[600:900] / 16, labels[:n], labels[600:900]
        i, j = np.triu_indices(n, 1)
        judged = np.random.default_rng(0).random(i.size) < SHARE
        i, j = i[judged], j[judged]
        K, same = similarity_matrix(n, i, j, y[i] == y[j]), y_new[:, None] == y
        by_hand = GaussianHyperKernel(sigma2=4.5, sigma_h2=2.2)
        model = HyperKRR(by_hand, alpha=0.01, max_rank=500 if n == 300 else 1000)
        kernels = {"auc-by-hand" if n == 300 else "auc-learned": model.fit(X_judged, K).kernel_}
        if n == 600:
            kernels["auc-gaussian"] = Gaussian(0.1)
        for name, rank in (("auc-tuned", 1500), ("auc-truncated", 300))[: 2 * (n == 300)]:
            search = HyperKRRCV(left_out="pairs", max_rank=rank, rank_tol=1e-3)
            kernels[name] = search.fit(X_judged, K).kernel_
        found |= {name: auc(kernel(new, X_judged), same) for name, kernel in kernels.items()}
    return found


if __name__ == "__main__":
    run(main)
