"""Stability of kernel ridge regression with one fixed kernel.

Statement (theorem 2 of the 2009 paper): |h'(x) - h(x)| <= 2 kappa M/(lambda_min + lam0 m),
lambda_min the smallest eigenvalue of the covariance operator of S'. Checked: at random points of
the feature space, and at the two exchanged ones. M bounds the residuals of the old h at both
exchanged points; with a bound Y of the labels, M = Y (1 + (kappa/lam0)^(1/2)/2). Verdict: holds,
and sharp (m = 1, kappa/lam0 -> 0).

`p2-theorem-2-labels`. Stability of kernel ridge regression from a bound of the labels. Not printed:
theorem 2 of the 2009 paper has a bound M of the residuals; for |y| <= Y it is M = Y (1 +
(kappa/lam0)^(1/2)/2), so |h'(x) - h(x)| <= 2 kappa M/(lambda_min + lam0 m) needs nothing of the
learned functions; proofs.md, section 4. Checked: on the cases of `p2-theorem-2`. Verdict: holds,
and sharp (m = 1, kappa/lam0 -> 0).
"""

import numpy as np

from ..bounds import stability
from ..prelude import P2, Claim, Mutant, NegativeControl, Status
from ..reference.exchange import LARGEST_RIDGE, fit_predict


def cases(draw):
    """Draw rows of F: m points of S, x'_m, then test points."""
    m, d = draw.integer(1, 6), draw.integer(1, 4)
    return {
        "F": draw.log_real(1e-2, 1e2) * np.tanh(3.0 * draw.array((m + 3, d))),
        "y": draw.array(m),
        "y_new": float(draw.array(1)[0]),
        "lam0": draw.log_real(1e-3, LARGEST_RIDGE),
    }


def _fits(case):
    F, y, lam0 = case["F"], case["y"], case["lam0"]
    m = len(y)
    K = F @ F.T
    new = np.r_[np.arange(m - 1), m]
    y_new = np.r_[y[:-1], case["y_new"]]
    return fit_predict(K, np.arange(m), y, lam0), fit_predict(K, new, y_new, lam0), new


def bound(case, least=True):
    F, y = case["F"], case["y"]
    m = len(y)
    h, _, new = _fits(case)
    residual = max(abs(h[m - 1] - y[-1]), abs(h[m] - case["y_new"]))
    spectrum = np.linalg.eigvalsh(F[new].T @ F[new])
    smallest = max(spectrum[0], 0.0) if least else spectrum[-1]
    kappa = (F * F).sum(1).max()
    return stability.krr_stability(m, kappa, case["lam0"], residual, smallest)


def measure(case):
    h, h_new, _ = _fits(case)
    return np.abs(h_new - h)


def _scale(case):
    """An upper bound of |h|, from its size for small and for large ridges."""
    top = max(np.abs(case["y"]).max(), abs(case["y_new"]))
    kappa = (case["F"] ** 2).sum(1).max()
    return top * min(1.0, kappa / case["lam0"]) + 1e-300


def flipped(m, lam0=1e7):
    """One point, m times, and the label of the last flipped, as the ridge grows."""
    return {"F": np.ones((m + 3, 1)), "y": np.ones(m), "y_new": -1.0, "lam0": lam0}


def _control_case():
    """A large kappa/lambda ratio only along one direction: the largest eigenvalue will not do."""
    F = np.array([[10.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 10.0]])
    return {"F": F, "y": np.array([0.0, 1.0]), "y_new": -1.0, "lam0": 1.0}


def _largest(case):
    return bound(case, least=False)


CLAIM = Claim(
    name="p2-theorem-2",
    source=f"{P2}, Theorem 2",
    statement=r"|\Delta_S h(x)| \le \frac{2\kappa M}{\lambda_{\min} + \lambda_0 m}",
    hypotheses="K(x, x) <= kappa, residuals of h at the exchanged points at most M, lam0 > 0.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    rtol=1e-7,
    extremes=lambda: [flipped(1), flipped(20), _control_case()],
    sharp=True,
    mutants=(Mutant("the largest eigenvalue instead of the smallest", _largest),),
    factors={
        "m^(-1/2)": lambda case: len(case["y"]) ** -0.5,
        "lam0^(-1/2)": lambda case: case["lam0"] ** -0.5,
    },
    negative_control=NegativeControl(
        lambda: flipped(1), bound=lambda case: 0.95 * bound(case), note="1.9 for 2"
    ),
)


# -- p2-theorem-2-labels ---------------------------------------------------------------


def labels_bound(case):
    F, m = case["F"], len(case["y"])
    labels = max(np.abs(case["y"]).max(), abs(case["y_new"]))
    kappa = (F * F).sum(1).max()
    residual = stability.residual_bound(labels, kappa, case["lam0"])
    new = _fits(case)[2]
    smallest = max(np.linalg.eigvalsh(F[new].T @ F[new])[0], 0.0)
    return stability.krr_stability(m, kappa, case["lam0"], residual, smallest)


LABELS = Claim(
    name="p2-theorem-2-labels",
    source=f"{P2}, Theorem 2, for bounded labels, new",
    status=Status.NEW,
    statement=(
        r"|\Delta_S h(x)| \le \frac{2\kappa Y(1+\tfrac12\sqrt{\kappa/\lambda_0})}"
        r"{\lambda_{\min} + \lambda_0 m}"
    ),
    hypotheses="K(x, x) <= kappa, |y| <= Y, lam0 > 0.",
    kind="upper",
    bound=labels_bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    rtol=1e-7,
    sharp=True,
    extremes=lambda: [flipped(20)],
    factors={
        "m^(-1/2)": lambda case: len(case["y"]) ** -0.5,
        "lam0^(-1/2)": lambda case: case["lam0"] ** -0.5,
    },
    negative_control=NegativeControl(
        lambda: flipped(1), bound=lambda case: 0.95 * labels_bound(case), note="1.9 for 2"
    ),
    proof="4",
)
