"""Kernels opened on data: p kernels and m samples behind one interface.

`open_source` is the one way in. A source computes the alignment statistics (of all samples, or of
every training set in one pass), takes weights, gives the Gram matrix of the combination for the
machine, and is then reduced to what prediction needs: support samples, or a coefficient vector.
"""

from .families import FeatureFamily, GramFamily, open_family
from .features import FeatureSource, linear_groups
from .given import GramCombination, GramSource, GramViews
from .opening import open_kernel, open_source
from .pairs import PairSource
from .streaming import AlignmentAccumulator, alignment_statistics

__all__ = [
    "AlignmentAccumulator",
    "FeatureFamily",
    "FeatureSource",
    "GramCombination",
    "GramFamily",
    "GramSource",
    "GramViews",
    "PairSource",
    "alignment_statistics",
    "linear_groups",
    "open_family",
    "open_kernel",
    "open_source",
]
