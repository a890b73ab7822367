"""The kernel regressor that chooses its regularization and its kernel by cross-validation."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn._threads import one_blas_thread
from alignlearn.machines import SupportVectorRegressor, paths
from alignlearn.machines.choice import (
    MOST_IN_BLOCKS,
    MOST_PAIRED,
    WORTH_PAIRS,
    Sizes,
    choose,
    matrix_fits,
)
from alignlearn.machines.copies import number_of_different
from alignlearn.machines.held_matrix import reused_memory
from alignlearn.validation import (
    check_choice,
    check_flag,
    check_memory,
    check_seed,
)

from . import inputs, per_target, search, target_search
from .base import parameters, shared
from .kernel_regressor import KernelRegressor
from .regressor import MKLRegressor
from .schedule import LEVELS, blocks_of, used_part, used_targets
from .scoring import FoldPredictions, read_scoring
from .search_problem import ModelPath, SearchProblem, Shaped
from .tuned import CS, Tuned

if TYPE_CHECKING:
    from typing_extensions import Self

_ALPHAS = np.logspace(-4, 2, 13).tolist()
_MOST_ON_ONE_THREAD = 2e8  # multiplications of a product of all targets, about 20 ms
_MOST_STEPS = 50  # for an alpha on the final level, where smaller ones need more and more steps


@parameters
class MKLRegressorCV(Tuned, KernelRegressor):
    """`MKLRegressor` with the kernel and ``alpha`` or ``C`` selected by cross-validation.

    Without ``kernels``, candidate kernels are compared by a strategy, and predictions of the best
    two are averaged without scaling. With ``kernels``, the search is equal to a grid search over
    the same folds, with much less work; see `MKLClassifierCV`. For kernel ridge all values of alpha
    come from one matrix reduction per fold, and leave-one-out predictions are exact and need no
    refits.

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
        "uniform", "align", "alignf", "alignf-linear", "align-lq", "lkrr", "aligned-krr",
        "consensus", "max-entropy", "structure", "l1-svm" with C = 1 and epsilon in units of y (so
        standardize y first), or a rule object. Several are compared, such as
        ``[AlignLq(q) for q in (1.5, 2, 4)]``. "auto" chooses by ``strategy``. Default: "auto"
        where ``kernels`` is None or a ``strategy`` is given, else ``["alignf", "uniform"]``;
        "alignf" for one kernel, with ``per_target`` and for leave-one-out, as the default ``cv`` of
        "krr" and ``cv="loo"``.
        Leave-one-out compares only values of alpha: the weights of the kernels are learned from all
        samples, including the one left out, which favors learned weights over equal weights. Set
        ``cv=5``, or pass the list, to compare both on folds that were not used to learn the
        weights.
    alphas : sequence of float, optional
        "krr": values of alpha, default 13 from 1e-4 to 1e2 in equal ratios; with ``per_target`` 33
        from 1e-4 to 1e4. Positive for leave-one-out and strategies, otherwise >= 0.
    Cs : sequence of float, optional
        "svr": values of C; default 1e-2, 1e-1, ..., 1e3.
    epsilon : float, default 0.1
        "svr": half-width of the tube without loss, in units of y.
    machine : {"auto", "krr", "svr", "nystrom"}, default "auto"
        The model on the folds and on all samples. "krr": kernel ridge on all pairs of samples;
        "svr": support vectors. "nystrom": ridge in the span of the kernel at few samples, as
        `NystromRidge`, also of precomputed kernels. "auto": "krr" up to 20,000 samples, else
        "nystrom"; ``chosen_machine_`` and ``summary()`` name it.
    n_centers : int, optional
        "nystrom": number of centers, the samples that span the model; default 1000.
    memory : int, str or None, default None
        Bytes for kernel values, or a string such as "2GB". Default: half of the free memory.
        Leave-one-out needs the Gram matrix. Where the Gram matrix does not fit, "krr" is solved by
        conjugate gradients to a relative residual of 1e-8, and "svr" from rows that are computed
        when they are needed.
    per_target : bool, default False
        Weights and alpha for every target, for "krr" and ``weighting="alignf"``; with "uniform"
        an alpha for each. See the notes.
    cv : "loo", int, sequence of m labels, iterable of (train, test), or object with \
``split(X, y)``, optional
        Default: "loo" (leave-one-out) for "krr" with one weighting, else 5 shuffled folds.
    scoring : str, callable, or dict or list of them, optional
        Names of scikit-learn's scorers, "correlation" (Pearson's, mean over targets), and what
        `MKLClassifierCV` takes; with ``per_target`` "r2" (default) or "correlation", of every
        target; otherwise the default is "neg_root_mean_squared_error". With leave-one-out it is
        called once, on the predictions of all samples.
    refit : str, optional
        With several scores, the name of the score that selects; ``cv_results_`` has all of them, as
        ``mean_test_name``.
    normalize : {"trace"} or None, default "trace"
        Scale every centered kernel to trace m before stage 1.
    missing : {"tables", "drop-per-target"}, optional
        "tables": samples may have missing tables; not with ``per_target``.
        "drop-per-target": with ``per_target``, NaN in y is a missing value. Targets with NaN in the
        same samples are fitted together on their observed samples, exactly as without the other
        targets (kernels stay scaled to the trace on all samples). Each such group needs its own
        decompositions. None, the default: NaN raises an error.
    tol : float, default 1e-3
        "svr": largest KKT violation, in units of y.
    max_iter : int, optional
        Maximum number of steps of "svr" and "nystrom".
    random_state : int or numpy.random.Generator, optional
        Seed of the shuffle. None is a fixed seed, so results are reproducible.

    Attributes
    ----------
    alpha_ : float
        "krr": the chosen value.
    C_ : float
        "svr": the chosen value.
    weighting_ : str or object
        The selected rule.
    best_score_ : float
        Mean score over folds of the chosen candidate.
    best_params_ : dict
    best_index_ : int
        Position of the chosen candidate in ``cv_results_``.
    cv_results_ : dict of ndarray
        ``params`` (list of dict), ``param_alpha`` or ``param_C``, ``param_weighting`` (if several
        were given), ``split0_test_score``, ..., ``mean_test_score``, ``std_test_score``,
        ``rank_test_score``, in the order of scikit-learn's grid search over the same values. Also
        ``n_splits``, the number of folds on which each candidate was tried, and ``rung``: the
        number of the stage of the search at which a strategy dropped the candidate, -1 if it was
        tried on all folds. Only dropped candidates can have NaN as scores. For leave-one-out
        ``split0_test_score`` is the only score.
    n_splits_ : int
    model_ : MKLRegressor or Average
        The model fitted to all samples; after a strategy the average of one or more models.
        Predictions, bounds, tables and the attributes below are those of this model.
    members_ : tuple of Member
        After a strategy: the models whose predictions are averaged, each with ``name``, ``share``
        (of sum 1), ``unit`` (1: predictions are not scaled), ``kernel`` and ``model``. Attributes
        of one kernel, such as ``weights_`` and ``kernel_``, exist only for a single model; the
        models of an average have their own.
    scales_ : ndarray of shape (d,)
        After a strategy that selected one model on scaled features.
    method_ : str
        After a strategy: the name of the best candidate.
    uniform_score_ : ndarray of shape (q,)
        With ``per_target``: R^2 or correlation by cross-validation of equal weights at the best
        alpha. ``best_score_`` then has the same score of the selected weights, shape (q,),
        ``alpha_`` has shape (q,), and ``weights_`` has shape (p, q), with columns that sum to 1.
    candidates_, candidate_ : ndarray of shape (n, p) and (q,)
        With ``per_target``: the weight vectors that were tried, and the number of the selected one
        for each target.
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
    support_ : ndarray of shape (n_support,)
        For "krr" all training samples; for "svr" those that are support vectors of some column.
    dual_coef_ : ndarray of shape (n_support,) or (n_support, c)
    intercept_ : float or ndarray of shape (c,)
    n_iter_ : int
        Steps of the solver; 1 for "krr".
    machine_ : KernelRidge, SupportVectorRegressor or NystromKernelRidge
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X was a data frame with string column names, or several tables: "table__column".

    Notes
    -----
    With ``weighting="auto"``, each candidate is a method that computes a kernel from a training
    set:

    - "uniform" has equal weights, and "alignf" learned weights, of the kernels.
    - "single" is the kernel with the smallest leave-one-out error on 200 samples; of the default
      kernels, one of seven widths.
    - "scaled-single", "scaled-uniform" and, for "thorough", "scaled-alignf" use features with
      scales learned from the training set (`FeatureScales`). "rotated-single" learns a matrix
      instead, for at most 100 features.
    - "columns", "pairs" and "linear" are tried with the default kernels and at most 2000 samples:
      a Gaussian for each column, for heavy columns and their pairs, and a linear kernel.
    - "laplacian" kernels are tried above 1000 samples, as a separate group.

    Above 3000 samples ridge regression on a matrix is solved by conjugate gradients with a Nystrom
    preconditioner, to a relative residual of 1e-6 in the final fit. With a strategy and more than
    8000 samples a pilot fit compares 1000 and more Nystrom centers with all pairs of samples. The
    final fit is "nystrom" if the error of the centers is at most 0.2% larger, or if there are more
    than 120,000 samples. Otherwise the final fit uses all pairs.

    With 12,000 samples or more and a final fit on all pairs, the search has a fourth level with as
    many samples as the final fit, because the best alpha decreases as samples are added. The fourth
    level tries up to three smaller values of alpha, each with at most 50 steps of conjugate
    gradients. If a smaller alpha is better, it also tries narrow Laplacian kernels. Above 28,000
    samples the final fit is the mean of models on parts of 21,600 to 24,000 samples, which may
    overlap (divide and conquer: Zhang, Duchi and Wainwright 2015); ``memory`` may reduce these
    numbers. With the default ``scoring``, iterations try the largest values of alpha first, and
    smaller ones only while their squared error is smaller.

    Leave-one-out refits only the ridge regression: the kernel was learned with the sample that is
    left out. It serves to select alpha, not to evaluate the kernel. To compare weightings, or for a
    score to report, use folds, where weights are learned on each training set only.

    With ``per_target`` targets share some 60 weight vectors: equal weights, single kernels, the
    centers of clusters of the targets' own weights, found by alignment that is corrected for noise,
    and random ones. Every target gets the best of the vectors near its own weights, and the best
    alpha, by exact leave-one-out or folds; the candidates are computed from all samples. From 1500
    samples on, a search on 1000 samples comes first. A target then tries a random vector only if
    that vector was the best in the first search, which hardly changes the scores. Each training set
    must consist of all samples that are not in its test set. Weights are not contributions: how
    much of a target a kernel explains depends also on the other kernels. ``device`` and ``client``
    evaluate the kernels, in ``fit`` and on new samples; decompositions and products with targets,
    which are nearly all of the work, stay in this process and use the threads of BLAS. Candidates
    are tried one after another, because each tries only penalties that earlier candidates do not
    exclude.

    Peak memory at m = 5000, in matrices (m, m) of float64: 1.1 for leave-one-out, 1.2 for ridge
    regression with folds, and 1.3 for "svr", whose solver stores up to 0.3 of a matrix. With
    ``per_target`` the p centered kernels and at most five more matrices are stored: 6.0 in all for
    three kernels and 13.2 for nine at m = 1000, two of which are 16 MB of rows. The first search
    needs as many matrices of 1000 samples, in addition to the p kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, MKLRegressorCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 1))
    >>> y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=60)
    >>> model = MKLRegressorCV([Gaussian(0.1), Gaussian(1.0)], alphas=[1e-4, 0.1, 100.0]).fit(X, y)
    >>> model.alpha_  # of the smallest leave-one-out error
    0.1
    >>> model.score(X, y) > 0.8
    True

    Banded ridge regression: weights and a penalty for every target, and the part of each space in
    the predictions.

    >>> X = rng.normal(size=(60, 5))
    >>> Y = np.c_[X[:, 0], X[:, 3], X[:, 0] + X[:, 3]] + 0.1 * rng.normal(size=(60, 3))
    >>> banded = MKLRegressorCV({"first": [0, 1], "rest": [2, 3, 4]}, per_target=True).fit(X, Y)
    >>> banded.weights_.shape, bool(banded.weights_[0, 0] > 0.9)
    ((2, 3), True)
    >>> parts = banded.predict(X, split=True)
    >>> list(parts), np.allclose(sum(parts.values()), banded.predict(X))
    (['first', 'rest', 'intercept'], True)
    """

    _plain = MKLRegressor

    kernels: Any = field(default=None, kw_only=False)
    weighting: Any = None
    strategy: str | None = shared("strategy")
    ensemble: bool = shared("ensemble")
    alphas: Any = None
    Cs: Any = None
    epsilon: float = 0.1
    machine: str = "auto"
    n_centers: int | None = None
    memory: int | str | None = None
    per_target: bool = False
    cv: Any = None
    scoring: Any = None
    refit: str | None = None
    normalize: str | None = "trace"
    unbiased: bool = shared("unbiased")
    missing: str | None = shared("missing")
    tol: float = 1e-3
    max_iter: int | None = None
    verbose: Any = shared("verbose")
    device: str = shared("device")
    client: Any = shared("client")
    random_state: Any = shared("random_state")

    @property
    def _own_weights(self):
        return "candidates_" in vars(self)

    def _check_missing(self):
        return self.missing  # by `per_target.check_missing`

    def _leaves_one_out_by_default(self):
        return self.per_target or (self.cv is None and self.machine in ("auto", "krr"))

    def _leave_one_out(self, n_samples):
        few = self.machine == "auto" and n_samples <= MOST_PAIRED
        exact = self.machine == "krr" or few
        if self.cv is None:
            rule = self._rule()
            single = not isinstance(rule, (list, tuple)) or len(rule) == 1
            return exact and single and (self.per_target or rule != "auto")
        loo = isinstance(self.cv, str) and self.cv == "loo"
        if loo and not (exact or self.machine == "auto"):
            raise ValueError(
                f"cv='loo' is for machine='krr', where it has a closed form; got machine="
                f"{self.machine!r}. Give a number of folds."
            )
        if loo and self._by_strategy() and not self.per_target:
            raise ValueError(
                "cv='loo' cannot be combined with weighting='auto', which learns scales "
                "from all targets; give a number of folds, or weighting='alignf'."
            )
        return loo

    def fit(self, X, y, sample_weight=None, *, groups=None) -> Self:
        """Choose alpha or C (and the weighting), then learn the kernel and train on everything.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Or a data frame, a list of objects, a sparse matrix, p Gram matrices or several tables,
            as ``kernels`` allows.
        y : array-like of shape (m,) or (m, c)
            Real, finite and not constant.
        sample_weight : array-like of shape (m,), optional
            Nonnegative. Scores are weighted, too, and a callable ``scoring`` gets the weights as a
            keyword of that name. A sample is left out with its whole weight. With the default
            values of alpha or C weights are divided by the mean of those above 0, so that only
            their ratios count.
        groups : array-like of shape (m,), optional
            Passed to ``cv.split``.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            Bad input; the message names the argument and what is accepted. Folds cannot be made.

        Warns
        -----
        UserWarning
            ``groups`` is passed, and ``cv`` is no splitter.
        DegenerateKernelWarning
            No kernel is positively aligned with y: equal weights are used.
        ConvergenceWarning
            The solver stopped above ``tol``.
        """
        check_choice("machine", self.machine, ("auto", "krr", "svr", "nystrom"))
        per_target.check_missing(self.missing, self.per_target)
        given, X = X, self._prepare(X, y, sample_weight)
        source = self._open(X, sample_weight)
        if check_flag("per_target", self.per_target):
            return self._fit_per_target(X, y, source, groups)
        y = inputs.real_targets(self, y, source.n_samples, source.weight)
        if self.machine == "svr":
            parameter, values = "C", search.check_grid("Cs", self.Cs, CS)
        else:
            parameter = "alpha"
            loo = self._leave_one_out(len(y))
            strict = loo or self._by_strategy() or self.machine == "nystrom"
            values = search.check_grid("alphas", self.alphas, _ALPHAS, strict=strict)
        splits = self._splits(y, groups, source.weight)
        measure = read_scoring(self.scoring, "regressor", self.refit)
        rows = source.used_rows()
        used, weight, folds = used_targets(y, source.weight, splits)
        different = number_of_different(source)
        final = self.machine in ("auto", "krr") and different <= MOST_IN_BLOCKS
        levels = self._levels(used, folds, different, final) if self._by_strategy() else ()
        folds = [fold for level in levels for fold in level.of_all()] or folds

        def score(t, predicted, some=None):
            test = np.arange(len(used)) if folds is None else folds[t][1]
            if some is not None:
                test, predicted = test[some], predicted[some]
            new = measure.samples(given, rows[test], self.kernels)
            model = FoldPredictions(self, new, predicted)
            return measure(model, new, used[test], None if weight is None else weight[test])

        most = len(used) if folds is None else max(len(train) for train, _ in folds)
        if levels:  # the final level is solved in iterations
            below = [level for level in levels if not level.final]
            most = max(len(train) for level in below for train, _ in level.folds)
        # Each of several levels has one fold, except a small first one, which is not iterative.
        descending = len(levels) > 1 and self.scoring is None
        path = self._path(source, y, parameter, splits, most, descending)
        problem = SearchProblem(parameter, values, path, score, levels=levels, folds=folds)
        problem = problem._replace(n_different=different)
        if levels:
            with one_blas_thread(), reused_memory():
                planned = self._plan(X, y, source, problem)
                options = {"early": self._early(planned), **planned.options}
                self._fit_members(planned, search.search(*planned.given, **options))
        else:
            self._fit_by_rules(X, y, source, splits, problem)
        return self

    def _given_values(self):
        return self.Cs if self.machine == "svr" else self.alphas

    def _worth_all(self, candidates, fold, number, value, predicted):
        """Whether few centers have a larger error than all pairs, with predictions on a fold."""
        if self.machine != "auto":
            return True
        made = candidates[number].make(fold, value)
        model = self._untuned("uniform").set_params(machine="nystrom")
        path = ModelPath(model, "alpha", Shaped(made.y.ndim == 1))
        near, target = path(*made, [value])[0], made.y[made.split[1]]
        errors = [np.square(target - one).mean() for one in (near, predicted)]
        return errors[0] > (1.0 + WORTH_PAIRS) * errors[1]

    def _final(self, problem, candidates, found, values, y, ways):
        """Few centers if they are as accurate; else all pairs, in blocks of many samples."""
        if self.machine != "auto" or len(y) <= LEVELS[-1] or len(found.folds) > 1:
            return super()._final(problem, candidates, found, values, y, ways)
        (w, k), fold = found.chosen[0], found.folds[0]
        if problem.levels[-1].final:
            pairs = fold == len(problem.folds) - 1  # the search has decided
        else:
            exact = found.kept[0][0]
            pairs = self._worth_all(candidates, fold, w, values[k], exact)
        if not pairs or problem.n_different > MOST_IN_BLOCKS:
            return "nystrom", [[None] for _ in ways]
        blocks = blocks_of(y, False, check_memory("memory", self.memory), problem.n_different)
        return "krr", [blocks for _ in ways]

    def _fit_per_target(self, X, y, source, groups):
        rule = per_target.checked_rule(self)
        if self.unbiased:
            raise ValueError(
                "unbiased=True cannot be combined with per_target=True; accepted: only one of "
                "the two."
            )
        gaps = self.missing == "drop-per-target"
        given = inputs.real_targets(self, y, source.n_samples, source.weight, gaps=gaps)
        alphas = search.check_grid("alphas", self.alphas, per_target.ALPHAS)
        splits = self._splits(given, groups, source.weight)
        source, Y, splits = used_part(source, given.reshape(len(given), -1), splits)
        (per_target.check_gaps if gaps else per_target.check_varies)(Y)
        inputs.check_room(source, [], len(source.names) + 5)
        first = per_target.first_statistics(source, Y)
        problem = self._problem(source, Y, "regression", statistics=first).check()
        scale = np.where(problem.statistics.norms > 0.0, problem.scale, 0.0)
        tests = per_target.test_sets(splits, len(Y))
        rng = check_seed("random_state", self.random_state)
        choice = {"alphas": alphas, "uniform": rule == "uniform", "verbose": source.progress}
        pick = partial(target_search.choose, **choice)
        how = source, Y, scale, tests, pick, rng, self.scoring == "correlation"
        # Threads of BLAS wait for each other in small products, for long on a busy computer.
        small = len(Y) ** 2 * Y.shape[1] <= _MOST_ON_ONE_THREAD
        with one_blas_thread() if small else nullcontext():
            found, predictor, coef = per_target.fit_targets(*how)
        self._store_targets(X, source, given, scale, found)
        self.n_splits_ = len(Y) if splits is None else len(splits)
        if coef is not None:
            self.dual_coef_ = coef
        one = given.ndim == 1
        self.intercept_ = float(predictor.intercept[0]) if one else predictor.intercept
        self._predictor = predictor
        return self

    def _store_targets(self, X, source, y, scale, found):
        """Store the results for every target; there is no single model."""
        self._store_columns(X, source.n_features)
        self.kernels_, self.scale_, self._names = source.fitted_kernels, scale, source.names
        self.weights_, self.alpha_ = found.weights, found.alpha
        self.best_score_, self.uniform_score_ = found.score, found.uniform_score
        self.candidates_, self.candidate_ = found.candidates, found.chosen

    def summary(self, max_rows=30) -> str:
        """The learned combination as a text table; with ``per_target`` the weights of all targets.

        Parameters
        ----------
        max_rows : int, default 30
            With more kernels than this, those of the largest shares are shown.

        Returns
        -------
        str
            After a strategy it starts with a line for each candidate; the combination of each model
            follows. With ``per_target`` it has a line per kernel: mean and largest weight over the
            targets, and of how many it has more than half.
        """
        if not self._own_weights:
            return super().summary(max_rows)
        return per_target.summary(self, max_rows)

    def _kernel_names(self):
        return self._names if self._own_weights else super()._kernel_names()

    def _kernel_weights(self):
        if not self._own_weights:
            return super()._kernel_weights()
        return self.weights_.mean(axis=1), f", means over {len(self.alpha_)} targets"

    def _path(self, source, y, parameter, splits, n_samples, descending):
        memory, model = check_memory("memory", self.memory), self._untuned(None)
        sizes = Sizes.of_source(source)._replace(n_samples=n_samples)
        chosen = choose("krr", sizes, memory, asked=self.machine).machine
        fits = source.is_linear or matrix_fits(sizes, memory)
        if splits is None:
            if not fits and self.memory is not None:
                raise ValueError(
                    f"memory={self.memory!r} does not hold the Gram matrix of {source.n_samples} "
                    "samples, which leave-one-out needs; accepted: more memory, or a number of "
                    "folds as cv."
                )
            return _leave_one_out
        if chosen == "svr":
            options = {"epsilon": self.epsilon, "tol": self.tol, "max_iter": self.max_iter}
            machine = partial(SupportVectorRegressor, **options)
            return partial(_support_vector_path, machine, self.memory)
        if chosen == "krr" and fits:
            most_steps = _MOST_STEPS if self._by_strategy() else None
            how = {"most_steps": most_steps, "descending": descending}
            return partial(paths.regressor_predictions, **how)
        return ModelPath(model, parameter, Shaped(y.ndim == 1))


def _support_vector_path(machine, memory, learned, y, split, values):
    """Test predictions of support vector regression for each C."""
    given = learned, y, split, values
    return paths.support_vector_predictions(machine, *given, memory=memory)


def _leave_one_out(learned, y, split, values):
    """Predictions of kernel ridge at each sample without it, for each alpha."""
    return paths.leave_one_out_predictions(learned, y, values)
