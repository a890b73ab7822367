"""The best alignment over the number of kernels: forward greedy selection with nonnegative weights.

Weights of largest alignment are, up to a factor, the least-squares solution of the target kernel on
the centered kernels with nonnegative coefficients, and the squared alignment is the share of the
target kernel that it explains. So greedy selection of kernels is orthogonal matching pursuit with
a sign (Bruckstein, Elad and Zibulevsky 2008), here on the p-sized statistics: the residual, a
matrix over pairs of samples, is never formed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from alignlearn._text import Result, table
from alignlearn.solvers.nnqp import unit_scale
from alignlearn.solvers.nnqp_pivot import descend, extended, gradient
from alignlearn.statistics import AlignmentStatistics
from alignlearn.validation import check_choice, check_count, check_number

from .base import NORMALIZATIONS, _check, normalized

# As in nonnegative_qp: the ridge on the unit diagonal, and the rounding of a gradient.
_DELTA, _ROUNDING = 1e-12, 4.0 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class SparsePath(Result):
    """Weights of few kernels, for each number of kernels.

    Attributes
    ----------
    n_kernels : ndarray of shape (n,), int
        Increasing. A number is omitted if a path with no more kernels reached at least its
        alignment.
    alignment : ndarray of shape (n,)
        Centered alignment reached with that many kernels; increasing.
    kkt_residual : ndarray of shape (n,)
        Largest gradient of a kernel not in use, in the units of
        `alignlearn.solvers.nnqp.NonnegativeQPResult`: 0 means that no set of kernels does better.
    supports : tuple of ndarray of int
        The kernels in use, sorted.
    coefficients : tuple of ndarray
        Their coefficients: the minimizer of ``v'Mv - 2 v'a`` on the support.
    complete : bool
        Whether the path ends at the weights of `AlignF` without a limit, to ``tol``.
    n_steps : int
        Kernels tried.
    statistics : AlignmentStatistics

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import alignment_statistics, gaussian_kernels
    >>> from alignlearn.weights import sparse_path
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> statistics = alignment_statistics(X, np.sin(2 * X[:, 0]), gaussian_kernels())
    >>> path = sparse_path(statistics)
    >>> path.weights(1)  # the best kernel alone
    array([0., 0., 0., 0., 0., 1., 0., 0., 0.])
    """

    n_kernels: np.ndarray
    alignment: np.ndarray
    kkt_residual: np.ndarray
    supports: tuple
    coefficients: tuple
    complete: bool
    n_steps: int
    statistics: AlignmentStatistics = field(repr=False)

    def __str__(self):
        numbers = zip(self.n_kernels, self.alignment, self.kkt_residual)
        rows = [(str(n), f"{a:.4f}", f"{r:.3g}") for n, a, r in numbers]
        return table(rows, ("kernels", "alignment", "residual"), align=">>>")

    def weights(self, n_kernels, normalize="l1"):
        """Weights (p,) of the best point of the path with at most ``n_kernels`` kernels.

        ``normalize`` is "l1", "l2" or None, as in `AlignF`.
        """
        if normalize is not None:
            check_choice("normalize", normalize, NORMALIZATIONS)
        check_number("n_kernels", n_kernels, low=1)
        k = int(np.searchsorted(self.n_kernels, n_kernels, side="right")) - 1
        weights = np.zeros(self.statistics.n_kernels)
        weights[self.supports[k]] = self.coefficients[k]
        return normalized(weights, normalize)


def sparse_path(statistics, max_kernels=None, *, tol=1e-12) -> SparsePath:
    """Forward greedy path of nonnegative weights from one kernel up.

    Each step adds the kernel whose (unit) centered matrix has the largest inner product with the
    residual of the target kernel, and solves for all weights again. Kernels whose weight would
    become negative leave. These are the steps of Lawson and Hanson (1974, chapter 23), so without a
    limit the path ends at the optimum over all kernels. For each number of kernels the last, hence
    best, visit is kept.

    Parameters
    ----------
    statistics : AlignmentStatistics
        Of p kernels.
    max_kernels : int, optional
        Maximum number of kernels. Default: p, which gives the whole path.
    tol : float in (0, 1), default 1e-12
        Accepted ``kkt_residual`` of the last point, or its rounding error if that is larger (at
        most 1e-10).

    Returns
    -------
    SparsePath

    Raises
    ------
    TypeError, ValueError
        Bad input, or no kernel positively aligned with the target.

    Notes
    -----
    The cost is O(p k) for a step with k kernels in use, and memory O(k^2) beside M. To find the
    best set of k kernels is NP-hard. Matching pursuit without the sign constraint reaches at least
    ``1 - exp(-e^2)`` of the best squared alignment. Here e is the minimum eigenvalue of the 2 k by
    2 k principal blocks of M scaled to a unit diagonal (Das and Kempe 2018).

    References
    ----------
    Bruckstein, Elad and Zibulevsky (2008), On the uniqueness of nonnegative sparse solutions to
    underdetermined systems of equations. Das and Kempe (2018), Approximate submodularity and its
    applications. Cortes, Mohri and Rostamizadeh (2012), Proposition 9, for the program.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, Linear, alignment_statistics
    >>> from alignlearn.weights import sparse_path
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> kernels = [Gaussian(2.0), Gaussian(0.1), Linear()]
    >>> statistics = alignment_statistics(X, X[:, 0] + np.sin(3 * X[:, 1]), kernels)
    >>> path = sparse_path(statistics)
    >>> path.n_kernels.tolist(), bool((np.diff(path.alignment) > 0).all())
    ([1, 2], True)
    """
    _check(statistics)
    tol = check_number("tol", tol, low=0.0, high=1.0, strict=True)
    p = statistics.n_kernels
    most = min(check_count("max_kernels", max_kernels) or p, p)
    M, a = np.ascontiguousarray(statistics.M, dtype=np.float64), statistics.a
    d = unit_scale(M, a)
    b = d * a
    if b.max() <= 0.0:
        raise ValueError(
            "statistics: no kernel is positively aligned with the target; accepted: at least one."
        )
    points, complete, n_steps = _walk(M, d, b / b.max(), most, tol)
    kept = _undominated(points)
    supports = tuple(points[k][2] for k in kept)
    scale = b.max()
    return SparsePath(
        n_kernels=np.array(kept),
        alignment=np.array([points[k][0] for k in kept]) * scale / statistics.target_norm,
        kkt_residual=np.array([points[k][1] for k in kept]),
        supports=supports,
        coefficients=tuple(points[k][3] * d[support] * scale for k, support in zip(kept, supports)),
        complete=complete,
        n_steps=n_steps,
        statistics=statistics,
    )


def _undominated(points):
    """The sizes at which more is reached than with any fewer kernels, by more than rounding."""
    kept, best = [], 0.0
    for k in sorted(points):
        if points[k][0] > best * (1.0 + 1e-12):
            kept.append(k)
            best = points[k][0]
    return kept


def _walk(M, d, b, most, tol):
    """Steps until the size passes ``most`` or nothing is left to gain.

    Returns
    -------
    points : dict
        For each size the last (norm of the projection, KKT residual, support, coefficients).
    complete : bool
    n_steps : int
    """
    p = b.size
    index, R = np.empty(0, dtype=np.int64), np.empty((0, 0))
    u, g, points = np.zeros(p), b, {}
    allowed = d > 0.0
    for n_steps in range(20 * p + 200):
        free = allowed & (u == 0.0)
        entering = int(np.argmax(np.where(free, g, -np.inf)))
        slack = float(g[free].max(initial=0.0))
        if index.size:
            support = np.sort(index)
            points[index.size] = _projection(u, g, b), slack, support, u[support]
        if slack <= max(tol, min(_ROUNDING * max(1.0, u.sum()), 1e-10)):
            return points, True, n_steps
        larger = extended(M, d, index, R, entering, _DELTA)
        trial, face = u.copy(), None
        if larger is not None:
            face, _ = descend((M, d, b), _DELTA, trial, np.append(index, entering), larger)
        if face is None:
            allowed[entering] = False
            continue
        u, (index, R) = trial, face
        if index.size > most:
            break
        if u[entering] > 0.0:
            allowed = d > 0.0
        else:
            # The factored system contradicts the gradient: this kernel is at 0 within rounding.
            allowed[entering] = False
        g = gradient(M, d, b, u)
    return points, False, n_steps


def _projection(u, g, b):
    """``u'b / sqrt(u'Su)`` from the gradient ``g = b - S u``."""
    inner = float(u @ b)
    return inner / np.sqrt(inner - float(u @ g))
