"""What a method of a comparison is, and the candidates among which the validation fold chooses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from alignlearn.statistics import center_gram, target_columns


class Candidate(NamedTuple):
    """What a method makes of the training folds at one setting.

    Attributes
    ----------
    predictions : ndarray
        On the rows of the validation fold, then of the test fold.
    weights : ndarray of shape (p,)
        Of the kernels of equal trace, absolute values of sum 1; NaN where the kernel is not a
        combination of these.
    alignment : float
        Centered alignment of the kernel with the target on the training folds. NaN if there is
        no kernel.
    parameter : float
        That the validation fold chooses: C, alpha, or what the method's entry says.
    kernel : Kernel, optional
        Where it is not the combination of these weights. On the columns as `Trial.columns` scales
        them.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.comparison import Candidate
    >>> Candidate(np.zeros(4), weights=np.array([0.7, 0.3]), alignment=0.4, parameter=1.0).parameter
    1.0
    """

    predictions: np.ndarray
    weights: np.ndarray
    alignment: float
    parameter: float
    kernel: object = None


@dataclass(frozen=True)
class Method:
    """A method of a comparison: an entry of `comparison.methods.METHODS`.

    Attributes
    ----------
    candidates : callable
        ``candidates(trial)`` yields a `Candidate` for each setting that the validation fold chooses
        from; of equal validation errors the first is taken.
    style : (str, str, str)
        Label, color and marker in the figure.
    task : {"classification", "regression"}, optional
        The only one that it is for.
    learns : bool
        Whether the verdict counts it among the learned kernels.
    holds : set of str
        What it keeps in memory, as `comparison.memory` counts it: "family", a Gram matrix per
        kernel of the training folds, or one of the columns; "held-out family", a matrix per kernel
        of held-out and training rows; "own matrix", a Gram matrix of its own; "matrices", one for
        every kernel and three to work with; "pairs", as many pairs of samples as
        `comparison.hyper` draws.
    no_columns : str
        Why it is not available for RankOneKernels, if it is not.
    rule : str, optional
        What estimators call the rule for the weights, if it is one of theirs.

    Examples
    --------
    >>> from alignlearn.comparison import METHODS
    >>> METHODS["alignf"].learns, METHODS["uniform"].learns
    (True, False)
    >>> METHODS["alignf"].rule
    'alignf'
    """

    candidates: Callable
    style: tuple[str, str, str]
    task: str | None = None
    learns: bool = True
    holds: frozenset = frozenset()
    no_columns: str = ""
    rule: str | None = None


def own_kernel_candidates(trial, kernel):
    """Candidates of a machine (SVM, or ridge for regression) on one kernel, along C or alpha.

    Parameters
    ----------
    trial : Trial
    kernel : Kernel
        On the columns as scaled by ``trial.columns``. Its centered Gram matrix is scaled to trace
        m. A kernel that is constant on the training folds gives no candidate.
    """
    train, held_out = trial.columns
    K, K_held_out = kernel(train), kernel(held_out, train)
    center_gram(K_held_out, K.mean(axis=0, dtype=np.float64))
    center_gram(K)
    trace = np.trace(K)
    if not trace > 1e-12 * len(K):
        return
    K, K_held_out = K * (len(K) / trace), K_held_out * (len(K) / trace)
    nothing = np.full(trial.scale.size, np.nan)
    aligned = centered_alignment(K, trial.y, trial.task)
    for predictions, value in zip(trial.predictions(K, K_held_out), trial.grid):
        yield Candidate(predictions, nothing, aligned, value, kernel)


def centered_alignment(K, y, task):
    """Alignment of a centered Gram matrix with the target; 0 where one of them is 0."""
    Y = target_columns(y, task=task)
    norms = np.linalg.norm(K) * np.linalg.norm(Y.T @ Y)
    return float(np.vdot(Y, K @ Y) / norms) if norms > 0.0 else 0.0
