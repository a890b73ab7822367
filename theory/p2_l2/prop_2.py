"""The part of the change of h that is due to the exchanged point.

Statement (proposition 2 of the 2009 paper): for orthogonal kernels ||V_2|| <= 4 L M/(lam0 m).
Checked: both sides, V_2 built from Delta_S v as in `terms`. Verdict: false; a factor 2
kappa^(1/2) is dropped, so the two sides scale differently with the kernels, and mu_k w_k is taken
for the weight vector where it is mu_k^(1/2). No correction is needed (`p2-prop-3`).
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P2
from ..reference.exchange import fit_predict, labels_of, rows_of
from ..reference.matrices import combine
from .terms import disjoint_case, random_case, terms, vector_size

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    return random_case(draw)


def residuals(case):
    """The largest |h(x) - y| over both hypotheses at the points and labels of both samples."""
    t = terms(case)
    worst = 0.0
    for mu, rows, y in zip((t.mu, t.mu_new), rows_of(case), labels_of(case)):
        h = fit_predict(combine(mu, case["kernels"]), rows, y, case["lam0"])
        for points, labels in zip(rows_of(case), labels_of(case)):
            worst = max(worst, np.abs(h[points] - labels).max())
    return worst


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    residual = case.get("residual") or residuals(case)
    return 4 * case["radius"] * residual / (case["lam0"] * len(case["y"]))


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    t = terms(case)
    return vector_size(case, t, t.v_mid - t.v, case.get("old_alpha", False))


# -- counterexample --------------------------------------------------------------------


def counterexample():
    """53/58080 = 9.1e-4 against 4e-5 (1.082e-3 with alpha~ on the new sample)."""
    return disjoint_case(1e4, 1e5, 1.0) | {"residual": 1.0, "old_alpha": True}


# -- negative control ------------------------------------------------------------------


def _scaled_up():
    """Kernels multiplied by 10^4 again, with lam0: the bound falls, the measure falls less."""
    return disjoint_case(1e8, 1e9, 1.0) | {"residual": 1.0}


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p2-prop-2",
    source=f"{P2}, Proposition 2",
    statement=r"\|V_2\| \le \frac{4\Lambda M}{\lambda_0 m}",
    hypotheses="Orthogonal kernels, |h(x) - y| <= M, two samples that differ in one point.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    status="false",
    counterexample=counterexample,
    negative_control=NegativeControl(_scaled_up, note="kernels and lam0 multiplied by 10^4"),
)
