"""What every family of fuzz cases draws: samples in many containers, targets, Gram matrices."""

import atexit
import itertools
import os
import tempfile
from dataclasses import dataclass, field

import numpy as np

LD = np.longdouble
EPS = float(np.finfo(np.float64).eps)


class Wrong(Exception):
    """A silent wrong answer: what is wrong (the same words for the same cause), and the numbers.

    With ``inner`` it is an error that the library did not mean, or did not word, for users.
    """

    def __init__(self, what, details="", *, inner=False):
        super().__init__(f"{what}: {details}")
        self.what, self.inner = what, inner


def require(condition, what, details=""):
    """Raise `Wrong` unless the condition holds."""
    if not condition:
        raise Wrong(what, details)


def chance(rng, probability):
    """True with this probability."""
    return rng.random() < probability


def pick(rng, *options):
    """One of the options, with equal probability."""
    return options[rng.integers(len(options))]


def size(rng, low, high):
    """A whole number from low to high, small ones as likely as large ones."""
    return int(np.exp(rng.uniform(np.log(low), np.log(high + 1))))


@dataclass
class Samples:
    """Samples as they are passed, and what they hold.

    Attributes
    ----------
    given : array, data frame or list
    exact : ndarray of longdouble of shape (m, d)
        The same numbers.
    eps : float
        Of the type that the library computes in.
    tags : set of str
        What may matter to a failure.
    """

    given: object
    exact: np.ndarray
    eps: float
    tags: set = field(default_factory=set)

    def __len__(self):
        return len(self.exact)


def matrix(rng, m, d, tags):
    """A float64 matrix (m, d) of some awkward kind; its kind is added to ``tags``."""
    kind = pick(rng, "normal", "normal", "uniform", "lattice", "heavy", "zeros")
    X = rng.normal(size=(m, d))
    if kind == "uniform":
        X = rng.random((m, d))
    elif kind == "lattice":
        X = np.round(2.0 * X)
    elif kind == "heavy":
        X *= np.exp(2.0 * rng.normal(size=(m, d)))
    elif kind == "zeros":
        X[rng.random((m, d)) < 0.6] = 0.0
    if chance(rng, 0.15):
        X = X[rng.integers(0, m, m)]
        tags.add("duplicates")
    if chance(rng, 0.02):
        X = X[np.zeros(m, dtype=int)]
        tags.add("equal rows")
    if chance(rng, 0.5):
        X *= 10.0 ** rng.integers(-8, 9)
        tags.add("scale")
    if chance(rng, 0.1):
        X *= 10.0 ** rng.uniform(-3, 3, d)
        tags.add("column scales")
    if chance(rng, 0.15):
        X += np.abs(X).max() * 10.0 ** rng.uniform(0, 5)
        tags.add("offset")
    if chance(rng, 0.1):
        X[rng.integers(m)] *= 10.0 ** rng.uniform(2, 6)
        tags.add("outlier")
    if chance(rng, 0.2):
        X[:, rng.integers(d)] = pick(rng, 0.0, 1.0, 0.1, 1e6)
        tags.add("constant column")
    return X


def benign(rng, m, d):
    """A float64 matrix (m, d) of scale 1, possibly with duplicated rows: for optimisation."""
    X = rng.normal(size=(m, d))
    return X[rng.integers(0, m, m)] if chance(rng, 0.1) else X


def samples(rng, *, low=2, high=60, X=None):
    """Samples of some type in some container."""
    tags = set()
    if X is None:
        X = matrix(rng, size(rng, low, high), size(rng, 1, 12), tags)
    dtype = pick(rng, "float64", "float64", "float64", "float32", "float32", "int64")
    if dtype == "int64":
        X = np.clip(np.round(X), -(2**52), 2**52)
    X = np.ascontiguousarray(X.astype(dtype))
    tags.add(dtype)
    container = pick(rng, *["array"] * 6, *CONTAINERS)
    given = CONTAINERS[container](X) if container in CONTAINERS else X
    tags.add(container)
    single = dtype == "float32" and container != "list"
    return Samples(given, X.astype(LD), float(np.finfo("f4" if single else "f8").eps), tags)


def _strided(X):
    wide = np.zeros((2 * len(X), 2 * X.shape[1]), X.dtype)
    wide[::2, ::-2] = X
    return wide[::2, ::-2]


def _frame(X):
    import pandas as pd

    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


def _read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


_NUMBERS = itertools.count()


def _memmap(X):
    folder = _FOLDER or _new_folder()
    path = os.path.join(folder, f"{next(_NUMBERS) % 64}.dat")
    X.tofile(path)
    return np.memmap(path, dtype=X.dtype, mode="r", shape=X.shape)


_FOLDER = None


def _new_folder():
    global _FOLDER
    holder = tempfile.TemporaryDirectory(prefix="fuzz-")
    atexit.register(holder.cleanup)
    _FOLDER = holder.name
    return _FOLDER


CONTAINERS = {
    "fortran": np.asfortranarray,
    "strided": _strided,
    "read-only": _read_only,
    "memmap": _memmap,
    "list": lambda X: X.tolist(),
    "frame": _frame,
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
}


@dataclass
class Target:
    """A target as it is passed, with its task, and its columns (m, c) in long double."""

    given: object
    task: str
    columns: np.ndarray
    kind: str


def target(rng, m, kinds=("real", "columns", "two", "several")):
    """A random target for m samples."""
    kind = pick(rng, *kinds)
    if kind in ("real", "columns"):
        y = rng.normal(size=(m, size(rng, 1, 5)) if kind == "columns" else m)
        y = y * 10.0 ** rng.integers(-6, 7) if chance(rng, 0.3) else y
        y = y + 10.0 ** rng.integers(0, 5) if chance(rng, 0.2) else y
        y = np.round(y) if chance(rng, 0.1) else y
        y = np.zeros_like(y) if chance(rng, 0.02) else y
        y = y.astype(np.float32) if chance(rng, 0.15) else y
        given = y.tolist() if chance(rng, 0.15) else y
        task = pick(rng, "auto", "regression")
        return Target(given, task, np.asarray(y, LD).reshape(m, -1), kind)
    n_classes = 2 if kind == "two" else int(rng.integers(3, 6))
    codes = rng.integers(0, n_classes, m)
    names = pick(rng, 3 * np.arange(n_classes) - 2, np.array([f"c{k}" for k in range(n_classes)]))
    if kind == "two" and chance(rng, 0.3):
        names = np.array([False, True])
    y = names[codes]
    found, codes = np.unique(y, return_inverse=True)
    columns = 2.0 * codes[:, None] - 1.0
    if len(found) > 2:
        columns = (codes[:, None] == np.arange(len(found))).astype(float)
    given = y.tolist() if chance(rng, 0.2) else y
    return Target(given, "classification", columns.astype(LD), kind)


def gram(rng, m):
    """A symmetric float64 matrix (m, m) of some awkward kind, and whether it is indefinite."""
    kind = pick(rng, "full", "low rank", "duplicates", "identity", "constant", "indefinite")
    rank = max(1, m // 3) if kind == "low rank" else m
    factor = rng.normal(size=(m, rank))
    factor = factor[rng.integers(0, m, m)] if kind == "duplicates" else factor
    K = factor @ factor.T
    K = (K + K.T) / 2
    if kind == "identity":
        K = np.eye(m) + 1e-6 * K
    elif kind == "constant":
        K = 1.0 + 10.0 ** -rng.integers(2, 10) * K
    elif kind == "indefinite":
        K = factor + factor.T
    return K * 10.0 ** rng.integers(-8, 9), kind == "indefinite"
