"""The effect of shifting or rotating the data on the learned kernel.

Statement (section 2.1 of the 2020 paper): the learned kernel is invariant under translations and
rotations. Checked: k* at pairs and at the moved pairs, Gaussian hyper-kernel. Verdict: false; only
the hyper-kernel is, if all four points are moved. Correct: learning from moved points gives the
moved kernel; proofs.md, section 2.
"""

from functools import partial

import numpy as np

from ..prelude import P4, Claim, NegativeControl, Status, replace
from ..reference import hyper
from .problems import random_case, ridge_coefficients


def cases(draw):
    case = random_case(draw, gaussian=True)
    d = case["X"].shape[1]
    turn = np.linalg.qr(draw.array((d, d)) + 1e-3 * np.eye(d))[0]
    return case | {"T": draw.array((3, d)), "turn": turn, "shift": draw.array(d)}


def moved(case, points):
    """The points after the rotation and the shift of the case."""
    return points @ case["turn"] + case["shift"]


def learned_from(case, X, S, T):
    """k* of ridge regression on the points X, at the pairs (S, T)."""
    beta = ridge_coefficients(case | {"X": X})
    return hyper.learned(X, beta, S, T, case["kernel"])


def bound(case):
    return learned_from(case, case["X"], case["Z"], case["T"])


def measure(case):
    return learned_from(case, case["X"], moved(case, case["Z"]), moved(case, case["T"]))


def counterexample():
    """0.3925 against -0.1133 after a shift by 1."""
    X = np.array([[0.0], [1.0], [2.0]])
    y = np.array([1.0, -1.0, 1.0])
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.5)
    case = {"X": X, "kernel": kernel, "target": np.outer(y, y), "lam": 0.1}
    place = {"Z": np.array([[0.2]]), "T": np.array([[-0.3]])}
    return case | place | {"turn": np.eye(1), "shift": np.array([1.0])}


def all_moved(case):
    """The learned kernel if training and test points are moved."""
    points = (moved(case, case[name]) for name in ("X", "Z", "T"))
    return learned_from(case, *points)


def _moved_less(case):
    """The training points moved by 99% of the shift."""
    less = case | {"shift": 0.99 * case["shift"]}
    return learned_from(case, moved(less, case["X"]), *(moved(case, case[n]) for n in "ZT"))


CORRECTED = Claim(
    name="p4-invariance-corrected",
    source=f"{P4}, section 2.1, before Definition 2.1, corrected",
    statement=r"k^*_{gX}(gs, gt) = k^*_X(s, t)",
    hypotheses="g a motion; Gaussian hyper-kernel; k* depends on X through the hyper-kernel only.",
    kind="identity",
    bound=bound,
    measure=all_moved,
    cases=cases,
    scale=lambda case: np.abs(ridge_coefficients(case)).sum() + 1e-300,
    rtol=1e-8,
    negative_control=NegativeControl(
        counterexample, measure=_moved_less, note="training points moved 1 % less"
    ),
    proof="2",
)

CLAIM = replace(
    CORRECTED,
    name="p4-invariance",
    source=f"{P4}, section 2.1, before Definition 2.1",
    statement=r"k^*_X(gs, gt) = k^*_X(s, t)",
    measure=measure,
    status=Status.FALSE,
    remark=(
        "Only the hyper-kernel is invariant, when all four points move; the learned "
        "kernel moves with its training points and is not stationary."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample, bound=lambda case: 2 * bound(case), note="twice the value"
    ),
    proof="",
)
