#!/usr/bin/env python
"""Peak memory of fitting, in units of one m x m matrix of float64.

    scripts/bench/memory_peak.py                      # all kinds of work
    scripts/bench/memory_peak.py ridge-loo --samples 8000

Each kind is a process of its own: the growth of its largest resident size over that after a fit on
300 samples, in which everything was compiled. Searches get the memory of 1.5 matrices, which holds
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
def work(m):
    tight = {{'memory': 12 * m**2}}
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, 5))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(m)
    {call}
work({warm})  # loads the functions
try:
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")  # the peak becomes the memory of now
except OSError:
    pass
before = peak()
work({m})
print((peak() - before) / (8 * {m}**2))
"""


def matrices(kind, m):
    """Peak of one kind of work, a key of the table above, in matrices of m x m."""
    # Conjugate gradients, with functions of their own, start at 2001 samples.
    warm = 2001 if kind == "ridge-folds" else 300
    return float(output(PEAK + _PROGRAM.format(call=_WORK[kind], m=m, warm=warm)))


def main():
    """Print the table."""

    def extend(parser):
        parser.add_argument("--samples", type=int, default=4000, help="m (default 4000)")

    args = options(__doc__, _WORK, extend=extend)
    print(f"{'work':<12} {'m':>6} {'m x m matrices':>15}")
    for kind in args.rows:
        print(f"{kind:<12} {args.samples:>6} {matrices(kind, args.samples):>15.3f}", flush=True)


if __name__ == "__main__":
    main()
