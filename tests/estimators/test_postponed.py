"""Statistics that equal weights do not need are those of the fit, whenever they are computed."""

import pickle

import numpy as np
import pytest

import alignlearn as al

KERNELS = [al.Gaussian(0.1), al.Gaussian(1.0)]
OPTIONS = {"weighting": "uniform", "normalize": None}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1100, 3))
    return X, X[:, 0] + 0.3 * rng.standard_normal(1100) > 0.0


def test_they_are_those_of_the_samples_at_fit(data):
    X, y = data
    given, labels = X.copy(), y.copy()
    model, other = (al.MKLClassifier(KERNELS, **OPTIONS).fit(given, labels) for _ in range(2))
    assert "statistics_" not in vars(model)
    given[:], labels[:] = 0.0, True
    again = pickle.loads(pickle.dumps(other))  # has them and no samples
    assert "_postponed" not in vars(again)
    expected = al.Uniform().solve(al.alignment_statistics(X, y, KERNELS))
    for one in (model, again):
        assert one.alignment_ == pytest.approx(expected.alignment, rel=1e-12)
        np.testing.assert_allclose(one.kernel_alignments_, expected.kernel_alignments)
    assert "_postponed" not in vars(model)


def test_few_samples_and_constant_kernels_are_not_left_for_later(data):
    X, y = data
    assert "statistics_" in vars(al.MKLClassifier(KERNELS, **OPTIONS).fit(X[:500], y[:500]))
    with pytest.raises(ValueError, match="every kernel is constant"):
        al.MKLClassifier(KERNELS, **OPTIONS).fit(np.ones_like(X), y)


def test_a_second_fit_forgets_them(data):
    X, y = data
    model = al.MKLClassifier(KERNELS, **OPTIONS).fit(X, y)
    before = model.alignment_
    assert model.fit(X, X[:, 1] > 0.0).alignment_ != before
    with pytest.raises(AttributeError):
        al.MKLClassifier(KERNELS).alignment_  # noqa: B018
