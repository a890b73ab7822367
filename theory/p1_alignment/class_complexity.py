"""The Rademacher complexity of combinations of kernels with weights in a ball.

Not in the paper. The class is x -> <w, phi_mu(x)>, |w| <= 1, with the kernel sum mu_k K_k, mu >= 0
and ||mu||_q <= 1. By Khintchine's inequality with its best constant E (sigma'K sigma)^r <= E (g'K
g)^r for normal g, and cumulants bound the right-hand side; proofs.md, section 28. Checked: the
complexity by enumeration of all signs. Verdict: holds; equality for one kernel with a diagonal
matrix.
"""

import numpy as np

from alignlearn.bounds import rademacher

from ..prelude import P1, Claim, NegativeControl, Status


def cases(draw):
    n, p = draw.integer(1, 7), draw.integer(1, 4)
    features = [draw.array((n, draw.integer(1, n))) for _ in range(p)]
    return {
        "grams": np.array([draw.log_real(0.1, 10.0) * F @ F.T for F in features]),
        "q": draw.choice((1.0, 1.5, 2.0, np.inf)),
    }


def bound(case):
    return rademacher.class_bounds(rademacher.gram_sizes(case["grams"]), q=case["q"])["ours"]


def measure(case):
    n = case["grams"].shape[1]
    forms = rademacher.quadratic_forms(case["grams"], rademacher.sign_vectors(n))
    return float(np.sqrt(rademacher.dual_norm(forms, case["q"])).mean()) / n


def one_kernel():
    """One kernel whose Gram matrix is the identity."""
    return {"grams": np.eye(5)[None], "q": 1.0}


CLAIM = Claim(
    name="p1-class-complexity",
    source=f"{P1}, Section 4.2, new",
    status=Status.NEW,
    statement=(
        r"\mathfrak{R} \le \tfrac1m\min_r\Big(p^{(1/q^*-1/r)_+}\big(\sum_k"
        r" \mathrm{E}(g^\top K_k g)^r\big)^{1/r}\Big)^{1/2}"
    ),
    hypotheses="mu >= 0, ||mu||_q <= 1, 1/q + 1/q* = 1.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    extremes=lambda: [one_kernel()],
    sharp=True,
    negative_control=NegativeControl(
        one_kernel, bound=lambda case: 0.95 * bound(case), note="0.95 of it"
    ),
    proof="28",
)
