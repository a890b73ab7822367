"""Scales of columns in differences, learned from known similarities."""

import numpy as np
import pytest
from scipy.optimize import nnls

from alignlearn.hyper import HyperKRRCV, difference_scales, hyper_kernels

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
K = np.exp(-np.square((X[:, None] - X)[..., :2] * [2.0, 0.5]).sum(axis=2))


def test_weights_are_those_of_a_non_negative_ridge():
    i, j = np.triu_indices(30, 1)
    D = np.square(X[i] - X[j])
    unit = D / D.mean(axis=0).mean()
    centered, target = D.mean(axis=0) / D.mean() - unit, K[i, j] - K[i, j].mean()
    total = centered.sum(axis=1)
    equal, root = total @ target / (total @ total), np.sqrt(0.01 * len(D))
    A = np.vstack([centered, root * np.eye(4)])
    weights, _ = nnls(A, np.append(target, root * np.full(4, equal)))
    weights = np.maximum(weights, 0.01 * weights.mean())
    found = difference_scales(X, K)
    np.testing.assert_allclose(found / found[0], np.sqrt(weights / weights[0]), rtol=1e-8)
    lengths = [(D * s**2).sum(axis=1).mean() for s in (found, 1.0)]
    assert lengths[0] == pytest.approx(lengths[1])


def test_columns_that_matter_are_found_and_units_of_k_do_not_matter():
    found = difference_scales(X, K)
    assert found[0] > 1.2 * found[1] > 2.0 * found[2:].max()
    np.testing.assert_allclose(difference_scales(X, 5.0 * K + 1.0), found, rtol=1e-7)
    np.testing.assert_allclose(difference_scales(3.0 * X, K), found, rtol=1e-7)
    assert np.ptp(difference_scales(X, K, shrink=1e5)) < 1e-3
    np.testing.assert_array_equal(difference_scales(X, np.ones((30, 30))), 1.0)
    np.testing.assert_array_equal(difference_scales(np.ones((3, 2)), np.eye(3)), 1.0)


def test_the_ladder_with_scales_learns_with_fewer_points():
    new = np.random.default_rng(1).normal(size=(25, 4))
    expected = np.exp(-np.square((new[:, None] - new)[..., :2] * [2.0, 0.5]).sum(axis=2))
    errors = []
    for scales in (None, difference_scales(X, K)):
        found = HyperKRRCV(hyper_kernels(reach=64.0, scales=scales)).fit(X, K).predict(new)
        errors.append(np.sqrt(np.square(found - expected).mean()))
    assert errors[1] < 0.7 * errors[0]
