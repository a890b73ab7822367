"""The form of the solution of L2-regularized kernel learning with ridge regression.

Statement (theorem 1 of the 2009 paper): mu = mu0 + L v/||v||, v_k = alpha'K_k alpha, with alpha the
unique vector with alpha = (K_mu + lam)^-1 y. Checked: the solution of `LKRR` has this form (alpha
and v computed anew from its mu), no feasible competitor has a smaller y'(K_mu + lam)^-1 y, and the
formula is defined. Verdict: unstated hypothesis: lam > 0, and some K_k y != 0 (equivalently v !=
0). Then alpha and mu are unique; if all K_k y = 0, alpha = y/lam, v = 0 and every mu is optimal;
proofs.md, section 1.
"""

import numpy as np

from ..prelude import P2, Claim, HypothesisNotMet, NegativeControl, Status, combine, krr, replace
from ..reference.learners import lkrr_weights, quadratic_forms
from ..reference.library import lkrr


def cases(draw):
    m, p = draw.integer(1, 5), draw.integer(1, 3)
    form = draw.choice(("generic", "rank-one", "low-rank", "duplicated"))
    mu0 = np.abs(draw.array(p))
    return {
        "kernels": np.array([draw.kernel(m, form) for _ in range(p)]),
        "y": draw.array(m),
        "lam": draw.log_real(1e-2, 1e2),
        "mu0": mu0 / max(mu0.min(), 0.1),
        "radius": draw.log_real(1e-2, 1e2),
        "direction": np.abs(draw.array(p)) + 1e-3,
    }


def value(case, mu):
    """y'(K_mu + lam)^-1 y, the value of the inner maximum."""
    return case["y"] @ krr(combine(mu, case["kernels"]), case["y"], case["lam"])


def _competitor(case):
    d = case["direction"]
    return case["mu0"] + case["radius"] * d / np.linalg.norm(d)


def _moved(case):
    """Whether some K_k y is not zero."""
    moved = np.abs(case["kernels"] @ case["y"]).max()
    return moved > 1e-9 * max(np.abs(case["kernels"]).max() * np.abs(case["y"]).max(), 1e-300)


def bound(case):
    return np.array([value(case, _competitor(case)), value(case, case["mu0"]), 0.0, 1e-8])


def measure(case):
    alpha, mu = lkrr(*(case[key] for key in ("kernels", "y", "lam", "mu0", "radius")))
    best = value(case, mu)
    return np.array([best, best, 0.0 if _moved(case) else 1.0, _departure(case, alpha, mu)])


def _departure(case, alpha, mu):
    """Relative distance of alpha and mu from the theorem's form, 0 where it is undefined.

    Where alpha lies mostly outside the span of the kernels, v is a small difference of rounded
    numbers, whose error mu inherits: there the distance of mu has less weight.
    """
    kernels = case["kernels"]
    if not _moved(case):
        return 0.0
    exact = krr(combine(mu, kernels), case["y"], case["lam"])
    form = lkrr_weights(kernels, exact, case["mu0"], case["radius"])
    share = quadratic_forms(kernels, exact).max() / (exact @ exact * np.abs(kernels).max())
    apart = np.linalg.norm(mu - form) / np.linalg.norm(form) * min(1.0, 1e6 * share)
    return max(apart, np.linalg.norm(alpha - exact) / np.linalg.norm(exact))


def counterexample():
    """K y = 0, so that v = 0 and v/||v|| is 0/0."""
    return {
        "kernels": np.array([[[1.0, -1.0], [-1.0, 1.0]]]),
        "y": np.ones(2),
        "lam": 1.0,
        "mu0": np.ones(1),
        "radius": 1.0,
        "direction": np.ones(1),
    }


def corrected_bound(case):
    if not _moved(case):
        raise HypothesisNotMet("some K_k y must not be zero")
    return bound(case)


def _control_case():
    return {
        "kernels": np.array([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])]),
        "y": np.array([3.0, 1.0]),
        "lam": 1.0,
        "mu0": np.ones(2),
        "radius": 10.0,
        "direction": np.array([1.0, 0.4]),
    }


def _equal_weights(case):
    p = len(case["mu0"])
    best = value(case, case["mu0"] + case["radius"] / np.sqrt(p))
    return np.array([best, best, 0.0, 0.0])


CORRECTED = Claim(
    name="p2-theorem-1-corrected",
    source=f"{P2}, Theorem 1, corrected",
    statement=r"\mu = \mu_0 + \Lambda v/\|v\|,\ \alpha = (K_\mu+\lambda I)^{-1}y,\ \text{unique}",
    hypotheses="lam > 0, mu0 >= 0, some K_k y not zero.",
    kind="upper",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=lambda case: case["y"] @ case["y"] / case["lam"],
    rtol=1e-9,
    negative_control=NegativeControl(_control_case, measure=_equal_weights, note="equal weights"),
    proof="1",
)

CLAIM = replace(
    CORRECTED,
    name="p2-theorem-1",
    source=f"{P2}, Theorem 1",
    hypotheses="lam >= 0.",
    bound=bound,
    status=Status.HYPOTHESIS,
    remark=(
        "It needs lambda > 0 and some K_k y that is not 0; otherwise v = 0 and every mu "
        "is a solution."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
