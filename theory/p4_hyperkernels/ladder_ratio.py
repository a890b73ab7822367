"""The required ratio of a ladder: the error between its rungs in two dimensions.

Statement (not in the 2020 paper; completes `p4-ladder-error`): for points N(0, vI) in the plane the
least squared error of a ladder on exp(-gamma r), for any functions of the midpoint as its
coefficients are, is exactly prod_k ((gamma - a_k)/(gamma + a_k + 1/(4v)))^2 times E exp(-2 gamma
r). Checked: the least squares fit. Verdict: holds; proofs.md, section 22.

`p4-ladder-ratio-columns`. The same in other dimensions. Not in the 2020 paper: for d = 1 the error
is at most that product, for d > 2 at least. Checked: the least squares fits for d = 1, 3, 4 and 6.
Verdict: holds; proofs.md, section 22.

`p4-ladder-ratio-limit`. The error of an infinite ladder of ratio q. Not in the 2020 paper: for
distant points the product is largest half-way between two rungs, where it is prod_k tanh^2((2k + 1)
ln(q)/4), at most 2 exp(-pi^2/(2 ln q)), and tends to that as q -> 1. Checked: products of 41 rungs
at rates between two of them. Verdict: holds; proofs.md, section 22.
"""

import numpy as np

from ..bounds import ladder
from ..prelude import P4, Claim, NegativeControl, Status


def cases(draw):
    n = draw.integer(1, 4)
    return {
        "rates": draw.log_real(0.1, 2.0) * draw.choice((2.0, 4.0, 7.0)) ** np.arange(n),
        "gamma": draw.log_real(0.05, 20.0),
        "variance": draw.log_real(0.1, 10.0),
        "d": draw.choice((1, 3, 4, 6)),
    }


def fitted(case, d):
    """The least squared error relative to E exp(-2 gamma r), from A(u) = (1 + 4 u v)^(-d/2)."""

    def A(u):
        return (1.0 + 4.0 * case["variance"] * u) ** (-d / 2)

    rates, gamma = case["rates"], case["gamma"]
    G, b = A(rates[:, None] + rates), A(gamma + rates)
    scale = np.sqrt(np.diagonal(G))
    part = np.linalg.solve(G / np.outer(scale, scale), b / scale)
    return 1.0 - b @ (part / scale) / A(2 * gamma)


def bound(case):
    return ladder.ladder_error(case["gamma"], case["rates"], case["variance"]) ** 2


def measure(case):
    return fitted(case, 2)


def one_rung():
    """A ladder of a single rate."""
    return {"rates": np.array([1.0]), "gamma": 4.0, "variance": 0.5, "d": 3}


def _without_variance(case):
    return ladder.ladder_error(case["gamma"], case["rates"], 1.2 * case["variance"]) ** 2


CLAIM = Claim(
    name="p4-ladder-ratio",
    source=f"{P4}, table 1, explained, new",
    status=Status.NEW,
    statement=(
        r"\min_h\frac{\mathrm E(e^{-\gamma r}-\sum_ke^{-a_kr}h_k)^2}{\mathrm E e^{-2\gamma r}} ="
        r" \prod_k\Big(\frac{\gamma-a_k}{\gamma+a_k+1/(4v)}\Big)^2"
    ),
    hypotheses="Points N(0, vI) in the plane; h_k functions of the midpoint.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-8,
    negative_control=NegativeControl(one_rung, bound=_without_variance, note="1.2 v for v"),
    proof="22",
)


# -- p4-ladder-ratio-columns -----------------------------------------------------------


def columns_bound(case):
    """The product for d > 2, the fit for d = 1."""
    return fitted(case, 1) if case["d"] == 1 else bound(case)


def columns_measure(case):
    return bound(case) if case["d"] == 1 else fitted(case, case["d"])


COLUMNS = Claim(
    name="p4-ladder-ratio-columns",
    source=f"{P4}, table 1, explained, new",
    status=Status.NEW,
    statement=(
        r"d = 1:\ \min \le \prod_k\Big(\frac{\gamma-a_k}{\gamma+a_k+1/(4v)}\Big)^2,\quad"
        r" d > 2:\ \min \ge \prod_k(\cdot)^2"
    ),
    hypotheses="Points N(0, vI) in d dimensions.",
    kind="lower",
    bound=columns_bound,
    measure=columns_measure,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-8,
    extremes=lambda: [one_rung(), one_rung() | {"d": 1}],
    negative_control=NegativeControl(
        one_rung, bound=lambda case: 1.4 * columns_bound(case), note="1.4 times the product"
    ),
    proof="22",
)


# -- p4-ladder-ratio-limit -------------------------------------------------------------


def limit_cases(draw):
    return {"ratio": draw.real(1.3, 20.0), "place": draw.real(0.0, 1.0)}


def limit_bound(case):
    """The maximum between two rungs, and its upper bound."""
    q = case["ratio"]
    return np.array([ladder.ratio_error(q), 2.0 * np.exp(-(np.pi**2) / (2.0 * np.log(q)))])


def limit_measure(case):
    """The error at a point between two rungs, and half-way."""
    rates = case["ratio"] ** np.arange(-20.0, 21.0)
    places = case["ratio"] ** np.array([case["place"], 0.5])
    far = rates[np.abs(np.log(rates)) < 300.0]
    return np.array([ladder.ladder_error(g, far) for g in places])


LIMIT = Claim(
    name="p4-ladder-ratio-limit",
    source=f"{P4}, table 1, explained, new",
    status=Status.NEW,
    statement=(
        r"\prod_{k\in\mathbb Z}\Big|\frac{\gamma-q^k}{\gamma+q^k}\Big| \le"
        r" \prod_{k\ge0}\tanh^2\tfrac{(2k+1)\ln q}4 \le 2e^{-\pi^2/(2\ln q)}"
    ),
    hypotheses="q > 1, gamma > 0.",
    kind="upper",
    bound=limit_bound,
    measure=limit_measure,
    cases=limit_cases,
    scale=lambda case: 1.0,
    rtol=1e-7,
    extremes=lambda: [{"ratio": 4.0, "place": 0.5}, {"ratio": 20.0, "place": 0.5}],
    sharp=True,
    negative_control=NegativeControl(
        lambda: {"ratio": 4.0, "place": 0.5},
        bound=lambda case: 0.95 * limit_bound(case),
        note="0.95 of both",
    ),
    proof="22",
)
