"""Kernel canonical correlation without regularization.

Not a statement of the slides, which go on to kappa > 0, but the reason for it: for centered Gram
matrices whose smallest eigenvalues (but one) are v and w, the regularized correlation is at least v
w/((v + kappa)(w + kappa)), which tends to 1 with kappa for any data; proofs.md, section 9.
Checked: both sides. Verdict: holds, so the estimate with kappa = 0 is uninformative about
dependence.

`p5-kcca-spectrum`. The eigenvalues of the KCCA problem. Statement (slides, final task and Q3): the
largest eigenvalue of A z = lambda B z is the regularized correlation, and the eigenvalues come in
pairs lambda, -lambda. Checked: all eigenvalues of the dense problem against +- the singular values
of R_X R_Y, R = (G + kappa I)^-1 G. Verdict: holds; 0 <= lambda < 1 for the largest.
"""

import numpy as np

from ..prelude import P5, Claim, NegativeControl, Status, center
from ..reference import kcca


def cases(draw):
    G = kcca.drawn(draw)
    return {"G": G, "kappa": draw.log_real(1e-4, 1.0)}


def bound(case):
    smallest = [np.linalg.eigvalsh(K)[1] for K in case["G"]]
    return float(np.prod([max(v, 0.0) / (max(v, 0.0) + case["kappa"]) for v in smallest]))


def measure(case):
    return kcca.correlation(case["G"], case["kappa"])


def _control_case():
    """Both views the identity: all eigenvalues are equal, and the bound is attained."""
    return {"G": np.array([center(np.eye(3))] * 2), "kappa": 0.1}


CLAIM = Claim(
    name="p5-kcca-zero",
    source=f"{P5}, KCCA, finite-dimensional form, new",
    status=Status.NEW,
    statement=r"\hat\rho(\kappa) \ge \frac{v}{v+\kappa}\frac{w}{w+\kappa} \to 1",
    hypotheses="Centered Gram matrices of rank N - 1.",
    kind="lower",
    bound=bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 1.01 * bound(case), note="1 % more"
    ),
    proof="9",
    extremes=lambda: [_control_case()],
    sharp=True,
)


# -- p5-kcca-spectrum ------------------------------------------------------------------


def spectrum_cases(draw):
    return {"G": kcca.drawn(draw), "kappa": draw.log_real(1e-2, 10.0)}


def spectrum_bound(case, power=1.0):
    """Plus and minus the singular values, ascending."""
    R = [kcca.shrunk(K, case["kappa"]) for K in case["G"]]
    values = np.linalg.svd(R[0] @ R[1], compute_uv=False) ** power
    return np.concatenate([-values, values[::-1]])


def spectrum_measure(case):
    return kcca.eigenvalues(*kcca.pencil(case["G"], case["kappa"]))


def _spectrum_control_case():
    K = np.array([[0.5, -0.5], [-0.5, 0.5]])
    return {"G": np.array([K, K]), "kappa": 0.1}


SPECTRUM = Claim(
    name="p5-kcca-spectrum",
    source=f"{P5}, KCCA, final task",
    statement=r"\{\lambda_1,-\lambda_1,\dots,\lambda_N,-\lambda_N\} = \{\pm\sigma_n(R_XR_Y)\}",
    hypotheses="kappa > 0.",
    kind="identity",
    bound=spectrum_bound,
    measure=spectrum_measure,
    cases=spectrum_cases,
    scale=lambda case: (1.0 + np.abs(case["G"]).max() / case["kappa"]) ** 2,
    rtol=1e-10,
    negative_control=NegativeControl(
        _spectrum_control_case,
        bound=lambda case: spectrum_bound(case, 0.95),
        note="to the power .95",
    ),
)
