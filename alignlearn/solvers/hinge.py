"""Results and certificates of the solvers of support vector machines on features.

The problem is ``|w|^2 / 2 + sum_i c_i max(0, 1 - s_i (w.phi_i + b))``, its dual to maximize
``sum_i |a_i| - |Phi'a|^2 / 2`` over signed variables, a_i between 0 and s_i c_i, that sum to 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn._text import Result
from alignlearn.validation import warn_unconverged


@dataclass(frozen=True)
class HingeResult(Result):
    """Solution of q problems on the same features, and its certificate.

    Attributes
    ----------
    coordinates : ndarray of shape (r, q)
        w of each problem.
    intercepts : ndarray of shape (q,)
    objective : ndarray of shape (q,)
        The primal function at the solution.
    duality_gap : ndarray of shape (q,)
        Upper bound on the difference from the minimum.
    n_passes : int
        Passes over the samples, without those for certificates.
    converged : bool
        Every gap is at most ``tol`` times its objective.
    """

    coordinates: np.ndarray
    intercepts: np.ndarray
    objective: np.ndarray
    duality_gap: np.ndarray
    n_passes: int
    converged: bool

    def warn_unconverged(self, tol):
        """Warn with the gap reached if the solver stopped above ``tol``."""
        if not self.converged:
            gap = np.max(self.duality_gap / self.objective)
            reached = "a duality gap, relative to the objective, of", gap
            remedy = "lower C, or raise max_iter or tol"
            warn_unconverged("The machine", f"{self.n_passes} passes", *reached, tol, remedy)


def dual_values(features, dual):
    """Sums of the features, and values of the dual function near some variables.

    Parameters
    ----------
    features : object
        With ``transposed_times(U)``, ``Phi' U``.
    dual : ndarray of shape (q, m)
        Within the bounds. Variables of one sign are scaled down so that the sum is 0, and all are
        multiplied by the factor, at most 1, that maximizes the function.

    Returns
    -------
    (``Phi' dual'`` of shape (r, q), values of shape (q,))
    """
    q, parts = len(dual), (np.maximum(dual, 0.0), np.minimum(dual, 0.0))
    sums = features.transposed_times(np.concatenate(parts).T)
    totals = [np.abs(part).sum(axis=1) for part in parts]
    least = np.minimum(*totals)
    up, down = (np.divide(least, t, out=np.zeros_like(t), where=t > 0.0) for t in totals)
    square = np.square(sums[:, :q] * up + sums[:, q:] * down).sum(axis=0)
    linear = 2.0 * least
    scale = np.minimum(np.divide(linear, square, out=np.ones_like(square), where=square > 0), 1.0)
    return sums[:, :q] + sums[:, q:], scale * linear - 0.5 * scale**2 * square


def best_intercept(values, sign, cost):
    """The b that minimizes ``sum_i c_i max(0, 1 - s_i (f_i + b))``; samples of sign 0 are omitted.

    For small b the slope is the negative cost of the positive samples. It increases by c_i when b
    passes ``s_i - f_i``.
    """
    used = np.flatnonzero(sign)
    ends = sign[used] - values[used]
    order = np.argsort(ends)
    slope = np.cumsum(cost[used[order]]) - cost[sign > 0.0].sum()
    return ends[order[min(np.searchsorted(slope, 0.0), order.size - 1)]]
