"""Estimators on sparse samples: equal to those on dense samples, for training and prediction."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import alignlearn as al
from alignlearn.validation import SparseRows

KERNELS = [al.Gaussian(0.05), al.Laplacian(0.1), al.Polynomial(0.1, 1.0, 2), "cosine"]
RNG = np.random.default_rng(0)
A = RNG.poisson(0.4, size=(90, 25)) * (1.0 + RNG.random((90, 25)))
NEW = RNG.poisson(0.4, size=(30, 25)) * (1.0 + RNG.random((30, 25)))
Y = A[:, :4] @ [1.0, -1.0, 0.5, 1.0] + 0.1 * RNG.normal(size=90)
LABELS = np.digitize(Y, [0.2, 1.5])

# An estimator, its target, and the largest C of a support vector machine.
MODELS = {
    "svc": (al.MKLClassifier(KERNELS, C=3.0, tol=1e-9), LABELS > 0, 3.0),
    "three classes": (al.MKLClassifier(KERNELS, weighting="align", tol=1e-9), LABELS, 1.0),
    "default kernels": (al.MKLClassifier(weighting="align", tol=1e-9), LABELS > 0, 1.0),
    "linear": (al.MKLClassifier("linear", tol=1e-9), LABELS > 0, 1.0),
    "svc, C": (al.MKLClassifierCV(KERNELS, Cs=[0.1, 1.0], tol=1e-9), LABELS > 0, 1.0),
    "two targets": (al.MKLRegressor(KERNELS, alpha=0.1), np.column_stack([Y, A[:, 5]]), 0.0),
    "svr": (al.MKLRegressor(KERNELS, machine="svr", C=2.0, tol=1e-9), Y, 2.0),
    "ridge, alpha": (al.MKLRegressorCV(KERNELS, alphas=[0.01, 1.0]), Y, 0.0),
    "ridge, folds": (al.MKLRegressorCV(KERNELS, alphas=[0.01, 1.0], cv=3), Y, 0.0),
    "lkrr": (al.MKLRegressor(KERNELS, weighting="lkrr", alpha=0.1), Y, 0.0),
    "gram": (al.KernelCombiner(KERNELS), Y, 0.0),
    "gram, not centered": (al.KernelCombiner(KERNELS, center=False), Y, 0.0),
}


def values(model, X):
    for name in ("decision_function", "predict", "transform"):
        if hasattr(model, name):
            return getattr(model, name)(X)


@pytest.mark.parametrize("case", MODELS)
def test_sparse_and_dense_training_and_test_samples_mix(case):
    model, y, C = MODELS[case]
    form = [sparse.csr_array, sparse.csc_matrix][len(case) % 2]
    dense, thin = clone(model).fit(A, y), clone(model).fit(form(A), y)
    np.testing.assert_allclose(thin.weights_, dense.weights_, rtol=1e-7, atol=1e-9)
    assert thin.alignment_ == pytest.approx(dense.alignment_, rel=1e-10)
    expected = values(dense, NEW)
    slack = 1e-8 * np.abs(expected).max()
    if C > 0.0:
        # Optimality to tol leaves a gap of C m tol in the objective, and |w|^2 / 2 of the distance
        # from the optimum; this holds for both solutions.
        radius = np.sqrt(max(dense.kernel_.diag(S).max() for S in (A, NEW)))
        slack = 2.0 * radius * np.sqrt(2.0 * C * len(A) * model.tol)
        assert slack < 0.01 * np.abs(expected).max()
    for fitted in (dense, thin):
        for new in (NEW, form(NEW)):
            np.testing.assert_allclose(values(fitted, new), expected, rtol=0, atol=slack)


def test_what_is_kept_is_sparse_and_not_the_callers():
    X = sparse.csr_array(A)
    model = al.MKLClassifier(KERNELS, C=1.0).fit(X, LABELS > 0)
    kept = model._predictor.support_samples
    assert isinstance(kept, SparseRows)
    assert len(kept) == model.support_.size < len(A)
    np.testing.assert_array_equal(kept.tocsr().toarray(), A[model.support_])
    combiner = al.KernelCombiner(KERNELS).fit(X, Y)
    expected = model.decision_function(X), combiner.transform(X)
    new = X.copy()
    X.data[:] = 0.0
    np.testing.assert_array_equal(model.decision_function(new), expected[0])
    np.testing.assert_array_equal(combiner.transform(new), expected[1])


def test_the_tag_says_which_kernels_take_sparse_samples():
    taken = (None, "rbf", KERNELS, al.RankOneKernels())
    not_taken = ("precomputed", [al.FromFunction(max), "rbf"], "unknown")
    for kernels in (*taken, *not_taken):
        tags = al.MKLClassifier(kernels).__sklearn_tags__()
        assert tags.input_tags.sparse == any(kernels is one for one in taken)


def test_the_default_fits_a_small_sparse_matrix_like_the_array():
    # Indicators of 3 columns, and 1 column of numbers: the usual output of a ColumnTransformer.
    rng = np.random.default_rng(7)
    levels = rng.integers(0, 8, size=(120, 3))
    X = np.c_[np.eye(8)[levels].reshape(120, -1), rng.normal(size=120)]
    y = levels[:, 0] % 3 + X[:, -1] * (levels[:, 1] > 3)
    how = (al.MKLRegressorCV, y, sparse.csc_matrix), (al.MKLClassifierCV, y > 1, sparse.coo_array)
    for Model, target, form in how:
        dense, thin = (Model(random_state=0).fit(Z, target) for Z in (X, form(X)))
        assert "columns" in set(thin.cv_results_["param_method"])
        for new in (X, form(X)):
            np.testing.assert_allclose(values(thin, new), values(dense, X), rtol=0, atol=1e-9)


def test_the_default_keeps_wide_and_very_sparse_matrices_sparse():
    rng = np.random.default_rng(8)
    wide = rng.normal(size=(60, 501)) * (rng.random((60, 501)) < 0.1)
    thin = np.zeros((60, 100))
    thin[np.arange(60), np.arange(60) % 7] = 1.0 + rng.random(60)
    for X in (wide, thin):
        y = X[:, :5].sum(axis=1)
        model = al.MKLRegressorCV(random_state=0).fit(sparse.csr_array(X), y)
        assert "columns" not in set(model.cv_results_["param_method"])
    # A refit gets rows of the sparse matrix.
    low, high = model.predict_interval(sparse.csr_array(X[:5]), fit=(sparse.csr_array(X), y))
    assert np.all(low < high)
