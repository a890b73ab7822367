"""Regression in the space of a hyper-kernel: the kernel itself is fitted to given similarities."""

from __future__ import annotations

import numpy as np

from alignlearn._lapack import cholesky, cholesky_solve
from alignlearn._params import ParamsMixin
from alignlearn.estimators._sklearn import not_fitted
from alignlearn.solvers.nnqp import nonnegative_qp
from alignlearn.solvers.smo import smo, warn_unconverged
from alignlearn.validation import check_choice, check_count, check_number, check_samples
from alignlearn.validation.memory import check_memory

from ._pairs import PairSystem, known_pairs
from .hyperkernels import GaussianHyperKernel, HyperKernel
from .learned import LearnedKernel

_DENSE_PAIRS = 4000  # of a matrix of 128 MB


class HyperRegressor(ParamsMixin):
    """Base: the pairs of the target, the choice of the solver, the learned kernel."""

    _solvers = ("dense",)

    def fit(self, X, K):
        """Fit the kernel to the known similarities.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Finite; m >= 2.
        K : array-like of shape (m, m)
            Symmetric similarities, NaN where unknown (a pair is known if one of its two orders is).

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            Bad input, as `alignlearn.hyper.known_pairs` says for K.
        MemoryError
            ``solver="dense"`` would not fit into free memory.

        Warns
        -----
        ConvergenceWarning
            The solver stopped above its tolerance.
        """
        X = np.asarray(check_samples("X", X), dtype=np.float64)
        if len(X) < 2:
            raise ValueError(f"X has {len(X)} sample; at least 2 are needed to learn a kernel.")
        hyper = GaussianHyperKernel() if self.hyper_kernel is None else self.hyper_kernel
        if not isinstance(hyper, HyperKernel):
            raise TypeError(
                "hyper_kernel must be a GaussianHyperKernel or a WishartHyperKernel, got "
                f"{hyper!r:.80}."
            )
        known = known_pairs(K, len(X))
        system = PairSystem(hyper.resolve(X), X, known.first, known.second)
        check_choice("solver", self.solver, ("auto", *self._solvers))
        self._check_parameters()
        self.solver_ = "dense" if self.solver == "auto" else self.solver
        coef, constant = self._solve(system, known)
        self.kernel_ = LearnedKernel(
            system.hyper_kernel, X, known.first, known.second, coef, constant
        )
        self.n_pairs_ = system.n_pairs
        self.n_features_in_ = X.shape[1]
        self._probe = X
        return self

    def predict(self, X, Y=None):
        """The learned kernel between the rows of X (n, d) and of Y (X itself if None)."""
        if not hasattr(self, "kernel_"):
            raise not_fitted(self)
        return self.kernel_(X, Y)

    def _gram(self, system):
        n = system.n_pairs
        check_memory(
            n,
            lambda n: 16.0 * n**2,
            f"solver='dense': the hyper-kernel matrix of {n} x {n} pairs",
            lambda *_: "solver='pivoted', which holds (pairs x rank), or fewer samples",
        )
        return system.gram()


class HyperKRR(HyperRegressor):
    """Ridge: min over k of ``sum_ij (k(x_i, x_j) - K_ij)^2 + alpha |k|^2`` (2.4 of Liu et al.)."""

    _solvers = ("dense",)

    def __init__(self, hyper_kernel=None, alpha=1.0, *, solver="auto"):
        self.hyper_kernel = hyper_kernel
        self.alpha = alpha
        self.solver = solver

    def _check_parameters(self):
        check_number("alpha", self.alpha, low=0.0, strict=True)

    def _solve(self, system, known):
        root = np.sqrt(known.weight)
        A = self._gram(system)
        A *= root
        A *= root[:, None]
        A.flat[:: len(A) + 1] += self.alpha
        if not cholesky(A):
            raise ValueError(f"alpha={self.alpha:g} is too small: ...")
        coef = root * cholesky_solve(A, root * known.target)
        left = known.target - self.alpha * coef / known.weight - system.times(coef)
        self.residual_ = float(np.linalg.norm(left) / max(np.linalg.norm(known.target), 1e-300))
        return coef, 0.0


class HyperSVR(HyperRegressor):
    """Support vector regression with a bias."""

    def __init__(
        self, hyper_kernel=None, C=1.0, epsilon=0.1, *, solver="auto", tol=1e-3, max_iter=None
    ):
        self.hyper_kernel = hyper_kernel
        self.C = C
        self.epsilon = epsilon
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self):
        check_number("C", self.C, low=0.0, strict=True)
        check_number("epsilon", self.epsilon, low=0.0)
        check_number("tol", self.tol, low=0.0, strict=True)
        check_count("max_iter", self.max_iter)

    def _solve(self, system, known):
        bound = self.C * known.weight
        options = {"epsilon": self.epsilon, "tol": self.tol, "max_iter": self.max_iter}
        result = smo(self._gram(system), -known.target, (-bound, bound), **options)
        warn_unconverged(result, self.tol)
        self.kkt_violation_, self.duality_gap_ = result.kkt_violation, result.duality_gap
        return result.coef, -result.multiplier


class HyperNNLS(HyperRegressor):
    """Ridge with coefficients >= 0."""

    def __init__(self, hyper_kernel=None, alpha=1.0, *, solver="auto"):
        self.hyper_kernel = hyper_kernel
        self.alpha = alpha
        self.solver = solver

    def _check_parameters(self):
        check_number("alpha", self.alpha, low=0.0)

    def _solve(self, system, known):
        K = self._gram(system)
        M = (K * known.weight) @ K
        M += self.alpha * K
        result = nonnegative_qp(M, K @ (known.weight * known.target), check_psd=False)
        self.kkt_residual_ = result.kkt_residual
        return result.v, 0.0
