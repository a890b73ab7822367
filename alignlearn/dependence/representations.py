"""Centered kernel alignment of sets of features, such as the layers of networks."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from alignlearn._lapack import product
from alignlearn._text import short, table
from alignlearn._versions import Versioned
from alignlearn.kernels import Columns, Linear
from alignlearn.sources import open_source
from alignlearn.statistics import unbiased_from_centered
from alignlearn.validation import (
    DegenerateKernelWarning,
    as_array,
    check_flag,
    check_same_type,
    check_samples,
    detached,
    is_sequence,
    is_sparse,
    lies_on_device,
    plain,
    warn,
)

from . import on_device
from .views import naming, view_kernels

_SHOWN = 10  # columns of a printed matrix
_ENTRIES = 2**20  # entries of the rows of Gram matrices in memory at once
# An unbiased self-similarity below this share of the biased one is rounding.
_ROUNDING = 32 * np.finfo(np.float64).eps


def cka_matrix(features, other=None, *, kernels="linear", unbiased=False) -> np.ndarray:
    """Centered kernel alignment of every set of features with every other.

    Parameters
    ----------
    features : sequence or dict of p arrays with m rows, or array of shape (p, m, d)
        Representations of the same m samples, such as the layers of a network; axes after the first
        are flattened. With "precomputed", Gram matrices (m, m). For a dict, ``kernels`` may be a
        dict with the same names.
    other : sequence of q arrays with m rows, optional
        Representations of a second network. Default: ``features``.
    kernels : Kernel, str, or a sequence of these, default "linear"
        One for all, or one for each set (first ``features``, then ``other``); "precomputed" for
        all.
    unbiased : bool, default False
        Whether to use the unbiased HSIC, a U-statistic (m >= 4). The biased one makes wide
        representations of few samples look similar.

    Returns
    -------
    ndarray of shape (p, p) or (p, q)
        ``HSIC(K, L) / sqrt(HSIC(K, K) HSIC(L, L))``; 1 for the same features up to rotation, scale
        and shift. In [0, 1] if biased, [-1, 1] if not.

    Warns
    -----
    DegenerateKernelWarning
        A set of features does not vary; its values are 0.

    Notes
    -----
    For linear kernels, tensors on a CUDA device stay there. Torch tensors may have a gradient or
    half precision. No Gram matrix is stored. Linear kernels use matrix products of the features, or
    of blocks of rows of the Gram matrices if that is cheaper. Other kernels are evaluated in blocks
    of pairs of samples.

    References
    ----------
    Kornblith, Norouzi, Lee and Hinton (2019), Similarity of neural network representations
    revisited, equation 4.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import cka_matrix
    >>> rng = np.random.default_rng(0)
    >>> layer = rng.normal(size=(60, 4))
    >>> rotation = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    >>> noise = rng.normal(size=(60, 4))
    >>> layers = {"one": layer, "rotated": layer @ rotation + 1.0, "noise": noise}
    >>> cka_matrix(layers, unbiased=True).round(1) + 0.0
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    unbiased = check_flag("unbiased", unbiased)
    sets, kernels, shape = _together(features, other, kernels)
    sets, _ = _in_units(sets, kernels)
    return _ratios(_products(sets, kernels, unbiased), shape)


class CKAAccumulator(Versioned):
    """`cka_matrix` from mini-batches: averages of unbiased HSIC, one batch in memory at a time.

    Every batch gives U-statistics of all pairs of representations. Their averages are unbiased for
    any batch size of at least 4. One batch of all samples gives ``cka_matrix(unbiased=True)``, and
    so does the average over all subsets of one size.

    Parameters
    ----------
    kernels : as in :func:`cka_matrix`
        ``gamma="scale"`` is fixed by the first batch.

    Attributes
    ----------
    n_batches : int

    References
    ----------
    Nguyen, Raghu and Kornblith (2021), Do wide and deep networks learn the same things?, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import CKAAccumulator
    >>> rng = np.random.default_rng(0)
    >>> batches = CKAAccumulator()
    >>> for _ in range(10):
    ...     x = rng.normal(size=(16, 5))
    ...     _ = batches.update([x, 3 * x + 1, rng.normal(size=(16, 5))])
    ...
    >>> batches.matrix().shape, batches.n_batches
    ((3, 3), 10)
    >>> batches.matrix()[0].round(2)  # a layer, the same rescaled, and noise
    array([1.  , 1.  , 0.07])
    """

    def __init__(self, kernels="linear"):
        self.kernels = kernels
        self.n_batches = 0
        self._sum = self._units = self._layout = self._resolved = None

    def __repr__(self):
        return f"CKAAccumulator(kernels={short(self.kernels)}, n_batches={self.n_batches})"

    def __str__(self):
        if self._sum is None:
            return "CKA of no batch yet"
        p, q = self._layout[0]
        columns = min(p if q is None else q, _SHOWN)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateKernelWarning)
            values = self.matrix()
        rows = [(str(k), *(f"{v:.4f}" for v in row[:columns])) for k, row in enumerate(values)]
        text = table(rows, ("", *map(str, range(columns))))
        left = f", the first {columns} columns" if columns < values.shape[1] else ""
        title = f"CKA of {' x '.join(map(str, values.shape))} sets of features"
        return f"{title}, mean of {self.n_batches} batch(es){left}\n{text}"

    def update(self, features, other=None):
        """Add a batch, as in :func:`cka_matrix`; b >= 4 samples. Returns self."""
        sets, kernels, shape = _together(features, other, self.kernels)
        given = isinstance(kernels, str)
        layout = shape, *(() if given else (F.shape[1] for F in sets))
        if self._layout not in (None, layout):
            raise ValueError(
                "features differ in number or width from those of earlier batches; "
                "accepted: the same representations of other samples."
            )
        if self._resolved is not None:
            kernels = self._resolved
        elif not given:
            kernels = [kernel.resolve(F) for kernel, F in zip(kernels, sets)]
        sets, units = _in_units(sets, kernels)
        total = _products(sets, kernels, unbiased=True) / len(sets[0]) ** 2
        self._add((total, units), 1, layout, kernels)
        return self

    def merge(self, other):
        """Add the batches of another accumulator; return self.

        Raises
        ------
        TypeError
            ``other`` is not a CKAAccumulator.
        ValueError
            Its representations or its kernels differ. Kernels differ if each accumulator computed
            ``gamma="scale"`` from its own first batch.
        """
        check_same_type(self, other)
        if not other.n_batches:
            return self
        if self.n_batches and self._layout != other._layout:
            raise ValueError(
                "other has representations that differ in number or width; accepted: an "
                "accumulator of the same representations."
            )
        if self.n_batches and self._resolved != other._resolved:
            raise ValueError(
                "other has different kernels; accepted: the same kernels with the same "
                'numbers (gamma="scale" differs from batch to batch).'
            )
        self._add((other._sum, other._units), other.n_batches, other._layout, other._resolved)
        return self

    def _add(self, added, n_batches, layout, kernels):
        (total, units), old = added, self._units
        if old is not None:
            # The sum is in the larger of both units; the lost part is below its rounding.
            units = np.maximum(old, units)
            total = _rescaled(total, added[1] - units) + _rescaled(self._sum, old - units)
        self._sum, self._units = total, units
        self.n_batches += n_batches
        self._layout, self._resolved = layout, kernels

    def matrix(self):
        """The CKA matrix (p, p) or (p, q) of the batches so far.

        Raises
        ------
        ValueError
            No batch has been added.
        """
        if self._sum is None:
            raise ValueError("no batch has been added; call update(features) first.")
        return _ratios(self._sum / self.n_batches, self._layout[0])


def _together(features, other, kernels):
    """All representations as matrices, a kernel for each or "precomputed", and (p, q or None)."""
    names = list(features) if isinstance(features, Mapping) and other is None else None
    first = _listed("features", features)
    second = [] if other is None else _listed("other", other)
    shape = len(first), None if other is None else len(second)
    sets = first + second
    if isinstance(kernels, str) and kernels == "precomputed":
        return sets, kernels, shape
    kernels = view_kernels(kernels, len(sets), names)
    if "precomputed" in [k for k in kernels if isinstance(k, str)]:
        raise ValueError(
            'kernels: "precomputed" must be used for all sets of features or for none.'
        )
    names = [f"features[{k!r}]" for k in _keys(features)]
    names += [f"other[{k!r}]" for k in _keys(other)] if second else []
    tensors = [detached(A) for A in sets]
    if all(map(lies_on_device, tensors)) and all(isinstance(k, Linear) for k in kernels):
        sets = [on_device.matrix(name, A) for name, A in zip(names, tensors)]
    else:
        sets = [_flat(name, A) for name, A in zip(names, sets)]
    for name, A in zip(names, sets):
        if len(A) != len(sets[0]):
            raise ValueError(
                f"{name} has {len(A)} rows, but {names[0]} has {len(sets[0])}; accepted: "
                "representations of the same samples."
            )
    return sets, kernels, shape


def _in_units(sets, kernels):
    """The sets, with those of linear kernels in units of their size, and the units, powers of two.

    CKA of linear kernels does not depend on units, but squares of their values may overflow or
    underflow.
    """
    units = np.zeros(len(sets), dtype=np.int64)
    if isinstance(kernels, str):
        return sets, units
    sets = list(sets)
    for k, kernel in enumerate(kernels):
        if isinstance(kernel, Linear) and 0 not in sets[k].shape:
            units[k] = np.frexp(float(abs(sets[k]).max()))[1]
            if lies_on_device(sets[k]):
                sets[k] = on_device.scaled(sets[k], -int(units[k]))
            else:
                sets[k] = np.ldexp(np.asarray(sets[k], dtype=np.float64), -units[k])
    return sets, units


def _rescaled(M, units):
    """The products of sets that are all multiplied by powers of two."""
    return np.ldexp(M, 2 * (units[:, None] + units))


def _products(sets, kernels, unbiased):
    """``m^2 HSIC`` of all representations with each other, (t, t)."""
    if isinstance(kernels, str):
        source = open_source(sets, kernels)
    elif all(isinstance(kernel, Linear) for kernel in kernels):
        return _linear_products(sets, unbiased)
    else:
        ends = np.cumsum([F.shape[1] for F in sets]).tolist()
        columns = [slice(end - F.shape[1], end) for F, end in zip(sets, ends)]
        kernels = [Columns(kernel, part) for kernel, part in zip(kernels, columns)]
        source = open_source(np.concatenate(sets, axis=1), kernels, pairs=True)
    nothing = np.zeros(source.n_samples)
    return source.statistics(nothing, "regression", unbiased=unbiased).M


def _linear_products(sets, unbiased):
    m = len(sets[0])
    if unbiased and m < 4:
        raise ValueError(f"unbiased=True needs at least 4 samples, got {m}.")
    if lies_on_device(sets[0]):
        M, lengths = on_device.products(sets)
    else:
        centered = [_centered(F) for F in sets]
        M = _inner_products(centered)
        lengths = np.stack([np.square(F).sum(axis=1) for F in centered])
    if not unbiased:
        return M
    traces = lengths.sum(axis=1)
    biased = np.diagonal(M)
    M = m**2 * unbiased_from_centered(M / m**2, lengths @ lengths.T, traces[:, None], traces, m)
    # If all samples have equal distances, the U-statistic is only rounding.
    none = np.diagonal(M) <= _ROUNDING * biased
    M[none], M[:, none] = 0.0, 0.0
    return M


def _inner_products(centered):
    """``|F'G|_F^2`` of all pairs of centered features."""
    m, t = len(centered[0]), len(centered)
    M = np.zeros((t, t))
    if sum(F.shape[1] for F in centered) < m:
        for k, F in enumerate(centered):
            for j, G in enumerate(centered[: k + 1]):
                M[k, j] = M[j, k] = np.square(product(F.T, G)).sum()
    else:
        step = max(1, _ENTRIES // (m * t))
        for i in range(0, m, step):
            n = min(step, m - i)
            rows = np.stack([product(F[i : i + n], F[i:].T) for F in centered])
            # Pairs of a row in this block and a later row count twice.
            own = rows[:, :, :n].reshape(t, -1)
            rows = rows.reshape(t, -1)
            M += 2.0 * (rows @ rows.T) - own @ own.T
    return M


def _centered(F):
    """F with centered columns, float64; exactly 0 where a column is constant."""
    constant = F.min(axis=0) == F.max(axis=0)
    F = np.array(F, dtype=np.float64)
    F -= F.mean(axis=0)
    # The mean of a column with a large offset is rounded, which leaves one small constant per
    # column.
    F -= F.mean(axis=0)
    F[:, constant] = 0.0
    return F


def _keys(features):
    return features if isinstance(features, Mapping) else range(len(features))


def _listed(name, features):
    features = list(features.values()) if isinstance(features, Mapping) else plain(name, features)
    wanted = f"{name} must be a non-empty sequence of arrays with a row per sample"
    if not is_sequence(features) or len(features) == 0:
        raise ValueError(f"{wanted}, got {features!r:.80}.")
    shapes = [np.shape(features[0]), *(getattr(one, "shape", (0, 0)) for one in features[1:])]
    for number, shape in enumerate(shapes):
        if len(shape) < 2:
            raise ValueError(
                f"{wanted}, but number {number} has shape {tuple(shape)}. Reshape a single "
                "feature by A.reshape(-1, 1), and pass a single array as [A]."
            )
    return list(features)


def _flat(name, A):
    with naming(name):
        if is_sparse(A):
            return check_samples("X", A)
        A = as_array("X", A)
        return check_samples("X", A.reshape(len(A), -1) if A.ndim > 2 else A)


def _ratios(M, shape):
    norms = np.sqrt(np.maximum(np.diagonal(M), 0.0))
    flat = np.flatnonzero(norms == 0.0)
    if flat.size:
        warn(
            (
                f"{flat.size} of the {norms.size} sets of features are constant on these "
                f"samples, the first of them number {flat[0]}; their CKA is 0 by definition."
            ),
            DegenerateKernelWarning,
        )
    inverse = np.divide(1.0, norms, where=norms > 0.0, out=np.zeros_like(norms))
    p, q = shape
    columns = slice(0, p) if q is None else slice(p, p + q)
    # Divided by one norm after the other, because their product may overflow.
    values = M[:p, columns] * inverse[:p, None] * inverse[columns]
    return np.clip(values, -1.0, 1.0)
