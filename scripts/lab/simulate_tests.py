#!/usr/bin/env python3
"""Level and power of the tests of whether learning pays; docs/guide/tests-of-difference.md.

    scripts/lab/simulate_tests.py level [RUNS]     comparisons on labels that have nothing to learn
    scripts/lab/simulate_tests.py power [RUNS]     given probabilities that one of two errs alone

Level: y is independent of X, so no method is better than another, and a p-value of at most 5 % is
an error of the test. Power: the learned predictor alone is right with probability plus, the
baseline alone with probability minus; half of the samples come before the test.
"""

import sys
import time

import numpy as np

from alignlearn.comparison import Protocol, compare
from alignlearn.significance import paired_t_test, prequential_test
from alignlearn.significance.prequential import binomial_tail

METHODS = ("uniform", "best-single", "align", "alignf")
LEVEL = 0.05
CASES = (  # task, samples, features, folds
    ("classification", 40, 2, 5),
    ("classification", 40, 10, 5),
    ("classification", 100, 2, 5),
    ("classification", 100, 2, 10),
    ("regression", 40, 2, 5),
    ("regression", 100, 2, 10),
)
NAMES = ("paired t, not corrected", "corrected t", "prequential")


def p_values(task, m, d, folds, seed):
    """P-values of each test, (3, 2 (methods - 1)): each method against uniform, and the reverse."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    y = rng.standard_normal(m) if task == "regression" else rng.integers(0, 2, m)
    found = []
    for test in ("corrected-t", "prequential"):
        protocol = Protocol(n_folds=folds, random_state=seed, test=test)
        result = compare(X, y, methods=METHODS, task=task, protocol=protocol)
        pairs = [p for name in METHODS[1:] for p in ((name, "uniform"), ("uniform", name))]
        if test == "corrected-t":
            errors = {name: result.error[result.index(name)] for name in METHODS}
            found.append([paired_t_test(errors[a], errors[b]).p_value for a, b in pairs])
        found.append([result.p_value(a, b) for a, b in pairs])
    return np.array(found)


def levels(runs):
    print(f"share of p <= {LEVEL}: mean over the pairs of methods, largest of a pair ({runs} runs)")
    for case in CASES:
        start, found, seed = time.perf_counter(), [], 0
        while len(found) < runs:
            seed += 1
            try:
                found.append(p_values(*case, seed))
            except ValueError:  # a class with too few samples
                continue
        shares = (np.array(found) <= LEVEL).mean(0)
        text = "  ".join(
            f"{name} {row.mean():.3f} {row.max():.3f}" for name, row in zip(NAMES, shares)
        )
        print(f"{case}: {text}  ({time.perf_counter() - start:.0f} s)", flush=True)


def differences(rng, n, plus, minus):
    """n differences of 0-1 losses."""
    u = rng.random(n)
    return (u < plus).astype(float) - ((u >= plus) & (u < plus + minus))


def powers(runs):
    print(f"share of p <= {LEVEL} ({runs} runs): sign test, betting, one held-out fold of five")
    rng = np.random.default_rng(0)
    for m, plus, minus in (
        (200, 0.08, 0.03), (600, 0.08, 0.03), (2000, 0.08, 0.03),
        (600, 0.05, 0.03), (600, 0.15, 0.08), (600, 0.05, 0.01), (600, 0.05, 0.05),
    ):  # fmt: skip
        found = np.zeros(3)
        for _ in range(runs):
            pilot, D = differences(rng, m // 4, plus, minus), differences(rng, m // 2, plus, minus)
            pair = [(np.maximum(-v, 0.0), np.maximum(v, 0.0)) for v in (pilot, D)]
            result = prequential_test(*pair[1], pilot=pair[0])
            fold = differences(rng, m // 5, plus, minus)
            held_out = binomial_tail(int(np.abs(fold).sum()), int((fold > 0).sum()))
            p = np.array([result.p_value, result.betting_p_value, held_out])
            found += p <= LEVEL
        shares = "  ".join(f"{share:.3f}" for share in found / runs)
        print(f"m={m} plus={plus} minus={minus}: {shares}", flush=True)


if __name__ == "__main__":
    what, runs = (sys.argv[1:] + ["level", "400"][len(sys.argv[1:]) :])[:2]
    {"level": levels, "power": powers}[what](int(runs))
