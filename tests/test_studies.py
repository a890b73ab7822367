"""Common code of the studies in scripts/lab: a command line, and files that fill the pages."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
PUBLISHED = re.compile(r'publish\(\s*\w+, "([\w-]+)"')

pytestmark = pytest.mark.skipif(not SCRIPTS.is_dir(), reason="needs the source tree")


@pytest.fixture
def studies(script, tmp_path, monkeypatch):
    """The module, with a folder of its own for the numbers."""
    module = script("lab/_studies")
    table = {"script": "lab/one.py", "head": ["m", "score"], "rows": [["10", "0.5"], ["20", "0.7"]]}
    monkeypatch.setattr(module, "DATA", tmp_path)
    module.write("tables", {"one": table, "other": {}})
    module.write("text", {"one": {"script": "lab/one.py", "gain": "0.1", "loss": "0.2"}})
    return module


def asked(studies, *words):
    return studies.study("One study.\n", ("a", "b"), words, m=(400, 20), seeds=((0, 1), (0,)))


def test_only_what_is_to_be_written_is(studies, capsys):
    before = {path: path.read_text() for path in studies.DATA.iterdir()}
    studies.publish(asked(studies), "one", [("20", "0.9")])
    assert "m | score\n20 | 0.9\n" in capsys.readouterr().out
    assert {path: path.read_text() for path in studies.DATA.iterdir()} == before
    args = asked(studies, "--write", "--m", "50")
    studies.publish(args, "one", [("20", "0.9"), ("10", "0.8"), ("30", "1.0")])
    studies.publish(args, "one", {"gain": "0.3"})
    found = studies.read("tables")
    assert found["one"]["rows"] == [["10", "0.8"], ["20", "0.9"], ["30", "1.0"]]
    assert found["one"]["run"] == {"m": 50, "seeds": [0, 1]}
    assert found["other"] == {}
    numbers = studies.read("text")["one"]
    assert numbers.items() >= {"gain": "0.3", "loss": "0.2"}.items()
    assert numbers["run"] == {"gain": {"m": 50, "seeds": [0, 1]}}


def test_rows_of_two_kinds_of_runs_are_not_mixed(studies):
    studies.publish(asked(studies, "--write"), "one", [("10", "0.6"), ("20", "0.8")])
    before = studies.read("tables")
    with pytest.raises(ValueError, match=r"run with .*400.*: measure all"):
        studies.publish(asked(studies, "--write", "--m", "50"), "one", [("20", "0.9")])
    assert studies.read("tables") == before
    studies.publish(asked(studies, "--write"), "one", [("20", "0.9")])
    assert studies.read("tables")["one"]["rows"] == [["10", "0.6"], ["20", "0.9"]]


def test_files_are_written_as_they_stand(script):
    """A study that changes a number changes its line alone."""
    studies = script("lab/_studies")
    for name in ("tables", "text", "parts", "missing-tables", "accuracy-400", "accuracy-2000"):
        text = (studies.DATA / f"{name}.json").read_text(encoding="utf-8")
        lines = studies._lines(json.loads(text), studies._LEVELS.get(name, 2))
        assert lines + "\n" == text, name


def test_seconds_and_ratios_go_to_the_parts(studies):
    studies.write("parts", {"one": {"script": "lab/one.py", "work": "sums", "ratio": [1.0]}})
    args = asked(studies, "--write")
    found = {"baseline_s": studies.span([4.04, 2.0]), "alignlearn_s": studies.span([1.0, 1.001])}
    studies.publish(args, "one", {**found, "ratio": studies.span([4.0, float("nan")])})
    entry = studies.read("parts")["one"]
    assert entry["script"] == "lab/one.py"
    assert (entry["baseline_s"], entry["alignlearn_s"]) == ([2.0, 4.0], [1.0])
    assert (entry["ratio"], studies.span([31.2, 9.99])) == (None, [10, 31])
    assert entry["run"] == {"m": 400, "seeds": [0, 1]}
    with pytest.raises(KeyError):
        studies.publish(args, "two", {"ratio": [2.0]})


@cache
def literals(path):
    """Patterns of the strings of a script, where braces of an f-string stand for anything."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(re.escape(node.value))
        elif isinstance(node, ast.JoinedStr):
            parts = [p.value if isinstance(p, ast.Constant) else None for p in node.values]
            if sum(len(p) for p in parts if p) > 2:
                found.append("".join("[\\w-]+" if p is None else re.escape(p) for p in parts))
    return re.compile("|".join(sorted(found, key=len, reverse=True)))


def orphans(content, named=()):
    """Entries whose script does not exist or has not their key, or the name of a number."""
    for key, entry in content.items():
        if "archived" in entry:  # a test or script that checks the same statement
            if not (SCRIPTS.parent / entry["archived"]).is_file():
                yield f"{key}: {entry['archived']} does not exist"
            continue
        path = SCRIPTS / entry["script"]
        if not path.is_file():
            yield f"{key}: {entry['script']} does not exist"
            continue
        names = entry.keys() - {"script", "run"} if "head" not in entry and named else ()
        for name in (key, *names):
            if not literals(path).fullmatch(name):
                yield f"{key}: {entry['script']} does not write {name}"


def test_every_number_has_a_script_that_writes_it(script):
    read = script("lab/_studies").read
    for name in ("text", "tables", "parts"):
        assert list(orphans(read(name), named=name == "text")) == [], name


def test_every_file_of_numbers_has_a_script(script):
    data = script("lab/_studies").DATA
    sources = [p for p in SCRIPTS.rglob("*.py") if p.parent.name in ("lab", "bench")]
    for path in data.glob("*.json"):
        assert any(
            literals(p).fullmatch(path.stem) or f"_data/{path.name}" in p.read_text("utf-8")
            for p in sources
        ), path.name


def test_a_number_without_a_script_is_found():
    given = {
        "many-targets": {"script": "lab/many_targets.py", "primal": "0.003", "run": {}},
        "calls": {"script": "lab/intervals.py"},
        "tests-of-dependence": {"script": "lab/dependence_tests.py", "kci-ms": "0", "hsic-ms": "0"},
        "gone": {"script": "lab/no.py"},
        "kept": {"archived": "tests/test_studies.py"},
        "lost": {"archived": "tests/test_no_such_studies.py"},
    }
    assert list(orphans(given, named=True)) == [
        "calls: lab/intervals.py does not write calls",
        "tests-of-dependence: lab/dependence_tests.py does not write hsic-ms",
        "gone: lab/no.py does not exist",
        "lost: tests/test_no_such_studies.py does not exist",
    ]


def test_every_key_that_a_script_writes_has_an_entry(script):
    read = script("lab/_studies").read
    known = {key for name in ("text", "tables", "parts") for key in read(name)}
    for path in SCRIPTS.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        written = PUBLISHED.findall(text)
        if path.parent.name == "rows":
            written += re.findall(r'\bkey="([\w-]+)"', text)
        assert set(written) <= known, path.name
