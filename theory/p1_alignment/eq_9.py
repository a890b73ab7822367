"""The single-stage problem with ridge regression, and the removal of one of its parameters.

Statement ((8), (9) and the substitution between them in the 2012 paper): with mu' = mu/lam, lam
times the objective y'(K_mu + lam)^-1 y - g mu'a + mu'(g''M + g'I)mu is y'(K_mu' + I)^-1 y - lam^2 g
mu''a + mu''(lam^3 g''M + lam^3 g'I)mu'. Checked: the two values at a random mu, and, where the
problem is well scaled, the value of the first at the weights of `AlignedKRR` against the minimum of
the second, found in plain NumPy. A minimizer exists when g'I + g''M is positive definite. Verdict:
holds.

`p1-eq-9-convex`. The single-stage problem is convex in the weights. Statement (after (9) of the
2012 paper): mu -> y'(K_mu + I)^-1 y is convex, hence (9) is. Checked: the value at a point between
two weight vectors against the chord. Verdict: holds.
"""

import numpy as np

from ..prelude import P1, Claim, Mutant, NegativeControl, alignf_terms, combine, krr
from ..reference import library
from ..reference.learners import aligned_krr, aligned_objective


def cases(draw):
    m, p = draw.integer(1, 5), draw.integer(1, 3)
    return {
        "kernels": np.array([draw.kernel(m) for _ in range(p)]),
        "y": draw.array(m),
        "lam": draw.log_real(1e-3, 1e3),
        "gamma": (draw.real(0, 2), draw.real(0, 2), draw.real(0, 2)),
        "mu": np.abs(draw.array(p)),
    }


def _problem(case, lam, gamma):
    a, M = alignf_terms(case["kernels"], case["y"])
    Q = gamma[1] * np.eye(len(a)) + gamma[2] * M
    return case["kernels"], case["y"], lam, gamma[0] * a, Q


def _objective(mu, problem):
    return aligned_objective(mu, *problem)[0]


def _well_scaled(case):
    size = np.abs(case["kernels"]).max()
    return 0.1 <= size <= 10 and 0.1 <= case["lam"] <= 10 and case["gamma"][1] >= 0.1


def _scale(case):
    """The sum of the absolute values of the three terms: the scale of rounding errors.

    For the minimum, its value and that at 0 bound the three terms.
    """
    g, g1, g2 = case["gamma"]
    a, M = alignf_terms(case["kernels"], case["y"])
    mu, y = case["mu"], case["y"]
    terms = case["lam"] * (g * mu @ np.abs(a) + mu @ (g1 * mu + g2 * np.abs(M) @ mu))
    return y @ y + np.array([terms, np.nan_to_num(abs(measure(case)[1]))])


def bound(case, powers=(2, 3, 3)):
    lam = case["lam"]
    gamma = [lam**k * g for k, g in zip(powers, case["gamma"])]
    problem = _problem(case, 1.0, gamma)
    least = _objective(aligned_krr(*problem), problem) if _well_scaled(case) else np.nan
    return np.array([_objective(case["mu"] / lam, problem), least])


def measure(case):
    kernels, y, lam, gamma = (case[key] for key in ("kernels", "y", "lam", "gamma"))
    problem = _problem(case, lam, gamma)
    least = np.nan
    if _well_scaled(case):
        _, mu = library.aligned_krr(kernels, y, lam, gamma, *alignf_terms(kernels, y))
        least = _objective(mu, problem)
    return lam * np.array([_objective(case["mu"], problem), least])


def _control_case():
    return {
        "kernels": np.array([np.diag([1.0, 2.0])]),
        "y": np.array([1.0, -1.0]),
        "lam": 2.0,
        "gamma": (1.0, 1.0, 1.0),
        "mu": np.array([1.0]),
    }


CLAIM = Claim(
    name="p1-eq-9",
    source=f"{P1}, (8) and (9)",
    statement=(
        r"\mu' = \mu/\lambda:\ (\gamma, \gamma', \gamma'', \lambda) \to"
        r" (\lambda^2\gamma, \lambda^3\gamma', \lambda^3\gamma'', 1)"
    ),
    hypotheses="lam > 0.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    rtol=1e-8,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: bound(case, (1, 2, 2)), note="powers one too small"
    ),
)


# -- p1-eq-9-convex --------------------------------------------------------------------


def convex_cases(draw):
    m, p = draw.integer(1, 5), draw.integer(1, 3)
    return {
        "kernels": np.array([draw.kernel(m) for _ in range(p)]),
        "y": draw.array(m),
        "ends": np.abs(draw.array((2, p))),
        "share": draw.real(0.0, 1.0),
    }


def _value(case, mu):
    return case["y"] @ krr(combine(mu, case["kernels"]), case["y"], 1.0)


def convex_bound(case):
    (mu, nu), s = case["ends"], case["share"]
    return s * _value(case, mu) + (1 - s) * _value(case, nu)


def convex_measure(case):
    (mu, nu), s = case["ends"], case["share"]
    return _value(case, s * mu + (1 - s) * nu)


def _convex_control_case():
    return {
        "kernels": np.ones((1, 1, 1)),
        "y": np.ones(1),
        "ends": np.array([[1.0], [1.0]]),
        "share": 0.5,
    }


def _linear_form(case):
    """y'(K_mu + I) y is linear in mu, its square root is concave."""
    (mu, nu), s = case["ends"], case["share"]
    K = combine(s * mu + (1 - s) * nu, case["kernels"])
    return np.sqrt(case["y"] @ (K + np.eye(len(K))) @ case["y"])


CONVEX = Claim(
    name="p1-eq-9-convex",
    source=f"{P1}, after (9)",
    statement=r"\mu \mapsto y^\top (K_\mu + I)^{-1} y \text{ is convex on } \mu \ge 0",
    hypotheses="K_k positive semi-definite.",
    kind="upper",
    bound=convex_bound,
    measure=convex_measure,
    cases=convex_cases,
    scale=lambda case: case["y"] @ case["y"],
    rtol=1e-8,
    mutants=(Mutant("a concave function of mu", measure=_linear_form),),
    negative_control=NegativeControl(
        _convex_control_case,
        bound=lambda case: 0.95 * convex_bound(case),
        note="0.95, where both ends agree",
    ),
)
