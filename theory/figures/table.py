"""The table of claims that the README shows: source, status as printed, corrected form, verdict."""

from __future__ import annotations

from ..claim import Claim, check
from ..draws import RandomDraw
from ..papers import P1, P2
from ..registry import CLAIMS

CASES = 10
_HEAD = "| claim | source | as printed | checked | correct or sharper form |\n|---|---|---|---|---|"
_STATUS = {
    "holds": "true",
    "gap": "true, proof wrong",
    "holds after fix": "true after a fix",
    "false": "false",
}


def claims_table() -> str:
    """Every claim in the order of the papers as a Markdown table.

    The column "checked" is computed: for a false claim its counterexample put in, with the measured
    value, the printed bound and the first corrected bound; else the outcome on random cases.
    """
    rows = [_row(claim) for claim in CLAIMS.values()]
    return "\n".join([_HEAD, *rows]) + "\n"


def _row(claim):
    forms, better = [], claim.corrected
    while better is not None:
        forms.append(_formula(better.statement))
        better = better.corrected
    link = "; ".join(forms) or "-"
    cells = f"`{claim.name}`", _source(claim), _STATUS[claim.status], _checked(claim), link
    return f"| {' | '.join(cells)} |"


def _source(claim):
    for year, paper in (("2012", P1), ("2009", P2)):
        if claim.source.startswith(paper):
            return year + claim.source[len(paper) :].replace("|", r"\|")
    return claim.source.replace("|", r"\|")


def _formula(latex):
    """Mathematics that survives Markdown: no bars, which end a cell, and nothing to escape."""
    return f"$`{latex.replace(chr(92) + '|', chr(92) + 'Vert ').replace('|', chr(92) + 'vert ')}`$"


def _checked(claim: Claim) -> str:
    if claim.counterexample is None:
        return _on_random_cases(claim)
    verdict = check(claim, claim.counterexample())
    words = f"{verdict.outcome}: {_compared(claim.kind, verdict)}"
    if claim.corrected is not None:
        repaired = check(claim.corrected, claim.counterexample())
        same = claim.corrected.kind == claim.kind and claim.corrected.measure is claim.measure
        bound = f" ({repaired.bound:.3g})" if same and claim.confidence is None else ""
        if repaired.outcome == "inconclusive":
            return f"{words}; the corrected form excludes the case"
        words += f"; corrected: {repaired.outcome}{bound}"
    return words


def _on_random_cases(claim):
    outcomes = [check(claim, claim.cases(RandomDraw(seed))).outcome for seed in range(CASES)]
    if "violated" in outcomes:
        return "violated"
    return f"holds in {CASES} random cases"


def _compared(kind, verdict):
    if verdict.trials > 1 and verdict.frequency[0] >= 0:
        return f"{verdict.violations} of {verdict.trials} samples"
    sign = {"upper": ">", "lower": "<", "convergence": ">"}.get(kind, "≠")
    return f"{verdict.measured:.3g} {sign} {verdict.bound:.3g}"
