#!/usr/bin/env python
"""Time of prediction intervals without refits.

Seconds of predict, and of intervals as multiples of it, m = n = 2000, one target, after the first
call. The coverage is in `coverage_table.py`.
"""

from __future__ import annotations

import numpy as np
from _studies import best_of, publish, study

import alignlearn as al


def row(m, d):
    """The time of `predict`, and those of intervals and deviations as multiples of it."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(2, m, d))
    model = al.MKLRegressor().fit(X, np.sin(2.0 * X[:, 0]) + rng.normal(size=m))
    calls = (
        lambda: model.predict(new),
        lambda: model.predict_interval(new, folds=10, refit=False),
        lambda: model.predict_interval(new, folds=50, refit=False),
        lambda: model.predict_interval(new, refit=False),
        lambda: model.predict(new, return_std=True),
    )
    for call in calls:
        call()
    first, *others = best_of(5, *calls)
    return f"{d}", f"{first:.3f} s", *(f"{s / first:.2g}" for s in others)


if __name__ == "__main__":
    args = study(__doc__, m=(2000, 200))
    publish(args, "interval-time", (row(args.m, d) for d in (5, 20, 100, 800)))
