"""The benchmark of a cluster compares bits."""

import pytest

pytest.importorskip("distributed", reason="dask[distributed] is not installed")


def test_benchmark_compares_bits(dask_client, script):
    bench = script("bench/bench_cluster")
    work = bench.statistics(500)
    expected = work(bench.CPU)
    assert bench.seconds(work, dask_client, expected) > 0.0
    with pytest.raises(AssertionError):
        bench.seconds(work, dask_client, [2.0 * part for part in expected])
