"""All m^2 ordered pairs against the m(m+1)/2 unordered ones.

Statement (not in the 2020 paper, for its (2.5), (2.8) and the non-negative baseline): with weights
w = 1 on the diagonal, 2 off it, and symmetrized targets, ridge regression is (K_r + lam W^-1)
gamma = y, support vector regression the same with |gamma_p| <= w_p C, non-negative least squares
weighted likewise. Checked: predictions of ridge regression for any target, the optimal values of
the other two for a symmetric one. Verdict: holds; proofs.md, section 5. The unweighted
system is another problem, and a target that is not symmetric reduces for square losses only.
"""

from functools import partial

import numpy as np

from ..prelude import P4, Claim, NegativeControl, Status
from ..reference import hyper
from ..reference.matrices import alignf_minimizer
from .problems import random_case, ridge_coefficients


def cases(draw):
    case = random_case(draw, most=3)
    skew = draw.array(case["target"].shape)
    return case | {"C": draw.log_real(0.05, 5.0), "eps": 0.1, "skew": skew - skew.T}


def reduced(case):
    """(K_r, y, w) on unordered pairs."""
    i, j, w = hyper.unordered_pairs(len(case["X"]))
    S, T = case["X"][i], case["X"][j]
    y = (case["target"] + case["target"].T)[i, j] / 2
    return case["kernel"](S, T, S, T), y, w


def nonnegative(K, y, w, lam):
    """min over gamma >= 0 of |W^(1/2)(K gamma - y)|^2 + lam gamma'K gamma: gamma and the value."""
    gamma = alignf_minimizer(K @ (w * y), K @ (w[:, None] * K) + lam * K)
    return gamma, float(w @ (K @ gamma - y) ** 2 + lam * gamma @ K @ gamma)


def _values(case, K, y, w):
    """The optimal values of support vector regression and of non-negative least squares."""
    *_, value = hyper.svr(K, y, w * case["C"], case["eps"])
    return np.array([value, nonnegative(K, y, w, case["lam"])[1]])


def bound(case, weighted=True):
    K, y, w = reduced(case)
    ridge = case["lam"] / (w if weighted else 1.0)
    gamma = np.linalg.solve(K + np.diag(ridge * np.ones(len(y))), y)
    i, j, _ = hyper.unordered_pairs(len(case["X"]))
    S, T = hyper.ordered_pairs(case["Z"])
    k = case["kernel"](S, T, case["X"][i], case["X"][j]) @ gamma
    return np.r_[k, _values(case, K, y, w)]


def measure(case):
    beta = ridge_coefficients(case | {"target": case["target"] + case["skew"]})
    k = hyper.learned_gram(case["X"], beta, case["Z"], case["kernel"]).ravel()
    K, y = hyper.hyper_matrix(case["X"], case["kernel"]), case["target"].ravel()
    return np.r_[k, _values(case, K, y, np.ones(len(y)))]


def _control_case():
    X, y = np.array([[0.0], [1.0]]), np.array([1.0, -1.0])
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.5)
    case = {"X": X, "kernel": kernel, "target": np.outer(y, y), "lam": 0.1, "Z": X}
    return case | {"C": 1.0, "eps": 0.1, "skew": np.zeros((2, 2))}


def _unweighted(case):
    return bound(case, weighted=False)


CLAIM = Claim(
    name="p4-symmetric-reduction",
    source=f"{P4}, (2.5) and (2.8), on unordered pairs, new",
    status=Status.NEW,
    statement=r"(K_r + \lambda W^{-1})\gamma = y,\ k^* = \sum_{i\le j}\gamma_{ij}\underline{k}",
    hypotheses="w = 1 for i = j, 2 for i < j; symmetric target for support vector regression.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: (1 + case["C"] + 1 / case["lam"]) * (np.abs(case["target"]).sum() + 1.0),
    rtol=1e-7,
    negative_control=NegativeControl(_control_case, bound=_unweighted, note="no weights"),
    proof="5",
)
