"""Gram matrices of universal kernels.

Statement (slides, universal kernels): the exponential, the Gaussian, the Laplacian and, inside the
unit ball, the binomial kernel are universal. Checked on what follows from it: Gram matrices on
distinct points have positive eigenvalues, here of up to four points of [0, 1] at distances of 0.2
and more. Verdict: holds; proofs.md, section 11. Positive eigenvalues are necessary, not sufficient.
With more points they fall below the precision of float64; a polynomial kernel of degree p in one
variable has rank p + 1.
"""

import numpy as np

from ..prelude import P5, Claim, NegativeControl


def cases(draw):
    n = draw.integer(1, 4)
    gaps = np.array([draw.real(0.2, 0.33) for _ in range(n)])
    kind = draw.choice(("exponential", "gaussian", "laplacian", "binomial"))
    return {"x": np.cumsum(gaps) - gaps[0], "kind": kind, "alpha": draw.real(0.5, 2.0)}


def gram(case):
    """The Gram matrix; the points of the binomial kernel are moved into the unit ball."""
    x, alpha = case["x"], case["alpha"]
    products, D = np.outer(x, x), np.abs(x[:, None] - x)
    return {
        "exponential": np.exp(alpha * products),
        "gaussian": np.exp(-alpha * D**2),
        "laplacian": np.exp(-alpha * D),
        "binomial": (1 - 0.81 * products) ** -alpha,
        "polynomial": (1 + alpha * products) ** 3,
    }[case["kind"]]


def bound(case):
    """Positive, and far above rounding."""
    return 1e-8


def measure(case):
    return float(np.linalg.eigvalsh(gram(case))[0])


def _control_case():
    """Of degree 3 the rank is 4: five points are one too many."""
    return {"x": np.linspace(0, 1, 5), "kind": "polynomial", "alpha": 1.0}


CLAIM = Claim(
    name="p5-universal",
    source=f"{P5}, universal kernels",
    statement=(
        r"e^{\alpha\langle x,y\rangle},\ e^{-\alpha\|x-y\|^2},\ e^{-\alpha\|x-y\|},"
        r"\ (1-\langle x,y\rangle)^{-\alpha} \text{ universal} \Rightarrow \lambda_{\min}(G) > 0"
    ),
    hypotheses="alpha > 0, distinct points; |x| < 1 for the binomial kernel.",
    kind="lower",
    bound=bound,
    measure=measure,
    cases=cases,
    rtol=1e-9,
    negative_control=NegativeControl(
        _control_case, note="a polynomial kernel of degree 3 on five points"
    ),
    proof="11",
)
