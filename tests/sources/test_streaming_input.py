"""Statistics averaged over mini-batches, and input that streaming rejects."""

import copy

import numpy as np
import oracle
import pytest
from cases import each
from refusals import raises
from scipy import sparse

from alignlearn.kernels import (
    Columns,
    Gaussian,
    Linear,
    Polynomial,
    Precomputed,
    RankOneKernels,
)
from alignlearn.sources import AlignmentAccumulator, alignment_statistics


def data(m, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    return X, X[:, 0] + rng.normal(size=m)


X3, Y3 = np.eye(3), [0.0, 1.0, 3.0]
BAD = {
    "unknown string": ((X3, Y3, ["fbr"]), ValueError, "'fbr' is not known; accepted: cosine"),
    "sparse X, precomputed": (
        (sparse.csr_array(X3), Y3, [Precomputed(np.eye(3), name="K")]), TypeError,
        "X is a sparse matrix, which K does not accept"),
    "sparse X, weighted": (
        (sparse.csr_array(X3), Y3, [Gaussian(1.0) + Linear().weighted(np.ravel)]), TypeError,
        "X is a sparse matrix, which gaussian.*ravel-weighted linear does not accept"),
    "no sparse columns": (
        (sparse.csr_array((3, 0)), Y3, RankOneKernels()), ValueError, "at least one sample and"),
    "pair column": ((X3, Y3, [Columns(Gaussian(), 7)]), ValueError, "Columns selects column 7"),
    "names": (
        (X3, Y3, RankOneKernels(("a",))), ValueError, "RankOneKernels has 1 names, but X has 3"),
}  # fmt: skip


@each("case", BAD)
def test_bad_input_is_refused_by_name(case):
    arguments, error, message = BAD[case]
    raises(error, message, alignment_statistics, *arguments)


def test_unbiased_statistics_of_sparse_rank_one_kernels_are_refused():
    with pytest.raises(ValueError, match="unbiased=True is not available for rank-one"):
        alignment_statistics(sparse.csr_array(X3), Y3, RankOneKernels(), unbiased=True)


@pytest.mark.parametrize("kernel", [Polynomial(1.0, 0.0, 0.5), Polynomial(1e80, 0.0, 4)])
def test_values_that_are_not_finite_are_an_error_that_names_the_kernel(kernel):
    X, y = data(20)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"polynomial.*not finite"):
        alignment_statistics(X, y, [Gaussian(1.0), kernel])


def batches(X, y, size):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(X), size)]


def test_accumulator_averages_u_statistics():
    X, y = data(48)
    kernels = ["rbf", Polynomial(0.3)]
    accumulator = AlignmentAccumulator(kernels)
    fixed = [Gaussian().resolve(X[:8]), Polynomial(0.3)]
    M, a, target = 0.0, 0.0, 0.0
    for A, b in batches(X, y, 8):
        assert accumulator.update(A, b) is accumulator
        grams = [k(A) for k in fixed]
        T = np.outer(b - b.mean(), b - b.mean())
        M += np.array([[oracle.unbiased_hsic(K, L) for L in grams] for K in grams])
        a += np.array([oracle.unbiased_hsic(K, T) for K in grams])
        target += oracle.unbiased_hsic(T, T)
    s = accumulator.statistics()
    assert accumulator.n_batches == 6
    assert s.n_samples == 48
    np.testing.assert_allclose(s.M, (M / 6).astype(float), rtol=1e-11)
    np.testing.assert_allclose(s.a, (a / 6).astype(float), rtol=1e-11, atol=1e-13)
    assert s.target_norm == pytest.approx(float(np.sqrt(target / 6)), rel=1e-11)


def test_accumulators_merge():
    X, y = data(40)
    parts = batches(X, y, 10)
    whole = AlignmentAccumulator([Gaussian(0.2), "linear"])
    left, right, empty = (AlignmentAccumulator([Gaussian(0.2), "linear"]) for _ in range(3))
    for k, part in enumerate(parts):
        whole.update(*part)
        (left if k < 1 else right).update(*part)
    merged = empty.merge(left).merge(right).merge(AlignmentAccumulator(["rbf"]))
    assert merged.statistics().names == whole.statistics().names
    for name in ("a", "M", "trace", "target_norm", "n_samples"):
        expected, value = getattr(whole.statistics(), name), getattr(merged.statistics(), name)
        np.testing.assert_allclose(value, expected, rtol=1e-13)


def test_accumulator_refusals():
    X, y = data(20)
    make = AlignmentAccumulator
    raises(ValueError, "no batch has been added", make(["linear", "rbf"]).statistics)
    raises(ValueError, "at least 4 samples, got 3", make(["linear", "rbf"]).update, X3, Y3)
    scaled = make([Gaussian()]).update(X, y), make([Gaussian()]).update(3.0 * X, y)
    wrong = r"gaussian\(gamma=.* instead of gaussian\(gamma="
    raises(ValueError, wrong, scaled[0].merge, scaled[1])
    fixed = make([Gaussian(1.0)]).update(X, y)
    linear = make(["linear"]).update(X, y)
    raises(ValueError, "linear instead of gaussian", fixed.merge, linear)
    raises(ValueError, "X has 1 columns, but earlier batches had 5", fixed.update, X[:, :1], y)
    raises(TypeError, "other must be of type AlignmentAccumulator, got", fixed.merge, "rbf")


@pytest.mark.parametrize("unit", [1e-30, 1e25, 1e60])
def test_units_of_targets_in_single_precision(unit):
    X, y = data(30)
    X = X.astype(np.float32)
    ours, plain = (alignment_statistics(X, t, ["rbf", "poly"]) for t in (unit * y, y))
    np.testing.assert_allclose(ours.a / unit**2, plain.a, rtol=1e-6)
    np.testing.assert_allclose(ours.alignments, plain.alignments, rtol=1e-6)


@pytest.mark.parametrize("folds", [None, np.arange(30) % 3])
def test_values_whose_squares_single_precision_does_not_hold(folds):
    X, y = data(30)
    X = (1e-6 * X).astype(np.float32)  # values of 1e-24
    kernel = [Polynomial(1.0, 0.0, 2)]
    ours, exact = (alignment_statistics(A, y, kernel, folds=folds) for A in (X, X.astype(float)))
    for a, b in zip(*(r if folds is not None else [r] for r in (ours, exact))):
        np.testing.assert_allclose(a.M, b.M, rtol=1e-6)
        np.testing.assert_allclose(a.a, b.a, rtol=1e-6)


@pytest.mark.parametrize("kernels", [["rbf"], RankOneKernels(), ["linear"]])
def test_numbers_too_large_to_be_squared_are_refused_by_name(kernels):
    X, y = data(12)
    raises(ValueError, "y differs from its mean", alignment_statistics, X, 1e300 * y, kernels)
    raises(ValueError, r"X|kernels", alignment_statistics, 1e200 * X, y, kernels)


def test_a_target_that_one_sample_departs_from_has_no_u_statistic():
    X, _ = data(20)
    for offset in (0.0, 1e4, 0.1):
        y = np.full(20, offset)
        y[3] += 1.0
        assert alignment_statistics(X, y, ["rbf"], unbiased=True).target_norm == 0.0


@each("form", [np.asarray, sparse.csr_array])
@each("kernels", [RankOneKernels(), [Columns(Linear(), [0, 2]), Linear()]])
def test_offsets_of_features_cost_no_digits(form, kernels):
    X, y = data(50, 3)
    X = np.round(X, 3) + np.array([1e9, 0.0, 1e6])  # whose differences are exact to 1e-7
    origin = X - X[0]
    ours, exact = (alignment_statistics(form(A), y, kernels) for A in (X, origin))
    for name in ("a", "M", "trace"):
        np.testing.assert_allclose(getattr(ours, name), getattr(exact, name), rtol=1e-13)


def test_a_copy_of_an_accumulator_goes_its_own_way():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    original = AlignmentAccumulator([Gaussian(1.0)]).update(X[:10], y[:10])
    before = original.statistics()
    other = copy.copy(original).update(X[10:], y[10:])
    assert (original.n_batches, other.n_batches) == (1, 2)
    np.testing.assert_array_equal(original.statistics().M, before.M)
    assert other.statistics().M[0, 0] != before.M[0, 0]
