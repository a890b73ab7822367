"""The mean of a product of two quadratic forms of signs.

Statement (lemma 2, (17) of the paper): E[(s'As)(s'Bs)] = tr A tr B + 2 (tr AB - tr(A o B)) for
square matrices A, B. Checked: by enumeration, exactly. Verdict: unstated hypothesis; false unless A
or B is symmetric, which they are where the lemma is used. Correct: tr A tr B + tr AB + tr AB' - 2
tr(A o B); proofs.md, section 9.
"""

from fractions import Fraction

import numpy as np

from ..prelude import P3, Claim, NegativeControl, Status, replace
from ..reference.multitask import all_signs


def cases(draw):
    n = draw.integer(1, 4)
    pair = [np.array([[draw.integer(-4, 4) for _ in range(n)] for _ in range(n)]) for _ in range(2)]
    return {"A": pair[0], "B": pair[1]}


def _traces(case):
    A, B = case["A"], case["B"]
    both = int(np.trace(A)) * int(np.trace(B))
    return both, int(np.trace(A @ B)), int(np.trace(A @ B.T)), int(np.trace(A * B))


def bound(case):
    both, product, _, entries = _traces(case)
    return Fraction(both + 2 * (product - entries))


def measure(case):
    signs = all_signs(len(case["A"])).astype(int)
    values = [int(s @ case["A"] @ s) * int(s @ case["B"] @ s) for s in signs]
    return Fraction(sum(values), len(values))


def counterexample():
    """A = B = [[0, 1], [0, 0]]: 1, printed 0. With B = A' it is 1, printed 2."""
    A = np.array([[0, 1], [0, 0]])
    return {"A": A, "B": A}


def transposed_counterexample():
    A = np.array([[0, 1], [0, 0]])
    return {"A": A, "B": A.T}


def corrected_bound(case):
    both, product, transposed, entries = _traces(case)
    return Fraction(both + product + transposed - 2 * entries)


def _once(case):
    both, product, transposed, entries = _traces(case)
    return Fraction(both + product + transposed - entries)


def _control_case():
    return {"A": np.eye(2, dtype=int), "B": np.eye(2, dtype=int)}


CORRECTED = Claim(
    name="p3-lemma-2-corrected",
    source=f"{P3}, Lemma 2, corrected",
    statement=(
        r"\mathrm{E}[(\sigma^\top A\sigma)(\sigma^\top B\sigma)] = \mathrm{tr}A\,\mathrm{tr}B +"
        r" \mathrm{tr}AB + \mathrm{tr}AB^\top - 2\,\mathrm{tr}(A\circ B)"
    ),
    hypotheses="None.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(_control_case, bound=_once, note="tr(A o B) once"),
    proof="9",
)

CLAIM = replace(
    CORRECTED,
    name="p3-lemma-2",
    source=f"{P3}, Lemma 2",
    statement=(
        r"\mathrm{E}[(\sigma^\top A\sigma)(\sigma^\top B\sigma)] = \mathrm{tr}A\,\mathrm{tr}B +"
        r" 2(\mathrm{tr}AB - \mathrm{tr}(A\circ B))"
    ),
    bound=bound,
    status=Status.HYPOTHESIS,
    remark=(
        "One of the two matrices has to be symmetric, as Gram matrices are; in general one of the "
        "two traces is tr AB'."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        transposed_counterexample, note="the second matrix transposed"
    ),
    proof="",
)
