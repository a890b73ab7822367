"""The last step to (7), and the scale of the kernels.

Statement (after (27) of the paper): the geometric mean of x = d'A^-1 d + 2 tr P and y = b'A^-1 b +
4(rho - c) is replaced by the arithmetic one. Checked: the two bounds. Verdict: holds, but x has no
unit and y is a squared kernel, so (7) depends on the unit of the kernels: with K, Khat multiplied
by s and rho by s^2 the complexity is multiplied by s^(1/2), the geometric mean too, (7) is not.
Sharpened: keep the geometric mean (the arithmetic one at the best weight); proofs.md, section 7.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from alignlearn.bounds import neighbourhood

from ..claim import Claim, NegativeControl
from ..papers import P3
from .tasks import class_of, random_class
from .theorem_1 import identity_case

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    return random_class(draw) | {"scale": draw.log_real(1e-2, 1e2)}


def _bounds(case):
    return neighbourhood.neighbourhood_bounds(*class_of(case))


def rescaled(case):
    """Kernels and given matrices in another unit."""
    s = case["scale"]
    return case | {
        "kernels": [s * K for K in case["kernels"]],
        "targets": [s * target for target in case["targets"]],
        "rho": s**2 * case["rho"],
    }


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return _bounds(case).arithmetic


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return _bounds(case).geometric


# -- correction ------------------------------------------------------------------------


def sharp_bound(case):
    """The complexity and the two geometric means, in the unit of the case."""
    complexity = neighbourhood.neighbourhood_complexity(*class_of(case)).value
    found = _bounds(case)
    return np.sqrt(case["scale"]) * np.array([complexity, found.variance, found.geometric])


def sharp_measure(case):
    other = rescaled(case)
    complexity = neighbourhood.neighbourhood_complexity(*class_of(other)).value
    found = _bounds(other)
    return np.array([complexity, found.variance, found.geometric])


# -- negative control ------------------------------------------------------------------


def _control_case():
    return identity_case(scale=2.0)


def _arithmetic(case):
    found = np.array(sharp_bound(case))
    found[2] = np.sqrt(case["scale"]) * _bounds(case).arithmetic
    return found


# -- claim -----------------------------------------------------------------------------

SHARP = Claim(
    name="p3-am-gm-sharpened",
    source=f"{P3}, after (27), sharpened",
    statement=(
        r"B(sK, s\hat K, s^2\rho) = \sqrt s\,B(K, \hat K, \rho),\ B = \hat{\mathfrak R}"
        r" \text{ or the bound with } \sqrt{xy}"
    ),
    hypotheses="s > 0, a class that is not empty.",
    kind="identity",
    bound=sharp_bound,
    measure=sharp_measure,
    cases=cases,
    rtol=1e-7,
    negative_control=NegativeControl(_control_case, bound=_arithmetic, note="the arithmetic mean"),
    proof="7",
)

CLAIM = replace(
    SHARP,
    name="p3-am-gm",
    source=f"{P3}, after (27)",
    statement=r"\sqrt{xy} \le \tfrac12(x+y)",
    kind="upper",
    bound=bound,
    measure=measure,
    corrected=SHARP,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.95 * bound(case), note="0.95 of it"
    ),
    rtol=1e-9,
    proof="",
)
