"""The critical-difference diagram; matplotlib is imported when it is drawn."""

from __future__ import annotations

import math

import numpy as np

from .tests_of_difference import NemenyiResult, nemenyi


def critical_difference_diagram(
    ranks, n_datasets=None, *, level=0.05, names=None, title="", ax=None
):
    """Draw average ranks, with a bar below methods that do not differ significantly.

    The best method is on the left. Source: Demsar (2006), section 3.2.4.

    Parameters
    ----------
    ranks : FriedmanResult, NemenyiResult or array-like of shape (k,)
        Average ranks (1 is the best), or a result. A NemenyiResult is drawn at its own significance
        level.
    n_datasets : int, optional
        Number of data sets; required if ``ranks`` is an array.
    level : float in (0, 1), default 0.05
        Probability of any false rejection.
    names : sequence of str, optional
        Names of the methods if ``ranks`` is an array. A name may have line breaks.
    title : str
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. The names are left and right of the axes, so use a constrained layout.
        Default: a new figure of the required size.

    Returns
    -------
    matplotlib.axes.Axes
        ``.figure.savefig(path)`` writes it.

    Examples
    --------
    >>> from alignlearn.significance import critical_difference_diagram
    >>> names = ["alignf", "uniform", "best"]
    >>> ax = critical_difference_diagram([1.4, 2.1, 2.5], n_datasets=20, names=names)
    >>> type(ax).__name__  # ax.figure.savefig("ranks.png") writes it
    'Axes'
    """
    from matplotlib import rcParams
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    if not isinstance(ranks, NemenyiResult):
        ranks = nemenyi(ranks, n_datasets, level=level, names=names)
    elif n_datasets is not None or names is not None:
        raise ValueError("n_datasets and names are part of the NemenyiResult; do not pass them.")
    average, k, critical = ranks.average_ranks, len(ranks.names), ranks.critical_difference
    high = max(math.ceil(average.max()), 2)
    low = min(math.floor(average.min()), high - 1)
    right = max(high, low + critical)
    # Downwards from the axis, in lines of text: the bars, then the names.
    bars, lines = _bars(ranks, 0.03 * (right - low)), [name.split("\n") for name in ranks.names]
    below, step = 0.9 + 0.4 * max((row for *_, row in bars), default=0), max(map(len, lines))
    bottom = below + step * ((k + 1) // 2)
    if ax is None:
        inch = rcParams["font.size"] / 72  # of a letter
        width = inch * (36 + 1.2 * max(len(line) for name in lines for line in name))
        figure = Figure((width, inch * 1.7 * (bottom + 6)), layout="constrained")
        ax = figure.add_subplot()
    ax.set(xlim=(low, right), ylim=(bottom, -3.8), yticks=[], title=title)
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.spines["top"].set(position=("data", 0.0), bounds=(low, high))
    ax.xaxis.set(ticks_position="top", label_position="top")
    ax.set_xticks([t for t in MaxNLocator(integer=True).tick_values(low, high) if low <= t <= high])
    ax.set_xlabel("average rank", loc="left")
    line = {"color": rcParams["text.color"], "lw": 1.0, "clip_on": False, "solid_capstyle": "butt"}
    ax.plot([low, low + critical], [-2.8, -2.8], marker="|", **line)
    ax.text(low, -3.1, f"critical difference {critical:.2f} (level {ranks.level:g})")
    for *ends, row in bars:
        y = 0.5 + 0.4 * row
        ax.plot(ends, [y, y], **{**line, "color": "#0072B2", "lw": 4.0}, zorder=3)
    _connect_names(ax, ranks, below, step, line)
    return ax


def _bars(ranks, gap):
    """(left end, right end, row) of each group's bar; bars in a row are a gap of ranks apart."""
    bars, ends = [], []
    for group in ranks.groups:
        low, high = ranks.average_ranks[[group[0], group[-1]]]
        row = next((i for i, end in enumerate(ends) if end + gap < low), len(ends))
        ends[row : row + 1] = [high]
        bars.append((low - gap / 4, high + gap / 4, row))
    return bars


def _connect_names(ax, ranks, below, step, line):
    """Write the methods beside the axis, below the bars, and join each with its rank."""
    average, k, (low, right) = ranks.average_ranks, len(ranks.names), ax.get_xlim()
    # The better half on the left, best on top; the others on the right, worst on top.
    for place, method in enumerate(np.argsort(average, kind="stable")):
        rank, left = average[method], place < (k + 1) // 2
        y = below + step * ((place if left else k - 1 - place) + 0.5)
        edge, offset, align = (low, -4, "right") if left else (right, 4, "left")
        ax.plot([rank, rank, edge], [0.0, y, y], **line)
        where = {"xytext": (offset, 0), "textcoords": "offset points", "ha": align, "va": "center"}
        ax.annotate(f"{ranks.names[method]}  {rank:.2f}", (edge, y), **where)
