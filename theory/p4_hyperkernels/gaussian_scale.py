"""The constant in front of the Gaussian hyper-kernel.

Statement (section 2.3 of the 2020 paper): the hyper-kernel has the factor (2 pi sigma^2)^-d (2 pi
(sigma^2 + sigma_h^2))^(-d/2). Checked: in double precision the factor must not be 0 or infinite.
Verdict: holds after a fix; log10 of it is -404 at d = 300, sigma = sigma_h = 1. Leave it out:
ridge regression with c K and lam is that with K and lam/c, support vector regression with c K and
C that with K and c C; proofs.md, section 9.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from alignlearn.bounds.hyper_rates import gaussian_log10_constant

from ..claim import Claim, NegativeControl
from ..papers import P4
from ..reference import hyper
from ..reference.matrices import krr
from .problems import random_case

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    case = random_case(draw, most=3, gaussian=True)
    size = {"dimension": draw.integer(1, 400), "sigma2": draw.log_real(1e-2, 1e2)}
    more = {"sigma_h2": draw.log_real(1e-2, 1e2), "c": draw.log_real(1e-2, 1e2)}
    return case | size | more | {"C": draw.log_real(0.05, 1.0), "eps": 0.1}


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    """The factor's logarithm to base 10."""
    return gaussian_log10_constant(case["dimension"], case["sigma2"], case["sigma_h2"])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    """The same after a trip through double precision, held to +-400 where it is 0 or infinite."""
    d, two_pi = case["dimension"], 2 * np.pi
    with np.errstate(all="ignore"):
        factor = np.float64(two_pi * case["sigma2"]) ** -d
        factor *= np.float64(two_pi * (case["sigma2"] + case["sigma_h2"])) ** (-d / 2)
        return float(np.clip(np.log10(factor), -400, 400))


# -- counterexample and correction -----------------------------------------------------


def counterexample():
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=1.0)
    X, y = np.array([[0.0], [1.0]]), np.array([1.0, -1.0])
    case = {"X": X, "kernel": kernel, "target": np.outer(y, y), "lam": 0.1, "c": 3.0}
    return case | {"C": 0.5, "eps": 0.1, "dimension": 300, "sigma2": 1.0, "sigma_h2": 1.0}


def _fits(case, c, lam, C):
    """k* of ridge regression and of support vector regression (b may not be unique), with c K."""
    K, y = c * hyper.hyper_matrix(case["X"], case["kernel"]), case["target"].ravel()
    beta, *_ = hyper.svr(K, y, C, case["eps"])
    return np.r_[K @ krr(K, y, lam), K @ beta]


def corrected_bound(case):
    return _fits(case, 1.0, case["lam"] / case["c"], case["c"] * case["C"])


def corrected_measure(case):
    return _fits(case, case["c"], case["lam"], case["C"])


# -- negative control ------------------------------------------------------------------


def _control_case():
    return counterexample() | {"c": 1.05}


def _same_parameters(case):
    return _fits(case, 1.0, case["lam"], case["C"])


# -- claim -----------------------------------------------------------------------------

CORRECTED = Claim(
    name="p4-gaussian-scale-corrected",
    source=f"{P4}, section 2.3, corrected",
    statement=r"k^*(c\underline{k}, \lambda, C) = k^*(\underline{k}, \lambda/c, cC)",
    hypotheses="c > 0.",
    kind="identity",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    scale=lambda case: np.abs(case["target"]).sum() + 1.0,
    rtol=1e-4,
    negative_control=NegativeControl(
        _control_case, bound=_same_parameters, note="parameters unchanged for c = 1.05"
    ),
    proof="9",
)

CLAIM = replace(
    CORRECTED,
    name="p4-gaussian-scale",
    source=f"{P4}, section 2.3",
    statement=r"(2\pi\sigma^2)^{-d}(2\pi(\sigma^2+\sigma_h^2))^{-d/2}",
    hypotheses="Computed in double precision.",
    bound=bound,
    measure=measure,
    scale=lambda case: 1.0,
    status="holds after fix",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        lambda: counterexample() | {"dimension": 14},
        bound=lambda case: 1.05 * bound(case),
        note="5 % more",
    ),
    proof="",
)
