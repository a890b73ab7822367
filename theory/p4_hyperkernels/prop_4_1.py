"""The distance of two functions from the difference of their risks.

Statement (proposition 4.1 of the 2020 paper): |k - k_rho|_{p*} <= C_q max(M*, B)^(1-1/q) (E(k) -
E(k_rho))^(1/q), C_q = 2^(1-1/q) q^(1/q) |(b a^(q-1))^-1|^(1/q) in L^{p*}. Checked: on distributions
over a few pairs whose distribution around the median is b u^(q-1) up to a, which attains definition
3.3 (there too the inverse of b a^(q-1) is meant). Verdict: misprint: 0.05000 against 0.03193; the
norm is that of L^p. Then 2^(1-2/q) will do as well, as the loss |y - k| is twice the pinball loss;
proofs.md, section 15.
"""

import numpy as np

from ..bounds.hyper_rates import norm_exponent
from ..prelude import P4, Claim, NegativeControl, Status, replace


def cases(draw):
    n, q = draw.integer(1, 4), draw.real(1.05, 5.0)
    a = np.array([draw.log_real(0.05, 1.0) for _ in range(n)])
    # The two sides of the median have at most mass 1/2 each.
    b = np.array([draw.log_real(0.01, 1.0) for _ in range(n)]) / (2 * a ** (q - 1))
    top = draw.log_real(1.0, 4.0)
    return {
        "p": draw.choice((np.inf, draw.log_real(0.2, 20.0))),
        "q": q,
        "a": a,
        "b": b,
        "weights": draw.weights(n),
        "shift": np.array([draw.real(0.0, 1.0) for _ in range(n)]) * (1 + top),
        "top": top,
    }


def norm(values, weights, p):
    """The norm in L^p of the distribution."""
    if np.isinf(p):
        return float(np.abs(values).max())
    return float((weights @ np.abs(values) ** p) ** (1 / p))


def excess(case):
    """E(k) - E(k_rho) for |k - k_rho| = shift: twice the integral of the mass beside the median.

    The mass on one side is b u^(q-1) up to a and stays there; the rest is further away than k.
    """
    q, a, b, u = (case[name] for name in ("q", "a", "b", "shift"))
    near = np.minimum(u, a)
    each = 2 * b * (near**q / q + a ** (q - 1) * np.maximum(u - a, 0.0))
    return float(case["weights"] @ each)


def inverse(case, p):
    """The norm of (b a^(q-1))^-1 in L^p."""
    return norm(1 / (case["b"] * case["a"] ** (case["q"] - 1)), case["weights"], p)


def form(case, p, power):
    """2^power q^(1/q) |.|_p^(1/q) max(M*, B)^(1-1/q) excess^(1/q)."""
    q = case["q"]
    constant = 2.0**power * (q * inverse(case, p) * excess(case)) ** (1 / q)
    return constant * case["top"] ** (1 - 1 / q)


def bound(case):
    q = case["q"]
    return form(case, norm_exponent(case["p"], q), 1 - 1 / q)


def measure(case):
    return norm(case["shift"], case["weights"], norm_exponent(case["p"], case["q"]))


def counterexample():
    """0.05000 against 0.03193; 0.10000 with the norm of L^p."""
    rare = {"a": np.ones(2), "b": np.array([0.01, 0.5]), "weights": np.array([0.01, 0.99])}
    return rare | {"p": np.inf, "q": 2.0, "shift": np.array([0.5, 0.0]), "top": 1.0}


def corrected_bound(case):
    return form(case, case["p"], 1 - 1 / case["q"])


def sharpened_bound(case):
    return form(case, case["p"], 1 - 2 / case["q"])


def _control_case():
    """The whole mass within a; shift 2 = M* + B."""
    return {
        "p": np.inf,
        "q": 1.05,
        "a": np.ones(1),
        "b": np.full(1, 0.5),
        "weights": np.ones(1),
        "shift": np.full(1, 2.0),
        "top": 1.0,
    }


def _lower_power(case):
    return form(case, case["p"], 1 - 2.2 / case["q"])


def _smaller(case):
    return corrected_bound(case) / 2


SHARPENED = Claim(
    name="p4-prop-4-1-sharpened",
    source=f"{P4}, Proposition 4.1, sharpened",
    statement=(
        r"\|k-k_\rho\|_{p^*} \le 2^{1-2/q}q^{1/q}\|(ba^{q-1})^{-1}\|_{L^p}^{1/q}"
        r"\max\{M^*,B\}^{1-1/q}(\mathcal{E}(k)-\mathcal{E}(k_\rho))^{1/q}"
    ),
    hypotheses="A median of p-average type q; |k| <= B, |k_rho| <= M*, M* >= 1.",
    kind="upper",
    bound=sharpened_bound,
    measure=measure,
    cases=cases,
    sharp=True,
    negative_control=NegativeControl(_control_case, bound=_lower_power, note="2^(1-2.2/q)"),
    proof="15",
)

CORRECTED = replace(
    SHARPENED,
    name="p4-prop-4-1-corrected",
    source=f"{P4}, Proposition 4.1, corrected",
    statement=(
        r"\|k-k_\rho\|_{p^*} \le 2^{1-1/q}q^{1/q}\|(ba^{q-1})^{-1}\|_{L^p}^{1/q}"
        r"\max\{M^*,B\}^{1-1/q}(\mathcal{E}(k)-\mathcal{E}(k_\rho))^{1/q}"
    ),
    bound=corrected_bound,
    corrected=SHARPENED,
    sharp=False,
    negative_control=NegativeControl(_control_case, bound=_smaller, note="half the bound"),
)

CLAIM = replace(
    CORRECTED,
    name="p4-prop-4-1",
    source=f"{P4}, Definition 3.3 and Proposition 4.1",
    statement=(
        r"\|k-k_\rho\|_{p^*} \le 2^{1-1/q}q^{1/q}\|(ba^{q-1})^{-1}\|_{L^{p^*}}^{1/q}"
        r"\max\{M^*,B\}^{1-1/q}(\mathcal{E}(k)-\mathcal{E}(k_\rho))^{1/q}"
    ),
    bound=bound,
    status=Status.MISPRINT,
    remark="(ba)^(q-1) is printed for (ba^(q-1))^-1, and L^{p*} for L^p; lemma 4.4 has both right.",
    counterexample=counterexample,
    corrected=CORRECTED,
    sharp=False,
    negative_control=NegativeControl(
        counterexample, bound=lambda case: 1.2 * bound(case), note="20 % more"
    ),
    proof="",
)
