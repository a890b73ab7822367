"""Upper bounds of the unnormalized alignment with the labels.

Statement (lemma 6 of the 2012 paper): 0 <= rho_u <= M R^2 for population and sample, where K_c(x,
x) <= R^2 and |y| <= M. Checked: both, on a finite support and a sample from it. Verdict: misprint;
false for M > 1 (the proof loses a square: E (yy')^2 <= M^4), true and loose for M <= 1. Correct:
rho_u <= R^2 Var(y), and R^2 (1/m) sum y_i^2 on the sample, both at most M^2 R^2; proof: proofs.md,
section 1. The population R serves the sample too.

Machine-checked in Coq (lemma_6.v) for distributions of finite support, from the definitions of a
positive definite symmetric kernel, of K_c and of rho_u = E[K_c K_Yc] over lists of weighted points:
the corrected form for the population, that for a sample of any length with K_c centered by another
distribution, with r2 Var_S(y) in between, that the printed form is false, and that the corrected
one is attained.
"""

import numpy as np

from ..prelude import P1, Claim, FiniteDistribution, NegativeControl, Status, replace
from ..reference.matrices import center_product


def cases(draw):
    n, m = draw.integer(1, 5), draw.integer(1, 6)
    law = FiniteDistribution(draw.weights(n), draw.array(n))
    index = np.array([draw.integer(0, n - 1) for _ in range(m)])
    return {"law": law, "K": draw.kernel(n), "index": index}


def _radius2(case):
    K = case["K"]
    # Rounding in the centering of a nearly constant kernel is of the size of the kernel.
    return np.diagonal(case["law"].center(K)).max() + 1e-14 * np.abs(K).max()


def bound(case):
    return np.full(2, np.abs(case["law"].labels).max() * _radius2(case))


def measure(case):
    law, K, i = case["law"], case["K"], case["index"]
    y = law.labels[i]
    empirical = center_product(law.center(K)[np.ix_(i, i)], np.outer(y, y)) / len(i) ** 2
    return np.array([law.moments(K, law.target()).theta, empirical])


def counterexample():
    x = np.array([-1.0, 1.0])
    law = FiniteDistribution(np.array([0.5, 0.5]), 2 * x)
    return {"law": law, "K": np.outer(x, x), "index": np.array([0, 1])}


def corrected_bound(case):
    law, y = case["law"], case["law"].labels
    variance = law.mean(y**2) - law.mean(y) ** 2
    return _radius2(case) * np.array([variance, np.mean(y[case["index"]] ** 2)])


_CONTROL = NegativeControl(
    counterexample,
    bound=lambda case: 0.9 * corrected_bound(case),
    note="0.9 of a sharp bound",
)


CORRECTED = Claim(
    name="p1-lemma-6-corrected",
    source=f"{P1}, Lemma 6, corrected",
    statement=r"\rho_u \le R^2 \mathrm{Var}(y),\quad \hat\rho_u \le R^2 \tfrac1m \sum_i y_i^2",
    hypotheses="K positive definite symmetric, K_c(x, x) <= R^2, E[y^2] finite.",
    kind="upper",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=lambda case: _radius2(case) * max(1.0, np.abs(case["law"].labels).max()) ** 2,
    sharp=True,
    negative_control=_CONTROL,
    proof="1",
)

CLAIM = replace(
    CORRECTED,
    name="p1-lemma-6",
    source=f"{P1}, Lemma 6",
    statement=r"\rho_u \le M R^2,\quad \hat\rho_u \le M R^2",
    hypotheses="K positive definite symmetric, K_c(x, x) <= R^2, |y| <= M.",
    bound=bound,
    status=Status.MISPRINT,
    remark=(
        "M is printed where the Cauchy-Schwarz step gives M^2 (E[yy'] <= M does not bound "
        "E[(yy')^2]); the scale of the unnormalized alignment is R^2 Var(y)."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
    sharp=False,
)
