"""Hashes of the training samples, 16 bytes each, and the number of equal rows of a sample.

The hash of a row is that of its numbers in float32, so that a copy in single precision is
recognized; if float32 makes different rows equal, the numbers are not rounded. A row with its label
has another hash: rows of few values repeat by chance, rows with labels less often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.bounds.binomial import clopper_pearson
from alignlearn.validation import doubt
from alignlearn.validation.row_hashes import pair_hashes, row_hashes

_LEAST_SHARE = 0.05  # share of equal rows from which a warning is given
_RARE = 1e-3  # probability below which more equal rows are not by chance
_COPIES = 0.02  # share of held-out rows that may equal rows of the fit
_RATES = np.geomspace(0.02, 40.0, 20)  # of the exponential inequality


@dataclass(frozen=True)
class SeenRows:
    """Hashes of the rows that a fit has used.

    Attributes
    ----------
    hashes : ndarray of uint64 of shape (m,)
        Sorted.
    single : bool
        Whether of the numbers as float32.
    """

    hashes: np.ndarray
    single: bool = True

    @property
    def repeated(self) -> int:
        """How many rows equal another one."""
        counts = np.unique(self.hashes, return_counts=True)[1]
        return int(counts[counts > 1].sum())

    def count(self, X, y=None) -> int:
        """How many rows of X, checked as those of the fit were, with their y are among these."""
        hashes = row_hashes(X, self.single)
        hashes = hashes if y is None else pair_hashes(hashes, y)
        return 0 if hashes is None else self.among(hashes)

    def among(self, hashes) -> int:
        """How many of the hashes of new rows are among these."""
        return int(np.isin(hashes, self.hashes).sum())

    def refuses(self, hashes, cautious=False) -> bool:
        """Whether rows with these hashes, passed as new samples, are training rows.

        They are where more of them were seen than by chance, see `most_by_chance`, and than 2%,
        since parts of real samples often share a copy; or where they repeat the rows that were seen
        more closely than new ones do, see `chance_of_repeats`.
        """
        n = len(hashes)
        if self.among(hashes) > max(self.most_by_chance(n, cautious), _COPIES * n):
            return True
        return chance_of_repeats(self.hashes, hashes) <= _RARE

    def most_by_chance(self, n, cautious=False) -> int:
        """How many of n new rows may be among these where rows of one distribution repeat.

        0 if no two rows of the fit are equal, unless ``cautious``: few rows may be different by
        chance.
        """
        from scipy.special import bdtrik

        if not (self.repeated or cautious):
            return 0
        share = clopper_pearson(self.repeated, len(self.hashes), 0.0, _RARE)[1]
        return n if share >= 1.0 else int(np.ceil(bdtrik(1.0 - _RARE, n, share)))


def chance_of_repeats(seen, new) -> float:
    """Upper bound of the chance that new samples exceed those seen by so little.

    The excess is the number of new samples beyond as many equal ones among those seen: 0 for a part
    of these. Given all samples together, each is a new one alike, so that an atom of N samples has
    a binomial number of new ones, given their sum. The bound is the exponential inequality for the
    sum of the excesses, divided by the probability of that sum; it holds for every distribution.

    Parameters
    ----------
    seen, new : ndarray of shape (m,), (n,)
        Hashes.
    """
    from scipy.stats import binom

    m, n = len(seen), len(new)
    place = np.unique(np.concatenate([seen, new]), return_inverse=True)[1].reshape(-1)
    total = np.bincount(place)
    added = np.bincount(place[m:], minlength=len(total))
    excess, share = np.maximum(2 * added - total, 0).sum(), n / (m + n)
    logs = _RATES * excess - binom.logpmf(n, m + n, share)
    for size, count in zip(*np.unique(total, return_counts=True)):
        number = np.arange(size + 1)
        chance, beyond = binom.pmf(number, size, share), np.maximum(2 * number - size, 0)
        logs += count * np.log([chance @ np.exp(-rate * beyond) for rate in _RATES])
    return float(np.exp(min(logs.min(), 0.0)))


def seen_rows(X) -> SeenRows | None:
    """The `SeenRows` of checked samples; None for objects that cannot be compared."""
    hashes = row_hashes(X)
    if hashes is None:
        return None
    hashes.sort()
    count = len(np.unique(hashes))
    if getattr(X, "dtype", None) == np.float64 and count < len(hashes):
        exact = np.sort(row_hashes(X, single=False))
        if len(np.unique(exact)) > count:
            return SeenRows(exact, single=False)
    return SeenRows(hashes)


def doubt_repeats(rows: SeenRows | None):
    """Warn where so many rows are equal that samples may not be independent."""
    if rows is None:
        return
    repeated, m = rows.repeated, len(rows.hashes)
    if repeated > _LEAST_SHARE * m:
        doubt(
            f"{repeated} of {m} rows ({repeated / m:.0%}) equal another one: the samples may not "
            "be independent, which the guarantee assumes; leave copies out."
        )
