"""The maximizer of the unnormalized alignment under an L_q constraint.

Statement (proposition 7 of the 2012 paper): the maximum of mu'a subject to sum mu_k^q <= Lambda is
at mu_k ~ a_k^(1/(q-1)), and mu >= 0 need not be required. Checked: no feasible mu does better.
Verdict: misprint. For odd q the constraint does not bound negative entries (mu = (t, -t) is
feasible for all t), for q that is not an integer it is undefined there; for even q it is right.
Correct: sum |mu_k|^q <= Lambda, or mu >= 0; proofs.md, section 2. The maximizer is that of
`AlignLq`; it is also checked against the closed form and the constraint.

`p1-prop-7-linear`. Proposition 7 at q = 1: all the weight on one kernel. Statement (after
proposition 7 of the 2012 paper): for q = 1, that is under sum mu_k <= Lambda, mu'a is largest with
all the weight on the largest a_k; mu >= 0 need not be required. Checked: no feasible mu does better
than Lambda max a_k. Verdict: misprint; (1 + t, -t) is feasible for Lambda = 1 and a = (2, 1), and
its value 2 + t has no bound. Correct: sum |mu_k| <= Lambda, or mu >= 0; proofs.md, section 2.
"""

import numpy as np

from alignlearn.weights import AlignLq

from ..prelude import P1, Claim, NegativeControl, Status, replace
from ..reference.library import two_stage_weights


def cases(draw):
    p = draw.integer(1, 5)
    return {
        "a": np.abs(draw.array(p)) + 0.01,
        "q": draw.choice((1.5, 2.0, 3.0, 4.0)),
        "budget": draw.log_real(1e-2, 1e2),
        "mu": draw.array(p),
    }


def _feasible(case):
    """The competitor, shrunk into the printed constraint where necessary."""
    mu, q, budget = case["mu"], case["q"], case["budget"]
    if q != int(q):
        mu = np.abs(mu)
    used = (mu**q).sum()
    return mu if used <= budget else mu * (budget / used) ** (1 / q)


def bound(case):
    return float(_weights(case) @ case["a"])


def _weights(case):
    rule = AlignLq(case["q"], case["budget"], normalize=None)
    return two_stage_weights(rule, case["a"], np.eye(len(case["a"])))


def corrected_bound(case):
    return np.array([bound(case), bound(case), case["budget"]])


def measure(case):
    return float(_feasible(case) @ case["a"])


def counterexample():
    """q = 3, a = (2, 1), mu = (t, -t): the constraint reads 0 <= 1 and the objective is t."""
    return {"a": np.array([2.0, 1.0]), "q": 3.0, "budget": 1.0, "mu": np.array([10.0, -10.0])}


def corrected_measure(case):
    mu, q = case["mu"], case["q"]
    used = (np.abs(mu) ** q).sum()
    competitor = mu @ case["a"] * min(1.0, (case["budget"] / max(used, 1e-300)) ** (1 / q))
    return np.array([competitor, _closed_form(case), (_weights(case) ** q).sum()])


def _closed_form(case):
    a, q = case["a"], case["q"]
    total = (a ** (q / (q - 1))).sum()
    return (case["budget"] / total) ** (1 / q) * a ** (1 / (q - 1)) @ a


def _control_case():
    return {"a": np.array([2.0, 1.0]), "q": 3.0, "budget": 1.0, "mu": np.array([2**0.5, 1.0])}


def _wrong_exponent(case):
    a, q = case["a"], case["q"]
    mu = a ** (q - 1)
    value = (case["budget"] / (mu**q).sum()) ** (1 / q) * mu @ a
    return np.array([value, value, case["budget"]])


CORRECTED = Claim(
    name="p1-prop-7-corrected",
    source=f"{P1}, Proposition 7, corrected",
    statement=(
        r"\arg\max_{\sum|\mu_k|^q\le\Lambda} \mu^\top a = \Big(\frac{\Lambda}{\sum a_k^{q/(q-1)}}"
        r"\Big)^{1/q} a_k^{1/(q-1)}"
    ),
    hypotheses="a >= 0, not zero, of centered products; q > 1.",
    kind="upper",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    negative_control=NegativeControl(
        _control_case, bound=_wrong_exponent, note="exponent q - 1 instead of 1/(q - 1)"
    ),
    proof="2",
)

CLAIM = replace(
    CORRECTED,
    name="p1-prop-7",
    source=f"{P1}, Proposition 7",
    statement=r"\arg\max_{\sum\mu_k^q\le\Lambda} \mu^\top a \propto a_k^{1/(q-1)}",
    hypotheses="q > 1; the sign of mu is not constrained.",
    bound=bound,
    measure=measure,
    status=Status.MISPRINT,
    remark=(
        "The text has the L_q norm, but the constraint omits the absolute values; with odd q the "
        "printed problem is unbounded, with |mu_k| or mu >= 0 the formula is right."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)


# -- p1-prop-7-linear ------------------------------------------------------------------


def linear_cases(draw):
    p = draw.integer(1, 5)
    return {
        "a": np.abs(draw.array(p)) + 0.01,
        "budget": draw.log_real(1e-2, 1e2),
        "mu": draw.array(p),
    }


def linear_bound(case):
    return case["budget"] * case["a"].max()


def linear_measure(case):
    """The competitor's value, shrunk into the printed constraint where necessary."""
    return _value(case, case["mu"].sum())


def _value(case, used):
    return float(case["mu"] @ case["a"] * min(1.0, case["budget"] / max(used, 1e-300)))


def linear_counterexample(t=10.0):
    """(1 + t, -t): the constraint reads 1 <= 1 and the objective is 2 + t."""
    return {"a": np.array([2.0, 1.0]), "budget": 1.0, "mu": np.array([1 + t, -t])}


def linear_corrected_measure(case):
    return _value(case, np.abs(case["mu"]).sum())


def _one_kernel():
    return {"a": np.array([2.0, 1.0]), "budget": 1.0, "mu": np.array([1.0, 0.0])}


LINEAR_CORRECTED = Claim(
    name="p1-prop-7-linear-corrected",
    source=f"{P1}, after Proposition 7, corrected",
    statement=r"\max_{\sum|\mu_k|\le\Lambda} \mu^\top a = \Lambda \max_k a_k",
    hypotheses="a >= 0, of centered products.",
    kind="upper",
    bound=linear_bound,
    measure=linear_corrected_measure,
    cases=linear_cases,
    sharp=True,
    negative_control=NegativeControl(
        _one_kernel, bound=lambda case: 0.99 * linear_bound(case), note="0.99 of an attained bound"
    ),
    proof="2",
)

LINEAR = replace(
    LINEAR_CORRECTED,
    name="p1-prop-7-linear",
    source=f"{P1}, after Proposition 7, q = 1",
    statement=r"\max_{\sum\mu_k\le\Lambda} \mu^\top a = \Lambda \max_k a_k",
    hypotheses="The sign of mu is not constrained.",
    measure=linear_measure,
    sharp=False,
    status=Status.MISPRINT,
    remark=(
        "The same absolute values are missing at q = 1; putting all weight on the best kernel is "
        "right if mu >= 0 is required."
    ),
    follows="p1-prop-7",
    counterexample=linear_counterexample,
    corrected=LINEAR_CORRECTED,
    proof="",
)
