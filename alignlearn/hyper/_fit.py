"""Base class of the regressors: samples and target, decomposition, choice of the solver."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn._params import ParamsMixin
from alignlearn.engine.engines import open_engine
from alignlearn.solvers.k_means import k_means
from alignlearn.validation import (
    ConvergenceWarning,
    check_choice,
    check_count,
    check_number,
    check_samples,
    check_seed,
    not_fitted,
    warn,
)
from alignlearn.validation.memory import require_memory

from ._low_rank import low_rank
from ._pairs import PairSystem, open_target
from .algebra import HyperKernel
from .hyperkernels import hyper_kernels
from .learned import ClusterKernel, LearnedKernel

if TYPE_CHECKING:
    from typing_extensions import Self

_DENSE_PAIRS = 4000  # rows of a square matrix of 128 MB
_PROBE = 1000  # samples of the Gram matrix whose eigenvalues are reported
_NOTABLE = (
    1e-3  # share of the trace omitted by landmarks that has a visible effect on the kernel: 3%
)


@dataclass
class Solution:
    """Coefficients of one problem.

    Attributes
    ----------
    coef : ndarray of shape (n,)
    index : ndarray of shape (n,), optional
        Positions of their pairs; None for all of them, in order.
    constant : float
    certificate : dict
        Fitted attributes without their underscore; over several parts the largest is kept.
    """

    coef: np.ndarray
    index: np.ndarray | None = None
    constant: float = 0.0
    certificate: dict = field(default_factory=dict)


class HyperRegressor(ParamsMixin):
    """Base of `HyperKRR`, `HyperSVR` and `HyperNNLS`.

    A subclass has ``_solvers``, ``_check_parameters()`` and a method ``_dense``, ``_by_landmarks``
    or ``_iterate`` for each of these.
    """

    hyper_kernel: HyperKernel | None
    solver: str
    rank_tol: float
    max_rank: int
    max_pairs: int
    decomposition: int | None
    cross: str
    device: str
    client: Any
    random_state: Any

    trace_error_: float
    _solvers = ("dense", "pivoted", "nystrom")

    def fit(self, X, K) -> Self:
        """Fit the kernel to the known similarities.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Finite; m >= 2.
        K : array-like of shape (m, m) or (m,)
            Symmetric similarities, NaN if unknown (a pair is known if one of its two orders is), or
            labels, which stand for their ideal kernel (`ideal_kernel`); its matrix is not formed.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            Invalid input; for K see `known_pairs`.
        MemoryError
            The solver's arrays do not fit into the free memory; the message names an option that
            needs less.

        Warns
        -----
        ConvergenceWarning
            An iterative solver stopped above its tolerance, or ``max_rank`` landmark pairs leave
            more than ``rank_tol`` and more than 1e-3 of the trace.
        """
        self._fit(X, K)
        if self._cut and self.trace_error_ > _NOTABLE:
            warn(
                (
                    f"{type(self).__name__}: the approximation by max_rank={self.max_rank} "
                    f"landmark pairs misses {self.trace_error_:.2g} of the trace of the "
                    f"hyper-kernel's matrix, more than rank_tol={self.rank_tol:g}; the error "
                    "of the learned kernel is of the order of the square root of this share. "
                    "Raise max_rank or rank_tol."
                ),
                ConvergenceWarning,
            )
        return self

    def _fit(self, X, K, landmarks=None, hyper_kernel=None):
        """`fit` that reads the landmarks of each part from a dict, by number, or stores them there.

        ``hyper_kernel`` replaces the parameter of this name, if given. There is no warning about
        too few landmarks here, because searches often have few.
        """
        # A failed fit leaves no attributes of an earlier fit.
        for name in [n for n in vars(self) if n.endswith("_")]:
            delattr(self, name)
        X = np.asarray(check_samples("X", X), dtype=np.float64)
        if len(X) < 2:
            raise ValueError(f"X has {len(X)} sample; at least 2 are needed to learn a kernel.")
        hyper, rng = self._check(X, self.hyper_kernel if hyper_kernel is None else hyper_kernel)
        target = open_target(K, len(X))
        centers, parts = None, [np.arange(len(X))]
        if self.decomposition is not None:
            centers, labels = k_means(X, self.decomposition, rng)
            parts = [np.flatnonzero(labels == c) for c in range(len(centers))]
        self.n_pairs_, self._cut, found = 0, False, []
        for number, rows in enumerate(parts):
            known = target.pairs(rows, self.max_pairs, rng)
            found.append(self._fit_part(hyper, X, known, rng, (number, landmarks)))
        kernels, solutions = zip(*found)
        for name in solutions[0].certificate:
            setattr(self, f"{name}_", max(s.certificate[name] for s in solutions))
        self.kernel_ = self._whole(kernels, centers, parts)
        self.n_features_in_ = X.shape[1]
        self._probe = X[np.sort(rng.choice(len(X), min(_PROBE, len(X)), replace=False))]
        return self

    def predict(self, X, Y=None) -> np.ndarray:
        """The learned kernel between the rows of X (n, d) and of Y (X itself if None), (n, n')."""
        if not hasattr(self, "kernel_"):
            raise not_fitted(self)
        return self.kernel_(X, Y)

    @property
    def eigenvalue_range_(self):
        """Smallest and largest eigenvalue of the learned Gram matrix of the training samples.

        For more than 1000 samples, those of 1000 random ones. A negative smallest eigenvalue beyond
        rounding means that the learned kernel is indefinite. Computed on access.
        """
        if not hasattr(self, "kernel_"):
            raise not_fitted(self)
        return self.kernel_.eigenvalue_range(self._probe)

    def _check(self, X, given):
        """The hyper-kernel with numbers, and the random numbers; parameters are checked."""
        check_choice("solver", self.solver, ("auto", *self._solvers))
        check_choice("cross", self.cross, ("block", "sum"))
        check_number("rank_tol", self.rank_tol, low=0.0)
        check_count("max_rank", self.max_rank, optional=False)
        check_count("max_pairs", self.max_pairs, optional=False)
        check_count("decomposition", self.decomposition)
        self._check_parameters()
        hyper = hyper_kernels() if given is None else given
        if not isinstance(hyper, HyperKernel):
            raise TypeError(
                "hyper_kernel must be a GaussianHyperKernel, a WishartHyperKernel or a "
                "sum or product of these, such as the result of hyper_kernels(), got "
                f"{hyper!r:.80}."
            )
        return hyper.resolve(X), check_seed("random_state", self.random_state)

    def _check_parameters(self):
        """Check the parameters that the subclass adds."""
        raise NotImplementedError

    def _dense(self, K, known) -> Solution:
        """Coefficients of all known pairs, from the whole matrix of these; for "dense"."""
        raise NotImplementedError

    def _by_landmarks(self, low, known) -> Solution:
        """Coefficients of the landmark pairs; for "pivoted" and "nystrom"."""
        raise NotImplementedError

    def _iterate(self, system, known, low) -> Solution:
        """Coefficients of all known pairs, by products with their matrix; for "cg"."""
        raise NotImplementedError

    def _fit_part(self, hyper, X, known, rng, shared):
        system = PairSystem(
            hyper, X, known.first, known.second, open_engine(self.device, self.client)
        )
        self.n_pairs_ += system.n_pairs
        small = system.n_pairs <= _DENSE_PAIRS and "dense" in self._solvers
        solver = self.solver if self.solver != "auto" else "dense" if small else "pivoted"
        self.solver_ = solver
        if solver == "dense":
            found = self._dense(_gram(system), known)
        else:
            kind = "nystrom" if solver == "nystrom" else "pivoted"
            number, landmarks = shared
            low = None if landmarks is None else landmarks.get(number)
            if low is None:
                low = low_rank(system, kind, self.rank_tol, self.max_rank, rng)
            if landmarks is not None:
                landmarks[number] = low
            if solver == "cg":
                found = self._iterate(system, known, low)
            else:
                found = self._by_landmarks(low, known)
                found.index = low.pivots
                self._cut |= low.cut
            found.certificate |= {"rank": low.pivots.size, "trace_error": low.trace_error}
        index = slice(None) if found.index is None else found.index
        pairs = known.first[index], known.second[index]
        return LearnedKernel(hyper, X, *pairs, found.coef, found.constant), found

    def _whole(self, kernels, centers, parts):
        if centers is None:
            return kernels[0]
        if self.cross == "block":
            return ClusterKernel(centers, tuple(kernels))
        sizes = [float(rows.size) ** 2 for rows in parts]
        constant = float(np.average([kernel.constant for kernel in kernels], weights=sizes))
        return LearnedKernel.joined(kernels, constant)


def _gram(system):
    """The whole matrix of the pairs, if two of them fit into free memory."""
    require_memory(
        system.n_pairs,
        lambda n: 16.0 * n**2,
        f"solver='dense': the hyper-kernel matrix of {system.n_pairs} pairs of samples",
        lambda n, _: (
            "solver='pivoted', which holds max_rank of its columns"
            + (f", or max_pairs={n}" if n else "")
        ),
    )
    return system.gram()
