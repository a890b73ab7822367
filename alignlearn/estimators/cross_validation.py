"""Cross-validation on given Gram matrices: [train][:, train] to fit, [test][:, train] to score."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping

import numpy as np

from alignlearn._params import OF_PROCESS
from alignlearn.folds import make_folds
from alignlearn.kernels import gram_items, plain_gram
from alignlearn.solvers.multiclass import check_class_weight, of_present_classes
from alignlearn.sources import GramStack, GramViews, gram_parts
from alignlearn.validation import check_labels, check_targets


def cross_validate_kernels(
    estimator, grams, y, *, cv=5, scoring=None, random_state=None, return_estimator=False
):
    """Cross-validate an estimator with ``kernels="precomputed"``.

    Parameters
    ----------
    estimator : MKLClassifier or MKLRegressor
        With ``kernels="precomputed"``; it is copied for every fold.
    grams : sequence of p matrices (m, m), data frames or Precomputed, or array of shape (p, m, m)
        May be memmaps or lazy: only the rows in use are read. The ``fix`` of a Precomputed is
        computed on each training set. A dict of matrices, or a `GramStack`, gives them names.
    y : array-like of shape (m,) or (m, c)
    cv : int, sequence of m labels, iterable of (train, test), or object with ``split(X, y)``, \
default 5
        An integer is the number of shuffled folds, which a classifier stratifies by class. It is
        reduced if there are fewer samples (of every class). With labels, each sample is tested
        together with those of its label.
    scoring : callable, optional
        ``scoring(estimator, grams, y) -> float``; default ``estimator.score``.
    random_state : int or numpy.random.Generator, optional
        Seed of the shuffle. None is a fixed seed, so results are reproducible.
    return_estimator : bool, default False

    Returns
    -------
    dict
        ``test_score``, ``fit_time``, ``score_time`` (seconds) and ``alignment`` of shape
        (n_folds,), ``weights`` of shape (n_folds, p), ``indices`` (a list of (train, test)), and
        with ``return_estimator`` a list ``estimator``.

    Raises
    ------
    ValueError, TypeError
        Bad input, folds that cannot be made, or an estimator with other kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, Linear, MKLRegressor, cross_validate_kernels
    >>> X = np.random.default_rng(0).normal(size=(60, 1))
    >>> grams = {"gaussian": Gaussian(1.0)(X), "linear": Linear()(X)}
    >>> model = MKLRegressor("precomputed", alpha=0.01)
    >>> found = cross_validate_kernels(model, grams, np.sin(2 * X[:, 0]), cv=3)
    >>> found["test_score"].shape, found["weights"].shape, bool(found["test_score"].min() > 0.5)
    ((3,), (3, 2), True)
    """
    if getattr(estimator, "kernels", None) != "precomputed":
        raise ValueError(
            f"estimator must have kernels='precomputed', got {estimator!r}; with kernel "
            "functions, use any cross-validation of X."
        )
    named = isinstance(grams, (Mapping, GramStack))
    grams = GramStack(grams) if named else gram_items(grams, "grams")
    stratify = estimator._estimator_type == "classifier"
    y = (check_labels if stratify else check_targets)(y)
    m = len(grams) if named else grams[0].shape[0]
    if len(y) != m:
        raise ValueError(f"y has {len(y)} values, but the matrices have {m} rows.")
    found = {"test_score": [], "fit_time": [], "score_time": [], "weights": [], "alignment": []}
    folds = make_folds(cv, y, stratify, random_state)
    if stratify:
        check_class_weight(getattr(estimator, "class_weight", None), y)
    fitted = []
    for train, test in folds:
        fitted.append(_one_fold(estimator, grams, y, train, test, scoring, found))
    result = {key: np.array(values) for key, values in found.items()}
    result["indices"] = folds
    if return_estimator:
        result["estimator"] = fitted
    return result


def _one_fold(estimator, grams, y, train, test, scoring, found):
    params = estimator.get_params(deep=False)
    params = {k: v if k in OF_PROCESS else copy.deepcopy(v) for k, v in params.items()}
    if "class_weight" in params:
        params["class_weight"] = of_present_classes(params["class_weight"], y[train])
    model = type(estimator)(**params)
    if isinstance(grams, GramStack):
        training, against = grams[train], grams[test]
    else:
        training = gram_parts(grams, train)
        against = GramViews([plain_gram("grams", K) for K in grams], test, train)
    start = time.perf_counter()
    model.fit(training, y[train])
    fitted = time.perf_counter()
    score = model.score if scoring is None else lambda X, y: scoring(model, X, y)
    found["test_score"].append(float(score(against, y[test])))
    found["score_time"].append(time.perf_counter() - fitted)
    found["fit_time"].append(fitted - start)
    found["weights"].append(model.weights_)
    found["alignment"].append(model.alignment_)
    return model
