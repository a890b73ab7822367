"""The solution paths: one training set, one kernel, many values of C or of alpha."""

from __future__ import annotations

from functools import partial
from operator import methodcaller

import numpy as np

from alignlearn._pairs import PairDecisions, stored_coefficients
from alignlearn.solvers.dense import is_factored, shifted
from alignlearn.solvers.multiclass import of_present_classes
from alignlearn.validation import check_memory

from . import feature_space
from ._ridge import center_rooted, ridge_loo_path
from .choice import (
    LARGE_ALPHA,
    MOST_REDUCED,
    MOST_REDUCED_OF_LARGE,
    MOST_SHARED,
    Sizes,
    is_iterative,
    matrix_fits,
    ridge_in_features,
    rows_are_read,
    svm_in_features,
)
from .copies import find_copies
from .gram_rows import Pilot, row_cache
from .iterative_ridge import SINGLE, iterative_path, mean_square

_FEW = 1000  # samples whose matrix is negligible compared with the memory of a process
_READ = {False: "predict", True: "decision_function", "raw": "problem_decisions"}
_READ_UNCHECKED = {**_READ, "raw": "raw_decisions"}


def classifier_predictions(make, combination, y, split, values, decisions=False, memory=None):
    """Test predictions of a classifier for each C; from the features if that is faster.

    With ``decisions``, the confidences of its classes instead of labels, and with "raw" those of
    its problems of two classes, (n, n_problems). Here and below, machines use the positive sample
    weights of the combination. ``memory`` are bytes for kernel values, or a string such as "2GB".
    """
    train, test = split
    weight = combination.source.weight_of(train)
    make = of_training_classes(make, y[train])
    if not svm_in_features(Sizes.of(combination), max(values)):
        return support_vector_predictions(make, combination, y, split, values, decisions, memory)
    Z = feature_space.WeightedFeatures(combination).dense()
    fitted = [feature_space.fit_classifier(make(C), Z[train], y[train], weight) for C in values]
    return [getattr(m, _READ[decisions])(Z[test]) for m in fitted]


def of_training_classes(make, labels):
    """``make`` for a training set of these labels, without the class weights of other classes."""

    def made(C):
        machine = make(C)
        machine.class_weight = of_present_classes(machine.class_weight, labels)
        return machine

    return made


def support_vector_predictions(make, combination, y, split, values, decisions=False, memory=None):
    """The same for support vector machines, on the Gram matrix or, if that costs less, its rows.

    A pilot fit for the smallest value decides, because it usually has the most support vectors.
    Rows are kept from one value to the next.
    """
    train, test = split
    weight = combination.source.weight_of(train)
    copies = find_copies(combination.source, train, weight, y[train])
    if copies is not None:
        train, weight = train[copies.first], copies.weight
    rows = _rows_of(combination, y, train, make(min(values)), memory)
    if rows is None or np.isinf(max(values)):
        K, K_test = combination.split(split if copies is None else (train, test))
        return svm_path(make, K, y[train], K_test, values, weight, decisions)
    part, cache, order = rows
    weight = None if weight is None else weight[order]
    train = train[order]
    X_test = combination.source.as_new(test)

    def predict(machine):
        coef = coefficients_for(part, machine)
        found = part.predictor(machine.support_, coef, machine.intercept_)
        raw = found.decisions(X_test, combination.source.engine)
        if decisions == "raw":
            return raw
        return machine.confidences(raw) if decisions else machine.predictions(raw)

    return _along(make, cache, y[train], values, weight, predict)


def _rows_of(combination, y, train, machine, memory):
    """The training part, a cache of its rows, and their order; None if there is a matrix.

    ``memory``: as `check_memory` takes it.
    """
    few = len(train) <= _FEW
    if few and memory is None:  # 8 MB
        return None
    memory = check_memory("memory", memory)
    if few and matrix_fits(Sizes.of_source(combination.source), memory):
        return None
    train, order = np.unique(train, return_index=True)
    part = combination.part(train)
    pilot, sizes = Pilot(part, machine, y[train]), Sizes.of_source(part.source)
    if not rows_are_read(sizes, memory, machine.C, pilot, MOST_SHARED):
        return None
    return part, row_cache(part, memory), order


def coefficients_for(combination, machine):
    """Dual coefficients of a machine, stored as the predictor of a combination takes them."""
    coef = stored_coefficients(machine)
    return coef if combination.takes_compact else machine.dual_coef_


def least_squares_predictions(make, combination, y, split, values):
    """Raw decisions of a `LeastSquaresClassifier` for each C, as of `classifier_predictions`.

    One reduction of the matrix serves all values.
    """
    train, _ = split
    machine = of_training_classes(make, y[train])(min(values))
    found, weight = machine.targets(y[train], combination.source.weight_of(train))
    targets = np.zeros((len(y), found.shape[1]))
    targets[train] = found
    alphas = [make(C).alpha for C in values]
    if weight.ndim == 1:
        weight = None if np.all(weight == 1.0) else weight
        columns = regressor_predictions(combination, targets, split, alphas, weight)
    else:  # one reduction per label, because each label has its own weights
        each = [
            regressor_predictions(combination, targets[:, [k]], split, alphas, w)
            for k, w in enumerate(weight)
        ]
        columns = [np.hstack(of_alpha) for of_alpha in zip(*each)]
    return [machine.problems(one, PairDecisions.of_columns) for one in columns]


def regressor_predictions(
    combination, y, split, alphas, weight=None, most_steps=None, descending=False
):
    """Test predictions of kernel ridge for each alpha; from the features if these are few.

    Parameters
    ----------
    combination, y, split, alphas
        The kernel and the targets of all samples, (training, test) positions, and values >= 0.
    weight : (m,), optional
        Of the training samples. Default: as in the combination.
    most_steps : int, optional
        Limit of the steps of conjugate gradients, if the samples are too many for a factorization.
        An alpha that needs more has the predictions of the last step, or of half as many steps if
        its residual was not halved by then.
    descending : bool, default False
        Whether iterations try the largest alphas first and end where a smaller one has a larger
        squared error. The predictions for the others are None.
    """
    train, _ = split
    weight = combination.source.weight_of(train) if weight is None else weight
    if min(alphas) > 0.0 and ridge_in_features(Sizes.of(combination)):
        features = feature_space.WeightedFeatures(combination)
        return feature_space.ridge_predictions(features, y, split, alphas, solve_each_alpha, weight)
    copies = find_copies(combination.source, train, weight) if min(alphas) > 0.0 else None
    if copies is not None:
        means, train = copies.means(y[train]), train[copies.first]
        y, weight, split = np.array(y, dtype=means.dtype), copies.weight, (train, split[1])
        y[train] = means
    sizes = Sizes.of(combination)._replace(n_samples=len(train))

    error = None
    if descending:
        given = combination.weight
        error = partial(mean_square, y[split[1]], None if given is None else given[split[1]])

    def factored(some, error_of=None):
        single = None  # the combination in float32, if each alpha has a factor of its own
        few = is_factored(len(train), len(some), np.float32)
        if few and min(some) >= SINGLE * np.mean(combination.diagonal()):
            single = combination.in_single()
        K, K_test = (single or combination).split(split)
        how = {"weight": weight, "overwrite": True, "single": single is not None}
        return ridge_path(K, y[train], K_test, some, error=error_of, **how)

    # Iterations cost less than one reduction for many samples, or for large values of alpha.
    iterative = min(alphas) > 0.0 and is_iterative(sizes, MOST_REDUCED_OF_LARGE)
    if iterative and not is_iterative(sizes, MOST_REDUCED):
        iterative = min(alphas) >= LARGE_ALPHA * np.mean(combination.diagonal())
    if not iterative:
        return factored(alphas, error)
    given = combination, y, split, alphas, factored, weight, most_steps, error
    return iterative_path(*given)


def leave_one_out_predictions(combination, y, alphas):
    """Prediction at each sample by the ridge machine trained on the others, for each alpha."""
    if ridge_in_features(Sizes.of(combination)):
        features = feature_space.WeightedFeatures(combination)
        return feature_space.leave_one_out_predictions(features, y, alphas, combination.weight)
    options = {"sample_weight": combination.weight, "check": False, "overwrite": True}
    return list(ridge_loo_path(combination.gram(), y, alphas, **options).predictions)


def svm_path(make, K, y, K_test, values, weight=None, decisions=False):
    """Test predictions of a support vector machine for each C, each started from the previous one.

    Parameters
    ----------
    make : callable
        ``make(C)`` gives an unfitted machine.
    K, K_test : ndarray of shape (m, m) and (n, m)
        Gram matrices, up to functions of one argument; known to be finite and symmetric.
    y : ndarray of shape (m,)
    values : sequence of float
        In any order. They are solved in increasing order, because a solution is then feasible for
        the next value, and its coefficients at a bound only have to grow.
    weight : ndarray of shape (m,), optional
        Sample weights.
    decisions : bool or "raw"
        Return decisions rather than predictions; "raw" are those of the problems of two classes.

    Returns
    -------
    list of ndarray of shape (n,), or (n, c) for decisions of several classes
        In the order of ``values``.
    """
    if decisions == "raw":
        order = np.argsort(values, kind="stable")
        increasing = [values[k] for k in order]
        found = make(increasing[0]).decisions_each(K, y, increasing, K_test, weight)
        if found is not None:
            return [found[k] for k in np.argsort(order)]
    predict = methodcaller(_READ_UNCHECKED[decisions], K_test)
    return _along(make, K, y, values, weight, predict)


def _along(make, K, y, values, weight, predict):
    """The result of ``predict`` for the machine of each value, in increasing order."""
    found, order = [None] * len(values), np.argsort(values, kind="stable")
    increasing = [values[k] for k in order]
    for k, machine in zip(order, make(increasing[0]).fit_each(K, y, increasing, weight)):
        found[k] = predict(machine)
    return found


def ridge_path(
    K,
    y,
    K_test,
    alphas,
    *,
    weight=None,
    skip_indefinite=False,
    overwrite=False,
    single=False,
    error=None,
):
    """Test predictions of kernel ridge with an intercept for each alpha, from one reduction.

    Parameters
    ----------
    K, K_test
        As in `svm_path`.
    y : ndarray of shape (m,) or (m, c)
    alphas : sequence of float
        Each >= 0.
    weight : ndarray of shape (m,), optional
        Sample weights, positive.
    skip_indefinite : bool
        If the centered K + alpha I is not positive definite to working precision, predict infinity
        instead of raising an error. An error is raised if no alpha is left.
    overwrite : bool
        Work in K and K_test, if they are float64, instead of in copies.
    single : bool
        Work in float32 where alpha is large enough for models that are only compared.
    error : callable, optional
        Error of predictions. If each alpha takes a factorization, only values next to the smallest
        error are tried, and predictions for others are None.

    Returns
    -------
    list of ndarray of shape (n,) or (n, c)

    Raises
    ------
    ValueError
    """
    own, dtype = np.asarray if overwrite else np.array, np.float32 if single else np.float64
    inner, K_test = (own(A, dtype=dtype, order="C") for A in (K, K_test))
    weight = np.ones(len(y)) if weight is None else weight
    root, share = np.sqrt(weight), weight / weight.sum()
    mean, means = share @ y, center_rooted(inner, share, root, lift=True)[0]
    target = root[:, None] * (y - mean).reshape(len(y), -1)
    by_value = error is not None and is_factored(len(y), len(alphas), dtype)
    # The coefficients sum to 0, so rows of the test kernel need no centering.
    K_test -= means
    inverse = shifted(inner, len(alphas))

    def predicted(some):
        solved = inverse.solve(target, some, inverse.rounding)
        _check_solved(solved, some, skip_indefinite)
        coef = root[:, None] * solved.reshape(len(y), -1)
        usable = np.isfinite(coef).all(axis=0)
        coef[:, usable] -= np.outer(share, coef[:, usable].sum(axis=0))
        fitted = np.full((len(K_test), coef.shape[1]), np.inf)
        fitted[:, usable] = K_test @ coef[:, usable].astype(dtype, copy=False)
        fitted = fitted.reshape(len(K_test), len(some), -1) + mean
        return [fitted[:, k].reshape(len(K_test), *y.shape[1:]) for k in range(len(some))]

    return nearest_to_least(predicted, alphas, error) if by_value else predicted(alphas)


def nearest_to_least(predicted, alphas, error):
    """Predictions for the values of alpha next to the smallest error, and None for others.

    Values are tried from the middle on, towards smaller errors. ``predicted([alpha])`` is a list of
    one result, whose error is ``error(result)``. Other ordered values serve as well, such as the
    numbers of widths.
    """
    order, found = np.argsort(alphas, kind="stable"), [None] * len(alphas)

    def error_at(place):
        k = order[place]
        [found[k]] = predicted([alphas[k]])
        return error(found[k])

    place = (len(alphas) - 1) // 2
    least, step = error_at(place), -1
    if place + 1 < len(alphas):
        above = error_at(place + 1)
        if above < least:
            least, place, step = above, place + 1, 1
    while 0 <= place + step < len(alphas):
        place += step
        now = error_at(place)
        if not now < least:
            break
        least = now
    return found


def solve_each_alpha(system, target, alphas):
    """``(system + alpha I)^-1 target`` for each alpha, side by side: (m, n_alphas * c).

    ``system`` (m, m), in C order, is overwritten. A ValueError is raised where the sum is not
    positive definite to working precision.
    """
    inverse = shifted(system, len(alphas))
    solved = inverse.solve(target, alphas, inverse.rounding)
    _check_solved(solved, alphas)
    return solved.reshape(len(solved), -1)


def _check_solved(solved, alphas, skip_indefinite=False):
    """Raise an error if solutions (m, n_alphas, c) of a `shifted` system are infinite.

    With ``skip_indefinite`` only those of the largest alpha must be finite.
    """
    for k, alpha in enumerate(alphas):
        if not np.isfinite(solved[0, k, 0]) and not (skip_indefinite and alpha < max(alphas)):
            raise ValueError(
                f"K + alpha I is not positive definite to working precision at alpha={alpha:g}: "
                "raise alphas above minus the smallest eigenvalue of the centered K; nonnegative "
                "weights of positive semi-definite kernels have none below 0."
            )
