"""Which kernels can be learned in a hyper-RKHS.

Statement (introduction of the 2020 paper): any positive definite kernel is a combination of
elements of the hyper-RKHS, and the kernel is learned freely there. Checked: the distance of a
target matrix from all expansions (2.3) with the Gaussian hyper-kernel. Verdict: false; on (-1, 0,
1) the pairs (-1, 1) and (0, 0) have one midpoint, and k*(-1, 1)/k*(0, 0) = exp(-2/sigma^2) for
all coefficients, so no yy' with different labels at the ends is reached. Correct: k*(s, t) =
exp(-|s - t|^2/(2 v1)) k*(c, c) with c = (s + t)/2; proofs.md, section 1. This holds for k*, not for
k* + b.
"""

from functools import partial

import numpy as np

from ..prelude import P4, Claim, NegativeControl, Status, replace
from ..reference import hyper
from .problems import random_case


def cases(draw):
    case = random_case(draw, gaussian=True)
    m, d = case["X"].shape
    return case | {"beta": draw.array(m * m), "T": draw.array((3, d))}


def bound(case):
    return 0.0


def measure(case):
    """The smallest distance of the target from K beta, relative to the target."""
    K, y = hyper.hyper_matrix(case["X"], case["kernel"]), case["target"].ravel()
    nearest = K @ np.linalg.lstsq(K, y, rcond=1e-12)[0]
    return float(np.linalg.norm(nearest - y) / max(np.linalg.norm(y), 1e-300))


def counterexample():
    X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([1.0, 1.0, -1.0])
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.5)
    case = {"X": X, "kernel": kernel, "target": np.outer(y, y), "lam": 0.1}
    return case | {"beta": np.arange(9.0) - 3.0, "Z": X[:2], "T": X[::-1][:2]}


def corrected_bound(case, factor=1.0):
    middle = (case["Z"] + case["T"]) / 2
    v1, _ = hyper.variances(**case["kernel"].keywords)
    shrink = np.exp(-factor * ((case["Z"] - case["T"]) ** 2).sum(1) / (2 * v1))
    return shrink * hyper.learned(case["X"], case["beta"], middle, middle, case["kernel"])


def values(case):
    """Values of the learned kernel at the pairs of Z and T."""
    return hyper.learned(case["X"], case["beta"], case["Z"], case["T"], case["kernel"])


def _wider(case):
    return corrected_bound(case, factor=0.98)


CORRECTED = Claim(
    name="p4-free-kernel-corrected",
    source=f"{P4}, section 1, corrected",
    statement=r"k^*(s,t) = e^{-\|s-t\|^2/(2v_1)}\, k^*\big(\tfrac{s+t}2,\tfrac{s+t}2\big)",
    hypotheses="Gaussian hyper-kernel, v1 = sigma^2 as printed, 2 sigma^2 for the integral.",
    kind="identity",
    bound=corrected_bound,
    measure=values,
    cases=cases,
    scale=lambda case: np.abs(case["beta"]).sum() + 1e-300,
    negative_control=NegativeControl(counterexample, bound=_wider, note="v1 too large by 2 %"),
    proof="1",
)

CLAIM = replace(
    CORRECTED,
    name="p4-free-kernel",
    source=f"{P4}, section 1",
    statement=r"\forall K\ \exists\beta:\ k^*(x_i, x_j) = K_{ij}",
    hypotheses="K a positive definite target.",
    kind="upper",
    bound=bound,
    measure=measure,
    scale=lambda case: 1.0,
    status=Status.FALSE,
    remark=(
        "The space of the Gaussian hyper-kernel does not contain every kernel: values at pairs "
        "with the same midpoint have a fixed positive ratio, so yy' cannot be learned on a grid."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample, measure=lambda case: measure(case) / 2, note="half the distance"
    ),
    proof="",
)
