"""Significance tests for the difference of methods, over folds and over data sets.

Over the folds of one data set: `paired_t_test`, and `corrected_resampled_t_test`, which corrects
for overlapping training sets. Over the samples of one data set in order: `prequential_test`, whose
type I error rate is proved. Over several data sets: `friedman_test` for any difference, `holm` and
`nemenyi` for pairs of methods, and `critical_difference_diagram` for a figure. Tables of results
have a row for each fold or data set and a column for each method.
"""

from .diagram import critical_difference_diagram
from .prequential import PrequentialResult, prequential_test, trials_from_pilot
from .tests_of_difference import (
    FriedmanResult,
    HolmResult,
    NemenyiResult,
    TTestResult,
    corrected_resampled_t_test,
    friedman_test,
    holm,
    holm_adjusted,
    nemenyi,
    paired_t_test,
    pairwise_t_tests,
)

__all__ = [
    "FriedmanResult",
    "HolmResult",
    "NemenyiResult",
    "PrequentialResult",
    "TTestResult",
    "corrected_resampled_t_test",
    "critical_difference_diagram",
    "friedman_test",
    "holm",
    "holm_adjusted",
    "nemenyi",
    "paired_t_test",
    "pairwise_t_tests",
    "prequential_test",
    "trials_from_pilot",
]
