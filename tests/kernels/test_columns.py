"""Columns by name, and kernels by string inside Columns."""

import pickle

import numpy as np
import pandas as pd
from cases import each
from refusals import raises

from alignlearn.estimators import MKLRegressor
from alignlearn.kernels import Columns, Gaussian, Linear

X = np.random.default_rng(0).normal(size=(12, 3))
FRAME = pd.DataFrame(X, columns=["age", "income", "height"])
NAMES = list(FRAME.columns)


def test_a_string_names_the_kernel_of_some_columns():
    assert Columns("rbf", [0, 2]) == Columns(Gaussian(), [0, 2])
    raises(ValueError, r"'fbr' is not known; accepted: .*rbf", Columns, "fbr", [0])


@each(
    ("named", "numbered"),
    [
        (Columns("rbf", ["age", "income"]), Columns("rbf", [0, 1])),
        (Columns("rbf", "height"), Columns("rbf", 2)),
        (Columns("rbf", np.array(["height", "age"])), Columns("rbf", [2, 0])),
        (Columns("rbf", pd.Index(["height"])), Columns("rbf", [2])),
        (
            2 * Columns("rbf", ["income"]) + (Columns("linear", "age") * Linear()).normalized(),
            2 * Columns("rbf", [1]) + (Columns("linear", 0) * Linear()).normalized(),
        ),
        (
            Columns(Columns("linear", "age") + Gaussian(1.0), ["height", "age"]),
            Columns(Columns("linear", 1) + Gaussian(1.0), [2, 0]),
        ),
        (Columns(Columns("rbf", "age"), [2, 0]), Columns(Columns("rbf", 1), [2, 0])),
    ],
)
def test_names_are_the_numbers_of_the_columns_of_a_data_frame(named, numbered):
    assert named.resolve_names(NAMES) == numbered
    assert numbered.resolve_names(NAMES) == numbered.resolve_names(None) == numbered
    np.testing.assert_array_equal(named(FRAME), numbered(X))
    np.testing.assert_array_equal(named(FRAME, FRAME[:5]), numbered(X, X[:5]))
    np.testing.assert_array_equal(named(FRAME, X[:5]), numbered(X, X[:5]))
    np.testing.assert_array_equal(named.diag(FRAME), numbered.diag(X))
    assert pickle.loads(pickle.dumps(named)) == named
    assert hash(named) == hash(pickle.loads(pickle.dumps(named)))


def test_names_that_are_no_columns_are_listed():
    double = pd.DataFrame(X, columns=["age", "age", "height"])
    for kernel, frame, message in (
        (Columns("rbf", ["age", "weight", "bmi"]), FRAME, "'weight', 'bmi', which is not a column"),
        (Columns("rbf", ["age"]), double, "'age', which is the name of several columns of X"),
        # A name that the outer selection left out.
        (Columns(Columns("rbf", "income"), ["age"]), FRAME, "'income', which is not a column"),
    ):
        raises(ValueError, message, kernel, frame)
    wide = [f"c{k}" for k in range(1000)]
    raises(ValueError, "'c19' and 980 more", Columns("rbf", ["age"]).resolve_names, wide)


def test_names_need_a_data_frame_with_the_same_columns():
    named = Columns("rbf", ["age"])
    for call in (named, named.diag, named.resolve, lambda X: named(pd.DataFrame(X))):
        raises(ValueError, r"'age' by name, but X has no column names", call, X)
    reordered = FRAME[["age", "height", "income"]]
    raises(ValueError, r"Y has columns .*'height', 'income'", named, FRAME, reordered)


def test_a_boolean_mask_names_its_remedy():
    mask = np.arange(X.shape[1]) < 2
    for masked in (mask, mask.tolist()):
        raises(ValueError, r"numpy\.flatnonzero", Columns, Linear(), masked)
        fit = MKLRegressor({"a": masked}).fit
        raises(ValueError, r"kernels\['a'\]: .* numpy\.flatnonzero", fit, X, X[:, 0])
