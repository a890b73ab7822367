"""A constraint on each norm in place of one on their sum.

Statement ((22) to (25) of the paper): the complexity is at most (1/n)(R/T)^(1/2) E sup
(theta'u)^(1/2). Checked: at given theta, per vector of signs: the supremum of sum_t sigma_t'f_t
over sum_t ||w_t||^2 <= R, found on the sphere of the norms, against the two steps. Verdict: holds,
and loose by T^(1/2): with the constraint on the sum the supremum is (R theta'u)^(1/2), so the
factor is R^(1/2)/(n T); proofs.md, section 6.

`p3-lp-conversion`. From an l_p to an l_q norm. Statement (before (24) of the paper): ||a||_q <=
T^(1/q - 1/p) ||a||_p for a >= 0 and 0 <= q <= p. Checked: both sides, with q = 1/2, p = 1 as used.
Verdict: holds for 0 < q <= p; "0 <=" is an error, because 1/q is undefined at 0.
"""

import numpy as np

from ..prelude import P3, Claim, NegativeControl, replace
from ..reference.multitask import forms
from .tasks import random_tasks, random_weights


def cases(draw):
    case = random_tasks(draw)
    n = sum(len(K[0]) for K in case["kernels"])
    weights = random_weights(draw, case)
    return case | weights | {"radius": draw.log_real(0.1, 10), "signs": draw.signs(n)}


def _lengths(case):
    """(theta_t'u_t)^(1/2) of each task: sup of sigma_t'f_t over ||w_t|| <= 1."""
    u = forms(case["kernels"], case["signs"])
    values = ((case["mu"][:, None] + case["lam"]) * u).sum(0)
    return np.sqrt(np.maximum(values, 0.0))


def bound(case):
    """The bound of the relaxed supremum by Hoelder's inequality."""
    lengths = _lengths(case)
    return np.sqrt(case["radius"] * len(lengths) * (lengths**2).sum())


def measure(case):
    """sup over sum_t r_t^2 <= R of sum_t r_t (theta_t'u_t)^(1/2), with numbers for the best r."""
    lengths = _lengths(case)
    size = np.linalg.norm(lengths)
    r = np.sqrt(case["radius"]) * lengths / size if size > 0 else lengths
    return float(r @ lengths)


def sharp_bound(case):
    return float(np.sqrt(case["radius"] * (_lengths(case) ** 2).sum()))


def _control_case():
    kernels = [np.eye(2)[None]] * 2
    weights = {"mu": np.ones(1), "lam": np.zeros((1, 2)), "radius": 1.0}
    return {"kernels": kernels, "targets": [np.zeros((2, 2))] * 2, "signs": np.ones(4)} | weights


def _half(case):
    return 0.6 * bound(case)


def _other_power(case):
    return float(np.sqrt(case["radius"] / len(case["kernels"])) * _lengths(case).max() * 1.5)


SHARP = Claim(
    name="p3-eq-22-sharpened",
    source=f"{P3}, (22) to (25), sharpened",
    statement=r"\sup_{\sum_t\|w_t\|^2\le R}\sum_t\sigma_t^\top f_t = \sqrt{R\,\theta^\top u}",
    hypotheses="theta >= 0.",
    kind="identity",
    bound=sharp_bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(_control_case, bound=_other_power, note="one task's share"),
    proof="6",
)

CLAIM = replace(
    SHARP,
    name="p3-eq-22",
    source=f"{P3}, (22) to (25)",
    statement=(r"\sup_{\sum_t\|w_t\|^2\le R}\sum_t\sigma_t^\top f_t \le \sqrt{RT\,\theta^\top u}"),
    kind="upper",
    bound=bound,
    corrected=SHARP,
    negative_control=NegativeControl(_control_case, bound=_half, note="0.6 of it (T = 2)"),
    proof="",
)


# -- p3-lp-conversion ------------------------------------------------------------------


def norms_cases(draw):
    q = draw.choice((0.5, 0.5, 1.0, 2.0))
    p = q * draw.choice((1.0, 2.0, 2.0, 4.0))
    return {"a": np.abs(draw.array(draw.integer(1, 6))) + 1e-3, "q": q, "p": p}


def _norm(a, q):
    top = a.max()
    return top * ((a / top) ** q).sum() ** (1 / q)


def norms_bound(case):
    T = len(case["a"])
    return T ** (1 / case["q"] - 1 / case["p"]) * _norm(case["a"], case["p"])


def norms_measure(case):
    return _norm(case["a"], case["q"])


def _norms_control_case():
    return {"a": np.ones(3), "q": 0.5, "p": 1.0}


NORMS = Claim(
    name="p3-lp-conversion",
    source=f"{P3}, before (24)",
    statement=r"\|a\|_q \le T^{1/q-1/p}\|a\|_p",
    hypotheses="a >= 0, 0 < q <= p.",
    kind="upper",
    bound=norms_bound,
    measure=norms_measure,
    cases=norms_cases,
    negative_control=NegativeControl(
        _norms_control_case, bound=lambda case: 0.5 * norms_bound(case), note="half the bound"
    ),
)
