"""Adapters for users' objects with ``solve``, ``solve_source`` or ``solve_grams``."""

from __future__ import annotations

from .base import NEEDS, Rule
from .matrices import learn_from_grams


class _Adapter(Rule):
    """A rule that calls the one method of an object.

    Parameters
    ----------
    given : object
        Its attributes ``needs_target``, and with ``solve_grams`` those of `OneStageWeighting`, are
        read where it has them.
    """

    def __init__(self, given):
        self.given = given
        self.needs_target = getattr(given, "needs_target", True)

    def __repr__(self):
        return repr(self.given)


class _OfStatistics(_Adapter):
    needs = "statistics"

    def learn(self, problem):
        return self.given.solve(problem.statistics)


class _OfSource(_Adapter):
    needs = "source"

    def learn(self, problem):
        return self.given.solve_source(problem.source, problem.statistics, problem.scale)


class _OfGrams(_Adapter):
    needs = "grams"

    def __init__(self, given):
        super().__init__(given)
        self.solve_grams = given.solve_grams
        self.targets = getattr(given, "targets", "real")
        self.unit_target = getattr(given, "unit_target", False)
        self.sample_weights = getattr(given, "sample_weights", None)

    def learn(self, problem):
        return learn_from_grams(problem, self)


class _OfProblem(_Adapter):
    """Of an object with ``learn`` and ``needs``."""

    def __init__(self, given):
        super().__init__(given)
        # Only a `Rule` states weights that need nothing.
        self.needs = "statistics" if given.needs == "nothing" else given.needs

    def learn(self, problem):
        return self.given.learn(problem)


# In the order in which an object's methods are looked for.
_FORMS = {"solve_source": _OfSource, "solve_grams": _OfGrams, "solve": _OfStatistics}


def as_rule(weighting):
    """A `Rule` unchanged, or the one that calls an object's own method; None for anything else.

    Parameters
    ----------
    weighting : object
        With ``solve_source(source, statistics, scale)``, ``solve_grams(grams, y, statistics=...)``
        or ``solve(statistics)``, or with ``learn(problem)`` and ``needs``. A class derived from
        `Weighting` may have one of the first two methods as well.

    Raises
    ------
    TypeError
        The object has a method ``learn(problem)``, but no attribute ``needs``.
    ValueError
        ``needs`` is not one of `NEEDS`.
    """
    if isinstance(weighting, type):
        return None
    methods = [name for name in _FORMS if callable(getattr(weighting, name, None))]
    needs, learns = getattr(weighting, "needs", None), callable(getattr(weighting, "learn", None))
    if learns and (needs is not None or not methods):
        _check_needs(weighting, needs)
        # A rule on statistics may have been given a method that takes more.
        if not (methods and methods[0] != "solve" and needs in ("nothing", "statistics")):
            return weighting if isinstance(weighting, Rule) else _OfProblem(weighting)
    return _FORMS[methods[0]](weighting) if methods else None


def _check_needs(weighting, needs):
    accepted = ", ".join(map(repr, NEEDS))
    if needs is None:
        raise TypeError(
            f"weighting={weighting!r:.80} has a method learn(problem), but no attribute needs; "
            f"accepted: {accepted}."
        )
    if needs not in NEEDS:
        raise ValueError(
            f"weighting={weighting!r:.80} has needs={needs!r:.40}; accepted: {accepted}."
        )
