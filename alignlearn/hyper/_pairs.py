"""The known pairs of a similarity matrix, and the matrix of a hyper-kernel between them.

The m^2 equations of a symmetric matrix are those of its unordered pairs i <= j, each counted w
times: 1 on the diagonal, 2 off it. With K the hyper-kernel between unordered pairs the full ridge
system is ``(K + alpha W^-1) gamma = y``, where gamma_ij is the sum of both coefficients. Unknown
pairs are omitted. If there are too many pairs, some are drawn, with weights that compensate for the
others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn._text import listed
from alignlearn.engine.cpu import CPU
from alignlearn.validation import check_labels, check_symmetric, gram_like

from ._terms import total
from .algebra import merged


class Known(NamedTuple):
    """Known pairs i <= j of a similarity matrix: positions, values y and weights w, each (P,)."""

    first: np.ndarray
    second: np.ndarray
    target: np.ndarray
    weight: np.ndarray

    def take(self, index):
        """The pairs at these positions."""
        return Known(*(part[index] for part in self))


def ideal_kernel(y):
    """Similarity of labels: 1 for equal labels, -1 / (c - 1) for different labels of c classes.

    For two classes it is yy' with labels -1 and +1; for more, the inner products of the vertices of
    a regular simplex.

    Parameters
    ----------
    y : array-like of shape (m,)
        Labels of one type, with at least two classes.

    Returns
    -------
    ndarray of shape (m, m), float64

    Examples
    --------
    >>> from alignlearn.hyper import ideal_kernel
    >>> ideal_kernel(["a", "a", "b"])
    array([[ 1.,  1., -1.],
           [ 1.,  1., -1.],
           [-1., -1.,  1.]])
    """
    codes, n_classes = label_similarities(y)
    return np.where(codes[:, None] == codes, 1.0, -1.0 / (n_classes - 1))


def label_similarities(y, name="y"):
    """Codes of labels, (m,), and the number of classes; a ValueError for fewer than two."""
    classes, codes = np.unique(check_labels(y, name=name, classes=False), return_inverse=True)
    if classes.size < 2:
        raise ValueError(
            f"{name} has {classes.size} class; similarity of labels needs at least two."
        )
    return codes.reshape(-1), classes.size


class IdealTarget:
    """The pairs of the ideal kernel of labels, computed one by one without its matrix."""

    def __init__(self, y, n_samples):
        self.codes, self.n_classes = label_similarities(y, "K")
        if self.codes.size != n_samples:
            raise ValueError(
                f"K has {self.codes.size} labels but X has {n_samples} samples; they must agree."
            )

    def pairs(self, rows, most, rng) -> Known:
        """Pairs of these samples, all of them or ``most`` that are drawn."""
        m = rows.size
        starts = np.cumsum(np.arange(m, 0, -1)) - np.arange(m, 0, -1)  # of pairs (i, i)
        total = m * (m + 1) // 2
        numbers = np.arange(total) if total <= most else _draw(total, most, rng)
        first = np.searchsorted(starts, numbers, side="right") - 1
        second = numbers - starts[first] + first
        same = self.codes[rows[first]] == self.codes[rows[second]]
        target = np.where(same, 1.0, -1.0 / (self.n_classes - 1))
        weight = np.where(first == second, 1.0, 2.0) * (total / numbers.size)
        return Known(rows[first], rows[second], target, weight)


class MatrixTarget:
    """The known pairs of a similarity matrix."""

    def __init__(self, K, n_samples):
        self.known, self.n_samples = known_pairs(K, n_samples), n_samples

    def pairs(self, rows, most, rng) -> Known:
        """Known pairs of these samples, all of them or ``most`` that are drawn."""
        found = self.known
        if rows.size < self.n_samples:
            inside = np.zeros(self.n_samples, dtype=bool)
            inside[rows] = True
            found = found.take(np.flatnonzero(inside[found.first] & inside[found.second]))
        total = found.first.size
        if total <= most:
            return found
        found = found.take(_draw(total, most, rng))
        return found._replace(weight=found.weight * (total / most))


def _draw(total, n, rng):
    """n numbers drawn from those below ``total``, in ascending order."""
    return np.sort(rng.choice(total, n, replace=False, shuffle=False))


def open_target(K, n_samples):
    """Convert K, a matrix of similarities or labels for their ideal kernel, to a target."""
    try:
        one_axis = np.ndim(K) == 1 and not hasattr(K, "tocsr")
    except ValueError as error:  # rows of several lengths
        raise ValueError(f"K must be a square matrix of similarities: {error}.") from None
    return IdealTarget(K, n_samples) if one_axis else MatrixTarget(K, n_samples)


def known_pairs(K, n_samples) -> Known:
    """The known pairs of a similarity matrix in which NaN marks unknown ones.

    Parameters
    ----------
    K : array-like of shape (m, m)
    n_samples : int
        m.

    Returns
    -------
    Known
        Each pair once, with ``first <= second``: sample numbers, similarity (``target``) and
        ``weight``, 1 for a sample with itself and 2 otherwise.

    Raises
    ------
    ValueError, TypeError
        K is not a real (m, m) matrix, not symmetric where both orders of a pair are known, has
        infinite values, or a row without a known value.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.hyper import known_pairs
    >>> K = np.array([[1.0, 0.5, np.nan], [0.5, 1.0, np.nan], [np.nan, np.nan, 1.0]])
    >>> known = known_pairs(K, 3)
    >>> known.first.tolist(), known.second.tolist(), known.weight.tolist()
    ([0, 0, 1, 2], [0, 1, 1, 2], [1.0, 2.0, 1.0, 1.0])
    """
    K = np.asarray(gram_like("K", K, "a square matrix of similarities"), dtype=np.float64)
    if K.shape != (n_samples, n_samples):
        raise ValueError(
            f"K has shape {K.shape} but X has {n_samples} samples; accepted: one row and one "
            "column for each sample, NaN where a similarity is unknown."
        )
    unknown = np.isnan(K)
    K = np.where(unknown, K.T, K)
    unknown = np.isnan(K)
    empty = np.flatnonzero(unknown.all(axis=1))
    if empty.size:
        rows = listed(empty, 5, show=str)
        raise ValueError(
            f"K: no similarity is known for {empty.size} of {n_samples} samples (rows "
            f"{rows}); leave them out of X and K."
        )
    check_symmetric("K", np.where(unknown, 0.0, K))
    first, second = np.nonzero(np.triu(~unknown))
    target = 0.5 * (K[first, second] + K[second, first])
    return Known(first, second, target, np.where(first == second, 1.0, 2.0))


class PairSystem:
    """The matrix of a hyper-kernel between P pairs of m points, which is not formed.

    Parameters
    ----------
    hyper_kernel : HyperKernel
        Resolved.
    X : ndarray of shape (m, d), float64
    first, second : ndarray of shape (P,), int64
    engine : Cpu, Cuda or Cluster
        The engine that runs the operations.

    Attributes
    ----------
    parts : list
        The systems of the hyper-kernel's terms (`_terms`), of which this is the sum.
    """

    def __init__(self, hyper_kernel, X, first, second, engine=CPU):
        used, where = np.unique(np.concatenate([first, second]), return_inverse=True)
        side = X[used], *where.reshape(2, -1)
        self.parts = [term.system(*side, engine) for term in merged(hyper_kernel._terms())]
        self.n_pairs = first.size

    def diagonal(self):
        """The diagonal, (P,)."""
        return total(part.diagonal() for part in self.parts)

    def columns(self, index):
        """The columns of these pairs, (P, n) in Fortran order: long loops for each."""
        return total(part.columns(index) for part in self.parts)

    def submatrix(self, index):
        """The part between these pairs, (n, n)."""
        return total(part.submatrix(index) for part in self.parts)

    def gram(self):
        """The whole matrix, (P, P)."""
        return total(part.gram() for part in self.parts)

    def times(self, coef):
        """The product with a vector (P,)."""
        return total(part.times(coef) for part in self.parts)
