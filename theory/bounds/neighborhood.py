"""Rademacher complexity of the multi-task class of kernels near target matrices.

The class. T tasks, the samples of task t with p kernel matrices K_t^m and a target matrix Khat_t;
the functions <w_t, phi_t> of the kernels K_t = sum_m theta_t^m K_t^m with theta >= 0, sum_t ||K_t
- Khat_t||_F^2 <= rho and sum_t ||w_t||^2 <= R, without a bias. The complexity is the mean over
signs of the supremum of (1/N) sum_t sigma_t'f_t, N the number of samples of all tasks (n T for
equal tasks). For given signs it is (R max_theta sum_t theta_t'u_t)^(1/2)/N, u_t^m = sigma_t'K_t^m
sigma_t. Only systems with (p, p) matrices are solved, by pseudo-inverses, because the paper's
matrix A is singular for any kernels. Proofs are in ``p3_multitask/proofs.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from alignlearn.bounds.checks import HypothesisNotMet
from alignlearn.bounds.rademacher import MOST_SIGNS, quadratic_forms, sign_vectors
from alignlearn.validation import check_number

# Eigenvalues of a (p, p) matrix of cosines below this share of the largest are taken to be 0.
_RANK = 1e-10
_MOST_KERNELS = 12


class Task(NamedTuple):
    """Statistics of one task that the bounds use: p numbers and (p, p) matrices.

    Attributes
    ----------
    gram : array (p, p)
        <K^i, K^j>_F.
    traces : array (p,)
    products : array (p,)
        <K^m, Khat>_F.
    square : float
        ||Khat||_F^2.
    diagonals : array (p, p)
        sum_i K^k_ii K^l_ii.
    size : int
        n, the number of samples.
    """

    gram: np.ndarray
    traces: np.ndarray
    products: np.ndarray
    square: float
    diagonals: np.ndarray
    size: int


class Projections(NamedTuple):
    """Sums over the tasks of projections onto the span of the kernels, P = V V^+.

    Attributes
    ----------
    trace_square : float
        ||P vec I||^2 = d'A^+d.
    trace_target : float
        <P vec I, v> = d'A^+b/2.
    distance : float
        ||(I - P) v||^2, the squared distance of the target matrices to the span.
    target : float
        ||P v||^2 = b'A^+b/4.
    rank : int
        tr P.
    diagonal : float
        Sum of the diagonal entries of P at (i, i).
    """

    trace_square: float
    trace_target: float
    distance: float
    target: float
    rank: int
    diagonal: float


class NeighborhoodBounds(NamedTuple):
    """Upper bounds on the complexity, from the sharpest to the printed one.

    Attributes
    ----------
    variance : float
        Geometric mean with the exact E[u'A^+u].
    geometric : float
        The geometric mean with d'A^+d + 2 tr P in place of the expectation.
    arithmetic : float
        The arithmetic mean of the same two terms.
    printed : float
        (7), which is also larger by T^(1/2): it has one constraint per task in place of their sum.
    """

    variance: float
    geometric: float
    arithmetic: float
    printed: float


class Complexity(NamedTuple):
    """A Rademacher complexity; the standard error is 0 where all signs were enumerated."""

    value: float
    standard_error: float


def tasks_of(kernels, targets) -> list[Task]:
    """The `Task` of each pair of kernels (p, n_t, n_t) and target matrix (n_t, n_t).

    Raises
    ------
    ValueError
        If the shapes do not agree or there is no task.
    """
    if len(kernels) != len(targets) or not len(kernels):
        raise ValueError(
            f"kernels and targets have {len(kernels)} and {len(targets)} tasks; accepted: the same "
            "number, at least 1."
        )
    found = []
    for K, target in zip(kernels, targets):
        K, target = np.asarray(K, dtype=float), np.asarray(target, dtype=float)
        if K.ndim != 3 or K.shape[1] != K.shape[2] or target.shape != K.shape[1:]:
            raise ValueError(
                f"a task has kernels of shape {K.shape} and a given matrix of shape "
                f"{target.shape}; accepted: (p, n, n) and (n, n)."
            )
        diagonals = np.diagonal(K, axis1=1, axis2=2)
        gram, products = np.einsum("kij,lij->kl", K, K), np.einsum("kij,ij->k", K, target)
        square = float((target**2).sum())
        products_of_diagonals = diagonals @ diagonals.T
        found.append(
            Task(gram, diagonals.sum(1), products, square, products_of_diagonals, len(target))
        )
    return found


def pseudo_inverse(gram):
    """(G^+, rank) of a positive semi-definite (p, p); the rank after scaling the diagonal to 1."""
    size = np.sqrt(np.diag(gram))
    scale = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    kept = values > _RANK * max(values[-1], 0.0)
    root = vectors[:, kept] / np.sqrt(values[kept])
    # A generalized inverse; it is applied only to vectors in the range of G, where all of them
    # agree.
    inverse = (root @ root.T) / np.outer(scale, scale)
    return inverse, int(kept.sum())


def projections(tasks) -> Projections:
    """The `Projections` of tasks."""
    total = np.zeros(6)
    for task in tasks:
        inverse, rank = pseudo_inverse(task.gram)
        along = float(task.products @ inverse @ task.products)
        total += (
            task.traces @ inverse @ task.traces,
            task.traces @ inverse @ task.products,
            max(task.square - along, 0.0),
            along,
            rank,
            np.sum(inverse * task.diagonals),
        )
    return Projections(*total[:4], int(total[4]), float(total[5]))


def check_class(tasks, rho) -> float:
    """How far rho exceeds the minimum over theta >= 0 of the sum of squared distances.

    Raises
    ------
    HypothesisNotMet
        If the class is empty.
    """
    check_number("rho", rho, low=0.0)
    least = distance_to_cone(tasks)
    size = sum(task.square for task in tasks)
    if least > rho + 1e-12 * size:
        raise HypothesisNotMet(
            f"rho={rho:.6g}: the class is empty, the target matrices are {least:.6g} (squared "
            "distance) away from the non-negative combinations."
        )
    return rho - least


def distance_to_cone(tasks) -> float:
    """min over theta >= 0 of sum_t ||K_t - Khat_t||_F^2.

    Raises
    ------
    ValueError
        For more than 12 kernels, because every support is tried.
    """
    nothing = np.zeros((1, len(tasks), max(len(task.traces) for task in tasks)))
    inverses = [_supports(task) for task in tasks]
    return max(float(_at(tasks, nothing, inverses, np.zeros(1))[0][0]), 0.0)


def neighborhood_bounds(kernels, targets, radius, rho) -> NeighborhoodBounds:
    """Upper bounds on the complexity of the class.

    Parameters
    ----------
    kernels : sequence of T arrays (p, n_t, n_t)
    targets : sequence of T arrays (n_t, n_t)
        The matrices Khat_t, of any sign.
    radius : float
        R >= sum_t ||w_t||^2, not squared.
    rho : float
        In the units of the squared kernels.

    Raises
    ------
    ValueError
        If the shapes do not agree, a number is negative, the class is empty, or a task has more
        than 12 kernels.
    """
    return bounds_of_tasks(tasks_of(kernels, targets), radius, rho)


def bounds_of_tasks(tasks, radius, rho) -> NeighborhoodBounds:
    """`neighborhood_bounds` computed from a list of `Task` statistics."""
    check_number("radius", radius, low=0.0)
    check_class(tasks, rho)
    found = projections(tasks)
    room = max(4 * (rho - found.distance), 0.0)
    linear = 2 * found.trace_target
    lemma = found.trace_square + 2 * found.rank
    exact = lemma - 2 * found.diagonal
    front = np.sqrt(radius / 2) / sum(task.size for task in tasks)

    def root(inside):
        return float(front * np.sqrt(max(linear + inside, 0.0)))

    arithmetic = root((lemma + room) / 2)
    return NeighborhoodBounds(
        root(np.sqrt(max(exact, 0.0) * room)),
        root(np.sqrt(lemma * room)),
        arithmetic,
        arithmetic * float(np.sqrt(len(tasks))),
    )


# -- the complexity itself -------------------------------------------------------------


def all_forms(kernels) -> Iterator[np.ndarray]:
    """The forms u (S, T, p) of all signs of all tasks, in blocks.

    Raises
    ------
    ValueError
        If there are more than 2^16 combinations.
    """
    each = [quadratic_forms(K, sign_vectors(np.shape(K)[-1])) for K in kernels]
    count = int(np.prod([float(len(u)) for u in each]))
    if count > MOST_SIGNS:
        raise ValueError(f"{count} combinations of signs; accepted: at most {MOST_SIGNS}.")
    index = np.array(list(product(*[range(len(u)) for u in each])))
    yield np.stack([u[i] for u, i in zip(each, index.T)], axis=1)


def random_forms(kernels, draws, random_state=None) -> np.ndarray:
    """The forms u (draws, T, p) of independent signs."""
    rng = np.random.default_rng(random_state)
    return np.stack(
        [quadratic_forms(K, rng.choice([-1.0, 1.0], (draws, np.shape(K)[-1]))) for K in kernels],
        axis=1,
    )


def neighborhood_complexity(
    kernels, targets, radius, rho, draws=None, random_state=None
) -> Complexity:
    """The empirical Rademacher complexity of the class: exact, or the mean over random signs.

    Parameters
    ----------
    kernels : sequence of T arrays (p, n_t, n_t)
    targets : sequence of T arrays (n_t, n_t)
        The matrices Khat_t, of any sign.
    radius : float
        R >= sum_t ||w_t||^2, not squared.
    rho : float
        In the units of the squared kernels.
    draws : int, optional
        Number of random signs; by default all signs are enumerated, up to 2^16.
    random_state : int, Generator or None

    Raises
    ------
    ValueError
        If the shapes do not agree, a number is negative, the class is empty, or there are too many
        signs or kernels.
    """
    tasks = tasks_of(kernels, targets)
    check_number("radius", radius, low=0.0)
    check_class(tasks, rho)
    if draws is None:
        forms = np.concatenate(list(all_forms(kernels)))
    else:
        forms = random_forms(kernels, int(check_number("draws", draws, low=2)), random_state)
    size = sum(task.size for task in tasks)
    values = np.sqrt(radius * np.maximum(largest_forms(tasks, forms, rho), 0.0)) / size
    error = 0.0 if draws is None else float(values.std(ddof=1) / np.sqrt(len(values)))
    return Complexity(float(values.mean()), error)


def _supports(task):
    p = len(task.traces)
    if p > _MOST_KERNELS:
        raise ValueError(f"{p} kernels are too many to try every support; accepted: at most 12.")
    inverses = np.zeros((2**p, p, p))
    for number in range(1, 2**p):
        chosen = np.flatnonzero(number >> np.arange(p) & 1)
        inverse, rank = pseudo_inverse(task.gram[np.ix_(chosen, chosen)])
        if rank == len(chosen):
            inverses[number][np.ix_(chosen, chosen)] = inverse
    return inverses


def largest_forms(tasks, forms, rho, steps=60) -> np.ndarray:
    """Maximum of sum_t theta_t'u_t over theta >= 0 with sum_t ||K_t - Khat_t||^2 <= rho, (S,).

    The maximizer minimizes ||K_t - Khat_t||^2 - 2 s theta_t'u_t for each task and one s >= 0; s is
    found by Newton's method on the current support within a shrinking interval. The returned value
    is the dual value at s, an upper bound that exceeds the maximum by rounding only.

    Parameters
    ----------
    tasks : list of Task
    forms : array (S, T, p)
    rho : float
        At least `distance_to_cone`.
    """
    inverses = [_supports(task) for task in tasks]
    room = max(rho - distance_to_cone(tasks), 0.0)
    products = np.array([task.products for task in tasks])
    with np.errstate(divide="ignore", invalid="ignore"):
        enter = np.where(forms > 0, np.maximum(-products, 0.0) / forms, np.inf)
    # Above this value some kernel has a positive weight; infinite if no theta changes the value.
    enter = enter.reshape(len(forms), -1).min(1)
    open_ = moving = np.isfinite(enter) & (room > 0)
    low, high = np.zeros(len(forms)), np.full(len(forms), np.inf)
    s = np.where(moving, 2 * enter + np.sqrt(room), 0.0)
    for _ in range(steps):
        distance, constant, slope, _ = _at(tasks, forms, inverses, s)
        low = np.where(distance <= rho, s, low)
        high = np.where(distance > rho, s, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            new = np.sqrt(np.maximum(rho - constant, 0.0) / slope)
        # On the current support s is the root; rounding may move it out of the interval.
        open_ = open_ & ~(np.abs(new - s) <= 1e-13 * s)
        if not open_.any():
            break
        inside = np.isfinite(new) & (new > low) & (new < high)
        new = np.where(inside, new, np.where(np.isfinite(high), (low + high) / 2, 2 * s))
        s = np.where(open_, new, s)
    distance, _, _, value = _at(tasks, forms, inverses, s)
    with np.errstate(divide="ignore", invalid="ignore"):
        return value + np.where(moving, (rho - distance) / (2 * s), 0.0)


def _at(tasks, forms, inverses, s):
    """At the minimizer: distance, its terms of order 0 and 2 in s, and sum_t theta_t'u_t."""
    distance, constant, slope, value = (np.zeros(len(s)) for _ in range(4))
    for t, task in enumerate(tasks):
        u = forms[:, t, : len(task.traces)]
        best = np.zeros(len(s))
        found = [np.zeros_like(u), np.full(len(s), task.square), np.zeros(len(s))]
        right = task.products + s[:, None] * u
        for inverse in inverses[t][1:]:
            if not inverse.any():
                continue
            theta = right @ inverse
            gain = np.einsum("sk,sk->s", theta, right)
            better = (theta >= 0).all(1) & (gain > best)
            best = np.where(better, gain, best)
            along = task.products @ inverse
            w = np.einsum("sk,kl,sl->s", u, inverse, u)
            found[0] = np.where(better[:, None], theta, found[0])
            found[1] = np.where(better, task.square - along @ task.products, found[1])
            found[2] = np.where(better, w, found[2])
        theta = found[0]
        value += np.einsum("sk,sk->s", theta, u)
        constant += found[1]
        slope += found[2]
        distance += found[1] + s**2 * found[2]
    return distance, constant, slope, value
