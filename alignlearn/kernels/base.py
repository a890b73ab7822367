"""The kernel class, and the operations that keep a kernel positive semi-definite.

Closure rules (Berlinet and Thomas-Agnan 2004; Shawe-Taylor and Cristianini 2004, section 3.4):
non-negative multiples, sums, products, natural powers, a non-negative constant added, ``f(x) k(x,
x') f(x')``, the exponential, and normalisation to unit diagonal. What lies outside them (a
difference, a negative multiple, a negative shift) may or may not be a kernel, so it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from alignlearn.engine import cpu
from alignlearn.engine import program as ops
from alignlearn.validation import check_samples


class KernelRuleError(ValueError):
    """A combination that is not guaranteed to be positive semi-definite."""


@dataclass(frozen=True)
class Kernel:
    """A symmetric function of two samples.

    Kernels are immutable, hashable, comparable and small to pickle. ``kernel(X, Y=None)`` is the
    Gram matrix, shape (n_X, n_Y); ``kernel.diag(X)`` its diagonal, shape (n_X,).
    """

    is_psd = True  # False: indefinite on some samples
    _is_exponential = False  # exp(rate * primitive): takes part in ladders
    _rate = 0.0
    _needs_vectors = True  # False: also works on arbitrary objects
    _largest_value = None  # of k(x, x) over all x, where it is known
    _given_dtype = None  # of given matrices that its values are read from

    def __call__(self, X, Y=None):
        """Gram matrix between the rows of X and of Y (X itself if None), shape (n_X, n_Y).

        float32 if both are float32, else float64.
        """
        X = check_samples("X", X, self._needs_vectors)
        if Y is not None:
            Y = check_samples("Y", Y, self._needs_vectors)
            if getattr(X, "ndim", 1) == 2 == getattr(Y, "ndim", 1) and X.shape[1] != Y.shape[1]:
                raise ValueError(
                    f"X has {X.shape[1]} columns but Y has {Y.shape[1]}; they must have the same."
                )
        return cpu.weighted_gram([self.resolve(X)], [1.0], X, Y)

    def diag(self, X):
        """``k(x, x)`` for each row of X, float64 of shape (n_X,)."""
        X = check_samples("X", X, self._needs_vectors)
        return cpu.gram_diagonals([self.resolve(X)], X)[0]

    def resolve(self, X):
        """This kernel with data-dependent parameters (``gamma="scale"``) replaced by numbers."""
        changes = {
            f.name: v.resolve(X)
            for f in fields(self)
            if isinstance(v := getattr(self, f.name), Kernel)
        }
        return replace(self, **changes) if changes else self

    def _lower(self, builder, dst, mode) -> float:
        """Emit the operations that fill row ``dst``; return value minus register (the offset).

        ``mode`` (`alignlearn.engine.program.Mode`) says what the register may lack.
        """
        raise TypeError(f"{type(self).__name__} has no lowering.")  # pragma: no cover

    def _require_psd(self, rule):
        if not self.is_psd:
            raise KernelRuleError(
                f"{self!r} is indefinite; {rule} is only guaranteed to be a kernel for positive "
                "semi-definite arguments."
            )

    # Algebra

    def __add__(self, other):
        if _is_number(other):
            return self.shifted(other)
        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    __radd__ = __add__

    def __mul__(self, other):
        if _is_number(other):
            return Scaled(self, _non_negative(other, "a multiple", f"{other!r} * {self!r}"))
        return Product((self, other)) if isinstance(other, Kernel) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other):
        if not _is_number(other):
            return NotImplemented
        if not (0.0 < other < np.inf):
            raise KernelRuleError(f"({self!r}) / {other!r}: a divisor must be finite and > 0.")
        return self * (1.0 / other)

    def __pow__(self, exponent):
        if not (_is_number(exponent) and 1 <= exponent < np.inf and exponent == int(exponent)):
            raise KernelRuleError(
                f"({self!r}) ** {exponent!r}: only natural powers 1, 2, 3, ... of a kernel are "
                "guaranteed to be kernels."
            )
        return Power(self, int(exponent))

    def __sub__(self, other):
        if _is_number(other):
            return self.shifted(-other)
        raise _difference(self, other)

    def __rsub__(self, other):
        raise _difference(other, self)

    def __neg__(self):
        return self * -1.0

    def shifted(self, c):
        """``k + c`` for a constant ``c >= 0``."""
        return Shifted(self, _non_negative(c, "a shift", f"{self!r} + {c!r}"))

    def weighted(self, f):
        """``f(x) k(x, x') f(x')``; ``f`` maps an (m, d) array to (m,) values (picklable)."""
        if not callable(f):
            raise TypeError(f"f must be a callable X -> (m,) values, got {f!r}.")
        return Weighted(self, f)

    def exp(self):
        """``exp(k)``."""
        return Exponentiated(self)

    def normalized(self):
        """``k(x, x') / sqrt(k(x, x) k(x', x'))``; 0 where ``k(x, x) = 0``."""
        return Normalized(self)


def _is_number(value):
    real = (int, float, np.integer, np.floating)
    return isinstance(value, real) and not isinstance(value, (bool, np.bool_))


def _difference(left, right):
    return KernelRuleError(
        f"{left!r} - {right!r}: a difference of kernels is not guaranteed to be positive "
        "semi-definite; only sums with non-negative coefficients are."
    )


def _non_negative(value, rule, expression):
    if not _is_number(value):
        raise TypeError(f"{expression}: {rule} must be a real number >= 0, got {value!r}.")
    value = float(value)
    if not (0.0 <= value < np.inf):
        raise KernelRuleError(
            f"{expression}: {rule} must be finite and >= 0, otherwise the result is not guaranteed "
            "to be positive semi-definite."
        )
    return value


@dataclass(frozen=True)
class _Several(Kernel):
    """A combination of several kernels, flattened by associativity."""

    kernels: tuple

    def __post_init__(self):
        flat = []
        for k in self.kernels:
            flat.extend(k.kernels if type(k) is type(self) else (k,))
        object.__setattr__(self, "kernels", tuple(flat))

    def resolve(self, X):
        return type(self)(tuple(k.resolve(X) for k in self.kernels))

    @property
    def is_psd(self):
        return all(k.is_psd for k in self.kernels)

    @property
    def _needs_vectors(self):
        return any(k._needs_vectors for k in self.kernels)

    @property
    def _given_dtype(self):
        return _coarsest(k._given_dtype for k in self.kernels)


def _coarsest(dtypes):
    """The type of the fewest digits; None where nothing is given."""
    return min((d for d in dtypes if d is not None), key=lambda d: d.itemsize, default=None)


@dataclass(frozen=True)
class Sum(_Several):
    """``k_1 + k_2 + ...``."""

    def __str__(self):
        return " + ".join(str(k) for k in self.kernels)

    def _lower(self, b, dst, mode):
        total = self.kernels[0]._lower(b, dst, mode)
        row = b.temporary()
        for kernel in self.kernels[1:]:
            # A multiple is folded into the addition.
            scale, inner = (kernel.scale, kernel.kernel) if type(kernel) is Scaled else (1, kernel)
            total += scale * inner._lower(b, row, mode)
            b.emit(ops.ADD, dst, row, f0=scale)
        b.release(row)
        return total


class SignedSum(Sum):
    """A sum of kernels with weights of any sign, indefinite unless shown otherwise."""

    is_psd = False


def weighted_sum(kernels, weights):
    """``sum_k weights_k K_k`` as a kernel; terms of weight 0 are left out."""
    terms = tuple(Scaled(k, float(w)) for k, w in zip(kernels, weights) if w != 0.0)
    return Sum(terms) if min(weights) >= 0.0 else SignedSum(terms)


@dataclass(frozen=True)
class Product(_Several):
    """``k_1 k_2 ...``, pointwise (Schur)."""

    def __post_init__(self):
        super().__post_init__()
        for k in self.kernels:
            k._require_psd("a product")

    def __str__(self):
        return " * ".join(f"({k})" if isinstance(k, Sum) else str(k) for k in self.kernels)

    def _lower(self, b, dst, mode):
        b.exact_value(self.kernels[0], dst)
        row = b.temporary()
        for kernel in self.kernels[1:]:
            b.exact_value(kernel, row)
            b.emit(ops.MULTIPLY, dst, row)
        b.release(row)
        return 0.0


@dataclass(frozen=True)
class Unary(Kernel):
    """A kernel made of one other."""

    kernel: Kernel

    @property
    def is_psd(self):
        return self.kernel.is_psd

    @property
    def _needs_vectors(self):
        return self.kernel._needs_vectors

    @property
    def _given_dtype(self):
        return self.kernel._given_dtype


@dataclass(frozen=True)
class Scaled(Unary):
    """``scale k`` with ``scale >= 0``."""

    scale: float = 1.0

    def __str__(self):
        return f"{self.scale:g} * {self.kernel}"

    def _lower(self, b, dst, mode):
        offset = self.kernel._lower(b, dst, mode)
        b.emit(ops.AFFINE_IN_PLACE, dst, f0=self.scale)
        return self.scale * offset


@dataclass(frozen=True)
class Shifted(Unary):
    """``k + shift`` with ``shift >= 0``."""

    shift: float = 0.0

    def __str__(self):
        return f"{self.kernel} + {self.shift:g}"

    def _lower(self, b, dst, mode):
        return self.kernel._lower(b, dst, mode) + self.shift


@dataclass(frozen=True)
class Power(Unary):
    """``k^exponent``, a natural power."""

    exponent: int = 1

    def __post_init__(self):
        self.kernel._require_psd("a power")

    def __str__(self):
        return f"({self.kernel})^{self.exponent}"

    def _lower(self, b, dst, mode):
        b.exact_value(self.kernel, dst)
        b.emit(ops.POWER_IN_PLACE, dst, integer=self.exponent)
        return 0.0


@dataclass(frozen=True)
class Exponentiated(Unary):
    """``exp(k)``."""

    def __post_init__(self):
        self.kernel._require_psd("an exponential")

    def __str__(self):
        return f"exp({self.kernel})"

    def _lower(self, b, dst, mode):
        b.exact_value(self.kernel, dst)
        b.emit(ops.EXP_IN_PLACE, dst, f0=1.0)
        return 0.0


@dataclass(frozen=True)
class Weighted(Unary):
    """``f(x) k(x, x') f(x')``."""

    f: object = None

    def __str__(self):
        return f"{getattr(self.f, '__name__', self.f)}-weighted {self.kernel}"

    def _lower(self, b, dst, mode):
        b.exact_value(self.kernel, dst)
        b.emit(ops.FACTOR, dst, integer=b.factor(self.f))
        return 0.0


@dataclass(frozen=True)
class Normalized(Unary):
    """``k(x, x') / sqrt(k(x, x) k(x', x'))``."""

    _largest_value = 1.0

    def __post_init__(self):
        self.kernel._require_psd("a normalisation")

    def __str__(self):
        return f"normalized {self.kernel}"

    def _inverse_norm(self, X):
        diagonal = self.kernel.diag(X)
        return np.where(diagonal > 0, 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)

    def _lower(self, b, dst, mode):
        b.exact_value(self.kernel, dst)
        b.emit(ops.FACTOR, dst, integer=b.factor(self._inverse_norm))
        return 0.0
