"""The Gaussian kernel as an exponential kernel, normalized.

Statement (kernel factory and universal kernels of the slides): exp(-alpha |x - y|^2) is the
exponential kernel after pre- and post-multiplication, which is its normalization. Checked: both at
random points. Verdict: holds, with the exponential kernel of 2 alpha, as the factory has it (the
list of universal kernels has alpha for both).
"""

import numpy as np

from ..prelude import P5, Claim, NegativeControl


def cases(draw):
    n, d = draw.integer(1, 4), draw.integer(1, 3)
    return {"X": draw.array((n, d)), "alpha": draw.log_real(1e-2, 3.0)}


def normalized(case, factor):
    """exp(factor alpha <x, y>) divided by the roots of its diagonal, in exponents."""
    G = factor * case["alpha"] * case["X"] @ case["X"].T
    return np.exp(G - (np.diag(G)[:, None] + np.diag(G)) / 2)


def bound(case):
    return normalized(case, 2.0)


def measure(case):
    X = case["X"]
    return np.exp(-case["alpha"] * ((X[:, None] - X) ** 2).sum(-1))


def _control_case():
    return {"X": np.array([[0.0], [1.0]]), "alpha": 1.0}


CLAIM = Claim(
    name="p5-gaussian",
    source=f"{P5}, kernel factory, pre-post multiplication",
    statement=(
        r"e^{-\alpha\|x-y\|^2} = e^{-\alpha\|x\|^2} e^{2\alpha\langle x,y\rangle}"
        r" e^{-\alpha\|y\|^2}"
    ),
    hypotheses="alpha > 0.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    negative_control=NegativeControl(
        _control_case,
        bound=lambda case: normalized(case, 1.0),
        note="the exponential kernel of alpha in place of 2 alpha",
    ),
)
