"""How far a statement can be changed before its own cases reject it.

Every form without a known violation is strengthened step by step. Its bound is shrunk (a lower
bound raised, an identity scaled) by 1, 5, 20 and 50%, it is multiplied by the powers that the form
declares, and it is replaced by the form's mutants, which drop a term or change a constant or a
sign. Shrinking and multiplying need no new measurement: `Verdict.margin` is the share by which
each case allows the bound to be shrunk. Cases are the extreme ones that the claim lists, then
random ones, then those found by hill climbing.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from .claim import Case, Claim, check
from .draws import RandomDraw
from .search import adversary
from .verification import known_cases, select

LEVELS = (0.01, 0.05, 0.2, 0.5)
SHARP_LEVEL = 0.05
EXAMPLES = 30
EVALUATIONS = 200


@dataclass
class Sensitivity:
    """Which mutations the cases of one form reject.

    Attributes
    ----------
    claim : Claim
    margin : float
        Minimum over the cases, see `Verdict`; nan where the bound is 0 in all of them.
    source : str
        Where the case with that margin comes from: "known", "drawn" or "search".
    mutants : dict of str to bool
        Whether each mutant and each factor, by its note, was rejected.
    problems : list of str
        Mutations that should have been rejected and were not.
    """

    claim: Claim
    margin: float = math.nan
    source: str = ""
    mutants: dict[str, bool] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def caught(self) -> float | None:
        """The smallest of LEVELS at which the changed bound is rejected, None if none is."""
        return next((level for level in LEVELS if self.margin < level), None)

    @property
    def looseness(self) -> float:
        """Factor by which the bound exceeds the worst known case; nan if unknown."""
        if not self.margin < math.inf or (self.claim.kind != "lower" and self.margin >= 1):
            return math.nan
        return 1 + self.margin if self.claim.kind == "lower" else 1 / (1 - max(self.margin, 0.0))


def sensitivity(
    claim: Claim, examples: int = EXAMPLES, evaluations: int = EVALUATIONS
) -> Sensitivity:
    """Find the smallest mutation of one form that its cases reject.

    Parameters
    ----------
    claim : Claim
    examples : int
        Maximum number of random cases; drawing stops once the smallest mutation is rejected.
    evaluations : int
        Evaluations of the search for a closer case, and of the search for each mutant that no other
        case rejects; a quarter of that for a statement with probability, whose cases are many
        samples each.

    Returns
    -------
    Sensitivity
    """
    result = Sensitivity(claim)
    if claim.confidence is not None:
        evaluations //= 4
    seen: list[Case] = []
    factors = {f"times {name}": factor for name, factor in claim.factors.items()}
    result.mutants = dict.fromkeys(factors, False)
    for source, case in _cases(claim, examples):
        seen.append(case)
        verdict = check(claim, case)
        _note(result, verdict, source)
        for name, factor in factors.items():
            result.mutants[name] |= _stronger(claim, factor(case)) > verdict.margin
        if source == "drawn" and result.caught == LEVELS[0] and all(result.mutants.values()):
            break
    scaled = claim.kind != "convergence"
    if scaled and result.caught != LEVELS[0] and evaluations:
        _note(result, adversary(claim, evaluations, 2, random_state=0), "search")
    if math.isnan(result.margin) and scaled and claim.scale is not None:
        result.mutants.update(_shifts(claim, seen))
    for mutant in claim.mutants:
        result.mutants[mutant.note] = _refused(claim.mutated(mutant), seen, evaluations)
    if claim.sharp and not result.margin < SHARP_LEVEL:
        result.problems.append(f"said to be sharp, not caught at {SHARP_LEVEL:.0%}")
    result.problems += [f"survives: {note}" for note, dead in result.mutants.items() if not dead]
    return result


def _cases(claim, drawn):
    for case in known_cases(claim):
        yield "known", case
    for seed in range(drawn):
        yield "drawn", claim.cases(RandomDraw(seed))


def _note(result, verdict, source):
    if verdict.outcome == "violated":
        result.problems.append(f"violated as it stands ({source} case)")
    if result.claim.kind == "convergence" or math.isnan(verdict.margin):
        return
    if not verdict.margin >= result.margin:
        result.margin, result.source = verdict.margin, source


def _stronger(claim, factor):
    """The share of the bound by which a factor makes the claim stronger."""
    return factor - 1 if claim.kind == "lower" else 1 - factor


def _shifts(claim, seen):
    """The smallest rejected share of the scale where the bound is 0, if there is one."""
    sign = 1 if claim.kind == "lower" else -1
    for level in LEVELS:
        shifted = replace(claim, bound=lambda case, size=sign * level: size * claim.scale(case))
        if _refused(shifted, seen, 0):
            return {f"{level:.0%} of the scale for 0": True}
    return {}


def _refused(wrong, seen, evaluations):
    if any(check(wrong, case).outcome == "violated" for case in seen):
        return True
    return bool(evaluations) and adversary(wrong, evaluations, 2, random_state=0).outcome == (
        "violated"
    )


def report(
    claims: Iterable[str] | None = None,
    examples: int = EXAMPLES,
    evaluations: int = EVALUATIONS,
    stream=None,
    on_finding=None,
) -> int:
    """Mutate the claims and print the table.

    Parameters
    ----------
    claims : iterable of str, optional
        Names. Default: all claims. Forms that do not hold are left out.
    examples, evaluations : int
        See `sensitivity`.
    stream : text stream, optional
        Default: standard output.
    on_finding : callable (Sensitivity, int), optional
        Called with every result and the number of forms.

    Returns
    -------
    int
        Exit code: 1 if a mutation that should be noticed is not, else 0.

    Raises
    ------
    ValueError
        If `examples` is less than 1.
    KeyError
        For a name that is not a claim.
    """
    if not examples >= 1:
        raise ValueError(f"examples={examples!r} is out of range; accepted: examples >= 1.")
    stream = sys.stdout if stream is None else stream
    chosen = [claim for claim in select(claims) if claim.status.holds]
    width = max([5, *(len(claim.name) for claim in chosen)])
    head = "claim", "caught at", "loose by", "by", "mutants", ""
    print(_line(head, width), file=stream)
    results = []
    for claim in chosen:
        results.append(sensitivity(claim, examples, evaluations))
        print(_line(_cells(results[-1]), width), file=stream, flush=True)
        if on_finding is not None:
            on_finding(results[-1], len(chosen))
    wrong = sum(bool(result.problems) for result in results)
    counts = [sum(result.caught == level for result in results) for level in LEVELS]
    parts = ", ".join(f"{n} at {level:.0%}" for n, level in zip(counts, LEVELS))
    print(
        f"{len(results)} forms, {wrong} that do not notice what they should; caught {parts}.",
        file=stream,
    )
    return 1 if wrong else 0


def _cells(result):
    caught = "-" if result.caught is None else f"{result.caught:.0%}"
    loose = "-" if math.isnan(result.looseness) else f"{result.looseness:.3g}"
    if result.claim.kind == "convergence":
        caught = "tolerance"
    elif math.isnan(result.margin):
        caught = "bound 0"
    dead = f"{sum(result.mutants.values())} of {len(result.mutants)}" if result.mutants else "-"
    sharp = ["sharp"] if result.claim.sharp else []
    return result.claim.name, caught, loose, result.source, dead, "; ".join(sharp + result.problems)


def _line(cells, width):
    name, caught, loose, source, dead, note = cells
    return f"{name:{width}}  {caught:>9}  {loose:>8}  {source:6}  {dead:>8}  {note}".rstrip()
