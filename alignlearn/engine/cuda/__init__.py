"""A CUDA device as an engine: `Cuda`, and what it runs.

`device` reports whether there is a usable device, `engine` deals boxes to its streams,
`memory` decides what lies on it. The operations are in `pair_sums`, `gram` and `hyper`; they and
what they are made of import `numba.cuda`, so they are imported when they are first used.
"""

from .engine import Cuda

__all__ = ["Cuda"]
