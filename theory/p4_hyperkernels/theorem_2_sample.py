"""The error of ridge regression in a hyper-RKHS, sample by sample.

Statement (not in the 2020 paper; the step on which the proof of its theorem 2 with the square
rests): |k_z - k_rho| <= |k_lam - k_rho| + t |(S + lambda)^(-1/2) Delta|, with S and S_z the second
moments of the features, t the norm of (S + lambda)^(1/2) (S_z + lambda)^-1 (S + lambda)^(1/2), and
Delta = (1/m^2) sum (y - k_lam) f - lambda k_lam, of mean 0 up to 1/m. Checked: on the circle, with
noise. Verdict: holds; proofs.md, section 14.
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P4
from ..reference import circle

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    m = draw.integer(1, 12)
    return {
        "x": np.array([draw.real(0.0, 1.0) for _ in range(m)]),
        "noise": draw.real(0.0, 1.0) * draw.array((m, m)),
        "s": draw.real(0.3, 1.5),
        "decay": draw.log_real(1.05, 40.0),
        "lam": draw.log_real(1e-4, 1.0),
        "size": draw.integer(1, 8),
    }


def sample(case):
    """Features (m^2, 2 size) in orthonormal coordinates, outputs, eigenvalues and k_rho."""
    root, w = circle.problem(case["s"], case["decay"], case["size"])
    t = np.add.outer(case["x"], case["x"]).ravel()
    angle = 2 * np.pi * np.outer(t, np.arange(1, case["size"] + 1))
    f = np.hstack([np.cos(angle), np.sin(angle)]) * root
    return f, f @ w + case["noise"].ravel(), root**2 / 2, w


# -- bound: what the statement says ----------------------------------------------------


def bound(case, share=1.0):
    f, y, eigenvalues, w = sample(case)
    lam, n = case["lam"], len(y)
    limit = eigenvalues / (eigenvalues + lam) * w
    bias = np.sqrt((eigenvalues * (limit - w) ** 2).sum())
    Delta = f.T @ (y - f @ limit) / n - lam * limit
    half = np.sqrt(eigenvalues + lam)
    inverse = np.linalg.inv(f.T @ f / n + lam * np.eye(len(w)))
    t = np.linalg.norm(half[:, None] * inverse * half, 2)
    return float(bias + share * t * np.linalg.norm(Delta / half))


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    f, y, eigenvalues, w = sample(case)
    n = len(y)
    fitted = np.linalg.solve(f.T @ f / n + case["lam"] * np.eye(len(w)), f.T @ y / n)
    return float(np.sqrt((eigenvalues * (fitted - w) ** 2).sum()))


# -- negative control ------------------------------------------------------------------


def _control_case():
    """Points evenly on the circle, so that S_z = S and t = 1; large noise along one feature."""
    x = np.arange(5) / 5
    noise = 5 * np.cos(2 * np.pi * np.add.outer(x, x))
    return {"x": x, "noise": noise, "s": 0.5, "decay": 1.1, "lam": 1e-4, "size": 1}


def _less(case):
    return bound(case, share=0.95)


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p4-theorem-2-sample",
    source=f"{P4}, Theorem 2, the main step of a proof",
    statement=(r"\|k_z-k_\rho\| \le \|k_\lambda-k_\rho\| + t\,\|(S+\lambda)^{-1/2}\Delta\|"),
    hypotheses="Any sample; ridge regression (3.1).",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    rtol=1e-8,
    negative_control=NegativeControl(_control_case, bound=_less, note="95 % of t"),
    proof="14",
)
