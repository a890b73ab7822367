"""The benchmark of hyper-kernels runs, and what it compares agrees."""

import pytest


@pytest.fixture
def bench(script):
    return script("bench/bench_hyper")


def test_pairs_and_prediction(bench, capsys):
    found = bench.main(["pairs", "predict", "--quick", "--threads", "1"])
    assert [len(found[name]) for name in ("pairs", "predict")] == [20, 3]
    assert all(line.figure > 0.0 for lines in found.values() for line in lines)
    printed = capsys.readouterr().out
    assert "1 threads" in printed
    for line in found["predict"]:
        assert line.unit == "times"
        assert float(line.note.split()[-1]) < 1e-10  # of the expression in NumPy
        assert line.work in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["speed"], "unknown rows speed; accepted: pairs, fit, predict, ijcnn1"),
        (["--threads", "0"], "--threads 0 is out of range; accepted: 1 to"),
    ],
)
def test_bad_arguments_are_named(bench, capsys, arguments, message):
    with pytest.raises(SystemExit):
        bench.main(arguments)
    assert message in capsys.readouterr().err


def test_a_fit_in_a_process_of_its_own(bench):
    data = bench._NORMAL.format(m=40)
    wall, core, memory, n_pairs, rank, error = bench.fitted(1, data, "solver='pivoted'")
    assert min(wall, core) > 0.0
    assert 0.05 < memory < 2.0
    assert n_pairs == 820
    assert rank <= 500
    assert error <= 1e-6
