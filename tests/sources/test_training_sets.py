"""All training sets of a cross-validation in one pass, against one pass for each."""

import numpy as np
import pytest
from scipy import sparse

import alignlearn as al


def problem(m, classes=None):
    rng = np.random.default_rng(m)
    X = rng.standard_normal((m, 4))
    y = np.sin(X[:, 0]) + rng.standard_normal(m) + 5.0
    if classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes)).astype(str)
    return X, y, rng.permutation(np.arange(m) % 5)


def assert_same(found, X, y, kernels, folds, task="auto"):
    labels = np.unique(folds)
    assert len(found) == len(labels)
    for label, got in zip(labels, found):
        keep = folds != label
        rows = X[keep] if hasattr(X, "shape") else [x for x, k in zip(X, keep) if k]
        want = al.alignment_statistics(rows, y[keep], kernels, task=task)
        scale = np.sqrt(np.outer(np.diag(want.M), np.diag(want.M)))
        np.testing.assert_allclose(got.M / scale, want.M / scale, atol=1e-10)
        np.testing.assert_allclose(got.a, want.a, rtol=1e-9, atol=1e-10 * want.a.max())
        np.testing.assert_allclose(got.trace, want.trace, rtol=1e-10)
        np.testing.assert_allclose(got.target_norm, want.target_norm, rtol=1e-10)
        assert got.n_samples == want.n_samples
        assert got.names == want.names


@pytest.mark.parametrize("m", [23, 150, 700])
@pytest.mark.parametrize("classes", [None, 2, 3])
def test_equals_one_pass_a_training_set(m, classes):
    X, y, folds = problem(m, classes)
    kernels = [
        *al.gaussian_kernels([1e-6, 0.1, 0.2, 1e6]),
        al.Polynomial(0.5),
        al.Linear(),
        al.Columns(al.TL1(2.0), [1, 3]),
    ]
    assert_same(al.alignment_statistics(X, y, kernels, folds=folds), X, y, kernels, folds)


def test_given_matrices_and_functions():
    X, y, folds = problem(90)
    grams = [al.Gaussian(g)(X) for g in (0.1, 1.0)]
    found = al.alignment_statistics(grams, y, "precomputed", folds=folds)
    for t, got in enumerate(found):
        keep = np.flatnonzero(folds != t)
        part = [K[np.ix_(keep, keep)] for K in grams]
        want = al.alignment_statistics(part, y[keep], "precomputed")
        np.testing.assert_allclose(got.M, want.M, rtol=1e-10)
        np.testing.assert_allclose(got.a, want.a, rtol=1e-10)
    words = ["x" * (i % 7) + "y" * (i % 3) for i in range(90)]
    kernels = [al.FromFunction(lambda u, v: float(min(len(u), len(v))))]
    assert_same(al.alignment_statistics(words, y, kernels, folds=folds), words, y, kernels, folds)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_features(kind):
    _, y, folds = problem(80)
    X = sparse.random(80, 12, 0.3, format="csr", random_state=np.random.default_rng(0))
    X = X.toarray() if kind == "dense" else X
    kernels = al.RankOneKernels()
    assert_same(al.alignment_statistics(X, y, kernels, folds=folds), X, y, kernels, folds)


def test_bad_folds():
    X, y, folds = problem(30)
    kernels = [al.Gaussian(0.3)]
    with pytest.raises(ValueError, match=r"folds must hold one label per sample, shape \(30,\)"):
        al.alignment_statistics(X, y, kernels, folds=folds[:-1])
    with pytest.raises(ValueError, match="unbiased=True needs at least 4 samples, got 3"):
        al.alignment_statistics(X[:5], y[:5], kernels, folds=[0, 0, 1, 1, 2], unbiased=True)


def test_unbiased_statistics_of_training_sets_are_those_of_their_samples():
    X, y, folds = problem(60)
    for kernels in ([al.Gaussian(0.3), al.Linear()], ["linear"], al.RankOneKernels()):
        found = al.alignment_statistics(X, y, kernels, folds=folds, unbiased=True)
        for t, statistics in enumerate(found):
            kept = folds != np.unique(folds)[t]
            alone = al.alignment_statistics(X[kept], y[kept], kernels, unbiased=True)
            assert statistics.target_norm == pytest.approx(alone.target_norm)
            for name in ("a", "M", "trace"):
                expected = getattr(alone, name)
                size = np.abs(expected).max()
                np.testing.assert_allclose(getattr(statistics, name), expected, atol=1e-11 * size)
