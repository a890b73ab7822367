"""The matrices of the multi-task paper as it defines them, and its problems solved naively.

A, b, c, d and V are formed in full, with (sum_t n_t^2) rows and M + MT columns, as an oracle for
what `neighborhood` computes from (M, M) matrices. Columns: mu^1..mu^M, then lambda_t^m with m
outer and t inner, the order in which (4), (5) and (8) agree.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from .library import support_vectors
from .matrices import frobenius


class PaperTerms(NamedTuple):
    """(4), (5), (6) and (8) of the paper; targets stacked as ``v``."""

    A: np.ndarray
    b: np.ndarray
    c: float
    d: np.ndarray
    V: np.ndarray
    v: np.ndarray


def paper_terms(kernels, targets) -> PaperTerms:
    """The terms for kernels [(M, n, n)] and target matrices [(n, n)], one of each per task."""
    T, M = len(kernels), len(kernels[0])
    pairs = np.array(
        [[[frobenius(K[i], K[j]) for K in kernels] for j in range(M)] for i in range(M)]
    )
    A1 = pairs.sum(2)
    A3 = np.block([[pairs[i, j][None, :] for j in range(M)] for i in range(M)])
    A2 = np.block([[np.diag(pairs[i, j]) for j in range(M)] for i in range(M)])
    B = np.array([[2 * frobenius(K[m], Y) for K, Y in zip(kernels, targets)] for m in range(M)])
    D = np.array([[np.trace(K[m]) for K in kernels] for m in range(M)])
    blocks = []
    for t in range(T):
        columns = np.array([K.T.ravel() for K in kernels[t]]).T
        blocks.append(np.hstack([columns, np.kron(columns, np.eye(T)[t][None, :])]))
    v = np.concatenate([Y.T.ravel() for Y in targets])
    c = sum(frobenius(Y, Y) for Y in targets)
    A = np.block([[A1, A3], [A3.T, A2]])
    return PaperTerms(A, stack(B), float(c), stack(D), np.vstack(blocks), v)


def stack(B):
    """[B 1_T; vec(B')] of an (M, T) matrix, as in (5) and (8)."""
    return np.concatenate([B.sum(1), B.ravel()])


def inverse(A):
    """A^+ of a symmetric positive semi-definite matrix."""
    return np.linalg.pinv(A, rcond=1e-10, hermitian=True)


def projector(V):
    """V V^+ from the singular vectors of V with columns of norm 1."""
    size = np.linalg.norm(V, axis=0)
    left, values, _ = np.linalg.svd(V / np.where(size > 0, size, 1.0), full_matrices=False)
    left = left[:, values > 1e-6 * values.max(initial=0.0)]
    return left @ left.T


def all_signs(n):
    """Return every vector of n signs."""
    return np.array(list(product([1.0, -1.0], repeat=n)))


def forms(kernels, signs):
    """u_t^m = sigma_t'K_t^m sigma_t, (M, T), for signs of all tasks one after the other."""
    ends = np.cumsum([len(K[0]) for K in kernels])[:-1]
    parts = np.split(signs, ends)
    return np.array([[s @ Km @ s for Km in K] for s, K in zip(parts, kernels)]).T


def largest_form(terms: PaperTerms, u, rho, cone=True):
    """max u'theta subject to theta'A theta - theta'b + c <= rho, with theta >= 0 unless not cone.

    The columns of mu are sums of the others and are left out. Every set of the columns (m, t) is
    tried: on each the maximizer has a closed form, (26) of the paper, and the best that is not
    negative is the answer. u has shape (M, T).
    """
    V, u = terms.V[:, len(u) :], u.ravel()
    if not cone:
        return _on_face(V, terms.v, u, rho)[0]
    best = -np.inf
    for count in range(len(u) + 1):
        for chosen in combinations(range(len(u)), count):
            columns = list(chosen)
            value, theta = _on_face(V[:, columns], terms.v, u[columns], rho)
            if (theta >= -1e-9 * np.abs(theta).max(initial=0.0)).all():
                best = max(best, value)
    return best


def _on_face(V, v, u, rho):
    """The maximum over theta of any sign for some columns, and its theta; -inf if there is none."""
    size = np.linalg.norm(V, axis=0)
    size = np.where(size > 0, size, 1.0)
    inverse_gram = inverse(V.T @ V / np.outer(size, size)) / np.outer(size, size)
    start = inverse_gram @ (V.T @ v)
    room = rho - v @ v + (V.T @ v) @ start
    if room < -1e-9 * (v @ v):
        return -np.inf, start
    slope = u @ inverse_gram @ u
    step = np.sqrt(max(room, 0.0) / slope) if slope > 0 else 0.0
    theta = start + step * (inverse_gram @ u)
    return float(u @ theta), theta


# -- model (10) ------------------------------------------------------------------------


def regularizer(terms: PaperTerms, factor=2.0):
    """Omega of (9): d'A^+b + b'A^+b/2 - factor c; printed with factor 4."""
    inner = inverse(terms.A)
    return float(terms.d @ inner @ terms.b + terms.b @ inner @ terms.b / 2 - factor * terms.c)


def alignment_part(terms: PaperTerms, theta, eta, beta, factor=2.0):
    """eta/2 sum_t ||K_t - Khat_t||^2 + beta/2 Omega at the stacked theta = [mu; vec(Lambda')]."""
    gap = terms.V @ theta - terms.v
    return float(eta / 2 * gap @ gap + beta / 2 * regularizer(terms, factor))


def best_targets(terms: PaperTerms, theta, eta, beta, factor=2.0):
    """The stacked v at which the gradient of `alignment_part` in v vanishes."""
    inner = terms.V @ inverse(terms.A)
    hessian = (eta - factor * beta) * np.eye(len(terms.v)) + 2 * beta * inner @ terms.V.T
    return np.linalg.solve(hessian, eta * terms.V @ theta - beta * inner @ terms.d)


def unstack(v, kernels):
    """Stacked vectors as the matrices (n, n) of the tasks."""
    sizes = [len(K[0]) for K in kernels]
    parts = np.split(v, np.cumsum([n * n for n in sizes])[:-1])
    return [part.reshape(n, n).T for part, n in zip(parts, sizes)]


def hinge_objective(K, y, alpha, C):
    """|w|^2/2 + C sum of hinge losses at w = sum_i alpha_i y_i phi_i and the best bias."""
    coef = alpha * y
    f = K @ coef
    losses = np.maximum(0.0, 1 - y * (f + (y - f)[:, None])).sum(1)
    return float(coef @ f / 2 + C * losses.min())


def tube_objective(K, y, coef, C, epsilon):
    """|w|^2/2 + C sum of epsilon-insensitive losses at w = sum_i coef_i phi_i and the best bias."""
    f = K @ coef
    shifts = np.concatenate([y - f - epsilon, y - f + epsilon])
    losses = np.maximum(0.0, np.abs(y - f - shifts[:, None]) - epsilon).sum(1)
    return float(coef @ f / 2 + C * losses.min())


def svm_value(K, y, C):
    """The optimal value of the SVM with bias: that of its dual at the library's solution."""
    alpha = support_vectors(K, y, C)
    coef = alpha * y
    return float(alpha.sum() - coef @ K @ coef / 2)


def ridge_value(K, y, lam):
    """min over w of |w|^2/2 + |y - f|^2/(2 lam): y'(K + lam)^-1 y/2, and its dual solution."""
    alpha = np.linalg.solve(K + lam * np.eye(len(y)), y)
    return float(y @ alpha / 2), alpha
