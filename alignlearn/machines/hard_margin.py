"""Support vector machines with a hard margin; whether two classes are separable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from alignlearn.solvers.smo import smo
from alignlearn.solvers.smo_rows import RowCache

# Two classes count as separable if the distance of their convex hulls exceeds this share of the
# diameter of the data; the square, 1e-10, still stands out from the rounding of b'Kb.
_LEAST_DISTANCE = 1e-5
_ROUNDING = 1e-6  # of b'Kb in units of R^2; enough for float32 kernels
_STAGES = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)


def hard_margin(K, sign, *, tol, max_iter, start=None):
    """Solve min |w|^2 / 2 subject to sign_i (w.phi_i + b) >= 1; the `SMOResult` of its dual.

    The dual is unbounded if the classes are not separable, so a bounded problem is solved first.
    With s the signs (0 for an omitted sample) and K in units of R^2, it is

        minimize  b'(K + ss')b / 2 - 2 s'b,  sum(b) = 0,  s_i b_i >= 0.

    Its solution is a multiple of the pair of nearest points of the two convex hulls (then
    s'b <= 2), and any b bounds their distance: from above by |sum_i b_i phi_i| / (s'b / 2), from
    below by the gap between the classes along the direction w = sum_i b_i phi_i. The tolerance is
    tightened until either bound passes ``1e-5 R``, R being the largest distance from one sample.
    If the upper bound passes, b / (s'b / 2) is a Farkas certificate to that precision: two convex
    combinations, one from each class, that coincide in feature space.

    Raises
    ------
    ValueError
        If the classes are not separable in the feature space of K.
    """
    if isinstance(K, RowCache):
        raise ValueError(
            "C=inf is a hard margin, which needs the Gram matrix and a copy of it, "
            f"about {16 * K.m**2 / 2**30:.1f} GiB for {K.m} samples, but "
            f"memory={K.memory} bytes. Use a finite C, fewer samples or more memory."
        )
    nearest, n_iter = _nearest_points(K, sign, max_iter)
    if start is None:
        start = nearest
    reach = np.full(sign.size, np.inf)
    bounds = np.where(sign < 0, -reach, 0.0), np.where(sign > 0, reach, 0.0)
    result = smo(K, -sign, bounds, start=start, tol=tol, max_iter=max_iter)
    gap = _hard_gap(result, sign)
    return replace(result, duality_gap=gap, n_iter=n_iter + result.n_iter)


def _nearest_points(K, sign, max_iter):
    """Solution of the bounded problem, scaled to the hard margin, and the steps it took."""
    used = np.flatnonzero(sign)
    squared = K.diagonal()[used] + K[used[0], used[0]] - 2.0 * K[used[0], used]
    radius2 = float(squared.max())
    if radius2 <= 0.0:
        raise ValueError(_message(0.0))
    bounded = K / K.dtype.type(radius2)
    bounded += np.multiply.outer(sign, sign)
    reach = 4.0 * sign  # twice the maximum for s'b <= 2: never active, but it limits every step
    bounds = np.minimum(reach, 0.0), np.maximum(reach, 0.0)
    coef, n_iter = None, 0
    for tol in _STAGES:
        result = smo(
            bounded, -2.0 * sign, bounds,
            start=coef, tol=tol, max_iter=max_iter,
        )  # fmt: skip
        coef, n_iter = result.coef, n_iter + result.n_iter
        total = float(sign @ coef)
        values = result.gradient + (2.0 - total) * sign
        square = float(coef @ values)
        if square < -_ROUNDING:
            raise ValueError(
                "C=inf is a hard margin, which needs a positive semi-definite K; "
                "this K is indefinite. Use a finite C."
            )
        width = np.sqrt(max(square, 0.0))
        gap = values[sign > 0].min() - values[sign < 0].max()
        if gap > _LEAST_DISTANCE * width and gap > 0.0:
            return coef * (2.0 / (gap * radius2)), n_iter
        if width <= 0.5 * _LEAST_DISTANCE * total:
            break
    raise ValueError(_message(2.0 * width / total))


def _message(distance):
    return (
        "C=inf is a hard margin, but the two classes are not separable in the feature space "
        f"of K: their convex hulls are at most {distance:.2g} of the data's radius apart. Use a "
        "finite C or another kernel."
    )


def _hard_gap(result, sign):
    """Primal minus dual value; the primal point is w scaled until every margin is 1."""
    values = sign * (result.gradient + sign - result.multiplier)
    margin = values[sign != 0.0].min()
    square = float(result.coef @ (result.gradient + sign))
    if margin <= 0.0:
        return np.inf
    return max(0.5 * square / margin**2 + result.objective, 0.0)
