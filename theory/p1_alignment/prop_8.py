"""The linear combination with the largest alignment, in closed form.

Statement (proposition 8 of the 2012 paper): mu = M^-1 a/||M^-1 a|| maximizes mu'a/(mu'M mu)^(1/2).
Checked: with the weights of `AlignLinear`, that no competitor does better, nor the closed form in
plain NumPy, and that the formula is defined. Verdict: unstated hypothesis: a != 0. Otherwise the
formula is 0/0, and every mu is optimal. (`p1-prop-9` and `p2-theorem-1` are judged by the same
rule: a formula that is 0/0 for an allowed sample has an unstated hypothesis.) For singular M, which
the paper excludes, the pseudo-inverse replaces the inverse; proofs.md, section 16.
"""

import numpy as np

from alignlearn.weights import AlignLinear

from ..prelude import P1, Claim, HypothesisNotMet, NegativeControl, Status, alignf_terms, replace
from ..reference.library import two_stage_weights


def cases(draw):
    m, p = draw.integer(2, 6), draw.integer(1, 4)
    form = draw.choice(("generic", "rank-one", "low-rank", "duplicated"))
    kernels = np.array([draw.kernel(m, form) for _ in range(p)])
    return {"kernels": kernels, "y": draw.array(m), "mu": draw.array(p)}


def terms(case):
    """a and M after scaling every centered kernel to unit norm, which only rescales mu."""
    a, M = alignf_terms(case["kernels"], case["y"])
    d = np.sqrt(np.diag(M))
    if not (d > 1e-6 * np.abs(case["kernels"]).max()).all() or not a.max() > 1e-9 * d.max():
        raise HypothesisNotMet("the centered kernels and a must not be zero")
    return a / d / (a / d).max(), M / np.outer(d, d)


def bound(case):
    a, M = terms(case)
    return quotient(two_stage_weights(AlignLinear(singular="pinv"), a, M), a, M)


def quotient(mu, a, M):
    """The alignment in units of the norm of the target."""
    return mu @ a / np.sqrt(mu @ M @ mu)


def measure(case):
    a, M = terms(case)
    mu = case["mu"]
    size = mu @ M @ mu
    if size < 1e-6 * (mu @ mu) or size == 0:
        raise HypothesisNotMet("the competitor's kernel must not vanish")
    inverse = np.linalg.pinv(M, rcond=1e-9, hermitian=True)
    return np.array([mu @ a / np.sqrt(size), quotient(inverse @ a, a, M)])


def _control_case():
    u, w = np.array([1.0, 0.0, -1.0]), np.array([1.0, -1.0, 0.0])
    kernels = np.array([np.outer(u, u), np.outer(w, w)])
    return {"kernels": kernels, "y": 2 * u + w, "mu": np.array([1.0, 0.46])}


def _no_inverse(case):
    a, M = terms(case)
    return a @ a / np.sqrt(a @ M @ a)


def unaligned():
    """A kernel that is uncorrelated with the target: a = 0, and the formula is 0/0."""
    u = np.array([1.0, 1.0, -1.0, -1.0])
    y = np.array([1.0, -1.0, 1.0, -1.0])
    return {"kernels": np.outer(u, u)[None], "y": y, "mu": np.ones(1)}


def _undefined(case):
    a, M = alignf_terms(case["kernels"], case["y"])
    return not np.abs(a).max() > 1e-9 * np.sqrt(np.diag(M)).max() * max(
        case["y"] @ case["y"], 1e-300
    )


def printed_bound(of_claim):
    """The bound, and 0 for a defined formula."""
    return lambda case: np.r_[(0.0 if _undefined(case) else of_claim(case)) * np.ones(2), 0.0]


def printed_measure(of_claim):
    """The measure, and 1 for an undefined formula."""

    def measured(case):
        if _undefined(case):
            return np.array([0.0, 0.0, 1.0])
        return np.append(of_claim(case), 0.0)

    return measured


CORRECTED = Claim(
    name="p1-prop-8-corrected",
    source=f"{P1}, Proposition 8, corrected",
    statement=r"\arg\max_{\|\mu\|=1} \hat\rho(K_\mu, yy^\top) = M^{-1}a/\|M^{-1}a\|",
    hypotheses="a not zero; M invertible (or its pseudo-inverse is used).",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    rtol=1e-6,
    proof="16",
    negative_control=NegativeControl(_control_case, bound=_no_inverse, note="mu = a without M"),
)

CLAIM = replace(
    CORRECTED,
    name="p1-prop-8",
    source=f"{P1}, Proposition 8",
    hypotheses="M invertible (or its pseudo-inverse is used).",
    bound=printed_bound(bound),
    measure=printed_measure(measure),
    quotation="The solution mu* of the optimization problem (5) is given by mu* = M^-1 a/...",
    status=Status.HYPOTHESIS,
    remark="It needs a kernel with a_k != 0; otherwise M^-1 a = 0, and every mu is a solution.",
    counterexample=unaligned,
    corrected=CORRECTED,
    proof="",
    negative_control=NegativeControl(
        _control_case, bound=printed_bound(_no_inverse), note="mu = a without M"
    ),
)
