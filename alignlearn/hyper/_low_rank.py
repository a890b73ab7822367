"""Low-rank approximation ``K ~ LL'`` of a matrix of pairs, from greedy or random landmarks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn._lapack import lower_solve
from alignlearn.solvers import panels
from alignlearn.solvers.pivoted_cholesky import pivoted_cholesky
from alignlearn.validation.memory import require_memory

_COLUMNS = 64  # rows that are evaluated and copied at a time


class LowRank(NamedTuple):
    """``K ~ LL'`` for a `PairSystem` of P pairs.

    Attributes
    ----------
    factor : ndarray of shape (P, r)
        L.
    pivots : ndarray of shape (r,)
        Positions of the landmark pairs.
    pivot_factor : ndarray of shape (r, r)
        Rows of L at the pivots, lower triangular.
    trace_error : float
        Trace of ``K - LL'`` over that of K.
    cut : bool
        Whether the tolerance needs more landmarks than allowed; False for random ones.
    """

    factor: np.ndarray
    pivots: np.ndarray
    pivot_factor: np.ndarray
    trace_error: float
    cut: bool = False

    def at_pivots(self, a):
        """Coefficients c of the landmarks with ``sum_l c_l k(., l) = L a`` on all pairs."""
        return lower_solve(self.pivot_factor, a, transposed=True)

    def normal_equations(self, weight, target):
        """``L'WL`` (r, r) and ``L'Wy`` (r,)."""
        A = panels.weighted_gram(self.factor, weight)
        return A, panels.transposed_times(self.factor, weight * target)


def low_rank(system, solver, tol, max_rank, rng) -> LowRank:
    """The approximation that a solver names: "pivoted" (greedy) or "nystrom" (random).

    Raises
    ------
    MemoryError
        It would not fit into free memory.
    """
    rank = min(max_rank, system.n_pairs)
    require_memory(
        system.n_pairs,
        lambda n: 9.0 * n * rank,
        f"solver={solver!r}: {rank} columns of {system.n_pairs} pairs",
        lambda n, _: f"max_pairs={n}, or a smaller max_rank" if n else "a smaller max_rank",
    )
    if solver == "nystrom":
        return _nystrom(system, rank, rng)
    found = pivoted_cholesky(
        system.diagonal(), system.columns, submatrix=system.submatrix, tol=tol, max_rank=rank
    )
    error = found.trace_error / max(found.trace, 1e-300)
    return LowRank(found.factor, found.pivots, found.pivot_factor, error, not found.converged)


def _nystrom(system, rank, rng):
    """Landmarks drawn from all pairs, without those that depend on others."""
    drawn = np.sort(rng.choice(system.n_pairs, rank, replace=False))
    corner = system.submatrix(drawn)
    small = pivoted_cholesky(corner.diagonal(), lambda index: corner[:, index], tol=1e-12)
    pivots = drawn[small.pivots]
    factor = np.empty((system.n_pairs, pivots.size), order="F")
    for i in range(0, pivots.size, _COLUMNS):
        factor[:, i : i + _COLUMNS] = system.columns(pivots[i : i + _COLUMNS])
    for part in panels.panels(len(factor), pivots.size**2):
        factor[part] = lower_solve(small.pivot_factor, factor[part].T).T
    factor[pivots] = small.pivot_factor
    diagonal = system.diagonal()
    left = diagonal.sum() - np.einsum("ij,ij->", factor, factor)
    return LowRank(factor, pivots, small.pivot_factor, max(float(left / diagonal.sum()), 0.0))
