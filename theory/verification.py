"""Check every claim on many inputs and report whether its recorded status is confirmed.

`verify` is what ``alignlearn verify`` calls. Inputs come from hypothesis where it is installed,
which shrinks a violation to a small one and searches for tight cases, otherwise from NumPy.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.util import find_spec

from .claim import Claim, Status, Verdict, check
from .draws import RandomDraw, strategy
from .registry import CLAIMS, all_claims, proof_file


@dataclass
class Finding:
    """The result of checking one claim.

    Attributes
    ----------
    claim : Claim
    found : str
        "holds", "violated" or, for a claim recorded as degenerate, "vacuous"; "nothing said" if
        every outcome of another claim was vacuous or inconclusive.
    as_recorded : bool
        Whether `found` agrees with the claim's status, its counterexample violates it, its
        correction survives the counterexample, and its negative control is rejected.
    outcomes : Counter of the outcomes of `check` over the examples
    worst : Verdict or None
        The example closest to a violation.
    problems : list of str
        Deviations from the record.
    """

    claim: Claim
    found: str = "nothing said"
    as_recorded: bool = False
    outcomes: Counter = field(default_factory=Counter)
    worst: Verdict | None = None
    problems: list[str] = field(default_factory=list)


def examine(claim: Claim, examples: int = 100) -> Finding:
    """Check one claim on its known cases, `examples` drawn ones, and those that must violate it.

    Parameters
    ----------
    claim : Claim
    examples : int

    Returns
    -------
    Finding
    """
    finding = Finding(claim)
    if claim.status.holds:
        _run_known(claim, finding)
    if not finding.problems:
        _run(claim, finding, examples)
    violated = finding.outcomes["violated"] > 0
    if claim.counterexample is not None:
        verdict = check(claim, claim.counterexample())
        violated = violated or verdict.outcome == "violated"
        if verdict.outcome != "violated":
            finding.problems.append("the counterexample does not violate it")
        _note_worst(finding, verdict)
        if claim.corrected is not None:
            _check_correction(claim, finding)
    _conclude(claim, finding, violated)
    if check(claim.wrong(), claim.negative_control.case()).outcome != "violated":
        finding.problems.append("the negative control is not rejected")
    finding.as_recorded = not finding.problems
    return finding


def _conclude(claim, finding, violated):
    """Compare the results on the cases with the status."""
    degenerate = claim.status is Status.DEGENERATE
    if violated or finding.outcomes["holds"]:
        finding.found = "violated" if violated else "holds"
    elif degenerate and finding.outcomes["vacuous"]:
        finding.found = "vacuous"
    if finding.found == "nothing said":
        finding.problems.append("nothing but vacuous or inconclusive outcomes; more examples?")
    elif finding.found != claim.status.outcome:
        finding.problems.append(f"found {finding.found}, recorded {claim.status.value!r}")


def known_cases(claim: Claim) -> list:
    """The extreme cases, and the case of the negative control if it is a case of the claim.

    It is a case of the claim if only the bound or only the measure was changed, on inputs that meet
    the hypotheses. If the control changes nothing else, its case is the counterexample.
    """
    control = claim.negative_control
    cases = claim.extreme_cases()
    return [*cases, control.case()] if control.bound is not None else cases


def select(names: Iterable[str] | None = None) -> list[Claim]:
    """Select claims by name, printed ones with their corrections; all of them for None.

    Raises
    ------
    KeyError
        For a name that is not a claim.
    """
    everything = {claim.name: claim for claim in all_claims()}
    if names is None:
        return list(everything.values())
    chosen = []
    for name in names:
        if name not in everything:
            raise KeyError(f"{name!r} is not a claim; accepted: {', '.join(everything)}.")
        claim = everything[name]
        while claim is not None:
            chosen.append(claim)
            claim = claim.corrected if name in CLAIMS else None
    return chosen


def verify(
    claims: Iterable[str] | None = None, examples: int = 100, stream=None, on_finding=None
) -> int:
    """Check claims and print the table.

    Parameters
    ----------
    claims : iterable of str, optional
        Names. Default: all claims.
    examples : int
        Cases for each claim, at least 1.
    stream : text stream, optional
        Default: standard output.
    on_finding : callable (Finding, int), optional
        Called with every finding and the number of claims.

    Returns
    -------
    int
        Exit code: 1 if a claim is not as recorded, else 0. A claim whose outcomes are all vacuous
        or inconclusive is not as recorded: nothing was found to hold.

    Raises
    ------
    ValueError
        If `examples` is less than 1.
    KeyError
        For a name that is not a claim.

    Examples
    --------
    >>> import io
    >>> from alignlearn import theory
    >>> theory.verify(["p1-lemma-1"], examples=5, stream=io.StringIO())
    0
    """
    if not examples >= 1:
        raise ValueError(f"examples={examples!r} is out of range; accepted: examples >= 1.")
    stream = sys.stdout if stream is None else stream
    chosen = select(claims)
    width = max(len(claim.name) for claim in chosen)
    print(_line(("claim", "as printed", "found", "closest", "examples", ""), width), file=stream)
    wrong = silent = 0
    for claim in chosen:
        finding = examine(claim, examples)
        wrong += not finding.as_recorded
        silent += finding.found == "nothing said"
        print(_line(_cells(finding), width), file=stream, flush=True)
        if on_finding is not None:
            on_finding(finding, len(chosen))
    proved = [claim.name for claim in chosen if claim.name in CLAIMS and proof_file(claim.name)]
    if proved:
        print(f"Machine-checked (scripts/lab/check_proofs): {', '.join(proved)}.", file=stream)
    source = "hypothesis" if find_spec("hypothesis") else "NumPy draws (hypothesis is missing)"
    open_ones = f", of {silent} nothing was said" if silent else ""
    print(
        f"{len(chosen)} claims, {wrong} not as recorded{open_ones}; cases from {source}.",
        file=stream,
    )
    return 1 if wrong else 0


def _run_known(claim, finding):
    for case in known_cases(claim):
        verdict = check(claim, case)
        _record(finding, verdict)
        if verdict.outcome == "violated":
            finding.problems.append(f"violated: {verdict}")
            return


def _run(claim, finding, examples):
    """Evaluate the cases; stop at the (shrunk) first violation of a claim recorded as true."""
    stop = claim.status.holds
    if find_spec("hypothesis"):
        _run_hypothesis(claim, finding, examples, stop)
        return
    for seed in range(examples):
        verdict = check(claim, claim.cases(RandomDraw(seed)))
        _record(finding, verdict)
        if stop and verdict.outcome == "violated":
            return


class _Violation(Exception):
    """Raised inside hypothesis so that it shrinks the case."""


def _run_hypothesis(claim, finding, examples, stop):
    from hypothesis import HealthCheck, given, settings, target

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy(claim))
    def run(case):
        verdict = check(claim, case)
        _record(finding, verdict)
        aim = claim.kind in ("upper", "lower") and claim.confidence is None
        if aim and 0 <= verdict.tightness <= 1:
            target(verdict.tightness)
        if stop and verdict.outcome == "violated":
            raise _Violation(verdict)

    try:
        run()
    except _Violation as violation:
        finding.problems.append(f"violated: {violation.args[0]}")


def _record(finding, verdict):
    finding.outcomes[verdict.outcome] += 1
    _note_worst(finding, verdict)


def _note_worst(finding, verdict):
    if math.isnan(verdict.tightness) or verdict.outcome == "inconclusive":
        return
    if finding.worst is None or verdict.tightness > finding.worst.tightness:
        finding.worst = verdict


def _check_correction(claim, finding):
    verdict = check(claim.corrected, claim.counterexample())
    refused = claim.status is Status.HYPOTHESIS and verdict.outcome == "inconclusive"
    if verdict.outcome not in ("holds", "vacuous") and not refused:
        finding.problems.append("the corrected form does not survive the counterexample")


def _cells(finding):
    worst = "-" if finding.worst is None else f"{finding.worst.tightness:.3g}"
    total = sum(finding.outcomes.values())
    note = "; ".join(finding.problems) if finding.problems else ""
    return finding.claim.name, str(finding.claim.status), finding.found, worst, str(total), note


def _line(cells, width):
    name, status, found, worst, total, note = cells
    return f"{name:{width}}  {status:19}  {found:12}  {worst:>9}  {total:>8}  {note}".rstrip()
