"""Methods of a comparison, and the candidates from which the validation fold selects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from alignlearn.statistics import center_gram, target_columns


class Candidate(NamedTuple):
    """The result of a method on the training folds at one setting.

    Attributes
    ----------
    predictions : ndarray
        On the rows of the validation fold, then of the test fold.
    weights : ndarray of shape (p,)
        Weights of the trace-normalized kernels, whose absolute values sum to 1. NaN if the kernel
        is not a combination of them.
    alignment : float
        Centered alignment of the kernel with the target on the training folds. NaN if there is
        no kernel.
    parameter : float
        The parameter that the validation fold selects: C, alpha, or that of the method's entry.
    kernel : Kernel, optional
        The kernel, if it is not the combination with these weights. On the columns as scaled by
        `Trial.columns`.

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
        ``candidates(trial)`` yields a `Candidate` for each setting from which the validation fold
        selects. Ties go to the first.
    style : (str, str, str)
        Label, color and marker in the figure.
    task : {"classification", "regression"}, optional
        The only supported task, if there is one.
    learns : bool
        Whether the verdict counts the method as learned.
    holds : set of str
        Memory that the method needs, as counted by `comparison.memory`: "family", a Gram matrix per
        kernel of the training folds, or one of the columns; "held-out family", a matrix per kernel
        of held-out and training rows; "own matrix", a Gram matrix of its own; "matrices", one for
        every kernel and three to work with; "pairs", as many pairs of samples as `comparison.hyper`
        draws.
    no_columns : str
        The reason if the method is not available for RankOneKernels.
    rule : str, optional
        Name of the weight rule in the estimators, if it has one.

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
    """Candidates of an SVM, or of ridge regression, on one kernel for each C or alpha.

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
    """Alignment of a centered Gram matrix with the target; 0 if one of them is 0."""
    Y = target_columns(y, task=task)
    norms = np.linalg.norm(K) * np.linalg.norm(Y.T @ Y)
    return float(np.vdot(Y, K @ Y) / norms) if norms > 0.0 else 0.0
