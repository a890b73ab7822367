"""Machines on a learned kernel with their regularisation chosen by cross-validation.

What a grid search computes again for every candidate is computed once: the alignment statistics of
all training sets in one pass over the pairs, one Gram matrix per fold, one solution path per
Gram matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn._progress import Progress
from alignlearn.machines import SupportVectorRegressor, paths
from alignlearn.solvers.multiclass import confidences, predicted_labels
from alignlearn.validation import check_choice, check_flag, check_memory, check_seed

from . import inputs, per_target, strategies, tuning
from ._calibrated import calibrate, calibrate_on_folds, check_classes, check_probability
from .averages import Strategic
from .classifier import KernelClassifier, MKLClassifier
from .regressor import KernelRegressor, MKLRegressor

if TYPE_CHECKING:
    from typing_extensions import Self

_KEPT = ("_predictor", "_postponed", "_ranges")  # of a fit, beside its attributes
_ROUGH = 1e-2  # tolerance of machines that are only compared
_CS = np.logspace(-2, 3, 6).tolist()
_ALPHAS = np.logspace(-4, 2, 13).tolist()


@dataclass(eq=False, repr=False, kw_only=True)
class _Search(Strategic, tuning.FoldSearch):
    """Cross-validation of one parameter and of the rule for the weights, then a fit on all."""

    weighting: Any = None
    strategy: str | None = None
    ensemble: bool = True

    def _search(self, X, y, source, splits, *, parameter, values, path, predict=None):
        """Choose, fit on everything, and store the results.

        Samples of weight 0 take part in nothing but the attributes of the last fit.

        Parameters
        ----------
        X, y : as given to ``fit``, and as checked
        source : opened on X, with sample weights if there are any
        splits : list of (train, test), or None for leave-one-out
        parameter : {"C", "alpha"}
        values : list of float
        path : callable
            ``path(combination, y, split, values)``: test predictions, one array per value. It goes
            to the workers of a client, so it must not hold this object, whose ``cv`` may not be
            sent.
        predict : callable, optional
            Makes predictions of what ``path`` returns, if that is something else.

        Returns
        -------
        list
            What ``path`` returned for the chosen candidate in every fold; with ``predict`` only.
        """
        score = tuning.get_score(self.scoring, self._estimator_type)
        given, rules, several = tuning.check_weightings(self._rule())
        inputs.check_room(source, rules, source.n_matrices)
        last_fit = X, y, source.weight
        source, y, splits = tuning.used_part(source, y, splits)
        everything = np.arange(source.n_samples)
        folds = [(everything, everything)] if splits is None else splits
        statistics = self._statistics(source, y, rules, splits)
        statistics = tuning.InTurn(statistics) if self.client is None else list(statistics)
        learners = [self._untuned(rule) for rule in given]
        fits = tuning.Fits(source, y, folds, statistics, rules, learners, parameter, path)
        jobs = [
            (t, r, [values[k] for k in same], same)
            for t in range(len(folds))
            for r, rule in enumerate(rules)
            for same in tuning.shared_weights(given[r], rule, parameter, len(values))
        ]
        scores = np.empty((len(folds), len(values), len(rules)))
        kept = np.empty(scores.shape, dtype=object)

        def take(job, predictions):
            t, r, _, same = jobs[job]
            test = folds[t][1]
            weight = () if source.weight is None else (source.weight[test],)
            for k, found in zip(same, predictions):
                if predict is not None:
                    kept[t, k, r], found = found, predict(found)
                scores[t, k, r] = score(y[test], found, *weight)
            progress(job + 1)

        with Progress(f"{len(folds)} folds", len(jobs), source.progress) as progress:
            tuning.each(self.client, fits, [job[:3] for job in jobs], take)
        candidates = {parameter: values, "weighting": given}
        if not several:
            del candidates["weighting"]
        results = tuning.search_results(candidates, scores)
        self._store_search(*results, given[0], *last_fit)
        self.n_splits_ = source.n_samples if splits is None else len(splits)
        return list(kept.reshape(len(folds), -1)[:, results[1]])

    def _as_plain(self):
        chosen = {k: v for k, v in self.best_params_.items() if k != "method"}
        plain = self._untuned(self.weighting_).set_params(**chosen)
        plain.chosen_machine_ = self.chosen_machine_
        return plain

    def _untuned(self, rule):
        """The estimator of these parameters and one rule, with nothing to choose."""
        shared = {n: getattr(self, n) for n in self._plain._parameters() if n in self._parameters()}
        return self._plain(**{**self._fixed, **shared, "weighting": rule})

    def _statistics(self, source, y, rules, splits):
        """Statistics of every training set, or of all samples for leave-one-out."""
        task = "classification" if self._estimator_type == "classifier" else "regression"
        if not any(tuning.from_statistics(rule) for rule in rules):
            return [None] * (1 if splits is None else len(splits))
        if splits is None:
            return [source.statistics(y, task, unbiased=self.unbiased)]
        trains = [train for train, _ in splits]
        return source.training_statistics(y, task, trains, unbiased=self.unbiased)

    def _store_search(self, results, best, weighting, X, y, weight):
        params = results["params"][best]
        # The parameter of the machine, and the weighting if several were given.
        model = self._untuned(weighting).set_params(**params).fit(X, y, weight)
        fitted = {k: v for k, v in vars(model).items() if k.endswith("_") or k in _KEPT}
        self._forget_all()
        self._adopt(fitted, results, best)
        self.weighting_ = model.weighting

    def _open(self, X, sample_weight):
        # A fit that fails leaves an estimator that is not fitted.
        self.__dict__.pop("_predictor", None)
        if self.normalize is not None:
            check_choice("normalize", self.normalize, ("trace",))
        return super()._open(X, sample_weight)


def _of_used(y, weight, splits):
    """Targets, weights and splits of the samples of positive weight."""
    if weight is None:
        return y, None, splits
    return y[weight > 0.0], weight[weight > 0.0], tuning.used_splits(splits, weight)


@dataclass(eq=False, repr=False, kw_only=True)
class MKLClassifierCV(_Search, KernelClassifier):
    """`MKLClassifier` that chooses ``C`` and how its kernel is made, by cross-validation.

    Without ``kernels`` several ways to learn a kernel are tried on the folds and the machines of
    the best two are averaged. With them it is equal to a grid search over the same folds, with much
    less work: one pass over the pairs of samples gives the alignment statistics of every training
    set, each fold forms its Gram matrix once, and machines are solved from the smallest C up, each
    started from the last.

    Parameters
    ----------
    kernels, multiclass, normalize, class_weight, probability, tol, max_iter
        As in `MKLClassifier`; probabilities are calibrated on the folds of ``cv``.
    weighting : str, object, or list of them, optional
        A rule as in `MKLClassifier`; several are compared, such as
        ``[AlignLq(q) for q in (1.5, 2, 4)]``. "auto" chooses by ``strategy``. Default: "auto"
        where ``kernels`` is None or a ``strategy`` is given, else "alignf".
    Cs : sequence of float, optional
        Values of C; default 1e-2, 1e-1, ..., 1e3.
    cv : int, sequence of m labels, iterable of (train, test), or object with ``split(X, y)``, \
default 5
        A number of folds: shuffled, with classes in equal shares, at most as many as samples of
        the largest class. Labels: each sample is tested with those of its label.
    scoring : {"accuracy", "balanced_accuracy"} or callable, optional
        ``scoring(y_true, y_predicted) -> float``, larger being better; default "accuracy", for a
        strategy the accuracy less 0.3 times the log loss of decisions at their best temperature.
    random_state : int or numpy.random.Generator, optional
        Of the shuffle; None shuffles with a fixed seed, so results repeat.
    client : dask.distributed.Client, optional
        Its workers evaluate the pairs, and take the folds. Copies share it; pickles are without.

    Attributes
    ----------
    C_ : float
        The chosen value; the first of ``Cs`` among equals.
    weighting_ : str or object
        The chosen rule.
    best_score_ : float
        Mean score over folds of the chosen candidate.
    best_params_ : dict
    best_index_ : int
        Its position in ``cv_results_``.
    cv_results_ : dict of ndarray
        ``params`` (list of dict), ``param_C``, ``param_weighting`` (if several were given),
        ``split0_test_score``, ..., ``mean_test_score``, ``std_test_score``, ``rank_test_score``, in
        the order of scikit-learn's grid search over the same values.
    n_splits_ : int
    members_ : tuple of Member
        After a strategy: the machines whose decisions are added up, each with ``name``, ``share``,
        ``kernel`` and ``model``. Attributes of one kernel, such as ``weights_`` and ``kernel_``,
        are those of the one machine; of several each has its own, and here they do not exist.
    scales_ : ndarray of shape (d,)
        After a strategy that took one machine on scaled features.
    method_ : str
        After a strategy: the best way.
    weights_, scale_, kernel_, alignment_, uniform_alignment_, kernel_alignments_, kernels_, \
statistics_, result_, classes_, support_, dual_coef_, intercept_, coef_, n_iter_, machine_, \
calibration_, n_features_in_, feature_names_in_
        Of the fit on all samples with the chosen values, as in `MKLClassifier`.

    Notes
    -----
    Weights are learned on each training set alone. Only ``gamma="scale"``, which reads no labels,
    is fixed on all samples.

    With ``weighting="auto"`` a *way* makes a kernel of each training set: equal weights of the
    kernels ("uniform"), learned ones ("alignf"), and the one kernel of the smallest leave-one-out
    error of ridge regression on 200 samples ("single"; of the default kernels one of seven widths).
    On features with scales learned from the training set (`FeatureScales`) there are
    "scaled-single", "scaled-uniform" and, for "thorough", "scaled-alignf"; "rotated-single" takes a
    learned matrix, for at most 100 features. Scales need kernels whose gradient is known, and
    "single" kernels of pairs of samples. C is tried without the ends of its grid on the first
    fold, on the others with the neighbours of what is best so far, the ends after two folds.
    ``cv_results_`` then has ``param_method``, NaN for folds on which a candidate was not tried,
    ``n_splits``, and in ``mean_test_shown`` the accuracy. Averaged decisions are over their mean
    absolute value on the folds. ``bound`` and ``alignment_interval`` take held-out samples alone
    where more than weights was learned.

    Where scikit-learn routes metadata, ``groups`` are requested if the splitter ``cv`` requests
    them, as `sklearn.model_selection.GroupKFold` does, or by ``set_fit_request(groups=True)``.

    A one-stage rule given by name takes the candidate's own C, so it is solved for every candidate.

    Peaks of memory, in (m, m) matrices of float64: 0.9 at m = 5000 and 9000. Training sets of more
    than 10,000 samples take the rows of the support vectors where a pilot finds these few, and the
    whole matrix elsewhere: 0.25 at m = 18,000 (ijcnn1, 5 folds, 4 values of C).
    Measured against a grid search over the same folds (1000 samples, 9 Gaussians, 5 folds, one
    thread): 0.23 s and 0.81 s for 11 values of C, 0.33 s and 2.2 s for ridge and 13 values of
    alpha.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, MKLClassifierCV
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.linalg.norm(X, axis=1) < 1.1
    >>> model = MKLClassifierCV([Gaussian(0.1), Gaussian(1.0)], Cs=[0.1, 1.0, 10.0], cv=3).fit(X, y)
    >>> model.C_ in (0.1, 1.0, 10.0), model.cv_results_["mean_test_score"].shape
    (True, (3,))
    >>> model.best_score_ > 0.8
    True
    """

    _plain, _fixed = MKLClassifier, {"machine": "svm"}

    Cs: Any = None

    def fit(self, X, y, sample_weight=None, *, groups=None) -> Self:
        """Choose C (and the weighting), then learn the kernel and train on everything.

        Parameters, errors and warnings as in `MKLClassifier.fit`; also a ValueError if folds
        cannot be made or a training set has one class only. ``groups`` (m,) go to ``cv.split``; a
        UserWarning says where ``cv`` is no splitter. Scores are weighted by ``sample_weight``, and
        a callable ``scoring`` gets it as a keyword of that name.

        Returns
        -------
        self
        """
        probability, self._fold_predictors = check_probability(self.probability), ()
        source = self._open(X, sample_weight)
        labels = inputs.class_labels(self, y, source.n_samples, weight=source.weight)
        values = tuning.check_grid("Cs", self.Cs, _CS)
        keep, classes = probability is not None, np.unique(labels)

        machine = self._untuned(None)._machine
        path = partial(paths.classifier_predictions, machine, decisions=keep)

        def predict(decisions):
            return predicted_labels(decisions, classes)

        splits = self._splits(labels, groups)
        check_classes(probability, labels, splits, source.weight)
        if self._by_strategy():
            return self._fit_classes(X, labels, source, splits, values, probability)
        search = {"parameter": "C", "values": values, "path": path}
        search["predict"] = predict if keep else None
        decisions = self._search(X, labels, source, splits, **search)
        if keep:
            tests = [test for _, test in splits]
            found = calibrate(probability, labels, tests, decisions, source.weight)
            self.calibration_ = found
            if source.weight is None:  # sets of classes are for samples that are exchangeable
                # They take the machines of folds, which the search has not kept.
                given = self._as_plain(), source, labels, check_memory("memory", None), found
                self.calibration_, self._fold_predictors = calibrate_on_folds(*given)
        return self

    def _fit_classes(self, X, labels, source, splits, values, probability):
        """The fit by a strategy."""
        classes, codes = np.unique(labels, return_inverse=True)
        codes, weight, folds = _of_used(codes, source.weight, splits)
        given = None if self.scoring is None else tuning.get_score(self.scoring, "classifier")

        def score(t, raw):
            test = folds[t][1]
            of_fold = None if weight is None else weight[test]
            if given is None:
                return strategies.class_score(
                    raw, codes[test], classes.size, self.multiclass, of_fold
                )
            found = confidences(raw, classes.size, self.multiclass)
            more = () if of_fold is None else (of_fold,)
            value = given(classes[codes[test]], predicted_labels(found, classes), *more)
            return value, value

        rough = self._untuned("uniform").set_params(tol=max(self.tol, _ROUGH))
        path = partial(paths.classifier_predictions, rough._machine, decisions="raw")
        how = {"parameter": "C", "values": values, "path": path, "score": score}
        found, shares = self._fit_by_strategy(X, labels, source, splits, **how)
        self.calibration_ = None
        if probability is not None:
            averages = [
                confidences(sum(map(np.multiply, shares, raw)), classes.size, self.multiclass)
                for raw in zip(*(found.kept[at] for at in found.order))
            ]
            tests = [test for _, test in splits]
            self.calibration_ = calibrate(probability, labels, tests, averages, source.weight)
        return self

    def _untuned(self, rule):
        # Calibrated on the folds of the search.
        return super()._untuned(rule).set_params(probability=None)


@dataclass(eq=False, repr=False, kw_only=True)
class MKLRegressorCV(_Search, KernelRegressor):
    """`MKLRegressor` that chooses ``alpha`` or ``C`` and how its kernel is made, by validation.

    Without ``kernels`` by a strategy, whose predictions are averaged as they are; with them equal
    to a grid search over the same folds with much less work; see `MKLClassifierCV`. For
    kernel ridge all values of alpha come from one matrix reduction per fold, and leave-one-out
    predictions are exact and need no refits.

    Parameters
    ----------
    kernels, machine, epsilon, normalize, tol, max_iter
        As in `MKLRegressor`.
    weighting : str, object, or list of them, optional
        As in `MKLClassifierCV`; with ``cv="loo"`` the default is "alignf".
    per_target : bool, default False
        Weights and alpha for every target, for "krr" and ``weighting="alignf"``; with "uniform"
        an alpha for each. See the notes.
    missing : {"tables", "drop-per-target"}, optional
        "tables": samples may lack tables, as in `MKLRegressor`; not with ``per_target``.
        "drop-per-target": with ``per_target``, NaN in y is a missing value. Targets that lack the
        same samples are fitted together, on the samples that they have, exactly as without the
        others (kernels stay scaled to the trace on all samples); each such group takes
        decompositions of its own.
        None, the default: NaN is refused.
    alphas : sequence of float, optional
        "krr": values of alpha, default 13 from 1e-4 to 1e2 in equal ratios; with ``per_target`` 33
        from 1e-4 to 1e4. Positive for leave-one-out and strategies, otherwise >= 0.
    Cs : sequence of float, optional
        "svr": values of C; default 1e-2, 1e-1, ..., 1e3.
    cv : "loo", int, sequence of m labels, iterable of (train, test), or object with \
``split(X, y)``, optional
        Default: "loo" (leave-one-out) for "krr" with one weighting, else 5 shuffled folds.
    scoring : {"neg_root_mean_squared_error", "neg_mean_squared_error", "neg_mean_absolute_error", \
"r2"} or callable, optional
        ``scoring(y_true, y_predicted) -> float``, larger being better; default the first. With
        leave-one-out it is called once, on the predictions of all samples.
    random_state : int or numpy.random.Generator, optional
        Of the shuffle; None shuffles with a fixed seed, so results repeat.

    Attributes
    ----------
    alpha_ : float
        "krr": the chosen value.
    C_ : float
        "svr": the chosen value.
    weighting_, best_score_, best_params_, best_index_, cv_results_, n_splits_, members_, scales_, \
method_
        As in `MKLClassifierCV`. For leave-one-out ``split0_test_score`` is the one score.
    uniform_score_ : ndarray of shape (q,)
        With ``per_target``: R^2 by cross-validation of equal weights at the best alpha.
        ``best_score_`` is R^2 too then, (q,), as is ``alpha_``; ``weights_`` are (p, q) of sum 1.
    candidates_, candidate_ : ndarray of shape (n, p) and (q,)
        With ``per_target``: the weights that were tried, and the number of each target's.
    weights_, scale_, kernel_, alignment_, uniform_alignment_, kernel_alignments_, kernels_, \
statistics_, result_, coef_, support_, dual_coef_, intercept_, n_iter_, machine_, n_features_in_, \
feature_names_in_
        Of the fit on all samples with the chosen values, as in `MKLRegressor`.

    Notes
    -----
    Leave-one-out is that of the machine: the kernel was learned with the sample that is left out.
    That serves to choose alpha, not to judge the kernel; to compare weightings, or for a score to
    report, use folds, where weights are learned on each training set alone.

    With ``per_target`` targets share some 60 weight vectors: equal weights, single kernels, the
    centres of clusters of the targets' own weights, found by alignment that is corrected for noise,
    and random ones. Every target takes the best of these near its own, and the best alpha, by exact
    leave-one-out or folds; the candidates themselves are found on all samples. Training sets must
    be all samples that are not tested. Weights are not contributions: how much of a target a kernel
    explains depends on the others too. ``device`` and ``client`` evaluate the kernels, in ``fit``
    and on new samples; decompositions and products with targets, which are nearly all of the work,
    stay in this process, where BLAS takes the threads: a candidate is tried on as few penalties as
    those before it leave open, so that candidates follow one another.

    Peaks of memory at m = 5000, in (m, m) matrices: 1.1 for leave-one-out, 1.2 for ridge with
    folds, 1.3 for "svr", whose solver keeps up to 0.3 of a matrix of rows close together.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, MKLRegressorCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 1))
    >>> y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=60)
    >>> model = MKLRegressorCV([Gaussian(0.1), Gaussian(1.0)], alphas=[1e-4, 0.1, 100.0]).fit(X, y)
    >>> model.alpha_  # of the least leave-one-out error
    0.1
    >>> model.score(X, y) > 0.8
    True
    """

    _plain, _fixed = MKLRegressor, {}

    machine: str = "krr"
    per_target: bool = False
    alphas: Any = None
    Cs: Any = None
    cv: Any = None

    @property
    def _own_weights(self):
        return "candidates_" in vars(self)

    def _check_missing(self):
        return self.missing  # by `per_target.check_missing`

    def _leave_one_out(self):
        if self.cv is None:
            rule = self._rule()
            single = not isinstance(rule, (list, tuple)) or len(rule) == 1
            return self.machine == "krr" and single and (self.per_target or rule != "auto")
        loo = isinstance(self.cv, str) and self.cv == "loo"
        if loo and self.machine != "krr":
            raise ValueError(
                f"cv='loo' is for machine='krr', where it has a closed form; got machine="
                f"{self.machine!r}. Give a number of folds."
            )
        if loo and self._by_strategy() and not self.per_target:
            raise ValueError(
                "cv='loo' does not go with weighting='auto', as scales are learned from all "
                "targets; give a number of folds, or weighting='alignf'."
            )
        return loo

    def fit(self, X, y, sample_weight=None, *, groups=None) -> Self:
        """Choose alpha or C (and the weighting), then learn the kernel and train on everything.

        Parameters, errors and warnings as in `MKLRegressor.fit`; also a ValueError if folds cannot
        be made. ``groups`` (m,) and ``sample_weight`` (m,) as in `MKLClassifierCV.fit`; a sample
        is left out with its whole weight.

        Returns
        -------
        self
        """
        check_choice("machine", self.machine, ("krr", "svr"))
        per_target.check_missing(self.missing, self.per_target)
        source = self._open(X, sample_weight)
        if check_flag("per_target", self.per_target):
            return self._fit_per_target(X, y, source, groups)
        y = inputs.real_targets(self, y, source.n_samples, source.weight)
        if self.machine == "svr":
            parameter, values = "C", tuning.check_grid("Cs", self.Cs, _CS)
        else:
            loo = self._leave_one_out()
            parameter = "alpha"
            strict = loo or self._by_strategy()
            values = tuning.check_grid("alphas", self.alphas, _ALPHAS, strict=strict)
        splits = self._splits(y, groups)
        path = self._path(splits)
        if self._by_strategy():
            return self._fit_targets(X, y, source, splits, parameter, values, path)
        self._search(X, y, source, splits, parameter=parameter, values=values, path=path)
        return self

    def _fit_targets(self, X, y, source, splits, parameter, values, path):
        """The fit by a strategy."""
        given = tuning.get_score(self.scoring, "regressor")
        used, weight, folds = _of_used(y, source.weight, splits)

        def score(t, predicted):
            test = folds[t][1]
            value = given(used[test], predicted, *(() if weight is None else (weight[test],)))
            return value, value

        how = {"parameter": parameter, "values": values, "path": path, "score": score}
        self._fit_by_strategy(X, y, source, splits, **how)
        return self

    def _fit_per_target(self, X, y, source, groups):
        rule = per_target.checked_rule(self)
        if self.unbiased:
            raise ValueError("unbiased=True is not for per_target=True; accepted: one of them.")
        gaps = self.missing == "drop-per-target"
        given = inputs.real_targets(self, y, source.n_samples, source.weight, gaps=gaps)
        alphas = tuning.check_grid("alphas", self.alphas, per_target.ALPHAS)
        splits = self._splits(given, groups)
        source, Y, splits = tuning.used_part(source, given.reshape(len(given), -1), splits)
        (per_target.check_gaps if gaps else per_target.check_varies)(Y)
        inputs.check_room(source, [], len(source.names) + 2)
        first = np.nan_to_num(Y[:, 0])
        statistics, scale = self._normalized(source.statistics(first, "regression"))
        scale = np.where(statistics.norms > 0.0, scale, 0.0)
        tests = per_target.test_sets(splits, len(Y))
        rng = check_seed("random_state", self.random_state)
        choice = {"alphas": alphas, "uniform": rule == "uniform", "verbose": source.progress}
        pick = partial(per_target.choose, **choice)
        found, predictor, coef = per_target.fit_targets(source, Y, scale, tests, pick, rng)
        self._store_targets(X, source, given, scale, found)
        self.n_splits_ = len(Y) if splits is None else len(splits)
        if coef is not None:
            self.dual_coef_ = coef
        one = given.ndim == 1
        self.intercept_ = float(predictor.intercept[0]) if one else predictor.intercept
        self._predictor = predictor
        return self

    def _store_targets(self, X, source, y, scale, found):
        """Take over what was found for every target; nothing stays of a fit with one kernel."""
        self._forget_all()
        self._store_columns(X, source.n_features)
        self.kernels_, self.scale_, self._names = source.fitted_kernels, scale, source.names
        self.weights_, self.alpha_ = found.weights, found.alpha
        self.best_score_, self.uniform_score_ = found.score, found.uniform_score
        self.candidates_, self.candidate_ = found.candidates, found.chosen

    def summary(self, max_rows=30) -> str:
        """The learned combination as a text table; with ``per_target`` the weights of all targets.

        Parameters and result as of `MKLClassifierCV.summary`; with ``per_target`` a line per
        kernel: mean and largest weight over the targets, and of how many it has more than half.
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

    def _path(self, splits):
        if self.machine == "svr":
            options = {"epsilon": self.epsilon, "tol": self.tol, "max_iter": self.max_iter}
            return partial(tuning.support_vector_path, partial(SupportVectorRegressor, **options))
        return tuning.leave_one_out if splits is None else paths.regressor_predictions
