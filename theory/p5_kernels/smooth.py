"""Derivatives of the functions of H_k.

Statement (properties of H_k on the slides): if k is m times continuously differentiable, so is
every f in H_k. The chapter that the slides cite (Steinwart and Christmann, 2008, chapter 4) calls k
so if the mixed derivatives of order m in each argument exist and are continuous. Checked: the jump
at 0 of the m-th derivative of a combination of k(., 0) and its derivatives in the second argument,
for Matérn kernels. Verdict: holds. With derivatives of total order m it would fail: k = exp(-|t|)(1
+ |t|) is twice differentiable, f = x exp(-|x|) is in H_k and f'' jumps from 2 to -2; proofs.md,
section 4.
"""

import numpy as np
from numpy.polynomial import polynomial

from ..prelude import P5, Claim, Mutant, NegativeControl

# k(t) = exp(-|t|) q(|t|) with q of degree r: of class C^(2r), and d^r_x d^r_y k exists.
_MATERN = ([1.0], [1.0, 1.0], [1.0, 1.0, 1 / 3], [1.0, 1.0, 2 / 5, 1 / 15])


def cases(draw):
    r = draw.integer(0, 3)
    return {"r": r, "order": draw.integer(0, r), "coef": draw.array(r + 1)}


def right_derivatives(r, most):
    """k^(j)(0+) for j = 0..most: each derivative maps q to q' - q."""
    q, values = np.array(_MATERN[r]), []
    for _ in range(most + 1):
        values.append(q[0])
        q = polynomial.polysub(polynomial.polyder(q), q)
    return np.array(values)


def bound(case):
    return 0.0


def jump(case):
    """The jump of the derivative of f = sum_a coef_a d^a_y k(., y) at y = 0, a <= r."""
    m, coef = case["order"], case["coef"]
    values = right_derivatives(case["r"], m + len(coef) - 1)
    j = np.arange(len(coef)) + m
    # k is even: odd derivatives change their sign at 0.
    jumps = np.where(j % 2, 2.0, 0.0) * values[j]
    return abs(np.sum(coef * (-1.0) ** np.arange(len(coef)) * jumps))


def total_order():
    """f = x exp(-|x|), of the kernel exp(-|t|)(1 + |t|), which is C^2 as a function of t."""
    return {"r": 1, "order": 2, "coef": np.array([0.0, 1.0])}


def measure(case):
    """The jump of the derivative of an order that the mixed derivatives of k have."""
    return jump(case | {"order": min(case["order"], case["r"])})


def _control_case():
    return {"r": 2, "order": 3, "coef": np.array([0.0, 0.0, 1.0])}


CLAIM = Claim(
    name="p5-smooth",
    source=f"{P5}, properties of H_k",
    statement=(
        r"\partial^{a}_x\partial^{a}_y k \text{ continuous for } |a| \le m \Rightarrow"
        r" \mathcal H_k \subset C^m"
    ),
    hypotheses="Mixed derivatives exist and are continuous; checked for Matérn kernels.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0 + np.abs(case["coef"]).sum(),
    extremes=lambda: [total_order()],
    mutants=(Mutant("all derivatives of total order m", measure=jump),),
    negative_control=NegativeControl(
        _control_case, measure=jump, note="one derivative more than r"
    ),
    proof="4",
)
