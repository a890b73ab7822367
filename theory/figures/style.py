"""The style of every figure: colors, shading of vacuous regions, markers, and file formats.

Colors are those of Okabe and Ito, which remain distinct for color-blind readers; line styles and
markers differ as well. Only the functions that draw import matplotlib; no window is opened.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, RED, PURPLE, GRAY = "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#777777"

# One look for each role, in all figures.
PRINTED = {"color": RED, "linestyle": (0, (6, 2)), "linewidth": 1.9}
REPAIRED = {"color": ORANGE, "linestyle": (0, (4, 1.5, 1, 1.5)), "linewidth": 1.9}
CORRECTED = {"color": BLUE, "linestyle": "-", "linewidth": 2.1}
REFINED = {"color": GREEN, "linestyle": (0, (3, 1)), "linewidth": 2.1}
INTERVAL = {"color": PURPLE, "linestyle": (0, (1, 1)), "linewidth": 2.4}
OBSERVED = {"color": BLACK, "marker": "o", "markersize": 4.5, "linestyle": "-", "linewidth": 0.9}
SECOND = {"color": GRAY, "marker": "s", "markersize": 4.0, "linestyle": "-", "linewidth": 0.9}
BY_RANK = (PRINTED, CORRECTED, REFINED, INTERVAL, REPAIRED)

# Inches. At the width of the site's text, 800 pixels, letters keep 98% of their size.
PAGE_WIDTH = 8.4
SMALLEST_LETTERS = 8.0

_SETTINGS = {
    "font.size": 10.0,
    "axes.titlesize": 10.5,
    "axes.labelsize": 10.5,
    "legend.fontsize": 9.0,
    "svg.hashsalt": "alignlearn",
    "axes.unicode_minus": True,
}


def new_figure(panels=1, *, columns=None, height=4.9):
    """Return a figure no wider than a page and its axes, row by row.

    By default two panels share a row. The last panel takes the rest of its row.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    columns = columns or min(panels, 2)
    with rc_context(_SETTINGS):
        figure = Figure(figsize=(6.6 if panels == 1 else PAGE_WIDTH, height))
        figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.06)
        grid = figure.add_gridspec(-(-panels // columns), columns)
        places = [divmod(k, columns) for k in range(panels)]
        cells = [grid[place] for place in places[:-1]]
        row, column = places[-1]
        axes = np.array([figure.add_subplot(cell) for cell in (*cells, grid[row, column:])])
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(True, which="major", color="#E3E3E3", linewidth=0.6)
        ax.set_axisbelow(True)
    return figure, axes


def finish(ax, *, x="sample size $m$", y, title="", log="xy", legend="best"):
    """Set scales, labels, title and legend of one panel.

    The legend's place is matplotlib's, or "below" for below the panel; None for no legend.
    """
    if "x" in log:
        ax.set_xscale("log")
        _decades(ax.xaxis)
    if "y" in log:
        ax.set_yscale("log")
        _decades(ax.yaxis)
    ax.set_xlabel(x, fontsize=10.5)
    ax.set_ylabel(y, fontsize=10.5)
    if title:
        ax.set_title(title, fontsize=10.5, loc="left")
    if legend == "below":
        legend_below(ax)
    elif legend:
        ax.legend(loc=legend, fontsize=9, frameon=True, framealpha=0.92, edgecolor="none")


def _decades(axis):
    """Label powers of ten, and plain numbers between them where the range is short."""
    from matplotlib.ticker import FuncFormatter, LogFormatterMathtext

    low, high = np.log10(np.maximum(axis.get_view_interval(), 1e-300))
    short = high - low < 2.2
    plain = FuncFormatter(lambda value, position: f"{value:g}")
    axis.set_major_formatter(plain if short else LogFormatterMathtext())

    def between(value, position):
        digit = value / 10 ** np.floor(np.log10(value) + 1e-9)
        return f"{value:g}" if short and round(digit) in (2, 5) else ""

    axis.set_minor_formatter(FuncFormatter(between))


def legend_below(ax, columns=1, **options):
    """Put a legend below the panel, where it hides nothing."""
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16)}
    ax.legend(**place, ncols=columns, fontsize=9, frameon=False, columnspacing=1.2, **options)


def shade_vacuous(ax, level, text, *, at=(0.985, 0.975), ha="right", va="top"):
    """Shade the region above `level`, where a bound is vacuous.

    Call it after the limits of the y-axis are final; the text is placed in axes coordinates.
    """
    bottom, top = ax.get_ylim()
    if level >= top:
        return
    ax.axhspan(level, top, color="#000000", alpha=0.07, linewidth=0, zorder=0)
    ax.axhline(level, color=GRAY, linewidth=0.8, zorder=1)
    ax.set_ylim(bottom, top)
    ax.text(*at, text, transform=ax.transAxes, ha=ha, va=va, fontsize=9, color="#444444")


def mark_start(ax, m, level, color, *, shift=(5, 4), ha="left"):
    """Mark the first m at which a bound is informative."""
    ax.plot([m], [level], "o", color=color, markersize=6, mec="white", mew=0.9, zorder=5)
    style = {"textcoords": "offset points", "fontsize": 9, "color": color, "zorder": 6}
    ax.annotate(count(m), (m, level), xytext=shift, ha=ha, **style)


def count(m):
    """Format a sample size: 582, 3,157, 1.2 x 10^7."""
    if m < 100_000:
        return f"{m:,}"
    exponent = int(np.floor(np.log10(m)))
    return rf"${m / 10**exponent:.1f}\times10^{{{exponent}}}$"


def log_grid(low, high, number=200):
    """Return distinct integers from low to high, evenly spaced in their logarithm."""
    return np.unique(np.round(np.geomspace(low, high, number)).astype(np.int64))


def save(figure, path):
    """Write a figure; the suffix decides the format. Equal figures give equal bytes."""
    from matplotlib import rc_context

    path = Path(path)
    # What depends on the day or on the version of a program would change the files for nothing.
    metadata = {".svg": {"Date": None, "Creator": None}, ".png": {"Software": None}}
    options = {"dpi": 130, "metadata": metadata.get(path.suffix.lower())}
    with rc_context(_SETTINGS):
        if path.suffix.lower() == ".png":
            _save_small(figure, path, options)
        else:
            figure.savefig(path, **options)
    return path


def _save_small(figure, path, options):
    """Write a PNG with a palette of 255 colors: a third of the size, no visible difference."""
    from io import BytesIO

    from PIL import Image

    buffer = BytesIO()
    figure.savefig(buffer, format="png", **options)
    with Image.open(buffer) as image:
        image.convert("RGB").quantize(255, dither=Image.Dither.NONE).save(path, optimize=True)
