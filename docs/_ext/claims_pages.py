"""The pages of the claims, written from the registry when the site is built.

``claims/index.md`` has one table of all claims with a filter; a page for each paper has every claim
with its statement, verdict, counterexample, corrected forms and figure; another page the proofs.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from alignlearn.theory import CLAIMS, check
from alignlearn.theory.claim import Status
from alignlearn.theory.figures import curves, style, table
from alignlearn.theory.figures.drawing import draw_curve
from alignlearn.theory.papers import P1, P2, P3, P4, P5
from alignlearn.theory.registry import proof_file

PAPERS = {"p1": P1, "p2": P2, "p3": P3, "p4": P4, "p5": P5}
_SHORT = {
    "p1": "Centered alignment (2012)",
    "p2": "L2 regularization (2009)",
    "p3": "Many tasks",
    "p4": "Hyper-kernels (2020)",
    "p5": "Kernel methods (slides)",
}
_SIZES = (4, 10_000_000)


def place(claim):
    """Section or number within the paper."""
    return claim.source.removeprefix(PAPERS[claim.name[:2]]).strip(", ")


def _math(latex):
    return f"```{{math}}\n{latex}\n```"


def _anchor(paper, section):
    return f"{paper}-proof-{section}"


def _proof_lines(claim):
    """Where the proof is, as Markdown."""
    paper = claim.name[:2]
    lines = []
    if claim.proof:
        anchor = _anchor(paper, claim.proof)
        lines.append(f"Proof: [section {claim.proof}]({paper}-proofs.md#{anchor}).")
    elif claim.status is Status.TRUE:
        lines.append("Proof: see the paper.")
    return lines


def _counterexample(claim):
    if claim.counterexample is None:
        return []
    verdict = check(claim, claim.counterexample())
    said = table.compared(claim.kind, verdict)
    text = f"Counterexample, measured and printed value: {said}."
    if claim.corrected is not None:
        again = check(claim.corrected, claim.counterexample())
        known = {
            "inconclusive": "excludes the case",
            "holds": "holds on it",
            "vacuous": "holds on it",
        }
        text += f" The corrected form {known.get(again.outcome, again.outcome)}."
    return [f"{text} `alignlearn.theory.CLAIMS[{claim.name!r}].counterexample()` returns it."]


def _figure(claim, folder):
    """The bound against the sample size, as two lines of Markdown; drawn if it does not exist."""
    if claim.name not in curves.CURVES:
        return []
    path = folder / f"{claim.name}.svg"
    if not path.exists():
        curve = curves.find_curve(claim.name)
        draw = draw_curve(curve, style.log_grid(max(curve.least, _SIZES[0]), _SIZES[1]))
        style.save(draw, path)
    forms = ", ".join(curves.CURVES[claim.name].forms)
    alt = f"Bound of {claim.name} against the sample size on logarithmic axes: {forms}"
    image = f"```{{image}} figures/{path.name}\n:alt: {alt}\n:class: claim-figure\n```"
    return [f":::{{div}} claim-box\n{image}\n:::"]


def _forms(claim):
    lines, better = [], claim.corrected
    while better is not None:
        lines += [f"Corrected or sharper form, `{better.name}`:", _math(better.statement)]
        if better.hypotheses and better.hypotheses != claim.hypotheses:
            lines.append(f"Hypotheses: {better.hypotheses}")
        lines += _proof_lines(better)
        better = better.corrected
    return lines


def section(claim, folder):
    """The Markdown of one claim."""
    lines = [f"({claim.name})=", f"## {place(claim)} (`{claim.name}`)"]
    lines.append(f"**{claim.status.value.capitalize()}.** {table.remark(claim)}")
    lines += [_math(claim.statement), f"Hypotheses: {claim.hypotheses}"]
    lines += [*_proof_lines(claim), *_counterexample(claim), *_forms(claim)]
    coq = proof_file(claim.name)
    if coq:
        lines.append(f"Machine-checked by Coq: `theory/{coq.parent.name}/{coq.name}`.")
    return "\n\n".join([*lines, *_figure(claim, folder)])


def proofs(paper):
    """The proofs of a paper with an anchor at each numbered section."""
    first = next(name for name in CLAIMS if name.startswith(paper))
    text = Path(CLAIMS.module(first).__file__).with_name("proofs.md").read_text(encoding="utf-8")
    return re.sub(r"(?m)^(?=## (\d+)\.)", lambda match: f"({_anchor(paper, match[1])})=\n\n", text)


def _row(claim):
    paper = claim.name[:2]
    link = f"{paper}.html#{claim.name}"
    status = claim.status.value
    formula = f"\\({escape(claim.statement)}\\)"
    return (
        f'<tr data-paper="{paper}" data-status="{status}">'
        f'<td><a href="{link}"><code>{claim.name}</code></a></td>'
        f"<td>{escape(_SHORT[paper])}, {escape(place(claim))}</td><td>{status}</td>"
        f'<td><span class="math notranslate nohighlight">{formula}</span></td>'
        f"<td>{_marked(table.remark(claim))}</td></tr>"
    )


def _marked(text):
    """Inline code of Markdown as HTML."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text.replace(r"\|", "|"), quote=False))


def _options(values):
    return "".join(f'<option value="{value}">{escape(words)}</option>' for value, words in values)


def index():
    """The page with the table of all claims."""
    statuses = _options((status.value, status.value) for status in Status)
    papers = _options((key, _SHORT[key]) for key in PAPERS)
    rows = "\n".join(_row(claim) for claim in CLAIMS.values())
    pages = "\n".join(f"{paper}\n{paper}-proofs" for paper in PAPERS)
    return f"""# The claims of five papers

Published statements about kernel learning: whether they hold as printed, and their correct form.

{table.counts()}

{table.counts_table()}
The column "as printed" has the verdict on the statement in the paper:
{table.statuses()}.

`alignlearn verify` checks every claim and form on random cases. The
[ledger](../development/ledger.md) summarizes the findings.

```{{raw}} html
<form class="claims-filter" role="search">
<label>Words <input type="search" id="claims-words"></label>
<label>Paper <select id="claims-paper"><option value="">all</option>{papers}</select></label>
<label>Verdict <select id="claims-status"><option value="">all</option>{statuses}</select></label>
<output id="claims-count"></output>
</form>
<div class="pst-scrollable-table-container claims-table">
<table class="table" id="claims-table">
<thead><tr><th>claim</th><th>source</th><th>as printed</th><th>statement</th>
<th>what is wrong, and what it means</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</div>
<script src="../_static/claims.js"></script>
```

```{{toctree}}
:hidden:
:titlesonly:

{pages}
```
"""


def paper_page(paper, folder):
    """The page of the claims of one paper."""
    found = [claim for name, claim in CLAIMS.items() if name.startswith(paper)]
    head = f"# {_SHORT[paper]}: claims\n\nThe claims of {PAPERS[paper]}."
    return "\n\n".join([head, *(section(claim, folder) for claim in found)]) + "\n"


def _write_if_changed(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write(folder):
    """Write all pages and figures into a folder; unchanged files are not written."""
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    _write_if_changed(folder / "index.md", index())
    for paper in PAPERS:
        _write_if_changed(folder / f"{paper}.md", paper_page(paper, figures))
        _write_if_changed(folder / f"{paper}-proofs.md", proofs(paper))


def _needs_mathjax(app, pagename, templatename, context, doctree):
    # Sphinx does not see the formulas of the HTML table, and would leave MathJax out of the page.
    if pagename == "claims/index":
        context["has_maths_elements"] = True


def setup(app):
    """Called by Sphinx."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir) / "claims"))
    app.connect("html-page-context", _needs_mathjax, priority=100)  # before that of MathJax
    return {"parallel_read_safe": True, "parallel_write_safe": True}
