"""Weights of hyper-kernels by alignment on pairs."""

import numpy as np
import pytest

from alignlearn.hyper import (
    GaussianHyperKernel,
    PairKernel,
    WishartHyperKernel,
    align_hyper_kernels,
    hyper_kernels,
    ideal_kernel,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(9, 2))
D = np.square(X[:, None] - X).sum(axis=2)
LADDER = hyper_kernels([0.1, 1.0, 10.0], 8.0, unit=2.0)


def centered(K):
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


def test_weights_are_those_of_alignment_between_pairs():
    """Against the matrices of all pairs, formed and centered."""
    K = np.exp(-0.7 * D)
    i, j = np.triu_indices(9)
    grams = [centered(part(X[i], X[j])) for part in LADDER.parts]
    y = K[i, j] - K[i, j].mean()
    M = np.array([[np.sum(A * B) for B in grams] for A in grams])
    a = np.array([y @ A @ y for A in grams])
    found = align_hyper_kernels(LADDER, X, K)
    expected = np.zeros(3)
    for part, weight in zip(found.parts, found.weights):
        expected[LADDER.parts.index(part)] = weight
    assert sum(found.weights) == pytest.approx(1.0)
    # The largest alignment over weights >= 0: no other direction is better.
    best = (a @ expected) / np.sqrt(expected @ M @ expected)
    for other in RNG.exponential(size=(300, 3)):
        assert (a @ other) / np.sqrt(other @ M @ other) <= best * (1.0 + 1e-9)


def test_labels_drawn_pairs_and_unknown_ones():
    y = X[:, 0] > 0.0
    labels = align_hyper_kernels(LADDER, X, y)
    assert labels == align_hyper_kernels(LADDER, X, ideal_kernel(y))
    drawn = align_hyper_kernels(LADDER, X, y, max_pairs=20, random_state=3)
    assert drawn == align_hyper_kernels(LADDER, X, y, max_pairs=20, random_state=3)
    assert drawn != labels


@pytest.mark.parametrize("hyper", [LADDER + WishartHyperKernel(1.5, 4.0), GaussianHyperKernel()])
def test_pairs_as_samples(hyper):
    pairs = RNG.normal(size=(7, 4))
    kernel = PairKernel(hyper)
    values = kernel(pairs)
    expected = hyper.resolve(np.concatenate(np.split(pairs, 2, axis=1)))
    np.testing.assert_allclose(values, expected(pairs[:, :2], pairs[:, 2:]), rtol=1e-12)
    turned = np.concatenate([pairs[:, 2:], pairs[:, :2]], axis=1)
    resolved = kernel.resolve(pairs)
    np.testing.assert_allclose(resolved(turned, pairs), values, rtol=1e-12)
