"""Distributions with known population quantities: exact, in closed form, or by quadrature.

`FiniteDistribution` works in float64 or, when its arrays hold `fractions.Fraction`, exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from typing import NamedTuple

import numpy as np


class Moments(NamedTuple):
    """Population moments of two centered kernels.

    Attributes
    ----------
    theta : E[K_c(x, x') K'_c(x, x')]
    kappa : E[K_c(x, x) K'_c(x, x)]
    t, t_prime : E[K_c(x, x)], E[K'_c(x, x)]
    """

    theta: float
    kappa: float
    t: float
    t_prime: float


@dataclass(frozen=True)
class FiniteDistribution:
    """A distribution on n atoms; a kernel is its (n, n) matrix over the atoms.

    Parameters
    ----------
    weights : array (n,), float or object of Fraction
        Probabilities, non-negative, sum 1 (to 1e-9; exactly for fractions).
    labels : array (n,), optional
        The label of each atom. A noisy label is two atoms with the same kernel row.

    Raises
    ------
    ValueError
        If the weights are negative or do not sum to 1, or the labels have another length.
    """

    weights: np.ndarray
    labels: np.ndarray | None = None

    def __post_init__(self):
        p = np.asarray(self.weights)
        if p.ndim != 1 or not len(p) or (p < 0).any() or abs(p.sum() - 1) > 1e-9:
            raise ValueError("weights must be a vector of non-negative numbers with sum 1.")
        object.__setattr__(self, "weights", p)
        if self.labels is not None:
            y = np.asarray(self.labels)
            if y.shape != p.shape:
                raise ValueError(f"labels have shape {y.shape}; accepted: {p.shape}.")
            object.__setattr__(self, "labels", y)

    def mean(self, values):
        """E[values] over the atoms, along the first axis."""
        return self.weights @ np.asarray(values)

    def pair_mean(self, K):
        """E[K(x, x')] over independent x, x'."""
        return self.weights @ K @ self.weights

    def center(self, K):
        """The centered kernel K_c on the atoms."""
        row = K @ self.weights
        return K - row[:, None] - row[None, :] + self.weights @ row

    def target(self):
        """The target kernel yy' on the atoms."""
        return np.multiply.outer(self.labels, self.labels)

    def moments(self, K, L) -> Moments:
        """Moments of a pair of kernels, each (n, n)."""
        Kc, Lc = self.center(K), self.center(L)
        k, d = np.diagonal(Kc), np.diagonal(Lc)
        return Moments(self.pair_mean(Kc * Lc), self.mean(k * d), self.mean(k), self.mean(d))

    def alignment(self, K, L) -> float:
        """rho(K, L); nan where a kernel has zero variance."""
        a, c = self.moments(K, K).theta, self.moments(L, L).theta
        size = float(a) * float(c)
        return float(self.moments(K, L).theta) / size**0.5 if size > 0 else float("nan")

    def sample(self, m: int, random_state=None) -> np.ndarray:
        """Indices (m,) of independent atoms."""
        rng = np.random.default_rng(random_state)
        return rng.choice(len(self.weights), size=m, p=self.weights.astype(float))

    def counts(self, m: int, trials: int, random_state=None) -> np.ndarray:
        """How often each atom occurs in `trials` samples of m points: (trials, n) integers."""
        rng = np.random.default_rng(random_state)
        p = self.weights.astype(float)
        return rng.multinomial(m, p / p.sum(), size=trials)

    def all_samples(self, m: int) -> Iterator[tuple[np.ndarray, Fraction]]:
        """Yield every multiset of m atoms as (counts, probability); exact for fractions."""
        for counts in _compositions(m, len(self.weights)):
            probability = factorial(m)
            for c, p in zip(counts, self.weights):
                probability = probability * p**c / factorial(c)
            yield np.array(counts), probability

    def expected_numerator(self, K, L, m: int):
        """E_S of <K_c, L_c>_F / m^2 over samples of m points, by enumeration."""
        exact = self.weights.dtype == object
        total = 0
        for counts, probability in self.all_samples(m):
            w = np.array([Fraction(int(c), m) for c in counts]) if exact else counts / m
            total = total + probability * FiniteDistribution(w).moments(K, L).theta
        return total


def numerators(counts, K, L) -> np.ndarray:
    """<K_c, L_c>_F / m^2 of many samples at once.

    Parameters
    ----------
    counts : int array (trials, n)
        From `FiniteDistribution.counts`.
    K, L : float arrays (n, n)
        Kernels over the atoms.

    Returns
    -------
    float array (trials,)
    """
    W = counts / counts.sum(1, keepdims=True)
    # Centering on the average sample first does not change the result and avoids cancellation
    # below.
    base = FiniteDistribution(W.mean(0) / W.mean(0).sum())
    K, L = base.center(np.asarray(K, float)), base.center(np.asarray(L, float))
    rows, cols = W @ K, W @ L
    product = ((W @ (K * L)) * W).sum(1)
    return product - 2 * (W * rows * cols).sum(1) + (W * rows).sum(1) * (W * cols).sum(1)


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)


def two_points(alpha) -> tuple[FiniteDistribution, np.ndarray]:
    """The example of figure 1 of Cortes, Mohri and Rostamizadeh (2012).

    A fraction alpha of the points is (-1, 0) with label -1, the others are (1, 0) with label 1,
    and K(x, x') = <x, x'> + 1.

    Parameters
    ----------
    alpha : float or Fraction in [0, 1]

    Returns
    -------
    (distribution, K) : FiniteDistribution, array (2, 2)

    Raises
    ------
    ValueError
        If alpha is out of range.
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha={alpha!r} is out of range; accepted: 0 <= alpha <= 1.")
    one = Fraction(1) if isinstance(alpha, (Fraction, int)) else 1.0
    kind = object if isinstance(one, Fraction) else float
    law = FiniteDistribution(np.array([alpha * one, one - alpha], dtype=kind), np.array([-1, 1]))
    return law, np.array([[2 * one, 0 * one], [0 * one, 2 * one]], dtype=kind)


class MixtureMoments(NamedTuple):
    """Closed-form population quantities of a Gaussian kernel and the target kernel."""

    kernel_norm: float  # E[K_c^2]
    target_norm: float  # E[(yy')_c^2]
    numerator: float  # E[K_c (yy')_c]
    alignment: float


@dataclass(frozen=True)
class GaussianMixture:
    """Spherical normal components, each with its own label.

    Parameters
    ----------
    means : array (c, d)
    labels : array (c,)
    weights : array (c,), optional
        Default: equal weights.
    variance : float
        Variance of every coordinate, within a component.

    Raises
    ------
    ValueError
        If the shapes do not agree or the variance is not positive.
    """

    means: np.ndarray
    labels: np.ndarray
    weights: np.ndarray | None = None
    variance: float = 1.0

    def __post_init__(self):
        means = np.atleast_2d(np.asarray(self.means, dtype=float))
        labels = np.asarray(self.labels, dtype=float)
        c = len(means)
        weights = np.full(c, 1 / c) if self.weights is None else np.asarray(self.weights, float)
        if labels.shape != (c,) or weights.shape != (c,) or abs(weights.sum() - 1) > 1e-9:
            raise ValueError("need one label and one weight per component, the weights with sum 1.")
        if not self.variance > 0:
            raise ValueError(f"variance={self.variance!r} is out of range; accepted: variance > 0.")
        for name, value in (("means", means), ("labels", labels), ("weights", weights)):
            object.__setattr__(self, name, value)

    def sample(self, m: int, random_state=None) -> tuple[np.ndarray, np.ndarray]:
        """Points (m, d) and labels (m,)."""
        rng = np.random.default_rng(random_state)
        z = rng.choice(len(self.weights), size=m, p=self.weights)
        noise = np.sqrt(self.variance) * rng.standard_normal((m, self.means.shape[1]))
        return self.means[z] + noise, self.labels[z]

    def gaussian_moments(self, bandwidth: float) -> MixtureMoments:
        """Closed-form quantities of K(x, x') = exp(-|x - x'|^2 / (2 bandwidth^2)).

        Parameters
        ----------
        bandwidth : float
            Length, in the units of the points; positive.
        """
        p, s2, v = self.weights, bandwidth**2, self.variance
        mean = self._pair(s2)
        second = p @ self._pair(s2 / 2) @ p
        third = np.einsum("a,b,c,abc->", p, p, p, self._triple(s2, v))
        kernel_norm = second - 2 * third + (p @ mean @ p) ** 2
        y = self.labels - p @ self.labels
        target_norm = float((p @ y**2) ** 2)
        numerator = float((p * y) @ mean @ (p * y))
        rho = numerator / np.sqrt(kernel_norm * target_norm)
        return MixtureMoments(float(kernel_norm), target_norm, numerator, float(rho))

    def quadrature(self, order: int = 48) -> tuple[FiniteDistribution, np.ndarray]:
        """Gauss-Hermite nodes in one dimension: finite distribution and points (c * order, 1).

        Raises
        ------
        ValueError
            If the points are not one-dimensional.
        """
        if self.means.shape[1] != 1:
            raise ValueError(f"quadrature is for d = 1, got d = {self.means.shape[1]}.")
        nodes, w = np.polynomial.hermite_e.hermegauss(order)
        w = w / w.sum()
        points = (self.means + np.sqrt(self.variance) * nodes[None, :]).reshape(-1, 1)
        weights = (self.weights[:, None] * w[None, :]).ravel()
        return FiniteDistribution(weights, np.repeat(self.labels, order)), points

    def _pair(self, s2):
        """E[K(x, x')] for x, x' from two components; (c, c)."""
        d = self.means.shape[1]
        gap = ((self.means[:, None] - self.means[None, :]) ** 2).sum(-1)
        wide = s2 + 2 * self.variance
        return (s2 / wide) ** (d / 2) * np.exp(-gap / (2 * wide))

    def _triple(self, s2, v):
        """E[K(x, x') K(x, x'')] with x' from a, x'' from b and x from c; (c, c, c)."""
        d, mu = self.means.shape[1], self.means
        u = s2 + v
        gap = ((mu[:, None] - mu[None, :]) ** 2).sum(-1)
        middle = (mu[:, None] + mu[None, :]) / 2
        off = ((middle[:, :, None] - mu[None, None]) ** 2).sum(-1)
        wide = u / 2 + v
        outer = (s2 / u) ** d * np.exp(-gap / (4 * u))
        return outer[:, :, None] * (u / 2 / wide) ** (d / 2) * np.exp(-off / (2 * wide))


def gaussian_kernel(X, bandwidth: float, Z=None) -> np.ndarray:
    """exp(-|x - z|^2 / (2 bandwidth^2)) for points (m, d) and (n, d)."""
    Z = X if Z is None else Z
    square = ((X[:, None] - Z[None, :]) ** 2).sum(-1)
    return np.exp(-square / (2 * bandwidth**2))
