"""Bounds of the change of the learned function when one of m training points is exchanged.

Kernel ridge regression minimizes lam0 ||h||^2 + (1/m) sum_i (h(x_i) - y_i)^2; lam0 has the units
of the kernel. Bounds are on |h'(x) - h(x)| at every x, in the units of y. ``radius2`` is R^2 >=
K_k(x, x) for every base kernel, ``l1`` an upper bound of ||mu||_1 for both samples,
``label_bound`` M >= |y|. P1 is Cortes, Mohri and Rostamizadeh (2012), P2 the same authors (2009);
proofs of what differs from them are in the ``proofs.md`` of their folders.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn.bounds.checks import HypothesisNotMet, check_positive, check_size, of_numbers


def _check(lam0, **values):
    check_positive("lam0", lam0, "the ridge lam0 must be positive.")
    for name, value in values.items():
        if not (value >= 0 and np.isfinite(value)):
            raise HypothesisNotMet(f"{name}={value!r} must be a finite number >= 0.")


@of_numbers()
def hypothesis_bound(label_bound, kappa, lam0) -> float:
    """|h(x)| <= (M/2) (kappa/lam0)^(1/2) for K(x, x) <= kappa; sharp. P1 has twice this.

    Raises
    ------
    ValueError
        If lam0 is not positive or another argument is negative.
    """
    _check(lam0, label_bound=label_bound, kappa=kappa)
    return label_bound / 2 * np.sqrt(kappa / lam0)


@of_numbers()
def residual_bound(label_bound, kappa, lam0) -> float:
    """|h(x) - y| <= M (1 + (kappa/lam0)^(1/2) / 2) for |y| <= M.

    Raises
    ------
    ValueError
        As `hypothesis_bound`.
    """
    return label_bound + hypothesis_bound(label_bound, kappa, lam0)


@of_numbers()
def krr_stability(m, kappa, lam0, residual, smallest_eigenvalue=0.0) -> float:
    """2 kappa M / (lambda_min + lam0 m) for one fixed kernel: theorem 2 of P2; sharp.

    Parameters
    ----------
    m : int
    kappa : float
        K(x, x) <= kappa.
    lam0 : float
    residual : float
        M >= |h(x) - y| of the old h at both exchanged points.
    smallest_eigenvalue : float
        Of the covariance operator sum_i Phi(x'_i) Phi(x'_i)'; 0 where the feature space has more
        than m dimensions.

    Raises
    ------
    ValueError
        If m < 1, lam0 is not positive or another argument is negative.
    """
    m = check_size(m, 1)
    _check(lam0, kappa=kappa, residual=residual, smallest_eigenvalue=smallest_eigenvalue)
    return 2 * kappa * residual / (smallest_eigenvalue + lam0 * m)


# -- two stages: weights first, then ridge regression ----------------------------------


@of_numbers()
def two_stage_stability_printed(m, radius2, lam0, label_bound, l1, change) -> float:
    """P1's theorem 16 as printed, which is false; see `two_stage_stability`.

    2 L1 R^2 M/(lam0 m) [1 + change/(2 lam0)].

    Parameters
    ----------
    change : float
        ||Delta mu||_s ||K_c||_{2,t} with 1/s + 1/t = 1.

    Raises
    ------
    ValueError
        If m < 1, lam0 is not positive or another argument is negative.
    """
    m = check_size(m, 1)
    _check(lam0, radius2=radius2, label_bound=label_bound, l1=l1, change=change)
    return 2 * l1 * radius2 * label_bound / (lam0 * m) * (1 + change / (2 * lam0))


@of_numbers("section_change")
def two_stage_stability(m, radius2, lam0, label_bound, l1, kernel_change, section_change):
    """The correct form of P1's theorem 16, for weights that change with the sample.

    2 kappa M_r/(lam0 m) + c M ||K_mu' - K_mu||_2/(lam0 m)
    + M ||k_mu'(x) - k_mu(x)||_2/(lam0 m^(1/2)).

    kappa = L1 R^2, M_r = `residual_bound`, c = min(kappa/lam0, (kappa/lam0)^(1/2)/2).

    Parameters
    ----------
    m : int
    radius2, lam0, label_bound, l1 : float
    kernel_change : float
        Spectral norm of K_mu' - K_mu on the old sample.
    section_change : float or array
        Euclidean norm of (K_mu'(x_i, x) - K_mu(x_i, x))_i, on the old sample, for each x of
        interest.

    Raises
    ------
    ValueError
        If m < 1, lam0 is not positive or another argument is negative.
    """
    m = check_size(m, 1)
    _check(lam0, radius2=radius2, label_bound=label_bound, l1=l1, kernel_change=kernel_change)
    for end in np.min, np.max:
        _check(lam0, section_change=float(end(section_change)))
    kappa = l1 * radius2
    first = krr_stability(m, kappa, lam0, residual_bound(label_bound, kappa, lam0))
    factor = min(kappa / lam0, np.sqrt(kappa / lam0) / 2)
    second = factor * label_bound * kernel_change / (lam0 * m)
    return first + second + label_bound * np.asarray(section_change) / (lam0 * np.sqrt(m))


@of_numbers()
def two_stage_stability_by_weights(m, radius2, lam0, label_bound, l1, weight_change) -> float:
    """`two_stage_stability` from ||mu' - mu||_1 alone.

    ||Delta K||_2 <= m R^2 ||Delta mu||_1 and ||Delta k||_2 <= m^(1/2) R^2 ||Delta mu||_1.

    O(1/m) only if ||Delta mu||_1 is O(1/m), which alignf does not have uniformly.

    Raises
    ------
    ValueError
        As `two_stage_stability`.
    """
    m = check_size(m, 1)
    step = radius2 * weight_change
    return float(
        two_stage_stability(m, radius2, lam0, label_bound, l1, m * step, np.sqrt(m) * step)
    )


class WeightChange(NamedTuple):
    """Bounds of ||v' - v||_2 and ||mu' - mu||_2 for alignf's solution, mu = v/||v||."""

    v: float
    mu: float


def alignf_change(a, M, a_new, M_new, v, v_new) -> WeightChange:
    """Bounds of the change of alignf's solution and of its weights.

    ||Delta v|| <= ||Delta a - Delta M v'|| / lambda_min(M) and
    ||Delta mu|| <= 2 ||Delta v||/(||v|| + ||v'||).

    From proposition 21 and lemma 20 of P1. Data dependent: alignf has no uniform stability that
    tends to 0.

    Parameters
    ----------
    a, a_new : arrays (p,)
    M, M_new : arrays (p, p)
        On the two samples.
    v, v_new : arrays (p,)
        argmin over v >= 0 of v'Mv - 2 v'a on each.

    Raises
    ------
    ValueError
        If M is singular or a solution is 0.
    """
    smallest = float(np.linalg.eigvalsh(M)[0])
    check_positive("lambda_min(M)", smallest, "M must be positive definite.")
    sizes = np.linalg.norm(v) + np.linalg.norm(v_new)
    if not min(np.linalg.norm(v), np.linalg.norm(v_new)) > 0:
        raise HypothesisNotMet("the solutions v and v' must not be 0.")
    change = float(np.linalg.norm((a_new - a) - (M_new - M) @ v_new) / smallest)
    return WeightChange(change, float(min(2.0, 2 * change / sizes)))


# -- one stage: L2-regularized learning of the kernel ----------------------------------


class Capacity(NamedTuple):
    """sup_x of K_mu(x, x) over the feasible mu, and the constant of the stability bound."""

    kernel: float
    stability: float


def lkrr_capacity(diagonals, mu0, radius) -> Capacity:
    """sup_x [mu0.k(x) + L ||k(x)||_2] and kappa_d, the same with 3 L; k(x) = (K_k(x, x))_k.

    Parameters
    ----------
    diagonals : array (n, p)
        K_k(x, x) for the points x of the supremum.
    mu0 : array (p,), non-negative
    radius : float
        L of {mu >= 0, ||mu - mu0||_2 <= L}.

    Raises
    ------
    ValueError
        If mu0, the radius or a diagonal has a negative entry.
    """
    k, mu0 = np.atleast_2d(np.asarray(diagonals, float)), np.asarray(mu0, float)
    if not ((mu0 >= 0).all() and (k >= 0).all() and radius >= 0):
        raise HypothesisNotMet("mu0 >= 0, L >= 0 and K_k(x, x) >= 0 are needed.")
    center, size = k @ mu0, np.linalg.norm(k, axis=1)
    return Capacity(
        float((center + radius * size).max()), float((center + 3 * radius * size).max())
    )


@of_numbers()
def lkrr_stability(m, lam0, residual, kappa_d) -> float:
    """|h'(x) - h(x)| <= 2 M kappa_d / (lam0 m) for L2-regularized kernel learning; sharp.

    Parameters
    ----------
    m : int
    lam0 : float
    residual : float
        M >= |h(x_m) - y_m| and |h'(x'_m) - y'_m| at the exchanged points.
    kappa_d : float
        `lkrr_capacity(...).stability`.

    Raises
    ------
    ValueError
        If m < 1, lam0 is not positive or another argument is negative.
    """
    m = check_size(m, 1)
    _check(lam0, residual=residual, kappa_d=kappa_d)
    return 2 * residual * kappa_d / (lam0 * m)


@of_numbers()
def lkrr_stability_printed(m, lam0, residual, kappa, radius, p) -> float:
    """P2's proposition 3 as printed: (C0 + C1 sqrt p)/(lam0 m). False; see `lkrr_stability`.

    C0 = 2 kappa M + 4 L M kappa^(1/2) (kappa/lam0 + 1), C1 = 16 L^2 M kappa^(3/2)/lam0.

    Raises
    ------
    ValueError
        If m < 1, lam0 is not positive or another argument is negative.
    """
    m = check_size(m, 1)
    _check(lam0, residual=residual, kappa=kappa, radius=radius, p=p)
    c0 = 2 * kappa * residual + 4 * radius * residual * np.sqrt(kappa) * (kappa / lam0 + 1)
    c1 = 16 * radius**2 * residual * kappa**1.5 / lam0
    return (c0 + c1 * np.sqrt(p)) / (lam0 * m)
