"""Kernels from functions on any objects, and from precomputed Gram matrices."""

from collections.abc import Sequence

import numpy as np
from cases import each
from refusals import raises

from alignlearn.kernels import Columns, FromFunction, Gaussian, Precomputed, precomputed_kernels
from alignlearn.sources import alignment_statistics

WORDS = ["kernel", "kern", "colonel", "", "align", "aligned", "line"]


def common_letters(a, b):
    """Number of letters two words share: an inner product of indicator vectors."""
    return float(len(set(a) & set(b)))


def inner_products(A, B):
    return np.asarray(A) @ np.asarray(B).T


def psd(m, seed=0):
    A = np.random.default_rng(seed).normal(size=(m, m))
    return A @ A.T


def test_function_of_two_strings():
    kernel = FromFunction(common_letters)
    expected = [[len(set(a) & set(b)) for b in WORDS] for a in WORDS]
    np.testing.assert_array_equal(kernel(WORDS), expected)
    np.testing.assert_array_equal(kernel(WORDS[:2], WORDS), expected[:2])
    np.testing.assert_array_equal(kernel.diag(WORDS), np.diagonal(expected))
    np.testing.assert_array_equal((2 * kernel + 1)(WORDS), 2 * np.array(expected) + 1)
    assert str(kernel) == "common_letters"
    assert str(FromFunction(common_letters, name="letters")) == "letters"


def test_function_of_rows_and_vectorized_function():
    X, Z = np.arange(12.0).reshape(4, 3), np.ones((2, 3))
    for kernel in (FromFunction(np.dot), FromFunction(inner_products, vectorized=True)):
        np.testing.assert_array_equal(kernel(X), X @ X.T)
        np.testing.assert_array_equal(kernel(X, Z), X @ Z.T)
        np.testing.assert_array_equal(Columns(kernel, [2])(X), np.outer(X[:, 2], X[:, 2]))
        mixed = kernel + Gaussian(0.1)
        np.testing.assert_allclose(mixed(X), X @ X.T + Gaussian(0.1)(X), rtol=1e-14)


def test_vectorized_function_sees_no_more_than_blocks(monkeypatch):
    from alignlearn.engine import external

    sizes = []

    def spy(A, B):
        sizes.append(len(A) * len(B))
        return inner_products(A, B)

    most = external.BLOCK**2
    monkeypatch.setattr(external, "_BYTES", 8 * most)
    X = np.random.default_rng(0).normal(size=(2 * external.BLOCK + 50, 2))
    kernel = FromFunction(spy, vectorized=True)
    np.testing.assert_allclose(kernel(X), X @ X.T)
    s = alignment_statistics(X, X[:, 0], [kernel])
    expected = alignment_statistics(X, X[:, 0], ["linear"])
    np.testing.assert_allclose(s.M, expected.M, rtol=1e-12)
    assert max(sizes) <= most < X.shape[0] ** 2 / 4


def earlier(a, b):
    """Asymmetric: the length of the first word."""
    return float(len(a))


def one_side(A, B):
    return np.asarray(A)[:, :1] + 0 * np.asarray(B)[:, 0]


@each("m", [2, 3, 40])
def test_asymmetric_functions_are_refused_with_the_pair(m):
    words = ["w" * k for k in range(m)]
    kernel, y = FromFunction(earlier), np.arange(float(m))
    raises(ValueError, r"earlier: function is not symmetric: .*'w+'.* order", kernel, words)
    message = "earlier: function is not symmetric"
    raises(ValueError, message, alignment_statistics, words, y, [2 * kernel + 1])
    sided = FromFunction(one_side, vectorized=True, name="sided")
    raises(ValueError, "sided: function is not symmetric", sided, np.column_stack([y, y]))
    np.testing.assert_array_equal(kernel.diag(words), range(m))


def test_the_check_of_symmetry_allows_rounding_and_costs_eight_calls_per_block():
    calls = []

    def single(a, b):
        calls.append(1)
        return np.float32(1.0) + np.float32(1e-7) * np.sign(b[0] - a[0])

    X = np.arange(60.0)[:, None]
    FromFunction(single)(X)
    assert len(calls) == 60 * 60 + 8


def test_bad_functions_and_samples_are_refused():
    raises(TypeError, "function must be callable", FromFunction, "rbf")
    for empty in ([], 3, np.array(3)):
        raises(ValueError, "X must be a non-empty sequence", FromFunction(common_letters), empty)


@each(
    ("grams", "message"),
    [
        ([np.eye(2), [[1.0, 2.0], [3.0, 1.0]]], "precomputed kernel 1 is not symmetric"),
        ([np.eye(2), np.diag([1.0, np.inf])], "precomputed kernel 1 contains"),
        ([np.array([["a"]])], "precomputed kernel 0 must hold real numbers"),
        ([np.eye(3), np.eye(3)[:2]], "precomputed kernel 1 has shape"),
        (np.zeros((3, 3)), r"shape \(p, m, m\), got \(3, 3\)"),
        ((np.eye(2) for _ in range(2)), "sequence of .* matrices.*generator"),
    ],
)
def test_bad_matrices_are_refused_by_number(grams, message):
    kinds = ValueError, TypeError
    raises(kinds, message, alignment_statistics, grams, [0.0, 1.0, 2.0], "precomputed")
    raises(ValueError, "gram is not symmetric", Precomputed, [[1.0, 2.0], [3.0, 1.0]])


def test_precomputed_takes_sample_numbers():
    K = psd(6)
    kernel = Precomputed(K, name="mine")
    rows = np.array([[4], [1], [1]])
    np.testing.assert_array_equal(kernel(np.arange(6)[:, None]), K)
    np.testing.assert_array_equal(kernel(rows, rows[:1]), K[[4, 1, 1]][:, [4]])
    np.testing.assert_array_equal(kernel.diag(rows), K[[4, 1, 1], [4, 1, 1]])
    np.testing.assert_array_equal(Precomputed(K.tolist())(rows), K[[4, 1, 1]][:, [4, 1, 1]])
    assert kernel.gram is K
    assert str(kernel) == "mine"


def test_precomputed_kernels_are_equal_if_they_hold_one_matrix():
    K, L = np.eye(3), np.ones((3, 3))
    assert Precomputed(K) == Precomputed(K) != Precomputed(K, name="identity")
    assert len({Precomputed(K), Precomputed(K), Precomputed(L), 2 * Precomputed(K)}) == 3


def test_precomputed_next_to_features():
    K, X = psd(6), np.random.default_rng(1).normal(size=(6, 2))
    kernel = Columns(Precomputed(K), 0) + Columns(Gaussian(0.5), [1, 2])
    numbered, expected = np.column_stack([np.arange(6), X]), K + Gaussian(0.5)(X)
    np.testing.assert_allclose(kernel(numbered), expected, rtol=1e-14)
    found = kernel(numbered[[3, 0]], numbered[4:])
    np.testing.assert_allclose(found, expected[[3, 0]][:, 4:], rtol=1e-14)


@each("rows", [[[6]], [[-1]], [[0.5]], [[0, 1]]])
def test_precomputed_refuses_what_is_no_sample_number(rows):
    raises(ValueError, r"row numbers.*integers in \[0, 6\)", Precomputed(psd(6)), np.array(rows))


def test_asymmetry_is_found_in_any_block_and_measured_against_the_largest_entry():
    K = psd(1100) * 1e6
    largest = np.abs(K).max()
    K[1050, 3] += 0.9e-8 * largest
    Precomputed(K)
    K[1050, 3] += 0.2e-8 * largest
    raises(ValueError, "not symmetric", Precomputed, K)


class Lazy(Sequence):
    """Matrices computed on demand."""

    def __len__(self):
        return 3

    def __getitem__(self, k):
        return psd(40, seed=range(3)[k])


def test_every_form_of_precomputed_kernels_gives_the_same_statistics(tmp_path):
    grams = np.array([psd(40, seed=k) for k in range(3)])
    y = np.arange(40.0)
    expected = alignment_statistics(list(grams), y, "precomputed")
    np.save(tmp_path / "grams.npy", grams)
    mapped = np.load(tmp_path / "grams.npy", mmap_mode="r")
    lists = [grams.tolist(), [K.tolist() for K in grams], list(mapped), Lazy()]
    for form in (grams, mapped, *lists):
        s = alignment_statistics(form, y, "precomputed")
        np.testing.assert_array_equal(s.M, expected.M)
        np.testing.assert_array_equal(s.a, expected.a)
    assert expected.names == ("kernel 0", "kernel 1", "kernel 2")
    sample_numbers, kernels = precomputed_kernels(Lazy())
    np.testing.assert_array_equal(kernels[2](sample_numbers), grams[2])
