"""Two-stage rules: kernel weights from centered alignment alone (Cortes et al. 2012, section 3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from alignlearn.solvers.nnqp import nonnegative_qp
from alignlearn.validation import (
    DegenerateKernelWarning,
    check_choice,
    check_count,
    check_number,
    warn,
)

from .base import NORMALIZATIONS, Weighting, normalized
from .diagnostics import condition_number, unit_diagonal
from .path import sparse_path

# Beyond this the weights of AlignLinear keep fewer than four digits of what the sums hold.
CONDITION_LIMIT = 1e12
_SAFE_RIDGE = 1e-10


@dataclass(eq=False, repr=False)
class Uniform(Weighting):
    """Equal weights on all kernels of positive norm.

    Parameters
    ----------
    normalize : {"l1", "l2"} or None, default "l1"
        Norm of the weights to set to 1. None gives ones.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, Linear, Uniform, alignment_statistics
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> statistics = alignment_statistics(X, X[:, 0], [Gaussian(10.0), Linear()])
    >>> Uniform().solve(statistics).weights.tolist()
    [0.5, 0.5]
    """

    needs, needs_target = "nothing", False

    normalize: str | None = "l1"

    def _unusable(self, statistics):
        return None

    def weights_of(self, n_kernels):
        """The weights of kernels that vary, which need no statistics."""
        if self.normalize is not None:
            check_choice("normalize", self.normalize, NORMALIZATIONS)
        return normalized(np.ones(n_kernels), self.normalize)

    def _solve(self, statistics, nonzero):
        weights = nonzero.astype(np.float64)
        return weights, {"objective": statistics.alignment(weights)}


@dataclass(eq=False, repr=False)
class Align(Weighting):
    """Weights proportional to each kernel's centered alignment (section 3.1, eq. 3).

    ``mu_k`` is proportional to ``a_k / sqrt(M_kk)``. Alignment is never negative for positive
    semi-definite kernels; a negative one (indefinite kernel) counts as 0, because a negative weight
    can make the combined kernel indefinite.

    Parameters
    ----------
    normalize : {"l1", "l2"} or None, default "l1"
        Norm of the weights to set to 1. None gives the alignments themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Align, Gaussian, Linear, alignment_statistics
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> statistics = alignment_statistics(X, X[:, 0], [Gaussian(0.5), Gaussian(0.5), Linear()])
    >>> result = Align().solve(statistics)
    >>> bool(result.weights[0] == result.weights[1])  # a copy counts once more: see AlignF
    True
    >>> bool(result.weights[2] > result.weights[0])
    True
    """

    normalize: str | None = "l1"

    def _solve(self, statistics, nonzero):
        weights = np.maximum(statistics.alignments, 0.0)
        return weights, {"objective": statistics.alignment(weights)}


@dataclass(eq=False, repr=False)
class AlignF(Weighting):
    """Nonnegative weights of maximum centered alignment (section 3.2.2, Proposition 9).

    ``mu`` is proportional to the minimizer of ``v'Mv - 2 v'a`` over ``v >= 0``. ``M`` may be
    singular: identical kernels then share their weight equally, and ``unidentified`` of the result
    marks the weights that the data do not determine.

    Parameters
    ----------
    normalize : {"l1", "l2"} or None, default "l1"
        Norm of the weights to set to 1. None gives the minimizer ``v``, for which the alignment is
        ``sqrt(v'Mv) / target_norm`` (Proposition 10, corrected).
    tol : float, default 1e-12
        Relative KKT residual at which the solver stops.
    max_iter : int, optional
        Maximum number of linear systems, see `alignlearn.solvers.nnqp.nonnegative_qp`.
    max_kernels : int, optional
        Maximum number of kernels, selected by `alignlearn.weights.path.sparse_path`. The
        certificate then refers to the problem on these kernels only.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import AlignF, Gaussian, Linear, alignment_statistics
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> statistics = alignment_statistics(X, X[:, 0], [Gaussian(10.0), Linear(), Linear()])
    >>> result = AlignF().solve(statistics)
    >>> result.unidentified, bool(result.weights[1] == result.weights[2])  # copies share
    ((1, 2), True)
    >>> bool(result.alignment >= result.kernel_alignments.max()), result.kkt_residual < 1e-10
    (True, True)
    """

    normalize: str | None = "l1"
    tol: float = 1e-12
    max_iter: int | None = None
    max_kernels: int | None = None

    def _solve(self, statistics, nonzero):
        if self.max_kernels is not None:
            return self._solve_sparse(statistics)
        tol = check_number("tol", self.tol, low=0.0, high=1.0, strict=True)
        max_iter = check_count("max_iter", self.max_iter)
        M, a = statistics.M, statistics.a
        # A matrix of Frobenius products is positive semi-definite, for any kernels.
        found = nonnegative_qp(M, a, tol=tol, max_iter=max_iter, check_psd=False)
        return found.v, {
            "objective": float(found.v @ M @ found.v - 2.0 * found.v @ a),
            "kkt_residual": found.kkt_residual,
            "duality_gap": found.duality_gap,
            "n_iter": found.n_iter,
            "converged": found.converged,
        }

    def _solve_sparse(self, statistics):
        path = sparse_path(statistics, self.max_kernels, tol=self.tol)
        support = path.supports[-1]
        part = replace(
            statistics,
            a=statistics.a[support],
            M=statistics.M[np.ix_(support, support)],
            trace=statistics.trace[support],
        )
        found, details = AlignF(tol=self.tol, max_iter=self.max_iter)._solve(part, None)
        v = np.zeros(statistics.n_kernels)
        v[support] = found
        return v, {**details, "n_iter": path.n_steps + details["n_iter"]}


@dataclass(eq=False, repr=False)
class AlignLinear(Weighting):
    """Weights of any sign with maximum centered alignment (section 3.2.1, Proposition 8).

    ``mu`` is proportional to ``M^-1 a``, computed on ``M`` scaled to a unit diagonal. The combined
    kernel may be indefinite.

    Parameters
    ----------
    alpha : float, default 0.0
        Ridge added to the unit diagonal of the scaled ``M``.
    singular : {"regularize", "raise", "pinv"}, default "regularize"
        Action if the condition number of the scaled ``M + alpha I`` is above 1e12, so that ``M^-1
        a`` would be rounding noise: add a ridge of 1e-10 times the 1-norm of the scaled matrix and
        warn, raise a ValueError, or use the pseudoinverse ``M^+ a``, which treats eigenvalues below
        1e-12 of the largest as 0.
    normalize : {"l1", "l2"} or None, default "l1"
        Norm of the weights that is set to 1.

    Examples
    --------
    With no sign asked for the alignment is at least that of `AlignF`:

    >>> import numpy as np
    >>> from alignlearn import AlignF, AlignLinear, Gaussian, Linear, alignment_statistics
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> kernels = [Gaussian(0.1), Gaussian(1.0), Linear()]
    >>> statistics = alignment_statistics(X, X[:, 0], kernels)
    >>> signed, nonnegative = AlignLinear().solve(statistics), AlignF().solve(statistics)
    >>> bool(signed.alignment >= nonnegative.alignment - 1e-12), signed.nonnegative
    (True, False)
    """

    alpha: float = 0.0
    singular: str = "regularize"
    normalize: str | None = "l1"

    def _unusable(self, statistics):
        if not statistics.target_norm > 0.0:
            return "the target is constant on the sample"
        if not statistics.alignments.any():
            return "no kernel is aligned with the target"
        return None

    def _solve(self, statistics, nonzero):
        alpha = check_number("alpha", self.alpha, low=0.0)
        check_choice("singular", self.singular, ("regularize", "raise", "pinv"))
        S, used, d = unit_diagonal(statistics.M)
        b = d * statistics.a[used]
        u = _solve_definite(S, b, alpha)
        if u is None:
            u = self._solve_singular(S, b, alpha)
        v = np.zeros(nonzero.size)
        v[used] = d * u
        return v, {
            "objective": float(u @ S @ u - 2.0 * u @ b),
            "kkt_residual": float(np.abs(b - S @ u).max() / np.abs(b).max()),
            "duality_gap": np.nan,
            "n_iter": 1,
            "nonnegative": False,
        }

    def _solve_singular(self, S, b, alpha):
        condition = condition_number(S + alpha * np.eye(b.size))
        limit = f"limit {CONDITION_LIMIT:g}"
        if condition < CONDITION_LIMIT:
            limit = "and an eigenvalue is negative from rounding"
        message = (
            f"AlignLinear: M is singular to working precision (condition number {condition:.3g} "
            f"after scaling, {limit})"
        )
        if self.singular == "raise":
            raise ValueError(
                f"{message}; accepted: independent kernels, alpha > 0, or singular='regularize' "
                "or 'pinv'."
            )
        if self.singular == "pinv":
            w, U = np.linalg.eigh(S)
            w += alpha
            keep = w > w[-1] / CONDITION_LIMIT
            return U[:, keep] @ ((U[:, keep].T @ b) / w[keep])
        ridge, u = _SAFE_RIDGE * np.abs(S).sum(axis=0).max(), None
        while u is None:
            # In single precision M may be indefinite by more than the first ridge.
            u, used = _solve_definite(S, b, alpha + ridge), alpha + ridge
            ridge *= 10.0
        warn(f"{message}; a ridge of {used:.3g} is used.", DegenerateKernelWarning)
        return u


def _solve_definite(S, b, ridge):
    """Solve ``(S + ridge I) u = b``, or None if its condition number is above the limit."""
    from scipy.linalg import lapack

    S = S + ridge * np.eye(b.size)
    factor, info = lapack.dpotrf(S, overwrite_a=0)
    if info:
        return None
    rcond, _ = lapack.dpocon(factor, np.abs(S).sum(axis=0).max())
    if rcond * CONDITION_LIMIT < 1.0:
        return None
    u, _ = lapack.dpotrs(factor, b)
    correction, _ = lapack.dpotrs(factor, b - S @ u)
    return u + correction


@dataclass(eq=False, repr=False)
class AlignLq(Weighting):
    """Maximum unnormalized alignment under an Lq constraint (Proposition 7, corrected).

    Maximizes ``mu'a`` subject to ``sum_k |mu_k|^q <= Lambda`` and ``mu >= 0``. Without the last two
    signs the published problem is unbounded for odd ``q``. The solution is

        mu_k = (Lambda / sum_l a_l^(q/(q-1)))^(1/q) a_k^(1/(q-1))    where a_k > 0, else 0.

    ``q = 1`` puts all weight on the largest ``a_k`` (shared between equal ones), ``q = inf`` gives
    equal weights to all kernels with ``a_k > 0``. The rule depends on the kernels' units: normalize
    their traces or norms first (with unit norms and ``q = 2`` it is `Align`).

    Parameters
    ----------
    q : float, default 2.0
        Exponent of the constraint, ``1 <= q <= inf``.
    Lambda : float, default 1.0
        Size of the constraint, positive. It matters only with ``normalize=None``.
    normalize : {"l1", "l2"} or None, default "l1"
        Norm of the weights that is set to 1; None gives the maximizer itself.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import AlignLq, Gaussian, Linear, alignment_statistics
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> statistics = alignment_statistics(X, X[:, 0], [Gaussian(0.5), Linear()])
    >>> scaled = statistics.trace_normalized()[0]  # the rule reads the kernels' units
    >>> AlignLq(q=1).solve(scaled).weights.tolist()
    [0.0, 1.0]
    >>> AlignLq(q=np.inf).solve(scaled).weights.tolist()
    [0.5, 0.5]
    """

    q: float = 2.0
    Lambda: float = 1.0
    normalize: str | None = "l1"

    def _solve(self, statistics, nonzero):
        q = check_number("q", self.q, low=1.0, finite=False)
        size = check_number("Lambda", self.Lambda, low=0.0, strict=True)
        a = np.where(nonzero, np.maximum(statistics.a, 0.0), 0.0)
        ratio = a / a.max()
        if q == 1.0:
            weights = (ratio == 1.0).astype(np.float64)
        else:
            weights = np.where(ratio > 0.0, ratio ** (1.0 / (q - 1.0)), 0.0)
        if np.isfinite(q):
            weights *= (size / (weights**q).sum()) ** (1.0 / q)
        with np.errstate(over="ignore", invalid="ignore"):  # a Lambda near the largest float
            return weights, {"objective": float(weights @ statistics.a)}
