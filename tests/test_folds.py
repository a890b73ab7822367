"""Folds: every sample is tested once, in shares that are equal, for every form of `cv`."""

import numpy as np
import pytest
from cases import each
from refusals import raises
from sklearn.model_selection import StratifiedKFold

from alignlearn.folds import (
    equal_folds,
    fold_codes,
    fold_numbers,
    make_folds,
    prequential_blocks,
)

Y = np.array(list("aaaaaaabbbbc"))  # 7, 4 and 1 samples


@each("n", [2, 3, 5, 12])
def test_sizes_are_equal_within_one_and_so_is_every_class(n):
    for y, stratify in ((Y, True), (Y, False)):
        number = fold_numbers(y, n, stratify)
        assert np.ptp(np.bincount(number, minlength=n)) <= 1
        if stratify:
            for label in "abc":
                assert np.ptp(np.bincount(number[y == label], minlength=n)) <= 1
    renamed = np.array([{"a": 9, "b": -1, "c": 3}[label] for label in Y])
    np.testing.assert_array_equal(fold_numbers(renamed, n, True), fold_numbers(Y, n, True))
    assert (fold_numbers(Y, n, True, 0) == fold_numbers(Y, n, True, None)).all()


def test_orders_are_drawn_from_the_seed():
    drawn = {tuple(fold_numbers(Y, 3, True, seed)) for seed in range(20)}
    assert len(drawn) > 15


@each(("m", "n"), [(12, 4), (13, 4), (15, 4), (7, 7), (9, 2)])
def test_equal_folds_leave_out_the_few_that_are_left(m, n):
    number = equal_folds(m, n)
    counts = np.bincount(number + 1, minlength=n + 1)
    assert counts.tolist() == [m % n] + n * [m // n]


@each(("m", "n"), [(4, 1), (4, 2), (11, 1), (11, 3), (12, 6)])
def test_blocks_follow_one_another(m, n):
    (earlier, later), *blocks = prequential_blocks(m, n)
    assert (len(earlier), len(later)) == (m // 4, m // 2 - m // 4)
    assert len(blocks) == n
    past = np.r_[earlier, later]
    for before, block in blocks:
        np.testing.assert_array_equal(before, past)
        past = np.r_[past, block]
    assert np.ptp([len(block) for _, block in blocks]) <= 1
    assert sorted(past) == list(range(m))
    raises(ValueError, "too small", prequential_blocks, m, m - m // 2 + 1)
    raises(ValueError, "at least 4 samples", prequential_blocks, 3, 1)
    raises(ValueError, "n_blocks=0", prequential_blocks, m, 0)


def as_sets(folds):
    return [(set(train.tolist()), set(test.tolist())) for train, test in folds]


def test_every_form_of_cv_gives_the_same_folds():
    codes, every = np.arange(12) % 3, set(range(12))
    tests = [set(range(k, 12, 3)) for k in range(3)]
    expected = [(every - test, test) for test in tests]
    pairs = [(np.flatnonzero(codes != k), np.flatnonzero(codes == k)) for k in range(3)]
    masks = [(codes != k, codes == k) for k in range(3)]
    forms = (codes, codes.tolist(), [f"fold {k}" for k in codes], pairs, iter(pairs), masks)
    for cv in forms:
        assert as_sets(make_folds(cv, Y, False)) == expected

    class Splitter(StratifiedKFold):
        def __len__(self):
            return 12

    splitter = Splitter(2)
    y = np.repeat([0, 1], 6)
    assert as_sets(make_folds(splitter, y, True)) == as_sets(splitter.split(y, y))
    twelve = [([k], [11 - k]) for k in range(12)]  # as many pairs as samples
    assert as_sets(make_folds(twelve, Y, False)) == [({k}, {11 - k}) for k in range(12)]


def test_a_number_of_folds_is_lowered_to_the_largest_class():
    assert len(make_folds(99, Y, True)) == 7
    assert len(make_folds(99, Y, False)) == 12
    for word, n in (("aabb", 2), ("aaabb", 3), ("aaaabb", 4)):
        assert len(make_folds(9, np.array(list(word)), True)) == n
    folds = make_folds(5, Y, True, 3)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(12))
    assert all(len(train) + len(test) == 12 for train, test in folds)
    for cv in (True, "5", 2.5, None):
        raises(TypeError, "cv must be a number of folds", make_folds, cv, Y, True)
    with pytest.raises(ValueError, match="training set of fold 1 holds 1 class only, 'a'"):
        make_folds([([0, 8], [1]), ([0, 1], [8])], Y, True)
    assert len(make_folds([([0, 1], [8])], Y, False)) == 1


def test_codes_are_places_of_sorted_labels():
    assert fold_codes("groups", ["b", "a", "c", "a"], 4).tolist() == [1, 0, 2, 0]
    raises(ValueError, "NaN", fold_codes, "groups", [1.0, np.nan], 2)
    raises(ValueError, r"shape \(3,\); got \(2,\)", fold_codes, "groups", [1, 2], 3)
    raises(ValueError, "same fold label", fold_codes, "groups", [1, 1], 2)
    raises(TypeError, "of one kind", fold_codes, "groups", [1, "a", None], 3)
