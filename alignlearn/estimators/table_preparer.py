"""A transformer from raw data frames to features of comparable scale."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn.validation import (
    check_count,
    check_number,
    optional_weights,
)
from alignlearn.validation.frames import is_frame

from .base import parameters
from .column_maps import CLIP, MIN_COUNT
from .frame_output import FrameOutput
from .inputs import check_sample_count
from .prepared_columns import (
    as_prepared,
    check_varies,
    columns_of,
    doubt_identifiers,
    prepare,
)

if TYPE_CHECKING:
    from typing_extensions import Self


@parameters
class TablePreparer(FrameOutput):
    """Prepare the columns of a data frame for kernels: numbers, categories, missing values.

    Each column gets about the same total variance, for any type, so that all columns affect a
    kernel of distances. `MKLClassifierCV` and `MKLRegressorCV` apply this preparation inside every
    training set; in a pipeline this transformer is for other estimators.

    Parameters
    ----------
    min_count : int, default 5
        Levels of a category in fewer rows are pooled with levels that did not occur in ``fit``.
    clip : float, default 4.0
        Standardized numbers are clipped to this absolute value.

    Attributes
    ----------
    preparation_ : Preparation
        The learned maps of the columns.
    groups_ : dict {column: ndarray of int}
        The features that each column of the frame has become; none for a constant column.
    n_features_in_ : int
        Number of columns of the frame.
    feature_names_in_ : ndarray of str
        Their names, if all are strings.

    Notes
    -----
    A column of numbers with more than two values whose skewness is beyond ±1 is mapped first: by
    ``log1p(max(x, 0) / median of the positive values)`` where its minimum is at least 0, otherwise
    by ``arcsinh((x - median) / (IQR / 1.349))``, where IQR is the interquartile range. Then it is
    standardized. A missing number becomes the mean; where at least 10% are missing, a standardized
    indicator is added.

    Strings, categories and booleans become indicators of their levels, centered and divided by
    ``sqrt(sum p (1 - p))``, where p are the shares of the levels, so that their variances sum to 1.
    Two levels are one feature, which has the same distances. A missing value is a level of its own.
    A level that was not seen in ``fit`` counts as a rare one, or lies at the mean if there is none.
    Categories and strings with the same text are equal, as are numbers of the same value. Of more
    than 1000 levels the most frequent ones have indicators, and the others are pooled.

    Ordered categories of pandas and Arrow with more than two levels are numbers: positions among
    the levels that the column declares in ``fit``. A level that it did not declare is missing.

    Dates are the days since the first one in ``fit``; durations are days. Constant columns have no
    feature. Columns are found by their names in ``transform``, in any order; columns that did
    not occur in ``fit`` are ignored.

    Frames of pandas, polars and Arrow are accepted, and matrices of numbers, in which NaN is a
    missing value.

    Examples
    --------
    >>> import pandas as pd
    >>> from alignlearn import TablePreparer
    >>> frame = pd.DataFrame({"age": [20.0, 30.0, None, 40.0], "city": ["A", "B", "B", "A"]})
    >>> prepared = TablePreparer(min_count=1).fit(frame)
    >>> prepared.get_feature_names_out().tolist()
    ['age', 'age=<missing>', 'city=B']
    >>> prepared.transform(frame).shape
    (4, 3)
    """

    min_count: int = field(default=MIN_COUNT, kw_only=False)
    clip: float = CLIP

    _fitted_marker = "preparation_"

    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Learn the maps of all columns; return self.

        Parameters
        ----------
        X : data frame of pandas, polars or Arrow, or matrix of numbers, (m, d)
        y : ignored
        sample_weight : array-like of shape (m,), optional
            Nonnegative; rows of weight 0 do not count.

        Raises
        ------
        ValueError, TypeError
            A column with values that cannot be prepared, infinite values, duplicated names, no
            column that varies.

        Warns
        -----
        DoubtfulResultWarning
            A column of strings or categories has another value in every row.
        """
        self._forget("groups_")
        count = check_count("min_count", self.min_count, low=1, optional=False)
        clip = check_number("clip", self.clip, low=0.0, strict=True)
        frame = columns_of(X)
        check_sample_count(len(frame))
        weight = optional_weights(sample_weight, len(frame))
        found = prepare(frame, weight, min_count=count, clip=clip)
        check_varies(found, frame)
        doubt_identifiers(frame)
        self._store_columns(frame if is_frame(X) else X, len(frame.columns))
        groups, labels = found.groups, found.columns
        self.groups_ = {label: np.flatnonzero(groups == c) for c, label in enumerate(labels)}
        self.preparation_ = found
        return self

    def transform(self, X) -> Any:
        """The features of n rows, float64 (n, n_features_out), or a data frame.

        Raises
        ------
        ValueError
            Columns that ``fit`` saw are missing, or hold another kind of values.
        """
        self._check_is_fitted()
        found = as_prepared(self.preparation_, X, type(self).__name__)
        return self._in_container(np.asarray(found), X)

    def fit_transform(self, X, y=None, sample_weight=None) -> Any:
        """``fit(X, y, sample_weight).transform(X)``."""
        return self.fit(X, y, sample_weight).transform(X)

    @property
    def _n_features_out(self):
        return int(self.preparation_.widths.sum())

    def get_feature_names_out(self, input_features=None):
        """Names of the features: the column, for a category followed by "=" and the level.

        Parameters
        ----------
        input_features : array-like of str, optional
            Only compared with the names, or the number, of the columns in ``fit``.

        Returns
        -------
        ndarray of str, dtype object
        """
        super().get_feature_names_out(input_features)
        return np.array(self.preparation_.names(), dtype=object)

    def check_loaded(self):
        """Raise a ValueError if the columns in a file do not fit its other attributes."""
        super().check_loaded()
        if self.__sklearn_is_fitted__():
            self.preparation_.check_loaded()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = False
        return tags
