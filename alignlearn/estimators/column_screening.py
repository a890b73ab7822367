"""How well the kernel of each column is aligned with a target, in time linear in the samples."""

from __future__ import annotations

import numpy as np

_TERMS = 6  # of the expansion of a Gaussian kernel


def column_alignments(X, Y, members, gamma, weight=None):
    """Alignment of the Gaussian kernel on each column with the target, by its first terms.

    ``exp(-g (x - x')^2)`` is the sum over n of ``f_n(x) f_n(x')`` with ``f_n(x) = exp(-g x^2) x^n
    sqrt((2 g)^n / n!)`` (Steinwart, Hush and Scovel 2006). Six terms are enough to rank columns
    of variance 1 for ``g = 0.5``. A column of several features, such as the indicators of a
    category, has the linear kernel instead.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Features; those of a column have a total variance of about 1.
    Y : ndarray of shape (m, q)
    members : list of (list of int)
        The features of each column.
    gamma : float
    weight : ndarray of shape (m,), optional
        Nonnegative weights of the samples.

    Returns
    -------
    ndarray of shape (n_columns,)
        ``<K, YY'>`` over the norm of K, both centered; about 0 for constant columns.
    """
    share = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
    share = share / share.sum()
    Y = Y - share @ Y
    found = np.zeros(len(members))
    single = [k for k, features in enumerate(members) if len(features) == 1]
    if single:
        Z = np.asarray(X[:, [members[k][0] for k in single]], dtype=np.float64)
        found[single] = _aligned(_terms(Z, gamma), Y, share)
    for k, features in enumerate(members):
        if len(features) > 1:
            found[k] = _aligned(np.asarray(X[:, features]).T[:, :, None], Y, share)[0]
    return found


def _terms(Z, gamma):
    """The first functions of the expansion, (n, m, d)."""
    found = [np.exp(-gamma * np.square(Z))]
    for n in range(1, _TERMS):
        found.append(found[-1] * Z * np.sqrt(2.0 * gamma / n))
    return np.array(found)


def _aligned(F, Y, share):
    """Alignment of d kernels, of which F (n, m, d) are features."""
    F = F - np.einsum("m,nmd->nd", share, F)[:, None]
    weighted = share[:, None] * F
    inner = np.square(np.einsum("nmd,mq->nqd", weighted, Y)).sum(axis=(0, 1))
    norm = np.sqrt(np.square(np.einsum("nmd,kmd->nkd", weighted, F)).sum(axis=(0, 1)))
    return np.divide(inner, norm, out=np.zeros_like(inner), where=norm > 0.0)
