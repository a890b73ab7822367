"""The CUDA benchmark reports that nothing is measured, or measures every row."""

import pytest
from cuda_cases import SIMULATED, needs_cuda

from alignlearn.engine.cuda.device import Found


@pytest.fixture
def bench(script):
    return script("bench/bench_cuda")


def rows(bench, sizes):
    return [row.name for row in bench.rows(sizes)]


def test_without_a_device_every_row_is_not_measured(bench, capsys):
    bench.main([], Found(words="no driver"))
    lines = capsys.readouterr().out.splitlines()
    assert all(line.endswith(": not measured: no CUDA device") for line in lines)
    assert [line.partition(", float")[0] for line in lines] == rows(bench, bench.FULL)


@needs_cuda
def test_small_sizes_run(bench, capsys):
    bench.main(["--quick"])
    out = capsys.readouterr().out
    assert all(name in out for name in rows(bench, bench.SMALL))
    assert ("a simulation" in out) == SIMULATED
    assert out.count("of the arithmetic limit") == len(rows(bench, bench.SMALL))
