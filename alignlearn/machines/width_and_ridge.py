"""Selection of a kernel and of the ridge penalty by leave-one-out errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from alignlearn._text import Result
from alignlearn._threads import in_phases
from alignlearn.engine import grams
from alignlearn.engine.cpu import CPU

from ._ridge import ridge_loo_path
from .paths import nearest_to_least

_DIVIDED = 150, 1000  # samples for which threads try several kernels at once


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
        Indices of the smallest error. Among errors that differ only by rounding, the largest alpha
        is used, and then the first kernel.
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
    X, Y, kernels, ridges=None, weight=None, *, alphas=None, climb=False, engine=CPU
):
    """The table of leave-one-out errors of p kernels and n penalties; one reduction per kernel.

    Parameters
    ----------
    X : samples, m
        Checked.
    Y : ndarray of shape (m, c)
        Real and finite.
    kernels : sequence of Kernel
        Resolved, for example several widths of one kernel.
    ridges : sequence of float > 0, optional
        Ratios of alpha to the mean diagonal of the kernel's matrix, which is 1 for many kernels.
    weight : ndarray of shape (m,), optional
        Positive.
    alphas : sequence of float > 0, optional
        Replaces ``ridges``.
    climb : bool, default False
        Whether only kernels next to the smallest error are tried, for widths of one kernel in
        order; errors of the others are infinite.
    engine : Cpu, Cuda or Cluster

    Returns
    -------
    LeaveOneOutTable

    Raises
    ------
    ValueError
        A kernel matrix plus alpha on its diagonal is not positive definite.
    """
    given = np.asarray(alphas if ridges is None else ridges, dtype=np.float64)
    alphas, errors = np.full((2, len(kernels), len(given)), np.inf)

    def errors_of(k):
        kernel = kernels[k]
        K = grams.weighted_gram([kernel], [1.0], X, engine=engine).astype(np.float64, copy=False)
        unit = 1.0 if ridges is None else float(np.mean(K.diagonal())) or 1.0
        alphas[k] = unit * given
        options = {"sample_weight": weight, "check": False, "overwrite": True}
        errors[k] = ridge_loo_path(K, Y, alphas[k], **options).loo_mse
        return errors[k]

    if climb:
        nearest_to_least(lambda some: [errors_of(some[0])], range(len(kernels)), np.min)
    else:
        calls = [partial(errors_of, k) for k in range(len(kernels))]
        in_phases([calls] if _DIVIDED[0] <= len(X) <= _DIVIDED[1] else [[call] for call in calls])
    least = errors <= errors.min() * (1.0 + len(Y) * np.finfo(np.float64).eps)
    k, a = np.unravel_index(np.argmax(np.where(least, alphas, -np.inf)), errors.shape)
    return LeaveOneOutTable(tuple(kernels), alphas, errors, (int(k), int(a)))
