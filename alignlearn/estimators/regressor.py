"""Regression with a kernel learned by centered alignment: kernel ridge or epsilon-SVR."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn.machines import KernelRidge, SupportVectorRegressor
from alignlearn.machines.choice import choose
from alignlearn.machines.copies import sizes_of_different
from alignlearn.machines.gram_rows import Pilot
from alignlearn.validation import (
    check_choice,
    check_memory,
    check_number,
)

from ._machines import nystrom_ridge, train_ridge, train_support_vectors
from .base import parameters, shared
from .inputs import real_targets
from .kernel_regressor import KernelRegressor

if TYPE_CHECKING:
    from typing_extensions import Self


@parameters
class MKLRegressor(KernelRegressor):
    """Kernel ridge or support vector regression whose kernel is learned by centered alignment.

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
    weighting : str or object, default "alignf"
        Two-stage, from streamed alignment: "uniform", "align", "alignf", "alignf-linear",
        "align-lq", or an object with a method ``solve(statistics)``. Unsupervised: "consensus",
        "max-entropy" and "structure", see `Consensus`, `MaxEntropy` and `Structure`. By margins of
        one solution: "easymkl", see `EasyMKL`. One-stage,
        holding p Gram matrices: "lkrr", "l1-svm", "aligned-krr" with this estimator's alpha, C and
        epsilon, or an object such as `LKRR` with a method ``solve_grams``. The model is
        then trained on the resulting kernel, whose weights keep the scale of their problem.
        "l1-svm" uses the problem of support vector regression, whose C and epsilon are in units of
        y: standardize y first.
    alpha : float, default 1.0
        "krr": regularization added to the diagonal, >= 0, in units of the kernel (with
        ``normalize="trace"`` and weights of sum 1 the mean diagonal entry is 1).
    C : float, default 1.0
        "svr": cost of errors, > 0.
    epsilon : float, default 0.1
        "svr": half-width of the tube without loss, in units of y.
    machine : {"auto", "krr", "svr", "nystrom"}, default "auto"
        "krr": kernel ridge on all pairs of samples; "svr": support vectors. "nystrom": ridge in the
        span of the kernel at few samples, as `NystromRidge`, also of precomputed kernels. "auto":
        "krr" up to 20,000 samples, else "nystrom"; ``chosen_machine_`` and ``summary()`` name it.
    n_centers : int, optional
        "nystrom": number of centers, the samples that span the model; default 1000.
    memory : int, str or None, default None
        Bytes for kernel values, or a string such as "2GB". Default: half of the free memory. Where
        the Gram matrix does not fit, "krr" is solved by conjugate gradients to a relative residual
        of 1e-8, and "svr" from rows that are computed when they are needed.
    normalize : {"trace"} or None, default "trace"
        Scale every centered kernel to trace m before stage 1.
    tol : float, default 1e-3
        "svr": largest KKT violation, in units of y.
    max_iter : int, optional
        Maximum number of steps of "svr" and "nystrom".
    random_state : int, numpy.random.Generator or None
        Seed of the samples that "nystrom" draws. None means the seed 0, so results are
        reproducible.

    Attributes
    ----------
    weights_ : ndarray of shape (p,)
        Weights of the normalized kernels.
    scale_ : ndarray of shape (p,)
        Normalization factors; ``kernel_`` is ``sum_k weights_k scale_k K_k``.
    kernel_ : Kernel
        The learned kernel: ``kernel_(X, Y)`` is a Gram matrix, usable as ``SVR(kernel=...)``. A
        FeatureWeighted for RankOneKernels and linear kernels; a function of p matrices for
        "precomputed".
    alignment_, uniform_alignment_ : float
        Centered alignment of the learned and of the uniform combination with the targets.
    kernel_alignments_ : ndarray of shape (p,)
    kernels_ : list of Kernel
        The kernels, with numbers in place of ``gamma="scale"``.
    statistics_ : AlignmentStatistics
        Statistics of the normalized kernels.
    result_ : WeightResult
        Result of stage 1 with its certificate and diagnostics.
    coef_ : ndarray of shape (n_features, c)
        Coefficients of the features, if the kernel is a FeatureWeighted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X was a data frame with string column names, or several tables: "table__column".
    support_ : ndarray of shape (n_support,)
        For "krr" all training samples; for "svr" those that are support vectors of some column.
    dual_coef_ : ndarray of shape (n_support,) or (n_support, c)
    intercept_ : float or ndarray of shape (c,)
    n_iter_ : int
        Steps of the solver; 1 for "krr".
    machine_ : KernelRidge, SupportVectorRegressor or NystromKernelRidge
    chosen_machine_ : {"krr", "svr", "nystrom"}

    Notes
    -----
    See `MKLClassifier` on centering, indefinite kernels and memory. "krr" needs ``K + alpha I`` to
    be positive definite after centering, so an indefinite kernel needs a large enough ``alpha``.
    Targets may have several columns: one kernel is learned for all, and one model per column. With
    kernels that are linear in the features, ridge regression with ``alpha > 0`` is solved in the
    features in use where they are fewer than the samples, without an (m, m) matrix.

    Examples
    --------
    One table and one kernel for each of two sources, one of which is unrelated to the target:

    >>> import numpy as np
    >>> from alignlearn import MKLRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = {"genes": rng.normal(size=(60, 3)), "noise": rng.normal(size=(60, 3))}
    >>> y = X["genes"] @ [1.0, -2.0, 0.5]
    >>> model = MKLRegressor({"genes": "linear", "noise": "linear"}, alpha=0.1).fit(X, y)
    >>> model.weights_.round(1).tolist(), model.score(X, y) > 0.9
    ([0.9, 0.1], True)
    """

    kernels: Any = field(default=None, kw_only=False)
    weighting: Any = "alignf"
    alpha: float = 1.0
    C: float = 1.0
    epsilon: float = 0.1
    machine: str = "auto"
    n_centers: int | None = None
    memory: int | str | None = None
    normalize: str | None = "trace"
    unbiased: bool = shared("unbiased")
    missing: str | None = shared("missing")
    tol: float = 1e-3
    max_iter: int | None = None
    verbose: Any = shared("verbose")
    device: str = shared("device")
    client: Any = shared("client")
    random_state: Any = shared("random_state")

    def fit(self, X, y, sample_weight=None) -> Self:
        """Learn the kernel and train the model.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Or a list of objects, a sparse matrix, p Gram matrices or several tables, as ``kernels``
            allows.
        y : array-like of shape (m,) or (m, c)
            Real, finite and not constant.
        sample_weight : array-like of shape (m,), optional
            Nonnegative. Both stages use it: an integer counts repetitions.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            Bad input; the message names the argument and what is accepted.

        Warns
        -----
        DegenerateKernelWarning
            No kernel is positively aligned with y: equal weights are used.
        ConvergenceWarning
            The solver stopped above ``tol``.
        """
        check_choice("machine", self.machine, ("auto", "krr", "svr", "nystrom"))
        memory = check_memory("memory", self.memory)
        self._untrained()  # checks its parameters, before the work
        prepared, source = self._opened(X, sample_weight)
        y = real_targets(self, y, source.n_samples, source.weight)
        learned = self._learn(prepared, source, y, "regression")
        choice = self._choice(learned, y, memory, self.machine)
        self.chosen_machine_ = choice.machine
        machine, predictor = self._train(learned, y, memory, choice)
        self.machine_ = machine
        self.support_ = _support(machine, learned)
        columns, intercept = _columns(machine, self.support_), predictor.intercept
        if y.ndim == 1:
            self.dual_coef_ = columns[:, 0]
            self.intercept_ = float(np.ravel(intercept)[0])
        else:
            self.dual_coef_, self.intercept_ = columns, intercept
        self.n_iter_ = int(np.max(getattr(machine, "n_iter_", 1)))
        self._predictor = self._taking_gaps(predictor, X, learned)
        return self

    def _untrained(self):
        """The requested machine; for "nystrom" it is made from the kernel."""
        if self.machine == "svr":
            options = {"tol": self.tol, "max_iter": self.max_iter}
            C = check_number("C", self.C, low=0.0, strict=True)
            return SupportVectorRegressor(C, self.epsilon, **options)
        strict = self.machine == "nystrom"
        return KernelRidge(check_number("alpha", self.alpha, low=0.0, strict=strict))

    def _choice(self, learned, y, memory, asked):
        """The machine for a combination, and its input."""
        machine = self._untrained()
        if asked == "svr":
            how = {"C": machine.C, "pilot": Pilot(learned, machine, y)}
        else:
            how = {"alpha": machine.alpha}
        sizes = sizes_of_different(learned, y if asked == "svr" else None)
        return choose("krr", sizes, memory, asked=asked, **how)

    def _train(self, learned, y, memory, choice=None):
        """The chosen machine on a combination, and its predictor."""
        if choice is None:
            choice = self._choice(learned, y, memory, self.chosen_machine_)
        machine, options = self._untrained(), {}
        if choice.machine == "nystrom":
            machine, options = nystrom_ridge(self, learned, y), {"exact": True}
        elif choice.machine == "svr":
            train_support_vectors(machine, choice.on, learned, y, memory)
        else:
            of_features = train_ridge(machine, y, learned.weight, choice.on, learned, memory)
            if of_features is not None:
                return machine, learned.linear_predictor(of_features, machine.intercept_)
        support = _support(machine, learned)
        given = support, _columns(machine, support), machine.intercept_
        return machine, learned.predictor(*given, **options)


def _support(machine, learned):
    """Samples with a dual coefficient; all of them for ridge regression."""
    return getattr(machine, "support_", np.arange(learned.n_samples))


def _columns(machine, support):
    """The dual coefficients with an axis of targets, even without support vectors."""
    return machine.dual_coef_.reshape(support.size, *(machine.dual_coef_.shape[1:] or (1,)))
