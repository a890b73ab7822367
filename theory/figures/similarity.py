"""Figure on a kernel learned by a hyper-kernel: a similarity in the plane and the best Gaussian."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from alignlearn.hyper import GaussianHyperKernel, HyperKRR

from . import style

_SIDE, _SHOWN = 2.0, 81  # half the width of the plane; points along each side of it
_ORIGINS = np.array([[-1.2, 0.4], [0.9, -0.3]])
_JUDGED = 0.2  # share of the pairs


def reach(X):
    """Length scale of the similarity at a point: short on the left, long on the right."""
    return 0.2 + 0.8 / (1.0 + np.exp(-3.0 * X[:, 0]))


def target(X, Y):
    """Gibbs's kernel: a Gaussian whose width depends on the location; 1 for equal points."""
    a, b = reach(X), reach(Y)
    total = np.add.outer(a**2, b**2)
    return 2.0 * np.outer(a, b) / total * np.exp(-cdist(X, Y, "sqeuclidean") / total)


def best_gaussian(X, K):
    """The multiple of a Gaussian with minimum squared error on the known similarities."""
    D, known = cdist(X, X, "sqeuclidean"), ~np.isnan(K)
    found = []
    for gamma in 2.0 ** np.arange(-3.0, 4.0, 0.125):
        values = np.exp(-gamma * D)[known]
        scale = values @ K[known] / (values @ values)
        found.append((np.square(scale * values - K[known]).sum(), gamma, scale))
    _, gamma, scale = min(found)
    return lambda U, V: scale * np.exp(-gamma * cdist(U, V, "sqeuclidean"))


def hyper_kernel(quick=False):
    """Draw a similarity known for some pairs, the best Gaussian, and the learned kernel."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-_SIDE, _SIDE, (60 if quick else 150, 2))
    K, unknown = target(X, X), np.triu(rng.random((len(X), len(X))) > _JUDGED, 1)
    K[unknown | unknown.T] = np.nan
    model = HyperKRR(GaussianHyperKernel(0.8, 0.2), alpha=0.1, solver="pivoted").fit(X, K)
    kernels = {
        f"(a) True, {_JUDGED:.0%} of the pairs known": target,
        "(b) Best Gaussian": best_gaussian(X, K),
        "(c) Learned with a hyper-kernel": model.kernel_,
    }
    figure, axes = style.new_figure(4, height=8.2)
    for k, (ax, (name, kernel)) in enumerate(zip(axes, kernels.items())):
        _contours(ax, kernel)
        if k == 0:
            ax.plot(*X.T, ".", color=style.GRAY, markersize=3)
        ax.set_title(name, fontsize=10.5, loc="left")
    U = rng.uniform(-_SIDE, _SIDE, (100, 2))
    _unseen(axes[3], U, kernels)
    return figure


def _contours(ax, kernel):
    """Draw contours of the similarity to each of two points, at levels common to all panels."""
    side = np.linspace(-_SIDE, _SIDE, _SHOWN)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    for origin, color in zip(_ORIGINS, (style.RED, style.BLUE)):
        values = kernel(origin[None], grid).reshape(_SHOWN, _SHOWN)
        lines = ax.contour(side, side, values, levels=[0.2, 0.4, 0.6, 0.8], colors=color)
        ax.clabel(lines, fontsize=8)
        ax.plot(*origin, "*", color=color, markersize=12, mec="white")
    ax.grid(False)
    ax.set(aspect="equal", xlabel="$x_1$", ylabel="$x_2$")


def _unseen(ax, U, kernels):
    upper = np.triu_indices(len(U), 1)
    truth = target(U, U)[upper]
    looks = (("(b) Best Gaussian", style.ORANGE), ("(c) Learned with a hyper-kernel", style.BLUE))
    for name, color in looks:
        values = kernels[name](U, U)[upper]
        error = np.sqrt(np.mean(np.square(values - truth)))
        label = f"{name[4:]}: RMSE {error:.3f}"
        ax.plot(
            truth,
            values,
            ".",
            color=color,
            markersize=2.0,
            alpha=0.5,
            label=label,
            rasterized=True,
        )
    ax.plot([0, 1], [0, 1], color="black", linewidth=0.9)
    title = "(d) Pairs of new points"
    style.finish(ax, x="true similarity", y="kernel value", title=title, log="", legend=None)
    style.legend_below(ax, markerscale=5)
