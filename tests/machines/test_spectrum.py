"""Spectra of indefinite matrices and their fixes, against the dense decomposition."""

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from alignlearn.machines import SpectrumFix, krein_spectrum


def absolute(K):
    w, U = np.linalg.eigh(K)
    return (U * np.abs(w)) @ U.T


def symmetric(rng, m):
    """An indefinite matrix: of any spectrum, of low rank, with repeated samples, or diagonal."""
    kind = rng.integers(4)
    A = rng.standard_normal((m, m))
    K = A + A.T
    if kind == 1:
        K = np.outer(A[0], A[0]) - np.outer(A[-1], A[-1]) - 2.0 * np.outer(A[m // 2], A[m // 2])
    if kind == 2:
        repeated = rng.integers(0, m, m)
        K = K[np.ix_(repeated, repeated)]
    if kind == 3:
        K = np.diag(rng.choice([-1.0, 0.0, 2.0], m))
    return K * 10.0 ** rng.integers(-200, 200)


# The spectrum


@given(seed=st.integers(0, 10**6), m=st.integers(1, 30))
def test_majorant_and_map_agree_with_the_dense_decomposition(seed, m):
    rng = np.random.default_rng(seed)
    K = symmetric(rng, m)
    before, coef = K.copy(), rng.standard_normal((m, 2))
    spectrum = krein_spectrum(K)
    w = np.linalg.eigvalsh(K)
    unit = np.abs(w).max() or 1.0
    np.testing.assert_allclose(spectrum.eigenvalues / unit, w / unit, atol=1e-13)
    np.testing.assert_allclose(spectrum.majorant / unit, absolute(K / unit), atol=1e-12)
    assert np.array_equal(spectrum.majorant, spectrum.majorant.T)
    mapped = spectrum.to_krein(coef)
    np.testing.assert_allclose(K @ mapped / unit, spectrum.majorant @ coef / unit, atol=1e-12)
    np.testing.assert_allclose(spectrum.to_krein(coef[:, 0]), mapped[:, 0], atol=1e-12)
    # On the range of K the map is its own inverse.
    back = spectrum.to_krein(mapped)
    np.testing.assert_allclose(K @ back / unit, K @ coef / unit, atol=1e-12)
    assert np.array_equal(K, before)


def test_many_samples_take_every_branch_of_the_decomposition():
    """More columns than are rotated together, and more rows than are reduced in one call."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((620, 620)))[0]
    w = np.sort(np.r_[-rng.uniform(0.5, 1.0, 540), np.zeros(10), rng.uniform(0.5, 2.0, 70)])
    K = (Q * w) @ Q.T
    K = (K + K.T) / 2
    spectrum = krein_spectrum(K)
    assert (spectrum.n_negative, spectrum.n_zero) == (540, 10)
    np.testing.assert_allclose(spectrum.majorant, (Q * np.abs(w)) @ Q.T, atol=1e-12)
    v = rng.standard_normal(620)
    np.testing.assert_allclose(spectrum.to_krein(v), (Q * np.sign(w)) @ (Q.T @ v), atol=1e-11)


def test_single_precision_is_rounding_not_a_negative_part():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 2))
    squares = ((X[:, None] - X) ** 2).sum(axis=-1)
    psd = np.exp(-0.1 * squares).astype(np.float32)
    assert np.linalg.eigvalsh(psd.astype(float))[0] < -1e-8
    spectrum = krein_spectrum(psd)
    assert spectrum.n_negative == 0
    assert spectrum.majorant is spectrum.K
    assert krein_spectrum(psd.astype(float)).n_negative > 0
    assert krein_spectrum(psd - np.float32(0.5)).n_negative == 1


# Fixes


@given(seed=st.integers(0, 10**6), m=st.integers(1, 25))
def test_fixes_are_semi_definite_and_the_same_for_training_rows(seed, m):
    rng = np.random.default_rng(seed)
    K = symmetric(rng, m)
    w, U = np.linalg.eigh(K)
    unit = np.abs(w).max() or 1.0
    fixed = {"clip": np.maximum(w, 0.0), "flip": np.abs(w), "shift": w - min(w[0], 0.0)}
    for method, values in fixed.items():
        fix = SpectrumFix(method)
        found = fix.fit_transform(K)
        np.testing.assert_allclose(found / unit, (U * (values / unit)) @ U.T, atol=1e-12)
        assert np.linalg.eigvalsh(found / unit)[0] > -1e-12
        if method == "shift":
            assert np.array_equal(fix.transform(K), K)
            np.testing.assert_allclose(fix.shift_ / unit, -min(w[0], 0.0) / unit, atol=1e-13)
        else:
            np.testing.assert_allclose(fix.transform(K) / unit, found / unit, atol=1e-12)
            assert fix.shift_ == 0.0


def test_fix_is_a_transformer():
    rng = np.random.default_rng(14)
    A, K_test = rng.standard_normal((30, 30)), rng.standard_normal((5, 30))
    K = A + A.T
    fix = clone(SpectrumFix(method="flip")).fit(K, y=None)
    again = pickle.loads(pickle.dumps(fix))
    assert np.array_equal(again.transform(K_test), fix.transform(K_test))
    assert (fix.n_train_, fix.n_negative_) == (30, np.count_nonzero(np.linalg.eigvalsh(K) < 0.0))
    assert np.array_equal(krein_spectrum(K).majorant, fix.fit_transform(K))
