"""Classification with a kernel learned by centered alignment and a support vector machine."""

from __future__ import annotations

from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any

from alignlearn._pairs import Coefficients, stored_coefficients
from alignlearn.machines import LeastSquaresClassifier, SupportVectorClassifier
from alignlearn.machines.choice import choose
from alignlearn.machines.copies import sizes_of_different
from alignlearn.machines.feature_space import WeightedFeatures, fit_classifier
from alignlearn.machines.gram_rows import Pilot
from alignlearn.machines.paths import coefficients_for
from alignlearn.validation import (
    check_choice,
    check_flag,
    check_memory,
    check_number,
)

from . import inputs, per_label
from ._calibrated import calibrate_on_folds, check_probability
from ._machines import (
    linear_classifier,
    nystrom_classifier,
    train_ridge,
    train_support_vectors,
)
from .base import parameters, shared, svm_options
from .kernel_classifier import KernelClassifier

if TYPE_CHECKING:
    from typing_extensions import Self


MACHINES = "auto", "svm", "krr", "dual-cd", "nystrom"


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
        "nystrom": number of centers, the samples that span the model; default 1000.
    memory : int, str or None, default None
        Bytes for kernel values, or a string such as "2GB". Default: half of the free memory. "svm":
        where the Gram matrix does not fit, or few samples become support vectors, its rows are
        computed when the solver needs them, to the same ``tol``; a hard margin needs the matrix.
        By default, features of centers take at most 0.7 GB and are computed again where they need
        more; a larger ``memory`` stores them.
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
        Weights of the normalized kernels.
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
        The kernels, with numbers in place of ``gamma="scale"``.
    statistics_ : AlignmentStatistics
        Statistics of the normalized kernels.
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
        Coefficients of the features, if the kernel is a FeatureWeighted.
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
    Rows of data frames, of y and of weights are matched by their index, also in ``predict``. Rows
    in another order are reordered as in the first table, and different index labels raise an error.
    For "precomputed" kernels, a dict of matrices, or a `GramStack` that can be indexed, has names
    in the same way. `summary` has sums for each name, `kernel_table` and `contributions` with
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
    an SVM for each label. All labels have one kernel, which is aligned with ``YY'`` of the centered
    columns of y. Labels that are 1 for about half of the samples dominate ``YY'``;
    ``per_label=True`` learns a kernel for each. A constant label needs no model, and its value is
    predicted. ``predict`` is (n, c) of 0 and 1, and ``score`` the subset accuracy. Bounds,
    intervals and contributions are for one label.

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

    Probabilities are those of scikit-learn's ``CalibratedClassifierCV(ensemble=False)``: for each
    class a sigmoid with Platt's targets or a non-decreasing function, or with "temperature" one
    slope for all classes. They are fitted to decisions on five folds (fewer if a class has fewer
    samples) of models trained on the other folds. Kernel weights are learned on each training set,
    all of them from one more pass over the pairs. ``predict`` still uses the decisions of the SVM,
    so that ``class_weight`` keeps its meaning; it may differ from the most probable class.
    "isotonic" needs a thousand samples or more. The models of the folds are kept for
    ``predict_set``, so a pickle is four to five times as large.

    Memory in ``fit``: one (m, m) matrix, if it fits ``memory``, for up to 3000 samples or if a
    pilot fit predicts that at least half of the samples become support vectors. Otherwise rows are
    computed in blocks and active ones kept, with the same ``tol``; only a hard margin and one-stage
    rules need the matrix. Kernels that are linear in the features need no matrix if at most m / 25
    features are used and m >= 2000. An interior point method then solves the same problem with the
    same ``tol``. A fitted estimator holds support samples and coefficients.

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

    dual_coef_ = Coefficients()

    def _machine(self, C):
        if self.machine == "krr":
            how = {"multiclass": self.multiclass, "class_weight": self.class_weight}
            return LeastSquaresClassifier(C, **how)
        return SupportVectorClassifier(C, **svm_options(self))

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
        *given, labels = self._checked(X, y, sample_weight)
        learned = self._learn(*given, labels, "classification")
        choice = self._choice(learned, labels, memory, self.machine)
        self.chosen_machine_ = choice.machine
        self.machine_, predictor = self._train(learned, labels, memory, choice)
        self.calibration_, self._fold_predictors = None, ()
        if probability is not None:
            found = calibrate_on_folds(self, learned.source, labels, memory)
            self.calibration_, self._fold_predictors = found
        return self._store_machine(X, learned, predictor)

    def _fit_with(self, partner, X, y, sample_weight=None) -> Self:
        """Fit this model and a partner that differs in its machine only, on the same kernel.

        Neither is calibrated.
        """
        memory = check_memory("memory", self.memory)
        *given, labels = self._checked(X, y, sample_weight)
        learned, own = self._learn(*given, labels, "classification"), self._parameters()
        vars(partner).update((name, value) for name, value in vars(self).items() if name not in own)
        for model in (self, partner):
            choice = model._choice(learned, labels, memory, model.machine)
            model.chosen_machine_ = choice.machine
            model.machine_, predictor = model._train(learned, labels, memory, choice)
            model.calibration_, model._fold_predictors = None, ()
            model._store_machine(X, learned, predictor)
        return self

    def _checked(self, X, y, sample_weight):
        """Start a fit: X prepared, its source, and the checked labels."""
        self._forget("models_")
        X, source = self._opened(X, sample_weight)
        labels = inputs.class_labels(self, y, source.n_samples, weight=source.weight, many=True)
        return X, source, labels

    def _store_machine(self, X, learned, predictor):
        """Store the fitted attributes of ``machine_``, and the predictor; return the model."""
        self.intercept_ = predictor.intercept
        self.classes_ = self.machine_.classes_
        self.support_ = self.machine_.support_
        self.dual_coef_ = stored_coefficients(self.machine_)
        self.n_iter_ = self.machine_.n_iter_
        self._predictor = self._taking_gaps(predictor, X, learned)
        return self

    def _choice(self, learned, labels, memory, asked):
        """The machine for a combination, and its input."""
        C = check_number("C", self.C, low=0.0, strict=True, finite=False)
        if asked == "krr":
            how = {"asked": asked, "alpha": self._machine(C).alpha}
            return choose("krr", sizes_of_different(learned), memory, **how)
        how = {"asked": asked, "C": C, "pilot": Pilot(learned, self._machine(C), labels)}
        return choose("svm", sizes_of_different(learned, labels), memory, **how)

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
            fit = partial(train_ridge, on=choice.on, combination=learned, memory=memory)
            machine.store(machine.fit_columns(fit, targets, weight))
        elif choice.on == "features":
            fit_classifier(machine, WeightedFeatures(learned).dense(), labels, learned.weight)
        else:
            train_support_vectors(machine, choice.on, learned, labels, memory)
        coef = machine.dual_coef_ if self.missing else coefficients_for(learned, machine)
        given = machine.support_, coef, machine.intercept_
        return machine, learned.predictor(*given, **exact)
