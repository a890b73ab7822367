"""The block coordinate steps of the paper, with the corrected neighborhood kernels and slopes.

A round trains the models, sets ``Khat = K - (beta / eta) P(I)`` and minimizes over the weights
``eta/2 ||K_x - Khat||_F^2 - sum_k x_k q_k``, ``q_k = b'K_k b / 2``. The effect of a round on x is
one projected gradient step of length 1 / eta, in the metric ``<K_k, K_l>_F``, on
``J(x) = S(x) + beta sum_k x_k tr K_k``: eta only affects descent and speed. A step that does not
descend is repeated with twice the eta, from which later rounds return to eta by halves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.multitask._separate import Solution, dual_linear, largest_share
from alignlearn.multitask._tasks import open_tasks
from alignlearn.solvers.nnqp import nonnegative_qp
from alignlearn.weights.one_stage.svm import Settings, SVMPoint

_NOISE = 0.02  # of the tolerance: the gaps of the models themselves
_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class BlockSolution(Solution):
    """With ``n_shortened``, the steps that were repeated with twice the eta."""

    n_shortened: int = 0


def tasks_of(model, X, y, task=None):
    """The tasks that a multi-task estimator would get, a list of Task."""
    source, labels, _ = model._open(X, task)
    _, groups, values = model._targets(y, labels, source.n_samples)
    problems, _ = model._problems(groups, values, model.center)
    return open_tasks(source, problems, center=model.center, normalize=model.normalize)


def blockwise(task, beta, eta, *, tol, max_iter):
    """Minimize ``S(x) + beta sum_k x_k tr K_k`` over ``x >= 0`` for one task, a block at a time.

    Parameters
    ----------
    task : Task
    beta, eta : float
    tol : float
        Largest gap relative to the objective.
    max_iter : int
        Most rounds.

    Returns
    -------
    BlockSolution
    """
    used = np.flatnonzero((task.scale > 0.0) & (task.traces > 0.0))
    inside = np.ix_(used, used)
    cost, G = beta * task.traces, task.inner[inside]
    settings = Settings(tol=0.1 * tol, scale=task.scale)

    def at(x, near=None):
        point = SVMPoint(task.family, task.duals, settings, x, near)
        return point, point.value + float(cost @ x)

    x = np.zeros(task.scale.size)
    x[used] = 1.0 / max(used.size, 1)
    point, value = at(x)
    lower, shortened, n_iter, inverse = -np.inf, 0, 0, eta
    while True:
        lower = max(lower, largest_share(point.v, cost) * max(dual_linear(point), 0.0))
        if value - lower <= tol * abs(value) or n_iter >= max_iter or used.size == 0:
            break
        n_iter += 1
        for _ in range(_HALVINGS):
            ahead = G @ point.x[used] + (0.5 * point.v - cost)[used] / inverse
            x = np.zeros(task.scale.size)
            x[used] = nonnegative_qp(G, ahead, check_psd=False).v
            trial, reached = at(x, point)
            if reached <= value + _NOISE * tol * abs(value):
                break
            inverse, shortened = 2.0 * inverse, shortened + 1
        else:
            break
        inverse = max(eta, 0.5 * inverse)
        point, value = trial, reached
    return BlockSolution(point.x[None], [point.coef], value, lower, n_iter, n_shortened=shortened)
