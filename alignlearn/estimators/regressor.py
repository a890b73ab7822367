"""Regression with a kernel learned by centered alignment: kernel ridge or epsilon-SVR."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from alignlearn.bounds import conformal
from alignlearn.machines import KernelRidge, SupportVectorRegressor
from alignlearn.machines.choice import Sizes, choose
from alignlearn.machines.gram_rows import Pilot, row_cache
from alignlearn.machines.scores import TargetScore
from alignlearn.validation import (
    check_choice,
    check_count,
    check_flag,
    check_memory,
    check_number,
    one_convergence_warning,
)

from ._machines import held_matrices, machine_note, nystrom_ridge, train_ridge
from .base import parameters, shared
from .error_bars import PredictionInterval, deviations, interval
from .inputs import real_targets
from .learner import linear_coefficients
from .model import KernelModel

if TYPE_CHECKING:
    from typing_extensions import Self


class KernelRegressor(TargetScore, KernelModel):
    """Base class of `MKLRegressor` and its search: parameters, predictions and guarantees."""

    _estimator_type = "regressor"

    epsilon: float
    tol: float
    max_iter: int | None
    random_state: Any

    support_: np.ndarray
    intercept_: Any

    coef_ = property(linear_coefficients)

    def bound(
        self,
        X=None,
        y=None,
        delta=0.05,
        *,
        held_out=False,
        label_range=None,
        radius2=None,
        fixed=None,
        draws=2000,
        random_state=None,
    ):
        """Upper bound of the expected squared error, from training or from held-out samples.

        Of ridge regression from its stability if the kernel was fixed before, and, given the
        training samples, from the complexity of all combinations of the kernels, for predictions
        clipped to the range of the labels. Of any machine from held-out samples, much smaller: by
        betting on the losses of the clipped predictions.

        Parameters
        ----------
        X, y : optional
            The training samples, as in ``fit``, for a bound that holds although the weights were
            learned on them; or, with ``held_out``, samples that played no part in it.
        delta : float in (0, 1), default 0.05
            The bound fails with probability at most ``delta``.
        held_out : bool, default False
        label_range : (low, high)
            Interval that contains all labels of the distribution; required, because a sample does
            not determine it.
        radius2 : float, optional
            Upper bound of ``K_k(x, x)`` over the distribution, for every kernel. Needed for kernels
            without a known maximum (that of a Gaussian is known); not for held-out samples.
        fixed : bool, optional
            Whether kernels and weights were chosen without the training samples. Default: only for
            equal weights with ``normalize=None`` and kernels given by numbers. Weights learned on
            the same samples have no stability, and without X, y only a vacuous bound is left. The
            bound from stability also needs an ``alpha`` that was chosen without the samples; of a
            search it is listed in ``not_met``.
        draws : int, default 2000
            Random vectors of signs by which the complexity is found.
        random_state : int, Generator or None
            Of these signs, or of the orders in which losses are taken.

        Returns
        -------
        RiskBound or, with ``held_out``, HeldOutBound
            ``value`` in units of y^2, ``method``, ``vacuous``, ``empirical_risk``, ``hypotheses``
            and those ``not_met``; the first also ``value_if_fixed``.

        Raises
        ------
        HypothesisNotMet
            A ValueError: for labels outside ``label_range`` or none given; without ``held_out`` for
            negative weights, indefinite kernels, or a diagonal that has no known bound.
        ValueError
            For several targets, an argument out of range, rows that ``fit`` has seen as held out;
            without ``held_out`` for "svr", ``alpha=0``, or other samples than those of ``fit``.
        """
        from .held_out import held_out_risk
        from .learned_bounds import risk_bound

        self._check_is_fitted()
        self._check_guarantee("bound", held_out)
        if (X is None) != (y is None):
            raise ValueError("bound: X and y must be given together.")
        if check_flag("held_out", held_out):
            if X is None:
                raise ValueError("held_out=True needs X and y, samples that are not those of fit.")
            return held_out_risk(self, X, y, delta, label_range, random_state)
        sample, seed = None if X is None else (X, y), (draws, random_state)
        return risk_bound(self, sample, delta, label_range, radius2, fixed, seed)

    if TYPE_CHECKING:

        @overload
        def predict(
            self,
            X,
            return_std: Literal[False] = ...,
            *,
            noise: bool = ...,
            fit: Any = ...,
            split: Literal[False] = ...,
        ) -> np.ndarray: ...

        @overload
        def predict(
            self, X, return_std: Literal[False] = ..., *, split: Literal[True]
        ) -> dict[str, np.ndarray]: ...

        @overload
        def predict(
            self, X, return_std: Literal[True], *, noise: bool = ..., fit: Any = ...
        ) -> tuple[np.ndarray, np.ndarray]: ...

    def predict(self, X, return_std=False, *, noise=False, fit=None, split=False):
        """Predictions for n samples, and their standard deviation as a Gaussian process.

        Parameters
        ----------
        X : as in ``fit``, n samples
        return_std : bool, default False
            Return the standard deviation, too. For ridge regression; see Notes.
        noise : bool, default False
            The standard deviation of a new observation of weight 1 rather than of the mean it is
            drawn around.
        fit : tuple (X, y) or (X, y, sample_weight), optional
            The training samples, which the model does not hold for kernels that are linear in the
            features, "nystrom" and fits with sample weights. Needed once: what is made of them is
            kept, but for copies and pickles.

        split : bool, default False
            Return the part of each table, or of each kernel where there are no tables or names.

        Returns
        -------
        ndarray of shape (n,), or (n, c) if y had columns
            With ``return_std`` a pair of such arrays, with ``split`` a dict of them by name, whose
            sum is the prediction; its last entry is "intercept".

        Raises
        ------
        ValueError
            ``return_std`` for "svr", ``per_target`` or precomputed kernels, which do not contain
            k(x, x) of new samples; ``fit`` is needed, or has other samples than the training
            samples.

        Notes
        -----
        The model is ``y_i = b + f(x_i) + e_i``: f a Gaussian process of covariance ``s^2 K`` with
        the learned kernel K, noise of variance ``s^2 alpha / w_i``, and any constant b alike (a
        flat prior). Its mean given y is the prediction. ``s^2`` is that of the largest restricted
        likelihood for each target, ``y'a / (m - 1)`` with the dual coefficients a and m samples of
        positive weight. Weights are precisions here and no numbers of repetitions: weights and
        ``alpha`` times a constant change no deviation of the mean. K and ``alpha`` are taken as if
        they had been known. They were chosen with the same y, which makes the
        deviations too small where there are many kernels and few samples: no guarantee holds for
        them. Of 100 kernels of one column each, 50 samples and a target of pure noise, 1.645
        deviations with noise cover 0.73 where the aim is 0.9 (60 fits). An average of machines
        is the mixture of their posteriors in equal parts: its variance is the mean of their
        variances plus the variance between their predictions. "nystrom": with the exact prior
        variance of a new sample, of which the centers explain only a part.

        The first call costs a factorization, O(m^3), each sample O(m^2).
        """
        if check_flag("split", split):
            if return_std or noise or fit is not None:
                raise ValueError("split=True goes with no other option of predict.")
            from .contributions import split_decisions

            return {name: self._shaped(part) for name, part in split_decisions(self, X).items()}
        if not check_flag("return_std", return_std):
            if check_flag("noise", noise) or fit is not None:
                raise ValueError("noise and fit go with return_std=True.")
            return self._shaped(self._decisions(X))
        return deviations(self, X, check_flag("noise", noise), fit)

    def predict_interval(
        self, X, coverage=0.9, *, folds=None, fit=None, refit=None
    ) -> PredictionInterval:
        """Return prediction intervals for n new samples, by conformal prediction.

        CV+ or the jackknife+: each training sample is left out, by itself or with its fold. The
        interval is made of the predictions without it, and of how far they were from its target.

        Parameters
        ----------
        X : as in ``fit``, n samples
        coverage : float in (0, 1), default 0.9
            Nominal share of targets in their intervals, for each column of y separately.
        folds : int, optional
            Leave out one of so many random folds of ``m // folds`` samples at a time (CV+) rather
            than one sample (jackknife+). The ``m % folds`` samples that remain belong to every
            training set. Default with refits: of 8 to 12 the number that leaves fewest samples
            over, 10 among equals; one sample at a time for ``m <= 20``. Else: one sample.
        fit : tuple (X, y), optional
            The training samples, which the model does not store for precomputed kernels, kernels
            linear in the features, "svr" and "nystrom", and for refits after a strategy. Needed
            once, as in ``predict``.
        refit : bool, optional
            Fit the whole model again without each part: kernels, weights, ``alpha`` and machine.
            False uses the kernel that was learned on all samples, in closed form. Default: refit
            where learning on all samples could cost coverage. That is for a search, for "svr", and
            for learned weights of p different kernels with ``p log p > m / 20``.

        Returns
        -------
        PredictionInterval
            ``low, high``, each of the shape of the predictions.

        Raises
        ------
        ValueError
            For ``per_target``, for "svr" with ``refit=False``, and fits with sample weights;
            ``fit`` is needed or holds other samples; an argument out of range.

        Warns
        -----
        DoubtfulResultWarning
            The training samples are too few, ``m < coverage / (1 - coverage)``: the intervals are
            infinite. Or ``refit=False`` where the default refits.

        Notes
        -----
        If samples are exchangeable, intervals from refits contain a new target with probability at
        least ``2 coverage - 1`` for every distribution and every rule of learning (jackknife+).
        With K folds of s samples the bound is lower by
        ``min(2 (1 - 1/K) / (s + 1), (1 - 1/s) / (K + 1))``. The theorem assumes equal folds, and
        the folds are equal: given the samples that belong to every training set, the others and s
        new samples are exchangeable. The probability is over the training samples and the new one.
        The usual coverage is ``coverage``. What kernels on named columns or tables take from
        samples, such as ``gamma="scale"``, is not taken again; it reads no targets.

        With ``refit=False`` nothing is proved where weights or ``alpha`` were learned. On targets
        that are pure noise the intervals of 100 kernels of one column each and 50 samples covered
        0.76 for an aim of 0.9, and those of 1000 kernels and 200 samples 0.69. Refits covered 0.90
        to 0.93 on 20 designs with up to five kernels per sample. Different kernels are counted by
        the eigenvalues above 0.1 of the matrix of alignments between kernels; of Gaussians of 30
        widths there are four. See docs/guide/error-bars.md.

        The first call costs the refits, or a factorization and an inverse, O(m^3); then each sample
        costs O(m^2), with ``folds`` O(m) for each fold.

        References
        ----------
        Barber, Candes, Ramdas and Tibshirani (2021), Predictive inference with the jackknife+,
        theorems 1 and 4.
        """
        coverage = conformal.check_coverage(coverage)
        folds = check_count("folds", folds)
        refit = refit if refit is None else check_flag("refit", refit)
        return interval(self, X, coverage, folds, fit, refit)

    def _shaped(self, values):
        """Columns (n, c) in the shape of predictions."""
        return values[:, 0] if np.ndim(self.intercept_) == 0 else values

    def _machine_note(self):
        given = self.chosen_machine_, len(self.support_), self.statistics_.n_samples
        yield machine_note(*given)


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
        "nystrom": number of these samples; default 1000.
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
        For the normalized kernels.
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
        With numbers for ``gamma="scale"``.
    statistics_ : AlignmentStatistics
        For the normalized kernels.
    result_ : WeightResult
        Result of stage 1 with its certificate and diagnostics.
    coef_ : ndarray of shape (n_features, c)
        Where the kernel is a FeatureWeighted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X was a data frame with string column names, or several tables: "table__column".
    support_ : ndarray of shape (n_support,)
        For "krr" all training samples; for "svr" those that are support vectors of some column.
    dual_coef_ : ndarray of shape (n_support,) or (n_support, c)
    intercept_ : float or ndarray of shape (c,)
    n_iter_ : int
        Steps of the machine; 1 for "krr".
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
    A table and a kernel for each of two sources, of which one says nothing of the target:

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

    @one_convergence_warning
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
            Nonnegative. Both stages use it, as in `MKLClassifier`: an integer counts repetitions.

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

        def targets_of(source):
            return real_targets(self, y, source.n_samples, source.weight)

        learned, y = self._learn(X, targets_of, "regression", sample_weight)
        choice = self._choose(learned, y, memory)
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

    def _matrices(self, source):
        return held_matrices(self.machine, "krr", source, self.memory)

    def _untrained(self):
        """The machine that is asked for; the one for "nystrom" is made of the kernel."""
        if self.machine == "svr":
            options = {"tol": self.tol, "max_iter": self.max_iter}
            C = check_number("C", self.C, low=0.0, strict=True)
            return SupportVectorRegressor(C, self.epsilon, **options)
        strict = self.machine == "nystrom"
        return KernelRidge(check_number("alpha", self.alpha, low=0.0, strict=strict))

    def _choose(self, learned, y, memory):
        """Choose the machine; also returns what it works on."""
        choice = self._choice(learned, y, memory, self.machine)
        self.chosen_machine_ = choice.machine
        return choice

    def _choice(self, learned, y, memory, asked):
        """The machine for a combination, and what it works on."""
        machine, sizes = self._untrained(), Sizes.of(learned)
        if asked == "svr":
            how = {"C": machine.C, "pilot": Pilot(learned, machine, y)}
        else:
            how = {"alpha": machine.alpha}
        return choose("krr", sizes, memory, asked=asked, **how)

    def _train(self, learned, y, memory, choice=None):
        """The chosen machine on a combination, and its predictor."""
        if choice is None:
            choice = self._choice(learned, y, memory, self.chosen_machine_)
        machine, options, weight = self._untrained(), {}, learned.weight
        if choice.machine == "nystrom":
            machine, options = nystrom_ridge(self, learned, y), {"exact": True}
        elif choice.machine == "svr":
            rows = row_cache(learned, memory) if choice.on == "rows" else learned.gram()
            machine.fit(rows, y, weight, check=False)
        else:
            of_features = train_ridge(machine, choice.on, learned, y, memory)
            if of_features is not None:
                return machine, learned.linear_predictor(of_features, machine.intercept_)
        support = _support(machine, learned)
        given = support, _columns(machine, support), machine.intercept_
        return machine, learned.predictor(*given, **options)


def _support(machine, learned):
    """Samples with a dual coefficient; all of them for ridge regression."""
    return getattr(machine, "support_", np.arange(learned.n_samples))


def _columns(machine, support):
    """The dual coefficients with an axis of targets, also where no sample is a support vector."""
    return machine.dual_coef_.reshape(support.size, *(machine.dual_coef_.shape[1:] or (1,)))
