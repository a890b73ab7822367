"""Kernels learned by ridge, support vector and non-negative regression on pairs."""

import re

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from scipy.optimize import nnls
from sklearn.svm import SVR

from alignlearn.hyper import (
    GaussianHyperKernel,
    HyperKRR,
    HyperKRRCV,
    HyperNNLS,
    HyperSVR,
    WishartHyperKernel,
    hyper_kernels,
    ideal_kernel,
)
from alignlearn.solvers.smo import smo
from alignlearn.validation import ConvergenceWarning, memory

GAUSSIAN, WISHART = GaussianHyperKernel(), WishartHyperKernel()
LADDER = hyper_kernels()  # the default


def problem(seed, m=7, d=3):
    """Samples, a symmetric target, and new samples."""
    rng = np.random.default_rng(seed)
    X, K = rng.normal(size=(m, d)), rng.normal(size=(m, m))
    return X, K + K.T, rng.normal(size=(4, d))


def ordered(hyper, X, U):
    """The hyper-kernel between all ordered pairs of X, and between pairs of U and X and these."""
    i, j = (index.ravel() for index in np.indices((len(X), len(X))))
    s, t = (index.ravel() for index in np.indices((len(U), len(X))))
    return hyper(X[i], X[j]), hyper(U[s], X[t], X[i], X[j])


@given(
    st.integers(0, 999),
    st.sampled_from([GAUSSIAN, LADDER, WISHART]),
    st.sampled_from([1e-3, 0.1, 10.0]),
)
def test_ridge_is_that_of_all_ordered_pairs(seed, hyper, alpha):
    X, K, U = problem(seed)
    hyper = hyper.resolve(X)
    full, test = ordered(hyper, X, U)
    expected = test @ np.linalg.solve(full + alpha * np.eye(len(full)), K.ravel())
    for solver in ("dense", "cg"):
        model = HyperKRR(hyper, alpha, solver=solver, tol=1e-12).fit(X, K)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(
            model.predict(U, X).ravel(), expected, atol=1e-9 * scale / min(alpha, 1.0) ** 0.5
        )
        assert model.residual_ < 1e-11


@given(
    st.integers(0, 999), st.sampled_from([GAUSSIAN, LADDER, WISHART]), st.sampled_from([0.05, 1.0])
)
def test_support_vector_regression_is_that_of_all_ordered_pairs(seed, hyper, C):
    X, K, U = problem(seed)
    hyper = hyper.resolve(X)
    full, test = ordered(hyper, X, U)
    other = SVR(kernel="precomputed", C=C, epsilon=0.1, tol=1e-9).fit(full, K.ravel())
    model = HyperSVR(hyper, C, 0.1, tol=1e-9).fit(X, K)
    np.testing.assert_allclose(model.predict(U, X).ravel(), other.predict(test), atol=1e-4)
    assert model.kkt_violation_ <= 1e-9
    bound = np.full(K.size, C)
    ours = smo(full, -K.ravel(), (-bound, bound), epsilon=0.1, tol=1e-12)
    exact = model.set_params(tol=1e-12).fit(X, K).predict(U, X).ravel()
    np.testing.assert_allclose(test @ ours.coef - ours.multiplier, exact, atol=1e-9)


@given(st.integers(0, 999), st.sampled_from([GAUSSIAN, LADDER, WISHART]))
def test_non_negative_regression_is_that_of_all_ordered_pairs(seed, hyper):
    X, K, U = problem(seed)
    K, hyper = np.abs(K), hyper.resolve(X)
    full, test = ordered(hyper, X, U)
    root = np.linalg.cholesky(full + 1e-13 * np.eye(len(full)))
    rows = np.concatenate([full, 0.3**0.5 * root.T])
    coef, _ = nnls(rows, np.append(K.ravel(), np.zeros(len(full))), maxiter=10_000)
    model = HyperNNLS(hyper, 0.3).fit(X, K)
    np.testing.assert_allclose(model.predict(U, X).ravel(), test @ coef, atol=1e-6)
    assert model.kernel_.is_psd
    assert model.eigenvalue_range_[0] > -1e-10
    assert model.kkt_residual_ < 1e-9
    np.testing.assert_array_equal(HyperNNLS().fit(X, -K).predict(X), 0.0)


@each("model", [HyperKRR(alpha=0.1), HyperSVR(tol=1e-8), HyperNNLS(alpha=0.1)])
@each("solver", ["pivoted", "nystrom"])
def test_all_landmarks_are_exact(model, solver):
    X, K, U = problem(1)
    K = np.abs(K)
    exact = model.set_params(solver="dense").fit(X, K).predict(U)
    near = model.set_params(solver=solver, rank_tol=0.0).fit(X, K).predict(U)
    # The rounding of a pivot of 1e-16 is one of 1e-8 in a feature.
    np.testing.assert_allclose(near, exact, atol=1e-5)
    assert model.rank_ <= model.n_pairs_ == 28
    assert model.trace_error_ < 1e-10


def test_labels_stand_for_their_ideal_kernel():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(12, 2)), np.array(list("abcabcabcabc"))
    K = ideal_kernel(y)
    assert set(np.unique(K)) == {-0.5, 1.0}
    np.testing.assert_allclose(
        HyperKRR().fit(X, y).predict(X), HyperKRR().fit(X, K).predict(X), rtol=1e-12
    )
    binary = np.where(y == "a", -1.0, 1.0)
    np.testing.assert_array_equal(ideal_kernel(y == "a"), np.outer(binary, binary))


def test_unknown_pairs_are_left_out():
    X, K, U = problem(4, m=8)
    rng = np.random.default_rng(4)
    hidden = np.triu(rng.random((8, 8)) < 0.5, 1)
    one_sided, both = K.copy(), K.copy()
    one_sided[hidden] = np.nan
    both[hidden | hidden.T] = np.nan
    # One order of a pair is enough.
    np.testing.assert_allclose(
        HyperKRR().fit(X, one_sided).predict(U), HyperKRR().fit(X, K).predict(U), rtol=1e-10
    )
    hyper = LADDER.resolve(X)
    known = ~np.isnan(both).ravel()
    full, test = ordered(hyper, X, U)
    full, test = full[np.ix_(known, known)], test[:, known]
    expected = test @ np.linalg.solve(full + np.eye(known.sum()), both.ravel()[known])
    for solver in ("dense", "cg"):
        model = HyperKRR(solver=solver, tol=1e-12).fit(X, both)
        assert model.n_pairs_ == 36 - hidden.sum()
        np.testing.assert_allclose(model.predict(U, X).ravel(), expected, atol=1e-9)


@pytest.mark.parametrize("as_labels", [True, False])
def test_drawn_pairs_stand_for_all(as_labels):
    rng = np.random.default_rng(5)
    X = rng.uniform(-1.0, 1.0, size=(40, 2))
    y = X[:, 0] > 0.0
    target = y if as_labels else ideal_kernel(y)
    full = HyperKRR(alpha=5.0).fit(X, target).predict(X)
    model = HyperKRR(alpha=5.0, max_pairs=500, random_state=1).fit(X, target)
    assert model.n_pairs_ == 500
    assert np.corrcoef(model.predict(X).ravel(), full.ravel())[0, 1] > 0.97
    # The sum of squares keeps its size, so alpha keeps its meaning.
    assert 0.9 < np.linalg.norm(model.predict(X)) / np.linalg.norm(full) < 1.1
    again = HyperKRR(alpha=5.0, max_pairs=500, random_state=1).fit(X, target)
    assert again.kernel_ == model.kernel_


def test_a_decomposition_learns_inside_the_clusters():
    rng = np.random.default_rng(6)
    X = np.concatenate([rng.normal(size=(9, 2)), rng.normal(size=(11, 2)) + 40.0])
    y = rng.integers(0, 2, 20)
    hyper = GaussianHyperKernel(1.0, 1.0)
    block = HyperKRR(hyper, 0.1, decomposition=2).fit(X, y)
    assert block.n_pairs_ == 9 * 10 // 2 + 11 * 12 // 2
    values = block.predict(X)
    np.testing.assert_array_equal(values[:9, 9:], 0.0)
    for part in (slice(0, 9), slice(9, 20)):
        alone = HyperKRR(hyper, 0.1).fit(X[part], ideal_kernel(y)[part, part])
        np.testing.assert_allclose(values[part, part], alone.predict(X[part]), atol=1e-10)
    # The clusters are so far apart that they do not interact.
    total = HyperKRR(hyper, 0.1, decomposition=2, cross="sum").fit(X, y)
    np.testing.assert_allclose(total.predict(X), values, atol=1e-10)


NOTHING_OF_2 = np.where(np.add.outer(I4 := np.arange(4) == 2, I4), np.nan, np.eye(4))
BAD = [
    ({}, (np.eye(3), np.triu(np.ones((3, 3)))), "K is not symmetric"),
    ({}, (np.eye(3), np.ones((2, 2))), r"K has shape \(2, 2\) but X has 3 samples"),
    ({}, (np.eye(3), ["a", "a", "a"]), "1 class"),
    ({}, (np.eye(4), NOTHING_OF_2), r"no similarity is known for 1 of 4 samples \(rows 2\)"),
    ({"alpha": 1e-300}, (np.zeros((3, 2)), np.eye(3)), "alpha=1e-300 is below"),
    ({"hyper_kernel": WishartHyperKernel(1.0, 1.5)}, (np.eye(3), np.eye(3)), "r > d - 1 = 2"),
]


@each(("params", "data", "message"), BAD)
def test_bad_input_is_named(params, data, message):
    raises(ValueError, message, HyperKRR(**params).fit, *data)


def test_memory_is_asked_for_first(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 1e6)
    X, K, _ = problem(0, m=40)
    with pytest.raises(MemoryError, match=r"820 pairs.*solver='pivoted'.*or max_pairs=250"):
        HyperKRR(solver="dense").fit(X, K)
    raises(MemoryError, "a smaller max_rank", HyperKRR(solver="pivoted").fit, X, K)


def test_points_of_no_pair_cost_no_memory(monkeypatch):
    rng = np.random.default_rng(10)
    X = rng.normal(size=(3000, 2))
    monkeypatch.setattr(memory, "free_memory", lambda: 1e6)
    # A table of all points would take 72 MB.
    model = HyperKRR(max_pairs=50).fit(X, X[:, 0] > 0)
    assert model.solver_ == "dense"
    with pytest.raises(MemoryError, match=r"table of 400 points.*solver='pivoted'"):
        HyperKRR(solver="cg", max_rank=1).fit(X[:400], X[:400, 0] > 0)


def test_warns_where_a_solver_stops_short():
    X, K, _ = problem(0, m=12)
    with pytest.warns(UserWarning, match="SMO stopped"):
        HyperSVR(tol=1e-9, max_iter=3).fit(X, K)
    with pytest.warns(UserWarning, match="Conjugate gradients stopped"):
        HyperKRR(alpha=1e-6, solver="cg", max_rank=2, max_iter=2).fit(X, K)


def test_too_few_landmarks_are_said_with_what_they_leave():
    X = np.random.default_rng(2).normal(size=(14, 2))
    K, hyper, (i, j) = X @ X.T, hyper_kernels([0.1, 1.0], 1.0), np.triu_indices(14)
    for model in (HyperKRR(hyper, solver="pivoted", max_rank=9), HyperKRRCV(hyper, max_rank=9)):
        with pytest.warns(ConvergenceWarning) as caught:
            model.fit(X, K)
        (warning,) = caught  # not one for each candidate, fold or cluster
        found = re.search(
            r"max_rank=9 .* misses (\S+) of the trace .* rank_tol=1e-06", str(warning)
        )
        # The share by definition: of the residual of all pairs on the landmarks.
        kernel, whole = model.kernel_, hyper.resolve(X)(X[i], X[j])
        ends = kernel.points[kernel.first], kernel.points[kernel.second]
        columns, corner = hyper.resolve(X)(X[i], X[j], *ends), hyper.resolve(X)(*ends)
        rest = np.trace(whole - columns @ np.linalg.solve(corner, columns.T)) / np.trace(whole)
        assert float(found[1]) == pytest.approx(rest, rel=0.1)
    for quiet in ({"solver": "nystrom"}, {"solver": "cg"}, {"rank_tol": 1.1 * rest}):
        model = HyperKRR(hyper, **{"solver": "pivoted", "max_rank": 9, **quiet}).fit(X, K)
    assert model.trace_error_ <= 1.1 * rest
    finer = model.set_params(rank_tol=0.1 * rest, max_rank=99).fit(X, K)
    assert finer.rank_ > 9
    assert finer.trace_error_ <= 0.1 * rest
