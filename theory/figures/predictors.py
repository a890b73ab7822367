"""Figure on predictors with a guarantee from a large alignment: risks against sample size."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..bounds import predictors as promised
from ..p1_alignment.h_s_rate import counterexample
from ..reference import predictors
from ..reference.problems import FiniteDistribution, gaussian_kernel, numerators
from . import style

BANDWIDTH = 1.0


def line_distribution(distance=3.0, step=0.05):
    """Two normal distributions with labels +-1, discretized on a grid, and their kernel."""
    points = np.arange(-distance / 2 - 5, distance / 2 + 5 + step, step)
    both = np.r_[points, points]
    labels = np.repeat([1.0, -1.0], len(points))
    weights = np.exp(-((both - labels * distance / 2) ** 2) / 2)
    distribution = FiniteDistribution(weights / weights.sum(), labels)
    return distribution, gaussian_kernel(both[:, None], BANDWIDTH)


class Risks(NamedTuple):
    """Risks of h_S, (sizes, trials) each."""

    classification: np.ndarray
    regression: np.ndarray


def sample_risks(distribution, K, sizes, trials, random_state=0) -> Risks:
    """Population risks of h_S for samples of each size, centered on the sample."""
    rng = np.random.default_rng(random_state)
    y, p = distribution.labels, distribution.weights
    found = []
    for m in sizes:
        W = distribution.counts(int(m), trials, rng) / m
        centered = W * (y - (W @ y)[:, None])
        h = centered @ K - (centered * (W @ K)).sum(1, keepdims=True)
        spread = (centered * y).sum(1)
        size = np.sqrt(np.maximum(numerators(W, K, K), 0)) * spread
        # A sample with one class only gives the predictor 0.
        h = np.where(size[:, None] > 1e-12, h / np.where(size > 1e-12, size, 1)[:, None], 0.0)
        found.append(((h * y < 0) @ p, ((y - h) ** 2) @ p))
    return Risks(*np.array(found).transpose(1, 0, 2))


def coin_gaps(sizes, trials, random_state=0) -> Risks:
    """|R(h*) - R(h_S)| on the points of `p1-h-s-rate`, whose third label is a fair coin."""
    case = counterexample()
    distribution, K = case["law"], case["K"]
    best = predictors.h_star(distribution, K, general=True)
    # Exactly zero on the third point.
    best = np.where(np.abs(best) < 1e-12, 0.0, best)
    found = sample_risks(distribution, K, sizes, trials, random_state)
    return Risks(
        np.abs(found.classification - predictors.classification_risk(distribution, best)),
        np.abs(found.regression - predictors.regression_risk(distribution, best)),
    )


def predictor_risks(quick=False):
    """Draw the risks of h_S and h*, and the bounds of the theorems, against m."""
    distribution, K = line_distribution()
    sizes = style.log_grid(10, 1e6, 7 if quick else 16)
    found = sample_risks(distribution, K, sizes, 50 if quick else 600)
    rho = distribution.alignment(K, distribution.target())
    h = predictors.h_star(distribution, K)
    figure, axes = style.new_figure(3, height=10.6)
    _draw_classification(axes[0], distribution, K, sizes, found, rho, h)
    _draw_regression(axes[1], distribution, sizes, found, rho, h)
    _draw_gaps(axes[2], distribution, h, sizes, found, coin_gaps(sizes, 50 if quick else 600))
    figure.suptitle(
        "Predictors from alignment: two normal distributions on the line at distance 3,\n"
        rf"Gaussian kernel, $\rho={rho:.3f}$",
        fontsize=11,
    )
    return figure


def _band(ax, sizes, values, color, label):
    low, middle, high = np.quantile(values, (0.05, 0.5, 0.95), axis=1)
    ax.fill_between(sizes, low, high, color=color, alpha=0.25, linewidth=0)
    look = style.OBSERVED | {"color": color}
    ax.plot(sizes, middle, label=label, **look)


def _level(ax, value, label, look):
    ax.axhline(value, label=f"{label} = {value:.3f}", **look)


def _draw_classification(ax, distribution, K, sizes, found, rho, h):
    Kc = distribution.center(K)
    gamma = predictors.gamma_values(distribution, K).max()
    rho_u = float(distribution.moments(K, distribution.target()).theta)
    g = promised.unnormalized_guarantee(rho_u, np.diagonal(Kc).max())
    guarantee = promised.classification_guarantee(rho, gamma)
    _level(ax, g, r"Theorem 15: $1-\rho_u/R^2$", style.REPAIRED)
    _level(ax, guarantee, r"Theorem 13: $1-\rho/\Gamma$", style.CORRECTED)
    _level(ax, predictors.classification_risk(distribution, h), r"$R(h^*)$", style.REFINED)
    _band(ax, sizes, found.classification, style.BLACK, "$R(h_S)$: median, 90% band")
    style.finish(ax, y=r"error rate $\Pr[y\,h(x)<0]$", title="(a) Classification", legend=None)
    ax.set_ylim(0.04, 1.4)
    style.shade_vacuous(ax, 1.0, "shaded: vacuous")
    _plain_ticks(ax, (0.05, 0.1, 0.2, 0.5, 1.0))
    style.legend_below(ax, 1)


def _draw_regression(ax, distribution, sizes, found, rho, h):
    energy = float(distribution.mean(h**2))
    _level(
        ax, promised.regression_guarantee_printed(rho), r"Theorem 14: $2(1-\rho)$", style.PRINTED
    )
    _level(ax, promised.regression_guarantee(rho), r"sharpened: $1-\rho$", style.CORRECTED)
    _level(ax, predictors.regression_risk(distribution, h), r"$R(h^*)$", style.REFINED)
    scaled = promised.scaled_regression_risk(rho, energy)
    _level(ax, scaled, r"best multiple of $h^*$", style.INTERVAL)
    _band(ax, sizes, found.regression, style.BLACK, "$R(h_S)$: median, 90% band")
    title = "(b) Regression on the labels"
    style.finish(ax, y=r"squared error $\mathrm{E}(y-h(x))^2$", title=title, legend=None)
    ax.set_ylim(0.18, 2.6)
    style.shade_vacuous(ax, 1.0, r"shaded: no better than $h=0$")
    _plain_ticks(ax, (0.2, 0.5, 1.0, 2.0))
    style.legend_below(ax, 1)


def _draw_gaps(ax, distribution, h, sizes, found, coin):
    squared = np.abs(found.regression - predictors.regression_risk(distribution, h))
    three = "three points, one with a random label"
    _band(ax, sizes, coin.classification, style.RED, f"0/1 loss, {three}")
    _band(ax, sizes, coin.regression, style.GREEN, f"squared loss, {three}")
    _band(ax, sizes, squared, style.BLUE, "squared loss, two normal distributions")
    ax.plot(sizes, 1 / np.sqrt(sizes), color=style.GRAY, linestyle=":", label=r"$1/\sqrt{m}$")
    title = r"(c) Difference between the risks of $h_S$ and $h^*$"
    style.finish(ax, y=r"$|R(h^*)-R(h_S)|$", title=title, legend=None)
    ax.set_ylim(2e-6, 2)
    style.legend_below(ax, 1)


def _plain_ticks(ax, ticks):
    ax.set_yticks(ticks, [f"{t:g}" for t in ticks])
    ax.set_yticks([], minor=True)
