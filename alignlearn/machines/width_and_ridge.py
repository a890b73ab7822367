"""Selection of a kernel and of the ridge penalty by leave-one-out errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn._text import Result
from alignlearn.engine import grams
from alignlearn.engine.cpu import CPU

from ._ridge import ridge_loo_path


@dataclass(frozen=True)
class LeaveOneOutTable(Result):
    """Leave-one-out errors of kernel ridge regression, for kernels and values of alpha.

    Attributes
    ----------
    kernels : tuple of Kernel, length p
    alphas : ndarray of shape (p, n)
        Those of each kernel.
    errors : ndarray of shape (p, n)
        (Weighted) mean squared error, over samples and targets.
    best : tuple of int
        Place of the smallest; of those that differ by rounding only that of the largest alpha, and
        the first of them.
    """

    kernels: tuple
    alphas: np.ndarray
    errors: np.ndarray
    best: tuple

    @property
    def kernel(self):
        """The kernel of the smallest error."""
        return self.kernels[self.best[0]]

    @property
    def alpha(self) -> float:
        """The alpha of the smallest error."""
        return float(self.alphas[self.best])


def leave_one_out_width_and_ridge(
    X, Y, kernels, ridges=None, weight=None, *, alphas=None, engine=CPU
):
    """The table of leave-one-out errors of p kernels and n penalties; one reduction per kernel.

    Parameters
    ----------
    X : samples, m
        Checked.
    Y : ndarray of shape (m, c)
        Real and finite.
    kernels : sequence of Kernel
        Resolved; widths of one, for instance.
    ridges : sequence of float > 0, optional
        alpha over the mean diagonal of the kernel's matrix, which for many kernels is 1.
    weight : ndarray of shape (m,), optional
        Positive.
    alphas : sequence of float > 0, optional
        In place of ridges.
    engine : Cpu, Cuda or Cluster

    Returns
    -------
    LeaveOneOutTable

    Raises
    ------
    ValueError
        A matrix of a kernel plus alpha on its diagonal is not positive definite.
    """
    given = np.asarray(alphas if ridges is None else ridges, dtype=np.float64)
    alphas, errors = np.empty((2, len(kernels), len(given)))
    for k, kernel in enumerate(kernels):
        K = grams.weighted_gram([kernel], [1.0], X, engine=engine).astype(np.float64, copy=False)
        unit = 1.0 if ridges is None else float(np.mean(K.diagonal())) or 1.0
        alphas[k] = unit * given
        options = {"sample_weight": weight, "check": False, "overwrite": True}
        errors[k] = ridge_loo_path(K, Y, alphas[k], **options).loo_mse
    least = errors <= errors.min() * (1.0 + len(Y) * np.finfo(np.float64).eps)
    k, a = np.unravel_index(np.argmax(np.where(least, alphas, -np.inf)), errors.shape)
    return LeaveOneOutTable(tuple(kernels), alphas, errors, (int(k), int(a)))
