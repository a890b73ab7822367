"""Kernel ridge solved in the space of the features, where they are fewer than the samples.

With ``Z`` the centred features times the square roots of their weights, ``K = ZZ'`` and the
solution is linear: ``(Z'Z + alpha I) u = Z'y``. No matrix over pairs of samples is formed.
"""

from __future__ import annotations

import numpy as np

from alignlearn.engine.features import centred_feature_gram
from alignlearn.machines._ridge import _solve


class WeightedFeatures:
    """Features of positive weight, times the square roots of the weights.

    Parameters
    ----------
    source : FeatureSource
        With weights, none negative.

    Attributes
    ----------
    Z : ndarray or CSR matrix of shape (m, q)
        Not centred if sparse.
    active : ndarray of int of shape (q,)
    root : ndarray of shape (q,)
    """

    def __init__(self, source):
        weights = source.kernel.weights
        self.active = np.flatnonzero(weights)
        self.root = np.sqrt(weights[self.active])
        self.n_features = weights.size
        if source.sparse:
            columns = source.X.tocsc()[:, self.active]
            self.Z = columns.multiply(self.root).tocsr()
        else:
            self.Z = np.asarray(source.X[:, self.active], dtype=np.float64)
            self.Z = (self.Z - source.mean[self.active]) * self.root

    def rows(self, index):
        """Some samples, and the mean of these."""
        Z = self.Z[index]
        return Z, np.asarray(Z.mean(axis=0)).ravel()

    def coefficients(self, u):
        """Coefficients of all features as they are, (n_features, c), from those of Z."""
        out = np.zeros((self.n_features, u.shape[1]))
        out[self.active] = self.root[:, None] * u
        return out


def fits_in_features(source):
    """Whether a ridge machine on the source's combination is smaller in the features."""
    weights = getattr(getattr(source, "kernel", None), "weights", None)
    if weights is None or not hasattr(source, "groups"):
        return False
    return weights.min() >= 0.0 and np.count_nonzero(weights) < source.n_samples


def fit_ridge(machine, source, y):
    """Fit a `KernelRidge` with alpha > 0 as if on the source's Gram matrix.

    Returns
    -------
    ndarray of shape (n_features, c)
        Coefficients of the features.

    Raises
    ------
    ValueError
        If alpha is lost in rounding.
    """
    features = WeightedFeatures(source)
    Z, means = features.rows(slice(None))
    mean = y.mean(axis=0)
    residual = (y - mean).reshape(len(y), -1)
    system = centred_feature_gram(Z)
    system.flat[:: len(system) + 1] += machine.alpha
    u = _solve(system, np.asarray(Z.T @ residual), machine.alpha)
    residual = residual - (np.asarray(Z @ u) - means @ u)
    machine.dual_coef_ = (residual / machine.alpha).reshape(y.shape)
    machine.intercept_ = mean - (means @ u).reshape(y.shape[1:])
    if y.ndim == 1:
        machine.intercept_ = float(machine.intercept_)
    return features.coefficients(u)


def ridge_predictions(features, y, split, alphas, solve):
    """As `_paths.ridge_predictions`; ``solve(G, B, alphas)`` gives ``(G + alpha I)^-1 B`` side by
    side."""
    Z, means = features.rows(split[0])
    mean = y[split[0]].mean(axis=0)
    right = np.asarray(Z.T @ (y[split[0]] - mean).reshape(len(split[0]), -1))
    u = solve(centred_feature_gram(Z), right, alphas)
    fitted = np.asarray(features.Z[split[1]] @ u) - means @ u
    fitted = fitted.reshape(len(split[1]), len(alphas), -1) + mean
    return [fitted[:, k].reshape(-1, *y.shape[1:]) for k in range(len(alphas))]


def leave_one_out_predictions(features, y, alphas):
    """As `ridge_loo_path`, from the eigenvectors of the small matrix ``Z'Z``."""
    from scipy.linalg import eigh

    Z, means = features.rows(slice(None))
    values, vectors = eigh(centred_feature_gram(Z), overwrite_a=True, check_finite=False)
    values = np.maximum(values, 0.0)
    scores = np.asarray(Z @ vectors) - means @ vectors
    residual = (y - y.mean(axis=0)).reshape(len(y), -1)
    inner = scores.T @ residual
    predictions = []
    for alpha in alphas:
        left = residual - scores @ (inner / (values + alpha)[:, None])
        leverage = 1.0 / len(y) + np.square(scores) @ (1.0 / (values + alpha))
        predictions.append(y - (left / (1.0 - leverage)[:, None]).reshape(y.shape))
    return predictions
