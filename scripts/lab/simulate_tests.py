#!/usr/bin/env python3
"""Type I error rate and power of the tests of whether learned weights help.

error    y is independent of X, so no method is better than another, and a p-value of at most 5% is
         an error of the test: mean over the pairs of methods, and the maximum over pairs
others   the maximum over align and alignf, each against "uniform", 5 columns
power    only the learned predictor is right with probability plus, only the baseline with
         probability minus; half of the samples come before the test, a quarter is the pilot
"""

import numpy as np
from _studies import publish, study

from alignlearn.comparison import Protocol, compare
from alignlearn.significance import paired_t_test, prequential_test
from alignlearn.significance.prequential import binomial_tail

METHODS = ("uniform", "best-single", "align", "alignf")
LEVEL = 0.05
CASES = {  # task, samples, features, folds: runs
    ("classification", 40, 2, 5): 400,
    ("classification", 40, 10, 5): 400,
    ("regression", 40, 2, 5): 150,
}
OTHERS = {
    "corrected-40": ("classification", 40, 5, 5, 1000),
    "corrected-40-10-folds": ("classification", 40, 5, 10, 400),
    "corrected-100": ("classification", 100, 5, 5, 600),
    "corrected-200": ("classification", 200, 5, 5, 200),
}
POWERS = (  # samples, plus, minus
    (200, 0.08, 0.03), (600, 0.08, 0.03), (2000, 0.08, 0.03), (600, 0.05, 0.03),
    (600, 0.15, 0.08), (600, 0.05, 0.01), (600, 0.05, 0.05),
)  # fmt: skip


def p_values(task, m, d, folds, seed, methods=METHODS):
    """P-values of each test, (3, 2 (methods - 1)): each method against uniform, and vice versa."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    y = rng.standard_normal(m) if task == "regression" else rng.integers(0, 2, m)
    found = []
    for test in ("corrected-t", "prequential"):
        protocol = Protocol(n_folds=folds, random_state=seed, test=test)
        result = compare(X, y, methods=methods, task=task, protocol=protocol)
        pairs = [p for name in methods[1:] for p in ((name, "uniform"), ("uniform", name))]
        if test == "corrected-t":
            errors = {name: result.error[result.index(name)] for name in methods}
            found.append([paired_t_test(errors[a], errors[b]).p_value for a, b in pairs])
        found.append([result.p_value(a, b) for a, b in pairs])
    return np.array(found)


def rates(case, runs, methods=METHODS):
    """Shares of p-values up to the level, (3 tests, pairs)."""
    found, seed = [], 0
    while len(found) < runs:
        seed += 1
        try:
            found.append(p_values(*case, seed, methods))
        except ValueError:  # a class with too few samples
            continue
    return (np.array(found) <= LEVEL).mean(axis=0)


def errors(most):
    """The rows of error rates, with at most this many runs."""
    for (task, *sizes), runs in CASES.items():
        shares = rates((task, *sizes), min(runs, most))
        yield task, ", ".join(map(str, sizes)), *(f"{r.mean():.3f}, {r.max():.3f}" for r in shares)


def others(most):
    """The largest error rates of the corrected test, and of the other tests over all cases."""
    found, uncorrected = {}, 0.0
    for name, (*case, runs) in OTHERS.items():
        shares = rates(case, min(runs, most), (METHODS[0], *METHODS[2:])).max(axis=1)
        found[name], uncorrected = f"{shares[1]:.3f}", max(uncorrected, shares[0])
    return {**found, "uncorrected": f"{uncorrected:.3f}"}


def differences(rng, n, plus, minus):
    """n differences of 0-1 losses."""
    u = rng.random(n)
    return (u < plus).astype(float) - ((u >= plus) & (u < plus + minus))


def powers(runs):
    """The rows of power: sign test, betting, one held-out fold of five."""
    rng = np.random.default_rng(0)
    for m, plus, minus in POWERS:
        found = np.zeros(3)
        for _ in range(runs):
            pilot, D = differences(rng, m // 4, plus, minus), differences(rng, m // 2, plus, minus)
            pair = [(np.maximum(-v, 0.0), np.maximum(v, 0.0)) for v in (pilot, D)]
            result = prequential_test(*pair[1], pilot=pair[0])
            fold = differences(rng, m // 5, plus, minus)
            held_out = binomial_tail(int(np.abs(fold).sum()), int((fold > 0).sum()))
            p = np.array([result.p_value, result.betting_p_value, held_out])
            found += p <= LEVEL
        cell = f"{plus}, {minus}" + " (no difference)" * (plus == minus)
        yield str(m), cell, *(f"{share:.2f}" for share in found / runs)


if __name__ == "__main__":
    args = study(__doc__, ("error", "others", "power"), runs=(4000, 1))
    if "error" in args.rows:
        publish(args, "difference-error", errors(args.runs), labels=2)
    if "others" in args.rows:
        publish(args, "tests-of-difference", others(args.runs))
    if "power" in args.rows:
        publish(args, "difference-power", powers(args.runs), labels=2)
        se = {"power-se": f"{np.sqrt(0.25 / args.runs):.3f}"}
        publish(args, "tests-of-difference", se)
