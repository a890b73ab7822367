"""The support of a distribution: a support vector machine of one class, on a Gram matrix."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial

import numpy as np

from alignlearn._params import ParamsMixin
from alignlearn.solvers.smo_rows import RowCache
from alignlearn.sources.source import row_blocks
from alignlearn.validation import (
    check_fitted,
    check_gram,
    check_number,
    check_test_gram,
    check_weights,
)

from ._svm import check_options, solve, spread, store_results

_ROUNDING = 64.0  # rounding error of the scores, in units of rounding of the largest


@dataclass(eq=False, repr=False)
class OneClassSVM(ParamsMixin):
    """Nu-one-class support vector machine on a precomputed Gram matrix, solved by SMO.

    Maximizes ``-alpha'K alpha / 2`` over ``0 <= alpha_i <= w_i``, ``sum(alpha) = nu sum(w)``: the
    half-space of maximum margin from the origin that contains all samples except a share of at most
    nu.

    Parameters
    ----------
    nu : float
        In (0, 1]. At most this share of the samples' weight is outside, and support vectors have at
        least this share.
    tol : float
        Maximum KKT violation, in units of the scores for weights of mean 1.
    max_iter : int, optional
        Limit of two-variable steps; default ``max(10**7, 100 m)``.

    Attributes
    ----------
    support_ : (n_support,) intp
    dual_coef_ : (n_support, 1) float64
        Positive; decisions are ``K_test[:, support_] @ dual_coef_ + intercept_``.
    intercept_, n_iter_, kkt_violation_, duality_gap_, objective_ : (1,)
        ``objective_`` is the dual function reached; it lies at most ``duality_gap_`` from the
        optimum if K is positive semi-definite.

    Notes
    -----
    Samples with ``0 < alpha_i < w_i`` are on the margin, and their decisions are 0 up to ``tol``.
    The intercept makes all of them nonnegative, so that nu bounds the share outside for any
    ``tol``. If there are none, the intercept is the midpoint of the interval that the optimality
    conditions allow, as in LIBSVM.

    References
    ----------
    Schoelkopf, Platt, Shawe-Taylor, Smola and Williamson (2001), Estimating the support of a
    high-dimensional distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian
    >>> from alignlearn.machines import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> K = Gaussian(0.5)(X)
    >>> model = OneClassSVM(nu=0.1).fit(K)
    >>> int((model.decision_function(K) < 0).sum()) <= 4 <= len(model.support_)  # of 40 samples
    True
    """

    nu: float = 0.5
    _: KW_ONLY
    tol: float = 1e-3
    max_iter: int | None = None

    def fit(self, K, sample_weight=None, *, times=None, dtype=None, check=True):
        """Fit the model.

        Parameters
        ----------
        K : (m, m) float64 or float32, or RowCache
            Symmetric Gram matrix; used in place and not modified. If it does not fit into memory,
            its rows. If ``times`` is given, K may omit a constant or a term f(x) + f(x').
        sample_weight : (m,), optional
            Not negative, one of them positive: an integer counts repetitions.
        times : callable, optional
            Product (m,) of the exact matrix with coefficients (m,); that of K by default.
        dtype : numpy.dtype, optional
            Of the kernel values in these products; that of K by default.
        check : bool, default True
            False skips the check that K is finite, symmetric and in C order.

        Raises
        ------
        ValueError
            On bad input.

        Warns
        -----
        ConvergenceWarning
            If the solver stops above ``tol``; the message gives the violation reached.
        """
        options, nu = check_options(self), check_nu(self.nu)
        if check and not isinstance(K, RowCache):
            K = check_gram("K", K)
        times = partial(_times, K) if times is None else times
        weight = check_weights(sample_weight, K.m if isinstance(K, RowCache) else len(K))
        # The scores, and therefore the violation, have the unit of the weights.
        options["tol"] *= weight.sum() / np.count_nonzero(weight)
        start = _start(times(weight), weight, nu)
        # The solver's coefficients sum to 0, so they are added to the start.
        values = np.asarray(times(start), np.float64)
        found = solve(K, values, (-start, weight - start), **options)
        found.warn_unconverged(options["tol"])
        alpha = _on_bounds(start + found.coef, weight)
        scores = np.asarray(times(alpha), np.float64)
        offset = _offset(alpha, scores, weight, np.finfo(K.dtype if dtype is None else dtype).eps)
        # The dual function is the negative objective.
        objective = 0.5 * float(alpha @ scores)
        store_results(self, [replace(found, coef=alpha, multiplier=offset, objective=objective)])
        return self

    def score_samples(self, K_test):
        """``sum_i alpha_i k(x, x_i)`` (n_test,) from the kernel (n_test, m) against training."""
        check_fitted(self, "n_train_")
        K_test = check_test_gram("K_test", K_test, self.n_train_)
        return K_test[:, self.support_] @ self.dual_coef_[:, 0]

    def decision_function(self, K_test):
        """Scores and the intercept: negative outside."""
        return self.score_samples(K_test) + self.intercept_

    def full_dual_coef(self):
        """Dual coefficients of all training samples, (m, 1)."""
        return spread(self)


def _times(K, alpha):
    """``K alpha`` in float64; few rows of a float32 matrix are converted at a time."""
    rows = row_blocks(*K.shape)
    return np.concatenate([K[some].astype(np.float64, copy=False) @ alpha for some in rows])


def check_nu(nu):
    """``nu`` as a float in (0, 1]."""
    nu = check_number("nu", nu, low=0.0, high=1.0)
    if nu == 0.0:
        raise ValueError("nu=0 is out of range; accepted: 0 < nu <= 1.")
    return nu


def _start(density, weight, nu):
    """Feasible coefficients: all weight on the samples of lowest density, which are outside."""
    if nu == 1.0:
        return weight.copy()
    order = np.argsort(density, kind="stable")
    left = nu * weight.sum() - (np.cumsum(weight[order]) - weight[order])
    start = np.empty(len(weight))
    start[order] = np.clip(left, 0.0, weight[order])
    return start


def _on_bounds(alpha, weight):
    """Coefficients, with those within rounding of a bound moved exactly to it."""
    near = 8 * np.finfo(np.float64).eps * weight
    alpha = np.where(alpha <= near, 0.0, alpha)
    return np.where(alpha >= weight - near, weight, alpha)


def _offset(alpha, scores, weight, eps):
    """The score below which a sample is outside."""
    inside = (alpha < weight) & (weight > 0.0)
    highest = scores[inside].min(initial=np.inf)
    free = inside & (alpha > 0.0)
    ends = [highest] if free.any() else [highest, scores[alpha > 0.0].max()]
    middle = float(np.mean([end for end in ends if np.isfinite(end)]))
    # No sample inside is below it because of rounding, or because the solver stopped above its
    # tolerance.
    return min(middle, float(highest)) - _ROUNDING * float(eps) * float(np.abs(scores).max())
