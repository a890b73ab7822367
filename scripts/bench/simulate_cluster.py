#!/usr/bin/env python
"""A model of work on a Dask cluster: its constants measured, its predictions, 10^7 samples.

    scripts/bench/simulate_cluster.py            # some minutes
    scripts/bench/simulate_cluster.py --quick    # small sizes: what is done, not how fast it is

The model is the loop of `alignlearn.engine.cluster`, run on a clock of numbers: its plan makes the
tasks; a task goes to the thread that is free first; one process sends tasks and takes results.
Constants: seconds for a pair and for a box of pairs, with as many processes at work as in the run;
seconds of the sending process for a task and for a byte; the way of a task there and back. Pairs
are measured before every run: a ratio is the median of several, of neighbors in time.
"""

from __future__ import annotations

import argparse
import heapq
import os
import time
from collections import deque
from typing import NamedTuple

import numba
import numpy as np
from _bench import clock, interleaved
from _cluster import Recorded, local_client, product, statistics

from alignlearn.engine import boxes as plans
from alignlearn.engine.cluster import Cluster, _Plan, _task
from alignlearn.engine.cluster_data import parted
from alignlearn.engine.cpu import CPU, BoxSums

TOLERANCE = 0.2
PER_WORKER = 16  # threads, in the plan for many samples


class Rates(NamedTuple):
    """Seconds on one thread for a box and for a pair, and bytes of results.

    The bytes are those of a box, of a row and of a column of a box.
    """

    box: float
    pair: float
    box_bytes: float
    side_bytes: float

    def seconds(self, box, width):
        """Of a box, (i0, i1) of ``width`` columns, or (i0, i1, j0, j1)."""
        return self.box + self.pair * _pairs(box, width)

    def bytes(self, box):
        """Of its result."""
        sides = box[1] - box[0] + (box[3] - box[2] if len(box) == 4 else 0)
        return self.box_bytes + self.side_bytes * sides


class Costs(NamedTuple):
    """Seconds that a run takes beside its boxes.

    Of the process that sends: for the run, a byte of data, a task, the result of a box, a byte of
    it. Then those in which a thread waits between two tasks, and of the way to it and back.
    """

    run: float
    sent: float
    task: float
    result: float
    received: float
    start: float
    way: float


def _pairs(box, width):
    """Values of a box: of a square on the diagonal those on one side of it."""
    if len(box) == 2:
        return (box[1] - box[0]) * width
    i0, i1, j0, j1 = box
    return (i1 - i0) * (j1 - j0) / (2 if i0 == j0 else 1)


def simulated(boxes, width, n_threads, rates, costs, *, n_bytes=0.0, shared=False):
    """Seconds of a run, and its number of tasks.

    Parameters
    ----------
    boxes : list of tuple
    width : int
        Columns of boxes that are rows.
    n_threads : int
        Of all workers.
    rates : Rates
    costs : Costs
    n_bytes : float
        Of data that the workers do not have yet, of all of them.
    shared : bool
        Whether there is no processor for the sending process, which then takes from workers.
    """
    plan, running, n_tasks = _Plan(boxes, n_threads), deque(), 0
    now = costs.run + costs.sent * n_bytes
    free = [0.0] * n_threads
    while plan.unsent or running:
        while plan.unsent and len(running) < plan.n_ahead:
            group = plan.next()
            now, n_tasks = now + 0.5 * costs.task, n_tasks + 1
            seconds = sum(rates.seconds(box, width) for box in boxes[group])
            size = sum(rates.bytes(box) for box in boxes[group])
            after = costs.result * (group.stop - group.start) + costs.received * size
            taken = costs.task + after if shared else 0.0
            end = max(heapq.heappop(free), now + 0.5 * costs.way) + costs.start + seconds + taken
            heapq.heappush(free, end)
            running.append((group, seconds, size, after, end + 0.5 * costs.way))
        group, seconds, size, after, arrival = running.popleft()
        now = max(now, arrival) + 0.5 * costs.task + after
        plan.learn(group, seconds, size)
    return now, n_tasks


def timed(operation, data, lists):
    """Seconds for each list of boxes on one thread; sent to workers as it is."""
    from time import perf_counter

    from numba import set_num_threads

    set_num_threads(1)
    seconds = []
    for some in lists:
        start = perf_counter()
        CPU.run_boxes(operation, data, some, _drop)
        seconds.append(perf_counter() - start)
    return seconds


def _drop(k, result):
    pass


class RateMeter:
    """Measures `Rates` of an operation, with all workers at work at once.

    From two lists of boxes of different sizes.
    """

    def __init__(self, client, operation, data, small, large, width):
        self._client, self._call = client, (operation, client.scatter(data, broadcast=True))
        self._lists = small, large
        self._shape = [[len(some), sum(_pairs(b, width) for b in some)] for some in self._lists]
        sizes, sides = [], []
        for some in self._lists:
            engine = Recorded(CPU)
            engine.run_boxes(operation, data, some[:1], _drop)
            sizes.append(engine.bytes)
            sides.append(Rates(0.0, 0.0, 0.0, 1.0).bytes(some[0]))
        side_bytes = (sizes[1] - sizes[0]) / (sides[1] - sides[0])
        self._bytes = max(sizes[0] - side_bytes * sides[0], 0.0), side_bytes
        self()  # compiles

    def __call__(self):
        """Measure once."""
        workers = list(self._client.nthreads())
        # More workers than processors share these, in turns that short measurements do not see.
        n = min(len(workers), os.cpu_count())
        futures = [
            self._client.submit(timed, *self._call, self._lists, workers=[worker], pure=False)
            for worker in workers[:n]
        ]
        times = np.mean([future.result() for future in futures], axis=0) * (len(workers) / n)
        box, pair = np.linalg.solve(np.array(self._shape, dtype=float), times)
        return Rates(max(box, 0.0), pair, *self._bytes)


class Pause:
    """An engine that waits: its boxes are (milliseconds, 0)."""

    operations = frozenset({"wait"})
    in_place = True

    def run_boxes(self, operation, data, boxes, take, watch=None):
        for k, (milliseconds, _) in enumerate(boxes):
            time.sleep(1e-3 * milliseconds)
            take(k, None)


def give(size, count):
    """Results of boxes of pairs: so many, and so many bytes in one of them."""
    return np.zeros(size, np.uint8), [BoxSums(*np.zeros((5, 10))) for _ in range(count)]


def usual(function, repeats=5):
    """Median of the seconds of several calls."""
    return float(np.median(interleaved(repeats, function)))


def measured_costs(client):
    """`Costs` of runs, with workers that do nothing else."""
    n, size, pause = len(client.nthreads()), 2**22, 30
    n_ahead, engine, data = _Plan([], n).n_ahead, Cluster(client, Pause()), np.zeros(size)

    def stream(n_tasks, function, *args):
        running = deque()
        for _ in range(n_tasks):
            running.append(client.submit(function, *args, pure=False))
            if len(running) == n_ahead:
                running.popleft().result()
        while running:
            running.popleft().result()

    def seconds(n_tasks, function, *args):
        return usual(lambda: stream(n_tasks, function, *args)) / n_tasks

    def run(k):
        data[0] = k
        engine.run_boxes("wait", (data,), [(0, 0)], _drop)

    task, alone = seconds(60, give, 0, 0), seconds(1, give, 0, 0)
    received = (seconds(12, give, size, 0) - task) / size
    result = (seconds(12, give, 0, 100) - task) / 100
    waits = seconds(20 * n, _task, Pause(), "wait", [(pause, 0)], *parted((data[:9],))) * n
    count = iter(range(9))
    new, old = usual(lambda: run(next(count))), usual(lambda: run(-1))
    found = (
        old - alone,
        (new - old) / (n * data.nbytes),
        task,
        result,
        received,
        waits - 1e-3 * pause,
        alone - task,
    )
    return Costs(*(max(cost, 0.0) for cost in found))


class Case(NamedTuple):
    """Work whose time is predicted and measured."""

    name: str
    operation: str
    data: tuple
    boxes: list
    n_samples: int


def cases(sizes, counts):
    """Statistics and products for numbers of samples, in boxes as they are and in other ones."""
    for m in sizes:
        for name, work in (("statistics", statistics(m)), ("product", product(m))):
            engine = Recorded(CPU)
            work(engine)
            operation, data, own = engine.work[0]
            yield Case(name, operation, data, own, m)
            for count in counts:
                yield Case(name, operation, data, split(operation, m, m // count), m)


def split(operation, m, side):
    """Boxes of so many rows."""
    return plans.cells((0, m), side)[1] if operation == "pair_sums" else plans.rows(0, m, side)


def compare(client, sizes, counts, repeats=5):
    """Print predictions beside measurements; return their largest ratio, and the constants."""
    n, worst, meters, usual = len(client.nthreads()), 1.0, {}, {}
    costs = measured_costs(client)
    print(f"\n{n} worker{'s'[: n > 1]}: {described(costs)}")
    for case in cases(sizes, counts):
        name, m = case.name, case.n_samples
        if name not in meters:
            some = [split(case.operation, m, m // k)[:12] for k in (24, 6)]
            meters[name] = RateMeter(client, case.operation, case.data, *some, m)
        found = [compared(client, case, meters[name], costs) for _ in range(repeats + 1)][1:]
        rates, tasks, *times = zip(*found)
        if name not in usual:
            usual[name] = Rates(*np.median(rates, axis=0))
            box, pair = usual[name][:2]
            print(f"  {name}: {1e9 * pair:.2f} ns a pair, {1e6 * box:.0f} us a box")
        predicted, seconds = np.median(times, axis=1)
        ratio = np.median(np.divide(*times))
        worst = max(worst, ratio, 1.0 / ratio)
        print(
            f"  {name:10s} m={m:6d} {len(case.boxes):5d} boxes {tasks[0]:4d} tasks: predicted "
            f"{predicted:7.3f} s, measured {seconds:7.3f} s, ratio {ratio:.2f}"
        )
    return worst, usual, costs


def compared(client, case, meter, costs):
    """Rates, number of tasks, seconds predicted and seconds of a run, all taken at one time.

    The speed of a shared machine changes by a quarter from second to second.
    """
    n, rates, engine = len(client.nthreads()), meter(), Cluster(client, CPU)
    shared = n >= os.cpu_count()
    predicted, tasks = simulated(case.boxes, case.n_samples, n, rates, costs, shared=shared)
    engine.run_boxes(case.operation, case.data, case.boxes[:1], _drop)  # sends the data
    seconds = clock(lambda: engine.run_boxes(case.operation, case.data, case.boxes, _drop))[0]
    return rates, tasks, predicted, seconds


def described(costs):
    """The constants in words."""
    there, back = (1e-6 / max(rate, 1e-12) for rate in (costs.sent, costs.received))
    return (
        f"a run {1e3 * costs.run:.1f} ms, a task {1e3 * costs.task:.1f} ms, its way "
        f"{1e3 * costs.way:.1f} ms and wait {1e3 * costs.start:.1f} ms, a result "
        f"{1e6 * costs.result:.0f} us, {there:.0f} MB/s to each worker, {back:.0f} MB/s back"
    )


def plan(n_samples, n_landmarks, rates, costs):
    """Print seconds of exact statistics and of a product with landmarks, for numbers of threads."""
    width, exact = n_landmarks, plans.cells((0, n_samples), plans.pair_side(n_samples))[1]
    rows = plans.row_boxes(n_samples, width)
    print(
        f"\nm = {n_samples:,}, d = 20, from the first constants: exact statistics of 10 "
        f"Gaussians, and a Gaussian product with {width:,} landmarks; {PER_WORKER} threads a worker"
    )
    for n in (16, 64, 256, 1024):
        data = 8.0 * 21 * n_samples * n / PER_WORKER
        found = []
        for boxes, name in ((exact, "statistics"), (rows, "product")):
            sent, back = costs.sent * data, sum(rates[name].bytes(box) for box in boxes)
            seconds = simulated(boxes, width, n, rates[name], costs)[0]
            found.append(f"{seconds:9.0f} s, {back / 1e9:.1f} GB back")
        print(f"  {n:5d} threads: {'; '.join(found)}; the samples sent in {sent:.0f} s")


def main():
    """Measure, predict and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4], help="processes")
    options = parser.parse_args()
    numba.set_num_threads(1)
    sizes = (2000,) if options.quick else (10_000, 20_000)
    found = []
    for n in options.workers:
        with local_client(n) as client:
            found.append(compare(client, sizes, (8, 30)))
    worst = max(ratio for ratio, _, _ in found)
    print(f"\nlargest ratio {worst:.2f}; target {1.0 + TOLERANCE}")
    plan(10**6 if options.quick else 10**7, 10_000, *found[0][1:])


if __name__ == "__main__":
    main()
