"""Scales of the columns in differences, learned from similarities."""

from __future__ import annotations

import numpy as np

from alignlearn.solvers.nnqp import nonnegative_qp
from alignlearn.validation import check_count, check_number, check_samples, check_seed

from ._pairs import open_target

_LEAST = 0.01  # minimum share of the mean squared scale, so that no column is ignored


def difference_scales(X, K, shrink=0.01, *, max_pairs=2**17, random_state=None):
    """Scales of the columns in differences, learned from the known similarities.

    Weights w >= 0 of the squared differences of the columns, by least squares in ``K_ij ~ b - sum_c
    w_c (x_ic - x_jc)^2`` over known pairs i < j, with a ridge toward equal weights. Their roots
    are ``scales`` of `hyper_kernels` and `GaussianHyperKernel`. An isotropic hyper-kernel depends
    only on the length of a difference.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Columns of comparable scale.
    K : array-like of shape (m, m) or (m,)
        Symmetric similarities, NaN if unknown (a pair is known if one of its two orders is), or
        labels, which stand for their ideal kernel (`ideal_kernel`).
    shrink : float > 0, default 0.01
        The ridge, for differences whose mean square is 1; 1 leaves nearly equal weights.
    max_pairs : int, default 2**17
        If there are more pairs, this number is drawn at random.
    random_state : int or numpy.random.Generator, optional
        Seed of this draw. None is a fixed seed.

    Returns
    -------
    ndarray of shape (d,)
        Positive; the mean squared length of the differences of known pairs does not change. If no
        column separates similar from dissimilar pairs, all scales are 1.

    Raises
    ------
    ValueError, TypeError
        Bad input.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian
    >>> from alignlearn.hyper import difference_scales
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> scales = difference_scales(X, Gaussian(0.5)(X[:, :1]))  # the similarity is of one column
    >>> bool(scales[0] > 2 * scales[1])
    True
    """
    X = np.asarray(check_samples("X", X), dtype=np.float64)
    shrink = check_number("shrink", shrink, low=0.0, high=1e6, strict=True)
    check_count("max_pairs", max_pairs, optional=False)
    rng = check_seed("random_state", random_state)
    known = open_target(K, len(X)).pairs(np.arange(len(X)), max_pairs, rng)
    known = known.take(np.flatnonzero(known.first != known.second))
    D = np.square(X[known.first] - X[known.second])
    mean = D.mean(axis=0) if len(D) else np.zeros(X.shape[1])
    if not mean.any():
        return np.ones(X.shape[1])
    length, target = mean.sum(), known.target - known.target.mean()
    D -= mean
    D /= -mean.mean()
    total = D.sum(axis=1)
    equal = max(float(total @ target) / max(float(total @ total), 1e-300), 0.0)
    ridge = shrink * len(D)
    A, b = D.T @ D, D.T @ target + ridge * equal
    A.flat[:: len(A) + 1] += ridge
    weights = nonnegative_qp(A, b).v
    if not weights.any():
        return np.ones(X.shape[1])
    weights = np.maximum(weights, _LEAST * weights.mean())
    return np.sqrt(weights * (length / (weights @ mean)))
