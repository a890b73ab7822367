"""The runner of the benchmarks: every row at its quick size, and what a record has."""

import json
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


def test_every_row_runs_at_its_quick_size(bench):
    left_out = {"processors", "start"}  # they compile in processes of their own, with no cache
    names = set(bench.ROWS) - left_out - (set() if HAS_IJCNN1 else IJCNN1)
    found = bench.main(["--quick", "--threads", "1", *sorted(names)])
    assert set(found) == names
    assert all(found.values())


def test_a_record_has_both_times_the_ratio_and_its_spread(bench, tmp_path, monkeypatch):
    calls = []

    def short():
        """A row of two pairs."""
        loop = lambda n: sum(range(n))  # noqa: E731
        note = lambda: f"{len(calls)} calls"  # noqa: E731
        yield bench.Pair("sums", lambda: loop(200_000), lambda: calls.append(loop(2000)), 4, note)
        yield bench.Pair("measured elsewhere", 2.0, 0.5, 1)

    monkeypatch.setitem(bench.ROWS, "short", short)
    path = tmp_path / "found.json"
    first, second = bench.main(["short", "--threads", "1", "--json", str(path)])["short"]
    assert json.loads(path.read_text())["rows"]["short"] == [first, second]
    assert first["ratio"] == pytest.approx(first["baseline"] / first["alignlearn"])
    assert first["spread"][0] <= first["spread"][1]
    assert first["note"] == "4 calls"
    assert (second["ratio"], second["wall"]) == (4.0, 0.5)


def test_pairs_with_a_key_are_written(bench, script, monkeypatch):
    """Seconds of the clock; ratios over the pairs of a key, or over the repeats of one."""
    written = {}

    def short():
        """Pairs of two keys, and one without."""
        for base in (3.0, 2.0):
            yield bench.Pair("two", base, 0.5, 1, key="ladder", more={"memory": 7})
        yield bench.Pair("one", None, 0.25, 1, key="hyper-fit")
        yield bench.Pair("none", 1.0, 1.0, 1)

    monkeypatch.setitem(bench.ROWS, "short", short)
    studies = script("lab/_studies")
    monkeypatch.setattr(studies, "publish", lambda args, key, found: written.update({key: found}))
    two = {"baseline_s": [2.0, 3.0], "alignlearn_s": [0.5], "ratio": [4.0, 6.0], "memory": 7}
    one = {"baseline_s": None, "alignlearn_s": [0.25], "ratio": None}
    no_times = {"baseline_s": None, "alignlearn_s": None}
    for load, without in ((0.0, {}), (bench.BUSY + 1.0, no_times)):
        monkeypatch.setattr(bench.os, "getloadavg", lambda load=load: (load, 0.0, 0.0))
        bench.main(["short", "--threads", "1", "--write"])
        assert written == {"ladder": two | without, "hyper-fit": one | without}
