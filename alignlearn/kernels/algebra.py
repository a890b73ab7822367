"""Operations that keep a kernel positive semidefinite, as kernels composed of kernels.

Closure rules (Berlinet and Thomas-Agnan 2004; Shawe-Taylor and Cristianini 2004, section 3.4):
non-negative multiples, sums, products, natural powers, a non-negative constant added, ``f(x) k(x,
x') f(x')``, the exponential, and normalization to unit diagonal. Pointwise limits of kernels are
kernels; the exponential is the limit of its Taylor sums. Other operations (a difference, a negative
multiple, a negative shift) may not yield a kernel, so they raise `KernelRuleError`, which means
that no rule guarantees the result. ``tests/kernels/test_factory_laws.py`` has an example of both
outcomes for each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from alignlearn._text import listed
from alignlearn.engine import opcodes as ops

from .base import Kernel, check_exponent, result_of


@dataclass(frozen=True)
class _Several(Kernel):
    """A combination of several kernels, flattened by associativity."""

    kernels: tuple

    def __post_init__(self):
        flat = []
        for k in self.kernels:
            flat.extend(k.kernels if type(k) is type(self) else (k,))
        object.__setattr__(self, "kernels", tuple(flat))

    def _rebuilt(self, change):
        return type(self)(tuple(change(k) for k in self.kernels))

    def added_columns(self, n):
        return set().union(*(k.added_columns(n) for k in self.kernels))

    def columns_as_numbers(self, n):
        return set().union(*(k.columns_as_numbers(n) for k in self.kernels))

    reads_packed = property(lambda self: any(k.reads_packed for k in self.kernels))

    def columns_as_sets(self, n):
        return set().union(*(k.columns_as_sets(n) for k in self.kernels))

    is_psd = property(lambda self: all(k.is_psd for k in self.kernels))
    is_non_negative = property(lambda self: all(k.is_non_negative for k in self.kernels))
    needs_vectors = property(lambda self: any(k.needs_vectors for k in self.kernels))
    takes_sparse = property(lambda self: all(k.takes_sparse for k in self.kernels))
    given_dtype = property(lambda self: _coarsest(k.given_dtype for k in self.kernels))


def _coarsest(dtypes):
    """The dtype of the lowest precision; None if there is none."""
    return min((d for d in dtypes if d is not None), key=lambda d: d.itemsize, default=None)


@result_of("sum")
@dataclass(frozen=True)
class Sum(_Several):
    """``k_1 + k_2 + ...``."""

    def __str__(self):
        return listed(self.kernels, show=str, separator=" + ")

    def lower(self, b, dst, mode):
        total = self.kernels[0].lower(b, dst, mode)
        row = b.temporary()
        for kernel in self.kernels[1:]:
            # A multiple is folded into the addition.
            scale, inner = (kernel.scale, kernel.kernel) if type(kernel) is Scaled else (1, kernel)
            total += scale * inner.lower(b, row, mode)
            b.emit(ops.ADD, dst, row, f0=scale)
        b.release(row)
        return total

    def lower_distance(self, b, dst):
        self.kernels[0].lower_distance(b, dst)
        row = b.temporary()
        for kernel in self.kernels[1:]:
            kernel.lower_distance(b, row)
            b.emit(ops.ADD, dst, row, f0=1.0)
        b.release(row)

    def largest_diagonal(self):
        parts = [kernel.largest_diagonal() for kernel in self.kernels]
        return None if None in parts else sum(parts)

    def gradient(self):
        return tuple(term for kernel in self.kernels for term in kernel.gradient())


class SignedSum(Sum):
    """A sum of kernels with weights of any sign, indefinite unless shown otherwise."""

    is_psd = False
    is_non_negative = False

    def largest_diagonal(self):
        return None  # the sum of the largest values of terms of both signs is not a bound


def weighted_sum(kernels, weights):
    """``sum_k weights_k K_k`` as a kernel; terms of weight 0 are left out.

    Examples
    --------
    >>> from alignlearn import Gaussian, Linear
    >>> from alignlearn.kernels import weighted_sum
    >>> weighted_sum([Linear(), Gaussian(0.5)], [2.0, 0.0])([[1.0]], [[3.0]])
    array([[6.]])
    """
    terms = tuple(Scaled(k, float(w)) for k, w in zip(kernels, weights) if w != 0.0)
    return Sum(terms) if min(weights) >= 0.0 else SignedSum(terms)


def weighted_terms(kernel):
    """The kernels and weights whose weighted sum is a kernel."""
    terms = kernel.kernels if type(kernel) is Sum else (kernel,)
    pairs = [(t.kernel, t.scale) if type(t) is Scaled else (t, 1.0) for t in terms]
    return [k for k, _ in pairs], np.array([w for _, w in pairs])


def _factor(kernel):
    return f"({kernel})" if isinstance(kernel, Sum) else str(kernel)


@result_of("product")
@dataclass(frozen=True)
class Product(_Several):
    """``k_1 k_2 ...``, pointwise (Schur)."""

    def __post_init__(self):
        super().__post_init__()
        for k in self.kernels:
            k._require_psd("a product")

    def __str__(self):
        return listed(self.kernels, show=_factor, separator=" * ")

    @property
    def largest_value(self):
        values = [k.largest_value for k in self.kernels]
        return None if None in values else float(np.prod(values))

    @property
    def has_unit_diagonal(self):
        return all(k.has_unit_diagonal for k in self.kernels)

    def unit_form(self):
        if all(k.unit_form() is None for k in self.kernels):
            return None
        return Product(tuple(k.unit_form() or Normalized(k) for k in self.kernels))

    def lower(self, b, dst, mode):
        # Bounded factors first, so that negligible products can be flushed to 0.
        first, *others = sorted(self.kernels, key=lambda k: k.largest_value is None)
        b.exact_value(first, dst)
        row = b.temporary()
        for kernel in others:
            b.exact_value(kernel, row)
            b.emit(ops.MULTIPLY, dst, row)
            if kernel.largest_value is not None:
                b.emit(ops.FLUSH, dst)
        b.release(row)
        return 0.0

    def gradient(self):
        terms = []
        for k, kernel in enumerate(self.kernels):
            others = self.kernels[:k] + self.kernels[k + 1 :]
            terms += times_kernels(kernel.gradient(), others)
        return tuple(terms)


class _AnyProduct(Product):
    """A product of any kernels, indefinite unless shown otherwise."""

    is_psd = False

    def __post_init__(self):
        _Several.__post_init__(self)


def times_kernels(terms, kernels):
    """Multiply terms of a gradient by the values of kernels."""
    return [term._replace(kernel=_AnyProduct((term.kernel, *kernels))) for term in terms]


@dataclass(frozen=True)
class Unary(Kernel):
    """A kernel composed of one other kernel."""

    kernel: Kernel

    is_psd = property(attrgetter("kernel.is_psd"))
    is_non_negative = property(attrgetter("kernel.is_non_negative"))
    needs_vectors = property(attrgetter("kernel.needs_vectors"))
    takes_sparse = property(attrgetter("kernel.takes_sparse"))
    given_dtype = property(attrgetter("kernel.given_dtype"))

    def added_columns(self, n):
        return self.kernel.added_columns(n)

    def columns_as_numbers(self, n):
        return self.kernel.columns_as_numbers(n)

    reads_packed = property(lambda self: self.kernel.reads_packed)

    def columns_as_sets(self, n):
        return self.kernel.columns_as_sets(n)


@result_of("multiple")
@dataclass(frozen=True)
class Scaled(Unary):
    """``scale k`` with ``scale >= 0``."""

    scale: float = 1.0

    def __str__(self):
        return f"{self.scale:g} * {self.kernel}"

    def lower(self, b, dst, mode):
        offset = self.kernel.lower(b, dst, mode)
        b.emit(ops.AFFINE_IN_PLACE, dst, f0=self.scale)
        return self.scale * offset

    def lower_distance(self, b, dst):
        self.kernel.lower_distance(b, dst)
        b.emit(ops.AFFINE_IN_PLACE, dst, f0=self.scale)

    def largest_diagonal(self):
        part = self.kernel.largest_diagonal()
        return None if part is None else self.scale * part

    def unit_form(self):
        return self.kernel.unit_form() if self.scale > 0.0 else None

    def gradient(self):
        return tuple(term.times(self.scale) for term in self.kernel.gradient())


@result_of("shift")
@dataclass(frozen=True)
class Shifted(Unary):
    """``k + shift`` with ``shift >= 0``."""

    shift: float = 0.0

    def __str__(self):
        return f"{self.kernel} + {self.shift:g}"

    def largest_diagonal(self):
        part = self.kernel.largest_diagonal()
        return None if part is None else self.shift + part

    def lower(self, b, dst, mode):
        return self.kernel.lower(b, dst, mode) + self.shift

    def lower_distance(self, b, dst):
        self.kernel.lower_distance(b, dst)

    def gradient(self):
        return self.kernel.gradient()


@result_of("power")
@dataclass(frozen=True)
class Power(Unary):
    """``k^exponent``, a natural power."""

    exponent: int = 1

    def __post_init__(self):
        self.kernel._require_psd("a power")

    def __str__(self):
        return f"({self.kernel})^{self.exponent}"

    @property
    def largest_value(self):
        value = self.kernel.largest_value
        return None if value is None else value**self.exponent

    @property
    def is_non_negative(self):
        return self.exponent % 2 == 0 or self.kernel.is_non_negative

    @property
    def has_unit_diagonal(self):
        return self.kernel.has_unit_diagonal

    def unit_form(self):
        unit = self.kernel.unit_form()
        return None if unit is None else Power(unit, self.exponent)

    def lower(self, b, dst, mode):
        b.exact_value(self.kernel, dst)
        b.emit(ops.POWER_IN_PLACE, dst, integer=self.exponent)
        if self.largest_value is not None:
            b.emit(ops.FLUSH, dst)
        return 0.0

    def gradient(self):
        terms = [term.times(self.exponent) for term in self.kernel.gradient()]
        lower = (Power(self.kernel, self.exponent - 1),) if self.exponent > 1 else ()
        return tuple(times_kernels(terms, lower))


@result_of("exponential")
@dataclass(frozen=True)
class Exponentiated(Unary):
    """``exp(k)``.

    Samples on which ``exp(k(x, x))`` overflows raise a ValueError.
    """

    is_non_negative = True

    def __post_init__(self):
        self.kernel._require_psd("an exponential")

    def __str__(self):
        return f"exp({self.kernel})"

    def unit_form(self):
        return _ExponentialOfDistance(self.kernel)

    def lower(self, b, dst, mode):
        b.domain(self._in_domain)
        row = b.temporary()
        b.exact_value(self.kernel, row)
        b.emit(ops.EXP if mode.full else ops.EXPM1, dst, row, f0=1.0)
        b.release(row)
        return 0.0 if mode.full else 1.0

    def gradient(self):
        return tuple(times_kernels(self.kernel.gradient(), (self,)))

    def _in_domain(self, X):
        check_exponent(self, X, float(self.kernel.diag(X).max()))


@dataclass(frozen=True)
class _ExponentialOfDistance(Unary):
    """``exp(-(k(x, x) + k(x', x') - 2 k(x, x')) / 2)``: the exponential of k, normalized."""

    largest_value = 1.0
    has_unit_diagonal = True
    is_non_negative = True

    def lower(self, b, dst, mode):
        row = b.temporary()
        self.kernel.lower_distance(b, row)
        b.emit(ops.EXP if mode.full else ops.EXPM1, dst, row, f0=-0.5)
        b.release(row)
        return 0.0 if mode.full else 1.0


@result_of("weighting")
@dataclass(frozen=True)
class Weighted(Unary):
    """``f(x) k(x, x') f(x')``."""

    f: object = None

    is_non_negative = False
    takes_sparse = False  # the input of f is unknown

    def columns_as_numbers(self, n):
        return set(range(n))

    def __str__(self):
        return f"{getattr(self.f, '__name__', self.f)}-weighted {self.kernel}"

    def lower(self, b, dst, mode):
        b.exact_value(self.kernel, dst)
        b.emit(ops.FACTOR, dst, integer=b.factor(self.f))
        return 0.0


@result_of("normalization")
@dataclass(frozen=True)
class Normalized(Unary):
    """``k(x, x') / sqrt(k(x, x) k(x', x'))``.

    The argument of an exponential is normalized first, so that it cannot overflow.
    """

    largest_value = 1.0

    def __post_init__(self):
        self.kernel._require_psd("a normalization")

    def __str__(self):
        return f"normalized {self.kernel}"

    def _inverse_norm(self, X):
        diagonal = self.kernel.diag(X)
        return np.where(diagonal > 0, 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)

    def gradient(self):
        unit = self.kernel.unit_form()
        return super().gradient() if unit is None else unit.gradient()

    @property
    def is_exponential(self):
        unit = self.kernel.unit_form()
        return unit is not None and unit.is_exponential

    @property
    def rate(self):
        unit = self.kernel.unit_form()
        return 0.0 if unit is None else unit.rate

    @property
    def has_unit_diagonal(self):
        unit = self.kernel.unit_form()
        return unit is not None and unit.has_unit_diagonal

    def lower(self, b, dst, mode):
        unit = self.kernel.unit_form()
        if unit is not None:
            return unit.lower(b, dst, mode)
        b.exact_value(self.kernel, dst)
        b.emit(ops.FACTOR, dst, integer=b.factor(self._inverse_norm))
        b.emit(ops.FLUSH, dst)
        return 0.0
