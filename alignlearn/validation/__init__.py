"""Every check of what a user passes, one of each, and the library's warnings.

Checked once, at the public edge: inside, code trusts its input.
"""

from .arguments import (
    ConvergenceWarning,
    DegenerateKernelWarning,
    check_choice,
    check_count,
    check_number,
)
from .grams import (
    check_gram,
    check_psd,
    check_symmetric,
    check_test_gram,
    indexable,
    indexable_grams,
)
from .samples import (
    check_features,
    check_finite,
    check_samples,
    check_sparse,
    is_sequence,
    is_sparse,
    take,
)
from .sparse_rows import SparseRows
from .targets import check_labels, check_targets, check_weights

__all__ = [
    "ConvergenceWarning",
    "DegenerateKernelWarning",
    "SparseRows",
    "check_choice",
    "check_count",
    "check_features",
    "check_finite",
    "check_gram",
    "check_labels",
    "check_number",
    "check_psd",
    "check_samples",
    "check_sparse",
    "check_symmetric",
    "check_targets",
    "check_test_gram",
    "check_weights",
    "indexable",
    "indexable_grams",
    "is_sequence",
    "is_sparse",
    "take",
]
