"""Kernel ridge regression of many targets on one matrix, with cross-validated penalties.

For a centered matrix ``K = U diag(s) U'``, the residuals of ridge regression with intercept are
``e = Q y``, ``Q = I - 11'/m - U diag(s / (s + alpha)) U'``, and those of the samples of a set F by
the fit without F are ``Q_FF^-1 e_F``, exact for a kernel that does not change. So one decomposition
serves every target, every penalty and every partition into folds, leave-one-out among them.

The constant vector is not a direction of the kernel. If U included it with eigenvalue 0, the
smallest penalties would seem perfect. With sample weights w, the matrix and the targets are
multiplied by the square roots of w, and the vector of these roots replaces the constant.

Sources: Allen (1974), "The relationship between variable selection and data augmentation and a
method for prediction" (PRESS); Cawley and Talbot (2004), "Fast exact leave-one-out cross-validation
of sparse least-squares support vector machines", for sets of samples.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from alignlearn._lapack import cholesky, cholesky_solve, product, self_product, whole_eigh
from alignlearn.validation.grams import tolerance

_BLOCK = 2**22  # values of targets in memory at once: 32 MB


class TargetRidge:
    """One combination of kernels, ready for ridge regression of any target.

    Parameters
    ----------
    family : GramFamily or FeatureFamily
        Kernels that are centered and multiplied by the roots of the samples' weights.
    weights : ndarray of shape (p,)
        Not negative.
    root : ndarray of shape (m,)
        Square roots of the sample weights.
    dtype : dtype, default float64
        The type of the kernel values, whose rounding limits negative eigenvalues of a positive
        semi-definite matrix.

    Attributes
    ----------
    values : ndarray of shape (r,)
        Eigenvalues above rounding.
    vectors : ndarray of shape (m, r)
        Orthonormal, and orthogonal to ``root``.
    """

    def __init__(self, family, weights, root, dtype=np.float64):
        self.constant = root / np.linalg.norm(root)
        Z = family.features(weights)
        if Z is not None:
            self.values, self.vectors = _from_features(Z)
        else:
            self.values, self.vectors = _from_gram(family.gram(weights), self.constant, dtype)
        self._kept = {}
        # Whether only the constant is left: then residuals lose no digits.
        self._complete = self.values.size == family.n_samples - 1

    @cached_property
    def _square(self):
        return np.square(self.vectors)

    def project(self, Y):
        """Centered and rooted targets (m, c) in the directions of the kernel, (r, c)."""
        return product(self.vectors.T, Y)

    def errors(self, Y, projected, alpha, folds=None):
        """Errors by cross-validation, rooted, of samples in a test set, (n, c), and their rows.

        Parameters
        ----------
        Y : ndarray of shape (m, c)
            Centered and rooted.
        projected : ndarray of shape (r, c)
        alpha : float
        folds : list of ndarray of int, optional
            Disjoint test sets; by default each sample is one.
        """
        kept = self.values / (self.values + alpha)
        left = alpha / (self.values + alpha)
        E = self._residuals(Y, projected, kept, left)
        if folds is None:
            E /= self._shares(alpha, kept, left)[:, None]
            return E, slice(None)
        parts = [self._left_out(rows, kept, left, E[rows]) for rows in folds]
        return np.vstack(parts), np.concatenate(folds)

    def squares(self, Y, projected, alpha, folds=None):
        """Sums of squared errors by cross-validation, (c,); parameters as of `errors`."""
        E, _ = self.errors(Y, projected, alpha, folds)
        return np.einsum("ij,ij->j", E, E)

    def decorrelation(self, Y, projected, alpha, folds=None):
        """Return 1 minus the correlation of targets with predictions by cross-validation, (c,).

        Correlations are weighted by the samples' weights, over the samples of all test sets; 0
        where predictions are constant. Parameters as of `errors`.
        """
        E, rows = self.errors(Y, projected, alpha, folds)
        root = self.constant[rows] / np.linalg.norm(self.constant[rows])
        T, P = (A - np.outer(root, root @ A) for A in (Y[rows], Y[rows] - E))
        size = np.sqrt(np.einsum("ij,ij->j", T, T) * np.einsum("ij,ij->j", P, P))
        inner = np.einsum("ij,ij->j", T, P)
        return 1.0 - np.divide(inner, size, out=np.zeros(size.shape), where=size > 0.0)

    def generalized(self, Y, projected, alphas):
        """Sums of squares by generalized cross-validation (Golub, Heath and Wahba 1979).

        They equal those of leave-one-out if all samples have the mean leverage; (n_alphas, c).
        """
        kept = self.values / (self.values + np.reshape(alphas, (-1, 1)))
        fitted = product(kept * (2.0 - kept), np.square(projected))
        share = (len(Y) - 1 - kept.sum(axis=1, keepdims=True)) / len(Y)
        return np.maximum(np.square(Y).sum(axis=0) - fitted, 0.0) / np.square(share)

    def _shares(self, alpha, kept, left):
        """1 minus the leverages of the samples."""
        if alpha not in self._kept:
            rest = 1.0 - np.square(self.constant)
            self._kept[alpha] = (
                self._square @ left if self._complete else rest - self._square @ kept
            )
        return self._kept[alpha]

    def _residuals(self, Y, projected, kept, left):
        """Residuals of the fit on all samples."""
        if self._complete:
            return self.vectors @ (left[:, None] * projected)
        E = self.vectors @ (-kept[:, None] * projected)
        E += Y
        return E

    def _left_out(self, rows, kept, left, E):
        """Errors on a test set of the fit without it, from the residuals with it."""
        U = self.vectors[rows]
        if self._complete:
            Q = (U * left) @ U.T
        else:
            Q = (U * -kept) @ U.T - np.outer(self.constant[rows], self.constant[rows])
            Q.flat[:: len(Q) + 1] += 1.0
        if not cholesky(Q):
            raise ValueError(
                "alphas: the smallest is below the rounding error when a fold is left "
                "out; accepted: larger ones."
            )
        return cholesky_solve(Q, E)

    def coefficients(self, projected, alphas):
        """Rooted dual coefficients (m, c), for a penalty of each target (c,)."""
        return self.vectors @ (projected / (self.values[:, None] + alphas))


def _from_features(Z):
    """Eigenvalues and vectors of ``ZZ'`` for fewer columns than rows."""
    values, V = whole_eigh(self_product(Z.T))
    counts = values > len(values) * np.finfo(np.float64).eps * max(values[-1], 0.0)
    values = values[counts]
    return values, Z @ (V[:, counts] / np.sqrt(values))


def _from_gram(K, constant, dtype):
    """Eigenvalues and vectors of a centered matrix (overwritten), without the constant's."""
    size = float(np.abs(K).sum(axis=1).max()) or 1.0  # at least the largest eigenvalue
    # The constant gets the largest eigenvalue, so that it is the last.
    K += (2.0 * size) * np.outer(constant, constant)
    values, vectors = whole_eigh(K)
    if values[0] < -tolerance(dtype) * size:
        raise ValueError(
            f"kernels: the centered combination has an eigenvalue of {values[0]:.3g}, so ridge "
            "regression has no solution for small alphas; accepted: positive semi-definite kernels."
        )
    return np.maximum(values[:-1], 0.0), vectors[:, :-1]


def target_blocks(n_samples, n_targets):
    """Slices of targets that are in memory at once."""
    step = max(1, _BLOCK // n_samples)
    return [slice(i, min(i + step, n_targets)) for i in range(0, n_targets, step)]
