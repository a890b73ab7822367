"""The hyper-kernels in closed form, and ladders of them.

Constant factors are dropped: in d dimensions the Gaussian hyper-kernel has the factor ``(2 pi
sigma2)^-d``, 1e-404 for d = 300. ``log_constant`` returns the logarithm of the factor. Ridge
regression with the factor c and ``c alpha`` is equal to that without the factor and ``alpha``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from alignlearn.engine import opcodes as ops
from alignlearn.kernels.scales import resolve_gamma
from alignlearn.validation import (
    check_choice,
    check_flag,
    check_number,
    check_numbers,
    check_symmetric,
)

from ._terms import Determinant, Ladder, Rung
from .algebra import HyperKernel, HyperKernelSum

_CONVENTIONS = {"liu": 1.0, "kondor-jebara": 2.0}
_RULES = ("scale", "median", "auto")
_LEAST, _MOST = 1e-290, 1e290  # of variances


def _check_scale(name, value):
    """A positive number, or the name of a rule for the data."""
    if isinstance(value, str):
        return check_choice(name, value, _RULES)
    return check_number(name, value, low=_LEAST, high=_MOST)


def _variance(rule, X):
    """The variance of a rule: 1 / gamma, with the gamma of this rule in `kernels.scales`."""
    return 1.0 / resolve_gamma(rule, X, ops.SQUARED_DISTANCE)


@dataclass(frozen=True)
class GaussianHyperKernel(HyperKernel):
    """``exp(-|x - x'|^2 / 2 v1 - |y - y'|^2 / 2 v1 - |(x + x')/2 - (y + y')/2|^2 / 2 v2)``.

    It compares the differences within the pairs (x, x') and (y, y') with 0, and their midpoints
    with each other, where ``v2 = sigma2 + sigma_h2``.

    Parameters
    ----------
    sigma2 : float > 0, "scale", "median" or "auto", default "scale"
        Variance; by rule from the training samples: "scale" is d times the variance of their
        entries, "median" the median squared distance, "auto" d.
    sigma_h2 : float > 0, optional
        Reach of the midpoints. Default: ``multiple * sigma2``.
    convention : {"liu", "kondor-jebara"}, default "liu"
        v1 is sigma2 as in Liu et al., or 2 sigma2 as from the integral over Gaussians of Kondor and
        Jebara. Both are positive semidefinite.
    multiple : float > 0, default 1
        Multiple of sigma2, if ``sigma_h2`` is not given.
    width : float > 0, default 1
        Multiplies v1. Above ``4 v2 / v1``, sections are not kernels, so that coefficients >= 0 do
        not guarantee positive semidefiniteness.
    reach : float > 0, optional
        v2 is this multiple of sigma2, instead of ``sigma2 + sigma_h2``.
    scales : array-like of shape (d,), optional
        Positive numbers that multiply the columns in the differences x - x' and y - y', and not in
        the midpoints.

    Notes
    -----
    What can be learned. Since ``|m - (x + x')/2|^2 = |x - m|^2 / 2 + |x' - m|^2 / 2 - |x - x'|^2 /
    4`` for a midpoint m, every kernel of its space is a Gaussian of the difference times a function
    of the midpoint, ``k*(x, x') = exp(-|x - x'|^2 / 2 v1) h((x + x') / 2)``; for finitely many
    pairs, with midpoints m_p, it is also::

        exp(-kappa |x - x'|^2) sum_p c_p phi_p(x) phi_p(x'),  phi_p(x) = exp(-|x - m_p|^2 / 4 v2),

    kappa = 1 / 2 v1 - 1 / 8 v2 > 0. Coefficients >= 0 therefore give a positive semidefinite
    kernel. Two pairs with the same midpoint have values of a fixed positive ratio, so not every
    kernel can be learned. Examples are the ideal kernel of the labels 1, ., -1 of three equidistant
    points, and a Gaussian of another width. A sum over widths (`hyper_kernels`) has no such
    restriction.

    References
    ----------
    Liu, Shi, Huang, Yang and Suykens (2020), section 2.3; Kondor and Jebara (2007), Gaussian and
    Wishart hyperkernels, section 3.

    Examples
    --------
    A kernel of pairs of samples; its sections, one pair held fixed, are kernels to learn from:

    >>> import numpy as np
    >>> from alignlearn import GaussianHyperKernel
    >>> from alignlearn.hyper import PairKernel
    >>> pairs = np.array([[0.0, 0.0], [0.0, 2.0]])  # rows (x, x') of numbers
    >>> PairKernel(GaussianHyperKernel(sigma2=1.0, sigma_h2=1.0))(pairs).round(3)
    array([[1.   , 0.105],
           [0.105, 0.018]])
    """

    sigma2: float | str = "scale"
    sigma_h2: float | None = None
    convention: str = "liu"
    multiple: float = 1.0
    width: float = 1.0
    reach: float | None = None
    scales: tuple | None = None

    def __post_init__(self):
        object.__setattr__(self, "sigma2", _check_scale("sigma2", self.sigma2))
        object.__setattr__(self, "width", check_number("width", self.width, low=1e-100, high=1e100))
        if self.reach is not None:
            reach = check_number("reach", self.reach, low=1e-100, high=1e100)
            object.__setattr__(self, "reach", reach)
            if self.sigma_h2 is not None:
                raise ValueError(
                    f"reach={reach:g} and sigma_h2={self.sigma_h2:g} are both given; accepted: one."
                )
        if self.scales is not None:
            scales = check_numbers("scales", self.scales, 1)
            if not np.all(scales > 0.0):
                raise ValueError(f"scales must be positive, got a smallest one of {scales.min()}.")
            object.__setattr__(self, "scales", tuple(scales.tolist()))
        if self.sigma_h2 is not None:
            sigma_h2 = check_number("sigma_h2", self.sigma_h2, low=0.0, high=1e290, strict=True)
            object.__setattr__(self, "sigma_h2", sigma_h2)
        check_choice("convention", self.convention, _CONVENTIONS)
        multiple = check_number("multiple", self.multiple, low=1e-100, high=1e100)
        object.__setattr__(self, "multiple", multiple)

    def resolve(self, X):
        """Replace parameters that depend on the training samples X (m, d) by numbers."""
        sigma2 = _variance(self.sigma2, X) if isinstance(self.sigma2, str) else self.sigma2
        sigma_h2, reach = self.sigma_h2, self.reach
        if reach is not None:
            reach *= self.multiple
        elif sigma_h2 is None:
            sigma_h2 = self.multiple * sigma2
        if self.scales is not None and len(self.scales) != X.shape[1]:
            raise ValueError(
                f"scales has {len(self.scales)} numbers but X has {X.shape[1]} columns; accepted: "
                "one for each column."
            )
        reached = sigma_h2 / sigma2 if reach is None else reach
        for name, value in (("width", self.width), ("reach", reached)):
            if not _LEAST < sigma2 * value < _MOST:
                raise ValueError(
                    f"{name}={value:g} of a variance of {sigma2:.3g} is out of range of float64; "
                    f"accepted: variances from {_LEAST:g} to {_MOST:g}."
                )
        return replace(self, sigma2=sigma2, sigma_h2=sigma_h2, reach=reach, multiple=1.0)

    def log_constant(self, d):
        """Logarithm of the dropped factor in d dimensions, as in Liu et al."""
        v1, v2 = self._variances
        return -d * np.log(2.0 * np.pi * v1) - 0.5 * d * np.log(2.0 * np.pi * v2)

    @property
    def _variances(self):
        v1 = _CONVENTIONS[self.convention] * self.sigma2 * self.width
        v2 = self.sigma2 + self.sigma_h2 if self.reach is None else self.reach * self.sigma2
        return v1, v2

    def _terms(self, weight=1.0):
        return [Ladder([Rung(weight, *self._variances, self.scales)])]

    def _further(self, multiple):
        if multiple != 1.0 and self.sigma_h2 is not None:
            raise ValueError(
                f"multiple={multiple:g} has no effect where hyper_kernel fixes sigma_h2="
                f"{self.sigma_h2:g}; accepted: multiple=1, or a hyper_kernel without sigma_h2."
            )
        return replace(self, multiple=multiple * self.multiple)


@dataclass(frozen=True)
class WishartHyperKernel(HyperKernel):
    """The integral of four Gaussians of covariance S over S, inverse Wishart of (C, r).

    Parameters
    ----------
    C : array-like of shape (d, d), float > 0, "scale", "median" or "auto", default "scale"
        Positive definite. A number c means ``c I``. A rule means ``(r + 3) / 2`` times its variance
        (see `GaussianHyperKernel`), so that the kernel is as wide as that Gaussian.
    r : float > d - 1, optional
        Degrees of freedom. Default: d + 1.
    unit_diagonal : bool, default False
        Divide by ``sqrt(k(p, p) k(q, q))``. It is still a hyper-kernel, but its sections ``k(p, (.,
        .))`` are not kernels, so coefficients >= 0 do not guarantee positive semidefiniteness.
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

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import WishartHyperKernel
    >>> from alignlearn.hyper import PairKernel
    >>> pairs = np.array([[0.0, 0.0], [0.0, 2.0]])  # rows (x, x') of numbers
    >>> PairKernel(WishartHyperKernel(1.0, unit_diagonal=True))(pairs).round(3)
    array([[1.   , 0.234],
           [0.234, 1.   ]])
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
        """Replace parameters that depend on the training samples X (m, d) by numbers."""
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
        """Logarithm of the dropped factor, with ``unit_diagonal=False``."""
        from scipy.special import multigammaln

        if isinstance(self.C, tuple):
            log_det = 2.0 * float(np.log(np.diagonal(self._factor())).sum())
        else:
            log_det = d * np.log(self.C)
        powers = -1.5 * d * np.log(np.pi) - d * np.log(2.0) - 1.5 * log_det
        return float(powers + multigammaln(0.5 * (self.r + 3.0), d) - multigammaln(0.5 * self.r, d))

    def _terms(self, weight=1.0):
        return [Determinant(weight, 0.5 * (self.r + 3.0), self._coordinates, self.unit_diagonal)]

    def _further(self, multiple):
        return replace(self, multiple=multiple * self.multiple)

    def _coordinates(self, X):
        factor = self._factor()
        if factor is None:
            return X / np.sqrt(self.C)
        from scipy.linalg import solve_triangular

        return np.ascontiguousarray(solve_triangular(factor, X.T, lower=True).T)


WIDTHS = tuple(4.0 ** np.arange(-3, 4))
REACHES = (64.0, 4.0)


def hyper_kernels(widths=WIDTHS, reach=REACHES, *, unit="scale", weights=None, scales=None):
    """Sum of Gaussian hyper-kernels with several widths of the differences (a ladder).

    With ``s`` the unit, the sum over widths w and reaches r with ``w <= 4 r`` of ``weight
    exp(-(|x - x'|^2 + |y - y'|^2) / (2 s w) - |(x + x')/2 - (y + y')/2|^2 / (2 s r))``.

    Parameters
    ----------
    widths : sequence of float > 0, default 1/64, 1/16, ..., 64
        v1 in units. A ratio of 4 leaves an error of at most 6% on a Gaussian between two widths in
        two dimensions, a ratio of 2 one of 0.2%; `alignlearn.theory.bounds.ladder.ratio_for` gives
        the ratio for another error. More dimensions have larger errors: 9% for 3 and 21% for 6.
    reach : float > 0 or sequence of these, default (64, 4)
        v2 in units. A wide reach learns kernels of the difference; a narrow one also learns kernels
        that vary over the input space. Widths above four times a reach are omitted for it, so that
        sections are kernels; a reach without remaining widths raises an error.
    unit : float > 0, "scale", "median" or "auto", default "scale"
        Variance s; by rule from the training samples: "scale" is d times the variance of their
        entries, "median" the median squared distance, "auto" d.
    weights : sequence of float > 0, optional
        One for each width, in every reach. They are divided by their sum over all terms, so that
        values are at most 1. Default: equal weights.
    scales : array-like of shape (d,), optional
        Positive numbers that multiply the columns in the differences x - x' and y - y', and not in
        the midpoints.

    Returns
    -------
    HyperKernelSum

    Raises
    ------
    ValueError
        A width, reach or weight is not positive, there are none, or the numbers of weights and
        widths differ.

    Notes
    -----
    What can be learned: ``sum_k exp(-|x - x'|^2 / 2 v1_k) h_k((x + x') / 2)`` with any smooth
    functions h_k: at every midpoint a combination of Gaussians of these widths, and so nearly any
    continuous function of the length of the difference. Differences of equal length are not
    distinguished by direction; use ``scales`` for that. Reaches that differ by powers of 2 share a
    table of distances, and cost squarings.

    A matrix and a fit by landmarks take about as long as those of a single hyper-kernel, because
    all terms share the distances. Values of the learned kernel, and products with all pairs of a
    grid (``solver="cg"``), need matrix products for each term. Their time is proportional to the
    number of terms. They need no exponential.

    The default was chosen by the errors of `HyperKRRCV` on pairs of new points of wine, sonar and
    breast cancer, for known kernels and class labels. On heart, australian and fertility, which
    were not used for this choice, it is better than a single hyper-kernel as well. At half the
    cost, ``5 * hyper_kernels((1/48, 1/8, 3/4, 9/2, 27), 64) + 2 * hyper_kernels((1/4, 4), 4)`` is
    nearly as good.

    Examples
    --------
    >>> from alignlearn import hyper_kernels
    >>> ladder = hyper_kernels(widths=(0.25, 1.0, 4.0), reach=4.0)
    >>> len(ladder.parts), round(sum(ladder.weights), 6)
    (3, 1.0)
    """
    widths = check_numbers("widths", widths, 1)
    reach = check_numbers("reach", np.atleast_1d(reach), 1)
    weights = np.ones(widths.size) if weights is None else check_numbers("weights", weights, 1)
    if weights.size != widths.size:
        raise ValueError(
            f"{weights.size} weights for {widths.size} widths; accepted: one for each."
        )
    parts, kept = [], []
    for r in reach:
        check_number("reach", r, low=1e-100, high=1e100)
        some = np.flatnonzero(widths <= 4.0 * r)
        if not some.size:
            raise ValueError(
                f"reach={r:g}: all widths, {widths.min():g} to {widths.max():g}, are "
                "more than four times as large; accepted: a larger reach, or a smaller "
                "width."
            )
        parts += [GaussianHyperKernel(unit, width=widths[k], reach=r, scales=scales) for k in some]
        kept += weights[some].tolist()
    if not min(kept) > 0.0:
        raise ValueError(f"weights must be positive, got a smallest one of {min(kept):g}.")
    return HyperKernelSum(tuple(parts), tuple(np.array(kept) / sum(kept)))
