"""The stability of alignf for trace-normalized kernels as the sample grows.

Statement (conclusion of the remark after theorem 17 of the 2012 paper): with Tr K_k = 1, and L1,
lam0 (and R, M) constant, the learning bound converges as O(1/sqrt(m)). Checked: |h'(x) - h(x)| for
alignf on both samples, every kernel divided by its trace on the sample, against L1 M (R + R')/(lam0
sqrt(m)), from which such a bound follows. Verdict: true but degenerate: |h| and |h'| themselves
satisfy this bound, so it implies nothing about learning; proofs.md, section 13. An informative
alternative is the data-dependent bound of ||Delta v|| and ||Delta mu|| from the solutions;
proofs.md, section 15. The weights are those of the library's `nonnegative_qp`, the predictions of
`KernelRidge`.

`p1-alignf-flip`. The stability of alignf without that normalization. Not in the paper: for kernels
with K(x, x) = 1 one flipped label moves alignf from one kernel to another, and |h'(x) - h(x)| =
2/(1 + lam0) at a further point for every m >= 3, so that no constant over m bounds it; proofs.md,
section 13. Checked: the change at that point. Verdict: holds.
"""

import numpy as np

from ..bounds import stability
from ..prelude import (
    P1,
    Claim,
    HypothesisNotMet,
    NegativeControl,
    Status,
    alignf_terms,
    combine,
    replace,
)
from ..reference.exchange import (
    alignf_weights,
    fit_predict,
    flipped_label,
    labels_of,
    random_pair,
    rows_of,
    two_stage_change,
)
from ..reference.library import alignf_minimizer


def cases(draw):
    """Draw kernels of trace 1 on each sample and labels +-1, with alignf's weights on both."""
    case = random_pair(draw)
    m = len(case["y"])
    return _learned(case | {"y": draw.signs(m), "y_new": float(draw.signs(1)[0])})


def _learned(case):
    """Complete a case of given kernels with the weights of alignf on each sample."""
    for key, rows, y in zip(("", "_new"), rows_of(case), labels_of(case)):
        traces = np.trace(case["kernels"][:, rows][:, :, rows], axis1=1, axis2=2)
        scaled = case["kernels"] / np.maximum(traces, 1e-3)[:, None, None]
        case = case | {f"scaled{key}": scaled, f"mu{key}": alignf_weights(scaled, rows, y)}
    return case


def predictions(case):
    """h and h' at all points."""
    return [
        fit_predict(combine(case[f"mu{key}"], case[f"scaled{key}"]), rows, y, case["lam0"])
        for key, rows, y in zip(("", "_new"), rows_of(case), labels_of(case))
    ]


def sizes(case):
    """R/(lam0 m^(1/2)) on either sample, an upper bound of |h| for L1 = M = 1."""
    radii = [
        np.sqrt(np.diagonal(case[key], axis1=1, axis2=2).max()) for key in ("scaled", "scaled_new")
    ]
    return [radius / (case["lam0"] * np.sqrt(len(case["y"]))) for radius in radii]


def bound(case):
    """The right-hand side of the inequality: the sum of the bounds of both predictors."""
    return sum(sizes(case))


def measure(case):
    """The largest change of a prediction."""
    h, h_new = predictions(case)
    return np.abs(h_new - h).max()


def one_kernel(m=4, lam0=1e4):
    """Each bound is attained as the ridge grows: a constant kernel, and a further point."""
    x = np.r_[np.ones(m + 1), 3.0]
    y = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    return _learned({"kernels": np.outer(x, x)[None], "y": y, "y_new": -y[-1], "lam0": lam0})


def _terms(case):
    terms = []
    for rows, y in zip(rows_of(case), labels_of(case)):
        a, M = alignf_terms(case["kernels"][:, rows][:, :, rows], y)
        terms.append((a, M, alignf_minimizer(a, M)))
    (a, M, v), (b, N, w) = terms
    if np.linalg.eigvalsh(M)[0] < 1e-6 * max(np.diag(M).max(), np.diag(N).max(), 1e-9):
        raise HypothesisNotMet("M must be positive definite")
    if min(np.linalg.norm(v), np.linalg.norm(w)) < 1e-6:
        raise HypothesisNotMet("both solutions must be positive")
    return a, M, b, N, v, w


def corrected_bound(case):
    """Upper bounds of the changes of alignf's solutions and of their directions."""
    change = stability.alignf_change(*_terms(case))
    return np.array(change)


def corrected_measure(case):
    """The changes of alignf's solutions and of their directions."""
    *_, v, w = _terms(case)
    return np.array(
        [np.linalg.norm(w - v), np.linalg.norm(w / np.linalg.norm(w) - v / np.linalg.norm(v))]
    )


def _two_points():
    """m = 2, K = 11': h tends to the label mean, and the largest change to 1/(1 + lam0)."""
    return one_kernel(2, 1e4)


CORRECTED = Claim(
    name="p1-alignf-stability-corrected",
    source=f"{P1}, after Theorem 17, usable form",
    statement=(
        r"\|\Delta v\| \le \frac{\|\Delta a - \Delta M v'\|}{\lambda_{\min}(M)},\quad"
        r"\|\Delta\mu\| \le \frac{2\|\Delta v\|}{\|v\| + \|v'\|}"
    ),
    hypotheses="M positive definite, both solutions positive.",
    kind="upper",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    rtol=1e-5,
    negative_control=NegativeControl(
        lambda: flipped_label(6, 10.0),
        bound=lambda case: 0.9 * corrected_bound(case),
        note="0.9 of it",
    ),
    proof="15",
)

CLAIM = replace(
    CORRECTED,
    name="p1-alignf-stability",
    source=f"{P1}, section 4.3, conclusion after Theorem 17",
    statement=(
        r"\mathrm{Tr} K_k = 1:\ \sup_x|\Delta h(x)| \le"
        r" \tfrac{2\Lambda_1RM}{\lambda_0\sqrt m} \text{ for alignf}"
    ),
    hypotheses="Tr K_k = 1 on each sample, K_k(x, x) <= R^2, labels +-1.",
    bound=bound,
    measure=measure,
    status=Status.DEGENERATE,
    remark=(
        "With traces of 1 and a fixed ridge the O(1/m^(1/2)) is true because the "
        "predictions themselves vanish at that rate; without that normalization one label"
        " moves alignf's predictions by a constant at every m."
    ),
    trivial=bound,
    corrected=CORRECTED,
    rtol=1e-9,
    negative_control=NegativeControl(
        _two_points, bound=lambda case: 0.4 * bound(case), note="0.4 of it"
    ),
    proof="13",
)


# -- p1-alignf-flip --------------------------------------------------------------------


def flip_cases(draw):
    """Draw sample sizes and ridges."""
    return {"m": draw.integer(3, 40), "lam0": draw.log_real(1e-2, 1e3)}


def flip_bound(case):
    """2/(1 + lambda_0): the change due to the flipped label of the example."""
    return 2 / (1 + case["lam0"])


def flip_measure(case):
    """The change computed by fitting both samples."""
    return two_stage_change(flipped_label(case["m"], case["lam0"]))[-1]


FLIP = Claim(
    name="p1-alignf-flip",
    source=f"{P1}, after Theorem 17, new",
    status=Status.NEW,
    statement=(
        r"K(x, x) = 1:\ \sup_{S,S',x}|\Delta h(x)| \ge \tfrac{2}{1+\lambda_0}"
        r" \text{ for every } m \ge 3"
    ),
    hypotheses="alignf over two kernels, labels +-1.",
    kind="identity",
    bound=flip_bound,
    measure=flip_measure,
    cases=flip_cases,
    rtol=1e-7,
    extremes=lambda: [{"m": 200, "lam0": 10.0}],
    factors={"m^(-1/2)": lambda case: case["m"] ** -0.5},
    negative_control=NegativeControl(
        lambda: {"m": 10, "lam0": 10.0}, bound=lambda case: 0.95 * flip_bound(case), note="0.95"
    ),
    proof="13",
)
