"""Ridge regression with an intercept as a linear smoother and as a Gaussian process.

With A the inverse of the centered ``K + alpha I`` on vectors that sum to 0, dual coefficients are
``a = A y`` and predictions ``sum_i L_i(x) y_i`` with ``L(x) = 1/m + A (k(x) - mean of k)``. The fit
without a set F of samples equals the fit on all samples with the values of F replaced by its
predictions. Its residuals on F are therefore ``r_F = A_FF^-1 a_F``, and its predictions ``f(x) -
L_F(x) r_F``.

As a Gaussian process: ``y_i = b + f(x_i) + e_i`` with a flat prior on b, f of covariance ``s^2 K``
and noise of variance ``s^2 alpha / w_i``. The mean given y is the prediction, its variance is
``s^2 (k_c(x, x) - k_c(x)' A k_c(x) + alpha / sum w)`` with k_c the centered kernel, and
``s^2 = y'a / (m - 1)`` maximizes the restricted likelihood, of contrasts that do not depend on b.
It depends on the number of samples m and not on the sum of weights: weights only compare the noise
of samples, so that multiplying weights and alpha by c gives the same variances. Adding a constant,
f(x) or f(x') to K changes none of this.

Sources: Allen (1974), "The relationship between variable selection and data augmentation and a
method for prediction"; Rasmussen and Williams (2006), "Gaussian processes for machine learning",
sections 2.2 and 2.7; for features that only span a part of the space, Quinonero-Candela and
Rasmussen (2005), "A unifying view of sparse approximate Gaussian process regression", section 5.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from alignlearn._lapack import inverse_diagonal, product, self_product
from alignlearn.engine.features import centered_feature_gram
from alignlearn.statistics import center_gram

from ._ridge import _system, factor_definite


class PairSmoother:
    """Ridge regression by dual coefficients, from its Gram matrix.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        float64, in C order; overwritten.
    coef : ndarray of shape (m, c)
        Dual coefficients of the fit.
    alpha : float
    weight : ndarray of shape (m,), optional
        Positive.

    Attributes
    ----------
    scale : ndarray of shape (c,)
        s^2 of each target.
    residuals : ndarray of shape (m, c)
        Residual of every sample by the fit without it.
    left : ndarray of shape (m, c)
        y less its predictions.
    mean : ndarray of shape (w,)
        Of the rows of the fit.
    total : float
        Sum of the weights.
    """

    def __init__(self, K, coef, alpha, weight=None):
        weight = np.ones(len(K)) if weight is None else weight
        self.alpha, self._coef = alpha, coef
        self.left = alpha * coef / weight[:, None]
        size = np.einsum("ij,ij->j", coef, product(K, coef) + self.left)
        self.total = weight.sum()
        self.scale = size / (len(K) - 1.0)
        parts = _system(K, np.zeros((len(K), 1)), alpha, weight, True)
        self.mean, self._share, self._root = parts.means, parts.share, parts.root
        self._unit = factor_definite(K, alpha)
        diagonal = np.ldexp(inverse_diagonal(K), -self._unit)
        self._constant = 1.0 / (parts.constant + alpha)
        diagonal -= self._constant * self._share
        self.residuals = coef / (weight * diagonal)[:, None]
        for i, row in enumerate(K):  # the result is the root of the inverse
            row[:i] = 0.0
        self._inverse_root = K

    @cached_property
    def basis(self):
        """C, for which ``1/m + rows C`` are the shares L of the samples; for equal weights."""
        A = self_product(self._inverse_root)
        np.ldexp(A, -self._unit, out=A)
        A -= self._constant / self.total
        return A

    def centered(self, rows):
        """Kernel values of new samples with those of the fit, (n, m), centered in place."""
        return center_gram(rows, self.mean, self._share)

    def without(self, some):
        """Residuals (f, c) of some samples by the fit without all of them."""
        return np.linalg.solve(self.basis[np.ix_(some, some)], self._coef[some])

    def variance(self, rows, diagonal):
        """Variance of the mean over s^2, (n,), from kernel values (n, m), overwritten, and k(x, x).

        Without the noise of a new observation.
        """
        own = diagonal - 2.0 * (rows @ self._share) + self.mean @ self._share
        T = product(self.centered(rows) * self._root, self._inverse_root)
        own -= np.ldexp(np.einsum("ij,ij->i", T, T), -self._unit)
        return np.maximum(own, 0.0) + self.alpha / self.total


class FeatureSmoother:
    """Ridge regression on fewer features than samples.

    Parameters
    ----------
    Z : ndarray of shape (m, q)
        Overwritten.
    Y : ndarray of shape (m, c)
    alpha : float > 0
    weight : ndarray of shape (m,), optional
        Positive.

    Attributes
    ----------
    scale : ndarray of shape (c,)
        s^2 of each target.
    residuals : ndarray of shape (m, c)
        Residual of every sample by the fit without it.
    left : ndarray of shape (m, c)
        y less its predictions.
    mean : ndarray of shape (q,)
        Of the features, weighted.
    total : float
        Sum of the weights.
    """

    def __init__(self, Z, Y, alpha, weight=None):
        weight = np.ones(len(Z)) if weight is None else weight
        self.alpha, self.total = alpha, weight.sum()
        share = weight / self.total
        self.mean = share @ Z
        system = centered_feature_gram(Z, weight=weight)
        system.flat[:: len(system) + 1] += alpha
        self._unit = factor_definite(system, alpha)
        inverse_diagonal(system)
        self._inverse_root = np.triu(system)
        Z -= self.mean
        T = product(Z, self._inverse_root)
        Y = Y - share @ Y
        right = T.T @ (weight[:, None] * Y)
        self.left = Y - np.ldexp(T @ right, -self._unit)
        self.scale = np.einsum("ij,ij->j", Y, weight[:, None] * self.left)
        self.scale /= alpha * (len(Z) - 1.0)
        leverage = np.ldexp(np.einsum("ij,ij->i", T, T), -self._unit)
        leverage = weight * (leverage + 1.0 / self.total)
        self.residuals = self.left / (1.0 - leverage)[:, None]
        self._Z, self._T = Z, T

    @cached_property
    def basis(self):
        """C, for which ``1/m + rows C`` are the shares L of the samples; for equal weights."""
        return np.ldexp(product(self._inverse_root, self._T.T), -self._unit)

    def centered(self, rows):
        """Features of new samples (n, q), centered in place."""
        rows -= self.mean
        return rows

    def without(self, some):
        """Residuals (f, c) of some samples by the fit without all of them."""
        H = self._Z[some] @ self.basis[:, some] + 1.0 / self.total
        return np.linalg.solve(np.eye(len(some)) - H, self.left[some])

    def variance(self, rows, lost=0.0):
        """Variance of the mean over s^2, (n,), from features (n, q), overwritten.

        ``lost`` (n,) is the part of k(x, x) outside the features, for Nystrom centers.
        """
        T = product(self.centered(rows), self._inverse_root)
        own = self.alpha * (np.ldexp(np.einsum("ij,ij->i", T, T), -self._unit) + 1.0 / self.total)
        return own + np.maximum(lost, 0.0)
