"""Every row of the benchmarks runs at its quick size; hyper-kernels agree with NumPy."""

import importlib
import os
from pathlib import Path

import pytest

IJCNN1 = {"svm-fit"}  # also reads kin8nm
HAS_IJCNN1 = (
    Path(os.environ.get("ALIGNLEARN_DATA") or "no such folder") / "ijcnn1_train.npz"
).is_file()


@pytest.fixture
def bench(script):
    found = script("bench/_run")
    found.collect()
    return found


@pytest.fixture
def hyper(bench):
    return importlib.import_module("rows.hyper")


def test_every_row_runs_at_its_quick_size(bench):
    left_out = {"processors", "start"}  # they compile in processes of their own, with no cache
    names = set(bench.ROWS) - left_out - (set() if HAS_IJCNN1 else IJCNN1)
    found = bench.main(["--quick", "--threads", "1", *sorted(names)])
    assert set(found) == names
    assert all(found.values())


def test_hyper_kernels_agree_with_numpy(bench, hyper):
    for pair in hyper.hyper_predict(m=20, n=30):
        record = bench.measure(pair)
        assert record["ratio"] > 0.0
        assert float(record["note"].split()[-1]) < 1e-10  # of the expression in NumPy


def test_a_fit_in_a_process_of_its_own(hyper):
    found = hyper.fitted(hyper._NORMAL.format(m=40), "solver='pivoted'")
    wall, core, memory, n_pairs, rank, error = found
    assert min(wall, core) > 0.0
    assert 0.05 < memory < 2.0
    assert n_pairs == 820
    assert rank <= 500
    assert error <= 1e-6
