"""Weighted alignment statistics against the definition, and against repeated samples."""

import numpy as np
import oracle
import pytest
from cases import each
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from strategies import generators

import alignlearn as al

LD = oracle.LD
KERNELS = [
    *al.gaussian_kernels([1e-6, 0.1, 0.2, 1e6]),
    al.Polynomial(0.5),
    al.Columns(al.TL1(2.0), [0, 2]),
    al.Linear(),
    "rbf",
    "poly",
]


def data(m=40, seed=0, classes=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 4))
    y = np.sin(X[:, 0]) + rng.normal(size=m) + 5.0
    return X, np.digitize(y, [4.5, 5.5][: classes - 1]) if classes else y


def assert_same(found, want, rtol=1e-9, n_samples=None):
    norms = np.where(want.norms > 0, want.norms, 1.0)
    scale = np.outer(norms, norms)
    np.testing.assert_allclose(found.M / scale, want.M / scale, atol=rtol)
    np.testing.assert_allclose(found.a, want.a, rtol=rtol, atol=rtol * want.a.max())
    np.testing.assert_allclose(found.trace, want.trace, rtol=rtol)
    np.testing.assert_allclose(found.target_norm, want.target_norm, rtol=1e-12)
    assert found.total_weight == want.total_weight
    assert found.names == want.names
    assert n_samples is None or found.n_samples == n_samples


def counts(m, seed=1):
    """Repetitions from 0 to 3, and the numbers of the repeated samples."""
    weight = np.random.default_rng(seed).integers(0, 4, m)
    return weight, np.repeat(np.arange(m), weight)


@each("classes", [None, 2, 3])
@each("dtype", [np.float64, np.float32])
def test_weights_count_repetitions(classes, dtype):
    """Data-dependent gamma too; 0 leaves a sample out."""
    X, y = data(classes=classes)
    weight, rows = counts(len(y))
    found = al.alignment_statistics(X.astype(dtype), y, KERNELS, sample_weight=weight)
    want = al.alignment_statistics(X[rows].astype(dtype), y[rows], KERNELS)
    rtol = 1e-9 if dtype == np.float64 else 1e-5
    assert_same(found, want, rtol, np.count_nonzero(weight))


@given(generators(), st.integers(3, 30), st.sampled_from([1e-3, 1.0, 1e3]))
@settings(max_examples=20)
def test_against_the_definition_for_real_weights(rng, m, scale):
    """M_kl = <Kw_k, Kw_l> with Kw = D (I - 1p') K (I - p1') D, in extended precision."""
    X, weight = rng.normal(size=(m, 2)), scale * rng.exponential(size=m)
    y = rng.normal(size=m)
    found = al.alignment_statistics(X, y, al.gaussian_kernels([0.1, 1.0]), sample_weight=weight)
    w = np.asarray(weight, LD)
    H = np.eye(m, dtype=LD) - w / w.sum()
    D = np.diag(np.sqrt(w))
    distance = oracle.pair_primitives(X, X)[0]
    Ks = [D @ H @ np.exp(-LD(g) * distance) @ H.T @ D for g in (0.1, 1.0)]
    Y = D @ H @ np.asarray(y, LD)[:, None]
    M = np.array([[np.sum(K * L) for L in Ks] for K in Ks], float)
    np.testing.assert_allclose(found.M, M, rtol=1e-9)
    np.testing.assert_allclose(found.a, [float(np.sum(K * (Y @ Y.T))) for K in Ks], rtol=1e-8)
    np.testing.assert_allclose(found.trace, [float(np.trace(K)) for K in Ks], rtol=1e-9)
    np.testing.assert_allclose(found.target_norm, float(np.sum(Y**2)), rtol=1e-12)


@each("factor", [1e-90, 0.3, 1e90])
@each("dtype", [np.float64, np.float32])
def test_the_unit_of_the_weights_changes_no_alignment(factor, dtype):
    X, y = data()
    X, weight = X.astype(dtype), np.random.default_rng(2).exponential(size=len(y))
    plain = al.alignment_statistics(X, y, KERNELS, sample_weight=weight)
    scaled = al.alignment_statistics(X, y, KERNELS, sample_weight=factor * weight)
    rtol = 1e-10 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(scaled.alignments, plain.alignments, rtol=rtol)
    np.testing.assert_allclose(scaled.a, factor**2 * plain.a, rtol=rtol)
    np.testing.assert_allclose(scaled.trace_normalized()[1], plain.trace_normalized()[1], rtol=rtol)
    ones = al.alignment_statistics(X, y, KERNELS, sample_weight=np.full(len(y), factor))
    equal = al.alignment_statistics(X, y, KERNELS)
    np.testing.assert_allclose(ones.alignments, equal.alignments, rtol=rtol)
    # Negative control: other weights give other alignments.
    assert np.abs(plain.alignments - equal.alignments).max() > 1e-3


@each(
    "kernels",
    [
        al.RankOneKernels(),
        ["linear"],
        [al.Columns(al.Linear(), [0, 1]), al.Columns(al.Linear() * 2.0, [2])],
        [al.Gaussian(0.2), al.Polynomial(0.3), al.Laplacian("scale")],
    ],
)
@each("form", ["dense", "sparse"])
def test_features_and_sparse_samples(kernels, form):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 4)) * (rng.random((30, 4)) < 0.6)
    X[:, 3] += 1e4  # a full column, of which centering the products would lose digits
    y = X[:, 0] + rng.normal(size=30)
    weight, rows = counts(30)
    make = sparse.csr_array if form == "sparse" else np.asarray
    found = al.alignment_statistics(make(X), y, kernels, sample_weight=weight)
    assert_same(found, al.alignment_statistics(make(X[rows]), y[rows], kernels), 1e-8)


@each("given", [False, True])
@each("m", [40, 300])
def test_every_training_set(given, m):
    X, y = data(m)
    weight, rows = counts(m)
    folds = np.random.default_rng(4).integers(0, 4, m)
    weight[folds == 2] = 0  # its training set is every sample of the others
    rows = np.repeat(np.arange(m), weight)
    kernels, samples, repeated = KERNELS[:-2], X, X[rows]
    if given:
        samples, kernels = [al.Gaussian(g)(X) for g in (0.1, 1.0)], "precomputed"
        repeated = [K[np.ix_(rows, rows)] for K in samples]
    found = al.alignment_statistics(samples, y, kernels, folds=folds, sample_weight=weight)
    assert len(found) == 4
    for t, statistics in enumerate(found):
        if t == 2:
            want = al.alignment_statistics(samples, y, kernels, sample_weight=weight)
        else:
            want = al.alignment_statistics(repeated, y[rows], kernels, folds=folds[rows])
            want = want[t - (t > 2)]
        assert_same(statistics, want)


def test_a_kernel_that_centering_would_cancel():
    """f(x) + f(x') and a little more: the second pass subtracts weighted means."""
    rng = np.random.default_rng(5)
    X, weight = rng.normal(size=(50, 3)), rng.exponential(size=50)
    y = X[:, 0] + rng.normal(size=50)

    def kernel(X, Z):
        return 2.0**30 * np.add.outer(X.sum(axis=1), Z.sum(axis=1)) + al.Gaussian(0.1)(X, Z)

    kernel = al.FromFunction(kernel, vectorized=True, is_psd=False)
    found = al.alignment_statistics(X, y, [kernel], sample_weight=weight)
    want = al.alignment_statistics(X, y, [al.Gaussian(0.1)], sample_weight=weight)
    np.testing.assert_allclose(found.M, want.M, rtol=1e-6)
    np.testing.assert_allclose(found.a, want.a, rtol=1e-6)


def test_median_of_weighted_pairs():
    X = np.array([[0.0], [1.0], [3.0], [100.0]])
    weight = [1.0, 1.0, 1.0, 0.0]
    for gamma in ("scale", "median"):
        kernel = [al.Gaussian(gamma)]
        found = al.sources.open_source(X, kernel, sample_weight=weight).kernels
        assert found == al.sources.open_source(X[:3], kernel).kernels
    # Pairs at 1, 3, 2 with weights 10, 10, 1: the median lies between the first two in order.
    for weight, gamma in (([10.0, 1.0, 1.0], 0.5), ([10.0, 10.0, 1.0], 1.0)):
        opened = al.sources.open_source(X[:3], [al.Laplacian("median")], sample_weight=weight)
        assert opened.kernels[0].gamma == pytest.approx(gamma)


@pytest.mark.parametrize("kind", ["centered", "uncentered", "unnormalized"])
def test_measures_of_matrices(kind):
    X, y = data()
    weight, rows = counts(len(y))
    K, L = al.Gaussian(0.1)(X), al.Polynomial(0.3)(X)
    take = np.ix_(rows, rows)
    classes = np.digitize(y, [4.5, 5.5])
    for other, repeated in ((L, L[take]), (y, y[rows]), (classes, classes[rows])):
        found = al.alignment(K, other, kind=kind, sample_weight=3.0 * weight)
        assert found == pytest.approx(al.alignment(K[take], repeated, kind=kind), rel=1e-10)
    K32 = K.astype(np.float32)
    found = al.alignment(K32, L, kind=kind, sample_weight=weight)
    assert found == pytest.approx(al.alignment(K, L, kind=kind, sample_weight=weight), rel=1e-5)


def test_hsic_and_centering():
    X, y = data()
    weight, rows = counts(len(y))
    K, L = al.Gaussian(0.1)(X), al.Polynomial(0.3)(X)
    take = np.ix_(rows, rows)
    assert al.hsic(K, L, sample_weight=weight) == pytest.approx(al.hsic(K[take], L[take]))
    centered = al.center_kernel(K, sample_weight=weight)
    np.testing.assert_allclose(centered[take], al.center_kernel(K[take]), atol=1e-12)
    new = al.Gaussian(0.1)(X[:3] + 1.0, X)
    np.testing.assert_allclose(
        al.center_kernel(new, K, sample_weight=weight)[:, rows],
        al.center_kernel(new[:, rows], K[take]),
        atol=1e-12,
    )
    # A kernel that varies only on samples of weight 0.
    flat = np.ones((3, 3))
    flat[2, 2] = 5.0
    with pytest.warns(al.validation.DegenerateKernelWarning):
        assert al.alignment(flat, np.eye(3), sample_weight=[1.0, 1.0, 0.0]) == 0.0


@each(
    ("weight", "message"),
    [
        (np.r_[-1.0, np.ones(39)], "negative"),
        (np.zeros(40), "zero for every sample"),
        (np.r_[1e-200, np.ones(39)], "1e-100"),
        (np.full(40, 1e200), "1e\\+100"),
        (2.0, "shape"),
    ],
)
def test_bad_weights_are_named(weight, message):
    X, y = data()
    with pytest.raises(ValueError, match=f"sample_weight.*{message}"):
        al.alignment_statistics(X, y, KERNELS[:2], sample_weight=weight)


def test_what_takes_no_weights():
    X, y = data()
    weight = np.ones(40)
    with pytest.raises(ValueError, match="unbiased=True takes no sample_weight"):
        al.alignment_statistics(X, y, KERNELS[:2], unbiased=True, sample_weight=weight)
    with pytest.raises(ValueError, match="unbiased=True takes no sample_weight"):
        al.hsic(np.eye(40), y, unbiased=True, sample_weight=weight)
    weight[:20] = 0.0
    folds = np.repeat([0, 1], 20)
    with pytest.raises(ValueError, match="sample_weight is zero for every sample of a training"):
        al.alignment_statistics(X, y, KERNELS[:2], folds=folds, sample_weight=weight)
