"""When the problem for the neighborhood matrices is convex.

Statement (after (16) of the paper): the problem (16) is convex for eta >= 4 beta. Checked: the
smallest eigenvalue of its matrix, (eta - 4 beta) I + (beta/2) P, which is a reconstruction: (16) is
printed with terms that do not go together (`p3-omega`). Verdict: holds. Sharpened, with the
consistent Omega (`p3-omega`), whose second derivative is (eta - 2 beta) I + 2 beta P: eta >= 2 beta
is sufficient, and necessary unless the kernels span all matrices (P = I); it is strict for
uniqueness. Then the problem is even jointly convex in theta and Khat. At eta = 2 beta the part of
Khat outside the span is arbitrary, below it the objective is unbounded; proofs.md, section 3.
"""

import numpy as np

from ..prelude import P3, Claim, NegativeControl, replace
from ..reference.multitask import projector
from .tasks import random_tasks, terms_of


def cases(draw):
    beta = draw.log_real(1e-2, 1e2)
    return random_tasks(draw) | {"beta": beta, "eta": draw.choice((4.0, 4.5, 8.0)) * beta}


def bound(case):
    return 0.0


def _smallest(identity, projection, case):
    P = projector(terms_of(case).V)
    return float(np.linalg.eigvalsh(identity * np.eye(len(P)) + projection * P)[0])


def measure(case, share=4.0):
    """Smallest eigenvalue of (eta - 4 beta) I + (beta/2) P, the matrix of (16)."""
    eta, beta = case["eta"], case["beta"]
    return _smallest(eta - share * beta, beta / 2, case)


def example(eta=3.0):
    """beta = 1: the smallest eigenvalue is +1 at eta = 3, and -1/2 at eta = 3/2."""
    kernels = [np.array([[[2.0, 1.0], [1.0, 2.0]]])]
    return {"kernels": kernels, "targets": [np.zeros((2, 2))], "eta": eta, "beta": 1.0}


def sharp_cases(draw):
    """Draw ratios other than 2, where rounding decides."""
    ratio = draw.choice((0.5, 1.0, 1.5, 1.9, 2.1, 3.0, 3.9, 4.1, 8.0))
    beta = draw.log_real(1e-2, 1e2)
    return random_tasks(draw) | {"beta": beta, "eta": ratio * beta}


def smallest_eigenvalue(case):
    """Smallest eigenvalue of the second derivative of the consistent objective."""
    return _smallest(case["eta"] - 2 * case["beta"], 2 * case["beta"], case)


def sharp_measure(case):
    return float(smallest_eigenvalue(case) >= 0)


def sharp_bound(case):
    return float(case["eta"] >= 2 * case["beta"])


def _half(case):
    return float(case["eta"] >= case["beta"])


SHARP = Claim(
    name="p3-convexity-sharpened",
    source=f"{P3}, after (16), sharpened",
    statement=r"\nabla^2_{\hat v} \succeq 0 \iff \eta \ge 2\beta",
    hypotheses="The kernels do not span all matrices (n >= 2).",
    kind="equivalence",
    bound=sharp_bound,
    measure=sharp_measure,
    cases=sharp_cases,
    negative_control=NegativeControl(lambda: example(1.5), bound=_half, note="eta >= beta"),
    proof="3",
)

CLAIM = replace(
    SHARP,
    name="p3-convexity",
    source=f"{P3}, section 4.2, after (16)",
    statement=r"\eta \ge 4\beta \Rightarrow \Sigma \succeq 0",
    hypotheses="beta >= 0.",
    kind="lower",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: case["eta"],
    corrected=SHARP,
    negative_control=NegativeControl(
        lambda: example(4.0), measure=lambda case: measure(case, 4.2), note="eta - 4.2 beta"
    ),
    proof="",
)
