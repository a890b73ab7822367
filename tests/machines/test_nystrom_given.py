"""Nystrom features of precomputed matrices: which entries are read, and how many are stored."""

import tracemalloc

import numpy as np
import pytest

import alignlearn as al
from alignlearn.machines.nystrom import NystromFeatures, StoredFeatures
from alignlearn.machines.nystrom_machines import NystromKernelRidge
from alignlearn.sources import open_source

M, CENTERS = 1200, np.arange(7, 1200, 60)
X = np.random.default_rng(0).standard_normal((M, 3))
K = al.Gaussian(0.2)(X)


class Counted:
    """A matrix that counts the entries read from it."""

    def __init__(self, values):
        self.values, self.shape, self.dtype, self.read = values, values.shape, values.dtype, 0

    def __getitem__(self, index):
        found = self.values[index]
        self.read += found.size
        return found

    def read_block(self, rows, columns):
        found = self.values[rows][:, columns]
        self.read += found.size
        return found


@pytest.mark.parametrize("part", [None, np.arange(0, M, 2)])
def test_only_the_columns_of_the_centers_are_read(part):
    gram = Counted(K)
    opened = open_source([gram], "precomputed").combine(np.ones(1))
    opened = opened if part is None else opened.part(part)
    m = opened.n_samples
    centers, used = CENTERS[m > CENTERS], np.arange(M) if part is None else part
    y = X[used, 0]
    gram.read = 0
    features = NystromFeatures(opened, centers)
    features.hold()
    machine = NystromKernelRidge(0.1).fit(features, y, rng=np.random.default_rng(0))
    assert gram.read <= len(centers) * (m + len(centers))
    columns = K[np.ix_(used, used[features.centers])]
    Phi = np.linalg.solve(features.factor, columns.T).T
    Z = np.column_stack([Phi, np.ones(m)])
    penalty = np.diag([0.1] * features.rank + [0.0])
    w = np.linalg.solve(Z.T @ Z + penalty, Z.T @ y)
    np.testing.assert_allclose(columns @ machine.dual_coef_, Phi @ w[:-1], atol=1e-5)
    assert abs(machine.intercept_ - w[-1]) < 1e-5


def test_a_memory_map_is_not_held(tmp_path):
    np.save(tmp_path / "gram.npy", K)
    gram = np.load(tmp_path / "gram.npy", mmap_mode="r")
    opened = open_source([gram], "precomputed").combine(np.ones(1))
    tracemalloc.start()
    features = StoredFeatures(NystromFeatures(opened, CENTERS), np.float64)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    values = 8 * M * len(CENTERS)
    assert features.held.nbytes == values
    assert most < 6 * values < K.nbytes / 8
    np.testing.assert_allclose(features.held @ features.held.T, _nystrom(), atol=1e-9)


def _nystrom():
    columns = K[:, CENTERS]
    return columns @ np.linalg.solve(K[np.ix_(CENTERS, CENTERS)], columns.T)
