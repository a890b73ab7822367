"""The candidate kernels of a strategy, and how many of them each level keeps.

A `Way` is a method of making a kernel from the training samples of a fold: a single width chosen by
leave-one-out errors, or the weights of a ladder by a rule, both also on features with learned
scales.
"""

from __future__ import annotations

from typing import NamedTuple

# Multiples of the gamma of a Laplacian kernel: of the next one on the last level, and of the one
# after other kernels there (with 4 it would not be narrower).
_FINER, _ROUGHER = 4.0, 16.0


class Way(NamedTuple):
    """A candidate of a strategy: a method of making a kernel from a training set.

    Attributes
    ----------
    name : str
    rule : str or None
        Rule for the weights of the ladder; None: the kernel with the smallest leave-one-out error.
    scaled : bool
        Whether features have learned scales.
    full : bool
        Whether features are multiplied by the square root of a learned matrix.
    rough : bool
        Whether the kernel is Laplacian instead of Gaussian.
    multiple : float
        Factor of gamma of a single kernel; in the name after an asterisk.
    parent : str or None
        Name of the method with the wider kernel, after which this one enters the last level.
    columns : str
        "each": one Gaussian per column, weighted by the rule; a column is a feature, or the
        features of a column of a data frame. "pairs": Gaussians on the columns with the largest
        weights and on pairs of these. "linear": one linear kernel. Columns are divided by their
        standard deviations. "": kernels on all features.
    least_squares : bool
        For classifiers: whether labels are fitted by kernel ridge regression.
    reserve : bool
        Whether it is tried at the end of the last level only, see `finer`.
    """

    name: str
    rule: str | None
    scaled: bool
    full: bool = False
    rough: bool = False
    multiple: float = 1.0
    parent: str | None = None
    columns: str = ""
    least_squares: bool = False
    reserve: bool = False

    def narrower(self, times=2.0):
        """Return the method with a multiple of the gamma."""
        multiple = times * self.multiple
        name = f"{self.name.partition('*')[0]}*{multiple:g}"
        return self._replace(name=name, multiple=multiple, parent=self.name)

    def finer(self):
        """Return the method that the last level tries after this one; None for columns.

        After a Laplacian kernel it is the one with four times the gamma, and after another kernel
        a narrow Laplacian kernel.
        """
        if self.columns:
            return None
        if self.rough:
            return self.narrower(_FINER)._replace(parent=None, reserve=True)
        name = "scaled-laplacian" if self.scaled else "laplacian"
        wide = Way(name, None, self.scaled, rough=True)
        return wide.narrower(_ROUGHER)._replace(parent=None, reserve=True)

    def by_least_squares(self):
        """Return the method with `LeastSquaresClassifier`, tried if this method was kept."""
        return self._replace(name=f"{self.name}-krr", parent=self.name, least_squares=True)


def reserves(ways, n_times):
    """Return the finer methods of some, and those of these, ``n_times``, if not given already."""
    found = {way.name: way for way in ways}
    for way in ways:
        for _ in range(0 if way.columns else n_times):
            way = way.finer()
            found.setdefault(way.name, way)
    return list(found.values())[len(ways) :]


WAYS = (
    Way("uniform", "uniform", False),
    Way("alignf", "alignf", False),
    Way("single", None, False),
    Way("scaled-single", None, True),
    Way("scaled-uniform", "uniform", True),
    Way("rotated-single", None, True, True),
)
# For targets that depend on single columns or on pairs, or linearly on all columns.
COLUMN_WAYS = (
    Way("columns", "alignf", False, columns="each"),
    Way("pairs", "alignf", False, columns="pairs"),
    Way("linear", "uniform", False, columns="linear"),
)
WAYS = (*WAYS, *COLUMN_WAYS)
MORE_WAYS = (*WAYS, Way("scaled-alignf", "alignf", True))
# Functions with kinks or steps, such as trees, need many samples: tried only with several levels.
ROUGH_WAYS = (
    Way("laplacian", None, False, rough=True),
    Way("scaled-laplacian", None, True, rough=True),
    Way("laplacian*4", None, False, rough=True, multiple=4.0),
    Way("scaled-laplacian*4", None, True, rough=True, multiple=4.0),
)


class Plan(NamedTuple):
    """The methods that a strategy tries.

    Attributes
    ----------
    ways : tuple of Way
    kept : tuple of (int or dict)
        Number to keep after the first fold, the second, and so on, see `Rung`. After the last entry
        all are kept.
    averaged : int
        Number of methods to average, in addition to those on columns.
    """

    ways: tuple
    kept: tuple
    averaged: int


PLANS = {
    "auto": Plan(WAYS, ({"columns": 1, False: 3}, {"columns": (1, 2), False: 2}), 2),
    "best": Plan(WAYS, (), 1),
    "thorough": Plan(MORE_WAYS, (), 3),
}
