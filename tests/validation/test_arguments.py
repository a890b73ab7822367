"""Checks of arguments: each error names the argument, the given value and the accepted values."""

import numpy as np
import pytest
from cases import each

import alignlearn as al
from alignlearn.folds import fold_codes
from alignlearn.validation import (
    check_count,
    check_flag,
    check_labels,
    check_number,
    check_numbers,
    check_samples,
    check_seed,
    check_targets,
    check_weights,
    gram_like,
)

HUGE = 10**400
RAGGED = [[1.0], [1.0, 2.0]]
MASKED = np.ma.masked_array(np.eye(3), np.eye(3) > 0)


@each(
    ("check", "error"),
    [
        (lambda: check_number("size", HUGE), ValueError),
        (lambda: check_number("size", "1"), TypeError),
        (lambda: check_number("size", 1j), TypeError),
        (lambda: check_count("size", HUGE), ValueError),
        (lambda: check_count("size", 2.5), TypeError),
        (lambda: check_count("size", np.nan), TypeError),
        (lambda: check_count("size", None, optional=False), TypeError),
        (lambda: check_flag("size", np.array([True, False])), TypeError),
        (lambda: check_flag("size", 1), TypeError),
        (lambda: check_numbers("size", [True], 1), ValueError),
        (lambda: check_numbers("size", ["1"], 1), ValueError),
        (lambda: check_numbers("size", RAGGED, 2), ValueError),
        (lambda: check_numbers("size", [[1.0]], 1), ValueError),
        (lambda: check_numbers("size", [1.0], 2), ValueError),
        (lambda: check_numbers("size", [np.inf], 1), ValueError),
        (lambda: check_seed("size", "abc"), TypeError),
        (lambda: check_seed("size", -1), TypeError),
        (lambda: fold_codes("size", [1, None, 2], 3), TypeError),
        (lambda: fold_codes("size", RAGGED, 2), TypeError),
        (lambda: gram_like("size", RAGGED), ValueError),
        (lambda: gram_like("size", MASKED), ValueError),
        (lambda: check_samples("size", MASKED), ValueError),
        (lambda: check_targets(MASKED[0], name="size"), ValueError),
        (lambda: check_labels(MASKED[0] > 0, name="size"), ValueError),
    ],
)
def test_errors_name_the_argument(check, error):
    with pytest.raises(error, match=r"^size"):
        check()


def test_what_is_accepted():
    assert check_number("n", np.float16(0.5)) == 0.5
    assert check_number("n", np.longdouble(2.0)) == 2.0
    assert check_count("n", np.float64(3.0)) == 3
    assert check_count("n", None) is None
    assert check_flag("n", np.True_) is True
    assert check_numbers("n", np.arange(3, dtype=np.int8), 2).tolist() == [0.0, 1.0, 2.0]
    assert check_seed("n", None).integers(9, size=5).tolist() == (
        np.random.default_rng(0).integers(9, size=5).tolist()
    )
    assert check_weights(np.array([True, False]), 2).tolist() == [1.0, 0.0]
    assert fold_codes("n", ["b", "a", "b"], 3).tolist() == [1, 0, 1]
    unmasked = np.ma.masked_array(np.eye(2), np.zeros((2, 2), bool))
    np.testing.assert_array_equal(check_samples("n", unmasked), np.eye(2))


def test_the_score_does_not_depend_on_the_unit():
    X = np.random.default_rng(0).normal(size=(12, 2))
    y = X[:, 0] ** 2
    model = al.MKLRegressor(["rbf"]).fit(X, y)
    predicted = model.predict(X)
    expected = 1 - np.sum((y - predicted) ** 2) / np.sum((y - y.mean()) ** 2)
    assert model.score(X, y) == pytest.approx(expected, abs=1e-13)
    # No prediction is right, and no square overflows.
    assert model.score(X, 1e200 * y) == pytest.approx(
        1 - np.sum(y**2) / np.sum((y - y.mean()) ** 2), rel=1e-12
    )
    assert model.score(X, np.full(12, 0.1)) == 0.0
