"""`rademacher` on every kind of kernels, against enumeration with the matrices in hand."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse
from alignlearn.theory.reference.multitask import all_signs
from refusals import not_refused

import alignlearn as al
from alignlearn.bounds import rademacher as bounds
from alignlearn.estimators import complexity, rademacher
from alignlearn.sources import open_source

KERNELS = [al.Gaussian(0.1), al.Gaussian(1.0), al.Polynomial(degree=2, gamma=0.5), "linear"]


def points(m, d=2, seed=0):
    return np.random.default_rng(seed).standard_normal((m, d))


def enumerated(grams, q):
    """radius 1: the mean of (||u||_q*)^(1/2)/m over all signs."""
    signs = all_signs(len(grams[0]))
    u = np.array([[s @ K @ s for K in grams] for s in signs])
    power = {1.0: np.inf, 2.0: 2.0, np.inf: 1.0}[q]
    return np.sqrt(np.linalg.norm(u, power, axis=1)).mean() / len(grams[0])


def matrices(X):
    return [kernel(X) for kernel in (*KERNELS[:3], al.Linear())]


@pytest.mark.parametrize("q", [1.0, 2.0, np.inf])
def test_exact_for_few_samples(q):
    X = points(7)
    found = rademacher(KERNELS, X, 2.0, q=q)
    assert found.exact
    assert found.standard_error == 0.0
    assert found.value == pytest.approx(2 * enumerated(matrices(X), q))
    assert found.value <= min(found.bounds.values())
    assert (found.n_samples, found.n_kernels) == (7, 4)


def test_given_matrices_features_and_sparse_samples():
    X = points(8, 3)
    grams = matrices(X)
    expected = enumerated(grams, 1.0)
    assert rademacher("precomputed", grams).value == pytest.approx(expected)
    linear = [al.Linear(), al.Columns(al.Linear(), [0, 2]), 3.0 * al.Columns(al.Linear(), [1])]
    outer = [X @ X.T, X[:, [0, 2]] @ X[:, [0, 2]].T, 3 * np.outer(X[:, 1], X[:, 1])]
    rank_one = [np.outer(x, x) for x in X.T]
    for form in (X, scipy.sparse.csr_matrix(X)):
        for kernels, matrix in ((linear, outer), (al.RankOneKernels(), rank_one)):
            found = rademacher(kernels, form)
            assert found.value == pytest.approx(enumerated(matrix, 1.0))
            expected = bounds.class_bounds(bounds.gram_sizes(matrix))["cortes-2010"]
            assert found.bounds["cortes-2010"] == pytest.approx(expected)


def test_random_signs_are_within_their_error_and_repeat():
    X = points(11, seed=1)
    exact = rademacher(KERNELS, X).value
    found = rademacher(KERNELS, X, draws=2000)
    assert not found.exact
    assert abs(found.value - exact) < 4 * found.standard_error
    assert found == rademacher(KERNELS, X, draws=2000)
    assert found != rademacher(KERNELS, X, draws=2000, random_state=1)


def test_statistics_give_the_bounds_for_centered_kernels():
    X = points(40)
    found = rademacher(al.alignment_statistics(X, X[:, 0], KERNELS))
    H = np.eye(40) - 1 / 40
    expected = bounds.class_bounds(bounds.gram_sizes([H @ K @ H for K in matrices(X)]))
    assert np.isnan(found.value)
    assert found.bounds["cortes-2010"] == pytest.approx(expected["cortes-2010"])
    # Rows of the matrices may bound the eigenvalues better than the statistics do.
    assert found.bounds["ours"] >= expected["ours"] * (1 - 1e-12)
    assert "cortes-2010-diagonal" not in found.bounds


def test_blocks_of_rows_give_the_same(monkeypatch):
    X = points(9)
    source = open_source(X, KERNELS)
    signs = all_signs(9)[:40]
    forms, sizes = complexity.sign_forms(source, signs)
    product = source.combine(np.arange(4.0)).times(signs[3])
    monkeypatch.setattr(complexity, "_BLOCK", 20)
    found = complexity.sign_forms(source, signs)
    np.testing.assert_allclose(found[0], forms)
    np.testing.assert_allclose(found[1].eigenvalues, sizes.eigenvalues)
    np.testing.assert_allclose(source.combine(np.arange(4.0)).times(signs[3]), product)


def test_bad_input():
    X = points(6)
    statistics = al.alignment_statistics(X, X[:, 0], KERNELS)
    cases = (
        (partial(rademacher, KERNELS, X, -1.0), "radius"),
        (partial(rademacher, KERNELS, X, q=0.5), "q"),
        (partial(rademacher, KERNELS, X, q=np.nan), "q"),
        (partial(rademacher, KERNELS, X, draws=-1), "draws"),
        (partial(rademacher, KERNELS, X, draws=1.5), "draws"),
        (partial(rademacher, KERNELS, X, random_state="a"), "random_state"),
        (partial(rademacher, [al.TL1(1.0)], X), "positive semi-definite"),
        (partial(rademacher, KERNELS, points(18), draws=0), "n <= 17"),
        (partial(rademacher, KERNELS, None), "X"),
        (partial(rademacher, statistics, X), "X must be None"),
    )
    assert not_refused((f"{call}", call, words) for call, words in cases) == []
