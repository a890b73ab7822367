"""The compiled steps of stochastic gradient descent on an expansion in kernels.

``f = scale * sum_i coef_i k(x_i, .) + intercept``. A step with the sample (x, y) and length eta

    f <- (1 - eta alpha) f - eta l'(f(x), y) k(x, .)

multiplies ``scale`` and adds to one coefficient, so the decay of all others has no cost.

Source: Kivinen, Smola and Williamson (2004), "Online learning with kernels", equations (7)-(10).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn._jit import jit

LOSSES = ("hinge", "logistic", "squared", "epsilon-insensitive")
HINGE, LOGISTIC, SQUARED, INSENSITIVE = range(4)
SCHEDULES = ("optimal", "invscaling", "constant")
OPTIMAL, INVSCALING, CONSTANT = range(3)
NEVER = np.iinfo(np.int64).max  # the age of a sample that is not in the expansion
_LEAST_SCALE = 1e-100


class Rule(NamedTuple):
    """Parameters of the steps, all numbers."""

    loss: int
    epsilon: float
    alpha: float
    eta0: float
    schedule: int
    budget: int
    intercept: float  # 1.0 or 0.0


class Model(NamedTuple):
    """The arrays that steps change; q problems share the n samples."""

    coef: np.ndarray  # (n, q)
    age: np.ndarray  # (n,): number of the last step that changed the coefficients, or NEVER
    norms: np.ndarray  # (n,): sqrt(k(x, x))
    intercept: np.ndarray  # (q,)
    error: np.ndarray  # (q,): bound on the norm of the truncated part
    losses: np.ndarray  # (q,): sums of the losses, each before the step
    clock: np.ndarray  # (scale, number of steps done)


@jit
def loss_and_slope(kind, value, target, epsilon):
    """A loss at a prediction and its derivative there (a subgradient at a kink)."""
    loss, slope = 0.0, 0.0
    if kind == HINGE:
        loss = max(0.0, 1.0 - target * value)
        slope = -target if loss > 0.0 else 0.0
    elif kind == LOGISTIC:
        margin = target * value
        small = np.exp(-abs(margin))
        loss = np.log1p(small) + max(0.0, -margin)
        slope = -target * (small if margin > 0.0 else 1.0) / (1.0 + small)
    elif kind == SQUARED:
        slope = value - target
        loss = 0.5 * slope * slope
    else:
        residual = value - target
        loss = max(0.0, abs(residual) - epsilon)
        slope = np.sign(residual) if loss > 0.0 else 0.0
    return loss, slope


@jit
def step_length(rule, done):
    """Length of the next step after ``done`` steps."""
    if rule.schedule == OPTIMAL:
        return rule.eta0 / (1.0 + rule.alpha * rule.eta0 * done)
    if rule.schedule == INVSCALING:
        return rule.eta0 / np.sqrt(1.0 + done)
    return rule.eta0


@jit.owning
def mean_losses(kind, values, targets, epsilon):
    """Mean loss of each column, (q,)."""
    out = np.zeros(values.shape[1])
    for i in range(values.shape[0]):
        for j in range(out.size):
            out[j] += loss_and_slope(kind, values[i, j], targets[i, j], epsilon)[0]
    return out / values.shape[0]


@jit
def _add(row, values, factor):
    for k in range(values.size):
        row[k] += factor * values[k]


@jit
def _drop_oldest(K, decisions, model, scale, after):
    """Remove the sample with the oldest change from the expansion."""
    oldest = 0
    for k in range(model.age.size):
        if model.age[k] < model.age[oldest]:
            oldest = k
    for j in range(decisions.shape[0]):
        coef = model.coef[oldest, j]
        model.error[j] += abs(scale * coef) * model.norms[oldest]
        _add(decisions[j, after:], K[oldest, after:], -coef)
        model.coef[oldest, j] = 0.0
    model.age[oldest] = NEVER


@jit
def _scale(A, factor):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] *= factor


@jit
def run_block(K, slot, targets, decisions, model, rule):
    """One step for each of B samples, in order.

    Parameters
    ----------
    K : (n, B) float64
        Kernel of the samples of ``model`` with these.
    slot : (B,) int64
        Their positions among the n, all different.
    targets : (q, B) float64
    decisions : (q, B) float64
        ``coef' K``, without scale and intercept; overwritten.
    model : Model
        Changed in place.
    rule : Rule
    """
    scale, done = model.clock
    held = 0
    for k in range(model.age.size):
        held += model.age[k] != NEVER
    for i in range(slot.size):
        c, old, moved = slot[i], scale, False
        eta = step_length(rule, done)
        decay = 1.0 - eta * rule.alpha
        scale *= decay
        for j in range(targets.shape[0]):
            value = old * decisions[j, i] + model.intercept[j]
            loss, slope = loss_and_slope(rule.loss, value, targets[j, i], rule.epsilon)
            model.losses[j] += loss
            model.error[j] *= decay
            if slope != 0.0:
                moved = True
                change = -eta * slope / scale
                model.coef[c, j] += change
                model.intercept[j] -= rule.intercept * eta * slope
                _add(decisions[j, i + 1 :], K[c, i + 1 :], change)
        if moved:
            held += model.age[c] == NEVER
            model.age[c] = np.int64(done)
        # More than one only where the budget has been lowered between calls.
        while held > rule.budget:
            _drop_oldest(K, decisions, model, scale, i + 1)
            held -= 1
        if scale < _LEAST_SCALE:
            _scale(model.coef, scale)
            _scale(decisions, scale)
            scale = 1.0
        done += 1.0
    model.clock[0], model.clock[1] = scale, done
