"""The relative error on a Gaussian of another width, for any functions of the midpoints.

Statement (not in the 2020 paper; explains its table 1): independent points from N(0,
diag(variances)), the target exp(-gamma |s - t|^2), rates a_k = 1/(2 v1_k) and any functions h_k of
the midpoint. With A(u) = prod_j (1 + 4 u var_j)^(-1/2), G = (A(a_k + a_l)), b = (A(gamma + a_k)),
the mean squared error of sum_k exp(-a_k |s - t|^2) h_k, relative to the variance of the target, is
at least (A(2 gamma) - b'G^-1 b)/(A(2 gamma) - A(gamma)^2). Checked: the exact error for h_k a
constant and a bump. Verdict: holds, with equality for constant h_k = (G^-1 b)_k; proofs.md, section
20.
"""

import numpy as np

from ..bounds.hyper_rates import mean_gaussian, width_error
from ..prelude import P4, Claim, Mutant, NegativeControl, Status


def cases(draw):
    d, n = draw.integer(1, 3), draw.integer(1, 3)
    return {
        "variances": np.array([draw.log_real(0.1, 2.0) for _ in range(d)]),
        "widths": draw.log_real(0.5, 4.0) * 4.0 ** np.arange(n),
        "gamma": draw.log_real(0.02, 5.0),
        "constants": draw.array(n) / n,
        "bumps": draw.array(n) / n,
        "middle": draw.array(d),
        "v2": draw.log_real(0.3, 5.0),
    }


def bound(case):
    return width_error(case["gamma"], case["widths"], case["variances"]) ** 2


def measure(case):
    """The exact mean squared error of constants and bumps, relative to the target's variance."""
    A, gamma = (lambda u: mean_gaussian(u, case["variances"])), case["gamma"]
    rates = 0.5 / case["widths"]
    half, v2, middle = case["variances"] / 2, case["v2"], case["middle"]
    first, second = (
        np.prod((v / (v + half)) ** 0.5 * np.exp(-(middle**2) / (2 * (v + half))))
        for v in (v2, v2 / 2)
    )
    c, b = case["constants"], case["bumps"]
    once = c + b * first
    twice = np.outer(c, c) + first * (np.outer(c, b) + np.outer(b, c)) + second * np.outer(b, b)
    cross = np.array([A(gamma + a) for a in rates])
    powers = np.array([[A(a + e) for e in rates] for a in rates])
    error = A(2 * gamma) - 2 * cross @ once + (powers * twice).sum()
    return error / (A(2 * gamma) - A(gamma) ** 2)


def best():
    """Constants with minimum error: equality."""
    for gamma in (0.1, 1.5):
        case = {"variances": np.array([0.5, 0.25]), "widths": np.array([1.0]), "gamma": gamma}
        rate = 0.5
        A = [mean_gaussian(u, case["variances"]) for u in (gamma + rate, 2 * rate)]
        case |= {"constants": np.array([A[0] / A[1]]), "bumps": np.zeros(1)}
        yield case | {"middle": np.zeros(2), "v2": 1.0}


def _control_case():
    return next(best())


def _more(case):
    return 1.05 * bound(case)


def _without_scale(case):
    """h = 1 in place of the best constant."""
    A = [mean_gaussian(u, case["variances"]) for u in (2 * case["gamma"], case["gamma"])]
    rate = 0.5 / case["widths"][0]
    one = mean_gaussian(case["gamma"] + rate, case["variances"])
    both = mean_gaussian(2 * rate, case["variances"])
    return (A[0] - 2 * one + both) / (A[0] - A[1] ** 2)


CLAIM = Claim(
    name="p4-ladder-error",
    source=f"{P4}, table 1, explained, new",
    status=Status.NEW,
    statement=(
        r"\frac{\mathrm E(e^{-\gamma r}-\sum_ke^{-a_kr}h_k)^2}{\mathrm{Var}\,e^{-\gamma r}} \ge "
        r"\frac{A(2\gamma)-b^\top G^{-1}b}{A(2\gamma)-A(\gamma)^2}"
    ),
    hypotheses="Normal points with independent columns; h_k functions of the midpoint.",
    kind="lower",
    bound=bound,
    measure=measure,
    cases=cases,
    rtol=1e-7,
    extremes=best,
    mutants=(Mutant("h = 1 in place of the best constant", bound=_without_scale),),
    negative_control=NegativeControl(_control_case, bound=_more, note="5 % more"),
    proof="20",
)
