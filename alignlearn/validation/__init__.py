"""Every check of what a user passes, one of each, and the library's warnings.

Checked once, at the public edge: inside, code trusts its input.
"""

from .arguments import (
    ConvergenceWarning,
    DegenerateKernelWarning,
    DoubtfulResultWarning,
    VersionWarning,
    a_part,
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_numbers,
    check_progress,
    check_same_type,
    check_seed,
    doubt,
    warn,
)
from .deprecation import current_names, old_names, renamed_name, renamed_parameter
from .devices import lies_on_device
from .fitted import NotFittedError, check_fitted, not_fitted, own_or_sklearn
from .grams import (
    check_gram,
    check_psd,
    check_symmetric,
    check_test_gram,
    gram_like,
    indexable_grams,
    real_part,
)
from .memory import check_memory
from .samples import (
    as_array,
    check_features,
    check_finite,
    check_samples,
    check_sparse,
    coded,
    detached,
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
    "DoubtfulResultWarning",
    "NotFittedError",
    "SparseRows",
    "VersionWarning",
    "a_part",
    "as_array",
    "check_choice",
    "check_count",
    "check_features",
    "check_finite",
    "check_fitted",
    "check_flag",
    "check_gram",
    "check_labels",
    "check_memory",
    "check_number",
    "check_numbers",
    "check_progress",
    "check_psd",
    "check_same_type",
    "check_samples",
    "check_seed",
    "check_sparse",
    "check_symmetric",
    "check_targets",
    "check_test_gram",
    "check_weights",
    "coded",
    "current_names",
    "detached",
    "doubt",
    "gram_like",
    "indexable_grams",
    "is_sequence",
    "is_sparse",
    "lies_on_device",
    "not_fitted",
    "old_names",
    "optional_weights",
    "own_or_sklearn",
    "plain",
    "real_part",
    "renamed_name",
    "renamed_parameter",
    "take",
    "warn",
]
