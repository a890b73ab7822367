"""Common draws of the fuzz cases: samples in many containers, targets, Gram matrices."""

import atexit
import itertools
import os
import tempfile
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from oracle import LD

EPS = float(np.finfo(np.float64).eps)


@dataclass
class Samples:
    """The passed samples, and their exact values.

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


def matrix(draws, m, d, tags):
    """A float64 matrix (m, d) of some awkward kind; its kind is added to ``tags``."""
    kind = draws.pick("normal", "normal", "uniform", "lattice", "heavy", "zeros")
    X = draws.numbers.normal(size=(m, d))
    if kind == "uniform":
        X = draws.numbers.random((m, d))
    elif kind == "lattice":
        X = np.round(2.0 * X)
    elif kind == "heavy":
        X *= np.exp(2.0 * draws.numbers.normal(size=(m, d)))
    elif kind == "zeros":
        X[draws.numbers.random((m, d)) < 0.6] = 0.0
    if draws.chance(0.15):
        X = X[draws.numbers.integers(0, m, m)]
        tags.add("duplicates")
    if draws.chance(0.02):
        X = X[np.zeros(m, dtype=int)]
        tags.add("equal rows")
    if draws.chance(0.5):
        X *= 10.0 ** draws.whole(-8, 8)
        tags.add("scale")
    if draws.chance(0.1):
        X *= 10.0 ** draws.numbers.uniform(-3, 3, d)
        tags.add("column scales")
    if draws.chance(0.15):
        X += np.abs(X).max() * draws.power(0, 5)
        tags.add("offset")
    if draws.chance(0.1):
        X[draws.whole(0, m - 1)] *= draws.power(2, 6)
        tags.add("outlier")
    if draws.chance(0.2):
        X[:, draws.whole(0, d - 1)] = draws.pick(0.0, 1.0, 0.1, 1e6)
        tags.add("constant column")
    return X


def benign(draws, m, d):
    """A float64 matrix (m, d) of scale 1, possibly with duplicated rows: for optimization."""
    X = draws.numbers.normal(size=(m, d))
    return X[draws.numbers.integers(0, m, m)] if draws.chance(0.1) else X


def samples(draws, *, low=2, high=60, X=None):
    """Samples of some type in some container."""
    tags = set()
    if X is None:
        X = matrix(draws, draws.size(low, high), draws.size(1, 12), tags)
    dtype = draws.pick("float64", "float64", "float64", "float32", "float32", "int64")
    if dtype == "int64":
        X = np.clip(np.round(X), -(2**52), 2**52)
    X = np.ascontiguousarray(X.astype(dtype))
    tags.add(dtype)
    container = draws.pick(*["array"] * 6, *CONTAINERS)
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


def _polars(X):
    import polars

    return polars.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])})


def _read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


_NUMBERS = itertools.count()


@cache
def _folder():
    holder = tempfile.TemporaryDirectory(prefix="fuzz-")
    atexit.register(holder.cleanup)
    return holder.name


def _memmap(X):
    path = os.path.join(_folder(), f"{next(_NUMBERS) % 64}.dat")
    X.tofile(path)
    return np.memmap(path, dtype=X.dtype, mode="r", shape=X.shape)


CONTAINERS = {
    "fortran": np.asfortranarray,
    "strided": _strided,
    "read-only": _read_only,
    "memmap": _memmap,
    "list": lambda X: X.tolist(),
    "frame": _frame,
    "polars": _polars,
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
}


@dataclass
class Target:
    """A target in the passed form, with its task, and its columns (m, c) in long double."""

    given: object
    task: str
    columns: np.ndarray
    kind: str


def target(draws, m, kinds=("real", "columns", "two", "several")):
    """A random target for m samples."""
    kind = draws.pick(*kinds)
    if kind in ("real", "columns"):
        y = draws.numbers.normal(size=(m, draws.size(1, 5)) if kind == "columns" else m)
        y = y * 10.0 ** draws.whole(-6, 6) if draws.chance(0.3) else y
        y = y + 10.0 ** draws.whole(0, 4) if draws.chance(0.2) else y
        y = np.round(y) if draws.chance(0.1) else y
        y = np.zeros_like(y) if draws.chance(0.02) else y
        y = y.astype(np.float32) if draws.chance(0.15) else y
        given = y.tolist() if draws.chance(0.15) else y
        task = draws.pick("auto", "regression")
        return Target(given, task, np.asarray(y, LD).reshape(m, -1), kind)
    n_classes = 2 if kind == "two" else draws.whole(3, 5)
    codes = draws.numbers.integers(0, n_classes, m)
    names = draws.pick(3 * np.arange(n_classes) - 2, np.array([f"c{k}" for k in range(n_classes)]))
    if kind == "two" and draws.chance(0.3):
        names = np.array([False, True])
    y = names[codes]
    found, codes = np.unique(y, return_inverse=True)
    columns = 2.0 * codes[:, None] - 1.0
    if len(found) > 2:
        columns = (codes[:, None] == np.arange(len(found))).astype(float)
    given = y.tolist() if draws.chance(0.2) else y
    return Target(given, "classification", columns.astype(LD), kind)


def gram(draws, m):
    """A symmetric float64 matrix (m, m) of some awkward kind, and whether it is indefinite."""
    kind = draws.pick("full", "low rank", "duplicates", "identity", "constant", "indefinite")
    rank = max(1, m // 3) if kind == "low rank" else m
    factor = draws.numbers.normal(size=(m, rank))
    factor = factor[draws.numbers.integers(0, m, m)] if kind == "duplicates" else factor
    K = factor @ factor.T
    K = (K + K.T) / 2
    if kind == "identity":
        K = np.eye(m) + 1e-6 * K
    elif kind == "constant":
        K = 1.0 + 10.0 ** -draws.whole(2, 9) * K
    elif kind == "indefinite":
        K = factor + factor.T
    return K * 10.0 ** draws.whole(-8, 8), kind == "indefinite"
