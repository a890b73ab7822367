"""The condition under which the largest second moment of a kernel row is the mean one.

Statement (footnote 4 of the 2012 paper): max_x E_x'[K^2(x, x')] / E[K^2] = 1 only if K^2 is
constant. Checked: the two conditions, each 0 or 1, on finite supports. Verdict: false; K = I on
two equally likely points. Correct: if and only if E_x'[K^2(x, x')] is almost surely constant in
x; proofs.md, section 9.
"""

import numpy as np

from ..prelude import P1, Claim, FiniteDistribution, NegativeControl, Status, replace


def cases(draw):
    n = draw.integer(1, 5)
    if draw.choice((False, True)):
        # A circulant kernel: all rows alike up to order.
        row = np.fft.ifft(np.abs(draw.array(n)) + 0.1).real
        index = (np.arange(n)[:, None] - np.arange(n)[None, :]) % n
        return {"law": FiniteDistribution(np.full(n, 1 / n)), "K": row[index]}
    return {"law": FiniteDistribution(draw.weights(n)), "K": draw.kernel(n, "generic")}


def _rows(case):
    K = case["K"] / max(np.abs(case["K"]).max(), 1e-300)
    return (K * K) @ case["law"].weights, K * K


def _constant(values):
    return float(np.ptp(values) <= 1e-9 * np.abs(values).max())


def bound(case):
    return _constant(_rows(case)[1])


def measure(case):
    rows, _ = _rows(case)
    mean = case["law"].mean(rows)
    return float(rows.max() <= mean * (1 + 1e-9))


def counterexample():
    return {"law": FiniteDistribution(np.array([0.5, 0.5])), "K": np.eye(2)}


def corrected_bound(case):
    return _constant(_rows(case)[0])


def _diagonal(case):
    return _constant(np.diagonal(case["K"]))


def _control_case():
    K = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    return {"law": FiniteDistribution(np.full(3, 1 / 3)), "K": K}


CORRECTED = Claim(
    name="p1-footnote-4-corrected",
    source=f"{P1}, section 4.2, footnote 4, corrected",
    statement=(
        r"\max_x \mathrm{E}_{x'}K^2(x,x') = \mathrm{E}K^2 \iff"
        r" \mathrm{E}_{x'}K^2(x,x') \text{ is a.s. constant in } x"
    ),
    hypotheses="0 < E[K^2] finite.",
    kind="equivalence",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(
        _control_case, bound=_diagonal, note="constant diagonal instead"
    ),
    proof="9",
)

CLAIM = replace(
    CORRECTED,
    name="p1-footnote-4",
    source=f"{P1}, section 4.2, footnote 4",
    statement=r"\max_x \mathrm{E}_{x'}K^2(x,x')/\mathrm{E}K^2 = 1 \iff K^2 \text{ is constant}",
    bound=bound,
    status=Status.FALSE,
    remark=(
        "Equality holds whenever the mean of K^2(x, x') over x' does not depend on x, as for any "
        "rotation-invariant kernel with uniform points on a circle; the earlier proofs are "
        "correct there."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
