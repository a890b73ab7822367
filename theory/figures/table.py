"""The claims as Markdown: the table of all claims, and the counts shown in the README."""

from __future__ import annotations

from collections import Counter
from functools import cache

from ..claim import OUTCOMES, Claim, Status, check
from ..draws import RandomDraw
from ..papers import P1, P2, P3, P4, P5
from ..registry import CLAIMS, all_claims, proof_file

CASES = 10
_HEAD = (
    "| claim | source | as printed | what is wrong, and what it means | checked |"
    " correct or sharper form |\n|---|---|---|---|---|---|"
)
_PAPERS = {"p1": ("2012", P1), "p2": ("2009", P2), "p3": ("multi-task", P3)}
_PAPERS |= {"p4": ("2020", P4), "p5": ("slides", P5)}
_WORDS = {"holds": "hold"}
# Substantial errors: the basis of alignf's stability, the error rate of predicted signs, a bound
# that cannot be repaired, a singular matrix that is inverted all over a paper, and a rate that
# nothing attains.
SURPRISING = (
    "p1-theorem-16",
    "p1-h-s-rate",
    "p2-prop-1",
    "p3-matrix-a",
    "p4-theorem-2",
)


def claims_table() -> str:
    """Return every claim in the order of the papers as a Markdown table.

    The column "checked" is computed. For a claim with a counterexample it shows the measured value,
    the printed bound and the first corrected bound on that case; otherwise the outcomes of random
    cases.
    """
    return "\n".join([_HEAD, *map(_row, CLAIMS.values())]) + "\n"


def claims_page() -> str:
    """Return the Markdown file of all claims: the meaning of the columns, and `claims_table`."""
    return f"""# The claims

{counts()}

{counts_table()}
The most surprising errors: {", ".join(f"`{name}`" for name in SURPRISING)}.

Written by `scripts/make_figures.py`.

{outcomes_of_forms()}

The column "as printed" has the verdict on the statement in the paper:
{statuses()}.

The column "checked" has the outcomes on {CASES} random cases. "Vacuous" means that the bound is
weaker than a trivial one, and "inconclusive" that a hypothesis was not met or that there were too
few samples to decide. For a claim with a counterexample it has the measured and the printed value,
and the first corrected form on the same case. Every corrected or sharper form is followed by its
own outcomes on {CASES} random cases. Coq checks the proofs of {machine_checked()}; their rows link
the files, and `scripts/lab/check_proofs` runs the checks.

{claims_table()}"""


_MEANS = {
    Status.TRUE: "it holds",
    Status.PROOF_WRONG: "it holds, but a step of its printed proof is wrong",
    Status.DEGENERATE: "it holds, but follows from a trivial bound",
    Status.MISPRINT: "a constant, sign, index or exponent is wrong, and the derivation shows the"
    " intended one",
    Status.HYPOTHESIS: "it holds only under a hypothesis that the paper does not state",
    Status.FALSE: "it fails for another reason",
    Status.GAP: "stated without a proof, or too vaguely to decide",
    Status.NEW: "a result of this library that is not in the papers",
}


_COUNTED = {
    Status.TRUE: "are true",
    Status.PROOF_WRONG: "true with a wrong proof",
    Status.DEGENERATE: "true but degenerate",
    Status.MISPRINT: "misprinted",
    Status.HYPOTHESIS: "true only under a hypothesis that is not stated",
    Status.FALSE: "false",
    Status.GAP: "stated without a proof or too vaguely to decide",
}


def statuses() -> str:
    """Describe the statuses in one sentence."""
    return ";\n".join(f"*{status.value}*: {words}" for status, words in _MEANS.items())


def counts() -> str:
    """Count the claims of each status in a sentence; new claims are counted apart."""
    found = Counter(claim.status for claim in CLAIMS.values())
    ours = found.pop(Status.NEW)
    parts = [f"{found[status]} {words}" for status, words in _COUNTED.items() if found[status]]
    follow = sum(bool(claim.follows) for claim in CLAIMS.values())
    return (
        f"Of {len(CLAIMS) - ours} claims of the five papers, {', '.join(parts[:4])},\n"
        f"{', '.join(parts[4:-1])}, and {parts[-1]}.\n"
        f"{follow} errors follow from the error of another claim, which the table names. "
        f"{ours} claims are new."
    )


def counts_table() -> str:
    """Return the counts for each paper, as a Markdown table."""
    columns = [status for status in Status if status is not Status.NEW] + [Status.NEW]
    lines = [
        f"| paper | claims | {' | '.join(status.value for status in columns[:-1])} | new |",
        "|---" * (len(columns) + 2) + "|",
    ]
    for key, (label, _) in _PAPERS.items():
        found = Counter(claim.status for name, claim in CLAIMS.items() if name.startswith(key))
        numbers = [found[status] for status in columns]
        lines.append(f"| {label} | {sum(numbers[:-1])} | {' | '.join(map(str, numbers))} |")
    return "\n".join(lines) + "\n"


def machine_checked() -> str:
    """Return the claims whose proof Coq checks, as Markdown."""
    return ", ".join(f"`{name}`" for name in CLAIMS if proof_file(name))


def outcomes_of_forms() -> str:
    """Describe the outcomes of the corrected and sharper forms on random cases, in one sentence."""
    found = _forms().values()
    violated, held = (sum(bool(f[word]) for f in found) for word in ("violated", "holds"))
    return (
        f"Of the {len(found)} corrected and sharper forms, {held} held and {violated} were "
        f"violated on {CASES} random cases each;\n`alignlearn verify` runs 100 of every claim and "
        "form."
    )


def _outcomes(claim):
    """Count the outcomes of random cases of a claim."""
    return Counter(check(claim, claim.cases(RandomDraw(seed))).outcome for seed in range(CASES))


@cache
def _forms():
    """Return the outcomes of every corrected and sharper form, by its name."""
    return {claim.name: _outcomes(claim) for claim in all_claims() if claim.name not in CLAIMS}


def _row(claim):
    forms, better = [], claim.corrected
    while better is not None:
        forms.append(f"{_formula(better.statement)}: {_in_words(_forms()[better.name])}")
        better = better.corrected
    proof = proof_file(claim.name)
    if proof:
        forms.append(f"machine-checked: [{proof.name}](../theory/{proof.parent.name}/{proof.name})")
    last = "; ".join(forms) or "-"
    name, status = f"`{claim.name}`", claim.status.value
    return f"| {' | '.join((name, _source(claim), status, remark(claim), _checked(claim), last))} |"


def remark(claim):
    """Return the remark of a claim, or the statement that it holds."""
    if claim.status is Status.NEW:
        return "Not in the paper; proved in `proofs.md`."
    if claim.status is Status.TRUE:
        sharper = ", and a sharper form does too" if claim.corrected is not None else ""
        return f"It holds as printed{sharper}."
    text = claim.remark.replace("|", r"\|")
    return f"{text} Follows from `{claim.follows}`." if claim.follows else text


def _source(claim):
    label, paper = _PAPERS[claim.name[:2]]
    return label + claim.source.removeprefix(paper).replace("|", r"\|")


def _formula(latex):
    """Escape mathematics for Markdown: no bars, which end a table cell."""
    return f"$`{latex.replace(chr(92) + '|', chr(92) + 'Vert ').replace('|', chr(92) + 'vert ')}`$"


def _checked(claim: Claim) -> str:
    if claim.counterexample is None:
        return f"{CASES} random cases: {_in_words(_outcomes(claim))}"
    verdict = check(claim, claim.counterexample())
    words = f"{verdict.outcome}: {compared(claim.kind, verdict)}"
    if claim.corrected is not None:
        repaired = check(claim.corrected, claim.counterexample())
        same = claim.corrected.kind == claim.kind and claim.corrected.measure is claim.measure
        bound = f" ({repaired.bound:.3g})" if same and claim.confidence is None else ""
        if repaired.outcome == "inconclusive":
            return f"{words}; the corrected form excludes the case"
        words += f"; corrected: {repaired.outcome}{bound}"
    return words


def _in_words(found):
    return ", ".join(f"{found[name]} {_WORDS.get(name, name)}" for name in OUTCOMES if found[name])


def compared(kind, verdict):
    """Format the result of one case: measured against printed."""
    if verdict.trials > 1 and verdict.frequency[0] >= 0:
        return f"{verdict.violations} of {verdict.trials} samples"
    sign = {"upper": ">", "lower": "<", "convergence": ">"}.get(kind, "≠")
    return f"{verdict.measured:.3g} {sign} {verdict.bound:.3g}"
