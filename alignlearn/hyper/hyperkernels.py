"""Hyper-kernels: positive semi-definite functions of two pairs of points, and their numbers.

Both are functions of the six squared distances of the four points, in the coordinates that
``_coordinates`` gives; `alignlearn.engine.hyper_values` evaluates them from tables of these.
Constant factors are dropped: in d dimensions the Gaussian one carries ``(2 pi sigma2)^-d``, 1e-404
for d = 300. ``log_constant`` returns the logarithm of what is left out; ridge regression with the
constant c and ``c alpha`` is the one without and ``alpha``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import cdist

from alignlearn._versions import Versioned
from alignlearn.engine import grams, hyper_values
from alignlearn.engine import opcodes as ops
from alignlearn.engine.cpu import CPU
from alignlearn.kernels import Gaussian
from alignlearn.kernels.scales import resolve_gamma
from alignlearn.solvers.panels import panels
from alignlearn.validation import (
    check_choice,
    check_flag,
    check_number,
    check_numbers,
    check_samples,
    check_symmetric,
)

_CONVENTIONS = {"liu": 1.0, "kondor-jebara": 2.0}
_RULES = ("scale", "median", "auto")
_FEATURES = 2**22  # entries of the features that are multiplied at once: 32 MB


def _check_scale(name, value):
    """A positive number, or the name of a rule for the data."""
    if isinstance(value, str):
        return check_choice(name, value, _RULES)
    return check_number(name, value, low=1e-290, high=1e290)


def _variance(rule, X):
    """The variance that a rule names: one over what `kernels.scales` calls gamma."""
    return 1.0 / resolve_gamma(rule, X, ops.SQUARED_DISTANCE)


class HyperKernel(Versioned):
    """Base of the hyper-kernels: evaluation on arrays of pairs.

    ``_sections_psd`` says that every section ``k(p, (., .))`` is a positive semi-definite kernel.
    A subclass has ``resolve(X)``, ``log_constant(d)`` and what the engine takes: ``_form``,
    ``_coordinates(X)``, ``_table(D)``, which overwrites D, ``_own(size)``, ``_diagonal(size)``; its
    ``_expand`` sums sections.
    """

    _sections_psd = True

    def __call__(self, first, second, first_other=None, second_other=None):
        """Values between n pairs and n' others (themselves if None), float64 of shape (n, n').

        Parameters
        ----------
        first, second : array-like of shape (n, d)
            Row t of each is a point of the pair t; their order does not matter.
        first_other, second_other : array-like of shape (n', d), optional

        Raises
        ------
        ValueError, TypeError
            The arrays differ in shape, or are not finite matrices of real numbers.
        """
        left = _check_pairs("first", first, "second", second)
        same = first_other is None and second_other is None
        right = (
            left if same else _check_pairs("first_other", first_other, "second_other", second_other)
        )
        if left[0].shape[1] != right[0].shape[1]:
            raise ValueError(
                f"first has {left[0].shape[1]} columns but first_other has {right[0].shape[1]}; "
                "accepted: the same."
            )
        self = self.resolve(np.concatenate(left))
        ends = [
            np.concatenate([self._coordinates(part) for part in side]) for side in (left, right)
        ]
        pairs = [_halves(self, points) for points in ends]
        table = self._table(cdist(*ends, "sqeuclidean"))
        return hyper_values.pair_gram(self._form, table, pairs[0], None if same else pairs[1], CPU)

    def pairs(self, points, first, second):
        """`engine.hyper_values.Pairs` of rows ``first`` and ``second`` of points (coordinates)."""
        size = _sizes(points, first, second)
        return hyper_values.Pairs(first, second, self._own(size), size)


def _sizes(points, first, second):
    """Squared distances between rows ``first`` and ``second`` of points."""
    out = np.empty(first.size)
    for part in panels(first.size):
        apart = points[first[part]] - points[second[part]]
        out[part] = np.einsum("ij,ij->i", apart, apart)
    return out


def _check_pairs(*names_and_values):
    name, first, other, second = names_and_values
    first, second = (
        np.asarray(check_samples(n, v), float) for n, v in ((name, first), (other, second))
    )
    if first.shape != second.shape:
        raise ValueError(
            f"{name} has shape {first.shape} but {other} has {second.shape}; accepted: one row of "
            "each for every pair."
        )
    return first, second


def _halves(hyper, points):
    """Pairs of row t of the first half of the points with row t of the second."""
    n = len(points) // 2
    return hyper.pairs(points, np.arange(n), np.arange(n, 2 * n))


@dataclass(frozen=True)
class GaussianHyperKernel(HyperKernel):
    """``exp(-|x - x'|^2 / 2 v1 - |y - y'|^2 / 2 v1 - |(x + x')/2 - (y + y')/2|^2 / 2 v2)``.

    It compares the differences within the pairs (x, x') and (y, y') with 0 and their midpoints with
    each other, with ``v2 = sigma2 + sigma_h2``.

    Parameters
    ----------
    sigma2 : float > 0, "scale", "median" or "auto", default "scale"
        Variance; by rule from the training samples: "scale" is d times the variance of their
        entries, "median" the median squared distance, "auto" d.
    sigma_h2 : float > 0, optional
        Reach of the midpoints; default ``multiple * sigma2``.
    convention : {"liu", "kondor-jebara"}, default "liu"
        v1 is sigma2 as Liu et al. print it, or 2 sigma2, which the integral over Gaussians of
        Kondor and Jebara gives. Both are positive semi-definite.
    multiple : float > 0, default 1
        Of sigma2, where ``sigma_h2`` is not given.

    Notes
    -----
    What can be learned. Since ``|m - (x + x')/2|^2 = |x - m|^2 / 2 + |x' - m|^2 / 2 - |x - x'|^2 /
    4`` for a midpoint m, every kernel of its space is a Gaussian of the difference times a function
    of the midpoint, ``k*(x, x') = exp(-|x - x'|^2 / 2 v1) h((x + x') / 2)``; for finitely many
    pairs, with midpoints m_p, it is also

        exp(-kappa |x - x'|^2) sum_p c_p phi_p(x) phi_p(x'),  phi_p(x) = exp(-|x - m_p|^2 / 4 v2),

    kappa = 1 / 2 v1 - 1 / 8 v2 > 0. So coefficients >= 0 give a positive semi-definite kernel, and
    two pairs of the same midpoint have values of a fixed positive ratio: not every kernel can be
    learned, for instance not the ideal one of the labels 1, ., -1 of three equidistant points.

    References
    ----------
    Liu, Shi, Huang, Yang and Suykens (2020), section 2.3; Kondor and Jebara (2007), Gaussian and
    Wishart hyperkernels, section 3.
    """

    sigma2: float | str = "scale"
    sigma_h2: float | None = None
    convention: str = "liu"
    multiple: float = 1.0

    _form = hyper_values.Form(hyper_values.PRODUCT)

    def __post_init__(self):
        object.__setattr__(self, "sigma2", _check_scale("sigma2", self.sigma2))
        if self.sigma_h2 is not None:
            sigma_h2 = check_number("sigma_h2", self.sigma_h2, low=0.0, high=1e290, strict=True)
            object.__setattr__(self, "sigma_h2", sigma_h2)
        check_choice("convention", self.convention, _CONVENTIONS)
        multiple = check_number("multiple", self.multiple, low=1e-100, high=1e100)
        object.__setattr__(self, "multiple", multiple)

    def resolve(self, X):
        """The same with numbers for what depends on the training samples X (m, d)."""
        sigma2 = _variance(self.sigma2, X) if isinstance(self.sigma2, str) else self.sigma2
        sigma_h2 = self.multiple * sigma2 if self.sigma_h2 is None else self.sigma_h2
        return replace(self, sigma2=sigma2, sigma_h2=sigma_h2, multiple=1.0)

    def log_constant(self, d):
        """Logarithm of the factor that the values lack in d dimensions, as Liu et al. print it."""
        v1, v2 = self._variances
        return -d * np.log(2.0 * np.pi * v1) - 0.5 * d * np.log(2.0 * np.pi * v2)

    @property
    def _variances(self):
        return _CONVENTIONS[self.convention] * self.sigma2, self.sigma2 + self.sigma_h2

    @property
    def _within(self):
        """kappa of the class's notes."""
        v1, v2 = self._variances
        return 0.5 / v1 - 0.125 / v2

    def _coordinates(self, X):
        return X

    def _table(self, D):
        D /= -8.0 * self._variances[1]
        return np.exp(D, out=D)

    def _own(self, size):
        return np.exp(-self._within * size)

    def _diagonal(self, size):
        return np.exp(-size / self._variances[0])

    def _expand(self, X, Y, points, first, second, coef):
        """``sum_p coef[p] k(p, (x, y))`` for rows of X and Y: the second form of the notes."""
        v1, v2 = self._variances
        size = _sizes(points, first, second)
        coef = coef * np.exp(size / (-2.0 * v1))
        bump, out = Gaussian(0.25 / v2), np.zeros((len(X), len(Y)))
        step = max(1, _FEATURES // max(len(X), len(Y)))
        for p in range(0, coef.size, step):
            part = slice(p, p + step)
            middle = 0.5 * (points[first[part]] + points[second[part]])
            left = grams.weighted_gram([bump], [1.0], X, middle)
            right = left.copy() if X is Y else grams.weighted_gram([bump], [1.0], Y, middle)
            right *= coef[part]
            out += left @ right.T
        out *= grams.weighted_gram([Gaussian(self._within)], [1.0], X, None if X is Y else Y)
        return out


@dataclass(frozen=True)
class WishartHyperKernel(HyperKernel):
    """The integral of four Gaussians of covariance S over S, inverse Wishart of (C, r).

    Parameters
    ----------
    C : array-like of shape (d, d), float > 0, "scale", "median" or "auto", default "scale"
        Positive definite. A number c stands for ``c I``; a rule for ``(r + 3) / 2`` times the
        variance it names (see `GaussianHyperKernel`), so that the kernel is as wide as that
        Gaussian.
    r : float > d - 1, optional
        Degrees of freedom; default d + 1.
    unit_diagonal : bool, default False
        Divide by ``sqrt(k(p, p) k(q, q))``. It is a hyper-kernel still, but its sections ``k(p,
        (., .))`` are no kernels then, so coefficients >= 0 guarantee nothing.
    multiple : float > 0, default 1
        Multiplies C.

    Notes
    -----
    With the scatter matrix S of the four points it is a constant times ``|C + S|^(-(r + 3) / 2)``.
    In coordinates ``L^-1 x``, ``C = LL'``, that is the determinant of a (3, 3) matrix of inner
    products of the two differences and the difference of the midpoints, hence a function of six
    squared distances.

    References
    ----------
    Kondor and Jebara (2007), Gaussian and Wishart hyperkernels, section 3; the closed form is
    derived in ``theory/p4_hyperkernels/proofs.md``.
    """

    C: object = "scale"
    r: float | None = None
    unit_diagonal: bool = False
    multiple: float = 1.0

    def __post_init__(self):
        if not isinstance(self.C, (str, int, float, np.integer, np.floating)):
            C = check_numbers("C", self.C, 1, 1)
            if C.shape[0] != C.shape[1]:
                raise ValueError(f"C must be a square matrix (d, d), got shape {C.shape}.")
            check_symmetric("C", C)
            object.__setattr__(self, "C", tuple(map(tuple, C.tolist())))
        else:
            object.__setattr__(self, "C", _check_scale("C", self.C))
        self._factor()
        if self.r is not None:
            object.__setattr__(self, "r", check_number("r", self.r))
            if isinstance(self.C, tuple):
                self._check_r(len(self.C))
        object.__setattr__(self, "unit_diagonal", check_flag("unit_diagonal", self.unit_diagonal))
        multiple = check_number("multiple", self.multiple, low=1e-100, high=1e100)
        object.__setattr__(self, "multiple", multiple)

    def _check_r(self, d):
        if not self.r > d - 1:
            raise ValueError(
                f"r={self.r:g} is out of range in {d} dimensions; accepted: r > d - 1 = {d - 1}."
            )

    def _factor(self):
        """The lower triangle L of C = LL', for a matrix C."""
        if not isinstance(self.C, tuple):
            return None
        try:
            return np.linalg.cholesky(np.array(self.C))
        except np.linalg.LinAlgError:
            least = float(np.linalg.eigvalsh(np.array(self.C))[0])
            raise ValueError(
                f"C is not positive definite: its smallest eigenvalue is {least:.3g}."
            ) from None

    def resolve(self, X):
        """The same with numbers for what depends on the training samples X (m, d)."""
        d = X.shape[1]
        r = float(d + 1) if self.r is None else self.r
        changed = replace(self, r=r, multiple=1.0)
        changed._check_r(d)
        if isinstance(self.C, tuple):
            if len(self.C) != d:
                raise ValueError(f"C has {len(self.C)} rows but X has {d} columns.")
            C = np.array(self.C) * self.multiple
        else:
            rule = isinstance(self.C, str)
            c = 0.5 * (r + 3.0) * _variance(self.C, X) if rule else self.C
            C = self.multiple * c
        return replace(changed, C=C)

    def log_constant(self, d):
        """Logarithm of the factor that the values lack, with ``unit_diagonal=False``."""
        from scipy.special import multigammaln

        if isinstance(self.C, tuple):
            log_det = 2.0 * float(np.log(np.diagonal(self._factor())).sum())
        else:
            log_det = d * np.log(self.C)
        powers = -1.5 * d * np.log(np.pi) - d * np.log(2.0) - 1.5 * log_det
        return float(powers + multigammaln(0.5 * (self.r + 3.0), d) - multigammaln(0.5 * self.r, d))

    @property
    def _sections_psd(self):
        return not self.unit_diagonal

    @property
    def _form(self):
        return hyper_values.Form(hyper_values.DETERMINANT, 0.5 * (self.r + 3.0))

    def _coordinates(self, X):
        factor = self._factor()
        if factor is None:
            return X / np.sqrt(self.C)
        from scipy.linalg import solve_triangular

        return np.ascontiguousarray(solve_triangular(factor, X.T, lower=True).T)

    def _table(self, D):
        return D

    def _own(self, size):
        # k(p, p) has the determinant 1 + |x - x'|^2.
        return 0.25 * (self.r + 3.0) * np.log1p(size) if self.unit_diagonal else np.zeros(size.size)

    def _diagonal(self, size):
        return np.exp(2.0 * self._own(size) - 0.5 * (self.r + 3.0) * np.log1p(size))

    def _expand(self, X, Y, points, first, second, coef):
        """``sum_p coef[p] k(p, (x, y))`` for rows of X and Y."""
        points, rows = self._coordinates(points), np.concatenate([X, Y])
        rows = self._coordinates(rows)
        table = self._table(cdist(rows, points, "sqeuclidean"))
        right, out = self.pairs(points, first, second), np.empty((len(X), len(Y)))
        columns = np.arange(len(X), len(rows))
        step = max(1, _FEATURES // len(Y))
        for i in range(0, len(X), step):
            some = np.arange(i, min(i + step, len(X)))
            left = self.pairs(rows, np.repeat(some, len(Y)), np.tile(columns, some.size))
            values = hyper_values.pair_times(self._form, table, left, right, coef, CPU)
            out[some] = values.reshape(some.size, len(Y))
        return out
