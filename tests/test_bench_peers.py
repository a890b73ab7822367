"""The benchmark against other packages runs without them, and the page has the measured numbers."""

import importlib.metadata
import json
import sys

import pytest
from test_scripts import ROOT

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
    modules = "himalaya MKLpy mklaren hyppo cca_zoo torch torch_cka pykeops sklearnex daal4py"
    for name in modules.split():
        monkeypatch.setitem(sys.modules, name, None)

    def version(name):
        if name.lower() in hidden:
            raise importlib.metadata.PackageNotFoundError(name)
        return found(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    return bench


def test_rows_without_peers_say_that_these_are_not_installed(no_peers, page, tmp_path):
    rows = ["svc", "ridge", "independence", "layers"]
    numbers = tmp_path / "_data" / "benchmarks.json"
    numbers.parent.mkdir()
    no_peers.main([*rows, "--quick", "--json", str(numbers)])
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
    assert "SVC of scikit-learn-intelex: not installed" in page.write(tmp_path)


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
