"""Figure on the multi-task paper: the complexity of its class and its upper bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..bounds import neighborhood
from ..reference.problems import gaussian_kernel
from . import style
from .curves import mixture

BANDWIDTHS = (0.5, 1.0, 2.0)
TASKS = (1, 2, 5, 10)


class Growth(NamedTuple):
    """Complexity and bounds, one entry for each n."""

    n: np.ndarray
    complexity: np.ndarray
    standard_error: np.ndarray
    bounds: np.ndarray  # (len(n), 4), the fields of NeighborhoodBounds


def mixture_class(n, n_tasks, random_state=0):
    """Tasks of n samples of the mixture, three Gaussian kernels, Khat = yy'.

    rho is 1.05 times the minimum squared distance, and R the number of tasks.
    """
    rng = np.random.default_rng([random_state, n, n_tasks])
    kernels, targets = [], []
    for _ in range(n_tasks):
        X, y = mixture().sample(n, rng)
        kernels.append(np.array([gaussian_kernel(X, width) for width in BANDWIDTHS]))
        targets.append(np.outer(y, y))
    least = neighborhood.distance_to_cone(neighborhood.tasks_of(kernels, targets))
    return kernels, targets, float(n_tasks), 1.05 * least


def complexity_growth(sizes, n_tasks, draws) -> Growth:
    """Compute the complexity by random signs, and its bounds, for tasks of each size."""
    rows = []
    for n in sizes:
        case = mixture_class(int(n), n_tasks)
        found = neighborhood.neighborhood_complexity(*case, draws=draws, random_state=1)
        rows.append((*found, *neighborhood.neighborhood_bounds(*case)))
    rows = np.array(rows)
    return Growth(np.asarray(sizes), rows[:, 0], rows[:, 1], rows[:, 2:])


_LINES = (
    ("Theorem 1, (7), as printed", style.PRINTED),
    ("constraint on the sum of norms", style.REPAIRED),
    ("... and geometric mean", style.CORRECTED),
    ("... and exact second moment", style.REFINED),
)


def rademacher(quick=False):
    """Draw the complexity of the class of theorem 1 against n, for several numbers of tasks."""
    figure, axes = style.new_figure(len(TASKS), height=8.4)
    sizes = style.log_grid(4, 40 if quick else 200, 5 if quick else 12)
    for ax, n_tasks in zip(axes, TASKS):
        found = complexity_growth(sizes, n_tasks, 50 if quick else 400)
        for (label, look), values in zip(_LINES, found.bounds.T[::-1]):
            ax.plot(found.n, values, label=label, **look)
        ax.errorbar(
            found.n,
            found.complexity,
            yerr=2 * found.standard_error,
            label="simulated (bars: two standard errors)",
            **style.OBSERVED,
        )
        title = f"$T={n_tasks}$ task" + ("s" if n_tasks > 1 else "")
        style.finish(
            ax,
            x="samples per task $n$",
            y=r"Rademacher complexity $\hat{\mathfrak{R}}$",
            title=title,
            legend=None,
        )
        ax.set_ylim(0.05, 4.0)
    axes[0].legend(loc="lower left", fontsize=8.5, frameon=False)
    figure.suptitle(
        "Rademacher complexity of the class of theorem 1: three Gaussian kernels, two normal\n"
        "distributions, $R=T$, $\\rho$ = 1.05 times the minimal squared distance to $yy^\\top$",
        fontsize=11,
    )
    return figure
