"""The support vector machine in a Krein space.

Statement (section 2.2 of the 2020 paper, after Loosli, Canu and Ong, 2016): for a positive definite
learned kernel KSVM is the standard SVM. Checked with K = U diag(w) U', S = sign(w): the SVM is
solved on |K|, beta = U S U' beta~, and the decisions are K beta + b; they equal |K| beta~ + b, and
those of the standard SVM where K is positive semi-definite; the eigenvectors of YKY give the same.
Verdict: holds; proofs.md, section 7. K is the symmetrized kernel; K beta~ is wrong.
"""

import numpy as np

from ..prelude import P4, Claim, NegativeControl
from ..reference import hyper


def cases(draw):
    m = draw.integer(2, 6)
    if draw.choice((True, False)):
        K = draw.kernel(m, draw.choice(("generic", "low-rank", "duplicated")))
    else:
        K = draw.array((m, m))
        K = (K + K.T) / 2
    y = draw.signs(m)
    y[:2] = 1.0, -1.0
    return {"K": K, "y": y, "C": draw.log_real(0.1, 10.0)}


def signed(K):
    """(|K|, U S U') with S = 0 where an eigenvalue is rounding."""
    w, U = np.linalg.eigh(K)
    sign = np.where(np.abs(w) > len(w) * 2.3e-16 * np.abs(w).max(), np.sign(w), 0.0)
    return (U * np.abs(w)) @ U.T, (U * sign) @ U.T


def svm(K, y, C):
    """Coefficients y alpha and the bias of the standard SVM."""
    Q = np.outer(y, y) * K
    alpha, bias = hyper.box_qp(Q, -np.ones(len(y)), np.full(len(y), C), y[None])
    return y * alpha, float(bias[0])


def bound(case):
    K, y = case["K"], case["y"]
    absolute, _ = signed(K)
    start, b = svm(absolute, y, case["C"])
    decisions = absolute @ start + b
    definite = np.linalg.eigvalsh(K)[0] >= -1e-12 * np.abs(K).max()
    plain = decisions
    if definite:
        start, b = svm(K, y, case["C"])
        plain = K @ start + b
    return np.r_[plain, decisions]


def measure(case):
    K, y = case["K"], case["y"]
    absolute, signs = signed(K)
    start, b = svm(absolute, y, case["C"])
    _, of_labels = signed(K * np.outer(y, y))
    labels = y * (of_labels @ (y * start))
    return np.r_[K @ (signs @ start) + b, K @ labels + b]


def _control_case():
    K = np.diag([1.0, 1.0, 1.0, -0.1])
    return {"K": K, "y": np.array([1.0, -1.0, 1.0, -1.0]), "C": 1.0}


def _original(case):
    """K beta~ with the coefficients of |K|."""
    start, b = svm(signed(case["K"])[0], case["y"], case["C"])
    return np.r_[case["K"] @ start + b, case["K"] @ start + b]


CLAIM = Claim(
    name="p4-ksvm",
    source=f"{P4}, section 2.2",
    statement=(
        r"K\beta = |K|\tilde\beta,\ \beta = U\,\mathrm{sign}(w)\,U^\top\tilde\beta;"
        r"\quad K \succeq 0 \Rightarrow \text{KSVM} = \text{SVM}"
    ),
    hypotheses="K symmetric with eigenvalues w and eigenvectors U.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0 + case["C"] * np.abs(case["K"]).sum(),
    rtol=1e-6,
    negative_control=NegativeControl(_control_case, measure=_original, note="K beta~"),
    proof="7",
)
