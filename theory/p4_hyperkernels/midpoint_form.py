"""Every kernel learned with the Gaussian hyper-kernel is a Gaussian times a sum of rank one.

Statement (not in the 2020 paper; sharpens its sections 2.1 and 2.3): k*(s, t) = exp(-|s - t|^2
(1/(2 v1) - 1/(8 v2))) sum_p c_p phi_p(s) phi_p(t) with phi_p(s) = exp(-|s - mid_p|^2/(4 v2)) and
c_p = gamma_p exp(-|x_i - x_j|^2/(2 v1)); the hyper-kernel is q_ij q_rs a_ir a_is a_jr a_js.
Checked: both forms, and that no factor exceeds 1. Verdict: holds; proofs.md, section 1.
"""

from functools import partial

import numpy as np

from ..prelude import P4, Claim, NegativeControl, Status
from ..reference import hyper
from .problems import random_case


def cases(draw):
    case = random_case(draw, gaussian=True)
    m, d = case["X"].shape
    return case | {"beta": draw.array(m * m), "T": draw.array((3, d))}


def bound(case, width=4.0):
    v1, v2 = hyper.variances(**case["kernel"].keywords)
    rate = 1 / (2 * v1) - 1 / (8 * v2)
    S, T = hyper.ordered_pairs(case["X"])
    c = case["beta"] * np.exp(-((S - T) ** 2).sum(1) / (2 * v1))
    left, right = (
        np.exp(-hyper.squared_distances(case[name], (S + T) / 2) / (width * v2)) for name in "ZT"
    )
    shrink = np.exp(-rate * ((case["Z"] - case["T"]) ** 2).sum(1))
    q, a = (np.exp(-f * hyper.squared_distances(case["X"], case["X"])) for f in (rate, 1 / 8 / v2))
    table = np.einsum("ij,rs,ir,is,jr,js->ijrs", q, q, a, a, a, a).ravel()
    return np.r_[shrink * ((left * right) @ c), table, 0.0]


def measure(case):
    v1, v2 = hyper.variances(**case["kernel"].keywords)
    values = hyper.learned(case["X"], case["beta"], case["Z"], case["T"], case["kernel"])
    table = hyper.hyper_matrix(case["X"], case["kernel"]).ravel()
    return np.r_[values, table, max(0.0, v1 - 4 * v2)]


def _control_case():
    X = np.array([[0.0], [1.0]])
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.5, convention="kondor-jebara")
    case = {"X": X, "kernel": kernel, "beta": np.array([1.0, -0.5, -0.5, 0.3])}
    return case | {"Z": np.array([[0.4]]), "T": np.array([[-1.0]])}


def _narrow(case):
    return bound(case, width=3.95)


CLAIM = Claim(
    name="p4-midpoint-form",
    source=f"{P4}, sections 2.1 and 2.3, sharpened, new",
    status=Status.NEW,
    statement=(
        r"k^*(s,t) = e^{-\|s-t\|^2(\frac1{2v_1}-\frac1{8v_2})}\sum_p c_p\varphi_p(s)\varphi_p(t),"
        r"\ \underline{k}_{(i,j),(r,s)} = q_{ij}q_{rs}a_{ir}a_{is}a_{jr}a_{js}"
    ),
    hypotheses="Gaussian hyper-kernel; v2 = sigma^2 + sigma_h^2, so that 4 v2 >= v1.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: np.abs(case["beta"]).sum() + 1.0,
    negative_control=NegativeControl(_control_case, bound=_narrow, note="3.95 v2 in place of 4"),
    proof="1",
)
