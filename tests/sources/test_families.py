"""The operations that one-stage problems use, against plain NumPy on explicit matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from strategies import generators

from alignlearn.sources import FeatureFamily, GramFamily


def explicit(X, owner, scale):
    Xc = X - X.mean(axis=0)
    return np.array([s * Xc[:, owner == k] @ Xc[:, owner == k].T for k, s in enumerate(scale)])


KINDS = ("grams", "float32", "features", "sparse", "groups")


def make_family(rng, m, p, kind):
    """A family and its matrices."""
    if kind in ("grams", "float32"):
        A = rng.normal(size=(p, m, m))
        K = A + A.transpose(0, 2, 1)
        if kind == "float32":
            K = K.astype(np.float32)
        return GramFamily(K), K.astype(np.float64)
    owner = np.arange(p) if kind == "features" else np.sort(np.append(np.arange(p), 0))
    X = rng.poisson(0.7, size=(m, owner.size)) * rng.normal(size=owner.size)
    scale = rng.uniform(0.5, 2.0, size=p)
    family = FeatureFamily(sparse.csr_matrix(X) if kind == "sparse" else X, owner, scale)
    return family, explicit(X, owner, scale)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(generators(), st.integers(2, 70), st.integers(1, 9), st.integers(1, 3))
def test_operations_equal_matrix_products(kind, rng, m, p, c):
    family, K = make_family(rng, m, p, kind)
    D, E, mu = rng.normal(size=(c, m)), rng.normal(size=(c, m)), rng.uniform(0, 1, size=p)
    mu[rng.integers(p)] = 0.0
    F, G = family.forms(D), family.forms(E)
    size = np.abs(K).sum() * 10 + 1
    near = {"rtol": 0, "atol": 1e-13 * size}
    np.testing.assert_allclose(family.cross(D, F, E, G), np.einsum("ci,kij,cj->k", D, K, E), **near)
    np.testing.assert_allclose(family.quadratic(D), np.einsum("ci,kij,cj->k", D, K, D), **near)
    combined = np.tensordot(mu, K, 1)
    np.testing.assert_allclose(family.apply(mu, F), D @ combined, **near)
    np.testing.assert_allclose(family.gram(mu), combined, **near)
    np.testing.assert_allclose(family.traces(), np.trace(K, axis1=1, axis2=2), **near)
    some = np.arange(0, m, 2)
    one = family.forms(D[:1])
    np.testing.assert_allclose(family.columns(one, some), (K @ D[0])[:, some].T, **near)
    a, M = family.products(D)
    np.testing.assert_allclose(a, np.einsum("ci,kij,cj->k", D, K, D), **near)
    np.testing.assert_allclose(M, np.einsum("kij,lij->kl", K, K), rtol=1e-9, atol=1e-12 * size**2)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10)
@given(generators(), st.integers(2, 40), st.integers(1, 9), st.sampled_from([0.1, 10.0]))
def test_factor_solves(kind, rng, m, p, lam):
    family, K = make_family(rng, m, p, kind)
    mu = rng.uniform(0, 1, size=len(K))
    A = np.tensordot(mu, K, 1)
    shift = lam + max(0.0, -np.linalg.eigvalsh(A)[0])
    A += shift * np.eye(len(A))
    R = rng.normal(size=(2, len(A)))
    tolerance = 1e-13 * np.linalg.cond(A) * np.abs(np.linalg.solve(A, R.T)).max() * 10
    np.testing.assert_allclose(
        family.factor(mu, shift)(R), np.linalg.solve(A, R.T).T, rtol=0, atol=tolerance
    )


def test_not_a_sequence():
    with pytest.raises(TypeError, match="sequence"):
        GramFamily(3.0)
    with pytest.raises(ValueError, match="real numbers"):
        GramFamily([np.eye(2) * 1j])
