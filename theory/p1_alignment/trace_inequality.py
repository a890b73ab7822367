"""The weight term of the stability bound for trace-normalized kernels.

Statement (remark after theorem 17 of the 2012 paper): if Tr K_kc <= 1 and ||mu||_1, ||mu'||_1 <=
L1, then ||Delta mu||_1 max_k ||K_kc||_2 <= 2 L1. Checked: both sides. Verdict: the inequality
holds; what is concluded from it does not (`p1-alignf-stability`, `p1-trace-degenerate`), also
because K_k/Tr K_k(S) depends on the sample.

`p1-trace-degenerate`. Trace-normalized kernels with a fixed ridge give predictions that vanish. Not
in the paper, but a consequence of its remark after theorem 17: with Tr K_k = 1 on the sample and
lam0 fixed, the mean square of the predictions on the sample is at most (L1 M/(lam0 m))^2 and tends
to 0; proofs.md, section 13. Checked: both sides. Verdict: holds, so the O(1/sqrt(m)) bound of the
remark is one for a predictor that vanishes.
"""

import numpy as np

from ..prelude import P1, Claim, NegativeControl, Status, center, combine
from ..reference.exchange import LARGEST_RIDGE, fit_predict


def cases(draw):
    m, p = draw.integer(1, 6), draw.integer(1, 4)
    kernels = []
    for _ in range(p):
        K = draw.kernel(m)
        trace = np.trace(center(K))
        # Centering a constant kernel leaves rounding errors, which must not be scaled to trace 1.
        kernels.append(K / trace if trace > 1e-9 * np.trace(K) else 0 * K)
    return {"kernels": np.array(kernels), "mu": draw.weights(p), "mu_new": draw.weights(p)}


def bound(case):
    return 2 * max(case["mu"].sum(), case["mu_new"].sum())


def measure(case):
    norms = [np.linalg.norm(center(K), 2) for K in case["kernels"]]
    return np.abs(case["mu_new"] - case["mu"]).sum() * max(norms)


def _control_case():
    kernels = np.array([[[0.5, -0.5], [-0.5, 0.5]], np.zeros((2, 2))])
    return {"kernels": kernels, "mu": np.array([1.0, 0.0]), "mu_new": np.array([0.0, 1.0])}


CLAIM = Claim(
    name="p1-trace-inequality",
    source=f"{P1}, after Theorem 17",
    statement=r"\|\Delta\mu\|_1 \max_k\|K_{kc}\|_2 \le 2\Lambda_1",
    hypotheses="Tr K_kc <= 1, mu, mu' >= 0 with sums at most L1.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    rtol=1e-6,
    sharp=True,
    extremes=lambda: [_control_case()],
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.95 * bound(case), note="0.95 of a sharp bound"
    ),
)


# -- p1-trace-degenerate ---------------------------------------------------------------


def degenerate_cases(draw):
    m, p = draw.integer(1, 8), draw.integer(1, 3)
    kernels = np.array([draw.kernel(m) + 1e-9 * np.eye(m) for _ in range(p)])
    kernels /= np.trace(kernels, axis1=1, axis2=2)[:, None, None]
    return {
        "kernels": kernels,
        "y": draw.array(m),
        "mu": draw.weights(p),
        "lam0": draw.log_real(1e-4, LARGEST_RIDGE),
    }


def degenerate_bound(case):
    y = case["y"]
    return (case["mu"].sum() * np.abs(y).max() / (case["lam0"] * len(y))) ** 2


def degenerate_measure(case):
    y = case["y"]
    h = fit_predict(combine(case["mu"], case["kernels"]), np.arange(len(y)), y, case["lam0"])
    return np.mean(h**2)


def attained(m=4, lam0=1e4):
    """A constant kernel and equal labels, as the ridge grows."""
    case = {"kernels": np.ones((1, m, m)) / m, "y": np.ones(m)}
    return case | {"mu": np.ones(1), "lam0": lam0}


DEGENERATE = Claim(
    name="p1-trace-degenerate",
    source=f"{P1}, after Theorem 17, new",
    status=Status.NEW,
    statement=r"\tfrac1m\sum_i h(x_i)^2 \le (\Lambda_1 M/(\lambda_0 m))^2",
    hypotheses="Tr K_k = 1 on the sample, ||mu||_1 <= L1, |y| <= M, lam0 > 0.",
    kind="upper",
    bound=degenerate_bound,
    measure=degenerate_measure,
    cases=degenerate_cases,
    sharp=True,
    extremes=lambda: [attained(), attained(100)],
    factors={
        "m^(-1/2)": lambda case: len(case["y"]) ** -0.5,
        "lam0^(-1/2)": lambda case: case["lam0"] ** -0.5,
    },
    negative_control=NegativeControl(
        attained, bound=lambda case: 0.95 * degenerate_bound(case), note="0.95 of a sharp bound"
    ),
    proof="13",
)
