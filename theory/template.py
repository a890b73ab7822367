"""One sentence: the content of the statement, in words a reader of the paper recognizes.

Statement (number, paper): the formula. Checked: the computed values of both sides, and their scale.
Verdict: "holds" or the value of its `Status`; if not "holds", where it fails and the section of
``proofs.md`` of the correct form. The ``remark`` states what a user needs to know.

Copy this file into the folder of its paper (the import then begins with one more dot), and add its
name to the folder's ``FILES`` at its place in the paper. The order is that of this file: `cases`,
`bound`, `measure`; the counterexample, only if the statement is false as printed, and the
correction; the negative control; the claim. `Claim` describes each; they need no docstring of their
own. The cases closest to a violation go into ``extremes``, necessary terms of the bound into
``mutants``; ``alignlearn verify --mutations`` reports how much the bound could still be wrong.

A variant of the statement is in the same file, below a line with its name, its functions and its
claim with one more word in their names, in the same order, and a paragraph of its own here;
`p1_alignment/prop_7.py` has one.
"""

import numpy as np

from .prelude import P1, Claim, NegativeControl, center


def cases(draw):
    return {"K": draw.kernel(draw.integer(1, 6))}


def bound(case):
    return np.trace(case["K"])


def measure(case):
    return np.trace(center(case["K"]))


def _control_case():
    return {"K": np.array([[1.0, -1.0], [-1.0, 1.0]])}


CLAIM = Claim(
    name="template",
    source=f"{P1}, an example that is not in it",
    statement=r"\mathrm{Tr} K_c \le \mathrm{Tr} K",
    hypotheses="K positive semi-definite.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.5 * bound(case), note="half the bound"
    ),
)
