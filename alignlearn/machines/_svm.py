"""Support vector machines on a Gram matrix for classification and regression."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from alignlearn._pairs import (
    Coefficients,
    PairCoefficients,
    PairDecisions,
    are_many,
    is_compact,
    stored_coefficients,
)
from alignlearn._params import ParamsMixin
from alignlearn.solvers.multiclass import (
    class_confidences,
    decided_labels,
    encode_labels,
    listed_pairs,
    orientations,
    two_class_problems,
)
from alignlearn.solvers.smo import SMALL, SMOResult, smo, smo_listed
from alignlearn.solvers.smo_rows import MatrixRows, RowCache
from alignlearn.validation import (
    check_count,
    check_fitted,
    check_gram,
    check_number,
    check_rows,
    check_test_gram,
    is_label_matrix,
)

from .hard_margin import hard_margin
from .scores import LabelScore

_FEW = 0.5  # share of active samples below which rows are gathered from the matrix
# Training samples per pair of classes above which decisions take less memory than the kernel values
# from which they would be computed again. Several values of C share these.
_WIDE = 4


class _Problems:
    """Problems of two classes, and what all values of C share.

    Parameters
    ----------
    signs : ndarray of shape (n_problems, m), or ListedPairs
        The signs of all pairs of many classes are listed.
    weight : ndarray of shape (m,) or (n_problems, m)
    options : dict
        Options of the solver.
    """

    def __init__(self, signs, weight, options):
        self.signs, self.weight, self.options = signs, weight, options

    @property
    def are_listed(self):
        """Whether the signs are `ListedPairs`."""
        return not isinstance(self.signs, np.ndarray)

    @cached_property
    def oriented(self):
        """`orientations`, and the signs times these."""
        side = orientations(self.signs)
        return side, side[:, None] * self.signs

    @cached_property
    def small(self):
        """Mask of the small problems, and their entries: problems, samples, starts and signs."""
        signs = self.oriented[1]
        used = (signs != 0.0) & (self.weight > 0.0)
        sizes = np.count_nonzero(used, axis=1)
        small = sizes <= SMALL
        problem, sample = np.nonzero(used & small[:, None])
        starts = np.concatenate([[0], np.cumsum(sizes[small])])
        return small, problem, sample, starts, signs[problem, sample]

    def small_solved(self, K, C, start, coef, numbers):
        """Solve the small problems into ``coef`` and ``numbers``; return which are solved."""
        small, problem, sample, starts, sign = self.small
        costs, tol, most = costs_of(C, self.weight), self.options["tol"], self.options["max_iter"]
        bound = sign * (costs[sample] if costs.ndim == 1 else costs[problem, sample])
        if not (bound.size and bound.all()):  # a product with C may underflow
            return np.zeros(len(small), dtype=bool)
        start = None if start is None else start[sample, problem]
        given = K, sample, starts, -sign, bound
        coef[sample, problem], numbers[small] = smo_listed(
            *given, start=start, tol=tol, max_iter=most
        )
        # Those that take many steps are left.
        return small & ((numbers[:, 1] <= tol) | (numbers[:, 4] == most))

    def solved_along(self, K, values):
        """Solve for increasing values of C in one compiled call, each from the solution before.

        Returns coefficients (n_values, m, n_problems) and the numbers of each problem and value.
        None if a problem is not small or takes many steps, or if a value is infinite.
        """
        small, problem, sample, starts, sign = self.small
        if not (isinstance(K, np.ndarray) and small.all() and np.isfinite(values).all()):
            return None
        costs = np.array([costs_of(C, self.weight) for C in values])
        bound = sign * (costs[:, sample] if costs.ndim == 2 else costs[:, problem, sample])
        if not (bound.size and bound.all()):
            return None
        found, numbers = smo_listed(K, sample, starts, -sign, bound, **self.options)
        if (numbers[..., 1] > self.options["tol"]).any():
            return None
        side = self.oriented[0]
        coef = np.zeros((len(values), *self.signs.shape[::-1]))
        coef[:, sample, problem] = found
        coef *= side
        coef += 0.0  # no -0.0 for samples that are in no problem
        numbers[..., 0] *= side
        return coef, numbers


def costs_of(C, weight):
    """C times the weights; finite if C is finite."""
    with np.errstate(over="ignore"):
        costs = C * weight
    return costs if np.isinf(C) else np.minimum(costs, np.finfo(np.float64).max)


class AlongC:
    """Machines for many values of C."""

    def fit_each(self, K, y, values, sample_weight=None):
        """Yield machines fitted with values of C, each started from the one before.

        Parameters
        ----------
        K : (m, m) float64 or float32 in C order, or another input of `fit`
            Finite and symmetric; not checked.
        y, sample_weight
            As in `fit`.
        values : sequence of float
            Increasing.
        """
        coef = None
        for C in values:
            machine = copy.copy(self)
            machine.C = C
            machine.fit(K, y, sample_weight, alpha0=coef, check=False)
            coef = machine.full_dual_coef()
            yield machine


class ClassDecisions(ABC, LabelScore):
    """Confidences and labels from the decisions of problems of two classes."""

    classes_: np.ndarray
    multiclass: str
    n_train_: int

    @abstractmethod
    def problem_decisions(self, K_test) -> np.ndarray:
        """Decisions (n_test, n_problems) of the problems of two classes."""

    def decision_function(self, K_test):
        """Confidence of each class: (n_test,) for two classes, positive for ``classes_[1]``.

        (n_test, c) otherwise; see `alignlearn.solvers.multiclass.class_confidences`.
        """
        return self.confidences(self.problem_decisions(K_test))

    def confidences(self, raw):
        """As above, from the decisions (n_test, n_problems) of the two-class problems."""
        check_fitted(self, "n_train_")
        return class_confidences(raw, self.classes_, self.multiclass)

    def predict(self, K_test):
        """Predict labels (n_test,) from kernel values (n_test, m)."""
        return self.predictions(self.problem_decisions(K_test))

    def predictions(self, raw):
        """As above, from the decisions (n_test, n_problems) of the two-class problems."""
        check_fitted(self, "n_train_")
        return decided_labels(raw, self.classes_, self.multiclass)


@dataclass(eq=False, repr=False)
class SupportVectorClassifier(ParamsMixin, ClassDecisions):
    """C-SVC on a precomputed Gram matrix, solved by SMO to a KKT violation of ``tol``.

    Minimizes |w|^2 / 2 + sum_i C_i max(0, 1 - y_i (w.phi_i + b)) with C_i = C times the sample's
    weight times its class's weight. More than two classes are reduced to two-class problems.

    Parameters
    ----------
    C : float
        > 0. ``numpy.inf`` gives a hard margin: samples of weight 0 are omitted, and other weights
        have no effect. One copy of K is needed to decide whether the classes are separable, by the
        nearest points of their convex hulls; `alignlearn.machines.hard_margin` has the proof.
    multiclass : {"ovo", "ovr"}
        One-vs-one (c (c - 1) / 2 problems; votes, and the decisions where they tie) or one-vs-rest
        (c problems).
    class_weight : None, "balanced", dict or list
        Weight of each class; "balanced" makes the total weights of all classes equal (m / (c m_k)
        without sample weights); classes that are not in the dict have weight 1. With many labels,
        one for all labels, or a list with one entry per label.
    tol : float
        Maximum KKT violation, in units of the margin, as in LIBSVM.
    max_iter : int, optional
        Limit of two-variable steps for each problem; default ``max(10**7, 100 m)``.

    Attributes
    ----------
    classes_ : (c,) sorted labels
    support_ : (n_support,) intp
        Samples with a nonzero coefficient in some problem.
    dual_coef_ : (n_support, n_problems) float64
        Signed: the decisions are ``K_test[:, support_] @ dual_coef_ + intercept_``. The problems
        are: ``classes_[1]`` (positive) against ``classes_[0]``; for ovo the pairs (i, j), i < j in
        lexicographic order with j positive; for ovr each class (positive) against the rest.
    intercept_, n_iter_, kkt_violation_, duality_gap_, objective_ : (n_problems,)
        ``objective_`` is the dual function sum(alpha) - alpha'Q alpha / 2 reached; it lies at most
        ``duality_gap_`` below the minimum of the primal function if K is positive semi-definite.

    Notes
    -----
    The intercept is the mean over the samples with 0 < alpha_i < C_i and, if there are none, the
    midpoint of the interval that the optimality conditions allow.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian
    >>> from alignlearn.machines import SupportVectorClassifier
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> y = np.where(np.linalg.norm(X, axis=1) < 1.1, "inner", "outer")
    >>> model = SupportVectorClassifier(C=10.0).fit(Gaussian(0.5)(X), y)
    >>> model.predict(Gaussian(0.5)([[0.0, 0.0], [2.0, 2.0]], X)).tolist()
    ['inner', 'outer']
    >>> len(model.support_) < 40, bool(model.kkt_violation_[0] <= 1e-3)
    (True, True)
    """

    C: float = 1.0
    _: KW_ONLY
    multiclass: str = "ovo"
    class_weight: Any = None
    tol: float = 1e-3
    max_iter: int | None = None

    dual_coef_ = Coefficients()

    def fit(self, K, y, sample_weight=None, *, alpha0=None, check=True):
        """Fit the model.

        Parameters
        ----------
        K : (m, m) float64 or float32, or RowCache
            Symmetric Gram matrix; used in place and not modified. If it does not fit into memory,
            its rows: see `alignlearn.machines.gram_rows.row_cache`.
        y : (m,) or (m, c)
            Labels of one sortable type, with at least two classes; or c labels of 0 and 1, a
            problem for each that varies.
        sample_weight : (m,), optional
            Not negative; weight 0 omits the sample.
        alpha0 : (m, n_problems) or (m,), optional
            Signed dual coefficients to start from, such as ``full_dual_coef()`` of another fit;
            they are made feasible first.
        check : bool, default True
            False skips the check that K is finite, symmetric and in C order.

        Raises
        ------
        ValueError
            Invalid input; with ``C=inf``, the classes are not separable in feature space.

        Warns
        -----
        ConvergenceWarning
            A problem stopped above ``tol``; the message has the violation.
        """
        problems = self._problems(y, sample_weight, n_rows(K))
        m = problems.weight.shape[-1]
        K = check_matrix(K, m, check)
        if problems.are_listed:
            pairs = problems.signs
            start = check_start(alpha0, m, len(pairs.sizes))
            start = None if start is None else start[pairs.samples, pairs.problems]
            _store_listed(self, problems, *self._minimized_listed(K, problems, start))
        else:
            _store(self, *self._minimized(K, problems, alpha0))
        return self

    def fit_each(self, K, y, values, sample_weight=None):
        """As `AlongC.fit_each`; values that do not depend on C are computed once."""
        problems, coef = self._problems(y, sample_weight), None
        for C in values:
            machine = copy.copy(self)
            machine.C = C
            if problems.are_listed:
                coef, numbers = machine._minimized_listed(K, problems, coef)
                _store_listed(machine, problems, coef, numbers)
            else:
                coef, numbers = machine._minimized(K, problems, coef)
                _store(machine, coef, numbers)
            yield machine

    def decisions_each(self, K, y, values, K_test, sample_weight=None):
        """`raw_decisions` for increasing values of C from one compiled call, or None.

        None if a problem has more than `SMALL` samples, takes many steps or has an infinite C, and
        for many classes; `fit_each` serves these as well. Other arguments are those of `fit_each`.
        """
        problems = self._problems(y, sample_weight)
        found = None if problems.are_listed else problems.solved_along(K, values)
        if found is None:
            return None
        coef, numbers = found
        raw = K_test @ coef.transpose(1, 0, 2).reshape(coef.shape[1], -1)
        raw -= numbers[..., 0].ravel()
        return list(np.ascontiguousarray(raw.reshape(len(raw), len(coef), -1).transpose(1, 0, 2)))

    def _problems(self, y, sample_weight, n_rows=None):
        """The `_Problems` of two classes each; the labels are kept."""
        weights = {"sample_weight": sample_weight, "class_weight": self.class_weight}
        weights["n_rows"] = n_rows
        if self._lists_pairs(y):
            # Problems of each class against the rest have the same weights.
            self.classes_, _, weight = two_class_problems(y, "ovr", **weights)
            codes = encode_labels(y)[1]
            signs = listed_pairs(codes, len(self.classes_), weight > 0.0)
        else:
            self.classes_, signs, weight = two_class_problems(y, self.multiclass, **weights)
        return _Problems(signs, weight, check_options(self))

    def _lists_pairs(self, y):
        """Whether the problems are `ListedPairs`."""
        if self.multiclass != "ovo" or is_label_matrix(y):
            return False
        return are_many(len(encode_labels(y)[0]))

    def _minimized(self, K, problems, alpha0):
        """Coefficients (m, n_problems) and the certificates of `smo_listed`."""
        C = check_number("C", self.C, low=0.0, strict=True, finite=False)
        weight, options = problems.weight, problems.options
        side, signs = problems.oriented
        alpha0 = check_start(alpha0, signs.shape[1], len(signs))
        alpha0 = None if alpha0 is None else alpha0 * side
        coef, numbers = np.zeros(signs.shape[::-1]), np.zeros((len(signs), 5))
        left = np.arange(len(signs))
        if not np.isinf(C) and isinstance(K, np.ndarray):
            left = np.flatnonzero(~problems.small_solved(K, C, alpha0, coef, numbers))
        for p in left:
            start = None if alpha0 is None else alpha0[:, p]
            own = weight if weight.ndim == 1 else weight[p]
            result = self._solved(K, signs[p], C, own, start, options)
            coef[:, p], numbers[p] = result.coef, _numbers(result)
        coef *= side
        coef += 0.0  # no -0.0 for samples that are in no problem
        numbers[:, 0] *= side
        for p in np.flatnonzero(numbers[:, 1] > options["tol"]):
            _result(coef[:, p], *numbers[p]).warn_unconverged(options["tol"])
        return coef, numbers

    def _minimized_listed(self, K, problems, start):
        """The same for `ListedPairs`: coefficients (n,) of these, from ``start`` (n,)."""
        C = check_number("C", self.C, low=0.0, strict=True, finite=False)
        pairs, weight, options = problems.signs, problems.weight, problems.options
        side, sizes = pairs.signs[pairs.starts[:-1]], pairs.sizes
        each_side = np.repeat(side, sizes)
        signs = each_side * pairs.signs
        start = None if start is None else each_side * start
        coef, numbers = np.zeros(len(signs)), np.zeros((len(sizes), 5))
        left = np.arange(len(sizes))
        if not np.isinf(C) and isinstance(K, np.ndarray):
            small = sizes <= SMALL
            rows = np.repeat(small, sizes)
            starts = np.concatenate([[0], np.cumsum(sizes[small])])
            bound = costs_of(C, weight)[pairs.samples[rows]] * signs[rows]
            given = pairs.samples[rows], starts, -signs[rows], bound
            begin, most = None if start is None else start[rows], options["max_iter"]
            found = smo_listed(K, *given, start=begin, tol=options["tol"], max_iter=most)
            coef[rows], numbers[small] = found
            solved = small & ((numbers[:, 1] <= options["tol"]) | (numbers[:, 4] == most))
            left = np.flatnonzero(~solved)
        for p in left:
            own = slice(*pairs.starts[p : p + 2])
            some = pairs.samples[own]
            sign, begin = np.zeros((2, len(weight)))
            sign[some] = signs[own]
            if start is not None:
                begin[some] = start[own]
            begin = None if start is None else begin
            result = self._solved(K, sign, C, weight, begin, options)
            coef[own], numbers[p] = result.coef[some], _numbers(result)
        coef *= each_side
        numbers[:, 0] *= side
        for p in np.flatnonzero(numbers[:, 1] > options["tol"]):
            own = slice(*pairs.starts[p : p + 2])
            _result(coef[own], *numbers[p]).warn_unconverged(options["tol"])
        return coef, numbers

    def _solved(self, K, sign, C, weight, start, options):
        """The `SMOResult` of one problem of two classes."""
        if np.isinf(C):
            sign = np.where(weight > 0.0, sign, 0.0)
            return hard_margin(K, sign, start=start, **options)
        reach = costs_of(C, weight) * sign
        bounds = np.minimum(reach, 0.0), np.maximum(reach, 0.0)
        return solve(K, -sign, bounds, start=start, **options)

    def full_dual_coef(self):
        """Dual coefficients of all training samples, (m, n_problems)."""
        return spread(self)

    def problem_sizes(self, y):
        """Number of samples in each problem, (n_problems,)."""
        if self._lists_pairs(y):
            classes, codes = encode_labels(y)
            used = np.ones(len(codes), dtype=bool)
            return listed_pairs(codes, len(classes), used).sizes.tolist()
        return np.count_nonzero(two_class_problems(y, self.multiclass).signs, axis=1).tolist()

    def problem_decisions(self, K_test, *, check=True):
        """Decisions (n_test, n_problems) of the problems of two classes.

        ``check=False`` skips the check that K_test is finite and has a column per training sample.
        """
        if check:
            check_fitted(self, "n_train_")
            K_test = check_test_gram("K_test", K_test, self.n_train_)
        return np.asarray(self.raw_decisions(K_test))

    def raw_decisions(self, K_test):
        """The same without checks of K_test; of the pairs of many classes `PairDecisions`."""
        check_fitted(self, "n_train_")
        coef = stored_coefficients(self)
        if not is_compact(coef):
            return K_test.take(self.support_, axis=1) @ self.dual_coef_ + self.intercept_
        found = PairDecisions.of_kernel(K_test, self.support_, coef, self.intercept_)
        return np.asarray(found) if K_test.shape[1] > _WIDE * coef.shape[1] else found


def check_matrix(K, n_samples, check):
    """Check the Gram matrix, or the cache of its rows."""
    if not isinstance(K, RowCache):
        return check_gram("K", K, n_samples) if check else K
    check_rows("K", K.m, n_samples)
    return K


def n_rows(K):
    """Number of rows of a Gram matrix or of the cache of its rows; None before K is an array."""
    if isinstance(K, RowCache):
        return K.m
    return K.shape[0] if isinstance(K, np.ndarray) and K.ndim == 2 else None


def _numbers(result):
    """Multiplier, violation, objective, duality gap and steps of an `SMOResult`."""
    return (
        result.multiplier,
        result.kkt_violation,
        result.objective,
        result.duality_gap,
        result.n_iter,
    )


def _result(coef, multiplier, violation, objective, gap, steps):
    """The `SMOResult` of a problem that stopped too early."""
    return SMOResult(coef, multiplier, None, objective, gap, violation, int(steps), False)


def solve(K, linear, bounds, *, start=None, **options):
    """As `smo`, but reads only rows of samples whose coefficient is not fixed, if they are few.

    With a cache of rows it always does. The gradient is then that of these samples alone.
    """
    index = np.flatnonzero(bounds[0] < bounds[1])
    cached = isinstance(K, RowCache)
    if index.size == len(linear) or not (cached or index.size < _FEW * len(linear)):
        return smo(K, linear, bounds, start=start, **options)
    start = None if start is None else start[index]
    bounds = bounds[0][index], bounds[1][index]
    rows = K.subset(index) if cached else MatrixRows(K, index)
    result = smo(rows, linear[index], bounds, start=start, **options)
    coef = np.zeros(len(linear))
    coef[index] = result.coef
    return replace(result, coef=coef)


def check_options(machine):
    """The solver's options from the machine's parameters, checked."""
    return {
        "tol": check_number("tol", machine.tol, low=0.0, strict=True),
        "max_iter": check_count("max_iter", machine.max_iter),
    }


def check_start(alpha0, n_samples, n_problems):
    """Starting coefficients as (m, n_problems) finite float64, or None."""
    if alpha0 is None:
        return None
    alpha0 = np.asarray(alpha0, dtype=np.float64)
    if alpha0.ndim == 1:
        alpha0 = alpha0[:, None]
    if alpha0.shape != (n_samples, n_problems) or not np.isfinite(alpha0).all():
        raise ValueError(
            f"alpha0 must be a finite array of shape ({n_samples}, {n_problems}), got shape "
            f"{alpha0.shape}."
        )
    return alpha0


def store_results(machine, results):
    """Set the fitted attributes from one `SMOResult` per problem."""
    coef = np.ascontiguousarray(np.array([r.coef for r in results]).T)
    _store(machine, coef, np.array([_numbers(r) for r in results]))


def _store(machine, coef, numbers):
    """The same from coefficients (m, n_problems) and the numbers of `smo_listed`."""
    machine.n_train_ = len(coef)
    machine.support_ = np.flatnonzero(coef.any(axis=1))
    machine.dual_coef_ = coef[machine.support_]
    _store_numbers(machine, numbers)


def _store_listed(machine, problems, coef, numbers):
    """The same from the coefficients (n,) of `ListedPairs`."""
    pairs = problems.signs
    machine.n_train_ = len(problems.weight)
    given = coef, pairs.samples, pairs.starts
    machine.support_, machine.dual_coef_ = PairCoefficients.of_support(*given)
    _store_numbers(machine, numbers)


def _store_numbers(machine, numbers):
    """Set the intercepts and certificates from the numbers of `smo_listed`."""
    multiplier, violation, objective, gap, steps = numbers.T.copy()
    machine.intercept_ = -multiplier
    machine.n_iter_ = steps.astype(np.int64)
    machine.kkt_violation_, machine.duality_gap_ = violation, gap
    machine.objective_ = -objective


def spread(machine):
    """Dual coefficients of all samples, with zeros for those that are not support vectors."""
    check_fitted(machine, "n_train_")
    found = machine.dual_coef_
    coef = np.zeros((machine.n_train_, found.shape[1]))
    coef[machine.support_] = found
    return coef
