"""Figure on the intervals for two classes: interval ends by sample size, lengths and coverage."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from alignlearn.bounds.class_betting import class_betting_interval
from alignlearn.bounds.class_intervals import FeatureRange, class_interval_from, class_statistics

from ..bounds.intervals import alignment_interval_of_grams
from ..reference.class_laws import class_laws
from ..reference.problems import gaussian_kernel
from . import style
from .curves import mixture

DELTA = 0.05
FEATURES = FeatureRange(1.0, non_negative=True)
SIZES = (50, 200, 1000)


# Descriptions of the distributions of `class_laws`; kernels are Gaussian unless stated.
_NAMES = {
    "independent labels, 4 atoms": "labels independent of x\non 4 points",
    "independent labels, 10 atoms": "labels independent of x\non 10 points",
    "separated, balanced": "separated classes",
    "separated, 95 to 5": "separated classes,\n95% and 5%",
    "three atoms of mass 1/100": "three rare points,\nprobability 0.01 each",
    "a pair of mass .002": "a rare pair of points,\nprobability 0.002",
    "near-constant kernel": "wide kernel, nearly constant",
    "near-identity kernel, 200 atoms": "narrow kernel on 200 points,\nnearly the identity",
    "share of labels .03": "overlapping classes,\n97% and 3%",
    "two normals at distance 2": "overlapping classes, two normal\ndistributions at distance 2",
}


class Ends(NamedTuple):
    """Mean ends, one row for each m, and the share of samples with a positive lower end."""

    m: np.ndarray
    ends: np.ndarray  # (sizes, 2)
    positive: np.ndarray  # (sizes,)


def closed_interval(K, y):
    """Return the interval in closed form."""
    m_plus, m_minus, distance, norm = class_statistics(K, y)
    return class_interval_from(m_plus, m_minus, DELTA, distance, norm, FEATURES)


def betting_interval(K, y):
    """Return the interval by betting."""
    return class_betting_interval(K, y, DELTA, FEATURES)


def operator_interval(K, y):
    """Return the interval by the norms of covariance operators, which allows any labels."""
    return alignment_interval_of_grams(K, np.outer(y, y), DELTA, 1.0, 1.0)


def mean_ends(interval, sizes, trials, bandwidth=1.0) -> Ends:
    """Mean ends over samples of two normal distributions in the plane at distance 2."""
    ends, positive = [], []
    for m in sizes:
        found = []
        for seed in range(trials):
            X, y = mixture().sample(int(m), seed)
            if y.min() < y.max():
                found.append(interval(gaussian_kernel(X, bandwidth), y)[:2])
        ends.append(np.mean(found, axis=0))
        positive.append(np.mean([low > 0 for low, _ in found]))
    return Ends(np.asarray(sizes), np.array(ends), np.array(positive))


def half_positive(interval, sizes, trials) -> int:
    """The smallest of the sizes at which the lower end is positive in half of the samples."""
    for m in sizes:
        if mean_ends(interval, [m], trials).positive[0] >= 0.5:
            return int(m)
    raise ValueError(f"the lower end is above 0 in fewer than half of the samples up to {m}.")


class Coverage(NamedTuple):
    """Coverage for one distribution and one m; the closed form comes first."""

    misses: np.ndarray  # (2,)
    samples: int
    length: np.ndarray  # (2,), means


@cache
def coverage(number, m, trials) -> Coverage:
    """Share of samples whose interval misses the alignment of a `class_laws` row, and mean length.

    Samples of one class are left out, because they have no interval.
    """
    chosen = class_laws()[number]
    rng = np.random.default_rng(number)
    misses, lengths = np.zeros(2, dtype=int), []
    for _ in range(trials):
        rows = chosen.law.sample(m, rng)
        K, y = chosen.K[np.ix_(rows, rows)], chosen.law.labels[rows]
        if y.min() == y.max():
            continue
        found = np.array([f(K, y)[:2] for f in (closed_interval, betting_interval)])
        misses += (chosen.alignment < found[:, 0]) | (found[:, 1] < chosen.alignment)
        lengths.append(found[:, 1] - found[:, 0])
    return Coverage(misses, len(lengths), np.mean(lengths, axis=0))


_LOOKS = (
    ("covariance operators, any labels", operator_interval, style.PURPLE, (0, (1, 1))),
    ("two classes, closed form", closed_interval, style.BLUE, "-"),
    ("two classes, betting", betting_interval, style.GREEN, (0, (5, 1.5))),
)


def class_intervals(quick=False):
    """Draw the limits of three intervals against m; lengths and misses on ten distributions."""
    figure, (left, right) = style.new_figure(2, columns=1, height=13.0)
    _draw_ends(left, quick)
    _draw_lengths(right, quick)
    figure.suptitle(
        rf"Confidence intervals for the centered alignment with two classes, $\delta={DELTA}$",
        fontsize=11,
    )
    return figure


def _draw_ends(ax, quick):
    sizes = style.log_grid(30, 300 if quick else 2000, 4 if quick else 14)
    trials = 3 if quick else 12
    # Where half of the samples have a lower end above 0 is looked for on a finer grid.
    fine = {1: range(80, 200, 10), 2: range(30, 130, 5)}
    for k, (name, interval, color, line) in enumerate(_LOOKS):
        shown = mean_ends(interval, sizes, trials)
        label = name
        if k in fine and not quick:
            label += f": lower limit above 0 for $m$ ≥ {half_positive(interval, fine[k], 40)}"
        for column in (0, 1):
            ax.plot(
                shown.m, shown.ends[:, column], color=color, linestyle=line, linewidth=2.0,
                marker="o" if column == 0 else "s", markersize=3.5,
                label=label if column == 0 else None,
            )  # fmt: skip
    rho = mixture().gaussian_moments(1.0).alignment
    ax.axhline(rho, color=style.BLACK, linewidth=1.0, label=rf"$\rho={rho:.3f}$")
    title = "(a) Mean limits: two normal distributions, Gaussian kernel of width 1"
    style.finish(ax, y="lower and upper limit", title=title, log="x", legend=None)
    ax.set_ylim(-0.02, 1.02)
    style.legend_below(ax)


def _draw_lengths(ax, quick):
    trials = dict(zip(SIZES, (4, 2, 1) if quick else (300, 100, 25)))
    distributions = class_laws()
    misses = samples = 0
    shades = dict(zip(SIZES, (style.ORANGE, style.RED, style.BLACK)))
    for row, _ in enumerate(distributions):
        for m in SIZES:
            found = coverage(row, m, trials[m])
            misses, samples = misses + found.misses, samples + found.samples
            place = row + (0.27 if m == 50 else -0.27 if m == 1000 else 0.0)
            look = {"color": shades[m], "markersize": 4.5, "linestyle": "none"}
            first = row == 0
            ax.plot(*_sides(found.length, place), color=shades[m], linewidth=1.0)
            ax.plot(
                found.length[0], place, "o", mfc="white",
                label=f"$m$ = {m}: closed form (hollow), betting (filled)" if first else None,
                **look,
            )  # fmt: skip
            ax.plot(found.length[1], place, "o", **look)
    names = [
        f"{_NAMES.get(distribution.name, distribution.name)}\n$\\rho={distribution.alignment:.3f}$"
        for distribution in distributions
    ]
    ax.set_yticks(range(len(distributions)), names)
    for row in range(1, len(distributions)):
        ax.axhline(row - 0.5, color="#DDDDDD", linewidth=0.8)
    ax.grid(False, axis="y")
    ax.tick_params(axis="y", labelsize=8.5)
    title = (
        f"(b) Mean length on ten distributions\nintervals without $\\rho$: "
        f"closed form {misses[0]}, betting {misses[1]} of {samples:,}"
    )
    style.finish(ax, x="interval length", y="", title=title, log="", legend=None)
    ax.set_xlim(-0.02, 1.05)
    ax.invert_yaxis()
    style.legend_below(ax)


def _sides(length, place):
    return [length[0], length[1]], [place, place]
