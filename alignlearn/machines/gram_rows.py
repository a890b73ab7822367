"""The Gram matrix of a combination for SMO, or its rows if they cost less.

A solver reads the rows of samples that become support vectors, often a tenth of the matrix.
Allocating the memory of the whole matrix alone takes as long as computing its values. A pilot, the
model fitted to some of the samples, estimates the number of support vectors.
"""

from __future__ import annotations

import copy

import numpy as np

from alignlearn._pairs import PairCoefficients, stored_coefficients
from alignlearn.solvers.multiclass import of_present_classes
from alignlearn.solvers.smo_rows import FullRows, RowCache, type_of_rows
from alignlearn.validation import gathered_warnings

from .choice import Sizes, whole_rows_are_kept


class Pilot:
    """The pilot of `choice.choose`: the machine fitted to some of the samples; fits are cached.

    Parameters
    ----------
    combination : Combination
    machine : SupportVectorClassifier or SupportVectorRegressor
        To be fitted; it stays unfitted.
    y : ndarray of shape (m,)
    """

    def __init__(self, combination, machine, y):
        self._given, self._found = (combination, machine, y), {}

    def __call__(self, n):
        """Pairs of support vectors and samples of their problem, and most support vectors of one.

        All pairs if there is only one class.
        """
        if n not in self._found:
            self._found[n] = _pilot(*self._given, n)
        return self._found[n]


def _pilot(combination, machine, y, n):
    used = combination.source.used_rows()
    chosen = np.sort(np.random.default_rng(0).permutation(used)[:n])
    part, y, machine = combination.part(chosen), y[chosen], copy.copy(machine)
    if not np.any(y != y[0]):
        return float(n**2), n
    machine.tol = max(10.0 * machine.tol, 1e-2)
    if hasattr(machine, "class_weight"):  # a rare class may be missing from the pilot
        machine.class_weight = of_present_classes(machine.class_weight, y)
    with gathered_warnings():  # which are not shown to the user
        # Like the rows of a cache, so that there is one compilation.
        gram = part.gram()
        gram = gram.astype(type_of_rows(np.abs(gram).max()), copy=False)
        machine.fit(gram, y, part.weight, check=False)
    coef = stored_coefficients(machine)
    listed = isinstance(coef, PairCoefficients)
    support = coef.counts() if listed else np.count_nonzero(coef, axis=0)
    return float(support @ machine.problem_sizes(y)), int(support.max())


def row_cache(combination, memory):
    """A `RowCache` of the training Gram matrix of a combination."""
    rows, options = combination.row_cache_options()
    whole = whole_rows_are_kept(Sizes.of_source(combination.source), memory)
    kind = FullRows if whole else RowCache
    return kind(rows, combination.n_samples, memory, **options)
