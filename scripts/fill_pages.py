#!/usr/bin/env python3
"""Write the measured numbers of the README and the site from the files in docs/_data.

A page marks the place of a table or a paragraph with a pair of comments:

    <!-- numbers: uses -->
    ...
    <!-- /numbers -->

Everything between them is replaced by the paragraph of that name in paragraphs.txt, by the table of
that name in `LAYOUTS`, or by that in tables.json. A single number in a sentence stands between

    <!-- n: text.compilation.first -->11<!-- /n -->

where the name is a file of docs/_data, a key and an entry. Run this script after a benchmark has
new numbers; a test compares the pages with its output.

usage: scripts/fill_pages.py [--check]
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from statistics import mean, median
from textwrap import fill

from alignlearn.theory.figures.table import counts

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "_data"
_BLOCK = re.compile(r"(<!-- numbers: ([\w-]+) -->\n).*?(<!-- /numbers -->)", re.DOTALL)
_NUMBER = re.compile(r"(<!-- n: ([\w.-]+) -->).*?(<!-- /n -->)", re.DOTALL)
# Columns of a row that `accuracy.py --write` keeps.
SCORE, GAIN, ERROR, CORRECTED, PLAIN, SECONDS, RATIO = range(7)
_SHORT = {
    "heart_statlog": "heart",
    "ijcnn1_train": "ijcnn1",
    "breast_cancer_wisconsin": "wisconsin",
    "gefcom2012_weeks": "gefcom",
}
_REGRESSION = {"gefcom2012_weeks", "autompg", "kin8nm"}


def read(name):
    """The content of a file of docs/_data."""
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def _table(head, rows):
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


class Range(list):
    """The minimum and the maximum of several measurements, or a single one."""

    def __format__(self, form):
        return " to ".join(format(value, form) for value in self)


def _ranges(content):
    """The content of a file with its lists as ranges, and empty text for null."""
    if isinstance(content, dict):
        return {key: _ranges(value) for key, value in content.items()}
    return Range(content) if isinstance(content, list) else "" if content is None else content


def searches(file="400", half=""):
    """What tables and paragraphs name of `accuracy-400.json` or of another file, by data set."""
    found = {}
    for name, row in read(f"accuracy-{file}.json").items():
        if half not in ("", row["half"]):
            continue
        grid, auto = row.get("grid"), row["auto"]
        short = _SHORT.get(name, name)
        found[short] = {
            "data": short + (" (R²)" if name in _REGRESSION else ""),
            "samples": row["samples"],
            "half": row.get("half"),
            "gain": f"{100 * auto[GAIN]:+.1f} ± {100 * auto[ERROR]:.1f}",
            "points": 100 * auto[GAIN],
            "error": 100 * auto[ERROR],
            "t": auto[CORRECTED],
            "plain_t": auto[PLAIN],
            "grid_s": grid and grid[SECONDS],
            "auto_s": auto[SECONDS],
            "ratio": auto[RATIO],
            **{
                kind: row[kind][SCORE]
                for kind in ("grid", "halving", "alignf", "auto", "boosting") & row.keys()
            },
        }
    return found


def gains(rows):
    """The facts about the gains of some rows of `searches` that sentences use."""
    points, ratios = ([row[key] for row in rows] for key in ("points", "ratio"))
    return {
        "sets": len(rows),
        "gain": mean(points),
        "median": median(points),
        "wins": sum(gain > 0.0 for gain in points),
        "clear": sum(row["points"] > 2 * row["error"] for row in rows),
        "worse": sum(row["points"] < -2 * row["error"] for row in rows) or "none",
        "ratio": f"{min(ratios):.1f} to {max(ratios):.1f}",
        "least": min(ratios),
        "most": max(ratios),
    }


def accuracy_facts():
    """The facts about `accuracy-400.json`, and how the default compares with alignf."""
    rows = searches(half="confirm").values()
    losses = [row["alignf"] - row["auto"] for row in rows]
    selected = sum(loss <= 0.0 for loss in losses)
    return {**gains(rows), "selected": selected, "selection_loss": max(losses)}


def boosting_facts():
    """The facts about `accuracy-tuned.json`."""
    content, rows = read("accuracy-tuned.json"), searches("tuned")

    def listed(sign, t="t"):
        some = {name: row for name, row in rows.items() if sign * row[t] > 2.0}
        named = ", ".join(f"{name} {row['points']:+.1f}" for name, row in some.items())
        return f"{len(some)} data set{'s' * (len(some) > 1)} ({named})" if some else "none"

    return {
        **gains(rows.values()),
        "splits": min(row["splits"] for row in content.values()),
        "splice_loss": -rows["splice"]["points"],
        "better": listed(1),
        "worse_sets": listed(-1),
        "doubtful": listed(-1, "plain_t"),
        "untuned": -100 * mean(row["boosting"][GAIN] for row in content.values()),
    }


def peer(part, size, side):
    """A row of `benchmarks.json`."""
    rows = read("benchmarks.json")["rows"][part]
    (found,) = [row for row in rows if (row["size"], row["side"]) == (size, side)]
    return found


def values():
    """The names that the paragraphs refer to."""
    confirm = searches(half="confirm")
    missing = read("missing-tables.json")["rows"].values()
    linear = peer("search", "diabetes", "RidgeCV, linear")
    auto = peer("search", "diabetes", 'MKLRegressorCV(weighting="auto")')
    return {
        "claims": counts(),
        "text": read("text.json"),
        "parts": _ranges(read("parts.json")),
        "facts": accuracy_facts(),
        "fix": gains(searches(half="fix").values()),
        "boosting": boosting_facts(),
        "missing": {"gain": 100 * mean(row["drop"][0] for row in missing), "sets": len(missing)},
        "targets": peer("targets", 100, "MKLRegressorCV(per_target=True)"),
        "random": peer("targets", 100, "MultipleKernelRidgeCV, 100 candidates"),
        "hsic": peer("independence", 400, "hsic_test, 999 permutations"),
        "hyppo": peer("independence", 400, "Hsic of hyppo, 999 permutations"),
        "linear": linear,
        "auto": auto,
        "linear_ratio": auto["seconds"] / linear["seconds"],
        **{name: row for name, row in confirm.items() if name in ("splice", "magic", "gefcom")},
    }


def paragraphs():
    """{name: text} of paragraphs.txt."""
    parts = re.split(r"(?m)^# ([\w-]+)\n", (DATA / "paragraphs.txt").read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2])}


def paragraph(text):
    """A paragraph with its numbers, in lines of at most 118 characters; tables unchanged."""
    lines = text.format_map(values()).splitlines()
    hang = {line: "  " if line.startswith("- ") else "" for line in lines}
    wide = (
        line if line[0] == "|" else fill(line, 118, subsequent_indent=hang[line]) for line in lines
    )
    return "\n".join(wide)


# Tables


def missing(key):
    """Missing tables: two of six for 30% of the samples, drawn for each ("rows") or not."""
    for name, row in read("missing-tables.json")[key].items():
        gains = {k: "{:+.3f} ± {:.3f}".format(*row[k]) for k in ("means", "drop", "pairs")}
        yield {**row, **gains, "data": name.replace("R^2", "R²")}


def parts():
    """Rows of parts.json, with the scores of both sides where they have some."""
    for key, row in _ranges(read("parts.json")).items():
        ours, other = row.get("scores", (None, None))
        scores = f": accuracy {ours:.3f} against {other:.3f}" if ours else ""
        work = row["work"].format_map(row) + scores
        yield {**row, "key": key, "ours": ours, "theirs": other, "scored": work}


def labeled_parts(labels):
    """Rows of parts.json of some keys, with their labels."""
    rows = {row["key"]: row for row in parts()}
    return [{**rows[key], "label": label} for key, label in labels.items()]


_SVM = {
    f"svm-{m}": f"{m:,}" if m >= 10_000 else f"{m}" for m in (2000, 4000, 10_000, 20_000, 49_990)
}
_TASKS = {
    "tasks-views": "views: different columns matter in different tasks",
    "tasks-ladder": "ladder: one width has to be selected",
}


def sizes():
    """Score and processor seconds of the default and its rivals, by size and data set."""
    records = read("sizes.json")
    kinds = ("default", "lightgbm", "hist", "grid", "xrfm")
    for name, m in dict.fromkeys((r["set"], r["m"]) for r in records):
        same = [r for r in records if (r["set"], r["m"]) == (name, m)]
        some = {kind: [r for r in same if r["kind"] == kind] for kind in kinds}
        cells = {
            kind: f"{mean(r['score'] for r in found):.4f}, {mean(r['core'] for r in found):.2g}"
            for kind, found in some.items()
            if found
        }
        if {"default", "lightgbm", "hist"} <= cells.keys():
            n = len(some["default"])
            yield {"data": name, "m": m, "splits": n, **dict.fromkeys(kinds, ""), **cells}


def powers():
    """The power of the prequential test: some rows of the table of all tests."""
    rows = read("tables.json")["difference-power"]["rows"]
    names = ("samples", "shares", "sign", "betting", "fold")
    return (dict(zip(names, rows[k])) for k in (0, 1, 2, 6))


_TIMES = {"alignlearn, s": "{alignlearn_s}", "ratio": "{ratio}"}
_MISSING = {
    "data": "{data}",
    "half": "{half}",
    "score": "{score:.3f}",
    "gain over imputed means": "{means}",
    "gain over dropping samples": "{drop}",
    "gain over averaging available kernels": "{pairs}",
}
# Records of a table, and the format of each column by its head.
LAYOUTS = {
    "search": (
        lambda: searches(half="confirm").values(),
        {
            "data, training samples": "{data}, {samples}",
            **{name: f"{{{name}:.3f}}" for name in ("grid", "halving", "alignf")},
            "default": "{auto:.3f}",
            "gain, points": "{gain}",
            "grid, s": "{grid_s:.1f}",
            "default, s": "{auto_s:.2f}",
            "ratio of times": "{ratio:.0f}",
        },
    ),
    "search-2000": (
        lambda: searches("2000").values(),
        {
            "data": "{data}",
            "half": "{half}",
            "grid": "{grid:.3f}",
            "default": "{auto:.3f}",
            "gain, points": "{gain}",
            "t": "{t:+.1f}",
            "grid, s": "{grid_s:.1f}",
            "default, s": "{auto_s:.1f}",
            "ratio of times": "{ratio:.1f}",
        },
    ),
    "missing-rows": (lambda: missing("rows"), _MISSING),
    "missing-columns": (lambda: missing("tables"), _MISSING),
    "parts": (
        parts,
        {"work": "{scored}", "baseline": "{baseline}", "baseline, s": "{baseline_s}", **_TIMES},
    ),
    "svm-sizes": (
        lambda: labeled_parts(_SVM),
        {"samples": "{label}", "LIBSVM, s": "{baseline_s}", **_TIMES},
    ),
    "tasks": (
        lambda: labeled_parts(_TASKS),
        {
            "data": "{label}",
            "grid search per task": "{theirs:.3f} ({baseline_s})",
            "alignlearn": "{ours:.3f} ({alignlearn_s})",
        },
    ),
    "sizes": (
        sizes,
        {
            "data": "{data}",
            "training samples": "{m:,}",
            "splits": "{splits}",
            "default": "{default}",
            "LightGBM": "{lightgbm}",
            "HistGradientBoosting": "{hist}",
            "grid search": "{grid}",
            "xRFM": "{xrfm}",
        },
    ),
    "sample-size": (
        powers,
        {
            "samples": "{samples}",
            "plus, minus": "{shares}",
            "prequential": "{sign}",
            "one held-out fold of five": "{fold}",
        },
    ),
}


def block(name):
    """The text of a block: a paragraph, or a table by its layout or from tables.json."""
    if name in paragraphs():
        return paragraph(paragraphs()[name])
    if name in LAYOUTS:
        records, columns = LAYOUTS[name][0](), LAYOUTS[name][1]
        return _table(columns, [[c.format(**r) for c in columns.values()] for r in records])
    table = read("tables.json")[name]
    return _table(table["head"], table["rows"])


def number(name):
    """The number, or range, of a name such as "text.compilation.first"."""
    file, key, entry = name.split(".")
    return f"{_ranges(read(f'{file}.json')[key][entry])}"


def filled(text):
    """The text with its blocks and numbers filled in anew."""
    text = _BLOCK.sub(lambda found: f"{found[1]}{block(found[2])}\n{found[3]}", text)
    return _NUMBER.sub(lambda found: f"{found[1]}{number(found[2])}{found[3]}", text)


def pages():
    """The files that may have blocks."""
    return [ROOT / "README.md", ROOT / "paper/paper.md", *sorted((ROOT / "docs").rglob("*.md"))]


def main(argv=None):
    """Fill the pages, or with --check name those that are out of date; return the exit code."""
    check = "--check" in (sys.argv[1:] if argv is None else argv)
    stale = []
    for path in pages():
        text = path.read_text(encoding="utf-8")
        if (new := filled(text)) != text:
            stale.append(path.relative_to(ROOT).as_posix())
            if not check:
                path.write_text(new, encoding="utf-8")
    for name in stale:
        print(f"{name}: {'out of date' if check else 'written'}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
