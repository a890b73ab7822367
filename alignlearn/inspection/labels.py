"""Style of figures of kernels: colors, short names of kernels, axes without a frame."""

from __future__ import annotations

import re

import numpy as np

# Okabe and Ito's colors, which are color-blind safe, and different markers.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555")
MARKERS = "os^DvPX"
_WITH_GAMMA = re.compile(r"(\w+)\(gamma=(scale(?: \* )?)?([0-9.e+-]*)\)")


def new_axes(ax, width, height):
    """The axes given, or those of a new figure of so many inches; no window is opened."""
    from matplotlib.figure import Figure

    if ax is None:
        ax = Figure(figsize=(width, height), layout="constrained").add_subplot()
    return ax


def new_panels(n):
    """Axes of a new figure, up to three beside each other; no window is opened."""
    from matplotlib.figure import Figure

    columns = min(n, 3)
    rows = -(-n // columns)
    figure = Figure(figsize=(5.2 * columns, 4.6 * rows), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for unused in axes[n:]:
        unused.remove()
    return axes[:n]


def tidy(axes):
    """Hide unused axes, and draw grid lines.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from alignlearn.inspection import tidy
    >>> axes = Figure().add_subplot()
    >>> tidy(axes)
    >>> axes.spines["top"].get_visible()
    False
    """
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)


def tick_labels(names, longest=20):
    """Short labels for kernels, and their description: only the gammas if all are Gaussian.

    Parameters
    ----------
    names : list of str
    longest : int, default 20
        Letters of a label.

    Returns
    -------
    labels : list of str
    what : str

    Examples
    --------
    >>> from alignlearn.inspection import tick_labels
    >>> tick_labels(["gaussian(gamma=0.5)", "gaussian(gamma=2)"])
    (['$2^{-1}$', '$2^{1}$'], 'gamma of the Gaussian, per squared unit of X')
    """
    matches = [_WITH_GAMMA.fullmatch(name) for name in names]
    gammas = [m and _power_of_two(float(m[3] or 1.0)) for m in matches]
    units = {bool(m[2]) for m in matches if m}
    gaussian = all(m and m[1] == "gaussian" for m in matches)
    if gaussian and units == {True}:
        return gammas, "gamma of the Gaussian, times 1 / (features x variance)"
    if gaussian and units == {False}:
        return gammas, "gamma of the Gaussian, per squared unit of X"
    if len(units) > 1:
        return [_short(name, longest) for name in names], "kernel"
    labels = [
        f"{m[1]} {g}" if m else _short(name, longest) for m, g, name in zip(matches, gammas, names)
    ]
    if not units:
        return labels, "kernel"
    return labels, "kernel, gamma" + (" times 1 / (features x variance)" if True in units else "")


def _short(name, longest):
    name = name if len(name) <= longest else f"{name[: longest - 3]}..."
    return name.replace("$", r"\$")  # it is a string, not a formula


def _power_of_two(value):
    exponent = np.log2(value)
    nearest = round(exponent)
    # Names carry four digits of gamma.
    return f"$2^{{{nearest}}}$" if abs(exponent - nearest) < 1e-3 else f"{value:.3g}"
