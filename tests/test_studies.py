"""Common code of the studies in scripts/lab: a command line, and files that fill the pages."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"

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


def test_every_number_has_a_script_that_writes_it(script):
    read = script("lab/_studies").read
    for file in ("text", "tables", "parts"):
        for key, entry in read(file).items():
            if "archived" in entry:  # a test or script that checks the same statement
                assert (SCRIPTS.parent / entry["archived"]).is_file(), key
                continue
            names = entry.keys() - {"script", "run"} if file == "text" else ()
            for name in (key, *names):
                assert literals(SCRIPTS / entry["script"]).fullmatch(name), (key, name)
