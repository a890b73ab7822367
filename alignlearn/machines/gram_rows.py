"""The Gram matrix of a source for machines solved by SMO, or its rows, where these cost less.

A solver reads the rows of the samples that become support vectors, often a tenth of the matrix,
whose memory alone takes as long to get as its values do to compute. How many there will be is
known from a pilot: the machine fitted to some of the samples.
"""

from __future__ import annotations

import copy
import warnings
from functools import partial

import numpy as np

from alignlearn.solvers.smo_rows import RowCache
from alignlearn.sources import FeatureSource, GramSource

_MATRICES = 1.3  # that a machine holds at its peak
# Samples up to which the whole matrix is made, as rows in parts save little there (measured on
# ijcnn1).
_MOST_WHOLE = 3000
_PILOT = 500  # samples
# Share of the pairs of the whole matrix that belong to support vectors in the pilot, below which
# rows pay (measured; it falls with the number of samples).
_WORTH = 0.5
_LARGE_PILOT = 2000
_PASSES = 3.0  # pairs evaluated, in those of support vectors with all samples (measured: 2 to 4)
_MOST_PAIRS = 2**33  # half a minute for a Gaussian on one thread


def matrix_fits(source, memory, itemsize=8):
    """Whether a source's Gram matrix fits ``memory`` bytes; given matrices do: they are there."""
    return isinstance(source, GramSource) or _MATRICES * itemsize * source.n_samples**2 <= memory


def gram_or_rows(source, memory, machine=None, y=None):
    """The training Gram matrix of a combination, or a cache of its rows of ``memory`` bytes.

    Parameters
    ----------
    source : PairSource, FeatureSource or GramSource
        With weights. Given matrices are always combined into one.
    memory : int
    machine, y : SupportVectorClassifier or SupportVectorRegressor and its target, optional
        To be fitted: rows are then preferred where they cost less, not only where the matrix has
        no room.

    Returns
    -------
    ndarray of shape (m, m) or RowCache
        What `SupportVectorClassifier` and `SupportVectorRegressor` take, with the same solution to
        the same ``tol``. Kernel functions and given matrices are not checked to be positive
        semi-definite by rows.

    Raises
    ------
    ValueError
        Where ``memory`` does not hold two rows.
    """
    single = getattr(source.X, "dtype", None) == np.float32
    fits = matrix_fits(source, memory, 4 if single else 8)
    if fits and (machine is None or not rows_pay(source, machine, y)):
        return source.gram()
    return row_cache(source, memory)


def rows_pay(source, machine, y, most_whole=_MOST_WHOLE):
    """Whether rows of a source cost a machine less than the matrix, by a pilot.

    Not for up to ``most_whole`` samples.
    """
    paired = not isinstance(source, (FeatureSource, GramSource)) and not source.given
    if not paired or source.n_samples <= most_whole or np.isinf(machine.C):
        return False
    pairs, _ = _pilot(source, machine, y, _PILOT)
    return pairs < _WORTH * _PILOT**2


def rows_are_affordable(source, machine, y, memory):
    """Whether an exact machine on many samples costs no more than half a minute or so.

    Two pilots give a power law for the pairs of support vectors with samples, and for the rows,
    which have to fit ``memory``.
    """
    if np.isinf(machine.C) or source.given:
        return False
    found = [_pilot(source, machine, y, n) for n in (_PILOT, _LARGE_PILOT)]
    ratio = np.log(source.n_samples / _LARGE_PILOT) / np.log(_LARGE_PILOT / _PILOT)
    (few, least), (many, most) = found
    pairs = many * (max(many, 1.0) / max(few, 1.0)) ** ratio
    support = most * (max(most, 1.0) / max(least, 1.0)) ** ratio
    # Half of the rows of the working set, in float32, is what the cache takes for room enough.
    return _PASSES * pairs <= _MOST_PAIRS and 2.0 * (1.5 * support) ** 2 <= memory


def _pilot(source, machine, y, n):
    """Pairs of support vectors with samples of their problem, and most support vectors of one.

    All pairs if there is one class only.
    """
    used = np.arange(source.n_samples) if source.weight is None else np.flatnonzero(source.weight)
    chosen = np.zeros(source.n_samples, dtype=bool)
    chosen[np.random.default_rng(0).permutation(used)[:n]] = True
    part, y, machine = source.part(chosen), y[chosen], copy.copy(machine)
    if not np.any(y != y[0]):
        return float(n**2), n
    machine.tol = max(10.0 * machine.tol, 1e-2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # float32 as the rows of a cache: one compilation.
        machine.fit(part.gram().astype(np.float32), y, part.weight, check=False)
    support = np.count_nonzero(machine.dual_coef_, axis=0)
    return float(support @ machine.problem_sizes(y)), int(support.max())


def row_cache(source, memory):
    """A `RowCache` of the combination of a source of kernels on pairs, or of features."""
    if isinstance(source, FeatureSource):
        return RowCache(partial(_feature_rows, source), source.n_samples, memory)

    def times(rows, columns, weights):
        X = None if rows is None else source.samples(rows)
        return source.products(X, source.samples(columns), exact=False).times(weights)

    rows = partial(_pair_rows, source)
    options = {"times": times, "diagonal": _diagonal(source, rows)}
    return RowCache(rows, source.n_samples, memory, **options)


def _part(source, columns):
    """The source with some of its samples to compare new ones with."""
    some = copy.copy(source)
    some.X = source.X if columns is None else source.samples(columns)
    return some


def _feature_rows(source, columns):
    some = _part(source, columns)
    return lambda index: some.cross_gram(source.samples(index))


def _pair_rows(source, columns):
    """A function that gives rows of some columns, in memory that the next call takes again."""
    some, memory = _part(source, columns), ()

    def compute(index):
        nonlocal memory
        if len(memory) < len(index):
            memory = some.cross_gram(source.samples(index))
            return memory
        return some.cross_gram(source.samples(index), out=memory[: len(index)])

    return compute


def _diagonal(source, rows):
    """Values K_ii as rows have them, which may lack a constant; None where they may lack more."""
    if source.products(exact=False).lacks_sides:
        return None
    first, values = np.zeros(1, dtype=np.intp), source.diagonal()
    return values + (float(rows(first)(first)[0, 0]) - values[0])
