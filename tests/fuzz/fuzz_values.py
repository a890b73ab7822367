"""Wrong values for arguments, by kind of argument: pairs of a value and whether it must fail.

If a value need not fail, a documented error and a finite result are both right.
"""

from decimal import Decimal
from fractions import Fraction

import numpy as np

import alignlearn as al

MUST, MAY = True, False


class Thing:
    """An object of no particular kind."""


def _with(A, value):
    A = A.astype(object if isinstance(value, (str, Thing)) or value is None else A.dtype)
    A = A.astype(complex) if isinstance(value, complex) else A
    A.flat[A.size // 2] = value
    return A


def _junk():
    """Invalid for every argument but a parameter of free type."""
    return [(Thing(), MUST), ({"a": 1}, MUST), (lambda: 0, MUST), (Thing, MUST), (1j, MUST),
            (b"bytes", MUST), (..., MUST), (np.datetime64("2020-01-01"), MUST)]  # fmt: skip


def numbers(valid):
    """For a real number."""
    return [*_junk(),
        (None, MAY), ("abc", MUST), ("1", MUST), (np.nan, MUST), (np.inf, MAY), (-np.inf, MUST),
        (-1.0, MAY), (0, MAY), (0.0, MAY), (-0.0, MAY), (1e308, MAY), (1e-308, MAY), (5e-324, MAY),
        (10**400, MUST), (-(10**400), MUST), (2**63, MAY), (True, MAY), (np.True_, MAY), ([], MUST),
        ([1.0], MAY), ([1.0, 2.0], MAY), (np.array(1.0), MAY), (np.array([1.0, 2.0]), MAY),
        (Decimal("1"), MAY), (Fraction(1, 2), MAY), (np.float32(0.5), MAY), (np.int8(1), MAY),
        (np.float16(0.5), MAY), (np.longdouble(0.5), MAY), (np.array([]), MUST), (1.5, MAY),
    ]  # fmt: skip


def moderate(valid):
    """For a number whose size is the length of the work."""
    huge = [v for v, _ in numbers(valid) if isinstance(v, (int, float)) and abs(v) > 1e6]
    return [(v, must) for v, must in numbers(valid) if not any(v is w for w in huge)]


def counts(valid):
    """For a whole number or None."""
    return [*moderate(valid), (2.5, MUST)]


def choices(valid):
    """For one of some strings."""
    values = ("abc", "", 5, np.nan, [], ["abc"], True, 0)
    return [*_junk(), *((v, MUST) for v in values), (np.array([1]), MAY)]


def positions(valid):
    """The same where 0 is a position."""
    return [(v, must) for v, must in choices(valid) if type(v) is not int or v != 0]


def strings(valid):
    """The same where functions are accepted."""
    return [(v, must) for v, must in choices(valid) if not callable(v)]


def flags(valid):
    """For True or False."""
    return [(v, MAY) for v in ("yes", "", None, 5, np.nan, [], 1.5, np.array([True, False]), {})]


def matrices(valid):
    """For samples (m, d)."""
    from scipy import sparse

    m, d = valid.shape
    return [*_junk(),
        (None, MUST), ("abc", MUST), (5, MUST), ([], MUST), ([[]], MUST), (valid[:0], MAY),
        (valid[:, :0], MUST), (valid[:, 0], MAY), (valid[None], MUST), (_with(valid, np.nan), MUST),
        (_with(valid, np.inf), MUST), (_with(valid, -np.inf), MUST), (_with(valid, 1j), MUST),
        (_with(valid, "x"), MUST), (_with(valid, None), MUST), (_with(valid, Thing()), MUST),
        (valid.astype(str), MAY), (valid.astype("S8"), MAY), ([[1.0], [1.0, 2.0]], MUST),
        ([*valid.tolist()[:-1], [1.0]], MUST), (set("ab"), MUST), (iter(valid), MUST),
        (valid > 0, MAY), (sparse.csr_matrix(valid), MAY), (sparse.coo_array(valid), MAY),
        (_with(valid, 1e300), MAY), (valid * 1e200, MAY), (valid * 1e-300, MAY),
        (valid.astype(np.longdouble), MAY), (valid.astype(np.float16), MAY), (valid[:-1], MAY),
        (valid[:1], MAY), (np.zeros((m, d)), MAY), (np.ma.masked_array(valid, valid > 0), MAY),
        (valid.astype("datetime64[s]"), MUST), (np.zeros(m, dtype="f8,f8"), MUST),
        (valid[:, [0] * 20], MAY), (_frame(valid, "x"), MUST), (_frame(valid, np.nan), MUST),
        (np.array(5.0), MUST), (valid.astype(object), MAY), ([list("ab")] * m, MUST),
    ]  # fmt: skip


def _frame(A, value):
    import pandas as pd

    frame = pd.DataFrame(A).astype(object if isinstance(value, str) else float)
    frame.iloc[1, 0] = value
    return frame


def labels(valid):
    """For class labels."""
    import pandas as pd

    m, codes = len(valid), np.arange(len(valid)) % 2
    mixed = ["a" if k else 1 for k in codes]
    return [*_junk(),
        (None, MUST), ("abc", MUST), (5, MUST), ([], MUST), (valid[:-1], MUST), (valid[:1], MUST),
        (np.where(codes, np.nan, 1.0), MUST), (np.where(codes, np.inf, 1.0), MUST), (mixed, MUST),
        (np.array(mixed, dtype=object), MUST), ([None, *valid[1:]], MUST), ([Thing()] * m, MUST),
        (np.where(codes, 1j, 1), MUST), (np.stack([valid, valid], axis=1), MAY),
        (valid[:, None], MAY),
        ([[1], [1, 2]] * (m // 2), MUST), (set(codes.tolist()), MUST), (np.zeros(m, "M8[s]"), MUST),
        (codes > 0, MAY), (codes.astype("S1"), MAY), (codes.astype(np.int8), MAY),
        (pd.Series(codes, index=np.arange(m)[::-1]), MAY), (pd.Series(mixed), MUST),
        (pd.Categorical(codes), MAY), (np.array(1), MUST), (codes.astype(np.float32), MAY),
        ([10**30 * int(k) for k in codes], MAY), (iter(codes), MUST), ({0: 1}, MUST),
        (np.zeros((m, 0)), MUST), (codes[None], MAY), (np.ma.masked_array(codes, codes > 0), MAY),
    ]  # fmt: skip


def one_class_labels(valid):
    """For labels of a classifier: continuous and constant ones are wrong as well."""
    more = [(np.zeros(len(valid)), MUST), (["a"] * len(valid), MUST)]
    return labels(valid) + more + [(np.linspace(0.1, 0.9, len(valid)), MAY)]


def targets(valid):
    """For real targets."""
    return [(v, must) for v, must in labels(valid)] + [
        (valid.astype(str), MUST), (_with(valid, np.nan), MUST), (_with(valid, np.inf), MUST),
        (_with(valid, "x"), MUST), (_with(valid, None), MUST), (valid * 1e300, MAY),
        (valid * 1e-300, MAY), (valid * 0, MAY), (valid.astype(np.float16), MAY),
    ]  # fmt: skip


def grams(valid):
    """For a Gram matrix."""
    skew = valid.copy()
    skew[0, 1] += 1.0
    return [*matrices(valid), (skew, MUST), (valid[:, :-1], MAY), (-valid, MAY),
        (valid * 0, MAY),
                                   (np.ones_like(valid), MAY), (valid[:3, :3], MAY)]  # fmt: skip


def optional(kind):
    """The same where None is valid."""
    return lambda valid: [(v, must) for v, must in kind(valid) if v is not None]


def lists_of(kind):
    """For p matrices, each of a kind."""

    def values(valid):
        K = valid[0]
        inside = [([K, v], must) for v, must in kind(K)]
        return [*_junk(), *inside,
            (None, MUST), ("abc", MUST), (5, MUST), ([], MUST), (K, MUST), ({0: K}, MAY),
            (np.zeros((0, 5, 5)), MUST), ([K, K[:3, :3]], MUST), (np.stack(valid)[None], MUST),
            ([[1.0, 2.0]], MUST), ((K for K in valid), MUST), (set("a"), MUST), ([K[0]], MUST),
        ]  # fmt: skip

    return values


def kernel_lists(valid):
    """For kernels; a dict names groups of columns."""
    return [*((v, must) for v, must in _junk() if not isinstance(v, dict)), ({"a": 1}, MAY),
        ("abc", MUST), (5, MUST), ([], MUST), ([None], MUST), (["rbf", 3], MUST), (np.nan, MUST),
        ({"rbf": 1}, MAY), ([lambda x, y: 1.0], MUST), (np.eye(3), MUST), (["precomputed"], MUST),
        (True, MUST), (al.Gaussian, MUST), ([al.Gaussian], MUST), ([["rbf"]], MUST),
        (["RBF"], MUST),
        ([np.eye(3)], MUST), (iter(["rbf"]), MAY), (("rbf",), MAY), (al.Gaussian(), MAY),
        (al.Columns(al.Gaussian(), 99), MUST), ([al.Precomputed(np.eye(2))], MAY),
        ([al.FromFunction(lambda x, y: np.nan)], MUST), ([al.FromFunction(lambda x, y: "a")], MUST),
        ([al.FromFunction(lambda X, Y: 1.0, vectorized=True)], MUST),
        ([al.Gaussian().weighted(lambda X: X)], MUST), ([al.Binomial(1e6)], MUST),
        ([al.Gaussian().weighted(lambda X: np.full(len(X), np.nan))], MUST),
        ("precomputed", MAY), (al.RankOneKernels(), MAY), (al.RankOneKernels(("a",)), MAY),
        ([al.Polynomial(degree=0.5, coef0=-9.0)], MAY), ([al.ExponentialDot(1e6)], MAY),
    ]  # fmt: skip


def rules(valid):
    """For a rule of the weights."""
    unknown = ("abc", None, 5, al.AlignF, [], ["abc"], np.nan, "ALIGNF")
    return [*_junk(), *((v, MUST) for v in unknown),
        (["align", "alignf"], MAY), (al.AlignF(normalize="x"), MUST), (al.AlignLq(q=0.5), MUST),
        (al.LKRR(alpha=-1), MUST), (al.AlignF(max_kernels=0), MUST), (al.LKRR(), MAY),
    ]  # fmt: skip


def folds(valid):
    """For fold labels."""
    m, codes = len(valid), np.arange(len(valid)) % 3
    return [*_junk(),
        ("abc", MUST), (5, MUST), ([], MUST), (codes[:-1], MUST), (np.zeros(m), MUST),
        (codes[:, None], MUST), (["a" if k else 1 for k in codes], MAY),
        ([None, 1] * (m // 2), MAY),
        (np.where(codes, 1.0, np.nan), MAY), ([Thing()] * m, MAY), (list("abc") * (m // 3), MAY),
    ]  # fmt: skip


def splitters(valid):
    """For cv."""
    return [*_junk()[:-3],
        (0, MUST), (1, MUST), (-1, MUST), ("abc", MUST), (5.5, MUST), ([], MUST), (np.nan, MUST),
        ([([0], [99])], MUST), ([([], [1])], MUST), ([(range(5), range(5, 12))], MAY),
        ([1, 2], MUST),
        ([([0.5], [1])], MUST), (True, MUST), (10**9, MAY), ([([0, 1], "ab")], MUST), ([5], MUST),
        (["a", 1] * 6, MAY), ([([-1], [0])], MUST), (np.zeros(12), MUST), (iter([]), MUST),
    ]  # fmt: skip


def seeds(valid):
    """For random_state."""
    return [*_junk(), ("abc", MUST), (-1, MUST), (1.5, MUST), (np.nan, MUST), (10**400, MAY),
        ([], MAY),
                      (np.random.default_rng(0), MAY), (np.random.RandomState(0), MAY)]  # fmt: skip


def grids(valid):
    """For a sequence of numbers > 0."""
    return [*_junk(), ("abc", MUST), ([], MUST), ([np.nan], MUST), ([-1.0], MUST), (["a"], MUST),
                      ([[1.0]], MAY), ([None], MUST), (0.5, MAY), ([0.0], MAY), ([np.inf], MAY),
                      ([1e308], MAY), ([1e-308], MAY), ([True], MUST),
                      ([10**400], MUST)]  # fmt: skip


def perhaps_empty(kind):
    """The same where an empty list is accepted."""
    return lambda valid: [(v, must) for v, must in kind(valid) if not (type(v) is list and v == [])]


def vectors(valid):
    """For a vector of numbers of a given length."""
    return [*_junk(), ("abc", MUST), (np.append(valid, 1.0), MUST), (_with(valid, np.nan), MUST),
                      (_with(valid, "x"), MUST), (valid[:, None], MAY), (_with(valid, 1j), MUST),
                      (_with(valid, np.inf), MUST), (-valid, MAY), (valid * 0, MAY)]  # fmt: skip
