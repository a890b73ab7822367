"""One sentence: what the statement says, in words a reader of the paper recognises.

Statement (number, paper): the formula. Checked: what is computed on both sides, and how it is
scaled. Verdict: holds, holds after fix, gap or false; if not "holds", where it fails and the
section of ``proofs.md`` of the correct form.

Copy this file into the folder of its paper (imports then begin with one more dot), keep the order
of the sections, and add its name to the folder's ``FILES`` at its place in the paper. `Claim` says
what `cases`, `bound`, `measure` and their corrected forms are; they need no docstring of their own.
The cases that come closest go into ``extremes``, what must not be left out of the bound into
``mutants``; ``alignlearn verify --mutations`` says by how much the bound could still be wrong.
"""

from __future__ import annotations

import numpy as np

from .claim import Claim, NegativeControl
from .papers import P1
from .reference.matrices import center

# -- cases: an input that meets the hypotheses -----------------------------------------


def cases(draw):
    return {"K": draw.kernel(draw.integer(1, 6))}


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return np.trace(case["K"])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return np.trace(center(case["K"]))


# -- counterexample (only if the statement is false as printed), then the correction ---

# -- negative control: a wrong variant that must be rejected ---------------------------


def _control_case():
    return {"K": np.array([[1.0, -1.0], [-1.0, 1.0]])}


# -- claim -----------------------------------------------------------------------------

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
