"""The pages of docs/: names on them exist, and every finding on the papers is mentioned."""

import re
from pathlib import Path

import pytest
from alignlearn.theory import CLAIMS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]

pytestmark = pytest.mark.skipif(not PAGES[0].is_file(), reason="needs the source tree")


def test_ledger_has_every_claim_that_does_not_hold_as_printed():
    text = (ROOT / "docs/development/ledger.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(p\d-[\w-]+)`", text))
    assert named <= set(CLAIMS)
    failing = {name for name, claim in CLAIMS.items() if claim.status not in ("true", "new")}
    assert failing <= named


def test_what_the_design_says_is_decided_in_one_place_is_there():
    text = (ROOT / "docs/development/design.md").read_text(encoding="utf-8")
    section = text.partition("## Where decisions are implemented")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| .* \| `([\w/]+\.py)` \| (`.*`) \|$", section, re.MULTILINE)
    assert len(rows) == section.count("\n|") - 2  # without the header and the line below it
    named = [(file, name) for file, names in rows for name in re.findall(r"`(\w+)`", names)]
    for file, name in named:
        source = (ROOT / "alignlearn" / file).read_text(encoding="utf-8")
        assert re.search(rf"^( *def {name}\(|{name}\b.*=)", source, re.MULTILINE), (file, name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_files_that_a_page_names_are_there(page):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    named = re.findall(r"\b((?:scripts|tests|docs|theory|alignlearn)/[\w/.]*\w)", text)
    missing = [link for link in links if not (page.parent / link).exists()]
    missing += [name for name in named if not (ROOT / name).exists()]
    assert missing == []
