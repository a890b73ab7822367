"""Figure on the generalization bounds that follow from stability."""

from __future__ import annotations

import numpy as np

from alignlearn.bounds.fitted import exchange_bound

from ..bounds import concentration
from ..bounds.generalization import lkrr_bound_printed
from . import style
from .curves import CURVES

DELTA = 0.05


def coin_quantile(sizes, label=10.0, delta=DELTA):
    """1 - delta quantile of R - R_S for labels 0 and `label` by a fair coin and the predictor 0.

    Exact: R_S is label^2 times a binomial share.
    """
    from scipy.stats import binom

    return label**2 * (0.5 - binom.ppf(delta, sizes, 0.5) / sizes)


def constant_kernel_quantile(sizes, lam0, delta=DELTA):
    """1 - delta quantile of R - R_S for labels 0 and 1 by a fair coin and ridge with K = 1.

    Exact: with s the share of ones the predictor is h = s/(1 + lam0), and R - R_S = (1/2 - s)(1 - 2
    h), which falls in s for lam0 >= 3.
    """
    from scipy.stats import binom

    share = binom.ppf(delta, sizes, 0.5) / sizes
    return (0.5 - share) * (1 - 2 * share / (1 + lam0))


def generalization(quick=False):
    """Draw theorem 17 and theorem 3, printed and corrected, against m."""
    figure, axes = style.new_figure(3, height=11.4)
    _draw_theorem_17(axes[0])
    _draw_one_stage(axes[1])
    _draw_coin(axes[2])
    figure.suptitle(
        f"Bounds on the generalization gap from algorithmic stability, $\\delta={DELTA}$",
        fontsize=11,
    )
    return figure


def _mark(ax, curve, level, changes, names):
    starts = curve.smallest(DELTA, changes)
    for name, color, place in names:
        options = {"shift": (-4, -13), "ha": "right"} if place == "left" else {}
        style.mark_start(ax, starts[name], level, color, **options)


def _draw_theorem_17(ax):
    """Draw lam0 = 0.1, where the printed bound is large, and 100, where it is false."""
    curve, m = CURVES["p1-theorem-17"], style.log_grid(10, 1e6)
    looks = (
        ("printed", "Theorem 17 as printed (false)", style.PRINTED),
        (
            "printed, M1^2/4 for M1 M2/4",
            "as printed, with $M_1^2/4$ for $M_1M_2/4$",
            style.REPAIRED,
        ),
        ("corrected", "corrected", style.CORRECTED),
    )
    values = {lam0: curve.values(m, DELTA, {"lam0": lam0}) for lam0 in (0.1, 100.0)}
    for name, label, look in looks:
        ax.plot(m, values[0.1][name], label=label, **look)
    for name, _, look in (looks[0], looks[2]):
        ax.plot(m, values[100.0][name], **look)
    for lam0, found in values.items():
        place = (1.3e6, found["corrected"][-1])
        ax.annotate(
            f"$\\lambda_0={lam0:g}$", place, xytext=(7, -4), textcoords="offset points", fontsize=9,
            va="center", color="#444444",
        )  # fmt: skip
    sizes = style.log_grid(10, 1e6, 14)
    found = constant_kernel_quantile(sizes, 100.0)
    name = r"observed 95% quantile, $K=1$, random labels 0 and 1, $\lambda_0=100$"
    ax.plot(sizes, found, label=name, **style.OBSERVED)
    wrong = found > np.interp(sizes, m, values[100.0]["printed"])
    _mark_violations(ax, sizes, found, wrong)
    title = "(a) Theorem 17, $M=\\kappa=1$,\nweights fixed in advance"
    style.finish(ax, y=r"generalization gap $R-\hat R$, units of $y^2$", title=title, legend=None)
    ax.set_ylim(5e-6, 3e4)
    ax.set_xlim(6, 1.6e7)
    style.shade_vacuous(ax, 1.0, "shaded: vacuous")
    _mark(ax, curve, 1.0, {"lam0": 0.1}, (("corrected", style.BLUE, "left"),))
    style.legend_below(ax, 1)


def _mark_violations(ax, sizes, found, wrong):
    look = {"mfc": "none", "mec": style.RED, "markersize": 9, "mew": 1.5, "linestyle": ""}
    ax.plot(sizes[wrong], found[wrong], "o", label="violates the printed bound", **look)


def _draw_one_stage(ax):
    curve, m = CURVES["p2-theorem-3"], style.log_grid(10, 1e7)
    values = curve.values(m, DELTA)
    ax.plot(
        m,
        values["printed"],
        label="Theorem 3 as printed (false), correct stability",
        **style.PRINTED,
    )
    ax.plot(m, values["corrected"], label="corrected", **style.CORRECTED)
    title = "(b) Theorem 3, four kernels,\n$\\Lambda=\\lambda_0=1$, $|y|\\leq 1$"
    style.finish(ax, y=r"generalization gap $R-\hat R$, units of $y^2$", title=title, legend=None)
    ax.set_ylim(0.1, 1e4)
    style.shade_vacuous(ax, 1.0, "shaded: vacuous")
    names = ("corrected", style.BLUE, "left"), ("printed", style.RED, "right")
    _mark(ax, curve, 1.0, {}, names)
    style.legend_below(ax, 1)


def _draw_coin(ax):
    label = 10.0
    m = style.log_grid(10, 1e6)
    printed = [lkrr_bound_printed(0.0, s, DELTA, label, 0.0) for s in m]
    right = [exchange_bound(0.0, s, DELTA, 0.0, label**2) for s in m]
    ax.plot(m, printed, label="Theorem 3 as printed (false)", **style.PRINTED)
    ax.plot(m, right, label="corrected", **style.CORRECTED)
    sizes = style.log_grid(10, 1e6, 14)
    found = coin_quantile(sizes, label)
    ax.plot(sizes, found, label="exact 95% quantile of the gap", **style.OBSERVED)
    wrong = found > np.interp(sizes, m, printed)
    _mark_violations(ax, sizes, found, wrong)
    title = (
        "(c) Theorem 3, random labels 0 and 10,\n"
        r"$K\approx 0$: the loss is bounded by $M^2$, not $M$"
    )
    style.finish(ax, y=r"generalization gap $R-\hat R$, units of $y^2$", title=title, legend=None)
    ax.set_ylim(5e-3, 1e3)
    risk = label**2 / 2
    style.shade_vacuous(ax, risk, "shaded: vacuous, more than $R=50$")
    start = concentration.smallest_sample_size(
        lambda s: exchange_bound(0.0, s, DELTA, 0.0, label**2), risk
    )
    if start > m[0]:
        style.mark_start(ax, start, risk, style.BLUE)
    style.legend_below(ax, 1)
