"""Choose an engine from the arguments ``device`` and ``client``."""

from __future__ import annotations

from alignlearn.validation import check_choice

from .base import Engine
from .cpu import CPU, n_pairs
from .cuda.device import CudaOutOfMemory, available, pays


class Auto(Engine):
    """A CUDA device, if there is one, for large problems; else the CPU.

    Matrices that are returned whole are computed on the CPU, like problems whose boxes do not fit
    into the memory of the device.
    """

    in_place = True
    operations = CPU.operations

    def __reduce__(self):
        return "AUTO"

    def large_boxes(self, n_pairs):
        """Whether a device will be used."""
        return pays(n_pairs) and available()

    def run_boxes(self, operation, data, boxes, take, watch=None):
        """As `Cpu.run_boxes`."""
        wanted = bool(boxes) and self.large_boxes(n_pairs(data, boxes))
        if not wanted or operation not in (engine := _cuda()).operations:
            CPU.run_boxes(operation, data, boxes, take, watch)
            return
        taken = []

        def count(k, result):
            taken.append(k)
            take(k, result)

        try:
            engine.run_boxes(operation, data, boxes, count, watch)
        except CudaOutOfMemory:
            if taken:  # other processes have filled the device meanwhile: no box is added twice
                raise
            CPU.run_boxes(operation, data, boxes, take, watch)


AUTO = Auto()


def _cuda(here=True):
    from .cuda import Cuda

    return Cuda(here=here)


_DEVICES = {"auto": lambda here: AUTO, "cpu": lambda here: CPU, "cuda": _cuda}


def open_engine(device="auto", client=None):
    """The engine for a device and client.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}
        "auto" uses a CUDA device, if there is one, for large problems.
    client : dask.distributed.Client, optional
        Its workers run the operations, each on this device.

    Returns
    -------
    Auto, Cpu, Cuda or Cluster

    Raises
    ------
    ValueError
        The device is unknown, or the client is closed.
    TypeError
        The client is another object.
    CudaUnavailable
        ``device="cuda"`` without a usable device; the message states what to do. Workers raise it
        when they run.
    """
    check_choice("device", device, tuple(_DEVICES))
    engine = _DEVICES[device](client is None)
    if client is None:
        return engine
    from .cluster import Cluster

    return Cluster(client, engine)
