"""Where the command line writes figures."""

from __future__ import annotations

import os

FIGURE_ENDINGS = (".png", ".svg", ".pdf")


def figure_path(out, stem):
    """Where a figure goes, checked before the work is done.

    Parameters
    ----------
    out : str or None
        File, file without ending, folder, or None for the current folder.
    stem : str
        Name of the file where only a folder is given.

    Raises
    ------
    ValueError, FileNotFoundError, ImportError
        For an ending that is not accepted, a folder that does not exist, without matplotlib.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError(
            "the figure needs matplotlib: pip install matplotlib, or give --no-figure."
        ) from None
    default = f"alignlearn-{stem}.png"
    path = default if out is None else os.path.expanduser(out)
    if os.path.isdir(path):
        path = os.path.join(path, default)
    ending = os.path.splitext(path)[1].lower()
    if ending == "":
        path += ".png"
    elif ending not in FIGURE_ENDINGS:
        raise ValueError(f"--out {out}: accepted endings are {', '.join(FIGURE_ENDINGS)}.")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"--out {out}: the folder {folder} does not exist.")
    return path
