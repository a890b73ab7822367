"""The ways to make a kernel that a strategy tries, and how many of them go on.

A *way* makes a kernel from the training samples of a fold: one width chosen by leave-one-out
errors, or weights of a ladder by a rule, both also on features whose scales are learned.
"""

from __future__ import annotations

from typing import NamedTuple


class Way(NamedTuple):
    """How a kernel is made of a training set.

    Attributes
    ----------
    name : str
    rule : str or None
        Of the weights of the ladder; None is the one kernel of the smallest leave-one-out error.
    scaled : bool
        On features with learned scales.
    full : bool
        On features times the root of a learned matrix.
    rough : bool
        With a Laplacian kernel in place of Gaussians.
    multiple : float
        Of gamma, where there is one kernel; in the name behind an asterisk.
    parent : str or None
        The way that it is a narrower form of, with which it enters the last level.
    columns : str
        "each": a Gaussian on each column, and the rule weights them; a column is a feature, or the
        features that come from a column of a data frame. "pairs": on the heaviest columns, and on
        the pairs of the heaviest of these. "linear": one linear kernel. Columns are divided by
        their standard deviations. "": kernels are on all features.
    least_squares : bool
        Of a classifier: labels are fitted by kernel ridge regression.
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

    def narrower(self):
        """The same with twice the gamma."""
        twice = 2.0 * self.multiple
        name = f"{self.name.partition('*')[0]}*{twice:g}"
        return self._replace(name=name, multiple=twice, parent=self.name)

    def by_least_squares(self):
        """The same kernel with `LeastSquaresClassifier`, tried where the way itself is left."""
        return self._replace(name=f"{self.name}-krr", parent=self.name, least_squares=True)


WAYS = (
    Way("uniform", "uniform", False),
    Way("alignf", "alignf", False),
    Way("single", None, False),
    Way("scaled-single", None, True),
    Way("scaled-uniform", "uniform", True),
    Way("rotated-single", None, True, True),
)
# The target may depend on few columns, one by one or in pairs, or on all of them linearly.
COLUMN_WAYS = (
    Way("columns", "alignf", False, columns="each"),
    Way("pairs", "alignf", False, columns="pairs"),
    Way("linear", "uniform", False, columns="linear"),
)
WAYS = (*WAYS, *COLUMN_WAYS)
MORE_WAYS = (*WAYS, Way("scaled-alignf", "alignf", True))
# Functions with kinks or steps, as of trees, take many samples to learn: tried on several levels
# alone.
ROUGH_WAYS = (
    Way("laplacian", None, False, rough=True),
    Way("scaled-laplacian", None, True, rough=True),
    Way("laplacian*4", None, False, rough=True, multiple=4.0),
    Way("scaled-laplacian*4", None, True, rough=True, multiple=4.0),
)


class Plan(NamedTuple):
    """What a strategy tries.

    Attributes
    ----------
    ways : tuple of Way
    kept : tuple of (int or dict)
        How many go on after the first fold, the second, and so on, see `Rung`; where it ends, all
        that are left go on.
    averaged : int
        How many are averaged, beside those on columns.
    """

    ways: tuple
    kept: tuple
    averaged: int


PLANS = {
    "auto": Plan(WAYS, ({"columns": 1}, {"columns": (1, 2), False: 2}), 2),
    "best": Plan(WAYS, (), 1),
    "thorough": Plan(MORE_WAYS, (), 3),
}
