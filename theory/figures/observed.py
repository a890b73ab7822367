"""A bound with the constants of a given sample, beside deviations observed on resamples of it."""

from __future__ import annotations

import numpy as np

from alignlearn.bounds.sample_price import quadratic_weights
from alignlearn.validation import check_seed

from ..bounds.u_statistics import quadruple_variance, u_statistic
from . import style
from .curves import find_curve
from .drawing import draw_curve

_SHARES = (16, 8, 4, 2, 1)  # of the sample, for resamples
_RESAMPLES = 40
_FEWEST = 8
# What a resample of size n shows: the alignment's deviation, or that of the numerator.
_OBSERVED = {
    "p1-theorem-12": "alignment",
    "p1-interval": "alignment",
    "p1-prop-11": "numerator",
    "p1-u-statistic": "numerator",
}


def combined(K_list, y):
    """(K, T): the alignf combination, scaled to a largest K(x, x) of 1, and the target kernel."""
    grams = (
        [np.asarray(K, dtype=float) for K in K_list]
        if np.ndim(K_list) != 2
        else [np.asarray(K_list, dtype=float)]
    )
    y = _target(y)
    m = len(y)
    if any(K.shape != (m, m) for K in grams):
        raise ValueError(f"K_list holds matrices of other sizes than ({m}, {m}), that of y.")
    T = np.outer(y, y)
    centered = [_centered(K) for K in grams]
    M = np.array([[(A * B).sum() for B in centered] for A in centered])
    a = np.array([(A * T).sum() for A in centered])
    weights = quadratic_weights(M, a) if len(grams) > 1 else np.ones(1)
    weights = weights if weights.any() else np.ones(len(grams))
    K = sum(w * G for w, G in zip(weights, grams))
    return K / np.diagonal(K).max(), T / np.diagonal(T).max()


def _target(y):
    y = np.asarray(y)
    values, codes = np.unique(y, return_inverse=True)
    if len(values) == 2:
        return 2.0 * codes.reshape(-1) - 1.0
    if y.dtype.kind not in "biuf":
        raise ValueError(f"y has {len(values)} classes; accepted: two, or real targets.")
    return y.astype(float) - y.astype(float).mean()


def _centered(K):
    K = K - K.mean(axis=0)
    return K - K.mean(axis=1, keepdims=True)


def moments(K, T):
    """a, a', the numerator and rho, by unbiased statistics where these are positive."""
    found = [u_statistic(K, K), u_statistic(T, T), u_statistic(K, T)]
    plain = [float((_centered(A) * B).mean()) for A, B in ((K, K), (T, T), (K, T))]
    a, a_prime = (u if u > 0 else p for u, p in zip(found[:2], plain[:2]))
    numerator = max(found[2], 0.0)
    return a, a_prime, numerator, min(numerator / np.sqrt(a * a_prime), 1.0)


def setting_of(curve, K, T):
    """The constants of the curve's setting, estimated from the sample."""
    a, a_prime, numerator, rho = moments(K, T)
    known = {"a": min(a, 1.0), "a_prime": min(a_prime, 1.0), "rho": rho, "theta": numerator}
    known["variance"] = float(quadruple_variance(K, T, random_state=0))
    return {name: known[name] for name in curve.numbers() if name in known}


def resampled(K, T, claim, delta, random_state=0):
    """(sizes, deviations): the (1 - delta) quantile over resamples of each size."""
    what = _OBSERVED[claim]
    rng, m = check_seed("random_state", random_state), len(K)
    sizes = [m // share for share in _SHARES if m // share >= _FEWEST]

    def value(rows):
        grid = np.ix_(rows, rows)
        A, B = _centered(K[grid]), T[grid]
        numerator = (A * B).mean()
        if what == "numerator":
            return numerator
        size = (A * K[grid]).mean() * (_centered(B) * B).mean()
        return numerator / np.sqrt(size) if size > 0 else 0.0

    whole, found = value(np.arange(m)), []
    for n in sizes:
        drawn = [abs(value(rng.integers(0, m, n)) - whole) for _ in range(_RESAMPLES)]
        found.append(float(np.quantile(drawn, 1.0 - delta)))
    return np.array(sizes), np.array(found)


def curve_for(K_list, y, claim="p1-theorem-12", delta=0.05, random_state=0):
    """`alignlearn.theory.curve_for`."""
    curve = find_curve(claim)
    if curve.claim not in _OBSERVED:
        raise ValueError(
            f"{claim} is no bound whose numbers a sample has; accepted: {', '.join(_OBSERVED)}."
        )
    K, T = combined(K_list, y)
    changes = setting_of(curve, K, T)
    m = len(K)
    sizes = style.log_grid(max(curve.least, 8), max(10**6, 100 * m))
    figure = draw_curve(curve, sizes, delta, changes)
    (ax,) = figure.axes
    at, seen = resampled(K, T, curve.claim, delta, random_state)
    ax.plot(at, np.maximum(seen, 1e-12), label="bootstrap of the sample", **style.OBSERVED)
    ax.axvline(m, color=style.GRAY, linewidth=0.8, linestyle=":")
    ax.set_ylim(min(ax.get_ylim()[0], seen[seen > 0].min(initial=1.0) / 2), None)
    ax.legend(loc="best", fontsize=9)
    return figure
