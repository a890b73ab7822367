"""The mean error of ridge regression in a hyper-RKHS is at least the bias.

Statement (not in the 2020 paper; refutes its theorem 2): on the circle, with noise of mean 0 or
none, E(k_rho - k_z) has along every eigenfunction at least lambda/(mu + lambda) times the
coefficient of k_rho, so that E|k_z - k_rho| >= |k_lam - k_rho| for every m. Checked: the mean of
(G + lambda)^-1 over m = 2 points, exact by averaging over the circle. Verdict: holds; proofs.md,
section 14.
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P4
from ..reference import circle

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    return {
        "s": draw.real(0.3, 1.5),
        "lam": draw.log_real(1e-3, 10.0),
        "size": draw.integer(1, 4),
    }


# -- bound: what the statement says ----------------------------------------------------


def bound(case, share=1.0):
    mu, _ = circle.spectrum(case["s"], 2.0, case["size"])
    return case["lam"] / (share * mu / 2 + case["lam"])


# -- measure: what is true -------------------------------------------------------------


def measure(case, nodes=96):
    """lam E (G + lam)^-1 along each frequency, the mean of its cosine and sine entries.

    A common shift of the two points turns cosine and sine into one another, so that only their
    distance is left to average over.
    """
    root, _ = circle.problem(case["s"], 2.0, case["size"])
    total = np.zeros(2 * case["size"])
    # Nothing changes when the distance is x or -x.
    for apart in (np.arange(nodes) + 0.5) / (2 * nodes):
        G = circle.second_moments(np.array([0.0, apart]), case["size"]) * np.outer(root, root)
        total += np.diagonal(np.linalg.inv(G + case["lam"] * np.eye(len(root))))
    mean = case["lam"] * total / nodes
    return (mean[: case["size"]] + mean[case["size"] :]) / 2


# -- negative control ------------------------------------------------------------------


def _control_case():
    return {"s": 0.5, "lam": 2.0, "size": 1}


def _half_as_large(case):
    return bound(case, share=0.5)


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p4-theorem-2-bias",
    source=f"{P4}, Theorem 2, a lower bound",
    statement=r"\mathrm{E}\|k_z-k_\rho\| \ge \|\mathrm{E}(k_z-k_\rho)\| \ge \|k_\lambda-k_\rho\|",
    hypotheses="The circle of `reference.circle`; noise of mean 0 given the points.",
    kind="lower",
    bound=bound,
    measure=measure,
    cases=cases,
    rtol=1e-7,
    negative_control=NegativeControl(
        _control_case, bound=_half_as_large, note="eigenvalues half as large"
    ),
    proof="14",
)
