"""Boxes on the workers of a Dask cluster: bit-identical to one process, even if workers die."""

import asyncio
import gc
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from refusals import raises

import alignlearn
from alignlearn.engine import cluster as engine_cluster
from alignlearn.engine.base import Engine
from alignlearn.engine.cluster import Cluster
from alignlearn.engine.cluster_losses import ClusterLost, what_is_lost
from alignlearn.engine.cuda.device import CudaUnavailable, available
from alignlearn.engine.engines import open_engine

distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")


class Samples:
    """What holds an array, as kernels and sources do."""

    def __init__(self, X):
        self.X = X


class Points(NamedTuple):
    """Data of the operations below."""

    V: np.ndarray
    small: tuple


class Here(Engine):
    """An engine of plain NumPy operations."""

    operations = frozenset({"sums", "flags", "total", "process", "fails"})

    def __init__(self, pause=0.0, uneven=False):
        self.pause, self.uneven = pause, uneven

    def run_boxes(self, operation, data, boxes, take, watch=None):
        for k, (i0, i1, j0, j1) in enumerate(boxes):
            time.sleep(self.pause)
            take(k, getattr(self, operation)(data, slice(i0, i1), slice(j0, j1)))

    def sums(self, data, rows, columns):
        # Not by BLAS, whose bits depend on the number of its threads; workers have one.
        products = np.einsum("ik,jk->ij", data.V[rows], data.V[columns])
        return np.exp(products).sum(axis=1), data.small[1]

    def flags(self, data, rows, columns):
        arrays = data.V, data.small[0]
        return [(type(a), a.flags.writeable, a.flags.aligned, a.flags.c_contiguous) for a in arrays]

    def total(self, data, rows, columns):
        return data.small[0].X.sum()

    def process(self, data, rows, columns):
        return os.getpid()

    def fails(self, data, rows, columns):
        if rows.start == 40:
            raise FloatingPointError(f"rows {rows.start}")
        return rows.start


def _boxes(m, side):
    ranges = [(i, min(i + side, m)) for i in range(0, m, side)]
    return [(*rows, *columns) for rows in ranges for columns in ranges if rows <= columns]


def _points(m=200, d=5, seed=0):
    V = np.random.default_rng(seed).normal(size=(m, d)) / np.sqrt(d)
    V.flags.writeable = False
    return Points(V, (np.arange(3.0), 7))


def _results(target, operation, data, boxes, after=()):
    """Results by box; ``after`` is (k, function): called when the result of box k was taken."""
    found, after = [], dict([after] if after else [])

    def take(k, result):
        assert k == len(found)
        found.append(result)
        after.get(k, int)()

    target.run_boxes(operation, data, boxes, take)
    return found


def _equal(found, expected):
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        np.testing.assert_array_equal(a[0], b[0], strict=True)
        assert a[1] == b[1]


def _kill(client, count):
    def kill():
        for pid in sorted(client.run(os.getpid).values())[:count]:
            os.kill(pid, signal.SIGKILL)

    return kill


def test_results_come_in_order_and_to_the_last_bit(dask_client):
    data, boxes = _points(), _boxes(200, 9)
    expected = _results(Here(), "sums", data, boxes)
    _equal(_results(Cluster(dask_client, Here()), "sums", data, boxes), expected)
    assert _results(Cluster(dask_client, Here()), "sums", data, []) == []


@pytest.mark.parametrize(("count", "uneven"), [(1, False), (1, True), (2, False), (2, True)])
def test_killed_workers_change_nothing(dask_client, survivors, count, uneven):
    """If one worker is killed its tasks run on the other; if both are, the data are sent again."""
    data, boxes = _points(2000), _boxes(2000, 100)
    expected = _results(Here(), "sums", data, boxes)
    target = Cluster(dask_client, Here(0.002, uneven))
    found = _results(target, "sums", data, boxes, (20, _kill(dask_client, count)))
    assert survivors(2 - count) == 2 - count
    _equal(found, expected)


def test_arrays_arrive_as_they_are_here(dask_client):
    """Read-only and writable arrays are two types to compiled loops, which are compiled once."""
    data = _points(2000)
    data = data._replace(small=(data.V[:3], data.V * 2.0))
    (here,), (there,) = (
        _results(target, "flags", data, [(0, 9, 0, 9)])
        for target in (Here(), Cluster(dask_client, Here()))
    )
    assert there == here
    assert here[0] == (np.ndarray, False, True, True)


def _there(client):
    """Bytes of the data on the workers, by name."""
    return {k: n for k, n in client.nbytes(summary=False).items() if k.startswith("alignlearn-")}


def _until(condition, seconds=60.0):
    """Wait until the scheduler, which learns late of released data, reports it."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        gc.collect()
        time.sleep(0.02)
    return condition()


def test_arrays_stay_on_the_workers_for_the_next_run(dask_client):
    """Of two runs that share an array, the second sends only new arrays, and drops the others."""
    boxes, seen = [(0, 10, 0, 10)], []
    V, W, U = (_points(4000, seed=seed).V for seed in range(3))
    assert _until(lambda: not _there(dask_client))
    target = Cluster(dask_client, Here())
    for pair in [(V, W), (V.copy(), W), (V, U)]:
        _results(target, "sums", Points(pair[0], (pair[1], 0)), boxes)
        assert _until(lambda: len(_there(dask_client)) == 3)
        seen.append({name for name, size in _there(dask_client).items() if size >= V.nbytes})
    assert seen[0] == seen[1]
    assert len(seen[0] & seen[2]) == 1
    assert len(seen[2]) == 2
    del target
    assert _until(lambda: not _there(dask_client))


@pytest.mark.parametrize("part", [slice(None), slice(100, 3000)])
def test_mapped_arrays_are_not_sent(dask_client, tmp_path, part):
    """The workers read an array in a file (and its rows) from the file."""
    data, boxes = _points(4000), _boxes(2900, 300)
    np.save(tmp_path / "V.npy", data.V)
    mapped = np.load(tmp_path / "V.npy", mmap_mode="r")
    mapped = data._replace(V=np.asarray(mapped)[part])
    target, sizes = Cluster(dask_client, Here()), []
    after = 3, lambda: sizes.append(sum(_there(dask_client).values()))
    assert _until(lambda: not _there(dask_client))
    found = _results(target, "sums", mapped, boxes, after)
    _equal(found, _results(Here(), "sums", data._replace(V=data.V[part]), boxes))
    assert 0 < sizes[0] < 0.05 * data.V.nbytes
    assert _results(target, "flags", mapped, boxes[:1])[0][0] == (np.ndarray, False, True, True)


def test_arrays_within_objects_are_sent_alone(dask_client, tmp_path):
    """Two equal arrays are sent once, and mapped ones not at all."""
    V, boxes = _points(4000).V, _boxes(20, 5)
    np.save(tmp_path / "V.npy", V)
    mapped, target = np.load(tmp_path / "V.npy", mmap_mode="r"), Cluster(dask_client, Here(0.001))
    for X, least in [(V.copy(), 1.0), (mapped, 0.0)]:
        assert _until(lambda: not _there(dask_client))
        data = Points(X if least else V[:3], (Samples(X), lambda: 0))
        sizes = []
        found = _results(
            target, "total", data, boxes, (3, lambda s=sizes: s.append(_there(dask_client)))
        )
        assert set(found) == {V.sum()}
        assert least <= sum(sizes[0].values()) / V.nbytes < least + 0.05
        target = Cluster(dask_client, Here(0.001))


def test_private_changes_of_a_mapped_array_are_sent(dask_client, tmp_path):
    data, boxes = _points(2000), _boxes(2000, 500)
    np.save(tmp_path / "V.npy", data.V)
    changed = np.load(tmp_path / "V.npy", mmap_mode="c")
    changed[:] *= 2.0
    changed.flags.writeable = False
    found = _results(Cluster(dask_client, Here()), "sums", data._replace(V=changed), boxes)
    _equal(found, _results(Here(), "sums", data._replace(V=2.0 * data.V), boxes))


def test_another_file_on_a_worker_is_refused(dask_client, tmp_path):
    """The name is the same and the content is not, as in folders that are not shared."""
    path = tmp_path / "V.npy"
    np.save(path, _points(2000).V)
    data = Points(np.load(path, mmap_mode="r"), (0, 0))
    np.save(tmp_path / "W.npy", _points(2000, seed=1).V)
    os.replace(tmp_path / "W.npy", path)
    message, target = r"V\.npy.*another file.*all workers share", Cluster(dask_client, Here())
    raises(OSError, message, _results, target, "sums", data, [(0, 9, 0, 9)])


def _in_flight(client):
    return [key for key in client.futures if key.startswith("alignlearn_")]


def test_few_tasks_are_in_flight(dask_client):
    counts, boxes = [], _boxes(200, 5)

    def take(k, result):
        counts.append(len(_in_flight(dask_client)))

    Cluster(dask_client, Here(0.001)).run_boxes("process", _points(), boxes, take)
    assert len(counts) == len(boxes) == 820
    assert max(counts) <= 4 * 2 + 1


class Uneven(Engine):
    """An engine whose first box takes until the last one has begun, on the other worker."""

    operations, uneven = frozenset({"waits"}), True

    def run_boxes(self, operation, data, boxes, take, watch=None):
        for k, (number, _) in enumerate(boxes):
            folder, last = data
            (folder / str(number)).touch()
            end = time.monotonic() + 60.0
            while number == 0 and not (folder / str(last)).exists():
                assert time.monotonic() < end, "the last box does not begin"
                time.sleep(0.01)
            take(k, number)


def test_boxes_of_uneven_costs_go_to_threads_that_are_done(dask_client, tmp_path):
    """With equal shares the thread of the first box would hold some of the others."""
    n, found = 9, []
    data, boxes = (tmp_path, n - 1), [(k, k + 1) for k in range(n)]
    Cluster(dask_client, Uneven()).run_boxes("waits", data, boxes, lambda k, r: found.append(r))
    assert found == list(range(n))


def test_a_box_whose_result_may_not_be_needed(dask_client, survivors):
    data, box = _points(), (0, 40, 0, 40)
    target = Cluster(dask_client, Here())
    result = target.begin("sums", data, box)
    np.testing.assert_array_equal(result()[0], _results(Here(), "sums", data, [box])[0][0])
    assert target.begin("fails", data, (40, 50, 0, 40))() is None
    # It is computed again, or lost if both copies of the data are.
    result = Cluster(dask_client, Here(1.0)).begin("total", Points(data.V, (data, 0)), box)
    _kill(dask_client, 2)()
    assert result() is None
    assert survivors(0) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="of glibc")
def test_workers_keep_some_freed_memory(dask_client):
    """Dask makes them return it, so that each page of each array is a fault."""

    def faults(n=50, size=2**17):
        import resource

        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(n):
            np.ones(size)
        return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / n

    boxes = [(i, i + 1, 0, 5) for i in range(40)]
    assert len(set(_results(Cluster(dask_client, Here(0.02)), "process", _points(), boxes))) == 2
    pages = 8 * 2**17 / os.sysconf("SC_PAGE_SIZE")
    assert max(dask_client.run(faults).values()) < 0.1 * pages


def test_errors_of_a_box_are_those_of_here(dask_client):
    target = Cluster(dask_client, Here(0.002))
    taken = []
    with pytest.raises(FloatingPointError, match="rows 40"):
        target.run_boxes("fails", _points(), _boxes(200, 10), lambda k, r: taken.append(r))
    assert taken == sorted(taken)
    assert max(taken) <= 30  # boxes of the task that failed are not taken
    assert _until(lambda: not _in_flight(dask_client) and not _there(dask_client))
    boxes = _boxes(30, 10)
    assert _results(target, "fails", _points(), boxes) == [box[0] for box in boxes]


@pytest.mark.skipif(available(), reason="there is a CUDA device")
def test_only_workers_need_a_device(dask_client):
    """The workers report that they have no such file; the client's machine is not checked."""
    X = np.random.default_rng(0).standard_normal((30, 3))
    options = {"device": "cuda", "client": dask_client}
    open_engine(**options)
    with pytest.raises(CudaUnavailable, match=r"^device='cuda': .*, or use device='cpu'"):
        alignlearn.alignment_statistics(X, X[:, 0], ["rbf"], **options)


def test_interrupt_ends_all_tasks(dask_client):
    """Ctrl-C while the client waits."""
    timers, taken, boxes = [], [], _boxes(200, 5)

    def take(k, result):
        taken.append(k)
        # What comes before the first result need not notice.
        if not timers:
            timers.append(threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)))
            timers[0].start()

    # A process in the background of a shell ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            Cluster(dask_client, Here(0.2)).run_boxes("process", _points(), boxes, take)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(taken) < len(boxes)  # all of them last 82 s in two processes
    timers[0].join()
    assert _until(lambda: not any(dask_client.processing().values()) and not _there(dask_client))


def test_clients_that_cannot_be_used_are_refused(dask_client, dask_workers):
    for client in ("tcp://127.0.0.1:8786", object()):
        message = r"client=.* is not a dask\.distributed\.Client; accepted: None"
        raises(TypeError, message, Cluster, client, Here())

    async def make():
        address = dask_client.scheduler.address
        async with distributed.Client(address, asynchronous=True, set_as_default=False) as client:
            Cluster(client, Here())

    message = "client is asynchronous; accepted: a Client made without"
    raises(ValueError, message, lambda: asyncio.run(make()))
    with dask_workers(0) as client:
        _refused(client, r"client has no workers; accepted: .*wait_for_workers")


def _refused(client, message):
    target = Cluster(client, Here())
    raises(ValueError, message, _results, target, "sums", _points(), [(0, 9, 0, 9)])


@contextmanager
def another_client(client):
    """Workers are asked once for each client."""
    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        yield other


def test_other_versions_are_refused(dask_client, monkeypatch):
    """In this test the client has the other version."""
    monkeypatch.setattr(alignlearn, "__version__", "99.0")
    with another_client(dask_client) as client:
        _refused(client, r"worker at tcp://127.* has alignlearn 0.*alignlearn==99.0")


def _exchange(name, other):
    """Exchange two modules; one that does not exist leaves a package that is not installed."""
    sys.modules[name], sys.modules[other] = sys.modules.get(other), sys.modules[name]


def test_workers_without_the_package_are_refused(dask_client):
    dask_client.run(_exchange, "alignlearn", "alignlearn that is hidden")
    try:
        with another_client(dask_client) as client:
            _refused(client, r"has no alignlearn; accepted: .*alignlearn==")
    finally:
        dask_client.run(_exchange, "alignlearn", "alignlearn that is hidden")


@contextmanager
def threads_only(n_workers=2, **options):
    """A cluster of threads of this process, which starts at once: (client, cluster)."""
    addresses = dict.fromkeys(("dashboard_address", "worker_dashboard_address"), "127.0.0.1:0")
    options = {"threads_per_worker": 1, "memory_limit": 0, **addresses, **options}
    with (
        distributed.LocalCluster(n_workers, processes=False, **options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client, cluster


KEPT = r"are not lost: make a new client and call again, or call without a client\.$"


@pytest.mark.parametrize("what", ["cluster", "client"])
def test_a_scheduler_or_client_that_is_closed_during_a_run(what):
    with threads_only() as (client, cluster):
        close = {"cluster": cluster.close, "client": client.close}[what]
        target, data, boxes = Cluster(client, Here(0.002)), _points(), _boxes(200, 10)
        with pytest.raises(
            ClusterLost, match=rf"connection to the scheduler.* of 210 boxes.*{KEPT}"
        ):
            _results(target, "sums", data, boxes, (3, close))
        # A used one is rejected before any work.
        calls = []
        with pytest.raises(ValueError, match="client is closed, not running; accepted"):
            _results(target, "sums", data, boxes, (0, calls.append))
    assert not calls


def test_workers_of_which_none_comes_back(monkeypatch):
    monkeypatch.setattr(engine_cluster, "_WAIT", 0.3)
    with threads_only() as (client, cluster):

        def lose():
            cluster.scale(0)
            assert _until(lambda: not client.nthreads())

        with pytest.raises(ClusterLost, match=f"workers were lost, and none reconnected.*{KEPT}"):
            _results(Cluster(client, Here(0.002)), "sums", _points(), _boxes(200, 10), (3, lose))


@pytest.mark.parametrize("error", [TimeoutError("No valid workers found"), OSError("closed")])
@pytest.mark.parametrize("times", [2, 100])
def test_workers_that_are_lost_again_while_they_get_the_data(monkeypatch, error, times):
    """Two lost workers in a row change nothing; for endless losses the error states what to do."""
    scatter, left = distributed.Client.scatter, [times]

    def failing(self, *args, **options):
        left[0] -= 1
        if left[0] >= 0:
            raise error
        return scatter(self, *args, **options)

    monkeypatch.setattr(distributed.Client, "scatter", failing)
    data, boxes = _points(), _boxes(200, 20)
    with threads_only() as (client, _):
        target = Cluster(client, Here())
        if times == 2:
            _equal(_results(target, "sums", data, boxes), _results(Here(), "sums", data, boxes))
            return
        message = f"lost 4 times in a row; give the workers more memory.*0 of 55 boxes.*{KEPT}"
        with pytest.raises(ClusterLost, match=message) as caught:
            _results(target, "sums", data, boxes)
    assert caught.value.__cause__ is error
    assert left == [times - 4]


def test_tasks_that_kill_their_workers():
    """Dask gives up such a task; the error states the memory limits."""
    with threads_only(1, memory_limit="1GiB") as (client, _):
        error = distributed.KilledWorker("task", SimpleNamespace(address="tcp://a:1"), 3)
        found = what_is_lost(error, client, "3 of 9 boxes")
    assert isinstance(found, ClusterLost)
    assert "the workers that did the same task died, one after the other" in str(found)
    assert "3 of 9 boxes were done. Workers have 1.0 GiB of memory or more." in str(found)


def test_other_errors_stay_what_they_are():
    here = SimpleNamespace(status="running")
    assert what_is_lost(ValueError("of a box"), here, "") is None
    assert what_is_lost(KeyboardInterrupt(), SimpleNamespace(status="closed"), "") is None
    lost = what_is_lost(
        AttributeError("'NoneType' object has no attribute 'ncores'"),
        SimpleNamespace(status="connecting", scheduler=SimpleNamespace(address="tcp://b:2")),
        "0 of 1 boxes",
    )
    assert "connection to the scheduler at tcp://b:2 is lost" in str(lost)


def test_data_that_no_worker_has_room_for_are_not_sent():
    data = _points(4000, 40)  # 1.2 MiB
    with threads_only(1, memory_limit="1MiB") as (client, _):
        with pytest.raises(MemoryError, match=r"take 1 MiB on every worker, but .* has 1 MiB of"):
            _results(Cluster(client, Here()), "sums", data, _boxes(200, 50))
        assert not _there(client)


def _pause(dask_worker):
    dask_worker.status = distributed.Status.paused


def test_workers_that_stay_paused(monkeypatch):
    """Workers with full memory behave alike; without an error the run would wait forever."""
    monkeypatch.setattr(engine_cluster, "_WAIT", 0.2)
    monkeypatch.setattr(engine_cluster, "_LOOK", 0.05)
    message = f"all workers have been paused.*more memory; .*{KEPT}"
    data, boxes = _points(), _boxes(200, 5)
    with threads_only() as (client, _), pytest.raises(ClusterLost, match=message):
        _results(Cluster(client, Here(0.002)), "sums", data, boxes, (3, lambda: client.run(_pause)))


@pytest.mark.parametrize("kind", ["MKLClassifier", "MKLRegressorCV"])
def test_a_closed_client_is_refused_before_any_work(kind):
    calls = []

    def kernel(x, y):
        calls.append(1)
        return float(x @ y)

    X = np.random.default_rng(0).standard_normal((12, 2))
    with threads_only(1) as (client, _):
        client.close()
        model = getattr(alignlearn, kind)([alignlearn.FromFunction(kernel)], client=client)
        with pytest.raises(
            ValueError, match=r"client is closed, not running; accepted: .*Make a new"
        ):
            model.fit(X, X[:, 0] > 0 if kind == "MKLClassifier" else X[:, 0])
    assert not calls
