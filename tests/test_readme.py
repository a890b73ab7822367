"""The README's code runs, and what it shows is what the commands print."""

import re
from pathlib import Path

import pytest

from alignlearn.cli import main

README = Path(__file__).resolve().parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8") if README.is_file() else ""

pytestmark = pytest.mark.skipif(not TEXT, reason="needs the source tree")


def shown_after(start):
    """The indented block that follows a piece of text."""
    block = TEXT.partition(start)[2].lstrip("\n")
    lines = []
    for line in block.splitlines():
        if line and not line.startswith("    "):
            break
        lines.append(line.removeprefix("    "))
    return "\n".join(lines).strip()


def numbers(text):
    return [float(n) for n in re.findall(r"(?<![\w.])-?\d+\.\d+(?![\d.])", text)]


def printed_and_shown(n, capsys):
    """What the n-th piece of code prints, and what the README says that it prints."""
    code = list(re.finditer(r"```python\n(.*?)```\n", TEXT, flags=re.DOTALL))[n]
    exec(compile(code[1], "README.md", "exec"), {})
    return capsys.readouterr().out, shown_after(code[0])


def test_the_ten_lines_print_what_is_shown(capsys):
    printed, shown = printed_and_shown(0, capsys)
    assert [line.split("  ")[0] for line in printed.splitlines()[:6]] == [
        line.split("  ")[0] for line in shown.splitlines()[:6]
    ]
    # Another machine may round a borderline prediction or a weight differently.
    assert numbers(printed) == pytest.approx(numbers(shown), abs=0.02)


def test_the_learned_similarity_ranks_pairs_as_is_shown(capsys):
    printed, shown = printed_and_shown(1, capsys)
    assert numbers(printed) == pytest.approx(numbers(shown), abs=0.005)


def test_the_interval_shown_is_the_one_printed(capsys):
    printed, shown = printed_and_shown(2, capsys)
    assert printed.splitlines()[1] == shown.splitlines()[1]
    assert numbers(printed) == pytest.approx(numbers(shown), abs=0.002)


def test_the_comparison_shown_is_the_one_printed(capsys):
    assert main(["compare", "breast_cancer", "--no-figure"]) == 0
    printed = capsys.readouterr().out
    shown = shown_after("`alignlearn compare breast_cancer`:\n")
    tables = [[line for line in text.splitlines() if " +- 0" in line] for text in (printed, shown)]
    for table in tables:
        names = [line.split()[0] for line in table]
        assert names == ["best-single", "uniform", "align", "alignf"]
    for ours, theirs in zip(*tables):
        # All but the p-value: error, alignment, alignment on the test fold.
        assert numbers(ours)[:6] == pytest.approx(numbers(theirs)[:6], abs=0.006)


def test_the_bounds_shown_are_those_printed(capsys):
    assert main(["bounds", "breast_cancer", "--no-figure"]) == 0
    printed = capsys.readouterr().out
    shown = shown_after("`alignlearn bounds breast_cancer`:\n")
    words = [re.sub(r"[\d.,]+", "#", text).split() for text in (printed, shown)]
    assert words[0] == words[1]
    assert numbers(printed) == pytest.approx(numbers(shown), abs=0.006)
