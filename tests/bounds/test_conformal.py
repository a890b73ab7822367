"""Order statistics of conformal prediction against sorting, and the minimum number of samples."""

import numpy as np
from cases import each

from alignlearn.bounds import conformal


@each("spread", [0.0, 1e-3, 1.0, 1e3])
@each("k", [1, 2, 200, 299, 300])
def test_kth_smallest_is_that_of_sorted_sums(spread, k):
    rng = np.random.default_rng(0)
    radii = np.round(rng.exponential(size=300), 2)  # some are equal
    own, shared = spread * rng.normal(size=(170, 300)) + 3.0, spread * rng.normal(size=(170, 7))
    fold = rng.integers(0, 7, size=300)
    want = np.sort(radii + own, axis=1)[:, k - 1]
    np.testing.assert_allclose(conformal.kth_smallest(radii, own, k), want, rtol=1e-12)
    want = np.sort(radii + shared[:, fold], axis=1)[:, k - 1]
    found = conformal.kth_smallest(radii, shared, k, fold)
    np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-12)


def test_ranks_are_those_of_whole_numbers():
    """0.9 (m + 1) is an integer for every tenth m, and rounding must not increase it by one."""
    assert [conformal.rank(0.9, m) for m in (8, 9, 19, 99, 999, 10**6 - 1)] == [
        *(9, 9, 18, 90, 900, 900_000),
    ]
    assert conformal.rank(0.55, 99) == 55  # 0.55 * 100 is rounded to more than 55
    for coverage in (0.5, 0.8, 0.9, 0.95, 0.99):
        m = conformal.least_samples(coverage)
        assert conformal.rank(coverage, m) <= m < conformal.rank(coverage, m - 1) + 1


def test_too_few_samples_have_infinite_intervals_and_all_classes():
    low, high = conformal.plus_interval(np.zeros(2), np.zeros((2, 8)), np.ones(8), 0.9)
    assert np.isneginf(low).all()
    assert np.isposinf(high).all()
    low, high = conformal.plus_interval(np.zeros(2), np.zeros((2, 9)), np.ones(9), 0.9)
    np.testing.assert_array_equal([low, high], [[-1.0, -1.0], [1.0, 1.0]])
    scores, new = [np.zeros(8)], [np.ones((2, 3))]
    assert conformal.plus_set(scores, new, 0.9).all()
    assert not conformal.plus_set([np.zeros(9)], new, 0.9).any()


def test_ends_are_order_statistics_around_the_center():
    """Radii plus and less shifts are (1.5, 1.75, 3.1) and (0.5, 2.25, 2.9)."""
    shifts, radii = np.array([[0.5, -0.25, 0.1]]), np.array([1.0, 2.0, 3.0])
    ends = conformal.plus_interval(np.array([10.0]), shifts, radii, 0.5)
    np.testing.assert_allclose(np.ravel(ends), [8.25, 12.25])
    ends = conformal.plus_interval(np.array([10.0]), shifts, radii, 0.75)
    np.testing.assert_allclose(np.ravel(ends), [6.9, 12.9])


def test_sets_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    scores = [rng.uniform(size=n).round(1) for n in (11, 10, 12)]
    codes = [rng.integers(0, 3, size=len(s)) for s in scores]
    new = [rng.uniform(size=(50, 3)).round(1) for _ in scores]
    for by_class in (False, True):
        want = np.empty((50, 3), dtype=bool)
        for i in range(50):
            for c in range(3):
                n = smaller = 0
                for s, code, v in zip(scores, codes, new):
                    used = s[code == c] if by_class else s
                    n, smaller = n + len(used), smaller + np.sum(used < v[i, c])
                want[i, c] = smaller < 0.8 * (n + 1)
        found = conformal.plus_set(scores, new, 0.8, codes if by_class else None)
        np.testing.assert_array_equal(found, want)
