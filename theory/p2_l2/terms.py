"""The quantities of the stability proof of the 2009 paper.

A case is one of `exchange` with ``mu0`` and ``radius``. Reading: h and h' are the solutions on S
and S', primes belong to S'; v~ and alpha~ belong to the old weights on the new sample, alpha~ =
(K_mu(S') + lam)^-1 y', so that Delta_K = (') - (~) and Delta_S = (~) - (unprimed). The other
reading of alpha in the vectors Phi_k alpha (the old sample instead of alpha~ on the new one) is
available, and refuted too. The solutions are those of the library's `LKRR`.
"""

from typing import NamedTuple

import numpy as np

from ..prelude import HypothesisNotMet, combine, krr
from ..reference.exchange import LARGEST_RIDGE, labels_of, rows_of
from ..reference.learners import quadratic_forms
from ..reference.library import lkrr
from .lemma_1 import linear_map


class Terms(NamedTuple):
    """Solutions on both samples and the intermediate ones; arrays over kernels or points."""

    mu: np.ndarray
    mu_new: np.ndarray
    alpha: np.ndarray
    alpha_mid: np.ndarray
    alpha_new: np.ndarray
    v: np.ndarray
    v_mid: np.ndarray
    v_new: np.ndarray
    blocks: np.ndarray  # K_k(S), (p, m, m)
    blocks_new: np.ndarray  # K_k(S')


def terms(case) -> Terms:
    """Solve on both samples."""
    (old, new), (y, y_new) = rows_of(case), labels_of(case)
    lam = case["lam0"] * len(y)
    blocks = case["kernels"][:, old][:, :, old]
    blocks_new = case["kernels"][:, new][:, :, new]
    alpha, mu = lkrr(blocks, y, lam, case["mu0"], case["radius"])
    alpha_new, mu_new = lkrr(blocks_new, y_new, lam, case["mu0"], case["radius"])
    alpha_mid = krr(combine(mu, blocks_new), y_new, lam)
    v, v_new = quadratic_forms(blocks, alpha), quadratic_forms(blocks_new, alpha_new)
    for forms, solution, K in ((v, alpha, blocks), (v_new, alpha_new, blocks_new)):
        if not forms.max() > 1e-9 * (solution @ solution) * np.abs(K).max():
            raise HypothesisNotMet("v and v' must not be zero")
    v_mid = quadratic_forms(blocks_new, alpha_mid)
    return Terms(mu, mu_new, alpha, alpha_mid, alpha_new, v, v_mid, v_new, blocks, blocks_new)


def vector_size(case, t: Terms, change, old_alpha=False) -> float:
    """||sum_k Delta mu_k (Phi_k alpha)'|| for orthogonal kernels, Delta mu from a change of v."""
    step = case["radius"] * linear_map(t.v, t.v_new, change)
    squares = t.v if old_alpha else t.v_mid
    return float(np.sqrt((step**2 * np.maximum(squares, 0)).sum()))


def random_case(draw):
    """Draw random kernels; in the direct sum of their feature spaces any kernels are orthogonal."""
    m, p = draw.integer(1, 4), draw.integer(1, 3)
    form = draw.choice(("generic", "saturated"))
    kernels = np.array([draw.kernel(m + 2, form) for _ in range(p)])
    return {
        "kernels": draw.log_real(1e-2, 1e2) * kernels,
        "y": draw.array(m) + 0.1,
        "y_new": float(draw.array(1)[0]) + 0.2,
        "lam0": draw.log_real(1e-2, LARGEST_RIDGE),
        "mu0": np.ones(p),
        "radius": draw.log_real(1e-2, 1e4),
    }


def disjoint_case(scale, lam0, radius):
    """One point, moved from where only K_1 is nonzero to where only K_2 is."""
    kernels = scale * np.array([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])])
    case = {"kernels": kernels, "y": np.ones(1), "y_new": 1.0, "lam0": lam0}
    return case | {"mu0": np.ones(2), "radius": radius}


def diagonals(case):
    """K_k(x, x) at all points, (N, p)."""
    return np.diagonal(case["kernels"], axis1=1, axis2=2).T
