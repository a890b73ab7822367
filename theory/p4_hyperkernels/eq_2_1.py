"""The largest value of an element of the hyper-RKHS.

Statement ((2.1) of the 2020 paper): ||k||_inf <= G <k, k> = G ||k||^2. Checked: at the pairs of a
few points. Verdict: misprint, an extra square; k = k(p, .)/100 has 0.01 against 0.0001. Correct: G
||k||, which (3.7) uses; sharp; proofs.md, section 3. (In the third condition of definition 2.1 the
underlined x, y, r, s stand for points of X.)
"""

from functools import partial

import numpy as np

from ..prelude import P4, Claim, NegativeControl, Status, replace
from ..reference import hyper
from .problems import random_case


def cases(draw):
    case = random_case(draw)
    return case | {"beta": draw.log_real(1e-3, 1e3) * draw.array(len(case["X"]) ** 2)}


def _parts(case):
    """Values of k at all pairs, ||k||^2 and G."""
    K = hyper.hyper_matrix(case["X"], case["kernel"])
    beta = case["beta"]
    # No diagonal entry of these hyper-kernels exceeds the one of four equal points.
    return K @ beta, max(beta @ K @ beta, 0.0), 1.0


def bound(case):
    _, square, G = _parts(case)
    return G * square


def measure(case):
    return float(np.abs(_parts(case)[0]).max())


def counterexample():
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.5)
    return {"X": np.zeros((1, 1)), "kernel": kernel, "beta": np.array([0.01])}


def corrected_bound(case):
    _, square, G = _parts(case)
    return G * np.sqrt(square)


def _smaller(case):
    return 0.99 * corrected_bound(case)


CORRECTED = Claim(
    name="p4-eq-2-1-corrected",
    source=f"{P4}, (2.1), corrected",
    statement=r"\|k\|_\infty \le \mathcal{G}\|k\|",
    hypotheses="G^2 >= k(p, p) for all pairs p.",
    kind="upper",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=lambda case: np.abs(case["beta"]).sum() + 1e-300,
    rtol=1e-7,
    sharp=True,
    negative_control=NegativeControl(counterexample, bound=_smaller, note=".99 G"),
    proof="3",
)

CLAIM = replace(
    CORRECTED,
    name="p4-eq-2-1",
    source=f"{P4}, (2.1)",
    statement=r"\|k\|_\infty \le \mathcal{G}\|k\|^2",
    bound=bound,
    status=Status.MISPRINT,
    remark="The norm is not squared; (3.7) uses the right form.",
    counterexample=counterexample,
    corrected=CORRECTED,
    sharp=False,
    negative_control=NegativeControl(
        counterexample, bound=lambda case: 2 * bound(case), note="twice the bound"
    ),
    proof="",
)
