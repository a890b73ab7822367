"""The remainder of truncating unbounded outputs.

Statement ((4.13) of the 2020 paper): (2c [(d+1)! + 2^(d+2) d^d] M^(d+1) B^-d)^(1/q) <= 2^((Theta +
2c)/(qc)) (20 c M) m^(-Theta/q). Checked with the choice d = ceil(Theta/eps), B = M d m^eps, which
makes the power of m right. Verdict: misprint; the exponent of 2 has eps for c, as the last constant
of the theorem has: 2^(Theta/(q eps)) (20 c M)^(1/q); proofs.md, section 18.
"""

import math

from ..prelude import P4, Claim, NegativeControl, Status, replace


def cases(draw):
    Theta = draw.real(0.05, 1.0)
    return {
        "Theta": Theta,
        "eps": draw.real(0.02, 1.0) * Theta,
        "q": draw.real(1.05, 5.0),
        "c": draw.log_real(0.1, 10.0),
        "M": draw.log_real(1.0, 100.0),
        "m": draw.choice((2, 10, 1000, 10**6)),
    }


def bound(case):
    c, q = case["c"], case["q"]
    constant = 2 ** ((case["Theta"] + 2 * c) / (q * c)) * 20 * c * case["M"]
    return constant * case["m"] ** (-case["Theta"] / q)


def degree(case):
    """ceil(Theta/eps), at least 1; quotients within rounding of an integer are that integer."""
    return max(1, math.ceil(case["Theta"] / case["eps"] - 1e-9))


def measure(case):
    d, M = degree(case), case["M"]
    B = M * d * case["m"] ** case["eps"]
    log = math.log(math.factorial(d + 1) + 2 ** (d + 2) * d**d) - d * math.log(B)
    log += math.log(2 * case["c"]) + (d + 1) * math.log(M)
    return math.exp(log / case["q"])


def counterexample():
    """c = 4 as for normal noise, eps = Theta/25."""
    return {"Theta": 0.5, "eps": 0.02, "q": 2.0, "c": 4.0, "M": 1.0, "m": 1000}


def corrected_bound(case, share=1.0):
    """The bound with 2^(Theta/eps) for 2^d, d < Theta/eps + 1, and the factor 2 in 20."""
    power = 2 ** (case["Theta"] / case["eps"] + 1e-9)
    size = share * power * 20 * case["c"] * case["M"]
    return (size * case["m"] ** -case["Theta"]) ** (1 / case["q"])


def _control_case():
    """d = 1 just above Theta/eps = 1, where the bound is twice the term."""
    return {"Theta": 0.5, "eps": 0.5, "q": 1.05, "c": 1.0, "M": 1.0, "m": 2}


def _half(case):
    return corrected_bound(case, share=0.49)


CORRECTED = Claim(
    name="p4-eq-4-13-corrected",
    source=f"{P4}, (4.13), corrected",
    statement=(
        r"(2c[(d+1)!+2^{d+2}d^d]M^{d+1}B^{-d})^{1/q} \le"
        r" 2^{\Theta/(q\epsilon)}(20cM)^{1/q}m^{-\Theta/q}"
    ),
    hypotheses="d = ceil(Theta/eps), B = M d m^eps.",
    kind="upper",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(_control_case, bound=_half, note=".49 of 20 c M"),
    proof="18",
)

CLAIM = replace(
    CORRECTED,
    name="p4-eq-4-13",
    source=f"{P4}, (4.13)",
    statement=(
        r"(2c[(d+1)!+2^{d+2}d^d]M^{d+1}B^{-d})^{1/q} \le"
        r" 2^{(\Theta+2c)/(qc)}(20cM)m^{-\Theta/q}"
    ),
    bound=bound,
    status=Status.MISPRINT,
    remark=(
        "The letter c is printed for epsilon in the exponent, and a power 1/q is missing; the "
        "final constant has both right."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample, bound=lambda case: 2 * bound(case), note="twice"
    ),
    proof="",
)
