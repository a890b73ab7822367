"""Whether there is a CUDA device that the library can use, and if not, what to do about it.

Only `ask` queries Numba. Plain functions of its result, a `Found`, interpret it. Nothing here
imports CUDA before it is called.
"""

from __future__ import annotations

import threading
import traceback
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

import numpy as np

from alignlearn._threads import thread_count

# When to start a device. The start costs `_START` seconds once per process: 1.6 s for the context
# and 0.4 to 0.6 s to load the code of a program (H200, numba-cuda 0.30; its compilation takes 6 to
# 12 s once per computer). A thread of the CPU evaluates `_CPU_RATE` pairs a second (10 Gaussians,
# 20 features, float64, AVX-512). The device's own work and the copies are short in comparison (7e10
# pairs and 5e10 bytes a second). The break-even is therefore `_START * _CPU_RATE` pairs per thread:
# all pairs of 16,000 samples on one thread, and of 65,000 on sixteen.
_START = 2.0
_CPU_RATE = 1.3e8

_CPU = "or use device='cpu'"


class CudaUnavailable(RuntimeError):
    """There is no usable CUDA device; the message states the reason and what to do.

    Examples
    --------
    ``device="auto"`` never raises it; where a device is asked for:

    >>> import numpy as np
    >>> from alignlearn import CudaUnavailable, Gaussian, MKLRegressor
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> model = MKLRegressor([Gaussian(0.5)], device="cuda")
    >>> try:
    ...     model = model.fit(X, X[:, 0])
    ... except CudaUnavailable:
    ...     model = model.set_params(device="cpu").fit(X, X[:, 0])
    ...
    >>> model.predict(X).shape
    (40,)
    """


class CudaOutOfMemory(MemoryError):
    """The device has too little memory for a block of pairs; the message states the size that fits.

    Attributes
    ----------
    needed : float
        Bytes that the largest block of pairs needs if only its samples are copied.

    Examples
    --------
    ``needed`` is the free memory that the device would have to have:

    >>> from alignlearn import CudaOutOfMemory
    >>> try:
    ...     raise CudaOutOfMemory("too little memory", needed=3e9)
    ... except CudaOutOfMemory as error:
    ...     print(f"{error.needed / 1e9:.0f} GB")
    ...
    3 GB
    """

    def __init__(self, message, needed=np.nan):
        super().__init__(message)
        self.needed = needed


class Found(NamedTuple):
    """The CUDA drivers and devices that Numba finds.

    Attributes
    ----------
    devices : tuple of (name, compute capability)
    driver, toolkit : (major, minor) or None
        CUDA versions of the driver, and of the compiling libraries; None if they are missing.
    lowest : (major, minor) or None
        Minimum compute capability for which the toolkit compiles, if Numba reports it.
    words : str
        The message of Numba or the driver for a failed step; "" if a small kernel ran.
    simulated : bool
        Whether ``NUMBA_ENABLE_CUDASIM=1`` replaces the device by Python.
    """

    devices: tuple = ()
    driver: tuple | None = None
    toolkit: tuple | None = None
    lowest: tuple | None = None
    words: str = ""
    simulated: bool = False


@cache
def ask():
    """Query Numba once per process: driver, devices, toolkit, and whether a small kernel runs.

    Returns
    -------
    Found
    """
    from numba import config, cuda

    if config.ENABLE_CUDASIM:
        return Found((("simulator", (0, 0)),), simulated=True)
    devices, driver, toolkit, lowest, words = (), None, None, None, ""
    try:
        from numba.cuda.cudadrv.driver import driver as api

        driver = tuple(api.get_version())
        devices = tuple((_text(d.name), tuple(d.compute_capability)) for d in cuda.list_devices())
        toolkit = tuple(cuda.runtime.get_version())
        lowest = _lowest_capability()
        _try_kernel()
    except Exception as error:  # Numba raises its own errors, those of the system, and ImportError
        words = " ".join("".join(traceback.format_exception_only(error)).split())
    return Found(devices, driver, toolkit, lowest, words)


def _lowest_capability():
    """Lowest compute capability that the toolkit compiles for; None if Numba does not report it."""
    try:
        from numba.cuda.cudadrv.nvvm import get_supported_ccs
    except ImportError:
        return None
    return min(get_supported_ccs(), default=None)


def _text(name):
    return name.decode() if isinstance(name, bytes) else str(name)


def _try_kernel():
    """Compile and run a kernel of one thread, the only proof that driver, toolkit and Numba fit."""
    from numba import cuda

    from alignlearn._jit import cuda_kernel

    def double(x):
        x[0] = x[0] + x[0]

    x = cuda.to_device(np.ones(1, np.float32))
    with quiet():
        cuda_kernel(double, cached=False)[1, 1](x)  # a cache would hide a missing compiler
    if x.copy_to_host()[0] != 2.0:
        raise RuntimeError("a kernel ran and gave a wrong number")


_quiet_lock, _quiet = threading.Lock(), []


@contextmanager
def quiet():
    """Suppress Numba's warnings about small grids, because small boxes are intended.

    This sets an option of Numba and not a warning filter: filters are not per thread, so one thread
    could restore the filters of another one.
    """
    from numba import config

    if config.ENABLE_CUDASIM:
        yield
        return
    from numba.cuda.dispatcher import config  # the version of Numba, or of numba-cuda

    with _quiet_lock:
        _quiet.append(config.CUDA_LOW_OCCUPANCY_WARNINGS)
        config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    try:
        yield
    finally:
        with _quiet_lock:
            before = _quiet[0]
            _quiet.pop()
            if not _quiet:  # the last thread that leaves
                config.CUDA_LOW_OCCUPANCY_WARNINGS = before


def problem(found):
    """The reason why no device can be used, and the remedy; None if one can be used."""
    if found.simulated or (found.devices and found.toolkit and not found.words):
        return None
    if found.driver is None:
        return (
            "device='cuda': no CUDA driver can be used. Install the NVIDIA driver of the device "
            f"and check that nvidia-smi lists it, {_CPU}.{_said(found)}"
        )
    if not found.devices:
        return (
            "device='cuda': no CUDA device is visible. Check nvidia-smi and CUDA_VISIBLE_DEVICES, "
            f"{_CPU}.{_said(found)}"
        )
    if found.toolkit is None:
        return (
            "device='cuda': the CUDA toolkit that compiles for the device is missing (libNVVM and "
            f"cudart). Install it: pip install 'alignlearn[cuda]', {_CPU}.{_said(found)}"
        )
    name, capability = found.devices[0]
    if found.lowest is not None and capability < found.lowest:
        return (
            f"device='cuda': {name} has compute capability {_dotted(capability)}, and CUDA "
            f"{_dotted(found.toolkit)} compiles for {_dotted(found.lowest)} and newer. Install an "
            f"older CUDA toolkit, {_CPU}."
        )
    if found.driver < found.toolkit:
        return (
            f"device='cuda': the driver is for CUDA {_dotted(found.driver)} and too old for the "
            f"installed toolkit, {_dotted(found.toolkit)}. Update the NVIDIA driver, install a "
            f"CUDA toolkit of version {_dotted(found.driver)}, {_CPU}.{_said(found)}"
        )
    return (
        f"device='cuda': {name} (driver for CUDA {_dotted(found.driver)}, toolkit "
        f"{_dotted(found.toolkit)}) does not run a kernel. Try the test of Numba: numba -s, "
        f"{_CPU}.{_said(found)}"
    )


def _dotted(version):
    return ".".join(map(str, version))


def _said(found):
    return f" Numba says: {found.words}" if found.words else ""


def check(found=None):
    """Raise where no device can be used.

    Parameters
    ----------
    found : Found, optional
        Default: the result of `ask`.

    Raises
    ------
    CudaUnavailable
    """
    trouble = problem(ask() if found is None else found)
    if trouble is not None:
        raise CudaUnavailable(trouble)


def available(found=None):
    """Whether a real device can be used; the simulator is only for tests that request it."""
    found = ask() if found is None else found
    return not found.simulated and problem(found) is None


def pays(n_pairs, n_threads=None):
    """Whether the pairs are enough work for ``device="auto"`` to start a device.

    Parameters
    ----------
    n_pairs : float
        Pairs of samples at which kernels are evaluated.
    n_threads : int, optional
        Threads of the CPU that would share the work otherwise; `thread_count` by default.
    """
    threads = thread_count() if n_threads is None else n_threads
    return n_pairs >= _START * _CPU_RATE * threads
