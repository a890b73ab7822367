"""Errors if no CUDA device can be used, and when the library starts a device by itself."""

import pickle

import numpy as np
import pytest
from cases import each
from cuda_cases import SIMULATED

from alignlearn.engine import engines
from alignlearn.engine.cpu import CPU
from alignlearn.engine.cuda import Cuda
from alignlearn.engine.cuda.device import (
    CudaOutOfMemory,
    CudaUnavailable,
    Found,
    ask,
    available,
    check,
    pays,
    problem,
    quiet,
)
from alignlearn.engine.grams import GramProducts
from alignlearn.kernels import Gaussian

H100 = (("H100", (9, 0)),)
GOOD = Found(H100, (12, 4), (12, 4), (5, 0), "")


def test_a_device_that_runs_a_kernel_is_good():
    assert problem(GOOD) is None
    assert available(GOOD)
    check(GOOD)
    # A toolkit newer than the driver may work, by minor-version compatibility of CUDA.
    assert problem(GOOD._replace(toolkit=(12, 9))) is None


@each(
    ("found", "message"),
    [
        (Found(words="CudaSupportError: no libcuda"), "no CUDA driver.*nvidia-smi.*no libcuda"),
        (Found(driver=(12, 4), words="NO_DEVICE"), "no CUDA device is visible.*CUDA_VISIBLE.*NO_D"),
        (GOOD._replace(toolkit=None, words="no libNVVM"), r"toolkit.*missing.*alignlearn\[cuda\]"),
        (
            GOOD._replace(driver=(11, 8), words="[222] UNSUPPORTED_PTX_VERSION"),
            r"driver is for CUDA 11\.8 and too old for the installed toolkit, 12\.4.*Update.*222",
        ),
        (
            Found((("K80", (3, 7)),), (12, 4), (12, 4), (5, 0), "NvvmSupportError"),
            r"K80 has compute capability 3\.7, and CUDA 12\.4 compiles for 5\.0 and newer.*older",
        ),
        (GOOD._replace(words="LinkerError: x"), "H100.*does not run a kernel.*numba -s.*Linker"),
        (GOOD._replace(lowest=None, words="x"), "does not run a kernel"),
    ],
)
def test_every_trouble_says_what_to_do(found, message):
    assert not available(found)
    with pytest.raises(CudaUnavailable, match=f"^device='cuda': .*{message}") as caught:
        check(found)
    assert "or use device='cpu'" in str(caught.value)
    assert isinstance(caught.value, RuntimeError)


def test_the_simulator_is_used_only_where_it_is_asked_for():
    simulated = Found((("simulator", (0, 0)),), simulated=True)
    check(simulated)
    assert not available(simulated)


@pytest.mark.skipif(SIMULATED, reason="the simulator is always there")
def test_this_machine():
    """On any machine, Numba's report is understood."""
    assert ask() is ask()
    if available():
        assert Cuda().operations >= {"pair_sums", "times"}
    else:
        with pytest.raises(CudaUnavailable, match="device='cpu'"):
            Cuda()


@pytest.mark.skipif(SIMULATED, reason="the simulator does not count blocks")
def test_no_remarks_on_small_grids_whichever_thread_ends_first():
    """Numba's option is 0 while any thread launches, and is restored afterwards."""
    from numba.cuda.dispatcher import config

    before, first, second = config.CUDA_LOW_OCCUPANCY_WARNINGS, quiet(), quiet()
    assert before
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not config.CUDA_LOW_OCCUPANCY_WARNINGS
    second.__exit__(None, None, None)
    assert before == config.CUDA_LOW_OCCUPANCY_WARNINGS


def test_auto_cuts_what_a_device_takes_into_few_boxes(monkeypatch):
    seen = []
    monkeypatch.setattr(engines, "available", lambda: True)
    monkeypatch.setattr(
        type(CPU), "run_boxes", lambda self, name, data, boxes, take, watch=None: seen.append(boxes)
    )
    monkeypatch.setattr(engines, "_cuda", lambda: CPU)
    V = np.zeros(3000)
    for pays_from, count in ((10**9, 6), (1, 1)):
        monkeypatch.setattr(engines, "pays", lambda n, least=pays_from: n >= least)
        GramProducts([Gaussian(1.0)], [1.0], np.zeros((3000, 1)), engine=engines.AUTO).times(V)
        assert len(seen.pop()) == count


def test_auto_starts_a_device_where_the_work_outlasts_its_start():
    assert not pays(2.0e8, 1)
    assert pays(3.0e8, 1)
    assert not pays(3.0e8, 16)
    assert pays(100_000**2 / 2, 16)
    assert not pays(0.0)


def test_errors_and_engines_reach_other_processes():
    error = pickle.loads(pickle.dumps(CudaOutOfMemory("8 rows would fit")))
    assert isinstance(error, MemoryError)
    assert str(error) == "8 rows would fit"
