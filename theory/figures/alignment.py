"""Figures on the alignment and its numerator: concentration, bias and sensitivity, figure 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn.bounds.intervals import alignment_interval_from

from ..bounds import concentration as bounds
from ..p1_alignment.lemma_18 import extremal, measure
from ..reference.problems import FiniteDistribution, gaussian_kernel, numerators, two_points
from . import style
from .curves import CURVES, mixture

DELTA = 0.05
HALF = 0.5


def mixture_distribution(order=16):
    """The mixture of the examples as a finite distribution of equal moments, and its kernel.

    Gauss-Hermite nodes, ``order`` in each direction and class.

    Returns
    -------
    (distribution, K) : FiniteDistribution, array (n, n)
    """
    nodes, w = np.polynomial.hermite_e.hermegauss(order)
    w = w / w.sum()
    x, y = np.meshgrid(nodes, nodes, indexing="ij")
    cloud = np.stack([x.ravel(), y.ravel()], axis=1)
    means = mixture().means
    points = np.concatenate([mean + cloud for mean in means])
    weights = np.tile(np.outer(w, w).ravel(), 2) / 2
    keep = weights > 1e-14
    labels = np.repeat(mixture().labels, order**2)[keep]
    distribution = FiniteDistribution(weights[keep] / weights[keep].sum(), labels)
    return distribution, gaussian_kernel(points[keep], 1.0)


# -- concentration ---------------------------------------------------------------------


class Samples(NamedTuple):
    """Statistics of samples of the mixture, one row for each m."""

    m: np.ndarray
    deviation: np.ndarray  # median and 95% quantile of |rho - rho_S|
    alignment: np.ndarray  # 2.5%, 50%, 97.5% quantiles of rho_S
    interval: np.ndarray  # mean ends of the interval
    covered: np.ndarray  # share of intervals that contain rho


def sample_concentration(sizes, trials, random_state=0) -> Samples:
    """Compute alignments and intervals of `trials` samples of each size."""
    distribution, K = mixture_distribution()
    L = distribution.target()
    rho = distribution.alignment(K, L)
    rng = np.random.default_rng(random_state)
    deviation, alignment, interval, covered = [], [], [], []
    for m in sizes:
        counts = distribution.counts(int(m), trials, rng)
        f, a, c = (np.maximum(numerators(counts, *pair), 0) for pair in ((K, L), (K, K), (L, L)))
        # A sample of one class has no alignment; it does not occur for the sizes drawn.
        defined = c > 1e-12
        f, a, c = f[defined], a[defined], c[defined]
        found = f / np.sqrt(a * c)
        deviation.append(np.quantile(np.abs(found - rho), (0.5, 0.95)))
        alignment.append(np.quantile(found, (0.025, 0.5, 0.975)))
        ends = np.array([alignment_interval_from(m, DELTA, *row)[:2] for row in zip(f, a, c)])
        interval.append(ends.mean(0))
        covered.append(((ends[:, 0] <= rho) & (rho <= ends[:, 1])).mean())
    return Samples(np.asarray(sizes), *map(np.array, (deviation, alignment, interval, covered)))


def concentration(quick=False):
    """Draw |rho - rho_S| against m: printed and sharpened bounds, observed values, the interval."""
    sizes = style.log_grid(10, 1e6, 6 if quick else 16)
    shown = sample_concentration(sizes, 100 if quick else 2000)
    moments = mixture().gaussian_moments(1.0)
    figure, (left, right) = style.new_figure(2, columns=1, height=10.4)
    _draw_bounds(left, shown)
    _draw_interval(right, shown, moments)
    figure.suptitle(
        "Centered alignment of the Gaussian kernel of width 1 with the labels of two normal\n"
        rf"distributions in the plane at distance 2, $\delta={DELTA}$",
        fontsize=11,
    )
    return figure


def _draw_bounds(ax, shown):
    m = style.log_grid(10, 1e8)
    values = CURVES["p1-theorem-12"].values(m, DELTA)
    values["unbiased"] = CURVES["p1-u-alignment"].values(m, DELTA)["Bernstein (D)"]
    starts = half_starts()
    names = {
        "printed": ("Theorem 12 as printed", style.PRINTED),
        "form (iii)": ("Theorem 12, corrected", style.CORRECTED),
        "unbiased": ("unbiased estimate, variances known", style.REPAIRED),
        "interval": ("interval from the data, length", style.INTERVAL),
    }
    for name, (label, look) in names.items():
        ax.plot(m, values[name], label=f"{label}: $m$ = {style.count(starts[name])}", **look)
    ax.plot(
        shown.m, shown.deviation[:, 1], label="observed deviation, 95% quantile", **style.OBSERVED
    )
    title = "(a) Bounds on the deviation, and the observed deviation"
    style.finish(ax, y=r"deviation $|\rho-\hat\rho|$, or interval length", title=title, legend=None)
    ax.set_ylim(2e-4, 3e3)
    words = "shaded: vacuous\ndots, and $m$ in the legend: bound is below 1/2"
    style.shade_vacuous(ax, 1.0, words)
    ax.axhline(HALF, color=style.GRAY, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
    for name, (_, look) in names.items():
        dot = {"color": look["color"], "markersize": 6, "mec": "white", "mew": 0.9, "zorder": 5}
        ax.plot([starts[name]], [HALF], "o", **dot)
    style.legend_below(ax, 2)


def half_starts():
    """Smallest m at which each form, and the length of the interval, is below 1/2."""
    found = {}
    for claim, forms in (("p1-theorem-12", None), ("p1-u-alignment", {"Bernstein (D)"})):
        curve = CURVES[claim]
        numbers = curve.numbers()
        for name, form in curve.forms.items():
            if forms is None or name in forms:
                found[name] = bounds.smallest_sample_size(
                    lambda m, form=form, numbers=numbers: form(m, DELTA, **numbers), HALF, 10
                )
    found["unbiased"] = found.pop("Bernstein (D)")
    return found


def _draw_interval(ax, shown, moments):
    m = style.log_grid(10, 1e6, 120)
    low, high = _population_interval(m, moments)
    ax.fill_between(m, low, high, color=style.PURPLE, alpha=0.25, linewidth=0)
    ax.plot(m, low, color=style.PURPLE, linewidth=1.2)
    ax.plot(m, high, color=style.PURPLE, linewidth=1.2, label="confidence interval (mean limits)")
    middle = shown.alignment[:, 1]
    reach = [middle - shown.alignment[:, 0], shown.alignment[:, 2] - middle]
    ax.errorbar(
        shown.m, middle, reach, fmt="o", color=style.BLACK, markersize=4, elinewidth=1,
        capsize=2, label=r"sample alignment $\hat\rho$: median, 95% range",
    )  # fmt: skip
    ax.axhline(
        moments.alignment, color=style.GREEN, linewidth=1.4, label=r"population alignment $\rho$"
    )
    title = "(b) Confidence interval computed from the sample"
    style.finish(ax, y="centered alignment", title=title, log="x", legend=None)
    ax.set_ylim(-0.02, 1.05)
    useful = half_starts()["interval"]
    ax.axvspan(7, useful, color="#000000", alpha=0.07, linewidth=0, zorder=0)
    ax.set_xlim(7, 1.5e6)
    words = f"shaded: longer than 1/2, $m$ < {useful:,}"
    ax.text(9, 0.94, words, fontsize=9, color="#444444")
    words = f"the interval contains $\\rho$ in\n{shown.covered.min():.1%} of the samples"
    ax.text(0.98, 0.96, words, transform=ax.transAxes, ha="right", va="top", fontsize=9)
    style.legend_below(ax)


def _population_interval(m, moments):
    values = moments.numerator, moments.kernel_norm, moments.target_norm
    return np.array([alignment_interval_from(size, DELTA, *values)[:2] for size in m]).T


# -- bias and sensitivity --------------------------------------------------------------


def bias(quick=False):
    """Draw the bias of the numerator and its largest change by one exchanged point against m."""
    figure, (left, right) = style.new_figure(2, columns=1, height=9.4)
    _draw_bias(left)
    _draw_sensitivity(right, quick)
    return figure


def bias_examples():
    """Map names to (distribution, K, K'), scaled to R = R' = 1."""
    x = np.array([1.0, -1.0])
    coin = FiniteDistribution(np.full(2, 0.5))
    three = FiniteDistribution(np.array([1 / 2, 1 / 3, 1 / 6]))
    u, w = np.array([1.0, 0.5, -1.0]), np.array([1.0, -1.0, 1 / 3])
    K = np.outer(u, u) + np.eye(3) / 2
    distribution, G = mixture_distribution()
    return {
        "points $\\pm1$, $K=K'=xx'$": (coin, np.outer(x, x), np.outer(x, x)),
        "three points": (three, K / np.diagonal(K).max(), np.outer(w, w)),
        "two normal distributions, Gaussian kernel": (distribution, G, distribution.target()),
    }


def _draw_bias(ax):
    m = style.log_grid(2, 1e4)
    ax.plot(m, 18 / m, label="Lemma 19 as printed: 18/m", **style.PRINTED)
    sharp = [bounds.bias_bound(size) for size in m]
    ax.plot(m, sharp, label=r"sharpened: $(2m^2-3m+2)/m^3$", **style.CORRECTED)
    marks = style.log_grid(2, 1e4, 15)
    colors = (style.BLACK, style.ORANGE, style.GREEN)
    for (name, (distribution, K, L)), shape, color in zip(bias_examples().items(), "osD", colors):
        found = distribution.moments(K, L)
        shown = [abs(bounds.expected_numerator(int(s), *found) - found.theta) for s in marks]
        ax.plot(marks, shown, shape, color=color, markersize=5, label=f"exact bias: {name}")
    title = "(a) Bias of the numerator $f=\\langle K_c,K'_c\\rangle/m^2$"
    y = r"$|\mathrm{E}f-\mathrm{E}[K_cK'_c]|\ /\ (R^2R'^2)$"
    style.finish(ax, y=y, title=title, legend="below")
    ax.set_ylim(2e-6, 20)
    style.shade_vacuous(ax, 1.0, "shaded: vacuous")
    style.mark_start(ax, 19, 1.0, style.RED)


def _draw_sensitivity(ax, quick):
    """Draw the sensitivity times m on a linear axis, so that 5.38 and 4.74 can be distinguished."""
    m = style.log_grid(2, 1e4)
    forms = (
        ("sharpened: 5.38", {}, style.CORRECTED),
        ("for a target kernel: 128/27 = 4.74", {"scalar_target": True}, style.INTERVAL),
        ("for $K'=K$: tends to 3.375", {"same_kernel": True}, style.REFINED),
    )
    for label, options, look in forms:
        values = [size * bounds.perturbation_bound(size, **options) for size in m]
        ax.plot(m, values, label=label, **look)
    sizes = np.array([3, 6, 12, 24, 51, 99] if quick else [3, 6, 12, 24, 51, 99, 201, 501, 999])
    shown = [size * measure(extremal(int(size))) for size in sizes]
    look = style.OBSERVED | {"linestyle": ""}
    ax.plot(sizes, shown, label="attained by points $\\pm1$ and a target kernel", **look)
    title = "(b) Largest change by replacing one point, times $m$"
    y = r"$m\,|f(S)-f(S')|\ /\ (R^2R'^2)$"
    style.finish(ax, y=y, title=title, log="x", legend="below")
    ax.set_ylim(0, 7)
    ax.plot(m, m, color=style.GRAY, linewidth=0.8, zorder=1)
    ax.fill_between(m, np.minimum(m, 7), 7, color="#000000", alpha=0.07, linewidth=0, zorder=0)
    ax.text(8, 6.7, "shaded: vacuous", fontsize=9, color="#444444")
    words = "Lemma 18 as printed: 24"
    ax.annotate(
        words, (600, 6.95), xytext=(600, 6.25), ha="center", color=style.RED, fontsize=9.5,
        arrowprops={"arrowstyle": "->", "color": style.RED},
    )  # fmt: skip


# -- figure 1 --------------------------------------------------------------------------


def figure_1(quick=False):
    """Draw the uncentered and the centered alignment with the labels against a class's share."""
    shares = np.linspace(0, 1, 21 if quick else 101)
    uncentered, centered = np.array([two_point_alignments(share) for share in shares]).T
    figure, (ax,) = style.new_figure()
    ax.plot(shares, uncentered, label="uncentered alignment $A$", **style.PRINTED)
    ax.plot(shares, centered, label=r"centered alignment $\rho$", **style.CORRECTED)
    hollow = {"mfc": "white", "mec": style.BLUE, "ms": 7, "mew": 1.6, "clip_on": False}
    ax.plot([0, 1], [1, 1], "o", label=r"$\rho$ undefined: $K_c=0$", zorder=6, **hollow)
    x = r"proportion $\alpha$ of points at $(-1,0)$, with label $-1$"
    title = r"Two classes at two points, $K(x,x')=x\cdot x'+1$: separable for every $\alpha$"
    style.finish(ax, x=x, y="alignment with the labels", title=title, log="", legend=None)
    ax.set_ylim(0.6, 1.05)
    ax.set_xlim(0, 1)
    ax.annotate(
        r"$1/\sqrt{2}$", (0.5, 2**-0.5), xytext=(0, -16), textcoords="offset points", ha="center",
        color=style.RED, fontsize=10,
    )  # fmt: skip
    ax.legend(loc="lower left", fontsize=9, framealpha=0.92, edgecolor="none")
    return figure


def two_point_alignments(share):
    """(A, rho) of the two-point distribution; rho is nan at 0 and 1."""
    distribution, K = two_points(float(share))
    L = distribution.target()
    size = np.sqrt(distribution.pair_mean(K * K) * distribution.pair_mean(L * L))
    return distribution.pair_mean(K * L) / size, distribution.alignment(K, L)
