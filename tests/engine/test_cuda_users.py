"""``device="cuda"`` as users pass it: the results of the CPU, up to rounding."""

import numpy as np
import pytest
from cuda_cases import needs_cuda
from sklearn.base import clone

import alignlearn as al
from alignlearn.hyper import HyperKRR

pytestmark = needs_cuda
RNG = np.random.default_rng(0)
X = RNG.standard_normal((24, 3))
y = np.where(X[:, 0] > 0.0, 1, 0)
KERNELS = [*al.gaussian_kernels([0.1, 0.2, 0.4]), "linear", al.Polynomial(degree=2)]


# Kernel values round alike, but sums are taken in another order; in float32 sums of a few pairs
# are, too.
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_statistics(dtype, rtol):
    found = al.alignment_statistics(X.astype(dtype), y, KERNELS, device="cuda")
    expected = al.alignment_statistics(X, y, KERNELS, device="cpu")
    np.testing.assert_allclose(found.M, expected.M, rtol=rtol)
    np.testing.assert_allclose(found.a, expected.a, rtol=rtol, atol=rtol * np.abs(expected.a).max())


def test_statistics_of_training_sets():
    folds = np.arange(len(y)) % 3
    found = al.alignment_statistics(X, y, KERNELS, folds=folds, device="cuda")
    expected = al.alignment_statistics(X, y, KERNELS, folds=folds, device="cpu")
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.M, b.M, rtol=1e-12)


@pytest.mark.parametrize(
    "learner",
    [
        al.MKLClassifier(KERNELS, tol=1e-9),
        al.MKLRegressor(KERNELS),
        al.NystromRidge("rbf", n_centers=10, tol=1e-12),
        HyperKRR(solver="cg", tol=1e-12),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_learners(learner):
    rows = slice(0, 10) if isinstance(learner, HyperKRR) else slice(None)
    values = []
    for device in ("cuda", "cpu"):
        model = clone(learner).set_params(device=device).fit(X[rows], y[rows])
        values.append(getattr(model, "decision_function", model.predict)(X))
    np.testing.assert_allclose(*values, atol=1e-7)


def test_samples_that_lie_on_the_device_are_not_sent_there(monkeypatch):
    from numba import cuda

    sent, real = [], cuda.to_device

    def to_device(array, *args, **options):
        sent.append(array.shape)
        return real(array, *args, **options)

    monkeypatch.setattr(cuda, "to_device", to_device)
    there = real(X)
    found = al.alignment_statistics(there, y, KERNELS, device="cuda")
    assert X.shape not in sent
    expected = al.alignment_statistics(X, y, KERNELS, device="cuda")
    assert X.shape in sent
    np.testing.assert_array_equal(found.M, expected.M)
