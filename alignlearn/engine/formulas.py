"""Scalar formulas of the kernels that are not exponentials of a primitive.

Plain Python on ``math`` only, so that each target can compile the same source. Exponentials of a
primitive (Gaussian, Laplacian, exponential, exponential-dot) are one formula, ``exp(c t)``, which
the engine evaluates with its own vectorised exponential.
"""

import math


def polynomial(dot, gamma, coef0, degree):
    """(gamma <x, x'> + coef0)^degree."""
    return (gamma * dot + coef0) ** degree


def binomial(dot, gamma, alpha):
    """(1 - gamma <x, x'>)^(-alpha), defined for gamma |x|^2 < 1; NaN outside."""
    base = 1.0 - gamma * dot
    return base ** (-alpha) if base > 0.0 else math.nan


def sigmoid(dot, gamma, coef0):
    """tanh(gamma <x, x'> + coef0)."""
    return math.tanh(gamma * dot + coef0)


def tl1(distance, tau):
    """max(tau - |x - x'|_1, 0)."""
    return 0.0 if distance >= tau else tau - distance  # Numba compiles no max() for CUDA


def rational_quadratic(distance2, rate, alpha, less_one):
    """(1 + rate |x - x'|^2)^(-alpha), minus 1 where ``less_one`` is not 0."""
    exponent = -alpha * math.log1p(rate * distance2)
    return math.exp(exponent) if less_one == 0.0 else math.expm1(exponent)


def logarithmic(distance, sigma):
    """-log(1 + |x - x'| / sigma)."""
    return -math.log1p(distance / sigma)
