"""Support vector machines on rows of the Gram matrix against the same on the matrix."""

import numpy as np
import pytest
from cases import each
from refusals import raises

import alignlearn as al
from alignlearn.machines import SupportVectorClassifier, SupportVectorRegressor
from alignlearn.machines.choice import Sizes, rows_are_read
from alignlearn.machines.gram_rows import Pilot, row_cache
from alignlearn.solvers.smo_rows import RowCache, least_memory
from alignlearn.sources import open_source

M = 150
TIGHT = 1e-6


def samples(seed=0, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((M, 4))
    score = X[:, 0] + 0.5 * np.sin(2.0 * X[:, 1]) + 0.3 * rng.standard_normal(M)
    return X, np.digitize(score, np.linspace(-0.5, 0.5, n_classes - 1)), score


def opened(X, kernels, weights):
    return open_source(X, kernels).combine(np.asarray(weights, dtype=float))


def gaussians(X):
    return opened(X, [al.Gaussian(0.1), al.Gaussian(1.0)], [0.7, 0.3])


def both(source, room=3):
    memory = room * least_memory(source.n_samples)
    rows = row_cache(source, memory)
    assert isinstance(rows, RowCache)
    return rows, source.gram()


def reads_rows(source, memory):
    return rows_are_read(Sizes.of_source(source.source), memory)


def assert_same(machine, other, tol=1e-4):
    np.testing.assert_allclose(machine.full_dual_coef(), other.full_dual_coef(), atol=tol)
    np.testing.assert_allclose(machine.intercept_, other.intercept_, atol=tol)
    np.testing.assert_allclose(machine.objective_, other.objective_, rtol=1e-6)
    assert (machine.kkt_violation_ <= machine.tol).all()


@each("n_classes", [2, 3])
@each("multiclass", ["ovo", "ovr"])
def test_classifier(n_classes, multiclass):
    X, y, _ = samples(n_classes=n_classes)
    weight = np.random.default_rng(1).integers(0, 3, M).astype(float)
    options = {"C": 2.0, "multiclass": multiclass, "class_weight": "balanced", "tol": TIGHT}
    rows, K = both(gaussians(X))
    machine = SupportVectorClassifier(**options).fit(rows, y, weight)
    assert_same(machine, SupportVectorClassifier(**options).fit(K, y, weight))
    assert machine.fit(rows, y, weight, alpha0=machine.full_dual_coef()).n_iter_.sum() == 0


def test_the_matrix_is_taken_where_it_fits():
    X, _, _ = samples()
    assert not reads_rows(gaussians(X), 12 * M**2)
    assert not reads_rows(gaussians(X.astype(np.float32)), 6 * M**2)
    assert reads_rows(gaussians(X), 6 * M**2)
    K = gaussians(X).gram(exact=True)
    given = open_source([K], "precomputed").combine(np.ones(1))
    assert not reads_rows(given, 1)


def test_bad_input():
    X, y, _ = samples(n_classes=2)
    source = gaussians(X)
    message = f"two rows .* {M} samples .* at least {least_memory(M)}"
    raises(ValueError, message, row_cache, source, 1000)
    rows, _ = both(source)
    hard = SupportVectorClassifier(np.inf)
    raises(ValueError, r"C=inf .* needs the Gram matrix .* more memory", hard.fit, rows, y)
    for machine in (SupportVectorClassifier(), SupportVectorRegressor()):
        message = f"K has {M} rows but y has {M - 1} values"
        raises(ValueError, message, machine.fit, rows, y[:-1])


@pytest.mark.parametrize("unit", [2.0**-400, 2.0**400])
def test_kernels_beyond_single_precision(unit):
    """Rows are then kept in double precision, and so is the pilot's matrix."""
    X, y, _ = samples(n_classes=2)
    source = opened(X, [al.Gaussian(0.5)], [unit])
    rows = row_cache(source, 10**8)
    machine = SupportVectorClassifier(1.0 / unit, tol=1e-6).fit(rows, y)
    other = SupportVectorClassifier(tol=1e-6).fit(al.Gaussian(0.5)(X), y)
    np.testing.assert_allclose(machine.objective_ * unit, other.objective_, rtol=1e-6)
    plain = opened(X, [al.Gaussian(0.5)], [1.0])
    assert Pilot(source, machine, y)(100) == Pilot(plain, SupportVectorClassifier(), y)(100)


def test_a_sample_far_out_has_rows_in_double_precision():
    """Its neighbors then differ, where float32 would merge them."""
    X, y, _ = samples(n_classes=2)
    X[0], X[1], y[0], y[1] = 1e6, 1e6 + 0.02, 0, 1
    cache = row_cache(gaussians(X), 10**8)
    assert cache.single is cache.rows
    others = row_cache(gaussians(X[2:]), 10**8)
    assert others.single is not others.rows
    machine = SupportVectorClassifier(10.0, tol=TIGHT).fit(cache, y)
    assert_same(machine, SupportVectorClassifier(10.0, tol=TIGHT).fit(gaussians(X).gram(), y))
