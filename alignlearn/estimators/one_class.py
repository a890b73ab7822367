"""Outliers by a learned kernel: a rule without a target, then a one-class machine."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn.machines.choice import Sizes, matrix_fits
from alignlearn.machines.gram_rows import row_cache
from alignlearn.machines.one_class import OneClassSVM, check_nu
from alignlearn.solvers.smo_rows import check_cache_memory
from alignlearn.validation import check_memory

from .base import OutlierDetector, parameters, shared
from .learner import KernelLearner, linear_coefficients

if TYPE_CHECKING:
    from typing_extensions import Self


@parameters
class OneClassMKL(OutlierDetector, KernelLearner):
    """Support of a distribution in the feature space of several kernels, from samples alone.

    Stage 1 combines the kernels without labels; stage 2 finds the half-space of largest margin from
    the origin that holds most samples (the nu-one-class support vector machine). Samples outside
    are outliers.

    Parameters
    ----------
    kernels : sequence of Kernel and str, dict, RankOneKernels or "precomputed", optional
        Default: nine Gaussians around ``gamma="scale"``. With "precomputed", X is a sequence of p
        Gram matrices (m, m) in ``fit`` and (n, m) later, arrays or data frames (read by position).
        In ``fit``, pass an indefinite matrix as ``Precomputed(K, fix="clip")``, which also
        transforms the rows of new samples, or as ``Precomputed(K, is_psd=False)``. For complex
        Hermitian matrices the real part is used. All kernels except functions and precomputed
        matrices also accept SciPy sparse X, which stays sparse. A dict has a kernel, a sequence of
        them or columns for each name; columns (an integer, a slice, a sequence of integers or of
        column names) mean a linear kernel on them. See the notes of `MKLClassifier` on several
        tables.
    weighting : str or object, default "uniform"
        "uniform": equal weights. "max-entropy": the combination with the most even spectrum.
        "consensus": the combination that agrees most with all kernels. "structure": sparse weights
        that preserve neighborhoods. See `MaxEntropy`, `Consensus` and `Structure`; or an object
        with a method ``solve(statistics)`` whose attribute ``needs_target`` is False.
    nu : float, default 0.5
        In (0, 1]: at most this share of the training samples is outside, and at least this share
        are support vectors.
    memory : int, str or None, default None
        Bytes for kernel values, or a string such as "2GB". Default: half of the free memory. Where
        the Gram matrix does not fit, its rows are computed when the solver needs them.
    normalize : {"trace"} or None, default "trace"
        Scale every centered kernel to trace m before stage 1.
    tol : float, default 1e-3
        Largest KKT violation, in units of the scores.
    max_iter : int, optional
        Maximum number of two-variable steps.

    Attributes
    ----------
    weights_ : ndarray of shape (p,)
        Weights of the normalized kernels.
    scale_ : ndarray of shape (p,)
        Normalization factors; ``kernel_`` is ``sum_k weights_k scale_k K_k``.
    kernel_ : Kernel
        The learned kernel: ``kernel_(X, Y)`` is a Gram matrix, usable as ``SVC(kernel=...)``. A
        FeatureWeighted for RankOneKernels and linear kernels; a function of p matrices for
        "precomputed".
    kernels_ : list of Kernel
        The kernels, with numbers in place of ``gamma="scale"``.
    statistics_ : AlignmentStatistics
        Statistics of the normalized kernels.
    result_ : WeightResult
        Result of stage 1 with its certificate and diagnostics.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X was a data frame with string column names, or several tables: "table__column".
    table_names_in_ : tuple of str
        If X was several tables, or precomputed matrices with names.
    alignment_, uniform_alignment_, kernel_alignments_
        With the combination itself, as there is no target.
    support_ : ndarray of shape (n_support,)
    dual_coef_ : ndarray of shape (n_support,)
        Positive; they sum to nu times the number of samples (the sum of their weights).
    offset_ : float
        ``decision_function(X) = score_samples(X) - offset_``.
    intercept_ : float
        ``-offset_``.
    kkt_violation_, duality_gap_, objective_ : float
        The certificate: the largest value of the dual function lies between ``objective_`` and
        ``objective_ + duality_gap_``.
    n_iter_ : int
    machine_ : OneClassSVM of `alignlearn.machines`

    Notes
    -----
    Units are those of scikit-learn's ``OneClassSVM`` on the same Gram matrix. No training sample on
    the margin counts as outside, so that nu bounds their share exactly. Unlike models with an
    intercept, this one changes if a constant is added to a kernel.

    Sample weights count repetitions; 0 leaves a sample out.

    References
    ----------
    Schoelkopf, Platt, Shawe-Taylor, Smola and Williamson (2001), Estimating the support of a
    high-dimensional distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import OneClassMKL
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = OneClassMKL(nu=0.05).fit(X)
    >>> model.predict([[0.0, 0.1], [6.0, 6.0]])
    array([ 1, -1])
    """

    kernels: Any = field(default=None, kw_only=False)
    weighting: str | object = "uniform"
    nu: float = 0.5
    memory: int | str | None = None
    normalize: str | None = "trace"
    unbiased: bool = shared("unbiased")
    missing: str | None = shared("missing")
    tol: float = 1e-3
    max_iter: int | None = None
    verbose: Any = shared("verbose")
    device: str = shared("device")
    client: Any = shared("client")

    coef_ = property(linear_coefficients)

    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Learn the combination and its support.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Or a list of objects, a sparse matrix, p Gram matrices or several tables, as ``kernels``
            allows.
        y : ignored
        sample_weight : array-like of shape (m,), optional
            Not negative.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            Bad input, or a weighting that needs a target.

        Warns
        -----
        ConvergenceWarning
            The solver stopped above ``tol``.
        """
        machine = OneClassSVM(check_nu(self.nu), tol=self.tol, max_iter=self.max_iter)
        memory = check_memory("memory", self.memory)
        learned = self._learn(*self._opened(X, sample_weight), None, "auto")
        if matrix_fits(Sizes.of_source(learned.source), memory):
            machine.fit(learned.gram(exact=True), learned.weight, check=False)
        else:
            rows = row_cache(learned, memory)
            exact = {"times": learned.times, "dtype": learned.source.dtype}
            machine.fit(rows, learned.weight, **exact, check=False)
        self.machine_, self.support_ = machine, machine.support_
        self.dual_coef_ = machine.dual_coef_[:, 0]
        self.intercept_ = float(machine.intercept_[0])
        self.offset_ = -self.intercept_
        self.n_iter_ = int(machine.n_iter_[0])
        for name in ("kkt_violation_", "duality_gap_", "objective_"):
            setattr(self, name, float(getattr(machine, name)[0]))
        given = machine.support_, machine.dual_coef_, machine.intercept_
        self._predictor = learned.predictor(*given, exact=True)
        return self

    def _matrices(self, source):
        memory = check_memory("memory", self.memory)
        held = matrix_fits(Sizes.of_source(source), memory)
        if not held and not source.is_linear:
            check_cache_memory(source.n_samples, memory)
        return int(held)

    def _machine_note(self):
        support = f"{len(self.support_)} of {self.statistics_.n_samples} samples"
        what = f"one-class support vector machine, nu={self.nu:g}"
        yield f"model: {what}, {support} are support vectors"

    def score_samples(self, X) -> np.ndarray:
        """Height of the distribution in feature space, ``sum_i alpha_i k(x, x_i)``, shape (n,)."""
        return self.decision_function(X) + self.offset_

    def decision_function(self, X) -> np.ndarray:
        """Score less the offset, shape (n,): negative outside."""
        return self._decisions(X)[:, 0]

    def predict(self, X) -> np.ndarray:
        """1 for each of n samples that is inside, -1 for an outlier; ints, shape (n,)."""
        return np.where(self.decision_function(X) < 0.0, -1, 1)
