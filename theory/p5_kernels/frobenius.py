"""The inner product of matrices as a sum over their entries.

Statement (product rule of the slides): <A, B>_F = tr(A'B) = (sum_ij A_ij B_ij)^(1/2). Checked: the
trace against the root, exactly. Verdict: misprint; there is no root (for A = B it would be the
norm); proofs.md, section 2.
"""

import numpy as np

from ..prelude import P5, Claim, NegativeControl, Status, replace


def cases(draw):
    shape = draw.integer(1, 4), draw.integer(1, 4)
    return {"A": draw.array(shape), "B": draw.array(shape)}


def bound(case):
    total = (case["A"] * case["B"]).sum()
    return np.sqrt(total) if total >= 0 else np.nan


def measure(case):
    return np.trace(case["A"].T @ case["B"])


def counterexample():
    return {"A": np.array([[1.0, 2.0], [3.0, 4.0]]), "B": np.array([[5.0, 6.0], [7.0, 8.0]])}


def corrected_bound(case):
    return (case["A"] * case["B"]).sum()


def _scale(case):
    return np.abs(case["A"]).sum() * np.abs(case["B"]).max() + 1e-300


def _transposed(case):
    return (case["A"].T * case["B"]).sum()


CORRECTED = Claim(
    name="p5-frobenius-corrected",
    source=f"{P5}, kernel factory, product, corrected",
    statement=r"\langle A, B\rangle_F = \mathrm{tr}(A^\top B) = \sum_{ij} A_{ij}B_{ij}",
    hypotheses="Matrices of one shape.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    negative_control=NegativeControl(
        counterexample, bound=_transposed, note="tr(AB), 69 in place of 70"
    ),
    proof="2",
)

CLAIM = replace(
    CORRECTED,
    name="p5-frobenius",
    source=f"{P5}, kernel factory, product",
    statement=r"\mathrm{tr}(A^\top B) = \sqrt{\textstyle\sum_{ij} A_{ij}B_{ij}}",
    bound=bound,
    status=Status.MISPRINT,
    remark="The square root is superfluous; tr A'B is the sum of the products itself.",
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
