"""The effective dimension of a sum of hyper-kernels.

Statement (not in the 2020 paper; its theorem 2 for sums): N(lam) = tr K (K + lam)^-1 of a sum of
positive operators is at most the sum of their exponents. So exponents s of the parts stay those of
a ladder, its constant is at most their sum, and its regularization error is at most that of every
part: the rates of section 14 hold with the largest r of the parts. Checked: both sides for
matrices. Verdict: holds; proofs.md, section 21.
"""

import numpy as np

from ..prelude import P4, Claim, NegativeControl, Status


def cases(draw):
    m = draw.integer(1, 6)
    return {"K": draw.kernel(m), "L": draw.kernel(m), "lam": draw.log_real(1e-3, 10.0)}


def _dimension(K, lam):
    values = np.maximum(np.linalg.eigvalsh(K), 0.0)
    return float((values / (values + lam)).sum())


def bound(case):
    return _dimension(case["K"], case["lam"]) + _dimension(case["L"], case["lam"])


def measure(case):
    return _dimension(case["K"] + case["L"], case["lam"])


def orthogonal():
    """Two parts with orthogonal ranges: equality."""
    yield {"K": np.diag([1.0, 0.0]), "L": np.diag([0.0, 2.0]), "lam": 0.5}


def _control_case():
    return next(orthogonal())


def _larger(case):
    return max(_dimension(case[name], case["lam"]) for name in "KL")


CLAIM = Claim(
    name="p4-ladder-dimension",
    source=f"{P4}, theorem 2, of sums, new",
    status=Status.NEW,
    statement=r"\mathrm{tr}\,(K+L)(K+L+\lambda)^{-1} \le N_K(\lambda) + N_L(\lambda)",
    hypotheses="K and L positive semi-definite, lam > 0.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    extremes=orthogonal,
    sharp=True,
    negative_control=NegativeControl(_control_case, bound=_larger, note="the larger of both"),
    proof="21",
)
