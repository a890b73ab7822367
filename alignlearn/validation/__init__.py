"""All checks of users' input, one function for each, and the library's warnings.

Public functions check their input once; internal code trusts it.
"""

from .arguments import (
    ConvergenceWarning,
    DegenerateKernelWarning,
    DoubtfulResultWarning,
    NotFittedError,
    VersionWarning,
    a_part,
    check_choice,
    check_count,
    check_fitted,
    check_flag,
    check_number,
    check_numbers,
    check_progress,
    check_same_type,
    check_seed,
    doubt,
    gathered_warnings,
    is_part,
    not_fitted,
    own_or_sklearn,
    warn,
    warn_unconverged,
)
from .deprecation import current_names, old_names, renamed_name, renamed_parameter
from .devices import lies_on_device
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
from .row_labels import (
    RowLabels,
    align_columns,
    align_rows,
    aligns_rows,
    column_labels,
    columns_as_fitted,
    columns_as_rows,
    row_labels,
    row_order,
    stored_labels,
    wrap_methods,
)
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
    varying,
)
from .sparse_rows import SparseRows
from .targets import (
    check_label_matrix,
    check_labels,
    check_rows,
    check_targets,
    check_weights,
    codes_by_appearance,
    is_label_matrix,
    optional_weights,
)
