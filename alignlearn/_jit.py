"""The options of just-in-time compilation, and the cache of compiled code.

Every compiled function of the library uses one of these decorators:

``jit``
    The default. Cached on disk, releases the GIL, IEEE arithmetic with NumPy's division semantics
    (``error_model="numpy"``: a zero denominator gives inf or nan, never an exception, and does not
    block vectorization).
``jit_sum``
    For loops whose sums may be reordered. ``reassoc`` lets LLVM keep several partial sums in vector
    registers, ``contract`` fuses multiply-adds, ``nsz`` lets the accumulator start at zero. NaN and
    inf keep their meaning; ``fastmath=True`` would not (``nnan``).
``jit_fma``
    Contraction only: for formulas whose order of operations carries the accuracy (exponential,
    compensated forms), so ``reassoc`` must not touch them.
``jit.owning``, ``jit_fma.owning``, ``jit_sum.owning``
    Variants for the few functions that allocate memory (``np.empty``) or return an array. The
    others do not count references to arrays, and compile in a quarter less time.
``cuda_device``, ``cuda_kernel``
    Functions of a CUDA device and the kernels that call them; ``numba.cuda`` is imported where they
    are used. Its ``fastmath`` takes no names, any value means all flags (NaN would lose its
    meaning), so none is given: NVVM fuses multiply-adds by itself, and ``reassoc`` would gain
    nothing where every thread runs scalar code. Device functions are inlined by NVVM, so that
    tuples they take and return stay in registers. Kernels are cached, too: the key has the device
    functions and constants that a kernel is a closure of.

Threads are Python's (``alignlearn._threads``): all functions release the GIL, and
``parallel=True`` would cost a second compilation of every loop.

Nothing is compiled at import; the first call compiles, later processes load from the cache. An
unusable cache costs only time: if no folder is writable every process compiles for itself, and a
damaged file is compiled again. ``NUMBA_DISABLE_JIT=1`` runs everything as Python.
"""

from __future__ import annotations

import sys
import threading
import warnings
import zlib
from functools import cache, partial
from inspect import signature
from pickle import loads
from time import monotonic

import numba
from numba import config, from_dtype, njit, types
from numba.extending import intrinsic

# Numba does not guarantee these private names: setup.cfg limits its version to tested ones.
_ADVICE = (
    f"numba {numba.__version__} has no private name that alignlearn's compiled code needs: {{}}. "
    "Install a tested version: pip install 'numba>=0.59,<0.69'."
)
try:
    from numba.core import cgutils, event
    from numba.core.caching import CompileResultCacheImpl, FunctionCache
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler
    from numba.core.serialize import dumps
except ImportError as error:
    raise ImportError(_ADVICE.format(error)) from error
# The methods that the classes below override or call; under another name they would never be
# called.
for _kind, _names in {
    CompileResultCacheImpl: "reduce rebuild",
    FunctionCache: "load_overload save_overload flush _index_key _impl_class",
    JITCodeLibrary: "_optimize_functions _optimize_final_module _finalize_final_module "
    "_finalize_dynamic_globals _ensure_finalized get_pointer_to_function codegen "
    "enable_object_caching",
}.items():
    for _name in _names.split():
        if not hasattr(_kind, _name):
            raise ImportError(_ADVICE.format(f"{_kind.__name__}.{_name}"))

COMPILATION = "about 10 s"  # seconds of a first fit without a cache


@cache
def _warn_uncached():
    # `validation.warn` imports this module, and no line of a caller is the cause.
    warnings.warn(  # noqa: B028
        "compiled code cannot be cached, because no cache folder is writable: every process "
        f"compiles for itself, {COMPILATION}. Set NUMBA_CACHE_DIR to a writable folder.",
        RuntimeWarning,
    )


def uncached():
    """Whether compiled code could not be cached so far."""
    return _warn_uncached.cache_info().currsize > 0


class _Checked:
    """Compiled code with a checksum, because damaged machine code would crash the process."""

    def reduce(self, compiled):
        try:
            code = dumps(super().reduce(compiled))
        except RuntimeError as error:
            # LLVM passes the code in a callback, which discards the exception of a Ctrl-C.
            raise KeyboardInterrupt from error
        return zlib.crc32(code), code

    def rebuild(self, target_context, payload):
        checksum, code = payload
        if zlib.crc32(code) != checksum:
            raise ValueError("the checksum of the compiled code is wrong")
        return super().rebuild(target_context, loads(code))


class _CheckedResult(_Checked, CompileResultCacheImpl):
    """Code for the CPU."""


class _Forgiving:
    """The cache of one function, which treats unreadable files as missing."""

    _harmless = ()  # further errors when a file is written

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # any error of unpickling a damaged file
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
    """The cache of a function of the CPU, which ignores entries of another ``version``."""

    _impl_class = _CheckedResult
    version = ""

    def _index_key(self, *args):
        return (*super()._index_key(*args), self.version)


@cache
def _cuda_cache(kind):
    """The cache of CUDA kernels; ``kind`` is the class of Numba or of numba-cuda.

    Some versions cannot pickle all parts of a kernel; then each process compiles.
    """
    checked = type("_CheckedKernel", (_Checked, kind._impl_class), {})
    return type("_CudaCache", (_Forgiving, kind), {"_harmless": Exception, "_impl_class": checked})


ANNOUNCED_AFTER = 0.3  # seconds of compilation


class _Announcement(event.Listener):
    """Print one line on a terminal once compilation has taken long in total."""

    def __init__(self):
        self.depth, self.spent, self.said = 0, 0.0, False

    def on_start(self, event):
        if not is_ours(event):
            return
        self.depth += 1  # compilations nest; Numba's lock allows one thread at a time
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
    """Whether a compilation event concerns a function of this library."""
    return event.data["dispatcher"].py_func.__module__.startswith("alignlearn.")


announcement = _Announcement()
if sys.stderr is not None and sys.stderr.isatty():
    event.register("numba:compile", announcement)


class _EntryLibrary(JITCodeLibrary):
    """Code that Python calls, optimized once as a whole."""

    def _optimize_functions(self, module):
        pass


class _PartLibrary(_EntryLibrary):
    """Code that only compiled functions call.

    It is linked into each of these functions and optimized there. The further steps of Numba
    (optimizing it alone, a wrapper for Python, machine code) would be useless.
    """

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name):
        self._ensure_finalized()
        return 0

    @property
    def codegen(self):
        return self

    def set_env(self, name, environment):
        pass


class _EntryCompiler(Compiler):
    """A compiler into an `_EntryLibrary`."""

    kind = _EntryLibrary

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)
        self.state.library = self.kind(targetctx.codegen(), "alignlearn")
        self.state.library.enable_object_caching()


class _PartCompiler(_EntryCompiler):
    """A compiler into a `_PartLibrary`."""

    kind = _PartLibrary


# Of functions that compiled code alone calls, Numba's `overload` among them.
PART = {"pipeline_class": _PartCompiler, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def _cached(function, **options):
    """A dispatcher with the cache above."""
    compiled = njit(pipeline_class=_EntryCompiler, no_cfunc_wrapper=True, **options)(function)
    if not config.DISABLE_JIT:
        try:
            compiled._cache = _Cache(function)
        except RuntimeError:  # no folder can be written
            _warn_uncached()
    return compiled


def _jit(**options):
    """Like `numba.njit`, with the common options of all functions and the cache above.

    Python calls one dispatcher of a function, compiled code another one.
    """
    options = {"nogil": True, "error_model": "numpy", "_nrt": False, **options}

    def decorate(function):
        compiled = _cached(function, **options)
        if not config.DISABLE_JIT:
            part = njit(**PART, **options)(function)
            compiled.get_call_template = part.get_call_template
            compiled.get_overload = part.get_overload
        return compiled

    if not options["_nrt"]:
        decorate.owning = _jit(**{**options, "_nrt": True})
    decorate.shared = partial(_shared, options)
    return decorate


def _shared(options, function, argument_types, version=""):
    """Compile a function that others call by its address.

    It is then compiled once. Otherwise Numba would link it into each of its callers and optimize it
    there again. Each call costs slightly more.

    Parameters
    ----------
    function : callable
        It returns nothing.
    argument_types : callable
        ``argument_types(dtype)`` returns the Numba types of its arguments for a dtype, that of the
        last argument.
    version : str
        Version of the code from other files that is compiled into it, because Numba's cache does
        not detect their changes.

    Returns
    -------
    address_of : callable
        ``address_of(dtype)`` compiles if necessary and returns an integer, valid in this process.
    call : callable
        ``call(address, arguments)`` for compiled code, with a tuple of the arguments.
    """
    if config.DISABLE_JIT:
        return lambda dtype: 0, lambda address, arguments: function(*arguments)
    compiled = _cached(function, no_cpython_wrapper=True, **options)
    compiled._cache.version = version

    @cache
    def address_of(dtype):
        expected = tuple(argument_types(from_dtype(dtype)))
        compiled.compile(expected)
        code = compiled.overloads[expected]
        return code.library.get_pointer_to_function(code.fndesc.llvm_func_name)

    @intrinsic
    def call(typing_context, address, arguments):
        expected = argument_types(arguments[-1].dtype)

        def generate(context, builder, signature, values):
            given = zip(cgutils.unpack_tuple(builder, values[1]), signature.args[1], expected)
            given = [context.cast(builder, *argument) for argument in given]
            convention = context.call_conv
            kind = convention.get_function_type(types.void, expected).as_pointer()
            code = builder.inttoptr(values[0], kind)
            status, _ = convention.call_function(builder, code, types.void, expected, given)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return context.get_dummy_value()

        return types.void(types.int64, arguments), generate

    return address_of, call


jit = _jit()
jit_fma = _jit(fastmath={"contract"})
jit_sum = _jit(fastmath={"reassoc", "contract", "nsz"})


def cuda_device(function):
    """A function that CUDA kernels call."""
    from numba import cuda

    # The option that Numba's own CUDA target calls inline. In numba-cuda it copies functions before
    # they are typed, which makes compilation several times as long.
    name = "forceinline" if "forceinline" in signature(cuda.jit).parameters else "inline"
    return cuda.jit(function, device=True, **{name: True})


def cuda_kernel(function, *, cached=True):
    """A function that runs on a CUDA device.

    It is cached together with the functions that it calls, if it is a closure of these.
    """
    from numba import cuda

    if not cached:
        return _OneAtATime(cuda.jit(function))
    try:
        kernel = cuda.jit(function, cache=True)
    except RuntimeError:  # no folder can be written
        _warn_uncached()
        return _OneAtATime(cuda.jit(function))
    if hasattr(kernel, "_cache"):  # the simulator has none
        kernel._cache = _cuda_cache(type(kernel._cache))(function)
    return _OneAtATime(kernel)


class _OneAtATime:
    """A CUDA kernel that is started by one thread at a time.

    Numba loads a cached kernel when it is first started, without a lock of its own: two threads
    that start it at once get an AssertionError.
    """

    _lock = threading.Lock()  # of all kernels

    def __init__(self, kernel):
        self._kernel = kernel

    def __getitem__(self, configuration):
        configured = self._kernel[configuration]

        def start(*args):
            with self._lock:
                configured(*args)

        return start

    def __getattr__(self, name):
        return getattr(self._kernel, name)
