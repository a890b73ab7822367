"""The kernel classifier that chooses its regularization and its kernel by cross-validation."""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn._threads import one_blas_thread
from alignlearn.machines import paths
from alignlearn.machines.choice import MOST_PAIRED, Sizes, matrix_fits
from alignlearn.machines.copies import number_of_different
from alignlearn.solvers.multiclass import (
    check_class_weight,
    class_confidences,
    class_logits,
    label_decisions,
    present_classes,
    weights_differ,
)
from alignlearn.validation import (
    check_choice,
    check_flag,
    check_memory,
)

from . import inputs, per_label, search
from ._calibrated import (
    AUTO,
    calibrate,
    calibrate_on_folds,
    check_classes,
    check_probability,
    lacking_class,
)
from .average import units_of
from .base import parameters, shared
from .classifier import MACHINES, MKLClassifier
from .kernel_classifier import KernelClassifier
from .schedule import blocks_of, check_training_classes, used_targets
from .scoring import FoldDecisions, class_score, read_scoring
from .search_problem import ModelPath, SearchProblem
from .tuned import CS, Tuned
from .ways import MOST_C

if TYPE_CHECKING:
    from typing_extensions import Self

SEARCH_TOL = 1e-2  # tolerance of machines that are only compared


@parameters
class MKLClassifierCV(Tuned, KernelClassifier):
    """`MKLClassifier` with the kernel and ``C`` selected by cross-validation.

    Without ``kernels``, nine candidate kernels are compared on the folds, and the models of the
    best two are averaged. A data frame may then have categories and missing values, see
    `MKLClassifier`; each training set prepares its columns by itself.

    With ``kernels`` the search is equal to a grid search over the same folds, with much less work.
    One pass over the pairs of samples computes the alignment statistics of every training set. Each
    fold computes its Gram matrix once. SVMs are solved in increasing order of C, each started from
    the previous solution.

    Parameters
    ----------
    kernels : sequence of Kernel and str, dict, RankOneKernels or "precomputed", optional
        Default: nine Gaussians around ``gamma="scale"``. With "precomputed", X is a sequence of p
        Gram matrices (m, m) in ``fit`` and (n, m) later, arrays or data frames (read by position).
        In ``fit``, pass an indefinite matrix as ``Precomputed(K, fix="clip")``, which also
        transforms the rows of new samples, or as ``Precomputed(K, is_psd=False)``. For complex
        Hermitian matrices the real part is used. All kernels except functions and precomputed
        matrices also accept SciPy sparse X, which stays sparse, except with the default: a
        matrix with at most 500 columns, of whose entries at least 2% are stored, is
        converted to an array for more candidates. A dict has a kernel, a sequence of them
        or columns for each name; columns (an integer, a slice, a sequence of integers or of
        column names) mean a linear kernel on them. See the notes of `MKLClassifier` on
        several tables.
    weighting : str, object, or list of them, optional
        "uniform", "align", "alignf", "alignf-linear", "align-lq", "easymkl", "lkrr", "l1-svm",
        "aligned-krr", "consensus", "max-entropy", "structure", or a rule object. Several are
        compared, such as ``[AlignLq(q) for q in (1.5, 2, 4)]``. "auto" chooses by ``strategy``.
        Default: "auto"
        where ``kernels`` is None or a ``strategy`` is given, else ``["alignf", "uniform"]``,
        learned weights beside equal ones, and "alignf" for one kernel.
    Cs : sequence of float, optional
        Values of C; default 1e-2, 1e-1, ..., 1e3.
    machine : {"auto", "svm", "krr", "dual-cd", "nystrom"}, default "auto"
        The model on the folds and on all samples. "svm": on all pairs of samples. "krr":
        regularized least-squares classification, which is kernel ridge regression on labels of -1
        and 1 with alpha = 1 / (2 C); it often ranks samples better where classes are unbalanced or
        overlap. "nystrom": the problem of "svm" in the span of the kernel at few samples, solved to
        a duality gap of 1% as in `NystromSVC`; of precomputed kernels, also in a file, it reads
        only the rows of these samples. "dual-cd": for kernels linear in the features, without an
        intercept, by dual coordinate descent on these (less their means if dense) as in
        `LinearSVM`. "auto": "svm" up to 20,000 samples, and above them where two small pilots
        predict few enough support vectors for the time and ``memory``. ``chosen_machine_`` and
        ``summary()`` name the choice.
    n_centers : int, optional
        "nystrom": number of centers, the samples that span the model; default 1000.
    memory : int, str or None, default None
        Bytes for kernel values, or a string such as "2GB". Default: half of the free memory. "svm":
        where the Gram matrix does not fit, or few samples become support vectors, its rows are
        computed when the solver needs them, to the same ``tol``; a hard margin needs the matrix.
        By default, features of centers take at most 0.7 GB and are computed again where they need
        more; a larger ``memory`` stores them.
    cv : int, sequence of m labels, iterable of (train, test), or object with ``split(X, y)``, \
default 5
        An integer is the number of shuffled, stratified folds; at most the number of samples of the
        largest class. With labels, the samples of a label are tested together.
    scoring : str, callable, or dict or list of them, optional
        Names of scikit-learn's scorers, such as "roc_auc" or "neg_log_loss", scorers of
        ``make_scorer``, and functions ``scoring(estimator, X, y)`` or
        ``scoring(y_true, y_predicted)``; larger is better. Probabilities of each part of a test set
        are calibrated on its other parts. Default: "accuracy"; for a strategy, the accuracy minus
        0.3 times the log loss after temperature scaling.
    refit : str, optional
        With several scores, the name of the score that selects; ``cv_results_`` has all of them, as
        ``mean_test_name``.
    multiclass : {"ovo", "ovr"}, default "ovo"
    class_weight : None, "balanced", dict or list, default None
        Class weights of the model; stage 1 does not use them. With many labels, one for all labels
        (a dict has the keys 0 and 1), or a list with one entry per label.
    per_label : bool, default False
        With many labels: a search, a kernel and a model for each label, instead of one kernel for
        all.
    probability : {"auto", "sigmoid", "isotonic", "temperature"} or None, default "auto"
        "auto": temperature scaling, fitted to the decisions on the folds of the search at almost no
        cost ("sigmoid" if ``class_weight`` differs between classes, and where the search uses least
        squares alone). There is no ``predict_proba`` if a class is missing from a training set.
        Others as in `MKLClassifier`, on the folds of ``cv``; they keep models of folds for
        ``predict_set``.
        None: no ``predict_proba``.
    normalize : {"trace"} or None, default "trace"
        Scale every centered kernel to trace m before stage 1.
    tol : float, default 1e-3
        Maximum KKT violation of "svm" and "dual-cd"; not used by "nystrom".
    max_iter : int, optional
        Maximum number of steps of "svm" for each pair of classes, or of passes of "dual-cd" and
        "nystrom".
    client : dask.distributed.Client, optional
        The client's workers evaluate the pairs and fit the folds. Clones share the client; pickles
        omit it.
    random_state : int or numpy.random.Generator, optional
        Seed of the shuffle. None is a fixed seed, so results are reproducible.

    Attributes
    ----------
    C_ : float
        The selected value; ties go to the first value in ``Cs``.
    weighting_ : str or object
        The selected rule.
    best_score_ : float
        Mean score over folds of the chosen candidate.
    best_params_ : dict
    best_index_ : int
        Position of the chosen candidate in ``cv_results_``.
    cv_results_ : dict of ndarray
        ``params`` (list of dict), ``param_C``, ``param_weighting`` (if several were given),
        ``split0_test_score``, ..., ``mean_test_score``, ``std_test_score``, ``rank_test_score``, in
        the order of scikit-learn's grid search over the same values. Also ``n_splits``, the number
        of folds on which each candidate was tried, and ``rung``: the number of the stage of the
        search at which a strategy dropped the candidate, -1 if it was tried on all folds. Only
        dropped candidates can have NaN as scores.
    n_splits_ : int
    model_ : MKLClassifier or Average
        The model fitted to all samples; after a strategy the average of one or more models.
        Predictions, bounds, tables and the attributes below are those of this model.
    members_ : tuple of Member
        After a strategy: the models whose decisions are averaged, each with ``name``, ``share`` (of
        sum 1), ``unit`` (the size by which its decisions are divided), ``kernel`` and ``model``.
        Attributes of one kernel, such as ``weights_`` and ``kernel_``, exist only for a single
        model; the models of an average have their own.
    scales_ : ndarray of shape (d,)
        After a strategy that selected one model on scaled features.
    method_ : str
        After a strategy: the name of the best candidate.
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
    models_ : tuple of MKLClassifierCV or None
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
    calibration_ : Calibration or None
        The calibration of the decisions in ``predict_proba``.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X was a data frame with string column names, or several tables: "table__column".

    Notes
    -----
    Weights are learned on each training set only. The exception is ``gamma="scale"``, which does
    not use labels and is computed from all samples. A class may be missing from a training set,
    because of groups or because it has one sample. The model then decides between the other
    classes, and test samples of the missing class count as errors.

    Folds and selections do not depend on the names and the order of the classes. Renaming classes
    changes decisions by rounding only, and swapping two classes changes only their signs. A
    decision of exactly 0, or an exact tie of classes, is resolved by the order of the names.

    With ``weighting="auto"``, each candidate is a method that computes a kernel from a training
    set:

    - "uniform" has equal weights, and "alignf" learned weights, of the kernels.
    - "single" is the kernel with the smallest leave-one-out error of ridge regression on 200
      samples. With the default kernels it is one of seven widths. It needs kernels that are
      evaluated on pairs of samples.
    - "scaled-single", "scaled-uniform" and, for "thorough", "scaled-alignf" use features with
      scales learned from the training set (`FeatureScales`). They need kernels with a known
      gradient. "rotated-single" learns a matrix instead, for at most 100 features.
    - "columns", "pairs" and "linear" are tried with the default kernels and at most 2000 samples,
      on columns of variance 1. "columns" has a Gaussian for each of up to 100 columns, weighted by
      "alignf". "pairs" has one for each of the 12 columns of largest weight and for the pairs of
      the first 6. "linear" has a linear kernel.
    - "laplacian" kernels are tried above 1000 samples, as a separate group.

    Support vector machines rank samples badly if classes are unbalanced or overlap. Therefore some
    kernels get a second model by regularized least squares (``machine="krr"``; "single-krr" and so
    on in the table):

    - Up to 2000 samples these are all kernels on all columns that reach the last folds. Averages
      have both models of their kernels.
    - Above 2000 samples a kernel has the better of both models if its error on 2000 samples is more
      than 0.18 of the error of always predicting the largest class. For more than two classes, and
      for kernels with half their widths, the limit is 0.5.
    - If two classes overlap strongly or one is rare, ``machine="auto"`` fits least squares alone to
      all candidates. Support vector machines then predict the frequent class everywhere, so their
      scores do not distinguish kernels. The criterion is that ridge regression leaves more than 0.9
      of the variance of the labels (leave-one-out, on 200 or 500 samples). The log loss of the
      score, and the calibration, are then those of a sigmoid with an intercept.
    - Above 28,000 samples least squares are the mean of models on parts of 21,600 to 24,000
      samples, which may overlap; above 120,000 samples they are not fitted.

    The first fold omits the ends of the grid of C, the other folds try the neighbors of the best
    value so far, and the ends are tried after two folds. ``cv_results_`` then has ``param_method``,
    and in ``mean_test_shown`` the accuracy. Each model's decisions are divided by their mean
    absolute value on the folds before averaging. ``bound`` and ``alignment_interval`` accept only
    held-out samples if more than the weights was learned.

    Where scikit-learn routes metadata, ``groups`` are requested if the splitter ``cv`` requests
    them, as `sklearn.model_selection.GroupKFold` does, or by ``set_fit_request(groups=True)``.

    Above 1000 samples the search has three levels. All candidates are compared on 500 samples with
    two folds, and the best four on 2000 samples with one fold. The best two, also with half their
    widths and the neighbors of C, are compared on one fold of at most 8000 samples (fewer within
    ``memory``). Only the final model is fitted to all samples. The samples of a level are drawn
    from those that the next level does not test. ``cv_results_`` has the scores of each level, and
    ``summary()`` its samples and candidates. The models of the best two candidates are averaged if
    the average is better than the best candidate by more than noise.

    Many labels, y of shape (m, c) with entries 0 and 1, have one kernel and one C; the
    folds are then shuffled without regard to the labels. "accuracy" is the subset accuracy, scores
    of scikit-learn for many labels are taken by their names, and the score of a strategy is the
    mean over the labels. With ``per_label`` each label has a search, and ``C_`` and ``best_score_``
    have shape (c,).

    Candidates, folds and pairs of classes are computed on all threads of Numba, while BLAS is
    limited to one thread; results do not depend on the number of threads.

    A one-stage rule given by name uses the C of the candidate, so it is solved for every candidate.

    Candidates of a strategy are solved to a tolerance of 0.01, or ``tol`` if that is larger; the
    final model is solved to ``tol``.

    The peak memory of a search by rules is 0.9 matrices (m, m) of float64 at m = 5000 and 9000, for
    each thread. Fewer folds are tried at once where ``memory`` requires it. Training sets of more
    than 10,000 samples use only the rows of the support vectors if a pilot fit finds few of them:
    the peak is 0.25 matrices at m = 18,000 (ijcnn1, 5 folds, 4 values of C).

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, MKLClassifierCV
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.linalg.norm(X, axis=1) < 1.1
    >>> model = MKLClassifierCV([Gaussian(0.1), Gaussian(1.0)], Cs=[0.1, 1.0, 10.0], cv=3).fit(X, y)
    >>> model.C_ in (0.1, 1.0, 10.0), model.cv_results_["mean_test_score"].shape
    (True, (6,))
    >>> print(model.summary().splitlines()[0].split())  # learned weights beside equal ones
    ['weighting', 'C', 'score', 's.e.', 'used']
    >>> model.best_score_ > 0.8
    True

    Probabilities come from the folds of the search, and scores have scikit-learn's names:

    >>> model.predict_proba(X[:3]).shape
    (3, 2)
    >>> scoring = {"auc": "roc_auc", "loss": "neg_log_loss"}
    >>> both = MKLClassifierCV([Gaussian(1.0)], Cs=[1.0], cv=3, scoring=scoring, refit="auc")
    >>> results = both.fit(X, y).cv_results_
    >>> bool(both.best_score_ == results["mean_test_auc"][0]), results["mean_test_loss"].shape
    (True, (1,))
    """

    _plain = MKLClassifier

    kernels: Any = field(default=None, kw_only=False)
    weighting: Any = None
    strategy: str | None = shared("strategy")
    ensemble: bool = shared("ensemble")
    Cs: Any = None
    machine: str = "auto"
    n_centers: int | None = None
    memory: int | str | None = None
    cv: Any = 5
    scoring: Any = None
    refit: str | None = None
    multiclass: str = "ovo"
    class_weight: Any = None
    per_label: bool = False
    probability: str | None = "auto"
    normalize: str | None = "trace"
    unbiased: bool = shared("unbiased")
    missing: str | None = shared("missing")
    tol: float = 1e-3
    max_iter: int | None = None
    verbose: Any = shared("verbose")
    device: str = shared("device")
    client: Any = shared("client")
    random_state: Any = shared("random_state")

    def fit(self, X, y, sample_weight=None, *, groups=None) -> Self:
        """Choose C (and the weighting), then learn the kernel and train on everything.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Or a data frame, a list of objects, a sparse matrix, p Gram matrices or several tables,
            as ``kernels`` allows.
        y : array-like of shape (m,) or (m, c)
            Labels of one type, with at least two classes; or many labels of 0 and 1.
        sample_weight : array-like of shape (m,), optional
            Nonnegative, positive for some sample of every class. Scores are weighted, too, and a
            callable ``scoring`` gets the weights as a keyword of that name. With the default values
            of C weights are divided by the mean of those above 0, so that only their ratios count.
        groups : array-like of shape (m,), optional
            Passed to ``cv.split``.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            Bad input; the message names the argument and what is accepted. Folds cannot be made,
            or a training set has one class only.

        Warns
        -----
        UserWarning
            ``groups`` is passed, and ``cv`` is no splitter.
        DegenerateKernelWarning
            No kernel is positively aligned with the labels: equal weights are used.
        ConvergenceWarning
            The SVM stopped above ``tol``.
        """
        probability = check_probability(self.probability, (AUTO,))
        check_choice("machine", self.machine, MACHINES)
        read_scoring(self.scoring, "classifier", self.refit)
        if check_flag("per_label", self.per_label):
            return per_label.fit_labels(self, X, y, sample_weight, groups=groups)
        given, X = X, self._prepare(X, y, sample_weight)
        source = self._open(X, sample_weight)
        labels = inputs.class_labels(self, y, source.n_samples, weight=source.weight, many=True)
        values = search.check_grid("Cs", self.Cs, CS)
        splits = self._splits(labels, groups, source.weight)
        check_class_weight(self.class_weight, labels)
        check_training_classes(labels, splits, source.weight)
        check_classes(None if probability == AUTO else probability, labels, splits, source.weight)
        if self._by_strategy():
            problem = self._problem_of_levels(labels, source, splits, values, given)
            with one_blas_thread():
                planned = self._plan(X, labels, source, problem)
                options = {"early": self._early(planned), **planned.options}
                found = search.search(*planned.given, **options)
                found = self._fit_members(planned, found)
            if probability is not None:
                self._calibrate_average(found, labels, source, problem)
            return self
        keep = probability is not None
        path = self._path(source, self._untuned(None))
        score = self._score(given, labels, source.weight, splits)
        problem = SearchProblem("C", values, path, score, keep)
        found = self._fit_by_rules(X, labels, source, splits, problem)
        if keep:
            self._calibrate(source, labels, splits, found.kept[0])
            # Prediction sets require exchangeable samples.
            if source.weight is None and probability != AUTO and labels.ndim == 1:
                # They need the models of the folds, which the search does not store.
                model, memory = self.model_, check_memory("memory", self.memory)
                how = model, source, labels, memory, model.calibration_
                model.calibration_, model._fold_predictors = calibrate_on_folds(*how)
        return self

    def _given_values(self):
        return self.Cs

    def _score(self, X, labels, weight, splits):
        """The score of the decisions of problems of two classes on a fold."""
        measure = read_scoring(self.scoring, "classifier", self.refit)
        rows = np.arange(len(labels)) if weight is None else np.flatnonzero(weight)
        labels, weight, folds = used_targets(labels, weight, splits)
        trained = [present_classes(labels[train]) for train, _ in folds]

        def score(t, raw, some=None):
            test = folds[t][1] if some is None else folds[t][1][some]
            raw = raw if some is None else raw[some]
            new = measure.samples(X, rows[test], self.kernels)
            model = FoldDecisions(self, new, raw, trained[t], labels[test])
            return measure(model, new, labels[test], None if weight is None else weight[test])

        return score

    def _path(self, source, model, n_samples=None):
        """The path of a model, to the decisions of its problems of two classes.

        ``n_samples``: the maximum number of samples of a candidate. Default: all of the source.
        """
        n_samples = source.n_samples if n_samples is None else n_samples
        many = source.is_paired and n_samples > MOST_PAIRED
        sizes = Sizes.of_source(source)._replace(n_samples=n_samples)
        if self.machine == "krr" and matrix_fits(sizes, check_memory("memory", self.memory)):
            return partial(paths.least_squares_predictions, model._machine)
        if self.machine == "svm" or (self.machine == "auto" and not many):
            options = {"decisions": "raw", "memory": self.memory}
            return partial(paths.classifier_predictions, model._machine, **options)
        return ModelPath(model, "C")

    def _calibrate(self, source, labels, splits, raw, shifted=False):
        """Calibrate decisions (n, n_problems) on the test sets of splits, all samples counted.

        ``shifted``: by a sigmoid with an intercept, unless another method is asked for.
        """
        method, tests = self.probability, [test for _, test in splits]
        if method == AUTO:
            shifted = shifted or weights_differ(self.class_weight, labels, source.weight)
            method = "sigmoid" if shifted else "temperature"
            lacking = lacking_class(labels, splits, source.weight)
            if lacking is not None:
                self.model_.calibration_ = None
                self._uncalibrated = f"a training set of the search lacks class {lacking[1]!r}"
                return
        if labels.ndim == 2:
            trained = [present_classes(labels[_used(train, source.weight)]) for train, _ in splits]
            decisions = [label_decisions(*given) for given in zip(raw, trained)]
        else:
            classes = np.unique(labels)
            if method == "temperature":
                decisions = [class_logits(found, classes.size, self.multiclass) for found in raw]
            else:
                decisions = [class_confidences(found, classes, self.multiclass) for found in raw]
        found = calibrate(method, labels, tests, decisions, source.weight)
        if self.probability == AUTO and labels.ndim == 1:  # scores are only for prediction sets
            found = replace(found, scores=(), codes=())
        self.model_.calibration_ = found
        if not self._members:
            self.model_.set_params(probability=method)

    def _problem_of_levels(self, labels, source, splits, values, given):
        """The problem of the search by a strategy; ``given`` is X before it was prepared."""
        codes = labels if labels.ndim == 2 else np.unique(labels, return_inverse=True)[1]
        codes, weight, folds = used_targets(codes, source.weight, splits)
        different = number_of_different(source)
        levels = self._levels(codes, folds, different)
        folds = [fold for level in levels for fold in level.of_all()]
        trained = [present_classes(codes[train]) for train, _ in folds]
        used = source.used_rows()

        def score(t, raw, rows=None, shifted=False):
            test = folds[t][1]
            if rows is not None:
                test, raw = test[rows], raw[rows]
            of_fold = None if weight is None else weight[test]
            return class_score(raw, codes[test], trained[t], self.multiclass, of_fold, shifted)

        own = score
        if self.scoring is not None:
            whole = [(used[train], used[test]) for train, test in folds]
            score = self._score(given, labels, source.weight, whole)
        rough = self._untuned("uniform", tol=max(self.tol, SEARCH_TOL))
        most = max(len(train) for train, _ in folds)
        path, fine = self._path(source, rough, most), self.Cs is None
        by_squares = self._least_squares_path(source, values, most)
        problem = SearchProblem("C", values, path, score, True, fine, levels, folds, by_squares)
        problem = problem._replace(n_different=different)
        if by_squares is not None and self.machine == "auto":
            # Decisions of least squares estimate the probability of a class, up to an intercept.
            shifted = partial(own, shifted=True) if self.scoring is None else score
            how = {"path": by_squares, "least_squares": None, "machine": "krr", "score": shifted}
            if fine:  # all values cost as much as one
                how |= {"values": [0.1 * min(values), *values], "most": MOST_C}
            problem = problem._replace(overlapping=how)
        return problem

    def _calibrate_average(self, found, labels, source, problem):
        """Calibrate the average of the members on the test sets of the search."""
        used = source.used_rows()
        units, folds = units_of(found, self._task), [problem.folds[t] for t in found.folds]
        averages = [sum(map(np.divide, raw, units)) / len(raw) for raw in zip(*found.kept)]
        tested = [(used[train], used[test]) for train, test in folds]
        overlap = all(member.model.machine == "krr" != self.machine for member in self._members)
        self._calibrate(source, labels, tested, averages, overlap)

    def _final(self, problem, candidates, found, values, y, ways):
        """Least squares in blocks of many samples, where the estimator chooses them."""
        machine, blocks = super()._final(problem, candidates, found, values, y, ways)
        by_squares = [way.least_squares or machine != self.machine for way in ways]
        if y.ndim > 1 or not any(by_squares):
            return machine, blocks
        codes = np.unique(y, return_inverse=True)[1]
        own = blocks_of(codes, True, check_memory("memory", self.memory), problem.n_different)
        return machine, [own if squares else [None] for squares in by_squares]

    def _least_squares_path(self, source, values, n_samples):
        """The path of least squares on at most so many samples; None if it is not tried."""
        sizes = Sizes.of_source(source)._replace(n_samples=n_samples)
        held = matrix_fits(sizes, check_memory("memory", self.memory))
        if self.machine not in ("auto", "svm") or min(values) > MOST_C or not held:
            return None
        make = self._untuned("uniform", machine="krr")._machine
        return partial(paths.least_squares_predictions, make)

    def _untuned(self, rule, **changes):
        # Calibrated on the folds of the search.
        return super()._untuned(rule, **{"probability": None, **changes})


def _used(rows, weight):
    """Those of some samples that have a positive weight."""
    return rows if weight is None else rows[weight[rows] > 0.0]
