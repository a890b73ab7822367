"""KernelCCA against the dense generalized eigenvalue problem, classical CCA, and exact values."""

import pickle

import numpy as np
import pandas as pd
import pytest
from cases import each
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from scipy.linalg import eigh
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from strategies import generators

import alignlearn as al
from alignlearn.cca import KernelCCA
from alignlearn.statistics import center_kernel
from alignlearn.validation import ConvergenceWarning


def planted(rng, N, M=2, noise=0.3):
    """Views of two columns, of which the first is a function of one hidden number."""
    t = rng.uniform(-1.0, 1.0, N)
    functions = (np.sin, np.square, np.exp)
    first = [f(3.0 * t) + noise * rng.normal(size=N) for f in functions[:M]]
    return [np.column_stack([a, rng.normal(size=N)]) for a in first]


def generalized(grams, kappa, regularization):
    """A and B of the slides (zeros on the diagonal of A), from Gram matrices that are centered."""
    M, N = len(grams), len(grams[0])
    A, B = np.zeros((2, M * N, M * N))
    for i, G in enumerate(grams):
        rows = slice(i * N, (i + 1) * N)
        if regularization == "gram":
            B[rows, rows] = (G + kappa * np.eye(N)) @ (G + kappa * np.eye(N))
        else:
            # The constant function, which centering removes, makes B definite.
            B[rows, rows] = G @ G + N * kappa * G + np.ones((N, N)) / N
        for j, L in enumerate(grams):
            if i != j:
                A[rows, j * N : (j + 1) * N] = G @ L
    return A, B


# Narrow Gaussians: the dense problem is well conditioned then.
NARROW = [al.Gaussian(40.0), al.Gaussian(60.0), al.Gaussian(80.0)]


@each("solver", ["exact", "low-rank"])
@each("M", [2, 3])
@each(("regularization", "kappa"), [("gram", 0.3), ("norm", 0.02)])
def test_dense_generalized_eigenvalue_problem(solver, M, regularization, kappa):
    views = planted(np.random.default_rng(0), 50, M)
    kernels = NARROW[:M]
    A, B = generalized([center_kernel(k(X)) for k, X in zip(kernels, views)], kappa, regularization)
    expected = eigh(A, B, eigvals_only=True)
    options = {"kappa": kappa, "regularization": regularization, "solver": solver}
    model = KernelCCA(4, kernels=kernels, tol=1e-12, **options).fit(views)
    np.testing.assert_allclose(model.correlations_, expected[:-5:-1] / (M - 1), atol=1e-8)
    np.testing.assert_allclose(model.eigenvalue_range_, 1 + expected[[0, -1]], atol=1e-8)
    assert model.residual_.max() < 1e-10
    assert model.error_bound_.max() < (1e-8 if solver == "exact" or M == 2 else 1e-4)
    assert np.all(model.error_bound_ == 0.0) or solver == "low-rank"
    if M == 2:
        # Both signs of every correlation are eigenvalues (ledger 3.12).
        np.testing.assert_allclose(expected, -expected[::-1], atol=1e-10)
        assert sum(model.eigenvalue_range_) == pytest.approx(2.0)


@pytest.mark.parametrize("regularization", ["gram", "norm"])
def test_components_solve_the_problem_and_have_unit_denominators(regularization):
    rng = np.random.default_rng(1)
    X, Y = planted(rng, 40)
    model = KernelCCA(2, kernels=NARROW[:2], kappa=0.1, regularization=regularization).fit(X, Y)
    grams = [center_kernel(k(V)) for k, V in zip(NARROW, (X, Y))]
    A, B = generalized(grams, 0.1, regularization)
    # Of values on the training samples, s = G c.
    coef = [np.linalg.lstsq(G, s)[0] for G, s in zip(grams, model.transform(X, Y))]
    Z, one = np.vstack(coef), np.ones(2)
    np.testing.assert_allclose(A @ Z, B @ Z * model.correlations_, atol=1e-8 * np.abs(B @ Z).max())
    for rows in (slice(40), slice(40, 80)):
        np.testing.assert_allclose(np.diag(Z[rows].T @ B[rows, rows] @ Z[rows]), one, rtol=1e-8)
    covariances = np.diag(Z[:40].T @ A[:40, 40:] @ Z[40:])
    np.testing.assert_allclose(covariances, model.correlations_, rtol=1e-8)


@given(generators(), st.sampled_from([1e-3, 0.1, 3.0]))
@settings(max_examples=20)
def test_gram_regularizer_is_the_norm_at_two_kappa_over_n_and_a_rest(rng, kappa):
    """Ledger 3.14: no larger than with 2 kappa / N, and equal to it for weak regularization."""
    views = planted(rng, 30)
    model = KernelCCA(kernels=al.Gaussian(0.5), kappa=kappa, regularization="gram").fit(views)
    norm = clone(model).set_params(kappa=2.0 * kappa / 30, regularization="norm").fit(views)
    assert 0.0 <= model.dependence_ <= norm.dependence_ + 1e-12
    assert norm.dependence_ < 1.0


def test_linear_kernels_are_classical_correlation_analysis():
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(60, 3)), rng.normal(size=(60, 4))
    Y[:, 0] += X[:, 1]
    Q = [np.linalg.qr(V - V.mean(axis=0))[0] for V in (X, Y)]
    expected = np.linalg.svd(Q[0].T @ Q[1], compute_uv=False)
    for solver in ("exact", "low-rank"):
        model = KernelCCA(3, kernels="linear", kappa=1e-12, solver=solver).fit(X, Y)
        np.testing.assert_allclose(model.correlations_, expected, atol=1e-8)
        assert model.ranks_ == (3, 4)
        scores = model.transform(X, Y)
        correlation = np.corrcoef(np.hstack(scores).T)[:3, 3:]
        np.testing.assert_allclose(correlation, np.diag(expected), atol=1e-8)


def test_measures_of_three_views_differ_and_those_of_two_do_not():
    rng = np.random.default_rng(4)
    views = planted(rng, 40, 3)
    found = {m: KernelCCA(measure=m).fit(views) for m in ("max", "min")}
    low, high = found["max"].eigenvalue_range_
    assert found["max"].dependence_ == pytest.approx((high - 1.0) / 2.0)
    assert found["min"].dependence_ == pytest.approx(1.0 - low)
    assert abs(found["max"].dependence_ - found["min"].dependence_) > 0.05
    assert found["max"].correlations_[0] == pytest.approx(found["max"].dependence_)
    two = [KernelCCA(measure=m).fit(views[:2]).dependence_ for m in ("max", "min")]
    assert two[0] == pytest.approx(two[1], rel=1e-12)
    # Three equal views: gamma is 3 and 0, up to the regularizer. Kernels of rank one: a 3 x 3
    # matrix, the shrunken correlations.
    single = [V[:, 0] / V[:, 0].std() for V in planted(rng, 50, 3, noise=1.0)]
    for kappa, shrink in ((1.0, 50.0 / 51.0), (25.0, 50.0 / 75.0)):
        options = {"kernels": "linear", "kappa": kappa, "regularization": "gram"}
        model = KernelCCA(n_components=2, **options).fit(single)
        gamma = np.linalg.eigvalsh(shrink**2 * (np.corrcoef(single) - np.eye(3)))
        np.testing.assert_allclose(model.eigenvalue_range_, 1.0 + gamma[[0, 2]], atol=1e-12)
        np.testing.assert_allclose(model.correlations_, gamma[:0:-1] / 2.0, atol=1e-12)
    # Views without correlation: both sides of the eigenvalue problem are rounding errors.
    a, b = np.tile([1.0, -1.0], 20), np.repeat([1.0, -1.0], 20)
    c = np.tile([1.0, 1.0, -1.0, -1.0], 10)
    model = KernelCCA(kernels="linear").fit(np.column_stack([a, b]), c)
    assert max(model.correlations_[0], model.residual_[0]) < 1e-10
    tiny = KernelCCA(kappa=1e-300, kernels="linear").fit([views[0]] * 2)
    assert tiny.dependence_ == pytest.approx(1.0, rel=1e-12)
    assert max(tiny.correlations_) <= 1.0
    same = KernelCCA(kappa=1e-9, measure="min").fit([views[0]] * 3)
    assert same.eigenvalue_range_ == pytest.approx((0.0, 3.0), abs=1e-4)
    assert same.dependence_ == pytest.approx(1.0, abs=1e-4)


# Low rank


@given(generators(), st.sampled_from(["gram", "norm"]), st.integers(2, 3))
@settings(max_examples=20)
def test_error_bound_of_low_rank_holds(rng, regularization, M):
    N = 60
    views = planted(rng, N, M)
    kappa = 0.05 if regularization == "norm" else 0.05 * N / 2
    options = {"kappa": kappa, "regularization": regularization, "n_components": 3}
    exact = KernelCCA(solver="exact", **options).fit(views)
    for tol in (1e-1, 1e-2, 1e-4):
        low = KernelCCA(solver="low-rank", tol=tol, **options).fit(views)
        assert max(low.ranks_) < max(exact.ranks_)
        error = exact.correlations_ - low.correlations_
        assert np.all(np.abs(error) <= low.error_bound_ + 1e-12)
        assert low.residual_.max() < 1e-8
        if regularization == "norm" and M == 2:
            assert error.min() > -1e-12  # a part of the kernel correlates less
            assert low.error_bound_[0] < 20.0 * tol / kappa


def test_low_rank_has_the_components_of_exact():
    rng = np.random.default_rng(5)
    views, new = planted(rng, 120, 3), planted(rng, 7, 3)
    found = [
        KernelCCA(2, kernels=["rbf", "laplacian", "linear"], solver=s, tol=1e-10).fit(views)
        for s in ("exact", "low-rank")
    ]
    for ours, theirs in zip(*(model.transform(new) for model in found)):
        np.testing.assert_allclose(ours, theirs, atol=2e-3)
    np.testing.assert_allclose(found[0].correlations_, found[1].correlations_, atol=1e-6)
    assert (found[0].solver_, found[1].solver_) == ("exact", "low-rank")
    assert KernelCCA().fit(planted(rng, 501)).solver_ == "low-rank"
    assert KernelCCA().fit(planted(rng, 500)).solver_ == "exact"


def test_a_rank_that_is_too_small_is_said():
    views = planted(np.random.default_rng(6), 60)
    with pytest.warns(ConvergenceWarning, match=r"view \d: .* by 5 columns \(max_rank\) misses"):
        model = KernelCCA(solver="low-rank", max_rank=5).fit(views)
    exact = KernelCCA().fit(views)
    error = exact.correlations_ - model.correlations_
    assert 0.0 < error[0] <= model.error_bound_[0]


# New samples


@pytest.mark.parametrize("solver", ["exact", "low-rank"])
def test_new_samples_are_centered_with_the_training_means(solver):
    """Against coefficients of the centered training kernel, row by row."""
    rng = np.random.default_rng(7)
    X, Y = planted(rng, 50)
    new, _ = planted(rng, 9)
    model = KernelCCA(2, kernels=al.Gaussian(2.0), solver=solver, tol=1e-13).fit(X, Y)
    scores = model.transform(X)
    np.testing.assert_allclose(scores.mean(axis=0), 0.0, atol=1e-12)
    K = al.Gaussian(2.0)(X)
    coef = np.linalg.lstsq(center_kernel(K), scores, rcond=1e-10)[0]
    expected = center_kernel(al.Gaussian(2.0)(new, X), K) @ coef
    np.testing.assert_allclose(model.transform(new), expected, atol=1e-6)


@each("solver", ["exact", "low-rank"])
@each("offset", [3e3, 1e6])
def test_constants_of_kernels_and_of_columns_change_nothing(solver, offset):
    """A linear kernel of years, and a Gaussian plus a constant: centering removes the constants."""
    views, new = planted(np.random.default_rng(16), 80), planted(np.random.default_rng(17), 5)
    plain = KernelCCA(kernels=["linear", al.Gaussian(1.0)], solver=solver).fit(views)
    moved = [views[0] + offset, views[1]]
    model = KernelCCA(kernels=["linear", offset + al.Gaussian(1.0)], solver=solver).fit(moved)
    assert model.dependence_ == pytest.approx(plain.dependence_, abs=1e-4)
    expected, found = plain.transform(new), model.transform([new[0] + offset, new[1]])
    for ours, theirs in zip(found, expected):
        np.testing.assert_allclose(ours, theirs, atol=3e-2)


def test_given_matrices_are_the_kernels_they_hold():
    rng = np.random.default_rng(8)
    views, new = planted(rng, 40), planted(rng, 5)
    kernels = [al.Gaussian(0.7), al.Laplacian(0.4)]
    for solver in ("exact", "low-rank"):
        model = KernelCCA(2, kernels=kernels, solver=solver).fit(views)
        given = KernelCCA(2, kernels="precomputed", solver=solver)
        given.fit([k(V) for k, V in zip(kernels, views)])
        np.testing.assert_allclose(given.correlations_, model.correlations_, atol=1e-9)
        cross = [k(Z, V) for k, Z, V in zip(kernels, new, views)]
        for ours, theirs in zip(given.transform(cross), model.transform(new)):
            np.testing.assert_allclose(ours, theirs, atol=1e-6)
        mixed = KernelCCA(2, kernels=["precomputed", kernels[1]], solver=solver)
        mixed.fit(kernels[0](views[0]), views[1])
        np.testing.assert_allclose(mixed.correlations_, model.correlations_, atol=1e-9)
        ours = mixed.transform(cross[0], new[1])
        np.testing.assert_allclose(ours[1], model.transform(new)[1], atol=1e-6)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.transform(new)[0], model.transform(new)[0])


def test_objects_sparse_rows_single_precision_and_missing_views():
    rng = np.random.default_rng(9)
    X, Y = planted(rng, 30)
    texts = ["a" * int(20 + 5 * v) for v in X[:, 0]]

    length = al.FromFunction(lambda s, t: float(np.exp(-0.01 * (len(s) - len(t)) ** 2)))
    model = KernelCCA(kernels=[length, "rbf", "rbf"])
    model.fit([texts, csr_matrix(Y), X.astype(np.float32)])
    assert model.n_views_ == 3
    first, second, third = model.transform([texts[:4], None, X[:4].astype(np.float32)])
    assert (first.shape, second, third.shape) == ((4, 1), None, (4, 1))
    dense = clone(model).fit([texts, Y, X])
    assert model.dependence_ == pytest.approx(dense.dependence_, abs=1e-5)
    low = clone(dense).set_params(solver="low-rank").fit([texts, csr_matrix(Y), X])
    assert low.dependence_ == pytest.approx(dense.dependence_, abs=1e-4)


def test_score_is_the_correlation_on_new_samples():
    rng = np.random.default_rng(10)
    train, test = planted(rng, 150, noise=0.1), planted(rng, 150, noise=0.1)
    model = KernelCCA().fit(*train)
    first, second = model.transform(*test)
    assert model.score(*test) == pytest.approx(np.corrcoef(first[:, 0], second[:, 0])[0, 1])
    assert model.score(*test) > 0.7
    shuffled = test[1][rng.permutation(150)]
    assert abs(model.score(test[0], shuffled)) < 0.25
    three = KernelCCA().fit(planted(rng, 80, 3))
    assert -1.0 <= three.score(planted(rng, 40, 3)) <= 1.0
    raises(ValueError, "needs all views", model.score, test[0])


def test_planted_dependence_of_angles_is_found_as_the_sample_grows():
    """An angle with normal noise s: the largest correlation is that of cosines, exp(-s^2 / 2)."""
    shift, found = np.pi * (1.0 - 1.0 / np.sqrt(3.0)), []  # where the angles are uncorrelated
    for N in (25, 400):
        rng = np.random.default_rng(N)
        first = rng.uniform(0.0, 2.0 * np.pi, N + 2000)
        second = np.mod(first + shift + 0.5 * rng.normal(size=first.size), 2.0 * np.pi)
        X, Y = first[:N, None], second[:N, None]
        model = KernelCCA(kernels=al.Gaussian(1.0), kappa=0.01 * N**-0.25).fit(X, Y)
        found.append(model.score(first[N:, None], second[N:, None]))
        assert abs(np.corrcoef(first[N:], second[N:])[0, 1]) < 0.1
    assert found[0] < found[1] == pytest.approx(np.exp(-0.125), abs=0.03)
    independent = model.fit(X, Y[rng.permutation(N)]).dependence_
    assert independent < 0.5


# Independence


@pytest.mark.parametrize(("measure", "solver"), [("max", "exact"), ("min", "low-rank")])
def test_permutation_test_finds_dependence_and_keeps_its_level(measure, solver):
    rng = np.random.default_rng(11)
    model = KernelCCA(measure=measure, solver=solver)
    assert model.independence_test(planted(rng, 60, 3), random_state=0).p_value == 0.005
    p = [
        model.independence_test(rng.normal(size=(2, 20, 1)), n_permutations=19, random_state=rng)
        for _ in range(40)
    ]
    assert 0 < sum(found.p_value <= 0.1 for found in p) <= 10  # 4 expected
    assert not hasattr(model, "correlations_")


def test_statistic_of_the_test_is_the_measure():
    rng = np.random.default_rng(12)
    for M in (2, 3):
        views = planted(rng, 40, M)
        for measure in ("max", "min"):
            model = KernelCCA(measure=measure).fit(views)
            found = model.independence_test(views, n_permutations=3, random_state=5)
            assert found.statistic == pytest.approx(model.dependence_, abs=1e-5)
            order = np.random.default_rng(5)
            for value in found.null:
                moved = [V[order.permutation(40)] for V in views[1:]]
                expected = KernelCCA(measure=measure).fit([views[0], *moved]).dependence_
                assert value == pytest.approx(expected, abs=1e-5)


# Bad input

V = np.random.default_rng(13).normal(size=(12, 2))
NEGATIVE = al.FromFunction(lambda s, t: float(-s @ t))


@each(
    ("views", "options", "message"),
    [
        ([V], {}, "X has 1 view; accepted: 2 or more"),
        (V, {}, r"requires y to be passed, but the target y is None.*\[X1, X2"),
        ([V, np.ones((12, 1))], {}, "view 1 is constant under its kernel"),
        ([V, np.ones((12, 1))], {"solver": "low-rank"}, "view 1 is constant under its kernel"),
        ([V, None], {}, "view 1: |got None"),
        ([V, -V @ V.T], {"kernels": ["rbf", "precomputed"]}, "view 1: .*semi-definite"),
        *(
            ([V, V], {"kernels": ["rbf", NEGATIVE], "solver": solver}, "view 1: .*semi-definite")
            for solver in ("exact", "low-rank")
        ),
        ([V, V], {"kappa": 0}, r"degenerate: .*full-rank .*accepted: kappa > 0"),
        ([V, V], {"tol": 0.2}, "tol=0.2 is out of range"),
        ([V, V], {"kappa": 1e101}, "kappa"),
        ([V, 1e80 * V], {"kernels": "linear"}, "view 1: eigenvalues .* Scale the view"),
        ([V, V], {"kernels": al.RankOneKernels()}, "kernels must be a kernel for all views"),
        ([V, V[:, 0]], {"n_components": 2, "kernels": "linear"}, "ranks 2, 1; accepted: at most 1"),
    ],
)
def test_bad_views_and_parameters_are_named(views, options, message):
    raises((ValueError, TypeError), message, KernelCCA(**options).fit, views)


def test_single_precision_is_rounding_not_a_negative_part():
    views = [A.astype(np.float32) for A in planted(np.random.default_rng(15), 200)]
    kernel = al.Gaussian(0.1)
    assert np.linalg.eigvalsh(kernel(views[0]).astype(float))[0] < -1e-8
    model = KernelCCA(kernels=kernel).fit(views)
    double = KernelCCA(kernels=kernel).fit([A.astype(float) for A in views])
    assert model.dependence_ == pytest.approx(double.dependence_, abs=1e-4)
    assert model.ranks_[0] < 100


def test_bad_new_samples_are_named():
    model = KernelCCA().fit([V, V[:, 0]])
    for views, message in (
        ([V], "X has 1 views, but fit had 2"),
        ([V, V], "view 1: X has 2 features, but KernelCCA is expecting 1"),
        ([V * np.nan, None], "view 0: .*NaN"),
        (V, "requires y"),
    ):
        raises(ValueError, message, model.transform, views)
    pair = KernelCCA().fit(V, V[:, 0])
    assert pair.transform(V).shape == (12, 1)
    raises(ValueError, r"^X has 1 features", pair.transform, V[:, :1])
    raises(ValueError, "shape", pair.transform, V[:, 0])


def test_columns_of_every_view_keep_their_order():
    """scikit-learn's rule for X holds for all views."""
    first, second = (pd.DataFrame(V, columns=names) for names in (["a", "b"], ["c", "d"]))
    pair, views = KernelCCA().fit(first, second), KernelCCA().fit([first, second])
    swapped = second[["d", "c"]]
    for new, model in (((first, swapped), pair), (([first, swapped],), views)):
        raises(ValueError, "view 1: The feature names should match", model.transform, *new)
    first_swapped = [first[["b", "a"]], None]
    raises(ValueError, "view 0: The feature names should match", views.transform, first_swapped)
    second_view = pair.transform(first, second)[1]
    np.testing.assert_array_equal(second_view, views.transform([first, second])[1])


def test_pipelines_searches_and_frames():
    rng = np.random.default_rng(0)
    t = rng.uniform(-1.0, 1.0, 60)
    X, y = np.column_stack([t, rng.normal(size=60)]), np.sin(3.0 * t)
    search = GridSearchCV(KernelCCA(), {"kappa": [1e-4, 1e-2, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
    frame = pd.DataFrame(X, columns=["a", "b"], index=range(5, 65))
    framed = KernelCCA(2).set_output(transform="pandas").fit(frame, y)
    assert list(framed.feature_names_in_) == ["a", "b"]
    found = framed.transform(frame)
    assert list(found.columns) == ["kernelcca0", "kernelcca1"]
    assert list(found.index) == list(frame.index)
    np.testing.assert_array_equal(found, KernelCCA(2).fit(X, y).transform(X))
