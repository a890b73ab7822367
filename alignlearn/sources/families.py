"""Families of p kernel matrices on m samples, behind one interface of four operations.

One-stage problems use the matrices ``K_k`` through four operations:

``forms(D)``
    ``K_k d`` for the rows d of D, in a representation of the family's choice; linear in D.
``cross(D, F, E, G)``
    ``sum_c d_c' K_k e_c`` for each k, from F = forms(D) and G = forms(E); ``against(F, E)`` gives
    the same result without G.
``apply(mu, F)``
    ``sum_k mu_k K_k d``.
``factor(mu, lam)``
    A function that solves with ``sum_k mu_k K_k + lam I``.

Vectors on the samples are rows: arrays (c, m), one row per target column.
"""

from __future__ import annotations

import numpy as np

from alignlearn._lapack import cholesky, cholesky_solve
from alignlearn._threads import on_threads
from alignlearn.engine import gram_loops as _loops
from alignlearn.validation import gram_like, indexable_grams, is_sequence, is_sparse
from alignlearn.validation.grams import tolerance

_ROWS = 32  # rows of the output, kept in the L2 cache while p matrices are read
_TILE = 64
_SPOT_ROWS = 8
_VALUES = 2**21  # values in the blocks of rows of all matrices
_ROOM = 4  # maximum memory of the kernel matrices, relative to that of the features


def open_family(grams):
    """The family for ``grams``: an open family unchanged, or p matrices (m, m).

    Raises
    ------
    ValueError, TypeError
        Not p >= 1 square symmetric matrices of equal size with finite real numbers.
    """
    if isinstance(grams, (GramFamily, FeatureFamily)):
        return grams
    return GramFamily(grams)


class GramFamily:
    """p precomputed kernels, used in place.

    Parameters
    ----------
    grams : sequence of p arrays (m, m) or data frames, or array of shape (p, m, m)
        Symmetric: only the upper triangle is read (rows of it are compared with columns).
        float64 or float32, the latter summed in float64; other dtypes are converted. The (m, m)
        matrices must be in memory, and centered and scaled as the problem requires.
    """

    def __init__(self, grams):
        if not is_sequence(grams):
            raise TypeError(
                f"grams must be a sequence of p matrices (m, m), got {type(grams).__name__}."
            )
        if len(grams) == 0:
            raise ValueError("grams is empty (p = 0); at least one matrix (m, m) is needed.")
        grams = indexable_grams(grams)
        self.grams = [_prepared(grams[k], k) for k in range(len(grams))]
        self.n_kernels, self._traces = len(self.grams), None
        self.n_samples = len(self.grams[0])
        for k, K in enumerate(self.grams):
            if len(K) != self.n_samples:
                raise ValueError(
                    f"grams[{k}] has shape {K.shape}, but grams[0] {self.grams[0].shape}; "
                    "accepted: matrices of equal size."
                )

    def traces(self):
        """Trace of every matrix, (p,)."""
        if self._traces is None:
            self._traces = np.array([np.trace(K, dtype=np.float64) for K in self.grams])
        return self._traces

    def weighted_traces(self, weight):
        """``sum_i w_i K_k(x_i, x_i)`` for each k, (p,)."""
        return np.array([np.diagonal(K).astype(np.float64) @ weight for K in self.grams])

    def forms(self, D):
        """``K_k d_c``, shape (p, c, m)."""
        out = np.empty((self.n_kernels, *D.shape))
        on_threads(self._forms, np.ascontiguousarray(D), out, stoppable=True)
        return out

    def _forms(self, thread, D, out, stop):
        number, count = thread
        for k in range(number, self.n_kernels, count):
            if stop[0]:
                return
            _loops.symmetric_product(self.grams[k], D, out[k])

    def quadratics(self, D):
        """``d_c' K_k d_c``, shape (c, p)."""
        return np.stack([np.einsum("ij,ij->i", D @ K, D) for K in self.grams], axis=1)

    def quadratic(self, D):
        """``sum_c d_c' K_k d_c``, shape (p,), in one pass."""
        out = np.empty(self.n_kernels)
        on_threads(self._quadratic, np.ascontiguousarray(D), out, stoppable=True)
        return out

    def _quadratic(self, thread, D, out, stop):
        number, count = thread
        for k in range(number, self.n_kernels, count):
            if stop[0]:
                return
            out[k] = _loops.quadratic_form(self.grams[k], D)

    def cross(self, D, F, E, G):
        """``sum_c d_c' K_k e_c``, shape (p,), with F = forms(D) and G = forms(E)."""
        return self.against(F, E)

    def against(self, F, E):
        """``sum_c d_c' K_k e_c``, shape (p,), with F = forms(D)."""
        return F.reshape(self.n_kernels, -1) @ E.ravel()

    def apply(self, mu, F):
        """``sum_k mu_k K_k d_c``, shape (c, m), with F = forms(D)."""
        return (mu @ F.reshape(self.n_kernels, -1)).reshape(F.shape[1:])

    def columns(self, F, samples):
        """``K_k d`` at some samples as a matrix (n, p); F of one vector d."""
        return F[:, 0, samples].T

    def gram(self, mu, full=True):
        """``sum_k mu_k K_k`` (m, m), float64; without ``full`` only the upper triangle."""
        out = np.zeros((self.n_samples, self.n_samples))
        used = np.flatnonzero(mu)
        if used.size:
            spare = -used.size % 4  # the last group of four is padded with weight 0
            groups = np.concatenate([used, np.repeat(used[:1], spare)]).reshape(-1, 4)
            weights = np.concatenate([mu[used], np.zeros(spare)]).reshape(-1, 4)
            on_threads(self._add, groups, weights, out, stoppable=True)
        if full:
            _loops.mirror(out, _TILE)
        return out

    def _add(self, thread, groups, weights, out, stop):
        number, count = thread
        blocks = range(0, self.n_samples, _ROWS)
        for first in list(blocks)[number::count]:
            last = min(first + _ROWS, self.n_samples)
            for group, w in zip(groups, weights):
                if stop[0]:
                    return
                _loops.add_upper(*(self.grams[k] for k in group), w, out, first, last)

    def features(self, mu):
        """None, because a precomputed kernel has no features."""

    def factor(self, mu, lam):
        """A function that solves ``(sum_k mu_k K_k + lam I) z = r`` for the rows r of (c, m)."""
        return _cholesky_solver(self.gram(mu, full=False), lam)

    def products(self, Y):
        """``<K_k, Y'Y>_F`` (p,) and ``<K_k, K_l>_F`` (p, p), Y of shape (c, m)."""
        p, m = self.n_kernels, self.n_samples
        M = np.zeros((p, p))
        step = max(1, _VALUES // (p * m))
        for i in range(0, m, step):
            rows = np.array([K[i : i + step] for K in self.grams], dtype=np.float64).reshape(p, -1)
            M += rows @ rows.T
        return self.quadratic(Y), M


class FeatureFamily:
    """Kernels ``K_k = s_k sum_j x_j x_j'`` over the features j of group k, centered.

    No matrix over pairs of samples is formed if there are fewer features than samples.

    Parameters
    ----------
    X : (m, q) array or SciPy sparse matrix
        Uncentered features; the family centers them (a sparse matrix stays sparse).
    owner : (q,) array of int, optional
        The kernel of every feature, from 0 to p - 1, not decreasing. Default: one kernel each.
    scale : (p,) array, optional
        The factors s_k. Default: ones.
    """

    def __init__(self, X, owner=None, scale=None, center=True):
        self.sparse = is_sparse(X)
        self.n_samples, n_features = X.shape
        self.owner = np.arange(n_features) if owner is None else np.asarray(owner)
        self.n_kernels = int(self.owner[-1]) + 1
        scale = np.ones(self.n_kernels) if scale is None else np.asarray(scale, dtype=np.float64)
        root = np.sqrt(scale[self.owner])
        self.single = self.n_kernels == n_features
        if self.sparse:
            X = X.tocsr().astype(np.float64)
            self.X = X.multiply(root).tocsr()
            self.XT = self.X.T.tocsr()
            mean = np.asarray(X.mean(axis=0)).ravel() * root
        else:
            X = np.asarray(X, dtype=np.float64)
            mean = X.mean(axis=0) if center else 0.0
            self.X, self.XT = (X - mean) * root, None
            mean = np.zeros(n_features)
        self.mean, self._traces = mean if center else np.zeros(n_features), None
        self._grams = None

    def _sum_groups(self, values):
        """Sums over the features of each kernel, for (..., q)."""
        if self.single:
            return values
        starts = np.searchsorted(self.owner, np.arange(self.n_kernels))
        return np.add.reduceat(values, starts, axis=-1)

    def traces(self):
        """Trace of every centered kernel matrix, (p,)."""
        if self._traces is None:
            if self.sparse:
                square = np.asarray(self.X.multiply(self.X).sum(axis=0)).ravel()
            else:
                square = np.einsum("ij,ij->j", self.X, self.X)
            self._traces = self._sum_groups(square - self.n_samples * np.square(self.mean))
        return self._traces

    def weighted_traces(self, weight):
        """``sum_i w_i K_k(x_i, x_i)`` for each k, (p,), of centered kernels."""
        squares = self.X.multiply(self.X) if self.sparse else np.square(self.X)
        cross = self.X.T @ weight * self.mean
        return self._sum_groups(
            squares.T @ weight - 2.0 * cross + weight.sum() * np.square(self.mean)
        )

    def forms(self, D):
        """``x_j' d_c`` for the centered features, shape (c, q)."""
        product = (self.XT @ D.T).T if self.sparse else D @ self.X
        return product - D.sum(axis=1)[:, None] * self.mean

    def quadratics(self, D):
        """``d_c' K_k d_c``, shape (c, p)."""
        return self._sum_groups(np.square(self.forms(D)))

    def quadratic(self, D):
        """``sum_c d_c' K_k d_c``, shape (p,)."""
        return self.quadratics(D).sum(axis=0)

    def cross(self, D, F, E, G):
        """``sum_c d_c' K_k e_c``, shape (p,), with F = forms(D) and G = forms(E)."""
        return self._sum_groups((F * G).sum(axis=0))

    def against(self, F, E):
        """``sum_c d_c' K_k e_c``, shape (p,), with F = forms(D)."""
        return self._sum_groups((F * self.forms(E)).sum(axis=0))

    def apply(self, mu, F):
        """``sum_k mu_k K_k d_c``, shape (c, m), with F = forms(D)."""
        weighted = mu[self.owner] * F
        product = (self.X @ weighted.T).T if self.sparse else weighted @ self.X.T
        return product - (weighted @ self.mean)[:, None]

    def columns(self, F, samples):
        """``K_k d`` at some samples as a matrix (n, p); F of one vector d."""
        X = self.X[samples].toarray() if self.sparse else self.X[samples]
        return self._sum_groups((X - self.mean) * F[0])

    def gram(self, mu, full=True):
        """``sum_k mu_k K_k`` (m, m), centered, float64."""
        if not self.sparse and self.n_kernels * self.n_samples <= _ROOM * self.owner.size:
            if self._grams is None:
                groups = [self.owner == k for k in range(self.n_kernels)]
                self._grams = np.array([(Z := self.X[:, group]) @ Z.T for group in groups])
            return np.tensordot(mu, self._grams, 1)
        weight = mu[self.owner]
        used = np.flatnonzero(weight)
        root = np.sqrt(weight[used])
        if not self.sparse:
            Z = (self.X if used.size == weight.size else self.X[:, used]) * root
            return Z @ Z.T
        Z = self.X[:, used].multiply(root).tocsr()
        K = (Z @ Z.T).toarray(order="C")
        mean = self.mean[used] * root
        rows = Z @ mean
        K -= rows[:, None] + rows - mean @ mean
        return K

    def features(self, mu):
        """Z (m, r) with ``ZZ' = sum_k mu_k K_k``; None if it is not smaller, or would be dense."""
        used = np.flatnonzero(mu[self.owner])
        if self.sparse or used.size >= self.n_samples - 1:
            return None
        return self.X[:, used] * np.sqrt(mu[self.owner[used]])

    def factor(self, mu, lam):
        """A function that solves with ``sum_k mu_k K_k + lam I``, in the smaller dimension."""
        weight = mu[self.owner]
        used = np.flatnonzero(weight)
        if used.size >= self.n_samples:
            return _cholesky_solver(self.gram(mu), lam)
        root = np.sqrt(weight[used])
        Z = self.X[:, used]
        Z = Z.multiply(root).tocsr() if self.sparse else Z * root
        mean = self.mean[used] * root
        inner = Z.T @ Z
        inner = inner.toarray(order="C") if self.sparse else inner
        inner -= self.n_samples * np.outer(mean, mean)
        solve = _cholesky_solver(inner, lam)

        def solver(R):
            # (Z Z' + lam)^-1 = (I - Z (Z'Z + lam)^-1 Z') / lam.
            inside = solve(np.asarray((Z.T @ R.T).T) - R.sum(axis=1)[:, None] * mean)
            return (R - np.asarray((Z @ inside.T).T) + (inside @ mean)[:, None]) / lam

        return solver

    def products(self, Y):
        """``<K_k, Y'Y>_F`` (p,) and ``<K_k, K_l>_F`` (p, p), Y of shape (c, m)."""
        C = self.X.T @ self.X
        C = np.array(C.toarray() if self.sparse else C)
        C -= self.n_samples * np.outer(self.mean, self.mean)
        np.multiply(C, C, out=C)
        return self.quadratic(Y), self._sum_groups(self._sum_groups(C).T)


def _prepared(K, k):
    """A read-only float view of one matrix, always of one array type, to compile once."""
    K = np.asarray(gram_like(f"grams[{k}]", K, "a square matrix (m, m)"))
    if K.shape[0] != K.shape[1] or K.shape[0] == 0:
        raise ValueError(f"grams[{k}] must be a square matrix (m, m), got shape {K.shape}.")
    if K.dtype not in (np.float64, np.float32):
        K = K.astype(np.float64)
    rows = np.linspace(0, len(K) - 1, min(len(K), _SPOT_ROWS)).astype(int)
    skew, size = np.abs(K[rows] - K[:, rows].T).max(), np.abs(K[rows]).max()
    if not np.isfinite(size):
        raise ValueError(f"grams[{k}] contains NaN or infinity; all values must be finite.")
    if skew > tolerance(K.dtype) * size:
        raise ValueError(
            f"grams[{k}] is not symmetric: |K_ij - K_ji| reaches {skew:.3g}; accepted: up to "
            f"{tolerance(K.dtype):g} times the largest entry."
        )
    K = (K.T if K.flags.f_contiguous else np.ascontiguousarray(K)).view()
    K.flags.writeable = False
    return K


def _cholesky_solver(K, lam):
    """Solver for ``K + lam I`` from the upper triangle of K, which is overwritten."""
    K.flat[:: len(K) + 1] += lam
    if not cholesky(K):
        raise ValueError(
            f"the weighted kernel plus alpha I is not positive definite at alpha={lam:g}; "
            "accepted: positive semi-definite kernels, and alpha above the rounding error of the "
            "weighted kernel. Raise alpha, or lower what makes the weights large (Lambda, mu0, "
            "gamma)."
        )
    return lambda R: cholesky_solve(K, R.T).T
