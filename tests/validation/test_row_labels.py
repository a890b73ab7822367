"""Row labels that differ: one doubt per call, and none where there is nothing to compare."""

import warnings

import numpy as np
import pandas as pd
import pytest

import alignlearn as al

RNG = np.random.default_rng(0)
M = 24
LABELS = pd.Index([f"p{k}" for k in range(M)])
ORDER = RNG.permutation(M)
A = pd.DataFrame(RNG.normal(size=(M, 2)), LABELS, ["u", "v"])
B = pd.DataFrame(RNG.normal(size=(M, 1)), LABELS, ["w"])
Y = A["u"] + B["w"] ** 2
K = pd.DataFrame(al.Gaussian(0.3)(A.to_numpy()), LABELS, LABELS)
L = pd.DataFrame(al.Linear()(B.to_numpy()), LABELS, LABELS)
SHUFFLED = LABELS[ORDER]
KERNELS = {"a": "rbf", "b": "rbf"}


def fitted():
    return al.MKLRegressor(KERNELS).fit({"a": A, "b": B}, Y)


def doubts(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [w for w in caught if "joined by position" in str(w.message)]


TWO = {"a": A, "b": B}
WRONG = {"a": A, "b": B.loc[SHUFFLED]}
CALLS = {
    "fit": lambda: al.MKLRegressor(KERNELS).fit(WRONG, Y),
    "a list": lambda: al.MKLRegressor(KERNELS).fit(list(WRONG.values()), Y),
    "a target": lambda: al.MKLRegressor(KERNELS).fit(TWO, Y.loc[SHUFFLED]),
    "a target of one table": lambda: al.MKLRegressor(["rbf"]).fit(A, Y.loc[SHUFFLED]),
    "weights": lambda: al.MKLRegressor(KERNELS).fit(TWO, Y, pd.Series(1.0, SHUFFLED)),
    "a search": lambda: al.MKLRegressorCV(KERNELS, cv=2).fit(WRONG, Y),
    "predict": lambda: fitted().predict(WRONG),
    "an interval": lambda: fitted().predict_interval(WRONG, fit=(TWO, Y)),
    "score": lambda: fitted().score(TWO, Y.loc[SHUFFLED]),
    "a table of kernels": lambda: fitted().kernel_table(WRONG, Y),
    "other labels": lambda: fitted().predict({"a": A, "b": B.rename("new {}".format)}),
    "reset labels": lambda: fitted().predict({"a": A, "b": B.reset_index(drop=True)}),
    "a transformer": lambda: al.TableTransformer().fit_transform(WRONG),
    "tasks": lambda: al.MultiTaskMKLRegressor(KERNELS).fit(
        TWO, Y, pd.Series(np.arange(M) % 2, SHUFFLED)
    ),
    "views": lambda: al.KernelCCA().fit([A, B.loc[SHUFFLED]]),
    "statistics": lambda: al.alignment_statistics(WRONG, Y, KERNELS),
    "a stack": lambda: al.GramStack({"k": K, "l": L.loc[SHUFFLED, SHUFFLED]}),
    "rows of a stack": lambda: al.GramStack({"k": K, "l": L.loc[SHUFFLED]}),
    "columns of a matrix": lambda: al.GramStack({"k": K[SHUFFLED]}),
    "matrices": lambda: al.MKLRegressor("precomputed").fit(
        {"k": K, "l": L.loc[SHUFFLED, SHUFFLED]}, Y
    ),
    "a target of a stack": lambda: al.MKLRegressor("precomputed").fit(
        al.GramStack({"k": K, "l": L})[3:], Y.loc[SHUFFLED[3:]]
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_one_doubt_where_labels_differ(name):
    found = doubts(CALLS[name])
    assert [w.category for w in found] == [al.DoubtfulResultWarning]
    assert found[0].filename == __file__


def test_none_where_labels_agree_or_are_none():
    model = fitted()  # warnings are errors
    model.predict(TWO)
    model.score(TWO, Y)
    model.score(TWO, Y.to_numpy())
    model.predict({name: table.reset_index(drop=True) for name, table in TWO.items()})
    al.MKLRegressor(KERNELS).fit({"a": A.iloc[ORDER], "b": B.iloc[ORDER]}, Y.iloc[ORDER])
    al.MKLRegressor("precomputed").fit(al.GramStack({"k": K, "l": L}), Y)
    al.MKLRegressor("precomputed").fit([K, L], Y)
    al.GramStack({"k": K.iloc[:5], "l": L.iloc[:5]})
    al.GramStack({"k": K.reset_index(drop=True)})


def test_a_call_that_fails_leaves_no_trace():
    model = fitted()
    with pytest.raises(ValueError, match="table"):
        model.predict({"a": A})
    with pytest.raises(TypeError):
        model.predict()
    assert len(doubts(lambda: model.predict(WRONG))) == 1
