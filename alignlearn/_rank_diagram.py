"""The critical-difference diagram. matplotlib is imported by the functions that draw."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass

import numpy as np

from alignlearn._rank_tests import NemenyiResult, nemenyi

# Inches, at full size.
_AXIS, _LEAST_AXIS = 4.5, 2.4
_MARGIN, _GAP, _ELBOW = 0.1, 0.07, 0.12
_LINE, _ROW = 0.165, 0.225
_BAR_STEP, _TICK = 0.1, 0.07
_TITLE, _HEAD = 0.32, 0.78  # title; from the top to the axis
_FONT = 10.0  # points
_WRAP = 36  # characters
_INK, _BAR, _FAINT = "#222222", "#0072B2", "#777777"


def critical_difference_diagram(
    ranks, n_datasets=None, *, level=0.05, names=None, title="", ax=None
):
    """Draw average ranks on an axis, with a bar below methods that do not differ significantly.

    Parameters
    ----------
    ranks : FriedmanResult, NemenyiResult or array-like of shape (k,)
        Or average ranks, 1 the best. A NemenyiResult is drawn as it is, at its level.
    n_datasets : int, optional
        Needed with average ranks.
    level : float
        In (0, 1), of Nemenyi's test.
    names : sequence of str, optional
        With average ranks: names of the methods. Long ones are broken into lines.
    title : str
    ax : matplotlib.axes.Axes, optional
        Where to draw; type and lines shrink if the space is small. Default: a new figure of the
        size that is needed.

    Returns
    -------
    matplotlib.axes.Axes
        ``.figure.savefig(path)`` writes it.

    Raises
    ------
    ImportError
        Without matplotlib.
    ValueError
        As `nemenyi`.

    Notes
    -----
    Source: Demsar (2006), section 3.2.4; here the best method is on the left.
    """
    if not isinstance(ranks, NemenyiResult):
        ranks = nemenyi(ranks, n_datasets, level=level, names=names)
    elif n_datasets is not None or names is not None:
        raise ValueError("n_datasets and names are known to a NemenyiResult; leave them out.")
    levels = _levels(ranks)
    bars = _BAR_STEP * (1 + max(levels, default=-1))
    sides = _sides(ranks, (_TITLE if title else 0.0) + _HEAD + bars + 0.3)
    ax, place = _place(ranks, sides, ax, (_TITLE if title else 0.0) + _HEAD)
    _draw_axis(ax, ranks, place, title)
    for group, level_of_bar in zip(ranks.groups, levels):
        ends = place.x(ranks.average_ranks[[group[0], group[-1]]])
        y = place.axis_y + place.scale * (0.13 + _BAR_STEP * level_of_bar)
        ends = ends + place.scale * np.array([-0.04, 0.04])
        ax.plot(ends, [y, y], color=_BAR, lw=4.0 * place.scale, solid_capstyle="butt", zorder=3)
    for side in sides:
        _draw_side(ax, side, place)
    return ax


@dataclass(frozen=True)
class _Side:
    """The labels left or right of the axis, from the top; inches at full size."""

    sign: int
    labels: list[str]
    ranks: np.ndarray
    heights: np.ndarray
    width: float
    bottom: float


@dataclass(frozen=True)
class _Place:
    """Where things are, in inches from the top left corner of the axes."""

    scale: float
    left: float
    right: float
    axis_y: float
    low: int
    high: int
    unit: float

    def x(self, rank):
        return self.left + (rank - self.low) * self.unit


def _levels(result):
    """How many other bars each bar must go below: bars of one level do not touch."""
    ends, levels = [], []
    gap = 0.03 * result.average_ranks.size
    for group in result.groups:
        low, high = result.average_ranks[[group[0], group[-1]]]
        level = next((i for i, end in enumerate(ends) if end + gap < low), len(ends))
        ends[level : level + 1] = [high]
        levels.append(level)
    return levels


def _sides(result, top):
    """The better half of the methods left, best on top; the others right, worst on top."""
    order = np.argsort(result.average_ranks, kind="stable")
    half = (order.size + 1) // 2
    sides = []
    for sign, members in ((-1, order[:half]), (1, order[half:][::-1])):
        labels = [_label(result.names[i], result.average_ranks[i]) for i in members]
        lines = np.array([label.count("\n") + 1 for label in labels])
        step = _ROW + _LINE * (lines - 1)
        heights = top + np.cumsum(step) - 0.5 * step - 0.5 * _ROW
        width = max([_text_width(line) for label in labels for line in label.split("\n")])
        width = max(width, _text_width("average rank") if sign > 0 else 0.0)
        bottom = heights[-1] + 0.5 * step[-1]
        sides.append(_Side(sign, labels, result.average_ranks[members], heights, width, bottom))
    return sides


def _label(name, rank):
    # Breaking a formula would spoil it.
    text = name if "$" in name else textwrap.fill(name, _WRAP)
    return f"{text}  {rank:.2f}"


def _text_width(text):
    from matplotlib.textpath import TextPath

    return TextPath((0, 0), text, size=_FONT).get_extents().width / 72.0 if text.strip() else 0.0


def _place(result, sides, ax, axis_y):
    """The axes, with inches from the top left corner as coordinates, and the places in it."""
    margins = [_MARGIN + side.width + _GAP + _ELBOW for side in sides]
    height = max(side.bottom for side in sides) + _MARGIN
    if ax is None:
        from matplotlib.figure import Figure

        width = sum(margins) + _AXIS
        ax = Figure(figsize=(width, height)).add_axes((0.0, 0.0, 1.0, 1.0))
        scale = 1.0
    else:
        box, dpi = ax.get_window_extent(), ax.figure.dpi
        width = box.width / dpi
        scale = min(1.0, width / (sum(margins) + _LEAST_AXIS), box.height / dpi / height)
        height = box.height / dpi
    ax.set_axis_off()
    ax.set(xlim=(0.0, width), ylim=(height, 0.0))
    left, right = scale * margins[0], width - scale * margins[1]
    ranks, k = result.average_ranks, result.average_ranks.size
    low = max(1, min(math.floor(ranks.min()), math.ceil(ranks.max()) - 1))
    high = min(k, max(low + 1, math.ceil(ranks.max())))
    # The bar of the critical difference may be longer than the axis.
    unit = (right - left) / max(high - low, result.critical_difference)
    return ax, _Place(scale, left, right, scale * axis_y, low, high, unit)


def _draw_axis(ax, result, place, title):
    s, y = place.scale, place.axis_y
    line = {"color": _INK, "lw": 1.2 * s, "solid_capstyle": "butt"}
    text = {"fontsize": _FONT * s, "color": _INK}
    if title:
        ax.text(0.5 * (place.left + place.right), s * 0.2, title, ha="center", va="center", **text)
    start, end = place.x(place.low), place.x(place.low) + place.unit * result.critical_difference
    bar = y - s * 0.42
    ax.plot([start, start, end, end], bar + s * 0.04 * np.array([-1, 0, 0, -1]), **line)
    for x in (start, end):
        ax.plot([x, x], [bar - s * 0.04, bar + s * 0.04], **line)
    label = f"critical difference {result.critical_difference:.2f} (level {result.level:g})"
    ax.text(start, bar - s * 0.08, label, ha="left", va="bottom", **text)
    ax.plot([place.x(place.low), place.x(place.high)], [y, y], **line)
    span = place.high - place.low
    step = next(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, span) if span <= 12 * n)
    for rank in range(place.low, place.high + 1):
        major = rank % step == 0
        if major or step <= 5:
            x = place.x(rank)
            ax.plot([x, x], [y, y - s * _TICK * (1.0 if major else 0.5)], **line)
            if major:
                ax.text(x, y - s * (_TICK + 0.03), f"{rank}", ha="center", va="bottom", **text)
    where = place.x(place.high) + s * (_ELBOW + _GAP)
    text["color"] = _FAINT
    ax.text(where, y, "average rank", ha="left", va="center", **text)


def _draw_side(ax, side, place):
    s = place.scale
    edge = place.left - s * _ELBOW if side.sign < 0 else place.right + s * _ELBOW
    for label, rank, height in zip(side.labels, side.ranks, side.heights):
        x, y = place.x(rank), s * height
        ax.plot([x, x, edge], [place.axis_y, y, y], color=_INK, lw=0.9 * s, zorder=2)
        ax.text(
            edge + s * side.sign * _GAP,
            y,
            label,
            ha="right" if side.sign < 0 else "left",
            va="center",
            fontsize=_FONT * s,
            color=_INK,
        )
