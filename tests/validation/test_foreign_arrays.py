"""Arrays of other libraries, through DLPack, wherever an array is accepted."""

import numpy as np
import pytest
from refusals import raises
from sklearn.model_selection import GroupKFold

import alignlearn as al
from alignlearn.machines import KernelRidge, SpectrumFix
from alignlearn.validation import (
    as_array,
    check_numbers,
    check_samples,
    check_weights,
    gram_like,
    plain,
)


class Tensor:
    """The attributes of every such library, and none that NumPy would recognize."""

    def __init__(self, values):
        self.values = np.array(values)
        self.shape, self.ndim, self.dtype = self.values.shape, self.values.ndim, "float of mine"

    def __dlpack__(self, **kwargs):
        return self.values.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class OnDevice(Tensor):
    """In the memory of a GPU, from where the library copies on request."""

    def __dlpack__(self, *, dl_device=None, **kwargs):
        if dl_device != (1, 0):
            raise BufferError("not in the memory of the CPU")
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return (2, 0)


class WithGradient(Tensor):
    """Without an exporter."""

    def __dlpack__(self, **kwargs):
        raise BufferError("tensors that require a gradient are not exported")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    return X, X[:, 0] + 0.1 * rng.normal(size=30)


@pytest.mark.parametrize("kind", [Tensor, OnDevice])
def test_estimators_take_them_as_samples_and_targets(data, kind):
    X, y = data
    if kind is OnDevice and np.lib.NumpyVersion(np.__version__) < "2.1.0":
        pytest.skip("this NumPy does not ask for a copy")
    for estimator, target in ((al.MKLRegressor(), y), (al.MKLClassifier(), np.int64(y > 0))):
        found = estimator.fit(kind(X), kind(target)).predict(kind(X))
        np.testing.assert_array_equal(found, estimator.fit(X, target).predict(X))


def test_folds_groups_lists_of_matrices_and_intervals_take_them(data):
    X, y = data
    folds = np.arange(30) % 3
    ours = al.alignment_statistics(Tensor(X), Tensor(y), folds=Tensor(folds))
    theirs = al.alignment_statistics(X, y, folds=folds)
    assert np.array_equal(ours[0].M, theirs[0].M)
    options = {"kernels": ["rbf", "linear"], "alphas": [0.1, 1.0]}
    given = al.MKLRegressorCV(cv=Tensor(folds), **options).fit(Tensor(X), Tensor(y))
    grouped = al.MKLRegressorCV(cv=GroupKFold(3), **options)
    grouped.fit(Tensor(X), Tensor(y), groups=Tensor(folds))
    assert given.best_score_ == pytest.approx(grouped.best_score_)
    assert given.best_score_ == al.MKLRegressorCV(cv=folds, **options).fit(X, y).best_score_
    K = al.Gaussian(0.5)(X)[None]
    precomputed = al.MKLRegressor("precomputed").fit(Tensor(K), Tensor(y))
    assert np.array_equal(precomputed.predict(Tensor(K)), precomputed.predict(K))
    labels = y > 0
    ours = al.alignment_interval(Tensor(X), Tensor(labels), al.Gaussian(0.1))
    assert ours == al.alignment_interval(X, labels, al.Gaussian(0.1))


def test_statistics_kernels_measures_and_machines_take_them(data):
    X, y = data
    K = al.Gaussian(0.5)(X)
    assert np.array_equal(al.Gaussian(0.5)(Tensor(X), Tensor(X[:4])), K[:, :4])
    assert al.alignment(Tensor(K), Tensor(y)) == al.alignment(K, y)
    assert al.cka(Tensor(K), Tensor(K @ K), unbiased=True) == al.cka(K, K @ K, unbiased=True)
    given = al.alignment_statistics([Tensor(K), Tensor(K @ K)], y, "precomputed")
    assert np.array_equal(given.M, al.alignment_statistics([K, K @ K], y, "precomputed").M)
    machine = KernelRidge(1.0).fit(Tensor(K), Tensor(y))
    assert np.array_equal(machine.dual_coef_, KernelRidge(1.0).fit(K, y).dual_coef_)
    assert np.array_equal(SpectrumFix().fit(K).transform(Tensor(K)), K)
    assert np.array_equal(check_weights(Tensor(np.arange(3.0)), 3), [0.0, 1.0, 2.0])
    assert np.array_equal(check_numbers("v", Tensor([1, 2]), 1), [1.0, 2.0])


def test_numbers_are_not_copied_and_types_are_kept():
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    tensor = Tensor(values)
    found = plain("X", tensor)
    assert found.dtype == np.float32
    assert np.shares_memory(found, tensor.values)
    assert plain("X", values) is values
    assert gram_like("K", tensor).shape == (2, 3)


def test_what_its_library_does_not_hand_over_is_named(data):
    X, y = data
    with pytest.raises(TypeError, match=r"X is a WithGradient .*gradient.*X\.detach\(\)\.cpu\(\)"):
        al.MKLRegressor().fit(WithGradient(X), y)
    raises(TypeError, "y is a WithGradient", al.MKLRegressor().fit, X, WithGradient(y))
    raises(TypeError, "K is a WithGradient", al.alignment, WithGradient(np.eye(4)), np.arange(4.0))
    raises(ValueError, "NaN", al.Gaussian(1.0), Tensor([[np.nan]]))


def test_long_doubles_and_arrays_of_arrow():
    values = np.array([[1.5, 2.5]], dtype=np.longdouble)
    assert check_samples("X", values).dtype == np.float64

    class Arrow(WithGradient):
        def to_pylist(self):
            return self.values

    assert isinstance(plain("y", Arrow([1.0])), Arrow)


def test_a_library_with_an_array_protocol_beside_dlpack():
    """Some export a copy only on request by ``numpy.asarray``."""

    class Other(WithGradient):
        def __array__(self, dtype=None, copy=None):
            return self.values

    assert np.array_equal(as_array("X", Other([[1.0]])), [[1.0]])
