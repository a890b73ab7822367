"""Independent variables have kernel canonical correlation 0.

Statement (slides, Q1): if X and Y are independent, rho_KCCA(X, Y; kappa) = 0. Checked: for
distributions on a few points, by their probabilities. Verdict: holds for the distribution; the
estimate from a sample is positive (and 1 without regularization, see p5-kcca-zero).
"""

import numpy as np

from ..prelude import P5, Claim, NegativeControl


def cases(draw):
    n, m = draw.integer(2, 4), draw.integer(2, 4)
    return {
        "K": draw.kernel(n, "generic"),
        "L": draw.kernel(m, "generic"),
        "table": np.outer(draw.weights(n), draw.weights(m)),
        "kappa": draw.log_real(1e-3, 1.0),
    }


def law_correlation(K, L, table, kappa):
    """sup of cov over the roots of var + kappa |.|^2, for a distribution on pairs of points."""
    factors = []
    for gram, p in ((K, table.sum(1)), (L, table.sum(0))):
        values, vectors = np.linalg.eigh(gram)
        features = vectors * np.sqrt(np.maximum(values, 0.0))
        centered = features - p @ features
        spread = centered.T @ (p[:, None] * centered) + kappa * np.eye(len(p))
        factors.append(centered @ np.linalg.inv(np.linalg.cholesky(spread)).T)
    return float(np.linalg.norm(factors[0].T @ table @ factors[1], 2))


def bound(case):
    return 0.0


def measure(case):
    return law_correlation(case["K"], case["L"], case["table"], case["kappa"])


def _control_case():
    """Four equally likely pairs, of which 0.001 moves to the diagonal."""
    table = np.full((2, 2), 0.25) + 1e-3 * np.array([[1, -1], [-1, 1]])
    return {"K": np.eye(2), "L": np.eye(2), "table": table, "kappa": 0.01}


CLAIM = Claim(
    name="p5-independence",
    source=f"{P5}, KCCA, Q1",
    statement=r"X \perp Y \Rightarrow \rho_{\mathrm{KCCA}}(X, Y; \kappa) = 0",
    hypotheses="The distribution of X and Y, not a sample.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-8,
    negative_control=NegativeControl(_control_case, note="dependent by .001"),
)
