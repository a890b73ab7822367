"""The heat map of similarities; matplotlib is imported when it is drawn."""

from __future__ import annotations

import numpy as np

from alignlearn.validation import check_numbers

_MOST_VALUES = 12  # rows or columns up to which the values are written


def plot_cka(values, *, names=None, other_names=None, title="", path=None, ax=None):
    """Draw a matrix of similarities as a heat map.

    Parameters
    ----------
    values : array-like of shape (p, q)
        From `cka_matrix` or `CKAAccumulator.matrix`.
    names, other_names : sequence of str, optional
        Labels of rows and columns. Default: numbers. For a square matrix ``names`` is for both.
    title : str
    path : str or path-like, optional
        File to write; the ending (.png, .svg, .pdf) decides the format.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. Default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        Not a matrix of finite numbers, or the number of names differs from rows or columns.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.dependence import plot_cka
    >>> ax = plot_cka(np.array([[1.0, 0.3], [0.3, 1.0]]), names=["layer 1", "layer 2"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['layer 1', 'layer 2']
    """
    from matplotlib.figure import Figure

    values = check_numbers("values", values, 1, 1)
    p, q = values.shape
    other_names = names if other_names is None and p == q else other_names
    rows, columns = _labels("names", names, p), _labels("other_names", other_names, q)
    if ax is None:
        size = (2.2 + 0.55 * min(q, 30), 1.6 + 0.5 * min(p, 30))
        ax = Figure(figsize=size, layout="constrained").add_subplot()
    low = min(0.0, float(values.min()))
    image = ax.imshow(values, cmap="cividis", vmin=low, vmax=1.0)
    ax.set_xticks(range(q), columns, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(p), rows)
    ax.set_title(title, fontsize=11)
    if max(p, q) <= _MOST_VALUES:
        for (i, j), value in np.ndenumerate(values):
            bright = value - low > 0.55 * (1.0 - low)
            style = {"ha": "center", "va": "center", "fontsize": 8}
            ax.text(j, i, f"{value:.2f}", color="black" if bright else "white", **style)
    ax.figure.colorbar(image, ax=ax, label="CKA", shrink=0.85)
    if path is not None:
        ax.figure.savefig(path, dpi=150)
    return ax


def _labels(name, labels, n):
    if labels is None:
        return [str(k) for k in range(n)]
    labels = [str(label) for label in labels]
    if len(labels) != n:
        raise ValueError(f"{name} has {len(labels)} labels for {n}; accepted: one label for each.")
    return labels
