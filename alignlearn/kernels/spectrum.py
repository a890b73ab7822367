"""Spectra of indefinite Gram matrices: the associated Hilbert space, and fixes.

A symmetric ``K = U diag(w) U'`` with eigenvalues of both signs is the Gram matrix of points in a
Krein space, a difference of two Hilbert spaces. Adding the two instead gives a Hilbert space with
the same functions, whose Gram matrix is the majorant ``|K| = U diag(|w|) U'``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from alignlearn._lapack import (
    group_reflectors,
    product,
    rotate_columns,
    tridiagonal_values,
    tridiagonal_vectors,
    tridiagonalize,
)
from alignlearn._params import ParamsMixin
from alignlearn._text import Result
from alignlearn.validation import (
    check_choice,
    check_fitted,
    check_gram,
    check_test_gram,
    check_weights,
)

FIXES = ("clip", "flip", "shift")
_BLOCK = 256
# Smallest weight, relative to the largest, of a sample in the decomposition: the rounding error of
# the majorant at a sample is that of the decomposition divided by the weight.
_LEAST_WEIGHT = 1e-8


@dataclass(frozen=True, eq=False)
class KreinSpectrum(Result):
    """Spectrum of a Gram matrix, with its majorant; made by `krein_spectrum`.

    With sample weights D (divided by the largest) the decomposition is ``D^1/2 K D^1/2 = U diag(w)
    U'``, and the majorant is ``D^-1/2 U diag(|w|) U' D^-1/2``. An integer weight is then equivalent
    to repeating a sample, and weight 0 to omitting it. This does not hold for ``|K|`` itself.

    Attributes
    ----------
    K : ndarray of shape (m, m)
        As given.
    sample_weight : ndarray of shape (m,)
    eigenvalues : ndarray of shape (m,)
        w, ascending.
    rounding : float
        Eigenvalues of at most this size count as 0: ``m eps max|w|``, and for a float32 matrix at
        least its eps times the Frobenius norm, which the rounding of the entries may reach.
    vectors : ndarray of shape (m, n_negative + n_zero), or None
        Columns of U for the negative eigenvalues, then for those that count as 0. No columns if
        none is negative; None if not requested.

    Notes
    -----
    Memory in addition to K: one m x m float64 matrix during the decomposition, and later for the
    majorant, plus the vectors, for which LAPACK temporarily needs a second matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.machines import krein_spectrum
    >>> K = np.diag([2.0, 1.0, -0.5])
    >>> spectrum = krein_spectrum(K)
    >>> spectrum.eigenvalue_range, spectrum.n_negative
    ((-0.5, 2.0), 1)
    >>> spectrum.majorant.round(6)
    array([[2. , 0. , 0. ],
           [0. , 1. , 0. ],
           [0. , 0. , 0.5]])
    """

    K: np.ndarray
    sample_weight: np.ndarray
    eigenvalues: np.ndarray
    rounding: float
    vectors: np.ndarray | None

    @property
    def n_negative(self) -> int:
        """Number of eigenvalues below ``-rounding``; 0 if K is positive semi-definite."""
        return int(np.count_nonzero(self.eigenvalues < -self.rounding))

    @property
    def n_zero(self) -> int:
        """Number of eigenvalues that count as 0."""
        return int(np.count_nonzero(np.abs(self.eigenvalues) <= self.rounding))

    @property
    def eigenvalue_range(self) -> tuple[float, float]:
        """Smallest and largest eigenvalue."""
        return float(self.eigenvalues[0]), float(self.eigenvalues[-1])

    @cached_property
    def majorant(self) -> np.ndarray:
        """``|K|``, (m, m) float64, zero eigenvalues dropped; K itself if none is negative."""
        return self.with_negative(1.0)

    def with_negative(self, share):
        """K with negative eigenvalues w replaced by ``share |w|``: 0 clips, 1 flips them."""
        if not self.n_negative:
            return self.K
        out = _symmetrized(self.K)
        values = self.eigenvalues[: self.vectors.shape[1]]
        change = np.where(values < -self.rounding, -(1.0 + share) * values, -values)
        _, inverse = _roots(self.sample_weight)
        for i in range(0, len(out), _BLOCK):
            j = min(i + _BLOCK, len(out))
            left = (self.vectors[i:j] * inverse[i:j, None]) * change
            part = out[i:j, :j]
            part += (left @ self.vectors[:j].T) * inverse[:j]
            corner = np.tril(out[i:j, i:j], -1)
            out[i:j, i:j] = corner + corner.T + np.diag(out[i:j, i:j].diagonal())
            out[:i, i:j] = out[i:j, :i].T
        return out

    def to_krein(self, coef):
        """``beta = D^1/2 U S U' D^-1/2 coef``: ``K beta = |K| coef``, S the signs of w, or 0.

        Converts coefficients (m,) or (m, c) of a function in the majorant kernel to those of the
        same function in the original kernel. Applied to beta it returns ``coef`` except for its
        part in the null space. If no eigenvalue is negative, returns ``coef`` itself.
        """
        if not self.n_negative:
            return coef
        root, inverse = _roots(self.sample_weight)
        gain = np.where(self.eigenvalues[: self.vectors.shape[1]] < -self.rounding, 2.0, 1.0)
        inner = self.vectors.T @ (coef.T * inverse).T
        return coef - ((self.vectors @ (inner.T * gain).T).T * root).T


def krein_spectrum(K, sample_weight=None, *, vectors=True, check=True) -> KreinSpectrum:
    """Decompose a symmetric Gram matrix into its positive and its negative part.

    Parameters
    ----------
    K : (m, m) float64 or float32
        Symmetric; kept by reference and not modified. Differences of K_ij and K_ji within the
        accepted rounding are averaged.
    sample_weight : (m,), optional
        Nonnegative; see `KreinSpectrum`. Weights below 1e-8 of the largest are raised to it.
    vectors : bool, default True
        False for eigenvalues only: no majorant then, unless K is positive semi-definite.
    check : bool, default True
        False skips the check that K is finite, symmetric and in C order.

    Returns
    -------
    KreinSpectrum

    Raises
    ------
    ValueError
        Invalid input, or the eigenvalues overflow.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Log
    >>> from alignlearn.machines import krein_spectrum
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> spectrum = krein_spectrum(Log()(X))
    >>> int(spectrum.n_negative)  # conditionally positive definite: one
    1
    """
    K = check_gram("K", K) if check else K
    weight = check_weights(sample_weight, len(K))
    root, _ = _roots(weight)
    system = _symmetrized(K)
    system *= root
    system *= root[:, None]
    # A power of two: eigenvalues in any unit without rounding.
    largest = max(float(np.abs(row).max()) for row in system)
    unit = 2.0 ** min(int(np.frexp(largest)[1]), 1023)
    system /= unit
    diagonal, beside, tau = tridiagonalize(system)
    values = tridiagonal_values(diagonal, beside)
    rounding = len(K) * np.finfo(np.float64).eps * np.abs(values).max()
    if K.dtype == np.float32:
        rounding = max(rounding, np.finfo(np.float32).eps * float(np.linalg.norm(values)))
    found = None
    if vectors:
        n = np.count_nonzero(values <= rounding) if values[0] < -rounding else 0
        _, found = tridiagonal_vectors(diagonal, beside, 0, n - 1)
        rotate_columns(system, group_reflectors(system, tau), found)
    with np.errstate(over="ignore"):
        values, rounding = values * unit, float(rounding * unit)
    if not np.isfinite(values).all():
        raise ValueError(
            f"K holds values up to {largest:.3g}, so its eigenvalues overflow; scale K."
        )
    return KreinSpectrum(K, weight, values, rounding, found)


def open_spectrum(K, n_samples, sample_weight, check):
    """The spectrum of a training matrix, or the `KreinSpectrum` passed instead."""
    if not isinstance(K, KreinSpectrum):
        K = check_gram("K", K, n_samples) if check else K
        return krein_spectrum(K, sample_weight, check=False)
    if len(K.K) != n_samples:
        raise ValueError(
            f"K is the spectrum of {len(K.K)} samples but y has {n_samples} values; they must "
            "agree."
        )
    if sample_weight is not None:
        raise ValueError(
            "sample_weight is part of a KreinSpectrum: use krein_spectrum(K, sample_weight)."
        )
    if K.vectors is None and K.n_negative:
        raise ValueError("K is a KreinSpectrum without vectors; accepted: one with vectors=True.")
    return K


@dataclass(eq=False, repr=False)
class SpectrumFix(ParamsMixin):
    """Replace an indefinite kernel by a positive semidefinite one, consistently for new samples.

    Replaces eigenvalues w of the training matrix ``K = U diag(w) U'`` by ``f(w)``. Kernel values of
    new samples are multiplied by ``P = U diag(f(w) / w) U'``, like each row of the training matrix,
    so that training and test samples have one kernel (Chen, Garcia, Gupta, Rahimi and Cazzanti
    2009, "Similarity-based classification: concepts and algorithms").

    Parameters
    ----------
    method : {"clip", "flip", "shift"}, default "clip"
        "clip": f(w) = max(w, 0), the nearest positive semi-definite matrix. "flip": f(w) = |w|.
        "shift": f(w) = w - min(w) if min(w) < 0. This adds a constant to the diagonal, so rows of
        new samples stay unchanged, and `transform` of the training samples omits the constant.

    Attributes
    ----------
    eigenvalue_range_ : tuple of float
        Smallest and largest eigenvalue of the training matrix.
    n_negative_ : int
        Negative eigenvalues, beyond rounding; if 0, nothing is changed.
    shift_ : float
        The constant added to the diagonal; 0 for "clip" and "flip".
    n_train_ : int

    Notes
    -----
    A `SupportVectorClassifier` on the matrices of "flip" makes the same decisions as `KreinSVC`, on
    training samples and on new ones. "clip" and "shift" give other models. Eigenvalues that count
    as 0 (see `KreinSpectrum.rounding`) become 0 in "clip" and "flip", and in P. `fit` keeps an m x
    n array for n nonpositive eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.machines import SpectrumFix
    >>> K = np.array([[1.0, 2.0], [2.0, 1.0]])  # eigenvalues 3 and -1
    >>> fix = SpectrumFix("clip")
    >>> fix.fit_transform(K).round(6)
    array([[1.5, 1.5],
           [1.5, 1.5]])
    >>> fix.transform([[1.0, 0.0]]).round(6)  # a new sample's similarities, by the same map
    array([[0.5, 0.5]])
    """

    method: str = "clip"

    def fit(self, K, y=None, sample_weight=None):
        """Decompose the training matrix.

        Parameters
        ----------
        K : (m, m) float64 or float32
            Symmetric; not modified.
        y : ignored
        sample_weight : (m,), optional
            Nonnegative, as in `KreinSpectrum`: an integer counts repetitions of a sample. For
            "shift", 0 or one other number, because a repeated sample is also similar to its copies.

        Raises
        ------
        ValueError
            Unknown method; K not square, not symmetric or not finite; weights that differ for
            "shift".
        """
        self._fit(K, sample_weight)
        return self

    def fit_transform(self, K, y=None, sample_weight=None):
        """Fit, and return the fixed training matrix (m, m): K itself if it needs no fix."""
        spectrum = self._fit(K, sample_weight)
        if not self.n_negative_:
            return spectrum.K
        if self.method != "shift":
            return spectrum.with_negative(1.0 if self.method == "flip" else 0.0)
        fixed = _symmetrized(spectrum.K)
        fixed.flat[:: len(fixed) + 1] += self.shift_
        return fixed

    def transform(self, K_test):
        """Transform kernel values (n, m) of new samples against the training samples.

        Raises
        ------
        ValueError
            Wrong number of columns, NaN or infinity.
        """
        check_fitted(self, "n_train_")
        K_test = check_test_gram("K_test", K_test, self.n_train_)
        return self._corrected(K_test, self._parts(K_test))

    def fit_extended(self, K, rows, sample_weight=None):
        """The fix of the training matrix ``K[rows][:, rows]`` on all samples of K, (n, n).

        For a sample in ``rows`` and another one, the value is that of `transform`. For two others
        it is ``K - sum_j g_j f_j f_j' / w_j``, with the projections f_j on the eigenvectors of
        negative w_j. Both formulas agree for samples in ``rows``.

        Parameters
        ----------
        K : (n, n) float64 or float32
            Symmetric; not modified.
        rows : (m,) int
            Each at most once.
        sample_weight : (m,), optional
            Weights of the rows, as in `fit`.
        """
        inside = self.fit_transform(K[np.ix_(rows, rows)], sample_weight=sample_weight)
        out = np.array(K, dtype=np.float64)
        others = np.setdiff1d(np.arange(len(K)), rows)
        parts = self._parts(out[np.ix_(others, rows)])
        across = self._corrected(out[np.ix_(others, rows)], parts)
        negative = self._negative < 0.0
        found = parts[:, negative]
        scale = self._gain[negative] / self._negative[negative]
        out[np.ix_(others, others)] -= (found * scale) @ found.T
        out[np.ix_(others, rows)], out[np.ix_(rows, others)] = across, across.T
        out[np.ix_(rows, rows)] = inside
        return out

    def _parts(self, K):
        """Projections of the rows of K on the changed eigenvectors."""
        return product(K * self._root, self._vectors)

    def _corrected(self, K, parts):
        if not self._gain.size:
            return K
        return K - product(parts * self._gain, self._vectors.T) * self._inverse

    def _fit(self, K, sample_weight=None):
        check_choice("method", self.method, FIXES)
        shift = self.method == "shift"
        if shift and sample_weight is not None:
            weight = check_weights(sample_weight, len(K))
            if np.unique(weight[weight > 0.0]).size > 1:
                raise ValueError(
                    'fix="shift" adds a constant to the diagonal, which is undefined between '
                    "repetitions of a sample, as sample_weight counts them; "
                    'accepted: "clip" and "flip", or equal weights.'
                )
        spectrum = krein_spectrum(K, sample_weight, vectors=not shift)
        self.n_train_ = len(spectrum.K)
        self.eigenvalue_range_ = spectrum.eigenvalue_range
        self.n_negative_ = spectrum.n_negative
        self.shift_ = -self.eigenvalue_range_[0] if shift and self.n_negative_ else 0.0
        self._vectors = np.empty((self.n_train_, 0)) if shift else spectrum.vectors
        values = spectrum.eigenvalues[: self._vectors.shape[1]]
        # Eigenvalues that count as 0 are left out of products that divide by them.
        self._negative = np.where(values < -spectrum.rounding, values, 0.0)
        gain = 2.0 if self.method == "flip" else 1.0
        self._gain = np.where(self._negative < 0.0, gain, 1.0)
        self._root, self._inverse = _roots(spectrum.sample_weight)
        return spectrum


def _roots(weight):
    """Square roots of weights relative to the largest, and their inverses; 0 for weight 0."""
    share = weight / weight.max()
    root = np.sqrt(np.where(share > 0.0, np.maximum(share, _LEAST_WEIGHT), 0.0))
    return root, np.divide(1.0, root, where=root > 0.0, out=np.zeros_like(root))


def _symmetrized(K):
    """``(K + K') / 2`` as a new float64 array in C order."""
    out = np.empty(K.shape)
    for i in range(0, len(K), _BLOCK):
        j = min(i + _BLOCK, len(K))
        # Halved before the addition, since the sum may overflow.
        np.multiply(K[i:j], 0.5, out=out[i:j], dtype=np.float64)
        out[i:j] += np.multiply(K[:, i:j].T, 0.5, dtype=np.float64)
    return out
