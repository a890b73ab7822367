"""Target columns: classes, real values, and rejected targets."""

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from strategies import labels

from alignlearn.statistics.targets import fewer_columns, plain_columns, target_columns, target_norm
from alignlearn.validation import check_labels, check_targets


@given(st.integers(1, 12).flatmap(labels))
def test_classes_become_signs_or_one_hot_columns(y):
    classes = list(dict.fromkeys(np.asarray(y).tolist()))  # by their first samples
    Y = plain_columns(y)
    if len(classes) > 2:
        expected = [[float(v == c) for c in classes] for v in y]
    else:
        expected = [[1.0 if classes.index(v) else -1.0] for v in y]
    np.testing.assert_array_equal(Y, expected)
    centered = target_columns(y)
    np.testing.assert_allclose(centered, Y - Y.mean(axis=0), atol=1e-15)
    assert centered.dtype == np.float64


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_real_values_are_one_centered_column(y):
    Y = target_columns(y)
    np.testing.assert_allclose(Y[:, 0], np.array(y) - np.mean(y), atol=1e-9)
    np.testing.assert_array_equal(Y, target_columns(np.array(y)[:, None]))


@each("value", [0.1, 0.3, 0.7, 1e300])
@each("m", [1, 3, 6, 7, 10])
def test_constant_target_is_exactly_zero(value, m):
    np.testing.assert_array_equal(target_columns(np.full(m, value)), 0)
    np.testing.assert_array_equal(target_columns(np.full((m, 2), value)), 0)


def test_kinds_are_read_from_the_type_unless_said():
    assert target_columns(np.array([0, 1, 2])).shape == (3, 3)
    assert target_columns(np.array([0.0, 1.0, 2.0])).shape == (3, 1)
    assert target_columns([0.0, 1.0, 2.0]).shape == (3, 1)
    assert target_columns(np.array([[0, 1], [1, 0], [2, 2]])).shape == (3, 2)
    assert target_columns(np.array([0.0, 1.0, 2.0]), task="classification").shape == (3, 3)
    np.testing.assert_array_equal(target_columns([1, 2, 6], task="regression")[:, 0], [-2, -1, 3])
    np.testing.assert_array_equal(target_columns([True, False])[:, 0], [-1, 1])
    objects = np.array(["b", "a", "b"], dtype=object)
    np.testing.assert_allclose(target_columns(objects)[:, 0], [-2 / 3, 4 / 3, -2 / 3])


@each(
    ("y", "error", "message"),
    [
        ([1, "a"], TypeError, "mixed type"),
        (["a", np.nan], ValueError, "missing value in 1 rows"),
        ([None, 1], ValueError, "missing value in 1 rows"),
        ([1.0, np.nan], ValueError, "NaN or infinity"),
        ([], ValueError, r"shape \(m,\) or \(m, c\)"),
        (5, ValueError, "1-d array of labels"),
        (np.zeros((2, 2, 2)), ValueError, "shape"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), TypeError, "numbers or strings"),
        (np.array([1j, 2]), TypeError, "numbers or strings"),
        (np.zeros((2, 0)), ValueError, "shape"),
    ],
)
def test_bad_targets_are_refused_by_name(y, error, message):
    raises(error, f"^y .*{message}", target_columns, y)
    raises(error, f"^L .*{message}", target_columns, y, name="L")


@each("y", [["1", "2"], [1j, 2], [None, "a"], [[1.0], [1.0, 2.0]]])
def test_regression_takes_numbers_only(y):
    raises(ValueError, "y must hold real numbers", target_columns, y, task="regression")


def test_lengths_sparse_input_and_task():
    from scipy import sparse

    raises(ValueError, "y has 2 labels, but X has 3 samples", target_columns, [0, 1], 3)
    raises(ValueError, "y has 2 targets, but X has 3 samples", target_columns, [0.0, 1.0], 3)
    for check in (check_labels, check_targets):
        raises(TypeError, "y is a sparse matrix", check, sparse.eye_array(3).tocsr())
    with pytest.raises(ValueError, match="task='ranking' is not known; accepted: 'auto'"):
        target_columns([0, 1], task="ranking")


@pytest.mark.parametrize("shape", [(6, 3), (6, 12), (6, 13), (6, 40)])
def test_more_targets_than_samples(shape):
    rng = np.random.default_rng(0)
    Y, weight = rng.normal(size=shape), rng.uniform(0.5, 2.0, 6)
    root = np.sqrt(np.outer(weight, weight))
    assert target_norm(Y) == pytest.approx(np.linalg.norm(Y @ Y.T), rel=1e-14)
    assert target_norm(Y, weight=weight) == pytest.approx(np.linalg.norm(root * (Y @ Y.T)), 1e-14)
    fewer = fewer_columns(Y)
    assert fewer.shape[1] == (6 if shape[1] > 12 else shape[1])
    np.testing.assert_allclose(fewer @ fewer.T, Y @ Y.T, rtol=1e-13, atol=1e-13)
