#!/usr/bin/env python3
"""The benchmarks page of the site, and its figures, from what bench_peers.py has measured.

usage: docs/_ext/benchmarks_page.py        write docs/benchmarks.md and its figures
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from textwrap import fill
from types import SimpleNamespace

DOCS = Path(__file__).resolve().parents[1]
NUMBERS, OURS = "benchmarks.json", "alignlearn"
FIGURES = {
    "m": (("svc", "ridge", "canonical"), "growth with the number of samples m"),
    "p": (("kernels", "layers"), "growth with the number p of kernels, or of layers"),
    "q": (("targets",), "growth with the number of targets q"),
}

AXES = {"m": "samples $m$", "p": "kernels or layers $p$", "q": "targets $q$"}

GROUPS = {
    "Tables": ("search",),
    "Support vector machines and ridge regression": ("svc", "linear", "ridge", "penalty"),
    "Many targets and many kernels": ("targets", "kernels"),
    "Dependence and representations": ("independence", "canonical", "layers"),
    "Products with kernel matrices": ("products",),
}

# Reasons why another tool can be faster, printed beside its rows.
WHY = {
    ("search", "RidgeCV, linear"): "A linear model in closed form: only the penalty is chosen.",
    ("search", "HistGradientBoosting"): "Default settings: nothing is searched.",
    ("search", "GaussianProcess"): "One width, by maximum likelihood: there are no folds.",
    ("svc", "SVC (LIBSVM)"): "alignlearn computes the alignment in one pass before it trains.",
    ("penalty", "RidgeCV, linear"): "It decomposes only the ten columns of X.",
    ("targets", "RidgeCV(alpha_per_target=True)"): "It decomposes only the columns of X.",
    ("kernels", "AverageMKL"): "Its weights are equal: nothing is learned.",
    ("kernels", "EasyMKL"): "It uses the kernels one by one; alignlearn uses all pairs of kernels.",
    ("canonical", "KCCA of cca-zoo"): "Other regularization, and no error bound.",
}


def seconds(value):
    """With three figures."""
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def score(value):
    if value is None or math.isnan(value):
        return ""
    return f"{value:.1e}" if 0.0 < abs(value) < 1e-3 else f"{value:.3f}"


def megabytes(value):
    return "" if value is None else f"{value:.0f}" if value >= 1.0 else "< 1"


def ratio(theirs, ours):
    """How many times as long a side takes as alignlearn; in bold if alignlearn is slower."""
    share = theirs / ours
    text = f"{share:.2g}" if share < 100 else f"{share:.0f}"
    return f"**{text}**" if share < 1.0 else text


def table(head, rows):
    """Lines of a table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows), ""]


def groups(records):
    """Records by size, in their order."""
    found = {}
    for record in records:
        found.setdefault(record["size"], []).append(record)
    return found


def reference(records, record):
    """The record of alignlearn that another one is compared with: the last above it, or None."""
    ours = [r for r in records[: records.index(record)] if r["package"] == OURS]
    return ours[-1] if ours and "seconds" in ours[-1] else None


def rows_of(found):
    """The description of each row: title, axis, score and note, by its name."""
    return {name: SimpleNamespace(**about) for name, about in found["about"].items()}


def size_text(row, size):
    return size if row.axis == "data" else f"{row.axis} = {size:,}"


def main_rows(found):
    """One line for each side of others at the largest size (all data sets of a search)."""
    rows = rows_of(found)
    for name, records in found["rows"].items():
        row, by_size = rows[name], groups(records)
        if not by_size:
            continue
        sizes = list(by_size) if row.axis == "data" else [list(by_size)[-1]]
        for size in sizes:
            for record in by_size[size]:
                ours = reference(by_size[size], record)
                if record["package"] != OURS and "seconds" in record and ours is not None:
                    yield name, size, ours, record


def sentences(found, is_ahead, figure):
    """A line for each row and side that is ahead of alignlearn, with the sizes."""
    lines, rows = {}, rows_of(found)
    for name, size, ours, record in main_rows(found):
        if is_ahead(rows[name], ours, record):
            text = f"{size_text(rows[name], size)} {figure(ours, record)}"
            lines.setdefault((name, record["side"]), []).append(text)
    return lines


def on(places):
    """The places with their preposition: "on" data sets, "at" sizes."""
    return f"{'at' if ' = ' in places[0].partition('(')[0] else 'on'} {', '.join(places)}"


def slower(found):
    """Rows in which another tool is faster at the largest size, and the reasons."""

    def figure(ours, record):
        return (
            f"({ours['seconds'] / record['seconds']:.2g} times; score {score(record['score'])}, "
            f"alignlearn {score(ours['score'])})"
        )

    lines = sentences(found, lambda row, ours, record: record["seconds"] < ours["seconds"], figure)
    for (name, side), places in lines.items():
        why = WHY.get((name, side), "")
        title = found["about"][name]["title"]
        yield f"- {title}: {side} is faster {on(places)}. {why}".rstrip()


def less_accurate(found):
    """Rows in which the score of another tool is higher by 0.005 or more."""
    scores = ("accuracy", "R^2", "accuracy, or R^2", "correlation of new samples")

    def is_ahead(row, ours, record):
        return row.score in scores and record["score"] - ours["score"] >= 0.005

    def figure(ours, record):
        return f"({score(record['score'])}, alignlearn {score(ours['score'])})"

    for (name, side), places in sentences(found, is_ahead, figure).items():
        yield f"- {found['about'][name]['title']}: {side} {on(places)}."


def row_section(row, records):
    """A heading, a table, and the packages that were not measured."""
    lines = [f"### {row.title}", ""]
    if row.note:
        lines += [row.note.replace("R^2", "R²"), ""]
    if not records:
        return [*lines, "Not measured: the data were not available.", ""]
    head = ["size", "tool", "time, s", "ratio", "memory, MB", row.score.replace("^2", "²")]
    rows, absent = [], {}
    for size, group in groups(records).items():
        label = size_text(row, size)
        for record in group:
            cells = (label, record["side"])
            if "reason" in record:
                absent[record["side"]] = record["reason"]
                rows.append((*cells, "none", "", "", ""))
            else:
                ours = None if record["package"] == OURS else reference(group, record)
                share = ratio(record["seconds"], ours["seconds"]) if ours else "1"
                figures = megabytes(record.get("memory")), score(record["score"])
                rows.append((*cells, seconds(record["seconds"]), share, *figures))
            label = ""
    lines += table(head, rows)
    for side, why in absent.items():
        lines += [f"{side}: {why}", ""]
    return lines


def summary(found):
    """The main table."""
    rows, before, about = [], None, rows_of(found)
    for name, size, ours, record in main_rows(found):
        work = f"{about[name].title}, {size_text(about[name], size)}"
        rows.append(
            (
                "" if work == before else work,
                record["side"],
                seconds(record["seconds"]),
                seconds(ours["seconds"]),
                ratio(record["seconds"], ours["seconds"]),
                score(record["score"]),
                score(ours["score"]),
            )
        )
        before = work
    head = ["task", "tool", "time, s", "alignlearn, s", "ratio", "score", "alignlearn score"]
    return table(head, rows)


def versions(found):
    """A table of the installed versions, and the machine."""
    known = found["versions"]
    rows = [(name, value or "not installed") for name, value in known.items()]
    load, again = found["load"], found.get("again")
    titles = "; ".join(found["about"][name]["title"] for name in again or ())
    later = f" Measured again in a later run: {titles}." if again else ""
    return [
        f"{found['processor']}, Python {found['python']}, one thread, {found['minutes']} minutes "
        f"for the whole run; load average {load} at its start.{later}",
        "",
        *table(["package", "version"], rows),
    ]


def figure_lines(found, docs):
    """The figures, with alternative text."""
    lines = []
    for axis, (names, title) in FIGURES.items():
        path = docs / "_static" / f"benchmarks-{axis}.svg"
        if path.is_file():
            titles = [found["about"][n]["title"] for n in names if found["rows"].get(n)]
            what = "; ".join(titles)
            alt = f"Seconds against {axis}, both on logarithmic axes, a line for each tool. {what}."
            # Figures of several panels scroll on a phone, which an image with a width does.
            image = [f"![{alt}](_static/{path.name})"]
            if len(titles) > 1:
                width = min(100, 41 * len(titles))
                image = [
                    f"```{{image}} _static/{path.name}", f":alt: {alt}", f":width: {width}%", "```"
                ]  # fmt: skip
            lines += [
                *image,
                "",
                f"*{title[0].upper()}{title[1:]}; solid lines are alignlearn.*",
                "",
            ]
    return lines


def page(found, docs):
    """The text of docs/benchmarks.md."""
    rest = ', except the rows named under "Versions",' if found.get("again") else ""
    behind, worse = list(slower(found)), list(less_accurate(found))
    lines = [
        "# Benchmarks",
        "",
        "Time, memory and accuracy compared with other packages.",
        "",
        *figure_lines(found, docs),
        f"All numbers{rest} were measured in one run of `scripts/bench/peers` on one thread, in an "
        "environment with these packages. The tools alternate in changing order. Times are CPU "
        "seconds, the minimum over the repetitions, after a small run that compiles. Memory is the "
        "increase of the peak memory of a separate process. The library needs none of these "
        "packages. LIBSVM and LIBLINEAR are those inside scikit-learn.",
        "",
        "`docs/_ext/benchmarks_page.py` generates this page from [these "
        "numbers](_data/benchmarks.json). Times differ between machines; ratios differ less. "
        "Scores of one or three splits vary by chance, so differences of 0.01 are not meaningful.",
        "",
        "## Summary",
        "",
        "Ratios are the time of the tool divided by that of alignlearn; they are **bold** where "
        "alignlearn is slower. Rows are at the largest measured size.",
        "",
        *summary(found),
        "## Where other tools are better",
        "",
        "In time, at the largest sizes:",
        "",
        *(behind or ["- nowhere."]),
        "",
        "In score, by 0.005 or more:",
        "",
        *(worse or ["- nowhere."]),
        "",
    ]
    for title, names in GROUPS.items():
        rows = [name for name in names if name in found["rows"]]
        lines += [f"## {title}", ""] if rows else []
        for name in rows:
            lines += row_section(rows_of(found)[name], found["rows"][name])
    lines += ["## Versions", "", *versions(found)]
    return "\n".join(lines).rstrip() + "\n"


def lines_of(records):
    """{side: (sizes, seconds)} of the sides with times at two sizes or more."""
    found = {}
    for record in records:
        if "seconds" in record:
            sizes, spent = found.setdefault(record["side"], ([], []))
            sizes.append(record["size"])
            spent.append(record["seconds"])
    return {side: points for side, points in found.items() if len(points[0]) > 1}


def draw(found, axis, path):
    """Seconds against the size, a panel for each row; lines of alignlearn are solid."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "benchmarks"
    from matplotlib import pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter

    names = [n for n in FIGURES[axis][0] if lines_of(found["rows"].get(n, []))]
    if not names:
        return False
    width = 4.0 * len(names) + (1.0 if len(names) == 1 else 0.0)
    figure, axes = plt.subplots(
        1, len(names), figsize=(width, 4.4), squeeze=False, layout="constrained"
    )
    for ax, name in zip(axes[0], names):
        ours = {r["side"] for r in found["rows"][name] if r["package"] == OURS}
        for k, (side, (sizes, spent)) in enumerate(lines_of(found["rows"][name]).items()):
            ax.plot(
                sizes,
                spent,
                "-" if side in ours else "--",
                marker="osD^vPX"[k % 7],
                color=f"C{k}",
                label=side,
            )
        ax.set(xscale="log", yscale="log", xlabel=AXES[axis])
        ax.set_xticks(sorted({record["size"] for record in found["rows"][name]}))
        low, high = ax.get_ylim()
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 50 * low else (1.0,)))
        for one in (ax.xaxis, ax.yaxis):
            one.set_major_formatter("{x:g}")
            one.set_minor_formatter(NullFormatter())
        title = fill(found["about"][name]["title"], 42, break_on_hyphens=False)
        ax.set_title(title, fontsize=10)
        ax.legend(fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.18), frameon=False)
        ax.grid(alpha=0.3)
    axes[0, 0].set_ylabel("time on one thread (s)")
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    return True


def write(docs):
    """Draw the figures and write the page; return its text."""
    docs = Path(docs)
    numbers = docs / "_data" / NUMBERS
    if not numbers.is_file():
        raise SystemExit(f"no {numbers}: measure first, with --json {numbers}")
    found = json.loads(numbers.read_text())
    for axis in FIGURES:
        path = docs / "_static" / f"benchmarks-{axis}.svg"
        if not draw(found, axis, path):
            path.unlink(missing_ok=True)
    text = page(found, docs)
    (docs / "benchmarks.md").write_text(text)
    return text


if __name__ == "__main__":
    write(DOCS)
