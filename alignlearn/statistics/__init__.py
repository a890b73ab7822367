"""Centered alignment: measures on Gram matrices, target columns, and the p-sized statistics."""

from .gradients import alignment_gradient
from .measures import alignment, center_gram, center_kernel, cka, hsic, refuse_weights
from .summary import (
    AlignmentStatistics,
    check_sums,
    finish_sums,
    unbiased_from_centered,
    without_diagonal,
)
from .targets import centered_columns, target_columns, target_norm

__all__ = [
    "AlignmentStatistics",
    "alignment",
    "alignment_gradient",
    "center_gram",
    "center_kernel",
    "centered_columns",
    "check_sums",
    "cka",
    "finish_sums",
    "hsic",
    "refuse_weights",
    "target_columns",
    "target_norm",
    "unbiased_from_centered",
    "without_diagonal",
]
