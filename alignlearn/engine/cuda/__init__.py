"""A CUDA device as an engine: `Cuda`, and what it runs.

`device` reports whether there is a usable device, `engine` deals boxes to its streams,
`memory` decides which arrays are on it. The operations are in `pair_sums`, `gram` and `hyper`. They
and their parts import `numba.cuda`, so they are imported at their first use.
"""

from .engine import Cuda

__all__ = ["Cuda"]
