"""Stochastic gradient descent in the space of functions, by coefficients.

Statement (slides, SGD implementation): f_{t+1} = (1 - eta_t lam) f_t - eta_t l'(f_t(x_t), y_t) k(.,
x_t) is alpha_t = -eta_t l', alpha_i <- (1 - eta_t lam) alpha_i for i < t. Checked: values of the
recursion for functions against the expansion with these coefficients, with a common scale s <- s (1
- eta_t lam), a_t = -eta_t l'/s, and with the library's model. Verdict: holds, by induction (no
representer theorem is needed: f_1 = 0); the scale needs 0 < eta_t lam < 1.
"""

import numpy as np

from ..prelude import P5, Claim, NegativeControl
from ..reference import library

_SLOPES = {
    "hinge": lambda f, y: -y * float(y * f < 1),
    "logistic": lambda f, y: -y / (1 + np.exp(np.clip(y * f, -50, 50))),
    "squared": lambda f, y: f - y,
    "epsilon-insensitive": lambda f, y: np.sign(f - y) * float(abs(f - y) > 0.1),
}


def cases(draw):
    n = draw.integer(1, 8)
    K = draw.kernel(n, "generic")
    lam = draw.log_real(0.05, 5.0)
    return {
        "K": K / max(1.0, np.abs(K).max()),
        "y": draw.signs(n),
        "lam": lam,
        # 1/2, to avoid kinks, where both slopes are correct; below 1/lam.
        "eta": 0.4837 * draw.real(0.2, 1.0) / max(lam, 0.5),
        "loss": draw.choice(sorted(_SLOPES)),
        "rule": draw.choice(("constant", "invscaling", "optimal")),
    }


def length(case, t):
    """Step lengths eta_t for t = 0, 1, ..."""
    eta = case["eta"]
    by_rule = {"constant": 1.0, "invscaling": (1 + t) ** 0.5}
    return eta / by_rule.get(case["rule"], 1 + case["lam"] * eta * t)


def by_coefficients(case):
    """The last f at all samples, every coefficient updated at every step."""
    K, y, alpha = case["K"], case["y"], np.zeros(len(case["y"]))
    for t in range(len(y)):
        eta = length(case, t)
        slope = _SLOPES[case["loss"]](K[t] @ alpha, y[t])
        alpha *= 1 - eta * case["lam"]
        alpha[t] = -eta * slope
    return K @ alpha


def by_scale(case, after=True):
    """The last f with a common scale; the new coefficient is divided by it after its update."""
    K, y, a, s = case["K"], case["y"], np.zeros(len(case["y"])), 1.0
    for t in range(len(y)):
        eta = length(case, t)
        slope = _SLOPES[case["loss"]](s * K[t] @ a, y[t])
        old, s = s, s * (1 - eta * case["lam"])
        a[t] = -eta * slope / (s if after else old)
    return s * K @ a


def bound(case):
    _, values = library.stream(
        case["K"], case["y"], case["rule"], case["lam"], case["eta"], case["loss"]
    )
    return np.array([by_coefficients(case), by_scale(case), values])


def measure(case):
    """The recursion for the values of f at all samples."""
    K, y = case["K"], case["y"]
    f = np.zeros(len(y))
    for t in range(len(y)):
        eta = length(case, t)
        f = (1 - eta * case["lam"]) * f - eta * _SLOPES[case["loss"]](f[t], y[t]) * K[:, t]
    return f


def _control_case():
    y = np.array([1.0, -1.0])
    case = {"K": np.eye(2), "y": y, "lam": 0.1, "eta": 0.5}
    return case | {"loss": "squared", "rule": "constant"}


CLAIM = Claim(
    name="p5-sgd",
    source=f"{P5}, SGD implementation",
    statement=(
        r"f_t = \sum_{i<t}\alpha_ik(\cdot,x_i),\ \alpha_t = -\eta_t\ell'(f_t(x_t),y_t),"
        r"\ \alpha_i \leftarrow (1-\eta_t\lambda)\alpha_i"
    ),
    hypotheses="0 < eta_t lam < 1 for the common scale.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-10,
    negative_control=NegativeControl(
        _control_case,
        bound=lambda case: by_scale(case, after=False),
        note="the new coefficient divided by the scale before its update",
    ),
)
