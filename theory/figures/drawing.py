"""A bound as a function of the sample size: values, the size at which it is informative, figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from alignlearn.bounds.checks import check_delta

from ..bounds.concentration import smallest_sample_size
from ..papers import P1, P2
from ..registry import CLAIMS

_NOTHING = MappingProxyType({})


@dataclass(frozen=True)
class Curve:
    """The bounds of one claim against m.

    Attributes
    ----------
    claim : str
        Name in `CLAIMS`.
    quantity : str
        The bounded quantity, with units, as a LaTeX label.
    forms : mapping of str to callable (m, delta, **setting) -> float
        The printed form first, named "printed", if there is one; then the correct forms.
    setting : mapping of str to float, or callable () -> mapping
        Default constants.
    trivial : callable (**setting) -> float
        The bound that holds without the statement; a bound no smaller than it is vacuous.
    why : str
        Why that bound holds.
    meaning : str
        Meaning and origin of the constants in the setting.
    least : int
        Smallest m for which the statement holds.
    informative : float, optional
        Value below which a bound is informative, where it is smaller than `trivial`: 1/2 for the
        length of an interval in [0, 1]. Default: `trivial`.
    note : str
        Details of the setting that a reader of the figure needs.
    """

    claim: str
    quantity: str
    forms: Mapping[str, Callable]
    trivial: Callable
    why: str
    setting: Mapping[str, float] | Callable = field(default_factory=lambda: _NOTHING)
    meaning: str = ""
    least: int = 2
    informative: float | None = None
    note: str = ""

    def numbers(self, changes: Mapping[str, float] = _NOTHING) -> dict:
        """Return the setting with some constants replaced.

        Raises
        ------
        ValueError
            For a name that the setting does not have.
        """
        values = dict(self.setting() if callable(self.setting) else self.setting)
        unknown = sorted(set(changes) - set(values))
        if unknown:
            accepted = ", ".join(values) or "none: the bound depends on m and delta alone"
            raise ValueError(
                f"{self.claim} has no setting {', '.join(unknown)}; accepted: {accepted}."
            )
        return values | dict(changes)

    def values(self, m, delta=0.05, changes: Mapping[str, float] = _NOTHING) -> dict:
        """Evaluate each form at each m.

        Parameters
        ----------
        m : sequence of int
        delta : float in (0, 1)
            The statement holds with probability 1 - delta; ignored for a deterministic statement.
        changes : mapping, optional
            Constants of the setting to replace.

        Returns
        -------
        dict of str to ndarray (len(m),)

        Raises
        ------
        ValueError
            If delta or an m is out of range, or a hypothesis of the bound is not met.
        """
        check_delta(delta)
        values = self.numbers(changes)
        for size in m:
            if size < self.least:
                raise ValueError(f"m={size!r} is out of range; accepted: m >= {self.least}.")
        return {
            name: np.array([float(form(int(size), delta, **values)) for size in m])
            for name, form in self.forms.items()
        }

    def level(self, changes: Mapping[str, float] = _NOTHING) -> float:
        """Return the value at and above which a bound is vacuous."""
        return float(self.trivial(**self.numbers(changes)))

    def start(self, changes: Mapping[str, float] = _NOTHING) -> float:
        """Return the value below which a bound is informative; default: that of `level`."""
        return self.level(changes) if self.informative is None else self.informative

    def smallest(
        self, delta=0.05, changes: Mapping[str, float] = _NOTHING, stop=10**15, level=None
    ) -> dict:
        """For each form the smallest m below `stop` at which it is below a level, or None.

        Default level: the value of `start`.
        """
        check_delta(delta)
        values = self.numbers(changes)
        level = self.start(changes) if level is None else level
        found = {}
        for name, form in self.forms.items():

            def bound(m, form=form):
                return form(m, delta, **values)

            useful = bound(stop) < level
            found[name] = smallest_sample_size(bound, level, self.least, stop) if useful else None
        return found


# -- the picture -----------------------------------------------------------------------


def draw_curve(curve: Curve, m, delta=0.05, changes: Mapping[str, float] = _NOTHING):
    """Draw a bound against the sample size.

    Parameters
    ----------
    curve : Curve
    m : sequence of int
        Sample sizes, increasing.
    delta : float in (0, 1)
    changes : mapping, optional
        Constants of the setting to replace.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from .style import BY_RANK, finish, mark_start, new_figure, shade_vacuous

    figure, (ax,) = new_figure()
    level, starts = curve.level(changes), curve.smallest(delta, changes)
    start_level = curve.start(changes)
    claim = CLAIMS[curve.claim]
    values = curve.values(m, delta, changes)
    styles = BY_RANK if "printed" in curve.forms else BY_RANK[1:]
    for style, (name, bound) in zip(styles, values.items()):
        ax.plot(m, bound, label=legend_name(name, claim), **style)
    finish(ax, y=curve.quantity, title=f"{place(claim)}\n{_given(curve, claim, delta, changes)}")
    _limits(ax, values, level)
    shade_vacuous(ax, level, "shaded: vacuous")
    for style, start in zip(styles, starts.values()):
        if start is not None and m[0] < start <= m[-1]:
            mark_start(ax, start, start_level, style["color"])
    note = curve.note or (
        "" if start_level == level else f"dots: from here on below {start_level:g}"
    )
    if note:
        ax.text(0.02, 0.02, note, transform=ax.transAxes, fontsize=9)
    return figure


def legend_name(form: str, claim) -> str:
    """Name of a form in the legend, readable without the code."""
    words = {
        "printed": f"as printed ({claim.status.value})",
        "printed, M1^2/4 for M1 M2/4": "as printed, with $M_1^2/4$ for $M_1M_2/4$",
        "sharpened, K' = K": "sharpened, for $K'=K$",
        "sharpened, K' = yy'": "sharpened, for a target kernel",
        "McDiarmid, K' = yy'": "McDiarmid, for a target kernel",
        "Bernstein (D)": "Bernstein, variance known",
        "from the data (D')": "Bernstein, variance from the data",
        "form (ii)": "sharpened, both variances known",
        "form (iii)": "sharpened, variances and alignments known",
        "interval": "interval from the data alone: its length",
        "as derived": "bound, as derived",
    }
    return words.get(form, form)


def _given(curve, claim, delta, changes):
    numbers = {"delta": delta} if claim.confidence is not None else {}
    numbers |= curve.numbers(changes)
    return ", ".join(f"{name} = {value:.3g}" for name, value in numbers.items())


def place(claim) -> str:
    """Authors, year and number of a claim, without the title of the paper."""
    for paper in (P1, P2):
        if claim.source.startswith(paper):
            return paper.partition(")")[0] + ")" + claim.source[len(paper) :]
    return claim.source


def _limits(ax, values, level):
    """Axis limits that show the curves and the trivial level without empty decades."""
    everything = np.concatenate(list(values.values()))
    positive = everything[everything > 1e-12]
    low = min(positive.min(initial=level), level)
    ax.set_ylim(max(low / 2, level * 1e-6), max(positive.max(initial=level), level) * 3)
