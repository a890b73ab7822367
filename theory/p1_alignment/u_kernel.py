"""The unbiased statistic as an average over quadruples of points, and the range of its terms.

Not in the paper: U is the mean over all quadruples of distinct points of h = (3/4) cov(S, S'), the
covariance over the three ways to split four points into two pairs, S = (K12 + K34, K13 + K24, K14 +
K23). Checked: U from the centered matrices against that mean, one quadruple at a time. Verdict:
holds. Sharper than what boundedness of K gives: h lies in [-4/3, 8/3] R^2 R'^2, in [-2/3, 4/3] if
one kernel is nowhere negative, in [-1/3, 2/3] if both are, all attained; proofs.md, section 18.
"""

from itertools import combinations

import numpy as np

from ..bounds.u_statistics import kernel_range, quadruple_kernel, u_statistic
from ..prelude import P1, Claim, NegativeControl, Status, replace
from .lemma_18 import unit_features


def cases(draw):
    n = draw.integer(4, 7)
    return {"K": draw.kernel(n), "L": draw.kernel(n)}


def four_points(draw):
    """Four points with features in the unit ball, and others with a Gaussian kernel."""
    case = {"F": unit_features(draw, 4), "G": unit_features(draw, 4)}
    size = draw.log_real(0.1, 30.0)
    return case | {"X": size * draw.array((4, 2)), "Z": size * draw.array((4, 2))}


def bound(case):
    """The mean of h over all quadruples, each as a covariance of three numbers."""
    found = []
    for quadruple in combinations(range(len(case["K"])), 4):
        sums = [_splits(case[name], *quadruple) for name in "KL"]
        found.append(0.75 * np.cov(*sums, bias=True)[0, 1])
    return np.mean(found)


def _splits(K, a, b, c, d):
    return [K[a, b] + K[c, d], K[a, c] + K[b, d], K[a, d] + K[b, c]]


def measure(case):
    return u_statistic(case["K"], case["L"])


def _size(case):
    return np.abs(case["K"]).max() * np.abs(case["L"]).max()


def ranges(case):
    """Largest h and -h: for any kernels, for a Gaussian one and any, for two Gaussian ones."""
    spans = [kernel_range(1.0, 1.0, *known) for known in ((0, 0), (1, 0), (1, 1))]
    return np.array([end for span in spans for end in (span.high, -span.low)])


def values(case):
    """Values of the kernel h of the U-statistic on all quadruples, for several pairs of kernels."""
    K, L = (case[name] @ case[name].T for name in "FG")
    P, Q = (np.exp(-((x[:, None] - x[None]) ** 2).sum(-1)) for x in (case["X"], case["Z"]))
    found = [quadruple_kernel(*pair) for pair in ((K, L), (P, L), (P, Q))]
    return np.array([sign * h for h in found for sign in (1, -1)])


def extremal():
    """Each of the three lower ends: two different splits into pairs."""
    x, z = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, -1.0, 1.0, -1.0])
    far = 100 * np.array([[0, 0], [0, 0], [1, 0], [1, 0]])
    return {"F": x[:, None], "G": z[:, None], "X": far, "Z": far[[0, 2, 1, 3]]}


def _control_case():
    f = np.array([[1.0], [-1.0], [1.0], [2.0], [0.0]])
    return {"K": f @ f.T, "L": f @ f.T}


def _wrong_factor(case):
    return 0.99 * bound(case)


RANGE = Claim(
    name="p1-u-kernel-range",
    source=f"{P1}, after Proposition 11, new",
    statement=(
        r"-\tfrac43 R^2R'^2 \le h \le \tfrac83 R^2R'^2,\ "
        r"\text{half of that for } K \ge 0,\ \text{a quarter for } K, K' \ge 0"
    ),
    hypotheses="K(x, x) <= R^2, K'(x, x) <= R'^2.",
    kind="upper",
    bound=ranges,
    measure=values,
    cases=four_points,
    sharp=True,
    extremes=lambda: [extremal()],
    negative_control=NegativeControl(
        extremal, bound=lambda case: 0.99 * ranges(case), note="0.99 of it"
    ),
    proof="18",
)

CLAIM = replace(
    RANGE,
    name="p1-u-kernel",
    status=Status.NEW,
    statement=r"U = \binom{m}{4}^{-1} \sum_{i<j<k<l} h,\ h = \tfrac34 \mathrm{cov}_3(S, S')",
    hypotheses="m >= 4.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    corrected=RANGE,
    scale=_size,
    sharp=False,
    extremes=None,
    negative_control=NegativeControl(_control_case, bound=_wrong_factor, note="0.99 of it"),
)
