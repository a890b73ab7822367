"""The benchmark of hyper-kernels runs, and what it compares agrees."""

import importlib

import pytest


@pytest.fixture
def bench(script):
    return script("bench/_run")


@pytest.fixture
def hyper(bench):
    bench.collect()
    return importlib.import_module("rows.hyper")


def test_hyper_kernels_agree_with_numpy(bench, hyper):
    pairs = list(hyper.pairs(m=12, dimensions=(2,), repeats=1))
    assert len(pairs) == 8
    assert all(bench.measure(pair)["alignlearn"] > 0.0 for pair in pairs)
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
