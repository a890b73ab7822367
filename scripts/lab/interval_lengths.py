#!/usr/bin/env python
"""Lengths and coverage of the exact intervals for the alignment, and of the asymptotic one.

On the ten distributions of `alignlearn.theory.reference.class_laws`: the coverage of the asymptotic
interval and its mean length, by the number of samples, in bold if the coverage is three standard
errors below 1 - delta. For the largest number of samples: the mean lengths of betting on the parts
and on the ratio, and in the second table their ratios to the asymptotic one, in bold up to 3. The
"lower limit" is a length in these units that no interval of this coverage can undercut on average
(``p1_alignment/proofs.md``, section 25). It is the change of the alignment by atoms of mass eps
that may be missing from a sample, at the place of an atom of the distribution or orthogonal to all,
with either label.
"""

import numpy as np
from _studies import publish, study
from alignlearn.theory.reference.class_laws import class_laws
from alignlearn.theory.reference.problems import FiniteDistribution

from alignlearn.bounds.asymptotic import asymptotic_interval
from alignlearn.bounds.class_betting import class_betting_interval
from alignlearn.bounds.class_intervals import FeatureRange
from alignlearn.bounds.ratio_betting import ratio_interval

DELTA = 0.05
UNIT = FeatureRange(1.0, non_negative=True)


def floor(chosen, m):
    """The length that no interval undercuts on average."""
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
        factor = 1 - 2 * DELTA * (1 - eps) ** -m
        best = max(best, factor * (np.nanmax(found) - np.nanmin(found)))
    return best


def measured(chosen, m, runs, exact=0):
    """Lengths (samples, 3) and coverages of the three intervals; exact ones for some samples."""
    lengths, held = [], []
    for seed in range(runs):
        rows = chosen.law.sample(m, seed)
        K, y = chosen.K[np.ix_(rows, rows)], chosen.law.labels[rows]
        if y.min() == y.max():
            continue
        ends = [asymptotic_interval(K, np.outer(y, y), DELTA)]
        if seed < exact:
            ends.append(class_betting_interval(K, y, DELTA, UNIT))
            ends.append(ratio_interval(K, y, (-1, 1), DELTA, UNIT))
        lengths.append([*(e.high - e.low for e in ends), np.nan, np.nan][:3])
        held.append([*(e.low <= chosen.alignment <= e.high for e in ends), np.nan, np.nan][:3])
    return np.array(lengths), np.array(held, dtype=float)


def bold(text, much):
    """The text, in bold if ``much``."""
    return f"**{text}**" if much else text


def row(chosen, args):
    """The cells of both tables for a distribution."""
    name, last = chosen.name.replace(" .", " 0."), args.sizes[-1]
    cells = [name, f"{chosen.alignment:.3f}"]
    for m, runs in zip(args.sizes, args.runs):
        lengths, held = measured(chosen, m, runs, args.exact if m == last else 0)
        low = held[:, 0].mean() < 1 - DELTA - 3 * standard_error(runs)
        cells.append(f"{bold(f'{held[:, 0].mean():.2f}', low)} ({lengths[:, 0].mean():.2f})")
    both = lengths[~np.isnan(lengths[:, 1])]
    short, parts, ratio = both.mean(axis=0)
    ratios = [bold(f"{v:.{int(v < 100)}f}", v <= 3) for v in (parts / short, ratio / short)]
    print(f"{name}: the exact intervals cover {np.nanmin(held[:, 1:]):.0f}", flush=True)
    return (
        (*cells, f"{parts:.2f}", f"{ratio:.2f}"),
        (name, *ratios, f"{floor(chosen, last) / short:.2g}"),
    )


def standard_error(runs):
    """Of a coverage of 1 - delta."""
    return np.sqrt(DELTA * (1 - DELTA) / runs)


if __name__ == "__main__":
    args = study(
        __doc__,
        sizes=((50, 100, 200, 500), (30, 40, 50, 60)),
        runs=((600, 600, 400, 200), (2,) * 4),
        exact=(10, 2),
    )
    coverage, lengths = zip(*(row(chosen, args) for chosen in class_laws()))
    publish(args, "interval-coverage", coverage)
    publish(args, "interval-lengths", lengths)
    errors = {f"se-{m}": f"{standard_error(n):.3f}" for m, n in zip(args.sizes, args.runs)}
    publish(args, "alignment-intervals", errors)
