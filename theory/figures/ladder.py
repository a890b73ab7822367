"""Figures on ladders of hyper-kernels: errors on other widths, directions, ratios of rungs."""

from __future__ import annotations

import numpy as np

from alignlearn.hyper import GaussianHyperKernel, HyperKRR, difference_scales, hyper_kernels
from alignlearn.kernels import Gaussian

from ..bounds.hyper_rates import width_error
from ..bounds.ladder import ratio_error
from . import style

_DIMENSION = 3
_SIDE, _SHOWN = 2.0, 61  # half the width of the plane; points along each side of it
_STRETCH = np.array([2.0, 0.5])  # of the columns in the target


def hyper_ladder(quick=False):
    """Draw errors of one hyper-kernel and of a ladder, and an ellipse that neither learns."""
    figure, axes = style.new_figure(4, height=8.4)
    _draw_errors(axes[0], 25 if quick else 60, 3 if quick else 7)
    kernels = ellipses(40 if quick else 100)
    for ax, (name, kernel) in zip(axes[1:], kernels.items()):
        _contours(ax, kernel)
        ax.set_title(name, fontsize=10, loc="left")
    return figure


def measured_error(hyper, gamma, X, U):
    """Relative RMSE on pairs of new points U, of ridge regression on X at the best alpha."""
    kernel, values = Gaussian(gamma), Gaussian(gamma)(U)
    upper = np.triu_indices(len(U), 1)
    found = [
        HyperKRR(hyper, alpha, solver="pivoted", max_rank=200).fit(X, kernel(X)).predict(U) - values
        for alpha in (1e-4, 1e-1)
    ]
    return min(float(np.sqrt(np.square(f[upper]).mean())) for f in found) / values[upper].std()


def _draw_errors(ax, m, number):
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(m, _DIMENSION)), rng.normal(size=(200, _DIMENSION))
    scale, variances = float(_DIMENSION), np.ones(_DIMENSION)
    gammas = np.geomspace(0.03, 30.0, 200) / scale
    looks = (
        ("single hyper-kernel", [scale], GaussianHyperKernel(scale, multiple=7.0), style.RED, "v"),
        ("ladder", scale * 4.0 ** np.arange(-3, 4), hyper_kernels(unit=scale), style.BLUE, "o"),
    )
    for name, widths, hyper, color, marker in looks:
        least = [width_error(gamma, widths, variances) for gamma in gammas]
        ax.plot(scale * gammas, least, color=color, label=f"{name}: minimal error")
        some = gammas[:: len(gammas) // number]
        errors = [measured_error(hyper, gamma, X, U) for gamma in some]
        ax.plot(scale * some, errors, marker, color=color, label=f"{name}: fit to {m} points")
    ax.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
    ax.set_ylim(1e-3, 10.0)
    style.finish(
        ax, x=r"scaled rate $\gamma s$ of the target kernel", y="relative RMSE on new pairs",
        title="(a) Gaussian target kernels", legend=None,
    )  # fmt: skip
    style.legend_below(ax, 1)


def ellipse(X, Y):
    """A Gaussian kernel that decays faster in the first column."""
    return Gaussian(0.5)(X * _STRETCH, Y * _STRETCH)


def ellipses(m):
    """Draw the target, and the kernels that ladders learn without and with column scales."""
    X = np.random.default_rng(1).uniform(-_SIDE, _SIDE, (m, 2))
    K = ellipse(X, X)
    scaled = hyper_kernels(reach=64.0, scales=difference_scales(X, K))
    return {
        "(b) Target kernel": ellipse,
        "(c) Learned with a ladder": _learned(hyper_kernels(reach=64.0), X, K),
        "(d) Learned with a ladder and column scales": _learned(scaled, X, K),
    }


def _learned(hyper, X, K):
    return HyperKRR(hyper, 1e-3, solver="pivoted", max_rank=200).fit(X, K).kernel_


def _contours(ax, kernel):
    side = np.linspace(-_SIDE, _SIDE, _SHOWN)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    values = kernel(np.array([[0.2, -0.1]]), grid).reshape(_SHOWN, _SHOWN)
    lines = ax.contour(side, side, values, levels=[0.2, 0.4, 0.6, 0.8], colors=style.BLUE)
    ax.clabel(lines, fontsize=8)
    ax.plot(0.2, -0.1, "*", color=style.BLUE, markersize=11, mec="white")
    ax.grid(False)
    ax.set(aspect="equal", xlabel="$x_1$", ylabel="$x_2$")


# -- ratios of rungs -------------------------------------------------------------------


def worst_error(ratio, d, variance=1e4, rungs=15):
    """Largest relative L2 error of a long ladder on Gaussians between its middle rungs."""

    def A(u):
        return (1.0 + 4.0 * variance * u) ** (-d / 2)

    rates = ratio ** (np.arange(rungs) - rungs // 2)
    scale = np.sqrt(A(2 * rates))
    G = A(rates[:, None] + rates) / np.outer(scale, scale)
    errors = []
    for gamma in ratio ** np.linspace(0.0, 1.0, 11):
        b = A(gamma + rates) / scale
        fitted = b @ np.linalg.lstsq(G, b, rcond=1e-14)[0] / A(2 * gamma)
        errors.append(np.sqrt(max(1.0 - fitted, 0.0)))
    return float(max(errors))


def ladder_ratio(quick=False):
    """Draw the error between two rungs against their ratio, in several dimensions."""
    ratios = np.geomspace(2.0, 16.0, 5 if quick else 25)
    figure, (ax,) = style.new_figure()
    looks = (
        (1, style.GREEN, "v"),
        (2, style.BLUE, "o"),
        (3, style.ORANGE, "s"),
        (6, style.RED, "^"),
    )
    for d, color, marker in looks:
        errors = [worst_error(q, d) for q in ratios]
        ax.plot(ratios, errors, color=color, marker=marker, markersize=4, label=f"$d={d}$")
    exact = [ratio_error(q) for q in ratios]
    ax.plot(ratios, exact, "--", color=style.BLACK, linewidth=1, label="product formula, $d=2$")
    title = "Largest error of a ladder of Gaussians\non a Gaussian between two neighboring rates"
    x = r"ratio of neighboring rates $\gamma_{k+1}/\gamma_k$"
    style.finish(ax, x=x, y="relative $L^2$ error", title=title)
    return figure
