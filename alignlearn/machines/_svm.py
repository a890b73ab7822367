"""The support vector classifier on a Gram matrix; two classes or more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from alignlearn.solvers.multiclass import confidences, predicted_labels, problem_signs
from alignlearn.solvers.smo import smo, warn_unconverged
from alignlearn.solvers.smo_rows import MatrixRows, RowCache
from alignlearn.validation import (
    check_choice,
    check_count,
    check_gram,
    check_labels,
    check_number,
    check_test_gram,
    check_weights,
)

from ._hard_margin import hard_margin

_FEW = 0.5  # share of the samples below which rows are gathered from the matrix


class SupportVectorClassifier:
    """C-SVC on a precomputed Gram matrix, solved by SMO to a KKT violation of ``tol``.

    Minimises |w|^2 / 2 + sum_i C_i max(0, 1 - y_i (w.phi_i + b)) with C_i = C times the sample's
    weight times its class's weight. More than two classes are reduced to problems of two.

    Parameters
    ----------
    C : float
        > 0. ``numpy.inf`` asks for a hard margin: then samples of weight 0 are left out and other
        weights have no effect. One copy of K is taken to decide whether the classes are separable,
        by the nearest points of their convex hulls; ``_hard_margin.hard_margin`` states the proof
        that either answer comes with.
    multiclass : {"ovo", "ovr"}
        One-vs-one (c (c - 1) / 2 problems; votes, and the decisions where they tie) or one-vs-rest
        (c problems).
    class_weight : None, "balanced" or dict
        Weight of each class; "balanced" makes the total weights of all classes equal
        (m / (c m_k) without sample weights); classes that the dict leaves out have weight 1.
    tol : float
        Largest KKT violation, in units of the margin; as LIBSVM's.
    max_iter : int, optional
        Limit of two-variable steps for each problem; default ``max(10**7, 100 m)``.
    shrinking : bool
        Whether coefficients that stay at a bound are set aside while solving.

    Attributes
    ----------
    classes_ : (c,) sorted labels
    support_ : (n_support,) intp
        Samples with a coefficient that is not 0 in some problem.
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
    """

    def __init__(
        self,
        C=1.0,
        *,
        multiclass="ovo",
        class_weight=None,
        tol=1e-3,
        max_iter=None,
        shrinking=True,
    ):
        self.C = C
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.shrinking = shrinking

    def fit(self, K, y, sample_weight=None, *, alpha0=None, check=True):
        """Fit the machine.

        Parameters
        ----------
        K : (m, m) float64 or float32, or RowCache
            Symmetric Gram matrix; used in place and not modified. Or, where it does not fit into
            memory, its rows: see `alignlearn.machines.gram_rows.gram_or_rows`.
        y : (m,)
            Labels of one sortable type, at least two different ones.
        sample_weight : (m,), optional
            Not negative; weight 0 leaves the sample out.
        alpha0 : (m, n_problems) or (m,), optional
            Signed dual coefficients to start from, such as ``full_dual_coef()`` of another fit;
            they are made feasible first.
        check : bool, default True
            False for a finite symmetric K in C order, which is then not read to make sure.

        Raises
        ------
        ValueError
            On bad input; with ``C=inf`` if the classes are not separable in feature space.

        Warns
        -----
        ConvergenceWarning
            If a problem stops above ``tol``; the message gives the violation reached.
        """
        options = check_options(self)
        C = check_number("C", self.C, low=0.0, strict=True, finite=False)
        check_choice("multiclass", self.multiclass, ("ovo", "ovr"))
        self.classes_, codes = encode_labels(y)
        K = check_matrix(K, codes.size, check)
        weight = check_weights(sample_weight, codes.size)
        weight = class_weighted(weight, self.class_weight, self.classes_, codes)
        signs = problem_signs(codes, self.classes_.size, self.multiclass)
        alpha0 = check_start(alpha0, codes.size, len(signs))
        results = []
        for column, sign in enumerate(signs):
            start = None if alpha0 is None else alpha0[:, column]
            if np.isinf(C):
                sign = np.where(weight > 0.0, sign, 0.0)
                refuse_rows(K)
                result = hard_margin(K, sign, start=start, **options)
            else:
                reach = C * weight * sign
                bounds = np.minimum(reach, 0.0), np.maximum(reach, 0.0)
                result = solve(K, -sign, bounds, start=start, **options)
            warn_unconverged(result, options["tol"])
            results.append(result)
        store_results(self, results)
        return self

    def decision_function(self, K_test):
        """Confidence of each class: (n_test,) for two classes, positive for ``classes_[1]``.

        (n_test, c) otherwise; see `alignlearn.solvers.multiclass.confidences`.
        """
        return self.confidences(self._decisions(K_test))

    def confidences(self, raw):
        """The same from the decisions (n_test, n_problems) of the problems."""
        return confidences(raw, self.classes_.size, self.multiclass)

    def predict(self, K_test):
        """Labels (n_test,) of largest confidence from the kernel (n_test, m) against training."""
        return self.predictions(self._decisions(K_test))

    def predictions(self, raw):
        """The same from the decisions (n_test, n_problems) of the problems."""
        return predicted_labels(self.confidences(raw), self.classes_)

    def full_dual_coef(self):
        """Dual coefficients of all training samples, (m, n_problems)."""
        return spread(self)

    def problem_sizes(self, y):
        """Number of samples in each problem, (n_problems,)."""
        classes, codes = encode_labels(y)
        return [np.count_nonzero(s) for s in problem_signs(codes, classes.size, self.multiclass)]

    def _decisions(self, K_test):
        K_test = check_test_gram("K_test", K_test, self.n_train_)
        return K_test[:, self.support_] @ self.dual_coef_ + self.intercept_


def encode_labels(y):
    """Sorted distinct labels and the position of each sample's label among them."""
    classes, codes = np.unique(check_labels(y), return_inverse=True)
    if classes.size < 2:
        raise ValueError(f"y has {classes.size} class; a classifier needs at least two.")
    return classes, codes.reshape(-1)


def class_weighted(weight, class_weight, classes, codes):
    """Weights of the samples (m,) times those of their classes, each of which must have some."""
    totals = np.bincount(codes, weights=weight)
    if (totals == 0.0).any():
        label = classes[totals.argmin()]
        raise ValueError(f"sample_weight is zero for all samples of class {label.item()!r}.")
    return weight * _class_weights(class_weight, classes, totals)[codes]


def _class_weights(class_weight, classes, totals):
    """Weight of each class; ``totals`` are the summed sample weights of the classes."""
    if class_weight is None:
        return np.ones(classes.size)
    if isinstance(class_weight, str):
        check_choice("class_weight", class_weight, ("balanced",))
        return totals.sum() / (classes.size * totals)
    if not isinstance(class_weight, dict):
        raise TypeError(
            "class_weight must be None, 'balanced' or a dict from label to weight, got "
            f"{class_weight!r}."
        )
    known = classes.tolist()
    unknown = [label for label in class_weight if label not in known]
    if unknown:
        raise ValueError(f"class_weight has labels that y has not: {unknown}; y has {known}.")
    weights = [check_number("class_weight", class_weight.get(k, 1.0), low=0.0) for k in known]
    if min(weights) == 0.0:
        raise ValueError("class_weight must be > 0 for every class.")
    return np.array(weights)


def check_matrix(K, n_samples, check):
    """The Gram matrix, checked, or the cache of its rows."""
    if not isinstance(K, RowCache):
        return check_gram("K", K, n_samples) if check else K
    if K.m != n_samples:
        raise ValueError(f"K has {K.m} rows but y has {n_samples} values; they must agree.")
    return K


def refuse_rows(K):
    """A hard margin is decided on the matrix."""
    if isinstance(K, RowCache):
        raise ValueError(
            "C=inf asks for a hard margin, which is decided on the Gram matrix and a copy of it: "
            f"about {16 * K.m**2 / 2**30:.1f} GiB for {K.m} samples, memory={K.memory} bytes are "
            "given. Use a finite C, fewer samples or more memory."
        )


def solve(K, linear, bounds, *, start=None, **options):
    """As `smo`; only rows of samples whose coefficient is not fixed are used, if they are few.

    Of rows in a cache any. The gradient is then that of these samples alone.
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
        "shrinking": bool(machine.shrinking),
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
    coef = np.column_stack([r.coef for r in results])
    machine.n_train_ = len(coef)
    machine.support_ = np.flatnonzero(coef.any(axis=1))
    machine.dual_coef_ = coef[machine.support_]
    machine.intercept_ = np.array([-r.multiplier for r in results])
    machine.n_iter_ = np.array([r.n_iter for r in results])
    machine.kkt_violation_ = np.array([r.kkt_violation for r in results])
    machine.duality_gap_ = np.array([r.duality_gap for r in results])
    machine.objective_ = np.array([-r.objective for r in results])


def spread(machine):
    """Dual coefficients with the zeros of the samples that are not support vectors."""
    coef = np.zeros((machine.n_train_, machine.dual_coef_.shape[1]))
    coef[machine.support_] = machine.dual_coef_
    return coef
