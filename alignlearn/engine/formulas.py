"""Scalar formulas of the kernels that are not exponentials of a primitive.

Plain Python with ``math`` only, so that each target can compile the same source. A function marked
as a ``formula`` of a register and up to three numbers is an operation of programs on all targets; a
kernel emits it by ``Builder.formula``. Exponentials of a primitive (Gaussian, Laplacian,
exponential, exponential-dot) are one formula, ``exp(c t)``, which the engine evaluates with its own
vectorized exponential.
"""

import math

FORMULAS = []


def formula(function):
    """Decorate a function ``f(register, number, ...)`` of numbers that programs may apply."""
    FORMULAS.append(function)
    return function


@formula
def polynomial(dot, gamma, coef0, degree):
    """(gamma <x, x'> + coef0)^degree."""
    return (gamma * dot + coef0) ** degree


@formula
def binomial(dot, gamma, alpha):
    """(1 - gamma <x, x'>)^(-alpha), defined for gamma |x|^2 < 1; NaN outside."""
    base = 1.0 - gamma * dot
    return base ** (-alpha) if base > 0.0 else math.nan


@formula
def sigmoid(dot, gamma, coef0):
    """tanh(gamma <x, x'> + coef0)."""
    return math.tanh(gamma * dot + coef0)


@formula
def tl1(distance, tau):
    """max(tau - |x - x'|_1, 0)."""
    return 0.0 if distance >= tau else tau - distance  # Numba compiles no max() for CUDA


@formula
def rational_quadratic(distance2, rate, alpha, less_one):
    """(1 + rate |x - x'|^2)^(-alpha), minus 1 if ``less_one`` is not 0."""
    exponent = -alpha * math.log1p(rate * distance2)
    return math.exp(exponent) if less_one == 0.0 else math.expm1(exponent)


@formula
def logarithmic(distance, sigma):
    """-log(1 + |x - x'| / sigma)."""
    return -math.log1p(distance / sigma)


@formula
def exponential_slope(distance, rate):
    """exp(-rate |x - x'|) / |x - x'|; 0 if rate |x - x'| is close to 0."""
    return math.exp(-rate * distance) / distance if rate * distance > 1e-8 else 0.0


@formula
def inverse_square(value):
    """1 / value^2; 0 at 0."""
    return 1.0 / (value * value) if value != 0.0 else 0.0


@formula
def squared_sine(distance, rate):
    """sin(rate |x - x'|)^2."""
    sine = math.sin(rate * distance)
    return sine * sine


@formula
def sine_slope(distance, rate):
    """sin(rate |x - x'|) / |x - x'|; the rate at 0."""
    return math.sin(rate * distance) / distance if distance > 0.0 else rate


def pair_determinant(ends, size_p, inverse, size_q, constants):
    """det(I + B'B) / (1 + size_p / 2) of two pairs, see `alignlearn.engine.hyper_values`.

    By pivots of Gaussian elimination: each is at least 1, and few digits cancel. ``ends`` are, of
    squared distances between the two points of p and one of q, the sums for both points of q and
    the differences; ``size_p`` and ``size_q`` are the squared distances within. ``inverse`` is that
    of the first pivot, ``1 + size_p / 2``; ``constants`` are 1, 1/2, 1/4 and 1/sqrt(32) in the type
    of the arithmetic.
    """
    s0, s1, d0, d1 = ends
    one, half, quarter, root = constants
    c = quarter * (d1 - d0)
    e = (d0 + d1) * root
    f = (s1 - s0) * root
    between = quarter * ((s0 + s1) - (size_p + size_q))
    b = one + half * size_q - c * (c * inverse)
    b = one if b < one else b
    f -= c * (e * inverse)
    det = b * (one + between - e * (e * inverse)) - f * f
    return b if det < b else det
