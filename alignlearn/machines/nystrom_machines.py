"""The machines of the Gram matrix, on Nystrom features: a support vector classifier and ridge."""

from __future__ import annotations

import numpy as np

from alignlearn.engine.threads import Progress, on_threads, thread_count
from alignlearn.solvers import conjugate_gradient as cg
from alignlearn.solvers import panels
from alignlearn.solvers.hinge import HingeResult, warn_unconverged
from alignlearn.solvers.hinge_dual import hinge_dual
from alignlearn.solvers.hinge_subgradient import hinge_subgradient
from alignlearn.solvers.low_rank import low_rank_svm
from alignlearn.solvers.multiclass import class_weighted, confidences, encode_labels, problem_signs
from alignlearn.validation import check_choice, check_count, check_number, check_weights

from .nystrom import RidgeProblem

SOLVERS = ("dual", "subgradient")
_PASSES = {"dual": 1000, "subgradient": 60}  # at most, where no number is given
_BLOCK = 2048  # rows of kernel values that are evaluated at once
_CONVERTED = 256  # rows that are converted to float64 at once, which stay in cache
# Samples for each centre, and operations of a step, below which an interior point method is used:
# for few samples after coordinate descent that stopped short, as it does for very large C.
_FEW, _CHEAP = 20, 4e9
_ROUNDING = 1e-8  # of the interior point method's relative gap
_SINGLE = 1e-4  # least tol for which features are held in single precision: 1e-6 of the objective


class StoredKernel:
    """`NystromFeatures` whose kernel values are kept: one matrix (m, r) of float64."""

    def __init__(self, features):
        self._features, self.rank = features, features.rank
        self.n_samples = features.n_samples
        self._raw = np.empty((self.n_samples, self.rank))
        for rows in _blocks(self.n_samples):
            self._raw[rows] = features.raw(rows)

    def raw(self, rows):
        """Kernel values of some samples with the centres, (n, r)."""
        return self._raw[rows]

    def coefficients(self, W):
        """Coefficients of the centres, (r, c), of functions with coordinates W."""
        return self._features.coefficients(W)

    def times(self, W):
        """``Phi W``, (m, c)."""
        return panels.times(self._raw, self.coefficients(W))

    def transposed_times(self, U):
        """``Phi' U``, (r, c)."""
        return self._features.coordinates(panels.transposed_times(self._raw, U))


class StoredFeatures:
    """`NystromFeatures` that are kept: ``held``, (m, r)."""

    def __init__(self, features, dtype):
        self.n_samples, self.rank = features.n_samples, features.rank
        self.held = np.empty((self.n_samples, self.rank), dtype)
        for rows in _blocks(self.n_samples):
            self.held[rows] = features.rows(rows)

    def rows(self, rows):
        """Features of some samples, (n, r)."""
        return self.held[rows]

    def times(self, W):
        """``Phi W``, (m, c)."""
        out = np.empty((self.n_samples, W.shape[1]))
        for rows in _blocks(self.n_samples, _CONVERTED):
            out[rows] = self.held[rows].astype(np.float64, copy=False) @ W
        return out

    def transposed_times(self, U):
        """``Phi' U``, (r, c)."""
        out, used = np.zeros((self.rank, U.shape[1])), np.flatnonzero(U.any(axis=1))
        for part in _blocks(used.size, _CONVERTED):
            rows = used[part]
            out += self.held[rows].astype(np.float64, copy=False).T @ U[rows]
        return out


class ComputedFeatures:
    """`NystromFeatures` of which at most ``block`` rows are held at once."""

    held = None

    def __init__(self, features, dtype, block):
        self._features, self._dtype, self.block = features, dtype, block
        self.n_samples, self.rank = features.n_samples, features.rank
        self.times, self.transposed_times = features.times, features.transposed_times

    def rows(self, rows):
        """Features of some samples, (n, r)."""
        out = np.empty((len(rows), self.rank), self._dtype)
        for part in _blocks(len(rows)):
            out[part] = self._features.rows(rows[part])
        return out


def _blocks(n, size=_BLOCK):
    return [slice(i, min(i + size, n)) for i in range(0, n, size)]


class NystromHinge:
    """C-SVC on Nystrom features, to a duality gap.

    Parameters
    ----------
    C, multiclass, class_weight
        As in `SupportVectorClassifier`; C finite.
    solver : {"dual", "subgradient"}
        `alignlearn.solvers.hinge_dual`, or an interior point method where features fit the memory
        and it is cheap, or samples are less than 20 for a centre and coordinate descent stopped
        short; or `alignlearn.solvers.hinge_subgradient`.
    tol : float
        Largest duality gap, relative to the objective.
    max_iter : int, optional
        Most passes over the samples, or steps of the interior point method; default 1000, 60 for
        "subgradient".

    Attributes
    ----------
    classes_ : (c,) sorted labels
    support_ : (r,) intp
        Numbers of the centres.
    dual_coef_ : (r, n_problems) float64
        Of the centres; the problems are those of `SupportVectorClassifier`.
    intercept_, objective_, duality_gap_ : (n_problems,)
        The minimum of the primal function is between ``objective_ - duality_gap_`` and
        ``objective_``.
    n_iter_ : int
        Passes or steps.
    """

    def __init__(
        self,
        C=1.0,
        *,
        solver="dual",
        multiclass="ovo",
        class_weight=None,
        tol=1e-2,
        max_iter=None,
    ):
        self.C = C
        self.solver = solver
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def check(self):
        """Raise an error for a parameter that is out of range."""
        check_number("C", self.C, low=0.0, strict=True)
        check_choice("solver", self.solver, SOLVERS)
        check_choice("multiclass", self.multiclass, ("ovo", "ovr"))
        check_number("tol", self.tol, low=0.0, strict=True)
        check_count("max_iter", self.max_iter)

    def fit(self, features, y, sample_weight=None, *, memory, rng, verbose=False):
        """Fit the machine.

        Parameters
        ----------
        features : NystromFeatures
        y : (m,)
        sample_weight : (m,), optional
        memory : int
            Bytes: where they hold the features of all samples (for "subgradient" their kernel
            values with the centres), these are kept rather than computed again and again.
        rng : numpy.random.Generator
            Of the order in which samples are visited.
        verbose : bool

        Raises
        ------
        ValueError
            The memory does not hold one block of rows, or a parameter is out of range.

        Warns
        -----
        ConvergenceWarning
            The gap stayed above ``tol``.
        """
        self.check()
        self.classes_, codes = encode_labels(y)
        weight = check_weights(sample_weight, codes.size)
        cost = self.C * class_weighted(weight, self.class_weight, self.classes_, codes)
        signs = problem_signs(codes, self.classes_.size, self.multiclass)
        solve = {"dual": self._dual, "subgradient": self._steps}[self.solver]
        options = {"tol": self.tol, "rng": rng, "watch": _watch(verbose)}
        options["max_passes"] = self.max_iter or _PASSES[self.solver]
        result = solve(features, (signs, cost), memory, options)
        warn_unconverged(result, self.tol)
        self.support_ = features.centres
        self.dual_coef_ = features.coefficients(result.coordinates)
        self.intercept_, self.n_iter_ = result.intercepts, result.n_passes
        self.objective_, self.duality_gap_ = result.objective, result.duality_gap
        return self

    def _dual(self, features, problem, memory, options):
        m, r = features.n_samples, features.rank
        dtype = np.float32 if self.tol >= _SINGLE else np.float64
        if m * r**2 < _CHEAP and _held_rows(features, memory, np.float64) == m:
            return _interior_points(features, *problem, self.tol, options["max_passes"])
        block = _held_rows(features, memory, dtype)
        if block == m:
            data = StoredFeatures(features, dtype)
        else:
            data = ComputedFeatures(features, dtype, block)
        result = hinge_dual(data, *problem, **options, spread=_spread)
        few = m < _FEW * r and _held_rows(features, memory, np.float64) == m
        if few and not result.converged:
            data = None
            return _interior_points(features, *problem, self.tol, options["max_passes"])
        return result

    def _steps(self, features, problem, memory, options):
        held = _held_rows(features, memory, np.float64) == features.n_samples
        return hinge_subgradient(StoredKernel(features) if held else features, *problem, **options)

    def confidences(self, raw):
        """Confidence of each class from the decisions (n_test, n_problems) of the problems."""
        return confidences(raw, self.classes_.size, self.multiclass)


def _interior_points(features, signs, cost, tol, max_iter):
    """The problems one by one, as a `HingeResult`."""
    Z = StoredFeatures(features, np.float64).held
    w, found = [], []
    for sign in signs:
        reach = cost * sign
        bounds = np.minimum(reach, 0.0), np.maximum(reach, 0.0)
        found.append(low_rank_svm(Z, -sign, bounds, tol=0.1 * tol, max_iter=max_iter))
        w.append(Z.T @ found[-1].coef)
    gap = np.array([max(f.duality_gap, 0.0) for f in found])
    primal = gap - np.array([f.objective for f in found])
    return HingeResult(
        np.stack(w, axis=1),
        -np.array([f.multiplier for f in found]),
        primal,
        gap,
        max(f.n_iter for f in found),
        bool(np.all(gap <= max(tol, _ROUNDING) * primal)),
    )


def _held_rows(features, memory, dtype):
    """How many samples' features to hold at once: all, or some blocks."""
    row, m = np.dtype(dtype).itemsize * features.rank, features.n_samples
    block, least = min(_BLOCK, m), 16 * features.rank * min(_BLOCK, m)
    if memory < least:
        raise ValueError(
            f"memory={memory} bytes do not hold one block of rows, {block} samples with "
            f"{features.rank} centres; accepted: at least {least}, or fewer centres."
        )
    return m if row * m <= memory else max(block, (memory - least) // row)


def _spread(function, count):
    on_threads(function, count=min(count, thread_count()), stoppable=True)


def _watch(verbose):
    if not verbose:
        return None
    progress = Progress("support vectors on Nystrom features")
    return lambda done, gap: progress.say(f"{done} passes, duality gap {gap:.2g} of the objective")


class NystromKernelRidge:
    """Kernel ridge regression with an intercept on Nystrom features.

    Parameters
    ----------
    alpha : float > 0
    tol, max_iter
        Of conjugate gradients.

    Attributes
    ----------
    support_ : (r,) intp
        Numbers of the centres.
    dual_coef_ : (r,) or (r, c) float64
        Of the centres.
    intercept_ : float or (c,) float64
    residual_, n_iter_ : float, int
        Of the normal equations.
    """

    def __init__(self, alpha=1.0, *, tol=1e-6, max_iter=200):
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, features, y, sample_weight=None, *, rng, verbose=False):
        """Fit the machine to y (m,) or (m, c); arguments as in `NystromHinge.fit`."""
        alpha = check_number("alpha", self.alpha, low=0.0, strict=True)
        weight = check_weights(sample_weight, len(y))
        columns = y.reshape(len(y), -1)
        problem = RidgeProblem(features, columns, weight, rng=rng, verbose=verbose)
        found = problem.solve(alpha, tol=self.tol, max_iter=self.max_iter)
        cg.warn_unconverged(found.certificate, self.tol)
        self.support_ = features.centres
        coef = features.coefficients(found.coordinates)
        self.dual_coef_ = coef.reshape(features.rank, *y.shape[1:])
        self.intercept_ = found.intercept if y.ndim > 1 else float(found.intercept[0])
        self.residual_, self.n_iter_ = found.certificate.residual, found.certificate.n_iter
        return self
