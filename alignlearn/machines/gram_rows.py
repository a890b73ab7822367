"""The Gram matrix of a combination for machines solved by SMO, or its rows, where these cost less.

A solver reads the rows of the samples that become support vectors, often a tenth of the matrix,
whose memory alone takes as long to get as its values do to compute. How many there will be is
known from a pilot: the machine fitted to some of the samples.
"""

from __future__ import annotations

import copy
import warnings

import numpy as np

from alignlearn.solvers.smo_rows import FullRows, RowCache, type_of_rows

_MATRICES = 1.3  # that a machine holds at its peak
# Samples up to which the whole matrix is made, as rows in parts save little there (measured on
# ijcnn1).
_MOST_WHOLE = 3000
# Samples up to which whole rows are kept: of more, those of a working set are so much shorter that
# computing some again costs less (measured: 20,000 take 2 to 3 times as long).
_MOST_FULL = 6000
_PILOT = 500  # samples
# Share of the pairs of the whole matrix that belong to support vectors in the pilot, below which
# rows pay (measured; it falls with the number of samples).
_WORTH = 0.5
_LARGE_PILOT = 2000
_PASSES = 3.0  # pairs evaluated, in those of support vectors with all samples (measured: 2 to 4)
_MOST_PAIRS = 2**33  # half a minute for a Gaussian on one thread


def matrix_fits(source, memory):
    """Whether a Gram matrix fits ``memory`` bytes; given matrices do: they are there.

    So does one that is completed, as there are no rows without it.
    """
    if source.is_given or source.has_gaps:
        return True
    return _MATRICES * source.dtype.itemsize * source.n_samples**2 <= memory


def gram_or_rows(combination, memory, machine=None, y=None):
    """The training Gram matrix of a combination, or a cache of its rows of ``memory`` bytes.

    Parameters
    ----------
    combination : Combination
        Given matrices are always combined into one.
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
    fits = matrix_fits(combination.source, memory)
    if fits and (machine is None or not rows_pay(combination, machine, y)):
        return combination.gram()
    return row_cache(combination, memory)


def rows_pay(combination, machine, y, most_whole=_MOST_WHOLE):
    """Whether rows of the Gram matrix cost a machine less than the matrix, by a pilot.

    Not for up to ``most_whole`` samples.
    """
    source = combination.source
    if not source.is_paired or source.checks_psd:
        return False
    if source.n_samples <= most_whole or np.isinf(machine.C):
        return False
    pairs, _ = _pilot(combination, machine, y, _PILOT)
    return pairs < _WORTH * _PILOT**2


def rows_are_affordable(combination, machine, y, memory):
    """Whether an exact machine on many samples costs no more than half a minute or so.

    Two pilots give a power law for the pairs of support vectors with samples, and for the rows,
    which have to fit ``memory``.
    """
    if np.isinf(machine.C) or combination.source.checks_psd:
        return False
    found = [_pilot(combination, machine, y, n) for n in (_PILOT, _LARGE_PILOT)]
    ratio = np.log(combination.n_samples / _LARGE_PILOT) / np.log(_LARGE_PILOT / _PILOT)
    (few, least), (many, most) = found
    pairs = many * (max(many, 1.0) / max(few, 1.0)) ** ratio
    support = most * (max(most, 1.0) / max(least, 1.0)) ** ratio
    # Half of the rows of the working set, in float32, is what the cache takes for room enough.
    return _PASSES * pairs <= _MOST_PAIRS and 2.0 * (1.5 * support) ** 2 <= memory


def _pilot(combination, machine, y, n):
    """Pairs of support vectors with samples of their problem, and most support vectors of one.

    All pairs if there is one class only.
    """
    m, weight = combination.n_samples, combination.weight
    used = np.arange(m) if weight is None else np.flatnonzero(weight)
    chosen = np.sort(np.random.default_rng(0).permutation(used)[:n])
    part, y, machine = combination.part(chosen), y[chosen], copy.copy(machine)
    if not np.any(y != y[0]):
        return float(n**2), n
    machine.tol = max(10.0 * machine.tol, 1e-2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # As the rows of a cache: one compilation.
        gram = part.gram()
        gram = gram.astype(type_of_rows(np.abs(gram).max()), copy=False)
        machine.fit(gram, y, part.weight, check=False)
    support = np.count_nonzero(machine.dual_coef_, axis=0)
    return float(support @ machine.problem_sizes(y)), int(support.max())


def row_cache(combination, memory):
    """A `RowCache` of the training Gram matrix of a combination."""
    rows, options = combination.row_cache_options()
    few = combination.n_samples <= _MOST_FULL and matrix_fits(combination.source, memory)
    kind = FullRows if few else RowCache
    return kind(rows, combination.n_samples, memory, **options)
