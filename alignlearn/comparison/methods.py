"""The registry of the methods of a comparison.

To add a method, write a function of a `Trial` that yields a `Candidate` for each setting from which
the validation fold selects, and enter it here or in one of the two modules that are joined here:
`compare`, the command line, the estimate of memory, the table, the figure and the JSON output use
only its entry.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from alignlearn.weights import stage_one

from . import one_stage, rivals
from .candidates import Method


def _best_single(trial):
    """Each kernel separately, better aligned kernels first, so that ties go to them."""
    alignments = trial.statistics.alignments
    varying = [k for k in np.argsort(-alignments, kind="stable") if trial.scale[k] > 0.0]
    if not varying:
        raise ValueError("kernels: every kernel is constant on the training folds.")
    for k in varying:
        weights = np.zeros(alignments.size)
        weights[k] = 1.0
        yield from trial.candidates(weights, alignments[k])


def _two_stage(weighting, trial):
    """The model on the combination that a rule learns from the alignment statistics."""
    found = stage_one.learn(trial.problem, weighting)
    return trial.candidates(found.weights, found.result.alignment)


def _rule(name, color, marker, label=None, **traits):
    style = label or name, color, marker
    return Method(partial(_two_stage, name), style, rule=name, **traits)


# Okabe and Ito's palette keeps its differences for color-blind readers; markers differ as well.
METHODS = {
    "best-single": Method(
        _best_single,
        ("best single kernel", "#E69F00", "D"),
        learns=False,
        no_columns="where it would be the best single column",
    ),
    "uniform": _rule("uniform", "#555555", "s", "uniform combination", learns=False),
    "align": _rule("align", "#0072B2", "^"),
    "alignf": _rule("alignf", "#D55E00", "o"),
    "alignf-linear": _rule("alignf-linear", "#CC79A7", "v"),
    "align-lq": _rule("align-lq", "#009E73", "P"),
    **one_stage.METHODS,
    **rivals.METHODS,
}
DEFAULT_METHODS = ("best-single", "uniform", "align", "alignf")
