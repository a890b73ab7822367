"""Models on indefinite Gram matrices, regularized in the Hilbert space of the majorant.

A kernel that is not positive semidefinite has no Hilbert space, and the usual dual problems are not
convex. Its Krein space contains the same functions as the Hilbert space of ``|K| = U diag(|w|)
U'``. Regularization with the norm of that Hilbert space gives a convex problem with a unique
solution. The model for ``|K|`` is trained, and its function is expressed in the original kernel, so
prediction needs only values of that kernel.
"""

from __future__ import annotations

import numpy as np

from alignlearn.kernels import KreinSpectrum, open_spectrum
from alignlearn.solvers.multiclass import encode_labels
from alignlearn.validation import (
    ConvergenceWarning,
    check_number,
    check_targets,
    check_weights,
    warn,
)

from ._ridge import KernelRidge, NotDefinite, check_range
from ._svm import AlongC, SupportVectorClassifier, check_start

_BLOCK = 256


class KreinSVC(AlongC, SupportVectorClassifier):
    """C-SVC on a Gram matrix that may be indefinite (KSVM).

    Trains a `SupportVectorClassifier` on ``|K| = U diag(|w|) U'`` and maps its dual coefficients by
    ``beta = U diag(sign w) U' beta~``, so that ``K beta = |K| beta~``; the intercept is kept and
    predictions use the original kernel (Loosli, Canu and Ong 2016, "Learning SVM in Krein spaces").
    This is not a stationary point of the non-convex dual of K over the box 0 <= alpha <= C. If K is
    positive semidefinite up to rounding, it equals `SupportVectorClassifier`.

    Parameters
    ----------
    C : float
        > 0. ``numpy.inf`` separates the classes in the feature space of ``|K|``: samples of weight
        0 are omitted, and other weights have no effect.
    multiclass : {"ovo", "ovr"}
        One-vs-one (c (c - 1) / 2 problems; votes, and the decisions where they tie) or one-vs-rest
        (c problems).
    class_weight : None, "balanced" or dict
        Weight of each class; "balanced" makes the total weights of all classes equal (m / (c m_k)
        without sample weights); classes that are not in the dict have weight 1.
    tol : float
        Maximum KKT violation, in units of the margin, as in LIBSVM.
    max_iter : int, optional
        Limit of two-variable steps for each problem; default ``max(10**7, 100 m)``.

    Attributes
    ----------
    classes_ : (c,) sorted labels
    intercept_, n_iter_, kkt_violation_, duality_gap_, objective_ : (n_problems,)
        Certificates of the convex problem on ``|K|``: ``objective_`` is the dual function reached;
        it lies at most ``duality_gap_`` below the minimum of the primal function.
    support_ : (n_support,) intp
        Samples with a nonzero coefficient in the original kernel. The map makes nearly all
        coefficients nonzero, also those of samples beyond the margin. Prediction therefore needs
        kernel values with all training samples of positive weight, unless K is positive
        semidefinite.
    dual_coef_ : (n_support, n_problems) float64
        beta; decisions are ``K_test[:, support_] @ dual_coef_ + intercept_``. Not within the box.
    eigenvalue_range_ : tuple of float
        Smallest and largest eigenvalue of K; of the weighted matrix with sample weights.
    n_negative_ : int
        Number of eigenvalues below 0 by more than rounding.
    decision_error_ : (n_problems,) float64
        Largest difference between ``K beta`` and ``|K| beta~`` on the training samples of positive
        weight; 0 in exact arithmetic.

    Notes
    -----
    Eigenvalues of at most ``m eps max|w|`` count as 0 (see `KreinSpectrum.rounding`). With sample
    weights the majorant is that of the weighted samples (see `KreinSpectrum`), so that an integer
    weight is a repeated sample. Memory in addition to K: about two m x m float64 matrices during
    the decomposition, then ``|K|`` and m x n numbers for the n nonpositive eigenvalues. C=inf needs
    one more m x m matrix. Most of the time is that of the decomposition, which is faster than
    ``numpy.linalg.eigh`` if few eigenvalues are negative.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import TL1
    >>> from alignlearn.machines import KreinSVC
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> y = np.where(np.linalg.norm(X, axis=1) < 1.1, "inner", "outer")
    >>> kernel = TL1(tau=2.0)  # indefinite
    >>> model = KreinSVC(C=10.0).fit(kernel(X), y)
    >>> bool(model.n_negative_ > 0), model.predict(kernel([[0.0, 0.0]], X)).tolist()
    (True, ['inner'])
    """

    def fit(self, K, y, sample_weight=None, *, alpha0=None, check=True):
        """Fit the model.

        Parameters
        ----------
        K : (m, m) float64 or float32, or KreinSpectrum
            Symmetric Gram matrix, not modified; or its `krein_spectrum`, which does the
            decomposition once for many values of C.
        y : (m,)
            Labels of one sortable type, at least two different ones.
        sample_weight : (m,), optional
            Not negative; weight 0 leaves the sample out. Not with a `KreinSpectrum`, which has its
            own. With ``C=inf`` positive weights count as 1.
        alpha0 : (m, n_problems) or (m,), optional
            Coefficients to start from, such as ``full_dual_coef()`` of another fit on this K.
        check : bool, default True
            False skips the check that K is finite, symmetric and in C order.

        Raises
        ------
        ValueError
            On bad input; with ``C=inf`` if the classes are not separable in feature space.

        Warns
        -----
        ConvergenceWarning
            If a problem stops above ``tol``, or if ``decision_error_`` is above it.
        """
        C = check_number("C", self.C, low=0.0, strict=True, finite=False)
        _, codes = encode_labels(y)
        if np.isinf(C) and sample_weight is not None:
            # Their number is compared with y below, as that of y with K.
            weight = check_weights(sample_weight, np.size(sample_weight))
            sample_weight = (weight > 0.0).astype(np.float64)
        spectrum = open_spectrum(K, codes.size, sample_weight, check)
        if alpha0 is not None:
            alpha0 = np.asarray(alpha0, dtype=np.float64)
            columns = alpha0.shape[1] if alpha0.ndim == 2 else 1
            alpha0 = spectrum.to_krein(check_start(alpha0, codes.size, columns))
        super().fit(spectrum.majorant, y, spectrum.sample_weight, alpha0=alpha0, check=False)
        self.eigenvalue_range_ = spectrum.eigenvalue_range
        self.n_negative_ = spectrum.n_negative
        coef = self.full_dual_coef()
        mapped = spectrum.to_krein(coef)
        self.decision_error_ = _decision_error(spectrum, mapped, coef)
        self.support_ = np.flatnonzero(mapped.any(axis=1))
        self.dual_coef_ = mapped[self.support_]
        if self.decision_error_.max() > self.tol:
            warn(
                (
                    "Because of rounding, the coefficients in K reproduce the model's "
                    f"decisions only to {self.decision_error_.max():.3g}, more than "
                    f"tol={self.tol:g}; scale the kernel, lower C, or raise tol."
                ),
                ConvergenceWarning,
            )
        return self


class KreinRidge(KernelRidge):
    """Kernel ridge regression on a Gram matrix that may be indefinite.

    Minimizes ``sum_i s_i (y_i - (K beta)_i - b)^2 + alpha beta'|K| beta`` with sample weights s,
    where ``beta'|K| beta`` is the squared norm of the function in the Hilbert space of the majorant
    ``|K| = U diag(|w|) U'`` of the Krein space (the regularizer of Oglic and Gaertner 2018,
    "Learning in reproducing kernel Krein spaces", with one alpha for both parts and without their
    constraint on the predictions' variance). For every alpha > 0 the problem is convex and its
    function unique. Without an intercept ``beta = U diag(sign(w) / (|w| + alpha)) U' y``:
    predictions shrink y by ``|w| / (|w| + alpha)`` along each eigenvector. It is ridge regression
    on ``|K|``, expressed in the original kernel as in `KreinSVC`. If K is positive semidefinite up
    to rounding, it equals `KernelRidge`.

    Parameters
    ----------
    alpha : float
        Regularization, >= 0.
    fit_intercept : bool
        Whether to fit b. K need not be centered.

    Attributes
    ----------
    dual_coef_ : (m,) or (m, c) float64
        beta. With an intercept, its sum need not be 0.
    intercept_ : float, or (c,) float64 if y has columns
    eigenvalue_range_ : tuple of float
        Smallest and largest eigenvalue of K; of the weighted matrix with sample weights.
    n_negative_ : int
        Number of eigenvalues below 0 by more than rounding.

    Notes
    -----
    The other definition stabilizes ``|y - K beta|^2 + alpha beta'K beta`` with the indefinite inner
    product of the Krein space (Ong, Mary, Canu and Smola 2004, "Learning with non-positive
    kernels"): ``beta = (K + alpha I)^-1 y``. It is not available, because it is a saddle point. The
    saddle point does not exist for ``alpha = -w`` and grows without bound near it. As it multiplies
    y by ``w / (w + alpha)``, it reverses the sign of y along eigenvectors with ``-alpha < w < 0``
    and overshoots for ``w < -alpha``. A general linear solver can solve that system.

    Memory beside K: as in `KreinSVC`; the factorization works in the majorant's place.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Log
    >>> from alignlearn.machines import KreinRidge
    >>> X = np.random.default_rng(0).normal(size=(40, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> K = Log()(X)  # one eigenvalue is negative
    >>> model = KreinRidge(alpha=0.01).fit(K, y)
    >>> int(model.n_negative_), model.score(K, y) > 0.9
    (1, True)
    """

    def fit(self, K, y, sample_weight=None, *, check=True):
        """Fit by one decomposition and one Cholesky factorization.

        Parameters
        ----------
        K : (m, m) float64 or float32, or KreinSpectrum
            Symmetric Gram matrix, not modified; or its `krein_spectrum`, which does the
            decomposition once for many values of alpha.
        y : (m,) or (m, c)
            Targets, real and finite.
        sample_weight : (m,), optional
            Not negative; weight 0 leaves the sample out. Not with a `KreinSpectrum`.
        check : bool, default True
            False skips the check that K is finite, symmetric and in C order.

        Raises
        ------
        ValueError
            On bad input; if ``|K| + alpha I`` is singular to working precision, or so small beside
            y that coefficients overflow.
        """
        alpha = check_number("alpha", self.alpha, low=0.0)
        y = check_targets(y)
        spectrum = open_spectrum(K, len(y), sample_weight, check)
        self.eigenvalue_range_ = spectrum.eigenvalue_range
        self.n_negative_ = spectrum.n_negative
        weight = spectrum.sample_weight
        if not self.n_negative_:
            return super().fit(spectrum.K, y, weight, check=False)
        shared = isinstance(K, KreinSpectrum)
        try:
            super().fit(spectrum.majorant, y, weight, check=False, overwrite=not shared)
        except NotDefinite:
            raise ValueError(
                f"|K| + alpha I is singular to working precision at alpha={alpha:g}; raise alpha."
            ) from None
        with np.errstate(over="ignore", invalid="ignore"):
            self.dual_coef_ = spectrum.to_krein(self.dual_coef_)
        largest = np.abs(np.array(spectrum.eigenvalue_range)).max()
        check_range(self.dual_coef_, float(largest), alpha)
        return self


def _decision_error(spectrum, mapped, coef):
    """Largest difference of ``K mapped`` and ``|K| coef`` at samples of positive weight."""
    error = np.zeros(coef.shape[1])
    if spectrum.n_negative:
        for i in range(0, len(coef), _BLOCK):
            rows = slice(i, i + _BLOCK)
            difference = spectrum.K[rows] @ mapped - spectrum.majorant[rows] @ coef
            difference[spectrum.sample_weight[rows] == 0.0] = 0.0
            error = np.maximum(error, np.abs(difference).max(axis=0))
    return error
