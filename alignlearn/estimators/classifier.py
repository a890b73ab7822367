"""Classification with a kernel learned by centered alignment and a support vector machine."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn.machines import LeastSquaresClassifier, SupportVectorClassifier
from alignlearn.machines.choice import Sizes, choose
from alignlearn.machines.feature_space import WeightedFeatures, fit_classifier
from alignlearn.machines.gram_rows import Pilot, row_cache
from alignlearn.machines.scores import LabelScore
from alignlearn.solvers.multiclass import predicted_labels
from alignlearn.validation import (
    check_choice,
    check_flag,
    check_memory,
    check_number,
    one_convergence_warning,
)

from . import inputs, per_label
from ._calibrated import AUTO, calibrate_on_folds, check_probability, class_sets, probabilities
from ._machines import (
    held_matrices,
    linear_classifier,
    machine_note,
    nystrom_classifier,
    train_ridge,
)
from .base import parameters, shared, svm_options
from .learner import linear_coefficients
from .model import KernelModel

if TYPE_CHECKING:
    from typing_extensions import Self


MACHINES = "auto", "svm", "krr", "dual-cd", "nystrom"


class KernelClassifier(LabelScore, KernelModel):
    """Base class of `MKLClassifier` and its search: parameters, predictions and guarantees."""

    _estimator_type = "classifier"

    multiclass: str
    class_weight: Any
    tol: float
    max_iter: int | None
    random_state: Any
    probability: str | None
    per_label: bool

    classes_: np.ndarray
    models_: tuple
    support_: np.ndarray
    machine_: Any
    _uncalibrated: str

    coef_ = property(linear_coefficients)

    @property
    def alignment_interval_(self):
        """95 % confidence interval for the population alignment of the learned kernel.

        It accounts for weights learned on the same samples by a union bound over the kernels, in
        closed form from the fitted attributes. An `AlignmentInterval` with ``low``, ``high``,
        ``vacuous``, ``method``, its assumptions (``hypotheses``), and the assumptions known to be
        ``not_met``. Other levels: `alignlearn.estimators.alignment_intervals.learned_interval`; a
        shorter interval: ``alignment_interval``, which takes samples.
        """
        from .alignment_intervals import learned_interval

        self._check_is_fitted()
        self._check_guarantee("alignment_interval_")
        return learned_interval(self)

    def alignment_interval(self, X, y, delta=0.05, *, held_out=False, radius2=None, random_state=0):
        """Confidence interval for the population alignment of the learned kernel, by betting.

        Parameters
        ----------
        X, y
            The training samples, as in ``fit``; or, with ``held_out``, samples not used in ``fit``.
        delta : float in (0, 1), default 0.05
        held_out : bool, default False
            False: a union bound over the kernels and their pairs accounts for weights learned on
            these samples. True: no union bound is needed, and the interval is shorter for the same
            number of samples.
        radius2 : float, optional
            Upper bound of ``K_k(x, x)`` over the distribution, for every kernel. Required for
            kernels without a known maximum. (That of a Gaussian is known.)
        random_state : int, Generator or None, default 0
            Seed of the random orders, to be chosen without looking at the result.

        Returns
        -------
        AlignmentInterval

        Raises
        ------
        ValueError
            For more than two classes, other samples than those of ``fit`` without ``held_out``,
            training rows with it (parts of precomputed kernels cannot be recognized), or
            an argument out of range.

        Notes
        -----
        One Gram matrix (m, m) is held at a time.
        """
        from .alignment_intervals import sample_interval

        self._check_is_fitted()
        self._check_guarantee("alignment_interval", held_out)
        return sample_interval(self, X, y, delta, held_out, radius2, random_state)

    def bound(
        self, X, y, delta=0.05, *, held_out=False, radius2=None, draws=2000, random_state=None
    ):
        """Upper bound of the error probability, from training or from held-out samples.

        From training samples it holds although the weights were learned on them, for two classes:
        it is the smaller of a margin bound by Rademacher complexity and a PAC-Bayes bound, each
        simultaneously for all nonnegative kernel weights, all C and all norms. From held-out
        samples it is the exact binomial bound, which is much smaller.

        Parameters
        ----------
        X, y
            The training samples, as in ``fit``; or, with ``held_out``, samples not used in ``fit``.
        delta : float in (0, 1), default 0.05
            The bound fails with probability at most ``delta``.
        held_out : bool, default False
        radius2 : float, optional
            Upper bound of ``K_k(x, x)`` over the distribution, for every kernel. Needed for kernels
            without a known maximum (that of a Gaussian is known); not for held-out samples.
        draws : int, default 2000
            Number of random sign vectors that estimate the complexity.
        random_state : int, Generator or None
            Of these signs.

        Returns
        -------
        ErrorBound or, with ``held_out``, HeldOutBound
            ``value``, ``empirical_risk``, ``vacuous``, ``hypotheses`` and those ``not_met``; the
            first also ``by_margin`` and ``by_random_predictors``, the second ``method``.

        Raises
        ------
        HypothesisNotMet
            A ValueError: without ``held_out``, for negative weights, indefinite kernels, or a
            kernel whose diagonal has no known bound.
        ValueError
            Without ``held_out`` for more than two classes or other samples than those of ``fit``,
            with it for rows that ``fit`` has seen; for an argument out of range.

        Notes
        -----
        Without ``held_out`` it evaluates all kernels on all pairs of samples, and their products
        with the random signs cost ``draws`` times that many multiplications.
        """
        from .held_out import held_out_error
        from .learned_bounds import error_bound

        self._check_is_fitted()
        self._check_guarantee("bound", held_out)
        if check_flag("held_out", held_out):
            return held_out_error(self, X, y, delta)
        if self.chosen_machine_ == "nystrom":
            raise ValueError("bound: only for machine='svm', or held-out samples.")
        return error_bound(self, X, y, delta, radius2, draws, random_state)

    def decision_function(self, X) -> np.ndarray:
        """Confidence of each class.

        Parameters
        ----------
        X : as in ``fit``, n samples

        Returns
        -------
        ndarray of shape (n,) or (n, c)
            For two classes positive for ``classes_[1]``; otherwise one column per class, with
            "ovo" its votes plus the summed decisions squeezed into (-1/3, 1/3). Of many labels
            (n, c), positive for 1; -1 or 1 for a label that was constant in ``fit``.
        """
        if "models_" in vars(self):
            return per_label.decisions(self, X)
        raw = self._decisions(X)
        return self.machine_.confidences(raw)

    def __sklearn_is_fitted__(self):
        return "models_" in vars(self) or super().__sklearn_is_fitted__()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _check_one_label(self, what):
        """Raise where a fit has many labels."""
        self._check_is_fitted()
        if self.classes_.ndim == 2:
            per_label.refuse(what, "models_" in vars(self))

    def _check_guarantee(self, what, held_out=False):
        self._check_one_label(what)
        super()._check_guarantee(what, held_out)

    def _kernel_weights(self):
        if "models_" not in vars(self):
            return super()._kernel_weights()
        return self.weights_.mean(axis=1), f", means over {len(self.models_)} labels"

    def _check_table(self, X):
        if "models_" in vars(self):
            self._check_one_label("kernel_table")

    def summary(self, max_rows=30) -> str:
        """The learned combination as a text table; with ``per_label`` a line for each label.

        Parameters
        ----------
        max_rows : int, default 30
            With more kernels than this, those of the largest shares are shown; the first labels.

        Returns
        -------
        str
            A line per kernel: its own alignment with the target, its weight, and its share
            ``w_k a_k / sum_l w_l a_l`` of the combined kernel's inner product with the target
            (shares sum to 1). Then the alignment of the combination and of equal weights.
        """
        self._check_is_fitted()
        if "models_" in vars(self):
            return per_label.summary(self, max_rows)
        return super().summary(max_rows)

    def predict(self, X) -> np.ndarray:
        """Label of the largest confidence for each of n samples, shape (n,).

        Of many labels 0 and 1, shape (n, c).
        """
        return predicted_labels(self.decision_function(X), self.classes_)

    @property
    def predict_proba(self):
        """``predict_proba(X)``: probability of each class, in the order of ``classes_``, (n, c).

        Of many labels the probability of 1 for each, (n, c), as of scikit-learn's
        ``OneVsRestClassifier``; else rows sum to 1. Not where ``probability`` was None in ``fit``.
        The largest one need not be
        that of ``predict``, which is the machine's decision; with "temperature" it is.
        """
        if self.probability is None:
            raise AttributeError(
                f"this {type(self).__name__} has no predict_proba, as probability=None; set "
                "probability='sigmoid' or 'isotonic' before fit."
            )
        if self.probability == AUTO and vars(self).get("_uncalibrated"):
            raise AttributeError(
                f"this {type(self).__name__} has no predict_proba, as {self._uncalibrated}; give "
                "folds whose training sets have every class as cv."
            )
        return self._predict_proba

    def _predict_proba(self, X):
        if "models_" in vars(self):
            return per_label.label_probabilities(self, X)
        return probabilities(self, X)

    _predict_proba.__name__ = "predict_proba"  # scikit-learn's stacking reads it

    def predict_set(self, X, coverage=0.9, *, per_class=False, fit=None, refit=None):
        """Prediction sets of classes for n new samples, by conformal prediction.

        For fits with ``probability``. The decisions on held-out folds determine the sets.

        Parameters
        ----------
        X : as in ``fit``, n samples
        coverage : float in (0, 1), default 0.9
            Nominal share of samples whose class is in its set.
        per_class : bool, default False
            Whether the coverage should hold within every class, also a rare one.
        fit : tuple (X, y), optional
            The training samples, for refits. Needed once: the refits are kept, but for copies and
            pickles.
        refit : bool, optional
            Fit the whole model again, calibration included, without each of about ten folds, as in
            `MKLRegressor.predict_interval`. Default: after a strategy.

        Returns
        -------
        ndarray of bool of shape (n, c)
            Columns as ``classes_``. The most probable class is always in the set.

        Raises
        ------
        ValueError
            The fit had no ``probability``, or had sample weights; ``fit`` is needed or holds other
            samples; an argument is out of range.

        Warns
        -----
        DoubtfulResultWarning
            The training samples, or those of a class, are too few: sets hold all classes, or it.
            Or ``refit=False`` where the default refits.

        Notes
        -----
        With refits the guarantee is that of `MKLRegressor.predict_interval`: coverage of at least
        ``2 coverage - 1``, less the term of its folds, for every distribution.

        Without refits the models of the five folds of the fit are used. A class is in the set where
        not too many samples had, by the model that left them out, a larger share of the softmax of
        the decisions at their class than the new sample has at this class by the same model (CV+).
        Models and weights of kernels are learned without the fold. The calibration has seen the
        decisions on all folds, and so its probabilities are not compared; `MKLClassifierCV` has
        chosen C on all samples. After a strategy there are no models of folds, and decisions on
        folds are compared with the model of all samples: there is no guarantee.

        Measured without refits for an aim of 0.9 (three classes, 400 new samples for each of 60 to
        100 fits, three Gaussians; the smallest mean coverage over three distributions): "sigmoid"
        0.90 for m = 30 and 0.91 for m = 60, "isotonic" 0.91 for m = 60 and 120, "temperature" 0.90
        for m = 60. Standard errors are 0.004 to 0.008. The page "How often guarantees miss" of the
        guide has miss rates on ten designs with two and three classes.

        References
        ----------
        Romano, Sesia and Candes (2020), Classification with valid and adaptive coverage; Vovk
        (2015), Cross-conformal predictors.
        """
        self._check_one_label("predict_set")
        return class_sets(self, X, coverage, per_class, fit, refit)

    def _machine_note(self):
        given = self.chosen_machine_, len(self.support_), self.statistics_.n_samples
        yield machine_note(*given)


@parameters
class MKLClassifier(KernelClassifier):
    """Support vector classifier with a kernel learned by centered alignment.

    Stage 1 learns the weights of the kernels from their alignment with the labels, in one pass over
    pairs of samples without storing Gram matrices. Stage 2 trains a C-SVC on the weighted sum.

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
        column names) mean a linear kernel on them. See the notes on several tables.
    weighting : str or object, default "alignf"
        Two-stage, from streamed alignment: "uniform", "align", "alignf", "alignf-linear",
        "align-lq", or an object with a method ``solve(statistics)``. Unsupervised: "consensus",
        "max-entropy" and "structure", see `Consensus`, `MaxEntropy` and `Structure`. By margins of
        one solution: "easymkl", see `EasyMKL`. One-stage,
        holding p Gram matrices: "lkrr", "l1-svm", "aligned-krr" with this estimator's C (or alpha,
        epsilon, multiclass), or an object such as `LKRR` with a method ``solve_grams``. The SVM is
        then trained on the resulting kernel, whose weights keep the scale of their problem.
    C : float, default 1.0
        Cost of margin violations, > 0; ``numpy.inf`` for a hard margin.
    machine : {"auto", "svm", "krr", "dual-cd", "nystrom"}, default "auto"
        "svm": on all pairs of samples. "krr": regularized least-squares classification, which is
        kernel ridge regression on labels of -1 and 1 with alpha = 1 / (2 C); it often ranks samples
        better where classes are unbalanced or overlap. "nystrom": the problem of "svm" in the span
        of the kernel at few samples, solved to a duality gap of 1% as in `NystromSVC`; of
        precomputed kernels, also in a file, it reads only the rows of these samples. "dual-cd": for
        kernels linear in the features, without an intercept, by dual coordinate descent on these
        (less their means if dense) as in `LinearSVM`. "auto": "svm" up to 20,000 samples, and above
        them where two small pilots predict few enough support vectors for the time and ``memory``.
        ``chosen_machine_`` and ``summary()`` name the choice.
    n_centers : int, optional
        "nystrom": number of these samples; default 1000.
    memory : int, str or None, default None
        Bytes for kernel values, or a string such as "2GB". Default: half of the free memory. "svm":
        where the Gram matrix does not fit, or few samples become support vectors, its rows are
        computed when the solver needs them, to the same ``tol``; a hard margin needs the matrix.
    multiclass : {"ovo", "ovr"}, default "ovo"
    class_weight : None, "balanced", dict or list, default None
        Class weights of the model; stage 1 does not use them. With many labels, one for all labels
        (a dict has the keys 0 and 1), or a list with one entry per label.
    per_label : bool, default False
        With many labels: learn a kernel and a model for each label, instead of one kernel for all.
    probability : {"sigmoid", "isotonic", "temperature"} or None, default None
        How ``predict_proba`` turns decisions into probabilities; None: there is none. See Notes.
    normalize : {"trace"} or None, default "trace"
        Scale every centered kernel to trace m before stage 1.
    tol : float, default 1e-3
        Maximum KKT violation of "svm" and "dual-cd"; not used by "nystrom".
    max_iter : int, optional
        Maximum number of steps of "svm" for each pair of classes, or of passes of "dual-cd" and
        "nystrom".
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
        The learned kernel: ``kernel_(X, Y)`` is a Gram matrix, usable as ``SVC(kernel=...)``. A
        FeatureWeighted for RankOneKernels and linear kernels; a function of p matrices for
        "precomputed".
    alignment_, uniform_alignment_ : float
        Centered alignment of the learned and of the uniform combination with the labels.
    kernel_alignments_ : ndarray of shape (p,)
    kernels_ : list of Kernel
        With numbers for ``gamma="scale"``.
    statistics_ : AlignmentStatistics
        For the normalized kernels.
    result_ : WeightResult
        Result of stage 1 with its certificate and diagnostics.
    classes_ : ndarray of shape (c,)
        With many labels, shape (c, 2): 0 and 1, or twice the value of a constant label.
    models_ : tuple of MKLClassifier or None
        With ``per_label``, the model of each label; None for a constant label. ``weights_`` then
        has shape (p, c), with zeros for constant labels, ``alignment_`` and ``uniform_alignment_``
        have shape (c,), and only the models have the other attributes.
    support_ : ndarray of shape (n_support,)
    dual_coef_ : ndarray of shape (n_support, n_problems)
    intercept_ : ndarray of shape (n_problems,)
    coef_ : ndarray of shape (n_features, n_problems)
        Where the kernel is a FeatureWeighted.
    n_iter_ : ndarray of shape (n_problems,)
    machine_ : SupportVectorClassifier, LeastSquaresClassifier, LinearSVM or NystromHinge of \
`alignlearn.machines`
    chosen_machine_ : {"svm", "krr", "dual-cd", "nystrom"}
    calibration_ : Calibration or None
        The calibration of the decisions in ``predict_proba``.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X was a data frame with string column names, or several tables: "table__column".
    table_names_in_ : tuple of str
        If X was several tables, or precomputed matrices with names.
    sample_numbers_in_, n_stacked_in_ : ndarray of shape (m,), int
        If X was precomputed matrices with names: sample numbers in the stack, and its size.
    sample_labels_in_ : ndarray
        If X was precomputed matrices with row labels: the labels of the samples of the stack.

    Notes
    -----
    Several tables. X may be a dict or list of matrices of the same samples (arrays, data frames,
    sparse), or `Tables` of them, which scikit-learn's cross-validation and searches can index. Each
    kernel then uses one table: a dict of ``kernels`` has the names of the tables as keys, and any
    other ``kernels`` apply to every table. Kernels with `Columns` are an exception: they select
    from the columns of all tables side by side. New samples are tables, too, found by their names.
    Rows of data frames, of y and of weights are matched by their index: rows in another order are
    brought to the order of the first table, also by ``predict``, and different labels raise an
    error. For "precomputed" kernels, a dict of matrices, or a `GramStack` that can be indexed, has
    names in the same way. `summary` has sums for each name, `kernel_table` and `contributions` with
    ``groups="columns"``. `TableTransformer` in a pipeline scales or reduces every table by itself.
    ``missing`` allows missing tables.

    Data frames. With the default kernels a frame of pandas, polars or Arrow is prepared as by
    `TablePreparer`, on the training samples: numbers, categories, strings, booleans, dates and
    missing values become features of comparable scale. New samples are frames whose columns are
    found by their names; ``preparation_`` holds the learned preparation, and ``kernel_`` and
    ``kernels_`` are kernels on the prepared features. A frame of finite numbers whose columns have
    numbers for names is a matrix. With custom ``kernels``, the values of a frame must be accepted
    by these kernels.

    Many labels. y of shape (m, c) with 0 and 1, as scikit-learn's label indicators, is fitted with
    one kernel for all labels, aligned with ``YY'`` of the centered columns of y, and an SVM for
    each label. Labels that are 1 for about half of the samples dominate ``YY'``; ``per_label=True``
    learns a kernel for each. A constant label needs no model, and its value is predicted.
    ``predict`` is (n, c) of 0 and 1, and ``score`` the subset accuracy. Bounds, intervals and
    contributions are for one label.

    Centering. The SVM is trained on the uncentered Gram matrix. Since its dual coefficients sum to
    0, the decisions are those of the centered Gram matrix with another intercept. For the same
    reason constants are dropped from kernels near 1.

    Indefinite kernels (TL1, Log, Sigmoid, matrices marked ``is_psd=False``) are accepted without a
    warning. The SVM then stops at a stationary point, as LIBSVM does; ``kernel_.is_psd`` and
    ``summary()`` report it. Precomputed matrices without ``is_psd=False`` or ``fix`` (see
    `Precomputed`) must be positive semidefinite: ``K + t I`` must have a Cholesky factor for t =
    1e-8 times the mean diagonal (1e-4 for float32).

    Sample weights are repetitions: an integer weight is equivalent to that many copies of the
    sample, and 0 to omitting it. One-stage rules support them, except for objects without the
    attribute ``sample_weights``.

    Probabilities are those of scikit-learn's ``CalibratedClassifierCV(ensemble=False)``: a sigmoid
    with Platt's targets or a non-decreasing function for each class, or with "temperature" one
    slope for all classes, fitted to decisions on five folds (fewer where a class has fewer samples)
    of models trained on the others. Kernel weights are learned on each training set, all of them
    from one more pass over the pairs. ``predict`` still uses the decisions of the SVM, so that
    ``class_weight`` keeps its meaning; it may differ from the most probable class. "isotonic" needs
    a thousand samples or more. The models of the folds are kept for ``predict_set``, so a pickle is
    four to five times as large.

    Memory in ``fit``: one (m, m) matrix, if it fits ``memory``, for up to 3000 samples or if a
    pilot fit predicts that at least half of the samples become support vectors. Otherwise rows are
    computed in blocks and active ones kept, with the same ``tol``; only a hard margin and one-stage
    rules need the matrix. Kernels that are linear in the features need no matrix if few features
    are in use (at most m / 25, m >= 2000): an interior point method then solves the same problem
    with the same ``tol``. A fitted estimator holds support samples and coefficients.

    With weighting="uniform", normalize=None and at least 1000 samples, nothing depends on the
    alignment. It is computed when ``alignment_``, ``statistics_`` or a similar attribute is first
    read, or the estimator is pickled, from a copy of the samples that is held until then.

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2012), Algorithms for learning kernels based on centered
    alignment, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, Linear, MKLClassifier
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.where(np.linalg.norm(X, axis=1) < 1.1, "inner", "outer")
    >>> model = MKLClassifier([Gaussian(0.5), Linear()]).fit(X, y)
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]]).tolist()
    ['inner', 'outer']
    >>> model.weights_.round(1).tolist()  # a line cannot separate the classes
    [1.0, 0.0]
    >>> bool(model.alignment_ >= model.uniform_alignment_)
    True

    Two labels of each sample, and a kernel for each label:

    >>> labels = np.c_[y == "inner", X[:, 0] > 0.0].astype(int)
    >>> model = MKLClassifier([Gaussian(0.5), Linear()], per_label=True).fit(X, labels)
    >>> model.predict([[0.1, 0.0], [-2.0, 2.0]]).tolist()
    [[1, 1], [0, 0]]
    >>> model.weights_[1].round(1).tolist()  # of the linear kernel, for each label
    [0.0, 0.4]
    """

    kernels: Any = field(default=None, kw_only=False)
    weighting: Any = "alignf"
    C: float = 1.0
    machine: str = "auto"
    n_centers: int | None = None
    memory: int | str | None = None
    multiclass: str = "ovo"
    class_weight: Any = None
    per_label: bool = False
    probability: str | None = None
    normalize: str | None = "trace"
    unbiased: bool = shared("unbiased")
    missing: str | None = shared("missing")
    tol: float = 1e-3
    max_iter: int | None = None
    verbose: Any = shared("verbose")
    device: str = shared("device")
    client: Any = shared("client")
    random_state: Any = shared("random_state")

    def _matrices(self, source):
        return held_matrices(self.machine, "svm", source, self.memory)

    def _machine(self, C):
        if self.machine == "krr":
            how = {"multiclass": self.multiclass, "class_weight": self.class_weight}
            return LeastSquaresClassifier(C, **how)
        return SupportVectorClassifier(C, **svm_options(self))

    @one_convergence_warning
    def fit(self, X, y, sample_weight=None) -> Self:
        """Learn the kernel and train the classifier.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Or a list of objects, a sparse matrix, p Gram matrices or several tables, as ``kernels``
            allows.
        y : array-like of shape (m,) or (m, c)
            Labels of one type, with at least two classes; or many labels of 0 and 1.
        sample_weight : array-like of shape (m,), optional
            Nonnegative, positive for some sample of every class. Both stages use it; see Notes.

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
            No kernel is positively aligned with the labels: equal weights are used.
        ConvergenceWarning
            The SVM stopped above ``tol``.
        """
        probability = check_probability(self.probability)
        check_choice("machine", self.machine, MACHINES)
        memory = check_memory("memory", self.memory)
        if check_flag("per_label", self.per_label):
            return per_label.fit_labels(self, X, y, sample_weight)
        self._forget("models_")

        def labels_of(source):
            weight = source.weight
            return inputs.class_labels(self, y, source.n_samples, weight=weight, many=True)

        learned, labels = self._learn(X, labels_of, "classification", sample_weight)
        choice = self._choose(learned, labels, memory)
        self.machine_, predictor = self._train(learned, labels, memory, choice)
        self.calibration_, self._fold_predictors = None, ()
        if probability is not None:
            found = calibrate_on_folds(self, learned.source, labels, memory)
            self.calibration_, self._fold_predictors = found
        self.intercept_ = predictor.intercept
        self.classes_ = self.machine_.classes_
        self.support_ = self.machine_.support_
        self.dual_coef_ = self.machine_.dual_coef_
        self.n_iter_ = self.machine_.n_iter_
        self._predictor = self._taking_gaps(predictor, X, learned)
        return self

    def _choose(self, learned, labels, memory):
        """Choose the machine; also returns what it works on."""
        choice = self._choice(learned, labels, memory, self.machine)
        self.chosen_machine_ = choice.machine
        return choice

    def _choice(self, learned, labels, memory, asked):
        """The machine for a combination, and what it works on."""
        C = check_number("C", self.C, low=0.0, strict=True, finite=False)
        if asked == "krr":
            return choose("krr", Sizes.of(learned), memory, alpha=self._machine(C).alpha)
        pilot = Pilot(learned, self._machine(C), labels)
        return choose("svm", Sizes.of(learned), memory, asked=asked, C=C, pilot=pilot)

    def _train(self, learned, labels, memory, choice=None):
        """The chosen machine on a combination, and its predictor."""
        if choice is None:
            choice = self._choice(learned, labels, memory, self.chosen_machine_)
        machine, exact = self._machine(self.C), {}
        if choice.machine == "nystrom":
            machine, exact = nystrom_classifier(self, learned, labels, memory), {"exact": True}
        elif choice.machine == "dual-cd":
            machine = linear_classifier(self, learned, labels)
        elif choice.machine == "krr":
            targets, weight = machine.targets(labels, learned.weight)

            def fit(ridge, columns, w):
                train_ridge(ridge, choice.on, learned, columns, memory, w)

            machine.store(machine.fit_columns(fit, targets, weight))
        elif choice.on == "features":
            fit_classifier(machine, WeightedFeatures(learned).dense(), labels, learned.weight)
        else:
            rows = row_cache(learned, memory) if choice.on == "rows" else learned.gram()
            machine.fit(rows, labels, learned.weight, check=False)
        coef = machine.support_, machine.dual_coef_, machine.intercept_
        return machine, learned.predictor(*coef, **exact)
