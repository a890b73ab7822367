"""Algorithm 1 with steps that are halved until the objective rises enough.

Not in the paper: from the step 1 - eta on, halve t until P(alpha + t d) >= P(alpha) + 2 c t d'Md,
d = F(alpha) - alpha, c < 1/4. The iteration then converges to the solution from every start and
for every eta in [0, 1), with a linear rate; at eta = 1/2 the step is not halved near the solution;
proofs.md, section 6. Checked: the relative step of plain NumPy that follows those of the library,
``LKRR(solver="interpolated")``, from starts of all sizes. Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P2
from ..reference.learners import lkrr_weights
from ..reference.library import lkrr_iteration
from ..reference.matrices import combine, krr
from .algorithm_1 import cases as problem_cases
from .algorithm_1 import counterexample

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    case = problem_cases(draw)
    start = draw.log_real(1e-4, 1e4) * (draw.array(len(case["y"])) + 0.1)
    return case | {"eta": draw.choice((0.0, 0.2, 0.5, 0.8)), "start": start}


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return 1e-5


# -- measure: what is true -------------------------------------------------------------


def residual(case, safeguard=True):
    """|F(alpha) - alpha| / |alpha| after the library's iteration."""
    kernels, y, lam, radius = (case[key] for key in ("kernels", "y", "lam", "radius"))
    mu0 = np.ones(len(kernels))
    alpha = lkrr_iteration(
        kernels, y, lam, mu0, radius, case["eta"], 2000, 1e-8, safeguard, case["start"]
    )
    K = combine(lkrr_weights(kernels, alpha, mu0, radius), kernels)
    return np.linalg.norm(krr(K, y, lam) - alpha) / np.linalg.norm(alpha)


def measure(case):
    return residual(case)


# -- negative control ------------------------------------------------------------------


def _control_case():
    return counterexample(eta=0.3, radius=1e6) | {"start": np.array([0.3, 0.5])}


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p2-algorithm-1-safeguarded",
    source=f"{P2}, Algorithm 1, new",
    statement=(
        r"\alpha_{i+1} = \alpha_i + t_i d_i,\ P(\alpha_{i+1}) \ge P(\alpha_i) + 2ct_i d_i'Md_i:"
        r"\ \alpha_i \to \alpha^\star \text{ for every } \eta, \alpha_0"
    ),
    hypotheses="lam > 0, mu0 >= 0, 0 < c < 1/4; t_i is the first of (1 - eta) 2^-j that will do.",
    kind="convergence",
    bound=bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(
        _control_case,
        measure=lambda case: residual(case, safeguard=False),
        note="no safeguard, eta = 0.3",
    ),
    proof="6",
)
