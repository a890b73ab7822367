"""Kernels of the distance of two samples, and the exponential of their inner product.

``multiple`` multiplies gamma, so that a ladder can be relative to ``"scale"`` or ``"median"``;
:mod:`alignlearn.kernels.scales` defines these for each primitive.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field, replace

import numpy as np

from alignlearn.engine import formulas
from alignlearn.engine import opcodes as ops
from alignlearn.engine.sparse import squared_norms
from alignlearn.validation import check_number

from .algebra import times_kernels
from .base import Kernel, check_exponent, named
from .gradients import GradientTerm
from .scales import resolve_gamma
from .vector import GammaKernel


@dataclass(frozen=True)
class _Multiple(GammaKernel):
    """A function of ``gamma * multiple * primitive``."""

    multiple: float = 1.0

    largest_value = 1.0
    has_unit_diagonal = True
    is_non_negative = True
    _primitive = ops.SQUARED_DISTANCE

    def __post_init__(self):
        super().__post_init__()
        multiple = check_number("multiple", self.multiple, low=0.0, strict=True)
        object.__setattr__(self, "multiple", multiple)

    def __str__(self):
        if not isinstance(self.gamma, str):
            return f"{type(self).__name__.lower()}(gamma={self.gamma * self.multiple:.4g})"
        times = "" if self.multiple == 1.0 else f" * {self.multiple:g}"
        return f"{type(self).__name__.lower()}(gamma={self.gamma}{times})"

    def widths(self, multiples):
        if not isinstance(self.gamma, str):
            return [self]
        return [replace(self, multiple=self.multiple * float(n)) for n in multiples]

    def resolve(self, X, weight=None):
        if self.multiple == 1.0 and not isinstance(self.gamma, str):
            return self
        gamma = resolve_gamma(self.gamma, X, self._primitive, weight) * self.multiple
        gamma = check_number("gamma * multiple", gamma, low=0.0, strict=True)
        return replace(self, gamma=gamma, multiple=1.0)


@dataclass(frozen=True)
class _Exponential(_Multiple):
    """exp(sign * gamma * multiple * primitive)."""

    is_exponential = True
    _sign = -1.0

    @property
    def rate(self):
        return self.gamma if not isinstance(self.gamma, str) else 0.0

    def lower(self, b, dst, mode):
        return b.exponential(dst, b.primitive(self._primitive), self._sign * self.gamma, mode)


@named("rbf", "gaussian")
@dataclass(frozen=True)
class Gaussian(_Exponential):
    """``exp(-gamma |x - x'|^2)``; "rbf".

    Parameters
    ----------
    gamma : float > 0, "scale", "median" or "auto", default "scale"
        A string is a rule for the training samples X (m, d); a fitted kernel has the resulting
        number. "scale": ``1 / (d v)``, v the variance of all entries of X together, ``X.var()``, as
        in scikit-learn. "median": ``1 / median |x_i - x_j|^2`` over the pairs i < j (over 2000 of
        them, drawn with a fixed seed, if there are more; pairs at distance 0 are left out if the
        median is 0). "auto": ``1 / d``. If X does not vary, the first two are 1. With sample
        weights w, the variance is weighted, and a pair has weight ``w_i w_j``. Columns are not
        rescaled: scale X first if their units differ.
    multiple : float > 0, default 1
        Multiplies gamma.

    Notes
    -----
    Other kernels have the same rules with their own distance instead of the squared one: ``1 /
    sqrt(d v)`` and the median distance for `Exponential` and `Matern`, ``1 / (d sqrt(v))`` and the
    median L1 distance for `Laplacian`, and those above for inner products and `RationalQuadratic`.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian
    >>> X = np.array([[0.0, 1.0], [2.0, 5.0], [4.0, 3.0]])
    >>> bool(np.isclose(Gaussian("scale").resolve(X).gamma, 1.0 / (2 * X.var())))
    True
    >>> float(1.0 / Gaussian("median").resolve(X).gamma)  # of 20, 20 and 8
    20.0
    >>> Gaussian("auto", multiple=4.0).resolve(X).gamma
    2.0
    """

    def gradient(self):
        return (GradientTerm(-2.0 * self.gamma, self, True),)


@named("laplacian")
@dataclass(frozen=True)
class Laplacian(_Exponential):
    """``exp(-gamma |x - x'|_1)``; "laplacian".

    Parameters
    ----------
    gamma : float > 0, "scale", "median" or "auto", default "scale"
        A string is a rule for the training samples X (m, d); a fitted kernel has the resulting
        number. "scale": ``1 / (d sqrt(v))``, v the variance of all entries of X together. "median":
        the inverse of the median L1 distance of the pairs i < j (of 2000 samples). "auto": ``1 /
        d``.
    multiple : float > 0, default 1
        Multiplies gamma.

    Examples
    --------
    The rules for gamma read the L1 distance:

    >>> import numpy as np
    >>> from alignlearn import Laplacian
    >>> Laplacian(0.5)([[0.0, 0.0]], [[1.0, 1.0], [0.0, 2.0]]).round(3)  # both at distance 2
    array([[0.368, 0.368]])
    >>> float(1 / Laplacian("median").resolve(np.array([[0.0], [3.0], [9.0]])).gamma)
    6.0
    """

    _primitive = ops.L1_DISTANCE


@named("exponential")
@dataclass(frozen=True)
class Exponential(_Exponential):
    """``exp(-gamma |x - x'|)``; "exponential".

    Parameters
    ----------
    gamma : float > 0, "scale", "median" or "auto", default "scale"
        A string is a rule for the training samples X (m, d); a fitted kernel has the resulting
        number. "scale": ``1 / sqrt(d v)``, v the variance of all entries of X together. "median":
        ``1 / median |x_i - x_j|`` of the pairs i < j (of 2000 samples). "auto": ``1 / d``.
    multiple : float > 0, default 1
        Multiplies gamma.

    Examples
    --------
    >>> from alignlearn import Exponential
    >>> Exponential(0.5)([[0.0, 0.0]], [[3.0, 4.0], [0.0, 5.0]]).round(3)  # both at distance 5
    array([[0.082, 0.082]])
    """

    _primitive = ops.DISTANCE

    def gradient(self):
        return (GradientTerm(-self.gamma, _ExponentialOverDistance(self.gamma), True),)


@dataclass(frozen=True)
class _ExponentialOverDistance(Kernel):
    """``exp(-gamma r) / r`` for ``r = |x - x'|``, 0 where gamma r is below 1e-8.

    Times ``x - x'`` it is minus the gradient of an exponential, divided by gamma. The gradient has
    a kink at 0, where the mean of both sides is used. Near 0, sums of products with 1 / r lose
    their digits.
    """

    gamma: float

    is_psd = False
    is_non_negative = True
    adds_columns = True

    def lower(self, b, dst, mode):
        b.formula(dst, formulas.exponential_slope, b.primitive(ops.DISTANCE), self.gamma)
        return 0.0


@named("exponential-dot")
@dataclass(frozen=True)
class ExponentialDot(_Exponential):
    """``exp(gamma <x, x'>)``; "exponential-dot".

    Parameters
    ----------
    gamma : float > 0, "scale", "median" or "auto", default "scale"
        A string is a rule for the training samples X (m, d); a fitted kernel has the resulting
        number. "scale": ``1 / (d v)``, v the variance of all entries of X together. "median": ``1 /
        median |x_i - x_j|^2`` of the pairs i < j (of 2000 samples). "auto": ``1 / d``.
    multiple : float > 0, default 1
        Multiplies gamma.

    Notes
    -----
    Samples on which ``exp(gamma |x|^2)`` overflows raise a ValueError. The normalized kernel is the
    Gaussian with gamma / 2, and is evaluated as such.

    Examples
    --------
    Normalized it is a Gaussian:

    >>> import numpy as np
    >>> from alignlearn import ExponentialDot, Gaussian
    >>> X = np.array([[0.0, 1.0], [2.0, 0.5]])
    >>> np.allclose(ExponentialDot(0.6).normalized()(X), Gaussian(0.3)(X))
    True
    """

    largest_value = None
    has_unit_diagonal = False
    _primitive = ops.INNER_PRODUCT
    _sign = 1.0

    def lower(self, b, dst, mode):
        b.domain(self._in_domain)
        return super().lower(b, dst, mode)

    def gradient(self):
        return (GradientTerm(self.gamma, self, False),)

    def _in_domain(self, X):
        check_exponent(self, X, self.gamma * np.max(squared_norms(X), initial=0.0))

    def unit_form(self):
        half = Gaussian(self.gamma, self.multiple / 2.0)
        # A number needs no samples to be resolved, and lowered kernels must be resolved.
        return half if isinstance(self.gamma, str) else half.resolve(None)


def _check_length_scale(length_scale, gamma):
    """Check the length scale, which replaces gamma."""
    if not (isinstance(gamma, str) and gamma == "scale"):
        raise ValueError(
            f"gamma={gamma!r} and length_scale={length_scale!r} exclude each other; set one of "
            f"them."
        )
    return check_number("length_scale", length_scale, low=0.0, strict=True)


@named("matern")
@dataclass(frozen=True)
class Matern(_Multiple):
    """The Matern kernel of smoothness nu; "matern".

    With ``u = sqrt(2 nu) gamma |x - x'|`` it is ``exp(-u)`` for nu = 1/2, ``(1 + u) exp(-u)`` for
    3/2 and ``(1 + u + u^2 / 3) exp(-u)`` for 5/2.

    Parameters
    ----------
    nu : {0.5, 1.5, 2.5}, default 1.5
    gamma : float > 0, "scale", "median" or "auto", default "scale"
        One over scikit-learn's ``length_scale``.
    multiple : float > 0, default 1
        Multiplies gamma.
    length_scale : float > 0, optional
        Alternative to gamma.

    References
    ----------
    Rasmussen and Williams (2006), Gaussian processes for machine learning, section 4.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Exponential, Matern
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> Matern(2.5, length_scale=2.0)(X)[0].round(3)
    array([1.   , 0.829, 0.524])
    >>> np.allclose(Matern(0.5, gamma=0.3)(X), Exponential(0.3)(X))  # nu = 1/2: rough functions
    True
    """

    nu: float = 1.5
    gamma: float | str = field(default="scale", kw_only=True)
    multiple: float = field(default=1.0, kw_only=True)
    length_scale: InitVar[float | None] = field(default=None, kw_only=True)

    _primitive = ops.DISTANCE

    def __post_init__(self, length_scale):
        nu = check_number("nu", self.nu)
        if nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"nu={nu:g}: accepted: 0.5, 1.5 and 2.5.")
        object.__setattr__(self, "nu", nu)
        if length_scale is not None:
            gamma = 1.0 / _check_length_scale(length_scale, self.gamma)
            object.__setattr__(self, "gamma", gamma)
        super().__post_init__()

    def __str__(self):
        return f"{super().__str__()[:-1]}, nu={self.nu:g})"

    @property
    def is_exponential(self):
        return self.nu == 0.5

    @property
    def rate(self):
        return self.gamma if self.is_exponential and not isinstance(self.gamma, str) else 0.0

    def lower(self, b, dst, mode):
        distance, rate = b.primitive(ops.DISTANCE), np.sqrt(2.0 * self.nu) * self.gamma
        if self.nu == 0.5:
            return b.exponential(dst, distance, -self.gamma, mode)
        b.emit(ops.MATERN_32 if self.nu == 1.5 else ops.MATERN_52, dst, distance, f0=rate)
        return 0.0

    def gradient(self):
        if self.nu == 0.5:
            return Exponential(self.gamma).gradient()
        rate = np.sqrt(2.0 * self.nu) * self.gamma
        if self.nu == 1.5:
            return (GradientTerm(-(rate**2), Exponential(rate), True),)
        return (GradientTerm(-(rate**2) / 3.0, Matern(1.5, gamma=rate / np.sqrt(3.0)), True),)


@named("rational-quadratic")
@dataclass(frozen=True)
class RationalQuadratic(_Multiple):
    """``(1 + gamma |x - x'|^2 / alpha)^(-alpha)``; "rational-quadratic".

    A mixture of Gaussians of all widths. For large alpha it tends to the Gaussian of the same
    gamma.

    Parameters
    ----------
    alpha : float > 0, default 1
    gamma : float > 0, "scale", "median" or "auto", default "scale"
        ``1 / (2 length_scale^2)`` in scikit-learn's terms.
    multiple : float > 0, default 1
        Multiplies gamma.
    length_scale : float > 0, optional
        Alternative to gamma.

    References
    ----------
    Rasmussen and Williams (2006), Gaussian processes for machine learning, section 4.2.1.

    Examples
    --------
    Far samples stay more alike than for a Gaussian, unless alpha is large:

    >>> import numpy as np
    >>> from alignlearn import Gaussian, RationalQuadratic
    >>> X = np.array([[0.0], [3.0]])
    >>> float(RationalQuadratic(1.0, gamma=0.5)(X)[0, 1].round(3))
    0.182
    >>> float(RationalQuadratic(1e6, gamma=0.5)(X)[0, 1].round(3))
    0.011
    >>> float(Gaussian(0.5)(X)[0, 1].round(3))
    0.011
    """

    alpha: float = 1.0
    gamma: float | str = field(default="scale", kw_only=True)
    multiple: float = field(default=1.0, kw_only=True)
    length_scale: InitVar[float | None] = field(default=None, kw_only=True)

    def __post_init__(self, length_scale):
        object.__setattr__(self, "alpha", check_number("alpha", self.alpha, low=0.0, strict=True))
        if length_scale is not None:
            gamma = 0.5 / _check_length_scale(length_scale, self.gamma) ** 2
            object.__setattr__(self, "gamma", gamma)
        super().__post_init__()

    def __str__(self):
        return f"{super().__str__()[:-1]}, alpha={self.alpha:g})"

    def lower(self, b, dst, mode):
        distance, less_one = b.primitive(ops.SQUARED_DISTANCE), 0.0 if mode.full else 1.0
        rate = self.gamma / self.alpha
        b.formula(dst, formulas.rational_quadratic, distance, rate, self.alpha, less_one)
        b.emit(ops.FLUSH, dst)
        return less_one

    def gradient(self):
        alpha = self.alpha + 1.0
        slope = RationalQuadratic(alpha, gamma=self.gamma * alpha / self.alpha)
        return (GradientTerm(-2.0 * self.gamma, slope, True),)


_LEAST_PERIOD = 1e-150  # the inverse of a smaller square overflows


@named("periodic")
@dataclass(frozen=True)
class Periodic(Kernel):
    """``exp(-2 sum_k sin(pi (x_k - x'_k) / period)^2 / length_scale^2)``; "periodic".

    A Gaussian of positions on a circle, one for each column, hence positive semidefinite for any
    number of columns. For one column it equals scikit-learn's ``ExpSineSquared``.

    Parameters
    ----------
    length_scale : float > 0, default 1
    period : float > 0, default 1
        In units of the columns.

    References
    ----------
    MacKay (1998), "Introduction to Gaussian processes", section 5.2.

    Examples
    --------
    Hours of a day: 23:00 is as close to midnight as 1:00 is.

    >>> from alignlearn import Periodic
    >>> Periodic(1.0, period=24.0)([[0.0]], [[1.0], [12.0], [23.0], [24.0]]).round(3)
    array([[0.966, 0.135, 0.966, 1.   ]])
    """

    length_scale: float = 1.0
    period: float = 1.0

    largest_value = 1.0
    has_unit_diagonal = True
    is_non_negative = True
    adds_columns = True

    def __post_init__(self):
        for name in ("length_scale", "period"):
            value = check_number(name, getattr(self, name), low=0.0, strict=True)
            object.__setattr__(self, name, value)
        if min(self.period, self.length_scale) < _LEAST_PERIOD:
            raise ValueError(f"{self}: accepted: periods and length scales >= {_LEAST_PERIOD}.")

    def __str__(self):
        return f"periodic(length_scale={self.length_scale:g}, period={self.period:g})"

    def lower(self, b, dst, mode):
        total, row, rate = b.temporary(), b.temporary(), np.pi / self.period
        for c in range(b.n_columns):
            with b.columns((c,)):
                distance = b.primitive(ops.L1_DISTANCE)
                b.formula(row if c else total, formulas.squared_sine, distance, rate)
            if c:
                b.emit(ops.ADD, total, row, f0=1.0)
        b.emit(ops.EXP if mode.full else ops.EXPM1, dst, total, f0=-2.0 / self.length_scale**2)
        b.release(row)
        b.release(total)
        return 0.0 if mode.full else 1.0

    def gradient(self):
        factor = -2.0 * np.pi / (self.length_scale**2 * self.period)
        term = GradientTerm(factor, _SineSlope(self.period), True)
        return tuple(times_kernels([term], (self,)))


@dataclass(frozen=True)
class _SineSlope(Kernel):
    """``sin(2 pi r / period) / r`` for ``r = |x - x'|``, for samples with one column."""

    period: float

    is_psd = False

    def lower(self, b, dst, mode):
        if b.n_columns > 1:
            raise TypeError(
                f"the gradient of a periodic kernel is implemented for one column, got "
                f"{b.n_columns}; accepted: a product of kernels of one column each, "
                f"Columns(Periodic(), k)."
            )
        distance = b.primitive(ops.L1_DISTANCE)
        b.formula(dst, formulas.sine_slope, distance, 2.0 * np.pi / self.period)
        return 0.0


@named("hamming")
@dataclass(frozen=True)
class Hamming(Kernel):
    """The share of columns in which two samples are equal, for coded categories; "hamming".

    A sum of equality kernels, hence positive semidefinite. Codes are numbers, compared exactly.

    Examples
    --------
    >>> from alignlearn import Hamming
    >>> Hamming()([[0, 1, 2, 0]], [[0, 1, 1, 0], [3, 0, 1, 2]])  # three of four columns; none
    array([[0.75, 0.  ]])
    """

    largest_value = 1.0
    has_unit_diagonal = True
    is_non_negative = True

    def __str__(self):
        return "hamming"

    def columns_as_numbers(self, n):
        return set()

    def lower(self, b, dst, mode):
        b.emit(ops.AFFINE, dst, b.primitive(ops.MATCHES), f0=1.0 / b.n_columns)
        return 0.0
