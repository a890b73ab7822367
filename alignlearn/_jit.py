"""The one place where jit options are chosen, and where compiled code is kept.

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
``cuda_device``, ``cuda_kernel``
    Functions of a CUDA device and the kernels that call them; ``numba.cuda`` is imported where they
    are used. Its ``fastmath`` takes no names, any value means all flags (NaN would lose its
    meaning), so none is given: NVVM fuses multiply-adds by itself, and ``reassoc`` would gain
    nothing where every thread runs scalar code. Device functions are inlined by NVVM, so that
    tuples they take and return stay in registers. Kernels are cached, too: the key has the device
    functions and constants that a kernel is a closure of.

Threads are Python's (``alignlearn.engine.threads``): all functions release the GIL, and
``parallel=True`` would cost a second compilation of every loop.

Nothing is compiled at import; the first call compiles, later processes load from the cache. A cache
that cannot be used costs time, never the result: where no folder is writable every process compiles
for itself, and a damaged file is compiled again. ``NUMBA_DISABLE_JIT=1`` runs everything as Python.
"""

from __future__ import annotations

import sys
import threading
import warnings
import zlib
from functools import cache
from inspect import signature
from pickle import loads
from time import monotonic

from numba import config, njit
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.serialize import dumps

COMPILATION = "about 10 s"  # of a first fit where nothing is cached


@cache
def _warn_uncached():
    warnings.warn(
        "compiled code cannot be kept, no folder for it can be written: every process compiles for "
        f"itself, {COMPILATION}. Set NUMBA_CACHE_DIR to a folder that can be written.",
        RuntimeWarning,
        stacklevel=2,
    )


def uncached():
    """Whether compiled code could not be kept, so far."""
    return _warn_uncached.cache_info().currsize > 0


class _Checked:
    """Compiled code with a checksum: damaged machine code would end the process."""

    def reduce(self, compiled):
        code = dumps(super().reduce(compiled))
        return zlib.crc32(code), code

    def rebuild(self, target_context, payload):
        checksum, code = payload
        if zlib.crc32(code) != checksum:
            raise ValueError("the checksum of the compiled code is wrong")
        return super().rebuild(target_context, loads(code))


class _CheckedResult(_Checked, CompileResultCacheImpl):
    """Code for the CPU."""


class _Forgiving:
    """A cache of one function, in which what cannot be read is not there."""

    _harmless = ()  # more that may fail where something is written

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever unpickling a damaged file gives
            self._attempt(self.flush)
            return None

    def save_overload(self, sig, data):
        self._attempt(super().save_overload, sig, data)

    def _attempt(self, write, *args):
        try:
            write(*args)
        except OSError:
            _warn_uncached()
        except self._harmless:
            pass


class _Cache(_Forgiving, FunctionCache):
    """The cache of a function of the CPU."""

    _impl_class = _CheckedResult


@cache
def _cuda_cache(kind):
    """The same for kernels; ``kind`` is the class of Numba or of numba-cuda.

    Not all of what these keep can be pickled in every version: then each process compiles.
    """
    checked = type("_CheckedKernel", (_Checked, kind._impl_class), {})
    return type("_CudaCache", (_Forgiving, kind), {"_harmless": Exception, "_impl_class": checked})


ANNOUNCED_AFTER = 0.3  # seconds of compilation


class _Announcement(event.Listener):
    """One line on a terminal as soon as all compilations together have lasted long."""

    def __init__(self):
        self.depth, self.spent, self.said = 0, 0.0, False

    def on_start(self, event):
        if not is_ours(event):
            return
        self.depth += 1  # compilations nest, and Numba's lock lets one thread compile at a time
        if self.depth == 1 and not self.said:
            self.started = monotonic()
            self.timer = threading.Timer(ANNOUNCED_AFTER - self.spent, self._say)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event):
        if not is_ours(event):
            return
        self.depth -= 1
        if self.depth == 0 and not self.said:
            self.timer.cancel()
            self.spent += monotonic() - self.started

    def _say(self):
        self.said = True
        print(
            f"alignlearn: compiling, once per machine, {COMPILATION}", file=sys.stderr, flush=True
        )


def is_ours(event):
    """Whether an event of a compilation is of a function of this library."""
    return event.data["dispatcher"].py_func.__module__.startswith("alignlearn.")


announcement = _Announcement()
if sys.stderr is not None and sys.stderr.isatty():
    event.register("numba:compile", announcement)


def _jit(**options):
    """Like `numba.njit` with what all functions have in common, and with the cache above."""
    compiler = njit(nogil=True, error_model="numpy", **options)

    def decorate(function):
        compiled = compiler(function)
        if not config.DISABLE_JIT:
            try:
                compiled._cache = _Cache(function)
            except RuntimeError:  # no folder can be written
                _warn_uncached()
        return compiled

    return decorate


jit = _jit()
jit_fma = _jit(fastmath={"contract"})
jit_sum = _jit(fastmath={"reassoc", "contract", "nsz"})


def cuda_device(function):
    """A function that CUDA kernels call."""
    from numba import cuda

    # What is called inline in Numba's own CUDA target; in numba-cuda that copies functions before
    # they are typed, and makes compilation last several times as long.
    name = "forceinline" if "forceinline" in signature(cuda.jit).parameters else "inline"
    return cuda.jit(function, device=True, **{name: True})


def cuda_kernel(function, *, cached=True):
    """A function that runs on a CUDA device.

    It is kept in the cache with the functions that it calls, where it is a closure of these.
    """
    from numba import cuda

    if not cached:
        return cuda.jit(function)
    try:
        kernel = cuda.jit(function, cache=True)
    except RuntimeError:  # no folder can be written
        _warn_uncached()
        return cuda.jit(function)
    if hasattr(kernel, "_cache"):  # the simulator has none
        kernel._cache = _cuda_cache(type(kernel._cache))(function)
    return kernel
