"""The figure of a comparison: learned weights, and alignment against error.

matplotlib is imported by the function that draws, and no window is ever opened.
"""

from __future__ import annotations

import numpy as np

from alignlearn.inspection import tick_labels, tidy

from .columns import COLUMNS, ERROR_NAMES
from .methods import METHODS

_MOST_BARS = 20
_MOST_COLUMNS = 6  # of the legend


def plot_comparison(comparison, path=None, *, title=""):
    """Draw learned weights, and alignment against error.

    Parameters
    ----------
    comparison : Comparison
    path : str or path-like, optional
        File to write; the ending (.png, .svg, .pdf) decides the format.
    title : str
        Title of the figure, such as the name of the data.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ImportError
        Without matplotlib.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, Linear, compare
    >>> from alignlearn.comparison import plot_comparison
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.linalg.norm(X, axis=1) < 1.1
    >>> found = compare(X, y, [Gaussian(0.5), Linear()], methods=["uniform", "alignf"])
    >>> len(plot_comparison(found).axes) > 1  # a path as second argument writes the figure
    True
    """
    from matplotlib.figure import Figure

    drawn = [name for name, column in COLUMNS.items() if column.axis]
    figure = Figure(figsize=(5.5 * (1 + len(drawn)), 5.2), layout="constrained")
    left, *others = figure.subplots(1, 1 + len(drawn))
    _draw_weights(left, comparison)
    for axes, name in zip(others, drawn):
        _draw_errors(axes, comparison, name)
    columns = min(len(comparison.methods), _MOST_COLUMNS)
    named = others[0].get_legend_handles_labels()
    figure.legend(*named, loc="outside lower center", ncols=columns, frameon=False)
    if title:
        figure.suptitle(title)
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def _draw_weights(axes, comparison):
    """Mean weight of each kernel by each learned method, with the range over folds."""
    weighted = ~np.isnan(comparison.weights).any(axis=(1, 2))
    methods = [m for m, known in zip(comparison.methods, weighted) if known]
    methods = [m for m in methods if m in comparison.learned] or methods
    if not methods:
        axes.set_axis_off()
        axes.set_title("No method with weights of the kernels", fontsize=11)
        return
    rows = comparison.weights[[comparison.index(m) for m in methods]]
    shown = np.arange(rows.shape[2])
    if shown.size > _MOST_BARS:
        largest = np.abs(rows).mean(axis=1).max(axis=0)
        shown = np.argsort(-largest, kind="stable")[:_MOST_BARS]
    width = 0.8 / len(methods)
    for i, (method, weights) in enumerate(zip(methods, rows[:, :, shown])):
        mean = weights.mean(axis=0)
        axes.bar(
            np.arange(shown.size) + (i - 0.5 * (len(methods) - 1)) * width,
            mean,
            width,
            yerr=[mean - weights.min(axis=0), weights.max(axis=0) - mean],
            color=METHODS[method].style[1],
            error_kw={"elinewidth": 1.0, "capsize": 2.0, "ecolor": "#222222"},
        )
    p = rows.shape[2]
    line = {"color": METHODS["uniform"].style[1], "linestyle": "--", "linewidth": 1.2}
    axes.axhline(1.0 / p, label=f"uniform: 1/{p}", **line)
    labels, what = tick_labels([comparison.kernel_names[k] for k in shown])
    if max(map(len, labels)) > len("$2^{-10}$"):
        axes.set_xticks(np.arange(shown.size), labels, rotation=90, fontsize=8)
    else:
        axes.set_xticks(np.arange(shown.size), labels)
    if shown.size < p:
        what = f"{shown.size} of {p}, largest weights first: {what}"
    axes.set(xlabel=what, ylabel="weight (kernels of equal trace)")
    parts = "folds" if comparison.losses is None else "blocks"
    axes.set_title(f"Learned weights: mean and range over {rows.shape[1]} {parts}", fontsize=11)
    axes.legend(frameon=False)
    tidy(axes)


def _draw_errors(axes, comparison, name):
    """The test error against a column of the comparison.

    One small marker per fold, joined over the methods, and one large marker for the mean. A method
    that has no such number is a dotted line at its mean error.
    """
    columns, errors = comparison.columns[name], comparison.error
    known = ~np.isnan(columns).any(axis=1)
    for column, error in zip(columns[known].T, errors[known].T):
        order = np.argsort(column)
        axes.plot(column[order], error[order], color="#CCCCCC", linewidth=0.8, zorder=1)
    for method, column, error in zip(comparison.methods, columns, errors):
        label, color, marker = METHODS[method].style
        if np.isnan(column).any():
            line = {"linestyle": ":", "marker": marker, "markersize": 9, "clip_on": False}
            axes.axhline(error.mean(), color=color, label=label, **line)
            continue
        axes.plot(column, error, marker, color=color, markersize=5, alpha=0.5, mew=0)
        mean = {"markersize": 11, "markeredgecolor": "white", "markeredgewidth": 1.2, "zorder": 3}
        axes.plot(column.mean(), error.mean(), marker, color=color, label=label, **mean)
    axes.set(xlabel=COLUMNS[name].axis, ylabel=f"test error ({ERROR_NAMES[comparison.task]})")
    axes.set_title("Large markers: means; small markers: folds, joined by lines", fontsize=11)
    axes.margins(0.08)
    tidy(axes)
