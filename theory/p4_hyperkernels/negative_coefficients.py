"""Whether a negative coefficient makes the learned kernel indefinite.

Statement (after (2.3) of the 2020 paper): beta may be negative, which results in an indefinite
kernel. Checked: the smallest eigenvalue of the Gram matrix of k* on the points. Verdict: false; on
(-1, 0, 1) a coefficient -.2 at (-1, 1) beside 1 at (0, 0) leaves all eigenvalues positive. Correct,
for the Gaussian hyper-kernel: k* is positive semi-definite if for each midpoint the sum of
beta_p exp(-|x_i - x_j|^2/(2 v1)) over its pairs is not negative; proofs.md, section 4.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P4
from ..reference import hyper
from .problems import random_case, smallest_eigenvalue

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    case = random_case(draw, gaussian=True)
    beta = draw.array(len(case["X"]) ** 2)
    totals, group = by_midpoint(case | {"beta": beta})
    return case | {"beta": np.where(totals[group] < 0, -beta, beta)}


def by_midpoint(case):
    """sum beta_p exp(-|x_i - x_j|^2/(2 v1)) for each midpoint, and the midpoint of each pair."""
    S, T = hyper.ordered_pairs(case["X"])
    v1, _ = hyper.variances(**case["kernel"].keywords)
    _, group = np.unique(np.round((S + T) / 2, 12), axis=0, return_inverse=True)
    group = group.ravel()
    terms = case["beta"] * np.exp(-((S - T) ** 2).sum(1) / (2 * v1))
    return np.bincount(group, terms), group


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return 0.0


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    """The smallest eigenvalue, or minus infinity where no coefficient is negative."""
    if not case["beta"].min() < 0:
        return -np.inf
    return smallest_eigenvalue(
        hyper.learned_gram(case["X"], case["beta"], case["Z"], case["kernel"])
    )


# -- counterexample and correction -----------------------------------------------------


def counterexample():
    X = np.array([[-1.0], [0.0], [1.0]])
    beta = np.zeros((3, 3))
    beta[1, 1], beta[0, 2] = 1.0, -0.2
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.5)
    return {"X": X, "kernel": kernel, "beta": beta.ravel(), "Z": X}


def corrected_measure(case):
    gram = hyper.learned_gram(case["X"], case["beta"], case["Z"], case["kernel"])
    return float(np.linalg.eigvalsh(gram)[0])


# -- negative control ------------------------------------------------------------------


def _control_case():
    """Two midpoints far apart, so that each shows in an eigenvalue of its own."""
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.5)
    X = np.array([[0.0], [9.0]])
    return {"X": X, "kernel": kernel, "beta": np.array([1.0, 0.0, 0.0, 0.01]), "Z": X}


def _other_sign(case):
    return corrected_measure(case | {"beta": case["beta"] * [1, 1, 1, -1]})


# -- claim -----------------------------------------------------------------------------

CORRECTED = Claim(
    name="p4-negative-coefficients-corrected",
    source=f"{P4}, after (2.3), corrected",
    statement=(
        r"\forall c:\ \sum_{p:\,(s_p+t_p)/2=c}\beta_p e^{-\|s_p-t_p\|^2/(2v_1)} \ge 0"
        r"\ \Rightarrow\ k^* \succeq 0"
    ),
    hypotheses="Gaussian hyper-kernel.",
    kind="lower",
    bound=bound,
    measure=corrected_measure,
    cases=cases,
    scale=lambda case: np.abs(case["beta"]).sum() + 1e-300,
    negative_control=NegativeControl(
        _control_case, measure=_other_sign, note="one midpoint with -.01"
    ),
    proof="4",
)

CLAIM = replace(
    CORRECTED,
    name="p4-negative-coefficients",
    source=f"{P4}, after (2.3)",
    statement=r"\min_p \beta_p < 0 \Rightarrow k^* \text{ is indefinite}",
    hypotheses="Some coefficient is negative.",
    kind="upper",
    measure=measure,
    status="false",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample, measure=lambda case: measure(case) / 2, note="half the eigenvalue"
    ),
    proof="",
)
