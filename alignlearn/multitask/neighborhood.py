"""Closed forms of neighborhood kernels, in the coefficients of p base kernels.

Source: Yousefi et al., Multi-task learning using neighborhood kernels, section 4. Its problem (10)
is unbounded below as printed. With ``-2c`` instead of ``-4c`` in (9), and the pseudo-inverse, it is
the convex problem whose closed forms are here.
"""

from __future__ import annotations

import numpy as np

_CUT = 1e-10  # singular values of <K_k, K_l> that count as 0, relative to the largest


def projected_identity(inner, traces):
    """Coefficients c of the kernel nearest to the identity matrix, ``sum_k c_k K_k``.

    Parameters
    ----------
    inner : ndarray of shape (p, p)
        ``<K_k, K_l>_F``; may be singular.
    traces : ndarray of shape (p,)
        ``tr K_k``.

    Returns
    -------
    ndarray of shape (p,)
        ``inner^+ traces``, of least norm where kernels are linearly dependent.

    Examples
    --------
    Of two kernels on two samples each, whose sum is the identity matrix:

    >>> import numpy as np
    >>> from alignlearn.multitask import projected_identity
    >>> first, second = np.diag([1.0, 1.0, 0.0, 0.0]), np.diag([0.0, 0.0, 1.0, 1.0])
    >>> inner = [[np.sum(K * L) for L in (first, second)] for K in (first, second)]
    >>> projected_identity(inner, [np.trace(first), np.trace(second)]).round(6)
    array([1., 1.])
    """
    return np.linalg.lstsq(inner, traces, rcond=_CUT)[0]


def neighborhood_coefficients(weights, inner, traces, beta, eta):
    """Coefficients of the optimal neighborhood kernel for given kernel weights.

    The minimizer over all matrices Khat of ``eta/2 ||K - Khat||_F^2 + beta/2 Omega(Khat)``, ``K =
    sum_k weights_k K_k`` and ``Omega(Khat) = 2 <P(I), Khat> - 2 ||Khat - P(Khat)||_F^2`` with P the
    projection on the span of the base kernels: ``Khat = K - (beta / eta) P(I)``. It lies in that
    span, and the rest of the objective is ``beta tr K`` plus a constant: eta changes Khat, and not
    the weights.

    Parameters
    ----------
    weights : ndarray of shape (p,)
    inner : ndarray of shape (p, p)
        ``<K_k, K_l>_F``.
    traces : ndarray of shape (p,)
        ``tr K_k``.
    beta, eta : float
        Both > 0, ``eta >= 2 beta``.

    Returns
    -------
    ndarray of shape (p,)
        Some may be negative: Khat need not be positive semi-definite.

    Raises
    ------
    ValueError
        ``eta < 2 beta``: the objective has no minimum unless the base kernels span all matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.multitask import neighborhood_coefficients
    >>> inner, traces = np.diag([2.0, 2.0]), np.array([2.0, 2.0])  # their sum is I
    >>> neighborhood_coefficients(np.array([1.0, 0.0]), inner, traces, beta=0.1, eta=0.4).round(2)
    array([ 0.75, -0.25])
    """
    check_eta(eta, beta)
    return weights - (beta / eta) * projected_identity(inner, traces)


def check_eta(eta, beta):
    """Raise the error for parameters at which the objective is unbounded below."""
    if eta < 2.0 * beta:
        raise ValueError(
            f"eta={eta:g} is below 2 beta={2.0 * beta:g}, where the objective in the neighborhood "
            "kernels is unbounded below; accepted: eta >= 2 beta."
        )


def ridge_shared(weights):
    """The shared part mu of weights that minimizes ``|mu|^2 + sum_t |theta_t - mu|^2``.

    Subject to ``0 <= mu <= theta_t`` for all t: ``mu_k = min(sum_t theta_tk / (T + 1), min_t
    theta_tk)``.

    Parameters
    ----------
    weights : ndarray of shape (T, p)
        theta, not negative.

    Returns
    -------
    ndarray of shape (p,)

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.multitask import ridge_shared
    >>> ridge_shared(np.array([[0.6, 0.0], [0.3, 0.9]]))  # (0.6 + 0.3) / 3; not shared
    array([0.3, 0. ])
    """
    return np.minimum(weights.sum(axis=0) / (len(weights) + 1), weights.min(axis=0))


def alignment_matrix(weights, neighbors, inner):
    """Alignment of every task's kernel with every task's neighborhood kernel.

    Parameters
    ----------
    weights, neighbors : ndarray of shape (T, p)
        Coefficients of the learned and of the neighborhood kernels.
    inner : ndarray of shape (T, p, p)
        ``<K_k, K_l>_F`` on the samples of each task.

    Returns
    -------
    ndarray of shape (T, T)
        Entry (t, s): the alignment of the kernel of task t with the neighborhood kernel of task s,
        both on the samples of task t; 0 if one of them vanishes on these samples.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.multitask import alignment_matrix
    >>> weights = np.array([[1.0, 0.0], [0.0, 1.0]])  # each task has a kernel of its own
    >>> inner = np.array([np.eye(2), [[1.0, 0.5], [0.5, 1.0]]])  # orthogonal in the first task
    >>> alignment_matrix(weights, weights, inner)
    array([[1. , 0. ],
           [0.5, 1. ]])
    """
    left = np.einsum("tk,tkl->tl", weights, inner)
    product = left @ neighbors.T
    own = np.sqrt(np.maximum(np.einsum("tl,tl->t", left, weights), 0.0))
    others = np.einsum("sk,tkl,sl->ts", neighbors, inner, neighbors, optimize=True)
    size = own[:, None] * np.sqrt(np.maximum(others, 0.0))
    ratio = np.divide(product, size, out=np.zeros_like(product), where=size > 0.0)
    return np.clip(ratio, -1.0, 1.0)
