"""Data frames in place of Gram matrices or samples: the results of their arrays."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from alignlearn.theory.bounds.intervals import alignment_interval_of_grams
from refusals import not_refused

import alignlearn as al
from alignlearn import machines
from alignlearn.estimators import cross_validate_kernels
from alignlearn.kernels import precomputed_kernels

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(30, 3)), RNG.normal(size=(8, 3))
LABELS = np.where(X[:, 0] + 0.3 * RNG.normal(size=30) > 0, "b", "a")
REAL = X[:, 1] + np.sin(X[:, 2])
KERNELS = [al.Gaussian(0.1), al.Linear()]
TRAIN, TEST = [k(X) for k in KERNELS], [k(Z, X) for k in KERNELS]


def frame(K):
    """A data frame whose labels contradict the positions."""
    rows, columns = (np.arange(n)[::-1] for n in K.shape)
    return pd.DataFrame(K, index=rows, columns=columns)


def nullable(K):
    """pandas' own number types, which NumPy reads as objects."""
    return frame(K).astype("Float64")


def _given(model, y):
    def call(form):
        fitted = model("precomputed").fit([form(K) for K in TRAIN], y)
        test = [form(K) for K in TEST]
        last = fitted.transform if hasattr(fitted, "transform") else fitted.predict
        return fitted.weights_, np.asarray(last(test)), fitted.kernel_(test)

    return call


def _machine(make, y):
    def call(form):
        machine = make().fit(form(TRAIN[0]), y)
        return machine.dual_coef_, machine.predict(form(TEST[0]))

    return call


def _one_stage(rule, y):
    centered = [al.center_kernel(K) for K in TRAIN]
    return lambda form: rule.solve_grams([form(K) for K in centered], y).weights


def _accumulate(form):
    statistics = al.AlignmentAccumulator("precomputed")
    return statistics.update([form(K) for K in TRAIN], REAL).statistics().M


def _on_sample_numbers(form):
    numbers = np.arange(len(X))[:, None]
    kernel = al.Precomputed(form(TRAIN[0]))
    return kernel(numbers[:4], numbers), kernel.diag(numbers), kernel.gram.shape


def _validated(form):
    estimator = al.MKLRegressor("precomputed")
    run = cross_validate_kernels(estimator, [form(K) for K in TRAIN], REAL, cv=3)
    return run["test_score"], run["weights"]


def _statistics(form):
    grams = [form(K) for K in TRAIN]
    folds = al.alignment_statistics(grams, LABELS, "precomputed", folds=np.arange(30) % 3)
    return al.alignment_statistics(grams, LABELS, "precomputed").M, [s.a for s in folds]


# All public functions that accept Gram matrices.
GRAMS = {
    "alignment": lambda form: [al.alignment(form(TRAIN[0]), L) for L in (form(TRAIN[1]), LABELS)],
    "hsic": lambda form: al.hsic(form(TRAIN[0]), form(TRAIN[1]), unbiased=True),
    "cka": lambda form: al.cka(form(TRAIN[0]), form(TRAIN[1]), unbiased=True),
    "center_kernel": lambda form: al.center_kernel(form(TEST[0]), form(TRAIN[0])),
    "alignment_statistics": _statistics,
    "AlignmentAccumulator": _accumulate,
    "Precomputed": _on_sample_numbers,
    "precomputed_kernels": lambda form: precomputed_kernels([form(TRAIN[0])])[1][0].gram,
    "MKLClassifier": _given(al.MKLClassifier, LABELS),
    "MKLClassifierCV": _given(partial(al.MKLClassifierCV, weighting="alignf", Cs=[1.0]), LABELS),
    "MKLRegressor": _given(al.MKLRegressor, REAL),
    "MKLRegressorCV": _given(partial(al.MKLRegressorCV, weighting="alignf", alphas=[1.0]), REAL),
    "KernelCombiner": _given(al.KernelCombiner, REAL),
    "cross_validate_kernels": _validated,
    "KernelRidge": _machine(machines.KernelRidge, REAL),
    "SupportVectorRegressor": _machine(machines.SupportVectorRegressor, REAL),
    "SupportVectorClassifier": _machine(machines.SupportVectorClassifier, LABELS),
    "ridge_loo_path": lambda form: machines.ridge_loo_path(form(TRAIN[0]), REAL, [1.0]).predictions,
    "LKRR": _one_stage(al.LKRR(), REAL),
    "AlignedKRR": _one_stage(al.AlignedKRR(), REAL),
    "L1SVM": _one_stage(al.L1SVM(), LABELS),
    "bounds": lambda form: alignment_interval_of_grams(form(TRAIN[0]), form(TRAIN[0])),
}


def _same(found, expected):
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for pair in zip(found, expected):
            _same(*pair)
    elif np.asarray(expected).dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", GRAMS)
def test_gram_matrices(name):
    expected = GRAMS[name](np.asarray)
    for form in (frame, nullable):
        _same(GRAMS[name](form), expected)


SEARCH = {"kernels": KERNELS, "weighting": "alignf", "cv": 3}
SAMPLES = {
    "alignment_statistics": lambda X, y: al.alignment_statistics(X, y, KERNELS).M,
    "AlignmentAccumulator": lambda X, y: al.AlignmentAccumulator().update(X, y).statistics().M,
    "MKLClassifierCV": lambda X, y: al.MKLClassifierCV(**SEARCH).fit(X, y).decision_function(X),
    "RankOneKernels": lambda X, y: al.MKLClassifier(al.RankOneKernels()).fit(X, y).coef_,
    "a kernel": lambda X, y: KERNELS[0](X[:5], X),
    "a function": lambda X, y: al.FromFunction(np.dot)(X),
    "compare": lambda X, y: al.compare(X, y, ["linear"], methods=["uniform"]).error,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_and_labels(name):
    columns = [f"x{c}" for c in range(3)]
    given = pd.DataFrame(X, np.arange(30)[::-1], columns), pd.Series(LABELS, np.arange(30)[::-1])
    _same(SAMPLES[name](*given), SAMPLES[name](X, LABELS))


def test_what_is_no_list_of_gram_matrices_is_refused():
    text = frame(TRAIN[0]).map("{} kg".format)
    model = al.MKLClassifier("precomputed", weighting="uniform").fit(TRAIN, LABELS)
    fit = partial(al.MKLClassifier("precomputed").fit, y=LABELS)
    cases = (
        (fit, frame(TRAIN[0]), r"\(p, m, m\), got \(30, 30\); pass a single matrix K in a list"),
        (fit, {0: TRAIN[0]}, "a name must be a str, got 0"),
        (fit, [nullable(TRAIN[0]).mask(TRAIN[0] > 0.99)], "kernel 0 must hold real numb"),
        (fit, [TRAIN[0], text], "kernel 1 must hold real numbers"),
        (fit, [sp.csr_array(TRAIN[0])], "kernel 0 is a sparse matrix; .*toarray"),
        (fit, [TRAIN[0], [[1.0, 2.0], [3.0]]], "kernel 1 must be a matrix"),
        (model.predict, frame(TEST[0]), "sequence of 2 matrices .*got 8 items"),
        (model.predict, dict(zip("ab", TEST)), "is a dict, but fit had no tables"),
        (model.predict, [TEST[0], text], "kernel 1 must hold real numbers"),
        (model.predict, [sp.csr_array(K) for K in TEST], "kernel 0 is a sparse matrix"),
        (model.predict, [frame(K.T) for K in TEST], r"kernel 0 has shape \(30, 8\)"),
    )
    assert not_refused((words, partial(call, K), words) for call, K, words in cases) == []


def test_frames_are_made_arrays_once():
    class Counted(pd.DataFrame):
        calls = 0

        def __array__(self, dtype=None, copy=None):
            Counted.calls += 1
            return super().__array__(dtype)

    numbers, kernels = precomputed_kernels([Counted(K) for K in TRAIN])
    for kernel in kernels:
        kernel(numbers)
    assert Counted.calls == len(TRAIN)
