"""Kernels on vectors: a primitive of a pair followed by a scalar formula.

Parameter names and strings are scikit-learn's. :mod:`alignlearn.kernels.scales` defines
``gamma="scale"``, ``"median"`` and ``"auto"``; :mod:`alignlearn.kernels.stationary` has kernels of
a distance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from alignlearn.engine import formulas
from alignlearn.engine import opcodes as ops
from alignlearn.engine.sparse import squared_norms
from alignlearn.validation import check_number

from .base import LARGEST_POWER, Kernel, named
from .gradients import GradientTerm
from .scales import GAMMA_RULES, resolve_gamma


@dataclass(frozen=True)
class GammaKernel(Kernel):
    """A function of ``gamma`` times a primitive."""

    gamma: float | str = "scale"

    adds_columns = True
    _primitive = ops.INNER_PRODUCT

    def __post_init__(self):
        gamma = self.gamma
        if not isinstance(gamma, str):
            gamma = check_number("gamma", gamma, low=0.0, strict=True)
        elif gamma not in GAMMA_RULES:
            raise ValueError(
                f'gamma={gamma!r}: accepted are a number > 0, "scale", "median" and "auto".'
            )
        object.__setattr__(self, "gamma", gamma)

    def __str__(self):
        gamma = self.gamma if isinstance(self.gamma, str) else f"{self.gamma:g}"
        return f"{type(self).__name__.lower()}(gamma={gamma})"

    def resolve(self, X, weight=None):
        return replace(self, gamma=resolve_gamma(self.gamma, X, self._primitive, weight))


@named("linear")
@dataclass(frozen=True)
class Linear(Kernel):
    """``<x, x'>``; "linear".

    Examples
    --------
    >>> from alignlearn import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 1.0], [0.0, -1.0]])
    array([[ 5., -2.]])
    """

    adds_columns = True

    def __str__(self):
        return "linear"

    def lower(self, b, dst, mode):
        b.inner_product(mode, dst)
        return 0.0

    def lower_distance(self, b, dst):
        b.emit(ops.AFFINE, dst, b.primitive(ops.SQUARED_DISTANCE), f0=1.0)

    def gradient(self):
        return (GradientTerm(1.0, Polynomial(1.0, 1.0, 0), False),)


@named("poly", "polynomial")
@dataclass(frozen=True)
class Polynomial(GammaKernel):
    """``(gamma <x, x'> + coef0)^degree``; "poly" or "polynomial".

    The first argument is ``gamma``: a quadratic kernel is ``Polynomial(degree=2)``.

    Parameters
    ----------
    gamma : float > 0, "scale", "median" or "auto", default "scale"
    coef0 : float, default 1
    degree : float >= 0, default 3
        Positive semidefinite for a natural degree and ``coef0 >= 0``; indefinite otherwise.

    Examples
    --------
    >>> from alignlearn import Polynomial
    >>> Polynomial(gamma=1.0, coef0=1.0, degree=2)([[1.0, 2.0]], [[3.0, 0.0]])  # (3 + 1)^2
    array([[16.]])
    >>> Polynomial(gamma=1.0, coef0=-1.0, degree=2).is_psd
    False
    """

    coef0: float = 1.0
    degree: float = 3

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "coef0", check_number("coef0", self.coef0))
        object.__setattr__(self, "degree", check_number("degree", self.degree, low=0.0))

    def __str__(self):
        return f"{super().__str__()[:-1]}, coef0={self.coef0:g}, degree={self.degree:g})"

    @property
    def is_psd(self):
        return self.degree == int(self.degree) and self.coef0 >= 0

    def lower(self, b, dst, mode):
        dot = b.primitive(ops.INNER_PRODUCT)
        if self.degree == int(self.degree) and self.degree <= LARGEST_POWER:
            b.emit(ops.AFFINE, dst, dot, f0=self.gamma, f1=self.coef0)
            b.emit(ops.POWER_IN_PLACE, dst, integer=int(self.degree))
        else:
            b.formula(dst, formulas.polynomial, dot, self.gamma, self.coef0, self.degree)
        return 0.0

    def gradient(self):
        if self.degree == 0:
            return ()
        if self.degree < 1:
            return super().gradient()  # infinite at 0
        slope = replace(self, degree=self.degree - 1)
        return (GradientTerm(self.gamma * self.degree, slope, False),)


@dataclass(frozen=True)
class Binomial(GammaKernel):
    """``(1 - gamma <x, x'>)^(-alpha)`` on ``gamma |x|^2 < 1``; "binomial".

    Parameters
    ----------
    gamma : float > 0, "scale", "median" or "auto", default 1
    alpha : float > 0, default 1

    Notes
    -----
    Samples with ``gamma |x|^2 >= 1`` raise a ValueError.

    Examples
    --------
    Samples lie in a ball of radius ``1 / sqrt(gamma)``:

    >>> from alignlearn import Binomial
    >>> Binomial(gamma=1.0)([[0.5, 0.0]], [[0.5, 0.5], [0.0, 0.5]]).round(3)
    array([[1.333, 1.   ]])
    """

    gamma: float | str = 1.0
    alpha: float = 1.0

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "alpha", check_number("alpha", self.alpha, low=0.0, strict=True))

    def __str__(self):
        return f"{super().__str__()[:-1]}, alpha={self.alpha:g})"

    def lower(self, b, dst, mode):
        dot = b.primitive(ops.INNER_PRODUCT)
        b.formula(dst, formulas.binomial, dot, self.gamma, self.alpha)
        b.domain(self._in_domain)
        return 0.0

    def gradient(self):
        slope = replace(self, alpha=self.alpha + 1.0)
        return (GradientTerm(self.gamma * self.alpha, slope, False),)

    def _in_domain(self, X):
        worst = self.gamma * float(np.max(squared_norms(X), initial=0.0))
        if worst >= 1.0:
            raise ValueError(
                f"{self}: gamma * |x|^2 must be < 1 for every sample, the largest is {worst:.4g}; "
                "scale X or lower gamma."
            )


@named("sigmoid")
@dataclass(frozen=True)
class Sigmoid(GammaKernel):
    """``tanh(gamma <x, x'> + coef0)``; "sigmoid"; indefinite.

    Parameters
    ----------
    gamma : float > 0, "scale", "median" or "auto", default "scale"
        A string is a rule for the training samples X (m, d); a fitted kernel has the resulting
        number. "scale": ``1 / (d v)``, v the variance of all entries of X together. "median": ``1 /
        median |x_i - x_j|^2`` of the pairs i < j (of 2000 samples). "auto": ``1 / d``.
    coef0 : float, default 1

    Examples
    --------
    >>> from alignlearn import Sigmoid
    >>> kernel = Sigmoid(gamma=1.0, coef0=0.0)
    >>> kernel([[1.0, 0.0]], [[2.0, 5.0], [-2.0, 5.0]]).round(3)
    array([[ 0.964, -0.964]])
    >>> kernel.is_psd
    False
    """

    coef0: float = 1.0

    is_psd = False

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "coef0", check_number("coef0", self.coef0))

    def __str__(self):
        return f"{super().__str__()[:-1]}, coef0={self.coef0:g})"

    def lower(self, b, dst, mode):
        dot = b.primitive(ops.INNER_PRODUCT)
        b.formula(dst, formulas.sigmoid, dot, self.gamma, self.coef0)
        return 0.0


@named("tl1")
@dataclass(frozen=True)
class TL1(Kernel):
    """``max(tau - |x - x'|_1, 0)``; "tl1"; indefinite.

    Parameters
    ----------
    tau : float > 0, optional
        Default ``0.7 d``, as Huang, Suykens, Wang, Hornegger and Maier (2018) suggest for features
        scaled to [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import TL1
    >>> kernel = TL1(tau=2.0)
    >>> kernel([[0.0]], [[0.5], [1.5], [3.0]])  # 0 from the distance tau on
    array([[1.5, 0.5, 0. ]])
    >>> kernel.is_psd
    False
    """

    tau: float | None = None

    is_psd = False
    adds_columns = True

    def __post_init__(self):
        if self.tau is not None:
            object.__setattr__(self, "tau", check_number("tau", self.tau, low=0.0, strict=True))

    def __str__(self):
        return "tl1" if self.tau is None else f"tl1(tau={self.tau:g})"

    def resolve(self, X, weight=None):
        return self if self.tau is not None else TL1(0.7 * X.shape[1])

    def lower(self, b, dst, mode):
        b.formula(dst, formulas.tl1, b.primitive(ops.L1_DISTANCE), self.tau)
        return 0.0


@named("log")
@dataclass(frozen=True)
class Log(Kernel):
    """``-log(1 + |x - x'| / sigma)``; "log"; conditionally positive definite, so indefinite.

    Parameters
    ----------
    sigma : float > 0, default 1

    Examples
    --------
    >>> from alignlearn import Log
    >>> Log(sigma=1.0)([[0.0]], [[0.0], [1.0], [3.0]]).round(3) + 0.0  # minus the log of a distance
    array([[ 0.   , -0.693, -1.386]])
    """

    sigma: float = 1.0

    is_psd = False
    adds_columns = True

    def __post_init__(self):
        object.__setattr__(self, "sigma", check_number("sigma", self.sigma, low=0.0, strict=True))

    def __str__(self):
        return f"log(sigma={self.sigma:g})"

    def lower(self, b, dst, mode):
        b.formula(dst, formulas.logarithmic, b.primitive(ops.DISTANCE), self.sigma)
        return 0.0


@named("cosine")
@dataclass(frozen=True)
class Cosine(Kernel):
    """``<x, x'> / (|x| |x'|)``, 0 where a norm is 0; "cosine".

    Examples
    --------
    Only directions count, as for documents of different lengths:

    >>> from alignlearn import Cosine
    >>> Cosine()([[3.0, 4.0]], [[6.0, 8.0], [4.0, -3.0], [0.0, 0.0]]).round(2) + 0.0
    array([[1., 0., 0.]])
    """

    largest_value = 1.0
    adds_columns = True

    def __str__(self):
        return "cosine"

    def lower(self, b, dst, mode):
        b.emit(ops.AFFINE, dst, b.primitive(ops.INNER_PRODUCT), f0=1.0)
        b.emit(ops.FACTOR, dst, integer=b.factor(_inverse_norm))
        return 0.0


def _inverse_norm(X):
    norm = np.sqrt(squared_norms(X))
    return np.where(norm > 0, 1.0 / np.where(norm > 0, norm, 1.0), 0.0)
