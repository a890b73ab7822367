"""Predictors with a guarantee from a large alignment, and their risks, on finite supports.

P1 (Cortes, Mohri and Rostamizadeh, 2012), section 4.2. Labels have mean 0 and variance 1 unless
``general=True``, which takes P1's definitions for labels that are not centered. Predictors are
returned as their values on the atoms of a `problems.FiniteDistribution`, or on the points of a
sample; they have the units of y. Risks are population risks. Their guarantees are in
`alignlearn.theory.bounds.predictors`.
"""

from __future__ import annotations

import numpy as np

from alignlearn.bounds.checks import HypothesisNotMet, check_positive


def h_star(law, K, general: bool = False) -> np.ndarray:
    """h*(x) = E_x'[y' K_c(x, x')] / E[K_c^2]^(1/2); divided also by Var(y) if general.

    Parameters
    ----------
    law : FiniteDistribution with labels
    K : array (n, n)
    general : bool
        If False, E[y] = 0 and E[y^2] = 1 are required.

    Returns
    -------
    array (n,)

    Raises
    ------
    ValueError
        If the kernel has zero variance, or the labels are not standardized and `general` is False.
    """
    scale = _kernel_size(law, K) * _label_variance(law, general)
    return law.center(K) @ (law.weights * law.labels) / scale


def gamma_values(law, K, general: bool = False) -> np.ndarray:
    """gamma(x) = (E_x'[K_c(x, x')^2] / E[K_c^2])^(1/2) on the atoms; Gamma is its maximum.

    Parameters and errors are those of `h_star`; divided by Var(y) if general.
    """
    Kc = law.center(K).astype(float)
    rows = np.sqrt((Kc * Kc) @ law.weights.astype(float))
    return rows / (_kernel_size(law, K) * _label_variance(law, general))


def g_star(law, K) -> np.ndarray:
    """g*(x) = E_x'[y' K_c(x, x')] on the atoms."""
    return law.center(K) @ (law.weights * law.labels)


def classification_risk(law, h):
    """Pr[y h(x) < 0]."""
    return law.mean((law.labels * h < 0).astype(int))


def regression_risk(law, h):
    """E[(y - h(x))^2]."""
    return law.mean((law.labels - h) ** 2)


def h_sample(K, y, K_test=None):
    """h_S, centered on the sample: its mean of y_c h_S over the sample is the sample alignment.

    Parameters
    ----------
    K : array (m, m)
        Kernel on the sample.
    y : array (m,)
    K_test : array (n, m), optional
        Kernel between other points and the sample, centered with the sample means.

    Returns
    -------
    array (m,) or (n,)

    Raises
    ------
    ValueError
        If the kernel or the labels do not vary on the sample.
    """
    K, y = np.asarray(K, dtype=float), np.asarray(y, dtype=float)
    m = len(y)
    yc = y - y.mean()
    row = K.mean(0)
    Kc = K - row[:, None] - row[None, :] + row.mean()
    size = np.linalg.norm(Kc) / m * (yc @ yc) / m
    if not size > 0:
        raise HypothesisNotMet("the kernel and the labels must vary on the sample.")
    rows = Kc
    if K_test is not None:
        K_test = np.asarray(K_test, dtype=float)
        rows = K_test - K_test.mean(1)[:, None] - row[None, :] + row.mean()
    return rows @ yc / m / size


def _kernel_size(law, K) -> float:
    a = float(law.moments(K, K).theta)
    return check_positive("E[K_c^2]", a, "the kernel has zero variance.") ** 0.5


def _label_variance(law, general):
    mean, square = float(law.mean(law.labels)), float(law.mean(law.labels**2))
    if general:
        return check_positive("Var(y)", square - mean**2, "the labels have zero variance.")
    if abs(mean) > 1e-9 or abs(square - 1) > 1e-9:
        raise HypothesisNotMet(f"labels must have mean 0 and E[y^2] = 1, got {mean}, {square}.")
    return 1.0
