"""The entries of the centered Gram matrix.

Statement (slides, Q4): the centered Gram matrix is G_ij - (1/N) sum_m G_im - (1/N) sum_n G_nj -
(1/N^2) sum_nm G_nm = (HGH)_ij. Checked: the printed sum against HGH. Verdict: misprint; the last
term has a plus (in both lines), HGH is right; proofs.md, section 14.
"""

import numpy as np

from ..prelude import P5, Claim, NegativeControl, Status, replace


def cases(draw):
    return {"G": draw.kernel(draw.integer(1, 6))}


def by_entries(G, sign):
    """The sum over entries, with the given sign of its last term."""
    N = len(G)
    E = np.ones((N, N)) / N
    return G - G @ E - E @ G + sign * E @ G @ E


def bound(case):
    return by_entries(case["G"], -1.0)


def measure(case):
    N = len(case["G"])
    H = np.eye(N) - np.ones((N, N)) / N
    return H @ case["G"] @ H


def counterexample():
    return {"G": np.array([[2.0, 1.0], [1.0, 3.0]])}


def corrected_bound(case):
    return by_entries(case["G"], 1.0)


def _slightly_more(case):
    return by_entries(case["G"], 1.05)


CORRECTED = Claim(
    name="p5-centered-gram-corrected",
    source=f"{P5}, KCCA, Q4, corrected",
    statement=(
        r"\tilde G = G - G\tfrac EN - \tfrac ENG + \tfrac ENG\tfrac EN = HGH,\ H = I - \tfrac EN"
    ),
    hypotheses="Any square G.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=lambda case: np.abs(case["G"]).max() + 1e-300,
    negative_control=NegativeControl(
        counterexample, bound=_slightly_more, note="1.05 times the last term"
    ),
    proof="14",
)

CLAIM = replace(
    CORRECTED,
    name="p5-centered-gram",
    source=f"{P5}, KCCA, Q4",
    statement=r"G - G\tfrac EN - \tfrac ENG - \tfrac ENG\tfrac EN = HGH",
    bound=bound,
    status=Status.MISPRINT,
    remark="The last sign of the expansion is wrong; HGH on the same slide is right.",
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
