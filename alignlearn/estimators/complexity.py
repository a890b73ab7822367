"""Rademacher complexity of the predictors of a combination of kernels.

The class and the bounds are those of `alignlearn.bounds.rademacher`; here the kernels are
opened on samples and evaluated in blocks of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from alignlearn._text import Result
from alignlearn.bounds.rademacher import KernelSizes, class_bounds, dual_norm, sign_vectors
from alignlearn.sources import open_source
from alignlearn.statistics import AlignmentStatistics
from alignlearn.validation import check_count, check_number, check_seed

_BLOCK = 2**22  # kernel values held at once
_MOST_EXACT = 12  # samples up to which all signs are enumerated unless draws are asked for


@dataclass(frozen=True)
class LearnedComplexity(Result):
    """Empirical Rademacher complexity of a class, and upper bounds of it.

    Attributes
    ----------
    value : float
        In the units of the predictions; nan where only statistics were given.
    standard_error : float
        0 if all signs were enumerated.
    exact : bool
    bounds : dict of str -> float
        "ours" (moments), "cortes-2010" and, for q = 1, "cortes-2010-diagonal" (Cortes, Mohri and
        Rostamizadeh, theorem and corollary), "lanckriet-2004" (Lanckriet et al., traces and largest
        eigenvalues).
    n_samples, n_kernels : int
    """

    value: float
    standard_error: float
    exact: bool
    n_samples: int
    n_kernels: int
    bounds: dict = field(default_factory=dict)


def rademacher(kernels, X=None, radius=1.0, *, q=1.0, draws=None, random_state=None):
    """Rademacher complexity of {x -> <w, phi_mu(x)>: |w| <= radius, mu >= 0, ||mu||_q <= 1}.

    Parameters
    ----------
    kernels : sequence of Kernel and str, RankOneKernels, "precomputed" or AlignmentStatistics
        As the estimators take them; positive semi-definite. Statistics are of centered kernels, and
        give the bounds only.
    X : array-like of shape (m, d), list of objects, or p Gram matrices
        The samples; None for statistics.
    radius : float, default 1.0
    q : float >= 1 or inf, default 1.0
        Norm of the weights.
    draws : int, optional
        Number of random vectors of signs. By default all signs are enumerated for m <= 12, and 1000
        are drawn for more; ``draws=0`` requests enumeration, up to m = 17.
    random_state : int, Generator or None

    Returns
    -------
    LearnedComplexity

    Raises
    ------
    ValueError, TypeError
        For a number out of range, bad samples, or an indefinite kernel.

    Notes
    -----
    Every kernel is evaluated on all pairs of samples, in blocks of rows; nothing (m, m) is held.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, Linear
    >>> from alignlearn.estimators import rademacher
    >>> X = np.random.default_rng(0).normal(size=(10, 2))
    >>> found = rademacher([Gaussian(0.5), Linear()], X)
    >>> round(float(found.value), 2), found.exact  # over all vectors of signs
    (0.4, True)
    >>> found.value <= min(found.bounds.values())
    True
    """
    radius = check_number("radius", radius, low=0.0)
    q = check_number("q", q, low=1.0, finite=False)
    draws = check_count("draws", draws, low=0)
    rng = check_seed("random_state", random_state)
    if isinstance(kernels, AlignmentStatistics):
        return _of_statistics(kernels, X, radius, q)
    source = open_psd(kernels, X)
    m = source.n_samples
    if draws is None:
        draws = 0 if m <= _MOST_EXACT else 1000
    signs = rng.choice([-1.0, 1.0], (draws, m)) if draws else sign_vectors(m)
    forms, sizes = sign_forms(source, signs)
    values = radius / m * np.sqrt(dual_norm(forms, q))
    error = 0.0
    if draws:
        error = float(values.std(ddof=1) / np.sqrt(draws)) if draws > 1 else np.nan
    bounds = class_bounds(sizes, radius, q)
    return LearnedComplexity(float(values.mean()), error, not draws, m, forms.shape[1], bounds)


def _of_statistics(statistics, X, radius, q):
    """The bounds for centered kernels with known statistics."""
    if X is not None:
        raise ValueError("X must be None where kernels are statistics.")
    traces, squares = statistics.trace, np.diag(statistics.M).copy()
    if (traces < 0).any():
        raise ValueError("kernels must be positive semi-definite, but a trace is negative.")
    top, unknown = np.minimum(traces, np.sqrt(squares)), np.full(len(traces), np.nan)
    sizes = KernelSizes(traces, squares, top, unknown, statistics.n_samples)
    bounds = class_bounds(sizes, radius, q)
    return LearnedComplexity(np.nan, np.nan, False, sizes.n_samples, len(traces), bounds)


def open_psd(kernels, X):
    """The open source; a ValueError for kernels that may be indefinite."""
    source = open_source(X, kernels)
    if isinstance(source.kernels, list):
        bad = [str(kernel) for kernel in source.kernels if not kernel.is_psd]
        if bad:
            raise ValueError(
                f"kernels must be positive semi-definite, but {bad[0]} may be indefinite."
            )
    return source


# -- one pass over the kernels ---------------------------------------------------------


def sign_forms(source, vectors):
    """v'K_k v for each row v of `vectors` (S, m) and each kernel: (S, p), and the `KernelSizes`.

    Parameters
    ----------
    source : an open source
    vectors : float array (S, m)
    """
    vectors = np.asarray(vectors, dtype=float)
    if source.is_linear:
        return _feature_forms(source, vectors)
    p = len(source.kernels)
    found = np.zeros((len(vectors), p))
    sizes = np.zeros((4, p))
    for k in range(p):
        for rows, block in _blocks(source, k):
            found[:, k] += np.einsum("si,si->s", vectors @ block.T, vectors[:, rows])
            diagonal = block[np.arange(len(block)), np.arange(rows.start, rows.stop)]
            sizes[0, k] += diagonal.sum()
            sizes[1, k] += np.square(block).sum()
            sizes[2, k] = max(sizes[2, k], np.abs(block).sum(1).max())
            sizes[3, k] = max(sizes[3, k], diagonal.max())
    sizes[2] = np.minimum(sizes[2], np.minimum(sizes[0], np.sqrt(sizes[1])))
    return found, KernelSizes(*sizes, source.n_samples)


def _feature_forms(source, vectors):
    """The same for linear kernels, without a matrix of pairs of samples."""
    products = np.square(np.asarray(vectors @ source.X))
    top, m = source.largest_diagonals(), source.n_samples
    squares = source.X.multiply(source.X) if source.sparse else np.square(source.X)
    energy = np.asarray(squares.sum(axis=0), dtype=float).ravel()
    if source.groups is None:
        return products, KernelSizes(energy, energy**2, energy, top, m)
    found, sizes = [], []
    for columns, scale in source.column_groups():
        features = source.X[:, columns]
        inner = features.T @ features
        inner = inner.toarray() if source.sparse else inner
        trace, norm = scale * energy[columns].sum(), scale * np.linalg.norm(inner)
        found.append(scale * products[:, columns].sum(1))
        sizes.append((trace, norm**2, min(trace, norm)))
    return np.array(found).T, KernelSizes(*np.array(sizes).T, top, m)


def _blocks(source, k):
    single, m = source.single(k), source.n_samples
    step = max(1, _BLOCK // m)
    for start in range(0, m, step):
        rows = slice(start, min(start + step, m))
        block = (
            single.gram(exact=True) if step >= m else single.rows(np.arange(m)[rows], exact=True)
        )
        yield rows, np.asarray(block, dtype=float)
