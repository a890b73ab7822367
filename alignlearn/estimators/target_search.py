"""The search of weights and a penalty for every target.

Candidates are few weight vectors that all targets share: equal weights, every kernel alone, centers
of clusters of the targets' own weights (from alignment without the bias of noise), and some random
ones. For each target, the random ones, equal weights and the nearest ones of the others are
evaluated with every penalty, by cross-validation errors in closed form (`TargetRidge`), and the
best one is selected. With many samples, a subsample is searched first. A random candidate is then
evaluated on all samples only for the targets for which it was the best on the subsample.

Random search (Dupre la Tour, Eickenberg, Nunez-Elizalde and Gallant 2022, "Feature-space selection
with banded ridge regression") tries random weights on every target instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from alignlearn._progress import Progress
from alignlearn.machines.target_ridge import TargetRidge, target_blocks
from alignlearn.solvers.k_means import k_means
from alignlearn.solvers.nnqp_rows import nonnegative_rows

_N_CANDIDATES = 24
_LEAST_CLUSTERS = 8
# Candidates per target besides equal weights; the cost grows with the number of targets.
_NEAREST, _NEAREST_OF_MANY, _MANY = 8, 5, 2000
# Random weights, evaluated for all targets, because the best weights for ridge regression may
# differ from those by alignment.
_DRAWN, _DRAWN_OF_MANY = 32, 4
# Accepted relative excess of squared errors for evaluating penalties at this distance, for folds
# and for leave-one-out, which starts close to its best penalty.
_PROMISING, _PROMISING_NEAR = {4: 0.3, 2: 0.05, 1: 0.01}, {2: 0.01, 1: 0.005}
_LIKELY = 0.02  # the same of generalized cross-validation, before a candidate is tried at all
_CLUSTERED = 20_000  # targets from which the clusters are computed
_DIGITS = 9  # of weights that are compared, as their rounding depends on the order of the targets
_ROWS = 2**14  # targets whose distances are in memory at once


@dataclass
class TargetSearch:
    """What every target is fitted with, and how well its candidates did.

    Attributes
    ----------
    candidates : ndarray of shape (n, p)
        Weights that sum to 1; the first are equal.
    chosen : ndarray of int of shape (q,)
    alpha, score, uniform_score : ndarray of shape (q,)
        The scores are R^2 by cross-validation, of the choice and of the best penalty with equal
        weights.
    coef : ndarray of shape (m, q)
        Rooted dual coefficients of the targets in the units of `Targets.block`.
    """

    candidates: np.ndarray
    chosen: np.ndarray
    alpha: np.ndarray
    score: np.ndarray
    uniform_score: np.ndarray
    coef: np.ndarray

    @property
    def weights(self):
        """The weights of every target, (p, q)."""
        return self.candidates[self.chosen].T


def unit_exponents(Y):
    """Exponents of the powers of two that targets (m, q) are divided by, to reach up to 1.

    Squares of targets in any unit then neither overflow nor vanish, and nothing is rounded.
    """
    return np.frexp(0.5 * np.nanmax(Y, axis=0) - 0.5 * np.nanmin(Y, axis=0))[1] + 1


class Targets:
    """Kernels, targets and folds of one search.

    Parameters
    ----------
    family : GramFamily or FeatureFamily
        Centered and rooted kernels, not rescaled.
    scale : ndarray of shape (p,)
        Their factors; 0 leaves a kernel out.
    Y : ndarray of shape (m, q)
    sample_weight : ndarray of shape (m,)
        Positive.
    folds : list of ndarray of int, or None for leave-one-out
    dtype : dtype
        The type that kernel values were rounded to.
    by_correlation : bool, default False
        Whether targets are judged by 1 minus a correlation in place of sums of squares.
    """

    def __init__(self, family, scale, Y, sample_weight, folds, dtype, by_correlation=False):
        self.by_correlation = by_correlation
        self.family, self.scale, self.Y, self.dtype = family, scale, Y, dtype
        self.root, self.folds = np.sqrt(sample_weight), folds
        self.means = (sample_weight / sample_weight.sum()) @ Y
        self.exponent = unit_exponents(Y)

    def block(self, columns):
        """Some targets, centered, in units near 1, times the roots of the weights, (m, c)."""
        centered = self.Y[:, columns] - self.means[columns]
        return self.root[:, None] * np.ldexp(centered, -self.exponent[columns])

    def blocks(self, columns):
        """Parts of some columns that are held at once."""
        return [columns[part] for part in target_blocks(len(self.Y), len(columns))]

    def own_weights(self):
        """Weights of every target by alignment without the bias of noise, (q, p), of sum 1.

        ``y'K y`` holds, of noise of variance s^2 in y, s^2 times the trace of K on average: this
        is taken off as if all of y were noise, which favors kernels of flat spectrum less.
        """
        q, p, w = self.Y.shape[1], len(self.scale), np.square(self.root)
        inner, size = np.empty((q, p)), np.empty(q)
        for columns in self.blocks(np.arange(q)):
            Y = self.block(columns)
            inner[columns] = self.family.quadratics(Y.T) * self.scale
            size[columns] = np.einsum("ij,ij->j", Y, Y)
        left = w.sum() - np.square(w).sum() / w.sum()
        noise = self.scale * self.family.weighted_traces(w) / left
        usable = np.flatnonzero(self.scale)
        M = self.family.products(np.zeros((1, len(w))))[1] * self.scale[:, None] * self.scale
        found = np.zeros((q, p))
        # A coarse tolerance: weights only determine the candidates of a target.
        found[:, usable] = nonnegative_rows(
            M[np.ix_(usable, usable)], (inner - size[:, None] * noise)[:, usable]
        )
        total = found.sum(axis=1, keepdims=True)
        equal = (self.scale > 0.0) / usable.size
        return np.where(total > 0.0, found / np.where(total > 0.0, total, 1.0), equal)

    def ridge(self, weights):
        """The `TargetRidge` of a candidate."""
        return TargetRidge(self.family, weights * self.scale, self.root, self.dtype)

    def losses(self, ridge, Y, projected, alpha):
        """What is to be small, by cross-validation, for some targets of a block, (c,)."""
        loss = ridge.decorrelation if self.by_correlation else ridge.squares
        return loss(Y, projected, alpha, self.folds)

    def sizes(self):
        """What losses are relative to for a score, (q,): sums of squares of the test sets, or 1."""
        if self.by_correlation:
            return np.ones(self.Y.shape[1])
        found = np.empty(self.Y.shape[1])
        for columns in self.blocks(np.arange(found.size)):
            squares = np.square(self.block(columns))
            parts = [slice(None)] if self.folds is None else self.folds
            found[columns] = sum(squares[rows].sum(axis=0) for rows in parts)
        return found


def choose(targets, alphas, rng, uniform=False, verbose=False, few=None) -> TargetSearch:
    """The best candidate and penalty of every target.

    Parameters
    ----------
    targets : Targets
    alphas : list of float
    rng : numpy.random.Generator
    uniform : bool
        Equal weights for all: only the penalties are chosen.
    verbose : bool or callable
        Of a source.
    few : callable, optional
        ``few(rng)``: the `Targets` of some of the samples, or None.
    """
    q, alphas = targets.Y.shape[1], np.unique(alphas)
    equal = (targets.scale > 0.0) / np.count_nonzero(targets.scale)
    if uniform or np.count_nonzero(targets.scale) < 2:
        candidates, tried = equal[None], np.ones((1, q), dtype=bool)
    else:
        candidates, tried, n_drawn = _candidates(targets, equal, rng)
        some = None if few is None or q > _MANY else few(rng)
        if some is not None:
            found = _searched(some, candidates, tried, alphas, verbose)[0]
            drawn = np.arange(len(candidates) - n_drawn, len(candidates))
            tried[drawn] = found == drawn[:, None]
    chosen, alpha, best, equal_squares, coef = _searched(
        targets, candidates, tried, alphas, verbose
    )
    size = targets.sizes()
    scores = 1.0 - best / size, 1.0 - equal_squares / size
    return TargetSearch(candidates, chosen, alpha, *scores, coef)


def _searched(targets, candidates, tried, alphas, verbose):
    """The best of candidates (n, p), each evaluated on the targets in ``tried``, (n, q).

    The first candidate is evaluated on all targets.

    Returns
    -------
    chosen, alpha, squares, first_squares : ndarray of shape (q,)
    coef : ndarray of shape (m, q)
    """
    q = targets.Y.shape[1]
    best, alpha = np.full(q, np.inf), np.zeros(q)
    chosen, coef = np.zeros(q, dtype=np.intp), np.empty(targets.Y.shape)
    with Progress("combinations of kernels", len(candidates), verbose) as progress:
        for g, weights in enumerate(candidates):
            columns, ridge = np.flatnonzero(tried[g]), None  # one decomposition at a time
            ridge = targets.ridge(weights) if columns.size else None
            for part in targets.blocks(columns):
                Y = targets.block(part)
                projected = ridge.project(Y)
                squares, found = _best_alpha(targets, ridge, Y, projected, alphas, best[part])
                better = squares < best[part]
                some, projected = part[better], projected[:, better]
                best[some], alpha[some], chosen[some] = squares[better], found[better], g
                coef[:, some] = ridge.coefficients(projected, alpha[some])
            if g == 0:
                equal_squares = best.copy()
            progress(g + 1)
    return chosen, alpha, best, equal_squares, coef


def _candidates(targets, equal, rng):
    """Weights (n, p), a mask of targets for each, (n, q), and the number of random ones."""
    own = targets.own_weights()
    some = own[np.lexsort(np.round(own, _DIGITS).T)]  # in an order that is not that of the targets
    if len(own) > _CLUSTERED:
        some = some[np.sort(rng.choice(len(own), _CLUSTERED, replace=False))]
    alone = np.eye(equal.size)[targets.scale > 0.0]
    clusters = max(_LEAST_CLUSTERS, _N_CANDIDATES - 1 - len(alone))
    candidates = np.unique(np.vstack([alone, k_means(some, clusters, rng)[0]]), axis=0)
    tried = np.ones((1 + len(candidates), len(own)), dtype=bool)
    near = _NEAREST if len(own) <= _MANY else _NEAREST_OF_MANY
    if len(candidates) > near:
        for i in range(0, len(own), _ROWS):
            D = cdist(own[i : i + _ROWS], candidates, "sqeuclidean")
            tried[1:, i : i + _ROWS] = (np.partition(D, near - 1, axis=1)[:, [near - 1]] >= D).T
    n_drawn = _DRAWN if len(own) <= _MANY else _DRAWN_OF_MANY
    drawn = np.zeros((n_drawn, equal.size))
    drawn[:, targets.scale > 0.0] = rng.dirichlet(np.ones(len(alone)), n_drawn)
    everywhere = np.ones((n_drawn, len(own)), dtype=bool)
    return np.vstack([equal, candidates, drawn]), np.vstack([tried, everywhere]), n_drawn


def _best_alpha(targets, ridge, Y, projected, alphas, best):
    """Minimum losses of a candidate, and their penalties, for some targets.

    Generalized cross-validation, which is cheap, selects the targets for which leave-one-out is
    computed, and the first penalty; for folds every fourth penalty is evaluated. If the candidate
    may then be better, penalties around the best are evaluated at decreasing distances, and further
    ones as long as losses decrease.
    """
    least, at = np.full(len(best), np.inf), np.zeros(len(best), dtype=np.intp)

    def attempt(k, some):
        found = targets.losses(ridge, Y[:, some], projected[:, some], alphas[k])
        less = found < least[some]
        least[some[less]], at[some[less]] = found[less], k

    steps = _PROMISING
    if targets.folds is None:
        steps = _PROMISING_NEAR
        squares = ridge.generalized(Y, projected, alphas)
        first = squares.argmin(axis=0)
        likely = np.arange(len(best))
        if not targets.by_correlation:  # else they do not compare
            likely = np.flatnonzero(squares.min(axis=0) < (1.0 + _LIKELY) * best)
        for k in np.unique(first[likely]):
            attempt(k, likely[first[likely] == k])
    else:
        for k in np.unique([*range(0, len(alphas), 4), len(alphas) - 1]):
            attempt(k, np.arange(len(best)))

    def beside(step, some):
        middle = at.copy()
        for k in range(len(alphas)):
            near = np.flatnonzero(some & (np.abs(middle - k) == step))
            if near.size:
                attempt(k, near)
        return at != middle

    for step, share in steps.items():
        moved = beside(step, least < (1.0 + share) * best)
    while moved.any():  # continue to a minimum, as long as losses decrease
        moved = beside(1, moved)
    return least, alphas[at]
