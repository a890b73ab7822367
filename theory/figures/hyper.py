"""Figures on regression in a hyper-RKHS (P4): rates measured on the circle, and the power index."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..bounds import hyper_rates as rates
from ..reference import circle
from . import style

# r = 1, s = 1/2 and a target that is only just in the space.
S, DECAY, SIZE, NOISE = 0.5, 1.1, 64, 1.0
# (r, s, p, q) of theorem 1, with their colors.
SETTINGS = (
    ((1.0, 0.5, np.inf, 2.0), style.BLUE),
    ((0.5, 1e-6, 1.0, 3.0), style.GREEN),
    ((0.5, 0.5, 1.0, 2.0), style.PURPLE),
)


class Errors(NamedTuple):
    """Errors for each m: mean of |k_z - k_rho|, half of its 95% interval, and the bias."""

    mean: np.ndarray
    half: np.ndarray
    bias: np.ndarray


def circle_errors(sizes, alpha, samples, random_state=0) -> Errors:
    """Errors of ridge regression with lambda = m^-alpha and standard normal noise on each pair.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of points m.
    alpha : float
    samples : int
        Independent samples for each m, at least 2.
    random_state : int

    Returns
    -------
    Errors
    """
    rng = np.random.default_rng(random_state)
    found = np.array(
        [
            [
                circle.fitted_error(rng.random(m), m**-alpha, S, DECAY, SIZE, NOISE, rng)
                for _ in range(samples)
            ]
            for m in sizes
        ]
    )
    half = 1.96 * found.std(1, ddof=1) / np.sqrt(samples)
    bias = [np.sqrt(circle.squared_bias(m**-alpha, S, DECAY)) for m in sizes]
    return Errors(found.mean(1), half, np.array(bias))


def slope(sizes, errors) -> float:
    """Slope of log error against log m, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


def hyper_rate(quick=False):
    """Draw the error of ridge regression on the circle against m, with the claimed slopes."""
    sizes = 2 ** np.arange(3, 10 if quick else 14)
    figure, axes = style.new_figure(2, height=5.3)
    for ax, alpha, letter in zip(axes, (0.3, 0.8), "ab"):
        _draw_rate(ax, sizes, alpha, letter, 10 if quick else 60)
    figure.suptitle(
        r"Hyper-kernel $\sum_i i^{-4}\cos 2\pi i(x+x'-y-y')$ on the circle: $r=1$, $s=1/2$",
        fontsize=11,
    )
    return figure


def _draw_rate(ax, sizes, alpha, letter, samples):
    found = circle_errors(sizes, alpha, samples)
    printed = float(rates.ridge_exponent_printed(alpha, 1.0, S))
    proved = float(rates.ridge_exponent(alpha, 1.0, S)) / 2
    start = found.mean[0]
    for exponent, text, look in (
        (printed, "theorem 2 as printed", style.PRINTED),
        (proved, "proved", style.CORRECTED),
    ):
        line = start * (sizes / sizes[0]) ** -exponent
        ax.plot(sizes, line, label=rf"{text}: $m^{{-{exponent:.3g}}}$", **look)
    ax.plot(sizes, found.bias, label=r"bias $\|k_\lambda-k_\rho\|$, lower bound", **style.REFINED)
    measured = -slope(sizes[2:], found.mean[2:])
    ax.errorbar(
        sizes, found.mean, found.half, capsize=3,
        label=rf"measured, mean of {samples} samples: $m^{{-{measured:.2g}}}$",
        **style.OBSERVED | {"linestyle": "none"},
    )  # fmt: skip
    low = min(found.mean.min(), start * (sizes[-1] / sizes[0]) ** -max(printed, proved))
    ax.set_ylim(0.75 * low, 1.35 * start)
    style.finish(
        ax, x="sample size $m$", y=r"error $\|k_z-k_\rho\|$ in $L^2$",
        title=rf"({letter}) $\lambda=m^{{-{alpha:g}}}$", legend=None,
    )  # fmt: skip
    style.legend_below(ax, 1)


def hyper_theta(quick=False):
    """Draw the power index of theorems 1 and 2 over the exponent of the ridge, and its maximum."""
    figure, (left, right) = style.new_figure(2, height=5.3)
    _draw_theorem_1(left)
    _draw_theorem_2(right)
    return figure


def _text(value):
    return r"\infty" if np.isinf(value) else "0" if value < 1e-3 else f"{value:g}"


def _draw_theorem_1(ax):
    alpha = np.linspace(1e-3, 1.0, 600)
    for (r, s, p, q), color in SETTINGS:
        theta = rates.noise_exponent(p, q)
        name = f"$r={r:g}$, $s={_text(s)}$, $p={_text(p)}$, $q={q:g}$"
        printed = rates.svr_exponent_printed(alpha, r, s, theta)
        sharper = rates.svr_exponent(alpha, r, s, theta)
        ax.plot(alpha, sharper, color=color, linewidth=2.1, label=name)
        ax.plot(alpha, printed, color=color, linewidth=1.7, linestyle=(0, (5, 2)))
        for best, face in (
            (rates.svr_optimum_printed(r, s, theta), "white"),
            (rates.svr_optimum(r, s, theta), color),
        ):
            ax.plot(*best, "o", color=color, markerfacecolor=face, markersize=7, zorder=5)
    ax.plot([], [], color="black", linewidth=2.1, label="proved; filled circle: maximum")
    ax.plot(
        [],
        [],
        color="black",
        linewidth=1.7,
        linestyle=(0, (5, 2)),
        label="as printed; open circle: maximum",
    )
    _finish(ax, r"(a) Theorem 1: error of order $m^{-\Theta/q}$")


def _draw_theorem_2(ax):
    alpha = np.linspace(1e-3, 1.0, 600)
    r = 1.0
    # Frequencies from lambda^(-s/2) on are lost.
    bias = alpha * (1 + S * (DECAY - 1) / 2) / 2
    ax.plot(
        alpha,
        rates.ridge_exponent_printed(alpha, r, S),
        label=r"as printed, for the norm",
        **style.PRINTED,
    )
    ax.plot(
        alpha,
        rates.ridge_exponent_printed(alpha, r, S) / 2,
        label=r"as printed, for the squared norm",
        **style.REPAIRED,
    )
    ax.plot(
        alpha, rates.ridge_exponent(alpha, r, S) / 2,
        label=r"proved: $\min\{\alpha r,\,1-\alpha s/2\}/2$", **style.CORRECTED,
    )  # fmt: skip
    ax.plot(alpha, bias, label=r"bias on the circle (upper limit of the exponent)", **style.REFINED)
    for best, scale, look in (
        (rates.ridge_optimum_printed(r, S), 1.0, style.PRINTED),
        (rates.ridge_optimum_printed(r, S), 0.5, style.REPAIRED),
        (rates.ridge_optimum(r, S), 0.5, style.CORRECTED),
    ):
        ax.plot(best.alpha, scale * best.exponent, "o", color=look["color"], markersize=7)
    _finish(ax, r"(b) Theorem 2: norm of the error, $r=1$, $s=1/2$")


def _finish(ax, title):
    ax.set_xlim(0, 1)
    ax.set_ylim(0, None)
    style.finish(
        ax, x=r"exponent $\alpha$ of the ridge $\lambda=m^{-\alpha}$", y="exponent of the rate",
        title=title, log="", legend=None,
    )  # fmt: skip
    style.legend_below(ax, 1)
