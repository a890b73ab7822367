"""The largest deviation of means over all pairs, over a ball of a hyper-RKHS.

Not in the paper. The mean over all pairs of m points is one over orders of means over [m/2]
disjoint pairs (Hoeffding, 1963), which are independent, so that a ball has the complexity of [m/2]
samples; proofs.md, section 23. Checked: the mean of the supremum over all samples of a finite
distribution. Verdict: holds; equality for two points and xx' on +-1.
"""

import itertools

import numpy as np

from ..bounds.hyper_rates import pair_complexity
from ..prelude import P4, Claim, NegativeControl, Status


def cases(draw):
    n = draw.integer(1, 3)
    share = draw.array((n,)) ** 2 + 0.05
    features = draw.array((n, n, draw.integer(1, 4)))
    return {
        "share": share / share.sum(),
        "features": draw.log_real(0.1, 10.0) * (features + features.transpose(1, 0, 2)),
        "m": draw.integer(2, 6),
    }


def bound(case):
    squares = np.square(case["features"]).sum(axis=2)
    return pair_complexity(case["m"], float(case["share"] @ squares @ case["share"]))


def measure(case):
    """The mean over all samples of m atoms of |mean over pairs of f_p - E f_p|."""
    share, F, m = case["share"], case["features"], case["m"]
    expected = np.einsum("a,abd,b->d", share, F, share)
    rows = np.array(list(itertools.product(range(len(share)), repeat=m)))
    i, j = np.triu_indices(m, 1)
    far = F[rows[:, i], rows[:, j]].mean(axis=1) - expected
    return float(np.prod(share[rows], axis=1) @ np.linalg.norm(far, axis=1))


def signs():
    """Two equally likely points with the feature xx', x = 1 and -1."""
    x = np.array([1.0, -1.0])
    return {"share": np.full(2, 0.5), "features": np.outer(x, x)[..., None], "m": 2}


CLAIM = Claim(
    name="p4-pair-complexity",
    source=f"{P4}, Section 3, new",
    status=Status.NEW,
    statement=(
        r"\mathrm{E}\sup_{\|k\|\le R}\Big|\mathrm{E}k(x,x')-\tfrac1{m(m-1)}\sum_{i\ne j}"
        r"k(x_i,x_j)\Big| \le R\Big(\frac{\mathrm{E}\,\underline k((x,x'),(x,x'))}"
        r"{\lfloor m/2\rfloor}\Big)^{1/2}"
    ),
    hypotheses="k symmetric, in the hyper-RKHS of the hyper-kernel; x, x' and x_i independent.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    rtol=1e-9,
    scale=lambda case: 1.0,
    extremes=lambda: [signs()],
    sharp=True,
    negative_control=NegativeControl(
        signs, bound=lambda case: 0.95 * bound(case), note="0.95 of it"
    ),
    proof="23",
)
