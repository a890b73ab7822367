"""The single-stage problem of section 3.4 as one maximization.

Statement (section 3.4 of the 2012 paper, "overall problem"): the problem is max over alpha, mu >= 0
of -lam alpha'alpha + 2 alpha'y + mu'(g a + b_alpha) - g' mu'mu - g'' mu'M mu, with b_alpha =
(alpha'K_k alpha)_k. Checked: the printed objective at a feasible point against the value of the
problem, which is the minimum of (8). Verdict: misprint; the printed maximum is +infinity as soon as
one K_k is not zero, because alpha'K_k alpha outgrows lam alpha'alpha. Correct: the outer maximum
over alpha of the inner minimum over mu, with the signs of the mu terms reversed; checked at the
alpha that `AlignedKRR` finds, where the two agree. Also, "minimize F" must be "maximize", and the
multiplier of the alignment constraint depends on alpha if it is introduced after the exchange, so
it belongs to G(mu) = y'(K_mu + lam)^-1 y; proofs.md, section 4.
"""

import numpy as np

from ..prelude import P1, Claim, NegativeControl, Status, alignf_terms, replace
from ..reference import library
from ..reference.learners import aligned_krr, aligned_objective, kernel_quadratic, quadratic_forms


def cases(draw):
    m, p = draw.integer(1, 5), draw.integer(1, 3)
    return {
        "kernels": np.array([draw.kernel(m, "generic") for _ in range(p)]),
        "y": draw.array(m) + 0.1,
        "lam": draw.log_real(0.1, 10),
        "gamma": (draw.real(0, 2), draw.log_real(0.1, 10), draw.real(0, 2)),
        "alpha": draw.array(m),
        "mu": np.abs(draw.array(p)),
    }


def _terms(case):
    """The linear term g a and the quadratic term g' I + g'' M, with a and M per point."""
    g, g1, g2 = case["gamma"]
    a, M = _products(case)
    return g * a, g1 * np.eye(len(a)) + g2 * M


def _products(case):
    a, M = alignf_terms(case["kernels"], case["y"])
    return a / len(case["y"]) ** 2, M / len(case["y"]) ** 2


def bound(case):
    """The value of the problem."""
    linear, Q = _terms(case)
    mu = aligned_krr(case["kernels"], case["y"], case["lam"], linear, Q)
    return aligned_objective(mu, case["kernels"], case["y"], case["lam"], linear, Q)[0]


def measure(case):
    """The printed objective at one feasible point."""
    alpha, mu, lam = case["alpha"], case["mu"], case["lam"]
    linear, Q = _terms(case)
    gain = mu @ (linear + quadratic_forms(case["kernels"], alpha))
    return -lam * alpha @ alpha + 2 * alpha @ case["y"] + gain - mu @ Q @ mu


def counterexample():
    """The printed objective is 2420 here, the value of the problem below 1."""
    return {
        "kernels": np.ones((1, 1, 1)),
        "y": np.ones(1),
        "lam": 1.0,
        "gamma": (0.0, 1.0, 0.0),
        "alpha": np.array([10.0]),
        "mu": np.array([50.0]),
    }


def saddle_value(case):
    """min over mu >= 0 of the corrected objective, at the alpha that the library finds for (8)."""
    kernels, y, lam = case["kernels"], case["y"], case["lam"]
    linear, Q = _terms(case)
    alpha, _ = library.aligned_krr(kernels, y, lam, case["gamma"], *_products(case))
    gain = linear + quadratic_forms(kernels, alpha)
    mu = kernel_quadratic(gain, Q)
    return -lam * alpha @ alpha + 2 * alpha @ y - mu @ gain + mu @ Q @ mu


def _further_out():
    return counterexample() | {"alpha": np.array([100.0]), "mu": np.array([5000.0])}


def _twice_the_ridge(case):
    return saddle_value(case | {"lam": 2 * case["lam"]})


CORRECTED = Claim(
    name="p1-overall-problem-corrected",
    source=f"{P1}, section 3.4, before (8), corrected",
    statement=(
        r"\max_\alpha \min_{\mu\ge0} -\lambda\alpha^\top\alpha + 2\alpha^\top y"
        r" - \mu^\top(\gamma a + b_\alpha) + \gamma'\mu^\top\mu + \gamma''\mu^\top M\mu"
    ),
    hypotheses="lam > 0 and gamma' I + gamma'' M positive definite.",
    kind="identity",
    bound=bound,
    measure=saddle_value,
    cases=cases,
    scale=lambda case: abs(bound(case)) + case["y"] @ case["y"] / case["lam"],
    rtol=1e-5,
    negative_control=NegativeControl(
        counterexample, measure=_twice_the_ridge, note="twice the ridge"
    ),
    proof="4",
)

CLAIM = replace(
    CORRECTED,
    name="p1-overall-problem",
    source=f"{P1}, section 3.4, before (8)",
    statement=(
        r"\max_{\alpha,\mu\ge0} -\lambda\alpha^\top\alpha + 2\alpha^\top y"
        r" + \mu^\top(\gamma a + b_\alpha) - \gamma'\mu^\top\mu - \gamma''\mu^\top M\mu"
    ),
    kind="upper",
    measure=measure,
    status=Status.MISPRINT,
    remark=(
        "The inner minimum over mu became a maximum with its signs reversed; the printed problem "
        "is unbounded, while (8) and (9) below it are right."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(_further_out, note="a point further out: no maximum"),
    proof="",
)
