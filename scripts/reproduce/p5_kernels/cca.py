#!/usr/bin/env python3
"""KCCA finds planted dependence as N increases; CKA of two networks trained on digits.

Two angles that differ by normal noise of standard deviation s: the largest correlation of a
function of one with a function of the other is exp(-s^2 / 2), that of their cosines and sines,
while the angles themselves, one of them shifted, are almost uncorrelated. For two networks with the
same layers and different random starts, CKA measures the similarity of their layers.

usage: scripts/reproduce/p5_kernels/cca.py [--quick] [--repeats N] [--out FOLDER]
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

import alignlearn as al
from alignlearn.dependence import plot_cka

NOISE = 0.5
EXACT = float(np.exp(-(NOISE**2) / 2.0))
SHIFT = np.pi * (3.0 - np.sqrt(3.0)) / 3.0  # where the angles without noise are uncorrelated
SIZES = (25, 50, 100, 200, 400, 800, 1600, 3200)
CURVES = (25, 200, 3200)
HELD_OUT = 5000
BATCH = 100  # samples of a mini-batch
BLUE, ORANGE, GREEN, GRAY = "#0072B2", "#E69F00", "#009E73", "#777777"


# Planted dependence


def angles(N, rng):
    """Two views, (N, 1) each: an angle, and the same with noise and a shift, in [0, 2 pi)."""
    first = rng.uniform(0.0, 2.0 * np.pi, N)
    second = np.mod(first + SHIFT + NOISE * rng.normal(size=N), 2.0 * np.pi)
    return first[:, None], second[:, None]


def kappa(N):
    """Falls to 0, and N^(1/3) times it rises (Fukumizu, Bach and Gretton 2007, theorem 1)."""
    return 0.01 * N**-0.25


def measure_kcca(sizes=SIZES, repeats=20, seed=0):
    """The results of KCCA for samples of increasing size.

    Returns
    -------
    dict of ndarrays (n_sizes, repeats)
        "dependent" and "independent": the regularized correlation on the sample, of the views and
        with the second one permuted. "new": the correlation of the components on new samples.
        "linear": the absolute correlation of the angles. "found": the share of the variance of the
        first component on new samples that the cosine and the sine of the angle explain.
    """
    names = ("dependent", "independent", "new", "linear", "found")
    out = {name: np.zeros((len(sizes), repeats)) for name in names}
    for i, N in enumerate(sizes):
        for r in range(repeats):
            rng = np.random.default_rng([seed, N, r])
            X, Y = angles(N, rng)
            held_out = angles(HELD_OUT, rng)
            model = al.KernelCCA(kernels=al.Gaussian(1.0), kappa=kappa(N)).fit(X, Y)
            out["dependent"][i, r] = model.dependence_
            out["new"][i, r] = model.score(*held_out)
            out["found"][i, r] = explained(model.transform(held_out[0])[:, 0], held_out[0])
            out["linear"][i, r] = abs(np.corrcoef(X.T, Y.T)[0, 1])
            shuffled = Y[rng.permutation(N)]
            out["independent"][i, r] = model.fit(X, shuffled).dependence_
    return out


def explained(values, angle):
    """Share of the variance of some values that a constant, cosine and sine explain."""
    basis = np.column_stack([np.ones(len(angle)), np.cos(angle), np.sin(angle)])
    rest = values - basis @ np.linalg.lstsq(basis, values, rcond=None)[0]
    return 1.0 - rest.var() / values.var()


def draw_kcca(ax, sizes, found):
    """Correlations against N: medians, and the range of the middle 80% of the repeats."""
    looks = {
        "new": ("new samples", BLUE, "o"),
        "dependent": ("training samples", GREEN, "s"),
        "independent": ("independent views", ORANGE, "^"),
        "linear": ("linear correlation", GRAY, "v"),
    }
    for name, (label, color, marker) in looks.items():
        low, middle, high = np.quantile(found[name], (0.1, 0.5, 0.9), axis=1)
        ax.fill_between(sizes, low, high, color=color, alpha=0.15, linewidth=0)
        ax.plot(sizes, middle, marker=marker, color=color, label=label, markersize=5)
    ax.axhline(
        EXACT, color="black", linestyle="--", linewidth=1.2, label=f"population: {EXACT:.3f}"
    )
    ax.set_xscale("log")
    ax.set_xticks(sizes, [str(N) for N in sizes], rotation=45)
    ax.minorticks_off()
    ax.set(xlabel="training samples N", ylabel="correlation", ylim=(0.0, 1.02))
    ax.set_title("Correlation found by kernel CCA", fontsize=11, loc="left")
    ax.legend(fontsize=8.5, frameon=False, loc="upper right", bbox_to_anchor=(1.02, 0.85))


def draw_functions(ax, sizes=CURVES, seed=0):
    """First components of single samples, turned to the phase that fits them, and the cosine."""
    grid = np.linspace(0.0, 2.0 * np.pi, 400)[:, None]
    angle = grid[:, 0]
    for N, color, style in zip(sizes, (ORANGE, GREEN, BLUE), (":", "--", "-")):
        X, Y = angles(N, np.random.default_rng([seed, N, 0]))
        model = al.KernelCCA(kernels=al.Gaussian(1.0), kappa=kappa(N)).fit(X, Y)
        values = model.transform(grid)[:, 0]
        values = (values - values.mean()) / values.std()
        phase = np.arctan2(values @ np.sin(angle), values @ np.cos(angle))
        turned = np.mod(angle - phase + np.pi, 2.0 * np.pi) - np.pi
        values[turned.argmin()] = np.nan  # no line from one end to the other
        ax.plot(turned, values, style, color=color, label=f"N = {N}", linewidth=1.8)
    ax.plot(angle - np.pi, np.sqrt(2.0) * np.cos(angle - np.pi), "k--", lw=1.0, label="cosine")
    ax.set(xlabel="angle minus phase (rad)", ylabel="value, scaled to variance 1")
    ax.set_title("First function that kernel CCA finds", fontsize=11, loc="left")
    ax.legend(fontsize=8.5, frameon=False)


# Representations


def networks(n_samples, epochs, seeds=(0, 1)):
    """Pixels and layers of two networks on digits they were not trained on; names, accuracies."""
    from sklearn.datasets import load_digits
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[n_samples:], order[:n_samples]
    found, accuracies = [], []
    for seed in seeds:
        network = MLPClassifier((64, 64, 64, 64), max_iter=epochs, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            network.fit(X[train], y[train])
        accuracies.append(network.score(X[test], y[test]))
        layers = [X[test]]
        for W, b in zip(network.coefs_, network.intercepts_):
            layers.append(np.maximum(layers[-1] @ W + b, 0.0))
        layers[-1] = layers[-2] @ network.coefs_[-1] + network.intercepts_[-1]
        found.append(layers)
    names = ["pixels", *(f"layer {k}" for k in range(1, 5)), "outputs"]
    return *found, names, accuracies


def measure_cka(n_samples=600, epochs=60):
    """CKA between the layers of two networks: of all samples, and from mini-batches.

    Returns
    -------
    dict
        "all" and "batches": matrices (6, 6); "biased": that of all samples; "names"; "accuracy".
    """
    first, second, names, accuracy = networks(n_samples, epochs)
    sums = al.CKAAccumulator()
    for i in range(0, n_samples - BATCH + 1, BATCH):
        some = slice(i, i + BATCH)
        sums.update([F[some] for F in first], [F[some] for F in second])
    return {
        "all": al.cka_matrix(first, second, unbiased=True),
        "biased": al.cka_matrix(first, second),
        "batches": sums.matrix(),
        "names": names,
        "accuracy": accuracy,
    }


def paired(values):
    """The number of layers of the first network most similar to the same layer of the second."""
    return int(np.sum(values.argmax(axis=1) == np.arange(len(values))))


def draw_cka(ax, found):
    """The heat map of the unbiased values of all samples."""
    ax.grid(False)
    plot_cka(found["all"], names=found["names"], ax=ax).set_aspect("auto")
    ax.set(xlabel="second network", ylabel="first network")
    ax.set_title("CKA of two networks on digits", fontsize=11, loc="left")


def draw(sizes, kcca, curves, cka):
    """Kernel CCA in the upper row, CKA below."""
    figure, axes = shared.new_figure(2, 2, (8.0, 7.4))
    draw_kcca(axes[0, 0], sizes, kcca)
    draw_functions(axes[0, 1], curves)
    grid = axes[1, 0].get_gridspec()
    for ax in axes[1]:
        ax.remove()
    draw_cka(figure.add_subplot(grid[1, :]), cka)
    return figure


# The report


def report(out, sizes, kcca, cka):
    """Tables of both."""
    out.say(
        f"Two angles, noise {NOISE:g}: the largest correlation of two functions is {EXACT:.4f}.",
        "Gaussian kernels of gamma 1, kappa = 0.01 N^(-1/4). Means over the repeats.",
    )
    header = ("N", "new samples", "on the sample", "independent", "linear", "share of cos, sin")
    columns = ("new", "dependent", "independent", "linear", "found")
    out.table(
        header, [(N, *(f"{kcca[c][i].mean():.3f}" for c in columns)) for i, N in enumerate(sizes)]
    )
    values, batches = cka["all"], cka["batches"]
    accuracies = ", ".join(f"{a:.3f}" for a in cka["accuracy"])
    out.say(
        "",
        f"Two networks on digits, accuracy {accuracies}: unbiased linear CKA of their layers.",
    )
    out.table(
        ("", *cka["names"]),
        [(name, *(f"{v:.2f}" for v in row)) for name, row in zip(cka["names"], values)],
    )
    out.say(
        f"  {paired(values)} of {len(values)} layers are most similar to that in the same place.",
        f"  Values from mini-batches of {BATCH} differ from these by at most "
        f"{np.abs(batches - values).max():.3f},",
        f"  biased values by at most {np.abs(cka['biased'] - values).max():.3f}.",
    )


def main(argv=None):
    """Measure, print, draw."""
    args = shared.arguments(__doc__, argv, 20)
    sizes, repeats = ((25, 100, 400), 3) if args.quick else (SIZES, args.repeats)
    out = shared.Output("cca", args)
    kcca = measure_kcca(sizes, repeats)
    cka = measure_cka(200, 10) if args.quick else measure_cka()
    report(out, sizes, kcca, cka)
    out.write(draw(sizes, kcca, CURVES[:2] if args.quick else CURVES, cka))
    return kcca, cka


if __name__ == "__main__":
    shared.run(main)
