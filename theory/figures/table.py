"""The claims as Markdown: the table of all of them, and the short account that the README shows."""

from __future__ import annotations

from collections import Counter
from functools import cache

from ..claim import OUTCOMES, Claim, check
from ..draws import RandomDraw
from ..papers import P1, P2, P3, P4, P5
from ..registry import CLAIMS, all_claims, proof_file

CASES = 10
_HEAD = "| claim | source | as printed | checked | correct or sharper form |\n|---|---|---|---|---|"
_STATUS = {
    "holds": "true",
    "gap": "true with a wrong proof",
    "holds after fix": "true after a fix",
    "false": "false",
}


_WORDS = {"holds": "hold"}
# For the README: a theorem that is right for another reason and by a large factor, three that fail
# for what users do (learn weights, predict signs), and an algorithm that does not converge.
SURPRISING = (
    "p1-theorem-12",
    "p1-h-s-rate",
    "p1-theorem-16",
    "p1-alignf-stability",
    "p2-algorithm-1",
)


def claims_table() -> str:
    """Every claim in the order of the papers as a Markdown table.

    The column "checked" is computed: for a claim with a counterexample, that case put in, with the
    measured value, the printed bound and the first corrected bound; else the outcomes of random
    cases.
    """
    return "\n".join([_HEAD, *map(_row, CLAIMS.values())]) + "\n"


def claims_page() -> str:
    """The Markdown file of all claims: what its columns say, and `claims_table`."""
    return f"""# The claims

{counts()}
Written by `scripts/make_figures.py`.

{outcomes_of_forms()}

As printed: the verdict on the statement in the paper. Checked: {CASES} random cases, where
"vacuous" means that the bound says no more than what is always true, and "inconclusive" that a
hypothesis was not met or too few samples decide; or the counterexample, measured against printed,
and the first corrected form on the same case. Every corrected or sharper form is followed by its
own outcome on {CASES} random cases. Machine-checked: {machine_checked()}; the Coq files are
linked in their rows, and `scripts/lab/check_proofs` checks them.

{claims_table()}"""


def claims_summary() -> str:
    """What the README shows: how many claims are true, and the rows that surprise most."""
    rows = [_row(CLAIMS[name]) for name in SURPRISING]
    text = f"{counts()}\n{outcomes_of_forms()}"
    return "\n".join([text, "", "The five that may surprise most:", "", _HEAD, *rows]) + "\n"


def counts() -> str:
    """How many claims have which status, as a sentence."""
    found = Counter(claim.status for claim in CLAIMS.values())
    parts = [f"{found[status]} are {words}" for status, words in _STATUS.items()]
    return f"Of {len(CLAIMS)} claims, {', '.join(parts[:-1])}, and {parts[-1]}."


def machine_checked() -> str:
    """The claims whose proof Coq checks, as Markdown."""
    return ", ".join(f"`{name}`" for name in CLAIMS if proof_file(name))


def outcomes_of_forms() -> str:
    """What became of the corrected and sharper forms on random cases, as a sentence."""
    found = _forms().values()
    violated, held = (sum(bool(f[word]) for f in found) for word in ("violated", "holds"))
    return (
        f"Of the {len(found)} corrected and sharper forms, {held} held and {violated} were "
        f"violated on {CASES} random cases each;\n`alignlearn verify` runs 100 of every claim and "
        "form."
    )


def _outcomes(claim):
    """How often random cases of a claim led to which outcome."""
    return Counter(check(claim, claim.cases(RandomDraw(seed))).outcome for seed in range(CASES))


@cache
def _forms():
    """The outcomes of every corrected and sharper form, by its name."""
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
    cells = f"`{claim.name}`", _source(claim), _STATUS[claim.status], _checked(claim), last
    return f"| {' | '.join(cells)} |"


def _source(claim):
    papers = ("2012", P1), ("2009", P2), ("multi-task", P3), ("2020", P4), ("slides", P5)
    for year, paper in papers:
        if claim.source.startswith(paper):
            return year + claim.source[len(paper) :].replace("|", r"\|")
    return claim.source.replace("|", r"\|")


def _formula(latex):
    """Mathematics that survives Markdown: no bars, which end a cell, and nothing to escape."""
    return f"$`{latex.replace(chr(92) + '|', chr(92) + 'Vert ').replace('|', chr(92) + 'vert ')}`$"


def _checked(claim: Claim) -> str:
    if claim.counterexample is None:
        return f"{CASES} random cases: {_in_words(_outcomes(claim))}"
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


def _in_words(found):
    return ", ".join(f"{found[name]} {_WORDS.get(name, name)}" for name in OUTCOMES if found[name])


def _compared(kind, verdict):
    if verdict.trials > 1 and verdict.frequency[0] >= 0:
        return f"{verdict.violations} of {verdict.trials} samples"
    sign = {"upper": ">", "lower": "<", "convergence": ">"}.get(kind, "≠")
    return f"{verdict.measured:.3g} {sign} {verdict.bound:.3g}"
