"""Conjugate gradients against direct solves, and the certificate when they fail."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from strategies import generators

from alignlearn.solvers.conjugate_gradient import conjugate_gradient, low_rank_preconditioner
from alignlearn.validation import ConvergenceWarning


@st.composite
def systems(draw):
    """A positive definite matrix of some condition up to 1e6, in any units, and right sides."""
    rng = draw(generators())
    n, c = draw(st.integers(1, 25)), draw(st.integers(1, 4))
    spread, unit = draw(st.sampled_from([0.0, 2.0, 6.0])), draw(st.sampled_from([1e-8, 1.0, 1e8]))
    A = unit * spectral(rng, 10.0 ** rng.uniform(-spread, 0.0, size=n))[1]
    B = rng.normal(size=(n, c)) * 10.0 ** rng.integers(-200, 200, size=c)
    B[:, rng.random(c) < 0.2] = 0.0
    return A, B


def spectral(rng, eigenvalues):
    """Eigenvectors, and a matrix of these eigenvalues."""
    Q = np.linalg.qr(rng.normal(size=2 * eigenvalues.shape))[0]
    A = (Q * eigenvalues) @ Q.T
    return Q, (A + A.T) / 2


@given(systems(), st.booleans(), st.booleans(), st.sampled_from([1e-3, 1e-9]))
def test_equals_direct_solve(system, preconditioned, started, tol):
    A, B = system
    options = {"start": np.ones_like(B)} if started else {}
    if preconditioned:
        options["precondition"] = lambda V: V / np.diag(A)[:, None]
    found = conjugate_gradient(lambda V: A @ V, B, tol=tol, **options)
    assert found.converged
    assert found.definite
    assert found.solution.shape == B.shape
    size = np.where(B.any(axis=0), np.abs(B).max(axis=0), 1.0)
    left = np.linalg.norm((B - A @ found.solution) / size, axis=0)
    norms = np.linalg.norm(B / size, axis=0)
    np.testing.assert_allclose(left, found.residuals * norms, rtol=1e-2, atol=1e-10)
    assert found.residual == found.residuals.max() <= tol
    assert np.all(found.solution[:, ~B.any(axis=0)] == 0.0)
    # The error is at most the condition number times the residual.
    expected = np.linalg.solve(A, B / size)
    error = np.linalg.norm(found.solution / size - expected, axis=0)
    slack = np.linalg.cond(A) * (tol + 1e-13)
    assert np.all(error <= slack * np.linalg.norm(expected, axis=0))


def test_columns_share_applications_until_they_are_solved():
    rng = np.random.default_rng(0)
    Q, A = spectral(rng, np.geomspace(1e-2, 1.0, 60))
    # An eigenvector takes one step.
    B = np.column_stack([Q[:, 3], rng.normal(size=60), np.zeros(60)])
    widths = []

    def apply(V):
        widths.append(V.shape[1])
        return A @ V

    found = conjugate_gradient(apply, B, tol=1e-8)
    assert found.converged
    assert found.residuals[2] == 0.0
    assert widths[0] == 2
    assert widths[1] == 1
    alone = conjugate_gradient(lambda V: A @ V, B[:, 1], tol=1e-8)
    np.testing.assert_allclose(found.solution[:, 1], alone.solution, rtol=1e-6, atol=1e-8)


def test_the_residual_is_true_where_the_recurrence_drifts():
    # Condition 1e12: the recurrence continues to decrease while the true residual does not.
    rng = np.random.default_rng(1)
    A = spectral(rng, np.geomspace(1e-12, 1.0, 80))[1]
    b = rng.normal(size=80)
    found = conjugate_gradient(lambda V: A @ V, b, tol=1e-13, max_iter=3000)
    true = np.linalg.norm(b - A @ found.solution) / np.linalg.norm(b)
    assert found.residual == pytest.approx(true, rel=1e-2, abs=1e-15)
    assert found.converged == (found.residual <= 1e-13)
    assert found.n_iter <= 3000


def test_the_recurrence_starts_again_from_the_true_residual():
    A, calls = np.diag(np.linspace(1.0, 4.0, 50)), []

    def apply(V):
        # Coarse at first: the residual of the recurrence is then not the true residual.
        calls.append(V.shape)
        return (A @ V).astype(np.float32) if len(calls) <= 12 else A @ V

    found = conjugate_gradient(apply, np.ones(50), tol=1e-12)
    assert found.converged
    np.testing.assert_allclose(A @ found.solution, 1.0, atol=1e-10)


@pytest.mark.parametrize("max_iter", [0, 1, 5])
def test_a_limit_of_steps_is_reported(max_iter):
    A = np.diag(np.geomspace(1e-3, 1.0, 50))
    found = conjugate_gradient(lambda V: A @ V, np.ones(50), max_iter=max_iter)
    assert not found.converged
    assert found.n_iter == max_iter
    assert found.residual > 1e-8
    with pytest.warns(ConvergenceWarning, match=f"after {max_iter} steps with a relative residual"):
        found.warn_unconverged(1e-8)


def test_a_column_that_does_not_halve_its_residual_in_time_is_given_up():
    n, c = 40, np.arange(2)
    A = np.logspace(-8, 0, n), 1.0 + c.repeat(n // 2)  # eigenvalues: many, and two
    B, seen = np.ones((n, 2)), []

    def apply(V, numbers):
        seen.append(numbers.tolist())
        return np.column_stack([A[k] * v for k, v in zip(numbers, V.T)])

    found = conjugate_gradient(apply, B, several=True, patience=5)
    assert seen == 2 * [[0, 1]] + 3 * [[0]] + [[0, 1]]  # steps, and the residuals at the end
    assert found.residuals[1] <= 1e-8 < 0.5 < found.residuals[0]
    assert not found.converged
    assert conjugate_gradient(apply, B, several=True).residual < 0.5


def test_indefinite_operators_and_preconditioners_are_told():
    signs = np.array([1.0, 2.0, -1.0])[:, None]
    for apply, precondition in [(lambda V: signs * V, None), (lambda V: 2 * V, lambda V: -V)]:
        found = conjugate_gradient(apply, np.array([0.1, 0.1, 1.0]), precondition=precondition)
        assert not found.definite
        assert not found.converged
        with pytest.warns(ConvergenceWarning, match="not definite"):
            found.warn_unconverged(1e-8)


@given(
    generators(),
    st.integers(1, 30),
    st.integers(0, 8),
    st.sampled_from([1e-6, 1.0, 1e4]),
    st.sampled_from([(), (1,), (3,)]),
)
def test_low_rank_preconditioner_is_the_inverse(rng, n, r, lam, shape):
    L, V = rng.normal(size=(n, r)), rng.normal(size=(n, *shape))
    before = V.copy()
    found = low_rank_preconditioner(L, lam)(V)
    np.testing.assert_array_equal(V, before)
    assert found.shape == V.shape
    A = L @ L.T + lam * np.eye(n)
    slack = 1e-13 * (1.0 + np.trace(L @ L.T) / lam)
    np.testing.assert_allclose(A @ found, V, rtol=0.0, atol=slack * np.abs(V).max())


@pytest.mark.parametrize("lam", [1e-20, 1e-300])
def test_low_rank_preconditioner_stays_definite(lam):
    rng = np.random.default_rng(3)
    L = rng.normal(size=(200, 20)) * np.geomspace(1e-8, 1.0, 20)
    precondition = low_rank_preconditioner(L, lam)
    matrix = precondition(np.eye(200))
    assert np.linalg.eigvalsh(matrix + matrix.T)[0] > 0.0


def test_low_rank_preconditioner_refuses():
    raises(ValueError, "lam=0", low_rank_preconditioner, np.ones((3, 1)), 0.0)
    raises(ValueError, "L contains NaN", low_rank_preconditioner, np.array([[np.nan], [1.0]]), 1.0)


@pytest.mark.parametrize("several", [False, True])
def test_exact_residuals_certify_a_solution_by_an_approximate_operator(several):
    """Iterative refinement: each run gains as many digits as the operator has."""
    rng = np.random.default_rng(0)
    A = spectral(rng, np.geomspace(1e-3, 1.0, 60))[1]
    E = rng.standard_normal((60, 60))
    near, B = A + 3e-6 * (E + E.T), rng.standard_normal((60, 3))

    def product(matrix):
        return (lambda V, numbers: matrix @ V) if several else (lambda V: matrix @ V)

    plain = conjugate_gradient(product(near), B, tol=1e-9, several=several)
    found = conjugate_gradient(product(near), B, tol=1e-9, several=several, exact=product(A))
    assert plain.converged
    assert found.converged
    residuals = [np.linalg.norm(B - A @ r.solution, axis=0) for r in (plain, found)]
    relative = np.array(residuals) / np.linalg.norm(B, axis=0)
    assert relative[0].max() > 1e-3  # the negative control: without them, two digits are right
    np.testing.assert_allclose(found.residuals, relative[1], rtol=1e-3)
    assert relative[1].max() <= 1e-9


def test_a_preconditioner_of_a_factor_in_single_is_an_inverse_in_double():
    """Also for a lam that is far below the rounding errors of products in float32."""
    rng, lam = np.random.default_rng(0), 1e-6
    L = rng.standard_normal((300, 20)).astype(np.float32)
    A, V = L.astype(np.float64) @ L.T.astype(np.float64), rng.standard_normal((300, 2))
    gram = L.T.astype(np.float64) @ L
    found = low_rank_preconditioner(L, lam, gram=gram)(A @ V + lam * V)
    np.testing.assert_allclose(found, V, atol=1e-5)
    # The negative control: a vector that is rounded to float32 gives the inverse of another one.
    rounded = (A @ V + lam * V).astype(np.float32).astype(np.float64)
    assert np.abs(low_rank_preconditioner(L, lam, gram=gram)(rounded) - V).max() > 0.1
