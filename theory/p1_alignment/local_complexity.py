"""The Rademacher complexity of the predictors of one kernel with small values on the samples.

Not in the paper. The class is x -> <w, phi(x)>, |w| <= 1, (1/m) sum f(x_i)^2 <= r, whose complexity
near r = 0 gives rates faster than m^(-1/2) (Bartlett, Bousquet and Mendelson, 2005). Every mixture
of its two constraints bounds it; proofs.md, section 29. Checked: the complexity by enumeration of
all signs, the supremum for each by its dual. Verdict: holds; equality for a multiple of the
identity.
"""

import numpy as np

from alignlearn.bounds import rademacher

from ..prelude import P1, Claim, NegativeControl, Status


def cases(draw):
    n = draw.integer(1, 7)
    features = draw.array((n, draw.integer(1, n)))
    return {"gram": draw.log_real(0.1, 10.0) * features @ features.T, "r": draw.log_real(1e-3, 1e3)}


def bound(case):
    values = np.linalg.eigvalsh(case["gram"])
    return rademacher.local_bound(np.maximum(values, 0.0), len(values), case["r"])


def measure(case, steps=100):
    """Mean over signs of max sigma'v/m over both ellipsoids: min over t, by golden section."""
    K, m = case["gram"], len(case["gram"])
    values, vectors = np.linalg.eigh(K)
    used = values > 1e-12 * max(values[-1], 0.0)
    parts, level = (rademacher.sign_vectors(m) @ vectors[:, used]) ** 2, m * case["r"]
    values = values[used]

    def width(t):
        return (parts / (t[:, None] / values + (1 - t[:, None]) / level)).sum(axis=1)

    low, high = np.zeros(len(parts)), np.ones(len(parts))
    for _ in range(steps):
        first, second = (2 * low + high) / 3, (low + 2 * high) / 3
        falls = width(first) > width(second)
        low, high = np.where(falls, first, low), np.where(falls, high, second)
    return float(np.sqrt(width((low + high) / 2)).mean()) / m


def identity():
    """A Gram matrix that is the identity, at r = 1/2."""
    return {"gram": np.eye(5), "r": 0.5}


CLAIM = Claim(
    name="p1-local-complexity",
    source=f"{P1}, Section 4.2, new",
    status=Status.NEW,
    statement=(
        r"\mathfrak{R}_r \le \tfrac1m\min_{0\le t\le1}\Big(\sum_j"
        r"\big(\tfrac{t}{\lambda_j}+\tfrac{1-t}{mr}\big)^{-1}\Big)^{1/2}"
        r" \le \Big(\tfrac2m\sum_j\min(r,\tfrac{\lambda_j}m)\Big)^{1/2}"
    ),
    hypotheses="|w| <= 1, (1/m) sum f(x_i)^2 <= r; lambda_j the positive eigenvalues of K.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    rtol=1e-9,
    scale=lambda case: 1.0,
    extremes=lambda: [identity()],
    sharp=True,
    negative_control=NegativeControl(
        identity, bound=lambda case: 0.95 * bound(case), note="0.95 of it"
    ),
    proof="29",
)
