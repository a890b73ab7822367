"""Is one method better than another, or is it chance? Tests over folds and over data sets.

Over the folds of one data set: `paired_t_test`, and `corrected_resampled_t_test`, which allows for
training sets that overlap. Over several data sets: `friedman_test` asks whether the methods differ
at all, `holm` and `nemenyi` which ones do, and `critical_difference_diagram` draws the answer.

Tables of results have a row for each fold or data set and a column for each method.

Sources: Cortes, Mohri and Rostamizadeh (2012), Algorithms for learning kernels based on centered
alignment, appendix C. Nadeau and Bengio (2003), Inference for the generalization error. Demsar
(2006), Statistical comparisons of classifiers over multiple data sets, section 3.2.
"""

from alignlearn._paired_tests import (
    TTestResult,
    corrected_resampled_t_test,
    paired_t_test,
    pairwise_t_tests,
)
from alignlearn._rank_diagram import critical_difference_diagram
from alignlearn._rank_tests import (
    FriedmanResult,
    HolmResult,
    NemenyiResult,
    friedman_test,
    holm,
    holm_adjusted,
    nemenyi,
)

__all__ = [
    "FriedmanResult",
    "HolmResult",
    "NemenyiResult",
    "TTestResult",
    "corrected_resampled_t_test",
    "critical_difference_diagram",
    "friedman_test",
    "holm",
    "holm_adjusted",
    "nemenyi",
    "paired_t_test",
    "pairwise_t_tests",
]
