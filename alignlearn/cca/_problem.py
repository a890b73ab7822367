"""The eigenvalue problem of kernel canonical correlation analysis, reduced to the factors.

With ``Kc_i = Z_i Z_i'``, and ``b(w)`` the regularized form of the eigenvalue ``w^2`` of the
variance, the generalized problem ``A z = gamma B z`` has the blocks ``A_ij = Kc_i Kc_j`` off the
diagonal and ``A_ii = B_ii = b(Kc_i)`` on it. It becomes the ordinary one with blocks ``E_i Z_i' Z_j
E_j``, where ``E = sqrt(w / b(w))``. For two views these are the singular values of one block.
"""

from __future__ import annotations

import numpy as np

from alignlearn._lapack import eigh, product, self_product, smallest_eigenvalue, svd

# Permutation tests omit directions of smaller weight, which changes the statistic by at most this
# much.
_NEGLIGIBLE = 1e-6


class Problem:
    """Factors of M views of N samples with a regularizer.

    Parameters
    ----------
    factors : list of Factor
    kappa : float
        > 0.
    regularization : {"norm", "gram"}
        ``b(w) = w^2 + N kappa w``, or ``b(w) = (w + kappa)^2``.
    """

    def __init__(self, factors, kappa, regularization):
        self.factors = factors
        self.gram = regularization == "gram"
        self.shift = kappa if self.gram else len(factors[0].Z) * kappa
        self.scales = [self._scale(f.values) for f in factors]

    def _scale(self, w):
        return np.sqrt(w) / (w + self.shift) if self.gram else 1.0 / np.sqrt(w + self.shift)

    def solve(self, n_components):
        """Canonical correlations, combinations v of the columns of each Z, extreme eigenvalues.

        Returns
        -------
        correlations : ndarray of shape (q,)
            Descending; ``(gamma - 1) / (M - 1)``.
        combinations : list of M ndarrays (r_i, q)
            Normalized to ``z'Bz = M`` for all views together, which is 1 for each of two views.
        range : tuple of float
            Smallest and largest gamma.
        """
        M, q = len(self.factors), n_components
        blocks = self._blocks()
        if M == 2:
            U, s, V = svd(blocks[0, 1], q)
            parts, correlations = [U, V], s[:q]
            extremes = 1.0 - s[0], 1.0 + s[0]
        else:
            S = _assembled(blocks, M)
            n = len(S)
            least = smallest_eigenvalue(S.copy())
            values, y = eigh(S, n - q)
            y = np.sqrt(M) * y[:, ::-1]
            parts = np.split(y, np.cumsum([len(E) for E in self.scales])[:-1])
            correlations = values[::-1] / (M - 1)
            extremes = 1.0 + least, 1.0 + values[-1]
        combinations = [E[:, None] * part for E, part in zip(self.scales, parts)]
        self._orient(combinations)
        # Rounding must not move the result out of the interval of all eigenvalues.
        low, high = np.clip(extremes, 0.0, M)
        return np.minimum(correlations, 1.0), combinations, (float(low), float(high))

    def _blocks(self):
        weighted = [f.Z * E for f, E in zip(self.factors, self.scales)]
        return _products(weighted)

    def _orient(self, combinations):
        """Signs: the largest value of a component on the samples of the first view is positive."""
        first = self.factors[0].Z @ combinations[0]
        largest = np.abs(first).argmax(axis=0)
        sign = np.where(first[largest, np.arange(first.shape[1])] < 0.0, -1.0, 1.0)
        for part in combinations:
            part *= sign

    def residuals(self, correlations, combinations):
        """``|A z - lambda B z| / (|A z| + |B z|)`` of each component, (q,).

        In the form with zero blocks on the diagonal of A and lambda = gamma - 1. Products use the
        Gram matrices themselves if these were formed.
        """
        coef = [f.Z @ (v / f.values[:, None]) for f, v in zip(self.factors, combinations)]
        images = [f.times(c) for f, c in zip(self.factors, coef)]
        total = np.sum(images, axis=0)
        values = correlations * (len(self.factors) - 1)
        squares = np.zeros((3, len(values)))
        for f, c, g in zip(self.factors, coef, images):
            left = f.times(total - g)
            right = f.times(g) + (2.0 if self.gram else 1.0) * self.shift * g
            right = right + self.shift**2 * c if self.gram else right
            sides = left - values * right, left, right
            squares += [np.square(side).sum(axis=0) for side in sides]
        error, left, right = np.sqrt(squares)
        return np.divide(error, left + right, where=error > 0.0, out=np.zeros_like(error))

    def error_bounds(self, correlations):
        """Bounds on the difference to the correlations of the full Gram matrices, (q,).

        ``R = Kc (Kc + shift)^-1`` is operator monotone in Kc, so an omitted part of trace t changes
        it by at most ``g = t / (t + shift)`` in norm (Ando 1988). With "gram" the problem is that
        of products ``R_i R_j``, with "norm" of their roots. For two views the squares of its
        singular values are then eigenvalues of ``R_1^(1/2) R_2 R_1^(1/2)``, which increase by at
        most ``g_1 + g_2``.
        """
        t = np.array([f.missed for f in self.factors])
        g = t / (t + self.shift)
        M = len(g)
        if M == 2 and not self.gram:
            return g.sum() / (np.sqrt(correlations**2 + g.sum()) + correlations + 1e-300)
        g = g if self.gram else np.sqrt(g)
        worst = max(g.sum() - g_i + (M - 1) * g_i for g_i in g)
        return np.full(len(correlations), worst / (M - 1))

    def independence(self, measure):
        """The measure, as a function of the orders of the samples of all views but the first."""
        weights = [E * np.sqrt(f.values) for f, E in zip(self.factors, self.scales)]
        used = [d > _NEGLIGIBLE for d in weights]
        # At least the largest direction, so that a view of weak kernels still has a statistic.
        for keep, d in zip(used, weights):
            keep[d.argmax()] = True
        sides = [f.Z[:, k] * E[k] for f, k, E in zip(self.factors, used, self.scales)]

        def statistic(orders):
            moved = [sides[0]] + [A[order] for A, order in zip(sides[1:], orders)]
            return _dependence(_products(moved), len(moved), measure)

        return statistic


def _products(sides):
    """The blocks ``A_i' A_j`` above the diagonal, by (i, j)."""
    M = len(sides)
    return {(i, j): product(sides[i].T, sides[j]) for i in range(M) for j in range(i + 1, M)}


def _assembled(blocks, M):
    """The symmetric matrix of the blocks, with zeros on the block diagonal.

    Its eigenvalues are gamma - 1 and sum to 0. The eigenvalues that a reduction of the rank omits
    are 0, so none of them is extreme.
    """
    sizes = [blocks[0, 1].shape[0]] + [blocks[0, j].shape[1] for j in range(1, M)]
    ends = np.cumsum([0, *sizes])
    S = np.zeros((ends[-1], ends[-1]))
    for (i, j), block in blocks.items():
        S[ends[i] : ends[i + 1], ends[j] : ends[j + 1]] = block
        S[ends[j] : ends[j + 1], ends[i] : ends[i + 1]] = block.T
    return S


def _dependence(blocks, M, measure):
    if M == 2:
        block = blocks[0, 1] if len(blocks[0, 1]) <= blocks[0, 1].shape[1] else blocks[0, 1].T
        return min(float(np.sqrt(-smallest_eigenvalue(-self_product(block)))), 1.0)
    S = _assembled(blocks, M)
    value = -smallest_eigenvalue(-S) if measure == "max" else smallest_eigenvalue(S)
    return measured(1.0 + value, 1.0 + value, M, measure)


def measured(least, largest, M, measure):
    """The measure of dependence of M views from the extreme eigenvalues gamma."""
    return float((largest - 1.0) / (M - 1) if measure == "max" else 1.0 - least)
