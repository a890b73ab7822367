"""Stage 1 in one call: its results for estimators, training sets and users' objects."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each
from refusals import raises
from scipy import sparse

import alignlearn as al
from alignlearn.sources import open_source
from alignlearn.weights import (
    Problem,
    Rule,
    Weighting,
    get_weighting,
    stage_one,
    uses_samples,
    without_target,
)

RNG = np.random.default_rng(0)
M = 45
X = RNG.standard_normal((M, 3))
LABELS = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, -1)
AMOUNTS = np.sin(X[:, 0]) + 0.2 * RNG.standard_normal(M)
KERNELS = [al.Gaussian(0.1), al.Gaussian(1.0), al.Linear()]
WEIGHT = RNG.integers(0, 4, M).astype(float)
WITHOUT_TARGET = ("uniform", "consensus", "max-entropy", "structure")
TWO_STAGE = ("uniform", "align", "alignf", "alignf-linear", "align-lq")
NAMES = (*TWO_STAGE, *WITHOUT_TARGET[1:], "lkrr", "l1-svm", "aligned-krr")
TARGETS = {
    "classification": (al.MKLClassifier, LABELS, {"C": 1.0, "multiclass": "ovo"}),
    "regression": (al.MKLRegressor, AMOUNTS, {"alpha": 1.0, "C": 1.0, "epsilon": 0.1}),
}
TABLES = {"a": X[:, :2], "b": X[:, 2:]}
GAPS = {"a": np.where(np.arange(M)[:, None] < 6, np.nan, X[:, :2]), "b": X[:, 2:]}


def learned(task, rule, weight=None, kernels=KERNELS, samples=X, **known):
    _, y, machine = TARGETS[task]
    source = open_source(samples, kernels, sample_weight=weight)
    return stage_one.learn(Problem(source, y, task, machine=machine, **known), rule)


def assert_same(found, model):
    np.testing.assert_array_equal(found.weights, model.weights_)
    np.testing.assert_array_equal(found.scale, model.scale_)
    assert found.result.alignment == model.alignment_


@pytest.mark.parametrize("task", TARGETS)
@pytest.mark.parametrize("name", NAMES)
def test_a_fit_is_the_call(name, task):
    estimator, y, _ = TARGETS[task]
    assert_same(learned(task, name), estimator(KERNELS, weighting=name).fit(X, y))
    model = estimator(KERNELS, weighting=name, normalize=None).fit(X, y)
    found = learned(task, name, normalize=None)
    assert_same(found, model)
    assert found.scale.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("task", TARGETS)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "structure"])
def test_sample_weights_and_u_statistics(name, task):
    estimator, y, _ = TARGETS[task]
    model = estimator(KERNELS, weighting=name).fit(X, y, sample_weight=WEIGHT)
    assert_same(learned(task, name, WEIGHT), model)
    model = estimator(KERNELS, weighting=name, unbiased=True).fit(X, y)
    assert_same(learned(task, name, unbiased=True), model)


@pytest.mark.parametrize("samples", ["linear", "given", "sparse", "gaps", "single"])
@pytest.mark.parametrize("name", ["alignf", "structure", "l1-svm", "lkrr"])
def test_a_training_set_is_a_fit_of_its_own(samples, name):
    """Kernels with numbers for all parameters."""
    sets = {
        "linear": (X, [al.Linear(), al.Columns(al.Linear(), [0])]),
        "given": (X, KERNELS),
        "sparse": (sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0)), KERNELS),
        "gaps": (GAPS, {"a": [al.Gaussian(0.5)], "b": [al.Gaussian(0.5), al.Linear()]}),
        "single": (X.astype(np.float32), KERNELS),
    }
    given, kernels = sets[samples]
    options = {"missing": "tables"} if samples == "gaps" else {}
    rows = np.flatnonzero(np.arange(M) % 3)
    if samples == "given":
        given, kernels = [k(X) for k in KERNELS], "precomputed"
        part = [K[np.ix_(rows, rows)] for K in given]
    elif samples == "gaps":
        part = {table: A[rows] for table, A in given.items()}
    else:
        part = given[rows]
    model = al.MKLClassifier(kernels, weighting=name, **options).fit(part, LABELS[rows])
    source = open_source(given, kernels, gaps=bool(options))
    machine = {"C": model.C, "multiclass": model.multiclass}
    problem = Problem(source, LABELS, "classification", machine=machine, rows=rows)
    found = stage_one.learn(problem, name)
    np.testing.assert_allclose(found.weights, model.weights_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.scale, model.scale_, rtol=1e-9)


def test_known_statistics_are_taken():
    source = open_source(X, KERNELS)
    rows = np.arange(30)
    (known,) = source.training_statistics(AMOUNTS, "regression", [rows])
    of_set = stage_one.learn(Problem(source, AMOUNTS, "regression", rows=rows), "alignf")
    taken = Problem(None, AMOUNTS, "regression", rows=rows, statistics=known)
    np.testing.assert_allclose(stage_one.learn(taken, "alignf").weights, of_set.weights, rtol=1e-9)
    scaled = known.trace_normalized()
    again = stage_one.learn(Problem(None, AMOUNTS, "regression", scaled=scaled), "alignf")
    np.testing.assert_array_equal(again.weights, stage_one.learn(taken, "alignf").weights)
    np.testing.assert_array_equal(again.scale, scaled[1])


@each("name", [name for name in NAMES if not uses_samples(name)])
def test_rules_on_statistics_read_no_samples(name):
    scaled = open_source(X, KERNELS).statistics(AMOUNTS, "regression").trace_normalized()
    found = get_weighting(name).learn(Problem(None, None, "regression", scaled=scaled))
    np.testing.assert_array_equal(found.weights, learned("regression", name).weights)


def test_a_named_one_stage_rule_takes_the_parameters_of_the_machine():
    problem = Problem(open_source(X, KERNELS), LABELS, "classification", machine={"C": 7.0})
    found, own = stage_one.learn(problem, "l1-svm"), learned("classification", al.L1SVM(7.0))
    np.testing.assert_array_equal(found.weights, own.weights)
    # An object has its own, which differs from the default.
    assert np.any(learned("classification", "l1-svm").weights != own.weights)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_one_kernel_needs_its_matrix_alone(weight):
    rows = np.flatnonzero(np.arange(M) % 3)
    source = open_source(X, KERNELS[1:2], sample_weight=weight)
    found = stage_one.scale_one(source, rows=rows)
    want = stage_one.learn(Problem(source, AMOUNTS, "regression", rows=rows), "uniform")
    np.testing.assert_allclose(found.scale, want.scale, rtol=1e-12)
    assert found.weights.tolist() == want.weights.tolist() == [1.0]
    assert stage_one.scale_one(source, normalize=None, rows=rows).scale.tolist() == [1.0]
    constant = open_source(np.ones((M, 1)), KERNELS[1:2])
    assert stage_one.scale_one(constant).scale.tolist() == [1.0]


# Users' objects


class OfStatistics:
    needs_target = False

    def solve(self, statistics):
        return al.Uniform().solve(statistics)


class OfSource:
    def solve_source(self, source, statistics, scale):
        assert source.n_samples == statistics.n_samples
        largest = source.largest_diagonals() * scale
        return replace(al.Uniform().solve(statistics), weights=largest / largest.sum())


class OfGrams:
    targets = "labels"

    def solve_grams(self, grams, y, *, statistics=None):
        return al.L1SVM(2.0).solve_grams(grams, y, statistics=statistics)


class Derived(Weighting):
    """A class with the library's base that needs more than statistics."""

    normalize = None

    def solve_source(self, source, statistics, scale):
        return OfSource().solve_source(source, statistics, scale)

    def _solve(self, statistics, nonzero):
        raise AssertionError


class OfProblem:
    needs, needs_target = "source", False

    def learn(self, problem):
        return OfSource().solve_source(problem.source, problem.statistics, problem.scale)


@each(
    ("given", "needs", "free", "same"),
    [
        (OfStatistics(), "statistics", True, "uniform"),
        (OfSource(), "source", False, OfProblem()),
        (OfGrams(), "grams", False, al.L1SVM(2.0)),
        (Derived(), "source", False, OfProblem()),
        (OfProblem(), "source", True, OfSource()),
    ],
)
def test_objects_of_users(given, needs, free, same):
    rule = get_weighting(given)
    assert isinstance(rule, Rule)
    assert get_weighting(rule) is rule
    assert (rule.needs, without_target(given)) == (needs, free)
    assert uses_samples(given) == (needs != "statistics")
    assert repr(rule) == repr(given)
    found = learned("classification", given)
    np.testing.assert_array_equal(found.weights, learned("classification", same).weights)
    assert_same(found, al.MKLClassifier(KERNELS, weighting=given).fit(X, LABELS))
    search = al.MKLClassifierCV(KERNELS, weighting=given, Cs=[1.0], cv=3).fit(X, LABELS)
    want = al.MKLClassifierCV(KERNELS, weighting=same, Cs=[1.0], cv=3).fit(X, LABELS)
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], want.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize(
    ("attributes", "error", "message"),
    [
        ({}, TypeError, r"learn\(problem\), but no attribute needs; accepted: 'nothing', 'stat"),
        ({"needs": "samples"}, ValueError, "needs='samples'; accepted: 'nothing', 'statistics'"),
    ],
)
def test_needs_are_declared(attributes, error, message):
    given = type("Mine", (), {"learn": lambda self, problem: None, **attributes})()
    raises(error, message, al.MKLClassifier(KERNELS, weighting=given).fit, X, LABELS)
    derived = type("Mine", (Rule,), {"learn": lambda self, problem: None, **attributes})()
    raises(error, message, get_weighting, derived)
    raises(TypeError, "object with a method solve", get_weighting, object())


# Rejected input


def test_kernels_that_do_not_vary():
    same = np.ones((M, 2))
    with pytest.raises(ValueError, match="X: every kernel is constant on the training samples"):
        learned("classification", "alignf", samples=same)
    X = np.r_[np.ones((30, 1)), -np.ones((15, 1))]
    source = open_source(X, [al.Cosine()])
    for name in ("alignf", "structure"):
        problem = Problem(source, LABELS, "classification", rows=np.arange(30))
        with pytest.raises(ValueError, match="cv: every kernel is constant on a training set"):
            stage_one.learn(problem, name)
    given = [al.Precomputed(-np.eye(M), is_psd=False)]
    with pytest.raises(ValueError, match="not positive semi-definite: its centered trace is -44"):
        learned("classification", "alignf", kernels="precomputed", samples=given)


# Postponed work


def test_equal_weights_of_many_samples_need_no_pass():
    many = np.random.default_rng(1).standard_normal((1000, 2))
    y = many[:, 0] > 0.0
    problem = Problem(open_source(many, KERNELS), y, "classification", normalize=None)
    found = stage_one.learn(problem, "uniform", later=True)
    assert found.result is None
    given, now = found.later.result(), stage_one.learn(problem, "uniform").result
    np.testing.assert_array_equal(found.weights, now.weights)
    np.testing.assert_array_equal(given.statistics.M, now.statistics.M)
    for rule, normalize in (("alignf", None), ("uniform", "trace"), (OfStatistics(), None)):
        problem = Problem(open_source(many, KERNELS), y, "classification", normalize=normalize)
        assert stage_one.learn(problem, rule, later=True).result is not None
