"""The ridge of the algorithm and that of its analysis.

Not in the 2020 paper, where (2.4) is a sum and (3.1) a mean over the m^2 pairs, with one letter for
both ridges: lam of (2.4) is m^2 lam of (3.1), and C of (2.7) is 1/(2 lam m^2); proofs.md, section
5. Checked: the values of the minimizer of (3.1) at the pairs, from a least-squares problem that has
(3.1) as its objective; and for (3.2), which has no bias, that the optimal value is 2 lam times that
of (2.7) without bias. Verdict: holds.
"""

from functools import partial

import numpy as np

from ..prelude import P4, Claim, Mutant, NegativeControl, Status
from ..reference import hyper
from .problems import random_case, ridge_coefficients


def cases(draw):
    return random_case(draw, most=3) | {"eps": draw.real(0.0, 0.3)}


def _matrix(case):
    return hyper.hyper_matrix(case["X"], case["kernel"])


def _values(case, factor=1.0):
    return _matrix(case) @ ridge_coefficients(case, factor * case["lam"])


def _minimizer(case):
    """K beta for the beta that minimizes |K beta - y|^2/m^2 + lam |K^(1/2) beta|^2."""
    K, y, m = _matrix(case), case["target"].ravel(), len(case["X"])
    values, vectors = np.linalg.eigh(K)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    # In z = K^(1/2) beta.
    A = np.vstack([root.T / m, np.sqrt(case["lam"]) * np.eye(len(y))])
    return root.T @ np.linalg.lstsq(A, np.r_[y / m, np.zeros(len(y))], rcond=None)[0]


def example():
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.5)
    X, y = np.array([[0.0], [1.0]]), np.array([1.0, -1.0])
    return {"X": X, "kernel": kernel, "target": np.outer(y, y), "lam": 0.1, "eps": 0.1}


def bound(case, factor=1.0):
    """Ridge regression with m^2 lam, and 2 lam times the dual value with C = 1/(2 lam m^2)."""
    m, lam = len(case["X"]), case["lam"]
    y = case["target"].ravel()
    *_, value = hyper.svr(_matrix(case), y, 1 / (2 * lam * m**2), case["eps"], bias=False)
    return np.r_[_values(case, factor * m**2), 2 * lam * value]


def measure(case):
    """The second entry is (3.2) at the solution that the dual gives."""
    K, y, lam = _matrix(case), case["target"].ravel(), case["lam"]
    beta, *_ = hyper.svr(K, y, 1 / (2 * lam * len(y)), case["eps"], bias=False)
    loss = np.maximum(np.abs(K @ beta - y) - case["eps"], 0.0).mean()
    return np.r_[_minimizer(case), loss + lam * beta @ K @ beta]


def _one_lambda(case):
    return bound(case, factor=len(case["X"]) ** -2.0)


def _nearly(case):
    return bound(case, factor=0.98)


CLAIM = Claim(
    name="p4-lambda-scale",
    source=f"{P4}, (2.6), (3.1) and (3.2), new",
    status=Status.NEW,
    statement=(
        r"\lambda_{(2.4)} = m^2\lambda_{(3.1)},\quad C_{(2.7)} = 1/(2m^2\lambda_{(3.2)}),"
        r"\ \text{without } b"
    ),
    hypotheses="lam > 0.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: np.abs(case["target"]).sum() + 1.0,
    rtol=1e-7,
    mutants=(Mutant("one lambda for both", _one_lambda),),
    negative_control=NegativeControl(example, bound=_nearly, note=".98 m^2 lam"),
    proof="5",
)
