"""Estimators whose model has no memory for the Gram matrix, against those with the matrix."""

import numpy as np
import pytest
from refusals import raises
from sklearn.base import clone

import alignlearn as al
from alignlearn.solvers.smo_rows import least_memory
from alignlearn.sources import pairs

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

    def refuse(self, exact=False):
        raise AssertionError("the Gram matrix was made")

    monkeypatch.setattr(pairs.PairCombination, "gram", refuse)


def test_models_are_those_on_the_matrix(data, request):
    X, y = data
    cases = (
        (al.MKLClassifier(KERNELS, tol=1e-6, C=3.0), np.digitize(y, [-0.5, 0.5])),
        (al.MKLRegressor(KERNELS, machine="svr", tol=1e-6, C=3.0), y),
    )
    expected = [clone(model).fit(X, target) for model, target in cases]
    request.getfixturevalue("no_matrix")
    for memory, (model, target), whole in zip((SMALL, f"{SMALL}B"), cases, expected):
        rows = model.set_params(memory=memory).fit(X, target)
        np.testing.assert_allclose(rows.machine_.objective_, whole.machine_.objective_, rtol=1e-8)
        np.testing.assert_allclose(rows._decisions(X), whole._decisions(X), atol=1e-4)
        assert np.all(rows.machine_.kkt_violation_ <= 1e-6)


def test_single_precision_and_weights(data, no_matrix):
    X, y = data
    weight = np.random.default_rng(1).integers(0, 3, M).astype(float)
    model = al.MKLClassifier(KERNELS, memory=SMALL).fit(X.astype(np.float32), y > 0, weight)
    assert not np.isin(np.flatnonzero(weight == 0.0), model.support_).any()
    assert model.score(X.astype(np.float32), y > 0) > 0.8


def test_too_little_memory_is_refused_before_the_kernels_are_evaluated(data, monkeypatch):
    def refuse(self, *args, **options):
        raise AssertionError("stage 1 was begun")

    X, y = data
    hard = al.MKLClassifier(KERNELS, C=np.inf, memory=SMALL)
    raises(ValueError, r"C=inf .* needs the Gram matrix .* more memory", hard.fit, X, y > 0)
    monkeypatch.setattr(pairs.PairSource, "statistics", refuse)
    least = f"memory=1000 bytes .* {M} samples .* at least {least_memory(M)}"
    raises(ValueError, least, al.MKLClassifier(KERNELS, memory=1000).fit, X, y > 0)
    raises(ValueError, least, al.MKLRegressor(KERNELS, machine="svr", memory=1000).fit, X, y)
