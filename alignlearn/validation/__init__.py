"""Every check of what a user passes, one of each, and the library's warnings.

Checked once, at the public edge: inside, code trusts its input.
"""

from .arguments import (
    ConvergenceWarning,
    DegenerateKernelWarning,
    VersionWarning,
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_numbers,
    check_progress,
    check_seed,
    warn,
)
from .grams import (
    check_gram,
    check_psd,
    check_symmetric,
    check_test_gram,
    gram_like,
    indexable_grams,
)
from .memory import check_memory
from .samples import (
    as_array,
    check_features,
    check_finite,
    check_samples,
    check_sparse,
    is_sequence,
    is_sparse,
    plain,
    take,
)
from .sparse_rows import SparseRows
from .targets import check_labels, check_targets, check_weights, optional_weights

__all__ = [
    "ConvergenceWarning",
    "DegenerateKernelWarning",
    "SparseRows",
    "VersionWarning",
    "as_array",
    "check_choice",
    "check_count",
    "check_features",
    "check_finite",
    "check_flag",
    "check_gram",
    "check_labels",
    "check_memory",
    "check_number",
    "check_numbers",
    "check_progress",
    "check_psd",
    "check_samples",
    "check_seed",
    "check_sparse",
    "check_symmetric",
    "check_targets",
    "check_test_gram",
    "check_weights",
    "gram_like",
    "indexable_grams",
    "is_sequence",
    "is_sparse",
    "optional_weights",
    "plain",
    "take",
    "warn",
]
