"""`FeatureScales`, against the same iteration written in NumPy."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from refusals import not_refused

import alignlearn as al
from alignlearn.estimators.feature_scales import learned_scales
from alignlearn.machines import KernelRidge
from alignlearn.machines._ridge import ridge_leave_one_out
from alignlearn.machines.width_and_ridge import leave_one_out_width_and_ridge

RNG = np.random.default_rng(0)
M, D = 60, 5
X = RNG.standard_normal((M, D))
SIGNAL = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.1 * RNG.standard_normal(M)
LABELS = np.digitize(SIGNAL, [-0.5, 0.7])
WEIGHT = RNG.integers(0, 3, M).astype(float)
GIVEN = {"kernel": al.Gaussian(0.2), "alpha": 0.1}


def gram(A, B, kind="gaussian", rate=0.2):
    square = np.square(A[:, None] - B).sum(axis=-1)
    return np.exp(-rate * (square if kind == "gaussian" else np.sqrt(square)))


def centered(y):
    Y = np.eye(3)[y] if y.dtype.kind == "i" else y[:, None] / np.std(y)
    return Y - Y.mean(axis=0)


def root(A):
    values, vectors = np.linalg.eigh(A)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T


def naive(X, Y, alpha, kind="gaussian", rate=0.2, n_iterations=2, full=False):
    """(iterates, leave-one-out errors) of recursive feature machines with an array of all pairs."""
    m, d = X.shape
    A, errors = np.eye(d), []
    iterates = [np.eye(d) if full else np.ones(d)]
    for _ in range(n_iterations + 1):
        U = X @ A
        K = gram(U, U, kind, rate)
        H = np.eye(m) - 1.0 / m
        coef = np.linalg.solve(H @ K @ H + alpha * np.eye(m), Y)
        errors.append(np.mean([np.square(left_out(K, Y, alpha, i)) for i in range(m)]))
        difference = U[:, None] - U
        slope = -2.0 * rate * K
        if kind != "gaussian":
            r = np.sqrt(np.square(difference).sum(axis=-1))
            slope = -rate * K / np.where(r > 0, r, np.inf)
        G = np.einsum("ij,jc,ijd->icd", slope, coef, difference) @ A
        outer = np.einsum("icd,ice->de", G, G)
        if full:
            new = root(outer)
            new *= d / np.trace(new)
            A = root(new)
        else:
            new = np.sqrt(np.diagonal(outer))
            new *= d / new.sum()
            A = np.diag(np.sqrt(new))
        iterates.append(new)
    return iterates[:-1], np.array(errors)


def left_out(K, Y, alpha, i):
    rest = np.delete(np.arange(len(K)), i)
    machine = KernelRidge(alpha).fit(K[np.ix_(rest, rest)], Y[rest])
    return machine.predict(K[[i]][:, rest])[0] - Y[i]


@pytest.mark.parametrize("y", [SIGNAL, LABELS], ids=["amounts", "classes"])
@pytest.mark.parametrize("kind", ["gaussian", "exponential"])
def test_scales_are_those_of_the_naive_iteration(y, kind):
    kernel = al.Gaussian(0.2) if kind == "gaussian" else al.Exponential(0.2)
    found = al.FeatureScales(kernel, alpha=0.1).fit(X, y)
    iterates, errors = naive(X, centered(y), 0.1, kind)
    np.testing.assert_allclose(found.path_.iterates, iterates, rtol=1e-7)
    np.testing.assert_allclose(found.path_.errors, errors, rtol=1e-7)
    best = int(np.argmin(errors))
    assert found.path_.best == best > 0
    np.testing.assert_allclose(found.scales_, iterates[best], rtol=1e-7)
    np.testing.assert_allclose(found.transform(X), X * np.sqrt(iterates[best]), rtol=1e-7)
    change = [np.abs(b - a).sum() / D for a, b in pairwise(iterates)]
    np.testing.assert_allclose(found.path_.changes, change, rtol=1e-6)
    assert found.search_ is None
    last = learned_scales(X, centered(y), kernel, 0.1, choose=False)
    np.testing.assert_allclose(last.scales, iterates[2], rtol=1e-7)
    assert (last.best, last.errors.size) == (2, 0)
    # They have found the informative columns: noise has a smaller scale.
    assert found.scales_[:2].min() > found.scales_[2:].max()


def test_the_matrix_is_that_of_the_naive_iteration():
    turned = X @ np.linalg.qr(np.random.default_rng(1).standard_normal((D, D)))[0]
    found = al.FeatureScales(**GIVEN, full=True).fit(turned, SIGNAL)
    iterates, errors = naive(turned, centered(SIGNAL), 0.1, full=True)
    np.testing.assert_allclose(found.path_.errors, errors, rtol=1e-6)
    np.testing.assert_allclose(found.matrix_, iterates[found.path_.best], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.diagonal(found.matrix_), found.scales_)
    # The kernel of transformed samples is that of x'Mx'.
    apart = turned[:1] - turned
    expected = np.exp(-0.2 * np.einsum("id,de,ie->i", apart, found.matrix_, apart))
    made = found.transform(turned)
    np.testing.assert_allclose(al.Gaussian(0.2)(made[:1], made)[0], expected, rtol=1e-9)


def test_weights_count_as_repetitions_do_and_zero_leaves_out():
    many = np.repeat(np.arange(M), WEIGHT.astype(int))
    weighted = al.FeatureScales(**GIVEN).fit(X, LABELS, WEIGHT)
    # All estimators except leave-one-out, which removes all copies.
    repeated = learned_scales(X[many], centered(LABELS[many]), al.Gaussian(0.2), 0.1)
    np.testing.assert_allclose(weighted.path_.iterates, repeated.iterates, rtol=1e-8)
    used = WEIGHT > 0
    rest = al.FeatureScales(**GIVEN).fit(X[used], LABELS[used], WEIGHT[used])
    np.testing.assert_array_equal(weighted.scales_, rest.scales_)
    np.testing.assert_array_equal(weighted.path_.errors, rest.path_.errors)


def test_leave_one_out_residuals_of_one_alpha_are_those_of_fits_without_the_sample():
    K, Y = gram(X, X), centered(LABELS)
    weight = WEIGHT + 1.0
    coef, residuals = ridge_leave_one_out(K.copy(), Y, 0.3, weight)
    np.testing.assert_allclose(coef, KernelRidge(0.3).fit(K, Y, weight).dual_coef_, rtol=1e-9)
    for i in range(0, M, 13):
        rest = np.delete(np.arange(M), i)
        machine = KernelRidge(0.3).fit(K[np.ix_(rest, rest)], Y[rest], weight[rest])
        found = Y[i] - machine.predict(K[[i]][:, rest])[0]
        np.testing.assert_allclose(found, residuals[i], rtol=1e-8)


def test_kernel_and_alpha_are_those_of_the_smallest_leave_one_out_error():
    kernels, ridges = [al.Gaussian(0.05), 2.0 * al.Gaussian(0.3)], [1e-3, 0.1, 3.0]
    found = leave_one_out_width_and_ridge(X, centered(SIGNAL), kernels, ridges)
    np.testing.assert_allclose(found.alphas, [ridges, np.multiply(2.0, ridges)])
    Y = centered(SIGNAL)
    errors = [
        [np.mean([left_out(k(X), Y, a, i) ** 2 for i in range(M)]) for a in row]
        for k, row in zip(kernels, found.alphas)
    ]
    np.testing.assert_allclose(found.errors, errors, rtol=1e-7)
    k, a = found.best
    assert errors[k][a] == np.min(errors)
    assert (found.kernel, found.alpha) == (kernels[k], found.alphas[k, a])


def test_widths_are_tried_in_the_direction_of_smaller_errors():
    kernels = [al.Gaussian(gamma) for gamma in 4.0 ** np.arange(-5, 3)]
    given = X, centered(SIGNAL), kernels, [1e-3, 0.1]
    every, some = (leave_one_out_width_and_ridge(*given, climb=climb) for climb in (False, True))
    tried = np.isfinite(some.errors).all(axis=1)
    assert 3 <= tried.sum() < len(kernels)
    assert some.best == every.best
    np.testing.assert_array_equal(some.errors[tried], every.errors[tried])
    assert np.isinf(some.errors[~tried]).all()


@pytest.mark.parametrize("full", [False, True])
def test_scales_from_float32_matrices(full):
    """To their precision if alpha is large enough; otherwise the same as from float64."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((1000, 5))
    y = (np.sin(2.0 * A[:, 0]) + A[:, 1] + 0.1 * rng.standard_normal(1000))[:, None]
    for alpha, rtol in ((1e-2, 1e-4), (1e-4, 5e-3), (1e-5, 0.0)):
        given = A, y, al.Gaussian(0.2), alpha
        options = {"choose": False, "full": full}
        exact, rough = (learned_scales(*given, rough=rough, **options) for rough in (False, True))
        size = np.abs(exact.iterates[-1]).max()
        np.testing.assert_allclose(rough.iterates[-1], exact.iterates[-1], atol=rtol * size)
        assert np.array_equal(rough.scales, exact.scales) == (rtol == 0.0)


def test_what_is_not_given_is_searched_and_repeats():
    model = al.FeatureScales(search_samples=40).fit(X, SIGNAL)
    assert model.search_.errors.shape == (7, 11)
    assert (model.kernel_, model.alpha_) == (model.search_.kernel, model.search_.alpha)
    again = al.FeatureScales(search_samples=40, random_state=0).fit(X, SIGNAL)
    np.testing.assert_array_equal(model.scales_, again.scales_)
    width_only = al.FeatureScales(alpha=0.3).fit(X, SIGNAL)
    assert width_only.alpha_ == 0.3
    assert width_only.search_.errors.shape == (7, 1)
    ridge_only = al.FeatureScales("linear").fit(X, SIGNAL)
    assert ridge_only.search_.errors.shape == (1, 11)
    few = al.FeatureScales(max_samples=30, **GIVEN).fit(X, SIGNAL)
    assert few.scales_.sum() == pytest.approx(D)


def test_units_of_targets_do_not_count():
    both = np.column_stack([SIGNAL, X[:, 3]])
    one = al.FeatureScales(**GIVEN).fit(X, both)
    other = al.FeatureScales(**GIVEN).fit(X, both * [1e-60, 1e60] + [0.0, 5.0])
    np.testing.assert_allclose(one.scales_, other.scales_, rtol=1e-8)
    assert one.scales_[3] > one.scales_[[2, 4]].max()


def test_sparse_samples_have_the_same_scales_and_stay_sparse():
    dense = np.where(X > 0.3, X, 0.0)
    sparse = sp.csr_array(dense)
    for kernel in (al.Gaussian(0.2), al.Polynomial(0.2, 1.0, 2)):
        expected = al.FeatureScales(kernel, alpha=0.1).fit(dense, LABELS)
        found = al.FeatureScales(kernel, alpha=0.1).fit(sparse, LABELS)
        np.testing.assert_allclose(found.scales_, expected.scales_, rtol=1e-8)
        made = found.transform(sparse)
        assert sp.issparse(made)
        np.testing.assert_allclose(made.toarray(), expected.transform(dense), rtol=1e-8)
    with pytest.raises(TypeError, match=r"full=True would make dense.*toarray"):
        al.FeatureScales(full=True).fit(sparse, LABELS)


def test_constant_features_have_no_scale_and_the_summary_says_so():
    fixed = np.column_stack([X, np.full(M, 7.3), np.zeros(M)])
    for A in (fixed, sp.csr_array(fixed)):
        model = al.FeatureScales(**GIVEN).fit(A, SIGNAL)
        expected = al.FeatureScales(**GIVEN).fit(X, SIGNAL)
        np.testing.assert_allclose(model.scales_, [*expected.scales_, 0.0, 0.0], rtol=1e-7)
        assert "2 constant features have scale 0" in model.summary()
    with pytest.raises(ValueError, match="every feature is constant"):
        al.FeatureScales(**GIVEN).fit(np.ones((M, 2)), SIGNAL)


def test_features_a_thousand_times_apart_and_one_that_takes_all_are_doubted():
    apart = X * [1.0, 1e-4, 1.0, 1.0, 1.0]
    with pytest.warns(al.DoubtfulResultWarning, match="differ by more than a factor of 1000"):
        al.FeatureScales(**GIVEN).fit(apart, SIGNAL)
    with pytest.warns(al.DoubtfulResultWarning, match="Feature 'x0' of X has nearly all"):
        al.FeatureScales(al.Gaussian(0.05), alpha=1e-6, n_iterations=6).fit(X, 3.0 * X[:, 0])


def test_bad_input_is_refused_by_name():
    cases = (
        (X, np.ones(M), {}, "y is constant"),
        (X, np.zeros(M, int), {}, "1 class"),
        (X, SIGNAL, {"kernel": al.Laplacian(1.0)}, "its gradient is not a sum"),
    )
    models = [al.FeatureScales(**{**GIVEN, **options}) for _, _, options, _ in cases]
    calls = [(w, partial(m.fit, A, y), w) for m, (A, y, _, w) in zip(models, cases)]
    assert not_refused(calls) == []


def test_columns_by_name_alone_have_a_scale():
    frame = pytest.importorskip("pandas").DataFrame(X, columns=list("abcde"))
    named = al.FeatureScales(al.Columns(al.Gaussian(0.2), ["a", "c"]), alpha=0.1)
    found = named.fit(frame, LABELS).path_.iterates[1]
    assert found[[1, 3, 4]].tolist() == [0.0, 0.0, 0.0]
