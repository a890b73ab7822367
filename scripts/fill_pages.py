#!/usr/bin/env python3
"""Write the measured numbers of the README and the site from the files in docs/_data.

A page marks the place of a table or a paragraph with a pair of comments:

    <!-- numbers: uses -->
    ...
    <!-- /numbers -->

Everything between them is replaced by the text that the function of that name returns, or by the
table of that name in tables.json. A single number in a sentence stands between

    <!-- n: text.kernels.call -->0.3<!-- /n -->

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

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "_data"
_BLOCK = re.compile(r"(<!-- numbers: ([\w-]+) -->\n).*?(<!-- /numbers -->)", re.DOTALL)
_NUMBER = re.compile(r"(<!-- n: ([\w.-]+) -->).*?(<!-- /n -->)", re.DOTALL)
# Columns of a row that `accuracy.py --json` writes.
SCORE, GAIN, ERROR, CORRECTED, _, SECONDS, RATIO = range(7)
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


def _row(cells):
    return f"| {' | '.join(cells)} |"


def _table(head, rows):
    return "\n".join([_row(head), "|---" * len(head) + "|", *map(_row, rows)])


def _label(name):
    return _SHORT.get(name, name) + (" (R²)" if name in _REGRESSION else "")


def _points(row):
    """A gain in percentage points with its standard error."""
    return f"{100 * row[GAIN]:+.1f} ± {100 * row[ERROR]:.1f}"


def _span(values, digits=0):
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def accuracy_facts():
    """The facts about `accuracy-400.json` that sentences use."""
    rows = read("accuracy-400.json").values()
    autos = [row["auto"] for row in rows]
    return {
        "sets": len(autos),
        "gain": 100 * mean(row[GAIN] for row in autos),
        "median": 100 * median(row[GAIN] for row in autos),
        "clear": sum(row[GAIN] > 2 * row[ERROR] for row in autos),
        "worse": sum(row[GAIN] < -2 * row[ERROR] for row in autos),
        "ratio": _span([row[RATIO] for row in autos], 1),
    }


def peers(part, size, side):
    """A row of `benchmarks.json`."""
    rows = read("benchmarks.json")["rows"][part]
    (found,) = [row for row in rows if (row["size"], row["side"]) == (size, side)]
    return found


def _uses():
    """What each use was measured to gain: (use, result, script)."""
    facts, one = accuracy_facts(), read("single.json")
    ours, other = (
        peers("targets", 100, side)
        for side in ("MKLRegressorCV(per_target=True)", "MultipleKernelRidgeCV, 100 candidates")
    )
    test, rival = (
        peers("independence", 400, side)
        for side in ("hsic_test, 999 permutations", "Hsic of hyppo, 999 permutations")
    )
    missing = read("missing-tables.json")["rows"].values()
    yield (
        "[One table](docs/guide/which-estimator.md): `MKLClassifierCV()`, `MKLRegressorCV()`",
        f"{facts['gain']:+.1f} points (median {facts['median']:+.1f}) over "
        "`GridSearchCV` of `SVC` or `KernelRidge`, "
        f"{facts['ratio']} times as fast ({facts['sets']} data sets, at most 400 training samples)",
        "lab/accuracy.py",
    )
    yield (
        "[Several tables](docs/guide/tables.md), some rows [missing](docs/guide/missing-tables.md)",
        f"{100 * mean(row['drop'][0] for row in missing):+.1f} points over dropping incomplete "
        f"samples ({len(missing)} data sets, 30% of the samples incomplete)",
        "lab/missing_tables.py",
    )
    yield (
        "[Encoding models](docs/guide/many-targets.md): one set of weights per target",
        f"R² {ours['score']:.3f} in {ours['seconds']:.1f} s; himalaya, 100 candidates: R² "
        f"{other['score']:.3f} in {other['seconds']:.0f} s (1 design, 600 samples, 100 targets)",
        "bench/bench_peers.py",
    )
    yield (
        "[Molecules](docs/guide/kernels.md), [graphs and other Gram matrices]"
        "(docs/guide/gram-matrices.md)",
        f"fit and prediction with a Tanimoto kernel {one['fingerprints']['ours'][0]} s, in NumPy "
        f"{one['fingerprints']['numpy'][0]} s (4000 fingerprints of 2048 bits)",
        "bench/rows/objects.py",
    )
    yield (
        "[Dependence](docs/guide/dependence.md): HSIC, CKA, kernel CCA and their tests",
        f"HSIC test, 999 permutations: {test['seconds']:.2f} s; hyppo {rival['seconds']:.1f} s "
        "(1 data set, 400 samples)",
        "bench/bench_peers.py",
    )


def uses():
    """The README's table of uses."""
    rows = [(use, result, f"`{script}`") for use, result, script in _uses()]
    return _table(("use", "measured", "script in `scripts`"), rows)


def limits():
    """The README's sentences on when another tool is the better choice."""
    trees = read("single.json")["boosting"]
    linear = peers("search", "diabetes", "RidgeCV, linear")
    ours = peers("search", "diabetes", 'MKLRegressorCV(weighting="auto")')
    middle, splice = 100 * trees["median"], -100 * trees["splice"]
    ratio = ours["seconds"] / linear["seconds"]
    items = (
        "**Tables with many categories, or with irrelevant columns above 2000 samples:** try "
        "gradient boosting, too. On splice, whose columns are "
        f"categories, tuned boosting was {splice:.1f} points better. Over {trees['sets']} data "
        f"sets, an earlier default was {middle:.1f} points better in the median (at most "
        f"{trees['samples']} training samples, {trees['splits']} splits, `{trees['script']}`).",
        "**Linear relations:** use scikit-learn's `RidgeCV`. On diabetes (309 training samples, 3 "
        f"splits), R² was {linear['score']:.3f} with `RidgeCV` and {ours['score']:.3f} with "
        f"`MKLRegressorCV()`, which took {ratio:.0f} times as long (`bench_peers.py`).",
    )
    return "\n".join(fill(f"- {item}", 118, subsequent_indent="  ") for item in items)


def savings():
    """The README's table of measured savings."""
    rows, one = read("accuracy-400.json"), read("single.json")
    facts = accuracy_facts()

    def seconds(first, last, key):
        a, b = (" to ".join(f"{value:g}" for value in one[key][side]) for side in (first, last))
        return f"{a} → {b}"

    def search(name, rival):
        grid, auto = rows[name]["grid"], rows[name]["auto"]
        where = f"{_label(name)}, {rows[name]['samples']} samples"
        score = f"{grid[SCORE]:.3f} → {auto[SCORE]:.3f} ({_points(auto)} points)"
        return rival, where, score, f"{grid[SECONDS]:.2g} → {auto[SECONDS]:.2g}"

    svc, ridge = "`GridSearchCV(SVC)`, 54 candidates", "`GridSearchCV(KernelRidge)`, 117 candidates"
    equal = "the same model"
    table = [
        search("splice", svc),
        search("magic", svc),
        search("gefcom2012_weeks", ridge),
        (
            "either search, mean",
            f"{facts['sets']} data sets, at most 400 samples",
            f"{facts['gain']:+.1f} points (median {facts['median']:+.1f})",
            f"{facts['ratio']} times as fast",
        ),
        ("LIBSVM", one["svm"]["work"], equal, seconds("libsvm", "ours", "svm")),
        ("LIBSVM", one["pairs"]["work"], equal, seconds("libsvm", "ours", "pairs")),
    ]
    return _table(("instead of", "on", "held-out score", "seconds"), table)


def search_table():
    """The guide's table of the default against searches at 400 training samples."""
    table = []
    for name, row in read("accuracy-400.json").items():
        scores = [f"{row[kind][SCORE]:.3f}" for kind in ("grid", "halving", "alignf", "auto")]
        auto = row["auto"]
        times = f"{row['grid'][SECONDS]:.1f}", f"{auto[SECONDS]:.2f}", f"{auto[RATIO]:.0f}"
        table.append((f"{_label(name)}, {row['samples']}", *scores, _points(auto), *times))
    head = ("data, training samples", "grid", "halving", "alignf", "default", "gain, points")
    return _table((*head, "grid, s", "default, s", "ratio of times"), table)


def search_table_2000():
    """The same at 2000 training samples."""
    table = []
    for name, row in read("accuracy-2000.json").items():
        grid, auto = row["grid"], row["auto"]
        scores = row["half"], f"{grid[SCORE]:.3f}", f"{auto[SCORE]:.3f}", _points(auto)
        times = f"{grid[SECONDS]:.1f}", f"{auto[SECONDS]:.1f}", f"{auto[RATIO]:.1f}"
        table.append((_label(name), *scores, f"{auto[CORRECTED]:+.1f}", *times))
    head = ("data", "half", "grid", "default", "gain, points", "t", "grid, s", "default, s")
    return _table((*head, "ratio of times"), table)


def search_summary():
    """What the table at 400 samples amounts to."""
    facts, ratios = accuracy_facts(), _ratios()
    worse = facts["worse"] or "none"
    return fill(
        f"The mean gain is {facts['gain']:.1f} points and the median {facts['median']:.1f}. On "
        f"{facts['clear']} of the {facts['sets']} "
        f"data sets the gain exceeds two standard errors; on {worse} the loss does. The "
        f"default took 1/{max(ratios):.0f} to 1/{min(ratios):.0f} of the time of the grid. "
        "The grid and the default ran beside each other on a busy machine, which about doubles the "
        "CPU seconds of both.",
        118,
    )


def _ratios():
    return [row["auto"][RATIO] for row in read("accuracy-400.json").values()]


def _missing(key):
    table = []
    for name, row in read("missing-tables.json")[key].items():
        gains = [f"{value:+.3f} ± {error:.3f}" for value, error in (row[k] for k in _RIVALS)]
        table.append((name.replace("R^2", "R²"), row["half"], f"{row['score']:.3f}", *gains))
    return _table(("data", "half", "score", *_RIVALS.values()), table)


_RIVALS = {
    "means": "gain over imputed means",
    "drop": "gain over dropping samples",
    "pairs": "gain over averaging available kernels",
}


def missing_rows():
    """Missing tables: 30% of the samples lack two of six."""
    return _missing("rows")


def missing_columns():
    """Missing tables: two of six are missing for 30% of the samples each."""
    return _missing("tables")


def _numbers(values):
    """A number, or a range of two, as in the file; text is unchanged."""
    if isinstance(values, list):
        return " to ".join(map(str, values))
    return "" if values is None else str(values)


_SIDES = ("baseline_s", "alignlearn_s", "ratio")


def _work(row):
    """What a row of parts.json measures, with the scores where it has some."""
    ours, other = row.get("scores", (None, None))
    return row["work"] + (f": accuracy {ours:.3f} against {other:.3f}" if ours else "")


def parts():
    """Seconds of parts of the work beside a usual way of doing them."""
    head = ("work", "baseline", "baseline, s", "alignlearn, s", "ratio")
    rows = read("parts.json")
    return _table(
        head, [(_work(r), r["baseline"], *(_numbers(r[k]) for k in _SIDES)) for r in rows]
    )


def keyed_parts():
    """Rows of parts.json that have a key, by their key."""
    return {row["key"]: row for row in read("parts.json") if "key" in row}


def svm_sizes():
    """A fit of one support vector machine beside LIBSVM, by the number of samples."""
    rows, table = keyed_parts(), []
    for m in (2000, 4000, 10_000, 20_000, 49_990):
        label = f"{m:,}" if m >= 10_000 else str(m)
        table.append((label, *(_numbers(rows[f"svm-{m}"][k]) for k in _SIDES)))
    return _table(("samples", "LIBSVM, s", "alignlearn, s", "ratio"), table)


def tasks():
    """Multi-task learning beside one search for each task."""
    rows, table = keyed_parts(), []
    for key, label in (
        ("tasks-views", "views: different columns matter in different tasks"),
        ("tasks-ladder", "ladder: one width has to be selected"),
    ):
        row = rows[key]
        pairs = zip(reversed(row["scores"]), (row["baseline_s"], row["alignlearn_s"]))
        table.append((label, *(f"{score:.3f} ({_numbers(s)})" for score, s in pairs)))
    return _table(("data", "grid search per task", "alignlearn"), table)


def sample_size():
    """The power of the prequential test: some rows and columns of the table of all tests."""
    rows = read("tables.json")["difference-power"]["rows"]
    table = [(rows[k][0], rows[k][1], rows[k][2], rows[k][4]) for k in (0, 1, 2, 6)]
    return _table(("samples", "plus, minus", "prequential", "one held-out fold of five"), table)


def speed_columns():
    """What the candidates on columns gain on splice."""
    six, now = read("single.json")["six candidates"], read("accuracy-400.json")["splice"]["auto"]
    return fill(
        "The kernels of columns and the linear kernel were added after a default with six "
        "candidates had been measured on these data; splice gains most from them, with "
        f"{100 * six['splice']:.1f} points before and {100 * now[GAIN]:.1f} now.",
        118,
    )


def speed_six():
    """Results of the default with six candidates."""
    six = read("single.json")["six candidates"]
    loss, error = six["sonar"]
    return fill(
        "The following results are of the default with six candidates. On the 14 data sets that "
        f"were used to choose the constants, the mean gain is {100 * six['mean']:.1f} points "
        f"({six['splits']} splits). It is worse on sonar, by {-100 * loss:.1f} ± "
        f"{100 * error:.1f} points in {six['sonar_splits']} splits, which is not significant with "
        "the correction of Nadeau and Bengio for overlapping training samples.",
        118,
    )


def speed_boosting():
    """The default with six candidates beside tuned boosting."""
    trees = read("single.json")["boosting"]

    def listed(found):
        return [f"{name} {points:+.1f}" for name, points in found.items()]

    *wins, last = listed(trees["wins_significant"])
    losses, doubtful = listed(trees["losses"])[0], trees["uncorrected"]
    slow, fast = trees["fraction"]
    uncorrected = " and ".join(f"{name} ({points:+.1f})" for name, points in doubtful.items())
    return fill(
        "Against `HistGradientBoosting*` (also measured with six candidates) with the best of "
        f"twelve settings on the same folds ({trees['sets']} data sets of both halves, at most "
        f"{trees['samples']} training samples, {trees['splits']} splits; `--kinds auto boosting "
        f"--against tuned`), the default is better on {trees['wins']} data sets. The mean "
        f"difference is {100 * trees['mean']:.1f} points and the median "
        f"{100 * trees['median']:.1f}, in 1/{slow} to 1/{fast} of the time. By the corrected t "
        f"test, the default is better on {len(wins) + 1} data sets ({', '.join(wins)} and {last}) "
        f"and worse on one ({losses}, whose columns are categories; with nine candidates "
        f"{100 * trees['splice']:.1f} ± {100 * trees['splice_error']:.1f}). By the uncorrected t "
        f"test, which rejects too often, it is also worse on {uncorrected}. Boosting with default "
        f"settings is {-trees['untuned']:.1f} points below tuned boosting.",
        118,
    )


def speed_wishart():
    """The cost of one value of the Wishart hyper-kernel."""
    cost = read("single.json")["wishart"]
    (even, odd), (first, second) = cost["integer_ns"], cost["integer_ratio"]
    return fill(
        f"A Wishart value takes {cost['operations']} multiply-adds and additions for its "
        f"determinant ({cost['determinant_ns']} ns), from numbers that two pairs share with a "
        f"point, and a power. If r is an integer, the power takes a division, {cost['products']} "
        f"products and, for even r, a square root: {even} and {odd} ns in 8 and 9 dimensions with "
        f"the default r = d + 1, {first} and {second} times as fast as NumPy. For other r it takes "
        f"a logarithm and an exponential: {cost['other_ns']} ns, {cost['other_ratio']} times as "
        "fast.",
        118,
    )


def speed_limit():
    """How near the statistics are to the processor's limit, and what threads and float32 give."""
    at, cluster = read("single.json")["limit"], read("single.json")["cluster defaults"]
    return fill(
        "`scripts/bench/run limit` counts the operations for one pair of the ladder: "
        f"{at['multiply_adds']} multiply-adds, an exponential and {at['others']} other operations. "
        "It also measures how many of them the processor executes on registers. The statistics "
        f"reach {at['float64']} of that limit in float64 and {at['float32']} in float32. By "
        "medians of alternating runs, two threads are "
        f"{_numbers(at['threads_float64'])} times as fast as one in float64 and "
        f"{_numbers(at['threads_float32'])} times in float32. (A single thread runs at a higher "
        f"clock rate.) float32 is {_numbers(at['single'])} times as fast as float64 on one thread. "
        "The cluster in the table has reduced monitoring; with Dask's default settings, two "
        f"processes are {_numbers(cluster['ratio'])} times as fast as one.",
        118,
    )


def speed_cuda():
    """What a CUDA device costs, and from where on it is used."""
    at = read("single.json")["cuda"]
    return fill(
        "The rows for CUDA are from one machine with an H100 and 16 threads of a Xeon; times of "
        "the CPU are those of 8000 samples, extrapolated by the number of pairs. With an H200, "
        "which was as fast to 15%, a device costs "
        f"{at['start']} s in each process, and its code {_numbers(at['code'])} s; kernels are "
        f'compiled once per machine, in {_numbers(at["kernel"])} s each. `device="auto"` '
        f"therefore uses a device from about {at['many']} samples on against 16 threads, and from "
        f'{at["one"]} against one. `device="cuda"` is no gain below: a default '
        f"`MKLRegressorCV` on 5000 samples takes {at['with']} s with it and {at['without']} s "
        "without. The tests in `scripts/test_gpu` check the kernels on a device, and CI runs the "
        "same tests in Numba's simulator; `scripts/bench/cuda_resources.py` prints registers, "
        "occupancy and instructions.",
        118,
    )


def speed_compile():
    """What the first fit on a machine compiles."""
    cold = read("single.json")["compilation"]
    return fill(
        "The first `MKLClassifier.fit` and `predict` on a machine compile about "
        f"{cold['functions']} functions in {cold['first']} s on one core, and print a note on a "
        f"terminal. Later processes load the functions from a cache and fit in {cold['later']} s, "
        "including the start. For containers and clusters, `alignlearn warmup` compiles ahead of "
        "time what all estimators use. `scripts/bench/bench_cold.py` lists what a first fit "
        "compiles. Ranges in the first rows of the table are over several runs, since the time of "
        "the baseline varies with the load of the memory.",
        118,
    )


_SIZES = {
    "default": "default",
    "lightgbm": "LightGBM",
    "hist": "HistGradientBoosting",
    "grid": "grid search",
    "xrfm": "xRFM",
}


def sizes():
    """Score and processor seconds of the default and its rivals, by size and data set."""
    records, table = read("sizes.json"), []
    for name, m in dict.fromkeys((r["set"], r["m"]) for r in records):
        same = [r for r in records if (r["set"], r["m"]) == (name, m)]
        some = {kind: [r for r in same if r["kind"] == kind] for kind in _SIZES}
        cells = [
            f"{mean(r['score'] for r in found):.4f}, {mean(r['core'] for r in found):.2g}"
            if found
            else ""
            for found in some.values()
        ]
        if all(cells[:3]):
            table.append((name, f"{m:,}", str(len(some["default"])), *cells))
    return _table(("data", "training samples", "splits", *_SIZES.values()), table)


def paper():
    """The results of the paper."""
    facts, missing = accuracy_facts(), read("missing-tables.json")["rows"].values()
    ours, other = (
        peers("targets", 100, side)
        for side in ("MKLRegressorCV(per_target=True)", "MultipleKernelRidgeCV, 100 candidates")
    )
    gain = mean(row["drop"][0] for row in missing)
    worse = facts["worse"] or "none"
    return fill(
        f"On {facts['sets']} data sets with at most 400 training samples, other than those that "
        f"set the constants, `MKLClassifierCV()` and `MKLRegressorCV()` gain {facts['gain']:.1f} "
        f"percentage points of accuracy or $R^2$ (median {facts['median']:.1f}) over a grid "
        "search of a support vector machine or "
        f"kernel ridge regression, and are {facts['ratio']} times as fast. The gain exceeds two "
        f"standard errors on {facts['clear']} data sets, a loss on {worse}. For 100 targets and "
        f"three feature spaces, weights per target take {ours['seconds']:.1f} s and reach $R^2$ = "
        f"{ours['score']:.3f}; random search over 100 candidates by himalaya takes "
        f"{other['seconds']:.0f} s and reaches {other['score']:.3f}. "
        "If 30% of the samples miss two of six tables, imputation of kernel values gains "
        f"{100 * gain:.1f} points over dropping incomplete samples (mean of {len(missing)} data "
        "sets). All times are on one thread; the scripts are in `scripts`.",
        118,
    )


BLOCKS = {
    "uses": uses,
    "limits": limits,
    "savings": savings,
    "search": search_table,
    "search-2000": search_table_2000,
    "sizes": sizes,
    "paper": paper,
    "search-summary": search_summary,
    "parts": parts,
    "speed-columns": speed_columns,
    "speed-six": speed_six,
    "speed-boosting": speed_boosting,
    "speed-wishart": speed_wishart,
    "speed-limit": speed_limit,
    "speed-cuda": speed_cuda,
    "speed-compile": speed_compile,
    "missing-rows": missing_rows,
    "missing-columns": missing_columns,
    "svm-sizes": svm_sizes,
    "tasks": tasks,
    "sample-size": sample_size,
}


def block(name):
    """The text of a block: of its function, or the table of its name."""
    if name in BLOCKS:
        return BLOCKS[name]()
    table = read("tables.json")[name]
    return _table(table["head"], table["rows"])


def number(name):
    """The number, or range, that a name such as "text.kernels.call" stands for."""
    file, key, entry = name.split(".")
    content = keyed_parts() if file == "parts" else read(f"{file}.json")
    return _numbers(content[key][entry])


def filled(text):
    """The text with the content of its blocks and its numbers written anew."""
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
