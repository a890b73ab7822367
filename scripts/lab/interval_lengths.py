#!/usr/bin/env python
"""Lengths and coverage of the exact intervals for the alignment, beside the asymptotic one.

On the ten laws of `alignlearn.theory.reference.class_laws`: the mean length of the asymptotic
interval, of betting on the parts and of betting on the ratio over it, and the share of samples on
which either exact one holds the alignment. "floor" is a length over the asymptotic one that no
interval of this coverage can fall below on average (``p1_alignment/proofs.md``, section 25): atoms
of mass eps that a sample need not show, at the place of an atom of the law or orthogonal to all,
with either label, move the alignment so far.

    python scripts/lab/interval_lengths.py --samples 500 --runs 10
"""

import argparse

import numpy as np
from alignlearn.theory.reference.class_laws import class_laws
from alignlearn.theory.reference.problems import FiniteDistribution

from alignlearn.bounds.asymptotic import asymptotic_interval
from alignlearn.bounds.class_betting import class_betting_interval
from alignlearn.bounds.class_intervals import FeatureRange
from alignlearn.bounds.ratio_betting import ratio_interval

UNIT = FeatureRange(1.0, non_negative=True)


def floor(chosen, m, delta):
    """The length that no interval falls below on average."""
    K, law = chosen.K, chosen.law
    n = len(K)
    # Every atom with either label, and two new ones orthogonal to all, with either label.
    rows = np.r_[np.arange(n), np.arange(n), n, n, n + 1, n + 1]
    wide = np.eye(n + 2)
    wide[:n, :n] = K
    wide = wide[np.ix_(rows, rows)]
    labels = np.r_[law.labels, -law.labels, 1.0, -1.0, 1.0, -1.0]
    base = np.r_[np.asarray(law.weights, dtype=float), np.zeros(n + 4)]
    hidden = [np.eye(len(rows))[j] for j in range(len(rows))]
    hidden += [(hidden[2 * n] + hidden[2 * n + 3]) / 2]
    best = 0.0
    for eps in np.linspace(0.2, 2.2, 11) / m:
        found = []
        for atoms in hidden:
            mixed = FiniteDistribution((1 - eps) * base + eps * atoms, labels)
            found.append(mixed.alignment(wide, mixed.target()))
        factor = 1 - 2 * delta * (1 - eps) ** -m
        best = max(best, factor * (np.nanmax(found) - np.nanmin(found)))
    return best


def row(chosen, m, runs, delta):
    """Mean lengths of the three intervals, and coverages of the exact ones."""
    values = []
    for seed in range(runs):
        rows = chosen.law.sample(m, seed)
        K, y = chosen.K[np.ix_(rows, rows)], chosen.law.labels[rows]
        if y.min() == y.max():
            continue
        ends = (
            asymptotic_interval(K, np.outer(y, y), delta),
            class_betting_interval(K, y, delta, UNIT),
            ratio_interval(K, y, (-1, 1), delta, UNIT),
        )
        held = [e.low <= chosen.alignment <= e.high for e in ends[1:]]
        values.append([e.high - e.low for e in ends] + held)
    return np.mean(values, axis=0)


def main():
    """Print a row for each law."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--delta", type=float, default=0.05)
    options = parser.parse_args()
    heads = "asymptotic", "parts", "ratio", "floor", "held", "held"
    print(f"{'law':<34}" + "".join(f"{head:>11}" for head in heads))
    for chosen in class_laws():
        short, parts, ratio, *held = row(chosen, options.samples, options.runs, options.delta)
        least = floor(chosen, options.samples, options.delta)
        numbers = *(v / short for v in (parts, ratio, least)), *held
        print(
            f"{chosen.name:<34}{short:>11.4f}" + "".join(f"{v:>11.3g}" for v in numbers),
            flush=True,
        )


if __name__ == "__main__":
    main()
