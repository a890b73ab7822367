"""The change of the alignment numerator when one point is exchanged.

Statement (lemma 18 of the 2012 paper): |f(S) - f(S')| <= 24 R^2 R'^2/m for f = <K_c, K'_c>_F/m^2
and samples that differ in one point. Checked: m f on random features, scaled so that the diagonals
of K and K' have maximum 1. Verdict: holds, loose. Sharpened: 25 sqrt(15)/18 = 5.379 for K' != K,
128/27 = 4.741 for K' = yy' with real labels, which is the smallest possible constant, and 27
(m-1)^2/(2m-1)^3 <= 3.375/m for K' = K; proofs.md, sections 5 and 17. The largest known value for
any pair is 128/27 (1 - 3/(2m)), attained for features +-1 if 3 divides m. It is a conjecture that
128/27 is the constant for two vector features.

`p1-covariance-change`. The change of the empirical cross-covariance when one point is exchanged.
Not in the paper: the statement from which its concentration results follow with better constants.
||C(S) - C(S')||_HS <= 4 R R'(m-1)/m^2, sharp; proofs.md, section 5. Checked: on random features in
the unit balls. Verdict: holds.
"""

import numpy as np

from ..bounds.concentration import perturbation_bound
from ..prelude import P1, Claim, Mutant, NegativeControl, Status, replace
from ..reference.matrices import center_product


def unit_features(draw, n, dimensions=3):
    """Draw features of n points in the unit ball, the longest on its surface; often +-1."""
    if draw.choice((False, True)):
        return draw.signs(n)[:, None]
    f = draw.array((n, draw.integer(1, dimensions)))
    return f / max(np.linalg.norm(f, axis=1).max(), 1e-3)


def cases(draw):
    """Draw a case: rows 0..m-1 are the sample S, and row m replaces row m-1 in S'."""
    n = draw.integer(2, 9) + 1
    return {"F": unit_features(draw, n), "G": unit_features(draw, n)}


def scalar_cases(draw):
    """Draw cases whose second features are labels."""
    n = draw.integer(2, 9) + 1
    return {"F": unit_features(draw, n), "G": unit_features(draw, n, 1)}


def bound(case):
    return 24.0 / (len(case["F"]) - 1)


def measure(case):
    F, G = case["F"], case["G"]
    m = len(F) - 1
    values = []
    for rows in (np.arange(m), np.r_[np.arange(m - 1), m]):
        values.append(center_product(F[rows] @ F[rows].T, G[rows] @ G[rows].T) / m**2)
    return abs(values[0] - values[1])


def sharp_bound(case):
    return perturbation_bound(len(case["F"]) - 1)


def scalar_bound(case):
    return perturbation_bound(len(case["F"]) - 1, scalar_target=True)


def same_bound(case):
    return perturbation_bound(len(case["F"]) - 1, same_kernel=True)


def same_measure(case):
    return measure({"F": case["F"], "G": case["F"]})


def extremes():
    """The sample closest to a violation, at the few sizes of drawn cases and at large ones."""
    return [extremal(m) for m in (3, 6, 9, 30, 300)]


def extremal(m):
    """Features +-1 with m |f(S) - f(S')| = 128/27 (1 - 3/(2m)), for m divisible by 3."""
    x = np.r_[np.ones(2 * m // 3), -np.ones(m // 3 - 1), 1.0, -1.0]
    z = np.r_[np.ones(2 * m // 3), -np.ones(m // 3 - 1), -1.0, -1.0]
    return {"F": x[:, None], "G": z[:, None]}


def _below_the_attained(case):
    return 4.7 / (len(case["F"]) - 1)


def _same_control_case():
    """Common points +-1 with mean 1/2, and the last moves from -1 to that mean."""
    x = np.r_[np.ones(75), -np.ones(25), -1.0, 0.5]
    return {"F": x[:, None], "G": x[:, None]}


SAME_KERNEL = Claim(
    name="p1-lemma-18-same-kernel",
    source=f"{P1}, Lemma 18, sharpened for K' = K",
    statement=r"|f(S) - f(S')| \le \frac{27(m-1)^2}{(2m-1)^3} R^4",
    hypotheses="K positive definite symmetric, K(x, x) <= R^2, m >= 2.",
    kind="upper",
    bound=same_bound,
    measure=same_measure,
    cases=cases,
    extremes=lambda: [_same_control_case()],
    sharp=True,
    factors={"m^(-1/2)": lambda case: (len(case["F"]) - 1) ** -0.5},
    negative_control=NegativeControl(
        _same_control_case, bound=lambda case: 0.98 * same_bound(case), note="0.98 of it"
    ),
    proof="5",
)

SCALAR = replace(
    SAME_KERNEL,
    name="p1-lemma-18-scalar",
    source=f"{P1}, Lemma 18, sharpened for a target kernel",
    statement=r"|f(S) - f(S')| \le \frac{128}{27}\frac{R^2 R'^2}{m}",
    hypotheses="K positive definite symmetric, K(x, x) <= R^2; K' = yy', |y| <= R'; m >= 2.",
    bound=scalar_bound,
    measure=measure,
    cases=scalar_cases,
    extremes=extremes,
    mutants=(Mutant("constant 4.7", _below_the_attained),),
    negative_control=NegativeControl(
        lambda: extremal(300), bound=lambda case: 0.99 * scalar_bound(case), note="0.99 of it"
    ),
    corrected=SAME_KERNEL,
    proof="17",
)

SHARP = replace(
    SAME_KERNEL,
    name="p1-lemma-18-sharpened",
    source=f"{P1}, Lemma 18, sharpened",
    statement=r"|f(S) - f(S')| \le \frac{25\sqrt{15}}{18}\frac{R^2 R'^2}{m}",
    hypotheses="K, K' positive definite symmetric, K(x, x) <= R^2, K'(x, x) <= R'^2.",
    bound=sharp_bound,
    measure=measure,
    sharp=False,
    mutants=(Mutant("constant 4.35", lambda case: 4.35 / (len(case["F"]) - 1)),),
    negative_control=NegativeControl(
        lambda: extremal(300), bound=_below_the_attained, note="constant 4.7"
    ),
    corrected=SCALAR,
)

CLAIM = replace(
    SHARP,
    name="p1-lemma-18",
    source=f"{P1}, Lemma 18",
    statement=r"|f(S) - f(S')| \le \frac{24 R^2 R'^2}{m}",
    bound=bound,
    corrected=SHARP,
    proof="",
    mutants=(),
    extremes=extremes,
)


# -- p1-covariance-change --------------------------------------------------------------


def covariance_bound(case):
    m = len(case["F"]) - 1
    return 4 * (m - 1) / m**2


def covariance_measure(case):
    F, G = case["F"], case["G"]
    m = len(F) - 1
    old, new = np.arange(m), np.r_[np.arange(m - 1), m]
    C, D = ((F[rows] - F[rows].mean(0)).T @ (G[rows] - G[rows].mean(0)) / m for rows in (old, new))
    return np.linalg.norm(C - D)


def _control_case():
    """All other points at (-1, -1), the last moved from (1, 1) to (1, -1): attains the bound."""
    x = np.array([-1.0, -1.0, -1.0, 1.0, 1.0])
    z = np.array([0.0, 0.0, 0.0, 1.0, -1.0])
    return {"F": x[:, None], "G": z[:, None]}


COVARIANCE = Claim(
    name="p1-covariance-change",
    source=f"{P1}, behind Lemma 18, new",
    status=Status.NEW,
    statement=r"\|C(S) - C(S')\|_{HS} \le 4RR'(m-1)/m^2",
    hypotheses="K, K' positive definite symmetric, K(x, x) <= R^2, K'(x, x) <= R'^2.",
    kind="upper",
    bound=covariance_bound,
    measure=covariance_measure,
    cases=cases,
    sharp=True,
    extremes=lambda: [_control_case()],
    negative_control=NegativeControl(
        _control_case,
        bound=lambda case: 0.99 * covariance_bound(case),
        note="0.99 of a sharp bound",
    ),
    proof="5",
)
