"""Figure of the output of ``alignlearn bounds DATA``: the interval and the required sample size."""

from __future__ import annotations

from . import style


def draw_statement(ends, value, needed, closed, name, delta):
    """Draw the interval for the alignment, and its length, against the number of held-out samples.

    Parameters
    ----------
    ends : dict of int -> (low, high)
        Intervals computed from the first samples, by their number.
    value : float
        Alignment on all samples.
    needed : int or None
        Number of samples for an interval half as long, or of length 1/2 where it is [0, 1].
    closed : callable int -> float
        Length of the closed-form interval.
    name : str
        Name of the data.
    delta : float

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (left, right) = style.new_figure(2)
    _draw_ends(left, ends, value)
    _draw_length(right, ends, needed, closed)
    figure.suptitle(
        f"{name}: alignment of the learned kernel with the target on held-out samples, "
        rf"$\delta={delta:g}$",
        fontsize=11,
    )
    return figure


def _draw_ends(ax, ends, value):
    sizes = sorted(ends)
    for m in sizes:
        last = {"linewidth": 3.2} if m == sizes[-1] else {"linewidth": 1.6, "alpha": 0.6}
        ax.plot([m, m], ends[m], color=style.PURPLE, marker="_", markersize=12, **last)
    ax.plot([], [], color=style.PURPLE, label="interval from the first $m$ samples")
    ax.plot(sizes[-1:], [value], "o", color=style.BLACK, label="alignment on all samples")
    low, high = ends[sizes[-1]]
    ax.annotate(
        f"[{low:.2f}, {high:.2f}]", (sizes[-1], high), xytext=(0, 7), textcoords="offset points",
        ha="center", fontsize=9.5,
    )  # fmt: skip
    ax.set_xlim(sizes[0] / 1.5, sizes[-1] * 1.5)
    style.finish(
        ax, x="held-out samples $m$", y="centered alignment", title="(a) Confidence interval",
        log="x", legend=None,
    )  # fmt: skip
    ax.set_ylim(-0.02, 1.1)
    style.legend_below(ax, 2)


def _draw_length(ax, ends, needed, closed):
    sizes = sorted(ends)
    most = max(needed or 0, sizes[-1]) * 3
    grid = style.log_grid(max(sizes[0], 4), most, 80)
    ax.plot(grid, [closed(int(m)) for m in grid], label="closed form", **style.CORRECTED)
    lengths = [ends[m][1] - ends[m][0] for m in sizes]
    ax.plot(sizes, lengths, label="betting, these samples", **style.OBSERVED)
    title = "(b) Length of the interval"
    style.finish(ax, x="held-out samples $m$", y="length", title=title, legend=None)
    goal = lengths[-1] / 2
    low = min(goal, closed(int(most))) / 1.5
    ax.set_ylim(low, 1.6)
    style.shade_vacuous(ax, 1.0, "shaded: vacuous")
    if needed is not None:
        ax.axhline(goal, color=style.GRAY, linewidth=0.8, linestyle=(0, (2, 2)))
        style.mark_start(ax, needed, goal, style.PURPLE)
        look = {"color": style.PURPLE, "linewidth": 1.2, "linestyle": (0, (2, 2))}
        if lengths[-1] < 1:
            ax.plot([sizes[-1], needed], [lengths[-1], goal], **look)
        ax.plot([], [], marker="o", label=f"estimated $m$ for length {goal:.2g}", **look)
    style.legend_below(ax, 2)
