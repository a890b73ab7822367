"""Clusters: the conditions of a local minimum, well separated ones, and repeated points."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from alignlearn.solvers.k_means import k_means, nearest


@given(st.integers(0, 999), st.integers(1, 6))
def test_centers_are_means_and_labels_are_nearest(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    centers, labels = k_means(X, n, rng)
    assert len(centers) == n
    np.testing.assert_array_equal(labels, nearest(X, centers)[0])
    for c, center in enumerate(centers):
        np.testing.assert_allclose(X[labels == c].mean(axis=0), center, atol=1e-12)


def test_separate_clusters_are_found():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 3)) + 100.0 * np.eye(3)[truth]
    _, labels = k_means(X, 3, rng)
    assert len(set(zip(truth, labels))) == 3


def test_fewer_distinct_points_than_clusters():
    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    centers, labels = k_means(X, 4, np.random.default_rng(0))
    assert sorted(centers.ravel()) == [0.0, 1.0]
    assert np.bincount(labels).tolist() == [5, 5]
