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
    assert len(listed) == len(bench.ROWS) >= 30
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["speed"], "unknown rows speed; accepted: "),
        (["ladder", "--threads", "0"], "--threads 0 is out of range; accepted: 1 to"),
    ],
)
def test_bad_arguments_are_named(bench, capsys, arguments, message):
    with pytest.raises(SystemExit):
        bench.main(arguments)
    assert message in capsys.readouterr().err


def test_the_readme_has_every_script(bench):
    folder = bench.HERE.parent
    text = (folder / "README.md").read_text()
    parts = {path: path.relative_to(folder).parts for path in folder.rglob("*") if path.is_file()}
    for path, (first, *rest) in parts.items():
        named = path.name[0] != "_" and path.name != "README.md" and "__pycache__" not in rest
        if named and first != "reproduce":
            assert f"`{path.name}`" in text or f"rows/{path.name}" in text, path.name
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (folder / target).exists(), target
