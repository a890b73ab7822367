"""The price (loss of alignment) of learned weights: a fast oracle inequality for alignf.

Of p kernels with the centered operators C_k and a target T of length V, a_k = <C_k, T> and M_kl =
<C_k, C_l>. The weights of alignf minimize the sample's version of q(v) = v'M v - 2 v'a over v >= 0;
v* minimizes q itself, and has the largest alignment rho* of all combinations. With h = (M v - a) -
(M^ v - a^) at the learned v, the error of half the gradient of q, for every diagonal D >= 0 and eps
>= 0

    V^2 (rho*^2 - rho(v)_+^2) <= h'(M + eps D)^-1 h + eps |v - v*|_D^2,

|d|_D^2 = d'D d. The right-hand side is a square of a deviation, so it falls as 1/m where bounds of
|rho - rho_S| fall as m^(-1/2). With D = diag M, |v*|_D <= rho* V since no entry of M is negative.
`price_moments` and `learned_price_deviation` bound it with probability 1 - delta for unbiased
statistics, by Pinelis' inequality for means over quadruples. Proofs: ``p1_alignment/proofs.md``,
section 27.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn.bounds.checks import HypothesisNotMet, check_delta, check_positive, check_size


class PriceMoments(NamedTuple):
    """Second moments and largest lengths, over quadruples of points, in the norm of (M + eps D)^-1.

    Attributes
    ----------
    eps : float
    error, error_largest : float
        Of the error of half the gradient of q at v*.
    matrix, matrix_largest : float
        Of the error of M, times D^(-1/2) from the right.
    relative, relative_largest : float
        Of the error of M, in the norm of (M + eps D)^-1 from both sides.
    """

    eps: float
    error: float
    error_largest: float
    matrix: float
    matrix_largest: float
    relative: float
    relative_largest: float


def learned_price(M, a, M_sample, a_sample, weights, best, length2, eps=0.0) -> float:
    """Upper bound of rho*^2 - rho(v)_+^2 for the weights v that were learned from a sample.

    Parameters
    ----------
    M, M_sample : arrays (p, p)
        <C_k, C_l> of the population and of the sample.
    a, a_sample : arrays (p,)
        <C_k, T>.
    weights : array (p,)
        The v >= 0 of least v'M v - 2 v'a with the numbers of the sample.
    best : array (p,)
        That of the population.
    length2 : float
        V^2 = <T, T>.
    eps : float >= 0
        D is the diagonal of M.

    Raises
    ------
    HypothesisNotMet
        If length2 is not positive, or M + eps D is singular.
    """
    M, weights = np.asarray(M, dtype=float), np.asarray(weights, dtype=float)
    check_positive("length2", length2, "the target must vary")
    h = (M @ weights - a) - (np.asarray(M_sample) @ weights - a_sample)
    D = np.diagonal(M)
    W = M + eps * np.diag(D)
    try:
        root = np.linalg.cholesky(W)
    except np.linalg.LinAlgError:
        raise HypothesisNotMet("M + eps D must be positive definite; take eps > 0.") from None
    first = np.square(np.linalg.solve(root, h)).sum()
    return float((first + eps * D @ np.square(weights - best)) / length2)


def price_moments(h, shares, best, eps) -> PriceMoments:
    """The `PriceMoments` of a distribution of quadruples.

    Parameters
    ----------
    h : array (N, p + 1, p + 1)
        The kernel of the unbiased statistic (`u_statistics.quadruple_kernel`) for every pair of the
        p kernels and the target, which is last.
    shares : array (N,)
        Probabilities of the quadruples.
    best : array (p,)
        v*.
    eps : float >= 0
    """
    mean = np.einsum("n,nkl->kl", shares, h)
    M = mean[:-1, :-1]
    D = np.diagonal(M)
    values, vectors = np.linalg.eigh(M + eps * np.diag(D))
    if not values[0] > 0:
        raise HypothesisNotMet("M + eps D must be positive definite; take eps > 0.")
    root = (vectors / np.sqrt(values)) @ vectors.T
    error = h - mean
    matrix = root @ error[:, :-1, :-1]
    numbers = [
        np.square(matrix @ best - error[:, :-1, -1] @ root).sum(1),
        np.square(matrix / np.sqrt(D)).sum((1, 2)),
        np.square(matrix @ root).sum((1, 2)),
    ]
    found = [(float(shares @ z), float(np.sqrt(z[shares > 0].max()))) for z in numbers]
    return PriceMoments(float(eps), *found[0], *found[1], *found[2])


def learned_price_deviation(m, delta, moments, distance, length2) -> float:
    """Upper bound of rho*^2 - rho(v)_+^2, with probability 1 - delta, for unbiased statistics.

    The smaller of (x + z s)^2 + eps s^2 and x^2/(1 - 2 eta) + eps s^2, over V^2; x, z and eta bound
    the three errors of `PriceMoments` at once.

    Parameters
    ----------
    m : int >= 4
    delta : float in (0, 1)
    moments : PriceMoments
    distance : float
        s >= |v - v*|_D, such as |v|_D + rho* V.
    length2 : float
        V^2.
    """
    k, delta = check_size(m, 4) // 4, check_delta(delta)
    check_positive("length2", length2, "the target must vary")
    level = np.log(6 / delta)
    numbers = moments[1:3], moments[3:5], moments[5:]
    x, z, eta = (_mean_deviation(k, level, *pair) for pair in numbers)
    first = (x + z * distance) ** 2
    if eta < 0.5:
        first = min(first, x**2 / (1 - 2 * eta))
    return float((first + moments.eps * distance**2) / length2)


def _mean_deviation(k, level, second, largest):
    """Of the mean of k independent vectors of mean 0, by Pinelis: 2 exp(-level)."""
    return np.sqrt(2 * second * level / k) + 2 * largest * level / (3 * k)
