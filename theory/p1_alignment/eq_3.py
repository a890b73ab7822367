"""The weights of align and the objective of its joint form, as sums over kernel matrices.

Statement ((3) and (4) of the 2012 paper): the alignment of K_k with K_Y is <K_k, K_Y>/(||K_k||
||K_Y||), and the unnormalized alignment of sum_k mu_k K_k is <sum_k mu_k K_k, K_Y>. Checked: both
against the definitions. Verdict: misprint; every matrix must be centered, and (4) is without the
factor 1/m^2 (which does not change its maximizer); proofs.md, section 16.
"""

import numpy as np

from ..prelude import P1, Claim, NegativeControl, Status, center, combine, replace
from ..reference.matrices import frobenius


def cases(draw):
    m, p = draw.integer(2, 6), draw.integer(1, 3)
    kernels = np.array([draw.kernel(m, "generic") for _ in range(p)])
    return {"kernels": kernels, "y": draw.array(m), "mu": np.abs(draw.array(p))}


def _both(kernels, target, mu, scale):
    """Weights and objective, from centered or uncentered matrices."""
    weights = []
    for K in kernels:
        size = np.linalg.norm(K) * np.linalg.norm(target)
        weights.append(frobenius(K, target) / size if size > 1e-12 else 0.0)
    return np.append(weights, frobenius(combine(mu, kernels), target) * scale)


def bound(case):
    y = case["y"]
    return _both(case["kernels"], np.outer(y, y), case["mu"], 1.0)


def measure(case):
    y, m = case["y"], len(case["y"])
    U = np.eye(m) - 1 / m
    centered = np.array([U @ K @ U for K in case["kernels"]])
    return _both(centered, np.outer(U @ y, U @ y), case["mu"], 1 / m**2)


def counterexample():
    return {"kernels": np.ones((1, 2, 2)), "y": np.ones(2), "mu": np.ones(1)}


def corrected_bound(case):
    y = case["y"]
    kernels = np.array([center(K) for K in case["kernels"]])
    return _both(kernels, center(np.outer(y, y)), case["mu"], 1 / len(y) ** 2)


def _control_case():
    kernels = np.array([[[2.0, 1.0], [1.0, 1.0]]])
    return {"kernels": kernels, "y": np.array([1.0, 2.0]), "mu": np.ones(1)}


CORRECTED = Claim(
    name="p1-eq-3-corrected",
    source=f"{P1}, (3) and (4), corrected",
    statement=(
        r"\hat\rho_k = \frac{\langle K_{kc}, K_{Yc}\rangle_F}{\|K_{kc}\|_F\|K_{Yc}\|_F},\quad"
        r"\hat\rho_u = \tfrac{1}{m^2}\langle \sum_k \mu_k K_{kc}, K_{Yc}\rangle_F"
    ),
    hypotheses="The centered matrices are not zero.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-9,
    negative_control=NegativeControl(_control_case, bound=bound, note="nothing is centered"),
    proof="16",
)

CLAIM = replace(
    CORRECTED,
    name="p1-eq-3",
    source=f"{P1}, (3) and (4)",
    statement=(
        r"\hat\rho_k = \frac{\langle K_k, K_Y\rangle_F}{\|K_k\|_F\|K_Y\|_F},\quad"
        r"\hat\rho_u = \langle \sum_k \mu_k K_k, K_Y\rangle_F"
    ),
    bound=bound,
    status=Status.MISPRINT,
    remark=(
        "The index c of the centered kernels is missing; align without centering gives other "
        "weights."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
