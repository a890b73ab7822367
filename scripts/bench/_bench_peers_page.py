"""The benchmarks page of the site, and its figures, from what bench_peers.py has measured."""

from __future__ import annotations

import json
import math
from pathlib import Path

from _bench_peers_rows import OURS, ROWS

NUMBERS = "benchmarks.json"  # in _static of the folder of pages
FIGURES = {
    "m": (("svc", "ridge", "canonical"), "growth with the number of samples m"),
    "p": (("kernels", "layers"), "growth with the number p of kernels, or of layers"),
    "q": (("targets",), "growth with the number of targets q"),
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
    """How many times as long a side takes as ours; in bold where we are slower."""
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
    """The record of ours that one of others is compared with: the last above it, or None."""
    ours = [r for r in records[: records.index(record)] if r["package"] == OURS]
    return ours[-1] if ours and "seconds" in ours[-1] else None


def size_text(row, size):
    return size if row.axis == "data" else f"{row.axis} = {size:,}"


def main_rows(found):
    """One line for each side of others at the largest size (all data sets of a search)."""
    for name, records in found["rows"].items():
        row, by_size = ROWS[name], groups(records)
        if not by_size:
            continue
        sizes = list(by_size) if row.axis == "data" else [list(by_size)[-1]]
        for size in sizes:
            for record in by_size[size]:
                ours = reference(by_size[size], record)
                if record["package"] != OURS and "seconds" in record and ours is not None:
                    yield name, size, ours, record


def slower(found):
    """Sentences: where a side of others is ahead in time, at the largest size."""
    for name, size, ours, record in main_rows(found):
        if record["seconds"] < ours["seconds"]:
            row = ROWS[name]
            times = ours["seconds"] / record["seconds"]
            yield (
                f"- {row.title}, {size_text(row, size)}: {record['side']} is {times:.2g} times "
                f"as fast as {ours['side']} (score {score(record['score'])}, ours "
                f"{score(ours['score'])})."
            )


def less_accurate(found):
    """Sentences: where the score of others is ahead by .005 or more, in rows that have one."""
    for name, size, ours, record in main_rows(found):
        row = ROWS[name]
        if row.score in ("accuracy", "R^2", "accuracy, or R^2", "correlation of new samples"):
            gain = record["score"] - ours["score"]
            if gain >= 0.005:
                yield (
                    f"- {row.title}, {size_text(row, size)}: {record['side']} has "
                    f"{score(record['score'])}, {ours['side']} {score(ours['score'])}."
                )


def row_section(name, records):
    """A heading, a table, the peers that took no part."""
    row = ROWS[name]
    lines = [f"### {row.title}", ""]
    if row.note:
        lines += [row.note, ""]
    head = ["size", "tool", "seconds", "times ours", "memory, MB", row.score.replace("^2", "²")]
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
                share = ratio(record["seconds"], ours["seconds"]) if ours else "ours"
                figures = megabytes(record.get("memory")), score(record["score"])
                rows.append((*cells, seconds(record["seconds"]), share, *figures))
            label = ""
    lines += table(head, rows)
    for side, why in absent.items():
        lines += [f"{side}: {why}", ""]
    return lines


def summary(found):
    """The main table."""
    rows = []
    for name, size, ours, record in main_rows(found):
        row = ROWS[name]
        rows.append(
            (
                f"{row.title}, {size_text(row, size)}",
                record["side"],
                seconds(record["seconds"]),
                seconds(ours["seconds"]),
                ratio(record["seconds"], ours["seconds"]),
                score(record["score"]),
                score(ours["score"]),
            )
        )
    return table(["work", "other", "its seconds", "ours", "times ours", "its score", "ours"], rows)


def versions(found):
    """A table of what was installed, and the machine."""
    known = found["versions"]
    rows = [(name, value or "not installed") for name, value in known.items()]
    load = found["load"]
    return [
        f"{found['processor']}, Python {found['python']}, one thread, {found['minutes']} minutes "
        f"for the whole run; one-minute load {load} at its start.",
        "",
        *table(["package", "version"], rows),
    ]


def figure_lines(docs):
    """The figures that were drawn, with a text for those who do not see them."""
    lines = []
    for axis, (names, title) in FIGURES.items():
        path = docs / "_static" / f"benchmarks-{axis}.svg"
        if path.is_file():
            what = "; ".join(ROWS[name].title.lower() for name in names)
            alt = f"Seconds against {axis}, both on logarithmic axes, a line for each tool: {what}."
            lines += [f"![{alt}](_static/{path.name})", "", f"*{title.capitalize()}.*", ""]
    return lines


def page(found, docs):
    """The text of docs/benchmarks.md."""
    behind, worse = list(slower(found)), list(less_accurate(found))
    lines = [
        "# Benchmarks",
        "",
        "This page shows how long the library takes, how much memory, and how accurate it is, "
        "beside the packages you may use instead.",
        "",
        "All of it was measured in one run of `scripts/bench/peers`, which makes an environment "
        "with these packages and uses one thread. Sides take turns in changing order; seconds are "
        "those of the processor, the least of the repeats, after a small run that compiles. "
        "Memory is what the work adds to the largest size of a process of its own. None of these "
        "packages is needed by the library. LIBSVM and LIBLINEAR are those inside scikit-learn.",
        "",
        "The page is made from [these numbers](_static/benchmarks.json) by "
        "`scripts/bench/bench_peers.py --page docs`. Your machine will give other seconds; ratios "
        "change less. Scores of one or three splits differ by chance: do not read differences of "
        "a percent.",
        "",
        "## At a glance",
        "",
        '"Times ours" is the seconds of the other divided by ours; **bold** where we are slower. '
        "Rows are at the largest size that was measured.",
        "",
        *summary(found),
        "## Where others are ahead",
        "",
        *(behind or ["Nowhere in time at the largest sizes."]),
        "",
        "In score, by half a percent or more:",
        "",
        *(worse or ["- nowhere."]),
        "",
        "## Growth",
        "",
        *figure_lines(docs),
        "## All rows",
        "",
    ]
    for name, records in found["rows"].items():
        lines += row_section(name, records)
    lines += ["## Versions", "", *versions(found)]
    return "\n".join(lines).rstrip() + "\n"


def lines_of(records):
    """{side: (sizes, seconds)} of the sides that have figures at two sizes or more."""
    found = {}
    for record in records:
        if "seconds" in record:
            sizes, spent = found.setdefault(record["side"], ([], []))
            sizes.append(record["size"])
            spent.append(record["seconds"])
    return {side: points for side, points in found.items() if len(points[0]) > 1}


def draw(found, axis, path):
    """Seconds against the size, a panel for each row; ours are full lines."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "benchmarks"
    from matplotlib import pyplot as plt
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    names = [n for n in FIGURES[axis][0] if lines_of(found["rows"].get(n, []))]
    if not names:
        return False
    width = 4.0 * len(names) + (1.0 if len(names) == 1 else 0.0)
    figure, axes = plt.subplots(1, len(names), figsize=(width, 4.2), squeeze=False)
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
        ax.set(xscale="log", yscale="log", xlabel=axis, ylabel="seconds of one thread")
        ax.set_xticks(sorted({record["size"] for record in found["rows"][name]}))
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_title(ROWS[name].title, fontsize=9, wrap=True)
        ax.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.18), frameon=False)
        ax.grid(alpha=0.3)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    return True


def write(docs):
    """Draw the figures and write the page; the text."""
    docs = Path(docs)
    numbers = docs / "_static" / NUMBERS
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
