"""Ridge regression in the space of a hyper-kernel, with alpha selected on held-out pairs."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from alignlearn.estimators.base import parameters, shared
from alignlearn.estimators.results_table import results_table
from alignlearn.estimators.search import check_grid
from alignlearn.solvers import panels
from alignlearn.validation import check_choice, check_seed

from ._fit import HyperRegressor
from .algebra import HyperKernel
from .hyperkernels import WIDTHS, hyper_kernels
from .regression import HyperKRR

ALPHAS = tuple(10.0 ** np.arange(-6, 3))
_FOLDS = 5
# Ladders for kernels of the difference (fine), and for kernels that vary slowly or rapidly in
# space.
_LADDERS = (2.0 ** np.arange(-6, 7), 64.0), (WIDTHS, (64.0, 4.0)), (WIDTHS, (64.0, 0.25))


@parameters
class HyperKRRCV(HyperRegressor):
    """`HyperKRR` with alpha selected by the error on held-out pairs.

    Every alpha is evaluated in closed form in the span of the landmark pairs, whose choice does not
    depend on the similarities. This takes one eigendecomposition for all values, or one for each
    fold.

    Parameters
    ----------
    hyper_kernel : HyperKernel or sequence of them, optional
        Candidates, selected by minimum error. Default: three ladders: a fine one of widths 1/64,
        1/32, ..., 64 with a reach of 64, and those of ``hyper_kernels(reach=r)`` with r of (64, 4)
        and (64, 1/4).
    alphas : sequence of float > 0, optional
        Default: 1e-6, 1e-5, ..., 1e2.
    left_out : {"points", "pairs"}, default "points"
        "points": five folds of points; errors are on pairs whose points are in no training pair, as
        for new points. "pairs": each pair is left out separately, while other pairs of its points
        are not. This favors small alphas, but uses all pairs if few are known. "points" becomes
        "pairs" if no fold has a pair.
    solver : {"auto", "pivoted", "nystrom"}, default "auto"
        "pivoted": in the span of few landmark pairs, chosen greedily until the trace of the rest is
        at most ``rank_tol`` of the whole. "nystrom": as "pivoted", with ``max_rank`` random
        landmark pairs. "auto": "pivoted".
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
        Seed of pairs, landmarks, clusters and folds. None is a fixed seed.

    Attributes
    ----------
    hyper_kernel_ : HyperKernel
        The selected candidate, unresolved.
    alpha_ : float
        The maximum over the clusters of a decomposition, each of which selects its own.
    left_out_error_ : float
        Root mean squared error on the held-out pairs divided by the standard deviation of their
        similarities; the maximum over the clusters.
    best_params_ : dict
        ``alpha_`` and ``hyper_kernel_``.
    best_score_ : float
        ``-left_out_error_``.
    best_index_ : int
        Position of ``best_params_`` in ``cv_results_``.
    cv_results_ : dict of ndarray
        ``params`` (list of dict), a ``param_`` for each of them, ``split0_test_score``,
        ``mean_test_score``, ``std_test_score`` and ``rank_test_score``. The one split stands for
        all folds or pairs: its score is minus their error, the largest over the clusters.
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
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, GaussianHyperKernel, HyperKRRCV
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> candidates = [GaussianHyperKernel(width=w) for w in (0.25, 1.0, 4.0)]
    >>> model = HyperKRRCV(candidates, alphas=[1e-3, 1e-1, 10.0]).fit(X, Gaussian(0.5)(X))
    >>> model.alpha_ in (1e-3, 1e-1, 10.0), model.left_out_error_ < 0.5
    (True, True)
    """

    _solvers = ("pivoted", "nystrom")

    hyper_kernel: HyperKernel | None = field(default=None, kw_only=False)
    alphas: Any = field(default=None, kw_only=False)
    left_out: str = "points"
    solver: str = "auto"
    rank_tol: float = 1e-6
    max_rank: int = 500
    max_pairs: int = 2**19
    decomposition: int | None = None
    cross: str = "block"
    device: str = shared("device")
    client: Any = shared("client")
    random_state: Any = shared("random_state")

    def _fit(self, X, K, landmarks=None, hyper_kernel=None):
        given = self.hyper_kernel if hyper_kernel is None else hyper_kernel
        if given is None:
            given = [hyper_kernels(*ladder) for ladder in _LADDERS]
        candidates = list(given) if isinstance(given, (list, tuple)) else [given]
        if not candidates:
            raise ValueError("hyper_kernel is an empty list; give at least one.")
        best, errors = {"left_out_error_": np.inf}, []
        for candidate in candidates:
            self._errors = []
            super()._fit(X, K, None, candidate)
            errors.append(np.max(vars(self).pop("_errors"), axis=0))
            if self.left_out_error_ < best["left_out_error_"]:
                best = vars(self) | {"hyper_kernel_": candidate}
                index = len(errors) - 1
        vars(self).update(best)
        self._report(candidates, np.stack(errors, axis=1), index)
        return self

    def _report(self, candidates, errors, chosen):
        """The fitted attributes of a search, from errors by alpha and candidate."""
        alphas = check_grid("alphas", self.alphas, ALPHAS)
        grid = {"alpha": alphas, "hyper_kernel": candidates}
        if not np.isfinite(errors).all():
            raise ValueError("errors of left-out values are not finite; give other alphas.")
        self.cv_results_ = results_table(grid, -errors[None])
        self.best_index_ = list(alphas).index(self.alpha_) * len(candidates) + chosen
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = -self.left_out_error_

    def _check_parameters(self):
        check_grid("alphas", self.alphas, ALPHAS)
        check_choice("left_out", self.left_out, ("points", "pairs"))

    def _by_landmarks(self, low, known):
        alphas = check_grid("alphas", self.alphas, ALPHAS)
        folds = _point_folds(known, self.random_state) if self.left_out == "points" else []
        if any(out.any() for _, out in folds):
            errors = _folds_left_out(low, known, alphas, folds)
        else:
            errors = _each_pair_left_out(low, known, alphas)
        self._errors.append(errors)
        best = int(np.argmin(errors))
        model = HyperKRR(alpha=alphas[best])
        found = model._by_landmarks(low, known)
        found.certificate |= {"alpha": model.alpha, "left_out_error": float(errors[best])}
        return found


def _point_folds(known, random_state):
    """(training pairs, pairs left out) of folds of the points, as masks."""
    points, where = np.unique(np.concatenate([known.first, known.second]), return_inverse=True)
    rng = check_seed("random_state", random_state)
    fold = (rng.permutation(points.size) % _FOLDS)[where].reshape(2, -1)
    return [((fold != t).all(axis=0), (fold == t).all(axis=0)) for t in range(_FOLDS)]


def _eigen(low, weight, target):
    """Eigenvalues and vectors of the normal equations, and their right-hand side in these."""
    A, b = low.normal_equations(weight, target)
    values, vectors = np.linalg.eigh(A)
    return np.maximum(values, 0.0), vectors, vectors.T @ b


def _each_pair_left_out(low, known, alphas):
    """Relative error for each alpha if every pair is predicted from all others."""
    values, vectors, b = _eigen(low, known.weight, known.target)
    shrink = 1.0 / (values[:, None] + np.asarray(alphas))
    total = np.zeros(len(alphas))
    for part in panels.panels(known.target.size, 2 * values.size**2):
        Z, w, y = low.factor[part] @ vectors, known.weight[part, None], known.target[part, None]
        left = 1.0 - w * (np.square(Z) @ shrink)
        total += (w * np.square((y - Z @ (b[:, None] * shrink)) / np.maximum(left, 1e-12))).sum(
            axis=0
        )
    return _over_deviation(total, known)


def _folds_left_out(low, known, alphas, folds):
    """Relative error for each alpha on pairs inside a fold, learned from pairs outside."""
    total, judged = np.zeros(len(alphas)), np.zeros(known.target.size, dtype=bool)
    for inside, out in folds:
        if not out.any():
            continue
        values, vectors, b = _eigen(low, known.weight * inside, known.target)
        shrink = 1.0 / (values[:, None] + np.asarray(alphas))
        found = low.factor[out] @ (vectors @ (b[:, None] * shrink))
        error = np.square(found - known.target[out, None])
        total += (known.weight[out, None] * error).sum(axis=0)
        judged |= out
    return _over_deviation(total, known.take(np.flatnonzero(judged)))


def _over_deviation(total, known):
    mean = np.average(known.target, weights=known.weight)
    spread = float((known.weight * np.square(known.target - mean)).sum())
    return np.sqrt(total / (spread or 1.0))
