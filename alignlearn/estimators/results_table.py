"""The table of a search, ``cv_results_``: columns, the best row, and warnings about grids."""

from __future__ import annotations

from itertools import product

import numpy as np

from alignlearn._text import table
from alignlearn.validation import doubt

_LEAST_GRID = 3  # number of values with an interior one
_ROUNDING = 1e-12  # rounding of scores, relative to the largest
_TRIFLES = 0.02, 0.005  # fraction of the range of scores along a grid, and of a score


def results_table(every, scores, shown=None, rungs=None):
    """Return the ``cv_results_`` of a search.

    Parameters
    ----------
    every : dict of list
        Values of each parameter, by name.
    scores : ndarray of shape (n_splits, ...)
        The axes of the parameters are in the order of their sorted names; NaN for candidates that
        were not tried.
    shown : ndarray of the same shape, optional
        Scores for display only.
    rungs : ndarray of shape (n_candidates,), optional
        The rung at which each candidate was dropped. Default: none was dropped.

    Returns
    -------
    dict
        As in scikit-learn's grid search over the same values and in its order: names are sorted,
        and the last one varies fastest. In addition, ``n_splits`` is the number of folds on which a
        candidate was tried, and ``rung`` is -1 if these are all folds. Means are over these folds.
        Equal scores have equal ranks, and candidates with more folds come first.
    """
    names = sorted(every)
    params = [dict(zip(names, v)) for v in product(*(every[name] for name in names))]
    # Rows are added one after the other, regardless of the order in memory.
    scores = np.ascontiguousarray(scores.reshape(len(scores), len(params)))
    results = score_columns("score", scores)
    mean = results["mean_test_score"]
    tried = results["n_splits"] = np.isfinite(scores).sum(axis=0)
    better = mean[:, None] > mean + rounding_of(mean)
    ahead = (tried[:, None] > tried) | ((tried[:, None] == tried) & better)
    results["rank_test_score"] = 1 + ahead.sum(axis=0)
    results["rung"] = np.full(len(params), -1) if rungs is None else rungs
    if shown is not None:
        results["mean_test_shown"] = _mean(np.ascontiguousarray(shown.reshape(scores.shape)))
    for name in names:
        values = [p[name] for p in params]
        numbers = all(isinstance(v, float) for v in values)
        results[f"param_{name}"] = column = np.empty(len(params), float if numbers else object)
        column[:] = values
    results["params"] = params
    return results


def score_columns(name, scores):
    """Return the columns of a table for the scores (n_splits, n_candidates) of a name."""
    found = {f"split{t}_test_{name}": row for t, row in enumerate(scores)}
    mean = found[f"mean_test_{name}"] = _mean(scores)
    found[f"std_test_{name}"] = np.sqrt(_mean(np.square(scores - mean)))
    return found


def some_rows(table, rows):
    """Return some rows of a table, by number."""
    params = [table["params"][i] for i in rows]
    return {name: column[rows] for name, column in table.items() if name != "params"} | {
        "params": params
    }


def stacked(tables, sizes):
    """Stack the rows of several levels with their numbers of samples; later levels rank first.

    ``rung`` of an earlier level is the last rung that tried the row's candidate and value.
    """
    tried = [np.flatnonzero(table["n_splits"] > 0) for table in tables]
    splits = {key: None for table in tables for key in table if key.startswith("split")}
    found = {}
    for name in [*splits, *tables[0]]:
        if name in ("params", *found):
            continue
        missing = np.full(len(tables[0]["params"]), np.nan)
        columns = [table.get(name, missing)[rows] for table, rows in zip(tables, tried)]
        found[name] = np.concatenate(columns)
    found["params"] = [table["params"][i] for table, rows in zip(tables, tried) for i in rows]
    found["n_samples"] = np.repeat(sizes, [len(rows) for rows in tried])
    ahead = np.cumsum([0, *(len(rows) for rows in tried[:0:-1])])[::-1]
    found["rank_test_score"] = found["rank_test_score"] + np.repeat(ahead, [len(r) for r in tried])
    return found


def _mean(values):
    """Return the means of the columns without NaN, NaN for columns of NaN."""
    counts = np.isfinite(values).sum(axis=0)
    total = np.where(counts > 0, np.nansum(values, axis=0), np.nan)
    return total / np.maximum(counts, 1)


def rounding_of(scores):
    """Return the tolerance for equal scores, which are sums in different orders."""
    return _ROUNDING * np.abs(scores, where=np.isfinite(scores), out=np.zeros(scores.shape)).max()


def first_best(scores):
    """Return the position of the largest score; ties up to rounding go to the first, NaN last."""
    known = np.where(np.isnan(scores), -np.inf, scores)
    return int(np.argmax(known >= known.max() - rounding_of(scores)))


def doubt_edges(results, best):
    """Warn if the best value of a parameter is an end of its grid where scores still rise."""
    params = results["params"]
    for name, value in params[best].items():
        others = {k: v for k, v in params[best].items() if k != name}
        line = [i for i, p in enumerate(params) if {k: p[k] for k in others} == others]
        values = sorted({params[i][name] for i in line if isinstance(params[i][name], float)})
        edges = values[:1] + values[-1:]
        if len(values) < _LEAST_GRID or value not in edges or value in (0.0, np.inf):
            continue
        inner = values[1] if value == values[0] else values[-2]
        inside = next(i for i in line if params[i][name] == inner)
        if _rises(results, inside, best, line):
            end = "smallest" if value == values[0] else "largest"
            doubt(
                f"The best {name}={value:g} is the {end} of its grid, and scores still rise there "
                f"({results['mean_test_score'][inside]:.4g} at {inner:g}, "
                f"{results['mean_test_score'][best]:.4g} at {value:g}): values beyond it "
                f"may be better; extend {name}s."
            )


def _rises(results, inside, best, line):
    """Whether a candidate's score exceeds another one by more than noise and a minimum."""
    n = sum(key.startswith("split") for key in results)
    scores = np.array([results[f"split{t}_test_score"] for t in range(n)])
    gain = scores[:, best] - scores[:, inside]
    error = gain.std(ddof=1) / np.sqrt(n) if n > 1 else 0.0
    mean = results["mean_test_score"][line]
    trifle = max(_TRIFLES[0] * np.ptp(mean), _TRIFLES[1] * abs(float(scores[:, inside].mean())))
    return gain.mean() > max(2.0 * error, trifle)


# As text


def weighting_table(results, chosen):
    """Return the table of weightings: the best value of each, its score, and whether it is used.

    ``chosen`` is the row of the best one.
    """
    rules, score = results["param_weighting"], results["mean_test_score"]
    parameter = next(n[6:] for n in results if n.startswith("param_") and n != "param_weighting")
    rows, numbers = [], range(len(rules))
    for rule in {id(rule): rule for rule in rules}.values():
        index = np.array([k for k in numbers if rules[k] is rule])
        used = chosen in index
        best = chosen if used else index[first_best(score[index])]
        error = results["std_test_score"][best] / np.sqrt(max(results["n_splits"][best] - 1, 1))
        value = f"{results[f'param_{parameter}'][best]:.3g}"
        rows.append((str(rule), value, f"{score[best]:.4f}", f"{error:.4f}", "yes" if used else ""))
    return table(rows, ("weighting", parameter, "score", "s.e.", "used"))


def method_table(results, taken, score_words):
    """Return the table of methods: the best candidate of each, its score, whether it is used."""
    names = list(dict.fromkeys(results["param_method"]))
    parameter = next(k[6:] for k in results if k.startswith("param_") and k != "param_method")
    rows = []
    shown, score = results["mean_test_shown"], results["mean_test_score"]
    sizes = results.get("n_samples")
    by_loss = not np.allclose(shown, score, equal_nan=True)
    for name in names:
        index = np.flatnonzero(results["param_method"] == name)
        if not index.size:
            continue
        if sizes is not None:
            index = index[sizes[index] == sizes[index].max()]
        full = index[results["n_splits"][index] == results["n_splits"][index].max()]
        best = full[score[full].argmax()]
        n = int(results["n_splits"][best])
        error = f"{results['std_test_score'][best] / np.sqrt(n - 1):.4f}" if n > 1 else "-"
        rows.append(
            (
                name,
                f"{results[f'param_{parameter}'][best]:.3g}",
                f"{score[best]:.4f}",
                error,
                *([f"{shown[best]:.4f}"] if by_loss else []),
                f"{n}",
                *([] if sizes is None else [f"{sizes[best]}"]),
                "yes" if name in taken else "",
            )
        )
    header = (
        "method",
        parameter,
        "score",
        "s.e.",
        *(["accuracy"] if by_loss else []),
        "folds",
        *([] if sizes is None else ["samples"]),
        "used",
    )
    lines = [table(rows, header), f"score: {score_words}, on the held-out folds"]
    lines += _suffix_lines(names)
    if sizes is not None:
        lines.append(_level_lines(results))
    elif len({row[-2] for row in rows}) > 1:
        lines.append(
            "Methods with fewer folds were dropped; compare only scores over equally many folds."
        )
    return "\n".join(lines)


def _suffix_lines(names):
    """Yield explanations of the suffixes of some methods."""
    if any("*" in name for name in names):
        yield "name*2: the method with gamma multiplied by 2, that is, with narrower kernels"
    if any(name.endswith("-krr") for name in names):
        yield "name-krr: kernel ridge regression on the labels instead of a support vector machine"


def _level_lines(results):
    """Return a line for each level of a search: its samples, folds and methods."""
    lines, sizes = [], results["n_samples"]
    for n in dict.fromkeys(sizes.tolist()):
        rows = sizes == n
        methods = len(set(results["param_method"][rows]))
        folds = int(results["n_splits"][rows].max())
        lines.append(f"{methods} methods on {folds} fold{'s' * (folds > 1)} of {n} samples")
    return "\n".join(lines)
