"""The hyper-kernel classifier with parameters selected by cross-validation."""

from __future__ import annotations

from dataclasses import field
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from alignlearn.estimators import schedule, search
from alignlearn.estimators.base import parameters, shared
from alignlearn.estimators.results_table import doubt_edges
from alignlearn.estimators.scoring import get_score
from alignlearn.machines import paths
from alignlearn.solvers.multiclass import check_class_weight
from alignlearn.validation import check_progress

from ._stages import STRENGTHS, GramMachine, kernel_path
from .classifier import HyperKernelClassifier, HyperKernelLearner

if TYPE_CHECKING:
    from typing_extensions import Self

MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0)
ALPHAS = (0.1, 1.0, 10.0, 100.0, 1000.0)
KERNEL_CS = (0.01, 0.1, 1.0)
CS = (0.1, 1.0, 10.0, 100.0)


@parameters
class HyperKernelClassifierCV(HyperKernelLearner):
    """`HyperKernelClassifier` with reach and regularization selected by cross-validation.

    The result equals that of a grid search over the same folds, with less work. A kernel is
    learned, and its matrix decomposed, once for all values of C. Low-rank solvers of stage 1 choose
    their landmarks once for all regularization strengths. Support vector machines are solved in
    increasing order of C, each started from the previous solution.

    Parameters
    ----------
    hyper_kernel : {"gaussian", "wishart", "ladder"} or HyperKernel, default "gaussian"
        A name means the scale of the data ("scale"); "ladder" is ``hyper_kernels()``.
    regression : {"krr", "svr", "nnls"}, HyperKRR, HyperSVR or HyperNNLS, default "krr"
        Regression of stage 1: ridge, support vectors with a bias, or ridge with coefficients >= 0,
        which gives positive semidefinite kernels (except for ``unit_diagonal``). An object is
        copied and used with its own parameters and with this ``hyper_kernel``; its regularization
        is not searched.
    multiples : sequence of float, optional
        Values of ``multiple``. Default: 1/4, 1/2, 1, 2, 4, the grid of the paper.
    alphas : sequence of float, optional
        "krr", "nnls": values of alpha. Default: 0.1, 1, 10, 100, 1000.
    kernel_Cs : sequence of float, optional
        "svr": values of kernel_C. Default: 0.01, 0.1, 1.
    Cs : sequence of float, optional
        Values of C. Default: 0.1, 1, 10, 100.
    epsilon : float, default 0.1
        "svr": half the width of the tube around the ideal kernel.
    solver : str, default "auto"
        Solver of stage 1: "dense", "cg", "pivoted" or "nystrom", see `HyperKRR`.
    machine : {"krein", "svm", "clip", "flip", "shift"}, default "krein"
        Model of stage 2. "krein": `KreinSVC`, which is a support vector machine if the learned
        matrix is positive semidefinite. "svm": a support vector machine in any case, which stops at
        a stationary point of a possibly nonconvex problem. Others: a support vector machine on a
        matrix made positive semidefinite (`SpectrumFix`), also for new samples.
    cv : int, sequence of m labels, iterable of (train, test), or object with ``split(X, y)``, \
default 5
        An integer is the number of shuffled, stratified folds; at most the number of samples of the
        largest class. With labels, the samples of a label are tested together.
    scoring : {"accuracy", "balanced_accuracy"} or callable, optional
        ``scoring(y_true, y_predicted) -> float``, larger is better. Default: "accuracy".
    multiclass : {"ovo", "ovr"}, default "ovo"
    class_weight : None, "balanced" or dict, default None
        Class weights of stage 2; stage 1 weights all pairs equally.
    tol : float, default 1e-3
        Maximum KKT violation of stage 2, and of "svr" in stage 1.
    max_iter : int, optional
        Maximum number of steps for each pair of classes in stage 2, and of "svr".
    random_state : int or numpy.random.Generator, optional
        Seed of the shuffle, and of stage 1 if it draws pairs. None is a fixed seed, so results are
        reproducible.

    Attributes
    ----------
    multiple_, C_ : float
        Selected values; ties go to the first of the grid.
    alpha_ or kernel_C_ : float
        Selected value of stage 1.
    best_score_ : float
        Mean score over folds of the chosen candidate.
    best_params_ : dict
    best_index_ : int
        Position of the chosen candidate in ``cv_results_``.
    cv_results_ : dict of ndarray
        ``params`` (list of dict), a ``param_`` for each of the values above, ``split0_test_score``,
        ..., ``mean_test_score``, ``std_test_score`` and ``rank_test_score``, in the order of
        scikit-learn's grid search over the same values.
    n_splits_ : int
    kernel_ : Kernel
        The kernel learned from all samples with the selected values: ``kernel_(X, Y)`` is a Gram
        matrix, also for new samples. The attributes below are those of the same fit.
    eigenvalue_range_ : tuple of float
        Smallest and largest eigenvalue of the learned Gram matrix.
    alignment_ : float
        Centered alignment of the learned Gram matrix with the labels.
    regression_report_ : dict
        Report of stage 1: the solver, the number of pairs, certificates of the optimum.
    classes_ : ndarray of shape (c,)
    support_ : ndarray of shape (n_support,)
        Training samples whose kernel values predictions need: nearly all of them if the learned
        matrix is indefinite, except for ``machine="svm"`` and "shift".
    dual_coef_ : ndarray of shape (n_support, n_problems)
        Coefficients in ``kernel_``: decisions are ``kernel_(X, X_train[support_]) @ dual_coef_ +
        intercept_``.
    intercept_ : ndarray of shape (n_problems,)
    n_iter_ : ndarray of shape (n_problems,)
    machine_ : KreinSVC or SupportVectorClassifier
        As trained on the fixed matrix for "clip", "flip" and "shift".
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X was a data frame with string column names.

    Notes
    -----
    Everything is learned on each training set only, including the scale of the hyper-kernel.

    A dense ridge takes a Cholesky factorization for each alpha: one reduction to tridiagonal form
    costs as much as 8 of them.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import HyperKernelClassifierCV
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> y = np.linalg.norm(X, axis=1) < 1.1
    >>> grid = {"multiples": [0.25, 1.0], "alphas": [0.1, 10.0], "Cs": [0.1, 10.0]}
    >>> model = HyperKernelClassifierCV(cv=3, **grid).fit(X, y)
    >>> sorted(model.best_params_), len(model.cv_results_["params"])
    (['C', 'alpha', 'multiple'], 8)
    """

    hyper_kernel: Any = field(default="gaussian", kw_only=False)
    regression: Any = "krr"
    multiples: Any = None
    alphas: Any = None
    kernel_Cs: Any = None
    Cs: Any = None
    epsilon: float = 0.1
    solver: str = "auto"
    machine: str = "krein"
    cv: Any = 5
    scoring: Any = None
    multiclass: str = "ovo"
    class_weight: Any = None
    tol: float = 1e-3
    max_iter: int | None = None
    verbose: Any = shared("verbose")
    random_state: Any = shared("random_state")

    def fit(self, X, y, *, groups=None) -> Self:
        """Select the parameters, then learn the kernel and train on all samples.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Finite; m >= 2.
        y : array-like of shape (m,)
            Labels of one type, at least two different ones.
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
        MemoryError
            Pairs or Gram matrices do not fit into the free memory.

        Warns
        -----
        ConvergenceWarning
            A solver stopped above ``tol``.
        DegenerateKernelWarning
            The learned kernel is constant on the training samples.
        """
        given = X
        X, labels = self._open(X, y)
        verbose = check_progress("verbose", self.verbose)
        measure = get_score(self.scoring, self._estimator_type)
        every = self._candidates()
        options = {"stratify": True, "random_state": self.random_state}
        splits = schedule.splits_of(self.cv, labels, groups, **options)
        check_class_weight(self.class_weight, labels)

        def score(t, predicted):
            value = measure(labels[splits[t][1]], predicted)
            return value, value

        values, names = every.pop("C"), sorted(every)
        params = [dict(zip(names, v)) for v in product(*(every[name] for name in names))]
        # The last name is the multiple. All regularizations of a multiple share their landmarks.
        candidates = [
            search.Candidate(p, partial(self._untuned, **p), job=k % len(every["multiple"]))
            for k, p in enumerate(params)
        ]
        found = search.search(
            candidates,
            values,
            schedule.grid(len(splits), len(values)),
            score,
            _Fits(candidates, X, labels, splits),
            parameter="C",
            names=every,
            verbose=verbose,
        )
        model = self._untuned(**found.params).fit(given, y)
        vars(self).update({k: v for k, v in vars(model).items() if k not in model._parameters()})
        for name, value in found.params.items():
            setattr(self, f"{name}_", value)
        self.cv_results_, self.best_params_ = found.table, found.params
        self.best_index_ = found.best
        self.best_score_ = float(found.table["mean_test_score"][found.best])
        doubt_edges(found.table, found.best)
        self.n_splits_ = len(splits)
        return self

    def get_metadata_routing(self):
        """Return the metadata routing; ``groups`` are requested if the splitter ``cv`` does so.

        ``set_fit_request(groups=True)`` requests them for every ``cv``.
        """
        return schedule.request_groups(super().get_metadata_routing(), self.cv)

    def _candidates(self):
        """Values of every parameter that is searched, by its name in the plain classifier."""
        candidates = {
            "C": search.check_grid("Cs", self.Cs, CS),
            "multiple": search.check_grid("multiples", self.multiples, MULTIPLES),
        }
        # A regression that is not a string is checked where it is made.
        strength = STRENGTHS.get(self.regression) if isinstance(self.regression, str) else None
        if strength == "alpha":
            candidates["alpha"] = search.check_grid("alphas", self.alphas, ALPHAS)
        elif strength == "kernel_C":
            grid = search.check_grid("kernel_Cs", self.kernel_Cs, KERNEL_CS)
            candidates["kernel_C"] = grid
        return candidates

    def _untuned(self, **params):
        """The plain classifier of these parameters, not fitted."""
        names = set(HyperKernelClassifier._parameters()) & set(self._parameters())
        return HyperKernelClassifier(**{n: getattr(self, n) for n in names}, **params)


class _Fits(NamedTuple):
    """Machines on the kernels that plain classifiers learn; a call fits those of one multiple."""

    candidates: list
    X: np.ndarray
    labels: np.ndarray
    splits: list

    def __call__(self, fold, tries):
        """Test predictions for each (number of the candidate, values of C), as a list of lists."""
        models = [self.candidates[number].make() for number, _ in tries]
        given = self.X, self.labels, self.splits[fold], tries[0][1]
        return [list(predictions) for predictions in _path(models, *given)]


def _path(models, X, labels, split, Cs):
    """Test predictions of models that differ in stage 1, for every C."""
    train, test = split
    kernels = kernel_path([model._regressor() for model in models], X[train], labels[train])
    for model, kernel in zip(models, kernels):
        prepared = GramMachine(model.machine, kernel(X[train]))
        K_test = prepared.test(kernel(X[test], X[train]))

        def make(C, model=model, prepared=prepared):
            return model._make_machine(prepared, C)

        make = paths.of_training_classes(make, labels[train])
        yield paths.svm_path(make, prepared.given, labels[train], K_test, Cs)
