"""Kernel ridge without the Gram matrix, against the factorized one."""

import numpy as np
import pytest
from cases import each
from refusals import raises
from usage import threads

import alignlearn as al
from alignlearn._lapack import cholesky
from alignlearn.machines import KernelRidge, choice, iterative_ridge
from alignlearn.machines.held_matrix import HeldMatrix, reused_memory
from alignlearn.machines.iterative_ridge import (
    iterative_path,
    ridge_on_matrix,
    ridge_without_matrix,
    system_on_matrix,
)
from alignlearn.machines.paths import nearest_to_least, regressor_predictions, ridge_path
from alignlearn.solvers import dense
from alignlearn.sources import open_kernel, open_source


def data(m=400):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, 3))
    Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2])
    return X, Y + 0.1 * rng.standard_normal((m, 2))


def weights(m, weighted, least=0):
    return np.random.default_rng(1).integers(least, 3, m) * 1.0 if weighted else None


def spread(machine, exact, K, Y):
    """Root mean square difference of predictions, over the standard deviation of y."""
    return np.sqrt(np.mean((machine.predict(K) - exact.predict(K)) ** 2)) / Y.std()


@pytest.mark.parametrize("alpha", [1e-3, 0.3, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_factorized_machine(alpha, weighted):
    X, Y = data()
    weight, kernel = weights(len(X), weighted), al.Gaussian(0.3) + 0.2 * al.Matern(0.5)
    machine, K = KernelRidge(alpha), kernel(X)
    found = ridge_without_matrix(machine, open_kernel(X, kernel), Y, 10**6, weight=weight)
    assert found.converged
    assert machine.residual_ <= 1e-8
    exact = KernelRidge(alpha).fit(K, Y, weight)
    np.testing.assert_allclose(machine.predict(K), exact.predict(K), atol=1e-6)
    np.testing.assert_allclose(machine.dual_coef_.sum(axis=0), 0.0, atol=1e-9)


@pytest.mark.parametrize("m", [2, 255, 256, 519])
@pytest.mark.parametrize("columns", [1, 4, 9])
def test_half_of_a_matrix_gives_its_products_for_any_number_of_threads(m, columns):
    X, _ = data(m)
    kernel, V = al.Gaussian(0.3) + al.Laplacian(0.1), np.random.default_rng(1).random((m, columns))
    combination = open_kernel(X, kernel)
    held = HeldMatrix(combination, single=True)
    assert held.K.size <= m * (m + 256) / 2
    exact = combination.gram().astype(np.float32).astype(float) @ V
    found = []
    for n in (1, 2, 3):
        with threads(n):
            found.append(held.times(V))
        np.testing.assert_array_equal(found[-1], found[0])
    np.testing.assert_allclose(found[0], exact, atol=1e-6 * m)


def test_kernels_near_one_keep_their_digits():
    X, Y = data(200)
    machine, y = KernelRidge(1e-9), Y[:, 1]
    ridge_without_matrix(machine, open_kernel(X, al.Gaussian(1e-9)), y, 10**6)
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    coef = KernelRidge(1e-9).fit(np.expm1(-1e-9 * D), y).dual_coef_
    assert machine.dual_coef_.shape == (200,)
    np.testing.assert_allclose(machine.dual_coef_, coef, atol=1e-4 * np.abs(coef).max())


@each(
    ("kernel", "options", "message"),
    [
        (al.Gaussian(0.1), {"memory": 50_000}, "=50000 bytes are too few for one block of columns"),
        (
            al.Gaussian(0.1),
            {"memory": "1MB", "alpha": 0.0},
            "alpha=0: without.*only alpha > 0",
        ),
        (al.Log(), {"memory": "1MB", "alpha": 100.0}, "is indefinite: ridge needs its Gram matrix"),
        (al.Gaussian(0.1), {"memory": "some"}, "memory='some' is not a size"),
    ],
)
def test_bad_input(kernel, options, message):
    raises(ValueError, message, al.MKLRegressor([kernel], **options).fit, *data())


def test_a_fit_that_stops_short_is_a_warning():
    X, Y = data()
    combination = open_kernel(X, al.Gaussian(30.0))
    with pytest.warns(al.ConvergenceWarning, match="Conjugate gradients stopped after 1 steps"):
        ridge_without_matrix(KernelRidge(1e-6), combination, Y, 5 * 10**5, max_iter=1)


@pytest.mark.parametrize("n_targets", [1, 2, 6])
def test_where_iterations_would_cost_more_a_factor_solves_the_rest(n_targets):
    # Eigenvalues of a Laplacian decay slowly, so that a small alpha takes hundreds of steps. Six
    # targets share a factor.
    rng = np.random.default_rng(0)
    X, alphas = rng.standard_normal((2100, 6)), [1e-5, 1.0]
    Y = np.sin(2 * X[:, :n_targets]) + 0.1 * rng.standard_normal((2100, n_targets))
    kernel, split = al.Laplacian(0.02), (np.arange(2000), np.arange(2000, 2100))
    found = regressor_predictions(open_kernel(X, kernel), Y, split, alphas)
    K = kernel(X)
    # One or two targets are solved by iterations with this factor in float32.
    for predicted, alpha, tol in zip(found, alphas, 2 * [1e-9 if n_targets == 6 else 1e-2]):
        exact = KernelRidge(alpha).fit(K[:2000, :2000], Y[:2000])
        np.testing.assert_allclose(predicted, exact.predict(K[2000:, :2000]), atol=tol)
        machine = KernelRidge(alpha)
        ridge_on_matrix(machine, open_kernel(X[:2000], kernel), Y[:2000])
        fitted = machine.predict(K[2000:, :2000])
        np.testing.assert_allclose(fitted, exact.predict(K[2000:, :2000]), atol=10 * tol)


def test_no_factor_is_computed_for_the_last_digits(monkeypatch):
    """The steps end above the tolerance, and below that of float32: accepted without a warning."""
    monkeypatch.setattr(iterative_ridge, "TOL", 1e-17)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 2))
    y, combination, machine = np.sin(X[:, 0]), open_kernel(X, al.Gaussian(0.2)), KernelRidge(9e-3)
    monkeypatch.setattr(machine, "fit", None)  # it factorizes
    ridge_on_matrix(machine, combination, y)
    assert 1e-17 < machine.residual_ < 1e-5
    exact = KernelRidge(9e-3).fit(combination.gram(), y)
    np.testing.assert_allclose(machine.dual_coef_, exact.dual_coef_, atol=1e-3)


@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_a_wide_kernel_of_samples_in_float32_has_a_preconditioner(alpha):
    """Its matrix is not definite to the precision of float64."""
    X, Y = data(3100)
    kernel, machine = al.Gaussian(1e-3), KernelRidge(alpha)
    ridge_on_matrix(machine, open_kernel(X.astype(np.float32), kernel), Y)
    K = kernel(X)
    assert spread(machine, KernelRidge(alpha).fit(K, Y), K, Y) < 5e-3


@pytest.mark.parametrize("alpha", [0.011, 1.0])
def test_fits_with_a_large_alpha_use_a_matrix_in_float32(alpha):
    X, Y = data(3100)
    kernel, machine = al.Gaussian(0.2), KernelRidge(alpha)
    ridge_on_matrix(machine, open_kernel(X, kernel), Y)
    assert 1e-6 < machine.residual_ < 1e-5
    K = kernel(X)
    assert spread(machine, KernelRidge(alpha).fit(K, Y), K, Y) < 1e-4


@pytest.mark.parametrize("alpha", [2e-5, 1e-3])
def test_fits_with_a_smaller_alpha_have_exact_residuals_beside_a_matrix_in_float32(alpha):
    """The residual of the coefficients is at most 1e-6, and that of the float32 matrix more."""
    X, Y = data(1500)
    kernel = al.Gaussian(0.2)
    system = system_on_matrix(open_kernel(X, kernel), Y, alpha, (1e-2, 1e-5))
    assert system._times.__self__.K.dtype == np.float32
    found = system.solve(alpha, tol=1e-6)
    coef, _ = system.coefficients(found)

    def residual(product):
        left = Y - product - alpha * coef
        return np.max(np.std(left, axis=0) / np.std(Y, axis=0))

    assert found.converged
    assert residual(kernel(X) @ coef) <= 1.1e-6 < residual(system._times(coef))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", [al.Laplacian(0.02), 5 * al.Gaussian(0.05) + al.Laplacian(0.1)])
def test_a_factor_in_float32_makes_steps_few_also_for_other_values(kernel, weighted):
    X, Y = data(1500)
    weight = weights(len(X), weighted)
    system = system_on_matrix(open_kernel(X, kernel), Y, 1e-5, (1.0, 0.0), weight)
    held = system._times.__self__
    np.testing.assert_allclose(held.whole(), open_kernel(X, kernel).gram(), atol=1e-6)
    before = {alpha: system.solve(alpha, tol=1e-7, max_iter=40) for alpha in (1e-4, 1e-3)}
    assert system.use_factor(1e-3)
    for alpha, few in before.items():
        found = system.solve(alpha, tol=1e-7, max_iter=40)
        assert found.converged
        assert not few.converged  # the negative control
        coef, intercept = system.coefficients(found, alpha)
        exact = KernelRidge(alpha).fit(kernel(X), Y, weight)
        values = kernel(X) @ coef + intercept
        expected = kernel(X) @ exact.dual_coef_ + exact.intercept_
        np.testing.assert_allclose(values, expected, atol=1e-5)


def test_a_factor_in_float32_is_not_used_where_it_is_not_definite_or_the_matrix_is_in_float64():
    X, Y = data(600)
    combination = open_kernel(X, al.Gaussian(0.001))
    assert not system_on_matrix(combination, Y, 1e-12, (1.0, 0.0)).use_factor(1e-12)
    assert not system_on_matrix(combination, Y, 0.1).use_factor(0.1)


def test_a_path_without_a_limit_is_solved_also_for_a_tiny_alpha():
    """No factor may replace the steps at this alpha; they are many more than 50."""
    X, Y = data(900)
    combination = open_kernel(X, al.Laplacian(1.0))
    split = np.arange(700), np.arange(700, 900)
    [found] = iterative_path(combination, Y, split, [1e-11], None)
    K, K_test = combination.split(split)
    [exact] = ridge_path(K, Y[split[0]], K_test, [1e-11])
    np.testing.assert_allclose(found, exact, atol=0.05)


@pytest.mark.parametrize("kernel", [al.Laplacian(0.1), al.Gaussian(0.02)])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_factor_in_float32_serves_as_one_in_float64(kernel, weighted):
    X, Y = data(1500)
    weight = weights(len(X), weighted)
    steps = {}
    for alpha, rough in ((0.1, True), (1e-3, False)):
        system = system_on_matrix(open_kernel(X, kernel), Y, alpha, (0.0, 0.0), weight)
        assert system._factor.dtype == np.float32
        assert system._is_rough == rough
        found = system.solve(1.0, tol=1e-6)
        assert found.converged
        coef, intercept = system.coefficients(found)
        steps[rough] = found.n_iter
        values = kernel(X) @ coef + intercept
        exact = KernelRidge(1.0).fit(kernel(X), Y, weight)
        expected = kernel(X) @ exact.dual_coef_ + exact.intercept_
        np.testing.assert_allclose(values, expected, atol=1e-4 * Y.std())
    assert steps[True] <= 1.3 * steps[False] + 2


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_the_preconditioner_has_more_columns_where_few_omit_much(scale):
    """310 columns instead of 300 if their omitted diagonal is ``hard`` times alpha."""
    X, Y = data(3100)
    combination = open_kernel(X, scale * al.Laplacian(0.1))
    columns = {}
    for alpha in (3e-3, 0.3):
        for hard in (1.0, 20.0, np.inf):
            system = system_on_matrix(combination, Y, scale * alpha, (0.0, 0.0), None, hard)
            columns[alpha, hard] = system._factor.shape[1]
    assert {columns[3e-3, np.inf], columns[0.3, np.inf]} == {300}
    assert columns[3e-3, 1.0] == 310
    L = system_on_matrix(combination, Y, scale, (0.0, 0.0))._factor
    # The factor of centered columns; the trace of centered matrices is the omitted diagonal.
    K = al.Laplacian(0.1)(X)
    omitted = np.trace(K - K.mean(axis=0)) - np.square(L).sum() / scale
    for (alpha, hard), found in columns.items():
        assert found == (310 if omitted > hard * alpha * len(X) else 300)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_values_next_to_the_least_error_are_tried(n, place):
    """From the middle on; of errors with one minimum, this one and its neighbors are tried."""
    alphas = np.random.default_rng(n).permutation(10.0 ** np.arange(n)).tolist()
    best, tried = 10.0 ** min(place, n - 1), []

    def predicted(some):
        tried.extend(some)
        return some

    found = nearest_to_least(predicted, alphas, lambda alpha: abs(np.log(alpha / best)))
    assert found == [alpha if alpha in tried else None for alpha in alphas]
    assert len(set(tried)) == len(tried)
    near = {alpha for alpha in alphas if 1 / 11 < alpha / best < 11}
    assert near <= set(tried)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_targets", [1, 2])
def test_a_path_of_few_values_is_factorized_in_float32(weighted, n_targets, monkeypatch):
    """Values that are large enough; the smallest is as exact as in float64."""
    X, Y = data(1300)
    Y = Y[:, 0] if n_targets == 1 else Y
    weight = weights(1300, weighted, 1)
    combination = open_source(X, [al.Laplacian(0.3)], sample_weight=weight).combine([1.0])
    split, alphas = (np.arange(1200), np.arange(1200, 1300)), [1.0, 3e-4, 1e-2]
    types = []

    def counted(A):
        types.append(A.dtype.type)
        return cholesky(A)

    monkeypatch.setattr(dense, "cholesky", counted)
    found = regressor_predictions(combination, Y, split, alphas)
    assert types == [np.float32, np.float64, np.float32]
    K, K_test = combination.split(split)
    weight = weight[:1200] if weighted else None
    exact = ridge_path(K, Y[:1200], K_test, alphas, weight=weight)
    for one, expected, tol in zip(found, exact, (1e-5, 1e-4, 1e-4)):
        np.testing.assert_allclose(one, expected, atol=tol)
    types.clear()
    some = regressor_predictions(combination, Y, split, alphas, descending=True)
    squares = [np.mean((one - Y[1200:]) ** 2) for one in exact]
    at = int(np.argmin(squares))
    np.testing.assert_allclose(some[at], found[at], atol=2e-4)


def test_memory_of_freed_matrices_is_reused_only_inside_the_context():
    combination, larger = (open_kernel(data(m)[0], al.Gaussian(0.1)) for m in (600, 900))
    V = np.random.default_rng(0).standard_normal((600, 1))
    V -= V.mean()
    with reused_memory():
        at = HeldMatrix(combination, single=True).K.ctypes.data
        held = HeldMatrix(combination, single=True)
        assert held.K.ctypes.data == at
        np.testing.assert_allclose(held.times(V), combination.gram() @ V, atol=1e-4)
        # While the first is in use.
        assert HeldMatrix(combination, single=True).K.ctypes.data != at
        assert len(held._reused) == 1
        HeldMatrix(larger, single=True)  # frees what is too small
        kept = held._reused
        assert [len(memory) for memory in kept] == [HeldMatrix(larger, True).starts[-1]]
    assert not kept
    assert HeldMatrix(combination, single=True)._reused is None


@pytest.mark.parametrize("noise", [0.0, 6.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_smaller_values_are_omitted_where_one_is_worse(noise, weighted):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(8700, 2))
    y = np.sin(9.0 * X).sum(axis=1)
    y[200:] += noise * rng.standard_normal(8500)
    weight = rng.integers(1, 3, len(X)) * 1.0 if weighted else None
    source = open_source(X, [al.Laplacian(2.0)], sample_weight=weight)
    split, alphas = (np.arange(200, 8700), np.arange(200)), [0.1, 10.0, 1.0, 30.0]
    given = source.combine([1.0]), y, split, alphas
    found = regressor_predictions(*given, most_steps=100, descending=True)
    every = regressor_predictions(*given)
    assert [one is None for one in found] == ([True, False] * 2 if noise else [False] * 4)
    weight = None if weight is None else weight[:200]
    squares = [np.average(np.square(one - y[:200]), weights=weight) for one in every]
    assert (np.argmin(squares) == 3) == (noise > 0.0)
    for one, exact in zip(found, every):
        if one is not None:
            np.testing.assert_allclose(one, exact, atol=1e-2)


def test_a_search_makes_no_factor_of_more_samples_than_a_factor_is_for(monkeypatch):
    """Slow values are then abandoned: their last steps give the predictions."""
    X, Y = data()
    combination = open_kernel(X, al.Laplacian(20.0))
    split = np.arange(300), np.arange(300, 400)

    monkeypatch.setattr(HeldMatrix, "whole", None)
    for module in (choice, iterative_ridge):
        monkeypatch.setattr(module, "MOST_DOUBLE", 200)
    asked = combination, Y[:, :1], split, [1e-3, 1e-4], None
    found = iterative_path(*asked, most_steps=2)
    assert all(np.isfinite(values).all() for values in found)
