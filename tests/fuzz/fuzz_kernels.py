"""Random kernels, each with its values in long double and a bound on rounding.

A `Spec` pairs a kernel of the library with a function that evaluates it by its definition and
bounds how much evaluation in a precision ``eps`` may change the values. The bounds are running
error analyses: each operation adds its own rounding and propagates that of its operands.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from fuzz_data import LD

import alignlearn as al


class Values(NamedTuple):
    """Values of a kernel on pairs, and bounds of what rounding may change, entry by entry.

    Attributes
    ----------
    K : ndarray of longdouble
    exact : ndarray
        Error of the kernel's value.
    centered : ndarray
        Error of what is centered later, possibly without constants.
    register : ndarray
        Size of what is summed before centering.
    peak : float
        Largest number on the way.
    """

    K: np.ndarray
    exact: np.ndarray
    centered: np.ndarray
    register: np.ndarray
    peak: float


def plain(K, error, peak=0.0, eps=0.0):
    """Values without a better form for centering."""
    error = error + eps * np.abs(K)
    return Values(K, error, error, np.abs(K), max(peak, float(np.abs(K).max(initial=0))))


@dataclass
class Spec:
    """A kernel, and ``evaluate(X, Z, base, eps)``, parameters like "scale" being read from base."""

    kernel: object
    evaluate: object
    psd: bool = True
    tags: set = field(default_factory=set)
    forms: bool = False  # evaluate(..., outer=True): the form that a list would choose


def floor(eps):
    """Exponentials below this are 0."""
    return 2e-18 if eps > 1e-10 else 2e-150


def _numeric(gamma, base, name=""):
    if gamma == "auto":
        return LD(1) / base.shape[1]
    if gamma == "scale":
        d, variance = base.shape[1], np.var(base)
        sizes = {"laplacian": d * np.sqrt(variance), "exponential": np.sqrt(d * variance)}
        return LD(1) / sizes.get(name, d * variance) if variance > 0 else LD(1)
    return LD(gamma)


def _differences(X, Z):
    return X[:, None, :] - Z[None, :, :]


def _products(X, Z):
    """<x, x'>, and the sum of |x_j x'_j| that bounds its rounding."""
    return (X[:, None, :] * Z[None]).sum(-1), np.abs(X[:, None, :] * Z[None]).sum(-1)


_DISTANCES = {
    "gaussian": (al.Gaussian, lambda D: (D**2).sum(-1)),
    "laplacian": (al.Laplacian, lambda D: np.abs(D).sum(-1)),
    "exponential": (al.Exponential, lambda D: np.sqrt((D**2).sum(-1))),
}


def formed(K, less, errors, peak, outer):
    """Values of an exponential K, which differs from 1 by ``less``, in the form chosen for it.

    ``errors`` are those of K and of K - 1. An entry of a list (``outer``) is K where its mean on
    some pairs is below 1/2, everything else K - 1.
    """
    full, shifted = errors
    mean = float(K.mean()) if outer else 1.0
    if mean > 0.9:
        return Values(K, full, shifted, less, peak)
    if mean < 0.1:
        return Values(K, full, full, K, peak)
    return Values(K, full, np.maximum(full, shifted), np.maximum(K, less), peak)


def gamma_for(draws, typical):
    """A rate: relative to the data, or not."""
    kind = draws.pick(*["number"] * 5, "scale", "auto", "absolute")
    if kind == "number":
        return float(draws.power(-3, 2) / (typical or 1.0))
    return draws.power(-6, 6) if kind == "absolute" else kind


def exponential(draws, X, name=None, gamma=None, octaves=None):
    """exp(-gamma distance); ``octaves``: halvings of gamma to the first of a ladder."""
    name = name or draws.pick(*_DISTANCES)
    make, distance = _DISTANCES[name]
    gamma = gamma or gamma_for(draws, float(distance(_differences(X, X)).mean()))

    def evaluate(X, Z, base, eps, outer=False):
        rate = _numeric(gamma, base, name)
        t = rate * distance(_differences(X, Z))
        K, less = np.exp(-t), -np.expm1(-t)
        relative = X.shape[1] + 6 + (64 * 2e-16 / eps if isinstance(gamma, str) else 0)
        slope = K * t * relative * eps + floor(eps)
        full, shifted = slope + 3 * eps * K, slope + 3 * eps * less
        if octaves:
            full = full + eps * (2.0 ** min(octaves + 1, 13) * K + 16 * np.sqrt(K))
            shifted = shifted + octaves * eps * less
        return formed(K, less, (full + eps * K, shifted), 1.0, outer)

    return Spec(make(gamma), evaluate, tags={name}, forms=True)


def ladder(draws, X):
    """Gaussians in ratio 2 or 4, in any order."""
    distances = float(_DISTANCES["gaussian"][1](_differences(X, X)).mean()) or 1.0
    low = draws.power(-4, 0) / distances
    step, p = int(draws.pick(1, 1, 2)), draws.whole(2, 7)
    octaves = step * draws.numbers.permutation(p)
    return [exponential(draws, X, "gaussian", float(low * 2.0**k), int(k) or None) for k in octaves]


def exponential_dot(draws, X):
    """exp(gamma <x, x'>)."""
    top = float(np.square(X).sum(-1).max()) or 1.0
    gamma = float(draws.power(-2, 0.5) / top)

    def evaluate(X, Z, base, eps):
        dot, size = _products(X, Z)
        t, error = LD(gamma) * dot, gamma * size * (X.shape[1] + 5) * eps
        K = np.exp(t)
        full, less = K * (np.expm1(error) + 4 * eps), np.abs(np.expm1(t))
        return Values(K, full, K * np.expm1(error) + 4 * eps * less, less, float(K.max()))

    return Spec(al.ExponentialDot(gamma), evaluate, tags={"exponential-dot"})


def linear(draws, X):
    """<x, x'>."""

    def evaluate(X, Z, base, eps):
        dot, size = _products(X, Z)
        mean = Z.mean(axis=0)
        centered = _products(X - mean, Z - mean)[1]
        rounding = (X.shape[1] + 4) * eps
        return Values(dot, rounding * size, rounding * centered, centered, float(size.max()))

    return Spec(draws.pick("linear", al.Linear()), evaluate, tags={"linear"})


def polynomial(draws, X, psd=True):
    """(gamma <x, x'> + coef0)^degree."""
    top = float(np.square(X).sum(-1).max()) or 1.0
    gamma = gamma_for(draws, top)
    degree = draws.whole(0, 5)
    coef0 = float(draws.pick(0.0, 1.0, draws.real(0, 3), 100.0))
    if not psd:
        coef0 = -coef0

    def evaluate(X, Z, base, eps):
        rate = _numeric(gamma, base)
        dot, size = _products(X, Z)
        argument = rate * dot + LD(coef0)
        error = ((X.shape[1] + 70) * rate * size + 2 * abs(coef0)) * eps
        above = np.abs(argument) + error
        K = argument**degree
        slack = degree * above ** max(degree - 1, 0) * error if degree else 0.0
        return plain(K, slack + 2 * degree * eps * np.abs(K), float(above.max() ** max(degree, 1)))

    kernel = al.Polynomial(gamma, coef0=coef0, degree=degree)
    return Spec(kernel, evaluate, coef0 >= 0, {"polynomial"})


def binomial(draws, X):
    """(1 - gamma <x, x'>)^-alpha."""
    top = float(np.square(X).sum(-1).max()) or 1.0
    gamma, alpha = float(draws.real(0.05, 0.9) / top), float(draws.real(0.2, 4))

    def evaluate(X, Z, base, eps):
        dot, size = _products(X, Z)
        under = 1 - LD(gamma) * dot
        error = (gamma * size * (X.shape[1] + 5) + 1) * eps
        K = under ** LD(-alpha)
        return plain(K, 1.1 * alpha * K * error / (under - error) + 4 * eps * K)

    return Spec(al.Binomial(gamma, alpha=alpha), evaluate, tags={"binomial"})


def indefinite(draws, X):
    """A kernel that is not positive semi-definite: TL1, log, sigmoid, or a negative coef0."""
    kind = draws.pick("tl1", "log", "sigmoid", "polynomial")
    typical = float(np.abs(_differences(X, X)).sum(-1).mean()) or 1.0
    scale = float(typical * draws.power(-1, 1))
    if kind == "polynomial":
        return polynomial(draws, X, psd=False)
    if kind == "sigmoid":
        gamma, coef0 = gamma_for(draws, typical**2), float(draws.numbers.normal())

        def evaluate(X, Z, base, eps):
            rate = _numeric(gamma, base)
            dot, size = _products(X, Z)
            argument = rate * dot + LD(coef0)
            error = ((X.shape[1] + 70) * rate * size + 2 * abs(coef0)) * eps
            inside = np.maximum(np.abs(argument) - error, 0)
            return plain(np.tanh(argument), error / np.cosh(inside) ** 2, eps=4 * eps)

        return Spec(al.Sigmoid(gamma, coef0=coef0), evaluate, False, {"sigmoid"})

    def evaluate(X, Z, base, eps):
        D, d = _differences(X, Z), X.shape[1]
        if kind == "tl1":
            s = np.abs(D).sum(-1)
            return plain(np.maximum(LD(scale) - s, 0), eps * ((d + 2) * s + 2 * scale))
        r = np.sqrt((D**2).sum(-1)) / LD(scale)
        return plain(-np.log1p(r), eps * (d + 6) * r / (1 + r), eps=4 * eps)

    kernel = al.TL1(scale) if kind == "tl1" else al.Log(scale)
    return Spec(kernel, evaluate, False, {kind})


def cosine(draws, X):
    """<x, x'> / (|x| |x'|)."""

    def evaluate(X, Z, base, eps):
        dot, size = _products(X, Z)
        norms = [np.sqrt((A**2).sum(-1)) for A in (X, Z)]
        both = np.multiply.outer(*norms)
        divide = np.where(both > 0, both, 1)
        return plain(dot / divide, 3 * (X.shape[1] + 4) * eps * size / divide)

    return Spec(draws.pick("cosine", al.Cosine()), evaluate, tags={"cosine"})


def function(draws, X):
    """A Python function of two samples, or of two arrays."""
    vectorized = draws.chance(0.7) or len(X) > 15

    def pair(x, z):
        return 1.0 / (1.0 + float(np.abs(np.asarray(x, float) - np.asarray(z, float)).sum()))

    def block(X, Z):
        return 1.0 / (
            1.0 + np.abs(_differences(np.asarray(X, float), np.asarray(Z, float))).sum(-1)
        )

    def evaluate(X, Z, base, eps):
        s = np.abs(_differences(X, Z)).sum(-1)
        K = 1 / (1 + s)
        return plain(K, (X.shape[1] + 4) * eps * K)

    kernel = al.FromFunction(block, vectorized=True) if vectorized else al.FromFunction(pair)
    return Spec(kernel, evaluate, tags={"function"})


def precomputed(K, column):
    """A precomputed matrix whose sample numbers are a column of X."""
    G = np.asarray(K, LD)

    def evaluate(X, Z, base, eps):
        rows, columns = (np.asarray(A[:, column], dtype=int) for A in (X, Z))
        return plain(G[np.ix_(rows, columns)], 0.0, eps=eps)

    return Spec(al.Columns(al.Precomputed(K), column), evaluate, tags={"precomputed"})


_LEAVES = (exponential, exponential, exponential, linear, polynomial, exponential_dot, binomial,
           cosine, function)  # fmt: skip


def leaf(draws, X):
    """A positive semi-definite kernel that is no combination."""
    return draws.pick(*_LEAVES)(draws, X)


def evaluated(spec, X, Z, base, eps):
    """Values of a spec as an entry of a list of kernels, where exponentials choose their form."""
    with np.errstate(all="ignore"):
        return spec.evaluate(X, Z, base, eps, **({"outer": True} if spec.forms else {}))
