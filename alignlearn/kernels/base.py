"""The base class of kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from alignlearn._text import Described, listed
from alignlearn._versions import Versioned
from alignlearn.engine import grams, vectormath
from alignlearn.engine import opcodes as ops
from alignlearn.engine.program import Mode
from alignlearn.validation import (
    as_array,
    check_samples,
    check_sparse,
    coded,
    is_sequence,
    is_sparse,
)

_CANCELED = 8.0  # values of a kernel that differ by at most this many rounding units count as equal
LARGEST_POWER = 10**6  # they are repeated products
NAMED = {}  # string -> class of the kernel that it names
# Types of categorical columns of data frames, in lower case.
_CATEGORIES = ("category", "categorical", "enum", "object", "bool", "str", "utf8", "large_string")
_RESULTS = {}  # operation on kernels -> class of the result, registered by `algebra`


class KernelRuleError(ValueError):
    """An operation that is not guaranteed to yield a positive semidefinite kernel.

    Examples
    --------
    >>> from alignlearn import Gaussian, KernelRuleError, Linear
    >>> try:
    ...     Linear() - Gaussian()
    ... except KernelRuleError:
    ...     print("not known to be positive semi-definite")
    ...
    not known to be positive semi-definite
    """


def kernel_samples(name, X, kernels):
    """Check samples for these kernels: return a matrix, `SparseRows`, or any sequence.

    Raises
    ------
    TypeError
        X is sparse, and a kernel does not accept sparse samples.
    """
    X = _unpacked(name, _from_bit_strings(name, X, kernels), kernels)
    floats = isinstance(X, np.ndarray) and X.dtype.kind == "f"  # neither bytes nor categories
    if not floats:
        refuse_packed(name, X, kernels)
    if not is_sparse(X):
        vectors = any(k.needs_vectors for k in kernels)
        if vectors and not floats:
            X = _with_codes(name, X, kernels)
        return check_samples(name, X, vectors)
    for kernel in kernels:
        if not kernel.takes_sparse:
            raise TypeError(
                f"{name} is a sparse matrix, which {kernel} does not accept; accepted: dense "
                f"samples, such as {name}.toarray()."
            )
    return check_sparse(name, X)


def _from_bit_strings(name, X, kernels):
    """Columns of 0 and 1 of strings such as "0110", if kernels read sets; else X itself.

    Raises
    ------
    ValueError
        Strings of several lengths.
    """
    if is_sparse(X) or not all(kernel.needs_vectors for kernel in kernels):
        return X
    texts = X.tolist() if getattr(X, "ndim", 0) == 1 and hasattr(X, "tolist") else X
    if not (isinstance(texts, (list, tuple)) and texts and isinstance(texts[0], str)):
        return X
    bits = all(isinstance(text, str) and set(text) <= {"0", "1"} for text in texts)
    if not bits or not any(kernel.columns_as_sets(1) for kernel in kernels):
        return X
    lengths = {len(text) for text in texts}
    if len(lengths) > 1:
        raise ValueError(
            f"{name} holds strings of {min(lengths)} to {max(lengths)} bits; accepted: strings of "
            "one length."
        )
    codes = np.frombuffer("".join(texts).encode("ascii"), dtype=np.uint8) - ord("0")
    return codes.reshape(len(texts), -1).astype(np.float64)


def _unpacked(name, X, kernels):
    """Columns of 0 and 1 of bytes of ``np.packbits``, if a kernel reads these; else X itself.

    Raises
    ------
    TypeError
        A data frame or sparse matrix of bytes, whose columns are not features.
    """
    if not any(kernel.reads_packed for kernel in kernels) or is_sparse(X):
        return X
    if hasattr(X, "columns"):
        raise TypeError(
            f"{name} is a data frame, whose columns packed=True would not read as features; "
            f"accepted: the array of bytes, such as {name}.to_numpy()."
        )
    X = X if hasattr(X, "shape") or not is_sequence(X) else np.asarray(X)
    if len(getattr(X, "shape", ())) != 2 or not _is_byte(getattr(X, "dtype", None)):
        return X
    return np.unpackbits(as_array(name, X), axis=1).astype(np.float64)


def _with_codes(name, X, kernels):
    """Replace strings in categorical columns of X by numbers, if there are any."""
    X = X if hasattr(X, "shape") or not is_sequence(X) else as_array(name, X)
    d = X.shape[1] if len(getattr(X, "shape", ())) == 2 else 0
    read = set().union(*(kernel.columns_as_numbers(d) for kernel in kernels))
    codes = sorted(set(range(d)) - read)
    return coded(name, X, codes) if codes else X


def refuse_packed(name, X, kernels, before=0, total=None):
    """Raise a ValueError for bytes above 1 (as from ``np.packbits``) in columns read as sets.

    X may be a part of the ``total`` columns that the kernels read; ``before`` are before it.
    """
    if not is_sparse(X) and not hasattr(X, "shape") and is_sequence(X):
        try:
            X = as_array(name, X)
        except ValueError:
            return  # objects without columns, such as sequences of several lengths
    d = X.shape[1] if len(getattr(X, "shape", ())) == 2 else 0
    if not d:
        return
    read = set().union(*(kernel.columns_as_sets(total or d) for kernel in kernels))
    if not read:
        return
    kinds = list(getattr(X, "dtypes", ())) or [getattr(X, "dtype", None)] * d
    packed = [c for c in range(d) if before + c in read and _is_byte(kinds[c])]
    if not packed:
        return
    found = X.tocsc()[:, packed].data if is_sparse(X) else as_array(name, X)[:, packed]
    if found.size and found.max() > 1:
        how = f"np.unpackbits({name}, axis=1)"
        how = how if total else f"Tanimoto(packed=True) or {how}"
        raise ValueError(
            f"{name} holds bytes (uint8) up to {int(found.max())} where the kernel tanimoto "
            f"expects 0 and 1; accepted: {how} for bits of np.packbits, or {name}.astype(float) "
            "for counts."
        )


def _is_byte(kind):
    """Whether a type of NumPy, or of a column of a data frame or tensor, is an unsigned byte."""
    return str(kind).lower().rpartition(".")[2] == "uint8"


def is_number(value):
    """Whether a value is a real number and not a boolean."""
    real = (int, float, np.integer, np.floating)
    return isinstance(value, real) and not isinstance(value, (bool, np.bool_))


def as_float(value):
    """Convert a real number to a float, infinite if it exceeds float64."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else -float("inf")


def _is_vector(x):
    """Whether the input is one sample: an array (d,) or a list of numbers."""
    ndim = getattr(x, "ndim", None)
    if ndim is None and isinstance(x, (list, tuple)):
        return bool(x) and all(is_number(value) for value in x)
    return ndim == 1


def _probe(d, scale):
    """Two samples of d columns that differ by ``scale`` in each."""
    return np.multiply.outer(np.array([0.0, scale]), np.ones(d))


def difference(left, right):
    """The error for a difference of kernels."""
    return KernelRuleError(
        f"{left!r} - {right!r}: a difference of kernels is not guaranteed to be positive "
        "semi-definite; only sums with non-negative coefficients are."
    )


def non_negative(value, rule, expression):
    """Return a finite number >= 0 as a float; raise an error otherwise."""
    if not is_number(value):
        raise TypeError(f"{expression}: {rule} must be a real number >= 0, got {value!r}.")
    value = as_float(value)
    if not (0.0 <= value < np.inf):
        raise KernelRuleError(
            f"{expression}: {rule} must be finite and >= 0, otherwise the result is not guaranteed "
            "to be positive semi-definite."
        )
    return value


def check_exponent(kernel, X, largest):
    """Raise an error if ``exp(largest)``, the largest value of a kernel on samples X, overflows."""
    single = kernel.needs_vectors and X.dtype == np.float32
    limit = float(vectormath.LARGEST_F if single else vectormath.LARGEST)
    if not largest <= limit:
        raise ValueError(
            f"{kernel}: its values reach exp({largest:.4g}); accepted: exponents up to "
            f"{limit:g} ({'float32' if single else 'float64'}). Scale X, lower gamma, or normalize "
            "the kernel: kernel.normalized() does not overflow."
        )


class ColumnNames(list):
    """Column names of a data frame, and the numbers of its categorical columns."""

    categories = ()


def column_names(X):
    """`ColumnNames` of a data frame if all names are strings, else None."""
    names = getattr(X, "columns", None)
    names = ColumnNames([] if names is None else names)
    if not names or not all(isinstance(n, str) for n in names):
        return None
    kinds = [str(kind).lower() for kind in getattr(X, "dtypes", ())]
    names.categories = tuple(c for c, kind in enumerate(kinds) if kind.startswith(_CATEGORIES))
    return names


def some_names(names, columns):
    """The names of some columns."""
    some = ColumnNames(names[c] for c in columns)
    known = getattr(names, "categories", ())
    some.categories = tuple(k for k, c in enumerate(columns) if c in known)
    return some


def named(*strings, table=NAMED):
    """Class decorator: register the strings that name a kernel class."""

    def enter(cls):
        table.update(dict.fromkeys(strings, cls))
        return cls

    return enter


def result_of(operation):
    """Class decorator: register the class that an operation on kernels returns."""
    return named(operation, table=_RESULTS)


class _SumOfDiagonals:
    """``k(x, x) + k(x', x')``, evaluated in Python, as no operation adds values of one sample."""

    def __init__(self, kernel):
        self._kernel = kernel

    def block(self, X, Y):
        return self._kernel.diag(X)[:, None] + self._kernel.diag(Y)


def _block_of_a_formula(self, X, Y):
    """Raise an error: `block` is only for kernels without a formula."""
    return self(X, Y)


@dataclass(frozen=True)
class Kernel(Described, Versioned, ABC):
    """A symmetric function of two samples.

    Kernels are immutable, hashable, comparable and small to pickle. ``kernel(X, Y=None)`` is the
    Gram matrix, shape (n_X, n_Y); ``kernel.diag(X)`` its diagonal, shape (n_X,).

    Your own kernel class sets the attributes below that differ from their defaults, and defines one
    of two methods: ``lower`` emits its formula for the compiled loops, and ``block`` computes its
    values in Python. Instantiating a class with neither raises a `TypeError`.

    Attributes
    ----------
    is_psd : bool, default True
        False if the kernel is indefinite on some samples.
    needs_vectors : bool, default True
        Whether samples must be rows of numbers. If False, samples are arbitrary objects.
    takes_sparse : bool, default True
        Whether samples may be the rows of a SciPy sparse matrix.
    given_dtype : numpy.dtype or None, default None
        Dtype of a precomputed matrix; None if the values are computed.
    largest_value : float or None, default None
        The maximum of ``k(x, x)`` over all x, if known.
    has_unit_diagonal : bool, default False
        Whether ``k(x, x) = 1`` for all x.
    is_non_negative : bool, default False
        Whether ``k(x, x') >= 0`` for all x and x' is guaranteed.
    is_exponential : bool, default False
        Whether the kernel is ``exp(+-rate * primitive)``. Kernels whose rates have ratios 2, 4, ...
        then share one exponential.
    rate : float, default 0
        Rate of an exponential kernel.
    adds_columns : bool, default False
        Whether values depend on the relative units of columns, as for distances and inner products.

    Examples
    --------
    Sums, products and multiples by positive numbers of kernels are kernels:

    >>> import numpy as np
    >>> from alignlearn import Gaussian, Linear
    >>> kernel = Gaussian(0.5) + 2 * Linear()
    >>> kernel([[0.0, 0.0], [1.0, 1.0]]).round(2)
    array([[1.  , 0.37],
           [0.37, 5.  ]])
    >>> kernel.diag([[1.0, 1.0]]), kernel.is_psd
    (array([5.]), True)
    >>> kernel.normalized().has_unit_diagonal
    False
    """

    is_psd = True
    needs_vectors = True
    takes_sparse = True
    given_dtype = None
    largest_value = None
    has_unit_diagonal = False
    is_non_negative = False
    is_exponential = False
    rate = 0.0
    adds_columns = False
    __array_ufunc__ = None  # array * kernel is an error, not an array of kernels

    @overload
    def __call__(self, X: Any, Y: None = None) -> np.ndarray: ...

    @overload
    def __call__(self, X: Any, Y: Any) -> Any: ...  # a float of two samples (d,)

    def __call__(self, X, Y=None):
        """Gram matrix between the rows of X and of Y (X itself if None), shape (n_X, n_Y).

        X and Y are dense or SciPy sparse. The result is float32 if both are float32, and float64
        otherwise. For two samples, each an array (d,), the result is the number ``k(X, Y)``, as
        scikit-learn's tools expect of a metric. Two samples are not accepted by kernels on
        arbitrary objects, which read an array (d,) as d objects, or if parameters depend on the
        samples.
        """
        if Y is not None and self.needs_vectors and _is_vector(X) and _is_vector(Y):
            return self._value(as_array("X", X), as_array("Y", Y))
        return self._matrix(X, Y)

    def _value(self, x, y):
        """The kernel of two samples (d,), a float."""
        if x.shape != y.shape:
            raise ValueError(f"X has shape {x.shape} but Y has {y.shape}; they must have the same.")
        # The two samples cannot determine them: every pair would have other parameters.
        kernel = self.resolve_names(None)
        if kernel.resolve(_probe(x.size, 1.0)) != kernel.resolve(_probe(x.size, 2.0)):
            raise ValueError(
                f"{self} has parameters that depend on the samples, but got two samples instead "
                f"of a matrix; accepted: numbers for all parameters, as in the kernels of a "
                f"fitted estimator."
            )
        return float(kernel._matrix(x[None], y[None])[0, 0])

    def _matrix(self, X, Y):
        """The Gram matrix of checked or unchecked samples."""
        names, others = column_names(X), column_names(Y)
        kernel = self.resolve_names(names)
        if kernel != self and others is not None and others != names:
            raise ValueError(
                f"Y has columns {listed(others)}, but X has "
                f"{listed(names) if names else 'none'}; accepted: the same columns."
            )
        X = kernel_samples("X", X, [kernel])
        if Y is not None:
            Y = kernel_samples("Y", Y, [kernel])
            if getattr(X, "ndim", 1) == 2 == getattr(Y, "ndim", 1) and X.shape[1] != Y.shape[1]:
                raise ValueError(
                    f"X has {X.shape[1]} columns but Y has {Y.shape[1]}; they must have the same."
                )
        return grams.weighted_gram([kernel.resolve(X)], [1.0], X, Y)

    def diag(self, X) -> np.ndarray:
        """``k(x, x)`` for each row of X, float64 of shape (n_X,)."""
        kernel = self.resolve_names(column_names(X))
        X = kernel_samples("X", X, [kernel])
        return grams.gram_diagonals([kernel.resolve(X)], X)[0]

    def resolve(self, X, weight=None):
        """This kernel with data-dependent parameters (``gamma="scale"``) replaced by numbers."""
        return self._rebuilt(lambda kernel: kernel.resolve(X, weight))

    def resolve_names(self, names):
        """This kernel with column names replaced by column numbers.

        Parameters
        ----------
        names : sequence of str of length d, or None
            The names of the columns of X; None if they have none.

        Raises
        ------
        ValueError
            A column that the kernel selects is not among them, or more than once.
        """
        return self._rebuilt(lambda kernel: kernel.resolve_names(names))

    def _rebuilt(self, change):
        """Apply ``change`` to the kernels of which this kernel is composed."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        changes = {name: change(v) for name, v in values.items() if isinstance(v, Kernel)}
        return replace(self, **changes) if changes else self

    def lower(self, b, dst, mode) -> float:
        """Emit the operations that fill row ``dst``; return value minus register (the offset).

        Parameters
        ----------
        b : alignlearn.engine.program.Builder
        dst : int
        mode : alignlearn.engine.program.Mode
            The terms that the register may omit.
        """
        b.emit(ops.EXTERNAL, dst, integer=b.external(self))
        return 0.0

    def block(self, X, Y) -> np.ndarray:
        """Values of a kernel without a formula for samples X and Y, shape (n_X, n_Y)."""
        raise NotImplementedError

    if not TYPE_CHECKING:  # type checkers cannot infer that a class with `lower` is complete
        block = abstractmethod(block)

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if cls.block is Kernel.block and cls.lower is not Kernel.lower:
            cls.block = _block_of_a_formula  # the class is complete, so it is not abstract

    def lower_distance(self, b, dst):
        """Emit ``k(x, x) + k(x', x') - 2 k(x, x')`` into row ``dst``."""
        if self.has_unit_diagonal:
            offset = self.lower(b, dst, Mode.SHIFTED)
            b.emit(ops.AFFINE_IN_PLACE, dst, f0=-2.0, f1=2.0 - 2.0 * offset)
            return
        b.exact_value(self, dst)
        b.emit(ops.AFFINE_IN_PLACE, dst, f0=-2.0)
        row = b.temporary()
        b.emit(ops.EXTERNAL, row, integer=b.external(_SumOfDiagonals(self)))
        b.emit(ops.ADD, dst, row, f0=1.0)
        b.emit(ops.CLEAR, dst, row, f0=_CANCELED)
        b.release(row)

    def gradient(self):
        """The gradient in the first sample, `alignlearn.kernels.gradients.GradientTerm` objects.

        Raises
        ------
        TypeError
            The gradient does not have this form, or is not implemented.
        """
        raise TypeError(
            f"{self}: its gradient is not a sum of kernels times samples; accepted: functions "
            "of |x - x'| or of <x, x'> (Gaussian, Exponential, Matern, RationalQuadratic, Linear, "
            "Polynomial, ExponentialDot, Binomial), and sums, multiples, products, powers and "
            "exponentials of these, also on some columns."
        )

    def columns_as_numbers(self, n):
        """Column numbers below n that are read as numbers, not only compared for equality."""
        return set(range(n)) if self.needs_vectors else set()

    @property
    def reads_packed(self):
        """Whether bytes of samples hold eight columns each."""
        return False

    def columns_as_sets(self, n):
        """The columns, numbers below n, that encode sets by 0 and 1."""
        return set()

    def widths(self, multiples):
        """This kernel with each multiple of gamma, if gamma is a rule; else the kernel itself."""
        return [self]

    def largest_diagonal(self):
        """The maximum of ``k(x, x)`` over all x, also for sums and multiples; None if unknown."""
        return self.largest_value

    def unit_form(self):
        """The normalized kernel, if it has a simpler form; None otherwise."""
        return self if self.largest_value == 1.0 else None

    def added_columns(self, n):
        """Sets of columns, tuples of numbers below n, whose units are added."""
        return {tuple(range(n))} if self.adds_columns and n > 1 else set()

    def _require_psd(self, rule):
        if not self.is_psd:
            raise KernelRuleError(
                f"{self!r} is indefinite; {rule} is only guaranteed to be a kernel for positive "
                "semi-definite arguments."
            )

    # Algebra

    def __add__(self, other) -> Kernel:
        if is_number(other):
            return self.shifted(other)
        return _RESULTS["sum"]((self, other)) if isinstance(other, Kernel) else NotImplemented

    __radd__ = __add__

    def __mul__(self, other) -> Kernel:
        if is_number(other):
            return _RESULTS["multiple"](
                self, non_negative(other, "a multiple", f"{other!r} * {self!r}")
            )
        return _RESULTS["product"]((self, other)) if isinstance(other, Kernel) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other) -> Kernel:
        if not is_number(other):
            return NotImplemented
        divisor = as_float(other)
        if not (0.0 < divisor < np.inf):
            raise KernelRuleError(f"({self!r}) / {other!r}: a divisor must be finite and > 0.")
        return self * (1.0 / divisor)

    def __pow__(self, exponent) -> Kernel:
        natural = is_number(exponent) and 1 <= exponent <= LARGEST_POWER
        if not (natural and exponent == int(exponent)):
            raise KernelRuleError(
                f"({self!r}) ** {exponent!r:.80}: only natural powers 1, 2, 3, ... of a kernel are "
                f"guaranteed to be kernels; accepted: up to {LARGEST_POWER}."
            )
        return _RESULTS["power"](self, int(exponent))

    def __sub__(self, other) -> Kernel:
        if is_number(other):
            return self.shifted(-other)
        raise difference(self, other)

    def __rsub__(self, other):
        raise difference(other, self)

    def __neg__(self):
        return self * -1.0

    def shifted(self, c) -> Kernel:
        """``k + c`` for a constant ``c >= 0``."""
        return _RESULTS["shift"](self, non_negative(c, "a shift", f"{self!r} + {c!r}"))

    def weighted(self, f) -> Kernel:
        """``f(x) k(x, x') f(x')``; ``f`` maps an (m, d) array to (m,) values (picklable)."""
        if not callable(f):
            raise TypeError(f"f must be a callable X -> (m,) values, got {f!r}.")
        return _RESULTS["weighting"](self, f)

    def exp(self) -> Kernel:
        """``exp(k)``."""
        return _RESULTS["exponential"](self)

    def normalized(self) -> Kernel:
        """``k(x, x') / sqrt(k(x, x) k(x', x'))``; 0 where ``k(x, x) = 0``."""
        return _RESULTS["normalization"](self)
