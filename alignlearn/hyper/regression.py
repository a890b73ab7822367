"""Regression in the space of a hyper-kernel: the kernel itself is fitted to given similarities."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from alignlearn._lapack import cholesky, cholesky_solve
from alignlearn.estimators.base import parameters, shared
from alignlearn.solvers import conjugate_gradient as cg
from alignlearn.solvers.low_rank import low_rank_svm
from alignlearn.solvers.nnqp import nonnegative_qp
from alignlearn.solvers.smo import smo
from alignlearn.validation import check_count, check_number

from ._fit import HyperRegressor, Solution
from .algebra import HyperKernel

_LARGEST = 1e300  # limits of alpha and C, so that products with values of few pairs stay in range


@parameters
class HyperKRR(HyperRegressor):
    """Kernel learned by ridge regression in the space H of a hyper-kernel.

    Minimizes ``sum_ij (k(x_i, x_j) - K_ij)^2 + alpha |k|_H^2`` over k in H, the sum over known
    pairs in both orders. The learned kernel may be indefinite.

    Parameters
    ----------
    hyper_kernel : HyperKernel, optional
        Default: ``hyper_kernels()``, a ladder.
    alpha : float > 0, default 1.0
        Lambda in (2.4) of Liu et al.; that of (3.1) is alpha / m^2.
    solver : {"auto", "dense", "cg", "pivoted", "nystrom"}, default "auto"
        "dense": one Cholesky factorization of the matrix of all pairs. "cg": conjugate gradients on
        products that are computed on the fly, preconditioned by a "pivoted" factor. "pivoted": in
        the span of few landmark pairs, chosen greedily until the trace of the rest is at most
        ``rank_tol`` of the whole. "nystrom": as "pivoted", with ``max_rank`` random landmark pairs.
        "auto": "dense" up to 4000 pairs, then "pivoted".
    rank_tol : float, default 1e-6
        The error of the learned kernel is of the order of its square root.
    max_rank : int, default 500
        Maximum number of landmark pairs. A warning is given if they omit more than 1e-3 of the
        trace, which changes the learned kernel visibly (by 3%), and more than ``rank_tol``.
    max_pairs : int, default 2**19
        If there are more pairs, this number is drawn at random, with weights that compensate.
    decomposition : int, optional
        Number of k-means clusters, each of which learns only from the pairs within it.
    cross : {"block", "sum"}, default "block"
        The kernel between clusters of a decomposition. "block": 0; each point belongs to the
        cluster of the nearest center. "sum": the sum of the kernels of all clusters, as in Liu et
        al.; each then affects the others.
    tol : float, default 1e-8
        "cg": maximum relative residual.
    max_iter : int, default 1000
        "cg": maximum number of steps.
    random_state : int or numpy.random.Generator, optional
        Seed of pairs, landmarks and clusters. None is a fixed seed.

    Attributes
    ----------
    kernel_ : LearnedKernel or ClusterKernel
        A Kernel: ``kernel_(X, Y)`` is a Gram matrix, also of new points.
    eigenvalue_range_ : tuple of float
    solver_ : str
    n_pairs_ : int
        Number of pairs used.
    residual_ : float
        ``|(K + alpha W^-1) coef - y| / |y|`` for the matrix of the pairs, or its approximation.
    rank_, trace_error_ : int, float
        Except for "dense": number of landmarks, and omitted share of the trace; the maximum over
        the clusters.
    n_iter_ : int
        "cg".
    n_features_in_ : int

    Notes
    -----
    Unordered pairs with weights 1 (i = j) and 2 give the same kernel as all m^2 ordered ones.

    References
    ----------
    Liu, Shi, Huang, Yang and Suykens (2020), Regularized regression problem in hyper-RKHS for
    learning kernels, (2.4) and section 2.3.

    Examples
    --------
    Some similarities are known; NaN marks the others:

    >>> import numpy as np
    >>> from alignlearn import Gaussian, GaussianHyperKernel, HyperKRR
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> K = Gaussian(0.5)(X)
    >>> K[15:, 15:] = np.nan
    >>> model = HyperKRR(GaussianHyperKernel(), alpha=1e-3).fit(X, K)
    >>> known = ~np.isnan(K)
    >>> error = np.abs(model.kernel_(X) - K)[known].mean()  # kernel_ takes new samples, too
    >>> bool(error < 0.1), model.n_pairs_
    (True, 195)
    """

    _solvers = ("dense", "cg", "pivoted", "nystrom")

    hyper_kernel: HyperKernel | None = field(default=None, kw_only=False)
    alpha: float = field(default=1.0, kw_only=False)
    solver: str = "auto"
    rank_tol: float = 1e-6
    max_rank: int = 500
    max_pairs: int = 2**19
    decomposition: int | None = None
    cross: str = "block"
    tol: float = 1e-8
    max_iter: int = 1000
    device: str = shared("device")
    client: Any = shared("client")
    random_state: Any = shared("random_state")

    def check_strength(self, name):
        """Check alpha, which messages call ``name``."""
        check_number(name, self.alpha, low=0.0, high=_LARGEST, strict=True)

    def _check_parameters(self):
        self.check_strength("alpha")
        check_number("tol", self.tol, low=0.0, strict=True)
        check_count("max_iter", self.max_iter, optional=False)

    def _dense(self, K, known):
        root = np.sqrt(known.weight)
        A = K * root
        A *= root[:, None]
        A.flat[:: len(A) + 1] += self.alpha
        coef = root * self._solved(A, root * known.target)
        left = K @ coef + self.alpha * coef / known.weight - known.target
        return Solution(coef, certificate={"residual": _relative(left, known.target)})

    def _by_landmarks(self, low, known):
        A, b = low.normal_equations(known.weight, known.target)
        left = A.copy()
        A.flat[:: len(A) + 1] += self.alpha
        a = self._solved(A, b)
        residual = _relative(left @ a + self.alpha * a - b, b)
        return Solution(low.at_pivots(a), certificate={"residual": residual})

    def _iterate(self, system, known, low):
        root = np.sqrt(known.weight)

        def apply(V):
            products = [root * system.times(root * v) for v in V.T]
            return np.stack(products, axis=1) + self.alpha * V

        scaled = low.factor
        scaled *= root[:, None]  # in place, because it may fill the memory and is not used again
        near = cg.low_rank_preconditioner(scaled, self.alpha)
        options = {"precondition": near, "tol": self.tol, "max_iter": self.max_iter}
        found = cg.conjugate_gradient(apply, root * known.target, **options)
        found.warn_unconverged(self.tol)
        certificate = {"residual": found.residual, "n_iter": found.n_iter}
        return Solution(root * found.solution, certificate=certificate)

    def _solved(self, A, right):
        """``A^-1 right`` for A, which is overwritten."""
        largest = float(A.diagonal().max(initial=0.0))
        if not np.isfinite(largest):
            raise ValueError(
                "the hyper-kernel has values on X beyond the range of float64; accepted: "
                "X or hyper_kernel on another scale."
            )
        rounding = len(A) * np.finfo(np.float64).eps * largest
        if not cholesky(A) or A.diagonal().min() ** 2 <= rounding:
            raise ValueError(
                f"alpha={self.alpha:g} is below the rounding of the system; accepted here: at "
                f"least about {1e3 * rounding:.1g}."
            )
        return cholesky_solve(A, right)


@parameters
class HyperSVR(HyperRegressor):
    """Kernel learned by support vector regression in the space H of a hyper-kernel.

    Minimizes ``|k|_H^2 / 2 + C sum_ij max(0, |k(x_i, x_j) + b - K_ij| - epsilon)`` over k in H and
    b, the sum over known pairs in both orders. The learned kernel is ``k + b``: b < 0 can make it
    indefinite, as can negative coefficients.

    Parameters
    ----------
    hyper_kernel : HyperKernel, optional
        Default: ``hyper_kernels()``, a ladder.
    C : float > 0, default 1.0
    epsilon : float >= 0, default 0.1
    solver : {"auto", "dense", "pivoted", "nystrom"}, default "auto"
        "dense": the dual problem on the matrix of all pairs, by sequential minimal optimization.
        "pivoted": in the span of few landmark pairs, chosen greedily until the trace of the rest is
        at most ``rank_tol`` of the whole. "nystrom": as "pivoted", with ``max_rank`` random
        landmark pairs. On landmarks an interior point method solves the dual problem. "auto":
        "dense" up to 4000 pairs, then "pivoted".
    rank_tol : float, default 1e-6
        The error of the learned kernel is of the order of its square root.
    max_rank : int, default 500
        Maximum number of landmark pairs. A warning is given if they omit more than 1e-3 of the
        trace, which changes the learned kernel visibly (by 3%), and more than ``rank_tol``.
    max_pairs : int, default 2**19
        If there are more pairs, this number is drawn at random, with weights that compensate.
    decomposition : int, optional
        Number of k-means clusters, each of which learns only from the pairs within it.
    cross : {"block", "sum"}, default "block"
        The kernel between clusters of a decomposition. "block": 0; each point belongs to the
        cluster of the nearest center. "sum": the sum of the kernels of all clusters, as in Liu et
        al.; each then affects the others, and their intercepts are averaged.
    tol : float, default 1e-3
        Maximum KKT violation, in units of K.
    max_iter : int, optional
        Maximum number of steps.
    random_state : int or numpy.random.Generator, optional
        Seed of pairs, landmarks and clusters. None is a fixed seed.

    Attributes
    ----------
    kernel_ : LearnedKernel or ClusterKernel
        A Kernel: ``kernel_(X, Y)`` is a Gram matrix, also of new points.
    eigenvalue_range_ : tuple of float
    solver_ : str
    n_pairs_ : int
        Number of pairs used.
    rank_, trace_error_ : int, float
        Except for "dense": number of landmarks, and omitted share of the trace; the maximum over
        the clusters.
    n_features_in_ : int
    kkt_violation_, duality_gap_ : float
        Certificates of the dual problem; the maximum over the clusters.

    References
    ----------
    Liu, Shi, Huang, Yang and Suykens (2020), (2.7) to (2.9).

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, GaussianHyperKernel, HyperSVR
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> K = Gaussian(0.5)(X)
    >>> model = HyperSVR(GaussianHyperKernel(), C=10.0, epsilon=0.05).fit(X, K)
    >>> bool(np.abs(model.kernel_(X) - K).mean() < 0.1)
    True
    """

    hyper_kernel: HyperKernel | None = field(default=None, kw_only=False)
    C: float = field(default=1.0, kw_only=False)
    epsilon: float = field(default=0.1, kw_only=False)
    solver: str = "auto"
    rank_tol: float = 1e-6
    max_rank: int = 500
    max_pairs: int = 2**19
    decomposition: int | None = None
    cross: str = "block"
    tol: float = 1e-3
    max_iter: int | None = None
    device: str = shared("device")
    client: Any = shared("client")
    random_state: Any = shared("random_state")

    def check_strength(self, name):
        """Check C, which messages call ``name``."""
        check_number(name, self.C, low=0.0, high=_LARGEST, strict=True)

    def _check_parameters(self):
        self.check_strength("C")
        check_number("epsilon", self.epsilon, low=0.0)
        check_number("tol", self.tol, low=0.0, strict=True)
        check_count("max_iter", self.max_iter)

    def _dense(self, K, known):
        bound = self.C * known.weight
        options = {"epsilon": float(self.epsilon), "tol": float(self.tol)}
        options["max_iter"] = self.max_iter
        return self._solution(smo(K, -known.target, (-bound, bound), **options))

    def _by_landmarks(self, low, known):
        bound = self.C * known.weight
        options = {"epsilon": float(self.epsilon), "tol": float(self.tol)}
        if self.max_iter is not None:
            options["max_iter"] = self.max_iter
        result = low_rank_svm(low.factor, -known.target, (-bound, bound), **options)
        found = self._solution(result)
        found.coef = low.at_pivots(low.factor.T @ found.coef)
        return found

    def _solution(self, result):
        result.warn_unconverged(self.tol)
        names = ("kkt_violation", "duality_gap")
        certificate = {name: getattr(result, name) for name in names}
        return Solution(result.coef, None, -result.multiplier, certificate)


@parameters
class HyperNNLS(HyperRegressor):
    """Kernel learned by ridge regression with coefficients >= 0, positive semi-definite.

    The problem of `HyperKRR` for ``k = sum_p coef_p h(p, .)`` with ``coef >= 0`` (Pan, Chen, Chen,
    Xu and Lai 2017): every section of a hyper-kernel is a kernel, and sums of kernels are kernels.
    The learned kernel is nonnegative everywhere, so negative similarities cannot be learned.

    Parameters
    ----------
    hyper_kernel : HyperKernel, optional
        Default: ``hyper_kernels()``, a ladder.
    alpha : float >= 0, default 1.0
    solver : {"auto", "dense", "pivoted", "nystrom"}, default "auto"
        "dense": on the matrix of all pairs. "pivoted": in the span of few landmark pairs, chosen
        greedily until the trace of the rest is at most ``rank_tol`` of the whole. "nystrom": as
        "pivoted", with ``max_rank`` random landmark pairs. With landmarks, only their coefficients
        are nonzero. "auto": "dense" up to 4000 pairs, then "pivoted".
    rank_tol : float, default 1e-6
        The error of the learned kernel is of the order of its square root.
    max_rank : int, default 500
        Maximum number of landmark pairs. A warning is given if they omit more than 1e-3 of the
        trace, which changes the learned kernel visibly (by 3%), and more than ``rank_tol``.
    max_pairs : int, default 2**19
        If there are more pairs, this number is drawn at random, with weights that compensate.
    decomposition : int, optional
        Number of k-means clusters, each of which learns only from the pairs within it.
    cross : {"block", "sum"}, default "block"
        The kernel between clusters of a decomposition. "block": 0; each point belongs to the
        cluster of the nearest center. "sum": the sum of the kernels of all clusters, as in Liu et
        al.; each then affects the others.
    random_state : int or numpy.random.Generator, optional
        Seed of pairs, landmarks and clusters. None is a fixed seed.

    Attributes
    ----------
    kernel_ : LearnedKernel or ClusterKernel
        A Kernel: ``kernel_(X, Y)`` is a Gram matrix, also of new points.
    eigenvalue_range_ : tuple of float
    solver_ : str
    n_pairs_ : int
        Number of pairs used.
    rank_, trace_error_ : int, float
        Except for "dense": number of landmarks, and omitted share of the trace; the maximum over
        the clusters.
    n_features_in_ : int
    kkt_residual_, duality_gap_ : float
        Certificates of the nonnegative problem (`NonnegativeQPResult`); the maximum over the
        clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, GaussianHyperKernel, HyperNNLS
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> model = HyperNNLS(GaussianHyperKernel(), alpha=0.01).fit(X, Gaussian(0.5)(X))
    >>> model.kernel_.is_psd, bool(np.linalg.eigvalsh(model.kernel_(X)).min() > -1e-8)
    (True, True)
    """

    hyper_kernel: HyperKernel | None = field(default=None, kw_only=False)
    alpha: float = field(default=1.0, kw_only=False)
    solver: str = "auto"
    rank_tol: float = 1e-6
    max_rank: int = 500
    max_pairs: int = 2**19
    decomposition: int | None = None
    cross: str = "block"
    device: str = shared("device")
    client: Any = shared("client")
    random_state: Any = shared("random_state")

    def check_strength(self, name):
        """Check alpha, which messages call ``name``."""
        check_number(name, self.alpha, low=0.0, high=_LARGEST)

    def _check_parameters(self):
        self.check_strength("alpha")

    def _dense(self, K, known):
        M = (K * known.weight) @ K
        M += self.alpha * K
        return self._solution(M, K @ (known.weight * known.target))

    def _by_landmarks(self, low, known):
        A, b = low.normal_equations(known.weight, known.target)
        A.flat[:: len(A) + 1] += self.alpha
        R = low.pivot_factor
        return self._solution(R @ A @ R.T, R @ b)

    def _solution(self, M, a):
        result = nonnegative_qp(0.5 * (M + M.T), a, check_psd=False)
        names = ("kkt_residual", "duality_gap")
        return Solution(result.v, certificate={name: getattr(result, name) for name in names})


def _relative(left, right):
    """Size of a residual relative to the right-hand side."""
    unit = float(np.abs(right).max(initial=0.0)) or 1.0  # squares of large numbers overflow
    return float(np.linalg.norm(left / unit) / max(np.linalg.norm(right / unit), 1e-300))
