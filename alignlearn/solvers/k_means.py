"""Clusters of points: k-means++ and Lloyd's iteration.

Sources: Arthur and Vassilvitskii (2007), "k-means++: the advantages of careful seeding"; Lloyd
(1982), "Least squares quantization in PCM".
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

_BLOCK = 2**14  # points whose distances are in memory at once
_DIFFERENCES = 1e8  # coordinates per block: 0.1 s


def nearest(X, centers):
    """Number of the nearest center of each row of X (n, d), (n,) intp, and squared distances."""
    labels, squares = np.empty(len(X), dtype=np.intp), np.empty(len(X))
    block = int(np.clip(_DIFFERENCES / max(centers.size, 1), 1, _BLOCK))
    for i in range(0, len(X), block):
        D = cdist(X[i : i + block], centers, "sqeuclidean")
        labels[i : i + block] = D.argmin(axis=1)
        squares[i : i + block] = D.min(axis=1)
    return labels, squares


def k_means(X, n_clusters, rng, max_iter=100):
    """Centers (k, d) and the number of the nearest one for each point, (n,) intp.

    k is ``n_clusters``, or the number of distinct points if that is smaller; no cluster is empty.
    The iteration stops when no point changes its cluster, at a local minimum of the sum of squared
    distances, or after ``max_iter`` steps.

    Parameters
    ----------
    X : ndarray of shape (n, d), float64
    n_clusters : int
    rng : numpy.random.Generator
    max_iter : int
    """
    centers = X[spread(X, n_clusters, rng)]
    labels, _ = nearest(X, centers)
    for _ in range(max_iter):
        used, labels = np.unique(labels, return_inverse=True)
        counts = np.bincount(labels)
        sums = np.stack([np.bincount(labels, weights=column) for column in X.T], axis=1)
        centers, before = sums / counts[:, None], labels
        labels, _ = nearest(X, centers)
        if np.array_equal(labels, before):
            break
    used, labels = np.unique(labels, return_inverse=True)
    return centers[used], labels


def spread(X, n, rng):
    """Indices of up to n distinct points, drawn by squared distance to earlier ones.

    There are fewer if there are fewer distinct points. Parameters as in `k_means`.
    """
    chosen = [int(rng.integers(len(X)))]
    left = nearest(X, X[chosen])[1]
    while len(chosen) < n and left.max() > 0.0:
        chosen.append(int(rng.choice(len(X), p=left / left.sum())))
        left = np.minimum(left, nearest(X, X[chosen[-1:]])[1])
    return np.array(chosen)
