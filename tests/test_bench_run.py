"""The runner of the benchmarks: its rows, its records, and rejected command lines."""

import json
import re

import pytest


@pytest.fixture
def bench(script):
    found = script("bench/_run")
    found.collect()
    return found


def test_rows_are_listed_with_what_they_measure(bench, capsys):
    assert bench.main([]) == {}
    listed = capsys.readouterr().out.splitlines()
    assert len(listed) == len(bench.ROWS) > 20
    assert all(len(line.split()) > 3 for line in listed)


def test_a_record_has_both_times_the_ratio_and_its_spread(bench, tmp_path, capsys, monkeypatch):
    calls = []

    def short():
        """A row of two pairs."""
        loop = lambda n: sum(range(n))  # noqa: E731
        note = lambda: f"{len(calls)} calls"  # noqa: E731
        yield bench.Pair("sums", lambda: loop(200_000), lambda: calls.append(loop(2000)), 4, note)
        yield bench.Pair("measured elsewhere", 2.0, 0.5, 1)

    monkeypatch.setitem(bench.ROWS, "short", short)
    path = tmp_path / "found.json"
    found = bench.main(["short", "--threads", "1", "--json", str(path)])["short"]
    assert json.loads(path.read_text())["rows"]["short"] == found
    assert json.loads(path.read_text())["machine"]["threads"] == 1
    first, second = found
    assert first["ratio"] == pytest.approx(first["baseline"] / first["alignlearn"])
    assert first["spread"][0] <= first["spread"][1]
    assert first["note"] == "4 calls"
    assert (second["ratio"], second["wall"]) == (4.0, 0.5)
    assert "4 calls" in capsys.readouterr().out


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
    monkeypatch.setattr(bench.os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    bench.main(["short", "--threads", "1", "--write"])
    two = {"baseline_s": [2.0, 3.0], "alignlearn_s": [0.5], "ratio": [4.0, 6.0], "memory": 7}
    one = {"baseline_s": None, "alignlearn_s": [0.25], "ratio": None}
    assert written == {"ladder": two, "hyper-fit": one}
    monkeypatch.setattr(bench.os, "getloadavg", lambda: (bench.BUSY + 1.0, 0.0, 0.0))
    bench.main(["short", "--threads", "1", "--write"])
    no_times = {"baseline_s": None, "alignlearn_s": None}
    assert written == {"ladder": two | no_times, "hyper-fit": one | no_times}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["speed"], "unknown rows speed; accepted: "),
        (["ladder", "--write", "--quick"], "--quick are not to be quoted: leave out --write"),
        (["ladder", "--threads", "0"], "--threads 0 is out of range; accepted: 1 to"),
    ],
)
def test_bad_arguments_are_named(bench, capsys, arguments, message):
    with pytest.raises(SystemExit) as stopped:
        bench.main(arguments)
    assert message in capsys.readouterr().err + str(stopped.value)


def test_the_readme_has_every_script(bench):
    folder = bench.HERE.parent
    text = (folder / "README.md").read_text()
    parts = {path: path.relative_to(folder).parts for path in folder.rglob("*") if path.is_file()}
    for path, (first, *_) in parts.items():
        named = path.name[0] != "_" and path.name != "README.md" and path.suffix != ".pyc"
        if named and first != "reproduce":
            assert f"`{path.name}`" in text or f"rows/{path.name}" in text, path.name
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (folder / target).exists(), target
