"""One training set, one kernel, many values of the machine's parameter."""

from __future__ import annotations

import numpy as np

from alignlearn.estimators import _feature_space
from alignlearn.machines import ridge_loo_path


def classifier_predictions(make, source, y, split, values):
    """As `machine_predictions`, in the features where that is faster."""
    if not _feature_space.svm_fits_in_features(source, max(values)):
        return machine_predictions(make, source.gram(), y, split, values)
    train, test = split
    Z = _feature_space.WeightedFeatures(source).dense()
    machines = [_feature_space.fit_classifier(make(C), Z[train], y[train]) for C in values]
    return [_predict(machine, Z[test]) for machine in machines]


def machine_predictions(make, K, y, split, values):
    """Test predictions of a support vector machine for each C, every solve started from the last.

    Parameters
    ----------
    make : callable
        ``make(C)`` gives an unfitted machine.
    K : ndarray of shape (m, m)
        Gram matrix of all samples, up to functions of one argument.
    y : ndarray of shape (m,)
    split : (train, test)
        Index arrays.
    values : list of float
        In any order; they are solved from the smallest up, since the solution then stays feasible
        and its bounded coefficients only have to grow.

    Returns
    -------
    list of ndarray of shape (n_test,)
        In the order of ``values``.
    """
    train, test = split
    inner, outer = K[np.ix_(train, train)], K[np.ix_(test, train)]
    predictions, coef = [None] * len(values), None
    for k in np.argsort(values, kind="stable"):
        machine = make(values[k]).fit(inner, y[train], alpha0=coef)
        coef = machine.full_dual_coef()
        predictions[k] = _predict(machine, outer)
    return predictions


def _predict(machine, K_test):
    """As the estimators predict: with more than two classes by votes and summed decisions."""
    if not hasattr(machine, "classes_") or machine.classes_.size == 2:
        return machine.predict(K_test)
    return machine.classes_[machine.decision_function(K_test).argmax(axis=1)]


def ridge_predictions(source, y, split, alphas):
    """Test predictions of kernel ridge for each alpha; in the features where they are fewer."""
    if min(alphas) > 0.0 and _feature_space.fits_in_features(source):
        features = _feature_space.WeightedFeatures(source)
        return _feature_space.ridge_predictions(features, y, split, alphas, solve_shifted)
    return gram_ridge_predictions(source.gram(), y, split, alphas)


def leave_one_out_predictions(source, y, alphas):
    """Prediction at each sample by the ridge machine trained on the others, for each alpha."""
    if _feature_space.fits_in_features(source):
        features = _feature_space.WeightedFeatures(source)
        return _feature_space.leave_one_out_predictions(features, y, alphas)
    return list(ridge_loo_path(source.gram(), y, alphas).predictions)


def gram_ridge_predictions(K, y, split, alphas):
    """Test predictions of kernel ridge with an intercept for each alpha, from one reduction.

    ``Q'KcQ = T`` with T tridiagonal serves every alpha: ``(T + alpha I)^-1 Q'y`` is a solve of
    O(m). Measured at m = 1400: the time of three Cholesky factors, or an eighth of that of an
    eigendecomposition.

    Parameters
    ----------
    K, split
        As in `machine_predictions`.
    y : ndarray of shape (m,) or (m, c)
    alphas : list of float
        Each >= 0.

    Returns
    -------
    list of ndarray of shape (n_test,) or (n_test, c)

    Raises
    ------
    ValueError
        If K + alpha I, centred, is not positive definite to working precision for some alpha.
    """
    train, test = split
    inner = np.asarray(K[np.ix_(train, train)], dtype=np.float64)
    means = inner.mean(axis=0)
    inner -= means
    inner -= inner.mean(axis=1, keepdims=True)
    mean = y[train].mean(axis=0)
    target = (y[train] - mean).reshape(train.size, -1)
    # The constant vector has eigenvalue 0. At the mean of the others it does no harm, and the
    # system is definite at alpha = 0 where the rest of K is.
    inner += (float(np.trace(inner)) or 1.0) / train.size
    coef = solve_shifted(inner, target, alphas)
    coef -= coef.mean(axis=0)
    # The coefficients sum to 0, so rows of the test kernel need no centring.
    fitted = (K[np.ix_(test, train)] - means) @ coef
    fitted = fitted.reshape(test.size, len(alphas), -1) + mean
    return [fitted[:, k].reshape(test.size, *y.shape[1:]) for k in range(len(alphas))]


def solve_shifted(system, target, alphas):
    """``(system + alpha I)^-1 target`` for each alpha, side by side: (m, n_alphas * c).

    ``system`` (m, m), in C order, is overwritten. A ValueError says at which alpha the sum is not
    positive definite to working precision.
    """
    from scipy.linalg import lapack

    m = len(system)
    rounding = m * np.finfo(np.float64).eps * np.abs(np.diagonal(system)).max()
    size = int(lapack.dsytrd_lwork(m, lower=1)[0])
    # The transpose is in Fortran order, so nothing is copied.
    factor, diagonal, beside, tau, _ = lapack.dsytrd(system.T, lower=1, lwork=size, overwrite_a=1)
    rotated = _apply(factor, tau, target, "T")
    beside = beside if m > 1 else np.zeros(1)  # an empty array is refused
    solved = []
    for alpha in alphas:
        pivots, _, x, info = lapack.dptsv(diagonal + alpha, beside, rotated)
        if info or pivots.min() <= rounding:
            raise ValueError(
                f"K + alpha I is not positive definite to working precision at alpha={alpha:g}: "
                "raise alphas above minus the smallest eigenvalue of the centred K."
            )
        solved.append(x)
    return _apply(factor, tau, np.hstack(solved), "N")


def _apply(factor, tau, B, trans):
    """Q B or Q'B for the orthogonal Q of a lower tridiagonal reduction; its first row is e_1."""
    from scipy.linalg import lapack

    out = np.array(B, order="F")
    if len(tau):
        reflectors = np.asfortranarray(factor[1:, :-1])
        size = lapack.dormqr("L", trans, reflectors, tau, out[1:], -1)[1][0]
        out[1:] = lapack.dormqr("L", trans, reflectors, tau, out[1:], int(size))[0]
    return out
