"""The solution paths: one training set, one kernel, many values of C or of alpha."""

from __future__ import annotations

import numpy as np

from alignlearn.statistics import centre_gram

from . import feature_space
from ._ridge import ridge_loo_path


def split_gram(K, split):
    """(training, test against training) Gram matrices of a (train, test) split of the samples."""
    train, test = split
    return K[np.ix_(train, train)], K[np.ix_(test, train)]


def classifier_predictions(make, source, y, split, values):
    """Test predictions of a classifier for each C; in the features where that is faster."""
    train, test = split
    if not feature_space.svm_fits_in_features(source, max(values)):
        K, K_test = split_gram(source.gram(), split)
        return svm_path(make, K, y[train], K_test, values)
    Z = feature_space.WeightedFeatures(source).dense()
    machines = [feature_space.fit_classifier(make(C), Z[train], y[train]) for C in values]
    return [machine.predict(Z[test]) for machine in machines]


def regressor_predictions(source, y, split, alphas):
    """Test predictions of kernel ridge for each alpha; in the features where they are fewer."""
    train, _ = split
    if min(alphas) > 0.0 and feature_space.fits_in_features(source):
        features = feature_space.WeightedFeatures(source)
        return feature_space.ridge_predictions(features, y, split, alphas, solve_shifted)
    K, K_test = split_gram(source.gram(), split)
    return ridge_path(K, y[train], K_test, alphas)


def leave_one_out_predictions(source, y, alphas):
    """Prediction at each sample by the ridge machine trained on the others, for each alpha."""
    if feature_space.fits_in_features(source):
        features = feature_space.WeightedFeatures(source)
        return feature_space.leave_one_out_predictions(features, y, alphas)
    path = ridge_loo_path(source.gram(), y, alphas, check=False, overwrite=True)
    return list(path.predictions)


def svm_path(make, K, y, K_test, values):
    """Test predictions of a support vector machine for each C, every solve started from the last.

    Parameters
    ----------
    make : callable
        ``make(C)`` gives an unfitted machine.
    K, K_test : ndarray of shape (m, m) and (n, m)
        Gram matrices, up to functions of one argument; known to be finite and symmetric.
    y : ndarray of shape (m,)
    values : sequence of float
        In any order; they are solved from the smallest up, since the solution then stays feasible
        and its bounded coefficients only have to grow.

    Returns
    -------
    list of ndarray of shape (n,)
        In the order of ``values``.
    """
    predictions, coef = [None] * len(values), None
    for k in np.argsort(values, kind="stable"):
        machine = make(values[k]).fit(K, y, alpha0=coef, check=False)
        coef = machine.full_dual_coef()
        predictions[k] = machine.predict(K_test)
    return predictions


def ridge_path(K, y, K_test, alphas, *, skip_indefinite=False):
    """Test predictions of kernel ridge with an intercept for each alpha, from one reduction.

    ``Q'KcQ = T`` with T tridiagonal serves every alpha: ``(T + alpha I)^-1 Q'y`` is a solve of
    O(m). Measured at m = 1400: the time of three Cholesky factors, or an eighth of that of an
    eigendecomposition.

    Parameters
    ----------
    K, K_test
        As in `svm_path`.
    y : ndarray of shape (m,) or (m, c)
    alphas : sequence of float
        Each >= 0.
    skip_indefinite : bool
        Where K + alpha I, centred, is not positive definite to working precision: predict infinity
        rather than raise an error. There is one if no alpha is left.

    Returns
    -------
    list of ndarray of shape (n,) or (n, c)

    Raises
    ------
    ValueError
    """
    inner = np.array(K, dtype=np.float64, order="C")
    means = inner.mean(axis=0)
    centre_gram(inner)
    mean = y.mean(axis=0)
    # The constant vector has eigenvalue 0. At the mean of the others it does no harm, and the
    # system is definite at alpha = 0 where the rest of K is.
    inner += (float(np.trace(inner)) or 1.0) / len(inner)
    coef = solve_shifted(inner, (y - mean).reshape(len(y), -1), alphas, skip_indefinite)
    usable = np.isfinite(coef).all(axis=0)
    coef[:, usable] -= coef[:, usable].mean(axis=0)
    # The coefficients sum to 0, so rows of the test kernel need no centring.
    fitted = np.full((len(K_test), coef.shape[1]), np.inf)
    fitted[:, usable] = (K_test - means) @ coef[:, usable]
    fitted = fitted.reshape(len(K_test), len(alphas), -1) + mean
    return [fitted[:, k].reshape(len(K_test), *y.shape[1:]) for k in range(len(alphas))]


def solve_shifted(system, target, alphas, skip_indefinite=False):
    """``(system + alpha I)^-1 target`` for each alpha, side by side: (m, n_alphas * c).

    ``system`` (m, m), in C order, is overwritten. Where the sum is not positive definite to working
    precision, columns of infinity or a ValueError; the latter also where no alpha is left.
    """
    from scipy.linalg import lapack

    m = len(system)
    rounding = m * np.finfo(np.float64).eps * np.abs(np.diagonal(system)).max()
    size = int(lapack.dsytrd_lwork(m, lower=1)[0])
    # The transpose is in Fortran order, so nothing is copied.
    factor, diagonal, beside, tau, _ = lapack.dsytrd(system.T, lower=1, lwork=size, overwrite_a=1)
    rotated = _apply(factor, tau, target, "T")
    beside = beside if m > 1 else np.zeros(1)  # an empty array is refused
    solved, usable = [], []
    for alpha in alphas:
        pivots, _, x, info = lapack.dptsv(diagonal + alpha, beside, rotated)
        usable.append(not info and pivots.min() > rounding)
        if not usable[-1] and not (skip_indefinite and alpha < max(alphas)):
            raise ValueError(
                f"K + alpha I is not positive definite to working precision at alpha={alpha:g}: "
                "raise alphas above minus the smallest eigenvalue of the centred K; nonnegative "
                "weights of positive semi-definite kernels have none below 0."
            )
        solved.append(x if usable[-1] else np.zeros_like(rotated))
    out = _apply(factor, tau, np.hstack(solved), "N")
    out[:, np.repeat(~np.array(usable), target.shape[1])] = np.inf
    return out


def _apply(factor, tau, B, trans):
    """Q B or Q'B for the orthogonal Q of a lower tridiagonal reduction; its first row is e_1."""
    from scipy.linalg import lapack

    out = np.array(B, order="F")
    if len(tau):
        # factor[1:, :-1] with the leading dimension of the whole, so that nothing is copied.
        m = len(factor)
        reflectors = factor.T.reshape(-1)[1 : 1 + m * (m - 1)].reshape(m - 1, m).T
        size = lapack.dormqr("L", trans, reflectors, tau, out[1:], -1)[1][0]
        out[1:] = lapack.dormqr("L", trans, reflectors, tau, out[1:], int(size))[0]
    return out
