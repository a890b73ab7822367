"""Which symmetric kernels are limits of kernels learned with a ladder of Gaussian hyper-kernels.

Statement (not in the 2020 paper, sharpens its introduction): with rates a_k = 1/(2 v1_k) the
learned kernel is sum_k exp(-a_k |s - t|^2) h_k((s + t)/2). On a compact set, for infinitely many
rates with a finite limit point, the uniform limits are all continuous functions of |s - t| and the
midpoint: in one dimension every continuous symmetric kernel, in more dimensions none that
distinguishes directions of s - t. A ladder of n rungs takes any values at n lengths around one
midpoint. Checked: the residual of such values, and the difference between two directions. Verdict:
holds; proofs.md, section 19.
"""

import numpy as np

from ..prelude import P4, Claim, NegativeControl, Status


def cases(draw):
    n = draw.integer(1, 3)
    return {
        "rates": draw.log_real(0.2, 2.0) * 4.0 ** -np.arange(n),
        "lengths": draw.log_real(0.3, 1.0) * 2.5 ** np.arange(n),
        "values": draw.array(n),
        "middle": draw.array(2),
        "angle": draw.real(0.1, 3.0),
        "center": draw.array(2),
    }


def _learned(case, weights, S, T):
    """sum_k exp(-a_k |s - t|^2) w_k phi((s + t)/2), phi a bump, 1 at the midpoint of the case."""
    between = (S + T) / 2 - case["middle"]
    bump = np.exp(-(between**2).sum(1)) * (1 + between @ case["center"])
    return bump * (np.exp(-np.outer(((S - T) ** 2).sum(1), case["rates"])) @ weights)


def bound(case):
    return np.zeros(2 * len(case["lengths"]))


def measure(case):
    """Residuals at the lengths, and differences between two directions."""
    directions = np.array([[1.0, 0.0], [np.cos(case["angle"]), np.sin(case["angle"])]])
    steps = case["lengths"][:, None, None] * directions / 2
    powers = np.exp(-np.outer(case["lengths"] ** 2, case["rates"]))
    weights = np.linalg.lstsq(powers, case["values"], rcond=None)[0]
    one, other = (
        _learned(case, weights, case["middle"] + steps[:, k], case["middle"] - steps[:, k])
        for k in (0, 1)
    )
    return np.r_[one - case["values"], one - other]


def _scale(case):
    """The weights at the midpoint, whose differences are the values."""
    powers = np.exp(-np.outer(case["lengths"] ** 2, case["rates"]))
    return 1.0 + np.abs(np.linalg.lstsq(powers, case["values"], rcond=None)[0]).sum()


def _control_case():
    """Three lengths and two rungs."""
    case = {"rates": np.array([1.0, 0.25]), "lengths": np.array([0.5, 1.0, 2.0])}
    case |= {"values": np.array([1.0, -1.0, 1.0]), "middle": np.zeros(2), "center": np.zeros(2)}
    return case | {"angle": 1.0}


CLAIM = Claim(
    name="p4-ladder-limits",
    source=f"{P4}, introduction, of sums over widths, new",
    status=Status.NEW,
    statement=(
        r"\overline{\{\sum_k e^{-a_k\|s-t\|^2}h_k(\tfrac{s+t}2)\}} = "
        r"\{g(\|s-t\|,\tfrac{s+t}2):g\text{ continuous}\}"
    ),
    hypotheses="A compact set, rates with a finite limit point; for n rungs n lengths.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    negative_control=NegativeControl(_control_case, note="one length more than rungs"),
    proof="19",
)
