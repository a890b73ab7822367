"""One-stage rules and the ensemble in a comparison: candidates for the validation fold.

The rules use the same kernels as the two-stage methods, centered and with mean diagonal 1 on the
training folds. Every candidate has weights that sum to 1 and the corresponding parameter, so that a
model with that kernel and parameter gives the same predictions.
"""

from __future__ import annotations

import weakref
from dataclasses import replace
from functools import cached_property

import numpy as np

from alignlearn.kernels import are_per_column
from alignlearn.machines import SupportVectorClassifier
from alignlearn.sources import FeatureFamily, GramFamily
from alignlearn.weights.one_stage import L1SVM, LKRR, AlignedKRR

from .candidates import Candidate, Method
from .ensemble import Ensemble

# Two values of alpha per decade, and fewer for aligned-krr, where each is a separate problem.
ALPHA_GRID = tuple(10.0 ** (k / 2) for k in range(4, -11, -1))
ALIGNED_ALPHA_GRID = ALPHA_GRID[4::2]
# l1-svm on columns stops at C = 32, because a nearly hard margin in a few columns takes long.
RANK_ONE_COSTS = 6
STRENGTHS = (0.03, 1.0, 30.0)  # weights of the alignment terms, relative to ridge regression
DAMPING = (0.0, 0.1)  # its gamma' as a share of gamma''


def rules(method, statistics, grid):
    """The rules of a one-stage method along a grid of C or alpha.

    Parameters
    ----------
    method : {"lkrr", "l1-svm", "aligned-krr"}
    statistics : AlignmentStatistics
        Statistics of the kernels with mean diagonal 1; only "aligned-krr" uses them.
    grid : sequence of float

    Returns
    -------
    list of OneStageWeighting
        In the grid's order. LKRR has base weights 0, where only Lambda / alpha matters.
    """
    if method == "lkrr":
        return [LKRR(1.0, 0.0, alpha) for alpha in grid]
    if method == "l1-svm":
        return [L1SVM(C) for C in grid]
    return list(_aligned_rules(statistics, grid))


def _aligned_rules(statistics, grid):
    """AlignedKRR whose terms have the same size for equal weights.

    gamma and gamma'' vary together, because their ratio sets the size of the weights, like alpha.
    """
    p = statistics.n_kernels
    reward, square = statistics.a.sum() / p, statistics.M.sum() / p**2
    for alpha in grid:
        # If the target is constant, any size is correct.
        size = (statistics.target_norm or 1.0) / alpha
        for strength in STRENGTHS:
            gamma = strength * size / reward if reward > 0.0 else 0.0
            for damping in DAMPING:
                yield AlignedKRR(
                    gamma, damping * strength * size * p, strength * size / square, alpha
                )


class OneStage:
    """One-stage methods on the training folds of a trial.

    Holds one Gram matrix per kernel of the training folds, for kernels on pairs.
    """

    def __init__(self, trial):
        # A reference cycle would keep the matrices of all trials until the next garbage collection.
        self.trial = weakref.proxy(trial)
        # A kernel that is constant on the training folds is omitted everywhere.
        self.used = np.flatnonzero(trial.scale > 0.0)
        if not self.used.size:
            raise ValueError("kernels: every kernel is constant on the training folds.")

    def candidates(self, method):
        """Yield a `Candidate` for each setting."""
        grid = self._grid(method)
        if method == "ensemble":
            return self._ensembles(grid)
        solve = self._svm if method == "l1-svm" else self._ridge
        return map(solve, rules(method, self.statistics, grid))

    @cached_property
    def family(self):
        """The kernels that vary, centered, of mean diagonal 1."""
        if are_per_column(self.trial.kernels):
            return FeatureFamily(
                self.trial.source.X[:, self.used], scale=self.trial.scale[self.used]
            )
        return GramFamily([self._single(k)[0] for k in self.used])

    @cached_property
    def statistics(self):
        """Alignment statistics of these kernels."""
        full, used = self.trial.statistics, self.used
        M, names = full.M[np.ix_(used, used)], tuple(full.names[k] for k in used)
        return replace(full, a=full.a[used], M=M, trace=full.trace[used], names=names)

    def _grid(self, method):
        trial = self.trial
        if trial.protocol.grid is not None:
            return trial.grid
        if trial.task == "classification":
            slow = method == "l1-svm" and are_per_column(trial.kernels)
            return trial.grid[:RANK_ONE_COSTS] if slow else trial.grid
        return ALIGNED_ALPHA_GRID if method == "aligned-krr" else ALPHA_GRID

    def _single(self, k):
        return self.trial.grams(np.arange(self.trial.scale.size) == k)

    def _spread(self, weights):
        """Weights of all kernels."""
        full = np.zeros(self.trial.scale.size)
        full[self.used] = weights
        return full

    def _ridge(self, rule):
        y = self.trial.y
        mean = y.mean()
        result = rule.solve_grams(self.family, y - mean, statistics=self.statistics)
        # The function stays the same: K_w (total dual) with K_w = K / total and alpha / total.
        total = result.weights.sum() or 1.0
        weights = self._spread(result.weights / total)
        predictions = self.trial.grams(weights)[1] @ (total * result.dual_coef) + mean
        return Candidate(predictions, weights, result.alignment, rule.alpha / total)

    def _svm(self, rule):
        result = rule.solve_grams(self.family, self.trial.y, statistics=self.statistics)
        weights = self._spread(result.weights / result.weights.sum())
        K, K_held_out = self.trial.grams(weights)
        # The rule's machine, with the tolerance and the votes of the other methods.
        machine = SupportVectorClassifier(C=rule.C).fit(
            K, self.trial.y, alpha0=result.dual_coef, check=False
        )
        return Candidate(machine.predict(K_held_out), weights, result.alignment, rule.C)

    def _ensembles(self, grid):
        trial, family = self.trial, self.family
        held_out = [self._single(k)[1] for k in self.used]
        for value in grid:
            machine = "krr" if trial.task == "regression" else "svc"
            model = Ensemble(machine, value, trial.protocol.random_state)
            weights = model.fit(family.grams, trial.y).weights_
            single = weights.shape[1] == 1
            weights = weights[:, 0] if single else np.abs(weights).mean(axis=1)
            weights = weights / (np.abs(weights).sum() or 1.0)
            yield Candidate(model.predict(held_out), self._spread(weights), np.nan, value)


def _one_stage(name, style, **traits):
    """The entry of a method; all these methods share the matrices of a trial."""
    return Method(lambda trial: trial.shared(OneStage).candidates(name), style, rule=name, **traits)


METHODS = {
    "lkrr": _one_stage("lkrr", ("lkrr", "#56B4E9", "X"), task="regression", holds={"family"}),
    "l1-svm": _one_stage(
        "l1-svm", ("l1-svm", "#8C6D1F", "<"), task="classification", holds={"family"}
    ),
    "aligned-krr": _one_stage(
        "aligned-krr", ("aligned-krr", "#7B3294", "h"), task="regression", holds={"family"}
    ),
    "ensemble": _one_stage(
        "ensemble",
        ("ensemble of machines", "#000000", "*"),
        learns=False,
        holds={"family", "held-out family"},
        no_columns="where it would be a machine for each column",
    ),
}
