#!/usr/bin/env python
"""Clusters of samples with several tables: of each table, all columns, and combinations.

    scripts/bench/bench_clusters.py               # four minutes of a slow core

A Gaussian (``gamma="scale"``) on each table. "kernel k-means" is k-means on all coordinates of the
kernel's feature space, "kernel PCA" on the first of them, as many as there are clusters. Numbers
are adjusted Rand indices with the classes, which no combination sees: means of five runs of
k-means, each the best of five starts.

digits      1000 samples, the four quadrants of the images
and noise   the same and three more tables: quadrants whose rows are in random orders
breast      569 samples, standardized: means, errors and worst values of ten measurements
"""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import alignlearn as al

RULES = ("uniform", "max-entropy", "consensus", "structure")
RUNS = 5


def quadrants():
    digits = load_digits()
    images, labels = digits.images[:1000], digits.target[:1000]
    corners = [(i, j) for i in (0, 4) for j in (0, 4)]
    parts = [images[:, i : i + 4, j : j + 4].reshape(1000, 16) for i, j in corners]
    return {f"quadrant {k}": part for k, part in enumerate(parts)}, labels


def with_noise():
    tables, labels = quadrants()
    rng = np.random.default_rng(0)
    for k in range(3):
        tables[f"noise {k}"] = rng.permutation(tables[f"quadrant {k}"])
    return tables, labels


def breast():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    parts = ("mean", X[:, :10]), ("error", X[:, 10:20]), ("worst", X[:, 20:])
    return dict(parts), y


def indices(K, labels):
    """Adjusted Rand indices of kernel k-means and of k-means after kernel PCA."""
    n = len(np.unique(labels))
    values, vectors = np.linalg.eigh(K)
    Z = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    found = []
    for coordinates in (Z, Z[:, :n]):
        runs = [
            KMeans(n, n_init=5, random_state=seed).fit_predict(coordinates) for seed in range(RUNS)
        ]
        found.append(np.mean([adjusted_rand_score(labels, run) for run in runs]))
    return found


def rows(tables, labels):
    """(name, the two indices, weights) of every way."""
    joined = np.hstack(list(tables.values()))
    single = [
        al.KernelCombiner("rbf", weighting="uniform").fit_transform(X) for X in tables.values()
    ]
    each = np.array([indices(K, labels) for K in single])
    yield "tables, mean", each.mean(axis=0), ""
    yield "tables, best", each.max(axis=0), "(needs the labels)"
    K = al.KernelCombiner("rbf", weighting="uniform").fit_transform(joined)
    yield "all columns", indices(K, labels), ""
    for rule in RULES:
        model = al.KernelCombiner("rbf", weighting=rule)
        K = model.fit_transform(tables)
        yield rule, indices(K, labels), " ".join(f"{w:.2f}" for w in model.weights_)


def main():
    for name, data in (("digits", quadrants), ("and noise", with_noise), ("breast", breast)):
        print(f"{name:14} kernel k-means   kernel PCA   weights of the tables")
        for way, (whole, few), weights in rows(*data()):
            print(f"  {way:14} {whole:12.3f} {few:12.3f}   {weights}", flush=True)


if __name__ == "__main__":
    main()
