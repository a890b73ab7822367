"""Centred alignment: measures on Gram matrices, target columns, and the p-sized statistics."""

from alignlearn.statistics.centring import centre_gram, finish_sums
from alignlearn.statistics.measures import alignment, center_kernel, cka, hsic
from alignlearn.statistics.summary import AlignmentStatistics
from alignlearn.statistics.targets import centred_columns, target_columns

__all__ = [
    "AlignmentStatistics",
    "alignment",
    "centre_gram",
    "center_kernel",
    "centred_columns",
    "cka",
    "finish_sums",
    "hsic",
    "target_columns",
]
