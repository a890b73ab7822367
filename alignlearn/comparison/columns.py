"""The columns of a comparison, each declared once with its measure and its display.

To add a column, enter it in `COLUMNS`. It is measured for every method and fold. The `Comparison`
has an attribute with its name, and the JSON output and the data frame contain it. A column with a
``title`` is in the table, one with an ``axis`` has a panel of the figure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

ERROR_NAMES = {"classification": "fraction misclassified", "regression": "RMSE, in units of y"}


@dataclass(frozen=True)
class Column:
    """A number of every method in every fold.

    Attributes
    ----------
    measure : callable
        ``measure(trial, chosen)`` returns the number for a `Trial` and the `Candidate` that its
        validation fold selected. NaN if the method has none.
    title : str
        Title of the column of the table with mean and standard deviation; "" for none.
    legend : str
        A sentence below the table, in which ``{error}`` names the error.
    axis : str
        Label of the panel that plots the test error against the column; "" for none.
    of_targets : bool
        For regression, whether the column has the units of the target.
    """

    measure: Callable
    title: str = ""
    legend: str = ""
    axis: str = ""
    of_targets: bool = False


COLUMNS = {
    "error": Column(
        lambda trial, chosen: trial.test_error(chosen),
        title="error",
        legend="error: {error}, on the test fold.",
        of_targets=True,
    ),
    "validation_error": Column(
        lambda trial, chosen: trial.validation_error(chosen), of_targets=True
    ),
    "alignment": Column(
        lambda trial, chosen: float(chosen.alignment),
        title="alignment",
        legend="alignment: centered, with the target, on the training folds and on the test fold.",
        axis="centered alignment with the target, training folds",
    ),
    "test_alignment": Column(
        lambda trial, chosen: trial.test_alignment(chosen), title="on test fold"
    ),
    "parameter": Column(lambda trial, chosen: chosen.parameter),
}
