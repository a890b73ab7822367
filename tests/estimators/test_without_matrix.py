"""Estimators whose model has no memory for the Gram matrix, against those with the matrix."""

import numpy as np
import pytest

import alignlearn as al
from alignlearn.solvers.smo_rows import least_memory

M = 300
KERNELS = [al.Gaussian(0.1), al.Gaussian(1.0)]
SMALL = 2 * least_memory(M)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((M, 3))
    y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.standard_normal(M)
    return X, y


@pytest.fixture
def no_matrix(monkeypatch):
    """Raises an error wherever the matrix of the combination is computed."""
    from alignlearn.sources import pairs

    def refuse(self, exact=False):
        raise AssertionError("the Gram matrix was made")

    monkeypatch.setattr(pairs.PairCombination, "gram", refuse)


def test_classifier(data, request):
    X, y = data
    labels = np.digitize(y, [-0.5, 0.5])
    options = {"tol": 1e-6, "C": 3.0}
    whole = al.MKLClassifier(KERNELS, **options).fit(X, labels)
    request.getfixturevalue("no_matrix")
    rows = al.MKLClassifier(KERNELS, memory=SMALL, **options).fit(X, labels)
    np.testing.assert_allclose(rows.machine_.objective_, whole.machine_.objective_, rtol=1e-8)
    np.testing.assert_allclose(rows.decision_function(X), whole.decision_function(X), atol=1e-4)
    assert (rows.machine_.kkt_violation_ <= 1e-6).all()


def test_regressor(data, request):
    X, y = data
    options = {"machine": "svr", "tol": 1e-6, "C": 3.0}
    whole = al.MKLRegressor(KERNELS, **options).fit(X, y)
    request.getfixturevalue("no_matrix")
    rows = al.MKLRegressor(KERNELS, memory=f"{SMALL}B", **options).fit(X, y)
    np.testing.assert_allclose(rows.predict(X), whole.predict(X), atol=1e-4)


def test_single_precision_and_weights(data, no_matrix):
    X, y = data
    weight = np.random.default_rng(1).integers(0, 3, M).astype(float)
    model = al.MKLClassifier(KERNELS, memory=SMALL).fit(X.astype(np.float32), y > 0, weight)
    assert not np.isin(np.flatnonzero(weight == 0.0), model.support_).any()
    assert model.score(X.astype(np.float32), y > 0) > 0.8


def test_too_little_memory_is_refused_before_the_kernels_are_evaluated(data, monkeypatch):
    from alignlearn.sources import pairs

    def refuse(self, *args, **options):
        raise AssertionError("stage 1 was begun")

    monkeypatch.setattr(pairs.PairSource, "statistics", refuse)
    X, y = data
    least = f"memory=1000 bytes .* {M} samples .* at least {least_memory(M)}"
    with pytest.raises(ValueError, match=least):
        al.MKLClassifier(KERNELS, memory=1000).fit(X, y > 0)
    with pytest.raises(ValueError, match=least):
        al.MKLRegressor(KERNELS, machine="svr", memory=1000).fit(X, y)


def test_a_hard_margin_says_what_it_needs(data):
    X, y = data
    with pytest.raises(ValueError, match=r"C=inf .* needs the Gram matrix .* more memory"):
        al.MKLClassifier(KERNELS, C=np.inf, memory=SMALL).fit(X, y > 0)
