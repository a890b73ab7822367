"""Kernel ridge regression in closed form.

Statement (slides): the minimizer of (1/n) sum (y_i - f(x_i))^2 + lam |f|^2 has the coefficients (G
+ lam n I)^-1 y. Checked: the objective there, and at the library's model, against its minimum by
least squares in an orthogonal basis. Verdict: holds. Where G is singular other coefficients give
the same f.
"""

import numpy as np

from ..prelude import P5, Claim, NegativeControl, krr
from ..reference import library


def cases(draw):
    n = draw.integer(1, 6)
    form = draw.choice(("generic", "rank-one", "duplicated"))
    return {"G": draw.kernel(n, form), "y": draw.array(n), "lam": draw.log_real(1e-2, 10.0)}


def objective(case, values, squared_norm):
    """Mean squared error of the values plus the penalty."""
    return np.mean((case["y"] - values) ** 2) + case["lam"] * squared_norm


def bound(case, ridge=None):
    """The objective at the coefficients of the slides, and the values of f at the sample."""
    G, n = case["G"], len(case["y"])
    a = krr(G, case["y"], case["lam"] * n if ridge is None else ridge)
    return np.append(objective(case, G @ a, a @ G @ a), G @ a)


def measure(case):
    """The minimum over u of |y - Fu|^2/n + lam |u|^2, G = FF', and the library's values."""
    G, y, n = case["G"], case["y"], len(case["y"])
    values, vectors = np.linalg.eigh(G)
    F = vectors * np.sqrt(np.maximum(values, 0.0))
    stacked = np.vstack([F, np.sqrt(case["lam"] * n) * np.eye(n)])
    u = np.linalg.lstsq(stacked, np.append(y, np.zeros(n)), rcond=None)[0]
    return np.append(objective(case, F @ u, u @ u), library.ridge(G, y, case["lam"] * n, G))


def _scale(case):
    return (1.0 + np.abs(case["y"]).max()) ** 2 * (1.0 + np.abs(case["G"]).max() / case["lam"])


def _control_case():
    return {"G": np.eye(2), "y": np.array([1.0, 2.0]), "lam": 0.5}


CLAIM = Claim(
    name="p5-krr",
    source=f"{P5}, kernel ridge regression",
    statement=r"f(x) = [k(x_1,x),\dots,k(x_n,x)](G+\lambda nI)^{-1}y",
    hypotheses="lam > 0.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    rtol=1e-8,
    negative_control=NegativeControl(
        _control_case,
        bound=lambda case: bound(case, case["lam"]),
        note="(G + lam I)^-1 y for two samples",
    ),
)
