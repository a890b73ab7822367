"""Alignment statistics of low-rank kernels from features, without pairs of samples.

With ``Phi_k`` the centered features of kernel k: ``a_k = |Phi_k' Y|_F^2``, ``M_kl = |Phi_k'
Phi_l|_F^2``, ``Tr K_kc = |Phi_k|_F^2``. Sample weights enter as square roots: features are centered
at their weighted means, and rows of features and targets multiplied by the roots.
"""

from __future__ import annotations

import numpy as np

from alignlearn._jit import jit_sum
from alignlearn._lapack import self_product
from alignlearn.validation import is_sparse


@jit_sum
def _centered_gram(n_samples, columns, rows, mean, square, out):
    """out[k, l] = (X'X)_kl - m mean_k mean_l, squared if asked; m is the sum of the weights.

    ``columns`` and ``rows`` are the CSC and CSR forms of X as (indptr, indices, data). One output
    row at a time, accumulated where the second factor has entries (Gustavson 1978).
    """
    p = out.shape[0]
    indptr, indices, data = columns
    row_indptr, row_indices, row_data = rows
    for k in range(p):
        row = out[k]
        shift = -n_samples * mean[k]
        for c in range(p):
            row[c] = shift * mean[c]
        for q in range(indptr[k], indptr[k + 1]):
            i, value = indices[q], data[q]
            for t in range(row_indptr[i], row_indptr[i + 1]):
                row[row_indices[t]] += value * row_data[t]
        if square:
            for c in range(p):
                row[c] *= row[c]


def centered_feature_gram(X, *, square=False, weight=None):
    """``X' H X`` (p, p), or its entrywise square, for dense or sparse X of shape (m, p)."""
    return _feature_gram(*_centered(X, weight), square)


def _centered(X, weight=None):
    """X (m, p) minus its column means, a mask of constant columns (p,), and the roots (m,).

    A sparse X stays sparse. Only columns without zeros are centered, because centering their
    products would lose digits. With sample weights, rows are multiplied by their roots.
    """
    root = np.ones(X.shape[0]) if weight is None else np.sqrt(weight)
    if is_sparse(X):
        X = X.tocsc().astype(np.float64)
        constant = X.min(axis=0).toarray().ravel() == X.max(axis=0).toarray().ravel()
        full = np.flatnonzero(np.diff(X.indptr) == X.shape[0])
        if full.size:
            X.data = X.data.copy()
        for j in full:
            column = X.data[X.indptr[j] : X.indptr[j + 1]]
            order = None if weight is None else weight[X.indices[X.indptr[j] : X.indptr[j + 1]]]
            column -= np.average(column, weights=order)
            column -= np.average(column, weights=order)
        if weight is not None:
            X = X.multiply(root[:, None]).tocsc()
        return X, constant, root
    constant = X.min(axis=0) == X.max(axis=0)
    Z = np.asarray(X, dtype=np.float64)
    Z = Z - np.average(Z, axis=0, weights=weight)
    # The mean of a column with a large offset is rounded, which leaves one small constant per
    # column.
    Z -= np.average(Z, axis=0, weights=weight)
    Z[:, constant] = 0.0
    if weight is not None:
        Z *= root[:, None]
    return Z, constant, root


def _feature_gram(X, constant, root, square):
    if not is_sparse(X):
        G = self_product(X.T)
        return np.multiply(G, G, out=G) if square else G
    total = float(root @ root)
    mean = np.asarray(X.T @ root, dtype=np.float64) / total
    out = np.empty((X.shape[1], X.shape[1]))
    _centered_gram(total, _arrays(X.tocsc()), _arrays(X.tocsr()), mean, square, out)
    out[constant] = 0.0
    out[:, constant] = 0.0
    return out


def _arrays(X):
    """The arrays of a compressed sparse matrix, in the types for which loops are compiled."""
    return X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data.astype(np.float64)


def _with_target(X, constant, Y, root):
    """``|x' Y|^2`` for the columns x of X, (p,); Y is centered and multiplied by the roots."""
    return np.where(constant, 0.0, np.square(np.asarray(X.T @ (root[:, None] * Y))).sum(axis=1))


def rank_one_sums(X, Y, weight=None):
    """a, M and traces of the kernels ``v_k v_k'``, v_k the columns of X; Y is centered (m, c)."""
    X, constant, root = _centered(X, weight)
    M = _feature_gram(X, constant, root, square=True)
    return _with_target(X, constant, Y, root), M, np.sqrt(np.diagonal(M))


def low_rank_sums(X, Y, groups, scales, weight=None):
    """a, M and traces of ``scales_k Phi_k Phi_k'`` with ``Phi_k = X[:, groups[k]]``."""
    columns = np.concatenate([np.asarray(g, dtype=np.int64) for g in groups])
    starts = np.cumsum([0] + [len(g) for g in groups[:-1]])
    X, constant, root = _centered(X, weight)
    C = _feature_gram(X[:, columns], constant[columns], root, square=False)
    trace = np.add.reduceat(np.diagonal(C), starts)
    np.multiply(C, C, out=C)
    M = np.add.reduceat(np.add.reduceat(C, starts, axis=0), starts, axis=1)
    a = np.add.reduceat(_with_target(X, constant, Y, root)[columns], starts)
    M = M * scales
    M *= scales[:, None]
    return a * scales, M, trace * scales
