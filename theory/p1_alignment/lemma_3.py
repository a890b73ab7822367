"""The expected product of two positive definite kernels is not negative.

Statement (lemma 3 of the 2012 paper): E[K K'] >= 0 over independent x, x'. Checked: the exact
expectation over a finite support, plain and centered, divided by (E K^2 E K'^2)^(1/2). Tacit
hypothesis: E |K K'| is finite (for example E K^2 and E K'^2 finite); the printed proof takes the
expectation of an operator, which without that need not exist, but truncation and dominated
convergence repair it. Verdict: holds.
"""

import numpy as np

from ..prelude import P1, Claim, Mutant, NegativeControl


def cases(draw):
    n = draw.integer(1, 6)
    return {"weights": draw.weights(n), "K": draw.kernel(n), "L": draw.kernel(n)}


def orthogonal():
    """Two kernels whose features are independent: both expectations are 0."""
    x, z = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, -1.0, 1.0, -1.0])
    return {"weights": np.full(4, 0.25), "K": np.outer(x, x), "L": np.outer(z, z)}


def bound(case):
    return np.zeros(2)


def _expectation(K, p):
    return p @ K @ p


def _centered(K, p):
    return K - (K @ p)[:, None] - (p @ K)[None, :] + p @ K @ p


def _relative(K, L, p):
    size = np.sqrt(_expectation(K * K, p)) * np.sqrt(_expectation(L * L, p))
    return _expectation(K * L, p) / size if size > 0 else 0.0


def measure(case):
    K, L, p = case["K"], case["L"], case["weights"]
    size = np.sqrt(_expectation(K * K, p)) * np.sqrt(_expectation(L * L, p)) or 1.0
    # The centered product is divided by the size of the uncentered kernels: centering a nearly
    # constant kernel leaves rounding of that size behind.
    return np.array([_relative(K, L, p), _expectation(_centered(K, p) * _centered(L, p), p) / size])


def _control_case():
    K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    return {"weights": np.array([0.5, 0.5]), "K": K, "L": -K}


CLAIM = Claim(
    name="p1-lemma-3",
    source=f"{P1}, Lemma 3 and (2)",
    statement=r"\mathrm{E}[K K'] \ge 0, \quad \mathrm{E}[K_c K'_c] \ge 0",
    hypotheses="K, K' positive definite symmetric, E[K^2] and E[K'^2] finite.",
    kind="lower",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-12,
    extremes=lambda: [orthogonal()],
    mutants=(Mutant(".01 instead of 0", lambda case: np.full(2, 0.01)),),
    negative_control=NegativeControl(_control_case, note="K' is not positive definite"),
)
