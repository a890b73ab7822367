"""The inverse of the matrix Y is small.

Statement (after (20) of the 2009 paper): ||Y^-1|| <= 1/lam for the printed Y. Checked: on random
kernels and vectors. Verdict: true, proof wrong. The conclusion is true: sum_k K_k alpha alpha'Q_k =
B W B' with B = [K_k alpha], W = I - v^ u', ||u|| <= 1, so x'Yx >= lam |x|^2; proofs.md, section 2.
The printed argument is not: it claims that each K_k alpha alpha'Q_k has eigenvalues >= 0
(eigenvalue
-1/2 for K_1 = (1,1)(1,1)', K_2 = (1,2)(1,2)', alpha = (1,0), v' = v). For the correct Y, no bound
is proved.
"""

import numpy as np

from ..prelude import P2, Claim, NegativeControl, Status


def cases(draw):
    m, p = draw.integer(1, 5), draw.integer(1, 4)
    return {
        "kernels": np.array([draw.kernel(m, "generic") for _ in range(p)]),
        "alpha": draw.array(m),
        "v": np.abs(draw.array(p)) + 1e-3,
        "v_new": np.abs(draw.array(p)) + 1e-3,
        "mu": np.abs(draw.array(p)),
        "lam": draw.log_real(1e-2, 1e2),
        "radius": draw.log_real(1e-2, 1e2),
    }


def rank_one_terms(case):
    """The matrices K_k alpha alpha'Q_k, (p, m, m)."""
    K, v, w, alpha = case["kernels"], case["v"], case["v_new"], case["alpha"]
    a, b = np.linalg.norm(v), np.linalg.norm(w)
    mean = np.tensordot(v + w, K, axes=1) / (a + b)
    Q = K - (v / a)[:, None, None] * mean
    return np.array([np.outer(K[k] @ alpha, alpha @ Q[k]) for k in range(len(K))])


def _matrix(case):
    K = np.tensordot(case["mu"], case["kernels"], axes=1)
    extra = case["radius"] / np.linalg.norm(case["v_new"]) * rank_one_terms(case).sum(0)
    return K + case["lam"] * np.eye(len(K)) + extra


def bound(case):
    return 1.0


def measure(case):
    return case["lam"] / np.linalg.svd(_matrix(case), compute_uv=False)[-1]


def argument_counterexample():
    """One of the rank-one matrices has eigenvalue -1/2 although alpha'Q_1 alpha = 0."""
    u, w = np.array([1.0, 1.0]), np.array([1.0, 2.0])
    kernels = np.array([np.outer(u, u), np.outer(w, w)])
    ones = np.ones(2)
    case = {"kernels": kernels, "alpha": np.array([1.0, 0.0]), "v": ones, "v_new": ones}
    return case | {"mu": ones, "lam": 1.0, "radius": 1.0}


def nearly_lam():
    """Y is almost lam times the identity."""
    return argument_counterexample() | {"mu": np.zeros(2), "radius": 1e-6}


def _control_case():
    return argument_counterexample() | {"mu": np.zeros(2), "v": np.array([1.0, 0.5])}


CLAIM = Claim(
    name="p2-y-norm",
    source=f"{P2}, section 4.2, after (20)",
    statement=r"\|Y^{-1}\| \le 1/\lambda",
    hypotheses="The printed Y; v, v' not zero.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-7,
    status=Status.PROOF_WRONG,
    remark=(
        "The bound is true for the printed Y, although a matrix in its proof has a negative "
        "eigenvalue; for the correct Y of (20) no bound is proved."
    ),
    sharp=True,
    extremes=lambda: [nearly_lam()],
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.95 * bound(case), note="0.95/lam"
    ),
    proof="2",
)
