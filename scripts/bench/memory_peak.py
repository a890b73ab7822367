#!/usr/bin/env python
"""Peak memory of fitting, in units of one m x m matrix of float64.

    scripts/bench/memory_peak.py                      # all kinds of work
    scripts/bench/memory_peak.py ridge-loo --samples 8000

The growth of the largest resident size of a process over that after a fit on 300 samples, in which
everything was compiled. Searches get the memory of 1.5 matrices, which holds
one fold at a time.
"""

from __future__ import annotations

from _bench import PEAK, options, output

_WORK = {
    "ridge": "al.MKLRegressor(kernels).fit(X, y)",
    "svr": "al.MKLRegressor(kernels, machine='svr').fit(X, y)",
    "svc": "al.MKLClassifier(kernels).fit(X, y > 0)",
    "ridge-loo": "al.MKLRegressorCV(kernels, alphas=[0.1, 1.0]).fit(X, y)",
    "ridge-folds": "al.MKLRegressorCV(kernels, cv=5, alphas=[0.1, 1.0], **tight).fit(X, y)",
    "targets": "al.MKLRegressorCV(kernels, per_target=True, random_state=0).fit(X, y)",
    "svr-folds": "al.MKLRegressorCV(kernels, machine='svr', Cs=[0.1, 1.0], **tight).fit(X, y)",
    "svc-folds": "al.MKLClassifierCV(kernels, Cs=[0.1, 1.0], **tight).fit(X, y > 0)",
}
_PROGRAM = """
import numpy as np, alignlearn as al
kernels = al.gaussian_kernels([0.05, 0.1, 0.2])
def work(m, call):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, 5))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(m)
    eval(call, globals() | {{"X": X, "y": y, "tight": {{"memory": 12 * m**2}}}})
for m, warm, call in {works}:
    work(warm, call)  # loads the functions
    try:
        with open("/proc/self/clear_refs", "w") as clear:
            clear.write("5")  # the peak becomes the memory of now
    except OSError:
        pass
    before = peak()
    work(m, call)
    print((peak() - before) / (8 * m**2))
"""


def matrices(sizes):
    """Peak of each kind of work, keys of the table above, in matrices of m x m; m by kind."""
    # Conjugate gradients, with functions of their own, start at 2001 samples.
    works = [(m, 2001 if kind == "ridge-folds" else 300, _WORK[kind]) for kind, m in sizes.items()]
    found = output(PEAK + _PROGRAM.format(works=works)).split()
    return dict(zip(sizes, map(float, found)))


def main():
    """Print the table."""

    def extend(parser):
        parser.add_argument("--samples", type=int, default=4000, help="m (default 4000)")

    args = options(__doc__, _WORK, extend=extend)
    print(f"{'work':<12} {'m':>6} {'m x m matrices':>15}")
    for kind in args.rows:
        found = matrices({kind: args.samples})[kind]
        print(f"{kind:<12} {args.samples:>6} {found:>15.3f}", flush=True)


if __name__ == "__main__":
    main()
