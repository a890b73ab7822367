"""The price of any weights (their loss of alignment) from a sample alone, by an oracle inequality.

Notation of `price`: M, a, q and V of the population, v* the best weights. The sample is split into
two parts. The first has M_1, the metric W = M_1 + eps D with D = diag M_1, and its own weights v_1.
The second has M_2, a_2 and bounds, each with its own probability,

    x >= |(M - M_2) v_1 - (a - a_2)|_W^-1,  eta >= |W^(-1/2) (M - M_2) W^(-1/2)|,
    l <= M_kk/D_k for all k,  V_low <= V <= V_high.

For any weights v >= 0, learned from any data, let r be half the gradient of the second part's q at
v, without its positive entries where v is 0 (so that r = 0 for weights that minimize it), X = x +
eta |v - v_1|_W + |r|_W^-1, and c the smallest eigenvalue of W^(-1/2) (M_2 + eps D) W^(-1/2) less
eta. If c > 0,

    V^2 (rho*^2 - rho(v)_+^2) <= X^2/c + eps (|v|_D + V l^(-1/2))^2.

x and eta are from Pinelis' inequality for means over quadruples of points, whose second moments
have empirical Bernstein bounds, like l and V. Proof: ``p1_alignment/proofs.md``, section 27.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn.validation import check_count, check_number, check_numbers, check_seed

from .checks import HypothesisNotMet, check_delta, check_size

EPS = (0.0, 0.001, 0.01, 0.1)  # candidates among which the first part chooses
_LEAST = 2  # quadruples in a part


class SamplePrice(NamedTuple):
    """An upper bound of rho*^2 - rho(v)_+^2 from a sample.

    Attributes
    ----------
    value : float
        At most 1, the trivial bound.
    eps : float
        Of the metric.
    gradient, matrix : float
        x and eta.
    residual : float
        |r|_W^-1.
    least : float
        c; where it is not positive ``value`` is 1.
    """

    value: float
    eps: float
    gradient: float
    matrix: float
    residual: float
    least: float


class _Metric(NamedTuple):
    """Results of the first part: M_1, v_1, D and W^(-1/2)."""

    M: np.ndarray
    weights: np.ndarray
    D: np.ndarray
    root: np.ndarray


def pair_sums(values, rows) -> np.ndarray:
    """K_12 + K_34, K_13 + K_24 and K_14 + K_23 of quadruples, less their mean over the three.

    Parameters
    ----------
    values : callable (i, j) -> array (p, n)
        Values of p kernels on n pairs of samples, for int arrays i, j (n,).
    rows : int array (n, 4)

    Returns
    -------
    float array (n, 3, p)
    """
    a, b, c, d = np.asarray(rows).T
    halves = ((a, b, c, d), (a, c, b, d), (a, d, b, c))
    found = [
        np.asarray(values(i, j), dtype=float) + np.asarray(values(k, n), dtype=float)
        for i, j, k, n in halves
    ]
    found = np.moveaxis(np.stack(found), -1, 0)
    return found - found.mean(axis=1, keepdims=True)


def price_from_sums(first, second, weights, widths, delta, eps=0.0, means=None) -> SamplePrice:
    """`SamplePrice` from `pair_sums` of disjoint quadruples of the two parts of a sample.

    Parameters
    ----------
    first, second : float arrays (n_1, 3, p + 1), (n_2, 3, p + 1)
        Of the p kernels and the target kernel, which is last.
    weights : array (p,)
        v >= 0.
    widths : array (p + 1,)
        Lengths of intervals that hold all values of the kernels: 1 for a Gaussian kernel, 2 for the
        target kernel of labels +-1.
    delta : float in (0, 1)
    eps : float >= 0
        Fixed without the second part.
    means : array (p + 1, p + 1), optional
        Unbiased statistics of the second part, means over quadruples in any orders of its points;
        default: means over the given quadruples.

    Raises
    ------
    HypothesisNotMet
        If a part has no two quadruples, weights are negative, or W is singular.
    """
    delta = check_delta(delta)
    first, second = (np.asarray(s, dtype=float) for s in (first, second))
    weights, widths = check_numbers("weights", weights, 1), check_numbers("widths", widths, 1)
    p = _checked_sizes(first, second, weights, widths)
    means = _means(second) if means is None else np.asarray(means, dtype=float)
    return _price(_metric(first, eps), second, weights, widths, delta, eps, means, p)


def price_of_sample(
    values, m, weights, delta, *, widths=None, share=0.15, orders=10, random_state=0
) -> SamplePrice:
    """How much larger the best squared alignment is than that of given weights, from the sample.

    Parameters
    ----------
    values : callable (i, j) -> array (p + 1, n)
        Values of the p kernels, and of the target kernel, which is last, on n pairs of samples, for
        int arrays i, j (n,); such as ``lambda i, j: grams[:, i, j]``. The samples are independent,
        and the kernels were fixed without them.
    m : int >= 16
        Number of samples.
    weights : array (p,)
        v >= 0 for the kernels as ``values`` has them, learned from the same samples or not.
    delta : float in (0, 1)
    widths : array (p + 1,), optional
        Lengths of intervals that hold all values of the kernels. Default: 1 for the kernels, whose
        values are in [0, 1], and 2 for the target kernel of labels +-1.
    share : float in (0, 1)
        Of the samples, in the first part.
    orders : int >= 1
        Random orders of the second part over which M_2 and a_2 are means.
    random_state : int, Generator or None
        Of the split and the orders.

    Raises
    ------
    HypothesisNotMet
        If m < 16, or `price_from_sums` raises it.
    """
    m, orders = int(check_size(m, 16)), check_count("orders", orders, optional=False)
    delta, weights = check_delta(delta), check_numbers("weights", weights, 1)
    widths = np.append(np.ones(len(weights)), 2.0) if widths is None else widths
    share = check_number("share", share, low=0.0, high=1.0, strict=True)
    rng = check_seed("random_state", random_state)
    order = rng.permutation(m)
    n = min(max(int(share * m) // 4, _LEAST), m // 4 - _LEAST)
    first = pair_sums(values, order[: 4 * n].reshape(n, 4))
    rest, used = order[4 * n :], (m - 4 * n) // 4 * 4
    parts = (rng.permutation(rest)[:used].reshape(-1, 4) for _ in range(orders - 1))
    second = pair_sums(values, rest[:used].reshape(-1, 4))
    means = np.mean([_means(second), *(_means(pair_sums(values, part)) for part in parts)], axis=0)
    eps = choose_eps(first, len(second), widths, delta)
    return price_from_sums(first, second, weights, widths, delta, eps, means)


def choose_eps(first, n, widths, delta) -> float:
    """That of `EPS` with the least bound if n quadruples had the moments of the first part."""
    delta = check_delta(delta)
    first, widths = np.asarray(first, dtype=float), np.asarray(widths, dtype=float)
    means, p = _means(first), first.shape[2] - 1
    weights, least = quadratic_weights(means[:-1, :-1], means[:-1, -1]), (np.inf, EPS[-1])
    for eps in EPS:
        try:
            metric = _metric(first, eps)
        except HypothesisNotMet:
            continue
        # The value is clipped to 1; values that are not positive are ordered by c.
        found = _price(metric, first, weights, widths, delta, eps, means, p, n)
        least = min(least, (found.value - min(found.least, 0.0), eps))
    return least[1]


def _checked_sizes(first, second, weights, widths):
    p = len(weights)
    if first.shape[1:] != (3, p + 1) or second.shape[1:] != (3, p + 1) or len(widths) != p + 1:
        raise ValueError(
            f"{p} weights need pair sums of shape (n, 3, {p + 1}) and {p + 1} widths; got "
            f"{first.shape}, {second.shape} and {len(widths)}."
        )
    if min(len(first), len(second)) < _LEAST:
        raise HypothesisNotMet(f"each part needs at least {4 * _LEAST} samples.")
    if weights.min() < 0 or widths.min() <= 0:
        raise HypothesisNotMet("weights must not be negative, and widths must be positive.")
    for sums in (first, second):
        if not np.isfinite(sums).all():
            raise ValueError("values of kernels must be finite; got NaN or infinite ones.")
        largest = np.square(sums).sum(axis=1).max(axis=0)
        if np.any(largest > 8 / 3 * widths**2 * (1 + 1e-9)):
            k = int(np.argmax(largest / widths**2))
            raise HypothesisNotMet(f"values of kernel {k} differ by more than widths[{k}].")
    return p


def _means(sums):
    """Means of h = (3/4) cov over quadruples."""
    return np.einsum("njk,njl->kl", sums, sums) / (4 * len(sums))


def _metric(first, eps):
    M = _means(first)
    D = np.diagonal(M)[:-1]
    if not D.min() > 0:
        raise HypothesisNotMet(f"kernel {int(np.argmin(D))} is constant on the first part.")
    values, vectors = np.linalg.eigh(M[:-1, :-1] + eps * np.diag(D))
    if not values[0] > 1e-12 * values[-1]:
        raise HypothesisNotMet("M + eps D of the first part is singular; take eps > 0.")
    root = (vectors / np.sqrt(values)) @ vectors.T
    return _Metric(M[:-1, :-1], quadratic_weights(M[:-1, :-1], M[:-1, -1]), D, root)


def _price(metric, second, weights, widths, delta, eps, means, p, n=None):
    """The bound of the theorem; for a forecast, ``n`` replaces the number of quadruples."""
    n = len(second) if n is None else n
    S, T = second[..., :-1], second[..., -1]
    top = _largest(metric.root, widths[:-1])
    level = np.log(12 / delta)
    residual = S @ metric.weights - T
    width = widths[:-1] @ metric.weights + widths[-1]
    x = _vector_deviation(S @ metric.root, residual, top, width, delta / 6, level, n)
    eta = _matrix_deviation(S @ metric.root, metric, top, delta / 6, level, n)
    squares = (S**2).sum(axis=1) / 4
    lower = [_lower(z, 2 / 3 * w**2, delta / (6 * p), n) for z, w in zip(squares.T, widths[:-1])]
    target, most = (T**2).sum(axis=1) / 4, 2 / 3 * widths[-1] ** 2
    length2 = _lower(target, most, delta / 12, n), _upper(target, most, delta / 12, n)
    M, a = means[:-1, :-1], means[:-1, -1]
    half = M @ weights - a
    r = np.linalg.norm(metric.root @ np.where(weights > 0, half, np.minimum(half, 0.0)))
    d = weights - metric.weights
    X = x + eta * np.linalg.norm(np.linalg.solve(metric.root, d)) + r
    W_of_M = metric.root @ (M + eps * np.diag(metric.D)) @ metric.root
    least = float(np.linalg.eigvalsh(W_of_M)[0] - eta)
    share = min(lower / metric.D)
    value = np.inf
    if least > 0 and length2[0] > 0 and (eps == 0 or share > 0):
        far = np.sqrt(weights**2 @ metric.D) + np.sqrt(length2[1] / share) if eps > 0 else 0.0
        value = (X**2 / least + eps * far**2) / length2[0]
    return SamplePrice(float(min(value, 1.0)), float(eps), float(x), float(eta), float(r), least)


def _largest(root, widths):
    """Upper bound of tr W^-1 H over quadruples: |H_kl| <= (2/3) w_k w_l."""
    inverse = root @ root
    by_entries = widths @ np.abs(inverse) @ widths
    return 2 / 3 * min(by_entries, np.linalg.norm(root, 2) ** 2 * (widths @ widths))


def _vector_deviation(S, residual, top, width, delta, level, n):
    """x: of the mean of xi = (1/4) sum_j s_j (s_j' v_1 - t_j), in the metric."""
    xi2 = np.square(np.einsum("njp,nj->np", S, residual) / 4).sum(axis=1)
    largest = np.sqrt(top * 2 / 3) * width
    second = min(_upper(xi2, largest**2, delta, n), largest**2)
    return _deviation(n, level, second, min(2 * largest, largest + np.sqrt(second)))


def _matrix_deviation(S, metric, top, delta, level, n):
    """eta: of the mean of H = (1/4) sum_j s_j s_j' in the metric, in the Hilbert-Schmidt norm."""
    A = metric.root @ metric.M @ metric.root
    size2 = np.square(np.einsum("njp,nip->nji", S, S) / 4).sum(axis=(1, 2))
    cross = np.einsum("njp,pq,njq->n", S, A, S) / 4
    whole = np.square(A).sum()
    far2 = size2 - 2 * cross + whole
    second = _upper(np.maximum(far2, 0.0), top**2 + whole, delta, n)
    mean = min(np.sqrt(whole) + np.sqrt(second), top)
    return _deviation(n, level, second, np.hypot(top, mean))


def _deviation(n, level, second, largest):
    """Of the mean of n independent vectors of mean 0, by Pinelis: 2 exp(-level)."""
    linear = largest * level / (3 * n)
    return linear + np.sqrt(linear**2 + 2 * second * level / n)


def _upper(values, largest, delta, n):
    """`held_out.empirical_bernstein_upper` for n values with the moments of these."""
    level = np.log(2 / delta)
    spread = np.sqrt(2 * values.var(ddof=1) * level / n)
    return float(values.mean() + spread + 7 * largest * level / (3 * (n - 1)))


def _lower(values, largest, delta, n):
    return largest - _upper(largest - values, largest, delta, n)


def quadratic_weights(M, a) -> np.ndarray:
    """The v >= 0 of least v'M v - 2 v'a, of a positive semi-definite M, by active sets.

    Parameters
    ----------
    M : array (p, p)
    a : array (p,)
    """
    from scipy.optimize import nnls

    M, a = np.asarray(M, dtype=float), np.asarray(a, dtype=float)
    values, vectors = np.linalg.eigh(M)
    used = values > 1e-14 * values[-1]
    if not used.any():
        return np.zeros(len(a))
    root = (np.sqrt(values[used]) * vectors[:, used]).T
    return nnls(root, (vectors[:, used].T @ a) / np.sqrt(values[used]), maxiter=100 * len(a))[0]
