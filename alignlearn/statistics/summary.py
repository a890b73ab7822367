"""The p-sized summary of m samples that all of stage 1 works on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from alignlearn.validation import check_numbers


@dataclass(frozen=True)
class AlignmentStatistics:
    """Centred inner products of p kernels with each other and with the target.

    With ``Kc`` a Gram matrix centred in feature space and ``T = Yc Yc'`` the centred target kernel
    (``Yc`` is ``y - mean(y)`` for regression and binary labels, centred one-hot columns otherwise):

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
    ``w_i w_j``, and centring is at the weighted means.

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2012), Algorithms for learning kernels based on centered
    alignment, section 3.2.
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
        """Each kernel's own centred alignment with the target, shape (p,); 0 for a zero kernel."""
        return np.clip(_ratio(self.a, self.norms * self.target_norm), -1.0, 1.0)

    def alignment(self, weights) -> float:
        """Centred alignment of ``sum_k weights_k K_k`` with the target; 0 if the sum is 0."""
        w = check_numbers("weights", weights, 1)
        if w.shape != self.a.shape:
            raise ValueError(
                f"weights has shape {w.shape}, expected ({self.n_kernels},): one number per kernel."
            )
        w = np.ldexp(w, -np.frexp(np.abs(w).max())[1])  # exact, and no square overflows
        norm = np.sqrt(max(w @ self.M @ w, 0.0))
        # Rounding must not lead out of the interval of all alignments.
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
        return replace(self, a=self.a * s, M=self.M * np.outer(s, s), trace=self.trace * s)

    def trace_normalized(self) -> tuple[AlignmentStatistics, np.ndarray]:
        """Scale every centred kernel to trace m, or the total weight (mean diagonal 1).

        Returns
        -------
        statistics : AlignmentStatistics
            Of the scaled kernels.
        scale : ndarray of shape (p,)
            The factors ``total_weight / Tr K_kc``; 0 for a kernel whose centred trace is 0 (or, for
            an indefinite kernel, negative), so such a kernel contributes nothing.
        """
        scale = np.where(self.trace > 0, _ratio(self.total_weight, self.trace), 0.0)
        return self.scaled(scale), scale


def _ratio(numerator, denominator):
    """numerator / denominator, with 0 where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    return np.divide(numerator, denominator, out=np.zeros(numerator.shape), where=denominator != 0)
