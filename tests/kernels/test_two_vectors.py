"""A kernel of two samples is a number, as scikit-learn requires of a metric."""

import numpy as np
import pytest
from cases import each
from numpy.testing import assert_allclose
from refusals import raises
from scipy import sparse
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import pairwise_kernels

import alignlearn as al

RNG = np.random.default_rng(0)
X, Z = RNG.uniform(0.1, 1.0, (12, 3)), RNG.uniform(0.1, 1.0, (5, 3))
MODEL = al.MKLRegressor(["rbf", "linear"]).fit(X, X[:, 0] ** 2)
KERNELS = [
    al.Gaussian(0.4), al.Linear(), al.Matern(gamma=0.3) * al.Polynomial(0.1) + 1.0, al.TL1(),
    al.Tanimoto(), al.MinMax(), al.Periodic(), al.Gower([0], ranges=[1.0, 2.0, 2.0]),
    al.Columns("linear", [2]), al.Gaussian("auto"), al.Hamming(), MODEL.kernel_,
    al.kernels.FeatureWeighted([1.0, 2.0, 3.0]),
    al.FourierFeatures(RNG.normal(size=(4, 3)), np.ones(4)),
]  # fmt: skip


@each("kernel", KERNELS)
def test_the_number_is_that_of_the_matrix(kernel):
    found = kernel(X[0], Z[1])
    assert type(found) is float
    assert_allclose(found, kernel(X, Z)[0, 1], rtol=1e-12)
    assert kernel(X[0].tolist(), tuple(Z[1])) == found
    assert_allclose(kernel(X[0].astype(np.float32), Z[1].astype(np.float32)), found, rtol=1e-5)


@pytest.mark.parametrize("kernel", [al.Gaussian(0.4), al.Tanimoto(), MODEL.kernel_], ids=str)
def test_tools_of_scikit_learn_call_it(kernel):
    assert_allclose(pairwise_kernels(X, Z, metric=kernel), kernel(X, Z), rtol=1e-12)
    assert_allclose(pairwise_kernels(X, metric=kernel), kernel(X), rtol=1e-12)
    map_ = Nystroem(kernel=kernel, n_components=12, random_state=0).fit(X)
    features = map_.transform(X)
    assert_allclose(features @ features.T, kernel(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kernel", [al.Gaussian(), al.Polynomial("median"), al.Gower()], ids=str)
def test_parameters_from_samples_are_refused(kernel):
    raises(ValueError, r"has parameters that depend on the samples.*accepted", kernel, X[0], Z[0])


def test_what_has_a_meaning_keeps_it():
    kernel = al.Gaussian(1.0)
    for pair in ((X[0],), (X[0], None), (X[0], Z), (X, Z[0])):
        raises(ValueError, "must be a matrix", kernel, *pair)
    raises(ValueError, r"X has shape \(3,\) but Y has \(2,\)", kernel, X[0], Z[0, :2])
    raises(ValueError, "NaN", kernel, [np.nan], [1.0])
    # scikit-learn slices sparse samples to these, and accepts no matrix of them.
    for form in (np.asarray, sparse.csr_array):
        assert kernel(form(X[:1]), form(Z[:1])).shape == (1, 1)
    # For kernels on any objects, a list or an array (d,) contains d objects.
    assert al.StringSpectrum(2)(["abc", "bc"], ["bc"]).tolist() == [[1.0], [1.0]]
    products = al.FromFunction(lambda x, z: x * z)
    assert products(np.arange(3.0), np.arange(2.0)).shape == (3, 2)
    assert al.kernels.Precomputed(np.array([[2.0, 1.0], [1.0, 3.0]]))([0], [1]) == 1.0
