"""Does learning the kernel pay here? A fair comparison of kernel combinations by cross-validation.

The folds take turns: one tests, the next one validates, the others train. Weights are learned from
the training folds alone, the regularisation of the machine (and, for the best single kernel, the
kernel) is chosen on the validation fold, and the test fold is looked at once.

Source: Cortes, Mohri and Rostamizadeh (2012), Algorithms for learning kernels based on centered
alignment, section 5 (protocol) and appendix C (tests).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from alignlearn import _compare_one_stage as one_stage
from alignlearn._compare_sources import RankOne, open_kernels
from alignlearn.comparison import BEST_SINGLE, ENSEMBLE, Comparison, Protocol
from alignlearn.engine import features
from alignlearn.machines import SupportVectorClassifier
from alignlearn.streaming import check_features
from alignlearn.targets import check_labels, check_targets, target_columns
from alignlearn.validation import check_choice, check_number
from alignlearn.weights import get_weighting

METHODS = (BEST_SINGLE, "uniform", "align", "alignf")
OTHER_METHODS = ("alignf-linear", "align-lq", *one_stage.METHODS)
SCALES = ("standard", "minmax", "none")

# Strong regularisation first: a tie on the validation fold goes to the first. Kernels have mean
# diagonal 1 (trace normalised), so one range serves all data.
C_GRID = tuple(2.0**k for k in range(-5, 12, 2))
ALPHA_GRID = tuple(10.0 ** (k / 4) for k in range(12, -25, -1))


def compare(X, y, kernels=None, *, methods=METHODS, task="auto", protocol=None, verbose=False):
    """Compare ways to combine kernels by cross-validation with a validation fold.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Or, with RankOneKernels, also a SciPy sparse matrix.
    y : array-like of shape (m,)
        Real targets or class labels.
    kernels : sequence of Kernel and str, or RankOneKernels, optional
        Default: a ladder of nine Gaussians around ``gamma="scale"``. They are centred and scaled to
        equal trace on the training folds.
    methods : sequence of str
        Of "best-single", "uniform", "align", "alignf", "alignf-linear", "align-lq"; of the rules
        that learn weights and machine together, "l1-svm" for classification, "lkrr" and
        "aligned-krr" for regression; and "ensemble", one machine a kernel and a linear combination
        of their predictions, as a reference. "best-single" costs one Gram matrix a kernel;
        "ensemble", "l1-svm", "lkrr" and "aligned-krr" hold one a kernel for the training folds,
        except that the last three need none for RankOneKernels, for which "best-single" and
        "ensemble" are not available.
    task : {"auto", "classification", "regression"}
        Classification is by support vector machine (one-vs-one), regression by kernel ridge.
        "auto" takes floating-point y as regression.
    protocol : Protocol, optional
        Folds, scaling of the columns, grid of C or alpha, random state.
    verbose : bool
        Progress on stderr.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        Bad input: NaN or infinity, a single class or constant y, fewer than 3 samples in a class,
        fewer than 2 samples a fold, methods that are unknown or not for this task.
    """
    protocol = _check_protocol(Protocol() if protocol is None else protocol)
    X, y, task = _check_data(X, y, task)
    source = open_kernels(X, kernels)
    methods = _check_methods(methods, source, task)
    if len(y) < 2 * protocol.n_folds:
        raise ValueError(f"X has {len(y)} samples; accepted: at least 2 for each fold.")
    folds = split(y, protocol.n_folds, task, protocol.random_state)
    trials = []
    for t in range(protocol.n_folds):
        trial = _Trial(source, X, y, task, _rotate(folds, t), protocol)
        trials.append([trial.run(method) for method in methods])
        if verbose:
            _report(t, protocol.n_folds, methods, trials[-1])
    names = ("error", "validation_error", "alignment", "test_alignment", "parameter")
    by_method = {n: np.array([[getattr(o, n) for o in row] for row in trials]).T for n in names}
    return Comparison(
        methods=methods,
        kernel_names=trial.names,
        task=task,
        **by_method,
        weights=np.array([[o.weights for o in row] for row in trials]).swapaxes(0, 1),
        shape=tuple(X.shape),
        protocol=protocol,
    )


@dataclass(frozen=True)
class _Outcome:
    """One method in one trial."""

    error: float
    validation_error: float
    alignment: float
    parameter: float
    weights: np.ndarray
    test_alignment: float = np.nan


class _Trial:
    """One assignment of the folds: everything a method needs, from the training folds only."""

    def __init__(self, source, X, y, task, parts, protocol):
        train, validate, test = parts
        self.task, self.protocol, self.grid = task, protocol, _grid(protocol, task)
        shift, scale = _column_scale(X[train], protocol.scale if source.scales else "none")
        self.X, held_out = (
            (A - shift) / scale if scale is not None else A
            for A in (X[train], X[np.concatenate([validate, test])])
        )
        self.y, self.y_validate, self.y_test = y[train], y[validate], y[test]
        self.held_out = held_out
        self.source = source.resolve(self.X)
        statistics = self.source.statistics(self.X, self.y, task)
        self.names = source.names or statistics.names
        self.statistics, self.scale = statistics.trace_normalized()

    def run(self, method):
        """Learn, choose on the validation fold, test."""
        if method == BEST_SINGLE:
            found = self._best_single()
        elif method in one_stage.METHODS:
            found = self._choose(self._one_stage.candidates(method))
        else:
            result = get_weighting(method).solve(self.statistics)
            found = self._evaluate(result.weights, result.alignment)
        if method == ENSEMBLE:
            return found
        return replace(found, test_alignment=self._test_alignment(found.weights))

    @cached_property
    def _one_stage(self):
        return one_stage.OneStage(self)

    def _best_single(self):
        alignments = self.statistics.alignments
        best = None
        # Between kernels that validate equally well the better aligned one is taken.
        for k in np.argsort(-alignments, kind="stable"):
            if self.scale[k] > 0.0:
                weights = np.zeros(alignments.size)
                weights[k] = 1.0
                found = self._evaluate(weights, alignments[k])
                if best is None or found.validation_error < best.validation_error:
                    best = found
        if best is None:
            raise ValueError("kernels: every kernel is constant on the training folds.")
        return best

    def _evaluate(self, weights, alignment):
        path = _ridge_path if self.task == "regression" else _svm_path
        predictions = path(*self.grams(weights), self.y, self.grid)
        return self._choose((p, weights, alignment, g) for p, g in zip(predictions, self.grid))

    def _choose(self, candidates):
        """The first of the best validated.

        A candidate is (predictions on the held-out rows, weights, alignment, parameter).
        """
        n, best = len(self.y_validate), None
        for predictions, weights, alignment, parameter in candidates:
            validation = _error(predictions[:n], self.y_validate, self.task)
            if best is None or validation < best.validation_error:
                error = _error(predictions[n:], self.y_test, self.task)
                numbers = error, validation, float(alignment)
                best = _Outcome(*numbers, parameter=parameter, weights=weights)
        return best

    def _test_alignment(self, weights):
        test = self.held_out[len(self.y_validate) :]
        K = self.source.gram(weights * self.scale, test)
        K = K - K.mean(axis=0)
        K -= K.mean(axis=1, keepdims=True)
        Y = target_columns(self.y_test, task=self.task)
        norms = np.linalg.norm(K) * np.linalg.norm(Y.T @ Y)
        return float(np.vdot(Y, K @ Y) / norms) if norms > 0.0 else 0.0

    def grams(self, weights):
        """Combined Gram matrices, centred at the training mean: training and held-out rows.

        ``weights`` (p,) are those of the kernels of equal trace.
        """
        weights = weights * self.scale
        K = self.source.gram(weights, self.X)
        K_held_out = self.source.gram(weights, self.held_out, self.X)
        means = K.mean(axis=0)
        K_held_out -= K_held_out.mean(axis=1, keepdims=True)
        K_held_out -= means - means.mean()
        K -= means
        K -= (means - means.mean())[:, None]
        return K, K_held_out


# Machines: predictions on the held-out rows along the grid


def _ridge_path(K, K_held_out, y, grid):
    """Kernel ridge regression for every alpha from one eigendecomposition; (n_grid, n)."""
    from scipy.linalg import eigh

    values, vectors = eigh(K, check_finite=False)
    alphas = np.array(grid)
    shifted = values[:, None] + alphas
    # Weights of mixed sign may give an indefinite matrix: such alphas are out of the choice.
    usable = shifted.min(axis=0) > 0.0
    if not usable.any():
        raise ValueError(
            f"the combined kernel has the eigenvalue {values[0]:.3g}, below minus every alpha of "
            "the grid; use nonnegative weights or positive semi-definite kernels."
        )
    mean = y.mean()
    dual = vectors @ ((vectors.T @ (y - mean))[:, None] / np.where(shifted > 0.0, shifted, 1.0))
    return np.where(usable, K_held_out @ dual + mean, np.inf).T


def _svm_path(K, K_held_out, y, grid):
    """Support vector machine for every C, each started from the one before; (n_grid, n)."""
    predictions, start = [], None
    for C in grid:
        machine = SupportVectorClassifier(C=C).fit(K, y, alpha0=start)
        start = machine.full_dual_coef()
        predictions.append(machine.predict(K_held_out))
    return predictions


def _error(prediction, y, task):
    """Root mean squared error, or the fraction misclassified."""
    if task == "regression":
        return float(np.sqrt(np.mean((prediction - y) ** 2)))
    return float(np.mean(prediction != y))


def _grid(protocol, task):
    if protocol.grid is None:
        return ALPHA_GRID if task == "regression" else C_GRID
    ordered = sorted(protocol.grid, reverse=task == "regression")
    return tuple(ordered)


# Folds and columns


def split(y, n_folds, task, random_state=0):
    """Random folds of sizes equal within 1, for classes also class by class.

    Parameters
    ----------
    y : ndarray of shape (m,)
    n_folds : int
    task : {"classification", "regression"}
    random_state : int

    Returns
    -------
    list of ndarray
        Sample numbers, sorted; disjoint, and together all samples.
    """
    order = np.random.default_rng(random_state).permutation(len(y))
    if task == "classification":
        # Dealing out one class after the other keeps every fold's share of each.
        order = order[np.argsort(np.unique(y, return_inverse=True)[1][order], kind="stable")]
    return [np.sort(order[f::n_folds]) for f in range(n_folds)]


def _rotate(folds, t):
    """(train, validate, test) of trial t."""
    n = len(folds)
    train = [folds[(t + k) % n] for k in range(2, n)]
    return np.sort(np.concatenate(train)), folds[(t + 1) % n], folds[t]


def _column_scale(X, scale):
    """(shift, divisor) of the columns from the training rows; (None, None) for no scaling."""
    if scale == "none":
        return None, None
    if scale == "standard":
        shift, divisor = X.mean(axis=0), X.std(axis=0)
    else:
        low, high = X.min(axis=0), X.max(axis=0)
        shift, divisor = 0.5 * (low + high), 0.5 * (high - low)
    # A constant column stays constant, whatever rounding made of its spread.
    varies = divisor > 1e-12 * np.abs(X).max(axis=0)
    return shift, np.where(varies, divisor, 1.0)


# Checks


def _check_protocol(protocol):
    if not isinstance(protocol, Protocol):
        raise TypeError(f"protocol must be a Protocol, got {protocol!r}.")
    check_choice("scale", protocol.scale, SCALES)
    n = protocol.n_folds
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 3:
        raise ValueError(f"n_folds={n!r}; accepted: an integer >= 3 (train, validate, test).")
    if protocol.grid is not None:
        if len(protocol.grid) == 0:
            raise ValueError("grid is empty; give at least one value > 0.")
        for value in protocol.grid:
            check_number("grid", value, low=0.0, strict=True)
    return protocol


def _check_methods(methods, source, task):
    methods = (methods,) if isinstance(methods, str) else tuple(methods)
    if not methods:
        raise ValueError(f"methods is empty; accepted: {', '.join(METHODS + OTHER_METHODS)}.")
    for method in methods:
        check_choice("methods", method, METHODS + OTHER_METHODS)
        if method == BEST_SINGLE and isinstance(source, RankOne):
            raise ValueError(
                f"methods: {BEST_SINGLE!r} is not available for RankOneKernels, where it would be "
                "the best single column."
            )
        if method in one_stage.METHODS:
            one_stage.check_method(method, source, task)
    if len(set(methods)) < len(methods):
        raise ValueError(f"methods={methods!r} names a method twice.")
    return methods


def _check_data(X, y, task):
    check_choice("task", task, ("auto", "classification", "regression"))
    X = check_features(X.tocsr() if features.is_sparse(X) else X)
    X = X.astype(np.float64) if X.dtype != np.float64 else X
    if task == "auto":
        task = "regression" if np.asarray(y).dtype.kind == "f" else "classification"
    check = check_targets if task == "regression" else check_labels
    y = check(y, X.shape[0])
    if y.ndim != 1:
        raise ValueError(f"y has shape {y.shape}; accepted: one target, shape (m,).")
    values, counts = np.unique(y, return_counts=True)
    if values.size < 2:
        what = "is constant" if task == "regression" else "holds a single class"
        raise ValueError(f"y {what} ({values[0]}); at least two different values are needed.")
    if task == "classification" and counts.min() < 3:
        raise ValueError(
            f"y: class {values[counts.argmin()]} has {counts.min()} samples; accepted: at least 3, "
            "so that it can be in the training, validation and test folds."
        )
    return X, y, task


def _report(t, n_folds, methods, outcomes):
    for method, o in zip(methods, outcomes):
        print(
            f"fold {t + 1}/{n_folds}  {method:<14} error {o.error:.4g}  validation "
            f"{o.validation_error:.4g}  alignment {o.alignment:.4f}  parameter {o.parameter:.4g}",
            file=sys.stderr,
            flush=True,
        )
