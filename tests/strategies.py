"""Hypothesis strategies: samples, Gram matrices and labels of kinds that often cause failures."""

import numpy as np
from hypothesis import strategies as st


def generators():
    """Seeded NumPy generators."""
    return st.integers(0, 2**32 - 1).map(np.random.default_rng)


@st.composite
def samples(draw, min_samples=1, max_samples=12, max_features=4, scales=(1e-4, 1.0, 1e3)):
    """A float64 (m, d) matrix, possibly with duplicated points, constant or zero columns."""
    rng = draw(generators())
    m, d = draw(st.integers(min_samples, max_samples)), draw(st.integers(1, max_features))
    X = rng.normal(size=(m, d)) * draw(st.sampled_from(scales))
    if draw(st.booleans()):
        X = X[rng.integers(0, m, size=m)]
    if draw(st.booleans()):
        X[:, rng.integers(d)] = draw(st.sampled_from([0.0, 1.0, 0.1]))
    return X


@st.composite
def gram_matrices(draw, n_samples=None, min_samples=1, max_samples=10):
    """A positive semi-definite matrix of some awkward kind, times 1e-8 to 1e8.

    Kinds: full rank, singular, with duplicated samples, near the identity, near a constant.
    """
    rng = draw(generators())
    m = draw(st.integers(min_samples, max_samples)) if n_samples is None else n_samples
    kind = draw(st.sampled_from(["full", "singular", "duplicated", "identity", "constant"]))
    rank = max(1, m // 2) if kind == "singular" else m
    factor = rng.normal(size=(m, rank))
    if kind == "duplicated":
        factor = factor[rng.integers(0, m, size=m)]
    K = factor @ factor.T
    if kind == "identity":
        K = np.eye(m) + 1e-6 * K
    if kind == "constant":
        K = 1.0 + 1e-6 * K
    K = (K + K.T) / 2
    return K * 10.0 ** draw(st.integers(-8, 8))


@st.composite
def labels(draw, n_samples, max_classes=4):
    """A list or array of n_samples class labels: numbers, strings or booleans."""
    rng = draw(generators())
    n_classes = draw(st.integers(1, max_classes))
    codes = rng.integers(0, n_classes, size=n_samples)
    kind = draw(st.sampled_from(["int", "str", "bool", "list"]))
    if kind == "int":
        return 3 * codes - 2
    if kind == "bool":
        return codes % 2 == 0
    names = [f"class {c}" for c in codes]
    return names if kind == "list" else np.array(names)
