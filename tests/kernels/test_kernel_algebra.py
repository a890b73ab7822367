"""Closure rules: values of combinations, and errors that name the rule."""

import operator
import pickle

import numpy as np
import pytest
from cases import each
from refusals import raises

import alignlearn as al
from alignlearn.kernels import weighted_sum

X = np.random.default_rng(0).normal(size=(31, 4))
Z = np.random.default_rng(1).normal(size=(13, 4))
G, L, P = al.Gaussian(0.3), al.Linear(), al.Polynomial(0.2, 1.0, 2)


def first_column(A):
    """A factor f(x) that pickles."""
    return A[:, 0]


def _normalized(k):
    return lambda A, B: k(A, B) / np.sqrt(np.outer(k.diag(A), k.diag(B)))


RULES = {
    "sum": (G + L, lambda A, B: G(A, B) + L(A, B)),
    "sum of three, flattened": (G + (L + P), lambda A, B: G(A, B) + L(A, B) + P(A, B)),
    "sum builtin": (sum([G, L]), lambda A, B: G(A, B) + L(A, B)),
    "multiple": (2.5 * G, lambda A, B: 2.5 * G(A, B)),
    "multiple by NumPy's number": (np.float64(2.5) * G, lambda A, B: 2.5 * G(A, B)),
    "multiple from the right": (G * np.float64(2.5), lambda A, B: 2.5 * G(A, B)),
    "zero multiple": (0 * G, lambda A, B: 0 * G(A, B)),
    "quotient by a number": (G / 4, lambda A, B: G(A, B) / 4),
    "sum of multiples": (2 * G + 3 * (4 * L), lambda A, B: 2 * G(A, B) + 12 * L(A, B)),
    "product": (G * L, lambda A, B: G(A, B) * L(A, B)),
    "product of sums": ((G + 1) * (L + P), lambda A, B: (G(A, B) + 1) * (L(A, B) + P(A, B))),
    "power": ((G + L) ** 3, lambda A, B: (G(A, B) + L(A, B)) ** 3),
    "shift": (G + 0.5, lambda A, B: G(A, B) + 0.5),
    "shift from the left": (0.5 + L, lambda A, B: L(A, B) + 0.5),
    "shift twice": (G.shifted(1) - (-2), lambda A, B: G(A, B) + 3),
    "factor": (G.weighted(first_column), lambda A, B: A[:, :1] * G(A, B) * B[:, 0]),
    "exponential": ((0.5 * G + 0.1 * L).exp(), lambda A, B: np.exp(0.5 * G(A, B) + 0.1 * L(A, B))),
    "normalized": (P.normalized(), _normalized(P)),
    "normalized sum": ((G + L).normalized(), _normalized(G + L)),
    "cosine is normalized linear": (al.Cosine(), _normalized(L)),
    "on columns": (al.Columns(G, [2, 0]), lambda A, B: G(A[:, [2, 0]], B[:, [2, 0]])),
    "on one column": (al.Columns(L, 3), lambda A, B: np.outer(A[:, 3], B[:, 3])),
    "on a slice": (al.Columns(G, slice(1, 3)), lambda A, B: G(A[:, 1:3], B[:, 1:3])),
    "on a repeated column": (al.Columns(G, [1, 1]), lambda A, B: G(A[:, [1, 1]], B[:, [1, 1]])),
    "columns of a combination": (
        al.Columns(G * L + al.Columns(P, [0, 1]), [3, 1, 0]),
        lambda A, B: (G * L)(A[:, [3, 1, 0]], B[:, [3, 1, 0]]) + P(A[:, [3, 1]], B[:, [3, 1]]),
    ),
    "factor and norm on columns": (
        al.Columns(P.normalized().weighted(first_column), [2, 1]),
        lambda A, B: A[:, [2]] * _normalized(P)(A[:, [2, 1]], B[:, [2, 1]]) * B[:, 2],
    ),
    "feature sets": (
        al.Columns(G, [0, 1]) * al.Columns(al.Laplacian(0.5), [2, 3]) + al.Columns(L, [0]),
        lambda A, B: (
            G(A[:, :2], B[:, :2]) * al.Laplacian(0.5)(A[:, 2:], B[:, 2:])
            + np.outer(A[:, 0], B[:, 0])
        ),
    ),
    "indefinite sum": (al.TL1(3.0) + al.Log(), lambda A, B: al.TL1(3.0)(A, B) + al.Log()(A, B)),
}


@each("rule", RULES)
def test_combination_has_the_values_of_its_rule(rule):
    kernel, expected = RULES[rule]
    # float: numpy.float64 * kernel must not end as an array of objects.
    assert isinstance(kernel, al.Kernel)
    for A, B, K in [(X, Z, kernel(X, Z)), (X, X, kernel(X))]:
        np.testing.assert_allclose(K, expected(A, B), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(kernel(X)), rtol=1e-12, atol=1e-14)
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert hash(pickle.loads(pickle.dumps(kernel))) == hash(kernel)


def test_inner_parameters_are_resolved_on_their_own_columns():
    kernel = 2 * al.Columns(al.Gaussian(), [1]) + al.Columns(
        al.Columns(al.Gaussian(), [0]).normalized(), [2, 3]
    )
    A = X * [1.0, 2.0, 3.0, 4.0]
    expected = 2 * al.Gaussian(1 / A[:, 1].var())(A[:, [1]]) + al.Gaussian(1 / A[:, 2].var())(
        A[:, [2]]
    )
    np.testing.assert_allclose(kernel(A), expected, rtol=1e-12)


REFUSED = {
    "difference": (lambda: G - L, "difference"),
    "difference from a number": (lambda: 1 - G, "difference"),
    "negative": (lambda: -G, "multiple must be finite and >= 0"),
    "negative multiple": (lambda: -2.0 * G, "multiple must be finite and >= 0"),
    "NaN multiple": (lambda: np.nan * G, "multiple"),
    "infinite multiple": (lambda: G * np.inf, "multiple"),
    "negative shift": (lambda: G + (-1), "shift must be finite and >= 0"),
    "negative shift by subtraction": (lambda: G - 1, "shift"),
    "negative shift by name": (lambda: G.shifted(-1e-9), "shift"),
    "NaN shift": (lambda: G.shifted(np.nan), "shift"),
    "division by a negative number": (lambda: G / -2, "divisor"),
    "division by zero": (lambda: G / 0, "divisor"),
    "division by NumPy's zero": (lambda: G / np.float64(0), "divisor"),
    "zero power": (lambda: G**0, "natural powers"),
    "negative power": (lambda: G**-1, "natural powers"),
    "fractional power": (lambda: G**0.5, "natural powers"),
    "NaN power": (lambda: G**np.nan, "natural powers"),
    "infinite power": (lambda: G**np.inf, "natural powers"),
    "boolean power": (lambda: G**True, "natural powers"),
    "power of an indefinite kernel": (lambda: al.TL1(1.0) ** 2, "TL1.*indefinite; a power"),
    "product with TL1": (lambda: G * al.TL1(1.0), "indefinite; a product"),
    "product with an indefinite sum": (lambda: G * (L + al.Log()), "indefinite; a product"),
    "exponential of Log": (lambda: al.Log().exp(), "indefinite; an exponential"),
    "normalized Sigmoid": (lambda: al.Sigmoid().normalized(), "indefinite; a normalization"),
    "normalized on columns": (lambda: al.Columns(al.TL1(), 0).normalized(), "a normalization"),
    "product with a function": (lambda: al.FromFunction(max, is_psd=False) * G, "indefinite"),
}


@each("rule", REFUSED)
def test_combination_without_guarantee_is_refused_with_the_rule(rule):
    combine, message = REFUSED[rule]
    raises(al.KernelRuleError, message, combine)


@each("other", ["rbf", True, 1j, None, np.ones(3)])
def test_what_is_no_kernel_and_no_number_is_a_type_error(other):
    for combine in (operator.add, operator.mul, operator.truediv):
        raises(TypeError, None, combine, G, other)
        raises(TypeError, None, combine, other, G)
    for method in (G.shifted, G.weighted, lambda value: al.Columns(value, [0])):
        raises(TypeError, None, method, None)


def test_indefinite_is_inherited():
    for kernel in (al.TL1(), al.Log(), al.Sigmoid()):
        assert not kernel.is_psd
        for combined in (kernel + G, 2 * kernel, kernel + 1, al.Columns(kernel, 0)):
            assert not combined.is_psd
        assert not kernel.weighted(first_column).is_psd
    assert (G * L + 2 * P).is_psd


@each(
    "columns", [[], -1, [0, -1], [0.5], ["a", 1], True, 2.5, None, [[0, 1]],
                np.array([True, False]), slice(None), slice(-2, 3), slice(2, 0)]
)  # fmt: skip
def test_bad_columns_are_refused_by_name(columns):
    raises(ValueError, r"columns.*(accepted|non-negative)", al.Columns, G, columns)


def test_columns_beyond_the_data_are_refused():
    for kernel in (
        al.Columns(G, 4),
        al.Columns(al.Columns(G, 2), [0, 1]),
        1 + al.Columns(G, [0, 9]),
    ):
        raises(ValueError, r"Columns selects column \d, but X has only", kernel, X)
    with pytest.raises(ValueError, match="Columns needs samples that are the rows"):
        al.Columns(al.FromFunction(max), 0)([1, 2])


def test_factor_of_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"must return one finite value per sample, shape \(31,\)"):
        G.weighted(np.transpose)(X)


def test_normalized_kernel_is_zero_where_the_diagonal_is():
    K = al.Linear().normalized()(np.array([[0.0], [2.0], [-1.0]]))
    np.testing.assert_array_equal(K, [[0, 0, 0], [0, 1, -1], [0, -1, 1]])


SIGNED = al.FromFunction(np.dot)
FLAGGED = [
    *[kernel for kernel, _ in RULES.values()],
    *[al.Matern(nu) for nu in (0.5, 1.5, 2.5)],
    al.RationalQuadratic(),
    al.Hamming(),
    al.Tanimoto(),
    al.Tanimoto() * G,
    al.Periodic(0.5, 1.5),
    al.Gower([0]),
    al.ExponentialDot(0.1),
    *[k(2.0) for k in (al.TL1, al.Log)],
    al.Sigmoid(0.5, -1.0),
    SIGNED**2,
    SIGNED.exp().normalized(),
    weighted_sum([G, al.Laplacian(0.1)], np.array([1.0, -2.0])),
]


@each("kernel", FLAGGED)
def test_what_kernels_say_of_their_values_is_true(kernel):
    A = 2.0 * np.round(X) if kernel == al.Hamming() else 2.0 * X
    K = kernel(A)
    largest = kernel.largest_value
    assert largest is None or K.max() <= largest + 1e-14
    top = kernel.largest_diagonal()
    assert top is None or K.diagonal().max() <= top + 1e-14
    if kernel.has_unit_diagonal:
        np.testing.assert_allclose(K.diagonal(), 1.0, rtol=1e-14)
    assert not kernel.is_non_negative or K.min() >= 0.0


def test_the_largest_diagonal_of_combinations_of_bounded_kernels_is_known():
    for kernel, top in (
        (2.0 * G + 3.0 * al.Laplacian(1.0) + 0.5, 5.5),
        (0.5 * G, 0.5),
        (G + 1.0, 2.0),
    ):
        assert kernel.largest_diagonal() == kernel(X).diagonal().max() == top
    for kernel in (L, G + L, 2.0 * L, L + 0.5, weighted_sum([G, G], [1.0, -1.0])):
        assert kernel.largest_diagonal() is None


def test_which_kernels_are_known_to_be_of_one_sign():
    """Kernels not known to be non-negative may take negative values, and do on the samples."""
    assert all(k.is_non_negative for k in (G, G * al.Laplacian(0.1), 2.0 * G + 1.0, SIGNED**2))
    for kernel in (L, P, G.weighted(first_column), G * L, SIGNED, SIGNED**3, G + L):
        assert not kernel.is_non_negative
    for kernel in (L, G.weighted(first_column), G * L, SIGNED**3, G + L):
        assert kernel(X).min() < 0.0


def test_numbers_beyond_float64_are_refused_with_the_rule():
    huge = 10**400
    for combine in (lambda k: huge * k, lambda k: k / huge, lambda k: k + huge, lambda k: k**huge):
        raises(ValueError, r"gaussian|Gaussian", combine, al.Gaussian(1.0))
