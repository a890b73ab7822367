"""Hyper-kernels: positive semi-definite functions of two pairs of points, and their algebra.

Sums, positive multiples and products with a kernel of midpoints are also hyper-kernels. They are
evaluated from tables of squared distances between points, by the terms of `_terms`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from alignlearn._text import Described, listed
from alignlearn._versions import Versioned
from alignlearn.kernels import Gaussian, Kernel
from alignlearn.validation import check_numbers, check_samples

from ._terms import Ladder, Midpoints, total


class HyperKernel(Described, Versioned):
    """Base of the hyper-kernels: evaluation on arrays of pairs, sums and multiples.

    A subclass has ``resolve(X)``, ``log_constant(d)``, ``_terms(weight)``, a list of what the
    engine evaluates, and ``_further(multiple)``, the same of another reach.

    Examples
    --------
    >>> from alignlearn import Gaussian, GaussianHyperKernel
    >>> from alignlearn.hyper import HyperKernel
    >>> total = GaussianHyperKernel(1.0) + 0.5 * GaussianHyperKernel(4.0)
    >>> isinstance(total, HyperKernel), type(total).__name__
    (True, 'HyperKernelSum')
    >>> type(GaussianHyperKernel(1.0) * Gaussian(0.5)).__name__
    'MidpointProduct'
    """

    __array_ufunc__ = None  # array * hyper-kernel is an error, not an array of hyper-kernels

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
        right = None
        if not (first_other is None and second_other is None):
            right = _check_pairs("first_other", first_other, "second_other", second_other)
            if left[0].shape[1] != right[0].shape[1]:
                raise ValueError(
                    f"first has {left[0].shape[1]} columns but first_other has "
                    f"{right[0].shape[1]}; accepted: the same."
                )
        self = self.resolve(np.concatenate(left))
        sides = _halves(left), None if right is None else _halves(right)
        return total(term.values(*sides) for term in merged(self._terms()))

    def __add__(self, other) -> HyperKernelSum:
        if not isinstance(other, HyperKernel):
            return NotImplemented
        parts, weights = zip(*(*_parts(self), *_parts(other)))
        return HyperKernelSum(parts, weights)

    def __radd__(self, other):
        # The start of `sum` over hyper-kernels.
        return self if type(other) is int and other == 0 else NotImplemented

    def __mul__(self, other):
        if isinstance(other, Kernel):
            return MidpointProduct(self, other)
        if isinstance(other, bool) or not isinstance(other, (Real, np.generic)):
            return NotImplemented
        parts, weights = zip(*_parts(self))
        return HyperKernelSum(parts, tuple(float(other) * w for w in weights))

    __rmul__ = __mul__

    @property
    def _sections_psd(self):
        """Whether every section ``k(p, (., .))`` is a positive semi-definite kernel."""
        return all(term.sections_psd for term in self._terms())


def merged(terms):
    """The terms, with those merged that share a table."""
    found = []
    for term in terms:
        for k, other in enumerate(found):
            both = other.merged(term)
            if both is not None:
                found[k] = both
                break
        else:
            found.append(term)
    return found


def _parts(hyper):
    """Pairs (part, weight) of a sum, or a single pair for another hyper-kernel."""
    if isinstance(hyper, HyperKernelSum):
        return list(zip(hyper.parts, hyper.weights))
    return [(hyper, 1.0)]


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


def _halves(side):
    """Points, and the pairs of row t of the first of two arrays with row t of the second."""
    n = len(side[0])
    return np.concatenate(side), np.arange(n), np.arange(n, 2 * n)


@dataclass(frozen=True, repr=False)
class HyperKernelSum(HyperKernel):
    """``sum_k weights[k] parts[k]`` of hyper-kernels: the result of ``+`` and ``*``.

    Gaussian hyper-kernels whose v2 are equal, or one another's halves, share a table of distances
    and cost together little more than one; others are evaluated one by one.

    Parameters
    ----------
    parts : sequence of HyperKernel
    weights : sequence of float > 0, optional
        Default 1 each.

    Raises
    ------
    ValueError
        There is no part, a weight is not positive, or the numbers of both differ.

    See Also
    --------
    alignlearn.hyper_kernels : Sums over widths.

    Examples
    --------
    >>> from alignlearn import GaussianHyperKernel
    >>> total = GaussianHyperKernel(1.0) + 0.5 * GaussianHyperKernel(4.0)
    >>> len(total.parts), total.weights
    (2, (1.0, 0.5))
    """

    parts: tuple
    weights: tuple | None = None

    def __post_init__(self):
        parts = tuple(self.parts)
        if not parts:
            raise ValueError("a sum of hyper-kernels has no parts; accepted: one or more.")
        for part in parts:
            if not isinstance(part, HyperKernel):
                raise TypeError(f"parts must be hyper-kernels, got {part!r:.80}.")
        weights = np.ones(len(parts)) if self.weights is None else self.weights
        weights = check_numbers("weights", list(weights), 1)
        if len(weights) != len(parts):
            raise ValueError(
                f"{len(weights)} weights for {len(parts)} hyper-kernels; accepted: one for each."
            )
        if not (weights.min() >= 1e-100 and weights.max() <= 1e100):
            raise ValueError(
                "weights of hyper-kernels must be positive, got "
                f"{listed(weights.tolist(), 5)}; accepted: 1e-100 to 1e100. Leave out a "
                "part that is to have weight 0."
            )
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "weights", tuple(weights.tolist()))

    def __repr__(self):
        pairs = zip(self.weights, self.parts)
        shown = [f"{part!r}" if w == 1.0 else f"{w!r} * {part!r}" for w, part in pairs]
        return f"({listed(shown, show=str, separator=' + ')})"

    def resolve(self, X):
        """Replace parameters that depend on the training samples X (m, d) by numbers."""
        return replace(self, parts=tuple(part.resolve(X) for part in self.parts))

    def log_constant(self, d):
        """Logarithm of the factor that all parts omit in d dimensions; 0 if it is not the same.

        The weights multiply the evaluated parts, so a sum of parts with different factors omits
        nothing.
        """
        constants = {part.log_constant(d) for part in self.parts}
        return constants.pop() if len(constants) == 1 else 0.0

    def _terms(self, weight=1.0):
        return [t for part, w in zip(self.parts, self.weights) for t in part._terms(weight * w)]

    def _further(self, multiple):
        return replace(self, parts=tuple(part._further(multiple) for part in self.parts))


@dataclass(frozen=True)
class MidpointProduct(HyperKernel):
    """A hyper-kernel times a kernel of the midpoints ``(x + x') / 2`` and ``(y + y') / 2``.

    The result of ``hyper_kernel * kernel``. A Gaussian kernel only reduces v2 of Gaussian
    hyper-kernels; other kernels are evaluated on the midpoints.

    Parameters
    ----------
    hyper_kernel : HyperKernel
    kernel : Kernel
        Positive semi-definite.

    Examples
    --------
    What is learned may depend on where a pair lies, here on its midpoint:

    >>> import numpy as np
    >>> from alignlearn import GaussianHyperKernel, Linear
    >>> from alignlearn.hyper import PairKernel
    >>> product = GaussianHyperKernel(1.0, 1.0) * Linear()
    >>> pairs = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    >>> PairKernel(product)(pairs).diagonal().round(3)  # midpoints 0, 1 and 2
    array([0., 1., 4.])
    """

    hyper_kernel: HyperKernel
    kernel: Kernel

    def __post_init__(self):
        if not isinstance(self.hyper_kernel, HyperKernel) or not isinstance(self.kernel, Kernel):
            raise TypeError(
                "hyper_kernel must be a hyper-kernel and kernel a kernel of samples, got "
                f"{self.hyper_kernel!r:.60} and {self.kernel!r:.60}."
            )
        if not self.kernel.is_psd:
            raise ValueError(
                "kernel must be positive semi-definite so that the product is; "
                f"{self.kernel} is not known to be."
            )

    def resolve(self, X):
        """Replace parameters that depend on the training samples X (m, d) by numbers."""
        return MidpointProduct(self.hyper_kernel.resolve(X), self.kernel.resolve(X))

    def log_constant(self, d):
        """Logarithm of the factor that the hyper-kernel omits in d dimensions."""
        return self.hyper_kernel.log_constant(d)

    def _terms(self, weight=1.0):
        return [self._narrowed(term) for term in self.hyper_kernel._terms(weight)]

    def _narrowed(self, term):
        if not (isinstance(term, Ladder) and type(self.kernel) is Gaussian):
            return Midpoints(term, self.kernel)
        more = 2.0 * self.kernel.gamma
        return Ladder([rung._replace(v2=1.0 / (1.0 / rung.v2 + more)) for rung in term.rungs])

    def _further(self, multiple):
        return replace(self, hyper_kernel=self.hyper_kernel._further(multiple))
