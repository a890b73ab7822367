"""Centering is a projection on both sides, and one centered factor is enough in a product.

Statement (lemma 1 of the 2012 paper): with U = I - 11'/m, K_c = U K U, and <K_c, L_c> = <K, L_c>
= <K_c, L>. Checked: the definition by row, column and grand means against U K U, and the three
inner products, each divided by its natural size. True for any square matrices, kernel or not, so
the cases are not symmetric. Verdict: holds.
"""

import numpy as np

from ..prelude import P1, Claim, NegativeControl, center
from ..reference.matrices import frobenius


def cases(draw):
    m = draw.integer(1, 7)
    matrices = [draw.log_real(1e-8, 1e8) * draw.array((m, m)) for _ in range(2)]
    if draw.choice((False, True)):
        matrices[0] = draw.kernel(m)
    return {"K": matrices[0], "L": matrices[1]}


def _relative(case, centered, products):
    K, L = case["K"], case["L"]
    size = np.abs(K).max() or 1.0
    both = np.linalg.norm(K) * np.linalg.norm(L) or 1.0
    return np.append((centered / size).ravel(), np.array(products) / both)


def bound(case):
    K, L = case["K"], case["L"]
    U = np.eye(len(K)) - 1 / len(K)
    return _relative(case, U @ K @ U, [frobenius(K, center(L)), frobenius(center(K), L)])


def measure(case):
    Kc, Lc = center(case["K"]), center(case["L"])
    return _relative(case, Kc, [frobenius(Kc, Lc)] * 2)


def _one_sided(case):
    K = case["K"]
    U = np.eye(len(K)) - 1 / len(K)
    return _relative(case, U @ K, [frobenius(K, case["L"])] * 2)


def _control_case():
    return {"K": np.array([[2.0, 1.0], [1.0, 3.0]]), "L": np.eye(2)}


CLAIM = Claim(
    name="p1-lemma-1",
    source=f"{P1}, Lemma 1",
    statement=(
        r"K_c = U K U,\quad \langle K_c, K'_c\rangle_F = \langle K, K'_c\rangle_F"
        r" = \langle K_c, K'\rangle_F"
    ),
    hypotheses="Any two square matrices of the same size.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-12,
    negative_control=NegativeControl(_control_case, bound=_one_sided, note="centered on one side"),
)
