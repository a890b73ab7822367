"""The published claims about learning with centered alignment, evaluated.

`CLAIMS` maps names to `Claim` objects in the order of the papers; ``check(claim, case)`` returns a
`Verdict`. Each paper has a folder with one file per claim, and the proofs in its ``proofs.md``.
The bounds are plain functions in `alignlearn.bounds`; those whose name ends in "printed" are the
papers' own. Exact population quantities and naive learners are in `reference`, the figures in
`figures`. `verify` runs everything and prints the table.

`curves` returns the claims that bound a quantity for each number of samples; `find_curve` looks one
up, `draw_curve` draws it, and `curve_for` draws it for a given sample.
"""

from __future__ import annotations

from typing import Any

from .claim import Claim, HypothesisNotMet, NegativeControl, Status, Verdict, check
from .registry import CLAIMS, all_claims
from .verification import verify

__all__ = [
    "CLAIMS",
    "Claim",
    "HypothesisNotMet",
    "NegativeControl",
    "Status",
    "Verdict",
    "all_claims",
    "check",
    "claims",
    "curve_for",
    "curves",
    "draw_curve",
    "find_curve",
    "verify",
]


def claims() -> dict[str, Claim]:
    """Return the claims by name, in the order of the papers.

    Examples
    --------
    >>> from alignlearn import theory
    >>> theory.claims()["p1-theorem-12"].status.value
    'true, proof wrong'
    """
    return dict(CLAIMS)


def curves() -> dict[str, Any]:
    """Return the `Curve` of each claim that has a bound for each number of samples, by name.

    Examples
    --------
    >>> from alignlearn import theory
    >>> curve = theory.curves()["p1-theorem-12"]
    >>> curve.values([1000, 10**6])["form (ii)"].round(2).tolist()
    [5.15, 0.16]
    """
    from .figures.curves import CURVES

    return dict(CURVES)


def find_curve(name: str) -> Any:
    """Return the `Curve` of a claim, by its name or by that of its corrected form.

    Raises
    ------
    ValueError
        For a name that is not a claim, or a claim whose bound is not a function of the sample size.

    Examples
    --------
    >>> from alignlearn import theory
    >>> theory.find_curve("p1-interval").smallest(0.05)
    {'interval': 13268}
    """
    from .figures.curves import find_curve

    return find_curve(name)


def draw_curve(curve, m, delta=0.05, changes=None):
    """Draw a bound against the number of samples and return the matplotlib figure.

    Parameters
    ----------
    curve : Curve or str
        A curve returned by `find_curve`, or its name.
    m : sequence of int
        Sample sizes, increasing.
    delta : float in (0, 1)
    changes : dict, optional
        Numbers of the setting to replace, by name.

    Examples
    --------
    >>> from alignlearn import theory
    >>> figure = theory.draw_curve("p1-theorem-12", [10, 1000, 100000])
    >>> len(figure.axes)
    1
    """
    from .figures.drawing import draw_curve

    curve = find_curve(curve) if isinstance(curve, str) else curve
    return draw_curve(curve, m, delta, changes or {})


def curve_for(K_list, y, claim="p1-theorem-12", delta=0.05, random_state=0):
    """Draw a bound with the constants of a sample, beside deviations observed on its subsamples.

    Parameters
    ----------
    K_list : array (m, m), or sequence of them
        A Gram matrix of the training samples; a sequence is combined with the weights of alignf.
    y : array-like of shape (m,)
        Two classes, or real targets.
    claim : str
        The name of a curve on the alignment, such as "p1-theorem-12" or "p1-interval".
    delta : float in (0, 1)
    random_state : int, Generator or None
        Seed of the subsamples.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        For a curve whose constants cannot be estimated from a sample.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, theory
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> figure = theory.curve_for([Gaussian(0.1)(X), Gaussian(1.0)(X)], X[:, 0] > 0)
    >>> figure.axes[0].get_legend_handles_labels()[1][-1]
    'bootstrap of the sample'
    """
    from .figures.observed import curve_for

    return curve_for(K_list, y, claim, delta, random_state)
