"""The benchmark of a cluster compares bits."""

import numpy as np
import pytest

pytest.importorskip("distributed", reason="dask[distributed] is not installed")


def test_benchmark_compares_bits(capsys, dask_client, script):
    """Its printed speed is not checked; two rows on the same workers."""
    bench = script("bench/bench_cluster")
    for work in (bench.statistics(500), bench.product(500), bench.hyper_product(800)):
        expected = work(bench.CPU)
        runs = {n: bench.measure(work, dask_client, expected) for n in (1, 2)}
        assert bench.report("work", 1.0, runs) > 0.0
    printed = capsys.readouterr().out
    assert printed.count("the same bits") == 6
    assert "DIFFERENT" not in printed
    assert not bench.same((np.ones(3),), (np.zeros(3),))
