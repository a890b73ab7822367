"""Non-negative coefficients and positive definite kernels.

Statement (section 2.2 of the 2020 paper): if all coefficients are positive, the learned kernel is
positive definite. Checked: the smallest eigenvalue of its Gram matrix. Verdict: holds after a fix.
Definition 2.1 lets f(p) f(q) in for every symmetric f, here xx' - 1, whose Gram matrix on {0, 1}
has eigenvalue -1.618. Correct with the condition that every section k(p, .) is a kernel, as for
the Gaussian hyper-kernel (if and only if 4 v2 >= v1) and the Wishart one; proofs.md, sections 1
and 4.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..claim import Claim, HypothesisNotMet, NegativeControl
from ..papers import P4
from ..reference import hyper
from .problems import random_case, smallest_eigenvalue

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    case = random_case(draw)
    return case | {"beta": np.abs(draw.array(len(case["X"]) ** 2))}


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return 0.0


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    gram = hyper.learned_gram(case["X"], case["beta"], case["Z"], case["kernel"])
    return float(np.linalg.eigvalsh((gram + gram.T) / 2)[0])


# -- counterexample and correction -----------------------------------------------------


def affine(S, T):
    """<s, t> - 1."""
    return (S * T).sum(1) - 1


def counterexample():
    X = np.array([[0.0], [1.0]])
    kernel = partial(hyper.product, function=affine)
    return {"X": X, "kernel": kernel, "beta": np.array([1.0, 0, 0, 0]), "Z": X}


def corrected_bound(case):
    S, T = hyper.ordered_pairs(case["X"])
    for s, t in zip(S[:, None], T[:, None]):
        section = case["kernel"](s, t, *hyper.ordered_pairs(case["Z"]))
        if smallest_eigenvalue(section.reshape(len(case["Z"]), -1)) < -1e-8:
            raise HypothesisNotMet("every section k(p, .) must be a kernel")
    return 0.0


# -- negative control ------------------------------------------------------------------


def _control_case():
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.0)
    X = np.array([[0.0], [0.5], [1.0], [1.5]])
    return {"X": X[:1], "kernel": kernel, "beta": np.ones(1), "Z": X}


def _narrow(case):
    """4 v2 = .9 v1, which no sigma_h >= 0 gives."""
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.225 - 1)
    return measure(case | {"kernel": kernel})


# -- claim -----------------------------------------------------------------------------

CORRECTED = Claim(
    name="p4-definite-coefficients-corrected",
    source=f"{P4}, section 2.2, corrected",
    statement=(
        r"\beta \ge 0,\ \underline{k}(p,\cdot) \succeq 0\ \forall p"
        r" \Rightarrow k^* \succeq 0"
    ),
    hypotheses="Every section of the hyper-kernel is a kernel.",
    kind="lower",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=lambda case: np.abs(case["beta"]).sum() + 1e-300,
    negative_control=NegativeControl(_control_case, measure=_narrow, note="4 v2 = .9 v1"),
    proof="4",
)

CLAIM = replace(
    CORRECTED,
    name="p4-definite-coefficients",
    source=f"{P4}, section 2.2",
    statement=r"\beta \ge 0 \Rightarrow k^* \succeq 0",
    hypotheses="A hyper-kernel as in definition 2.1.",
    bound=bound,
    status="holds after fix",
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
