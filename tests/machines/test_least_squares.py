"""Regularized least-squares classification: its definition, ridge regression; invariances."""

import numpy as np
import pytest
from cases import each
from refusals import raises
from sklearn.kernel_ridge import KernelRidge as OfScikitLearn
from sklearn.metrics import roc_auc_score

import alignlearn as al
from alignlearn.machines import LeastSquaresClassifier, paths
from alignlearn.sources import open_source


def samples(n_classes=2, m=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    return X, np.digitize(X[:, 0] + 0.3 * rng.normal(size=m), np.linspace(-0.6, 0.6, n_classes - 1))


def normal_equations(K, targets, C, weight):
    """Coefficients and intercept where the gradient of the definition is 0."""
    m = len(K)
    system = np.zeros((m + 1, m + 1))
    system[:m, :m] = K + np.diag(0.5 / C / weight)
    system[:m, m] = system[m, :m] = 1.0
    found = np.linalg.solve(system, np.pad(targets, [(0, 1)] + [(0, 0)] * (targets.ndim - 1)))
    return found[:m], found[m]


@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_of_the_definition_is_zero(weighted):
    X, y = samples()
    K = al.Gaussian(0.4)(X)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    machine = LeastSquaresClassifier(C=3.0).fit(K, y, weight)
    coef, intercept = normal_equations(K, 2.0 * y - 1.0, 3.0, weight)
    np.testing.assert_allclose(machine.dual_coef_[:, 0], coef, atol=1e-9)
    np.testing.assert_allclose(machine.intercept_, intercept, atol=1e-9)
    other = normal_equations(K, 2.0 * y - 1.0, 1.5, weight)[0]
    assert np.abs(machine.dual_coef_[:, 0] - other).max() > 0.1  # another C is another solution


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_several_classes(multiclass):
    X, y = samples(4)
    names = np.array(["d", "b", "c", "a"])[y]
    K = al.Gaussian(0.4)(X)
    machine = LeastSquaresClassifier(2.0, multiclass=multiclass).fit(K, names)
    signs = np.where(names[:, None] == list("abcd"), 1.0, -1.0)
    coef, intercept = normal_equations(K, signs, 2.0, np.ones(60))
    columns = K @ coef + intercept
    first, second = np.triu_indices(4, 1)
    expected = columns if multiclass == "ovr" else 0.5 * (columns[:, second] - columns[:, first])
    np.testing.assert_allclose(machine.problem_decisions(K), expected, atol=1e-9)
    np.testing.assert_array_equal(machine.predict(K), np.array(list("abcd"))[columns.argmax(1)])


def test_class_weights_are_sample_weights_and_zero_omits():
    X, y = samples()
    K = al.Gaussian(0.4)(X)
    balanced = LeastSquaresClassifier(class_weight="balanced").fit(K, y)
    given = LeastSquaresClassifier().fit(K, y, 30.0 / np.bincount(y)[y])
    np.testing.assert_allclose(balanced.dual_coef_, given.dual_coef_, atol=1e-12)
    weight = np.ones(60)
    weight[::7] = 0.0
    some = weight > 0.0
    fewer = LeastSquaresClassifier().fit(K[np.ix_(some, some)], y[some])
    omitted = LeastSquaresClassifier().fit(K, y, weight)
    np.testing.assert_allclose(omitted.dual_coef_[some], fewer.dual_coef_, atol=1e-9)
    assert not omitted.dual_coef_[~some].any()


@each("n_classes", [2, 3])
@each("weighted", [False, True])
def test_paths_are_machines_one_by_one(n_classes, weighted):
    X, y = samples(n_classes, m=80)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, 80) if weighted else None
    source = open_source(X, [al.Gaussian(0.4)], sample_weight=weight)
    split, values = (np.arange(20, 80), np.arange(20)), [10.0, 0.1, 1.0]
    made = source.combine(np.ones(1))
    found = paths.least_squares_predictions(_balanced, made, y, split, values)
    K, K_test = al.Gaussian(0.4)(X[20:]), al.Gaussian(0.4)(X[:20], X[20:])
    of_training = None if weight is None else weight[20:]
    for C, raw in zip(values, found):
        machine = _balanced(C).fit(K, y[20:], of_training)
        np.testing.assert_allclose(raw, machine.problem_decisions(K_test), atol=1e-8)


def _balanced(C):
    return LeastSquaresClassifier(C, class_weight="balanced")


@pytest.mark.parametrize("memory", [None, 100_000])
def test_the_estimator_fits_it(memory):
    """On the matrix, and by iterations where the matrix does not fit."""
    X, y = samples(m=120)
    kernel = al.Gaussian(0.4)
    how = {"machine": "krr", "normalize": None, "weighting": "uniform", "memory": memory}
    model = al.MKLClassifier([kernel], C=2.0, **how).fit(X, y)
    assert model.chosen_machine_ == "krr"
    K, signs = kernel(X), 2.0 * y - 1.0
    centered = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    plain = OfScikitLearn(0.25, kernel="precomputed").fit(centered, signs - signs.mean())
    expected = plain.predict(centered) + signs.mean()
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-6)
    assert "krr" in model.summary()


def test_linear_features_and_float32():
    X, y = samples(3, m=90)
    exact = al.MKLClassifier("linear", machine="krr").fit(X, y).decision_function(X)
    K = X @ X.T
    scale = 90.0 / np.square(X - X.mean(axis=0)).sum()
    expected = LeastSquaresClassifier().fit(scale * K, y).decision_function(scale * K)
    np.testing.assert_allclose(exact, expected, atol=1e-8)
    single = al.MKLClassifier("linear", machine="krr").fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.decision_function(X.astype(np.float32)), exact, atol=1e-4)


@each("C", [0.0, -1.0, np.inf, np.nan])
def test_bad_values(C):
    X, y = samples()
    raises(ValueError, "C", LeastSquaresClassifier(C).fit, al.Gaussian(0.4)(X), y)
    raises(ValueError, "C", al.MKLClassifier(machine="krr", C=C).fit, X, y)


def test_large_values_leave_it_to_support_vectors():
    X, y = samples()
    model = al.MKLClassifierCV(Cs=[100.0, 1e5]).fit(X, y)
    assert {m.model.machine for m in model.members_} == {"auto"}
    both = al.MKLClassifierCV(Cs=[1.0, 1e5]).fit(X, y)
    assert {m.model.machine for m in both.members_} == {"auto", "krr"}
    results = both.cv_results_
    partners = np.array([name.endswith("-krr") for name in results["param_method"]])
    large = results["param_C"] > 10.0
    assert np.isnan(results["mean_test_score"][partners & large]).all()
    assert np.isfinite(results["mean_test_score"][partners & ~large]).all()


@pytest.mark.filterwarnings("ignore::alignlearn.DoubtfulResultWarning")
def test_unbalanced_classes_are_ranked_better():
    """The motivation: noisy labels with a rare class, as a mean over three draws."""
    gains = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(700, 4))
        y = (rng.random(700) < 0.2 / (1.0 + np.exp(-1.5 * X[:, 0]))).astype(int)
        models = al.MKLClassifierCV(), al.MKLClassifierCV(ensemble=False)
        values = [m.fit(X[:300], y[:300]).decision_function(X[300:]) for m in models]
        gains.append(np.subtract(*[roc_auc_score(y[300:], value) for value in values]))
    assert np.mean(gains) > 0.02, gains
