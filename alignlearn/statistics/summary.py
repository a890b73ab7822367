"""The p-sized summary of m samples for stage 1, and its computation from sums."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from alignlearn._text import MOST, Result, listed, table
from alignlearn._versions import Versioned
from alignlearn.engine.pair_sums import sum_of_rows
from alignlearn.validation import DegenerateKernelWarning, check_numbers, warn

from .targets import target_norm

# Centered products below this share of the plain ones are rounding: the kernel has no variance.
_ROUNDING = 4 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class AlignmentStatistics(Result, Versioned):
    """Centered inner products of p kernels with each other and with the target.

    For a Gram matrix ``Kc`` centered in feature space and the centered target kernel ``T = Yc Yc'``
    (``Yc`` is ``y - mean(y)`` for regression and binary labels, and centered one-hot columns
    otherwise):

    Attributes
    ----------
    a : ndarray of shape (p,), float64
        ``<K_kc, T>_F``.
    M : ndarray of shape (p, p), float64
        ``<K_kc, K_lc>_F``, symmetric.
    trace : ndarray of shape (p,), float64
        ``Tr K_kc``.
    target_norm : float
        ``||T||_F``; equals ``||y - mean(y)||^2`` for a single target column.
    n_samples : int
        m; with sample weights, the samples of positive weight.
    names : tuple of str
        One label per kernel.
    total_weight : float
        Sum of the sample weights; m without.

    Notes
    -----
    Sample weights w count repetitions: sums over samples are weighted by w_i, those over pairs by
    ``w_i w_j``, and centering is at the weighted means.

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2012), Algorithms for learning kernels based on centered
    alignment, section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, Linear, alignment_statistics
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> statistics = alignment_statistics(X, X[:, 0], [Gaussian(0.5), Linear()])
    >>> statistics.names, statistics.n_samples
    (('gaussian(gamma=0.5)', 'linear'), 40)
    >>> norms = np.sqrt(np.diag(statistics.M)) * statistics.target_norm
    >>> np.allclose(statistics.alignments, statistics.a / norms)
    True
    >>> bool(statistics.alignment([0.5, 0.5]) <= 1)  # of the mean of both kernels
    True
    """

    a: np.ndarray
    M: np.ndarray
    trace: np.ndarray
    target_norm: float
    n_samples: int
    names: tuple[str, ...] = ()
    total_weight: float = None

    def __post_init__(self):
        if self.total_weight is None:
            object.__setattr__(self, "total_weight", float(self.n_samples))

    def __str__(self):
        p = self.n_kernels
        names = self.names or [f"kernel {k}" for k in range(p)]
        numbers = zip(names, self.alignments, self.norms, self.trace)
        rows = [
            (name, f"{own:.4f}", f"{norm:.4g}", f"{trace:.4g}")
            for (name, own, norm, trace), _ in zip(numbers, range(MOST))
        ]
        return "\n".join(
            [
                f"centered kernels on {self.n_samples} samples",
                table(rows, ("kernel", "alignment", "norm", "trace"), total=p),
                f"norm of the target {self.target_norm:.4g}",
            ]
        )

    @property
    def n_kernels(self) -> int:
        """The number of kernels, p."""
        return self.a.shape[0]

    @property
    def norms(self) -> np.ndarray:
        """``||K_kc||_F``, shape (p,)."""
        return np.sqrt(np.maximum(np.diagonal(self.M), 0.0))

    @property
    def alignments(self) -> np.ndarray:
        """Each kernel's own centered alignment with the target, shape (p,); 0 for a zero kernel."""
        return np.clip(_ratio(self.a, self.norms * self.target_norm), -1.0, 1.0)

    def alignment(self, weights) -> float:
        """Centered alignment of ``sum_k weights_k K_k`` with the target; 0 if the sum is 0."""
        w = check_numbers("weights", weights, 1)
        if w.shape != self.a.shape:
            raise ValueError(
                f"weights has shape {w.shape}, expected ({self.n_kernels},): one number per kernel."
            )
        w = np.ldexp(w, -np.frexp(np.abs(w).max())[1])  # exact, and no square overflows
        norm = np.sqrt(max(w @ self.M @ w, 0.0))
        # Rounding must not move the result out of the interval of all alignments.
        return float(np.clip(_ratio(w @ self.a, norm * self.target_norm), -1.0, 1.0))

    def take(self, index) -> AlignmentStatistics:
        """The statistics of the kernels numbered ``index``, integers that may repeat."""
        index = np.asarray(index, dtype=np.intp)
        names = tuple(self.names[k] for k in index) if self.names else ()
        return replace(
            self,
            a=self.a[index],
            M=self.M[np.ix_(index, index)],
            trace=self.trace[index],
            names=names,
        )

    def scaled(self, scale) -> AlignmentStatistics:
        """The statistics of the kernels ``scale_k K_k``, ``scale`` of shape (p,)."""
        s = np.asarray(scale, dtype=np.float64)
        M = self.M * s
        M *= s[:, None]
        return replace(self, a=self.a * s, M=M, trace=self.trace * s)

    def trace_normalized(self) -> tuple[AlignmentStatistics, np.ndarray]:
        """Scale every centered kernel to trace m, or the total weight (mean diagonal 1).

        Returns
        -------
        statistics : AlignmentStatistics
            Of the scaled kernels.
        scale : ndarray of shape (p,)
            The factors ``total_weight / Tr K_kc``. A kernel whose centered trace is 0 (or negative,
            if the kernel is indefinite) has the factor 0 and contributes nothing.
        """
        scale = np.where(self.trace > 0, _ratio(self.total_weight, self.trace), 0.0)
        return self.scaled(scale), scale


def _ratio(numerator, denominator):
    """numerator / denominator, with 0 where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    return np.divide(numerator, denominator, out=np.zeros(numerator.shape), where=denominator != 0)


def unbiased_from_centered(f, diagonal_product, trace, other_trace, m):
    """The U-statistic from ``f = <Kc, Lc>/m^2``, ``sum_i Kc_ii Lc_ii`` and the two traces.

    Equivalent to the usual form on matrices with zeroed diagonals, but a function of centered
    quantities only, so it streams. Works elementwise on arrays.
    """
    return (
        m / (m - 3) * f
        - diagonal_product / ((m - 2) * (m - 3))
        + trace / (m * (m - 1.0)) * (other_trace / ((m - 2.0) * (m - 3)))
    )


def finish_sums(sums, Y, names, unbiased=False, weight=None):
    """Statistics from sums over all pairs: ``M_kl = S_kl - (2/m) r_k' r_l + s_k s_l / m^2``.

    With sample weights w the sums are weighted, and m is the sum of the weights.

    Parameters
    ----------
    sums : alignlearn.engine.pair_sums.Sums
    Y : ndarray of shape (m, c)
        Centered target columns.
    names : tuple of str
    unbiased : bool
        U-statistics times m^2; not with weights.
    weight : ndarray of shape (m,), optional
        Positive.

    Warns
    -----
    DegenerateKernelWarning
        A kernel is constant up to the rounding of its values; it is treated as zero.
    """
    S, a, row_sums, diagonal, noise = sums
    m = n_samples = row_sums.shape[1]
    if weight is not None:
        m = float(weight.sum())
    check_sums(S, names, diagonal)
    norm = target_norm(Y, weight=weight)
    total = sum_of_rows(row_sums, weight)
    M = S - (2.0 / m) * (row_sums @ row_sums.T) + np.outer(total / m, total / m)
    M = 0.5 * (M + M.T)
    zero = np.diagonal(M) <= _ROUNDING * np.diagonal(S)
    # By square roots, because the square of the noise may overflow where that of the values does
    # not.
    flat = ~zero & (np.sqrt(np.maximum(np.diagonal(M), 0.0)) <= noise * m)
    if flat.any():
        _warn_flat([names[k] for k in np.flatnonzero(flat)])
    zero |= flat
    trace = diagonal.sum(axis=1) - total / m
    if unbiased:
        centered = diagonal - (2.0 / m) * row_sums + total[:, None] / m**2
        a, M, norm, none = without_diagonal(a, M, norm, centered, Y, noise)
        zero |= none
    M[zero], M[:, zero], a[zero], trace[zero] = 0.0, 0.0, 0.0, 0.0
    return AlignmentStatistics(a, M, trace, norm, n_samples, names, float(m))


def without_diagonal(a, M, norm, centered, Y, noise=0.0):
    """U-statistics times m^2 for products of centered kernels with each other and the target.

    Parameters
    ----------
    a, M : ndarray of shape (p,) and (p, p)
    norm : float
        Of the target kernel.
    centered : ndarray of shape (p, m)
        Diagonals of the centered kernels.
    Y : ndarray of shape (m, c)
        Centered target columns.
    noise : ndarray of shape (p,), optional
        Rounding of the kernels' values.

    Returns
    -------
    a, M, norm
    zero : ndarray of bool of shape (p,)
        Kernels of which only rounding is left.
    """
    m = Y.shape[0]
    if m < 4:
        raise ValueError(f"unbiased=True needs at least 4 samples, got {m}.")
    length, trace = np.square(Y).sum(axis=1), centered.sum(axis=1)
    biased = np.maximum(np.diagonal(M), 0.0)
    products = m**2 * (centered @ centered.T)
    M = unbiased_from_centered(M, products, m * trace[:, None], m * trace, m)
    a = unbiased_from_centered(a, m**2 * (centered @ length), m * trace, m * length.sum(), m)
    # The U-statistic of a diagonal kernel (the limit of narrow ones) is only rounding.
    zero = np.diagonal(M) <= 8 * _ROUNDING * biased + noise * m * np.sqrt(biased)
    square = m * length.sum()
    both = unbiased_from_centered(norm**2, m**2 * (length @ length), square, square, m)
    # So is that of a target that is constant except for one sample.
    norm = float(np.sqrt(both)) if both > 8 * _ROUNDING * norm**2 else 0.0
    return a, M, norm, zero


def _warn_flat(names):
    warn(
        f"kernels: {listed(names, 3, show=str)} is constant on these samples up to the rounding of "
        "its values, and is treated as zero.",
        DegenerateKernelWarning,
    )


def check_sums(S, names, diagonal=None):
    """Raise an error if a kernel's values are not finite, or too large to be squared and summed."""
    bad = np.flatnonzero(~np.isfinite(np.diagonal(S)))
    if len(bad):
        # Infinite values stay infinite after division by the diagonal.
        finite = diagonal is not None and np.isfinite(diagonal[bad[0]]).all()
        remedy = ", lower gamma, or normalize the kernel: kernel.normalized()"
        raise ValueError(
            f"kernels: {names[bad[0]]} has values that are not finite, or whose squares overflow, "
            "on these samples; accepted are finite values up to about 1e150. Scale X"
            f"{remedy if finite else ' or lower gamma'}."
        )
