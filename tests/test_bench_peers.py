"""The benchmark against other packages runs without them, and the page has the measured numbers."""

import importlib.metadata
import json
import re
import sys

import pytest
from test_scripts import ROOT

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or not (ROOT / "scripts").is_dir(),
    reason="needs a POSIX shell and the source tree",
)
DOCS = ROOT / "docs"


@pytest.fixture
def bench(script):
    return script("bench/bench_peers")


@pytest.fixture
def page(script):
    return script("../docs/_ext/benchmarks_page")


@pytest.fixture
def no_peers(bench, monkeypatch):
    """The situation where only scikit-learn is installed."""
    hidden = {name.lower() for name in bench.PEERS} - {"scikit-learn"}
    found = importlib.metadata.version
    modules = ("himalaya", "MKLpy", "mklaren", "hyppo", "cca_zoo", "torch", "torch_cka", "pykeops")
    for name in (*modules, "sklearnex", "daal4py"):
        monkeypatch.setitem(sys.modules, name, None)

    def version(name):
        if name.lower() in hidden:
            raise importlib.metadata.PackageNotFoundError(name)
        return found(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    return bench


def test_rows_without_peers_say_that_these_are_not_installed(no_peers, page, tmp_path, capsys):
    rows = ["svc", "ridge", "independence", "layers"]
    numbers = tmp_path / "_data" / "benchmarks.json"
    numbers.parent.mkdir()
    said = tmp_path / "reasons"
    said.mkdir()
    (said / "hyppo").write_text("ERROR: No matching distribution found for hyppo\n")
    no_peers.main([*rows, "--quick", "--json", str(numbers), "--reasons", str(said)])
    found = json.loads(numbers.read_text())
    assert list(found["rows"]) == rows
    for records in found["rows"].values():
        for record in records:
            outside = record["package"] not in ("alignlearn", "scikit-learn")
            # CKARecorder belongs to the library and needs torch.
            assert ("reason" in record) == (outside or record["side"] == "CKARecorder")
            assert "reason" in record or record["seconds"] > 0.0
    # The two sides solve the same problem.
    ours, theirs = found["rows"]["svc"][:2]
    assert ours["score"] == pytest.approx(theirs["score"], abs=0.005)
    by_side = {r["side"]: r.get("reason") for r in found["rows"]["independence"]}
    assert by_side["Hsic of hyppo, its approximation"].endswith("distribution found for hyppo")
    assert found["versions"]["himalaya"] is None
    text = page.write(tmp_path)
    assert "SVC of scikit-learn-intelex: not installed" in text
    assert str(tmp_path) not in text + numbers.read_text()
    assert not list(tmp_path.glob("_static/*.svg"))  # one size shows no growth
    assert "not installed" in capsys.readouterr().out


def test_the_page_is_made_from_the_stored_numbers(page):
    found = json.loads((DOCS / "_data" / "benchmarks.json").read_text())
    text = (DOCS / "benchmarks.md").read_text()
    assert page.page(found, DOCS) == text
    assert not found["quick"]
    assert found["threads"] == 1
    # Rows in which the library is slower are in the table, in bold, and in the list.
    slow = [r for r in page.main_rows(found) if r[3]["seconds"] < r[2]["seconds"]]
    glance = text.partition("## Summary")[2].partition("## Where")[0]
    assert glance.count("**0.") + glance.count("**1**") >= len(slow)
    assert sum(line.count(" times; score ") for line in page.slower(found)) == len(slow)
    for target in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text):
        assert (DOCS / target).is_file()
    assert "![](" not in text
