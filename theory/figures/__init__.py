"""The figures on the theory: `FIGURES` by name, `draw` and `write`.

``scripts/make_figures.py`` writes all of them; the command ``alignlearn bounds`` draws the bound
of one claim (`curves`, `drawing`).
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

# Name of the file -> (module, function); the order is that of the papers.
_WHERE = {
    "figure-1": ("alignment", "figure_1"),
    "alignment-accuracy": ("data", "alignment_accuracy"),
    "concentration": ("alignment", "concentration"),
    "learned-price": ("price", "learned_price"),
    "class-intervals": ("class_intervals", "class_intervals"),
    "bias": ("alignment", "bias"),
    "predictors": ("predictors", "predictor_risks"),
    "two-stage-stability": ("stability", "two_stage"),
    "lkrr-stability": ("stability", "lkrr_stability"),
    "generalization": ("risk", "generalization"),
    "algorithm-1": ("algorithm", "algorithm_1"),
    "rademacher": ("multitask", "rademacher"),
    "hyper-kernel": ("similarity", "hyper_kernel"),
    "hyper-ladder": ("ladder", "hyper_ladder"),
    "ladder-ratio": ("ladder", "ladder_ratio"),
    "hyper-rate": ("hyper", "hyper_rate"),
    "hyper-theta": ("hyper", "hyper_theta"),
}
FIGURES = tuple(_WHERE)


def draw(name: str, quick: bool = False):
    """Draw one figure.

    Parameters
    ----------
    name : str
        Key of `FIGURES`.
    quick : bool
        Whether to use fewer samples and sizes, for a preview.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        For a name that is not a figure.
    ImportError
        Without matplotlib.
    """
    if name not in _WHERE:
        raise ValueError(f"{name!r} is not a figure; accepted: {', '.join(FIGURES)}.")
    module, function = _WHERE[name]
    return getattr(import_module(f".{module}", __package__), function)(quick=quick)


def write(name: str, folder, quick: bool = False) -> list[Path]:
    """Draw one figure into a folder, as SVG and PNG; return the two paths."""
    from .style import save

    figure = draw(name, quick)
    return [save(figure, Path(folder) / f"{name}{ending}") for ending in (".png", ".svg")]
