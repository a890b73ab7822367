"""The nonnegative QP against enumeration of supports, scipy's NNLS, and invariances."""

import numpy as np
import pytest
from cases import each
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import raises
from scipy.optimize import nnls

from alignlearn.solvers.nnqp import nonnegative_qp
from alignlearn.validation import ConvergenceWarning


def kkt(M, a, v):
    """The certificate by its definition, independent of the library's code."""
    d = 1.0 / np.sqrt(np.where(np.diag(M) > 0, np.diag(M), np.inf))
    g = d * (a - M @ v)
    size = np.abs(d * a).max()
    return max(np.abs(g[v > 0]).max(initial=0.0), g.max(), 0.0) / (size if size > 0 else 1.0)


def objective(M, a, v):
    return v @ M @ v - 2 * v @ a


def check(M, a, **options):
    result = nonnegative_qp(M, a, **options)
    assert result.converged
    assert (result.v >= 0).all()
    assert result.kkt_residual <= 1e-10
    assert kkt(M, a, result.v) <= 1e-10
    # Weights with a large 1-norm, as a matrix of nearly equal rows may have, leave a larger gap at
    # the same residual.
    roots, value = np.sqrt(np.diag(M)), result.v @ a
    size = np.abs(np.divide(a, roots, where=roots > 0, out=np.zeros(len(a)))).max()
    reach = 4.0 * result.kkt_residual * size * (result.v @ roots)
    assert result.duality_gap >= -1e-15
    assert result.duality_gap * value <= max(1e-8 * value, 1.001 * reach)
    return result


@given(
    seed=st.integers(0, 2**32 - 1),
    p=st.integers(1, 25),
    rank=st.integers(1, 25),
    nonnegative=st.booleans(),
    repeated=st.booleans(),
)
@example(seed=14, p=14, rank=7, nonnegative=False, repeated=False)  # a gap of 1.3e-8
def test_certificate_for_any_rank_and_scale(seed, p, rank, nonnegative, repeated):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((rank, p))
    A = np.abs(A) if nonnegative else A
    A = A[:, rng.integers(0, p, p)] if repeated else A
    a = A.T @ rng.standard_normal(rank)
    scale = 10.0 ** rng.uniform(-8, 8, p)
    check(A.T @ A * np.outer(scale, scale), a * scale)


# Up to 64 variables LAPACK does the work, from 65 on compiled code: zero kernels, which change
# nothing, move a problem to either side.
LAST_OF_LAPACK = 64


def padded(M, a, p):
    larger, longer = np.zeros((p, p)), np.zeros(p)
    larger[: a.size, : a.size], longer[: a.size] = M, a
    return larger, longer


@given(
    seed=st.integers(0, 2**32 - 1),
    p=st.integers(1, LAST_OF_LAPACK),
    rank=st.integers(1, 80),
    nonnegative=st.booleans(),
    repeated=st.booleans(),
)
def test_lapack_and_compiled_code_reach_the_minimum(seed, p, rank, nonnegative, repeated):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((rank, p))
    A = np.abs(A) if nonnegative else A
    A = A[:, rng.integers(0, p, p)] if repeated else A
    target = rng.standard_normal(rank)
    M, a = A.T @ A, A.T @ target
    found = []
    for size in (p, LAST_OF_LAPACK, LAST_OF_LAPACK + 1):
        v = check(*padded(M, a, size)).v
        assert (v[p:] == 0.0).all()
        found.append(objective(M, a, v[:p]))
    # The residual of the least squares is the oracle's own quantity, found without M.
    expected = nnls(A, target, maxiter=50 * p + 50)[1] ** 2 - target @ target
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * (target @ target))


def gaussian_ladder(p):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(60)
    H = np.eye(60) - 1 / 60
    V = np.array([(H @ np.exp(-g * D) @ H).ravel() for g in np.geomspace(1e-3, 1e2, p)])
    return V @ V.T, V @ np.outer(H @ y, H @ y).ravel()


@each("p", [1, 2, 8, 20, 40, 64, 65, 200])
def test_gaussian_ladder(p):
    M, a = gaussian_ladder(p)
    if p >= 40:
        assert np.linalg.cond(M) > 1e16
    result = check(M, a)
    best_single = (a / np.sqrt(np.diag(M))).max()
    assert a @ result.v >= best_single**2 * (1 - 1e-12)


def test_duplicates_share_equally():
    rng = np.random.default_rng(3)
    A = np.abs(rng.standard_normal((20, 6)))
    a = A.T @ np.abs(rng.standard_normal(20))
    alone = check(A.T @ A, a)
    copies = [0, 1, 2, 3, 4, 5, 0, 1, 0]
    tripled = check((A.T @ A)[np.ix_(copies, copies)], a[copies])
    expected = alone.v / np.bincount(copies)
    np.testing.assert_allclose(tripled.v, expected[copies], rtol=1e-9, atol=1e-12)
    assert tripled.v[0] == tripled.v[6] == tripled.v[8]


@given(seed=st.integers(0, 2**32 - 1), p=st.integers(2, 12))
def test_order_and_units_do_not_matter(seed, p):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((p + 3, p))
    M, a = A.T @ A, A.T @ rng.standard_normal(p + 3)
    v = check(M, a).v
    order, scale = rng.permutation(p), 10.0 ** rng.uniform(-3, 3, p)
    size = np.abs(v).max() + 1e-300
    permuted = check(M[np.ix_(order, order)], a[order]).v
    np.testing.assert_allclose(permuted, v[order], rtol=1e-6, atol=1e-8 * size)
    scaled = check(M * np.outer(scale, scale), a * scale)
    np.testing.assert_allclose(scaled.v * scale, v, rtol=1e-6, atol=1e-8 * size)
    np.testing.assert_allclose(check(M, 1e6 * a).v, 1e6 * v, rtol=1e-6, atol=1e-2 * size)


def test_rank_one_family_of_4000():
    rng = np.random.default_rng(0)
    V = rng.standard_normal((300, 4000)) * (rng.random((300, 4000)) < 0.05)
    y = V[:, :20].sum(axis=1)
    V -= V.mean(axis=0)
    check((V.T @ V) ** 2, (V.T @ (y - y.mean())) ** 2, check_psd=False)


def test_low_rank_4000():
    rng = np.random.default_rng(0)
    A = np.abs(rng.standard_normal((40, 4000)))
    check(A.T @ A, A.T @ (1 + rng.standard_normal(40)), check_psd=False)


@each(("M", "a", "v"), [([[4.0]], [2.0], [0.5]), (np.eye(2), [0.0, 0.0], [0.0, 0.0]),
                        (np.eye(2), [-1.0, -2.0], [0.0, 0.0])])  # fmt: skip
def test_trivial_cases(M, a, v):
    result = nonnegative_qp(M, a)
    np.testing.assert_array_equal(result.v, v)
    assert result.kkt_residual == 0
    assert result.converged


def test_zero_kernels_get_zero():
    M = np.diag([2.0, 0.0, 0.0])
    np.testing.assert_allclose(nonnegative_qp(M, [1.0, 0.0, -3.0]).v, [0.5, 0, 0])
    raises(ValueError, "unbounded below: M", nonnegative_qp, M, [1.0, 0.5, 0.0])
    M[0, 1] = M[1, 0] = 0.1
    raises(ValueError, "not positive semi-definite", nonnegative_qp, M, [1.0, 0.0, 0.0])


def test_rounding_below_zero_is_tolerated_and_more_is_not():
    Q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 8)))
    w = np.array([1, 1, 1, 1, 1, 1, 1, 0.0])
    a = Q @ (w * np.arange(8.0))
    w[-1] = -1e-13
    check((Q * w) @ Q.T, a)
    w[-1] = -1e-2
    raises(ValueError, r"M is not positive semi-definite.*1e-06", nonnegative_qp, (Q * w) @ Q.T, a)
    message, M = "M is not positive semi-definite", [[1.0, 2.0], [2.0, 1.0]]
    raises(ValueError, message, nonnegative_qp, M, [1.0, 1.0], check_psd=False)


@pytest.mark.parametrize("p", [10, 40, 200])
def test_stopping_short_warns_with_the_residual(p):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((100, p))
    with pytest.warns(ConvergenceWarning, match="KKT residual of"):
        result = nonnegative_qp(A.T @ A, A.T @ rng.standard_normal(100), max_iter=1)
    assert not result.converged
    assert (result.v >= 0).all()


@each(
    ("M", "a", "options", "message"),
    [
        (np.eye(2), [1.0], {}, "M must have shape"),
        (np.eye(2), [[1.0, 2.0]], {}, "a must have shape"),
        (np.eye(2), [1.0, np.nan], {}, "a contains NaN"),
        ([[np.inf, 0.0], [0.0, 1.0]], [1.0, 1.0], {}, "M contains NaN or inf"),
        ([[1.0, 0.1], [0.2, 1.0]], [1.0, 1.0], {}, "M is not symmetric"),
        ([[-1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], {}, "is negative"),
        (np.eye(2), [1.0, 1.0], {"tol": 0.0}, "tol="),
        (np.eye(2), [1.0, 1.0], {"max_iter": 0}, "max_iter="),
    ],
)
def test_bad_input(M, a, options, message):
    raises(ValueError, message, nonnegative_qp, M, a, **options)


def test_a_large_trusted_matrix_is_checked_where_it_matters():
    rng = np.random.default_rng(0)
    A = np.abs(rng.standard_normal((200, 300)))
    M, a = A.T @ A, A.T @ (1.0 + rng.standard_normal(200))
    v = nonnegative_qp(M, a, check_psd=False).v
    np.testing.assert_array_equal(v > 0, nonnegative_qp(M, a).v > 0)
    k = int(np.argmax(v))
    other = (k + 1) % 300
    for value, match in ((np.nan, "NaN"), (1.5 * M[k, other], "not symmetric")):
        bad = M.copy()
        bad[other, k] = value
        raises(ValueError, match, nonnegative_qp, bad, a, check_psd=False)


def test_many_variables_of_a_rough_kernel_need_few_systems():
    """Blocks of exchanges do not end at the solution, and single ones continue where they end."""
    x = np.linspace(0.0, 1.0, 400)
    M, a = np.exp(-20.0 * np.abs(x[:, None] - x)), 0.5 * np.sin(20.0 * x) + 0.6
    found = nonnegative_qp(M, a)
    L = np.linalg.cholesky(M)
    expected = nnls(L.T, np.linalg.solve(L, a))[0]
    assert found.converged
    assert found.n_iter < 60
    np.testing.assert_allclose(found.v, expected, atol=1e-9 * expected.max())
