"""The README's code runs, its links work, and the output of commands on the pages is current."""

import re
from pathlib import Path

import pytest

from alignlearn.cli import main

README = Path(__file__).resolve().parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8") if README.is_file() else ""

pytestmark = pytest.mark.skipif(not TEXT, reason="needs the source tree")


def shown_after(start, text=TEXT):
    """The indented block that follows a piece of text."""
    block = text.partition(start)[2].lstrip("\n")
    lines = []
    for line in block.splitlines():
        if line and not line.startswith("    "):
            break
        lines.append(line.removeprefix("    "))
    return "\n".join(lines).strip()


def pages_that_show(command):
    """The pages with output of commands, as parameters of a test."""
    found = [README, *sorted((README.parent / "docs").rglob("*.md"))] if TEXT else []
    found = [path for path in found if f"`{command}`:\n" in path.read_text(encoding="utf-8")]
    return pytest.mark.parametrize("page", found, ids=lambda page: page.name)


def numbers(text):
    return [float(n) for n in re.findall(r"(?<![\w.])-?\d+\.\d+(?![\d.])", text)]


def test_the_first_code_prints_what_is_shown(capsys):
    (code,) = re.finditer(r"```python\n(.*?)```\n", TEXT, flags=re.DOTALL)
    lines = [line for line in code[1].splitlines() if line and "import" not in line]
    assert len(lines) <= 6
    exec(compile(code[1], "README.md", "exec"), {})
    printed, shown = capsys.readouterr().out, lines[-1].partition("#")[2]
    assert numbers(shown)
    # Another processor may round a borderline prediction differently.
    assert numbers(printed) == pytest.approx(numbers(shown), abs=0.02)


def test_the_files_that_it_names_are_there():
    links = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    links += re.findall(r"\bscripts/\w+", TEXT)
    assert [name for name in links if not (README.parent / name).exists()] == []


@pages_that_show("alignlearn compare breast_cancer")
def test_the_comparison_shown_is_the_one_printed(page, capsys):
    assert main(["compare", "breast_cancer", "--no-figure"]) == 0
    printed = capsys.readouterr().out
    shown = shown_after("`alignlearn compare breast_cancer`:\n", page.read_text(encoding="utf-8"))
    tables = [[line for line in text.splitlines() if " +- 0" in line] for text in (printed, shown)]
    for table in tables:
        names = [line.split()[0] for line in table]
        assert names == ["best-single", "uniform", "align", "alignf"]
    for ours, theirs in zip(*tables):
        # All but the p-value: error, alignment, alignment on the test fold.
        assert numbers(ours)[:6] == pytest.approx(numbers(theirs)[:6], abs=0.006)


@pages_that_show("alignlearn bounds breast_cancer")
def test_the_bounds_shown_are_those_printed(page, capsys):
    assert main(["bounds", "breast_cancer", "--no-figure"]) == 0
    printed = capsys.readouterr().out
    shown = shown_after("`alignlearn bounds breast_cancer`:\n", page.read_text(encoding="utf-8"))
    words = [re.sub(r"[\d.,]+", "#", text).split() for text in (printed, shown)]
    assert words[0] == words[1]
    assert numbers(printed) == pytest.approx(numbers(shown), abs=0.006)
