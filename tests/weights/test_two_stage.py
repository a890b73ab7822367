"""Weights against NumPy, enumeration, random search, closed forms; properties of alignment."""

import copy
import pickle

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import eigh
from sklearn.base import clone

from alignlearn.statistics import AlignmentStatistics
from alignlearn.validation import DegenerateKernelWarning
from alignlearn.weights import (
    Align,
    AlignF,
    AlignLinear,
    AlignLq,
    Consensus,
    MaxEntropy,
    Uniform,
    get_weighting,
)

WITHOUT_TARGET = [Uniform(), Consensus(), MaxEntropy()]
WITH_TARGET = [Align(), AlignF(), AlignLinear(alpha=1e-6), AlignLq(), AlignLq(q=1.5)]
RULES = WITHOUT_TARGET + WITH_TARGET
seeds = st.integers(0, 2**32 - 1)


def gram_statistics(matrices, y):
    """Statistics by the definition: center every Gram matrix with H K H."""
    m = len(y)
    H = np.eye(m) - 1 / m
    centered = [H @ K @ H for K in matrices]
    T = np.outer(H @ y, H @ y)
    return AlignmentStatistics(
        a=np.array([(K * T).sum() for K in centered]),
        M=np.array([[(K * L).sum() for L in centered] for K in centered]),
        trace=np.array([np.trace(K) for K in centered]),
        target_norm=float(np.linalg.norm(T)),
        n_samples=m,
        names=tuple(f"k{i}" for i in range(len(matrices))),
    )


def naive_alignment(weights, matrices, y):
    m = len(y)
    H = np.eye(m) - 1 / m
    K = H @ sum(w * K for w, K in zip(weights, matrices)) @ H
    T = np.outer(H @ y, H @ y)
    return (K * T).sum() / (np.linalg.norm(K) * np.linalg.norm(T))


def problem(seed, p=5, m=12):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 3))
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    matrices = [np.exp(-g * D) for g in 2.0 ** rng.uniform(-3, 3, p - p // 2)]
    for _ in range(p // 2):
        v = rng.standard_normal(m)
        matrices.append(np.outer(v, v))
    return matrices, X[:, 0] + 0.3 * rng.standard_normal(m)


def statistics_of(a, M, target_norm=1.0):
    a = np.asarray(a, dtype=float)
    names = tuple(map(str, range(a.size)))
    return AlignmentStatistics(
        a, np.asarray(M, dtype=float), np.ones(a.size), target_norm, 9, names
    )


@given(seed=seeds, p=st.integers(1, 6))
def test_alignf_is_the_best_nonnegative_combination(seed, p):
    matrices, y = problem(seed, p)
    stats = gram_statistics(matrices, y)
    result = AlignF().solve(stats)
    assert result.alignment == pytest.approx(naive_alignment(result.weights, matrices, y), abs=1e-9)
    assert result.weights.min() >= 0
    assert result.weights.sum() == pytest.approx(1, rel=1e-14)
    assert result.kkt_residual <= 1e-10
    uniform = np.ones(p)
    assert result.uniform_alignment == pytest.approx(
        naive_alignment(uniform, matrices, y), abs=1e-9
    )
    others = [*result.kernel_alignments, Align().solve(stats).alignment]
    assert result.alignment >= max(others) - 1e-10


@given(seed=seeds)
def test_scaling_a_kernel_divides_its_weight(seed):
    matrices, y = problem(seed, 4)
    stats = gram_statistics(matrices, y)
    scale = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, 4)
    for rule in (AlignF(normalize=None), AlignLinear(alpha=1e-3, normalize=None)):
        w, scaled = rule.solve(stats).weights, rule.solve(stats.scaled(scale)).weights
        np.testing.assert_allclose(scaled * scale, w, rtol=1e-5, atol=1e-7 * np.abs(w).max())


@given(seed=seeds)
def test_order_of_kernels_does_not_matter(seed):
    matrices, y = problem(seed, 4)
    order = np.random.default_rng(seed).permutation(4)
    stats, permuted = (
        gram_statistics(list(k), y) for k in (matrices, [matrices[i] for i in order])
    )
    for rule in (*RULES[:3], AlignLinear(alpha=1e-3), *RULES[4:]):
        w, v = rule.solve(stats).weights, rule.solve(permuted).weights
        np.testing.assert_allclose(v, w[order], rtol=1e-5, atol=1e-7)


@each("rule", RULES)
def test_identical_kernels_have_equal_weights_and_kernels_of_zeros_none(rule):
    matrices, y = problem(1, 4)
    given = [*matrices, matrices[0], matrices[2], np.zeros((len(y), len(y)))]
    result = rule.solve(gram_statistics(given, y))
    np.testing.assert_allclose(result.weights[[4, 5]], result.weights[[0, 2]], rtol=1e-8)
    assert result.groups == ((0, 4), (2, 5))
    assert result.zero_kernels == (6,)
    assert result.weights[6] == 0


def test_align_is_equation_3():
    matrices, y = problem(2)
    stats = gram_statistics(matrices, y)
    expected = [naive_alignment([1], [K], y) for K in matrices]
    result = Align(normalize=None).solve(stats)
    np.testing.assert_allclose(result.weights, expected, rtol=1e-9)
    np.testing.assert_allclose(result.kernel_alignments, expected, rtol=1e-9)
    clipped = Align().solve(statistics_of([1.0, -0.5], np.eye(2), 2.0)).weights
    np.testing.assert_array_equal(clipped, [1, 0])


@given(seed=seeds)
def test_alignlinear_is_the_best_direction(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((12, 4))
    b = rng.standard_normal(12)
    stats = statistics_of(A.T @ b, A.T @ A, float(np.linalg.norm(b)))
    result = AlignLinear().solve(stats)
    top = eigh(np.outer(stats.a, stats.a), stats.M, eigvals_only=True)[-1]
    assert result.alignment == pytest.approx(np.sqrt(top) / stats.target_norm, rel=1e-9)
    assert max(stats.alignment(w) for w in rng.standard_normal((50, 4))) <= result.alignment + 1e-12
    assert not result.nonnegative
    assert np.abs(result.weights).sum() == pytest.approx(1)
    assert result.kkt_residual < 1e-12


def test_alignlinear_on_a_singular_matrix():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 3))
    A = np.column_stack([A, A[:, 0] + A[:, 1]])
    b = rng.standard_normal(12)
    stats = statistics_of(A.T @ b, A.T @ A, float(np.linalg.norm(b)))
    best = AlignLinear().solve(statistics_of(A[:, :3].T @ b, A[:, :3].T @ A[:, :3], 1.0)).alignment
    best /= stats.target_norm
    with pytest.raises(ValueError, match=r"condition number .* accepted: independent kernels"):
        AlignLinear(singular="raise").solve(stats)
    with pytest.warns(DegenerateKernelWarning, match="condition number"):
        assert AlignLinear().solve(stats).alignment == pytest.approx(best, rel=1e-7)
    pinv = AlignLinear(singular="pinv", normalize=None).solve(stats)
    d = np.diag(stats.M) ** -0.5
    S = stats.M * np.outer(d, d)
    np.testing.assert_allclose(pinv.weights, d * (np.linalg.pinv(S, rcond=1e-10) @ (d * stats.a)))
    assert pinv.alignment == pytest.approx(best, rel=1e-12)
    ridge = AlignLinear(alpha=0.1, normalize=None).solve(stats).weights
    np.testing.assert_allclose(ridge, d * np.linalg.solve(S + 0.1 * np.eye(4), d * stats.a))
    rounded = statistics_of([1.0, 1.0], [[1.0, 1.0 + 1e-8], [1.0 + 1e-8, 1.0]])
    with pytest.raises(ValueError, match=r"number 2e\+08 after scaling, and an eigenvalue is neg"):
        AlignLinear(singular="raise").solve(rounded)


@each("q", [1.2, 2.0, 3.0, 7.5])
def test_proposition_7_against_random_search(q):
    rng = np.random.default_rng(0)
    a = np.array([2.0, 1.0, 0.3, -0.5])
    result = AlignLq(q=q, Lambda=1.7, normalize=None).solve(statistics_of(a, np.eye(4), 3.0))
    assert (result.weights**q).sum() == pytest.approx(1.7)
    assert result.weights[3] == 0
    trials = rng.random((2000, 4)) ** 2
    trials *= (1.7 / (trials**q).sum(axis=1))[:, None] ** (1 / q)
    assert (trials @ a).max() <= result.objective
    near = np.maximum(result.weights + 1e-3 * rng.standard_normal((2000, 4)), 0)
    near *= (1.7 / (near**q).sum(axis=1))[:, None] ** (1 / q)
    assert (near @ a).max() <= result.objective * (1 + 1e-12)


def test_lq_limits():
    stats = statistics_of([2.0, 1.0, 2.0, 0.0], np.eye(4), 4.0)
    np.testing.assert_allclose(AlignLq(q=1).solve(stats).weights, [0.5, 0, 0.5, 0])
    np.testing.assert_allclose(AlignLq(q=np.inf).solve(stats).weights, np.array([1, 1, 1, 0]) / 3)
    near_one = AlignLq(q=1 + 1e-9).solve(stats).weights
    np.testing.assert_allclose(near_one, [0.5, 0, 0.5, 0])


@each("rule", WITH_TARGET)
def test_degenerate_targets_fall_back_to_uniform(rule):
    M = np.diag([1.0, 0.0, 2.0])
    with pytest.warns(DegenerateKernelWarning, match="target is constant"):
        result = rule.solve(statistics_of([0, 0, 0], M, 0.0))
    np.testing.assert_array_equal(result.weights, [0.5, 0, 0.5])
    assert result.alignment == 0
    assert result.fallback
    with pytest.warns(DegenerateKernelWarning, match="aligned with"):
        result = rule.solve(statistics_of([0, 0, 0], M, 1.0))
    np.testing.assert_array_equal(result.weights, [0.5, 0, 0.5])
    with pytest.raises(ValueError, match="every kernel is constant"):
        rule.solve(statistics_of([0, 0], np.zeros((2, 2))))


def test_only_negative_alignments_fall_back_but_not_for_free_signs():
    stats = statistics_of([-1.0, -0.5], np.eye(2), 2.0)
    with pytest.warns(DegenerateKernelWarning, match="no kernel is positively aligned"):
        assert AlignF().solve(stats).fallback
    np.testing.assert_allclose(AlignLinear(normalize=None).solve(stats).weights, [-1, -0.5])


@each("rule", RULES)
def test_normalizations(rule):
    stats = gram_statistics(*problem(4))
    raw = clone(rule).set_params(normalize=None).solve(stats).weights
    for normalize, order in (("l1", 1), ("l2", 2)):
        w = clone(rule).set_params(normalize=normalize).solve(stats).weights
        assert np.linalg.norm(w, order) == pytest.approx(1)
        np.testing.assert_allclose(w / np.linalg.norm(w), raw / np.linalg.norm(raw), rtol=1e-10)


def test_get_weighting():
    for name, rule in {"alignf-linear": AlignLinear, "align-lq": AlignLq}.items():
        assert type(get_weighting(name)) is rule
    rule = AlignLq(q=3)
    assert get_weighting(rule) is rule
    with pytest.raises(ValueError, match=r"'alignF' is not known; accepted: 'uniform', 'align'"):
        get_weighting("alignF")


@each("rule", RULES)
def test_parameters_clone_pickle_and_leave_the_input_alone(rule):
    stats = gram_statistics(*problem(5))
    before = copy.deepcopy(stats)
    weights = rule.solve(stats).weights
    np.testing.assert_array_equal(stats.a, before.a)
    np.testing.assert_array_equal(stats.M, before.M)
    same = eval(repr(pickle.loads(pickle.dumps(clone(rule)))))
    assert same.get_params() == rule.get_params()
    np.testing.assert_array_equal(same.solve(stats).weights, weights)
