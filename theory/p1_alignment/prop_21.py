"""The change of alignf's solution with its data.

Statement (proposition 21 of the 2012 paper): ||Delta v||_M^2 <= [Delta a - (Delta M) v']'Delta v,
where v, v' minimize v'Mv - 2 v'a over v >= 0 for (a, M) and (a', M'). Checked: both sides at
solutions found by trying every support; nothing requires that the samples differ in one point only.
Verdict: holds (one display of the proof has a wrong sign). Sharpened to what is used: ||Delta v||
<= ||Delta a - Delta M v'||/lambda_min(M) (`p1-alignf-stability`).

`p1-prop-21-exchanged`. The change of alignf's solution with its data, in the norm of the new
sample. Not printed: proposition 21 of the 2012 paper with the samples exchanged, ||Delta v||_M'^2
<= [Delta a - (Delta M) v]'Delta v; proofs.md, section 15. It is of use where M is singular and M'
is not. Checked: both sides at solutions found by trying every support. Verdict: holds.
"""

import numpy as np

from ..prelude import P1, Claim, Mutant, NegativeControl, Status
from ..reference.matrices import alignf_minimizer


def cases(draw):
    """Draw a positive semi-definite M with a in its range."""
    p = draw.integer(1, 4)
    case = {}
    for end in ("", "_new"):
        f = draw.array((p, p + draw.integer(0, 2)))
        case["M" + end], case["a" + end] = f @ f.T, f @ draw.array(f.shape[1])
    return case


def _solutions(case):
    return [alignf_minimizer(case["a" + end], case["M" + end]) for end in ("", "_new")]


def _scale(case):
    v, w = _solutions(case)
    size = (np.linalg.norm(v) + np.linalg.norm(w)) ** 2
    return 1e-9 + (np.linalg.norm(case["M"]) + np.linalg.norm(case["M_new"])) * size


def bound(case):
    v, w = _solutions(case)
    return (case["a_new"] - case["a"] - (case["M_new"] - case["M"]) @ w) @ (w - v)


def measure(case):
    v, w = _solutions(case)
    return (w - v) @ case["M"] @ (w - v)


def scalars(first, second):
    """One kernel: (M, a) of the two samples."""
    values = {"M": first[0] * np.eye(1), "a": np.array([first[1]])}
    return values | {"M_new": second[0] * np.eye(1), "a_new": np.array([second[1]])}


def _control_case():
    return scalars((1.0, 1.0), (2.0, 4.0))


def _larger_term(case):
    v, w = _solutions(case)
    return (case["a_new"] - case["a"] - 1.2 * (case["M_new"] - case["M"]) @ w) @ (w - v)


def _other_sign(case):
    v, w = _solutions(case)
    return (case["a_new"] - case["a"] + (case["M_new"] - case["M"]) @ w) @ (w - v)


CLAIM = Claim(
    name="p1-prop-21",
    source=f"{P1}, Proposition 21",
    statement=r"\|\Delta v\|_M^2 \le [\Delta a - (\Delta M)v']^\top \Delta v",
    hypotheses="v, v' minimize v'Mv - 2 v'a over v >= 0 for the two samples.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    rtol=1e-6,
    sharp=True,
    mutants=(Mutant("the term of Delta M with the other sign", _other_sign),),
    extremes=lambda: [scalars((1.0, 4.0), (2.0, 4.0))],
    negative_control=NegativeControl(
        _control_case, bound=_larger_term, note="1.2 times the term of Delta M"
    ),
)


# -- p1-prop-21-exchanged --------------------------------------------------------------


def exchanged_bound(case):
    v, w = _solutions(case)
    return (case["a_new"] - case["a"] - (case["M_new"] - case["M"]) @ v) @ (w - v)


def exchanged_measure(case):
    v, w = _solutions(case)
    return (w - v) @ case["M_new"] @ (w - v)


EXCHANGED = Claim(
    name="p1-prop-21-exchanged",
    source=f"{P1}, Proposition 21, samples exchanged, new",
    status=Status.NEW,
    statement=r"\|\Delta v\|_{M'}^2 \le [\Delta a - (\Delta M)v]^\top \Delta v",
    hypotheses="v, v' minimize v'Mv - 2 v'a over v >= 0 for the two samples.",
    kind="upper",
    bound=exchanged_bound,
    measure=exchanged_measure,
    cases=cases,
    scale=_scale,
    rtol=1e-6,
    sharp=True,
    negative_control=NegativeControl(
        _control_case,
        bound=lambda case: 0.95 * exchanged_bound(case),
        note="0.95 of an attained bound",
    ),
    proof="15",
)
