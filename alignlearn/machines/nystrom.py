"""Nystrom features of a kernel, for any number of samples: centers and storage.

Functions are restricted to the span of the kernel functions at few centers Z. With ``K(Z, Z) =
TT'`` the features ``Phi = K(X, Z) T'^-1`` are coordinates in an orthonormal basis of this span. If
they do not fit into the memory, only products are computed, and K(X, Z) is evaluated again, tile by
tile, in every step. A pivoted factorization omits centers that depend on others up to rounding, so
that T is well conditioned.

Source: El Alaoui and Mahoney (2015), "Fast randomized kernel ridge regression with statistical
guarantees" (leverage scores).
"""

from __future__ import annotations

import numpy as np

from alignlearn._lapack import lower_solve
from alignlearn.solvers.k_means import spread
from alignlearn.solvers.pivoted_cholesky import pivoted_cholesky
from alignlearn.sources.source import BlockProducts, row_blocks
from alignlearn.validation import (
    DegenerateKernelWarning,
    check_choice,
    check_count,
    check_psd,
    is_sparse,
    warn,
)

CENTERS = ("uniform", "leverage", "k-means++")
MOST_CENTERS = 1000  # default number of centers
_PILOT = 500  # samples from which the leverage scores of all samples are estimated
_SEEDED = 20  # samples for each center, among which k-means++ draws
_MOST_LOST = 1e-3  # share of the kernel's variation that omitted centers may lose
_BLOCK = 2048  # rows of kernel values that are evaluated at once
_CONVERTED = 256  # rows that are converted to float64 at once, so that they stay in cache


def centers_count(n_centers, n_samples):
    """Number of centers to use, from an argument that may be None."""
    n = check_count("n_centers", n_centers)
    if n is not None and n > n_samples:
        raise ValueError(
            f"n_centers={n} is more than the {n_samples} samples of X; accepted: 1 to {n_samples}, "
            f"or None for at most {MOST_CENTERS}."
        )
    return min(n_samples, MOST_CENTERS) if n is None else n


def choose_centers(combination, n_centers, method, alpha, rng):
    """Increasing indices of the samples that become centers.

    Parameters
    ----------
    combination : Combination
        Of kernels on pairs of samples.
    n_centers : int
        At most the number of samples. "k-means++" returns fewer if samples are equal.
    method : {"uniform", "leverage", "k-means++"}
        Drawn uniformly; in proportion to approximate ridge leverage scores; or each in proportion
        to its squared distance from earlier centers, for numeric samples.
    alpha : float
        Of the leverage scores ``(K (K + alpha I)^-1)_ii``.
    rng : numpy.random.Generator
    """
    check_choice("centers", method, CENTERS)
    source, m = combination.source, combination.n_samples
    if n_centers == m:
        return np.arange(m)
    if method == "uniform":
        return np.sort(rng.choice(m, n_centers, replace=False))
    if method == "leverage":
        scores = leverage_scores(combination, alpha, rng)
        return np.sort(rng.choice(m, n_centers, replace=False, p=scores / scores.sum()))
    if is_sparse(source.X) or source.n_features is None:
        raise TypeError(
            "centers='k-means++' takes samples that are the rows of a dense matrix; accepted here: "
            "'uniform', 'leverage'."
        )
    some = np.sort(rng.choice(m, min(m, _SEEDED * n_centers), replace=False))
    return np.sort(some[spread(np.asarray(source.X[some], np.float64), n_centers, rng)])


def leverage_scores(combination, alpha, rng):
    """Approximate ridge leverage scores of all samples, (m,), each above 0.

    ``(k_ii - k_iJ (K_JJ + alpha |J| / m I)^-1 k_Ji) / alpha`` for a random J; it is exact if J
    contains all samples.
    """
    source, m = combination.source, combination.n_samples
    pilot = np.sort(rng.choice(m, min(m, _PILOT), replace=False))
    centers = source.samples(pilot)
    system = combination.products(centers).matrix(slice(None)).astype(np.float64, copy=False)
    shift = max(alpha * len(pilot) / m, source.rounding * system.trace())
    system.flat[:: len(system) + 1] += shift
    factor = np.linalg.cholesky(system)
    scores, products = combination.diagonal(), combination.products(Z=centers)
    least = np.finfo(np.float64).eps * scores.max()
    for rows in row_blocks(m, len(pilot)):
        near = lower_solve(factor, products.matrix(rows).T)
        scores[rows] -= np.einsum("ij,ij->j", near, near)
    return np.maximum(scores, least) / alpha


class NystromFeatures:
    """The features of all samples, for products only.

    Parameters
    ----------
    combination : Combination
        Positive semi-definite.
    centers : ndarray of int
        Numbers of samples.

    Attributes
    ----------
    centers : ndarray of int of shape (r,)
        Centers that do not depend on others.
    factor : ndarray of shape (r, r)
        T, lower triangular.
    """

    def __init__(self, combination, centers):
        if not combination.kernel.is_psd:
            raise ValueError(
                f"{combination.kernel!s:.200} is indefinite, so it has no feature map; "
                "accepted: a positive semi-definite kernel, or a machine on all pairs of "
                "samples."
            )
        self.combination, source = combination, combination.source
        K = combination.rows(centers, centers, exact=True)
        if source.checks_psd:
            single = source.rounding > np.finfo(np.float64).eps
            check_psd("the combination at the centers", K, np.float32 if single else None)
        # Entries of the features have rounding errors of eps / sqrt(tol).
        tol = source.rounding**0.75
        found = pivoted_cholesky(K.diagonal(), lambda index: K[:, index], tol=tol, block=256)
        if not found.pivots.size:
            raise ValueError("the kernel is 0 on all centers, so nothing can be learned.")
        _warn_lost_variation(K, tol, combination.kernel)
        self.centers, self.factor = centers[found.pivots], found.pivot_factor
        self._products, self._transposed = combination.column_products(self.centers)

    @property
    def n_samples(self):
        """Number of samples."""
        return self.combination.n_samples

    @property
    def rank(self):
        """Number of features."""
        return len(self.centers)

    def hold(self):
        """Store the kernel values with the centers, (m, r) in float64, for repeated use.

        For sources whose products are not computed pair by pair.
        """
        values = np.empty((self.n_samples, self.rank))
        for rows in _blocks(self.n_samples):
            values[rows] = self.raw(rows)
        self._products = BlockProducts(values.__getitem__, self.n_samples, self.rank)
        self._transposed = self._products.transposed

    def coefficients(self, W):
        """Coefficients of the centers, (r, c), of functions with coordinates W."""
        return self._solve(W, transposed=True)

    def times(self, W):
        """``Phi W``, (m, c)."""
        return self._products.times(self.coefficients(W))

    def transposed_times(self, U):
        """``Phi' U``, (r, c)."""
        return self._solve(self._transposed.times(U))

    def normal_times(self, W, *, shift, weight):
        """``Phi' diag(weight) (Phi W - 1 shift')``, (r, c), from one pass over the kernel."""
        columns = self.coefficients(W)
        return self._solve(self._products.normal_times(columns, shift=shift, weight=weight))

    def coordinates(self, Z):
        """Coordinates ``T^-1 Z`` of sums ``Z = K(X, centers)' U``."""
        return self._solve(Z)

    def raw(self, rows):
        """Kernel values of some samples, a slice or numbers, with the centers, (n, r)."""
        return self._products.matrix(rows).astype(np.float64, copy=False)

    def rows(self, rows):
        """Features of some samples, (n, r)."""
        return self._solve(self.raw(rows).T).T

    def _solve(self, right, transposed=False):
        return lower_solve(self.factor, right, transposed)


def _warn_lost_variation(K, tol, kernel):
    """Warn if dropping ``tol`` of the trace of K drops much of the centered trace."""
    trace = K.trace(dtype=np.float64)
    variation = trace - len(K) * K.mean(dtype=np.float64)
    if len(K) > 1 and np.ptp(K) > 0.0 and tol * trace > _MOST_LOST * variation:
        warn(
            (
                f"the values of {kernel!s:.200}, up to {K.max():.3g}, are so much larger "
                "than their variation that rounding distorts it. Subtract the mean of each "
                f"column from X{(', or give X in float64' if K.dtype == np.float32 else '')}."
            ),
            DegenerateKernelWarning,
        )


class StoredFeatures:
    """`NystromFeatures` that are kept: ``held``, (m, r)."""

    def __init__(self, features, dtype):
        self.n_samples, self.rank = features.n_samples, features.rank
        self.held = np.empty((self.n_samples, self.rank), dtype)
        for rows in _blocks(self.n_samples):
            self.held[rows] = features.rows(rows)

    def rows(self, rows):
        """Features of some samples, (n, r)."""
        return self.held[rows]

    def times(self, W):
        """``Phi W``, (m, c)."""
        out = np.empty((self.n_samples, W.shape[1]))
        for rows in _blocks(self.n_samples, _CONVERTED):
            out[rows] = self.held[rows].astype(np.float64, copy=False) @ W
        return out

    def transposed_times(self, U):
        """``Phi' U``, (r, c)."""
        out, used = np.zeros((self.rank, U.shape[1])), np.flatnonzero(U.any(axis=1))
        for part in _blocks(used.size, _CONVERTED):
            rows = used[part]
            out += self.held[rows].astype(np.float64, copy=False).T @ U[rows]
        return out


class ComputedFeatures:
    """`NystromFeatures` with at most ``block`` rows in memory at once."""

    held = None

    def __init__(self, features, dtype, block):
        self._features, self._dtype, self.block = features, dtype, block
        self.n_samples, self.rank = features.n_samples, features.rank
        self.times, self.transposed_times = features.times, features.transposed_times

    def rows(self, rows):
        """Features of some samples, (n, r)."""
        out = np.empty((len(rows), self.rank), self._dtype)
        for part in _blocks(len(rows)):
            out[part] = self._features.rows(rows[part])
        return out


def _blocks(n, size=_BLOCK):
    return [slice(i, min(i + size, n)) for i in range(0, n, size)]


def held_rows(features, memory, dtype):
    """The number of samples whose features are in memory at once: all, or some blocks."""
    row, m = np.dtype(dtype).itemsize * features.rank, features.n_samples
    block, least = min(_BLOCK, m), 16 * features.rank * min(_BLOCK, m)
    if memory < least:
        raise ValueError(
            f"memory={memory} bytes are too few for one block of rows, {block} samples "
            f"with {features.rank} centers; accepted: at least {least}, or fewer "
            "centers."
        )
    return m if row * m <= memory else max(block, (memory - least) // row)
