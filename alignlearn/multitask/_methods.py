"""The weights of all tasks by each method, with one result for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from alignlearn._text import Result
from alignlearn.validation import warn_unconverged
from alignlearn.weights.one_stage import L1SVM

from ._coupled import coupled
from ._neighbors import aligned, proxy
from ._separate import Solution, common, penalized
from ._tasks import each
from .neighborhood import neighborhood_coefficients, ridge_shared

METHODS = ("onmkl", "independent", "uniform", "mkl", "kta", "rpkl", "onjkl")
COUPLINGS = ("none", "ridge", "group")
PRINTED_ETA = 0.5  # Khat = K + bb' of the papers on proxy kernels
_ROUNDS = 500


@dataclass(frozen=True)
class Options:
    """Checked parameters of the estimators that the weights depend on."""

    method: str
    C: float
    beta: float
    eta: float
    coupling: str
    ridge: float
    discount: float | None
    norm: float
    loss: dict
    tol: float
    max_iter: int | None
    verbose: Any


@dataclass(frozen=True, eq=False)
class MultiTaskResult(Result):
    """Kernel weights of all tasks, with certificates.

    Attributes
    ----------
    weights : ndarray of shape (T, p), float64
        Weights of the scaled kernels.
    shared : ndarray of shape (p,)
        The part of the weights that all tasks share.
    neighbors : ndarray of shape (T, p)
        Coefficients of the neighborhood kernels. For methods whose neighborhood kernels depend on
        labels (kta, rpkl, onjkl), or that have none, those of the learned kernels.
    objective : float
        Objective of all tasks together; NaN if nothing is minimized ("uniform").
    duality_gap : float
        Upper bound of objective minus minimum, relative to the objective: for all tasks together,
        or the maximum over tasks that do not interact.
    n_iter : int
        Rounds or Newton steps, summed over tasks that do not interact.
    converged : bool
        ``duality_gap <= tol``.
    identity : ndarray of shape (T,)
        kappa of "rpkl" and "onjkl": the models are trained on ``K + kappa I``; otherwise 0.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, Linear, MultiTaskMKLClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, task = rng.normal(size=(60, 2)), np.repeat(["day", "night"], 30)
    >>> model = MultiTaskMKLClassifier([Gaussian(0.5), Linear()]).fit(X, X[:, 0] > 0, task=task)
    >>> result = model.result_
    >>> result.weights.shape, bool(result.converged), bool(result.duality_gap < 1e-4)
    ((2, 2), True, True)
    """

    weights: np.ndarray
    shared: np.ndarray
    neighbors: np.ndarray
    objective: float
    duality_gap: float
    n_iter: int
    converged: bool
    identity: np.ndarray


def solve(tasks, options):
    """Weights of all tasks: (MultiTaskResult, starting coefficients of every machine).

    Parameters
    ----------
    tasks : list of Task
    options : Options
    """
    if options.method == "uniform":
        return _uniform(tasks)
    if options.method == "mkl":
        limit = options.max_iter or _ROUNDS
        found = [common(tasks, options.norm, tol=options.tol, max_iter=limit)]
        identity = np.zeros(len(tasks))
    elif options.method == "onmkl" and options.coupling != "none":
        found, identity = [_coupled(tasks, options)], np.zeros(len(tasks))
    else:
        pairs = each(partial(_one, options), tasks, verbose=options.verbose)
        found, identity = [pair[0] for pair in pairs], np.array([pair[1] for pair in pairs])
    return _result(tasks, options, found, identity), [b for one in found for b in one.coefs]


def _result(tasks, options, found, identity):
    weights = np.vstack([one.weights for one in found])
    gap = max(_relative(one) for one in found)
    n_iter = sum(one.n_iter for one in found)
    shared = found[0].shared if len(found) == 1 else None
    if options.method == "onmkl" and options.coupling == "ridge":
        shared = ridge_shared(weights)
    shared = weights.min(axis=0) if shared is None else shared
    converged = gap <= options.tol
    if not converged:
        reached, remedy = ("a relative duality gap of", gap), "raise max_iter, tol or beta"
        what = f"method={options.method!r}"
        warn_unconverged(what, f"{n_iter} steps", *reached, options.tol, remedy)
    return MultiTaskResult(
        weights,
        shared,
        _neighbors(tasks, options, weights),
        sum(one.value for one in found),
        gap,
        n_iter,
        converged,
        identity,
    )


def _relative(one):
    return max(one.value - one.lower, 0.0) / abs(one.value) if one.value else 0.0


def _neighbors(tasks, options, weights):
    if options.method != "onmkl":
        return weights
    return np.array(
        [
            neighborhood_coefficients(theta, t.inner, t.traces, options.beta, options.eta)
            for theta, t in zip(weights, tasks)
        ]
    )


def _uniform(tasks):
    p = tasks[0].scale.size
    weights = np.full((len(tasks), p), 1.0 / p)
    result = MultiTaskResult(
        weights, weights[0], weights, np.nan, 0.0, 0, True, np.zeros(len(tasks))
    )
    return result, [None] * len(tasks)


def _one(options, task):
    """(solution, kappa) of a task on its own."""
    limit, tol = options.max_iter or _ROUNDS, options.tol
    cost = options.beta * task.traces
    if not np.any(task.traces > 0.0):
        # No kernel varies on this task: its model is a constant for any weights.
        zero = np.zeros((1, task.scale.size))
        return Solution(zero, [np.zeros(task.duals.targets.shape)], 0.0, 0.0, 0), 0.0
    if options.method == "independent":
        return _single(options, task), 0.0
    if options.method == "kta":
        return aligned(task, options.eta, tol=tol, max_iter=limit), 0.0
    if options.method == "rpkl":
        x = np.full(cost.size, 1.0 / cost.size)
        return proxy(task, options.eta, x=x, tol=tol, max_iter=limit)
    if options.method == "onjkl":
        return proxy(task, options.eta, cost=cost, tol=tol, max_iter=limit)
    found = penalized(task.family, task.duals, cost, task.scale, tol=tol, max_iter=limit)
    return found, 0.0


def _single(options, task):
    """Learned kernel of one task by itself, under a constraint of the trace: "independent"."""
    rule = L1SVM(options.C, options.norm, tol=options.tol, max_iter=options.max_iter)
    rule.set_params(**options.loss)
    found = rule.solve_grams(task.family, task.labels)
    used = task.scale > 0.0
    weights = np.divide(found.weights, task.scale, out=np.zeros(used.size), where=used)
    coef = found.dual_coef.reshape(task.n_samples, -1).T
    lower = found.objective - found.duality_gap * abs(found.objective)
    return Solution(weights[None], [coef], found.objective, lower, found.n_iter)


def _coupled(tasks, options):
    """Weights with a shared part, started from those without one."""
    traces = np.array([task.traces for task in tasks])
    limit = options.max_iter or _ROUNDS
    # If a kernel is 0 on a task, any positive cost is possible.
    traces = np.where(traces > 0.0, traces, traces.mean())
    if options.coupling == "ridge":
        shared, ridge = traces.sum(axis=0), options.ridge
    else:
        discount = options.discount or np.sqrt(len(tasks))
        shared, ridge = discount * traces.mean(axis=0), 0.0
    cost = options.beta * np.vstack([shared, traces])
    # A rough start is enough: the first certificate of the coupled problem shows its quality.
    rough = each(
        lambda t: penalized(
            t.family, t.duals, options.beta * t.traces, t.scale, tol=1e-2, max_iter=limit
        ),
        tasks,
    )
    start = np.vstack([one.weights for one in rough])
    if all(one.value == 0.0 for one in rough):
        # Constants have no loss on any task, so kernels only add costs.
        coefs = [one.coefs[0] for one in rough]
        return Solution(np.zeros_like(start), coefs, 0.0, 0.0, 0, np.zeros(start.shape[1]))
    return coupled(tasks, cost, ridge, start=start, tol=options.tol, max_iter=limit)
