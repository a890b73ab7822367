"""Every kind of bad input raises an error that names the argument and the accepted values."""

import copy
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from refusals import not_refused

import alignlearn as al

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 3))
Y = np.repeat([1.0, 2.0], 6)
LABELS = np.array(["a", "b"])[Y.astype(int) - 1]
GRAMS = np.array([X @ X.T, np.exp(-((X[:, None] - X) ** 2).sum(-1))])
NEGATIVE, HOLLOW = [GRAMS[1] - 0.5 * np.eye(12)] * 2, np.abs(GRAMS) * (1 - np.eye(12))

CLASSIFIER, RIDGE = al.MKLClassifier(), al.MKLRegressor()
SVR, COMBINER = al.MKLRegressor(machine="svr"), al.KernelCombiner()
REGRESSORS = [RIDGE, SVR]
ALL = [CLASSIFIER, *REGRESSORS, COMBINER]
DOT = {"kernels": [al.FromFunction(np.dot), "rbf"]}
FUNCTION = {"kernels": [al.FromFunction(max), "rbf"]}
LINEAR, GIVEN = {"kernels": ["linear"]}, {"kernels": "precomputed"}
NAMES = {"kernels": al.RankOneKernels(("a", "b"))}
MIXED = "y holds labels of mixed type"


def _with(value, index=(2, 1)):
    bad = X.astype(object) if isinstance(value, (str, dict)) else X.copy()
    bad[index] = value
    return bad


# estimators, parameters, X, y, words of the message
BAD_FITS = {
    "NaN": (ALL, {}, _with(np.nan), Y, "X contains NaN or inf.*finite"),
    "text in X": (ALL, {}, _with("red"), Y, "X must hold real numbers"),
    "X of one dimension": (ALL, {}, X[:, 0], Y, r"X must be a matrix .*\(12,\).*reshape\(-1, 1\)"),
    "ragged X": (ALL, {}, [[1.0, 2.0], [3.0]], Y[:2], "X has rows of different lengths: row 0"),
    "no X": (ALL, {}, None, Y, "X must be a matrix"),
    "no sample": (ALL, {}, X[:0], Y[:0], r"X has shape \(0, 3\).*at least one sample"),
    "one sample": (ALL, {}, X[:1], Y[:1], "X has 1 sample; at least 2"),
    "sparse X": (ALL, FUNCTION, sp.csr_array(X), Y, "X is a sparse matrix, which max.*toarray"),
    "NaN in sparse X": (ALL, LINEAR, sp.csr_array(_with(np.nan)), Y, "X contains NaN"),
    "every kernel constant": (ALL, {}, np.ones((12, 3)), Y, "X: every kernel is constant"),
    "no y": (ALL, {}, X, None, "requires y"),
    "y too long": (ALL, {}, X, np.tile(Y, 2), "y has 24 .*X has 12"),
    "constant y": ([*REGRESSORS, COMBINER], {}, X, np.full(12, 0.1), "y is constant.*at least two"),
    "one class": ([CLASSIFIER], {}, X, ["a"] * 12, "y has 1 class, .*'a'.*at least two"),
    "NaN in y": ([*REGRESSORS, COMBINER], {}, X, np.append(Y[1:], np.nan), "y contains NaN"),
    "labels of mixed type": ([CLASSIFIER, COMBINER], {}, X, [*"abc", *range(9)], MIXED),
    "missing label": ([CLASSIFIER, COMBINER], {}, X, [None, *LABELS[1:]], "NaN, None or another"),
    "continuous labels": ([CLASSIFIER], {}, X, X[:, 0], "Unknown label type: y .*class labels"),
    "classes in columns": ([CLASSIFIER], {}, X, [["a", "b"]] * 12, "'a' in one column.*0 and 1"),
    "text as target": (REGRESSORS, {}, X, LABELS, "y must hold real numbers"),
    "column too far": (ALL, {"kernels": [al.Columns("rbf", 3)]}, X, Y, "column 3, but X has only"),
    "outside the domain": (ALL, {"kernels": [al.Binomial(5.0)]}, X, Y, "gamma.*must be < 1 for ev"),
    "names of other features": (ALL, NAMES, X, Y, "2 names, but X has 3 columns"),
    "negative eigenvalue": (ALL, GIVEN, NEGATIVE, Y, r"not positive semi-definite.*about -0.*acce"),
    "zero diagonal": (ALL, GIVEN, HOLLOW, Y, r"kernel \d is not positive semi-definite.*trace"),
    "no sequence": (ALL, GIVEN, 3.0, Y, "sequence of .* matrices"),
    "one sample of matrices": (ALL, GIVEN, np.ones((2, 1, 1)), Y[:1], "X has 1 sample; at least 2"),
}  # fmt: skip


BAD_TESTS = {
    "fewer columns": ({}, X, X[:, :2], "X has 2 features, but .* is expecting 3"),
    "NaN": ({}, X, _with(np.nan), "X contains NaN"),
    "one dimension": ({}, X, X[0], "Reshape your data"),
    "no rows": ({}, X, X[:0], r"X has shape \(0, 3\)"),
    "sparse": (DOT, X, sp.csr_array(X), "X is a sparse matrix, which dot does not accept"),
    "sparse to linear, fewer columns": (LINEAR, X, sp.csr_array(X[:, :2]), "X has 2 features"),
    "fewer matrices": (GIVEN, GRAMS, GRAMS[:1], "sequence of 2 matrices .*got 1 items"),
    "no matrices": (GIVEN, GRAMS, 7, "sequence of 2 matrices .*got int"),
    "other training samples": (GIVEN, GRAMS, GRAMS[:, :, :5], r"shape \(12, 5\).*12\)"),
    "unequal rows": (GIVEN, GRAMS, [GRAMS[0], GRAMS[1][:3]], r"kernel 1 has shape \(3, 12\)"),
    "NaN in a matrix": (GIVEN, GRAMS, GRAMS * np.nan, "kernel . contains NaN"),
    "single rows": (GIVEN, GRAMS, GRAMS[:, 0], r"kernel 0 has shape \(12,\)"),
}  # fmt: skip


def _estimator(base, parameters):
    return type(base)(**{**base.get_params(deep=False), **copy.deepcopy(parameters)})


def _name(base):
    return repr(base).partition("(")[0] + getattr(base, "machine", "")


@pytest.mark.parametrize("base", ALL, ids=_name)
def test_bad_training_input(base):
    cases = [
        (case, partial(_estimator(base, parameters).fit, samples, y), message)
        for case, (bases, parameters, samples, y, message) in BAD_FITS.items()
        if any(base is one for one in bases)
    ]
    assert not_refused(cases) == []


@pytest.mark.parametrize("base", ALL, ids=_name)
def test_bad_new_samples(base):
    cases, fitted = [], {}
    for case, (parameters, train, test, message) in BAD_TESTS.items():
        key = repr(parameters)  # training samples that determine them
        if key not in fitted:
            fitted[key] = _estimator(base, parameters).fit(train, Y)
        model = fitted[key]
        call = model.transform if base is COMBINER else model.predict
        cases.append((case, partial(call, test), message))
    assert not_refused(cases) == []


@pytest.mark.parametrize("base", ALL, ids=_name)
@pytest.mark.parametrize("kernels", [None, "linear", "precomputed", "function"])
def test_nothing_is_modified(base, kernels):
    train, y = (GRAMS if kernels == "precomputed" else X).copy(), Y.copy()
    if kernels == "function":
        kernels = [al.FromFunction(lambda s, t: float(s @ t)), "rbf"]
    weighting = al.AlignF(tol=1e-9)
    before = train.copy(), copy.copy(kernels), weighting.get_params()
    train.flags.writeable = y.flags.writeable = False
    model = _estimator(base, {}).set_params(kernels=kernels, weighting=weighting)
    model.fit(train, y)
    (model.transform if base is COMBINER else model.predict)(train)
    np.testing.assert_array_equal(train, before[0])
    np.testing.assert_array_equal(y, Y)
    assert model.kernels is kernels
    assert (kernels, weighting.get_params()) == before[1:]
    # What fit returned does not change with the caller's arrays.
    if not isinstance(kernels, str) or kernels != "precomputed":
        train.flags.writeable = True
        call = model.transform if base is COMBINER else model.predict
        expected = call(X)
        train[:] = 0.0
        np.testing.assert_array_equal(call(X), expected)
