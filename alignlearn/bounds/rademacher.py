"""Rademacher complexity of the predictors of a learned combination of kernels.

The class: x -> <w, phi_mu(x)> with |w| <= radius, the kernel K_mu = sum_k mu_k K_k, mu >= 0 and
||mu||_q <= 1. For signs sigma of the m samples the supremum of sum_i sigma_i f(x_i) is radius
(||u||_q*)^(1/2), u_k = sigma'K_k sigma and 1/q + 1/q* = 1, so the complexity, its mean over m, can
be enumerated or sampled, and bounded by moments of the u_k.

The bound of this module. For every integer r, E (sigma'K sigma)^r <= E (g'K g)^r with a standard
normal g: with K = Phi Phi', (2r-1)!! |v|^(2r) = E_g (g'v)^(2r), and E_sigma (a'sigma)^(2r) <=
(2r-1)!! |a|^(2r), the sharp inequality of Khintchine, taken at v = Phi'sigma and a = Phi g. The
moments on the right follow from the cumulants 2^(j-1) (j-1)! tr K^j, and tr K^j <= ||K||_F^2
lambda^(j-2) for lambda >= the largest eigenvalue. Then E ||u||_q* <= p^(max(0, 1/q* - 1/r)) (sum_k
E u_k^r)^(1/r) for every r, and the mean of the square root is at most the square root of the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, comb, factorial, log

import numpy as np

from alignlearn.validation import check_number, check_numbers

from .checks import check_size

MOST_SIGNS = 2**16
_POWERS = 24  # largest r; the best is about the logarithm of the number of kernels
# Cortes, Mohri and Rostamizadeh (2010), Generalization bounds for learning kernels, lemma 1.
_ETA_0 = 23 / 22


@dataclass(frozen=True)
class KernelSizes:
    """The statistics of p kernel matrices that the bounds use.

    Attributes
    ----------
    traces, squares, eigenvalues, diagonals : arrays (p,)
        tr K, ||K||_F^2, an upper bound of the largest eigenvalue, the largest diagonal entry (nan
        where only statistics are known).
    n_samples : int
    """

    traces: np.ndarray
    squares: np.ndarray
    eigenvalues: np.ndarray
    diagonals: np.ndarray
    n_samples: int


def gram_sizes(grams) -> KernelSizes:
    """The `KernelSizes` of kernel matrices (p, m, m)."""
    grams = np.asarray(grams, dtype=float)
    diagonals = np.diagonal(grams, axis1=1, axis2=2)
    traces, squares = diagonals.sum(1), np.square(grams).sum((1, 2))
    rows = np.abs(grams).sum(2).max(1)
    eigenvalues = np.minimum(rows, np.minimum(traces, np.sqrt(squares)))
    return KernelSizes(traces, squares, eigenvalues, diagonals.max(1), grams.shape[1])


def dual_norm(forms, q):
    """||u||_q* of the rows u >= 0 of (S, p)."""
    forms = np.maximum(forms, 0.0)
    if q == 1:
        return forms.max(1)
    power = 1.0 if np.isinf(q) else q / (q - 1)
    top = np.where(forms.max(1) > 0, forms.max(1), 1.0)
    return top * ((forms / top[:, None]) ** power).sum(1) ** (1 / power)


# -- signs ----------------------------------------------------------------------------


def sign_vectors(n) -> np.ndarray:
    """All (2^(n-1), n) vectors of signs whose first entry is 1; quadratic forms need no others.

    Raises
    ------
    ValueError
        If there are more than 2^16.
    """
    if n < 1 or 2 ** (n - 1) > MOST_SIGNS:
        raise ValueError(f"n={n} signs cannot be enumerated; accepted: 1 <= n <= 17.")
    bits = np.arange(2 ** (n - 1))[:, None] >> np.arange(n)[None, ::-1] & 1
    return 1.0 - 2.0 * bits


def quadratic_forms(kernels, signs) -> np.ndarray:
    """sigma'K_m sigma for kernels (p, n, n) and signs (S, n): (S, p)."""
    return np.stack([np.einsum("si,si->s", signs @ K, signs) for K in np.asarray(kernels)], axis=1)


# -- bounds ----------------------------------------------------------------------------


def class_bounds(sizes: KernelSizes, radius=1.0, q=1.0) -> dict:
    """Upper bounds of the empirical complexity, by name; see `LearnedComplexity`."""
    found = {
        "ours": moment_bound(sizes, q),
        "cortes-2010": cortes_bound(sizes, q),
        "lanckriet-2004": lanckriet_bound(sizes, q),
    }
    if q == 1 and not np.isnan(sizes.diagonals).any():
        found["cortes-2010-diagonal"] = cortes_diagonal_bound(sizes)
    m = sizes.n_samples
    return {name: float(radius / m * np.sqrt(value)) for name, value in found.items()}


def gaussian_moments(trace, square, eigenvalue, powers=_POWERS) -> np.ndarray:
    """Upper bounds of E (g'K g)^r, divided by (tr K)^r, for r = 1..powers.

    Parameters
    ----------
    trace, square, eigenvalue : float
        tr K > 0, ||K||_F^2 and an upper bound of the largest eigenvalue.
    """
    a, top = square / trace**2, eigenvalue / trace
    cumulants = [1.0]
    for j in range(2, powers + 1):
        cumulants.append(2.0 ** (j - 1) * factorial(j - 1) * a * top ** (j - 2))
    moments = [1.0]
    for n in range(1, powers + 1):
        terms = (comb(n - 1, j - 1) * cumulants[j - 1] * moments[n - j] for j in range(1, n + 1))
        moments.append(sum(terms))
    return np.array(moments[1:])


def moment_bound(sizes: KernelSizes, q=1.0) -> float:
    """The moment bound of E ||u||_q*, see the module."""
    used = sizes.traces > 0
    if not used.any():
        return 0.0
    given = zip(sizes.traces[used], sizes.squares[used], sizes.eigenvalues[used])
    moments = np.array([gaussian_moments(*values) for values in given])
    traces, r = sizes.traces[used], np.arange(1, _POWERS + 1)
    share, top = 1 - 1 / q, traces.max()
    # The exponent 1/q* is 1 - 1/q.
    sums = ((traces[:, None] / top) ** r * moments).sum(0) ** (1 / r)
    return float(top * (len(traces) ** np.maximum(0.0, share - 1 / r) * sums).min())


def cortes_bound(sizes: KernelSizes, q=1.0) -> float:
    """23/22 r ||(tr K_k)_k||_r, at the best integer r <= q* (theorems of the 2010 paper)."""
    top = sizes.traces.max()
    most = _POWERS if q == 1 else 1 if np.isinf(q) else max(1, int(q / (q - 1) + 1e-9))
    r = np.arange(1, min(most, _POWERS) + 1)
    if top == 0:
        return 0.0
    return float((_ETA_0 * r * top * ((sizes.traces[:, None] / top) ** r).sum(0) ** (1 / r)).min())


def cortes_diagonal_bound(sizes: KernelSizes) -> float:
    """23/22 e ceil(log p) m R^2 for K_k(x, x) <= R^2, q = 1."""
    rounds = max(1, ceil(log(len(sizes.traces))))
    return float(_ETA_0 * np.e * rounds * sizes.n_samples * sizes.diagonals.max())


def lanckriet_bound(sizes: KernelSizes, q=1.0) -> float:
    """The smaller of the sum of the traces and m times ||(lambda_k)_k||_q*."""
    by_eigenvalue = sizes.n_samples * dual_norm(sizes.eigenvalues[None], q)[0]
    return float(min(sizes.traces.sum(), by_eigenvalue))


# -- locally ---------------------------------------------------------------------------


def local_bound(eigenvalues, m, r, radius=1.0) -> float:
    """Upper bound on the complexity of the predictors of one kernel that are small on the samples.

    The class: x -> <w, phi(x)> with |w| <= radius and (1/m) sum_i f(x_i)^2 <= r. For all t in [0,
    1] its values v satisfy v'(t K^+/radius^2 + (1 - t)/(m r)) v <= 1, so the complexity is at most
    (1/m) (sum_j 1/(t/(radius^2 lambda_j) + (1 - t)/(m r)))^(1/2); the best t is taken. With t = 1/2
    it is at most ((2/m) sum_j min(r, radius^2 lambda_j/m))^(1/2), the bound of Mendelson (2003).

    Parameters
    ----------
    eigenvalues : array (n,)
        Of the matrix of the kernel on the samples, not negative; further ones are 0.
    m : int
        Number of samples.
    r : float > 0
        In squared units of the predictors.
    radius : float > 0

    Raises
    ------
    ValueError
        For a negative eigenvalue, or r, radius or m that is not positive.
    """
    values = check_numbers("eigenvalues", eigenvalues, 1)
    if values.min(initial=0.0) < 0:
        raise ValueError(f"eigenvalues must not be negative; got {values.min():.6g}.")
    m = check_size(m, 1)
    r = check_number("r", r, low=0.0, strict=True)
    radius = check_number("radius", radius, low=0.0, strict=True)
    values, level = radius**2 * values[values > 0], m * r
    low, high = 0.0, 1.0

    def squares(t):
        """Squared half-axes of the ellipsoid that mixes both constraints."""
        return 1 / (t / values + (1 - t) / level)

    for _ in range(60):  # their sum is convex in t
        t = (low + high) / 2
        slope = np.sum((1 - level / values) * (squares(t) / level) ** 2)
        low, high = (t, high) if slope < 0 else (low, t)
    ends = (np.sum(squares(t)) for t in (low, high, 0.0, 1.0))
    return float(np.sqrt(min(ends)) / m)


def local_radius(eigenvalues, m, radius=1.0) -> float:
    """The r* at which `local_bound` is r*, the fixed point of the complexity.

    Squared errors of regression in the class are of this order (Bartlett, Bousquet and Mendelson,
    2005); it falls as m^(-a/(1 + a)) for eigenvalues that fall as j^-a, and not as m^(-1/2).

    Parameters
    ----------
    eigenvalues : float array
        Of the Gram matrix, not negative.
    m : int
        Number of samples.
    radius : float > 0
    """
    low, high = 0.0, radius * np.sqrt(float(np.sum(eigenvalues))) / check_size(m, 1)  # t = 1
    for _ in range(60):
        middle = (low + high) / 2
        if middle == 0.0 or local_bound(eigenvalues, m, middle, radius) <= middle:
            high = middle
        else:
            low = middle
    return float(high)
