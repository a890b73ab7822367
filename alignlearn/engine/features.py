"""Alignment statistics of low-rank kernels from features: no pair of samples is ever formed.

With ``Phi_k`` the centred features of kernel k: ``a_k = |Phi_k' Y|_F^2``, ``M_kl = |Phi_k'
Phi_l|_F^2``, ``Tr K_kc = |Phi_k|_F^2``.
"""

from __future__ import annotations

import numpy as np

from alignlearn._jit import jit_sum
from alignlearn.validation import is_sparse


@jit_sum
def _centred_gram(n_samples, columns, rows, mean, square, out):
    """out[k, l] = (X'X)_kl - m mean_k mean_l, squared if asked.

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


def centred_feature_gram(X, *, square=False):
    """``X' H X`` (p, p), or its entrywise square, for dense or sparse X of shape (m, p)."""
    return _feature_gram(*_centred(X), square)


def _centred(X):
    """X (m, p) less its column means, and which columns (p,) are constant.

    A sparse X stays sparse: only columns without zeros are centred, those of which centring the
    products would lose digits.
    """
    if is_sparse(X):
        X = X.tocsc().astype(np.float64)
        constant = X.min(axis=0).toarray().ravel() == X.max(axis=0).toarray().ravel()
        full = np.flatnonzero(np.diff(X.indptr) == X.shape[0])
        if full.size:
            X.data = X.data.copy()
        for j in full:
            column = X.data[X.indptr[j] : X.indptr[j + 1]]
            column -= column.mean()
            column -= column.mean()
        return X, constant
    constant = X.min(axis=0) == X.max(axis=0)
    Z = np.asarray(X, dtype=np.float64)
    Z = Z - Z.mean(axis=0)
    # A mean is rounded in the last digit of an offset; what that leaves is one number per column.
    Z -= Z.mean(axis=0)
    Z[:, constant] = 0.0
    return Z, constant


def _feature_gram(X, constant, square):
    if not is_sparse(X):
        G = X.T @ X
        return np.multiply(G, G, out=G) if square else G
    mean = np.asarray(X.sum(axis=0), dtype=np.float64).ravel() / X.shape[0]
    out = np.empty((X.shape[1], X.shape[1]))
    _centred_gram(X.shape[0], _arrays(X.tocsc()), _arrays(X.tocsr()), mean, square, out)
    out[constant] = 0.0
    out[:, constant] = 0.0
    return out


def _arrays(X):
    """The arrays of a compressed sparse matrix, in the types that are compiled for."""
    return X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data.astype(np.float64)


def _with_target(X, constant, Y):
    """``|x' Y|^2`` for the columns x of X, (p,); Y is centred."""
    return np.where(constant, 0.0, np.square(np.asarray(X.T @ Y)).sum(axis=1))


def rank_one_sums(X, Y):
    """a, M and traces of the kernels ``v_k v_k'``, v_k the columns of X; Y is centred (m, c)."""
    X, constant = _centred(X)
    M = _feature_gram(X, constant, square=True)
    return _with_target(X, constant, Y), M, np.sqrt(np.diagonal(M))


def low_rank_sums(X, Y, groups, scales):
    """a, M and traces of ``scales_k Phi_k Phi_k'`` with ``Phi_k = X[:, groups[k]]``."""
    columns = np.concatenate([np.asarray(g, dtype=np.int64) for g in groups])
    starts = np.cumsum([0] + [len(g) for g in groups[:-1]])
    X, constant = _centred(X)
    C = _feature_gram(X[:, columns], constant[columns], square=False)
    trace = np.add.reduceat(np.diagonal(C), starts)
    np.multiply(C, C, out=C)
    M = np.add.reduceat(np.add.reduceat(C, starts, axis=0), starts, axis=1)
    a = np.add.reduceat(_with_target(X, constant, Y)[columns], starts)
    return a * scales, M * np.outer(scales, scales), trace * scales
