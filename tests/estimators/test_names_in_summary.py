"""`summary()` names the columns of a data frame, and rows of different lengths are named."""

import numpy as np
import pandas as pd
import pytest

import alignlearn as al

RNG = np.random.default_rng(0)
NAMES = ["age", "bmi", "bp", "ldl", "hdl", "tch", "glu"]
X = pd.DataFrame(RNG.normal(size=(40, 7)), columns=NAMES)
Y = X["bp"] > 0


def test_columns_have_their_names():
    kernels = [
        al.Columns("rbf", slice(0, 3)),
        al.Columns("rbf", ["hdl"]),
        al.Columns("linear", [0, 2, 4, 6]),
        al.Columns("rbf", slice(0, 7)),
        al.Columns("rbf", [1, 2], name="pressure"),
    ]
    model = al.MKLClassifier(kernels).fit(X, Y)
    lines = model.summary().splitlines()
    for line, shown in zip(
        lines[1:6],
        ("[age, bmi, bp]", "[hdl]", "[age, bp, hdl, glu]", "[age, bmi, bp, ldl, hdl", "pressure"),
    ):
        assert shown in line
    assert "0:3" not in model.summary()
    assert model.kernel_table()["kernel"][1].endswith("on [hdl]")
    # Names are only printed: the kernels are equal, and new arrays are read by position.
    plain = al.MKLClassifier(kernels[:1]).fit(X.to_numpy(), Y.to_numpy())
    assert "on 0:3" in plain.summary()
    assert plain.kernels_ == al.MKLClassifier(kernels[:1]).fit(X, Y).kernels_


def test_tables_have_the_names_of_their_columns():
    kernels = {"body": al.Columns("rbf", [0, 1]), "blood": "rbf"}
    model = al.MKLClassifier(kernels).fit({"body": X[NAMES[:3]], "blood": X[NAMES[3:]]}, Y)
    assert "on [age, bmi] on body" in model.summary()


def test_names_are_saved(tmp_path):
    model = al.MKLClassifier([al.Columns("rbf", slice(0, 3)), "linear"]).fit(X, Y)
    al.save(model, tmp_path / "model.alignlearn")
    again = al.load(tmp_path / "model.alignlearn")
    assert again.summary() == model.summary()
    assert np.array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    "model", [al.MKLClassifier(["rbf"]), al.MKLRegressorCV(), al.OneClassMKL()]
)
def test_ragged_rows_are_named(model):
    rows = [[1.0, 2.0]] * 12 + [[3.0]] + [[1.0, 2.0]] * 7
    with pytest.raises(ValueError, match="row 0 has 2 values and row 12 has 1"):
        model.fit(rows, np.arange(20) % 2)
    other = [[float(i), 1.0] for i in range(20)]
    tables = al.MKLClassifier(["rbf"])
    with pytest.raises(ValueError, match=r"table 'a'.*row 12 has 1"):
        tables.fit({"a": rows, "b": other}, np.arange(20) % 2)
