"""The columns of a comparison, each declared once: what is measured, and how it is shown.

To add a column, enter it in `COLUMNS`: every method of every fold is measured by it, and the
`Comparison` has an attribute of its name, which the JSON output and the data frame give in full. A
column with a ``title`` is in the table, one with an ``axis`` has a panel of the figure.
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
        ``measure(trial, chosen)`` is the number, of a `Trial` and the `Candidate` that its
        validation fold chose. NaN where a method has none.
    title : str
        Of the column of the table with mean and standard deviation; "" for none.
    legend : str
        A sentence below the table, in which ``{error}`` is what errors are.
    axis : str
        Of the panel in which the test error is drawn against it; "" for none.
    of_targets : bool
        Whether it is in units of the target, for regression.
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
