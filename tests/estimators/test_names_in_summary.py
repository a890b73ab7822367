"""`summary()` names the columns of a data frame, and rows of different lengths are named."""

import numpy as np
import pandas as pd
from refusals import raises

import alignlearn as al

RNG = np.random.default_rng(0)
NAMES = ["age", "bmi", "bp", "ldl", "hdl", "tch", "glu"]
X = pd.DataFrame(RNG.normal(size=(40, 7)), columns=NAMES)
Y = X["bp"] > 0


def test_columns_have_their_names(tmp_path):
    shown = {
        "[age, bmi, bp]": al.Columns("rbf", slice(0, 3)),
        "[hdl]": al.Columns("rbf", ["hdl"]),
        "[age, bp, hdl, glu]": al.Columns("linear", [0, 2, 4, 6]),
        "[age, bmi, bp, ldl, hdl": al.Columns("rbf", slice(0, 7)),
        "pressure": al.Columns("rbf", [1, 2], name="pressure"),
    }
    model = al.MKLClassifier([*shown.values()]).fit(X, Y)
    for line, name in zip(model.summary().splitlines()[1:6], shown):
        assert name in line
    assert "0:3" not in model.summary()
    assert model.kernel_table()["kernel"][1].endswith("on [hdl]")
    al.save(model, tmp_path / "model")
    assert al.load(tmp_path / "model").summary() == model.summary()
    # Names are only printed: the kernels are equal, and new arrays are read by position.
    plain = al.MKLClassifier([*shown.values()][:1])
    kernels = plain.fit(X.to_numpy(), Y.to_numpy()).kernels_
    assert "on 0:3" in plain.summary()
    assert kernels == plain.fit(X, Y).kernels_
    tables = al.MKLClassifier({"body": al.Columns("rbf", [0, 1]), "blood": "rbf"})
    tables.fit({"body": X[NAMES[:3]], "blood": X[NAMES[3:]]}, Y)
    assert "on [age, bmi] on body" in tables.summary()


def test_ragged_rows_are_named():
    rows, y = [[1.0, 2.0]] * 12 + [[3.0]] + [[1.0, 2.0]] * 7, np.arange(20) % 2
    for model in (al.MKLClassifier(["rbf"]), al.MKLRegressorCV(), al.OneClassMKL()):
        raises(ValueError, "row 0 has 2 values and row 12 has 1", model.fit, rows, y)
    tables = {"a": rows, "b": [[float(i), 1.0] for i in range(20)]}
    raises(ValueError, r"table 'a'.*row 12 has 1", al.MKLClassifier(["rbf"]).fit, tables, y)
