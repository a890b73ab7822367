"""Kernels that are weighted sums of Fourier features, and their spectral densities.

A shift-invariant kernel with value 1 at 0 is the mean of ``cos(omega'(x - x'))`` over its spectral
density (Bochner). The kernels here are mixtures of Gaussians ``exp(-g |x - x'|^2)``, whose density
is normal with variance 2 g, except the Laplacian, which has a Cauchy density in every column.

Source: Rahimi and Recht (2007), Random features for large-scale kernel machines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.validation import check_features, check_finite, check_numbers

from .base import Kernel
from .stationary import Exponential, Gaussian, Laplacian, Matern, RationalQuadratic


@dataclass(frozen=True, eq=False)
class FourierFeatures(Kernel):
    """The kernel of weighted random Fourier features.

    Without offsets it is ``sum_k w_k cos(omega_k'(x - x'))``, and with offsets
    ``sum_k 2 w_k cos(omega_k'x + b_k) cos(omega_k'x' + b_k)``. Samples are dense or the rows of a
    SciPy sparse matrix.

    Parameters
    ----------
    frequencies : array-like of shape (q, d)
        Rows omega_k, in radians per unit of X.
    weights : array-like of shape (q,)
        >= 0.
    offsets : array-like of shape (q,), optional
        b_k, in radians.

    Raises
    ------
    ValueError
        NaN or infinity, a negative weight, or different lengths.

    Examples
    --------
    A cosine of one frequency in one column; weights of frequencies that are drawn at random from a
    kernel's spectrum give that kernel:

    >>> import numpy as np
    >>> from alignlearn import FourierFeatures, Gaussian
    >>> FourierFeatures([[np.pi]], [1.0])([[0.0]], [[0.0], [1.0], [2.0]]).round(3)
    array([[ 1., -1.,  1.]])
    >>> frequencies = np.random.default_rng(0).normal(size=(4000, 1))
    >>> drawn = FourierFeatures(frequencies, np.full(4000, 1 / 4000))([[0.0]], [[1.0]])
    >>> bool(abs(drawn - Gaussian(0.5)([[0.0]], [[1.0]])) < 0.05)
    True
    """

    frequencies: np.ndarray
    weights: np.ndarray
    offsets: np.ndarray | None = None

    def __post_init__(self):
        for name, axes in (("frequencies", (1, 1)), ("weights", (1,)), ("offsets", (1,))):
            if (value := getattr(self, name)) is not None:
                value = check_numbers(name, value, *axes)
                if len(value) != len(self.frequencies):
                    raise ValueError(
                        f"{name} has {len(value)} values for {len(self.frequencies)} frequencies; "
                        "accepted: one for each."
                    )
                value.flags.writeable = False
                object.__setattr__(self, name, value)
        if self.weights.min() < 0.0:
            raise ValueError(f"weights: the minimum is {self.weights.min():g}; accepted: >= 0.")

    def _arrays(self):
        return self.frequencies, self.weights, self.offsets

    # The base class compares fields, and the comparison of arrays has no truth value.
    def __eq__(self, other):
        if type(other) is not FourierFeatures:
            return False
        return all(np.array_equal(a, b) for a, b in zip(self._arrays(), other._arrays()))

    def __hash__(self):
        return hash((self.frequencies.tobytes(), self.weights.tobytes()))

    def __str__(self):
        return f"fourier features ({len(self.weights)} frequencies)"

    @property
    def n_features(self) -> int:
        """Columns of `features`: cosine and sine of each frequency, or one cosine with offsets."""
        return len(self.weights) * (2 if self.offsets is None else 1)

    def features(self, X):
        """Features whose inner products are the kernel's values, float64 (n, n_features).

        Without offsets: the cosines of all frequencies, then the sines, each times the square root
        of its weight. With offsets: cosines times the square root of twice the weight.

        Parameters
        ----------
        X : array-like or SciPy sparse matrix of shape (n, d)

        Raises
        ------
        ValueError
            Invalid samples, or a number of columns other than d.
        """
        X = check_features(X)
        if X.shape[1] != self.frequencies.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns, but the kernel's frequencies have "
                f"{self.frequencies.shape[1]}."
            )
        return waves(X, self.frequencies, self.offsets, np.sqrt(self.weights))

    def _matrix(self, X, Y):
        Z = self.features(X)
        return Z @ (Z if Y is None else self.features(Y)).T

    def diag(self, X):
        """``k(x, x)`` for each row of X, float64 of shape (n_X,)."""
        return np.square(self.features(X)).sum(axis=1)

    def block(self, X, Y):
        return self._matrix(X, Y)


def waves(X, frequencies, offsets, amplitudes):
    """Cosines (and, without offsets, sines) of ``X @ frequencies.T``, times ``amplitudes``.

    Parameters
    ----------
    X : ndarray or SciPy sparse matrix of shape (n, d), checked
    frequencies : ndarray of shape (q, d)
    offsets : ndarray of shape (q,), or None
    amplitudes : float or ndarray of shape (q,)
        With offsets they are multiplied by sqrt(2), so that the expectation over offsets is the
        kernel.

    Returns
    -------
    ndarray of shape (n, 2 q), or (n, q) with offsets
    """
    with np.errstate(over="ignore", invalid="ignore"):
        phase = np.asarray(X @ frequencies.T, dtype=np.float64)
    check_finite("X: its products with the frequencies", phase)
    if offsets is not None:
        return np.cos(phase + offsets) * (np.sqrt(2.0) * amplitudes)
    return np.hstack([np.cos(phase) * amplitudes, np.sin(phase) * amplitudes])


def draw_frequencies(kernel, n, d, rng):
    """Draw frequencies from the spectral density of a shift-invariant kernel.

    Parameters
    ----------
    kernel : Gaussian, Laplacian, Exponential, Matern or RationalQuadratic
        With a number for gamma (`Kernel.resolve`).
    n, d : int
        Number of frequencies, and number of columns of X.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (n, d)

    Raises
    ------
    ValueError
        Another kernel.
    """
    gamma = getattr(kernel, "gamma", None)
    if isinstance(kernel, Laplacian):
        return gamma * rng.standard_cauchy((n, d))
    normal = rng.standard_normal((n, d))
    if isinstance(kernel, Gaussian):
        return np.sqrt(2.0 * gamma) * normal
    if isinstance(kernel, RationalQuadratic):
        mixed = rng.gamma(kernel.alpha, gamma / kernel.alpha, (n, 1))
        return np.sqrt(2.0 * mixed) * normal
    if isinstance(kernel, (Exponential, Matern)):
        # A Student density with 2 nu degrees of freedom.
        freedom = 2.0 * getattr(kernel, "nu", 0.5)
        return gamma * np.sqrt(freedom / rng.chisquare(freedom, (n, 1))) * normal
    raise ValueError(
        f"kernel={kernel!r:.80} has no known spectral density; accepted: Gaussian, Laplacian, "
        "Exponential, Matern and RationalQuadratic, as objects or by name."
    )
