"""Kernels opened on data: p kernels and m samples behind one interface.

`open_source` opens kernels on data. `source` defines the interface of a `Source`, its
`Combination` and its `Predictor`, for any kernels.
"""

from .completion import TableCompletion
from .families import FeatureFamily, GramFamily, open_family
from .features import linear_groups
from .gapped import GappedPredictor, complete
from .given import GramViews, gram_parts
from .opening import Opener, open_kernel, open_source
from .source import Combination, Predictor, Source
from .streaming import AlignmentAccumulator, alignment_statistics
from .tables import (
    GramStack,
    Tables,
    as_fitted,
    as_tables,
    lacking_rows,
    open_tables,
    table_rows,
    with_absent,
)
