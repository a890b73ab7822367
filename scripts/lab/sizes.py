#!/usr/bin/env python
"""Score, time and memory of the default against boosting, from 400 to 1,000,000 samples.

    scripts/lab/sizes.py --sizes 5000                       # the half "fix" of the data sets
    scripts/lab/sizes.py --half confirm --sizes 5000 --splits 3
    scripts/lab/sizes.py friedman hills --sizes 400 5000 40000 --kinds default lightgbm
    scripts/lab/sizes.py --write ...                        # into sizes.json, and figures/size.png

Each data set is split into a training set of each size and at most 10,000 test samples. A size that
leaves fewer than 500 test samples becomes 80% of the data set. A model is fitted in a process of
its own, after a fit on 300 samples that compiles and loads the code.

default    MKLClassifierCV() or MKLRegressorCV() behind StandardScaler
lightgbm   the best of 4 settings of LightGBM on a split of 20%, fitted again to all
hist       the same of HistGradientBoosting
grid       GridSearchCV of SVC or KernelRidge over 5 values each of gamma and C or alpha
xrfm       xRFM of the best of 4 bandwidths, with 20% as its validation set

A line has the mean score of the splits (accuracy, or R^2), the mean processor seconds of a fit,
summed over threads, its mean time, the peak memory of the process and the number of splits. The
summary has, for each competitor, the difference of the scores, t corrected for overlapping training
sets (Nadeau and Bengio 2003) and the ratio of processor times.
"""

from __future__ import annotations

import json
import os
import subprocess
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from _studies import (
    GENERATED,
    PEAK,
    boosted,
    clock,
    corrected_t,
    default,
    load,
    output,
    quiet,
    read,
    shuffled,
    study,
    threads,
    wall_and_core,
    write,
)
from alignlearn.theory.figures import style

HALVES = {
    "fix": "ijcnn1_train magic ring satimage spambase sylva kin8nm compactiv casp letter delays",
    "confirm": "penbased twonorm texture phoneme optdigits marketing puma32h grid diamonds hills",
}

KINDS = ("default", "lightgbm", "hist", "grid", "xrfm")
KEY = ("set", "size", "seed", "kind")
FIGURE = Path(__file__).resolve().parents[2] / "figures" / "size.png"
TEST, LEAST_TEST = 10_000, 500
PATH = os.environ.get("PYTHONPATH", "")
RATE, LEAVES, LIGHT_LEAVES, TREES = (0.05, 0.1), (15, 31), (31, 127), 500


def parts(name, size, seed):
    """Training X and y, test X and y, and whether y is classes."""
    if name in ("friedman", "hills"):
        X, y, classes = GENERATED[name](size + TEST, seed)
        return X[:size], y[:size], X[size:], y[size:], classes
    X, y, classes = load(name)
    m = len(y)
    size = size if m - size >= LEAST_TEST else int(0.8 * m)
    train, test = shuffled(m, size, seed, TEST)
    return X[train], y[train], X[test], y[test], classes


def _validation(y, classes):
    """Positions of a training part and of a validation part of 20%."""
    from sklearn.model_selection import train_test_split

    strata = y if classes else None
    return train_test_split(np.arange(len(y)), test_size=0.2, random_state=0, stratify=strata)


def _tuned(make, settings, X, y, classes):
    """The model of the setting with the best score on a validation part, fitted to all samples."""
    first, second = _validation(y, classes)
    scores = [make(**s).fit(X[first], y[first]).score(X[second], y[second]) for s in settings]
    return make(**settings[int(np.argmax(scores))]).fit(X, y)


def _scaled(model):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model)


def _default(X, y, classes, n_threads):
    return _scaled(default(classes)(random_state=0, verbose=False)).fit(X, y)


def _lightgbm(X, y, classes, n_threads):
    options = {"n_estimators": TREES // 2, "n_jobs": n_threads, "verbose": -1}
    make = partial(boosted("lightgbm", classes), **options)
    settings = [{"learning_rate": r, "num_leaves": k} for r in RATE for k in LIGHT_LEAVES]
    return _tuned(make, settings, X, y, classes)


def _hist(X, y, classes, n_threads):
    options = {"max_iter": TREES, "early_stopping": True, "random_state": 0}
    make = partial(boosted("hist", classes), **options)
    settings = [{"learning_rate": r, "max_leaf_nodes": k} for r in RATE for k in LEAVES]
    return _tuned(make, settings, X, y, classes)


def _grid(X, y, classes, n_threads):
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    gamma = (4.0 ** np.arange(-3, 2) / X.shape[1]).tolist()
    if classes:
        return _scaled(
            GridSearchCV(SVC(), {"C": np.logspace(-1, 3, 5), "gamma": gamma}, n_jobs=n_threads)
        ).fit(X, y)
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler

    names = {"alpha": np.logspace(-4, 0, 5), "gamma": gamma}
    search = GridSearchCV(KernelRidge(kernel="rbf"), names, n_jobs=n_threads)
    return _scaled(TransformedTargetRegressor(search, transformer=StandardScaler())).fit(X, y)


def _xrfm(X, y, classes, n_threads):
    import torch
    from sklearn.preprocessing import StandardScaler
    from xrfm import xRFM

    torch.set_num_threads(n_threads)
    scaler, shift, scale = StandardScaler().fit(X), 0.0, 1.0
    if not classes:
        shift, scale = y.mean(), y.std()
    Z = scaler.transform(X).astype(np.float32)
    t = y if classes else ((y - shift) / scale).astype(np.float32)[:, None]
    first, second = _validation(y, classes)
    metric = {"tuning_metric": "accuracy"} if classes else {}

    def score(model, Z, y):
        found = np.asarray(model.predict(Z.astype(np.float32))).reshape(-1)
        if classes:
            return float(np.mean(found == y))
        return 1.0 - np.sum((found * scale + shift - y) ** 2) / np.sum((y - y.mean()) ** 2)

    def fitted(bandwidth):
        how = {
            "model": {"kernel": "l2", "bandwidth": bandwidth, "exponent": 1.0, "diag": False},
            "fit": {"reg": 1e-3, "iters": 4, "verbose": False, "early_stop_rfm": True},
        }
        model = xRFM(how, n_threads=n_threads, random_state=0, verbose=False, **metric)
        return model.fit(Z[first], t[first], Z[second], t[second])

    models = [fitted(bandwidth) for bandwidth in (2.0, 5.0, 10.0, 20.0)]
    best = max(models, key=lambda model: score(model, Z[second], y[second]))

    class _Found:
        def score(self, X, y):
            return score(best, scaler.transform(X), y)

    return _Found()


FITS = dict(zip(KINDS, (_default, _lightgbm, _hist, _grid, _xrfm)))


def measure(kind, name, size, seed, n_threads):
    """One fit in this process: score, seconds of the processor and of the clock, peak memory."""

    space = {}
    exec(PEAK, space)
    X, y, Xt, yt, classes = parts(name, size, seed)
    few = np.random.default_rng(0).permutation(len(y))[:300]
    with quiet(), threads(n_threads):
        FITS[kind](X[few], y[few], classes, n_threads)
        (wall, core), model = clock(
            lambda: FITS[kind](X, y, classes, n_threads), timer=wall_and_core
        )
        peak = space["peak"]()
        score = float(model.score(Xt, yt))
    key = {"set": name, "size": size, "m": len(y), "n_test": len(yt), "seed": seed, "kind": kind}
    found = {"score": score, "core": core, "wall": wall, "peak": peak, "threads": n_threads}
    return {**key, **found}


def _in_process(*key):
    """`measure` in a process of its own; None if it fails."""
    code = f"import json, sizes\nprint(json.dumps(sizes.measure(*{key})))"
    n = str(key[-1])
    env = {"OPENBLAS_NUM_THREADS": n, "OMP_NUM_THREADS": n}
    try:
        found = output(code, PYTHONPATH=f"{Path(__file__).parent}{os.pathsep}{PATH}", **env)
    except subprocess.CalledProcessError as error:
        print(f"{key}: {error}", flush=True)
        return None
    return json.loads(found.splitlines()[-1])


def of(records, **wanted):
    """The records with these entries, in the order of their seeds."""
    found = [r for r in records if all(r[k] == v for k, v in wanted.items())]
    return sorted(found, key=lambda r: r["seed"])


def mean(records, key):
    """Mean of one entry."""
    return float(np.mean([r[key] for r in records]))


def table(records):
    """Print a line for each set, size and kind, and the summary."""
    keys = list(dict.fromkeys((r["set"], r["size"]) for r in records))
    kinds = [k for k in KINDS if of(records, kind=k)]
    print(f"{'set':<12} {'m':>8} {'kind':<9} {'score':>8} {'core s':>8} {'s':>8} {'GB':>6}  n")
    for name, size in keys:
        for kind in kinds:
            some = of(records, set=name, size=size, kind=kind)
            if some:
                line = f"{name:<12} {some[0]['m']:>8} {kind:<9} {mean(some, 'score'):8.4f}"
                line += f" {mean(some, 'core'):8.2f} {mean(some, 'wall'):8.2f}"
                print(f"{line} {mean(some, 'peak') / 1e9:6.2f} {len(some):2}")
    if "default" in kinds:
        for kind in kinds:
            if kind != "default":
                _against(records, kind, keys)


def _against(records, kind, keys):
    print(f"\ndefault against {kind}: set, m, difference, t, ratio of processor time")
    rows = []
    for name, size in keys:
        pair = [of(records, set=name, size=size, kind=k) for k in ("default", kind)]
        seeds = {r["seed"] for r in pair[0]} & {r["seed"] for r in pair[1]}
        ours, other = ([r for r in some if r["seed"] in seeds] for some in pair)
        if not ours:
            continue
        d = [a["score"] - b["score"] for a, b in zip(ours, other)]
        ratio = mean(ours, "core") / mean(other, "core")
        rows.append((np.mean(d), ratio))
        t = corrected_t(d, ours[0]["n_test"] / ours[0]["m"])
        print(f"{name:<12} {ours[0]['m']:>8} {np.mean(d):+8.4f} {t:7.2f} {ratio:7.2f}")
    if rows:
        d, ratio = np.array(rows).T
        print(
            f"mean {d.mean():+.4f}, better on {np.sum(d > 0)} of {len(d)}; "
            f"ratio of times: median {np.median(ratio):.2f}, largest {ratio.max():.2f}"
        )


_LOOKS = {
    "default": ("alignlearn, default", "#0072B2", "o"),
    "lightgbm": ("LightGBM, best of 4", "#D55E00", "s"),
    "hist": ("HistGradientBoosting, best of 4", "#E69F00", "^"),
    "grid": ("GridSearchCV, SVC or KernelRidge", "#009E73", "D"),
    "xrfm": ("xRFM, best of 4", "#CC79A7", "P"),
}
_TITLES = {
    "friedman": "friedman1, 20 columns,\nnoise 1",
    "hills": "60 hills, 10 columns,\n10% of labels flipped",
}
_LIMITS = {"friedman": 0.9594, "hills": 0.9}


def _plain_ticks(axis, digits):
    """Plain numbers, at some digits times powers of ten, on a logarithmic axis."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(base=10, subs=digits, numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_formatter(NullFormatter())


def figure(records, path):
    """Score and time against the number of training samples, a column of panels for each set."""
    names = dict.fromkeys(r["set"] for r in records)
    sets = [name for name in names if len({r["size"] for r in of(records, set=name)}) > 1]
    fig, axes = style.new_figure(2 * len(sets), columns=len(sets), height=5.4)
    for name, *panels in zip(sets, axes[: len(sets)], axes[len(sets) :]):
        for kind, (label, color, marker) in _LOOKS.items():
            some = of(records, set=name, kind=kind)
            groups = [of(some, size=size) for size in sorted({r["size"] for r in some})]
            for ax, key in zip(panels, ("score", "core")):
                values = [group[0]["m"] for group in groups], [mean(g, key) for g in groups]
                ax.plot(*values, color=color, marker=marker, label=label, ms=5)
        if name in _LIMITS:
            panels[0].axhline(_LIMITS[name], color="0.5", ls="--", lw=1, label="best possible")
        score = "accuracy" if name != "friedman" and parts(name, 100, 0)[-1] else "$R^2$"
        shared = {"x": "training samples $m$", "legend": None}
        style.finish(panels[0], y=score, title=_TITLES.get(name, name), log="x", **shared)
        style.finish(panels[1], y="CPU time of a fit (s)", **shared)
        for ax in panels:
            _plain_ticks(ax.xaxis, (1,))
        _plain_ticks(panels[1].yaxis, (1, 2, 5))
    fig.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False
    )
    style.save(fig, path)


def main(argv=None):
    """Measure and print the requested rows; with --write store and draw them."""
    args = study(
        __doc__,
        dict.fromkeys((*" ".join(HALVES.values()).split(), "friedman")),
        argv,
        half=("fix", "fix"),
        sizes=((5000,), (400,)),
        splits=(1, 1),
        kinds=(("default", "lightgbm"), ("default", "hist")),
        threads=(1, 1),
    )
    names = args.rows if args.named else HALVES[args.half].split()
    known = {tuple(r[k] for k in KEY): r for r in read("sizes")} if args.write else {}
    for size, seed, name, kind in product(args.sizes, range(args.splits), names, args.kinds):
        if found := _in_process(kind, name, size, seed, args.threads):
            known[name, size, seed, kind] = found
        if args.write:
            write("sizes", list(known.values()))
    table(list(known.values()))
    if args.write:
        figure(list(known.values()), FIGURE)


if __name__ == "__main__":
    main()
