"""The price of learned weights: the theorem on vectors, its moments by hand, deviations, curves."""

import itertools
import math

import numpy as np
import pytest
from alignlearn.theory.bounds import price
from alignlearn.theory.bounds.u_statistics import quadruple_kernel
from alignlearn.theory.figures import price as figure
from alignlearn.theory.figures.curves import CURVES
from cases import each
from refusals import raises
from scipy.optimize import minimize

from alignlearn.bounds.checks import HypothesisNotMet
from alignlearn.bounds.sample_price import quadratic_weights


def drawn(seed, p=4, n=9, shift=0.2):
    rng = np.random.default_rng(seed)
    C, T = rng.random((p, n)), rng.normal(size=n) + 1.0
    return C, T, C + shift * rng.normal(size=(p, n)), T + shift * rng.normal(size=n)


@each("seed", range(20))
def test_weights_are_those_of_a_general_solver(seed):
    C, T, *_ = drawn(seed)
    M, a = C @ C.T, C @ T
    found = quadratic_weights(M, a)
    general = minimize(
        lambda v: v @ M @ v - 2 * v @ a,
        np.ones(4),
        jac=lambda v: 2 * (M @ v - a),
        bounds=[(0, 9)] * 4,
    )
    assert found @ M @ found - 2 * found @ a <= general.fun + 1e-7
    assert (found >= 0).all()


def test_weights_of_singular_and_of_small_matrices():
    """Equal kernels share a weight, and units do not matter; without kernels there is no weight."""
    M, a = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 4.0]]), np.array([1.0, 1.0, 2.0])
    for unit in (1e-20, 1.0, 1e20):
        found = quadratic_weights(unit * M, unit * a)
        assert found[0] + found[1] == pytest.approx(1.0)
        assert found[2] == pytest.approx(0.5)
    for least in (1e-10, 1.5e-14):  # small eigenvalues that are not rounding
        assert quadratic_weights(np.diag([1.0, least]), [1.0, least]) == pytest.approx([1.0, 1.0])
    noise = np.diag([1.0, 2e-15])
    assert quadratic_weights(noise, np.array([1.0, 1.0]))[1] == 0.0
    assert quadratic_weights(np.zeros((2, 2)), np.zeros(2)).tolist() == [0.0, 0.0]


@each("eps", [0.0, 0.1])
@each("seed", range(30))
def test_the_price_by_hand_and_its_inequality(seed, eps):
    """|h|^2 in the norm of the inverse by solving, and the ridge; rho by its definition."""
    C, T, B, S = drawn(seed)
    M, a, M_s, a_s = C @ C.T, C @ T, B @ B.T, B @ S
    v, best = quadratic_weights(M_s, a_s), quadratic_weights(M, a)
    h = (M - M_s) @ v - (a - a_s)
    D = np.diag(np.diag(M))
    d = v - best
    expected = (h @ np.linalg.solve(M + eps * D, h) + eps * d @ D @ d) / (T @ T)
    found = price.learned_price(M, a, M_s, a_s, v, best, T @ T, eps)
    assert found == pytest.approx(expected, rel=1e-9)

    def squared(w):
        return max(w @ a, 0) ** 2 / (w @ M @ w) / (T @ T)

    assert squared(best) - squared(v) <= found + 1e-12


def quadruples(n=3):
    """The statistic's kernel on all quadruples of n points, for two kernels and a target."""
    rng = np.random.default_rng(0)
    F = rng.normal(size=(3, n, 2))
    kernels = [f @ f.T for f in F]
    index = np.array(list(itertools.product(range(n), repeat=4)))
    grid = index[:, :, None], index[:, None, :]
    h = np.array([[quadruple_kernel(K[grid], L[grid]) for L in kernels] for K in kernels])
    weights = np.array([0.5, 0.3, 0.2])
    return h.transpose(2, 0, 1), weights[index].prod(1)


def test_moments_by_hand():
    h, shares = quadruples()
    best, eps = np.array([0.4, 0.7]), 0.3
    found = price.price_moments(h, shares, best, eps)
    mean = np.tensordot(shares, h, 1)
    M = mean[:2, :2]
    D = np.diag(np.diag(M))
    inverse, sizes = np.linalg.inv(M + eps * D), []
    for one in h - mean:
        x, A = one[:2, :2] @ best - one[:2, 2], one[:2, :2]
        of_matrix = [np.trace(A @ inverse @ A @ B) for B in (np.linalg.inv(D), inverse)]
        sizes.append([x @ inverse @ x, *of_matrix])
    means = [found.error, found.matrix, found.relative]
    assert means == pytest.approx(shares @ sizes, rel=1e-9)
    tops = [found.error_largest, found.matrix_largest, found.relative_largest]
    assert tops == pytest.approx(np.sqrt(np.max(sizes, axis=0)), rel=1e-9)
    assert found.eps == eps
    far = np.concatenate([h, 100.0 * h[:1] + 50.0])  # never seen, so not the maximum
    again = price.price_moments(far, np.append(shares, 0.0), best, eps)
    assert again == pytest.approx(found)


def test_the_deviation_by_hand():
    moments = price.PriceMoments(0.01, 2.0, 3.0, 5.0, 7.0, 1.5, 4.0)
    level, etas = math.log(6 / 0.1), {}
    for m, s in ((10_003, 0.3), (10_003, 3.0), (240, 0.3), (80, 0.3), (40, 0.3)):
        k = m // 4
        x, z, etas[m] = (
            math.sqrt(2 * second * level / k) + 2 * largest * level / (3 * k)
            for second, largest in ((2.0, 3.0), (5.0, 7.0), (1.5, 4.0))
        )
        forms = [(x + z * s) ** 2]
        if etas[m] < 0.5:  # the second form does not exist otherwise
            forms.append(x**2 / (1 - 2 * etas[m]))
        found = price.learned_price_deviation(m, 0.1, moments, s, 0.8)
        assert found == pytest.approx((min(forms) + 0.01 * s * s) / 0.8, rel=1e-12)
    assert etas[10_003] < 0.5 < etas[240] < 1.0


def test_what_is_refused():
    M = np.ones((2, 2))
    given = M, np.ones(2), M, np.ones(2), np.ones(2), np.ones(2)
    raises(HypothesisNotMet, "take eps > 0", price.learned_price, *given, 1.0)
    assert price.learned_price(*given, 1.0, eps=0.1) == 0.0
    raises(HypothesisNotMet, "must vary", price.learned_price, *given, 0.0)
    h, shares = quadruples()
    h[:, 1] = h[:, 0]
    h[:, :, 1] = h[:, :, 0]
    raises(HypothesisNotMet, "take eps > 0", price.price_moments, h, shares, np.ones(2), 0.0)


def test_the_fast_inequality_is_smaller_from_a_hundred_samples_on():
    """On a ladder of ten; informative from 6 thousand samples on, theorem 12 from 8 million."""
    curve = CURVES["p1-learned-price-rate"]
    sizes = [50, 100, 1000, 10**4, 10**6]
    fast, slow = curve.values(sizes).values()
    assert (fast < slow).tolist() == [False, True, True, True, True]
    assert slow[3] > 50 * fast[3]
    starts = list(curve.smallest().values())
    assert 3000 < starts[0] < 10_000
    assert starts[1] > 10**6


def test_what_alignf_loses_falls_as_one_over_m_and_what_align_loses_does_not():
    lost = {m: np.abs(figure.losses(m, 40)).mean(axis=0) for m in (100, 6400)}
    ratio = lost[100] / lost[6400]  # 64 for 1/m, 8 for m^(-1/2)
    assert ratio[0] > 30
    assert 4 < ratio[1] < 16
    bound = dict(
        zip((100, 6400), CURVES["p1-learned-price-rate"].values((100, 6400))["oracle inequality"])
    )
    assert all(lost[m][0] < bound[m] for m in lost)
