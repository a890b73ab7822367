"""The page of the claims and the summary in the README are up to date."""

import re
from pathlib import Path

import pytest
from alignlearn.theory import CLAIMS
from alignlearn.theory.figures.table import SURPRISING, claims_page, counts, outcomes_of_forms

ROOT = Path(__file__).resolve().parents[3]


NUMBER = re.compile(r"(?<![\w.])\d+\.?\d*(?:e[+-]?\d+)?")


def _same_but_for_last_digits(shown, expected, hint):
    """Numbers may differ in the last digit between processors."""
    assert NUMBER.sub("#", shown) == NUMBER.sub("#", expected), hint
    ours, theirs = ([float(x) for x in NUMBER.findall(text)] for text in (expected, shown))
    assert ours == pytest.approx(theirs, rel=0.02), hint


@pytest.fixture(scope="module")
def page():
    """The committed page, which the test below compares with the generated one."""
    return (ROOT / "figures" / "claims.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def summary():
    """The committed summary, likewise."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "(figures/claims.md)" in readme
    return readme.partition("<!-- numbers: claims -->")[2].partition("<!--")[0].strip()


def test_the_page_and_the_readme_show_the_claims_as_they_are(page, summary):
    """One test, so that one process checks all cases, once."""
    hint = "run scripts/make_figures.py --only claims"
    _same_but_for_last_digits(page, claims_page(), hint)
    hint = "run scripts/fill_pages.py"
    _same_but_for_last_digits(summary, counts(), hint)
    assert outcomes_of_forms() in page


def test_the_claims_table(page):
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    assert list(rows) == list(CLAIMS)
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 7 for line in rows.values())
    # The counterexample of theorem 16: 2/11 against 19/225, 1/4 with the correction.
    row = rows["p1-theorem-16"]
    assert "| false | The proof omits the change of" in row
    assert "| violated: 0.182 > 0.0844; corrected: holds (0.25)" in row
    assert "Follows from `p3-omega`." in rows["p3-model"]


def test_the_table_says_where_a_bound_is_vacuous(page):
    """Theorem 12 is not informative at the sample sizes of the cases: its bound is above 1."""
    (row,) = (line for line in page.splitlines() if "`p1-theorem-12`" in line)
    assert "| 10 random cases: 10 vacuous |" in row
    counted = [
        sum(int(number) for number in re.findall(r"(\d+) (?:hold|vac|inc|vio)", cell))
        for cell in re.findall(r"random cases: ([^|]*)\|", page)
    ]
    assert counted == [10] * sum(c.counterexample is None for c in CLAIMS.values())


def test_the_numbers_of_the_summary_are_those_of_the_claims(page, summary):
    *sizes, follow, ours = (int(n) for n in re.findall(r"\d+", counts()))
    assert sizes[0] == sum(sizes[1:]) == len(CLAIMS) - ours
    assert follow == sum(bool(claim.follows) for claim in CLAIMS.values())
    assert counts() in page
    assert counts() in summary
    named = re.search(r"most surprising errors: (.*)\.\n", page)[1]
    assert set(re.findall(r"`([\w-]+)`", named)) == set(SURPRISING) <= set(CLAIMS)
