"""The model of a run on a cluster: laws of its clock; and the benchmark."""

import importlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts" / "bench"

pytestmark = pytest.mark.skipif(not SCRIPTS.is_dir(), reason="needs the source tree")
pytest.importorskip("distributed", reason="dask[distributed] is not installed")


def _script(name):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPTS))
        return importlib.import_module(name)


MODEL = _script("simulate_cluster") if SCRIPTS.is_dir() else None


def _costs(**costs):
    return MODEL.Costs(**{**dict.fromkeys(MODEL.Costs._fields, 0.0), **costs})


@given(
    rows=st.lists(st.integers(1, 300), min_size=1, max_size=200),
    threads=st.integers(1, 9),
    pair=st.floats(1e-6, 1.0),
)
def test_without_costs_of_sending_no_thread_waits_long(rows, threads, pair):
    """At least the work over the threads; at most the longest task more, as for any list."""
    boxes = [(0, n) for n in rows]
    rates = MODEL.Rates(0.0, pair, 0.0, 0.0)
    seconds, n_tasks = MODEL.simulated(boxes, 1, threads, rates, _costs())
    work = pair * sum(rows)
    longest = max(pair * max(rows), 1.0)  # tasks of several boxes have a second of work
    assert work / threads * (1 - 1e-9) <= seconds <= (work / threads + longest) * (1 + 1e-9)
    assert min(threads, len(rows)) <= n_tasks <= len(rows)
    alone, _ = MODEL.simulated(boxes, 1, 1, rates, _costs())
    assert alone == pytest.approx(work)


@given(n=st.integers(1, 200), threads=st.integers(1, 9), cost=st.floats(1e-3, 1.0))
def test_costs_of_one_process_do_not_shrink_with_threads(n, threads, cost):
    """Where boxes take no time, what is left is the client's: for every task, box and byte."""
    rates = MODEL.Rates(0.0, 0.0, 3.0, 2.0)
    boxes = [(0, 5, 5, 9)] * n
    _, n_tasks = MODEL.simulated(boxes, 0, threads, rates, _costs())
    found = {
        name: MODEL.simulated(boxes, 0, threads, rates, _costs(**{name: cost}))[0]
        for name in ("run", "task", "result", "received")
    }
    expected = {"run": 1, "task": n_tasks, "result": n, "received": n * (3 + 2 * (5 + 4))}
    assert found == pytest.approx({name: cost * times for name, times in expected.items()})


def test_known_schedule():
    """Four equal boxes on two threads: two rounds, each a way there, a wait and the work."""
    rates, boxes = MODEL.Rates(0.5, 0.25, 0.0, 0.0), [(0, 2)] * 4
    costs = _costs(way=0.2, start=0.1)
    seconds, n_tasks = MODEL.simulated(boxes, 2, 2, rates, costs)
    assert n_tasks == 4
    assert seconds == pytest.approx(0.1 + 2 * (0.1 + 0.5 + 0.25 * 4) + 0.1)
    shared, _ = MODEL.simulated(boxes, 2, 2, rates, _costs(task=0.2), shared=True)
    alone, _ = MODEL.simulated(boxes, 2, 2, rates, _costs(task=0.2))
    assert shared == pytest.approx(alone + 2 * 0.2)


def test_benchmark_compares_bits(capsys, dask_client):
    """What it prints of speed is not looked at; two rows of the same workers."""
    bench = _script("bench_cluster")
    for work in (bench.statistics(500), bench.product(500), bench.hyper_product(800)):
        expected = work(bench.CPU)
        runs = {n: bench.measure(work, dask_client, expected) for n in (1, 2)}
        assert bench.report("work", 1.0, runs) > 0.0
    printed = capsys.readouterr().out
    assert printed.count("the same bits") == 6
    assert "DIFFERENT" not in printed
    assert not bench.same((MODEL.np.ones(3),), (MODEL.np.zeros(3),))
    assert bench.alone(1, 200) > 0.0


def test_plan_for_many_samples(capsys):
    """Half of 10^12 pairs at 10 ns last 5000 s on one thread, and a little over 78 on 64."""
    rates = {"statistics": MODEL.Rates(0.0, 1e-8, 0.0, 0.0), "product": MODEL.Rates(0, 0, 0, 0)}
    MODEL.plan(10**6, 1000, rates, _costs())
    lines = capsys.readouterr().out.splitlines()
    (line,) = (line for line in lines if line.strip().startswith("64 threads"))
    assert 78 <= float(line.split()[2]) <= 80
