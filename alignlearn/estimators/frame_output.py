"""The container of the output of ``transform``: an array or a data frame."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from alignlearn.validation import check_choice

from .base import Estimator

if TYPE_CHECKING:
    from typing_extensions import Self

_CONTAINERS = ("default", "pandas", "polars")


class FrameOutput(Estimator):
    """``set_output`` and names of the output, for estimators with ``transform``.

    A subclass passes its results through ``_in_container``.
    """

    _n_features_out: int  # columns of the output

    # Meta-estimators read this to decide whether the estimator chooses the container itself.
    _sklearn_auto_wrap_output_keys = frozenset({"transform"})

    def set_output(self, *, transform=None) -> Self:
        """Choose the container of the results of ``transform`` and ``fit_transform``.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            "default" is an array; None changes nothing. Without a choice, scikit-learn's
            ``set_config(transform_output=...)`` applies, if a program has loaded scikit-learn.

        Returns
        -------
        self
        """
        if transform is not None:
            check_choice("transform", transform, _CONTAINERS)
            self._sklearn_output_config = {"transform": transform}
        return self

    def get_feature_names_out(self, input_features=None):
        """Names of the columns of the output: the class name in lower case and a number.

        Parameters
        ----------
        input_features : array-like of str, optional
            Only compared with the names, or the number, of the features in ``fit``.

        Returns
        -------
        ndarray of str, dtype object
        """
        self._check_is_fitted()
        if input_features is not None:
            given, names = list(input_features), getattr(self, "feature_names_in_", None)
            width = getattr(self, "n_features_in_", len(given))
            if names is not None and list(names) != given:
                raise ValueError("input_features is not equal to feature_names_in_.")
            if len(given) != width:
                raise ValueError(
                    "input_features should have length equal to number of features "
                    f"({width}), got {len(given)}."
                )
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in range(self._n_features_out)], dtype=object)

    def _in_container(self, values, X):
        """The output (n, n_features_out) for X in the container that was chosen."""
        own = getattr(self, "_sklearn_output_config", {}).get("transform")
        sklearn = sys.modules.get("sklearn")
        default = "default" if sklearn is None else sklearn.get_config()["transform_output"]
        chosen = check_choice("transform_output", own or default, _CONTAINERS)
        if chosen == "default":
            return values
        try:
            library = import_module(chosen)
        except ImportError as error:
            raise ImportError(
                f"a transform output of {chosen!r} needs {chosen}, which is not installed."
            ) from error
        names = self.get_feature_names_out()
        if chosen == "polars":
            return library.DataFrame(values, schema=names.tolist(), orient="row")
        index = X.index if isinstance(X, (library.DataFrame, library.Series)) else None
        return library.DataFrame(values, index=index, columns=names, copy=False)
