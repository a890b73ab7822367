"""The one place where jit options are chosen.

Every compiled function of the library uses one of these decorators:

``jit``
    The default. Cached on disk, releases the GIL, IEEE arithmetic with NumPy's division semantics
    (``error_model="numpy"``: a zero denominator gives inf or nan, never an exception, and does not
    block vectorisation).
``jit_sum``
    For loops whose sums may be reordered. ``reassoc`` lets LLVM keep several partial sums in vector
    registers, ``contract`` fuses multiply-adds, ``nsz`` lets the accumulator start at zero. NaN and
    inf keep their meaning; ``fastmath=True`` would not (``nnan``).
``jit_fma``
    Contraction only: for formulas whose order of operations carries the accuracy (exponential,
    compensated forms), so ``reassoc`` must not touch them.

Threads are Python's (``alignlearn.engine.threads``): all functions release the GIL, and
``parallel=True`` would cost a second compilation of every loop.

Nothing is compiled at import; the first call compiles, later processes load from the cache.
"""

from numba import njit

_COMMON = {"cache": True, "nogil": True, "error_model": "numpy"}
_REORDER = {"reassoc", "contract", "nsz"}

jit = njit(**_COMMON)
jit_fma = njit(fastmath={"contract"}, **_COMMON)
jit_sum = njit(fastmath=_REORDER, **_COMMON)
